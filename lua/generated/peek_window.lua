-- RL.PEEK WINDOW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ax,j local J,s,ac,cP=string.find,string.format,string.match,string.sub local function bq(H) return H==''and 1000
or H=='ms'and 1 or H=='s'and 1000 or H=='m'and 60000 or H=='h'and 3600000 or H=='d'and 86400000 or nil end
local function cr(p,d,w) local ak,B,i=p[d],p[d+1],p[d+2] if not B then j().g('ARITY') end local a={ n='', q=0, now_ms=0,
i=0, K=0, limit=0, a=0, c=1, form=nil, delay=0, e=nil, f=nil, allowed=false, count=0, ttl=0, b='keep', remaining=0, j=1,
} d=d+2 if i=='LINE'and not p[d+1]and w~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,d=i,d+1
elseif i then local v=p[d+1]or''
local bc=w==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[d+2]=='LINE'and not p[d+3]and#v<16
if bc and i=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and J(v,'^[1-9]%d*$')then
a.form,a.c,d='LINE',v+0,d+3 elseif bc and i=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and v~=''then
a.form,a.ID,d='LINE',v,d+3 else d=j().D(a,p,d,w) a.c=a.COST or 1 end end local ca=#B<16 and J(B,'^[1-9]%d*$')
a.limit=ca and B+0 or j().B('limit',B,0) local F,H=ac(ak,'^([1-9]%d*)(%l*)$') local ai=F and#ak<16 and bq(H)
local q=ai and F*ai if not q or q<1 or q>1e15 then q=j().M(a,ak) end
a.i,a.K,a.a=q,q<9e12 and q*1000 or j().o(q,1000),a.BURST or a.limit return a,d end local function cp(p,w)
local a,d=cr(p,1,w) if p[d]then j().y(a,w,p[d]) end return a end local am=redis.call local function cv(a)
local by=am('TIME') local aK=by[1]*1000000+by[2] a.q,a.now_ms=aK,(aK-aK%1000)/1000 end local function cH(a,E,d,aQ,aG)
local m=E[d] if not m then j().g('KEYS') end a.n,d=m,d+1 if aG then a.h=m elseif J(m,':reserved',1,true)then j().E(m)
end if aQ then d=a.S and d+2 or j().G(a,E,d,m) end return d end local function ct(a,E,aQ,aG) cv(a)
if#E~=cH(a,E,1,aQ,aG)-1 then j().g('KEYS') end end local function ce(a) local m=a.n local f=am('GET',m) if f then
local v=#f<16 and J(f,'^[1-9]%d*$')and f+0 or j().J(f)
local C=redis.REDIS_VERSION_NUM and am('PEXPIRETIME',m)or j().x(m,a.now_ms)or-1 if C<0 then C=nil elseif C>=(2^53)then
j().g('INEXACT_STATE') end a.e={d=v,k=C} end end local function aO(a,r) local au=a.now_ms local C=r and r.k
if not r then return nil,0 elseif C and C<=au then return nil,0 end local be=au+a.i
return C and C<be and C or be,r.d>0 and r.d or 0 end local function ab(e) if e-e~=0 or e>=(2^53)then
j().g('INEXACT_REPLY') end return e end local function cJ(r,o) if o and o~=r.k then return'rebase',{d=r.d,k=o} end
return'keep' end local function ap(a,O,r) local o,I=aO(a,r) a.w,a.I,a.remaining=o,I,I<a.limit and a.limit-I or 0 end
local function bu(Q,ay,bI) if Q=='keep'then return bI end return Q~='delete'and ay or nil end local function T(L)
local t=L%1000 return L<0 and-1 or t==0 and L/1000 or(L-t)/1000+1 end local function al(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return j().s(b,c) end local function bP(b,c)
if b-b==0 and c-c==0 then local t=b%c return t==0 and b/c or(b-t)/c+1 end local Z,t=j().v(b,c)
return t==0 and Z or al(Z,1) end local function bv(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end
return j().F(b,c) end local function ae(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return j().o(b,c)
end local function k(a,g) local B=a.limit if g>B then return nil elseif a.I+g<=B then return 0 end
return bP(bv(ae(a.w,1000),a.q),1000) end local function cI(a,g) local k=k(a,g==0 and 1 or g) k=k and T(ab(k))or-1
return k==0 and 1 or k end local function aC(a,g) local r,B=a.e,a.limit local o,I=aO(a,r)
local az=I+(g==0 and 1 or g)<=B a.allowed,a.count=az,ab(I) if az and g>0 then o=o and r.d>=0 and o or a.now_ms+a.i
a.b,a.f='charge',{d=I+g,k=o} else a.b,a.f=cJ(r,o) end ap(a,a.b,bu(a.b,a.f,r)) if az then a.ttl=T(ab(k(a,B))) else
a.ttl=cI(a,g) end end local function bM(a) if a.PARTIAL or a.ALWAYS then j().u(a) else local g=a.c a.j=g aC(a,g) end
if a.SHADOW then j().t(a) end end local function ao(a) local Q,k=a.b,k
ap(a,Q,Q=='keep'and a.e or Q~='delete'and a.f or nil) local S,aB,G,N,X=a.remaining,a.a,0,0,0 if not a.allowed then
local g=a.j G=k(a,a.p or(g==0 and 1 or g))or-1 if a.z and G>=0 then G=math.max(G,a.z) end end if S<aB then
N=k(a,S+1)or-1 X=S+1==aB and N or k(a,aB)or-1 end if G-G~=0 or N-N~=0 or X-X~=0 or G>=(2^53)or X>=(2^53)then
j().g('INEXACT_REPLY') end return S,G,N,X,0 end local function cc(a,R) local S,G,N,X,bN=ao(a) local cD=a.l and 1 or 0
return s( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and j().r(a)or 1)or 0,a.count,a.ttl,a.a,S,G,N,X, bN,a.now_ms,cD,R ) end local function cx(a,R)
local U=a.form if U=='LINE'then return cc(a,R) elseif U then return j().A(a,R) end
return{a.allowed and(a.PARTIAL and j().r(a)or 1)or 0,a.count,a.ttl} end local function cC(E,p)
local a=cp(p,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') ct(a,E) ce(a,'read') bM(a) return cx(a,0)
end function j() if not ax then local l={} l.NOT_A_COUNTER='ERR value is not an integer or out of range'
l.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
l.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
l.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
l.ID='ERR invalid ID: expected 1 to 512 bytes'
l.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
l.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
l.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
l.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds' l.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
l.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
l.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
l.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
l.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
l.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
l.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
l.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' l.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
l.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
l.ARITY='ERR wrong number of arguments' local function D(f) error({err=f},0) end local function u(M) D(l[M]) end
local function bR(ag) if type(ag)=='table'then return ag elseif J(ag,'^%u+ ')then return redis.error_reply(ag) end
error(ag,0) end local function Y(e) if e-e~=0 then return e end local h,y={},0 while e>0 do local z=e%(2^24) y=y+1
h[y]=z e=(e-z)/(2^24) end return h end local aS={ __sub=function() return 1 end, } local function aq(h) local y=#h
while y>0 and h[y]==0 do h[y]=nil y=y-1 end if y>3 or(y==3 and h[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(h,aS)
end return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function bG(b,c) b,c=Y(b),Y(c) local aa,P={},0
for e=1,math.max(#b,#c)+1 do local z=(b[e]or 0)+(c[e]or 0)+P P=z>=(2^24)and 1 or 0 aa[e]=z-P*(2^24) end return aq(aa)
end local function bh(b,c) local aU,bH=b-b==0,c-c==0 if aU or bH then return aU elseif#b~=#c then return#b<#c end
for e=#b,1,-1 do if b[e]~=c[e]then return b[e]<c[e] end end return false end local function cF(b,c) if not bh(c,b)then
return 0 end c=Y(c) local aY,aA={},0 for e=1,#b do local z=b[e]-(c[e]or 0)-aA aA=z<0 and 1 or 0 aY[e]=z+aA*(2^24) end
return aq(aY) end local function ch(b,c) b,c=Y(b),Y(c) local af={} for e=1,#b+#c do af[e]=0 end for e=1,#b do local P=0
for aI=1,#c do local z=af[e+aI-1]+b[e]*c[aI]+P P=math.floor(z/(2^24)) af[e+aI-1]=z-P*(2^24) end af[e+#c]=P end
return aq(af) end local function aH(b,c) if b-b==0 and c-c==0 then return b<c end return bh(b,c) end
local function aV(e) if e-e==0 then return e end local aa=0 for bY=#e,1,-1 do aa=aa*(2^24)+e[bY] end return aa end
local function ba(b,c) local Z=0 while not aH(b,c)do local aw=math.max(1,math.floor(aV(b)/aV(c)*(1-2^-45))) aw=aq(Y(aw))
Z=al(Z,aw) b=bv(b,ae(aw,c)) end return Z,b end local function bS(m,au) local bg=am('PTTL',m)
return bg>=0 and au+bg or nil end local function aX(b,c) for d=1,math.min(#b,#c)do local bB,bC=b:byte(d),c:byte(d)
if bB~=bC then return bB<bC end end return#b<#c end local function an(f,ad) if f~='0'and not J(f,'^[1-9]%d*$')then
return nil end return(#f<#ad or(#f==#ad and not aX(ad,f)))and f or nil end local function bT(f,n,cn)
local cN={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aR=cN[ac(f,'^(%u):')] if not aR or aR==n then
u(cn) end D('ERR the key holds a state of '..aR..': use another key for each algorithm') end local function aE(h)
if#h<=15 or(#h==16 and aX(h,'9007199254740992'))then return h+0 end local aF=#h%7 local e=aF>0 and h:sub(1,aF)+0 or 0
for d=aF+1,#h,7 do e=al(ae(e,10000000),h:sub(d,d+6)+0) end return e end local function cL(f)
local cE,h=ac(f,'^(%-?)(%d+)$') local aJ=cE=='-' h=h and an(h,aJ and'9223372036854775808'or'9223372036854775807')
if not h or(aJ and h=='0')then bT(f,nil,'NOT_A_COUNTER') end local v=aE(h) if v-v~=0 then u('INEXACT_STATE') end
return aJ and-v or v end local function bk(M,f,bf) local h=f and an(f,'9223372036854775807') local e=h and aE(h)
if not e or e==0 and bf>0 then D(s('ERR invalid %s: expected an integer from %d to 9223372036854775807',M,bf))
elseif e-e~=0 then D(s('ERR invalid %s: the Lua library takes integers up to 9007199254740991',M)) end return e end
local aT={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function V(cd,n)
return not J(n,' ',1,true)and J(cd,' '..n..' ',1,true)~=nil end local function bx(a,i)
return not V(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',i)or V((' COST PARTIAL ALWAYS RESERVE RESERVATION '),i)
end local function bZ(n,i) local A,K=0,0 local bs,cf=math.min(#n,#i),math.max(#n,#i)
while A<bs and n:byte(A+1)==i:byte(A+1)do A=A+1 end while K<bs-A and n:byte(-1-K)==i:byte(-1-K)do K=K+1 end
return A+K>=2 and cf-A-K<=2 end local function bU(a,w,n) local W={} for O,x in ipairs(aT)do
if V(w,x[1])and bx(a,x[1])then W[#W+1]=x[2] end end for O,U in ipairs({'FULL','LINE','HEADERS'})do W[#W+1]=U end
for O,i in ipairs(W)do if bZ(n:upper(),ac(i,'^%u+'))then D('ERR syntax error: no such option, but there is '..i) end end
local K=table.remove(W) local cK=table.concat(W,', ')
D('ERR syntax error: after limit come '..cK..' or '..K..', each at most once') end local function cz(x,a,w)
local i,cO=x[1],a.N if not V(w,i)then D(s('ERR invalid %s: only %s it',i,x[3])) elseif not bx(a,i)then
D(s('ERR invalid %s: %s takes none',i,('WINDOW'))) elseif a[i]~=nil then
D(s('ERR syntax error: %s comes at most once',x[2])) end end local function bm(f) local F,H=ac(f,'^(%d+)(%l*)$')
local ai=F and bq(H) local L=ai and an(F,'18446744073709551615')and F*ai return L and L>=1 and L<=1e15 and L or nil end
local function bl(f,ad) return f and#f>=1 and#f<=ad and f end local function bi(b,c) return aH(c,b)and c or b end
local function aZ(b,c) if b-b==0 and c-c==0 then local t=b%c return(b-t)/c,t end return ba(b,c) end
local bF=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aS) local function cs(i,f,br) if i=='RESERVE'then
local bz=br and bm(br) return bl(f,128)and bz and{id=f,ttl=bz}or u('RESERVE') elseif i=='RESERVATION'then
return bl(f,128)or u('RESERVATION') end if i=='AS'then
return f and#f>=1 and#f<=64 and not J(f,'[^%w._-]')and f or u('AS') elseif i=='AT'then
local h=f and an(f,'9223372036854775807') return h and bi(aE(h),(aZ(bF,1000)))or u('AT') end
return bk(i,f,i=='BURST'and 1 or 0) end local function cy(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
u(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
u(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bD={FULL=true,LINE=true,HEADERS=true}
local function ck(U,bj) if U then u(U==bj and'FORM_TWICE'or'TWO_FORMS') end return bj end local function cq(a,p,d,w)
while p[d]do local n,x=p[d]:upper(),nil for O,bd in ipairs(aT)do x=bd[1]==n and bd or x end if x then cz(x,a,w)
if x[2]==n then a[n]=true d=d+1 else a[n]=cs(n,p[d+1],p[d+2]) d=d+(n=='RESERVE'and 3 or 2) end cy(a)
elseif bD[n]and V(w,'form')then a.form=ck(a.form,n) d=d+1 else return d end end return d end
local bE={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cM(a,f) local q=bm(f)
if not q then a.H=f:upper() q=bE[a.H] if not q then
u(V((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not V((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
D(s('ERR invalid window: %s takes no windows of the calendar',('WINDOW'))) end end return q end local function bW(m)
return m:sub(-9)==':reserved'or m:sub(-14)==':reserved:ends' end local function cA(m) if bW(m)then u('RESERVED_KEY') end
end local function cG(a,E,d,m) local ar,o=E[d]or'',E[d+1] local M=((nil)and(nil)(a)or'')..':reserved'
if(ar~=m..M and ar~='{'..m..'}'..M)or o~=ar..':ends'then u('KEYS') end a.Q,a.P=ar,o return d+2 end local function bJ(a)
local cl=a.PARTIAL and a.j<a.c a.l=a.SHADOW and not a.m and(cl or not a.allowed) if not a.allowed and(a.l or a.m)then
a.allowed=true if not(nil)then local O,O,O,aN=ao(a) a.ttl=T(aN) end end end local function cw(a) ap(a,'keep',a.e)
return a.remaining end local function co(a,aW,g) if g==0 or(aW and not aH(a.now_ms,al(aW,a.i)))then return'keep' end
local o,I=aO(a,a.e) if I+g>=(2^53)then u('INEXACT_REPLY') end o=o and a.e.d>=0 and o or a.now_ms+a.i
return'charge',{d=I+g,k=o} end local function cj(g) return g==0 and 1 or g end local function bK(a) local g=a.c aC(a,0)
local Q,ay=co(a,nil,g) if g>0 then a.b,a.f=Q,ay end local bt=bu(a.b,a.f,a.e) ap(a,a.b,bt) a.allowed=a.a>0 and k(a,0)==0
a.p=a.a>0 and g or cj(g) if(nil)then a.count,a.ttl=(nil)(bt,a.now_ms) elseif a.allowed then a.ttl=T(ab(k(a,a.a))) else
local k=k(a,a.p) a.ttl=k and math.max(1,T(ab(k)))or-1 end end local function bL(a) local g=a.c if a.PARTIAL then
g=math.min(g,cw(a)) end a.j=g if a.ALWAYS then bK(a) else aC(a,g) end end local function bn(a)
return a.m and a.m.c or a.l and a.c or a.j end local function bb(a) if not a.allowed then return 0 end
return a.PARTIAL and bn(a)or 1 end local function bV(a,R) local S,cB,N,aN,bO=ao(a) return{ 'allowed',bb(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.a, 'remaining',S, 'retry_after_ms',cB, 'next_ms',N, 'reset_ms',aN,
'delay_ms',bO, 'now_ms',a.now_ms, 'shadow',a.l and 1 or 0, 'charged',R, } end local function ci(ah) local bw={}
for O,a in ipairs(ah)do local A,F=a.AS or('WINDOW'):lower(),2 a.h=A while bw[a.h]do a.h=s('%s-%d',A,F) F=F+1 end
bw[a.h]=true end end local function at(e) return s('%.0f',bi(e,999999999999999)) end local function cu(a)
local q=(nil)and(nil)(a)or a.i local aD,t=1000,q%1000 while t>0 do aD,t=t,aD%t end local bA=1000/aD
local ak=aZ(ae(q,bA),1000) return s('"%s";q=%s;w=%s',a.h,at(ae(a.limit,bA)),at(ak)) end local function cb(av,aL)
if av.allowed~=aL.allowed then return not av.allowed end local k,aM=av.retry_after_ms,aL.retry_after_ms if k~=aM then
return k<0 or(aM>=0 and k>aM) end return av.remaining<aL.remaining end local function bX(ah) local aP,bo=ah[1],{} ci(ah)
for e,a in ipairs(ah)do bo[e]=cu(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ao(a) if cb(a,aP)then aP=a end end
local a=aP local aj={ 'X-RateLimit-Limit', s('%.0f',a.a), 'X-RateLimit-Remaining', s('%.0f',a.remaining), }
local function as(M,v) aj[#aj+1]=M aj[#aj+1]=v end if a.reset_ms>=0 then
as('X-RateLimit-Reset',s('%.0f',T(a.now_ms+a.reset_ms))) end as('RateLimit-Policy',table.concat(bo,', '))
local cg=a.next_ms>=0 and';t='..at(T(a.next_ms))or'' as('RateLimit',s('"%s";r=%s%s',a.h,at(a.remaining),cg))
if not a.allowed and a.retry_after_ms>=0 then as('Retry-After',s('%.0f',T(a.retry_after_ms))) end return aj end
local function cm(a,R) if a.form=='FULL'then return bV(a,R) end return{bb(a),a.count,a.ttl,bX({a})} end
ax={s=bG,t=bJ,u=bL,v=ba,error_reply=bR,x=bS,g=u,y=bU,o=ch,A=cm,B=bk,D=cq,r=bn,E=cA,F=cF,G=cG,J=cL,M=cM} end return ax
end local bQ,bp=pcall(cC,KEYS,ARGV) return bQ and bp or j().error_reply(bp)
