-- RL.PEEK COUNTER, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aE,h local J,x,ay,dg=string.find,string.format,string.match,string.sub local function cH(r,e,C)
local N,W,k=r[e],r[e+1],r[e+2] if not W then h().n('ARITY') end local a={ v='', o=0, now_ms=0, a=0, c=0, limit=0, e=0,
f=1, form=nil, delay=0, j=nil, k=nil, allowed=false, count=0, ttl=0, g='keep', remaining=0, l=1, } e=e+2
if k=='LINE'and not r[e+1]and C~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=k,e+1 elseif k then
local ae=r[e+1]or''
local br=C==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and r[e+2]=='LINE'and not r[e+3]and#ae<16
if br and k=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and J(ae,'^[1-9]%d*$')then
a.form,a.f,e='LINE',ae+0,e+3 elseif br and k=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and ae~=''then
a.form,a.ID,e='LINE',ae,e+3 else e=h().K(a,r,e,C) a.f=a.COST or 1 end end local aW=#W<16 and J(W,'^[1-9]%d*$')
a.limit=aW and W+0 or h().J('limit',W,0) aW=#N<10 and J(N,'^[1-9]%d*$') local l=aW and N*1000 or h().U(a,N)
a.a,a.c,a.e=l,l<9e12 and l*1000 or h().w(l,1000),a.BURST or a.limit return a,e end local function cE(r,C)
local a,e=cH(r,1,C) if r[e]then h().F(a,C,r[e]) end return a end local bl=redis.call local function cM(a)
local bK=bl('TIME') local aZ=bK[1]*1000000+bK[2] a.o,a.now_ms=aZ,(aZ-aZ%1000)/1000 end local function cZ(a,K,e,bf,aX)
local z=K[e] if not z then h().n('KEYS') end a.v,e=z,e+1 if aX then a.i=z elseif J(z,':reserved',1,true)then h().N(z)
end if bf then e=a.Y and e+2 or h().Q(a,K,e,z) end return e end local function S(a,K,bf,aX) cM(a)
if#K~=cZ(a,K,1,bf,aX)-1 then h().n('KEYS') end end local function dd(f,cJ) local b,c,aM,aO,q=ay(f,cJ) if not b then
return nil elseif J(f,':0%d')then return nil end local E=#aO<17 and aO+0 return#b<16 and b+0 or h().p(b),
#c<16 and c+0 or h().p(c), #aM<16 and aM+0 or h().p(aM), E and E<9e15 and E or h().p(aO), q end local function cp(y)
return y and y-y==0 and y>=1 and y<=1e15 end local function A(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c
end return h().w(b,c) end local function ca(f) local l,L,t,v,q=dd(f,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$')
if not cp(l)or not L or not t or not v or q~=''then return nil end local B=A(L,l) local T=A(B,1000)
if T-T~=0 or t-t~=0 or v-v~=0 then if h().r(T)or h().r(t)or h().r(v)then return nil end end if B==0 and v~=0 then
return nil end return{a=l,b=B,current=t,previous=v} end local function cs(a) local f=bl('GET',a.v) if f then
a.j=ca(f)or h().E(f,('COUNTER'),'FOREIGN_VALUE') end end local function aq(l,B,t,v) return{a=l,b=B,current=t,previous=v}
end local function aI(a,o) local bx,l=a.now_ms,a.a local B=bx-bx%l if not o then return aq(l,B,0,0)
elseif o.b==B and o.a==l then return o end return h().M(a,o,B) end local function ad(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return h().P(b,c) end local function be(a,g) local v=g.previous
return v==0 and 0 or A(v,ad(a.c,a.o-g.b*1000)) end local function u(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then
return b+c end return h().z(b,c) end local function P(b,c) if b-b==0 and c-c==0 then return b<c end return h().H(b,c)
end local function al(d) if d-d~=0 or d>=(2^53)then h().n('INEXACT_REPLY') end return d end local function as(b,c)
if b-b==0 and c-c==0 then local q=b%c return(b-q)/c,q end return h().u(b,c) end local function aR(b,c)
if b-b==0 and c-c==0 then local q=b%c return q==0 and b/c or(b-q)/c+1 end local ag,q=h().u(b,c)
return q==0 and ag or u(ag,1) end local function cg(O,g) local aD=g.current~=0 and 2 or g.previous~=0 and 1 or 0
return u(g.b,g.a*aD) end local function bF(a,g,aC) a.B=g a.remaining=ad(ad(a.limit,g.current),aC==0 and 0 or aR(aC,a.c))
end local function bL(a,ah,s) return s==0 and 0 or ad(a.c,(as(A(ah,a.c),s))) end local function m(a,j)
local ah,g=a.limit-j,a.B local t,T=g.current,A(g.b,1000) if ah<0 then return nil elseif P(ah,t)then
T=u(u(T,a.c),bL(a,ah,t)) else T=u(T,bL(a,ah-t,g.previous)) end return aR(ad(T,a.o),1000) end local function ac(y)
local q=y%1000 return y<0 and-1 or q==0 and y/1000 or(y-q)/1000+1 end local function da(a,j)
local m=m(a,j==0 and 1 or j) m=m and ac(al(m))or-1 return m==0 and 1 or m end local function aP(a,j)
local o,W,N=a.j,a.limit,a.c local g=aI(a,o) local t,v=g.current,be(a,g) local cx=A(u(t,j==0 and 1 or j),N)
local aJ=not P(A(W,N),u(cx,v)) a.allowed,a.g=aJ,'keep' a.count=al(v==0 and t or u(t,(as(v,N)))) if aJ and j>0 then
g=aq(a.a,g.b,u(t,j),g.previous) a.g,a.k='charge',g elseif o and W>0 and(P(a.now_ms,o.b)or o.a~=a.a)then
if t~=0 or g.previous~=0 then a.g,a.k='rebase',g end end if aJ then a.ttl=al(aR(ad(A(cg(a,g),1000),a.o),1000000)) else
bF(a,g,v) a.ttl=da(a,j) end end local function bZ(a) if a.PARTIAL or a.ALWAYS then h().D(a) else local j=a.f a.l=j
aP(a,j) end if a.SHADOW then h().A(a) end end local function aT(a,O,o) local g=aI(a,o) bF(a,g,be(a,g)) end
local function at(a) local V,m=a.g,m aT(a,V,V=='keep'and a.j or V~='delete'and a.k or nil)
local X,aN,M,R,ab=a.remaining,a.e,0,0,0 if not a.allowed then local j=a.l M=m(a,a.x or(j==0 and 1 or j))or-1
if a.G and M>=0 then M=math.max(M,a.G) end end if X<aN then R=m(a,X+1)or-1 ab=X+1==aN and R or m(a,aN)or-1 end
if M-M~=0 or R-R~=0 or ab-ab~=0 or M>=(2^53)or ab>=(2^53)then h().n('INEXACT_REPLY') end return X,M,R,ab,0 end
local function cq(a,w) local X,M,R,ab,cb=at(a) local cV=a.q and 1 or 0 return x(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl,a.e,X,M,R,ab, cb,a.now_ms,cV,w ) end local function cP(a,w)
local Y=a.form if Y=='LINE'then return cq(a,w) elseif Y then return h().I(a,w) end
return{a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl} end local function cU(K,r)
local a=cE(r,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') S(a,K) cs(a,'read') bZ(a) return cP(a,0)
end function h() if not aE then local n={}
n.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
n.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
n.ID='ERR invalid ID: expected 1 to 512 bytes'
n.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
n.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
n.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
n.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
n.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
n.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
n.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
n.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
n.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
n.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
n.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
n.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' n.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
n.OVERFLOW='ERR increment or decrement would overflow' n.ARITY='ERR wrong number of arguments'
n.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
n.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function az(b,c)
return P(c,b)and c or b end local aF={ __sub=function() return 1 end, }
local aG=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aF) local function bw(d) return az(d,aG) end local function cN(a,o,B)
local l=a.a if P(a.now_ms,o.b)then return aq(l,B,az(u(o.current,o.previous),a.limit),0) end local aj=aq(l,B,0,0)
local function S(s,bn) if bn>B then aj.current=bw(u(aj.current,s)) elseif bn+l>B then aj.previous=bw(u(aj.previous,s))
end end S(o.current,o.b+o.a) S(o.previous,o.b) return aj end local function I(f) error({err=f},0) end
local function D(Q) I(n[Q]) end local function ch(f,p,cC)
local de={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bg=de[ay(f,'^(%u):')] if not bg or bg==p then
D(cC) end I('ERR the key holds a state of '..bg..': use another key for each algorithm') end local function cf(ao)
if type(ao)=='table'then return ao elseif J(ao,'^%u+ ')then return redis.error_reply(ao) end error(ao,0) end
local function bu(b,c) local bj,bU=b-b==0,c-c==0 if bj or bU then return bj elseif#b~=#c then return#b<#c end
for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function af(d) if d-d~=0 then
return d end local i,s={},0 while d>0 do local G=d%(2^24) s=s+1 i[s]=G d=(d-G)/(2^24) end return i end
local function au(i) local s=#i while s>0 and i[s]==0 do i[s]=nil s=s-1 end
if s>3 or(s==3 and i[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(i,aF) end
return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function bT(b,c) b,c=af(b),af(c) local ai,U={},0
for d=1,math.max(#b,#c)+1 do local G=(b[d]or 0)+(c[d]or 0)+U U=G>=(2^24)and 1 or 0 ai[d]=G-U*(2^24) end return au(ai)
end local function cX(b,c) if not bu(c,b)then return 0 end c=af(c) local bm,aK={},0 for d=1,#b do
local G=b[d]-(c[d]or 0)-aK aK=G<0 and 1 or 0 bm[d]=G+aK*(2^24) end return au(bm) end local function cv(b,c)
b,c=af(b),af(c) local an={} for d=1,#b+#c do an[d]=0 end for d=1,#b do local U=0 for aY=1,#c do
local G=an[d+aY-1]+b[d]*c[aY]+U U=math.floor(G/(2^24)) an[d+aY-1]=G-U*(2^24) end an[d+#c]=U end return au(an) end
local function bk(d) if d-d==0 then return d end local ai=0 for cm=#d,1,-1 do ai=ai*(2^24)+d[cm] end return ai end
local function cd(b,c) local ag=0 while not P(b,c)do local aB=math.max(1,math.floor(bk(b)/bk(c)*(1-2^-45)))
aB=au(af(aB)) ag=u(ag,aB) b=ad(b,A(aB,c)) end return ag,b end local function aL(b,c) for e=1,math.min(#b,#c)do
local bO,bP=b:byte(e),c:byte(e) if bO~=bP then return bO<bP end end return#b<#c end local function aU(i)
if#i<=15 or(#i==16 and aL(i,'9007199254740992'))then return i+0 end local aV=#i%7 local d=aV>0 and i:sub(1,aV)+0 or 0
for e=aV+1,#i,7 do d=u(A(d,10000000),i:sub(e,e+6)+0) end return d end local function cF(i) if#i>1 and i:byte()==48 then
return nil elseif#i<20 or(#i==20 and not aL('18446744073709551615',i))then return aU(i) end end local function bq(d)
return P(aG,d) end local function aQ(f,am) if f~='0'and not J(f,'^[1-9]%d*$')then return nil end
return(#f<#am or(#f==#am and not aL(am,f)))and f or nil end local function by(Q,f,bt)
local i=f and aQ(f,'9223372036854775807') local d=i and aU(i) if not d or d==0 and bt>0 then
I(x('ERR invalid %s: expected an integer from %d to 9223372036854775807',Q,bt)) elseif d-d~=0 then
I(x('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Q)) end return d end local bh={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Z(cr,p)
return not J(p,' ',1,true)and J(cr,' '..p..' ',1,true)~=nil end local function bJ(a,k)
return not Z(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or Z((' COST PARTIAL ALWAYS RESERVE RESERVATION '),k)
end local function cn(p,k) local H,E=0,0 local bG,ct=math.min(#p,#k),math.max(#p,#k)
while H<bG and p:byte(H+1)==k:byte(H+1)do H=H+1 end while E<bG-H and p:byte(-1-E)==k:byte(-1-E)do E=E+1 end
return H+E>=2 and ct-H-E<=2 end local function ci(a,C,p) local aa={} for O,F in ipairs(bh)do
if Z(C,F[1])and bJ(a,F[1])then aa[#aa+1]=F[2] end end for O,Y in ipairs({'FULL','LINE','HEADERS'})do aa[#aa+1]=Y end
for O,k in ipairs(aa)do if cn(p:upper(),ay(k,'^%u+'))then I('ERR syntax error: no such option, but there is '..k) end
end local E=table.remove(aa) local db=table.concat(aa,', ')
I('ERR syntax error: after limit come '..db..' or '..E..', each at most once') end local function cR(F,a,C)
local k,df=F[1],a.V if not Z(C,k)then I(x('ERR invalid %s: only %s it',k,F[3])) elseif not bJ(a,k)then
I(x('ERR invalid %s: %s takes none',k,('COUNTER'))) elseif a[k]~=nil then
I(x('ERR syntax error: %s comes at most once',F[2])) end end
local bi={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bA(f) local L,bN=ay(f,'^(%d+)(%l*)$')
local y=L and bi[bN]and aQ(L,'18446744073709551615')and L*bi[bN] return y and y>=1 and y<=1e15 and y or nil end
local function bz(f,am) return f and#f>=1 and#f<=am and f end local bS=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aF)
local function cI(k,f,bE) if k=='RESERVE'then local bM=bE and bA(bE)
return bz(f,128)and bM and{id=f,ttl=bM}or D('RESERVE') elseif k=='RESERVATION'then return bz(f,128)or D('RESERVATION')
end if k=='AS'then return f and#f>=1 and#f<=64 and not J(f,'[^%w._-]')and f or D('AS') elseif k=='AT'then
local i=f and aQ(f,'9223372036854775807') return i and az(aU(i),(as(bS,1000)))or D('AT') end
return by(k,f,k=='BURST'and 1 or 0) end local function cQ(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
D(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
D(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bQ={FULL=true,LINE=true,HEADERS=true}
local function cz(Y,bv) if Y then D(Y==bv and'FORM_TWICE'or'TWO_FORMS') end return bv end local function cG(a,r,e,C)
while r[e]do local p,F=r[e]:upper(),nil for O,bs in ipairs(bh)do F=bs[1]==p and bs or F end if F then cR(F,a,C)
if F[2]==p then a[p]=true e=e+1 else a[p]=cI(p,r[e+1],r[e+2]) e=e+(p=='RESERVE'and 3 or 2) end cQ(a)
elseif bQ[p]and Z(C,'form')then a.form=cz(a.form,p) e=e+1 else return e end end return e end
local bR={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dc(a,f) local l=bA(f)
if not l then a.S=f:upper() l=bR[a.S] if not l then
D(Z((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Z((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
I(x('ERR invalid window: %s takes no windows of the calendar',('COUNTER'))) end end return l end local function ck(z)
return z:sub(-9)==':reserved'or z:sub(-14)==':reserved:ends' end local function cS(z) if ck(z)then D('RESERVED_KEY') end
end local function cY(a,K,e,z) local av,bo=K[e]or'',K[e+1] local Q=((nil)and(nil)(a)or'')..':reserved'
if(av~=z..Q and av~='{'..z..'}'..Q)or bo~=av..':ends'then D('KEYS') end a.X,a.W=av,bo return e+2 end
local function bW(a) local cA=a.PARTIAL and a.l<a.f a.q=a.SHADOW and not a.t and(cA or not a.allowed)
if not a.allowed and(a.q or a.t)then a.allowed=true if not(nil)then local O,O,O,bc=at(a) a.ttl=ac(bc) end end end
local function cO(a) aT(a,'keep',a.j) return a.remaining end local function cK(g,ak) if not ak or not P(ak,g.b)then
return'current' end return ak+g.a>=g.b and'previous'or nil end local function cD(a,ak,j) local g=aI(a,a.j)
local S=cK(g,ak) if j==0 or not S then return'keep' end local w=aq(g.a,g.b,g.current,g.previous) w[S]=u(w[S],j)
local aC=u(A(w.current,a.c),be(a,w)) if bq(w[S])or P(A(aG,a.c),aC)then D('OVERFLOW') end return'charge',w end
local function cW(V,aH,bV) if V=='keep'then return bV end return V~='delete'and aH or nil end local function cy(j)
return j==0 and 1 or j end local function bX(a) local j=a.f aP(a,0) local V,aH=cD(a,nil,j) if j>0 then a.g,a.k=V,aH end
local bH=cW(a.g,a.k,a.j) aT(a,a.g,bH) a.allowed=a.e>0 and m(a,0)==0 a.x=a.e>0 and j or cy(j) if(nil)then
a.count,a.ttl=(nil)(bH,a.now_ms) elseif a.allowed then a.ttl=ac(al(m(a,a.e))) else local m=m(a,a.x)
a.ttl=m and math.max(1,ac(al(m)))or-1 end end local function bY(a) local j=a.f if a.PARTIAL then j=math.min(j,cO(a)) end
a.l=j if a.ALWAYS then bX(a) else aP(a,j) end end local function bB(a) return a.t and a.t.f or a.q and a.f or a.l end
local function bp(a) if not a.allowed then return 0 end return a.PARTIAL and bB(a)or 1 end local function cj(a,w)
local X,cT,R,bc,cc=at(a) return{ 'allowed',bp(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.e, 'remaining',X,
'retry_after_ms',cT, 'next_ms',R, 'reset_ms',bc, 'delay_ms',cc, 'now_ms',a.now_ms, 'shadow',a.q and 1 or 0, 'charged',w,
} end local function cw(ap) local bI={} for O,a in ipairs(ap)do local H,L=a.AS or('COUNTER'):lower(),2 a.i=H
while bI[a.i]do a.i=x('%s-%d',H,L) L=L+1 end bI[a.i]=true end end local function ax(d)
return x('%.0f',az(d,999999999999999)) end local function cL(a) local l=(nil)and(nil)(a)or a.a local aS,q=1000,l%1000
while q>0 do aS,q=q,aS%q end local aD=1000/aS local N=as(A(l,aD),1000)
return x('"%s";q=%s;w=%s',a.i,ax(A(a.limit,aD)),ax(N)) end local function co(aA,ba) if aA.allowed~=ba.allowed then
return not aA.allowed end local m,bb=aA.retry_after_ms,ba.retry_after_ms if m~=bb then return m<0 or(bb>=0 and m>bb) end
return aA.remaining<ba.remaining end local function cl(ap) local bd,bC=ap[1],{} cw(ap) for d,a in ipairs(ap)do
bC[d]=cL(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=at(a) if co(a,bd)then bd=a end end local a=bd local ar={
'X-RateLimit-Limit', x('%.0f',a.e), 'X-RateLimit-Remaining', x('%.0f',a.remaining), } local function aw(Q,ae)
ar[#ar+1]=Q ar[#ar+1]=ae end if a.reset_ms>=0 then aw('X-RateLimit-Reset',x('%.0f',ac(a.now_ms+a.reset_ms))) end
aw('RateLimit-Policy',table.concat(bC,', ')) local cu=a.next_ms>=0 and';t='..ax(ac(a.next_ms))or''
aw('RateLimit',x('"%s";r=%s%s',a.i,ax(a.remaining),cu)) if not a.allowed and a.retry_after_ms>=0 then
aw('Retry-After',x('%.0f',ac(a.retry_after_ms))) end return ar end local function cB(a,w) if a.form=='FULL'then
return cj(a,w) end return{bp(a),a.count,a.ttl,cl({a})} end
aE={z=bT,A=bW,D=bY,u=cd,error_reply=cf,n=D,E=ch,F=ci,r=bq,H=bu,w=cv,I=cB,J=by,p=cF,K=cG,y=bB,M=cN,N=cS,P=cX,Q=cY,U=dc}
end return aE end local ce,bD=pcall(cU,KEYS,ARGV) return ce and bD or h().error_reply(bD)
