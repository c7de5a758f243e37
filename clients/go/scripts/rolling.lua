-- RL.ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function lL(aZ) local ef,w local ac,z,cS,bV=string.find,string.format,string.match,string.sub
local function lr(M,h,af) local cg,aT,B=M[h],M[h+1],M[h+2] if not aT then w().F('ARITY') end local a={ o='', ao=0,
now_ms=0, B=0, ax=0, limit=0, y=0, e=1, form=nil, delay=0, g=nil, u=nil, allowed=false, count=0, ttl=0, j='keep',
remaining=0, v=1, } h=h+2 if B=='LINE'and not M[h+1]and af~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,h=B,h+1 elseif B then local aM=M[h+1]or''
local hG=af==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and M[h+2]=='LINE'and not M[h+3]and#aM<16
if hG and B=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and ac(aM,'^[1-9]%d*$')then
a.form,a.e,h='LINE',aM+0,h+3 elseif hG and B=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and aM~=''then
a.form,a.ID,h='LINE',aM,h+3 else h=w().ar(a,M,h,af) a.e=a.COST or 1 end end local et=#aT<16 and ac(aT,'^[1-9]%d*$')
a.limit=et and aT+0 or w().aq('limit',aT,0) et=#cg<10 and ac(cg,'^[1-9]%d*$') local S=et and cg*1000 or w().ay(a,cg)
a.B,a.ax,a.y=S,S<9e12 and S*1000 or w().W(S,1000),a.BURST or a.limit return a,h end local function lp(M,af)
local a,h=lr(M,1,af) if M[h]then w().ai(a,af,M[h]) end return a end local t=redis.call local function lw(a)
local ii=t('TIME') local eE=ii[1]*1000000+ii[2] a.ao,a.now_ms=eE,(eE-eE%1000)/1000 end local function lO(a,av,h,hm,eu)
local r=av[h] if not r then w().F('KEYS') end a.o,h=r,h+1 if eu then a.G=r elseif ac(r,':reserved',1,true)then w().as(r)
end if hm then h=a.aB and h+2 or w().au(a,av,h,r) end return h end local function lt(a,av,hm,eu) lw(a)
if#av~=lO(a,av,1,hm,eu)-1 then w().F('KEYS') end end local hv,kp=string.byte,string.char local function aa(d,c)
local f,g,aO,aQ,be,bf,aF=hv(d,15*c+3,15*c+9) if aF>=32 then w().F('INEXACT_STATE') end
return f+256*(g+256*(aO+256*(aQ+256*(be+256*(bf+256*aF))))) end local function cH(d,A,Q) if A==0 or aa(d,A-1)<=Q then
return A end local bu,cw=0,A while cw>1 do local ep=(cw-cw%2)/2 if aa(d,bu+ep)<=Q then bu=bu+ep end cw=cw-ep end
return aa(d,bu)<=Q and bu+1 or bu end local function as(d,c) local f,g,aO,aQ,be,bf,aF,kN=hv(d,15*c+10,15*c+17)
return be+256*(bf+256*(aF+256*kN)),f+256*(g+256*(aO+256*aQ)) end local function ia(a,d) local A=(#d-2)/15
if bV(d,1,2)~='R:'or A%1~=0 or A<1 or A>8192 then return nil end local en,D,o,k=a.now_ms-a.B,0,0,0
if en>=0 and aa(d,0)<=en then D=cH(d,A,en) o,k=as(d,D-1) local cR,ew=as(d,A-1) if cR<o or(cR==o and ew<k)then return nil
end end return{i=d,a=A,f=D,hi=o,lo=k} end local function hL(a) local d=t('GET',a.o) if d then
a.g=ia(a,d)or w().ah(d,'ROLLING','FOREIGN_VALUE') end end local function lS(o,k,kR,kW) local F=(o-kR)*(2^32)+(k-kW)
return F<0 and F+(2^32)*(2^32)or F end local function ca(e,c) local o,k=as(e.i,c) return lS(o,k,e.hi,e.lo) end
local function cy(e) return e and e.a>0 and ca(e,e.a-1)or 0 end local function bz(c) if c-c~=0 or c>=(2^53)then
w().F('INEXACT_REPLY') end return c end local function eq(F) local k=F%(2^32) return(F-k)/(2^32),k end
local function bY(o,k,lk,ll) o,k=o+lk,k+ll if k>=(2^32)then o,k=o+1,k-(2^32) end return o%(2^32),k,o>=(2^32) end
local function cl(f,g) if f-f==0 and g-g==0 then local L=f%g return(f-L)/g,L end return w().ae(f,g) end
local function bS(f,g) if f-f==0 and g-g==0 and f*g<(2^53)then return f*g end return w().W(f,g) end
local function bq(a,f,g) local S=a.B if f==g then return true elseif S<=4096 or math.abs(f-g)>=S/4096+1 then
return false end return(cl(bS(f,4096),S))==(cl(bS(g,4096),S)) end local function em(e,aG,ad,L,bm)
local d,ab,D=e.i,e.a,e.f local A,eF=aG+(ab-L)+1,15*aG+2 local p={i=bV(d,1,eF)..ad,a=A,f=D,hi=e.hi,lo=e.lo}
p.write,p.X,p.I='SETRANGE',eF,ad if L<ab then p.I=ad..bV(d,15*L+3) p.i=bV(d,1,eF)..p.I elseif aG==ab then
p.write='APPEND' end if ab==0 or(D>0 and D*2>=ab)or bm or A<ab or A>8192 then p.write='SET' end return p end
local function bv(Q,o,k) local f,g=Q%16777216,o%65536 local aO,aQ=k%65536,(Q-Q%16777216)/16777216
local be,bf,aF=(o-g)/65536,(k-aO)/65536,aQ%65536 return kp( f%256,(f-f%256)/256%256,(f-f%65536)/65536,
aF%256,(aF-aF%256)/256,(aQ-aF)/65536%256,(aQ-aQ%16777216)/16777216, aO%256,(aO-aO%256)/256,bf%256,(bf-bf%256)/256,
g%256,(g-g%256)/256,be%256,(be-be%256)/256 ) end local function am(a,e,h,F) local d,A=e.i,e.a local O=cH(d,A,h)
local o,k=eq(F) local ah,al,bm,aG=e.hi,e.lo,false,A if A>0 then local cR,ew=as(d,A-1) ah,al,bm=bY(cR,ew,o,k) if O<A then
return w().aa(a,e,O,h,o,k,bm) elseif A>e.f then aG=bq(a,aa(d,A-1),h)and A-1 or A else ah,al=bY(e.hi,e.lo,o,k) end else
ah,al=o,k end return em(e,aG,bv(h,ah,al),A,bm) end local function cM(a,N,e) local F=cy(e)
a.am,a.A,a.remaining=e,F,F<a.limit and a.limit-F or 0 end local function cx(P,p,ab) if P=='keep'then return ab end
return P~='delete'and p or nil end local function aL(Q) local L=Q%1000
return Q<0 and-1 or L==0 and Q/1000 or(Q-L)/1000+1 end local function K(a,j) local gd,e,F=a.limit-j,a.am,a.A
if gd<0 then return nil elseif F<=gd then return 0 end local eD,aU,aS=F-gd,e.f,e.a-1 if ca(e,aU)>=eD then aS=aU
elseif ca(e,aS>0 and aS-1 or 0)<eD then aU=aS end while aU<aS do local eB=(aU+aS-(aU+aS)%2)/2 if ca(e,eB)>=eD then aS=eB
else aU=eB+1 end end local ao=aa(e.i,aU)+a.B-a.now_ms return ao>0 and ao or 0 end local function lR(a,j)
local K=K(a,j==0 and 1 or j) K=K and aL(bz(K))or-1 return K==0 and 1 or K end local function cI(a,j)
local e,aT=a.g,a.limit local F=cy(e) local aN=F+(j==0 and 1 or j)<=aT a.allowed,a.count,a.j=aN,bz(F),'keep'
if aN and j>0 then a.j='charge' a.u=am(a,e or{i='R:',a=0,f=0,hi=0,lo=0},a.now_ms,j)
elseif not aN and F>0 and aa(e.i,e.a-1)>a.now_ms then a.j,a.u='rebase',w().an(a,e) end cM(a,a.j,cx(a.j,a.u,e))
if aN then a.ttl=aL(bz(K(a,aT))) else a.ttl=lR(a,j) end end local function ky(a) if a.PARTIAL or a.ALWAYS then w().ad(a)
else local j=a.e a.v=j cI(a,j) end if a.SHADOW then w().ac(a) end end local function cL(a) local P,K=a.j,K
cM(a,P,P=='keep'and a.g or P~='delete'and a.u or nil) local ba,ej,aA,aI,bp=a.remaining,a.y,0,0,0 if not a.allowed then
local j=a.v aA=K(a,a.q or(j==0 and 1 or j))or-1 if a.K and aA>=0 then aA=math.max(aA,a.K) end end if ba<ej then
aI=K(a,ba+1)or-1 bp=ba+1==ej and aI or K(a,ej)or-1 end
if aA-aA~=0 or aI-aI~=0 or bp-bp~=0 or aA>=(2^53)or bp>=(2^53)then w().F('INEXACT_REPLY') end return ba,aA,aI,bp,0 end
local function kV(a,am) local ba,aA,aI,bp,kA=cL(a) local lK=a.H and 1 or 0 return z(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and w().Y(a)or 1)or 0,a.count,a.ttl,a.y,ba,aA,aI,bp, kA,a.now_ms,lK,am ) end
local function ly(a,am) local bg=a.form if bg=='LINE'then return kV(a,am) elseif bg then return w().ap(a,am) end
return{a.allowed and(a.PARTIAL and w().Y(a)or 1)or 0,a.count,a.ttl} end local function ks(a) if a.w then return a.w.e
end if a.j~='charge'then return 0 elseif a.ALWAYS then return a.v elseif not a.allowed or(a.H and not a.PARTIAL)then
return 0 end return a.v end local function hC(r,R) if not redis.REDIS_VERSION_NUM then return w().ag(r,R) end
local h=t('PEXPIRETIME',r) return h>=0 and h or nil end local function le(a,ae) local R,S=a.now_ms,a.B
if ae and 2*(ae-R)>=3*S then return nil end return R+2*S end local function ar(c) if c-c~=0 then return w().av(c) end
return z('%.0f',c) end local function ge(r,U) if U then t('PEXPIREAT',r,ar(U)) end end local function hx(a,P,p)
local r,ab=a.o,a.g if P=='delete'then t('UNLINK',r) return end local ae=ab and not a.Z and hC(r,a.now_ms)or nil
local at=le(a,ae) if P~='keep'then local kc=p.write if kc=='SET'or a.Q then w().at(a,p,at,ae) return
elseif kc=='APPEND'then t('APPEND',r,p.I) else t('SETRANGE',r,z('%d',p.X),p.I) end elseif cy(ab)==0 then return end
ge(r,at) end local function lG(av,M)
local a=lp(M,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') lt(a,av,a.RESERVE)
if a.RESERVE then w().al(a) else hL(a,'write') ky(a) end local km=ly(a,ks(a)) if a.SHADOW or a.RESERVE then
w().ab(a,true) else hx(a,a.j,a.u) end return km end function w() if not ef then local I={}
I.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
I.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
I.ID='ERR invalid ID: expected 1 to 512 bytes'
I.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
I.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
I.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
I.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
I.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
I.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
I.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
I.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
I.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
I.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
I.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
I.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' I.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
I.OVERFLOW='ERR increment or decrement would overflow'
I.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
I.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
I.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
I.ARITY='ERR wrong number of arguments' I.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
local function eC(d,kJ,lQ,aE,bd,o,k) local aq={} for c=kJ,lQ-1 do local cT,cU=aE,bd if not aE then cT,cU=as(d,c)
cT,cU=bY(cT,cU,o,k) end aq[#aq+1]=bv(aa(d,c),cT,cU) end return table.concat(aq) end local function kr(a,e,O,h,o,k,bm)
local d,A,aG,L=e.i,e.a,O,O local ah,al,Q=e.hi,e.lo,h if O>e.f then ah,al=as(d,O-1) end
if O>e.f and bq(a,aa(d,O-1),h)then aG=O-1 elseif bq(a,aa(d,O),h)then Q,L=aa(d,O),O+1 ah,al=as(d,O) end
ah,al=bY(ah,al,o,k) local kU=eC(d,L,A,nil,nil,o,k) local tV={i=bV(d,1,15*L+2)..kU,a=A,f=e.f,hi=e.hi,lo=e.lo}
return em(tV,aG,bv(Q,ah,al),L,bm) end local function lb(a,e) local d,R=e.i,a.now_ms local O=cH(d,e.a,R)
local ev=O>e.f and bq(a,aa(d,O-1),R) local o,k=as(d,e.a-1) return em(e,ev and O-1 or O,bv(R,o,k),e.a,false) end
local function lF(a,e) local d,E=e.i,{} for c=e.f,e.a-1 do local o,k=as(d,c)
o,k=bY(o,k,((2^32)-e.hi-(e.lo>0 and 1 or 0))%(2^32),((2^32)-e.lo)%(2^32)) local n=E[#E]
if(n or o>0 or k>0)and not(n and n.hi==o and n.lo==k)then E[#E+1]={ms=aa(d,c),hi=o,lo=k} end end if#E>4096+1 then
local bi={} for N,ad in ipairs(E)do local ev=#bi>0 and bq(a,ad.ms,bi[#bi].ms) bi[ev and#bi or#bi+1]=ad end E=bi end
if#E>8192 then local n,ch=E[#E],0 while ch<#E and E[ch+1].ms<=a.now_ms do ch=ch+1 end
for c=#E,math.min(ch,8192-1)+1,-1 do E[c]=nil end E[#E+1]=n end local aq={'R:'} for c,ad in ipairs(E)do
aq[c+1]=bv(ad.ms,ad.hi,ad.lo) end return table.concat(aq) end local function lI(a,p,at,ae)
local r,d=a.o,p.write=='SET'and lF(a,p)or p.i if at then t('SET',r,d,'PXAT',ar(at)) elseif ae then
t('SET',r,d,'KEEPTTL') end end local function au(d) error({err=d},0) end local function X(aH) au(I[aH]) end
local function kF(d,T,lo) local tX={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local hn=tX[cS(d,'^(%u):')]
if not hn or hn==T then X(lo) end au('ERR the key holds a state of '..hn..': use another key for each algorithm') end
local function kD(aZ) if type(aZ)=='table'then return aZ elseif ac(aZ,'^%u+ ')then return redis.error_reply(aZ) end
error(aZ,0) end local function bw(c) if c-c~=0 then return c end local C,H={},0 while c>0 do local an=c%(2^24) H=H+1
C[H]=an c=(c-an)/(2^24) end return C end local hp={ __sub=function() return 1 end, } local function cN(C) local H=#C
while H>0 and C[H]==0 do C[H]=nil H=H-1 end if H>3 or(H==3 and C[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(C,hp)
end return(C[1]or 0)+(C[2]or 0)*(2^24)+(C[3]or 0)*(2^24)*(2^24) end local function lc(f,g) f,g=bw(f),bw(g) local cu={}
for c=1,#f+#g do cu[c]=0 end for c=1,#f do local aP=0 for ey=1,#g do local an=cu[c+ey-1]+f[c]*g[ey]+aP
aP=math.floor(an/(2^24)) cu[c+ey-1]=an-aP*(2^24) end cu[c+#g]=aP end return cN(cu) end local function hK(f,g)
local hs,ko=f-f==0,g-g==0 if hs or ko then return hs elseif#f~=#g then return#f<#g end for c=#f,1,-1 do
if f[c]~=g[c]then return f[c]<g[c] end end return false end local function ex(f,g) if f-f==0 and g-g==0 then return f<g
end return hK(f,g) end local function hu(c) if c-c==0 then return c end local aB=0 for O=#c,1,-1 do aB=aB*(2^24)+c[O]
end return aB end local function kj(f,g) f,g=bw(f),bw(g) local aB,aP={},0 for c=1,math.max(#f,#g)+1 do
local an=(f[c]or 0)+(g[c]or 0)+aP aP=an>=(2^24)and 1 or 0 aB[c]=an-aP*(2^24) end return cN(aB) end
local function ht(f,g) if f-f==0 and g-g==0 and f+g<(2^53)then return f+g end return kj(f,g) end local function lM(f,g)
if not hK(g,f)then return 0 end g=bw(g) local hA,ei={},0 for c=1,#f do local an=f[c]-(g[c]or 0)-ei ei=an<0 and 1 or 0
hA[c]=an+ei*(2^24) end return cN(hA) end local function bt(f,g) if f-f==0 and g-g==0 then return f>g and f-g or 0 end
return lM(f,g) end local function kC(f,g) local fY=0 while not ex(f,g)do
local aY=math.max(1,math.floor(hu(f)/hu(g)*(1-2^-45))) aY=cN(bw(aY)) fY=ht(fY,aY) f=bt(f,bS(aY,g)) end return fY,f end
local function lP(c) local gg='' while c-c~=0 do local L c,L=cl(c,10000000) gg=z('%07.0f',L)..gg end
return z('%.0f',c)..gg end local function kE(r,R) local ao=t('PTTL',r) return ao>=0 and R+ao or nil end
local function ci(f,g) for h=1,math.min(#f,#g)do local kd,ke=f:byte(h),g:byte(h) if kd~=ke then return kd<ke end end
return#f<#g end local function cJ(d,aj) if d~='0'and not ac(d,'^[1-9]%d*$')then return nil end
return(#d<#aj or(#d==#aj and not ci(aj,d)))and d or nil end local function eo(C)
if#C<=15 or(#C==16 and ci(C,'9007199254740992'))then return C+0 end local er=#C%7 local c=er>0 and C:sub(1,er)+0 or 0
for h=er+1,#C,7 do c=ht(bS(c,10000000),C:sub(h,h+6)+0) end return c end local function hV(aH,d,hJ)
local C=d and cJ(d,'9223372036854775807') local c=C and eo(C) if not c or c==0 and hJ>0 then
au(z('ERR invalid %s: expected an integer from %d to 9223372036854775807',aH,hJ)) elseif c-c~=0 then
au(z('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aH)) end return c end local hq={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bh(bB,T)
return not ac(T,' ',1,true)and ac(bB,' '..T..' ',1,true)~=nil end local function ig(a,B)
return not bh(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',B)or bh((' COST PARTIAL ALWAYS RESERVE RESERVATION '),B)
end local function kS(T,B) local D,n=0,0 local id,kZ=math.min(#T,#B),math.max(#T,#B)
while D<id and T:byte(D+1)==B:byte(D+1)do D=D+1 end while n<id-D and T:byte(-1-n)==B:byte(-1-n)do n=n+1 end
return D+n>=2 and kZ-D-n<=2 end local function kG(a,af,T) local bl={} for N,ag in ipairs(hq)do
if bh(af,ag[1])and ig(a,ag[1])then bl[#bl+1]=ag[2] end end for N,bg in ipairs({'FULL','LINE','HEADERS'})do bl[#bl+1]=bg
end for N,B in ipairs(bl)do if kS(T:upper(),cS(B,'^%u+'))then au('ERR syntax error: no such option, but there is '..B)
end end local n=table.remove(bl) local lU=table.concat(bl,', ')
au('ERR syntax error: after limit come '..lU..' or '..n..', each at most once') end local function lA(ag,a,af)
local B,tY=ag[1],a.az if not bh(af,B)then au(z('ERR invalid %s: only %s it',B,ag[3])) elseif not ig(a,B)then
au(z('ERR invalid %s: %s takes none',B,('ROLLING'))) elseif a[B]~=nil then
au(z('ERR syntax error: %s comes at most once',ag[2])) end end
local hr={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function hX(d) local bj,ij=cS(d,'^(%d+)(%l*)$')
local Q=bj and hr[ij]and cJ(bj,'18446744073709551615')and bj*hr[ij] return Q and Q>=1 and Q<=1e15 and Q or nil end
local function hW(d,aj) return d and#d>=1 and#d<=aj and d end local function hO(f,g) return ex(g,f)and g or f end
local kh=setmetatable({(2^24)-1,(2^24)-1,2^16-1},hp) local function ls(B,d,dr) if B=='RESERVE'then
local ai=dr and hX(dr) return hW(d,128)and ai and{id=d,ttl=ai}or X('RESERVE') elseif B=='RESERVATION'then
return hW(d,128)or X('RESERVATION') end if B=='AS'then
return d and#d>=1 and#d<=64 and not ac(d,'[^%w._-]')and d or X('AS') elseif B=='AT'then
local C=d and cJ(d,'9223372036854775807') return C and hO(eo(C),(cl(kh,1000)))or X('AT') end
return hV(B,d,B=='BURST'and 1 or 0) end local function lz(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
X(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
X(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local kf={FULL=true,LINE=true,HEADERS=true}
local function lf(bg,hP) if bg then X(bg==hP and'FORM_TWICE'or'TWO_FORMS') end return hP end local function lq(a,M,h,af)
while M[h]do local T,ag=M[h]:upper(),nil for N,hH in ipairs(hq)do ag=hH[1]==T and hH or ag end if ag then lA(ag,a,af)
if ag[2]==T then a[T]=true h=h+1 else a[T]=ls(T,M[h+1],M[h+2]) h=h+(T=='RESERVE'and 3 or 2) end lz(a)
elseif kf[T]and bh(af,'form')then a.form=lf(a.form,T) h=h+1 else return h end end return h end
local kg={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function tW(a,d) local S=hX(d)
if not S then a.aw=d:upper() S=kg[a.aw] if not S then
X(bh((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not bh((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
au(z('ERR invalid window: %s takes no windows of the calendar',('ROLLING'))) end end return S end local function kP(r)
return r:sub(-9)==':reserved'or r:sub(-14)==':reserved:ends' end local function lB(r) if kP(r)then X('RESERVED_KEY') end
end local function lN(a,av,h,r) local cO,by=av[h]or'',av[h+1] local aH=((nil)and(nil)(a)or'')..':reserved'
if(cO~=r..aH and cO~='{'..r..'}'..aH)or by~=cO..':ends'then X('KEYS') end a.ak,a.p=cO,by return h+2 end
local function hy(a) local lg=a.PARTIAL and a.v<a.e a.H=a.SHADOW and not a.w and(lg or not a.allowed)
if not a.allowed and(a.H or a.w)then a.allowed=true if not(nil)then local N,N,N,gb=cL(a) a.ttl=aL(gb) end end end
local function ib(a) cM(a,'keep',a.g) return a.remaining end local function hT(a,U,j) local R,e=a.now_ms,a.g
U=U and ex(U,R)and U or R if j==0 or(U<R and U<=R-a.B)then return'keep' end local F=cy(e)+j if F>=(2^53)then
X(F>2^63 and'OVERFLOW'or'INEXACT_REPLY') end return'charge',am(a,e or{i='R:',a=0,f=0,hi=0,lo=0},U,j) end
local function hQ(j) return j==0 and 1 or j end local function kw(a) local j=a.e cI(a,0) local P,p=hT(a,nil,j)
if j>0 then a.j,a.u=P,p end local ie=cx(a.j,a.u,a.g) cM(a,a.j,ie) a.allowed=a.y>0 and K(a,0)==0 a.q=a.y>0 and j or hQ(j)
if(nil)then a.count,a.ttl=(nil)(ie,a.now_ms) elseif a.allowed then a.ttl=aL(bz(K(a,a.y))) else local K=K(a,a.q)
a.ttl=K and math.max(1,aL(bz(K)))or-1 end end local function kx(a) local j=a.e if a.PARTIAL then j=math.min(j,ib(a)) end
a.v=j if a.ALWAYS then kw(a) else cI(a,j) end end local function cj(a) return a.now_ms+a.B end local function bT(d)
local C=cJ(d,'9223372036854775807')or X('FOREIGN_RESERVATION') local c=eo(C) return c-c==0 and c or X('INEXACT_STATE')
end local function ck(d) local j,kq,cn,cj,ai=cS(d,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not j or#ai>16 or tonumber(ai)>1e15 or ai=='0'then X('FOREIGN_RESERVATION') end return{ e=j~=''and bT(j)or nil,
l=bT(kq), b=bT(cn), x=bT(cj), ttl=bT(ai), } end local function lH(r,dq) dq=z('%.0f',dq)
local ic=t('ZRANGE',r,dq,dq,'WITHSCORES')[2] return ic and tonumber(ic) end local tZ,bx,dt,ua=4000,1000,1000,2*500
local function gc(b,V) b.n,b.E={},{} for N,v in ipairs(V)do if v.k.e then b.n[#b.n+1]={id=v.id,t=v.k}
elseif v.id~=b.id then b.E[#b.E+1]=v.id end end bx=math.max(0,bx-#b.n-#b.E) table.sort(b.n,function(f,g)
if f.t.l~=g.t.l then return f.t.l<g.t.l end return ci(f.id,g.id) end) b.aA=true end local function lE(b)
local D=t('ZRANGE',b.p,'0',z('%.0f',bx),'WITHSCORES') local bA,by,V,eJ={},{},{},false b.z=nil for c=1,#D,2 do
local cn=tonumber(D[c+1]) if cn>b.now_ms or#bA==bx then b.z=cn break end bA[#bA+1],by[#by+1]=D[c],cn end
local bb=#bA>0 and t('HMGET',b.o,unpack(bA))or{} for c,Z in ipairs(bA)do local Y=bb[c]and ck(bb[c])
if not Y or Y.b~=by[c]then return false end V[c]={id=Z,k=Y} eJ=eJ or Z==b.id end
if b.c and b.c.b<=b.now_ms and not eJ then V[#V+1]={id=b.id,k=b.c} end gc(b,V) local eI=0 for N,u in ipairs(b.n)do
eI=u.id==b.id and 1 or eI end local ln=#b.n+#b.E-eI b.q=b.a-(b.r and 1 or 0)==ln and 0 or nil return true end
local function hN(Y) return Y.e and math.max(Y.b+Y.ttl,Y.x)or Y.b end local function lD(b) local u,bX,hU={},{},nil
local eh=t('HGETALL',b.o) for c=1,#eh,2 do local Z=eh[c] if Z~=''then local v={id=Z,k=ck(eh[c+1])}
if v.k.b<=b.now_ms then u[#u+1]=v elseif Z~=b.id then bX[#bX+1]=v end end end if#u>bx then table.sort(u,function(f,g)
if f.k.b~=g.k.b then return f.k.b<g.k.b end return ci(f.id,g.id) end) for c=#u,bx+1,-1 do local v=table.remove(u,c)
if v.id==b.id then hU=v else bX[#bX+1]=v end end u[#u+1]=hU end b.z,b.q,b.N=nil,0,bX for N,v in ipairs(bX)do
b.z=math.min(b.z or v.k.b,v.k.b) b.q=math.max(b.q,hN(v.k)) end gc(b,u) end local function kk(b,aj)
local ds=b.D==1 and t('ZSCORE',b.p,'') b.aj=ds and true or false b.z=nil if aj>0 then
local V=t('HSCAN',b.o,ds and ar(-1-tonumber(ds))or'0','COUNT',ar(aj)) b.M,b.P,b.N=tonumber(V[1]),not ds,{}
for c=1,#V[2],2 do local Z=V[2][c] if Z~=''and Z~=b.id then b.N[#b.N+1]={id=Z,k=ck(V[2][c+1])} elseif Z~=''then
ck(V[2][c+1]) end end table.sort(b.N,function(f,g) return ci(f.id,g.id) end) b.J=b.M==0 end
if b.c and b.c.b<=b.now_ms then gc(b,{{id=b.id,k=b.c}}) b.q=b.a==1 and 0 or nil end end local function kY(a,Z)
local r=a.ak local V=t('HMGET',r,Z,'') local b={o=r,p=a.p,id=Z,now_ms=a.now_ms,n={},E={}} b.r=V[1]and ck(V[1])or nil
b.c=b.r b.D=V[2]and bT(V[2])or nil b.a=t('HLEN',r)-(b.D and 1 or 0) b.af=hC(r,b.now_ms) b.V=t('ZCARD',b.p) b.z=lH(b.p,0)
local lj=b.a==b.V and(b.D==0 or b.a==0 and not b.D) local kI=math.min(b.z or math.huge,b.c and b.c.b or math.huge)
b.J=lj and(kI>b.now_ms or lE(b)) if not b.J then local aR=b.a+(b.D and 1 or 0)
local aj=aR<=dt and aR or math.min(dt,500) dt=dt-aj if aj==aR then b.J,b.P=true,true lD(b) else kk(b,aj) end end
return b end local function hF(a,kl) local e,E,ab,ek=a.g,{},0,false for c=e and e.f or 0,e and e.a-1 or-1 do
local ih=bz(ca(e,c)) E[#E+1]={ms=aa(e.i,c),A=math.max(0,ih-ab)} ab=math.max(ab,ih) end local fZ,bk=0,{}
for N,v in ipairs(kl)do local h,ao=v.t.l,v.t.e if ao>0 and a.now_ms<v.t.x then local n=0 while E[n+1]and E[n+1].ms<=h do
n=n+1 end local es=n>0 and E[n].ms==h if not es and E[n+1]and bq(a,E[n+1].ms,h)then n=n+1 end for c=fZ+1,n do
bk[#bk+1]=E[c] end fZ=math.max(fZ,n) while ao>0 and#bk>0 do local cV=bk[#bk] local bZ=math.min(ao,cV.A)
cV.A,ao=cV.A-bZ,ao-bZ v.S=v.S or bZ>0 if cV.A==0 then bk[#bk]=nil end end ek=ek or v.S end end if not ek then return end
local aq,gh={'R:'},0 for N,ad in ipairs(E)do if ad.A>0 then gh=gh+ad.A aq[#aq+1]=bv(ad.ms,eq(gh)) end end
a.Q,a.r=true,a.g a.g=#aq>1 and ia(a,table.concat(aq))or nil a.Z=not a.g end local function lx(a,U,j) local e=a.g
if not e then return'keep' end local d,n=e.i,e.a if U then U=U-U==0 and U or(2^53) n=cH(d,e.a,U)
local es=n>e.f and aa(d,n-1)==U if not es and n<e.a and bq(a,aa(d,n),U)then n=n+1 end end local F,aE,bd=0,e.hi,e.lo
if n>e.f then F=ca(e,n-1) aE,bd=as(d,n-1) end local H=math.min(j,F) if H==0 then return'keep' elseif H==cy(e)then
return'delete' end local o,k=eq(H) o,k=((2^32)-o-(k>0 and 1 or 0))%(2^32),((2^32)-k)%(2^32) aE,bd=bY(aE,bd,o,k)
local bs=n while bs>0 do local ah,al=as(d,bs-1) if ah<aE or(ah==aE and al<=bd)then break end bs=bs-1 end
local hw=eC(d,bs,n,aE,bd)..eC(d,n,e.a,nil,nil,o,k) local p={i=bV(d,1,15*bs+2)..hw,a=e.a,f=e.f}
p.hi,p.lo,p.write,p.X,p.I=e.hi,e.lo,'SETRANGE',15*bs+2,hw if e.f>0 and e.f*2>=e.a then p.write='SET' end
return'refund',p end local function lJ(a,cG,eg) local ga=cG.e or 0 if cG.x<=a.now_ms then return'keep' elseif eg<ga then
return lx(a,cG.l,ga-eg) end return hT(a,cG.l,eg-ga) end local function eA(u,R) local bc=u.t if R>=bc.b+bc.ttl then
return nil end return{ l=bc.l, b=bc.b+bc.ttl, x=(u.S or bc.e==0)and bc.x or 0, ttl=bc.ttl, } end local function kM(a)
local b=a.U if hF then hF(a,b.n) else for N,u in ipairs(b.n)do if u.t.e>0 and b.now_ms<u.t.x then local P,p=lJ(a,u.t,0)
if P~='keep'then if not a.Q then a.Q,a.r=true,a.g end u.S=true a.g=cx(P,p,a.g) end end end end
if b.c and b.c.b<=b.now_ms then b.c=nil for N,u in ipairs(b.n)do if u.id==b.id then b.c=eA(u,b.now_ms) end end end end
local function lh(b) return b.c and b.c.e and b.c or nil end local function hS(b)
local H,cm,aW=b.a-(b.r and 1 or 0)-#b.E,b.z,b.q or 0 for N,u in ipairs(b.n)do local aV=u.id~=b.id and eA(u,b.now_ms)
if aV then cm=math.min(cm or aV.b,aV.b) aW=math.max(aW,aV.b) elseif u.id~=b.id then H=H-1 end end return H,cm,aW end
local function kL(b) local H,cm=hS(b) if b.c or H<100000 then return nil end return math.max(1,(cm or 0)-b.now_ms) end
local function kz(a) local j,b=a.e,a.U kM(a) a.w,a.K=lh(b),kL(b) if a.w then j=0 elseif a.PARTIAL then
j=math.min(j,ib(a)) end local hz=(nil)or cI hz(a,j) if a.K and a.allowed then hz(a,0) a.allowed,a.q=false,hQ(j)
if not(nil)then a.ttl=aL(a.K) end end a.v=j hy(a) end local function kX(a) a.U=kY(a,a.RESERVE.id) hL(a,'write') kz(a)
end local function hR(b,j,ai,cj) local R=b.now_ms b.c={e=j,l=R,b=R+ai,x=cj,ttl=ai} end local function lv(b,cW,ai)
if cW.b<b.now_ms+ai then hR(b,cW.e,ai,cW.x) b.c.l=cW.l end end local function li(a) local hE=not a.H if a.PARTIAL then
hE=a.v>0 and not a.K end return not a.w and a.allowed and hE end local function ku(a,P,p) if a.Q then p=cx(P,p,a.g)
a.g=a.r if not p then P=a.r and'delete'or'keep' elseif P~='charge'then P='refund' end end hx(a,P,p) end
local function hB(Y) local M={Y.e and ar(Y.e)or''} for c,aM in ipairs({Y.l,Y.b,Y.x,Y.ttl})do M[c+1]=ar(aM) end
return table.concat(M,':') end local function cE(kn,ez) local aB=0 for D=1,#ez,1000 do local aY={unpack(kn)}
for c=D,math.min(D+999,#ez)do aY[#aY+1]=ez[c] end aB=aB+t(unpack(aY)) end return aB end local function kt(b)
local H,N,aW=hS(b) if H==0 and not b.c then if b.a>0 or b.D then t('UNLINK',b.o) end if b.V>0 then t('UNLINK',b.p) end
return end local aR,cq,az={},{},{} local function br(bB,D,dr) bB[#bB+1]=D bB[#bB+1]=dr end for N,Z in ipairs(b.E)do
az[#az+1]=Z end for N,v in ipairs(b.N or{})do br(cq,ar(v.k.b),v.id) end for N,u in ipairs(b.n)do
local aV=u.id~=b.id and eA(u,b.now_ms) if aV then br(aR,u.id,hB(aV)) br(cq,ar(aV.b),u.id) elseif u.id~=b.id then
az[#az+1]=u.id end end if b.c and b.c~=b.r then br(aR,b.id,hB(b.c)) elseif not b.c and b.r then az[#az+1]=b.id end
if b.c then aW=math.max(aW,hN(b.c)) local kO=not b.r or b.c.b~=b.r.b if b.P or b.aj or b.J and kO then
br(cq,ar(b.c.b),b.id) end end local hM=b.J and 0 or 1 if b.D~=hM then br(aR,'',ar(hM)) end cE({'HSET',b.o},aR)
cE({'HDEL',b.o},az) if b.M and b.M>0 then br(cq,'-'..ar(b.M+1),'') end if b.P and b.V>0 then t('UNLINK',b.p) end
cE({'ZADD',b.p},cq) if b.M==0 then az[#az+1]='' end cE({'ZREM',b.p},az) local ae,hI,at=b.af,aW+5000,nil
local lT=not ae and not b.q and b.a>0 if not lT and(not ae or ae<aW or(b.q and ae>hI))then at=hI end ge(b.o,at)
if at or b.P and ae then ge(b.p,at or ae) end end local function kv(a,aN) if not aN and a.j=='charge'then
a.j,a.u='keep',nil end local b=a.U if b and aN and a.w then lv(b,a.w,a.RESERVE.ttl) elseif b and aN and li(a)then
local p=cx(a.j,a.u,a.g) hR(b,a.v,a.RESERVE.ttl,cj(a,p)) end ku(a,a.j,a.u) if b then kt(b) end end local function hY(a)
return a.w and a.w.e or a.H and a.e or a.v end local function hD(a) if not a.allowed then return 0 end
return a.PARTIAL and hY(a)or 1 end local function kK(a,am) local ba,lC,aI,gb,kB=cL(a) return{ 'allowed',hD(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.y, 'remaining',ba, 'retry_after_ms',lC, 'next_ms',aI, 'reset_ms',gb,
'delay_ms',kB, 'now_ms',a.now_ms, 'shadow',a.H and 1 or 0, 'charged',am, } end local function ld(cv) local bZ={}
for N,a in ipairs(cv)do local D,bj=a.AS or('ROLLING'):lower(),2 a.G=D while bZ[a.G]do a.G=z('%s-%d',D,bj) bj=bj+1 end
bZ[a.G]=true end end local function cQ(c) return z('%.0f',hO(c,999999999999999)) end local function lu(a)
local S=(nil)and(nil)(a)or a.B local el,L=1000,S%1000 while L>0 do el,L=L,el%L end local kb=1000/el
local cg=cl(bS(S,kb),1000) return z('"%s";q=%s;w=%s',a.G,cQ(bS(a.limit,kb)),cQ(cg)) end local function kT(v,eG)
if v.allowed~=eG.allowed then return not v.allowed end local K,eH=v.retry_after_ms,eG.retry_after_ms if K~=eH then
return K<0 or(eH>=0 and K>eH) end return v.remaining<eG.remaining end local function kQ(cv) local gf,hZ=cv[1],{} ld(cv)
for c,a in ipairs(cv)do hZ[c]=lu(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=cL(a) if kT(a,gf)then gf=a end end
local a=gf local bb={ 'X-RateLimit-Limit', z('%.0f',a.y), 'X-RateLimit-Remaining', z('%.0f',a.remaining), }
local function cP(aH,aM) bb[#bb+1]=aH bb[#bb+1]=aM end if a.reset_ms>=0 then
cP('X-RateLimit-Reset',z('%.0f',aL(a.now_ms+a.reset_ms))) end cP('RateLimit-Policy',table.concat(hZ,', '))
local la=a.next_ms>=0 and';t='..cQ(aL(a.next_ms))or'' cP('RateLimit',z('"%s";r=%s%s',a.G,cQ(a.remaining),la))
if not a.allowed and a.retry_after_ms>=0 then cP('Retry-After',z('%.0f',aL(a.retry_after_ms))) end return bb end
local function lm(a,am) if a.form=='FULL'then return kK(a,am) end return{hD(a),a.count,a.ttl,kQ({a})} end
ef={aa=kr,ab=kv,ac=hy,ad=kx,ae=kC,error_reply=kD,ag=kE,F=X,ah=kF,ai=kG,al=kX,an=lb,W=lc,ap=lm,aq=hV,ar=lq,Y=hY,as=lB,at=lI,au=lN,av=lP,ay=tW}
end return ef end if aZ then return w().error_reply(aZ) end local cK,bW=pcall(lG,KEYS,ARGV)
return cK and bW or w().error_reply(bW) end local function kH(ho,aD)
local ki,i,cF,ac,bt,z,t=math.abs,string.byte,string.char,string.find,string.sub,string.format,redis.call local dh
local gF=aD[1] local dF=aD[2] local dG=aD[3] if not dF then return end local cA=aD[4] local fr local ap local ax
if(dG=='LINE')and(not cA)then fr=4 ap=1 ax='LINE' else local fo local fp local fq if dG then if cA then
if not(((((aD[5]=='LINE')and(not aD[6]))and((#cA)<16))and(dG=='COST'))and ac(cA,'^[1-9]%d*$'))then return end fo=6
fp=cA+0 fq='LINE' else if(((aD[5]=='LINE')and(not aD[6]))and(dG=='COST'))and ac('','^[1-9]%d*$')then return end return
end else fo=3 fp=1 fq=nil end fr=fo ap=fp ax=fq end if not(((#dF)<16)and ac(dF,'^[1-9]%d*$'))then return end
local J=dF+0 if not(((#gF)<10)and ac(gF,'^[1-9]%d*$'))then return end local G=gF*1000 if not(G<9e12)then return end
local qv=aD[fr] if qv then return end local jd=t('TIME') local jh=(jd[1]*1e06)+jd[2] local s=(jh-(jh%1000))/1000
local aC=ho[1] if not aC then return end if ac(aC,':reserved',1,true)then return end if not((#ho)==1)then return end
local q=t('GET',aC) if q then local l local x local y local m=((#q)-2)/15
if(not(bt(q,1,2)=='R:'))or(((not((m%1)==0))or(m<1))or(8192<m))then return end local cB=s-G local fH if 0<=cB then
local ra,rb,rc,rd,re,rf,jn=i(q,3,9) if 32<=jn then return end
fH=(ra+(256*(rb+(256*(rc+(256*(rd+(256*(re+(256*(rf+(256*jn))))))))))))<=cB else fH=false end if fH then local di
local fI if m==0 then fI=true else local jo=m-1 local rg,rh,ri,rj,rk,rl,jp=i(q,((15*jo)+3),((15*jo)+9)) if 32<=jp then
return end fI=(rg+(256*(rh+(256*(ri+(256*(rj+(256*(rk+(256*(rl+(256*jp))))))))))))<=cB end if fI then di=m else
local co=0 local bO=m while 1<bO do local gQ=(bO-(bO%2))/2 local jq=co+gQ
local rm,rn,ro,rp,rq,rr,jr=i(q,((15*jq)+3),((15*jq)+9)) if 32<=jr then return end
local rs=rm+(256*(rn+(256*(ro+(256*(rp+(256*(rq+(256*(rr+(256*jr))))))))))) local fJ if rs<=cB then local rt=co+gQ fJ=rt
else fJ=co end local ru=bO-gQ co,bO=fJ,ru end local dM=co local um=bO
local rv,rw,rx,ry,rz,rA,js=i(q,((15*dM)+3),((15*dM)+9)) if 32<=js then return end
di=((rv+(256*(rw+(256*(rx+(256*(ry+(256*(rz+(256*(rA+(256*js))))))))))))<=cB)and(dM+1)or dM end local jt=di-1
local rB,rC,rD,rE,rF,rG,rH,rI=i(q,((15*jt)+10),((15*jt)+17)) local gR=rF+(256*(rG+(256*(rH+(256*rI)))))
local ju=rB+(256*(rC+(256*(rD+(256*rE))))) local jv=m-1 local rJ,rK,rL,rM,rN,rO,rP,rQ=i(q,((15*jv)+10),((15*jv)+17))
local jw=rN+(256*(rO+(256*(rP+(256*rQ))))) if(jw<gR)or((jw==gR)and((rJ+(256*(rK+(256*(rL+(256*rM))))))<ju))then return
end l=di x=gR y=ju else l=0 x=0 y=0 end local aK if 0<m then local jx=m-1
local rR,rS,rT,rU,rV,rW,rX,rY=i(q,((15*jx)+10),((15*jx)+17))
local gS=(((rV+(256*(rW+(256*(rX+(256*rY))))))-x)*2^32)+((rR+(256*(rS+(256*(rT+(256*rU))))))-y)
aK=(gS<0)and(gS+2^64)or gS else aK=0 end local rZ=(aK+ap)<=J if 2^53<=aK then return end if rZ then local W local ay
local cs local dn local ct local fM local fK if m==0 then fK=true else local jy=m-1
local sa,sb,sc,sd,se,sf,jz=i(q,((15*jy)+3),((15*jy)+9)) if 32<=jz then return end
fK=(sa+(256*(sb+(256*(sc+(256*(sd+(256*(se+(256*(sf+(256*jz))))))))))))<=s end if fK then fM=m else local cp=0
local bP=m while 1<bP do local gT=(bP-(bP%2))/2 local jA=cp+gT local sg,sh,si,sj,sk,sl,jB=i(q,((15*jA)+3),((15*jA)+9))
if 32<=jB then return end local sm=sg+(256*(sh+(256*(si+(256*(sj+(256*(sk+(256*(sl+(256*jB))))))))))) local fL
if sm<=s then local sn=cp+gT fL=sn else fL=cp end local so=bP-gT cp,bP=fL,so end local dN=cp local un=bP
local sp,sq,sr,ss,st,su,jC=i(q,((15*dN)+3),((15*dN)+9)) if 32<=jC then return end
fM=((sp+(256*(sq+(256*(sr+(256*(ss+(256*(st+(256*(su+(256*jC))))))))))))<=s)and(dN+1)or dN end local cC=ap%2^32
local dO=(ap-cC)/2^32 if 0<m then local cD=m-1 local sv,sw,sx,sy,sz,sA,sB,sC=i(q,((15*cD)+10),((15*cD)+17))
local jD=(sz+(256*(sA+(256*(sB+(256*sC))))))+dO local gU=(sv+(256*(sw+(256*(sx+(256*sy))))))+cC local dj local dk
if 2^32<=gU then dj=jD+1 dk=gU-2^32 else dj=jD dk=gU end local jE=dj%2^32 local jF=2^32<=dj if fM<m then return end
if l<m then local sD,sE,sF,sG,sH,sI,jG=i(q,((15*cD)+3),((15*cD)+9)) if 32<=jG then return end
local dP=sD+(256*(sE+(256*(sF+(256*(sG+(256*(sH+(256*(sI+(256*jG))))))))))) local dl if dP==s then dl=true else
if(G<=4096)or(((G/4096)+1)<=ki((dP-s)))then dl=false else if not((dP*4096)<2^53)then return end local jH=dP*4096
if not((s*4096)<2^53)then return end local jI=s*4096 dl=((jH-(jH%G))/G)==((jI-(jI%G))/G) end end local gV=dl and cD or m
local cc=s%16777216 local dQ=jE%65536 local dR=dk%65536 local dS=(s-cc)/16777216 local gW=(jE-dQ)/65536
local gX=(dk-dR)/65536 local dT=dS%65536
local jJ=cF((cc%256),(((cc-(cc%256))/256)%256),((cc-(cc%65536))/65536),(dT%256),((dT-(dT%256))/256),(((dS-dT)/65536)%256),((dS-(dS%16777216))/16777216),(dR%256),((dR-(dR%256))/256),(gX%256),((gX-(gX%256))/256),(dQ%256),((dQ-(dQ%256))/256),(gW%256),((gW-(gW%256))/256))
local gY=gV+1 local jK=(15*gV)+2 local fN if gV==m then fN='APPEND' else fN='SETRANGE' end local fO
if(m==0)or(((((0<l)and(m<=(l*2)))or jF)or(gY<m))or(8192<gY))then fO='SET' else fO=fN end W=bt(q,1,jK)..jJ ay=gY cs=fO
dn=jK ct=jJ else local jL=x+dO local gZ=y+cC local dm local fP if 2^32<=gZ then dm=gZ-2^32 fP=jL+1 else dm=gZ fP=jL end
local jM=fP%2^32 local cd=s%16777216 local dU=jM%65536 local dV=dm%65536 local dW=(s-cd)/16777216 local ha=(jM-dU)/65536
local hb=(dm-dV)/65536 local dX=dW%65536
local jN=cF((cd%256),(((cd-(cd%256))/256)%256),((cd-(cd%65536))/65536),(dX%256),((dX-(dX%256))/256),(((dW-dX)/65536)%256),((dW-(dW%16777216))/16777216),(dV%256),((dV-(dV%256))/256),(hb%256),((hb-(hb%256))/256),(dU%256),((dU-(dU%256))/256),(ha%256),((ha-(ha%256))/256))
local hc=m+1 local jO=(15*m)+2 local fQ if(m==0)or(((((0<l)and(m<=(l*2)))or jF)or(hc<m))or(8192<hc))then fQ='SET' else
fQ='APPEND' end W=bt(q,1,jO)..jN ay=hc cs=fQ dn=jO ct=jN end else local ce=s%16777216 local dY=dO%65536
local dZ=cC%65536 local ea=(s-ce)/16777216 local hd=(dO-dY)/65536 local he=(cC-dZ)/65536 local eb=ea%65536
local jP=cF((ce%256),(((ce-(ce%256))/256)%256),((ce-(ce%65536))/65536),(eb%256),((eb-(eb%256))/256),(((ea-eb)/65536)%256),((ea-(ea%16777216))/16777216),(dZ%256),((dZ-(dZ%256))/256),(he%256),((he-(he%256))/256),(dY%256),((dY-(dY%256))/256),(hd%256),((hd-(hd%256))/256))
local hf=m+1 local jQ=(15*m)+2 local fR if(m==0)or((((0<l)and(m<=(l*2)))or(hf<m))or(8192<hf))then fR='SET' else
fR='APPEND' end W=bt(q,1,jQ)..jP ay=hf cs=fR dn=jQ ct=jP end local bU if 0<ay then local jT=ay-1
local sP,sQ,sR,sS,sT,sU,sV,sW=i(W,((15*jT)+10),((15*jT)+17))
local hg=(((sT+(256*(sU+(256*(sV+(256*sW))))))-x)*2^32)+((sP+(256*(sQ+(256*(sR+(256*sS))))))-y)
bU=(hg<0)and(hg+2^64)or hg else bU=0 end local bo if bU<=0 then bo=0 else local ec=ay-1
local sX,sY,sZ,ta,tb,tc,td,te=i(W,((15*l)+10),((15*l)+17))
local hh=(((tb+(256*(tc+(256*(td+(256*te))))))-x)*2^32)+((sX+(256*(sY+(256*(sZ+(256*ta))))))-y) local fU local fV
if bU<=((hh<0)and(hh+2^64)or hh)then fU=l fV=l else local jU=(0<ec)and(ec-1)or 0
local tf,tg,th,ti,tj,tk,tl,tm=i(W,((15*jU)+10),((15*jU)+17))
local hi=(((tj+(256*(tk+(256*(tl+(256*tm))))))-x)*2^32)+((tf+(256*(tg+(256*(th+(256*ti))))))-y) local fT
if((hi<0)and(hi+2^64)or hi)<bU then fT=ec else fT=l end fU=fT fV=ec end local bQ=fV local bR=fU while bR<bQ do
local ed=((bR+bQ)-((bR+bQ)%2))/2 local tn,to,tp,tq,tr,ts,tt,tu=i(W,((15*ed)+10),((15*ed)+17))
local tv=tr+(256*(ts+(256*(tt+(256*tu))))) local tw=tn+(256*(to+(256*(tp+(256*tq))))) local hj=((tv-x)*2^32)+(tw-y)
local tx=(hj<0)and(hj+2^64)or hj local fW local fX if bU<=tx then fW=bR fX=ed else local ty=ed+1 fW=ty fX=bQ end
bQ,bR=fX,fW end local uo=bQ local jV=bR local tz,tA,tB,tC,tD,tE,jW=i(W,((15*jV)+3),((15*jV)+9)) if 32<=jW then return
end local jX=((tz+(256*(tA+(256*(tB+(256*(tC+(256*(tD+(256*(tE+(256*jW))))))))))))+G)-s bo=(0<jX)and jX or 0 end
if 2^53<=bo then return end local jY=bo%1000 local jZ=(bo<0)and(-1)or((jY==0)and(bo/1000)or(((bo-jY)/1000)+1)) local fd
if ax=='LINE'then local aw if 0<ay then local ix=ay-1 local mM,mN,mO,mP,mQ,mR,mS,mT=i(W,((15*ix)+10),((15*ix)+17))
local gp=(((mQ+(256*(mR+(256*(mS+(256*mT))))))-x)*2^32)+((mM+(256*(mN+(256*(mO+(256*mP))))))-y)
aw=(gp<0)and(gp+2^64)or gp else aw=0 end local gq=(aw<J)and(J-aw)or 0 local fc local da if gq<J then local iy=gq+1
local cZ local gr=J-iy if gr<0 then cZ=nil else if aw<=gr then cZ=0 else local gs=aw-gr local dz=ay-1
local mU,mV,mW,mX,mY,mZ,na,nb=i(W,((15*l)+10),((15*l)+17))
local gt=(((mY+(256*(mZ+(256*(na+(256*nb))))))-x)*2^32)+((mU+(256*(mV+(256*(mW+(256*mX))))))-y) local eR local eS
if gs<=((gt<0)and(gt+2^64)or gt)then eR=l eS=l else local iz=(0<dz)and(dz-1)or 0
local nc,nd,ne,nf,ng,nh,ni,nj=i(W,((15*iz)+10),((15*iz)+17))
local gu=(((ng+(256*(nh+(256*(ni+(256*nj))))))-x)*2^32)+((nc+(256*(nd+(256*(ne+(256*nf))))))-y) local eQ
if((gu<0)and(gu+2^64)or gu)<gs then eQ=dz else eQ=l end eR=eQ eS=dz end local bE=eS local bF=eR while bF<bE do
local dA=((bF+bE)-((bF+bE)%2))/2 local nk,nl,nm,nn,no,np,nq,nr=i(W,((15*dA)+10),((15*dA)+17))
local ns=no+(256*(np+(256*(nq+(256*nr))))) local nt=nk+(256*(nl+(256*(nm+(256*nn))))) local gv=((ns-x)*2^32)+(nt-y)
local nu=(gv<0)and(gv+2^64)or gv local eT local eU if gs<=nu then eT=bF eU=dA else local nv=dA+1 eT=nv eU=bE end
bE,bF=eU,eT end local uc=bE local iA=bF local nw,nx,ny,nz,nA,nB,iB=i(W,((15*iA)+3),((15*iA)+9)) if 32<=iB then return
end local iC=((nw+(256*(nx+(256*(ny+(256*(nz+(256*(nA+(256*(nB+(256*iB))))))))))))+G)-s cZ=(0<iC)and iC or 0 end end
local iD=cZ or(-1) local fb if iy==J then fb=iD else local fa if aw<=0 then fa=0 else local dB=ay-1
local nC,nD,nE,nF,nG,nH,nI,nJ=i(W,((15*l)+10),((15*l)+17))
local gw=(((nG+(256*(nH+(256*(nI+(256*nJ))))))-x)*2^32)+((nC+(256*(nD+(256*(nE+(256*nF))))))-y) local eW local eX
if aw<=((gw<0)and(gw+2^64)or gw)then eW=l eX=l else local iE=(0<dB)and(dB-1)or 0
local nK,nL,nM,nN,nO,nP,nQ,nR=i(W,((15*iE)+10),((15*iE)+17))
local gx=(((nO+(256*(nP+(256*(nQ+(256*nR))))))-x)*2^32)+((nK+(256*(nL+(256*(nM+(256*nN))))))-y) local eV
if((gx<0)and(gx+2^64)or gx)<aw then eV=dB else eV=l end eW=dB eX=eV end local bG=eW local bH=eX while bH<bG do
local dC=((bH+bG)-((bH+bG)%2))/2 local nS,nT,nU,nV,nW,nX,nY,nZ=i(W,((15*dC)+10),((15*dC)+17))
local oa=nW+(256*(nX+(256*(nY+(256*nZ))))) local ob=nS+(256*(nT+(256*(nU+(256*nV))))) local gy=((oa-x)*2^32)+(ob-y)
local oc=(gy<0)and(gy+2^64)or gy local eY local eZ if aw<=oc then eY=dC eZ=bH else local od=dC+1 eY=bG eZ=od end
bG,bH=eY,eZ end local ud=bG local iF=bH local oe,of,og,oh,oi,oj,iG=i(W,((15*iF)+3),((15*iF)+9)) if 32<=iG then return
end local iH=((oe+(256*(of+(256*(og+(256*(oh+(256*(oi+(256*(oj+(256*iG))))))))))))+G)-s fa=(0<iH)and iH or 0 end fb=fa
end fc=iD da=fb else fc=0 da=0 end if 2^53<=da then return end
local ok=z('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',aK,jZ,J,gq,fc,da,s,ap) fd=ok else if ax then return end
fd={1,aK,jZ} end if not redis.REDIS_VERSION_NUM then return end local iI=t('PEXPIRETIME',aC)
local iJ=(0<=iI)and iI or nil local db if iJ then db=iJ else db=nil end local bn if db then if(3*G)<=(2*(db-s))then
bn=nil else bn=s+(2*G) end else bn=s+(2*G) end if cs=='SET'then return else if cs=='APPEND'then
local ue=t('APPEND',aC,ct) if bn then local ol=z('%.0f',bn) local uf=t('PEXPIREAT',aC,ol) end else
local ug=t('SETRANGE',aC,z('%d',dn),ct) if bn then local om=z('%.0f',bn) local uh=t('PEXPIREAT',aC,om) end end end dh=fd
else local fS if 0<aK then local jR=m-1 local sJ,sK,sL,sM,sN,sO,jS=i(q,((15*jR)+3),((15*jR)+9)) if 32<=jS then return
end fS=s<(sJ+(256*(sK+(256*(sL+(256*(sM+(256*(sN+(256*(sO+(256*jS)))))))))))) else fS=false end if fS then return end
local dp if 0<m then local ka=m-1 local tF,tG,tH,tI,tJ,tK,tL,tM=i(q,((15*ka)+10),((15*ka)+17))
local hk=(((tJ+(256*(tK+(256*(tL+(256*tM))))))-x)*2^32)+((tF+(256*(tG+(256*(tH+(256*tI))))))-y)
dp=(hk<0)and(hk+2^64)or hk else dp=0 end local aJ local cf=J-ap if cf<0 then aJ=nil else if dp<=cf then aJ=0 else
local hl=dp-cf local ee=m-1 local tN,tO,tP,tQ,tR,tS,tT,tU=i(q,((15*l)+10),((15*l)+17))
local gi=(((tR+(256*(tS+(256*(tT+(256*tU))))))-x)*2^32)+((tN+(256*(tO+(256*(tP+(256*tQ))))))-y) local eL local eM
if hl<=((gi<0)and(gi+2^64)or gi)then eL=l eM=l else local ik=(0<ee)and(ee-1)or 0
local lV,lW,lX,lY,lZ,ma,mb,mc=i(q,((15*ik)+10),((15*ik)+17))
local gj=(((lZ+(256*(ma+(256*(mb+(256*mc))))))-x)*2^32)+((lV+(256*(lW+(256*(lX+(256*lY))))))-y) local eK
if((gj<0)and(gj+2^64)or gj)<hl then eK=ee else eK=l end eL=eK eM=ee end local bC=eM local bD=eL while bD<bC do
local du=((bD+bC)-((bD+bC)%2))/2 local md,me,mf,mg,mh,mi,mj,mk=i(q,((15*du)+10),((15*du)+17))
local ml=mh+(256*(mi+(256*(mj+(256*mk))))) local mm=md+(256*(me+(256*(mf+(256*mg))))) local gk=((ml-x)*2^32)+(mm-y)
local mn=(gk<0)and(gk+2^64)or gk local eN local eO if hl<=mn then eN=bD eO=du else local mo=du+1 eN=mo eO=bC end
bC,bD=eO,eN end local ub=bC local il=bD local mp,mq,mr,ms,mt,mu,im=i(q,((15*il)+3),((15*il)+9)) if 32<=im then return
end local io=((mp+(256*(mq+(256*(mr+(256*(ms+(256*(mt+(256*(mu+(256*im))))))))))))+G)-s aJ=(0<io)and io or 0 end end
local cX if aJ then if 2^53<=aJ then return end local ip=aJ%1000
local mv=(aJ<0)and(-1)or((ip==0)and(aJ/1000)or(((aJ-ip)/1000)+1)) cX=mv else cX=-1 end local iq=(cX==0)and 1 or cX
local fA if ax=='LINE'then local ak if 0<m then local iK=m-1
local on,oo,op,oq,os,ot,ou,ov=i(q,((15*iK)+10),((15*iK)+17))
local gz=(((os+(256*(ot+(256*(ou+(256*ov))))))-x)*2^32)+((on+(256*(oo+(256*(op+(256*oq))))))-y)
ak=(gz<0)and(gz+2^64)or gz else ak=0 end local gA=(ak<J)and(J-ak)or 0 local dc if cf<0 then dc=nil else if ak<=cf then
dc=0 else local gB=ak-cf local dD=m-1 local ow,ox,oy,oz,oA,oB,oC,oD=i(q,((15*l)+10),((15*l)+17))
local gC=(((oA+(256*(oB+(256*(oC+(256*oD))))))-x)*2^32)+((ow+(256*(ox+(256*(oy+(256*oz))))))-y) local ff local fg
if gB<=((gC<0)and(gC+2^64)or gC)then ff=l fg=l else local iL=(0<dD)and(dD-1)or 0
local oE,oF,oG,oH,oI,oJ,oK,oL=i(q,((15*iL)+10),((15*iL)+17))
local gD=(((oI+(256*(oJ+(256*(oK+(256*oL))))))-x)*2^32)+((oE+(256*(oF+(256*(oG+(256*oH))))))-y) local fe
if((gD<0)and(gD+2^64)or gD)<gB then fe=dD else fe=l end ff=fe fg=dD end local bI=fg local bJ=ff while bJ<bI do
local dE=((bJ+bI)-((bJ+bI)%2))/2 local oM,oN,oO,oP,oQ,oR,oS,oT=i(q,((15*dE)+10),((15*dE)+17))
local oU=oQ+(256*(oR+(256*(oS+(256*oT))))) local oV=oM+(256*(oN+(256*(oO+(256*oP))))) local gE=((oU-x)*2^32)+(oV-y)
local oW=(gE<0)and(gE+2^64)or gE local fh local fi if gB<=oW then fh=bJ fi=dE else local oX=dE+1 fh=oX fi=bI end
bI,bJ=fi,fh end local ui=bI local iM=bJ local oY,oZ,pa,pb,pc,pd,iN=i(q,((15*iM)+3),((15*iM)+9)) if 32<=iN then return
end local iO=((oY+(256*(oZ+(256*(pa+(256*(pb+(256*(pc+(256*(pd+(256*iN))))))))))))+G)-s dc=(0<iO)and iO or 0 end end
local iP=dc or(-1) local fz local de if gA<J then local iQ=gA+1 local dd local gG=J-iQ if gG<0 then dd=nil else
if ak<=gG then dd=0 else local gH=ak-gG local dH=m-1 local pe,pf,pg,ph,pi,pj,pk,pl=i(q,((15*l)+10),((15*l)+17))
local gI=(((pi+(256*(pj+(256*(pk+(256*pl))))))-x)*2^32)+((pe+(256*(pf+(256*(pg+(256*ph))))))-y) local fk local fl
if gH<=((gI<0)and(gI+2^64)or gI)then fk=l fl=l else local iR=(0<dH)and(dH-1)or 0
local pm,pn,po,pp,pq,pr,ps,pt=i(q,((15*iR)+10),((15*iR)+17))
local gJ=(((pq+(256*(pr+(256*(ps+(256*pt))))))-x)*2^32)+((pm+(256*(pn+(256*(po+(256*pp))))))-y) local fj
if((gJ<0)and(gJ+2^64)or gJ)<gH then fj=dH else fj=l end fk=fj fl=dH end local bK=fl local bL=fk while bL<bK do
local dI=((bL+bK)-((bL+bK)%2))/2 local pu,pv,pw,px,py,pz,pA,pB=i(q,((15*dI)+10),((15*dI)+17))
local pC=py+(256*(pz+(256*(pA+(256*pB))))) local pD=pu+(256*(pv+(256*(pw+(256*px))))) local gK=((pC-x)*2^32)+(pD-y)
local pE=(gK<0)and(gK+2^64)or gK local fm local fn if gH<=pE then fm=bL fn=dI else local pF=dI+1 fm=pF fn=bK end
bK,bL=fn,fm end local uj=bK local iS=bL local pG,pH,pI,pJ,pK,pL,iT=i(q,((15*iS)+3),((15*iS)+9)) if 32<=iT then return
end local iU=((pG+(256*(pH+(256*(pI+(256*(pJ+(256*(pK+(256*(pL+(256*iT))))))))))))+G)-s dd=(0<iU)and iU or 0 end end
local iV=dd or(-1) local fy if iQ==J then fy=iV else local fx if ak<=0 then fx=0 else local dJ=m-1
local pM,pN,pO,pP,pQ,pR,pS,pT=i(q,((15*l)+10),((15*l)+17))
local gL=(((pQ+(256*(pR+(256*(pS+(256*pT))))))-x)*2^32)+((pM+(256*(pN+(256*(pO+(256*pP))))))-y) local ft local fu
if ak<=((gL<0)and(gL+2^64)or gL)then ft=l fu=l else local iW=(0<dJ)and(dJ-1)or 0
local pU,pV,pW,pX,pY,pZ,qa,qb=i(q,((15*iW)+10),((15*iW)+17))
local gM=(((pY+(256*(pZ+(256*(qa+(256*qb))))))-x)*2^32)+((pU+(256*(pV+(256*(pW+(256*pX))))))-y) local fs
if((gM<0)and(gM+2^64)or gM)<ak then fs=dJ else fs=l end ft=fs fu=dJ end local bM=fu local bN=ft while bN<bM do
local dK=((bN+bM)-((bN+bM)%2))/2 local qc,qd,qe,qf,qg,qh,qi,qj=i(q,((15*dK)+10),((15*dK)+17))
local qk=qg+(256*(qh+(256*(qi+(256*qj))))) local ql=qc+(256*(qd+(256*(qe+(256*qf))))) local gN=((qk-x)*2^32)+(ql-y)
local qm=(gN<0)and(gN+2^64)or gN local fv local fw if ak<=qm then fv=bN fw=dK else local qn=dK+1 fv=qn fw=bM end
bM,bN=fw,fv end local uk=bM local iX=bN local qo,qp,qq,qr,qs,qt,iY=i(q,((15*iX)+3),((15*iX)+9)) if 32<=iY then return
end local iZ=((qo+(256*(qp+(256*(qq+(256*(qr+(256*(qs+(256*(qt+(256*iY))))))))))))+G)-s fx=(0<iZ)and iZ or 0 end fy=fx
end fz=iV de=fy else fz=0 de=0 end if(2^53<=iP)or(2^53<=de)then return end
local qu=z('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',aK,iq,J,gA,iP,fz,de,s) fA=qu else if ax then return end
fA={0,aK,iq} end if not redis.REDIS_VERSION_NUM then return end local ja=t('PEXPIRETIME',aC)
local jb=(0<=ja)and ja or nil local df if jb then df=jb else df=nil end local cr if df then if(3*G)<=(2*(df-s))then
cr=nil else cr=s+(2*G) end else cr=s+(2*G) end local fB if 0<m then local jc=m-1
local qw,qx,qy,qz,qA,qB,qC,qD=i(q,((15*jc)+10),((15*jc)+17))
local gO=(((qA+(256*(qB+(256*(qC+(256*qD))))))-x)*2^32)+((qw+(256*(qx+(256*(qy+(256*qz))))))-y)
fB=(gO<0)and(gO+2^64)or gO else fB=0 end if not(fB==0)then if cr then local qE=z('%.0f',cr)
local ul=t('PEXPIREAT',aC,qE) end end dh=fA end else local mw=ap<=J if mw then local gl=ap%2^32 local ir=(ap-gl)/2^32
local cb=s%16777216 local dv=ir%65536 local dw=gl%65536 local dx=(s-cb)/16777216 local gm=(ir-dv)/65536
local gn=(gl-dw)/65536 local dy=dx%65536
local cz=bt('R:',1,2)..cF((cb%256),(((cb-(cb%256))/256)%256),((cb-(cb%65536))/65536),(dy%256),((dy-(dy%256))/256),(((dx-dy)/65536)%256),((dx-(dx%16777216))/16777216),(dw%256),((dw-(dw%256))/256),(gn%256),((gn-(gn%256))/256),(dv%256),((dv-(dv%256))/256),(gm%256),((gm-(gm%256))/256))
local mx,my,mz,mA,mB,mC,mD,mE=i(cz,10,17)
local go=((mB+(256*(mC+(256*(mD+(256*mE))))))*2^32)+(mx+(256*(my+(256*(mz+(256*mA)))))) local eP
if((go<0)and(go+2^64)or go)<=0 then eP=0 else local mF,mG,mH,mI,mJ,mK,is=i(cz,3,9) if 32<=is then return end
local it=((mF+(256*(mG+(256*(mH+(256*(mI+(256*(mJ+(256*(mK+(256*is))))))))))))+G)-s eP=(0<it)and it or 0 end
if 2^53<=eP then return end if ax=='LINE'then local qF,qG,qH,qI,qJ,qK,qL,qM=i(cz,10,17)
local gP=((qJ+(256*(qK+(256*(qL+(256*qM))))))*2^32)+(qF+(256*(qG+(256*(qH+(256*qI)))))) local dL=(gP<0)and(gP+2^64)or gP
local je=(dL<J)and(J-dL)or 0 local fE if je<J then local jf=je+1 local dg local jg=J-jf if jg<0 then dg=nil else
if dL<=jg then dg=0 else local qN,qO,qP,qQ,qR,qS,ji=i(cz,3,9) if 32<=ji then return end
local jj=((qN+(256*(qO+(256*(qP+(256*(qQ+(256*(qR+(256*(qS+(256*ji))))))))))))+G)-s dg=(0<jj)and jj or 0 end end
local qT=dg or(-1) local fD if jf==J then fD=qT else local fC if dL<=0 then fC=0 else
local qU,qV,qW,qX,qY,qZ,jk=i(cz,3,9) if 32<=jk then return end
local jl=((qU+(256*(qV+(256*(qW+(256*(qX+(256*(qY+(256*(qZ+(256*jk))))))))))))+G)-s fC=(0<jl)and jl or 0 end fD=fC end
fE=fD else fE=0 end if 2^53<=fE then return end else if ax then return end end return else local aX local iu=J-ap
if iu<0 then aX=nil else aX=0 end local cY if aX then if 2^53<=aX then return end local iv=aX%1000
local mL=(aX<0)and(-1)or((iv==0)and(aX/1000)or(((aX-iv)/1000)+1)) cY=mL else cY=-1 end local iw=(cY==0)and 1 or cY
local fG if ax=='LINE'then local fF if iu<0 then fF=nil else fF=0 end local jm=fF or(-1) if 2^53<=jm then return end
fG=z('0 0 %.0f %.0f %.0f %.0f 0 0 0 %.0f 0 0',iw,J,J,jm,s) else if ax then return end fG={0,0,iw} end dh=fG end end
return dh end local cK,bW=pcall(kH,KEYS,ARGV) if cK and bW then return bW end return lL(not cK and bW)
