-- RL.SLIDING: KEYS and ARGV of the script that it replaces, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function dy(Z) local aO,i local B,h,ap,dK=string.find,string.format,string.match,string.sub local function bU(Q)
return Q==''and 1000 or Q=='ms'and 1 or Q=='s'and 1000 or Q=='m'and 60000 or Q=='h'and 3600000 or Q=='d'and 86400000
or nil end local function dg(u,e,A) local ay,ao,j=u[e],u[e+1],u[e+2] if not ao then i().m('ARITY') end local a={ d='',
J=0, now_ms=0, g=0, V=0, limit=0, c=0, b=1, form=nil, delay=0, t=nil, e=nil, allowed=false, count=0, ttl=0, a='keep',
remaining=0, f=1, } e=e+2 if j=='LINE'and not u[e+1]and A~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local ah=u[e+1]or''
local bJ=A==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and u[e+2]=='LINE'and not u[e+3]and#ah<16
if bJ and j=='COST'and(' COST PARTIAL ')~=' ID 'and B(ah,'^[1-9]%d*$')then a.form,a.b,e='LINE',ah+0,e+3
elseif bJ and j=='ID'and(' COST PARTIAL ')==' ID 'and ah~=''then a.form,a.ID,e='LINE',ah,e+3 else e=i().M(a,u,e,A)
a.b=a.COST or 1 end end local cN=#ao<16 and B(ao,'^[1-9]%d*$') a.limit=cN and ao+0 or i().L('limit',ao,0)
local N,Q=ap(ay,'^([1-9]%d*)(%l*)$') local au=N and#ay<16 and bU(Q) local t=au and N*au if not t or t<1 or t>1e15 then
t=i().W(a,ay) end a.g,a.V,a.c=t,t<9e12 and t*1000 or i().I(t,1000),a.BURST or a.limit return a,e end
local function de(u,A) local a,e=dg(u,2,A) if u[e]then i().F(a,A,u[e]) end if true and a.b>1000 then
i().P(i().H(a),'LOG_COST') end return a end local m=redis.call local function dl(a) local cb=m('TIME')
local bh=cb[1]*1000000+cb[2] a.J,a.now_ms=bh,(bh-bh%1000)/1000 end local function dC(a,I,e,az,ba) local f=I[e]
if not f then i().m('KEYS') end a.d,e=f,e+1 if ba then a.i=f elseif B(f,':reserved',1,true)then i().Q(f) end return e
end local function dj(a,I,az,ba) dl(a) if#I==1 then I=i().C(a,I,az) end if#I~=dC(a,I,1,az,ba)-1 then i().m('KEYS') end
end local aW,dJ,dM,aH=4000,1000,1000,2*500 local function cS(a,Y,ca,as) local f=a.d local q,X=m('ZCARD',f),0
if q>0 and ca>=0 and as~='delete'then local o=h('%.0f',ca) local M=as=='read'and 0 or aW if q<=M then
local aa=m('ZREMRANGEBYSCORE',f,Y,o) q,aW=q-aa,M-aa else q,X=i().O(f,Y,o,q,M) end end a.h,a.p,a.j=q-X,X,q>0 end
local function cR(a,as) cS(a,'0',a.now_ms-a.g,as) a.q=500 if as=='write'then aH=(aH-aH%2)/2 a.q=aH end end
local function ag(J) local C=J%1000 return J<0 and-1 or C==0 and J/1000 or(J-C)/1000+1 end local function bz(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return i().x(c,d) end local function aS(a,g) local f,bd=a.d,a.h
local an=bd+(g==0 and 1 or g)<=a.limit a.allowed,a.count,a.ttl,a.a=an,bd,ag(a.g),'keep' if an and g>0 then
a.a,a.e='charge',{l=g} elseif not an and bd>0 and m('ZCOUNT',f,'('..h('%.0f',a.now_ms),'+inf')>0 then
a.a,a.e='rebase',{S=true} end end local function cz(a) if a.PARTIAL or a.ALWAYS then i().B(a) else local g=a.b a.f=g
aS(a,g) end if a.SHADOW then i().A(a) end end local function bV(f,F) F=h('%.0f',F)
local x=m('ZRANGE',f,F,F,'WITHSCORES')[2] return x and tonumber(x) end local function cZ(a) local f=a.d
local Y=a.j and bV(f,0) return Y and Y<0 and m('ZCOUNT',f,'-inf','(0')or 0 end local function bN(a,F)
local x=F>=0 and F<a.h+a.p and bV(a.d,F) return x and math.max(0,math.ceil(x)) end local function av(b) if b-b~=0 then
return i().R(b) end return h('%.0f',b) end local function bc(a,b) local E,aP=a.now_ms,a.o a.n=a.n or cZ(a)
if b>=a.h+aP-a.n then return nil end local F=b+a.n+a.p local e=bN(a,F) if e and aP>0 and e>E then e=nil end
if not e then local bb=bN(a,F-aP) e=bb and bb>E and bb or E end if a.N then a.r=a.r or m('ZCOUNT',a.d,'-inf',av(E))+a.q
e=F<a.r and math.min(e,E)or e end return e+a.g end local function dG(a,g,G,bc,aY) local bq=a.limit-g if bq<0 then
return nil elseif G<=bq then return 0 end local U=bc(a,G-bq-1) if aY and(not U or aY<U)then U=aY end
return U and(U>=(2^53)and(1/0)or math.max(0,U-a.now_ms)) end local function aJ(a,bI) local E,t=a.now_ms,a.g
if bI and 2*(bI-E)>=3*t then return nil end return E+2*t end local function y(a,g)
return dG(a,g,a.h+a.o,bc,(aJ(a,a.u)or a.u)+1) end local function aC(f,E) if not redis.REDIS_VERSION_NUM then
return i().E(f,E) end local e=m('PEXPIRETIME',f) return e>=0 and e or nil end local function aX(a,r,w)
a.n,a.r,a.o,a.N=nil,nil,r=='charge'and w.l or 0,r=='rebase' local K=a.limit-a.h-a.o a.remaining=K>0 and K or 0
a.u=a.j and aC(a.d,a.now_ms)or nil end local function aD(a) local r,y=a.a,y
aX(a,r,r=='keep'and a.t or r~='delete'and a.e or nil) local K,aR,O,V,af=a.remaining,a.c,0,0,0 if not a.allowed then
local g=a.f O=y(a,a.v or(g==0 and 1 or g))or-1 if a.G and O>=0 then O=math.max(O,a.G) end end if K<aR then
V=y(a,K+1)or-1 af=K+1==aR and V or y(a,aR)or-1 end if O-O~=0 or V-V~=0 or af-af~=0 or O>=(2^53)or af>=(2^53)then
i().m('INEXACT_REPLY') end return K,O,V,af,0 end local function cP(a,G) local K,O,V,af,cA=aD(a) local dx=a.k and 1 or 0
return h( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().w(a)or 1)or 0,a.count,a.ttl,a.c,K,O,V,af, cA,a.now_ms,dx,G ) end local function dp(a,G)
local ac=a.form if ac=='LINE'then return cP(a,G) elseif ac then return i().K(a,G) end
return{a.allowed and(a.PARTIAL and i().w(a)or 1)or 0,a.count,a.ttl} end local function cs(a) if a.a~='charge'then
return 0 elseif a.ALWAYS then return a.f elseif not a.allowed or(a.k and not a.PARTIAL)then return 0 end return a.f end
local function cm(f,J,s) local x=h('%.0f',J) local b=m('ZCOUNT',f,x,x) while s>1 do local z={}
for S=1,math.min(s,1000)do z[#z+1]=x z[#z+1]=h('%s-0.%.0f',x,b) b=b+1 end s=s-m('ZADD',f,'NX',unpack(z)) end
while s>0 do s=s-m('ZADD',f,'NX',x,x..'-0.'..av(b)) b=b+1 end end local function aL(f,ab) if ab then
m('PEXPIREAT',f,av(ab)) end end local function bC(a,r,w) local f=a.d if r=='charge'then
local aB=aJ(a,a.j and aC(f,a.now_ms)or nil) cm(f,w.D or a.now_ms,w.l) aL(f,aB) elseif r~='keep'then i().y(a,r,w)
elseif a.j then aL(f,aJ(a,aC(f,a.now_ms))) end end local function dw(I,u)
local a=de(u,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') dj(a,I,a.RESERVE) cR(a,'write')
cz(a) local cn=dp(a,cs(a)) if a.SHADOW or a.RESERVE then i().z(a,true) else bC(a,a.a,a.e) end return cn end function i()
if not aO then local p={} p.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
p.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
p.ID='ERR invalid ID: expected 1 to 512 bytes'
p.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
p.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
p.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
p.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
p.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
p.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
p.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
p.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
p.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
p.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
p.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
p.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
p.ARITY='ERR wrong number of arguments'
p.LOG_COST='ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more'
p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function cr(co,bg) local P=0
for n=1,#bg,1000 do local z={unpack(co)} for b=n,math.min(n+999,#bg)do z[#z+1]=bg[b] end P=P+m(unpack(z)) end return P
end local function du(f,x,q) local aq={} for S,cU in ipairs(q)do aq[#aq+1]=x aq[#aq+1]=cU end cr({'ZADD',f,'XX'},aq) end
local function cu(a,r,w) local f=a.d if r=='delete'then m('UNLINK',f) return end
local aB=aJ(a,a.j and aC(f,a.now_ms)or nil) if w.S then local x=h('%.0f',a.now_ms)
du(f,x,m('ZRANGEBYSCORE',f,'('..x,'+inf','LIMIT','0',av(a.q))) aL(f,aB) return end local q=a.h+a.p
local n,o=q-w.remove,q-1 if w.U then o=m('ZCOUNT',f,'-inf',av(w.U))-1 n=math.max(0,o+1-w.remove) end
if o<0 or n>0 or o+1<q then aL(f,aB) end if o>=0 then m('ZREMRANGEBYRANK',f,h('%.0f',n),h('%.0f',o)) end end
local function T(k) error({err=k},0) end local function L(aj) T(p[aj]) end local function cE(Z) if type(Z)=='table'then
return Z elseif B(Z,'^%u+ ')then return redis.error_reply(Z) end error(Z,0) end local function ai(b) if b-b~=0 then
return b end local l,s={},0 while b>0 do local H=b%(2^24) s=s+1 l[s]=H b=(b-H)/(2^24) end return l end local bw={
__sub=function() return 1 end, } local function aE(l) local s=#l while s>0 and l[s]==0 do l[s]=nil s=s-1 end
if s>3 or(s==3 and l[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(l,bw) end
return(l[1]or 0)+(l[2]or 0)*(2^24)+(l[3]or 0)*(2^24)*(2^24) end local function cl(c,d) c,d=ai(c),ai(d) local P,W={},0
for b=1,math.max(#c,#d)+1 do local H=(c[b]or 0)+(d[b]or 0)+W W=H>=(2^24)and 1 or 0 P[b]=H-W*(2^24) end return aE(P) end
local function bP(c,d) c,d=ai(c),ai(d) local ar={} for b=1,#c+#d do ar[b]=0 end for b=1,#c do local W=0 for bf=1,#d do
local H=ar[b+bf-1]+c[b]*d[bf]+W W=math.floor(H/(2^24)) ar[b+bf-1]=H-W*(2^24) end ar[b+#d]=W end return aE(ar) end
local function bM(c,d) local by,cp=c-c==0,d-d==0 if by or cp then return by elseif#c~=#d then return#c<#d end
for b=#c,1,-1 do if c[b]~=d[b]then return c[b]<d[b] end end return false end local function be(c,d)
if c-c==0 and d-d==0 then return c<d end return bM(c,d) end local function bA(b) if b-b==0 then return b end local P=0
for cL=#b,1,-1 do P=P*(2^24)+b[cL] end return P end local function dB(c,d) if not bM(d,c)then return 0 end d=ai(d)
local bD,aQ={},0 for b=1,#c do local H=c[b]-(d[b]or 0)-aQ aQ=H<0 and 1 or 0 bD[b]=H+aQ*(2^24) end return aE(bD) end
local function dA(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end return dB(c,d) end local function aI(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bP(c,d) end local function cD(c,d) local bo=0
while not be(c,d)do local z=math.max(1,math.floor(bA(c)/bA(d)*(1-2^-45))) z=aE(ai(z)) bo=bz(bo,z) c=dA(c,aI(z,d)) end
return bo,c end local function aU(c,d) if c-c==0 and d-d==0 then local C=c%d return(c-C)/d,C end return cD(c,d) end
local function dD(b) local bs='' while b-b~=0 do local C b,C=aU(b,10000000) bs=h('%07.0f',C)..bs end
return h('%.0f',b)..bs end local function cF(f,E) local U=m('PTTL',f) return U>=0 and E+U or nil end
local function dn(f,Y,o,q,M) local X=m('ZCOUNT',f,Y,o) local aa=math.min(X,M) if aa>0 then
local n=Y=='0'and m('ZCOUNT',f,'-inf','(0')or 0 m('ZREMRANGEBYRANK',f,h('%.0f',n),h('%.0f',n+aa-1))
q,X,aW=q-aa,X-aa,M-aa end return q,X end local function bB(c,d) for e=1,math.min(#c,#d)do
local cg,ch=c:byte(e),d:byte(e) if cg~=ch then return cg<ch end end return#c<#d end local function aT(k,M)
if k~='0'and not B(k,'^[1-9]%d*$')then return nil end return(#k<#M or(#k==#M and not bB(M,k)))and k or nil end
local function bG(l) if#l<=15 or(#l==16 and bB(l,'9007199254740992'))then return l+0 end local aZ=#l%7
local b=aZ>0 and l:sub(1,aZ)+0 or 0 for e=aZ+1,#l,7 do b=bz(aI(b,10000000),l:sub(e,e+6)+0) end return b end
local function bR(aj,k,bL) local l=k and aT(k,'9223372036854775807') local b=l and bG(l) if not b or b==0 and bL>0 then
T(h('ERR invalid %s: expected an integer from %d to 9223372036854775807',aj,bL)) elseif b-b~=0 then
T(h('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aj)) end return b end local bx={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ad(cQ,v)
return not B(v,' ',1,true)and B(cQ,' '..v..' ',1,true)~=nil end local function bZ(a,j)
return not ad(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or ad((' COST PARTIAL '),j) end
local function cM(v,j) local n,o=0,0 local bW,cT=math.min(#v,#j),math.max(#v,#j)
while n<bW and v:byte(n+1)==j:byte(n+1)do n=n+1 end while o<bW-n and v:byte(-1-o)==j:byte(-1-o)do o=o+1 end
return n+o>=2 and cT-n-o<=2 end local function cG(a,A,v) local ae={} for S,D in ipairs(bx)do
if ad(A,D[1])and bZ(a,D[1])then ae[#ae+1]=D[2] end end for S,ac in ipairs({'FULL','LINE','HEADERS'})do ae[#ae+1]=ac end
for S,j in ipairs(ae)do if cM(v:upper(),ap(j,'^%u+'))then T('ERR syntax error: no such option, but there is '..j) end
end local o=table.remove(ae) local dE=table.concat(ae,', ')
T('ERR syntax error: after limit come '..dE..' or '..o..', each at most once') end local function ds(D,a,A)
local j,dI=D[1],a.X if not ad(A,j)then T(h('ERR invalid %s: only %s it',j,D[3])) elseif not bZ(a,j)then
T(h('ERR invalid %s: %s takes none',j,('SLIDING'))) elseif a[j]~=nil then
T(h('ERR syntax error: %s comes at most once',D[2])) end end local function bO(c,d) return be(d,c)and d or c end
local ck=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bw) local function dh(j,k,dL) if j=='AS'then
return k and#k>=1 and#k<=64 and not B(k,'[^%w._-]')and k or L('AS') elseif j=='AT'then
local l=k and aT(k,'9223372036854775807') return l and bO(bG(l),(aU(ck,1000)))or L('AT') end
return bR(j,k,j=='BURST'and 1 or 0) end local function dq(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
L(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
L(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local ci={FULL=true,LINE=true,HEADERS=true}
local function da(ac,bQ) if ac then L(ac==bQ and'FORM_TWICE'or'TWO_FORMS') end return bQ end local function df(a,u,e,A)
while u[e]do local v,D=u[e]:upper(),nil for S,bK in ipairs(bx)do D=bK[1]==v and bK or D end if D then ds(D,a,A)
if D[2]==v then a[v]=true e=e+1 else a[v]=dh(v,u[e+1],u[e+2]) e=e+(v=='RESERVE'and 3 or 2) end dq(a)
elseif ci[v]and ad(A,'form')then a.form=da(a.form,v) e=e+1 else return e end end return e end local function di(k)
local N,Q=ap(k,'^(%d+)(%l*)$') local au=N and bU(Q) local J=au and aT(N,'18446744073709551615')and N*au
return J and J>=1 and J<=1e15 and J or nil end
local cj={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dH(a,k) local t=di(k)
if not t then a.T=k:upper() t=cj[a.T] if not t then L(ad((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ad((' COST PARTIAL '),'ANCHOR')then
T(h('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return t end local function cW(a)
if not true then return 0 elseif a.c<a.b then return a.PARTIAL and a.c or 0 end return a.b end local function dr(q,k)
if q>1000 then L(k) end end local function cJ(f) return f:sub(-9)==':reserved'or f:sub(-14)==':reserved:ends' end
local function dt(f) if cJ(f)then L('RESERVED_KEY') end end local function cC(a,I,az) local f=I[1] local am={f}
if az then local bH=f..((nil)and(nil)(a)or'')..':reserved' am[#am+1],am[#am+2]=bH,bH..':ends' end return am end
local function cw(a) local db=a.PARTIAL and a.f<a.b a.k=a.SHADOW and not a.s and(db or not a.allowed)
if not a.allowed and(a.k or a.s)then a.allowed=true if not true then local S,S,S,bp=aD(a) a.ttl=ag(bp) end end end
local function dm(a) aX(a,'keep',a.t) return a.remaining end local function dd(a,ab,g) if g==0 then return'keep'
elseif not ab or not be(ab,a.now_ms)then return'charge',{l=g} elseif ab<=a.now_ms-a.g then return'keep' end
return'charge',{l=g,D=ab} end local function dz(r,w,cq) if r=='keep'then return cq end return r~='delete'and w or nil
end local function cY(g) return g==0 and 1 or g end local function bE(b) if b-b~=0 or b>=(2^53)then L('INEXACT_REPLY')
end return b end local function cx(a) local g=a.b aS(a,0) local r,w=dd(a,nil,g) if g>0 then a.a,a.e=r,w end
local bX=dz(a.a,a.e,a.t) aX(a,a.a,bX) a.allowed=a.c>0 and y(a,0)==0 a.v=a.c>0 and g or cY(g) if(nil)then
a.count,a.ttl=(nil)(bX,a.now_ms) elseif a.allowed then a.ttl=ag(bE(y(a,a.c))) else local y=y(a,a.v)
a.ttl=y and math.max(1,ag(bE(y)))or-1 end end local function cy(a) local g=a.b if a.PARTIAL then g=math.min(g,dm(a)) end
a.f=g if a.ALWAYS then cx(a) else aS(a,g) end end local function ct(a,r,w) bC(a,r,w) end local function cv(a,an)
if not an and a.a=='charge'then a.a,a.e='keep',nil end ct(a,a.a,a.e) end local function bS(a)
return a.s and a.s.b or a.k and a.b or a.f end local function bF(a) if not a.allowed then return 0 end
return a.PARTIAL and bS(a)or 1 end local function cI(a,G) local K,dv,V,bp,cB=aD(a) return{ 'allowed',bF(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.c, 'remaining',K, 'retry_after_ms',dv, 'next_ms',V, 'reset_ms',bp,
'delay_ms',cB, 'now_ms',a.now_ms, 'shadow',a.k and 1 or 0, 'charged',G, } end local function cX(at) local bY={}
for S,a in ipairs(at)do local n,N=a.AS or('SLIDING'):lower(),2 a.i=n while bY[a.i]do a.i=h('%s-%d',n,N) N=N+1 end
bY[a.i]=true end end local function aG(b) return h('%.0f',bO(b,999999999999999)) end local function dk(a)
local t=(nil)and(nil)(a)or a.g local aV,C=1000,t%1000 while C>0 do aV,C=C,aV%C end local cf=1000/aV
local ay=aU(aI(t,cf),1000) return h('"%s";q=%s;w=%s',a.i,aG(aI(a.limit,cf)),aG(ay)) end local function cO(aK,bi)
if aK.allowed~=bi.allowed then return not aK.allowed end local y,bj=aK.retry_after_ms,bi.retry_after_ms if y~=bj then
return y<0 or(bj>=0 and y>bj) end return aK.remaining<bi.remaining end local function cK(at) local br,bT=at[1],{} cX(at)
for b,a in ipairs(at)do bT[b]=dk(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aD(a) if cO(a,br)then br=a end end
local a=br local aw={ 'X-RateLimit-Limit', h('%.0f',a.c), 'X-RateLimit-Remaining', h('%.0f',a.remaining), }
local function aF(aj,ah) aw[#aw+1]=aj aw[#aw+1]=ah end if a.reset_ms>=0 then
aF('X-RateLimit-Reset',h('%.0f',ag(a.now_ms+a.reset_ms))) end aF('RateLimit-Policy',table.concat(bT,', '))
local cV=a.next_ms>=0 and';t='..aG(ag(a.next_ms))or'' aF('RateLimit',h('"%s";r=%s%s',a.i,aG(a.remaining),cV))
if not a.allowed and a.retry_after_ms>=0 then aF('Retry-After',h('%.0f',ag(a.retry_after_ms))) end return aw end
local function dc(a,G) if a.form=='FULL'then return cI(a,G) end return{bF(a),a.count,a.ttl,cK({a})} end
aO={x=cl,y=cu,z=cv,A=cw,B=cy,C=cC,error_reply=cE,E=cF,m=L,F=cG,H=cW,I=bP,K=dc,L=bR,M=df,w=bS,O=dn,P=dr,Q=dt,R=dD,W=dH}
end return aO end if Z then return i().error_reply(Z) end local aA,ak=pcall(dw,KEYS,ARGV)
return aA and ak or i().error_reply(ak) end local function cH(bv,R) local B,ap,m=string.find,string.match,redis.call
local cc=R[2] local bt=R[3] local aM=R[4] if not bt then return end local ax=R[5] local bm local bn
if(aM=='LINE')and(not ax)then bm=5 bn=1 else local bk local bl if aM then if ax then
if not(((((R[6]=='LINE')and(not R[7]))and((#ax)<16))and(aM=='COST'))and B(ax,'^[1-9]%d*$'))then return end bk=7 bl=ax+0
else if(((R[6]=='LINE')and(not R[7]))and(aM=='COST'))and B('','^[1-9]%d*$')then return end return end else bk=4 bl=1 end
bm=bk bn=bl end if not(((#bt)<16)and B(bt,'^[1-9]%d*$'))then return end local cd,al=ap(cc,'^([1-9]%d*)(%l*)$')
if cd then if(#cc)<16 then
local bu=(al=='')and 1000 or((al=='ms')and 1 or((al=='s')and 1000 or((al=='m')and 60000 or((al=='h')and 3.6e6 or((al=='d')and 8.64e7 or nil)))))
local aN=bu and(cd*bu)or bu if(not aN)or((aN<1)or(1e15<aN))then return end if not(aN<9e12)then return end local dF=R[bm]
if dF then return end if 1000<bn then return end local dN=m('TIME') if(#bv)==1 then return end local ce=bv[1]
if not ce then return end if B(ce,':reserved',1,true)then return end return else return end else return end end
local aA,ak=pcall(cH,KEYS,ARGV) if aA and ak then return ak end return dy(not aA and ak)
