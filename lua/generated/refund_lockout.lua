-- RL.REFUND LOCKOUT, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aA,g local K,r,ai,dj=string.find,string.format,string.match,string.sub local function bD(I) return I==''and 1000
or I=='ms'and 1 or I=='s'and 1000 or I=='m'and 60000 or I=='h'and 3600000 or I=='d'and 86400000 or nil end
local function bB(a) local aE=a.BLOCK or a.l local bv=a.MAX or math.max(aE,86400000) if bv<aE then
g().e('MAX_BELOW_BLOCK') end a.t,a.p=aE,bv end local function cI(o,f,u) local ap,z,k=o[f],o[f+1],o[f+2] if not z then
g().e('ARITY') end local a={ o='', J=0, now_ms=0, l=0, S=0, limit=0, f=0, d=1, form=nil, delay=0, c=nil, m=nil,
allowed=false, count=0, ttl=0, j='keep', remaining=0, n=1, } f=f+2
if k=='LINE'and not o[f+1]and u~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=k,f+1 elseif k then
local W=o[f+1]or''
local bq=u==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and o[f+2]=='LINE'and not o[f+3]and#W<16
if bq and k=='COST'and(' COST BLOCK MAX ')~=' ID 'and K(W,'^[1-9]%d*$')then a.form,a.d,f='LINE',W+0,f+3
elseif bq and k=='ID'and(' COST BLOCK MAX ')==' ID 'and W~=''then a.form,a.ID,f='LINE',W,f+3 else f=g().N(a,o,f,u)
a.d=a.COST or 1 end end local cq=#z<16 and K(z,'^[1-9]%d*$') a.limit=cq and z+0 or g().M('limit',z,0)
local G,I=ai(ap,'^([1-9]%d*)(%l*)$') local am=G and#ap<16 and bD(I) local v=am and G*am if not v or v<1 or v>1e15 then
v=g().U(a,ap) end a.l,a.S,a.f=v,v<9e12 and v*1000 or g().x(v,1000),a.BURST or a.limit if bB then bB(a) end return a,f
end local function cE(o,u) local a,f=cI(o,1,u) if o[f]then g().G(a,u,o[f]) end return a end local function cF(o,u)
if not o[1+1]then g().e('ARITY') end
if('NO_SETTLEMENT')and(u==' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION 'or not g().refund)then
g().e(('NO_SETTLEMENT')) end return cE(o,u) end local ar=redis.call local function cO(a) local bJ=ar('TIME')
local aW=bJ[1]*1000000+bJ[2] a.J,a.now_ms=aW,(aW-aW%1000)/1000 end local function da(a,Y,f,bL,aR) local F=Y[f]
if not F then g().e('KEYS') end a.o,f=F,f+1 if aR then a.k=F elseif K(F,':reserved',1,true)then g().P(F) end return f
end local function cL(a,Y,bL,aR) cO(a) if#Y~=da(a,Y,1,bL,aR)-1 then g().e('KEYS') end end local function dg(h,cK)
local b,c,aH,aJ,p=ai(h,cK) if not b then return nil elseif K(h,':0%d')then return nil end local n=#aJ<17 and aJ+0
return#b<16 and b+0 or g().q(b), #c<16 and c+0 or g().q(c), #aH<16 and aH+0 or g().q(aH),
n and n<9e15 and n or g().q(aJ), p end local function P(b,c) if b-b==0 and c-c==0 then return b<c end return g().I(b,c)
end local function ac(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return g().x(b,c) end
local function ca(h) local w,x,n,ab,aa=dg(h,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$')
if not w or not x or not n or not ab or#aa>2 or aa+0>64 then return nil elseif P(n,x)or P(1e15,ab)then return nil
elseif w-w~=0 or n-n~=0 then if g().w(w)or g().w(ac(n,1000))then return nil end g().e('INEXACT_STATE') end
return{i=w,h=x,b=n,a=ab,g=aa+0} end local function cu(a) local h=ar('GET',a.o) if h then
a.c=ca(h)or g().F(h,('LOCKOUT'),'FOREIGN_VALUE') end end local function aq(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then
return b+c end return g().A(b,c) end local function bt(a,d) if d.a==0 then return d.g end local bd,aS=0,a.t
while aS<a.p do bd,aS=bd+1,2*aS end return math.min(d.g+1,bd) end local function aU(b,c) return P(c,b)and c or b end
local function ce(b,c) if b-b==0 and c-c==0 then local p=b%c return p==0 and b/c or(b-p)/c+1 end local af,p=g().u(b,c)
return p==0 and af or aq(af,1) end local function ah(a,d) local f=aq(d.b+d.a,ac(bt(a,d),a.p)) if f-f~=0 then
return aU(f,ce(g().MAX_UNSIGNED,1000)) end return math.max(f,d.h+a.l) end local function bG(s,t,aD) if s=='keep'then
return aD end return s~='delete'and t or nil end local function Z(a,d) local ae=a.now_ms if not d or d.b<=ae then
return d end local x=math.min(d.h,ae) return{i=d.i,h=x,b=ae,a=d.a,g=d.g} end local function az(a,d)
local bm=d and(d.a>0 and d.b+d.a or d.h+a.l) if bm and a.now_ms<bm and d.i>0 then return d.i,d.h end return 0,a.now_ms
end local function bp(a,d) return d and a.now_ms<d.b+d.a end local function as(b,c) if b-b==0 and c-c==0 then
local p=b%c return(b-p)/c,p end return g().u(b,c) end local function bu(a,d) local cN=math.max(0,a.now_ms-d.b-d.a)
return math.max(0,bt(a,d)-(as(cN,a.p))) end local function bE(a,d) local w,x=az(a,d) if bp(a,d)then
a.v,a.remaining=d.b+d.a,0 else a.v,a.remaining=x+a.l,math.max(0,a.limit-w) end end local function R(L) local p=L%1000
return L<0 and-1 or p==0 and L/1000 or(L-p)/1000+1 end local function m(a,j) local z,bo=a.limit,a.remaining
if j>z or z==0 then return nil elseif j<=bo and bo>0 then return 0 end return a.v-a.now_ms end local function aN(e)
if e-e~=0 or e>=(2^53)then g().e('INEXACT_REPLY') end return e end local function dd(a,j) local m=m(a,j==0 and 1 or j)
m=m and R(aN(m))or-1 return m==0 and 1 or m end local function aK(a,j) local ae,z,d=a.now_ms,a.limit,Z(a,a.c)
local w,x=az(a,d) local t=w+(j==0 and 1 or j) local aC=not bp(a,d)and t<=z a.allowed,a.count,a.j=aC,w,'keep'
if aC and j>0 then local aa,ab=d and bu(a,d)or 0,0 if t==z then ab=math.min(a.t*2^aa,a.p) end d={i=t,h=x,b=ae,a=ab,g=aa}
a.j,a.m='charge',d elseif d~=a.c and P(ae,ah(a,d))then a.j,a.m='rebase',d end bE(a,d) if aC then a.ttl=R(m(a,z)) else
a.ttl=dd(a,j) end end local function bZ(a) if a.PARTIAL or a.ALWAYS then g().E(a) else local j=a.d a.n=j aK(a,j) end
if a.SHADOW then g().D(a) end end local function aO(a,N,d) bE(a,Z(a,d)) end local function at(a) local s,m=a.j,m
aO(a,s,s=='keep'and a.c or s~='delete'and a.m or nil) local Q,aI,H,M,V=a.remaining,a.f,0,0,0 if not a.allowed then
local j=a.n H=m(a,a.y or(j==0 and 1 or j))or-1 if a.H and H>=0 then H=math.max(H,a.H) end end if Q<aI then
M=m(a,Q+1)or-1 V=Q+1==aI and M or m(a,aI)or-1 end if H-H~=0 or M-M~=0 or V-V~=0 or H>=(2^53)or V>=(2^53)then
g().e('INEXACT_REPLY') end return Q,H,M,V,0 end local function cs(a,E) local Q,H,M,V,cb=at(a) local cX=a.r and 1 or 0
return r( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and g().z(a)or 1)or 0,a.count,a.ttl,a.f,Q,H,M,V, cb,a.now_ms,cX,E ) end local function cR(a,E)
local S=a.form if S=='LINE'then return cs(a,E) elseif S then return g().K(a,E) end
return{a.allowed and(a.PARTIAL and g().z(a)or 1)or 0,a.count,a.ttl} end local function bW(a,s,t,E) local bi
local ah,aD,d=nil,a.c,bG(s,t,a.c) if ah and P(ah,a.now_ms)then d=nil end a.c=d bZ(a) bi=cR(a,E) a.c=aD if not a.W then
g().B(a,s,t) end return bi end local function cW(Y,o) local a=cF(o,' form COST AT BURST BLOCK MAX ANCHOR ') cL(a,Y)
cu(a,'write') local s,t=g().refund(a,a.AT,a.d) return bW(a,s,t,0) end function g() if not aA then local l={}
l.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
l.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
l.ID='ERR invalid ID: expected 1 to 512 bytes'
l.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
l.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
l.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
l.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
l.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
l.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
l.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
l.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
l.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
l.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
l.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
l.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' l.ARITY='ERR wrong number of arguments'
l.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
l.NO_SETTLEMENT='ERR invalid algorithm: it is charged before anything is known, so RL.SETTLE has nothing to '
..'correct; RL.REFUND gives back'
l.MAX_BELOW_BLOCK='ERR invalid MAX: expected at least BLOCK, which is the window if not given'
l.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
l.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
l.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function cP(a,bk,j)
local d=Z(a,a.c) local w,x=az(a,d) if w==0 or j==0 or bk and P(bk,x)then return'keep' end w=math.max(0,w-j)
local aZ={i=w,h=x,b=d.b,a=0,g=d.g} if az(a,aZ)==0 and bu(a,aZ)==0 then return'delete' end return'refund',aZ end
local function C(h) error({err=h},0) end local function J(ad) C(l[ad]) end local function ci(h,q,cD)
local dh={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local be=dh[ai(h,'^(%u):')] if not be or be==q then
J(cD) end C('ERR the key holds a state of '..be..': use another key for each algorithm') end local function ch(ak)
if type(ak)=='table'then return ak elseif K(ak,'^%u+ ')then return redis.error_reply(ak) end error(ak,0) end local aB={
__sub=function() return 1 end, } local bf=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aB) local function bs(b,c)
local bh,bS=b-b==0,c-c==0 if bh or bS then return bh elseif#b~=#c then return#b<#c end for e=#b,1,-1 do
if b[e]~=c[e]then return b[e]<c[e] end end return false end local function X(e) if e-e~=0 then return e end
local i,A={},0 while e>0 do local B=e%(2^24) A=A+1 i[A]=B e=(e-B)/(2^24) end return i end local function au(i)
local A=#i while A>0 and i[A]==0 do i[A]=nil A=A-1 end if A>3 or(A==3 and i[3]>=(2^53)/(2^24)/(2^24))then
return setmetatable(i,aB) end return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function bR(b,c)
b,c=X(b),X(c) local ag,O={},0 for e=1,math.max(#b,#c)+1 do local B=(b[e]or 0)+(c[e]or 0)+O O=B>=(2^24)and 1 or 0
ag[e]=B-O*(2^24) end return au(ag) end local function cx(b,c) b,c=X(b),X(c) local aj={} for e=1,#b+#c do aj[e]=0 end
for e=1,#b do local O=0 for aT=1,#c do local B=aj[e+aT-1]+b[e]*c[aT]+O O=math.floor(B/(2^24)) aj[e+aT-1]=B-O*(2^24) end
aj[e+#c]=O end return au(aj) end local function bj(e) if e-e==0 then return e end local ag=0 for cn=#e,1,-1 do
ag=ag*(2^24)+e[cn] end return ag end local function cZ(b,c) if not bs(c,b)then return 0 end c=X(c) local bl,aF={},0
for e=1,#b do local B=b[e]-(c[e]or 0)-aF aF=B<0 and 1 or 0 bl[e]=B+aF*(2^24) end return au(bl) end
local function cY(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end return cZ(b,c) end local function cd(b,c)
local af=0 while not P(b,c)do local ay=math.max(1,math.floor(bj(b)/bj(c)*(1-2^-45))) ay=au(X(ay)) af=aq(af,ay)
b=cY(b,ac(ay,c)) end return af,b end local function aG(b,c) for f=1,math.min(#b,#c)do local bM,bN=b:byte(f),c:byte(f)
if bM~=bN then return bM<bN end end return#b<#c end local function aP(i)
if#i<=15 or(#i==16 and aG(i,'9007199254740992'))then return i+0 end local aQ=#i%7 local e=aQ>0 and i:sub(1,aQ)+0 or 0
for f=aQ+1,#i,7 do e=aq(ac(e,10000000),i:sub(f,f+6)+0) end return e end local function cG(i)
if#i>1 and i:byte()==48 then return nil elseif#i<20 or(#i==20 and not aG('18446744073709551615',i))then return aP(i) end
end local bQ=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aB) local function co(e) return P(bQ,e) end local function aL(h,aV)
if h~='0'and not K(h,'^[1-9]%d*$')then return nil end return(#h<#aV or(#h==#aV and not aG(aV,h)))and h or nil end
local function bx(ad,h,br) local i=h and aL(h,'9223372036854775807') local e=i and aP(i) if not e or e==0 and br>0 then
C(r('ERR invalid %s: expected an integer from %d to 9223372036854775807',ad,br)) elseif e-e~=0 then
C(r('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ad)) end return e end local bg={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function T(ct,q)
return not K(q,' ',1,true)and K(ct,' '..q..' ',1,true)~=nil end local function bI(a,k)
return not T(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or T((' COST BLOCK MAX '),k) end
local function cp(q,k) local D,n=0,0 local bF,cv=math.min(#q,#k),math.max(#q,#k)
while D<bF and q:byte(D+1)==k:byte(D+1)do D=D+1 end while n<bF-D and q:byte(-1-n)==k:byte(-1-n)do n=n+1 end
return D+n>=2 and cv-D-n<=2 end local function cj(a,u,q) local U={} for N,y in ipairs(bg)do
if T(u,y[1])and bI(a,y[1])then U[#U+1]=y[2] end end for N,S in ipairs({'FULL','LINE','HEADERS'})do U[#U+1]=S end
for N,k in ipairs(U)do if cp(q:upper(),ai(k,'^%u+'))then C('ERR syntax error: no such option, but there is '..k) end end
local n=table.remove(U) local de=table.concat(U,', ')
C('ERR syntax error: after limit come '..de..' or '..n..', each at most once') end local function cT(y,a,u)
local k,di=y[1],a.V if not T(u,k)then C(r('ERR invalid %s: only %s it',k,y[3])) elseif not bI(a,k)then
C(r('ERR invalid %s: %s takes none',k,('LOCKOUT'))) elseif a[k]~=nil then
C(r('ERR syntax error: %s comes at most once',y[2])) end end local function by(h) local G,I=ai(h,'^(%d+)(%l*)$')
local am=G and bD(I) local L=am and aL(G,'18446744073709551615')and G*am return L and L>=1 and L<=1e15 and L or nil end
local function cJ(k,h,dk) if k=='BLOCK'or k=='MAX'then
local dc='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return h and by(h)or C('ERR invalid '..k..': '..dc) end if k=='AS'then
return h and#h>=1 and#h<=64 and not K(h,'[^%w._-]')and h or J('AS') elseif k=='AT'then
local i=h and aL(h,'9223372036854775807') return i and aU(aP(i),(as(bf,1000)))or J('AT') end
return bx(k,h,k=='BURST'and 1 or 0) end local function cS(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
J(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
J(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bO={FULL=true,LINE=true,HEADERS=true}
local function cA(S,bw) if S then J(S==bw and'FORM_TWICE'or'TWO_FORMS') end return bw end local function cH(a,o,f,u)
while o[f]do local q,y=o[f]:upper(),nil for N,Z in ipairs(bg)do y=Z[1]==q and Z or y end if y then cT(y,a,u)
if y[2]==q then a[q]=true f=f+1 else a[q]=cJ(q,o[f+1],o[f+2]) f=f+(q=='RESERVE'and 3 or 2) end cS(a)
elseif bO[q]and T(u,'form')then a.form=cA(a.form,q) f=f+1 else return f end end return f end
local bP={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function df(a,h) local v=by(h)
if not v then a.Q=h:upper() v=bP[a.Q] if not v then J(T((' COST BLOCK MAX '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not T((' COST BLOCK MAX '),'ANCHOR')then
C(r('ERR invalid window: %s takes no windows of the calendar',('LOCKOUT'))) end end return v end local function cl(F)
return F:sub(-9)==':reserved'or F:sub(-14)==':reserved:ends' end local function cU(F) if cl(F)then J('RESERVED_KEY') end
end local function bV(a) local cB=a.PARTIAL and a.n<a.d a.r=a.SHADOW and not a.s and(cB or not a.allowed)
if not a.allowed and(a.r or a.s)then a.allowed=true if not(nil)then local N,N,N,ba=at(a) a.ttl=R(ba) end end end
local function cQ(a) aO(a,'keep',a.c) return a.remaining end local function cz(j) return j==0 and 1 or j end
local function bX(a) local j=a.d aK(a,0) local s,t=(nil)(a,nil,j) if j>0 then a.j,a.m=s,t end local d=bG(a.j,a.m,a.c)
aO(a,a.j,d) a.allowed=a.f>0 and m(a,0)==0 a.y=a.f>0 and j or cz(j) if(nil)then a.count,a.ttl=(nil)(d,a.now_ms)
elseif a.allowed then a.ttl=R(aN(m(a,a.f))) else local m=m(a,a.y) a.ttl=m and math.max(1,R(aN(m)))or-1 end end
local function bY(a) local j=a.d if a.PARTIAL then j=math.min(j,cQ(a)) end a.n=j if a.ALWAYS then bX(a) else aK(a,j) end
end local function db(e) local bc='' while e-e~=0 do local p e,p=as(e,10000000) bc=r('%07.0f',p)..bc end
return r('%.0f',e)..bc end local function an(e) if e-e~=0 then return db(e) end return r('%.0f',e) end
local function cg(d) local x,n=an(d.h),an(d.b) return r('O:%s:%s:%s:%s:%d',an(d.i),x,n,an(d.a),d.g) end
local function bT(a,s,t) if s=='delete'then ar('UNLINK',a.o) elseif s~='keep'then ar('SET',a.o,cg(t),'PXAT',an(ah(a,t)))
end end local function bU(a,s,t) bT(a,s,t) end local function bz(a) return a.s and a.s.d or a.r and a.d or a.n end
local function bn(a) if not a.allowed then return 0 end return a.PARTIAL and bz(a)or 1 end local function ck(a,E)
local Q,cV,M,ba,cc=at(a) return{ 'allowed',bn(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.f, 'remaining',Q,
'retry_after_ms',cV, 'next_ms',M, 'reset_ms',ba, 'delay_ms',cc, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0, 'charged',E,
} end local function cy(al) local bH={} for N,a in ipairs(al)do local D,G=a.AS or('LOCKOUT'):lower(),2 a.k=D
while bH[a.k]do a.k=r('%s-%d',D,G) G=G+1 end bH[a.k]=true end end local function aw(e)
return r('%.0f',aU(e,999999999999999)) end local function cM(a) local v=(nil)and(nil)(a)or a.l local aM,p=1000,v%1000
while p>0 do aM,p=p,aM%p end local bK=1000/aM local ap=as(ac(v,bK),1000)
return r('"%s";q=%s;w=%s',a.k,aw(ac(a.limit,bK)),aw(ap)) end local function cr(ax,aX) if ax.allowed~=aX.allowed then
return not ax.allowed end local m,aY=ax.retry_after_ms,aX.retry_after_ms if m~=aY then return m<0 or(aY>=0 and m>aY) end
return ax.remaining<aX.remaining end local function cm(al) local bb,bA=al[1],{} cy(al) for e,a in ipairs(al)do
bA[e]=cM(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=at(a) if cr(a,bb)then bb=a end end local a=bb local ao={
'X-RateLimit-Limit', r('%.0f',a.f), 'X-RateLimit-Remaining', r('%.0f',a.remaining), } local function av(ad,W)
ao[#ao+1]=ad ao[#ao+1]=W end if a.reset_ms>=0 then av('X-RateLimit-Reset',r('%.0f',R(a.now_ms+a.reset_ms))) end
av('RateLimit-Policy',table.concat(bA,', ')) local cw=a.next_ms>=0 and';t='..aw(R(a.next_ms))or''
av('RateLimit',r('"%s";r=%s%s',a.k,aw(a.remaining),cw)) if not a.allowed and a.retry_after_ms>=0 then
av('Retry-After',r('%.0f',R(a.retry_after_ms))) end return ao end local function cC(a,E) if a.form=='FULL'then
return ck(a,E) end return{bn(a),a.count,a.ttl,cm({a})} end
aA={MAX_UNSIGNED=bf,A=bR,B=bU,D=bV,E=bY,u=cd,error_reply=ch,e=J,F=ci,G=cj,w=co,I=bs,x=cx,K=cC,M=bx,q=cG,N=cH,z=bz,refund=cP,P=cU,U=df}
end return aA end local cf,bC=pcall(cW,KEYS,ARGV) return cf and bC or g().error_reply(bC)
