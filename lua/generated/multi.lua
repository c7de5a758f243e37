-- RL.MULTI, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local dY,N local bs,B,bB,bP=string.find,string.format,string.match,string.sub local function eJ(am,gx)
local ei,bQ=pcall(gx) if ei then return bQ end local f=type(bQ)=='table'and bQ.err or bQ
if type(bQ)=='table'or bs(f,'^%u+ ')then N().aT((f:gsub(' ',B(' limit %d: ',am),1))) end error(bQ,0) end local dX={}
local function iB(J) return dX[J]or N().bj(J) end local function gg(aS) return aS==''and 1000 or aS=='ms'and 1
or aS=='s'and 1000 or aS=='m'and 60000 or aS=='h'and 3600000 or aS=='d'and 86400000 or nil end
local function ic(k,aq,e,bA) local ap,H,X=aq[e],aq[e+1],aq[e+2] if not H then N().z('ARITY') end local a={ k=k, f='',
r=0, now_ms=0, a=0, n=0, limit=0, l=0, m=1, form=nil, aA=0, b=nil, j=nil, allowed=false, count=0, ttl=0, d='keep',
remaining=0, W=1, } e=e+2 if X=='LINE'and not aq[e+1]and bA~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=X,e+1 elseif X then local af=aq[e+1]or''
local fG=bA==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and aq[e+2]=='LINE'and not aq[e+3]and#af<16
if fG and X=='COST'and k.y~=' ID 'and bs(af,'^[1-9]%d*$')then a.form,a.m,e='LINE',af+0,e+3
elseif fG and X=='ID'and k.y==' ID 'and af~=''then a.form,a.ID,e='LINE',af,e+3 else e=N().bE(a,aq,e,bA) a.m=a.COST or 1
end a.V=a.ANCHOR and a.ANCHOR*1000 end local hx=#H<16 and bs(H,'^[1-9]%d*$') a.limit=hx and H+0 or N().bD('limit',H,0)
local am,aS=bB(ap,'^([1-9]%d*)(%l*)$') local dr=am and#ap<16 and gg(aS) local p=dr and am*dr
if not p or p<1 or p>1e15 then p=N().bL(a,ap) end a.a,a.n,a.l=p,p<9e12 and p*1000 or N().bA(p,1000),a.BURST or a.limit
if k.ax then k.ax(a) end return a,e end local w=redis.call local function gd(a) local as=w('TIME')
local bu=as[1]*1000000+as[2] a.r,a.now_ms=bu,(bu-bu%1000)/1000 end local function gi(a,aW,e,fd,ex) local k=a.k
local g=aW[e] if k.aH then local bO,cJ=k.aH(a),aW[e+1] local aQ=#bO if not cJ then N().z('KEYS')
elseif bP(g,-aQ)~=bO then g=cJ if bP(g,-aQ)~=bO then a.aQ=true end end a.f,g,e=g,bP(g,1,-aQ-1),e+2 else if not g then
N().z('KEYS') end a.f,e=g,e+1 end if ex then a.aj=g elseif bs(g,':reserved',1,true)then N().bH(g) end if fd then
e=a.aQ and e+2 or N().bI(a,aW,e,g) end return e end local function gz(ah,dR,aW,cl,aq,e)
local J=aq[e]or N().z('FEWER_LIMITS') if N().FORMS[J:upper()]then N().z(aq[e+1]and'AFTER_FORM'or'FEWER_LIMITS') end
local k=iB(J) if not aq[e+2]then N().z('LIMIT_ARITY') end
local a,hQ=ic(k,aq,e+1,' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') if k.y==' ID 'and not a.ID then
N().z('ID_MISSING') end if#ah==0 then gd(a) else a.r,a.now_ms=ah[1].r,ah[1].now_ms end cl=gi(a,aW,cl,a.RESERVE)
for I,gs in ipairs({a.f,a.aV})do if dR[gs]then N().z('SAME_KEY') end dR[gs]=true end ah[#ah+1]=a return cl,hQ end
local function hg(ah) local bn={B('ERR clock %.0f',ah[1].now_ms)} for I,a in ipairs(ah)do local k=a.k if k.aH then
bn[#bn+1]=N().bi(a) end end N().aT(table.concat(bn,' ')) end local function gW(a) local k=a.k
if a.PARTIAL or a.ALWAYS then N().bo(a) else local c=a.m a.W=c k.D(a,c) end if a.SHADOW then N().bl(a) end end
local function hD(a) local k=a.k if a.RESERVE then N().bw(a) return end k.Q(a,'write') gW(a) end local function gN(a)
local k=a.k if a.Y then return a.Y.m end if a.d~='charge'then return 0 elseif a.ALWAYS then return a.W
elseif not a.allowed or(a.am and not a.PARTIAL)then return 0 end if k.ba then return k.ba(a) end return a.W end
local function av(d) if d-d~=0 or d>=(2^53)then N().z('INEXACT_REPLY') end return d end local function M(h,l)
if h-h==0 and l-l==0 and h+l<(2^53)then return h+l end return N().be(h,l) end local function ag(h,l)
if h-h==0 and l-l==0 then local K=h%l return K==0 and h/l or(h-K)/l+1 end local cL,K=N().bq(h,l)
return K==0 and cL or M(cL,1) end local function dE(a) local k=a.k local t,T=a.d,k.B
k.I(a,t,t=='keep'and a.b or t~='delete'and a.j or nil) local bm,ed,bx,bD,bZ=a.remaining,a.l,0,0,0 if not a.allowed then
local c=a.W bx=T(a,a.K or(c==0 and 1 or c))or-1 if a.as and bx>=0 then bx=math.max(bx,a.as) end end if bm<ed then
bD=T(a,bm+1)or-1 bZ=bm+1==ed and bD or T(a,ed)or-1 end
if bx-bx~=0 or bD-bD~=0 or bZ-bZ~=0 or bx>=(2^53)or bZ>=(2^53)then N().z('INEXACT_REPLY') end if a.aA~=0 then
return bm,bx,bD,bZ,av(ag(a.aA,1000)) end return bm,bx,bD,bZ,0 end local function hB(a,aB) local bm,bx,bD,bZ,ha=dE(a)
local iD=a.am and 1 or 0 return B( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and N().aY(a)or 1)or 0,a.count,a.ttl,a.l,bm,bx,bD,bZ, ha,a.now_ms,iD,aB ) end
local function fA(a) if not a.allowed then return 0 end return a.PARTIAL and N().aY(a)or 1 end local function gS(a,z)
local k=a.k if not z or a.SHADOW or a.RESERVE then N().bk(a,z) else k.M(a,a.d,a.j) end end local function iA(aW,aq)
if not aq[3]then N().z('ARITY') end local ah,dR,ad,cl,e,bt={},{},0,1,1,nil while cl<=#aW do if#ah==64 then
N().z('NUM_LIMITS') end eJ(#ah+1,function() cl,e=gz(ah,dR,aW,cl,aq,e) end) ad=ad+N().bz(ah[#ah]) end while aq[e]do
local J=aq[e]:upper() if N().FORMS[J]then bt=N().bB(bt,J) elseif bt then N().z('AFTER_FORM')
elseif N().bv(' FIXED WINDOW SLIDING COUNTER TOKEN LEAKY GCRA ROLLING LEASE LOCKOUT ',J)then N().z('KEYS') else
eJ(#ah,function() N().bs(ah[#ah],' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ',J) end) end e=e+1 end
N().bG(ad,'LOG_COST') for I,a in ipairs(ah)do if a.aQ then hg(ah) end end local z=true for am,a in ipairs(ah)do
eJ(am,function() hD(a) end) z=z and a.allowed end local dz={} for d,a in ipairs(ah)do local aB=z and gN(a)or 0
if bt=='FULL'then dz[d]=N().E(a,aB) elseif bt=='LINE'then dz[d]=hB(a,aB) else dz[d]={fA(a),a.count,a.ttl} end end
local gD={z and 1 or 0,dz,bt=='HEADERS'and N().bu(ah)or nil} for I,a in ipairs(ah)do gS(a,z) end return gD end
function N() if not dY then local V={}
V.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
V.NOT_A_COUNTER='ERR value is not an integer or out of range'
V.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
V.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds' V.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
V.OVERFLOW='ERR increment or decrement would overflow'
V.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
V.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
V.LEASE_CORRECTION='ERR invalid algorithm: a lease has no cost to correct; RL.RELEASE ends it'
V.MAX_BELOW_BLOCK='ERR invalid MAX: expected at least BLOCK, which is the window if not given'
V.NO_SETTLEMENT='ERR invalid algorithm: it is charged before anything is known, so RL.SETTLE has nothing to '
..'correct; RL.REFUND gives back'
V.ALGORITHM='ERR invalid algorithm: expected one of '..'FIXED, WINDOW, SLIDING, COUNTER, TOKEN, LEAKY, GCRA, ROLLING, LEASE, LOCKOUT'
V.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
V.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
V.ID='ERR invalid ID: expected 1 to 512 bytes'
V.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
V.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
V.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
V.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
V.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
V.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
V.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
V.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
V.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
V.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
V.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' V.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
V.ARITY='ERR wrong number of arguments' V.ID_MISSING='ERR syntax error: LEASE needs ID id, the holder of the lease'
V.AFTER_FORM='ERR syntax error: FULL, LINE or HEADERS comes last'
V.NUM_LIMITS='ERR invalid numlimits: expected an integer from 1 to 64'
V.FEWER_LIMITS='ERR invalid numlimits: fewer limits follow than it says'
V.LIMIT_ARITY='ERR syntax error: expected the word of an algorithm, a key, a window and a limit'
V.SAME_KEY='ERR invalid key: two limits would keep their state in one key; give each its own key'
V.LOG_COST='ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more' local function fI(h,l) local fi,gF=h-h==0,l-l==0 if fi or gF then return fi
elseif#h~=#l then return#h<#l end for d=#h,1,-1 do if h[d]~=l[d]then return h[d]<l[d] end end return false end
local function G(h,l) if h-h==0 and l-l==0 then return h<l end return fI(h,l) end local function fl(d) if d-d==0 then
return d end local bF=0 for ax=#d,1,-1 do bF=bF*(2^24)+d[ax] end return bF end local cT={ __sub=function() return 1 end,
} local function dc(x) local Q=#x while Q>0 and x[Q]==0 do x[Q]=nil Q=Q-1 end
if Q>3 or(Q==3 and x[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(x,cT) end
return(x[1]or 0)+(x[2]or 0)*(2^24)+(x[3]or 0)*(2^24)*(2^24) end local function ch(d) if d-d~=0 then return d end
local x,Q={},0 while d>0 do local bq=d%(2^24) Q=Q+1 x[Q]=bq d=(d-bq)/(2^24) end return x end local function iF(h,l)
if not fI(l,h)then return 0 end l=ch(l) local fs,ec={},0 for d=1,#h do local bq=h[d]-(l[d]or 0)-ec ec=bq<0 and 1 or 0
fs[d]=bq+ec*(2^24) end return dc(fs) end local function W(h,l) if h-h==0 and l-l==0 then return h>l and h-l or 0 end
return iF(h,l) end local function fS(h,l) h,l=ch(h),ch(l) local dp={} for d=1,#h+#l do dp[d]=0 end for d=1,#h do
local bS=0 for eC=1,#l do local bq=dp[d+eC-1]+h[d]*l[eC]+bS bS=math.floor(bq/(2^24)) dp[d+eC-1]=bq-bS*(2^24) end
dp[d+#l]=bS end return dc(dp) end local function E(h,l) if h-h==0 and l-l==0 and h*l<(2^53)then return h*l end
return fS(h,l) end local function ft(h,l) local cL=0 while not G(h,l)do
local o=math.max(1,math.floor(fl(h)/fl(l)*(1-2^-45))) o=dc(ch(o)) cL=M(cL,o) h=W(h,E(o,l)) end return cL,h end
local function aU(h,l) if h-h==0 and l-l==0 then local K=h%l return(h-K)/l,K end return ft(h,l) end local function iI(d)
local eY='' while d-d~=0 do local K d,K=aU(d,10000000) eY=B('%07.0f',K)..eY end return B('%.0f',d)..eY end
local function S(d) if d-d~=0 then return iI(d) end return B('%.0f',d) end local function aZ(f) error({err=f},0) end
local function U(bN) aZ(V[bN]) end local function bE(g,C) if C then w('PEXPIREAT',g,S(C)) end end local function di(c)
return c==0 and 1 or c end local function bV(cG,J) return not bs(J,' ',1,true)and bs(cG,' '..J..' ',1,true)~=nil end
local function gj(a,X) local k=a.k
return not bV(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',X)or bV(k.y,X) end
local function cx(h,l) for e=1,math.min(#h,#l)do local gt,gu=h:byte(e),l:byte(e) if gt~=gu then return gt<gu end end
return#h<#l end local function ci(f,ar) if f~='0'and not bs(f,'^[1-9]%d*$')then return nil end
return(#f<#ar or(#f==#ar and not cx(ar,f)))and f or nil end local function eo(f,J,ia)
local iT={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local fe=iT[bB(f,'^(%u):')] if not fe or fe==J then
U(ia) end aZ('ERR the key holds a state of '..fe..': use another key for each algorithm') end local function cC(x)
if#x<=15 or(#x==16 and cx(x,'9007199254740992'))then return x+0 end local es=#x%7 local d=es>0 and x:sub(1,es)+0 or 0
for e=es+1,#x,7 do d=M(E(d,10000000),x:sub(e,e+6)+0) end return d end local function iP(f)
local iE,x=bB(f,'^(%-?)(%d+)$') local eI=iE=='-' x=x and ci(x,eI and'9223372036854775808'or'9223372036854775807')
if not x or(eI and x=='0')then eo(f,nil,'NOT_A_COUNTER') end local af=cC(x) if af-af~=0 then U('INEXACT_STATE') end
return eI and-af or af end local function fz(g,q) local aG=w('PTTL',g) return aG>=0 and q+aG or nil end
local function fL(a) local g=a.f local f=w('GET',g) if f then local af=#f<16 and bs(f,'^[1-9]%d*$')and f+0 or iP(f)
local y=redis.REDIS_VERSION_NUM and w('PEXPIRETIME',g)or fz(g,a.now_ms)or-1 if y<0 then y=nil elseif y>=(2^53)then
U('INEXACT_STATE') end a.b={g=af,e=y} end end local function cM(t,j,v) if t=='keep'then return v end
return t~='delete'and j or nil end local function eE(Z,q) local cc=Z.U if q>=cc.i+cc.ttl then return nil end return{
v=cc.v, i=cc.i+cc.ttl, p=(Z.aC or cc.m==0)and cc.p or 0, ttl=cc.ttl, } end local function ho(a) local b=a.aJ local k=a.k
if k.aU then k.aU(a,b.H) else for I,Z in ipairs(b.H)do if Z.U.m>0 and b.now_ms<Z.U.p then local t,j=k.aG(a,Z.U,0)
if t~='keep'then if not a.aB then a.aB,a.S=true,a.b end Z.aC=true a.b=cM(t,j,a.b) end end end end
if b.h and b.h.i<=b.now_ms then b.h=nil for I,Z in ipairs(b.H)do if Z.id==b.id then b.h=eE(Z,b.now_ms) end end end end
local function hU(b) return b.h and b.h.m and b.h or nil end local function fY(b)
local Q,cY,ae=b.c-(b.S and 1 or 0)-#b.ai,b.ac,b.K or 0 for I,Z in ipairs(b.H)do local bY=Z.id~=b.id and eE(Z,b.now_ms)
if bY then cY=math.min(cY or bY.i,bY.i) ae=math.max(ae,bY.i) elseif Z.id~=b.id then Q=Q-1 end end return Q,cY,ae end
local function hm(b) local Q,cY=fY(b) if b.h or Q<100000 then return nil end return math.max(1,(cY or 0)-b.now_ms) end
local function ge(a) local k=a.k k.I(a,'keep',a.b) return a.remaining end local function bc(ac) local K=ac%1000
return ac<0 and-1 or K==0 and ac/1000 or(ac-K)/1000+1 end local function fq(a) local k=a.k
local hT=a.PARTIAL and a.W<a.m a.am=a.SHADOW and not a.Y and(hT or not a.allowed) if not a.allowed and(a.am or a.Y)then
a.allowed=true if not k.aP then local I,I,I,eU=dE(a) a.ttl=bc(eU) end end end local function gX(a) local k=a.k
local c,b=a.m,a.aJ ho(a) a.Y,a.as=hU(b),hm(b) if a.Y then c=0 elseif a.PARTIAL then c=math.min(c,ge(a)) end
local fr=k.bp or k.D fr(a,c) if a.as and a.allowed then fr(a,0) a.allowed,a.K=false,di(c) if not k.aP then
a.ttl=bc(a.as) end end a.W=c fq(a) end local function cb(a,c) local k=a.k local T=k.B(a,c==0 and 1 or c)
T=T and bc(av(T))or-1 return T==0 and 1 or T end local en,cB,dT,dL=4000,1000,1000,2*500 local function ip(g,bX,n,ad,ar)
local bh=w('ZCOUNT',g,bX,n) local aE=math.min(bh,ar) if aE>0 then local F=bX=='0'and w('ZCOUNT',g,'-inf','(0')or 0
w('ZREMRANGEBYRANK',g,B('%.0f',F),B('%.0f',F+aE-1)) ad,bh,en=ad-aE,bh-aE,ar-aE end return ad,bh end
local function eB(a,bX,du,cr) local g=a.f local ad,bh=w('ZCARD',g),0 if ad>0 and du>=0 and cr~='delete'then
local n=B('%.0f',du) local ar=cr=='read'and 0 or en if ad<=ar then local aE=w('ZREMRANGEBYSCORE',g,bX,n)
ad,en=ad-aE,ar-aE else ad,bh=ip(g,bX,n,ad,ar) end end a.c,a.ar,a.al=ad-bh,bh,ad>0 end local function ds(g,bl)
bl=B('%.0f',bl) local ai=w('ZRANGE',g,bl,bl,'WITHSCORES')[2] return ai and tonumber(ai) end local function br(g,q)
if not redis.REDIS_VERSION_NUM then return fz(g,q) end local e=w('PEXPIRETIME',g) return e>=0 and e or nil end
local function gp(a,c,aB,df,ep) local aA=a.limit-c if aA<0 then return nil elseif aB<=aA then return 0 end
local aG=df(a,aB-aA-1) if ep and(not aG or ep<aG)then aG=ep end
return aG and(aG>=(2^53)and(1/0)or math.max(0,aG-a.now_ms)) end local function dj(a,O) local q,p=a.now_ms,a.a
if O and 2*(O-q)>=3*p then return nil end return q+2*p end local function cz(gE,eD) local bF=0 for F=1,#eD,1000 do
local o={unpack(gE)} for d=F,math.min(F+999,#eD)do o[#o+1]=eD[d] end bF=bF+w(unpack(o)) end return bF end
local function gf(g,ai,ad) local dl={} for I,hH in ipairs(ad)do dl[#dl+1]=ai dl[#dl+1]=hH end cz({'ZADD',g,'XX'},dl) end
local function cK(x) if#x>1 and x:byte()==48 then return nil
elseif#x<20 or(#x==20 and not cx('18446744073709551615',x))then return cC(x) end end local function dW(f,ig)
local h,l,bf,bg,K=bB(f,ig) if not h then return nil elseif bs(f,':0%d')then return nil end local n=#bg<17 and bg+0
return#h<16 and h+0 or cK(h), #l<16 and l+0 or cK(l), #bf<16 and bf+0 or cK(bf), n and n<9e15 and n or cK(bg), K end
local function ey(ac) return ac and ac-ac==0 and ac>=1 and ac<=1e15 end
local cd=setmetatable({(2^24)-1,(2^24)-1,2^15-1},cT) local function bj(d) return G(cd,d) end local function bk(h,l)
return G(l,h)and l or h end local function fm(a) local k=a.k return k.aH(a)..' '..k.bC(a) end local function hf(a)
aZ(B('ERR clock %.0f %s',a.now_ms,fm(a))) end local function bw(a,aW,fd,ex) gd(a) if#aW~=gi(a,aW,1,fd,ex)-1 then
U('KEYS') elseif a.aQ then hf(a) end end local function hL(O,hO,ae) if O-O~=0 then U('INEXACT_STATE') end
local bM=W(O,W(hO,ae)) bM=G(bM,ae)and ae or bM return bM~=O and bM or nil end local function da(a,t,j) local k=a.k
local v,eg=a.b,k.aS if t=='keep'and(not v or not eg)then return nil end local O=v and br(a.f,a.now_ms)
if O and O>=(2^53)then O=dc(ch(O)) end if t=='keep'then local ae=k.e(a,v) return O and G(O,ae)and M(ae,5000)or nil end
local ae=k.e(a,j) local aP=M(ae,5000) if not v then return aP elseif not O then return aP end if eg and t=='rebase'then
return hL(O,k.e(a,v),ae) elseif G(O,ae)then return aP elseif not G(aP,O)or(eg and G(M(k.e(a,v),5000),O))then return nil
end return aP end local function dh(a) local f=w('GET',a.f) if f then local k=a.k
a.b=k.ap(f)or eo(f,k.G,'FOREIGN_VALUE') end end local function dA(a,t,j) local g=a.f if t=='delete'then w('UNLINK',g)
return end local k=a.k local y=da(a,t,j) if t=='keep'then bE(g,y) elseif y then
w('SET',g,k.aq(j),'PXAT',y==0 and'1'or S(y)) else w('SET',g,k.aq(j),'KEEPTTL') end end
local cv=setmetatable({(2^24)-1,(2^24)-1,2^16-1},cT) local fg=setmetatable({6553600,11973543,3552},cT)
local gw=setmetatable({9437184,14339741,14210},cT) local fn,gK=string.byte,string.char local function gH(J)
if J=='FIXED'then local function gT(cS,fQ) if fQ<2 then cS=cS-1 end local hS=(fQ+10)%12
local hA=math.floor(cS/4)-math.floor(cS/100)+math.floor(cS/400) return 365*cS+hA+math.floor((153*hS+2)/5)-719468 end
local function dF(d) return gT(math.floor(d/12),d%12) end local function fR(cW)
local bC=1970*12+math.floor(cW/30.436875)+1 while dF(bC)>cW do bC=bC-1 end return bC,cW-dF(bC) end
local function eW(ce,bC) local e=ce.by+bC local F=dF(e) return(F+math.min(ce.bn,dF(e+1)-F-1))*86400000+ce.bJ end
local function gJ(ca,cf,q) local as=cf%86400000 local bC,cW=fR((cf-as)/86400000) local ce={by=bC,bn=cW,bJ=as}
local fk=fR(math.floor(q/86400000))-bC local aP=fk-fk%ca local F,n=eW(ce,aP),eW(ce,aP+ca) if F>q then F,n=eW(ce,aP-ca),F
end return F,n,n-F end local function eR(a,q) local aS,cf=a.F,a.V if aS=='MONTH'or aS=='YEAR'then
local F,n,aQ=gJ(aS=='YEAR'and 12 or 1,cf or 0,q) return math.max(0,F),n,aQ end cf=cf or(aS=='WEEK'and 4*86400000)or 0
local aQ=a.a local fj=(q%aQ-cf%aQ)%aQ return math.max(0,q-fj),q-fj+aQ,aQ end local function hu(a)
local ap=a.F and a.F:lower()or B('%.0fms',a.a) return':'..ap..(a.V and B(':%.0f',a.V/1000)or'') end
local function fp(a,Y) return B(':%s:%.0f',a.F and a.F:lower()or B('%.0fms',a.a),Y) end local function dn(a)
if a.F or a.V then return eR(a,a.now_ms) end local q,p=a.now_ms,a.a local F=q-q%p return F,F+p end local function iG(a)
if a.F or a.V then return fp(a,(dn(a))) end local q,p=a.now_ms,a.a local am=(q-q%p)/p
return B(am<2147483648 and':%d'or':%.0f',am) end local function hR(a) local I,n=dn(a) if a.F or a.V then return fp(a,n)
end return':'..S(n/a.a) end local function iR(a) if a.F or a.V then return(select(3,eR(a,a.now_ms))) end return a.a end
local function dN(a) if a.F or a.V then local I,n=eR(a,a.now_ms) return n end return a.now_ms+a.a end
local function gm(y,q) if not y then return-2 end local ac=(y>q and y-q or 0)+500 return(ac-ac%1000)/1000 end
local function az(a,c) local r,q,H=a.b,a.now_ms,a.limit local v,ae=r and r.g or 0,c==0 and 1 or c
local z=ae<=H and v+ae<=H local dC=(z or v>=H)and c>0 local j=dC and v+c or v if j>=(2^53)then U('INEXACT_REPLY') end
local y=r and not(dC and v==0)and r.e or nil if not y and(r or dC)then y=(a.F or a.V)and dN(a)or q+a.a end
a.allowed,a.count,a.ttl,a.d=z,j,gm(y,q),'keep' if dC or(r and not r.e)then a.d,a.j='charge',{g=j,e=y} end end
local function at(a,I,r) local af,H=r and r.g or 0,a.limit a.A=af>0 and af or 0 a.remaining=a.A<H and H-a.A or 0 end
local function T(a,c) local H=a.limit if c>H then return nil elseif a.A+c<=H then return 0 end if a.F or a.V then
local I,n=dn(a) return n-a.now_ms end return a.a-a.now_ms%a.a end local function bp(a,t,j) local g,v=a.f,a.b
if t=='delete'then w('UNLINK',g) elseif t~='keep'then local cA=j.g-(v and v.g or 0) if cA~=0 then
w('INCRBY',g,cA==1 and'1'or B('%.0f',cA)) end if not v or j.e~=v.e then bE(g,j.e) end end end local function iQ(r,q)
return r and r.g or 0,gm(r and r.e,q) end local function gY(a,c) local v=a.b and a.b.g or 0
local db=di(c)<=a.limit and v+di(c)<=a.limit az(a,db and c or 0) a.allowed,a.K=db,di(c) end local function fy(a)
local I,n=dn(a) return n end local function fE(a,C) return not C or not G(C,(dn(a))) end local function aD(a,C,c)
local r=a.b if not r or not fE(a,C)then return'keep' end local af=r.g if af>0 and c>0 then
af=math.max(0,math.min(af,a.limit)-c) end if af==r.g and r.e then return'keep' end return'refund',{g=af,e=r.e or dN(a)}
end local function aC(a,C,c) local r=a.b if c==0 or not fE(a,C)then return'keep' end local v=r and r.g or 0
if v+c+1>=(2^53)then U('INEXACT_REPLY') end local O=v~=0 and r.e return'charge',{g=v+c,e=O or dN(a)} end
local function cu(a,aJ,aN) local r,aR=a.b,aJ.m or 0 if aJ.p~=fy(a)then return'keep' elseif aN>=aR then
return aC(a,nil,aN-aR) elseif not r or r.g<=0 then return'keep' end local af=math.max(0,r.g-(aR-aN))
return'refund',{g=af,e=r.e or dN(a)} end return{ G='FIXED', y=' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ',
aP=true, aW=hu, aH=iG, bC=hR, bd=iR, Q=fL, D=az, I=at, B=T, M=bp, bc=iQ, bp=gY, p=fy, refund=aD, ad=aC, aG=cu, }
elseif J=='WINDOW'then local function by(a,r) local q=a.now_ms local y=r and r.e if not r then return nil,0
elseif y and y<=q then return nil,0 end local aP=q+a.a return y and y<aP and y or aP,r.g>0 and r.g or 0 end
local function gn(r,D) if D and D~=r.e then return'rebase',{g=r.g,e=D} end return'keep' end local function at(a,I,r)
local D,R=by(a,r) a.i,a.A,a.remaining=D,R,R<a.limit and a.limit-R or 0 end local function T(a,c) local H=a.limit
if c>H then return nil elseif a.A+c<=H then return 0 end return ag(W(E(a.i,1000),a.r),1000) end local function az(a,c)
local r,H=a.b,a.limit local D,R=by(a,r) local z=R+(c==0 and 1 or c)<=H a.allowed,a.count=z,av(R) if z and c>0 then
D=D and r.g>=0 and D or a.now_ms+a.a a.d,a.j='charge',{g=R+c,e=D} else a.d,a.j=gn(r,D) end at(a,a.d,cM(a.d,a.j,r))
if z then a.ttl=bc(av(T(a,H))) else a.ttl=cb(a,c) end end local function bp(a,t,j) local g,v=a.f,a.b if t=='delete'then
w('UNLINK',g) elseif t=='keep'then return elseif v and v.e==j.e then local cA=j.g-v.g
w('INCRBY',g,cA==1 and'1'or B('%.0f',cA)) elseif v and v.g==j.g then bE(g,j.e) else w('SET',g,S(j.g),'PXAT',S(j.e)) end
end local function bH(a,r) local y=r and r.e return y and y>a.now_ms and y or a.now_ms+a.a end local function aD(a,C,c)
local r=a.b local D,R=by(a,r) local hv=D and C and G(M(C,a.a),D) if not D or R==0 or hv or c==0 then return gn(r,D)
elseif c>=R then return'delete' end return'refund',{g=R-c,e=D} end local function aC(a,C,c)
if c==0 or(C and not G(a.now_ms,M(C,a.a)))then return'keep' end local D,R=by(a,a.b) if R+c>=(2^53)then
U('INEXACT_REPLY') end D=D and a.b.g>=0 and D or a.now_ms+a.a return'charge',{g=R+c,e=D} end local function cu(a,aJ,aN)
local r,aR=a.b,aJ.m or 0 if aJ.p<=a.now_ms then return'keep' elseif aN>=aR then local t,j=aC(a,nil,aN-aR)
if t=='charge'and not by(a,r)then j.e=math.min(aJ.p,a.now_ms+a.a) end return t,j
elseif not r or r.g<=0 or r.e~=aJ.p then return'keep' end local af=r.g-(aR-aN) if af<=0 then return'delete' end
return'refund',{g=af,e=r.e} end local function et(a,t,j) local r=a.b if t=='rebase'then return'keep'
elseif t=='charge'and r and r.g>=0 and by(a,r)then return'charge',{g=j.g,e=r.e} end return t,j end return{ G='WINDOW',
y=' COST PARTIAL ALWAYS RESERVE RESERVATION ', Q=fL, D=az, I=at, B=T, M=bp, aK=et, p=bH, refund=aD, ad=aC, aG=cu, }
elseif J=='SLIDING'then local function dg(a,cr) eB(a,'0',a.now_ms-a.a,cr) a.aL=500 if cr=='write'then dL=(dL-dL%2)/2
a.aL=dL end end local function az(a,c) local g,aa=a.f,a.c local z=aa+(c==0 and 1 or c)<=a.limit
a.allowed,a.count,a.ttl,a.d=z,aa,bc(a.a),'keep' if z and c>0 then a.d,a.j='charge',{ay=c}
elseif not z and aa>0 and w('ZCOUNT',g,'('..B('%.0f',a.now_ms),'+inf')>0 then a.d,a.j='rebase',{bK=true} end end
local function hP(a) local g=a.f local bX=a.al and ds(g,0) return bX and bX<0 and w('ZCOUNT',g,'-inf','(0')or 0 end
local function fN(a,bl) local ai=bl>=0 and bl<a.c+a.ar and ds(a.f,bl) return ai and math.max(0,math.ceil(ai)) end
local function df(a,d) local q,dZ=a.now_ms,a.aI a.aE=a.aE or hP(a) if d>=a.c+dZ-a.aE then return nil end
local bl=d+a.aE+a.ar local e=fN(a,bl) if e and dZ>0 and e>q then e=nil end if not e then local de=fN(a,bl-dZ)
e=de and de>q and de or q end if a.bF then a.aM=a.aM or w('ZCOUNT',a.f,'-inf',S(q))+a.aL e=bl<a.aM and math.min(e,q)or e
end return e+a.a end local function at(a,t,j) a.aE,a.aM,a.aI,a.bF=nil,nil,t=='charge'and j.ay or 0,t=='rebase'
local bm=a.limit-a.c-a.aI a.remaining=bm>0 and bm or 0 a.au=a.al and br(a.f,a.now_ms)or nil end local function T(a,c)
return gp(a,c,a.c+a.aI,df,(dj(a,a.au)or a.au)+1) end local function gA(g,ac,Q) local ai=B('%.0f',ac)
local d=w('ZCOUNT',g,ai,ai) while Q>1 do local o={} for I=1,math.min(Q,1000)do o[#o+1]=ai o[#o+1]=B('%s-0.%.0f',ai,d)
d=d+1 end Q=Q-w('ZADD',g,'NX',unpack(o)) end while Q>0 do Q=Q-w('ZADD',g,'NX',ai,ai..'-0.'..S(d)) d=d+1 end end
local function gQ(a,t,j) local g=a.f if t=='delete'then w('UNLINK',g) return end
local y=dj(a,a.al and br(g,a.now_ms)or nil) if j.bK then local ai=B('%.0f',a.now_ms)
gf(g,ai,w('ZRANGEBYSCORE',g,'('..ai,'+inf','LIMIT','0',S(a.aL))) bE(g,y) return end local ad=a.c+a.ar
local F,n=ad-j.remove,ad-1 if j.bb then n=w('ZCOUNT',g,'-inf',S(j.bb))-1 F=math.max(0,n+1-j.remove) end
if n<0 or F>0 or n+1<ad then bE(g,y) end if n>=0 then w('ZREMRANGEBYRANK',g,B('%.0f',F),B('%.0f',n)) end end
local function bp(a,t,j) local g=a.f if t=='charge'then local y=dj(a,a.al and br(g,a.now_ms)or nil)
gA(g,j.br or a.now_ms,j.ay) bE(g,y) elseif t~='keep'then gQ(a,t,j) elseif a.al then bE(g,dj(a,br(g,a.now_ms))) end end
local function aD(a,C,c) local Q=math.min(a.c,c) if Q==0 then return'keep' end return'refund',{remove=Q,bb=C} end
local function aC(a,C,c) if c==0 then return'keep' elseif not C or not G(C,a.now_ms)then return'charge',{ay=c}
elseif C<=a.now_ms-a.a then return'keep' end return'charge',{ay=c,br=C} end return{ G='SLIDING', y=' COST PARTIAL ',
aP=true, bf=true, Q=dg, D=az, I=at, B=T, M=bp, refund=aD, ad=aC, } elseif J=='COUNTER'then local function bI(f)
local p,am,ak,ao,K=dW(f,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not ey(p)or not am or not ak or not ao or K~=''then
return nil end local aY=E(am,p) local Y=E(aY,1000) if Y-Y~=0 or ak-ak~=0 or ao-ao~=0 then if bj(Y)or bj(ak)or bj(ao)then
return nil end end if aY==0 and ao~=0 then return nil end return{a=p,x=aY,current=ak,previous=ao} end
local function bJ(A) local p,ak,ao=A.a,A.current,A.previous local am=aU(A.x,p) local hz=am-am~=0 or ak-ak~=0 or ao-ao~=0
if hz then am,ak,ao=S(am),S(ak),S(ao) return'C:'..S(p)..':'..am..':'..ak..':'..ao end
return B('C:%.0f:%.0f:%.0f:%.0f',p,am,ak,ao) end local function y(I,A)
local dV=A.current~=0 and 2 or A.previous~=0 and 1 or 0 return M(A.x,A.a*dV) end local function cN(p,aY,ak,ao)
return{a=p,x=aY,current=ak,previous=ao} end local function fV(d) return bk(d,cd) end local function il(a,ay,aY)
local p=a.a if G(a.now_ms,ay.x)then return cN(p,aY,bk(M(ay.current,ay.previous),a.limit),0) end local cV=cN(p,aY,0,0)
local function bw(Q,fv) if fv>aY then cV.current=fV(M(cV.current,Q)) elseif fv+p>aY then
cV.previous=fV(M(cV.previous,Q)) end end bw(ay.current,ay.x+ay.a) bw(ay.previous,ay.x) return cV end
local function dy(a,ay) local q,p=a.now_ms,a.a local aY=q-q%p if not ay then return cN(p,aY,0,0)
elseif ay.x==aY and ay.a==p then return ay end return il(a,ay,aY) end local function fc(a,A) local ao=A.previous
return ao==0 and 0 or E(ao,W(a.n,a.r-A.x*1000)) end local function aX(a,A,dU) a.bm=A
a.remaining=W(W(a.limit,A.current),dU==0 and 0 or ag(dU,a.n)) end local function at(a,I,ay) local A=dy(a,ay)
aX(a,A,fc(a,A)) end local function gk(a,aA,Q) return Q==0 and 0 or W(a.n,(aU(E(aA,a.n),Q))) end local function T(a,c)
local aA,A=a.limit-c,a.bm local ak,Y=A.current,E(A.x,1000) if aA<0 then return nil elseif G(aA,ak)then
Y=M(M(Y,a.n),gk(a,aA,ak)) else Y=M(Y,gk(a,aA-ak,A.previous)) end return ag(W(Y,a.r),1000) end local function az(a,c)
local ay,H,ap=a.b,a.limit,a.n local A=dy(a,ay) local ak,ao=A.current,fc(a,A) local ae=E(M(ak,c==0 and 1 or c),ap)
local z=not G(E(H,ap),M(ae,ao)) a.allowed,a.d=z,'keep' a.count=av(ao==0 and ak or M(ak,(aU(ao,ap)))) if z and c>0 then
A=cN(a.a,A.x,M(ak,c),A.previous) a.d,a.j='charge',A elseif ay and H>0 and(G(a.now_ms,ay.x)or ay.a~=a.a)then
if ak~=0 or A.previous~=0 then a.d,a.j='rebase',A end end if z then a.ttl=av(ag(W(E(y(a,A),1000),a.r),1000000)) else
aX(a,A,ao) a.ttl=cb(a,c) end end local function ga(A,C) if not C or not G(C,A.x)then return'current' end
return C+A.a>=A.x and'previous'or nil end local function aD(a,C,c) local A=dy(a,a.b) local bw=ga(A,C)
local hk=bw=='current'and c or 0 local fC=bw=='previous'and c or 0 if not C then fC=W(c,A.current) end
local ak,ao=W(A.current,hk),W(A.previous,fC) if not G(ak,A.current)and not G(ao,A.previous)then return'keep'
elseif ak==0 and ao==0 then return'delete' end return'refund',cN(A.a,A.x,ak,ao) end local function aC(a,C,c)
local A=dy(a,a.b) local bw=ga(A,C) if c==0 or not bw then return'keep' end local aB=cN(A.a,A.x,A.current,A.previous)
aB[bw]=M(aB[bw],c) local dU=M(E(aB.current,a.n),fc(a,aB)) if bj(aB[bw])or G(E(cd,a.n),dU)then U('OVERFLOW') end
return'charge',aB end local function bH(a) return a.now_ms-a.now_ms%a.a+2*a.a end local function cu(a,aJ,aN)
local aR=aJ.m or 0 if aJ.p<=a.now_ms then return'keep' elseif aN<aR then return aD(a,aJ.v,aR-aN) end
return aC(a,aJ.v,aN-aR) end return{ G='COUNTER', y=' COST PARTIAL ALWAYS RESERVE RESERVATION ', ap=bI, aq=bJ, e=y,
expiry_after=da, Q=dh, D=az, I=at, B=T, M=dA, p=bH, refund=aD, ad=aC, aG=cu, } elseif J=='TOKEN'then
local function dm(a,i) local o,ap,u=i.s,a.n,i.t if i.a~=a.a and o~=0 then o=ag(E(o,ap),E(i.a,1000)) end
u=bk(M(E(u,ap),o),a.E) return i.o==0 and u or M(u,E(i.o,ap)) end local function bv(a,i) if not i then return 0 end
return W(dm(a,i),E(W(a.r,i.at),a.limit)) end local function dk(aH) return bk(aH,cv) end local function eu(aH)
return G(cv,aH) end local function eT(a) if a.limit>0 and G(E(a.limit,fg),a.E)then U('SPAN') end end
local function bR(a,an) local as=ag(an,a.limit) return as-as==0 and as or dk(as) end local function aX(a,an) a.aO=an
a.remaining=a.limit==0 and 0 or W(a.l,ag(an,a.n)) end local function at(a,I,i) aX(a,bv(a,i)) end local function T(a,c)
local H,aA=a.limit,a.l-c if H==0 or aA<0 then return nil end local as=ag(W(a.aO,E(aA,a.n)),H)
if as-as~=0 and eu(M(as,a.r))then return nil end return ag(as,1000) end local function cq(a) a.E=E(a.l,a.n)
if a.E-a.E~=0 then eT(a) end end local function ew(u,o,p,e) local eZ=bj(u)or(not G(u,cd)and o~=0)
return eZ or bj(e)or not G(o,E(p,1000)) end local function ef(K) local x=bB(K,'^:(%d+)$') local au=x and cK(x)
return au and au~=0 and not bj(au)and au or nil end local function bI(f)
local u,o,p,e,K=dW(f,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not ey(p)or not u or not o or not e then return nil end
local au=0 if K~=''then au=ef(K) if not au then return nil end end if u-u~=0 or e-e~=0 or o-o~=0 or o>=p*1000 then
if ew(u,o,p,e)then return nil end end return{t=u,s=o,a=p,at=e,o=au} end local function ek(i)
local u,o,p,e=i.t,i.s,i.a,i.at local f='T:'..S(u)..':'..S(o)..':'..S(p)..':'..S(e) return i.o==0 and f or f..':'..S(i.o)
end local function bJ(i) local u,o,p,e=i.t,i.s,i.a,i.at if i.o~=0 or u-u~=0 or o-o~=0 or e-e~=0 then return ek(i) end
return B('T:%.0f:%.0f:%.0f:%.0f',u,o,p,e) end local function y(a,i) local e=i.at if a.limit>0 then e=M(e,bR(a,dm(a,i)))
e=e-e==0 and e or dk(e) end return ag(e,1000) end local function az(a,c) local i,H,ap,bu=a.b,a.limit,a.n,a.r
local v=bv(a,i) local ae=M(v,E(c==0 and 1 or c,ap)) local z=H>0 and not G(a.E,ae) local aT,o=aU(v,ap)
a.allowed,a.count,a.d=z,av(o==0 and aT or M(aT,1)),'keep' if z and c>0 then a.d='charge'
a.j={t=M(aT,c),s=o,a=a.a,at=bu,o=0} a.ttl=av(ag(bR(a,ae),1000000)) else if i and H>0 and G(bu,i.at)then a.d='rebase'
a.j={t=i.t,s=i.s,a=i.a,at=bu,o=i.o} end if z then a.ttl=av(ag(bR(a,v),1000000)) else aX(a,v) a.ttl=cb(a,c) end end
a.aA=false and z and bR(a,v)or 0 end local function aD(a,I,c) local i=a.b if not i or c==0 or bv(a,i)==0 then
return'keep' end local u,o=i.t,i.s if not G(u,a.l)then u,o=a.l,0 end local K=W(c,i.o) if G(u,K)then u,o=0,0 else
u=W(u,K) end local ba= {t=u,s=o,a=i.a,at=i.at,o=W(i.o,c)} if bv(a,ba)==0 then return'delete' end return'refund',ba end
local function aC(a,I,c) if c==0 or a.limit==0 then return'keep' end local an=M(bv(a,a.b),E(c,a.n))
if G(E(cd,a.n),an)then U('OVERFLOW') end local aT,o=aU(an,a.n) local ar=o==0 and a.l or a.l-1
local u,au=bk(aT,ar),W(aT,ar) return'charge',{t=u,s=o,a=a.a,at=a.r,o=au} end return{ G='TOKEN',
y=' COST PARTIAL BURST ALWAYS ', aS=true, delays=false, ax=cq, ap=bI, aq=bJ, e=y, expiry_after=da, Q=dh, D=az, I=at,
B=T, M=dA, refund=aD, ad=aC, } elseif J=='LEAKY'then local function dm(a,i) local o,ap,u=i.s,a.n,i.t
if i.a~=a.a and o~=0 then o=ag(E(o,ap),E(i.a,1000)) end u=bk(M(E(u,ap),o),a.E) return i.o==0 and u or M(u,E(i.o,ap)) end
local function bv(a,i) if not i then return 0 end return W(dm(a,i),E(W(a.r,i.at),a.limit)) end local function dk(aH)
return bk(aH,cv) end local function eu(aH) return G(cv,aH) end local function eT(a)
if a.limit>0 and G(E(a.limit,fg),a.E)then U('SPAN') end end local function bR(a,an) local as=ag(an,a.limit)
return as-as==0 and as or dk(as) end local function aX(a,an) a.aO=an a.remaining=a.limit==0 and 0 or W(a.l,ag(an,a.n))
end local function at(a,I,i) aX(a,bv(a,i)) end local function T(a,c) local H,aA=a.limit,a.l-c if H==0 or aA<0 then
return nil end local as=ag(W(a.aO,E(aA,a.n)),H) if as-as~=0 and eu(M(as,a.r))then return nil end return ag(as,1000) end
local function cq(a) a.E=E(a.l,a.n) if a.E-a.E~=0 then eT(a) end end local function ew(u,o,p,e)
local eZ=bj(u)or(not G(u,cd)and o~=0) return eZ or bj(e)or not G(o,E(p,1000)) end local function ef(K)
local x=bB(K,'^:(%d+)$') local au=x and cK(x) return au and au~=0 and not bj(au)and au or nil end local function bI(f)
local u,o,p,e,K=dW(f,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not ey(p)or not u or not o or not e then return nil end
local au=0 if K~=''then au=ef(K) if not au then return nil end end if u-u~=0 or e-e~=0 or o-o~=0 or o>=p*1000 then
if ew(u,o,p,e)then return nil end end return{t=u,s=o,a=p,at=e,o=au} end local function ek(i)
local u,o,p,e=i.t,i.s,i.a,i.at local f='L:'..S(u)..':'..S(o)..':'..S(p)..':'..S(e) return i.o==0 and f or f..':'..S(i.o)
end local function bJ(i) local u,o,p,e=i.t,i.s,i.a,i.at if i.o~=0 or u-u~=0 or o-o~=0 or e-e~=0 then return ek(i) end
return B('L:%.0f:%.0f:%.0f:%.0f',u,o,p,e) end local function y(a,i) local e=i.at if a.limit>0 then e=M(e,bR(a,dm(a,i)))
e=e-e==0 and e or dk(e) end return ag(e,1000) end local function az(a,c) local i,H,ap,bu=a.b,a.limit,a.n,a.r
local v=bv(a,i) local ae=M(v,E(c==0 and 1 or c,ap)) local z=H>0 and not G(a.E,ae) local aT,o=aU(v,ap)
a.allowed,a.count,a.d=z,av(o==0 and aT or M(aT,1)),'keep' if z and c>0 then a.d='charge'
a.j={t=M(aT,c),s=o,a=a.a,at=bu,o=0} a.ttl=av(ag(bR(a,ae),1000000)) else if i and H>0 and G(bu,i.at)then a.d='rebase'
a.j={t=i.t,s=i.s,a=i.a,at=bu,o=i.o} end if z then a.ttl=av(ag(bR(a,v),1000000)) else aX(a,v) a.ttl=cb(a,c) end end
a.aA=true and z and bR(a,v)or 0 end local function aD(a,I,c) local i=a.b if not i or c==0 or bv(a,i)==0 then
return'keep' end local u,o=i.t,i.s if not G(u,a.l)then u,o=a.l,0 end local K=W(c,i.o) if G(u,K)then u,o=0,0 else
u=W(u,K) end local ba= {t=u,s=o,a=i.a,at=i.at,o=W(i.o,c)} if bv(a,ba)==0 then return'delete' end return'refund',ba end
local function aC(a,I,c) if c==0 or a.limit==0 then return'keep' end local an=M(bv(a,a.b),E(c,a.n))
if G(E(cd,a.n),an)then U('OVERFLOW') end local aT,o=aU(an,a.n) local ar=o==0 and a.l or a.l-1
local u,au=bk(aT,ar),W(aT,ar) return'charge',{t=u,s=o,a=a.a,at=a.r,o=au} end return{ G='LEAKY',
y=' COST PARTIAL BURST ', aS=true, delays=true, ax=cq, ap=bI, aq=bJ, e=y, expiry_after=da, Q=dh, D=az, I=at, B=T, M=dA,
refund=aD, ad=aC, } elseif J=='GCRA'then local function iv(a) if G(gw,a.af)then U('SPAN') end end local function gZ(f)
local x=ci(f,'18446744073709551615') if not x then return nil end return{Z=#x>3 and cC(x:sub(1,-4))or 0,ak=x:sub(-3)+0}
end local function hc(aF) return aF.Z==0 and B('%d',aF.ak)or S(aF.Z)..B('%03d',aF.ak) end local function cq(a)
a.X,a.af=0,0 if a.limit>0 then local gq=E(a.n,1000) if G(gq,a.limit)then U('SPAN') end a.X=ag(gq,a.limit)
a.af=E(a.l,a.X) if a.af-a.af~=0 then iv(a) end end end local function bI(f)
local aH,eH=bB(f,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not aH or aH:byte()>56 then return gZ(f) end
return{Z=aH+0,ak=eH+0} end local function bJ(aF) local aH=aF.Z if aH-aH~=0 or aH<1000000 then return hc(aF) end
return B('%.0f%03d',aH,aF.ak) end local function y(I,aF) return ag(aF.ak==0 and aF.Z or M(aF.Z,1),1000) end
local function dS(a,aj) local aH,eH=aU(aj,1000) return{Z=M(a.r,aH),ak=eH} end local function dx(a,aF) local aj,gl=0,a.af
if aF and not G(aF.Z,a.r)then aj=M(E(W(aF.Z,a.r),1000),aF.ak) if G(gl,aj)then return gl,true end end return aj,false end
local function go(a,aj) return a.X==0 and 0 or ag(aj,a.X) end local function aX(a,aj) a.bg=aj
a.remaining=a.X==0 and 0 or W(a.l,go(a,aj)) end local function at(a,I,aF) aX(a,(dx(a,aF))) end local function T(a,c)
local cE=a.X if cE==0 or c>a.l then return nil end return ag(W(a.bg,W(a.af,E(c,cE))),1000000) end local function az(a,c)
local aj,gG=dx(a,a.b) local cE=a.X local j=M(aj,E(c==0 and 1 or c,cE)) local z=cE~=0 and not G(a.af,j)
a.allowed,a.count,a.d=z,av(go(a,aj)),'keep' if z and c==0 then a.ttl=av(ag(aj,1000000000)) elseif z then
a.d,a.j='charge',dS(a,j) a.ttl=av(ag(j,1000000000)) else if gG and cE~=0 then a.d,a.j='rebase',dS(a,aj) end aX(a,aj)
a.ttl=cb(a,c) end end local function aD(a,I,c) local aj=dx(a,a.b) local ba=E(c,a.X) if aj==0 or ba==0 then return'keep'
elseif not G(ba,aj)then return'delete' end return'refund',dS(a,W(aj,ba)) end local function aC(a,I,c)
if c==0 or a.X==0 then return'keep' end local aj=dx(a,a.b) return'charge',dS(a,bk(M(aj,E(c,a.X)),a.af)) end return{
G='GCRA', y=' COST PARTIAL BURST ', ax=cq, ap=bI, aq=bJ, e=y, expiry_after=da, Q=dh, D=az, I=at, B=T, M=dA, refund=aD,
ad=aC, } elseif J=='ROLLING'then local cU=4096 local dw=8192 local aI=2^32 local function aM(f,d)
local h,l,bf,bg,cj,ck,bK=fn(f,15*d+3,15*d+9) if bK>=32 then U('INEXACT_STATE') end
return h+256*(l+256*(bf+256*(bg+256*(cj+256*(ck+256*bK))))) end local function bz(f,d)
local h,l,bf,bg,cj,ck,bK,hp=fn(f,15*d+10,15*d+17) return cj+256*(ck+256*(bK+256*hp)),h+256*(l+256*(bf+256*bg)) end
local function cy(ac,P,L) local h,l=ac%16777216,P%65536 local bf,bg=L%65536,(ac-ac%16777216)/16777216
local cj,ck,bK=(P-l)/65536,(L-bf)/65536,bg%65536 return gK( h%256,(h-h%256)/256%256,(h-h%65536)/65536,
bK%256,(bK-bK%256)/256,(bg-bK)/65536%256,(bg-bg%16777216)/16777216, bf%256,(bf-bf%256)/256,ck%256,(ck-ck%256)/256,
l%256,(l-l%256)/256,cj%256,(cj-cj%256)/256 ) end local function iL(P,L,ht,hC) local R=(P-ht)*aI+(L-hC)
return R<0 and R+aI*aI or R end local function cP(P,L,hX,hY) P,L=P+hX,L+hY if L>=aI then P,L=P+1,L-aI end
return P%aI,L,P>=aI end local function er(R) local L=R%aI return(R-L)/aI,L end local function dB(f,aa,ac)
if aa==0 or aM(f,aa-1)<=ac then return aa end local cw,dt=0,aa while dt>1 do local eq=(dt-dt%2)/2
if aM(f,cw+eq)<=ac then cw=cw+eq end dt=dt-eq end return aM(f,cw)<=ac and cw+1 or cw end local function gc(a,f)
local aa=(#f-2)/15 if bP(f,1,2)~='R:'or aa%1~=0 or aa<1 or aa>dw then return nil end local bh,F,P,L=a.now_ms-a.a,0,0,0
if bh>=0 and aM(f,0)<=bh then F=dB(f,aa,bh) P,L=bz(f,F-1) local dJ,eA=bz(f,aa-1) if dJ<P or(dJ==P and eA<L)then
return nil end end return{u=f,c=aa,q=F,hi=P,lo=L} end local function dg(a) local f=w('GET',a.f) if f then
a.b=gc(a,f)or eo(f,'ROLLING','FOREIGN_VALUE') end end local function cR(m,d) local P,L=bz(m.u,d)
return iL(P,L,m.hi,m.lo) end local function dv(m) return m and m.c>0 and cR(m,m.c-1)or 0 end local function cs(a,h,l)
local p=a.a if h==l then return true elseif p<=cU or math.abs(h-l)>=p/cU+1 then return false end
return(aU(E(h,cU),p))==(aU(E(l,cU),p)) end local function ej(m,bL,aV,K,cp) local f,v,F=m.u,m.c,m.q
local aa,eK=bL+(v-K)+1,15*bL+2 local j={u=bP(f,1,eK)..aV,c=aa,q=F,hi=m.hi,lo=m.lo} j.write,j.aX,j.an='SETRANGE',eK,aV
if K<v then j.an=aV..bP(f,15*K+3) j.u=bP(f,1,eK)..j.an elseif bL==v then j.write='APPEND' end
if v==0 or(F>0 and F*2>=v)or cp or aa<v or aa>dw then j.write='SET' end return j end
local function bM(f,hj,iK,bG,cg,P,L) local an={} for d=hj,iK-1 do local dK,dM=bG,cg if not bG then dK,dM=bz(f,d)
dK,dM=cP(dK,dM,P,L) end an[#an+1]=cy(aM(f,d),dK,dM) end return table.concat(an) end local function gM(a,m,ax,e,P,L,cp)
local f,aa,bL,K=m.u,m.c,ax,ax local bd,bo,ac=m.hi,m.lo,e if ax>m.q then bd,bo=bz(f,ax-1) end
if ax>m.q and cs(a,aM(f,ax-1),e)then bL=ax-1 elseif cs(a,aM(f,ax),e)then ac,K=aM(f,ax),ax+1 bd,bo=bz(f,ax) end
bd,bo=cP(bd,bo,P,L) local de=bM(f,K,aa,nil,nil,P,L) local aT={u=bP(f,1,15*K+2)..de,c=aa,q=m.q,hi=m.hi,lo=m.lo}
return ej(aT,bL,cy(ac,bd,bo),K,cp) end local function aB(a,m,e,R) local f,aa=m.u,m.c local ax=dB(f,aa,e) local P,L=er(R)
local bd,bo,cp,bL=m.hi,m.lo,false,aa if aa>0 then local dJ,eA=bz(f,aa-1) bd,bo,cp=cP(dJ,eA,P,L) if ax<aa then
return gM(a,m,ax,e,P,L,cp) elseif aa>m.q then bL=cs(a,aM(f,aa-1),e)and aa-1 or aa else bd,bo=cP(m.hi,m.lo,P,L) end else
bd,bo=P,L end return ej(m,bL,cy(e,bd,bo),aa,cp) end local function hM(a,m) local f,q=m.u,a.now_ms local ax=dB(f,m.c,q)
local ez=ax>m.q and cs(a,aM(f,ax-1),q) local P,L=bz(f,m.c-1) return ej(m,ez and ax-1 or ax,cy(q,P,L),m.c,false) end
local function iz(a,m) local f,al=m.u,{} for d=m.q,m.c-1 do local P,L=bz(f,d)
P,L=cP(P,L,(aI-m.hi-(m.lo>0 and 1 or 0))%aI,(aI-m.lo)%aI) local n=al[#al]
if(n or P>0 or L>0)and not(n and n.hi==P and n.lo==L)then al[#al+1]={ms=aM(f,d),hi=P,lo=L} end end if#al>cU+1 then
local cm={} for I,aV in ipairs(al)do local ez=#cm>0 and cs(a,aV.ms,cm[#cm].ms) cm[ez and#cm or#cm+1]=aV end al=cm end
if#al>dw then local n,aj=al[#al],0 while aj<#al and al[aj+1].ms<=a.now_ms do aj=aj+1 end
for d=#al,math.min(aj,dw-1)+1,-1 do al[d]=nil end al[#al+1]=n end local an={'R:'} for d,aV in ipairs(al)do
an[d+1]=cy(aV.ms,aV.hi,aV.lo) end return table.concat(an) end local function at(a,I,m) local R=dv(m)
a.bx,a.A,a.remaining=m,R,R<a.limit and a.limit-R or 0 end local function T(a,c) local aA,m,R=a.limit-c,a.bx,a.A
if aA<0 then return nil elseif R<=aA then return 0 end local eG,bW,bU=R-aA,m.q,m.c-1 if cR(m,bW)>=eG then bU=bW
elseif cR(m,bU>0 and bU-1 or 0)<eG then bW=bU end while bW<bU do local eF=(bW+bU-(bW+bU)%2)/2 if cR(m,eF)>=eG then bU=eF
else bW=eF+1 end end local aG=aM(m.u,bW)+a.a-a.now_ms return aG>0 and aG or 0 end local function az(a,c)
local m,H=a.b,a.limit local R=dv(m) local z=R+(c==0 and 1 or c)<=H a.allowed,a.count,a.d=z,av(R),'keep'
if z and c>0 then a.d='charge' a.j=aB(a,m or{u='R:',c=0,q=0,hi=0,lo=0},a.now_ms,c)
elseif not z and R>0 and aM(m.u,m.c-1)>a.now_ms then a.d,a.j='rebase',hM(a,m) end at(a,a.d,cM(a.d,a.j,m)) if z then
a.ttl=bc(av(T(a,H))) else a.ttl=cb(a,c) end end local function iC(a,j,y,O) local g,f=a.f,j.write=='SET'and iz(a,j)or j.u
if y then w('SET',g,f,'PXAT',S(y)) elseif O then w('SET',g,f,'KEEPTTL') end end local function bp(a,t,j)
local g,v=a.f,a.b if t=='delete'then w('UNLINK',g) return end local O=v and not a.bh and br(g,a.now_ms)or nil
local y=dj(a,O) if t~='keep'then local gr=j.write if gr=='SET'or a.aB then iC(a,j,y,O) return elseif gr=='APPEND'then
w('APPEND',g,j.an) else w('SETRANGE',g,B('%d',j.aX),j.an) end elseif dv(v)==0 then return end bE(g,y) end
local function aD(a,C,c) local m=a.b if not m then return'keep' end local f,n=m.u,m.c if C then C=C-C==0 and C or(2^53)
n=dB(f,m.c,C) local ev=n>m.q and aM(f,n-1)==C if not ev and n<m.c and cs(a,aM(f,n),C)then n=n+1 end end
local R,bG,cg=0,m.hi,m.lo if n>m.q then R=cR(m,n-1) bG,cg=bz(f,n-1) end local Q=math.min(c,R) if Q==0 then return'keep'
elseif Q==dv(m)then return'delete' end local P,L=er(Q) P,L=(aI-P-(L>0 and 1 or 0))%aI,(aI-L)%aI bG,cg=cP(bG,cg,P,L)
local Y=n while Y>0 do local bd,bo=bz(f,Y-1) if bd<bG or(bd==bG and bo<=cg)then break end Y=Y-1 end
local fo=bM(f,Y,n,bG,cg)..bM(f,n,m.c,nil,nil,P,L) local j={u=bP(f,1,15*Y+2)..fo,c=m.c,q=m.q}
j.hi,j.lo,j.write,j.aX,j.an=m.hi,m.lo,'SETRANGE',15*Y+2,fo if m.q>0 and m.q*2>=m.c then j.write='SET' end
return'refund',j end local function aC(a,C,c) local q,m=a.now_ms,a.b C=C and G(C,q)and C or q
if c==0 or(C<q and C<=q-a.a)then return'keep' end local R=dv(m)+c if R>=(2^53)then
U(R>2^63 and'OVERFLOW'or'INEXACT_REPLY') end return'charge',aB(a,m or{u='R:',c=0,q=0,hi=0,lo=0},C,c) end
local function bH(a) return a.now_ms+a.a end local function hn(a,gC) local m,al,v,ee=a.b,{},0,false
for d=m and m.q or 0,m and m.c-1 or-1 do local du=av(cR(m,d)) al[#al+1]={ms=aM(m.u,d),A=math.max(0,du-v)}
v=math.max(v,du) end local eS,cn=0,{} for I,ab in ipairs(gC)do local e,aG=ab.U.v,ab.U.m if aG>0 and a.now_ms<ab.U.p then
local n=0 while al[n+1]and al[n+1].ms<=e do n=n+1 end local ev=n>0 and al[n].ms==e
if not ev and al[n+1]and cs(a,al[n+1].ms,e)then n=n+1 end for d=eS+1,n do cn[#cn+1]=al[d] end eS=math.max(eS,n)
while aG>0 and#cn>0 do local dO=cn[#cn] local cQ=math.min(aG,dO.A) dO.A,aG=dO.A-cQ,aG-cQ ab.aC=ab.aC or cQ>0
if dO.A==0 then cn[#cn]=nil end end ee=ee or ab.aC end end if not ee then return end local an,fb={'R:'},0
for I,aV in ipairs(al)do if aV.A>0 then fb=fb+aV.A an[#an+1]=cy(aV.ms,er(fb)) end end a.aB,a.S=true,a.b
a.b=#an>1 and gc(a,table.concat(an))or nil a.bh=not a.b end local function cu(a,aJ,aN) local aR=aJ.m or 0
if aJ.p<=a.now_ms then return'keep' elseif aN<aR then return aD(a,aJ.v,aR-aN) end return aC(a,aJ.v,aN-aR) end return{
G='ROLLING', y=' COST PARTIAL ALWAYS RESERVE RESERVATION ', Q=dg, D=az, I=at, B=T, M=bp, p=bH, aU=hn, refund=aD, ad=aC,
aG=cu, } elseif J=='LEASE'then local function em(ai) return ai<2^64 and math.max(0,math.ceil(ai))or(1/0) end
local function fw(a,aw) local ai=a.c>0 and w('ZSCORE',a.f,aw) local D=ai and em(tonumber(ai))
return D and D>a.now_ms and D or nil end local function dg(a,cr) eB(a,'-inf',a.now_ms,cr) a.h=a.ID and fw(a,a.ID)
a.aF=a.h and a.c-1 or a.c end local function el(a,d) local ai=ds(a.f,d+a.ar) return ai and em(ai)or(1/0) end
local function fx(a,d) local D=el(a,d) return a.h and D>=a.h and el(a,d+1)or D end local function hd(a,d,eM)
if d<a.aF then local D=fx(a,d) if D<=eM then return D end end return d>0 and math.max(fx(a,d-1),eM)or eM end
local function df(a,d) local D=a.aa and hd(a,d,a.aa)or el(a,d) return D~=(1/0)and D or nil end local function at(a,t,j)
a.aa=t=='charge'and j.aa or nil a.au=a.aa and a.aF+1 or a.c a.remaining=math.max(0,a.limit-a.au) end
local function T(a,c) return gp(a,c,a.au,df,nil) end local function az(a) local q,H,bO,fX=a.now_ms,a.limit,a.h,a.aF
local z=H>0 and(bO~=nil or fX<H) local D=q+a.a a.allowed,a.count,a.d=z,fX,'keep' if z and bO~=D then
a.d,a.j='charge',{aa=D} end if z then a.ttl=av(ag(W(E(D,1000),a.r),1000000)) else at(a,'keep') a.ttl=cb(a,1) end end
local function dD(g,n,O) if n>=(2^53)or O~=n then w('PEXPIREAT',g,n<2^63 and B('%.0f',n)or'9223372036854775807') end end
local function dI(g) local ai=ds(g,-1) return ai and em(ai) end local function hK(g,D,dd,q) local O=br(g,q)
gf(g,B('%.0f',D),dd) dD(g,dI(g),O) end local function bp(a,t,j) local g,q=a.f,a.now_ms if t=='delete'then w('UNLINK',g)
elseif t=='keep'then if a.c>0 then dD(g,dI(g),br(g,q)) end elseif a.ID then local O=a.al and br(g,q)or nil if a.h then
w('ZADD',g,'XX',B('%.0f',j.aa),a.ID) else w('ZADD',g,B('%.0f',j.aa),a.ID) end dD(g,a.aF+a.ar==0 and j.aa or dI(g),O) end
end local function iM(a) return a.h and 0 or 1 end local function fD(a,bi) eB(a,'-inf',a.now_ms,'write') local O={}
for I,aw in ipairs(bi)do O[#O+1]=fw(a,aw)and aw end return O end local function im(a,bi)
local io=cz({'ZREM',a.f},fD(a,bi)) local n=a.c>0 and dI(a.f) if n then dD(a.f,n,br(a.f,a.now_ms)) end return io end
local function iq(a,bi) local dd=fD(a,bi) if#dd>0 then hK(a.f,a.now_ms+a.a,dd,a.now_ms) end return#dd end return{
G='LEASE', y=' ID ', no_correction='LEASE_CORRECTION', aZ='concurrent-requests', ba=iM, Q=dg, D=az, I=at, B=T, M=bp,
release=im, renew=iq, } elseif J=='LOCKOUT'then local function cq(a) local eb=a.BLOCK or a.a
local fM=a.MAX or math.max(eb,86400000) if fM<eb then U('MAX_BELOW_BLOCK') end a.aR,a.aD=eb,fM end local function bI(f)
local aO,Y,n,cH,i=dW(f,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not aO or not Y or not n or not cH or#i>2 or i+0>64 then
return nil elseif G(n,Y)or G(1e15,cH)then return nil elseif aO-aO~=0 or n-n~=0 then if bj(aO)or bj(E(n,1000))then
return nil end U('INEXACT_STATE') end return{ag=aO,ae=Y,P=n,J=cH,ab=i+0} end local function bJ(s)
local Y,n=S(s.ae),S(s.P) return B('O:%s:%s:%s:%s:%d',S(s.ag),Y,n,S(s.J),s.ab) end local function cF(a,s)
local q=a.now_ms if not s or s.P<=q then return s end local Y=math.min(s.ae,q) return{ag=s.ag,ae=Y,P=q,J=s.J,ab=s.ab}
end local function fF(a,s) return s and a.now_ms<s.P+s.J end local function by(a,s)
local D=s and(s.J>0 and s.P+s.J or s.ae+a.a) if D and a.now_ms<D and s.ag>0 then return s.ag,s.ae end return 0,a.now_ms
end local function fJ(a,s) if s.J==0 then return s.ab end local fa,aQ=0,a.aR while aQ<a.aD do fa,aQ=fa+1,2*aQ end
return math.min(s.ab+1,fa) end local function fK(a,s) local ij=math.max(0,a.now_ms-s.P-s.J)
return math.max(0,fJ(a,s)-(aU(ij,a.aD))) end local function y(a,s) local e=M(s.P+s.J,E(fJ(a,s),a.aD)) if e-e~=0 then
return bk(e,ag(cv,1000)) end return math.max(e,s.ae+a.a) end local function aX(a,s) local aO,Y=by(a,s) if fF(a,s)then
a.i,a.remaining=s.P+s.J,0 else a.i,a.remaining=Y+a.a,math.max(0,a.limit-aO) end end local function at(a,I,s)
aX(a,cF(a,s)) end local function T(a,c) local H,fB=a.limit,a.remaining if c>H or H==0 then return nil
elseif c<=fB and fB>0 then return 0 end return a.i-a.now_ms end local function az(a,c)
local q,H,s=a.now_ms,a.limit,cF(a,a.b) local aO,Y=by(a,s) local j=aO+(c==0 and 1 or c) local z=not fF(a,s)and j<=H
a.allowed,a.count,a.d=z,aO,'keep' if z and c>0 then local i,cH=s and fK(a,s)or 0,0 if j==H then
cH=math.min(a.aR*2^i,a.aD) end s={ag=j,ae=Y,P=q,J=cH,ab=i} a.d,a.j='charge',s elseif s~=a.b and G(q,y(a,s))then
a.d,a.j='rebase',s end aX(a,s) if z then a.ttl=bc(T(a,H)) else a.ttl=cb(a,c) end end local function bp(a,t,j)
if t=='delete'then w('UNLINK',a.f) elseif t~='keep'then w('SET',a.f,bJ(j),'PXAT',S(y(a,j))) end end
local function et(I,t,j) if t=='rebase'then return'keep' end return t,j end local function aD(a,C,c) local s=cF(a,a.b)
local aO,Y=by(a,s) if aO==0 or c==0 or C and G(C,Y)then return'keep' end aO=math.max(0,aO-c)
local ba={ag=aO,ae=Y,P=s.P,J=0,ab=s.ab} if by(a,ba)==0 and fK(a,ba)==0 then return'delete' end return'refund',ba end
return{ G='LOCKOUT', y=' COST BLOCK MAX ', no_correction='NO_SETTLEMENT', ax=cq, ap=bI, Q=dh, D=az, I=at, B=T, M=bp,
aK=et, refund=aD, } end end local function gI(J) J=J:upper() local k=dX[J] if not k then k=gH(J)or U('ALGORITHM')
dX[J]=k end return k end local function he(dq) if type(dq)=='table'then return dq elseif bs(dq,'^%u+ ')then
return redis.error_reply(dq) end error(dq,0) end local function gy(h,l) h,l=ch(h),ch(l) local bF,bS={},0
for d=1,math.max(#h,#l)+1 do local bq=(h[d]or 0)+(l[d]or 0)+bS bS=bq>=(2^24)and 1 or 0 bF[d]=bq-bS*(2^24) end
return dc(bF) end local ff={FULL=true,LINE=true,HEADERS=true} local function fZ(bN,f,fH)
local x=f and ci(f,'9223372036854775807') local d=x and cC(x) if not d or d==0 and fH>0 then
aZ(B('ERR invalid %s: expected an integer from %d to 9223372036854775807',bN,fH)) elseif d-d~=0 then
aZ(B('ERR invalid %s: the Lua library takes integers up to 9007199254740991',bN)) end return d end local fh={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function hw(J,X) local F,n=0,0
local gh,hG=math.min(#J,#X),math.max(#J,#X) while F<gh and J:byte(F+1)==X:byte(F+1)do F=F+1 end
while n<gh-F and J:byte(-1-n)==X:byte(-1-n)do n=n+1 end return F+n>=2 and hG-F-n<=2 end local function hh(a,bA,J)
local co={} for I,bb in ipairs(fh)do if bV(bA,bb[1])and gj(a,bb[1])then co[#co+1]=bb[2] end end
for I,bt in ipairs({'FULL','LINE','HEADERS'})do co[#co+1]=bt end for I,X in ipairs(co)do
if hw(J:upper(),bB(X,'^%u+'))then aZ('ERR syntax error: no such option, but there is '..X) end end
local n=table.remove(co) local iO=table.concat(co,', ')
aZ('ERR syntax error: after limit come '..iO..' or '..n..', each at most once') end local function fU(bt,fT) if bt then
U(bt==fT and'FORM_TWICE'or'TWO_FORMS') end return fT end local function it(bb,a,bA) local X,k=bb[1],a.k
if not bV(bA,X)then aZ(B('ERR invalid %s: only %s it',X,bb[3])) elseif not gj(a,X)then
aZ(B('ERR invalid %s: %s takes none',X,k.G)) elseif a[X]~=nil then
aZ(B('ERR syntax error: %s comes at most once',bb[2])) end end local function eQ(f) local am,aS=bB(f,'^(%d+)(%l*)$')
local dr=am and gg(aS) local ac=dr and ci(am,'18446744073709551615')and am*dr
return ac and ac>=1 and ac<=1e15 and ac or nil end local function eP(f,ar) return f and#f>=1 and#f<=ar and f end
local function id(X,f,dQ) if X=='RESERVE'then local be=dQ and eQ(dQ)
return eP(f,128)and be and{id=f,ttl=be}or U('RESERVE') elseif X=='RESERVATION'then return eP(f,128)or U('RESERVATION')
end if X=='BLOCK'or X=='MAX'then
local iJ='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return f and eQ(f)or aZ('ERR invalid '..X..': '..iJ) end if X=='ID'then return eP(f,512)or U('ID') end
if X=='ANCHOR'then local x=f and ci(f,'253402300799') return x and x+0 or U('ANCHOR') end if X=='AS'then
return f and#f>=1 and#f<=64 and not bs(f,'[^%w._-]')and f or U('AS') elseif X=='AT'then
local x=f and ci(f,'9223372036854775807') return x and bk(cC(x),(aU(cv,1000)))or U('AT') end
return fZ(X,f,X=='BURST'and 1 or 0) end local function ir(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
U(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
U(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local function ib(a,aq,e,bA) while aq[e]do
local J,bb=aq[e]:upper(),nil for I,cF in ipairs(fh)do bb=cF[1]==J and cF or bb end if bb then it(bb,a,bA)
if bb[2]==J then a[J]=true e=e+1 else a[J]=id(J,aq[e+1],aq[e+2]) e=e+(J=='RESERVE'and 3 or 2) end ir(a)
elseif ff[J]and bV(bA,'form')then a.form=fU(a.form,J) e=e+1 else return e end end return e end
local gv={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function iS(a,f) local k=a.k
local p=eQ(f) if not p then a.F=f:upper() p=gv[a.F] if not p then U(bV(k.y,'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not bV(k.y,'ANCHOR')then aZ(B('ERR invalid window: %s takes no windows of the calendar',k.G)) end end return p
end local function hJ(a) local k=a.k if not k.bf then return 0 elseif a.l<a.m then return a.PARTIAL and a.l or 0 end
return a.m end local function is(ad,f) if ad>1000 then U(f) end end local function hr(g)
return g:sub(-9)==':reserved'or g:sub(-14)==':reserved:ends' end local function iu(g) if hr(g)then U('RESERVED_KEY') end
end local function iH(a,aW,e,g) local k=a.k local dG,D=aW[e]or'',aW[e+1] local bN=(k.aW and k.aW(a)or'')..':reserved'
if(dG~=g..bN and dG~='{'..g..'}'..bN)or D~=dG..':ends'then U('KEYS') end a.aV,a.N=dG,D return e+2 end
local function gU(a) local k=a.k local c=a.m k.D(a,0) local t,j=k.ad(a,nil,c) if c>0 then a.d,a.j=t,j end
local s=cM(a.d,a.j,a.b) k.I(a,a.d,s) a.allowed=a.l>0 and k.B(a,0)==0 a.K=a.l>0 and c or di(c) if k.bc then
a.count,a.ttl=k.bc(s,a.now_ms) elseif a.allowed then a.ttl=bc(av(k.B(a,a.l))) else local T=k.B(a,a.K)
a.ttl=T and math.max(1,bc(av(T)))or-1 end end local function gV(a) local k=a.k local c=a.m if a.PARTIAL then
c=math.min(c,ge(a)) end a.W=c if a.ALWAYS then gU(a) else k.D(a,c) end end local function cI(f)
local x=ci(f,'9223372036854775807')or U('FOREIGN_RESERVATION') local d=cC(x) return d-d==0 and d or U('INEXACT_STATE')
end local function cX(f) local c,gL,cZ,bH,be=bB(f,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not c or#be>16 or tonumber(be)>1e15 or be=='0'then U('FOREIGN_RESERVATION') end return{ m=c~=''and cI(c)or nil,
v=cI(gL), i=cI(cZ), p=cI(bH), ttl=cI(be), } end local function eV(b,aK) b.H,b.ai={},{} for I,ab in ipairs(aK)do
if ab.w.m then b.H[#b.H+1]={id=ab.id,U=ab.w} elseif ab.id~=b.id then b.ai[#b.ai+1]=ab.id end end
cB=math.max(0,cB-#b.H-#b.ai) table.sort(b.H,function(h,l) if h.U.v~=l.U.v then return h.U.v<l.U.v end
return cx(h.id,l.id) end) b.bM=true end local function iy(b) local F=w('ZRANGE',b.N,'0',B('%.0f',cB),'WITHSCORES')
local bi,D,aK,eO={},{},{},false b.ac=nil for d=1,#F,2 do local cZ=tonumber(F[d+1]) if cZ>b.now_ms or#bi==cB then b.ac=cZ
break end bi[#bi+1],D[#D+1]=F[d],cZ end local bn=#bi>0 and w('HMGET',b.f,unpack(bi))or{} for d,aw in ipairs(bi)do
local aL=bn[d]and cX(bn[d]) if not aL or aL.i~=D[d]then return false end aK[d]={id=aw,w=aL} eO=eO or aw==b.id end
if b.h and b.h.i<=b.now_ms and not eO then aK[#aK+1]={id=b.id,w=b.h} end eV(b,aK) local eN=0 for I,Z in ipairs(b.H)do
eN=Z.id==b.id and 1 or eN end local hZ=#b.H+#b.ai-eN b.K=b.c-(b.S and 1 or 0)==hZ and 0 or nil return true end
local function fP(aL) return aL.m and math.max(aL.i+aL.ttl,aL.p)or aL.i end local function ix(b) local Z,cO,bO={},{},nil
local ea=w('HGETALL',b.f) for d=1,#ea,2 do local aw=ea[d] if aw~=''then local ab={id=aw,w=cX(ea[d+1])}
if ab.w.i<=b.now_ms then Z[#Z+1]=ab elseif aw~=b.id then cO[#cO+1]=ab end end end if#Z>cB then
table.sort(Z,function(h,l) if h.w.i~=l.w.i then return h.w.i<l.w.i end return cx(h.id,l.id) end) for d=#Z,cB+1,-1 do
local ab=table.remove(Z,d) if ab.id==b.id then bO=ab else cO[#cO+1]=ab end end Z[#Z+1]=bO end b.ac,b.K,b.aw=nil,0,cO
for I,ab in ipairs(cO)do b.ac=math.min(b.ac or ab.w.i,ab.w.i) b.K=math.max(b.K,fP(ab.w)) end eV(b,Z) end
local function gB(b,ar) local ca=b.ah==1 and w('ZSCORE',b.N,'') b.bt=ca and true or false b.ac=nil if ar>0 then
local aK=w('HSCAN',b.f,ca and S(-1-tonumber(ca))or'0','COUNT',S(ar)) b.av,b.az,b.aw=tonumber(aK[1]),not ca,{}
for d=1,#aK[2],2 do local aw=aK[2][d] if aw~=''and aw~=b.id then b.aw[#b.aw+1]={id=aw,w=cX(aK[2][d+1])}
elseif aw~=''then cX(aK[2][d+1]) end end table.sort(b.aw,function(h,l) return cx(h.id,l.id) end) b.ao=b.av==0 end
if b.h and b.h.i<=b.now_ms then eV(b,{{id=b.id,w=b.h}}) b.K=b.c==1 and 0 or nil end end local function hF(a,aw)
local g=a.aV local aK=w('HMGET',g,aw,'') local b={f=g,N=a.N,id=aw,now_ms=a.now_ms,H={},ai={}}
b.S=aK[1]and cX(aK[1])or nil b.h=b.S b.ah=aK[2]and cI(aK[2])or nil b.c=w('HLEN',g)-(b.ah and 1 or 0) b.e=br(g,b.now_ms)
b.aN=w('ZCARD',b.N) b.ac=ds(b.N,0) local hW=b.c==b.aN and(b.ah==0 or b.c==0 and not b.ah)
local hi=math.min(b.ac or math.huge,b.h and b.h.i or math.huge) b.ao=hW and(hi>b.now_ms or iy(b)) if not b.ao then
local bT=b.c+(b.ah and 1 or 0) local ar=bT<=dT and bT or math.min(dT,500) dT=dT-ar if ar==bT then b.ao,b.az=true,true
ix(b) else gB(b,ar) end end return b end local function hE(a) local k=a.k a.aJ=hF(a,a.RESERVE.id) k.Q(a,'write') gX(a)
end local function fW(b,c,be,bH) local q=b.now_ms b.h={m=c,v=q,i=q+be,p=bH,ttl=be} end local function ii(b,dP,be)
if dP.i<b.now_ms+be then fW(b,dP.m,be,dP.p) b.h.v=dP.v end end local function hV(a) local db=not a.am if a.PARTIAL then
db=a.W>0 and not a.as end return not a.Y and a.allowed and db end local function gP(a,t,j) local k=a.k if a.aB then
j=cM(t,j,a.b) a.b=a.S if not j then t=a.S and'delete'or'keep' elseif t~='charge'then t='refund' end end k.M(a,t,j) end
local function fu(aL) local aq={aL.m and S(aL.m)or''} for d,af in ipairs({aL.v,aL.i,aL.p,aL.ttl})do aq[d+1]=S(af) end
return table.concat(aq,':') end local function gO(b) local Q,I,ae=fY(b) if Q==0 and not b.h then if b.c>0 or b.ah then
w('UNLINK',b.f) end if b.aN>0 then w('UNLINK',b.N) end return end local bT,ad,aE={},{},{} local function ct(cG,F,dQ)
cG[#cG+1]=F cG[#cG+1]=dQ end for I,aw in ipairs(b.ai)do aE[#aE+1]=aw end for I,ab in ipairs(b.aw or{})do
ct(ad,S(ab.w.i),ab.id) end for I,Z in ipairs(b.H)do local bY=Z.id~=b.id and eE(Z,b.now_ms) if bY then ct(bT,Z.id,fu(bY))
ct(ad,S(bY.i),Z.id) elseif Z.id~=b.id then aE[#aE+1]=Z.id end end if b.h and b.h~=b.S then ct(bT,b.id,fu(b.h))
elseif not b.h and b.S then aE[#aE+1]=b.id end if b.h then ae=math.max(ae,fP(b.h)) local hq=not b.S or b.h.i~=b.S.i
if b.az or b.bt or b.ao and hq then ct(ad,S(b.h.i),b.id) end end local fO=b.ao and 0 or 1 if b.ah~=fO then
ct(bT,'',S(fO)) end cz({'HSET',b.f},bT) cz({'HDEL',b.f},aE) if b.av and b.av>0 then ct(ad,'-'..S(b.av+1),'') end
if b.az and b.aN>0 then w('UNLINK',b.N) end cz({'ZADD',b.N},ad) if b.av==0 then aE[#aE+1]='' end cz({'ZREM',b.N},aE)
local O,aP,y=b.e,ae+5000,nil local iN=not O and not b.K and b.c>0 if not iN and(not O or O<ae or(b.K and O>aP))then y=aP
end bE(b.f,y) if y or b.az and O then bE(b.N,y or O) end end local function gR(a,z) local k=a.k
if not z and a.d=='charge'then a.d,a.j='keep',nil end if a.SHADOW and k.aK then a.d,a.j=k.aK(a,a.d,a.j) end local b=a.aJ
if b and z and a.Y then ii(b,a.Y,a.RESERVE.ttl) elseif b and z and hV(a)then local j=cM(a.d,a.j,a.b)
fW(b,a.W,a.RESERVE.ttl,k.p(a,j)) end gP(a,a.d,a.j) if b then gO(b) end end local function ie(a)
return a.Y and a.Y.m or a.am and a.m or a.W end local function hl(a,aB) local bm,iw,bD,eU,hb=dE(a) return{
'allowed',fA(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.l, 'remaining',bm, 'retry_after_ms',iw, 'next_ms',bD,
'reset_ms',eU, 'delay_ms',hb, 'now_ms',a.now_ms, 'shadow',a.am and 1 or 0, 'charged',aB, } end local function hN(ah)
local cQ={} for I,a in ipairs(ah)do local k=a.k local F,am=a.AS or k.G:lower(),2 a.aj=F while cQ[a.aj]do
a.aj=B('%s-%d',F,am) am=am+1 end cQ[a.aj]=true end end local function cD(d) return B('%.0f',bk(d,999999999999999)) end
local function ih(a) local k=a.k if k.aZ then local ik,ap=cD(a.limit),cD(bc(a.a))
return B('"%s";q=%s;w=%s;qu="%s"',a.aj,ik,ap,k.aZ) end local p=k.bd and k.bd(a)or a.a local eh,K=1000,p%1000
while K>0 do eh,K=K,eh%K end local dV=1000/eh local ap=aU(E(p,dV),1000)
return B('"%s";q=%s;w=%s',a.aj,cD(E(a.limit,dV)),cD(ap)) end local function hy(ab,cJ) if ab.allowed~=cJ.allowed then
return not ab.allowed end local T,eL=ab.retry_after_ms,cJ.retry_after_ms if T~=eL then return T<0 or(eL>=0 and T>eL) end
return ab.remaining<cJ.remaining end local function hs(ah) local eX,gb=ah[1],{} hN(ah) for d,a in ipairs(ah)do
gb[d]=ih(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=dE(a) if hy(a,eX)then eX=a end end local a=eX local bn={
'X-RateLimit-Limit', B('%.0f',a.l), 'X-RateLimit-Remaining', B('%.0f',a.remaining), } local function dH(bN,af)
bn[#bn+1]=bN bn[#bn+1]=af end if a.reset_ms>=0 then dH('X-RateLimit-Reset',B('%.0f',bc(a.now_ms+a.reset_ms))) end
dH('RateLimit-Policy',table.concat(gb,', ')) local hI=a.next_ms>=0 and';t='..cD(bc(a.next_ms))or''
dH('RateLimit',B('"%s";r=%s%s',a.aj,cD(a.remaining),hI)) if not a.allowed and a.retry_after_ms>=0 then
dH('Retry-After',B('%.0f',bc(a.retry_after_ms))) end return bn end
dY={FORMS=ff,be=gy,bi=fm,bj=gI,bk=gR,bl=fq,bo=gV,bq=ft,error_reply=he,z=U,aT=aZ,bs=hh,E=hl,bu=hs,bv=bV,bw=hE,bz=hJ,bA=fS,bB=fU,bD=fZ,bE=ib,aY=ie,bG=is,bH=iu,bI=iH,bL=iS}
end return dY end local ei,bQ=pcall(iA,KEYS,ARGV) return ei and bQ or N().error_reply(bQ)
