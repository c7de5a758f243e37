-- RL.SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function iS(an) local cE,p local J,g,bc,kr=string.find,string.format,string.match,string.sub local function fh(ac)
return ac==''and 1000 or ac=='ms'and 1 or ac=='s'and 1000 or ac=='m'and 60000 or ac=='h'and 3600000
or ac=='d'and 86400000 or nil end local function iB(z,j,I) local bK,bb,n=z[j],z[j+1],z[j+2] if not bb then
p().m('ARITY') end local a={ d='', I=0, now_ms=0, g=0, U=0, limit=0, c=0, b=1, form=nil, delay=0, t=nil, e=nil,
allowed=false, count=0, ttl=0, a='keep', remaining=0, f=1, } j=j+2
if n=='LINE'and not z[j+1]and I~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,j=n,j+1 elseif n then
local aE=z[j+1]or''
local eW=I==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and z[j+2]=='LINE'and not z[j+3]and#aE<16
if eW and n=='COST'and(' COST PARTIAL ')~=' ID 'and J(aE,'^[1-9]%d*$')then a.form,a.b,j='LINE',aE+0,j+3
elseif eW and n=='ID'and(' COST PARTIAL ')==' ID 'and aE~=''then a.form,a.ID,j='LINE',aE,j+3 else j=p().L(a,z,j,I)
a.b=a.COST or 1 end end local ih=#bb<16 and J(bb,'^[1-9]%d*$') a.limit=ih and bb+0 or p().K('limit',bb,0)
local Z,ac=bc(bK,'^([1-9]%d*)(%l*)$') local bG=Z and#bK<16 and fh(ac) local y=bG and Z*bG if not y or y<1 or y>1e15 then
y=p().V(a,bK) end a.g,a.U,a.c=y,y<9e12 and y*1000 or p().H(y,1000),a.BURST or a.limit return a,j end
local function iz(z,I) local a,j=iB(z,1,I) if z[j]then p().E(a,I,z[j]) end if true and a.b>1000 then
p().O(p().G(a),'LOG_COST') end return a end local c=redis.call local function iG(a) local fo=c('TIME')
local cX=fo[1]*1000000+fo[2] a.I,a.now_ms=cX,(cX-cX%1000)/1000 end local function iW(a,aG,j,hz,cQ) local k=aG[j]
if not k then p().m('KEYS') end a.d,j=k,j+1 if cQ then a.i=k elseif J(k,':reserved',1,true)then p().P(k) end return j
end local function iE(a,aG,hz,cQ) iG(a) if#aG~=iW(a,aG,1,hz,cQ)-1 then p().m('KEYS') end end
local cM,kq,kt,bW=4000,1000,1000,2*500 local function im(a,ak,fn,bE) local k=a.d local u,aj=c('ZCARD',k),0
if u>0 and fn>=0 and bE~='delete'then local s=g('%.0f',fn) local Y=bE=='read'and 0 or cM if u<=Y then
local ao=c('ZREMRANGEBYSCORE',k,ak,s) u,cM=u-ao,Y-ao else u,aj=p().N(k,ak,s,u,Y) end end a.h,a.p,a.j=u-aj,aj,u>0 end
local function il(a,bE) im(a,'0',a.now_ms-a.g,bE) a.q=500 if bE=='write'then bW=(bW-bW%2)/2 a.q=bW end end
local function aD(R) local K=R%1000 return R<0 and-1 or K==0 and R/1000 or(R-K)/1000+1 end local function eN(f,h)
if f-f==0 and h-h==0 and f+h<(2^53)then return f+h end return p().x(f,h) end local function cI(a,m) local k,cT=a.d,a.h
local ba=cT+(m==0 and 1 or m)<=a.limit a.allowed,a.count,a.ttl,a.a=ba,cT,aD(a.g),'keep' if ba and m>0 then
a.a,a.e='charge',{l=m} elseif not ba and cT>0 and c('ZCOUNT',k,'('..g('%.0f',a.now_ms),'+inf')>0 then
a.a,a.e='rebase',{R=true} end end local function hT(a) if a.PARTIAL or a.ALWAYS then p().B(a) else local m=a.b a.f=m
cI(a,m) end if a.SHADOW then p().A(a) end end local function fi(k,O) O=g('%.0f',O)
local C=c('ZRANGE',k,O,O,'WITHSCORES')[2] return C and tonumber(C) end local function iu(a) local k=a.d
local ak=a.j and fi(k,0) return ak and ak<0 and c('ZCOUNT',k,'-inf','(0')or 0 end local function fa(a,O)
local C=O>=0 and O<a.h+a.p and fi(a.d,O) return C and math.max(0,math.ceil(C)) end local function bH(e) if e-e~=0 then
return p().Q(e) end return g('%.0f',e) end local function cS(a,e) local M,cF=a.now_ms,a.o a.n=a.n or iu(a)
if e>=a.h+cF-a.n then return nil end local O=e+a.n+a.p local j=fa(a,O) if j and cF>0 and j>M then j=nil end
if not j then local cR=fa(a,O-cF) j=cR and cR>M and cR or M end if a.M then a.r=a.r or c('ZCOUNT',a.d,'-inf',bH(M))+a.q
j=O<a.r and math.min(j,M)or j end return j+a.g end local function kn(a,m,P,cS,cO) local el=a.limit-m if el<0 then
return nil elseif P<=el then return 0 end local ag=cS(a,P-el-1) if cO and(not ag or cO<ag)then ag=cO end
return ag and(ag>=(2^53)and(1/0)or math.max(0,ag-a.now_ms)) end local function bY(a,eV) local M,y=a.now_ms,a.g
if eV and 2*(eV-M)>=3*y then return nil end return M+2*y end local function F(a,m)
return kn(a,m,a.h+a.o,cS,(bY(a,a.u)or a.u)+1) end local function bN(k,M) if not redis.REDIS_VERSION_NUM then
return p().D(k,M) end local j=c('PEXPIRETIME',k) return j>=0 and j or nil end local function cN(a,v,B)
a.n,a.r,a.o,a.M=nil,nil,v=='charge'and B.l or 0,v=='rebase' local W=a.limit-a.h-a.o a.remaining=W>0 and W or 0
a.u=a.j and bN(a.d,a.now_ms)or nil end local function bO(a) local v,F=a.a,F
cN(a,v,v=='keep'and a.t or v~='delete'and a.e or nil) local W,cH,aa,ah,aC=a.remaining,a.c,0,0,0 if not a.allowed then
local m=a.f aa=F(a,a.v or(m==0 and 1 or m))or-1 if a.F and aa>=0 then aa=math.max(aa,a.F) end end if W<cH then
ah=F(a,W+1)or-1 aC=W+1==cH and ah or F(a,cH)or-1 end if aa-aa~=0 or ah-ah~=0 or aC-aC~=0 or aa>=(2^53)or aC>=(2^53)then
p().m('INEXACT_REPLY') end return W,aa,ah,aC,0 end local function ij(a,P) local W,aa,ah,aC,hU=bO(a)
local iR=a.k and 1 or 0 return g( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and p().w(a)or 1)or 0,a.count,a.ttl,a.c,W,aa,ah,aC, hU,a.now_ms,iR,P ) end
local function iJ(a,P) local aq=a.form if aq=='LINE'then return ij(a,P) elseif aq then return p().J(a,P) end
return{a.allowed and(a.PARTIAL and p().w(a)or 1)or 0,a.count,a.ttl} end local function hM(a) if a.a~='charge'then
return 0 elseif a.ALWAYS then return a.f elseif not a.allowed or(a.k and not a.PARTIAL)then return 0 end return a.f end
local function hG(k,R,w) local C=g('%.0f',R) local e=c('ZCOUNT',k,C,C) while w>1 do local H={}
for ae=1,math.min(w,1000)do H[#H+1]=C H[#H+1]=g('%s-0.%.0f',C,e) e=e+1 end w=w-c('ZADD',k,'NX',unpack(H)) end
while w>0 do w=w-c('ZADD',k,'NX',C,C..'-0.'..bH(e)) e=e+1 end end local function ct(k,ap) if ap then
c('PEXPIREAT',k,bH(ap)) end end local function eQ(a,v,B) local k=a.d if v=='charge'then
local bM=bY(a,a.j and bN(k,a.now_ms)or nil) hG(k,B.C or a.now_ms,B.l) ct(k,bM) elseif v~='keep'then p().y(a,v,B)
elseif a.j then ct(k,bY(a,bN(k,a.now_ms))) end end local function iQ(aG,z)
local a=iz(z,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') iE(a,aG,a.RESERVE) il(a,'write')
hT(a) local hH=iJ(a,hM(a)) if a.SHADOW or a.RESERVE then p().z(a,true) else eQ(a,a.a,a.e) end return hH end function p()
if not cE then local t={} t.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
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
t.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function hL(hI,cW) local ab=0
for r=1,#cW,1000 do local H={unpack(hI)} for e=r,math.min(r+999,#cW)do H[#H+1]=cW[e] end ab=ab+c(unpack(H)) end
return ab end local function iO(k,C,u) local bC={} for ae,ip in ipairs(u)do bC[#bC+1]=C bC[#bC+1]=ip end
hL({'ZADD',k,'XX'},bC) end local function hO(a,v,B) local k=a.d if v=='delete'then c('UNLINK',k) return end
local bM=bY(a,a.j and bN(k,a.now_ms)or nil) if B.R then local C=g('%.0f',a.now_ms)
iO(k,C,c('ZRANGEBYSCORE',k,'('..C,'+inf','LIMIT','0',bH(a.q))) ct(k,bM) return end local u=a.h+a.p
local r,s=u-B.remove,u-1 if B.T then s=c('ZCOUNT',k,'-inf',bH(B.T))-1 r=math.max(0,s+1-B.remove) end
if s<0 or r>0 or s+1<u then ct(k,bM) end if s>=0 then c('ZREMRANGEBYRANK',k,g('%.0f',r),g('%.0f',s)) end end
local function af(o) error({err=o},0) end local function X(aH) af(t[aH]) end local function hX(an)
if type(an)=='table'then return an elseif J(an,'^%u+ ')then return redis.error_reply(an) end error(an,0) end
local function aF(e) if e-e~=0 then return e end local q,w={},0 while e>0 do local Q=e%(2^24) w=w+1 q[w]=Q
e=(e-Q)/(2^24) end return q end local eK={ __sub=function() return 1 end, } local function bP(q) local w=#q
while w>0 and q[w]==0 do q[w]=nil w=w-1 end if w>3 or(w==3 and q[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(q,eK)
end return(q[1]or 0)+(q[2]or 0)*(2^24)+(q[3]or 0)*(2^24)*(2^24) end local function hF(f,h) f,h=aF(f),aF(h)
local ab,ai={},0 for e=1,math.max(#f,#h)+1 do local Q=(f[e]or 0)+(h[e]or 0)+ai ai=Q>=(2^24)and 1 or 0 ab[e]=Q-ai*(2^24)
end return bP(ab) end local function fc(f,h) f,h=aF(f),aF(h) local bD={} for e=1,#f+#h do bD[e]=0 end for e=1,#f do
local ai=0 for cV=1,#h do local Q=bD[e+cV-1]+f[e]*h[cV]+ai ai=math.floor(Q/(2^24)) bD[e+cV-1]=Q-ai*(2^24) end
bD[e+#h]=ai end return bP(bD) end local function eZ(f,h) local eM,hJ=f-f==0,h-h==0 if eM or hJ then return eM
elseif#f~=#h then return#f<#h end for e=#f,1,-1 do if f[e]~=h[e]then return f[e]<h[e] end end return false end
local function cU(f,h) if f-f==0 and h-h==0 then return f<h end return eZ(f,h) end local function eO(e) if e-e==0 then
return e end local ab=0 for ie=#e,1,-1 do ab=ab*(2^24)+e[ie] end return ab end local function iV(f,h) if not eZ(h,f)then
return 0 end h=aF(h) local eR,cG={},0 for e=1,#f do local Q=f[e]-(h[e]or 0)-cG cG=Q<0 and 1 or 0 eR[e]=Q+cG*(2^24) end
return bP(eR) end local function iU(f,h) if f-f==0 and h-h==0 then return f>h and f-h or 0 end return iV(f,h) end
local function bX(f,h) if f-f==0 and h-h==0 and f*h<(2^53)then return f*h end return fc(f,h) end local function hW(f,h)
local ej=0 while not cU(f,h)do local H=math.max(1,math.floor(eO(f)/eO(h)*(1-2^-45))) H=bP(aF(H)) ej=eN(ej,H)
f=iU(f,bX(H,h)) end return ej,f end local function cK(f,h) if f-f==0 and h-h==0 then local K=f%h return(f-K)/h,K end
return hW(f,h) end local function iX(e) local en='' while e-e~=0 do local K e,K=cK(e,10000000) en=g('%07.0f',K)..en end
return g('%.0f',e)..en end local function hY(k,M) local ag=c('PTTL',k) return ag>=0 and M+ag or nil end
local function iI(k,ak,s,u,Y) local aj=c('ZCOUNT',k,ak,s) local ao=math.min(aj,Y) if ao>0 then
local r=ak=='0'and c('ZCOUNT',k,'-inf','(0')or 0 c('ZREMRANGEBYRANK',k,g('%.0f',r),g('%.0f',r+ao-1))
u,aj,cM=u-ao,aj-ao,Y-ao end return u,aj end local function eP(f,h) for j=1,math.min(#f,#h)do
local hA,hB=f:byte(j),h:byte(j) if hA~=hB then return hA<hB end end return#f<#h end local function cJ(o,Y)
if o~='0'and not J(o,'^[1-9]%d*$')then return nil end return(#o<#Y or(#o==#Y and not eP(Y,o)))and o or nil end
local function eU(q) if#q<=15 or(#q==16 and eP(q,'9007199254740992'))then return q+0 end local cP=#q%7
local e=cP>0 and q:sub(1,cP)+0 or 0 for j=cP+1,#q,7 do e=eN(bX(e,10000000),q:sub(j,j+6)+0) end return e end
local function fe(aH,o,eY) local q=o and cJ(o,'9223372036854775807') local e=q and eU(q) if not e or e==0 and eY>0 then
af(g('ERR invalid %s: expected an integer from %d to 9223372036854775807',aH,eY)) elseif e-e~=0 then
af(g('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aH)) end return e end local eL={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ar(ik,A)
return not J(A,' ',1,true)and J(ik,' '..A..' ',1,true)~=nil end local function fm(a,n)
return not ar(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or ar((' COST PARTIAL '),n) end
local function ig(A,n) local r,s=0,0 local fj,io=math.min(#A,#n),math.max(#A,#n)
while r<fj and A:byte(r+1)==n:byte(r+1)do r=r+1 end while s<fj-r and A:byte(-1-s)==n:byte(-1-s)do s=s+1 end
return r+s>=2 and io-r-s<=2 end local function hZ(a,I,A) local as={} for ae,L in ipairs(eL)do
if ar(I,L[1])and fm(a,L[1])then as[#as+1]=L[2] end end for ae,aq in ipairs({'FULL','LINE','HEADERS'})do as[#as+1]=aq end
for ae,n in ipairs(as)do if ig(A:upper(),bc(n,'^%u+'))then af('ERR syntax error: no such option, but there is '..n) end
end local s=table.remove(as) local iY=table.concat(as,', ')
af('ERR syntax error: after limit come '..iY..' or '..s..', each at most once') end local function iM(L,a,I)
local n,kp=L[1],a.W if not ar(I,n)then af(g('ERR invalid %s: only %s it',n,L[3])) elseif not fm(a,n)then
af(g('ERR invalid %s: %s takes none',n,('SLIDING'))) elseif a[n]~=nil then
af(g('ERR syntax error: %s comes at most once',L[2])) end end local function fb(f,h) return cU(h,f)and h or f end
local hE=setmetatable({(2^24)-1,(2^24)-1,2^16-1},eK) local function iC(n,o,ks) if n=='AS'then
return o and#o>=1 and#o<=64 and not J(o,'[^%w._-]')and o or X('AS') elseif n=='AT'then
local q=o and cJ(o,'9223372036854775807') return q and fb(eU(q),(cK(hE,1000)))or X('AT') end
return fe(n,o,n=='BURST'and 1 or 0) end local function iK(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
X(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
X(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local hC={FULL=true,LINE=true,HEADERS=true}
local function iv(aq,fd) if aq then X(aq==fd and'FORM_TWICE'or'TWO_FORMS') end return fd end local function iA(a,z,j,I)
while z[j]do local A,L=z[j]:upper(),nil for ae,eX in ipairs(eL)do L=eX[1]==A and eX or L end if L then iM(L,a,I)
if L[2]==A then a[A]=true j=j+1 else a[A]=iC(A,z[j+1],z[j+2]) j=j+(A=='RESERVE'and 3 or 2) end iK(a)
elseif hC[A]and ar(I,'form')then a.form=iv(a.form,A) j=j+1 else return j end end return j end local function iD(o)
local Z,ac=bc(o,'^(%d+)(%l*)$') local bG=Z and fh(ac) local R=bG and cJ(Z,'18446744073709551615')and Z*bG
return R and R>=1 and R<=1e15 and R or nil end
local hD={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function ko(a,o) local y=iD(o)
if not y then a.S=o:upper() y=hD[a.S] if not y then X(ar((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ar((' COST PARTIAL '),'ANCHOR')then
af(g('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return y end local function ir(a)
if not true then return 0 elseif a.c<a.b then return a.PARTIAL and a.c or 0 end return a.b end local function iL(u,o)
if u>1000 then X(o) end end local function ic(k) return k:sub(-9)==':reserved'or k:sub(-14)==':reserved:ends' end
local function iN(k) if ic(k)then X('RESERVED_KEY') end end local function hQ(a) local iw=a.PARTIAL and a.f<a.b
a.k=a.SHADOW and not a.s and(iw or not a.allowed) if not a.allowed and(a.k or a.s)then a.allowed=true if not true then
local ae,ae,ae,ek=bO(a) a.ttl=aD(ek) end end end local function iH(a) cN(a,'keep',a.t) return a.remaining end
local function iy(a,ap,m) if m==0 then return'keep' elseif not ap or not cU(ap,a.now_ms)then return'charge',{l=m}
elseif ap<=a.now_ms-a.g then return'keep' end return'charge',{l=m,C=ap} end local function iT(v,B,hK) if v=='keep'then
return hK end return v~='delete'and B or nil end local function it(m) return m==0 and 1 or m end local function eS(e)
if e-e~=0 or e>=(2^53)then X('INEXACT_REPLY') end return e end local function hR(a) local m=a.b cI(a,0)
local v,B=iy(a,nil,m) if m>0 then a.a,a.e=v,B end local fk=iT(a.a,a.e,a.t) cN(a,a.a,fk) a.allowed=a.c>0 and F(a,0)==0
a.v=a.c>0 and m or it(m) if(nil)then a.count,a.ttl=(nil)(fk,a.now_ms) elseif a.allowed then a.ttl=aD(eS(F(a,a.c))) else
local F=F(a,a.v) a.ttl=F and math.max(1,aD(eS(F)))or-1 end end local function hS(a) local m=a.b if a.PARTIAL then
m=math.min(m,iH(a)) end a.f=m if a.ALWAYS then hR(a) else cI(a,m) end end local function hN(a,v,B) eQ(a,v,B) end
local function hP(a,ba) if not ba and a.a=='charge'then a.a,a.e='keep',nil end hN(a,a.a,a.e) end local function ff(a)
return a.s and a.s.b or a.k and a.b or a.f end local function eT(a) if not a.allowed then return 0 end
return a.PARTIAL and ff(a)or 1 end local function ib(a,P) local W,iP,ah,ek,hV=bO(a) return{ 'allowed',eT(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.c, 'remaining',W, 'retry_after_ms',iP, 'next_ms',ah, 'reset_ms',ek,
'delay_ms',hV, 'now_ms',a.now_ms, 'shadow',a.k and 1 or 0, 'charged',P, } end local function is(bF) local fl={}
for ae,a in ipairs(bF)do local r,Z=a.AS or('SLIDING'):lower(),2 a.i=r while fl[a.i]do a.i=g('%s-%d',r,Z) Z=Z+1 end
fl[a.i]=true end end local function bR(e) return g('%.0f',fb(e,999999999999999)) end local function iF(a)
local y=(nil)and(nil)(a)or a.g local cL,K=1000,y%1000 while K>0 do cL,K=K,cL%K end local hy=1000/cL
local bK=cK(bX(y,hy),1000) return g('"%s";q=%s;w=%s',a.i,bR(bX(a.limit,hy)),bR(bK)) end local function ii(bZ,cY)
if bZ.allowed~=cY.allowed then return not bZ.allowed end local F,cZ=bZ.retry_after_ms,cY.retry_after_ms if F~=cZ then
return F<0 or(cZ>=0 and F>cZ) end return bZ.remaining<cY.remaining end local function id(bF) local em,fg=bF[1],{} is(bF)
for e,a in ipairs(bF)do fg[e]=iF(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bO(a) if ii(a,em)then em=a end end
local a=em local bI={ 'X-RateLimit-Limit', g('%.0f',a.c), 'X-RateLimit-Remaining', g('%.0f',a.remaining), }
local function bQ(aH,aE) bI[#bI+1]=aH bI[#bI+1]=aE end if a.reset_ms>=0 then
bQ('X-RateLimit-Reset',g('%.0f',aD(a.now_ms+a.reset_ms))) end bQ('RateLimit-Policy',table.concat(fg,', '))
local iq=a.next_ms>=0 and';t='..bR(aD(a.next_ms))or'' bQ('RateLimit',g('"%s";r=%s%s',a.i,bR(a.remaining),iq))
if not a.allowed and a.retry_after_ms>=0 then bQ('Retry-After',g('%.0f',aD(a.retry_after_ms))) end return bI end
local function ix(a,P) if a.form=='FULL'then return ib(a,P) end return{eT(a),a.count,a.ttl,id({a})} end
cE={x=hF,y=hO,z=hP,A=hQ,B=hS,error_reply=hX,D=hY,m=X,E=hZ,G=ir,H=fc,J=ix,K=fe,L=iA,w=ff,N=iI,O=iL,P=iN,Q=iX,V=ko} end
return cE end if an then return p().error_reply(an) end local bL,aV=pcall(iQ,KEYS,ARGV)
return bL and aV or p().error_reply(aV) end local function ia(eJ,ad)
local G,J,bc,g,c=math.ceil,string.find,string.match,string.format,redis.call local bk local fO=ad[1] local cv=ad[2]
local cw=ad[3] if not cv then return end local bJ=ad[4] local dr local x local al if(cw=='LINE')and(not bJ)then dr=4 x=1
al='LINE' else local dn local dp local dq if cw then if bJ then
if not(((((ad[5]=='LINE')and(not ad[6]))and((#bJ)<16))and(cw=='COST'))and J(bJ,'^[1-9]%d*$'))then return end dn=6
dp=bJ+0 dq='LINE' else if(((ad[5]=='LINE')and(not ad[6]))and(cw=='COST'))and J('','^[1-9]%d*$')then return end return
end else dn=3 dp=1 dq=nil end dr=dn x=dp al=dq end if not(((#cv)<16)and J(cv,'^[1-9]%d*$'))then return end local D=cv+0
local fP,aW=bc(fO,'^([1-9]%d*)(%l*)$') if fP then if(#fO)<16 then
local es=(aW=='')and 1000 or((aW=='ms')and 1 or((aW=='s')and 1000 or((aW=='m')and 60000 or((aW=='h')and 3.6e6 or((aW=='d')and 8.64e7 or nil)))))
local d=es and(fP*es)or es if(not d)or((d<1)or(1e15<d))then return end if not(d<9e12)then return end local jl=ad[dr]
if jl then return end if 1000<x then return end local fQ=c('TIME') local fR=(fQ[1]*1e6)+fQ[2]
local b=(fR-(fR%1000))/1000 local i=eJ[1] if not i then return end if J(i,':reserved',1,true)then return end
if not((#eJ)==1)then return end local fS=b-d local cx=c('ZCARD',i) local l if(0<cx)and(0<=fS)then if not(cx<=4000)then
return end local jm=c('ZREMRANGEBYSCORE',i,'0',g('%.0f',fS)) l=cx-jm else l=cx end local E=0<l local jn=(l+x)<=D
local fT=d%1000 local cy=(fT==0)and(d/1000)or(((d-fT)/1000)+1) if jn then if al=='LINE'then local fU=(D-l)-x
local et=(0<fU)and fU or 0 local am if E then if not redis.REDIS_VERSION_NUM then return end local fV=c('PEXPIRETIME',i)
local fW=(0<=fV)and fV or nil local dt if fW then dt=fW else dt=nil end am=dt else am=nil end local bq local aQ
if et<D then local fX=et+1 local bl if am then if(3*d)<=(2*(am-b))then bl=nil else bl=b+(2*d) end else bl=b+(2*d) end
local du if bl then du=bl else du=am end local aX=l+x local fY=du+1 local bn local cg local eu=D-fX if eu<0 then bn=nil
cg=nil else if aX<=eu then bn=nil cg=0 else local fZ=(aX-eu)-1 local S local aN if E then
local jp=c('ZRANGE',i,'0','0','WITHSCORES') local ga=jp[2] if ga then local dv if tonumber(ga)<0 then
local jq=c('ZCOUNT',i,'-inf','(0') dv=jq else dv=0 end aN=dv else aN=0 end else aN=0 end if(aX-aN)<=fZ then S=nil else
local aY=fZ+aN if(0<=aY)and(aY<l)then local gb=g('%.0f',aY) local jr=c('ZRANGE',i,gb,gb,'WITHSCORES') local gc=jr[2]
if gc then local gd=G(tonumber(gc)) local ge=(0<gd)and gd or 0 local cf if b<ge then cf=nil else cf=ge end local bm
if not cf then local ev=aY-x if(0<=ev)and(ev<l)then local gf=g('%.0f',ev) local js=c('ZRANGE',i,gf,gf,'WITHSCORES')
local gg=js[2] if gg then local gh=G(tonumber(gg)) local gi=(0<gh)and gh or 0 local dw if b<gi then dw=gi else dw=b end
bm=dw else bm=b end else bm=b end else bm=cf end local jv=bm+d S=jv else local ew=aY-x if(0<=ew)and(ew<l)then
local gj=g('%.0f',ew) local jt=c('ZRANGE',i,gj,gj,'WITHSCORES') local gk=jt[2] if gk then local gl=G(tonumber(gk))
local gm=(0<gl)and gl or 0 local dx if b<gm then dx=gm else dx=b end local jw=dx+d S=jw else S=b+d end else S=b+d end
end else local ex=aY-x if(0<=ex)and(ex<l)then local gn=g('%.0f',ex) local ju=c('ZRANGE',i,gn,gn,'WITHSCORES')
local go=ju[2] if go then local gp=G(tonumber(go)) local gq=(0<gp)and gp or 0 local dy if b<gq then dy=gq else dy=b end
local jx=dy+d S=jx else S=b+d end else S=b+d end end end local aO if(not S)or(fY<S)then aO=fY else aO=S end local dA
if aO then local dz if 2^53<=aO then dz=1/0 else local gr=aO-b dz=(0<gr)and gr or 0 end dA=dz else dA=aO end bn=aN cg=dA
end end local gs=cg or(-1) local dJ if fX==D then dJ=gs else local bo if am then if(3*d)<=(2*(am-b))then bo=nil else
bo=b+(2*d) end else bo=b+(2*d) end local dB if bo then dB=bo else dB=am end local gt=dB+1 local dI if aX<=0 then dI=0
else local gu=aX-1 local T local ci if bn then ci=bn else local ch if E then local jy=c('ZRANGE',i,'0','0','WITHSCORES')
local gv=jy[2] if gv then local dC if tonumber(gv)<0 then local jz=c('ZCOUNT',i,'-inf','(0') dC=jz else dC=0 end ch=dC
else ch=0 end else ch=0 end ci=ch end if(aX-ci)<=gu then T=nil else local aZ=gu+ci if(0<=aZ)and(aZ<l)then
local gw=g('%.0f',aZ) local jA=c('ZRANGE',i,gw,gw,'WITHSCORES') local gx=jA[2] if gx then local gy=G(tonumber(gx))
local gz=(0<gy)and gy or 0 local cj if b<gz then cj=nil else cj=gz end local bp if not cj then local ey=aZ-x
if(0<=ey)and(ey<l)then local gA=g('%.0f',ey) local jB=c('ZRANGE',i,gA,gA,'WITHSCORES') local gB=jB[2] if gB then
local gC=G(tonumber(gB)) local gD=(0<gC)and gC or 0 local dD if b<gD then dD=gD else dD=b end bp=dD else bp=b end else
bp=b end else bp=cj end local jE=bp+d T=jE else local ez=aZ-x if(0<=ez)and(ez<l)then local gE=g('%.0f',ez)
local jC=c('ZRANGE',i,gE,gE,'WITHSCORES') local gF=jC[2] if gF then local gG=G(tonumber(gF)) local gH=(0<gG)and gG or 0
local dE if b<gH then dE=gH else dE=b end local jF=dE+d T=jF else T=b+d end else T=b+d end end else local eA=aZ-x
if(0<=eA)and(eA<l)then local gI=g('%.0f',eA) local jD=c('ZRANGE',i,gI,gI,'WITHSCORES') local gJ=jD[2] if gJ then
local gK=G(tonumber(gJ)) local gL=(0<gK)and gK or 0 local dF if b<gL then dF=gL else dF=b end local jG=dF+d T=jG else
T=b+d end else T=b+d end end end local aP if(not T)or(gt<T)then aP=gt else aP=T end local dH if aP then local dG
if 2^53<=aP then dG=1/0 else local gM=aP-b dG=(0<gM)and gM or 0 end dH=dG else dH=aP end dI=dH end dJ=dI or(-1) end
bq=gs aQ=dJ else bq=0 aQ=0 end if(not((bq-bq)==0))or((not((aQ-aQ)==0))or(2^53<=aQ))then return end
local jH=g('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',l,cy,D,et,bq,aQ,b,x) local ck if E then
if not redis.REDIS_VERSION_NUM then return end local gN=c('PEXPIRETIME',i) local gO=(0<=gN)and gN or nil local dK
if gO then dK=gO else dK=nil end ck=dK else ck=nil end local br if ck then if(3*d)<=(2*(ck-b))then br=nil else
br=b+(2*d) end else br=b+(2*d) end local cz=g('%.0f',b) local jI=c('ZCOUNT',i,cz,cz) if 1<x then return end local bS=x
local bT=jI while 0<bS do local jJ=g('%.0f',bT) local jK=c('ZADD',i,'NX',cz,(cz..('-0.'..jJ))) local jL=bS-jK
local jM=bT+1 bS,bT=jL,jM end local kw=bS local kx=bT if br then local jN=g('%.0f',br) local ky=c('PEXPIREAT',i,jN) end
bk=jH else if al then return end local cl if E then if not redis.REDIS_VERSION_NUM then return end
local gP=c('PEXPIRETIME',i) local gQ=(0<=gP)and gP or nil local dL if gQ then dL=gQ else dL=nil end cl=dL else cl=nil
end local bs if cl then if(3*d)<=(2*(cl-b))then bs=nil else bs=b+(2*d) end else bs=b+(2*d) end local cA=g('%.0f',b)
local jO=c('ZCOUNT',i,cA,cA) if 1<x then return end local bU=x local bV=jO while 0<bU do local jP=g('%.0f',bV)
local jQ=c('ZADD',i,'NX',cA,(cA..('-0.'..jP))) local jR=bU-jQ local jS=bV+1 bU,bV=jR,jS end local kz=bU local kA=bV
if bs then local jT=g('%.0f',bs) local kB=c('PEXPIREAT',i,jT) end bk={1,l,cy} end else local ds if E then
local jo=c('ZCOUNT',i,('('..g('%.0f',b)),'+inf') ds=0<jo else ds=false end if ds then if al=='LINE'then local gR=D-l
local gS=(0<gR)and gR or 0 local U if E then if not redis.REDIS_VERSION_NUM then return end local gT=c('PEXPIRETIME',i)
local gU=(0<=gT)and gT or nil local dM if gU then dM=gU else dM=nil end U=dM else U=nil end local bt if U then
if(3*d)<=(2*(U-b))then bt=nil else bt=b+(2*d) end else bt=b+(2*d) end local dN if bt then dN=bt else dN=U end
local gV=dN+1 local ay local N local cm local eB=D-x if eB<0 then ay=nil N=nil cm=nil else if l<=eB then ay=nil N=nil
cm=0 else local gW=(l-eB)-1 local bu local ax local aR if E then local jU=c('ZRANGE',i,'0','0','WITHSCORES')
local gX=jU[2] if gX then local dO if tonumber(gX)<0 then local jV=c('ZCOUNT',i,'-inf','(0') dO=jV else dO=0 end aR=dO
else aR=0 end else aR=0 end if(l-aR)<=gW then bu=nil ax=nil else local cB=gW+aR if(0<=cB)and(cB<l)then
local gY=g('%.0f',cB) local jW=c('ZRANGE',i,gY,gY,'WITHSCORES') local gZ=jW[2] if gZ then local ha=G(tonumber(gZ))
local eC=(0<ha)and ha or 0 local jX=c('ZCOUNT',i,'-inf',g('%.0f',b)) local hb=jX+500 local dP if cB<hb then
dP=(eC<b)and eC or b else dP=eC end local ka=dP+d bu=hb ax=ka else local jY=c('ZCOUNT',i,'-inf',g('%.0f',b)) bu=jY+500
ax=b+d end else local jZ=c('ZCOUNT',i,'-inf',g('%.0f',b)) bu=jZ+500 ax=b+d end end local aS if(not ax)or(gV<ax)then
aS=gV else aS=ax end local dR if aS then local dQ if 2^53<=aS then dQ=1/0 else local hc=aS-b dQ=(0<hc)and hc or 0 end
dR=dQ else dR=aS end ay=aR N=bu cm=dR end end local eD=cm or(-1) local cs local bA if gS<D then local hd=gS+1 local bv
if U then if(3*d)<=(2*(U-b))then bv=nil else bv=b+(2*d) end else bv=b+(2*d) end local dS if bv then dS=bv else dS=U end
local he=dS+1 local by local aA local cp local eE=D-hd if eE<0 then by=ay aA=N cp=nil else if l<=eE then by=ay aA=N cp=0
else local hf=(l-eE)-1 local bx local az local bw if ay then bw=ay else local cn if E then
local kb=c('ZRANGE',i,'0','0','WITHSCORES') local hg=kb[2] if hg then local dT if tonumber(hg)<0 then
local kc=c('ZCOUNT',i,'-inf','(0') dT=kc else dT=0 end cn=dT else cn=0 end else cn=0 end bw=cn end if(l-bw)<=hf then
bx=N az=nil else local cC=hf+bw if(0<=cC)and(cC<l)then local hh=g('%.0f',cC) local kd=c('ZRANGE',i,hh,hh,'WITHSCORES')
local hi=kd[2] if hi then local hj=G(tonumber(hi)) local eF=(0<hj)and hj or 0 local co if N then co=N else
local ke=c('ZCOUNT',i,'-inf',g('%.0f',b)) co=ke+500 end local dU if cC<co then dU=(eF<b)and eF or b else dU=eF end
local kh=dU+d bx=co az=kh else local dV if N then dV=N else local kf=c('ZCOUNT',i,'-inf',g('%.0f',b)) dV=kf+500 end
bx=dV az=b+d end else local dW if N then dW=N else local kg=c('ZCOUNT',i,'-inf',g('%.0f',b)) dW=kg+500 end bx=dW az=b+d
end end local aT if(not az)or(he<az)then aT=he else aT=az end local dY if aT then local dX if 2^53<=aT then dX=1/0 else
local hk=aT-b dX=(0<hk)and hk or 0 end dY=dX else dY=aT end by=bw aA=bx cp=dY end end local hl=cp or(-1) local eg
if hd==D then eg=hl else local bz if U then if(3*d)<=(2*(U-b))then bz=nil else bz=b+(2*d) end else bz=b+(2*d) end
local dZ if bz then dZ=bz else dZ=U end local hm=dZ+1 local ef if l<=0 then ef=0 else local hn=l-1 local aB local cr
if by then cr=by else local cq if E then local ki=c('ZRANGE',i,'0','0','WITHSCORES') local ho=ki[2] if ho then local ea
if tonumber(ho)<0 then local kj=c('ZCOUNT',i,'-inf','(0') ea=kj else ea=0 end cq=ea else cq=0 end else cq=0 end cr=cq
end if(l-cr)<=hn then aB=nil else local cD=hn+cr if(0<=cD)and(cD<l)then local hp=g('%.0f',cD)
local kk=c('ZRANGE',i,hp,hp,'WITHSCORES') local hq=kk[2] if hq then local hr=G(tonumber(hq)) local eG=(0<hr)and hr or 0
local eb if aA then eb=aA else local kl=c('ZCOUNT',i,'-inf',g('%.0f',b)) eb=kl+500 end local ec if cD<eb then
ec=(eG<b)and eG or b else ec=eG end local km=ec+d aB=km else if not aA then local kC=c('ZCOUNT',i,'-inf',g('%.0f',b))
end aB=b+d end else if not aA then local kD=c('ZCOUNT',i,'-inf',g('%.0f',b)) end aB=b+d end end local aU
if(not aB)or(hm<aB)then aU=hm else aU=aB end local ee if aU then local ed if 2^53<=aU then ed=1/0 else local hs=aU-b
ed=(0<hs)and hs or 0 end ee=ed else ee=aU end ef=ee end eg=ef or(-1) end cs=hl bA=eg else cs=0 bA=0 end
if(not((eD-eD)==0))or((not((cs-cs)==0))or((not((bA-bA)==0))or((2^53<=eD)or(2^53<=bA))))then return end return else
if al then return end return end else if al=='LINE'then local ht=D-l local eH=(0<ht)and ht or 0 local V if E then
if not redis.REDIS_VERSION_NUM then return end local hu=c('PEXPIRETIME',i) local hv=(0<=hu)and hu or nil local eh
if hv then eh=hv else eh=nil end V=eh else V=nil end local bB if V then if(3*d)<=(2*(V-b))then bB=nil else bB=b+(2*d)
end else bB=b+(2*d) end local ei if bB then ei=bB else ei=V end local hw=ei+1 local au local ca local eI=D-x
if eI<0 then au=nil ca=nil else if l<=eI then au=nil ca=0 else local hx=(l-eI)-1 local at local aI if E then
local iZ=c('ZRANGE',i,'0','0','WITHSCORES') local fp=iZ[2] if fp then local da if tonumber(fp)<0 then
local ja=c('ZCOUNT',i,'-inf','(0') da=ja else da=0 end aI=da else aI=0 end else aI=0 end if(l-aI)<=hx then at=nil else
local eo=hx+aI if(0<=eo)and(eo<l)then local fq=g('%.0f',eo) local jb=c('ZRANGE',i,fq,fq,'WITHSCORES') local fr=jb[2]
if fr then local fs=G(tonumber(fr)) at=((0<fs)and fs or 0)+d else at=b+d end else at=b+d end end local aJ
if(not at)or(hw<at)then aJ=hw else aJ=at end local dc if aJ then local db if 2^53<=aJ then db=1/0 else local ft=aJ-b
db=(0<ft)and ft or 0 end dc=db else dc=aJ end au=aI ca=dc end end local cu=ca or(-1) local bh local aM if eH<D then
local fu=eH+1 local bd if V then if(3*d)<=(2*(V-b))then bd=nil else bd=b+(2*d) end else bd=b+(2*d) end local dd
if bd then dd=bd else dd=V end local fv=dd+1 local bf local cc local ep=D-fu if ep<0 then bf=au cc=nil else
if l<=ep then bf=au cc=0 else local fw=(l-ep)-1 local av local be if au then be=au else local cb if E then
local jc=c('ZRANGE',i,'0','0','WITHSCORES') local fx=jc[2] if fx then local de if tonumber(fx)<0 then
local jd=c('ZCOUNT',i,'-inf','(0') de=jd else de=0 end cb=de else cb=0 end else cb=0 end be=cb end if(l-be)<=fw then
av=nil else local eq=fw+be if(0<=eq)and(eq<l)then local fy=g('%.0f',eq) local je=c('ZRANGE',i,fy,fy,'WITHSCORES')
local fz=je[2] if fz then local fA=G(tonumber(fz)) av=((0<fA)and fA or 0)+d else av=b+d end else av=b+d end end local aK
if(not av)or(fv<av)then aK=fv else aK=av end local dg if aK then local df if 2^53<=aK then df=1/0 else local fB=aK-b
df=(0<fB)and fB or 0 end dg=df else dg=aK end bf=be cc=dg end end local fC=cc or(-1) local dm if fu==D then dm=fC else
local bg if V then if(3*d)<=(2*(V-b))then bg=nil else bg=b+(2*d) end else bg=b+(2*d) end local dh if bg then dh=bg else
dh=V end local fD=dh+1 local dl if l<=0 then dl=0 else local fE=l-1 local aw local ce if bf then ce=bf else local cd
if E then local jf=c('ZRANGE',i,'0','0','WITHSCORES') local fF=jf[2] if fF then local di if tonumber(fF)<0 then
local jg=c('ZCOUNT',i,'-inf','(0') di=jg else di=0 end cd=di else cd=0 end else cd=0 end ce=cd end if(l-ce)<=fE then
aw=nil else local er=fE+ce if(0<=er)and(er<l)then local fG=g('%.0f',er) local jh=c('ZRANGE',i,fG,fG,'WITHSCORES')
local fH=jh[2] if fH then local fI=G(tonumber(fH)) aw=((0<fI)and fI or 0)+d else aw=b+d end else aw=b+d end end local aL
if(not aw)or(fD<aw)then aL=fD else aL=aw end local dk if aL then local dj if 2^53<=aL then dj=1/0 else local fJ=aL-b
dj=(0<fJ)and fJ or 0 end dk=dj else dk=aL end dl=dk end dm=dl or(-1) end bh=fC aM=dm else bh=0 aM=0 end
if(not((cu-cu)==0))or((not((bh-bh)==0))or((not((aM-aM)==0))or((2^53<=cu)or(2^53<=aM))))then return end
local ji=g('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',l,cy,D,eH,cu,bh,aM,b) if E then
if not redis.REDIS_VERSION_NUM then return end local fK=c('PEXPIRETIME',i) local fL=(0<=fK)and fK or nil local bi
if fL then if(3*d)<=(2*(fL-b))then bi=nil else bi=b+(2*d) end else bi=b+(2*d) end if bi then local jj=g('%.0f',bi)
local ku=c('PEXPIREAT',i,jj) end end bk=ji else if al then return end if E then if not redis.REDIS_VERSION_NUM then
return end local fM=c('PEXPIRETIME',i) local fN=(0<=fM)and fM or nil local bj if fN then if(3*d)<=(2*(fN-b))then bj=nil
else bj=b+(2*d) end else bj=b+(2*d) end if bj then local jk=g('%.0f',bj) local kv=c('PEXPIREAT',i,jk) end end
bk={0,l,cy} end end end else return end else return end return bk end local bL,aV=pcall(ia,KEYS,ARGV) if bL and aV then
return aV end return iS(not bL and aV)
