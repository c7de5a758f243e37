-- RL.REFUND SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aG,h local W,i,ba,dq=string.find,string.format,string.match,string.sub local function bJ(O) return O==''and 1000
or O=='ms'and 1 or O=='s'and 1000 or O=='m'and 60000 or O=='h'and 3600000 or O=='d'and 86400000 or nil end
local function cP(p,e,y) local at,aj,j=p[e],p[e+1],p[e+2] if not aj then h().l('ARITY') end local a={ c='', K=0,
now_ms=0, g=0, U=0, limit=0, b=0, a=1, form=nil, delay=0, f=nil, i=nil, allowed=false, count=0, ttl=0, d='keep',
remaining=0, j=1, } e=e+2 if j=='LINE'and not p[e+1]and y~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local af=p[e+1]or''
local bv=y==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[e+2]=='LINE'and not p[e+3]and#af<16
if bv and j=='COST'and(' COST PARTIAL ')~=' ID 'and W(af,'^[1-9]%d*$')then a.form,a.a,e='LINE',af+0,e+3
elseif bv and j=='ID'and(' COST PARTIAL ')==' ID 'and af~=''then a.form,a.ID,e='LINE',af,e+3 else e=h().N(a,p,e,y)
a.a=a.COST or 1 end end local cw=#aj<16 and W(aj,'^[1-9]%d*$') a.limit=cw and aj+0 or h().M('limit',aj,0)
local L,O=ba(at,'^([1-9]%d*)(%l*)$') local ap=L and#at<16 and bJ(O) local v=ap and L*ap if not v or v<1 or v>1e15 then
v=h().V(a,at) end a.g,a.U,a.b=v,v<9e12 and v*1000 or h().J(v,1000),a.BURST or a.limit return a,e end
local function cM(p,y) local a,e=cP(p,1,y) if p[e]then h().F(a,y,p[e]) end if true and a.a>1000 then
h().x(h().I(a),'LOG_COST') end return a end local function cN(p,y) if not p[1+1]then h().l('ARITY') end return cM(p,y)
end local q=redis.call local function cU(a) local bQ=q('TIME') local bb=bQ[1]*1000000+bQ[2]
a.K,a.now_ms=bb,(bb-bb%1000)/1000 end local function di(a,ah,e,bS,aU) local f=ah[e] if not f then h().l('KEYS') end
a.c,e=f,e+1 if aU then a.h=f elseif W(f,':reserved',1,true)then h().Q(f) end return e end local function cS(a,ah,bS,aU)
cU(a) if#ah~=di(a,ah,1,bS,aU)-1 then h().l('KEYS') end end local aQ,dp,ds,aB=4000,1000,1000,2*500
local function cA(a,X,bP,am) local f=a.c local u,V=q('ZCARD',f),0 if u>0 and bP>=0 and am~='delete'then
local s=i('%.0f',bP) local K=am=='read'and 0 or aQ if u<=K then local Y=q('ZREMRANGEBYSCORE',f,X,s) u,aQ=u-Y,K-Y else
u,V=h().P(f,X,s,u,K) end end a.e,a.q,a.k=u-V,V,u>0 end local function bz(a,am) cA(a,'0',a.now_ms-a.g,am) a.r=500
if am=='write'then aB=(aB-aB%2)/2 a.r=aB end end local function bM(m,n,aJ) if m=='keep'then return aJ end
return m~='delete'and n or nil end local function aA(c,d) if c-c==0 and d-d==0 then return c<d end return h().H(c,d) end
local function ae(H) local C=H%1000 return H<0 and-1 or C==0 and H/1000 or(H-C)/1000+1 end local function bm(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return h().z(c,d) end local function aM(a,g) local f,aX=a.c,a.e
local aI=aX+(g==0 and 1 or g)<=a.limit a.allowed,a.count,a.ttl,a.d=aI,aX,ae(a.g),'keep' if aI and g>0 then
a.d,a.i='charge',{m=g} elseif not aI and aX>0 and q('ZCOUNT',f,'('..i('%.0f',a.now_ms),'+inf')>0 then
a.d,a.i='rebase',{S=true} end end local function bp(a) if a.PARTIAL or a.ALWAYS then h().C(a) else local g=a.a a.j=g
aM(a,g) end if a.SHADOW then h().B(a) end end local function bK(f,F) F=i('%.0f',F)
local x=q('ZRANGE',f,F,F,'WITHSCORES')[2] return x and tonumber(x) end local function cH(a) local f=a.c
local X=a.k and bK(f,0) return X and X<0 and q('ZCOUNT',f,'-inf','(0')or 0 end local function bA(a,F)
local x=F>=0 and F<a.e+a.q and bK(a.c,F) return x and math.max(0,math.ceil(x)) end local function ar(b) if b-b~=0 then
return h().R(b) end return i('%.0f',b) end local function aW(a,b) local E,aH=a.now_ms,a.p a.n=a.n or cH(a)
if b>=a.e+aH-a.n then return nil end local F=b+a.n+a.q local e=bA(a,F) if e and aH>0 and e>E then e=nil end
if not e then local aV=bA(a,F-aH) e=aV and aV>E and aV or E end if a.O then a.s=a.s or q('ZCOUNT',a.c,'-inf',ar(E))+a.r
e=F<a.s and math.min(e,E)or e end return e+a.g end local function dl(a,g,A,aW,aS) local bg=a.limit-g if bg<0 then
return nil elseif A<=bg then return 0 end local S=aW(a,A-bg-1) if aS and(not S or aS<S)then S=aS end
return S and(S>=(2^53)and(1/0)or math.max(0,S-a.now_ms)) end local function aD(a,bu) local E,v=a.now_ms,a.g
if bu and 2*(bu-E)>=3*v then return nil end return E+2*v end local function z(a,g)
return dl(a,g,a.e+a.p,aW,(aD(a,a.u)or a.u)+1) end local function av(f,E) if not redis.REDIS_VERSION_NUM then
return h().E(f,E) end local e=q('PEXPIRETIME',f) return e>=0 and e or nil end local function aR(a,m,n)
a.n,a.s,a.p,a.O=nil,nil,m=='charge'and n.m or 0,m=='rebase' local I=a.limit-a.e-a.p a.remaining=I>0 and I or 0
a.u=a.k and av(a.c,a.now_ms)or nil end local function aw(a) local m,z=a.d,z
aR(a,m,m=='keep'and a.f or m~='delete'and a.i or nil) local I,aL,M,T,ad=a.remaining,a.b,0,0,0 if not a.allowed then
local g=a.j M=z(a,a.v or(g==0 and 1 or g))or-1 if a.G and M>=0 then M=math.max(M,a.G) end end if I<aL then
T=z(a,I+1)or-1 ad=I+1==aL and T or z(a,aL)or-1 end if M-M~=0 or T-T~=0 or ad-ad~=0 or M>=(2^53)or ad>=(2^53)then
h().l('INEXACT_REPLY') end return I,M,T,ad,0 end local function cy(a,A) local I,M,T,ad,ck=aw(a) local df=a.o and 1 or 0
return i( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().w(a)or 1)or 0,a.count,a.ttl,a.b,I,M,T,ad, ck,a.now_ms,df,A ) end local function bH(a,A)
local aa=a.form if aa=='LINE'then return cy(a,A) elseif aa then return h().L(a,A) end
return{a.allowed and(a.PARTIAL and h().w(a)or 1)or 0,a.count,a.ttl} end local function ch(a,m,n,A) local au
if not true then local Z,aJ,aq=nil,a.f,bM(m,n,a.f) if Z and aA(Z,a.now_ms)then aq=nil end a.f=aq bp(a) au=bH(a,A) a.f=aJ
end if not a.X then h().A(a,m,n) end if not au then bz(a,'read') bp(a) au=bH(a,A) end return au end
local function de(ah,p) local a=cN(p,' form COST AT BURST BLOCK MAX ANCHOR ') h().x(true and a.a or 0,'LOG_COST')
cS(a,ah) bz(a,'write') local m,n=h().refund(a,a.AT,a.a) return ch(a,m,n,0) end function h() if not aG then local t={}
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
t.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function cV(a,Q,g)
local o=math.min(a.e,g) if o==0 then return'keep' end return'refund',{remove=o,y=Q} end local function R(k)
error({err=k},0) end local function J(ai) R(t[ai]) end local function co(an) if type(an)=='table'then return an
elseif W(an,'^%u+ ')then return redis.error_reply(an) end error(an,0) end local function by(c,d)
local bl,cb=c-c==0,d-d==0 if bl or cb then return bl elseif#c~=#d then return#c<#d end for b=#c,1,-1 do
if c[b]~=d[b]then return c[b]<d[b] end end return false end local function ag(b) if b-b~=0 then return b end
local l,o={},0 while b>0 do local G=b%(2^24) o=o+1 l[o]=G b=(b-G)/(2^24) end return l end local bj={ __sub=function()
return 1 end, } local function ax(l) local o=#l while o>0 and l[o]==0 do l[o]=nil o=o-1 end
if o>3 or(o==3 and l[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(l,bj) end
return(l[1]or 0)+(l[2]or 0)*(2^24)+(l[3]or 0)*(2^24)*(2^24) end local function bY(c,d) c,d=ag(c),ag(d) local N,U={},0
for b=1,math.max(#c,#d)+1 do local G=(c[b]or 0)+(d[b]or 0)+U U=G>=(2^24)and 1 or 0 N[b]=G-U*(2^24) end return ax(N) end
local function bC(c,d) c,d=ag(c),ag(d) local al={} for b=1,#c+#d do al[b]=0 end for b=1,#c do local U=0 for aY=1,#d do
local G=al[b+aY-1]+c[b]*d[aY]+U U=math.floor(G/(2^24)) al[b+aY-1]=G-U*(2^24) end al[b+#d]=U end return ax(al) end
local function bn(b) if b-b==0 then return b end local N=0 for cu=#b,1,-1 do N=N*(2^24)+b[cu] end return N end
local function dh(c,d) if not by(d,c)then return 0 end d=ag(d) local bq,aK={},0 for b=1,#c do local G=c[b]-(d[b]or 0)-aK
aK=G<0 and 1 or 0 bq[b]=G+aK*(2^24) end return ax(bq) end local function dg(c,d) if c-c==0 and d-d==0 then
return c>d and c-d or 0 end return dh(c,d) end local function aC(c,d) if c-c==0 and d-d==0 and c*d<(2^53)then return c*d
end return bC(c,d) end local function cm(c,d) local be=0 while not aA(c,d)do
local B=math.max(1,math.floor(bn(c)/bn(d)*(1-2^-45))) B=ax(ag(B)) be=bm(be,B) c=dg(c,aC(B,d)) end return be,c end
local function aO(c,d) if c-c==0 and d-d==0 then local C=c%d return(c-C)/d,C end return cm(c,d) end local function dj(b)
local bi='' while b-b~=0 do local C b,C=aO(b,10000000) bi=i('%07.0f',C)..bi end return i('%.0f',b)..bi end
local function cp(f,E) local S=q('PTTL',f) return S>=0 and E+S or nil end local function cX(f,X,s,u,K)
local V=q('ZCOUNT',f,X,s) local Y=math.min(V,K) if Y>0 then local r=X=='0'and q('ZCOUNT',f,'-inf','(0')or 0
q('ZREMRANGEBYRANK',f,i('%.0f',r),i('%.0f',r+Y-1)) u,V,aQ=u-Y,V-Y,K-Y end return u,V end local function bo(c,d)
for e=1,math.min(#c,#d)do local bT,bU=c:byte(e),d:byte(e) if bT~=bU then return bT<bU end end return#c<#d end
local function aN(k,K) if k~='0'and not W(k,'^[1-9]%d*$')then return nil end
return(#k<#K or(#k==#K and not bo(K,k)))and k or nil end local function bt(l)
if#l<=15 or(#l==16 and bo(l,'9007199254740992'))then return l+0 end local aT=#l%7 local b=aT>0 and l:sub(1,aT)+0 or 0
for e=aT+1,#l,7 do b=bm(aC(b,10000000),l:sub(e,e+6)+0) end return b end local function bE(ai,k,bx)
local l=k and aN(k,'9223372036854775807') local b=l and bt(l) if not b or b==0 and bx>0 then
R(i('ERR invalid %s: expected an integer from %d to 9223372036854775807',ai,bx)) elseif b-b~=0 then
R(i('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ai)) end return b end local bk={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ab(cz,w)
return not W(w,' ',1,true)and W(cz,' '..w..' ',1,true)~=nil end local function bO(a,j)
return not ab(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or ab((' COST PARTIAL '),j) end
local function cv(w,j) local r,s=0,0 local bL,cB=math.min(#w,#j),math.max(#w,#j)
while r<bL and w:byte(r+1)==j:byte(r+1)do r=r+1 end while s<bL-r and w:byte(-1-s)==j:byte(-1-s)do s=s+1 end
return r+s>=2 and cB-r-s<=2 end local function cq(a,y,w) local ac={} for P,D in ipairs(bk)do
if ab(y,D[1])and bO(a,D[1])then ac[#ac+1]=D[2] end end for P,aa in ipairs({'FULL','LINE','HEADERS'})do ac[#ac+1]=aa end
for P,j in ipairs(ac)do if cv(w:upper(),ba(j,'^%u+'))then R('ERR syntax error: no such option, but there is '..j) end
end local s=table.remove(ac) local dk=table.concat(ac,', ')
R('ERR syntax error: after limit come '..dk..' or '..s..', each at most once') end local function da(D,a,y)
local j,dn=D[1],a.W if not ab(y,j)then R(i('ERR invalid %s: only %s it',j,D[3])) elseif not bO(a,j)then
R(i('ERR invalid %s: %s takes none',j,('SLIDING'))) elseif a[j]~=nil then
R(i('ERR syntax error: %s comes at most once',D[2])) end end local function bB(c,d) return aA(d,c)and d or c end
local bX=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bj) local function cQ(j,k,dr) if j=='AS'then
return k and#k>=1 and#k<=64 and not W(k,'[^%w._-]')and k or J('AS') elseif j=='AT'then
local l=k and aN(k,'9223372036854775807') return l and bB(bt(l),(aO(bX,1000)))or J('AT') end
return bE(j,k,j=='BURST'and 1 or 0) end local function cY(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
J(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
J(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bV={FULL=true,LINE=true,HEADERS=true}
local function cI(aa,bD) if aa then J(aa==bD and'FORM_TWICE'or'TWO_FORMS') end return bD end local function cO(a,p,e,y)
while p[e]do local w,D=p[e]:upper(),nil for P,bw in ipairs(bk)do D=bw[1]==w and bw or D end if D then da(D,a,y)
if D[2]==w then a[w]=true e=e+1 else a[w]=cQ(w,p[e+1],p[e+2]) e=e+(w=='RESERVE'and 3 or 2) end cY(a)
elseif bV[w]and ab(y,'form')then a.form=cI(a.form,w) e=e+1 else return e end end return e end local function cR(k)
local L,O=ba(k,'^(%d+)(%l*)$') local ap=L and bJ(O) local H=ap and aN(L,'18446744073709551615')and L*ap
return H and H>=1 and H<=1e15 and H or nil end
local bW={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dm(a,k) local v=cR(k)
if not v then a.T=k:upper() v=bW[a.T] if not v then J(ab((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ab((' COST PARTIAL '),'ANCHOR')then
R(i('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return v end local function cE(a)
if not true then return 0 elseif a.b<a.a then return a.PARTIAL and a.b or 0 end return a.a end local function cZ(u,k)
if u>1000 then J(k) end end local function cs(f) return f:sub(-9)==':reserved'or f:sub(-14)==':reserved:ends' end
local function db(f) if cs(f)then J('RESERVED_KEY') end end local function cg(a) local cJ=a.PARTIAL and a.j<a.a
a.o=a.SHADOW and not a.t and(cJ or not a.allowed) if not a.allowed and(a.o or a.t)then a.allowed=true if not true then
local P,P,P,bf=aw(a) a.ttl=ae(bf) end end end local function cW(a) aR(a,'keep',a.f) return a.remaining end
local function cL(a,Q,g) if g==0 then return'keep' elseif not Q or not aA(Q,a.now_ms)then return'charge',{m=g}
elseif Q<=a.now_ms-a.g then return'keep' end return'charge',{m=g,D=Q} end local function cG(g) return g==0 and 1 or g
end local function br(b) if b-b~=0 or b>=(2^53)then J('INEXACT_REPLY') end return b end local function ci(a) local g=a.a
aM(a,0) local m,n=cL(a,nil,g) if g>0 then a.d,a.i=m,n end local aq=bM(a.d,a.i,a.f) aR(a,a.d,aq)
a.allowed=a.b>0 and z(a,0)==0 a.v=a.b>0 and g or cG(g) if(nil)then a.count,a.ttl=(nil)(aq,a.now_ms)
elseif a.allowed then a.ttl=ae(br(z(a,a.b))) else local z=z(a,a.v) a.ttl=z and math.max(1,ae(br(z)))or-1 end end
local function cj(a) local g=a.a if a.PARTIAL then g=math.min(g,cW(a)) end a.j=g if a.ALWAYS then ci(a) else aM(a,g) end
end local function bZ(f,H,o) local x=i('%.0f',H) local b=q('ZCOUNT',f,x,x) while o>1 do local B={}
for P=1,math.min(o,1000)do B[#B+1]=x B[#B+1]=i('%s-0.%.0f',x,b) b=b+1 end o=o-q('ZADD',f,'NX',unpack(B)) end
while o>0 do o=o-q('ZADD',f,'NX',x,x..'-0.'..ar(b)) b=b+1 end end local function aF(f,Q) if Q then
q('PEXPIREAT',f,ar(Q)) end end local function cc(ca,aZ) local N=0 for r=1,#aZ,1000 do local B={unpack(ca)}
for b=r,math.min(r+999,#aZ)do B[#B+1]=aZ[b] end N=N+q(unpack(B)) end return N end local function dc(f,x,u) local ak={}
for P,cC in ipairs(u)do ak[#ak+1]=x ak[#ak+1]=cC end cc({'ZADD',f,'XX'},ak) end local function cf(a,m,n) local f=a.c
if m=='delete'then q('UNLINK',f) return end local Z=aD(a,a.k and av(f,a.now_ms)or nil) if n.S then
local x=i('%.0f',a.now_ms) dc(f,x,q('ZRANGEBYSCORE',f,'('..x,'+inf','LIMIT','0',ar(a.r))) aF(f,Z) return end
local u=a.e+a.q local r,s=u-n.remove,u-1 if n.y then s=q('ZCOUNT',f,'-inf',ar(n.y))-1 r=math.max(0,s+1-n.remove) end
if s<0 or r>0 or s+1<u then aF(f,Z) end if s>=0 then q('ZREMRANGEBYRANK',f,i('%.0f',r),i('%.0f',s)) end end
local function cd(a,m,n) local f=a.c if m=='charge'then local Z=aD(a,a.k and av(f,a.now_ms)or nil)
bZ(f,n.D or a.now_ms,n.m) aF(f,Z) elseif m~='keep'then cf(a,m,n) elseif a.k then aF(f,aD(a,av(f,a.now_ms))) end end
local function ce(a,m,n) cd(a,m,n) end local function bF(a) return a.t and a.t.a or a.o and a.a or a.j end
local function bs(a) if not a.allowed then return 0 end return a.PARTIAL and bF(a)or 1 end local function cr(a,A)
local I,dd,T,bf,cl=aw(a) return{ 'allowed',bs(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',I,
'retry_after_ms',dd, 'next_ms',T, 'reset_ms',bf, 'delay_ms',cl, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',A,
} end local function cF(ao) local bN={} for P,a in ipairs(ao)do local r,L=a.AS or('SLIDING'):lower(),2 a.h=r
while bN[a.h]do a.h=i('%s-%d',r,L) L=L+1 end bN[a.h]=true end end local function az(b)
return i('%.0f',bB(b,999999999999999)) end local function cT(a) local v=(nil)and(nil)(a)or a.g local aP,C=1000,v%1000
while C>0 do aP,C=C,aP%C end local bR=1000/aP local at=aO(aC(v,bR),1000)
return i('"%s";q=%s;w=%s',a.h,az(aC(a.limit,bR)),az(at)) end local function cx(aE,bc) if aE.allowed~=bc.allowed then
return not aE.allowed end local z,bd=aE.retry_after_ms,bc.retry_after_ms if z~=bd then return z<0 or(bd>=0 and z>bd) end
return aE.remaining<bc.remaining end local function ct(ao) local bh,bG=ao[1],{} cF(ao) for b,a in ipairs(ao)do
bG[b]=cT(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aw(a) if cx(a,bh)then bh=a end end local a=bh local as={
'X-RateLimit-Limit', i('%.0f',a.b), 'X-RateLimit-Remaining', i('%.0f',a.remaining), } local function ay(ai,af)
as[#as+1]=ai as[#as+1]=af end if a.reset_ms>=0 then ay('X-RateLimit-Reset',i('%.0f',ae(a.now_ms+a.reset_ms))) end
ay('RateLimit-Policy',table.concat(bG,', ')) local cD=a.next_ms>=0 and';t='..az(ae(a.next_ms))or''
ay('RateLimit',i('"%s";r=%s%s',a.h,az(a.remaining),cD)) if not a.allowed and a.retry_after_ms>=0 then
ay('Retry-After',i('%.0f',ae(a.retry_after_ms))) end return as end local function cK(a,A) if a.form=='FULL'then
return cr(a,A) end return{bs(a),a.count,a.ttl,ct({a})} end
aG={z=bY,A=ce,B=cg,C=cj,error_reply=co,E=cp,l=J,F=cq,H=by,I=cE,J=bC,L=cK,M=bE,N=cO,w=bF,refund=cV,P=cX,x=cZ,Q=db,R=dj,V=dm}
end return aG end local cn,bI=pcall(de,KEYS,ARGV) return cn and bI or h().error_reply(bI)
