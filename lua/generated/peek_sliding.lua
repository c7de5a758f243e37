-- RL.PEEK SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ax,k local Q,l,aQ,cZ=string.find,string.format,string.match,string.sub local function bw(J) return J==''and 1000
or J=='ms'and 1 or J=='s'and 1000 or J=='m'and 60000 or J=='h'and 3600000 or J=='d'and 86400000 or nil end
local function cy(o,e,u) local an,af,h=o[e],o[e+1],o[e+2] if not af then k().j('ARITY') end local a={ d='', F=0,
now_ms=0, e=0, P=0, limit=0, b=0, a=1, form=nil, delay=0, q=nil, g=nil, allowed=false, count=0, ttl=0, c='keep',
remaining=0, h=1, } e=e+2 if h=='LINE'and not o[e+1]and u~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=h,e+1 elseif h then local Z=o[e+1]or''
local bk=u==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and o[e+2]=='LINE'and not o[e+3]and#Z<16
if bk and h=='COST'and(' COST PARTIAL ')~=' ID 'and Q(Z,'^[1-9]%d*$')then a.form,a.a,e='LINE',Z+0,e+3
elseif bk and h=='ID'and(' COST PARTIAL ')==' ID 'and Z~=''then a.form,a.ID,e='LINE',Z,e+3 else e=k().I(a,o,e,u)
a.a=a.COST or 1 end end local cf=#af<16 and Q(af,'^[1-9]%d*$') a.limit=cf and af+0 or k().H('limit',af,0)
local H,J=aQ(an,'^([1-9]%d*)(%l*)$') local ak=H and#an<16 and bw(J) local n=ak and H*ak if not n or n<1 or n>1e15 then
n=k().Q(a,an) end a.e,a.P,a.b=n,n<9e12 and n*1000 or k().E(n,1000),a.BURST or a.limit return a,e end
local function cw(o,u) local a,e=cy(o,1,u) if o[e]then k().B(a,u,o[e]) end if true and a.a>1000 then
k().L(k().D(a),'LOG_COST') end return a end local x=redis.call local function cD(a) local bD=x('TIME')
local aR=bD[1]*1000000+bD[2] a.F,a.now_ms=aR,(aR-aR%1000)/1000 end local function cR(a,ab,e,bF,aK) local g=ab[e]
if not g then k().j('KEYS') end a.d,e=g,e+1 if aK then a.f=g elseif Q(g,':reserved',1,true)then k().M(g) end return e
end local function cB(a,ab,bF,aK) cD(a) if#ab~=cR(a,ab,1,bF,aK)-1 then k().j('KEYS') end end
local aG,cY,db,at=4000,1000,1000,2*500 local function ck(a,R,bC,ah) local g=a.d local t,P=x('ZCARD',g),0
if t>0 and bC>=0 and ah~='delete'then local s=l('%.0f',bC) local G=ah=='read'and 0 or aG if t<=G then
local S=x('ZREMRANGEBYSCORE',g,R,s) t,aG=t-S,G-S else t,P=k().K(g,R,s,t,G) end end a.i,a.s,a.r=t-P,P,t>0 end
local function cj(a,ah) ck(a,'0',a.now_ms-a.e,ah) a.u=500 if ah=='write'then at=(at-at%2)/2 a.u=at end end
local function Y(M) local v=M%1000 return M<0 and-1 or v==0 and M/1000 or(M-v)/1000+1 end local function bc(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return k().x(c,d) end local function aC(a,f) local g,aN=a.d,a.i
local az=aN+(f==0 and 1 or f)<=a.limit a.allowed,a.count,a.ttl,a.c=az,aN,Y(a.e),'keep' if az and f>0 then
a.c,a.g='charge',{m=f} elseif not az and aN>0 and x('ZCOUNT',g,'('..l('%.0f',a.now_ms),'+inf')>0 then
a.c,a.g='rebase',{to_now=true} end end local function bR(a) if a.PARTIAL or a.ALWAYS then k().z(a) else local f=a.a
a.h=f aC(a,f) end if a.SHADOW then k().y(a) end end local function bx(g,z) z=l('%.0f',z)
local al=x('ZRANGE',g,z,z,'WITHSCORES')[2] return al and tonumber(al) end local function cq(a) local g=a.d
local R=a.r and bx(g,0) return R and R<0 and x('ZCOUNT',g,'-inf','(0')or 0 end local function bo(a,z)
local al=z>=0 and z<a.i+a.s and bx(a.d,z) return al and math.max(0,math.ceil(al)) end local function cS(b)
if b-b~=0 then return k().N(b) end return l('%.0f',b) end local function aM(a,b) local y,ay=a.now_ms,a.n
a.k=a.k or cq(a) if b>=a.i+ay-a.k then return nil end local z=b+a.k+a.s local e=bo(a,z) if e and ay>0 and e>y then e=nil
end if not e then local aL=bo(a,z-ay) e=aL and aL>y and aL or y end if a.J then
a.o=a.o or x('ZCOUNT',a.d,'-inf',cS(y))+a.u e=z<a.o and math.min(e,y)or e end return e+a.e end
local function cV(a,f,B,aM,aI) local aW=a.limit-f if aW<0 then return nil elseif B<=aW then return 0 end
local L=aM(a,B-aW-1) if aI and(not L or aI<L)then L=aI end return L and(L>=(2^53)and(1/0)or math.max(0,L-a.now_ms)) end
local function cr(a,bj) local y,n=a.now_ms,a.e if bj and 2*(bj-y)>=3*n then return nil end return y+2*n end
local function q(a,f) return cV(a,f,a.i+a.n,aM,(cr(a,a.t)or a.t)+1) end local function bY(g,y)
if not redis.REDIS_VERSION_NUM then return k().A(g,y) end local e=x('PEXPIRETIME',g) return e>=0 and e or nil end
local function aH(a,A,ae) a.k,a.o,a.n,a.J=nil,nil,A=='charge'and ae.m or 0,A=='rebase' local E=a.limit-a.i-a.n
a.remaining=E>0 and E or 0 a.t=a.r and bY(a.d,a.now_ms)or nil end local function ap(a) local A,q=a.c,q
aH(a,A,A=='keep'and a.q or A~='delete'and a.g or nil) local E,aB,I,N,X=a.remaining,a.b,0,0,0 if not a.allowed then
local f=a.h I=q(a,a.v or(f==0 and 1 or f))or-1 if a.C and I>=0 then I=math.max(I,a.C) end end if E<aB then
N=q(a,E+1)or-1 X=E+1==aB and N or q(a,aB)or-1 end if I-I~=0 or N-N~=0 or X-X~=0 or I>=(2^53)or X>=(2^53)then
k().j('INEXACT_REPLY') end return E,I,N,X,0 end local function ch(a,B) local E,I,N,X,bS=ap(a) local cN=a.l and 1 or 0
return l( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and k().w(a)or 1)or 0,a.count,a.ttl,a.b,E,I,N,X, bS,a.now_ms,cN,B ) end local function cG(a,B)
local U=a.form if U=='LINE'then return ch(a,B) elseif U then return k().G(a,B) end
return{a.allowed and(a.PARTIAL and k().w(a)or 1)or 0,a.count,a.ttl} end local function cM(ab,o)
local a=cw(o,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cB(a,ab) cj(a,'read') bR(a)
return cG(a,0) end function k() if not ax then local m={}
m.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
m.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
m.ID='ERR invalid ID: expected 1 to 512 bytes'
m.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
m.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
m.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
m.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
m.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
m.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
m.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
m.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
m.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
m.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
m.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
m.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' m.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
m.ARITY='ERR wrong number of arguments'
m.LOG_COST='ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more'
m.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function K(i) error({err=i},0) end
local function F(ac) K(m[ac]) end local function bW(ai) if type(ai)=='table'then return ai elseif Q(ai,'^%u+ ')then
return redis.error_reply(ai) end error(ai,0) end local function aa(b) if b-b~=0 then return b end local j,C={},0
while b>0 do local D=b%(2^24) C=C+1 j[C]=D b=(b-D)/(2^24) end return j end local aZ={ __sub=function() return 1 end, }
local function aq(j) local C=#j while C>0 and j[C]==0 do j[C]=nil C=C-1 end
if C>3 or(C==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,aZ) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function bL(c,d) c,d=aa(c),aa(d) local ad,O={},0
for b=1,math.max(#c,#d)+1 do local D=(c[b]or 0)+(d[b]or 0)+O O=D>=(2^24)and 1 or 0 ad[b]=D-O*(2^24) end return aq(ad)
end local function bq(c,d) c,d=aa(c),aa(d) local ag={} for b=1,#c+#d do ag[b]=0 end for b=1,#c do local O=0
for aP=1,#d do local D=ag[b+aP-1]+c[b]*d[aP]+O O=math.floor(D/(2^24)) ag[b+aP-1]=D-O*(2^24) end ag[b+#d]=O end
return aq(ag) end local function bn(c,d) local bb,bM=c-c==0,d-d==0 if bb or bM then return bb elseif#c~=#d then
return#c<#d end for b=#c,1,-1 do if c[b]~=d[b]then return c[b]<d[b] end end return false end local function aO(c,d)
if c-c==0 and d-d==0 then return c<d end return bn(c,d) end local function bd(b) if b-b==0 then return b end local ad=0
for cd=#b,1,-1 do ad=ad*(2^24)+b[cd] end return ad end local function cQ(c,d) if not bn(d,c)then return 0 end d=aa(d)
local bf,aA={},0 for b=1,#c do local D=c[b]-(d[b]or 0)-aA aA=D<0 and 1 or 0 bf[b]=D+aA*(2^24) end return aq(bf) end
local function cP(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end return cQ(c,d) end local function au(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bq(c,d) end local function bU(c,d) local aU=0
while not aO(c,d)do local aw=math.max(1,math.floor(bd(c)/bd(d)*(1-2^-45))) aw=aq(aa(aw)) aU=bc(aU,aw) c=cP(c,au(aw,d))
end return aU,c end local function aE(c,d) if c-c==0 and d-d==0 then local v=c%d return(c-v)/d,v end return bU(c,d) end
local function cT(b) local aY='' while b-b~=0 do local v b,v=aE(b,10000000) aY=l('%07.0f',v)..aY end
return l('%.0f',b)..aY end local function bX(g,y) local L=x('PTTL',g) return L>=0 and y+L or nil end
local function cF(g,R,s,t,G) local P=x('ZCOUNT',g,R,s) local S=math.min(P,G) if S>0 then
local r=R=='0'and x('ZCOUNT',g,'-inf','(0')or 0 x('ZREMRANGEBYRANK',g,l('%.0f',r),l('%.0f',r+S-1)) t,P,aG=t-S,P-S,G-S
end return t,P end local function be(c,d) for e=1,math.min(#c,#d)do local bG,bH=c:byte(e),d:byte(e) if bG~=bH then
return bG<bH end end return#c<#d end local function aD(i,G) if i~='0'and not Q(i,'^[1-9]%d*$')then return nil end
return(#i<#G or(#i==#G and not be(G,i)))and i or nil end local function bi(j)
if#j<=15 or(#j==16 and be(j,'9007199254740992'))then return j+0 end local aJ=#j%7 local b=aJ>0 and j:sub(1,aJ)+0 or 0
for e=aJ+1,#j,7 do b=bc(au(b,10000000),j:sub(e,e+6)+0) end return b end local function bs(ac,i,bm)
local j=i and aD(i,'9223372036854775807') local b=j and bi(j) if not b or b==0 and bm>0 then
K(l('ERR invalid %s: expected an integer from %d to 9223372036854775807',ac,bm)) elseif b-b~=0 then
K(l('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ac)) end return b end local ba={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function V(ci,p)
return not Q(p,' ',1,true)and Q(ci,' '..p..' ',1,true)~=nil end local function bB(a,h)
return not V(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',h)or V((' COST PARTIAL '),h) end
local function ce(p,h) local r,s=0,0 local by,cl=math.min(#p,#h),math.max(#p,#h)
while r<by and p:byte(r+1)==h:byte(r+1)do r=r+1 end while s<by-r and p:byte(-1-s)==h:byte(-1-s)do s=s+1 end
return r+s>=2 and cl-r-s<=2 end local function bZ(a,u,p) local W={} for T,w in ipairs(ba)do
if V(u,w[1])and bB(a,w[1])then W[#W+1]=w[2] end end for T,U in ipairs({'FULL','LINE','HEADERS'})do W[#W+1]=U end
for T,h in ipairs(W)do if ce(p:upper(),aQ(h,'^%u+'))then K('ERR syntax error: no such option, but there is '..h) end end
local s=table.remove(W) local cU=table.concat(W,', ')
K('ERR syntax error: after limit come '..cU..' or '..s..', each at most once') end local function cJ(w,a,u)
local h,cX=w[1],a.R if not V(u,h)then K(l('ERR invalid %s: only %s it',h,w[3])) elseif not bB(a,h)then
K(l('ERR invalid %s: %s takes none',h,('SLIDING'))) elseif a[h]~=nil then
K(l('ERR syntax error: %s comes at most once',w[2])) end end local function bp(c,d) return aO(d,c)and d or c end
local bK=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aZ) local function cz(h,i,da) if h=='AS'then
return i and#i>=1 and#i<=64 and not Q(i,'[^%w._-]')and i or F('AS') elseif h=='AT'then
local j=i and aD(i,'9223372036854775807') return j and bp(bi(j),(aE(bK,1000)))or F('AT') end
return bs(h,i,h=='BURST'and 1 or 0) end local function cH(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bI={FULL=true,LINE=true,HEADERS=true}
local function cs(U,br) if U then F(U==br and'FORM_TWICE'or'TWO_FORMS') end return br end local function cx(a,o,e,u)
while o[e]do local p,w=o[e]:upper(),nil for T,bl in ipairs(ba)do w=bl[1]==p and bl or w end if w then cJ(w,a,u)
if w[2]==p then a[p]=true e=e+1 else a[p]=cz(p,o[e+1],o[e+2]) e=e+(p=='RESERVE'and 3 or 2) end cH(a)
elseif bI[p]and V(u,'form')then a.form=cs(a.form,p) e=e+1 else return e end end return e end local function cA(i)
local H,J=aQ(i,'^(%d+)(%l*)$') local ak=H and bw(J) local M=ak and aD(H,'18446744073709551615')and H*ak
return M and M>=1 and M<=1e15 and M or nil end
local bJ={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cW(a,i) local n=cA(i)
if not n then a.O=i:upper() n=bJ[a.O] if not n then F(V((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not V((' COST PARTIAL '),'ANCHOR')then
K(l('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return n end local function cn(a)
if not true then return 0 elseif a.b<a.a then return a.PARTIAL and a.b or 0 end return a.a end local function cI(t,i)
if t>1000 then F(i) end end local function cb(g) return g:sub(-9)==':reserved'or g:sub(-14)==':reserved:ends' end
local function cK(g) if cb(g)then F('RESERVED_KEY') end end local function bO(a) local ct=a.PARTIAL and a.h<a.a
a.l=a.SHADOW and not a.p and(ct or not a.allowed) if not a.allowed and(a.l or a.p)then a.allowed=true if not true then
local T,T,T,aV=ap(a) a.ttl=Y(aV) end end end local function cE(a) aH(a,'keep',a.q) return a.remaining end
local function cv(a,ao,f) if f==0 then return'keep' elseif not ao or not aO(ao,a.now_ms)then return'charge',{m=f}
elseif ao<=a.now_ms-a.e then return'keep' end return'charge',{m=f,earlier=ao} end local function cO(A,ae,bN)
if A=='keep'then return bN end return A~='delete'and ae or nil end local function cp(f) return f==0 and 1 or f end
local function bg(b) if b-b~=0 or b>=(2^53)then F('INEXACT_REPLY') end return b end local function bP(a) local f=a.a
aC(a,0) local A,ae=cv(a,nil,f) if f>0 then a.c,a.g=A,ae end local bz=cO(a.c,a.g,a.q) aH(a,a.c,bz)
a.allowed=a.b>0 and q(a,0)==0 a.v=a.b>0 and f or cp(f) if(nil)then a.count,a.ttl=(nil)(bz,a.now_ms)
elseif a.allowed then a.ttl=Y(bg(q(a,a.b))) else local q=q(a,a.v) a.ttl=q and math.max(1,Y(bg(q)))or-1 end end
local function bQ(a) local f=a.a if a.PARTIAL then f=math.min(f,cE(a)) end a.h=f if a.ALWAYS then bP(a) else aC(a,f) end
end local function bt(a) return a.p and a.p.a or a.l and a.a or a.h end local function bh(a) if not a.allowed then
return 0 end return a.PARTIAL and bt(a)or 1 end local function ca(a,B) local E,cL,N,aV,bT=ap(a) return{ 'allowed',bh(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',E, 'retry_after_ms',cL, 'next_ms',N, 'reset_ms',aV,
'delay_ms',bT, 'now_ms',a.now_ms, 'shadow',a.l and 1 or 0, 'charged',B, } end local function co(aj) local bA={}
for T,a in ipairs(aj)do local r,H=a.AS or('SLIDING'):lower(),2 a.f=r while bA[a.f]do a.f=l('%s-%d',r,H) H=H+1 end
bA[a.f]=true end end local function as(b) return l('%.0f',bp(b,999999999999999)) end local function cC(a)
local n=(nil)and(nil)(a)or a.e local aF,v=1000,n%1000 while v>0 do aF,v=v,aF%v end local bE=1000/aF
local an=aE(au(n,bE),1000) return l('"%s";q=%s;w=%s',a.f,as(au(a.limit,bE)),as(an)) end local function cg(av,aS)
if av.allowed~=aS.allowed then return not av.allowed end local q,aT=av.retry_after_ms,aS.retry_after_ms if q~=aT then
return q<0 or(aT>=0 and q>aT) end return av.remaining<aS.remaining end local function cc(aj) local aX,bu=aj[1],{} co(aj)
for b,a in ipairs(aj)do bu[b]=cC(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ap(a) if cg(a,aX)then aX=a end end
local a=aX local am={ 'X-RateLimit-Limit', l('%.0f',a.b), 'X-RateLimit-Remaining', l('%.0f',a.remaining), }
local function ar(ac,Z) am[#am+1]=ac am[#am+1]=Z end if a.reset_ms>=0 then
ar('X-RateLimit-Reset',l('%.0f',Y(a.now_ms+a.reset_ms))) end ar('RateLimit-Policy',table.concat(bu,', '))
local cm=a.next_ms>=0 and';t='..as(Y(a.next_ms))or'' ar('RateLimit',l('"%s";r=%s%s',a.f,as(a.remaining),cm))
if not a.allowed and a.retry_after_ms>=0 then ar('Retry-After',l('%.0f',Y(a.retry_after_ms))) end return am end
local function cu(a,B) if a.form=='FULL'then return ca(a,B) end return{bh(a),a.count,a.ttl,cc({a})} end
ax={x=bL,y=bO,z=bQ,error_reply=bW,A=bX,j=F,B=bZ,D=cn,E=bq,G=cu,H=bs,I=cx,w=bt,K=cF,L=cI,M=cK,N=cT,Q=cW} end return ax
end local bV,bv=pcall(cM,KEYS,ARGV) return bV and bv or k().error_reply(bv)
