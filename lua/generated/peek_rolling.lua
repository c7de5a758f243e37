-- RL.PEEK ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aX,n local aa,y,aP,ax=string.find,string.format,string.match,string.sub local function cb(O) return O==''and 1000
or O=='ms'and 1 or O=='s'and 1000 or O=='m'and 60000 or O=='h'and 3600000 or O=='d'and 86400000 or nil end
local function dm(x,f,A) local aE,ac,l=x[f],x[f+1],x[f+2] if not ac then n().h('ARITY') end local a={ p='', E=0,
now_ms=0, k=0, N=0, limit=0, e=0, f=1, form=nil, delay=0, j=nil, g=nil, allowed=false, count=0, ttl=0, d='keep',
remaining=0, l=1, } f=f+2 if l=='LINE'and not x[f+1]and A~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=l,f+1 elseif l then local aq=x[f+1]or''
local bO=A==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and x[f+2]=='LINE'and not x[f+3]and#aq<16
if bO and l=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and aa(aq,'^[1-9]%d*$')then
a.form,a.f,f='LINE',aq+0,f+3 elseif bO and l=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and aq~=''then
a.form,a.ID,f='LINE',aq,f+3 else f=n().H(a,x,f,A) a.f=a.COST or 1 end end local cO=#ac<16 and aa(ac,'^[1-9]%d*$')
a.limit=cO and ac+0 or n().G('limit',ac,0) local K,O=aP(aE,'^([1-9]%d*)(%l*)$') local aB=K and#aE<16 and cb(O)
local s=aB and K*aB if not s or s<1 or s>1e15 then s=n().P(a,aE) end
a.k,a.N,a.e=s,s<9e12 and s*1000 or n().q(s,1000),a.BURST or a.limit return a,f end local function dk(x,A)
local a,f=dm(x,1,A) if x[f]then n().z(a,A,x[f]) end return a end local bI=redis.call local function ds(a)
local ci=bI('TIME') local bp=ci[1]*1000000+ci[2] a.E,a.now_ms=bp,(bp-bp%1000)/1000 end local function dE(a,J,f,bz,bj)
local z=J[f] if not z then n().h('KEYS') end a.p,f=z,f+1 if bj then a.i=z elseif aa(z,':reserved',1,true)then n().I(z)
end if bz then f=a.W and f+2 or n().J(a,J,f,z) end return f end local function dp(a,J,bz,bj) ds(a)
if#J~=dE(a,J,1,bz,bj)-1 then n().h('KEYS') end end local bG,ct=string.byte,string.char local function E(c,e)
local b,d,W,Z,aj,ak,P=bG(c,15*e+3,15*e+9) if P>=32 then n().h('INEXACT_STATE') end
return b+256*(d+256*(W+256*(Z+256*(aj+256*(ak+256*P))))) end local function ba(c,k,t) if k==0 or E(c,k-1)<=t then
return k end local ar,aC=0,k while aC>1 do local bh=(aC-aC%2)/2 if E(c,ar+bh)<=t then ar=ar+bh end aC=aC-bh end
return E(c,ar)<=t and ar+1 or ar end local function ah(c,e) local b,d,W,Z,aj,ak,P,cI=bG(c,15*e+10,15*e+17)
return aj+256*(ak+256*(P+256*cI)),b+256*(d+256*(W+256*Z)) end local function dr(a,c) local k=(#c-2)/15
if ax(c,1,2)~='R:'or k%1~=0 or k<1 or k>8192 then return nil end local bg,v,j,i=a.now_ms-a.k,0,0,0
if bg>=0 and E(c,0)<=bg then v=ba(c,k,bg) j,i=ah(c,v-1) local aO,bk=ah(c,k-1) if aO<j or(aO==j and bk<i)then return nil
end end return{b=c,a=k,c=v,hi=j,lo=i} end local function cV(a) local c=bI('GET',a.p) if c then
a.j=dr(a,c)or n().y(c,'ROLLING','FOREIGN_VALUE') end end local function dH(j,i,cM,cU) local q=(j-cM)*(2^32)+(i-cU)
return q<0 and q+(2^32)*(2^32)or q end local function aW(g,e) local j,i=ah(g.b,e) return dH(j,i,g.hi,g.lo) end
local function by(g) return g and g.a>0 and aW(g,g.a-1)or 0 end local function av(e) if e-e~=0 or e>=(2^53)then
n().h('INEXACT_REPLY') end return e end local function cJ(q) local i=q%(2^32) return(q-i)/(2^32),i end
local function aV(j,i,df,dg) j,i=j+df,i+dg if i>=(2^32)then j,i=j+1,i-(2^32) end return j%(2^32),i,j>=(2^32) end
local function aH(b,d) if b-b==0 and d-d==0 then local w=b%d return(b-w)/d,w end return n().x(b,d) end
local function at(b,d) if b-b==0 and d-d==0 and b*d<(2^53)then return b*d end return n().q(b,d) end
local function aU(a,b,d) local s=a.k if b==d then return true elseif s<=4096 or math.abs(b-d)>=s/4096+1 then
return false end return(aH(at(b,4096),s))==(aH(at(d,4096),s)) end local function be(g,Q,bf,w,ao) local c,V,v=g.b,g.a,g.c
local k,bq=Q+(V-w)+1,15*Q+2 local B={b=ax(c,1,bq)..bf,a=k,c=v,hi=g.hi,lo=g.lo} B.t,B.V,B.o='SETRANGE',bq,bf if w<V then
B.o=bf..ax(c,15*w+3) B.b=ax(c,1,bq)..B.o elseif Q==V then B.t='APPEND' end
if V==0 or(v>0 and v*2>=V)or ao or k<V or k>8192 then B.t='SET' end return B end local function aG(t,j,i)
local b,d=t%16777216,j%65536 local W,Z=i%65536,(t-t%16777216)/16777216 local aj,ak,P=(j-d)/65536,(i-W)/65536,Z%65536
return ct( b%256,(b-b%256)/256%256,(b-b%65536)/65536, P%256,(P-P%256)/256,(Z-P)/65536%256,(Z-Z%16777216)/16777216,
W%256,(W-W%256)/256,ak%256,(ak-ak%256)/256, d%256,(d-d%256)/256,aj%256,(aj-aj%256)/256 ) end local function F(a,g,f,q)
local c,k=g.b,g.a local r=ba(c,k,f) local j,i=cJ(q) local M,N,ao,Q=g.hi,g.lo,false,k if k>0 then local aO,bk=ah(c,k-1)
M,N,ao=aV(aO,bk,j,i) if r<k then return n().u(a,g,r,f,j,i,ao) elseif k>g.c then Q=aU(a,E(c,k-1),f)and k-1 or k else
M,N=aV(g.hi,g.lo,j,i) end else M,N=j,i end return be(g,Q,aG(f,M,N),k,ao) end local function aJ(a,U,g) local q=by(g)
a.B,a.M,a.remaining=g,q,q<a.limit and a.limit-q or 0 end local function cf(Y,B,V) if Y=='keep'then return V end
return Y~='delete'and B or nil end local function ag(t) local w=t%1000
return t<0 and-1 or w==0 and t/1000 or(t-w)/1000+1 end local function o(a,h) local bw,g,q=a.limit-h,a.B,a.M if bw<0 then
return nil elseif q<=bw then return 0 end local bo,ad,ab=q-bw,g.c,g.a-1 if aW(g,ad)>=bo then ab=ad
elseif aW(g,ab>0 and ab-1 or 0)<bo then ad=ab end while ad<ab do local bn=(ad+ab-(ad+ab)%2)/2 if aW(g,bn)>=bo then ab=bn
else ad=bn+1 end end local bR=E(g.b,ad)+a.k-a.now_ms return bR>0 and bR or 0 end local function dG(a,h)
local o=o(a,h==0 and 1 or h) o=o and ag(av(o))or-1 return o==0 and 1 or o end local function bb(a,h)
local g,ac=a.j,a.limit local q=by(g) local aF=q+(h==0 and 1 or h)<=ac a.allowed,a.count,a.d=aF,av(q),'keep'
if aF and h>0 then a.d='charge' a.g=F(a,g or{b='R:',a=0,c=0,hi=0,lo=0},a.now_ms,h)
elseif not aF and q>0 and E(g.b,g.a-1)>a.now_ms then a.d,a.g='rebase',n().D(a,g) end aJ(a,a.d,cf(a.d,a.g,g)) if aF then
a.ttl=ag(av(o(a,ac))) else a.ttl=dG(a,h) end end local function cy(a) if a.PARTIAL or a.ALWAYS then n().w(a) else
local h=a.f a.l=h bb(a,h) end if a.SHADOW then n().v(a) end end local function aI(a) local Y,o=a.d,o
aJ(a,Y,Y=='keep'and a.j or Y~='delete'and a.g or nil) local af,aZ,L,T,ap=a.remaining,a.e,0,0,0 if not a.allowed then
local h=a.l L=o(a,a.r or(h==0 and 1 or h))or-1 if a.A and L>=0 then L=math.max(L,a.A) end end if af<aZ then
T=o(a,af+1)or-1 ap=af+1==aZ and T or o(a,aZ)or-1 end if L-L~=0 or T-T~=0 or ap-ap~=0 or L>=(2^53)or ap>=(2^53)then
n().h('INEXACT_REPLY') end return af,L,T,ap,0 end local function cS(a,F) local af,L,T,ap,cz=aI(a)
local dA=a.m and 1 or 0 return y( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and n().s(a)or 1)or 0,a.count,a.ttl,a.e,af,L,T,ap, cz,a.now_ms,dA,F ) end local function du(a,F)
local al=a.form if al=='LINE'then return cS(a,F) elseif al then return n().F(a,F) end
return{a.allowed and(a.PARTIAL and n().s(a)or 1)or 0,a.count,a.ttl} end local function dz(J,x)
local a=dk(x,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') dp(a,J) cV(a,'read') cy(a) return du(a,0)
end function n() if not aX then local p={}
p.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
p.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
p.ID='ERR invalid ID: expected 1 to 512 bytes'
p.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
p.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
p.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
p.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
p.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
p.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
p.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
p.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
p.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
p.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
p.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
p.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
p.OVERFLOW='ERR increment or decrement would overflow'
p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
p.ARITY='ERR wrong number of arguments' p.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
p.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
local function cY(c,cG,dF,bJ,cs,j,i) local bt={} for e=cG,dF-1 do local aQ,aR=bJ,cs if not bJ then aQ,aR=ah(c,e)
aQ,aR=aV(aQ,aR,j,i) end bt[#bt+1]=aG(E(c,e),aQ,aR) end return table.concat(bt) end local function cu(a,g,r,f,j,i,ao)
local c,k,Q,w=g.b,g.a,r,r local M,N,t=g.hi,g.lo,f if r>g.c then M,N=ah(c,r-1) end if r>g.c and aU(a,E(c,r-1),f)then
Q=r-1 elseif aU(a,E(c,r),f)then t,w=E(c,r),r+1 M,N=ah(c,r) end M,N=aV(M,N,j,i) local cR=cY(c,w,k,nil,nil,j,i)
local dJ={b=ax(c,1,15*w+2)..cR,a=k,c=g.c,hi=g.hi,lo=g.lo} return be(dJ,Q,aG(t,M,N),w,ao) end local function cZ(a,g)
local c,ae=g.b,a.now_ms local r=ba(c,g.a,ae) local cQ=r>g.c and aU(a,E(c,r-1),ae) local j,i=ah(c,g.a-1)
return be(g,cQ and r-1 or r,aG(ae,j,i),g.a,false) end local function I(c) error({err=c},0) end local function C(S)
I(p[S]) end local function cE(c,u,di) local dL={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'}
local bA=dL[aP(c,'^(%u):')] if not bA or bA==u then C(di) end
I('ERR the key holds a state of '..bA..': use another key for each algorithm') end local function cD(az)
if type(az)=='table'then return az elseif aa(az,'^%u+ ')then return redis.error_reply(az) end error(az,0) end
local function as(e) if e-e~=0 then return e end local m,G={},0 while e>0 do local H=e%(2^24) G=G+1 m[G]=H
e=(e-H)/(2^24) end return m end local bB={ __sub=function() return 1 end, } local function aK(m) local G=#m
while G>0 and m[G]==0 do m[G]=nil G=G-1 end if G>3 or(G==3 and m[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(m,bB)
end return(m[1]or 0)+(m[2]or 0)*(2^24)+(m[3]or 0)*(2^24)*(2^24) end local function da(b,d) b,d=as(b),as(d) local ay={}
for e=1,#b+#d do ay[e]=0 end for e=1,#b do local X=0 for bm=1,#d do local H=ay[e+bm-1]+b[e]*d[bm]+X
X=math.floor(H/(2^24)) ay[e+bm-1]=H-X*(2^24) end ay[e+#d]=X end return aK(ay) end local function bS(b,d)
local bD,cr=b-b==0,d-d==0 if bD or cr then return bD elseif#b~=#d then return#b<#d end for e=#b,1,-1 do
if b[e]~=d[e]then return b[e]<d[e] end end return false end local function bl(b,d) if b-b==0 and d-d==0 then return b<d
end return bS(b,d) end local function bF(e) if e-e==0 then return e end local au=0 for r=#e,1,-1 do au=au*(2^24)+e[r]
end return au end local function cq(b,d) b,d=as(b),as(d) local au,X={},0 for e=1,math.max(#b,#d)+1 do
local H=(b[e]or 0)+(d[e]or 0)+X X=H>=(2^24)and 1 or 0 au[e]=H-X*(2^24) end return aK(au) end local function bE(b,d)
if b-b==0 and d-d==0 and b+d<(2^53)then return b+d end return cq(b,d) end local function dC(b,d) if not bS(d,b)then
return 0 end d=as(d) local bK,aY={},0 for e=1,#b do local H=b[e]-(d[e]or 0)-aY aY=H<0 and 1 or 0 bK[e]=H+aY*(2^24) end
return aK(bK) end local function dB(b,d) if b-b==0 and d-d==0 then return b>d and b-d or 0 end return dC(b,d) end
local function cB(b,d) local bu=0 while not bl(b,d)do local aT=math.max(1,math.floor(bF(b)/bF(d)*(1-2^-45)))
aT=aK(as(aT)) bu=bE(bu,aT) b=dB(b,at(aT,d)) end return bu,b end local function bH(b,d) for f=1,math.min(#b,#d)do
local cl,cm=b:byte(f),d:byte(f) if cl~=cm then return cl<cm end end return#b<#d end local function bc(c,aw)
if c~='0'and not aa(c,'^[1-9]%d*$')then return nil end return(#c<#aw or(#c==#aw and not bH(aw,c)))and c or nil end
local function bN(m) if#m<=15 or(#m==16 and bH(m,'9007199254740992'))then return m+0 end local bi=#m%7
local e=bi>0 and m:sub(1,bi)+0 or 0 for f=bi+1,#m,7 do e=bE(at(e,10000000),m:sub(f,f+6)+0) end return e end
local function bV(S,c,bQ) local m=c and bc(c,'9223372036854775807') local e=m and bN(m) if not e or e==0 and bQ>0 then
I(y('ERR invalid %s: expected an integer from %d to 9223372036854775807',S,bQ)) elseif e-e~=0 then
I(y('ERR invalid %s: the Lua library takes integers up to 9007199254740991',S)) end return e end local bC={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function am(cT,u)
return not aa(u,' ',1,true)and aa(cT,' '..u..' ',1,true)~=nil end local function ch(a,l)
return not am(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or am((' COST PARTIAL ALWAYS RESERVE RESERVATION '),l)
end local function cN(u,l) local v,R=0,0 local cd,cW=math.min(#u,#l),math.max(#u,#l)
while v<cd and u:byte(v+1)==l:byte(v+1)do v=v+1 end while R<cd-v and u:byte(-1-R)==l:byte(-1-R)do R=R+1 end
return v+R>=2 and cW-v-R<=2 end local function cF(a,A,u) local an={} for U,D in ipairs(bC)do
if am(A,D[1])and ch(a,D[1])then an[#an+1]=D[2] end end for U,al in ipairs({'FULL','LINE','HEADERS'})do an[#an+1]=al end
for U,l in ipairs(an)do if cN(u:upper(),aP(l,'^%u+'))then I('ERR syntax error: no such option, but there is '..l) end
end local R=table.remove(an) local dI=table.concat(an,', ')
I('ERR syntax error: after limit come '..dI..' or '..R..', each at most once') end local function dw(D,a,A)
local l,dM=D[1],a.Q if not am(A,l)then I(y('ERR invalid %s: only %s it',l,D[3])) elseif not ch(a,l)then
I(y('ERR invalid %s: %s takes none',l,('ROLLING'))) elseif a[l]~=nil then
I(y('ERR syntax error: %s comes at most once',D[2])) end end local function bX(c) local K,O=aP(c,'^(%d+)(%l*)$')
local aB=K and cb(O) local t=aB and bc(K,'18446744073709551615')and K*aB return t and t>=1 and t<=1e15 and t or nil end
local function bW(c,aw) return c and#c>=1 and#c<=aw and c end local function bT(b,d) return bl(d,b)and d or b end
local cp=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bB) local function dn(l,c,cc) if l=='RESERVE'then
local cj=cc and bX(cc) return bW(c,128)and cj and{id=c,ttl=cj}or C('RESERVE') elseif l=='RESERVATION'then
return bW(c,128)or C('RESERVATION') end if l=='AS'then
return c and#c>=1 and#c<=64 and not aa(c,'[^%w._-]')and c or C('AS') elseif l=='AT'then
local m=c and bc(c,'9223372036854775807') return m and bT(bN(m),(aH(cp,1000)))or C('AT') end
return bV(l,c,l=='BURST'and 1 or 0) end local function dv(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
C(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
C(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cn={FULL=true,LINE=true,HEADERS=true}
local function dd(al,bU) if al then C(al==bU and'FORM_TWICE'or'TWO_FORMS') end return bU end local function dl(a,x,f,A)
while x[f]do local u,D=x[f]:upper(),nil for U,bP in ipairs(bC)do D=bP[1]==u and bP or D end if D then dw(D,a,A)
if D[2]==u then a[u]=true f=f+1 else a[u]=dn(u,x[f+1],x[f+2]) f=f+(u=='RESERVE'and 3 or 2) end dv(a)
elseif cn[u]and am(A,'form')then a.form=dd(a.form,u) f=f+1 else return f end end return f end
local co={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dK(a,c) local s=bX(c)
if not s then a.K=c:upper() s=co[a.K] if not s then
C(am((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not am((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
I(y('ERR invalid window: %s takes no windows of the calendar',('ROLLING'))) end end return s end local function cK(z)
return z:sub(-9)==':reserved'or z:sub(-14)==':reserved:ends' end local function dx(z) if cK(z)then C('RESERVED_KEY') end
end local function dD(a,J,f,z) local aL,bL=J[f]or'',J[f+1] local S=((nil)and(nil)(a)or'')..':reserved'
if(aL~=z..S and aL~='{'..z..'}'..S)or bL~=aL..':ends'then C('KEYS') end a.U,a.S=aL,bL return f+2 end
local function cv(a) local de=a.PARTIAL and a.l<a.f a.m=a.SHADOW and not a.n and(de or not a.allowed)
if not a.allowed and(a.m or a.n)then a.allowed=true if not(nil)then local U,U,U,bv=aI(a) a.ttl=ag(bv) end end end
local function dt(a) aJ(a,'keep',a.j) return a.remaining end local function dj(a,ai,h) local ae,g=a.now_ms,a.j
ai=ai and bl(ai,ae)and ai or ae if h==0 or(ai<ae and ai<=ae-a.k)then return'keep' end local q=by(g)+h if q>=(2^53)then
C(q>2^63 and'OVERFLOW'or'INEXACT_REPLY') end return'charge',F(a,g or{b='R:',a=0,c=0,hi=0,lo=0},ai,h) end
local function dc(h) return h==0 and 1 or h end local function cw(a) local h=a.f bb(a,0) local Y,B=dj(a,nil,h)
if h>0 then a.d,a.g=Y,B end local ce=cf(a.d,a.g,a.j) aJ(a,a.d,ce) a.allowed=a.e>0 and o(a,0)==0 a.r=a.e>0 and h or dc(h)
if(nil)then a.count,a.ttl=(nil)(ce,a.now_ms) elseif a.allowed then a.ttl=ag(av(o(a,a.e))) else local o=o(a,a.r)
a.ttl=o and math.max(1,ag(av(o)))or-1 end end local function cx(a) local h=a.f if a.PARTIAL then h=math.min(h,dt(a)) end
a.l=h if a.ALWAYS then cw(a) else bb(a,h) end end local function bY(a) return a.n and a.n.f or a.m and a.f or a.l end
local function bM(a) if not a.allowed then return 0 end return a.PARTIAL and bY(a)or 1 end local function cH(a,F)
local af,dy,T,bv,cA=aI(a) return{ 'allowed',bM(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.e, 'remaining',af,
'retry_after_ms',dy, 'next_ms',T, 'reset_ms',bv, 'delay_ms',cA, 'now_ms',a.now_ms, 'shadow',a.m and 1 or 0, 'charged',F,
} end local function db(aA) local cg={} for U,a in ipairs(aA)do local v,K=a.AS or('ROLLING'):lower(),2 a.i=v
while cg[a.i]do a.i=y('%s-%d',v,K) K=K+1 end cg[a.i]=true end end local function aN(e)
return y('%.0f',bT(e,999999999999999)) end local function dq(a) local s=(nil)and(nil)(a)or a.k local bd,w=1000,s%1000
while w>0 do bd,w=w,bd%w end local ck=1000/bd local aE=aH(at(s,ck),1000)
return y('"%s";q=%s;w=%s',a.i,aN(at(a.limit,ck)),aN(aE)) end local function cP(aS,br) if aS.allowed~=br.allowed then
return not aS.allowed end local o,bs=aS.retry_after_ms,br.retry_after_ms if o~=bs then return o<0 or(bs>=0 and o>bs) end
return aS.remaining<br.remaining end local function cL(aA) local bx,bZ=aA[1],{} db(aA) for e,a in ipairs(aA)do
bZ[e]=dq(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aI(a) if cP(a,bx)then bx=a end end local a=bx local aD={
'X-RateLimit-Limit', y('%.0f',a.e), 'X-RateLimit-Remaining', y('%.0f',a.remaining), } local function aM(S,aq)
aD[#aD+1]=S aD[#aD+1]=aq end if a.reset_ms>=0 then aM('X-RateLimit-Reset',y('%.0f',ag(a.now_ms+a.reset_ms))) end
aM('RateLimit-Policy',table.concat(bZ,', ')) local cX=a.next_ms>=0 and';t='..aN(ag(a.next_ms))or''
aM('RateLimit',y('"%s";r=%s%s',a.i,aN(a.remaining),cX)) if not a.allowed and a.retry_after_ms>=0 then
aM('Retry-After',y('%.0f',ag(a.retry_after_ms))) end return aD end local function dh(a,F) if a.form=='FULL'then
return cH(a,F) end return{bM(a),a.count,a.ttl,cL({a})} end
aX={u=cu,v=cv,w=cx,x=cB,error_reply=cD,h=C,y=cE,z=cF,D=cZ,q=da,F=dh,G=bV,H=dl,s=bY,I=dx,J=dD,P=dK} end return aX end
local cC,ca=pcall(dz,KEYS,ARGV) return cC and ca or n().error_reply(ca)
