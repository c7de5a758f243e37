-- RL.RESET FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ag,i local A=redis.call local function bX(a) local W=A('TIME') local ar=W[1]*1000000+W[2]
a.K,a.f=ar,(ar-ar%1000)/1000 end local E,n,ac,at=string.find,string.format,string.match,string.sub local function ax(a)
if a.a or a.b then return i().o(a,(i().z(a))) end local p,w=a.f,a.e local L=(p-p%w)/w
return n(L<2147483648 and':%d'or':%.0f',L) end local function ci(a,t,f,O,an) local h=t[f] if ax then
local as,bb=ax(a),t[f+1] local u=#as if not bb then i().c('KEYS') elseif at(h,-u)~=as then h=bb if at(h,-u)~=as then
a.n=true end end a.i,h,f=h,at(h,1,-u-1),f+2 else if not h then i().c('KEYS') end a.i,f=h,f+1 end if an then a.j=h
elseif E(h,':reserved',1,true)then i().B(h) end if O then f=a.n and f+2 or i().D(a,t,f,h) end return f end
local function bW(a,t,O,an) bX(a) if#t~=ci(a,t,1,O,an)-1 then i().c('KEYS') elseif a.n then i().t(a) end end
local function bK(a) local h=a.i local e=A('GET',h) if e then local N=#e<16 and E(e,'^[1-9]%d*$')and e+0 or i().G(e)
local Z=redis.REDIS_VERSION_NUM and A('PEXPIRETIME',h)or i().r(h,a.f)or-1 if Z<0 then Z=nil elseif Z>=(2^53)then
i().c('INEXACT_STATE') end a.k={l=N,g=Z} end end local function bj(d) if d-d~=0 then return i().E(d) end
return n('%.0f',d) end local function cc(h,aH) if aH then A('PEXPIREAT',h,bj(aH)) end end local function bw(a,aK,ah)
local h,Y=a.i,a.k if aK=='delete'then A('UNLINK',h) elseif aK~='keep'then local aj=ah.l-(Y and Y.l or 0) if aj~=0 then
A('INCRBY',h,aj==1 and'1'or n('%.0f',aj)) end if not Y or ah.g~=Y.g then cc(h,ah.g) end end end local function cb(t,z)
local af=z[1] if not af then i().c('ARITY') end local a={limit=0,capacity=0} local f=i().y(a,z,1+1,' ANCHOR ')
if z[f]then i().c(i().w(z[f]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end a.b=a.ANCHOR and a.ANCHOR*1000
a.e=i().H(a,af) local O=i().v((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'RESERVE') bW(a,t,O,true)
local aQ=O and i().u(a) bK(a,'delete') local R=a.J or a.k local ak=R ak=R or aQ i().A(a,ak) if R then bw(a,'delete') end
if aQ then A('UNLINK',a.hash,a.q) end return ak and 1 or 0 end function i() if not ag then local j={}
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
j.NO_SUCH_OPTION='ERR syntax error: no such option, but there is ANCHOR t' local function aJ(a,ce)
return n(':%s:%.0f',a.a and a.a:lower()or n('%.0fms',a.e),ce) end local function bx(P,aX) if aX<2 then P=P-1 end
local bQ=(aX+10)%12 local bI=math.floor(P/4)-math.floor(P/100)+math.floor(P/400)
return 365*P+bI+math.floor((153*bQ+2)/5)-719468 end local function aa(d) return bx(math.floor(d/12),d%12) end
local function aY(Q) local v=1970*12+math.floor(Q/30.436875)+1 while aa(v)>Q do v=v-1 end return v,Q-aa(v) end
local function av(C,v) local f=C.x+v local k=aa(f) return(k+math.min(C.p,aa(f+1)-k-1))*86400000+C.F end
local function bv(aw,D,p) local W=D%86400000 local v,Q=aY((D-W)/86400000) local C={x=v,p=Q,F=W}
local aF=aY(math.floor(p/86400000))-v local ao=aF-aF%aw local k,o=av(C,ao),av(C,ao+aw) if k>p then k,o=av(C,ao-aw),k end
return k,o,o-k end local function bV(a,p) local I,D=a.a,a.b if I=='MONTH'or I=='YEAR'then
local k,o,u=bv(I=='YEAR'and 12 or 1,D or 0,p) return math.max(0,k),o,u end D=D or(I=='WEEK'and 4*86400000)or 0
local u=a.e local aE=(p%u-D%u)%u return math.max(0,p-aE),p-aE+u,u end local function be(a) if a.a or a.b then
return bV(a,a.f) end local p,w=a.f,a.e local k=p-p%w return k,k+w end local function x(e) error({err=e},0) end
local function q(H) x(j[H]) end local function bA(U) if type(U)=='table'then return U elseif E(U,'^%u+ ')then
return redis.error_reply(U) end error(U,0) end local function aW(b,c) local aC,bt=b-b==0,c-c==0 if aC or bt then
return aC elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end
local function aV(b,c) if b-b==0 and c-c==0 then return b<c end return aW(b,c) end local function aG(d) if d-d==0 then
return d end local M=0 for bG=#d,1,-1 do M=M*(2^24)+d[bG] end return M end local aA={ __sub=function() return 1 end, }
local function ab(g) local r=#g while r>0 and g[r]==0 do g[r]=nil r=r-1 end
if r>3 or(r==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,aA) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function J(d) if d-d~=0 then return d end
local g,r={},0 while d>0 do local s=d%(2^24) r=r+1 g[r]=s d=(d-s)/(2^24) end return g end local function bs(b,c)
b,c=J(b),J(c) local M,B={},0 for d=1,math.max(#b,#c)+1 do local s=(b[d]or 0)+(c[d]or 0)+B B=s>=(2^24)and 1 or 0
M[d]=s-B*(2^24) end return ab(M) end local function aD(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return bs(b,c) end local function cg(b,c) if not aW(c,b)then return 0 end c=J(c) local aL,ai={},0 for d=1,#b do
local s=b[d]-(c[d]or 0)-ai ai=s<0 and 1 or 0 aL[d]=s+ai*(2^24) end return ab(aL) end local function cf(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return cg(b,c) end local function bN(b,c) b,c=J(b),J(c) local T={}
for d=1,#b+#c do T[d]=0 end for d=1,#b do local B=0 for ap=1,#c do local s=T[d+ap-1]+b[d]*c[ap]+B B=math.floor(s/(2^24))
T[d+ap-1]=s-B*(2^24) end T[d+#c]=B end return ab(T) end local function aZ(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then
return b*c end return bN(b,c) end local function by(b,c) local au=0 while not aV(b,c)do
local ae=math.max(1,math.floor(aG(b)/aG(c)*(1-2^-45))) ae=ab(J(ae)) au=aD(au,ae) b=cf(b,aZ(ae,c)) end return au,b end
local function aM(b,c) if b-b==0 and c-c==0 then local V=b%c return(b-V)/c,V end return by(b,c) end local function ck(d)
local ay='' while d-d~=0 do local V d,V=aM(d,10000000) ay=n('%07.0f',V)..ay end return n('%.0f',d)..ay end
local function bB(h,p) local aU=A('PTTL',h) return aU>=0 and p+aU or nil end local function aI(b,c)
for f=1,math.min(#b,#c)do local bl,bm=b:byte(f),c:byte(f) if bl~=bm then return bl<bm end end return#b<#c end
local function K(e,S) if e~='0'and not E(e,'^[1-9]%d*$')then return nil end
return(#e<#S or(#e==#S and not aI(S,e)))and e or nil end local function bD(e,m,bR)
local cn={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local az=cn[ac(e,'^(%u):')] if not az or az==m then
q(bR) end x('ERR the key holds a state of '..az..': use another key for each algorithm') end local function al(g)
if#g<=15 or(#g==16 and aI(g,'9007199254740992'))then return g+0 end local am=#g%7 local d=am>0 and g:sub(1,am)+0 or 0
for f=am+1,#g,7 do d=aD(aZ(d,10000000),g:sub(f,f+6)+0) end return d end local function cl(e)
local cd,g=ac(e,'^(%-?)(%d+)$') local aq=cd=='-' g=g and K(g,aq and'9223372036854775808'or'9223372036854775807')
if not g or(aq and g=='0')then bD(e,nil,'NOT_A_COUNTER') end local N=al(g) if N-N~=0 then q('INEXACT_STATE') end
return aq and-N or N end local function G(bJ,m) return not E(m,' ',1,true)and E(bJ,' '..m..' ',1,true)~=nil end
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
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function cj(a,l)
return not G(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or G((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),l)
end local function ca(y,a,X) local l,co=y[1],a.I if not G(X,l)then x(n('ERR invalid %s: only %s it',l,y[3]))
elseif not cj(a,l)then x(n('ERR invalid %s: %s takes none',l,('FIXED'))) elseif a[l]~=nil then
x(n('ERR syntax error: %s comes at most once',y[2])) end end
local aB={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bd(e) local L,I=ac(e,'^(%d+)(%l*)$')
local ad=L and aB[I]and K(L,'18446744073709551615')and L*aB[I] return ad and ad>=1 and ad<=1e15 and ad or nil end
local function bc(e,S) return e and#e>=1 and#e<=S and e end local function bM(b,c) return aV(c,b)and c or b end
local bp=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aA) local function bS(H,e,aT) local g=e and K(e,'9223372036854775807')
local d=g and al(g) if not d or d==0 and aT>0 then
x(n('ERR invalid %s: expected an integer from %d to 9223372036854775807',H,aT)) elseif d-d~=0 then
x(n('ERR invalid %s: the Lua library takes integers up to 9007199254740991',H)) end return d end
local function bU(l,e,bh) if l=='RESERVE'then local bk=bh and bd(bh)
return bc(e,128)and bk and{id=e,ttl=bk}or q('RESERVE') elseif l=='RESERVATION'then return bc(e,128)or q('RESERVATION')
end if l=='ANCHOR'then local g=e and K(e,'253402300799') return g and g+0 or q('ANCHOR') end if l=='AS'then
return e and#e>=1 and#e<=64 and not E(e,'[^%w._-]')and e or q('AS') elseif l=='AT'then
local g=e and K(e,'9223372036854775807') return g and bM(al(g),(aM(bp,1000)))or q('AT') end
return bS(l,e,l=='BURST'and 1 or 0) end local function bY(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
q(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
q(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bn={FULL=true,LINE=true,HEADERS=true}
local function bO(aP,ba) if aP then q(aP==ba and'FORM_TWICE'or'TWO_FORMS') end return ba end local function bT(a,z,f,X)
while z[f]do local m,y=z[f]:upper(),nil for br,aS in ipairs(bq)do y=aS[1]==m and aS or y end if y then ca(y,a,X)
if y[2]==m then a[m]=true f=f+1 else a[m]=bU(m,z[f+1],z[f+2]) f=f+(m=='RESERVE'and 3 or 2) end bY(a)
elseif bn[m]and G(X,'form')then a.form=bO(a.form,m) f=f+1 else return f end end return f end
local bo={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cm(a,e) local w=bd(e)
if not w then a.a=e:upper() w=bo[a.a] if not w then
q(G((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not G((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
x(n('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return w end local function bF(h)
return h:sub(-9)==':reserved'or h:sub(-14)==':reserved:ends' end local function bf(h) if bF(h)then q('RESERVED_KEY') end
end local function bZ(a,R) local F=ac(a.j,'^(.*:reserved):ends$') if not R or F and redis.pcall('TYPE',F).ok=='hash'then
bf(a.j) end end local function bP(a) local br,o=be(a) if a.a or a.b then return aJ(a,o) end return':'..bj(o/a.e) end
local function bu(a) return ax(a)..' '..bP(a) end local function bC(a) x(n('ERR clock %.0f %s',a.f,bu(a))) end
local function aR(a) local af=a.a and a.a:lower()or n('%.0fms',a.e) return':'..af..(a.b and n(':%.0f',a.b/1000)or'') end
local function ch(a,t,f,h) local F,aO=t[f]or'',t[f+1] local H=(aR and aR(a)or'')..':reserved'
if(F~=h..H and F~='{'..h..'}'..H)or aO~=F..':ends'then q('KEYS') end a.hash,a.q=F,aO return f+2 end local function bE(a)
local aN=redis.pcall('HGET',a.hash,'') return type(aN)=='string'and K(aN,'18446744073709551615') end
ag={o=aJ,error_reply=bA,r=bB,c=q,t=bC,u=bE,v=G,w=bH,y=bT,z=be,A=bZ,B=bf,D=ch,E=ck,G=cl,H=cm} end return ag end
local bz,bg=pcall(cb,KEYS,ARGV) return bz and bg or i().error_reply(bg)
