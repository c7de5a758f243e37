-- RL.SETTLE GCRA, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aH,f local O,r,aD,dr=string.find,string.format,string.match,string.sub local function H(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return f().v(b,c) end local function x(b,c)
if b-b==0 and c-c==0 then return b<c end return f().P(b,c) end local function C(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return f().A(b,c) end local function ae(b,c)
if b-b==0 and c-c==0 then local u=b%c return u==0 and b/c or(b-u)/c+1 end local aj,u=f().u(b,c)
return u==0 and aj or C(aj,1) end local function bD(a) a.c,a.i=0,0 if a.limit>0 then local bO=H(a.y,1000)
if x(bO,a.limit)then f().g('SPAN') end a.c=ae(bO,a.limit) a.i=H(a.b,a.c) if a.i-a.i~=0 then f().Y(a) end end end
local function cR(p,e,w) local am,ap,j=p[e],p[e+1],p[e+2] if not ap then f().g('ARITY') end local a={ p='', q=0,
now_ms=0, z=0, y=0, limit=0, b=0, f=1, form=nil, delay=0, a=nil, n=nil, allowed=false, count=0, ttl=0, j='keep',
remaining=0, o=1, } e=e+2 if j=='LINE'and not p[e+1]and w~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local ad=p[e+1]or''
local bt=w==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[e+2]=='LINE'and not p[e+3]and#ad<16
if bt and j=='COST'and(' COST PARTIAL BURST ')~=' ID 'and O(ad,'^[1-9]%d*$')then a.form,a.f,e='LINE',ad+0,e+3
elseif bt and j=='ID'and(' COST PARTIAL BURST ')==' ID 'and ad~=''then a.form,a.ID,e='LINE',ad,e+3 else e=f().W(a,p,e,w)
a.f=a.COST or 1 end end local aT=#ap<16 and O(ap,'^[1-9]%d*$') a.limit=aT and ap+0 or f().V('limit',ap,0)
aT=#am<10 and O(am,'^[1-9]%d*$') local A=aT and am*1000 or f().ab(a,am)
a.z,a.y,a.b=A,A<9e12 and A*1000 or f().v(A,1000),a.BURST or a.limit if bD then bD(a) end return a,e end
local function cO(p,w) local a,e=cR(p,1,w) if p[e]then f().K(a,w,p[e]) end return a end local function cP(p,w)
if not p[1+1]then f().g('ARITY') end return cO(p,w) end local S=redis.call local function cW(a) local bK=S('TIME')
local aZ=bK[1]*1000000+bK[2] a.q,a.now_ms=aZ,(aZ-aZ%1000)/1000 end local function dj(a,ah,e,bQ,aU) local n=ah[e]
if not n then f().g('KEYS') end a.p,e=n,e+1 if aU then a.l=n elseif O(n,':reserved',1,true)then f().X(n) end return e
end local function cU(a,ah,bQ,aU) cW(a) if#ah~=dj(a,ah,1,bQ,aU)-1 then f().g('KEYS') end end local function ci(g)
local L,aY=aD(g,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not L or L:byte()>56 then return f().G(g) end
return{e=L+0,k=aY+0} end local function cC(a) local g=S('GET',a.p) if g then
a.a=ci(g)or f().J(g,('GCRA'),'FOREIGN_VALUE') end end local function y(B,t) return ae(t.k==0 and t.e or C(t.e,1),1000)
end local function bH(k,q,I) if k=='keep'then return I end return k~='delete'and q or nil end local function cr(n,ba)
if not redis.REDIS_VERSION_NUM then return f().I(n,ba) end local e=S('PEXPIRETIME',n) return e>=0 and e or nil end
local function aP(a,k,q) local I,aN=a.a,(nil) if k=='keep'and(not I or not aN)then return nil end
local v=I and cr(a.p,a.now_ms) if v and v>=(2^53)then v=f().M(f().H(v)) end if k=='keep'then local M=y(a,I)
return v and x(v,M)and C(M,5000)or nil end local M=y(a,q) local ao=C(M,5000) if not I then return ao elseif not v then
return ao end if aN and k=='rebase'then return f().Q(v,y(a,I),M) elseif x(v,M)then return ao
elseif not x(ao,v)or(aN and x(C(y(a,I),5000),v))then return nil end return ao end local function V(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return f().Z(b,c) end local function aw(a,t) local m,bL=0,a.i
if t and not x(t.e,a.q)then m=C(H(V(t.e,a.q),1000),t.k) if x(bL,m)then return bL,true end end return m,false end
local function af(d) if d-d~=0 or d>=(2^53)then f().g('INEXACT_REPLY') end return d end local function bN(a,m)
return a.c==0 and 0 or ae(m,a.c) end local function az(b,c) if b-b==0 and c-c==0 then local u=b%c return(b-u)/c,u end
return f().u(b,c) end local function aG(a,m) local L,aY=az(m,1000) return{e=C(a.q,L),k=aY} end local function bF(a,m)
a.B=m a.remaining=a.c==0 and 0 or V(a.b,bN(a,m)) end local function o(a,h) local ag=a.c if ag==0 or h>a.b then
return nil end return ae(V(a.B,V(a.i,H(h,ag))),1000000) end local function ac(Q) local u=Q%1000
return Q<0 and-1 or u==0 and Q/1000 or(Q-u)/1000+1 end local function dl(a,h) local o=o(a,h==0 and 1 or h)
o=o and ac(af(o))or-1 return o==0 and 1 or o end local function aM(a,h) local m,bZ=aw(a,a.a) local ag=a.c
local q=C(m,H(h==0 and 1 or h,ag)) local aJ=ag~=0 and not x(a.i,q) a.allowed,a.count,a.j=aJ,af(bN(a,m)),'keep'
if aJ and h==0 then a.ttl=af(ae(m,1000000000)) elseif aJ then a.j,a.n='charge',aG(a,q) a.ttl=af(ae(q,1000000000)) else
if bZ and ag~=0 then a.j,a.n='rebase',aG(a,m) end bF(a,m) a.ttl=dl(a,h) end end local function ch(a)
if a.PARTIAL or a.ALWAYS then f().F(a) else local h=a.f a.o=h aM(a,h) end if a.SHADOW then f().E(a) end end
local function aQ(a,B,t) bF(a,(aw(a,t))) end local function aA(a) local k,o=a.j,o
aQ(a,k,k=='keep'and a.a or k~='delete'and a.n or nil) local U,aL,N,R,ab=a.remaining,a.b,0,0,0 if not a.allowed then
local h=a.o N=o(a,a.w or(h==0 and 1 or h))or-1 if a.N and N>=0 then N=math.max(N,a.N) end end if U<aL then
R=o(a,U+1)or-1 ab=U+1==aL and R or o(a,aL)or-1 end if N-N~=0 or R-R~=0 or ab-ab~=0 or N>=(2^53)or ab>=(2^53)then
f().g('INEXACT_REPLY') end return U,N,R,ab,0 end local function cA(a,J) local U,N,R,ab,ck=aA(a) local dh=a.r and 1 or 0
return r( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and f().x(a)or 1)or 0,a.count,a.ttl,a.b,U,N,R,ab, ck,a.now_ms,dh,J ) end local function cZ(a,J)
local X=a.form if X=='LINE'then return cA(a,J) elseif X then return f().S(a,J) end
return{a.allowed and(a.PARTIAL and f().x(a)or 1)or 0,a.count,a.ttl} end local function cd(a,k,q,J) local bn
local y,I,ak=nil,a.a,bH(k,q,a.a) if ak and aP then y=aP(a,k,q) end if y and x(y,a.now_ms)then ak=nil end a.a=ak ch(a)
bn=cZ(a,J) a.a=I if not a.ad then f().D(a,k,q) end return bn end local function df(ah,p)
local a=cP(p,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ') local be,av=a.RESERVED,a.ACTUAL
if not be or not av then f().g('SETTLEMENT') end local ax=math.abs(be-av) cU(a,ah) cC(a,'write')
local ce=av<be and f().refund or f().U local k,q=ce(a,a.AT,ax) return cd(a,k,q,av) end function f() if not aH then
local l={} l.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
l.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
l.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
l.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
l.ID='ERR invalid ID: expected 1 to 512 bytes'
l.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
l.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
l.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
l.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
l.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
l.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
l.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
l.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
l.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
l.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
l.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
l.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' l.ARITY='ERR wrong number of arguments'
l.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
l.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
l.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
l.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local aI={ __sub=function()
return 1 end, } local bV=setmetatable({9437184,14339741,14210},aI) local function K(g) error({err=g},0) end
local function F(ai) K(l[ai]) end local function dd(a) if x(bV,a.i)then F('SPAN') end end local function bq(b,c)
for e=1,math.min(#b,#c)do local bR,bS=b:byte(e),c:byte(e) if bR~=bS then return bR<bS end end return#b<#c end
local function ay(g,aX) if g~='0'and not O(g,'^[1-9]%d*$')then return nil end
return(#g<#aX or(#g==#aX and not bq(aX,g)))and g or nil end local function aR(i)
if#i<=15 or(#i==16 and bq(i,'9007199254740992'))then return i+0 end local aS=#i%7 local d=aS>0 and i:sub(1,aS)+0 or 0
for e=aS+1,#i,7 do d=C(H(d,10000000),i:sub(e,e+6)+0) end return d end local function cj(g)
local i=ay(g,'18446744073709551615') if not i then return nil end return{e=#i>3 and aR(i:sub(1,-4))or 0,k=i:sub(-3)+0}
end local function cX(a,B,h) local m=aw(a,a.a) local bd=H(h,a.c) if m==0 or bd==0 then return'keep'
elseif not x(bd,m)then return'delete' end return'refund',aG(a,V(m,bd)) end local function aW(b,c)
return x(c,b)and c or b end local function bz(a,B,h) if h==0 or a.c==0 then return'keep' end local m=aw(a,a.a)
return'charge',aG(a,aW(C(m,H(h,a.c)),a.i)) end local function cs(g,s,cN)
local dp={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bj=dp[aD(g,'^(%u):')] if not bj or bj==s then
F(cN) end K('ERR the key holds a state of '..bj..': use another key for each algorithm') end local function cp(as)
if type(as)=='table'then return as elseif O(as,'^%u+ ')then return redis.error_reply(as) end error(as,0) end
local function W(d) if d-d~=0 then return d end local i,D={},0 while d>0 do local E=d%(2^24) D=D+1 i[D]=E d=(d-E)/(2^24)
end return i end local function an(i) local D=#i while D>0 and i[D]==0 do i[D]=nil D=D-1 end
if D>3 or(D==3 and i[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(i,aI) end
return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function bx(b,c) local bm,bY=b-b==0,c-c==0
if bm or bY then return bm elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function bX(b,c) b,c=W(b),W(c) local al,T={},0 for d=1,math.max(#b,#c)+1 do
local E=(b[d]or 0)+(c[d]or 0)+T T=E>=(2^24)and 1 or 0 al[d]=E-T*(2^24) end return an(al) end local function di(b,c)
if not bx(c,b)then return 0 end c=W(c) local ax,aK={},0 for d=1,#b do local E=b[d]-(c[d]or 0)-aK aK=E<0 and 1 or 0
ax[d]=E+aK*(2^24) end return an(ax) end local function cG(b,c) b,c=W(b),W(c) local ar={} for d=1,#b+#c do ar[d]=0 end
for d=1,#b do local T=0 for aV=1,#c do local E=ar[d+aV-1]+b[d]*c[aV]+T T=math.floor(E/(2^24)) ar[d+aV-1]=E-T*(2^24) end
ar[d+#c]=T end return an(ar) end local function bo(d) if d-d==0 then return d end local al=0 for cx=#d,1,-1 do
al=al*(2^24)+d[cx] end return al end local function cm(b,c) local aj=0 while not x(b,c)do
local aF=math.max(1,math.floor(bo(b)/bo(c)*(1-2^-45))) aF=an(W(aF)) aj=C(aj,aF) b=V(b,H(aF,c)) end return aj,b end
local function cq(n,ba) local bw=S('PTTL',n) return bw>=0 and ba+bw or nil end local function cF(v,cI,M) if v-v~=0 then
F('INEXACT_STATE') end local aq=V(v,V(cI,M)) aq=x(aq,M)and M or aq return aq~=v and aq or nil end
local function bA(ai,g,bv) local i=g and ay(g,'9223372036854775807') local d=i and aR(i) if not d or d==0 and bv>0 then
K(r('ERR invalid %s: expected an integer from %d to 9223372036854775807',ai,bv)) elseif d-d~=0 then
K(r('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ai)) end return d end local bk={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Y(cB,s)
return not O(s,' ',1,true)and O(cB,' '..s..' ',1,true)~=nil end local function bJ(a,j)
return not Y(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or Y((' COST PARTIAL BURST '),j)
end local function cy(s,j) local G,P=0,0 local bG,cD=math.min(#s,#j),math.max(#s,#j)
while G<bG and s:byte(G+1)==j:byte(G+1)do G=G+1 end while P<bG-G and s:byte(-1-P)==j:byte(-1-P)do P=P+1 end
return G+P>=2 and cD-G-P<=2 end local function ct(a,w,s) local aa={} for B,z in ipairs(bk)do
if Y(w,z[1])and bJ(a,z[1])then aa[#aa+1]=z[2] end end for B,X in ipairs({'FULL','LINE','HEADERS'})do aa[#aa+1]=X end
for B,j in ipairs(aa)do if cy(s:upper(),aD(j,'^%u+'))then K('ERR syntax error: no such option, but there is '..j) end
end local P=table.remove(aa) local dm=table.concat(aa,', ')
K('ERR syntax error: after limit come '..dm..' or '..P..', each at most once') end local function db(z,a,w)
local j,dq=z[1],a.ac if not Y(w,j)then K(r('ERR invalid %s: only %s it',j,z[3])) elseif not bJ(a,j)then
K(r('ERR invalid %s: %s takes none',j,('GCRA'))) elseif a[j]~=nil then
K(r('ERR syntax error: %s comes at most once',z[2])) end end local bW=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aI)
local function cS(j,g,ds) if j=='AS'then return g and#g>=1 and#g<=64 and not O(g,'[^%w._-]')and g or F('AS')
elseif j=='AT'then local i=g and ay(g,'9223372036854775807') return i and aW(aR(i),(az(bW,1000)))or F('AT') end
return bA(j,g,j=='BURST'and 1 or 0) end local function da(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bT={FULL=true,LINE=true,HEADERS=true}
local function cK(X,by) if X then F(X==by and'FORM_TWICE'or'TWO_FORMS') end return by end local function cQ(a,p,e,w)
while p[e]do local s,z=p[e]:upper(),nil for B,bu in ipairs(bk)do z=bu[1]==s and bu or z end if z then db(z,a,w)
if z[2]==s then a[s]=true e=e+1 else a[s]=cS(s,p[e+1],p[e+2]) e=e+(s=='RESERVE'and 3 or 2) end da(a)
elseif bT[s]and Y(w,'form')then a.form=cK(a.form,s) e=e+1 else return e end end return e end
local bl={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cT(g) local Z,bM=aD(g,'^(%d+)(%l*)$')
local Q=Z and bl[bM]and ay(Z,'18446744073709551615')and Z*bl[bM] return Q and Q>=1 and Q<=1e15 and Q or nil end
local bU={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dn(a,g) local A=cT(g)
if not A then a.aa=g:upper() A=bU[a.aa] if not A then
F(Y((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Y((' COST PARTIAL BURST '),'ANCHOR')then
K(r('ERR invalid window: %s takes no windows of the calendar',('GCRA'))) end end return A end local function cv(n)
return n:sub(-9)==':reserved'or n:sub(-14)==':reserved:ends' end local function dc(n) if cv(n)then F('RESERVED_KEY') end
end local function cc(a) local cL=a.PARTIAL and a.o<a.f a.r=a.SHADOW and not a.t and(cL or not a.allowed)
if not a.allowed and(a.r or a.t)then a.allowed=true if not(nil)then local B,B,B,bf=aA(a) a.ttl=ac(bf) end end end
local function cY(a) aQ(a,'keep',a.a) return a.remaining end local function cJ(h) return h==0 and 1 or h end
local function cf(a) local h=a.f aM(a,0) local k,q=bz(a,nil,h) if h>0 then a.j,a.n=k,q end local ak=bH(a.j,a.n,a.a)
aQ(a,a.j,ak) a.allowed=a.b>0 and o(a,0)==0 a.w=a.b>0 and h or cJ(h) if(nil)then a.count,a.ttl=(nil)(ak,a.now_ms)
elseif a.allowed then a.ttl=ac(af(o(a,a.b))) else local o=o(a,a.w) a.ttl=o and math.max(1,ac(af(o)))or-1 end end
local function cg(a) local h=a.f if a.PARTIAL then h=math.min(h,cY(a)) end a.o=h if a.ALWAYS then cf(a) else aM(a,h) end
end local function dk(d) local bh='' while d-d~=0 do local u d,u=az(d,10000000) bh=r('%07.0f',u)..bh end
return r('%.0f',d)..bh end local function bi(d) if d-d~=0 then return dk(d) end return r('%.0f',d) end
local function dg(n,bp) if bp then S('PEXPIREAT',n,bi(bp)) end end local function co(t)
return t.e==0 and r('%d',t.k)or bi(t.e)..r('%03d',t.k) end local function br(t) local L=t.e if L-L~=0 or L<1000000 then
return co(t) end return r('%.0f%03d',L,t.k) end local function cb(a,k,q) local n=a.p if k=='delete'then S('UNLINK',n)
return end local y=aP(a,k,q) if k=='keep'then dg(n,y) elseif y then S('SET',n,br(q),'PXAT',y==0 and'1'or bi(y)) else
S('SET',n,br(q),'KEEPTTL') end end local function ca(a,k,q) cb(a,k,q) end local function bB(a)
return a.t and a.t.f or a.r and a.f or a.o end local function bs(a) if not a.allowed then return 0 end
return a.PARTIAL and bB(a)or 1 end local function cu(a,J) local U,de,R,bf,cl=aA(a) return{ 'allowed',bs(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',U, 'retry_after_ms',de, 'next_ms',R, 'reset_ms',bf,
'delay_ms',cl, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0, 'charged',J, } end local function cH(at) local bI={}
for B,a in ipairs(at)do local G,Z=a.AS or('GCRA'):lower(),2 a.l=G while bI[a.l]do a.l=r('%s-%d',G,Z) Z=Z+1 end
bI[a.l]=true end end local function aC(d) return r('%.0f',aW(d,999999999999999)) end local function cV(a)
local A=(nil)and(nil)(a)or a.z local aO,u=1000,A%1000 while u>0 do aO,u=u,aO%u end local bP=1000/aO
local am=az(H(A,bP),1000) return r('"%s";q=%s;w=%s',a.l,aC(H(a.limit,bP)),aC(am)) end local function cz(aE,bb)
if aE.allowed~=bb.allowed then return not aE.allowed end local o,bc=aE.retry_after_ms,bb.retry_after_ms if o~=bc then
return o<0 or(bc>=0 and o>bc) end return aE.remaining<bb.remaining end local function cw(at) local bg,bC=at[1],{} cH(at)
for d,a in ipairs(at)do bC[d]=cV(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aA(a) if cz(a,bg)then bg=a end end
local a=bg local au={ 'X-RateLimit-Limit', r('%.0f',a.b), 'X-RateLimit-Remaining', r('%.0f',a.remaining), }
local function aB(ai,ad) au[#au+1]=ai au[#au+1]=ad end if a.reset_ms>=0 then
aB('X-RateLimit-Reset',r('%.0f',ac(a.now_ms+a.reset_ms))) end aB('RateLimit-Policy',table.concat(bC,', '))
local cE=a.next_ms>=0 and';t='..aC(ac(a.next_ms))or'' aB('RateLimit',r('"%s";r=%s%s',a.l,aC(a.remaining),cE))
if not a.allowed and a.retry_after_ms>=0 then aB('Retry-After',r('%.0f',ac(a.retry_after_ms))) end return au end
local function cM(a,J) if a.form=='FULL'then return cu(a,J) end return{bs(a),a.count,a.ttl,cw({a})} end
aH={A=bX,D=ca,E=cc,F=cg,G=cj,H=W,u=cm,error_reply=cp,I=cq,g=F,J=cs,K=ct,M=an,P=bx,Q=cF,v=cG,S=cM,U=bz,V=bA,W=cQ,x=bB,refund=cX,X=dc,Y=dd,Z=di,ab=dn}
end return aH end local cn,bE=pcall(df,KEYS,ARGV) return cn and bE or f().error_reply(bE)
