-- RL.SETTLE SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aI,h local W,i,bc,dt=string.find,string.format,string.match,string.sub local function bM(O) return O==''and 1000
or O=='ms'and 1 or O=='s'and 1000 or O=='m'and 60000 or O=='h'and 3600000 or O=='d'and 86400000 or nil end
local function cS(q,e,y) local au,ak,j=q[e],q[e+1],q[e+2] if not ak then h().h('ARITY') end local a={ c='', K=0,
now_ms=0, g=0, V=0, limit=0, b=0, a=1, form=nil, delay=0, f=nil, j=nil, allowed=false, count=0, ttl=0, d='keep',
remaining=0, k=1, } e=e+2 if j=='LINE'and not q[e+1]and y~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local af=q[e+1]or''
local bx=y==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and q[e+2]=='LINE'and not q[e+3]and#af<16
if bx and j=='COST'and(' COST PARTIAL ')~=' ID 'and W(af,'^[1-9]%d*$')then a.form,a.a,e='LINE',af+0,e+3
elseif bx and j=='ID'and(' COST PARTIAL ')==' ID 'and af~=''then a.form,a.ID,e='LINE',af,e+3 else e=h().O(a,q,e,y)
a.a=a.COST or 1 end end local cA=#ak<16 and W(ak,'^[1-9]%d*$') a.limit=cA and ak+0 or h().N('limit',ak,0)
local L,O=bc(au,'^([1-9]%d*)(%l*)$') local aq=L and#au<16 and bM(O) local v=aq and L*aq if not v or v<1 or v>1e15 then
v=h().W(a,au) end a.g,a.V,a.b=v,v<9e12 and v*1000 or h().J(v,1000),a.BURST or a.limit return a,e end
local function cP(q,y) local a,e=cS(q,1,y) if q[e]then h().F(a,y,q[e]) end if true and a.a>1000 then
h().x(h().I(a),'LOG_COST') end return a end local function cQ(q,y) if not q[1+1]then h().h('ARITY') end return cP(q,y)
end local r=redis.call local function cX(a) local bT=r('TIME') local bd=bT[1]*1000000+bT[2]
a.K,a.now_ms=bd,(bd-bd%1000)/1000 end local function dl(a,ah,e,bV,aW) local f=ah[e] if not f then h().h('KEYS') end
a.c,e=f,e+1 if aW then a.i=f elseif W(f,':reserved',1,true)then h().R(f) end return e end local function cV(a,ah,bV,aW)
cX(a) if#ah~=dl(a,ah,1,bV,aW)-1 then h().h('KEYS') end end local aS,ds,dv,aD=4000,1000,1000,2*500
local function cE(a,X,bS,an) local f=a.c local u,V=r('ZCARD',f),0 if u>0 and bS>=0 and an~='delete'then
local t=i('%.0f',bS) local K=an=='read'and 0 or aS if u<=K then local Y=r('ZREMRANGEBYSCORE',f,X,t) u,aS=u-Y,K-Y else
u,V=h().Q(f,X,t,u,K) end end a.e,a.q,a.l=u-V,V,u>0 end local function bB(a,an) cE(a,'0',a.now_ms-a.g,an) a.r=500
if an=='write'then aD=(aD-aD%2)/2 a.r=aD end end local function bP(m,n,aL) if m=='keep'then return aL end
return m~='delete'and n or nil end local function aC(c,d) if c-c==0 and d-d==0 then return c<d end return h().H(c,d) end
local function ae(H) local C=H%1000 return H<0 and-1 or C==0 and H/1000 or(H-C)/1000+1 end local function bp(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return h().z(c,d) end local function aO(a,g) local f,aZ=a.c,a.e
local aK=aZ+(g==0 and 1 or g)<=a.limit a.allowed,a.count,a.ttl,a.d=aK,aZ,ae(a.g),'keep' if aK and g>0 then
a.d,a.j='charge',{m=g} elseif not aK and aZ>0 and r('ZCOUNT',f,'('..i('%.0f',a.now_ms),'+inf')>0 then
a.d,a.j='rebase',{T=true} end end local function bs(a) if a.PARTIAL or a.ALWAYS then h().C(a) else local g=a.a a.k=g
aO(a,g) end if a.SHADOW then h().B(a) end end local function bN(f,F) F=i('%.0f',F)
local x=r('ZRANGE',f,F,F,'WITHSCORES')[2] return x and tonumber(x) end local function cL(a) local f=a.c
local X=a.l and bN(f,0) return X and X<0 and r('ZCOUNT',f,'-inf','(0')or 0 end local function bC(a,F)
local x=F>=0 and F<a.e+a.q and bN(a.c,F) return x and math.max(0,math.ceil(x)) end local function as(b) if b-b~=0 then
return h().S(b) end return i('%.0f',b) end local function aY(a,b) local E,aJ=a.now_ms,a.p a.n=a.n or cL(a)
if b>=a.e+aJ-a.n then return nil end local F=b+a.n+a.q local e=bC(a,F) if e and aJ>0 and e>E then e=nil end
if not e then local aX=bC(a,F-aJ) e=aX and aX>E and aX or E end if a.P then a.s=a.s or r('ZCOUNT',a.c,'-inf',as(E))+a.r
e=F<a.s and math.min(e,E)or e end return e+a.g end local function dp(a,g,A,aY,aU) local bj=a.limit-g if bj<0 then
return nil elseif A<=bj then return 0 end local S=aY(a,A-bj-1) if aU and(not S or aU<S)then S=aU end
return S and(S>=(2^53)and(1/0)or math.max(0,S-a.now_ms)) end local function aF(a,bw) local E,v=a.now_ms,a.g
if bw and 2*(bw-E)>=3*v then return nil end return E+2*v end local function z(a,g)
return dp(a,g,a.e+a.p,aY,(aF(a,a.u)or a.u)+1) end local function ax(f,E) if not redis.REDIS_VERSION_NUM then
return h().E(f,E) end local e=r('PEXPIRETIME',f) return e>=0 and e or nil end local function aT(a,m,n)
a.n,a.s,a.p,a.P=nil,nil,m=='charge'and n.m or 0,m=='rebase' local I=a.limit-a.e-a.p a.remaining=I>0 and I or 0
a.u=a.l and ax(a.c,a.now_ms)or nil end local function ay(a) local m,z=a.d,z
aT(a,m,m=='keep'and a.f or m~='delete'and a.j or nil) local I,aN,M,T,ad=a.remaining,a.b,0,0,0 if not a.allowed then
local g=a.k M=z(a,a.v or(g==0 and 1 or g))or-1 if a.G and M>=0 then M=math.max(M,a.G) end end if I<aN then
T=z(a,I+1)or-1 ad=I+1==aN and T or z(a,aN)or-1 end if M-M~=0 or T-T~=0 or ad-ad~=0 or M>=(2^53)or ad>=(2^53)then
h().h('INEXACT_REPLY') end return I,M,T,ad,0 end local function cC(a,A) local I,M,T,ad,co=ay(a) local di=a.o and 1 or 0
return i( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().w(a)or 1)or 0,a.count,a.ttl,a.b,I,M,T,ad, co,a.now_ms,di,A ) end local function bK(a,A)
local aa=a.form if aa=='LINE'then return cC(a,A) elseif aa then return h().L(a,A) end
return{a.allowed and(a.PARTIAL and h().w(a)or 1)or 0,a.count,a.ttl} end local function ck(a,m,n,A) local aw
if not true then local Z,aL,ar=nil,a.f,bP(m,n,a.f) if Z and aC(Z,a.now_ms)then ar=nil end a.f=ar bs(a) aw=bK(a,A) a.f=aL
end if not a.Y then h().A(a,m,n) end if not aw then bB(a,'read') bs(a) aw=bK(a,A) end return aw end
local function dh(ah,q) local a=cQ(q,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ')
local bh,av=a.RESERVED,a.ACTUAL if not bh or not av then h().h('SETTLEMENT') end local aj=math.abs(bh-av)
h().x(true and aj or 0,'LOG_DIFFERENCE') cV(a,ah) bB(a,'write') local cl=av<bh and h().refund or h().M
local m,n=cl(a,a.AT,aj) return ck(a,m,n,av) end function h() if not aI then local p={}
p.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
p.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
p.ID='ERR invalid ID: expected 1 to 512 bytes'
p.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
p.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
p.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
p.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
p.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
p.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
p.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
p.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
p.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
p.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
p.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
p.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
p.ARITY='ERR wrong number of arguments'
p.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
p.LOG_COST='ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more'
p.LOG_DIFFERENCE='ERR invalid ACTUAL: RL.SLIDING is corrected by at most 1000 units a call; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more'
p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function cY(a,Q,g)
local o=math.min(a.e,g) if o==0 then return'keep' end return'refund',{remove=o,y=Q} end local function bG(a,Q,g)
if g==0 then return'keep' elseif not Q or not aC(Q,a.now_ms)then return'charge',{m=g} elseif Q<=a.now_ms-a.g then
return'keep' end return'charge',{m=g,D=Q} end local function R(k) error({err=k},0) end local function J(ai) R(p[ai]) end
local function cs(ao) if type(ao)=='table'then return ao elseif W(ao,'^%u+ ')then return redis.error_reply(ao) end
error(ao,0) end local function bA(c,d) local bo,ce=c-c==0,d-d==0 if bo or ce then return bo elseif#c~=#d then
return#c<#d end for b=#c,1,-1 do if c[b]~=d[b]then return c[b]<d[b] end end return false end local function ag(b)
if b-b~=0 then return b end local l,o={},0 while b>0 do local G=b%(2^24) o=o+1 l[o]=G b=(b-G)/(2^24) end return l end
local bm={ __sub=function() return 1 end, } local function az(l) local o=#l while o>0 and l[o]==0 do l[o]=nil o=o-1 end
if o>3 or(o==3 and l[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(l,bm) end
return(l[1]or 0)+(l[2]or 0)*(2^24)+(l[3]or 0)*(2^24)*(2^24) end local function cb(c,d) c,d=ag(c),ag(d) local N,U={},0
for b=1,math.max(#c,#d)+1 do local G=(c[b]or 0)+(d[b]or 0)+U U=G>=(2^24)and 1 or 0 N[b]=G-U*(2^24) end return az(N) end
local function bE(c,d) c,d=ag(c),ag(d) local am={} for b=1,#c+#d do am[b]=0 end for b=1,#c do local U=0 for ba=1,#d do
local G=am[b+ba-1]+c[b]*d[ba]+U U=math.floor(G/(2^24)) am[b+ba-1]=G-U*(2^24) end am[b+#d]=U end return az(am) end
local function bq(b) if b-b==0 then return b end local N=0 for cy=#b,1,-1 do N=N*(2^24)+b[cy] end return N end
local function dk(c,d) if not bA(d,c)then return 0 end d=ag(d) local aj,aM={},0 for b=1,#c do local G=c[b]-(d[b]or 0)-aM
aM=G<0 and 1 or 0 aj[b]=G+aM*(2^24) end return az(aj) end local function dj(c,d) if c-c==0 and d-d==0 then
return c>d and c-d or 0 end return dk(c,d) end local function aE(c,d) if c-c==0 and d-d==0 and c*d<(2^53)then return c*d
end return bE(c,d) end local function cq(c,d) local bg=0 while not aC(c,d)do
local B=math.max(1,math.floor(bq(c)/bq(d)*(1-2^-45))) B=az(ag(B)) bg=bp(bg,B) c=dj(c,aE(B,d)) end return bg,c end
local function aQ(c,d) if c-c==0 and d-d==0 then local C=c%d return(c-C)/d,C end return cq(c,d) end local function dm(b)
local bl='' while b-b~=0 do local C b,C=aQ(b,10000000) bl=i('%07.0f',C)..bl end return i('%.0f',b)..bl end
local function ct(f,E) local S=r('PTTL',f) return S>=0 and E+S or nil end local function da(f,X,t,u,K)
local V=r('ZCOUNT',f,X,t) local Y=math.min(V,K) if Y>0 then local s=X=='0'and r('ZCOUNT',f,'-inf','(0')or 0
r('ZREMRANGEBYRANK',f,i('%.0f',s),i('%.0f',s+Y-1)) u,V,aS=u-Y,V-Y,K-Y end return u,V end local function br(c,d)
for e=1,math.min(#c,#d)do local bW,bX=c:byte(e),d:byte(e) if bW~=bX then return bW<bX end end return#c<#d end
local function aP(k,K) if k~='0'and not W(k,'^[1-9]%d*$')then return nil end
return(#k<#K or(#k==#K and not br(K,k)))and k or nil end local function bv(l)
if#l<=15 or(#l==16 and br(l,'9007199254740992'))then return l+0 end local aV=#l%7 local b=aV>0 and l:sub(1,aV)+0 or 0
for e=aV+1,#l,7 do b=bp(aE(b,10000000),l:sub(e,e+6)+0) end return b end local function bH(ai,k,bz)
local l=k and aP(k,'9223372036854775807') local b=l and bv(l) if not b or b==0 and bz>0 then
R(i('ERR invalid %s: expected an integer from %d to 9223372036854775807',ai,bz)) elseif b-b~=0 then
R(i('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ai)) end return b end local bn={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ab(cD,w)
return not W(w,' ',1,true)and W(cD,' '..w..' ',1,true)~=nil end local function bR(a,j)
return not ab(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or ab((' COST PARTIAL '),j) end
local function cz(w,j) local s,t=0,0 local bO,cF=math.min(#w,#j),math.max(#w,#j)
while s<bO and w:byte(s+1)==j:byte(s+1)do s=s+1 end while t<bO-s and w:byte(-1-t)==j:byte(-1-t)do t=t+1 end
return s+t>=2 and cF-s-t<=2 end local function cu(a,y,w) local ac={} for P,D in ipairs(bn)do
if ab(y,D[1])and bR(a,D[1])then ac[#ac+1]=D[2] end end for P,aa in ipairs({'FULL','LINE','HEADERS'})do ac[#ac+1]=aa end
for P,j in ipairs(ac)do if cz(w:upper(),bc(j,'^%u+'))then R('ERR syntax error: no such option, but there is '..j) end
end local t=table.remove(ac) local dn=table.concat(ac,', ')
R('ERR syntax error: after limit come '..dn..' or '..t..', each at most once') end local function dd(D,a,y)
local j,dr=D[1],a.X if not ab(y,j)then R(i('ERR invalid %s: only %s it',j,D[3])) elseif not bR(a,j)then
R(i('ERR invalid %s: %s takes none',j,('SLIDING'))) elseif a[j]~=nil then
R(i('ERR syntax error: %s comes at most once',D[2])) end end local function bD(c,d) return aC(d,c)and d or c end
local ca=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bm) local function cT(j,k,du) if j=='AS'then
return k and#k>=1 and#k<=64 and not W(k,'[^%w._-]')and k or J('AS') elseif j=='AT'then
local l=k and aP(k,'9223372036854775807') return l and bD(bv(l),(aQ(ca,1000)))or J('AT') end
return bH(j,k,j=='BURST'and 1 or 0) end local function db(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
J(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
J(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bY={FULL=true,LINE=true,HEADERS=true}
local function cM(aa,bF) if aa then J(aa==bF and'FORM_TWICE'or'TWO_FORMS') end return bF end local function cR(a,q,e,y)
while q[e]do local w,D=q[e]:upper(),nil for P,by in ipairs(bn)do D=by[1]==w and by or D end if D then dd(D,a,y)
if D[2]==w then a[w]=true e=e+1 else a[w]=cT(w,q[e+1],q[e+2]) e=e+(w=='RESERVE'and 3 or 2) end db(a)
elseif bY[w]and ab(y,'form')then a.form=cM(a.form,w) e=e+1 else return e end end return e end local function cU(k)
local L,O=bc(k,'^(%d+)(%l*)$') local aq=L and bM(O) local H=aq and aP(L,'18446744073709551615')and L*aq
return H and H>=1 and H<=1e15 and H or nil end
local bZ={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dq(a,k) local v=cU(k)
if not v then a.U=k:upper() v=bZ[a.U] if not v then J(ab((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ab((' COST PARTIAL '),'ANCHOR')then
R(i('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return v end local function cI(a)
if not true then return 0 elseif a.b<a.a then return a.PARTIAL and a.b or 0 end return a.a end local function dc(u,k)
if u>1000 then J(k) end end local function cw(f) return f:sub(-9)==':reserved'or f:sub(-14)==':reserved:ends' end
local function de(f) if cw(f)then J('RESERVED_KEY') end end local function cj(a) local cN=a.PARTIAL and a.k<a.a
a.o=a.SHADOW and not a.t and(cN or not a.allowed) if not a.allowed and(a.o or a.t)then a.allowed=true if not true then
local P,P,P,bi=ay(a) a.ttl=ae(bi) end end end local function cZ(a) aT(a,'keep',a.f) return a.remaining end
local function cK(g) return g==0 and 1 or g end local function bt(b) if b-b~=0 or b>=(2^53)then J('INEXACT_REPLY') end
return b end local function cm(a) local g=a.a aO(a,0) local m,n=bG(a,nil,g) if g>0 then a.d,a.j=m,n end
local ar=bP(a.d,a.j,a.f) aT(a,a.d,ar) a.allowed=a.b>0 and z(a,0)==0 a.v=a.b>0 and g or cK(g) if(nil)then
a.count,a.ttl=(nil)(ar,a.now_ms) elseif a.allowed then a.ttl=ae(bt(z(a,a.b))) else local z=z(a,a.v)
a.ttl=z and math.max(1,ae(bt(z)))or-1 end end local function cn(a) local g=a.a if a.PARTIAL then g=math.min(g,cZ(a)) end
a.k=g if a.ALWAYS then cm(a) else aO(a,g) end end local function cc(f,H,o) local x=i('%.0f',H) local b=r('ZCOUNT',f,x,x)
while o>1 do local B={} for P=1,math.min(o,1000)do B[#B+1]=x B[#B+1]=i('%s-0.%.0f',x,b) b=b+1 end
o=o-r('ZADD',f,'NX',unpack(B)) end while o>0 do o=o-r('ZADD',f,'NX',x,x..'-0.'..as(b)) b=b+1 end end
local function aH(f,Q) if Q then r('PEXPIREAT',f,as(Q)) end end local function cf(cd,bb) local N=0 for s=1,#bb,1000 do
local B={unpack(cd)} for b=s,math.min(s+999,#bb)do B[#B+1]=bb[b] end N=N+r(unpack(B)) end return N end
local function df(f,x,u) local al={} for P,cG in ipairs(u)do al[#al+1]=x al[#al+1]=cG end cf({'ZADD',f,'XX'},al) end
local function ci(a,m,n) local f=a.c if m=='delete'then r('UNLINK',f) return end
local Z=aF(a,a.l and ax(f,a.now_ms)or nil) if n.T then local x=i('%.0f',a.now_ms)
df(f,x,r('ZRANGEBYSCORE',f,'('..x,'+inf','LIMIT','0',as(a.r))) aH(f,Z) return end local u=a.e+a.q
local s,t=u-n.remove,u-1 if n.y then t=r('ZCOUNT',f,'-inf',as(n.y))-1 s=math.max(0,t+1-n.remove) end
if t<0 or s>0 or t+1<u then aH(f,Z) end if t>=0 then r('ZREMRANGEBYRANK',f,i('%.0f',s),i('%.0f',t)) end end
local function cg(a,m,n) local f=a.c if m=='charge'then local Z=aF(a,a.l and ax(f,a.now_ms)or nil)
cc(f,n.D or a.now_ms,n.m) aH(f,Z) elseif m~='keep'then ci(a,m,n) elseif a.l then aH(f,aF(a,ax(f,a.now_ms))) end end
local function ch(a,m,n) cg(a,m,n) end local function bI(a) return a.t and a.t.a or a.o and a.a or a.k end
local function bu(a) if not a.allowed then return 0 end return a.PARTIAL and bI(a)or 1 end local function cv(a,A)
local I,dg,T,bi,cp=ay(a) return{ 'allowed',bu(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',I,
'retry_after_ms',dg, 'next_ms',T, 'reset_ms',bi, 'delay_ms',cp, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',A,
} end local function cJ(ap) local bQ={} for P,a in ipairs(ap)do local s,L=a.AS or('SLIDING'):lower(),2 a.i=s
while bQ[a.i]do a.i=i('%s-%d',s,L) L=L+1 end bQ[a.i]=true end end local function aB(b)
return i('%.0f',bD(b,999999999999999)) end local function cW(a) local v=(nil)and(nil)(a)or a.g local aR,C=1000,v%1000
while C>0 do aR,C=C,aR%C end local bU=1000/aR local au=aQ(aE(v,bU),1000)
return i('"%s";q=%s;w=%s',a.i,aB(aE(a.limit,bU)),aB(au)) end local function cB(aG,be) if aG.allowed~=be.allowed then
return not aG.allowed end local z,bf=aG.retry_after_ms,be.retry_after_ms if z~=bf then return z<0 or(bf>=0 and z>bf) end
return aG.remaining<be.remaining end local function cx(ap) local bk,bJ=ap[1],{} cJ(ap) for b,a in ipairs(ap)do
bJ[b]=cW(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ay(a) if cB(a,bk)then bk=a end end local a=bk local at={
'X-RateLimit-Limit', i('%.0f',a.b), 'X-RateLimit-Remaining', i('%.0f',a.remaining), } local function aA(ai,af)
at[#at+1]=ai at[#at+1]=af end if a.reset_ms>=0 then aA('X-RateLimit-Reset',i('%.0f',ae(a.now_ms+a.reset_ms))) end
aA('RateLimit-Policy',table.concat(bJ,', ')) local cH=a.next_ms>=0 and';t='..aB(ae(a.next_ms))or''
aA('RateLimit',i('"%s";r=%s%s',a.i,aB(a.remaining),cH)) if not a.allowed and a.retry_after_ms>=0 then
aA('Retry-After',i('%.0f',ae(a.retry_after_ms))) end return at end local function cO(a,A) if a.form=='FULL'then
return cv(a,A) end return{bu(a),a.count,a.ttl,cx({a})} end
aI={z=cb,A=ch,B=cj,C=cn,error_reply=cs,E=ct,h=J,F=cu,H=bA,I=cI,J=bE,L=cO,M=bG,N=bH,O=cR,w=bI,refund=cY,Q=da,x=dc,R=de,S=dm,W=dq}
end return aI end local cr,bL=pcall(dh,KEYS,ARGV) return cr and bL or h().error_reply(bL)
