-- RL.LEASE, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function hD(ab) local bP,l local E,e,aj,it=string.find,string.format,string.match,string.sub local function eh(R)
return R==''and 1000 or R=='ms'and 1 or R=='s'and 1000 or R=='m'and 60000 or R=='h'and 3600000 or R=='d'and 86400000
or nil end local function hn(u,f,D) local ar,Z,k=u[f],u[f+1],u[f+2] if not Z then l().h('ARITY') end local a={ j='',
u=0, now_ms=0, n=0, M=0, limit=0, b=0, c=1, form=nil, delay=0, p=nil, e=nil, allowed=false, count=0, ttl=0, a='keep',
remaining=0, f=1, } f=f+2 if k=='LINE'and not u[f+1]and D~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=k,f+1 elseif k then local aq=u[f+1]or''
local dU=D==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and u[f+2]=='LINE'and not u[f+3]and#aq<16
if dU and k=='COST'and(' ID ')~=' ID 'and E(aq,'^[1-9]%d*$')then a.form,a.c,f='LINE',aq+0,f+3
elseif dU and k=='ID'and(' ID ')==' ID 'and aq~=''then a.form,a.ID,f='LINE',aq,f+3 else f=l().H(a,u,f,D) a.c=a.COST or 1
end end local gW=#Z<16 and E(Z,'^[1-9]%d*$') a.limit=gW and Z+0 or l().G('limit',Z,0)
local P,R=aj(ar,'^([1-9]%d*)(%l*)$') local bi=P and#ar<16 and eh(R) local x=bi and P*bi if not x or x<1 or x>1e15 then
x=l().N(a,ar) end a.n,a.M,a.b=x,x<9e12 and x*1000 or l().s(x,1000),a.BURST or a.limit return a,f end
local function hk(u,D) local a,f=hn(u,1,D) if u[f]then l().D(a,D,u[f]) end return a end local g=redis.call
local function ht(a) local ep=g('TIME') local cf=ep[1]*1000000+ep[2] a.u,a.now_ms=cf,(cf-cf%1000)/1000 end
local function hG(a,av,f,gq,cc) local h=av[f] if not h then l().h('KEYS') end a.j,f=h,f+1 if cc then a.g=h
elseif E(h,':reserved',1,true)then l().J(h) end return f end local function hq(a,av,gq,cc) ht(a)
if#av~=hG(a,av,1,gq,cc)-1 then l().h('KEYS') end end local bY,ir,iv,is=4000,1000,1000,2*500
local function hb(a,aT,eo,bJ) local h=a.j local H,Y=g('ZCARD',h),0 if H>0 and eo>=0 and bJ~='delete'then
local t=e('%.0f',eo) local I=bJ=='read'and 0 or bY if H<=I then local ad=g('ZREMRANGEBYSCORE',h,aT,t) H,bY=H-ad,I-ad
else H,Y=l().I(h,aT,t,H,I) end end a.k,a.q,a.B=H-Y,Y,H>0 end local function bX(C)
return C<2^64 and math.max(0,math.ceil(C))or(1/0) end local function gK(a,gT) local C=a.k>0 and g('ZSCORE',a.j,gT)
local w=C and bX(tonumber(C)) return w and w>a.now_ms and w or nil end local function ha(a,bJ) hb(a,'-inf',a.now_ms,bJ)
a.i=a.ID and gK(a,a.ID) a.m=a.i and a.k-1 or a.k end local function bn(d) if d-d~=0 or d>=(2^53)then
l().h('INEXACT_REPLY') end return d end local function bQ(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return l().w(b,c) end local function gJ(b,c) if b-b==0 and c-c==0 then local z=b%c return z==0 and b/c or(b-z)/c+1 end
local aI,z=l().A(b,c) return z==0 and aI or bQ(aI,1) end local function el(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return l().K(b,c) end local function aU(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then
return b*c end return l().s(b,c) end local function bp(a,y,K) a.d=y=='charge'and K.d or nil a.r=a.d and a.m+1 or a.k
a.remaining=math.max(0,a.limit-a.r) end local function ei(h,bK) bK=e('%.0f',bK)
local C=g('ZRANGE',h,bK,bK,'WITHSCORES')[2] return C and tonumber(C) end local function bW(a,d) local C=ei(a.j,d+a.q)
return C and bX(C)or(1/0) end local function dP(a,d) local w=bW(a,d) return a.i and w>=a.i and bW(a,d+1)or w end
local function gL(a,d,ci) if d<a.m then local w=dP(a,d) if w<=ci then return w end end
return d>0 and math.max(dP(a,d-1),ci)or ci end local function cd(a,d) local w=a.d and gL(a,d,a.d)or bW(a,d)
return w~=(1/0)and w or nil end local function io(a,n,L,cd,bZ) local dq=a.limit-n if dq<0 then return nil
elseif L<=dq then return 0 end local U=cd(a,L-dq-1) if bZ and(not U or bZ<U)then U=bZ end
return U and(U>=(2^53)and(1/0)or math.max(0,U-a.now_ms)) end local function p(a,n) return io(a,n,a.r,cd,nil) end
local function ae(V) local z=V%1000 return V<0 and-1 or z==0 and V/1000 or(V-z)/1000+1 end local function hH(a,n)
local p=p(a,n==0 and 1 or n) p=p and ae(bn(p))or-1 return p==0 and 1 or p end local function bT(a)
local aa,Z,ed,ec=a.now_ms,a.limit,a.i,a.m local aS=Z>0 and(ed~=nil or ec<Z) local w=aa+a.n
a.allowed,a.count,a.a=aS,ec,'keep' if aS and ed~=w then a.a,a.e='charge',{d=w} end if aS then
a.ttl=bn(gJ(el(aU(w,1000),a.u),1000000)) else bp(a,'keep') a.ttl=hH(a,1) end end local function gG(a)
if a.PARTIAL or a.ALWAYS then l().z(a) else local n=a.c a.f=n bT(a,n) end if a.SHADOW then l().y(a) end end
local function bo(a) local y,p=a.a,p bp(a,y,y=='keep'and a.p or y~='delete'and a.e or nil)
local ac,bS,Q,W,al=a.remaining,a.b,0,0,0 if not a.allowed then local n=a.f Q=p(a,a.t or(n==0 and 1 or n))or-1
if a.E and Q>=0 then Q=math.max(Q,a.E) end end if ac<bS then W=p(a,ac+1)or-1 al=ac+1==bS and W or p(a,bS)or-1 end
if Q-Q~=0 or W-W~=0 or al-al~=0 or Q>=(2^53)or al>=(2^53)then l().h('INEXACT_REPLY') end return ac,Q,W,al,0 end
local function gY(a,L) local ac,Q,W,al,gH=bo(a) local hC=a.l and 1 or 0 return e(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and l().v(a)or 1)or 0,a.count,a.ttl,a.b,ac,Q,W,al, gH,a.now_ms,hC,L ) end local function hw(a,L)
local ah=a.form if ah=='LINE'then return gY(a,L) elseif ah then return l().F(a,L) end
return{a.allowed and(a.PARTIAL and l().v(a)or 1)or 0,a.count,a.ttl} end local function eq(a) return a.i and 0 or 1 end
local function gA(a) if a.a~='charge'then return 0 elseif a.ALWAYS then return a.f
elseif not a.allowed or(a.l and not a.PARTIAL)then return 0 end if eq then return eq(a) end return a.f end
local function dQ(h,t,cb) if t>=(2^53)or cb~=t then g('PEXPIREAT',h,t<2^63 and e('%.0f',t)or'9223372036854775807') end
end local function dW(h) local C=ei(h,-1) return C and bX(C) end local function dR(h,aa)
if not redis.REDIS_VERSION_NUM then return l().C(h,aa) end local f=g('PEXPIRETIME',h) return f>=0 and f or nil end
local function dL(a,y,K) local h,aa=a.j,a.now_ms if y=='delete'then g('UNLINK',h) elseif y=='keep'then if a.k>0 then
dQ(h,dW(h),dR(h,aa)) end elseif a.ID then local cb=a.B and dR(h,aa)or nil if a.i then
g('ZADD',h,'XX',e('%.0f',K.d),a.ID) else g('ZADD',h,e('%.0f',K.d),a.ID) end dQ(h,a.m+a.q==0 and K.d or dW(h),cb) end end
local function hB(av,u) local a=hk(u,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
if not a.ID and(' ID ')==' ID 'then l().h('ID_MISSING') end hq(a,av,a.RESERVE) ha(a,'write') gG(a) local gx=hw(a,gA(a))
if a.SHADOW or a.RESERVE then l().x(a,true) else dL(a,a.a,a.e) end return gx end function l() if not bP then local q={}
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
q.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function T(j)
error({err=j},0) end local function S(aw) T(q[aw]) end local function gM(ab) if type(ab)=='table'then return ab
elseif E(ab,'^%u+ ')then return redis.error_reply(ab) end error(ab,0) end local function at(d) if d-d~=0 then return d
end local m,M={},0 while d>0 do local N=d%(2^24) M=M+1 m[M]=N d=(d-N)/(2^24) end return m end local dG={
__sub=function() return 1 end, } local function bq(m) local M=#m while M>0 and m[M]==0 do m[M]=nil M=M-1 end
if M>3 or(M==3 and m[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(m,dG) end
return(m[1]or 0)+(m[2]or 0)*(2^24)+(m[3]or 0)*(2^24)*(2^24) end local function gw(b,c) b,c=at(b),at(c) local aK,X={},0
for d=1,math.max(#b,#c)+1 do local N=(b[d]or 0)+(c[d]or 0)+X X=N>=(2^24)and 1 or 0 aK[d]=N-X*(2^24) end return bq(aK)
end local function dZ(b,c) local dI,gy=b-b==0,c-c==0 if dI or gy then return dI elseif#b~=#c then return#b<#c end
for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function hF(b,c) if not dZ(c,b)then
return 0 end c=at(c) local dM,bR={},0 for d=1,#b do local N=b[d]-(c[d]or 0)-bR bR=N<0 and 1 or 0 dM[d]=N+bR*(2^24) end
return bq(dM) end local function he(b,c) b,c=at(b),at(c) local bg={} for d=1,#b+#c do bg[d]=0 end for d=1,#b do
local X=0 for ce=1,#c do local N=bg[d+ce-1]+b[d]*c[ce]+X X=math.floor(N/(2^24)) bg[d+ce-1]=N-X*(2^24) end bg[d+#c]=X end
return bq(bg) end local function dY(b,c) if b-b==0 and c-c==0 then return b<c end return dZ(b,c) end
local function dJ(d) if d-d==0 then return d end local aK=0 for gU=#d,1,-1 do aK=aK*(2^24)+d[gU] end return aK end
local function dO(b,c) local aI=0 while not dY(b,c)do local bI=math.max(1,math.floor(dJ(b)/dJ(c)*(1-2^-45)))
bI=bq(at(bI)) aI=bQ(aI,bI) b=el(b,aU(bI,c)) end return aI,b end local function gN(h,aa) local U=g('PTTL',h)
return U>=0 and aa+U or nil end local function hv(h,aT,t,H,I) local Y=g('ZCOUNT',h,aT,t) local ad=math.min(Y,I)
if ad>0 then local A=aT=='0'and g('ZCOUNT',h,'-inf','(0')or 0 g('ZREMRANGEBYRANK',h,e('%.0f',A),e('%.0f',A+ad-1))
H,Y,bY=H-ad,Y-ad,I-ad end return H,Y end local function dK(b,c) for f=1,math.min(#b,#c)do
local gr,gs=b:byte(f),c:byte(f) if gr~=gs then return gr<gs end end return#b<#c end local function bU(j,I)
if j~='0'and not E(j,'^[1-9]%d*$')then return nil end return(#j<#I or(#j==#I and not dK(I,j)))and j or nil end
local function dT(m) if#m<=15 or(#m==16 and dK(m,'9007199254740992'))then return m+0 end local ca=#m%7
local d=ca>0 and m:sub(1,ca)+0 or 0 for f=ca+1,#m,7 do d=bQ(aU(d,10000000),m:sub(f,f+6)+0) end return d end
local function ee(aw,j,dX) local m=j and bU(j,'9223372036854775807') local d=m and dT(m) if not d or d==0 and dX>0 then
T(e('ERR invalid %s: expected an integer from %d to 9223372036854775807',aw,dX)) elseif d-d~=0 then
T(e('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aw)) end return d end local dH={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ai(gZ,v)
return not E(v,' ',1,true)and E(gZ,' '..v..' ',1,true)~=nil end local function en(a,k)
return not ai(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or ai((' ID '),k) end
local function gV(v,k) local A,t=0,0 local ej,hc=math.min(#v,#k),math.max(#v,#k)
while A<ej and v:byte(A+1)==k:byte(A+1)do A=A+1 end while t<ej-A and v:byte(-1-t)==k:byte(-1-t)do t=t+1 end
return A+t>=2 and hc-A-t<=2 end local function gO(a,D,v) local ak={} for ag,F in ipairs(dH)do
if ai(D,F[1])and en(a,F[1])then ak[#ak+1]=F[2] end end for ag,ah in ipairs({'FULL','LINE','HEADERS'})do ak[#ak+1]=ah end
for ag,k in ipairs(ak)do if gV(v:upper(),aj(k,'^%u+'))then T('ERR syntax error: no such option, but there is '..k) end
end local t=table.remove(ak) local hI=table.concat(ak,', ')
T('ERR syntax error: after limit come '..hI..' or '..t..', each at most once') end local function hy(F,a,D)
local k,iq=F[1],a.O if not ai(D,k)then T(e('ERR invalid %s: only %s it',k,F[3])) elseif not en(a,k)then
T(e('ERR invalid %s: %s takes none',k,('LEASE'))) elseif a[k]~=nil then
T(e('ERR syntax error: %s comes at most once',F[2])) end end local function hl(j,I) return j and#j>=1 and#j<=I and j end
local function ea(b,c) return dY(c,b)and c or b end local function dN(b,c) if b-b==0 and c-c==0 then local z=b%c
return(b-z)/c,z end return dO(b,c) end local gv=setmetatable({(2^24)-1,(2^24)-1,2^16-1},dG) local function ho(k,j,iu)
if k=='ID'then return hl(j,512)or S('ID') end if k=='AS'then
return j and#j>=1 and#j<=64 and not E(j,'[^%w._-]')and j or S('AS') elseif k=='AT'then
local m=j and bU(j,'9223372036854775807') return m and ea(dT(m),(dN(gv,1000)))or S('AT') end
return ee(k,j,k=='BURST'and 1 or 0) end local function hx(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
S(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
S(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local gt={FULL=true,LINE=true,HEADERS=true}
local function hh(ah,eb) if ah then S(ah==eb and'FORM_TWICE'or'TWO_FORMS') end return eb end local function hm(a,u,f,D)
while u[f]do local v,F=u[f]:upper(),nil for ag,dV in ipairs(dH)do F=dV[1]==v and dV or F end if F then hy(F,a,D)
if F[2]==v then a[v]=true f=f+1 else a[v]=ho(v,u[f+1],u[f+2]) f=f+(v=='RESERVE'and 3 or 2) end hx(a)
elseif gt[v]and ai(D,'form')then a.form=hh(a.form,v) f=f+1 else return f end end return f end local function hp(j)
local P,R=aj(j,'^(%d+)(%l*)$') local bi=P and eh(R) local V=bi and bU(P,'18446744073709551615')and P*bi
return V and V>=1 and V<=1e15 and V or nil end
local gu={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function ip(a,j) local x=hp(j)
if not x then a.L=j:upper() x=gu[a.L] if not x then S(ai((' ID '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ai((' ID '),'ANCHOR')then T(e('ERR invalid window: %s takes no windows of the calendar',('LEASE'))) end end
return x end local function gR(h) return h:sub(-9)==':reserved'or h:sub(-14)==':reserved:ends' end local function hz(h)
if gR(h)then S('RESERVED_KEY') end end local function gD(a) local hi=a.PARTIAL and a.f<a.c
a.l=a.SHADOW and not a.o and(hi or not a.allowed) if not a.allowed and(a.l or a.o)then a.allowed=true if not(nil)then
local ag,ag,ag,dp=bo(a) a.ttl=ae(dp) end end end local function hu(a) bp(a,'keep',a.p) return a.remaining end
local function hE(y,K,gz) if y=='keep'then return gz end return y~='delete'and K or nil end local function hg(n)
return n==0 and 1 or n end local function gE(a) local n=a.c bT(a,0) local y,K=(nil)(a,nil,n) if n>0 then a.a,a.e=y,K end
local ek=hE(a.a,a.e,a.p) bp(a,a.a,ek) a.allowed=a.b>0 and p(a,0)==0 a.t=a.b>0 and n or hg(n) if(nil)then
a.count,a.ttl=(nil)(ek,a.now_ms) elseif a.allowed then a.ttl=ae(bn(p(a,a.b))) else local p=p(a,a.t)
a.ttl=p and math.max(1,ae(bn(p)))or-1 end end local function gF(a) local n=a.c if a.PARTIAL then n=math.min(n,hu(a)) end
a.f=n if a.ALWAYS then gE(a) else bT(a,n) end end local function gB(a,y,K) dL(a,y,K) end local function gC(a,aS)
if not aS and a.a=='charge'then a.a,a.e='keep',nil end gB(a,a.a,a.e) end local function ef(a)
return a.o and a.o.c or a.l and a.c or a.f end local function dS(a) if not a.allowed then return 0 end
return a.PARTIAL and ef(a)or 1 end local function gQ(a,L) local ac,hA,W,dp,gI=bo(a) return{ 'allowed',dS(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',ac, 'retry_after_ms',hA, 'next_ms',W, 'reset_ms',dp,
'delay_ms',gI, 'now_ms',a.now_ms, 'shadow',a.l and 1 or 0, 'charged',L, } end local function hf(bh) local em={}
for ag,a in ipairs(bh)do local A,P=a.AS or('LEASE'):lower(),2 a.g=A while em[a.g]do a.g=e('%s-%d',A,P) P=P+1 end
em[a.g]=true end end local function au(d) return e('%.0f',ea(d,999999999999999)) end local function hr(a)
if('concurrent-requests')then local hs,ar=au(a.limit),au(ae(a.n))
return e('"%s";q=%s;w=%s;qu="%s"',a.g,hs,ar,('concurrent-requests')) end local x=(nil)and(nil)(a)or a.n
local bV,z=1000,x%1000 while z>0 do bV,z=z,bV%z end local gp=1000/bV local ar=dN(aU(x,gp),1000)
return e('"%s";q=%s;w=%s',a.g,au(aU(a.limit,gp)),au(ar)) end local function gX(bs,cg) if bs.allowed~=cg.allowed then
return not bs.allowed end local p,ch=bs.retry_after_ms,cg.retry_after_ms if p~=ch then return p<0 or(ch>=0 and p>ch) end
return bs.remaining<cg.remaining end local function gS(bh) local dr,eg=bh[1],{} hf(bh) for d,a in ipairs(bh)do
eg[d]=hr(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bo(a) if gX(a,dr)then dr=a end end local a=dr local bj={
'X-RateLimit-Limit', e('%.0f',a.b), 'X-RateLimit-Remaining', e('%.0f',a.remaining), } local function br(aw,aq)
bj[#bj+1]=aw bj[#bj+1]=aq end if a.reset_ms>=0 then br('X-RateLimit-Reset',e('%.0f',ae(a.now_ms+a.reset_ms))) end
br('RateLimit-Policy',table.concat(eg,', ')) local hd=a.next_ms>=0 and';t='..au(ae(a.next_ms))or''
br('RateLimit',e('"%s";r=%s%s',a.g,au(a.remaining),hd)) if not a.allowed and a.retry_after_ms>=0 then
br('Retry-After',e('%.0f',ae(a.retry_after_ms))) end return bj end local function hj(a,L) if a.form=='FULL'then
return gQ(a,L) end return{dS(a),a.count,a.ttl,gS({a})} end
bP={w=gw,x=gC,y=gD,z=gF,A=dO,error_reply=gM,C=gN,h=S,D=gO,s=he,F=hj,G=ee,H=hm,v=ef,I=hv,J=hz,K=hF,N=ip} end return bP
end if ab then return l().error_reply(ab) end local bm,aJ=pcall(hB,KEYS,ARGV) return bm and aJ or l().error_reply(aJ)
end local function gP(dF,as) local s,E,aj,e,g=math.ceil,string.find,string.match,string.format,redis.call
if e('%d',2^40)~='1099511627776'then return end local dn local aL=as[1] local af=as[2] local ds=as[3] if not af then
return end local am=as[4] if(ds=='LINE')and(not am)then if not(((#af)<16)and E(af,'^[1-9]%d*$'))then return end
local er,aM=aj(aL,'^([1-9]%d*)(%l*)$') if er then if(#aL)<16 then
local dt=(aM=='')and 1000 or((aM=='ms')and 1 or((aM=='s')and 1000 or((aM=='m')and 60000 or((aM=='h')and 3.6e6 or((aM=='d')and 8.64e7 or nil)))))
local bL=dt and(er*dt)or dt if(not bL)or((bL<1)or(1e15<bL))then return end if not(bL<9e12)then return end return else
return end else return end else if ds then if am then
if not(((((as[5]=='LINE')and(not as[6]))and((#am)<16))and(ds=='ID'))and(not(am=='')))then return end
if not(((#af)<16)and E(af,'^[1-9]%d*$'))then return end local G=af+0 local es,aN=aj(aL,'^([1-9]%d*)(%l*)$') if es then
if(#aL)<16 then
local du=(aN=='')and 1000 or((aN=='ms')and 1 or((aN=='s')and 1000 or((aN=='m')and 60000 or((aN=='h')and 3.6e6 or((aN=='d')and 8.64e7 or nil)))))
local bk=du and(es*du)or du if(not bk)or((bk<1)or(1e15<bk))then return end if not(bk<9e12)then return end
local eu=g('TIME') local aP=(eu[1]*1e6)+eu[2] local J=(aP-(aP%1000))/1000 local i=dF[1] if not i then return end
if E(i,':reserved',1,true)then return end if not((#dF)==1)then return end local bN=g('ZCARD',i) local B
if(0<bN)and(0<=J)then if not(bN<=4000)then return end local hJ=g('ZREMRANGEBYSCORE',i,'-inf',e('%d',J)) B=bN-hJ else
B=bN end local dw=0<B local r if dw then local ev=g('ZSCORE',i,am) if ev then local ew=tonumber(ev) local bt
if ew<2^64 then local ex=s(ew) bt=(0<ex)and ex or 0 else bt=1/0 end local cj if J<bt then cj=bt else cj=nil end r=cj
else r=nil end else r=nil end local an=r and(B-1)or B local bO=(not(r==nil))or(an<G) local o=J+bk
if bO and(not(r==o))then if not((o*1000)<2^53)then return end local ey=o*1000 local dx=(aP<ey)and(ey-aP)or 0
local ez=dx%1e6 local eA=(ez==0)and(dx/1e6)or(((dx-ez)/1e6)+1) if 2^53<=eA then return end local hO=r and 0 or 1
local bl=an+1 local eK=G-bl local dA=(0<eK)and eK or 0 local bd local aA if dA<G then local eL=dA+1 local bz
local dB=G-eL if dB<0 then bz=nil else if bl<=dB then bz=0 else local ao=(bl-dB)-1 local aY if ao<an then local bw
local aV local eM=e('%d',ao) local hP=g('ZRANGE',i,eM,eM,'WITHSCORES') local eN=hP[2] if eN then local eO=tonumber(eN)
local co if eO<2^64 then local eP=s(eO) co=(0<eP)and eP or 0 else co=1/0 end aV=co else aV=1/0 end if r then local cr
if r<=aV then local cq local eQ=e('%d',(ao+1)) local hQ=g('ZRANGE',i,eQ,eQ,'WITHSCORES') local eR=hQ[2] if eR then
local eS=tonumber(eR) local cp if eS<2^64 then local eT=s(eS) cp=(0<eT)and eT or 0 else cp=1/0 end cq=cp else cq=1/0 end
cr=cq else cr=aV end bw=cr else bw=aV end if bw<=o then aY=bw else local cw if 0<ao then local eU=ao-1 local bx local aW
local eV=e('%d',eU) local hR=g('ZRANGE',i,eV,eV,'WITHSCORES') local eW=hR[2] if eW then local eX=tonumber(eW) local cs
if eX<2^64 then local eY=s(eX) cs=(0<eY)and eY or 0 else cs=1/0 end aW=cs else aW=1/0 end if r then local cv
if r<=aW then local cu local eZ=e('%d',(eU+1)) local hS=g('ZRANGE',i,eZ,eZ,'WITHSCORES') local fa=hS[2] if fa then
local fb=tonumber(fa) local ct if fb<2^64 then local fc=s(fb) ct=(0<fc)and fc or 0 else ct=1/0 end cu=ct else cu=1/0 end
cv=cu else cv=aW end bx=cv else bx=aW end cw=(bx<o)and o or bx else cw=o end aY=cw end else local cB if 0<ao then
local fd=ao-1 local by local aX local fe=e('%d',fd) local hT=g('ZRANGE',i,fe,fe,'WITHSCORES') local ff=hT[2] if ff then
local fg=tonumber(ff) local cx if fg<2^64 then local fh=s(fg) cx=(0<fh)and fh or 0 else cx=1/0 end aX=cx else aX=1/0 end
if r then local cA if r<=aX then local cz local fi=e('%d',(fd+1)) local hU=g('ZRANGE',i,fi,fi,'WITHSCORES')
local fj=hU[2] if fj then local fk=tonumber(fj) local cy if fk<2^64 then local fl=s(fk) cy=(0<fl)and fl or 0 else cy=1/0
end cz=cy else cz=1/0 end cA=cz else cA=aX end by=cA else by=aX end cB=(by<o)and o or by else cB=o end aY=cB end
local ay if not(aY==(1/0))then ay=aY else ay=nil end local cD if ay then local cC if 2^53<=ay then cC=1/0 else
local fm=ay-J cC=(0<fm)and fm or 0 end cD=cC else cD=ay end bz=cD end end local fn=bz or(-1) local cV if eL==G then
cV=fn else local cU if bl<=0 then cU=0 else local ap=bl-1 local bc if ap<an then local bA local aZ local fo=e('%d',ap)
local hV=g('ZRANGE',i,fo,fo,'WITHSCORES') local fp=hV[2] if fp then local fq=tonumber(fp) local cE if fq<2^64 then
local fr=s(fq) cE=(0<fr)and fr or 0 else cE=1/0 end aZ=cE else aZ=1/0 end if r then local cH if r<=aZ then local cG
local fs=e('%d',(ap+1)) local hW=g('ZRANGE',i,fs,fs,'WITHSCORES') local ft=hW[2] if ft then local fu=tonumber(ft)
local cF if fu<2^64 then local fv=s(fu) cF=(0<fv)and fv or 0 else cF=1/0 end cG=cF else cG=1/0 end cH=cG else cH=aZ end
bA=cH else bA=aZ end if bA<=o then bc=bA else local cM if 0<ap then local fw=ap-1 local bB local ba local fx=e('%d',fw)
local hX=g('ZRANGE',i,fx,fx,'WITHSCORES') local fy=hX[2] if fy then local fz=tonumber(fy) local cI if fz<2^64 then
local fA=s(fz) cI=(0<fA)and fA or 0 else cI=1/0 end ba=cI else ba=1/0 end if r then local cL if r<=ba then local cK
local fB=e('%d',(fw+1)) local hY=g('ZRANGE',i,fB,fB,'WITHSCORES') local fC=hY[2] if fC then local fD=tonumber(fC)
local cJ if fD<2^64 then local fE=s(fD) cJ=(0<fE)and fE or 0 else cJ=1/0 end cK=cJ else cK=1/0 end cL=cK else cL=ba end
bB=cL else bB=ba end cM=(bB<o)and o or bB else cM=o end bc=cM end else local cR if 0<ap then local fF=ap-1 local bC
local bb local fG=e('%d',fF) local hZ=g('ZRANGE',i,fG,fG,'WITHSCORES') local fH=hZ[2] if fH then local fI=tonumber(fH)
local cN if fI<2^64 then local fJ=s(fI) cN=(0<fJ)and fJ or 0 else cN=1/0 end bb=cN else bb=1/0 end if r then local cQ
if r<=bb then local cP local fK=e('%d',(fF+1)) local ia=g('ZRANGE',i,fK,fK,'WITHSCORES') local fL=ia[2] if fL then
local fM=tonumber(fL) local cO if fM<2^64 then local fN=s(fM) cO=(0<fN)and fN or 0 else cO=1/0 end cP=cO else cP=1/0 end
cQ=cP else cQ=bb end bC=cQ else bC=bb end cR=(bC<o)and o or bC else cR=o end bc=cR end local az if not(bc==(1/0))then
az=bc else az=nil end local cT if az then local cS if 2^53<=az then cS=1/0 else local fO=az-J cS=(0<fO)and fO or 0 end
cT=cS else cT=az end cU=cT end cV=cU or(-1) end bd=fn aA=cV else bd=0 aA=0 end
if(not((bd-bd)==0))or((not((aA-aA)==0))or(2^53<=aA))then return end
local ib=e('1 %d %d %d %d 0 %d %d 0 %d 0 %d',an,eA,G,dA,bd,aA,J,hO) local be if dw then
if not redis.REDIS_VERSION_NUM then return end local fP=g('PEXPIRETIME',i) local fQ=(0<=fP)and fP or nil local cW
if fQ then cW=fQ else cW=nil end be=cW else be=nil end if r then local iw=g('ZADD',i,'XX',e('%d',o),am) else
local ix=g('ZADD',i,e('%d',o),am) end if an==0 then if(2^53<=o)or(not(be==o))then local cX if o<9223372036854775808 then
cX=e('%d',o) else cX='9223372036854775807' end local iy=g('PEXPIREAT',i,cX) end else
local ic=g('ZRANGE',i,'-1','-1','WITHSCORES') local aQ=ic[2] if aQ then local fR=tonumber(aQ) local aB if fR<2^64 then
local fS=s(fR) aB=(0<fS)and fS or 0 else aB=1/0 end if(2^53<=aB)or(not(be==aB))then local cY
if aB<9223372036854775808 then cY=e('%d',aB) else cY='9223372036854775807' end local iz=g('PEXPIREAT',i,cY) end else
if(2^53<=aQ)or(not(be==aQ))then local cZ if aQ<9223372036854775808 then cZ=e('%d',aQ) else cZ='9223372036854775807' end
local iA=g('PEXPIREAT',i,cZ) end end end dn=ib else local cn if bO then if not((o*1000)<2^53)then return end
local eB=o*1000 local dy=(aP<eB)and(eB-aP)or 0 local eC=dy%1e6 local eD=(eC==0)and(dy/1e6)or(((dy-eC)/1e6)+1)
if 2^53<=eD then return end cn=eD else local O local dz=G-1 if dz<0 then O=nil else if B<=dz then O=0 else
local hK=(B-dz)-1 local bu local eE=e('%d',hK) local hL=g('ZRANGE',i,eE,eE,'WITHSCORES') local eF=hL[2] if eF then
local eG=tonumber(eF) local ck if eG<2^64 then local eH=s(eG) ck=(0<eH)and eH or 0 else ck=1/0 end bu=ck else bu=1/0 end
local ax if not(bu==(1/0))then ax=bu else ax=nil end local cm if ax then local cl if 2^53<=ax then cl=1/0 else
local eI=ax-J cl=(0<eI)and eI or 0 end cm=cl else cm=ax end O=cm end end local bv if O then
if(not((O-O)==0))or(2^53<=O)then return end local eJ=O%1000
local hM=(O<0)and(-1)or((eJ==0)and(O/1000)or(((O-eJ)/1000)+1)) bv=hM else bv=-1 end local hN=(bv==0)and 1 or bv cn=hN
end local fT=G-B local dC=(0<fT)and fT or 0 local aD if not bO then local bE local dD=G-1 if dD<0 then bE=nil else
if B<=dD then bE=0 else local id=(B-dD)-1 local bD local fU=e('%d',id) local ie=g('ZRANGE',i,fU,fU,'WITHSCORES')
local fV=ie[2] if fV then local fW=tonumber(fV) local da if fW<2^64 then local fX=s(fW) da=(0<fX)and fX or 0 else da=1/0
end bD=da else bD=1/0 end local aC if not(bD==(1/0))then aC=bD else aC=nil end local dc if aC then local db
if 2^53<=aC then db=1/0 else local fY=aC-J db=(0<fY)and fY or 0 end dc=db else dc=aC end bE=dc end end
local ig=bE or(-1) aD=ig else aD=0 end local bf local aG if dC<G then local fZ=dC+1 local bG local dE=G-fZ if dE<0 then
bG=nil else if B<=dE then bG=0 else local ih=(B-dE)-1 local bF local ga=e('%d',ih)
local ii=g('ZRANGE',i,ga,ga,'WITHSCORES') local gb=ii[2] if gb then local gc=tonumber(gb) local dd if gc<2^64 then
local gd=s(gc) dd=(0<gd)and gd or 0 else dd=1/0 end bF=dd else bF=1/0 end local aE if not(bF==(1/0))then aE=bF else
aE=nil end local df if aE then local de if 2^53<=aE then de=1/0 else local ge=aE-J de=(0<ge)and ge or 0 end df=de else
df=aE end bG=df end end local gf=bG or(-1) local dk if fZ==G then dk=gf else local dj if B<=0 then dj=0 else
local ij=B-1 local bH local gg=e('%d',ij) local ik=g('ZRANGE',i,gg,gg,'WITHSCORES') local gh=ik[2] if gh then
local gi=tonumber(gh) local dg if gi<2^64 then local gj=s(gi) dg=(0<gj)and gj or 0 else dg=1/0 end bH=dg else bH=1/0 end
local aF if not(bH==(1/0))then aF=bH else aF=nil end local di if aF then local dh if 2^53<=aF then dh=1/0 else
local gk=aF-J dh=(0<gk)and gk or 0 end di=dh else di=aF end dj=di end dk=dj or(-1) end bf=gf aG=dk else bf=0 aG=0 end
if(not((aD-aD)==0))or((not((bf-bf)==0))or((not((aG-aG)==0))or((2^53<=aD)or(2^53<=aG))))then return end
local il=e('%d %d %d %d %d %d %d %d 0 %d 0 0',(bO and 1 or 0),an,cn,G,dC,aD,bf,aG,J) if dw then
local im=g('ZRANGE',i,'-1','-1','WITHSCORES') local aR=im[2] if aR then local gl=tonumber(aR) local aH if gl<2^64 then
local gm=s(gl) aH=(0<gm)and gm or 0 else aH=1/0 end if not redis.REDIS_VERSION_NUM then return end
local gn=g('PEXPIRETIME',i) if(2^53<=aH)or(not(((0<=gn)and gn or nil)==aH))then local dl if aH<9223372036854775808 then
dl=e('%d',aH) else dl='9223372036854775807' end local iB=g('PEXPIREAT',i,dl) end else
if not redis.REDIS_VERSION_NUM then return end local go=g('PEXPIRETIME',i)
if(2^53<=aR)or(not(((0<=go)and go or nil)==aR))then local dm if aR<9223372036854775808 then dm=e('%d',aR) else
dm='9223372036854775807' end local iC=g('PEXPIREAT',i,dm) end end end dn=il end else return end else return end else
return end else if not(((#af)<16)and E(af,'^[1-9]%d*$'))then return end local et,aO=aj(aL,'^([1-9]%d*)(%l*)$')
if et then if(#aL)<16 then
local dv=(aO=='')and 1000 or((aO=='ms')and 1 or((aO=='s')and 1000 or((aO=='m')and 60000 or((aO=='h')and 3.6e6 or((aO=='d')and 8.64e7 or nil)))))
local bM=dv and(et*dv)or dv if(not bM)or((bM<1)or(1e15<bM))then return end if not(bM<9e12)then return end return else
return end else return end end end return dn end local bm,aJ=pcall(gP,KEYS,ARGV) if bm and aJ then return aJ end
return hD(not bm and aJ)
