-- RL.REFUND COUNTER, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aQ,h local U,y,aK,dF=string.find,string.format,string.match,string.sub local function de(t,e,E)
local X,ae,l=t[e],t[e+1],t[e+2] if not ae then h().j('ARITY') end local a={ o='', p=0, now_ms=0, a=0, f=0, limit=0, g=0,
e=1, form=nil, delay=0, c=nil, l=nil, allowed=false, count=0, ttl=0, i='keep', remaining=0, n=1, } e=e+2
if l=='LINE'and not t[e+1]and E~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=l,e+1 elseif l then
local am=t[e+1]or''
local bH=E==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[e+2]=='LINE'and not t[e+3]and#am<16
if bH and l=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and U(am,'^[1-9]%d*$')then
a.form,a.e,e='LINE',am+0,e+3 elseif bH and l=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and am~=''then
a.form,a.ID,e='LINE',am,e+3 else e=h().S(a,t,e,E) a.e=a.COST or 1 end end local bi=#ae<16 and U(ae,'^[1-9]%d*$')
a.limit=bi and ae+0 or h().Q('limit',ae,0) bi=#X<10 and U(X,'^[1-9]%d*$') local k=bi and X*1000 or h().aa(a,X)
a.a,a.f,a.g=k,k<9e12 and k*1000 or h().w(k,1000),a.BURST or a.limit return a,e end local function da(t,E)
local a,e=de(t,1,E) if t[e]then h().I(a,E,t[e]) end return a end local function db(t,E) if not t[1+1]then h().j('ARITY')
end return da(t,E) end local ac=redis.call local function di(a) local ca=ac('TIME') local bl=ca[1]*1000000+ca[2]
a.p,a.now_ms=bl,(bl-bl%1000)/1000 end local function dx(a,V,e,bt,bj) local p=V[e] if not p then h().j('KEYS') end
a.o,e=p,e+1 if bj then a.k=p elseif U(p,':reserved',1,true)then h().V(p) end if bt then e=a.ag and e+2 or h().Y(a,V,e,p)
end return e end local function N(a,V,bt,bj) di(a) if#V~=dx(a,V,1,bt,bj)-1 then h().j('KEYS') end end
local function dC(g,dg) local b,c,aW,aY,r=aK(g,dg) if not b then return nil elseif U(g,':0%d')then return nil end
local K=#aY<17 and aY+0 return#b<16 and b+0 or h().q(b), #c<16 and c+0 or h().q(c), #aW<16 and aW+0 or h().q(aW),
K and K<9e15 and K or h().q(aY), r end local function cJ(F) return F and F-F==0 and F>=1 and F<=1e15 end
local function I(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return h().w(b,c) end local function cs(g)
local k,C,n,o,r=dC(g,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not cJ(k)or not C or not n or not o or r~=''then return nil
end local J=I(C,k) local ab=I(J,1000) if ab-ab~=0 or n-n~=0 or o-o~=0 then if h().t(ab)or h().t(n)or h().t(o)then
return nil end end if J==0 and o~=0 then return nil end return{a=k,b=J,current=n,previous=o} end local function cN(a)
local g=ac('GET',a.o) if g then a.c=cs(g)or h().H(g,('COUNTER'),'FOREIGN_VALUE') end end local function x(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return h().z(b,c) end local function G(Y,f)
local aP=f.current~=0 and 2 or f.previous~=0 and 1 or 0 return x(f.b,f.a*aP) end local function bp(m,v,S)
if m=='keep'then return S end return m~='delete'and v or nil end local function cz(p,ao)
if not redis.REDIS_VERSION_NUM then return h().G(p,ao) end local e=ac('PEXPIRETIME',p) return e>=0 and e or nil end
local function B(b,c) if b-b==0 and c-c==0 then return b<c end return h().M(b,c) end local function be(a,m,v)
local S,ba=a.c,(nil) if m=='keep'and(not S or not ba)then return nil end local D=S and cz(a.o,a.now_ms)
if D and D>=(2^53)then D=h().J(h().F(D)) end if m=='keep'then local M=G(a,S) return D and B(D,M)and x(M,5000)or nil end
local M=G(a,v) local ay=x(M,5000) if not S then return ay elseif not D then return ay end if ba and m=='rebase'then
return h().N(D,G(a,S),M) elseif B(D,M)then return ay elseif not B(ay,D)or(ba and B(x(G(a,S),5000),D))then return nil end
return ay end local function as(k,J,n,o) return{a=k,b=J,current=n,previous=o} end local function aF(a,u)
local ao,k=a.now_ms,a.a local J=ao-ao%k if not u then return as(k,J,0,0) elseif u.b==J and u.a==k then return u end
return h().U(a,u,J) end local function O(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end return h().X(b,c)
end local function bs(a,f) local o=f.previous return o==0 and 0 or I(o,O(a.f,a.p-f.b*1000)) end local function aw(d)
if d-d~=0 or d>=(2^53)then h().j('INEXACT_REPLY') end return d end local function an(b,c) if b-b==0 and c-c==0 then
local r=b%c return(b-r)/c,r end return h().v(b,c) end local function bc(b,c) if b-b==0 and c-c==0 then local r=b%c
return r==0 and b/c or(b-r)/c+1 end local ap,r=h().v(b,c) return r==0 and ap or x(ap,1) end local function bW(a,f,aO)
a.D=f a.remaining=O(O(a.limit,f.current),aO==0 and 0 or bc(aO,a.f)) end local function cb(a,aq,A)
return A==0 and 0 or O(a.f,(an(I(aq,a.f),A))) end local function s(a,i) local aq,f=a.limit-i,a.D
local n,ab=f.current,I(f.b,1000) if aq<0 then return nil elseif B(aq,n)then ab=x(x(ab,a.f),cb(a,aq,n)) else
ab=x(ab,cb(a,aq-n,f.previous)) end return bc(O(ab,a.p),1000) end local function al(F) local r=F%1000
return F<0 and-1 or r==0 and F/1000 or(F-r)/1000+1 end local function dz(a,i) local s=s(a,i==0 and 1 or i)
s=s and al(aw(s))or-1 return s==0 and 1 or s end local function aZ(a,i) local u,ae,X=a.c,a.limit,a.f local f=aF(a,u)
local n,o=f.current,bs(a,f) local M=I(x(n,i==0 and 1 or i),X) local aT=not B(I(ae,X),x(M,o)) a.allowed,a.i=aT,'keep'
a.count=aw(o==0 and n or x(n,(an(o,X)))) if aT and i>0 then f=as(a.a,f.b,x(n,i),f.previous) a.i,a.l='charge',f
elseif u and ae>0 and(B(a.now_ms,u.b)or u.a~=a.a)then if n~=0 or f.previous~=0 then a.i,a.l='rebase',f end end
if aT then a.ttl=aw(bc(O(I(G(a,f),1000),a.p),1000000)) else bW(a,f,o) a.ttl=dz(a,i) end end local function cr(a)
if a.PARTIAL or a.ALWAYS then h().E(a) else local i=a.e a.n=i aZ(a,i) end if a.SHADOW then h().B(a) end end
local function bf(a,Y,u) local f=aF(a,u) bW(a,f,bs(a,f)) end local function aG(a) local m,s=a.i,s
bf(a,m,m=='keep'and a.c or m~='delete'and a.l or nil) local af,aX,W,aa,ak=a.remaining,a.g,0,0,0 if not a.allowed then
local i=a.n W=s(a,a.x or(i==0 and 1 or i))or-1 if a.K and W>=0 then W=math.max(W,a.K) end end if af<aX then
aa=s(a,af+1)or-1 ak=af+1==aX and aa or s(a,aX)or-1 end if W-W~=0 or aa-aa~=0 or ak-ak~=0 or W>=(2^53)or ak>=(2^53)then
h().j('INEXACT_REPLY') end return af,W,aa,ak,0 end local function cL(a,z) local af,W,aa,ak,ct=aG(a)
local du=a.r and 1 or 0 return y( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl,a.g,af,W,aa,ak, ct,a.now_ms,du,z ) end
local function dm(a,z) local ah=a.form if ah=='LINE'then return cL(a,z) elseif ah then return h().P(a,z) end
return{a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl} end local function co(a,m,v,z) local by
local G,S,ar=nil,a.c,bp(m,v,a.c) if ar and be then G=be(a,m,v) end if G and B(G,a.now_ms)then ar=nil end a.c=ar cr(a)
by=dm(a,z) a.c=S if not a.af then h().A(a,m,v) end return by end local function ds(V,t)
local a=db(t,' form COST AT BURST BLOCK MAX ANCHOR ') N(a,V) cN(a,'write') local m,v=h().refund(a,a.AT,a.e)
return co(a,m,v,0) end function h() if not aQ then local q={}
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
q.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function aL(b,c)
return B(c,b)and c or b end local aR={ __sub=function() return 1 end, }
local aS=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aR) local function bN(d) return aL(d,aS) end local function dj(a,u,J)
local k=a.a if B(a.now_ms,u.b)then return as(k,J,aL(x(u.current,u.previous),a.limit),0) end local av=as(k,J,0,0)
local function N(A,bC) if bC>J then av.current=bN(x(av.current,A)) elseif bC+k>J then av.previous=bN(x(av.previous,A))
end end N(u.current,u.b+u.a) N(u.previous,u.b) return av end local function bS(f,P) if not P or not B(P,f.b)then
return'current' end return P+f.a>=f.b and'previous'or nil end local function dk(a,P,i) local f=aF(a,a.c) local N=bS(f,P)
local cC=N=='current'and i or 0 local bF=N=='previous'and i or 0 if not P then bF=O(i,f.current) end
local n,o=O(f.current,cC),O(f.previous,bF) if not B(n,f.current)and not B(o,f.previous)then return'keep'
elseif n==0 and o==0 then return'delete' end return'refund',as(f.a,f.b,n,o) end local function T(g) error({err=g},0) end
local function H(Z) T(q[Z]) end local function cA(g,w,cY)
local dD={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bu=dD[aK(g,'^(%u):')] if not bu or bu==w then
H(cY) end T('ERR the key holds a state of '..bu..': use another key for each algorithm') end local function cx(aC)
if type(aC)=='table'then return aC elseif U(aC,'^%u+ ')then return redis.error_reply(aC) end error(aC,0) end
local function ag(d) if d-d~=0 then return d end local j,A={},0 while d>0 do local Q=d%(2^24) A=A+1 j[A]=Q
d=(d-Q)/(2^24) end return j end local function ax(j) local A=#j while A>0 and j[A]==0 do j[A]=nil A=A-1 end
if A>3 or(A==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,aR) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function bL(b,c) local bx,ck=b-b==0,c-c==0
if bx or ck then return bx elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function cj(b,c) b,c=ag(b),ag(c) local at,ad={},0 for d=1,math.max(#b,#c)+1 do
local Q=(b[d]or 0)+(c[d]or 0)+ad ad=Q>=(2^24)and 1 or 0 at[d]=Q-ad*(2^24) end return ax(at) end local function dv(b,c)
if not bL(c,b)then return 0 end c=ag(c) local bA,aU={},0 for d=1,#b do local Q=b[d]-(c[d]or 0)-aU aU=Q<0 and 1 or 0
bA[d]=Q+aU*(2^24) end return ax(bA) end local function cR(b,c) b,c=ag(b),ag(c) local aB={} for d=1,#b+#c do aB[d]=0 end
for d=1,#b do local ad=0 for bk=1,#c do local Q=aB[d+bk-1]+b[d]*c[bk]+ad ad=math.floor(Q/(2^24)) aB[d+bk-1]=Q-ad*(2^24)
end aB[d+#c]=ad end return ax(aB) end local function bz(d) if d-d==0 then return d end local at=0 for cG=#d,1,-1 do
at=at*(2^24)+d[cG] end return at end local function cv(b,c) local ap=0 while not B(b,c)do
local aN=math.max(1,math.floor(bz(b)/bz(c)*(1-2^-45))) aN=ax(ag(aN)) ap=x(ap,aN) b=O(b,I(aN,c)) end return ap,b end
local function aV(b,c) for e=1,math.min(#b,#c)do local ce,cf=b:byte(e),c:byte(e) if ce~=cf then return ce<cf end end
return#b<#c end local function bg(j) if#j<=15 or(#j==16 and aV(j,'9007199254740992'))then return j+0 end local bh=#j%7
local d=bh>0 and j:sub(1,bh)+0 or 0 for e=bh+1,#j,7 do d=x(I(d,10000000),j:sub(e,e+6)+0) end return d end
local function dc(j) if#j>1 and j:byte()==48 then return nil
elseif#j<20 or(#j==20 and not aV('18446744073709551615',j))then return bg(j) end end local function bG(d) return B(aS,d)
end local function cy(p,ao) local bK=ac('PTTL',p) return bK>=0 and ao+bK or nil end local function cQ(D,cT,M)
if D-D~=0 then H('INEXACT_STATE') end local aA=O(D,O(cT,M)) aA=B(aA,M)and M or aA return aA~=D and aA or nil end
local function bb(g,az) if g~='0'and not U(g,'^[1-9]%d*$')then return nil end
return(#g<#az or(#g==#az and not aV(az,g)))and g or nil end local function bO(Z,g,bJ)
local j=g and bb(g,'9223372036854775807') local d=j and bg(j) if not d or d==0 and bJ>0 then
T(y('ERR invalid %s: expected an integer from %d to 9223372036854775807',Z,bJ)) elseif d-d~=0 then
T(y('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Z)) end return d end local bv={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ai(cM,w)
return not U(w,' ',1,true)and U(cM,' '..w..' ',1,true)~=nil end local function bZ(a,l)
return not ai(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or ai((' COST PARTIAL ALWAYS RESERVE RESERVATION '),l)
end local function cH(w,l) local R,K=0,0 local bX,cO=math.min(#w,#l),math.max(#w,#l)
while R<bX and w:byte(R+1)==l:byte(R+1)do R=R+1 end while K<bX-R and w:byte(-1-K)==l:byte(-1-K)do K=K+1 end
return R+K>=2 and cO-R-K<=2 end local function cB(a,E,w) local aj={} for Y,L in ipairs(bv)do
if ai(E,L[1])and bZ(a,L[1])then aj[#aj+1]=L[2] end end for Y,ah in ipairs({'FULL','LINE','HEADERS'})do aj[#aj+1]=ah end
for Y,l in ipairs(aj)do if cH(w:upper(),aK(l,'^%u+'))then T('ERR syntax error: no such option, but there is '..l) end
end local K=table.remove(aj) local dA=table.concat(aj,', ')
T('ERR syntax error: after limit come '..dA..' or '..K..', each at most once') end local function dp(L,a,E)
local l,dE=L[1],a.ab if not ai(E,l)then T(y('ERR invalid %s: only %s it',l,L[3])) elseif not bZ(a,l)then
T(y('ERR invalid %s: %s takes none',l,('COUNTER'))) elseif a[l]~=nil then
T(y('ERR syntax error: %s comes at most once',L[2])) end end
local bw={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bQ(g) local C,cd=aK(g,'^(%d+)(%l*)$')
local F=C and bw[cd]and bb(C,'18446744073709551615')and C*bw[cd] return F and F>=1 and F<=1e15 and F or nil end
local function bP(g,az) return g and#g>=1 and#g<=az and g end local ci=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aR)
local function df(l,g,bV) if l=='RESERVE'then local cc=bV and bQ(bV)
return bP(g,128)and cc and{id=g,ttl=cc}or H('RESERVE') elseif l=='RESERVATION'then return bP(g,128)or H('RESERVATION')
end if l=='AS'then return g and#g>=1 and#g<=64 and not U(g,'[^%w._-]')and g or H('AS') elseif l=='AT'then
local j=g and bb(g,'9223372036854775807') return j and aL(bg(j),(an(ci,1000)))or H('AT') end
return bO(l,g,l=='BURST'and 1 or 0) end local function dn(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
H(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
H(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cg={FULL=true,LINE=true,HEADERS=true}
local function cV(ah,bM) if ah then H(ah==bM and'FORM_TWICE'or'TWO_FORMS') end return bM end local function dd(a,t,e,E)
while t[e]do local w,L=t[e]:upper(),nil for Y,bI in ipairs(bv)do L=bI[1]==w and bI or L end if L then dp(L,a,E)
if L[2]==w then a[w]=true e=e+1 else a[w]=df(w,t[e+1],t[e+2]) e=e+(w=='RESERVE'and 3 or 2) end dn(a)
elseif cg[w]and ai(E,'form')then a.form=cV(a.form,w) e=e+1 else return e end end return e end
local ch={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dB(a,g) local k=bQ(g)
if not k then a.Z=g:upper() k=ch[a.Z] if not k then
H(ai((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ai((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
T(y('ERR invalid window: %s takes no windows of the calendar',('COUNTER'))) end end return k end local function cE(p)
return p:sub(-9)==':reserved'or p:sub(-14)==':reserved:ends' end local function dq(p) if cE(p)then H('RESERVED_KEY') end
end local function dw(a,V,e,p) local aH,bD=V[e]or'',V[e+1] local Z=((nil)and(nil)(a)or'')..':reserved'
if(aH~=p..Z and aH~='{'..p..'}'..Z)or bD~=aH..':ends'then H('KEYS') end a.ae,a.ac=aH,bD return e+2 end
local function cn(a) local cW=a.PARTIAL and a.n<a.e a.r=a.SHADOW and not a.u and(cW or not a.allowed)
if not a.allowed and(a.r or a.u)then a.allowed=true if not(nil)then local Y,Y,Y,bo=aG(a) a.ttl=al(bo) end end end
local function dl(a) bf(a,'keep',a.c) return a.remaining end local function cZ(a,P,i) local f=aF(a,a.c) local N=bS(f,P)
if i==0 or not N then return'keep' end local z=as(f.a,f.b,f.current,f.previous) z[N]=x(z[N],i)
local aO=x(I(z.current,a.f),bs(a,z)) if bG(z[N])or B(I(aS,a.f),aO)then H('OVERFLOW') end return'charge',z end
local function cU(i) return i==0 and 1 or i end local function cp(a) local i=a.e aZ(a,0) local m,v=cZ(a,nil,i)
if i>0 then a.i,a.l=m,v end local ar=bp(a.i,a.l,a.c) bf(a,a.i,ar) a.allowed=a.g>0 and s(a,0)==0 a.x=a.g>0 and i or cU(i)
if(nil)then a.count,a.ttl=(nil)(ar,a.now_ms) elseif a.allowed then a.ttl=al(aw(s(a,a.g))) else local s=s(a,a.x)
a.ttl=s and math.max(1,al(aw(s)))or-1 end end local function cq(a) local i=a.e if a.PARTIAL then i=math.min(i,dl(a)) end
a.n=i if a.ALWAYS then cp(a) else aZ(a,i) end end local function dy(d) local br='' while d-d~=0 do local r
d,r=an(d,10000000) br=y('%07.0f',r)..br end return y('%.0f',d)..br end local function au(d) if d-d~=0 then return dy(d)
end return y('%.0f',d) end local function dt(p,P) if P then ac('PEXPIREAT',p,au(P)) end end local function bB(f)
local k,n,o=f.a,f.current,f.previous local C=an(f.b,k) local cK=C-C~=0 or n-n~=0 or o-o~=0 if cK then
C,n,o=au(C),au(n),au(o) return'C:'..au(k)..':'..C..':'..n..':'..o end return y('C:%.0f:%.0f:%.0f:%.0f',k,C,n,o) end
local function cm(a,m,v) local p=a.o if m=='delete'then ac('UNLINK',p) return end local G=be(a,m,v) if m=='keep'then
dt(p,G) elseif G then ac('SET',p,bB(v),'PXAT',G==0 and'1'or au(G)) else ac('SET',p,bB(v),'KEEPTTL') end end
local function cl(a,m,v) if a.ad then v=bp(m,v,a.c) a.c=a.W if not v then m=a.W and'delete'or'keep'
elseif m~='charge'then m='refund' end end cm(a,m,v) end local function bR(a) return a.u and a.u.e or a.r and a.e or a.n
end local function bE(a) if not a.allowed then return 0 end return a.PARTIAL and bR(a)or 1 end local function cD(a,z)
local af,dr,aa,bo,cu=aG(a) return{ 'allowed',bE(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.g, 'remaining',af,
'retry_after_ms',dr, 'next_ms',aa, 'reset_ms',bo, 'delay_ms',cu, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0,
'charged',z, } end local function cS(aD) local bY={} for Y,a in ipairs(aD)do local R,C=a.AS or('COUNTER'):lower(),2
a.k=R while bY[a.k]do a.k=y('%s-%d',R,C) C=C+1 end bY[a.k]=true end end local function aJ(d)
return y('%.0f',aL(d,999999999999999)) end local function dh(a) local k=(nil)and(nil)(a)or a.a local bd,r=1000,k%1000
while r>0 do bd,r=r,bd%r end local aP=1000/bd local X=an(I(k,aP),1000)
return y('"%s";q=%s;w=%s',a.k,aJ(I(a.limit,aP)),aJ(X)) end local function cI(aM,bm) if aM.allowed~=bm.allowed then
return not aM.allowed end local s,bn=aM.retry_after_ms,bm.retry_after_ms if s~=bn then return s<0 or(bn>=0 and s>bn) end
return aM.remaining<bm.remaining end local function cF(aD) local bq,bT=aD[1],{} cS(aD) for d,a in ipairs(aD)do
bT[d]=dh(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aG(a) if cI(a,bq)then bq=a end end local a=bq local aE={
'X-RateLimit-Limit', y('%.0f',a.g), 'X-RateLimit-Remaining', y('%.0f',a.remaining), } local function aI(Z,am)
aE[#aE+1]=Z aE[#aE+1]=am end if a.reset_ms>=0 then aI('X-RateLimit-Reset',y('%.0f',al(a.now_ms+a.reset_ms))) end
aI('RateLimit-Policy',table.concat(bT,', ')) local cP=a.next_ms>=0 and';t='..aJ(al(a.next_ms))or''
aI('RateLimit',y('"%s";r=%s%s',a.k,aJ(a.remaining),cP)) if not a.allowed and a.retry_after_ms>=0 then
aI('Retry-After',y('%.0f',al(a.retry_after_ms))) end return aE end local function cX(a,z) if a.form=='FULL'then
return cD(a,z) end return{bE(a),a.count,a.ttl,cF({a})} end
aQ={z=cj,A=cl,B=cn,E=cq,F=ag,v=cv,error_reply=cx,G=cy,j=H,H=cA,I=cB,J=ax,t=bG,M=bL,N=cQ,w=cR,P=cX,Q=bO,q=dc,S=dd,y=bR,U=dj,refund=dk,V=dq,X=dv,Y=dw,aa=dB}
end return aQ end local cw,bU=pcall(ds,KEYS,ARGV) return cw and bU or h().error_reply(bU)
