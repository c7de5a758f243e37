-- RL.PEEK GCRA, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aw,i local L,q,ag,cN=string.find,string.format,string.match,string.sub local function bl(D) return D==''and 1000
or D=='ms'and 1 or D=='s'and 1000 or D=='m'and 60000 or D=='h'and 3600000 or D=='d'and 86400000 or nil end
local function A(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return i().r(b,c) end local function R(b,c)
if b-b==0 and c-c==0 then return b<c end return i().F(b,c) end local function N(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return i().w(b,c) end local function ae(b,c)
if b-b==0 and c-c==0 then local r=b%c return r==0 and b/c or(b-r)/c+1 end local ab,r=i().p(b,c)
return r==0 and ab or N(ab,1) end local function bj(a) a.b,a.d=0,0 if a.limit>0 then local bu=A(a.u,1000)
if R(bu,a.limit)then i().f('SPAN') end a.b=ae(bu,a.limit) a.d=A(a.a,a.b) if a.d-a.d~=0 then i().K(a) end end end
local function cq(n,e,s) local ao,af,j=n[e],n[e+1],n[e+2] if not af then i().f('ARITY') end local a={ q='', l=0,
now_ms=0, v=0, u=0, limit=0, a=0, c=1, form=nil, delay=0, h=nil, i=nil, allowed=false, count=0, ttl=0, e='keep',
remaining=0, j=1, } e=e+2 if j=='LINE'and not n[e+1]and s~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local V=n[e+1]or''
local bb=s==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and n[e+2]=='LINE'and not n[e+3]and#V<16
if bb and j=='COST'and(' COST PARTIAL BURST ')~=' ID 'and L(V,'^[1-9]%d*$')then a.form,a.c,e='LINE',V+0,e+3
elseif bb and j=='ID'and(' COST PARTIAL BURST ')==' ID 'and V~=''then a.form,a.ID,e='LINE',V,e+3 else e=i().I(a,n,e,s)
a.c=a.COST or 1 end end local bZ=#af<16 and L(af,'^[1-9]%d*$') a.limit=bZ and af+0 or i().H('limit',af,0)
local B,D=ag(ao,'^([1-9]%d*)(%l*)$') local al=B and#ao<16 and bl(D) local p=al and B*al if not p or p<1 or p>1e15 then
p=i().P(a,ao) end a.v,a.u,a.a=p,p<9e12 and p*1000 or i().r(p,1000),a.BURST or a.limit if bj then bj(a) end return a,e
end local function co(n,s) local a,e=cq(n,1,s) if n[e]then i().D(a,s,n[e]) end return a end local aY=redis.call
local function cv(a) local br=aY('TIME') local aN=br[1]*1000000+br[2] a.l,a.now_ms=aN,(aN-aN%1000)/1000 end
local function cH(a,Z,e,bw,aI) local z=Z[e] if not z then i().f('KEYS') end a.q,e=z,e+1 if aI then a.g=z
elseif L(z,':reserved',1,true)then i().J(z) end return e end local function ct(a,Z,bw,aI) cv(a)
if#Z~=cH(a,Z,1,bw,aI)-1 then i().f('KEYS') end end local function bL(f)
local ah,aM=ag(f,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not ah or ah:byte()>56 then return i().A(f) end
return{k=ah+0,n=aM+0} end local function cd(a) local f=aY('GET',a.q) if f then
a.h=bL(f)or i().B(f,('GCRA'),'FOREIGN_VALUE') end end local function am(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return i().M(b,c) end local function ay(a,ad) local o,bs=0,a.d if ad and not R(ad.k,a.l)then
o=N(A(am(ad.k,a.l),1000),ad.n) if R(bs,o)then return bs,true end end return o,false end local function X(d)
if d-d~=0 or d>=(2^53)then i().f('INEXACT_REPLY') end return d end local function bt(a,o)
return a.b==0 and 0 or ae(o,a.b) end local function aD(b,c) if b-b==0 and c-c==0 then local r=b%c return(b-r)/c,r end
return i().p(b,c) end local function aS(a,o) local ah,aM=aD(o,1000) return{k=N(a.l,ah),n=aM} end local function bm(a,o)
a.x=o a.remaining=a.b==0 and 0 or am(a.a,bt(a,o)) end local function k(a,g) local Y=a.b if Y==0 or g>a.a then return nil
end return ae(am(a.x,am(a.d,A(g,Y))),1000000) end local function U(G) local r=G%1000
return G<0 and-1 or r==0 and G/1000 or(G-r)/1000+1 end local function cI(a,g) local k=k(a,g==0 and 1 or g)
k=k and U(X(k))or-1 return k==0 and 1 or k end local function aC(a,g) local o,bG=ay(a,a.h) local Y=a.b
local O=N(o,A(g==0 and 1 or g,Y)) local az=Y~=0 and not R(a.d,O) a.allowed,a.count,a.e=az,X(bt(a,o)),'keep'
if az and g==0 then a.ttl=X(ae(o,1000000000)) elseif az then a.e,a.i='charge',aS(a,O) a.ttl=X(ae(O,1000000000)) else
if bG and Y~=0 then a.e,a.i='rebase',aS(a,o) end bm(a,o) a.ttl=cI(a,g) end end local function bK(a)
if a.PARTIAL or a.ALWAYS then i().z(a) else local g=a.c a.j=g aC(a,g) end if a.SHADOW then i().y(a) end end
local function aF(a,E,ad) bm(a,(ay(a,ad))) end local function aq(a) local J,k=a.e,k
aF(a,J,J=='keep'and a.h or J~='delete'and a.i or nil) local M,aB,C,H,T=a.remaining,a.a,0,0,0 if not a.allowed then
local g=a.j C=k(a,a.s or(g==0 and 1 or g))or-1 if a.E and C>=0 then C=math.max(C,a.E) end end if M<aB then
H=k(a,M+1)or-1 T=M+1==aB and H or k(a,aB)or-1 end if C-C~=0 or H-H~=0 or T-T~=0 or C>=(2^53)or T>=(2^53)then
i().f('INEXACT_REPLY') end return M,C,H,T,0 end local function cb(a,K) local M,C,H,T,bN=aq(a) local cE=a.m and 1 or 0
return q( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().t(a)or 1)or 0,a.count,a.ttl,a.a,M,C,H,T, bN,a.now_ms,cE,K ) end local function cx(a,K)
local P=a.form if P=='LINE'then return cb(a,K) elseif P then return i().G(a,K) end
return{a.allowed and(a.PARTIAL and i().t(a)or 1)or 0,a.count,a.ttl} end local function cD(Z,n)
local a=co(n,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') ct(a,Z) cd(a,'read') bK(a) return cx(a,0)
end function i() if not aw then local l={}
l.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
l.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
l.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
l.ID='ERR invalid ID: expected 1 to 512 bytes'
l.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
l.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
l.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
l.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
l.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
l.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
l.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
l.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
l.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
l.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
l.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
l.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' l.ARITY='ERR wrong number of arguments'
l.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
l.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
l.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local ax={ __sub=function()
return 1 end, } local bB=setmetatable({9437184,14339741,14210},ax) local function y(f) error({err=f},0) end
local function x(aa) y(l[aa]) end local function cB(a) if R(bB,a.d)then x('SPAN') end end local function aX(b,c)
for e=1,math.min(#b,#c)do local bx,by=b:byte(e),c:byte(e) if bx~=by then return bx<by end end return#b<#c end
local function ap(f,aL) if f~='0'and not L(f,'^[1-9]%d*$')then return nil end
return(#f<#aL or(#f==#aL and not aX(aL,f)))and f or nil end local function aG(h)
if#h<=15 or(#h==16 and aX(h,'9007199254740992'))then return h+0 end local aH=#h%7 local d=aH>0 and h:sub(1,aH)+0 or 0
for e=aH+1,#h,7 do d=N(A(d,10000000),h:sub(e,e+6)+0) end return d end local function bM(f)
local h=ap(f,'18446744073709551615') if not h then return nil end return{k=#h>3 and aG(h:sub(1,-4))or 0,n=h:sub(-3)+0}
end local function bS(f,m,cm) local cL={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'}
local aT=cL[ag(f,'^(%u):')] if not aT or aT==m then x(cm) end
y('ERR the key holds a state of '..aT..': use another key for each algorithm') end local function bR(aj)
if type(aj)=='table'then return aj elseif L(aj,'^%u+ ')then return redis.error_reply(aj) end error(aj,0) end
local function be(b,c) local aV,bE=b-b==0,c-c==0 if aV or bE then return aV elseif#b~=#c then return#b<#c end
for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function W(d) if d-d~=0 then return d
end local h,u={},0 while d>0 do local v=d%(2^24) u=u+1 h[u]=v d=(d-v)/(2^24) end return h end local function ar(h)
local u=#h while u>0 and h[u]==0 do h[u]=nil u=u-1 end if u>3 or(u==3 and h[3]>=(2^53)/(2^24)/(2^24))then
return setmetatable(h,ax) end return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function bD(b,c)
b,c=W(b),W(c) local ac,I={},0 for d=1,math.max(#b,#c)+1 do local v=(b[d]or 0)+(c[d]or 0)+I I=v>=(2^24)and 1 or 0
ac[d]=v-I*(2^24) end return ar(ac) end local function cG(b,c) if not be(c,b)then return 0 end c=W(c) local aZ,aA={},0
for d=1,#b do local v=b[d]-(c[d]or 0)-aA aA=v<0 and 1 or 0 aZ[d]=v+aA*(2^24) end return ar(aZ) end
local function cg(b,c) b,c=W(b),W(c) local ai={} for d=1,#b+#c do ai[d]=0 end for d=1,#b do local I=0 for aJ=1,#c do
local v=ai[d+aJ-1]+b[d]*c[aJ]+I I=math.floor(v/(2^24)) ai[d+aJ-1]=v-I*(2^24) end ai[d+#c]=I end return ar(ai) end
local function aW(d) if d-d==0 then return d end local ac=0 for bX=#d,1,-1 do ac=ac*(2^24)+d[bX] end return ac end
local function bP(b,c) local ab=0 while not R(b,c)do local av=math.max(1,math.floor(aW(b)/aW(c)*(1-2^-45))) av=ar(W(av))
ab=N(ab,av) b=am(b,A(av,c)) end return ab,b end local function bg(aa,f,bd) local h=f and ap(f,'9223372036854775807')
local d=h and aG(h) if not d or d==0 and bd>0 then
y(q('ERR invalid %s: expected an integer from %d to 9223372036854775807',aa,bd)) elseif d-d~=0 then
y(q('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aa)) end return d end local aU={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Q(cc,m)
return not L(m,' ',1,true)and L(cc,' '..m..' ',1,true)~=nil end local function bq(a,j)
return not Q(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or Q((' COST PARTIAL BURST '),j)
end local function bY(m,j) local w,F=0,0 local bn,ce=math.min(#m,#j),math.max(#m,#j)
while w<bn and m:byte(w+1)==j:byte(w+1)do w=w+1 end while F<bn-w and m:byte(-1-F)==j:byte(-1-F)do F=F+1 end
return w+F>=2 and ce-w-F<=2 end local function bT(a,s,m) local S={} for E,t in ipairs(aU)do
if Q(s,t[1])and bq(a,t[1])then S[#S+1]=t[2] end end for E,P in ipairs({'FULL','LINE','HEADERS'})do S[#S+1]=P end
for E,j in ipairs(S)do if bY(m:upper(),ag(j,'^%u+'))then y('ERR syntax error: no such option, but there is '..j) end end
local F=table.remove(S) local cJ=table.concat(S,', ')
y('ERR syntax error: after limit come '..cJ..' or '..F..', each at most once') end local function cz(t,a,s)
local j,cM=t[1],a.Q if not Q(s,j)then y(q('ERR invalid %s: only %s it',j,t[3])) elseif not bq(a,j)then
y(q('ERR invalid %s: %s takes none',j,('GCRA'))) elseif a[j]~=nil then
y(q('ERR syntax error: %s comes at most once',t[2])) end end local function aK(b,c) return R(c,b)and c or b end
local bC=setmetatable({(2^24)-1,(2^24)-1,2^16-1},ax) local function cr(j,f,cO) if j=='AS'then
return f and#f>=1 and#f<=64 and not L(f,'[^%w._-]')and f or x('AS') elseif j=='AT'then
local h=f and ap(f,'9223372036854775807') return h and aK(aG(h),(aD(bC,1000)))or x('AT') end
return bg(j,f,j=='BURST'and 1 or 0) end local function cy(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
x(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
x(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bz={FULL=true,LINE=true,HEADERS=true}
local function cj(P,bf) if P then x(P==bf and'FORM_TWICE'or'TWO_FORMS') end return bf end local function cp(a,n,e,s)
while n[e]do local m,t=n[e]:upper(),nil for E,bc in ipairs(aU)do t=bc[1]==m and bc or t end if t then cz(t,a,s)
if t[2]==m then a[m]=true e=e+1 else a[m]=cr(m,n[e+1],n[e+2]) e=e+(m=='RESERVE'and 3 or 2) end cy(a)
elseif bz[m]and Q(s,'form')then a.form=cj(a.form,m) e=e+1 else return e end end return e end local function cs(f)
local B,D=ag(f,'^(%d+)(%l*)$') local al=B and bl(D) local G=al and ap(B,'18446744073709551615')and B*al
return G and G>=1 and G<=1e15 and G or nil end
local bA={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cK(a,f) local p=cs(f)
if not p then a.N=f:upper() p=bA[a.N] if not p then
x(Q((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Q((' COST PARTIAL BURST '),'ANCHOR')then
y(q('ERR invalid window: %s takes no windows of the calendar',('GCRA'))) end end return p end local function bV(z)
return z:sub(-9)==':reserved'or z:sub(-14)==':reserved:ends' end local function cA(z) if bV(z)then x('RESERVED_KEY') end
end local function bH(a) local ck=a.PARTIAL and a.j<a.c a.m=a.SHADOW and not a.o and(ck or not a.allowed)
if not a.allowed and(a.m or a.o)then a.allowed=true if not(nil)then local E,E,E,aQ=aq(a) a.ttl=U(aQ) end end end
local function cw(a) aF(a,'keep',a.h) return a.remaining end local function cn(a,E,g) if g==0 or a.b==0 then
return'keep' end local o=ay(a,a.h) return'charge',aS(a,aK(N(o,A(g,a.b)),a.d)) end local function cF(J,O,bF)
if J=='keep'then return bF end return J~='delete'and O or nil end local function ci(g) return g==0 and 1 or g end
local function bI(a) local g=a.c aC(a,0) local J,O=cn(a,nil,g) if g>0 then a.e,a.i=J,O end local bo=cF(a.e,a.i,a.h)
aF(a,a.e,bo) a.allowed=a.a>0 and k(a,0)==0 a.s=a.a>0 and g or ci(g) if(nil)then a.count,a.ttl=(nil)(bo,a.now_ms)
elseif a.allowed then a.ttl=U(X(k(a,a.a))) else local k=k(a,a.s) a.ttl=k and math.max(1,U(X(k)))or-1 end end
local function bJ(a) local g=a.c if a.PARTIAL then g=math.min(g,cw(a)) end a.j=g if a.ALWAYS then bI(a) else aC(a,g) end
end local function bh(a) return a.o and a.o.c or a.m and a.c or a.j end local function ba(a) if not a.allowed then
return 0 end return a.PARTIAL and bh(a)or 1 end local function bU(a,K) local M,cC,H,aQ,bO=aq(a) return{ 'allowed',ba(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.a, 'remaining',M, 'retry_after_ms',cC, 'next_ms',H, 'reset_ms',aQ,
'delay_ms',bO, 'now_ms',a.now_ms, 'shadow',a.m and 1 or 0, 'charged',K, } end local function ch(ak) local bp={}
for E,a in ipairs(ak)do local w,B=a.AS or('GCRA'):lower(),2 a.g=w while bp[a.g]do a.g=q('%s-%d',w,B) B=B+1 end
bp[a.g]=true end end local function at(d) return q('%.0f',aK(d,999999999999999)) end local function cu(a)
local p=(nil)and(nil)(a)or a.v local aE,r=1000,p%1000 while r>0 do aE,r=r,aE%r end local bv=1000/aE
local ao=aD(A(p,bv),1000) return q('"%s";q=%s;w=%s',a.g,at(A(a.limit,bv)),at(ao)) end local function ca(au,aO)
if au.allowed~=aO.allowed then return not au.allowed end local k,aP=au.retry_after_ms,aO.retry_after_ms if k~=aP then
return k<0 or(aP>=0 and k>aP) end return au.remaining<aO.remaining end local function bW(ak) local aR,bi=ak[1],{} ch(ak)
for d,a in ipairs(ak)do bi[d]=cu(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aq(a) if ca(a,aR)then aR=a end end
local a=aR local an={ 'X-RateLimit-Limit', q('%.0f',a.a), 'X-RateLimit-Remaining', q('%.0f',a.remaining), }
local function as(aa,V) an[#an+1]=aa an[#an+1]=V end if a.reset_ms>=0 then
as('X-RateLimit-Reset',q('%.0f',U(a.now_ms+a.reset_ms))) end as('RateLimit-Policy',table.concat(bi,', '))
local cf=a.next_ms>=0 and';t='..at(U(a.next_ms))or'' as('RateLimit',q('"%s";r=%s%s',a.g,at(a.remaining),cf))
if not a.allowed and a.retry_after_ms>=0 then as('Retry-After',q('%.0f',U(a.retry_after_ms))) end return an end
local function cl(a,K) if a.form=='FULL'then return bU(a,K) end return{ba(a),a.count,a.ttl,bW({a})} end
aw={w=bD,y=bH,z=bJ,A=bM,p=bP,error_reply=bR,f=x,B=bS,D=bT,F=be,r=cg,G=cl,H=bg,I=cp,t=bh,J=cA,K=cB,M=cG,P=cK} end
return aw end local bQ,bk=pcall(cD,KEYS,ARGV) return bQ and bk or i().error_reply(bk)
