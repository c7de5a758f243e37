-- RL.REFUND LEAKY, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aO,g local Z,v,ap,dA=string.find,string.format,string.match,string.sub local function bM(X) return X==''and 1000
or X=='ms'and 1 or X=='s'and 1000 or X=='m'and 60000 or X=='h'and 3600000 or X=='d'and 86400000 or nil end
local function A(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return g().v(b,c) end local function bI(a)
a.n=A(a.b,a.h) if a.n-a.n~=0 then g().Y(a) end end local function cX(t,d,B) local K,O,n=t[d],t[d+1],t[d+2] if not O then
g().j('ARITY') end local a={ p='', o=0, now_ms=0, a=0, h=0, limit=0, b=0, e=1, form=nil, s=0, d=nil, l=nil,
allowed=false, count=0, ttl=0, i='keep', remaining=0, m=1, } d=d+2
if n=='LINE'and not t[d+1]and B~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,d=n,d+1 elseif n then
local an=t[d+1]or''
local bx=B==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[d+2]=='LINE'and not t[d+3]and#an<16
if bx and n=='COST'and(' COST PARTIAL BURST ')~=' ID 'and Z(an,'^[1-9]%d*$')then a.form,a.e,d='LINE',an+0,d+3
elseif bx and n=='ID'and(' COST PARTIAL BURST ')==' ID 'and an~=''then a.form,a.ID,d='LINE',an,d+3 else d=g().V(a,t,d,B)
a.e=a.COST or 1 end end local cB=#O<16 and Z(O,'^[1-9]%d*$') a.limit=cB and O+0 or g().U('limit',O,0)
local W,X=ap(K,'^([1-9]%d*)(%l*)$') local aF=W and#K<16 and bM(X) local o=aF and W*aF if not o or o<1 or o>1e15 then
o=g().ab(a,K) end a.a,a.h,a.b=o,o<9e12 and o*1000 or g().v(o,1000),a.BURST or a.limit if bI then bI(a) end return a,d
end local function cU(t,B) local a,d=cX(t,1,B) if t[d]then g().I(a,B,t[d]) end return a end local function cV(t,B)
if not t[1+1]then g().j('ARITY') end return cU(t,B) end local ab=redis.call local function dd(a) local J=ab('TIME')
local ai=J[1]*1000000+J[2] a.o,a.now_ms=ai,(ai-ai%1000)/1000 end local function dr(a,ao,d,bT,bf) local r=ao[d]
if not r then g().j('KEYS') end a.p,d=r,d+1 if bf then a.k=r elseif Z(r,':reserved',1,true)then g().X(r) end return d
end local function db(a,ao,bT,bf) dd(a) if#ao~=dr(a,ao,1,bT,bf)-1 then g().j('KEYS') end end local function dx(h,da)
local b,c,aT,aV,m=ap(h,da) if not b then return nil elseif Z(h,':0%d')then return nil end local F=#aV<17 and aV+0
return#b<16 and b+0 or g().q(b), #c<16 and c+0 or g().q(c), #aT<16 and aT+0 or g().q(aT),
F and F<9e15 and F or g().q(aV), m end local function cD(C) return C and C-C==0 and C>=1 and C<=1e15 end
local function cj(h) local l,k,o,d,m=dx(h,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not cD(o)or not l or not k or not d then
return nil end local T=0 if m~=''then T=g().D(m) if not T then return nil end end
if l-l~=0 or d-d~=0 or k-k~=0 or k>=o*1000 then if g().N(l,k,o,d)then return nil end end return{g=l,f=k,a=o,at=d,c=T}
end local function cG(a) local h=ab('GET',a.p) if h then a.d=cj(h)or g().H(h,('LEAKY'),'FOREIGN_VALUE') end end
local function D(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return g().z(b,c) end local function Y(b,c)
if b-b==0 and c-c==0 then local m=b%c return m==0 and b/c or(b-m)/c+1 end local as,m=g().u(b,c)
return m==0 and as or D(as,1) end local function aN(a,ak) local J=Y(ak,a.limit) return J-J==0 and J or g().x(J) end
local function w(b,c) if b-b==0 and c-c==0 then return b<c end return g().P(b,c) end local function az(b,c)
return w(c,b)and c or b end local function bG(a,f) local k,K,l=f.f,a.h,f.g if f.a~=a.a and k~=0 then
k=Y(A(k,K),A(f.a,1000)) end l=az(D(A(l,K),k),a.n) return f.c==0 and l or D(l,A(f.c,K)) end local function E(a,f)
local d=f.at if a.limit>0 then d=D(d,aN(a,bG(a,f))) d=d-d==0 and d or g().x(d) end return Y(d,1000) end
local function bP(p,x,y) if p=='keep'then return y end return p~='delete'and x or nil end local function cr(r,bi)
if not redis.REDIS_VERSION_NUM then return g().G(r,bi) end local d=ab('PEXPIRETIME',r) return d>=0 and d or nil end
local function ba(a,p,x) local y,aX=a.d,true if p=='keep'and(not y or not aX)then return nil end
local z=y and cr(a.p,a.now_ms) if z and z>=(2^53)then z=g().J(g().F(z)) end if p=='keep'then local G=E(a,y)
return z and w(z,G)and D(G,5000)or nil end local G=E(a,x) local ay=D(G,5000) if not y then return ay elseif not z then
return ay end if aX and p=='rebase'then return g().Q(z,E(a,y),G) elseif w(z,G)then return ay
elseif not w(ay,z)or(aX and w(D(E(a,y),5000),z))then return nil end return ay end local function Q(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return g().Z(b,c) end local function aB(a,f) if not f then
return 0 end return Q(bG(a,f),A(Q(a.o,f.at),a.limit)) end local function aw(b,c) if b-b==0 and c-c==0 then local m=b%c
return(b-m)/c,m end return g().u(b,c) end local function af(e) if e-e~=0 or e>=(2^53)then g().j('INEXACT_REPLY') end
return e end local function bN(a,ak) a.W=ak a.remaining=a.limit==0 and 0 or Q(a.b,Y(ak,a.h)) end local function s(a,i)
local O,bL=a.limit,a.b-i if O==0 or bL<0 then return nil end local J=Y(Q(a.W,A(bL,a.h)),O)
if J-J~=0 and g().M(D(J,a.o))then return nil end return Y(J,1000) end local function al(C) local m=C%1000
return C<0 and-1 or m==0 and C/1000 or(C-m)/1000+1 end local function du(a,i) local s=s(a,i==0 and 1 or i)
s=s and al(af(s))or-1 return s==0 and 1 or s end local function aW(a,i) local f,O,K,ai=a.d,a.limit,a.h,a.o
local y=aB(a,f) local G=D(y,A(i==0 and 1 or i,K)) local aI=O>0 and not w(a.n,G) local av,k=aw(y,K)
a.allowed,a.count,a.i=aI,af(k==0 and av or D(av,1)),'keep' if aI and i>0 then a.i='charge'
a.l={g=D(av,i),f=k,a=a.a,at=ai,c=0} a.ttl=af(Y(aN(a,G),1000000)) else if f and O>0 and w(ai,f.at)then a.i='rebase'
a.l={g=f.g,f=f.f,a=f.a,at=ai,c=f.c} end if aI then a.ttl=af(Y(aN(a,y),1000000)) else bN(a,y) a.ttl=du(a,i) end end
a.s=true and aI and aN(a,y)or 0 end local function ci(a) if a.PARTIAL or a.ALWAYS then g().E(a) else local i=a.e a.m=i
aW(a,i) end if a.SHADOW then g().B(a) end end local function bb(a,R,f) bN(a,aB(a,f)) end local function aJ(a)
local p,s=a.i,s bb(a,p,p=='keep'and a.d or p~='delete'and a.l or nil) local aa,aU,P,V,ad=a.remaining,a.b,0,0,0
if not a.allowed then local i=a.m P=s(a,a.w or(i==0 and 1 or i))or-1 if a.K and P>=0 then P=math.max(P,a.K) end end
if aa<aU then V=s(a,aa+1)or-1 ad=aa+1==aU and V or s(a,aU)or-1 end
if P-P~=0 or V-V~=0 or ad-ad~=0 or P>=(2^53)or ad>=(2^53)then g().j('INEXACT_REPLY') end if a.s~=0 then
return aa,P,V,ad,af(Y(a.s,1000)) end return aa,P,V,ad,0 end local function cE(a,S) local aa,P,V,ad,ck=aJ(a)
local dp=a.r and 1 or 0 return v( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and g().y(a)or 1)or 0,a.count,a.ttl,a.b,aa,P,V,ad, ck,a.now_ms,dp,S ) end local function dg(a,S)
local ag=a.form if ag=='LINE'then return cE(a,S) elseif ag then return g().S(a,S) end
return{a.allowed and(a.PARTIAL and g().y(a)or 1)or 0,a.count,a.ttl} end local function ce(a,p,x,S) local br
local E,y,at=nil,a.d,bP(p,x,a.d) if at and ba then E=ba(a,p,x) end if E and w(E,a.now_ms)then at=nil end a.d=at ci(a)
br=dg(a,S) a.d=y if not a.ad then g().A(a,p,x) end return br end local function dm(ao,t)
local a=cV(t,' form COST AT BURST BLOCK MAX ANCHOR ') db(a,ao) cG(a,'write') local p,x=g().refund(a,a.AT,a.e)
return ce(a,p,x,0) end function g() if not aO then local q={}
q.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
q.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
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
..'reservations' q.OVERFLOW='ERR increment or decrement would overflow' q.ARITY='ERR wrong number of arguments'
q.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
q.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
q.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local aH={ __sub=function()
return 1 end, } local aQ=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aH) local function cP(bh) return az(bh,aQ) end
local function cy(bh) return w(aQ,bh) end local bY=setmetatable({6553600,11973543,3552},aH) local function U(h)
error({err=h},0) end local function I(ar) U(q[ar]) end local function dk(a) if a.limit>0 and w(A(a.limit,bY),a.n)then
I('SPAN') end end local aP=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aH) local function be(e) return w(aP,e) end
local function cz(l,k,o,d) local dt=be(l)or(not w(l,aP)and k~=0) return dt or be(d)or not w(k,A(o,1000)) end
local function aS(b,c) for d=1,math.min(#b,#c)do local bU,bV=b:byte(d),c:byte(d) if bU~=bV then return bU<bV end end
return#b<#c end local function bc(j) if#j<=15 or(#j==16 and aS(j,'9007199254740992'))then return j+0 end local bd=#j%7
local e=bd>0 and j:sub(1,bd)+0 or 0 for d=bd+1,#j,7 do e=D(A(e,10000000),j:sub(d,d+6)+0) end return e end
local function bE(j) if#j>1 and j:byte()==48 then return nil
elseif#j<20 or(#j==20 and not aS('18446744073709551615',j))then return bc(j) end end local function cf(m)
local j=ap(m,'^:(%d+)$') local T=j and bE(j) return T and T~=0 and not be(T)and T or nil end local function de(a,R,i)
local f=a.d if not f or i==0 or aB(a,f)==0 then return'keep' end local l,k=f.g,f.f if not w(l,a.b)then l,k=a.b,0 end
local m=Q(i,f.c) if w(l,m)then l,k=0,0 else l=Q(l,m) end local bJ= {g=l,f=k,a=f.a,at=f.at,c=Q(f.c,i)}
if aB(a,bJ)==0 then return'delete' end return'refund',bJ end local function cs(h,u,cS)
local dy={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bo=dy[ap(h,'^(%u):')] if not bo or bo==u then
I(cS) end U('ERR the key holds a state of '..bo..': use another key for each algorithm') end local function cp(aD)
if type(aD)=='table'then return aD elseif Z(aD,'^%u+ ')then return redis.error_reply(aD) end error(aD,0) end
local function ae(e) if e-e~=0 then return e end local j,L={},0 while e>0 do local M=e%(2^24) L=L+1 j[L]=M
e=(e-M)/(2^24) end return j end local function ax(j) local L=#j while L>0 and j[L]==0 do j[L]=nil L=L-1 end
if L>3 or(L==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,aH) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function bB(b,c) local bq,ca=b-b==0,c-c==0
if bq or ca then return bq elseif#b~=#c then return#b<#c end for e=#b,1,-1 do if b[e]~=c[e]then return b[e]<c[e] end end
return false end local function bZ(b,c) b,c=ae(b),ae(c) local au,ac={},0 for e=1,math.max(#b,#c)+1 do
local M=(b[e]or 0)+(c[e]or 0)+ac ac=M>=(2^24)and 1 or 0 au[e]=M-ac*(2^24) end return ax(au) end local function dq(b,c)
if not bB(c,b)then return 0 end c=ae(c) local bu,aR={},0 for e=1,#b do local M=b[e]-(c[e]or 0)-aR aR=M<0 and 1 or 0
bu[e]=M+aR*(2^24) end return ax(bu) end local function cK(b,c) b,c=ae(b),ae(c) local aC={} for e=1,#b+#c do aC[e]=0 end
for e=1,#b do local ac=0 for bg=1,#c do local M=aC[e+bg-1]+b[e]*c[bg]+ac ac=math.floor(M/(2^24)) aC[e+bg-1]=M-ac*(2^24)
end aC[e+#c]=ac end return ax(aC) end local function bs(e) if e-e==0 then return e end local au=0 for cx=#e,1,-1 do
au=au*(2^24)+e[cx] end return au end local function cm(b,c) local as=0 while not w(b,c)do
local k=math.max(1,math.floor(bs(b)/bs(c)*(1-2^-45))) k=ax(ae(k)) as=D(as,k) b=Q(b,A(k,c)) end return as,b end
local function cq(r,bi) local bA=ab('PTTL',r) return bA>=0 and bi+bA or nil end local function cJ(z,cM,G) if z-z~=0 then
I('INEXACT_STATE') end local aA=Q(z,Q(cM,G)) aA=w(aA,G)and G or aA return aA~=z and aA or nil end
local function aY(h,aq) if h~='0'and not Z(h,'^[1-9]%d*$')then return nil end
return(#h<#aq or(#h==#aq and not aS(aq,h)))and h or nil end local function bD(ar,h,bz)
local j=h and aY(h,'9223372036854775807') local e=j and bc(j) if not e or e==0 and bz>0 then
U(v('ERR invalid %s: expected an integer from %d to 9223372036854775807',ar,bz)) elseif e-e~=0 then
U(v('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ar)) end return e end local bp={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ah(cF,u)
return not Z(u,' ',1,true)and Z(cF,' '..u..' ',1,true)~=nil end local function bR(a,n)
return not ah(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or ah((' COST PARTIAL BURST '),n)
end local function cA(u,n) local N,F=0,0 local bO,cH=math.min(#u,#n),math.max(#u,#n)
while N<bO and u:byte(N+1)==n:byte(N+1)do N=N+1 end while F<bO-N and u:byte(-1-F)==n:byte(-1-F)do F=F+1 end
return N+F>=2 and cH-N-F<=2 end local function ct(a,B,u) local aj={} for R,H in ipairs(bp)do
if ah(B,H[1])and bR(a,H[1])then aj[#aj+1]=H[2] end end for R,ag in ipairs({'FULL','LINE','HEADERS'})do aj[#aj+1]=ag end
for R,n in ipairs(aj)do if cA(u:upper(),ap(n,'^%u+'))then U('ERR syntax error: no such option, but there is '..n) end
end local F=table.remove(aj) local dv=table.concat(aj,', ')
U('ERR syntax error: after limit come '..dv..' or '..F..', each at most once') end local function di(H,a,B)
local n,dz=H[1],a.ac if not ah(B,n)then U(v('ERR invalid %s: only %s it',n,H[3])) elseif not bR(a,n)then
U(v('ERR invalid %s: %s takes none',n,('LEAKY'))) elseif a[n]~=nil then
U(v('ERR syntax error: %s comes at most once',H[2])) end end local function cY(n,h,dB) if n=='AS'then
return h and#h>=1 and#h<=64 and not Z(h,'[^%w._-]')and h or I('AS') elseif n=='AT'then
local j=h and aY(h,'9223372036854775807') return j and az(bc(j),(aw(aQ,1000)))or I('AT') end
return bD(n,h,n=='BURST'and 1 or 0) end local function dh(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
I(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
I(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bW={FULL=true,LINE=true,HEADERS=true}
local function cO(ag,bC) if ag then I(ag==bC and'FORM_TWICE'or'TWO_FORMS') end return bC end local function cW(a,t,d,B)
while t[d]do local u,H=t[d]:upper(),nil for R,by in ipairs(bp)do H=by[1]==u and by or H end if H then di(H,a,B)
if H[2]==u then a[u]=true d=d+1 else a[u]=cY(u,t[d+1],t[d+2]) d=d+(u=='RESERVE'and 3 or 2) end dh(a)
elseif bW[u]and ah(B,'form')then a.form=cO(a.form,u) d=d+1 else return d end end return d end local function cZ(h)
local W,X=ap(h,'^(%d+)(%l*)$') local aF=W and bM(X) local C=aF and aY(W,'18446744073709551615')and W*aF
return C and C>=1 and C<=1e15 and C or nil end
local bX={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dw(a,h) local o=cZ(h)
if not o then a.aa=h:upper() o=bX[a.aa] if not o then
I(ah((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ah((' COST PARTIAL BURST '),'ANCHOR')then
U(v('ERR invalid window: %s takes no windows of the calendar',('LEAKY'))) end end return o end local function cv(r)
return r:sub(-9)==':reserved'or r:sub(-14)==':reserved:ends' end local function dj(r) if cv(r)then I('RESERVED_KEY') end
end local function cd(a) local cQ=a.PARTIAL and a.m<a.e a.r=a.SHADOW and not a.t and(cQ or not a.allowed)
if not a.allowed and(a.r or a.t)then a.allowed=true if not(nil)then local R,R,R,bl=aJ(a) a.ttl=al(bl) end end end
local function df(a) bb(a,'keep',a.d) return a.remaining end local function cT(a,R,i) if i==0 or a.limit==0 then
return'keep' end local ak=D(aB(a,a.d),A(i,a.h)) if w(A(aP,a.h),ak)then I('OVERFLOW') end local av,k=aw(ak,a.h)
local aq=k==0 and a.b or a.b-1 local l,T=az(av,aq),Q(av,aq) return'charge',{g=l,f=k,a=a.a,at=a.o,c=T} end
local function cN(i) return i==0 and 1 or i end local function cg(a) local i=a.e aW(a,0) local p,x=cT(a,nil,i)
if i>0 then a.i,a.l=p,x end local at=bP(a.i,a.l,a.d) bb(a,a.i,at) a.allowed=a.b>0 and s(a,0)==0 a.w=a.b>0 and i or cN(i)
if(nil)then a.count,a.ttl=(nil)(at,a.now_ms) elseif a.allowed then a.ttl=al(af(s(a,a.b))) else local s=s(a,a.w)
a.ttl=s and math.max(1,al(af(s)))or-1 end end local function ch(a) local i=a.e if a.PARTIAL then i=math.min(i,df(a)) end
a.m=i if a.ALWAYS then cg(a) else aW(a,i) end end local function ds(e) local bn='' while e-e~=0 do local m
e,m=aw(e,10000000) bn=v('%07.0f',m)..bn end return v('%.0f',e)..bn end local function am(e) if e-e~=0 then return ds(e)
end return v('%.0f',e) end local function dn(r,bt) if bt then ab('PEXPIREAT',r,am(bt)) end end local function co(f)
local l,k,o,d=f.g,f.f,f.a,f.at local h='L:'..am(l)..':'..am(k)..':'..am(o)..':'..am(d)
return f.c==0 and h or h..':'..am(f.c) end local function bv(f) local l,k,o,d=f.g,f.f,f.a,f.at
if f.c~=0 or l-l~=0 or k-k~=0 or d-d~=0 then return co(f) end return v('L:%.0f:%.0f:%.0f:%.0f',l,k,o,d) end
local function cc(a,p,x) local r=a.p if p=='delete'then ab('UNLINK',r) return end local E=ba(a,p,x) if p=='keep'then
dn(r,E) elseif E then ab('SET',r,bv(x),'PXAT',E==0 and'1'or am(E)) else ab('SET',r,bv(x),'KEEPTTL') end end
local function cb(a,p,x) cc(a,p,x) end local function bF(a) return a.t and a.t.e or a.r and a.e or a.m end
local function bw(a) if not a.allowed then return 0 end return a.PARTIAL and bF(a)or 1 end local function cu(a,S)
local aa,dl,V,bl,cl=aJ(a) return{ 'allowed',bw(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',aa,
'retry_after_ms',dl, 'next_ms',V, 'reset_ms',bl, 'delay_ms',cl, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0, 'charged',S,
} end local function cL(aE) local bQ={} for R,a in ipairs(aE)do local N,W=a.AS or('LEAKY'):lower(),2 a.k=N
while bQ[a.k]do a.k=v('%s-%d',N,W) W=W+1 end bQ[a.k]=true end end local function aL(e)
return v('%.0f',az(e,999999999999999)) end local function dc(a) local o=(nil)and(nil)(a)or a.a local aZ,m=1000,o%1000
while m>0 do aZ,m=m,aZ%m end local bS=1000/aZ local K=aw(A(o,bS),1000)
return v('"%s";q=%s;w=%s',a.k,aL(A(a.limit,bS)),aL(K)) end local function cC(aM,bj) if aM.allowed~=bj.allowed then
return not aM.allowed end local s,bk=aM.retry_after_ms,bj.retry_after_ms if s~=bk then return s<0 or(bk>=0 and s>bk) end
return aM.remaining<bj.remaining end local function cw(aE) local bm,bH=aE[1],{} cL(aE) for e,a in ipairs(aE)do
bH[e]=dc(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aJ(a) if cC(a,bm)then bm=a end end local a=bm local aG={
'X-RateLimit-Limit', v('%.0f',a.b), 'X-RateLimit-Remaining', v('%.0f',a.remaining), } local function aK(ar,an)
aG[#aG+1]=ar aG[#aG+1]=an end if a.reset_ms>=0 then aK('X-RateLimit-Reset',v('%.0f',al(a.now_ms+a.reset_ms))) end
aK('RateLimit-Policy',table.concat(bH,', ')) local cI=a.next_ms>=0 and';t='..aL(al(a.next_ms))or''
aK('RateLimit',v('"%s";r=%s%s',a.k,aL(a.remaining),cI)) if not a.allowed and a.retry_after_ms>=0 then
aK('Retry-After',v('%.0f',al(a.retry_after_ms))) end return aG end local function cR(a,S) if a.form=='FULL'then
return cu(a,S) end return{bw(a),a.count,a.ttl,cw({a})} end
aO={z=bZ,A=cb,B=cd,D=cf,E=ch,F=ae,u=cm,error_reply=cp,G=cq,j=I,H=cs,I=ct,J=ax,M=cy,N=cz,P=bB,Q=cJ,v=cK,x=cP,S=cR,U=bD,q=bE,V=cW,y=bF,refund=de,X=dj,Y=dk,Z=dq,ab=dw}
end return aO end local cn,bK=pcall(dm,KEYS,ARGV) return cn and bK or g().error_reply(bK)
