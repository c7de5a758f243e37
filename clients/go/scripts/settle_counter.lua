-- RL.SETTLE COUNTER, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local bA,i local ak,B,aQ,eL=string.find,string.format,string.match,string.sub local function cO(ai)
return ai==''and 1000 or ai=='ms'and 1 or ai=='s'and 1000 or ai=='m'and 60000 or ai=='h'and 3600000
or ai=='d'and 86400000 or nil end local function eg(u,f,Q) local ap,au,p=u[f],u[f+1],u[f+2] if not au then
i().u('ARITY') end local a={ h='', F=0, now_ms=0, c=0, n=0, limit=0, o=0, e=1, form=nil, delay=0, d=nil, y=nil,
allowed=false, count=0, ttl=0, s='keep', remaining=0, A=1, } f=f+2
if p=='LINE'and not u[f+1]and Q~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=p,f+1 elseif p then
local ao=u[f+1]or''
local cv=Q==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and u[f+2]=='LINE'and not u[f+3]and#ao<16
if cv and p=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and ak(ao,'^[1-9]%d*$')then
a.form,a.e,f='LINE',ao+0,f+3 elseif cv and p=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and ao~=''then
a.form,a.ID,f='LINE',ao,f+3 else f=i().as(a,u,f,Q) a.e=a.COST or 1 end end local dI=#au<16 and ak(au,'^[1-9]%d*$')
a.limit=dI and au+0 or i().ar('limit',au,0) local G,ai=aQ(ap,'^([1-9]%d*)(%l*)$') local bh=G and#ap<16 and cO(ai)
local m=bh and G*bh if not m or m<1 or m>1e15 then m=i().az(a,ap) end
a.c,a.n,a.o=m,m<9e12 and m*1000 or i().P(m,1000),a.BURST or a.limit return a,f end local function ec(u,Q)
local a,f=eg(u,1,Q) if u[f]then i().ae(a,Q,u[f]) end return a end local function ed(u,Q) if not u[1+1]then
i().u('ARITY') end return ec(u,Q) end local A=redis.call local function ek(a) local cV=A('TIME')
local bV=cV[1]*1000000+cV[2] a.F,a.now_ms=bV,(bV-bV%1000)/1000 end local function eA(a,ac,f,ch,bR) local o=ac[f]
if not o then i().u('KEYS') end a.h,f=o,f+1 if bR then a.x=o elseif ak(o,':reserved',1,true)then i().au(o) end
if ch then f=a.aC and f+2 or i().ax(a,ac,f,o) end return f end local function W(a,ac,ch,bR) ek(a)
if#ac~=eA(a,ac,1,ch,bR)-1 then i().u('KEYS') end end local function eG(h,ei) local d,e,bG,bI,y=aQ(h,ei) if not d then
return nil elseif ak(h,':0%d')then return nil end local V=#bI<17 and bI+0 return#d<16 and d+0 or i().G(d),
#e<16 and e+0 or i().G(e), #bG<16 and bG+0 or i().G(bG), V and V<9e15 and V or i().G(bI), y end local function dK(R)
return R and R-R==0 and R>=1 and R<=1e15 end local function T(d,e) if d-d==0 and e-e==0 and d*e<(2^53)then return d*e
end return i().P(d,e) end local function dq(h) local m,G,q,r,y=eG(h,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$')
if not dK(m)or not G or not q or not r or y~=''then return nil end local U=T(G,m) local an=T(U,1000)
if an-an~=0 or q-q~=0 or r-r~=0 then if i().J(an)or i().J(q)or i().J(r)then return nil end end if U==0 and r~=0 then
return nil end return{c=m,g=U,current=q,previous=r} end local function cA(a) local h=A('GET',a.h) if h then
a.d=dq(h)or i().ad(h,('COUNTER'),'FOREIGN_VALUE') end end local function J(d,e) if d-d==0 and e-e==0 and d+e<(2^53)then
return d+e end return i().S(d,e) end local function K(I,g) local bz=g.current~=0 and 2 or g.previous~=0 and 1 or 0
return J(g.g,g.c*bz) end local function bv(l,s,ad) if l=='keep'then return ad end return l~='delete'and s or nil end
local function cr(o,aw) if not redis.REDIS_VERSION_NUM then return i().ac(o,aw) end local f=A('PEXPIRETIME',o)
return f>=0 and f or nil end local function N(d,e) if d-d==0 and e-e==0 then return d<e end return i().am(d,e) end
local function bO(a,l,s) local ad,bK=a.d,(nil) if l=='keep'and(not ad or not bK)then return nil end
local x=ad and cr(a.h,a.now_ms) if x and x>=(2^53)then x=i().af(i().aa(x)) end if l=='keep'then local C=K(a,ad)
return x and N(x,C)and J(C,5000)or nil end local C=K(a,s) local at=J(C,5000) if not ad then return at elseif not x then
return at end if bK and l=='rebase'then return i().ao(x,K(a,ad),C) elseif N(x,C)then return at
elseif not N(at,x)or(bK and N(J(K(a,ad),5000),x))then return nil end return at end local function aV(m,U,q,r)
return{c=m,g=U,current=q,previous=r} end local function bi(a,D) local aw,m=a.now_ms,a.c local U=aw-aw%m if not D then
return aV(m,U,0,0) elseif D.g==U and D.c==m then return D end return i().at(a,D,U) end local function Z(d,e)
if d-d==0 and e-e==0 then return d>e and d-e or 0 end return i().aw(d,e) end local function cg(a,g) local r=g.previous
return r==0 and 0 or T(r,Z(a.n,a.F-g.g*1000)) end local function ba(c) if c-c~=0 or c>=(2^53)then i().u('INEXACT_REPLY')
end return c end local function aL(d,e) if d-d==0 and e-e==0 then local y=d%e return(d-y)/e,y end return i().N(d,e) end
local function bL(d,e) if d-d==0 and e-e==0 then local y=d%e return y==0 and d/e or(d-y)/e+1 end local aS,y=i().N(d,e)
return y==0 and aS or J(aS,1) end local function cQ(a,g,by) a.Y=g
a.remaining=Z(Z(a.limit,g.current),by==0 and 0 or bL(by,a.n)) end local function cW(a,aT,w)
return w==0 and 0 or Z(a.n,(aL(T(aT,a.n),w))) end local function z(a,j) local aT,g=a.limit-j,a.Y
local q,an=g.current,T(g.g,1000) if aT<0 then return nil elseif N(aT,q)then an=J(J(an,a.n),cW(a,aT,q)) else
an=J(an,cW(a,aT-q,g.previous)) end return bL(Z(an,a.F),1000) end local function aH(R) local y=R%1000
return R<0 and-1 or y==0 and R/1000 or(R-y)/1000+1 end local function eC(a,j) local z=z(a,j==0 and 1 or j)
z=z and aH(ba(z))or-1 return z==0 and 1 or z end local function bJ(a,j) local D,au,ap=a.d,a.limit,a.n local g=bi(a,D)
local q,r=g.current,cg(a,g) local C=T(J(q,j==0 and 1 or j),ap) local bE=not N(T(au,ap),J(C,r)) a.allowed,a.s=bE,'keep'
a.count=ba(r==0 and q or J(q,(aL(r,ap)))) if bE and j>0 then g=aV(a.c,g.g,J(q,j),g.previous) a.s,a.y='charge',g
elseif D and au>0 and(N(a.now_ms,D.g)or D.c~=a.c)then if q~=0 or g.previous~=0 then a.s,a.y='rebase',g end end
if bE then a.ttl=ba(bL(Z(T(K(a,g),1000),a.F),1000000)) else cQ(a,g,r) a.ttl=eC(a,j) end end local function dp(a)
if a.PARTIAL or a.ALWAYS then i().Z(a) else local j=a.e a.A=j bJ(a,j) end if a.SHADOW then i().X(a) end end
local function bP(a,I,D) local g=bi(a,D) cQ(a,g,cg(a,g)) end local function bn(a) local l,z=a.s,z
bP(a,l,l=='keep'and a.d or l~='delete'and a.y or nil) local ay,bH,ag,am,aG=a.remaining,a.o,0,0,0 if not a.allowed then
local j=a.A ag=z(a,a.k or(j==0 and 1 or j))or-1 if a.ag and ag>=0 then ag=math.max(ag,a.ag) end end if ay<bH then
am=z(a,ay+1)or-1 aG=ay+1==bH and am or z(a,bH)or-1 end
if ag-ag~=0 or am-am~=0 or aG-aG~=0 or ag>=(2^53)or aG>=(2^53)then i().u('INEXACT_REPLY') end return ay,ag,am,aG,0 end
local function dM(a,E) local ay,ag,am,aG,dr=bn(a) local ex=a.H and 1 or 0 return B(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().Q(a)or 1)or 0,a.count,a.ttl,a.o,ay,ag,am,aG, dr,a.now_ms,ex,E ) end
local function en(a,E) local aC=a.form if aC=='LINE'then return dM(a,E) elseif aC then return i().ap(a,E) end
return{a.allowed and(a.PARTIAL and i().Q(a)or 1)or 0,a.count,a.ttl} end local function cm(a,l,s,E) local bj
local K,ad,aU=nil,a.d,bv(l,s,a.d) if aU and bO then K=bO(a,l,s) end if K and N(K,a.now_ms)then aU=nil end a.d=aU dp(a)
bj=en(a,E) a.d=ad if not a.al then i().W(a,l,s) end return bj end local function ew(a)
local b,l,s,E=i().an(a,a.RESERVATION),'keep',nil,0 cA(a,'write') a.U=b i().ah(a) local ar=b.b if ar then
l,s=i().av(a,ar,a.ACTUAL) E=a.ACTUAL b.b=nil end a.al=not ar and not a.I local bj=cm(a,l,s,E) i().V(b) return bj end
local function eu(ac,u) local a=ed(u,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ')
local aF,aj=a.RESERVED,a.ACTUAL if aj and a.RESERVATION then W(a,ac,true) return ew(a) end if not aF or not aj then
i().u('SETTLEMENT') end local bl=math.abs(aF-aj) W(a,ac) cA(a,'write') local dl=aj<aF and i().refund or i().aq
local l,s=dl(a,a.AT,bl) return cm(a,l,s,aj) end function i() if not bA then local v={}
v.OVERFLOW='ERR increment or decrement would overflow'
v.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
v.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
v.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
v.ID='ERR invalid ID: expected 1 to 512 bytes'
v.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
v.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
v.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
v.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
v.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
v.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
v.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
v.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
v.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
v.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
v.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
v.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' v.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
v.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
v.ARITY='ERR wrong number of arguments' v.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
v.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
v.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function bs(d,e)
return N(e,d)and e or d end local bB={ __sub=function() return 1 end, }
local bC=setmetatable({(2^24)-1,(2^24)-1,2^15-1},bB) local function cE(c) return bs(c,bC) end local function el(a,D,U)
local m=a.c if N(a.now_ms,D.g)then return aV(m,U,bs(J(D.current,D.previous),a.limit),0) end local aX=aV(m,U,0,0)
local function W(w,cq) if cq>U then aX.current=cE(J(aX.current,w)) elseif cq+m>U then aX.previous=cE(J(aX.previous,w))
end end W(D.current,D.g+D.c) W(D.previous,D.g) return aX end local function cK(g,aa) if not aa or not N(aa,g.g)then
return'current' end return aa+g.c>=g.g and'previous'or nil end local function cM(a,aa,j) local g=bi(a,a.d)
local W=cK(g,aa) local dA=W=='current'and j or 0 local ct=W=='previous'and j or 0 if not aa then ct=Z(j,g.current) end
local q,r=Z(g.current,dA),Z(g.previous,ct) if not N(q,g.current)and not N(r,g.previous)then return'keep'
elseif q==0 and r==0 then return'delete' end return'refund',aV(g.c,g.g,q,r) end local function cu(c) return N(bC,c) end
local function ae(h) error({err=h},0) end local function L(al) ae(v[al]) end local function bY(a,aa,j) local g=bi(a,a.d)
local W=cK(g,aa) if j==0 or not W then return'keep' end local E=aV(g.c,g.g,g.current,g.previous) E[W]=J(E[W],j)
local by=J(T(E.current,a.n),cg(a,E)) if cu(E[W])or N(T(bC,a.n),by)then L('OVERFLOW') end return'charge',E end
local function cR(a,ar,aj) local aF=ar.e or 0 if ar.w<=a.now_ms then return'keep' elseif aj<aF then
return cM(a,ar.m,aF-aj) end return bY(a,ar.m,aj-aF) end local function dx(h,H,eb)
local eH={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local ci=eH[aQ(h,'^(%u):')] if not ci or ci==H then
L(eb) end ae('ERR the key holds a state of '..ci..': use another key for each algorithm') end local function dv(bf)
if type(bf)=='table'then return bf elseif ak(bf,'^%u+ ')then return redis.error_reply(bf) end error(bf,0) end
local function aB(c) if c-c~=0 then return c end local k,w={},0 while c>0 do local ab=c%(2^24) w=w+1 k[w]=ab
c=(c-ab)/(2^24) end return k end local function bb(k) local w=#k while w>0 and k[w]==0 do k[w]=nil w=w-1 end
if w>3 or(w==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,bB) end
return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function cz(d,e) local ck,df=d-d==0,e-e==0
if ck or df then return ck elseif#d~=#e then return#d<#e end for c=#d,1,-1 do if d[c]~=e[c]then return d[c]<e[c] end end
return false end local function dc(d,e) d,e=aB(d),aB(e) local ah,aq={},0 for c=1,math.max(#d,#e)+1 do
local ab=(d[c]or 0)+(e[c]or 0)+aq aq=ab>=(2^24)and 1 or 0 ah[c]=ab-aq*(2^24) end return bb(ah) end
local function ey(d,e) if not cz(e,d)then return 0 end e=aB(e) local bl,bF={},0 for c=1,#d do
local ab=d[c]-(e[c]or 0)-bF bF=ab<0 and 1 or 0 bl[c]=ab+bF*(2^24) end return bb(bl) end local function dR(d,e)
d,e=aB(d),aB(e) local be={} for c=1,#d+#e do be[c]=0 end for c=1,#d do local aq=0 for bS=1,#e do
local ab=be[c+bS-1]+d[c]*e[bS]+aq aq=math.floor(ab/(2^24)) be[c+bS-1]=ab-aq*(2^24) end be[c+#e]=aq end return bb(be) end
local function cl(c) if c-c==0 then return c end local ah=0 for dG=#c,1,-1 do ah=ah*(2^24)+c[dG] end return ah end
local function dt(d,e) local aS=0 while not N(d,e)do local ax=math.max(1,math.floor(cl(d)/cl(e)*(1-2^-45)))
ax=bb(aB(ax)) aS=J(aS,ax) d=Z(d,T(ax,e)) end return aS,d end local function aK(d,e) for f=1,math.min(#d,#e)do
local cX,cY=d:byte(f),e:byte(f) if cX~=cY then return cX<cY end end return#d<#e end local function bo(k)
if#k<=15 or(#k==16 and aK(k,'9007199254740992'))then return k+0 end local bQ=#k%7 local c=bQ>0 and k:sub(1,bQ)+0 or 0
for f=bQ+1,#k,7 do c=J(T(c,10000000),k:sub(f,f+6)+0) end return c end local function ee(k) if#k>1 and k:byte()==48 then
return nil elseif#k<20 or(#k==20 and not aK('18446744073709551615',k))then return bo(k) end end local function dw(o,aw)
local cy=A('PTTL',o) return cy>=0 and aw+cy or nil end local function dQ(x,dT,C) if x-x~=0 then L('INEXACT_STATE') end
local bd=Z(x,Z(dT,C)) bd=N(bd,C)and C or bd return bd~=x and bd or nil end local function bm(h,Y)
if h~='0'and not ak(h,'^[1-9]%d*$')then return nil end return(#h<#Y or(#h==#Y and not aK(Y,h)))and h or nil end
local function cG(al,h,cx) local k=h and bm(h,'9223372036854775807') local c=k and bo(k) if not c or c==0 and cx>0 then
ae(B('ERR invalid %s: expected an integer from %d to 9223372036854775807',al,cx)) elseif c-c~=0 then
ae(B('ERR invalid %s: the Lua library takes integers up to 9007199254740991',al)) end return c end local cj={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aD(aP,H)
return not ak(H,' ',1,true)and ak(aP,' '..H..' ',1,true)~=nil end local function cU(a,p)
return not aD(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',p)or aD((' COST PARTIAL ALWAYS RESERVE RESERVATION '),p)
end local function dH(H,p) local F,V=0,0 local cS,dO=math.min(#H,#p),math.max(#H,#p)
while F<cS and H:byte(F+1)==p:byte(F+1)do F=F+1 end while V<cS-F and H:byte(-1-V)==p:byte(-1-V)do V=V+1 end
return F+V>=2 and dO-F-V<=2 end local function dy(a,Q,H) local aE={} for I,X in ipairs(cj)do
if aD(Q,X[1])and cU(a,X[1])then aE[#aE+1]=X[2] end end for I,aC in ipairs({'FULL','LINE','HEADERS'})do aE[#aE+1]=aC end
for I,p in ipairs(aE)do if dH(H:upper(),aQ(p,'^%u+'))then ae('ERR syntax error: no such option, but there is '..p) end
end local V=table.remove(aE) local eE=table.concat(aE,', ')
ae('ERR syntax error: after limit come '..eE..' or '..V..', each at most once') end local function ep(X,a,Q)
local p,eI=X[1],a.aA if not aD(Q,p)then ae(B('ERR invalid %s: only %s it',p,X[3])) elseif not cU(a,p)then
ae(B('ERR invalid %s: %s takes none',p,('COUNTER'))) elseif a[p]~=nil then
ae(B('ERR syntax error: %s comes at most once',X[2])) end end local function cI(h) local G,ai=aQ(h,'^(%d+)(%l*)$')
local bh=G and cO(ai) local R=bh and bm(G,'18446744073709551615')and G*bh return R and R>=1 and R<=1e15 and R or nil end
local function cH(h,Y) return h and#h>=1 and#h<=Y and h end local db=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bB)
local function eh(p,h,bu) if p=='RESERVE'then local aJ=bu and cI(bu)
return cH(h,128)and aJ and{id=h,ttl=aJ}or L('RESERVE') elseif p=='RESERVATION'then return cH(h,128)or L('RESERVATION')
end if p=='AS'then return h and#h>=1 and#h<=64 and not ak(h,'[^%w._-]')and h or L('AS') elseif p=='AT'then
local k=h and bm(h,'9223372036854775807') return k and bs(bo(k),(aL(db,1000)))or L('AT') end
return cG(p,h,p=='BURST'and 1 or 0) end local function eo(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
L(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
L(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cZ={FULL=true,LINE=true,HEADERS=true}
local function dV(aC,cD) if aC then L(aC==cD and'FORM_TWICE'or'TWO_FORMS') end return cD end local function ef(a,u,f,Q)
while u[f]do local H,X=u[f]:upper(),nil for I,cw in ipairs(cj)do X=cw[1]==H and cw or X end if X then ep(X,a,Q)
if X[2]==H then a[H]=true f=f+1 else a[H]=eh(H,u[f+1],u[f+2]) f=f+(H=='RESERVE'and 3 or 2) end eo(a)
elseif cZ[H]and aD(Q,'form')then a.form=dV(a.form,H) f=f+1 else return f end end return f end
local da={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function eF(a,h) local m=cI(h)
if not m then a.ay=h:upper() m=da[a.ay] if not m then
L(aD((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aD((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
ae(B('ERR invalid window: %s takes no windows of the calendar',('COUNTER'))) end end return m end local function dE(o)
return o:sub(-9)==':reserved'or o:sub(-14)==':reserved:ends' end local function eq(o) if dE(o)then L('RESERVED_KEY') end
end local function ez(a,ac,f,o) local bp,aN=ac[f]or'',ac[f+1] local al=((nil)and(nil)(a)or'')..':reserved'
if(bp~=o..al and bp~='{'..o..'}'..al)or aN~=bp..':ends'then L('KEYS') end a.ak,a.j=bp,aN return f+2 end
local function cn(a) return a.now_ms-a.now_ms%a.c+2*a.c end local function aR(h)
local k=bm(h,'9223372036854775807')or L('FOREIGN_RESERVATION') local c=bo(k) return c-c==0 and c or L('INEXACT_STATE')
end local function aY(h) local j,dg,aZ,cn,aJ=aQ(h,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not j or#aJ>16 or tonumber(aJ)>1e15 or aJ=='0'then L('FOREIGN_RESERVATION') end return{ e=j~=''and aR(j)or nil,
m=aR(dg), a=aR(aZ), w=aR(cn), ttl=aR(aJ), } end local function ev(o,bt) bt=B('%.0f',bt)
local cP=A('ZRANGE',o,bt,bt,'WITHSCORES')[2] return cP and tonumber(cP) end local eJ,aM,bx,eK=4000,1000,1000,2*500
local function cc(b,M) b.i,b.v={},{} for I,t in ipairs(M)do if t.f.e then b.i[#b.i+1]={id=t.id,r=t.f}
elseif t.id~=b.id then b.v[#b.v+1]=t.id end end aM=math.max(0,aM-#b.i-#b.v) table.sort(b.i,function(d,e)
if d.r.m~=e.r.m then return d.r.m<e.r.m end return aK(d.id,e.id) end) b.aB=true end local function et(b)
local F=A('ZRANGE',b.j,'0',B('%.0f',aM),'WITHSCORES') local aO,aN,M,ca={},{},{},false b.q=nil for c=1,#F,2 do
local aZ=tonumber(F[c+1]) if aZ>b.now_ms or#aO==aM then b.q=aZ break end aO[#aO+1],aN[#aN+1]=F[c],aZ end
local az=#aO>0 and A('HMGET',b.h,unpack(aO))or{} for c,P in ipairs(aO)do local O=az[c]and aY(az[c])
if not O or O.a~=aN[c]then return false end M[c]={id=P,f=O} ca=ca or P==b.id end
if b.b and b.b.a<=b.now_ms and not ca then M[#M+1]={id=b.id,f=b.b} end cc(b,M) local bZ=0 for I,n in ipairs(b.i)do
bZ=n.id==b.id and 1 or bZ end local dZ=#b.i+#b.v-bZ b.k=b.p-(b.l and 1 or 0)==dZ and 0 or nil return true end
local function cC(O) return O.e and math.max(O.a+O.ttl,O.w)or O.a end local function es(b) local n,aW,cF={},{},nil
local bD=A('HGETALL',b.h) for c=1,#bD,2 do local P=bD[c] if P~=''then local t={id=P,f=aY(bD[c+1])}
if t.f.a<=b.now_ms then n[#n+1]=t elseif P~=b.id then aW[#aW+1]=t end end end if#n>aM then table.sort(n,function(d,e)
if d.f.a~=e.f.a then return d.f.a<e.f.a end return aK(d.id,e.id) end) for c=#n,aM+1,-1 do local t=table.remove(n,c)
if t.id==b.id then cF=t else aW[#aW+1]=t end end n[#n+1]=cF end b.q,b.k,b.D=nil,0,aW for I,t in ipairs(aW)do
b.q=math.min(b.q or t.f.a,t.f.a) b.k=math.max(b.k,cC(t.f)) end cc(b,n) end local function eB(c) local cf=''
while c-c~=0 do local y c,y=aL(c,10000000) cf=B('%07.0f',y)..cf end return B('%.0f',c)..cf end local function S(c)
if c-c~=0 then return eB(c) end return B('%.0f',c) end local function dd(b,Y) local bw=b.t==1 and A('ZSCORE',b.j,'')
b.aj=bw and true or false b.q=nil if Y>0 then local M=A('HSCAN',b.h,bw and S(-1-tonumber(bw))or'0','COUNT',S(Y))
b.B,b.E,b.D=tonumber(M[1]),not bw,{} for c=1,#M[2],2 do local P=M[2][c] if P~=''and P~=b.id then
b.D[#b.D+1]={id=P,f=aY(M[2][c+1])} elseif P~=''then aY(M[2][c+1]) end end table.sort(b.D,function(d,e)
return aK(d.id,e.id) end) b.z=b.B==0 end if b.b and b.b.a<=b.now_ms then cc(b,{{id=b.id,f=b.b}}) b.k=b.p==1 and 0 or nil
end end local function dN(a,P) local o=a.ak local M=A('HMGET',o,P,'') local b={h=o,j=a.j,id=P,now_ms=a.now_ms,i={},v={}}
b.l=M[1]and aY(M[1])or nil b.b=b.l b.t=M[2]and aR(M[2])or nil b.p=A('HLEN',o)-(b.t and 1 or 0) b.ab=cr(o,b.now_ms)
b.M=A('ZCARD',b.j) b.q=ev(b.j,0) local dX=b.p==b.M and(b.t==0 or b.p==0 and not b.t)
local dz=math.min(b.q or math.huge,b.b and b.b.a or math.huge) b.z=dX and(dz>b.now_ms or et(b)) if not b.z then
local as=b.p+(b.t and 1 or 0) local Y=as<=bx and as or math.min(bx,500) bx=bx-Y if Y==as then b.z,b.E=true,true es(b)
else dd(b,Y) end end return b end local function bU(n,aw) local aA=n.r if aw>=aA.a+aA.ttl then return nil end return{
m=aA.m, a=aA.a+aA.ttl, w=(n.ai or aA.e==0)and aA.w or 0, ttl=aA.ttl, } end local function dC(a) local b=a.U
for I,n in ipairs(b.i)do if n.r.e>0 and b.now_ms<n.r.w then local l,s=cR(a,n.r,0) if l~='keep'then if not a.I then
a.I,a.l=true,a.d end n.ai=true a.d=bv(l,s,a.d) end end end if b.b and b.b.a<=b.now_ms then b.b=nil
for I,n in ipairs(b.i)do if n.id==b.id then b.b=bU(n,b.now_ms) end end end end local function ea(b)
local w,bN,C=b.p-(b.l and 1 or 0)-#b.v,b.q,b.k or 0 for I,n in ipairs(b.i)do local av=n.id~=b.id and bU(n,b.now_ms)
if av then bN=math.min(bN or av.a,av.a) C=math.max(C,av.a) elseif n.id~=b.id then w=w-1 end end return w,bN,C end
local function cp(O) local u={O.e and S(O.e)or''} for c,ao in ipairs({O.m,O.a,O.w,O.ttl})do u[c+1]=S(ao) end
return table.concat(u,':') end local function bk(de,bT) local ah=0 for F=1,#bT,1000 do local ax={unpack(de)}
for c=F,math.min(F+999,#bT)do ax[#ax+1]=bT[c] end ah=ah+A(unpack(ax)) end return ah end local function cd(o,aa)
if aa then A('PEXPIREAT',o,S(aa)) end end local function dh(b) local w,I,C=ea(b) if w==0 and not b.b then
if b.p>0 or b.t then A('UNLINK',b.h) end if b.M>0 then A('UNLINK',b.j) end return end local as,bc,af={},{},{}
local function aI(aP,F,bu) aP[#aP+1]=F aP[#aP+1]=bu end for I,P in ipairs(b.v)do af[#af+1]=P end
for I,t in ipairs(b.D or{})do aI(bc,S(t.f.a),t.id) end for I,n in ipairs(b.i)do local av=n.id~=b.id and bU(n,b.now_ms)
if av then aI(as,n.id,cp(av)) aI(bc,S(av.a),n.id) elseif n.id~=b.id then af[#af+1]=n.id end end if b.b and b.b~=b.l then
aI(as,b.id,cp(b.b)) elseif not b.b and b.l then af[#af+1]=b.id end if b.b then C=math.max(C,cC(b.b))
local dD=not b.l or b.b.a~=b.l.a if b.E or b.aj or b.z and dD then aI(bc,S(b.b.a),b.id) end end local cB=b.z and 0 or 1
if b.t~=cB then aI(as,'',S(cB)) end bk({'HSET',b.h},as) bk({'HDEL',b.h},af) if b.B and b.B>0 then
aI(bc,'-'..S(b.B+1),'') end if b.E and b.M>0 then A('UNLINK',b.j) end bk({'ZADD',b.j},bc) if b.B==0 then af[#af+1]=''
end bk({'ZREM',b.j},af) local x,at,K=b.ab,C+5000,nil local eD=not x and not b.k and b.p>0
if not eD and(not x or x<C or(b.k and x>at))then K=at end cd(b.h,K) if K or b.E and x then cd(b.j,K or x) end end
local function dk(a) local dW=a.PARTIAL and a.A<a.e a.H=a.SHADOW and not a.K and(dW or not a.allowed)
if not a.allowed and(a.H or a.K)then a.allowed=true if not(nil)then local I,I,I,cb=bn(a) a.ttl=aH(cb) end end end
local function em(a) bP(a,'keep',a.d) return a.remaining end local function dU(j) return j==0 and 1 or j end
local function dm(a) local j=a.e bJ(a,0) local l,s=bY(a,nil,j) if j>0 then a.s,a.y=l,s end local aU=bv(a.s,a.y,a.d)
bP(a,a.s,aU) a.allowed=a.o>0 and z(a,0)==0 a.k=a.o>0 and j or dU(j) if(nil)then a.count,a.ttl=(nil)(aU,a.now_ms)
elseif a.allowed then a.ttl=aH(ba(z(a,a.o))) else local z=z(a,a.k) a.ttl=z and math.max(1,aH(ba(z)))or-1 end end
local function dn(a) local j=a.e if a.PARTIAL then j=math.min(j,em(a)) end a.A=j if a.ALWAYS then dm(a) else bJ(a,j) end
end local function co(g) local m,q,r=g.c,g.current,g.previous local G=aL(g.g,m) local dL=G-G~=0 or q-q~=0 or r-r~=0
if dL then G,q,r=S(G),S(q),S(r) return'C:'..S(m)..':'..G..':'..q..':'..r end return B('C:%.0f:%.0f:%.0f:%.0f',m,G,q,r)
end local function dj(a,l,s) local o=a.h if l=='delete'then A('UNLINK',o) return end local K=bO(a,l,s) if l=='keep'then
cd(o,K) elseif K then A('SET',o,co(s),'PXAT',K==0 and'1'or S(K)) else A('SET',o,co(s),'KEEPTTL') end end
local function di(a,l,s) if a.I then s=bv(l,s,a.d) a.d=a.l if not s then l=a.l and'delete'or'keep'
elseif l~='charge'then l='refund' end end dj(a,l,s) end local function cJ(a) return a.K and a.K.e or a.H and a.e or a.A
end local function cs(a) if not a.allowed then return 0 end return a.PARTIAL and cJ(a)or 1 end local function dB(a,E)
local ay,er,am,cb,ds=bn(a) return{ 'allowed',cs(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.o, 'remaining',ay,
'retry_after_ms',er, 'next_ms',am, 'reset_ms',cb, 'delay_ms',ds, 'now_ms',a.now_ms, 'shadow',a.H and 1 or 0,
'charged',E, } end local function dS(bg) local cT={} for I,a in ipairs(bg)do local F,G=a.AS or('COUNTER'):lower(),2
a.x=F while cT[a.x]do a.x=B('%s-%d',F,G) G=G+1 end cT[a.x]=true end end local function br(c)
return B('%.0f',bs(c,999999999999999)) end local function ej(a) local m=(nil)and(nil)(a)or a.c local bM,y=1000,m%1000
while y>0 do bM,y=y,bM%y end local bz=1000/bM local ap=aL(T(m,bz),1000)
return B('"%s";q=%s;w=%s',a.x,br(T(a.limit,bz)),br(ap)) end local function dJ(t,bW) if t.allowed~=bW.allowed then
return not t.allowed end local z,bX=t.retry_after_ms,bW.retry_after_ms if z~=bX then return z<0 or(bX>=0 and z>bX) end
return t.remaining<bW.remaining end local function dF(bg) local ce,cL=bg[1],{} dS(bg) for c,a in ipairs(bg)do
cL[c]=ej(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bn(a) if dJ(a,ce)then ce=a end end local a=ce local az={
'X-RateLimit-Limit', B('%.0f',a.o), 'X-RateLimit-Remaining', B('%.0f',a.remaining), } local function bq(al,ao)
az[#az+1]=al az[#az+1]=ao end if a.reset_ms>=0 then bq('X-RateLimit-Reset',B('%.0f',aH(a.now_ms+a.reset_ms))) end
bq('RateLimit-Policy',table.concat(cL,', ')) local dP=a.next_ms>=0 and';t='..br(aH(a.next_ms))or''
bq('RateLimit',B('"%s";r=%s%s',a.x,br(a.remaining),dP)) if not a.allowed and a.retry_after_ms>=0 then
bq('Retry-After',B('%.0f',aH(a.retry_after_ms))) end return az end local function dY(a,E) if a.form=='FULL'then
return dB(a,E) end return{cs(a),a.count,a.ttl,dF({a})} end
bA={S=dc,V=dh,W=di,X=dk,Z=dn,aa=aB,N=dt,error_reply=dv,ac=dw,u=L,ad=dx,ae=dy,af=bb,ah=dC,J=cu,am=cz,an=dN,ao=dQ,P=dR,ap=dY,aq=bY,ar=cG,G=ee,as=ef,Q=cJ,at=el,refund=cM,au=eq,av=cR,aw=ey,ax=ez,az=eF}
end return bA end local du,cN=pcall(eu,KEYS,ARGV) return du and cN or i().error_reply(cN)
