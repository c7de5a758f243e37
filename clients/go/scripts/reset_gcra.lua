-- RL.RESET GCRA, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ad,h local x=redis.call local function bC(c) local aO=x('TIME') local al=aO[1]*1000000+aO[2]
c.D,c.s=al,(al-al%1000)/1000 end local K,n,X,bQ=string.find,string.format,string.match,string.sub
local function bK(c,L,g,ac,ai) local j=L[g] if not j then h().c('KEYS') end c.d,g=j,g+1 if ai then c.e=j
elseif K(j,':reserved',1,true)then h().v(j) end return g end local function bB(c,L,ac,ai) bC(c)
if#L~=bK(c,L,1,ac,ai)-1 then h().c('KEYS') end end local function ba(e)
local B,bt=X(e,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not B or B:byte()>56 then return h().h(e) end
return{a=B+0,b=bt+0} end local function bo(c) local e=x('GET',c.d) if e then
c.f=ba(e)or h().m(e,('GCRA'),'FOREIGN_VALUE') end end local function D(a,b) if a-a==0 and b-b==0 and a+b<(2^53)then
return a+b end return h().g(a,b) end local function bc(a,b) if a-a==0 and b-b==0 then local t=a%b
return t==0 and a/b or(a-t)/b+1 end local M,t=h().j(a,b) return t==0 and M or D(M,1) end local function u(aW,o)
return bc(o.b==0 and o.a or D(o.a,1),1000) end local function bi(j,am) if not redis.REDIS_VERSION_NUM then
return h().l(j,am) end local g=x('PEXPIRETIME',j) return g>=0 and g or nil end local function I(a,b)
if a-a==0 and b-b==0 then return a<b end return h().q(a,b) end local function bg(c,E,O) local J,af=c.f,(nil)
if E=='keep'and(not J or not af)then return nil end local m=J and bi(c.d,c.s) if m and m>=(2^53)then m=h().n(h().i(m))
end if E=='keep'then local s=u(c,J) return m and I(m,s)and D(s,5000)or nil end local s=u(c,O) local Q=D(s,5000)
if not J then return Q elseif not m then return Q end if af and E=='rebase'then return h().r(m,u(c,J),s)
elseif I(m,s)then return Q elseif not I(Q,m)or(af and I(D(u(c,J),5000),m))then return nil end return Q end
local function aq(d) if d-d~=0 then return h().w(d) end return n('%.0f',d) end local function bI(j,av) if av then
x('PEXPIREAT',j,aq(av)) end end local function aA(o) local B=o.a if B-B~=0 or B<1000000 then return h().k(o) end
return n('%.0f%03d',B,o.b) end local function aZ(c,E,O) local j=c.d if E=='delete'then x('UNLINK',j) return end
local u=bg(c,E,O) if E=='keep'then bI(j,u) elseif u then x('SET',j,aA(O),'PXAT',u==0 and'1'or aq(u)) else
x('SET',j,aA(O),'KEEPTTL') end end local function bG(L,w) local aP=w[1] if not aP then h().c('ARITY') end
local c={limit=0,capacity=0} local g=h().t(c,w,1+1,' ANCHOR ') if w[g]then
h().c(h().p(w[g]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end c.A=c.ANCHOR and c.ANCHOR*1000 c.E=h().y(c,aP)
local ac=h().o((' COST PARTIAL BURST '),'RESERVE') bB(c,L,ac,true) bo(c,'delete') local W=c.B or c.f local aC=W
h().u(c,aC) if W then aZ(c,'delete') end return aC and 1 or 0 end function h() if not ad then local i={}
i.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
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
i.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function aw(a,b)
for g=1,math.min(#a,#b)do local aQ,aR=a:byte(g),b:byte(g) if aQ~=aR then return aQ<aR end end return#a<#b end
local function V(e,ak) if e~='0'and not K(e,'^[1-9]%d*$')then return nil end
return(#e<#ak or(#e==#ak and not aw(ak,e)))and e or nil end local function F(d) if d-d~=0 then return d end
local f,p={},0 while d>0 do local q=d%(2^24) p=p+1 f[p]=q d=(d-q)/(2^24) end return f end local as={ __sub=function()
return 1 end, } local function P(f) local p=#f while p>0 and f[p]==0 do f[p]=nil p=p-1 end
if p>3 or(p==3 and f[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(f,as) end
return(f[1]or 0)+(f[2]or 0)*(2^24)+(f[3]or 0)*(2^24)*(2^24) end local function bs(a,b) a,b=F(a),F(b) local S={}
for d=1,#a+#b do S[d]=0 end for d=1,#a do local y=0 for aj=1,#b do local q=S[d+aj-1]+a[d]*b[aj]+y y=math.floor(q/(2^24))
S[d+aj-1]=q-y*(2^24) end S[d+#b]=y end return P(S) end local function aI(a,b) if a-a==0 and b-b==0 and a*b<(2^53)then
return a*b end return bs(a,b) end local function ag(f) if#f<=15 or(#f==16 and aw(f,'9007199254740992'))then return f+0
end local ah=#f%7 local d=ah>0 and f:sub(1,ah)+0 or 0 for g=ah+1,#f,7 do d=D(aI(d,10000000),f:sub(g,g+6)+0) end return d
end local function bb(e) local f=V(e,'18446744073709551615') if not f then return nil end
return{a=#f>3 and ag(f:sub(1,-4))or 0,b=f:sub(-3)+0} end local function be(o)
return o.a==0 and n('%d',o.b)or aq(o.a)..n('%03d',o.b) end local function z(e) error({err=e},0) end local function r(Z)
z(i[Z]) end local function bj(e,l,bw) local bO={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'}
local ar=bO[X(e,'^(%u):')] if not ar or ar==l then r(bw) end
z('ERR the key holds a state of '..ar..': use another key for each algorithm') end local function bf(T)
if type(T)=='table'then return T elseif K(T,'^%u+ ')then return redis.error_reply(T) end error(T,0) end
local function aH(a,b) local at,aY=a-a==0,b-b==0 if at or aY then return at elseif#a~=#b then return#a<#b end
for d=#a,1,-1 do if a[d]~=b[d]then return a[d]<b[d] end end return false end local function aX(a,b) a,b=F(a),F(b)
local N,y={},0 for d=1,math.max(#a,#b)+1 do local q=(a[d]or 0)+(b[d]or 0)+y y=q>=(2^24)and 1 or 0 N[d]=q-y*(2^24) end
return P(N) end local function au(d) if d-d==0 then return d end local N=0 for bl=#d,1,-1 do N=N*(2^24)+d[bl] end
return N end local function bJ(a,b) if not aH(b,a)then return 0 end b=F(b) local ax,ae={},0 for d=1,#a do
local q=a[d]-(b[d]or 0)-ae ae=q<0 and 1 or 0 ax[d]=q+ae*(2^24) end return P(ax) end local function ao(a,b)
if a-a==0 and b-b==0 then return a>b and a-b or 0 end return bJ(a,b) end local function az(a,b) local M=0
while not I(a,b)do local aa=math.max(1,math.floor(au(a)/au(b)*(1-2^-45))) aa=P(F(aa)) M=D(M,aa) a=ao(a,aI(aa,b)) end
return M,a end local function ay(a,b) if a-a==0 and b-b==0 then local t=a%b return(a-t)/b,t end return az(a,b) end
local function bM(d) local ap='' while d-d~=0 do local t d,t=ay(d,10000000) ap=n('%07.0f',t)..ap end
return n('%.0f',d)..ap end local function bh(j,am) local aG=x('PTTL',j) return aG>=0 and am+aG or nil end
local function br(m,bu,s) if m-m~=0 then r('INEXACT_STATE') end local R=ao(m,ao(bu,s)) R=I(R,s)and s or R
return R~=m and R or nil end local function G(bn,l) return not K(l,' ',1,true)and K(bn,' '..l..' ',1,true)~=nil end
local function bm(l,k) local A,H=0,0 local aN,bp=math.min(#l,#k),math.max(#l,#k)
while A<aN and l:byte(A+1)==k:byte(A+1)do A=A+1 end while H<aN-A and l:byte(-1-H)==k:byte(-1-H)do H=H+1 end
return A+H>=2 and bp-A-H<=2 end local aV={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bL(c,k)
return not G(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or G((' COST PARTIAL BURST '),k)
end local function bF(v,c,U) local k,bP=v[1],c.z if not G(U,k)then z(n('ERR invalid %s: only %s it',k,v[3]))
elseif not bL(c,k)then z(n('ERR invalid %s: %s takes none',k,('GCRA'))) elseif c[k]~=nil then
z(n('ERR syntax error: %s comes at most once',v[2])) end end local function bq(a,b) return I(b,a)and b or a end
local aU=setmetatable({(2^24)-1,(2^24)-1,2^16-1},as) local function bx(Z,e,aF) local f=e and V(e,'9223372036854775807')
local d=f and ag(f) if not d or d==0 and aF>0 then
z(n('ERR invalid %s: expected an integer from %d to 9223372036854775807',Z,aF)) elseif d-d~=0 then
z(n('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Z)) end return d end
local function bz(k,e,bR) if k=='AS'then return e and#e>=1 and#e<=64 and not K(e,'[^%w._-]')and e or r('AS')
elseif k=='AT'then local f=e and V(e,'9223372036854775807') return f and bq(ag(f),(ay(aU,1000)))or r('AT') end
return bx(k,e,k=='BURST'and 1 or 0) end local function bD(c) if c.ALWAYS and(c.PARTIAL or c.RESERVE)then
r(c.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif c.RESERVATION and(c.RESERVED or c.AT)then
r(c.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local aS={FULL=true,LINE=true,HEADERS=true}
local function bv(aB,aJ) if aB then r(aB==aJ and'FORM_TWICE'or'TWO_FORMS') end return aJ end local function by(c,w,g,U)
while w[g]do local l,v=w[g]:upper(),nil for aW,aE in ipairs(aV)do v=aE[1]==l and aE or v end if v then bF(v,c,U)
if v[2]==l then c[l]=true g=g+1 else c[l]=bz(l,w[g+1],w[g+2]) g=g+(l=='RESERVE'and 3 or 2) end bD(c)
elseif aS[l]and G(U,'form')then c.form=bv(c.form,l) g=g+1 else return g end end return g end local function bH(C)
return C==''and 1000 or C=='ms'and 1 or C=='s'and 1000 or C=='m'and 60000 or C=='h'and 3600000 or C=='d'and 86400000
or nil end local function bA(e) local an,C=X(e,'^(%d+)(%l*)$') local aM=an and bH(C)
local Y=aM and V(an,'18446744073709551615')and an*aM return Y and Y>=1 and Y<=1e15 and Y or nil end
local aT={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function bN(c,e) local ab=bA(e)
if not ab then c.x=e:upper() ab=aT[c.x] if not ab then
r(G((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not G((' COST PARTIAL BURST '),'ANCHOR')then
z(n('ERR invalid window: %s takes no windows of the calendar',('GCRA'))) end end return ab end local function bk(j)
return j:sub(-9)==':reserved'or j:sub(-14)==':reserved:ends' end local function aK(j) if bk(j)then r('RESERVED_KEY') end
end local function bE(c,W) local aD=X(c.e,'^(.*:reserved):ends$')
if not W or aD and redis.pcall('TYPE',aD).ok=='hash'then aK(c.e) end end
ad={g=aX,h=bb,i=F,j=az,k=be,error_reply=bf,l=bh,c=r,m=bj,n=P,o=G,p=bm,q=aH,r=br,t=by,u=bE,v=aK,w=bM,y=bN} end return ad
end local bd,aL=pcall(bG,KEYS,ARGV) return bd and aL or h().error_reply(aL)
