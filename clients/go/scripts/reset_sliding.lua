-- RL.RESET SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ac,q local o=redis.call local function bB(a) local aR=o('TIME') local am=aR[1]*1000000+aR[2]
a.E,a.a=am,(am-am%1000)/1000 end local I,p,aK,bQ=string.find,string.format,string.match,string.sub
local function bK(a,J,f,ab,ai) local e=J[f] if not e then q().c('KEYS') end a.e,f=e,f+1 if ai then a.g=e
elseif I(e,':reserved',1,true)then q().v(e) end return f end local function bA(a,J,ab,ai) bB(a)
if#J~=bK(a,J,1,ab,ai)-1 then q().c('KEYS') end end local af,bP,bS,X=4000,1000,1000,2*500 local function bq(a,N,aQ,Q)
local e=a.e local m,B=o('ZCARD',e),0 if m>0 and aQ>=0 and Q~='delete'then local k=p('%.0f',aQ)
local v=Q=='read'and 0 or af if m<=v then local D=o('ZREMRANGEBYSCORE',e,N,k) m,af=m-D,v-D else m,B=q().t(e,N,k,m,v) end
end a.p,a.k,a.b=m-B,B,m>0 end local function bp(a,Q) bq(a,'0',a.a-a.i,Q) a.f=500 if Q=='write'then X=(X-X%2)/2 a.f=X end
end local function al(a,aE) local L,G=a.a,a.i if aE and 2*(aE-L)>=3*G then return nil end return L+2*G end
local function ag(e,L) if not redis.REDIS_VERSION_NUM then return q().l(e,L) end local f=o('PEXPIRETIME',e)
return f>=0 and f or nil end local function aa(d) if d-d~=0 then return q().w(d) end return p('%.0f',d) end
local function bb(e,K,j) local u=p('%.0f',K) local d=o('ZCOUNT',e,u,u) while j>1 do local s={}
for as=1,math.min(j,1000)do s[#s+1]=u s[#s+1]=p('%s-0.%.0f',u,d) d=d+1 end j=j-o('ZADD',e,'NX',unpack(s)) end
while j>0 do j=j-o('ZADD',e,'NX',u,u..'-0.'..aa(d)) d=d+1 end end local function Z(e,aw) if aw then
o('PEXPIREAT',e,aa(aw)) end end local function bf(a,M,x) local e=a.e if M=='charge'then
local V=al(a,a.b and ag(e,a.a)or nil) bb(e,x.D or a.a,x.A) Z(e,V) elseif M~='keep'then q().j(a,M,x) elseif a.b then
Z(e,al(a,ag(e,a.a))) end end local function bH(J,z) local aT=z[1] if not aT then q().c('ARITY') end
local a={limit=0,capacity=0} local f=q().q(a,z,1+1,' ANCHOR ') if z[f]then
q().c(q().o(z[f]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end a.C=a.ANCHOR and a.ANCHOR*1000 a.i=q().z(a,aT)
local ab=q().n((' COST PARTIAL '),'RESERVE') bA(a,J,ab,true) bp(a,'delete') local U=a.b or a.F local aB=U q().u(a,aB)
if U then bf(a,'delete') end return aB and 1 or 0 end function q() if not ac then local i={}
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
i.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function be(bc,ak) local w=0
for l=1,#ak,1000 do local s={unpack(bc)} for d=l,math.min(l+999,#ak)do s[#s+1]=ak[d] end w=w+o(unpack(s)) end return w
end local function bG(e,u,m) local O={} for as,bs in ipairs(m)do O[#O+1]=u O[#O+1]=bs end be({'ZADD',e,'XX'},O) end
local function bg(a,M,x) local e=a.e if M=='delete'then o('UNLINK',e) return end local V=al(a,a.b and ag(e,a.a)or nil)
if x.G then local u=p('%.0f',a.a) bG(e,u,o('ZRANGEBYSCORE',e,'('..u,'+inf','LIMIT','0',aa(a.f))) Z(e,V) return end
local m=a.p+a.k local l,k=m-x.r,m-1 if x.y then k=o('ZCOUNT',e,'-inf',aa(x.y))-1 l=math.max(0,k+1-x.r) end
if k<0 or l>0 or k+1<m then Z(e,V) end if k>=0 then o('ZREMRANGEBYRANK',e,p('%.0f',l),p('%.0f',k)) end end
local function E(h) error({err=h},0) end local function C(Y) E(i[Y]) end local function bj(R) if type(R)=='table'then
return R elseif I(R,'^%u+ ')then return redis.error_reply(R) end error(R,0) end local function aJ(b,c)
local at,bd=b-b==0,c-c==0 if at or bd then return at elseif#b~=#c then return#b<#c end for d=#b,1,-1 do
if b[d]~=c[d]then return b[d]<c[d] end end return false end local function aI(b,c) if b-b==0 and c-c==0 then return b<c
end return aJ(b,c) end local function av(d) if d-d==0 then return d end local w=0 for bm=#d,1,-1 do w=w*(2^24)+d[bm] end
return w end local aq={ __sub=function() return 1 end, } local function W(g) local j=#g while j>0 and g[j]==0 do
g[j]=nil j=j-1 end if j>3 or(j==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,aq) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function H(d) if d-d~=0 then return d end
local g,j={},0 while d>0 do local t=d%(2^24) j=j+1 g[j]=t d=(d-t)/(2^24) end return g end local function ba(b,c)
b,c=H(b),H(c) local w,A={},0 for d=1,math.max(#b,#c)+1 do local t=(b[d]or 0)+(c[d]or 0)+A A=t>=(2^24)and 1 or 0
w[d]=t-A*(2^24) end return W(w) end local function au(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return ba(b,c) end local function bJ(b,c) if not aJ(c,b)then return 0 end c=H(c) local ay,ad={},0 for d=1,#b do
local t=b[d]-(c[d]or 0)-ad ad=t<0 and 1 or 0 ay[d]=t+ad*(2^24) end return W(ay) end local function bI(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return bJ(b,c) end local function bu(b,c) b,c=H(b),H(c) local P={}
for d=1,#b+#c do P[d]=0 end for d=1,#b do local A=0 for aj=1,#c do local t=P[d+aj-1]+b[d]*c[aj]+A A=math.floor(t/(2^24))
P[d+aj-1]=t-A*(2^24) end P[d+#c]=A end return W(P) end local function aL(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then
return b*c end return bu(b,c) end local function bh(b,c) local ao=0 while not aI(b,c)do
local s=math.max(1,math.floor(av(b)/av(c)*(1-2^-45))) s=W(H(s)) ao=au(ao,s) b=bI(b,aL(s,c)) end return ao,b end
local function az(b,c) if b-b==0 and c-c==0 then local S=b%c return(b-S)/c,S end return bh(b,c) end local function bM(d)
local ap='' while d-d~=0 do local S d,S=az(d,10000000) ap=p('%07.0f',S)..ap end return p('%.0f',d)..ap end
local function bk(e,L) local aH=o('PTTL',e) return aH>=0 and L+aH or nil end local function bC(e,N,k,m,v)
local B=o('ZCOUNT',e,N,k) local D=math.min(B,v) if D>0 then local l=N=='0'and o('ZCOUNT',e,'-inf','(0')or 0
o('ZREMRANGEBYRANK',e,p('%.0f',l),p('%.0f',l+D-1)) m,B,af=m-D,B-D,v-D end return m,B end local function F(bo,r)
return not I(r,' ',1,true)and I(bo,' '..r..' ',1,true)~=nil end local function bn(r,n) local l,k=0,0
local aP,br=math.min(#r,#n),math.max(#r,#n) while l<aP and r:byte(l+1)==n:byte(l+1)do l=l+1 end
while k<aP-l and r:byte(-1-k)==n:byte(-1-k)do k=k+1 end return l+k>=2 and br-l-k<=2 end local aZ={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bL(a,n)
return not F(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or F((' COST PARTIAL '),n) end
local function bF(y,a,T) local n,bO=y[1],a.B if not F(T,n)then E(p('ERR invalid %s: only %s it',n,y[3]))
elseif not bL(a,n)then E(p('ERR invalid %s: %s takes none',n,('SLIDING'))) elseif a[n]~=nil then
E(p('ERR syntax error: %s comes at most once',y[2])) end end local function ax(b,c) for f=1,math.min(#b,#c)do
local aU,aV=b:byte(f),c:byte(f) if aU~=aV then return aU<aV end end return#b<#c end local function ae(h,v)
if h~='0'and not I(h,'^[1-9]%d*$')then return nil end return(#h<#v or(#h==#v and not ax(v,h)))and h or nil end
local function bt(b,c) return aI(c,b)and c or b end local function aC(g)
if#g<=15 or(#g==16 and ax(g,'9007199254740992'))then return g+0 end local ah=#g%7 local d=ah>0 and g:sub(1,ah)+0 or 0
for f=ah+1,#g,7 do d=au(aL(d,10000000),g:sub(f,f+6)+0) end return d end
local aY=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aq) local function bw(Y,h,aG) local g=h and ae(h,'9223372036854775807')
local d=g and aC(g) if not d or d==0 and aG>0 then
E(p('ERR invalid %s: expected an integer from %d to 9223372036854775807',Y,aG)) elseif d-d~=0 then
E(p('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Y)) end return d end
local function by(n,h,bR) if n=='AS'then return h and#h>=1 and#h<=64 and not I(h,'[^%w._-]')and h or C('AS')
elseif n=='AT'then local g=h and ae(h,'9223372036854775807') return g and bt(aC(g),(az(aY,1000)))or C('AT') end
return bw(n,h,n=='BURST'and 1 or 0) end local function bD(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
C(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
C(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local aW={FULL=true,LINE=true,HEADERS=true}
local function bv(aA,aM) if aA then C(aA==aM and'FORM_TWICE'or'TWO_FORMS') end return aM end local function bx(a,z,f,T)
while z[f]do local r,y=z[f]:upper(),nil for as,aF in ipairs(aZ)do y=aF[1]==r and aF or y end if y then bF(y,a,T)
if y[2]==r then a[r]=true f=f+1 else a[r]=by(r,z[f+1],z[f+2]) f=f+(r=='RESERVE'and 3 or 2) end bD(a)
elseif aW[r]and F(T,'form')then a.form=bv(a.form,r) f=f+1 else return f end end return f end
local ar={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bz(h) local an,aS=aK(h,'^(%d+)(%l*)$')
local K=an and ar[aS]and ae(an,'18446744073709551615')and an*ar[aS] return K and K>=1 and K<=1e15 and K or nil end
local aX={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function bN(a,h) local G=bz(h)
if not G then a.x=h:upper() G=aX[a.x] if not G then C(F((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not F((' COST PARTIAL '),'ANCHOR')then
E(p('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return G end local function bl(e)
return e:sub(-9)==':reserved'or e:sub(-14)==':reserved:ends' end local function aN(e) if bl(e)then C('RESERVED_KEY') end
end local function bE(a,U) local aD=aK(a.g,'^(.*:reserved):ends$')
if not U or aD and redis.pcall('TYPE',aD).ok=='hash'then aN(a.g) end end
ac={j=bg,error_reply=bj,l=bk,c=C,n=F,o=bn,q=bx,t=bC,u=bE,v=aN,w=bM,z=bN} end return ac end
local bi,aO=pcall(bH,KEYS,ARGV) return bi and aO or q().error_reply(aO)
