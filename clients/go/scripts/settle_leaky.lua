-- RL.SETTLE LEAKY, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aO,g local V,v,ax,dC=string.find,string.format,string.match,string.sub local function A(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return g().z(b,c) end local function bL(a) a.q=A(a.b,a.i)
if a.q-a.q~=0 then g().ad(a) end end local function cZ(t,d,B) local I,O,n=t[d],t[d+1],t[d+2] if not O then
g().l('ARITY') end local a={ t='', r=0, now_ms=0, a=0, i=0, limit=0, b=0, j=1, form=nil, w=0, e=nil, o=nil,
allowed=false, count=0, ttl=0, k='keep', remaining=0, p=1, } d=d+2
if n=='LINE'and not t[d+1]and B~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,d=n,d+1 elseif n then
local am=t[d+1]or''
local bz=B==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[d+2]=='LINE'and not t[d+3]and#am<16
if bz and n=='COST'and(' COST PARTIAL BURST ')~=' ID 'and V(am,'^[1-9]%d*$')then a.form,a.j,d='LINE',am+0,d+3
elseif bz and n=='ID'and(' COST PARTIAL BURST ')==' ID 'and am~=''then a.form,a.ID,d='LINE',am,d+3 else
d=g().aa(a,t,d,B) a.j=a.COST or 1 end end local bf=#O<16 and V(O,'^[1-9]%d*$') a.limit=bf and O+0 or g().Z('limit',O,0)
bf=#I<10 and V(I,'^[1-9]%d*$') local q=bf and I*1000 or g().ag(a,I)
a.a,a.i,a.b=q,q<9e12 and q*1000 or g().z(q,1000),a.BURST or a.limit if bL then bL(a) end return a,d end
local function cW(t,B) local a,d=cZ(t,1,B) if t[d]then g().N(a,B,t[d]) end return a end local function cX(t,B)
if not t[1+1]then g().l('ARITY') end return cW(t,B) end local Z=redis.call local function df(a) local K=Z('TIME')
local ag=K[1]*1000000+K[2] a.r,a.now_ms=ag,(ag-ag%1000)/1000 end local function dt(a,an,d,bW,bg) local r=an[d]
if not r then g().l('KEYS') end a.t,d=r,d+1 if bg then a.n=r elseif V(r,':reserved',1,true)then g().ac(r) end return d
end local function dd(a,an,bW,bg) df(a) if#an~=dt(a,an,1,bW,bg)-1 then g().l('KEYS') end end local function dz(h,dc)
local b,c,aT,aV,m=ax(h,dc) if not b then return nil elseif V(h,':0%d')then return nil end local F=#aV<17 and aV+0
return#b<16 and b+0 or g().u(b), #c<16 and c+0 or g().u(c), #aT<16 and aT+0 or g().u(aT),
F and F<9e15 and F or g().u(aV), m end local function cG(C) return C and C-C==0 and C>=1 and C<=1e15 end
local function cn(h) local l,k,q,d,m=dz(h,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not cG(q)or not l or not k or not d then
return nil end local T=0 if m~=''then T=g().H(m) if not T then return nil end end
if l-l~=0 or d-d~=0 or k-k~=0 or k>=q*1000 then if g().U(l,k,q,d)then return nil end end return{g=l,f=k,a=q,at=d,c=T}
end local function cJ(a) local h=Z('GET',a.t) if h then a.e=cn(h)or g().M(h,('LEAKY'),'FOREIGN_VALUE') end end
local function D(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return g().E(b,c) end local function X(b,c)
if b-b==0 and c-c==0 then local m=b%c return m==0 and b/c or(b-m)/c+1 end local aq,m=g().y(b,c)
return m==0 and aq or D(aq,1) end local function aN(a,aj) local K=X(aj,a.limit) return K-K==0 and K or g().B(K) end
local function w(b,c) if b-b==0 and c-c==0 then return b<c end return g().V(b,c) end local function ay(b,c)
return w(c,b)and c or b end local function bJ(a,f) local k,I,l=f.f,a.i,f.g if f.a~=a.a and k~=0 then
k=X(A(k,I),A(f.a,1000)) end l=ay(D(A(l,I),k),a.q) return f.c==0 and l or D(l,A(f.c,I)) end local function E(a,f)
local d=f.at if a.limit>0 then d=D(d,aN(a,bJ(a,f))) d=d-d==0 and d or g().B(d) end return X(d,1000) end
local function bR(o,x,y) if o=='keep'then return y end return o~='delete'and x or nil end local function cv(r,bj)
if not redis.REDIS_VERSION_NUM then return g().K(r,bj) end local d=Z('PEXPIRETIME',r) return d>=0 and d or nil end
local function ba(a,o,x) local y,aX=a.e,true if o=='keep'and(not y or not aX)then return nil end
local z=y and cv(a.t,a.now_ms) if z and z>=(2^53)then z=g().P(g().J(z)) end if o=='keep'then local G=E(a,y)
return z and w(z,G)and D(G,5000)or nil end local G=E(a,x) local aw=D(G,5000) if not y then return aw elseif not z then
return aw end if aX and o=='rebase'then return g().W(z,E(a,y),G) elseif w(z,G)then return aw
elseif not w(aw,z)or(aX and w(D(E(a,y),5000),z))then return nil end return aw end local function Q(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return g().ae(b,c) end local function aA(a,f) if not f then
return 0 end return Q(bJ(a,f),A(Q(a.r,f.at),a.limit)) end local function au(b,c) if b-b==0 and c-c==0 then local m=b%c
return(b-m)/c,m end return g().y(b,c) end local function ad(e) if e-e~=0 or e>=(2^53)then g().l('INEXACT_REPLY') end
return e end local function bP(a,aj) a.ab=aj a.remaining=a.limit==0 and 0 or Q(a.b,X(aj,a.i)) end local function s(a,i)
local O,bO=a.limit,a.b-i if O==0 or bO<0 then return nil end local K=X(Q(a.ab,A(bO,a.i)),O)
if K-K~=0 and g().S(D(K,a.r))then return nil end return X(K,1000) end local function ak(C) local m=C%1000
return C<0 and-1 or m==0 and C/1000 or(C-m)/1000+1 end local function dw(a,i) local s=s(a,i==0 and 1 or i)
s=s and ak(ad(s))or-1 return s==0 and 1 or s end local function aW(a,i) local f,O,I,ag=a.e,a.limit,a.i,a.r
local y=aA(a,f) local G=D(y,A(i==0 and 1 or i,I)) local aH=O>0 and not w(a.q,G) local at,k=au(y,I)
a.allowed,a.count,a.k=aH,ad(k==0 and at or D(at,1)),'keep' if aH and i>0 then a.k='charge'
a.o={g=D(at,i),f=k,a=a.a,at=ag,c=0} a.ttl=ad(X(aN(a,G),1000000)) else if f and O>0 and w(ag,f.at)then a.k='rebase'
a.o={g=f.g,f=f.f,a=f.a,at=ag,c=f.c} end if aH then a.ttl=ad(X(aN(a,y),1000000)) else bP(a,y) a.ttl=dw(a,i) end end
a.w=true and aH and aN(a,y)or 0 end local function cm(a) if a.PARTIAL or a.ALWAYS then g().I(a) else local i=a.j a.p=i
aW(a,i) end if a.SHADOW then g().G(a) end end local function bb(a,R,f) bP(a,aA(a,f)) end local function aJ(a)
local o,s=a.k,s bb(a,o,o=='keep'and a.e or o~='delete'and a.o or nil) local Y,aU,P,W,ab=a.remaining,a.b,0,0,0
if not a.allowed then local i=a.p P=s(a,a.A or(i==0 and 1 or i))or-1 if a.Q and P>=0 then P=math.max(P,a.Q) end end
if Y<aU then W=s(a,Y+1)or-1 ab=Y+1==aU and W or s(a,aU)or-1 end
if P-P~=0 or W-W~=0 or ab-ab~=0 or P>=(2^53)or ab>=(2^53)then g().l('INEXACT_REPLY') end if a.w~=0 then
return Y,P,W,ab,ad(X(a.w,1000)) end return Y,P,W,ab,0 end local function cH(a,S) local Y,P,W,ab,co=aJ(a)
local dr=a.v and 1 or 0 return v( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and g().D(a)or 1)or 0,a.count,a.ttl,a.b,Y,P,W,ab, co,a.now_ms,dr,S ) end local function di(a,S)
local ae=a.form if ae=='LINE'then return cH(a,S) elseif ae then return g().X(a,S) end
return{a.allowed and(a.PARTIAL and g().D(a)or 1)or 0,a.count,a.ttl} end local function ch(a,o,x,S) local bu
local E,y,ar=nil,a.e,bR(o,x,a.e) if ar and ba then E=ba(a,o,x) end if E and w(E,a.now_ms)then ar=nil end a.e=ar cm(a)
bu=di(a,S) a.e=y if not a.ai then g().F(a,o,x) end return bu end local function dp(an,t)
local a=cX(t,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ') local bm,aG=a.RESERVED,a.ACTUAL
if not bm or not aG then g().l('SETTLEMENT') end local aI=math.abs(bm-aG) dd(a,an) cJ(a,'write')
local ci=aG<bm and g().refund or g().Y local o,x=ci(a,a.AT,aI) return ch(a,o,x,aG) end function g() if not aO then
local p={} p.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
p.OVERFLOW='ERR increment or decrement would overflow'
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
..'reservations' p.ARITY='ERR wrong number of arguments'
p.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
p.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local aF={ __sub=function()
return 1 end, } local aQ=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aF) local function cS(bi) return ay(bi,aQ) end
local function cC(bi) return w(aQ,bi) end local cb=setmetatable({6553600,11973543,3552},aF) local function U(h)
error({err=h},0) end local function J(ap) U(p[ap]) end local function dm(a) if a.limit>0 and w(A(a.limit,cb),a.q)then
J('SPAN') end end local aP=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aF) local function be(e) return w(aP,e) end
local function cD(l,k,q,d) local dv=be(l)or(not w(l,aP)and k~=0) return dv or be(d)or not w(k,A(q,1000)) end
local function aS(b,c) for d=1,math.min(#b,#c)do local bX,bY=b:byte(d),c:byte(d) if bX~=bY then return bX<bY end end
return#b<#c end local function bc(j) if#j<=15 or(#j==16 and aS(j,'9007199254740992'))then return j+0 end local bd=#j%7
local e=bd>0 and j:sub(1,bd)+0 or 0 for d=bd+1,#j,7 do e=D(A(e,10000000),j:sub(d,d+6)+0) end return e end
local function bH(j) if#j>1 and j:byte()==48 then return nil
elseif#j<20 or(#j==20 and not aS('18446744073709551615',j))then return bc(j) end end local function cj(m)
local j=ax(m,'^:(%d+)$') local T=j and bH(j) return T and T~=0 and not be(T)and T or nil end local function dg(a,R,i)
local f=a.e if not f or i==0 or aA(a,f)==0 then return'keep' end local l,k=f.g,f.f if not w(l,a.b)then l,k=a.b,0 end
local m=Q(i,f.c) if w(l,m)then l,k=0,0 else l=Q(l,m) end local bM= {g=l,f=k,a=f.a,at=f.at,c=Q(f.c,i)}
if aA(a,bM)==0 then return'delete' end return'refund',bM end local function bF(a,R,i) if i==0 or a.limit==0 then
return'keep' end local aj=D(aA(a,a.e),A(i,a.i)) if w(A(aP,a.i),aj)then J('OVERFLOW') end local at,k=au(aj,a.i)
local ao=k==0 and a.b or a.b-1 local l,T=ay(at,ao),Q(at,ao) return'charge',{g=l,f=k,a=a.a,at=a.r,c=T} end
local function cw(h,u,cV) local dA={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bq=dA[ax(h,'^(%u):')]
if not bq or bq==u then J(cV) end U('ERR the key holds a state of '..bq..': use another key for each algorithm') end
local function ct(aC) if type(aC)=='table'then return aC elseif V(aC,'^%u+ ')then return redis.error_reply(aC) end
error(aC,0) end local function ac(e) if e-e~=0 then return e end local j,L={},0 while e>0 do local M=e%(2^24) L=L+1
j[L]=M e=(e-M)/(2^24) end return j end local function av(j) local L=#j while L>0 and j[L]==0 do j[L]=nil L=L-1 end
if L>3 or(L==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,aF) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function bD(b,c) local bt,cd=b-b==0,c-c==0
if bt or cd then return bt elseif#b~=#c then return#b<#c end for e=#b,1,-1 do if b[e]~=c[e]then return b[e]<c[e] end end
return false end local function cc(b,c) b,c=ac(b),ac(c) local as,aa={},0 for e=1,math.max(#b,#c)+1 do
local M=(b[e]or 0)+(c[e]or 0)+aa aa=M>=(2^24)and 1 or 0 as[e]=M-aa*(2^24) end return av(as) end local function ds(b,c)
if not bD(c,b)then return 0 end c=ac(c) local aI,aR={},0 for e=1,#b do local M=b[e]-(c[e]or 0)-aR aR=M<0 and 1 or 0
aI[e]=M+aR*(2^24) end return av(aI) end local function cN(b,c) b,c=ac(b),ac(c) local aB={} for e=1,#b+#c do aB[e]=0 end
for e=1,#b do local aa=0 for bh=1,#c do local M=aB[e+bh-1]+b[e]*c[bh]+aa aa=math.floor(M/(2^24)) aB[e+bh-1]=M-aa*(2^24)
end aB[e+#c]=aa end return av(aB) end local function bv(e) if e-e==0 then return e end local as=0 for cB=#e,1,-1 do
as=as*(2^24)+e[cB] end return as end local function cq(b,c) local aq=0 while not w(b,c)do
local k=math.max(1,math.floor(bv(b)/bv(c)*(1-2^-45))) k=av(ac(k)) aq=D(aq,k) b=Q(b,A(k,c)) end return aq,b end
local function cu(r,bj) local bC=Z('PTTL',r) return bC>=0 and bj+bC or nil end local function cM(z,cP,G) if z-z~=0 then
J('INEXACT_STATE') end local az=Q(z,Q(cP,G)) az=w(az,G)and G or az return az~=z and az or nil end
local function aY(h,ao) if h~='0'and not V(h,'^[1-9]%d*$')then return nil end
return(#h<#ao or(#h==#ao and not aS(ao,h)))and h or nil end local function bG(ap,h,bB)
local j=h and aY(h,'9223372036854775807') local e=j and bc(j) if not e or e==0 and bB>0 then
U(v('ERR invalid %s: expected an integer from %d to 9223372036854775807',ap,bB)) elseif e-e~=0 then
U(v('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ap)) end return e end local br={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function af(cI,u)
return not V(u,' ',1,true)and V(cI,' '..u..' ',1,true)~=nil end local function bT(a,n)
return not af(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or af((' COST PARTIAL BURST '),n)
end local function cE(u,n) local N,F=0,0 local bQ,cK=math.min(#u,#n),math.max(#u,#n)
while N<bQ and u:byte(N+1)==n:byte(N+1)do N=N+1 end while F<bQ-N and u:byte(-1-F)==n:byte(-1-F)do F=F+1 end
return N+F>=2 and cK-N-F<=2 end local function cx(a,B,u) local ai={} for R,H in ipairs(br)do
if af(B,H[1])and bT(a,H[1])then ai[#ai+1]=H[2] end end for R,ae in ipairs({'FULL','LINE','HEADERS'})do ai[#ai+1]=ae end
for R,n in ipairs(ai)do if cE(u:upper(),ax(n,'^%u+'))then U('ERR syntax error: no such option, but there is '..n) end
end local F=table.remove(ai) local dx=table.concat(ai,', ')
U('ERR syntax error: after limit come '..dx..' or '..F..', each at most once') end local function dk(H,a,B)
local n,dB=H[1],a.ah if not af(B,n)then U(v('ERR invalid %s: only %s it',n,H[3])) elseif not bT(a,n)then
U(v('ERR invalid %s: %s takes none',n,('LEAKY'))) elseif a[n]~=nil then
U(v('ERR syntax error: %s comes at most once',H[2])) end end local function da(n,h,dD) if n=='AS'then
return h and#h>=1 and#h<=64 and not V(h,'[^%w._-]')and h or J('AS') elseif n=='AT'then
local j=h and aY(h,'9223372036854775807') return j and ay(bc(j),(au(aQ,1000)))or J('AT') end
return bG(n,h,n=='BURST'and 1 or 0) end local function dj(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
J(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
J(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bZ={FULL=true,LINE=true,HEADERS=true}
local function cR(ae,bE) if ae then J(ae==bE and'FORM_TWICE'or'TWO_FORMS') end return bE end local function cY(a,t,d,B)
while t[d]do local u,H=t[d]:upper(),nil for R,bA in ipairs(br)do H=bA[1]==u and bA or H end if H then dk(H,a,B)
if H[2]==u then a[u]=true d=d+1 else a[u]=da(u,t[d+1],t[d+2]) d=d+(u=='RESERVE'and 3 or 2) end dj(a)
elseif bZ[u]and af(B,'form')then a.form=cR(a.form,u) d=d+1 else return d end end return d end
local bs={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function db(h) local ah,bU=ax(h,'^(%d+)(%l*)$')
local C=ah and bs[bU]and aY(ah,'18446744073709551615')and ah*bs[bU] return C and C>=1 and C<=1e15 and C or nil end
local ca={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dy(a,h) local q=db(h)
if not q then a.af=h:upper() q=ca[a.af] if not q then
J(af((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not af((' COST PARTIAL BURST '),'ANCHOR')then
U(v('ERR invalid window: %s takes no windows of the calendar',('LEAKY'))) end end return q end local function cz(r)
return r:sub(-9)==':reserved'or r:sub(-14)==':reserved:ends' end local function dl(r) if cz(r)then J('RESERVED_KEY') end
end local function cg(a) local cT=a.PARTIAL and a.p<a.j a.v=a.SHADOW and not a.x and(cT or not a.allowed)
if not a.allowed and(a.v or a.x)then a.allowed=true if not(nil)then local R,R,R,bn=aJ(a) a.ttl=ak(bn) end end end
local function dh(a) bb(a,'keep',a.e) return a.remaining end local function cQ(i) return i==0 and 1 or i end
local function ck(a) local i=a.j aW(a,0) local o,x=bF(a,nil,i) if i>0 then a.k,a.o=o,x end local ar=bR(a.k,a.o,a.e)
bb(a,a.k,ar) a.allowed=a.b>0 and s(a,0)==0 a.A=a.b>0 and i or cQ(i) if(nil)then a.count,a.ttl=(nil)(ar,a.now_ms)
elseif a.allowed then a.ttl=ak(ad(s(a,a.b))) else local s=s(a,a.A) a.ttl=s and math.max(1,ak(ad(s)))or-1 end end
local function cl(a) local i=a.j if a.PARTIAL then i=math.min(i,dh(a)) end a.p=i if a.ALWAYS then ck(a) else aW(a,i) end
end local function du(e) local bp='' while e-e~=0 do local m e,m=au(e,10000000) bp=v('%07.0f',m)..bp end
return v('%.0f',e)..bp end local function al(e) if e-e~=0 then return du(e) end return v('%.0f',e) end
local function dq(r,bw) if bw then Z('PEXPIREAT',r,al(bw)) end end local function cs(f) local l,k,q,d=f.g,f.f,f.a,f.at
local h='L:'..al(l)..':'..al(k)..':'..al(q)..':'..al(d) return f.c==0 and h or h..':'..al(f.c) end local function bx(f)
local l,k,q,d=f.g,f.f,f.a,f.at if f.c~=0 or l-l~=0 or k-k~=0 or d-d~=0 then return cs(f) end
return v('L:%.0f:%.0f:%.0f:%.0f',l,k,q,d) end local function cf(a,o,x) local r=a.t if o=='delete'then Z('UNLINK',r)
return end local E=ba(a,o,x) if o=='keep'then dq(r,E) elseif E then Z('SET',r,bx(x),'PXAT',E==0 and'1'or al(E)) else
Z('SET',r,bx(x),'KEEPTTL') end end local function ce(a,o,x) cf(a,o,x) end local function bI(a)
return a.x and a.x.j or a.v and a.j or a.p end local function by(a) if not a.allowed then return 0 end
return a.PARTIAL and bI(a)or 1 end local function cy(a,S) local Y,dn,W,bn,cp=aJ(a) return{ 'allowed',by(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',Y, 'retry_after_ms',dn, 'next_ms',W, 'reset_ms',bn,
'delay_ms',cp, 'now_ms',a.now_ms, 'shadow',a.v and 1 or 0, 'charged',S, } end local function cO(aD) local bS={}
for R,a in ipairs(aD)do local N,ah=a.AS or('LEAKY'):lower(),2 a.n=N while bS[a.n]do a.n=v('%s-%d',N,ah) ah=ah+1 end
bS[a.n]=true end end local function aL(e) return v('%.0f',ay(e,999999999999999)) end local function de(a)
local q=(nil)and(nil)(a)or a.a local aZ,m=1000,q%1000 while m>0 do aZ,m=m,aZ%m end local bV=1000/aZ
local I=au(A(q,bV),1000) return v('"%s";q=%s;w=%s',a.n,aL(A(a.limit,bV)),aL(I)) end local function cF(aM,bk)
if aM.allowed~=bk.allowed then return not aM.allowed end local s,bl=aM.retry_after_ms,bk.retry_after_ms if s~=bl then
return s<0 or(bl>=0 and s>bl) end return aM.remaining<bk.remaining end local function cA(aD) local bo,bK=aD[1],{} cO(aD)
for e,a in ipairs(aD)do bK[e]=de(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aJ(a) if cF(a,bo)then bo=a end end
local a=bo local aE={ 'X-RateLimit-Limit', v('%.0f',a.b), 'X-RateLimit-Remaining', v('%.0f',a.remaining), }
local function aK(ap,am) aE[#aE+1]=ap aE[#aE+1]=am end if a.reset_ms>=0 then
aK('X-RateLimit-Reset',v('%.0f',ak(a.now_ms+a.reset_ms))) end aK('RateLimit-Policy',table.concat(bK,', '))
local cL=a.next_ms>=0 and';t='..aL(ak(a.next_ms))or'' aK('RateLimit',v('"%s";r=%s%s',a.n,aL(a.remaining),cL))
if not a.allowed and a.retry_after_ms>=0 then aK('Retry-After',v('%.0f',ak(a.retry_after_ms))) end return aE end
local function cU(a,S) if a.form=='FULL'then return cy(a,S) end return{by(a),a.count,a.ttl,cA({a})} end
aO={E=cc,F=ce,G=cg,H=cj,I=cl,J=ac,y=cq,error_reply=ct,K=cu,l=J,M=cw,N=cx,P=av,S=cC,U=cD,V=bD,W=cM,z=cN,B=cS,X=cU,Y=bF,Z=bG,u=bH,aa=cY,D=bI,refund=dg,ac=dl,ad=dm,ae=ds,ag=dy}
end return aO end local cr,bN=pcall(dp,KEYS,ARGV) return cr and bN or g().error_reply(bN)
