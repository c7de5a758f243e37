-- RL.MULTI, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local dX,N local bh,B,bK,bO=string.find,string.format,string.match,string.sub local function eJ(as,gx)
local eh,bP=pcall(gx) if eh then return bP end local f=type(bP)=='table'and bP.err or bP
if type(bP)=='table'or bh(f,'^%u+ ')then N().aX((f:gsub(' ',B(' limit %d: ',as),1))) end error(bP,0) end local dW={}
local function iA(J) return dW[J]or N().bn(J) end local function ib(k,ap,e,bz) local al,H,X=ap[e],ap[e+1],ap[e+2]
if not H then N().E('ARITY') end local a={ n=k, g='', v=0, now_ms=0, a=0, q=0, limit=0, o=0, p=1, form=nil, aE=0, b=nil,
l=nil, allowed=false, count=0, ttl=0, e='keep', remaining=0, aa=1, } e=e+2
if X=='LINE'and not ap[e+1]and bz~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=X,e+1 elseif X then
local af=ap[e+1]or''
local fH=bz==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and ap[e+2]=='LINE'and not ap[e+3]and#af<16
if fH and X=='COST'and k.D~=' ID 'and bh(af,'^[1-9]%d*$')then a.form,a.p,e='LINE',af+0,e+3
elseif fH and X=='ID'and k.D==' ID 'and af~=''then a.form,a.ID,e='LINE',af,e+3 else e=N().bI(a,ap,e,bz) a.p=a.COST or 1
end a.Z=a.ANCHOR and a.ANCHOR*1000 end local ew=#H<16 and bh(H,'^[1-9]%d*$') a.limit=ew and H+0 or N().bH('limit',H,0)
ew=#al<10 and bh(al,'^[1-9]%d*$') local q=ew and al*1000 or N().bP(a,al)
a.a,a.q,a.o=q,q<9e12 and q*1000 or N().bE(q,1000),a.BURST or a.limit if k.aB then k.aB(a) end return a,e end
local w=redis.call local function ge(a) local ar=w('TIME') local bt=ar[1]*1000000+ar[2]
a.v,a.now_ms=bt,(bt-bt%1000)/1000 end local function gi(a,aV,e,fd,ex) local k=a.n local g=aV[e] if k.aL then
local bN,cJ=k.aL(a),aV[e+1] local aQ=#bN if not cJ then N().E('KEYS') elseif bO(g,-aQ)~=bN then g=cJ
if bO(g,-aQ)~=bN then a.aU=true end end a.g,g,e=g,bO(g,1,-aQ-1),e+2 else if not g then N().E('KEYS') end a.g,e=g,e+1 end
if ex then a.an=g elseif bh(g,':reserved',1,true)then N().bL(g) end if fd then e=a.aU and e+2 or N().bM(a,aV,e,g) end
return e end local function gz(ah,dQ,aV,ck,ap,e) local J=ap[e]or N().E('FEWER_LIMITS') if N().FORMS[J:upper()]then
N().E(ap[e+1]and'AFTER_FORM'or'FEWER_LIMITS') end local k=iA(J) if not ap[e+2]then N().E('LIMIT_ARITY') end
local a,hP=ib(k,ap,e+1,' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') if k.D==' ID 'and not a.ID then
N().E('ID_MISSING') end if#ah==0 then ge(a) else a.v,a.now_ms=ah[1].v,ah[1].now_ms end ck=gi(a,aV,ck,a.RESERVE)
for I,gs in ipairs({a.g,a.aZ})do if dQ[gs]then N().E('SAME_KEY') end dQ[gs]=true end ah[#ah+1]=a return ck,hP end
local function hg(ah) local bn={B('ERR clock %.0f',ah[1].now_ms)} for I,a in ipairs(ah)do local k=a.n if k.aL then
bn[#bn+1]=N().bm(a) end end N().aX(table.concat(bn,' ')) end local function gW(a) local k=a.n
if a.PARTIAL or a.ALWAYS then N().bs(a) else local c=a.p a.aa=c k.H(a,c) end if a.SHADOW then N().bp(a) end end
local function hC(a) local k=a.n if a.RESERVE then N().bA(a) return end k.W(a,'write') gW(a) end local function gN(a)
local k=a.n if a.ac then return a.ac.p end if a.e~='charge'then return 0 elseif a.ALWAYS then return a.aa
elseif not a.allowed or(a.aq and not a.PARTIAL)then return 0 end if k.be then return k.be(a) end return a.aa end
local function av(d) if d-d~=0 or d>=(2^53)then N().E('INEXACT_REPLY') end return d end local function M(h,l)
if h-h==0 and l-l==0 and h+l<(2^53)then return h+l end return N().bi(h,l) end local function ag(h,l)
if h-h==0 and l-l==0 then local K=h%l return K==0 and h/l or(h-K)/l+1 end local cL,K=N().bu(h,l)
return K==0 and cL or M(cL,1) end local function dD(a) local k=a.n local t,T=a.e,k.G
k.N(a,t,t=='keep'and a.b or t~='delete'and a.l or nil) local bm,ec,bw,bB,bY=a.remaining,a.o,0,0,0 if not a.allowed then
local c=a.aa bw=T(a,a.Q or(c==0 and 1 or c))or-1 if a.ax and bw>=0 then bw=math.max(bw,a.ax) end end if bm<ec then
bB=T(a,bm+1)or-1 bY=bm+1==ec and bB or T(a,ec)or-1 end
if bw-bw~=0 or bB-bB~=0 or bY-bY~=0 or bw>=(2^53)or bY>=(2^53)then N().E('INEXACT_REPLY') end if a.aE~=0 then
return bm,bw,bB,bY,av(ag(a.aE,1000)) end return bm,bw,bB,bY,0 end local function hA(a,aB) local bm,bw,bB,bY,ha=dD(a)
local iC=a.aq and 1 or 0 return B( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and N().bc(a)or 1)or 0,a.count,a.ttl,a.o,bm,bw,bB,bY, ha,a.now_ms,iC,aB ) end
local function fB(a) if not a.allowed then return 0 end return a.PARTIAL and N().bc(a)or 1 end local function gS(a,z)
local k=a.n if not z or a.SHADOW or a.RESERVE then N().bo(a,z) else k.S(a,a.e,a.l) end end local function iz(aV,ap)
if not ap[3]then N().E('ARITY') end local ah,dQ,ad,ck,e,bs={},{},0,1,1,nil while ck<=#aV do if#ah==64 then
N().E('NUM_LIMITS') end eJ(#ah+1,function() ck,e=gz(ah,dQ,aV,ck,ap,e) end) ad=ad+N().bD(ah[#ah]) end while ap[e]do
local J=ap[e]:upper() if N().FORMS[J]then bs=N().bF(bs,J) elseif bs then N().E('AFTER_FORM')
elseif N().bz(' FIXED WINDOW SLIDING COUNTER TOKEN LEAKY GCRA ROLLING LEASE LOCKOUT ',J)then N().E('KEYS') else
eJ(#ah,function() N().bw(ah[#ah],' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ',J) end) end e=e+1 end
N().bK(ad,'LOG_COST') for I,a in ipairs(ah)do if a.aU then hg(ah) end end local z=true for as,a in ipairs(ah)do
eJ(as,function() hC(a) end) z=z and a.allowed end local dy={} for d,a in ipairs(ah)do local aB=z and gN(a)or 0
if bs=='FULL'then dy[d]=N().I(a,aB) elseif bs=='LINE'then dy[d]=hA(a,aB) else dy[d]={fB(a),a.count,a.ttl} end end
local gD={z and 1 or 0,dy,bs=='HEADERS'and N().by(ah)or nil} for I,a in ipairs(ah)do gS(a,z) end return gD end
function N() if not dX then local V={}
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
V.ALGORITHM='ERR invalid algorithm: expected one of FIXED, WINDOW, SLIDING, COUNTER, TOKEN, LEAKY, GCRA, '
..'ROLLING, LEASE, LOCKOUT'
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
..'COUNTER, TOKEN, LEAKY or GCRA for more' local function fJ(h,l) local fj,gF=h-h==0,l-l==0 if fj or gF then return fj
elseif#h~=#l then return#h<#l end for d=#h,1,-1 do if h[d]~=l[d]then return h[d]<l[d] end end return false end
local function G(h,l) if h-h==0 and l-l==0 then return h<l end return fJ(h,l) end local function fm(d) if d-d==0 then
return d end local bD=0 for ax=#d,1,-1 do bD=bD*(2^24)+d[ax] end return bD end local cT={ __sub=function() return 1 end,
} local function dc(x) local Q=#x while Q>0 and x[Q]==0 do x[Q]=nil Q=Q-1 end
if Q>3 or(Q==3 and x[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(x,cT) end
return(x[1]or 0)+(x[2]or 0)*(2^24)+(x[3]or 0)*(2^24)*(2^24) end local function cg(d) if d-d~=0 then return d end
local x,Q={},0 while d>0 do local bq=d%(2^24) Q=Q+1 x[Q]=bq d=(d-bq)/(2^24) end return x end local function iE(h,l)
if not fJ(l,h)then return 0 end l=cg(l) local ft,eb={},0 for d=1,#h do local bq=h[d]-(l[d]or 0)-eb eb=bq<0 and 1 or 0
ft[d]=bq+eb*(2^24) end return dc(ft) end local function W(h,l) if h-h==0 and l-l==0 then return h>l and h-l or 0 end
return iE(h,l) end local function fT(h,l) h,l=cg(h),cg(l) local dp={} for d=1,#h+#l do dp[d]=0 end for d=1,#h do
local bR=0 for eC=1,#l do local bq=dp[d+eC-1]+h[d]*l[eC]+bR bR=math.floor(bq/(2^24)) dp[d+eC-1]=bq-bR*(2^24) end
dp[d+#l]=bR end return dc(dp) end local function E(h,l) if h-h==0 and l-l==0 and h*l<(2^53)then return h*l end
return fT(h,l) end local function fu(h,l) local cL=0 while not G(h,l)do
local o=math.max(1,math.floor(fm(h)/fm(l)*(1-2^-45))) o=dc(cg(o)) cL=M(cL,o) h=W(h,E(o,l)) end return cL,h end
local function aT(h,l) if h-h==0 and l-l==0 then local K=h%l return(h-K)/l,K end return fu(h,l) end local function iH(d)
local eY='' while d-d~=0 do local K d,K=aT(d,10000000) eY=B('%07.0f',K)..eY end return B('%.0f',d)..eY end
local function S(d) if d-d~=0 then return iH(d) end return B('%.0f',d) end local function aY(f) error({err=f},0) end
local function U(bM) aY(V[bM]) end local function bC(g,C) if C then w('PEXPIREAT',g,S(C)) end end local function di(c)
return c==0 and 1 or c end local function bU(cG,J) return not bh(J,' ',1,true)and bh(cG,' '..J..' ',1,true)~=nil end
local function gj(a,X) local k=a.n
return not bU(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',X)or bU(k.D,X) end
local function cx(h,l) for e=1,math.min(#h,#l)do local gt,gu=h:byte(e),l:byte(e) if gt~=gu then return gt<gu end end
return#h<#l end local function ch(f,aq) if f~='0'and not bh(f,'^[1-9]%d*$')then return nil end
return(#f<#aq or(#f==#aq and not cx(aq,f)))and f or nil end local function en(f,J,hZ)
local iS={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local fe=iS[bK(f,'^(%u):')] if not fe or fe==J then
U(hZ) end aY('ERR the key holds a state of '..fe..': use another key for each algorithm') end local function cC(x)
if#x<=15 or(#x==16 and cx(x,'9007199254740992'))then return x+0 end local er=#x%7 local d=er>0 and x:sub(1,er)+0 or 0
for e=er+1,#x,7 do d=M(E(d,10000000),x:sub(e,e+6)+0) end return d end local function iO(f)
local iD,x=bK(f,'^(%-?)(%d+)$') local eI=iD=='-' x=x and ch(x,eI and'9223372036854775808'or'9223372036854775807')
if not x or(eI and x=='0')then en(f,nil,'NOT_A_COUNTER') end local af=cC(x) if af-af~=0 then U('INEXACT_STATE') end
return eI and-af or af end local function fA(g,p) local aG=w('PTTL',g) return aG>=0 and p+aG or nil end
local function fM(a) local g=a.g local f=w('GET',g) if f then local af=#f<16 and bh(f,'^[1-9]%d*$')and f+0 or iO(f)
local y=redis.REDIS_VERSION_NUM and w('PEXPIRETIME',g)or fA(g,a.now_ms)or-1 if y<0 then y=nil elseif y>=(2^53)then
U('INEXACT_STATE') end a.b={i=af,f=y} end end local function cM(t,j,v) if t=='keep'then return v end
return t~='delete'and j or nil end local function eE(Z,p) local cb=Z.Y if p>=cb.k+cb.ttl then return nil end return{
z=cb.z, k=cb.k+cb.ttl, t=(Z.aG or cb.p==0)and cb.t or 0, ttl=cb.ttl, } end local function ho(a) local b=a.aN local k=a.n
if k.aY then k.aY(a,b.M) else for I,Z in ipairs(b.M)do if Z.Y.p>0 and b.now_ms<Z.Y.t then local t,j=k.aK(a,Z.Y,0)
if t~='keep'then if not a.aF then a.aF,a.X=true,a.b end Z.aG=true a.b=cM(t,j,a.b) end end end end
if b.j and b.j.k<=b.now_ms then b.j=nil for I,Z in ipairs(b.M)do if Z.id==b.id then b.j=eE(Z,b.now_ms) end end end end
local function hT(b) return b.j and b.j.p and b.j or nil end local function fZ(b)
local Q,cY,ae=b.c-(b.X and 1 or 0)-#b.am,b.ag,b.Q or 0 for I,Z in ipairs(b.M)do local bX=Z.id~=b.id and eE(Z,b.now_ms)
if bX then cY=math.min(cY or bX.k,bX.k) ae=math.max(ae,bX.k) elseif Z.id~=b.id then Q=Q-1 end end return Q,cY,ae end
local function hm(b) local Q,cY=fZ(b) if b.j or Q<100000 then return nil end return math.max(1,(cY or 0)-b.now_ms) end
local function gf(a) local k=a.n k.N(a,'keep',a.b) return a.remaining end local function bb(ac) local K=ac%1000
return ac<0 and-1 or K==0 and ac/1000 or(ac-K)/1000+1 end local function fr(a) local k=a.n
local hS=a.PARTIAL and a.aa<a.p a.aq=a.SHADOW and not a.ac and(hS or not a.allowed)
if not a.allowed and(a.aq or a.ac)then a.allowed=true if not k.aT then local I,I,I,eU=dD(a) a.ttl=bb(eU) end end end
local function gX(a) local k=a.n local c,b=a.p,a.aN ho(a) a.ac,a.ax=hT(b),hm(b) if a.ac then c=0 elseif a.PARTIAL then
c=math.min(c,gf(a)) end local fs=k.bt or k.H fs(a,c) if a.ax and a.allowed then fs(a,0) a.allowed,a.Q=false,di(c)
if not k.aT then a.ttl=bb(a.ax) end end a.aa=c fr(a) end local function ca(a,c) local k=a.n
local T=k.G(a,c==0 and 1 or c) T=T and bb(av(T))or-1 return T==0 and 1 or T end local em,cB,dS,dK=4000,1000,1000,2*500
local function io(g,bW,n,ad,aq) local bg=w('ZCOUNT',g,bW,n) local aE=math.min(bg,aq) if aE>0 then
local F=bW=='0'and w('ZCOUNT',g,'-inf','(0')or 0 w('ZREMRANGEBYRANK',g,B('%.0f',F),B('%.0f',F+aE-1))
ad,bg,em=ad-aE,bg-aE,aq-aE end return ad,bg end local function eB(a,bW,dt,cq) local g=a.g local ad,bg=w('ZCARD',g),0
if ad>0 and dt>=0 and cq~='delete'then local n=B('%.0f',dt) local aq=cq=='read'and 0 or em if ad<=aq then
local aE=w('ZREMRANGEBYSCORE',g,bW,n) ad,em=ad-aE,aq-aE else ad,bg=io(g,bW,n,ad,aq) end end a.c,a.aw,a.ap=ad-bg,bg,ad>0
end local function dr(g,bl) bl=B('%.0f',bl) local ai=w('ZRANGE',g,bl,bl,'WITHSCORES')[2] return ai and tonumber(ai) end
local function br(g,p) if not redis.REDIS_VERSION_NUM then return fA(g,p) end local e=w('PEXPIRETIME',g)
return e>=0 and e or nil end local function gp(a,c,aB,df,eo) local aA=a.limit-c if aA<0 then return nil
elseif aB<=aA then return 0 end local aG=df(a,aB-aA-1) if eo and(not aG or eo<aG)then aG=eo end
return aG and(aG>=(2^53)and(1/0)or math.max(0,aG-a.now_ms)) end local function dj(a,O) local p,q=a.now_ms,a.a
if O and 2*(O-p)>=3*q then return nil end return p+2*q end local function cz(gE,eD) local bD=0 for F=1,#eD,1000 do
local o={unpack(gE)} for d=F,math.min(F+999,#eD)do o[#o+1]=eD[d] end bD=bD+w(unpack(o)) end return bD end
local function gg(g,ai,ad) local dl={} for I,hG in ipairs(ad)do dl[#dl+1]=ai dl[#dl+1]=hG end cz({'ZADD',g,'XX'},dl) end
local function cK(x) if#x>1 and x:byte()==48 then return nil
elseif#x<20 or(#x==20 and not cx('18446744073709551615',x))then return cC(x) end end local function dV(f,ie)
local h,l,be,bf,K=bK(f,ie) if not h then return nil elseif bh(f,':0%d')then return nil end local n=#bf<17 and bf+0
return#h<16 and h+0 or cK(h), #l<16 and l+0 or cK(l), #be<16 and be+0 or cK(be), n and n<9e15 and n or cK(bf), K end
local function ey(ac) return ac and ac-ac==0 and ac>=1 and ac<=1e15 end
local cc=setmetatable({(2^24)-1,(2^24)-1,2^15-1},cT) local function bj(d) return G(cc,d) end local function bk(h,l)
return G(l,h)and l or h end local function fn(a) local k=a.n return k.aL(a)..' '..k.bG(a) end local function hf(a)
aY(B('ERR clock %.0f %s',a.now_ms,fn(a))) end local function bv(a,aV,fd,ex) ge(a) if#aV~=gi(a,aV,1,fd,ex)-1 then
U('KEYS') elseif a.aU then hf(a) end end local function hK(O,hN,ae) if O-O~=0 then U('INEXACT_STATE') end
local bL=W(O,W(hN,ae)) bL=G(bL,ae)and ae or bL return bL~=O and bL or nil end local function da(a,t,j) local k=a.n
local v,ef=a.b,k.aW if t=='keep'and(not v or not ef)then return nil end local O=v and br(a.g,a.now_ms)
if O and O>=(2^53)then O=dc(cg(O)) end if t=='keep'then local ae=k.f(a,v) return O and G(O,ae)and M(ae,5000)or nil end
local ae=k.f(a,j) local aP=M(ae,5000) if not v then return aP elseif not O then return aP end if ef and t=='rebase'then
return hK(O,k.f(a,v),ae) elseif G(O,ae)then return aP elseif not G(aP,O)or(ef and G(M(k.f(a,v),5000),O))then return nil
end return aP end local function dh(a) local f=w('GET',a.g) if f then local k=a.n
a.b=k.au(f)or en(f,k.K,'FOREIGN_VALUE') end end local function dz(a,t,j) local g=a.g if t=='delete'then w('UNLINK',g)
return end local k=a.n local y=da(a,t,j) if t=='keep'then bC(g,y) elseif y then
w('SET',g,k.av(j),'PXAT',y==0 and'1'or S(y)) else w('SET',g,k.av(j),'KEEPTTL') end end
local cv=setmetatable({(2^24)-1,(2^24)-1,2^16-1},cT) local fg=setmetatable({6553600,11973543,3552},cT)
local gw=setmetatable({9437184,14339741,14210},cT) local fo,gK=string.byte,string.char local function gH(J)
if J=='FIXED'then local function gT(cS,fR) if fR<2 then cS=cS-1 end local hR=(fR+10)%12
local hz=math.floor(cS/4)-math.floor(cS/100)+math.floor(cS/400) return 365*cS+hz+math.floor((153*hR+2)/5)-719468 end
local function dE(d) return gT(math.floor(d/12),d%12) end local function fS(cW)
local bA=1970*12+math.floor(cW/30.436875)+1 while dE(bA)>cW do bA=bA-1 end return bA,cW-dE(bA) end
local function eW(cd,bA) local e=cd.bC+bA local F=dE(e) return(F+math.min(cd.br,dE(e+1)-F-1))*86400000+cd.bN end
local function gJ(bZ,ce,p) local ar=ce%86400000 local bA,cW=fS((ce-ar)/86400000) local cd={bC=bA,br=cW,bN=ar}
local fl=fS(math.floor(p/86400000))-bA local aP=fl-fl%bZ local F,n=eW(cd,aP),eW(cd,aP+bZ) if F>p then F,n=eW(cd,aP-bZ),F
end return F,n,n-F end local function eR(a,p) local cu,ce=a.J,a.Z if cu=='MONTH'or cu=='YEAR'then
local F,n,aQ=gJ(cu=='YEAR'and 12 or 1,ce or 0,p) return math.max(0,F),n,aQ end ce=ce or(cu=='WEEK'and 4*86400000)or 0
local aQ=a.a local fk=(p%aQ-ce%aQ)%aQ return math.max(0,p-fk),p-fk+aQ,aQ end local function hu(a)
local al=a.J and a.J:lower()or B('%.0fms',a.a) return':'..al..(a.Z and B(':%.0f',a.Z/1000)or'') end
local function fq(a,Y) return B(':%s:%.0f',a.J and a.J:lower()or B('%.0fms',a.a),Y) end local function dn(a)
if a.J or a.Z then return eR(a,a.now_ms) end local p,q=a.now_ms,a.a local F=p-p%q return F,F+q end local function iF(a)
if a.J or a.Z then return fq(a,(dn(a))) end local p,q=a.now_ms,a.a local as=(p-p%q)/q
return B(as<2147483648 and':%d'or':%.0f',as) end local function hQ(a) local I,n=dn(a) if a.J or a.Z then return fq(a,n)
end return':'..S(n/a.a) end local function iQ(a) if a.J or a.Z then return(select(3,eR(a,a.now_ms))) end return a.a end
local function dM(a) if a.J or a.Z then local I,n=eR(a,a.now_ms) return n end return a.now_ms+a.a end
local function gm(y,p) if not y then return-2 end local ac=(y>p and y-p or 0)+500 return(ac-ac%1000)/1000 end
local function az(a,c) local r,p,H=a.b,a.now_ms,a.limit local v,ae=r and r.i or 0,c==0 and 1 or c
local z=ae<=H and v+ae<=H local dB=(z or v>=H)and c>0 local j=dB and v+c or v if j>=(2^53)then U('INEXACT_REPLY') end
local y=r and not(dB and v==0)and r.f or nil if not y and(r or dB)then y=(a.J or a.Z)and dM(a)or p+a.a end
a.allowed,a.count,a.ttl,a.e=z,j,gm(y,p),'keep' if dB or(r and not r.f)then a.e,a.l='charge',{i=j,f=y} end end
local function at(a,I,r) local af,H=r and r.i or 0,a.limit a.F=af>0 and af or 0 a.remaining=a.F<H and H-a.F or 0 end
local function T(a,c) local H=a.limit if c>H then return nil elseif a.F+c<=H then return 0 end if a.J or a.Z then
local I,n=dn(a) return n-a.now_ms end return a.a-a.now_ms%a.a end local function bp(a,t,j) local g,v=a.g,a.b
if t=='delete'then w('UNLINK',g) elseif t~='keep'then local cA=j.i-(v and v.i or 0) if cA~=0 then
w('INCRBY',g,cA==1 and'1'or B('%.0f',cA)) end if not v or j.f~=v.f then bC(g,j.f) end end end local function iP(r,p)
return r and r.i or 0,gm(r and r.f,p) end local function gY(a,c) local v=a.b and a.b.i or 0
local db=di(c)<=a.limit and v+di(c)<=a.limit az(a,db and c or 0) a.allowed,a.Q=db,di(c) end local function fz(a)
local I,n=dn(a) return n end local function fF(a,C) return not C or not G(C,(dn(a))) end local function aD(a,C,c)
local r=a.b if not r or not fF(a,C)then return'keep' end local af=r.i if af>0 and c>0 then
af=math.max(0,math.min(af,a.limit)-c) end if af==r.i and r.f then return'keep' end return'refund',{i=af,f=r.f or dM(a)}
end local function aC(a,C,c) local r=a.b if c==0 or not fF(a,C)then return'keep' end local v=r and r.i or 0
if v+c+1>=(2^53)then U('INEXACT_REPLY') end local O=v~=0 and r.f return'charge',{i=v+c,f=O or dM(a)} end
local function ct(a,aJ,aN) local r,aR=a.b,aJ.p or 0 if aJ.t~=fz(a)then return'keep' elseif aN>=aR then
return aC(a,nil,aN-aR) elseif not r or r.i<=0 then return'keep' end local af=math.max(0,r.i-(aR-aN))
return'refund',{i=af,f=r.f or dM(a)} end return{ K='FIXED', D=' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ',
aT=true, ba=hu, aL=iF, bG=hQ, bh=iQ, W=fM, H=az, N=at, G=T, S=bp, bg=iP, bt=gY, t=fz, refund=aD, ah=aC, aK=ct, }
elseif J=='WINDOW'then local function bx(a,r) local p=a.now_ms local y=r and r.f if not r then return nil,0
elseif y and y<=p then return nil,0 end local aP=p+a.a return y and y<aP and y or aP,r.i>0 and r.i or 0 end
local function gn(r,D) if D and D~=r.f then return'rebase',{i=r.i,f=D} end return'keep' end local function at(a,I,r)
local D,R=bx(a,r) a.k,a.F,a.remaining=D,R,R<a.limit and a.limit-R or 0 end local function T(a,c) local H=a.limit
if c>H then return nil elseif a.F+c<=H then return 0 end return ag(W(E(a.k,1000),a.v),1000) end local function az(a,c)
local r,H=a.b,a.limit local D,R=bx(a,r) local z=R+(c==0 and 1 or c)<=H a.allowed,a.count=z,av(R) if z and c>0 then
D=D and r.i>=0 and D or a.now_ms+a.a a.e,a.l='charge',{i=R+c,f=D} else a.e,a.l=gn(r,D) end at(a,a.e,cM(a.e,a.l,r))
if z then a.ttl=bb(av(T(a,H))) else a.ttl=ca(a,c) end end local function bp(a,t,j) local g,v=a.g,a.b if t=='delete'then
w('UNLINK',g) elseif t=='keep'then return elseif v and v.f==j.f then local cA=j.i-v.i
w('INCRBY',g,cA==1 and'1'or B('%.0f',cA)) elseif v and v.i==j.i then bC(g,j.f) else w('SET',g,S(j.i),'PXAT',S(j.f)) end
end local function bF(a,r) local y=r and r.f return y and y>a.now_ms and y or a.now_ms+a.a end local function aD(a,C,c)
local r=a.b local D,R=bx(a,r) local hv=D and C and G(M(C,a.a),D) if not D or R==0 or hv or c==0 then return gn(r,D)
elseif c>=R then return'delete' end return'refund',{i=R-c,f=D} end local function aC(a,C,c)
if c==0 or(C and not G(a.now_ms,M(C,a.a)))then return'keep' end local D,R=bx(a,a.b) if R+c>=(2^53)then
U('INEXACT_REPLY') end D=D and a.b.i>=0 and D or a.now_ms+a.a return'charge',{i=R+c,f=D} end local function ct(a,aJ,aN)
local r,aR=a.b,aJ.p or 0 if aJ.t<=a.now_ms then return'keep' elseif aN>=aR then local t,j=aC(a,nil,aN-aR)
if t=='charge'and not bx(a,r)then j.f=math.min(aJ.t,a.now_ms+a.a) end return t,j
elseif not r or r.i<=0 or r.f~=aJ.t then return'keep' end local af=r.i-(aR-aN) if af<=0 then return'delete' end
return'refund',{i=af,f=r.f} end local function es(a,t,j) local r=a.b if t=='rebase'then return'keep'
elseif t=='charge'and r and r.i>=0 and bx(a,r)then return'charge',{i=j.i,f=r.f} end return t,j end return{ K='WINDOW',
D=' COST PARTIAL ALWAYS RESERVE RESERVATION ', W=fM, H=az, N=at, G=T, S=bp, aO=es, t=bF, refund=aD, ah=aC, aK=ct, }
elseif J=='SLIDING'then local function dg(a,cq) eB(a,'0',a.now_ms-a.a,cq) a.aP=500 if cq=='write'then dK=(dK-dK%2)/2
a.aP=dK end end local function az(a,c) local g,aa=a.g,a.c local z=aa+(c==0 and 1 or c)<=a.limit
a.allowed,a.count,a.ttl,a.e=z,aa,bb(a.a),'keep' if z and c>0 then a.e,a.l='charge',{aC=c}
elseif not z and aa>0 and w('ZCOUNT',g,'('..B('%.0f',a.now_ms),'+inf')>0 then a.e,a.l='rebase',{bO=true} end end
local function hO(a) local g=a.g local bW=a.ap and dr(g,0) return bW and bW<0 and w('ZCOUNT',g,'-inf','(0')or 0 end
local function fO(a,bl) local ai=bl>=0 and bl<a.c+a.aw and dr(a.g,bl) return ai and math.max(0,math.ceil(ai)) end
local function df(a,d) local p,dY=a.now_ms,a.aM a.aI=a.aI or hO(a) if d>=a.c+dY-a.aI then return nil end
local bl=d+a.aI+a.aw local e=fO(a,bl) if e and dY>0 and e>p then e=nil end if not e then local de=fO(a,bl-dY)
e=de and de>p and de or p end if a.bJ then a.aQ=a.aQ or w('ZCOUNT',a.g,'-inf',S(p))+a.aP e=bl<a.aQ and math.min(e,p)or e
end return e+a.a end local function at(a,t,j) a.aI,a.aQ,a.aM,a.bJ=nil,nil,t=='charge'and j.aC or 0,t=='rebase'
local bm=a.limit-a.c-a.aM a.remaining=bm>0 and bm or 0 a.ay=a.ap and br(a.g,a.now_ms)or nil end local function T(a,c)
return gp(a,c,a.c+a.aM,df,(dj(a,a.ay)or a.ay)+1) end local function gA(g,ac,Q) local ai=B('%.0f',ac)
local d=w('ZCOUNT',g,ai,ai) while Q>1 do local o={} for I=1,math.min(Q,1000)do o[#o+1]=ai o[#o+1]=B('%s-0.%.0f',ai,d)
d=d+1 end Q=Q-w('ZADD',g,'NX',unpack(o)) end while Q>0 do Q=Q-w('ZADD',g,'NX',ai,ai..'-0.'..S(d)) d=d+1 end end
local function gQ(a,t,j) local g=a.g if t=='delete'then w('UNLINK',g) return end
local y=dj(a,a.ap and br(g,a.now_ms)or nil) if j.bO then local ai=B('%.0f',a.now_ms)
gg(g,ai,w('ZRANGEBYSCORE',g,'('..ai,'+inf','LIMIT','0',S(a.aP))) bC(g,y) return end local ad=a.c+a.aw
local F,n=ad-j.remove,ad-1 if j.bf then n=w('ZCOUNT',g,'-inf',S(j.bf))-1 F=math.max(0,n+1-j.remove) end
if n<0 or F>0 or n+1<ad then bC(g,y) end if n>=0 then w('ZREMRANGEBYRANK',g,B('%.0f',F),B('%.0f',n)) end end
local function bp(a,t,j) local g=a.g if t=='charge'then local y=dj(a,a.ap and br(g,a.now_ms)or nil)
gA(g,j.bv or a.now_ms,j.aC) bC(g,y) elseif t~='keep'then gQ(a,t,j) elseif a.ap then bC(g,dj(a,br(g,a.now_ms))) end end
local function aD(a,C,c) local Q=math.min(a.c,c) if Q==0 then return'keep' end return'refund',{remove=Q,bf=C} end
local function aC(a,C,c) if c==0 then return'keep' elseif not C or not G(C,a.now_ms)then return'charge',{aC=c}
elseif C<=a.now_ms-a.a then return'keep' end return'charge',{aC=c,bv=C} end return{ K='SLIDING', D=' COST PARTIAL ',
aT=true, bj=true, W=dg, H=az, N=at, G=T, S=bp, refund=aD, ah=aC, } elseif J=='COUNTER'then local function bG(f)
local q,as,ak,ao,K=dV(f,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not ey(q)or not as or not ak or not ao or K~=''then
return nil end local aX=E(as,q) local Y=E(aX,1000) if Y-Y~=0 or ak-ak~=0 or ao-ao~=0 then if bj(Y)or bj(ak)or bj(ao)then
return nil end end if aX==0 and ao~=0 then return nil end return{a=q,B=aX,current=ak,previous=ao} end
local function bH(A) local q,ak,ao=A.a,A.current,A.previous local as=aT(A.B,q) local hy=as-as~=0 or ak-ak~=0 or ao-ao~=0
if hy then as,ak,ao=S(as),S(ak),S(ao) return'C:'..S(q)..':'..as..':'..ak..':'..ao end
return B('C:%.0f:%.0f:%.0f:%.0f',q,as,ak,ao) end local function y(I,A)
local dU=A.current~=0 and 2 or A.previous~=0 and 1 or 0 return M(A.B,A.a*dU) end local function cN(q,aX,ak,ao)
return{a=q,B=aX,current=ak,previous=ao} end local function fW(d) return bk(d,cc) end local function ik(a,ay,aX)
local q=a.a if G(a.now_ms,ay.B)then return cN(q,aX,bk(M(ay.current,ay.previous),a.limit),0) end local cV=cN(q,aX,0,0)
local function bv(Q,fw) if fw>aX then cV.current=fW(M(cV.current,Q)) elseif fw+q>aX then
cV.previous=fW(M(cV.previous,Q)) end end bv(ay.current,ay.B+ay.a) bv(ay.previous,ay.B) return cV end
local function dx(a,ay) local p,q=a.now_ms,a.a local aX=p-p%q if not ay then return cN(q,aX,0,0)
elseif ay.B==aX and ay.a==q then return ay end return ik(a,ay,aX) end local function fc(a,A) local ao=A.previous
return ao==0 and 0 or E(ao,W(a.q,a.v-A.B*1000)) end local function aW(a,A,dT) a.bq=A
a.remaining=W(W(a.limit,A.current),dT==0 and 0 or ag(dT,a.q)) end local function at(a,I,ay) local A=dx(a,ay)
aW(a,A,fc(a,A)) end local function gk(a,aA,Q) return Q==0 and 0 or W(a.q,(aT(E(aA,a.q),Q))) end local function T(a,c)
local aA,A=a.limit-c,a.bq local ak,Y=A.current,E(A.B,1000) if aA<0 then return nil elseif G(aA,ak)then
Y=M(M(Y,a.q),gk(a,aA,ak)) else Y=M(Y,gk(a,aA-ak,A.previous)) end return ag(W(Y,a.v),1000) end local function az(a,c)
local ay,H,al=a.b,a.limit,a.q local A=dx(a,ay) local ak,ao=A.current,fc(a,A) local ae=E(M(ak,c==0 and 1 or c),al)
local z=not G(E(H,al),M(ae,ao)) a.allowed,a.e=z,'keep' a.count=av(ao==0 and ak or M(ak,(aT(ao,al)))) if z and c>0 then
A=cN(a.a,A.B,M(ak,c),A.previous) a.e,a.l='charge',A elseif ay and H>0 and(G(a.now_ms,ay.B)or ay.a~=a.a)then
if ak~=0 or A.previous~=0 then a.e,a.l='rebase',A end end if z then a.ttl=av(ag(W(E(y(a,A),1000),a.v),1000000)) else
aW(a,A,ao) a.ttl=ca(a,c) end end local function gb(A,C) if not C or not G(C,A.B)then return'current' end
return C+A.a>=A.B and'previous'or nil end local function aD(a,C,c) local A=dx(a,a.b) local bv=gb(A,C)
local hk=bv=='current'and c or 0 local fD=bv=='previous'and c or 0 if not C then fD=W(c,A.current) end
local ak,ao=W(A.current,hk),W(A.previous,fD) if not G(ak,A.current)and not G(ao,A.previous)then return'keep'
elseif ak==0 and ao==0 then return'delete' end return'refund',cN(A.a,A.B,ak,ao) end local function aC(a,C,c)
local A=dx(a,a.b) local bv=gb(A,C) if c==0 or not bv then return'keep' end local aB=cN(A.a,A.B,A.current,A.previous)
aB[bv]=M(aB[bv],c) local dT=M(E(aB.current,a.q),fc(a,aB)) if bj(aB[bv])or G(E(cc,a.q),dT)then U('OVERFLOW') end
return'charge',aB end local function bF(a) return a.now_ms-a.now_ms%a.a+2*a.a end local function ct(a,aJ,aN)
local aR=aJ.p or 0 if aJ.t<=a.now_ms then return'keep' elseif aN<aR then return aD(a,aJ.z,aR-aN) end
return aC(a,aJ.z,aN-aR) end return{ K='COUNTER', D=' COST PARTIAL ALWAYS RESERVE RESERVATION ', au=bG, av=bH, f=y,
expiry_after=da, W=dh, H=az, N=at, G=T, S=dz, t=bF, refund=aD, ah=aC, aK=ct, } elseif J=='TOKEN'then
local function dm(a,i) local o,al,u=i.w,a.q,i.x if i.a~=a.a and o~=0 then o=ag(E(o,al),E(i.a,1000)) end
u=bk(M(E(u,al),o),a.I) return i.r==0 and u or M(u,E(i.r,al)) end local function bu(a,i) if not i then return 0 end
return W(dm(a,i),E(W(a.v,i.at),a.limit)) end local function dk(aH) return bk(aH,cv) end local function et(aH)
return G(cv,aH) end local function eT(a) if a.limit>0 and G(E(a.limit,fg),a.I)then U('SPAN') end end
local function bQ(a,an) local ar=ag(an,a.limit) return ar-ar==0 and ar or dk(ar) end local function aW(a,an) a.aS=an
a.remaining=a.limit==0 and 0 or W(a.o,ag(an,a.q)) end local function at(a,I,i) aW(a,bu(a,i)) end local function T(a,c)
local H,aA=a.limit,a.o-c if H==0 or aA<0 then return nil end local ar=ag(W(a.aS,E(aA,a.q)),H)
if ar-ar~=0 and et(M(ar,a.v))then return nil end return ag(ar,1000) end local function cp(a) a.I=E(a.o,a.q)
if a.I-a.I~=0 then eT(a) end end local function ev(u,o,q,e) local eZ=bj(u)or(not G(u,cc)and o~=0)
return eZ or bj(e)or not G(o,E(q,1000)) end local function ee(K) local x=bK(K,'^:(%d+)$') local au=x and cK(x)
return au and au~=0 and not bj(au)and au or nil end local function bG(f)
local u,o,q,e,K=dV(f,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not ey(q)or not u or not o or not e then return nil end
local au=0 if K~=''then au=ee(K) if not au then return nil end end if u-u~=0 or e-e~=0 or o-o~=0 or o>=q*1000 then
if ev(u,o,q,e)then return nil end end return{x=u,w=o,a=q,at=e,r=au} end local function ej(i)
local u,o,q,e=i.x,i.w,i.a,i.at local f='T:'..S(u)..':'..S(o)..':'..S(q)..':'..S(e) return i.r==0 and f or f..':'..S(i.r)
end local function bH(i) local u,o,q,e=i.x,i.w,i.a,i.at if i.r~=0 or u-u~=0 or o-o~=0 or e-e~=0 then return ej(i) end
return B('T:%.0f:%.0f:%.0f:%.0f',u,o,q,e) end local function y(a,i) local e=i.at if a.limit>0 then e=M(e,bQ(a,dm(a,i)))
e=e-e==0 and e or dk(e) end return ag(e,1000) end local function az(a,c) local i,H,al,bt=a.b,a.limit,a.q,a.v
local v=bu(a,i) local ae=M(v,E(c==0 and 1 or c,al)) local z=H>0 and not G(a.I,ae) local aS,o=aT(v,al)
a.allowed,a.count,a.e=z,av(o==0 and aS or M(aS,1)),'keep' if z and c>0 then a.e='charge'
a.l={x=M(aS,c),w=o,a=a.a,at=bt,r=0} a.ttl=av(ag(bQ(a,ae),1000000)) else if i and H>0 and G(bt,i.at)then a.e='rebase'
a.l={x=i.x,w=i.w,a=i.a,at=bt,r=i.r} end if z then a.ttl=av(ag(bQ(a,v),1000000)) else aW(a,v) a.ttl=ca(a,c) end end
a.aE=false and z and bQ(a,v)or 0 end local function aD(a,I,c) local i=a.b if not i or c==0 or bu(a,i)==0 then
return'keep' end local u,o=i.x,i.w if not G(u,a.o)then u,o=a.o,0 end local K=W(c,i.r) if G(u,K)then u,o=0,0 else
u=W(u,K) end local aZ= {x=u,w=o,a=i.a,at=i.at,r=W(i.r,c)} if bu(a,aZ)==0 then return'delete' end return'refund',aZ end
local function aC(a,I,c) if c==0 or a.limit==0 then return'keep' end local an=M(bu(a,a.b),E(c,a.q))
if G(E(cc,a.q),an)then U('OVERFLOW') end local aS,o=aT(an,a.q) local aq=o==0 and a.o or a.o-1
local u,au=bk(aS,aq),W(aS,aq) return'charge',{x=u,w=o,a=a.a,at=a.v,r=au} end return{ K='TOKEN',
D=' COST PARTIAL BURST ALWAYS ', aW=true, delays=false, aB=cp, au=bG, av=bH, f=y, expiry_after=da, W=dh, H=az, N=at,
G=T, S=dz, refund=aD, ah=aC, } elseif J=='LEAKY'then local function dm(a,i) local o,al,u=i.w,a.q,i.x
if i.a~=a.a and o~=0 then o=ag(E(o,al),E(i.a,1000)) end u=bk(M(E(u,al),o),a.I) return i.r==0 and u or M(u,E(i.r,al)) end
local function bu(a,i) if not i then return 0 end return W(dm(a,i),E(W(a.v,i.at),a.limit)) end local function dk(aH)
return bk(aH,cv) end local function et(aH) return G(cv,aH) end local function eT(a)
if a.limit>0 and G(E(a.limit,fg),a.I)then U('SPAN') end end local function bQ(a,an) local ar=ag(an,a.limit)
return ar-ar==0 and ar or dk(ar) end local function aW(a,an) a.aS=an a.remaining=a.limit==0 and 0 or W(a.o,ag(an,a.q))
end local function at(a,I,i) aW(a,bu(a,i)) end local function T(a,c) local H,aA=a.limit,a.o-c if H==0 or aA<0 then
return nil end local ar=ag(W(a.aS,E(aA,a.q)),H) if ar-ar~=0 and et(M(ar,a.v))then return nil end return ag(ar,1000) end
local function cp(a) a.I=E(a.o,a.q) if a.I-a.I~=0 then eT(a) end end local function ev(u,o,q,e)
local eZ=bj(u)or(not G(u,cc)and o~=0) return eZ or bj(e)or not G(o,E(q,1000)) end local function ee(K)
local x=bK(K,'^:(%d+)$') local au=x and cK(x) return au and au~=0 and not bj(au)and au or nil end local function bG(f)
local u,o,q,e,K=dV(f,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not ey(q)or not u or not o or not e then return nil end
local au=0 if K~=''then au=ee(K) if not au then return nil end end if u-u~=0 or e-e~=0 or o-o~=0 or o>=q*1000 then
if ev(u,o,q,e)then return nil end end return{x=u,w=o,a=q,at=e,r=au} end local function ej(i)
local u,o,q,e=i.x,i.w,i.a,i.at local f='L:'..S(u)..':'..S(o)..':'..S(q)..':'..S(e) return i.r==0 and f or f..':'..S(i.r)
end local function bH(i) local u,o,q,e=i.x,i.w,i.a,i.at if i.r~=0 or u-u~=0 or o-o~=0 or e-e~=0 then return ej(i) end
return B('L:%.0f:%.0f:%.0f:%.0f',u,o,q,e) end local function y(a,i) local e=i.at if a.limit>0 then e=M(e,bQ(a,dm(a,i)))
e=e-e==0 and e or dk(e) end return ag(e,1000) end local function az(a,c) local i,H,al,bt=a.b,a.limit,a.q,a.v
local v=bu(a,i) local ae=M(v,E(c==0 and 1 or c,al)) local z=H>0 and not G(a.I,ae) local aS,o=aT(v,al)
a.allowed,a.count,a.e=z,av(o==0 and aS or M(aS,1)),'keep' if z and c>0 then a.e='charge'
a.l={x=M(aS,c),w=o,a=a.a,at=bt,r=0} a.ttl=av(ag(bQ(a,ae),1000000)) else if i and H>0 and G(bt,i.at)then a.e='rebase'
a.l={x=i.x,w=i.w,a=i.a,at=bt,r=i.r} end if z then a.ttl=av(ag(bQ(a,v),1000000)) else aW(a,v) a.ttl=ca(a,c) end end
a.aE=true and z and bQ(a,v)or 0 end local function aD(a,I,c) local i=a.b if not i or c==0 or bu(a,i)==0 then
return'keep' end local u,o=i.x,i.w if not G(u,a.o)then u,o=a.o,0 end local K=W(c,i.r) if G(u,K)then u,o=0,0 else
u=W(u,K) end local aZ= {x=u,w=o,a=i.a,at=i.at,r=W(i.r,c)} if bu(a,aZ)==0 then return'delete' end return'refund',aZ end
local function aC(a,I,c) if c==0 or a.limit==0 then return'keep' end local an=M(bu(a,a.b),E(c,a.q))
if G(E(cc,a.q),an)then U('OVERFLOW') end local aS,o=aT(an,a.q) local aq=o==0 and a.o or a.o-1
local u,au=bk(aS,aq),W(aS,aq) return'charge',{x=u,w=o,a=a.a,at=a.v,r=au} end return{ K='LEAKY',
D=' COST PARTIAL BURST ', aW=true, delays=true, aB=cp, au=bG, av=bH, f=y, expiry_after=da, W=dh, H=az, N=at, G=T, S=dz,
refund=aD, ah=aC, } elseif J=='GCRA'then local function iu(a) if G(gw,a.aj)then U('SPAN') end end local function gZ(f)
local x=ch(f,'18446744073709551615') if not x then return nil end return{ad=#x>3 and cC(x:sub(1,-4))or 0,ao=x:sub(-3)+0}
end local function hc(aF) return aF.ad==0 and B('%d',aF.ao)or S(aF.ad)..B('%03d',aF.ao) end local function cp(a)
a.ab,a.aj=0,0 if a.limit>0 then local gq=E(a.q,1000) if G(gq,a.limit)then U('SPAN') end a.ab=ag(gq,a.limit)
a.aj=E(a.o,a.ab) if a.aj-a.aj~=0 then iu(a) end end end local function bG(f)
local aH,eH=bK(f,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not aH or aH:byte()>56 then return gZ(f) end
return{ad=aH+0,ao=eH+0} end local function bH(aF) local aH=aF.ad if aH-aH~=0 or aH<1000000 then return hc(aF) end
return B('%.0f%03d',aH,aF.ao) end local function y(I,aF) return ag(aF.ao==0 and aF.ad or M(aF.ad,1),1000) end
local function dR(a,aj) local aH,eH=aT(aj,1000) return{ad=M(a.v,aH),ao=eH} end local function dw(a,aF)
local aj,gl=0,a.aj if aF and not G(aF.ad,a.v)then aj=M(E(W(aF.ad,a.v),1000),aF.ao) if G(gl,aj)then return gl,true end
end return aj,false end local function go(a,aj) return a.ab==0 and 0 or ag(aj,a.ab) end local function aW(a,aj) a.bk=aj
a.remaining=a.ab==0 and 0 or W(a.o,go(a,aj)) end local function at(a,I,aF) aW(a,(dw(a,aF))) end local function T(a,c)
local cE=a.ab if cE==0 or c>a.o then return nil end return ag(W(a.bk,W(a.aj,E(c,cE))),1000000) end
local function az(a,c) local aj,gG=dw(a,a.b) local cE=a.ab local j=M(aj,E(c==0 and 1 or c,cE))
local z=cE~=0 and not G(a.aj,j) a.allowed,a.count,a.e=z,av(go(a,aj)),'keep' if z and c==0 then
a.ttl=av(ag(aj,1000000000)) elseif z then a.e,a.l='charge',dR(a,j) a.ttl=av(ag(j,1000000000)) else if gG and cE~=0 then
a.e,a.l='rebase',dR(a,aj) end aW(a,aj) a.ttl=ca(a,c) end end local function aD(a,I,c) local aj=dw(a,a.b)
local aZ=E(c,a.ab) if aj==0 or aZ==0 then return'keep' elseif not G(aZ,aj)then return'delete' end
return'refund',dR(a,W(aj,aZ)) end local function aC(a,I,c) if c==0 or a.ab==0 then return'keep' end local aj=dw(a,a.b)
return'charge',dR(a,bk(M(aj,E(c,a.ab)),a.aj)) end return{ K='GCRA', D=' COST PARTIAL BURST ', aB=cp, au=bG, av=bH, f=y,
expiry_after=da, W=dh, H=az, N=at, G=T, S=dz, refund=aD, ah=aC, } elseif J=='ROLLING'then local cU=4096 local dv=8192
local aI=2^32 local function aM(f,d) local h,l,be,bf,ci,cj,bI=fo(f,15*d+3,15*d+9) if bI>=32 then U('INEXACT_STATE') end
return h+256*(l+256*(be+256*(bf+256*(ci+256*(cj+256*bI))))) end local function by(f,d)
local h,l,be,bf,ci,cj,bI,hp=fo(f,15*d+10,15*d+17) return ci+256*(cj+256*(bI+256*hp)),h+256*(l+256*(be+256*bf)) end
local function cy(ac,P,L) local h,l=ac%16777216,P%65536 local be,bf=L%65536,(ac-ac%16777216)/16777216
local ci,cj,bI=(P-l)/65536,(L-be)/65536,bf%65536 return gK( h%256,(h-h%256)/256%256,(h-h%65536)/65536,
bI%256,(bI-bI%256)/256,(bf-bI)/65536%256,(bf-bf%16777216)/16777216, be%256,(be-be%256)/256,cj%256,(cj-cj%256)/256,
l%256,(l-l%256)/256,ci%256,(ci-ci%256)/256 ) end local function iK(P,L,ht,hB) local R=(P-ht)*aI+(L-hB)
return R<0 and R+aI*aI or R end local function cP(P,L,hW,hX) P,L=P+hW,L+hX if L>=aI then P,L=P+1,L-aI end
return P%aI,L,P>=aI end local function eq(R) local L=R%aI return(R-L)/aI,L end local function dA(f,aa,ac)
if aa==0 or aM(f,aa-1)<=ac then return aa end local cw,ds=0,aa while ds>1 do local ep=(ds-ds%2)/2
if aM(f,cw+ep)<=ac then cw=cw+ep end ds=ds-ep end return aM(f,cw)<=ac and cw+1 or cw end local function gd(a,f)
local aa=(#f-2)/15 if bO(f,1,2)~='R:'or aa%1~=0 or aa<1 or aa>dv then return nil end local bg,F,P,L=a.now_ms-a.a,0,0,0
if bg>=0 and aM(f,0)<=bg then F=dA(f,aa,bg) P,L=by(f,F-1) local dI,eA=by(f,aa-1) if dI<P or(dI==P and eA<L)then
return nil end end return{y=f,c=aa,u=F,hi=P,lo=L} end local function dg(a) local f=w('GET',a.g) if f then
a.b=gd(a,f)or en(f,'ROLLING','FOREIGN_VALUE') end end local function cR(m,d) local P,L=by(m.y,d)
return iK(P,L,m.hi,m.lo) end local function du(m) return m and m.c>0 and cR(m,m.c-1)or 0 end local function cr(a,h,l)
local q=a.a if h==l then return true elseif q<=cU or math.abs(h-l)>=q/cU+1 then return false end
return(aT(E(h,cU),q))==(aT(E(l,cU),q)) end local function ei(m,bJ,aU,K,co) local f,v,F=m.y,m.c,m.u
local aa,eK=bJ+(v-K)+1,15*bJ+2 local j={y=bO(f,1,eK)..aU,c=aa,u=F,hi=m.hi,lo=m.lo} j.write,j.bb,j.ar='SETRANGE',eK,aU
if K<v then j.ar=aU..bO(f,15*K+3) j.y=bO(f,1,eK)..j.ar elseif bJ==v then j.write='APPEND' end
if v==0 or(F>0 and F*2>=v)or co or aa<v or aa>dv then j.write='SET' end return j end
local function bL(f,hj,iJ,bE,cf,P,L) local an={} for d=hj,iJ-1 do local dJ,dL=bE,cf if not bE then dJ,dL=by(f,d)
dJ,dL=cP(dJ,dL,P,L) end an[#an+1]=cy(aM(f,d),dJ,dL) end return table.concat(an) end local function gM(a,m,ax,e,P,L,co)
local f,aa,bJ,K=m.y,m.c,ax,ax local bc,bo,ac=m.hi,m.lo,e if ax>m.u then bc,bo=by(f,ax-1) end
if ax>m.u and cr(a,aM(f,ax-1),e)then bJ=ax-1 elseif cr(a,aM(f,ax),e)then ac,K=aM(f,ax),ax+1 bc,bo=by(f,ax) end
bc,bo=cP(bc,bo,P,L) local de=bL(f,K,aa,nil,nil,P,L) local aS={y=bO(f,1,15*K+2)..de,c=aa,u=m.u,hi=m.hi,lo=m.lo}
return ei(aS,bJ,cy(ac,bc,bo),K,co) end local function aB(a,m,e,R) local f,aa=m.y,m.c local ax=dA(f,aa,e) local P,L=eq(R)
local bc,bo,co,bJ=m.hi,m.lo,false,aa if aa>0 then local dI,eA=by(f,aa-1) bc,bo,co=cP(dI,eA,P,L) if ax<aa then
return gM(a,m,ax,e,P,L,co) elseif aa>m.u then bJ=cr(a,aM(f,aa-1),e)and aa-1 or aa else bc,bo=cP(m.hi,m.lo,P,L) end else
bc,bo=P,L end return ei(m,bJ,cy(e,bc,bo),aa,co) end local function hL(a,m) local f,p=m.y,a.now_ms local ax=dA(f,m.c,p)
local ez=ax>m.u and cr(a,aM(f,ax-1),p) local P,L=by(f,m.c-1) return ei(m,ez and ax-1 or ax,cy(p,P,L),m.c,false) end
local function iy(a,m) local f,am=m.y,{} for d=m.u,m.c-1 do local P,L=by(f,d)
P,L=cP(P,L,(aI-m.hi-(m.lo>0 and 1 or 0))%aI,(aI-m.lo)%aI) local n=am[#am]
if(n or P>0 or L>0)and not(n and n.hi==P and n.lo==L)then am[#am+1]={ms=aM(f,d),hi=P,lo=L} end end if#am>cU+1 then
local cl={} for I,aU in ipairs(am)do local ez=#cl>0 and cr(a,aU.ms,cl[#cl].ms) cl[ez and#cl or#cl+1]=aU end am=cl end
if#am>dv then local n,aj=am[#am],0 while aj<#am and am[aj+1].ms<=a.now_ms do aj=aj+1 end
for d=#am,math.min(aj,dv-1)+1,-1 do am[d]=nil end am[#am+1]=n end local an={'R:'} for d,aU in ipairs(am)do
an[d+1]=cy(aU.ms,aU.hi,aU.lo) end return table.concat(an) end local function at(a,I,m) local R=du(m)
a.bB,a.F,a.remaining=m,R,R<a.limit and a.limit-R or 0 end local function T(a,c) local aA,m,R=a.limit-c,a.bB,a.F
if aA<0 then return nil elseif R<=aA then return 0 end local eG,bV,bT=R-aA,m.u,m.c-1 if cR(m,bV)>=eG then bT=bV
elseif cR(m,bT>0 and bT-1 or 0)<eG then bV=bT end while bV<bT do local eF=(bV+bT-(bV+bT)%2)/2 if cR(m,eF)>=eG then bT=eF
else bV=eF+1 end end local aG=aM(m.y,bV)+a.a-a.now_ms return aG>0 and aG or 0 end local function az(a,c)
local m,H=a.b,a.limit local R=du(m) local z=R+(c==0 and 1 or c)<=H a.allowed,a.count,a.e=z,av(R),'keep'
if z and c>0 then a.e='charge' a.l=aB(a,m or{y='R:',c=0,u=0,hi=0,lo=0},a.now_ms,c)
elseif not z and R>0 and aM(m.y,m.c-1)>a.now_ms then a.e,a.l='rebase',hL(a,m) end at(a,a.e,cM(a.e,a.l,m)) if z then
a.ttl=bb(av(T(a,H))) else a.ttl=ca(a,c) end end local function iB(a,j,y,O) local g,f=a.g,j.write=='SET'and iy(a,j)or j.y
if y then w('SET',g,f,'PXAT',S(y)) elseif O then w('SET',g,f,'KEEPTTL') end end local function bp(a,t,j)
local g,v=a.g,a.b if t=='delete'then w('UNLINK',g) return end local O=v and not a.bl and br(g,a.now_ms)or nil
local y=dj(a,O) if t~='keep'then local gr=j.write if gr=='SET'or a.aF then iB(a,j,y,O) return elseif gr=='APPEND'then
w('APPEND',g,j.ar) else w('SETRANGE',g,B('%d',j.bb),j.ar) end elseif du(v)==0 then return end bC(g,y) end
local function aD(a,C,c) local m=a.b if not m then return'keep' end local f,n=m.y,m.c if C then C=C-C==0 and C or(2^53)
n=dA(f,m.c,C) local eu=n>m.u and aM(f,n-1)==C if not eu and n<m.c and cr(a,aM(f,n),C)then n=n+1 end end
local R,bE,cf=0,m.hi,m.lo if n>m.u then R=cR(m,n-1) bE,cf=by(f,n-1) end local Q=math.min(c,R) if Q==0 then return'keep'
elseif Q==du(m)then return'delete' end local P,L=eq(Q) P,L=(aI-P-(L>0 and 1 or 0))%aI,(aI-L)%aI bE,cf=cP(bE,cf,P,L)
local Y=n while Y>0 do local bc,bo=by(f,Y-1) if bc<bE or(bc==bE and bo<=cf)then break end Y=Y-1 end
local fp=bL(f,Y,n,bE,cf)..bL(f,n,m.c,nil,nil,P,L) local j={y=bO(f,1,15*Y+2)..fp,c=m.c,u=m.u}
j.hi,j.lo,j.write,j.bb,j.ar=m.hi,m.lo,'SETRANGE',15*Y+2,fp if m.u>0 and m.u*2>=m.c then j.write='SET' end
return'refund',j end local function aC(a,C,c) local p,m=a.now_ms,a.b C=C and G(C,p)and C or p
if c==0 or(C<p and C<=p-a.a)then return'keep' end local R=du(m)+c if R>=(2^53)then
U(R>2^63 and'OVERFLOW'or'INEXACT_REPLY') end return'charge',aB(a,m or{y='R:',c=0,u=0,hi=0,lo=0},C,c) end
local function bF(a) return a.now_ms+a.a end local function hn(a,gC) local m,am,v,ed=a.b,{},0,false
for d=m and m.u or 0,m and m.c-1 or-1 do local dt=av(cR(m,d)) am[#am+1]={ms=aM(m.y,d),F=math.max(0,dt-v)}
v=math.max(v,dt) end local eS,cm=0,{} for I,ab in ipairs(gC)do local e,aG=ab.Y.z,ab.Y.p if aG>0 and a.now_ms<ab.Y.t then
local n=0 while am[n+1]and am[n+1].ms<=e do n=n+1 end local eu=n>0 and am[n].ms==e
if not eu and am[n+1]and cr(a,am[n+1].ms,e)then n=n+1 end for d=eS+1,n do cm[#cm+1]=am[d] end eS=math.max(eS,n)
while aG>0 and#cm>0 do local dN=cm[#cm] local cQ=math.min(aG,dN.F) dN.F,aG=dN.F-cQ,aG-cQ ab.aG=ab.aG or cQ>0
if dN.F==0 then cm[#cm]=nil end end ed=ed or ab.aG end end if not ed then return end local an,fb={'R:'},0
for I,aU in ipairs(am)do if aU.F>0 then fb=fb+aU.F an[#an+1]=cy(aU.ms,eq(fb)) end end a.aF,a.X=true,a.b
a.b=#an>1 and gd(a,table.concat(an))or nil a.bl=not a.b end local function ct(a,aJ,aN) local aR=aJ.p or 0
if aJ.t<=a.now_ms then return'keep' elseif aN<aR then return aD(a,aJ.z,aR-aN) end return aC(a,aJ.z,aN-aR) end return{
K='ROLLING', D=' COST PARTIAL ALWAYS RESERVE RESERVATION ', W=dg, H=az, N=at, G=T, S=bp, t=bF, aY=hn, refund=aD, ah=aC,
aK=ct, } elseif J=='LEASE'then local function el(ai) return ai<2^64 and math.max(0,math.ceil(ai))or(1/0) end
local function fx(a,aw) local ai=a.c>0 and w('ZSCORE',a.g,aw) local D=ai and el(tonumber(ai))
return D and D>a.now_ms and D or nil end local function dg(a,cq) eB(a,'-inf',a.now_ms,cq) a.j=a.ID and fx(a,a.ID)
a.aJ=a.j and a.c-1 or a.c end local function ek(a,d) local ai=dr(a.g,d+a.aw) return ai and el(ai)or(1/0) end
local function fy(a,d) local D=ek(a,d) return a.j and D>=a.j and ek(a,d+1)or D end local function hd(a,d,eM)
if d<a.aJ then local D=fy(a,d) if D<=eM then return D end end return d>0 and math.max(fy(a,d-1),eM)or eM end
local function df(a,d) local D=a.ae and hd(a,d,a.ae)or ek(a,d) return D~=(1/0)and D or nil end local function at(a,t,j)
a.ae=t=='charge'and j.ae or nil a.ay=a.ae and a.aJ+1 or a.c a.remaining=math.max(0,a.limit-a.ay) end
local function T(a,c) return gp(a,c,a.ay,df,nil) end local function az(a) local p,H,bN,fY=a.now_ms,a.limit,a.j,a.aJ
local z=H>0 and(bN~=nil or fY<H) local D=p+a.a a.allowed,a.count,a.e=z,fY,'keep' if z and bN~=D then
a.e,a.l='charge',{ae=D} end if z then a.ttl=av(ag(W(E(D,1000),a.v),1000000)) else at(a,'keep') a.ttl=ca(a,1) end end
local function dC(g,n,O) if n>=(2^53)or O~=n then w('PEXPIREAT',g,n<2^63 and B('%.0f',n)or'9223372036854775807') end end
local function dH(g) local ai=dr(g,-1) return ai and el(ai) end local function hJ(g,D,dd,p) local O=br(g,p)
gg(g,B('%.0f',D),dd) dC(g,dH(g),O) end local function bp(a,t,j) local g,p=a.g,a.now_ms if t=='delete'then w('UNLINK',g)
elseif t=='keep'then if a.c>0 then dC(g,dH(g),br(g,p)) end elseif a.ID then local O=a.ap and br(g,p)or nil if a.j then
w('ZADD',g,'XX',B('%.0f',j.ae),a.ID) else w('ZADD',g,B('%.0f',j.ae),a.ID) end dC(g,a.aJ+a.aw==0 and j.ae or dH(g),O) end
end local function iL(a) return a.j and 0 or 1 end local function fE(a,bi) eB(a,'-inf',a.now_ms,'write') local O={}
for I,aw in ipairs(bi)do O[#O+1]=fx(a,aw)and aw end return O end local function il(a,bi)
local im=cz({'ZREM',a.g},fE(a,bi)) local n=a.c>0 and dH(a.g) if n then dC(a.g,n,br(a.g,a.now_ms)) end return im end
local function ip(a,bi) local dd=fE(a,bi) if#dd>0 then hJ(a.g,a.now_ms+a.a,dd,a.now_ms) end return#dd end return{
K='LEASE', D=' ID ', no_correction='LEASE_CORRECTION', bd='concurrent-requests', be=iL, W=dg, H=az, N=at, G=T, S=bp,
release=il, renew=ip, } elseif J=='LOCKOUT'then local function cp(a) local ea=a.BLOCK or a.a
local fN=a.MAX or math.max(ea,86400000) if fN<ea then U('MAX_BELOW_BLOCK') end a.aV,a.aH=ea,fN end local function bG(f)
local aO,Y,n,cH,i=dV(f,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not aO or not Y or not n or not cH or#i>2 or i+0>64 then
return nil elseif G(n,Y)or G(1e15,cH)then return nil elseif aO-aO~=0 or n-n~=0 then if bj(aO)or bj(E(n,1000))then
return nil end U('INEXACT_STATE') end return{ak=aO,ai=Y,V=n,P=cH,af=i+0} end local function bH(s)
local Y,n=S(s.ai),S(s.V) return B('O:%s:%s:%s:%s:%d',S(s.ak),Y,n,S(s.P),s.af) end local function cF(a,s)
local p=a.now_ms if not s or s.V<=p then return s end local Y=math.min(s.ai,p) return{ak=s.ak,ai=Y,V=p,P=s.P,af=s.af}
end local function fG(a,s) return s and a.now_ms<s.V+s.P end local function bx(a,s)
local D=s and(s.P>0 and s.V+s.P or s.ai+a.a) if D and a.now_ms<D and s.ak>0 then return s.ak,s.ai end return 0,a.now_ms
end local function fK(a,s) if s.P==0 then return s.af end local fa,aQ=0,a.aV while aQ<a.aH do fa,aQ=fa+1,2*aQ end
return math.min(s.af+1,fa) end local function fL(a,s) local ii=math.max(0,a.now_ms-s.V-s.P)
return math.max(0,fK(a,s)-(aT(ii,a.aH))) end local function y(a,s) local e=M(s.V+s.P,E(fK(a,s),a.aH)) if e-e~=0 then
return bk(e,ag(cv,1000)) end return math.max(e,s.ai+a.a) end local function aW(a,s) local aO,Y=bx(a,s) if fG(a,s)then
a.k,a.remaining=s.V+s.P,0 else a.k,a.remaining=Y+a.a,math.max(0,a.limit-aO) end end local function at(a,I,s)
aW(a,cF(a,s)) end local function T(a,c) local H,fC=a.limit,a.remaining if c>H or H==0 then return nil
elseif c<=fC and fC>0 then return 0 end return a.k-a.now_ms end local function az(a,c)
local p,H,s=a.now_ms,a.limit,cF(a,a.b) local aO,Y=bx(a,s) local j=aO+(c==0 and 1 or c) local z=not fG(a,s)and j<=H
a.allowed,a.count,a.e=z,aO,'keep' if z and c>0 then local i,cH=s and fL(a,s)or 0,0 if j==H then
cH=math.min(a.aV*2^i,a.aH) end s={ak=j,ai=Y,V=p,P=cH,af=i} a.e,a.l='charge',s elseif s~=a.b and G(p,y(a,s))then
a.e,a.l='rebase',s end aW(a,s) if z then a.ttl=bb(T(a,H)) else a.ttl=ca(a,c) end end local function bp(a,t,j)
if t=='delete'then w('UNLINK',a.g) elseif t~='keep'then w('SET',a.g,bH(j),'PXAT',S(y(a,j))) end end
local function es(I,t,j) if t=='rebase'then return'keep' end return t,j end local function aD(a,C,c) local s=cF(a,a.b)
local aO,Y=bx(a,s) if aO==0 or c==0 or C and G(C,Y)then return'keep' end aO=math.max(0,aO-c)
local aZ={ak=aO,ai=Y,V=s.V,P=0,af=s.af} if bx(a,aZ)==0 and fL(a,aZ)==0 then return'delete' end return'refund',aZ end
return{ K='LOCKOUT', D=' COST BLOCK MAX ', no_correction='NO_SETTLEMENT', aB=cp, au=bG, W=dh, H=az, N=at, G=T, S=bp,
aO=es, refund=aD, } end end local function gI(J) J=J:upper() local k=dW[J] if not k then k=gH(J)or U('ALGORITHM')
dW[J]=k end return k end local function he(dq) if type(dq)=='table'then return dq elseif bh(dq,'^%u+ ')then
return redis.error_reply(dq) end error(dq,0) end local function gy(h,l) h,l=cg(h),cg(l) local bD,bR={},0
for d=1,math.max(#h,#l)+1 do local bq=(h[d]or 0)+(l[d]or 0)+bR bR=bq>=(2^24)and 1 or 0 bD[d]=bq-bR*(2^24) end
return dc(bD) end local ff={FULL=true,LINE=true,HEADERS=true} local function ga(bM,f,fI)
local x=f and ch(f,'9223372036854775807') local d=x and cC(x) if not d or d==0 and fI>0 then
aY(B('ERR invalid %s: expected an integer from %d to 9223372036854775807',bM,fI)) elseif d-d~=0 then
aY(B('ERR invalid %s: the Lua library takes integers up to 9007199254740991',bM)) end return d end local fh={
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
local gh,hF=math.min(#J,#X),math.max(#J,#X) while F<gh and J:byte(F+1)==X:byte(F+1)do F=F+1 end
while n<gh-F and J:byte(-1-n)==X:byte(-1-n)do n=n+1 end return F+n>=2 and hF-F-n<=2 end local function hh(a,bz,J)
local cn={} for I,ba in ipairs(fh)do if bU(bz,ba[1])and gj(a,ba[1])then cn[#cn+1]=ba[2] end end
for I,bs in ipairs({'FULL','LINE','HEADERS'})do cn[#cn+1]=bs end for I,X in ipairs(cn)do
if hw(J:upper(),bK(X,'^%u+'))then aY('ERR syntax error: no such option, but there is '..X) end end
local n=table.remove(cn) local iN=table.concat(cn,', ')
aY('ERR syntax error: after limit come '..iN..' or '..n..', each at most once') end local function fV(bs,fU) if bs then
U(bs==fU and'FORM_TWICE'or'TWO_FORMS') end return fU end local function is(ba,a,bz) local X,k=ba[1],a.n
if not bU(bz,X)then aY(B('ERR invalid %s: only %s it',X,ba[3])) elseif not gj(a,X)then
aY(B('ERR invalid %s: %s takes none',X,k.K)) elseif a[X]~=nil then
aY(B('ERR syntax error: %s comes at most once',ba[2])) end end
local fi={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function eQ(f) local as,cu=bK(f,'^(%d+)(%l*)$')
local ac=as and fi[cu]and ch(as,'18446744073709551615')and as*fi[cu] return ac and ac>=1 and ac<=1e15 and ac or nil end
local function eP(f,aq) return f and#f>=1 and#f<=aq and f end local function ic(X,f,dP) if X=='RESERVE'then
local bd=dP and eQ(dP) return eP(f,128)and bd and{id=f,ttl=bd}or U('RESERVE') elseif X=='RESERVATION'then
return eP(f,128)or U('RESERVATION') end if X=='BLOCK'or X=='MAX'then
local iI='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return f and eQ(f)or aY('ERR invalid '..X..': '..iI) end if X=='ID'then return eP(f,512)or U('ID') end
if X=='ANCHOR'then local x=f and ch(f,'253402300799') return x and x+0 or U('ANCHOR') end if X=='AS'then
return f and#f>=1 and#f<=64 and not bh(f,'[^%w._-]')and f or U('AS') elseif X=='AT'then
local x=f and ch(f,'9223372036854775807') return x and bk(cC(x),(aT(cv,1000)))or U('AT') end
return ga(X,f,X=='BURST'and 1 or 0) end local function iq(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
U(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
U(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local function ia(a,ap,e,bz) while ap[e]do
local J,ba=ap[e]:upper(),nil for I,cF in ipairs(fh)do ba=cF[1]==J and cF or ba end if ba then is(ba,a,bz)
if ba[2]==J then a[J]=true e=e+1 else a[J]=ic(J,ap[e+1],ap[e+2]) e=e+(J=='RESERVE'and 3 or 2) end iq(a)
elseif ff[J]and bU(bz,'form')then a.form=fV(a.form,J) e=e+1 else return e end end return e end
local gv={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function iR(a,f) local k=a.n
local q=eQ(f) if not q then a.J=f:upper() q=gv[a.J] if not q then U(bU(k.D,'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not bU(k.D,'ANCHOR')then aY(B('ERR invalid window: %s takes no windows of the calendar',k.K)) end end return q
end local function hI(a) local k=a.n if not k.bj then return 0 elseif a.o<a.p then return a.PARTIAL and a.o or 0 end
return a.p end local function ir(ad,f) if ad>1000 then U(f) end end local function hr(g)
return g:sub(-9)==':reserved'or g:sub(-14)==':reserved:ends' end local function it(g) if hr(g)then U('RESERVED_KEY') end
end local function iG(a,aV,e,g) local k=a.n local dF,D=aV[e]or'',aV[e+1] local bM=(k.ba and k.ba(a)or'')..':reserved'
if(dF~=g..bM and dF~='{'..g..'}'..bM)or D~=dF..':ends'then U('KEYS') end a.aZ,a.U=dF,D return e+2 end
local function gU(a) local k=a.n local c=a.p k.H(a,0) local t,j=k.ah(a,nil,c) if c>0 then a.e,a.l=t,j end
local s=cM(a.e,a.l,a.b) k.N(a,a.e,s) a.allowed=a.o>0 and k.G(a,0)==0 a.Q=a.o>0 and c or di(c) if k.bg then
a.count,a.ttl=k.bg(s,a.now_ms) elseif a.allowed then a.ttl=bb(av(k.G(a,a.o))) else local T=k.G(a,a.Q)
a.ttl=T and math.max(1,bb(av(T)))or-1 end end local function gV(a) local k=a.n local c=a.p if a.PARTIAL then
c=math.min(c,gf(a)) end a.aa=c if a.ALWAYS then gU(a) else k.H(a,c) end end local function cI(f)
local x=ch(f,'9223372036854775807')or U('FOREIGN_RESERVATION') local d=cC(x) return d-d==0 and d or U('INEXACT_STATE')
end local function cX(f) local c,gL,cZ,bF,bd=bK(f,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not c or#bd>16 or tonumber(bd)>1e15 or bd=='0'then U('FOREIGN_RESERVATION') end return{ p=c~=''and cI(c)or nil,
z=cI(gL), k=cI(cZ), t=cI(bF), ttl=cI(bd), } end local function eV(b,aK) b.M,b.am={},{} for I,ab in ipairs(aK)do
if ab.A.p then b.M[#b.M+1]={id=ab.id,Y=ab.A} elseif ab.id~=b.id then b.am[#b.am+1]=ab.id end end
cB=math.max(0,cB-#b.M-#b.am) table.sort(b.M,function(h,l) if h.Y.z~=l.Y.z then return h.Y.z<l.Y.z end
return cx(h.id,l.id) end) b.bQ=true end local function ix(b) local F=w('ZRANGE',b.U,'0',B('%.0f',cB),'WITHSCORES')
local bi,D,aK,eO={},{},{},false b.ag=nil for d=1,#F,2 do local cZ=tonumber(F[d+1]) if cZ>b.now_ms or#bi==cB then b.ag=cZ
break end bi[#bi+1],D[#D+1]=F[d],cZ end local bn=#bi>0 and w('HMGET',b.g,unpack(bi))or{} for d,aw in ipairs(bi)do
local aL=bn[d]and cX(bn[d]) if not aL or aL.k~=D[d]then return false end aK[d]={id=aw,A=aL} eO=eO or aw==b.id end
if b.j and b.j.k<=b.now_ms and not eO then aK[#aK+1]={id=b.id,A=b.j} end eV(b,aK) local eN=0 for I,Z in ipairs(b.M)do
eN=Z.id==b.id and 1 or eN end local hY=#b.M+#b.am-eN b.Q=b.c-(b.X and 1 or 0)==hY and 0 or nil return true end
local function fQ(aL) return aL.p and math.max(aL.k+aL.ttl,aL.t)or aL.k end local function iw(b) local Z,cO,bN={},{},nil
local dZ=w('HGETALL',b.g) for d=1,#dZ,2 do local aw=dZ[d] if aw~=''then local ab={id=aw,A=cX(dZ[d+1])}
if ab.A.k<=b.now_ms then Z[#Z+1]=ab elseif aw~=b.id then cO[#cO+1]=ab end end end if#Z>cB then
table.sort(Z,function(h,l) if h.A.k~=l.A.k then return h.A.k<l.A.k end return cx(h.id,l.id) end) for d=#Z,cB+1,-1 do
local ab=table.remove(Z,d) if ab.id==b.id then bN=ab else cO[#cO+1]=ab end end Z[#Z+1]=bN end b.ag,b.Q,b.aA=nil,0,cO
for I,ab in ipairs(cO)do b.ag=math.min(b.ag or ab.A.k,ab.A.k) b.Q=math.max(b.Q,fQ(ab.A)) end eV(b,Z) end
local function gB(b,aq) local bZ=b.al==1 and w('ZSCORE',b.U,'') b.bx=bZ and true or false b.ag=nil if aq>0 then
local aK=w('HSCAN',b.g,bZ and S(-1-tonumber(bZ))or'0','COUNT',S(aq)) b.az,b.aD,b.aA=tonumber(aK[1]),not bZ,{}
for d=1,#aK[2],2 do local aw=aK[2][d] if aw~=''and aw~=b.id then b.aA[#b.aA+1]={id=aw,A=cX(aK[2][d+1])}
elseif aw~=''then cX(aK[2][d+1]) end end table.sort(b.aA,function(h,l) return cx(h.id,l.id) end) b.as=b.az==0 end
if b.j and b.j.k<=b.now_ms then eV(b,{{id=b.id,A=b.j}}) b.Q=b.c==1 and 0 or nil end end local function hE(a,aw)
local g=a.aZ local aK=w('HMGET',g,aw,'') local b={g=g,U=a.U,id=aw,now_ms=a.now_ms,M={},am={}}
b.X=aK[1]and cX(aK[1])or nil b.j=b.X b.al=aK[2]and cI(aK[2])or nil b.c=w('HLEN',g)-(b.al and 1 or 0) b.f=br(g,b.now_ms)
b.aR=w('ZCARD',b.U) b.ag=dr(b.U,0) local hV=b.c==b.aR and(b.al==0 or b.c==0 and not b.al)
local hi=math.min(b.ag or math.huge,b.j and b.j.k or math.huge) b.as=hV and(hi>b.now_ms or ix(b)) if not b.as then
local bS=b.c+(b.al and 1 or 0) local aq=bS<=dS and bS or math.min(dS,500) dS=dS-aq if aq==bS then b.as,b.aD=true,true
iw(b) else gB(b,aq) end end return b end local function hD(a) local k=a.n a.aN=hE(a,a.RESERVE.id) k.W(a,'write') gX(a)
end local function fX(b,c,bd,bF) local p=b.now_ms b.j={p=c,z=p,k=p+bd,t=bF,ttl=bd} end local function ih(b,dO,bd)
if dO.k<b.now_ms+bd then fX(b,dO.p,bd,dO.t) b.j.z=dO.z end end local function hU(a) local db=not a.aq if a.PARTIAL then
db=a.aa>0 and not a.ax end return not a.ac and a.allowed and db end local function gP(a,t,j) local k=a.n if a.aF then
j=cM(t,j,a.b) a.b=a.X if not j then t=a.X and'delete'or'keep' elseif t~='charge'then t='refund' end end k.S(a,t,j) end
local function fv(aL) local ap={aL.p and S(aL.p)or''} for d,af in ipairs({aL.z,aL.k,aL.t,aL.ttl})do ap[d+1]=S(af) end
return table.concat(ap,':') end local function gO(b) local Q,I,ae=fZ(b) if Q==0 and not b.j then if b.c>0 or b.al then
w('UNLINK',b.g) end if b.aR>0 then w('UNLINK',b.U) end return end local bS,ad,aE={},{},{} local function cs(cG,F,dP)
cG[#cG+1]=F cG[#cG+1]=dP end for I,aw in ipairs(b.am)do aE[#aE+1]=aw end for I,ab in ipairs(b.aA or{})do
cs(ad,S(ab.A.k),ab.id) end for I,Z in ipairs(b.M)do local bX=Z.id~=b.id and eE(Z,b.now_ms) if bX then cs(bS,Z.id,fv(bX))
cs(ad,S(bX.k),Z.id) elseif Z.id~=b.id then aE[#aE+1]=Z.id end end if b.j and b.j~=b.X then cs(bS,b.id,fv(b.j))
elseif not b.j and b.X then aE[#aE+1]=b.id end if b.j then ae=math.max(ae,fQ(b.j)) local hq=not b.X or b.j.k~=b.X.k
if b.aD or b.bx or b.as and hq then cs(ad,S(b.j.k),b.id) end end local fP=b.as and 0 or 1 if b.al~=fP then
cs(bS,'',S(fP)) end cz({'HSET',b.g},bS) cz({'HDEL',b.g},aE) if b.az and b.az>0 then cs(ad,'-'..S(b.az+1),'') end
if b.aD and b.aR>0 then w('UNLINK',b.U) end cz({'ZADD',b.U},ad) if b.az==0 then aE[#aE+1]='' end cz({'ZREM',b.U},aE)
local O,aP,y=b.f,ae+5000,nil local iM=not O and not b.Q and b.c>0 if not iM and(not O or O<ae or(b.Q and O>aP))then y=aP
end bC(b.g,y) if y or b.aD and O then bC(b.U,y or O) end end local function gR(a,z) local k=a.n
if not z and a.e=='charge'then a.e,a.l='keep',nil end if a.SHADOW and k.aO then a.e,a.l=k.aO(a,a.e,a.l) end local b=a.aN
if b and z and a.ac then ih(b,a.ac,a.RESERVE.ttl) elseif b and z and hU(a)then local j=cM(a.e,a.l,a.b)
fX(b,a.aa,a.RESERVE.ttl,k.t(a,j)) end gP(a,a.e,a.l) if b then gO(b) end end local function id(a)
return a.ac and a.ac.p or a.aq and a.p or a.aa end local function hl(a,aB) local bm,iv,bB,eU,hb=dD(a) return{
'allowed',fB(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.o, 'remaining',bm, 'retry_after_ms',iv, 'next_ms',bB,
'reset_ms',eU, 'delay_ms',hb, 'now_ms',a.now_ms, 'shadow',a.aq and 1 or 0, 'charged',aB, } end local function hM(ah)
local cQ={} for I,a in ipairs(ah)do local k=a.n local F,as=a.AS or k.K:lower(),2 a.an=F while cQ[a.an]do
a.an=B('%s-%d',F,as) as=as+1 end cQ[a.an]=true end end local function cD(d) return B('%.0f',bk(d,999999999999999)) end
local function ig(a) local k=a.n if k.bd then local ij,al=cD(a.limit),cD(bb(a.a))
return B('"%s";q=%s;w=%s;qu="%s"',a.an,ij,al,k.bd) end local q=k.bh and k.bh(a)or a.a local eg,K=1000,q%1000
while K>0 do eg,K=K,eg%K end local dU=1000/eg local al=aT(E(q,dU),1000)
return B('"%s";q=%s;w=%s',a.an,cD(E(a.limit,dU)),cD(al)) end local function hx(ab,cJ) if ab.allowed~=cJ.allowed then
return not ab.allowed end local T,eL=ab.retry_after_ms,cJ.retry_after_ms if T~=eL then return T<0 or(eL>=0 and T>eL) end
return ab.remaining<cJ.remaining end local function hs(ah) local eX,gc=ah[1],{} hM(ah) for d,a in ipairs(ah)do
gc[d]=ig(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=dD(a) if hx(a,eX)then eX=a end end local a=eX local bn={
'X-RateLimit-Limit', B('%.0f',a.o), 'X-RateLimit-Remaining', B('%.0f',a.remaining), } local function dG(bM,af)
bn[#bn+1]=bM bn[#bn+1]=af end if a.reset_ms>=0 then dG('X-RateLimit-Reset',B('%.0f',bb(a.now_ms+a.reset_ms))) end
dG('RateLimit-Policy',table.concat(gc,', ')) local hH=a.next_ms>=0 and';t='..cD(bb(a.next_ms))or''
dG('RateLimit',B('"%s";r=%s%s',a.an,cD(a.remaining),hH)) if not a.allowed and a.retry_after_ms>=0 then
dG('Retry-After',B('%.0f',bb(a.retry_after_ms))) end return bn end
dX={FORMS=ff,bi=gy,bm=fn,bn=gI,bo=gR,bp=fr,bs=gV,bu=fu,error_reply=he,E=U,aX=aY,bw=hh,I=hl,by=hs,bz=bU,bA=hD,bD=hI,bE=fT,bF=fV,bH=ga,bI=ia,bc=id,bK=ir,bL=it,bM=iG,bP=iR}
end return dX end local eh,bP=pcall(iz,KEYS,ARGV) return eh and bP or N().error_reply(bP)
