-- RL.RESET LOCKOUT, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local W,h local M=redis.call local function bw(c) local aM=M('TIME') local am=aM[1]*1000000+aM[2]
c.K,c.w=am,(am-am%1000)/1000 end local y,q,P,bM=string.find,string.format,string.match,string.sub
local function bD(c,C,g,V,af) local r=C[g] if not r then h().a('KEYS') end c.j,g=r,g+1 if af then c.l=r
elseif y(r,':reserved',1,true)then h().z(r) end return g end local function bv(c,C,V,af) bw(c)
if#C~=bD(c,C,1,V,af)-1 then h().a('KEYS') end end local function bI(e,bu) local a,b,aa,ab,n=P(e,bu) if not a then
return nil elseif y(e,':0%d')then return nil end local l=#ab<17 and ab+0 return#a<16 and a+0 or h().f(a),
#b<16 and b+0 or h().f(b), #aa<16 and aa+0 or h().f(aa), l and l<9e15 and l or h().f(ab), n end local function G(a,b)
if a-a==0 and b-b==0 then return a<b end return h().t(a,b) end local function R(a,b)
if a-a==0 and b-b==0 and a*b<(2^53)then return a*b end return h().v(a,b) end local function aY(e)
local F,A,l,aj,ai=bI(e,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not F or not A or not l or not aj or#ai>2 or ai+0>64 then
return nil elseif G(l,A)or G(1e15,aj)then return nil elseif F-F~=0 or l-l~=0 then if h().k(F)or h().k(R(l,1000))then
return nil end h().a('INEXACT_STATE') end return{i=F,g=A,e=l,c=aj,b=ai+0} end local function bl(c) local e=M('GET',c.j)
if e then c.A=aY(e)or h().p(e,('LOCKOUT'),'FOREIGN_VALUE') end end local function J(d) if d-d~=0 then return h().B(d)
end return q('%.0f',d) end local function bb(j) local A,l=J(j.g),J(j.e)
return q('O:%s:%s:%s:%s:%d',J(j.i),A,l,J(j.c),j.b) end local function L(a,b) if a-a==0 and b-b==0 and a+b<(2^53)then
return a+b end return h().n(a,b) end local function bj(c,j) if j.c==0 then return j.b end local aq,ah=0,c.I
while ah<c.u do aq,ah=aq+1,2*ah end return math.min(j.b+1,aq) end local function aG(a,b) return G(b,a)and b or a end
local function aZ(a,b) if a-a==0 and b-b==0 then local n=a%b return n==0 and a/b or(a-n)/b+1 end local D,n=h().o(a,b)
return n==0 and D or L(D,1) end local function bd(c,j) local g=L(j.e+j.c,R(bj(c,j),c.u)) if g-g~=0 then
return aG(g,aZ(h().MAX_UNSIGNED,1000)) end return math.max(g,j.g+c.E) end local function aX(c,ax,av) if ax=='delete'then
M('UNLINK',c.j) elseif ax~='keep'then M('SET',c.j,bb(av),'PXAT',J(bd(c,av))) end end local function bA(C,v)
local aO=v[1] if not aO then h().a('ARITY') end local c={limit=0,capacity=0} local g=h().x(c,v,1+1,' ANCHOR ')
if v[g]then h().a(h().r(v[g]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end c.H=c.ANCHOR and c.ANCHOR*1000
c.E=h().F(c,aO) local V=h().q((' COST BLOCK MAX '),'RESERVE') bv(c,C,V,true) bl(c,'delete') local N=c.J or c.A
local aC=N h().y(c,aC) if N then aX(c,'delete') end return aC and 1 or 0 end function h() if not W then local i={}
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
error({err=e},0) end local function s(S) t(i[S]) end local function be(e,m,bp)
local bJ={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local ar=bJ[P(e,'^(%u):')] if not ar or ar==m then
s(bp) end t('ERR the key holds a state of '..ar..': use another key for each algorithm') end local function bc(I)
if type(I)=='table'then return I elseif y(I,'^%u+ ')then return redis.error_reply(I) end error(I,0) end local X={
__sub=function() return 1 end, } local as=setmetatable({(2^24)-1,(2^24)-1,2^16-1},X) local function aF(a,b)
local au,aW=a-a==0,b-b==0 if au or aW then return au elseif#a~=#b then return#a<#b end for d=#a,1,-1 do
if a[d]~=b[d]then return a[d]<b[d] end end return false end local function B(d) if d-d~=0 then return d end
local f,o={},0 while d>0 do local p=d%(2^24) o=o+1 f[o]=p d=(d-p)/(2^24) end return f end local function O(f) local o=#f
while o>0 and f[o]==0 do f[o]=nil o=o-1 end if o>3 or(o==3 and f[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(f,X)
end return(f[1]or 0)+(f[2]or 0)*(2^24)+(f[3]or 0)*(2^24)*(2^24) end local function aV(a,b) a,b=B(a),B(b) local E,w={},0
for d=1,math.max(#a,#b)+1 do local p=(a[d]or 0)+(b[d]or 0)+w w=p>=(2^24)and 1 or 0 E[d]=p-w*(2^24) end return O(E) end
local function bn(a,b) a,b=B(a),B(b) local H={} for d=1,#a+#b do H[d]=0 end for d=1,#a do local w=0 for ak=1,#b do
local p=H[d+ak-1]+a[d]*b[ak]+w w=math.floor(p/(2^24)) H[d+ak-1]=p-w*(2^24) end H[d+#b]=w end return O(H) end
local function aw(d) if d-d==0 then return d end local E=0 for bg=#d,1,-1 do E=E*(2^24)+d[bg] end return E end
local function bC(a,b) if not aF(b,a)then return 0 end b=B(b) local ay,Y={},0 for d=1,#a do local p=a[d]-(b[d]or 0)-Y
Y=p<0 and 1 or 0 ay[d]=p+Y*(2^24) end return O(ay) end local function bB(a,b) if a-a==0 and b-b==0 then
return a>b and a-b or 0 end return bC(a,b) end local function aA(a,b) local D=0 while not G(a,b)do
local T=math.max(1,math.floor(aw(a)/aw(b)*(1-2^-45))) T=O(B(T)) D=L(D,T) a=bB(a,R(T,b)) end return D,a end
local function az(a,b) if a-a==0 and b-b==0 then local n=a%b return(a-n)/b,n end return aA(a,b) end local function bF(d)
local ap='' while d-d~=0 do local n d,n=az(d,10000000) ap=q('%07.0f',n)..ap end return q('%.0f',d)..ap end
local function Z(a,b) for g=1,math.min(#a,#b)do local aP,aQ=a:byte(g),b:byte(g) if aP~=aQ then return aP<aQ end end
return#a<#b end local function ad(f) if#f<=15 or(#f==16 and Z(f,'9007199254740992'))then return f+0 end local ae=#f%7
local d=ae>0 and f:sub(1,ae)+0 or 0 for g=ae+1,#f,7 do d=L(R(d,10000000),f:sub(g,g+6)+0) end return d end
local function br(f) if#f>1 and f:byte()==48 then return nil
elseif#f<20 or(#f==20 and not Z('18446744073709551615',f))then return ad(f) end end
local aT=setmetatable({(2^24)-1,(2^24)-1,2^15-1},X) local function bh(d) return G(aT,d) end local function z(bk,m)
return not y(m,' ',1,true)and y(bk,' '..m..' ',1,true)~=nil end local function bi(m,k) local x,l=0,0
local aL,bm=math.min(#m,#k),math.max(#m,#k) while x<aL and m:byte(x+1)==k:byte(x+1)do x=x+1 end
while l<aL-x and m:byte(-1-l)==k:byte(-1-l)do l=l+1 end return x+l>=2 and bm-x-l<=2 end local function ag(c,j)
local an=c.w if not j or j.e<=an then return j end local A=math.min(j.g,an) return{i=j.i,g=A,e=an,c=j.c,b=j.b} end
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
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bE(c,k)
return not z(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or z((' COST BLOCK MAX '),k) end
local function bz(u,c,K) local k,bL=u[1],c.G if not z(K,k)then t(q('ERR invalid %s: only %s it',k,u[3]))
elseif not bE(c,k)then t(q('ERR invalid %s: %s takes none',k,('LOCKOUT'))) elseif c[k]~=nil then
t(q('ERR syntax error: %s comes at most once',u[2])) end end
local at={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function ac(e,al)
if e~='0'and not y(e,'^[1-9]%d*$')then return nil end return(#e<#al or(#e==#al and not Z(al,e)))and e or nil end
local function aI(e) local ao,aN=P(e,'^(%d+)(%l*)$') local Q=ao and at[aN]and ac(ao,'18446744073709551615')and ao*at[aN]
return Q and Q>=1 and Q<=1e15 and Q or nil end local function bq(S,e,aE) local f=e and ac(e,'9223372036854775807')
local d=f and ad(f) if not d or d==0 and aE>0 then
t(q('ERR invalid %s: expected an integer from %d to 9223372036854775807',S,aE)) elseif d-d~=0 then
t(q('ERR invalid %s: the Lua library takes integers up to 9007199254740991',S)) end return d end
local function bt(k,e,bN) if k=='BLOCK'or k=='MAX'then
local bG='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return e and aI(e)or t('ERR invalid '..k..': '..bG) end if k=='AS'then
return e and#e>=1 and#e<=64 and not y(e,'[^%w._-]')and e or s('AS') elseif k=='AT'then
local f=e and ac(e,'9223372036854775807') return f and aG(ad(f),(az(as,1000)))or s('AT') end
return bq(k,e,k=='BURST'and 1 or 0) end local function bx(c) if c.ALWAYS and(c.PARTIAL or c.RESERVE)then
s(c.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif c.RESERVATION and(c.RESERVED or c.AT)then
s(c.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local aR={FULL=true,LINE=true,HEADERS=true}
local function bo(aB,aH) if aB then s(aB==aH and'FORM_TWICE'or'TWO_FORMS') end return aH end local function bs(c,v,g,K)
while v[g]do local m,u=v[g]:upper(),nil for bK,ag in ipairs(aU)do u=ag[1]==m and ag or u end if u then bz(u,c,K)
if u[2]==m then c[m]=true g=g+1 else c[m]=bt(m,v[g+1],v[g+2]) g=g+(m=='RESERVE'and 3 or 2) end bx(c)
elseif aR[m]and z(K,'form')then c.form=bo(c.form,m) g=g+1 else return g end end return g end
local aS={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function bH(c,e) local U=aI(e)
if not U then c.D=e:upper() U=aS[c.D] if not U then s(z((' COST BLOCK MAX '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not z((' COST BLOCK MAX '),'ANCHOR')then
t(q('ERR invalid window: %s takes no windows of the calendar',('LOCKOUT'))) end end return U end local function bf(r)
return r:sub(-9)==':reserved'or r:sub(-14)==':reserved:ends' end local function aJ(r) if bf(r)then s('RESERVED_KEY') end
end local function by(c,N) local aD=P(c.l,'^(.*:reserved):ends$')
if not N or aD and redis.pcall('TYPE',aD).ok=='hash'then aJ(c.l) end end
W={MAX_UNSIGNED=as,n=aV,o=aA,error_reply=bc,a=s,p=be,k=bh,q=z,r=bi,t=aF,v=bn,f=br,x=bs,y=by,z=aJ,B=bF,F=bH} end return W
end local ba,aK=pcall(bA,KEYS,ARGV) return ba and aK or h().error_reply(aK)
