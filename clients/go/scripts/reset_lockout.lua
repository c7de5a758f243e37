-- RL.RESET LOCKOUT, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local X,h local N=redis.call local function bw(c) local aN=N('TIME') local an=aN[1]*1000000+aN[2]
c.G,c.s=an,(an-an%1000)/1000 end local z,q,Q,bN=string.find,string.format,string.match,string.sub
local function bE(c,D,g,W,ag) local r=D[g] if not r then h().a('KEYS') end c.h,g=r,g+1 if ag then c.j=r
elseif z(r,':reserved',1,true)then h().v(r) end return g end local function bv(c,D,W,ag) bw(c)
if#D~=bE(c,D,1,W,ag)-1 then h().a('KEYS') end end local function bJ(e,bu) local a,b,ab,ac,n=Q(e,bu) if not a then
return nil elseif z(e,':0%d')then return nil end local l=#ac<17 and ac+0 return#a<16 and a+0 or h().e(a),
#b<16 and b+0 or h().e(b), #ab<16 and ab+0 or h().e(ab), l and l<9e15 and l or h().e(ac), n end local function H(a,b)
if a-a==0 and b-b==0 then return a<b end return h().p(a,b) end local function S(a,b)
if a-a==0 and b-b==0 and a*b<(2^53)then return a*b end return h().r(a,b) end local function aY(e)
local G,B,l,ak,aj=bJ(e,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not G or not B or not l or not ak or#aj>2 or aj+0>64 then
return nil elseif H(l,B)or H(1e15,ak)then return nil elseif G-G~=0 or l-l~=0 then if h().i(G)or h().i(S(l,1000))then
return nil end h().a('INEXACT_STATE') end return{g=G,f=B,d=l,c=ak,b=aj+0} end local function bl(c) local e=N('GET',c.h)
if e then c.w=aY(e)or h().m(e,('LOCKOUT'),'FOREIGN_VALUE') end end local function K(d) if d-d~=0 then return h().x(d)
end return q('%.0f',d) end local function bb(j) local B,l=K(j.f),K(j.d)
return q('O:%s:%s:%s:%s:%d',K(j.g),B,l,K(j.c),j.b) end local function M(a,b) if a-a==0 and b-b==0 and a+b<(2^53)then
return a+b end return h().k(a,b) end local function bj(c,j) if j.c==0 then return j.b end local ar,ai=0,c.E
while ai<c.q do ar,ai=ar+1,2*ai end return math.min(j.b+1,ar) end local function aG(a,b) return H(b,a)and b or a end
local function aZ(a,b) if a-a==0 and b-b==0 then local n=a%b return n==0 and a/b or(a-n)/b+1 end local E,n=h().l(a,b)
return n==0 and E or M(E,1) end local function bd(c,j) local g=M(j.d+j.c,S(bj(c,j),c.q)) if g-g~=0 then
return aG(g,aZ(h().MAX_UNSIGNED,1000)) end return math.max(g,j.f+c.z) end local function aX(c,ax,av) if ax=='delete'then
N('UNLINK',c.h) elseif ax~='keep'then N('SET',c.h,bb(av),'PXAT',K(bd(c,av))) end end local function bA(D,v)
local aO=v[1] if not aO then h().a('ARITY') end local c={limit=0,capacity=0} local g=h().t(c,v,1+1,' ANCHOR ')
if v[g]then h().a(h().o(v[g]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end c.D=c.ANCHOR and c.ANCHOR*1000
c.z=h().A(c,aO) local W=h().n((' COST BLOCK MAX '),'RESERVE') bv(c,D,W,true) bl(c,'delete') local O=c.F or c.w
local aC=O h().u(c,aC) if O then aX(c,'delete') end return aC and 1 or 0 end function h() if not X then local i={}
i.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
i.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
i.ID='ERR invalid ID: expected 1 to 512 bytes'
i.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
i.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
i.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
i.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
i.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
i.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
i.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
i.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
i.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
i.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
i.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
i.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' i.ARITY='ERR wrong number of arguments'
i.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
i.RESET_WORDS='ERR syntax error: after window comes ANCHOR t or nothing'
i.NO_SUCH_OPTION='ERR syntax error: no such option, but there is ANCHOR t'
i.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
i.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module' local function t(e)
error({err=e},0) end local function s(T) t(i[T]) end local function be(e,m,bp)
local bK={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local as=bK[Q(e,'^(%u):')] if not as or as==m then
s(bp) end t('ERR the key holds a state of '..as..': use another key for each algorithm') end local function bc(J)
if type(J)=='table'then return J elseif z(J,'^%u+ ')then return redis.error_reply(J) end error(J,0) end local Y={
__sub=function() return 1 end, } local at=setmetatable({(2^24)-1,(2^24)-1,2^16-1},Y) local function aF(a,b)
local au,aW=a-a==0,b-b==0 if au or aW then return au elseif#a~=#b then return#a<#b end for d=#a,1,-1 do
if a[d]~=b[d]then return a[d]<b[d] end end return false end local function C(d) if d-d~=0 then return d end
local f,o={},0 while d>0 do local p=d%(2^24) o=o+1 f[o]=p d=(d-p)/(2^24) end return f end local function P(f) local o=#f
while o>0 and f[o]==0 do f[o]=nil o=o-1 end if o>3 or(o==3 and f[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(f,Y)
end return(f[1]or 0)+(f[2]or 0)*(2^24)+(f[3]or 0)*(2^24)*(2^24) end local function aV(a,b) a,b=C(a),C(b) local F,w={},0
for d=1,math.max(#a,#b)+1 do local p=(a[d]or 0)+(b[d]or 0)+w w=p>=(2^24)and 1 or 0 F[d]=p-w*(2^24) end return P(F) end
local function bn(a,b) a,b=C(a),C(b) local I={} for d=1,#a+#b do I[d]=0 end for d=1,#a do local w=0 for al=1,#b do
local p=I[d+al-1]+a[d]*b[al]+w w=math.floor(p/(2^24)) I[d+al-1]=p-w*(2^24) end I[d+#b]=w end return P(I) end
local function aw(d) if d-d==0 then return d end local F=0 for bg=#d,1,-1 do F=F*(2^24)+d[bg] end return F end
local function bD(a,b) if not aF(b,a)then return 0 end b=C(b) local ay,Z={},0 for d=1,#a do local p=a[d]-(b[d]or 0)-Z
Z=p<0 and 1 or 0 ay[d]=p+Z*(2^24) end return P(ay) end local function bC(a,b) if a-a==0 and b-b==0 then
return a>b and a-b or 0 end return bD(a,b) end local function aA(a,b) local E=0 while not H(a,b)do
local U=math.max(1,math.floor(aw(a)/aw(b)*(1-2^-45))) U=P(C(U)) E=M(E,U) a=bC(a,S(U,b)) end return E,a end
local function az(a,b) if a-a==0 and b-b==0 then local n=a%b return(a-n)/b,n end return aA(a,b) end local function bG(d)
local aq='' while d-d~=0 do local n d,n=az(d,10000000) aq=q('%07.0f',n)..aq end return q('%.0f',d)..aq end
local function aa(a,b) for g=1,math.min(#a,#b)do local aP,aQ=a:byte(g),b:byte(g) if aP~=aQ then return aP<aQ end end
return#a<#b end local function ae(f) if#f<=15 or(#f==16 and aa(f,'9007199254740992'))then return f+0 end local af=#f%7
local d=af>0 and f:sub(1,af)+0 or 0 for g=af+1,#f,7 do d=M(S(d,10000000),f:sub(g,g+6)+0) end return d end
local function br(f) if#f>1 and f:byte()==48 then return nil
elseif#f<20 or(#f==20 and not aa('18446744073709551615',f))then return ae(f) end end
local aT=setmetatable({(2^24)-1,(2^24)-1,2^15-1},Y) local function bh(d) return H(aT,d) end local function A(bk,m)
return not z(m,' ',1,true)and z(bk,' '..m..' ',1,true)~=nil end local function bi(m,k) local x,l=0,0
local aM,bm=math.min(#m,#k),math.max(#m,#k) while x<aM and m:byte(x+1)==k:byte(x+1)do x=x+1 end
while l<aM-x and m:byte(-1-l)==k:byte(-1-l)do l=l+1 end return x+l>=2 and bm-x-l<=2 end local function ah(c,j)
local ao=c.s if not j or j.d<=ao then return j end local B=math.min(j.f,ao) return{g=j.g,f=B,d=ao,c=j.c,b=j.b} end
local aU={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bF(c,k)
return not A(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or A((' COST BLOCK MAX '),k) end
local function bz(u,c,L) local k,bM=u[1],c.B if not A(L,k)then t(q('ERR invalid %s: only %s it',k,u[3]))
elseif not bF(c,k)then t(q('ERR invalid %s: %s takes none',k,('LOCKOUT'))) elseif c[k]~=nil then
t(q('ERR syntax error: %s comes at most once',u[2])) end end local function bB(y) return y==''and 1000 or y=='ms'and 1
or y=='s'and 1000 or y=='m'and 60000 or y=='h'and 3600000 or y=='d'and 86400000 or nil end local function ad(e,am)
if e~='0'and not z(e,'^[1-9]%d*$')then return nil end return(#e<#am or(#e==#am and not aa(am,e)))and e or nil end
local function aI(e) local ap,y=Q(e,'^(%d+)(%l*)$') local aL=ap and bB(y)
local R=aL and ad(ap,'18446744073709551615')and ap*aL return R and R>=1 and R<=1e15 and R or nil end
local function bq(T,e,aE) local f=e and ad(e,'9223372036854775807') local d=f and ae(f) if not d or d==0 and aE>0 then
t(q('ERR invalid %s: expected an integer from %d to 9223372036854775807',T,aE)) elseif d-d~=0 then
t(q('ERR invalid %s: the Lua library takes integers up to 9007199254740991',T)) end return d end
local function bt(k,e,bO) if k=='BLOCK'or k=='MAX'then
local bH='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return e and aI(e)or t('ERR invalid '..k..': '..bH) end if k=='AS'then
return e and#e>=1 and#e<=64 and not z(e,'[^%w._-]')and e or s('AS') elseif k=='AT'then
local f=e and ad(e,'9223372036854775807') return f and aG(ae(f),(az(at,1000)))or s('AT') end
return bq(k,e,k=='BURST'and 1 or 0) end local function bx(c) if c.ALWAYS and(c.PARTIAL or c.RESERVE)then
s(c.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif c.RESERVATION and(c.RESERVED or c.AT)then
s(c.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local aR={FULL=true,LINE=true,HEADERS=true}
local function bo(aB,aH) if aB then s(aB==aH and'FORM_TWICE'or'TWO_FORMS') end return aH end local function bs(c,v,g,L)
while v[g]do local m,u=v[g]:upper(),nil for bL,ah in ipairs(aU)do u=ah[1]==m and ah or u end if u then bz(u,c,L)
if u[2]==m then c[m]=true g=g+1 else c[m]=bt(m,v[g+1],v[g+2]) g=g+(m=='RESERVE'and 3 or 2) end bx(c)
elseif aR[m]and A(L,'form')then c.form=bo(c.form,m) g=g+1 else return g end end return g end
local aS={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function bI(c,e) local V=aI(e)
if not V then c.y=e:upper() V=aS[c.y] if not V then s(A((' COST BLOCK MAX '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not A((' COST BLOCK MAX '),'ANCHOR')then
t(q('ERR invalid window: %s takes no windows of the calendar',('LOCKOUT'))) end end return V end local function bf(r)
return r:sub(-9)==':reserved'or r:sub(-14)==':reserved:ends' end local function aJ(r) if bf(r)then s('RESERVED_KEY') end
end local function by(c,O) local aD=Q(c.j,'^(.*:reserved):ends$')
if not O or aD and redis.pcall('TYPE',aD).ok=='hash'then aJ(c.j) end end
X={MAX_UNSIGNED=at,k=aV,l=aA,error_reply=bc,a=s,m=be,i=bh,n=A,o=bi,p=aF,r=bn,e=br,t=bs,u=by,v=aJ,x=bG,A=bI} end return X
end local ba,aK=pcall(bA,KEYS,ARGV) return ba and aK or h().error_reply(aK)
