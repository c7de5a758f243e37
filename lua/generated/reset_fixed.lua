-- RL.RESET FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ag,i local B=redis.call local function bX(a) local W=B('TIME') local ar=W[1]*1000000+W[2]
a.G,a.e=ar,(ar-ar%1000)/1000 end local F,n,ac,at=string.find,string.format,string.match,string.sub local function ax(a)
if a.a or a.b then return i().l(a,(i().v(a))) end local p,x=a.e,a.d local L=(p-p%x)/x
return n(L<2147483648 and':%d'or':%.0f',L) end local function cj(a,u,f,O,an) local h=u[f] if ax then
local as,ba=ax(a),u[f+1] local v=#as if not ba then i().c('KEYS') elseif at(h,-v)~=as then h=ba if at(h,-v)~=as then
a.k=true end end a.g,h,f=h,at(h,1,-v-1),f+2 else if not h then i().c('KEYS') end a.g,f=h,f+1 end if an then a.h=h
elseif F(h,':reserved',1,true)then i().x(h) end if O then f=a.k and f+2 or i().y(a,u,f,h) end return f end
local function bW(a,u,O,an) bX(a) if#u~=cj(a,u,1,O,an)-1 then i().c('KEYS') elseif a.k then i().p(a) end end
local function bK(a) local h=a.g local e=B('GET',h) if e then local N=#e<16 and F(e,'^[1-9]%d*$')and e+0 or i().B(e)
local Z=redis.REDIS_VERSION_NUM and B('PEXPIRETIME',h)or i().o(h,a.e)or-1 if Z<0 then Z=nil elseif Z>=(2^53)then
i().c('INEXACT_STATE') end a.i={j=N,f=Z} end end local function bj(d) if d-d~=0 then return i().z(d) end
return n('%.0f',d) end local function cd(h,aG) if aG then B('PEXPIREAT',h,bj(aG)) end end local function bw(a,aJ,ah)
local h,Y=a.g,a.i if aJ=='delete'then B('UNLINK',h) elseif aJ~='keep'then local aj=ah.j-(Y and Y.j or 0) if aj~=0 then
B('INCRBY',h,aj==1 and'1'or n('%.0f',aj)) end if not Y or ah.f~=Y.f then cd(h,ah.f) end end end local function cb(u,A)
local af=A[1] if not af then i().c('ARITY') end local a={limit=0,capacity=0} local f=i().u(a,A,1+1,' ANCHOR ')
if A[f]then i().c(i().s(A[f]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end a.b=a.ANCHOR and a.ANCHOR*1000
a.d=i().D(a,af) local O=i().r((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'RESERVE') bW(a,u,O,true)
local aP=O and i().q(a) bK(a,'delete') local R=a.F or a.i local ak=R ak=R or aP i().w(a,ak) if R then bw(a,'delete') end
if aP then B('UNLINK',a.hash,a.n) end return ak and 1 or 0 end function i() if not ag then local j={}
j.NOT_A_COUNTER='ERR value is not an integer or out of range'
j.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
j.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
j.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
j.ID='ERR invalid ID: expected 1 to 512 bytes'
j.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
j.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
j.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
j.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
j.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
j.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
j.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
j.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
j.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
j.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
j.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
j.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' j.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
j.ARITY='ERR wrong number of arguments' j.RESET_WORDS='ERR syntax error: after window comes ANCHOR t or nothing'
j.NO_SUCH_OPTION='ERR syntax error: no such option, but there is ANCHOR t' local function aI(a,cf)
return n(':%s:%.0f',a.a and a.a:lower()or n('%.0fms',a.d),cf) end local function bx(P,aW) if aW<2 then P=P-1 end
local bQ=(aW+10)%12 local bI=math.floor(P/4)-math.floor(P/100)+math.floor(P/400)
return 365*P+bI+math.floor((153*bQ+2)/5)-719468 end local function aa(d) return bx(math.floor(d/12),d%12) end
local function aX(Q) local w=1970*12+math.floor(Q/30.436875)+1 while aa(w)>Q do w=w-1 end return w,Q-aa(w) end
local function av(D,w) local f=D.t+w local k=aa(f) return(k+math.min(D.m,aa(f+1)-k-1))*86400000+D.A end
local function bv(aw,E,p) local W=E%86400000 local w,Q=aX((E-W)/86400000) local D={t=w,m=Q,A=W}
local aE=aX(math.floor(p/86400000))-w local ao=aE-aE%aw local k,o=av(D,ao),av(D,ao+aw) if k>p then k,o=av(D,ao-aw),k end
return k,o,o-k end local function bV(a,p) local r,E=a.a,a.b if r=='MONTH'or r=='YEAR'then
local k,o,v=bv(r=='YEAR'and 12 or 1,E or 0,p) return math.max(0,k),o,v end E=E or(r=='WEEK'and 4*86400000)or 0
local v=a.d local aD=(p%v-E%v)%v return math.max(0,p-aD),p-aD+v,v end local function bd(a) if a.a or a.b then
return bV(a,a.e) end local p,x=a.e,a.d local k=p-p%x return k,k+x end local function y(e) error({err=e},0) end
local function q(I) y(j[I]) end local function bA(U) if type(U)=='table'then return U elseif F(U,'^%u+ ')then
return redis.error_reply(U) end error(U,0) end local function aV(b,c) local aB,bt=b-b==0,c-c==0 if aB or bt then
return aB elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end
local function aU(b,c) if b-b==0 and c-c==0 then return b<c end return aV(b,c) end local function aF(d) if d-d==0 then
return d end local M=0 for bG=#d,1,-1 do M=M*(2^24)+d[bG] end return M end local aA={ __sub=function() return 1 end, }
local function ab(g) local s=#g while s>0 and g[s]==0 do g[s]=nil s=s-1 end
if s>3 or(s==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,aA) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function J(d) if d-d~=0 then return d end
local g,s={},0 while d>0 do local t=d%(2^24) s=s+1 g[s]=t d=(d-t)/(2^24) end return g end local function bs(b,c)
b,c=J(b),J(c) local M,C={},0 for d=1,math.max(#b,#c)+1 do local t=(b[d]or 0)+(c[d]or 0)+C C=t>=(2^24)and 1 or 0
M[d]=t-C*(2^24) end return ab(M) end local function aC(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return bs(b,c) end local function ch(b,c) if not aV(c,b)then return 0 end c=J(c) local aK,ai={},0 for d=1,#b do
local t=b[d]-(c[d]or 0)-ai ai=t<0 and 1 or 0 aK[d]=t+ai*(2^24) end return ab(aK) end local function cg(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return ch(b,c) end local function bN(b,c) b,c=J(b),J(c) local T={}
for d=1,#b+#c do T[d]=0 end for d=1,#b do local C=0 for ap=1,#c do local t=T[d+ap-1]+b[d]*c[ap]+C C=math.floor(t/(2^24))
T[d+ap-1]=t-C*(2^24) end T[d+#c]=C end return ab(T) end local function aY(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then
return b*c end return bN(b,c) end local function by(b,c) local au=0 while not aU(b,c)do
local ae=math.max(1,math.floor(aF(b)/aF(c)*(1-2^-45))) ae=ab(J(ae)) au=aC(au,ae) b=cg(b,aY(ae,c)) end return au,b end
local function aL(b,c) if b-b==0 and c-c==0 then local V=b%c return(b-V)/c,V end return by(b,c) end local function cl(d)
local ay='' while d-d~=0 do local V d,V=aL(d,10000000) ay=n('%07.0f',V)..ay end return n('%.0f',d)..ay end
local function bB(h,p) local aT=B('PTTL',h) return aT>=0 and p+aT or nil end local function aH(b,c)
for f=1,math.min(#b,#c)do local bl,bm=b:byte(f),c:byte(f) if bl~=bm then return bl<bm end end return#b<#c end
local function K(e,S) if e~='0'and not F(e,'^[1-9]%d*$')then return nil end
return(#e<#S or(#e==#S and not aH(S,e)))and e or nil end local function bD(e,m,bR)
local co={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local az=co[ac(e,'^(%u):')] if not az or az==m then
q(bR) end y('ERR the key holds a state of '..az..': use another key for each algorithm') end local function al(g)
if#g<=15 or(#g==16 and aH(g,'9007199254740992'))then return g+0 end local am=#g%7 local d=am>0 and g:sub(1,am)+0 or 0
for f=am+1,#g,7 do d=aC(aY(d,10000000),g:sub(f,f+6)+0) end return d end local function cm(e)
local ce,g=ac(e,'^(%-?)(%d+)$') local aq=ce=='-' g=g and K(g,aq and'9223372036854775808'or'9223372036854775807')
if not g or(aq and g=='0')then bD(e,nil,'NOT_A_COUNTER') end local N=al(g) if N-N~=0 then q('INEXACT_STATE') end
return aq and-N or N end local function H(bJ,m) return not F(m,' ',1,true)and F(bJ,' '..m..' ',1,true)~=nil end
local function bH(m,l) local k,o=0,0 local bi,bL=math.min(#m,#l),math.max(#m,#l)
while k<bi and m:byte(k+1)==l:byte(k+1)do k=k+1 end while o<bi-k and m:byte(-1-o)==l:byte(-1-o)do o=o+1 end
return k+o>=2 and bL-k-o<=2 end local bq={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ck(a,l)
return not H(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or H((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),l)
end local function ca(z,a,X) local l,cp=z[1],a.E if not H(X,l)then y(n('ERR invalid %s: only %s it',l,z[3]))
elseif not ck(a,l)then y(n('ERR invalid %s: %s takes none',l,('FIXED'))) elseif a[l]~=nil then
y(n('ERR syntax error: %s comes at most once',z[2])) end end local function cc(r) return r==''and 1000 or r=='ms'and 1
or r=='s'and 1000 or r=='m'and 60000 or r=='h'and 3600000 or r=='d'and 86400000 or nil end local function bc(e)
local L,r=ac(e,'^(%d+)(%l*)$') local bg=L and cc(r) local ad=bg and K(L,'18446744073709551615')and L*bg
return ad and ad>=1 and ad<=1e15 and ad or nil end local function bb(e,S) return e and#e>=1 and#e<=S and e end
local function bM(b,c) return aU(c,b)and c or b end local bp=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aA)
local function bS(I,e,aS) local g=e and K(e,'9223372036854775807') local d=g and al(g) if not d or d==0 and aS>0 then
y(n('ERR invalid %s: expected an integer from %d to 9223372036854775807',I,aS)) elseif d-d~=0 then
y(n('ERR invalid %s: the Lua library takes integers up to 9007199254740991',I)) end return d end
local function bU(l,e,bh) if l=='RESERVE'then local bk=bh and bc(bh)
return bb(e,128)and bk and{id=e,ttl=bk}or q('RESERVE') elseif l=='RESERVATION'then return bb(e,128)or q('RESERVATION')
end if l=='ANCHOR'then local g=e and K(e,'253402300799') return g and g+0 or q('ANCHOR') end if l=='AS'then
return e and#e>=1 and#e<=64 and not F(e,'[^%w._-]')and e or q('AS') elseif l=='AT'then
local g=e and K(e,'9223372036854775807') return g and bM(al(g),(aL(bp,1000)))or q('AT') end
return bS(l,e,l=='BURST'and 1 or 0) end local function bY(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
q(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
q(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bn={FULL=true,LINE=true,HEADERS=true}
local function bO(aO,aZ) if aO then q(aO==aZ and'FORM_TWICE'or'TWO_FORMS') end return aZ end local function bT(a,A,f,X)
while A[f]do local m,z=A[f]:upper(),nil for br,aR in ipairs(bq)do z=aR[1]==m and aR or z end if z then ca(z,a,X)
if z[2]==m then a[m]=true f=f+1 else a[m]=bU(m,A[f+1],A[f+2]) f=f+(m=='RESERVE'and 3 or 2) end bY(a)
elseif bn[m]and H(X,'form')then a.form=bO(a.form,m) f=f+1 else return f end end return f end
local bo={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cn(a,e) local x=bc(e)
if not x then a.a=e:upper() x=bo[a.a] if not x then
q(H((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not H((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
y(n('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return x end local function bF(h)
return h:sub(-9)==':reserved'or h:sub(-14)==':reserved:ends' end local function be(h) if bF(h)then q('RESERVED_KEY') end
end local function bZ(a,R) local G=ac(a.h,'^(.*:reserved):ends$') if not R or G and redis.pcall('TYPE',G).ok=='hash'then
be(a.h) end end local function bP(a) local br,o=bd(a) if a.a or a.b then return aI(a,o) end return':'..bj(o/a.d) end
local function bu(a) return ax(a)..' '..bP(a) end local function bC(a) y(n('ERR clock %.0f %s',a.e,bu(a))) end
local function aQ(a) local af=a.a and a.a:lower()or n('%.0fms',a.d) return':'..af..(a.b and n(':%.0f',a.b/1000)or'') end
local function ci(a,u,f,h) local G,aN=u[f]or'',u[f+1] local I=(aQ and aQ(a)or'')..':reserved'
if(G~=h..I and G~='{'..h..'}'..I)or aN~=G..':ends'then q('KEYS') end a.hash,a.n=G,aN return f+2 end local function bE(a)
local aM=redis.pcall('HGET',a.hash,'') return type(aM)=='string'and K(aM,'18446744073709551615') end
ag={l=aI,error_reply=bA,o=bB,c=q,p=bC,q=bE,r=H,s=bH,u=bT,v=bd,w=bZ,x=be,y=ci,z=cl,B=cm,D=cn} end return ag end
local bz,bf=pcall(cb,KEYS,ARGV) return bz and bf or i().error_reply(bf)
