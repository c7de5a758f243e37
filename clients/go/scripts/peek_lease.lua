-- RL.PEEK LEASE, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ay,j local O,l,aN,cX=string.find,string.format,string.match,string.sub local function bu(G) return G==''and 1000
or G=='ms'and 1 or G=='s'and 1000 or G=='m'and 60000 or G=='h'and 3600000 or G=='d'and 86400000 or nil end
local function cw(o,e,v) local Z,P,g=o[e],o[e+1],o[e+2] if not P then j().f('ARITY') end local a={ i='', t=0, now_ms=0,
m=0, J=0, limit=0, a=0, b=1, form=nil, delay=0, p=nil, h=nil, allowed=false, count=0, ttl=0, d='keep', remaining=0, e=1,
} e=e+2 if g=='LINE'and not o[e+1]and v~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=g,e+1
elseif g then local Y=o[e+1]or''
local bh=v==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and o[e+2]=='LINE'and not o[e+3]and#Y<16
if bh and g=='COST'and(' ID ')~=' ID 'and O(Y,'^[1-9]%d*$')then a.form,a.b,e='LINE',Y+0,e+3
elseif bh and g=='ID'and(' ID ')==' ID 'and Y~=''then a.form,a.ID,e='LINE',Y,e+3 else e=j().E(a,o,e,v) a.b=a.COST or 1
end end local ce=#P<16 and O(P,'^[1-9]%d*$') a.limit=ce and P+0 or j().D('limit',P,0)
local E,G=aN(Z,'^([1-9]%d*)(%l*)$') local an=E and#Z<16 and bu(G) local r=an and E*an if not r or r<1 or r>1e15 then
r=j().K(a,Z) end a.m,a.J,a.a=r,r<9e12 and r*1000 or j().r(r,1000),a.BURST or a.limit return a,e end
local function ct(o,v) local a,e=cw(o,1,v) if o[e]then j().A(a,v,o[e]) end return a end local L=redis.call
local function cC(a) local bB=L('TIME') local aO=bB[1]*1000000+bB[2] a.t,a.now_ms=aO,(aO-aO%1000)/1000 end
local function cP(a,ac,e,bD,aK) local m=ac[e] if not m then j().f('KEYS') end a.i,e=m,e+1 if aK then a.c=m
elseif O(m,':reserved',1,true)then j().G(m) end return e end local function cz(a,ac,bD,aK) cC(a)
if#ac~=cP(a,ac,1,bD,aK)-1 then j().f('KEYS') end end local aH,cV,cZ,cW=4000,1000,1000,2*500
local function cj(a,ai,bA,aw) local m=a.i local x,N=L('ZCARD',m),0 if x>0 and bA>=0 and aw~='delete'then
local u=l('%.0f',bA) local y=aw=='read'and 0 or aH if x<=y then local R=L('ZREMRANGEBYSCORE',m,ai,u) x,aH=x-R,y-R else
x,N=j().F(m,ai,u,x,y) end end a.j,a.z,a.M=x-N,N,x>0 end local function be(C)
return C<2^64 and math.max(0,math.ceil(C))or(1/0) end local function bU(a,cb) local C=a.j>0 and L('ZSCORE',a.i,cb)
local q=C and be(tonumber(C)) return q and q>a.now_ms and q or nil end local function ci(a,aw) cj(a,'-inf',a.now_ms,aw)
a.k=a.ID and bU(a,a.ID) a.o=a.k and a.j-1 or a.j end local function ap(d) if d-d~=0 or d>=(2^53)then
j().f('INEXACT_REPLY') end return d end local function az(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return j().v(b,c) end local function bS(b,c) if b-b==0 and c-c==0 then local s=b%c return s==0 and b/c or(b-s)/c+1 end
local af,s=j().y(b,c) return s==0 and af or az(af,1) end local function bx(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return j().H(b,c) end local function aj(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then
return b*c end return j().r(b,c) end local function ar(a,D,ah) a.g=D=='charge'and ah.g or nil a.q=a.g and a.o+1 or a.j
a.remaining=math.max(0,a.limit-a.q) end local function cL(m,ax) ax=l('%.0f',ax)
local C=L('ZRANGE',m,ax,ax,'WITHSCORES')[2] return C and tonumber(C) end local function aG(a,d) local C=cL(a.i,d+a.z)
return C and be(C)or(1/0) end local function bd(a,d) local q=aG(a,d) return a.k and q>=a.k and aG(a,d+1)or q end
local function bV(a,d,aR) if d<a.o then local q=bd(a,d) if q<=aR then return q end end
return d>0 and math.max(bd(a,d-1),aR)or aR end local function aL(a,d) local q=a.g and bV(a,d,a.g)or aG(a,d)
return q~=(1/0)and q or nil end local function cS(a,i,z,aL,aI) local aT=a.limit-i if aT<0 then return nil
elseif z<=aT then return 0 end local ad=aL(a,z-aT-1) if aI and(not ad or aI<ad)then ad=aI end
return ad and(ad>=(2^53)and(1/0)or math.max(0,ad-a.now_ms)) end local function k(a,i) return cS(a,i,a.q,aL,nil) end
local function S(J) local s=J%1000 return J<0 and-1 or s==0 and J/1000 or(J-s)/1000+1 end local function cQ(a,i)
local k=k(a,i==0 and 1 or i) k=k and S(ap(k))or-1 return k==0 and 1 or k end local function aD(a)
local cq,P,bp,bo=a.now_ms,a.limit,a.k,a.o local aA=P>0 and(bp~=nil or bo<P) local q=cq+a.m
a.allowed,a.count,a.d=aA,bo,'keep' if aA and bp~=q then a.d,a.h='charge',{g=q} end if aA then
a.ttl=ap(bS(bx(aj(q,1000),a.t),1000000)) else ar(a,'keep') a.ttl=cQ(a,1) end end local function bP(a)
if a.PARTIAL or a.ALWAYS then j().x(a) else local i=a.b a.e=i aD(a,i) end if a.SHADOW then j().w(a) end end
local function aq(a) local D,k=a.d,k ar(a,D,D=='keep'and a.p or D~='delete'and a.h or nil)
local Q,aC,F,K,X=a.remaining,a.a,0,0,0 if not a.allowed then local i=a.e F=k(a,a.s or(i==0 and 1 or i))or-1
if a.B and F>=0 then F=math.max(F,a.B) end end if Q<aC then K=k(a,Q+1)or-1 X=Q+1==aC and K or k(a,aC)or-1 end
if F-F~=0 or K-K~=0 or X-X~=0 or F>=(2^53)or X>=(2^53)then j().f('INEXACT_REPLY') end return Q,F,K,X,0 end
local function cg(a,z) local Q,F,K,X,bQ=aq(a) local cM=a.l and 1 or 0 return l(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and j().u(a)or 1)or 0,a.count,a.ttl,a.a,Q,F,K,X, bQ,a.now_ms,cM,z ) end local function cF(a,z)
local U=a.form if U=='LINE'then return cg(a,z) elseif U then return j().C(a,z) end
return{a.allowed and(a.PARTIAL and j().u(a)or 1)or 0,a.count,a.ttl} end local function cK(ac,o)
local a=ct(o,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cz(a,ac) ci(a,'read') bP(a)
return cF(a,0) end function j() if not ay then local n={}
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
n.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function I(f)
error({err=f},0) end local function H(ae) I(n[ae]) end local function bW(al) if type(al)=='table'then return al
elseif O(al,'^%u+ ')then return redis.error_reply(al) end error(al,0) end local function aa(d) if d-d~=0 then return d
end local h,A={},0 while d>0 do local B=d%(2^24) A=A+1 h[A]=B d=(d-B)/(2^24) end return h end local aV={
__sub=function() return 1 end, } local function as(h) local A=#h while A>0 and h[A]==0 do h[A]=nil A=A-1 end
if A>3 or(A==3 and h[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(h,aV) end
return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function bJ(b,c) b,c=aa(b),aa(c) local ag,M={},0
for d=1,math.max(#b,#c)+1 do local B=(b[d]or 0)+(c[d]or 0)+M M=B>=(2^24)and 1 or 0 ag[d]=B-M*(2^24) end return as(ag)
end local function bl(b,c) local aX,bK=b-b==0,c-c==0 if aX or bK then return aX elseif#b~=#c then return#b<#c end
for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function cO(b,c) if not bl(c,b)then
return 0 end c=aa(c) local ba,aB={},0 for d=1,#b do local B=b[d]-(c[d]or 0)-aB aB=B<0 and 1 or 0 ba[d]=B+aB*(2^24) end
return as(ba) end local function cm(b,c) b,c=aa(b),aa(c) local ak={} for d=1,#b+#c do ak[d]=0 end for d=1,#b do
local M=0 for aM=1,#c do local B=ak[d+aM-1]+b[d]*c[aM]+M M=math.floor(B/(2^24)) ak[d+aM-1]=B-M*(2^24) end ak[d+#c]=M end
return as(ak) end local function bk(b,c) if b-b==0 and c-c==0 then return b<c end return bl(b,c) end
local function aY(d) if d-d==0 then return d end local ag=0 for cc=#d,1,-1 do ag=ag*(2^24)+d[cc] end return ag end
local function bc(b,c) local af=0 while not bk(b,c)do local av=math.max(1,math.floor(aY(b)/aY(c)*(1-2^-45)))
av=as(aa(av)) af=az(af,av) b=bx(b,aj(av,c)) end return af,b end local function cE(m,ai,u,x,y) local N=L('ZCOUNT',m,ai,u)
local R=math.min(N,y) if R>0 then local t=ai=='0'and L('ZCOUNT',m,'-inf','(0')or 0
L('ZREMRANGEBYRANK',m,l('%.0f',t),l('%.0f',t+R-1)) x,N,aH=x-R,N-R,y-R end return x,N end local function aZ(b,c)
for e=1,math.min(#b,#c)do local bE,bF=b:byte(e),c:byte(e) if bE~=bF then return bE<bF end end return#b<#c end
local function aE(f,y) if f~='0'and not O(f,'^[1-9]%d*$')then return nil end
return(#f<#y or(#f==#y and not aZ(y,f)))and f or nil end local function bg(h)
if#h<=15 or(#h==16 and aZ(h,'9007199254740992'))then return h+0 end local aJ=#h%7 local d=aJ>0 and h:sub(1,aJ)+0 or 0
for e=aJ+1,#h,7 do d=az(aj(d,10000000),h:sub(e,e+6)+0) end return d end local function bq(ae,f,bj)
local h=f and aE(f,'9223372036854775807') local d=h and bg(h) if not d or d==0 and bj>0 then
I(l('ERR invalid %s: expected an integer from %d to 9223372036854775807',ae,bj)) elseif d-d~=0 then
I(l('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ae)) end return d end local aW={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function V(ch,p)
return not O(p,' ',1,true)and O(ch,' '..p..' ',1,true)~=nil end local function bz(a,g)
return not V(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',g)or V((' ID '),g) end
local function cd(p,g) local t,u=0,0 local bv,ck=math.min(#p,#g),math.max(#p,#g)
while t<bv and p:byte(t+1)==g:byte(t+1)do t=t+1 end while u<bv-t and p:byte(-1-u)==g:byte(-1-u)do u=u+1 end
return t+u>=2 and ck-t-u<=2 end local function bX(a,v,p) local W={} for T,w in ipairs(aW)do
if V(v,w[1])and bz(a,w[1])then W[#W+1]=w[2] end end for T,U in ipairs({'FULL','LINE','HEADERS'})do W[#W+1]=U end
for T,g in ipairs(W)do if cd(p:upper(),aN(g,'^%u+'))then I('ERR syntax error: no such option, but there is '..g) end end
local u=table.remove(W) local cR=table.concat(W,', ')
I('ERR syntax error: after limit come '..cR..' or '..u..', each at most once') end local function cH(w,a,v)
local g,cU=w[1],a.L if not V(v,g)then I(l('ERR invalid %s: only %s it',g,w[3])) elseif not bz(a,g)then
I(l('ERR invalid %s: %s takes none',g,('LEASE'))) elseif a[g]~=nil then
I(l('ERR syntax error: %s comes at most once',w[2])) end end local function cu(f,y) return f and#f>=1 and#f<=y and f end
local function bm(b,c) return bk(c,b)and c or b end local function bb(b,c) if b-b==0 and c-c==0 then local s=b%c
return(b-s)/c,s end return bc(b,c) end local bI=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aV) local function cx(g,f,cY)
if g=='ID'then return cu(f,512)or H('ID') end if g=='AS'then
return f and#f>=1 and#f<=64 and not O(f,'[^%w._-]')and f or H('AS') elseif g=='AT'then
local h=f and aE(f,'9223372036854775807') return h and bm(bg(h),(bb(bI,1000)))or H('AT') end
return bq(g,f,g=='BURST'and 1 or 0) end local function cG(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
H(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
H(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bG={FULL=true,LINE=true,HEADERS=true}
local function cp(U,bn) if U then H(U==bn and'FORM_TWICE'or'TWO_FORMS') end return bn end local function cv(a,o,e,v)
while o[e]do local p,w=o[e]:upper(),nil for T,bi in ipairs(aW)do w=bi[1]==p and bi or w end if w then cH(w,a,v)
if w[2]==p then a[p]=true e=e+1 else a[p]=cx(p,o[e+1],o[e+2]) e=e+(p=='RESERVE'and 3 or 2) end cG(a)
elseif bG[p]and V(v,'form')then a.form=cp(a.form,p) e=e+1 else return e end end return e end local function cy(f)
local E,G=aN(f,'^(%d+)(%l*)$') local an=E and bu(G) local J=an and aE(E,'18446744073709551615')and E*an
return J and J>=1 and J<=1e15 and J or nil end
local bH={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cT(a,f) local r=cy(f)
if not r then a.I=f:upper() r=bH[a.I] if not r then H(V((' ID '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not V((' ID '),'ANCHOR')then I(l('ERR invalid window: %s takes no windows of the calendar',('LEASE'))) end end
return r end local function bZ(m) return m:sub(-9)==':reserved'or m:sub(-14)==':reserved:ends' end local function cI(m)
if bZ(m)then H('RESERVED_KEY') end end local function bM(a) local cr=a.PARTIAL and a.e<a.b
a.l=a.SHADOW and not a.n and(cr or not a.allowed) if not a.allowed and(a.l or a.n)then a.allowed=true if not(nil)then
local T,T,T,aS=aq(a) a.ttl=S(aS) end end end local function cD(a) ar(a,'keep',a.p) return a.remaining end
local function cN(D,ah,bL) if D=='keep'then return bL end return D~='delete'and ah or nil end local function co(i)
return i==0 and 1 or i end local function bN(a) local i=a.b aD(a,0) local D,ah=(nil)(a,nil,i) if i>0 then a.d,a.h=D,ah
end local bw=cN(a.d,a.h,a.p) ar(a,a.d,bw) a.allowed=a.a>0 and k(a,0)==0 a.s=a.a>0 and i or co(i) if(nil)then
a.count,a.ttl=(nil)(bw,a.now_ms) elseif a.allowed then a.ttl=S(ap(k(a,a.a))) else local k=k(a,a.s)
a.ttl=k and math.max(1,S(ap(k)))or-1 end end local function bO(a) local i=a.b if a.PARTIAL then i=math.min(i,cD(a)) end
a.e=i if a.ALWAYS then bN(a) else aD(a,i) end end local function br(a) return a.n and a.n.b or a.l and a.b or a.e end
local function bf(a) if not a.allowed then return 0 end return a.PARTIAL and br(a)or 1 end local function bY(a,z)
local Q,cJ,K,aS,bR=aq(a) return{ 'allowed',bf(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.a, 'remaining',Q,
'retry_after_ms',cJ, 'next_ms',K, 'reset_ms',aS, 'delay_ms',bR, 'now_ms',a.now_ms, 'shadow',a.l and 1 or 0, 'charged',z,
} end local function cn(am) local by={} for T,a in ipairs(am)do local t,E=a.AS or('LEASE'):lower(),2 a.c=t
while by[a.c]do a.c=l('%s-%d',t,E) E=E+1 end by[a.c]=true end end local function ab(d)
return l('%.0f',bm(d,999999999999999)) end local function cA(a) if('concurrent-requests')then
local cB,Z=ab(a.limit),ab(S(a.m)) return l('"%s";q=%s;w=%s;qu="%s"',a.c,cB,Z,('concurrent-requests')) end
local r=(nil)and(nil)(a)or a.m local aF,s=1000,r%1000 while s>0 do aF,s=s,aF%s end local bC=1000/aF
local Z=bb(aj(r,bC),1000) return l('"%s";q=%s;w=%s',a.c,ab(aj(a.limit,bC)),ab(Z)) end local function cf(au,aP)
if au.allowed~=aP.allowed then return not au.allowed end local k,aQ=au.retry_after_ms,aP.retry_after_ms if k~=aQ then
return k<0 or(aQ>=0 and k>aQ) end return au.remaining<aP.remaining end local function ca(am) local aU,bs=am[1],{} cn(am)
for d,a in ipairs(am)do bs[d]=cA(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aq(a) if cf(a,aU)then aU=a end end
local a=aU local ao={ 'X-RateLimit-Limit', l('%.0f',a.a), 'X-RateLimit-Remaining', l('%.0f',a.remaining), }
local function at(ae,Y) ao[#ao+1]=ae ao[#ao+1]=Y end if a.reset_ms>=0 then
at('X-RateLimit-Reset',l('%.0f',S(a.now_ms+a.reset_ms))) end at('RateLimit-Policy',table.concat(bs,', '))
local cl=a.next_ms>=0 and';t='..ab(S(a.next_ms))or'' at('RateLimit',l('"%s";r=%s%s',a.c,ab(a.remaining),cl))
if not a.allowed and a.retry_after_ms>=0 then at('Retry-After',l('%.0f',S(a.retry_after_ms))) end return ao end
local function cs(a,z) if a.form=='FULL'then return bY(a,z) end return{bf(a),a.count,a.ttl,ca({a})} end
ay={v=bJ,w=bM,x=bO,y=bc,error_reply=bW,f=H,A=bX,r=cm,C=cs,D=bq,E=cv,u=br,F=cE,G=cI,H=cO,K=cT} end return ay end
local bT,bt=pcall(cK,KEYS,ARGV) return bT and bt or j().error_reply(bt)
