-- RL.REFUND LEAKY, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aM,g local V,v,ax,dz=string.find,string.format,string.match,string.sub local function A(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return g().z(b,c) end local function bI(a) a.q=A(a.b,a.j)
if a.q-a.q~=0 then g().ac(a) end end local function cW(t,d,B) local I,O,n=t[d],t[d+1],t[d+2] if not O then
g().l('ARITY') end local a={ t='', r=0, now_ms=0, a=0, j=0, limit=0, b=0, f=1, form=nil, w=0, e=nil, o=nil,
allowed=false, count=0, ttl=0, k='keep', remaining=0, p=1, } d=d+2
if n=='LINE'and not t[d+1]and B~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,d=n,d+1 elseif n then
local am=t[d+1]or''
local bx=B==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[d+2]=='LINE'and not t[d+3]and#am<16
if bx and n=='COST'and(' COST PARTIAL BURST ')~=' ID 'and V(am,'^[1-9]%d*$')then a.form,a.f,d='LINE',am+0,d+3
elseif bx and n=='ID'and(' COST PARTIAL BURST ')==' ID 'and am~=''then a.form,a.ID,d='LINE',am,d+3 else d=g().Z(a,t,d,B)
a.f=a.COST or 1 end end local bd=#O<16 and V(O,'^[1-9]%d*$') a.limit=bd and O+0 or g().Y('limit',O,0)
bd=#I<10 and V(I,'^[1-9]%d*$') local q=bd and I*1000 or g().af(a,I)
a.a,a.j,a.b=q,q<9e12 and q*1000 or g().z(q,1000),a.BURST or a.limit if bI then bI(a) end return a,d end
local function cT(t,B) local a,d=cW(t,1,B) if t[d]then g().N(a,B,t[d]) end return a end local function cU(t,B)
if not t[1+1]then g().l('ARITY') end return cT(t,B) end local Z=redis.call local function dc(a) local K=Z('TIME')
local ag=K[1]*1000000+K[2] a.r,a.now_ms=ag,(ag-ag%1000)/1000 end local function dq(a,an,d,bT,be) local r=an[d]
if not r then g().l('KEYS') end a.t,d=r,d+1 if be then a.n=r elseif V(r,':reserved',1,true)then g().ab(r) end return d
end local function da(a,an,bT,be) dc(a) if#an~=dq(a,an,1,bT,be)-1 then g().l('KEYS') end end local function dw(h,cZ)
local b,c,aR,aT,m=ax(h,cZ) if not b then return nil elseif V(h,':0%d')then return nil end local F=#aT<17 and aT+0
return#b<16 and b+0 or g().u(b), #c<16 and c+0 or g().u(c), #aR<16 and aR+0 or g().u(aR),
F and F<9e15 and F or g().u(aT), m end local function cC(C) return C and C-C==0 and C>=1 and C<=1e15 end
local function cj(h) local l,k,q,d,m=dw(h,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not cC(q)or not l or not k or not d then
return nil end local T=0 if m~=''then T=g().H(m) if not T then return nil end end
if l-l~=0 or d-d~=0 or k-k~=0 or k>=q*1000 then if g().U(l,k,q,d)then return nil end end return{i=l,g=k,a=q,at=d,c=T}
end local function cF(a) local h=Z('GET',a.t) if h then a.e=cj(h)or g().M(h,('LEAKY'),'FOREIGN_VALUE') end end
local function D(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return g().E(b,c) end local function X(b,c)
if b-b==0 and c-c==0 then local m=b%c return m==0 and b/c or(b-m)/c+1 end local aq,m=g().y(b,c)
return m==0 and aq or D(aq,1) end local function aL(a,aj) local K=X(aj,a.limit) return K-K==0 and K or g().B(K) end
local function w(b,c) if b-b==0 and c-c==0 then return b<c end return g().V(b,c) end local function ay(b,c)
return w(c,b)and c or b end local function bG(a,f) local k,I,l=f.g,a.j,f.i if f.a~=a.a and k~=0 then
k=X(A(k,I),A(f.a,1000)) end l=ay(D(A(l,I),k),a.q) return f.c==0 and l or D(l,A(f.c,I)) end local function E(a,f)
local d=f.at if a.limit>0 then d=D(d,aL(a,bG(a,f))) d=d-d==0 and d or g().B(d) end return X(d,1000) end
local function bO(o,x,y) if o=='keep'then return y end return o~='delete'and x or nil end local function cr(r,bh)
if not redis.REDIS_VERSION_NUM then return g().K(r,bh) end local d=Z('PEXPIRETIME',r) return d>=0 and d or nil end
local function aY(a,o,x) local y,aV=a.e,true if o=='keep'and(not y or not aV)then return nil end
local z=y and cr(a.t,a.now_ms) if z and z>=(2^53)then z=g().P(g().J(z)) end if o=='keep'then local G=E(a,y)
return z and w(z,G)and D(G,5000)or nil end local G=E(a,x) local aw=D(G,5000) if not y then return aw elseif not z then
return aw end if aV and o=='rebase'then return g().W(z,E(a,y),G) elseif w(z,G)then return aw
elseif not w(aw,z)or(aV and w(D(E(a,y),5000),z))then return nil end return aw end local function Q(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return g().ad(b,c) end local function aA(a,f) if not f then
return 0 end return Q(bG(a,f),A(Q(a.r,f.at),a.limit)) end local function au(b,c) if b-b==0 and c-c==0 then local m=b%c
return(b-m)/c,m end return g().y(b,c) end local function ad(e) if e-e~=0 or e>=(2^53)then g().l('INEXACT_REPLY') end
return e end local function bM(a,aj) a.aa=aj a.remaining=a.limit==0 and 0 or Q(a.b,X(aj,a.j)) end local function s(a,i)
local O,bL=a.limit,a.b-i if O==0 or bL<0 then return nil end local K=X(Q(a.aa,A(bL,a.j)),O)
if K-K~=0 and g().S(D(K,a.r))then return nil end return X(K,1000) end local function ak(C) local m=C%1000
return C<0 and-1 or m==0 and C/1000 or(C-m)/1000+1 end local function dt(a,i) local s=s(a,i==0 and 1 or i)
s=s and ak(ad(s))or-1 return s==0 and 1 or s end local function aU(a,i) local f,O,I,ag=a.e,a.limit,a.j,a.r
local y=aA(a,f) local G=D(y,A(i==0 and 1 or i,I)) local aG=O>0 and not w(a.q,G) local at,k=au(y,I)
a.allowed,a.count,a.k=aG,ad(k==0 and at or D(at,1)),'keep' if aG and i>0 then a.k='charge'
a.o={i=D(at,i),g=k,a=a.a,at=ag,c=0} a.ttl=ad(X(aL(a,G),1000000)) else if f and O>0 and w(ag,f.at)then a.k='rebase'
a.o={i=f.i,g=f.g,a=f.a,at=ag,c=f.c} end if aG then a.ttl=ad(X(aL(a,y),1000000)) else bM(a,y) a.ttl=dt(a,i) end end
a.w=true and aG and aL(a,y)or 0 end local function ci(a) if a.PARTIAL or a.ALWAYS then g().I(a) else local i=a.f a.p=i
aU(a,i) end if a.SHADOW then g().G(a) end end local function aZ(a,R,f) bM(a,aA(a,f)) end local function aH(a)
local o,s=a.k,s aZ(a,o,o=='keep'and a.e or o~='delete'and a.o or nil) local Y,aS,P,W,ab=a.remaining,a.b,0,0,0
if not a.allowed then local i=a.p P=s(a,a.A or(i==0 and 1 or i))or-1 if a.Q and P>=0 then P=math.max(P,a.Q) end end
if Y<aS then W=s(a,Y+1)or-1 ab=Y+1==aS and W or s(a,aS)or-1 end
if P-P~=0 or W-W~=0 or ab-ab~=0 or P>=(2^53)or ab>=(2^53)then g().l('INEXACT_REPLY') end if a.w~=0 then
return Y,P,W,ab,ad(X(a.w,1000)) end return Y,P,W,ab,0 end local function cD(a,S) local Y,P,W,ab,ck=aH(a)
local dn=a.v and 1 or 0 return v( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and g().D(a)or 1)or 0,a.count,a.ttl,a.b,Y,P,W,ab, ck,a.now_ms,dn,S ) end local function df(a,S)
local ae=a.form if ae=='LINE'then return cD(a,S) elseif ae then return g().X(a,S) end
return{a.allowed and(a.PARTIAL and g().D(a)or 1)or 0,a.count,a.ttl} end local function ce(a,o,x,S) local br
local E,y,ar=nil,a.e,bO(o,x,a.e) if ar and aY then E=aY(a,o,x) end if E and w(E,a.now_ms)then ar=nil end a.e=ar ci(a)
br=df(a,S) a.e=y if not a.ah then g().F(a,o,x) end return br end local function dl(an,t)
local a=cU(t,' form COST AT BURST BLOCK MAX ANCHOR ') da(a,an) cF(a,'write') local o,x=g().refund(a,a.AT,a.f)
return ce(a,o,x,0) end function g() if not aM then local p={}
p.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
p.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
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
..'reservations' p.OVERFLOW='ERR increment or decrement would overflow' p.ARITY='ERR wrong number of arguments'
p.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local aF={ __sub=function()
return 1 end, } local aO=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aF) local function cO(bg) return ay(bg,aO) end
local function cy(bg) return w(aO,bg) end local bY=setmetatable({6553600,11973543,3552},aF) local function U(h)
error({err=h},0) end local function J(ap) U(p[ap]) end local function dj(a) if a.limit>0 and w(A(a.limit,bY),a.q)then
J('SPAN') end end local aN=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aF) local function bc(e) return w(aN,e) end
local function cz(l,k,q,d) local ds=bc(l)or(not w(l,aN)and k~=0) return ds or bc(d)or not w(k,A(q,1000)) end
local function aQ(b,c) for d=1,math.min(#b,#c)do local bU,bV=b:byte(d),c:byte(d) if bU~=bV then return bU<bV end end
return#b<#c end local function ba(j) if#j<=15 or(#j==16 and aQ(j,'9007199254740992'))then return j+0 end local bb=#j%7
local e=bb>0 and j:sub(1,bb)+0 or 0 for d=bb+1,#j,7 do e=D(A(e,10000000),j:sub(d,d+6)+0) end return e end
local function bE(j) if#j>1 and j:byte()==48 then return nil
elseif#j<20 or(#j==20 and not aQ('18446744073709551615',j))then return ba(j) end end local function cf(m)
local j=ax(m,'^:(%d+)$') local T=j and bE(j) return T and T~=0 and not bc(T)and T or nil end local function dd(a,R,i)
local f=a.e if not f or i==0 or aA(a,f)==0 then return'keep' end local l,k=f.i,f.g if not w(l,a.b)then l,k=a.b,0 end
local m=Q(i,f.c) if w(l,m)then l,k=0,0 else l=Q(l,m) end local bJ= {i=l,g=k,a=f.a,at=f.at,c=Q(f.c,i)}
if aA(a,bJ)==0 then return'delete' end return'refund',bJ end local function cs(h,u,cR)
local dx={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bn=dx[ax(h,'^(%u):')] if not bn or bn==u then
J(cR) end U('ERR the key holds a state of '..bn..': use another key for each algorithm') end local function cp(aC)
if type(aC)=='table'then return aC elseif V(aC,'^%u+ ')then return redis.error_reply(aC) end error(aC,0) end
local function ac(e) if e-e~=0 then return e end local j,L={},0 while e>0 do local M=e%(2^24) L=L+1 j[L]=M
e=(e-M)/(2^24) end return j end local function av(j) local L=#j while L>0 and j[L]==0 do j[L]=nil L=L-1 end
if L>3 or(L==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,aF) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function bB(b,c) local bq,ca=b-b==0,c-c==0
if bq or ca then return bq elseif#b~=#c then return#b<#c end for e=#b,1,-1 do if b[e]~=c[e]then return b[e]<c[e] end end
return false end local function bZ(b,c) b,c=ac(b),ac(c) local as,aa={},0 for e=1,math.max(#b,#c)+1 do
local M=(b[e]or 0)+(c[e]or 0)+aa aa=M>=(2^24)and 1 or 0 as[e]=M-aa*(2^24) end return av(as) end local function dp(b,c)
if not bB(c,b)then return 0 end c=ac(c) local bu,aP={},0 for e=1,#b do local M=b[e]-(c[e]or 0)-aP aP=M<0 and 1 or 0
bu[e]=M+aP*(2^24) end return av(bu) end local function cJ(b,c) b,c=ac(b),ac(c) local aB={} for e=1,#b+#c do aB[e]=0 end
for e=1,#b do local aa=0 for bf=1,#c do local M=aB[e+bf-1]+b[e]*c[bf]+aa aa=math.floor(M/(2^24)) aB[e+bf-1]=M-aa*(2^24)
end aB[e+#c]=aa end return av(aB) end local function bs(e) if e-e==0 then return e end local as=0 for cx=#e,1,-1 do
as=as*(2^24)+e[cx] end return as end local function cm(b,c) local aq=0 while not w(b,c)do
local k=math.max(1,math.floor(bs(b)/bs(c)*(1-2^-45))) k=av(ac(k)) aq=D(aq,k) b=Q(b,A(k,c)) end return aq,b end
local function cq(r,bh) local bA=Z('PTTL',r) return bA>=0 and bh+bA or nil end local function cI(z,cL,G) if z-z~=0 then
J('INEXACT_STATE') end local az=Q(z,Q(cL,G)) az=w(az,G)and G or az return az~=z and az or nil end
local function aW(h,ao) if h~='0'and not V(h,'^[1-9]%d*$')then return nil end
return(#h<#ao or(#h==#ao and not aQ(ao,h)))and h or nil end local function bD(ap,h,bz)
local j=h and aW(h,'9223372036854775807') local e=j and ba(j) if not e or e==0 and bz>0 then
U(v('ERR invalid %s: expected an integer from %d to 9223372036854775807',ap,bz)) elseif e-e~=0 then
U(v('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ap)) end return e end local bo={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function af(cE,u)
return not V(u,' ',1,true)and V(cE,' '..u..' ',1,true)~=nil end local function bQ(a,n)
return not af(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or af((' COST PARTIAL BURST '),n)
end local function cA(u,n) local N,F=0,0 local bN,cG=math.min(#u,#n),math.max(#u,#n)
while N<bN and u:byte(N+1)==n:byte(N+1)do N=N+1 end while F<bN-N and u:byte(-1-F)==n:byte(-1-F)do F=F+1 end
return N+F>=2 and cG-N-F<=2 end local function ct(a,B,u) local ai={} for R,H in ipairs(bo)do
if af(B,H[1])and bQ(a,H[1])then ai[#ai+1]=H[2] end end for R,ae in ipairs({'FULL','LINE','HEADERS'})do ai[#ai+1]=ae end
for R,n in ipairs(ai)do if cA(u:upper(),ax(n,'^%u+'))then U('ERR syntax error: no such option, but there is '..n) end
end local F=table.remove(ai) local du=table.concat(ai,', ')
U('ERR syntax error: after limit come '..du..' or '..F..', each at most once') end local function dh(H,a,B)
local n,dy=H[1],a.ag if not af(B,n)then U(v('ERR invalid %s: only %s it',n,H[3])) elseif not bQ(a,n)then
U(v('ERR invalid %s: %s takes none',n,('LEAKY'))) elseif a[n]~=nil then
U(v('ERR syntax error: %s comes at most once',H[2])) end end local function cX(n,h,dA) if n=='AS'then
return h and#h>=1 and#h<=64 and not V(h,'[^%w._-]')and h or J('AS') elseif n=='AT'then
local j=h and aW(h,'9223372036854775807') return j and ay(ba(j),(au(aO,1000)))or J('AT') end
return bD(n,h,n=='BURST'and 1 or 0) end local function dg(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
J(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
J(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bW={FULL=true,LINE=true,HEADERS=true}
local function cN(ae,bC) if ae then J(ae==bC and'FORM_TWICE'or'TWO_FORMS') end return bC end local function cV(a,t,d,B)
while t[d]do local u,H=t[d]:upper(),nil for R,by in ipairs(bo)do H=by[1]==u and by or H end if H then dh(H,a,B)
if H[2]==u then a[u]=true d=d+1 else a[u]=cX(u,t[d+1],t[d+2]) d=d+(u=='RESERVE'and 3 or 2) end dg(a)
elseif bW[u]and af(B,'form')then a.form=cN(a.form,u) d=d+1 else return d end end return d end
local bp={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cY(h) local ah,bR=ax(h,'^(%d+)(%l*)$')
local C=ah and bp[bR]and aW(ah,'18446744073709551615')and ah*bp[bR] return C and C>=1 and C<=1e15 and C or nil end
local bX={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dv(a,h) local q=cY(h)
if not q then a.ae=h:upper() q=bX[a.ae] if not q then
J(af((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not af((' COST PARTIAL BURST '),'ANCHOR')then
U(v('ERR invalid window: %s takes no windows of the calendar',('LEAKY'))) end end return q end local function cv(r)
return r:sub(-9)==':reserved'or r:sub(-14)==':reserved:ends' end local function di(r) if cv(r)then J('RESERVED_KEY') end
end local function cd(a) local cP=a.PARTIAL and a.p<a.f a.v=a.SHADOW and not a.x and(cP or not a.allowed)
if not a.allowed and(a.v or a.x)then a.allowed=true if not(nil)then local R,R,R,bk=aH(a) a.ttl=ak(bk) end end end
local function de(a) aZ(a,'keep',a.e) return a.remaining end local function cS(a,R,i) if i==0 or a.limit==0 then
return'keep' end local aj=D(aA(a,a.e),A(i,a.j)) if w(A(aN,a.j),aj)then J('OVERFLOW') end local at,k=au(aj,a.j)
local ao=k==0 and a.b or a.b-1 local l,T=ay(at,ao),Q(at,ao) return'charge',{i=l,g=k,a=a.a,at=a.r,c=T} end
local function cM(i) return i==0 and 1 or i end local function cg(a) local i=a.f aU(a,0) local o,x=cS(a,nil,i)
if i>0 then a.k,a.o=o,x end local ar=bO(a.k,a.o,a.e) aZ(a,a.k,ar) a.allowed=a.b>0 and s(a,0)==0 a.A=a.b>0 and i or cM(i)
if(nil)then a.count,a.ttl=(nil)(ar,a.now_ms) elseif a.allowed then a.ttl=ak(ad(s(a,a.b))) else local s=s(a,a.A)
a.ttl=s and math.max(1,ak(ad(s)))or-1 end end local function ch(a) local i=a.f if a.PARTIAL then i=math.min(i,de(a)) end
a.p=i if a.ALWAYS then cg(a) else aU(a,i) end end local function dr(e) local bm='' while e-e~=0 do local m
e,m=au(e,10000000) bm=v('%07.0f',m)..bm end return v('%.0f',e)..bm end local function al(e) if e-e~=0 then return dr(e)
end return v('%.0f',e) end local function dm(r,bt) if bt then Z('PEXPIREAT',r,al(bt)) end end local function co(f)
local l,k,q,d=f.i,f.g,f.a,f.at local h='L:'..al(l)..':'..al(k)..':'..al(q)..':'..al(d)
return f.c==0 and h or h..':'..al(f.c) end local function bv(f) local l,k,q,d=f.i,f.g,f.a,f.at
if f.c~=0 or l-l~=0 or k-k~=0 or d-d~=0 then return co(f) end return v('L:%.0f:%.0f:%.0f:%.0f',l,k,q,d) end
local function cc(a,o,x) local r=a.t if o=='delete'then Z('UNLINK',r) return end local E=aY(a,o,x) if o=='keep'then
dm(r,E) elseif E then Z('SET',r,bv(x),'PXAT',E==0 and'1'or al(E)) else Z('SET',r,bv(x),'KEEPTTL') end end
local function cb(a,o,x) cc(a,o,x) end local function bF(a) return a.x and a.x.f or a.v and a.f or a.p end
local function bw(a) if not a.allowed then return 0 end return a.PARTIAL and bF(a)or 1 end local function cu(a,S)
local Y,dk,W,bk,cl=aH(a) return{ 'allowed',bw(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',Y,
'retry_after_ms',dk, 'next_ms',W, 'reset_ms',bk, 'delay_ms',cl, 'now_ms',a.now_ms, 'shadow',a.v and 1 or 0, 'charged',S,
} end local function cK(aD) local bP={} for R,a in ipairs(aD)do local N,ah=a.AS or('LEAKY'):lower(),2 a.n=N
while bP[a.n]do a.n=v('%s-%d',N,ah) ah=ah+1 end bP[a.n]=true end end local function aJ(e)
return v('%.0f',ay(e,999999999999999)) end local function db(a) local q=(nil)and(nil)(a)or a.a local aX,m=1000,q%1000
while m>0 do aX,m=m,aX%m end local bS=1000/aX local I=au(A(q,bS),1000)
return v('"%s";q=%s;w=%s',a.n,aJ(A(a.limit,bS)),aJ(I)) end local function cB(aK,bi) if aK.allowed~=bi.allowed then
return not aK.allowed end local s,bj=aK.retry_after_ms,bi.retry_after_ms if s~=bj then return s<0 or(bj>=0 and s>bj) end
return aK.remaining<bi.remaining end local function cw(aD) local bl,bH=aD[1],{} cK(aD) for e,a in ipairs(aD)do
bH[e]=db(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aH(a) if cB(a,bl)then bl=a end end local a=bl local aE={
'X-RateLimit-Limit', v('%.0f',a.b), 'X-RateLimit-Remaining', v('%.0f',a.remaining), } local function aI(ap,am)
aE[#aE+1]=ap aE[#aE+1]=am end if a.reset_ms>=0 then aI('X-RateLimit-Reset',v('%.0f',ak(a.now_ms+a.reset_ms))) end
aI('RateLimit-Policy',table.concat(bH,', ')) local cH=a.next_ms>=0 and';t='..aJ(ak(a.next_ms))or''
aI('RateLimit',v('"%s";r=%s%s',a.n,aJ(a.remaining),cH)) if not a.allowed and a.retry_after_ms>=0 then
aI('Retry-After',v('%.0f',ak(a.retry_after_ms))) end return aE end local function cQ(a,S) if a.form=='FULL'then
return cu(a,S) end return{bw(a),a.count,a.ttl,cw({a})} end
aM={E=bZ,F=cb,G=cd,H=cf,I=ch,J=ac,y=cm,error_reply=cp,K=cq,l=J,M=cs,N=ct,P=av,S=cy,U=cz,V=bB,W=cI,z=cJ,B=cO,X=cQ,Y=bD,u=bE,Z=cV,D=bF,refund=dd,ab=di,ac=dj,ad=dp,af=dv}
end return aM end local cn,bK=pcall(dl,KEYS,ARGV) return cn and bK or g().error_reply(bK)
