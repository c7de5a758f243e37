-- RL.REFUND FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aF,i local N,n,aB,aY=string.find,string.format,string.match,string.sub local function dd(s,e,A)
local W,B,k=s[e],s[e+1],s[e+2] if not B then i().k('ARITY') end local a={ q='', P=0, now_ms=0, c=0, aa=0, limit=0, j=0,
i=1, form=nil, delay=0, a=nil, p=nil, allowed=false, count=0, ttl=0, l='keep', remaining=0, o=1, } e=e+2
if k=='LINE'and not s[e+1]and A~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=k,e+1 elseif k then
local p=s[e+1]or''
local bD=A==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and s[e+2]=='LINE'and not s[e+3]and#p<16
if bD and k=='COST'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')~=' ID 'and N(p,'^[1-9]%d*$')then
a.form,a.i,e='LINE',p+0,e+3
elseif bD and k=='ID'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')==' ID 'and p~=''then
a.form,a.ID,e='LINE',p,e+3 else e=i().U(a,s,e,A) a.i=a.COST or 1 end a.g=a.ANCHOR and a.ANCHOR*1000 end
local aP=#B<16 and N(B,'^[1-9]%d*$') a.limit=aP and B+0 or i().S('limit',B,0) aP=#W<10 and N(W,'^[1-9]%d*$')
local x=aP and W*1000 or i().ab(a,W) a.c,a.aa,a.j=x,x<9e12 and x*1000 or i().M(x,1000),a.BURST or a.limit return a,e end
local function da(s,A) local a,e=dd(s,1,A) if s[e]then i().H(a,A,s[e]) end return a end local function db(s,A)
if not s[1+1]then i().k('ARITY') end return da(s,A) end local Z=redis.call local function dh(a) local as=Z('TIME')
local aV=as[1]*1000000+as[2] a.P,a.now_ms=aV,(aV-aV%1000)/1000 end local function bh(a) if a.b or a.g then
return i().z(a,(i().x(a))) end local o,x=a.now_ms,a.c local P=(o-o%x)/x return n(P<2147483648 and':%d'or':%.0f',P) end
local function dy(a,K,e,bj,aQ) local j=K[e] if bh then local aX,ag=bh(a),K[e+1] local L=#aX if not ag then i().k('KEYS')
elseif aY(j,-L)~=aX then j=ag if aY(j,-L)~=aX then a.y=true end end a.q,j,e=j,aY(j,1,-L-1),e+2 else if not j then
i().k('KEYS') end a.q,e=j,e+1 end if aQ then a.n=j elseif N(j,':reserved',1,true)then i().V(j) end if bj then
e=a.y and e+2 or i().X(a,K,e,j) end return e end local function df(a,K,bj,aQ) dh(a) if#K~=dy(a,K,1,bj,aQ)-1 then
i().k('KEYS') elseif a.y then i().G(a) end end local function cO(a) local j=a.q local f=Z('GET',j) if f then
local p=#f<16 and N(f,'^[1-9]%d*$')and f+0 or i().Z(f)
local y=redis.REDIS_VERSION_NUM and Z('PEXPIRETIME',j)or i().F(j,a.now_ms)or-1 if y<0 then y=nil elseif y>=(2^53)then
i().k('INEXACT_STATE') end a.a={f=p,e=y} end end local function be(q,t,w) if q=='keep'then return w end
return q~='delete'and t or nil end local function aA(c,d) if c-c==0 and d-d==0 then return c<d end return i().J(c,d) end
local function ca(y,o) if not y then return-2 end local F=(y>o and y-o or 0)+500 return(F-F%1000)/1000 end
local function aI(a,h) local l,o,B=a.a,a.now_ms,a.limit local w,bN=l and l.f or 0,h==0 and 1 or h
local br=bN<=B and w+bN<=B local at=(br or w>=B)and h>0 local t=at and w+h or w if t>=(2^53)then i().k('INEXACT_REPLY')
end local y=l and not(at and w==0)and l.e or nil if not y and(l or at)then y=(a.b or a.g)and i().N(a)or o+a.c end
a.allowed,a.count,a.ttl,a.l=br,t,ca(y,o),'keep' if at or(l and not l.e)then a.l,a.p='charge',{f=t,e=y} end end
local function cu(a) if a.PARTIAL or a.ALWAYS then i().E(a) else local h=a.i a.o=h aI(a,h) end if a.SHADOW then i().B(a)
end end local function C(a,h) local B=a.limit if h>B then return nil elseif a.u+h<=B then return 0 end
if a.b or a.g then local G,r=i().x(a) return r-a.now_ms end return a.c-a.now_ms%a.c end local function aM(a,G,l)
local p,B=l and l.f or 0,a.limit a.u=p>0 and p or 0 a.remaining=a.u<B and B-a.u or 0 end local function au(a)
local q,C=a.l,C aM(a,q,q=='keep'and a.a or q~='delete'and a.p or nil) local V,aH,Q,T,ad=a.remaining,a.j,0,0,0
if not a.allowed then local h=a.o Q=C(a,a.v or(h==0 and 1 or h))or-1 if a.I and Q>=0 then Q=math.max(Q,a.I) end end
if V<aH then T=C(a,V+1)or-1 ad=V+1==aH and T or C(a,aH)or-1 end
if Q-Q~=0 or T-T~=0 or ad-ad~=0 or Q>=(2^53)or ad>=(2^53)then i().k('INEXACT_REPLY') end return V,Q,T,ad,0 end
local function cM(a,M) local V,Q,T,ad,cv=au(a) local ds=a.r and 1 or 0 return n(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().w(a)or 1)or 0,a.count,a.ttl,a.j,V,Q,T,ad, cv,a.now_ms,ds,M ) end local function dk(a,M)
local aa=a.form if aa=='LINE'then return cM(a,M) elseif aa then return i().Q(a,M) end
return{a.allowed and(a.PARTIAL and i().w(a)or 1)or 0,a.count,a.ttl} end local function cq(a,q,t,M) local bs
local y,w,aq=nil,a.a,be(q,t,a.a) if y and aA(y,a.now_ms)then aq=nil end a.a=aq cu(a) bs=dk(a,M) a.a=w if not a.ag then
i().A(a,q,t) end return bs end local function dq(K,s) local a=db(s,' form COST AT BURST BLOCK MAX ANCHOR ') df(a,K)
cO(a,'write') local q,t=i().refund(a,a.AT,a.i) return cq(a,q,t,0) end function i() if not aF then local u={}
u.NOT_A_COUNTER='ERR value is not an integer or out of range'
u.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
u.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
u.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
u.ID='ERR invalid ID: expected 1 to 512 bytes'
u.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
u.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
u.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
u.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
u.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
u.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
u.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
u.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
u.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
u.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
u.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
u.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' u.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
u.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
u.ARITY='ERR wrong number of arguments' local function bw(a,du)
return n(':%s:%.0f',a.b and a.b:lower()or n('%.0fms',a.c),du) end local function cr(aj,bJ) if bJ<2 then aj=aj-1 end
local cV=(bJ+10)%12 local cL=math.floor(aj/4)-math.floor(aj/100)+math.floor(aj/400)
return 365*aj+cL+math.floor((153*cV+2)/5)-719468 end local function av(b) return cr(math.floor(b/12),b%12) end
local function bK(ak) local O=1970*12+math.floor(ak/30.436875)+1 while av(O)>ak do O=O-1 end return O,ak-av(O) end
local function bd(X,O) local e=X.K+O local m=av(e) return(m+math.min(X.D,av(e+1)-m-1))*86400000+X.Y end
local function cm(bf,Y,o) local as=Y%86400000 local O,ak=bK((Y-as)/86400000) local X={K=O,D=ak,Y=as}
local bt=bK(math.floor(o/86400000))-O local aR=bt-bt%bf local m,r=bd(X,aR),bd(X,aR+bf) if m>o then m,r=bd(X,aR-bf),m end
return m,r,r-m end local function ba(a,o) local ae,Y=a.b,a.g if ae=='MONTH'or ae=='YEAR'then
local m,r,L=cm(ae=='YEAR'and 12 or 1,Y or 0,o) return math.max(0,m),r,L end Y=Y or(ae=='WEEK'and 4*86400000)or 0
local L=a.c local bq=(o%L-Y%L)%L return math.max(0,o-bq),o-bq+L,L end local function aZ(a) if a.b or a.g then
return ba(a,a.now_ms) end local o,x=a.now_ms,a.c local m=o-o%x return m,m+x end local function aU(a) if a.b or a.g then
local G,r=ba(a,a.now_ms) return r end return a.now_ms+a.c end local function bC(a,R) return not R or not aA(R,(aZ(a)))
end local function di(a,R,h) local l=a.a if not l or not bC(a,R)then return'keep' end local p=l.f if p>0 and h>0 then
p=math.max(0,math.min(p,a.limit)-h) end if p==l.f and l.e then return'keep' end return'refund',{f=p,e=l.e or aU(a)} end
local function J(f) error({err=f},0) end local function z(S) J(u[S]) end local function cz(ao) if type(ao)=='table'then
return ao elseif N(ao,'^%u+ ')then return redis.error_reply(ao) end error(ao,0) end local function bH(c,d)
local bo,ck=c-c==0,d-d==0 if bo or ck then return bo elseif#c~=#d then return#c<#d end for b=#c,1,-1 do
if c[b]~=d[b]then return c[b]<d[b] end end return false end local function af(b) if b-b~=0 then return b end
local g,H={},0 while b>0 do local I=b%(2^24) H=H+1 g[H]=I b=(b-I)/(2^24) end return g end local bl={ __sub=function()
return 1 end, } local function aw(g) local H=#g while H>0 and g[H]==0 do g[H]=nil H=H-1 end
if H>3 or(H==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,bl) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function bL(c,d) c,d=af(c),af(d) local an={}
for b=1,#c+#d do an[b]=0 end for b=1,#c do local U=0 for aS=1,#d do local I=an[b+aS-1]+c[b]*d[aS]+U
U=math.floor(I/(2^24)) an[b+aS-1]=I-U*(2^24) end an[b+#d]=U end return aw(an) end local function cA(j,o)
local bG=Z('PTTL',j) return bG>=0 and o+bG or nil end local function bv(c,d) for e=1,math.min(#c,#d)do
local ce,cf=c:byte(e),d:byte(e) if ce~=cf then return ce<cf end end return#c<#d end local function al(f,am)
if f~='0'and not N(f,'^[1-9]%d*$')then return nil end return(#f<#am or(#f==#am and not bv(am,f)))and f or nil end
local function cC(f,v,cY) local dD={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bk=dD[aB(f,'^(%u):')]
if not bk or bk==v then z(cY) end J('ERR the key holds a state of '..bk..': use another key for each algorithm') end
local function cj(c,d) c,d=af(c),af(d) local ai,U={},0 for b=1,math.max(#c,#d)+1 do local I=(c[b]or 0)+(d[b]or 0)+U
U=I>=(2^24)and 1 or 0 ai[b]=I-U*(2^24) end return aw(ai) end local function bp(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return cj(c,d) end local function aC(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bL(c,d) end local function aN(g)
if#g<=15 or(#g==16 and bv(g,'9007199254740992'))then return g+0 end local aO=#g%7 local b=aO>0 and g:sub(1,aO)+0 or 0
for e=aO+1,#g,7 do b=bp(aC(b,10000000),g:sub(e,e+6)+0) end return b end local function dB(f)
local dt,g=aB(f,'^(%-?)(%d+)$') local aT=dt=='-' g=g and al(g,aT and'9223372036854775808'or'9223372036854775807')
if not g or(aT and g=='0')then cC(f,nil,'NOT_A_COUNTER') end local p=aN(g) if p-p~=0 then z('INEXACT_STATE') end
return aT and-p or p end local function bO(S,f,bF) local g=f and al(f,'9223372036854775807') local b=g and aN(g)
if not b or b==0 and bF>0 then J(n('ERR invalid %s: expected an integer from %d to 9223372036854775807',S,bF))
elseif b-b~=0 then J(n('ERR invalid %s: the Lua library takes integers up to 9007199254740991',S)) end return b end
local bm={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ab(cN,v)
return not N(v,' ',1,true)and N(cN,' '..v..' ',1,true)~=nil end local function bX(a,k)
return not ab(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or ab((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),k)
end local function cJ(v,k) local m,r=0,0 local bV,cP=math.min(#v,#k),math.max(#v,#k)
while m<bV and v:byte(m+1)==k:byte(m+1)do m=m+1 end while r<bV-m and v:byte(-1-r)==k:byte(-1-r)do r=r+1 end
return m+r>=2 and cP-m-r<=2 end local function cD(a,A,v) local ac={} for G,E in ipairs(bm)do
if ab(A,E[1])and bX(a,E[1])then ac[#ac+1]=E[2] end end for G,aa in ipairs({'FULL','LINE','HEADERS'})do ac[#ac+1]=aa end
for G,k in ipairs(ac)do if cJ(v:upper(),aB(k,'^%u+'))then J('ERR syntax error: no such option, but there is '..k) end
end local r=table.remove(ac) local dA=table.concat(ac,', ')
J('ERR syntax error: after limit come '..dA..' or '..r..', each at most once') end local function dm(E,a,A)
local k,dE=E[1],a.ac if not ab(A,k)then J(n('ERR invalid %s: only %s it',k,E[3])) elseif not bX(a,k)then
J(n('ERR invalid %s: %s takes none',k,('FIXED'))) elseif a[k]~=nil then
J(n('ERR syntax error: %s comes at most once',E[2])) end end
local bn={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bQ(f) local P,ae=aB(f,'^(%d+)(%l*)$')
local F=P and bn[ae]and al(P,'18446744073709551615')and P*bn[ae] return F and F>=1 and F<=1e15 and F or nil end
local function bP(f,am) return f and#f>=1 and#f<=am and f end local function bI(c,d) return aA(d,c)and d or c end
local function bu(b) if b-b==0 then return b end local ai=0 for cI=#b,1,-1 do ai=ai*(2^24)+b[cI] end return ai end
local function dw(c,d) if not bH(d,c)then return 0 end d=af(d) local bx,aG={},0 for b=1,#c do local I=c[b]-(d[b]or 0)-aG
aG=I<0 and 1 or 0 bx[b]=I+aG*(2^24) end return aw(bx) end local function dv(c,d) if c-c==0 and d-d==0 then
return c>d and c-d or 0 end return dw(c,d) end local function cx(c,d) local bb=0 while not aA(c,d)do
local aE=math.max(1,math.floor(bu(c)/bu(d)*(1-2^-45))) aE=aw(af(aE)) bb=bp(bb,aE) c=dv(c,aC(aE,d)) end return bb,c end
local function aK(c,d) if c-c==0 and d-d==0 then local D=c%d return(c-D)/d,D end return cx(c,d) end
local ci=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bl) local function de(k,f,bU) if k=='RESERVE'then
local bZ=bU and bQ(bU) return bP(f,128)and bZ and{id=f,ttl=bZ}or z('RESERVE') elseif k=='RESERVATION'then
return bP(f,128)or z('RESERVATION') end if k=='ANCHOR'then local g=f and al(f,'253402300799')
return g and g+0 or z('ANCHOR') end if k=='AS'then return f and#f>=1 and#f<=64 and not N(f,'[^%w._-]')and f or z('AS')
elseif k=='AT'then local g=f and al(f,'9223372036854775807') return g and bI(aN(g),(aK(ci,1000)))or z('AT') end
return bO(k,f,k=='BURST'and 1 or 0) end local function dl(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
z(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
z(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cg={FULL=true,LINE=true,HEADERS=true}
local function cT(aa,bM) if aa then z(aa==bM and'FORM_TWICE'or'TWO_FORMS') end return bM end local function dc(a,s,e,A)
while s[e]do local v,E=s[e]:upper(),nil for G,bE in ipairs(bm)do E=bE[1]==v and bE or E end if E then dm(E,a,A)
if E[2]==v then a[v]=true e=e+1 else a[v]=de(v,s[e+1],s[e+2]) e=e+(v=='RESERVE'and 3 or 2) end dl(a)
elseif cg[v]and ab(A,'form')then a.form=cT(a.form,v) e=e+1 else return e end end return e end
local ch={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dC(a,f) local x=bQ(f)
if not x then a.b=f:upper() x=ch[a.b] if not x then
z(ab((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ab((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
J(n('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return x end local function cF(j)
return j:sub(-9)==':reserved'or j:sub(-14)==':reserved:ends' end local function dn(j) if cF(j)then z('RESERVED_KEY') end
end local function dz(b) local bi='' while b-b~=0 do local D b,D=aK(b,10000000) bi=n('%07.0f',D)..bi end
return n('%.0f',b)..bi end local function bY(b) if b-b~=0 then return dz(b) end return n('%.0f',b) end
local function cU(a) local G,r=aZ(a) if a.b or a.g then return bw(a,r) end return':'..bY(r/a.c) end local function cl(a)
return bh(a)..' '..cU(a) end local function cB(a) J(n('ERR clock %.0f %s',a.now_ms,cl(a))) end local function bB(a)
local W=a.b and a.b:lower()or n('%.0fms',a.c) return':'..W..(a.g and n(':%.0f',a.g/1000)or'') end
local function dx(a,K,e,j) local ax,by=K[e]or'',K[e+1] local S=(bB and bB(a)or'')..':reserved'
if(ax~=j..S and ax~='{'..j..'}'..S)or by~=ax..':ends'then z('KEYS') end a.af,a.ad=ax,by return e+2 end
local function ah(F) local D=F%1000 return F<0 and-1 or D==0 and F/1000 or(F-D)/1000+1 end local function cp(a)
local cW=a.PARTIAL and a.o<a.i a.r=a.SHADOW and not a.t and(cW or not a.allowed) if not a.allowed and(a.r or a.t)then
a.allowed=true if not true then local G,G,G,bc=au(a) a.ttl=ah(bc) end end end local function dj(a) aM(a,'keep',a.a)
return a.remaining end local function cZ(a,R,h) local l=a.a if h==0 or not bC(a,R)then return'keep' end
local w=l and l.f or 0 if w+h+1>=(2^53)then z('INEXACT_REPLY') end local cH=w~=0 and l.e
return'charge',{f=w+h,e=cH or aU(a)} end local function cS(h) return h==0 and 1 or h end local function cb(l,o)
return l and l.f or 0,ca(l and l.e,o) end local function bz(b) if b-b~=0 or b>=(2^53)then z('INEXACT_REPLY') end
return b end local function cs(a) local h=a.i aI(a,0) local q,t=cZ(a,nil,h) if h>0 then a.l,a.p=q,t end
local aq=be(a.l,a.p,a.a) aM(a,a.l,aq) a.allowed=a.j>0 and C(a,0)==0 a.v=a.j>0 and h or cS(h) if cb then
a.count,a.ttl=cb(aq,a.now_ms) elseif a.allowed then a.ttl=ah(bz(C(a,a.j))) else local C=C(a,a.v)
a.ttl=C and math.max(1,ah(bz(C)))or-1 end end local function ct(a) local h=a.i if a.PARTIAL then h=math.min(h,dj(a)) end
a.o=h if a.ALWAYS then cs(a) else aI(a,h) end end local function dr(j,R) if R then Z('PEXPIREAT',j,bY(R)) end end
local function cn(a,q,t) local j,w=a.q,a.a if q=='delete'then Z('UNLINK',j) elseif q~='keep'then
local aJ=t.f-(w and w.f or 0) if aJ~=0 then Z('INCRBY',j,aJ==1 and'1'or n('%.0f',aJ)) end if not w or t.e~=w.e then
dr(j,t.e) end end end local function co(a,q,t) if a.ae then t=be(q,t,a.a) a.a=a.W if not t then
q=a.W and'delete'or'keep' elseif q~='charge'then q='refund' end end cn(a,q,t) end local function bR(a)
return a.t and a.t.i or a.r and a.i or a.o end local function bA(a) if not a.allowed then return 0 end
return a.PARTIAL and bR(a)or 1 end local function cE(a,M) local V,dp,T,bc,cw=au(a) return{ 'allowed',bA(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.j, 'remaining',V, 'retry_after_ms',dp, 'next_ms',T, 'reset_ms',bc,
'delay_ms',cw, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0, 'charged',M, } end local function cR(ap) local bW={}
for G,a in ipairs(ap)do local m,P=a.AS or('FIXED'):lower(),2 a.n=m while bW[a.n]do a.n=n('%s-%d',m,P) P=P+1 end
bW[a.n]=true end end local function cc(a) if a.b or a.g then return(select(3,ba(a,a.now_ms))) end return a.c end
local function az(b) return n('%.0f',bI(b,999999999999999)) end local function dg(a) local x=cc and cc(a)or a.c
local aL,D=1000,x%1000 while D>0 do aL,D=D,aL%D end local cd=1000/aL local W=aK(aC(x,cd),1000)
return n('"%s";q=%s;w=%s',a.n,az(aC(a.limit,cd)),az(W)) end local function cK(aD,ag) if aD.allowed~=ag.allowed then
return not aD.allowed end local C,aW=aD.retry_after_ms,ag.retry_after_ms if C~=aW then return C<0 or(aW>=0 and C>aW) end
return aD.remaining<ag.remaining end local function cG(ap) local bg,bS=ap[1],{} cR(ap) for b,a in ipairs(ap)do
bS[b]=dg(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=au(a) if cK(a,bg)then bg=a end end local a=bg local ar={
'X-RateLimit-Limit', n('%.0f',a.j), 'X-RateLimit-Remaining', n('%.0f',a.remaining), } local function ay(S,p) ar[#ar+1]=S
ar[#ar+1]=p end if a.reset_ms>=0 then ay('X-RateLimit-Reset',n('%.0f',ah(a.now_ms+a.reset_ms))) end
ay('RateLimit-Policy',table.concat(bS,', ')) local cQ=a.next_ms>=0 and';t='..az(ah(a.next_ms))or''
ay('RateLimit',n('"%s";r=%s%s',a.n,az(a.remaining),cQ)) if not a.allowed and a.retry_after_ms>=0 then
ay('Retry-After',n('%.0f',ah(a.retry_after_ms))) end return ar end local function cX(a,M) if a.form=='FULL'then
return cE(a,M) end return{bA(a),a.count,a.ttl,cG({a})} end
aF={z=bw,A=co,B=cp,E=ct,error_reply=cz,F=cA,k=z,G=cB,H=cD,J=bH,M=bL,N=aU,Q=cX,S=bO,U=dc,w=bR,x=aZ,refund=di,V=dn,X=dx,Z=dB,ab=dC}
end return aF end local cy,bT=pcall(dq,KEYS,ARGV) return cy and bT or i().error_reply(bT)
