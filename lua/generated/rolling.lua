-- RL.ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function lq(bb) local dV,w local ag,x,bk,bX=string.find,string.format,string.match,string.sub
local function hM(aC) return aC==''and 1000 or aC=='ms'and 1 or aC=='s'and 1000 or aC=='m'and 60000
or aC=='h'and 3600000 or aC=='d'and 86400000 or nil end local function kW(N,h,af) local cD,aV,B=N[h],N[h+1],N[h+2]
if not aV then w().A('ARITY') end local a={ l='', ak=0, now_ms=0, x=0, at=0, limit=0, u=0, d=1, form=nil, delay=0,
f=nil, q=nil, allowed=false, count=0, ttl=0, h='keep', remaining=0, r=1, } h=h+2
if B=='LINE'and not N[h+1]and af~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,h=B,h+1 elseif B then
local aO=N[h+1]or''
local hq=af==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and N[h+2]=='LINE'and not N[h+3]and#aO<16
if hq and B=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and ag(aO,'^[1-9]%d*$')then
a.form,a.d,h='LINE',aO+0,h+3 elseif hq and B=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and aO~=''then
a.form,a.ID,h='LINE',aO,h+3 else h=w().an(a,N,h,af) a.d=a.COST or 1 end end local kx=#aV<16 and ag(aV,'^[1-9]%d*$')
a.limit=kx and aV+0 or w().am('limit',aV,0) local aw,aC=bk(cD,'^([1-9]%d*)(%l*)$') local cw=aw and#cD<16 and hM(aC)
local H=cw and aw*cw if not H or H<1 or H>1e15 then H=w().au(a,cD) end
a.x,a.at,a.u=H,H<9e12 and H*1000 or w().Q(H,1000),a.BURST or a.limit return a,h end local function kU(N,af)
local a,h=kW(N,1,af) if N[h]then w().ae(a,af,N[h]) end return a end local s=redis.call local function lb(a)
local hS=s('TIME') local eu=hS[1]*1000000+hS[2] a.ak,a.now_ms=eu,(eu-eu%1000)/1000 end local function lt(a,av,h,gX,ek)
local p=av[h] if not p then w().A('KEYS') end a.l,h=p,h+1 if ek then a.B=p elseif ag(p,':reserved',1,true)then w().ao(p)
end if gX then h=a.ax and h+2 or w().aq(a,av,h,p) end return h end local function kY(a,av,gX,ek) lb(a)
if#av~=lt(a,av,1,gX,ek)-1 then w().A('KEYS') end end local hf,jT=string.byte,string.char local function aa(d,c)
local f,g,aQ,aS,bg,bh,aH=hf(d,15*c+3,15*c+9) if aH>=32 then w().A('INEXACT_STATE') end
return f+256*(g+256*(aQ+256*(aS+256*(bg+256*(bh+256*aH))))) end local function cG(d,A,R) if A==0 or aa(d,A-1)<=R then
return A end local bw,cx=0,A while cx>1 do local eg=(cx-cx%2)/2 if aa(d,bw+eg)<=R then bw=bw+eg end cx=cx-eg end
return aa(d,bw)<=R and bw+1 or bw end local function as(d,c) local f,g,aQ,aS,bg,bh,aH,kr=hf(d,15*c+10,15*c+17)
return bg+256*(bh+256*(aH+256*kr)),f+256*(g+256*(aQ+256*aS)) end local function hK(a,d) local A=(#d-2)/15
if bX(d,1,2)~='R:'or A%1~=0 or A<1 or A>8192 then return nil end local ee,D,n,k=a.now_ms-a.x,0,0,0
if ee>=0 and aa(d,0)<=ee then D=cG(d,A,ee) n,k=as(d,D-1) local cQ,em=as(d,A-1) if cQ<n or(cQ==n and em<k)then return nil
end end return{g=d,a=A,e=D,hi=n,lo=k} end local function hv(a) local d=s('GET',a.l) if d then
a.f=hK(a,d)or w().ad(d,'ROLLING','FOREIGN_VALUE') end end local function lx(n,k,kv,kB) local G=(n-kv)*(2^32)+(k-kB)
return G<0 and G+(2^32)*(2^32)or G end local function cd(e,c) local n,k=as(e.g,c) return lx(n,k,e.hi,e.lo) end
local function cz(e) return e and e.a>0 and cd(e,e.a-1)or 0 end local function bB(c) if c-c~=0 or c>=(2^53)then
w().A('INEXACT_REPLY') end return c end local function eh(G) local k=G%(2^32) return(G-k)/(2^32),k end
local function cb(n,k,kP,kQ) n,k=n+kP,k+kQ if k>=(2^32)then n,k=n+1,k-(2^32) end return n%(2^32),k,n>=(2^32) end
local function cn(f,g) if f-f==0 and g-g==0 then local M=f%g return(f-M)/g,M end return w().aa(f,g) end
local function bU(f,g) if f-f==0 and g-g==0 and f*g<(2^53)then return f*g end return w().Q(f,g) end
local function bs(a,f,g) local H=a.x if f==g then return true elseif H<=4096 or math.abs(f-g)>=H/4096+1 then
return false end return(cn(bU(f,4096),H))==(cn(bU(g,4096),H)) end local function ed(e,aI,ad,M,bo)
local d,ac,D=e.g,e.a,e.e local A,ev=aI+(ac-M)+1,15*aI+2 local o={g=bX(d,1,ev)..ad,a=A,e=D,hi=e.hi,lo=e.lo}
o.write,o.S,o.E='SETRANGE',ev,ad if M<ac then o.E=ad..bX(d,15*M+3) o.g=bX(d,1,ev)..o.E elseif aI==ac then
o.write='APPEND' end if ac==0 or(D>0 and D*2>=ac)or bo or A<ac or A>8192 then o.write='SET' end return o end
local function bx(R,n,k) local f,g=R%16777216,n%65536 local aQ,aS=k%65536,(R-R%16777216)/16777216
local bg,bh,aH=(n-g)/65536,(k-aQ)/65536,aS%65536 return jT( f%256,(f-f%256)/256%256,(f-f%65536)/65536,
aH%256,(aH-aH%256)/256,(aS-aH)/65536%256,(aS-aS%16777216)/16777216, aQ%256,(aQ-aQ%256)/256,bh%256,(bh-bh%256)/256,
g%256,(g-g%256)/256,bg%256,(bg-bg%256)/256 ) end local function am(a,e,h,G) local d,A=e.g,e.a local P=cG(d,A,h)
local n,k=eh(G) local ai,al,bo,aI=e.hi,e.lo,false,A if A>0 then local cQ,em=as(d,A-1) ai,al,bo=cb(cQ,em,n,k) if P<A then
return w().W(a,e,P,h,n,k,bo) elseif A>e.e then aI=bs(a,aa(d,A-1),h)and A-1 or A else ai,al=cb(e.hi,e.lo,n,k) end else
ai,al=n,k end return ed(e,aI,bx(h,ai,al),A,bo) end local function cL(a,O,e) local G=cz(e)
a.ai,a.w,a.remaining=e,G,G<a.limit and a.limit-G or 0 end local function cy(Q,o,ac) if Q=='keep'then return ac end
return Q~='delete'and o or nil end local function aN(R) local M=R%1000
return R<0 and-1 or M==0 and R/1000 or(R-M)/1000+1 end local function L(a,j) local fQ,e,G=a.limit-j,a.ai,a.w
if fQ<0 then return nil elseif G<=fQ then return 0 end local et,aW,aU=G-fQ,e.e,e.a-1 if cd(e,aW)>=et then aU=aW
elseif cd(e,aU>0 and aU-1 or 0)<et then aW=aU end while aW<aU do local er=(aW+aU-(aW+aU)%2)/2 if cd(e,er)>=et then aU=er
else aW=er+1 end end local ao=aa(e.g,aW)+a.x-a.now_ms return ao>0 and ao or 0 end local function lw(a,j)
local L=L(a,j==0 and 1 or j) L=L and aN(bB(L))or-1 return L==0 and 1 or L end local function cH(a,j)
local e,aV=a.f,a.limit local G=cz(e) local aP=G+(j==0 and 1 or j)<=aV a.allowed,a.count,a.h=aP,bB(G),'keep'
if aP and j>0 then a.h='charge' a.q=am(a,e or{g='R:',a=0,e=0,hi=0,lo=0},a.now_ms,j)
elseif not aP and G>0 and aa(e.g,e.a-1)>a.now_ms then a.h,a.q='rebase',w().aj(a,e) end cL(a,a.h,cy(a.h,a.q,e))
if aP then a.ttl=aN(bB(L(a,aV))) else a.ttl=lw(a,j) end end local function kc(a) if a.PARTIAL or a.ALWAYS then w().Z(a)
else local j=a.d a.r=j cH(a,j) end if a.SHADOW then w().Y(a) end end local function cK(a) local Q,L=a.h,L
cL(a,Q,Q=='keep'and a.f or Q~='delete'and a.q or nil) local bc,dZ,aA,aK,br=a.remaining,a.u,0,0,0 if not a.allowed then
local j=a.r aA=L(a,a.n or(j==0 and 1 or j))or-1 if a.G and aA>=0 then aA=math.max(aA,a.G) end end if bc<dZ then
aK=L(a,bc+1)or-1 br=bc+1==dZ and aK or L(a,dZ)or-1 end
if aA-aA~=0 or aK-aK~=0 or br-br~=0 or aA>=(2^53)or br>=(2^53)then w().A('INEXACT_REPLY') end return bc,aA,aK,br,0 end
local function kA(a,am) local bc,aA,aK,br,ke=cK(a) local lp=a.D and 1 or 0 return x(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and w().U(a)or 1)or 0,a.count,a.ttl,a.u,bc,aA,aK,br, ke,a.now_ms,lp,am ) end
local function ld(a,am) local bi=a.form if bi=='LINE'then return kA(a,am) elseif bi then return w().al(a,am) end
return{a.allowed and(a.PARTIAL and w().U(a)or 1)or 0,a.count,a.ttl} end local function jW(a) if a.s then return a.s.d
end if a.h~='charge'then return 0 elseif a.ALWAYS then return a.r elseif not a.allowed or(a.D and not a.PARTIAL)then
return 0 end return a.r end local function hm(p,S) if not redis.REDIS_VERSION_NUM then return w().ac(p,S) end
local h=s('PEXPIRETIME',p) return h>=0 and h or nil end local function kJ(a,ae) local S,H=a.now_ms,a.x
if ae and 2*(ae-S)>=3*H then return nil end return S+2*H end local function ar(c) if c-c~=0 then return w().ar(c) end
return x('%.0f',c) end local function fR(p,U) if U then s('PEXPIREAT',p,ar(U)) end end local function hh(a,Q,o)
local p,ac=a.l,a.f if Q=='delete'then s('UNLINK',p) return end local ae=ac and not a.V and hm(p,a.now_ms)or nil
local at=kJ(a,ae) if Q~='keep'then local jG=o.write if jG=='SET'or a.K then w().ap(a,o,at,ae) return
elseif jG=='APPEND'then s('APPEND',p,o.E) else s('SETRANGE',p,x('%d',o.S),o.E) end elseif cz(ac)==0 then return end
fR(p,at) end local function ll(av,N)
local a=kU(N,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') kY(a,av,a.RESERVE)
if a.RESERVE then w().ah(a) else hv(a,'write') kc(a) end local jQ=ld(a,jW(a)) if a.SHADOW or a.RESERVE then
w().X(a,true) else hh(a,a.h,a.q) end return jQ end function w() if not dV then local J={}
J.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
J.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
J.ID='ERR invalid ID: expected 1 to 512 bytes'
J.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
J.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
J.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
J.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
J.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
J.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
J.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
J.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
J.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
J.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
J.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
J.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' J.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
J.OVERFLOW='ERR increment or decrement would overflow'
J.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
J.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
J.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
J.ARITY='ERR wrong number of arguments' J.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
local function es(d,kn,lv,aG,bf,n,k) local aq={} for c=kn,lv-1 do local cR,cS=aG,bf if not aG then cR,cS=as(d,c)
cR,cS=cb(cR,cS,n,k) end aq[#aq+1]=bx(aa(d,c),cR,cS) end return table.concat(aq) end local function jV(a,e,P,h,n,k,bo)
local d,A,aI,M=e.g,e.a,P,P local ai,al,R=e.hi,e.lo,h if P>e.e then ai,al=as(d,P-1) end
if P>e.e and bs(a,aa(d,P-1),h)then aI=P-1 elseif bs(a,aa(d,P),h)then R,M=aa(d,P),P+1 ai,al=as(d,P) end
ai,al=cb(ai,al,n,k) local kz=es(d,M,A,nil,nil,n,k) local tA={g=bX(d,1,15*M+2)..kz,a=A,e=e.e,hi=e.hi,lo=e.lo}
return ed(tA,aI,bx(R,ai,al),M,bo) end local function kG(a,e) local d,S=e.g,a.now_ms local P=cG(d,e.a,S)
local el=P>e.e and bs(a,aa(d,P-1),S) local n,k=as(d,e.a-1) return ed(e,el and P-1 or P,bx(S,n,k),e.a,false) end
local function lk(a,e) local d,E=e.g,{} for c=e.e,e.a-1 do local n,k=as(d,c)
n,k=cb(n,k,((2^32)-e.hi-(e.lo>0 and 1 or 0))%(2^32),((2^32)-e.lo)%(2^32)) local l=E[#E]
if(l or n>0 or k>0)and not(l and l.hi==n and l.lo==k)then E[#E+1]={ms=aa(d,c),hi=n,lo=k} end end if#E>4096+1 then
local bl={} for O,ad in ipairs(E)do local el=#bl>0 and bs(a,ad.ms,bl[#bl].ms) bl[el and#bl or#bl+1]=ad end E=bl end
if#E>8192 then local l,cj=E[#E],0 while cj<#E and E[cj+1].ms<=a.now_ms do cj=cj+1 end
for c=#E,math.min(cj,8192-1)+1,-1 do E[c]=nil end E[#E+1]=l end local aq={'R:'} for c,ad in ipairs(E)do
aq[c+1]=bx(ad.ms,ad.hi,ad.lo) end return table.concat(aq) end local function ln(a,o,at,ae)
local p,d=a.l,o.write=='SET'and lk(a,o)or o.g if at then s('SET',p,d,'PXAT',ar(at)) elseif ae then
s('SET',p,d,'KEEPTTL') end end local function au(d) error({err=d},0) end local function X(aJ) au(J[aJ]) end
local function kj(d,T,kT) local tC={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local gY=tC[bk(d,'^(%u):')]
if not gY or gY==T then X(kT) end au('ERR the key holds a state of '..gY..': use another key for each algorithm') end
local function kh(bb) if type(bb)=='table'then return bb elseif ag(bb,'^%u+ ')then return redis.error_reply(bb) end
error(bb,0) end local function by(c) if c-c~=0 then return c end local C,I={},0 while c>0 do local an=c%(2^24) I=I+1
C[I]=an c=(c-an)/(2^24) end return C end local ha={ __sub=function() return 1 end, } local function cM(C) local I=#C
while I>0 and C[I]==0 do C[I]=nil I=I-1 end if I>3 or(I==3 and C[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(C,ha)
end return(C[1]or 0)+(C[2]or 0)*(2^24)+(C[3]or 0)*(2^24)*(2^24) end local function kH(f,g) f,g=by(f),by(g) local cu={}
for c=1,#f+#g do cu[c]=0 end for c=1,#f do local aR=0 for eo=1,#g do local an=cu[c+eo-1]+f[c]*g[eo]+aR
aR=math.floor(an/(2^24)) cu[c+eo-1]=an-aR*(2^24) end cu[c+#g]=aR end return cM(cu) end local function hu(f,g)
local hc,jS=f-f==0,g-g==0 if hc or jS then return hc elseif#f~=#g then return#f<#g end for c=#f,1,-1 do
if f[c]~=g[c]then return f[c]<g[c] end end return false end local function en(f,g) if f-f==0 and g-g==0 then return f<g
end return hu(f,g) end local function he(c) if c-c==0 then return c end local aB=0 for P=#c,1,-1 do aB=aB*(2^24)+c[P]
end return aB end local function jN(f,g) f,g=by(f),by(g) local aB,aR={},0 for c=1,math.max(#f,#g)+1 do
local an=(f[c]or 0)+(g[c]or 0)+aR aR=an>=(2^24)and 1 or 0 aB[c]=an-aR*(2^24) end return cM(aB) end
local function hd(f,g) if f-f==0 and g-g==0 and f+g<(2^53)then return f+g end return jN(f,g) end local function lr(f,g)
if not hu(g,f)then return 0 end g=by(g) local hk,dY={},0 for c=1,#f do local an=f[c]-(g[c]or 0)-dY dY=an<0 and 1 or 0
hk[c]=an+dY*(2^24) end return cM(hk) end local function ca(f,g) if f-f==0 and g-g==0 then return f>g and f-g or 0 end
return lr(f,g) end local function kg(f,g) local fL=0 while not en(f,g)do
local ba=math.max(1,math.floor(he(f)/he(g)*(1-2^-45))) ba=cM(by(ba)) fL=hd(fL,ba) f=ca(f,bU(ba,g)) end return fL,f end
local function lu(c) local fT='' while c-c~=0 do local M c,M=cn(c,10000000) fT=x('%07.0f',M)..fT end
return x('%.0f',c)..fT end local function ki(p,S) local ao=s('PTTL',p) return ao>=0 and S+ao or nil end
local function ck(f,g) for h=1,math.min(#f,#g)do local jH,jI=f:byte(h),g:byte(h) if jH~=jI then return jH<jI end end
return#f<#g end local function cI(d,ak) if d~='0'and not ag(d,'^[1-9]%d*$')then return nil end
return(#d<#ak or(#d==#ak and not ck(ak,d)))and d or nil end local function ef(C)
if#C<=15 or(#C==16 and ck(C,'9007199254740992'))then return C+0 end local ei=#C%7 local c=ei>0 and C:sub(1,ei)+0 or 0
for h=ei+1,#C,7 do c=hd(bU(c,10000000),C:sub(h,h+6)+0) end return c end local function hF(aJ,d,ht)
local C=d and cI(d,'9223372036854775807') local c=C and ef(C) if not c or c==0 and ht>0 then
au(x('ERR invalid %s: expected an integer from %d to 9223372036854775807',aJ,ht)) elseif c-c~=0 then
au(x('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aJ)) end return c end local hb={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bj(bD,T)
return not ag(T,' ',1,true)and ag(bD,' '..T..' ',1,true)~=nil end local function hQ(a,B)
return not bj(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',B)or bj((' COST PARTIAL ALWAYS RESERVE RESERVATION '),B)
end local function kw(T,B) local D,l=0,0 local hO,kE=math.min(#T,#B),math.max(#T,#B)
while D<hO and T:byte(D+1)==B:byte(D+1)do D=D+1 end while l<hO-D and T:byte(-1-l)==B:byte(-1-l)do l=l+1 end
return D+l>=2 and kE-D-l<=2 end local function kk(a,af,T) local bn={} for O,ah in ipairs(hb)do
if bj(af,ah[1])and hQ(a,ah[1])then bn[#bn+1]=ah[2] end end for O,bi in ipairs({'FULL','LINE','HEADERS'})do bn[#bn+1]=bi
end for O,B in ipairs(bn)do if kw(T:upper(),bk(B,'^%u+'))then au('ERR syntax error: no such option, but there is '..B)
end end local l=table.remove(bn) local lz=table.concat(bn,', ')
au('ERR syntax error: after limit come '..lz..' or '..l..', each at most once') end local function lf(ah,a,af)
local B,tD=ah[1],a.av if not bj(af,B)then au(x('ERR invalid %s: only %s it',B,ah[3])) elseif not hQ(a,B)then
au(x('ERR invalid %s: %s takes none',B,('ROLLING'))) elseif a[B]~=nil then
au(x('ERR syntax error: %s comes at most once',ah[2])) end end local function hH(d) local aw,aC=bk(d,'^(%d+)(%l*)$')
local cw=aw and hM(aC) local R=cw and cI(aw,'18446744073709551615')and aw*cw return R and R>=1 and R<=1e15 and R or nil
end local function hG(d,ak) return d and#d>=1 and#d<=ak and d end local function hy(f,g) return en(g,f)and g or f end
local jL=setmetatable({(2^24)-1,(2^24)-1,2^16-1},ha) local function kX(B,d,dp) if B=='RESERVE'then
local aj=dp and hH(dp) return hG(d,128)and aj and{id=d,ttl=aj}or X('RESERVE') elseif B=='RESERVATION'then
return hG(d,128)or X('RESERVATION') end if B=='AS'then
return d and#d>=1 and#d<=64 and not ag(d,'[^%w._-]')and d or X('AS') elseif B=='AT'then
local C=d and cI(d,'9223372036854775807') return C and hy(ef(C),(cn(jL,1000)))or X('AT') end
return hF(B,d,B=='BURST'and 1 or 0) end local function le(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
X(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
X(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local jJ={FULL=true,LINE=true,HEADERS=true}
local function kK(bi,hz) if bi then X(bi==hz and'FORM_TWICE'or'TWO_FORMS') end return hz end local function kV(a,N,h,af)
while N[h]do local T,ah=N[h]:upper(),nil for O,hr in ipairs(hb)do ah=hr[1]==T and hr or ah end if ah then lf(ah,a,af)
if ah[2]==T then a[T]=true h=h+1 else a[T]=kX(T,N[h+1],N[h+2]) h=h+(T=='RESERVE'and 3 or 2) end le(a)
elseif jJ[T]and bj(af,'form')then a.form=kK(a.form,T) h=h+1 else return h end end return h end
local jK={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function tB(a,d) local H=hH(d)
if not H then a.as=d:upper() H=jK[a.as] if not H then
X(bj((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not bj((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
au(x('ERR invalid window: %s takes no windows of the calendar',('ROLLING'))) end end return H end local function kt(p)
return p:sub(-9)==':reserved'or p:sub(-14)==':reserved:ends' end local function lg(p) if kt(p)then X('RESERVED_KEY') end
end local function ls(a,av,h,p) local cN,bA=av[h]or'',av[h+1] local aJ=((nil)and(nil)(a)or'')..':reserved'
if(cN~=p..aJ and cN~='{'..p..'}'..aJ)or bA~=cN..':ends'then X('KEYS') end a.ag,a.m=cN,bA return h+2 end
local function hi(a) local kL=a.PARTIAL and a.r<a.d a.D=a.SHADOW and not a.s and(kL or not a.allowed)
if not a.allowed and(a.D or a.s)then a.allowed=true if not(nil)then local O,O,O,fO=cK(a) a.ttl=aN(fO) end end end
local function hL(a) cL(a,'keep',a.f) return a.remaining end local function hD(a,U,j) local S,e=a.now_ms,a.f
U=U and en(U,S)and U or S if j==0 or(U<S and U<=S-a.x)then return'keep' end local G=cz(e)+j if G>=(2^53)then
X(G>2^63 and'OVERFLOW'or'INEXACT_REPLY') end return'charge',am(a,e or{g='R:',a=0,e=0,hi=0,lo=0},U,j) end
local function hA(j) return j==0 and 1 or j end local function ka(a) local j=a.d cH(a,0) local Q,o=hD(a,nil,j)
if j>0 then a.h,a.q=Q,o end local hP=cy(a.h,a.q,a.f) cL(a,a.h,hP) a.allowed=a.u>0 and L(a,0)==0 a.n=a.u>0 and j or hA(j)
if(nil)then a.count,a.ttl=(nil)(hP,a.now_ms) elseif a.allowed then a.ttl=aN(bB(L(a,a.u))) else local L=L(a,a.n)
a.ttl=L and math.max(1,aN(bB(L)))or-1 end end local function kb(a) local j=a.d if a.PARTIAL then j=math.min(j,hL(a)) end
a.r=j if a.ALWAYS then ka(a) else cH(a,j) end end local function cl(a) return a.now_ms+a.x end local function bV(d)
local C=cI(d,'9223372036854775807')or X('FOREIGN_RESERVATION') local c=ef(C) return c-c==0 and c or X('INEXACT_STATE')
end local function cm(d) local j,jU,cp,cl,aj=bk(d,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not j or#aj>16 or tonumber(aj)>1e15 or aj=='0'then X('FOREIGN_RESERVATION') end return{ d=j~=''and bV(j)or nil,
j=bV(jU), b=bV(cp), t=bV(cl), ttl=bV(aj), } end local function lm(p,dn) dn=x('%.0f',dn)
local hN=s('ZRANGE',p,dn,dn,'WITHSCORES')[2] return hN and tonumber(hN) end local tE,bz,dr,tF=4000,1000,1000,2*500
local function fP(b,W) b.k,b.z={},{} for O,v in ipairs(W)do if v.i.d then b.k[#b.k+1]={id=v.id,p=v.i}
elseif v.id~=b.id then b.z[#b.z+1]=v.id end end bz=math.max(0,bz-#b.k-#b.z) table.sort(b.k,function(f,g)
if f.p.j~=g.p.j then return f.p.j<g.p.j end return ck(f.id,g.id) end) b.aw=true end local function lj(b)
local D=s('ZRANGE',b.m,'0',x('%.0f',bz),'WITHSCORES') local bC,bA,W,ez={},{},{},false b.v=nil for c=1,#D,2 do
local cp=tonumber(D[c+1]) if cp>b.now_ms or#bC==bz then b.v=cp break end bC[#bC+1],bA[#bA+1]=D[c],cp end
local bd=#bC>0 and s('HMGET',b.l,unpack(bC))or{} for c,Z in ipairs(bC)do local Y=bd[c]and cm(bd[c])
if not Y or Y.b~=bA[c]then return false end W[c]={id=Z,i=Y} ez=ez or Z==b.id end
if b.c and b.c.b<=b.now_ms and not ez then W[#W+1]={id=b.id,i=b.c} end fP(b,W) local ey=0 for O,t in ipairs(b.k)do
ey=t.id==b.id and 1 or ey end local kS=#b.k+#b.z-ey b.n=b.a-(b.o and 1 or 0)==kS and 0 or nil return true end
local function hx(Y) return Y.d and math.max(Y.b+Y.ttl,Y.t)or Y.b end local function li(b) local t,bZ,hE={},{},nil
local dX=s('HGETALL',b.l) for c=1,#dX,2 do local Z=dX[c] if Z~=''then local v={id=Z,i=cm(dX[c+1])}
if v.i.b<=b.now_ms then t[#t+1]=v elseif Z~=b.id then bZ[#bZ+1]=v end end end if#t>bz then table.sort(t,function(f,g)
if f.i.b~=g.i.b then return f.i.b<g.i.b end return ck(f.id,g.id) end) for c=#t,bz+1,-1 do local v=table.remove(t,c)
if v.id==b.id then hE=v else bZ[#bZ+1]=v end end t[#t+1]=hE end b.v,b.n,b.I=nil,0,bZ for O,v in ipairs(bZ)do
b.v=math.min(b.v or v.i.b,v.i.b) b.n=math.max(b.n,hx(v.i)) end fP(b,t) end local function jO(b,ak)
local dq=b.y==1 and s('ZSCORE',b.m,'') b.af=dq and true or false b.v=nil if ak>0 then
local W=s('HSCAN',b.l,dq and ar(-1-tonumber(dq))or'0','COUNT',ar(ak)) b.H,b.J,b.I=tonumber(W[1]),not dq,{}
for c=1,#W[2],2 do local Z=W[2][c] if Z~=''and Z~=b.id then b.I[#b.I+1]={id=Z,i=cm(W[2][c+1])} elseif Z~=''then
cm(W[2][c+1]) end end table.sort(b.I,function(f,g) return ck(f.id,g.id) end) b.F=b.H==0 end
if b.c and b.c.b<=b.now_ms then fP(b,{{id=b.id,i=b.c}}) b.n=b.a==1 and 0 or nil end end local function kD(a,Z)
local p=a.ag local W=s('HMGET',p,Z,'') local b={l=p,m=a.m,id=Z,now_ms=a.now_ms,k={},z={}} b.o=W[1]and cm(W[1])or nil
b.c=b.o b.y=W[2]and bV(W[2])or nil b.a=s('HLEN',p)-(b.y and 1 or 0) b.ab=hm(p,b.now_ms) b.P=s('ZCARD',b.m) b.v=lm(b.m,0)
local kO=b.a==b.P and(b.y==0 or b.a==0 and not b.y) local km=math.min(b.v or math.huge,b.c and b.c.b or math.huge)
b.F=kO and(km>b.now_ms or lj(b)) if not b.F then local aT=b.a+(b.y and 1 or 0)
local ak=aT<=dr and aT or math.min(dr,500) dr=dr-ak if ak==aT then b.F,b.J=true,true li(b) else jO(b,ak) end end
return b end local function hp(a,jP) local e,E,ac,ea=a.f,{},0,false for c=e and e.e or 0,e and e.a-1 or-1 do
local hR=bB(cd(e,c)) E[#E+1]={ms=aa(e.g,c),w=math.max(0,hR-ac)} ac=math.max(ac,hR) end local fM,bm=0,{}
for O,v in ipairs(jP)do local h,ao=v.p.j,v.p.d if ao>0 and a.now_ms<v.p.t then local l=0 while E[l+1]and E[l+1].ms<=h do
l=l+1 end local ej=l>0 and E[l].ms==h if not ej and E[l+1]and bs(a,E[l+1].ms,h)then l=l+1 end for c=fM+1,l do
bm[#bm+1]=E[c] end fM=math.max(fM,l) while ao>0 and#bm>0 do local cT=bm[#bm] local cc=math.min(ao,cT.w)
cT.w,ao=cT.w-cc,ao-cc v.M=v.M or cc>0 if cT.w==0 then bm[#bm]=nil end end ea=ea or v.M end end if not ea then return end
local aq,fU={'R:'},0 for O,ad in ipairs(E)do if ad.w>0 then fU=fU+ad.w aq[#aq+1]=bx(ad.ms,eh(fU)) end end
a.K,a.o=true,a.f a.f=#aq>1 and hK(a,table.concat(aq))or nil a.V=not a.f end local function lc(a,U,j) local e=a.f
if not e then return'keep' end local d,l=e.g,e.a if U then U=U-U==0 and U or(2^53) l=cG(d,e.a,U)
local ej=l>e.e and aa(d,l-1)==U if not ej and l<e.a and bs(a,aa(d,l),U)then l=l+1 end end local G,aG,bf=0,e.hi,e.lo
if l>e.e then G=cd(e,l-1) aG,bf=as(d,l-1) end local I=math.min(j,G) if I==0 then return'keep' elseif I==cz(e)then
return'delete' end local n,k=eh(I) n,k=((2^32)-n-(k>0 and 1 or 0))%(2^32),((2^32)-k)%(2^32) aG,bf=cb(aG,bf,n,k)
local bu=l while bu>0 do local ai,al=as(d,bu-1) if ai<aG or(ai==aG and al<=bf)then break end bu=bu-1 end
local hg=es(d,bu,l,aG,bf)..es(d,l,e.a,nil,nil,n,k) local o={g=bX(d,1,15*bu+2)..hg,a=e.a,e=e.e}
o.hi,o.lo,o.write,o.S,o.E=e.hi,e.lo,'SETRANGE',15*bu+2,hg if e.e>0 and e.e*2>=e.a then o.write='SET' end
return'refund',o end local function lo(a,cF,dW) local fN=cF.d or 0 if cF.t<=a.now_ms then return'keep' elseif dW<fN then
return lc(a,cF.j,fN-dW) end return hD(a,cF.j,dW-fN) end local function eq(t,S) local be=t.p if S>=be.b+be.ttl then
return nil end return{ j=be.j, b=be.b+be.ttl, t=(t.M or be.d==0)and be.t or 0, ttl=be.ttl, } end local function kq(a)
local b=a.N if hp then hp(a,b.k) else for O,t in ipairs(b.k)do if t.p.d>0 and b.now_ms<t.p.t then local Q,o=lo(a,t.p,0)
if Q~='keep'then if not a.K then a.K,a.o=true,a.f end t.M=true a.f=cy(Q,o,a.f) end end end end
if b.c and b.c.b<=b.now_ms then b.c=nil for O,t in ipairs(b.k)do if t.id==b.id then b.c=eq(t,b.now_ms) end end end end
local function kM(b) return b.c and b.c.d and b.c or nil end local function hC(b)
local I,co,aY=b.a-(b.o and 1 or 0)-#b.z,b.v,b.n or 0 for O,t in ipairs(b.k)do local aX=t.id~=b.id and eq(t,b.now_ms)
if aX then co=math.min(co or aX.b,aX.b) aY=math.max(aY,aX.b) elseif t.id~=b.id then I=I-1 end end return I,co,aY end
local function kp(b) local I,co=hC(b) if b.c or I<100000 then return nil end return math.max(1,(co or 0)-b.now_ms) end
local function kd(a) local j,b=a.d,a.N kq(a) a.s,a.G=kM(b),kp(b) if a.s then j=0 elseif a.PARTIAL then
j=math.min(j,hL(a)) end local hj=(nil)or cH hj(a,j) if a.G and a.allowed then hj(a,0) a.allowed,a.n=false,hA(j)
if not(nil)then a.ttl=aN(a.G) end end a.r=j hi(a) end local function kC(a) a.N=kD(a,a.RESERVE.id) hv(a,'write') kd(a)
end local function hB(b,j,aj,cl) local S=b.now_ms b.c={d=j,j=S,b=S+aj,t=cl,ttl=aj} end local function la(b,cU,aj)
if cU.b<b.now_ms+aj then hB(b,cU.d,aj,cU.t) b.c.j=cU.j end end local function kN(a) local ho=not a.D if a.PARTIAL then
ho=a.r>0 and not a.G end return not a.s and a.allowed and ho end local function jY(a,Q,o) if a.K then o=cy(Q,o,a.f)
a.f=a.o if not o then Q=a.o and'delete'or'keep' elseif Q~='charge'then Q='refund' end end hh(a,Q,o) end
local function hl(Y) local N={Y.d and ar(Y.d)or''} for c,aO in ipairs({Y.j,Y.b,Y.t,Y.ttl})do N[c+1]=ar(aO) end
return table.concat(N,':') end local function cE(jR,ep) local aB=0 for D=1,#ep,1000 do local ba={unpack(jR)}
for c=D,math.min(D+999,#ep)do ba[#ba+1]=ep[c] end aB=aB+s(unpack(ba)) end return aB end local function jX(b)
local I,O,aY=hC(b) if I==0 and not b.c then if b.a>0 or b.y then s('UNLINK',b.l) end if b.P>0 then s('UNLINK',b.m) end
return end local aT,cs,az={},{},{} local function bt(bD,D,dp) bD[#bD+1]=D bD[#bD+1]=dp end for O,Z in ipairs(b.z)do
az[#az+1]=Z end for O,v in ipairs(b.I or{})do bt(cs,ar(v.i.b),v.id) end for O,t in ipairs(b.k)do
local aX=t.id~=b.id and eq(t,b.now_ms) if aX then bt(aT,t.id,hl(aX)) bt(cs,ar(aX.b),t.id) elseif t.id~=b.id then
az[#az+1]=t.id end end if b.c and b.c~=b.o then bt(aT,b.id,hl(b.c)) elseif not b.c and b.o then az[#az+1]=b.id end
if b.c then aY=math.max(aY,hx(b.c)) local ks=not b.o or b.c.b~=b.o.b if b.J or b.af or b.F and ks then
bt(cs,ar(b.c.b),b.id) end end local hw=b.F and 0 or 1 if b.y~=hw then bt(aT,'',ar(hw)) end cE({'HSET',b.l},aT)
cE({'HDEL',b.l},az) if b.H and b.H>0 then bt(cs,'-'..ar(b.H+1),'') end if b.J and b.P>0 then s('UNLINK',b.m) end
cE({'ZADD',b.m},cs) if b.H==0 then az[#az+1]='' end cE({'ZREM',b.m},az) local ae,hs,at=b.ab,aY+5000,nil
local ly=not ae and not b.n and b.a>0 if not ly and(not ae or ae<aY or(b.n and ae>hs))then at=hs end fR(b.l,at)
if at or b.J and ae then fR(b.m,at or ae) end end local function jZ(a,aP) if not aP and a.h=='charge'then
a.h,a.q='keep',nil end local b=a.N if b and aP and a.s then la(b,a.s,a.RESERVE.ttl) elseif b and aP and kN(a)then
local o=cy(a.h,a.q,a.f) hB(b,a.r,a.RESERVE.ttl,cl(a,o)) end jY(a,a.h,a.q) if b then jX(b) end end local function hI(a)
return a.s and a.s.d or a.D and a.d or a.r end local function hn(a) if not a.allowed then return 0 end
return a.PARTIAL and hI(a)or 1 end local function ko(a,am) local bc,lh,aK,fO,kf=cK(a) return{ 'allowed',hn(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.u, 'remaining',bc, 'retry_after_ms',lh, 'next_ms',aK, 'reset_ms',fO,
'delay_ms',kf, 'now_ms',a.now_ms, 'shadow',a.D and 1 or 0, 'charged',am, } end local function kI(cv) local cc={}
for O,a in ipairs(cv)do local D,aw=a.AS or('ROLLING'):lower(),2 a.B=D while cc[a.B]do a.B=x('%s-%d',D,aw) aw=aw+1 end
cc[a.B]=true end end local function cP(c) return x('%.0f',hy(c,999999999999999)) end local function kZ(a)
local H=(nil)and(nil)(a)or a.x local ec,M=1000,H%1000 while M>0 do ec,M=M,ec%M end local jF=1000/ec
local cD=cn(bU(H,jF),1000) return x('"%s";q=%s;w=%s',a.B,cP(bU(a.limit,jF)),cP(cD)) end local function ky(v,ew)
if v.allowed~=ew.allowed then return not v.allowed end local L,ex=v.retry_after_ms,ew.retry_after_ms if L~=ex then
return L<0 or(ex>=0 and L>ex) end return v.remaining<ew.remaining end local function ku(cv) local fS,hJ=cv[1],{} kI(cv)
for c,a in ipairs(cv)do hJ[c]=kZ(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=cK(a) if ky(a,fS)then fS=a end end
local a=fS local bd={ 'X-RateLimit-Limit', x('%.0f',a.u), 'X-RateLimit-Remaining', x('%.0f',a.remaining), }
local function cO(aJ,aO) bd[#bd+1]=aJ bd[#bd+1]=aO end if a.reset_ms>=0 then
cO('X-RateLimit-Reset',x('%.0f',aN(a.now_ms+a.reset_ms))) end cO('RateLimit-Policy',table.concat(hJ,', '))
local kF=a.next_ms>=0 and';t='..cP(aN(a.next_ms))or'' cO('RateLimit',x('"%s";r=%s%s',a.B,cP(a.remaining),kF))
if not a.allowed and a.retry_after_ms>=0 then cO('Retry-After',x('%.0f',aN(a.retry_after_ms))) end return bd end
local function kR(a,am) if a.form=='FULL'then return ko(a,am) end return{hn(a),a.count,a.ttl,ku({a})} end
dV={W=jV,X=jZ,Y=hi,Z=kb,aa=kg,error_reply=kh,ac=ki,A=X,ad=kj,ae=kk,ah=kC,aj=kG,Q=kH,al=kR,am=hF,an=kV,U=hI,ao=lg,ap=ln,aq=ls,ar=lu,au=tB}
end return dV end if bb then return w().error_reply(bb) end local cJ,bY=pcall(ll,KEYS,ARGV)
return cJ and bY or w().error_reply(bY) end local function kl(gZ,aF)
local jM,i,eb,ag,bk,ca,x,s=math.abs,string.byte,string.char,string.find,string.match,string.sub,string.format,redis.call
if x('%d',2^40)~='1099511627776'then return end local df local iz=aF[1] local dC=aF[2] local dD=aF[3] if not dC then
return end local cB=aF[4] local fk local ap local ay if(dD=='LINE')and(not cB)then fk=4 ap=1 ay='LINE' else local fe
local fi local fj if dD then if cB then
if not(((((aF[5]=='LINE')and(not aF[6]))and((#cB)<16))and(dD=='COST'))and ag(cB,'^[1-9]%d*$'))then return end fe=6
fi=cB+0 fj='LINE' else if(((aF[5]=='LINE')and(not aF[6]))and(dD=='COST'))and ag('','^[1-9]%d*$')then return end return
end else fe=3 fi=1 fj=nil end fk=fe ap=fi ay=fj end if not(((#dC)<16)and ag(dC,'^[1-9]%d*$'))then return end
local K=dC+0 local iJ,cf=bk(iz,'^([1-9]%d*)(%l*)$') if iJ then if(#iz)<16 then
local gA=(cf=='')and 1000 or((cf=='ms')and 1 or((cf=='s')and 1000 or((cf=='m')and 60000 or((cf=='h')and 3.6e6 or((cf=='d')and 8.64e7 or nil)))))
local F=gA and(iJ*gA)or gA if(not F)or((F<1)or(1e15<F))then return end if not(F<9e12)then return end local qj=aF[fk]
if qj then return end local iR=s('TIME') local iS=(iR[1]*1e6)+iR[2] local r=(iS-(iS%1000))/1000 local aE=gZ[1]
if not aE then return end if ag(aE,':reserved',1,true)then return end if not((#gZ)==1)then return end
local q=s('GET',aE) if q then local m local y local z local V=((#q)-2)/15
if(not(ca(q,1,2)=='R:'))or((not((V%1)==0))or((V<1)or(8192<V)))then return end local cC=r-F local fw if 0<=cC then
local qx,qy,qz,qA,qB,qC,iW=i(q,3,9) if 32<=iW then return end
fw=(qx+(256*(qy+(256*(qz+(256*(qA+(256*(qB+(256*(qC+(256*iW))))))))))))<=cC else fw=false end if fw then local dg
local dH=V-1 local qD,qE,qF,qG,qH,qI,iX=i(q,((15*dH)+3),((15*dH)+9)) if 32<=iX then return end
if(qD+(256*(qE+(256*(qF+(256*(qG+(256*(qH+(256*(qI+(256*iX))))))))))))<=cC then dg=V else local cq=0 local bQ=V
while 1<bQ do local gC=(bQ-(bQ%2))/2 local iY=cq+gC local qJ,qK,qL,qM,qN,qO,iZ=i(q,((15*iY)+3),((15*iY)+9))
if 32<=iZ then return end local qP=qJ+(256*(qK+(256*(qL+(256*(qM+(256*(qN+(256*(qO+(256*iZ))))))))))) local fx
if qP<=cC then local qQ=cq+gC fx=qQ else fx=cq end local qR=bQ-gC cq,bQ=fx,qR end local dI=cq local tR=bQ
local qS,qT,qU,qV,qW,qX,ja=i(q,((15*dI)+3),((15*dI)+9)) if 32<=ja then return end
dg=((qS+(256*(qT+(256*(qU+(256*(qV+(256*(qW+(256*(qX+(256*ja))))))))))))<=cC)and(dI+1)or dI end local jb=dg-1
local qY,qZ,ra,rb,rc,rd,re,rf=i(q,((15*jb)+10),((15*jb)+17)) local gD=rc+(256*(rd+(256*(re+(256*rf)))))
local jc=qY+(256*(qZ+(256*(ra+(256*rb))))) local rg,rh,ri,rj,rk,rl,rm,rn=i(q,((15*dH)+10),((15*dH)+17))
local jd=rk+(256*(rl+(256*(rm+(256*rn))))) if(jd<gD)or((jd==gD)and((rg+(256*(rh+(256*(ri+(256*rj))))))<jc))then return
end m=dg y=gD z=jc else m=0 y=0 z=0 end local u=V-1 local ro,rp,rq,rr,rs,rt,ru,rv=i(q,((15*u)+10),((15*u)+17))
local gE=(((rs+(256*(rt+(256*(ru+(256*rv))))))-y)*2^32)+((ro+(256*(rp+(256*(rq+(256*rr))))))-z)
local bv=(gE<0)and(gE+2^64)or gE local rw=(bv+ap)<=K if 2^53<=bv then return end if rw then local ab local aM local dl
local fE local dm local fz local rx,ry,rz,rA,rB,rC,je=i(q,((15*u)+3),((15*u)+9)) if 32<=je then return end
if(rx+(256*(ry+(256*(rz+(256*(rA+(256*(rB+(256*(rC+(256*je))))))))))))<=r then fz=V else local cr=0 local bR=V
while 1<bR do local gF=(bR-(bR%2))/2 local jf=cr+gF local rD,rE,rF,rG,rH,rI,jg=i(q,((15*jf)+3),((15*jf)+9))
if 32<=jg then return end local rJ=rD+(256*(rE+(256*(rF+(256*(rG+(256*(rH+(256*(rI+(256*jg))))))))))) local fy
if rJ<=r then local rK=cr+gF fy=rK else fy=cr end local rL=bR-gF cr,bR=fy,rL end local dJ=cr local tS=bR
local rM,rN,rO,rP,rQ,rR,jh=i(q,((15*dJ)+3),((15*dJ)+9)) if 32<=jh then return end
fz=((rM+(256*(rN+(256*(rO+(256*(rP+(256*(rQ+(256*(rR+(256*jh))))))))))))<=r)and(dJ+1)or dJ end local gG=ap%2^32
local ji=(ap-gG)/2^32 local rS,rT,rU,rV,rW,rX,rY,rZ=i(q,((15*u)+10),((15*u)+17))
local jj=(rW+(256*(rX+(256*(rY+(256*rZ))))))+ji local gH=(rS+(256*(rT+(256*(rU+(256*rV))))))+gG local dh local di
if 2^32<=gH then dh=jj+1 di=gH-2^32 else dh=jj di=gH end local jk=dh%2^32 local jl=2^32<=dh if fz<V then return end
if m<V then local sa,sb,sc,sd,se,sf,jm=i(q,((15*u)+3),((15*u)+9)) if 32<=jm then return end
local dK=sa+(256*(sb+(256*(sc+(256*(sd+(256*(se+(256*(sf+(256*jm))))))))))) local dj if dK==r then dj=true else
if(F<=4096)or(((F/4096)+1)<=jM((dK-r)))then dj=false else if not((dK*4096)<2^53)then return end local jn=dK*4096
if not((r*4096)<2^53)then return end local jo=r*4096 dj=((jn-(jn%F))/F)==((jo-(jo%F))/F) end end local gI=dj and u or V
local cg=r%16777216 local dL=jk%65536 local dM=di%65536 local dN=(r-cg)/16777216 local gJ=(jk-dL)/65536
local gK=(di-dM)/65536 local dO=dN%65536
local jp=eb((cg%256),(((cg-(cg%256))/256)%256),((cg-(cg%65536))/65536),(dO%256),((dO-(dO%256))/256),(((dN-dO)/65536)%256),((dN-(dN%16777216))/16777216),(dM%256),((dM-(dM%256))/256),(gK%256),((gK-(gK%256))/256),(dL%256),((dL-(dL%256))/256),(gJ%256),((gJ-(gJ%256))/256))
local gL=gI+1 local jq=(15*gI)+2 local fA if gI==V then fA='APPEND' else fA='SETRANGE' end local fB
if((0<m)and(V<=(m*2)))or(jl or((gL<V)or(8192<gL)))then fB='SET' else fB=fA end ab=ca(q,1,jq)..jp aM=gL dl=fB fE=jq dm=jp
else local jr=y+ji local gM=z+gG local dk local fC if 2^32<=gM then dk=gM-2^32 fC=jr+1 else dk=gM fC=jr end
local js=fC%2^32 local ch=r%16777216 local dP=js%65536 local dQ=dk%65536 local dR=(r-ch)/16777216 local gN=(js-dP)/65536
local gO=(dk-dQ)/65536 local dS=dR%65536
local jt=eb((ch%256),(((ch-(ch%256))/256)%256),((ch-(ch%65536))/65536),(dS%256),((dS-(dS%256))/256),(((dR-dS)/65536)%256),((dR-(dR%16777216))/16777216),(dQ%256),((dQ-(dQ%256))/256),(gO%256),((gO-(gO%256))/256),(dP%256),((dP-(dP%256))/256),(gN%256),((gN-(gN%256))/256))
local gP=V+1 local ju=(15*V)+2 local fD if((0<m)and(V<=(m*2)))or(jl or((gP<V)or(8192<gP)))then fD='SET' else fD='APPEND'
end ab=ca(q,1,ju)..jt aM=gP dl=fD fE=ju dm=jt end local bW if 0<aM then local jw=aM-1
local sm,sn,so,sp,sq,sr,ss,st=i(ab,((15*jw)+10),((15*jw)+17))
local gQ=(((sq+(256*(sr+(256*(ss+(256*st))))))-y)*2^32)+((sm+(256*(sn+(256*(so+(256*sp))))))-z)
bW=(gQ<0)and(gQ+2^64)or gQ else bW=0 end local bq if bW<=0 then bq=0 else local dT=aM-1
local su,sv,sw,sx,sy,sz,sA,sB=i(ab,((15*m)+10),((15*m)+17))
local gR=(((sy+(256*(sz+(256*(sA+(256*sB))))))-y)*2^32)+((su+(256*(sv+(256*(sw+(256*sx))))))-z) local fH local fI
if bW<=((gR<0)and(gR+2^64)or gR)then fH=m fI=m else local jx=(0<dT)and(dT-1)or 0
local sC,sD,sE,sF,sG,sH,sI,sJ=i(ab,((15*jx)+10),((15*jx)+17))
local gS=(((sG+(256*(sH+(256*(sI+(256*sJ))))))-y)*2^32)+((sC+(256*(sD+(256*(sE+(256*sF))))))-z) local fG
if((gS<0)and(gS+2^64)or gS)<bW then fG=dT else fG=m end fH=fG fI=dT end local bS=fI local bT=fH while bT<bS do
local dU=((bT+bS)-((bT+bS)%2))/2 local sK,sL,sM,sN,sO,sP,sQ,sR=i(ab,((15*dU)+10),((15*dU)+17))
local sS=sO+(256*(sP+(256*(sQ+(256*sR))))) local sT=sK+(256*(sL+(256*(sM+(256*sN))))) local gT=((sS-y)*2^32)+(sT-z)
local sU=(gT<0)and(gT+2^64)or gT local fJ local fK if bW<=sU then fJ=bT fK=dU else local sV=dU+1 fJ=sV fK=bS end
bS,bT=fK,fJ end local tT=bS local jy=bT local sW,sX,sY,sZ,ta,tb,jz=i(ab,((15*jy)+3),((15*jy)+9)) if 32<=jz then return
end local jA=((sW+(256*(sX+(256*(sY+(256*(sZ+(256*(ta+(256*(tb+(256*jz))))))))))))+F)-r bq=(0<jA)and jA or 0 end
if 2^53<=bq then return end local jB=bq%1000 local jC=(bq<0)and(-1)or((jB==0)and(bq/1000)or(((bq-jB)/1000)+1)) local eT
if ay=='LINE'then local ax if 0<aM then local ie=aM-1 local mj,mk,ml,mm,mn,mo,mp,mq=i(ab,((15*ie)+10),((15*ie)+17))
local gb=(((mn+(256*(mo+(256*(mp+(256*mq))))))-y)*2^32)+((mj+(256*(mk+(256*(ml+(256*mm))))))-z)
ax=(gb<0)and(gb+2^64)or gb else ax=0 end local gc=(ax<K)and(K-ax)or 0 local eS local cY if gc<K then local ig=gc+1
local cX local gd=K-ig if gd<0 then cX=nil else if ax<=gd then cX=0 else local ge=ax-gd local dx=aM-1
local mr,ms,mt,mu,mv,mw,mx,my=i(ab,((15*m)+10),((15*m)+17))
local gf=(((mv+(256*(mw+(256*(mx+(256*my))))))-y)*2^32)+((mr+(256*(ms+(256*(mt+(256*mu))))))-z) local eH local eI
if ge<=((gf<0)and(gf+2^64)or gf)then eH=m eI=m else local ih=(0<dx)and(dx-1)or 0
local mz,mA,mB,mC,mD,mE,mF,mG=i(ab,((15*ih)+10),((15*ih)+17))
local gg=(((mD+(256*(mE+(256*(mF+(256*mG))))))-y)*2^32)+((mz+(256*(mA+(256*(mB+(256*mC))))))-z) local eG
if((gg<0)and(gg+2^64)or gg)<ge then eG=dx else eG=m end eH=eG eI=dx end local bG=eI local bH=eH while bH<bG do
local dy=((bH+bG)-((bH+bG)%2))/2 local mH,mI,mJ,mK,mL,mM,mN,mO=i(ab,((15*dy)+10),((15*dy)+17))
local mP=mL+(256*(mM+(256*(mN+(256*mO))))) local mQ=mH+(256*(mI+(256*(mJ+(256*mK))))) local gh=((mP-y)*2^32)+(mQ-z)
local mR=(gh<0)and(gh+2^64)or gh local eJ local eK if ge<=mR then eJ=bH eK=dy else local mS=dy+1 eJ=mS eK=bG end
bG,bH=eK,eJ end local tH=bG local ii=bH local mT,mU,mV,mW,mX,mY,ij=i(ab,((15*ii)+3),((15*ii)+9)) if 32<=ij then return
end local ik=((mT+(256*(mU+(256*(mV+(256*(mW+(256*(mX+(256*(mY+(256*ij))))))))))))+F)-r cX=(0<ik)and ik or 0 end end
local il=cX or(-1) local eR if ig==K then eR=il else local eQ if ax<=0 then eQ=0 else local dz=aM-1
local mZ,na,nb,nc,nd,ne,nf,ng=i(ab,((15*m)+10),((15*m)+17))
local gi=(((nd+(256*(ne+(256*(nf+(256*ng))))))-y)*2^32)+((mZ+(256*(na+(256*(nb+(256*nc))))))-z) local eM local eN
if ax<=((gi<0)and(gi+2^64)or gi)then eM=m eN=m else local im=(0<dz)and(dz-1)or 0
local nh,ni,nj,nk,nl,nm,nn,no=i(ab,((15*im)+10),((15*im)+17))
local gj=(((nl+(256*(nm+(256*(nn+(256*no))))))-y)*2^32)+((nh+(256*(ni+(256*(nj+(256*nk))))))-z) local eL
if((gj<0)and(gj+2^64)or gj)<ax then eL=dz else eL=m end eM=eL eN=dz end local bI=eN local bJ=eM while bJ<bI do
local dA=((bJ+bI)-((bJ+bI)%2))/2 local np,nq,nr,ns,nt,nu,nv,nw=i(ab,((15*dA)+10),((15*dA)+17))
local nx=nt+(256*(nu+(256*(nv+(256*nw))))) local ny=np+(256*(nq+(256*(nr+(256*ns))))) local gk=((nx-y)*2^32)+(ny-z)
local nz=(gk<0)and(gk+2^64)or gk local eO local eP if ax<=nz then eO=bJ eP=dA else local nA=dA+1 eO=nA eP=bI end
bI,bJ=eP,eO end local tI=bI local io=bJ local nB,nC,nD,nE,nF,nG,ip=i(ab,((15*io)+3),((15*io)+9)) if 32<=ip then return
end local iq=((nB+(256*(nC+(256*(nD+(256*(nE+(256*(nF+(256*(nG+(256*ip))))))))))))+F)-r eQ=(0<iq)and iq or 0 end eR=eQ
end eS=il cY=eR else eS=0 cY=0 end if 2^53<=cY then return end
local nH=x('1 %d %d %d %d 0 %d %d 0 %d 0 %d',bv,jC,K,gc,eS,cY,r,ap) eT=nH else if ay then return end eT={1,bv,jC} end
if not redis.REDIS_VERSION_NUM then return end local ir=s('PEXPIRETIME',aE) local is=(0<=ir)and ir or nil local cZ
if is then cZ=is else cZ=nil end local bp if cZ then if(3*F)<=(2*(cZ-r))then bp=nil else bp=r+(2*F) end else bp=r+(2*F)
end if dl=='SET'then return else if dl=='APPEND'then local tJ=s('APPEND',aE,dm) if bp then local nI=x('%d',bp)
local tK=s('PEXPIREAT',aE,nI) end else local tL=s('SETRANGE',aE,x('%d',fE),dm) if bp then local nJ=x('%d',bp)
local tM=s('PEXPIREAT',aE,nJ) end end end df=eT else local fF if 0<bv then
local sg,sh,si,sj,sk,sl,jv=i(q,((15*u)+3),((15*u)+9)) if 32<=jv then return end
fF=r<(sg+(256*(sh+(256*(si+(256*(sj+(256*(sk+(256*(sl+(256*jv)))))))))))) else fF=false end if fF then return end
local tc,td,te,tf,tg,th,ti,tj=i(q,((15*u)+10),((15*u)+17))
local gU=(((tg+(256*(th+(256*(ti+(256*tj))))))-y)*2^32)+((tc+(256*(td+(256*(te+(256*tf))))))-z)
local jD=(gU<0)and(gU+2^64)or gU local aL local ci=K-ap if ci<0 then aL=nil else if jD<=ci then aL=0 else local gV=jD-ci
local tk,tl,tm,tn,to,tp,tq,tr=i(q,((15*m)+10),((15*m)+17))
local gW=(((to+(256*(tp+(256*(tq+(256*tr))))))-y)*2^32)+((tk+(256*(tl+(256*(tm+(256*tn))))))-z) local eB local eC
if gV<=((gW<0)and(gW+2^64)or gW)then eB=m eC=m else local jE=(0<u)and(u-1)or 0
local ts,tt,tu,tv,tw,tx,ty,tz=i(q,((15*jE)+10),((15*jE)+17))
local fV=(((tw+(256*(tx+(256*(ty+(256*tz))))))-y)*2^32)+((ts+(256*(tt+(256*(tu+(256*tv))))))-z) local eA
if((fV<0)and(fV+2^64)or fV)<gV then eA=u else eA=m end eB=eA eC=u end local bE=eC local bF=eB while bF<bE do
local ds=((bF+bE)-((bF+bE)%2))/2 local lA,lB,lC,lD,lE,lF,lG,lH=i(q,((15*ds)+10),((15*ds)+17))
local lI=lE+(256*(lF+(256*(lG+(256*lH))))) local lJ=lA+(256*(lB+(256*(lC+(256*lD))))) local fW=((lI-y)*2^32)+(lJ-z)
local lK=(fW<0)and(fW+2^64)or fW local eD local eE if gV<=lK then eD=bF eE=ds else local lL=ds+1 eD=lL eE=bE end
bE,bF=eE,eD end local tG=bE local hT=bF local lM,lN,lO,lP,lQ,lR,hU=i(q,((15*hT)+3),((15*hT)+9)) if 32<=hU then return
end local hV=((lM+(256*(lN+(256*(lO+(256*(lP+(256*(lQ+(256*(lR+(256*hU))))))))))))+F)-r aL=(0<hV)and hV or 0 end end
local cV if aL then if 2^53<=aL then return end local hW=aL%1000
local lS=(aL<0)and(-1)or((hW==0)and(aL/1000)or(((aL-hW)/1000)+1)) cV=lS else cV=-1 end local hX=(cV==0)and 1 or cV
local fq if ay=='LINE'then local nK,nL,nM,nN,nO,nP,nQ,nR=i(q,((15*u)+10),((15*u)+17))
local gl=(((nO+(256*(nP+(256*(nQ+(256*nR))))))-y)*2^32)+((nK+(256*(nL+(256*(nM+(256*nN))))))-z)
local aD=(gl<0)and(gl+2^64)or gl local gm=(aD<K)and(K-aD)or 0 local da if ci<0 then da=nil else if aD<=ci then da=0 else
local gn=aD-ci local nS,nT,nU,nV,nW,nX,nY,nZ=i(q,((15*m)+10),((15*m)+17))
local go=(((nW+(256*(nX+(256*(nY+(256*nZ))))))-y)*2^32)+((nS+(256*(nT+(256*(nU+(256*nV))))))-z) local eV local eW
if gn<=((go<0)and(go+2^64)or go)then eV=m eW=m else local it=(0<u)and(u-1)or 0
local oa,ob,oc,od,oe,of,og,oh=i(q,((15*it)+10),((15*it)+17))
local gp=(((oe+(256*(of+(256*(og+(256*oh))))))-y)*2^32)+((oa+(256*(ob+(256*(oc+(256*od))))))-z) local eU
if((gp<0)and(gp+2^64)or gp)<gn then eU=u else eU=m end eV=eU eW=u end local bK=eW local bL=eV while bL<bK do
local dB=((bL+bK)-((bL+bK)%2))/2 local oi,oj,ok,ol,om,on,oo,op=i(q,((15*dB)+10),((15*dB)+17))
local oq=om+(256*(on+(256*(oo+(256*op))))) local os=oi+(256*(oj+(256*(ok+(256*ol))))) local gq=((oq-y)*2^32)+(os-z)
local ot=(gq<0)and(gq+2^64)or gq local eX local eY if gn<=ot then eX=bL eY=dB else local ou=dB+1 eX=ou eY=bK end
bK,bL=eY,eX end local tN=bK local iu=bL local ov,ow,ox,oy,oz,oA,iv=i(q,((15*iu)+3),((15*iu)+9)) if 32<=iv then return
end local iw=((ov+(256*(ow+(256*(ox+(256*(oy+(256*(oz+(256*(oA+(256*iv))))))))))))+F)-r da=(0<iw)and iw or 0 end end
local ix=da or(-1) local fp local dc if gm<K then local iy=gm+1 local db local gr=K-iy if gr<0 then db=nil else
if aD<=gr then db=0 else local gs=aD-gr local oB,oC,oD,oE,oF,oG,oH,oI=i(q,((15*m)+10),((15*m)+17))
local gt=(((oF+(256*(oG+(256*(oH+(256*oI))))))-y)*2^32)+((oB+(256*(oC+(256*(oD+(256*oE))))))-z) local fa local fb
if gs<=((gt<0)and(gt+2^64)or gt)then fa=m fb=m else local iA=(0<u)and(u-1)or 0
local oJ,oK,oL,oM,oN,oO,oP,oQ=i(q,((15*iA)+10),((15*iA)+17))
local gu=(((oN+(256*(oO+(256*(oP+(256*oQ))))))-y)*2^32)+((oJ+(256*(oK+(256*(oL+(256*oM))))))-z) local eZ
if((gu<0)and(gu+2^64)or gu)<gs then eZ=u else eZ=m end fa=eZ fb=u end local bM=fb local bN=fa while bN<bM do
local dE=((bN+bM)-((bN+bM)%2))/2 local oR,oS,oT,oU,oV,oW,oX,oY=i(q,((15*dE)+10),((15*dE)+17))
local oZ=oV+(256*(oW+(256*(oX+(256*oY))))) local pa=oR+(256*(oS+(256*(oT+(256*oU))))) local gv=((oZ-y)*2^32)+(pa-z)
local pb=(gv<0)and(gv+2^64)or gv local fc local fd if gs<=pb then fc=bN fd=dE else local pc=dE+1 fc=pc fd=bM end
bM,bN=fd,fc end local tO=bM local iB=bN local pd,pe,pf,pg,ph,pi,iC=i(q,((15*iB)+3),((15*iB)+9)) if 32<=iC then return
end local iD=((pd+(256*(pe+(256*(pf+(256*(pg+(256*(ph+(256*(pi+(256*iC))))))))))))+F)-r db=(0<iD)and iD or 0 end end
local iE=db or(-1) local fo if iy==K then fo=iE else local fn if aD<=0 then fn=0 else
local pj,pk,pl,pm,pn,po,pp,pq=i(q,((15*m)+10),((15*m)+17))
local gw=(((pn+(256*(po+(256*(pp+(256*pq))))))-y)*2^32)+((pj+(256*(pk+(256*(pl+(256*pm))))))-z) local fg local fh
if aD<=((gw<0)and(gw+2^64)or gw)then fg=m fh=m else local iF=(0<u)and(u-1)or 0
local pr,ps,pt,pu,pv,pw,px,py=i(q,((15*iF)+10),((15*iF)+17))
local gx=(((pv+(256*(pw+(256*(px+(256*py))))))-y)*2^32)+((pr+(256*(ps+(256*(pt+(256*pu))))))-z) local ff
if((gx<0)and(gx+2^64)or gx)<aD then ff=u else ff=m end fg=ff fh=u end local bO=fh local bP=fg while bP<bO do
local dF=((bP+bO)-((bP+bO)%2))/2 local pz,pA,pB,pC,pD,pE,pF,pG=i(q,((15*dF)+10),((15*dF)+17))
local pH=pD+(256*(pE+(256*(pF+(256*pG))))) local pI=pz+(256*(pA+(256*(pB+(256*pC))))) local gy=((pH-y)*2^32)+(pI-z)
local pJ=(gy<0)and(gy+2^64)or gy local fl local fm if aD<=pJ then fl=bP fm=dF else local pK=dF+1 fl=pK fm=bO end
bO,bP=fm,fl end local tP=bO local iG=bP local pL,pM,pN,pO,pP,pQ,iH=i(q,((15*iG)+3),((15*iG)+9)) if 32<=iH then return
end local iI=((pL+(256*(pM+(256*(pN+(256*(pO+(256*(pP+(256*(pQ+(256*iH))))))))))))+F)-r fn=(0<iI)and iI or 0 end fo=fn
end fp=iE dc=fo else fp=0 dc=0 end if(2^53<=ix)or(2^53<=dc)then return end
local pR=x('0 %d %d %d %d %d %d %d 0 %d 0 0',bv,hX,K,gm,ix,fp,dc,r) fq=pR else if ay then return end fq={0,bv,hX} end
if not redis.REDIS_VERSION_NUM then return end local iK=s('PEXPIRETIME',aE) local iL=(0<=iK)and iK or nil local dd
if iL then dd=iL else dd=nil end local ct if dd then if(3*F)<=(2*(dd-r))then ct=nil else ct=r+(2*F) end else ct=r+(2*F)
end local pS,pT,pU,pV,pW,pX,pY,pZ=i(q,((15*u)+10),((15*u)+17))
local gz=(((pW+(256*(pX+(256*(pY+(256*pZ))))))-y)*2^32)+((pS+(256*(pT+(256*(pU+(256*pV))))))-z)
if not(((gz<0)and(gz+2^64)or gz)==0)then if ct then local qa=x('%d',ct) local tQ=s('PEXPIREAT',aE,qa) end end df=fq end
else local lT=ap<=K if lT then local fX=ap%2^32 local hY=(ap-fX)/2^32 local ce=r%16777216 local dt=hY%65536
local du=fX%65536 local dv=(r-ce)/16777216 local fY=(hY-dt)/65536 local fZ=(fX-du)/65536 local dw=dv%65536
local cA=ca('R:',1,2)..eb((ce%256),(((ce-(ce%256))/256)%256),((ce-(ce%65536))/65536),(dw%256),((dw-(dw%256))/256),(((dv-dw)/65536)%256),((dv-(dv%16777216))/16777216),(du%256),((du-(du%256))/256),(fZ%256),((fZ-(fZ%256))/256),(dt%256),((dt-(dt%256))/256),(fY%256),((fY-(fY%256))/256))
local lU,lV,lW,lX,lY,lZ,ma,mb=i(cA,10,17)
local ga=((lY+(256*(lZ+(256*(ma+(256*mb))))))*2^32)+(lU+(256*(lV+(256*(lW+(256*lX)))))) local eF
if((ga<0)and(ga+2^64)or ga)<=0 then eF=0 else local mc,md,me,mf,mg,mh,hZ=i(cA,3,9) if 32<=hZ then return end
local ia=((mc+(256*(md+(256*(me+(256*(mf+(256*(mg+(256*(mh+(256*hZ))))))))))))+F)-r eF=(0<ia)and ia or 0 end
if 2^53<=eF then return end if ay=='LINE'then local qb,qc,qd,qe,qf,qg,qh,qi=i(cA,10,17)
local gB=((qf+(256*(qg+(256*(qh+(256*qi))))))*2^32)+(qb+(256*(qc+(256*(qd+(256*qe)))))) local dG=(gB<0)and(gB+2^64)or gB
local iM=(dG<K)and(K-dG)or 0 local ft if iM<K then local iN=iM+1 local de local iO=K-iN if iO<0 then de=nil else
if dG<=iO then de=0 else local qk,ql,qm,qn,qo,qp,iP=i(cA,3,9) if 32<=iP then return end
local iQ=((qk+(256*(ql+(256*(qm+(256*(qn+(256*(qo+(256*(qp+(256*iP))))))))))))+F)-r de=(0<iQ)and iQ or 0 end end
local qq=de or(-1) local fs if iN==K then fs=qq else local fr if dG<=0 then fr=0 else
local qr,qs,qt,qu,qv,qw,iT=i(cA,3,9) if 32<=iT then return end
local iU=((qr+(256*(qs+(256*(qt+(256*(qu+(256*(qv+(256*(qw+(256*iT))))))))))))+F)-r fr=(0<iU)and iU or 0 end fs=fr end
ft=fs else ft=0 end if 2^53<=ft then return end else if ay then return end end return else local aZ local ib=K-ap
if ib<0 then aZ=nil else aZ=0 end local cW if aZ then if 2^53<=aZ then return end local ic=aZ%1000
local mi=(aZ<0)and(-1)or((ic==0)and(aZ/1000)or(((aZ-ic)/1000)+1)) cW=mi else cW=-1 end local id=(cW==0)and 1 or cW
local fv if ay=='LINE'then local fu if ib<0 then fu=nil else fu=0 end local iV=fu or(-1) if 2^53<=iV then return end
fv=x('0 0 %d %d %d %d 0 0 0 %d 0 0',id,K,K,iV,r) else if ay then return end fv={0,0,id} end df=fv end end else return
end else return end return df end local cJ,bY=pcall(kl,KEYS,ARGV) if cJ and bY then return bY end
return lq(not cJ and bY)
