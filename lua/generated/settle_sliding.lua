-- RL.SETTLE SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aI,h local W,i,bb,dw=string.find,string.format,string.match,string.sub local function bP(O) return O==''and 1000
or O=='ms'and 1 or O=='s'and 1000 or O=='m'and 60000 or O=='h'and 3600000 or O=='d'and 86400000 or nil end
local function cV(q,e,z) local av,ak,j=q[e],q[e+1],q[e+2] if not ak then h().h('ARITY') end local a={ b='', N=0,
now_ms=0, e=0, X=0, limit=0, c=0, a=1, form=nil, delay=0, g=nil, j=nil, allowed=false, count=0, ttl=0, f='keep',
remaining=0, k=1, } e=e+2 if j=='LINE'and not q[e+1]and z~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local ae=q[e+1]or''
local by=z==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and q[e+2]=='LINE'and not q[e+3]and#ae<16
if by and j=='COST'and(' COST PARTIAL ')~=' ID 'and W(ae,'^[1-9]%d*$')then a.form,a.a,e='LINE',ae+0,e+3
elseif by and j=='ID'and(' COST PARTIAL ')==' ID 'and ae~=''then a.form,a.ID,e='LINE',ae,e+3 else e=h().R(a,q,e,z)
a.a=a.COST or 1 end end local cD=#ak<16 and W(ak,'^[1-9]%d*$') a.limit=cD and ak+0 or h().Q('limit',ak,0)
local L,O=bb(av,'^([1-9]%d*)(%l*)$') local ar=L and#av<16 and bP(O) local v=ar and L*ar if not v or v<1 or v>1e15 then
v=h().Y(a,av) end a.e,a.X,a.c=v,v<9e12 and v*1000 or h().M(v,1000),a.BURST or a.limit return a,e end
local function cS(q,z) local a,e=cV(q,1,z) if q[e]then h().H(a,z,q[e]) end if true and a.a>1000 then
h().z(h().L(a),'LOG_COST') end return a end local function cT(q,z) if not q[1+1]then h().h('ARITY') end return cS(q,z)
end local t=redis.call local function da(a) local bV=t('TIME') local bc=bV[1]*1000000+bV[2]
a.N,a.now_ms=bc,(bc-bc%1000)/1000 end local function dp(a,ag,e,bX,aV) local f=ag[e] if not f then h().h('KEYS') end
a.b,e=f,e+1 if aV then a.i=f elseif W(f,':reserved',1,true)then h().U(f) end return e end local function cY(a,ag,bX,aV)
da(a) if#ag~=dp(a,ag,1,bX,aV)-1 then h().h('KEYS') end end local aR,dv,dy,aD=4000,1000,1000,2*500
local function cH(a,al,bU,ao) local f=a.b local u,V=t('ZCARD',f),0 if u>0 and bU>=0 and ao~='delete'then
local s=i('%.0f',bU) local K=ao=='read'and 0 or aR if u<=K then local X=t('ZREMRANGEBYSCORE',f,al,s) u,aR=u-X,K-X else
u,V=h().T(f,al,s,u,K) end end a.d,a.p,a.o=u-V,V,u>0 end local function bD(a,ao) cH(a,'0',a.now_ms-a.e,ao)
a.v,a.l,a.r=nil,nil,nil a.s=500 if ao=='write'then aD=(aD-aD%2)/2 a.s=aD end end local function bR(m,n,aK)
if m=='keep'then return aK end return m~='delete'and n or nil end local function aC(c,d) if c-c==0 and d-d==0 then
return c<d end return h().J(c,d) end local function ad(F) local D=F%1000
return F<0 and-1 or D==0 and F/1000 or(F-D)/1000+1 end local function bp(c,d) if c-c==0 and d-d==0 and c+d<(2^53)then
return c+d end return h().B(c,d) end local function bj(f,x) x=i('%.0f',x) local y=t('ZRANGE',f,x,x,'WITHSCORES')[2]
return y and tonumber(y) end local function bH(a) a.l=a.l or a.o and bj(a.b,-1)or 0 return a.l end
local function aN(a,g) local bB=a.d local aJ=bB+(g==0 and 1 or g)<=a.limit
a.allowed,a.count,a.ttl,a.f=aJ,bB,ad(a.e),'keep' if aJ and g>0 then a.f,a.j='charge',{m=g}
elseif not aJ and bH(a)>a.now_ms then a.f,a.j='rebase',{V=true} end end local function bt(a)
if a.PARTIAL or a.ALWAYS then h().E(a) else local g=a.a a.k=g aN(a,g) end if a.SHADOW then h().D(a) end end
local function bI(a) a.v=a.v or a.o and bj(a.b,0)or 0 return a.v end local function aZ(a,x)
local y=x==0 and bI(a)or x>=0 and x<a.d+a.p and bj(a.b,x) return y and math.max(0,math.ceil(y)) end
local function aX(a,b) if b>=a.d+a.n-a.u then return nil end local x=b+a.u+a.p if bH(a)>a.now_ms then
return h().K(a,x)+a.e end return(x<a.d+a.p and aZ(a,x)or a.now_ms)+a.e end local function ds(a,g,B,aX,aT)
local bi=a.limit-g if bi<0 then return nil elseif B<=bi then return 0 end local S=aX(a,B-bi-1)
if aT and(not S or aT<S)then S=aT end return S and(S>=(2^53)and(1/0)or math.max(0,S-a.now_ms)) end
local function aF(a,bx) local G,v=a.now_ms,a.e if bx and 2*(bx-G)>=3*v then return nil end return G+2*v end
local function cw(f,G) if not redis.REDIS_VERSION_NUM then return h().G(f,G) end local e=t('PEXPIRETIME',f)
return e>=0 and e or nil end local function aj(a) a.r=a.r or a.o and cw(a.b,a.now_ms)or 0 return a.r end
local function A(a,g) return ds(a,g,a.d+a.n,aX,(aF(a,aj(a))or aj(a))+1) end local function aS(a,m,n)
a.t,a.n,a.S=nil,m=='charge'and n.m or 0,m=='rebase' local I=a.limit-a.d-a.n a.remaining,a.u=I>0 and I or 0,0
if bI(a)<0 then a.u=t('ZCOUNT',a.b,'-inf','(0') end end local function ay(a) local m,A=a.f,A
aS(a,m,m=='keep'and a.g or m~='delete'and a.j or nil) local I,aM,M,T,ac=a.remaining,a.c,0,0,0 if not a.allowed then
local g=a.k M=A(a,a.x or(g==0 and 1 or g))or-1 if a.I and M>=0 then M=math.max(M,a.I) end end if I<aM then
T=A(a,I+1)or-1 ac=I+1==aM and T or A(a,aM)or-1 end if M-M~=0 or T-T~=0 or ac-ac~=0 or M>=(2^53)or ac>=(2^53)then
h().h('INEXACT_REPLY') end return I,M,T,ac,0 end local function cF(a,B) local I,M,T,ac,cq=ay(a) local dl=a.q and 1 or 0
return i( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl,a.c,I,M,T,ac, cq,a.now_ms,dl,B ) end local function bN(a,B)
local Z=a.form if Z=='LINE'then return cF(a,B) elseif Z then return h().O(a,B) end
return{a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl} end local function cm(a,m,n,B) local ax
if not true then local Y,aK,as=nil,a.g,bR(m,n,a.g) if Y and aC(Y,a.now_ms)then as=nil end a.g=as bt(a) ax=bN(a,B) a.g=aK
end if not a.aa then h().C(a,m,n) end if not ax then bD(a,'read') bt(a) ax=bN(a,B) end return ax end
local function dk(ag,q) local a=cT(q,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ')
local bg,aw=a.RESERVED,a.ACTUAL if not bg or not aw then h().h('SETTLEMENT') end local ai=math.abs(bg-aw)
h().z(true and ai or 0,'LOG_DIFFERENCE') cY(a,ag) bD(a,'write') local cn=aw<bg and h().refund or h().P
local m,n=cn(a,a.AT,ai) return cm(a,m,n,aw) end function h() if not aI then local p={}
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
..'reservations' p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
p.ARITY='ERR wrong number of arguments'
p.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
p.LOG_COST='ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more'
p.LOG_DIFFERENCE='ERR invalid ACTUAL: RL.SLIDING is corrected by at most 1000 units a call; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more'
p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function br(b) if b-b==0 then
return b end local N=0 for cB=#b,1,-1 do N=N*(2^24)+b[cB] end return N end local bm={ __sub=function() return 1 end, }
local function az(l) local o=#l while o>0 and l[o]==0 do l[o]=nil o=o-1 end
if o>3 or(o==3 and l[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(l,bm) end
return(l[1]or 0)+(l[2]or 0)*(2^24)+(l[3]or 0)*(2^24)*(2^24) end local function af(b) if b-b~=0 then return b end
local l,o={},0 while b>0 do local H=b%(2^24) o=o+1 l[o]=H b=(b-H)/(2^24) end return l end local function bC(c,d)
local bo,cg=c-c==0,d-d==0 if bo or cg then return bo elseif#c~=#d then return#c<#d end for b=#c,1,-1 do
if c[b]~=d[b]then return c[b]<d[b] end end return false end local function dn(c,d) if not bC(d,c)then return 0 end
d=af(d) local ai,aL={},0 for b=1,#c do local H=c[b]-(d[b]or 0)-aL aL=H<0 and 1 or 0 ai[b]=H+aL*(2^24) end return az(ai)
end local function dm(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end return dn(c,d) end
local function bF(c,d) c,d=af(c),af(d) local an={} for b=1,#c+#d do an[b]=0 end for b=1,#c do local U=0 for aY=1,#d do
local H=an[b+aY-1]+c[b]*d[aY]+U U=math.floor(H/(2^24)) an[b+aY-1]=H-U*(2^24) end an[b+#d]=U end return az(an) end
local function aE(c,d) if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bF(c,d) end local function cs(c,d)
local bf=0 while not aC(c,d)do local C=math.max(1,math.floor(br(c)/br(d)*(1-2^-45))) C=az(af(C)) bf=bp(bf,C)
c=dm(c,aE(C,d)) end return bf,c end local function aP(c,d) if c-c==0 and d-d==0 then local D=c%d return(c-D)/d,D end
return cs(c,d) end local function dq(b) local bl='' while b-b~=0 do local D b,D=aP(b,10000000) bl=i('%07.0f',D)..bl end
return i('%.0f',b)..bl end local function at(b) if b-b~=0 then return dq(b) end return i('%.0f',b) end
local function cJ(a,x) local G,bq=a.now_ms,a.n local e=aZ(a,x) if e and bq>0 and e>G then e=nil end if not e then
local aW=aZ(a,x-bq) e=aW and aW>G and aW or G end if a.S then a.t=a.t or t('ZCOUNT',a.b,'-inf',at(G))+a.s
e=x<a.t and math.min(e,G)or e end return e end local function db(a,Q,g) local o=math.min(a.d,g) if o==0 then
return'keep' end return'refund',{remove=o,A=Q} end local function bJ(a,Q,g) if g==0 then return'keep'
elseif not Q or not aC(Q,a.now_ms)then return'charge',{m=g} elseif Q<=a.now_ms-a.e then return'keep' end
return'charge',{m=g,F=Q} end local function R(k) error({err=k},0) end local function J(ah) R(p[ah]) end
local function cu(ap) if type(ap)=='table'then return ap elseif W(ap,'^%u+ ')then return redis.error_reply(ap) end
error(ap,0) end local function cd(c,d) c,d=af(c),af(d) local N,U={},0 for b=1,math.max(#c,#d)+1 do
local H=(c[b]or 0)+(d[b]or 0)+U U=H>=(2^24)and 1 or 0 N[b]=H-U*(2^24) end return az(N) end local function cv(f,G)
local S=t('PTTL',f) return S>=0 and G+S or nil end local function dd(f,al,s,u,K) local V=t('ZCOUNT',f,al,s)
local X=math.min(V,K) if X>0 then local r=al=='0'and t('ZCOUNT',f,'-inf','(0')or 0
t('ZREMRANGEBYRANK',f,i('%.0f',r),i('%.0f',r+X-1)) u,V,aR=u-X,V-X,K-X end return u,V end local function bs(c,d)
for e=1,math.min(#c,#d)do local bY,bZ=c:byte(e),d:byte(e) if bY~=bZ then return bY<bZ end end return#c<#d end
local function aO(k,K) if k~='0'and not W(k,'^[1-9]%d*$')then return nil end
return(#k<#K or(#k==#K and not bs(K,k)))and k or nil end local function bw(l)
if#l<=15 or(#l==16 and bs(l,'9007199254740992'))then return l+0 end local aU=#l%7 local b=aU>0 and l:sub(1,aU)+0 or 0
for e=aU+1,#l,7 do b=bp(aE(b,10000000),l:sub(e,e+6)+0) end return b end local function bK(ah,k,bA)
local l=k and aO(k,'9223372036854775807') local b=l and bw(l) if not b or b==0 and bA>0 then
R(i('ERR invalid %s: expected an integer from %d to 9223372036854775807',ah,bA)) elseif b-b~=0 then
R(i('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ah)) end return b end local bn={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aa(cG,w)
return not W(w,' ',1,true)and W(cG,' '..w..' ',1,true)~=nil end local function bT(a,j)
return not aa(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or aa((' COST PARTIAL '),j) end
local function cC(w,j) local r,s=0,0 local bQ,cI=math.min(#w,#j),math.max(#w,#j)
while r<bQ and w:byte(r+1)==j:byte(r+1)do r=r+1 end while s<bQ-r and w:byte(-1-s)==j:byte(-1-s)do s=s+1 end
return r+s>=2 and cI-r-s<=2 end local function cx(a,z,w) local ab={} for P,E in ipairs(bn)do
if aa(z,E[1])and bT(a,E[1])then ab[#ab+1]=E[2] end end for P,Z in ipairs({'FULL','LINE','HEADERS'})do ab[#ab+1]=Z end
for P,j in ipairs(ab)do if cC(w:upper(),bb(j,'^%u+'))then R('ERR syntax error: no such option, but there is '..j) end
end local s=table.remove(ab) local dr=table.concat(ab,', ')
R('ERR syntax error: after limit come '..dr..' or '..s..', each at most once') end local function dg(E,a,z)
local j,du=E[1],a.Z if not aa(z,j)then R(i('ERR invalid %s: only %s it',j,E[3])) elseif not bT(a,j)then
R(i('ERR invalid %s: %s takes none',j,('SLIDING'))) elseif a[j]~=nil then
R(i('ERR syntax error: %s comes at most once',E[2])) end end local function bE(c,d) return aC(d,c)and d or c end
local cc=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bm) local function cW(j,k,dx) if j=='AS'then
return k and#k>=1 and#k<=64 and not W(k,'[^%w._-]')and k or J('AS') elseif j=='AT'then
local l=k and aO(k,'9223372036854775807') return l and bE(bw(l),(aP(cc,1000)))or J('AT') end
return bK(j,k,j=='BURST'and 1 or 0) end local function de(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
J(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
J(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local ca={FULL=true,LINE=true,HEADERS=true}
local function cP(Z,bG) if Z then J(Z==bG and'FORM_TWICE'or'TWO_FORMS') end return bG end local function cU(a,q,e,z)
while q[e]do local w,E=q[e]:upper(),nil for P,bz in ipairs(bn)do E=bz[1]==w and bz or E end if E then dg(E,a,z)
if E[2]==w then a[w]=true e=e+1 else a[w]=cW(w,q[e+1],q[e+2]) e=e+(w=='RESERVE'and 3 or 2) end de(a)
elseif ca[w]and aa(z,'form')then a.form=cP(a.form,w) e=e+1 else return e end end return e end local function cX(k)
local L,O=bb(k,'^(%d+)(%l*)$') local ar=L and bP(O) local F=ar and aO(L,'18446744073709551615')and L*ar
return F and F>=1 and F<=1e15 and F or nil end
local cb={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dt(a,k) local v=cX(k)
if not v then a.W=k:upper() v=cb[a.W] if not v then J(aa((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aa((' COST PARTIAL '),'ANCHOR')then
R(i('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return v end local function cM(a)
if not true then return 0 elseif a.c<a.a then return a.PARTIAL and a.c or 0 end return a.a end local function df(u,k)
if u>1000 then J(k) end end local function cz(f) return f:sub(-9)==':reserved'or f:sub(-14)==':reserved:ends' end
local function dh(f) if cz(f)then J('RESERVED_KEY') end end local function cl(a) local cQ=a.PARTIAL and a.k<a.a
a.q=a.SHADOW and not a.w and(cQ or not a.allowed) if not a.allowed and(a.q or a.w)then a.allowed=true if not true then
local P,P,P,bh=ay(a) a.ttl=ad(bh) end end end local function dc(a) aS(a,'keep',a.g) return a.remaining end
local function cO(g) return g==0 and 1 or g end local function bu(b) if b-b~=0 or b>=(2^53)then J('INEXACT_REPLY') end
return b end local function co(a) local g=a.a aN(a,0) local m,n=bJ(a,nil,g) if g>0 then a.f,a.j=m,n end
local as=bR(a.f,a.j,a.g) aS(a,a.f,as) a.allowed=a.c>0 and A(a,0)==0 a.x=a.c>0 and g or cO(g) if(nil)then
a.count,a.ttl=(nil)(as,a.now_ms) elseif a.allowed then a.ttl=ad(bu(A(a,a.c))) else local A=A(a,a.x)
a.ttl=A and math.max(1,ad(bu(A)))or-1 end end local function cp(a) local g=a.a if a.PARTIAL then g=math.min(g,dc(a)) end
a.k=g if a.ALWAYS then co(a) else aN(a,g) end end local function ce(a,F,o) local f,y=a.b,i('%.0f',F)
local b=a.l and a.l<F and 0 or t('ZCOUNT',f,y,y) while o>1 do local C={} for P=1,math.min(o,1000)do C[#C+1]=y
C[#C+1]=i('%s-0.%.0f',y,b) b=b+1 end o=o-t('ZADD',f,'NX',unpack(C)) end while o>0 do
o=o-t('ZADD',f,'NX',y,y..'-0.'..at(b)) b=b+1 end end local function aH(f,Q) if Q then t('PEXPIREAT',f,at(Q)) end end
local function ch(cf,ba) local N=0 for r=1,#ba,1000 do local C={unpack(cf)} for b=r,math.min(r+999,#ba)do C[#C+1]=ba[b]
end N=N+t(unpack(C)) end return N end local function di(f,y,u) local am={} for P,cK in ipairs(u)do am[#am+1]=y
am[#am+1]=cK end ch({'ZADD',f,'XX'},am) end local function ck(a,m,n) local f=a.b if m=='delete'then t('UNLINK',f) return
end local Y=aF(a,aj(a)) if n.V then local y=i('%.0f',a.now_ms)
di(f,y,t('ZRANGEBYSCORE',f,'('..y,'+inf','LIMIT','0',at(a.s))) aH(f,Y) return end local u=a.d+a.p
local r,s=u-n.remove,u-1 if n.A then s=t('ZCOUNT',f,'-inf',at(n.A))-1 r=math.max(0,s+1-n.remove) end
if s<0 or r>0 or s+1<u then aH(f,Y) end if s>=0 then t('ZREMRANGEBYRANK',f,i('%.0f',r),i('%.0f',s)) end end
local function ci(a,m,n) local f=a.b if m=='charge'then local Y=aF(a,aj(a)) ce(a,n.F or a.now_ms,n.m) aH(f,Y)
elseif m~='keep'then ck(a,m,n) elseif a.o then aH(f,aF(a,aj(a))) end end local function cj(a,m,n) ci(a,m,n) end
local function bL(a) return a.w and a.w.a or a.q and a.a or a.k end local function bv(a) if not a.allowed then return 0
end return a.PARTIAL and bL(a)or 1 end local function cy(a,B) local I,dj,T,bh,cr=ay(a) return{ 'allowed',bv(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.c, 'remaining',I, 'retry_after_ms',dj, 'next_ms',T, 'reset_ms',bh,
'delay_ms',cr, 'now_ms',a.now_ms, 'shadow',a.q and 1 or 0, 'charged',B, } end local function cN(aq) local bS={}
for P,a in ipairs(aq)do local r,L=a.AS or('SLIDING'):lower(),2 a.i=r while bS[a.i]do a.i=i('%s-%d',r,L) L=L+1 end
bS[a.i]=true end end local function aB(b) return i('%.0f',bE(b,999999999999999)) end local function cZ(a)
local v=(nil)and(nil)(a)or a.e local aQ,D=1000,v%1000 while D>0 do aQ,D=D,aQ%D end local bW=1000/aQ
local av=aP(aE(v,bW),1000) return i('"%s";q=%s;w=%s',a.i,aB(aE(a.limit,bW)),aB(av)) end local function cE(aG,bd)
if aG.allowed~=bd.allowed then return not aG.allowed end local A,be=aG.retry_after_ms,bd.retry_after_ms if A~=be then
return A<0 or(be>=0 and A>be) end return aG.remaining<bd.remaining end local function cA(aq) local bk,bM=aq[1],{} cN(aq)
for b,a in ipairs(aq)do bM[b]=cZ(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ay(a) if cE(a,bk)then bk=a end end
local a=bk local au={ 'X-RateLimit-Limit', i('%.0f',a.c), 'X-RateLimit-Remaining', i('%.0f',a.remaining), }
local function aA(ah,ae) au[#au+1]=ah au[#au+1]=ae end if a.reset_ms>=0 then
aA('X-RateLimit-Reset',i('%.0f',ad(a.now_ms+a.reset_ms))) end aA('RateLimit-Policy',table.concat(bM,', '))
local cL=a.next_ms>=0 and';t='..aB(ad(a.next_ms))or'' aA('RateLimit',i('"%s";r=%s%s',a.i,aB(a.remaining),cL))
if not a.allowed and a.retry_after_ms>=0 then aA('Retry-After',i('%.0f',ad(a.retry_after_ms))) end return au end
local function cR(a,B) if a.form=='FULL'then return cy(a,B) end return{bv(a),a.count,a.ttl,cA({a})} end
aI={B=cd,C=cj,D=cl,E=cp,error_reply=cu,G=cv,h=J,H=cx,J=bC,K=cJ,L=cM,M=bF,O=cR,P=bJ,Q=bK,R=cU,y=bL,refund=db,T=dd,z=df,U=dh,Y=dt}
end return aI end local ct,bO=pcall(dk,KEYS,ARGV) return ct and bO or h().error_reply(bO)
