-- RL.GCRA, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function gs(aj) local bE,g local B,l,aE,gN=string.find,string.format,string.match,string.sub local function S(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return g().v(b,c) end local function F(b,c)
if b-b==0 and c-c==0 then return b<c end return g().Q(b,c) end local function J(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return g().A(b,c) end local function aA(b,c)
if b-b==0 and c-c==0 then local w=b%c return w==0 and b/c or(b-w)/c+1 end local aH,w=g().u(b,c)
return w==0 and aH or J(aH,1) end local function dv(a) a.c,a.i=0,0 if a.limit>0 then local eY=S(a.y,1000)
if F(eY,a.limit)then g().n('SPAN') end a.c=aA(eY,a.limit) a.i=S(a.b,a.c) if a.i-a.i~=0 then g().Y(a) end end end
local function gc(t,f,C) local aL,aP,n=t[f],t[f+1],t[f+2] if not aP then g().n('ARITY') end local a={ q='', r=0,
now_ms=0, z=0, y=0, limit=0, b=0, g=1, form=nil, delay=0, l=nil, f=nil, allowed=false, count=0, ttl=0, a='keep',
remaining=0, j=1, } f=f+2 if n=='LINE'and not t[f+1]and C~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=n,f+1 elseif n then local az=t[f+1]or''
local dl=C==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[f+2]=='LINE'and not t[f+3]and#az<16
if dl and n=='COST'and(' COST PARTIAL BURST ')~=' ID 'and B(az,'^[1-9]%d*$')then a.form,a.g,f='LINE',az+0,f+3
elseif dl and n=='ID'and(' COST PARTIAL BURST ')==' ID 'and az~=''then a.form,a.ID,f='LINE',az,f+3 else f=g().W(a,t,f,C)
a.g=a.COST or 1 end end local bP=#aP<16 and B(aP,'^[1-9]%d*$') a.limit=bP and aP+0 or g().V('limit',aP,0)
bP=#aL<10 and B(aL,'^[1-9]%d*$') local I=bP and aL*1000 or g().ac(a,aL)
a.z,a.y,a.b=I,I<9e12 and I*1000 or g().v(I,1000),a.BURST or a.limit if dv then dv(a) end return a,f end
local function ga(t,C) local a,f=gc(t,1,C) if t[f]then g().M(a,C,t[f]) end return a end local A=redis.call
local function gh(a) local dB=A('TIME') local bV=dB[1]*1000000+dB[2] a.r,a.now_ms=bV,(bV-bV%1000)/1000 end
local function gv(a,aD,f,fa,bQ) local p=aD[f] if not p then g().n('KEYS') end a.q,f=p,f+1 if bQ then a.o=p
elseif B(p,':reserved',1,true)then g().X(p) end return f end local function gf(a,aD,fa,bQ) gh(a)
if#aD~=gv(a,aD,1,fa,bQ)-1 then g().n('KEYS') end end local function fs(h)
local R,bU=aE(h,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not R or R:byte()>56 then return g().G(h) end
return{e=R+0,k=bU+0} end local function fN(a) local h=A('GET',a.q) if h then
a.l=fs(h)or g().K(h,('GCRA'),'FOREIGN_VALUE') end end local function aw(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return g().Z(b,c) end local function bG(a,s) local u,dC=0,a.i if s and not F(s.e,a.r)then
u=J(S(aw(s.e,a.r),1000),s.k) if F(dC,u)then return dC,true end end return u,false end local function aB(d)
if d-d~=0 or d>=(2^53)then g().n('INEXACT_REPLY') end return d end local function dE(a,u)
return a.c==0 and 0 or aA(u,a.c) end local function bg(b,c) if b-b==0 and c-c==0 then local w=b%c return(b-w)/c,w end
return g().u(b,c) end local function cG(a,u) local R,bU=bg(u,1000) return{e=J(a.r,R),k=bU} end local function dw(a,u)
a.B=u a.remaining=a.c==0 and 0 or aw(a.b,dE(a,u)) end local function q(a,j) local aC=a.c if aC==0 or j>a.b then
return nil end return aA(aw(a.B,aw(a.i,S(j,aC))),1000000) end local function av(ac) local w=ac%1000
return ac<0 and-1 or w==0 and ac/1000 or(ac-w)/1000+1 end local function gx(a,j) local q=q(a,j==0 and 1 or j)
q=q and av(aB(q))or-1 return q==0 and 1 or q end local function bJ(a,j) local u,fk=bG(a,a.l) local aC=a.c
local z=J(u,S(j==0 and 1 or j,aC)) local aM=aC~=0 and not F(a.i,z) a.allowed,a.count,a.a=aM,aB(dE(a,u)),'keep'
if aM and j==0 then a.ttl=aB(aA(u,1000000000)) elseif aM then a.a,a.f='charge',cG(a,z) a.ttl=aB(aA(z,1000000000)) else
if fk and aC~=0 then a.a,a.f='rebase',cG(a,u) end dw(a,u) a.ttl=gx(a,j) end end local function fr(a)
if a.PARTIAL or a.ALWAYS then g().F(a) else local j=a.g a.j=j bJ(a,j) end if a.SHADOW then g().E(a) end end
local function bM(a,P,s) dw(a,(bG(a,s))) end local function bi(a) local v,q=a.a,q
bM(a,v,v=='keep'and a.l or v~='delete'and a.f or nil) local ak,bI,Y,ad,au=a.remaining,a.b,0,0,0 if not a.allowed then
local j=a.j Y=q(a,a.w or(j==0 and 1 or j))or-1 if a.P and Y>=0 then Y=math.max(Y,a.P) end end if ak<bI then
ad=q(a,ak+1)or-1 au=ak+1==bI and ad or q(a,bI)or-1 end if Y-Y~=0 or ad-ad~=0 or au-au~=0 or Y>=(2^53)or au>=(2^53)then
g().n('INEXACT_REPLY') end return ak,Y,ad,au,0 end local function fL(a,ag) local ak,Y,ad,au,fu=bi(a)
local gr=a.p and 1 or 0 return l( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and g().x(a)or 1)or 0,a.count,a.ttl,a.b,ak,Y,ad,au, fu,a.now_ms,gr,ag ) end
local function gj(a,ag) local ao=a.form if ao=='LINE'then return fL(a,ag) elseif ao then return g().U(a,ag) end
return{a.allowed and(a.PARTIAL and g().x(a)or 1)or 0,a.count,a.ttl} end local function fl(a) if a.a~='charge'then
return 0 elseif a.ALWAYS then return a.j elseif not a.allowed or(a.p and not a.PARTIAL)then return 0 end return a.j end
local function aa(P,s) return aA(s.k==0 and s.e or J(s.e,1),1000) end local function fB(p,bW)
if not redis.REDIS_VERSION_NUM then return g().J(p,bW) end local f=A('PEXPIRETIME',p) return f>=0 and f or nil end
local function fz(a,v,z) local ae,bK=a.l,(nil) if v=='keep'and(not ae or not bK)then return nil end
local y=ae and fB(a.q,a.now_ms) if y and y>=(2^53)then y=g().N(g().H(y)) end if v=='keep'then local T=aa(a,ae)
return y and F(y,T)and J(T,5000)or nil end local T=aa(a,z) local aO=J(T,5000) if not ae then return aO elseif not y then
return aO end if bK and v=='rebase'then return g().S(y,aa(a,ae),T) elseif F(y,T)then return aO
elseif not F(aO,y)or(bK and F(J(aa(a,ae),5000),y))then return nil end return aO end local function cH(d) if d-d~=0 then
return g().aa(d) end return l('%.0f',d) end local function gq(p,df) if df then A('PEXPIREAT',p,cH(df)) end end
local function dj(s) local R=s.e if R-R~=0 or R<1000000 then return g().I(s) end return l('%.0f%03d',R,s.k) end
local function dh(a,v,z) local p=a.q if v=='delete'then A('UNLINK',p) return end local aa=fz(a,v,z) if v=='keep'then
gq(p,aa) elseif aa then A('SET',p,dj(z),'PXAT',aa==0 and'1'or cH(aa)) else A('SET',p,dj(z),'KEEPTTL') end end
local function gp(aD,t) local a=ga(t,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
gf(a,aD,a.RESERVE) fN(a,'write') fr(a) local fi=gj(a,fl(a)) if a.SHADOW or a.RESERVE then g().D(a,true) else
dh(a,a.a,a.f) end return fi end function g() if not bE then local o={}
o.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
o.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
o.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
o.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
o.ID='ERR invalid ID: expected 1 to 512 bytes'
o.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
o.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
o.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
o.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
o.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
o.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
o.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
o.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
o.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
o.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
o.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
o.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' o.ARITY='ERR wrong number of arguments'
o.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
o.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
o.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local bF={ __sub=function()
return 1 end, } local ff=setmetatable({9437184,14339741,14210},bF) local function Q(h) error({err=h},0) end
local function M(aF) Q(o[aF]) end local function gn(a) if F(ff,a.i)then M('SPAN') end end local function dg(b,c)
for f=1,math.min(#b,#c)do local fb,fc=b:byte(f),c:byte(f) if fb~=fc then return fb<fc end end return#b<#c end
local function bf(h,bT) if h~='0'and not B(h,'^[1-9]%d*$')then return nil end
return(#h<#bT or(#h==#bT and not dg(bT,h)))and h or nil end local function bN(k)
if#k<=15 or(#k==16 and dg(k,'9007199254740992'))then return k+0 end local bO=#k%7 local d=bO>0 and k:sub(1,bO)+0 or 0
for f=bO+1,#k,7 do d=J(S(d,10000000),k:sub(f,f+6)+0) end return d end local function ft(h)
local k=bf(h,'18446744073709551615') if not k then return nil end return{e=#k>3 and bN(k:sub(1,-4))or 0,k=k:sub(-3)+0}
end local function fx(s) return s.e==0 and l('%d',s.k)or cH(s.e)..l('%03d',s.k) end local function fC(h,r,fY)
local gL={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local cZ=gL[aE(h,'^(%u):')] if not cZ or cZ==r then
M(fY) end Q('ERR the key holds a state of '..cZ..': use another key for each algorithm') end local function fy(aj)
if type(aj)=='table'then return aj elseif B(aj,'^%u+ ')then return redis.error_reply(aj) end error(aj,0) end
local function an(d) if d-d~=0 then return d end local k,K={},0 while d>0 do local L=d%(2^24) K=K+1 k[K]=L
d=(d-L)/(2^24) end return k end local function aN(k) local K=#k while K>0 and k[K]==0 do k[K]=nil K=K-1 end
if K>3 or(K==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,bF) end
return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function dq(b,c) local dd,fj=b-b==0,c-c==0
if dd or fj then return dd elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function fh(b,c) b,c=an(b),an(c) local aJ,af={},0 for d=1,math.max(#b,#c)+1 do
local L=(b[d]or 0)+(c[d]or 0)+af af=L>=(2^24)and 1 or 0 aJ[d]=L-af*(2^24) end return aN(aJ) end local function gu(b,c)
if not dq(c,b)then return 0 end c=an(c) local di,bH={},0 for d=1,#b do local L=b[d]-(c[d]or 0)-bH bH=L<0 and 1 or 0
di[d]=L+bH*(2^24) end return aN(di) end local function fR(b,c) b,c=an(b),an(c) local aZ={} for d=1,#b+#c do aZ[d]=0 end
for d=1,#b do local af=0 for bR=1,#c do local L=aZ[d+bR-1]+b[d]*c[bR]+af af=math.floor(L/(2^24)) aZ[d+bR-1]=L-af*(2^24)
end aZ[d+#c]=af end return aN(aZ) end local function de(d) if d-d==0 then return d end local aJ=0 for fI=#d,1,-1 do
aJ=aJ*(2^24)+d[fI] end return aJ end local function fw(b,c) local aH=0 while not F(b,c)do
local bt=math.max(1,math.floor(de(b)/de(c)*(1-2^-45))) bt=aN(an(bt)) aH=J(aH,bt) b=aw(b,S(bt,c)) end return aH,b end
local function gw(d) local cF='' while d-d~=0 do local w d,w=bg(d,10000000) cF=l('%07.0f',w)..cF end
return l('%.0f',d)..cF end local function fA(p,bW) local dp=A('PTTL',p) return dp>=0 and bW+dp or nil end
local function fQ(y,fT,T) if y-y~=0 then M('INEXACT_STATE') end local aQ=aw(y,aw(fT,T)) aQ=F(aQ,T)and T or aQ
return aQ~=y and aQ or nil end local function ds(aF,h,dn) local k=h and bf(h,'9223372036854775807') local d=k and bN(k)
if not d or d==0 and dn>0 then Q(l('ERR invalid %s: expected an integer from %d to 9223372036854775807',aF,dn))
elseif d-d~=0 then Q(l('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aF)) end return d end
local db={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ap(fM,r)
return not B(r,' ',1,true)and B(fM,' '..r..' ',1,true)~=nil end local function dA(a,n)
return not ap(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or ap((' COST PARTIAL BURST '),n)
end local function fJ(r,n) local N,ab=0,0 local dx,fO=math.min(#r,#n),math.max(#r,#n)
while N<dx and r:byte(N+1)==n:byte(N+1)do N=N+1 end while ab<dx-N and r:byte(-1-ab)==n:byte(-1-ab)do ab=ab+1 end
return N+ab>=2 and fO-N-ab<=2 end local function fD(a,C,r) local ar={} for P,D in ipairs(db)do
if ap(C,D[1])and dA(a,D[1])then ar[#ar+1]=D[2] end end for P,ao in ipairs({'FULL','LINE','HEADERS'})do ar[#ar+1]=ao end
for P,n in ipairs(ar)do if fJ(r:upper(),aE(n,'^%u+'))then Q('ERR syntax error: no such option, but there is '..n) end
end local ab=table.remove(ar) local gy=table.concat(ar,', ')
Q('ERR syntax error: after limit come '..gy..' or '..ab..', each at most once') end local function gl(D,a,C)
local n,gM=D[1],a.ad if not ap(C,n)then Q(l('ERR invalid %s: only %s it',n,D[3])) elseif not dA(a,n)then
Q(l('ERR invalid %s: %s takes none',n,('GCRA'))) elseif a[n]~=nil then
Q(l('ERR syntax error: %s comes at most once',D[2])) end end local function bS(b,c) return F(c,b)and c or b end
local fg=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bF) local function gd(n,h,gO) if n=='AS'then
return h and#h>=1 and#h<=64 and not B(h,'[^%w._-]')and h or M('AS') elseif n=='AT'then
local k=h and bf(h,'9223372036854775807') return k and bS(bN(k),(bg(fg,1000)))or M('AT') end
return ds(n,h,n=='BURST'and 1 or 0) end local function gk(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
M(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
M(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local fd={FULL=true,LINE=true,HEADERS=true}
local function fV(ao,dr) if ao then M(ao==dr and'FORM_TWICE'or'TWO_FORMS') end return dr end local function gb(a,t,f,C)
while t[f]do local r,D=t[f]:upper(),nil for P,dm in ipairs(db)do D=dm[1]==r and dm or D end if D then gl(D,a,C)
if D[2]==r then a[r]=true f=f+1 else a[r]=gd(r,t[f+1],t[f+2]) f=f+(r=='RESERVE'and 3 or 2) end gk(a)
elseif fd[r]and ap(C,'form')then a.form=fV(a.form,r) f=f+1 else return f end end return f end
local dc={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function ge(h) local aq,dD=aE(h,'^(%d+)(%l*)$')
local ac=aq and dc[dD]and bf(aq,'18446744073709551615')and aq*dc[dD] return ac and ac>=1 and ac<=1e15 and ac or nil end
local fe={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function gK(a,h) local I=ge(h)
if not I then a.ab=h:upper() I=fe[a.ab] if not I then
M(ap((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ap((' COST PARTIAL BURST '),'ANCHOR')then
Q(l('ERR invalid window: %s takes no windows of the calendar',('GCRA'))) end end return I end local function fG(p)
return p:sub(-9)==':reserved'or p:sub(-14)==':reserved:ends' end local function gm(p) if fG(p)then M('RESERVED_KEY') end
end local function fo(a) local fW=a.PARTIAL and a.j<a.g a.p=a.SHADOW and not a.t and(fW or not a.allowed)
if not a.allowed and(a.p or a.t)then a.allowed=true if not(nil)then local P,P,P,cD=bi(a) a.ttl=av(cD) end end end
local function gi(a) bM(a,'keep',a.l) return a.remaining end local function fZ(a,P,j) if j==0 or a.c==0 then
return'keep' end local u=bG(a,a.l) return'charge',cG(a,bS(J(u,S(j,a.c)),a.i)) end local function gt(v,z,ae)
if v=='keep'then return ae end return v~='delete'and z or nil end local function fU(j) return j==0 and 1 or j end
local function fp(a) local j=a.g bJ(a,0) local v,z=fZ(a,nil,j) if j>0 then a.a,a.f=v,z end local dy=gt(a.a,a.f,a.l)
bM(a,a.a,dy) a.allowed=a.b>0 and q(a,0)==0 a.w=a.b>0 and j or fU(j) if(nil)then a.count,a.ttl=(nil)(dy,a.now_ms)
elseif a.allowed then a.ttl=av(aB(q(a,a.b))) else local q=q(a,a.w) a.ttl=q and math.max(1,av(aB(q)))or-1 end end
local function fq(a) local j=a.g if a.PARTIAL then j=math.min(j,gi(a)) end a.j=j if a.ALWAYS then fp(a) else bJ(a,j) end
end local function fm(a,v,z) dh(a,v,z) end local function fn(a,aM) if not aM and a.a=='charge'then a.a,a.f='keep',nil
end fm(a,a.a,a.f) end local function dt(a) return a.t and a.t.g or a.p and a.g or a.j end local function dk(a)
if not a.allowed then return 0 end return a.PARTIAL and dt(a)or 1 end local function fF(a,ag) local ak,go,ad,cD,fv=bi(a)
return{ 'allowed',dk(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',ak, 'retry_after_ms',go, 'next_ms',ad,
'reset_ms',cD, 'delay_ms',fv, 'now_ms',a.now_ms, 'shadow',a.p and 1 or 0, 'charged',ag, } end local function fS(ba)
local dz={} for P,a in ipairs(ba)do local N,aq=a.AS or('GCRA'):lower(),2 a.o=N while dz[a.o]do a.o=l('%s-%d',N,aq)
aq=aq+1 end dz[a.o]=true end end local function bk(d) return l('%.0f',bS(d,999999999999999)) end local function gg(a)
local I=(nil)and(nil)(a)or a.z local bL,w=1000,I%1000 while w>0 do bL,w=w,bL%w end local eZ=1000/bL
local aL=bg(S(I,eZ),1000) return l('"%s";q=%s;w=%s',a.o,bk(S(a.limit,eZ)),bk(aL)) end local function fK(bl,bX)
if bl.allowed~=bX.allowed then return not bl.allowed end local q,bY=bl.retry_after_ms,bX.retry_after_ms if q~=bY then
return q<0 or(bY>=0 and q>bY) end return bl.remaining<bX.remaining end local function fH(ba) local cE,du=ba[1],{} fS(ba)
for d,a in ipairs(ba)do du[d]=gg(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bi(a) if fK(a,cE)then cE=a end end
local a=cE local bb={ 'X-RateLimit-Limit', l('%.0f',a.b), 'X-RateLimit-Remaining', l('%.0f',a.remaining), }
local function bj(aF,az) bb[#bb+1]=aF bb[#bb+1]=az end if a.reset_ms>=0 then
bj('X-RateLimit-Reset',l('%.0f',av(a.now_ms+a.reset_ms))) end bj('RateLimit-Policy',table.concat(du,', '))
local fP=a.next_ms>=0 and';t='..bk(av(a.next_ms))or'' bj('RateLimit',l('"%s";r=%s%s',a.o,bk(a.remaining),fP))
if not a.allowed and a.retry_after_ms>=0 then bj('Retry-After',l('%.0f',av(a.retry_after_ms))) end return bb end
local function fX(a,ag) if a.form=='FULL'then return fF(a,ag) end return{dk(a),a.count,a.ttl,fH({a})} end
bE={A=fh,D=fn,E=fo,F=fq,G=ft,H=an,u=fw,I=fx,error_reply=fy,J=fA,n=M,K=fC,M=fD,N=aN,Q=dq,S=fQ,v=fR,U=fX,V=ds,W=gb,x=dt,X=gm,Y=gn,Z=gu,aa=gw,ac=gK}
end return bE end if aj then return g().error_reply(aj) end local bh,aI=pcall(gp,KEYS,ARGV)
return bh and aI or g().error_reply(aI) end local function fE(da,Z)
local B,aE,l,A=string.find,string.match,string.format,redis.call local aR local cI=Z[1] local bu=Z[2] local bv=Z[3]
if not bu then return end local bc=Z[4] local cc local G local U if(bv=='LINE')and(not bc)then cc=4 G=1 U='LINE' else
local bZ local ca local cb if bv then if bc then
if not(((((Z[5]=='LINE')and(not Z[6]))and((#bc)<16))and(bv=='COST'))and B(bc,'^[1-9]%d*$'))then return end bZ=6 ca=bc+0
cb='LINE' else if(((Z[5]=='LINE')and(not Z[6]))and(bv=='COST'))and B('','^[1-9]%d*$')then return end return end else
bZ=3 ca=1 cb=nil end cc=bZ G=ca U=cb end if not(((#bu)<16)and B(bu,'^[1-9]%d*$'))then return end local i=bu+0
if not(((#cI)<10)and B(cI,'^[1-9]%d*$'))then return end local dF=cI*1000 if not(dF<9e12)then return end local dG=dF*1000
if not((dG*1000)<2^53)then return end local bw=dG*1000 if bw<i then return end local dH=bw%i
local e=(dH==0)and(bw/i)or(((bw-dH)/i)+1) if not((i*e)<2^53)then return end local m=i*e local gz=Z[cc] if gz then return
end local dI=A('TIME') local x=(dI[1]*1e06)+dI[2] local bx=(x-(x%1000))/1000 local ax=da[1] if not ax then return end
if B(ax,':reserved',1,true)then return end if not((#da)==1)then return end local dJ=A('GET',ax) if dJ then
local cJ,gA=aE(dJ,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if(not cJ)or(56<cJ:byte())then return end
local bd=cJ+0 local by=gA+0 local V local bm local dK=bd<x if not dK then local dL=(x<bd)and(bd-x)or 0
if not((dL*1000)<2^53)then return end local dM=dL*1000 if not((dM+by)<2^53)then return end local dN=dM+by if m<dN then
V=m bm=true else V=dN bm=false end else V=0 bm=false end if not((G*e)<2^53)then return end local al=G*e
if not((V+al)<2^53)then return end local aK=V+al local cd if not(e==0)then cd=not(m<aK) else cd=false end local as
if e==0 then as=0 else local dO=V%e local gB=(dO==0)and(V/e)or(((V-dO)/e)+1) as=gB end if 2^53<=as then return end
if cd then local ay=aK%1000 local dP=(aK-ay)/1000 if not((x+dP)<2^53)then return end local E=x+dP local dQ=aK%1e09
local cK=(dQ==0)and(aK/1e09)or(((aK-dQ)/1e09)+1) if 2^53<=cK then return end local ci if U=='LINE'then local W
if not(E<x)then local dV=(x<E)and(E-x)or 0 if not((dV*1000)<2^53)then return end local dW=dV*1000
if not((dW+ay)<2^53)then return end local dX=dW+ay if m<dX then W=m else W=dX end else W=0 end local aS if e==0 then
aS=0 else local dY=W%e local dZ=(dY==0)and(W/e)or(((W-dY)/e)+1) aS=(dZ<i)and(i-dZ)or 0 end local ch local bo
if aS<i then local bz=aS+1 local ce if(e==0)or(i<bz)then ce=nil else if not((bz*e)<2^53)then return end local ea=bz*e
local eb=(ea<m)and(m-ea)or 0 local cM=(eb<W)and(W-eb)or 0 local ec=cM%1e06 ce=(ec==0)and(cM/1e06)or(((cM-ec)/1e06)+1)
end local ed=ce or(-1) local cg if bz==i then cg=ed else local cf if e==0 then cf=nil else if not(m<2^53)then return end
local cN=(0<W)and W or 0 local ee=cN%1e06 cf=(ee==0)and(cN/1e06)or(((cN-ee)/1e06)+1) end cg=cf or(-1) end ch=ed bo=cg
else ch=0 bo=0 end if 2^53<=bo then return end
local gD=l('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',as,cK,i,aS,ch,bo,bx,G) ci=gD else if U then return end
ci={1,as,cK} end local aG if not redis.REDIS_VERSION_NUM then return end local ef=A('PEXPIRETIME',ax)
local bA=(0<=ef)and ef or nil if bA then if 2^53<=bA then return end local aT if ay==0 then aT=E else
if not((E+1)<2^53)then return end aT=E+1 end local eg=aT%1000 local cO=(eg==0)and(aT/1000)or(((aT-eg)/1000)+1)
if not((cO+5000)<2^53)then return end local cP=cO+5000 if bA<cO then aG=cP else if not(cP<bA)then aG=nil else aG=cP end
end else local aU if ay==0 then aU=E else if not((E+1)<2^53)then return end aU=E+1 end local eh=aU%1000
local gE=(eh==0)and(aU/1000)or(((aU-eh)/1000)+1) if not((gE+5000)<2^53)then return end return end if aG then
if E<1e06 then return end local cj if aG==0 then cj='1' else local gF=l('%.0f',aG) cj=gF end
local gP=A('SET',ax,l('%.0f%03d',E,ay),'PXAT',cj) else if E<1e06 then return end
local gQ=A('SET',ax,l('%.0f%03d',E,ay),'KEEPTTL') end aR=ci else if bm and(not(e==0))then return end local ah
if(e==0)or(i<G)then ah=nil else if not(al<2^53)then return end local dR=(al<m)and(m-al)or 0 local cL=(dR<V)and(V-dR)or 0
local dS=cL%1e06 ah=(dS==0)and(cL/1e06)or(((cL-dS)/1e06)+1) end local bn if ah then if 2^53<=ah then return end
local dT=ah%1000 local gC=(ah<0)and(-1)or((dT==0)and(ah/1000)or(((ah-dT)/1000)+1)) bn=gC else bn=-1 end
local dU=(bn==0)and 1 or bn local cp if U=='LINE'then local H if not dK then local ei=(x<bd)and(bd-x)or 0
if not((ei*1000)<2^53)then return end local ej=ei*1000 if not((ej+by)<2^53)then return end local ek=ej+by if m<ek then
H=m else H=ek end else H=0 end local aV if e==0 then aV=0 else local el=H%e local em=(el==0)and(H/e)or(((H-el)/e)+1)
aV=(em<i)and(i-em)or 0 end local ck if(e==0)or(i<G)then ck=nil else if not(al<2^53)then return end
local en=(al<m)and(m-al)or 0 local cQ=(en<H)and(H-en)or 0 local eo=cQ%1e06 ck=(eo==0)and(cQ/1e06)or(((cQ-eo)/1e06)+1)
end local ep=ck or(-1) local co local bp if aV<i then local bB=aV+1 local cl if(e==0)or(i<bB)then cl=nil else
if not((bB*e)<2^53)then return end local eq=bB*e local er=(eq<m)and(m-eq)or 0 local cR=(er<H)and(H-er)or 0
local es=cR%1e06 cl=(es==0)and(cR/1e06)or(((cR-es)/1e06)+1) end local et=cl or(-1) local cn if bB==i then cn=et else
local cm if e==0 then cm=nil else if not(m<2^53)then return end local cS=(0<H)and H or 0 local eu=cS%1e06
cm=(eu==0)and(cS/1e06)or(((cS-eu)/1e06)+1) end cn=cm or(-1) end co=et bp=cn else co=0 bp=0 end
if(2^53<=ep)or(2^53<=bp)then return end
local gG=l('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',as,dU,i,aV,ep,co,bp,bx) cp=gG else if U then return end
cp={0,as,dU} end aR=cp end else if not((G*e)<2^53)then return end local O=G*e if not(O<2^53)then return end local cq
if not(e==0)then cq=not(m<O) else cq=false end local at if e==0 then at=0 else local ev=0%e
at=(ev==0)and(0/e)or(((0-ev)/e)+1) end if 2^53<=at then return end if cq then local be=O%1000 local ew=(O-be)/1000
if not((x+ew)<2^53)then return end local am=x+ew local ex=O%1e09 local cT=(ex==0)and(O/1e09)or(((O-ex)/1e09)+1)
if 2^53<=cT then return end local cv if U=='LINE'then local X if not(am<x)then local eC=(x<am)and(am-x)or 0
if not((eC*1000)<2^53)then return end local eD=eC*1000 if not((eD+be)<2^53)then return end local eE=eD+be if m<eE then
X=m else X=eE end else X=0 end local aW if e==0 then aW=0 else local eF=X%e local eG=(eF==0)and(X/e)or(((X-eF)/e)+1)
aW=(eG<i)and(i-eG)or 0 end local cu local br if aW<i then local bC=aW+1 local cr if(e==0)or(i<bC)then cr=nil else
if not((bC*e)<2^53)then return end local eH=bC*e local eI=(eH<m)and(m-eH)or 0 local cV=(eI<X)and(X-eI)or 0
local eJ=cV%1e06 cr=(eJ==0)and(cV/1e06)or(((cV-eJ)/1e06)+1) end local eK=cr or(-1) local ct if bC==i then ct=eK else
local cs if e==0 then cs=nil else if not(m<2^53)then return end local cW=(0<X)and X or 0 local eL=cW%1e06
cs=(eL==0)and(cW/1e06)or(((cW-eL)/1e06)+1) end ct=cs or(-1) end cu=eK br=ct else cu=0 br=0 end if 2^53<=br then return
end local gI=l('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',at,cT,i,aW,cu,br,bx,G) cv=gI else if U then return end
cv={1,at,cT} end local aX if be==0 then aX=am else if not((am+1)<2^53)then return end aX=am+1 end local eM=aX%1000
local eN=(eM==0)and(aX/1000)or(((aX-eM)/1000)+1) if not((eN+5000)<2^53)then return end local eO=eN+5000 if am<1e06 then
return end local cw if eO==0 then cw='1' else cw=l('%.0f',eO) end local gR=A('SET',ax,l('%.0f%03d',am,be),'PXAT',cw)
aR=cv else local ai if(e==0)or(i<G)then ai=nil else local ey=(O<m)and(m-O)or 0 local cU=(ey<0)and(0-ey)or 0
local ez=cU%1e06 ai=(ez==0)and(cU/1e06)or(((cU-ez)/1e06)+1) end local bq if ai then if 2^53<=ai then return end
local eA=ai%1000 local gH=(ai<0)and(-1)or((eA==0)and(ai/1000)or(((ai-eA)/1000)+1)) bq=gH else bq=-1 end
local eB=(bq==0)and 1 or bq local cC if U=='LINE'then local aY if e==0 then aY=0 else local eP=0%e
local eQ=(eP==0)and(0/e)or(((0-eP)/e)+1) aY=(eQ<i)and(i-eQ)or 0 end local cx if(e==0)or(i<G)then cx=nil else
local eR=(O<m)and(m-O)or 0 local cX=(eR<0)and(0-eR)or 0 local eS=cX%1e06 cx=(eS==0)and(cX/1e06)or(((cX-eS)/1e06)+1) end
local eT=cx or(-1) local cB local bs if aY<i then local bD=aY+1 local cy if(e==0)or(i<bD)then cy=nil else
if not((bD*e)<2^53)then return end local eU=bD*e local eV=(eU<m)and(m-eU)or 0 local cY=(eV<0)and(0-eV)or 0
local eW=cY%1e06 cy=(eW==0)and(cY/1e06)or(((cY-eW)/1e06)+1) end local eX=cy or(-1) local cA if bD==i then cA=eX else
local cz if e==0 then cz=nil else if not(m<2^53)then return end cz=0 end cA=cz or(-1) end cB=eX bs=cA else cB=0 bs=0 end
if(2^53<=eT)or(2^53<=bs)then return end
local gJ=l('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',at,eB,i,aY,eT,cB,bs,bx) cC=gJ else if U then return end
cC={0,at,eB} end aR=cC end end return aR end local bh,aI=pcall(fE,KEYS,ARGV) if bh and aI then return aI end
return gs(not bh and aI)
