-- RL.REFUND LOCKOUT, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ay,g local F,r,au,di=string.find,string.format,string.match,string.sub local function bB(a)
local aC=a.BLOCK or a.o local bv=a.MAX or math.max(aC,86400000) if bv<aC then g().f('MAX_BELOW_BLOCK') end a.x,a.t=aC,bv
end local function cH(o,f,u) local ag,y,k=o[f],o[f+1],o[f+2] if not y then g().f('ARITY') end local a={ r='', P=0,
now_ms=0, o=0, X=0, limit=0, g=0, e=1, form=nil, delay=0, c=nil, p=nil, allowed=false, count=0, ttl=0, l='keep',
remaining=0, q=1, } f=f+2 if k=='LINE'and not o[f+1]and u~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=k,f+1 elseif k then local V=o[f+1]or''
local bq=u==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and o[f+2]=='LINE'and not o[f+3]and#V<16
if bq and k=='COST'and(' COST BLOCK MAX ')~=' ID 'and F(V,'^[1-9]%d*$')then a.form,a.e,f='LINE',V+0,f+3
elseif bq and k=='ID'and(' COST BLOCK MAX ')==' ID 'and V~=''then a.form,a.ID,f='LINE',V,f+3 else f=g().U(a,o,f,u)
a.e=a.COST or 1 end end local aP=#y<16 and F(y,'^[1-9]%d*$') a.limit=aP and y+0 or g().S('limit',y,0)
aP=#ag<10 and F(ag,'^[1-9]%d*$') local z=aP and ag*1000 or g().Y(a,ag)
a.o,a.X,a.g=z,z<9e12 and z*1000 or g().B(z,1000),a.BURST or a.limit if bB then bB(a) end return a,f end
local function cD(o,u) local a,f=cH(o,1,u) if o[f]then g().K(a,u,o[f]) end return a end local function cE(o,u)
if not o[1+1]then g().f('ARITY') end
if('NO_SETTLEMENT')and(u==' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION 'or not g().refund)then
g().f(('NO_SETTLEMENT')) end return cD(o,u) end local ao=redis.call local function cN(a) local bI=ao('TIME')
local aV=bI[1]*1000000+bI[2] a.P,a.now_ms=aV,(aV-aV%1000)/1000 end local function cZ(a,X,f,bL,aQ) local G=X[f]
if not G then g().f('KEYS') end a.r,f=G,f+1 if aQ then a.n=G elseif F(G,':reserved',1,true)then g().V(G) end return f
end local function cK(a,X,bL,aQ) cN(a) if#X~=cZ(a,X,1,bL,aQ)-1 then g().f('KEYS') end end local function df(h,cJ)
local b,c,aF,aH,p=au(h,cJ) if not b then return nil elseif F(h,':0%d')then return nil end local n=#aH<17 and aH+0
return#b<16 and b+0 or g().u(b), #c<16 and c+0 or g().u(c), #aF<16 and aF+0 or g().u(aF),
n and n<9e15 and n or g().u(aH), p end local function N(b,c) if b-b==0 and c-c==0 then return b<c end return g().N(b,c)
end local function ab(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return g().B(b,c) end
local function ca(h) local v,w,n,aa,Z=df(h,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$')
if not v or not w or not n or not aa or#Z>2 or Z+0>64 then return nil elseif N(n,w)or N(1e15,aa)then return nil
elseif v-v~=0 or n-n~=0 then if g().A(v)or g().A(ab(n,1000))then return nil end g().f('INEXACT_STATE') end
return{k=v,j=w,b=n,a=aa,i=Z+0} end local function ct(a) local h=ao('GET',a.r) if h then
a.c=ca(h)or g().J(h,('LOCKOUT'),'FOREIGN_VALUE') end end local function an(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then
return b+c end return g().F(b,c) end local function bt(a,d) if d.a==0 then return d.i end local bc,aR=0,a.x
while aR<a.t do bc,aR=bc+1,2*aR end return math.min(d.i+1,bc) end local function aT(b,c) return N(c,b)and c or b end
local function ce(b,c) if b-b==0 and c-c==0 then local p=b%c return p==0 and b/c or(b-p)/c+1 end local ae,p=g().y(b,c)
return p==0 and ae or an(ae,1) end local function ah(a,d) local f=an(d.b+d.a,ab(bt(a,d),a.t)) if f-f~=0 then
return aT(f,ce(g().MAX_UNSIGNED,1000)) end return math.max(f,d.j+a.o) end local function bF(s,t,aB) if s=='keep'then
return aB end return s~='delete'and t or nil end local function Y(a,d) local ad=a.now_ms if not d or d.b<=ad then
return d end local w=math.min(d.j,ad) return{k=d.k,j=w,b=ad,a=d.a,i=d.i} end local function ax(a,d)
local bm=d and(d.a>0 and d.b+d.a or d.j+a.o) if bm and a.now_ms<bm and d.k>0 then return d.k,d.j end return 0,a.now_ms
end local function bp(a,d) return d and a.now_ms<d.b+d.a end local function ap(b,c) if b-b==0 and c-c==0 then
local p=b%c return(b-p)/c,p end return g().y(b,c) end local function bu(a,d) local cM=math.max(0,a.now_ms-d.b-d.a)
return math.max(0,bt(a,d)-(ap(cM,a.t))) end local function bD(a,d) local v,w=ax(a,d) if bp(a,d)then
a.z,a.remaining=d.b+d.a,0 else a.z,a.remaining=w+a.o,math.max(0,a.limit-v) end end local function P(J) local p=J%1000
return J<0 and-1 or p==0 and J/1000 or(J-p)/1000+1 end local function m(a,j) local y,bo=a.limit,a.remaining
if j>y or y==0 then return nil elseif j<=bo and bo>0 then return 0 end return a.z-a.now_ms end local function aL(e)
if e-e~=0 or e>=(2^53)then g().f('INEXACT_REPLY') end return e end local function dc(a,j) local m=m(a,j==0 and 1 or j)
m=m and P(aL(m))or-1 return m==0 and 1 or m end local function aI(a,j) local ad,y,d=a.now_ms,a.limit,Y(a,a.c)
local v,w=ax(a,d) local t=v+(j==0 and 1 or j) local aA=not bp(a,d)and t<=y a.allowed,a.count,a.l=aA,v,'keep'
if aA and j>0 then local Z,aa=d and bu(a,d)or 0,0 if t==y then aa=math.min(a.x*2^Z,a.t) end d={k=t,j=w,b=ad,a=aa,i=Z}
a.l,a.p='charge',d elseif d~=a.c and N(ad,ah(a,d))then a.l,a.p='rebase',d end bD(a,d) if aA then a.ttl=P(m(a,y)) else
a.ttl=dc(a,j) end end local function bZ(a) if a.PARTIAL or a.ALWAYS then g().I(a) else local j=a.e a.q=j aI(a,j) end
if a.SHADOW then g().H(a) end end local function aM(a,L,d) bD(a,Y(a,d)) end local function aq(a) local s,m=a.l,m
aM(a,s,s=='keep'and a.c or s~='delete'and a.p or nil) local O,aG,H,K,U=a.remaining,a.g,0,0,0 if not a.allowed then
local j=a.q H=m(a,a.D or(j==0 and 1 or j))or-1 if a.M and H>=0 then H=math.max(H,a.M) end end if O<aG then
K=m(a,O+1)or-1 U=O+1==aG and K or m(a,aG)or-1 end if H-H~=0 or K-K~=0 or U-U~=0 or H>=(2^53)or U>=(2^53)then
g().f('INEXACT_REPLY') end return O,H,K,U,0 end local function cr(a,E) local O,H,K,U,cb=aq(a) local cW=a.v and 1 or 0
return r( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and g().E(a)or 1)or 0,a.count,a.ttl,a.g,O,H,K,U, cb,a.now_ms,cW,E ) end local function cQ(a,E)
local Q=a.form if Q=='LINE'then return cr(a,E) elseif Q then return g().Q(a,E) end
return{a.allowed and(a.PARTIAL and g().E(a)or 1)or 0,a.count,a.ttl} end local function bW(a,s,t,E) local bi
local ah,aB,d=nil,a.c,bF(s,t,a.c) if ah and N(ah,a.now_ms)then d=nil end a.c=d bZ(a) bi=cQ(a,E) a.c=aB if not a.aa then
g().G(a,s,t) end return bi end local function cV(X,o) local a=cE(o,' form COST AT BURST BLOCK MAX ANCHOR ') cK(a,X)
ct(a,'write') local s,t=g().refund(a,a.AT,a.e) return bW(a,s,t,0) end function g() if not ay then local l={}
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
l.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function cO(a,bk,j)
local d=Y(a,a.c) local v,w=ax(a,d) if v==0 or j==0 or bk and N(bk,w)then return'keep' end v=math.max(0,v-j)
local aY={k=v,j=w,b=d.b,a=0,i=d.i} if ax(a,aY)==0 and bu(a,aY)==0 then return'delete' end return'refund',aY end
local function C(h) error({err=h},0) end local function I(ac) C(l[ac]) end local function ci(h,q,cC)
local dg={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bd=dg[au(h,'^(%u):')] if not bd or bd==q then
I(cC) end C('ERR the key holds a state of '..bd..': use another key for each algorithm') end local function ch(aj)
if type(aj)=='table'then return aj elseif F(aj,'^%u+ ')then return redis.error_reply(aj) end error(aj,0) end local az={
__sub=function() return 1 end, } local be=setmetatable({(2^24)-1,(2^24)-1,2^16-1},az) local function bs(b,c)
local bh,bS=b-b==0,c-c==0 if bh or bS then return bh elseif#b~=#c then return#b<#c end for e=#b,1,-1 do
if b[e]~=c[e]then return b[e]<c[e] end end return false end local function W(e) if e-e~=0 then return e end
local i,A={},0 while e>0 do local B=e%(2^24) A=A+1 i[A]=B e=(e-B)/(2^24) end return i end local function ar(i)
local A=#i while A>0 and i[A]==0 do i[A]=nil A=A-1 end if A>3 or(A==3 and i[3]>=(2^53)/(2^24)/(2^24))then
return setmetatable(i,az) end return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function bR(b,c)
b,c=W(b),W(c) local af,M={},0 for e=1,math.max(#b,#c)+1 do local B=(b[e]or 0)+(c[e]or 0)+M M=B>=(2^24)and 1 or 0
af[e]=B-M*(2^24) end return ar(af) end local function cw(b,c) b,c=W(b),W(c) local ai={} for e=1,#b+#c do ai[e]=0 end
for e=1,#b do local M=0 for aS=1,#c do local B=ai[e+aS-1]+b[e]*c[aS]+M M=math.floor(B/(2^24)) ai[e+aS-1]=B-M*(2^24) end
ai[e+#c]=M end return ar(ai) end local function bj(e) if e-e==0 then return e end local af=0 for cn=#e,1,-1 do
af=af*(2^24)+e[cn] end return af end local function cY(b,c) if not bs(c,b)then return 0 end c=W(c) local bl,aD={},0
for e=1,#b do local B=b[e]-(c[e]or 0)-aD aD=B<0 and 1 or 0 bl[e]=B+aD*(2^24) end return ar(bl) end
local function cX(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end return cY(b,c) end local function cd(b,c)
local ae=0 while not N(b,c)do local aw=math.max(1,math.floor(bj(b)/bj(c)*(1-2^-45))) aw=ar(W(aw)) ae=an(ae,aw)
b=cX(b,ab(aw,c)) end return ae,b end local function aE(b,c) for f=1,math.min(#b,#c)do local bM,bN=b:byte(f),c:byte(f)
if bM~=bN then return bM<bN end end return#b<#c end local function aN(i)
if#i<=15 or(#i==16 and aE(i,'9007199254740992'))then return i+0 end local aO=#i%7 local e=aO>0 and i:sub(1,aO)+0 or 0
for f=aO+1,#i,7 do e=an(ab(e,10000000),i:sub(f,f+6)+0) end return e end local function cF(i)
if#i>1 and i:byte()==48 then return nil elseif#i<20 or(#i==20 and not aE('18446744073709551615',i))then return aN(i) end
end local bQ=setmetatable({(2^24)-1,(2^24)-1,2^15-1},az) local function co(e) return N(bQ,e) end local function aJ(h,aU)
if h~='0'and not F(h,'^[1-9]%d*$')then return nil end return(#h<#aU or(#h==#aU and not aE(aU,h)))and h or nil end
local function bx(ac,h,br) local i=h and aJ(h,'9223372036854775807') local e=i and aN(i) if not e or e==0 and br>0 then
C(r('ERR invalid %s: expected an integer from %d to 9223372036854775807',ac,br)) elseif e-e~=0 then
C(r('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ac)) end return e end local bf={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function R(cs,q)
return not F(q,' ',1,true)and F(cs,' '..q..' ',1,true)~=nil end local function bH(a,k)
return not R(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or R((' COST BLOCK MAX '),k) end
local function cp(q,k) local D,n=0,0 local bE,cu=math.min(#q,#k),math.max(#q,#k)
while D<bE and q:byte(D+1)==k:byte(D+1)do D=D+1 end while n<bE-D and q:byte(-1-n)==k:byte(-1-n)do n=n+1 end
return D+n>=2 and cu-D-n<=2 end local function cj(a,u,q) local T={} for L,x in ipairs(bf)do
if R(u,x[1])and bH(a,x[1])then T[#T+1]=x[2] end end for L,Q in ipairs({'FULL','LINE','HEADERS'})do T[#T+1]=Q end
for L,k in ipairs(T)do if cp(q:upper(),au(k,'^%u+'))then C('ERR syntax error: no such option, but there is '..k) end end
local n=table.remove(T) local dd=table.concat(T,', ')
C('ERR syntax error: after limit come '..dd..' or '..n..', each at most once') end local function cS(x,a,u)
local k,dh=x[1],a.Z if not R(u,k)then C(r('ERR invalid %s: only %s it',k,x[3])) elseif not bH(a,k)then
C(r('ERR invalid %s: %s takes none',k,('LOCKOUT'))) elseif a[k]~=nil then
C(r('ERR syntax error: %s comes at most once',x[2])) end end
local bg={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function by(h) local S,bJ=au(h,'^(%d+)(%l*)$')
local J=S and bg[bJ]and aJ(S,'18446744073709551615')and S*bg[bJ] return J and J>=1 and J<=1e15 and J or nil end
local function cI(k,h,dj) if k=='BLOCK'or k=='MAX'then
local db='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return h and by(h)or C('ERR invalid '..k..': '..db) end if k=='AS'then
return h and#h>=1 and#h<=64 and not F(h,'[^%w._-]')and h or I('AS') elseif k=='AT'then
local i=h and aJ(h,'9223372036854775807') return i and aT(aN(i),(ap(be,1000)))or I('AT') end
return bx(k,h,k=='BURST'and 1 or 0) end local function cR(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
I(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
I(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bO={FULL=true,LINE=true,HEADERS=true}
local function cz(Q,bw) if Q then I(Q==bw and'FORM_TWICE'or'TWO_FORMS') end return bw end local function cG(a,o,f,u)
while o[f]do local q,x=o[f]:upper(),nil for L,Y in ipairs(bf)do x=Y[1]==q and Y or x end if x then cS(x,a,u)
if x[2]==q then a[q]=true f=f+1 else a[q]=cI(q,o[f+1],o[f+2]) f=f+(q=='RESERVE'and 3 or 2) end cR(a)
elseif bO[q]and R(u,'form')then a.form=cz(a.form,q) f=f+1 else return f end end return f end
local bP={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function de(a,h) local z=by(h)
if not z then a.W=h:upper() z=bP[a.W] if not z then I(R((' COST BLOCK MAX '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not R((' COST BLOCK MAX '),'ANCHOR')then
C(r('ERR invalid window: %s takes no windows of the calendar',('LOCKOUT'))) end end return z end local function cl(G)
return G:sub(-9)==':reserved'or G:sub(-14)==':reserved:ends' end local function cT(G) if cl(G)then I('RESERVED_KEY') end
end local function bV(a) local cA=a.PARTIAL and a.q<a.e a.v=a.SHADOW and not a.w and(cA or not a.allowed)
if not a.allowed and(a.v or a.w)then a.allowed=true if not(nil)then local L,L,L,aZ=aq(a) a.ttl=P(aZ) end end end
local function cP(a) aM(a,'keep',a.c) return a.remaining end local function cy(j) return j==0 and 1 or j end
local function bX(a) local j=a.e aI(a,0) local s,t=(nil)(a,nil,j) if j>0 then a.l,a.p=s,t end local d=bF(a.l,a.p,a.c)
aM(a,a.l,d) a.allowed=a.g>0 and m(a,0)==0 a.D=a.g>0 and j or cy(j) if(nil)then a.count,a.ttl=(nil)(d,a.now_ms)
elseif a.allowed then a.ttl=P(aL(m(a,a.g))) else local m=m(a,a.D) a.ttl=m and math.max(1,P(aL(m)))or-1 end end
local function bY(a) local j=a.e if a.PARTIAL then j=math.min(j,cP(a)) end a.q=j if a.ALWAYS then bX(a) else aI(a,j) end
end local function da(e) local bb='' while e-e~=0 do local p e,p=ap(e,10000000) bb=r('%07.0f',p)..bb end
return r('%.0f',e)..bb end local function al(e) if e-e~=0 then return da(e) end return r('%.0f',e) end
local function cg(d) local w,n=al(d.j),al(d.b) return r('O:%s:%s:%s:%s:%d',al(d.k),w,n,al(d.a),d.i) end
local function bT(a,s,t) if s=='delete'then ao('UNLINK',a.r) elseif s~='keep'then ao('SET',a.r,cg(t),'PXAT',al(ah(a,t)))
end end local function bU(a,s,t) bT(a,s,t) end local function bz(a) return a.w and a.w.e or a.v and a.e or a.q end
local function bn(a) if not a.allowed then return 0 end return a.PARTIAL and bz(a)or 1 end local function ck(a,E)
local O,cU,K,aZ,cc=aq(a) return{ 'allowed',bn(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.g, 'remaining',O,
'retry_after_ms',cU, 'next_ms',K, 'reset_ms',aZ, 'delay_ms',cc, 'now_ms',a.now_ms, 'shadow',a.v and 1 or 0, 'charged',E,
} end local function cx(ak) local bG={} for L,a in ipairs(ak)do local D,S=a.AS or('LOCKOUT'):lower(),2 a.n=D
while bG[a.n]do a.n=r('%s-%d',D,S) S=S+1 end bG[a.n]=true end end local function at(e)
return r('%.0f',aT(e,999999999999999)) end local function cL(a) local z=(nil)and(nil)(a)or a.o local aK,p=1000,z%1000
while p>0 do aK,p=p,aK%p end local bK=1000/aK local ag=ap(ab(z,bK),1000)
return r('"%s";q=%s;w=%s',a.n,at(ab(a.limit,bK)),at(ag)) end local function cq(av,aW) if av.allowed~=aW.allowed then
return not av.allowed end local m,aX=av.retry_after_ms,aW.retry_after_ms if m~=aX then return m<0 or(aX>=0 and m>aX) end
return av.remaining<aW.remaining end local function cm(ak) local ba,bA=ak[1],{} cx(ak) for e,a in ipairs(ak)do
bA[e]=cL(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aq(a) if cq(a,ba)then ba=a end end local a=ba local am={
'X-RateLimit-Limit', r('%.0f',a.g), 'X-RateLimit-Remaining', r('%.0f',a.remaining), } local function as(ac,V)
am[#am+1]=ac am[#am+1]=V end if a.reset_ms>=0 then as('X-RateLimit-Reset',r('%.0f',P(a.now_ms+a.reset_ms))) end
as('RateLimit-Policy',table.concat(bA,', ')) local cv=a.next_ms>=0 and';t='..at(P(a.next_ms))or''
as('RateLimit',r('"%s";r=%s%s',a.n,at(a.remaining),cv)) if not a.allowed and a.retry_after_ms>=0 then
as('Retry-After',r('%.0f',P(a.retry_after_ms))) end return am end local function cB(a,E) if a.form=='FULL'then
return ck(a,E) end return{bn(a),a.count,a.ttl,cm({a})} end
ay={MAX_UNSIGNED=be,F=bR,G=bU,H=bV,I=bY,y=cd,error_reply=ch,f=I,J=ci,K=cj,A=co,N=bs,B=cw,Q=cB,S=bx,u=cF,U=cG,E=bz,refund=cO,V=cT,Y=de}
end return ay end local cf,bC=pcall(cV,KEYS,ARGV) return cf and bC or g().error_reply(bC)
