-- RL.RESET GCRA, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ac,h local x=redis.call local function bC(c) local aN=x('TIME') local ak=aN[1]*1000000+aN[2]
c.H,c.w=ak,(ak-ak%1000)/1000 end local J,n,W,bP=string.find,string.format,string.match,string.sub
local function bJ(c,K,g,ab,ah) local j=K[g] if not j then h().c('KEYS') end c.e,g=j,g+1 if ah then c.f=j
elseif J(j,':reserved',1,true)then h().z(j) end return g end local function bB(c,K,ab,ah) bC(c)
if#K~=bJ(c,K,1,ab,ah)-1 then h().c('KEYS') end end local function ba(e)
local B,bt=W(e,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not B or B:byte()>56 then return h().j(e) end
return{a=B+0,b=bt+0} end local function bo(c) local e=x('GET',c.e) if e then
c.g=ba(e)or h().p(e,('GCRA'),'FOREIGN_VALUE') end end local function C(a,b) if a-a==0 and b-b==0 and a+b<(2^53)then
return a+b end return h().i(a,b) end local function bc(a,b) if a-a==0 and b-b==0 then local t=a%b
return t==0 and a/b or(a-t)/b+1 end local L,t=h().l(a,b) return t==0 and L or C(L,1) end local function u(aW,o)
return bc(o.b==0 and o.a or C(o.a,1),1000) end local function bi(j,al) if not redis.REDIS_VERSION_NUM then
return h().o(j,al) end local g=x('PEXPIRETIME',j) return g>=0 and g or nil end local function H(a,b)
if a-a==0 and b-b==0 then return a<b end return h().u(a,b) end local function bg(c,D,N) local I,ae=c.g,(nil)
if D=='keep'and(not I or not ae)then return nil end local m=I and bi(c.e,c.w) if m and m>=(2^53)then m=h().q(h().k(m))
end if D=='keep'then local s=u(c,I) return m and H(m,s)and C(s,5000)or nil end local s=u(c,N) local P=C(s,5000)
if not I then return P elseif not m then return P end if ae and D=='rebase'then return h().v(m,u(c,I),s)
elseif H(m,s)then return P elseif not H(P,m)or(ae and H(C(u(c,I),5000),m))then return nil end return P end
local function ap(d) if d-d~=0 then return h().A(d) end return n('%.0f',d) end local function bH(j,av) if av then
x('PEXPIREAT',j,ap(av)) end end local function aA(o) local B=o.a if B-B~=0 or B<1000000 then return h().n(o) end
return n('%.0f%03d',B,o.b) end local function aZ(c,D,N) local j=c.e if D=='delete'then x('UNLINK',j) return end
local u=bg(c,D,N) if D=='keep'then bH(j,u) elseif u then x('SET',j,aA(N),'PXAT',u==0 and'1'or ap(u)) else
x('SET',j,aA(N),'KEEPTTL') end end local function bG(K,w) local aP=w[1] if not aP then h().c('ARITY') end
local c={limit=0,capacity=0} local g=h().x(c,w,1+1,' ANCHOR ') if w[g]then
h().c(h().t(w[g]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end c.F=c.ANCHOR and c.ANCHOR*1000 c.I=h().D(c,aP)
local ab=h().r((' COST PARTIAL BURST '),'RESERVE') bB(c,K,ab,true) bo(c,'delete') local V=c.G or c.g local aC=V
h().y(c,aC) if V then aZ(c,'delete') end return aC and 1 or 0 end function h() if not ac then local i={}
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
local function U(e,aj) if e~='0'and not J(e,'^[1-9]%d*$')then return nil end
return(#e<#aj or(#e==#aj and not aw(aj,e)))and e or nil end local function E(d) if d-d~=0 then return d end
local f,p={},0 while d>0 do local q=d%(2^24) p=p+1 f[p]=q d=(d-q)/(2^24) end return f end local ar={ __sub=function()
return 1 end, } local function O(f) local p=#f while p>0 and f[p]==0 do f[p]=nil p=p-1 end
if p>3 or(p==3 and f[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(f,ar) end
return(f[1]or 0)+(f[2]or 0)*(2^24)+(f[3]or 0)*(2^24)*(2^24) end local function bs(a,b) a,b=E(a),E(b) local R={}
for d=1,#a+#b do R[d]=0 end for d=1,#a do local y=0 for ai=1,#b do local q=R[d+ai-1]+a[d]*b[ai]+y y=math.floor(q/(2^24))
R[d+ai-1]=q-y*(2^24) end R[d+#b]=y end return O(R) end local function aI(a,b) if a-a==0 and b-b==0 and a*b<(2^53)then
return a*b end return bs(a,b) end local function af(f) if#f<=15 or(#f==16 and aw(f,'9007199254740992'))then return f+0
end local ag=#f%7 local d=ag>0 and f:sub(1,ag)+0 or 0 for g=ag+1,#f,7 do d=C(aI(d,10000000),f:sub(g,g+6)+0) end return d
end local function bb(e) local f=U(e,'18446744073709551615') if not f then return nil end
return{a=#f>3 and af(f:sub(1,-4))or 0,b=f:sub(-3)+0} end local function be(o)
return o.a==0 and n('%d',o.b)or ap(o.a)..n('%03d',o.b) end local function z(e) error({err=e},0) end local function r(Y)
z(i[Y]) end local function bj(e,l,bw) local bN={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'}
local aq=bN[W(e,'^(%u):')] if not aq or aq==l then r(bw) end
z('ERR the key holds a state of '..aq..': use another key for each algorithm') end local function bf(S)
if type(S)=='table'then return S elseif J(S,'^%u+ ')then return redis.error_reply(S) end error(S,0) end
local function aH(a,b) local at,aY=a-a==0,b-b==0 if at or aY then return at elseif#a~=#b then return#a<#b end
for d=#a,1,-1 do if a[d]~=b[d]then return a[d]<b[d] end end return false end local function aX(a,b) a,b=E(a),E(b)
local M,y={},0 for d=1,math.max(#a,#b)+1 do local q=(a[d]or 0)+(b[d]or 0)+y y=q>=(2^24)and 1 or 0 M[d]=q-y*(2^24) end
return O(M) end local function au(d) if d-d==0 then return d end local M=0 for bl=#d,1,-1 do M=M*(2^24)+d[bl] end
return M end local function bI(a,b) if not aH(b,a)then return 0 end b=E(b) local ax,ad={},0 for d=1,#a do
local q=a[d]-(b[d]or 0)-ad ad=q<0 and 1 or 0 ax[d]=q+ad*(2^24) end return O(ax) end local function an(a,b)
if a-a==0 and b-b==0 then return a>b and a-b or 0 end return bI(a,b) end local function az(a,b) local L=0
while not H(a,b)do local Z=math.max(1,math.floor(au(a)/au(b)*(1-2^-45))) Z=O(E(Z)) L=C(L,Z) a=an(a,aI(Z,b)) end
return L,a end local function ay(a,b) if a-a==0 and b-b==0 then local t=a%b return(a-t)/b,t end return az(a,b) end
local function bL(d) local ao='' while d-d~=0 do local t d,t=ay(d,10000000) ao=n('%07.0f',t)..ao end
return n('%.0f',d)..ao end local function bh(j,al) local aG=x('PTTL',j) return aG>=0 and al+aG or nil end
local function br(m,bu,s) if m-m~=0 then r('INEXACT_STATE') end local Q=an(m,an(bu,s)) Q=H(Q,s)and s or Q
return Q~=m and Q or nil end local function F(bn,l) return not J(l,' ',1,true)and J(bn,' '..l..' ',1,true)~=nil end
local function bm(l,k) local A,G=0,0 local aM,bp=math.min(#l,#k),math.max(#l,#k)
while A<aM and l:byte(A+1)==k:byte(A+1)do A=A+1 end while G<aM-A and l:byte(-1-G)==k:byte(-1-G)do G=G+1 end
return A+G>=2 and bp-A-G<=2 end local aV={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bK(c,k)
return not F(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or F((' COST PARTIAL BURST '),k)
end local function bF(v,c,T) local k,bO=v[1],c.E if not F(T,k)then z(n('ERR invalid %s: only %s it',k,v[3]))
elseif not bK(c,k)then z(n('ERR invalid %s: %s takes none',k,('GCRA'))) elseif c[k]~=nil then
z(n('ERR syntax error: %s comes at most once',v[2])) end end local function bq(a,b) return H(b,a)and b or a end
local aU=setmetatable({(2^24)-1,(2^24)-1,2^16-1},ar) local function bx(Y,e,aF) local f=e and U(e,'9223372036854775807')
local d=f and af(f) if not d or d==0 and aF>0 then
z(n('ERR invalid %s: expected an integer from %d to 9223372036854775807',Y,aF)) elseif d-d~=0 then
z(n('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Y)) end return d end
local function bz(k,e,bQ) if k=='AS'then return e and#e>=1 and#e<=64 and not J(e,'[^%w._-]')and e or r('AS')
elseif k=='AT'then local f=e and U(e,'9223372036854775807') return f and bq(af(f),(ay(aU,1000)))or r('AT') end
return bx(k,e,k=='BURST'and 1 or 0) end local function bD(c) if c.ALWAYS and(c.PARTIAL or c.RESERVE)then
r(c.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif c.RESERVATION and(c.RESERVED or c.AT)then
r(c.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local aS={FULL=true,LINE=true,HEADERS=true}
local function bv(aB,aJ) if aB then r(aB==aJ and'FORM_TWICE'or'TWO_FORMS') end return aJ end local function by(c,w,g,T)
while w[g]do local l,v=w[g]:upper(),nil for aW,aE in ipairs(aV)do v=aE[1]==l and aE or v end if v then bF(v,c,T)
if v[2]==l then c[l]=true g=g+1 else c[l]=bz(l,w[g+1],w[g+2]) g=g+(l=='RESERVE'and 3 or 2) end bD(c)
elseif aS[l]and F(T,'form')then c.form=bv(c.form,l) g=g+1 else return g end end return g end
local as={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bA(e) local am,aO=W(e,'^(%d+)(%l*)$')
local X=am and as[aO]and U(am,'18446744073709551615')and am*as[aO] return X and X>=1 and X<=1e15 and X or nil end
local aT={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function bM(c,e) local aa=bA(e)
if not aa then c.B=e:upper() aa=aT[c.B] if not aa then
r(F((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not F((' COST PARTIAL BURST '),'ANCHOR')then
z(n('ERR invalid window: %s takes no windows of the calendar',('GCRA'))) end end return aa end local function bk(j)
return j:sub(-9)==':reserved'or j:sub(-14)==':reserved:ends' end local function aK(j) if bk(j)then r('RESERVED_KEY') end
end local function bE(c,V) local aD=W(c.f,'^(.*:reserved):ends$')
if not V or aD and redis.pcall('TYPE',aD).ok=='hash'then aK(c.f) end end
ac={i=aX,j=bb,k=E,l=az,n=be,error_reply=bf,o=bh,c=r,p=bj,q=O,r=F,t=bm,u=aH,v=br,x=by,y=bE,z=aK,A=bL,D=bM} end return ac
end local bd,aL=pcall(bG,KEYS,ARGV) return bd and aL or h().error_reply(aL)
