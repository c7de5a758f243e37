-- RL.REFUND WINDOW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aC,i local I,s,aw,da=string.find,string.format,string.match,string.sub local function cA(o,e,v)
local ae,F,j=o[e],o[e+1],o[e+2] if not F then i().i('ARITY') end local a={ p='', u=0, now_ms=0, j=0, V=0, limit=0, f=0,
e=1, form=nil, delay=0, a=nil, k=nil, allowed=false, count=0, ttl=0, g='keep', remaining=0, n=1, } e=e+2
if j=='LINE'and not o[e+1]and v~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=j,e+1 elseif j then
local y=o[e+1]or''
local bj=v==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and o[e+2]=='LINE'and not o[e+3]and#y<16
if bj and j=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and I(y,'^[1-9]%d*$')then
a.form,a.e,e='LINE',y+0,e+3 elseif bj and j=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and y~=''then
a.form,a.ID,e='LINE',y,e+3 else e=i().J(a,o,e,v) a.e=a.COST or 1 end end local aL=#F<16 and I(F,'^[1-9]%d*$')
a.limit=aL and F+0 or i().I('limit',F,0) aL=#ae<10 and I(ae,'^[1-9]%d*$') local B=aL and ae*1000 or i().W(a,ae)
a.j,a.V,a.f=B,B<9e12 and B*1000 or i().r(B,1000),a.BURST or a.limit return a,e end local function cx(o,v)
local a,e=cA(o,1,v) if o[e]then i().E(a,v,o[e]) end return a end local function cy(o,v) if not o[1+1]then i().i('ARITY')
end return cx(o,v) end local S=redis.call local function cE(a) local bC=S('TIME') local aP=bC[1]*1000000+bC[2]
a.u,a.now_ms=aP,(aP-aP%1000)/1000 end local function cS(a,J,e,aW,aM) local k=J[e] if not k then i().i('KEYS') end
a.p,e=k,e+1 if aM then a.l=k elseif I(k,':reserved',1,true)then i().K(k) end if aW then e=a.ac and e+2 or i().P(a,J,e,k)
end return e end local function cC(a,J,aW,aM) cE(a) if#J~=cS(a,J,1,aW,aM)-1 then i().i('KEYS') end end
local function cm(a) local k=a.p local f=S('GET',k) if f then local y=#f<16 and I(f,'^[1-9]%d*$')and f+0 or i().U(f)
local z=redis.REDIS_VERSION_NUM and S('PEXPIRETIME',k)or i().D(k,a.now_ms)or-1 if z<0 then z=nil elseif z>=(2^53)then
i().i('INEXACT_STATE') end a.a={b=y,c=z} end end local function aB(n,q,L) if n=='keep'then return L end
return n~='delete'and q or nil end local function ah(b,c) if b-b==0 and c-c==0 then return b<c end return i().G(b,c) end
local function aA(a,t) local ax=a.now_ms local z=t and t.c if not t then return nil,0 elseif z and z<=ax then
return nil,0 end local bl=ax+a.j return z and z<bl and z or bl,t.b>0 and t.b or 0 end local function ag(d)
if d-d~=0 or d>=(2^53)then i().i('INEXACT_REPLY') end return d end local function bE(t,l) if l and l~=t.c then
return'rebase',{b=t.b,c=l} end return'keep' end local function ar(a,Q,t) local l,x=aA(a,t)
a.B,a.S,a.remaining=l,x,x<a.limit and a.limit-x or 0 end local function V(N) local u=N%1000
return N<0 and-1 or u==0 and N/1000 or(N-u)/1000+1 end local function af(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then
return b+c end return i().w(b,c) end local function bX(b,c) if b-b==0 and c-c==0 then local u=b%c
return u==0 and b/c or(b-u)/c+1 end local ac,u=i().A(b,c) return u==0 and ac or af(ac,1) end local function bz(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return i().N(b,c) end local function aj(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return i().r(b,c) end local function m(a,g) local F=a.limit
if g>F then return nil elseif a.S+g<=F then return 0 end return bX(bz(aj(a.B,1000),a.u),1000) end local function cU(a,g)
local m=m(a,g==0 and 1 or g) m=m and V(ag(m))or-1 return m==0 and 1 or m end local function aG(a,g)
local t,F=a.a,a.limit local l,x=aA(a,t) local aD=x+(g==0 and 1 or g)<=F a.allowed,a.count=aD,ag(x) if aD and g>0 then
l=l and t.b>=0 and l or a.now_ms+a.j a.g,a.k='charge',{b=x+g,c=l} else a.g,a.k=bE(t,l) end ar(a,a.g,aB(a.g,a.k,t))
if aD then a.ttl=V(ag(m(a,F))) else a.ttl=cU(a,g) end end local function bU(a) if a.PARTIAL or a.ALWAYS then i().z(a)
else local g=a.e a.n=g aG(a,g) end if a.SHADOW then i().y(a) end end local function aq(a) local n,m=a.g,m
ar(a,n,n=='keep'and a.a or n~='delete'and a.k or nil) local U,aF,K,P,aa=a.remaining,a.f,0,0,0 if not a.allowed then
local g=a.n K=m(a,a.t or(g==0 and 1 or g))or-1 if a.F and K>=0 then K=math.max(K,a.F) end end if U<aF then
P=m(a,U+1)or-1 aa=U+1==aF and P or m(a,aF)or-1 end if K-K~=0 or P-P~=0 or aa-aa~=0 or K>=(2^53)or aa>=(2^53)then
i().i('INEXACT_REPLY') end return U,K,P,aa,0 end local function ck(a,G) local U,K,P,aa,bV=aq(a) local cO=a.o and 1 or 0
return s( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().v(a)or 1)or 0,a.count,a.ttl,a.f,U,K,P,aa, bV,a.now_ms,cO,G ) end local function cH(a,G)
local W=a.form if W=='LINE'then return ck(a,G) elseif W then return i().H(a,G) end
return{a.allowed and(a.PARTIAL and i().v(a)or 1)or 0,a.count,a.ttl} end local function bR(a,n,q,G) local bc
local z,L,an=nil,a.a,aB(n,q,a.a) if z and ah(z,a.now_ms)then an=nil end a.a=an bU(a) bc=cH(a,G) a.a=L if not a.ab then
i().x(a,n,q) end return bc end local function cM(J,o) local a=cy(o,' form COST AT BURST BLOCK MAX ANCHOR ') cC(a,J)
cm(a,'write') local n,q=i().refund(a,a.AT,a.e) return bR(a,n,q,0) end function i() if not aC then local p={}
p.NOT_A_COUNTER='ERR value is not an integer or out of range'
p.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
p.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
p.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
p.ID='ERR invalid ID: expected 1 to 512 bytes'
p.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
p.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
p.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
p.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds' p.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
p.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
p.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
p.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
p.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
p.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
p.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
p.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
p.ARITY='ERR wrong number of arguments' local function cF(a,R,g) local t=a.a local l,x=aA(a,t)
local ch=l and R and ah(af(R,a.j),l) if not l or x==0 or ch or g==0 then return bE(t,l) elseif g>=x then return'delete'
end return'refund',{b=x-g,c=l} end local function H(f) error({err=f},0) end local function w(O) H(p[O]) end
local function bZ(al) if type(al)=='table'then return al elseif I(al,'^%u+ ')then return redis.error_reply(al) end
error(al,0) end local function bo(b,c) local bb,bN=b-b==0,c-c==0 if bb or bN then return bb elseif#b~=#c then
return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function ab(d)
if d-d~=0 then return d end local h,C={},0 while d>0 do local D=d%(2^24) C=C+1 h[C]=D d=(d-D)/(2^24) end return h end
local aY={ __sub=function() return 1 end, } local function as(h) local C=#h while C>0 and h[C]==0 do h[C]=nil C=C-1 end
if C>3 or(C==3 and h[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(h,aY) end
return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function bM(b,c) b,c=ab(b),ab(c) local ad,T={},0
for d=1,math.max(#b,#c)+1 do local D=(b[d]or 0)+(c[d]or 0)+T T=D>=(2^24)and 1 or 0 ad[d]=D-T*(2^24) end return as(ad)
end local function cQ(b,c) if not bo(c,b)then return 0 end c=ab(c) local bg,aE={},0 for d=1,#b do
local D=b[d]-(c[d]or 0)-aE aE=D<0 and 1 or 0 bg[d]=D+aE*(2^24) end return as(bg) end local function cp(b,c)
b,c=ab(b),ab(c) local ak={} for d=1,#b+#c do ak[d]=0 end for d=1,#b do local T=0 for aN=1,#c do
local D=ak[d+aN-1]+b[d]*c[aN]+T T=math.floor(D/(2^24)) ak[d+aN-1]=D-T*(2^24) end ak[d+#c]=T end return as(ak) end
local function bd(d) if d-d==0 then return d end local ad=0 for cg=#d,1,-1 do ad=ad*(2^24)+d[cg] end return ad end
local function bh(b,c) local ac=0 while not ah(b,c)do local az=math.max(1,math.floor(bd(b)/bd(c)*(1-2^-45)))
az=as(ab(az)) ac=af(ac,az) b=bz(b,aj(az,c)) end return ac,b end local function ca(k,ax) local bn=S('PTTL',k)
return bn>=0 and ax+bn or nil end local function be(b,c) for e=1,math.min(#b,#c)do local bH,bI=b:byte(e),c:byte(e)
if bH~=bI then return bH<bI end end return#b<#c end local function ap(f,ai) if f~='0'and not I(f,'^[1-9]%d*$')then
return nil end return(#f<#ai or(#f==#ai and not be(ai,f)))and f or nil end local function cb(f,r,cv)
local cY={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aX=cY[aw(f,'^(%u):')] if not aX or aX==r then
w(cv) end H('ERR the key holds a state of '..aX..': use another key for each algorithm') end local function aJ(h)
if#h<=15 or(#h==16 and be(h,'9007199254740992'))then return h+0 end local aK=#h%7 local d=aK>0 and h:sub(1,aK)+0 or 0
for e=aK+1,#h,7 do d=af(aj(d,10000000),h:sub(e,e+6)+0) end return d end local function cW(f)
local cP,h=aw(f,'^(%-?)(%d+)$') local aO=cP=='-' h=h and ap(h,aO and'9223372036854775808'or'9223372036854775807')
if not h or(aO and h=='0')then cb(f,nil,'NOT_A_COUNTER') end local y=aJ(h) if y-y~=0 then w('INEXACT_STATE') end
return aO and-y or y end local function br(O,f,bm) local h=f and ap(f,'9223372036854775807') local d=h and aJ(h)
if not d or d==0 and bm>0 then H(s('ERR invalid %s: expected an integer from %d to 9223372036854775807',O,bm))
elseif d-d~=0 then H(s('ERR invalid %s: the Lua library takes integers up to 9007199254740991',O)) end return d end
local aZ={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function X(cl,r)
return not I(r,' ',1,true)and I(cl,' '..r..' ',1,true)~=nil end local function bB(a,j)
return not X(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or X((' COST PARTIAL ALWAYS RESERVE RESERVATION '),j)
end local function ci(r,j) local E,M=0,0 local by,cn=math.min(#r,#j),math.max(#r,#j)
while E<by and r:byte(E+1)==j:byte(E+1)do E=E+1 end while M<by-E and r:byte(-1-M)==j:byte(-1-M)do M=M+1 end
return E+M>=2 and cn-E-M<=2 end local function cc(a,v,r) local Z={} for Q,A in ipairs(aZ)do
if X(v,A[1])and bB(a,A[1])then Z[#Z+1]=A[2] end end for Q,W in ipairs({'FULL','LINE','HEADERS'})do Z[#Z+1]=W end
for Q,j in ipairs(Z)do if ci(r:upper(),aw(j,'^%u+'))then H('ERR syntax error: no such option, but there is '..j) end end
local M=table.remove(Z) local cV=table.concat(Z,', ')
H('ERR syntax error: after limit come '..cV..' or '..M..', each at most once') end local function cJ(A,a,v)
local j,cZ=A[1],a.X if not X(v,j)then H(s('ERR invalid %s: only %s it',j,A[3])) elseif not bB(a,j)then
H(s('ERR invalid %s: %s takes none',j,('WINDOW'))) elseif a[j]~=nil then
H(s('ERR syntax error: %s comes at most once',A[2])) end end
local ba={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bt(f) local Y,bF=aw(f,'^(%d+)(%l*)$')
local N=Y and ba[bF]and ap(Y,'18446744073709551615')and Y*ba[bF] return N and N>=1 and N<=1e15 and N or nil end
local function bs(f,ai) return f and#f>=1 and#f<=ai and f end local function bp(b,c) return ah(c,b)and c or b end
local function aH(b,c) if b-b==0 and c-c==0 then local u=b%c return(b-u)/c,u end return bh(b,c) end
local bL=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aY) local function cB(j,f,bx) if j=='RESERVE'then
local bD=bx and bt(bx) return bs(f,128)and bD and{id=f,ttl=bD}or w('RESERVE') elseif j=='RESERVATION'then
return bs(f,128)or w('RESERVATION') end if j=='AS'then
return f and#f>=1 and#f<=64 and not I(f,'[^%w._-]')and f or w('AS') elseif j=='AT'then
local h=f and ap(f,'9223372036854775807') return h and bp(aJ(h),(aH(bL,1000)))or w('AT') end
return br(j,f,j=='BURST'and 1 or 0) end local function cI(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
w(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
w(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bJ={FULL=true,LINE=true,HEADERS=true}
local function cs(W,bq) if W then w(W==bq and'FORM_TWICE'or'TWO_FORMS') end return bq end local function cz(a,o,e,v)
while o[e]do local r,A=o[e]:upper(),nil for Q,bk in ipairs(aZ)do A=bk[1]==r and bk or A end if A then cJ(A,a,v)
if A[2]==r then a[r]=true e=e+1 else a[r]=cB(r,o[e+1],o[e+2]) e=e+(r=='RESERVE'and 3 or 2) end cI(a)
elseif bJ[r]and X(v,'form')then a.form=cs(a.form,r) e=e+1 else return e end end return e end
local bK={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cX(a,f) local B=bt(f)
if not B then a.Q=f:upper() B=bK[a.Q] if not B then
w(X((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not X((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
H(s('ERR invalid window: %s takes no windows of the calendar',('WINDOW'))) end end return B end local function ce(k)
return k:sub(-9)==':reserved'or k:sub(-14)==':reserved:ends' end local function cK(k) if ce(k)then w('RESERVED_KEY') end
end local function cR(a,J,e,k) local at,l=J[e]or'',J[e+1] local O=((nil)and(nil)(a)or'')..':reserved'
if(at~=k..O and at~='{'..k..'}'..O)or l~=at..':ends'then w('KEYS') end a.aa,a.Y=at,l return e+2 end local function bQ(a)
local ct=a.PARTIAL and a.n<a.e a.o=a.SHADOW and not a.q and(ct or not a.allowed) if not a.allowed and(a.o or a.q)then
a.allowed=true if not(nil)then local Q,Q,Q,aS=aq(a) a.ttl=V(aS) end end end local function cG(a) ar(a,'keep',a.a)
return a.remaining end local function cw(a,R,g) if g==0 or(R and not ah(a.now_ms,af(R,a.j)))then return'keep' end
local l,x=aA(a,a.a) if x+g>=(2^53)then w('INEXACT_REPLY') end l=l and a.a.b>=0 and l or a.now_ms+a.j
return'charge',{b=x+g,c=l} end local function cr(g) return g==0 and 1 or g end local function bS(a) local g=a.e aG(a,0)
local n,q=cw(a,nil,g) if g>0 then a.g,a.k=n,q end local an=aB(a.g,a.k,a.a) ar(a,a.g,an) a.allowed=a.f>0 and m(a,0)==0
a.t=a.f>0 and g or cr(g) if(nil)then a.count,a.ttl=(nil)(an,a.now_ms) elseif a.allowed then a.ttl=V(ag(m(a,a.f))) else
local m=m(a,a.t) a.ttl=m and math.max(1,V(ag(m)))or-1 end end local function bT(a) local g=a.e if a.PARTIAL then
g=math.min(g,cG(a)) end a.n=g if a.ALWAYS then bS(a) else aG(a,g) end end local function cT(d) local aU=''
while d-d~=0 do local u d,u=aH(d,10000000) aU=s('%07.0f',u)..aU end return s('%.0f',d)..aU end local function aV(d)
if d-d~=0 then return cT(d) end return s('%.0f',d) end local function cN(k,R) if R then S('PEXPIREAT',k,aV(R)) end end
local function bO(a,n,q) local k,L=a.p,a.a if n=='delete'then S('UNLINK',k) elseif n=='keep'then return
elseif L and L.c==q.c then local bf=q.b-L.b S('INCRBY',k,bf==1 and'1'or s('%.0f',bf)) elseif L and L.b==q.b then
cN(k,q.c) else S('SET',k,aV(q.b),'PXAT',aV(q.c)) end end local function bP(a,n,q) if a.Z then q=aB(n,q,a.a) a.a=a.M
if not q then n=a.M and'delete'or'keep' elseif n~='charge'then n='refund' end end bO(a,n,q) end local function bu(a)
return a.q and a.q.e or a.o and a.e or a.n end local function bi(a) if not a.allowed then return 0 end
return a.PARTIAL and bu(a)or 1 end local function cd(a,G) local U,cL,P,aS,bW=aq(a) return{ 'allowed',bi(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.f, 'remaining',U, 'retry_after_ms',cL, 'next_ms',P, 'reset_ms',aS,
'delay_ms',bW, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',G, } end local function cq(am) local bA={}
for Q,a in ipairs(am)do local E,Y=a.AS or('WINDOW'):lower(),2 a.l=E while bA[a.l]do a.l=s('%s-%d',E,Y) Y=Y+1 end
bA[a.l]=true end end local function av(d) return s('%.0f',bp(d,999999999999999)) end local function cD(a)
local B=(nil)and(nil)(a)or a.j local aI,u=1000,B%1000 while u>0 do aI,u=u,aI%u end local bG=1000/aI
local ae=aH(aj(B,bG),1000) return s('"%s";q=%s;w=%s',a.l,av(aj(a.limit,bG)),av(ae)) end local function cj(ay,aQ)
if ay.allowed~=aQ.allowed then return not ay.allowed end local m,aR=ay.retry_after_ms,aQ.retry_after_ms if m~=aR then
return m<0 or(aR>=0 and m>aR) end return ay.remaining<aQ.remaining end local function cf(am) local aT,bv=am[1],{} cq(am)
for d,a in ipairs(am)do bv[d]=cD(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aq(a) if cj(a,aT)then aT=a end end
local a=aT local ao={ 'X-RateLimit-Limit', s('%.0f',a.f), 'X-RateLimit-Remaining', s('%.0f',a.remaining), }
local function au(O,y) ao[#ao+1]=O ao[#ao+1]=y end if a.reset_ms>=0 then
au('X-RateLimit-Reset',s('%.0f',V(a.now_ms+a.reset_ms))) end au('RateLimit-Policy',table.concat(bv,', '))
local co=a.next_ms>=0 and';t='..av(V(a.next_ms))or'' au('RateLimit',s('"%s";r=%s%s',a.l,av(a.remaining),co))
if not a.allowed and a.retry_after_ms>=0 then au('Retry-After',s('%.0f',V(a.retry_after_ms))) end return ao end
local function cu(a,G) if a.form=='FULL'then return cd(a,G) end return{bi(a),a.count,a.ttl,cf({a})} end
aC={w=bM,x=bP,y=bQ,z=bT,A=bh,error_reply=bZ,D=ca,i=w,E=cc,G=bo,r=cp,H=cu,I=br,J=cz,v=bu,refund=cF,K=cK,N=cQ,P=cR,U=cW,W=cX}
end return aC end local bY,bw=pcall(cM,KEYS,ARGV) return bY and bw or i().error_reply(bw)
