-- RL.LOCKOUT, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function fC(ad) local bx,j local x,i,ac,gx=string.find,string.format,string.match,string.sub local function dn(Q)
return Q==''and 1000 or Q=='ms'and 1 or Q=='s'and 1000 or Q=='m'and 60000 or Q=='h'and 3600000 or Q=='d'and 86400000
or nil end local function dl(a) local bz=a.BLOCK or a.n local df=a.MAX or math.max(bz,86400000) if df<bz then
j().h('MAX_BELOW_BLOCK') end a.t,a.q=bz,df end local function fn(u,f,B) local aS,D,l=u[f],u[f+1],u[f+2] if not D then
j().h('ARITY') end local a={ p='', J=0, now_ms=0, n=0, U=0, limit=0, e=0, f=1, form=nil, delay=0, m=nil, c=nil,
allowed=false, count=0, ttl=0, a='keep', remaining=0, g=1, } f=f+2
if l=='LINE'and not u[f+1]and B~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=l,f+1 elseif l then
local aq=u[f+1]or''
local db=B==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and u[f+2]=='LINE'and not u[f+3]and#aq<16
if db and l=='COST'and(' COST BLOCK MAX ')~=' ID 'and x(aq,'^[1-9]%d*$')then a.form,a.f,f='LINE',aq+0,f+3
elseif db and l=='ID'and(' COST BLOCK MAX ')==' ID 'and aq~=''then a.form,a.ID,f='LINE',aq,f+3 else f=j().N(a,u,f,B)
a.f=a.COST or 1 end end local eV=#D<16 and x(D,'^[1-9]%d*$') a.limit=eV and D+0 or j().M('limit',D,0)
local L,Q=ac(aS,'^([1-9]%d*)(%l*)$') local aM=L and#aS<16 and dn(Q) local w=aM and L*aM if not w or w<1 or w>1e15 then
w=j().V(a,aS) end a.n,a.U,a.e=w,w<9e12 and w*1000 or j().x(w,1000),a.BURST or a.limit if dl then dl(a) end return a,f
end local function fk(u,B) local a,f=fn(u,1,B) if u[f]then j().G(a,B,u[f]) end return a end local U=redis.call
local function ft(a) local dt=U('TIME') local bU=dt[1]*1000000+dt[2] a.J,a.now_ms=bU,(bU-bU%1000)/1000 end
local function fG(a,as,f,eo,bM) local K=as[f] if not K then j().h('KEYS') end a.p,f=K,f+1 if bM then a.l=K
elseif x(K,':reserved',1,true)then j().P(K) end return f end local function fq(a,as,eo,bM) ft(a)
if#as~=fG(a,as,1,eo,bM)-1 then j().h('KEYS') end end local function gu(h,fp) local b,c,bC,bE,s=ac(h,fp) if not b then
return nil elseif x(h,':0%d')then return nil end local r=#bE<17 and bE+0 return#b<16 and b+0 or j().r(b),
#c<16 and c+0 or j().r(c), #bC<16 and bC+0 or j().r(bC), r and r<9e15 and r or j().r(bE), s end local function at(b,c)
if b-b==0 and c-c==0 then return b<c end return j().I(b,c) end local function aw(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return j().x(b,c) end local function eF(h)
local J,I,r,av,au=gu(h,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not J or not I or not r or not av or#au>2 or au+0>64 then
return nil elseif at(r,I)or at(1e15,av)then return nil elseif J-J~=0 or r-r~=0 then if j().w(J)or j().w(aw(r,1000))then
return nil end j().h('INEXACT_STATE') end return{j=J,i=I,d=r,b=av,k=au+0} end local function fa(a) local h=U('GET',a.p)
if h then a.m=eF(h)or j().F(h,('LOCKOUT'),'FOREIGN_VALUE') end end local function aH(a,e) local ay=a.now_ms
if not e or e.d<=ay then return e end local I=math.min(e.i,ay) return{j=e.j,i=I,d=ay,b=e.b,k=e.k} end
local function dm(a,e) local cV=e and(e.b>0 and e.d+e.b or e.i+a.n) if cV and a.now_ms<cV and e.j>0 then return e.j,e.i
end return 0,a.now_ms end local function da(a,e) return e and a.now_ms<e.d+e.b end local function de(a,e) if e.b==0 then
return e.k end local cD,bN=0,a.t while bN<a.q do cD,bN=cD+1,2*bN end return math.min(e.k+1,cD) end
local function aU(b,c) if b-b==0 and c-c==0 then local s=b%c return(b-s)/c,s end return j().u(b,c) end
local function eX(a,e) local fs=math.max(0,a.now_ms-e.d-e.b) return math.max(0,de(a,e)-(aU(fs,a.q))) end
local function aT(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return j().A(b,c) end
local function bS(b,c) return at(c,b)and c or b end local function eJ(b,c) if b-b==0 and c-c==0 then local s=b%c
return s==0 and b/c or(b-s)/c+1 end local aB,s=j().u(b,c) return s==0 and aB or aT(aB,1) end local function cW(a,e)
local f=aT(e.d+e.b,aw(de(a,e),a.q)) if f-f~=0 then return bS(f,eJ(j().MAX_UNSIGNED,1000)) end return math.max(f,e.i+a.n)
end local function dp(a,e) local J,I=dm(a,e) if da(a,e)then a.v,a.remaining=e.d+e.b,0 else
a.v,a.remaining=I+a.n,math.max(0,a.limit-J) end end local function af(W) local s=W%1000
return W<0 and-1 or s==0 and W/1000 or(W-s)/1000+1 end local function p(a,m) local D,cY=a.limit,a.remaining
if m>D or D==0 then return nil elseif m<=cY and cY>0 then return 0 end return a.v-a.now_ms end local function bI(d)
if d-d~=0 or d>=(2^53)then j().h('INEXACT_REPLY') end return d end local function fJ(a,m) local p=p(a,m==0 and 1 or m)
p=p and af(bI(p))or-1 return p==0 and 1 or p end local function bF(a,m) local ay,D,e=a.now_ms,a.limit,aH(a,a.m)
local J,I=dm(a,e) local y=J+(m==0 and 1 or m) local aG=not da(a,e)and y<=D a.allowed,a.count,a.a=aG,J,'keep'
if aG and m>0 then local au,av=e and eX(a,e)or 0,0 if y==D then av=math.min(a.t*2^au,a.q) end e={j=y,i=I,d=ay,b=av,k=au}
a.a,a.c='charge',e elseif e~=a.m and at(ay,cW(a,e))then a.a,a.c='rebase',e end dp(a,e) if aG then a.ttl=af(p(a,D)) else
a.ttl=fJ(a,m) end end local function eE(a) if a.PARTIAL or a.ALWAYS then j().E(a) else local m=a.f a.g=m bF(a,m) end
if a.SHADOW then j().D(a) end end local function bJ(a,T,e) dp(a,aH(a,e)) end local function aW(a) local v,p=a.a,p
bJ(a,v,v=='keep'and a.m or v~='delete'and a.c or nil) local ae,bD,P,X,an=a.remaining,a.e,0,0,0 if not a.allowed then
local m=a.g P=p(a,a.y or(m==0 and 1 or m))or-1 if a.H and P>=0 then P=math.max(P,a.H) end end if ae<bD then
X=p(a,ae+1)or-1 an=ae+1==bD and X or p(a,bD)or-1 end if P-P~=0 or X-X~=0 or an-an~=0 or P>=(2^53)or an>=(2^53)then
j().h('INEXACT_REPLY') end return ae,P,X,an,0 end local function eY(a,ab) local ae,P,X,an,eG=aW(a)
local fB=a.o and 1 or 0 return i( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and j().z(a)or 1)or 0,a.count,a.ttl,a.e,ae,P,X,an, eG,a.now_ms,fB,ab ) end
local function fv(a,ab) local ag=a.form if ag=='LINE'then return eY(a,ab) elseif ag then return j().K(a,ab) end
return{a.allowed and(a.PARTIAL and j().z(a)or 1)or 0,a.count,a.ttl} end local function ey(a) if a.a~='charge'then
return 0 elseif a.ALWAYS then return a.g elseif not a.allowed or(a.o and not a.PARTIAL)then return 0 end return a.g end
local function aN(d) if d-d~=0 then return j().Q(d) end return i('%.0f',d) end local function eK(e)
local I,r=aN(e.i),aN(e.d) return i('O:%s:%s:%s:%s:%d',aN(e.j),I,r,aN(e.b),e.k) end local function cT(a,v,y)
if v=='delete'then U('UNLINK',a.p) elseif v~='keep'then U('SET',a.p,eK(y),'PXAT',aN(cW(a,y))) end end
local function fA(as,u) local a=fk(u,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
fq(a,as,a.RESERVE) fa(a,'write') eE(a) local ev=fv(a,ey(a)) if a.SHADOW or a.RESERVE then j().B(a,true) else
cT(a,a.a,a.c) end return ev end function j() if not bx then local q={}
q.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
q.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
q.ID='ERR invalid ID: expected 1 to 512 bytes'
q.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
q.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
q.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
q.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
q.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
q.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
q.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
q.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
q.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
q.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
q.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
q.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' q.ARITY='ERR wrong number of arguments'
q.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
q.MAX_BELOW_BLOCK='ERR invalid MAX: expected at least BLOCK, which is the window if not given'
q.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
q.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
q.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function G(h)
error({err=h},0) end local function V(ax) G(q[ax]) end local function eM(h,t,fj)
local gv={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local cN=gv[ac(h,'^(%u):')] if not cN or cN==t then
V(fj) end G('ERR the key holds a state of '..cN..': use another key for each algorithm') end local function eL(ad)
if type(ad)=='table'then return ad elseif x(ad,'^%u+ ')then return redis.error_reply(ad) end error(ad,0) end local by={
__sub=function() return 1 end, } local cP=setmetatable({(2^24)-1,(2^24)-1,2^16-1},by) local function dd(b,c)
local cR,ew=b-b==0,c-c==0 if cR or ew then return cR elseif#b~=#c then return#b<#c end for d=#b,1,-1 do
if b[d]~=c[d]then return b[d]<c[d] end end return false end local function ar(d) if d-d~=0 then return d end
local k,E={},0 while d>0 do local F=d%(2^24) E=E+1 k[E]=F d=(d-F)/(2^24) end return k end local function aX(k)
local E=#k while E>0 and k[E]==0 do k[E]=nil E=E-1 end if E>3 or(E==3 and k[3]>=(2^53)/(2^24)/(2^24))then
return setmetatable(k,by) end return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function eu(b,c)
b,c=ar(b),ar(c) local aD,aa={},0 for d=1,math.max(#b,#c)+1 do local F=(b[d]or 0)+(c[d]or 0)+aa aa=F>=(2^24)and 1 or 0
aD[d]=F-aa*(2^24) end return aX(aD) end local function fd(b,c) b,c=ar(b),ar(c) local aK={} for d=1,#b+#c do aK[d]=0 end
for d=1,#b do local aa=0 for bO=1,#c do local F=aK[d+bO-1]+b[d]*c[bO]+aa aa=math.floor(F/(2^24)) aK[d+bO-1]=F-aa*(2^24)
end aK[d+#c]=aa end return aX(aK) end local function cS(d) if d-d==0 then return d end local aD=0 for eS=#d,1,-1 do
aD=aD*(2^24)+d[eS] end return aD end local function fF(b,c) if not dd(c,b)then return 0 end c=ar(c) local cU,bA={},0
for d=1,#b do local F=b[d]-(c[d]or 0)-bA bA=F<0 and 1 or 0 cU[d]=F+bA*(2^24) end return aX(cU) end
local function fE(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end return fF(b,c) end local function eI(b,c)
local aB=0 while not at(b,c)do local bt=math.max(1,math.floor(cS(b)/cS(c)*(1-2^-45))) bt=aX(ar(bt)) aB=aT(aB,bt)
b=fE(b,aw(bt,c)) end return aB,b end local function fH(d) local cC='' while d-d~=0 do local s d,s=aU(d,10000000)
cC=i('%07.0f',s)..cC end return i('%.0f',d)..cC end local function bB(b,c) for f=1,math.min(#b,#c)do
local ep,eq=b:byte(f),c:byte(f) if ep~=eq then return ep<eq end end return#b<#c end local function bK(k)
if#k<=15 or(#k==16 and bB(k,'9007199254740992'))then return k+0 end local bL=#k%7 local d=bL>0 and k:sub(1,bL)+0 or 0
for f=bL+1,#k,7 do d=aT(aw(d,10000000),k:sub(f,f+6)+0) end return d end local function fl(k)
if#k>1 and k:byte()==48 then return nil elseif#k<20 or(#k==20 and not bB('18446744073709551615',k))then return bK(k) end
end local et=setmetatable({(2^24)-1,(2^24)-1,2^15-1},by) local function eT(d) return at(et,d) end
local function bG(h,bT) if h~='0'and not x(h,'^[1-9]%d*$')then return nil end
return(#h<#bT or(#h==#bT and not bB(bT,h)))and h or nil end local function dh(ax,h,dc)
local k=h and bG(h,'9223372036854775807') local d=k and bK(k) if not d or d==0 and dc>0 then
G(i('ERR invalid %s: expected an integer from %d to 9223372036854775807',ax,dc)) elseif d-d~=0 then
G(i('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ax)) end return d end local cQ={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ah(eZ,t)
return not x(t,' ',1,true)and x(eZ,' '..t..' ',1,true)~=nil end local function ds(a,l)
return not ah(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or ah((' COST BLOCK MAX '),l) end
local function eU(t,l) local H,r=0,0 local dq,fb=math.min(#t,#l),math.max(#t,#l)
while H<dq and t:byte(H+1)==l:byte(H+1)do H=H+1 end while r<dq-H and t:byte(-1-r)==l:byte(-1-r)do r=r+1 end
return H+r>=2 and fb-H-r<=2 end local function eN(a,B,t) local ai={} for T,C in ipairs(cQ)do
if ah(B,C[1])and ds(a,C[1])then ai[#ai+1]=C[2] end end for T,ag in ipairs({'FULL','LINE','HEADERS'})do ai[#ai+1]=ag end
for T,l in ipairs(ai)do if eU(t:upper(),ac(l,'^%u+'))then G('ERR syntax error: no such option, but there is '..l) end
end local r=table.remove(ai) local fK=table.concat(ai,', ')
G('ERR syntax error: after limit come '..fK..' or '..r..', each at most once') end local function fx(C,a,B)
local l,gw=C[1],a.W if not ah(B,l)then G(i('ERR invalid %s: only %s it',l,C[3])) elseif not ds(a,l)then
G(i('ERR invalid %s: %s takes none',l,('LOCKOUT'))) elseif a[l]~=nil then
G(i('ERR syntax error: %s comes at most once',C[2])) end end local function di(h) local L,Q=ac(h,'^(%d+)(%l*)$')
local aM=L and dn(Q) local W=aM and bG(L,'18446744073709551615')and L*aM return W and W>=1 and W<=1e15 and W or nil end
local function fo(l,h,gy) if l=='BLOCK'or l=='MAX'then
local fI='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return h and di(h)or G('ERR invalid '..l..': '..fI) end if l=='AS'then
return h and#h>=1 and#h<=64 and not x(h,'[^%w._-]')and h or V('AS') elseif l=='AT'then
local k=h and bG(h,'9223372036854775807') return k and bS(bK(k),(aU(cP,1000)))or V('AT') end
return dh(l,h,l=='BURST'and 1 or 0) end local function fw(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
V(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
V(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local er={FULL=true,LINE=true,HEADERS=true}
local function fg(ag,dg) if ag then V(ag==dg and'FORM_TWICE'or'TWO_FORMS') end return dg end local function fm(a,u,f,B)
while u[f]do local t,C=u[f]:upper(),nil for T,aH in ipairs(cQ)do C=aH[1]==t and aH or C end if C then fx(C,a,B)
if C[2]==t then a[t]=true f=f+1 else a[t]=fo(t,u[f+1],u[f+2]) f=f+(t=='RESERVE'and 3 or 2) end fw(a)
elseif er[t]and ah(B,'form')then a.form=fg(a.form,t) f=f+1 else return f end end return f end
local es={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function gt(a,h) local w=di(h)
if not w then a.S=h:upper() w=es[a.S] if not w then V(ah((' COST BLOCK MAX '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ah((' COST BLOCK MAX '),'ANCHOR')then
G(i('ERR invalid window: %s takes no windows of the calendar',('LOCKOUT'))) end end return w end local function eQ(K)
return K:sub(-9)==':reserved'or K:sub(-14)==':reserved:ends' end local function fy(K) if eQ(K)then V('RESERVED_KEY') end
end local function eB(a) local fh=a.PARTIAL and a.g<a.f a.o=a.SHADOW and not a.s and(fh or not a.allowed)
if not a.allowed and(a.o or a.s)then a.allowed=true if not(nil)then local T,T,T,cA=aW(a) a.ttl=af(cA) end end end
local function fu(a) bJ(a,'keep',a.m) return a.remaining end local function fD(v,y,ex) if v=='keep'then return ex end
return v~='delete'and y or nil end local function ff(m) return m==0 and 1 or m end local function eC(a) local m=a.f
bF(a,0) local v,y=(nil)(a,nil,m) if m>0 then a.a,a.c=v,y end local e=fD(a.a,a.c,a.m) bJ(a,a.a,e)
a.allowed=a.e>0 and p(a,0)==0 a.y=a.e>0 and m or ff(m) if(nil)then a.count,a.ttl=(nil)(e,a.now_ms) elseif a.allowed then
a.ttl=af(bI(p(a,a.e))) else local p=p(a,a.y) a.ttl=p and math.max(1,af(bI(p)))or-1 end end local function eD(a)
local m=a.f if a.PARTIAL then m=math.min(m,fu(a)) end a.g=m if a.ALWAYS then eC(a) else bF(a,m) end end
local function cZ(T,v,y) if v=='rebase'then return'keep' end return v,y end local function ez(a,v,y) cT(a,v,y) end
local function eA(a,aG) if not aG and a.a=='charge'then a.a,a.c='keep',nil end if a.SHADOW and cZ then
a.a,a.c=cZ(a,a.a,a.c) end ez(a,a.a,a.c) end local function dj(a) return a.s and a.s.f or a.o and a.f or a.g end
local function cX(a) if not a.allowed then return 0 end return a.PARTIAL and dj(a)or 1 end local function eP(a,ab)
local ae,fz,X,cA,eH=aW(a) return{ 'allowed',cX(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.e, 'remaining',ae,
'retry_after_ms',fz, 'next_ms',X, 'reset_ms',cA, 'delay_ms',eH, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0,
'charged',ab, } end local function fe(aL) local dr={} for T,a in ipairs(aL)do local H,L=a.AS or('LOCKOUT'):lower(),2
a.l=H while dr[a.l]do a.l=i('%s-%d',H,L) L=L+1 end dr[a.l]=true end end local function aZ(d)
return i('%.0f',bS(d,999999999999999)) end local function fr(a) local w=(nil)and(nil)(a)or a.n local bH,s=1000,w%1000
while s>0 do bH,s=s,bH%s end local en=1000/bH local aS=aU(aw(w,en),1000)
return i('"%s";q=%s;w=%s',a.l,aZ(aw(a.limit,en)),aZ(aS)) end local function eW(bd,bV) if bd.allowed~=bV.allowed then
return not bd.allowed end local p,bW=bd.retry_after_ms,bV.retry_after_ms if p~=bW then return p<0 or(bW>=0 and p>bW) end
return bd.remaining<bV.remaining end local function eR(aL) local cB,dk=aL[1],{} fe(aL) for d,a in ipairs(aL)do
dk[d]=fr(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aW(a) if eW(a,cB)then cB=a end end local a=cB local aO={
'X-RateLimit-Limit', i('%.0f',a.e), 'X-RateLimit-Remaining', i('%.0f',a.remaining), } local function aY(ax,aq)
aO[#aO+1]=ax aO[#aO+1]=aq end if a.reset_ms>=0 then aY('X-RateLimit-Reset',i('%.0f',af(a.now_ms+a.reset_ms))) end
aY('RateLimit-Policy',table.concat(dk,', ')) local fc=a.next_ms>=0 and';t='..aZ(af(a.next_ms))or''
aY('RateLimit',i('"%s";r=%s%s',a.l,aZ(a.remaining),fc)) if not a.allowed and a.retry_after_ms>=0 then
aY('Retry-After',i('%.0f',af(a.retry_after_ms))) end return aO end local function fi(a,ab) if a.form=='FULL'then
return eP(a,ab) end return{cX(a),a.count,a.ttl,eR({a})} end
bx={MAX_UNSIGNED=cP,A=eu,B=eA,D=eB,E=eD,u=eI,error_reply=eL,h=V,F=eM,G=eN,w=eT,I=dd,x=fd,K=fi,M=dh,r=fl,N=fm,z=dj,P=fy,Q=fH,V=gt}
end return bx end if ad then return j().error_reply(ad) end local aV,aC=pcall(fA,KEYS,ARGV)
return aV and aC or j().error_reply(aC) end local function eO(cO,S)
local x,ac,i,U=string.find,string.match,string.format,redis.call if i('%d',2^40)~='1099511627776'then return end
local aJ local du=S[1] local bu=S[2] local bv=S[3] if not bu then return end local aP=S[4] local ca local z local M
if(bv=='LINE')and(not aP)then ca=4 z=1 M='LINE' else local bX local bY local bZ if bv then if aP then
if not(((((S[5]=='LINE')and(not S[6]))and((#aP)<16))and(bv=='COST'))and x(aP,'^[1-9]%d*$'))then return end bX=6 bY=aP+0
bZ='LINE' else if(((S[5]=='LINE')and(not S[6]))and(bv=='COST'))and x('','^[1-9]%d*$')then return end return end else
bX=3 bY=1 bZ=nil end ca=bX z=bY M=bZ end if not(((#bu)<16)and x(bu,'^[1-9]%d*$'))then return end local n=bu+0
local dv,aE=ac(du,'^([1-9]%d*)(%l*)$') if dv then if(#du)<16 then
local cE=(aE=='')and 1000 or((aE=='ms')and 1 or((aE=='s')and 1000 or((aE=='m')and 60000 or((aE=='h')and 3.6e6 or((aE=='d')and 8.64e7 or nil)))))
local o=cE and(dv*cE)or cE if(not o)or((o<1)or(1e15<o))then return end if not(o<9e12)then return end
local A=(o<8.64e7)and 8.64e7 or o if A<o then return end local fL=S[ca] if fL then return end local dw=U('TIME')
local dx=(dw[1]*1e6)+dw[2] local g=(dx-(dx%1000))/1000 local aQ=cO[1] if not aQ then return end
if x(aQ,':reserved',1,true)then return end if not((#cO)==1)then return end local cF=U('GET',aQ) if cF then
local cG,dy,dz,dA,cH=ac(cF,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not cG then return else if x(cF,':0%d')then return
else local R=((#dA)<17)and(dA+0) if not((#cG)<16)then return end if not((#dy)<16)then return end if not((#dz)<16)then
return end if R then if not(R<9e15)then return end local aF=cG+0 local aR=dy+0 local ao=dz+0
if(2<(#cH))or(64<(cH+0))then return else local cb if ao<aR then cb=true else cb=1e15<R end if cb then return else
local dB=cH+0 if not(ao<=g)then return end local aj local ak local cI=(0<R)and(ao+R)or(aR+o) if(g<cI)and(0<aF)then aj=aF
ak=aR else aj=0 ak=g end local ap=aj+z local cJ=g<(ao+R) if(not cJ)and(ap<=n)then local dC=(g-ao)-R
local dD=(0<dC)and dC or 0 local cc if R==0 then cc=dB else local bP=0 local ba=o while ba<A do local fM=bP+1
local fN=2*ba bP,ba=fM,fN end local dE=bP local gz=ba local dF=dB+1 cc=(dF<dE)and dF or dE end
local dG=cc-((dD-(dD%A))/A) local bw=(0<dG)and dG or 0 local N if ap==n then local dH=o*(2^bw) N=(dH<A)and dH or A else
N=0 end local cd local ce local dI=(0<N)and(g+N)or(ak+o) if(g<dI)and(0<ap)then cd=ap ce=ak else cd=0 ce=g end
local dJ=g<(g+N) local be local cf if dJ then local fO=g+N be=0 cf=fO else local dK=n-cd local fP=ce+o
be=(0<dK)and dK or 0 cf=fP end local az if(n<=be)and(0<be)then az=0 else local fQ=cf-g az=fQ end local dL=az%1000
local dM=(az<0)and(-1)or((dL==0)and(az/1000)or(((az-dL)/1000)+1)) local cn if M=='LINE'then local cj local ck
if(g<dI)and(0<ap)then cj=ap ck=ak else cj=0 ck=g end local al local bh if dJ then local fU=g+N al=0 bh=fU else
local dQ=n-cj local fV=ck+o al=(0<dQ)and dQ or 0 bh=fV end local cm local bj if al<n then local cK=al+1 local bi
if n<cK then bi=nil else if(cK<=al)and(0<al)then bi=0 else local fW=bh-g bi=fW end end local dR=bi or(-1) local cl
if cK==n then cl=dR else local fX=bh-g cl=fX end cm=dR bj=cl else cm=0 bj=0 end if 2^53<=bj then return end
local fY=i('1 %d %d %d %d 0 %d %d 0 %d 0 %d',aj,dM,n,al,cm,bj,g,z) cn=fY else if M then return end cn={1,aj,dM} end
local fZ=i('%d',ak) local ga=i('%d',N) local bk if N==0 then bk=bw else local bQ=0 local bb=o while bb<A do
local gb=bQ+1 local gc=2*bb bQ,bb=gb,gc end local dS=bQ local gA=bb local dT=bw+1 bk=(dT<dS)and dT or dS end
if not((bk*A)<2^53)then return end local dU=bk*A local dV=g+N if not((dV+dU)<2^53)then return end local dW=dV+dU
local dX=ak+o
local gB=U('SET',aQ,i('O:%s:%s:%s:%s:%d',i('%d',ap),fZ,i('%d',g),ga,bw),'PXAT',i('%d',((dW<dX)and dX or dW))) aJ=cn else
local cg local ch if(g<cI)and(0<aF)then cg=aF ch=aR else cg=0 ch=g end local bf local ci if cJ then bf=0 ci=ao+R else
local dN=n-cg local fR=ch+o bf=(0<dN)and dN or 0 ci=fR end local Y if n<z then Y=nil else if(z<=bf)and(0<bf)then Y=0
else local fS=ci-g Y=fS end end local bg if Y then if 2^53<=Y then return end local dO=Y%1000
local fT=(Y<0)and(-1)or((dO==0)and(Y/1000)or(((Y-dO)/1000)+1)) bg=fT else bg=-1 end local dP=(bg==0)and 1 or bg local cs
if M=='LINE'then local co local cp if(g<cI)and(0<aF)then co=aF cp=aR else co=0 cp=g end local Z local aI if cJ then Z=0
aI=ao+R else local dY=n-co local gd=cp+o Z=(0<dY)and dY or 0 aI=gd end local bl if n<z then bl=nil else
if(z<=Z)and(0<Z)then bl=0 else local ge=aI-g bl=ge end end local dZ=bl or(-1) local cr local bn if Z<n then local cL=Z+1
local bm if n<cL then bm=nil else if(cL<=Z)and(0<Z)then bm=0 else local gf=aI-g bm=gf end end local ea=bm or(-1)
local cq if cL==n then cq=ea else local gg=aI-g cq=gg end cr=ea bn=cq else cr=0 bn=0 end if(2^53<=dZ)or(2^53<=bn)then
return end local gh=i('0 %d %d %d %d %d %d %d 0 %d 0 0',aj,dP,n,Z,dZ,cr,bn,g) cs=gh else if M then return end
cs={0,aj,dP} end aJ=cs end end end else return end end end else local gi=z<=n if gi then local O if z==n then
O=(o<A)and o or A else O=0 end local ct local eb=(0<O)and(g+O)or(g+o) if g<eb then ct=z else ct=0 end local ec=g<(g+O)
local bo local cu if ec then local gj=g+O bo=0 cu=gj else local ed=n-ct bo=(0<ed)and ed or 0 cu=g+o end local aA
if(n<=bo)and(0<bo)then aA=0 else local gk=cu-g aA=gk end local ee=aA%1000
local ef=(aA<0)and(-1)or((ee==0)and(aA/1000)or(((aA-ee)/1000)+1)) local cy if M=='LINE'then local cv if g<eb then cv=z
else cv=0 end local am local bp if ec then local gl=g+O am=0 bp=gl else local eg=n-cv am=(0<eg)and eg or 0 bp=g+o end
local cx local br if am<n then local cM=am+1 local bq if n<cM then bq=nil else if(cM<=am)and(0<am)then bq=0 else
local gm=bp-g bq=gm end end local eh=bq or(-1) local cw if cM==n then cw=eh else local gn=bp-g cw=gn end cx=eh br=cw
else cx=0 br=0 end if 2^53<=br then return end local go=i('1 0 %d %d %d 0 %d %d 0 %d 0 %d',ef,n,am,cx,br,g,z) cy=go else
if M then return end cy={1,0,ef} end local gp=i('%d',z) local gq=i('%d',O) local bs if O==0 then bs=0 else local bR=0
local bc=o while bc<A do local gr=bR+1 local gs=2*bc bR,bc=gr,gs end local ei=bR local gC=bc bs=(1<ei)and 1 or ei end
if not((bs*A)<2^53)then return end local ej=bs*A local ek=g+O if not((ek+ej)<2^53)then return end local el=ek+ej
local em=g+o local gD=U('SET',aQ,i('O:%s:%s:%s:%s:0',gp,i('%d',g),i('%d',g),gq),'PXAT',i('%d',((el<em)and em or el)))
aJ=cy else local cz if M=='LINE'then cz=i('0 0 -1 %d %d -1 0 0 0 %d 0 0',n,n,g) else if M then return end cz={0,0,(-1)}
end aJ=cz end end else return end else return end return aJ end local aV,aC=pcall(eO,KEYS,ARGV) if aV and aC then
return aC end return fC(not aV and aC)
