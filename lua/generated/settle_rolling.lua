-- RL.SETTLE ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local bX,o local an,F,bP,bi=string.find,string.format,string.match,string.sub local function eR(y,h,T)
local bn,az,s=y[h],y[h+1],y[h+2] if not az then o().v('ARITY') end local a={ l='', ar=0, now_ms=0, y=0, aA=0, limit=0,
u=0, g=1, form=nil, delay=0, e=nil, D=nil, allowed=false, count=0, ttl=0, t='keep', remaining=0, H=1, } h=h+2
if s=='LINE'and not y[h+1]and T~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,h=s,h+1 elseif s then
local as=y[h+1]or''
local dc=T==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and y[h+2]=='LINE'and not y[h+3]and#as<16
if dc and s=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and an(as,'^[1-9]%d*$')then
a.form,a.g,h='LINE',as+0,h+3 elseif dc and s=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and as~=''then
a.form,a.ID,h='LINE',as,h+3 else h=o().av(a,y,h,T) a.g=a.COST or 1 end end local cm=#az<16 and an(az,'^[1-9]%d*$')
a.limit=cm and az+0 or o().au('limit',az,0) cm=#bn<10 and an(bn,'^[1-9]%d*$') local I=cm and bn*1000 or o().aB(a,bn)
a.y,a.aA,a.u=I,I<9e12 and I*1000 or o().U(I,1000),a.BURST or a.limit return a,h end local function eO(y,T)
local a,h=eR(y,1,T) if y[h]then o().ah(a,T,y[h]) end return a end local function eP(y,T) if not y[1+1]then
o().v('ARITY') end return eO(y,T) end local A=redis.call local function eU(a) local dC=A('TIME')
local cw=dC[1]*1000000+dC[2] a.ar,a.now_ms=cw,(cw-cw%1000)/1000 end local function fm(a,ac,h,cM,cn) local n=ac[h]
if not n then o().v('KEYS') end a.l,h=n,h+1 if cn then a.E=n elseif an(n,':reserved',1,true)then o().aw(n) end
if cM then h=a.aE and h+2 or o().ay(a,ac,h,n) end return h end local function ds(a,ac,cM,cn) eU(a)
if#ac~=fm(a,ac,1,cM,cn)-1 then o().v('KEYS') end end local cU,dQ=string.byte,string.char local function S(d,c)
local f,g,at,aw,aJ,aK,ao=cU(d,15*c+3,15*c+9) if ao>=32 then o().v('INEXACT_STATE') end
return f+256*(g+256*(at+256*(aw+256*(aJ+256*(aK+256*ao))))) end local function bE(d,r,H) if r==0 or S(d,r-1)<=H then
return r end local aY,bx=0,r while bx>1 do local ci=(bx-bx%2)/2 if S(d,aY+ci)<=H then aY=aY+ci end bx=bx-ci end
return S(d,aY)<=H and aY+1 or aY end local function cj(x) local j=x%(2^32) return(x-j)/(2^32),j end
local function ag(d,c) local f,g,at,aw,aJ,aK,ao,en=cU(d,15*c+10,15*c+17)
return aJ+256*(aK+256*(ao+256*en)),f+256*(g+256*(at+256*aw)) end local function bk(l,j,eI,eJ) l,j=l+eI,j+eJ
if j>=(2^32)then l,j=l+1,j-(2^32) end return l%(2^32),j,l>=(2^32) end local function br(f,g) if f-f==0 and g-g==0 then
local C=f%g return(f-C)/g,C end return o().ae(f,g) end local function bg(f,g) if f-f==0 and g-g==0 and f*g<(2^53)then
return f*g end return o().U(f,g) end local function aU(a,f,g) local I=a.y if f==g then return true
elseif I<=4096 or math.abs(f-g)>=I/4096+1 then return false end return(br(bg(f,4096),I))==(br(bg(g,4096),I)) end
local function cf(e,ap,U,C,aR) local d,L,v=e.i,e.a,e.f local r,cx=ap+(L-C)+1,15*ap+2
local i={i=bi(d,1,cx)..U,a=r,f=v,hi=e.hi,lo=e.lo} i.write,i.V,i.F='SETRANGE',cx,U if C<L then i.F=U..bi(d,15*C+3)
i.i=bi(d,1,cx)..i.F elseif ap==L then i.write='APPEND' end if L==0 or(v>0 and v*2>=L)or aR or r<L or r>8192 then
i.write='SET' end return i end local function aZ(H,l,j) local f,g=H%16777216,l%65536
local at,aw=j%65536,(H-H%16777216)/16777216 local aJ,aK,ao=(l-g)/65536,(j-at)/65536,aw%65536 return dQ(
f%256,(f-f%256)/256%256,(f-f%65536)/65536, ao%256,(ao-ao%256)/256,(aw-ao)/65536%256,(aw-aw%16777216)/16777216,
at%256,(at-at%256)/256,aK%256,(aK-aK%256)/256, g%256,(g-g%256)/256,aJ%256,(aJ-aJ%256)/256 ) end
local function O(a,e,h,x) local d,r=e.i,e.a local G=bE(d,r,h) local l,j=cj(x) local Y,aa,aR,ap=e.hi,e.lo,false,r
if r>0 then local bN,cp=ag(d,r-1) Y,aa,aR=bk(bN,cp,l,j) if G<r then return o().Z(a,e,G,h,l,j,aR) elseif r>e.f then
ap=aU(a,S(d,r-1),h)and r-1 or r else Y,aa=bk(e.hi,e.lo,l,j) end else Y,aa=l,j end return cf(e,ap,aZ(h,Y,aa),r,aR) end
local function du(a,d) local r=(#d-2)/15 if bi(d,1,2)~='R:'or r%1~=0 or r<1 or r>8192 then return nil end
local cg,v,l,j=a.now_ms-a.y,0,0,0 if cg>=0 and S(d,0)<=cg then v=bE(d,r,cg) l,j=ag(d,v-1) local bN,cp=ag(d,r-1)
if bN<l or(bN==l and cp<j)then return nil end end return{i=d,a=r,f=v,hi=l,lo=j} end local function dh(a)
local d=A('GET',a.l) if d then a.e=du(a,d)or o().ag(d,'ROLLING','FOREIGN_VALUE') end end local function bz(t,i,L)
if t=='keep'then return L end return t~='delete'and i or nil end local function bO(f,g) if f-f==0 and g-g==0 then
return f<g end return o().an(f,g) end local function fq(l,j,er,ew) local x=(l-er)*(2^32)+(j-ew)
return x<0 and x+(2^32)*(2^32)or x end local function bm(e,c) local l,j=ag(e.i,c) return fq(l,j,e.hi,e.lo) end
local function bA(e) return e and e.a>0 and bm(e,e.a-1)or 0 end local function bd(c) if c-c~=0 or c>=(2^53)then
o().v('INEXACT_REPLY') end return c end local function bI(a,D,e) local x=bA(e)
a.ap,a.x,a.remaining=e,x,x<a.limit and a.limit-x or 0 end local function aF(H) local C=H%1000
return H<0 and-1 or C==0 and H/1000 or(H-C)/1000+1 end local function B(a,m) local cH,e,x=a.limit-m,a.ap,a.x
if cH<0 then return nil elseif x<=cH then return 0 end local cv,aA,ay=x-cH,e.f,e.a-1 if bm(e,aA)>=cv then ay=aA
elseif bm(e,ay>0 and ay-1 or 0)<cv then aA=ay end while aA<ay do local ct=(aA+ay-(aA+ay)%2)/2 if bm(e,ct)>=cv then ay=ct
else aA=ct+1 end end local ad=S(e.i,aA)+a.y-a.now_ms return ad>0 and ad or 0 end local function fp(a,m)
local B=B(a,m==0 and 1 or m) B=B and aF(bd(B))or-1 return B==0 and 1 or B end local function cc(a,m)
local e,az=a.e,a.limit local x=bA(e) local bB=x+(m==0 and 1 or m)<=az a.allowed,a.count,a.t=bB,bd(x),'keep'
if bB and m>0 then a.t='charge' a.D=O(a,e or{i='R:',a=0,f=0,hi=0,lo=0},a.now_ms,m)
elseif not bB and x>0 and S(e.i,e.a-1)>a.now_ms then a.t,a.D='rebase',o().aq(a,e) end bI(a,a.t,bz(a.t,a.D,e)) if bB then
a.ttl=aF(bd(B(a,az))) else a.ttl=fp(a,m) end end local function ea(a) if a.PARTIAL or a.ALWAYS then o().ad(a) else
local m=a.g a.H=m cc(a,m) end if a.SHADOW then o().ac(a) end end local function bH(a) local t,B=a.t,B
bI(a,t,t=='keep'and a.e or t~='delete'and a.D or nil) local aE,ca,aj,ar,aT=a.remaining,a.u,0,0,0 if not a.allowed then
local m=a.H aj=B(a,a.r or(m==0 and 1 or m))or-1 if a.ai and aj>=0 then aj=math.max(aj,a.ai) end end if aE<ca then
ar=B(a,aE+1)or-1 aT=aE+1==ca and ar or B(a,ca)or-1 end
if aj-aj~=0 or ar-ar~=0 or aT-aT~=0 or aj>=(2^53)or aT>=(2^53)then o().v('INEXACT_REPLY') end return aE,aj,ar,aT,0 end
local function ev(a,O) local aE,aj,ar,aT,eb=bH(a) local fi=a.P and 1 or 0 return F(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and o().W(a)or 1)or 0,a.count,a.ttl,a.u,aE,aj,ar,aT, eb,a.now_ms,fi,O ) end
local function eW(a,O) local aL=a.form if aL=='LINE'then return ev(a,O) elseif aL then return o().as(a,O) end
return{a.allowed and(a.PARTIAL and o().W(a)or 1)or 0,a.count,a.ttl} end local function cW(a,t,i,O) local bC
local W,L,by=nil,a.e,bz(t,i,a.e) if W and bO(W,a.now_ms)then by=nil end a.e=by ea(a) bC=eW(a,O) a.e=L if not a.am then
o().ab(a,t,i) end return bC end local function fh(a) local b,t,i,O=o().ao(a,a.RESERVATION),'keep',nil,0 dh(a,'write')
a.Y=b o().aj(a) local av=b.c if av then t,i=o().ax(a,av,a.ACTUAL) O=a.ACTUAL b.c=nil end a.am=not av and not a.I
local bC=cW(a,t,i,O) o().aa(b) return bC end local function fe(ac,y)
local a=eP(y,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ') local aS,al=a.RESERVED,a.ACTUAL
if al and a.RESERVATION then ds(a,ac,true) return fh(a) end if not aS or not al then o().v('SETTLEMENT') end
local bF=math.abs(aS-al) ds(a,ac) dh(a,'write') local dX=al<aS and o().refund or o().at local t,i=dX(a,a.AT,bF)
return cW(a,t,i,al) end function o() if not bX then local z={} z.OVERFLOW='ERR increment or decrement would overflow'
z.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
z.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
z.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
z.ID='ERR invalid ID: expected 1 to 512 bytes'
z.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
z.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
z.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
z.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
z.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
z.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
z.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
z.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
z.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
z.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
z.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
z.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' z.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
z.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
z.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
z.ARITY='ERR wrong number of arguments' z.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
z.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
local function cu(d,ek,fo,am,aI,l,j) local ae={} for c=ek,fo-1 do local bQ,bR=am,aI if not am then bQ,bR=ag(d,c)
bQ,bR=bk(bQ,bR,l,j) end ae[#ae+1]=aZ(S(d,c),bQ,bR) end return table.concat(ae) end local function dS(a,e,G,h,l,j,aR)
local d,r,ap,C=e.i,e.a,G,G local Y,aa,H=e.hi,e.lo,h if G>e.f then Y,aa=ag(d,G-1) end if G>e.f and aU(a,S(d,G-1),h)then
ap=G-1 elseif aU(a,S(d,G),h)then H,C=S(d,G),G+1 Y,aa=ag(d,G) end Y,aa=bk(Y,aa,l,j) local eu=cu(d,C,r,nil,nil,l,j)
local ft={i=bi(d,1,15*C+2)..eu,a=r,f=e.f,hi=e.hi,lo=e.lo} return cf(ft,ap,aZ(H,Y,aa),C,aR) end local function eA(a,e)
local d,N=e.i,a.now_ms local G=bE(d,e.a,N) local co=G>e.f and aU(a,S(d,G-1),N) local l,j=ag(d,e.a-1)
return cf(e,co and G-1 or G,aZ(N,l,j),e.a,false) end local function dv(a,K,m) local e=a.e if not e then return'keep' end
local d,k=e.i,e.a if K then K=K-K==0 and K or(2^53) k=bE(d,e.a,K) local cl=k>e.f and S(d,k-1)==K
if not cl and k<e.a and aU(a,S(d,k),K)then k=k+1 end end local x,am,aI=0,e.hi,e.lo if k>e.f then x=bm(e,k-1)
am,aI=ag(d,k-1) end local E=math.min(m,x) if E==0 then return'keep' elseif E==bA(e)then return'delete' end
local l,j=cj(E) l,j=((2^32)-l-(j>0 and 1 or 0))%(2^32),((2^32)-j)%(2^32) am,aI=bk(am,aI,l,j) local aW=k while aW>0 do
local Y,aa=ag(d,aW-1) if Y<am or(Y==am and aa<=aI)then break end aW=aW-1 end
local cV=cu(d,aW,k,am,aI)..cu(d,k,e.a,nil,nil,l,j) local i={i=bi(d,1,15*aW+2)..cV,a=e.a,f=e.f}
i.hi,i.lo,i.write,i.V,i.F=e.hi,e.lo,'SETRANGE',15*aW+2,cV if e.f>0 and e.f*2>=e.a then i.write='SET' end
return'refund',i end local function ah(d) error({err=d},0) end local function P(aq) ah(z[aq]) end
local function cA(a,K,m) local N,e=a.now_ms,a.e K=K and bO(K,N)and K or N if m==0 or(K<N and K<=N-a.y)then return'keep'
end local x=bA(e)+m if x>=(2^53)then P(x>2^63 and'OVERFLOW'or'INEXACT_REPLY') end
return'charge',O(a,e or{i='R:',a=0,f=0,hi=0,lo=0},K,m) end local function dy(a,av,al) local aS=av.g or 0
if av.z<=a.now_ms then return'keep' elseif al<aS then return dv(a,av.q,aS-al) end return cA(a,av.q,al-aS) end
local function eh(d,J,eN) local fv={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local cN=fv[bP(d,'^(%u):')]
if not cN or cN==J then P(eN) end ah('ERR the key holds a state of '..cN..': use another key for each algorithm') end
local function ef(bv) if type(bv)=='table'then return bv elseif an(bv,'^%u+ ')then return redis.error_reply(bv) end
error(bv,0) end local function dg(f,g) local cR,dP=f-f==0,g-g==0 if cR or dP then return cR elseif#f~=#g then
return#f<#g end for c=#f,1,-1 do if f[c]~=g[c]then return f[c]<g[c] end end return false end local function ba(c)
if c-c~=0 then return c end local u,E={},0 while c>0 do local ab=c%(2^24) E=E+1 u[E]=ab c=(c-ab)/(2^24) end return u end
local cO={ __sub=function() return 1 end, } local function bJ(u) local E=#u while E>0 and u[E]==0 do u[E]=nil E=E-1 end
if E>3 or(E==3 and u[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(u,cO) end
return(u[1]or 0)+(u[2]or 0)*(2^24)+(u[3]or 0)*(2^24)*(2^24) end local function eB(f,g) f,g=ba(f),ba(g) local bu={}
for c=1,#f+#g do bu[c]=0 end for c=1,#f do local au=0 for cq=1,#g do local ab=bu[c+cq-1]+f[c]*g[cq]+au
au=math.floor(ab/(2^24)) bu[c+cq-1]=ab-au*(2^24) end bu[c+#g]=au end return bJ(bu) end local function cT(c)
if c-c==0 then return c end local ak=0 for G=#c,1,-1 do ak=ak*(2^24)+c[G] end return ak end local function dL(f,g)
f,g=ba(f),ba(g) local ak,au={},0 for c=1,math.max(#f,#g)+1 do local ab=(f[c]or 0)+(g[c]or 0)+au au=ab>=(2^24)and 1 or 0
ak[c]=ab-au*(2^24) end return bJ(ak) end local function cS(f,g) if f-f==0 and g-g==0 and f+g<(2^53)then return f+g end
return dL(f,g) end local function fk(f,g) if not dg(g,f)then return 0 end g=ba(g) local bF,bZ={},0 for c=1,#f do
local ab=f[c]-(g[c]or 0)-bZ bZ=ab<0 and 1 or 0 bF[c]=ab+bZ*(2^24) end return bJ(bF) end local function fj(f,g)
if f-f==0 and g-g==0 then return f>g and f-g or 0 end return fk(f,g) end local function ed(f,g) local cD=0
while not bO(f,g)do local aD=math.max(1,math.floor(cT(f)/cT(g)*(1-2^-45))) aD=bJ(ba(aD)) cD=cS(cD,aD) f=fj(f,bg(aD,g))
end return cD,f end local function bp(f,g) for h=1,math.min(#f,#g)do local dG,dH=f:byte(h),g:byte(h) if dG~=dH then
return dG<dH end end return#f<#g end local function bG(d,Z) if d~='0'and not an(d,'^[1-9]%d*$')then return nil end
return(#d<#Z or(#d==#Z and not bp(Z,d)))and d or nil end local function ch(u)
if#u<=15 or(#u==16 and bp(u,'9007199254740992'))then return u+0 end local ck=#u%7 local c=ck>0 and u:sub(1,ck)+0 or 0
for h=ck+1,#u,7 do c=cS(bg(c,10000000),u:sub(h,h+6)+0) end return c end local function dn(aq,d,df)
local u=d and bG(d,'9223372036854775807') local c=u and ch(u) if not c or c==0 and df>0 then
ah(F('ERR invalid %s: expected an integer from %d to 9223372036854775807',aq,df)) elseif c-c~=0 then
ah(F('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aq)) end return c end local cP={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aM(bf,J)
return not an(J,' ',1,true)and an(bf,' '..J..' ',1,true)~=nil end local function dA(a,s)
return not aM(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',s)or aM((' COST PARTIAL ALWAYS RESERVE RESERVATION '),s)
end local function es(J,s) local v,k=0,0 local dz,ey=math.min(#J,#s),math.max(#J,#s)
while v<dz and J:byte(v+1)==s:byte(v+1)do v=v+1 end while k<dz-v and J:byte(-1-k)==s:byte(-1-k)do k=k+1 end
return v+k>=2 and ey-v-k<=2 end local function ei(a,T,J) local aQ={} for D,X in ipairs(cP)do
if aM(T,X[1])and dA(a,X[1])then aQ[#aQ+1]=X[2] end end for D,aL in ipairs({'FULL','LINE','HEADERS'})do aQ[#aQ+1]=aL end
for D,s in ipairs(aQ)do if es(J:upper(),bP(s,'^%u+'))then ah('ERR syntax error: no such option, but there is '..s) end
end local k=table.remove(aQ) local fs=table.concat(aQ,', ')
ah('ERR syntax error: after limit come '..fs..' or '..k..', each at most once') end local function eY(X,a,T)
local s,fw=X[1],a.aC if not aM(T,s)then ah(F('ERR invalid %s: only %s it',s,X[3])) elseif not dA(a,s)then
ah(F('ERR invalid %s: %s takes none',s,('ROLLING'))) elseif a[s]~=nil then
ah(F('ERR syntax error: %s comes at most once',X[2])) end end
local cQ={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function dq(d) local aO,dD=bP(d,'^(%d+)(%l*)$')
local H=aO and cQ[dD]and bG(aO,'18446744073709551615')and aO*cQ[dD] return H and H>=1 and H<=1e15 and H or nil end
local function dp(d,Z) return d and#d>=1 and#d<=Z and d end local function dk(f,g) return bO(g,f)and g or f end
local dK=setmetatable({(2^24)-1,(2^24)-1,2^16-1},cO) local function eS(s,d,bU) if s=='RESERVE'then
local aX=bU and dq(bU) return dp(d,128)and aX and{id=d,ttl=aX}or P('RESERVE') elseif s=='RESERVATION'then
return dp(d,128)or P('RESERVATION') end if s=='AS'then
return d and#d>=1 and#d<=64 and not an(d,'[^%w._-]')and d or P('AS') elseif s=='AT'then
local u=d and bG(d,'9223372036854775807') return u and dk(ch(u),(br(dK,1000)))or P('AT') end
return dn(s,d,s=='BURST'and 1 or 0) end local function eX(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
P(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
P(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local dI={FULL=true,LINE=true,HEADERS=true}
local function eF(aL,dl) if aL then P(aL==dl and'FORM_TWICE'or'TWO_FORMS') end return dl end local function eQ(a,y,h,T)
while y[h]do local J,X=y[h]:upper(),nil for D,dd in ipairs(cP)do X=dd[1]==J and dd or X end if X then eY(X,a,T)
if X[2]==J then a[J]=true h=h+1 else a[J]=eS(J,y[h+1],y[h+2]) h=h+(J=='RESERVE'and 3 or 2) end eX(a)
elseif dI[J]and aM(T,'form')then a.form=eF(a.form,J) h=h+1 else return h end end return h end
local dJ={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function fu(a,d) local I=dq(d)
if not I then a.az=d:upper() I=dJ[a.az] if not I then
P(aM((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aM((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
ah(F('ERR invalid window: %s takes no windows of the calendar',('ROLLING'))) end end return I end local function ep(n)
return n:sub(-9)==':reserved'or n:sub(-14)==':reserved:ends' end local function eZ(n) if ep(n)then P('RESERVED_KEY') end
end local function fl(a,ac,h,n) local bK,bc=ac[h]or'',ac[h+1] local aq=((nil)and(nil)(a)or'')..':reserved'
if(bK~=n..aq and bK~='{'..n..'}'..aq)or bc~=bK..':ends'then P('KEYS') end a.al,a.n=bK,bc return h+2 end
local function cX(a) return a.now_ms+a.y end local function bh(d)
local u=bG(d,'9223372036854775807')or P('FOREIGN_RESERVATION') local c=ch(u) return c-c==0 and c or P('INEXACT_STATE')
end local function bq(d) local m,dR,bs,cX,aX=bP(d,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not m or#aX>16 or tonumber(aX)>1e15 or aX=='0'then P('FOREIGN_RESERVATION') end return{ g=m~=''and bh(m)or nil,
q=bh(dR), b=bh(bs), z=bh(cX), ttl=bh(aX), } end local function eg(n,N) local ad=A('PTTL',n) return ad>=0 and N+ad or nil
end local function cZ(n,N) if not redis.REDIS_VERSION_NUM then return eg(n,N) end local h=A('PEXPIRETIME',n)
return h>=0 and h or nil end local function ff(n,bT) bT=F('%.0f',bT) local dx=A('ZRANGE',n,bT,bT,'WITHSCORES')[2]
return dx and tonumber(dx) end local fx,bb,bW,fy=4000,1000,1000,2*500 local function cG(b,M) b.k,b.B={},{}
for D,q in ipairs(M)do if q.j.g then b.k[#b.k+1]={id=q.id,p=q.j} elseif q.id~=b.id then b.B[#b.B+1]=q.id end end
bb=math.max(0,bb-#b.k-#b.B) table.sort(b.k,function(f,g) if f.p.q~=g.p.q then return f.p.q<g.p.q end
return bp(f.id,g.id) end) b.aD=true end local function fc(b) local v=A('ZRANGE',b.n,'0',F('%.0f',bb),'WITHSCORES')
local be,bc,M,cC={},{},{},false b.w=nil for c=1,#v,2 do local bs=tonumber(v[c+1]) if bs>b.now_ms or#be==bb then b.w=bs
break end be[#be+1],bc[#bc+1]=v[c],bs end local aG=#be>0 and A('HMGET',b.l,unpack(be))or{} for c,R in ipairs(be)do
local Q=aG[c]and bq(aG[c]) if not Q or Q.b~=bc[c]then return false end M[c]={id=R,j=Q} cC=cC or R==b.id end
if b.c and b.c.b<=b.now_ms and not cC then M[#M+1]={id=b.id,j=b.c} end cG(b,M) local cB=0 for D,p in ipairs(b.k)do
cB=p.id==b.id and 1 or cB end local eL=#b.k+#b.B-cB b.r=b.a-(b.o and 1 or 0)==eL and 0 or nil return true end
local function dj(Q) return Q.g and math.max(Q.b+Q.ttl,Q.z)or Q.b end local function fb(b) local p,bj,dm={},{},nil
local bY=A('HGETALL',b.l) for c=1,#bY,2 do local R=bY[c] if R~=''then local q={id=R,j=bq(bY[c+1])}
if q.j.b<=b.now_ms then p[#p+1]=q elseif R~=b.id then bj[#bj+1]=q end end end if#p>bb then table.sort(p,function(f,g)
if f.j.b~=g.j.b then return f.j.b<g.j.b end return bp(f.id,g.id) end) for c=#p,bb+1,-1 do local q=table.remove(p,c)
if q.id==b.id then dm=q else bj[#bj+1]=q end end p[#p+1]=dm end b.w,b.r,b.K=nil,0,bj for D,q in ipairs(bj)do
b.w=math.min(b.w or q.j.b,q.j.b) b.r=math.max(b.r,dj(q.j)) end cG(b,p) end local function fn(c) local cK=''
while c-c~=0 do local C c,C=br(c,10000000) cK=F('%07.0f',C)..cK end return F('%.0f',c)..cK end local function af(c)
if c-c~=0 then return fn(c) end return F('%.0f',c) end local function dM(b,Z) local bV=b.A==1 and A('ZSCORE',b.n,'')
b.ak=bV and true or false b.w=nil if Z>0 then local M=A('HSCAN',b.l,bV and af(-1-tonumber(bV))or'0','COUNT',af(Z))
b.J,b.M,b.K=tonumber(M[1]),not bV,{} for c=1,#M[2],2 do local R=M[2][c] if R~=''and R~=b.id then
b.K[#b.K+1]={id=R,j=bq(M[2][c+1])} elseif R~=''then bq(M[2][c+1]) end end table.sort(b.K,function(f,g)
return bp(f.id,g.id) end) b.G=b.J==0 end if b.c and b.c.b<=b.now_ms then cG(b,{{id=b.id,j=b.c}}) b.r=b.a==1 and 0 or nil
end end local function ex(a,R) local n=a.al local M=A('HMGET',n,R,'') local b={l=n,n=a.n,id=R,now_ms=a.now_ms,k={},B={}}
b.o=M[1]and bq(M[1])or nil b.c=b.o b.A=M[2]and bh(M[2])or nil b.a=A('HLEN',n)-(b.A and 1 or 0) b.af=cZ(n,b.now_ms)
b.S=A('ZCARD',b.n) b.w=ff(b.n,0) local eH=b.a==b.S and(b.A==0 or b.a==0 and not b.A)
local ej=math.min(b.w or math.huge,b.c and b.c.b or math.huge) b.G=eH and(ej>b.now_ms or fc(b)) if not b.G then
local ax=b.a+(b.A and 1 or 0) local Z=ax<=bW and ax or math.min(bW,500) bW=bW-Z if Z==ax then b.G,b.M=true,true fb(b)
else dM(b,Z) end end return b end local function db(a,dN) local e,w,L,cb=a.e,{},0,false
for c=e and e.f or 0,e and e.a-1 or-1 do local dB=bd(bm(e,c)) w[#w+1]={ms=S(e.i,c),x=math.max(0,dB-L)} L=math.max(L,dB)
end local cE,aP=0,{} for D,q in ipairs(dN)do local h,ad=q.p.q,q.p.g if ad>0 and a.now_ms<q.p.z then local k=0
while w[k+1]and w[k+1].ms<=h do k=k+1 end local cl=k>0 and w[k].ms==h if not cl and w[k+1]and aU(a,w[k+1].ms,h)then
k=k+1 end for c=cE+1,k do aP[#aP+1]=w[c] end cE=math.max(cE,k) while ad>0 and#aP>0 do local bS=aP[#aP]
local bl=math.min(ad,bS.x) bS.x,ad=bS.x-bl,ad-bl q.N=q.N or bl>0 if bS.x==0 then aP[#aP]=nil end end cb=cb or q.N end
end if not cb then return end local ae,cL={'R:'},0 for D,U in ipairs(w)do if U.x>0 then cL=cL+U.x
ae[#ae+1]=aZ(U.ms,cj(cL)) end end a.I,a.o=true,a.e a.e=#ae>1 and du(a,table.concat(ae))or nil a.X=not a.e end
local function cs(p,N) local aH=p.p if N>=aH.b+aH.ttl then return nil end return{ q=aH.q, b=aH.b+aH.ttl,
z=(p.N or aH.g==0)and aH.z or 0, ttl=aH.ttl, } end local function em(a) local b=a.Y if db then db(a,b.k) else
for D,p in ipairs(b.k)do if p.p.g>0 and b.now_ms<p.p.z then local t,i=dy(a,p.p,0) if t~='keep'then if not a.I then
a.I,a.o=true,a.e end p.N=true a.e=bz(t,i,a.e) end end end end if b.c and b.c.b<=b.now_ms then b.c=nil
for D,p in ipairs(b.k)do if p.id==b.id then b.c=cs(p,b.now_ms) end end end end local function eM(b)
local E,ce,aC=b.a-(b.o and 1 or 0)-#b.B,b.w,b.r or 0 for D,p in ipairs(b.k)do local aB=p.id~=b.id and cs(p,b.now_ms)
if aB then ce=math.min(ce or aB.b,aB.b) aC=math.max(aC,aB.b) elseif p.id~=b.id then E=E-1 end end return E,ce,aC end
local function cY(Q) local y={Q.g and af(Q.g)or''} for c,as in ipairs({Q.q,Q.b,Q.z,Q.ttl})do y[c+1]=af(as) end
return table.concat(y,':') end local function bD(dO,cr) local ak=0 for v=1,#cr,1000 do local aD={unpack(dO)}
for c=v,math.min(v+999,#cr)do aD[#aD+1]=cr[c] end ak=ak+A(unpack(aD)) end return ak end local function cI(n,K) if K then
A('PEXPIREAT',n,af(K)) end end local function dU(b) local E,D,aC=eM(b) if E==0 and not b.c then if b.a>0 or b.A then
A('UNLINK',b.l) end if b.S>0 then A('UNLINK',b.n) end return end local ax,bt,ai={},{},{} local function aV(bf,v,bU)
bf[#bf+1]=v bf[#bf+1]=bU end for D,R in ipairs(b.B)do ai[#ai+1]=R end for D,q in ipairs(b.K or{})do
aV(bt,af(q.j.b),q.id) end for D,p in ipairs(b.k)do local aB=p.id~=b.id and cs(p,b.now_ms) if aB then aV(ax,p.id,cY(aB))
aV(bt,af(aB.b),p.id) elseif p.id~=b.id then ai[#ai+1]=p.id end end if b.c and b.c~=b.o then aV(ax,b.id,cY(b.c))
elseif not b.c and b.o then ai[#ai+1]=b.id end if b.c then aC=math.max(aC,dj(b.c)) local eo=not b.o or b.c.b~=b.o.b
if b.M or b.ak or b.G and eo then aV(bt,af(b.c.b),b.id) end end local di=b.G and 0 or 1 if b.A~=di then aV(ax,'',af(di))
end bD({'HSET',b.l},ax) bD({'HDEL',b.l},ai) if b.J and b.J>0 then aV(bt,'-'..af(b.J+1),'') end if b.M and b.S>0 then
A('UNLINK',b.n) end bD({'ZADD',b.n},bt) if b.J==0 then ai[#ai+1]='' end bD({'ZREM',b.n},ai)
local V,de,W=b.af,aC+5000,nil local fr=not V and not b.r and b.a>0 if not fr and(not V or V<aC or(b.r and V>de))then
W=de end cI(b.l,W) if W or b.M and V then cI(b.n,W or V) end end local function dW(a) local eG=a.PARTIAL and a.H<a.g
a.P=a.SHADOW and not a.Q and(eG or not a.allowed) if not a.allowed and(a.P or a.Q)then a.allowed=true if not(nil)then
local D,D,D,cF=bH(a) a.ttl=aF(cF) end end end local function eV(a) bI(a,'keep',a.e) return a.remaining end
local function eD(m) return m==0 and 1 or m end local function dY(a) local m=a.g cc(a,0) local t,i=cA(a,nil,m)
if m>0 then a.t,a.D=t,i end local by=bz(a.t,a.D,a.e) bI(a,a.t,by) a.allowed=a.u>0 and B(a,0)==0 a.r=a.u>0 and m or eD(m)
if(nil)then a.count,a.ttl=(nil)(by,a.now_ms) elseif a.allowed then a.ttl=aF(bd(B(a,a.u))) else local B=B(a,a.r)
a.ttl=B and math.max(1,aF(bd(B)))or-1 end end local function dZ(a) local m=a.g if a.PARTIAL then m=math.min(m,eV(a)) end
a.H=m if a.ALWAYS then dY(a) else cc(a,m) end end local function eE(a,V) local N,I=a.now_ms,a.y
if V and 2*(V-N)>=3*I then return nil end return N+2*I end local function fd(a,e) local d,w=e.i,{} for c=e.f,e.a-1 do
local l,j=ag(d,c) l,j=bk(l,j,((2^32)-e.hi-(e.lo>0 and 1 or 0))%(2^32),((2^32)-e.lo)%(2^32)) local k=w[#w]
if(k or l>0 or j>0)and not(k and k.hi==l and k.lo==j)then w[#w+1]={ms=S(d,c),hi=l,lo=j} end end if#w>4096+1 then
local aN={} for D,U in ipairs(w)do local co=#aN>0 and aU(a,U.ms,aN[#aN].ms) aN[co and#aN or#aN+1]=U end w=aN end
if#w>8192 then local k,bo=w[#w],0 while bo<#w and w[bo+1].ms<=a.now_ms do bo=bo+1 end
for c=#w,math.min(bo,8192-1)+1,-1 do w[c]=nil end w[#w+1]=k end local ae={'R:'} for c,U in ipairs(w)do
ae[c+1]=aZ(U.ms,U.hi,U.lo) end return table.concat(ae) end local function fg(a,i,W,V)
local n,d=a.l,i.write=='SET'and fd(a,i)or i.i if W then A('SET',n,d,'PXAT',af(W)) elseif V then A('SET',n,d,'KEEPTTL')
end end local function dT(a,t,i) local n,L=a.l,a.e if t=='delete'then A('UNLINK',n) return end
local V=L and not a.X and cZ(n,a.now_ms)or nil local W=eE(a,V) if t~='keep'then local dF=i.write if dF=='SET'or a.I then
fg(a,i,W,V) return elseif dF=='APPEND'then A('APPEND',n,i.F) else A('SETRANGE',n,F('%d',i.V),i.F) end
elseif bA(L)==0 then return end cI(n,W) end local function dV(a,t,i) if a.I then i=bz(t,i,a.e) a.e=a.o if not i then
t=a.o and'delete'or'keep' elseif t~='charge'then t='refund' end end dT(a,t,i) end local function dr(a)
return a.Q and a.Q.g or a.P and a.g or a.H end local function da(a) if not a.allowed then return 0 end
return a.PARTIAL and dr(a)or 1 end local function el(a,O) local aE,fa,ar,cF,ec=bH(a) return{ 'allowed',da(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.u, 'remaining',aE, 'retry_after_ms',fa, 'next_ms',ar, 'reset_ms',cF,
'delay_ms',ec, 'now_ms',a.now_ms, 'shadow',a.P and 1 or 0, 'charged',O, } end local function eC(bw) local bl={}
for D,a in ipairs(bw)do local v,aO=a.AS or('ROLLING'):lower(),2 a.E=v while bl[a.E]do a.E=F('%s-%d',v,aO) aO=aO+1 end
bl[a.E]=true end end local function bM(c) return F('%.0f',dk(c,999999999999999)) end local function eT(a)
local I=(nil)and(nil)(a)or a.y local cd,C=1000,I%1000 while C>0 do cd,C=C,cd%C end local dE=1000/cd
local bn=br(bg(I,dE),1000) return F('"%s";q=%s;w=%s',a.E,bM(bg(a.limit,dE)),bM(bn)) end local function et(q,cy)
if q.allowed~=cy.allowed then return not q.allowed end local B,cz=q.retry_after_ms,cy.retry_after_ms if B~=cz then
return B<0 or(cz>=0 and B>cz) end return q.remaining<cy.remaining end local function eq(bw) local cJ,dt=bw[1],{} eC(bw)
for c,a in ipairs(bw)do dt[c]=eT(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bH(a) if et(a,cJ)then cJ=a end end
local a=cJ local aG={ 'X-RateLimit-Limit', F('%.0f',a.u), 'X-RateLimit-Remaining', F('%.0f',a.remaining), }
local function bL(aq,as) aG[#aG+1]=aq aG[#aG+1]=as end if a.reset_ms>=0 then
bL('X-RateLimit-Reset',F('%.0f',aF(a.now_ms+a.reset_ms))) end bL('RateLimit-Policy',table.concat(dt,', '))
local ez=a.next_ms>=0 and';t='..bM(aF(a.next_ms))or'' bL('RateLimit',F('"%s";r=%s%s',a.E,bM(a.remaining),ez))
if not a.allowed and a.retry_after_ms>=0 then bL('Retry-After',F('%.0f',aF(a.retry_after_ms))) end return aG end
local function eK(a,O) if a.form=='FULL'then return el(a,O) end return{da(a),a.count,a.ttl,eq({a})} end
bX={Z=dS,aa=dU,ab=dV,ac=dW,ad=dZ,ae=ed,error_reply=ef,v=P,ag=eh,ah=ei,aj=em,an=dg,ao=ex,aq=eA,U=eB,as=eK,at=cA,au=dn,av=eQ,W=dr,refund=dv,aw=eZ,ax=dy,ay=fl,aB=fu}
end return bX end local ee,dw=pcall(fe,KEYS,ARGV) return ee and dw or o().error_reply(dw)
