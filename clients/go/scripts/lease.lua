-- RL.LEASE, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function hr(aa) local bG,l local w,e,dQ,ig=string.find,string.format,string.match,string.sub
local function hb(u,f,D) local af,Y,k=u[f],u[f+1],u[f+2] if not Y then l().j('ARITY') end local a={ l='', y=0, now_ms=0,
q=0, Q=0, limit=0, b=0, c=1, form=nil, delay=0, t=nil, f=nil, allowed=false, count=0, ttl=0, a='keep', remaining=0, g=1,
} f=f+2 if k=='LINE'and not u[f+1]and D~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=k,f+1
elseif k then local aq=u[f+1]or''
local dK=D==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and u[f+2]=='LINE'and not u[f+3]and#aq<16
if dK and k=='COST'and(' ID ')~=' ID 'and w(aq,'^[1-9]%d*$')then a.form,a.c,f='LINE',aq+0,f+3
elseif dK and k=='ID'and(' ID ')==' ID 'and aq~=''then a.form,a.ID,f='LINE',aq,f+3 else f=l().L(a,u,f,D) a.c=a.COST or 1
end end local bT=#Y<16 and w(Y,'^[1-9]%d*$') a.limit=bT and Y+0 or l().K('limit',Y,0) bT=#af<10 and w(af,'^[1-9]%d*$')
local J=bT and af*1000 or l().R(a,af) a.q,a.Q,a.b=J,J<9e12 and J*1000 or l().w(J,1000),a.BURST or a.limit return a,f end
local function gY(u,D) local a,f=hb(u,1,D) if u[f]then l().H(a,D,u[f]) end return a end local g=redis.call
local function hh(a) local ef=g('TIME') local bX=ef[1]*1000000+ef[2] a.y,a.now_ms=bX,(bX-bX%1000)/1000 end
local function hu(a,au,f,gf,bU) local h=au[f] if not h then l().j('KEYS') end a.l,f=h,f+1 if bU then a.i=h
elseif w(h,':reserved',1,true)then l().N(h) end return f end local function he(a,au,gf,bU) hh(a)
if#au~=hu(a,au,1,gf,bU)-1 then l().j('KEYS') end end local bP,id,ii,ie=4000,1000,1000,2*500
local function gP(a,aO,ee,bC) local h=a.l local G,X=g('ZCARD',h),0 if G>0 and ee>=0 and bC~='delete'then
local t=e('%.0f',ee) local H=bC=='read'and 0 or bP if G<=H then local ac=g('ZREMRANGEBYSCORE',h,aO,t) G,bP=G-ac,H-ac
else G,X=l().M(h,aO,t,G,H) end end a.n,a.u,a.F=G-X,X,G>0 end local function bO(C)
return C<2^64 and math.max(0,math.ceil(C))or(1/0) end local function gz(a,gI) local C=a.n>0 and g('ZSCORE',a.l,gI)
local x=C and bO(tonumber(C)) return x and x>a.now_ms and x or nil end local function gO(a,bC) gP(a,'-inf',a.now_ms,bC)
a.k=a.ID and gz(a,a.ID) a.p=a.k and a.n-1 or a.n end local function bg(d) if d-d~=0 or d>=(2^53)then
l().j('INEXACT_REPLY') end return d end local function bH(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return l().A(b,c) end local function gy(b,c) if b-b==0 and c-c==0 then local z=b%c return z==0 and b/c or(b-z)/c+1 end
local aH,z=l().E(b,c) return z==0 and aH or bH(aH,1) end local function eb(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return l().O(b,c) end local function aP(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then
return b*c end return l().w(b,c) end local function bi(a,y,K) a.e=y=='charge'and K.e or nil a.v=a.e and a.p+1 or a.n
a.remaining=math.max(0,a.limit-a.v) end local function dY(h,bD) bD=e('%.0f',bD)
local C=g('ZRANGE',h,bD,bD,'WITHSCORES')[2] return C and tonumber(C) end local function bN(a,d) local C=dY(a.l,d+a.u)
return C and bO(C)or(1/0) end local function dF(a,d) local x=bN(a,d) return a.k and x>=a.k and bN(a,d+1)or x end
local function gA(a,d,ca) if d<a.p then local x=dF(a,d) if x<=ca then return x end end
return d>0 and math.max(dF(a,d-1),ca)or ca end local function bV(a,d) local x=a.e and gA(a,d,a.e)or bN(a,d)
return x~=(1/0)and x or nil end local function ia(a,n,L,bV,bQ) local dh=a.limit-n if dh<0 then return nil
elseif L<=dh then return 0 end local S=bV(a,L-dh-1) if bQ and(not S or bQ<S)then S=bQ end
return S and(S>=(2^53)and(1/0)or math.max(0,S-a.now_ms)) end local function p(a,n) return ia(a,n,a.v,bV,nil) end
local function ad(T) local z=T%1000 return T<0 and-1 or z==0 and T/1000 or(T-z)/1000+1 end local function hv(a,n)
local p=p(a,n==0 and 1 or n) p=p and ad(bg(p))or-1 return p==0 and 1 or p end local function bK(a)
local Z,Y,dU,dT=a.now_ms,a.limit,a.k,a.p local aN=Y>0 and(dU~=nil or dT<Y) local x=Z+a.q
a.allowed,a.count,a.a=aN,dT,'keep' if aN and dU~=x then a.a,a.f='charge',{e=x} end if aN then
a.ttl=bg(gy(eb(aP(x,1000),a.y),1000000)) else bi(a,'keep') a.ttl=hv(a,1) end end local function gv(a)
if a.PARTIAL or a.ALWAYS then l().D(a) else local n=a.c a.g=n bK(a,n) end if a.SHADOW then l().C(a) end end
local function bh(a) local y,p=a.a,p bi(a,y,y=='keep'and a.t or y~='delete'and a.f or nil)
local ab,bJ,P,U,al=a.remaining,a.b,0,0,0 if not a.allowed then local n=a.g P=p(a,a.x or(n==0 and 1 or n))or-1
if a.I and P>=0 then P=math.max(P,a.I) end end if ab<bJ then U=p(a,ab+1)or-1 al=ab+1==bJ and U or p(a,bJ)or-1 end
if P-P~=0 or U-U~=0 or al-al~=0 or P>=(2^53)or al>=(2^53)then l().j('INEXACT_REPLY') end return ab,P,U,al,0 end
local function gM(a,L) local ab,P,U,al,gw=bh(a) local hq=a.o and 1 or 0 return e(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and l().z(a)or 1)or 0,a.count,a.ttl,a.b,ab,P,U,al, gw,a.now_ms,hq,L ) end local function hk(a,L)
local ah=a.form if ah=='LINE'then return gM(a,L) elseif ah then return l().J(a,L) end
return{a.allowed and(a.PARTIAL and l().z(a)or 1)or 0,a.count,a.ttl} end local function eh(a) return a.k and 0 or 1 end
local function gp(a) if a.a~='charge'then return 0 elseif a.ALWAYS then return a.g
elseif not a.allowed or(a.o and not a.PARTIAL)then return 0 end if eh then return eh(a) end return a.g end
local function dG(h,t,bS) if t>=(2^53)or bS~=t then g('PEXPIREAT',h,t<2^63 and e('%.0f',t)or'9223372036854775807') end
end local function dM(h) local C=dY(h,-1) return C and bO(C) end local function dH(h,Z)
if not redis.REDIS_VERSION_NUM then return l().G(h,Z) end local f=g('PEXPIRETIME',h) return f>=0 and f or nil end
local function dB(a,y,K) local h,Z=a.l,a.now_ms if y=='delete'then g('UNLINK',h) elseif y=='keep'then if a.n>0 then
dG(h,dM(h),dH(h,Z)) end elseif a.ID then local bS=a.F and dH(h,Z)or nil if a.k then g('ZADD',h,'XX',e('%.0f',K.e),a.ID)
else g('ZADD',h,e('%.0f',K.e),a.ID) end dG(h,a.p+a.u==0 and K.e or dM(h),bS) end end local function hp(au,u)
local a=gY(u,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
if not a.ID and(' ID ')==' ID 'then l().j('ID_MISSING') end he(a,au,a.RESERVE) gO(a,'write') gv(a) local gm=hk(a,gp(a))
if a.SHADOW or a.RESERVE then l().B(a,true) else dB(a,a.a,a.f) end return gm end function l() if not bG then local q={}
q.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
q.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
q.ID='ERR invalid ID: expected 1 to 512 bytes'
q.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
q.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
q.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
q.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
q.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
q.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
q.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
q.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
q.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
q.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
q.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
q.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' q.ARITY='ERR wrong number of arguments'
q.ID_MISSING='ERR syntax error: LEASE needs ID id, the holder of the lease'
q.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
q.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function R(j)
error({err=j},0) end local function Q(av) R(q[av]) end local function gB(aa) if type(aa)=='table'then return aa
elseif w(aa,'^%u+ ')then return redis.error_reply(aa) end error(aa,0) end local function as(d) if d-d~=0 then return d
end local m,M={},0 while d>0 do local N=d%(2^24) M=M+1 m[M]=N d=(d-N)/(2^24) end return m end local dv={
__sub=function() return 1 end, } local function bj(m) local M=#m while M>0 and m[M]==0 do m[M]=nil M=M-1 end
if M>3 or(M==3 and m[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(m,dv) end
return(m[1]or 0)+(m[2]or 0)*(2^24)+(m[3]or 0)*(2^24)*(2^24) end local function gl(b,c) b,c=as(b),as(c) local aJ,W={},0
for d=1,math.max(#b,#c)+1 do local N=(b[d]or 0)+(c[d]or 0)+W W=N>=(2^24)and 1 or 0 aJ[d]=N-W*(2^24) end return bj(aJ)
end local function dP(b,c) local dy,gn=b-b==0,c-c==0 if dy or gn then return dy elseif#b~=#c then return#b<#c end
for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function ht(b,c) if not dP(c,b)then
return 0 end c=as(c) local dC,bI={},0 for d=1,#b do local N=b[d]-(c[d]or 0)-bI bI=N<0 and 1 or 0 dC[d]=N+bI*(2^24) end
return bj(dC) end local function gS(b,c) b,c=as(b),as(c) local bb={} for d=1,#b+#c do bb[d]=0 end for d=1,#b do
local W=0 for bW=1,#c do local N=bb[d+bW-1]+b[d]*c[bW]+W W=math.floor(N/(2^24)) bb[d+bW-1]=N-W*(2^24) end bb[d+#c]=W end
return bj(bb) end local function dO(b,c) if b-b==0 and c-c==0 then return b<c end return dP(b,c) end
local function dz(d) if d-d==0 then return d end local aJ=0 for gJ=#d,1,-1 do aJ=aJ*(2^24)+d[gJ] end return aJ end
local function dE(b,c) local aH=0 while not dO(b,c)do local bB=math.max(1,math.floor(dz(b)/dz(c)*(1-2^-45)))
bB=bj(as(bB)) aH=bH(aH,bB) b=eb(b,aP(bB,c)) end return aH,b end local function gC(h,Z) local S=g('PTTL',h)
return S>=0 and Z+S or nil end local function hj(h,aO,t,G,H) local X=g('ZCOUNT',h,aO,t) local ac=math.min(X,H)
if ac>0 then local A=aO=='0'and g('ZCOUNT',h,'-inf','(0')or 0 g('ZREMRANGEBYRANK',h,e('%.0f',A),e('%.0f',A+ac-1))
G,X,bP=G-ac,X-ac,H-ac end return G,X end local function dA(b,c) for f=1,math.min(#b,#c)do
local gg,gh=b:byte(f),c:byte(f) if gg~=gh then return gg<gh end end return#b<#c end local function bL(j,H)
if j~='0'and not w(j,'^[1-9]%d*$')then return nil end return(#j<#H or(#j==#H and not dA(H,j)))and j or nil end
local function dJ(m) if#m<=15 or(#m==16 and dA(m,'9007199254740992'))then return m+0 end local bR=#m%7
local d=bR>0 and m:sub(1,bR)+0 or 0 for f=bR+1,#m,7 do d=bH(aP(d,10000000),m:sub(f,f+6)+0) end return d end
local function dV(av,j,dN) local m=j and bL(j,'9223372036854775807') local d=m and dJ(m) if not d or d==0 and dN>0 then
R(e('ERR invalid %s: expected an integer from %d to 9223372036854775807',av,dN)) elseif d-d~=0 then
R(e('ERR invalid %s: the Lua library takes integers up to 9007199254740991',av)) end return d end local dw={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ai(gN,v)
return not w(v,' ',1,true)and w(gN,' '..v..' ',1,true)~=nil end local function ed(a,k)
return not ai(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or ai((' ID '),k) end
local function gK(v,k) local A,t=0,0 local dZ,gQ=math.min(#v,#k),math.max(#v,#k)
while A<dZ and v:byte(A+1)==k:byte(A+1)do A=A+1 end while t<dZ-A and v:byte(-1-t)==k:byte(-1-t)do t=t+1 end
return A+t>=2 and gQ-A-t<=2 end local function gD(a,D,v) local ak={} for ag,E in ipairs(dw)do
if ai(D,E[1])and ed(a,E[1])then ak[#ak+1]=E[2] end end for ag,ah in ipairs({'FULL','LINE','HEADERS'})do ak[#ak+1]=ah end
for ag,k in ipairs(ak)do if gK(v:upper(),dQ(k,'^%u+'))then R('ERR syntax error: no such option, but there is '..k) end
end local t=table.remove(ak) local hw=table.concat(ak,', ')
R('ERR syntax error: after limit come '..hw..' or '..t..', each at most once') end local function hm(E,a,D)
local k,ic=E[1],a.S if not ai(D,k)then R(e('ERR invalid %s: only %s it',k,E[3])) elseif not ed(a,k)then
R(e('ERR invalid %s: %s takes none',k,('LEASE'))) elseif a[k]~=nil then
R(e('ERR syntax error: %s comes at most once',E[2])) end end local function gZ(j,H) return j and#j>=1 and#j<=H and j end
local function dR(b,c) return dO(c,b)and c or b end local function dD(b,c) if b-b==0 and c-c==0 then local z=b%c
return(b-z)/c,z end return dE(b,c) end local gk=setmetatable({(2^24)-1,(2^24)-1,2^16-1},dv) local function hc(k,j,ih)
if k=='ID'then return gZ(j,512)or Q('ID') end if k=='AS'then
return j and#j>=1 and#j<=64 and not w(j,'[^%w._-]')and j or Q('AS') elseif k=='AT'then
local m=j and bL(j,'9223372036854775807') return m and dR(dJ(m),(dD(gk,1000)))or Q('AT') end
return dV(k,j,k=='BURST'and 1 or 0) end local function hl(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
Q(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
Q(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local gi={FULL=true,LINE=true,HEADERS=true}
local function gV(ah,dS) if ah then Q(ah==dS and'FORM_TWICE'or'TWO_FORMS') end return dS end local function ha(a,u,f,D)
while u[f]do local v,E=u[f]:upper(),nil for ag,dL in ipairs(dw)do E=dL[1]==v and dL or E end if E then hm(E,a,D)
if E[2]==v then a[v]=true f=f+1 else a[v]=hc(v,u[f+1],u[f+2]) f=f+(v=='RESERVE'and 3 or 2) end hl(a)
elseif gi[v]and ai(D,'form')then a.form=gV(a.form,v) f=f+1 else return f end end return f end
local dx={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function hd(j) local aj,eg=dQ(j,'^(%d+)(%l*)$')
local T=aj and dx[eg]and bL(aj,'18446744073709551615')and aj*dx[eg] return T and T>=1 and T<=1e15 and T or nil end
local gj={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function ib(a,j) local J=hd(j)
if not J then a.P=j:upper() J=gj[a.P] if not J then Q(ai((' ID '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ai((' ID '),'ANCHOR')then R(e('ERR invalid window: %s takes no windows of the calendar',('LEASE'))) end end
return J end local function gG(h) return h:sub(-9)==':reserved'or h:sub(-14)==':reserved:ends' end local function hn(h)
if gG(h)then Q('RESERVED_KEY') end end local function gs(a) local gW=a.PARTIAL and a.g<a.c
a.o=a.SHADOW and not a.r and(gW or not a.allowed) if not a.allowed and(a.o or a.r)then a.allowed=true if not(nil)then
local ag,ag,ag,dg=bh(a) a.ttl=ad(dg) end end end local function hi(a) bi(a,'keep',a.t) return a.remaining end
local function hs(y,K,go) if y=='keep'then return go end return y~='delete'and K or nil end local function gU(n)
return n==0 and 1 or n end local function gt(a) local n=a.c bK(a,0) local y,K=(nil)(a,nil,n) if n>0 then a.a,a.f=y,K end
local ea=hs(a.a,a.f,a.t) bi(a,a.a,ea) a.allowed=a.b>0 and p(a,0)==0 a.x=a.b>0 and n or gU(n) if(nil)then
a.count,a.ttl=(nil)(ea,a.now_ms) elseif a.allowed then a.ttl=ad(bg(p(a,a.b))) else local p=p(a,a.x)
a.ttl=p and math.max(1,ad(bg(p)))or-1 end end local function gu(a) local n=a.c if a.PARTIAL then n=math.min(n,hi(a)) end
a.g=n if a.ALWAYS then gt(a) else bK(a,n) end end local function gq(a,y,K) dB(a,y,K) end local function gr(a,aN)
if not aN and a.a=='charge'then a.a,a.f='keep',nil end gq(a,a.a,a.f) end local function dW(a)
return a.r and a.r.c or a.o and a.c or a.g end local function dI(a) if not a.allowed then return 0 end
return a.PARTIAL and dW(a)or 1 end local function gF(a,L) local ab,ho,U,dg,gx=bh(a) return{ 'allowed',dI(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',ab, 'retry_after_ms',ho, 'next_ms',U, 'reset_ms',dg,
'delay_ms',gx, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',L, } end local function gT(bc) local ec={}
for ag,a in ipairs(bc)do local A,aj=a.AS or('LEASE'):lower(),2 a.i=A while ec[a.i]do a.i=e('%s-%d',A,aj) aj=aj+1 end
ec[a.i]=true end end local function at(d) return e('%.0f',dR(d,999999999999999)) end local function hf(a)
if('concurrent-requests')then local hg,af=at(a.limit),at(ad(a.q))
return e('"%s";q=%s;w=%s;qu="%s"',a.i,hg,af,('concurrent-requests')) end local J=(nil)and(nil)(a)or a.q
local bM,z=1000,J%1000 while z>0 do bM,z=z,bM%z end local ge=1000/bM local af=dD(aP(J,ge),1000)
return e('"%s";q=%s;w=%s',a.i,at(aP(a.limit,ge)),at(af)) end local function gL(bl,bY) if bl.allowed~=bY.allowed then
return not bl.allowed end local p,bZ=bl.retry_after_ms,bY.retry_after_ms if p~=bZ then return p<0 or(bZ>=0 and p>bZ) end
return bl.remaining<bY.remaining end local function gH(bc) local di,dX=bc[1],{} gT(bc) for d,a in ipairs(bc)do
dX[d]=hf(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bh(a) if gL(a,di)then di=a end end local a=di local bd={
'X-RateLimit-Limit', e('%.0f',a.b), 'X-RateLimit-Remaining', e('%.0f',a.remaining), } local function bk(av,aq)
bd[#bd+1]=av bd[#bd+1]=aq end if a.reset_ms>=0 then bk('X-RateLimit-Reset',e('%.0f',ad(a.now_ms+a.reset_ms))) end
bk('RateLimit-Policy',table.concat(dX,', ')) local gR=a.next_ms>=0 and';t='..at(ad(a.next_ms))or''
bk('RateLimit',e('"%s";r=%s%s',a.i,at(a.remaining),gR)) if not a.allowed and a.retry_after_ms>=0 then
bk('Retry-After',e('%.0f',ad(a.retry_after_ms))) end return bd end local function gX(a,L) if a.form=='FULL'then
return gF(a,L) end return{dI(a),a.count,a.ttl,gH({a})} end
bG={A=gl,B=gr,C=gs,D=gu,E=dE,error_reply=gB,G=gC,j=Q,H=gD,w=gS,J=gX,K=dV,L=ha,z=dW,M=hj,N=hn,O=ht,R=ib} end return bG
end if aa then return l().error_reply(aa) end local bf,aI=pcall(hp,KEYS,ARGV) return bf and aI or l().error_reply(aI)
end local function gE(du,ar) local s,w,e,g=math.ceil,string.find,string.format,redis.call local df local V=ar[1]
local ae=ar[2] local dj=ar[3] if not ae then return end local am=ar[4] if(dj=='LINE')and(not am)then
if not(((#ae)<16)and w(ae,'^[1-9]%d*$'))then return end if not(((#V)<10)and w(V,'^[1-9]%d*$'))then return end
if not((V*1000)<9e12)then return end return else if dj then if am then
if not(((((ar[5]=='LINE')and(not ar[6]))and((#am)<16))and(dj=='ID'))and(not(am=='')))then return end
if not(((#ae)<16)and w(ae,'^[1-9]%d*$'))then return end local F=ae+0 if not(((#V)<10)and w(V,'^[1-9]%d*$'))then return
end local ei=V*1000 if not(ei<9e12)then return end local ej=g('TIME') local aK=(ej[1]*1e06)+ej[2]
local I=(aK-(aK%1000))/1000 local i=du[1] if not i then return end if w(i,':reserved',1,true)then return end
if not((#du)==1)then return end local bE=g('ZCARD',i) local B if(0<bE)and(0<=I)then if not(bE<=4000)then return end
local hx=g('ZREMRANGEBYSCORE',i,'-inf',e('%.0f',I)) B=bE-hx else B=bE end local dk=0<B local r if dk then
local ek=g('ZSCORE',i,am) if ek then local el=tonumber(ek) local bm if el<2^64 then local em=s(el) bm=(0<em)and em or 0
else bm=1/0 end local cb if I<bm then cb=bm else cb=nil end r=cb else r=nil end else r=nil end local an=r and(B-1)or B
local bF=(not(r==nil))or(an<F) local o=I+ei if bF and(not(r==o))then if not((o*1000)<2^53)then return end
local en=o*1000 local dl=(aK<en)and(en-aK)or 0 local eo=dl%1e06 local ep=(eo==0)and(dl/1e06)or(((dl-eo)/1e06)+1)
if 2^53<=ep then return end local hC=r and 0 or 1 local be=an+1 local ez=F-be local dp=(0<ez)and ez or 0 local aY
local az if dp<F then local eA=dp+1 local bs local dq=F-eA if dq<0 then bs=nil else if be<=dq then bs=0 else
local ao=(be-dq)-1 local aT if ao<an then local bp local aQ local eB=e('%.0f',ao)
local hD=g('ZRANGE',i,eB,eB,'WITHSCORES') local eC=hD[2] if eC then local eD=tonumber(eC) local cg if eD<2^64 then
local eE=s(eD) cg=(0<eE)and eE or 0 else cg=1/0 end aQ=cg else aQ=1/0 end if r then local cj if r<=aQ then local ci
local eF=e('%.0f',(ao+1)) local hE=g('ZRANGE',i,eF,eF,'WITHSCORES') local eG=hE[2] if eG then local eH=tonumber(eG)
local ch if eH<2^64 then local eI=s(eH) ch=(0<eI)and eI or 0 else ch=1/0 end ci=ch else ci=1/0 end cj=ci else cj=aQ end
bp=cj else bp=aQ end if bp<=o then aT=bp else local co if 0<ao then local eJ=ao-1 local bq local aR
local eK=e('%.0f',eJ) local hF=g('ZRANGE',i,eK,eK,'WITHSCORES') local eL=hF[2] if eL then local eM=tonumber(eL) local ck
if eM<2^64 then local eN=s(eM) ck=(0<eN)and eN or 0 else ck=1/0 end aR=ck else aR=1/0 end if r then local cn
if r<=aR then local cm local eO=e('%.0f',(eJ+1)) local hG=g('ZRANGE',i,eO,eO,'WITHSCORES') local eP=hG[2] if eP then
local eQ=tonumber(eP) local cl if eQ<2^64 then local eR=s(eQ) cl=(0<eR)and eR or 0 else cl=1/0 end cm=cl else cm=1/0 end
cn=cm else cn=aR end bq=cn else bq=aR end co=(bq<o)and o or bq else co=o end aT=co end else local ct if 0<ao then
local eS=ao-1 local br local aS local eT=e('%.0f',eS) local hH=g('ZRANGE',i,eT,eT,'WITHSCORES') local eU=hH[2]
if eU then local eV=tonumber(eU) local cp if eV<2^64 then local eW=s(eV) cp=(0<eW)and eW or 0 else cp=1/0 end aS=cp else
aS=1/0 end if r then local cs if r<=aS then local cr local eX=e('%.0f',(eS+1)) local hI=g('ZRANGE',i,eX,eX,'WITHSCORES')
local eY=hI[2] if eY then local eZ=tonumber(eY) local cq if eZ<2^64 then local fa=s(eZ) cq=(0<fa)and fa or 0 else cq=1/0
end cr=cq else cr=1/0 end cs=cr else cs=aS end br=cs else br=aS end ct=(br<o)and o or br else ct=o end aT=ct end
local ax if not(aT==(1/0))then ax=aT else ax=nil end local cv if ax then local cu if 2^53<=ax then cu=1/0 else
local fb=ax-I cu=(0<fb)and fb or 0 end cv=cu else cv=ax end bs=cv end end local fc=bs or(-1) local cN if eA==F then
cN=fc else local cM if be<=0 then cM=0 else local ap=be-1 local aX if ap<an then local bt local aU local fd=e('%.0f',ap)
local hJ=g('ZRANGE',i,fd,fd,'WITHSCORES') local fe=hJ[2] if fe then local ff=tonumber(fe) local cw if ff<2^64 then
local fg=s(ff) cw=(0<fg)and fg or 0 else cw=1/0 end aU=cw else aU=1/0 end if r then local cz if r<=aU then local cy
local fh=e('%.0f',(ap+1)) local hK=g('ZRANGE',i,fh,fh,'WITHSCORES') local fi=hK[2] if fi then local fj=tonumber(fi)
local cx if fj<2^64 then local fk=s(fj) cx=(0<fk)and fk or 0 else cx=1/0 end cy=cx else cy=1/0 end cz=cy else cz=aU end
bt=cz else bt=aU end if bt<=o then aX=bt else local cE if 0<ap then local fl=ap-1 local bu local aV
local fm=e('%.0f',fl) local hL=g('ZRANGE',i,fm,fm,'WITHSCORES') local fn=hL[2] if fn then local fo=tonumber(fn) local cA
if fo<2^64 then local fp=s(fo) cA=(0<fp)and fp or 0 else cA=1/0 end aV=cA else aV=1/0 end if r then local cD
if r<=aV then local cC local fq=e('%.0f',(fl+1)) local hM=g('ZRANGE',i,fq,fq,'WITHSCORES') local fr=hM[2] if fr then
local fs=tonumber(fr) local cB if fs<2^64 then local ft=s(fs) cB=(0<ft)and ft or 0 else cB=1/0 end cC=cB else cC=1/0 end
cD=cC else cD=aV end bu=cD else bu=aV end cE=(bu<o)and o or bu else cE=o end aX=cE end else local cJ if 0<ap then
local fu=ap-1 local bv local aW local fv=e('%.0f',fu) local hN=g('ZRANGE',i,fv,fv,'WITHSCORES') local fw=hN[2]
if fw then local fx=tonumber(fw) local cF if fx<2^64 then local fy=s(fx) cF=(0<fy)and fy or 0 else cF=1/0 end aW=cF else
aW=1/0 end if r then local cI if r<=aW then local cH local fz=e('%.0f',(fu+1)) local hO=g('ZRANGE',i,fz,fz,'WITHSCORES')
local fA=hO[2] if fA then local fB=tonumber(fA) local cG if fB<2^64 then local fC=s(fB) cG=(0<fC)and fC or 0 else cG=1/0
end cH=cG else cH=1/0 end cI=cH else cI=aW end bv=cI else bv=aW end cJ=(bv<o)and o or bv else cJ=o end aX=cJ end
local ay if not(aX==(1/0))then ay=aX else ay=nil end local cL if ay then local cK if 2^53<=ay then cK=1/0 else
local fD=ay-I cK=(0<fD)and fD or 0 end cL=cK else cL=ay end cM=cL end cN=cM or(-1) end aY=fc az=cN else aY=0 az=0 end
if((not((aY-aY)==0))or(not((az-az)==0)))or(2^53<=az)then return end
local hP=e('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',an,ep,F,dp,aY,az,I,hC) local aZ if dk then
if not redis.REDIS_VERSION_NUM then return end local fE=g('PEXPIRETIME',i) local fF=(0<=fE)and fE or nil local cO
if fF then cO=fF else cO=nil end aZ=cO else aZ=nil end if r then local ij=g('ZADD',i,'XX',e('%.0f',o),am) else
local ik=g('ZADD',i,e('%.0f',o),am) end if an==0 then if(2^53<=o)or(not(aZ==o))then local cP
if o<9223372036854775808 then cP=e('%.0f',o) else cP='9223372036854775807' end local il=g('PEXPIREAT',i,cP) end else
local hQ=g('ZRANGE',i,'-1','-1','WITHSCORES') local aL=hQ[2] if aL then local fG=tonumber(aL) local aA if fG<2^64 then
local fH=s(fG) aA=(0<fH)and fH or 0 else aA=1/0 end if(2^53<=aA)or(not(aZ==aA))then local cQ
if aA<9223372036854775808 then cQ=e('%.0f',aA) else cQ='9223372036854775807' end local im=g('PEXPIREAT',i,cQ) end else
if(2^53<=aL)or(not(aZ==aL))then local cR if aL<9223372036854775808 then cR=e('%.0f',aL) else cR='9223372036854775807'
end local io=g('PEXPIREAT',i,cR) end end end df=hP else local cf if bF then if not((o*1000)<2^53)then return end
local eq=o*1000 local dm=(aK<eq)and(eq-aK)or 0 local er=dm%1e06 local es=(er==0)and(dm/1e06)or(((dm-er)/1e06)+1)
if 2^53<=es then return end cf=es else local O local dn=F-1 if dn<0 then O=nil else if B<=dn then O=0 else
local hy=(B-dn)-1 local bn local et=e('%.0f',hy) local hz=g('ZRANGE',i,et,et,'WITHSCORES') local eu=hz[2] if eu then
local ev=tonumber(eu) local cc if ev<2^64 then local ew=s(ev) cc=(0<ew)and ew or 0 else cc=1/0 end bn=cc else bn=1/0 end
local aw if not(bn==(1/0))then aw=bn else aw=nil end local ce if aw then local cd if 2^53<=aw then cd=1/0 else
local ex=aw-I cd=(0<ex)and ex or 0 end ce=cd else ce=aw end O=ce end end local bo if O then
if(not((O-O)==0))or(2^53<=O)then return end local ey=O%1000
local hA=(O<0)and(-1)or((ey==0)and(O/1000)or(((O-ey)/1000)+1)) bo=hA else bo=-1 end local hB=(bo==0)and 1 or bo cf=hB
end local fI=F-B local dr=(0<fI)and fI or 0 local aC if not bF then local bx local ds=F-1 if ds<0 then bx=nil else
if B<=ds then bx=0 else local hR=(B-ds)-1 local bw local fJ=e('%.0f',hR) local hS=g('ZRANGE',i,fJ,fJ,'WITHSCORES')
local fK=hS[2] if fK then local fL=tonumber(fK) local cS if fL<2^64 then local fM=s(fL) cS=(0<fM)and fM or 0 else cS=1/0
end bw=cS else bw=1/0 end local aB if not(bw==(1/0))then aB=bw else aB=nil end local cU if aB then local cT
if 2^53<=aB then cT=1/0 else local fN=aB-I cT=(0<fN)and fN or 0 end cU=cT else cU=aB end bx=cU end end
local hT=bx or(-1) aC=hT else aC=0 end local ba local aF if dr<F then local fO=dr+1 local bz local dt=F-fO if dt<0 then
bz=nil else if B<=dt then bz=0 else local hU=(B-dt)-1 local by local fP=e('%.0f',hU)
local hV=g('ZRANGE',i,fP,fP,'WITHSCORES') local fQ=hV[2] if fQ then local fR=tonumber(fQ) local cV if fR<2^64 then
local fS=s(fR) cV=(0<fS)and fS or 0 else cV=1/0 end by=cV else by=1/0 end local aD if not(by==(1/0))then aD=by else
aD=nil end local cX if aD then local cW if 2^53<=aD then cW=1/0 else local fT=aD-I cW=(0<fT)and fT or 0 end cX=cW else
cX=aD end bz=cX end end local fU=bz or(-1) local dc if fO==F then dc=fU else local db if B<=0 then db=0 else
local hW=B-1 local bA local fV=e('%.0f',hW) local hX=g('ZRANGE',i,fV,fV,'WITHSCORES') local fW=hX[2] if fW then
local fX=tonumber(fW) local cY if fX<2^64 then local fY=s(fX) cY=(0<fY)and fY or 0 else cY=1/0 end bA=cY else bA=1/0 end
local aE if not(bA==(1/0))then aE=bA else aE=nil end local da if aE then local cZ if 2^53<=aE then cZ=1/0 else
local fZ=aE-I cZ=(0<fZ)and fZ or 0 end da=cZ else da=aE end db=da end dc=db or(-1) end ba=fU aF=dc else ba=0 aF=0 end
if(not((aC-aC)==0))or((((not((ba-ba)==0))or(not((aF-aF)==0)))or(2^53<=aC))or(2^53<=aF))then return end
local hY=e('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',(bF and 1 or 0),an,cf,F,dr,aC,ba,aF,I) if dk then
local hZ=g('ZRANGE',i,'-1','-1','WITHSCORES') local aM=hZ[2] if aM then local ga=tonumber(aM) local aG if ga<2^64 then
local gb=s(ga) aG=(0<gb)and gb or 0 else aG=1/0 end if not redis.REDIS_VERSION_NUM then return end
local gc=g('PEXPIRETIME',i) if(2^53<=aG)or(not(((0<=gc)and gc or nil)==aG))then local dd if aG<9223372036854775808 then
dd=e('%.0f',aG) else dd='9223372036854775807' end local ip=g('PEXPIREAT',i,dd) end else
if not redis.REDIS_VERSION_NUM then return end local gd=g('PEXPIRETIME',i)
if(2^53<=aM)or(not(((0<=gd)and gd or nil)==aM))then local de if aM<9223372036854775808 then de=e('%.0f',aM) else
de='9223372036854775807' end local iq=g('PEXPIREAT',i,de) end end end df=hY end else return end else
if not(((#ae)<16)and w(ae,'^[1-9]%d*$'))then return end if not(((#V)<10)and w(V,'^[1-9]%d*$'))then return end
if not((V*1000)<9e12)then return end return end end return df end local bf,aI=pcall(gE,KEYS,ARGV) if bf and aI then
return aI end return hr(not bf and aI)
