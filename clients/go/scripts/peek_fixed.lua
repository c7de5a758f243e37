-- RL.PEEK FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aE,j local O,m,ak,aV=string.find,string.format,string.match,string.sub local function bO(x) return x==''and 1000
or x=='ms'and 1 or x=='s'and 1000 or x=='m'and 60000 or x=='h'and 3600000 or x=='d'and 86400000 or nil end
local function cW(t,e,z) local ac,w,i=t[e],t[e+1],t[e+2] if not w then j().f('ARITY') end local a={ o='', H=0, now_ms=0,
b=0, S=0, limit=0, d=0, e=1, form=nil, delay=0, j=nil, m=nil, allowed=false, count=0, ttl=0, g='keep', remaining=0, l=1,
} e=e+2 if i=='LINE'and not t[e+1]and z~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=i,e+1
elseif i then local u=t[e+1]or''
local bw=z==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[e+2]=='LINE'and not t[e+3]and#u<16
if bw and i=='COST'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')~=' ID 'and O(u,'^[1-9]%d*$')then
a.form,a.e,e='LINE',u+0,e+3
elseif bw and i=='ID'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')==' ID 'and u~=''then
a.form,a.ID,e='LINE',u,e+3 else e=j().K(a,t,e,z) a.e=a.COST or 1 end a.c=a.ANCHOR and a.ANCHOR*1000 end
local cD=#w<16 and O(w,'^[1-9]%d*$') a.limit=cD and w+0 or j().J('limit',w,0) local B,x=ak(ac,'^([1-9]%d*)(%l*)$')
local ap=B and#ac<16 and bO(x) local p=ap and B*ap if not p or p<1 or p>1e15 then p=j().U(a,ac) end
a.b,a.S,a.d=p,p<9e12 and p*1000 or j().F(p,1000),a.BURST or a.limit return a,e end local function cU(t,z)
local a,e=cW(t,1,z) if t[e]then j().B(a,z,t[e]) end return a end local at=redis.call local function da(a)
local ar=at('TIME') local aS=ar[1]*1000000+ar[2] a.H,a.now_ms=aS,(aS-aS%1000)/1000 end local function bd(a)
if a.a or a.c then return j().v(a,(j().t(a))) end local n,p=a.now_ms,a.b local B=(n-n%p)/p
return m(B<2147483648 and':%d'or':%.0f',B) end local function dq(a,K,e,bf,aN) local k=K[e] if bd then
local aU,ae=bd(a),K[e+1] local L=#aU if not ae then j().f('KEYS') elseif aV(k,-L)~=aU then k=ae if aV(k,-L)~=aU then
a.u=true end end a.o,k,e=k,aV(k,1,-L-1),e+2 else if not k then j().f('KEYS') end a.o,e=k,e+1 end if aN then a.i=k
elseif O(k,':reserved',1,true)then j().M(k) end if bf then e=a.u and e+2 or j().N(a,K,e,k) end return e end
local function cY(a,K,bf,aN) da(a) if#K~=dq(a,K,1,bf,aN)-1 then j().f('KEYS') elseif a.u then j().A(a) end end
local function cI(a) local k=a.o local f=at('GET',k) if f then local u=#f<16 and O(f,'^[1-9]%d*$')and f+0 or j().Q(f)
local A=redis.REDIS_VERSION_NUM and at('PEXPIRETIME',k)or j().z(k,a.now_ms)or-1 if A<0 then A=nil elseif A>=(2^53)then
j().f('INEXACT_STATE') end a.j={k=u,h=A} end end local function bV(A,n) if not A then return-2 end
local E=(A>n and A-n or 0)+500 return(E-E%1000)/1000 end local function aH(a,h) local s,n,w=a.j,a.now_ms,a.limit
local G,bG=s and s.k or 0,h==0 and 1 or h local bm=bG<=w and G+bG<=w local au=(bm or G>=w)and h>0
local V=au and G+h or G if V>=(2^53)then j().f('INEXACT_REPLY') end local A=s and not(au and G==0)and s.h or nil
if not A and(s or au)then A=(a.a or a.c)and j().G(a)or n+a.b end a.allowed,a.count,a.ttl,a.g=bm,V,bV(A,n),'keep'
if au or(s and not s.h)then a.g,a.m='charge',{k=V,h=A} end end local function cm(a) if a.PARTIAL or a.ALWAYS then
j().y(a) else local h=a.e a.l=h aH(a,h) end if a.SHADOW then j().w(a) end end local function y(a,h) local w=a.limit
if h>w then return nil elseif a.q+h<=w then return 0 end if a.a or a.c then local F,o=j().t(a) return o-a.now_ms end
return a.b-a.now_ms%a.b end local function aK(a,F,s) local u,w=s and s.k or 0,a.limit a.q=u>0 and u or 0
a.remaining=a.q<w and w-a.q or 0 end local function av(a) local S,y=a.g,y
aK(a,S,S=='keep'and a.j or S~='delete'and a.m or nil) local U,aG,N,Q,ab=a.remaining,a.d,0,0,0 if not a.allowed then
local h=a.l N=y(a,a.r or(h==0 and 1 or h))or-1 if a.D and N>=0 then N=math.max(N,a.D) end end if U<aG then
Q=y(a,U+1)or-1 ab=U+1==aG and Q or y(a,aG)or-1 end if N-N~=0 or Q-Q~=0 or ab-ab~=0 or N>=(2^53)or ab>=(2^53)then
j().f('INEXACT_REPLY') end return U,N,Q,ab,0 end local function cG(a,T) local U,N,Q,ab,cn=av(a) local di=a.n and 1 or 0
return m( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and j().s(a)or 1)or 0,a.count,a.ttl,a.d,U,N,Q,ab, cn,a.now_ms,di,T ) end local function dc(a,T)
local Y=a.form if Y=='LINE'then return cG(a,T) elseif Y then return j().I(a,T) end
return{a.allowed and(a.PARTIAL and j().s(a)or 1)or 0,a.count,a.ttl} end local function dh(K,t)
local a=cU(t,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cY(a,K) cI(a,'read') cm(a) return dc(a,0)
end function j() if not aE then local q={} q.NOT_A_COUNTER='ERR value is not an integer or out of range'
q.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
q.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
q.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
q.ID='ERR invalid ID: expected 1 to 512 bytes'
q.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
q.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
q.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
q.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
q.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
q.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
q.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
q.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
q.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
q.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
q.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
q.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' q.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
q.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
q.ARITY='ERR wrong number of arguments' local function bq(a,dk)
return m(':%s:%.0f',a.a and a.a:lower()or m('%.0fms',a.b),dk) end local function cj(ah,bC) if bC<2 then ah=ah-1 end
local cP=(bC+10)%12 local cF=math.floor(ah/4)-math.floor(ah/100)+math.floor(ah/400)
return 365*ah+cF+math.floor((153*cP+2)/5)-719468 end local function aw(b) return cj(math.floor(b/12),b%12) end
local function bD(ai) local M=1970*12+math.floor(ai/30.436875)+1 while aw(M)>ai do M=M-1 end return M,ai-aw(M) end
local function ba(W,M) local e=W.E+M local l=aw(e) return(l+math.min(W.x,aw(e+1)-l-1))*86400000+W.P end
local function ch(bb,X,n) local ar=X%86400000 local M,ai=bD((X-ar)/86400000) local W={E=M,x=ai,P=ar}
local bn=bD(math.floor(n/86400000))-M local aO=bn-bn%bb local l,o=ba(W,aO),ba(W,aO+bb) if l>n then l,o=ba(W,aO-bb),l end
return l,o,o-l end local function aX(a,n) local x,X=a.a,a.c if x=='MONTH'or x=='YEAR'then
local l,o,L=ch(x=='YEAR'and 12 or 1,X or 0,n) return math.max(0,l),o,L end X=X or(x=='WEEK'and 4*86400000)or 0
local L=a.b local bl=(n%L-X%L)%L return math.max(0,n-bl),n-bl+L,L end local function aW(a) if a.a or a.c then
return aX(a,a.now_ms) end local n,p=a.now_ms,a.b local l=n-n%p return l,l+p end local function bH(a) if a.a or a.c then
local F,o=aX(a,a.now_ms) return o end return a.now_ms+a.b end local function J(f) error({err=f},0) end
local function v(P) J(q[P]) end local function cr(an) if type(an)=='table'then return an elseif O(an,'^%u+ ')then
return redis.error_reply(an) end error(an,0) end local function ad(b) if b-b~=0 then return b end local g,H={},0
while b>0 do local I=b%(2^24) H=H+1 g[H]=I b=(b-I)/(2^24) end return g end local bh={ __sub=function() return 1 end, }
local function ax(g) local H=#g while H>0 and g[H]==0 do g[H]=nil H=H-1 end
if H>3 or(H==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,bh) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function bE(c,d) c,d=ad(c),ad(d) local am={}
for b=1,#c+#d do am[b]=0 end for b=1,#c do local R=0 for aQ=1,#d do local I=am[b+aQ-1]+c[b]*d[aQ]+R
R=math.floor(I/(2^24)) am[b+aQ-1]=I-R*(2^24) end am[b+#d]=R end return ax(am) end local function cs(k,n)
local bz=at('PTTL',k) return bz>=0 and n+bz or nil end local function bp(c,d) for e=1,math.min(#c,#d)do
local bZ,ca=c:byte(e),d:byte(e) if bZ~=ca then return bZ<ca end end return#c<#d end local function aj(f,al)
if f~='0'and not O(f,'^[1-9]%d*$')then return nil end return(#f<#al or(#f==#al and not bp(al,f)))and f or nil end
local function cu(f,r,cS) local dw={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bg=dw[ak(f,'^(%u):')]
if not bg or bg==r then v(cS) end J('ERR the key holds a state of '..bg..': use another key for each algorithm') end
local function ce(c,d) c,d=ad(c),ad(d) local ag,R={},0 for b=1,math.max(#c,#d)+1 do local I=(c[b]or 0)+(d[b]or 0)+R
R=I>=(2^24)and 1 or 0 ag[b]=I-R*(2^24) end return ax(ag) end local function bk(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return ce(c,d) end local function aB(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return bE(c,d) end local function aL(g)
if#g<=15 or(#g==16 and bp(g,'9007199254740992'))then return g+0 end local aM=#g%7 local b=aM>0 and g:sub(1,aM)+0 or 0
for e=aM+1,#g,7 do b=bk(aB(b,10000000),g:sub(e,e+6)+0) end return b end local function du(f)
local dj,g=ak(f,'^(%-?)(%d+)$') local aR=dj=='-' g=g and aj(g,aR and'9223372036854775808'or'9223372036854775807')
if not g or(aR and g=='0')then cu(f,nil,'NOT_A_COUNTER') end local u=aL(g) if u-u~=0 then v('INEXACT_STATE') end
return aR and-u or u end local function bI(P,f,by) local g=f and aj(f,'9223372036854775807') local b=g and aL(g)
if not b or b==0 and by>0 then J(m('ERR invalid %s: expected an integer from %d to 9223372036854775807',P,by))
elseif b-b~=0 then J(m('ERR invalid %s: the Lua library takes integers up to 9007199254740991',P)) end return b end
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
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Z(cH,r)
return not O(r,' ',1,true)and O(cH,' '..r..' ',1,true)~=nil end local function bT(a,i)
return not Z(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',i)or Z((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),i)
end local function cC(r,i) local l,o=0,0 local bQ,cJ=math.min(#r,#i),math.max(#r,#i)
while l<bQ and r:byte(l+1)==i:byte(l+1)do l=l+1 end while o<bQ-l and r:byte(-1-o)==i:byte(-1-o)do o=o+1 end
return l+o>=2 and cJ-l-o<=2 end local function cv(a,z,r) local aa={} for F,D in ipairs(bi)do
if Z(z,D[1])and bT(a,D[1])then aa[#aa+1]=D[2] end end for F,Y in ipairs({'FULL','LINE','HEADERS'})do aa[#aa+1]=Y end
for F,i in ipairs(aa)do if cC(r:upper(),ak(i,'^%u+'))then J('ERR syntax error: no such option, but there is '..i) end
end local o=table.remove(aa) local dt=table.concat(aa,', ')
J('ERR syntax error: after limit come '..dt..' or '..o..', each at most once') end local function de(D,a,z)
local i,dx=D[1],a.V if not Z(z,i)then J(m('ERR invalid %s: only %s it',i,D[3])) elseif not bT(a,i)then
J(m('ERR invalid %s: %s takes none',i,('FIXED'))) elseif a[i]~=nil then
J(m('ERR syntax error: %s comes at most once',D[2])) end end local function bK(f) local B,x=ak(f,'^(%d+)(%l*)$')
local ap=B and bO(x) local E=ap and aj(B,'18446744073709551615')and B*ap return E and E>=1 and E<=1e15 and E or nil end
local function bJ(f,al) return f and#f>=1 and#f<=al and f end local function bA(c,d) local bj,cf=c-c==0,d-d==0
if bj or cf then return bj elseif#c~=#d then return#c<#d end for b=#c,1,-1 do if c[b]~=d[b]then return c[b]<d[b] end end
return false end local function aP(c,d) if c-c==0 and d-d==0 then return c<d end return bA(c,d) end
local function bB(c,d) return aP(d,c)and d or c end local function bo(b) if b-b==0 then return b end local ag=0
for cA=#b,1,-1 do ag=ag*(2^24)+b[cA] end return ag end local function dn(c,d) if not bA(d,c)then return 0 end d=ad(d)
local br,aF={},0 for b=1,#c do local I=c[b]-(d[b]or 0)-aF aF=I<0 and 1 or 0 br[b]=I+aF*(2^24) end return ax(br) end
local function dm(c,d) if c-c==0 and d-d==0 then return c>d and c-d or 0 end return dn(c,d) end local function cp(c,d)
local aY=0 while not aP(c,d)do local aD=math.max(1,math.floor(bo(c)/bo(d)*(1-2^-45))) aD=ax(ad(aD)) aY=bk(aY,aD)
c=dm(c,aB(aD,d)) end return aY,c end local function aI(c,d) if c-c==0 and d-d==0 then local C=c%d return(c-C)/d,C end
return cp(c,d) end local cd=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bh) local function cX(i,f,bP) if i=='RESERVE'then
local bU=bP and bK(bP) return bJ(f,128)and bU and{id=f,ttl=bU}or v('RESERVE') elseif i=='RESERVATION'then
return bJ(f,128)or v('RESERVATION') end if i=='ANCHOR'then local g=f and aj(f,'253402300799')
return g and g+0 or v('ANCHOR') end if i=='AS'then return f and#f>=1 and#f<=64 and not O(f,'[^%w._-]')and f or v('AS')
elseif i=='AT'then local g=f and aj(f,'9223372036854775807') return g and bB(aL(g),(aI(cd,1000)))or v('AT') end
return bI(i,f,i=='BURST'and 1 or 0) end local function dd(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
v(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
v(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cb={FULL=true,LINE=true,HEADERS=true}
local function cN(Y,bF) if Y then v(Y==bF and'FORM_TWICE'or'TWO_FORMS') end return bF end local function cV(a,t,e,z)
while t[e]do local r,D=t[e]:upper(),nil for F,bx in ipairs(bi)do D=bx[1]==r and bx or D end if D then de(D,a,z)
if D[2]==r then a[r]=true e=e+1 else a[r]=cX(r,t[e+1],t[e+2]) e=e+(r=='RESERVE'and 3 or 2) end dd(a)
elseif cb[r]and Z(z,'form')then a.form=cN(a.form,r) e=e+1 else return e end end return e end
local cc={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dv(a,f) local p=bK(f)
if not p then a.a=f:upper() p=cc[a.a] if not p then
v(Z((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Z((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
J(m('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return p end local function cx(k)
return k:sub(-9)==':reserved'or k:sub(-14)==':reserved:ends' end local function df(k) if cx(k)then v('RESERVED_KEY') end
end local function ds(b) local be='' while b-b~=0 do local C b,C=aI(b,10000000) be=m('%07.0f',C)..be end
return m('%.0f',b)..be end local function dr(b) if b-b~=0 then return ds(b) end return m('%.0f',b) end
local function cO(a) local F,o=aW(a) if a.a or a.c then return bq(a,o) end return':'..dr(o/a.b) end local function cg(a)
return bd(a)..' '..cO(a) end local function ct(a) J(m('ERR clock %.0f %s',a.now_ms,cg(a))) end local function bv(a)
local ac=a.a and a.a:lower()or m('%.0fms',a.b) return':'..ac..(a.c and m(':%.0f',a.c/1000)or'') end
local function dp(a,K,e,k) local ay,bs=K[e]or'',K[e+1] local P=(bv and bv(a)or'')..':reserved'
if(ay~=k..P and ay~='{'..k..'}'..P)or bs~=ay..':ends'then v('KEYS') end a.X,a.W=ay,bs return e+2 end
local function af(E) local C=E%1000 return E<0 and-1 or C==0 and E/1000 or(E-C)/1000+1 end local function ci(a)
local cQ=a.PARTIAL and a.l<a.e a.n=a.SHADOW and not a.p and(cQ or not a.allowed) if not a.allowed and(a.n or a.p)then
a.allowed=true if not true then local F,F,F,aZ=av(a) a.ttl=af(aZ) end end end local function db(a) aK(a,'keep',a.j)
return a.remaining end local function cB(a,as) return not as or not aP(as,(aW(a))) end local function cT(a,as,h)
local s=a.j if h==0 or not cB(a,as)then return'keep' end local G=s and s.k or 0 if G+h+1>=(2^53)then v('INEXACT_REPLY')
end local cz=G~=0 and s.h return'charge',{k=G+h,h=cz or bH(a)} end local function dl(S,V,G) if S=='keep'then return G
end return S~='delete'and V or nil end local function cM(h) return h==0 and 1 or h end local function bW(s,n)
return s and s.k or 0,bV(s and s.h,n) end local function bt(b) if b-b~=0 or b>=(2^53)then v('INEXACT_REPLY') end
return b end local function ck(a) local h=a.e aH(a,0) local S,V=cT(a,nil,h) if h>0 then a.g,a.m=S,V end
local bR=dl(a.g,a.m,a.j) aK(a,a.g,bR) a.allowed=a.d>0 and y(a,0)==0 a.r=a.d>0 and h or cM(h) if bW then
a.count,a.ttl=bW(bR,a.now_ms) elseif a.allowed then a.ttl=af(bt(y(a,a.d))) else local y=y(a,a.r)
a.ttl=y and math.max(1,af(bt(y)))or-1 end end local function cl(a) local h=a.e if a.PARTIAL then h=math.min(h,db(a)) end
a.l=h if a.ALWAYS then ck(a) else aH(a,h) end end local function bL(a) return a.p and a.p.e or a.n and a.e or a.l end
local function bu(a) if not a.allowed then return 0 end return a.PARTIAL and bL(a)or 1 end local function cw(a,T)
local U,dg,Q,aZ,co=av(a) return{ 'allowed',bu(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.d, 'remaining',U,
'retry_after_ms',dg, 'next_ms',Q, 'reset_ms',aZ, 'delay_ms',co, 'now_ms',a.now_ms, 'shadow',a.n and 1 or 0, 'charged',T,
} end local function cL(ao) local bS={} for F,a in ipairs(ao)do local l,B=a.AS or('FIXED'):lower(),2 a.i=l
while bS[a.i]do a.i=m('%s-%d',l,B) B=B+1 end bS[a.i]=true end end local function bX(a) if a.a or a.c then
return(select(3,aX(a,a.now_ms))) end return a.b end local function aA(b) return m('%.0f',bB(b,999999999999999)) end
local function cZ(a) local p=bX and bX(a)or a.b local aJ,C=1000,p%1000 while C>0 do aJ,C=C,aJ%C end local bY=1000/aJ
local ac=aI(aB(p,bY),1000) return m('"%s";q=%s;w=%s',a.i,aA(aB(a.limit,bY)),aA(ac)) end local function cE(aC,ae)
if aC.allowed~=ae.allowed then return not aC.allowed end local y,aT=aC.retry_after_ms,ae.retry_after_ms if y~=aT then
return y<0 or(aT>=0 and y>aT) end return aC.remaining<ae.remaining end local function cy(ao) local bc,bM=ao[1],{} cL(ao)
for b,a in ipairs(ao)do bM[b]=cZ(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=av(a) if cE(a,bc)then bc=a end end
local a=bc local aq={ 'X-RateLimit-Limit', m('%.0f',a.d), 'X-RateLimit-Remaining', m('%.0f',a.remaining), }
local function az(P,u) aq[#aq+1]=P aq[#aq+1]=u end if a.reset_ms>=0 then
az('X-RateLimit-Reset',m('%.0f',af(a.now_ms+a.reset_ms))) end az('RateLimit-Policy',table.concat(bM,', '))
local cK=a.next_ms>=0 and';t='..aA(af(a.next_ms))or'' az('RateLimit',m('"%s";r=%s%s',a.i,aA(a.remaining),cK))
if not a.allowed and a.retry_after_ms>=0 then az('Retry-After',m('%.0f',af(a.retry_after_ms))) end return aq end
local function cR(a,T) if a.form=='FULL'then return cw(a,T) end return{bu(a),a.count,a.ttl,cy({a})} end
aE={v=bq,w=ci,y=cl,error_reply=cr,z=cs,f=v,A=ct,B=cv,F=bE,G=bH,I=cR,J=bI,K=cV,s=bL,t=aW,M=df,N=dp,Q=du,U=dv} end
return aE end local cq,bN=pcall(dh,KEYS,ARGV) return cq and bN or j().error_reply(bN)
