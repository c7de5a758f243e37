-- RL.SETTLE GCRA, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aJ,f local V,r,aq,ds=string.find,string.format,string.match,string.sub local function bF(P) return P==''and 1000
or P=='ms'and 1 or P=='s'and 1000 or P=='m'and 60000 or P=='h'and 3600000 or P=='d'and 86400000 or nil end
local function H(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return f().r(b,c) end local function y(b,c)
if b-b==0 and c-c==0 then return b<c end return f().J(b,c) end local function C(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return f().w(b,c) end local function af(b,c)
if b-b==0 and c-c==0 then local u=b%c return u==0 and b/c or(b-u)/c+1 end local ak,u=f().q(b,c)
return u==0 and ak or C(ak,1) end local function bD(a) a.c,a.g=0,0 if a.limit>0 then local bO=H(a.u,1000)
if y(bO,a.limit)then f().f('SPAN') end a.c=af(bO,a.limit) a.g=H(a.b,a.c) if a.g-a.g~=0 then f().U(a) end end end
local function cS(p,e,x) local ax,ap,j=p[e],p[e+1],p[e+2] if not ap then f().f('ARITY') end local a={ m='', n=0,
now_ms=0, v=0, u=0, limit=0, b=0, e=1, form=nil, delay=0, a=nil, k=nil, allowed=false, count=0, ttl=0, h='keep',
remaining=0, l=1, } e=e+2 if j=='LINE'and not p[e+1]and x~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local ae=p[e+1]or''
local bt=x==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[e+2]=='LINE'and not p[e+3]and#ae<16
if bt and j=='COST'and(' COST PARTIAL BURST ')~=' ID 'and V(ae,'^[1-9]%d*$')then a.form,a.e,e='LINE',ae+0,e+3
elseif bt and j=='ID'and(' COST PARTIAL BURST ')==' ID 'and ae~=''then a.form,a.ID,e='LINE',ae,e+3 else e=f().Q(a,p,e,x)
a.e=a.COST or 1 end end local cz=#ap<16 and V(ap,'^[1-9]%d*$') a.limit=cz and ap+0 or f().P('limit',ap,0)
local N,P=aq(ax,'^([1-9]%d*)(%l*)$') local av=N and#ax<16 and bF(P) local w=av and N*av if not w or w<1 or w>1e15 then
w=f().X(a,ax) end a.v,a.u,a.b=w,w<9e12 and w*1000 or f().r(w,1000),a.BURST or a.limit if bD then bD(a) end return a,e
end local function cP(p,x) local a,e=cS(p,1,x) if p[e]then f().G(a,x,p[e]) end return a end local function cQ(p,x)
if not p[1+1]then f().f('ARITY') end return cP(p,x) end local T=redis.call local function cX(a) local bL=T('TIME')
local ba=bL[1]*1000000+bL[2] a.n,a.now_ms=ba,(ba-ba%1000)/1000 end local function dk(a,ai,e,bQ,aV) local n=ai[e]
if not n then f().f('KEYS') end a.m,e=n,e+1 if aV then a.j=n elseif V(n,':reserved',1,true)then f().S(n) end return e
end local function cV(a,ai,bQ,aV) cX(a) if#ai~=dk(a,ai,1,bQ,aV)-1 then f().f('KEYS') end end local function ci(g)
local L,aZ=aq(g,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not L or L:byte()>56 then return f().B(g) end
return{d=L+0,i=aZ+0} end local function cD(a) local g=T('GET',a.m) if g then
a.a=ci(g)or f().F(g,('GCRA'),'FOREIGN_VALUE') end end local function z(B,t) return af(t.i==0 and t.d or C(t.d,1),1000)
end local function bI(k,q,I) if k=='keep'then return I end return k~='delete'and q or nil end local function cr(n,bb)
if not redis.REDIS_VERSION_NUM then return f().E(n,bb) end local e=T('PEXPIRETIME',n) return e>=0 and e or nil end
local function aR(a,k,q) local I,aP=a.a,(nil) if k=='keep'and(not I or not aP)then return nil end
local v=I and cr(a.m,a.now_ms) if v and v>=(2^53)then v=f().H(f().D(v)) end if k=='keep'then local M=z(a,I)
return v and y(v,M)and C(M,5000)or nil end local M=z(a,q) local ao=C(M,5000) if not I then return ao elseif not v then
return ao end if aP and k=='rebase'then return f().K(v,z(a,I),M) elseif y(v,M)then return ao
elseif not y(ao,v)or(aP and y(C(z(a,I),5000),v))then return nil end return ao end local function X(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return f().V(b,c) end local function az(a,t) local m,bM=0,a.g
if t and not y(t.d,a.n)then m=C(H(X(t.d,a.n),1000),t.i) if y(bM,m)then return bM,true end end return m,false end
local function ag(d) if d-d~=0 or d>=(2^53)then f().f('INEXACT_REPLY') end return d end local function bN(a,m)
return a.c==0 and 0 or af(m,a.c) end local function aC(b,c) if b-b==0 and c-c==0 then local u=b%c return(b-u)/c,u end
return f().q(b,c) end local function aI(a,m) local L,aZ=aC(m,1000) return{d=C(a.n,L),i=aZ} end local function bG(a,m)
a.x=m a.remaining=a.c==0 and 0 or X(a.b,bN(a,m)) end local function o(a,h) local ah=a.c if ah==0 or h>a.b then
return nil end return af(X(a.x,X(a.g,H(h,ah))),1000000) end local function ad(R) local u=R%1000
return R<0 and-1 or u==0 and R/1000 or(R-u)/1000+1 end local function dm(a,h) local o=o(a,h==0 and 1 or h)
o=o and ad(ag(o))or-1 return o==0 and 1 or o end local function aO(a,h) local m,bZ=az(a,a.a) local ah=a.c
local q=C(m,H(h==0 and 1 or h,ah)) local aL=ah~=0 and not y(a.g,q) a.allowed,a.count,a.h=aL,ag(bN(a,m)),'keep'
if aL and h==0 then a.ttl=ag(af(m,1000000000)) elseif aL then a.h,a.k='charge',aI(a,q) a.ttl=ag(af(q,1000000000)) else
if bZ and ah~=0 then a.h,a.k='rebase',aI(a,m) end bG(a,m) a.ttl=dm(a,h) end end local function ch(a)
if a.PARTIAL or a.ALWAYS then f().A(a) else local h=a.e a.l=h aO(a,h) end if a.SHADOW then f().z(a) end end
local function aS(a,B,t) bG(a,(az(a,t))) end local function aD(a) local k,o=a.h,o
aS(a,k,k=='keep'and a.a or k~='delete'and a.k or nil) local W,aN,O,S,ac=a.remaining,a.b,0,0,0 if not a.allowed then
local h=a.l O=o(a,a.s or(h==0 and 1 or h))or-1 if a.I and O>=0 then O=math.max(O,a.I) end end if W<aN then
S=o(a,W+1)or-1 ac=W+1==aN and S or o(a,aN)or-1 end if O-O~=0 or S-S~=0 or ac-ac~=0 or O>=(2^53)or ac>=(2^53)then
f().f('INEXACT_REPLY') end return W,O,S,ac,0 end local function cB(a,J) local W,O,S,ac,ck=aD(a) local di=a.o and 1 or 0
return r( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and f().t(a)or 1)or 0,a.count,a.ttl,a.b,W,O,S,ac, ck,a.now_ms,di,J ) end local function da(a,J)
local Z=a.form if Z=='LINE'then return cB(a,J) elseif Z then return f().M(a,J) end
return{a.allowed and(a.PARTIAL and f().t(a)or 1)or 0,a.count,a.ttl} end local function cd(a,k,q,J) local bn
local z,I,al=nil,a.a,bI(k,q,a.a) if al and aR then z=aR(a,k,q) end if z and y(z,a.now_ms)then al=nil end a.a=al ch(a)
bn=da(a,J) a.a=I if not a.Z then f().y(a,k,q) end return bn end local function dg(ai,p)
local a=cQ(p,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ') local bf,ay=a.RESERVED,a.ACTUAL
if not bf or not ay then f().f('SETTLEMENT') end local aA=math.abs(bf-ay) cV(a,ai) cD(a,'write')
local ce=ay<bf and f().refund or f().N local k,q=ce(a,a.AT,aA) return cd(a,k,q,ay) end function f() if not aJ then
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
l.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local aK={ __sub=function()
return 1 end, } local bV=setmetatable({9437184,14339741,14210},aK) local function K(g) error({err=g},0) end
local function F(aj) K(l[aj]) end local function de(a) if y(bV,a.g)then F('SPAN') end end local function bq(b,c)
for e=1,math.min(#b,#c)do local bR,bS=b:byte(e),c:byte(e) if bR~=bS then return bR<bS end end return#b<#c end
local function aB(g,aY) if g~='0'and not V(g,'^[1-9]%d*$')then return nil end
return(#g<#aY or(#g==#aY and not bq(aY,g)))and g or nil end local function aT(i)
if#i<=15 or(#i==16 and bq(i,'9007199254740992'))then return i+0 end local aU=#i%7 local d=aU>0 and i:sub(1,aU)+0 or 0
for e=aU+1,#i,7 do d=C(H(d,10000000),i:sub(e,e+6)+0) end return d end local function cj(g)
local i=aB(g,'18446744073709551615') if not i then return nil end return{d=#i>3 and aT(i:sub(1,-4))or 0,i=i:sub(-3)+0}
end local function cY(a,B,h) local m=az(a,a.a) local be=H(h,a.c) if m==0 or be==0 then return'keep'
elseif not y(be,m)then return'delete' end return'refund',aI(a,X(m,be)) end local function aX(b,c)
return y(c,b)and c or b end local function bz(a,B,h) if h==0 or a.c==0 then return'keep' end local m=az(a,a.a)
return'charge',aI(a,aX(C(m,H(h,a.c)),a.g)) end local function cs(g,s,cO)
local dq={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bk=dq[aq(g,'^(%u):')] if not bk or bk==s then
F(cO) end K('ERR the key holds a state of '..bk..': use another key for each algorithm') end local function cp(at)
if type(at)=='table'then return at elseif V(at,'^%u+ ')then return redis.error_reply(at) end error(at,0) end
local function Y(d) if d-d~=0 then return d end local i,D={},0 while d>0 do local E=d%(2^24) D=D+1 i[D]=E d=(d-E)/(2^24)
end return i end local function an(i) local D=#i while D>0 and i[D]==0 do i[D]=nil D=D-1 end
if D>3 or(D==3 and i[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(i,aK) end
return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function bx(b,c) local bm,bY=b-b==0,c-c==0
if bm or bY then return bm elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function bX(b,c) b,c=Y(b),Y(c) local am,U={},0 for d=1,math.max(#b,#c)+1 do
local E=(b[d]or 0)+(c[d]or 0)+U U=E>=(2^24)and 1 or 0 am[d]=E-U*(2^24) end return an(am) end local function dj(b,c)
if not bx(c,b)then return 0 end c=Y(c) local aA,aM={},0 for d=1,#b do local E=b[d]-(c[d]or 0)-aM aM=E<0 and 1 or 0
aA[d]=E+aM*(2^24) end return an(aA) end local function cH(b,c) b,c=Y(b),Y(c) local as={} for d=1,#b+#c do as[d]=0 end
for d=1,#b do local U=0 for aW=1,#c do local E=as[d+aW-1]+b[d]*c[aW]+U U=math.floor(E/(2^24)) as[d+aW-1]=E-U*(2^24) end
as[d+#c]=U end return an(as) end local function bo(d) if d-d==0 then return d end local am=0 for cx=#d,1,-1 do
am=am*(2^24)+d[cx] end return am end local function cm(b,c) local ak=0 while not y(b,c)do
local aH=math.max(1,math.floor(bo(b)/bo(c)*(1-2^-45))) aH=an(Y(aH)) ak=C(ak,aH) b=X(b,H(aH,c)) end return ak,b end
local function cq(n,bb) local bw=T('PTTL',n) return bw>=0 and bb+bw or nil end local function cG(v,cJ,M) if v-v~=0 then
F('INEXACT_STATE') end local ar=X(v,X(cJ,M)) ar=y(ar,M)and M or ar return ar~=v and ar or nil end
local function bA(aj,g,bv) local i=g and aB(g,'9223372036854775807') local d=i and aT(i) if not d or d==0 and bv>0 then
K(r('ERR invalid %s: expected an integer from %d to 9223372036854775807',aj,bv)) elseif d-d~=0 then
K(r('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aj)) end return d end local bl={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aa(cC,s)
return not V(s,' ',1,true)and V(cC,' '..s..' ',1,true)~=nil end local function bK(a,j)
return not aa(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or aa((' COST PARTIAL BURST '),j)
end local function cy(s,j) local G,Q=0,0 local bH,cE=math.min(#s,#j),math.max(#s,#j)
while G<bH and s:byte(G+1)==j:byte(G+1)do G=G+1 end while Q<bH-G and s:byte(-1-Q)==j:byte(-1-Q)do Q=Q+1 end
return G+Q>=2 and cE-G-Q<=2 end local function ct(a,x,s) local ab={} for B,A in ipairs(bl)do
if aa(x,A[1])and bK(a,A[1])then ab[#ab+1]=A[2] end end for B,Z in ipairs({'FULL','LINE','HEADERS'})do ab[#ab+1]=Z end
for B,j in ipairs(ab)do if cy(s:upper(),aq(j,'^%u+'))then K('ERR syntax error: no such option, but there is '..j) end
end local Q=table.remove(ab) local dn=table.concat(ab,', ')
K('ERR syntax error: after limit come '..dn..' or '..Q..', each at most once') end local function dc(A,a,x)
local j,dr=A[1],a.Y if not aa(x,j)then K(r('ERR invalid %s: only %s it',j,A[3])) elseif not bK(a,j)then
K(r('ERR invalid %s: %s takes none',j,('GCRA'))) elseif a[j]~=nil then
K(r('ERR syntax error: %s comes at most once',A[2])) end end local bW=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aK)
local function cT(j,g,dt) if j=='AS'then return g and#g>=1 and#g<=64 and not V(g,'[^%w._-]')and g or F('AS')
elseif j=='AT'then local i=g and aB(g,'9223372036854775807') return i and aX(aT(i),(aC(bW,1000)))or F('AT') end
return bA(j,g,j=='BURST'and 1 or 0) end local function db(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bT={FULL=true,LINE=true,HEADERS=true}
local function cL(Z,by) if Z then F(Z==by and'FORM_TWICE'or'TWO_FORMS') end return by end local function cR(a,p,e,x)
while p[e]do local s,A=p[e]:upper(),nil for B,bu in ipairs(bl)do A=bu[1]==s and bu or A end if A then dc(A,a,x)
if A[2]==s then a[s]=true e=e+1 else a[s]=cT(s,p[e+1],p[e+2]) e=e+(s=='RESERVE'and 3 or 2) end db(a)
elseif bT[s]and aa(x,'form')then a.form=cL(a.form,s) e=e+1 else return e end end return e end local function cU(g)
local N,P=aq(g,'^(%d+)(%l*)$') local av=N and bF(P) local R=av and aB(N,'18446744073709551615')and N*av
return R and R>=1 and R<=1e15 and R or nil end
local bU={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dp(a,g) local w=cU(g)
if not w then a.W=g:upper() w=bU[a.W] if not w then
F(aa((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aa((' COST PARTIAL BURST '),'ANCHOR')then
K(r('ERR invalid window: %s takes no windows of the calendar',('GCRA'))) end end return w end local function cv(n)
return n:sub(-9)==':reserved'or n:sub(-14)==':reserved:ends' end local function dd(n) if cv(n)then F('RESERVED_KEY') end
end local function cc(a) local cM=a.PARTIAL and a.l<a.e a.o=a.SHADOW and not a.p and(cM or not a.allowed)
if not a.allowed and(a.o or a.p)then a.allowed=true if not(nil)then local B,B,B,bg=aD(a) a.ttl=ad(bg) end end end
local function cZ(a) aS(a,'keep',a.a) return a.remaining end local function cK(h) return h==0 and 1 or h end
local function cf(a) local h=a.e aO(a,0) local k,q=bz(a,nil,h) if h>0 then a.h,a.k=k,q end local al=bI(a.h,a.k,a.a)
aS(a,a.h,al) a.allowed=a.b>0 and o(a,0)==0 a.s=a.b>0 and h or cK(h) if(nil)then a.count,a.ttl=(nil)(al,a.now_ms)
elseif a.allowed then a.ttl=ad(ag(o(a,a.b))) else local o=o(a,a.s) a.ttl=o and math.max(1,ad(ag(o)))or-1 end end
local function cg(a) local h=a.e if a.PARTIAL then h=math.min(h,cZ(a)) end a.l=h if a.ALWAYS then cf(a) else aO(a,h) end
end local function dl(d) local bi='' while d-d~=0 do local u d,u=aC(d,10000000) bi=r('%07.0f',u)..bi end
return r('%.0f',d)..bi end local function bj(d) if d-d~=0 then return dl(d) end return r('%.0f',d) end
local function dh(n,bp) if bp then T('PEXPIREAT',n,bj(bp)) end end local function co(t)
return t.d==0 and r('%d',t.i)or bj(t.d)..r('%03d',t.i) end local function br(t) local L=t.d if L-L~=0 or L<1000000 then
return co(t) end return r('%.0f%03d',L,t.i) end local function cb(a,k,q) local n=a.m if k=='delete'then T('UNLINK',n)
return end local z=aR(a,k,q) if k=='keep'then dh(n,z) elseif z then T('SET',n,br(q),'PXAT',z==0 and'1'or bj(z)) else
T('SET',n,br(q),'KEEPTTL') end end local function ca(a,k,q) cb(a,k,q) end local function bB(a)
return a.p and a.p.e or a.o and a.e or a.l end local function bs(a) if not a.allowed then return 0 end
return a.PARTIAL and bB(a)or 1 end local function cu(a,J) local W,df,S,bg,cl=aD(a) return{ 'allowed',bs(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',W, 'retry_after_ms',df, 'next_ms',S, 'reset_ms',bg,
'delay_ms',cl, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',J, } end local function cI(au) local bJ={}
for B,a in ipairs(au)do local G,N=a.AS or('GCRA'):lower(),2 a.j=G while bJ[a.j]do a.j=r('%s-%d',G,N) N=N+1 end
bJ[a.j]=true end end local function aF(d) return r('%.0f',aX(d,999999999999999)) end local function cW(a)
local w=(nil)and(nil)(a)or a.v local aQ,u=1000,w%1000 while u>0 do aQ,u=u,aQ%u end local bP=1000/aQ
local ax=aC(H(w,bP),1000) return r('"%s";q=%s;w=%s',a.j,aF(H(a.limit,bP)),aF(ax)) end local function cA(aG,bc)
if aG.allowed~=bc.allowed then return not aG.allowed end local o,bd=aG.retry_after_ms,bc.retry_after_ms if o~=bd then
return o<0 or(bd>=0 and o>bd) end return aG.remaining<bc.remaining end local function cw(au) local bh,bC=au[1],{} cI(au)
for d,a in ipairs(au)do bC[d]=cW(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aD(a) if cA(a,bh)then bh=a end end
local a=bh local aw={ 'X-RateLimit-Limit', r('%.0f',a.b), 'X-RateLimit-Remaining', r('%.0f',a.remaining), }
local function aE(aj,ae) aw[#aw+1]=aj aw[#aw+1]=ae end if a.reset_ms>=0 then
aE('X-RateLimit-Reset',r('%.0f',ad(a.now_ms+a.reset_ms))) end aE('RateLimit-Policy',table.concat(bC,', '))
local cF=a.next_ms>=0 and';t='..aF(ad(a.next_ms))or'' aE('RateLimit',r('"%s";r=%s%s',a.j,aF(a.remaining),cF))
if not a.allowed and a.retry_after_ms>=0 then aE('Retry-After',r('%.0f',ad(a.retry_after_ms))) end return aw end
local function cN(a,J) if a.form=='FULL'then return cu(a,J) end return{bs(a),a.count,a.ttl,cw({a})} end
aJ={w=bX,y=ca,z=cc,A=cg,B=cj,D=Y,q=cm,error_reply=cp,E=cq,f=F,F=cs,G=ct,H=an,J=bx,K=cG,r=cH,M=cN,N=bz,P=bA,Q=cR,t=bB,refund=cY,S=dd,U=de,V=dj,X=dp}
end return aJ end local cn,bE=pcall(dg,KEYS,ARGV) return cn and bE or f().error_reply(bE)
