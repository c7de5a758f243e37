-- RL.SLIDING: KEYS and ARGV of the script that it replaces, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function dt(X) local aJ,i local x,h,bL,dF=string.find,string.format,string.match,string.sub
local function db(t,e,B) local ak,an,j=t[e],t[e+1],t[e+2] if not an then i().p('ARITY') end local a={ e='', N=0,
now_ms=0, i=0, Z=0, limit=0, c=0, b=1, form=nil, delay=0, x=nil, f=nil, allowed=false, count=0, ttl=0, a='keep',
remaining=0, g=1, } e=e+2 if j=='LINE'and not t[e+1]and B~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local ag=t[e+1]or''
local bG=B==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[e+2]=='LINE'and not t[e+3]and#ag<16
if bG and j=='COST'and(' COST PARTIAL ')~=' ID 'and x(ag,'^[1-9]%d*$')then a.form,a.b,e='LINE',ag+0,e+3
elseif bG and j=='ID'and(' COST PARTIAL ')==' ID 'and ag~=''then a.form,a.ID,e='LINE',ag,e+3 else e=i().Q(a,t,e,B)
a.b=a.COST or 1 end end local aV=#an<16 and x(an,'^[1-9]%d*$') a.limit=aV and an+0 or i().P('limit',an,0)
aV=#ak<10 and x(ak,'^[1-9]%d*$') local z=aV and ak*1000 or i().aa(a,ak)
a.i,a.Z,a.c=z,z<9e12 and z*1000 or i().M(z,1000),a.BURST or a.limit return a,e end local function cZ(t,B)
local a,e=db(t,2,B) if t[e]then i().J(a,B,t[e]) end if true and a.b>1000 then i().T(i().L(a),'LOG_COST') end return a
end local m=redis.call local function dg(a) local bY=m('TIME') local bd=bY[1]*1000000+bY[2]
a.N,a.now_ms=bd,(bd-bd%1000)/1000 end local function dx(a,I,e,av,aW) local f=I[e] if not f then i().p('KEYS') end
a.e,e=f,e+1 if aW then a.k=f elseif x(f,':reserved',1,true)then i().U(f) end return e end local function de(a,I,av,aW)
dg(a) if#I==1 then I=i().G(a,I,av) end if#I~=dx(a,I,1,av,aW)-1 then i().p('KEYS') end end
local aR,dE,dH,aD=4000,1000,1000,2*500 local function cN(a,W,bX,aq) local f=a.e local q,V=m('ZCARD',f),0
if q>0 and bX>=0 and aq~='delete'then local o=h('%.0f',bX) local M=aq=='read'and 0 or aR if q<=M then
local Y=m('ZREMRANGEBYSCORE',f,W,o) q,aR=q-Y,M-Y else q,V=i().S(f,W,o,q,M) end end a.j,a.t,a.l=q-V,V,q>0 end
local function cM(a,aq) cN(a,'0',a.now_ms-a.i,aq) a.u=500 if aq=='write'then aD=(aD-aD%2)/2 a.u=aD end end
local function af(J) local C=J%1000 return J<0 and-1 or C==0 and J/1000 or(J-C)/1000+1 end local function bw(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return i().B(c,d) end local function aN(a,g) local f,aZ=a.e,a.j
local am=aZ+(g==0 and 1 or g)<=a.limit a.allowed,a.count,a.ttl,a.a=am,aZ,af(a.i),'keep' if am and g>0 then
a.a,a.f='charge',{o=g} elseif not am and aZ>0 and m('ZCOUNT',f,'('..h('%.0f',a.now_ms),'+inf')>0 then
a.a,a.f='rebase',{W=true} end end local function cv(a) if a.PARTIAL or a.ALWAYS then i().F(a) else local g=a.b a.g=g
aN(a,g) end if a.SHADOW then i().E(a) end end local function bS(f,F) F=h('%.0f',F)
local w=m('ZRANGE',f,F,F,'WITHSCORES')[2] return w and tonumber(w) end local function cU(a) local f=a.e
local W=a.l and bS(f,0) return W and W<0 and m('ZCOUNT',f,'-inf','(0')or 0 end local function bK(a,F)
local w=F>=0 and F<a.j+a.t and bS(a.e,F) return w and math.max(0,math.ceil(w)) end local function as(b) if b-b~=0 then
return i().V(b) end return h('%.0f',b) end local function aY(a,b) local E,aK=a.now_ms,a.r a.q=a.q or cU(a)
if b>=a.j+aK-a.q then return nil end local F=b+a.q+a.t local e=bK(a,F) if e and aK>0 and e>E then e=nil end
if not e then local aX=bK(a,F-aK) e=aX and aX>E and aX or E end if a.R then a.v=a.v or m('ZCOUNT',a.e,'-inf',as(E))+a.u
e=F<a.v and math.min(e,E)or e end return e+a.i end local function dB(a,g,G,aY,aT) local bm=a.limit-g if bm<0 then
return nil elseif G<=bm then return 0 end local S=aY(a,G-bm-1) if aT and(not S or aT<S)then S=aT end
return S and(S>=(2^53)and(1/0)or math.max(0,S-a.now_ms)) end local function aF(a,bF) local E,z=a.now_ms,a.i
if bF and 2*(bF-E)>=3*z then return nil end return E+2*z end local function y(a,g)
return dB(a,g,a.j+a.r,aY,(aF(a,a.y)or a.y)+1) end local function ay(f,E) if not redis.REDIS_VERSION_NUM then
return i().I(f,E) end local e=m('PEXPIRETIME',f) return e>=0 and e or nil end local function aS(a,r,v)
a.q,a.v,a.r,a.R=nil,nil,r=='charge'and v.o or 0,r=='rebase' local K=a.limit-a.j-a.r a.remaining=K>0 and K or 0
a.y=a.l and ay(a.e,a.now_ms)or nil end local function az(a) local r,y=a.a,y
aS(a,r,r=='keep'and a.x or r~='delete'and a.f or nil) local K,aM,N,T,ae=a.remaining,a.c,0,0,0 if not a.allowed then
local g=a.g N=y(a,a.z or(g==0 and 1 or g))or-1 if a.K and N>=0 then N=math.max(N,a.K) end end if K<aM then
T=y(a,K+1)or-1 ae=K+1==aM and T or y(a,aM)or-1 end if N-N~=0 or T-T~=0 or ae-ae~=0 or N>=(2^53)or ae>=(2^53)then
i().p('INEXACT_REPLY') end return K,N,T,ae,0 end local function cK(a,G) local K,N,T,ae,cw=az(a) local ds=a.n and 1 or 0
return h( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().A(a)or 1)or 0,a.count,a.ttl,a.c,K,N,T,ae, cw,a.now_ms,ds,G ) end local function dj(a,G)
local aa=a.form if aa=='LINE'then return cK(a,G) elseif aa then return i().O(a,G) end
return{a.allowed and(a.PARTIAL and i().A(a)or 1)or 0,a.count,a.ttl} end local function co(a) if a.a~='charge'then
return 0 elseif a.ALWAYS then return a.g elseif not a.allowed or(a.n and not a.PARTIAL)then return 0 end return a.g end
local function ci(f,J,s) local w=h('%.0f',J) local b=m('ZCOUNT',f,w,w) while s>1 do local A={}
for Q=1,math.min(s,1000)do A[#A+1]=w A[#A+1]=h('%s-0.%.0f',w,b) b=b+1 end s=s-m('ZADD',f,'NX',unpack(A)) end
while s>0 do s=s-m('ZADD',f,'NX',w,w..'-0.'..as(b)) b=b+1 end end local function aH(f,Z) if Z then
m('PEXPIREAT',f,as(Z)) end end local function bz(a,r,v) local f=a.e if r=='charge'then
local ax=aF(a,a.l and ay(f,a.now_ms)or nil) ci(f,v.H or a.now_ms,v.o) aH(f,ax) elseif r~='keep'then i().C(a,r,v)
elseif a.l then aH(f,aF(a,ay(f,a.now_ms))) end end local function dr(I,t)
local a=cZ(t,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') de(a,I,a.RESERVE) cM(a,'write')
cv(a) local cj=dj(a,co(a)) if a.SHADOW or a.RESERVE then i().D(a,true) else bz(a,a.a,a.f) end return cj end function i()
if not aJ then local p={} p.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
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
p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function cn(ck,bc) local O=0
for n=1,#bc,1000 do local A={unpack(ck)} for b=n,math.min(n+999,#bc)do A[#A+1]=bc[b] end O=O+m(unpack(A)) end return O
end local function dp(f,w,q) local ao={} for Q,cP in ipairs(q)do ao[#ao+1]=w ao[#ao+1]=cP end cn({'ZADD',f,'XX'},ao) end
local function cq(a,r,v) local f=a.e if r=='delete'then m('UNLINK',f) return end
local ax=aF(a,a.l and ay(f,a.now_ms)or nil) if v.W then local w=h('%.0f',a.now_ms)
dp(f,w,m('ZRANGEBYSCORE',f,'('..w,'+inf','LIMIT','0',as(a.u))) aH(f,ax) return end local q=a.j+a.t
local n,o=q-v.remove,q-1 if v.Y then o=m('ZCOUNT',f,'-inf',as(v.Y))-1 n=math.max(0,o+1-v.remove) end
if o<0 or n>0 or o+1<q then aH(f,ax) end if o>=0 then m('ZREMRANGEBYRANK',f,h('%.0f',n),h('%.0f',o)) end end
local function R(k) error({err=k},0) end local function L(ai) R(p[ai]) end local function cA(X) if type(X)=='table'then
return X elseif x(X,'^%u+ ')then return redis.error_reply(X) end error(X,0) end local function ah(b) if b-b~=0 then
return b end local l,s={},0 while b>0 do local H=b%(2^24) s=s+1 l[s]=H b=(b-H)/(2^24) end return l end local bs={
__sub=function() return 1 end, } local function aA(l) local s=#l while s>0 and l[s]==0 do l[s]=nil s=s-1 end
if s>3 or(s==3 and l[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(l,bs) end
return(l[1]or 0)+(l[2]or 0)*(2^24)+(l[3]or 0)*(2^24)*(2^24) end local function ch(c,d) c,d=ah(c),ah(d) local O,U={},0
for b=1,math.max(#c,#d)+1 do local H=(c[b]or 0)+(d[b]or 0)+U U=H>=(2^24)and 1 or 0 O[b]=H-U*(2^24) end return aA(O) end
local function bN(c,d) c,d=ah(c),ah(d) local ap={} for b=1,#c+#d do ap[b]=0 end for b=1,#c do local U=0 for bb=1,#d do
local H=ap[b+bb-1]+c[b]*d[bb]+U U=math.floor(H/(2^24)) ap[b+bb-1]=H-U*(2^24) end ap[b+#d]=U end return aA(ap) end
local function bJ(c,d) local bv,cl=c-c==0,d-d==0 if bv or cl then return bv elseif#c~=#d then return#c<#d end
for b=#c,1,-1 do if c[b]~=d[b]then return c[b]<d[b] end end return false end local function ba(c,d)
if c-c==0 and d-d==0 then return c<d end return bJ(c,d) end local function bx(b) if b-b==0 then return b end local O=0
for cH=#b,1,-1 do O=O*(2^24)+b[cH] end return O end local function dw(c,d) if not bJ(d,c)then return 0 end d=ah(d)
local bA,aL={},0 for b=1,#c do local H=c[b]-(d[b]or 0)-aL aL=H<0 and 1 or 0 bA[b]=H+aL*(2^24) end return aA(bA) end
local function dv(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end return dw(c,d) end local function aE(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bN(c,d) end local function cz(c,d) local bk=0
while not ba(c,d)do local A=math.max(1,math.floor(bx(c)/bx(d)*(1-2^-45))) A=aA(ah(A)) bk=bw(bk,A) c=dv(c,aE(A,d)) end
return bk,c end local function aP(c,d) if c-c==0 and d-d==0 then local C=c%d return(c-C)/d,C end return cz(c,d) end
local function dy(b) local bo='' while b-b~=0 do local C b,C=aP(b,10000000) bo=h('%07.0f',C)..bo end
return h('%.0f',b)..bo end local function cB(f,E) local S=m('PTTL',f) return S>=0 and E+S or nil end
local function di(f,W,o,q,M) local V=m('ZCOUNT',f,W,o) local Y=math.min(V,M) if Y>0 then
local n=W=='0'and m('ZCOUNT',f,'-inf','(0')or 0 m('ZREMRANGEBYRANK',f,h('%.0f',n),h('%.0f',n+Y-1)) q,V,aR=q-Y,V-Y,M-Y
end return q,V end local function by(c,d) for e=1,math.min(#c,#d)do local cc,cd=c:byte(e),d:byte(e) if cc~=cd then
return cc<cd end end return#c<#d end local function aO(k,M) if k~='0'and not x(k,'^[1-9]%d*$')then return nil end
return(#k<#M or(#k==#M and not by(M,k)))and k or nil end local function bD(l)
if#l<=15 or(#l==16 and by(l,'9007199254740992'))then return l+0 end local aU=#l%7 local b=aU>0 and l:sub(1,aU)+0 or 0
for e=aU+1,#l,7 do b=bw(aE(b,10000000),l:sub(e,e+6)+0) end return b end local function bP(ai,k,bI)
local l=k and aO(k,'9223372036854775807') local b=l and bD(l) if not b or b==0 and bI>0 then
R(h('ERR invalid %s: expected an integer from %d to 9223372036854775807',ai,bI)) elseif b-b~=0 then
R(h('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ai)) end return b end local bt={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ab(cL,u)
return not x(u,' ',1,true)and x(cL,' '..u..' ',1,true)~=nil end local function bW(a,j)
return not ab(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or ab((' COST PARTIAL '),j) end
local function cI(u,j) local n,o=0,0 local bT,cO=math.min(#u,#j),math.max(#u,#j)
while n<bT and u:byte(n+1)==j:byte(n+1)do n=n+1 end while o<bT-n and u:byte(-1-o)==j:byte(-1-o)do o=o+1 end
return n+o>=2 and cO-n-o<=2 end local function cC(a,B,u) local ad={} for Q,D in ipairs(bt)do
if ab(B,D[1])and bW(a,D[1])then ad[#ad+1]=D[2] end end for Q,aa in ipairs({'FULL','LINE','HEADERS'})do ad[#ad+1]=aa end
for Q,j in ipairs(ad)do if cI(u:upper(),bL(j,'^%u+'))then R('ERR syntax error: no such option, but there is '..j) end
end local o=table.remove(ad) local dz=table.concat(ad,', ')
R('ERR syntax error: after limit come '..dz..' or '..o..', each at most once') end local function dm(D,a,B)
local j,dD=D[1],a.ab if not ab(B,j)then R(h('ERR invalid %s: only %s it',j,D[3])) elseif not bW(a,j)then
R(h('ERR invalid %s: %s takes none',j,('SLIDING'))) elseif a[j]~=nil then
R(h('ERR syntax error: %s comes at most once',D[2])) end end local function bM(c,d) return ba(d,c)and d or c end
local cg=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bs) local function dc(j,k,dG) if j=='AS'then
return k and#k>=1 and#k<=64 and not x(k,'[^%w._-]')and k or L('AS') elseif j=='AT'then
local l=k and aO(k,'9223372036854775807') return l and bM(bD(l),(aP(cg,1000)))or L('AT') end
return bP(j,k,j=='BURST'and 1 or 0) end local function dk(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
L(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
L(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local ce={FULL=true,LINE=true,HEADERS=true}
local function cV(aa,bO) if aa then L(aa==bO and'FORM_TWICE'or'TWO_FORMS') end return bO end local function da(a,t,e,B)
while t[e]do local u,D=t[e]:upper(),nil for Q,bH in ipairs(bt)do D=bH[1]==u and bH or D end if D then dm(D,a,B)
if D[2]==u then a[u]=true e=e+1 else a[u]=dc(u,t[e+1],t[e+2]) e=e+(u=='RESERVE'and 3 or 2) end dk(a)
elseif ce[u]and ab(B,'form')then a.form=cV(a.form,u) e=e+1 else return e end end return e end
local bu={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function dd(k) local ac,bZ=bL(k,'^(%d+)(%l*)$')
local J=ac and bu[bZ]and aO(ac,'18446744073709551615')and ac*bu[bZ] return J and J>=1 and J<=1e15 and J or nil end
local cf={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dC(a,k) local z=dd(k)
if not z then a.X=k:upper() z=cf[a.X] if not z then L(ab((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ab((' COST PARTIAL '),'ANCHOR')then
R(h('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return z end local function cR(a)
if not true then return 0 elseif a.c<a.b then return a.PARTIAL and a.c or 0 end return a.b end local function dl(q,k)
if q>1000 then L(k) end end local function cF(f) return f:sub(-9)==':reserved'or f:sub(-14)==':reserved:ends' end
local function dn(f) if cF(f)then L('RESERVED_KEY') end end local function cy(a,I,av) local f=I[1] local al={f}
if av then local bE=f..((nil)and(nil)(a)or'')..':reserved' al[#al+1],al[#al+2]=bE,bE..':ends' end return al end
local function cs(a) local cW=a.PARTIAL and a.g<a.b a.n=a.SHADOW and not a.w and(cW or not a.allowed)
if not a.allowed and(a.n or a.w)then a.allowed=true if not true then local Q,Q,Q,bl=az(a) a.ttl=af(bl) end end end
local function dh(a) aS(a,'keep',a.x) return a.remaining end local function cY(a,Z,g) if g==0 then return'keep'
elseif not Z or not ba(Z,a.now_ms)then return'charge',{o=g} elseif Z<=a.now_ms-a.i then return'keep' end
return'charge',{o=g,H=Z} end local function du(r,v,cm) if r=='keep'then return cm end return r~='delete'and v or nil end
local function cT(g) return g==0 and 1 or g end local function bB(b) if b-b~=0 or b>=(2^53)then L('INEXACT_REPLY') end
return b end local function ct(a) local g=a.b aN(a,0) local r,v=cY(a,nil,g) if g>0 then a.a,a.f=r,v end
local bU=du(a.a,a.f,a.x) aS(a,a.a,bU) a.allowed=a.c>0 and y(a,0)==0 a.z=a.c>0 and g or cT(g) if(nil)then
a.count,a.ttl=(nil)(bU,a.now_ms) elseif a.allowed then a.ttl=af(bB(y(a,a.c))) else local y=y(a,a.z)
a.ttl=y and math.max(1,af(bB(y)))or-1 end end local function cu(a) local g=a.b if a.PARTIAL then g=math.min(g,dh(a)) end
a.g=g if a.ALWAYS then ct(a) else aN(a,g) end end local function cp(a,r,v) bz(a,r,v) end local function cr(a,am)
if not am and a.a=='charge'then a.a,a.f='keep',nil end cp(a,a.a,a.f) end local function bQ(a)
return a.w and a.w.b or a.n and a.b or a.g end local function bC(a) if not a.allowed then return 0 end
return a.PARTIAL and bQ(a)or 1 end local function cE(a,G) local K,dq,T,bl,cx=az(a) return{ 'allowed',bC(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.c, 'remaining',K, 'retry_after_ms',dq, 'next_ms',T, 'reset_ms',bl,
'delay_ms',cx, 'now_ms',a.now_ms, 'shadow',a.n and 1 or 0, 'charged',G, } end local function cS(ar) local bV={}
for Q,a in ipairs(ar)do local n,ac=a.AS or('SLIDING'):lower(),2 a.k=n while bV[a.k]do a.k=h('%s-%d',n,ac) ac=ac+1 end
bV[a.k]=true end end local function aC(b) return h('%.0f',bM(b,999999999999999)) end local function df(a)
local z=(nil)and(nil)(a)or a.i local aQ,C=1000,z%1000 while C>0 do aQ,C=C,aQ%C end local cb=1000/aQ
local ak=aP(aE(z,cb),1000) return h('"%s";q=%s;w=%s',a.k,aC(aE(a.limit,cb)),aC(ak)) end local function cJ(aG,be)
if aG.allowed~=be.allowed then return not aG.allowed end local y,bf=aG.retry_after_ms,be.retry_after_ms if y~=bf then
return y<0 or(bf>=0 and y>bf) end return aG.remaining<be.remaining end local function cG(ar) local bn,bR=ar[1],{} cS(ar)
for b,a in ipairs(ar)do bR[b]=df(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=az(a) if cJ(a,bn)then bn=a end end
local a=bn local at={ 'X-RateLimit-Limit', h('%.0f',a.c), 'X-RateLimit-Remaining', h('%.0f',a.remaining), }
local function aB(ai,ag) at[#at+1]=ai at[#at+1]=ag end if a.reset_ms>=0 then
aB('X-RateLimit-Reset',h('%.0f',af(a.now_ms+a.reset_ms))) end aB('RateLimit-Policy',table.concat(bR,', '))
local cQ=a.next_ms>=0 and';t='..aC(af(a.next_ms))or'' aB('RateLimit',h('"%s";r=%s%s',a.k,aC(a.remaining),cQ))
if not a.allowed and a.retry_after_ms>=0 then aB('Retry-After',h('%.0f',af(a.retry_after_ms))) end return at end
local function cX(a,G) if a.form=='FULL'then return cE(a,G) end return{bC(a),a.count,a.ttl,cG({a})} end
aJ={B=ch,C=cq,D=cr,E=cs,F=cu,G=cy,error_reply=cA,I=cB,p=L,J=cC,L=cR,M=bN,O=cX,P=bP,Q=da,A=bQ,S=di,T=dl,U=dn,V=dy,aa=dC}
end return aJ end if X then return i().error_reply(X) end local aw,aj=pcall(dr,KEYS,ARGV)
return aw and aj or i().error_reply(aj) end local function cD(br,P) local x,m=string.find,redis.call local bp=P[2]
local bq=P[3] local aI=P[4] if not bq then return end local au=P[5] local bi local bj if(aI=='LINE')and(not au)then bi=5
bj=1 else local bg local bh if aI then if au then
if not(((((P[6]=='LINE')and(not P[7]))and((#au)<16))and(aI=='COST'))and x(au,'^[1-9]%d*$'))then return end bg=7 bh=au+0
else if(((P[6]=='LINE')and(not P[7]))and(aI=='COST'))and x('','^[1-9]%d*$')then return end return end else bg=4 bh=1 end
bi=bg bj=bh end if not(((#bq)<16)and x(bq,'^[1-9]%d*$'))then return end if not(((#bp)<10)and x(bp,'^[1-9]%d*$'))then
return end if not((bp*1000)<9e12)then return end local dA=P[bi] if dA then return end if 1000<bj then return end
local dI=m('TIME') if(#br)==1 then return end local ca=br[1] if not ca then return end if x(ca,':reserved',1,true)then
return end return end local aw,aj=pcall(cD,KEYS,ARGV) if aw and aj then return aj end return dt(not aw and aj)
