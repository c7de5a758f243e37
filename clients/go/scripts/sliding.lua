-- RL.SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function gU(am) local ck,n local I,i,aS,hT=string.find,string.format,string.match,string.sub local function ei(X)
return X==''and 1000 or X=='ms'and 1 or X=='s'and 1000 or X=='m'and 60000 or X=='h'and 3600000 or X=='d'and 86400000
or nil end local function gD(y,e,H) local bl,aQ,o=y[e],y[e+1],y[e+2] if not aQ then n().p('ARITY') end local a={ c='',
L=0, now_ms=0, f=0, X=0, limit=0, d=0, b=1, form=nil, delay=0, w=nil, e=nil, allowed=false, count=0, ttl=0, a='keep',
remaining=0, g=1, } e=e+2 if o=='LINE'and not y[e+1]and H~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=o,e+1 elseif o then local ax=y[e+1]or''
local dV=H==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and y[e+2]=='LINE'and not y[e+3]and#ax<16
if dV and o=='COST'and(' COST PARTIAL ')~=' ID 'and I(ax,'^[1-9]%d*$')then a.form,a.b,e='LINE',ax+0,e+3
elseif dV and o=='ID'and(' COST PARTIAL ')==' ID 'and ax~=''then a.form,a.ID,e='LINE',ax,e+3 else e=n().O(a,y,e,H)
a.b=a.COST or 1 end end local gk=#aQ<16 and I(aQ,'^[1-9]%d*$') a.limit=gk and aQ+0 or n().N('limit',aQ,0)
local U,X=aS(bl,'^([1-9]%d*)(%l*)$') local bf=U and#bl<16 and ei(X) local x=bf and U*bf if not x or x<1 or x>1e15 then
x=n().Y(a,bl) end a.f,a.X,a.d=x,x<9e12 and x*1000 or n().K(x,1000),a.BURST or a.limit return a,e end
local function gB(y,H) local a,e=gD(y,1,H) if y[e]then n().G(a,H,y[e]) end if true and a.b>1000 then
n().R(n().J(a),'LOG_COST') end return a end local g=redis.call local function gI(a) local eo=g('TIME')
local cC=eo[1]*1000000+eo[2] a.L,a.now_ms=cC,(cC-cC%1000)/1000 end local function gY(a,az,e,fC,cv) local j=az[e]
if not j then n().p('KEYS') end a.c,e=j,e+1 if cv then a.i=j elseif I(j,':reserved',1,true)then n().S(j) end return e
end local function gG(a,az,fC,cv) gI(a) if#az~=gY(a,az,1,fC,cv)-1 then n().p('KEYS') end end
local cr,hS,hV,by=4000,1000,1000,2*500 local function gp(a,aR,en,bd) local j=a.c local u,af=g('ZCARD',j),0
if u>0 and en>=0 and bd~='delete'then local s=i('%.0f',en) local T=bd=='read'and 0 or cr if u<=T then
local an=g('ZREMRANGEBYSCORE',j,aR,s) u,cr=u-an,T-an else u,af=n().Q(j,aR,s,u,T) end end a.h,a.o,a.n=u-af,af,u>0 end
local function go(a,bd) gp(a,'0',a.now_ms-a.f,bd) a.u,a.j,a.q=nil,nil,nil a.r=500 if bd=='write'then by=(by-by%2)/2
a.r=by end end local function aw(M) local J=M%1000 return M<0 and-1 or J==0 and M/1000 or(M-J)/1000+1 end
local function dL(c,d) if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return n().z(c,d) end
local function dv(j,B) B=i('%.0f',B) local C=g('ZRANGE',j,B,B,'WITHSCORES')[2] return C and tonumber(C) end
local function ed(a) a.j=a.j or a.n and dv(a.c,-1)or 0 return a.j end local function cn(a,l) local dY=a.h
local aO=dY+(l==0 and 1 or l)<=a.limit a.allowed,a.count,a.ttl,a.a=aO,dY,aw(a.f),'keep' if aO and l>0 then
a.a,a.e='charge',{l=l} elseif not aO and ed(a)>a.now_ms then a.a,a.e='rebase',{U=true} end end local function fW(a)
if a.PARTIAL or a.ALWAYS then n().D(a) else local l=a.b a.g=l cn(a,l) end if a.SHADOW then n().C(a) end end
local function ee(a) a.u=a.u or a.n and dv(a.c,0)or 0 return a.u end local function cA(a,B)
local C=B==0 and ee(a)or B>=0 and B<a.h+a.o and dv(a.c,B) return C and math.max(0,math.ceil(C)) end
local function cx(a,b) if b>=a.h+a.m-a.t then return nil end local B=b+a.t+a.o if ed(a)>a.now_ms then
return n().I(a,B)+a.f end return(B<a.h+a.o and cA(a,B)or a.now_ms)+a.f end local function hP(a,l,O,cx,ct)
local du=a.limit-l if du<0 then return nil elseif O<=du then return 0 end local ab=cx(a,O-du-1)
if ct and(not ab or ct<ab)then ab=ct end return ab and(ab>=(2^53)and(1/0)or math.max(0,ab-a.now_ms)) end
local function bA(a,dU) local N,x=a.now_ms,a.f if dU and 2*(dU-N)>=3*x then return nil end return N+2*x end
local function gc(j,N) if not redis.REDIS_VERSION_NUM then return n().F(j,N) end local e=g('PEXPIRETIME',j)
return e>=0 and e or nil end local function aP(a) a.q=a.q or a.n and gc(a.c,a.now_ms)or 0 return a.q end
local function F(a,l) return hP(a,l,a.h+a.m,cx,(bA(a,aP(a))or aP(a))+1) end local function cs(a,v,A)
a.s,a.m,a.P=nil,v=='charge'and A.l or 0,v=='rebase' local Q=a.limit-a.h-a.m a.remaining,a.t=Q>0 and Q or 0,0
if ee(a)<0 then a.t=g('ZCOUNT',a.c,'-inf','(0') end end local function bo(a) local v,F=a.a,F
cs(a,v,v=='keep'and a.w or v~='delete'and a.e or nil) local Q,cm,V,ac,av=a.remaining,a.d,0,0,0 if not a.allowed then
local l=a.g V=F(a,a.x or(l==0 and 1 or l))or-1 if a.H and V>=0 then V=math.max(V,a.H) end end if Q<cm then
ac=F(a,Q+1)or-1 av=Q+1==cm and ac or F(a,cm)or-1 end if V-V~=0 or ac-ac~=0 or av-av~=0 or V>=(2^53)or av>=(2^53)then
n().p('INEXACT_REPLY') end return Q,V,ac,av,0 end local function gm(a,O) local Q,V,ac,av,fX=bo(a)
local gT=a.k and 1 or 0 return i( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and n().y(a)or 1)or 0,a.count,a.ttl,a.d,Q,V,ac,av, fX,a.now_ms,gT,O ) end local function gL(a,O)
local aq=a.form if aq=='LINE'then return gm(a,O) elseif aq then return n().M(a,O) end
return{a.allowed and(a.PARTIAL and n().y(a)or 1)or 0,a.count,a.ttl} end local function fP(a) if a.a~='charge'then
return 0 elseif a.ALWAYS then return a.g elseif not a.allowed or(a.k and not a.PARTIAL)then return 0 end return a.g end
local function bg(b) if b-b~=0 then return n().T(b) end return i('%.0f',b) end local function fJ(a,M,w)
local j,C=a.c,i('%.0f',M) local b=a.j and a.j<M and 0 or g('ZCOUNT',j,C,C) while w>1 do local G={}
for Z=1,math.min(w,1000)do G[#G+1]=C G[#G+1]=i('%s-0.%.0f',C,b) b=b+1 end w=w-g('ZADD',j,'NX',unpack(G)) end
while w>0 do w=w-g('ZADD',j,'NX',C,C..'-0.'..bg(b)) b=b+1 end end local function ca(j,ap) if ap then
g('PEXPIREAT',j,bg(ap)) end end local function dP(a,v,A) local j=a.c if v=='charge'then local bn=bA(a,aP(a))
fJ(a,A.E or a.now_ms,A.l) ca(j,bn) elseif v~='keep'then n().A(a,v,A) elseif a.n then ca(j,bA(a,aP(a))) end end
local function gS(az,y) local a=gB(y,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
gG(a,az,a.RESERVE) go(a,'write') fW(a) local fK=gL(a,fP(a)) if a.SHADOW or a.RESERVE then n().B(a,true) else
dP(a,a.a,a.e) end return fK end function n() if not ck then local t={}
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
t.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function gr(a,B)
local N,dM=a.now_ms,a.m local e=cA(a,B) if e and dM>0 and e>N then e=nil end if not e then local cw=cA(a,B-dM)
e=cw and cw>N and cw or N end if a.P then a.s=a.s or g('ZCOUNT',a.c,'-inf',bg(N))+a.r e=B<a.s and math.min(e,N)or e end
return e end local function fO(fL,cB) local W=0 for r=1,#cB,1000 do local G={unpack(fL)} for b=r,math.min(r+999,#cB)do
G[#G+1]=cB[b] end W=W+g(unpack(G)) end return W end local function gQ(j,C,u) local bb={} for Z,gs in ipairs(u)do
bb[#bb+1]=C bb[#bb+1]=gs end fO({'ZADD',j,'XX'},bb) end local function fR(a,v,A) local j=a.c if v=='delete'then
g('UNLINK',j) return end local bn=bA(a,aP(a)) if A.U then local C=i('%.0f',a.now_ms)
gQ(j,C,g('ZRANGEBYSCORE',j,'('..C,'+inf','LIMIT','0',bg(a.r))) ca(j,bn) return end local u=a.h+a.o
local r,s=u-A.remove,u-1 if A.W then s=g('ZCOUNT',j,'-inf',bg(A.W))-1 r=math.max(0,s+1-A.remove) end
if s<0 or r>0 or s+1<u then ca(j,bn) end if s>=0 then g('ZREMRANGEBYRANK',j,i('%.0f',r),i('%.0f',s)) end end
local function aa(p) error({err=p},0) end local function S(aA) aa(t[aA]) end local function ga(am)
if type(am)=='table'then return am elseif I(am,'^%u+ ')then return redis.error_reply(am) end error(am,0) end
local function ay(b) if b-b~=0 then return b end local q,w={},0 while b>0 do local P=b%(2^24) w=w+1 q[w]=P
b=(b-P)/(2^24) end return q end local dI={ __sub=function() return 1 end, } local function bp(q) local w=#q
while w>0 and q[w]==0 do q[w]=nil w=w-1 end if w>3 or(w==3 and q[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(q,dI)
end return(q[1]or 0)+(q[2]or 0)*(2^24)+(q[3]or 0)*(2^24)*(2^24) end local function fI(c,d) c,d=ay(c),ay(d)
local W,ae={},0 for b=1,math.max(#c,#d)+1 do local P=(c[b]or 0)+(d[b]or 0)+ae ae=P>=(2^24)and 1 or 0 W[b]=P-ae*(2^24)
end return bp(W) end local function eb(c,d) c,d=ay(c),ay(d) local bc={} for b=1,#c+#d do bc[b]=0 end for b=1,#c do
local ae=0 for cz=1,#d do local P=bc[b+cz-1]+c[b]*d[cz]+ae ae=math.floor(P/(2^24)) bc[b+cz-1]=P-ae*(2^24) end
bc[b+#d]=ae end return bp(bc) end local function dZ(c,d) local dK,fM=c-c==0,d-d==0 if dK or fM then return dK
elseif#c~=#d then return#c<#d end for b=#c,1,-1 do if c[b]~=d[b]then return c[b]<d[b] end end return false end
local function cy(c,d) if c-c==0 and d-d==0 then return c<d end return dZ(c,d) end local function dN(b) if b-b==0 then
return b end local W=0 for gi=#b,1,-1 do W=W*(2^24)+b[gi] end return W end local function gX(c,d) if not dZ(d,c)then
return 0 end d=ay(d) local dQ,cl={},0 for b=1,#c do local P=c[b]-(d[b]or 0)-cl cl=P<0 and 1 or 0 dQ[b]=P+cl*(2^24) end
return bp(dQ) end local function gW(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end return gX(c,d) end
local function bz(c,d) if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return eb(c,d) end local function fZ(c,d)
local ds=0 while not cy(c,d)do local G=math.max(1,math.floor(dN(c)/dN(d)*(1-2^-45))) G=bp(ay(G)) ds=dL(ds,G)
c=gW(c,bz(G,d)) end return ds,c end local function cp(c,d) if c-c==0 and d-d==0 then local J=c%d return(c-J)/d,J end
return fZ(c,d) end local function gZ(b) local dx='' while b-b~=0 do local J b,J=cp(b,10000000) dx=i('%07.0f',J)..dx end
return i('%.0f',b)..dx end local function gb(j,N) local ab=g('PTTL',j) return ab>=0 and N+ab or nil end
local function gK(j,aR,s,u,T) local af=g('ZCOUNT',j,aR,s) local an=math.min(af,T) if an>0 then
local r=aR=='0'and g('ZCOUNT',j,'-inf','(0')or 0 g('ZREMRANGEBYRANK',j,i('%.0f',r),i('%.0f',r+an-1))
u,af,cr=u-an,af-an,T-an end return u,af end local function dO(c,d) for e=1,math.min(#c,#d)do
local fD,fE=c:byte(e),d:byte(e) if fD~=fE then return fD<fE end end return#c<#d end local function co(p,T)
if p~='0'and not I(p,'^[1-9]%d*$')then return nil end return(#p<#T or(#p==#T and not dO(T,p)))and p or nil end
local function dT(q) if#q<=15 or(#q==16 and dO(q,'9007199254740992'))then return q+0 end local cu=#q%7
local b=cu>0 and q:sub(1,cu)+0 or 0 for e=cu+1,#q,7 do b=dL(bz(b,10000000),q:sub(e,e+6)+0) end return b end
local function ef(aA,p,dX) local q=p and co(p,'9223372036854775807') local b=q and dT(q) if not b or b==0 and dX>0 then
aa(i('ERR invalid %s: expected an integer from %d to 9223372036854775807',aA,dX)) elseif b-b~=0 then
aa(i('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aA)) end return b end local dJ={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ar(gn,z)
return not I(z,' ',1,true)and I(gn,' '..z..' ',1,true)~=nil end local function em(a,o)
return not ar(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',o)or ar((' COST PARTIAL '),o) end
local function gj(z,o) local r,s=0,0 local ej,gq=math.min(#z,#o),math.max(#z,#o)
while r<ej and z:byte(r+1)==o:byte(r+1)do r=r+1 end while s<ej-r and z:byte(-1-s)==o:byte(-1-s)do s=s+1 end
return r+s>=2 and gq-r-s<=2 end local function gd(a,H,z) local as={} for Z,K in ipairs(dJ)do
if ar(H,K[1])and em(a,K[1])then as[#as+1]=K[2] end end for Z,aq in ipairs({'FULL','LINE','HEADERS'})do as[#as+1]=aq end
for Z,o in ipairs(as)do if gj(z:upper(),aS(o,'^%u+'))then aa('ERR syntax error: no such option, but there is '..o) end
end local s=table.remove(as) local ha=table.concat(as,', ')
aa('ERR syntax error: after limit come '..ha..' or '..s..', each at most once') end local function gO(K,a,H)
local o,hR=K[1],a.Z if not ar(H,o)then aa(i('ERR invalid %s: only %s it',o,K[3])) elseif not em(a,o)then
aa(i('ERR invalid %s: %s takes none',o,('SLIDING'))) elseif a[o]~=nil then
aa(i('ERR syntax error: %s comes at most once',K[2])) end end local function ea(c,d) return cy(d,c)and d or c end
local fH=setmetatable({(2^24)-1,(2^24)-1,2^16-1},dI) local function gE(o,p,hU) if o=='AS'then
return p and#p>=1 and#p<=64 and not I(p,'[^%w._-]')and p or S('AS') elseif o=='AT'then
local q=p and co(p,'9223372036854775807') return q and ea(dT(q),(cp(fH,1000)))or S('AT') end
return ef(o,p,o=='BURST'and 1 or 0) end local function gM(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
S(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
S(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local fF={FULL=true,LINE=true,HEADERS=true}
local function gx(aq,ec) if aq then S(aq==ec and'FORM_TWICE'or'TWO_FORMS') end return ec end local function gC(a,y,e,H)
while y[e]do local z,K=y[e]:upper(),nil for Z,dW in ipairs(dJ)do K=dW[1]==z and dW or K end if K then gO(K,a,H)
if K[2]==z then a[z]=true e=e+1 else a[z]=gE(z,y[e+1],y[e+2]) e=e+(z=='RESERVE'and 3 or 2) end gM(a)
elseif fF[z]and ar(H,'form')then a.form=gx(a.form,z) e=e+1 else return e end end return e end local function gF(p)
local U,X=aS(p,'^(%d+)(%l*)$') local bf=U and ei(X) local M=bf and co(U,'18446744073709551615')and U*bf
return M and M>=1 and M<=1e15 and M or nil end
local fG={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function hQ(a,p) local x=gF(p)
if not x then a.V=p:upper() x=fG[a.V] if not x then S(ar((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ar((' COST PARTIAL '),'ANCHOR')then
aa(i('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return x end local function gu(a)
if not true then return 0 elseif a.d<a.b then return a.PARTIAL and a.d or 0 end return a.b end local function gN(u,p)
if u>1000 then S(p) end end local function gg(j) return j:sub(-9)==':reserved'or j:sub(-14)==':reserved:ends' end
local function gP(j) if gg(j)then S('RESERVED_KEY') end end local function fT(a) local gy=a.PARTIAL and a.g<a.b
a.k=a.SHADOW and not a.v and(gy or not a.allowed) if not a.allowed and(a.k or a.v)then a.allowed=true if not true then
local Z,Z,Z,dt=bo(a) a.ttl=aw(dt) end end end local function gJ(a) cs(a,'keep',a.w) return a.remaining end
local function gA(a,ap,l) if l==0 then return'keep' elseif not ap or not cy(ap,a.now_ms)then return'charge',{l=l}
elseif ap<=a.now_ms-a.f then return'keep' end return'charge',{l=l,E=ap} end local function gV(v,A,fN) if v=='keep'then
return fN end return v~='delete'and A or nil end local function gw(l) return l==0 and 1 or l end local function dR(b)
if b-b~=0 or b>=(2^53)then S('INEXACT_REPLY') end return b end local function fU(a) local l=a.b cn(a,0)
local v,A=gA(a,nil,l) if l>0 then a.a,a.e=v,A end local ek=gV(a.a,a.e,a.w) cs(a,a.a,ek) a.allowed=a.d>0 and F(a,0)==0
a.x=a.d>0 and l or gw(l) if(nil)then a.count,a.ttl=(nil)(ek,a.now_ms) elseif a.allowed then a.ttl=aw(dR(F(a,a.d))) else
local F=F(a,a.x) a.ttl=F and math.max(1,aw(dR(F)))or-1 end end local function fV(a) local l=a.b if a.PARTIAL then
l=math.min(l,gJ(a)) end a.g=l if a.ALWAYS then fU(a) else cn(a,l) end end local function fQ(a,v,A) dP(a,v,A) end
local function fS(a,aO) if not aO and a.a=='charge'then a.a,a.e='keep',nil end fQ(a,a.a,a.e) end local function eg(a)
return a.v and a.v.b or a.k and a.b or a.g end local function dS(a) if not a.allowed then return 0 end
return a.PARTIAL and eg(a)or 1 end local function gf(a,O) local Q,gR,ac,dt,fY=bo(a) return{ 'allowed',dS(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.d, 'remaining',Q, 'retry_after_ms',gR, 'next_ms',ac, 'reset_ms',dt,
'delay_ms',fY, 'now_ms',a.now_ms, 'shadow',a.k and 1 or 0, 'charged',O, } end local function gv(be) local el={}
for Z,a in ipairs(be)do local r,U=a.AS or('SLIDING'):lower(),2 a.i=r while el[a.i]do a.i=i('%s-%d',r,U) U=U+1 end
el[a.i]=true end end local function br(b) return i('%.0f',ea(b,999999999999999)) end local function gH(a)
local x=(nil)and(nil)(a)or a.f local cq,J=1000,x%1000 while J>0 do cq,J=J,cq%J end local fB=1000/cq
local bl=cp(bz(x,fB),1000) return i('"%s";q=%s;w=%s',a.i,br(bz(a.limit,fB)),br(bl)) end local function gl(bB,cD)
if bB.allowed~=cD.allowed then return not bB.allowed end local F,cE=bB.retry_after_ms,cD.retry_after_ms if F~=cE then
return F<0 or(cE>=0 and F>cE) end return bB.remaining<cD.remaining end local function gh(be) local dw,eh=be[1],{} gv(be)
for b,a in ipairs(be)do eh[b]=gH(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bo(a) if gl(a,dw)then dw=a end end
local a=dw local bh={ 'X-RateLimit-Limit', i('%.0f',a.d), 'X-RateLimit-Remaining', i('%.0f',a.remaining), }
local function bq(aA,ax) bh[#bh+1]=aA bh[#bh+1]=ax end if a.reset_ms>=0 then
bq('X-RateLimit-Reset',i('%.0f',aw(a.now_ms+a.reset_ms))) end bq('RateLimit-Policy',table.concat(eh,', '))
local gt=a.next_ms>=0 and';t='..br(aw(a.next_ms))or'' bq('RateLimit',i('"%s";r=%s%s',a.i,br(a.remaining),gt))
if not a.allowed and a.retry_after_ms>=0 then bq('Retry-After',i('%.0f',aw(a.retry_after_ms))) end return bh end
local function gz(a,O) if a.form=='FULL'then return gf(a,O) end return{dS(a),a.count,a.ttl,gh({a})} end
ck={z=fI,A=fR,B=fS,C=fT,D=fV,error_reply=ga,F=gb,p=S,G=gd,I=gr,J=gu,K=eb,M=gz,N=ef,O=gC,y=eg,Q=gK,R=gN,S=gP,T=gZ,Y=hQ}
end return ck end if am then return n().error_reply(am) end local bm,aL=pcall(gS,KEYS,ARGV)
return bm and aL or n().error_reply(aL) end local function ge(dH,Y)
local R,I,aS,i,g=math.ceil,string.find,string.match,string.format,redis.call if i('%d',2^40)~='1099511627776'then return
end local ba local ep=Y[1] local cb=Y[2] local cc=Y[3] if not cb then return end local bi=Y[4] local cI local E local ag
if(cc=='LINE')and(not bi)then cI=4 E=1 ag='LINE' else local cF local cG local cH if cc then if bi then
if not(((((Y[5]=='LINE')and(not Y[6]))and((#bi)<16))and(cc=='COST'))and I(bi,'^[1-9]%d*$'))then return end cF=6 cG=bi+0
cH='LINE' else if(((Y[5]=='LINE')and(not Y[6]))and(cc=='COST'))and I('','^[1-9]%d*$')then return end return end else
cF=3 cG=1 cH=nil end cI=cF E=cG ag=cH end if not(((#cb)<16)and I(cb,'^[1-9]%d*$'))then return end local D=cb+0
local eq,aM=aS(ep,'^([1-9]%d*)(%l*)$') if eq then if(#ep)<16 then
local dy=(aM=='')and 1000 or((aM=='ms')and 1 or((aM=='s')and 1000 or((aM=='m')and 60000 or((aM=='h')and 3.6e6 or((aM=='d')and 8.64e7 or nil)))))
local h=dy and(eq*dy)or dy if(not h)or((h<1)or(1e15<h))then return end if not(h<9e12)then return end local hb=Y[cI]
if hb then return end if 1000<E then return end local er=g('TIME') local es=(er[1]*1e6)+er[2]
local f=(es-(es%1000))/1000 local m=dH[1] if not m then return end if I(m,':reserved',1,true)then return end
if not((#dH)==1)then return end local et=f-h local cd=g('ZCARD',m) local k if(0<cd)and(0<=et)then if not(cd<=4000)then
return end local hc=g('ZREMRANGEBYSCORE',m,'0',i('%d',et)) k=cd-hc else k=cd end local L=0<k local hd=(k+E)<=D
local eu=h%1000 local ce=(eu==0)and(h/1000)or(((h-eu)/1000)+1) if hd then if ag=='LINE'then local ew=(D-k)-E
local dz=(0<ew)and ew or 0 local aB if L then local hf=g('ZRANGE',m,'0','0','WITHSCORES') local ex=hf[2] if ex then
aB=tonumber(ex) else aB=0 end else aB=0 end if aB<0 then return end local bI local bJ local aW local aG if dz<D then
local ey=dz+1 local at if L then if not redis.REDIS_VERSION_NUM then return end local ez=g('PEXPIRETIME',m)
at=((0<=ez)and ez or nil)or 0 else at=0 end local bD if(3*h)<=(2*(at-f))then bD=nil else bD=f+(2*h) end local cJ
if bD then cJ=bD else cJ=at end local aN=k+E local eA=cJ+1 local ah local bE local dA=D-ey if dA<0 then ah=nil bE=nil
else if aN<=dA then ah=nil bE=0 else local bj=(aN-dA)-1 local cK local aU if aN<=bj then cK=nil aU=nil else local aT
if L then local hg=g('ZRANGE',m,'-1','-1','WITHSCORES') local eB=hg[2] if eB then aT=tonumber(eB) else aT=0 end else
aT=0 end if f<aT then return end local aC if bj<k then if bj==0 then local eE=R(aB) aC=(0<eE)and eE or 0 else
if 0<=bj then local eC=i('%d',bj) local hh=g('ZRANGE',m,eC,eC,'WITHSCORES') local eD=hh[2] if eD then
local eF=R(tonumber(eD)) aC=(0<eF)and eF or 0 else aC=f end else aC=f end end else aC=f end local hi=aC+h cK=aT aU=hi
end local aD if(not aU)or(eA<aU)then aD=eA else aD=aU end local cM if aD then local cL if 2^53<=aD then cL=1/0 else
local eG=aD-f cL=(0<eG)and eG or 0 end cM=cL else cM=aD end ah=cK bE=cM end end local eH=bE or(-1) local cT local cU
if ey==D then cT=ah cU=eH else local bF if(3*h)<=(2*(at-f))then bF=nil else bF=f+(2*h) end local cN if bF then cN=bF
else cN=at end local eI=cN+1 local cR local cS if aN<=0 then cR=ah cS=0 else local bk=aN-1 local cO local aV
if aN<=bk then cO=ah aV=nil else local bH if ah then bH=ah else local bG if L then
local hj=g('ZRANGE',m,'-1','-1','WITHSCORES') local eJ=hj[2] if eJ then bG=tonumber(eJ) else bG=0 end else bG=0 end
bH=bG end if f<bH then return end local aE if bk<k then if bk==0 then local eM=R(aB) aE=(0<eM)and eM or 0 else
if 0<=bk then local eK=i('%d',bk) local hk=g('ZRANGE',m,eK,eK,'WITHSCORES') local eL=hk[2] if eL then
local eN=R(tonumber(eL)) aE=(0<eN)and eN or 0 else aE=f end else aE=f end end else aE=f end local hl=aE+h cO=bH aV=hl
end local aF if(not aV)or(eI<aV)then aF=eI else aF=aV end local cQ if aF then local cP if 2^53<=aF then cP=1/0 else
local eO=aF-f cP=(0<eO)and eO or 0 end cQ=cP else cQ=aF end cR=cO cS=cQ end cT=cR cU=cS or(-1) end bI=cT bJ=at aW=eH
aG=cU else bI=nil bJ=nil aW=0 aG=0 end if(not((aW-aW)==0))or((not((aG-aG)==0))or(2^53<=aG))then return end
local hm=i('1 %d %d %d %d 0 %d %d 0 %d 0 %d',k,ce,D,dz,aW,aG,f,E) local bK if bJ then bK=bJ else local cV if L then
if not redis.REDIS_VERSION_NUM then return end local eP=g('PEXPIRETIME',m) cV=((0<=eP)and eP or nil)or 0 else cV=0 end
bK=cV end local aX if bK then if(3*h)<=(2*(bK-f))then aX=nil else aX=f+(2*h) end else aX=f+(2*h) end local ao=i('%d',f)
if bI then local cW if bI<f then cW=0 else local hn=g('ZCOUNT',m,ao,ao) cW=hn end if 1<E then return end local bs=E
local bt=cW while 0<bs do local hp=i('%d',bt) local hq=g('ZADD',m,'NX',ao,(ao..('-0.'..hp))) local hr=bs-hq
local hs=bt+1 bs,bt=hr,hs end local hW=bs local hX=bt else local ho=g('ZCOUNT',m,ao,ao) if 1<E then return end
local bu=E local bv=ho while 0<bu do local ht=i('%d',bv) local hu=g('ZADD',m,'NX',ao,(ao..('-0.'..ht))) local hv=bu-hu
local hw=bv+1 bu,bv=hv,hw end local hY=bu local hZ=bv end if aX then local hx=i('%d',aX) local ia=g('PEXPIREAT',m,hx)
end ba=hm else if ag then return end local cX if L then if not redis.REDIS_VERSION_NUM then return end
local eQ=g('PEXPIRETIME',m) cX=((0<=eQ)and eQ or nil)or 0 else cX=0 end local bL if(3*h)<=(2*(cX-f))then bL=nil else
bL=f+(2*h) end local cf=i('%d',f) local hy=g('ZCOUNT',m,cf,cf) if 1<E then return end local bw=E local bx=hy
while 0<bw do local hz=i('%d',bx) local hA=g('ZADD',m,'NX',cf,(cf..('-0.'..hz))) local hB=bw-hA local hC=bx+1
bw,bx=hB,hC end local ib=bw local ic=bx if bL then local hD=i('%d',bL) local id=g('PEXPIREAT',m,hD) end ba={1,k,ce} end
else local bC if L then local he=g('ZRANGE',m,'-1','-1','WITHSCORES') local ev=he[2] if ev then bC=tonumber(ev) else
bC=0 end else bC=0 end if f<bC then if ag=='LINE'then local eR=D-k local eS=(0<eR)and eR or 0 local bM if L then
local hE=g('ZRANGE',m,'0','0','WITHSCORES') local eT=hE[2] if eT then bM=tonumber(eT) else bM=0 end else bM=0 end
if bM<0 then return end local ai if L then if not redis.REDIS_VERSION_NUM then return end local eU=g('PEXPIRETIME',m)
ai=((0<=eU)and eU or nil)or 0 else ai=0 end local bN if(3*h)<=(2*(ai-f))then bN=nil else bN=f+(2*h) end local cY
if bN then cY=bN else cY=ai end local eV=cY+1 local bO local dB=D-E if dB<0 then bO=nil else if k<=dB then bO=0 else
local hF=(k-dB)-1 if not(k<=hF)then return end local cZ if 2^53<=eV then cZ=1/0 else local eW=eV-f cZ=(0<eW)and eW or 0
end bO=cZ end end local dC=bO or(-1) local bS local aY if eS<D then local eX=eS+1 local bP if(3*h)<=(2*(ai-f))then
bP=nil else bP=f+(2*h) end local da if bP then da=bP else da=ai end local eY=da+1 local bQ local dD=D-eX if dD<0 then
bQ=nil else if k<=dD then bQ=0 else local hG=(k-dD)-1 if not(k<=hG)then return end local db if 2^53<=eY then db=1/0 else
local eZ=eY-f db=(0<eZ)and eZ or 0 end bQ=db end end local fa=bQ or(-1) local df if eX==D then df=fa else local bR
if(3*h)<=(2*(ai-f))then bR=nil else bR=f+(2*h) end local dc if bR then dc=bR else dc=ai end local fb=dc+1 local de
if k<=0 then de=0 else local hH=k-1 if not(k<=hH)then return end local dd if 2^53<=fb then dd=1/0 else local fc=fb-f
dd=(0<fc)and fc or 0 end de=dd end df=de end bS=fa aY=df else bS=0 aY=0 end
if(not((dC-dC)==0))or((not((bS-bS)==0))or((not((aY-aY)==0))or((2^53<=dC)or(2^53<=aY))))then return end return else
if ag then return end return end else if ag=='LINE'then local fd=D-k local dE=(0<fd)and fd or 0 local au if L then
local hI=g('ZRANGE',m,'0','0','WITHSCORES') local fe=hI[2] if fe then au=tonumber(fe) else au=0 end else au=0 end
if au<0 then return end local ad if L then if not redis.REDIS_VERSION_NUM then return end local ff=g('PEXPIRETIME',m)
ad=((0<=ff)and ff or nil)or 0 else ad=0 end local bT if(3*h)<=(2*(ad-f))then bT=nil else bT=f+(2*h) end local dg
if bT then dg=bT else dg=ad end local fg=dg+1 local bU local dF=D-E if dF<0 then bU=nil else if k<=dF then bU=0 else
local cg=(k-dF)-1 local aj if k<=cg then aj=nil else if cg==0 then local fj=R(au) aj=((0<fj)and fj or 0)+h else
if 0<=cg then local fh=i('%d',cg) local hJ=g('ZRANGE',m,fh,fh,'WITHSCORES') local fi=hJ[2] if fi then
local fk=R(tonumber(fi)) aj=((0<fk)and fk or 0)+h else aj=f+h end else aj=f+h end end end local aH
if(not aj)or(fg<aj)then aH=fg else aH=aj end local di if aH then local dh if 2^53<=aH then dh=1/0 else local fl=aH-f
dh=(0<fl)and fl or 0 end di=dh else di=aH end bU=di end end local ch=bU or(-1) local aZ local aK if dE<D then
local fm=dE+1 local bV if(3*h)<=(2*(ad-f))then bV=nil else bV=f+(2*h) end local dj if bV then dj=bV else dj=ad end
local fn=dj+1 local bW local dG=D-fm if dG<0 then bW=nil else if k<=dG then bW=0 else local ci=(k-dG)-1 local ak
if k<=ci then ak=nil else if ci==0 then local fq=R(au) ak=((0<fq)and fq or 0)+h else if 0<=ci then local fo=i('%d',ci)
local hK=g('ZRANGE',m,fo,fo,'WITHSCORES') local fp=hK[2] if fp then local fr=R(tonumber(fp)) ak=((0<fr)and fr or 0)+h
else ak=f+h end else ak=f+h end end end local aI if(not ak)or(fn<ak)then aI=fn else aI=ak end local dl if aI then
local dk if 2^53<=aI then dk=1/0 else local fs=aI-f dk=(0<fs)and fs or 0 end dl=dk else dl=aI end bW=dl end end
local ft=bW or(-1) local dr if fm==D then dr=ft else local bX if(3*h)<=(2*(ad-f))then bX=nil else bX=f+(2*h) end
local dm if bX then dm=bX else dm=ad end local fu=dm+1 local dq if k<=0 then dq=0 else local cj=k-1 local al
if k<=cj then al=nil else if cj==0 then local fx=R(au) al=((0<fx)and fx or 0)+h else if 0<=cj then local fv=i('%d',cj)
local hL=g('ZRANGE',m,fv,fv,'WITHSCORES') local fw=hL[2] if fw then local fy=R(tonumber(fw)) al=((0<fy)and fy or 0)+h
else al=f+h end else al=f+h end end end local aJ if(not al)or(fu<al)then aJ=fu else aJ=al end local dp if aJ then
local dn if 2^53<=aJ then dn=1/0 else local fz=aJ-f dn=(0<fz)and fz or 0 end dp=dn else dp=aJ end dq=dp end dr=dq or(-1)
end aZ=ft aK=dr else aZ=0 aK=0 end
if(not((ch-ch)==0))or((not((aZ-aZ)==0))or((not((aK-aK)==0))or((2^53<=ch)or(2^53<=aK))))then return end
local hM=i('0 %d %d %d %d %d %d %d 0 %d 0 0',k,ce,D,dE,ch,aZ,aK,f) if L then local bY if(3*h)<=(2*(ad-f))then bY=nil
else bY=f+(2*h) end if bY then local hN=i('%d',bY) local ie=g('PEXPIREAT',m,hN) end end ba=hM else if ag then return end
if L then if not redis.REDIS_VERSION_NUM then return end local fA=g('PEXPIRETIME',m) local bZ
if(3*h)<=(2*((((0<=fA)and fA or nil)or 0)-f))then bZ=nil else bZ=f+(2*h) end if bZ then local hO=i('%d',bZ)
local ig=g('PEXPIREAT',m,hO) end end ba={0,k,ce} end end end else return end else return end return ba end
local bm,aL=pcall(ge,KEYS,ARGV) if bm and aL then return aL end return gU(not bm and aL)
