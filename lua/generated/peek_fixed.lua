-- RL.PEEK FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aD,j local K,m,az,aV=string.find,string.format,string.match,string.sub local function cV(s,e,y)
local U,w,i=s[e],s[e+1],s[e+2] if not w then j().g('ARITY') end local a={ r='', M=0, now_ms=0, b=0, X=0, limit=0, e=0,
f=1, form=nil, delay=0, l=nil, p=nil, allowed=false, count=0, ttl=0, i='keep', remaining=0, o=1, } e=e+2
if i=='LINE'and not s[e+1]and y~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=i,e+1 elseif i then
local u=s[e+1]or''
local bx=y==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and s[e+2]=='LINE'and not s[e+3]and#u<16
if bx and i=='COST'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')~=' ID 'and K(u,'^[1-9]%d*$')then
a.form,a.f,e='LINE',u+0,e+3
elseif bx and i=='ID'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')==' ID 'and u~=''then
a.form,a.ID,e='LINE',u,e+3 else e=j().Q(a,s,e,y) a.f=a.COST or 1 end a.c=a.ANCHOR and a.ANCHOR*1000 end
local aM=#w<16 and K(w,'^[1-9]%d*$') a.limit=aM and w+0 or j().P('limit',w,0) aM=#U<10 and K(U,'^[1-9]%d*$')
local t=aM and U*1000 or j().Y(a,U) a.b,a.X,a.e=t,t<9e12 and t*1000 or j().J(t,1000),a.BURST or a.limit return a,e end
local function cT(s,y) local a,e=cV(s,1,y) if s[e]then j().G(a,y,s[e]) end return a end local ar=redis.call
local function cZ(a) local ap=ar('TIME') local aS=ap[1]*1000000+ap[2] a.M,a.now_ms=aS,(aS-aS%1000)/1000 end
local function bd(a) if a.a or a.c then return j().z(a,(j().x(a))) end local n,t=a.now_ms,a.b local M=(n-n%t)/t
return m(M<2147483648 and':%d'or':%.0f',M) end local function dp(a,I,e,bf,aN) local k=I[e] if bd then
local aU,ae=bd(a),I[e+1] local J=#aU if not ae then j().g('KEYS') elseif aV(k,-J)~=aU then k=ae if aV(k,-J)~=aU then
a.y=true end end a.r,k,e=k,aV(k,1,-J-1),e+2 else if not k then j().g('KEYS') end a.r,e=k,e+1 end if aN then a.k=k
elseif K(k,':reserved',1,true)then j().S(k) end if bf then e=a.y and e+2 or j().U(a,I,e,k) end return e end
local function cX(a,I,bf,aN) cZ(a) if#I~=dp(a,I,1,bf,aN)-1 then j().g('KEYS') elseif a.y then j().F(a) end end
local function cH(a) local k=a.r local f=ar('GET',k) if f then local u=#f<16 and K(f,'^[1-9]%d*$')and f+0 or j().W(f)
local z=redis.REDIS_VERSION_NUM and ar('PEXPIRETIME',k)or j().E(k,a.now_ms)or-1 if z<0 then z=nil elseif z>=(2^53)then
j().g('INEXACT_STATE') end a.l={n=u,j=z} end end local function bV(z,n) if not z then return-2 end
local C=(z>n and z-n or 0)+500 return(C-C%1000)/1000 end local function aG(a,h) local r,n,w=a.l,a.now_ms,a.limit
local E,bH=r and r.n or 0,h==0 and 1 or h local bn=bH<=w and E+bH<=w local as=(bn or E>=w)and h>0
local V=as and E+h or E if V>=(2^53)then j().g('INEXACT_REPLY') end local z=r and not(as and E==0)and r.j or nil
if not z and(r or as)then z=(a.a or a.c)and j().K(a)or n+a.b end a.allowed,a.count,a.ttl,a.i=bn,V,bV(z,n),'keep'
if as or(r and not r.j)then a.i,a.p='charge',{n=V,j=z} end end local function cm(a) if a.PARTIAL or a.ALWAYS then
j().D(a) else local h=a.f a.o=h aG(a,h) end if a.SHADOW then j().A(a) end end local function x(a,h) local w=a.limit
if h>w then return nil elseif a.u+h<=w then return 0 end if a.a or a.c then local D,o=j().x(a) return o-a.now_ms end
return a.b-a.now_ms%a.b end local function aJ(a,D,r) local u,w=r and r.n or 0,a.limit a.u=u>0 and u or 0
a.remaining=a.u<w and w-a.u or 0 end local function at(a) local R,x=a.i,x
aJ(a,R,R=='keep'and a.l or R~='delete'and a.p or nil) local T,aF,N,P,ab=a.remaining,a.e,0,0,0 if not a.allowed then
local h=a.o N=x(a,a.v or(h==0 and 1 or h))or-1 if a.H and N>=0 then N=math.max(N,a.H) end end if T<aF then
P=x(a,T+1)or-1 ab=T+1==aF and P or x(a,aF)or-1 end if N-N~=0 or P-P~=0 or ab-ab~=0 or N>=(2^53)or ab>=(2^53)then
j().g('INEXACT_REPLY') end return T,N,P,ab,0 end local function cF(a,S) local T,N,P,ab,cn=at(a) local dh=a.q and 1 or 0
return m( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and j().w(a)or 1)or 0,a.count,a.ttl,a.e,T,N,P,ab, cn,a.now_ms,dh,S ) end local function db(a,S)
local Y=a.form if Y=='LINE'then return cF(a,S) elseif Y then return j().N(a,S) end
return{a.allowed and(a.PARTIAL and j().w(a)or 1)or 0,a.count,a.ttl} end local function dg(I,s)
local a=cT(s,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cX(a,I) cH(a,'read') cm(a) return db(a,0)
end function j() if not aD then local p={} p.NOT_A_COUNTER='ERR value is not an integer or out of range'
p.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
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
p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
p.ARITY='ERR wrong number of arguments' local function br(a,dj)
return m(':%s:%.0f',a.a and a.a:lower()or m('%.0fms',a.b),dj) end local function cj(ah,bD) if bD<2 then ah=ah-1 end
local cO=(bD+10)%12 local cE=math.floor(ah/4)-math.floor(ah/100)+math.floor(ah/400)
return 365*ah+cE+math.floor((153*cO+2)/5)-719468 end local function au(b) return cj(math.floor(b/12),b%12) end
local function bE(ai) local L=1970*12+math.floor(ai/30.436875)+1 while au(L)>ai do L=L-1 end return L,ai-au(L) end
local function ba(W,L) local e=W.I+L local l=au(e) return(l+math.min(W.B,au(e+1)-l-1))*86400000+W.V end
local function ch(bb,X,n) local ap=X%86400000 local L,ai=bE((X-ap)/86400000) local W={I=L,B=ai,V=ap}
local bo=bE(math.floor(n/86400000))-L local aO=bo-bo%bb local l,o=ba(W,aO),ba(W,aO+bb) if l>n then l,o=ba(W,aO-bb),l end
return l,o,o-l end local function aX(a,n) local ac,X=a.a,a.c if ac=='MONTH'or ac=='YEAR'then
local l,o,J=ch(ac=='YEAR'and 12 or 1,X or 0,n) return math.max(0,l),o,J end X=X or(ac=='WEEK'and 4*86400000)or 0
local J=a.b local bm=(n%J-X%J)%J return math.max(0,n-bm),n-bm+J,J end local function aW(a) if a.a or a.c then
return aX(a,a.now_ms) end local n,t=a.now_ms,a.b local l=n-n%t return l,l+t end local function bI(a) if a.a or a.c then
local D,o=aX(a,a.now_ms) return o end return a.now_ms+a.b end local function H(f) error({err=f},0) end
local function v(O) H(p[O]) end local function cr(am) if type(am)=='table'then return am elseif K(am,'^%u+ ')then
return redis.error_reply(am) end error(am,0) end local function ad(b) if b-b~=0 then return b end local g,F={},0
while b>0 do local G=b%(2^24) F=F+1 g[F]=G b=(b-G)/(2^24) end return g end local bh={ __sub=function() return 1 end, }
local function av(g) local F=#g while F>0 and g[F]==0 do g[F]=nil F=F-1 end
if F>3 or(F==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,bh) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function bF(c,d) c,d=ad(c),ad(d) local al={}
for b=1,#c+#d do al[b]=0 end for b=1,#c do local Q=0 for aQ=1,#d do local G=al[b+aQ-1]+c[b]*d[aQ]+Q
Q=math.floor(G/(2^24)) al[b+aQ-1]=G-Q*(2^24) end al[b+#d]=Q end return av(al) end local function cs(k,n)
local bA=ar('PTTL',k) return bA>=0 and n+bA or nil end local function bq(c,d) for e=1,math.min(#c,#d)do
local bZ,ca=c:byte(e),d:byte(e) if bZ~=ca then return bZ<ca end end return#c<#d end local function aj(f,ak)
if f~='0'and not K(f,'^[1-9]%d*$')then return nil end return(#f<#ak or(#f==#ak and not bq(ak,f)))and f or nil end
local function cu(f,q,cR) local dv={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bg=dv[az(f,'^(%u):')]
if not bg or bg==q then v(cR) end H('ERR the key holds a state of '..bg..': use another key for each algorithm') end
local function ce(c,d) c,d=ad(c),ad(d) local ag,Q={},0 for b=1,math.max(#c,#d)+1 do local G=(c[b]or 0)+(d[b]or 0)+Q
Q=G>=(2^24)and 1 or 0 ag[b]=G-Q*(2^24) end return av(ag) end local function bl(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return ce(c,d) end local function aA(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bF(c,d) end local function aK(g)
if#g<=15 or(#g==16 and bq(g,'9007199254740992'))then return g+0 end local aL=#g%7 local b=aL>0 and g:sub(1,aL)+0 or 0
for e=aL+1,#g,7 do b=bl(aA(b,10000000),g:sub(e,e+6)+0) end return b end local function dt(f)
local di,g=az(f,'^(%-?)(%d+)$') local aR=di=='-' g=g and aj(g,aR and'9223372036854775808'or'9223372036854775807')
if not g or(aR and g=='0')then cu(f,nil,'NOT_A_COUNTER') end local u=aK(g) if u-u~=0 then v('INEXACT_STATE') end
return aR and-u or u end local function bJ(O,f,bz) local g=f and aj(f,'9223372036854775807') local b=g and aK(g)
if not b or b==0 and bz>0 then H(m('ERR invalid %s: expected an integer from %d to 9223372036854775807',O,bz))
elseif b-b~=0 then H(m('ERR invalid %s: the Lua library takes integers up to 9007199254740991',O)) end return b end
local bi={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Z(cG,q)
return not K(q,' ',1,true)and K(cG,' '..q..' ',1,true)~=nil end local function bT(a,i)
return not Z(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',i)or Z((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),i)
end local function cC(q,i) local l,o=0,0 local bQ,cI=math.min(#q,#i),math.max(#q,#i)
while l<bQ and q:byte(l+1)==i:byte(l+1)do l=l+1 end while o<bQ-l and q:byte(-1-o)==i:byte(-1-o)do o=o+1 end
return l+o>=2 and cI-l-o<=2 end local function cv(a,y,q) local aa={} for D,B in ipairs(bi)do
if Z(y,B[1])and bT(a,B[1])then aa[#aa+1]=B[2] end end for D,Y in ipairs({'FULL','LINE','HEADERS'})do aa[#aa+1]=Y end
for D,i in ipairs(aa)do if cC(q:upper(),az(i,'^%u+'))then H('ERR syntax error: no such option, but there is '..i) end
end local o=table.remove(aa) local ds=table.concat(aa,', ')
H('ERR syntax error: after limit come '..ds..' or '..o..', each at most once') end local function dd(B,a,y)
local i,dw=B[1],a.Z if not Z(y,i)then H(m('ERR invalid %s: only %s it',i,B[3])) elseif not bT(a,i)then
H(m('ERR invalid %s: %s takes none',i,('FIXED'))) elseif a[i]~=nil then
H(m('ERR syntax error: %s comes at most once',B[2])) end end
local bj={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bL(f) local M,ac=az(f,'^(%d+)(%l*)$')
local C=M and bj[ac]and aj(M,'18446744073709551615')and M*bj[ac] return C and C>=1 and C<=1e15 and C or nil end
local function bK(f,ak) return f and#f>=1 and#f<=ak and f end local function bB(c,d) local bk,cf=c-c==0,d-d==0
if bk or cf then return bk elseif#c~=#d then return#c<#d end for b=#c,1,-1 do if c[b]~=d[b]then return c[b]<d[b] end end
return false end local function aP(c,d) if c-c==0 and d-d==0 then return c<d end return bB(c,d) end
local function bC(c,d) return aP(d,c)and d or c end local function bp(b) if b-b==0 then return b end local ag=0
for cA=#b,1,-1 do ag=ag*(2^24)+b[cA] end return ag end local function dm(c,d) if not bB(d,c)then return 0 end d=ad(d)
local bs,aE={},0 for b=1,#c do local G=c[b]-(d[b]or 0)-aE aE=G<0 and 1 or 0 bs[b]=G+aE*(2^24) end return av(bs) end
local function dl(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end return dm(c,d) end local function cp(c,d)
local aY=0 while not aP(c,d)do local aC=math.max(1,math.floor(bp(c)/bp(d)*(1-2^-45))) aC=av(ad(aC)) aY=bl(aY,aC)
c=dl(c,aA(aC,d)) end return aY,c end local function aH(c,d) if c-c==0 and d-d==0 then local A=c%d return(c-A)/d,A end
return cp(c,d) end local cd=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bh) local function cW(i,f,bP) if i=='RESERVE'then
local bU=bP and bL(bP) return bK(f,128)and bU and{id=f,ttl=bU}or v('RESERVE') elseif i=='RESERVATION'then
return bK(f,128)or v('RESERVATION') end if i=='ANCHOR'then local g=f and aj(f,'253402300799')
return g and g+0 or v('ANCHOR') end if i=='AS'then return f and#f>=1 and#f<=64 and not K(f,'[^%w._-]')and f or v('AS')
elseif i=='AT'then local g=f and aj(f,'9223372036854775807') return g and bC(aK(g),(aH(cd,1000)))or v('AT') end
return bJ(i,f,i=='BURST'and 1 or 0) end local function dc(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
v(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
v(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cb={FULL=true,LINE=true,HEADERS=true}
local function cM(Y,bG) if Y then v(Y==bG and'FORM_TWICE'or'TWO_FORMS') end return bG end local function cU(a,s,e,y)
while s[e]do local q,B=s[e]:upper(),nil for D,by in ipairs(bi)do B=by[1]==q and by or B end if B then dd(B,a,y)
if B[2]==q then a[q]=true e=e+1 else a[q]=cW(q,s[e+1],s[e+2]) e=e+(q=='RESERVE'and 3 or 2) end dc(a)
elseif cb[q]and Z(y,'form')then a.form=cM(a.form,q) e=e+1 else return e end end return e end
local cc={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function du(a,f) local t=bL(f)
if not t then a.a=f:upper() t=cc[a.a] if not t then
v(Z((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Z((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
H(m('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return t end local function cx(k)
return k:sub(-9)==':reserved'or k:sub(-14)==':reserved:ends' end local function de(k) if cx(k)then v('RESERVED_KEY') end
end local function dr(b) local be='' while b-b~=0 do local A b,A=aH(b,10000000) be=m('%07.0f',A)..be end
return m('%.0f',b)..be end local function dq(b) if b-b~=0 then return dr(b) end return m('%.0f',b) end
local function cN(a) local D,o=aW(a) if a.a or a.c then return br(a,o) end return':'..dq(o/a.b) end local function cg(a)
return bd(a)..' '..cN(a) end local function ct(a) H(m('ERR clock %.0f %s',a.now_ms,cg(a))) end local function bw(a)
local U=a.a and a.a:lower()or m('%.0fms',a.b) return':'..U..(a.c and m(':%.0f',a.c/1000)or'') end
local function dn(a,I,e,k) local aw,bt=I[e]or'',I[e+1] local O=(bw and bw(a)or'')..':reserved'
if(aw~=k..O and aw~='{'..k..'}'..O)or bt~=aw..':ends'then v('KEYS') end a.ab,a.aa=aw,bt return e+2 end
local function af(C) local A=C%1000 return C<0 and-1 or A==0 and C/1000 or(C-A)/1000+1 end local function ci(a)
local cP=a.PARTIAL and a.o<a.f a.q=a.SHADOW and not a.t and(cP or not a.allowed) if not a.allowed and(a.q or a.t)then
a.allowed=true if not true then local D,D,D,aZ=at(a) a.ttl=af(aZ) end end end local function da(a) aJ(a,'keep',a.l)
return a.remaining end local function cB(a,aq) return not aq or not aP(aq,(aW(a))) end local function cS(a,aq,h)
local r=a.l if h==0 or not cB(a,aq)then return'keep' end local E=r and r.n or 0 if E+h+1>=(2^53)then v('INEXACT_REPLY')
end local cz=E~=0 and r.j return'charge',{n=E+h,j=cz or bI(a)} end local function dk(R,V,E) if R=='keep'then return E
end return R~='delete'and V or nil end local function cL(h) return h==0 and 1 or h end local function bW(r,n)
return r and r.n or 0,bV(r and r.j,n) end local function bu(b) if b-b~=0 or b>=(2^53)then v('INEXACT_REPLY') end
return b end local function ck(a) local h=a.f aG(a,0) local R,V=cS(a,nil,h) if h>0 then a.i,a.p=R,V end
local bR=dk(a.i,a.p,a.l) aJ(a,a.i,bR) a.allowed=a.e>0 and x(a,0)==0 a.v=a.e>0 and h or cL(h) if bW then
a.count,a.ttl=bW(bR,a.now_ms) elseif a.allowed then a.ttl=af(bu(x(a,a.e))) else local x=x(a,a.v)
a.ttl=x and math.max(1,af(bu(x)))or-1 end end local function cl(a) local h=a.f if a.PARTIAL then h=math.min(h,da(a)) end
a.o=h if a.ALWAYS then ck(a) else aG(a,h) end end local function bM(a) return a.t and a.t.f or a.q and a.f or a.o end
local function bv(a) if not a.allowed then return 0 end return a.PARTIAL and bM(a)or 1 end local function cw(a,S)
local T,df,P,aZ,co=at(a) return{ 'allowed',bv(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.e, 'remaining',T,
'retry_after_ms',df, 'next_ms',P, 'reset_ms',aZ, 'delay_ms',co, 'now_ms',a.now_ms, 'shadow',a.q and 1 or 0, 'charged',S,
} end local function cK(an) local bS={} for D,a in ipairs(an)do local l,M=a.AS or('FIXED'):lower(),2 a.k=l
while bS[a.k]do a.k=m('%s-%d',l,M) M=M+1 end bS[a.k]=true end end local function bX(a) if a.a or a.c then
return(select(3,aX(a,a.now_ms))) end return a.b end local function ay(b) return m('%.0f',bC(b,999999999999999)) end
local function cY(a) local t=bX and bX(a)or a.b local aI,A=1000,t%1000 while A>0 do aI,A=A,aI%A end local bY=1000/aI
local U=aH(aA(t,bY),1000) return m('"%s";q=%s;w=%s',a.k,ay(aA(a.limit,bY)),ay(U)) end local function cD(aB,ae)
if aB.allowed~=ae.allowed then return not aB.allowed end local x,aT=aB.retry_after_ms,ae.retry_after_ms if x~=aT then
return x<0 or(aT>=0 and x>aT) end return aB.remaining<ae.remaining end local function cy(an) local bc,bN=an[1],{} cK(an)
for b,a in ipairs(an)do bN[b]=cY(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=at(a) if cD(a,bc)then bc=a end end
local a=bc local ao={ 'X-RateLimit-Limit', m('%.0f',a.e), 'X-RateLimit-Remaining', m('%.0f',a.remaining), }
local function ax(O,u) ao[#ao+1]=O ao[#ao+1]=u end if a.reset_ms>=0 then
ax('X-RateLimit-Reset',m('%.0f',af(a.now_ms+a.reset_ms))) end ax('RateLimit-Policy',table.concat(bN,', '))
local cJ=a.next_ms>=0 and';t='..ay(af(a.next_ms))or'' ax('RateLimit',m('"%s";r=%s%s',a.k,ay(a.remaining),cJ))
if not a.allowed and a.retry_after_ms>=0 then ax('Retry-After',m('%.0f',af(a.retry_after_ms))) end return ao end
local function cQ(a,S) if a.form=='FULL'then return cw(a,S) end return{bv(a),a.count,a.ttl,cy({a})} end
aD={z=br,A=ci,D=cl,error_reply=cr,E=cs,g=v,F=ct,G=cv,J=bF,K=bI,N=cQ,P=bJ,Q=cU,w=bM,x=aW,S=de,U=dn,W=dt,Y=du} end
return aD end local cq,bO=pcall(dg,KEYS,ARGV) return cq and bO or j().error_reply(bO)
