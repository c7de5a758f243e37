-- RL.PEEK GCRA, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local au,i local D,p,ar,cM=string.find,string.format,string.match,string.sub local function A(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return i().v(b,c) end local function P(b,c)
if b-b==0 and c-c==0 then return b<c end return i().J(b,c) end local function L(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return i().A(b,c) end local function ae(b,c)
if b-b==0 and c-c==0 then local q=b%c return q==0 and b/c or(b-q)/c+1 end local aa,q=i().t(b,c)
return q==0 and aa or L(aa,1) end local function bj(a) a.b,a.e=0,0 if a.limit>0 then local bu=A(a.y,1000)
if P(bu,a.limit)then i().g('SPAN') end a.b=ae(bu,a.limit) a.e=A(a.a,a.b) if a.e-a.e~=0 then i().Q(a) end end end
local function cp(n,e,r) local ad,af,j=n[e],n[e+1],n[e+2] if not af then i().g('ARITY') end local a={ u='', o=0,
now_ms=0, z=0, y=0, limit=0, a=0, c=1, form=nil, delay=0, j=nil, k=nil, allowed=false, count=0, ttl=0, f='keep',
remaining=0, l=1, } e=e+2 if j=='LINE'and not n[e+1]and r~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local U=n[e+1]or''
local bb=r==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and n[e+2]=='LINE'and not n[e+3]and#U<16
if bb and j=='COST'and(' COST PARTIAL BURST ')~=' ID 'and D(U,'^[1-9]%d*$')then a.form,a.c,e='LINE',U+0,e+3
elseif bb and j=='ID'and(' COST PARTIAL BURST ')==' ID 'and U~=''then a.form,a.ID,e='LINE',U,e+3 else e=i().N(a,n,e,r)
a.c=a.COST or 1 end end local aG=#af<16 and D(af,'^[1-9]%d*$') a.limit=aG and af+0 or i().M('limit',af,0)
aG=#ad<10 and D(ad,'^[1-9]%d*$') local t=aG and ad*1000 or i().V(a,ad)
a.z,a.y,a.a=t,t<9e12 and t*1000 or i().v(t,1000),a.BURST or a.limit if bj then bj(a) end return a,e end
local function cn(n,r) local a,e=cp(n,1,r) if n[e]then i().H(a,r,n[e]) end return a end local aY=redis.call
local function cu(a) local bq=aY('TIME') local aM=bq[1]*1000000+bq[2] a.o,a.now_ms=aM,(aM-aM%1000)/1000 end
local function cG(a,Y,e,bw,aH) local z=Y[e] if not z then i().g('KEYS') end a.u,e=z,e+1 if aH then a.i=z
elseif D(z,':reserved',1,true)then i().P(z) end return e end local function cs(a,Y,bw,aH) cu(a)
if#Y~=cG(a,Y,1,bw,aH)-1 then i().g('KEYS') end end local function bL(f)
local ag,aL=ar(f,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not ag or ag:byte()>56 then return i().F(f) end
return{n=ag+0,q=aL+0} end local function cc(a) local f=aY('GET',a.u) if f then
a.j=bL(f)or i().G(f,('GCRA'),'FOREIGN_VALUE') end end local function ak(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return i().S(b,c) end local function aw(a,ac) local o,br=0,a.e if ac and not P(ac.n,a.o)then
o=L(A(ak(ac.n,a.o),1000),ac.q) if P(br,o)then return br,true end end return o,false end local function W(d)
if d-d~=0 or d>=(2^53)then i().g('INEXACT_REPLY') end return d end local function bt(a,o)
return a.b==0 and 0 or ae(o,a.b) end local function aB(b,c) if b-b==0 and c-c==0 then local q=b%c return(b-q)/c,q end
return i().t(b,c) end local function aR(a,o) local ag,aL=aB(o,1000) return{n=L(a.o,ag),q=aL} end local function bl(a,o)
a.B=o a.remaining=a.b==0 and 0 or ak(a.a,bt(a,o)) end local function k(a,g) local X=a.b if X==0 or g>a.a then return nil
end return ae(ak(a.B,ak(a.e,A(g,X))),1000000) end local function T(F) local q=F%1000
return F<0 and-1 or q==0 and F/1000 or(F-q)/1000+1 end local function cH(a,g) local k=k(a,g==0 and 1 or g)
k=k and T(W(k))or-1 return k==0 and 1 or k end local function aA(a,g) local o,bG=aw(a,a.j) local X=a.b
local M=L(o,A(g==0 and 1 or g,X)) local ax=X~=0 and not P(a.e,M) a.allowed,a.count,a.f=ax,W(bt(a,o)),'keep'
if ax and g==0 then a.ttl=W(ae(o,1000000000)) elseif ax then a.f,a.k='charge',aR(a,M) a.ttl=W(ae(M,1000000000)) else
if bG and X~=0 then a.f,a.k='rebase',aR(a,o) end bl(a,o) a.ttl=cH(a,g) end end local function bK(a)
if a.PARTIAL or a.ALWAYS then i().E(a) else local g=a.c a.l=g aA(a,g) end if a.SHADOW then i().D(a) end end
local function aD(a,C,ac) bl(a,(aw(a,ac))) end local function an(a) local I,k=a.f,k
aD(a,I,I=='keep'and a.j or I~='delete'and a.k or nil) local K,az,B,G,S=a.remaining,a.a,0,0,0 if not a.allowed then
local g=a.l B=k(a,a.w or(g==0 and 1 or g))or-1 if a.I and B>=0 then B=math.max(B,a.I) end end if K<az then
G=k(a,K+1)or-1 S=K+1==az and G or k(a,az)or-1 end if B-B~=0 or G-G~=0 or S-S~=0 or B>=(2^53)or S>=(2^53)then
i().g('INEXACT_REPLY') end return K,B,G,S,0 end local function ca(a,J) local K,B,G,S,bN=an(a) local cD=a.p and 1 or 0
return p( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().x(a)or 1)or 0,a.count,a.ttl,a.a,K,B,G,S, bN,a.now_ms,cD,J ) end local function cw(a,J)
local N=a.form if N=='LINE'then return ca(a,J) elseif N then return i().K(a,J) end
return{a.allowed and(a.PARTIAL and i().x(a)or 1)or 0,a.count,a.ttl} end local function cC(Y,n)
local a=cn(n,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cs(a,Y) cc(a,'read') bK(a) return cw(a,0)
end function i() if not au then local l={}
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
l.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local av={ __sub=function()
return 1 end, } local bB=setmetatable({9437184,14339741,14210},av) local function y(f) error({err=f},0) end
local function x(Z) y(l[Z]) end local function cA(a) if P(bB,a.e)then x('SPAN') end end local function aX(b,c)
for e=1,math.min(#b,#c)do local bx,by=b:byte(e),c:byte(e) if bx~=by then return bx<by end end return#b<#c end
local function am(f,aK) if f~='0'and not D(f,'^[1-9]%d*$')then return nil end
return(#f<#aK or(#f==#aK and not aX(aK,f)))and f or nil end local function aE(h)
if#h<=15 or(#h==16 and aX(h,'9007199254740992'))then return h+0 end local aF=#h%7 local d=aF>0 and h:sub(1,aF)+0 or 0
for e=aF+1,#h,7 do d=L(A(d,10000000),h:sub(e,e+6)+0) end return d end local function bM(f)
local h=am(f,'18446744073709551615') if not h then return nil end return{n=#h>3 and aE(h:sub(1,-4))or 0,q=h:sub(-3)+0}
end local function bS(f,m,cl) local cK={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'}
local aS=cK[ar(f,'^(%u):')] if not aS or aS==m then x(cl) end
y('ERR the key holds a state of '..aS..': use another key for each algorithm') end local function bR(ai)
if type(ai)=='table'then return ai elseif D(ai,'^%u+ ')then return redis.error_reply(ai) end error(ai,0) end
local function be(b,c) local aV,bE=b-b==0,c-c==0 if aV or bE then return aV elseif#b~=#c then return#b<#c end
for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function V(d) if d-d~=0 then return d
end local h,u={},0 while d>0 do local v=d%(2^24) u=u+1 h[u]=v d=(d-v)/(2^24) end return h end local function ao(h)
local u=#h while u>0 and h[u]==0 do h[u]=nil u=u-1 end if u>3 or(u==3 and h[3]>=(2^53)/(2^24)/(2^24))then
return setmetatable(h,av) end return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function bD(b,c)
b,c=V(b),V(c) local ab,H={},0 for d=1,math.max(#b,#c)+1 do local v=(b[d]or 0)+(c[d]or 0)+H H=v>=(2^24)and 1 or 0
ab[d]=v-H*(2^24) end return ao(ab) end local function cF(b,c) if not be(c,b)then return 0 end c=V(c) local aZ,ay={},0
for d=1,#b do local v=b[d]-(c[d]or 0)-ay ay=v<0 and 1 or 0 aZ[d]=v+ay*(2^24) end return ao(aZ) end
local function cf(b,c) b,c=V(b),V(c) local ah={} for d=1,#b+#c do ah[d]=0 end for d=1,#b do local H=0 for aI=1,#c do
local v=ah[d+aI-1]+b[d]*c[aI]+H H=math.floor(v/(2^24)) ah[d+aI-1]=v-H*(2^24) end ah[d+#c]=H end return ao(ah) end
local function aW(d) if d-d==0 then return d end local ab=0 for bX=#d,1,-1 do ab=ab*(2^24)+d[bX] end return ab end
local function bP(b,c) local aa=0 while not P(b,c)do local at=math.max(1,math.floor(aW(b)/aW(c)*(1-2^-45))) at=ao(V(at))
aa=L(aa,at) b=ak(b,A(at,c)) end return aa,b end local function bg(Z,f,bd) local h=f and am(f,'9223372036854775807')
local d=h and aE(h) if not d or d==0 and bd>0 then
y(p('ERR invalid %s: expected an integer from %d to 9223372036854775807',Z,bd)) elseif d-d~=0 then
y(p('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Z)) end return d end local aT={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function O(cb,m)
return not D(m,' ',1,true)and D(cb,' '..m..' ',1,true)~=nil end local function bp(a,j)
return not O(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or O((' COST PARTIAL BURST '),j)
end local function bY(m,j) local w,E=0,0 local bm,cd=math.min(#m,#j),math.max(#m,#j)
while w<bm and m:byte(w+1)==j:byte(w+1)do w=w+1 end while E<bm-w and m:byte(-1-E)==j:byte(-1-E)do E=E+1 end
return w+E>=2 and cd-w-E<=2 end local function bT(a,r,m) local R={} for C,s in ipairs(aT)do
if O(r,s[1])and bp(a,s[1])then R[#R+1]=s[2] end end for C,N in ipairs({'FULL','LINE','HEADERS'})do R[#R+1]=N end
for C,j in ipairs(R)do if bY(m:upper(),ar(j,'^%u+'))then y('ERR syntax error: no such option, but there is '..j) end end
local E=table.remove(R) local cI=table.concat(R,', ')
y('ERR syntax error: after limit come '..cI..' or '..E..', each at most once') end local function cy(s,a,r)
local j,cL=s[1],a.W if not O(r,j)then y(p('ERR invalid %s: only %s it',j,s[3])) elseif not bp(a,j)then
y(p('ERR invalid %s: %s takes none',j,('GCRA'))) elseif a[j]~=nil then
y(p('ERR syntax error: %s comes at most once',s[2])) end end local function aJ(b,c) return P(c,b)and c or b end
local bC=setmetatable({(2^24)-1,(2^24)-1,2^16-1},av) local function cq(j,f,cN) if j=='AS'then
return f and#f>=1 and#f<=64 and not D(f,'[^%w._-]')and f or x('AS') elseif j=='AT'then
local h=f and am(f,'9223372036854775807') return h and aJ(aE(h),(aB(bC,1000)))or x('AT') end
return bg(j,f,j=='BURST'and 1 or 0) end local function cx(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
x(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
x(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bz={FULL=true,LINE=true,HEADERS=true}
local function ci(N,bf) if N then x(N==bf and'FORM_TWICE'or'TWO_FORMS') end return bf end local function co(a,n,e,r)
while n[e]do local m,s=n[e]:upper(),nil for C,bc in ipairs(aT)do s=bc[1]==m and bc or s end if s then cy(s,a,r)
if s[2]==m then a[m]=true e=e+1 else a[m]=cq(m,n[e+1],n[e+2]) e=e+(m=='RESERVE'and 3 or 2) end cx(a)
elseif bz[m]and O(r,'form')then a.form=ci(a.form,m) e=e+1 else return e end end return e end
local aU={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cr(f) local Q,bs=ar(f,'^(%d+)(%l*)$')
local F=Q and aU[bs]and am(Q,'18446744073709551615')and Q*aU[bs] return F and F>=1 and F<=1e15 and F or nil end
local bA={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cJ(a,f) local t=cr(f)
if not t then a.U=f:upper() t=bA[a.U] if not t then
x(O((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not O((' COST PARTIAL BURST '),'ANCHOR')then
y(p('ERR invalid window: %s takes no windows of the calendar',('GCRA'))) end end return t end local function bV(z)
return z:sub(-9)==':reserved'or z:sub(-14)==':reserved:ends' end local function cz(z) if bV(z)then x('RESERVED_KEY') end
end local function bH(a) local cj=a.PARTIAL and a.l<a.c a.p=a.SHADOW and not a.r and(cj or not a.allowed)
if not a.allowed and(a.p or a.r)then a.allowed=true if not(nil)then local C,C,C,aP=an(a) a.ttl=T(aP) end end end
local function cv(a) aD(a,'keep',a.j) return a.remaining end local function cm(a,C,g) if g==0 or a.b==0 then
return'keep' end local o=aw(a,a.j) return'charge',aR(a,aJ(L(o,A(g,a.b)),a.e)) end local function cE(I,M,bF)
if I=='keep'then return bF end return I~='delete'and M or nil end local function ch(g) return g==0 and 1 or g end
local function bI(a) local g=a.c aA(a,0) local I,M=cm(a,nil,g) if g>0 then a.f,a.k=I,M end local bn=cE(a.f,a.k,a.j)
aD(a,a.f,bn) a.allowed=a.a>0 and k(a,0)==0 a.w=a.a>0 and g or ch(g) if(nil)then a.count,a.ttl=(nil)(bn,a.now_ms)
elseif a.allowed then a.ttl=T(W(k(a,a.a))) else local k=k(a,a.w) a.ttl=k and math.max(1,T(W(k)))or-1 end end
local function bJ(a) local g=a.c if a.PARTIAL then g=math.min(g,cv(a)) end a.l=g if a.ALWAYS then bI(a) else aA(a,g) end
end local function bh(a) return a.r and a.r.c or a.p and a.c or a.l end local function ba(a) if not a.allowed then
return 0 end return a.PARTIAL and bh(a)or 1 end local function bU(a,J) local K,cB,G,aP,bO=an(a) return{ 'allowed',ba(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.a, 'remaining',K, 'retry_after_ms',cB, 'next_ms',G, 'reset_ms',aP,
'delay_ms',bO, 'now_ms',a.now_ms, 'shadow',a.p and 1 or 0, 'charged',J, } end local function cg(aj) local bo={}
for C,a in ipairs(aj)do local w,Q=a.AS or('GCRA'):lower(),2 a.i=w while bo[a.i]do a.i=p('%s-%d',w,Q) Q=Q+1 end
bo[a.i]=true end end local function aq(d) return p('%.0f',aJ(d,999999999999999)) end local function ct(a)
local t=(nil)and(nil)(a)or a.z local aC,q=1000,t%1000 while q>0 do aC,q=q,aC%q end local bv=1000/aC
local ad=aB(A(t,bv),1000) return p('"%s";q=%s;w=%s',a.i,aq(A(a.limit,bv)),aq(ad)) end local function bZ(as,aN)
if as.allowed~=aN.allowed then return not as.allowed end local k,aO=as.retry_after_ms,aN.retry_after_ms if k~=aO then
return k<0 or(aO>=0 and k>aO) end return as.remaining<aN.remaining end local function bW(aj) local aQ,bi=aj[1],{} cg(aj)
for d,a in ipairs(aj)do bi[d]=ct(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=an(a) if bZ(a,aQ)then aQ=a end end
local a=aQ local al={ 'X-RateLimit-Limit', p('%.0f',a.a), 'X-RateLimit-Remaining', p('%.0f',a.remaining), }
local function ap(Z,U) al[#al+1]=Z al[#al+1]=U end if a.reset_ms>=0 then
ap('X-RateLimit-Reset',p('%.0f',T(a.now_ms+a.reset_ms))) end ap('RateLimit-Policy',table.concat(bi,', '))
local ce=a.next_ms>=0 and';t='..aq(T(a.next_ms))or'' ap('RateLimit',p('"%s";r=%s%s',a.i,aq(a.remaining),ce))
if not a.allowed and a.retry_after_ms>=0 then ap('Retry-After',p('%.0f',T(a.retry_after_ms))) end return al end
local function ck(a,J) if a.form=='FULL'then return bU(a,J) end return{ba(a),a.count,a.ttl,bW({a})} end
au={A=bD,D=bH,E=bJ,F=bM,t=bP,error_reply=bR,g=x,G=bS,H=bT,J=be,v=cf,K=ck,M=bg,N=co,x=bh,P=cz,Q=cA,S=cF,V=cJ} end
return au end local bQ,bk=pcall(cC,KEYS,ARGV) return bQ and bk or i().error_reply(bk)
