-- RL.PEEK SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ax,k local Q,l,aP,dc=string.find,string.format,string.match,string.sub local function bA(J) return J==''and 1000
or J=='ms'and 1 or J=='s'and 1000 or J=='m'and 60000 or J=='h'and 3600000 or J=='d'and 86400000 or nil end
local function cB(o,e,v) local an,ae,g=o[e],o[e+1],o[e+2] if not ae then k().k('ARITY') end local a={ c='', I=0,
now_ms=0, d=0, R=0, limit=0, b=0, a=1, form=nil, delay=0, v=nil, h=nil, allowed=false, count=0, ttl=0, e='keep',
remaining=0, i=1, } e=e+2 if g=='LINE'and not o[e+1]and v~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=g,e+1 elseif g then local Y=o[e+1]or''
local bm=v==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and o[e+2]=='LINE'and not o[e+3]and#Y<16
if bm and g=='COST'and(' COST PARTIAL ')~=' ID 'and Q(Y,'^[1-9]%d*$')then a.form,a.a,e='LINE',Y+0,e+3
elseif bm and g=='ID'and(' COST PARTIAL ')==' ID 'and Y~=''then a.form,a.ID,e='LINE',Y,e+3 else e=k().L(a,o,e,v)
a.a=a.COST or 1 end end local ci=#ae<16 and Q(ae,'^[1-9]%d*$') a.limit=ci and ae+0 or k().K('limit',ae,0)
local H,J=aP(an,'^([1-9]%d*)(%l*)$') local ak=H and#an<16 and bA(J) local n=ak and H*ak if not n or n<1 or n>1e15 then
n=k().S(a,an) end a.d,a.R,a.b=n,n<9e12 and n*1000 or k().H(n,1000),a.BURST or a.limit return a,e end
local function cz(o,v) local a,e=cB(o,1,v) if o[e]then k().D(a,v,o[e]) end if true and a.a>1000 then
k().O(k().G(a),'LOG_COST') end return a end local z=redis.call local function cG(a) local bG=z('TIME')
local aQ=bG[1]*1000000+bG[2] a.I,a.now_ms=aQ,(aQ-aQ%1000)/1000 end local function cU(a,aa,e,bI,aJ) local j=aa[e]
if not j then k().k('KEYS') end a.c,e=j,e+1 if aJ then a.g=j elseif Q(j,':reserved',1,true)then k().P(j) end return e
end local function cE(a,aa,bI,aJ) cG(a) if#aa~=cU(a,aa,1,bI,aJ)-1 then k().k('KEYS') end end
local aF,db,de,at=4000,1000,1000,2*500 local function cn(a,af,bF,ah) local j=a.c local u,P=z('ZCARD',j),0
if u>0 and bF>=0 and ah~='delete'then local t=l('%.0f',bF) local G=ah=='read'and 0 or aF if u<=G then
local R=z('ZREMRANGEBYSCORE',j,af,t) u,aF=u-R,G-R else u,P=k().N(j,af,t,u,G) end end a.f,a.o,a.n=u-P,P,u>0 end
local function cm(a,ah) cn(a,'0',a.now_ms-a.d,ah) a.t,a.s,a.p=nil,nil,nil a.w=500 if ah=='write'then at=(at-at%2)/2
a.w=at end end local function X(M) local w=M%1000 return M<0 and-1 or w==0 and M/1000 or(M-w)/1000+1 end
local function bc(c,d) if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return k().z(c,d) end
local function aW(j,q) q=l('%.0f',q) local al=z('ZRANGE',j,q,q,'WITHSCORES')[2] return al and tonumber(al) end
local function bu(a) a.s=a.s or a.n and aW(a.c,-1)or 0 return a.s end local function aB(a,f) local bp=a.f
local ay=bp+(f==0 and 1 or f)<=a.limit a.allowed,a.count,a.ttl,a.e=ay,bp,X(a.d),'keep' if ay and f>0 then
a.e,a.h='charge',{m=f} elseif not ay and bu(a)>a.now_ms then a.e,a.h='rebase',{to_now=true} end end local function bU(a)
if a.PARTIAL or a.ALWAYS then k().B(a) else local f=a.a a.i=f aB(a,f) end if a.SHADOW then k().A(a) end end
local function bv(a) a.t=a.t or a.n and aW(a.c,0)or 0 return a.t end local function aO(a,q)
local al=q==0 and bv(a)or q>=0 and q<a.f+a.o and aW(a.c,q) return al and math.max(0,math.ceil(al)) end
local function aL(a,b) if b>=a.f+a.j-a.r then return nil end local q=b+a.r+a.o if bu(a)>a.now_ms then
return k().F(a,q)+a.d end return(q<a.f+a.o and aO(a,q)or a.now_ms)+a.d end local function cY(a,f,B,aL,aH)
local aV=a.limit-f if aV<0 then return nil elseif B<=aV then return 0 end local L=aL(a,B-aV-1)
if aH and(not L or aH<L)then L=aH end return L and(L>=(2^53)and(1/0)or math.max(0,L-a.now_ms)) end
local function cu(a,bk) local y,n=a.now_ms,a.d if bk and 2*(bk-y)>=3*n then return nil end return y+2*n end
local function cb(j,y) if not redis.REDIS_VERSION_NUM then return k().C(j,y) end local e=z('PEXPIRETIME',j)
return e>=0 and e or nil end local function bl(a) a.p=a.p or a.n and cb(a.c,a.now_ms)or 0 return a.p end
local function r(a,f) return cY(a,f,a.f+a.j,aL,(cu(a,bl(a))or bl(a))+1) end local function aG(a,A,ad)
a.q,a.j,a.M=nil,A=='charge'and ad.m or 0,A=='rebase' local E=a.limit-a.f-a.j a.remaining,a.r=E>0 and E or 0,0
if bv(a)<0 then a.r=z('ZCOUNT',a.c,'-inf','(0') end end local function ap(a) local A,r=a.e,r
aG(a,A,A=='keep'and a.v or A~='delete'and a.h or nil) local E,aA,I,N,W=a.remaining,a.b,0,0,0 if not a.allowed then
local f=a.i I=r(a,a.x or(f==0 and 1 or f))or-1 if a.E and I>=0 then I=math.max(I,a.E) end end if E<aA then
N=r(a,E+1)or-1 W=E+1==aA and N or r(a,aA)or-1 end if I-I~=0 or N-N~=0 or W-W~=0 or I>=(2^53)or W>=(2^53)then
k().k('INEXACT_REPLY') end return E,I,N,W,0 end local function ck(a,B) local E,I,N,W,bV=ap(a) local cQ=a.l and 1 or 0
return l( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and k().y(a)or 1)or 0,a.count,a.ttl,a.b,E,I,N,W, bV,a.now_ms,cQ,B ) end local function cJ(a,B)
local T=a.form if T=='LINE'then return ck(a,B) elseif T then return k().J(a,B) end
return{a.allowed and(a.PARTIAL and k().y(a)or 1)or 0,a.count,a.ttl} end local function cP(aa,o)
local a=cz(o,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cE(a,aa) cm(a,'read') bU(a)
return cJ(a,0) end function k() if not ax then local m={}
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
m.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function bq(c,d)
local bb,bP=c-c==0,d-d==0 if bb or bP then return bb elseif#c~=#d then return#c<#d end for b=#c,1,-1 do
if c[b]~=d[b]then return c[b]<d[b] end end return false end local function aM(c,d) if c-c==0 and d-d==0 then return c<d
end return bq(c,d) end local function be(b) if b-b==0 then return b end local ac=0 for cg=#b,1,-1 do ac=ac*(2^24)+b[cg]
end return ac end local aZ={ __sub=function() return 1 end, } local function aq(i) local C=#i while C>0 and i[C]==0 do
i[C]=nil C=C-1 end if C>3 or(C==3 and i[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(i,aZ) end
return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function Z(b) if b-b~=0 then return b end
local i,C={},0 while b>0 do local D=b%(2^24) C=C+1 i[C]=D b=(b-D)/(2^24) end return i end local function cT(c,d)
if not bq(d,c)then return 0 end d=Z(d) local bg,az={},0 for b=1,#c do local D=c[b]-(d[b]or 0)-az az=D<0 and 1 or 0
bg[b]=D+az*(2^24) end return aq(bg) end local function cS(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end
return cT(c,d) end local function bs(c,d) c,d=Z(c),Z(d) local ag={} for b=1,#c+#d do ag[b]=0 end for b=1,#c do local O=0
for aN=1,#d do local D=ag[b+aN-1]+c[b]*d[aN]+O O=math.floor(D/(2^24)) ag[b+aN-1]=D-O*(2^24) end ag[b+#d]=O end
return aq(ag) end local function au(c,d) if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bs(c,d) end
local function bX(c,d) local aT=0 while not aM(c,d)do local aw=math.max(1,math.floor(be(c)/be(d)*(1-2^-45)))
aw=aq(Z(aw)) aT=bc(aT,aw) c=cS(c,au(aw,d)) end return aT,c end local function aD(c,d) if c-c==0 and d-d==0 then
local w=c%d return(c-w)/d,w end return bX(c,d) end local function cW(b) local aY='' while b-b~=0 do local w
b,w=aD(b,10000000) aY=l('%07.0f',w)..aY end return l('%.0f',b)..aY end local function cV(b) if b-b~=0 then return cW(b)
end return l('%.0f',b) end local function cp(a,q) local y,bd=a.now_ms,a.j local e=aO(a,q) if e and bd>0 and e>y then
e=nil end if not e then local aK=aO(a,q-bd) e=aK and aK>y and aK or y end if a.M then
a.q=a.q or z('ZCOUNT',a.c,'-inf',cV(y))+a.w e=q<a.q and math.min(e,y)or e end return e end local function K(h)
error({err=h},0) end local function F(ab) K(m[ab]) end local function bZ(ai) if type(ai)=='table'then return ai
elseif Q(ai,'^%u+ ')then return redis.error_reply(ai) end error(ai,0) end local function bO(c,d) c,d=Z(c),Z(d)
local ac,O={},0 for b=1,math.max(#c,#d)+1 do local D=(c[b]or 0)+(d[b]or 0)+O O=D>=(2^24)and 1 or 0 ac[b]=D-O*(2^24) end
return aq(ac) end local function ca(j,y) local L=z('PTTL',j) return L>=0 and y+L or nil end
local function cI(j,af,t,u,G) local P=z('ZCOUNT',j,af,t) local R=math.min(P,G) if R>0 then
local s=af=='0'and z('ZCOUNT',j,'-inf','(0')or 0 z('ZREMRANGEBYRANK',j,l('%.0f',s),l('%.0f',s+R-1)) u,P,aF=u-R,P-R,G-R
end return u,P end local function bf(c,d) for e=1,math.min(#c,#d)do local bJ,bK=c:byte(e),d:byte(e) if bJ~=bK then
return bJ<bK end end return#c<#d end local function aC(h,G) if h~='0'and not Q(h,'^[1-9]%d*$')then return nil end
return(#h<#G or(#h==#G and not bf(G,h)))and h or nil end local function bj(i)
if#i<=15 or(#i==16 and bf(i,'9007199254740992'))then return i+0 end local aI=#i%7 local b=aI>0 and i:sub(1,aI)+0 or 0
for e=aI+1,#i,7 do b=bc(au(b,10000000),i:sub(e,e+6)+0) end return b end local function bw(ab,h,bo)
local i=h and aC(h,'9223372036854775807') local b=i and bj(i) if not b or b==0 and bo>0 then
K(l('ERR invalid %s: expected an integer from %d to 9223372036854775807',ab,bo)) elseif b-b~=0 then
K(l('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ab)) end return b end local ba={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function U(cl,p)
return not Q(p,' ',1,true)and Q(cl,' '..p..' ',1,true)~=nil end local function bE(a,g)
return not U(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',g)or U((' COST PARTIAL '),g) end
local function ch(p,g) local s,t=0,0 local bB,co=math.min(#p,#g),math.max(#p,#g)
while s<bB and p:byte(s+1)==g:byte(s+1)do s=s+1 end while t<bB-s and p:byte(-1-t)==g:byte(-1-t)do t=t+1 end
return s+t>=2 and co-s-t<=2 end local function cc(a,v,p) local V={} for S,x in ipairs(ba)do
if U(v,x[1])and bE(a,x[1])then V[#V+1]=x[2] end end for S,T in ipairs({'FULL','LINE','HEADERS'})do V[#V+1]=T end
for S,g in ipairs(V)do if ch(p:upper(),aP(g,'^%u+'))then K('ERR syntax error: no such option, but there is '..g) end end
local t=table.remove(V) local cX=table.concat(V,', ')
K('ERR syntax error: after limit come '..cX..' or '..t..', each at most once') end local function cM(x,a,v)
local g,da=x[1],a.T if not U(v,g)then K(l('ERR invalid %s: only %s it',g,x[3])) elseif not bE(a,g)then
K(l('ERR invalid %s: %s takes none',g,('SLIDING'))) elseif a[g]~=nil then
K(l('ERR syntax error: %s comes at most once',x[2])) end end local function br(c,d) return aM(d,c)and d or c end
local bN=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aZ) local function cC(g,h,dd) if g=='AS'then
return h and#h>=1 and#h<=64 and not Q(h,'[^%w._-]')and h or F('AS') elseif g=='AT'then
local i=h and aC(h,'9223372036854775807') return i and br(bj(i),(aD(bN,1000)))or F('AT') end
return bw(g,h,g=='BURST'and 1 or 0) end local function cK(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bL={FULL=true,LINE=true,HEADERS=true}
local function cv(T,bt) if T then F(T==bt and'FORM_TWICE'or'TWO_FORMS') end return bt end local function cA(a,o,e,v)
while o[e]do local p,x=o[e]:upper(),nil for S,bn in ipairs(ba)do x=bn[1]==p and bn or x end if x then cM(x,a,v)
if x[2]==p then a[p]=true e=e+1 else a[p]=cC(p,o[e+1],o[e+2]) e=e+(p=='RESERVE'and 3 or 2) end cK(a)
elseif bL[p]and U(v,'form')then a.form=cv(a.form,p) e=e+1 else return e end end return e end local function cD(h)
local H,J=aP(h,'^(%d+)(%l*)$') local ak=H and bA(J) local M=ak and aC(H,'18446744073709551615')and H*ak
return M and M>=1 and M<=1e15 and M or nil end
local bM={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cZ(a,h) local n=cD(h)
if not n then a.Q=h:upper() n=bM[a.Q] if not n then F(U((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not U((' COST PARTIAL '),'ANCHOR')then
K(l('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return n end local function cr(a)
if not true then return 0 elseif a.b<a.a then return a.PARTIAL and a.b or 0 end return a.a end local function cL(u,h)
if u>1000 then F(h) end end local function ce(j) return j:sub(-9)==':reserved'or j:sub(-14)==':reserved:ends' end
local function cN(j) if ce(j)then F('RESERVED_KEY') end end local function bR(a) local cw=a.PARTIAL and a.i<a.a
a.l=a.SHADOW and not a.u and(cw or not a.allowed) if not a.allowed and(a.l or a.u)then a.allowed=true if not true then
local S,S,S,aU=ap(a) a.ttl=X(aU) end end end local function cH(a) aG(a,'keep',a.v) return a.remaining end
local function cy(a,ao,f) if f==0 then return'keep' elseif not ao or not aM(ao,a.now_ms)then return'charge',{m=f}
elseif ao<=a.now_ms-a.d then return'keep' end return'charge',{m=f,earlier=ao} end local function cR(A,ad,bQ)
if A=='keep'then return bQ end return A~='delete'and ad or nil end local function ct(f) return f==0 and 1 or f end
local function bh(b) if b-b~=0 or b>=(2^53)then F('INEXACT_REPLY') end return b end local function bS(a) local f=a.a
aB(a,0) local A,ad=cy(a,nil,f) if f>0 then a.e,a.h=A,ad end local bC=cR(a.e,a.h,a.v) aG(a,a.e,bC)
a.allowed=a.b>0 and r(a,0)==0 a.x=a.b>0 and f or ct(f) if(nil)then a.count,a.ttl=(nil)(bC,a.now_ms)
elseif a.allowed then a.ttl=X(bh(r(a,a.b))) else local r=r(a,a.x) a.ttl=r and math.max(1,X(bh(r)))or-1 end end
local function bT(a) local f=a.a if a.PARTIAL then f=math.min(f,cH(a)) end a.i=f if a.ALWAYS then bS(a) else aB(a,f) end
end local function bx(a) return a.u and a.u.a or a.l and a.a or a.i end local function bi(a) if not a.allowed then
return 0 end return a.PARTIAL and bx(a)or 1 end local function cd(a,B) local E,cO,N,aU,bW=ap(a) return{ 'allowed',bi(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',E, 'retry_after_ms',cO, 'next_ms',N, 'reset_ms',aU,
'delay_ms',bW, 'now_ms',a.now_ms, 'shadow',a.l and 1 or 0, 'charged',B, } end local function cs(aj) local bD={}
for S,a in ipairs(aj)do local s,H=a.AS or('SLIDING'):lower(),2 a.g=s while bD[a.g]do a.g=l('%s-%d',s,H) H=H+1 end
bD[a.g]=true end end local function as(b) return l('%.0f',br(b,999999999999999)) end local function cF(a)
local n=(nil)and(nil)(a)or a.d local aE,w=1000,n%1000 while w>0 do aE,w=w,aE%w end local bH=1000/aE
local an=aD(au(n,bH),1000) return l('"%s";q=%s;w=%s',a.g,as(au(a.limit,bH)),as(an)) end local function cj(av,aR)
if av.allowed~=aR.allowed then return not av.allowed end local r,aS=av.retry_after_ms,aR.retry_after_ms if r~=aS then
return r<0 or(aS>=0 and r>aS) end return av.remaining<aR.remaining end local function cf(aj) local aX,by=aj[1],{} cs(aj)
for b,a in ipairs(aj)do by[b]=cF(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ap(a) if cj(a,aX)then aX=a end end
local a=aX local am={ 'X-RateLimit-Limit', l('%.0f',a.b), 'X-RateLimit-Remaining', l('%.0f',a.remaining), }
local function ar(ab,Y) am[#am+1]=ab am[#am+1]=Y end if a.reset_ms>=0 then
ar('X-RateLimit-Reset',l('%.0f',X(a.now_ms+a.reset_ms))) end ar('RateLimit-Policy',table.concat(by,', '))
local cq=a.next_ms>=0 and';t='..as(X(a.next_ms))or'' ar('RateLimit',l('"%s";r=%s%s',a.g,as(a.remaining),cq))
if not a.allowed and a.retry_after_ms>=0 then ar('Retry-After',l('%.0f',X(a.retry_after_ms))) end return am end
local function cx(a,B) if a.form=='FULL'then return cd(a,B) end return{bi(a),a.count,a.ttl,cf({a})} end
ax={z=bO,A=bR,B=bT,error_reply=bZ,C=ca,k=F,D=cc,F=cp,G=cr,H=bs,J=cx,K=bw,L=cA,y=bx,N=cI,O=cL,P=cN,S=cZ} end return ax
end local bY,bz=pcall(cP,KEYS,ARGV) return bY and bz or k().error_reply(bz)
