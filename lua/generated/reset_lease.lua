-- RL.RESET LEASE, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local V,n local m=redis.call local function bu(a) local aL=m('TIME') local af=aL[1]*1000000+aL[2]
a.z,a.e=af,(af-af%1000)/1000 end local E,o,aD,bK=string.find,string.format,string.match,string.sub
local function bD(a,F,g,U,ad) local e=F[g] if not e then n().a('KEYS') end a.c,g=e,g+1 if ad then a.i=e
elseif E(e,':reserved',1,true)then n().u(e) end return g end local function bt(a,F,U,ad) bu(a)
if#F~=bD(a,F,1,U,ad)-1 then n().a('KEYS') end end local aa,bI,bM,bJ=4000,1000,1000,2*500 local function bj(a,I,aK,R)
local e=a.c local p,z=m('ZCARD',e),0 if p>0 and aK>=0 and R~='delete'then local k=o('%.0f',aK)
local q=R=='read'and 0 or aa if p<=q then local A=m('ZREMRANGEBYSCORE',e,I,k) p,aa=p-A,q-A else p,z=n().r(e,I,k,p,q) end
end a.b,a.k,a.f=p-z,z,p>0 end local function aq(u) return u<2^64 and math.max(0,math.ceil(u))or(1/0) end
local function ba(a,be) local u=a.b>0 and m('ZSCORE',a.c,be) local Z=u and aq(tonumber(u))
return Z and Z>a.e and Z or nil end local function bi(a,R) bj(a,'-inf',a.e,R) a.j=a.ID and ba(a,a.ID)
a.p=a.j and a.b-1 or a.b end local function ar(e,k,ac) if k>=(2^53)or ac~=k then
m('PEXPIREAT',e,k<2^63 and o('%.0f',k)or'9223372036854775807') end end local function bA(e,S) S=o('%.0f',S)
local u=m('ZRANGE',e,S,S,'WITHSCORES')[2] return u and tonumber(u) end local function ay(e) local u=bA(e,-1)
return u and aq(u) end local function as(e,G) if not redis.REDIS_VERSION_NUM then return n().l(e,G) end
local g=m('PEXPIRETIME',e) return g>=0 and g or nil end local function aW(a,ao,W) local e,G=a.c,a.e if ao=='delete'then
m('UNLINK',e) elseif ao=='keep'then if a.b>0 then ar(e,ay(e),as(e,G)) end elseif a.ID then
local ac=a.f and as(e,G)or nil if a.j then m('ZADD',e,'XX',o('%.0f',W.g),a.ID) else m('ZADD',e,o('%.0f',W.g),a.ID) end
ar(e,a.p+a.k==0 and W.g or ay(e),ac) end end local function bz(F,x) local aN=x[1] if not aN then n().a('ARITY') end
local a={limit=0,capacity=0} local g=n().q(a,x,1+1,' ANCHOR ') if x[g]then
n().a(n().o(x[g]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end a.y=a.ANCHOR and a.ANCHOR*1000 a.B=n().w(a,aN)
local U=n().n((' ID '),'RESERVE') bt(a,F,U,true) bi(a,'delete') local M=a.f or a.A local au=M n().t(a,au) if M then
aW(a,'delete') end return au and 1 or 0 end function n() if not V then local i={}
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
i.RESET_WORDS='ERR syntax error: after window comes ANCHOR t or nothing'
i.NO_SUCH_OPTION='ERR syntax error: no such option, but there is ANCHOR t'
i.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function B(f) error({err=f},0) end
local function v(P) B(i[P]) end local function bb(K) if type(K)=='table'then return K elseif E(K,'^%u+ ')then
return redis.error_reply(K) end error(K,0) end local function bc(e,G) local aA=m('PTTL',e) return aA>=0 and G+aA or nil
end local function bv(e,I,k,p,q) local z=m('ZCOUNT',e,I,k) local A=math.min(z,q) if A>0 then
local t=I=='0'and m('ZCOUNT',e,'-inf','(0')or 0 m('ZREMRANGEBYRANK',e,o('%.0f',t),o('%.0f',t+A-1)) p,z,aa=p-A,z-A,q-A
end return p,z end local function C(bh,l) return not E(l,' ',1,true)and E(bh,' '..l..' ',1,true)~=nil end
local function bg(l,j) local t,k=0,0 local aJ,bk=math.min(#l,#j),math.max(#l,#j)
while t<aJ and l:byte(t+1)==j:byte(t+1)do t=t+1 end while k<aJ-t and l:byte(-1-k)==j:byte(-1-k)do k=k+1 end
return t+k>=2 and bk-t-k<=2 end local aT={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bE(a,j)
return not C(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or C((' ID '),j) end
local function by(w,a,L) local j,bH=w[1],a.x if not C(L,j)then B(o('ERR invalid %s: only %s it',j,w[3]))
elseif not bE(a,j)then B(o('ERR invalid %s: %s takes none',j,('LEASE'))) elseif a[j]~=nil then
B(o('ERR syntax error: %s comes at most once',w[2])) end end local function bp(f,q) return f and#f>=1 and#f<=q and f end
local function an(b,c) for g=1,math.min(#b,#c)do local aO,aP=b:byte(g),c:byte(g) if aO~=aP then return aO<aP end end
return#b<#c end local function Y(f,q) if f~='0'and not E(f,'^[1-9]%d*$')then return nil end
return(#f<#q or(#f==#q and not an(q,f)))and f or nil end local function aC(b,c) local ak,aV=b-b==0,c-c==0
if ak or aV then return ak elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function aB(b,c) if b-b==0 and c-c==0 then return b<c end return aC(b,c) end
local function bl(b,c) return aB(c,b)and c or b end local function D(d) if d-d~=0 then return d end local h,r={},0
while d>0 do local s=d%(2^24) r=r+1 h[r]=s d=(d-s)/(2^24) end return h end local ai={ __sub=function() return 1 end, }
local function N(h) local r=#h while r>0 and h[r]==0 do h[r]=nil r=r-1 end
if r>3 or(r==3 and h[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(h,ai) end
return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function aU(b,c) b,c=D(b),D(c) local H,y={},0
for d=1,math.max(#b,#c)+1 do local s=(b[d]or 0)+(c[d]or 0)+y y=s>=(2^24)and 1 or 0 H[d]=s-y*(2^24) end return N(H) end
local function al(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return aU(b,c) end local function bm(b,c)
b,c=D(b),D(c) local J={} for d=1,#b+#c do J[d]=0 end for d=1,#b do local y=0 for ae=1,#c do
local s=J[d+ae-1]+b[d]*c[ae]+y y=math.floor(s/(2^24)) J[d+ae-1]=s-y*(2^24) end J[d+#c]=y end return N(J) end
local function aE(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return bm(b,c) end local function av(h)
if#h<=15 or(#h==16 and an(h,'9007199254740992'))then return h+0 end local ab=#h%7 local d=ab>0 and h:sub(1,ab)+0 or 0
for g=ab+1,#h,7 do d=al(aE(d,10000000),h:sub(g,g+6)+0) end return d end local function am(d) if d-d==0 then return d end
local H=0 for bf=#d,1,-1 do H=H*(2^24)+d[bf] end return H end local function bC(b,c) if not aC(c,b)then return 0 end
c=D(c) local ap,X={},0 for d=1,#b do local s=b[d]-(c[d]or 0)-X X=s<0 and 1 or 0 ap[d]=s+X*(2^24) end return N(ap) end
local function bB(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end return bC(b,c) end local function aY(b,c)
local ah=0 while not aB(b,c)do local Q=math.max(1,math.floor(am(b)/am(c)*(1-2^-45))) Q=N(D(Q)) ah=al(ah,Q)
b=bB(b,aE(Q,c)) end return ah,b end local function aX(b,c) if b-b==0 and c-c==0 then local aH=b%c return(b-aH)/c,aH end
return aY(b,c) end local aS=setmetatable({(2^24)-1,(2^24)-1,2^16-1},ai) local function bo(P,f,az)
local h=f and Y(f,'9223372036854775807') local d=h and av(h) if not d or d==0 and az>0 then
B(o('ERR invalid %s: expected an integer from %d to 9223372036854775807',P,az)) elseif d-d~=0 then
B(o('ERR invalid %s: the Lua library takes integers up to 9007199254740991',P)) end return d end
local function br(j,f,bL) if j=='ID'then return bp(f,512)or v('ID') end if j=='AS'then
return f and#f>=1 and#f<=64 and not E(f,'[^%w._-]')and f or v('AS') elseif j=='AT'then
local h=f and Y(f,'9223372036854775807') return h and bl(av(h),(aX(aS,1000)))or v('AT') end
return bo(j,f,j=='BURST'and 1 or 0) end local function bw(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
v(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
v(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local aQ={FULL=true,LINE=true,HEADERS=true}
local function bn(at,aF) if at then v(at==aF and'FORM_TWICE'or'TWO_FORMS') end return aF end local function bq(a,x,g,L)
while x[g]do local l,w=x[g]:upper(),nil for bG,ax in ipairs(aT)do w=ax[1]==l and ax or w end if w then by(w,a,L)
if w[2]==l then a[l]=true g=g+1 else a[l]=br(l,x[g+1],x[g+2]) g=g+(l=='RESERVE'and 3 or 2) end bw(a)
elseif aQ[l]and C(L,'form')then a.form=bn(a.form,l) g=g+1 else return g end end return g end
local aj={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bs(f) local ag,aM=aD(f,'^(%d+)(%l*)$')
local O=ag and aj[aM]and Y(ag,'18446744073709551615')and ag*aj[aM] return O and O>=1 and O<=1e15 and O or nil end
local aR={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function bF(a,f) local T=bs(f)
if not T then a.v=f:upper() T=aR[a.v] if not T then v(C((' ID '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not C((' ID '),'ANCHOR')then B(o('ERR invalid window: %s takes no windows of the calendar',('LEASE'))) end end
return T end local function bd(e) return e:sub(-9)==':reserved'or e:sub(-14)==':reserved:ends' end local function aG(e)
if bd(e)then v('RESERVED_KEY') end end local function bx(a,M) local aw=aD(a.i,'^(.*:reserved):ends$')
if not M or aw and redis.pcall('TYPE',aw).ok=='hash'then aG(a.i) end end
V={error_reply=bb,l=bc,a=v,n=C,o=bg,q=bq,r=bv,t=bx,u=aG,w=bF} end return V end local aZ,aI=pcall(bz,KEYS,ARGV)
return aZ and aI or n().error_reply(aI)
