-- RL.PEEK WINDOW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local av,j local E,r,ar,cO=string.find,string.format,string.match,string.sub local function cq(p,d,v)
local aa,B,i=p[d],p[d+1],p[d+2] if not B then j().i('ARITY') end local a={ q='', u=0, now_ms=0, k=0, Q=0, limit=0, a=0,
c=1, form=nil, delay=0, f=nil, g=nil, allowed=false, count=0, ttl=0, b='keep', remaining=0, l=1, } d=d+2
if i=='LINE'and not p[d+1]and v~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,d=i,d+1 elseif i then
local u=p[d+1]or''
local bc=v==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[d+2]=='LINE'and not p[d+3]and#u<16
if bc and i=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and E(u,'^[1-9]%d*$')then
a.form,a.c,d='LINE',u+0,d+3 elseif bc and i=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and u~=''then
a.form,a.ID,d='LINE',u,d+3 else d=j().H(a,p,d,v) a.c=a.COST or 1 end end local aE=#B<16 and E(B,'^[1-9]%d*$')
a.limit=aE and B+0 or j().G('limit',B,0) aE=#aa<10 and E(aa,'^[1-9]%d*$') local x=aE and aa*1000 or j().S(a,aa)
a.k,a.Q,a.a=x,x<9e12 and x*1000 or j().r(x,1000),a.BURST or a.limit return a,d end local function co(p,v)
local a,d=cq(p,1,v) if p[d]then j().D(a,v,p[d]) end return a end local aj=redis.call local function cu(a)
local bx=aj('TIME') local aJ=bx[1]*1000000+bx[2] a.u,a.now_ms=aJ,(aJ-aJ%1000)/1000 end local function cG(a,F,d,aP,aF)
local m=F[d] if not m then j().i('KEYS') end a.q,d=m,d+1 if aF then a.j=m elseif E(m,':reserved',1,true)then j().I(m)
end if aP then d=a.X and d+2 or j().K(a,F,d,m) end return d end local function cs(a,F,aP,aF) cu(a)
if#F~=cG(a,F,1,aP,aF)-1 then j().i('KEYS') end end local function cd(a) local m=a.q local f=aj('GET',m) if f then
local u=#f<16 and E(f,'^[1-9]%d*$')and f+0 or j().P(f)
local C=redis.REDIS_VERSION_NUM and aj('PEXPIRETIME',m)or j().B(m,a.now_ms)or-1 if C<0 then C=nil elseif C>=(2^53)then
j().i('INEXACT_STATE') end a.f={e=u,n=C} end end local function aN(a,q) local as=a.now_ms local C=q and q.n
if not q then return nil,0 elseif C and C<=as then return nil,0 end local be=as+a.k
return C and C<be and C or be,q.e>0 and q.e or 0 end local function ab(e) if e-e~=0 or e>=(2^53)then
j().i('INEXACT_REPLY') end return e end local function cI(q,o) if o and o~=q.n then return'rebase',{e=q.e,n=o} end
return'keep' end local function am(a,M,q) local o,H=aN(a,q) a.A,a.N,a.remaining=o,H,H<a.limit and a.limit-H or 0 end
local function bt(O,aw,bI) if O=='keep'then return bI end return O~='delete'and aw or nil end local function R(J)
local s=J%1000 return J<0 and-1 or s==0 and J/1000 or(J-s)/1000+1 end local function ai(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return j().w(b,c) end local function bP(b,c)
if b-b==0 and c-c==0 then local s=b%c return s==0 and b/c or(b-s)/c+1 end local Y,s=j().z(b,c)
return s==0 and Y or ai(Y,1) end local function bu(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end
return j().J(b,c) end local function ad(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return j().r(b,c)
end local function k(a,g) local B=a.limit if g>B then return nil elseif a.N+g<=B then return 0 end
return bP(bu(ad(a.A,1000),a.u),1000) end local function cH(a,g) local k=k(a,g==0 and 1 or g) k=k and R(ab(k))or-1
return k==0 and 1 or k end local function aA(a,g) local q,B=a.f,a.limit local o,H=aN(a,q)
local ax=H+(g==0 and 1 or g)<=B a.allowed,a.count=ax,ab(H) if ax and g>0 then o=o and q.e>=0 and o or a.now_ms+a.k
a.b,a.g='charge',{e=H+g,n=o} else a.b,a.g=cI(q,o) end am(a,a.b,bt(a.b,a.g,q)) if ax then a.ttl=R(ab(k(a,B))) else
a.ttl=cH(a,g) end end local function bM(a) if a.PARTIAL or a.ALWAYS then j().y(a) else local g=a.c a.l=g aA(a,g) end
if a.SHADOW then j().x(a) end end local function al(a) local O,k=a.b,k
am(a,O,O=='keep'and a.f or O~='delete'and a.g or nil) local Q,az,G,L,W=a.remaining,a.a,0,0,0 if not a.allowed then
local g=a.l G=k(a,a.t or(g==0 and 1 or g))or-1 if a.E and G>=0 then G=math.max(G,a.E) end end if Q<az then
L=k(a,Q+1)or-1 W=Q+1==az and L or k(a,az)or-1 end if G-G~=0 or L-L~=0 or W-W~=0 or G>=(2^53)or W>=(2^53)then
j().i('INEXACT_REPLY') end return Q,G,L,W,0 end local function cb(a,P) local Q,G,L,W,bN=al(a) local cC=a.o and 1 or 0
return r( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and j().v(a)or 1)or 0,a.count,a.ttl,a.a,Q,G,L,W, bN,a.now_ms,cC,P ) end local function cw(a,P)
local S=a.form if S=='LINE'then return cb(a,P) elseif S then return j().F(a,P) end
return{a.allowed and(a.PARTIAL and j().v(a)or 1)or 0,a.count,a.ttl} end local function cB(F,p)
local a=co(p,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cs(a,F) cd(a,'read') bM(a) return cw(a,0)
end function j() if not av then local l={} l.NOT_A_COUNTER='ERR value is not an integer or out of range'
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
l.ARITY='ERR wrong number of arguments' local function D(f) error({err=f},0) end local function t(K) D(l[K]) end
local function bR(af) if type(af)=='table'then return af elseif E(af,'^%u+ ')then return redis.error_reply(af) end
error(af,0) end local function X(e) if e-e~=0 then return e end local h,y={},0 while e>0 do local z=e%(2^24) y=y+1
h[y]=z e=(e-z)/(2^24) end return h end local aR={ __sub=function() return 1 end, } local function an(h) local y=#h
while y>0 and h[y]==0 do h[y]=nil y=y-1 end if y>3 or(y==3 and h[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(h,aR)
end return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function bG(b,c) b,c=X(b),X(c) local Z,N={},0
for e=1,math.max(#b,#c)+1 do local z=(b[e]or 0)+(c[e]or 0)+N N=z>=(2^24)and 1 or 0 Z[e]=z-N*(2^24) end return an(Z) end
local function bh(b,c) local aU,bH=b-b==0,c-c==0 if aU or bH then return aU elseif#b~=#c then return#b<#c end
for e=#b,1,-1 do if b[e]~=c[e]then return b[e]<c[e] end end return false end local function cE(b,c) if not bh(c,b)then
return 0 end c=X(c) local aY,ay={},0 for e=1,#b do local z=b[e]-(c[e]or 0)-ay ay=z<0 and 1 or 0 aY[e]=z+ay*(2^24) end
return an(aY) end local function cg(b,c) b,c=X(b),X(c) local ae={} for e=1,#b+#c do ae[e]=0 end for e=1,#b do local N=0
for aH=1,#c do local z=ae[e+aH-1]+b[e]*c[aH]+N N=math.floor(z/(2^24)) ae[e+aH-1]=z-N*(2^24) end ae[e+#c]=N end
return an(ae) end local function aG(b,c) if b-b==0 and c-c==0 then return b<c end return bh(b,c) end
local function aV(e) if e-e==0 then return e end local Z=0 for bY=#e,1,-1 do Z=Z*(2^24)+e[bY] end return Z end
local function ba(b,c) local Y=0 while not aG(b,c)do local au=math.max(1,math.floor(aV(b)/aV(c)*(1-2^-45))) au=an(X(au))
Y=ai(Y,au) b=bu(b,ad(au,c)) end return Y,b end local function bS(m,as) local bg=aj('PTTL',m)
return bg>=0 and as+bg or nil end local function aX(b,c) for d=1,math.min(#b,#c)do local bB,bC=b:byte(d),c:byte(d)
if bB~=bC then return bB<bC end end return#b<#c end local function ak(f,ac) if f~='0'and not E(f,'^[1-9]%d*$')then
return nil end return(#f<#ac or(#f==#ac and not aX(ac,f)))and f or nil end local function bT(f,n,cm)
local cM={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aQ=cM[ar(f,'^(%u):')] if not aQ or aQ==n then
t(cm) end D('ERR the key holds a state of '..aQ..': use another key for each algorithm') end local function aC(h)
if#h<=15 or(#h==16 and aX(h,'9007199254740992'))then return h+0 end local aD=#h%7 local e=aD>0 and h:sub(1,aD)+0 or 0
for d=aD+1,#h,7 do e=ai(ad(e,10000000),h:sub(d,d+6)+0) end return e end local function cK(f)
local cD,h=ar(f,'^(%-?)(%d+)$') local aI=cD=='-' h=h and ak(h,aI and'9223372036854775808'or'9223372036854775807')
if not h or(aI and h=='0')then bT(f,nil,'NOT_A_COUNTER') end local u=aC(h) if u-u~=0 then t('INEXACT_STATE') end
return aI and-u or u end local function bk(K,f,bf) local h=f and ak(f,'9223372036854775807') local e=h and aC(h)
if not e or e==0 and bf>0 then D(r('ERR invalid %s: expected an integer from %d to 9223372036854775807',K,bf))
elseif e-e~=0 then D(r('ERR invalid %s: the Lua library takes integers up to 9007199254740991',K)) end return e end
local aS={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function T(cc,n)
return not E(n,' ',1,true)and E(cc,' '..n..' ',1,true)~=nil end local function bw(a,i)
return not T(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',i)or T((' COST PARTIAL ALWAYS RESERVE RESERVATION '),i)
end local function bZ(n,i) local A,I=0,0 local br,ce=math.min(#n,#i),math.max(#n,#i)
while A<br and n:byte(A+1)==i:byte(A+1)do A=A+1 end while I<br-A and n:byte(-1-I)==i:byte(-1-I)do I=I+1 end
return A+I>=2 and ce-A-I<=2 end local function bU(a,v,n) local V={} for M,w in ipairs(aS)do
if T(v,w[1])and bw(a,w[1])then V[#V+1]=w[2] end end for M,S in ipairs({'FULL','LINE','HEADERS'})do V[#V+1]=S end
for M,i in ipairs(V)do if bZ(n:upper(),ar(i,'^%u+'))then D('ERR syntax error: no such option, but there is '..i) end end
local I=table.remove(V) local cJ=table.concat(V,', ')
D('ERR syntax error: after limit come '..cJ..' or '..I..', each at most once') end local function cy(w,a,v)
local i,cN=w[1],a.U if not T(v,i)then D(r('ERR invalid %s: only %s it',i,w[3])) elseif not bw(a,i)then
D(r('ERR invalid %s: %s takes none',i,('WINDOW'))) elseif a[i]~=nil then
D(r('ERR syntax error: %s comes at most once',w[2])) end end
local aT={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bm(f) local U,bz=ar(f,'^(%d+)(%l*)$')
local J=U and aT[bz]and ak(U,'18446744073709551615')and U*aT[bz] return J and J>=1 and J<=1e15 and J or nil end
local function bl(f,ac) return f and#f>=1 and#f<=ac and f end local function bi(b,c) return aG(c,b)and c or b end
local function aZ(b,c) if b-b==0 and c-c==0 then local s=b%c return(b-s)/c,s end return ba(b,c) end
local bF=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aR) local function cr(i,f,bq) if i=='RESERVE'then
local by=bq and bm(bq) return bl(f,128)and by and{id=f,ttl=by}or t('RESERVE') elseif i=='RESERVATION'then
return bl(f,128)or t('RESERVATION') end if i=='AS'then
return f and#f>=1 and#f<=64 and not E(f,'[^%w._-]')and f or t('AS') elseif i=='AT'then
local h=f and ak(f,'9223372036854775807') return h and bi(aC(h),(aZ(bF,1000)))or t('AT') end
return bk(i,f,i=='BURST'and 1 or 0) end local function cx(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
t(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
t(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bD={FULL=true,LINE=true,HEADERS=true}
local function cj(S,bj) if S then t(S==bj and'FORM_TWICE'or'TWO_FORMS') end return bj end local function cp(a,p,d,v)
while p[d]do local n,w=p[d]:upper(),nil for M,bd in ipairs(aS)do w=bd[1]==n and bd or w end if w then cy(w,a,v)
if w[2]==n then a[n]=true d=d+1 else a[n]=cr(n,p[d+1],p[d+2]) d=d+(n=='RESERVE'and 3 or 2) end cx(a)
elseif bD[n]and T(v,'form')then a.form=cj(a.form,n) d=d+1 else return d end end return d end
local bE={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cL(a,f) local x=bm(f)
if not x then a.M=f:upper() x=bE[a.M] if not x then
t(T((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not T((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
D(r('ERR invalid window: %s takes no windows of the calendar',('WINDOW'))) end end return x end local function bW(m)
return m:sub(-9)==':reserved'or m:sub(-14)==':reserved:ends' end local function cz(m) if bW(m)then t('RESERVED_KEY') end
end local function cF(a,F,d,m) local ao,o=F[d]or'',F[d+1] local K=((nil)and(nil)(a)or'')..':reserved'
if(ao~=m..K and ao~='{'..m..'}'..K)or o~=ao..':ends'then t('KEYS') end a.W,a.V=ao,o return d+2 end local function bJ(a)
local ck=a.PARTIAL and a.l<a.c a.o=a.SHADOW and not a.p and(ck or not a.allowed) if not a.allowed and(a.o or a.p)then
a.allowed=true if not(nil)then local M,M,M,aM=al(a) a.ttl=R(aM) end end end local function cv(a) am(a,'keep',a.f)
return a.remaining end local function cn(a,aW,g) if g==0 or(aW and not aG(a.now_ms,ai(aW,a.k)))then return'keep' end
local o,H=aN(a,a.f) if H+g>=(2^53)then t('INEXACT_REPLY') end o=o and a.f.e>=0 and o or a.now_ms+a.k
return'charge',{e=H+g,n=o} end local function ci(g) return g==0 and 1 or g end local function bK(a) local g=a.c aA(a,0)
local O,aw=cn(a,nil,g) if g>0 then a.b,a.g=O,aw end local bs=bt(a.b,a.g,a.f) am(a,a.b,bs) a.allowed=a.a>0 and k(a,0)==0
a.t=a.a>0 and g or ci(g) if(nil)then a.count,a.ttl=(nil)(bs,a.now_ms) elseif a.allowed then a.ttl=R(ab(k(a,a.a))) else
local k=k(a,a.t) a.ttl=k and math.max(1,R(ab(k)))or-1 end end local function bL(a) local g=a.c if a.PARTIAL then
g=math.min(g,cv(a)) end a.l=g if a.ALWAYS then bK(a) else aA(a,g) end end local function bn(a)
return a.p and a.p.c or a.o and a.c or a.l end local function bb(a) if not a.allowed then return 0 end
return a.PARTIAL and bn(a)or 1 end local function bV(a,P) local Q,cA,L,aM,bO=al(a) return{ 'allowed',bb(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.a, 'remaining',Q, 'retry_after_ms',cA, 'next_ms',L, 'reset_ms',aM,
'delay_ms',bO, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',P, } end local function ch(ag) local bv={}
for M,a in ipairs(ag)do local A,U=a.AS or('WINDOW'):lower(),2 a.j=A while bv[a.j]do a.j=r('%s-%d',A,U) U=U+1 end
bv[a.j]=true end end local function aq(e) return r('%.0f',bi(e,999999999999999)) end local function ct(a)
local x=(nil)and(nil)(a)or a.k local aB,s=1000,x%1000 while s>0 do aB,s=s,aB%s end local bA=1000/aB
local aa=aZ(ad(x,bA),1000) return r('"%s";q=%s;w=%s',a.j,aq(ad(a.limit,bA)),aq(aa)) end local function ca(at,aK)
if at.allowed~=aK.allowed then return not at.allowed end local k,aL=at.retry_after_ms,aK.retry_after_ms if k~=aL then
return k<0 or(aL>=0 and k>aL) end return at.remaining<aK.remaining end local function bX(ag) local aO,bo=ag[1],{} ch(ag)
for e,a in ipairs(ag)do bo[e]=ct(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=al(a) if ca(a,aO)then aO=a end end
local a=aO local ah={ 'X-RateLimit-Limit', r('%.0f',a.a), 'X-RateLimit-Remaining', r('%.0f',a.remaining), }
local function ap(K,u) ah[#ah+1]=K ah[#ah+1]=u end if a.reset_ms>=0 then
ap('X-RateLimit-Reset',r('%.0f',R(a.now_ms+a.reset_ms))) end ap('RateLimit-Policy',table.concat(bo,', '))
local cf=a.next_ms>=0 and';t='..aq(R(a.next_ms))or'' ap('RateLimit',r('"%s";r=%s%s',a.j,aq(a.remaining),cf))
if not a.allowed and a.retry_after_ms>=0 then ap('Retry-After',r('%.0f',R(a.retry_after_ms))) end return ah end
local function cl(a,P) if a.form=='FULL'then return bV(a,P) end return{bb(a),a.count,a.ttl,bX({a})} end
av={w=bG,x=bJ,y=bL,z=ba,error_reply=bR,B=bS,i=t,D=bU,r=cg,F=cl,G=bk,H=cp,v=bn,I=cz,J=cE,K=cF,P=cK,S=cL} end return av
end local bQ,bp=pcall(cB,KEYS,ARGV) return bQ and bp or j().error_reply(bp)
