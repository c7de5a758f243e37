-- RL.REFUND COUNTER, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aS,h local Y,z,aA,dG=string.find,string.format,string.match,string.sub local function bV(W) return W==''and 1000
or W=='ms'and 1 or W=='s'and 1000 or W=='m'and 60000 or W=='h'and 3600000 or W=='d'and 86400000 or nil end
local function df(t,e,E) local ac,af,l=t[e],t[e+1],t[e+2] if not af then h().h('ARITY') end local a={ l='', m=0,
now_ms=0, a=0, e=0, limit=0, f=0, d=1, form=nil, delay=0, c=nil, j=nil, allowed=false, count=0, ttl=0, g='keep',
remaining=0, k=1, } e=e+2 if l=='LINE'and not t[e+1]and E~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=l,e+1 elseif l then local an=t[e+1]or''
local bH=E==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[e+2]=='LINE'and not t[e+3]and#an<16
if bH and l=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and Y(an,'^[1-9]%d*$')then
a.form,a.d,e='LINE',an+0,e+3 elseif bH and l=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and an~=''then
a.form,a.ID,e='LINE',an,e+3 else e=h().M(a,t,e,E) a.d=a.COST or 1 end end local cI=#af<16 and Y(af,'^[1-9]%d*$')
a.limit=cI and af+0 or h().K('limit',af,0) local w,W=aA(ac,'^([1-9]%d*)(%l*)$') local aG=w and#ac<16 and bV(W)
local j=aG and w*aG if not j or j<1 or j>1e15 then j=h().W(a,ac) end
a.a,a.e,a.f=j,j<9e12 and j*1000 or h().s(j,1000),a.BURST or a.limit return a,e end local function db(t,E)
local a,e=df(t,1,E) if t[e]then h().E(a,E,t[e]) end return a end local function dc(t,E) if not t[1+1]then h().h('ARITY')
end return db(t,E) end local ad=redis.call local function dj(a) local cb=ad('TIME') local bm=cb[1]*1000000+cb[2]
a.m,a.now_ms=bm,(bm-bm%1000)/1000 end local function dy(a,U,e,bu,bk) local p=U[e] if not p then h().h('KEYS') end
a.l,e=p,e+1 if bk then a.i=p elseif Y(p,':reserved',1,true)then h().P(p) end if bu then e=a.ac and e+2 or h().U(a,U,e,p)
end return e end local function N(a,U,bu,bk) dj(a) if#U~=dy(a,U,1,bu,bk)-1 then h().h('KEYS') end end
local function dD(g,dh) local b,c,aY,ba,r=aA(g,dh) if not b then return nil elseif Y(g,':0%d')then return nil end
local K=#ba<17 and ba+0 return#b<16 and b+0 or h().n(b), #c<16 and c+0 or h().n(c), #aY<16 and aY+0 or h().n(aY),
K and K<9e15 and K or h().n(ba), r end local function cK(F) return F and F-F==0 and F>=1 and F<=1e15 end
local function I(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return h().s(b,c) end local function cs(g)
local j,w,n,o,r=dD(g,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not cK(j)or not w or not n or not o or r~=''then return nil
end local J=I(w,j) local ab=I(J,1000) if ab-ab~=0 or n-n~=0 or o-o~=0 then if h().p(ab)or h().p(n)or h().p(o)then
return nil end end if J==0 and o~=0 then return nil end return{a=j,b=J,current=n,previous=o} end local function cO(a)
local g=ad('GET',a.l) if g then a.c=cs(g)or h().D(g,('COUNTER'),'FOREIGN_VALUE') end end local function y(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return h().v(b,c) end local function G(X,f)
local aR=f.current~=0 and 2 or f.previous~=0 and 1 or 0 return y(f.b,f.a*aR) end local function bq(m,v,S)
if m=='keep'then return S end return m~='delete'and v or nil end local function cz(p,ap)
if not redis.REDIS_VERSION_NUM then return h().B(p,ap) end local e=ad('PEXPIRETIME',p) return e>=0 and e or nil end
local function C(b,c) if b-b==0 and c-c==0 then return b<c end return h().H(b,c) end local function bg(a,m,v)
local S,bc=a.c,(nil) if m=='keep'and(not S or not bc)then return nil end local D=S and cz(a.l,a.now_ms)
if D and D>=(2^53)then D=h().F(h().A(D)) end if m=='keep'then local M=G(a,S) return D and C(D,M)and y(M,5000)or nil end
local M=G(a,v) local az=y(M,5000) if not S then return az elseif not D then return az end if bc and m=='rebase'then
return h().I(D,G(a,S),M) elseif C(D,M)then return az elseif not C(az,D)or(bc and C(y(G(a,S),5000),D))then return nil end
return az end local function at(j,J,n,o) return{a=j,b=J,current=n,previous=o} end local function aI(a,u)
local ap,j=a.now_ms,a.a local J=ap-ap%j if not u then return at(j,J,0,0) elseif u.b==J and u.a==j then return u end
return h().N(a,u,J) end local function O(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end return h().S(b,c)
end local function bt(a,f) local o=f.previous return o==0 and 0 or I(o,O(a.e,a.m-f.b*1000)) end local function ax(d)
if d-d~=0 or d>=(2^53)then h().h('INEXACT_REPLY') end return d end local function ao(b,c) if b-b==0 and c-c==0 then
local r=b%c return(b-r)/c,r end return h().r(b,c) end local function be(b,c) if b-b==0 and c-c==0 then local r=b%c
return r==0 and b/c or(b-r)/c+1 end local aq,r=h().r(b,c) return r==0 and aq or y(aq,1) end local function bX(a,f,aQ)
a.y=f a.remaining=O(O(a.limit,f.current),aQ==0 and 0 or be(aQ,a.e)) end local function cc(a,ar,B)
return B==0 and 0 or O(a.e,(ao(I(ar,a.e),B))) end local function s(a,i) local ar,f=a.limit-i,a.y
local n,ab=f.current,I(f.b,1000) if ar<0 then return nil elseif C(ar,n)then ab=y(y(ab,a.e),cc(a,ar,n)) else
ab=y(ab,cc(a,ar-n,f.previous)) end return be(O(ab,a.m),1000) end local function am(F) local r=F%1000
return F<0 and-1 or r==0 and F/1000 or(F-r)/1000+1 end local function dA(a,i) local s=s(a,i==0 and 1 or i)
s=s and am(ax(s))or-1 return s==0 and 1 or s end local function bb(a,i) local u,af,ac=a.c,a.limit,a.e local f=aI(a,u)
local n,o=f.current,bt(a,f) local M=I(y(n,i==0 and 1 or i),ac) local aV=not C(I(af,ac),y(M,o)) a.allowed,a.g=aV,'keep'
a.count=ax(o==0 and n or y(n,(ao(o,ac)))) if aV and i>0 then f=at(a.a,f.b,y(n,i),f.previous) a.g,a.j='charge',f
elseif u and af>0 and(C(a.now_ms,u.b)or u.a~=a.a)then if n~=0 or f.previous~=0 then a.g,a.j='rebase',f end end
if aV then a.ttl=ax(be(O(I(G(a,f),1000),a.m),1000000)) else bX(a,f,o) a.ttl=dA(a,i) end end local function cr(a)
if a.PARTIAL or a.ALWAYS then h().z(a) else local i=a.d a.k=i bb(a,i) end if a.SHADOW then h().x(a) end end
local function bh(a,X,u) local f=aI(a,u) bX(a,f,bt(a,f)) end local function aJ(a) local m,s=a.g,s
bh(a,m,m=='keep'and a.c or m~='delete'and a.j or nil) local ag,aZ,V,aa,al=a.remaining,a.f,0,0,0 if not a.allowed then
local i=a.k V=s(a,a.t or(i==0 and 1 or i))or-1 if a.G and V>=0 then V=math.max(V,a.G) end end if ag<aZ then
aa=s(a,ag+1)or-1 al=ag+1==aZ and aa or s(a,aZ)or-1 end if V-V~=0 or aa-aa~=0 or al-al~=0 or V>=(2^53)or al>=(2^53)then
h().h('INEXACT_REPLY') end return ag,V,aa,al,0 end local function cM(a,A) local ag,V,aa,al,ct=aJ(a)
local dv=a.o and 1 or 0 return z( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().u(a)or 1)or 0,a.count,a.ttl,a.f,ag,V,aa,al, ct,a.now_ms,dv,A ) end
local function dn(a,A) local ai=a.form if ai=='LINE'then return cM(a,A) elseif ai then return h().J(a,A) end
return{a.allowed and(a.PARTIAL and h().u(a)or 1)or 0,a.count,a.ttl} end local function co(a,m,v,A) local by
local G,S,as=nil,a.c,bq(m,v,a.c) if as and bg then G=bg(a,m,v) end if G and C(G,a.now_ms)then as=nil end a.c=as cr(a)
by=dn(a,A) a.c=S if not a.ab then h().w(a,m,v) end return by end local function dt(U,t)
local a=dc(t,' form COST AT BURST BLOCK MAX ANCHOR ') N(a,U) cO(a,'write') local m,v=h().refund(a,a.AT,a.d)
return co(a,m,v,0) end function h() if not aS then local q={}
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
..'reservations' q.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
q.OVERFLOW='ERR increment or decrement would overflow' q.ARITY='ERR wrong number of arguments'
q.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
q.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function aN(b,c)
return C(c,b)and c or b end local aT={ __sub=function() return 1 end, }
local aU=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aT) local function bN(d) return aN(d,aU) end local function dk(a,u,J)
local j=a.a if C(a.now_ms,u.b)then return at(j,J,aN(y(u.current,u.previous),a.limit),0) end local aw=at(j,J,0,0)
local function N(B,bC) if bC>J then aw.current=bN(y(aw.current,B)) elseif bC+j>J then aw.previous=bN(y(aw.previous,B))
end end N(u.current,u.b+u.a) N(u.previous,u.b) return aw end local function bS(f,P) if not P or not C(P,f.b)then
return'current' end return P+f.a>=f.b and'previous'or nil end local function dl(a,P,i) local f=aI(a,a.c) local N=bS(f,P)
local cC=N=='current'and i or 0 local bF=N=='previous'and i or 0 if not P then bF=O(i,f.current) end
local n,o=O(f.current,cC),O(f.previous,bF) if not C(n,f.current)and not C(o,f.previous)then return'keep'
elseif n==0 and o==0 then return'delete' end return'refund',at(f.a,f.b,n,o) end local function T(g) error({err=g},0) end
local function H(Z) T(q[Z]) end local function cA(g,x,cZ)
local dE={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bv=dE[aA(g,'^(%u):')] if not bv or bv==x then
H(cZ) end T('ERR the key holds a state of '..bv..': use another key for each algorithm') end local function cx(aE)
if type(aE)=='table'then return aE elseif Y(aE,'^%u+ ')then return redis.error_reply(aE) end error(aE,0) end
local function ah(d) if d-d~=0 then return d end local k,B={},0 while d>0 do local Q=d%(2^24) B=B+1 k[B]=Q
d=(d-Q)/(2^24) end return k end local function ay(k) local B=#k while B>0 and k[B]==0 do k[B]=nil B=B-1 end
if B>3 or(B==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,aT) end
return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function bL(b,c) local bx,ck=b-b==0,c-c==0
if bx or ck then return bx elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function cj(b,c) b,c=ah(b),ah(c) local au,ae={},0 for d=1,math.max(#b,#c)+1 do
local Q=(b[d]or 0)+(c[d]or 0)+ae ae=Q>=(2^24)and 1 or 0 au[d]=Q-ae*(2^24) end return ay(au) end local function dw(b,c)
if not bL(c,b)then return 0 end c=ah(c) local bA,aW={},0 for d=1,#b do local Q=b[d]-(c[d]or 0)-aW aW=Q<0 and 1 or 0
bA[d]=Q+aW*(2^24) end return ay(bA) end local function cS(b,c) b,c=ah(b),ah(c) local aD={} for d=1,#b+#c do aD[d]=0 end
for d=1,#b do local ae=0 for bl=1,#c do local Q=aD[d+bl-1]+b[d]*c[bl]+ae ae=math.floor(Q/(2^24)) aD[d+bl-1]=Q-ae*(2^24)
end aD[d+#c]=ae end return ay(aD) end local function bz(d) if d-d==0 then return d end local au=0 for cG=#d,1,-1 do
au=au*(2^24)+d[cG] end return au end local function cv(b,c) local aq=0 while not C(b,c)do
local aP=math.max(1,math.floor(bz(b)/bz(c)*(1-2^-45))) aP=ay(ah(aP)) aq=y(aq,aP) b=O(b,I(aP,c)) end return aq,b end
local function aX(b,c) for e=1,math.min(#b,#c)do local ce,cf=b:byte(e),c:byte(e) if ce~=cf then return ce<cf end end
return#b<#c end local function bi(k) if#k<=15 or(#k==16 and aX(k,'9007199254740992'))then return k+0 end local bj=#k%7
local d=bj>0 and k:sub(1,bj)+0 or 0 for e=bj+1,#k,7 do d=y(I(d,10000000),k:sub(e,e+6)+0) end return d end
local function dd(k) if#k>1 and k:byte()==48 then return nil
elseif#k<20 or(#k==20 and not aX('18446744073709551615',k))then return bi(k) end end local function bG(d) return C(aU,d)
end local function cy(p,ap) local bK=ad('PTTL',p) return bK>=0 and ap+bK or nil end local function cR(D,cU,M)
if D-D~=0 then H('INEXACT_STATE') end local aC=O(D,O(cU,M)) aC=C(aC,M)and M or aC return aC~=D and aC or nil end
local function bd(g,aB) if g~='0'and not Y(g,'^[1-9]%d*$')then return nil end
return(#g<#aB or(#g==#aB and not aX(aB,g)))and g or nil end local function bO(Z,g,bJ)
local k=g and bd(g,'9223372036854775807') local d=k and bi(k) if not d or d==0 and bJ>0 then
T(z('ERR invalid %s: expected an integer from %d to 9223372036854775807',Z,bJ)) elseif d-d~=0 then
T(z('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Z)) end return d end local bw={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aj(cN,x)
return not Y(x,' ',1,true)and Y(cN,' '..x..' ',1,true)~=nil end local function ca(a,l)
return not aj(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or aj((' COST PARTIAL ALWAYS RESERVE RESERVATION '),l)
end local function cH(x,l) local R,K=0,0 local bY,cP=math.min(#x,#l),math.max(#x,#l)
while R<bY and x:byte(R+1)==l:byte(R+1)do R=R+1 end while K<bY-R and x:byte(-1-K)==l:byte(-1-K)do K=K+1 end
return R+K>=2 and cP-R-K<=2 end local function cB(a,E,x) local ak={} for X,L in ipairs(bw)do
if aj(E,L[1])and ca(a,L[1])then ak[#ak+1]=L[2] end end for X,ai in ipairs({'FULL','LINE','HEADERS'})do ak[#ak+1]=ai end
for X,l in ipairs(ak)do if cH(x:upper(),aA(l,'^%u+'))then T('ERR syntax error: no such option, but there is '..l) end
end local K=table.remove(ak) local dB=table.concat(ak,', ')
T('ERR syntax error: after limit come '..dB..' or '..K..', each at most once') end local function dq(L,a,E)
local l,dF=L[1],a.X if not aj(E,l)then T(z('ERR invalid %s: only %s it',l,L[3])) elseif not ca(a,l)then
T(z('ERR invalid %s: %s takes none',l,('COUNTER'))) elseif a[l]~=nil then
T(z('ERR syntax error: %s comes at most once',L[2])) end end local function bQ(g) local w,W=aA(g,'^(%d+)(%l*)$')
local aG=w and bV(W) local F=aG and bd(w,'18446744073709551615')and w*aG return F and F>=1 and F<=1e15 and F or nil end
local function bP(g,aB) return g and#g>=1 and#g<=aB and g end local ci=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aT)
local function dg(l,g,bW) if l=='RESERVE'then local cd=bW and bQ(bW)
return bP(g,128)and cd and{id=g,ttl=cd}or H('RESERVE') elseif l=='RESERVATION'then return bP(g,128)or H('RESERVATION')
end if l=='AS'then return g and#g>=1 and#g<=64 and not Y(g,'[^%w._-]')and g or H('AS') elseif l=='AT'then
local k=g and bd(g,'9223372036854775807') return k and aN(bi(k),(ao(ci,1000)))or H('AT') end
return bO(l,g,l=='BURST'and 1 or 0) end local function dp(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
H(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
H(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cg={FULL=true,LINE=true,HEADERS=true}
local function cW(ai,bM) if ai then H(ai==bM and'FORM_TWICE'or'TWO_FORMS') end return bM end local function de(a,t,e,E)
while t[e]do local x,L=t[e]:upper(),nil for X,bI in ipairs(bw)do L=bI[1]==x and bI or L end if L then dq(L,a,E)
if L[2]==x then a[x]=true e=e+1 else a[x]=dg(x,t[e+1],t[e+2]) e=e+(x=='RESERVE'and 3 or 2) end dp(a)
elseif cg[x]and aj(E,'form')then a.form=cW(a.form,x) e=e+1 else return e end end return e end
local ch={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dC(a,g) local j=bQ(g)
if not j then a.V=g:upper() j=ch[a.V] if not j then
H(aj((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aj((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
T(z('ERR invalid window: %s takes no windows of the calendar',('COUNTER'))) end end return j end local function cE(p)
return p:sub(-9)==':reserved'or p:sub(-14)==':reserved:ends' end local function dr(p) if cE(p)then H('RESERVED_KEY') end
end local function dx(a,U,e,p) local aK,bD=U[e]or'',U[e+1] local Z=((nil)and(nil)(a)or'')..':reserved'
if(aK~=p..Z and aK~='{'..p..'}'..Z)or bD~=aK..':ends'then H('KEYS') end a.aa,a.Y=aK,bD return e+2 end
local function cn(a) local cX=a.PARTIAL and a.k<a.d a.o=a.SHADOW and not a.q and(cX or not a.allowed)
if not a.allowed and(a.o or a.q)then a.allowed=true if not(nil)then local X,X,X,bp=aJ(a) a.ttl=am(bp) end end end
local function dm(a) bh(a,'keep',a.c) return a.remaining end local function da(a,P,i) local f=aI(a,a.c) local N=bS(f,P)
if i==0 or not N then return'keep' end local A=at(f.a,f.b,f.current,f.previous) A[N]=y(A[N],i)
local aQ=y(I(A.current,a.e),bt(a,A)) if bG(A[N])or C(I(aU,a.e),aQ)then H('OVERFLOW') end return'charge',A end
local function cV(i) return i==0 and 1 or i end local function cp(a) local i=a.d bb(a,0) local m,v=da(a,nil,i)
if i>0 then a.g,a.j=m,v end local as=bq(a.g,a.j,a.c) bh(a,a.g,as) a.allowed=a.f>0 and s(a,0)==0 a.t=a.f>0 and i or cV(i)
if(nil)then a.count,a.ttl=(nil)(as,a.now_ms) elseif a.allowed then a.ttl=am(ax(s(a,a.f))) else local s=s(a,a.t)
a.ttl=s and math.max(1,am(ax(s)))or-1 end end local function cq(a) local i=a.d if a.PARTIAL then i=math.min(i,dm(a)) end
a.k=i if a.ALWAYS then cp(a) else bb(a,i) end end local function dz(d) local bs='' while d-d~=0 do local r
d,r=ao(d,10000000) bs=z('%07.0f',r)..bs end return z('%.0f',d)..bs end local function av(d) if d-d~=0 then return dz(d)
end return z('%.0f',d) end local function du(p,P) if P then ad('PEXPIREAT',p,av(P)) end end local function bB(f)
local j,n,o=f.a,f.current,f.previous local w=ao(f.b,j) local cL=w-w~=0 or n-n~=0 or o-o~=0 if cL then
w,n,o=av(w),av(n),av(o) return'C:'..av(j)..':'..w..':'..n..':'..o end return z('C:%.0f:%.0f:%.0f:%.0f',j,w,n,o) end
local function cm(a,m,v) local p=a.l if m=='delete'then ad('UNLINK',p) return end local G=bg(a,m,v) if m=='keep'then
du(p,G) elseif G then ad('SET',p,bB(v),'PXAT',G==0 and'1'or av(G)) else ad('SET',p,bB(v),'KEEPTTL') end end
local function cl(a,m,v) if a.Z then v=bq(m,v,a.c) a.c=a.Q if not v then m=a.Q and'delete'or'keep'
elseif m~='charge'then m='refund' end end cm(a,m,v) end local function bR(a) return a.q and a.q.d or a.o and a.d or a.k
end local function bE(a) if not a.allowed then return 0 end return a.PARTIAL and bR(a)or 1 end local function cD(a,A)
local ag,ds,aa,bp,cu=aJ(a) return{ 'allowed',bE(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.f, 'remaining',ag,
'retry_after_ms',ds, 'next_ms',aa, 'reset_ms',bp, 'delay_ms',cu, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0,
'charged',A, } end local function cT(aF) local bZ={} for X,a in ipairs(aF)do local R,w=a.AS or('COUNTER'):lower(),2
a.i=R while bZ[a.i]do a.i=z('%s-%d',R,w) w=w+1 end bZ[a.i]=true end end local function aM(d)
return z('%.0f',aN(d,999999999999999)) end local function di(a) local j=(nil)and(nil)(a)or a.a local bf,r=1000,j%1000
while r>0 do bf,r=r,bf%r end local aR=1000/bf local ac=ao(I(j,aR),1000)
return z('"%s";q=%s;w=%s',a.i,aM(I(a.limit,aR)),aM(ac)) end local function cJ(aO,bn) if aO.allowed~=bn.allowed then
return not aO.allowed end local s,bo=aO.retry_after_ms,bn.retry_after_ms if s~=bo then return s<0 or(bo>=0 and s>bo) end
return aO.remaining<bn.remaining end local function cF(aF) local br,bT=aF[1],{} cT(aF) for d,a in ipairs(aF)do
bT[d]=di(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aJ(a) if cJ(a,br)then br=a end end local a=br local aH={
'X-RateLimit-Limit', z('%.0f',a.f), 'X-RateLimit-Remaining', z('%.0f',a.remaining), } local function aL(Z,an)
aH[#aH+1]=Z aH[#aH+1]=an end if a.reset_ms>=0 then aL('X-RateLimit-Reset',z('%.0f',am(a.now_ms+a.reset_ms))) end
aL('RateLimit-Policy',table.concat(bT,', ')) local cQ=a.next_ms>=0 and';t='..aM(am(a.next_ms))or''
aL('RateLimit',z('"%s";r=%s%s',a.i,aM(a.remaining),cQ)) if not a.allowed and a.retry_after_ms>=0 then
aL('Retry-After',z('%.0f',am(a.retry_after_ms))) end return aH end local function cY(a,A) if a.form=='FULL'then
return cD(a,A) end return{bE(a),a.count,a.ttl,cF({a})} end
aS={v=cj,w=cl,x=cn,z=cq,A=ah,r=cv,error_reply=cx,B=cy,h=H,D=cA,E=cB,F=ay,p=bG,H=bL,I=cR,s=cS,J=cY,K=bO,n=dd,M=de,u=bR,N=dk,refund=dl,P=dr,S=dw,U=dx,W=dC}
end return aS end local cw,bU=pcall(dt,KEYS,ARGV) return cw and bU or h().error_reply(bU)
