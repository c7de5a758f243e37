-- RL.SETTLE FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local bt,i local X,q,aT,bP=string.find,string.format,string.match,string.sub local function ee(v,f,J)
local aq,K,o=v[f],v[f+1],v[f+2] if not K then i().t('ARITY') end local a={ l='', as=0, now_ms=0, k=0, aC=0, limit=0,
u=0, e=1, form=nil, delay=0, c=nil, J=nil, allowed=false, count=0, ttl=0, B='keep', remaining=0, G=1, } f=f+2
if o=='LINE'and not v[f+1]and J~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=o,f+1 elseif o then
local s=v[f+1]or''
local cs=J==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and v[f+2]=='LINE'and not v[f+3]and#s<16
if cs and o=='COST'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')~=' ID 'and X(s,'^[1-9]%d*$')then
a.form,a.e,f='LINE',s+0,f+3
elseif cs and o=='ID'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')==' ID 'and s~=''then
a.form,a.ID,f='LINE',s,f+3 else f=i().aw(a,v,f,J) a.e=a.COST or 1 end a.p=a.ANCHOR and a.ANCHOR*1000 end
local bE=#K<16 and X(K,'^[1-9]%d*$') a.limit=bE and K+0 or i().av('limit',K,0) bE=#aq<10 and X(aq,'^[1-9]%d*$')
local E=bE and aq*1000 or i().aD(a,aq) a.k,a.aC,a.u=E,E<9e12 and E*1000 or i().aq(E,1000),a.BURST or a.limit return a,f
end local function eb(v,J) local a,f=ee(v,1,J) if v[f]then i().ag(a,J,v[f]) end return a end local function ec(v,J)
if not v[1+1]then i().t('ARITY') end return eb(v,J) end local z=redis.call local function eh(a) local aZ=z('TIME')
local bK=aZ[1]*1000000+aZ[2] a.as,a.now_ms=bK,(bK-bK%1000)/1000 end local function bX(a) if a.j or a.p then
return i().Y(a,(i().V(a))) end local r,E=a.now_ms,a.k local Z=(r-r%E)/E return q(Z<2147483648 and':%d'or':%.0f',Z) end
local function eA(a,P,f,bZ,bF) local h=P[f] if bX then local aL,aK=bX(a),P[f+1] local U=#aL if not aK then i().t('KEYS')
elseif bP(h,-U)~=aL then h=aK if bP(h,-U)~=aL then a.W=true end end a.l,h,f=h,bP(h,1,-U-1),f+2 else if not h then
i().t('KEYS') end a.l,f=h,f+1 end if bF then a.E=h elseif X(h,':reserved',1,true)then i().ax(h) end if bZ then
f=a.W and f+2 or i().az(a,P,f,h) end return f end local function cJ(a,P,bZ,bF) eh(a) if#P~=eA(a,P,1,bZ,bF)-1 then
i().t('KEYS') elseif a.W then i().af(a) end end local function cx(a) local h=a.l local g=z('GET',h) if g then
local s=#g<16 and X(g,'^[1-9]%d*$')and g+0 or i().aB(g)
local A=redis.REDIS_VERSION_NUM and z('PEXPIRETIME',h)or i().ae(h,a.now_ms)or-1 if A<0 then A=nil elseif A>=(2^53)then
i().t('INEXACT_STATE') end a.c={i=s,f=A} end end local function br(p,t,D) if p=='keep'then return D end
return p~='delete'and t or nil end local function bl(d,e) if d-d==0 and e-e==0 then return d<e end return i().an(d,e)
end local function cR(A,r) if not A then return-2 end local R=(A>r and A-r or 0)+500 return(R-R%1000)/1000 end
local function bx(a,k) local n,r,K=a.c,a.now_ms,a.limit local D,V=n and n.i or 0,k==0 and 1 or k
local ch=V<=K and D+V<=K local bc=(ch or D>=K)and k>0 local t=bc and D+k or D if t>=(2^53)then i().t('INEXACT_REPLY')
end local A=n and not(bc and D==0)and n.f or nil if not A and(n or bc)then A=(a.j or a.p)and i().ar(a)or r+a.k end
a.allowed,a.count,a.ttl,a.B=ch,t,cR(A,r),'keep' if bc or(n and not n.f)then a.B,a.J='charge',{i=t,f=A} end end
local function dr(a) if a.PARTIAL or a.ALWAYS then i().ad(a) else local k=a.e a.G=k bx(a,k) end if a.SHADOW then
i().ab(a) end end local function L(a,k) local K=a.limit if k>K then return nil elseif a.S+k<=K then return 0 end
if a.j or a.p then local y,w=i().V(a) return w-a.now_ms end return a.k-a.now_ms%a.k end local function bC(a,y,n)
local s,K=n and n.i or 0,a.limit a.S=s>0 and s or 0 a.remaining=a.S<K and K-a.S or 0 end local function be(a)
local p,L=a.B,L bC(a,p,p=='keep'and a.c or p~='delete'and a.J or nil) local am,bw,ab,ag,ax=a.remaining,a.u,0,0,0
if not a.allowed then local k=a.G ab=L(a,a.q or(k==0 and 1 or k))or-1 if a.ah and ab>=0 then ab=math.max(ab,a.ah) end
end if am<bw then ag=L(a,am+1)or-1 ax=am+1==bw and ag or L(a,bw)or-1 end
if ab-ab~=0 or ag-ag~=0 or ax-ax~=0 or ab>=(2^53)or ax>=(2^53)then i().t('INEXACT_REPLY') end return am,ab,ag,ax,0 end
local function dM(a,M) local am,ab,ag,ax,ds=be(a) local eu=a.M and 1 or 0 return q(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().U(a)or 1)or 0,a.count,a.ttl,a.u,am,ab,ag,ax, ds,a.now_ms,eu,M ) end
local function ek(a,M) local at=a.form if at=='LINE'then return dM(a,M) elseif at then return i().at(a,M) end
return{a.allowed and(a.PARTIAL and i().U(a)or 1)or 0,a.count,a.ttl} end local function cl(a,p,t,M) local ba
local A,D,aY=nil,a.c,br(p,t,a.c) if A and bl(A,a.now_ms)then aY=nil end a.c=aY dr(a) ba=ek(a,M) a.c=D if not a.am then
i().aa(a,p,t) end return ba end local function et(a) local b,p,t,M=i().ao(a,a.RESERVATION),'keep',nil,0 cx(a,'write')
a.X=b i().ai(a) local aB=b.b if aB then p,t=i().ay(a,aB,a.ACTUAL) M=a.ACTUAL b.b=nil end a.am=not aB and not a.N
local ba=cl(a,p,t,M) i().Z(b) return ba end local function er(P,v)
local a=ec(v,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ') local aw,ad=a.RESERVED,a.ACTUAL
if ad and a.RESERVATION then cJ(a,P,true) return et(a) end if not aw or not ad then i().t('SETTLEMENT') end
local bd=math.abs(aw-ad) cJ(a,P) cx(a,'write') local dl=ad<aw and i().refund or i().au local p,t=dl(a,a.AT,bd)
return cl(a,p,t,ad) end function i() if not bt then local x={}
x.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
x.NOT_A_COUNTER='ERR value is not an integer or out of range'
x.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
x.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
x.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
x.ID='ERR invalid ID: expected 1 to 512 bytes'
x.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
x.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
x.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
x.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
x.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
x.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
x.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
x.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
x.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
x.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
x.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
x.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' x.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
x.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
x.ARITY='ERR wrong number of arguments'
x.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id' local function ck(a,ew)
return q(':%s:%.0f',a.j and a.j:lower()or q('%.0fms',a.k),ew) end local function dn(aO,cB) if cB<2 then aO=aO-1 end
local dU=(cB+10)%12 local dL=math.floor(aO/4)-math.floor(aO/100)+math.floor(aO/400)
return 365*aO+dL+math.floor((153*dU+2)/5)-719468 end local function bf(c) return dn(math.floor(c/12),c%12) end
local function cC(aQ) local Y=1970*12+math.floor(aQ/30.436875)+1 while bf(Y)>aQ do Y=Y-1 end return Y,aQ-bf(Y) end
local function bV(ar,Y) local f=ar.ap+Y local l=bf(f) return(l+math.min(ar.ac,bf(f+1)-l-1))*86400000+ar.aA end
local function df(an,as,r) local aZ=as%86400000 local Y,aQ=cC((as-aZ)/86400000) local ar={ap=Y,ac=aQ,aA=aZ}
local ci=cC(math.floor(r/86400000))-Y local aH=ci-ci%an local l,w=bV(ar,aH),bV(ar,aH+an) if l>r then l,w=bV(ar,aH-an),l
end return l,w,w-l end local function bQ(a,r) local aA,as=a.j,a.p if aA=='MONTH'or aA=='YEAR'then
local l,w,U=df(aA=='YEAR'and 12 or 1,as or 0,r) return math.max(0,l),w,U end as=as or(aA=='WEEK'and 4*86400000)or 0
local U=a.k local cg=(r%U-as%U)%U return math.max(0,r-cg),r-cg+U,U end local function bo(a) if a.j or a.p then
return bQ(a,a.now_ms) end local r,E=a.now_ms,a.k local l=r-r%E return l,l+E end local function bn(a) if a.j or a.p then
local y,w=bQ(a,a.now_ms) return w end return a.now_ms+a.k end local function cr(a,ae)
return not ae or not bl(ae,(bo(a))) end local function ei(a,ae,k) local n=a.c if not n or not cr(a,ae)then return'keep'
end local s=n.i if s>0 and k>0 then s=math.max(0,math.min(s,a.limit)-k) end if s==n.i and n.f then return'keep' end
return'refund',{i=s,f=n.f or bn(a)} end local function T(g) error({err=g},0) end local function C(af) T(x[af]) end
local function bM(a,ae,k) local n=a.c if k==0 or not cr(a,ae)then return'keep' end local D=n and n.i or 0
if D+k+1>=(2^53)then C('INEXACT_REPLY') end local aj=D~=0 and n.f return'charge',{i=D+k,f=aj or bn(a)} end
local function dw(a) local y,w=bo(a) return w end local function cN(a,aB,ad) local n,aw=a.c,aB.e or 0 if aB.D~=dw(a)then
return'keep' elseif ad>=aw then return bM(a,nil,ad-aw) elseif not n or n.i<=0 then return'keep' end
local s=math.max(0,n.i-(aw-ad)) return'refund',{i=s,f=n.f or bn(a)} end local function dx(aW) if type(aW)=='table'then
return aW elseif X(aW,'^%u+ ')then return redis.error_reply(aW) end error(aW,0) end local function cw(d,e)
local ce,dd=d-d==0,e-e==0 if ce or dd then return ce elseif#d~=#e then return#d<#e end for c=#d,1,-1 do
if d[c]~=e[c]then return d[c]<e[c] end end return false end local function aC(c) if c-c~=0 then return c end
local j,F={},0 while c>0 do local S=c%(2^24) F=F+1 j[F]=S c=(c-S)/(2^24) end return j end local cb={ __sub=function()
return 1 end, } local function bg(j) local F=#j while F>0 and j[F]==0 do j[F]=nil F=F-1 end
if F>3 or(F==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,cb) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function cD(d,e) d,e=aC(d),aC(e) local aV={}
for c=1,#d+#e do aV[c]=0 end for c=1,#d do local ah=0 for bG=1,#e do local S=aV[c+bG-1]+d[c]*e[bG]+ah
ah=math.floor(S/(2^24)) aV[c+bG-1]=S-ah*(2^24) end aV[c+#e]=ah end return bg(aV) end local function co(h,r)
local cv=z('PTTL',h) return cv>=0 and r+cv or nil end local function aP(d,e) for f=1,math.min(#d,#e)do
local cV,cW=d:byte(f),e:byte(f) if cV~=cW then return cV<cW end end return#d<#e end local function aD(g,Q)
if g~='0'and not X(g,'^[1-9]%d*$')then return nil end return(#g<#Q or(#g==#Q and not aP(Q,g)))and g or nil end
local function dA(g,B,ea) local eG={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local ca=eG[aT(g,'^(%u):')]
if not ca or ca==B then C(ea) end T('ERR the key holds a state of '..ca..': use another key for each algorithm') end
local function da(d,e) d,e=aC(d),aC(e) local ac,ah={},0 for c=1,math.max(#d,#e)+1 do local S=(d[c]or 0)+(e[c]or 0)+ah
ah=S>=(2^24)and 1 or 0 ac[c]=S-ah*(2^24) end return bg(ac) end local function cf(d,e)
if d-d==0 and e-e==0 and d+e<(2^53)then return d+e end return da(d,e) end local function bm(d,e)
if d-d==0 and e-e==0 and d*e<(2^53)then return d*e end return cD(d,e) end local function bh(j)
if#j<=15 or(#j==16 and aP(j,'9007199254740992'))then return j+0 end local bD=#j%7 local c=bD>0 and j:sub(1,bD)+0 or 0
for f=bD+1,#j,7 do c=cf(bm(c,10000000),j:sub(f,f+6)+0) end return c end local function eE(g)
local ev,j=aT(g,'^(%-?)(%d+)$') local bJ=ev=='-' j=j and aD(j,bJ and'9223372036854775808'or'9223372036854775807')
if not j or(bJ and j=='0')then dA(g,nil,'NOT_A_COUNTER') end local s=bh(j) if s-s~=0 then C('INEXACT_STATE') end
return bJ and-s or s end local function cF(af,g,cu) local j=g and aD(g,'9223372036854775807') local c=j and bh(j)
if not c or c==0 and cu>0 then T(q('ERR invalid %s: expected an integer from %d to 9223372036854775807',af,cu))
elseif c-c~=0 then T(q('ERR invalid %s: the Lua library takes integers up to 9007199254740991',af)) end return c end
local cc={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function au(aI,B)
return not X(B,' ',1,true)and X(aI,' '..B..' ',1,true)~=nil end local function cQ(a,o)
return not au(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',o)or au((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),o)
end local function dJ(B,o) local l,w=0,0 local cO,dO=math.min(#B,#o),math.max(#B,#o)
while l<cO and B:byte(l+1)==o:byte(l+1)do l=l+1 end while w<cO-l and B:byte(-1-w)==o:byte(-1-w)do w=w+1 end
return l+w>=2 and dO-l-w<=2 end local function dB(a,J,B) local av={} for y,O in ipairs(cc)do
if au(J,O[1])and cQ(a,O[1])then av[#av+1]=O[2] end end for y,at in ipairs({'FULL','LINE','HEADERS'})do av[#av+1]=at end
for y,o in ipairs(av)do if dJ(B:upper(),aT(o,'^%u+'))then T('ERR syntax error: no such option, but there is '..o) end
end local w=table.remove(av) local eD=table.concat(av,', ')
T('ERR syntax error: after limit come '..eD..' or '..w..', each at most once') end local function em(O,a,J)
local o,eH=O[1],a.aE if not au(J,o)then T(q('ERR invalid %s: only %s it',o,O[3])) elseif not cQ(a,o)then
T(q('ERR invalid %s: %s takes none',o,('FIXED'))) elseif a[o]~=nil then
T(q('ERR syntax error: %s comes at most once',O[2])) end end
local cd={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cH(g) local Z,aA=aT(g,'^(%d+)(%l*)$')
local R=Z and cd[aA]and aD(Z,'18446744073709551615')and Z*cd[aA] return R and R>=1 and R<=1e15 and R or nil end
local function cG(g,Q) return g and#g>=1 and#g<=Q and g end local function cA(d,e) return bl(e,d)and e or d end
local function cj(c) if c-c==0 then return c end local ac=0 for dI=#c,1,-1 do ac=ac*(2^24)+c[dI] end return ac end
local function ey(d,e) if not cw(e,d)then return 0 end e=aC(e) local bd,bv={},0 for c=1,#d do local S=d[c]-(e[c]or 0)-bv
bv=S<0 and 1 or 0 bd[c]=S+bv*(2^24) end return bg(bd) end local function ex(d,e) if d-d==0 and e-e==0 then
return d>e and d-e or 0 end return ey(d,e) end local function du(d,e) local bR=0 while not bl(d,e)do
local al=math.max(1,math.floor(cj(d)/cj(e)*(1-2^-45))) al=bg(aC(al)) bR=cf(bR,al) d=ex(d,bm(al,e)) end return bR,d end
local function bz(d,e) if d-d==0 and e-e==0 then local N=d%e return(d-N)/e,N end return du(d,e) end
local cZ=setmetatable({(2^24)-1,(2^24)-1,2^16-1},cb) local function ef(o,g,bq) if o=='RESERVE'then
local az=bq and cH(bq) return cG(g,128)and az and{id=g,ttl=az}or C('RESERVE') elseif o=='RESERVATION'then
return cG(g,128)or C('RESERVATION') end if o=='ANCHOR'then local j=g and aD(g,'253402300799')
return j and j+0 or C('ANCHOR') end if o=='AS'then return g and#g>=1 and#g<=64 and not X(g,'[^%w._-]')and g or C('AS')
elseif o=='AT'then local j=g and aD(g,'9223372036854775807') return j and cA(bh(j),(bz(cZ,1000)))or C('AT') end
return cF(o,g,o=='BURST'and 1 or 0) end local function el(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
C(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
C(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cX={FULL=true,LINE=true,HEADERS=true}
local function dS(at,cE) if at then C(at==cE and'FORM_TWICE'or'TWO_FORMS') end return cE end local function ed(a,v,f,J)
while v[f]do local B,O=v[f]:upper(),nil for y,ct in ipairs(cc)do O=ct[1]==B and ct or O end if O then em(O,a,J)
if O[2]==B then a[B]=true f=f+1 else a[B]=ef(B,v[f+1],v[f+2]) f=f+(B=='RESERVE'and 3 or 2) end el(a)
elseif cX[B]and au(J,'form')then a.form=dS(a.form,B) f=f+1 else return f end end return f end
local cY={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function eF(a,g) local E=cH(g)
if not E then a.j=g:upper() E=cY[a.j] if not E then
C(au((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not au((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
T(q('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return E end local function dG(h)
return h:sub(-9)==':reserved'or h:sub(-14)==':reserved:ends' end local function en(h) if dG(h)then C('RESERVED_KEY') end
end local function eB(c) local bY='' while c-c~=0 do local N c,N=bz(c,10000000) bY=q('%07.0f',N)..bY end
return q('%.0f',c)..bY end local function W(c) if c-c~=0 then return eB(c) end return q('%.0f',c) end
local function dT(a) local y,w=bo(a) if a.j or a.p then return ck(a,w) end return':'..W(w/a.k) end local function de(a)
return bX(a)..' '..dT(a) end local function dz(a) T(q('ERR clock %.0f %s',a.now_ms,de(a))) end local function cq(a)
local aq=a.j and a.j:lower()or q('%.0fms',a.k) return':'..aq..(a.p and q(':%.0f',a.p/1000)or'') end
local function ez(a,P,f,h) local bi,aF=P[f]or'',P[f+1] local af=(cq and cq(a)or'')..':reserved'
if(bi~=h..af and bi~='{'..h..'}'..af)or aF~=bi..':ends'then C('KEYS') end a.al,a.o=bi,aF return f+2 end
local function aJ(g) local j=aD(g,'9223372036854775807')or C('FOREIGN_RESERVATION') local c=bh(j)
return c-c==0 and c or C('INEXACT_STATE') end local function aR(g)
local k,dg,aS,dm,az=aT(g,'^(%d*):(%d+):(%d+):(%d+):(%d+)$') if not k or#az>16 or tonumber(az)>1e15 or az=='0'then
C('FOREIGN_RESERVATION') end return{ e=k~=''and aJ(k)or nil, y=aJ(dg), a=aJ(aS), D=aJ(dm), ttl=aJ(az), } end
local function dy(h,r) if not redis.REDIS_VERSION_NUM then return co(h,r) end local f=z('PEXPIRETIME',h)
return f>=0 and f or nil end local function es(h,bp) bp=q('%.0f',bp) local cM=z('ZRANGE',h,bp,bp,'WITHSCORES')[2]
return cM and tonumber(cM) end local eI,aE,bs,eJ=4000,1000,1000,2*500 local function bT(b,G) b.n,b.A={},{}
for y,u in ipairs(G)do if u.g.e then b.n[#b.n+1]={id=u.id,x=u.g} elseif u.id~=b.id then b.A[#b.A+1]=u.id end end
aE=math.max(0,aE-#b.n-#b.A) table.sort(b.n,function(d,e) if d.x.y~=e.x.y then return d.x.y<e.x.y end
return aP(d.id,e.id) end) b.aF=true end local function eq(b) local l=z('ZRANGE',b.o,'0',q('%.0f',aE),'WITHSCORES')
local aG,aF,G,bO={},{},{},false b.w=nil for c=1,#l,2 do local aS=tonumber(l[c+1]) if aS>b.now_ms or#aG==aE then b.w=aS
break end aG[#aG+1],aF[#aF+1]=l[c],aS end local ao=#aG>0 and z('HMGET',b.l,unpack(aG))or{} for c,I in ipairs(aG)do
local H=ao[c]and aR(ao[c]) if not H or H.a~=aF[c]then return false end G[c]={id=I,g=H} bO=bO or I==b.id end
if b.b and b.b.a<=b.now_ms and not bO then G[#G+1]={id=b.id,g=b.b} end bT(b,G) local bN=0 for y,m in ipairs(b.n)do
bN=m.id==b.id and 1 or bN end local dY=#b.n+#b.A-bN b.q=b.v-(b.r and 1 or 0)==dY and 0 or nil return true end
local function cz(H) return H.e and math.max(H.a+H.ttl,H.D)or H.a end local function ep(b) local m,aN,aL={},{},nil
local bu=z('HGETALL',b.l) for c=1,#bu,2 do local I=bu[c] if I~=''then local u={id=I,g=aR(bu[c+1])}
if u.g.a<=b.now_ms then m[#m+1]=u elseif I~=b.id then aN[#aN+1]=u end end end if#m>aE then table.sort(m,function(d,e)
if d.g.a~=e.g.a then return d.g.a<e.g.a end return aP(d.id,e.id) end) for c=#m,aE+1,-1 do local u=table.remove(m,c)
if u.id==b.id then aL=u else aN[#aN+1]=u end end m[#m+1]=aL end b.w,b.q,b.I=nil,0,aN for y,u in ipairs(aN)do
b.w=math.min(b.w or u.g.a,u.g.a) b.q=math.max(b.q,cz(u.g)) end bT(b,m) end local function db(b,Q)
local an=b.z==1 and z('ZSCORE',b.o,'') b.ak=an and true or false b.w=nil if Q>0 then
local G=z('HSCAN',b.l,an and W(-1-tonumber(an))or'0','COUNT',W(Q)) b.H,b.K,b.I=tonumber(G[1]),not an,{}
for c=1,#G[2],2 do local I=G[2][c] if I~=''and I~=b.id then b.I[#b.I+1]={id=I,g=aR(G[2][c+1])} elseif I~=''then
aR(G[2][c+1]) end end table.sort(b.I,function(d,e) return aP(d.id,e.id) end) b.F=b.H==0 end
if b.b and b.b.a<=b.now_ms then bT(b,{{id=b.id,g=b.b}}) b.q=b.v==1 and 0 or nil end end local function dN(a,I)
local h=a.al local G=z('HMGET',h,I,'') local b={l=h,o=a.o,id=I,now_ms=a.now_ms,n={},A={}} b.r=G[1]and aR(G[1])or nil
b.b=b.r b.z=G[2]and aJ(G[2])or nil b.v=z('HLEN',h)-(b.z and 1 or 0) b.f=dy(h,b.now_ms) b.Q=z('ZCARD',b.o) b.w=es(b.o,0)
local dW=b.v==b.Q and(b.z==0 or b.v==0 and not b.z) local dC=math.min(b.w or math.huge,b.b and b.b.a or math.huge)
b.F=dW and(dC>b.now_ms or eq(b)) if not b.F then local ai=b.v+(b.z and 1 or 0) local Q=ai<=bs and ai or math.min(bs,500)
bs=bs-Q if Q==ai then b.F,b.K=true,true ep(b) else db(b,Q) end end return b end local function bI(m,r) local ap=m.x
if r>=ap.a+ap.ttl then return nil end return{ y=ap.y, a=ap.a+ap.ttl, D=(m.aj or ap.e==0)and ap.D or 0, ttl=ap.ttl, } end
local function dE(a) local b=a.X for y,m in ipairs(b.n)do if m.x.e>0 and b.now_ms<m.x.D then local p,t=cN(a,m.x,0)
if p~='keep'then if not a.N then a.N,a.r=true,a.c end m.aj=true a.c=br(p,t,a.c) end end end
if b.b and b.b.a<=b.now_ms then b.b=nil for y,m in ipairs(b.n)do if m.id==b.id then b.b=bI(m,b.now_ms) end end end end
local function dZ(b) local F,bB,V=b.v-(b.r and 1 or 0)-#b.A,b.w,b.q or 0 for y,m in ipairs(b.n)do
local ak=m.id~=b.id and bI(m,b.now_ms) if ak then bB=math.min(bB or ak.a,ak.a) V=math.max(V,ak.a) elseif m.id~=b.id then
F=F-1 end end return F,bB,V end local function cm(H) local v={H.e and W(H.e)or''}
for c,s in ipairs({H.y,H.a,H.D,H.ttl})do v[c+1]=W(s) end return table.concat(v,':') end local function bb(dc,bH)
local ac=0 for l=1,#bH,1000 do local al={unpack(dc)} for c=l,math.min(l+999,#bH)do al[#al+1]=bH[c] end
ac=ac+z(unpack(al)) end return ac end local function bU(h,ae) if ae then z('PEXPIREAT',h,W(ae)) end end
local function di(b) local F,y,V=dZ(b) if F==0 and not b.b then if b.v>0 or b.z then z('UNLINK',b.l) end if b.Q>0 then
z('UNLINK',b.o) end return end local ai,aU,aa={},{},{} local function ay(aI,l,bq) aI[#aI+1]=l aI[#aI+1]=bq end
for y,I in ipairs(b.A)do aa[#aa+1]=I end for y,u in ipairs(b.I or{})do ay(aU,W(u.g.a),u.id) end for y,m in ipairs(b.n)do
local ak=m.id~=b.id and bI(m,b.now_ms) if ak then ay(ai,m.id,cm(ak)) ay(aU,W(ak.a),m.id) elseif m.id~=b.id then
aa[#aa+1]=m.id end end if b.b and b.b~=b.r then ay(ai,b.id,cm(b.b)) elseif not b.b and b.r then aa[#aa+1]=b.id end
if b.b then V=math.max(V,cz(b.b)) local dF=not b.r or b.b.a~=b.r.a if b.K or b.ak or b.F and dF then
ay(aU,W(b.b.a),b.id) end end local cy=b.F and 0 or 1 if b.z~=cy then ay(ai,'',W(cy)) end bb({'HSET',b.l},ai)
bb({'HDEL',b.l},aa) if b.H and b.H>0 then ay(aU,'-'..W(b.H+1),'') end if b.K and b.Q>0 then z('UNLINK',b.o) end
bb({'ZADD',b.o},aU) if b.H==0 then aa[#aa+1]='' end bb({'ZREM',b.o},aa) local aj,aH,A=b.f,V+5000,nil
local eC=not aj and not b.q and b.v>0 if not eC and(not aj or aj<V or(b.q and aj>aH))then A=aH end bU(b.l,A)
if A or b.K and aj then bU(b.o,A or aj) end end local function aM(R) local N=R%1000
return R<0 and-1 or N==0 and R/1000 or(R-N)/1000+1 end local function dk(a) local dV=a.PARTIAL and a.G<a.e
a.M=a.SHADOW and not a.P and(dV or not a.allowed) if not a.allowed and(a.M or a.P)then a.allowed=true if not true then
local y,y,y,bS=be(a) a.ttl=aM(bS) end end end local function ej(a) bC(a,'keep',a.c) return a.remaining end
local function dR(k) return k==0 and 1 or k end local function cS(n,r) return n and n.i or 0,cR(n and n.f,r) end
local function cn(c) if c-c~=0 or c>=(2^53)then C('INEXACT_REPLY') end return c end local function dp(a) local k=a.e
bx(a,0) local p,t=bM(a,nil,k) if k>0 then a.B,a.J=p,t end local aY=br(a.B,a.J,a.c) bC(a,a.B,aY)
a.allowed=a.u>0 and L(a,0)==0 a.q=a.u>0 and k or dR(k) if cS then a.count,a.ttl=cS(aY,a.now_ms) elseif a.allowed then
a.ttl=aM(cn(L(a,a.u))) else local L=L(a,a.q) a.ttl=L and math.max(1,aM(cn(L)))or-1 end end local function dq(a)
local k=a.e if a.PARTIAL then k=math.min(k,ej(a)) end a.G=k if a.ALWAYS then dp(a) else bx(a,k) end end
local function dh(a,p,t) local h,D=a.l,a.c if p=='delete'then z('UNLINK',h) elseif p~='keep'then
local by=t.i-(D and D.i or 0) if by~=0 then z('INCRBY',h,by==1 and'1'or q('%.0f',by)) end if not D or t.f~=D.f then
bU(h,t.f) end end end local function dj(a,p,t) if a.N then t=br(p,t,a.c) a.c=a.r if not t then p=a.r and'delete'or'keep'
elseif p~='charge'then p='refund' end end dh(a,p,t) end local function cI(a) return a.P and a.P.e or a.M and a.e or a.G
end local function cp(a) if not a.allowed then return 0 end return a.PARTIAL and cI(a)or 1 end local function dD(a,M)
local am,eo,ag,bS,dt=be(a) return{ 'allowed',cp(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.u, 'remaining',am,
'retry_after_ms',eo, 'next_ms',ag, 'reset_ms',bS, 'delay_ms',dt, 'now_ms',a.now_ms, 'shadow',a.M and 1 or 0,
'charged',M, } end local function dQ(aX) local cP={} for y,a in ipairs(aX)do local l,Z=a.AS or('FIXED'):lower(),2 a.E=l
while cP[a.E]do a.E=q('%s-%d',l,Z) Z=Z+1 end cP[a.E]=true end end local function cT(a) if a.j or a.p then
return(select(3,bQ(a,a.now_ms))) end return a.k end local function bk(c) return q('%.0f',cA(c,999999999999999)) end
local function eg(a) local E=cT and cT(a)or a.k local bA,N=1000,E%1000 while N>0 do bA,N=N,bA%N end local cU=1000/bA
local aq=bz(bm(E,cU),1000) return q('"%s";q=%s;w=%s',a.E,bk(bm(a.limit,cU)),bk(aq)) end local function dK(u,aK)
if u.allowed~=aK.allowed then return not u.allowed end local L,bL=u.retry_after_ms,aK.retry_after_ms if L~=bL then
return L<0 or(bL>=0 and L>bL) end return u.remaining<aK.remaining end local function dH(aX) local bW,cK=aX[1],{} dQ(aX)
for c,a in ipairs(aX)do cK[c]=eg(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=be(a) if dK(a,bW)then bW=a end end
local a=bW local ao={ 'X-RateLimit-Limit', q('%.0f',a.u), 'X-RateLimit-Remaining', q('%.0f',a.remaining), }
local function bj(af,s) ao[#ao+1]=af ao[#ao+1]=s end if a.reset_ms>=0 then
bj('X-RateLimit-Reset',q('%.0f',aM(a.now_ms+a.reset_ms))) end bj('RateLimit-Policy',table.concat(cK,', '))
local dP=a.next_ms>=0 and';t='..bk(aM(a.next_ms))or'' bj('RateLimit',q('"%s";r=%s%s',a.E,bk(a.remaining),dP))
if not a.allowed and a.retry_after_ms>=0 then bj('Retry-After',q('%.0f',aM(a.retry_after_ms))) end return ao end
local function dX(a,M) if a.form=='FULL'then return dD(a,M) end return{cp(a),a.count,a.ttl,dH({a})} end
bt={Y=ck,Z=di,aa=dj,ab=dk,ad=dq,error_reply=dx,ae=co,t=C,af=dz,ag=dB,ai=dE,an=cw,ao=dN,aq=cD,ar=bn,at=dX,au=bM,av=cF,aw=ed,U=cI,V=bo,refund=ei,ax=en,ay=cN,az=ez,aB=eE,aD=eF}
end return bt end local dv,cL=pcall(er,KEYS,ARGV) return dv and cL or i().error_reply(cL)
