-- RL.SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function iO(al) local cA,p local E,g,eZ,kn=string.find,string.format,string.match,string.sub
local function ix(y,j,J) local aY,ba,n=y[j],y[j+1],y[j+2] if not ba then p().p('ARITY') end local a={ e='', M=0,
now_ms=0, i=0, Y=0, limit=0, c=0, b=1, form=nil, delay=0, x=nil, f=nil, allowed=false, count=0, ttl=0, a='keep',
remaining=0, g=1, } j=j+2 if n=='LINE'and not y[j+1]and J~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,j=n,j+1 elseif n then local aD=y[j+1]or''
local eU=J==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and y[j+2]=='LINE'and not y[j+3]and#aD<16
if eU and n=='COST'and(' COST PARTIAL ')~=' ID 'and E(aD,'^[1-9]%d*$')then a.form,a.b,j='LINE',aD+0,j+3
elseif eU and n=='ID'and(' COST PARTIAL ')==' ID 'and aD~=''then a.form,a.ID,j='LINE',aD,j+3 else j=p().P(a,y,j,J)
a.b=a.COST or 1 end end local cM=#ba<16 and E(ba,'^[1-9]%d*$') a.limit=cM and ba+0 or p().O('limit',ba,0)
cM=#aY<10 and E(aY,'^[1-9]%d*$') local G=cM and aY*1000 or p().Z(a,aY)
a.i,a.Y,a.c=G,G<9e12 and G*1000 or p().L(G,1000),a.BURST or a.limit return a,j end local function iv(y,J)
local a,j=ix(y,1,J) if y[j]then p().I(a,J,y[j]) end if true and a.b>1000 then p().S(p().K(a),'LOG_COST') end return a
end local c=redis.call local function iC(a) local fm=c('TIME') local cU=fm[1]*1000000+fm[2]
a.M,a.now_ms=cU,(cU-cU%1000)/1000 end local function iS(a,aF,j,hw,cN) local k=aF[j] if not k then p().p('KEYS') end
a.e,j=k,j+1 if cN then a.k=k elseif E(k,':reserved',1,true)then p().T(k) end return j end local function iA(a,aF,hw,cN)
iC(a) if#aF~=iS(a,aF,1,hw,cN)-1 then p().p('KEYS') end end local cI,km,kp,bS=4000,1000,1000,2*500
local function ii(a,ai,fl,bC) local k=a.e local u,ah=c('ZCARD',k),0 if u>0 and fl>=0 and bC~='delete'then
local s=g('%.0f',fl) local Y=bC=='read'and 0 or cI if u<=Y then local am=c('ZREMRANGEBYSCORE',k,ai,s) u,cI=u-am,Y-am
else u,ah=p().R(k,ai,s,u,Y) end end a.j,a.t,a.l=u-ah,ah,u>0 end local function ih(a,bC) ii(a,'0',a.now_ms-a.i,bC)
a.u=500 if bC=='write'then bS=(bS-bS%2)/2 a.u=bS end end local function aC(R) local K=R%1000
return R<0 and-1 or K==0 and R/1000 or(R-K)/1000+1 end local function eL(f,h) if f-f==0 and h-h==0 and f+h<(2^53)then
return f+h end return p().B(f,h) end local function cE(a,m) local k,cQ=a.e,a.j local aZ=cQ+(m==0 and 1 or m)<=a.limit
a.allowed,a.count,a.ttl,a.a=aZ,cQ,aC(a.i),'keep' if aZ and m>0 then a.a,a.f='charge',{o=m}
elseif not aZ and cQ>0 and c('ZCOUNT',k,'('..g('%.0f',a.now_ms),'+inf')>0 then a.a,a.f='rebase',{V=true} end end
local function hQ(a) if a.PARTIAL or a.ALWAYS then p().F(a) else local m=a.b a.g=m cE(a,m) end if a.SHADOW then p().E(a)
end end local function fg(k,O) O=g('%.0f',O) local B=c('ZRANGE',k,O,O,'WITHSCORES')[2] return B and tonumber(B) end
local function iq(a) local k=a.e local ai=a.l and fg(k,0) return ai and ai<0 and c('ZCOUNT',k,'-inf','(0')or 0 end
local function eY(a,O) local B=O>=0 and O<a.j+a.t and fg(a.e,O) return B and math.max(0,math.ceil(B)) end
local function bE(d) if d-d~=0 then return p().U(d) end return g('%.0f',d) end local function cP(a,d)
local M,cB=a.now_ms,a.r a.q=a.q or iq(a) if d>=a.j+cB-a.q then return nil end local O=d+a.q+a.t local j=eY(a,O)
if j and cB>0 and j>M then j=nil end if not j then local cO=eY(a,O-cB) j=cO and cO>M and cO or M end if a.Q then
a.v=a.v or c('ZCOUNT',a.e,'-inf',bE(M))+a.u j=O<a.v and math.min(j,M)or j end return j+a.i end
local function kj(a,m,P,cP,cK) local ei=a.limit-m if ei<0 then return nil elseif P<=ei then return 0 end
local ae=cP(a,P-ei-1) if cK and(not ae or cK<ae)then ae=cK end
return ae and(ae>=(2^53)and(1/0)or math.max(0,ae-a.now_ms)) end local function bU(a,eT) local M,G=a.now_ms,a.i
if eT and 2*(eT-M)>=3*G then return nil end return M+2*G end local function F(a,m)
return kj(a,m,a.j+a.r,cP,(bU(a,a.y)or a.y)+1) end local function bJ(k,M) if not redis.REDIS_VERSION_NUM then
return p().H(k,M) end local j=c('PEXPIRETIME',k) return j>=0 and j or nil end local function cJ(a,v,A)
a.q,a.v,a.r,a.Q=nil,nil,v=='charge'and A.o or 0,v=='rebase' local W=a.limit-a.j-a.r a.remaining=W>0 and W or 0
a.y=a.l and bJ(a.e,a.now_ms)or nil end local function bK(a) local v,F=a.a,F
cJ(a,v,v=='keep'and a.x or v~='delete'and a.f or nil) local W,cD,Z,af,aB=a.remaining,a.c,0,0,0 if not a.allowed then
local m=a.g Z=F(a,a.z or(m==0 and 1 or m))or-1 if a.J and Z>=0 then Z=math.max(Z,a.J) end end if W<cD then
af=F(a,W+1)or-1 aB=W+1==cD and af or F(a,cD)or-1 end if Z-Z~=0 or af-af~=0 or aB-aB~=0 or Z>=(2^53)or aB>=(2^53)then
p().p('INEXACT_REPLY') end return W,Z,af,aB,0 end local function ie(a,P) local W,Z,af,aB,hR=bK(a)
local iN=a.n and 1 or 0 return g( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and p().A(a)or 1)or 0,a.count,a.ttl,a.c,W,Z,af,aB, hR,a.now_ms,iN,P ) end local function iF(a,P)
local ao=a.form if ao=='LINE'then return ie(a,P) elseif ao then return p().N(a,P) end
return{a.allowed and(a.PARTIAL and p().A(a)or 1)or 0,a.count,a.ttl} end local function hJ(a) if a.a~='charge'then
return 0 elseif a.ALWAYS then return a.g elseif not a.allowed or(a.n and not a.PARTIAL)then return 0 end return a.g end
local function hD(k,R,w) local B=g('%.0f',R) local d=c('ZCOUNT',k,B,B) while w>1 do local I={}
for ac=1,math.min(w,1000)do I[#I+1]=B I[#I+1]=g('%s-0.%.0f',B,d) d=d+1 end w=w-c('ZADD',k,'NX',unpack(I)) end
while w>0 do w=w-c('ZADD',k,'NX',B,B..'-0.'..bE(d)) d=d+1 end end local function cp(k,an) if an then
c('PEXPIREAT',k,bE(an)) end end local function eO(a,v,A) local k=a.e if v=='charge'then
local bI=bU(a,a.l and bJ(k,a.now_ms)or nil) hD(k,A.G or a.now_ms,A.o) cp(k,bI) elseif v~='keep'then p().C(a,v,A)
elseif a.l then cp(k,bU(a,bJ(k,a.now_ms))) end end local function iM(aF,y)
local a=iv(y,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') iA(a,aF,a.RESERVE) ih(a,'write')
hQ(a) local hE=iF(a,hJ(a)) if a.SHADOW or a.RESERVE then p().D(a,true) else eO(a,a.a,a.f) end return hE end function p()
if not cA then local t={} t.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
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
t.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function hI(hF,cT) local aa=0
for r=1,#cT,1000 do local I={unpack(hF)} for d=r,math.min(r+999,#cT)do I[#I+1]=cT[d] end aa=aa+c(unpack(I)) end
return aa end local function iK(k,B,u) local bA={} for ac,ik in ipairs(u)do bA[#bA+1]=B bA[#bA+1]=ik end
hI({'ZADD',k,'XX'},bA) end local function hL(a,v,A) local k=a.e if v=='delete'then c('UNLINK',k) return end
local bI=bU(a,a.l and bJ(k,a.now_ms)or nil) if A.V then local B=g('%.0f',a.now_ms)
iK(k,B,c('ZRANGEBYSCORE',k,'('..B,'+inf','LIMIT','0',bE(a.u))) cp(k,bI) return end local u=a.j+a.t
local r,s=u-A.remove,u-1 if A.X then s=c('ZCOUNT',k,'-inf',bE(A.X))-1 r=math.max(0,s+1-A.remove) end
if s<0 or r>0 or s+1<u then cp(k,bI) end if s>=0 then c('ZREMRANGEBYRANK',k,g('%.0f',r),g('%.0f',s)) end end
local function ad(o) error({err=o},0) end local function X(aG) ad(t[aG]) end local function hU(al)
if type(al)=='table'then return al elseif E(al,'^%u+ ')then return redis.error_reply(al) end error(al,0) end
local function aE(d) if d-d~=0 then return d end local q,w={},0 while d>0 do local Q=d%(2^24) w=w+1 q[w]=Q
d=(d-Q)/(2^24) end return q end local eH={ __sub=function() return 1 end, } local function bL(q) local w=#q
while w>0 and q[w]==0 do q[w]=nil w=w-1 end if w>3 or(w==3 and q[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(q,eH)
end return(q[1]or 0)+(q[2]or 0)*(2^24)+(q[3]or 0)*(2^24)*(2^24) end local function hC(f,h) f,h=aE(f),aE(h)
local aa,ag={},0 for d=1,math.max(#f,#h)+1 do local Q=(f[d]or 0)+(h[d]or 0)+ag ag=Q>=(2^24)and 1 or 0 aa[d]=Q-ag*(2^24)
end return bL(aa) end local function fb(f,h) f,h=aE(f),aE(h) local bB={} for d=1,#f+#h do bB[d]=0 end for d=1,#f do
local ag=0 for cS=1,#h do local Q=bB[d+cS-1]+f[d]*h[cS]+ag ag=math.floor(Q/(2^24)) bB[d+cS-1]=Q-ag*(2^24) end
bB[d+#h]=ag end return bL(bB) end local function eX(f,h) local eK,hG=f-f==0,h-h==0 if eK or hG then return eK
elseif#f~=#h then return#f<#h end for d=#f,1,-1 do if f[d]~=h[d]then return f[d]<h[d] end end return false end
local function cR(f,h) if f-f==0 and h-h==0 then return f<h end return eX(f,h) end local function eM(d) if d-d==0 then
return d end local aa=0 for ib=#d,1,-1 do aa=aa*(2^24)+d[ib] end return aa end local function iR(f,h) if not eX(h,f)then
return 0 end h=aE(h) local eP,cC={},0 for d=1,#f do local Q=f[d]-(h[d]or 0)-cC cC=Q<0 and 1 or 0 eP[d]=Q+cC*(2^24) end
return bL(eP) end local function iQ(f,h) if f-f==0 and h-h==0 then return f>h and f-h or 0 end return iR(f,h) end
local function bT(f,h) if f-f==0 and h-h==0 and f*h<(2^53)then return f*h end return fb(f,h) end local function hT(f,h)
local eg=0 while not cR(f,h)do local I=math.max(1,math.floor(eM(f)/eM(h)*(1-2^-45))) I=bL(aE(I)) eg=eL(eg,I)
f=iQ(f,bT(I,h)) end return eg,f end local function cG(f,h) if f-f==0 and h-h==0 then local K=f%h return(f-K)/h,K end
return hT(f,h) end local function iT(d) local ek='' while d-d~=0 do local K d,K=cG(d,10000000) ek=g('%07.0f',K)..ek end
return g('%.0f',d)..ek end local function hV(k,M) local ae=c('PTTL',k) return ae>=0 and M+ae or nil end
local function iE(k,ai,s,u,Y) local ah=c('ZCOUNT',k,ai,s) local am=math.min(ah,Y) if am>0 then
local r=ai=='0'and c('ZCOUNT',k,'-inf','(0')or 0 c('ZREMRANGEBYRANK',k,g('%.0f',r),g('%.0f',r+am-1))
u,ah,cI=u-am,ah-am,Y-am end return u,ah end local function eN(f,h) for j=1,math.min(#f,#h)do
local hx,hy=f:byte(j),h:byte(j) if hx~=hy then return hx<hy end end return#f<#h end local function cF(o,Y)
if o~='0'and not E(o,'^[1-9]%d*$')then return nil end return(#o<#Y or(#o==#Y and not eN(Y,o)))and o or nil end
local function eS(q) if#q<=15 or(#q==16 and eN(q,'9007199254740992'))then return q+0 end local cL=#q%7
local d=cL>0 and q:sub(1,cL)+0 or 0 for j=cL+1,#q,7 do d=eL(bT(d,10000000),q:sub(j,j+6)+0) end return d end
local function fd(aG,o,eW) local q=o and cF(o,'9223372036854775807') local d=q and eS(q) if not d or d==0 and eW>0 then
ad(g('ERR invalid %s: expected an integer from %d to 9223372036854775807',aG,eW)) elseif d-d~=0 then
ad(g('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aG)) end return d end local eI={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ap(ig,z)
return not E(z,' ',1,true)and E(ig,' '..z..' ',1,true)~=nil end local function fk(a,n)
return not ap(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or ap((' COST PARTIAL '),n) end
local function ic(z,n) local r,s=0,0 local fh,ij=math.min(#z,#n),math.max(#z,#n)
while r<fh and z:byte(r+1)==n:byte(r+1)do r=r+1 end while s<fh-r and z:byte(-1-s)==n:byte(-1-s)do s=s+1 end
return r+s>=2 and ij-r-s<=2 end local function hW(a,J,z) local ar={} for ac,L in ipairs(eI)do
if ap(J,L[1])and fk(a,L[1])then ar[#ar+1]=L[2] end end for ac,ao in ipairs({'FULL','LINE','HEADERS'})do ar[#ar+1]=ao end
for ac,n in ipairs(ar)do if ic(z:upper(),eZ(n,'^%u+'))then ad('ERR syntax error: no such option, but there is '..n) end
end local s=table.remove(ar) local iU=table.concat(ar,', ')
ad('ERR syntax error: after limit come '..iU..' or '..s..', each at most once') end local function iI(L,a,J)
local n,kl=L[1],a.aa if not ap(J,n)then ad(g('ERR invalid %s: only %s it',n,L[3])) elseif not fk(a,n)then
ad(g('ERR invalid %s: %s takes none',n,('SLIDING'))) elseif a[n]~=nil then
ad(g('ERR syntax error: %s comes at most once',L[2])) end end local function fa(f,h) return cR(h,f)and h or f end
local hB=setmetatable({(2^24)-1,(2^24)-1,2^16-1},eH) local function iy(n,o,ko) if n=='AS'then
return o and#o>=1 and#o<=64 and not E(o,'[^%w._-]')and o or X('AS') elseif n=='AT'then
local q=o and cF(o,'9223372036854775807') return q and fa(eS(q),(cG(hB,1000)))or X('AT') end
return fd(n,o,n=='BURST'and 1 or 0) end local function iG(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
X(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
X(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local hz={FULL=true,LINE=true,HEADERS=true}
local function ir(ao,fc) if ao then X(ao==fc and'FORM_TWICE'or'TWO_FORMS') end return fc end local function iw(a,y,j,J)
while y[j]do local z,L=y[j]:upper(),nil for ac,eV in ipairs(eI)do L=eV[1]==z and eV or L end if L then iI(L,a,J)
if L[2]==z then a[z]=true j=j+1 else a[z]=iy(z,y[j+1],y[j+2]) j=j+(z=='RESERVE'and 3 or 2) end iG(a)
elseif hz[z]and ap(J,'form')then a.form=ir(a.form,z) j=j+1 else return j end end return j end
local eJ={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function iz(o) local aq,fn=eZ(o,'^(%d+)(%l*)$')
local R=aq and eJ[fn]and cF(aq,'18446744073709551615')and aq*eJ[fn] return R and R>=1 and R<=1e15 and R or nil end
local hA={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function kk(a,o) local G=iz(o)
if not G then a.W=o:upper() G=hA[a.W] if not G then X(ap((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ap((' COST PARTIAL '),'ANCHOR')then
ad(g('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return G end local function im(a)
if not true then return 0 elseif a.c<a.b then return a.PARTIAL and a.c or 0 end return a.b end local function iH(u,o)
if u>1000 then X(o) end end local function hZ(k) return k:sub(-9)==':reserved'or k:sub(-14)==':reserved:ends' end
local function iJ(k) if hZ(k)then X('RESERVED_KEY') end end local function hN(a) local is=a.PARTIAL and a.g<a.b
a.n=a.SHADOW and not a.w and(is or not a.allowed) if not a.allowed and(a.n or a.w)then a.allowed=true if not true then
local ac,ac,ac,eh=bK(a) a.ttl=aC(eh) end end end local function iD(a) cJ(a,'keep',a.x) return a.remaining end
local function iu(a,an,m) if m==0 then return'keep' elseif not an or not cR(an,a.now_ms)then return'charge',{o=m}
elseif an<=a.now_ms-a.i then return'keep' end return'charge',{o=m,G=an} end local function iP(v,A,hH) if v=='keep'then
return hH end return v~='delete'and A or nil end local function ip(m) return m==0 and 1 or m end local function eQ(d)
if d-d~=0 or d>=(2^53)then X('INEXACT_REPLY') end return d end local function hO(a) local m=a.b cE(a,0)
local v,A=iu(a,nil,m) if m>0 then a.a,a.f=v,A end local fi=iP(a.a,a.f,a.x) cJ(a,a.a,fi) a.allowed=a.c>0 and F(a,0)==0
a.z=a.c>0 and m or ip(m) if(nil)then a.count,a.ttl=(nil)(fi,a.now_ms) elseif a.allowed then a.ttl=aC(eQ(F(a,a.c))) else
local F=F(a,a.z) a.ttl=F and math.max(1,aC(eQ(F)))or-1 end end local function hP(a) local m=a.b if a.PARTIAL then
m=math.min(m,iD(a)) end a.g=m if a.ALWAYS then hO(a) else cE(a,m) end end local function hK(a,v,A) eO(a,v,A) end
local function hM(a,aZ) if not aZ and a.a=='charge'then a.a,a.f='keep',nil end hK(a,a.a,a.f) end local function fe(a)
return a.w and a.w.b or a.n and a.b or a.g end local function eR(a) if not a.allowed then return 0 end
return a.PARTIAL and fe(a)or 1 end local function hY(a,P) local W,iL,af,eh,hS=bK(a) return{ 'allowed',eR(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.c, 'remaining',W, 'retry_after_ms',iL, 'next_ms',af, 'reset_ms',eh,
'delay_ms',hS, 'now_ms',a.now_ms, 'shadow',a.n and 1 or 0, 'charged',P, } end local function io(bD) local fj={}
for ac,a in ipairs(bD)do local r,aq=a.AS or('SLIDING'):lower(),2 a.k=r while fj[a.k]do a.k=g('%s-%d',r,aq) aq=aq+1 end
fj[a.k]=true end end local function bN(d) return g('%.0f',fa(d,999999999999999)) end local function iB(a)
local G=(nil)and(nil)(a)or a.i local cH,K=1000,G%1000 while K>0 do cH,K=K,cH%K end local hv=1000/cH
local aY=cG(bT(G,hv),1000) return g('"%s";q=%s;w=%s',a.k,bN(bT(a.limit,hv)),bN(aY)) end local function id(bV,cV)
if bV.allowed~=cV.allowed then return not bV.allowed end local F,cW=bV.retry_after_ms,cV.retry_after_ms if F~=cW then
return F<0 or(cW>=0 and F>cW) end return bV.remaining<cV.remaining end local function ia(bD) local ej,ff=bD[1],{} io(bD)
for d,a in ipairs(bD)do ff[d]=iB(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bK(a) if id(a,ej)then ej=a end end
local a=ej local bF={ 'X-RateLimit-Limit', g('%.0f',a.c), 'X-RateLimit-Remaining', g('%.0f',a.remaining), }
local function bM(aG,aD) bF[#bF+1]=aG bF[#bF+1]=aD end if a.reset_ms>=0 then
bM('X-RateLimit-Reset',g('%.0f',aC(a.now_ms+a.reset_ms))) end bM('RateLimit-Policy',table.concat(ff,', '))
local il=a.next_ms>=0 and';t='..bN(aC(a.next_ms))or'' bM('RateLimit',g('"%s";r=%s%s',a.k,bN(a.remaining),il))
if not a.allowed and a.retry_after_ms>=0 then bM('Retry-After',g('%.0f',aC(a.retry_after_ms))) end return bF end
local function it(a,P) if a.form=='FULL'then return hY(a,P) end return{eR(a),a.count,a.ttl,ia({a})} end
cA={B=hC,C=hL,D=hM,E=hN,F=hP,error_reply=hU,H=hV,p=X,I=hW,K=im,L=fb,N=it,O=fd,P=iw,A=fe,R=iE,S=iH,T=iJ,U=iT,Z=kk} end
return cA end if al then return p().error_reply(al) end local bH,aU=pcall(iM,KEYS,ARGV)
return bH and aU or p().error_reply(aU) end local function hX(eG,ab)
local H,E,g,c=math.ceil,string.find,string.format,redis.call local bi local ep=ab[1] local cr=ab[2] local cs=ab[3]
if not cr then return end local bG=ab[4] local dn local x local aj if(cs=='LINE')and(not bG)then dn=4 x=1 aj='LINE' else
local dk local dl local dm if cs then if bG then
if not(((((ab[5]=='LINE')and(not ab[6]))and((#bG)<16))and(cs=='COST'))and E(bG,'^[1-9]%d*$'))then return end dk=6
dl=bG+0 dm='LINE' else if(((ab[5]=='LINE')and(not ab[6]))and(cs=='COST'))and E('','^[1-9]%d*$')then return end return
end else dk=3 dl=1 dm=nil end dn=dk x=dl aj=dm end if not(((#cr)<16)and E(cr,'^[1-9]%d*$'))then return end local C=cr+0
if not(((#ep)<10)and E(ep,'^[1-9]%d*$'))then return end local e=ep*1000 if not(e<9e12)then return end local jg=ab[dn]
if jg then return end if 1000<x then return end local fM=c('TIME') local fN=(fM[1]*1e06)+fM[2]
local b=(fN-(fN%1000))/1000 local i=eG[1] if not i then return end if E(i,':reserved',1,true)then return end
if not((#eG)==1)then return end local fO=b-e local ct=c('ZCARD',i) local l if(0<ct)and(0<=fO)then if not(ct<=4000)then
return end local jh=c('ZREMRANGEBYSCORE',i,'0',g('%.0f',fO)) l=ct-jh else l=ct end local D=0<l local ji=(l+x)<=C
local fP=e%1000 local cu=(e<0)and(-1)or((fP==0)and(e/1000)or(((e-fP)/1000)+1)) if ji then if aj=='LINE'then
local fQ=(C-l)-x local eq=(0<fQ)and fQ or 0 local ak if D then if not redis.REDIS_VERSION_NUM then return end
local fR=c('PEXPIRETIME',i) local fS=(0<=fR)and fR or nil local dq if fS then dq=fS else dq=nil end ak=dq else ak=nil
end local bo local aP if eq<C then local fT=eq+1 local bj if ak then if(3*e)<=(2*(ak-b))then bj=nil else bj=b+(2*e) end
else bj=b+(2*e) end local dr if bj then dr=bj else dr=ak end local aV=l+x local fU=dr+1 local bl local cc local er=C-fT
if er<0 then bl=nil cc=nil else if aV<=er then bl=nil cc=0 else local fV=(aV-er)-1 local S local aM if D then
local jk=c('ZRANGE',i,'0','0','WITHSCORES') local fW=jk[2] if fW then local ds if tonumber(fW)<0 then
local jl=c('ZCOUNT',i,'-inf','(0') ds=jl else ds=0 end aM=ds else aM=0 end else aM=0 end if(aV-aM)<=fV then S=nil else
local aW=fV+aM if(0<=aW)and(aW<l)then local fX=g('%.0f',aW) local jm=c('ZRANGE',i,fX,fX,'WITHSCORES') local fY=jm[2]
if fY then local fZ=H(tonumber(fY)) local ga=(0<fZ)and fZ or 0 local cb if b<ga then cb=nil else cb=ga end local bk
if not cb then local es=aW-x if(0<=es)and(es<l)then local gb=g('%.0f',es) local jn=c('ZRANGE',i,gb,gb,'WITHSCORES')
local gc=jn[2] if gc then local gd=H(tonumber(gc)) local ge=(0<gd)and gd or 0 local dt if b<ge then dt=ge else dt=b end
bk=dt else bk=b end else bk=b end else bk=cb end local jq=bk+e S=jq else local et=aW-x if(0<=et)and(et<l)then
local gf=g('%.0f',et) local jo=c('ZRANGE',i,gf,gf,'WITHSCORES') local gg=jo[2] if gg then local gh=H(tonumber(gg))
local gi=(0<gh)and gh or 0 local du if b<gi then du=gi else du=b end local jr=du+e S=jr else S=b+e end else S=b+e end
end else local eu=aW-x if(0<=eu)and(eu<l)then local gj=g('%.0f',eu) local jp=c('ZRANGE',i,gj,gj,'WITHSCORES')
local gk=jp[2] if gk then local gl=H(tonumber(gk)) local gm=(0<gl)and gl or 0 local dv if b<gm then dv=gm else dv=b end
local js=dv+e S=js else S=b+e end else S=b+e end end end local aN if(not S)or(fU<S)then aN=fU else aN=S end local dx
if aN then local dw if 2^53<=aN then dw=1/0 else local gn=aN-b dw=(0<gn)and gn or 0 end dx=dw else dx=aN end bl=aM cc=dx
end end local go=cc or(-1) local dG if fT==C then dG=go else local bm if ak then if(3*e)<=(2*(ak-b))then bm=nil else
bm=b+(2*e) end else bm=b+(2*e) end local dy if bm then dy=bm else dy=ak end local gp=dy+1 local dF if aV<=0 then dF=0
else local gq=aV-1 local T local ce if bl then ce=bl else local cd if D then local jt=c('ZRANGE',i,'0','0','WITHSCORES')
local gr=jt[2] if gr then local dz if tonumber(gr)<0 then local ju=c('ZCOUNT',i,'-inf','(0') dz=ju else dz=0 end cd=dz
else cd=0 end else cd=0 end ce=cd end if(aV-ce)<=gq then T=nil else local aX=gq+ce if(0<=aX)and(aX<l)then
local gs=g('%.0f',aX) local jv=c('ZRANGE',i,gs,gs,'WITHSCORES') local gt=jv[2] if gt then local gu=H(tonumber(gt))
local gv=(0<gu)and gu or 0 local cf if b<gv then cf=nil else cf=gv end local bn if not cf then local ev=aX-x
if(0<=ev)and(ev<l)then local gw=g('%.0f',ev) local jw=c('ZRANGE',i,gw,gw,'WITHSCORES') local gx=jw[2] if gx then
local gy=H(tonumber(gx)) local gz=(0<gy)and gy or 0 local dA if b<gz then dA=gz else dA=b end bn=dA else bn=b end else
bn=b end else bn=cf end local jz=bn+e T=jz else local ew=aX-x if(0<=ew)and(ew<l)then local gA=g('%.0f',ew)
local jx=c('ZRANGE',i,gA,gA,'WITHSCORES') local gB=jx[2] if gB then local gC=H(tonumber(gB)) local gD=(0<gC)and gC or 0
local dB if b<gD then dB=gD else dB=b end local jA=dB+e T=jA else T=b+e end else T=b+e end end else local ex=aX-x
if(0<=ex)and(ex<l)then local gE=g('%.0f',ex) local jy=c('ZRANGE',i,gE,gE,'WITHSCORES') local gF=jy[2] if gF then
local gG=H(tonumber(gF)) local gH=(0<gG)and gG or 0 local dC if b<gH then dC=gH else dC=b end local jB=dC+e T=jB else
T=b+e end else T=b+e end end end local aO if(not T)or(gp<T)then aO=gp else aO=T end local dE if aO then local dD
if 2^53<=aO then dD=1/0 else local gI=aO-b dD=(0<gI)and gI or 0 end dE=dD else dE=aO end dF=dE end dG=dF or(-1) end
bo=go aP=dG else bo=0 aP=0 end if((not((bo-bo)==0))or(not((aP-aP)==0)))or(2^53<=aP)then return end
local jC=g('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',l,cu,C,eq,bo,aP,b,x) local cg if D then
if not redis.REDIS_VERSION_NUM then return end local gJ=c('PEXPIRETIME',i) local gK=(0<=gJ)and gJ or nil local dH
if gK then dH=gK else dH=nil end cg=dH else cg=nil end local bp if cg then if(3*e)<=(2*(cg-b))then bp=nil else
bp=b+(2*e) end else bp=b+(2*e) end local cv=g('%.0f',b) local jD=c('ZCOUNT',i,cv,cv) if 1<x then return end local bO=x
local bP=jD while 0<bO do local jE=g('%.0f',bP) local jF=c('ZADD',i,'NX',cv,(cv..('-0.'..jE))) local jG=bO-jF
local jH=bP+1 bO,bP=jG,jH end local ks=bO local kt=bP if bp then local jI=g('%.0f',bp) local ku=c('PEXPIREAT',i,jI) end
bi=jC else if aj then return end local ch if D then if not redis.REDIS_VERSION_NUM then return end
local gL=c('PEXPIRETIME',i) local gM=(0<=gL)and gL or nil local dI if gM then dI=gM else dI=nil end ch=dI else ch=nil
end local bq if ch then if(3*e)<=(2*(ch-b))then bq=nil else bq=b+(2*e) end else bq=b+(2*e) end local cw=g('%.0f',b)
local jJ=c('ZCOUNT',i,cw,cw) if 1<x then return end local bQ=x local bR=jJ while 0<bQ do local jK=g('%.0f',bR)
local jL=c('ZADD',i,'NX',cw,(cw..('-0.'..jK))) local jM=bQ-jL local jN=bR+1 bQ,bR=jM,jN end local kv=bQ local kw=bR
if bq then local jO=g('%.0f',bq) local kx=c('PEXPIREAT',i,jO) end bi={1,l,cu} end else local dp if D then
local jj=c('ZCOUNT',i,('('..g('%.0f',b)),'+inf') dp=0<jj else dp=false end if dp then if aj=='LINE'then local gN=C-l
local gO=(0<gN)and gN or 0 local U if D then if not redis.REDIS_VERSION_NUM then return end local gP=c('PEXPIRETIME',i)
local gQ=(0<=gP)and gP or nil local dJ if gQ then dJ=gQ else dJ=nil end U=dJ else U=nil end local br if U then
if(3*e)<=(2*(U-b))then br=nil else br=b+(2*e) end else br=b+(2*e) end local dK if br then dK=br else dK=U end
local gR=dK+1 local ax local N local ci local ey=C-x if ey<0 then ax=nil N=nil ci=nil else if l<=ey then ax=nil N=nil
ci=0 else local gS=(l-ey)-1 local bs local aw local aQ if D then local jP=c('ZRANGE',i,'0','0','WITHSCORES')
local gT=jP[2] if gT then local dL if tonumber(gT)<0 then local jQ=c('ZCOUNT',i,'-inf','(0') dL=jQ else dL=0 end aQ=dL
else aQ=0 end else aQ=0 end if(l-aQ)<=gS then bs=nil aw=nil else local cx=gS+aQ if(0<=cx)and(cx<l)then
local gU=g('%.0f',cx) local jR=c('ZRANGE',i,gU,gU,'WITHSCORES') local gV=jR[2] if gV then local gW=H(tonumber(gV))
local ez=(0<gW)and gW or 0 local jS=c('ZCOUNT',i,'-inf',g('%.0f',b)) local gX=jS+500 local dM if cx<gX then
dM=(ez<b)and ez or b else dM=ez end local jV=dM+e bs=gX aw=jV else local jT=c('ZCOUNT',i,'-inf',g('%.0f',b)) bs=jT+500
aw=b+e end else local jU=c('ZCOUNT',i,'-inf',g('%.0f',b)) bs=jU+500 aw=b+e end end local aR if(not aw)or(gR<aw)then
aR=gR else aR=aw end local dO if aR then local dN if 2^53<=aR then dN=1/0 else local gY=aR-b dN=(0<gY)and gY or 0 end
dO=dN else dO=aR end ax=aQ N=bs ci=dO end end local eA=ci or(-1) local co local by if gO<C then local gZ=gO+1 local bt
if U then if(3*e)<=(2*(U-b))then bt=nil else bt=b+(2*e) end else bt=b+(2*e) end local dP if bt then dP=bt else dP=U end
local ha=dP+1 local bw local az local cl local eB=C-gZ if eB<0 then bw=ax az=N cl=nil else if l<=eB then bw=ax az=N cl=0
else local hb=(l-eB)-1 local bv local ay local bu if ax then bu=ax else local cj if D then
local jW=c('ZRANGE',i,'0','0','WITHSCORES') local hc=jW[2] if hc then local dQ if tonumber(hc)<0 then
local jX=c('ZCOUNT',i,'-inf','(0') dQ=jX else dQ=0 end cj=dQ else cj=0 end else cj=0 end bu=cj end if(l-bu)<=hb then
bv=N ay=nil else local cy=hb+bu if(0<=cy)and(cy<l)then local hd=g('%.0f',cy) local jY=c('ZRANGE',i,hd,hd,'WITHSCORES')
local he=jY[2] if he then local hf=H(tonumber(he)) local eC=(0<hf)and hf or 0 local ck if N then ck=N else
local jZ=c('ZCOUNT',i,'-inf',g('%.0f',b)) ck=jZ+500 end local dR if cy<ck then dR=(eC<b)and eC or b else dR=eC end
local kc=dR+e bv=ck ay=kc else local dS if N then dS=N else local ka=c('ZCOUNT',i,'-inf',g('%.0f',b)) dS=ka+500 end
bv=dS ay=b+e end else local dT if N then dT=N else local kb=c('ZCOUNT',i,'-inf',g('%.0f',b)) dT=kb+500 end bv=dT ay=b+e
end end local aS if(not ay)or(ha<ay)then aS=ha else aS=ay end local dV if aS then local dU if 2^53<=aS then dU=1/0 else
local hg=aS-b dU=(0<hg)and hg or 0 end dV=dU else dV=aS end bw=bu az=bv cl=dV end end local hh=cl or(-1) local ed
if gZ==C then ed=hh else local bx if U then if(3*e)<=(2*(U-b))then bx=nil else bx=b+(2*e) end else bx=b+(2*e) end
local dW if bx then dW=bx else dW=U end local hi=dW+1 local ec if l<=0 then ec=0 else local hj=l-1 local aA local cn
if bw then cn=bw else local cm if D then local kd=c('ZRANGE',i,'0','0','WITHSCORES') local hk=kd[2] if hk then local dX
if tonumber(hk)<0 then local ke=c('ZCOUNT',i,'-inf','(0') dX=ke else dX=0 end cm=dX else cm=0 end else cm=0 end cn=cm
end if(l-cn)<=hj then aA=nil else local cz=hj+cn if(0<=cz)and(cz<l)then local hl=g('%.0f',cz)
local kf=c('ZRANGE',i,hl,hl,'WITHSCORES') local hm=kf[2] if hm then local hn=H(tonumber(hm)) local eD=(0<hn)and hn or 0
local dY if az then dY=az else local kg=c('ZCOUNT',i,'-inf',g('%.0f',b)) dY=kg+500 end local dZ if cz<dY then
dZ=(eD<b)and eD or b else dZ=eD end local kh=dZ+e aA=kh else if not az then local ky=c('ZCOUNT',i,'-inf',g('%.0f',b))
end aA=b+e end else if not az then local kz=c('ZCOUNT',i,'-inf',g('%.0f',b)) end aA=b+e end end local aT
if(not aA)or(hi<aA)then aT=hi else aT=aA end local eb if aT then local ea if 2^53<=aT then ea=1/0 else local ho=aT-b
ea=(0<ho)and ho or 0 end eb=ea else eb=aT end ec=eb end ed=ec or(-1) end co=hh by=ed else co=0 by=0 end
if(not((eA-eA)==0))or((((not((co-co)==0))or(not((by-by)==0)))or(2^53<=eA))or(2^53<=by))then return end return else
if aj then return end return end else if aj=='LINE'then local hp=C-l local eE=(0<hp)and hp or 0 local V if D then
if not redis.REDIS_VERSION_NUM then return end local hq=c('PEXPIRETIME',i) local hr=(0<=hq)and hq or nil local ee
if hr then ee=hr else ee=nil end V=ee else V=nil end local bz if V then if(3*e)<=(2*(V-b))then bz=nil else bz=b+(2*e)
end else bz=b+(2*e) end local ef if bz then ef=bz else ef=V end local hs=ef+1 local at local bW local eF=C-x
if eF<0 then at=nil bW=nil else if l<=eF then at=nil bW=0 else local ht=(l-eF)-1 local as local aH if D then
local ki=c('ZRANGE',i,'0','0','WITHSCORES') local hu=ki[2] if hu then local cX if tonumber(hu)<0 then
local iV=c('ZCOUNT',i,'-inf','(0') cX=iV else cX=0 end aH=cX else aH=0 end else aH=0 end if(l-aH)<=ht then as=nil else
local el=ht+aH if(0<=el)and(el<l)then local fo=g('%.0f',el) local iW=c('ZRANGE',i,fo,fo,'WITHSCORES') local fp=iW[2]
if fp then local fq=H(tonumber(fp)) as=((0<fq)and fq or 0)+e else as=b+e end else as=b+e end end local aI
if(not as)or(hs<as)then aI=hs else aI=as end local cZ if aI then local cY if 2^53<=aI then cY=1/0 else local fr=aI-b
cY=(0<fr)and fr or 0 end cZ=cY else cZ=aI end at=aH bW=cZ end end local cq=bW or(-1) local bf local aL if eE<C then
local fs=eE+1 local bb if V then if(3*e)<=(2*(V-b))then bb=nil else bb=b+(2*e) end else bb=b+(2*e) end local da
if bb then da=bb else da=V end local ft=da+1 local bd local bY local em=C-fs if em<0 then bd=at bY=nil else
if l<=em then bd=at bY=0 else local fu=(l-em)-1 local au local bc if at then bc=at else local bX if D then
local iX=c('ZRANGE',i,'0','0','WITHSCORES') local fv=iX[2] if fv then local db if tonumber(fv)<0 then
local iY=c('ZCOUNT',i,'-inf','(0') db=iY else db=0 end bX=db else bX=0 end else bX=0 end bc=bX end if(l-bc)<=fu then
au=nil else local en=fu+bc if(0<=en)and(en<l)then local fw=g('%.0f',en) local iZ=c('ZRANGE',i,fw,fw,'WITHSCORES')
local fx=iZ[2] if fx then local fy=H(tonumber(fx)) au=((0<fy)and fy or 0)+e else au=b+e end else au=b+e end end local aJ
if(not au)or(ft<au)then aJ=ft else aJ=au end local dd if aJ then local dc if 2^53<=aJ then dc=1/0 else local fz=aJ-b
dc=(0<fz)and fz or 0 end dd=dc else dd=aJ end bd=bc bY=dd end end local fA=bY or(-1) local dj if fs==C then dj=fA else
local be if V then if(3*e)<=(2*(V-b))then be=nil else be=b+(2*e) end else be=b+(2*e) end local de if be then de=be else
de=V end local fB=de+1 local di if l<=0 then di=0 else local fC=l-1 local av local ca if bd then ca=bd else local bZ
if D then local ja=c('ZRANGE',i,'0','0','WITHSCORES') local fD=ja[2] if fD then local df if tonumber(fD)<0 then
local jb=c('ZCOUNT',i,'-inf','(0') df=jb else df=0 end bZ=df else bZ=0 end else bZ=0 end ca=bZ end if(l-ca)<=fC then
av=nil else local eo=fC+ca if(0<=eo)and(eo<l)then local fE=g('%.0f',eo) local jc=c('ZRANGE',i,fE,fE,'WITHSCORES')
local fF=jc[2] if fF then local fG=H(tonumber(fF)) av=((0<fG)and fG or 0)+e else av=b+e end else av=b+e end end local aK
if(not av)or(fB<av)then aK=fB else aK=av end local dh if aK then local dg if 2^53<=aK then dg=1/0 else local fH=aK-b
dg=(0<fH)and fH or 0 end dh=dg else dh=aK end di=dh end dj=di or(-1) end bf=fA aL=dj else bf=0 aL=0 end
if(not((cq-cq)==0))or((((not((bf-bf)==0))or(not((aL-aL)==0)))or(2^53<=cq))or(2^53<=aL))then return end
local jd=g('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',l,cu,C,eE,cq,bf,aL,b) if D then
if not redis.REDIS_VERSION_NUM then return end local fI=c('PEXPIRETIME',i) local fJ=(0<=fI)and fI or nil local bg
if fJ then if(3*e)<=(2*(fJ-b))then bg=nil else bg=b+(2*e) end else bg=b+(2*e) end if bg then local je=g('%.0f',bg)
local kq=c('PEXPIREAT',i,je) end end bi=jd else if aj then return end if D then if not redis.REDIS_VERSION_NUM then
return end local fK=c('PEXPIRETIME',i) local fL=(0<=fK)and fK or nil local bh if fL then if(3*e)<=(2*(fL-b))then bh=nil
else bh=b+(2*e) end else bh=b+(2*e) end if bh then local jf=g('%.0f',bh) local kr=c('PEXPIREAT',i,jf) end end
bi={0,l,cu} end end end return bi end local bH,aU=pcall(hX,KEYS,ARGV) if bH and aU then return aU end
return iO(not bH and aU)
