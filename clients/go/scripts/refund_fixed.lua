-- RL.REFUND FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aG,i local S,n,am,aY=string.find,string.format,string.match,string.sub local function bT(C) return C==''and 1000
or C=='ms'and 1 or C=='s'and 1000 or C=='m'and 60000 or C=='h'and 3600000 or C=='d'and 86400000 or nil end
local function de(t,e,A) local ae,B,k=t[e],t[e+1],t[e+2] if not B then i().i('ARITY') end local a={ n='', J=0, now_ms=0,
c=0, W=0, limit=0, h=0, g=1, form=nil, delay=0, a=nil, m=nil, allowed=false, count=0, ttl=0, j='keep', remaining=0, l=1,
} e=e+2 if k=='LINE'and not t[e+1]and A~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=k,e+1
elseif k then local p=t[e+1]or''
local bC=A==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[e+2]=='LINE'and not t[e+3]and#p<16
if bC and k=='COST'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')~=' ID 'and S(p,'^[1-9]%d*$')then
a.form,a.g,e='LINE',p+0,e+3
elseif bC and k=='ID'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')==' ID 'and p~=''then
a.form,a.ID,e='LINE',p,e+3 else e=i().N(a,t,e,A) a.g=a.COST or 1 end a.f=a.ANCHOR and a.ANCHOR*1000 end
local cK=#B<16 and S(B,'^[1-9]%d*$') a.limit=cK and B+0 or i().M('limit',B,0) local E,C=am(ae,'^([1-9]%d*)(%l*)$')
local ar=E and#ae<16 and bT(C) local s=ar and E*ar if not s or s<1 or s>1e15 then s=i().X(a,ae) end
a.c,a.W,a.h=s,s<9e12 and s*1000 or i().H(s,1000),a.BURST or a.limit return a,e end local function db(t,A)
local a,e=de(t,1,A) if t[e]then i().D(a,A,t[e]) end return a end local function dc(t,A) if not t[1+1]then i().i('ARITY')
end return db(t,A) end local Z=redis.call local function di(a) local au=Z('TIME') local aV=au[1]*1000000+au[2]
a.J,a.now_ms=aV,(aV-aV%1000)/1000 end local function bh(a) if a.b or a.f then return i().v(a,(i().t(a))) end
local o,s=a.now_ms,a.c local E=(o-o%s)/s return n(E<2147483648 and':%d'or':%.0f',E) end local function dz(a,M,e,bj,aQ)
local j=M[e] if bh then local aX,ag=bh(a),M[e+1] local N=#aX if not ag then i().i('KEYS') elseif aY(j,-N)~=aX then j=ag
if aY(j,-N)~=aX then a.u=true end end a.n,j,e=j,aY(j,1,-N-1),e+2 else if not j then i().i('KEYS') end a.n,e=j,e+1 end
if aQ then a.k=j elseif S(j,':reserved',1,true)then i().P(j) end if bj then e=a.u and e+2 or i().S(a,M,e,j) end return e
end local function dg(a,M,bj,aQ) di(a) if#M~=dz(a,M,1,bj,aQ)-1 then i().i('KEYS') elseif a.u then i().B(a) end end
local function cP(a) local j=a.n local f=Z('GET',j) if f then local p=#f<16 and S(f,'^[1-9]%d*$')and f+0 or i().V(f)
local y=redis.REDIS_VERSION_NUM and Z('PEXPIRETIME',j)or i().A(j,a.now_ms)or-1 if y<0 then y=nil elseif y>=(2^53)then
i().i('INEXACT_STATE') end a.a={e=p,d=y} end end local function be(q,u,x) if q=='keep'then return x end
return q~='delete'and u or nil end local function aC(c,d) if c-c==0 and d-d==0 then return c<d end return i().F(c,d) end
local function ca(y,o) if not y then return-2 end local H=(y>o and y-o or 0)+500 return(H-H%1000)/1000 end
local function aJ(a,h) local l,o,B=a.a,a.now_ms,a.limit local x,bM=l and l.e or 0,h==0 and 1 or h
local bq=bM<=B and x+bM<=B local av=(bq or x>=B)and h>0 local u=av and x+h or x if u>=(2^53)then i().i('INEXACT_REPLY')
end local y=l and not(av and x==0)and l.d or nil if not y and(l or av)then y=(a.b or a.f)and i().I(a)or o+a.c end
a.allowed,a.count,a.ttl,a.j=bq,u,ca(y,o),'keep' if av or(l and not l.d)then a.j,a.m='charge',{e=u,d=y} end end
local function cu(a) if a.PARTIAL or a.ALWAYS then i().z(a) else local h=a.g a.l=h aJ(a,h) end if a.SHADOW then i().x(a)
end end local function D(a,h) local B=a.limit if h>B then return nil elseif a.q+h<=B then return 0 end
if a.b or a.f then local I,r=i().t(a) return r-a.now_ms end return a.c-a.now_ms%a.c end local function aN(a,I,l)
local p,B=l and l.e or 0,a.limit a.q=p>0 and p or 0 a.remaining=a.q<B and B-a.q or 0 end local function aw(a)
local q,D=a.j,D aN(a,q,q=='keep'and a.a or q~='delete'and a.m or nil) local W,aI,Q,U,ad=a.remaining,a.h,0,0,0
if not a.allowed then local h=a.l Q=D(a,a.r or(h==0 and 1 or h))or-1 if a.E and Q>=0 then Q=math.max(Q,a.E) end end
if W<aI then U=D(a,W+1)or-1 ad=W+1==aI and U or D(a,aI)or-1 end
if Q-Q~=0 or U-U~=0 or ad-ad~=0 or Q>=(2^53)or ad>=(2^53)then i().i('INEXACT_REPLY') end return W,Q,U,ad,0 end
local function cN(a,O) local W,Q,U,ad,cv=aw(a) local dt=a.o and 1 or 0 return n(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().s(a)or 1)or 0,a.count,a.ttl,a.h,W,Q,U,ad, cv,a.now_ms,dt,O ) end local function dl(a,O)
local aa=a.form if aa=='LINE'then return cN(a,O) elseif aa then return i().K(a,O) end
return{a.allowed and(a.PARTIAL and i().s(a)or 1)or 0,a.count,a.ttl} end local function cq(a,q,u,O) local br
local y,x,as=nil,a.a,be(q,u,a.a) if y and aC(y,a.now_ms)then as=nil end a.a=as cu(a) br=dl(a,O) a.a=x if not a.ac then
i().w(a,q,u) end return br end local function dr(M,t) local a=dc(t,' form COST AT BURST BLOCK MAX ANCHOR ') dg(a,M)
cP(a,'write') local q,u=i().refund(a,a.AT,a.g) return cq(a,q,u,0) end function i() if not aG then local v={}
v.NOT_A_COUNTER='ERR value is not an integer or out of range'
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
v.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
v.ARITY='ERR wrong number of arguments' local function bv(a,dv)
return n(':%s:%.0f',a.b and a.b:lower()or n('%.0fms',a.c),dv) end local function cr(aj,bI) if bI<2 then aj=aj-1 end
local cW=(bI+10)%12 local cM=math.floor(aj/4)-math.floor(aj/100)+math.floor(aj/400)
return 365*aj+cM+math.floor((153*cW+2)/5)-719468 end local function ax(b) return cr(math.floor(b/12),b%12) end
local function bJ(ak) local P=1970*12+math.floor(ak/30.436875)+1 while ax(P)>ak do P=P-1 end return P,ak-ax(P) end
local function bd(X,P) local e=X.G+P local m=ax(e) return(m+math.min(X.y,ax(e+1)-m-1))*86400000+X.U end
local function cm(bf,Y,o) local au=Y%86400000 local P,ak=bJ((Y-au)/86400000) local X={G=P,y=ak,U=au}
local bs=bJ(math.floor(o/86400000))-P local aR=bs-bs%bf local m,r=bd(X,aR),bd(X,aR+bf) if m>o then m,r=bd(X,aR-bf),m end
return m,r,r-m end local function ba(a,o) local C,Y=a.b,a.f if C=='MONTH'or C=='YEAR'then
local m,r,N=cm(C=='YEAR'and 12 or 1,Y or 0,o) return math.max(0,m),r,N end Y=Y or(C=='WEEK'and 4*86400000)or 0
local N=a.c local bp=(o%N-Y%N)%N return math.max(0,o-bp),o-bp+N,N end local function aZ(a) if a.b or a.f then
return ba(a,a.now_ms) end local o,s=a.now_ms,a.c local m=o-o%s return m,m+s end local function aU(a) if a.b or a.f then
local I,r=ba(a,a.now_ms) return r end return a.now_ms+a.c end local function bB(a,R) return not R or not aC(R,(aZ(a)))
end local function dj(a,R,h) local l=a.a if not l or not bB(a,R)then return'keep' end local p=l.e if p>0 and h>0 then
p=math.max(0,math.min(p,a.limit)-h) end if p==l.e and l.d then return'keep' end return'refund',{e=p,d=l.d or aU(a)} end
local function L(f) error({err=f},0) end local function z(T) L(v[T]) end local function cz(ap) if type(ap)=='table'then
return ap elseif S(ap,'^%u+ ')then return redis.error_reply(ap) end error(ap,0) end local function bG(c,d)
local bn,ck=c-c==0,d-d==0 if bn or ck then return bn elseif#c~=#d then return#c<#d end for b=#c,1,-1 do
if c[b]~=d[b]then return c[b]<d[b] end end return false end local function af(b) if b-b~=0 then return b end
local g,J={},0 while b>0 do local K=b%(2^24) J=J+1 g[J]=K b=(b-K)/(2^24) end return g end local bl={ __sub=function()
return 1 end, } local function ay(g) local J=#g while J>0 and g[J]==0 do g[J]=nil J=J-1 end
if J>3 or(J==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,bl) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function bK(c,d) c,d=af(c),af(d) local ao={}
for b=1,#c+#d do ao[b]=0 end for b=1,#c do local V=0 for aS=1,#d do local K=ao[b+aS-1]+c[b]*d[aS]+V
V=math.floor(K/(2^24)) ao[b+aS-1]=K-V*(2^24) end ao[b+#d]=V end return ay(ao) end local function cA(j,o)
local bF=Z('PTTL',j) return bF>=0 and o+bF or nil end local function bu(c,d) for e=1,math.min(#c,#d)do
local ce,cf=c:byte(e),d:byte(e) if ce~=cf then return ce<cf end end return#c<#d end local function al(f,an)
if f~='0'and not S(f,'^[1-9]%d*$')then return nil end return(#f<#an or(#f==#an and not bu(an,f)))and f or nil end
local function cC(f,w,cZ) local dE={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bk=dE[am(f,'^(%u):')]
if not bk or bk==w then z(cZ) end L('ERR the key holds a state of '..bk..': use another key for each algorithm') end
local function cj(c,d) c,d=af(c),af(d) local ai,V={},0 for b=1,math.max(#c,#d)+1 do local K=(c[b]or 0)+(d[b]or 0)+V
V=K>=(2^24)and 1 or 0 ai[b]=K-V*(2^24) end return ay(ai) end local function bo(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return cj(c,d) end local function aD(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bK(c,d) end local function aO(g)
if#g<=15 or(#g==16 and bu(g,'9007199254740992'))then return g+0 end local aP=#g%7 local b=aP>0 and g:sub(1,aP)+0 or 0
for e=aP+1,#g,7 do b=bo(aD(b,10000000),g:sub(e,e+6)+0) end return b end local function dC(f)
local du,g=am(f,'^(%-?)(%d+)$') local aT=du=='-' g=g and al(g,aT and'9223372036854775808'or'9223372036854775807')
if not g or(aT and g=='0')then cC(f,nil,'NOT_A_COUNTER') end local p=aO(g) if p-p~=0 then z('INEXACT_STATE') end
return aT and-p or p end local function bN(T,f,bE) local g=f and al(f,'9223372036854775807') local b=g and aO(g)
if not b or b==0 and bE>0 then L(n('ERR invalid %s: expected an integer from %d to 9223372036854775807',T,bE))
elseif b-b~=0 then L(n('ERR invalid %s: the Lua library takes integers up to 9007199254740991',T)) end return b end
local bm={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ab(cO,w)
return not S(w,' ',1,true)and S(cO,' '..w..' ',1,true)~=nil end local function bX(a,k)
return not ab(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or ab((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),k)
end local function cJ(w,k) local m,r=0,0 local bV,cQ=math.min(#w,#k),math.max(#w,#k)
while m<bV and w:byte(m+1)==k:byte(m+1)do m=m+1 end while r<bV-m and w:byte(-1-r)==k:byte(-1-r)do r=r+1 end
return m+r>=2 and cQ-m-r<=2 end local function cD(a,A,w) local ac={} for I,G in ipairs(bm)do
if ab(A,G[1])and bX(a,G[1])then ac[#ac+1]=G[2] end end for I,aa in ipairs({'FULL','LINE','HEADERS'})do ac[#ac+1]=aa end
for I,k in ipairs(ac)do if cJ(w:upper(),am(k,'^%u+'))then L('ERR syntax error: no such option, but there is '..k) end
end local r=table.remove(ac) local dB=table.concat(ac,', ')
L('ERR syntax error: after limit come '..dB..' or '..r..', each at most once') end local function dn(G,a,A)
local k,dF=G[1],a.Y if not ab(A,k)then L(n('ERR invalid %s: only %s it',k,G[3])) elseif not bX(a,k)then
L(n('ERR invalid %s: %s takes none',k,('FIXED'))) elseif a[k]~=nil then
L(n('ERR syntax error: %s comes at most once',G[2])) end end local function bP(f) local E,C=am(f,'^(%d+)(%l*)$')
local ar=E and bT(C) local H=ar and al(E,'18446744073709551615')and E*ar return H and H>=1 and H<=1e15 and H or nil end
local function bO(f,an) return f and#f>=1 and#f<=an and f end local function bH(c,d) return aC(d,c)and d or c end
local function bt(b) if b-b==0 then return b end local ai=0 for cI=#b,1,-1 do ai=ai*(2^24)+b[cI] end return ai end
local function dx(c,d) if not bG(d,c)then return 0 end d=af(d) local bw,aH={},0 for b=1,#c do local K=c[b]-(d[b]or 0)-aH
aH=K<0 and 1 or 0 bw[b]=K+aH*(2^24) end return ay(bw) end local function dw(c,d) if c-c==0 and d-d==0 then
return c>d and c-d or 0 end return dx(c,d) end local function cx(c,d) local bb=0 while not aC(c,d)do
local aF=math.max(1,math.floor(bt(c)/bt(d)*(1-2^-45))) aF=ay(af(aF)) bb=bo(bb,aF) c=dw(c,aD(aF,d)) end return bb,c end
local function aL(c,d) if c-c==0 and d-d==0 then local F=c%d return(c-F)/d,F end return cx(c,d) end
local ci=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bl) local function df(k,f,bU) if k=='RESERVE'then
local bZ=bU and bP(bU) return bO(f,128)and bZ and{id=f,ttl=bZ}or z('RESERVE') elseif k=='RESERVATION'then
return bO(f,128)or z('RESERVATION') end if k=='ANCHOR'then local g=f and al(f,'253402300799')
return g and g+0 or z('ANCHOR') end if k=='AS'then return f and#f>=1 and#f<=64 and not S(f,'[^%w._-]')and f or z('AS')
elseif k=='AT'then local g=f and al(f,'9223372036854775807') return g and bH(aO(g),(aL(ci,1000)))or z('AT') end
return bN(k,f,k=='BURST'and 1 or 0) end local function dm(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
z(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
z(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cg={FULL=true,LINE=true,HEADERS=true}
local function cU(aa,bL) if aa then z(aa==bL and'FORM_TWICE'or'TWO_FORMS') end return bL end local function dd(a,t,e,A)
while t[e]do local w,G=t[e]:upper(),nil for I,bD in ipairs(bm)do G=bD[1]==w and bD or G end if G then dn(G,a,A)
if G[2]==w then a[w]=true e=e+1 else a[w]=df(w,t[e+1],t[e+2]) e=e+(w=='RESERVE'and 3 or 2) end dm(a)
elseif cg[w]and ab(A,'form')then a.form=cU(a.form,w) e=e+1 else return e end end return e end
local ch={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dD(a,f) local s=bP(f)
if not s then a.b=f:upper() s=ch[a.b] if not s then
z(ab((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ab((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
L(n('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return s end local function cF(j)
return j:sub(-9)==':reserved'or j:sub(-14)==':reserved:ends' end local function dp(j) if cF(j)then z('RESERVED_KEY') end
end local function dA(b) local bi='' while b-b~=0 do local F b,F=aL(b,10000000) bi=n('%07.0f',F)..bi end
return n('%.0f',b)..bi end local function bY(b) if b-b~=0 then return dA(b) end return n('%.0f',b) end
local function cV(a) local I,r=aZ(a) if a.b or a.f then return bv(a,r) end return':'..bY(r/a.c) end local function cl(a)
return bh(a)..' '..cV(a) end local function cB(a) L(n('ERR clock %.0f %s',a.now_ms,cl(a))) end local function bA(a)
local ae=a.b and a.b:lower()or n('%.0fms',a.c) return':'..ae..(a.f and n(':%.0f',a.f/1000)or'') end
local function dy(a,M,e,j) local az,bx=M[e]or'',M[e+1] local T=(bA and bA(a)or'')..':reserved'
if(az~=j..T and az~='{'..j..'}'..T)or bx~=az..':ends'then z('KEYS') end a.ab,a.Z=az,bx return e+2 end
local function ah(H) local F=H%1000 return H<0 and-1 or F==0 and H/1000 or(H-F)/1000+1 end local function cp(a)
local cX=a.PARTIAL and a.l<a.g a.o=a.SHADOW and not a.p and(cX or not a.allowed) if not a.allowed and(a.o or a.p)then
a.allowed=true if not true then local I,I,I,bc=aw(a) a.ttl=ah(bc) end end end local function dk(a) aN(a,'keep',a.a)
return a.remaining end local function da(a,R,h) local l=a.a if h==0 or not bB(a,R)then return'keep' end
local x=l and l.e or 0 if x+h+1>=(2^53)then z('INEXACT_REPLY') end local cH=x~=0 and l.d
return'charge',{e=x+h,d=cH or aU(a)} end local function cT(h) return h==0 and 1 or h end local function cb(l,o)
return l and l.e or 0,ca(l and l.d,o) end local function by(b) if b-b~=0 or b>=(2^53)then z('INEXACT_REPLY') end
return b end local function cs(a) local h=a.g aJ(a,0) local q,u=da(a,nil,h) if h>0 then a.j,a.m=q,u end
local as=be(a.j,a.m,a.a) aN(a,a.j,as) a.allowed=a.h>0 and D(a,0)==0 a.r=a.h>0 and h or cT(h) if cb then
a.count,a.ttl=cb(as,a.now_ms) elseif a.allowed then a.ttl=ah(by(D(a,a.h))) else local D=D(a,a.r)
a.ttl=D and math.max(1,ah(by(D)))or-1 end end local function ct(a) local h=a.g if a.PARTIAL then h=math.min(h,dk(a)) end
a.l=h if a.ALWAYS then cs(a) else aJ(a,h) end end local function ds(j,R) if R then Z('PEXPIREAT',j,bY(R)) end end
local function cn(a,q,u) local j,x=a.n,a.a if q=='delete'then Z('UNLINK',j) elseif q~='keep'then
local aK=u.e-(x and x.e or 0) if aK~=0 then Z('INCRBY',j,aK==1 and'1'or n('%.0f',aK)) end if not x or u.d~=x.d then
ds(j,u.d) end end end local function co(a,q,u) if a.aa then u=be(q,u,a.a) a.a=a.Q if not u then
q=a.Q and'delete'or'keep' elseif q~='charge'then q='refund' end end cn(a,q,u) end local function bQ(a)
return a.p and a.p.g or a.o and a.g or a.l end local function bz(a) if not a.allowed then return 0 end
return a.PARTIAL and bQ(a)or 1 end local function cE(a,O) local W,dq,U,bc,cw=aw(a) return{ 'allowed',bz(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.h, 'remaining',W, 'retry_after_ms',dq, 'next_ms',U, 'reset_ms',bc,
'delay_ms',cw, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',O, } end local function cS(aq) local bW={}
for I,a in ipairs(aq)do local m,E=a.AS or('FIXED'):lower(),2 a.k=m while bW[a.k]do a.k=n('%s-%d',m,E) E=E+1 end
bW[a.k]=true end end local function cc(a) if a.b or a.f then return(select(3,ba(a,a.now_ms))) end return a.c end
local function aB(b) return n('%.0f',bH(b,999999999999999)) end local function dh(a) local s=cc and cc(a)or a.c
local aM,F=1000,s%1000 while F>0 do aM,F=F,aM%F end local cd=1000/aM local ae=aL(aD(s,cd),1000)
return n('"%s";q=%s;w=%s',a.k,aB(aD(a.limit,cd)),aB(ae)) end local function cL(aE,ag) if aE.allowed~=ag.allowed then
return not aE.allowed end local D,aW=aE.retry_after_ms,ag.retry_after_ms if D~=aW then return D<0 or(aW>=0 and D>aW) end
return aE.remaining<ag.remaining end local function cG(aq) local bg,bR=aq[1],{} cS(aq) for b,a in ipairs(aq)do
bR[b]=dh(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aw(a) if cL(a,bg)then bg=a end end local a=bg local at={
'X-RateLimit-Limit', n('%.0f',a.h), 'X-RateLimit-Remaining', n('%.0f',a.remaining), } local function aA(T,p) at[#at+1]=T
at[#at+1]=p end if a.reset_ms>=0 then aA('X-RateLimit-Reset',n('%.0f',ah(a.now_ms+a.reset_ms))) end
aA('RateLimit-Policy',table.concat(bR,', ')) local cR=a.next_ms>=0 and';t='..aB(ah(a.next_ms))or''
aA('RateLimit',n('"%s";r=%s%s',a.k,aB(a.remaining),cR)) if not a.allowed and a.retry_after_ms>=0 then
aA('Retry-After',n('%.0f',ah(a.retry_after_ms))) end return at end local function cY(a,O) if a.form=='FULL'then
return cE(a,O) end return{bz(a),a.count,a.ttl,cG({a})} end
aG={v=bv,w=co,x=cp,z=ct,error_reply=cz,A=cA,i=z,B=cB,D=cD,F=bG,H=bK,I=aU,K=cY,M=bN,N=dd,s=bQ,t=aZ,refund=dj,P=dp,S=dy,V=dC,X=dD}
end return aG end local cy,bS=pcall(dr,KEYS,ARGV) return cy and bS or i().error_reply(bS)
