-- RL.SETTLE TOKEN, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aQ,g local Z,v,ap,dD=string.find,string.format,string.match,string.sub local function bP(X) return X==''and 1000
or X=='ms'and 1 or X=='s'and 1000 or X=='m'and 60000 or X=='h'and 3600000 or X=='d'and 86400000 or nil end
local function A(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return g().v(b,c) end local function bL(a)
a.n=A(a.b,a.g) if a.n-a.n~=0 then g().Z(a) end end local function da(t,d,B) local K,O,n=t[d],t[d+1],t[d+2] if not O then
g().j('ARITY') end local a={ p='', o=0, now_ms=0, a=0, g=0, limit=0, b=0, h=1, form=nil, s=0, d=nil, l=nil,
allowed=false, count=0, ttl=0, i='keep', remaining=0, m=1, } d=d+2
if n=='LINE'and not t[d+1]and B~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,d=n,d+1 elseif n then
local an=t[d+1]or''
local bz=B==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[d+2]=='LINE'and not t[d+3]and#an<16
if bz and n=='COST'and(' COST PARTIAL BURST ALWAYS ')~=' ID 'and Z(an,'^[1-9]%d*$')then a.form,a.h,d='LINE',an+0,d+3
elseif bz and n=='ID'and(' COST PARTIAL BURST ALWAYS ')==' ID 'and an~=''then a.form,a.ID,d='LINE',an,d+3 else
d=g().W(a,t,d,B) a.h=a.COST or 1 end end local cF=#O<16 and Z(O,'^[1-9]%d*$') a.limit=cF and O+0 or g().V('limit',O,0)
local W,X=ap(K,'^([1-9]%d*)(%l*)$') local aF=W and#K<16 and bP(X) local o=aF and W*aF if not o or o<1 or o>1e15 then
o=g().ac(a,K) end a.a,a.g,a.b=o,o<9e12 and o*1000 or g().v(o,1000),a.BURST or a.limit if bL then bL(a) end return a,d
end local function cX(t,B) local a,d=da(t,1,B) if t[d]then g().I(a,B,t[d]) end return a end local function cY(t,B)
if not t[1+1]then g().j('ARITY') end return cX(t,B) end local ab=redis.call local function dg(a) local J=ab('TIME')
local ai=J[1]*1000000+J[2] a.o,a.now_ms=ai,(ai-ai%1000)/1000 end local function du(a,ao,d,bW,bh) local r=ao[d]
if not r then g().j('KEYS') end a.p,d=r,d+1 if bh then a.k=r elseif Z(r,':reserved',1,true)then g().Y(r) end return d
end local function de(a,ao,bW,bh) dg(a) if#ao~=du(a,ao,1,bW,bh)-1 then g().j('KEYS') end end local function dA(h,dd)
local b,c,aV,aX,m=ap(h,dd) if not b then return nil elseif Z(h,':0%d')then return nil end local F=#aX<17 and aX+0
return#b<16 and b+0 or g().q(b), #c<16 and c+0 or g().q(c), #aV<16 and aV+0 or g().q(aV),
F and F<9e15 and F or g().q(aX), m end local function cH(C) return C and C-C==0 and C>=1 and C<=1e15 end
local function cn(h) local l,k,o,d,m=dA(h,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not cH(o)or not l or not k or not d then
return nil end local T=0 if m~=''then T=g().D(m) if not T then return nil end end
if l-l~=0 or d-d~=0 or k-k~=0 or k>=o*1000 then if g().N(l,k,o,d)then return nil end end return{f=l,e=k,a=o,at=d,c=T}
end local function cK(a) local h=ab('GET',a.p) if h then a.d=cn(h)or g().H(h,('TOKEN'),'FOREIGN_VALUE') end end
local function D(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return g().z(b,c) end local function Y(b,c)
if b-b==0 and c-c==0 then local m=b%c return m==0 and b/c or(b-m)/c+1 end local as,m=g().u(b,c)
return m==0 and as or D(as,1) end local function aP(a,ak) local J=Y(ak,a.limit) return J-J==0 and J or g().x(J) end
local function w(b,c) if b-b==0 and c-c==0 then return b<c end return g().P(b,c) end local function az(b,c)
return w(c,b)and c or b end local function bJ(a,f) local k,K,l=f.e,a.g,f.f if f.a~=a.a and k~=0 then
k=Y(A(k,K),A(f.a,1000)) end l=az(D(A(l,K),k),a.n) return f.c==0 and l or D(l,A(f.c,K)) end local function E(a,f)
local d=f.at if a.limit>0 then d=D(d,aP(a,bJ(a,f))) d=d-d==0 and d or g().x(d) end return Y(d,1000) end
local function bS(p,x,y) if p=='keep'then return y end return p~='delete'and x or nil end local function cv(r,bk)
if not redis.REDIS_VERSION_NUM then return g().G(r,bk) end local d=ab('PEXPIRETIME',r) return d>=0 and d or nil end
local function bc(a,p,x) local y,aZ=a.d,true if p=='keep'and(not y or not aZ)then return nil end
local z=y and cv(a.p,a.now_ms) if z and z>=(2^53)then z=g().J(g().F(z)) end if p=='keep'then local G=E(a,y)
return z and w(z,G)and D(G,5000)or nil end local G=E(a,x) local ay=D(G,5000) if not y then return ay elseif not z then
return ay end if aZ and p=='rebase'then return g().Q(z,E(a,y),G) elseif w(z,G)then return ay
elseif not w(ay,z)or(aZ and w(D(E(a,y),5000),z))then return nil end return ay end local function Q(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return g().aa(b,c) end local function aB(a,f) if not f then
return 0 end return Q(bJ(a,f),A(Q(a.o,f.at),a.limit)) end local function aw(b,c) if b-b==0 and c-c==0 then local m=b%c
return(b-m)/c,m end return g().u(b,c) end local function af(e) if e-e~=0 or e>=(2^53)then g().j('INEXACT_REPLY') end
return e end local function bQ(a,ak) a.X=ak a.remaining=a.limit==0 and 0 or Q(a.b,Y(ak,a.g)) end local function s(a,i)
local O,bO=a.limit,a.b-i if O==0 or bO<0 then return nil end local J=Y(Q(a.X,A(bO,a.g)),O)
if J-J~=0 and g().M(D(J,a.o))then return nil end return Y(J,1000) end local function al(C) local m=C%1000
return C<0 and-1 or m==0 and C/1000 or(C-m)/1000+1 end local function dx(a,i) local s=s(a,i==0 and 1 or i)
s=s and al(af(s))or-1 return s==0 and 1 or s end local function aY(a,i) local f,O,K,ai=a.d,a.limit,a.g,a.o
local y=aB(a,f) local G=D(y,A(i==0 and 1 or i,K)) local aJ=O>0 and not w(a.n,G) local av,k=aw(y,K)
a.allowed,a.count,a.i=aJ,af(k==0 and av or D(av,1)),'keep' if aJ and i>0 then a.i='charge'
a.l={f=D(av,i),e=k,a=a.a,at=ai,c=0} a.ttl=af(Y(aP(a,G),1000000)) else if f and O>0 and w(ai,f.at)then a.i='rebase'
a.l={f=f.f,e=f.e,a=f.a,at=ai,c=f.c} end if aJ then a.ttl=af(Y(aP(a,y),1000000)) else bQ(a,y) a.ttl=dx(a,i) end end
a.s=false and aJ and aP(a,y)or 0 end local function cm(a) if a.PARTIAL or a.ALWAYS then g().E(a) else local i=a.h a.m=i
aY(a,i) end if a.SHADOW then g().B(a) end end local function bd(a,R,f) bQ(a,aB(a,f)) end local function aL(a)
local p,s=a.i,s bd(a,p,p=='keep'and a.d or p~='delete'and a.l or nil) local aa,aW,P,V,ad=a.remaining,a.b,0,0,0
if not a.allowed then local i=a.m P=s(a,a.w or(i==0 and 1 or i))or-1 if a.K and P>=0 then P=math.max(P,a.K) end end
if aa<aW then V=s(a,aa+1)or-1 ad=aa+1==aW and V or s(a,aW)or-1 end
if P-P~=0 or V-V~=0 or ad-ad~=0 or P>=(2^53)or ad>=(2^53)then g().j('INEXACT_REPLY') end if a.s~=0 then
return aa,P,V,ad,af(Y(a.s,1000)) end return aa,P,V,ad,0 end local function cI(a,S) local aa,P,V,ad,co=aL(a)
local ds=a.r and 1 or 0 return v( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and g().y(a)or 1)or 0,a.count,a.ttl,a.b,aa,P,V,ad, co,a.now_ms,ds,S ) end local function dj(a,S)
local ag=a.form if ag=='LINE'then return cI(a,S) elseif ag then return g().S(a,S) end
return{a.allowed and(a.PARTIAL and g().y(a)or 1)or 0,a.count,a.ttl} end local function ch(a,p,x,S) local bu
local E,y,at=nil,a.d,bS(p,x,a.d) if at and bc then E=bc(a,p,x) end if E and w(E,a.now_ms)then at=nil end a.d=at cm(a)
bu=dj(a,S) a.d=y if not a.ae then g().A(a,p,x) end return bu end local function dq(ao,t)
local a=cY(t,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ') local bn,aI=a.RESERVED,a.ACTUAL
if not bn or not aI then g().j('SETTLEMENT') end local aK=math.abs(bn-aI) de(a,ao) cK(a,'write')
local ci=aI<bn and g().refund or g().U local p,x=ci(a,a.AT,aK) return ch(a,p,x,aI) end function g() if not aQ then
local q={} q.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
q.OVERFLOW='ERR increment or decrement would overflow'
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
..'reservations' q.ARITY='ERR wrong number of arguments'
q.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
q.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
q.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
q.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local aH={ __sub=function()
return 1 end, } local aS=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aH) local function cT(bj) return az(bj,aS) end
local function cC(bj) return w(aS,bj) end local cb=setmetatable({6553600,11973543,3552},aH) local function U(h)
error({err=h},0) end local function I(ar) U(q[ar]) end local function dn(a) if a.limit>0 and w(A(a.limit,cb),a.n)then
I('SPAN') end end local aR=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aH) local function bg(e) return w(aR,e) end
local function cD(l,k,o,d) local dw=bg(l)or(not w(l,aR)and k~=0) return dw or bg(d)or not w(k,A(o,1000)) end
local function aU(b,c) for d=1,math.min(#b,#c)do local bX,bY=b:byte(d),c:byte(d) if bX~=bY then return bX<bY end end
return#b<#c end local function be(j) if#j<=15 or(#j==16 and aU(j,'9007199254740992'))then return j+0 end local bf=#j%7
local e=bf>0 and j:sub(1,bf)+0 or 0 for d=bf+1,#j,7 do e=D(A(e,10000000),j:sub(d,d+6)+0) end return e end
local function bH(j) if#j>1 and j:byte()==48 then return nil
elseif#j<20 or(#j==20 and not aU('18446744073709551615',j))then return be(j) end end local function cj(m)
local j=ap(m,'^:(%d+)$') local T=j and bH(j) return T and T~=0 and not bg(T)and T or nil end local function dh(a,R,i)
local f=a.d if not f or i==0 or aB(a,f)==0 then return'keep' end local l,k=f.f,f.e if not w(l,a.b)then l,k=a.b,0 end
local m=Q(i,f.c) if w(l,m)then l,k=0,0 else l=Q(l,m) end local bM= {f=l,e=k,a=f.a,at=f.at,c=Q(f.c,i)}
if aB(a,bM)==0 then return'delete' end return'refund',bM end local function bF(a,R,i) if i==0 or a.limit==0 then
return'keep' end local ak=D(aB(a,a.d),A(i,a.g)) if w(A(aR,a.g),ak)then I('OVERFLOW') end local av,k=aw(ak,a.g)
local aq=k==0 and a.b or a.b-1 local l,T=az(av,aq),Q(av,aq) return'charge',{f=l,e=k,a=a.a,at=a.o,c=T} end
local function cw(h,u,cW) local dB={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local br=dB[ap(h,'^(%u):')]
if not br or br==u then I(cW) end U('ERR the key holds a state of '..br..': use another key for each algorithm') end
local function ct(aD) if type(aD)=='table'then return aD elseif Z(aD,'^%u+ ')then return redis.error_reply(aD) end
error(aD,0) end local function ae(e) if e-e~=0 then return e end local j,L={},0 while e>0 do local M=e%(2^24) L=L+1
j[L]=M e=(e-M)/(2^24) end return j end local function ax(j) local L=#j while L>0 and j[L]==0 do j[L]=nil L=L-1 end
if L>3 or(L==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,aH) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function bD(b,c) local bt,cd=b-b==0,c-c==0
if bt or cd then return bt elseif#b~=#c then return#b<#c end for e=#b,1,-1 do if b[e]~=c[e]then return b[e]<c[e] end end
return false end local function cc(b,c) b,c=ae(b),ae(c) local au,ac={},0 for e=1,math.max(#b,#c)+1 do
local M=(b[e]or 0)+(c[e]or 0)+ac ac=M>=(2^24)and 1 or 0 au[e]=M-ac*(2^24) end return ax(au) end local function dt(b,c)
if not bD(c,b)then return 0 end c=ae(c) local aK,aT={},0 for e=1,#b do local M=b[e]-(c[e]or 0)-aT aT=M<0 and 1 or 0
aK[e]=M+aT*(2^24) end return ax(aK) end local function cO(b,c) b,c=ae(b),ae(c) local aC={} for e=1,#b+#c do aC[e]=0 end
for e=1,#b do local ac=0 for bi=1,#c do local M=aC[e+bi-1]+b[e]*c[bi]+ac ac=math.floor(M/(2^24)) aC[e+bi-1]=M-ac*(2^24)
end aC[e+#c]=ac end return ax(aC) end local function bv(e) if e-e==0 then return e end local au=0 for cB=#e,1,-1 do
au=au*(2^24)+e[cB] end return au end local function cq(b,c) local as=0 while not w(b,c)do
local k=math.max(1,math.floor(bv(b)/bv(c)*(1-2^-45))) k=ax(ae(k)) as=D(as,k) b=Q(b,A(k,c)) end return as,b end
local function cu(r,bk) local bC=ab('PTTL',r) return bC>=0 and bk+bC or nil end local function cN(z,cQ,G) if z-z~=0 then
I('INEXACT_STATE') end local aA=Q(z,Q(cQ,G)) aA=w(aA,G)and G or aA return aA~=z and aA or nil end
local function ba(h,aq) if h~='0'and not Z(h,'^[1-9]%d*$')then return nil end
return(#h<#aq or(#h==#aq and not aU(aq,h)))and h or nil end local function bG(ar,h,bB)
local j=h and ba(h,'9223372036854775807') local e=j and be(j) if not e or e==0 and bB>0 then
U(v('ERR invalid %s: expected an integer from %d to 9223372036854775807',ar,bB)) elseif e-e~=0 then
U(v('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ar)) end return e end local bs={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ah(cJ,u)
return not Z(u,' ',1,true)and Z(cJ,' '..u..' ',1,true)~=nil end local function bU(a,n)
return not ah(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or ah((' COST PARTIAL BURST ALWAYS '),n)
end local function cE(u,n) local N,F=0,0 local bR,cL=math.min(#u,#n),math.max(#u,#n)
while N<bR and u:byte(N+1)==n:byte(N+1)do N=N+1 end while F<bR-N and u:byte(-1-F)==n:byte(-1-F)do F=F+1 end
return N+F>=2 and cL-N-F<=2 end local function cx(a,B,u) local aj={} for R,H in ipairs(bs)do
if ah(B,H[1])and bU(a,H[1])then aj[#aj+1]=H[2] end end for R,ag in ipairs({'FULL','LINE','HEADERS'})do aj[#aj+1]=ag end
for R,n in ipairs(aj)do if cE(u:upper(),ap(n,'^%u+'))then U('ERR syntax error: no such option, but there is '..n) end
end local F=table.remove(aj) local dy=table.concat(aj,', ')
U('ERR syntax error: after limit come '..dy..' or '..F..', each at most once') end local function dl(H,a,B)
local n,dC=H[1],a.ad if not ah(B,n)then U(v('ERR invalid %s: only %s it',n,H[3])) elseif not bU(a,n)then
U(v('ERR invalid %s: %s takes none',n,('TOKEN'))) elseif a[n]~=nil then
U(v('ERR syntax error: %s comes at most once',H[2])) end end local function db(n,h,dE) if n=='AS'then
return h and#h>=1 and#h<=64 and not Z(h,'[^%w._-]')and h or I('AS') elseif n=='AT'then
local j=h and ba(h,'9223372036854775807') return j and az(be(j),(aw(aS,1000)))or I('AT') end
return bG(n,h,n=='BURST'and 1 or 0) end local function dk(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
I(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
I(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bZ={FULL=true,LINE=true,HEADERS=true}
local function cS(ag,bE) if ag then I(ag==bE and'FORM_TWICE'or'TWO_FORMS') end return bE end local function cZ(a,t,d,B)
while t[d]do local u,H=t[d]:upper(),nil for R,bA in ipairs(bs)do H=bA[1]==u and bA or H end if H then dl(H,a,B)
if H[2]==u then a[u]=true d=d+1 else a[u]=db(u,t[d+1],t[d+2]) d=d+(u=='RESERVE'and 3 or 2) end dk(a)
elseif bZ[u]and ah(B,'form')then a.form=cS(a.form,u) d=d+1 else return d end end return d end local function dc(h)
local W,X=ap(h,'^(%d+)(%l*)$') local aF=W and bP(X) local C=aF and ba(W,'18446744073709551615')and W*aF
return C and C>=1 and C<=1e15 and C or nil end
local ca={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dz(a,h) local o=dc(h)
if not o then a.ab=h:upper() o=ca[a.ab] if not o then
I(ah((' COST PARTIAL BURST ALWAYS '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ah((' COST PARTIAL BURST ALWAYS '),'ANCHOR')then
U(v('ERR invalid window: %s takes no windows of the calendar',('TOKEN'))) end end return o end local function cz(r)
return r:sub(-9)==':reserved'or r:sub(-14)==':reserved:ends' end local function dm(r) if cz(r)then I('RESERVED_KEY') end
end local function cg(a) local cU=a.PARTIAL and a.m<a.h a.r=a.SHADOW and not a.t and(cU or not a.allowed)
if not a.allowed and(a.r or a.t)then a.allowed=true if not(nil)then local R,R,R,bo=aL(a) a.ttl=al(bo) end end end
local function di(a) bd(a,'keep',a.d) return a.remaining end local function cR(i) return i==0 and 1 or i end
local function ck(a) local i=a.h aY(a,0) local p,x=bF(a,nil,i) if i>0 then a.i,a.l=p,x end local at=bS(a.i,a.l,a.d)
bd(a,a.i,at) a.allowed=a.b>0 and s(a,0)==0 a.w=a.b>0 and i or cR(i) if(nil)then a.count,a.ttl=(nil)(at,a.now_ms)
elseif a.allowed then a.ttl=al(af(s(a,a.b))) else local s=s(a,a.w) a.ttl=s and math.max(1,al(af(s)))or-1 end end
local function cl(a) local i=a.h if a.PARTIAL then i=math.min(i,di(a)) end a.m=i if a.ALWAYS then ck(a) else aY(a,i) end
end local function dv(e) local bq='' while e-e~=0 do local m e,m=aw(e,10000000) bq=v('%07.0f',m)..bq end
return v('%.0f',e)..bq end local function am(e) if e-e~=0 then return dv(e) end return v('%.0f',e) end
local function dr(r,bw) if bw then ab('PEXPIREAT',r,am(bw)) end end local function cs(f) local l,k,o,d=f.f,f.e,f.a,f.at
local h='T:'..am(l)..':'..am(k)..':'..am(o)..':'..am(d) return f.c==0 and h or h..':'..am(f.c) end local function bx(f)
local l,k,o,d=f.f,f.e,f.a,f.at if f.c~=0 or l-l~=0 or k-k~=0 or d-d~=0 then return cs(f) end
return v('T:%.0f:%.0f:%.0f:%.0f',l,k,o,d) end local function cf(a,p,x) local r=a.p if p=='delete'then ab('UNLINK',r)
return end local E=bc(a,p,x) if p=='keep'then dr(r,E) elseif E then ab('SET',r,bx(x),'PXAT',E==0 and'1'or am(E)) else
ab('SET',r,bx(x),'KEEPTTL') end end local function ce(a,p,x) cf(a,p,x) end local function bI(a)
return a.t and a.t.h or a.r and a.h or a.m end local function by(a) if not a.allowed then return 0 end
return a.PARTIAL and bI(a)or 1 end local function cy(a,S) local aa,dp,V,bo,cp=aL(a) return{ 'allowed',by(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',aa, 'retry_after_ms',dp, 'next_ms',V, 'reset_ms',bo,
'delay_ms',cp, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0, 'charged',S, } end local function cP(aE) local bT={}
for R,a in ipairs(aE)do local N,W=a.AS or('TOKEN'):lower(),2 a.k=N while bT[a.k]do a.k=v('%s-%d',N,W) W=W+1 end
bT[a.k]=true end end local function aN(e) return v('%.0f',az(e,999999999999999)) end local function df(a)
local o=(nil)and(nil)(a)or a.a local bb,m=1000,o%1000 while m>0 do bb,m=m,bb%m end local bV=1000/bb
local K=aw(A(o,bV),1000) return v('"%s";q=%s;w=%s',a.k,aN(A(a.limit,bV)),aN(K)) end local function cG(aO,bl)
if aO.allowed~=bl.allowed then return not aO.allowed end local s,bm=aO.retry_after_ms,bl.retry_after_ms if s~=bm then
return s<0 or(bm>=0 and s>bm) end return aO.remaining<bl.remaining end local function cA(aE) local bp,bK=aE[1],{} cP(aE)
for e,a in ipairs(aE)do bK[e]=df(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aL(a) if cG(a,bp)then bp=a end end
local a=bp local aG={ 'X-RateLimit-Limit', v('%.0f',a.b), 'X-RateLimit-Remaining', v('%.0f',a.remaining), }
local function aM(ar,an) aG[#aG+1]=ar aG[#aG+1]=an end if a.reset_ms>=0 then
aM('X-RateLimit-Reset',v('%.0f',al(a.now_ms+a.reset_ms))) end aM('RateLimit-Policy',table.concat(bK,', '))
local cM=a.next_ms>=0 and';t='..aN(al(a.next_ms))or'' aM('RateLimit',v('"%s";r=%s%s',a.k,aN(a.remaining),cM))
if not a.allowed and a.retry_after_ms>=0 then aM('Retry-After',v('%.0f',al(a.retry_after_ms))) end return aG end
local function cV(a,S) if a.form=='FULL'then return cy(a,S) end return{by(a),a.count,a.ttl,cA({a})} end
aQ={z=cc,A=ce,B=cg,D=cj,E=cl,F=ae,u=cq,error_reply=ct,G=cu,j=I,H=cw,I=cx,J=ax,M=cC,N=cD,P=bD,Q=cN,v=cO,x=cT,S=cV,U=bF,V=bG,q=bH,W=cZ,y=bI,refund=dh,Y=dm,Z=dn,aa=dt,ac=dz}
end return aQ end local cr,bN=pcall(dq,KEYS,ARGV) return cr and bN or g().error_reply(bN)
