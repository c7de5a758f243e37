-- RL.MULTI, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local dZ,N local br,D,bA,bO=string.find,string.format,string.match,string.sub local function eK(am,gA)
local ei,bP=pcall(gA) if ei then return bP end local f=type(bP)=='table'and bP.err or bP
if type(bP)=='table'or br(f,'^%u+ ')then N().aV((f:gsub(' ',D(' limit %d: ',am),1))) end error(bP,0) end local dY={}
local function iE(J) return dY[J]or N().bl(J) end local function gj(aT) return aT==''and 1000 or aT=='ms'and 1
or aT=='s'and 1000 or aT=='m'and 60000 or aT=='h'and 3600000 or aT=='d'and 86400000 or nil end
local function ig(k,aq,e,bz) local ap,H,X=aq[e],aq[e+1],aq[e+2] if not H then N().z('ARITY') end local a={ k=k, f='',
r=0, now_ms=0, a=0, n=0, limit=0, l=0, m=1, form=nil, aC=0, b=nil, j=nil, allowed=false, count=0, ttl=0, d='keep',
remaining=0, W=1, } e=e+2 if X=='LINE'and not aq[e+1]and bz~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=X,e+1 elseif X then local af=aq[e+1]or''
local fI=bz==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and aq[e+2]=='LINE'and not aq[e+3]and#af<16
if fI and X=='COST'and k.y~=' ID 'and br(af,'^[1-9]%d*$')then a.form,a.m,e='LINE',af+0,e+3
elseif fI and X=='ID'and k.y==' ID 'and af~=''then a.form,a.ID,e='LINE',af,e+3 else e=N().bG(a,aq,e,bz) a.m=a.COST or 1
end a.V=a.ANCHOR and a.ANCHOR*1000 end local hA=#H<16 and br(H,'^[1-9]%d*$') a.limit=hA and H+0 or N().bF('limit',H,0)
local am,aT=bA(ap,'^([1-9]%d*)(%l*)$') local dt=am and#ap<16 and gj(aT) local p=dt and am*dt
if not p or p<1 or p>1e15 then p=N().bN(a,ap) end a.a,a.n,a.l=p,p<9e12 and p*1000 or N().bC(p,1000),a.BURST or a.limit
if k.ay then k.ay(a) end return a,e end local y=redis.call local function gg(a) local as=y('TIME')
local bt=as[1]*1000000+as[2] a.r,a.now_ms=bt,(bt-bt%1000)/1000 end local function gl(a,aX,e,fe,ex) local k=a.k
local g=aX[e] if k.aI then local bN,cI=k.aI(a),aX[e+1] local aR=#bN if not cI then N().z('KEYS')
elseif bO(g,-aR)~=bN then g=cI if bO(g,-aR)~=bN then a.aS=true end end a.f,g,e=g,bO(g,1,-aR-1),e+2 else if not g then
N().z('KEYS') end a.f,e=g,e+1 end if ex then a.aj=g elseif br(g,':reserved',1,true)then N().bJ(g) end if fe then
e=a.aS and e+2 or N().bK(a,aX,e,g) end return e end local function gC(ah,dS,aX,ck,aq,e)
local J=aq[e]or N().z('FEWER_LIMITS') if N().FORMS[J:upper()]then N().z(aq[e+1]and'AFTER_FORM'or'FEWER_LIMITS') end
local k=iE(J) if not aq[e+2]then N().z('LIMIT_ARITY') end
local a,hT=ig(k,aq,e+1,' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') if k.y==' ID 'and not a.ID then
N().z('ID_MISSING') end if#ah==0 then gg(a) else a.r,a.now_ms=ah[1].r,ah[1].now_ms end ck=gl(a,aX,ck,a.RESERVE)
for I,gv in ipairs({a.f,a.aX})do if dS[gv]then N().z('SAME_KEY') end dS[gv]=true end ah[#ah+1]=a return ck,hT end
local function hj(ah) local bn={D('ERR clock %.0f',ah[1].now_ms)} for I,a in ipairs(ah)do local k=a.k if k.aI then
bn[#bn+1]=N().bk(a) end end N().aV(table.concat(bn,' ')) end local function gZ(a) local k=a.k
if a.PARTIAL or a.ALWAYS then N().bq(a) else local c=a.m a.W=c k.D(a,c) end if a.SHADOW then N().bn(a) end end
local function hG(a) local k=a.k if a.RESERVE then N().by(a) return end k.Q(a,'write') gZ(a) end local function gQ(a)
local k=a.k if a.Y then return a.Y.m end if a.d~='charge'then return 0 elseif a.ALWAYS then return a.W
elseif not a.allowed or(a.an and not a.PARTIAL)then return 0 end if k.bc then return k.bc(a) end return a.W end
local function av(d) if d-d~=0 or d>=(2^53)then N().z('INEXACT_REPLY') end return d end local function M(h,l)
if h-h==0 and l-l==0 and h+l<(2^53)then return h+l end return N().bg(h,l) end local function ag(h,l)
if h-h==0 and l-l==0 then local K=h%l return K==0 and h/l or(h-K)/l+1 end local cK,K=N().bs(h,l)
return K==0 and cK or M(cK,1) end local function dF(a) local k=a.k local t,T=a.d,k.B
k.I(a,t,t=='keep'and a.b or t~='delete'and a.j or nil) local bm,ed,bw,bC,bY=a.remaining,a.l,0,0,0 if not a.allowed then
local c=a.W bw=T(a,a.K or(c==0 and 1 or c))or-1 if a.au and bw>=0 then bw=math.max(bw,a.au) end end if bm<ed then
bC=T(a,bm+1)or-1 bY=bm+1==ed and bC or T(a,ed)or-1 end
if bw-bw~=0 or bC-bC~=0 or bY-bY~=0 or bw>=(2^53)or bY>=(2^53)then N().z('INEXACT_REPLY') end if a.aC~=0 then
return bm,bw,bC,bY,av(ag(a.aC,1000)) end return bm,bw,bC,bY,0 end local function hE(a,aB) local bm,bw,bC,bY,hd=dF(a)
local iG=a.an and 1 or 0 return D( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and N().ba(a)or 1)or 0,a.count,a.ttl,a.l,bm,bw,bC,bY, hd,a.now_ms,iG,aB ) end
local function fC(a) if not a.allowed then return 0 end return a.PARTIAL and N().ba(a)or 1 end local function gV(a,z)
local k=a.k if not z or a.SHADOW or a.RESERVE then N().bm(a,z) else k.M(a,a.d,a.j) end end local function iD(aX,aq)
if not aq[3]then N().z('ARITY') end local ah,dS,ad,ck,e,bs={},{},0,1,1,nil while ck<=#aX do if#ah==64 then
N().z('NUM_LIMITS') end eK(#ah+1,function() ck,e=gC(ah,dS,aX,ck,aq,e) end) ad=ad+N().bB(ah[#ah]) end while aq[e]do
local J=aq[e]:upper() if N().FORMS[J]then bs=N().bD(bs,J) elseif bs then N().z('AFTER_FORM')
elseif N().bx(' FIXED WINDOW SLIDING COUNTER TOKEN LEAKY GCRA ROLLING LEASE LOCKOUT ',J)then N().z('KEYS') else
eK(#ah,function() N().bu(ah[#ah],' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ',J) end) end e=e+1 end
N().bI(ad,'LOG_COST') for I,a in ipairs(ah)do if a.aS then hj(ah) end end local z=true for am,a in ipairs(ah)do
eK(am,function() hG(a) end) z=z and a.allowed end local dA={} for d,a in ipairs(ah)do local aB=z and gQ(a)or 0
if bs=='FULL'then dA[d]=N().E(a,aB) elseif bs=='LINE'then dA[d]=hE(a,aB) else dA[d]={fC(a),a.count,a.ttl} end end
local gG={z and 1 or 0,dA,bs=='HEADERS'and N().bw(ah)or nil} for I,a in ipairs(ah)do gV(a,z) end return gG end
function N() if not dZ then local V={}
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
..'COUNTER, TOKEN, LEAKY or GCRA for more' local function fK(h,l) local fj,gI=h-h==0,l-l==0 if fj or gI then return fj
elseif#h~=#l then return#h<#l end for d=#h,1,-1 do if h[d]~=l[d]then return h[d]<l[d] end end return false end
local function G(h,l) if h-h==0 and l-l==0 then return h<l end return fK(h,l) end local function fn(d) if d-d==0 then
return d end local bE=0 for ax=#d,1,-1 do bE=bE*(2^24)+d[ax] end return bE end local cT={ __sub=function() return 1 end,
} local function dc(w) local Q=#w while Q>0 and w[Q]==0 do w[Q]=nil Q=Q-1 end
if Q>3 or(Q==3 and w[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(w,cT) end
return(w[1]or 0)+(w[2]or 0)*(2^24)+(w[3]or 0)*(2^24)*(2^24) end local function cg(d) if d-d~=0 then return d end
local w,Q={},0 while d>0 do local bq=d%(2^24) Q=Q+1 w[Q]=bq d=(d-bq)/(2^24) end return w end local function iI(h,l)
if not fK(l,h)then return 0 end l=cg(l) local fu,ec={},0 for d=1,#h do local bq=h[d]-(l[d]or 0)-ec ec=bq<0 and 1 or 0
fu[d]=bq+ec*(2^24) end return dc(fu) end local function W(h,l) if h-h==0 and l-l==0 then return h>l and h-l or 0 end
return iI(h,l) end local function fT(h,l) h,l=cg(h),cg(l) local dr={} for d=1,#h+#l do dr[d]=0 end for d=1,#h do
local bR=0 for eC=1,#l do local bq=dr[d+eC-1]+h[d]*l[eC]+bR bR=math.floor(bq/(2^24)) dr[d+eC-1]=bq-bR*(2^24) end
dr[d+#l]=bR end return dc(dr) end local function E(h,l) if h-h==0 and l-l==0 and h*l<(2^53)then return h*l end
return fT(h,l) end local function fv(h,l) local cK=0 while not G(h,l)do
local o=math.max(1,math.floor(fn(h)/fn(l)*(1-2^-45))) o=dc(cg(o)) cK=M(cK,o) h=W(h,E(o,l)) end return cK,h end
local function aV(h,l) if h-h==0 and l-l==0 then local K=h%l return(h-K)/l,K end return fv(h,l) end local function iL(d)
local eZ='' while d-d~=0 do local K d,K=aV(d,10000000) eZ=D('%07.0f',K)..eZ end return D('%.0f',d)..eZ end
local function S(d) if d-d~=0 then return iL(d) end return D('%.0f',d) end local function ba(f) error({err=f},0) end
local function U(bM) ba(V[bM]) end local function bD(g,B) if B then y('PEXPIREAT',g,S(B)) end end local function dk(c)
return c==0 and 1 or c end local function bV(cF,J) return not br(J,' ',1,true)and br(cF,' '..J..' ',1,true)~=nil end
local function gm(a,X) local k=a.k
return not bV(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',X)or bV(k.y,X) end
local function cw(h,l) for e=1,math.min(#h,#l)do local gw,gx=h:byte(e),l:byte(e) if gw~=gx then return gw<gx end end
return#h<#l end local function ch(f,ar) if f~='0'and not br(f,'^[1-9]%d*$')then return nil end
return(#f<#ar or(#f==#ar and not cw(ar,f)))and f or nil end local function eo(f,J,id)
local iW={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local ff=iW[bA(f,'^(%u):')] if not ff or ff==J then
U(id) end ba('ERR the key holds a state of '..ff..': use another key for each algorithm') end local function cB(w)
if#w<=15 or(#w==16 and cw(w,'9007199254740992'))then return w+0 end local es=#w%7 local d=es>0 and w:sub(1,es)+0 or 0
for e=es+1,#w,7 do d=M(E(d,10000000),w:sub(e,e+6)+0) end return d end local function iS(f)
local iH,w=bA(f,'^(%-?)(%d+)$') local eJ=iH=='-' w=w and ch(w,eJ and'9223372036854775808'or'9223372036854775807')
if not w or(eJ and w=='0')then eo(f,nil,'NOT_A_COUNTER') end local af=cB(w) if af-af~=0 then U('INEXACT_STATE') end
return eJ and-af or af end local function fB(g,q) local aG=y('PTTL',g) return aG>=0 and q+aG or nil end
local function fN(a) local g=a.f local f=y('GET',g) if f then local af=#f<16 and br(f,'^[1-9]%d*$')and f+0 or iS(f)
local x=redis.REDIS_VERSION_NUM and y('PEXPIRETIME',g)or fB(g,a.now_ms)or-1 if x<0 then x=nil elseif x>=(2^53)then
U('INEXACT_STATE') end a.b={g=af,e=x} end end local function cM(t,j,v) if t=='keep'then return v end
return t~='delete'and j or nil end local function eF(Z,q) local cb=Z.U if q>=cb.i+cb.ttl then return nil end return{
v=cb.v, i=cb.i+cb.ttl, p=(Z.aE or cb.m==0)and cb.p or 0, ttl=cb.ttl, } end local function hr(a) local b=a.aJ local k=a.k
if k.aW then k.aW(a,b.H) else for I,Z in ipairs(b.H)do if Z.U.m>0 and b.now_ms<Z.U.p then local t,j=k.aH(a,Z.U,0)
if t~='keep'then if not a.aD then a.aD,a.S=true,a.b end Z.aE=true a.b=cM(t,j,a.b) end end end end
if b.h and b.h.i<=b.now_ms then b.h=nil for I,Z in ipairs(b.H)do if Z.id==b.id then b.h=eF(Z,b.now_ms) end end end end
local function hX(b) return b.h and b.h.m and b.h or nil end local function gb(b)
local Q,cY,ae=b.c-(b.S and 1 or 0)-#b.ai,b.ac,b.K or 0 for I,Z in ipairs(b.H)do local bX=Z.id~=b.id and eF(Z,b.now_ms)
if bX then cY=math.min(cY or bX.i,bX.i) ae=math.max(ae,bX.i) elseif Z.id~=b.id then Q=Q-1 end end return Q,cY,ae end
local function hp(b) local Q,cY=gb(b) if b.h or Q<100000 then return nil end return math.max(1,(cY or 0)-b.now_ms) end
local function gh(a) local k=a.k k.I(a,'keep',a.b) return a.remaining end local function bd(ab) local K=ab%1000
return ab<0 and-1 or K==0 and ab/1000 or(ab-K)/1000+1 end local function fs(a) local k=a.k
local hW=a.PARTIAL and a.W<a.m a.an=a.SHADOW and not a.Y and(hW or not a.allowed) if not a.allowed and(a.an or a.Y)then
a.allowed=true if not k.aR then local I,I,I,eV=dF(a) a.ttl=bd(eV) end end end local function ha(a) local k=a.k
local c,b=a.m,a.aJ hr(a) a.Y,a.au=hX(b),hp(b) if a.Y then c=0 elseif a.PARTIAL then c=math.min(c,gh(a)) end
local ft=k.br or k.D ft(a,c) if a.au and a.allowed then ft(a,0) a.allowed,a.K=false,dk(c) if not k.aR then
a.ttl=bd(a.au) end end a.W=c fs(a) end local function ca(a,c) local k=a.k local T=k.B(a,c==0 and 1 or c)
T=T and bd(av(T))or-1 return T==0 and 1 or T end local en,cA,dU,dM=4000,1000,1000,2*500 local function is(g,dj,n,ad,ar)
local bi=y('ZCOUNT',g,dj,n) local aE=math.min(bi,ar) if aE>0 then local F=dj=='0'and y('ZCOUNT',g,'-inf','(0')or 0
y('ZREMRANGEBYRANK',g,D('%.0f',F),D('%.0f',F+aE-1)) ad,bi,en=ad-aE,bi-aE,ar-aE end return ad,bi end
local function eB(a,dj,dv,cq) local g=a.f local ad,bi=y('ZCARD',g),0 if ad>0 and dv>=0 and cq~='delete'then
local n=D('%.0f',dv) local ar=cq=='read'and 0 or en if ad<=ar then local aE=y('ZREMRANGEBYSCORE',g,dj,n)
ad,en=ad-aE,ar-aE else ad,bi=is(g,dj,n,ad,ar) end end a.c,a.al,a.as=ad-bi,bi,ad>0 end local function cL(g,aL)
aL=D('%.0f',aL) local ai=y('ZRANGE',g,aL,aL,'WITHSCORES')[2] return ai and tonumber(ai) end local function bS(g,q)
if not redis.REDIS_VERSION_NUM then return fB(g,q) end local e=y('PEXPIRETIME',g) return e>=0 and e or nil end
local function gs(a,c,aB,dg,ep) local aA=a.limit-c if aA<0 then return nil elseif aB<=aA then return 0 end
local aG=dg(a,aB-aA-1) if ep and(not aG or ep<aG)then aG=ep end
return aG and(aG>=(2^53)and(1/0)or math.max(0,aG-a.now_ms)) end local function dl(a,O) local q,p=a.now_ms,a.a
if O and 2*(O-q)>=3*p then return nil end return q+2*p end local function cy(gH,eE) local bE=0 for F=1,#eE,1000 do
local o={unpack(gH)} for d=F,math.min(F+999,#eE)do o[#o+1]=eE[d] end bE=bE+y(unpack(o)) end return bE end
local function gi(g,ai,ad) local dn={} for I,hL in ipairs(ad)do dn[#dn+1]=ai dn[#dn+1]=hL end cy({'ZADD',g,'XX'},dn) end
local function cJ(w) if#w>1 and w:byte()==48 then return nil
elseif#w<20 or(#w==20 and not cw('18446744073709551615',w))then return cB(w) end end local function dX(f,ij)
local h,l,bg,bh,K=bA(f,ij) if not h then return nil elseif br(f,':0%d')then return nil end local n=#bh<17 and bh+0
return#h<16 and h+0 or cJ(h), #l<16 and l+0 or cJ(l), #bg<16 and bg+0 or cJ(bg), n and n<9e15 and n or cJ(bh), K end
local function ey(ab) return ab and ab-ab==0 and ab>=1 and ab<=1e15 end
local cc=setmetatable({(2^24)-1,(2^24)-1,2^15-1},cT) local function bk(d) return G(cc,d) end local function bl(h,l)
return G(l,h)and l or h end local function fo(a) local k=a.k return k.aI(a)..' '..k.bE(a) end local function hi(a)
ba(D('ERR clock %.0f %s',a.now_ms,fo(a))) end local function bv(a,aX,fe,ex) gg(a) if#aX~=gl(a,aX,1,fe,ex)-1 then
U('KEYS') elseif a.aS then hi(a) end end local function hP(O,hS,ae) if O-O~=0 then U('INEXACT_STATE') end
local bL=W(O,W(hS,ae)) bL=G(bL,ae)and ae or bL return bL~=O and bL or nil end local function da(a,t,j) local k=a.k
local v,eg=a.b,k.aU if t=='keep'and(not v or not eg)then return nil end local O=v and bS(a.f,a.now_ms)
if O and O>=(2^53)then O=dc(cg(O)) end if t=='keep'then local ae=k.e(a,v) return O and G(O,ae)and M(ae,5000)or nil end
local ae=k.e(a,j) local aQ=M(ae,5000) if not v then return aQ elseif not O then return aQ end if eg and t=='rebase'then
return hP(O,k.e(a,v),ae) elseif G(O,ae)then return aQ elseif not G(aQ,O)or(eg and G(M(k.e(a,v),5000),O))then return nil
end return aQ end local function di(a) local f=y('GET',a.f) if f then local k=a.k
a.b=k.aq(f)or eo(f,k.G,'FOREIGN_VALUE') end end local function dB(a,t,j) local g=a.f if t=='delete'then y('UNLINK',g)
return end local k=a.k local x=da(a,t,j) if t=='keep'then bD(g,x) elseif x then
y('SET',g,k.ar(j),'PXAT',x==0 and'1'or S(x)) else y('SET',g,k.ar(j),'KEEPTTL') end end
local cu=setmetatable({(2^24)-1,(2^24)-1,2^16-1},cT) local fh=setmetatable({6553600,11973543,3552},cT)
local gz=setmetatable({9437184,14339741,14210},cT) local fp,gN=string.byte,string.char local function gK(J)
if J=='FIXED'then local function gW(cS,fR) if fR<2 then cS=cS-1 end local hV=(fR+10)%12
local hD=math.floor(cS/4)-math.floor(cS/100)+math.floor(cS/400) return 365*cS+hD+math.floor((153*hV+2)/5)-719468 end
local function dG(d) return gW(math.floor(d/12),d%12) end local function fS(cW)
local bB=1970*12+math.floor(cW/30.436875)+1 while dG(bB)>cW do bB=bB-1 end return bB,cW-dG(bB) end
local function eX(cd,bB) local e=cd.bA+bB local F=dG(e) return(F+math.min(cd.bp,dG(e+1)-F-1))*86400000+cd.bL end
local function gM(bZ,ce,q) local as=ce%86400000 local bB,cW=fS((ce-as)/86400000) local cd={bA=bB,bp=cW,bL=as}
local fm=fS(math.floor(q/86400000))-bB local aQ=fm-fm%bZ local F,n=eX(cd,aQ),eX(cd,aQ+bZ) if F>q then F,n=eX(cd,aQ-bZ),F
end return F,n,n-F end local function eS(a,q) local aT,ce=a.F,a.V if aT=='MONTH'or aT=='YEAR'then
local F,n,aR=gM(aT=='YEAR'and 12 or 1,ce or 0,q) return math.max(0,F),n,aR end ce=ce or(aT=='WEEK'and 4*86400000)or 0
local aR=a.a local fl=(q%aR-ce%aR)%aR return math.max(0,q-fl),q-fl+aR,aR end local function hx(a)
local ap=a.F and a.F:lower()or D('%.0fms',a.a) return':'..ap..(a.V and D(':%.0f',a.V/1000)or'') end
local function fr(a,Y) return D(':%s:%.0f',a.F and a.F:lower()or D('%.0fms',a.a),Y) end local function dq(a)
if a.F or a.V then return eS(a,a.now_ms) end local q,p=a.now_ms,a.a local F=q-q%p return F,F+p end local function iJ(a)
if a.F or a.V then return fr(a,(dq(a))) end local q,p=a.now_ms,a.a local am=(q-q%p)/p
return D(am<2147483648 and':%d'or':%.0f',am) end local function hU(a) local I,n=dq(a) if a.F or a.V then return fr(a,n)
end return':'..S(n/a.a) end local function iU(a) if a.F or a.V then return(select(3,eS(a,a.now_ms))) end return a.a end
local function dO(a) if a.F or a.V then local I,n=eS(a,a.now_ms) return n end return a.now_ms+a.a end
local function gp(x,q) if not x then return-2 end local ab=(x>q and x-q or 0)+500 return(ab-ab%1000)/1000 end
local function az(a,c) local r,q,H=a.b,a.now_ms,a.limit local v,ae=r and r.g or 0,c==0 and 1 or c
local z=ae<=H and v+ae<=H local dD=(z or v>=H)and c>0 local j=dD and v+c or v if j>=(2^53)then U('INEXACT_REPLY') end
local x=r and not(dD and v==0)and r.e or nil if not x and(r or dD)then x=(a.F or a.V)and dO(a)or q+a.a end
a.allowed,a.count,a.ttl,a.d=z,j,gp(x,q),'keep' if dD or(r and not r.e)then a.d,a.j='charge',{g=j,e=x} end end
local function at(a,I,r) local af,H=r and r.g or 0,a.limit a.A=af>0 and af or 0 a.remaining=a.A<H and H-a.A or 0 end
local function T(a,c) local H=a.limit if c>H then return nil elseif a.A+c<=H then return 0 end if a.F or a.V then
local I,n=dq(a) return n-a.now_ms end return a.a-a.now_ms%a.a end local function bp(a,t,j) local g,v=a.f,a.b
if t=='delete'then y('UNLINK',g) elseif t~='keep'then local cz=j.g-(v and v.g or 0) if cz~=0 then
y('INCRBY',g,cz==1 and'1'or D('%.0f',cz)) end if not v or j.e~=v.e then bD(g,j.e) end end end local function iT(r,q)
return r and r.g or 0,gp(r and r.e,q) end local function hb(a,c) local v=a.b and a.b.g or 0
local db=dk(c)<=a.limit and v+dk(c)<=a.limit az(a,db and c or 0) a.allowed,a.K=db,dk(c) end local function fA(a)
local I,n=dq(a) return n end local function fG(a,B) return not B or not G(B,(dq(a))) end local function aD(a,B,c)
local r=a.b if not r or not fG(a,B)then return'keep' end local af=r.g if af>0 and c>0 then
af=math.max(0,math.min(af,a.limit)-c) end if af==r.g and r.e then return'keep' end return'refund',{g=af,e=r.e or dO(a)}
end local function aC(a,B,c) local r=a.b if c==0 or not fG(a,B)then return'keep' end local v=r and r.g or 0
if v+c+1>=(2^53)then U('INEXACT_REPLY') end local O=v~=0 and r.e return'charge',{g=v+c,e=O or dO(a)} end
local function ct(a,aJ,aO) local r,aS=a.b,aJ.m or 0 if aJ.p~=fA(a)then return'keep' elseif aO>=aS then
return aC(a,nil,aO-aS) elseif not r or r.g<=0 then return'keep' end local af=math.max(0,r.g-(aS-aO))
return'refund',{g=af,e=r.e or dO(a)} end return{ G='FIXED', y=' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ',
aR=true, aY=hx, aI=iJ, bE=hU, bf=iU, Q=fN, D=az, I=at, B=T, M=bp, be=iT, br=hb, p=fA, refund=aD, ad=aC, aH=ct, }
elseif J=='WINDOW'then local function bx(a,r) local q=a.now_ms local x=r and r.e if not r then return nil,0
elseif x and x<=q then return nil,0 end local aQ=q+a.a return x and x<aQ and x or aQ,r.g>0 and r.g or 0 end
local function gq(r,C) if C and C~=r.e then return'rebase',{g=r.g,e=C} end return'keep' end local function at(a,I,r)
local C,R=bx(a,r) a.i,a.A,a.remaining=C,R,R<a.limit and a.limit-R or 0 end local function T(a,c) local H=a.limit
if c>H then return nil elseif a.A+c<=H then return 0 end return ag(W(E(a.i,1000),a.r),1000) end local function az(a,c)
local r,H=a.b,a.limit local C,R=bx(a,r) local z=R+(c==0 and 1 or c)<=H a.allowed,a.count=z,av(R) if z and c>0 then
C=C and r.g>=0 and C or a.now_ms+a.a a.d,a.j='charge',{g=R+c,e=C} else a.d,a.j=gq(r,C) end at(a,a.d,cM(a.d,a.j,r))
if z then a.ttl=bd(av(T(a,H))) else a.ttl=ca(a,c) end end local function bp(a,t,j) local g,v=a.f,a.b if t=='delete'then
y('UNLINK',g) elseif t=='keep'then return elseif v and v.e==j.e then local cz=j.g-v.g
y('INCRBY',g,cz==1 and'1'or D('%.0f',cz)) elseif v and v.g==j.g then bD(g,j.e) else y('SET',g,S(j.g),'PXAT',S(j.e)) end
end local function bG(a,r) local x=r and r.e return x and x>a.now_ms and x or a.now_ms+a.a end local function aD(a,B,c)
local r=a.b local C,R=bx(a,r) local hy=C and B and G(M(B,a.a),C) if not C or R==0 or hy or c==0 then return gq(r,C)
elseif c>=R then return'delete' end return'refund',{g=R-c,e=C} end local function aC(a,B,c)
if c==0 or(B and not G(a.now_ms,M(B,a.a)))then return'keep' end local C,R=bx(a,a.b) if R+c>=(2^53)then
U('INEXACT_REPLY') end C=C and a.b.g>=0 and C or a.now_ms+a.a return'charge',{g=R+c,e=C} end local function ct(a,aJ,aO)
local r,aS=a.b,aJ.m or 0 if aJ.p<=a.now_ms then return'keep' elseif aO>=aS then local t,j=aC(a,nil,aO-aS)
if t=='charge'and not bx(a,r)then j.e=math.min(aJ.p,a.now_ms+a.a) end return t,j
elseif not r or r.g<=0 or r.e~=aJ.p then return'keep' end local af=r.g-(aS-aO) if af<=0 then return'delete' end
return'refund',{g=af,e=r.e} end local function et(a,t,j) local r=a.b if t=='rebase'then return'keep'
elseif t=='charge'and r and r.g>=0 and bx(a,r)then return'charge',{g=j.g,e=r.e} end return t,j end return{ G='WINDOW',
y=' COST PARTIAL ALWAYS RESERVE RESERVATION ', Q=fN, D=az, I=at, B=T, M=bp, aK=et, p=bG, refund=aD, ad=aC, aH=ct, }
elseif J=='SLIDING'then local function dh(a,cq) eB(a,'0',a.now_ms-a.a,cq) a.aO,a.av,a.am=nil,nil,nil a.aL=500
if cq=='write'then dM=(dM-dM%2)/2 a.aL=dM end end local function fY(a) a.aO=a.aO or a.as and cL(a.f,0)or 0 return a.aO
end local function fV(a) a.av=a.av or a.as and cL(a.f,-1)or 0 return a.av end local function dd(a)
a.am=a.am or a.as and bS(a.f,a.now_ms)or 0 return a.am end local function az(a,c) local aa=a.c
local z=aa+(c==0 and 1 or c)<=a.limit a.allowed,a.count,a.ttl,a.d=z,aa,bd(a.a),'keep' if z and c>0 then
a.d,a.j='charge',{az=c} elseif not z and fV(a)>a.now_ms then a.d,a.j='rebase',{bM=true} end end local function eD(a,aL)
local ai=aL==0 and fY(a)or aL>=0 and aL<a.c+a.al and cL(a.f,aL) return ai and math.max(0,math.ceil(ai)) end
local function hK(a,aL) local q,fk=a.now_ms,a.aA local e=eD(a,aL) if e and fk>0 and e>q then e=nil end if not e then
local df=eD(a,aL-fk) e=df and df>q and df or q end if a.bH then a.aM=a.aM or y('ZCOUNT',a.f,'-inf',S(q))+a.aL
e=aL<a.aM and math.min(e,q)or e end return e end local function dg(a,d) if d>=a.c+a.aA-a.aN then return nil end
local aL=d+a.aN+a.al if fV(a)>a.now_ms then return hK(a,aL)+a.a end return(aL<a.c+a.al and eD(a,aL)or a.now_ms)+a.a end
local function at(a,t,j) a.aM,a.aA,a.bH=nil,t=='charge'and j.az or 0,t=='rebase' local bm=a.limit-a.c-a.aA
a.remaining,a.aN=bm>0 and bm or 0,0 if fY(a)<0 then a.aN=y('ZCOUNT',a.f,'-inf','(0') end end local function T(a,c)
return gs(a,c,a.c+a.aA,dg,(dl(a,dd(a))or dd(a))+1) end local function gD(a,ab,Q) local g,ai=a.f,D('%.0f',ab)
local d=a.av and a.av<ab and 0 or y('ZCOUNT',g,ai,ai) while Q>1 do local o={} for I=1,math.min(Q,1000)do o[#o+1]=ai
o[#o+1]=D('%s-0.%.0f',ai,d) d=d+1 end Q=Q-y('ZADD',g,'NX',unpack(o)) end while Q>0 do
Q=Q-y('ZADD',g,'NX',ai,ai..'-0.'..S(d)) d=d+1 end end local function gT(a,t,j) local g=a.f if t=='delete'then
y('UNLINK',g) return end local x=dl(a,dd(a)) if j.bM then local ai=D('%.0f',a.now_ms)
gi(g,ai,y('ZRANGEBYSCORE',g,'('..ai,'+inf','LIMIT','0',S(a.aL))) bD(g,x) return end local ad=a.c+a.al
local F,n=ad-j.remove,ad-1 if j.bd then n=y('ZCOUNT',g,'-inf',S(j.bd))-1 F=math.max(0,n+1-j.remove) end
if n<0 or F>0 or n+1<ad then bD(g,x) end if n>=0 then y('ZREMRANGEBYRANK',g,D('%.0f',F),D('%.0f',n)) end end
local function bp(a,t,j) local g=a.f if t=='charge'then local x=dl(a,dd(a)) gD(a,j.bt or a.now_ms,j.az) bD(g,x)
elseif t~='keep'then gT(a,t,j) elseif a.as then bD(g,dl(a,dd(a))) end end local function aD(a,B,c)
local Q=math.min(a.c,c) if Q==0 then return'keep' end return'refund',{remove=Q,bd=B} end local function aC(a,B,c)
if c==0 then return'keep' elseif not B or not G(B,a.now_ms)then return'charge',{az=c} elseif B<=a.now_ms-a.a then
return'keep' end return'charge',{az=c,bt=B} end return{ G='SLIDING', y=' COST PARTIAL ', aR=true, bh=true, Q=dh, D=az,
I=at, B=T, M=bp, refund=aD, ad=aC, } elseif J=='COUNTER'then local function bH(f)
local p,am,ak,ao,K=dX(f,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not ey(p)or not am or not ak or not ao or K~=''then
return nil end local aZ=E(am,p) local Y=E(aZ,1000) if Y-Y~=0 or ak-ak~=0 or ao-ao~=0 then if bk(Y)or bk(ak)or bk(ao)then
return nil end end if aZ==0 and ao~=0 then return nil end return{a=p,x=aZ,current=ak,previous=ao} end
local function bI(A) local p,ak,ao=A.a,A.current,A.previous local am=aV(A.x,p) local hC=am-am~=0 or ak-ak~=0 or ao-ao~=0
if hC then am,ak,ao=S(am),S(ak),S(ao) return'C:'..S(p)..':'..am..':'..ak..':'..ao end
return D('C:%.0f:%.0f:%.0f:%.0f',p,am,ak,ao) end local function x(I,A)
local dW=A.current~=0 and 2 or A.previous~=0 and 1 or 0 return M(A.x,A.a*dW) end local function cN(p,aZ,ak,ao)
return{a=p,x=aZ,current=ak,previous=ao} end local function fX(d) return bl(d,cc) end local function ip(a,ay,aZ)
local p=a.a if G(a.now_ms,ay.x)then return cN(p,aZ,bl(M(ay.current,ay.previous),a.limit),0) end local cV=cN(p,aZ,0,0)
local function bv(Q,fx) if fx>aZ then cV.current=fX(M(cV.current,Q)) elseif fx+p>aZ then
cV.previous=fX(M(cV.previous,Q)) end end bv(ay.current,ay.x+ay.a) bv(ay.previous,ay.x) return cV end
local function dz(a,ay) local q,p=a.now_ms,a.a local aZ=q-q%p if not ay then return cN(p,aZ,0,0)
elseif ay.x==aZ and ay.a==p then return ay end return ip(a,ay,aZ) end local function fd(a,A) local ao=A.previous
return ao==0 and 0 or E(ao,W(a.n,a.r-A.x*1000)) end local function aY(a,A,dV) a.bo=A
a.remaining=W(W(a.limit,A.current),dV==0 and 0 or ag(dV,a.n)) end local function at(a,I,ay) local A=dz(a,ay)
aY(a,A,fd(a,A)) end local function gn(a,aA,Q) return Q==0 and 0 or W(a.n,(aV(E(aA,a.n),Q))) end local function T(a,c)
local aA,A=a.limit-c,a.bo local ak,Y=A.current,E(A.x,1000) if aA<0 then return nil elseif G(aA,ak)then
Y=M(M(Y,a.n),gn(a,aA,ak)) else Y=M(Y,gn(a,aA-ak,A.previous)) end return ag(W(Y,a.r),1000) end local function az(a,c)
local ay,H,ap=a.b,a.limit,a.n local A=dz(a,ay) local ak,ao=A.current,fd(a,A) local ae=E(M(ak,c==0 and 1 or c),ap)
local z=not G(E(H,ap),M(ae,ao)) a.allowed,a.d=z,'keep' a.count=av(ao==0 and ak or M(ak,(aV(ao,ap)))) if z and c>0 then
A=cN(a.a,A.x,M(ak,c),A.previous) a.d,a.j='charge',A elseif ay and H>0 and(G(a.now_ms,ay.x)or ay.a~=a.a)then
if ak~=0 or A.previous~=0 then a.d,a.j='rebase',A end end if z then a.ttl=av(ag(W(E(x(a,A),1000),a.r),1000000)) else
aY(a,A,ao) a.ttl=ca(a,c) end end local function gd(A,B) if not B or not G(B,A.x)then return'current' end
return B+A.a>=A.x and'previous'or nil end local function aD(a,B,c) local A=dz(a,a.b) local bv=gd(A,B)
local hn=bv=='current'and c or 0 local fE=bv=='previous'and c or 0 if not B then fE=W(c,A.current) end
local ak,ao=W(A.current,hn),W(A.previous,fE) if not G(ak,A.current)and not G(ao,A.previous)then return'keep'
elseif ak==0 and ao==0 then return'delete' end return'refund',cN(A.a,A.x,ak,ao) end local function aC(a,B,c)
local A=dz(a,a.b) local bv=gd(A,B) if c==0 or not bv then return'keep' end local aB=cN(A.a,A.x,A.current,A.previous)
aB[bv]=M(aB[bv],c) local dV=M(E(aB.current,a.n),fd(a,aB)) if bk(aB[bv])or G(E(cc,a.n),dV)then U('OVERFLOW') end
return'charge',aB end local function bG(a) return a.now_ms-a.now_ms%a.a+2*a.a end local function ct(a,aJ,aO)
local aS=aJ.m or 0 if aJ.p<=a.now_ms then return'keep' elseif aO<aS then return aD(a,aJ.v,aS-aO) end
return aC(a,aJ.v,aO-aS) end return{ G='COUNTER', y=' COST PARTIAL ALWAYS RESERVE RESERVATION ', aq=bH, ar=bI, e=x,
expiry_after=da, Q=di, D=az, I=at, B=T, M=dB, p=bG, refund=aD, ad=aC, aH=ct, } elseif J=='TOKEN'then
local function dp(a,i) local o,ap,u=i.s,a.n,i.t if i.a~=a.a and o~=0 then o=ag(E(o,ap),E(i.a,1000)) end
u=bl(M(E(u,ap),o),a.E) return i.o==0 and u or M(u,E(i.o,ap)) end local function bu(a,i) if not i then return 0 end
return W(dp(a,i),E(W(a.r,i.at),a.limit)) end local function dm(aH) return bl(aH,cu) end local function eu(aH)
return G(cu,aH) end local function eU(a) if a.limit>0 and G(E(a.limit,fh),a.E)then U('SPAN') end end
local function bQ(a,an) local as=ag(an,a.limit) return as-as==0 and as or dm(as) end local function aY(a,an) a.aQ=an
a.remaining=a.limit==0 and 0 or W(a.l,ag(an,a.n)) end local function at(a,I,i) aY(a,bu(a,i)) end local function T(a,c)
local H,aA=a.limit,a.l-c if H==0 or aA<0 then return nil end local as=ag(W(a.aQ,E(aA,a.n)),H)
if as-as~=0 and eu(M(as,a.r))then return nil end return ag(as,1000) end local function cp(a) a.E=E(a.l,a.n)
if a.E-a.E~=0 then eU(a) end end local function ew(u,o,p,e) local fa=bk(u)or(not G(u,cc)and o~=0)
return fa or bk(e)or not G(o,E(p,1000)) end local function ef(K) local w=bA(K,'^:(%d+)$') local au=w and cJ(w)
return au and au~=0 and not bk(au)and au or nil end local function bH(f)
local u,o,p,e,K=dX(f,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not ey(p)or not u or not o or not e then return nil end
local au=0 if K~=''then au=ef(K) if not au then return nil end end if u-u~=0 or e-e~=0 or o-o~=0 or o>=p*1000 then
if ew(u,o,p,e)then return nil end end return{t=u,s=o,a=p,at=e,o=au} end local function ek(i)
local u,o,p,e=i.t,i.s,i.a,i.at local f='T:'..S(u)..':'..S(o)..':'..S(p)..':'..S(e) return i.o==0 and f or f..':'..S(i.o)
end local function bI(i) local u,o,p,e=i.t,i.s,i.a,i.at if i.o~=0 or u-u~=0 or o-o~=0 or e-e~=0 then return ek(i) end
return D('T:%.0f:%.0f:%.0f:%.0f',u,o,p,e) end local function x(a,i) local e=i.at if a.limit>0 then e=M(e,bQ(a,dp(a,i)))
e=e-e==0 and e or dm(e) end return ag(e,1000) end local function az(a,c) local i,H,ap,bt=a.b,a.limit,a.n,a.r
local v=bu(a,i) local ae=M(v,E(c==0 and 1 or c,ap)) local z=H>0 and not G(a.E,ae) local aU,o=aV(v,ap)
a.allowed,a.count,a.d=z,av(o==0 and aU or M(aU,1)),'keep' if z and c>0 then a.d='charge'
a.j={t=M(aU,c),s=o,a=a.a,at=bt,o=0} a.ttl=av(ag(bQ(a,ae),1000000)) else if i and H>0 and G(bt,i.at)then a.d='rebase'
a.j={t=i.t,s=i.s,a=i.a,at=bt,o=i.o} end if z then a.ttl=av(ag(bQ(a,v),1000000)) else aY(a,v) a.ttl=ca(a,c) end end
a.aC=false and z and bQ(a,v)or 0 end local function aD(a,I,c) local i=a.b if not i or c==0 or bu(a,i)==0 then
return'keep' end local u,o=i.t,i.s if not G(u,a.l)then u,o=a.l,0 end local K=W(c,i.o) if G(u,K)then u,o=0,0 else
u=W(u,K) end local bb= {t=u,s=o,a=i.a,at=i.at,o=W(i.o,c)} if bu(a,bb)==0 then return'delete' end return'refund',bb end
local function aC(a,I,c) if c==0 or a.limit==0 then return'keep' end local an=M(bu(a,a.b),E(c,a.n))
if G(E(cc,a.n),an)then U('OVERFLOW') end local aU,o=aV(an,a.n) local ar=o==0 and a.l or a.l-1
local u,au=bl(aU,ar),W(aU,ar) return'charge',{t=u,s=o,a=a.a,at=a.r,o=au} end return{ G='TOKEN',
y=' COST PARTIAL BURST ALWAYS ', aU=true, delays=false, ay=cp, aq=bH, ar=bI, e=x, expiry_after=da, Q=di, D=az, I=at,
B=T, M=dB, refund=aD, ad=aC, } elseif J=='LEAKY'then local function dp(a,i) local o,ap,u=i.s,a.n,i.t
if i.a~=a.a and o~=0 then o=ag(E(o,ap),E(i.a,1000)) end u=bl(M(E(u,ap),o),a.E) return i.o==0 and u or M(u,E(i.o,ap)) end
local function bu(a,i) if not i then return 0 end return W(dp(a,i),E(W(a.r,i.at),a.limit)) end local function dm(aH)
return bl(aH,cu) end local function eu(aH) return G(cu,aH) end local function eU(a)
if a.limit>0 and G(E(a.limit,fh),a.E)then U('SPAN') end end local function bQ(a,an) local as=ag(an,a.limit)
return as-as==0 and as or dm(as) end local function aY(a,an) a.aQ=an a.remaining=a.limit==0 and 0 or W(a.l,ag(an,a.n))
end local function at(a,I,i) aY(a,bu(a,i)) end local function T(a,c) local H,aA=a.limit,a.l-c if H==0 or aA<0 then
return nil end local as=ag(W(a.aQ,E(aA,a.n)),H) if as-as~=0 and eu(M(as,a.r))then return nil end return ag(as,1000) end
local function cp(a) a.E=E(a.l,a.n) if a.E-a.E~=0 then eU(a) end end local function ew(u,o,p,e)
local fa=bk(u)or(not G(u,cc)and o~=0) return fa or bk(e)or not G(o,E(p,1000)) end local function ef(K)
local w=bA(K,'^:(%d+)$') local au=w and cJ(w) return au and au~=0 and not bk(au)and au or nil end local function bH(f)
local u,o,p,e,K=dX(f,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not ey(p)or not u or not o or not e then return nil end
local au=0 if K~=''then au=ef(K) if not au then return nil end end if u-u~=0 or e-e~=0 or o-o~=0 or o>=p*1000 then
if ew(u,o,p,e)then return nil end end return{t=u,s=o,a=p,at=e,o=au} end local function ek(i)
local u,o,p,e=i.t,i.s,i.a,i.at local f='L:'..S(u)..':'..S(o)..':'..S(p)..':'..S(e) return i.o==0 and f or f..':'..S(i.o)
end local function bI(i) local u,o,p,e=i.t,i.s,i.a,i.at if i.o~=0 or u-u~=0 or o-o~=0 or e-e~=0 then return ek(i) end
return D('L:%.0f:%.0f:%.0f:%.0f',u,o,p,e) end local function x(a,i) local e=i.at if a.limit>0 then e=M(e,bQ(a,dp(a,i)))
e=e-e==0 and e or dm(e) end return ag(e,1000) end local function az(a,c) local i,H,ap,bt=a.b,a.limit,a.n,a.r
local v=bu(a,i) local ae=M(v,E(c==0 and 1 or c,ap)) local z=H>0 and not G(a.E,ae) local aU,o=aV(v,ap)
a.allowed,a.count,a.d=z,av(o==0 and aU or M(aU,1)),'keep' if z and c>0 then a.d='charge'
a.j={t=M(aU,c),s=o,a=a.a,at=bt,o=0} a.ttl=av(ag(bQ(a,ae),1000000)) else if i and H>0 and G(bt,i.at)then a.d='rebase'
a.j={t=i.t,s=i.s,a=i.a,at=bt,o=i.o} end if z then a.ttl=av(ag(bQ(a,v),1000000)) else aY(a,v) a.ttl=ca(a,c) end end
a.aC=true and z and bQ(a,v)or 0 end local function aD(a,I,c) local i=a.b if not i or c==0 or bu(a,i)==0 then
return'keep' end local u,o=i.t,i.s if not G(u,a.l)then u,o=a.l,0 end local K=W(c,i.o) if G(u,K)then u,o=0,0 else
u=W(u,K) end local bb= {t=u,s=o,a=i.a,at=i.at,o=W(i.o,c)} if bu(a,bb)==0 then return'delete' end return'refund',bb end
local function aC(a,I,c) if c==0 or a.limit==0 then return'keep' end local an=M(bu(a,a.b),E(c,a.n))
if G(E(cc,a.n),an)then U('OVERFLOW') end local aU,o=aV(an,a.n) local ar=o==0 and a.l or a.l-1
local u,au=bl(aU,ar),W(aU,ar) return'charge',{t=u,s=o,a=a.a,at=a.r,o=au} end return{ G='LEAKY',
y=' COST PARTIAL BURST ', aU=true, delays=true, ay=cp, aq=bH, ar=bI, e=x, expiry_after=da, Q=di, D=az, I=at, B=T, M=dB,
refund=aD, ad=aC, } elseif J=='GCRA'then local function iy(a) if G(gz,a.af)then U('SPAN') end end local function hc(f)
local w=ch(f,'18446744073709551615') if not w then return nil end return{Z=#w>3 and cB(w:sub(1,-4))or 0,ak=w:sub(-3)+0}
end local function hf(aF) return aF.Z==0 and D('%d',aF.ak)or S(aF.Z)..D('%03d',aF.ak) end local function cp(a)
a.X,a.af=0,0 if a.limit>0 then local gt=E(a.n,1000) if G(gt,a.limit)then U('SPAN') end a.X=ag(gt,a.limit)
a.af=E(a.l,a.X) if a.af-a.af~=0 then iy(a) end end end local function bH(f)
local aH,eI=bA(f,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not aH or aH:byte()>56 then return hc(f) end
return{Z=aH+0,ak=eI+0} end local function bI(aF) local aH=aF.Z if aH-aH~=0 or aH<1000000 then return hf(aF) end
return D('%.0f%03d',aH,aF.ak) end local function x(I,aF) return ag(aF.ak==0 and aF.Z or M(aF.Z,1),1000) end
local function dT(a,aj) local aH,eI=aV(aj,1000) return{Z=M(a.r,aH),ak=eI} end local function dy(a,aF) local aj,go=0,a.af
if aF and not G(aF.Z,a.r)then aj=M(E(W(aF.Z,a.r),1000),aF.ak) if G(go,aj)then return go,true end end return aj,false end
local function gr(a,aj) return a.X==0 and 0 or ag(aj,a.X) end local function aY(a,aj) a.bi=aj
a.remaining=a.X==0 and 0 or W(a.l,gr(a,aj)) end local function at(a,I,aF) aY(a,(dy(a,aF))) end local function T(a,c)
local cD=a.X if cD==0 or c>a.l then return nil end return ag(W(a.bi,W(a.af,E(c,cD))),1000000) end local function az(a,c)
local aj,gJ=dy(a,a.b) local cD=a.X local j=M(aj,E(c==0 and 1 or c,cD)) local z=cD~=0 and not G(a.af,j)
a.allowed,a.count,a.d=z,av(gr(a,aj)),'keep' if z and c==0 then a.ttl=av(ag(aj,1000000000)) elseif z then
a.d,a.j='charge',dT(a,j) a.ttl=av(ag(j,1000000000)) else if gJ and cD~=0 then a.d,a.j='rebase',dT(a,aj) end aY(a,aj)
a.ttl=ca(a,c) end end local function aD(a,I,c) local aj=dy(a,a.b) local bb=E(c,a.X) if aj==0 or bb==0 then return'keep'
elseif not G(bb,aj)then return'delete' end return'refund',dT(a,W(aj,bb)) end local function aC(a,I,c)
if c==0 or a.X==0 then return'keep' end local aj=dy(a,a.b) return'charge',dT(a,bl(M(aj,E(c,a.X)),a.af)) end return{
G='GCRA', y=' COST PARTIAL BURST ', ay=cp, aq=bH, ar=bI, e=x, expiry_after=da, Q=di, D=az, I=at, B=T, M=dB, refund=aD,
ad=aC, } elseif J=='ROLLING'then local cU=4096 local dx=8192 local aI=2^32 local function aN(f,d)
local h,l,bg,bh,ci,cj,bJ=fp(f,15*d+3,15*d+9) if bJ>=32 then U('INEXACT_STATE') end
return h+256*(l+256*(bg+256*(bh+256*(ci+256*(cj+256*bJ))))) end local function by(f,d)
local h,l,bg,bh,ci,cj,bJ,hs=fp(f,15*d+10,15*d+17) return ci+256*(cj+256*(bJ+256*hs)),h+256*(l+256*(bg+256*bh)) end
local function cx(ab,P,L) local h,l=ab%16777216,P%65536 local bg,bh=L%65536,(ab-ab%16777216)/16777216
local ci,cj,bJ=(P-l)/65536,(L-bg)/65536,bh%65536 return gN( h%256,(h-h%256)/256%256,(h-h%65536)/65536,
bJ%256,(bJ-bJ%256)/256,(bh-bJ)/65536%256,(bh-bh%16777216)/16777216, bg%256,(bg-bg%256)/256,cj%256,(cj-cj%256)/256,
l%256,(l-l%256)/256,ci%256,(ci-ci%256)/256 ) end local function iO(P,L,hw,hF) local R=(P-hw)*aI+(L-hF)
return R<0 and R+aI*aI or R end local function cP(P,L,ia,ib) P,L=P+ia,L+ib if L>=aI then P,L=P+1,L-aI end
return P%aI,L,P>=aI end local function er(R) local L=R%aI return(R-L)/aI,L end local function dC(f,aa,ab)
if aa==0 or aN(f,aa-1)<=ab then return aa end local cv,du=0,aa while du>1 do local eq=(du-du%2)/2
if aN(f,cv+eq)<=ab then cv=cv+eq end du=du-eq end return aN(f,cv)<=ab and cv+1 or cv end local function gf(a,f)
local aa=(#f-2)/15 if bO(f,1,2)~='R:'or aa%1~=0 or aa<1 or aa>dx then return nil end local bi,F,P,L=a.now_ms-a.a,0,0,0
if bi>=0 and aN(f,0)<=bi then F=dC(f,aa,bi) P,L=by(f,F-1) local dK,eA=by(f,aa-1) if dK<P or(dK==P and eA<L)then
return nil end end return{u=f,c=aa,q=F,hi=P,lo=L} end local function dh(a) local f=y('GET',a.f) if f then
a.b=gf(a,f)or eo(f,'ROLLING','FOREIGN_VALUE') end end local function cR(m,d) local P,L=by(m.u,d)
return iO(P,L,m.hi,m.lo) end local function dw(m) return m and m.c>0 and cR(m,m.c-1)or 0 end local function cr(a,h,l)
local p=a.a if h==l then return true elseif p<=cU or math.abs(h-l)>=p/cU+1 then return false end
return(aV(E(h,cU),p))==(aV(E(l,cU),p)) end local function ej(m,bK,aW,K,co) local f,v,F=m.u,m.c,m.q
local aa,eL=bK+(v-K)+1,15*bK+2 local j={u=bO(f,1,eL)..aW,c=aa,q=F,hi=m.hi,lo=m.lo} j.write,j.aZ,j.ao='SETRANGE',eL,aW
if K<v then j.ao=aW..bO(f,15*K+3) j.u=bO(f,1,eL)..j.ao elseif bK==v then j.write='APPEND' end
if v==0 or(F>0 and F*2>=v)or co or aa<v or aa>dx then j.write='SET' end return j end
local function bL(f,hm,iN,bF,cf,P,L) local an={} for d=hm,iN-1 do local dL,dN=bF,cf if not bF then dL,dN=by(f,d)
dL,dN=cP(dL,dN,P,L) end an[#an+1]=cx(aN(f,d),dL,dN) end return table.concat(an) end local function gP(a,m,ax,e,P,L,co)
local f,aa,bK,K=m.u,m.c,ax,ax local be,bo,ab=m.hi,m.lo,e if ax>m.q then be,bo=by(f,ax-1) end
if ax>m.q and cr(a,aN(f,ax-1),e)then bK=ax-1 elseif cr(a,aN(f,ax),e)then ab,K=aN(f,ax),ax+1 be,bo=by(f,ax) end
be,bo=cP(be,bo,P,L) local df=bL(f,K,aa,nil,nil,P,L) local aU={u=bO(f,1,15*K+2)..df,c=aa,q=m.q,hi=m.hi,lo=m.lo}
return ej(aU,bK,cx(ab,be,bo),K,co) end local function aB(a,m,e,R) local f,aa=m.u,m.c local ax=dC(f,aa,e) local P,L=er(R)
local be,bo,co,bK=m.hi,m.lo,false,aa if aa>0 then local dK,eA=by(f,aa-1) be,bo,co=cP(dK,eA,P,L) if ax<aa then
return gP(a,m,ax,e,P,L,co) elseif aa>m.q then bK=cr(a,aN(f,aa-1),e)and aa-1 or aa else be,bo=cP(m.hi,m.lo,P,L) end else
be,bo=P,L end return ej(m,bK,cx(e,be,bo),aa,co) end local function hQ(a,m) local f,q=m.u,a.now_ms local ax=dC(f,m.c,q)
local ez=ax>m.q and cr(a,aN(f,ax-1),q) local P,L=by(f,m.c-1) return ej(m,ez and ax-1 or ax,cx(q,P,L),m.c,false) end
local function iC(a,m) local f,al=m.u,{} for d=m.q,m.c-1 do local P,L=by(f,d)
P,L=cP(P,L,(aI-m.hi-(m.lo>0 and 1 or 0))%aI,(aI-m.lo)%aI) local n=al[#al]
if(n or P>0 or L>0)and not(n and n.hi==P and n.lo==L)then al[#al+1]={ms=aN(f,d),hi=P,lo=L} end end if#al>cU+1 then
local cl={} for I,aW in ipairs(al)do local ez=#cl>0 and cr(a,aW.ms,cl[#cl].ms) cl[ez and#cl or#cl+1]=aW end al=cl end
if#al>dx then local n,aj=al[#al],0 while aj<#al and al[aj+1].ms<=a.now_ms do aj=aj+1 end
for d=#al,math.min(aj,dx-1)+1,-1 do al[d]=nil end al[#al+1]=n end local an={'R:'} for d,aW in ipairs(al)do
an[d+1]=cx(aW.ms,aW.hi,aW.lo) end return table.concat(an) end local function at(a,I,m) local R=dw(m)
a.bz,a.A,a.remaining=m,R,R<a.limit and a.limit-R or 0 end local function T(a,c) local aA,m,R=a.limit-c,a.bz,a.A
if aA<0 then return nil elseif R<=aA then return 0 end local eH,bW,bU=R-aA,m.q,m.c-1 if cR(m,bW)>=eH then bU=bW
elseif cR(m,bU>0 and bU-1 or 0)<eH then bW=bU end while bW<bU do local eG=(bW+bU-(bW+bU)%2)/2 if cR(m,eG)>=eH then bU=eG
else bW=eG+1 end end local aG=aN(m.u,bW)+a.a-a.now_ms return aG>0 and aG or 0 end local function az(a,c)
local m,H=a.b,a.limit local R=dw(m) local z=R+(c==0 and 1 or c)<=H a.allowed,a.count,a.d=z,av(R),'keep'
if z and c>0 then a.d='charge' a.j=aB(a,m or{u='R:',c=0,q=0,hi=0,lo=0},a.now_ms,c)
elseif not z and R>0 and aN(m.u,m.c-1)>a.now_ms then a.d,a.j='rebase',hQ(a,m) end at(a,a.d,cM(a.d,a.j,m)) if z then
a.ttl=bd(av(T(a,H))) else a.ttl=ca(a,c) end end local function iF(a,j,x,O) local g,f=a.f,j.write=='SET'and iC(a,j)or j.u
if x then y('SET',g,f,'PXAT',S(x)) elseif O then y('SET',g,f,'KEEPTTL') end end local function bp(a,t,j)
local g,v=a.f,a.b if t=='delete'then y('UNLINK',g) return end local O=v and not a.bj and bS(g,a.now_ms)or nil
local x=dl(a,O) if t~='keep'then local gu=j.write if gu=='SET'or a.aD then iF(a,j,x,O) return elseif gu=='APPEND'then
y('APPEND',g,j.ao) else y('SETRANGE',g,D('%d',j.aZ),j.ao) end elseif dw(v)==0 then return end bD(g,x) end
local function aD(a,B,c) local m=a.b if not m then return'keep' end local f,n=m.u,m.c if B then B=B-B==0 and B or(2^53)
n=dC(f,m.c,B) local ev=n>m.q and aN(f,n-1)==B if not ev and n<m.c and cr(a,aN(f,n),B)then n=n+1 end end
local R,bF,cf=0,m.hi,m.lo if n>m.q then R=cR(m,n-1) bF,cf=by(f,n-1) end local Q=math.min(c,R) if Q==0 then return'keep'
elseif Q==dw(m)then return'delete' end local P,L=er(Q) P,L=(aI-P-(L>0 and 1 or 0))%aI,(aI-L)%aI bF,cf=cP(bF,cf,P,L)
local Y=n while Y>0 do local be,bo=by(f,Y-1) if be<bF or(be==bF and bo<=cf)then break end Y=Y-1 end
local fq=bL(f,Y,n,bF,cf)..bL(f,n,m.c,nil,nil,P,L) local j={u=bO(f,1,15*Y+2)..fq,c=m.c,q=m.q}
j.hi,j.lo,j.write,j.aZ,j.ao=m.hi,m.lo,'SETRANGE',15*Y+2,fq if m.q>0 and m.q*2>=m.c then j.write='SET' end
return'refund',j end local function aC(a,B,c) local q,m=a.now_ms,a.b B=B and G(B,q)and B or q
if c==0 or(B<q and B<=q-a.a)then return'keep' end local R=dw(m)+c if R>=(2^53)then
U(R>2^63 and'OVERFLOW'or'INEXACT_REPLY') end return'charge',aB(a,m or{u='R:',c=0,q=0,hi=0,lo=0},B,c) end
local function bG(a) return a.now_ms+a.a end local function hq(a,gF) local m,al,v,ee=a.b,{},0,false
for d=m and m.q or 0,m and m.c-1 or-1 do local dv=av(cR(m,d)) al[#al+1]={ms=aN(m.u,d),A=math.max(0,dv-v)}
v=math.max(v,dv) end local eT,cm=0,{} for I,ac in ipairs(gF)do local e,aG=ac.U.v,ac.U.m if aG>0 and a.now_ms<ac.U.p then
local n=0 while al[n+1]and al[n+1].ms<=e do n=n+1 end local ev=n>0 and al[n].ms==e
if not ev and al[n+1]and cr(a,al[n+1].ms,e)then n=n+1 end for d=eT+1,n do cm[#cm+1]=al[d] end eT=math.max(eT,n)
while aG>0 and#cm>0 do local dP=cm[#cm] local cQ=math.min(aG,dP.A) dP.A,aG=dP.A-cQ,aG-cQ ac.aE=ac.aE or cQ>0
if dP.A==0 then cm[#cm]=nil end end ee=ee or ac.aE end end if not ee then return end local an,fc={'R:'},0
for I,aW in ipairs(al)do if aW.A>0 then fc=fc+aW.A an[#an+1]=cx(aW.ms,er(fc)) end end a.aD,a.S=true,a.b
a.b=#an>1 and gf(a,table.concat(an))or nil a.bj=not a.b end local function ct(a,aJ,aO) local aS=aJ.m or 0
if aJ.p<=a.now_ms then return'keep' elseif aO<aS then return aD(a,aJ.v,aS-aO) end return aC(a,aJ.v,aO-aS) end return{
G='ROLLING', y=' COST PARTIAL ALWAYS RESERVE RESERVATION ', Q=dh, D=az, I=at, B=T, M=bp, p=bG, aW=hq, refund=aD, ad=aC,
aH=ct, } elseif J=='LEASE'then local function em(ai) return ai<2^64 and math.max(0,math.ceil(ai))or(1/0) end
local function fy(a,aw) local ai=a.c>0 and y('ZSCORE',a.f,aw) local C=ai and em(tonumber(ai))
return C and C>a.now_ms and C or nil end local function dh(a,cq) eB(a,'-inf',a.now_ms,cq) a.h=a.ID and fy(a,a.ID)
a.aG=a.h and a.c-1 or a.c end local function el(a,d) local ai=cL(a.f,d+a.al) return ai and em(ai)or(1/0) end
local function fz(a,d) local C=el(a,d) return a.h and C>=a.h and el(a,d+1)or C end local function hg(a,d,eN)
if d<a.aG then local C=fz(a,d) if C<=eN then return C end end return d>0 and math.max(fz(a,d-1),eN)or eN end
local function dg(a,d) local C=a.aa and hg(a,d,a.aa)or el(a,d) return C~=(1/0)and C or nil end local function at(a,t,j)
a.aa=t=='charge'and j.aa or nil a.am=a.aa and a.aG+1 or a.c a.remaining=math.max(0,a.limit-a.am) end
local function T(a,c) return gs(a,c,a.am,dg,nil) end local function az(a) local q,H,bN,ga=a.now_ms,a.limit,a.h,a.aG
local z=H>0 and(bN~=nil or ga<H) local C=q+a.a a.allowed,a.count,a.d=z,ga,'keep' if z and bN~=C then
a.d,a.j='charge',{aa=C} end if z then a.ttl=av(ag(W(E(C,1000),a.r),1000000)) else at(a,'keep') a.ttl=ca(a,1) end end
local function dE(g,n,O) if n>=(2^53)or O~=n then y('PEXPIREAT',g,n<2^63 and D('%.0f',n)or'9223372036854775807') end end
local function dJ(g) local ai=cL(g,-1) return ai and em(ai) end local function hO(g,C,de,q) local O=bS(g,q)
gi(g,D('%.0f',C),de) dE(g,dJ(g),O) end local function bp(a,t,j) local g,q=a.f,a.now_ms if t=='delete'then y('UNLINK',g)
elseif t=='keep'then if a.c>0 then dE(g,dJ(g),bS(g,q)) end elseif a.ID then local O=a.as and bS(g,q)or nil if a.h then
y('ZADD',g,'XX',D('%.0f',j.aa),a.ID) else y('ZADD',g,D('%.0f',j.aa),a.ID) end dE(g,a.aG+a.al==0 and j.aa or dJ(g),O) end
end local function iP(a) return a.h and 0 or 1 end local function fF(a,bj) eB(a,'-inf',a.now_ms,'write') local O={}
for I,aw in ipairs(bj)do O[#O+1]=fy(a,aw)and aw end return O end local function iq(a,bj)
local ir=cy({'ZREM',a.f},fF(a,bj)) local n=a.c>0 and dJ(a.f) if n then dE(a.f,n,bS(a.f,a.now_ms)) end return ir end
local function it(a,bj) local de=fF(a,bj) if#de>0 then hO(a.f,a.now_ms+a.a,de,a.now_ms) end return#de end return{
G='LEASE', y=' ID ', no_correction='LEASE_CORRECTION', bb='concurrent-requests', bc=iP, Q=dh, D=az, I=at, B=T, M=bp,
release=iq, renew=it, } elseif J=='LOCKOUT'then local function cp(a) local eb=a.BLOCK or a.a
local fO=a.MAX or math.max(eb,86400000) if fO<eb then U('MAX_BELOW_BLOCK') end a.aT,a.aF=eb,fO end local function bH(f)
local aP,Y,n,cG,i=dX(f,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not aP or not Y or not n or not cG or#i>2 or i+0>64 then
return nil elseif G(n,Y)or G(1e15,cG)then return nil elseif aP-aP~=0 or n-n~=0 then if bk(aP)or bk(E(n,1000))then
return nil end U('INEXACT_STATE') end return{ag=aP,ae=Y,P=n,J=cG,ab=i+0} end local function bI(s)
local Y,n=S(s.ae),S(s.P) return D('O:%s:%s:%s:%s:%d',S(s.ag),Y,n,S(s.J),s.ab) end local function cE(a,s)
local q=a.now_ms if not s or s.P<=q then return s end local Y=math.min(s.ae,q) return{ag=s.ag,ae=Y,P=q,J=s.J,ab=s.ab}
end local function fH(a,s) return s and a.now_ms<s.P+s.J end local function bx(a,s)
local C=s and(s.J>0 and s.P+s.J or s.ae+a.a) if C and a.now_ms<C and s.ag>0 then return s.ag,s.ae end return 0,a.now_ms
end local function fL(a,s) if s.J==0 then return s.ab end local fb,aR=0,a.aT while aR<a.aF do fb,aR=fb+1,2*aR end
return math.min(s.ab+1,fb) end local function fM(a,s) local im=math.max(0,a.now_ms-s.P-s.J)
return math.max(0,fL(a,s)-(aV(im,a.aF))) end local function x(a,s) local e=M(s.P+s.J,E(fL(a,s),a.aF)) if e-e~=0 then
return bl(e,ag(cu,1000)) end return math.max(e,s.ae+a.a) end local function aY(a,s) local aP,Y=bx(a,s) if fH(a,s)then
a.i,a.remaining=s.P+s.J,0 else a.i,a.remaining=Y+a.a,math.max(0,a.limit-aP) end end local function at(a,I,s)
aY(a,cE(a,s)) end local function T(a,c) local H,fD=a.limit,a.remaining if c>H or H==0 then return nil
elseif c<=fD and fD>0 then return 0 end return a.i-a.now_ms end local function az(a,c)
local q,H,s=a.now_ms,a.limit,cE(a,a.b) local aP,Y=bx(a,s) local j=aP+(c==0 and 1 or c) local z=not fH(a,s)and j<=H
a.allowed,a.count,a.d=z,aP,'keep' if z and c>0 then local i,cG=s and fM(a,s)or 0,0 if j==H then
cG=math.min(a.aT*2^i,a.aF) end s={ag=j,ae=Y,P=q,J=cG,ab=i} a.d,a.j='charge',s elseif s~=a.b and G(q,x(a,s))then
a.d,a.j='rebase',s end aY(a,s) if z then a.ttl=bd(T(a,H)) else a.ttl=ca(a,c) end end local function bp(a,t,j)
if t=='delete'then y('UNLINK',a.f) elseif t~='keep'then y('SET',a.f,bI(j),'PXAT',S(x(a,j))) end end
local function et(I,t,j) if t=='rebase'then return'keep' end return t,j end local function aD(a,B,c) local s=cE(a,a.b)
local aP,Y=bx(a,s) if aP==0 or c==0 or B and G(B,Y)then return'keep' end aP=math.max(0,aP-c)
local bb={ag=aP,ae=Y,P=s.P,J=0,ab=s.ab} if bx(a,bb)==0 and fM(a,bb)==0 then return'delete' end return'refund',bb end
return{ G='LOCKOUT', y=' COST BLOCK MAX ', no_correction='NO_SETTLEMENT', ay=cp, aq=bH, Q=di, D=az, I=at, B=T, M=bp,
aK=et, refund=aD, } end end local function gL(J) J=J:upper() local k=dY[J] if not k then k=gK(J)or U('ALGORITHM')
dY[J]=k end return k end local function hh(ds) if type(ds)=='table'then return ds elseif br(ds,'^%u+ ')then
return redis.error_reply(ds) end error(ds,0) end local function gB(h,l) h,l=cg(h),cg(l) local bE,bR={},0
for d=1,math.max(#h,#l)+1 do local bq=(h[d]or 0)+(l[d]or 0)+bR bR=bq>=(2^24)and 1 or 0 bE[d]=bq-bR*(2^24) end
return dc(bE) end local fg={FULL=true,LINE=true,HEADERS=true} local function gc(bM,f,fJ)
local w=f and ch(f,'9223372036854775807') local d=w and cB(w) if not d or d==0 and fJ>0 then
ba(D('ERR invalid %s: expected an integer from %d to 9223372036854775807',bM,fJ)) elseif d-d~=0 then
ba(D('ERR invalid %s: the Lua library takes integers up to 9007199254740991',bM)) end return d end local fi={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function hz(J,X) local F,n=0,0
local gk,hJ=math.min(#J,#X),math.max(#J,#X) while F<gk and J:byte(F+1)==X:byte(F+1)do F=F+1 end
while n<gk-F and J:byte(-1-n)==X:byte(-1-n)do n=n+1 end return F+n>=2 and hJ-F-n<=2 end local function hk(a,bz,J)
local cn={} for I,bc in ipairs(fi)do if bV(bz,bc[1])and gm(a,bc[1])then cn[#cn+1]=bc[2] end end
for I,bs in ipairs({'FULL','LINE','HEADERS'})do cn[#cn+1]=bs end for I,X in ipairs(cn)do
if hz(J:upper(),bA(X,'^%u+'))then ba('ERR syntax error: no such option, but there is '..X) end end
local n=table.remove(cn) local iR=table.concat(cn,', ')
ba('ERR syntax error: after limit come '..iR..' or '..n..', each at most once') end local function fW(bs,fU) if bs then
U(bs==fU and'FORM_TWICE'or'TWO_FORMS') end return fU end local function iw(bc,a,bz) local X,k=bc[1],a.k
if not bV(bz,X)then ba(D('ERR invalid %s: only %s it',X,bc[3])) elseif not gm(a,X)then
ba(D('ERR invalid %s: %s takes none',X,k.G)) elseif a[X]~=nil then
ba(D('ERR syntax error: %s comes at most once',bc[2])) end end local function eR(f) local am,aT=bA(f,'^(%d+)(%l*)$')
local dt=am and gj(aT) local ab=dt and ch(am,'18446744073709551615')and am*dt
return ab and ab>=1 and ab<=1e15 and ab or nil end local function eQ(f,ar) return f and#f>=1 and#f<=ar and f end
local function ih(X,f,dR) if X=='RESERVE'then local bf=dR and eR(dR)
return eQ(f,128)and bf and{id=f,ttl=bf}or U('RESERVE') elseif X=='RESERVATION'then return eQ(f,128)or U('RESERVATION')
end if X=='BLOCK'or X=='MAX'then
local iM='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return f and eR(f)or ba('ERR invalid '..X..': '..iM) end if X=='ID'then return eQ(f,512)or U('ID') end
if X=='ANCHOR'then local w=f and ch(f,'253402300799') return w and w+0 or U('ANCHOR') end if X=='AS'then
return f and#f>=1 and#f<=64 and not br(f,'[^%w._-]')and f or U('AS') elseif X=='AT'then
local w=f and ch(f,'9223372036854775807') return w and bl(cB(w),(aV(cu,1000)))or U('AT') end
return gc(X,f,X=='BURST'and 1 or 0) end local function iu(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
U(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
U(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local function ie(a,aq,e,bz) while aq[e]do
local J,bc=aq[e]:upper(),nil for I,cE in ipairs(fi)do bc=cE[1]==J and cE or bc end if bc then iw(bc,a,bz)
if bc[2]==J then a[J]=true e=e+1 else a[J]=ih(J,aq[e+1],aq[e+2]) e=e+(J=='RESERVE'and 3 or 2) end iu(a)
elseif fg[J]and bV(bz,'form')then a.form=fW(a.form,J) e=e+1 else return e end end return e end
local gy={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function iV(a,f) local k=a.k
local p=eR(f) if not p then a.F=f:upper() p=gy[a.F] if not p then U(bV(k.y,'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not bV(k.y,'ANCHOR')then ba(D('ERR invalid window: %s takes no windows of the calendar',k.G)) end end return p
end local function hN(a) local k=a.k if not k.bh then return 0 elseif a.l<a.m then return a.PARTIAL and a.l or 0 end
return a.m end local function iv(ad,f) if ad>1000 then U(f) end end local function hu(g)
return g:sub(-9)==':reserved'or g:sub(-14)==':reserved:ends' end local function ix(g) if hu(g)then U('RESERVED_KEY') end
end local function iK(a,aX,e,g) local k=a.k local dH,C=aX[e]or'',aX[e+1] local bM=(k.aY and k.aY(a)or'')..':reserved'
if(dH~=g..bM and dH~='{'..g..'}'..bM)or C~=dH..':ends'then U('KEYS') end a.aX,a.N=dH,C return e+2 end
local function gX(a) local k=a.k local c=a.m k.D(a,0) local t,j=k.ad(a,nil,c) if c>0 then a.d,a.j=t,j end
local s=cM(a.d,a.j,a.b) k.I(a,a.d,s) a.allowed=a.l>0 and k.B(a,0)==0 a.K=a.l>0 and c or dk(c) if k.be then
a.count,a.ttl=k.be(s,a.now_ms) elseif a.allowed then a.ttl=bd(av(k.B(a,a.l))) else local T=k.B(a,a.K)
a.ttl=T and math.max(1,bd(av(T)))or-1 end end local function gY(a) local k=a.k local c=a.m if a.PARTIAL then
c=math.min(c,gh(a)) end a.W=c if a.ALWAYS then gX(a) else k.D(a,c) end end local function cH(f)
local w=ch(f,'9223372036854775807')or U('FOREIGN_RESERVATION') local d=cB(w) return d-d==0 and d or U('INEXACT_STATE')
end local function cX(f) local c,gO,cZ,bG,bf=bA(f,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not c or#bf>16 or tonumber(bf)>1e15 or bf=='0'then U('FOREIGN_RESERVATION') end return{ m=c~=''and cH(c)or nil,
v=cH(gO), i=cH(cZ), p=cH(bG), ttl=cH(bf), } end local function eW(b,aK) b.H,b.ai={},{} for I,ac in ipairs(aK)do
if ac.w.m then b.H[#b.H+1]={id=ac.id,U=ac.w} elseif ac.id~=b.id then b.ai[#b.ai+1]=ac.id end end
cA=math.max(0,cA-#b.H-#b.ai) table.sort(b.H,function(h,l) if h.U.v~=l.U.v then return h.U.v<l.U.v end
return cw(h.id,l.id) end) b.bO=true end local function iB(b) local F=y('ZRANGE',b.N,'0',D('%.0f',cA),'WITHSCORES')
local bj,C,aK,eP={},{},{},false b.ac=nil for d=1,#F,2 do local cZ=tonumber(F[d+1]) if cZ>b.now_ms or#bj==cA then b.ac=cZ
break end bj[#bj+1],C[#C+1]=F[d],cZ end local bn=#bj>0 and y('HMGET',b.f,unpack(bj))or{} for d,aw in ipairs(bj)do
local aM=bn[d]and cX(bn[d]) if not aM or aM.i~=C[d]then return false end aK[d]={id=aw,w=aM} eP=eP or aw==b.id end
if b.h and b.h.i<=b.now_ms and not eP then aK[#aK+1]={id=b.id,w=b.h} end eW(b,aK) local eO=0 for I,Z in ipairs(b.H)do
eO=Z.id==b.id and 1 or eO end local ic=#b.H+#b.ai-eO b.K=b.c-(b.S and 1 or 0)==ic and 0 or nil return true end
local function fQ(aM) return aM.m and math.max(aM.i+aM.ttl,aM.p)or aM.i end local function iA(b) local Z,cO,bN={},{},nil
local ea=y('HGETALL',b.f) for d=1,#ea,2 do local aw=ea[d] if aw~=''then local ac={id=aw,w=cX(ea[d+1])}
if ac.w.i<=b.now_ms then Z[#Z+1]=ac elseif aw~=b.id then cO[#cO+1]=ac end end end if#Z>cA then
table.sort(Z,function(h,l) if h.w.i~=l.w.i then return h.w.i<l.w.i end return cw(h.id,l.id) end) for d=#Z,cA+1,-1 do
local ac=table.remove(Z,d) if ac.id==b.id then bN=ac else cO[#cO+1]=ac end end Z[#Z+1]=bN end b.ac,b.K,b.ax=nil,0,cO
for I,ac in ipairs(cO)do b.ac=math.min(b.ac or ac.w.i,ac.w.i) b.K=math.max(b.K,fQ(ac.w)) end eW(b,Z) end
local function gE(b,ar) local bZ=b.ah==1 and y('ZSCORE',b.N,'') b.bv=bZ and true or false b.ac=nil if ar>0 then
local aK=y('HSCAN',b.f,bZ and S(-1-tonumber(bZ))or'0','COUNT',S(ar)) b.aw,b.aB,b.ax=tonumber(aK[1]),not bZ,{}
for d=1,#aK[2],2 do local aw=aK[2][d] if aw~=''and aw~=b.id then b.ax[#b.ax+1]={id=aw,w=cX(aK[2][d+1])}
elseif aw~=''then cX(aK[2][d+1]) end end table.sort(b.ax,function(h,l) return cw(h.id,l.id) end) b.ap=b.aw==0 end
if b.h and b.h.i<=b.now_ms then eW(b,{{id=b.id,w=b.h}}) b.K=b.c==1 and 0 or nil end end local function hI(a,aw)
local g=a.aX local aK=y('HMGET',g,aw,'') local b={f=g,N=a.N,id=aw,now_ms=a.now_ms,H={},ai={}}
b.S=aK[1]and cX(aK[1])or nil b.h=b.S b.ah=aK[2]and cH(aK[2])or nil b.c=y('HLEN',g)-(b.ah and 1 or 0) b.e=bS(g,b.now_ms)
b.aP=y('ZCARD',b.N) b.ac=cL(b.N,0) local hZ=b.c==b.aP and(b.ah==0 or b.c==0 and not b.ah)
local hl=math.min(b.ac or math.huge,b.h and b.h.i or math.huge) b.ap=hZ and(hl>b.now_ms or iB(b)) if not b.ap then
local bT=b.c+(b.ah and 1 or 0) local ar=bT<=dU and bT or math.min(dU,500) dU=dU-ar if ar==bT then b.ap,b.aB=true,true
iA(b) else gE(b,ar) end end return b end local function hH(a) local k=a.k a.aJ=hI(a,a.RESERVE.id) k.Q(a,'write') ha(a)
end local function fZ(b,c,bf,bG) local q=b.now_ms b.h={m=c,v=q,i=q+bf,p=bG,ttl=bf} end local function il(b,dQ,bf)
if dQ.i<b.now_ms+bf then fZ(b,dQ.m,bf,dQ.p) b.h.v=dQ.v end end local function hY(a) local db=not a.an if a.PARTIAL then
db=a.W>0 and not a.au end return not a.Y and a.allowed and db end local function gS(a,t,j) local k=a.k if a.aD then
j=cM(t,j,a.b) a.b=a.S if not j then t=a.S and'delete'or'keep' elseif t~='charge'then t='refund' end end k.M(a,t,j) end
local function fw(aM) local aq={aM.m and S(aM.m)or''} for d,af in ipairs({aM.v,aM.i,aM.p,aM.ttl})do aq[d+1]=S(af) end
return table.concat(aq,':') end local function gR(b) local Q,I,ae=gb(b) if Q==0 and not b.h then if b.c>0 or b.ah then
y('UNLINK',b.f) end if b.aP>0 then y('UNLINK',b.N) end return end local bT,ad,aE={},{},{} local function cs(cF,F,dR)
cF[#cF+1]=F cF[#cF+1]=dR end for I,aw in ipairs(b.ai)do aE[#aE+1]=aw end for I,ac in ipairs(b.ax or{})do
cs(ad,S(ac.w.i),ac.id) end for I,Z in ipairs(b.H)do local bX=Z.id~=b.id and eF(Z,b.now_ms) if bX then cs(bT,Z.id,fw(bX))
cs(ad,S(bX.i),Z.id) elseif Z.id~=b.id then aE[#aE+1]=Z.id end end if b.h and b.h~=b.S then cs(bT,b.id,fw(b.h))
elseif not b.h and b.S then aE[#aE+1]=b.id end if b.h then ae=math.max(ae,fQ(b.h)) local ht=not b.S or b.h.i~=b.S.i
if b.aB or b.bv or b.ap and ht then cs(ad,S(b.h.i),b.id) end end local fP=b.ap and 0 or 1 if b.ah~=fP then
cs(bT,'',S(fP)) end cy({'HSET',b.f},bT) cy({'HDEL',b.f},aE) if b.aw and b.aw>0 then cs(ad,'-'..S(b.aw+1),'') end
if b.aB and b.aP>0 then y('UNLINK',b.N) end cy({'ZADD',b.N},ad) if b.aw==0 then aE[#aE+1]='' end cy({'ZREM',b.N},aE)
local O,aQ,x=b.e,ae+5000,nil local iQ=not O and not b.K and b.c>0 if not iQ and(not O or O<ae or(b.K and O>aQ))then x=aQ
end bD(b.f,x) if x or b.aB and O then bD(b.N,x or O) end end local function gU(a,z) local k=a.k
if not z and a.d=='charge'then a.d,a.j='keep',nil end if a.SHADOW and k.aK then a.d,a.j=k.aK(a,a.d,a.j) end local b=a.aJ
if b and z and a.Y then il(b,a.Y,a.RESERVE.ttl) elseif b and z and hY(a)then local j=cM(a.d,a.j,a.b)
fZ(b,a.W,a.RESERVE.ttl,k.p(a,j)) end gS(a,a.d,a.j) if b then gR(b) end end local function ii(a)
return a.Y and a.Y.m or a.an and a.m or a.W end local function ho(a,aB) local bm,iz,bC,eV,he=dF(a) return{
'allowed',fC(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.l, 'remaining',bm, 'retry_after_ms',iz, 'next_ms',bC,
'reset_ms',eV, 'delay_ms',he, 'now_ms',a.now_ms, 'shadow',a.an and 1 or 0, 'charged',aB, } end local function hR(ah)
local cQ={} for I,a in ipairs(ah)do local k=a.k local F,am=a.AS or k.G:lower(),2 a.aj=F while cQ[a.aj]do
a.aj=D('%s-%d',F,am) am=am+1 end cQ[a.aj]=true end end local function cC(d) return D('%.0f',bl(d,999999999999999)) end
local function ik(a) local k=a.k if k.bb then local io,ap=cC(a.limit),cC(bd(a.a))
return D('"%s";q=%s;w=%s;qu="%s"',a.aj,io,ap,k.bb) end local p=k.bf and k.bf(a)or a.a local eh,K=1000,p%1000
while K>0 do eh,K=K,eh%K end local dW=1000/eh local ap=aV(E(p,dW),1000)
return D('"%s";q=%s;w=%s',a.aj,cC(E(a.limit,dW)),cC(ap)) end local function hB(ac,cI) if ac.allowed~=cI.allowed then
return not ac.allowed end local T,eM=ac.retry_after_ms,cI.retry_after_ms if T~=eM then return T<0 or(eM>=0 and T>eM) end
return ac.remaining<cI.remaining end local function hv(ah) local eY,ge=ah[1],{} hR(ah) for d,a in ipairs(ah)do
ge[d]=ik(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=dF(a) if hB(a,eY)then eY=a end end local a=eY local bn={
'X-RateLimit-Limit', D('%.0f',a.l), 'X-RateLimit-Remaining', D('%.0f',a.remaining), } local function dI(bM,af)
bn[#bn+1]=bM bn[#bn+1]=af end if a.reset_ms>=0 then dI('X-RateLimit-Reset',D('%.0f',bd(a.now_ms+a.reset_ms))) end
dI('RateLimit-Policy',table.concat(ge,', ')) local hM=a.next_ms>=0 and';t='..cC(bd(a.next_ms))or''
dI('RateLimit',D('"%s";r=%s%s',a.aj,cC(a.remaining),hM)) if not a.allowed and a.retry_after_ms>=0 then
dI('Retry-After',D('%.0f',bd(a.retry_after_ms))) end return bn end
dZ={FORMS=fg,bg=gB,bk=fo,bl=gL,bm=gU,bn=fs,bq=gY,bs=fv,error_reply=hh,z=U,aV=ba,bu=hk,E=ho,bw=hv,bx=bV,by=hH,bB=hN,bC=fT,bD=fW,bF=gc,bG=ie,ba=ii,bI=iv,bJ=ix,bK=iK,bN=iV}
end return dZ end local ei,bP=pcall(iD,KEYS,ARGV) return ei and bP or N().error_reply(bP)
