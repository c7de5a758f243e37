-- RL.SETTLE ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local bZ,o local az,G,bt,bj=string.find,string.format,string.match,string.sub local function dx(am)
return am==''and 1000 or am=='ms'and 1 or am=='s'and 1000 or am=='m'and 60000 or am=='h'and 3600000
or am=='d'and 86400000 or nil end local function eS(y,h,T) local bD,aB,s=y[h],y[h+1],y[h+2] if not aB then
o().r('ARITY') end local a={ j='', an=0, now_ms=0, u=0, aw=0, limit=0, q=0, f=1, form=nil, delay=0, d=nil, y=nil,
allowed=false, count=0, ttl=0, p='keep', remaining=0, D=1, } h=h+2
if s=='LINE'and not y[h+1]and T~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,h=s,h+1 elseif s then
local at=y[h+1]or''
local dc=T==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and y[h+2]=='LINE'and not y[h+3]and#at<16
if dc and s=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and az(at,'^[1-9]%d*$')then
a.form,a.f,h='LINE',at+0,h+3 elseif dc and s=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and at~=''then
a.form,a.ID,h='LINE',at,h+3 else h=o().ar(a,y,h,T) a.f=a.COST or 1 end end local et=#aB<16 and az(aB,'^[1-9]%d*$')
a.limit=et and aB+0 or o().aq('limit',aB,0) local ai,am=bt(bD,'^([1-9]%d*)(%l*)$') local by=ai and#bD<16 and dx(am)
local A=by and ai*by if not A or A<1 or A>1e15 then A=o().ax(a,bD) end
a.u,a.aw,a.q=A,A<9e12 and A*1000 or o().N(A,1000),a.BURST or a.limit return a,h end local function eP(y,T)
local a,h=eS(y,1,T) if y[h]then o().ad(a,T,y[h]) end return a end local function eQ(y,T) if not y[1+1]then
o().r('ARITY') end return eP(y,T) end local B=redis.call local function eV(a) local dD=B('TIME')
local cx=dD[1]*1000000+dD[2] a.an,a.now_ms=cx,(cx-cx%1000)/1000 end local function fn(a,ac,h,cN,co) local n=ac[h]
if not n then o().r('KEYS') end a.j,h=n,h+1 if co then a.z=n elseif az(n,':reserved',1,true)then o().as(n) end
if cN then h=a.aA and h+2 or o().au(a,ac,h,n) end return h end local function ds(a,ac,cN,co) eV(a)
if#ac~=fn(a,ac,1,cN,co)-1 then o().r('KEYS') end end local cU,dQ=string.byte,string.char local function S(d,c)
local f,g,au,ax,aL,aM,ap=cU(d,15*c+3,15*c+9) if ap>=32 then o().r('INEXACT_STATE') end
return f+256*(g+256*(au+256*(ax+256*(aL+256*(aM+256*ap))))) end local function bH(d,r,I) if r==0 or S(d,r-1)<=I then
return r end local aZ,bz=0,r while bz>1 do local ck=(bz-bz%2)/2 if S(d,aZ+ck)<=I then aZ=aZ+ck end bz=bz-ck end
return S(d,aZ)<=I and aZ+1 or aZ end local function cl(x) local j=x%(2^32) return(x-j)/(2^32),j end
local function ag(d,c) local f,g,au,ax,aL,aM,ap,en=cU(d,15*c+10,15*c+17)
return aL+256*(aM+256*(ap+256*en)),f+256*(g+256*(au+256*ax)) end local function bl(l,j,eJ,eK) l,j=l+eJ,j+eK
if j>=(2^32)then l,j=l+1,j-(2^32) end return l%(2^32),j,l>=(2^32) end local function br(f,g) if f-f==0 and g-g==0 then
local D=f%g return(f-D)/g,D end return o().aa(f,g) end local function bh(f,g) if f-f==0 and g-g==0 and f*g<(2^53)then
return f*g end return o().N(f,g) end local function aV(a,f,g) local A=a.u if f==g then return true
elseif A<=4096 or math.abs(f-g)>=A/4096+1 then return false end return(br(bh(f,4096),A))==(br(bh(g,4096),A)) end
local function ch(e,aq,U,D,aS) local d,L,v=e.g,e.a,e.e local r,cy=aq+(L-D)+1,15*aq+2
local i={g=bj(d,1,cy)..U,a=r,e=v,hi=e.hi,lo=e.lo} i.write,i.P,i.A='SETRANGE',cy,U if D<L then i.A=U..bj(d,15*D+3)
i.g=bj(d,1,cy)..i.A elseif aq==L then i.write='APPEND' end if L==0 or(v>0 and v*2>=L)or aS or r<L or r>8192 then
i.write='SET' end return i end local function ba(I,l,j) local f,g=I%16777216,l%65536
local au,ax=j%65536,(I-I%16777216)/16777216 local aL,aM,ap=(l-g)/65536,(j-au)/65536,ax%65536 return dQ(
f%256,(f-f%256)/256%256,(f-f%65536)/65536, ap%256,(ap-ap%256)/256,(ax-ap)/65536%256,(ax-ax%16777216)/16777216,
au%256,(au-au%256)/256,aM%256,(aM-aM%256)/256, g%256,(g-g%256)/256,aL%256,(aL-aL%256)/256 ) end
local function O(a,e,h,x) local d,r=e.g,e.a local H=bH(d,r,h) local l,j=cl(x) local Y,aa,aS,aq=e.hi,e.lo,false,r
if r>0 then local bQ,cq=ag(d,r-1) Y,aa,aS=bl(bQ,cq,l,j) if H<r then return o().V(a,e,H,h,l,j,aS) elseif r>e.e then
aq=aV(a,S(d,r-1),h)and r-1 or r else Y,aa=bl(e.hi,e.lo,l,j) end else Y,aa=l,j end return ch(e,aq,ba(h,Y,aa),r,aS) end
local function du(a,d) local r=(#d-2)/15 if bj(d,1,2)~='R:'or r%1~=0 or r<1 or r>8192 then return nil end
local ci,v,l,j=a.now_ms-a.u,0,0,0 if ci>=0 and S(d,0)<=ci then v=bH(d,r,ci) l,j=ag(d,v-1) local bQ,cq=ag(d,r-1)
if bQ<l or(bQ==l and cq<j)then return nil end end return{g=d,a=r,e=v,hi=l,lo=j} end local function dh(a)
local d=B('GET',a.j) if d then a.d=du(a,d)or o().ac(d,'ROLLING','FOREIGN_VALUE') end end local function bB(t,i,L)
if t=='keep'then return L end return t~='delete'and i or nil end local function bR(f,g) if f-f==0 and g-g==0 then
return f<g end return o().aj(f,g) end local function fr(l,j,er,ex) local x=(l-er)*(2^32)+(j-ex)
return x<0 and x+(2^32)*(2^32)or x end local function bn(e,c) local l,j=ag(e.g,c) return fr(l,j,e.hi,e.lo) end
local function bC(e) return e and e.a>0 and bn(e,e.a-1)or 0 end local function be(c) if c-c~=0 or c>=(2^53)then
o().r('INEXACT_REPLY') end return c end local function bL(a,E,e) local x=bC(e)
a.al,a.t,a.remaining=e,x,x<a.limit and a.limit-x or 0 end local function aH(I) local D=I%1000
return I<0 and-1 or D==0 and I/1000 or(I-D)/1000+1 end local function C(a,m) local cI,e,x=a.limit-m,a.al,a.t
if cI<0 then return nil elseif x<=cI then return 0 end local cw,aC,aA=x-cI,e.e,e.a-1 if bn(e,aC)>=cw then aA=aC
elseif bn(e,aA>0 and aA-1 or 0)<cw then aC=aA end while aC<aA do local cu=(aC+aA-(aC+aA)%2)/2 if bn(e,cu)>=cw then aA=cu
else aC=cu+1 end end local ad=S(e.g,aC)+a.u-a.now_ms return ad>0 and ad or 0 end local function fq(a,m)
local C=C(a,m==0 and 1 or m) C=C and aH(be(C))or-1 return C==0 and 1 or C end local function ce(a,m)
local e,aB=a.d,a.limit local x=bC(e) local bE=x+(m==0 and 1 or m)<=aB a.allowed,a.count,a.p=bE,be(x),'keep'
if bE and m>0 then a.p='charge' a.y=O(a,e or{g='R:',a=0,e=0,hi=0,lo=0},a.now_ms,m)
elseif not bE and x>0 and S(e.g,e.a-1)>a.now_ms then a.p,a.y='rebase',o().am(a,e) end bL(a,a.p,bB(a.p,a.y,e)) if bE then
a.ttl=aH(be(C(a,aB))) else a.ttl=fq(a,m) end end local function ea(a) if a.PARTIAL or a.ALWAYS then o().Z(a) else
local m=a.f a.D=m ce(a,m) end if a.SHADOW then o().Y(a) end end local function bK(a) local t,C=a.p,C
bL(a,t,t=='keep'and a.d or t~='delete'and a.y or nil) local aG,cc,ak,as,aU=a.remaining,a.q,0,0,0 if not a.allowed then
local m=a.D ak=C(a,a.o or(m==0 and 1 or m))or-1 if a.ae and ak>=0 then ak=math.max(ak,a.ae) end end if aG<cc then
as=C(a,aG+1)or-1 aU=aG+1==cc and as or C(a,cc)or-1 end
if ak-ak~=0 or as-as~=0 or aU-aU~=0 or ak>=(2^53)or aU>=(2^53)then o().r('INEXACT_REPLY') end return aG,ak,as,aU,0 end
local function ew(a,O) local aG,ak,as,aU,eb=bK(a) local fj=a.J and 1 or 0 return G(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and o().Q(a)or 1)or 0,a.count,a.ttl,a.q,aG,ak,as,aU, eb,a.now_ms,fj,O ) end
local function eX(a,O) local aN=a.form if aN=='LINE'then return ew(a,O) elseif aN then return o().ao(a,O) end
return{a.allowed and(a.PARTIAL and o().Q(a)or 1)or 0,a.count,a.ttl} end local function cW(a,t,i,O) local bF
local W,L,bA=nil,a.d,bB(t,i,a.d) if W and bR(W,a.now_ms)then bA=nil end a.d=bA ea(a) bF=eX(a,O) a.d=L if not a.ai then
o().X(a,t,i) end return bF end local function fi(a) local b,t,i,O=o().ak(a,a.RESERVATION),'keep',nil,0 dh(a,'write')
a.U=b o().af(a) local aw=b.c if aw then t,i=o().at(a,aw,a.ACTUAL) O=a.ACTUAL b.c=nil end a.ai=not aw and not a.E
local bF=cW(a,t,i,O) o().W(b) return bF end local function ff(ac,y)
local a=eQ(y,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ') local aT,an=a.RESERVED,a.ACTUAL
if an and a.RESERVATION then ds(a,ac,true) return fi(a) end if not aT or not an then o().r('SETTLEMENT') end
local bI=math.abs(aT-an) ds(a,ac) dh(a,'write') local dX=an<aT and o().refund or o().ap local t,i=dX(a,a.AT,bI)
return cW(a,t,i,an) end function o() if not bZ then local z={} z.OVERFLOW='ERR increment or decrement would overflow'
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
local function cv(d,ek,fp,ao,aK,l,j) local ae={} for c=ek,fp-1 do local bS,bT=ao,aK if not ao then bS,bT=ag(d,c)
bS,bT=bl(bS,bT,l,j) end ae[#ae+1]=ba(S(d,c),bS,bT) end return table.concat(ae) end local function dS(a,e,H,h,l,j,aS)
local d,r,aq,D=e.g,e.a,H,H local Y,aa,I=e.hi,e.lo,h if H>e.e then Y,aa=ag(d,H-1) end if H>e.e and aV(a,S(d,H-1),h)then
aq=H-1 elseif aV(a,S(d,H),h)then I,D=S(d,H),H+1 Y,aa=ag(d,H) end Y,aa=bl(Y,aa,l,j) local ev=cv(d,D,r,nil,nil,l,j)
local fu={g=bj(d,1,15*D+2)..ev,a=r,e=e.e,hi=e.hi,lo=e.lo} return ch(fu,aq,ba(I,Y,aa),D,aS) end local function eB(a,e)
local d,N=e.g,a.now_ms local H=bH(d,e.a,N) local cp=H>e.e and aV(a,S(d,H-1),N) local l,j=ag(d,e.a-1)
return ch(e,cp and H-1 or H,ba(N,l,j),e.a,false) end local function dv(a,K,m) local e=a.d if not e then return'keep' end
local d,k=e.g,e.a if K then K=K-K==0 and K or(2^53) k=bH(d,e.a,K) local cn=k>e.e and S(d,k-1)==K
if not cn and k<e.a and aV(a,S(d,k),K)then k=k+1 end end local x,ao,aK=0,e.hi,e.lo if k>e.e then x=bn(e,k-1)
ao,aK=ag(d,k-1) end local F=math.min(m,x) if F==0 then return'keep' elseif F==bC(e)then return'delete' end
local l,j=cl(F) l,j=((2^32)-l-(j>0 and 1 or 0))%(2^32),((2^32)-j)%(2^32) ao,aK=bl(ao,aK,l,j) local aX=k while aX>0 do
local Y,aa=ag(d,aX-1) if Y<ao or(Y==ao and aa<=aK)then break end aX=aX-1 end
local cV=cv(d,aX,k,ao,aK)..cv(d,k,e.a,nil,nil,l,j) local i={g=bj(d,1,15*aX+2)..cV,a=e.a,e=e.e}
i.hi,i.lo,i.write,i.P,i.A=e.hi,e.lo,'SETRANGE',15*aX+2,cV if e.e>0 and e.e*2>=e.a then i.write='SET' end
return'refund',i end local function ah(d) error({err=d},0) end local function P(ar) ah(z[ar]) end
local function cB(a,K,m) local N,e=a.now_ms,a.d K=K and bR(K,N)and K or N if m==0 or(K<N and K<=N-a.u)then return'keep'
end local x=bC(e)+m if x>=(2^53)then P(x>2^63 and'OVERFLOW'or'INEXACT_REPLY') end
return'charge',O(a,e or{g='R:',a=0,e=0,hi=0,lo=0},K,m) end local function dz(a,aw,an) local aT=aw.f or 0
if aw.v<=a.now_ms then return'keep' elseif an<aT then return dv(a,aw.n,aT-an) end return cB(a,aw.n,an-aT) end
local function eh(d,J,eO) local fw={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local cO=fw[bt(d,'^(%u):')]
if not cO or cO==J then P(eO) end ah('ERR the key holds a state of '..cO..': use another key for each algorithm') end
local function ef(bw) if type(bw)=='table'then return bw elseif az(bw,'^%u+ ')then return redis.error_reply(bw) end
error(bw,0) end local function dg(f,g) local cR,dP=f-f==0,g-g==0 if cR or dP then return cR elseif#f~=#g then
return#f<#g end for c=#f,1,-1 do if f[c]~=g[c]then return f[c]<g[c] end end return false end local function bb(c)
if c-c~=0 then return c end local u,F={},0 while c>0 do local ab=c%(2^24) F=F+1 u[F]=ab c=(c-ab)/(2^24) end return u end
local cP={ __sub=function() return 1 end, } local function bM(u) local F=#u while F>0 and u[F]==0 do u[F]=nil F=F-1 end
if F>3 or(F==3 and u[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(u,cP) end
return(u[1]or 0)+(u[2]or 0)*(2^24)+(u[3]or 0)*(2^24)*(2^24) end local function eC(f,g) f,g=bb(f),bb(g) local bv={}
for c=1,#f+#g do bv[c]=0 end for c=1,#f do local av=0 for cr=1,#g do local ab=bv[c+cr-1]+f[c]*g[cr]+av
av=math.floor(ab/(2^24)) bv[c+cr-1]=ab-av*(2^24) end bv[c+#g]=av end return bM(bv) end local function cT(c)
if c-c==0 then return c end local al=0 for H=#c,1,-1 do al=al*(2^24)+c[H] end return al end local function dL(f,g)
f,g=bb(f),bb(g) local al,av={},0 for c=1,math.max(#f,#g)+1 do local ab=(f[c]or 0)+(g[c]or 0)+av av=ab>=(2^24)and 1 or 0
al[c]=ab-av*(2^24) end return bM(al) end local function cS(f,g) if f-f==0 and g-g==0 and f+g<(2^53)then return f+g end
return dL(f,g) end local function fl(f,g) if not dg(g,f)then return 0 end g=bb(g) local bI,cb={},0 for c=1,#f do
local ab=f[c]-(g[c]or 0)-cb cb=ab<0 and 1 or 0 bI[c]=ab+cb*(2^24) end return bM(bI) end local function fk(f,g)
if f-f==0 and g-g==0 then return f>g and f-g or 0 end return fl(f,g) end local function ed(f,g) local cE=0
while not bR(f,g)do local aF=math.max(1,math.floor(cT(f)/cT(g)*(1-2^-45))) aF=bM(bb(aF)) cE=cS(cE,aF) f=fk(f,bh(aF,g))
end return cE,f end local function bp(f,g) for h=1,math.min(#f,#g)do local dG,dH=f:byte(h),g:byte(h) if dG~=dH then
return dG<dH end end return#f<#g end local function bJ(d,Z) if d~='0'and not az(d,'^[1-9]%d*$')then return nil end
return(#d<#Z or(#d==#Z and not bp(Z,d)))and d or nil end local function cj(u)
if#u<=15 or(#u==16 and bp(u,'9007199254740992'))then return u+0 end local cm=#u%7 local c=cm>0 and u:sub(1,cm)+0 or 0
for h=cm+1,#u,7 do c=cS(bh(c,10000000),u:sub(h,h+6)+0) end return c end local function dn(ar,d,df)
local u=d and bJ(d,'9223372036854775807') local c=u and cj(u) if not c or c==0 and df>0 then
ah(G('ERR invalid %s: expected an integer from %d to 9223372036854775807',ar,df)) elseif c-c~=0 then
ah(G('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ar)) end return c end local cQ={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aO(bg,J)
return not az(J,' ',1,true)and az(bg,' '..J..' ',1,true)~=nil end local function dB(a,s)
return not aO(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',s)or aO((' COST PARTIAL ALWAYS RESERVE RESERVATION '),s)
end local function es(J,s) local v,k=0,0 local dA,ez=math.min(#J,#s),math.max(#J,#s)
while v<dA and J:byte(v+1)==s:byte(v+1)do v=v+1 end while k<dA-v and J:byte(-1-k)==s:byte(-1-k)do k=k+1 end
return v+k>=2 and ez-v-k<=2 end local function ei(a,T,J) local aR={} for E,X in ipairs(cQ)do
if aO(T,X[1])and dB(a,X[1])then aR[#aR+1]=X[2] end end for E,aN in ipairs({'FULL','LINE','HEADERS'})do aR[#aR+1]=aN end
for E,s in ipairs(aR)do if es(J:upper(),bt(s,'^%u+'))then ah('ERR syntax error: no such option, but there is '..s) end
end local k=table.remove(aR) local ft=table.concat(aR,', ')
ah('ERR syntax error: after limit come '..ft..' or '..k..', each at most once') end local function eZ(X,a,T)
local s,fx=X[1],a.ay if not aO(T,s)then ah(G('ERR invalid %s: only %s it',s,X[3])) elseif not dB(a,s)then
ah(G('ERR invalid %s: %s takes none',s,('ROLLING'))) elseif a[s]~=nil then
ah(G('ERR syntax error: %s comes at most once',X[2])) end end local function dq(d) local ai,am=bt(d,'^(%d+)(%l*)$')
local by=ai and dx(am) local I=by and bJ(ai,'18446744073709551615')and ai*by return I and I>=1 and I<=1e15 and I or nil
end local function dp(d,Z) return d and#d>=1 and#d<=Z and d end local function dk(f,g) return bR(g,f)and g or f end
local dK=setmetatable({(2^24)-1,(2^24)-1,2^16-1},cP) local function eT(s,d,bW) if s=='RESERVE'then
local aY=bW and dq(bW) return dp(d,128)and aY and{id=d,ttl=aY}or P('RESERVE') elseif s=='RESERVATION'then
return dp(d,128)or P('RESERVATION') end if s=='AS'then
return d and#d>=1 and#d<=64 and not az(d,'[^%w._-]')and d or P('AS') elseif s=='AT'then
local u=d and bJ(d,'9223372036854775807') return u and dk(cj(u),(br(dK,1000)))or P('AT') end
return dn(s,d,s=='BURST'and 1 or 0) end local function eY(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
P(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
P(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local dI={FULL=true,LINE=true,HEADERS=true}
local function eG(aN,dl) if aN then P(aN==dl and'FORM_TWICE'or'TWO_FORMS') end return dl end local function eR(a,y,h,T)
while y[h]do local J,X=y[h]:upper(),nil for E,dd in ipairs(cQ)do X=dd[1]==J and dd or X end if X then eZ(X,a,T)
if X[2]==J then a[J]=true h=h+1 else a[J]=eT(J,y[h+1],y[h+2]) h=h+(J=='RESERVE'and 3 or 2) end eY(a)
elseif dI[J]and aO(T,'form')then a.form=eG(a.form,J) h=h+1 else return h end end return h end
local dJ={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function fv(a,d) local A=dq(d)
if not A then a.av=d:upper() A=dJ[a.av] if not A then
P(aO((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aO((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
ah(G('ERR invalid window: %s takes no windows of the calendar',('ROLLING'))) end end return A end local function ep(n)
return n:sub(-9)==':reserved'or n:sub(-14)==':reserved:ends' end local function fa(n) if ep(n)then P('RESERVED_KEY') end
end local function fm(a,ac,h,n) local bN,bd=ac[h]or'',ac[h+1] local ar=((nil)and(nil)(a)or'')..':reserved'
if(bN~=n..ar and bN~='{'..n..'}'..ar)or bd~=bN..':ends'then P('KEYS') end a.ah,a.k=bN,bd return h+2 end
local function cX(a) return a.now_ms+a.u end local function bi(d)
local u=bJ(d,'9223372036854775807')or P('FOREIGN_RESERVATION') local c=cj(u) return c-c==0 and c or P('INEXACT_STATE')
end local function bq(d) local m,dR,bs,cX,aY=bt(d,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not m or#aY>16 or tonumber(aY)>1e15 or aY=='0'then P('FOREIGN_RESERVATION') end return{ f=m~=''and bi(m)or nil,
n=bi(dR), b=bi(bs), v=bi(cX), ttl=bi(aY), } end local function eg(n,N) local ad=B('PTTL',n) return ad>=0 and N+ad or nil
end local function cZ(n,N) if not redis.REDIS_VERSION_NUM then return eg(n,N) end local h=B('PEXPIRETIME',n)
return h>=0 and h or nil end local function fg(n,bV) bV=G('%.0f',bV) local dy=B('ZRANGE',n,bV,bV,'WITHSCORES')[2]
return dy and tonumber(dy) end local fy,bc,bY,fz=4000,1000,1000,2*500 local function cH(b,M) b.i,b.x={},{}
for E,q in ipairs(M)do if q.h.f then b.i[#b.i+1]={id=q.id,m=q.h} elseif q.id~=b.id then b.x[#b.x+1]=q.id end end
bc=math.max(0,bc-#b.i-#b.x) table.sort(b.i,function(f,g) if f.m.n~=g.m.n then return f.m.n<g.m.n end
return bp(f.id,g.id) end) b.az=true end local function fd(b) local v=B('ZRANGE',b.k,'0',G('%.0f',bc),'WITHSCORES')
local bf,bd,M,cD={},{},{},false b.s=nil for c=1,#v,2 do local bs=tonumber(v[c+1]) if bs>b.now_ms or#bf==bc then b.s=bs
break end bf[#bf+1],bd[#bd+1]=v[c],bs end local aI=#bf>0 and B('HMGET',b.j,unpack(bf))or{} for c,R in ipairs(bf)do
local Q=aI[c]and bq(aI[c]) if not Q or Q.b~=bd[c]then return false end M[c]={id=R,h=Q} cD=cD or R==b.id end
if b.c and b.c.b<=b.now_ms and not cD then M[#M+1]={id=b.id,h=b.c} end cH(b,M) local cC=0 for E,p in ipairs(b.i)do
cC=p.id==b.id and 1 or cC end local eM=#b.i+#b.x-cC b.o=b.a-(b.l and 1 or 0)==eM and 0 or nil return true end
local function dj(Q) return Q.f and math.max(Q.b+Q.ttl,Q.v)or Q.b end local function fc(b) local p,bk,dm={},{},nil
local ca=B('HGETALL',b.j) for c=1,#ca,2 do local R=ca[c] if R~=''then local q={id=R,h=bq(ca[c+1])}
if q.h.b<=b.now_ms then p[#p+1]=q elseif R~=b.id then bk[#bk+1]=q end end end if#p>bc then table.sort(p,function(f,g)
if f.h.b~=g.h.b then return f.h.b<g.h.b end return bp(f.id,g.id) end) for c=#p,bc+1,-1 do local q=table.remove(p,c)
if q.id==b.id then dm=q else bk[#bk+1]=q end end p[#p+1]=dm end b.s,b.o,b.G=nil,0,bk for E,q in ipairs(bk)do
b.s=math.min(b.s or q.h.b,q.h.b) b.o=math.max(b.o,dj(q.h)) end cH(b,p) end local function fo(c) local cL=''
while c-c~=0 do local D c,D=br(c,10000000) cL=G('%07.0f',D)..cL end return G('%.0f',c)..cL end local function af(c)
if c-c~=0 then return fo(c) end return G('%.0f',c) end local function dM(b,Z) local bX=b.w==1 and B('ZSCORE',b.k,'')
b.ag=bX and true or false b.s=nil if Z>0 then local M=B('HSCAN',b.j,bX and af(-1-tonumber(bX))or'0','COUNT',af(Z))
b.F,b.H,b.G=tonumber(M[1]),not bX,{} for c=1,#M[2],2 do local R=M[2][c] if R~=''and R~=b.id then
b.G[#b.G+1]={id=R,h=bq(M[2][c+1])} elseif R~=''then bq(M[2][c+1]) end end table.sort(b.G,function(f,g)
return bp(f.id,g.id) end) b.B=b.F==0 end if b.c and b.c.b<=b.now_ms then cH(b,{{id=b.id,h=b.c}}) b.o=b.a==1 and 0 or nil
end end local function ey(a,R) local n=a.ah local M=B('HMGET',n,R,'') local b={j=n,k=a.k,id=R,now_ms=a.now_ms,i={},x={}}
b.l=M[1]and bq(M[1])or nil b.c=b.l b.w=M[2]and bi(M[2])or nil b.a=B('HLEN',n)-(b.w and 1 or 0) b.ab=cZ(n,b.now_ms)
b.M=B('ZCARD',b.k) b.s=fg(b.k,0) local eI=b.a==b.M and(b.w==0 or b.a==0 and not b.w)
local ej=math.min(b.s or math.huge,b.c and b.c.b or math.huge) b.B=eI and(ej>b.now_ms or fd(b)) if not b.B then
local ay=b.a+(b.w and 1 or 0) local Z=ay<=bY and ay or math.min(bY,500) bY=bY-Z if Z==ay then b.B,b.H=true,true fc(b)
else dM(b,Z) end end return b end local function db(a,dN) local e,w,L,cd=a.d,{},0,false
for c=e and e.e or 0,e and e.a-1 or-1 do local dC=be(bn(e,c)) w[#w+1]={ms=S(e.g,c),t=math.max(0,dC-L)} L=math.max(L,dC)
end local cF,aQ=0,{} for E,q in ipairs(dN)do local h,ad=q.m.n,q.m.f if ad>0 and a.now_ms<q.m.v then local k=0
while w[k+1]and w[k+1].ms<=h do k=k+1 end local cn=k>0 and w[k].ms==h if not cn and w[k+1]and aV(a,w[k+1].ms,h)then
k=k+1 end for c=cF+1,k do aQ[#aQ+1]=w[c] end cF=math.max(cF,k) while ad>0 and#aQ>0 do local bU=aQ[#aQ]
local bm=math.min(ad,bU.t) bU.t,ad=bU.t-bm,ad-bm q.I=q.I or bm>0 if bU.t==0 then aQ[#aQ]=nil end end cd=cd or q.I end
end if not cd then return end local ae,cM={'R:'},0 for E,U in ipairs(w)do if U.t>0 then cM=cM+U.t
ae[#ae+1]=ba(U.ms,cl(cM)) end end a.E,a.l=true,a.d a.d=#ae>1 and du(a,table.concat(ae))or nil a.S=not a.d end
local function ct(p,N) local aJ=p.m if N>=aJ.b+aJ.ttl then return nil end return{ n=aJ.n, b=aJ.b+aJ.ttl,
v=(p.I or aJ.f==0)and aJ.v or 0, ttl=aJ.ttl, } end local function em(a) local b=a.U if db then db(a,b.i) else
for E,p in ipairs(b.i)do if p.m.f>0 and b.now_ms<p.m.v then local t,i=dz(a,p.m,0) if t~='keep'then if not a.E then
a.E,a.l=true,a.d end p.I=true a.d=bB(t,i,a.d) end end end end if b.c and b.c.b<=b.now_ms then b.c=nil
for E,p in ipairs(b.i)do if p.id==b.id then b.c=ct(p,b.now_ms) end end end end local function eN(b)
local F,cg,aE=b.a-(b.l and 1 or 0)-#b.x,b.s,b.o or 0 for E,p in ipairs(b.i)do local aD=p.id~=b.id and ct(p,b.now_ms)
if aD then cg=math.min(cg or aD.b,aD.b) aE=math.max(aE,aD.b) elseif p.id~=b.id then F=F-1 end end return F,cg,aE end
local function cY(Q) local y={Q.f and af(Q.f)or''} for c,at in ipairs({Q.n,Q.b,Q.v,Q.ttl})do y[c+1]=af(at) end
return table.concat(y,':') end local function bG(dO,cs) local al=0 for v=1,#cs,1000 do local aF={unpack(dO)}
for c=v,math.min(v+999,#cs)do aF[#aF+1]=cs[c] end al=al+B(unpack(aF)) end return al end local function cJ(n,K) if K then
B('PEXPIREAT',n,af(K)) end end local function dU(b) local F,E,aE=eN(b) if F==0 and not b.c then if b.a>0 or b.w then
B('UNLINK',b.j) end if b.M>0 then B('UNLINK',b.k) end return end local ay,bu,aj={},{},{} local function aW(bg,v,bW)
bg[#bg+1]=v bg[#bg+1]=bW end for E,R in ipairs(b.x)do aj[#aj+1]=R end for E,q in ipairs(b.G or{})do
aW(bu,af(q.h.b),q.id) end for E,p in ipairs(b.i)do local aD=p.id~=b.id and ct(p,b.now_ms) if aD then aW(ay,p.id,cY(aD))
aW(bu,af(aD.b),p.id) elseif p.id~=b.id then aj[#aj+1]=p.id end end if b.c and b.c~=b.l then aW(ay,b.id,cY(b.c))
elseif not b.c and b.l then aj[#aj+1]=b.id end if b.c then aE=math.max(aE,dj(b.c)) local eo=not b.l or b.c.b~=b.l.b
if b.H or b.ag or b.B and eo then aW(bu,af(b.c.b),b.id) end end local di=b.B and 0 or 1 if b.w~=di then aW(ay,'',af(di))
end bG({'HSET',b.j},ay) bG({'HDEL',b.j},aj) if b.F and b.F>0 then aW(bu,'-'..af(b.F+1),'') end if b.H and b.M>0 then
B('UNLINK',b.k) end bG({'ZADD',b.k},bu) if b.F==0 then aj[#aj+1]='' end bG({'ZREM',b.k},aj)
local V,de,W=b.ab,aE+5000,nil local fs=not V and not b.o and b.a>0 if not fs and(not V or V<aE or(b.o and V>de))then
W=de end cJ(b.j,W) if W or b.H and V then cJ(b.k,W or V) end end local function dW(a) local eH=a.PARTIAL and a.D<a.f
a.J=a.SHADOW and not a.K and(eH or not a.allowed) if not a.allowed and(a.J or a.K)then a.allowed=true if not(nil)then
local E,E,E,cG=bK(a) a.ttl=aH(cG) end end end local function eW(a) bL(a,'keep',a.d) return a.remaining end
local function eE(m) return m==0 and 1 or m end local function dY(a) local m=a.f ce(a,0) local t,i=cB(a,nil,m)
if m>0 then a.p,a.y=t,i end local bA=bB(a.p,a.y,a.d) bL(a,a.p,bA) a.allowed=a.q>0 and C(a,0)==0 a.o=a.q>0 and m or eE(m)
if(nil)then a.count,a.ttl=(nil)(bA,a.now_ms) elseif a.allowed then a.ttl=aH(be(C(a,a.q))) else local C=C(a,a.o)
a.ttl=C and math.max(1,aH(be(C)))or-1 end end local function dZ(a) local m=a.f if a.PARTIAL then m=math.min(m,eW(a)) end
a.D=m if a.ALWAYS then dY(a) else ce(a,m) end end local function eF(a,V) local N,A=a.now_ms,a.u
if V and 2*(V-N)>=3*A then return nil end return N+2*A end local function fe(a,e) local d,w=e.g,{} for c=e.e,e.a-1 do
local l,j=ag(d,c) l,j=bl(l,j,((2^32)-e.hi-(e.lo>0 and 1 or 0))%(2^32),((2^32)-e.lo)%(2^32)) local k=w[#w]
if(k or l>0 or j>0)and not(k and k.hi==l and k.lo==j)then w[#w+1]={ms=S(d,c),hi=l,lo=j} end end if#w>4096+1 then
local aP={} for E,U in ipairs(w)do local cp=#aP>0 and aV(a,U.ms,aP[#aP].ms) aP[cp and#aP or#aP+1]=U end w=aP end
if#w>8192 then local k,bo=w[#w],0 while bo<#w and w[bo+1].ms<=a.now_ms do bo=bo+1 end
for c=#w,math.min(bo,8192-1)+1,-1 do w[c]=nil end w[#w+1]=k end local ae={'R:'} for c,U in ipairs(w)do
ae[c+1]=ba(U.ms,U.hi,U.lo) end return table.concat(ae) end local function fh(a,i,W,V)
local n,d=a.j,i.write=='SET'and fe(a,i)or i.g if W then B('SET',n,d,'PXAT',af(W)) elseif V then B('SET',n,d,'KEEPTTL')
end end local function dT(a,t,i) local n,L=a.j,a.d if t=='delete'then B('UNLINK',n) return end
local V=L and not a.S and cZ(n,a.now_ms)or nil local W=eF(a,V) if t~='keep'then local dF=i.write if dF=='SET'or a.E then
fh(a,i,W,V) return elseif dF=='APPEND'then B('APPEND',n,i.A) else B('SETRANGE',n,G('%d',i.P),i.A) end
elseif bC(L)==0 then return end cJ(n,W) end local function dV(a,t,i) if a.E then i=bB(t,i,a.d) a.d=a.l if not i then
t=a.l and'delete'or'keep' elseif t~='charge'then t='refund' end end dT(a,t,i) end local function dr(a)
return a.K and a.K.f or a.J and a.f or a.D end local function da(a) if not a.allowed then return 0 end
return a.PARTIAL and dr(a)or 1 end local function el(a,O) local aG,fb,as,cG,ec=bK(a) return{ 'allowed',da(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.q, 'remaining',aG, 'retry_after_ms',fb, 'next_ms',as, 'reset_ms',cG,
'delay_ms',ec, 'now_ms',a.now_ms, 'shadow',a.J and 1 or 0, 'charged',O, } end local function eD(bx) local bm={}
for E,a in ipairs(bx)do local v,ai=a.AS or('ROLLING'):lower(),2 a.z=v while bm[a.z]do a.z=G('%s-%d',v,ai) ai=ai+1 end
bm[a.z]=true end end local function bP(c) return G('%.0f',dk(c,999999999999999)) end local function eU(a)
local A=(nil)and(nil)(a)or a.u local cf,D=1000,A%1000 while D>0 do cf,D=D,cf%D end local dE=1000/cf
local bD=br(bh(A,dE),1000) return G('"%s";q=%s;w=%s',a.z,bP(bh(a.limit,dE)),bP(bD)) end local function eu(q,cz)
if q.allowed~=cz.allowed then return not q.allowed end local C,cA=q.retry_after_ms,cz.retry_after_ms if C~=cA then
return C<0 or(cA>=0 and C>cA) end return q.remaining<cz.remaining end local function eq(bx) local cK,dt=bx[1],{} eD(bx)
for c,a in ipairs(bx)do dt[c]=eU(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bK(a) if eu(a,cK)then cK=a end end
local a=cK local aI={ 'X-RateLimit-Limit', G('%.0f',a.q), 'X-RateLimit-Remaining', G('%.0f',a.remaining), }
local function bO(ar,at) aI[#aI+1]=ar aI[#aI+1]=at end if a.reset_ms>=0 then
bO('X-RateLimit-Reset',G('%.0f',aH(a.now_ms+a.reset_ms))) end bO('RateLimit-Policy',table.concat(dt,', '))
local eA=a.next_ms>=0 and';t='..bP(aH(a.next_ms))or'' bO('RateLimit',G('"%s";r=%s%s',a.z,bP(a.remaining),eA))
if not a.allowed and a.retry_after_ms>=0 then bO('Retry-After',G('%.0f',aH(a.retry_after_ms))) end return aI end
local function eL(a,O) if a.form=='FULL'then return el(a,O) end return{da(a),a.count,a.ttl,eq({a})} end
bZ={V=dS,W=dU,X=dV,Y=dW,Z=dZ,aa=ed,error_reply=ef,r=P,ac=eh,ad=ei,af=em,aj=dg,ak=ey,am=eB,N=eC,ao=eL,ap=cB,aq=dn,ar=eR,Q=dr,refund=dv,as=fa,at=dz,au=fm,ax=fv}
end return bZ end local ee,dw=pcall(ff,KEYS,ARGV) return ee and dw or o().error_reply(dw)
