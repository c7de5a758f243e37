-- RL.SLIDING: KEYS and ARGV of the script that it replaces, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function dB(Y) local aO,h local C,i,aq,dN=string.find,string.format,string.match,string.sub local function bX(Q)
return Q==''and 1000 or Q=='ms'and 1 or Q=='s'and 1000 or Q=='m'and 60000 or Q=='h'and 3600000 or Q=='d'and 86400000
or nil end local function dj(u,e,B) local az,ao,j=u[e],u[e+1],u[e+2] if not ao then h().p('ARITY') end local a={ c='',
M=0, now_ms=0, f=0, Y=0, limit=0, d=0, b=1, form=nil, delay=0, w=nil, e=nil, allowed=false, count=0, ttl=0, a='keep',
remaining=0, g=1, } e=e+2 if j=='LINE'and not u[e+1]and B~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local ag=u[e+1]or''
local bK=B==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and u[e+2]=='LINE'and not u[e+3]and#ag<16
if bK and j=='COST'and(' COST PARTIAL ')~=' ID 'and C(ag,'^[1-9]%d*$')then a.form,a.b,e='LINE',ag+0,e+3
elseif bK and j=='ID'and(' COST PARTIAL ')==' ID 'and ag~=''then a.form,a.ID,e='LINE',ag,e+3 else e=h().P(a,u,e,B)
a.b=a.COST or 1 end end local cQ=#ao<16 and C(ao,'^[1-9]%d*$') a.limit=cQ and ao+0 or h().O('limit',ao,0)
local N,Q=aq(az,'^([1-9]%d*)(%l*)$') local av=N and#az<16 and bX(Q) local t=av and N*av if not t or t<1 or t>1e15 then
t=h().Z(a,az) end a.f,a.Y,a.d=t,t<9e12 and t*1000 or h().L(t,1000),a.BURST or a.limit return a,e end
local function dh(u,B) local a,e=dj(u,2,B) if u[e]then h().H(a,B,u[e]) end if true and a.b>1000 then
h().S(h().K(a),'LOG_COST') end return a end local m=redis.call local function dp(a) local cd=m('TIME')
local bg=cd[1]*1000000+cd[2] a.M,a.now_ms=bg,(bg-bg%1000)/1000 end local function dF(a,J,e,aA,aZ) local f=J[e]
if not f then h().p('KEYS') end a.c,e=f,e+1 if aZ then a.i=f elseif C(f,':reserved',1,true)then h().T(f) end return e
end local function dm(a,J,aA,aZ) dp(a) if#J==1 then J=h().E(a,J,aA) end if#J~=dF(a,J,1,aA,aZ)-1 then h().p('KEYS') end
end local aV,dM,dP,aH=4000,1000,1000,2*500 local function cV(a,ap,cc,at) local f=a.c local q,X=m('ZCARD',f),0
if q>0 and cc>=0 and at~='delete'then local o=i('%.0f',cc) local M=at=='read'and 0 or aV if q<=M then
local Z=m('ZREMRANGEBYSCORE',f,ap,o) q,aV=q-Z,M-Z else q,X=h().R(f,ap,o,q,M) end end a.h,a.o,a.n=q-X,X,q>0 end
local function cU(a,at) cV(a,'0',a.now_ms-a.f,at) a.u,a.j,a.q=nil,nil,nil a.r=500 if at=='write'then aH=(aH-aH%2)/2
a.r=aH end end local function af(F) local D=F%1000 return F<0 and-1 or D==0 and F/1000 or(F-D)/1000+1 end
local function bz(c,d) if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return h().z(c,d) end
local function bq(f,x) x=i('%.0f',x) local y=m('ZRANGE',f,x,x,'WITHSCORES')[2] return y and tonumber(y) end
local function bS(a) a.j=a.j or a.n and bq(a.c,-1)or 0 return a.j end local function aR(a,g) local bN=a.h
local am=bN+(g==0 and 1 or g)<=a.limit a.allowed,a.count,a.ttl,a.a=am,bN,af(a.f),'keep' if am and g>0 then
a.a,a.e='charge',{l=g} elseif not am and bS(a)>a.now_ms then a.a,a.e='rebase',{V=true} end end local function cB(a)
if a.PARTIAL or a.ALWAYS then h().D(a) else local g=a.b a.g=g aR(a,g) end if a.SHADOW then h().C(a) end end
local function bT(a) a.u=a.u or a.n and bq(a.c,0)or 0 return a.u end local function be(a,x)
local y=x==0 and bT(a)or x>=0 and x<a.h+a.o and bq(a.c,x) return y and math.max(0,math.ceil(y)) end
local function bb(a,b) if b>=a.h+a.m-a.t then return nil end local x=b+a.t+a.o if bS(a)>a.now_ms then
return h().J(a,x)+a.f end return(x<a.h+a.o and be(a,x)or a.now_ms)+a.f end local function dJ(a,g,H,bb,aX)
local bp=a.limit-g if bp<0 then return nil elseif H<=bp then return 0 end local U=bb(a,H-bp-1)
if aX and(not U or aX<U)then U=aX end return U and(U>=(2^53)and(1/0)or math.max(0,U-a.now_ms)) end
local function aJ(a,bJ) local G,t=a.now_ms,a.f if bJ and 2*(bJ-G)>=3*t then return nil end return G+2*t end
local function cI(f,G) if not redis.REDIS_VERSION_NUM then return h().G(f,G) end local e=m('PEXPIRETIME',f)
return e>=0 and e or nil end local function an(a) a.q=a.q or a.n and cI(a.c,a.now_ms)or 0 return a.q end
local function z(a,g) return dJ(a,g,a.h+a.m,bb,(aJ(a,an(a))or an(a))+1) end local function aW(a,r,w)
a.s,a.m,a.Q=nil,r=='charge'and w.l or 0,r=='rebase' local K=a.limit-a.h-a.m a.remaining,a.t=K>0 and K or 0,0
if bT(a)<0 then a.t=m('ZCOUNT',a.c,'-inf','(0') end end local function aD(a) local r,z=a.a,z
aW(a,r,r=='keep'and a.w or r~='delete'and a.e or nil) local K,aQ,O,V,ae=a.remaining,a.d,0,0,0 if not a.allowed then
local g=a.g O=z(a,a.x or(g==0 and 1 or g))or-1 if a.I and O>=0 then O=math.max(O,a.I) end end if K<aQ then
V=z(a,K+1)or-1 ae=K+1==aQ and V or z(a,aQ)or-1 end if O-O~=0 or V-V~=0 or ae-ae~=0 or O>=(2^53)or ae>=(2^53)then
h().p('INEXACT_REPLY') end return K,O,V,ae,0 end local function cS(a,H) local K,O,V,ae,cC=aD(a) local dA=a.k and 1 or 0
return i( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl,a.d,K,O,V,ae, cC,a.now_ms,dA,H ) end local function ds(a,H)
local ab=a.form if ab=='LINE'then return cS(a,H) elseif ab then return h().N(a,H) end
return{a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl} end local function cu(a) if a.a~='charge'then
return 0 elseif a.ALWAYS then return a.g elseif not a.allowed or(a.k and not a.PARTIAL)then return 0 end return a.g end
local function aw(b) if b-b~=0 then return h().U(b) end return i('%.0f',b) end local function co(a,F,s)
local f,y=a.c,i('%.0f',F) local b=a.j and a.j<F and 0 or m('ZCOUNT',f,y,y) while s>1 do local A={}
for S=1,math.min(s,1000)do A[#A+1]=y A[#A+1]=i('%s-0.%.0f',y,b) b=b+1 end s=s-m('ZADD',f,'NX',unpack(A)) end
while s>0 do s=s-m('ZADD',f,'NX',y,y..'-0.'..aw(b)) b=b+1 end end local function aL(f,aa) if aa then
m('PEXPIREAT',f,aw(aa)) end end local function bD(a,r,w) local f=a.c if r=='charge'then local aC=aJ(a,an(a))
co(a,w.F or a.now_ms,w.l) aL(f,aC) elseif r~='keep'then h().A(a,r,w) elseif a.n then aL(f,aJ(a,an(a))) end end
local function dz(J,u) local a=dh(u,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
dm(a,J,a.RESERVE) cU(a,'write') cB(a) local cp=ds(a,cu(a)) if a.SHADOW or a.RESERVE then h().B(a,true) else
bD(a,a.a,a.e) end return cp end function h() if not aO then local p={}
p.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
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
p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function cX(a,x)
local G,bA=a.now_ms,a.m local e=be(a,x) if e and bA>0 and e>G then e=nil end if not e then local ba=be(a,x-bA)
e=ba and ba>G and ba or G end if a.Q then a.s=a.s or m('ZCOUNT',a.c,'-inf',aw(G))+a.r e=x<a.s and math.min(e,G)or e end
return e end local function ct(cq,bf) local P=0 for n=1,#bf,1000 do local A={unpack(cq)} for b=n,math.min(n+999,#bf)do
A[#A+1]=bf[b] end P=P+m(unpack(A)) end return P end local function dx(f,y,q) local ar={} for S,cY in ipairs(q)do
ar[#ar+1]=y ar[#ar+1]=cY end ct({'ZADD',f,'XX'},ar) end local function cw(a,r,w) local f=a.c if r=='delete'then
m('UNLINK',f) return end local aC=aJ(a,an(a)) if w.V then local y=i('%.0f',a.now_ms)
dx(f,y,m('ZRANGEBYSCORE',f,'('..y,'+inf','LIMIT','0',aw(a.r))) aL(f,aC) return end local q=a.h+a.o
local n,o=q-w.remove,q-1 if w.X then o=m('ZCOUNT',f,'-inf',aw(w.X))-1 n=math.max(0,o+1-w.remove) end
if o<0 or n>0 or o+1<q then aL(f,aC) end if o>=0 then m('ZREMRANGEBYRANK',f,i('%.0f',n),i('%.0f',o)) end end
local function T(k) error({err=k},0) end local function L(ai) T(p[ai]) end local function cG(Y) if type(Y)=='table'then
return Y elseif C(Y,'^%u+ ')then return redis.error_reply(Y) end error(Y,0) end local function ah(b) if b-b~=0 then
return b end local l,s={},0 while b>0 do local I=b%(2^24) s=s+1 l[s]=I b=(b-I)/(2^24) end return l end local bw={
__sub=function() return 1 end, } local function aE(l) local s=#l while s>0 and l[s]==0 do l[s]=nil s=s-1 end
if s>3 or(s==3 and l[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(l,bw) end
return(l[1]or 0)+(l[2]or 0)*(2^24)+(l[3]or 0)*(2^24)*(2^24) end local function cn(c,d) c,d=ah(c),ah(d) local P,W={},0
for b=1,math.max(#c,#d)+1 do local I=(c[b]or 0)+(d[b]or 0)+W W=I>=(2^24)and 1 or 0 P[b]=I-W*(2^24) end return aE(P) end
local function bQ(c,d) c,d=ah(c),ah(d) local as={} for b=1,#c+#d do as[b]=0 end for b=1,#c do local W=0 for bd=1,#d do
local I=as[b+bd-1]+c[b]*d[bd]+W W=math.floor(I/(2^24)) as[b+bd-1]=I-W*(2^24) end as[b+#d]=W end return aE(as) end
local function bO(c,d) local by,cr=c-c==0,d-d==0 if by or cr then return by elseif#c~=#d then return#c<#d end
for b=#c,1,-1 do if c[b]~=d[b]then return c[b]<d[b] end end return false end local function bc(c,d)
if c-c==0 and d-d==0 then return c<d end return bO(c,d) end local function bB(b) if b-b==0 then return b end local P=0
for cO=#b,1,-1 do P=P*(2^24)+b[cO] end return P end local function dE(c,d) if not bO(d,c)then return 0 end d=ah(d)
local bE,aP={},0 for b=1,#c do local I=c[b]-(d[b]or 0)-aP aP=I<0 and 1 or 0 bE[b]=I+aP*(2^24) end return aE(bE) end
local function dD(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end return dE(c,d) end local function aI(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bQ(c,d) end local function cF(c,d) local bn=0
while not bc(c,d)do local A=math.max(1,math.floor(bB(c)/bB(d)*(1-2^-45))) A=aE(ah(A)) bn=bz(bn,A) c=dD(c,aI(A,d)) end
return bn,c end local function aT(c,d) if c-c==0 and d-d==0 then local D=c%d return(c-D)/d,D end return cF(c,d) end
local function dG(b) local bs='' while b-b~=0 do local D b,D=aT(b,10000000) bs=i('%07.0f',D)..bs end
return i('%.0f',b)..bs end local function cH(f,G) local U=m('PTTL',f) return U>=0 and G+U or nil end
local function dr(f,ap,o,q,M) local X=m('ZCOUNT',f,ap,o) local Z=math.min(X,M) if Z>0 then
local n=ap=='0'and m('ZCOUNT',f,'-inf','(0')or 0 m('ZREMRANGEBYRANK',f,i('%.0f',n),i('%.0f',n+Z-1)) q,X,aV=q-Z,X-Z,M-Z
end return q,X end local function bC(c,d) for e=1,math.min(#c,#d)do local ci,cj=c:byte(e),d:byte(e) if ci~=cj then
return ci<cj end end return#c<#d end local function aS(k,M) if k~='0'and not C(k,'^[1-9]%d*$')then return nil end
return(#k<#M or(#k==#M and not bC(M,k)))and k or nil end local function bH(l)
if#l<=15 or(#l==16 and bC(l,'9007199254740992'))then return l+0 end local aY=#l%7 local b=aY>0 and l:sub(1,aY)+0 or 0
for e=aY+1,#l,7 do b=bz(aI(b,10000000),l:sub(e,e+6)+0) end return b end local function bU(ai,k,bM)
local l=k and aS(k,'9223372036854775807') local b=l and bH(l) if not b or b==0 and bM>0 then
T(i('ERR invalid %s: expected an integer from %d to 9223372036854775807',ai,bM)) elseif b-b~=0 then
T(i('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ai)) end return b end local bx={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ac(cT,v)
return not C(v,' ',1,true)and C(cT,' '..v..' ',1,true)~=nil end local function cb(a,j)
return not ac(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or ac((' COST PARTIAL '),j) end
local function cP(v,j) local n,o=0,0 local bY,cW=math.min(#v,#j),math.max(#v,#j)
while n<bY and v:byte(n+1)==j:byte(n+1)do n=n+1 end while o<bY-n and v:byte(-1-o)==j:byte(-1-o)do o=o+1 end
return n+o>=2 and cW-n-o<=2 end local function cJ(a,B,v) local ad={} for S,E in ipairs(bx)do
if ac(B,E[1])and cb(a,E[1])then ad[#ad+1]=E[2] end end for S,ab in ipairs({'FULL','LINE','HEADERS'})do ad[#ad+1]=ab end
for S,j in ipairs(ad)do if cP(v:upper(),aq(j,'^%u+'))then T('ERR syntax error: no such option, but there is '..j) end
end local o=table.remove(ad) local dH=table.concat(ad,', ')
T('ERR syntax error: after limit come '..dH..' or '..o..', each at most once') end local function dv(E,a,B)
local j,dL=E[1],a.aa if not ac(B,j)then T(i('ERR invalid %s: only %s it',j,E[3])) elseif not cb(a,j)then
T(i('ERR invalid %s: %s takes none',j,('SLIDING'))) elseif a[j]~=nil then
T(i('ERR syntax error: %s comes at most once',E[2])) end end local function bP(c,d) return bc(d,c)and d or c end
local cm=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bw) local function dk(j,k,dO) if j=='AS'then
return k and#k>=1 and#k<=64 and not C(k,'[^%w._-]')and k or L('AS') elseif j=='AT'then
local l=k and aS(k,'9223372036854775807') return l and bP(bH(l),(aT(cm,1000)))or L('AT') end
return bU(j,k,j=='BURST'and 1 or 0) end local function dt(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
L(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
L(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local ck={FULL=true,LINE=true,HEADERS=true}
local function dd(ab,bR) if ab then L(ab==bR and'FORM_TWICE'or'TWO_FORMS') end return bR end local function di(a,u,e,B)
while u[e]do local v,E=u[e]:upper(),nil for S,bL in ipairs(bx)do E=bL[1]==v and bL or E end if E then dv(E,a,B)
if E[2]==v then a[v]=true e=e+1 else a[v]=dk(v,u[e+1],u[e+2]) e=e+(v=='RESERVE'and 3 or 2) end dt(a)
elseif ck[v]and ac(B,'form')then a.form=dd(a.form,v) e=e+1 else return e end end return e end local function dl(k)
local N,Q=aq(k,'^(%d+)(%l*)$') local av=N and bX(Q) local F=av and aS(N,'18446744073709551615')and N*av
return F and F>=1 and F<=1e15 and F or nil end
local cl={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dK(a,k) local t=dl(k)
if not t then a.W=k:upper() t=cl[a.W] if not t then L(ac((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ac((' COST PARTIAL '),'ANCHOR')then
T(i('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return t end local function da(a)
if not true then return 0 elseif a.d<a.b then return a.PARTIAL and a.d or 0 end return a.b end local function du(q,k)
if q>1000 then L(k) end end local function cM(f) return f:sub(-9)==':reserved'or f:sub(-14)==':reserved:ends' end
local function dw(f) if cM(f)then L('RESERVED_KEY') end end local function cE(a,J,aA) local f=J[1] local al={f}
if aA then local bI=f..((nil)and(nil)(a)or'')..':reserved' al[#al+1],al[#al+2]=bI,bI..':ends' end return al end
local function cy(a) local de=a.PARTIAL and a.g<a.b a.k=a.SHADOW and not a.v and(de or not a.allowed)
if not a.allowed and(a.k or a.v)then a.allowed=true if not true then local S,S,S,bo=aD(a) a.ttl=af(bo) end end end
local function dq(a) aW(a,'keep',a.w) return a.remaining end local function dg(a,aa,g) if g==0 then return'keep'
elseif not aa or not bc(aa,a.now_ms)then return'charge',{l=g} elseif aa<=a.now_ms-a.f then return'keep' end
return'charge',{l=g,F=aa} end local function dC(r,w,cs) if r=='keep'then return cs end return r~='delete'and w or nil
end local function dc(g) return g==0 and 1 or g end local function bF(b) if b-b~=0 or b>=(2^53)then L('INEXACT_REPLY')
end return b end local function cz(a) local g=a.b aR(a,0) local r,w=dg(a,nil,g) if g>0 then a.a,a.e=r,w end
local bZ=dC(a.a,a.e,a.w) aW(a,a.a,bZ) a.allowed=a.d>0 and z(a,0)==0 a.x=a.d>0 and g or dc(g) if(nil)then
a.count,a.ttl=(nil)(bZ,a.now_ms) elseif a.allowed then a.ttl=af(bF(z(a,a.d))) else local z=z(a,a.x)
a.ttl=z and math.max(1,af(bF(z)))or-1 end end local function cA(a) local g=a.b if a.PARTIAL then g=math.min(g,dq(a)) end
a.g=g if a.ALWAYS then cz(a) else aR(a,g) end end local function cv(a,r,w) bD(a,r,w) end local function cx(a,am)
if not am and a.a=='charge'then a.a,a.e='keep',nil end cv(a,a.a,a.e) end local function bV(a)
return a.v and a.v.b or a.k and a.b or a.g end local function bG(a) if not a.allowed then return 0 end
return a.PARTIAL and bV(a)or 1 end local function cL(a,H) local K,dy,V,bo,cD=aD(a) return{ 'allowed',bG(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.d, 'remaining',K, 'retry_after_ms',dy, 'next_ms',V, 'reset_ms',bo,
'delay_ms',cD, 'now_ms',a.now_ms, 'shadow',a.k and 1 or 0, 'charged',H, } end local function db(au) local ca={}
for S,a in ipairs(au)do local n,N=a.AS or('SLIDING'):lower(),2 a.i=n while ca[a.i]do a.i=i('%s-%d',n,N) N=N+1 end
ca[a.i]=true end end local function aG(b) return i('%.0f',bP(b,999999999999999)) end local function dn(a)
local t=(nil)and(nil)(a)or a.f local aU,D=1000,t%1000 while D>0 do aU,D=D,aU%D end local ch=1000/aU
local az=aT(aI(t,ch),1000) return i('"%s";q=%s;w=%s',a.i,aG(aI(a.limit,ch)),aG(az)) end local function cR(aK,bh)
if aK.allowed~=bh.allowed then return not aK.allowed end local z,bi=aK.retry_after_ms,bh.retry_after_ms if z~=bi then
return z<0 or(bi>=0 and z>bi) end return aK.remaining<bh.remaining end local function cN(au) local br,bW=au[1],{} db(au)
for b,a in ipairs(au)do bW[b]=dn(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aD(a) if cR(a,br)then br=a end end
local a=br local ax={ 'X-RateLimit-Limit', i('%.0f',a.d), 'X-RateLimit-Remaining', i('%.0f',a.remaining), }
local function aF(ai,ag) ax[#ax+1]=ai ax[#ax+1]=ag end if a.reset_ms>=0 then
aF('X-RateLimit-Reset',i('%.0f',af(a.now_ms+a.reset_ms))) end aF('RateLimit-Policy',table.concat(bW,', '))
local cZ=a.next_ms>=0 and';t='..aG(af(a.next_ms))or'' aF('RateLimit',i('"%s";r=%s%s',a.i,aG(a.remaining),cZ))
if not a.allowed and a.retry_after_ms>=0 then aF('Retry-After',i('%.0f',af(a.retry_after_ms))) end return ax end
local function df(a,H) if a.form=='FULL'then return cL(a,H) end return{bG(a),a.count,a.ttl,cN({a})} end
aO={z=cn,A=cw,B=cx,C=cy,D=cA,E=cE,error_reply=cG,G=cH,p=L,H=cJ,J=cX,K=da,L=bQ,N=df,O=bU,P=di,y=bV,R=dr,S=du,T=dw,U=dG,Z=dK}
end return aO end if Y then return h().error_reply(Y) end local aB,aj=pcall(dz,KEYS,ARGV)
return aB and aj or h().error_reply(aj) end local function cK(bv,R) local C,aq,m=string.find,string.match,redis.call
local ce=R[2] local bt=R[3] local aM=R[4] if not bt then return end local ay=R[5] local bl local bm
if(aM=='LINE')and(not ay)then bl=5 bm=1 else local bj local bk if aM then if ay then
if not(((((R[6]=='LINE')and(not R[7]))and((#ay)<16))and(aM=='COST'))and C(ay,'^[1-9]%d*$'))then return end bj=7 bk=ay+0
else if(((R[6]=='LINE')and(not R[7]))and(aM=='COST'))and C('','^[1-9]%d*$')then return end return end else bj=4 bk=1 end
bl=bj bm=bk end if not(((#bt)<16)and C(bt,'^[1-9]%d*$'))then return end local cf,ak=aq(ce,'^([1-9]%d*)(%l*)$')
if cf then if(#ce)<16 then
local bu=(ak=='')and 1000 or((ak=='ms')and 1 or((ak=='s')and 1000 or((ak=='m')and 60000 or((ak=='h')and 3.6e6 or((ak=='d')and 8.64e7 or nil)))))
local aN=bu and(cf*bu)or bu if(not aN)or((aN<1)or(1e15<aN))then return end if not(aN<9e12)then return end local dI=R[bl]
if dI then return end if 1000<bm then return end local dQ=m('TIME') if(#bv)==1 then return end local cg=bv[1]
if not cg then return end if C(cg,':reserved',1,true)then return end return else return end else return end end
local aB,aj=pcall(cK,KEYS,ARGV) if aB and aj then return aj end return dB(not aB and aj)
