-- RL.SETTLE COUNTER, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local by,i local af,B,ba,eK=string.find,string.format,string.match,string.sub local function ef(u,f,Q)
local aj,at,p=u[f],u[f+1],u[f+2] if not at then i().y('ARITY') end local a={ j='', J=0, now_ms=0, c=0, q=0, limit=0,
r=0, f=1, form=nil, delay=0, e=nil, D=nil, allowed=false, count=0, ttl=0, w='keep', remaining=0, F=1, } f=f+2
if p=='LINE'and not u[f+1]and Q~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=p,f+1 elseif p then
local ao=u[f+1]or''
local cv=Q==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and u[f+2]=='LINE'and not u[f+3]and#ao<16
if cv and p=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and af(ao,'^[1-9]%d*$')then
a.form,a.f,f='LINE',ao+0,f+3 elseif cv and p=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and ao~=''then
a.form,a.ID,f='LINE',ao,f+3 else f=i().aw(a,u,f,Q) a.f=a.COST or 1 end end local bP=#at<16 and af(at,'^[1-9]%d*$')
a.limit=bP and at+0 or i().av('limit',at,0) bP=#aj<10 and af(aj,'^[1-9]%d*$') local o=bP and aj*1000 or i().aD(a,aj)
a.c,a.q,a.r=o,o<9e12 and o*1000 or i().V(o,1000),a.BURST or a.limit return a,f end local function eb(u,Q)
local a,f=ef(u,1,Q) if u[f]then i().ai(a,Q,u[f]) end return a end local function ec(u,Q) if not u[1+1]then
i().y('ARITY') end return eb(u,Q) end local A=redis.call local function ej(a) local cU=A('TIME')
local bU=cU[1]*1000000+cU[2] a.J,a.now_ms=bU,(bU-bU%1000)/1000 end local function ez(a,ac,f,cg,bQ) local n=ac[f]
if not n then i().y('KEYS') end a.j,f=n,f+1 if bQ then a.B=n elseif af(n,':reserved',1,true)then i().ay(n) end
if cg then f=a.aG and f+2 or i().aB(a,ac,f,n) end return f end local function W(a,ac,cg,bQ) ej(a)
if#ac~=ez(a,ac,1,cg,bQ)-1 then i().y('KEYS') end end local function eF(h,eh) local d,e,bE,bG,y=ba(h,eh) if not d then
return nil elseif af(h,':0%d')then return nil end local V=#bG<17 and bG+0 return#d<16 and d+0 or i().K(d),
#e<16 and e+0 or i().K(e), #bE<16 and bE+0 or i().K(bE), V and V<9e15 and V or i().K(bG), y end local function dJ(R)
return R and R-R==0 and R>=1 and R<=1e15 end local function T(d,e) if d-d==0 and e-e==0 and d*e<(2^53)then return d*e
end return i().V(d,e) end local function dq(h) local o,N,q,r,y=eF(h,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$')
if not dJ(o)or not N or not q or not r or y~=''then return nil end local U=T(N,o) local an=T(U,1000)
if an-an~=0 or q-q~=0 or r-r~=0 then if i().P(an)or i().P(q)or i().P(r)then return nil end end if U==0 and r~=0 then
return nil end return{c=o,i=U,current=q,previous=r} end local function cA(a) local h=A('GET',a.j) if h then
a.e=dq(h)or i().ah(h,('COUNTER'),'FOREIGN_VALUE') end end local function I(d,e) if d-d==0 and e-e==0 and d+e<(2^53)then
return d+e end return i().X(d,e) end local function J(H,g) local bx=g.current~=0 and 2 or g.previous~=0 and 1 or 0
return I(g.i,g.c*bx) end local function bt(l,s,ad) if l=='keep'then return ad end return l~='delete'and s or nil end
local function cr(n,av) if not redis.REDIS_VERSION_NUM then return i().ag(n,av) end local f=A('PEXPIRETIME',n)
return f>=0 and f or nil end local function M(d,e) if d-d==0 and e-e==0 then return d<e end return i().aq(d,e) end
local function bM(a,l,s) local ad,bI=a.e,(nil) if l=='keep'and(not ad or not bI)then return nil end
local x=ad and cr(a.j,a.now_ms) if x and x>=(2^53)then x=i().aj(i().ae(x)) end if l=='keep'then local C=J(a,ad)
return x and M(x,C)and I(C,5000)or nil end local C=J(a,s) local as=I(C,5000) if not ad then return as elseif not x then
return as end if bI and l=='rebase'then return i().as(x,J(a,ad),C) elseif M(x,C)then return as
elseif not M(as,x)or(bI and M(I(J(a,ad),5000),x))then return nil end return as end local function aT(o,U,q,r)
return{c=o,i=U,current=q,previous=r} end local function bg(a,D) local av,o=a.now_ms,a.c local U=av-av%o if not D then
return aT(o,U,0,0) elseif D.i==U and D.c==o then return D end return i().ax(a,D,U) end local function Z(d,e)
if d-d==0 and e-e==0 then return d>e and d-e or 0 end return i().aA(d,e) end local function cf(a,g) local r=g.previous
return r==0 and 0 or T(r,Z(a.q,a.J-g.i*1000)) end local function aY(c) if c-c~=0 or c>=(2^53)then i().y('INEXACT_REPLY')
end return c end local function aK(d,e) if d-d==0 and e-e==0 then local y=d%e return(d-y)/e,y end return i().U(d,e) end
local function bJ(d,e) if d-d==0 and e-e==0 then local y=d%e return y==0 and d/e or(d-y)/e+1 end local aQ,y=i().U(d,e)
return y==0 and aQ or I(aQ,1) end local function cP(a,g,bw) a.ac=g
a.remaining=Z(Z(a.limit,g.current),bw==0 and 0 or bJ(bw,a.q)) end local function cV(a,aR,w)
return w==0 and 0 or Z(a.q,(aK(T(aR,a.q),w))) end local function z(a,j) local aR,g=a.limit-j,a.ac
local q,an=g.current,T(g.i,1000) if aR<0 then return nil elseif M(aR,q)then an=I(I(an,a.q),cV(a,aR,q)) else
an=I(an,cV(a,aR-q,g.previous)) end return bJ(Z(an,a.J),1000) end local function aG(R) local y=R%1000
return R<0 and-1 or y==0 and R/1000 or(R-y)/1000+1 end local function eB(a,j) local z=z(a,j==0 and 1 or j)
z=z and aG(aY(z))or-1 return z==0 and 1 or z end local function bH(a,j) local D,at,aj=a.e,a.limit,a.q local g=bg(a,D)
local q,r=g.current,cf(a,g) local C=T(I(q,j==0 and 1 or j),aj) local bC=not M(T(at,aj),I(C,r)) a.allowed,a.w=bC,'keep'
a.count=aY(r==0 and q or I(q,(aK(r,aj)))) if bC and j>0 then g=aT(a.c,g.i,I(q,j),g.previous) a.w,a.D='charge',g
elseif D and at>0 and(M(a.now_ms,D.i)or D.c~=a.c)then if q~=0 or g.previous~=0 then a.w,a.D='rebase',g end end
if bC then a.ttl=aY(bJ(Z(T(J(a,g),1000),a.J),1000000)) else cP(a,g,r) a.ttl=eB(a,j) end end local function dp(a)
if a.PARTIAL or a.ALWAYS then i().ad(a) else local j=a.f a.F=j bH(a,j) end if a.SHADOW then i().ab(a) end end
local function bN(a,H,D) local g=bg(a,D) cP(a,g,cf(a,g)) end local function bl(a) local l,z=a.w,z
bN(a,l,l=='keep'and a.e or l~='delete'and a.D or nil) local ax,bF,ah,am,aF=a.remaining,a.r,0,0,0 if not a.allowed then
local j=a.F ah=z(a,a.n or(j==0 and 1 or j))or-1 if a.ak and ah>=0 then ah=math.max(ah,a.ak) end end if ax<bF then
am=z(a,ax+1)or-1 aF=ax+1==bF and am or z(a,bF)or-1 end
if ah-ah~=0 or am-am~=0 or aF-aF~=0 or ah>=(2^53)or aF>=(2^53)then i().y('INEXACT_REPLY') end return ax,ah,am,aF,0 end
local function dL(a,E) local ax,ah,am,aF,dr=bl(a) local ew=a.M and 1 or 0 return B(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().W(a)or 1)or 0,a.count,a.ttl,a.r,ax,ah,am,aF, dr,a.now_ms,ew,E ) end
local function em(a,E) local aB=a.form if aB=='LINE'then return dL(a,E) elseif aB then return i().at(a,E) end
return{a.allowed and(a.PARTIAL and i().W(a)or 1)or 0,a.count,a.ttl} end local function cm(a,l,s,E) local bh
local J,ad,aS=nil,a.e,bt(l,s,a.e) if aS and bM then J=bM(a,l,s) end if J and M(J,a.now_ms)then aS=nil end a.e=aS dp(a)
bh=em(a,E) a.e=ad if not a.ap then i().aa(a,l,s) end return bh end local function ev(a)
local b,l,s,E=i().ar(a,a.RESERVATION),'keep',nil,0 cA(a,'write') a.Y=b i().al(a) local aq=b.b if aq then
l,s=i().az(a,aq,a.ACTUAL) E=a.ACTUAL b.b=nil end a.ap=not aq and not a.N local bh=cm(a,l,s,E) i().Z(b) return bh end
local function et(ac,u) local a=ec(u,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ')
local aE,ak=a.RESERVED,a.ACTUAL if ak and a.RESERVATION then W(a,ac,true) return ev(a) end if not aE or not ak then
i().y('SETTLEMENT') end local bj=math.abs(aE-ak) W(a,ac) cA(a,'write') local dl=ak<aE and i().refund or i().au
local l,s=dl(a,a.AT,bj) return cm(a,l,s,ak) end function i() if not by then local v={}
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
v.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function bq(d,e)
return M(e,d)and e or d end local bz={ __sub=function() return 1 end, }
local bA=setmetatable({(2^24)-1,(2^24)-1,2^15-1},bz) local function cE(c) return bq(c,bA) end local function ek(a,D,U)
local o=a.c if M(a.now_ms,D.i)then return aT(o,U,bq(I(D.current,D.previous),a.limit),0) end local aV=aT(o,U,0,0)
local function W(w,cq) if cq>U then aV.current=cE(I(aV.current,w)) elseif cq+o>U then aV.previous=cE(I(aV.previous,w))
end end W(D.current,D.i+D.c) W(D.previous,D.i) return aV end local function cK(g,aa) if not aa or not M(aa,g.i)then
return'current' end return aa+g.c>=g.i and'previous'or nil end local function cM(a,aa,j) local g=bg(a,a.e)
local W=cK(g,aa) local dA=W=='current'and j or 0 local ct=W=='previous'and j or 0 if not aa then ct=Z(j,g.current) end
local q,r=Z(g.current,dA),Z(g.previous,ct) if not M(q,g.current)and not M(r,g.previous)then return'keep'
elseif q==0 and r==0 then return'delete' end return'refund',aT(g.c,g.i,q,r) end local function cu(c) return M(bA,c) end
local function ae(h) error({err=h},0) end local function K(al) ae(v[al]) end local function bX(a,aa,j) local g=bg(a,a.e)
local W=cK(g,aa) if j==0 or not W then return'keep' end local E=aT(g.c,g.i,g.current,g.previous) E[W]=I(E[W],j)
local bw=I(T(E.current,a.q),cf(a,E)) if cu(E[W])or M(T(bA,a.q),bw)then K('OVERFLOW') end return'charge',E end
local function cQ(a,aq,ak) local aE=aq.f or 0 if aq.A<=a.now_ms then return'keep' elseif ak<aE then
return cM(a,aq.p,aE-ak) end return bX(a,aq.p,ak-aE) end local function dx(h,G,ea)
local eG={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local ch=eG[ba(h,'^(%u):')] if not ch or ch==G then
K(ea) end ae('ERR the key holds a state of '..ch..': use another key for each algorithm') end local function dv(be)
if type(be)=='table'then return be elseif af(be,'^%u+ ')then return redis.error_reply(be) end error(be,0) end
local function aA(c) if c-c~=0 then return c end local k,w={},0 while c>0 do local ab=c%(2^24) w=w+1 k[w]=ab
c=(c-ab)/(2^24) end return k end local function aZ(k) local w=#k while w>0 and k[w]==0 do k[w]=nil w=w-1 end
if w>3 or(w==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,bz) end
return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function cz(d,e) local ck,df=d-d==0,e-e==0
if ck or df then return ck elseif#d~=#e then return#d<#e end for c=#d,1,-1 do if d[c]~=e[c]then return d[c]<e[c] end end
return false end local function dc(d,e) d,e=aA(d),aA(e) local ai,ap={},0 for c=1,math.max(#d,#e)+1 do
local ab=(d[c]or 0)+(e[c]or 0)+ap ap=ab>=(2^24)and 1 or 0 ai[c]=ab-ap*(2^24) end return aZ(ai) end
local function ex(d,e) if not cz(e,d)then return 0 end e=aA(e) local bj,bD={},0 for c=1,#d do
local ab=d[c]-(e[c]or 0)-bD bD=ab<0 and 1 or 0 bj[c]=ab+bD*(2^24) end return aZ(bj) end local function dQ(d,e)
d,e=aA(d),aA(e) local bd={} for c=1,#d+#e do bd[c]=0 end for c=1,#d do local ap=0 for bR=1,#e do
local ab=bd[c+bR-1]+d[c]*e[bR]+ap ap=math.floor(ab/(2^24)) bd[c+bR-1]=ab-ap*(2^24) end bd[c+#e]=ap end return aZ(bd) end
local function cl(c) if c-c==0 then return c end local ai=0 for dG=#c,1,-1 do ai=ai*(2^24)+c[dG] end return ai end
local function dt(d,e) local aQ=0 while not M(d,e)do local aw=math.max(1,math.floor(cl(d)/cl(e)*(1-2^-45)))
aw=aZ(aA(aw)) aQ=I(aQ,aw) d=Z(d,T(aw,e)) end return aQ,d end local function aJ(d,e) for f=1,math.min(#d,#e)do
local cX,cY=d:byte(f),e:byte(f) if cX~=cY then return cX<cY end end return#d<#e end local function bm(k)
if#k<=15 or(#k==16 and aJ(k,'9007199254740992'))then return k+0 end local bO=#k%7 local c=bO>0 and k:sub(1,bO)+0 or 0
for f=bO+1,#k,7 do c=I(T(c,10000000),k:sub(f,f+6)+0) end return c end local function ed(k) if#k>1 and k:byte()==48 then
return nil elseif#k<20 or(#k==20 and not aJ('18446744073709551615',k))then return bm(k) end end local function dw(n,av)
local cy=A('PTTL',n) return cy>=0 and av+cy or nil end local function dP(x,dS,C) if x-x~=0 then K('INEXACT_STATE') end
local bc=Z(x,Z(dS,C)) bc=M(bc,C)and C or bc return bc~=x and bc or nil end local function bk(h,Y)
if h~='0'and not af(h,'^[1-9]%d*$')then return nil end return(#h<#Y or(#h==#Y and not aJ(Y,h)))and h or nil end
local function cG(al,h,cx) local k=h and bk(h,'9223372036854775807') local c=k and bm(k) if not c or c==0 and cx>0 then
ae(B('ERR invalid %s: expected an integer from %d to 9223372036854775807',al,cx)) elseif c-c~=0 then
ae(B('ERR invalid %s: the Lua library takes integers up to 9007199254740991',al)) end return c end local ci={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aC(aO,G)
return not af(G,' ',1,true)and af(aO,' '..G..' ',1,true)~=nil end local function cT(a,p)
return not aC(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',p)or aC((' COST PARTIAL ALWAYS RESERVE RESERVATION '),p)
end local function dH(G,p) local F,V=0,0 local cR,dN=math.min(#G,#p),math.max(#G,#p)
while F<cR and G:byte(F+1)==p:byte(F+1)do F=F+1 end while V<cR-F and G:byte(-1-V)==p:byte(-1-V)do V=V+1 end
return F+V>=2 and dN-F-V<=2 end local function dy(a,Q,G) local aD={} for H,X in ipairs(ci)do
if aC(Q,X[1])and cT(a,X[1])then aD[#aD+1]=X[2] end end for H,aB in ipairs({'FULL','LINE','HEADERS'})do aD[#aD+1]=aB end
for H,p in ipairs(aD)do if dH(G:upper(),ba(p,'^%u+'))then ae('ERR syntax error: no such option, but there is '..p) end
end local V=table.remove(aD) local eD=table.concat(aD,', ')
ae('ERR syntax error: after limit come '..eD..' or '..V..', each at most once') end local function eo(X,a,Q)
local p,eH=X[1],a.aE if not aC(Q,p)then ae(B('ERR invalid %s: only %s it',p,X[3])) elseif not cT(a,p)then
ae(B('ERR invalid %s: %s takes none',p,('COUNTER'))) elseif a[p]~=nil then
ae(B('ERR syntax error: %s comes at most once',X[2])) end end
local cj={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cI(h) local N,cW=ba(h,'^(%d+)(%l*)$')
local R=N and cj[cW]and bk(N,'18446744073709551615')and N*cj[cW] return R and R>=1 and R<=1e15 and R or nil end
local function cH(h,Y) return h and#h>=1 and#h<=Y and h end local db=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bz)
local function eg(p,h,bs) if p=='RESERVE'then local aI=bs and cI(bs)
return cH(h,128)and aI and{id=h,ttl=aI}or K('RESERVE') elseif p=='RESERVATION'then return cH(h,128)or K('RESERVATION')
end if p=='AS'then return h and#h>=1 and#h<=64 and not af(h,'[^%w._-]')and h or K('AS') elseif p=='AT'then
local k=h and bk(h,'9223372036854775807') return k and bq(bm(k),(aK(db,1000)))or K('AT') end
return cG(p,h,p=='BURST'and 1 or 0) end local function en(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
K(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
K(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cZ={FULL=true,LINE=true,HEADERS=true}
local function dU(aB,cD) if aB then K(aB==cD and'FORM_TWICE'or'TWO_FORMS') end return cD end local function ee(a,u,f,Q)
while u[f]do local G,X=u[f]:upper(),nil for H,cw in ipairs(ci)do X=cw[1]==G and cw or X end if X then eo(X,a,Q)
if X[2]==G then a[G]=true f=f+1 else a[G]=eg(G,u[f+1],u[f+2]) f=f+(G=='RESERVE'and 3 or 2) end en(a)
elseif cZ[G]and aC(Q,'form')then a.form=dU(a.form,G) f=f+1 else return f end end return f end
local da={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function eE(a,h) local o=cI(h)
if not o then a.aC=h:upper() o=da[a.aC] if not o then
K(aC((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aC((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
ae(B('ERR invalid window: %s takes no windows of the calendar',('COUNTER'))) end end return o end local function dE(n)
return n:sub(-9)==':reserved'or n:sub(-14)==':reserved:ends' end local function ep(n) if dE(n)then K('RESERVED_KEY') end
end local function ey(a,ac,f,n) local bn,aM=ac[f]or'',ac[f+1] local al=((nil)and(nil)(a)or'')..':reserved'
if(bn~=n..al and bn~='{'..n..'}'..al)or aM~=bn..':ends'then K('KEYS') end a.ao,a.l=bn,aM return f+2 end
local function cn(a) return a.now_ms-a.now_ms%a.c+2*a.c end local function aP(h)
local k=bk(h,'9223372036854775807')or K('FOREIGN_RESERVATION') local c=bm(k) return c-c==0 and c or K('INEXACT_STATE')
end local function aW(h) local j,dg,aX,cn,aI=ba(h,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not j or#aI>16 or tonumber(aI)>1e15 or aI=='0'then K('FOREIGN_RESERVATION') end return{ f=j~=''and aP(j)or nil,
p=aP(dg), a=aP(aX), A=aP(cn), ttl=aP(aI), } end local function eu(n,br) br=B('%.0f',br)
local cO=A('ZRANGE',n,br,br,'WITHSCORES')[2] return cO and tonumber(cO) end local eI,aL,bv,eJ=4000,1000,1000,2*500
local function cb(b,L) b.k,b.z={},{} for H,t in ipairs(L)do if t.g.f then b.k[#b.k+1]={id=t.id,v=t.g}
elseif t.id~=b.id then b.z[#b.z+1]=t.id end end aL=math.max(0,aL-#b.k-#b.z) table.sort(b.k,function(d,e)
if d.v.p~=e.v.p then return d.v.p<e.v.p end return aJ(d.id,e.id) end) b.aF=true end local function es(b)
local F=A('ZRANGE',b.l,'0',B('%.0f',aL),'WITHSCORES') local aN,aM,L,bZ={},{},{},false b.u=nil for c=1,#F,2 do
local aX=tonumber(F[c+1]) if aX>b.now_ms or#aN==aL then b.u=aX break end aN[#aN+1],aM[#aM+1]=F[c],aX end
local ay=#aN>0 and A('HMGET',b.j,unpack(aN))or{} for c,P in ipairs(aN)do local O=ay[c]and aW(ay[c])
if not O or O.a~=aM[c]then return false end L[c]={id=P,g=O} bZ=bZ or P==b.id end
if b.b and b.b.a<=b.now_ms and not bZ then L[#L+1]={id=b.id,g=b.b} end cb(b,L) local bY=0 for H,m in ipairs(b.k)do
bY=m.id==b.id and 1 or bY end local dY=#b.k+#b.z-bY b.n=b.t-(b.o and 1 or 0)==dY and 0 or nil return true end
local function cC(O) return O.f and math.max(O.a+O.ttl,O.A)or O.a end local function er(b) local m,aU,cF={},{},nil
local bB=A('HGETALL',b.j) for c=1,#bB,2 do local P=bB[c] if P~=''then local t={id=P,g=aW(bB[c+1])}
if t.g.a<=b.now_ms then m[#m+1]=t elseif P~=b.id then aU[#aU+1]=t end end end if#m>aL then table.sort(m,function(d,e)
if d.g.a~=e.g.a then return d.g.a<e.g.a end return aJ(d.id,e.id) end) for c=#m,aL+1,-1 do local t=table.remove(m,c)
if t.id==b.id then cF=t else aU[#aU+1]=t end end m[#m+1]=cF end b.u,b.n,b.H=nil,0,aU for H,t in ipairs(aU)do
b.u=math.min(b.u or t.g.a,t.g.a) b.n=math.max(b.n,cC(t.g)) end cb(b,m) end local function eA(c) local ce=''
while c-c~=0 do local y c,y=aK(c,10000000) ce=B('%07.0f',y)..ce end return B('%.0f',c)..ce end local function S(c)
if c-c~=0 then return eA(c) end return B('%.0f',c) end local function dd(b,Y) local bu=b.x==1 and A('ZSCORE',b.l,'')
b.an=bu and true or false b.u=nil if Y>0 then local L=A('HSCAN',b.j,bu and S(-1-tonumber(bu))or'0','COUNT',S(Y))
b.G,b.I,b.H=tonumber(L[1]),not bu,{} for c=1,#L[2],2 do local P=L[2][c] if P~=''and P~=b.id then
b.H[#b.H+1]={id=P,g=aW(L[2][c+1])} elseif P~=''then aW(L[2][c+1]) end end table.sort(b.H,function(d,e)
return aJ(d.id,e.id) end) b.E=b.G==0 end if b.b and b.b.a<=b.now_ms then cb(b,{{id=b.id,g=b.b}}) b.n=b.t==1 and 0 or nil
end end local function dM(a,P) local n=a.ao local L=A('HMGET',n,P,'') local b={j=n,l=a.l,id=P,now_ms=a.now_ms,k={},z={}}
b.o=L[1]and aW(L[1])or nil b.b=b.o b.x=L[2]and aP(L[2])or nil b.t=A('HLEN',n)-(b.x and 1 or 0) b.af=cr(n,b.now_ms)
b.S=A('ZCARD',b.l) b.u=eu(b.l,0) local dW=b.t==b.S and(b.x==0 or b.t==0 and not b.x)
local dz=math.min(b.u or math.huge,b.b and b.b.a or math.huge) b.E=dW and(dz>b.now_ms or es(b)) if not b.E then
local ar=b.t+(b.x and 1 or 0) local Y=ar<=bv and ar or math.min(bv,500) bv=bv-Y if Y==ar then b.E,b.I=true,true er(b)
else dd(b,Y) end end return b end local function bT(m,av) local az=m.v if av>=az.a+az.ttl then return nil end return{
p=az.p, a=az.a+az.ttl, A=(m.am or az.f==0)and az.A or 0, ttl=az.ttl, } end local function dC(a) local b=a.Y
for H,m in ipairs(b.k)do if m.v.f>0 and b.now_ms<m.v.A then local l,s=cQ(a,m.v,0) if l~='keep'then if not a.N then
a.N,a.o=true,a.e end m.am=true a.e=bt(l,s,a.e) end end end if b.b and b.b.a<=b.now_ms then b.b=nil
for H,m in ipairs(b.k)do if m.id==b.id then b.b=bT(m,b.now_ms) end end end end local function dZ(b)
local w,bL,C=b.t-(b.o and 1 or 0)-#b.z,b.u,b.n or 0 for H,m in ipairs(b.k)do local au=m.id~=b.id and bT(m,b.now_ms)
if au then bL=math.min(bL or au.a,au.a) C=math.max(C,au.a) elseif m.id~=b.id then w=w-1 end end return w,bL,C end
local function cp(O) local u={O.f and S(O.f)or''} for c,ao in ipairs({O.p,O.a,O.A,O.ttl})do u[c+1]=S(ao) end
return table.concat(u,':') end local function bi(de,bS) local ai=0 for F=1,#bS,1000 do local aw={unpack(de)}
for c=F,math.min(F+999,#bS)do aw[#aw+1]=bS[c] end ai=ai+A(unpack(aw)) end return ai end local function cc(n,aa)
if aa then A('PEXPIREAT',n,S(aa)) end end local function dh(b) local w,H,C=dZ(b) if w==0 and not b.b then
if b.t>0 or b.x then A('UNLINK',b.j) end if b.S>0 then A('UNLINK',b.l) end return end local ar,bb,ag={},{},{}
local function aH(aO,F,bs) aO[#aO+1]=F aO[#aO+1]=bs end for H,P in ipairs(b.z)do ag[#ag+1]=P end
for H,t in ipairs(b.H or{})do aH(bb,S(t.g.a),t.id) end for H,m in ipairs(b.k)do local au=m.id~=b.id and bT(m,b.now_ms)
if au then aH(ar,m.id,cp(au)) aH(bb,S(au.a),m.id) elseif m.id~=b.id then ag[#ag+1]=m.id end end if b.b and b.b~=b.o then
aH(ar,b.id,cp(b.b)) elseif not b.b and b.o then ag[#ag+1]=b.id end if b.b then C=math.max(C,cC(b.b))
local dD=not b.o or b.b.a~=b.o.a if b.I or b.an or b.E and dD then aH(bb,S(b.b.a),b.id) end end local cB=b.E and 0 or 1
if b.x~=cB then aH(ar,'',S(cB)) end bi({'HSET',b.j},ar) bi({'HDEL',b.j},ag) if b.G and b.G>0 then
aH(bb,'-'..S(b.G+1),'') end if b.I and b.S>0 then A('UNLINK',b.l) end bi({'ZADD',b.l},bb) if b.G==0 then ag[#ag+1]=''
end bi({'ZREM',b.l},ag) local x,as,J=b.af,C+5000,nil local eC=not x and not b.n and b.t>0
if not eC and(not x or x<C or(b.n and x>as))then J=as end cc(b.j,J) if J or b.I and x then cc(b.l,J or x) end end
local function dk(a) local dV=a.PARTIAL and a.F<a.f a.M=a.SHADOW and not a.Q and(dV or not a.allowed)
if not a.allowed and(a.M or a.Q)then a.allowed=true if not(nil)then local H,H,H,ca=bl(a) a.ttl=aG(ca) end end end
local function el(a) bN(a,'keep',a.e) return a.remaining end local function dT(j) return j==0 and 1 or j end
local function dm(a) local j=a.f bH(a,0) local l,s=bX(a,nil,j) if j>0 then a.w,a.D=l,s end local aS=bt(a.w,a.D,a.e)
bN(a,a.w,aS) a.allowed=a.r>0 and z(a,0)==0 a.n=a.r>0 and j or dT(j) if(nil)then a.count,a.ttl=(nil)(aS,a.now_ms)
elseif a.allowed then a.ttl=aG(aY(z(a,a.r))) else local z=z(a,a.n) a.ttl=z and math.max(1,aG(aY(z)))or-1 end end
local function dn(a) local j=a.f if a.PARTIAL then j=math.min(j,el(a)) end a.F=j if a.ALWAYS then dm(a) else bH(a,j) end
end local function co(g) local o,q,r=g.c,g.current,g.previous local N=aK(g.i,o) local dK=N-N~=0 or q-q~=0 or r-r~=0
if dK then N,q,r=S(N),S(q),S(r) return'C:'..S(o)..':'..N..':'..q..':'..r end return B('C:%.0f:%.0f:%.0f:%.0f',o,N,q,r)
end local function dj(a,l,s) local n=a.j if l=='delete'then A('UNLINK',n) return end local J=bM(a,l,s) if l=='keep'then
cc(n,J) elseif J then A('SET',n,co(s),'PXAT',J==0 and'1'or S(J)) else A('SET',n,co(s),'KEEPTTL') end end
local function di(a,l,s) if a.N then s=bt(l,s,a.e) a.e=a.o if not s then l=a.o and'delete'or'keep'
elseif l~='charge'then l='refund' end end dj(a,l,s) end local function cJ(a) return a.Q and a.Q.f or a.M and a.f or a.F
end local function cs(a) if not a.allowed then return 0 end return a.PARTIAL and cJ(a)or 1 end local function dB(a,E)
local ax,eq,am,ca,ds=bl(a) return{ 'allowed',cs(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.r, 'remaining',ax,
'retry_after_ms',eq, 'next_ms',am, 'reset_ms',ca, 'delay_ms',ds, 'now_ms',a.now_ms, 'shadow',a.M and 1 or 0,
'charged',E, } end local function dR(bf) local cS={} for H,a in ipairs(bf)do local F,N=a.AS or('COUNTER'):lower(),2
a.B=F while cS[a.B]do a.B=B('%s-%d',F,N) N=N+1 end cS[a.B]=true end end local function bp(c)
return B('%.0f',bq(c,999999999999999)) end local function ei(a) local o=(nil)and(nil)(a)or a.c local bK,y=1000,o%1000
while y>0 do bK,y=y,bK%y end local bx=1000/bK local aj=aK(T(o,bx),1000)
return B('"%s";q=%s;w=%s',a.B,bp(T(a.limit,bx)),bp(aj)) end local function dI(t,bV) if t.allowed~=bV.allowed then
return not t.allowed end local z,bW=t.retry_after_ms,bV.retry_after_ms if z~=bW then return z<0 or(bW>=0 and z>bW) end
return t.remaining<bV.remaining end local function dF(bf) local cd,cL=bf[1],{} dR(bf) for c,a in ipairs(bf)do
cL[c]=ei(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bl(a) if dI(a,cd)then cd=a end end local a=cd local ay={
'X-RateLimit-Limit', B('%.0f',a.r), 'X-RateLimit-Remaining', B('%.0f',a.remaining), } local function bo(al,ao)
ay[#ay+1]=al ay[#ay+1]=ao end if a.reset_ms>=0 then bo('X-RateLimit-Reset',B('%.0f',aG(a.now_ms+a.reset_ms))) end
bo('RateLimit-Policy',table.concat(cL,', ')) local dO=a.next_ms>=0 and';t='..bp(aG(a.next_ms))or''
bo('RateLimit',B('"%s";r=%s%s',a.B,bp(a.remaining),dO)) if not a.allowed and a.retry_after_ms>=0 then
bo('Retry-After',B('%.0f',aG(a.retry_after_ms))) end return ay end local function dX(a,E) if a.form=='FULL'then
return dB(a,E) end return{cs(a),a.count,a.ttl,dF({a})} end
by={X=dc,Z=dh,aa=di,ab=dk,ad=dn,ae=aA,U=dt,error_reply=dv,ag=dw,y=K,ah=dx,ai=dy,aj=aZ,al=dC,P=cu,aq=cz,ar=dM,as=dP,V=dQ,at=dX,au=bX,av=cG,K=ed,aw=ee,W=cJ,ax=ek,refund=cM,ay=ep,az=cQ,aA=ex,aB=ey,aD=eE}
end return by end local du,cN=pcall(et,KEYS,ARGV) return du and cN or i().error_reply(cN)
