-- RL.REFUND SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aG,h local W,i,aZ,dt=string.find,string.format,string.match,string.sub local function bM(O) return O==''and 1000
or O=='ms'and 1 or O=='s'and 1000 or O=='m'and 60000 or O=='h'and 3600000 or O=='d'and 86400000 or nil end
local function cS(p,e,z) local au,aj,j=p[e],p[e+1],p[e+2] if not aj then h().k('ARITY') end local a={ b='', N=0,
now_ms=0, e=0, W=0, limit=0, c=0, a=1, form=nil, delay=0, g=nil, i=nil, allowed=false, count=0, ttl=0, f='keep',
remaining=0, j=1, } e=e+2 if j=='LINE'and not p[e+1]and z~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local ae=p[e+1]or''
local bw=z==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[e+2]=='LINE'and not p[e+3]and#ae<16
if bw and j=='COST'and(' COST PARTIAL ')~=' ID 'and W(ae,'^[1-9]%d*$')then a.form,a.a,e='LINE',ae+0,e+3
elseif bw and j=='ID'and(' COST PARTIAL ')==' ID 'and ae~=''then a.form,a.ID,e='LINE',ae,e+3 else e=h().Q(a,p,e,z)
a.a=a.COST or 1 end end local cz=#aj<16 and W(aj,'^[1-9]%d*$') a.limit=cz and aj+0 or h().P('limit',aj,0)
local L,O=aZ(au,'^([1-9]%d*)(%l*)$') local aq=L and#au<16 and bM(O) local v=aq and L*aq if not v or v<1 or v>1e15 then
v=h().X(a,au) end a.e,a.W,a.c=v,v<9e12 and v*1000 or h().M(v,1000),a.BURST or a.limit return a,e end
local function cP(p,z) local a,e=cS(p,1,z) if p[e]then h().H(a,z,p[e]) end if true and a.a>1000 then
h().z(h().L(a),'LOG_COST') end return a end local function cQ(p,z) if not p[1+1]then h().k('ARITY') end return cP(p,z)
end local s=redis.call local function cX(a) local bS=s('TIME') local ba=bS[1]*1000000+bS[2]
a.N,a.now_ms=ba,(ba-ba%1000)/1000 end local function dl(a,ag,e,bU,aT) local f=ag[e] if not f then h().k('KEYS') end
a.b,e=f,e+1 if aT then a.h=f elseif W(f,':reserved',1,true)then h().T(f) end return e end local function cV(a,ag,bU,aT)
cX(a) if#ag~=dl(a,ag,1,bU,aT)-1 then h().k('KEYS') end end local aP,ds,dv,aB=4000,1000,1000,2*500
local function cD(a,ak,bR,an) local f=a.b local u,V=s('ZCARD',f),0 if u>0 and bR>=0 and an~='delete'then
local r=i('%.0f',bR) local K=an=='read'and 0 or aP if u<=K then local X=s('ZREMRANGEBYSCORE',f,ak,r) u,aP=u-X,K-X else
u,V=h().S(f,ak,r,u,K) end end a.d,a.p,a.o=u-V,V,u>0 end local function bB(a,an) cD(a,'0',a.now_ms-a.e,an)
a.v,a.l,a.r=nil,nil,nil a.s=500 if an=='write'then aB=(aB-aB%2)/2 a.s=aB end end local function bO(m,n,aI)
if m=='keep'then return aI end return m~='delete'and n or nil end local function aA(c,d) if c-c==0 and d-d==0 then
return c<d end return h().J(c,d) end local function ad(F) local D=F%1000
return F<0 and-1 or D==0 and F/1000 or(F-D)/1000+1 end local function bm(c,d) if c-c==0 and d-d==0 and c+d<(2^53)then
return c+d end return h().B(c,d) end local function bg(f,x) x=i('%.0f',x) local y=s('ZRANGE',f,x,x,'WITHSCORES')[2]
return y and tonumber(y) end local function bF(a) a.l=a.l or a.o and bg(a.b,-1)or 0 return a.l end
local function aL(a,g) local bz=a.d local aH=bz+(g==0 and 1 or g)<=a.limit
a.allowed,a.count,a.ttl,a.f=aH,bz,ad(a.e),'keep' if aH and g>0 then a.f,a.i='charge',{m=g}
elseif not aH and bF(a)>a.now_ms then a.f,a.i='rebase',{U=true} end end local function bq(a)
if a.PARTIAL or a.ALWAYS then h().E(a) else local g=a.a a.j=g aL(a,g) end if a.SHADOW then h().D(a) end end
local function bG(a) a.v=a.v or a.o and bg(a.b,0)or 0 return a.v end local function aX(a,x)
local y=x==0 and bG(a)or x>=0 and x<a.d+a.p and bg(a.b,x) return y and math.max(0,math.ceil(y)) end
local function aV(a,b) if b>=a.d+a.n-a.u then return nil end local x=b+a.u+a.p if bF(a)>a.now_ms then
return h().K(a,x)+a.e end return(x<a.d+a.p and aX(a,x)or a.now_ms)+a.e end local function dp(a,g,B,aV,aR)
local bf=a.limit-g if bf<0 then return nil elseif B<=bf then return 0 end local S=aV(a,B-bf-1)
if aR and(not S or aR<S)then S=aR end return S and(S>=(2^53)and(1/0)or math.max(0,S-a.now_ms)) end
local function aD(a,bv) local G,v=a.now_ms,a.e if bv and 2*(bv-G)>=3*v then return nil end return G+2*v end
local function cs(f,G) if not redis.REDIS_VERSION_NUM then return h().G(f,G) end local e=s('PEXPIRETIME',f)
return e>=0 and e or nil end local function ai(a) a.r=a.r or a.o and cs(a.b,a.now_ms)or 0 return a.r end
local function A(a,g) return dp(a,g,a.d+a.n,aV,(aD(a,ai(a))or ai(a))+1) end local function aQ(a,m,n)
a.t,a.n,a.R=nil,m=='charge'and n.m or 0,m=='rebase' local I=a.limit-a.d-a.n a.remaining,a.u=I>0 and I or 0,0
if bG(a)<0 then a.u=s('ZCOUNT',a.b,'-inf','(0') end end local function aw(a) local m,A=a.f,A
aQ(a,m,m=='keep'and a.g or m~='delete'and a.i or nil) local I,aK,M,T,ac=a.remaining,a.c,0,0,0 if not a.allowed then
local g=a.j M=A(a,a.x or(g==0 and 1 or g))or-1 if a.I and M>=0 then M=math.max(M,a.I) end end if I<aK then
T=A(a,I+1)or-1 ac=I+1==aK and T or A(a,aK)or-1 end if M-M~=0 or T-T~=0 or ac-ac~=0 or M>=(2^53)or ac>=(2^53)then
h().k('INEXACT_REPLY') end return I,M,T,ac,0 end local function cB(a,B) local I,M,T,ac,cm=aw(a) local di=a.q and 1 or 0
return i( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl,a.c,I,M,T,ac, cm,a.now_ms,di,B ) end local function bK(a,B)
local Z=a.form if Z=='LINE'then return cB(a,B) elseif Z then return h().O(a,B) end
return{a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl} end local function cj(a,m,n,B) local av
if not true then local Y,aI,ar=nil,a.g,bO(m,n,a.g) if Y and aA(Y,a.now_ms)then ar=nil end a.g=ar bq(a) av=bK(a,B) a.g=aI
end if not a.Z then h().C(a,m,n) end if not av then bB(a,'read') bq(a) av=bK(a,B) end return av end
local function dh(ag,p) local a=cQ(p,' form COST AT BURST BLOCK MAX ANCHOR ') h().z(true and a.a or 0,'LOG_COST')
cV(a,ag) bB(a,'write') local m,n=h().refund(a,a.AT,a.a) return cj(a,m,n,0) end function h() if not aG then local t={}
t.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
t.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
t.ID='ERR invalid ID: expected 1 to 512 bytes'
t.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
t.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
t.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
t.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
t.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
t.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
t.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
t.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
t.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
t.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
t.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
t.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' t.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
t.ARITY='ERR wrong number of arguments'
t.LOG_COST='ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more'
t.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function bo(b) if b-b==0 then
return b end local N=0 for cx=#b,1,-1 do N=N*(2^24)+b[cx] end return N end local bj={ __sub=function() return 1 end, }
local function ax(l) local o=#l while o>0 and l[o]==0 do l[o]=nil o=o-1 end
if o>3 or(o==3 and l[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(l,bj) end
return(l[1]or 0)+(l[2]or 0)*(2^24)+(l[3]or 0)*(2^24)*(2^24) end local function af(b) if b-b~=0 then return b end
local l,o={},0 while b>0 do local H=b%(2^24) o=o+1 l[o]=H b=(b-H)/(2^24) end return l end local function bA(c,d)
local bl,cd=c-c==0,d-d==0 if bl or cd then return bl elseif#c~=#d then return#c<#d end for b=#c,1,-1 do
if c[b]~=d[b]then return c[b]<d[b] end end return false end local function dk(c,d) if not bA(d,c)then return 0 end
d=af(d) local br,aJ={},0 for b=1,#c do local H=c[b]-(d[b]or 0)-aJ aJ=H<0 and 1 or 0 br[b]=H+aJ*(2^24) end return ax(br)
end local function dj(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end return dk(c,d) end
local function bD(c,d) c,d=af(c),af(d) local am={} for b=1,#c+#d do am[b]=0 end for b=1,#c do local U=0 for aW=1,#d do
local H=am[b+aW-1]+c[b]*d[aW]+U U=math.floor(H/(2^24)) am[b+aW-1]=H-U*(2^24) end am[b+#d]=U end return ax(am) end
local function aC(c,d) if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bD(c,d) end local function co(c,d)
local bd=0 while not aA(c,d)do local C=math.max(1,math.floor(bo(c)/bo(d)*(1-2^-45))) C=ax(af(C)) bd=bm(bd,C)
c=dj(c,aC(C,d)) end return bd,c end local function aN(c,d) if c-c==0 and d-d==0 then local D=c%d return(c-D)/d,D end
return co(c,d) end local function dm(b) local bi='' while b-b~=0 do local D b,D=aN(b,10000000) bi=i('%07.0f',D)..bi end
return i('%.0f',b)..bi end local function as(b) if b-b~=0 then return dm(b) end return i('%.0f',b) end
local function cF(a,x) local G,bn=a.now_ms,a.n local e=aX(a,x) if e and bn>0 and e>G then e=nil end if not e then
local aU=aX(a,x-bn) e=aU and aU>G and aU or G end if a.R then a.t=a.t or s('ZCOUNT',a.b,'-inf',as(G))+a.s
e=x<a.t and math.min(e,G)or e end return e end local function cY(a,Q,g) local o=math.min(a.d,g) if o==0 then
return'keep' end return'refund',{remove=o,A=Q} end local function R(k) error({err=k},0) end local function J(ah)
R(t[ah]) end local function cq(ao) if type(ao)=='table'then return ao elseif W(ao,'^%u+ ')then
return redis.error_reply(ao) end error(ao,0) end local function ca(c,d) c,d=af(c),af(d) local N,U={},0
for b=1,math.max(#c,#d)+1 do local H=(c[b]or 0)+(d[b]or 0)+U U=H>=(2^24)and 1 or 0 N[b]=H-U*(2^24) end return ax(N) end
local function cr(f,G) local S=s('PTTL',f) return S>=0 and G+S or nil end local function da(f,ak,r,u,K)
local V=s('ZCOUNT',f,ak,r) local X=math.min(V,K) if X>0 then local q=ak=='0'and s('ZCOUNT',f,'-inf','(0')or 0
s('ZREMRANGEBYRANK',f,i('%.0f',q),i('%.0f',q+X-1)) u,V,aP=u-X,V-X,K-X end return u,V end local function bp(c,d)
for e=1,math.min(#c,#d)do local bV,bW=c:byte(e),d:byte(e) if bV~=bW then return bV<bW end end return#c<#d end
local function aM(k,K) if k~='0'and not W(k,'^[1-9]%d*$')then return nil end
return(#k<#K or(#k==#K and not bp(K,k)))and k or nil end local function bu(l)
if#l<=15 or(#l==16 and bp(l,'9007199254740992'))then return l+0 end local aS=#l%7 local b=aS>0 and l:sub(1,aS)+0 or 0
for e=aS+1,#l,7 do b=bm(aC(b,10000000),l:sub(e,e+6)+0) end return b end local function bH(ah,k,by)
local l=k and aM(k,'9223372036854775807') local b=l and bu(l) if not b or b==0 and by>0 then
R(i('ERR invalid %s: expected an integer from %d to 9223372036854775807',ah,by)) elseif b-b~=0 then
R(i('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ah)) end return b end local bk={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aa(cC,w)
return not W(w,' ',1,true)and W(cC,' '..w..' ',1,true)~=nil end local function bQ(a,j)
return not aa(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or aa((' COST PARTIAL '),j) end
local function cy(w,j) local q,r=0,0 local bN,cE=math.min(#w,#j),math.max(#w,#j)
while q<bN and w:byte(q+1)==j:byte(q+1)do q=q+1 end while r<bN-q and w:byte(-1-r)==j:byte(-1-r)do r=r+1 end
return q+r>=2 and cE-q-r<=2 end local function ct(a,z,w) local ab={} for P,E in ipairs(bk)do
if aa(z,E[1])and bQ(a,E[1])then ab[#ab+1]=E[2] end end for P,Z in ipairs({'FULL','LINE','HEADERS'})do ab[#ab+1]=Z end
for P,j in ipairs(ab)do if cy(w:upper(),aZ(j,'^%u+'))then R('ERR syntax error: no such option, but there is '..j) end
end local r=table.remove(ab) local dn=table.concat(ab,', ')
R('ERR syntax error: after limit come '..dn..' or '..r..', each at most once') end local function dd(E,a,z)
local j,dr=E[1],a.Y if not aa(z,j)then R(i('ERR invalid %s: only %s it',j,E[3])) elseif not bQ(a,j)then
R(i('ERR invalid %s: %s takes none',j,('SLIDING'))) elseif a[j]~=nil then
R(i('ERR syntax error: %s comes at most once',E[2])) end end local function bC(c,d) return aA(d,c)and d or c end
local bZ=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bj) local function cT(j,k,du) if j=='AS'then
return k and#k>=1 and#k<=64 and not W(k,'[^%w._-]')and k or J('AS') elseif j=='AT'then
local l=k and aM(k,'9223372036854775807') return l and bC(bu(l),(aN(bZ,1000)))or J('AT') end
return bH(j,k,j=='BURST'and 1 or 0) end local function db(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
J(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
J(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bX={FULL=true,LINE=true,HEADERS=true}
local function cL(Z,bE) if Z then J(Z==bE and'FORM_TWICE'or'TWO_FORMS') end return bE end local function cR(a,p,e,z)
while p[e]do local w,E=p[e]:upper(),nil for P,bx in ipairs(bk)do E=bx[1]==w and bx or E end if E then dd(E,a,z)
if E[2]==w then a[w]=true e=e+1 else a[w]=cT(w,p[e+1],p[e+2]) e=e+(w=='RESERVE'and 3 or 2) end db(a)
elseif bX[w]and aa(z,'form')then a.form=cL(a.form,w) e=e+1 else return e end end return e end local function cU(k)
local L,O=aZ(k,'^(%d+)(%l*)$') local aq=L and bM(O) local F=aq and aM(L,'18446744073709551615')and L*aq
return F and F>=1 and F<=1e15 and F or nil end
local bY={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dq(a,k) local v=cU(k)
if not v then a.V=k:upper() v=bY[a.V] if not v then J(aa((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aa((' COST PARTIAL '),'ANCHOR')then
R(i('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return v end local function cI(a)
if not true then return 0 elseif a.c<a.a then return a.PARTIAL and a.c or 0 end return a.a end local function dc(u,k)
if u>1000 then J(k) end end local function cv(f) return f:sub(-9)==':reserved'or f:sub(-14)==':reserved:ends' end
local function de(f) if cv(f)then J('RESERVED_KEY') end end local function ci(a) local cM=a.PARTIAL and a.j<a.a
a.q=a.SHADOW and not a.w and(cM or not a.allowed) if not a.allowed and(a.q or a.w)then a.allowed=true if not true then
local P,P,P,be=aw(a) a.ttl=ad(be) end end end local function cZ(a) aQ(a,'keep',a.g) return a.remaining end
local function cO(a,Q,g) if g==0 then return'keep' elseif not Q or not aA(Q,a.now_ms)then return'charge',{m=g}
elseif Q<=a.now_ms-a.e then return'keep' end return'charge',{m=g,F=Q} end local function cK(g) return g==0 and 1 or g
end local function bs(b) if b-b~=0 or b>=(2^53)then J('INEXACT_REPLY') end return b end local function ck(a) local g=a.a
aL(a,0) local m,n=cO(a,nil,g) if g>0 then a.f,a.i=m,n end local ar=bO(a.f,a.i,a.g) aQ(a,a.f,ar)
a.allowed=a.c>0 and A(a,0)==0 a.x=a.c>0 and g or cK(g) if(nil)then a.count,a.ttl=(nil)(ar,a.now_ms)
elseif a.allowed then a.ttl=ad(bs(A(a,a.c))) else local A=A(a,a.x) a.ttl=A and math.max(1,ad(bs(A)))or-1 end end
local function cl(a) local g=a.a if a.PARTIAL then g=math.min(g,cZ(a)) end a.j=g if a.ALWAYS then ck(a) else aL(a,g) end
end local function cb(a,F,o) local f,y=a.b,i('%.0f',F) local b=a.l and a.l<F and 0 or s('ZCOUNT',f,y,y) while o>1 do
local C={} for P=1,math.min(o,1000)do C[#C+1]=y C[#C+1]=i('%s-0.%.0f',y,b) b=b+1 end o=o-s('ZADD',f,'NX',unpack(C)) end
while o>0 do o=o-s('ZADD',f,'NX',y,y..'-0.'..as(b)) b=b+1 end end local function aF(f,Q) if Q then
s('PEXPIREAT',f,as(Q)) end end local function ce(cc,aY) local N=0 for q=1,#aY,1000 do local C={unpack(cc)}
for b=q,math.min(q+999,#aY)do C[#C+1]=aY[b] end N=N+s(unpack(C)) end return N end local function df(f,y,u) local al={}
for P,cG in ipairs(u)do al[#al+1]=y al[#al+1]=cG end ce({'ZADD',f,'XX'},al) end local function ch(a,m,n) local f=a.b
if m=='delete'then s('UNLINK',f) return end local Y=aD(a,ai(a)) if n.U then local y=i('%.0f',a.now_ms)
df(f,y,s('ZRANGEBYSCORE',f,'('..y,'+inf','LIMIT','0',as(a.s))) aF(f,Y) return end local u=a.d+a.p
local q,r=u-n.remove,u-1 if n.A then r=s('ZCOUNT',f,'-inf',as(n.A))-1 q=math.max(0,r+1-n.remove) end
if r<0 or q>0 or r+1<u then aF(f,Y) end if r>=0 then s('ZREMRANGEBYRANK',f,i('%.0f',q),i('%.0f',r)) end end
local function cf(a,m,n) local f=a.b if m=='charge'then local Y=aD(a,ai(a)) cb(a,n.F or a.now_ms,n.m) aF(f,Y)
elseif m~='keep'then ch(a,m,n) elseif a.o then aF(f,aD(a,ai(a))) end end local function cg(a,m,n) cf(a,m,n) end
local function bI(a) return a.w and a.w.a or a.q and a.a or a.j end local function bt(a) if not a.allowed then return 0
end return a.PARTIAL and bI(a)or 1 end local function cu(a,B) local I,dg,T,be,cn=aw(a) return{ 'allowed',bt(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.c, 'remaining',I, 'retry_after_ms',dg, 'next_ms',T, 'reset_ms',be,
'delay_ms',cn, 'now_ms',a.now_ms, 'shadow',a.q and 1 or 0, 'charged',B, } end local function cJ(ap) local bP={}
for P,a in ipairs(ap)do local q,L=a.AS or('SLIDING'):lower(),2 a.h=q while bP[a.h]do a.h=i('%s-%d',q,L) L=L+1 end
bP[a.h]=true end end local function az(b) return i('%.0f',bC(b,999999999999999)) end local function cW(a)
local v=(nil)and(nil)(a)or a.e local aO,D=1000,v%1000 while D>0 do aO,D=D,aO%D end local bT=1000/aO
local au=aN(aC(v,bT),1000) return i('"%s";q=%s;w=%s',a.h,az(aC(a.limit,bT)),az(au)) end local function cA(aE,bb)
if aE.allowed~=bb.allowed then return not aE.allowed end local A,bc=aE.retry_after_ms,bb.retry_after_ms if A~=bc then
return A<0 or(bc>=0 and A>bc) end return aE.remaining<bb.remaining end local function cw(ap) local bh,bJ=ap[1],{} cJ(ap)
for b,a in ipairs(ap)do bJ[b]=cW(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aw(a) if cA(a,bh)then bh=a end end
local a=bh local at={ 'X-RateLimit-Limit', i('%.0f',a.c), 'X-RateLimit-Remaining', i('%.0f',a.remaining), }
local function ay(ah,ae) at[#at+1]=ah at[#at+1]=ae end if a.reset_ms>=0 then
ay('X-RateLimit-Reset',i('%.0f',ad(a.now_ms+a.reset_ms))) end ay('RateLimit-Policy',table.concat(bJ,', '))
local cH=a.next_ms>=0 and';t='..az(ad(a.next_ms))or'' ay('RateLimit',i('"%s";r=%s%s',a.h,az(a.remaining),cH))
if not a.allowed and a.retry_after_ms>=0 then ay('Retry-After',i('%.0f',ad(a.retry_after_ms))) end return at end
local function cN(a,B) if a.form=='FULL'then return cu(a,B) end return{bt(a),a.count,a.ttl,cw({a})} end
aG={B=ca,C=cg,D=ci,E=cl,error_reply=cq,G=cr,k=J,H=ct,J=bA,K=cF,L=cI,M=bD,O=cN,P=bH,Q=cR,y=bI,refund=cY,S=da,z=dc,T=de,X=dq}
end return aG end local cp,bL=pcall(dh,KEYS,ARGV) return cp and bL or h().error_reply(bL)
