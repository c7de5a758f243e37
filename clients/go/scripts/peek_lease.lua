-- RL.PEEK LEASE, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aw,j local H,l,bl,cW=string.find,string.format,string.match,string.sub local function cv(o,e,u)
local R,N,g=o[e],o[e+1],o[e+2] if not N then j().g('ARITY') end local a={ k='', x=0, now_ms=0, p=0, N=0, limit=0, a=0,
b=1, form=nil, delay=0, t=nil, j=nil, allowed=false, count=0, ttl=0, e='keep', remaining=0, f=1, } e=e+2
if g=='LINE'and not o[e+1]and u~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=g,e+1 elseif g then
local Y=o[e+1]or''
local bg=u==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and o[e+2]=='LINE'and not o[e+3]and#Y<16
if bg and g=='COST'and(' ID ')~=' ID 'and H(Y,'^[1-9]%d*$')then a.form,a.b,e='LINE',Y+0,e+3
elseif bg and g=='ID'and(' ID ')==' ID 'and Y~=''then a.form,a.ID,e='LINE',Y,e+3 else e=j().I(a,o,e,u) a.b=a.COST or 1
end end local aI=#N<16 and H(N,'^[1-9]%d*$') a.limit=aI and N+0 or j().H('limit',N,0) aI=#R<10 and H(R,'^[1-9]%d*$')
local y=aI and R*1000 or j().O(a,R) a.p,a.N,a.a=y,y<9e12 and y*1000 or j().v(y,1000),a.BURST or a.limit return a,e end
local function cs(o,u) local a,e=cv(o,1,u) if o[e]then j().E(a,u,o[e]) end return a end local K=redis.call
local function cB(a) local bA=K('TIME') local aM=bA[1]*1000000+bA[2] a.x,a.now_ms=aM,(aM-aM%1000)/1000 end
local function cO(a,ab,e,bD,aJ) local m=ab[e] if not m then j().g('KEYS') end a.k,e=m,e+1 if aJ then a.c=m
elseif H(m,':reserved',1,true)then j().K(m) end return e end local function cy(a,ab,bD,aJ) cB(a)
if#ab~=cO(a,ab,1,bD,aJ)-1 then j().g('KEYS') end end local aF,cU,cY,cV=4000,1000,1000,2*500
local function ci(a,ah,bz,au) local m=a.k local w,M=K('ZCARD',m),0 if w>0 and bz>=0 and au~='delete'then
local t=l('%.0f',bz) local x=au=='read'and 0 or aF if w<=x then local P=K('ZREMRANGEBYSCORE',m,ah,t) w,aF=w-P,x-P else
w,M=j().J(m,ah,t,w,x) end end a.l,a.D,a.Q=w-M,M,w>0 end local function bd(C)
return C<2^64 and math.max(0,math.ceil(C))or(1/0) end local function bU(a,cb) local C=a.l>0 and K('ZSCORE',a.k,cb)
local q=C and bd(tonumber(C)) return q and q>a.now_ms and q or nil end local function ch(a,au) ci(a,'-inf',a.now_ms,au)
a.n=a.ID and bU(a,a.ID) a.r=a.n and a.l-1 or a.l end local function an(d) if d-d~=0 or d>=(2^53)then
j().g('INEXACT_REPLY') end return d end local function ax(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return j().z(b,c) end local function bS(b,c) if b-b==0 and c-c==0 then local r=b%c return r==0 and b/c or(b-r)/c+1 end
local ae,r=j().C(b,c) return r==0 and ae or ax(ae,1) end local function bw(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return j().L(b,c) end local function ai(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then
return b*c end return j().v(b,c) end local function ap(a,D,ag) a.i=D=='charge'and ag.i or nil a.u=a.i and a.r+1 or a.l
a.remaining=math.max(0,a.limit-a.u) end local function cK(m,av) av=l('%.0f',av)
local C=K('ZRANGE',m,av,av,'WITHSCORES')[2] return C and tonumber(C) end local function aE(a,d) local C=cK(a.k,d+a.D)
return C and bd(C)or(1/0) end local function bc(a,d) local q=aE(a,d) return a.n and q>=a.n and aE(a,d+1)or q end
local function bV(a,d,aP) if d<a.r then local q=bc(a,d) if q<=aP then return q end end
return d>0 and math.max(bc(a,d-1),aP)or aP end local function aK(a,d) local q=a.i and bV(a,d,a.i)or aE(a,d)
return q~=(1/0)and q or nil end local function cR(a,i,z,aK,aG) local aR=a.limit-i if aR<0 then return nil
elseif z<=aR then return 0 end local ac=aK(a,z-aR-1) if aG and(not ac or aG<ac)then ac=aG end
return ac and(ac>=(2^53)and(1/0)or math.max(0,ac-a.now_ms)) end local function k(a,i) return cR(a,i,a.u,aK,nil) end
local function Q(I) local r=I%1000 return I<0 and-1 or r==0 and I/1000 or(I-r)/1000+1 end local function cP(a,i)
local k=k(a,i==0 and 1 or i) k=k and Q(an(k))or-1 return k==0 and 1 or k end local function aB(a)
local cp,N,bp,bo=a.now_ms,a.limit,a.n,a.r local ay=N>0 and(bp~=nil or bo<N) local q=cp+a.p
a.allowed,a.count,a.e=ay,bo,'keep' if ay and bp~=q then a.e,a.j='charge',{i=q} end if ay then
a.ttl=an(bS(bw(ai(q,1000),a.x),1000000)) else ap(a,'keep') a.ttl=cP(a,1) end end local function bP(a)
if a.PARTIAL or a.ALWAYS then j().B(a) else local i=a.b a.f=i aB(a,i) end if a.SHADOW then j().A(a) end end
local function ao(a) local D,k=a.e,k ap(a,D,D=='keep'and a.t or D~='delete'and a.j or nil)
local O,aA,E,J,X=a.remaining,a.a,0,0,0 if not a.allowed then local i=a.f E=k(a,a.w or(i==0 and 1 or i))or-1
if a.F and E>=0 then E=math.max(E,a.F) end end if O<aA then J=k(a,O+1)or-1 X=O+1==aA and J or k(a,aA)or-1 end
if E-E~=0 or J-J~=0 or X-X~=0 or E>=(2^53)or X>=(2^53)then j().g('INEXACT_REPLY') end return O,E,J,X,0 end
local function cf(a,z) local O,E,J,X,bQ=ao(a) local cL=a.o and 1 or 0 return l(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and j().y(a)or 1)or 0,a.count,a.ttl,a.a,O,E,J,X, bQ,a.now_ms,cL,z ) end local function cE(a,z)
local T=a.form if T=='LINE'then return cf(a,z) elseif T then return j().G(a,z) end
return{a.allowed and(a.PARTIAL and j().y(a)or 1)or 0,a.count,a.ttl} end local function cJ(ab,o)
local a=cs(o,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cy(a,ab) ch(a,'read') bP(a)
return cE(a,0) end function j() if not aw then local n={}
n.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
n.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
n.ID='ERR invalid ID: expected 1 to 512 bytes'
n.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
n.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
n.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
n.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
n.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
n.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
n.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
n.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
n.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
n.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
n.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
n.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' n.ARITY='ERR wrong number of arguments'
n.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
n.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function G(f)
error({err=f},0) end local function F(ad) G(n[ad]) end local function bW(ak) if type(ak)=='table'then return ak
elseif H(ak,'^%u+ ')then return redis.error_reply(ak) end error(ak,0) end local function Z(d) if d-d~=0 then return d
end local h,A={},0 while d>0 do local B=d%(2^24) A=A+1 h[A]=B d=(d-B)/(2^24) end return h end local aT={
__sub=function() return 1 end, } local function aq(h) local A=#h while A>0 and h[A]==0 do h[A]=nil A=A-1 end
if A>3 or(A==3 and h[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(h,aT) end
return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function bJ(b,c) b,c=Z(b),Z(c) local af,L={},0
for d=1,math.max(#b,#c)+1 do local B=(b[d]or 0)+(c[d]or 0)+L L=B>=(2^24)and 1 or 0 af[d]=B-L*(2^24) end return aq(af)
end local function bk(b,c) local aW,bK=b-b==0,c-c==0 if aW or bK then return aW elseif#b~=#c then return#b<#c end
for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function cN(b,c) if not bk(c,b)then
return 0 end c=Z(c) local aZ,az={},0 for d=1,#b do local B=b[d]-(c[d]or 0)-az az=B<0 and 1 or 0 aZ[d]=B+az*(2^24) end
return aq(aZ) end local function cl(b,c) b,c=Z(b),Z(c) local aj={} for d=1,#b+#c do aj[d]=0 end for d=1,#b do local L=0
for aL=1,#c do local B=aj[d+aL-1]+b[d]*c[aL]+L L=math.floor(B/(2^24)) aj[d+aL-1]=B-L*(2^24) end aj[d+#c]=L end
return aq(aj) end local function bj(b,c) if b-b==0 and c-c==0 then return b<c end return bk(b,c) end
local function aX(d) if d-d==0 then return d end local af=0 for cc=#d,1,-1 do af=af*(2^24)+d[cc] end return af end
local function bb(b,c) local ae=0 while not bj(b,c)do local at=math.max(1,math.floor(aX(b)/aX(c)*(1-2^-45)))
at=aq(Z(at)) ae=ax(ae,at) b=bw(b,ai(at,c)) end return ae,b end local function cD(m,ah,t,w,x) local M=K('ZCOUNT',m,ah,t)
local P=math.min(M,x) if P>0 then local s=ah=='0'and K('ZCOUNT',m,'-inf','(0')or 0
K('ZREMRANGEBYRANK',m,l('%.0f',s),l('%.0f',s+P-1)) w,M,aF=w-P,M-P,x-P end return w,M end local function aY(b,c)
for e=1,math.min(#b,#c)do local bE,bF=b:byte(e),c:byte(e) if bE~=bF then return bE<bF end end return#b<#c end
local function aC(f,x) if f~='0'and not H(f,'^[1-9]%d*$')then return nil end
return(#f<#x or(#f==#x and not aY(x,f)))and f or nil end local function bf(h)
if#h<=15 or(#h==16 and aY(h,'9007199254740992'))then return h+0 end local aH=#h%7 local d=aH>0 and h:sub(1,aH)+0 or 0
for e=aH+1,#h,7 do d=ax(ai(d,10000000),h:sub(e,e+6)+0) end return d end local function bq(ad,f,bi)
local h=f and aC(f,'9223372036854775807') local d=h and bf(h) if not d or d==0 and bi>0 then
G(l('ERR invalid %s: expected an integer from %d to 9223372036854775807',ad,bi)) elseif d-d~=0 then
G(l('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ad)) end return d end local aU={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function U(cg,p)
return not H(p,' ',1,true)and H(cg,' '..p..' ',1,true)~=nil end local function by(a,g)
return not U(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',g)or U((' ID '),g) end
local function cd(p,g) local s,t=0,0 local bu,cj=math.min(#p,#g),math.max(#p,#g)
while s<bu and p:byte(s+1)==g:byte(s+1)do s=s+1 end while t<bu-s and p:byte(-1-t)==g:byte(-1-t)do t=t+1 end
return s+t>=2 and cj-s-t<=2 end local function bX(a,u,p) local W={} for S,v in ipairs(aU)do
if U(u,v[1])and by(a,v[1])then W[#W+1]=v[2] end end for S,T in ipairs({'FULL','LINE','HEADERS'})do W[#W+1]=T end
for S,g in ipairs(W)do if cd(p:upper(),bl(g,'^%u+'))then G('ERR syntax error: no such option, but there is '..g) end end
local t=table.remove(W) local cQ=table.concat(W,', ')
G('ERR syntax error: after limit come '..cQ..' or '..t..', each at most once') end local function cG(v,a,u)
local g,cT=v[1],a.P if not U(u,g)then G(l('ERR invalid %s: only %s it',g,v[3])) elseif not by(a,g)then
G(l('ERR invalid %s: %s takes none',g,('LEASE'))) elseif a[g]~=nil then
G(l('ERR syntax error: %s comes at most once',v[2])) end end local function ct(f,x) return f and#f>=1 and#f<=x and f end
local function bm(b,c) return bj(c,b)and c or b end local function ba(b,c) if b-b==0 and c-c==0 then local r=b%c
return(b-r)/c,r end return bb(b,c) end local bI=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aT) local function cw(g,f,cX)
if g=='ID'then return ct(f,512)or F('ID') end if g=='AS'then
return f and#f>=1 and#f<=64 and not H(f,'[^%w._-]')and f or F('AS') elseif g=='AT'then
local h=f and aC(f,'9223372036854775807') return h and bm(bf(h),(ba(bI,1000)))or F('AT') end
return bq(g,f,g=='BURST'and 1 or 0) end local function cF(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bG={FULL=true,LINE=true,HEADERS=true}
local function co(T,bn) if T then F(T==bn and'FORM_TWICE'or'TWO_FORMS') end return bn end local function cu(a,o,e,u)
while o[e]do local p,v=o[e]:upper(),nil for S,bh in ipairs(aU)do v=bh[1]==p and bh or v end if v then cG(v,a,u)
if v[2]==p then a[p]=true e=e+1 else a[p]=cw(p,o[e+1],o[e+2]) e=e+(p=='RESERVE'and 3 or 2) end cF(a)
elseif bG[p]and U(u,'form')then a.form=co(a.form,p) e=e+1 else return e end end return e end
local aV={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cx(f) local V,bB=bl(f,'^(%d+)(%l*)$')
local I=V and aV[bB]and aC(V,'18446744073709551615')and V*aV[bB] return I and I>=1 and I<=1e15 and I or nil end
local bH={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cS(a,f) local y=cx(f)
if not y then a.M=f:upper() y=bH[a.M] if not y then F(U((' ID '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not U((' ID '),'ANCHOR')then G(l('ERR invalid window: %s takes no windows of the calendar',('LEASE'))) end end
return y end local function bZ(m) return m:sub(-9)==':reserved'or m:sub(-14)==':reserved:ends' end local function cH(m)
if bZ(m)then F('RESERVED_KEY') end end local function bM(a) local cq=a.PARTIAL and a.f<a.b
a.o=a.SHADOW and not a.q and(cq or not a.allowed) if not a.allowed and(a.o or a.q)then a.allowed=true if not(nil)then
local S,S,S,aQ=ao(a) a.ttl=Q(aQ) end end end local function cC(a) ap(a,'keep',a.t) return a.remaining end
local function cM(D,ag,bL) if D=='keep'then return bL end return D~='delete'and ag or nil end local function cn(i)
return i==0 and 1 or i end local function bN(a) local i=a.b aB(a,0) local D,ag=(nil)(a,nil,i) if i>0 then a.e,a.j=D,ag
end local bv=cM(a.e,a.j,a.t) ap(a,a.e,bv) a.allowed=a.a>0 and k(a,0)==0 a.w=a.a>0 and i or cn(i) if(nil)then
a.count,a.ttl=(nil)(bv,a.now_ms) elseif a.allowed then a.ttl=Q(an(k(a,a.a))) else local k=k(a,a.w)
a.ttl=k and math.max(1,Q(an(k)))or-1 end end local function bO(a) local i=a.b if a.PARTIAL then i=math.min(i,cC(a)) end
a.f=i if a.ALWAYS then bN(a) else aB(a,i) end end local function br(a) return a.q and a.q.b or a.o and a.b or a.f end
local function be(a) if not a.allowed then return 0 end return a.PARTIAL and br(a)or 1 end local function bY(a,z)
local O,cI,J,aQ,bR=ao(a) return{ 'allowed',be(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.a, 'remaining',O,
'retry_after_ms',cI, 'next_ms',J, 'reset_ms',aQ, 'delay_ms',bR, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',z,
} end local function cm(al) local bx={} for S,a in ipairs(al)do local s,V=a.AS or('LEASE'):lower(),2 a.c=s
while bx[a.c]do a.c=l('%s-%d',s,V) V=V+1 end bx[a.c]=true end end local function aa(d)
return l('%.0f',bm(d,999999999999999)) end local function cz(a) if('concurrent-requests')then
local cA,R=aa(a.limit),aa(Q(a.p)) return l('"%s";q=%s;w=%s;qu="%s"',a.c,cA,R,('concurrent-requests')) end
local y=(nil)and(nil)(a)or a.p local aD,r=1000,y%1000 while r>0 do aD,r=r,aD%r end local bC=1000/aD
local R=ba(ai(y,bC),1000) return l('"%s";q=%s;w=%s',a.c,aa(ai(a.limit,bC)),aa(R)) end local function ce(as,aN)
if as.allowed~=aN.allowed then return not as.allowed end local k,aO=as.retry_after_ms,aN.retry_after_ms if k~=aO then
return k<0 or(aO>=0 and k>aO) end return as.remaining<aN.remaining end local function ca(al) local aS,bs=al[1],{} cm(al)
for d,a in ipairs(al)do bs[d]=cz(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ao(a) if ce(a,aS)then aS=a end end
local a=aS local am={ 'X-RateLimit-Limit', l('%.0f',a.a), 'X-RateLimit-Remaining', l('%.0f',a.remaining), }
local function ar(ad,Y) am[#am+1]=ad am[#am+1]=Y end if a.reset_ms>=0 then
ar('X-RateLimit-Reset',l('%.0f',Q(a.now_ms+a.reset_ms))) end ar('RateLimit-Policy',table.concat(bs,', '))
local ck=a.next_ms>=0 and';t='..aa(Q(a.next_ms))or'' ar('RateLimit',l('"%s";r=%s%s',a.c,aa(a.remaining),ck))
if not a.allowed and a.retry_after_ms>=0 then ar('Retry-After',l('%.0f',Q(a.retry_after_ms))) end return am end
local function cr(a,z) if a.form=='FULL'then return bY(a,z) end return{be(a),a.count,a.ttl,ca({a})} end
aw={z=bJ,A=bM,B=bO,C=bb,error_reply=bW,g=F,E=bX,v=cl,G=cr,H=bq,I=cu,y=br,J=cD,K=cH,L=cN,O=cS} end return aw end
local bT,bt=pcall(cJ,KEYS,ARGV) return bT and bt or j().error_reply(bt)
