-- RL.PEEK LOCKOUT, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local at,h local B,r,aq,cW=string.find,string.format,string.match,string.sub local function bs(a)
local aw=a.BLOCK or a.l local bm=a.MAX or math.max(aw,86400000) if bm<aw then h().g('MAX_BELOW_BLOCK') end a.w,a.r=aw,bm
end local function cw(p,f,s) local af,u,j=p[f],p[f+1],p[f+2] if not u then h().g('ARITY') end local a={ A='', N=0,
now_ms=0, l=0, W=0, limit=0, b=0, c=1, form=nil, delay=0, k=nil, n=nil, allowed=false, count=0, ttl=0, f='keep',
remaining=0, p=1, } f=f+2 if j=='LINE'and not p[f+1]and s~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=j,f+1 elseif j then local U=p[f+1]or''
local bi=s==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[f+2]=='LINE'and not p[f+3]and#U<16
if bi and j=='COST'and(' COST BLOCK MAX ')~=' ID 'and B(U,'^[1-9]%d*$')then a.form,a.c,f='LINE',U+0,f+3
elseif bi and j=='ID'and(' COST BLOCK MAX ')==' ID 'and U~=''then a.form,a.ID,f='LINE',U,f+3 else f=h().S(a,p,f,s)
a.c=a.COST or 1 end end local aK=#u<16 and B(u,'^[1-9]%d*$') a.limit=aK and u+0 or h().Q('limit',u,0)
aK=#af<10 and B(af,'^[1-9]%d*$') local v=aK and af*1000 or h().X(a,af)
a.l,a.W,a.b=v,v<9e12 and v*1000 or h().B(v,1000),a.BURST or a.limit if bs then bs(a) end return a,f end
local function ct(p,s) local a,f=cw(p,1,s) if p[f]then h().J(a,s,p[f]) end return a end local bc=redis.call
local function cC(a) local bz=bc('TIME') local aQ=bz[1]*1000000+bz[2] a.N,a.now_ms=aQ,(aQ-aQ%1000)/1000 end
local function cO(a,W,f,bC,aL) local C=W[f] if not C then h().g('KEYS') end a.A,f=C,f+1 if aL then a.i=C
elseif B(C,':reserved',1,true)then h().U(C) end return f end local function cz(a,W,bC,aL) cC(a)
if#W~=cO(a,W,1,bC,aL)-1 then h().g('KEYS') end end local function cT(g,cy) local b,c,az,aB,q=aq(g,cy) if not b then
return nil elseif B(g,':0%d')then return nil end local n=#aB<17 and aB+0 return#b<16 and b+0 or h().t(b),
#c<16 and c+0 or h().t(c), #az<16 and az+0 or h().t(az), n and n<9e15 and n or h().t(aB), q end local function X(b,c)
if b-b==0 and c-c==0 then return b<c end return h().M(b,c) end local function aa(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return h().B(b,c) end local function bP(g)
local A,H,n,Z,Y=cT(g,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not A or not H or not n or not Z or#Y>2 or Y+0>64 then
return nil elseif X(n,H)or X(1e15,Z)then return nil elseif A-A~=0 or n-n~=0 then if h().z(A)or h().z(aa(n,1000))then
return nil end h().g('INEXACT_STATE') end return{o=A,j=H,e=n,a=Z,q=Y+0} end local function cj(a) local g=bc('GET',a.A)
if g then a.k=bP(g)or h().I(g,('LOCKOUT'),'FOREIGN_VALUE') end end local function ag(a,e) local ac=a.now_ms
if not e or e.e<=ac then return e end local H=math.min(e.j,ac) return{o=e.o,j=H,e=ac,a=e.a,q=e.q} end
local function bu(a,e) local be=e and(e.a>0 and e.e+e.a or e.j+a.l) if be and a.now_ms<be and e.o>0 then return e.o,e.j
end return 0,a.now_ms end local function bh(a,e) return e and a.now_ms<e.e+e.a end local function bl(a,e) if e.a==0 then
return e.q end local aV,aM=0,a.w while aM<a.r do aV,aM=aV+1,2*aM end return math.min(e.q+1,aV) end
local function aE(b,c) if b-b==0 and c-c==0 then local q=b%c return(b-q)/c,q end return h().x(b,c) end
local function cg(a,e) local cB=math.max(0,a.now_ms-e.e-e.a) return math.max(0,bl(a,e)-(aE(cB,a.r))) end
local function al(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return h().F(b,c) end
local function aO(b,c) return X(c,b)and c or b end local function bT(b,c) if b-b==0 and c-c==0 then local q=b%c
return q==0 and b/c or(b-q)/c+1 end local ad,q=h().x(b,c) return q==0 and ad or al(ad,1) end local function bW(a,e)
local f=al(e.e+e.a,aa(bl(a,e),a.r)) if f-f~=0 then return aO(f,bT(h().MAX_UNSIGNED,1000)) end return math.max(f,e.j+a.l)
end local function bv(a,e) local A,H=bu(a,e) if bh(a,e)then a.y,a.remaining=e.e+e.a,0 else
a.y,a.remaining=H+a.l,math.max(0,a.limit-A) end end local function N(F) local q=F%1000
return F<0 and-1 or q==0 and F/1000 or(F-q)/1000+1 end local function l(a,k) local u,bg=a.limit,a.remaining
if k>u or u==0 then return nil elseif k<=bg and bg>0 then return 0 end return a.y-a.now_ms end local function aG(d)
if d-d~=0 or d>=(2^53)then h().g('INEXACT_REPLY') end return d end local function cQ(a,k) local l=l(a,k==0 and 1 or k)
l=l and N(aG(l))or-1 return l==0 and 1 or l end local function aC(a,k) local ac,u,e=a.now_ms,a.limit,ag(a,a.k)
local A,H=bu(a,e) local O=A+(k==0 and 1 or k) local av=not bh(a,e)and O<=u a.allowed,a.count,a.f=av,A,'keep'
if av and k>0 then local Y,Z=e and cg(a,e)or 0,0 if O==u then Z=math.min(a.w*2^Y,a.r) end e={o=O,j=H,e=ac,a=Z,q=Y}
a.f,a.n='charge',e elseif e~=a.k and X(ac,bW(a,e))then a.f,a.n='rebase',e end bv(a,e) if av then a.ttl=N(l(a,u)) else
a.ttl=cQ(a,k) end end local function bO(a) if a.PARTIAL or a.ALWAYS then h().H(a) else local k=a.c a.p=k aC(a,k) end
if a.SHADOW then h().G(a) end end local function aH(a,I,e) bv(a,ag(a,e)) end local function am(a) local K,l=a.f,l
aH(a,K,K=='keep'and a.k or K~='delete'and a.n or nil) local M,aA,D,G,T=a.remaining,a.b,0,0,0 if not a.allowed then
local k=a.p D=l(a,a.D or(k==0 and 1 or k))or-1 if a.K and D>=0 then D=math.max(D,a.K) end end if M<aA then
G=l(a,M+1)or-1 T=M+1==aA and G or l(a,aA)or-1 end if D-D~=0 or G-G~=0 or T-T~=0 or D>=(2^53)or T>=(2^53)then
h().g('INEXACT_REPLY') end return M,D,G,T,0 end local function ch(a,L) local M,D,G,T,bQ=am(a) local cK=a.u and 1 or 0
return r( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().E(a)or 1)or 0,a.count,a.ttl,a.b,M,D,G,T, bQ,a.now_ms,cK,L ) end local function cE(a,L)
local P=a.form if P=='LINE'then return ch(a,L) elseif P then return h().P(a,L) end
return{a.allowed and(a.PARTIAL and h().E(a)or 1)or 0,a.count,a.ttl} end local function cJ(W,p)
local a=ct(p,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cz(a,W) cj(a,'read') bO(a) return cE(a,0)
end function h() if not at then local m={}
m.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
m.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
m.ID='ERR invalid ID: expected 1 to 512 bytes'
m.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
m.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
m.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
m.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
m.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
m.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
m.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
m.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
m.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
m.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
m.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
m.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' m.ARITY='ERR wrong number of arguments'
m.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
m.MAX_BELOW_BLOCK='ERR invalid MAX: expected at least BLOCK, which is the window if not given'
m.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
m.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
m.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function y(g)
error({err=g},0) end local function E(ab) y(m[ab]) end local function bX(g,o,cs)
local cU={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aW=cU[aq(g,'^(%u):')] if not aW or aW==o then
E(cs) end y('ERR the key holds a state of '..aW..': use another key for each algorithm') end local function bV(ai)
if type(ai)=='table'then return ai elseif B(ai,'^%u+ ')then return redis.error_reply(ai) end error(ai,0) end local au={
__sub=function() return 1 end, } local aX=setmetatable({(2^24)-1,(2^24)-1,2^16-1},au) local function bk(b,c)
local ba,bJ=b-b==0,c-c==0 if ba or bJ then return ba elseif#b~=#c then return#b<#c end for d=#b,1,-1 do
if b[d]~=c[d]then return b[d]<c[d] end end return false end local function V(d) if d-d~=0 then return d end
local i,w={},0 while d>0 do local x=d%(2^24) w=w+1 i[w]=x d=(d-x)/(2^24) end return i end local function an(i)
local w=#i while w>0 and i[w]==0 do i[w]=nil w=w-1 end if w>3 or(w==3 and i[3]>=(2^53)/(2^24)/(2^24))then
return setmetatable(i,au) end return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function bI(b,c)
b,c=V(b),V(c) local ae,J={},0 for d=1,math.max(#b,#c)+1 do local x=(b[d]or 0)+(c[d]or 0)+J J=x>=(2^24)and 1 or 0
ae[d]=x-J*(2^24) end return an(ae) end local function cm(b,c) b,c=V(b),V(c) local ah={} for d=1,#b+#c do ah[d]=0 end
for d=1,#b do local J=0 for aN=1,#c do local x=ah[d+aN-1]+b[d]*c[aN]+J J=math.floor(x/(2^24)) ah[d+aN-1]=x-J*(2^24) end
ah[d+#c]=J end return an(ah) end local function bb(d) if d-d==0 then return d end local ae=0 for cc=#d,1,-1 do
ae=ae*(2^24)+d[cc] end return ae end local function cN(b,c) if not bk(c,b)then return 0 end c=V(c) local bd,ax={},0
for d=1,#b do local x=b[d]-(c[d]or 0)-ax ax=x<0 and 1 or 0 bd[d]=x+ax*(2^24) end return an(bd) end
local function cM(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end return cN(b,c) end local function bS(b,c)
local ad=0 while not X(b,c)do local as=math.max(1,math.floor(bb(b)/bb(c)*(1-2^-45))) as=an(V(as)) ad=al(ad,as)
b=cM(b,aa(as,c)) end return ad,b end local function ay(b,c) for f=1,math.min(#b,#c)do local bD,bE=b:byte(f),c:byte(f)
if bD~=bE then return bD<bE end end return#b<#c end local function aI(i)
if#i<=15 or(#i==16 and ay(i,'9007199254740992'))then return i+0 end local aJ=#i%7 local d=aJ>0 and i:sub(1,aJ)+0 or 0
for f=aJ+1,#i,7 do d=al(aa(d,10000000),i:sub(f,f+6)+0) end return d end local function cu(i)
if#i>1 and i:byte()==48 then return nil elseif#i<20 or(#i==20 and not ay('18446744073709551615',i))then return aI(i) end
end local bH=setmetatable({(2^24)-1,(2^24)-1,2^15-1},au) local function cd(d) return X(bH,d) end local function aD(g,aP)
if g~='0'and not B(g,'^[1-9]%d*$')then return nil end return(#g<#aP or(#g==#aP and not ay(aP,g)))and g or nil end
local function bo(ab,g,bj) local i=g and aD(g,'9223372036854775807') local d=i and aI(i) if not d or d==0 and bj>0 then
y(r('ERR invalid %s: expected an integer from %d to 9223372036854775807',ab,bj)) elseif d-d~=0 then
y(r('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ab)) end return d end local aY={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Q(ci,o)
return not B(o,' ',1,true)and B(ci,' '..o..' ',1,true)~=nil end local function by(a,j)
return not Q(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or Q((' COST BLOCK MAX '),j) end
local function ce(o,j) local z,n=0,0 local bw,ck=math.min(#o,#j),math.max(#o,#j)
while z<bw and o:byte(z+1)==j:byte(z+1)do z=z+1 end while n<bw-z and o:byte(-1-n)==j:byte(-1-n)do n=n+1 end
return z+n>=2 and ck-z-n<=2 end local function bY(a,s,o) local S={} for I,t in ipairs(aY)do
if Q(s,t[1])and by(a,t[1])then S[#S+1]=t[2] end end for I,P in ipairs({'FULL','LINE','HEADERS'})do S[#S+1]=P end
for I,j in ipairs(S)do if ce(o:upper(),aq(j,'^%u+'))then y('ERR syntax error: no such option, but there is '..j) end end
local n=table.remove(S) local cR=table.concat(S,', ')
y('ERR syntax error: after limit come '..cR..' or '..n..', each at most once') end local function cG(t,a,s)
local j,cV=t[1],a.Y if not Q(s,j)then y(r('ERR invalid %s: only %s it',j,t[3])) elseif not by(a,j)then
y(r('ERR invalid %s: %s takes none',j,('LOCKOUT'))) elseif a[j]~=nil then
y(r('ERR syntax error: %s comes at most once',t[2])) end end
local aZ={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bp(g) local R,bA=aq(g,'^(%d+)(%l*)$')
local F=R and aZ[bA]and aD(R,'18446744073709551615')and R*aZ[bA] return F and F>=1 and F<=1e15 and F or nil end
local function cx(j,g,cX) if j=='BLOCK'or j=='MAX'then
local cP='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return g and bp(g)or y('ERR invalid '..j..': '..cP) end if j=='AS'then
return g and#g>=1 and#g<=64 and not B(g,'[^%w._-]')and g or E('AS') elseif j=='AT'then
local i=g and aD(g,'9223372036854775807') return i and aO(aI(i),(aE(aX,1000)))or E('AT') end
return bo(j,g,j=='BURST'and 1 or 0) end local function cF(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
E(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
E(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bF={FULL=true,LINE=true,HEADERS=true}
local function cp(P,bn) if P then E(P==bn and'FORM_TWICE'or'TWO_FORMS') end return bn end local function cv(a,p,f,s)
while p[f]do local o,t=p[f]:upper(),nil for I,ag in ipairs(aY)do t=ag[1]==o and ag or t end if t then cG(t,a,s)
if t[2]==o then a[o]=true f=f+1 else a[o]=cx(o,p[f+1],p[f+2]) f=f+(o=='RESERVE'and 3 or 2) end cF(a)
elseif bF[o]and Q(s,'form')then a.form=cp(a.form,o) f=f+1 else return f end end return f end
local bG={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cS(a,g) local v=bp(g)
if not v then a.V=g:upper() v=bG[a.V] if not v then E(Q((' COST BLOCK MAX '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Q((' COST BLOCK MAX '),'ANCHOR')then
y(r('ERR invalid window: %s takes no windows of the calendar',('LOCKOUT'))) end end return v end local function ca(C)
return C:sub(-9)==':reserved'or C:sub(-14)==':reserved:ends' end local function cH(C) if ca(C)then E('RESERVED_KEY') end
end local function bL(a) local cq=a.PARTIAL and a.p<a.c a.u=a.SHADOW and not a.v and(cq or not a.allowed)
if not a.allowed and(a.u or a.v)then a.allowed=true if not(nil)then local I,I,I,aT=am(a) a.ttl=N(aT) end end end
local function cD(a) aH(a,'keep',a.k) return a.remaining end local function cL(K,O,bK) if K=='keep'then return bK end
return K~='delete'and O or nil end local function co(k) return k==0 and 1 or k end local function bM(a) local k=a.c
aC(a,0) local K,O=(nil)(a,nil,k) if k>0 then a.f,a.n=K,O end local e=cL(a.f,a.n,a.k) aH(a,a.f,e)
a.allowed=a.b>0 and l(a,0)==0 a.D=a.b>0 and k or co(k) if(nil)then a.count,a.ttl=(nil)(e,a.now_ms) elseif a.allowed then
a.ttl=N(aG(l(a,a.b))) else local l=l(a,a.D) a.ttl=l and math.max(1,N(aG(l)))or-1 end end local function bN(a)
local k=a.c if a.PARTIAL then k=math.min(k,cD(a)) end a.p=k if a.ALWAYS then bM(a) else aC(a,k) end end
local function bq(a) return a.v and a.v.c or a.u and a.c or a.p end local function bf(a) if not a.allowed then return 0
end return a.PARTIAL and bq(a)or 1 end local function bZ(a,L) local M,cI,G,aT,bR=am(a) return{ 'allowed',bf(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',M, 'retry_after_ms',cI, 'next_ms',G, 'reset_ms',aT,
'delay_ms',bR, 'now_ms',a.now_ms, 'shadow',a.u and 1 or 0, 'charged',L, } end local function cn(aj) local bx={}
for I,a in ipairs(aj)do local z,R=a.AS or('LOCKOUT'):lower(),2 a.i=z while bx[a.i]do a.i=r('%s-%d',z,R) R=R+1 end
bx[a.i]=true end end local function ap(d) return r('%.0f',aO(d,999999999999999)) end local function cA(a)
local v=(nil)and(nil)(a)or a.l local aF,q=1000,v%1000 while q>0 do aF,q=q,aF%q end local bB=1000/aF
local af=aE(aa(v,bB),1000) return r('"%s";q=%s;w=%s',a.i,ap(aa(a.limit,bB)),ap(af)) end local function cf(ar,aR)
if ar.allowed~=aR.allowed then return not ar.allowed end local l,aS=ar.retry_after_ms,aR.retry_after_ms if l~=aS then
return l<0 or(aS>=0 and l>aS) end return ar.remaining<aR.remaining end local function cb(aj) local aU,br=aj[1],{} cn(aj)
for d,a in ipairs(aj)do br[d]=cA(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=am(a) if cf(a,aU)then aU=a end end
local a=aU local ak={ 'X-RateLimit-Limit', r('%.0f',a.b), 'X-RateLimit-Remaining', r('%.0f',a.remaining), }
local function ao(ab,U) ak[#ak+1]=ab ak[#ak+1]=U end if a.reset_ms>=0 then
ao('X-RateLimit-Reset',r('%.0f',N(a.now_ms+a.reset_ms))) end ao('RateLimit-Policy',table.concat(br,', '))
local cl=a.next_ms>=0 and';t='..ap(N(a.next_ms))or'' ao('RateLimit',r('"%s";r=%s%s',a.i,ap(a.remaining),cl))
if not a.allowed and a.retry_after_ms>=0 then ao('Retry-After',r('%.0f',N(a.retry_after_ms))) end return ak end
local function cr(a,L) if a.form=='FULL'then return bZ(a,L) end return{bf(a),a.count,a.ttl,cb({a})} end
at={MAX_UNSIGNED=aX,F=bI,G=bL,H=bN,x=bS,error_reply=bV,g=E,I=bX,J=bY,z=cd,M=bk,B=cm,P=cr,Q=bo,t=cu,S=cv,E=bq,U=cH,X=cS}
end return at end local bU,bt=pcall(cJ,KEYS,ARGV) return bU and bt or h().error_reply(bt)
