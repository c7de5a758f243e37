-- RL.PEEK LOCKOUT, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local av,h local G,s,ah,cX=string.find,string.format,string.match,string.sub local function bv(E) return E==''and 1000
or E=='ms'and 1 or E=='s'and 1000 or E=='m'and 60000 or E=='h'and 3600000 or E=='d'and 86400000 or nil end
local function bs(a) local ay=a.BLOCK or a.j local bm=a.MAX or math.max(ay,86400000) if bm<ay then
h().f('MAX_BELOW_BLOCK') end a.s,a.o=ay,bm end local function cx(p,f,t) local an,v,j=p[f],p[f+1],p[f+2] if not v then
h().f('ARITY') end local a={ w='', I=0, now_ms=0, j=0, Q=0, limit=0, b=0, c=1, form=nil, delay=0, i=nil, k=nil,
allowed=false, count=0, ttl=0, e='keep', remaining=0, m=1, } f=f+2
if j=='LINE'and not p[f+1]and t~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=j,f+1 elseif j then
local V=p[f+1]or''
local bi=t==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[f+2]=='LINE'and not p[f+3]and#V<16
if bi and j=='COST'and(' COST BLOCK MAX ')~=' ID 'and G(V,'^[1-9]%d*$')then a.form,a.c,f='LINE',V+0,f+3
elseif bi and j=='ID'and(' COST BLOCK MAX ')==' ID 'and V~=''then a.form,a.ID,f='LINE',V,f+3 else f=h().M(a,p,f,t)
a.c=a.COST or 1 end end local cf=#v<16 and G(v,'^[1-9]%d*$') a.limit=cf and v+0 or h().K('limit',v,0)
local C,E=ah(an,'^([1-9]%d*)(%l*)$') local al=C and#an<16 and bv(E) local r=al and C*al if not r or r<1 or r>1e15 then
r=h().S(a,an) end a.j,a.Q,a.b=r,r<9e12 and r*1000 or h().x(r,1000),a.BURST or a.limit if bs then bs(a) end return a,f
end local function cu(p,t) local a,f=cx(p,1,t) if p[f]then h().F(a,t,p[f]) end return a end local bc=redis.call
local function cD(a) local bA=bc('TIME') local aR=bA[1]*1000000+bA[2] a.I,a.now_ms=aR,(aR-aR%1000)/1000 end
local function cP(a,X,f,bC,aM) local B=X[f] if not B then h().f('KEYS') end a.w,f=B,f+1 if aM then a.g=B
elseif G(B,':reserved',1,true)then h().N(B) end return f end local function cA(a,X,bC,aM) cD(a)
if#X~=cP(a,X,1,bC,aM)-1 then h().f('KEYS') end end local function cU(g,cz) local b,c,aB,aD,q=ah(g,cz) if not b then
return nil elseif G(g,':0%d')then return nil end local n=#aD<17 and aD+0 return#b<16 and b+0 or h().p(b),
#c<16 and c+0 or h().p(c), #aB<16 and aB+0 or h().p(aB), n and n<9e15 and n or h().p(aD), q end local function Y(b,c)
if b-b==0 and c-c==0 then return b<c end return h().H(b,c) end local function ab(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return h().x(b,c) end local function bP(g)
local A,J,n,aa,Z=cU(g,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not A or not J or not n or not aa or#Z>2 or Z+0>64 then
return nil elseif Y(n,J)or Y(1e15,aa)then return nil elseif A-A~=0 or n-n~=0 then if h().v(A)or h().v(ab(n,1000))then
return nil end h().f('INEXACT_STATE') end return{l=A,h=J,d=n,a=aa,n=Z+0} end local function ck(a) local g=bc('GET',a.w)
if g then a.i=bP(g)or h().E(g,('LOCKOUT'),'FOREIGN_VALUE') end end local function ag(a,e) local ad=a.now_ms
if not e or e.d<=ad then return e end local J=math.min(e.h,ad) return{l=e.l,h=J,d=ad,a=e.a,n=e.n} end
local function bu(a,e) local be=e and(e.a>0 and e.d+e.a or e.h+a.j) if be and a.now_ms<be and e.l>0 then return e.l,e.h
end return 0,a.now_ms end local function bh(a,e) return e and a.now_ms<e.d+e.a end local function bl(a,e) if e.a==0 then
return e.n end local aW,aN=0,a.s while aN<a.o do aW,aN=aW+1,2*aN end return math.min(e.n+1,aW) end
local function aG(b,c) if b-b==0 and c-c==0 then local q=b%c return(b-q)/c,q end return h().t(b,c) end
local function ch(a,e) local cC=math.max(0,a.now_ms-e.d-e.a) return math.max(0,bl(a,e)-(aG(cC,a.o))) end
local function ao(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return h().A(b,c) end
local function aP(b,c) return Y(c,b)and c or b end local function bT(b,c) if b-b==0 and c-c==0 then local q=b%c
return q==0 and b/c or(b-q)/c+1 end local ae,q=h().t(b,c) return q==0 and ae or ao(ae,1) end local function bW(a,e)
local f=ao(e.d+e.a,ab(bl(a,e),a.o)) if f-f~=0 then return aP(f,bT(h().MAX_UNSIGNED,1000)) end return math.max(f,e.h+a.j)
end local function bw(a,e) local A,J=bu(a,e) if bh(a,e)then a.u,a.remaining=e.d+e.a,0 else
a.u,a.remaining=J+a.j,math.max(0,a.limit-A) end end local function P(H) local q=H%1000
return H<0 and-1 or q==0 and H/1000 or(H-q)/1000+1 end local function l(a,k) local v,bg=a.limit,a.remaining
if k>v or v==0 then return nil elseif k<=bg and bg>0 then return 0 end return a.u-a.now_ms end local function aI(d)
if d-d~=0 or d>=(2^53)then h().f('INEXACT_REPLY') end return d end local function cR(a,k) local l=l(a,k==0 and 1 or k)
l=l and P(aI(l))or-1 return l==0 and 1 or l end local function aE(a,k) local ad,v,e=a.now_ms,a.limit,ag(a,a.i)
local A,J=bu(a,e) local Q=A+(k==0 and 1 or k) local ax=not bh(a,e)and Q<=v a.allowed,a.count,a.e=ax,A,'keep'
if ax and k>0 then local Z,aa=e and ch(a,e)or 0,0 if Q==v then aa=math.min(a.s*2^Z,a.o) end e={l=Q,h=J,d=ad,a=aa,n=Z}
a.e,a.k='charge',e elseif e~=a.i and Y(ad,bW(a,e))then a.e,a.k='rebase',e end bw(a,e) if ax then a.ttl=P(l(a,v)) else
a.ttl=cR(a,k) end end local function bO(a) if a.PARTIAL or a.ALWAYS then h().D(a) else local k=a.c a.m=k aE(a,k) end
if a.SHADOW then h().B(a) end end local function aJ(a,K,e) bw(a,ag(a,e)) end local function ap(a) local M,l=a.e,l
aJ(a,M,M=='keep'and a.i or M~='delete'and a.k or nil) local O,aC,D,I,U=a.remaining,a.b,0,0,0 if not a.allowed then
local k=a.m D=l(a,a.y or(k==0 and 1 or k))or-1 if a.G and D>=0 then D=math.max(D,a.G) end end if O<aC then
I=l(a,O+1)or-1 U=O+1==aC and I or l(a,aC)or-1 end if D-D~=0 or I-I~=0 or U-U~=0 or D>=(2^53)or U>=(2^53)then
h().f('INEXACT_REPLY') end return O,D,I,U,0 end local function ci(a,N) local O,D,I,U,bQ=ap(a) local cL=a.q and 1 or 0
return s( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().z(a)or 1)or 0,a.count,a.ttl,a.b,O,D,I,U, bQ,a.now_ms,cL,N ) end local function cF(a,N)
local R=a.form if R=='LINE'then return ci(a,N) elseif R then return h().J(a,N) end
return{a.allowed and(a.PARTIAL and h().z(a)or 1)or 0,a.count,a.ttl} end local function cK(X,p)
local a=cu(p,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cA(a,X) ck(a,'read') bO(a) return cF(a,0)
end function h() if not av then local m={}
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
error({err=g},0) end local function F(ac) y(m[ac]) end local function bX(g,o,ct)
local cV={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aX=cV[ah(g,'^(%u):')] if not aX or aX==o then
F(ct) end y('ERR the key holds a state of '..aX..': use another key for each algorithm') end local function bV(aj)
if type(aj)=='table'then return aj elseif G(aj,'^%u+ ')then return redis.error_reply(aj) end error(aj,0) end local aw={
__sub=function() return 1 end, } local aY=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aw) local function bk(b,c)
local ba,bJ=b-b==0,c-c==0 if ba or bJ then return ba elseif#b~=#c then return#b<#c end for d=#b,1,-1 do
if b[d]~=c[d]then return b[d]<c[d] end end return false end local function W(d) if d-d~=0 then return d end
local i,w={},0 while d>0 do local x=d%(2^24) w=w+1 i[w]=x d=(d-x)/(2^24) end return i end local function aq(i)
local w=#i while w>0 and i[w]==0 do i[w]=nil w=w-1 end if w>3 or(w==3 and i[3]>=(2^53)/(2^24)/(2^24))then
return setmetatable(i,aw) end return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function bI(b,c)
b,c=W(b),W(c) local af,L={},0 for d=1,math.max(#b,#c)+1 do local x=(b[d]or 0)+(c[d]or 0)+L L=x>=(2^24)and 1 or 0
af[d]=x-L*(2^24) end return aq(af) end local function cn(b,c) b,c=W(b),W(c) local ai={} for d=1,#b+#c do ai[d]=0 end
for d=1,#b do local L=0 for aO=1,#c do local x=ai[d+aO-1]+b[d]*c[aO]+L L=math.floor(x/(2^24)) ai[d+aO-1]=x-L*(2^24) end
ai[d+#c]=L end return aq(ai) end local function bb(d) if d-d==0 then return d end local af=0 for cc=#d,1,-1 do
af=af*(2^24)+d[cc] end return af end local function cO(b,c) if not bk(c,b)then return 0 end c=W(c) local bd,az={},0
for d=1,#b do local x=b[d]-(c[d]or 0)-az az=x<0 and 1 or 0 bd[d]=x+az*(2^24) end return aq(bd) end
local function cN(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end return cO(b,c) end local function bS(b,c)
local ae=0 while not Y(b,c)do local au=math.max(1,math.floor(bb(b)/bb(c)*(1-2^-45))) au=aq(W(au)) ae=ao(ae,au)
b=cN(b,ab(au,c)) end return ae,b end local function aA(b,c) for f=1,math.min(#b,#c)do local bD,bE=b:byte(f),c:byte(f)
if bD~=bE then return bD<bE end end return#b<#c end local function aK(i)
if#i<=15 or(#i==16 and aA(i,'9007199254740992'))then return i+0 end local aL=#i%7 local d=aL>0 and i:sub(1,aL)+0 or 0
for f=aL+1,#i,7 do d=ao(ab(d,10000000),i:sub(f,f+6)+0) end return d end local function cv(i)
if#i>1 and i:byte()==48 then return nil elseif#i<20 or(#i==20 and not aA('18446744073709551615',i))then return aK(i) end
end local bH=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aw) local function cd(d) return Y(bH,d) end local function aF(g,aQ)
if g~='0'and not G(g,'^[1-9]%d*$')then return nil end return(#g<#aQ or(#g==#aQ and not aA(aQ,g)))and g or nil end
local function bo(ac,g,bj) local i=g and aF(g,'9223372036854775807') local d=i and aK(i) if not d or d==0 and bj>0 then
y(s('ERR invalid %s: expected an integer from %d to 9223372036854775807',ac,bj)) elseif d-d~=0 then
y(s('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ac)) end return d end local aZ={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function S(cj,o)
return not G(o,' ',1,true)and G(cj,' '..o..' ',1,true)~=nil end local function bz(a,j)
return not S(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or S((' COST BLOCK MAX '),j) end
local function ce(o,j) local z,n=0,0 local bx,cl=math.min(#o,#j),math.max(#o,#j)
while z<bx and o:byte(z+1)==j:byte(z+1)do z=z+1 end while n<bx-z and o:byte(-1-n)==j:byte(-1-n)do n=n+1 end
return z+n>=2 and cl-z-n<=2 end local function bY(a,t,o) local T={} for K,u in ipairs(aZ)do
if S(t,u[1])and bz(a,u[1])then T[#T+1]=u[2] end end for K,R in ipairs({'FULL','LINE','HEADERS'})do T[#T+1]=R end
for K,j in ipairs(T)do if ce(o:upper(),ah(j,'^%u+'))then y('ERR syntax error: no such option, but there is '..j) end end
local n=table.remove(T) local cS=table.concat(T,', ')
y('ERR syntax error: after limit come '..cS..' or '..n..', each at most once') end local function cH(u,a,t)
local j,cW=u[1],a.U if not S(t,j)then y(s('ERR invalid %s: only %s it',j,u[3])) elseif not bz(a,j)then
y(s('ERR invalid %s: %s takes none',j,('LOCKOUT'))) elseif a[j]~=nil then
y(s('ERR syntax error: %s comes at most once',u[2])) end end local function bp(g) local C,E=ah(g,'^(%d+)(%l*)$')
local al=C and bv(E) local H=al and aF(C,'18446744073709551615')and C*al return H and H>=1 and H<=1e15 and H or nil end
local function cy(j,g,cY) if j=='BLOCK'or j=='MAX'then
local cQ='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return g and bp(g)or y('ERR invalid '..j..': '..cQ) end if j=='AS'then
return g and#g>=1 and#g<=64 and not G(g,'[^%w._-]')and g or F('AS') elseif j=='AT'then
local i=g and aF(g,'9223372036854775807') return i and aP(aK(i),(aG(aY,1000)))or F('AT') end
return bo(j,g,j=='BURST'and 1 or 0) end local function cG(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bF={FULL=true,LINE=true,HEADERS=true}
local function cq(R,bn) if R then F(R==bn and'FORM_TWICE'or'TWO_FORMS') end return bn end local function cw(a,p,f,t)
while p[f]do local o,u=p[f]:upper(),nil for K,ag in ipairs(aZ)do u=ag[1]==o and ag or u end if u then cH(u,a,t)
if u[2]==o then a[o]=true f=f+1 else a[o]=cy(o,p[f+1],p[f+2]) f=f+(o=='RESERVE'and 3 or 2) end cG(a)
elseif bF[o]and S(t,'form')then a.form=cq(a.form,o) f=f+1 else return f end end return f end
local bG={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cT(a,g) local r=bp(g)
if not r then a.P=g:upper() r=bG[a.P] if not r then F(S((' COST BLOCK MAX '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not S((' COST BLOCK MAX '),'ANCHOR')then
y(s('ERR invalid window: %s takes no windows of the calendar',('LOCKOUT'))) end end return r end local function ca(B)
return B:sub(-9)==':reserved'or B:sub(-14)==':reserved:ends' end local function cI(B) if ca(B)then F('RESERVED_KEY') end
end local function bL(a) local cr=a.PARTIAL and a.m<a.c a.q=a.SHADOW and not a.r and(cr or not a.allowed)
if not a.allowed and(a.q or a.r)then a.allowed=true if not(nil)then local K,K,K,aU=ap(a) a.ttl=P(aU) end end end
local function cE(a) aJ(a,'keep',a.i) return a.remaining end local function cM(M,Q,bK) if M=='keep'then return bK end
return M~='delete'and Q or nil end local function cp(k) return k==0 and 1 or k end local function bM(a) local k=a.c
aE(a,0) local M,Q=(nil)(a,nil,k) if k>0 then a.e,a.k=M,Q end local e=cM(a.e,a.k,a.i) aJ(a,a.e,e)
a.allowed=a.b>0 and l(a,0)==0 a.y=a.b>0 and k or cp(k) if(nil)then a.count,a.ttl=(nil)(e,a.now_ms) elseif a.allowed then
a.ttl=P(aI(l(a,a.b))) else local l=l(a,a.y) a.ttl=l and math.max(1,P(aI(l)))or-1 end end local function bN(a)
local k=a.c if a.PARTIAL then k=math.min(k,cE(a)) end a.m=k if a.ALWAYS then bM(a) else aE(a,k) end end
local function bq(a) return a.r and a.r.c or a.q and a.c or a.m end local function bf(a) if not a.allowed then return 0
end return a.PARTIAL and bq(a)or 1 end local function bZ(a,N) local O,cJ,I,aU,bR=ap(a) return{ 'allowed',bf(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',O, 'retry_after_ms',cJ, 'next_ms',I, 'reset_ms',aU,
'delay_ms',bR, 'now_ms',a.now_ms, 'shadow',a.q and 1 or 0, 'charged',N, } end local function co(ak) local by={}
for K,a in ipairs(ak)do local z,C=a.AS or('LOCKOUT'):lower(),2 a.g=z while by[a.g]do a.g=s('%s-%d',z,C) C=C+1 end
by[a.g]=true end end local function as(d) return s('%.0f',aP(d,999999999999999)) end local function cB(a)
local r=(nil)and(nil)(a)or a.j local aH,q=1000,r%1000 while q>0 do aH,q=q,aH%q end local bB=1000/aH
local an=aG(ab(r,bB),1000) return s('"%s";q=%s;w=%s',a.g,as(ab(a.limit,bB)),as(an)) end local function cg(at,aS)
if at.allowed~=aS.allowed then return not at.allowed end local l,aT=at.retry_after_ms,aS.retry_after_ms if l~=aT then
return l<0 or(aT>=0 and l>aT) end return at.remaining<aS.remaining end local function cb(ak) local aV,br=ak[1],{} co(ak)
for d,a in ipairs(ak)do br[d]=cB(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ap(a) if cg(a,aV)then aV=a end end
local a=aV local am={ 'X-RateLimit-Limit', s('%.0f',a.b), 'X-RateLimit-Remaining', s('%.0f',a.remaining), }
local function ar(ac,V) am[#am+1]=ac am[#am+1]=V end if a.reset_ms>=0 then
ar('X-RateLimit-Reset',s('%.0f',P(a.now_ms+a.reset_ms))) end ar('RateLimit-Policy',table.concat(br,', '))
local cm=a.next_ms>=0 and';t='..as(P(a.next_ms))or'' ar('RateLimit',s('"%s";r=%s%s',a.g,as(a.remaining),cm))
if not a.allowed and a.retry_after_ms>=0 then ar('Retry-After',s('%.0f',P(a.retry_after_ms))) end return am end
local function cs(a,N) if a.form=='FULL'then return bZ(a,N) end return{bf(a),a.count,a.ttl,cb({a})} end
av={MAX_UNSIGNED=aY,A=bI,B=bL,D=bN,t=bS,error_reply=bV,f=F,E=bX,F=bY,v=cd,H=bk,x=cn,J=cs,K=bo,p=cv,M=cw,z=bq,N=cI,S=cT}
end return av end local bU,bt=pcall(cK,KEYS,ARGV) return bU and bt or h().error_reply(bt)
