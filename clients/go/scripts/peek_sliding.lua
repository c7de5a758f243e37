-- RL.PEEK SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local av,k local J,l,bo,cY=string.find,string.format,string.match,string.sub local function cx(n,e,u)
local ad,af,h=n[e],n[e+1],n[e+2] if not af then k().l('ARITY') end local a={ e='', J=0, now_ms=0, f=0, T=0, limit=0,
b=0, a=1, form=nil, delay=0, u=nil, i=nil, allowed=false, count=0, ttl=0, c='keep', remaining=0, j=1, } e=e+2
if h=='LINE'and not n[e+1]and u~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=h,e+1 elseif h then
local Y=n[e+1]or''
local bj=u==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and n[e+2]=='LINE'and not n[e+3]and#Y<16
if bj and h=='COST'and(' COST PARTIAL ')~=' ID 'and J(Y,'^[1-9]%d*$')then a.form,a.a,e='LINE',Y+0,e+3
elseif bj and h=='ID'and(' COST PARTIAL ')==' ID 'and Y~=''then a.form,a.ID,e='LINE',Y,e+3 else e=k().M(a,n,e,u)
a.a=a.COST or 1 end end local aI=#af<16 and J(af,'^[1-9]%d*$') a.limit=aI and af+0 or k().L('limit',af,0)
aI=#ad<10 and J(ad,'^[1-9]%d*$') local q=aI and ad*1000 or k().U(a,ad)
a.f,a.T,a.b=q,q<9e12 and q*1000 or k().I(q,1000),a.BURST or a.limit return a,e end local function cv(n,u)
local a,e=cx(n,1,u) if n[e]then k().F(a,u,n[e]) end if true and a.a>1000 then k().P(k().H(a),'LOG_COST') end return a
end local x=redis.call local function cC(a) local bC=x('TIME') local aP=bC[1]*1000000+bC[2]
a.J,a.now_ms=aP,(aP-aP%1000)/1000 end local function cQ(a,aa,e,bF,aJ) local g=aa[e] if not g then k().l('KEYS') end
a.e,e=g,e+1 if aJ then a.g=g elseif J(g,':reserved',1,true)then k().Q(g) end return e end local function cA(a,aa,bF,aJ)
cC(a) if#aa~=cQ(a,aa,1,bF,aJ)-1 then k().l('KEYS') end end local aE,cX,da,ar=4000,1000,1000,2*500
local function cj(a,P,bB,ah) local g=a.e local t,O=x('ZCARD',g),0 if t>0 and bB>=0 and ah~='delete'then
local s=l('%.0f',bB) local G=ah=='read'and 0 or aE if t<=G then local Q=x('ZREMRANGEBYSCORE',g,P,s) t,aE=t-Q,G-Q else
t,O=k().O(g,P,s,t,G) end end a.k,a.w,a.v=t-O,O,t>0 end local function ci(a,ah) cj(a,'0',a.now_ms-a.f,ah) a.y=500
if ah=='write'then ar=(ar-ar%2)/2 a.y=ar end end local function X(L) local v=L%1000
return L<0 and-1 or v==0 and L/1000 or(L-v)/1000+1 end local function bb(c,d) if c-c==0 and d-d==0 and c+d<(2^53)then
return c+d end return k().B(c,d) end local function aA(a,f) local g,aM=a.e,a.k local ax=aM+(f==0 and 1 or f)<=a.limit
a.allowed,a.count,a.ttl,a.c=ax,aM,X(a.f),'keep' if ax and f>0 then a.c,a.i='charge',{p=f}
elseif not ax and aM>0 and x('ZCOUNT',g,'('..l('%.0f',a.now_ms),'+inf')>0 then a.c,a.i='rebase',{to_now=true} end end
local function bR(a) if a.PARTIAL or a.ALWAYS then k().D(a) else local f=a.a a.j=f aA(a,f) end if a.SHADOW then k().C(a)
end end local function bw(g,z) z=l('%.0f',z) local ak=x('ZRANGE',g,z,z,'WITHSCORES')[2] return ak and tonumber(ak) end
local function cp(a) local g=a.e local P=a.v and bw(g,0) return P and P<0 and x('ZCOUNT',g,'-inf','(0')or 0 end
local function bn(a,z) local ak=z>=0 and z<a.k+a.w and bw(a.e,z) return ak and math.max(0,math.ceil(ak)) end
local function cR(b) if b-b~=0 then return k().R(b) end return l('%.0f',b) end local function aL(a,b)
local y,aw=a.now_ms,a.q a.n=a.n or cp(a) if b>=a.k+aw-a.n then return nil end local z=b+a.n+a.w local e=bn(a,z)
if e and aw>0 and e>y then e=nil end if not e then local aK=bn(a,z-aw) e=aK and aK>y and aK or y end if a.N then
a.r=a.r or x('ZCOUNT',a.e,'-inf',cR(y))+a.y e=z<a.r and math.min(e,y)or e end return e+a.f end
local function cU(a,f,B,aL,aG) local aU=a.limit-f if aU<0 then return nil elseif B<=aU then return 0 end
local K=aL(a,B-aU-1) if aG and(not K or aG<K)then K=aG end return K and(K>=(2^53)and(1/0)or math.max(0,K-a.now_ms)) end
local function cq(a,bi) local y,q=a.now_ms,a.f if bi and 2*(bi-y)>=3*q then return nil end return y+2*q end
local function p(a,f) return cU(a,f,a.k+a.q,aL,(cq(a,a.x)or a.x)+1) end local function bY(g,y)
if not redis.REDIS_VERSION_NUM then return k().E(g,y) end local e=x('PEXPIRETIME',g) return e>=0 and e or nil end
local function aF(a,A,ae) a.n,a.r,a.q,a.N=nil,nil,A=='charge'and ae.p or 0,A=='rebase' local E=a.limit-a.k-a.q
a.remaining=E>0 and E or 0 a.x=a.v and bY(a.e,a.now_ms)or nil end local function an(a) local A,p=a.c,p
aF(a,A,A=='keep'and a.u or A~='delete'and a.i or nil) local E,az,H,M,W=a.remaining,a.b,0,0,0 if not a.allowed then
local f=a.j H=p(a,a.z or(f==0 and 1 or f))or-1 if a.G and H>=0 then H=math.max(H,a.G) end end if E<az then
M=p(a,E+1)or-1 W=E+1==az and M or p(a,az)or-1 end if H-H~=0 or M-M~=0 or W-W~=0 or H>=(2^53)or W>=(2^53)then
k().l('INEXACT_REPLY') end return E,H,M,W,0 end local function cg(a,B) local E,H,M,W,bS=an(a) local cM=a.o and 1 or 0
return l( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and k().A(a)or 1)or 0,a.count,a.ttl,a.b,E,H,M,W, bS,a.now_ms,cM,B ) end local function cF(a,B)
local S=a.form if S=='LINE'then return cg(a,B) elseif S then return k().K(a,B) end
return{a.allowed and(a.PARTIAL and k().A(a)or 1)or 0,a.count,a.ttl} end local function cL(aa,n)
local a=cv(n,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cA(a,aa) ci(a,'read') bR(a)
return cF(a,0) end function k() if not av then local m={}
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
m.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function I(i) error({err=i},0) end
local function F(ab) I(m[ab]) end local function bW(ai) if type(ai)=='table'then return ai elseif J(ai,'^%u+ ')then
return redis.error_reply(ai) end error(ai,0) end local function Z(b) if b-b~=0 then return b end local j,C={},0
while b>0 do local D=b%(2^24) C=C+1 j[C]=D b=(b-D)/(2^24) end return j end local aX={ __sub=function() return 1 end, }
local function ao(j) local C=#j while C>0 and j[C]==0 do j[C]=nil C=C-1 end
if C>3 or(C==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,aX) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function bL(c,d) c,d=Z(c),Z(d) local ac,N={},0
for b=1,math.max(#c,#d)+1 do local D=(c[b]or 0)+(d[b]or 0)+N N=D>=(2^24)and 1 or 0 ac[b]=D-N*(2^24) end return ao(ac)
end local function bq(c,d) c,d=Z(c),Z(d) local ag={} for b=1,#c+#d do ag[b]=0 end for b=1,#c do local N=0 for aO=1,#d do
local D=ag[b+aO-1]+c[b]*d[aO]+N N=math.floor(D/(2^24)) ag[b+aO-1]=D-N*(2^24) end ag[b+#d]=N end return ao(ag) end
local function bm(c,d) local ba,bM=c-c==0,d-d==0 if ba or bM then return ba elseif#c~=#d then return#c<#d end
for b=#c,1,-1 do if c[b]~=d[b]then return c[b]<d[b] end end return false end local function aN(c,d)
if c-c==0 and d-d==0 then return c<d end return bm(c,d) end local function bc(b) if b-b==0 then return b end local ac=0
for cd=#b,1,-1 do ac=ac*(2^24)+b[cd] end return ac end local function cP(c,d) if not bm(d,c)then return 0 end d=Z(d)
local be,ay={},0 for b=1,#c do local D=c[b]-(d[b]or 0)-ay ay=D<0 and 1 or 0 be[b]=D+ay*(2^24) end return ao(be) end
local function cO(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end return cP(c,d) end local function as(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bq(c,d) end local function bU(c,d) local aS=0
while not aN(c,d)do local au=math.max(1,math.floor(bc(c)/bc(d)*(1-2^-45))) au=ao(Z(au)) aS=bb(aS,au) c=cO(c,as(au,d))
end return aS,c end local function aC(c,d) if c-c==0 and d-d==0 then local v=c%d return(c-v)/d,v end return bU(c,d) end
local function cS(b) local aW='' while b-b~=0 do local v b,v=aC(b,10000000) aW=l('%07.0f',v)..aW end
return l('%.0f',b)..aW end local function bX(g,y) local K=x('PTTL',g) return K>=0 and y+K or nil end
local function cE(g,P,s,t,G) local O=x('ZCOUNT',g,P,s) local Q=math.min(O,G) if Q>0 then
local r=P=='0'and x('ZCOUNT',g,'-inf','(0')or 0 x('ZREMRANGEBYRANK',g,l('%.0f',r),l('%.0f',r+Q-1)) t,O,aE=t-Q,O-Q,G-Q
end return t,O end local function bd(c,d) for e=1,math.min(#c,#d)do local bG,bH=c:byte(e),d:byte(e) if bG~=bH then
return bG<bH end end return#c<#d end local function aB(i,G) if i~='0'and not J(i,'^[1-9]%d*$')then return nil end
return(#i<#G or(#i==#G and not bd(G,i)))and i or nil end local function bh(j)
if#j<=15 or(#j==16 and bd(j,'9007199254740992'))then return j+0 end local aH=#j%7 local b=aH>0 and j:sub(1,aH)+0 or 0
for e=aH+1,#j,7 do b=bb(as(b,10000000),j:sub(e,e+6)+0) end return b end local function bs(ab,i,bl)
local j=i and aB(i,'9223372036854775807') local b=j and bh(j) if not b or b==0 and bl>0 then
I(l('ERR invalid %s: expected an integer from %d to 9223372036854775807',ab,bl)) elseif b-b~=0 then
I(l('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ab)) end return b end local aY={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function T(ch,o)
return not J(o,' ',1,true)and J(ch,' '..o..' ',1,true)~=nil end local function bA(a,h)
return not T(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',h)or T((' COST PARTIAL '),h) end
local function ce(o,h) local r,s=0,0 local bx,ck=math.min(#o,#h),math.max(#o,#h)
while r<bx and o:byte(r+1)==h:byte(r+1)do r=r+1 end while s<bx-r and o:byte(-1-s)==h:byte(-1-s)do s=s+1 end
return r+s>=2 and ck-r-s<=2 end local function bZ(a,u,o) local V={} for R,w in ipairs(aY)do
if T(u,w[1])and bA(a,w[1])then V[#V+1]=w[2] end end for R,S in ipairs({'FULL','LINE','HEADERS'})do V[#V+1]=S end
for R,h in ipairs(V)do if ce(o:upper(),bo(h,'^%u+'))then I('ERR syntax error: no such option, but there is '..h) end end
local s=table.remove(V) local cT=table.concat(V,', ')
I('ERR syntax error: after limit come '..cT..' or '..s..', each at most once') end local function cI(w,a,u)
local h,cW=w[1],a.V if not T(u,h)then I(l('ERR invalid %s: only %s it',h,w[3])) elseif not bA(a,h)then
I(l('ERR invalid %s: %s takes none',h,('SLIDING'))) elseif a[h]~=nil then
I(l('ERR syntax error: %s comes at most once',w[2])) end end local function bp(c,d) return aN(d,c)and d or c end
local bK=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aX) local function cy(h,i,cZ) if h=='AS'then
return i and#i>=1 and#i<=64 and not J(i,'[^%w._-]')and i or F('AS') elseif h=='AT'then
local j=i and aB(i,'9223372036854775807') return j and bp(bh(j),(aC(bK,1000)))or F('AT') end
return bs(h,i,h=='BURST'and 1 or 0) end local function cG(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bI={FULL=true,LINE=true,HEADERS=true}
local function cr(S,br) if S then F(S==br and'FORM_TWICE'or'TWO_FORMS') end return br end local function cw(a,n,e,u)
while n[e]do local o,w=n[e]:upper(),nil for R,bk in ipairs(aY)do w=bk[1]==o and bk or w end if w then cI(w,a,u)
if w[2]==o then a[o]=true e=e+1 else a[o]=cy(o,n[e+1],n[e+2]) e=e+(o=='RESERVE'and 3 or 2) end cG(a)
elseif bI[o]and T(u,'form')then a.form=cr(a.form,o) e=e+1 else return e end end return e end
local aZ={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cz(i) local U,bD=bo(i,'^(%d+)(%l*)$')
local L=U and aZ[bD]and aB(U,'18446744073709551615')and U*aZ[bD] return L and L>=1 and L<=1e15 and L or nil end
local bJ={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cV(a,i) local q=cz(i)
if not q then a.S=i:upper() q=bJ[a.S] if not q then F(T((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not T((' COST PARTIAL '),'ANCHOR')then
I(l('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return q end local function cm(a)
if not true then return 0 elseif a.b<a.a then return a.PARTIAL and a.b or 0 end return a.a end local function cH(t,i)
if t>1000 then F(i) end end local function cb(g) return g:sub(-9)==':reserved'or g:sub(-14)==':reserved:ends' end
local function cJ(g) if cb(g)then F('RESERVED_KEY') end end local function bO(a) local cs=a.PARTIAL and a.j<a.a
a.o=a.SHADOW and not a.t and(cs or not a.allowed) if not a.allowed and(a.o or a.t)then a.allowed=true if not true then
local R,R,R,aT=an(a) a.ttl=X(aT) end end end local function cD(a) aF(a,'keep',a.u) return a.remaining end
local function cu(a,am,f) if f==0 then return'keep' elseif not am or not aN(am,a.now_ms)then return'charge',{p=f}
elseif am<=a.now_ms-a.f then return'keep' end return'charge',{p=f,earlier=am} end local function cN(A,ae,bN)
if A=='keep'then return bN end return A~='delete'and ae or nil end local function co(f) return f==0 and 1 or f end
local function bf(b) if b-b~=0 or b>=(2^53)then F('INEXACT_REPLY') end return b end local function bP(a) local f=a.a
aA(a,0) local A,ae=cu(a,nil,f) if f>0 then a.c,a.i=A,ae end local by=cN(a.c,a.i,a.u) aF(a,a.c,by)
a.allowed=a.b>0 and p(a,0)==0 a.z=a.b>0 and f or co(f) if(nil)then a.count,a.ttl=(nil)(by,a.now_ms)
elseif a.allowed then a.ttl=X(bf(p(a,a.b))) else local p=p(a,a.z) a.ttl=p and math.max(1,X(bf(p)))or-1 end end
local function bQ(a) local f=a.a if a.PARTIAL then f=math.min(f,cD(a)) end a.j=f if a.ALWAYS then bP(a) else aA(a,f) end
end local function bt(a) return a.t and a.t.a or a.o and a.a or a.j end local function bg(a) if not a.allowed then
return 0 end return a.PARTIAL and bt(a)or 1 end local function ca(a,B) local E,cK,M,aT,bT=an(a) return{ 'allowed',bg(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',E, 'retry_after_ms',cK, 'next_ms',M, 'reset_ms',aT,
'delay_ms',bT, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',B, } end local function cn(aj) local bz={}
for R,a in ipairs(aj)do local r,U=a.AS or('SLIDING'):lower(),2 a.g=r while bz[a.g]do a.g=l('%s-%d',r,U) U=U+1 end
bz[a.g]=true end end local function aq(b) return l('%.0f',bp(b,999999999999999)) end local function cB(a)
local q=(nil)and(nil)(a)or a.f local aD,v=1000,q%1000 while v>0 do aD,v=v,aD%v end local bE=1000/aD
local ad=aC(as(q,bE),1000) return l('"%s";q=%s;w=%s',a.g,aq(as(a.limit,bE)),aq(ad)) end local function cf(at,aQ)
if at.allowed~=aQ.allowed then return not at.allowed end local p,aR=at.retry_after_ms,aQ.retry_after_ms if p~=aR then
return p<0 or(aR>=0 and p>aR) end return at.remaining<aQ.remaining end local function cc(aj) local aV,bu=aj[1],{} cn(aj)
for b,a in ipairs(aj)do bu[b]=cB(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=an(a) if cf(a,aV)then aV=a end end
local a=aV local al={ 'X-RateLimit-Limit', l('%.0f',a.b), 'X-RateLimit-Remaining', l('%.0f',a.remaining), }
local function ap(ab,Y) al[#al+1]=ab al[#al+1]=Y end if a.reset_ms>=0 then
ap('X-RateLimit-Reset',l('%.0f',X(a.now_ms+a.reset_ms))) end ap('RateLimit-Policy',table.concat(bu,', '))
local cl=a.next_ms>=0 and';t='..aq(X(a.next_ms))or'' ap('RateLimit',l('"%s";r=%s%s',a.g,aq(a.remaining),cl))
if not a.allowed and a.retry_after_ms>=0 then ap('Retry-After',l('%.0f',X(a.retry_after_ms))) end return al end
local function ct(a,B) if a.form=='FULL'then return ca(a,B) end return{bg(a),a.count,a.ttl,cc({a})} end
av={B=bL,C=bO,D=bQ,error_reply=bW,E=bX,l=F,F=bZ,H=cm,I=bq,K=ct,L=bs,M=cw,A=bt,O=cE,P=cH,Q=cJ,R=cS,U=cV} end return av
end local bV,bv=pcall(cL,KEYS,ARGV) return bV and bv or k().error_reply(bv)
