-- RL.RESET SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ad,q local o=redis.call local function bC(a) local aS=o('TIME') local an=aS[1]*1000000+aS[2]
a.C,a.b=an,(an-an%1000)/1000 end local K,p,aK,bS=string.find,string.format,string.match,string.sub
local function bM(a,L,f,ac,aj) local e=L[f] if not e then q().c('KEYS') end a.a,f=e,f+1 if aj then a.g=e
elseif K(e,':reserved',1,true)then q().t(e) end return f end local function bB(a,L,ac,aj) bC(a)
if#L~=bM(a,L,1,ac,aj)-1 then q().c('KEYS') end end local ag,bR,bU,Y=4000,1000,1000,2*500 local function br(a,O,aR,R)
local e=a.a local m,B=o('ZCARD',e),0 if m>0 and aR>=0 and R~='delete'then local k=p('%.0f',aR)
local v=R=='read'and 0 or ag if m<=v then local D=o('ZREMRANGEBYSCORE',e,O,k) m,ag=m-D,v-D else m,B=q().r(e,O,k,m,v) end
end a.o,a.k,a.d=m-B,B,m>0 end local function bq(a,R) br(a,'0',a.b-a.i,R) a.D,a.h,a.e=nil,nil,nil a.f=500
if R=='write'then Y=(Y-Y%2)/2 a.f=Y end end local function am(a,aE) local M,I=a.b,a.i if aE and 2*(aE-M)>=3*I then
return nil end return M+2*I end local function bl(e,M) if not redis.REDIS_VERSION_NUM then return q().l(e,M) end
local f=o('PEXPIRETIME',e) return f>=0 and f or nil end local function ai(a) a.e=a.e or a.d and bl(a.a,a.b)or 0
return a.e end local function ab(d) if d-d~=0 then return q().u(d) end return p('%.0f',d) end local function bb(a,H,j)
local e,u=a.a,p('%.0f',H) local d=a.h and a.h<H and 0 or o('ZCOUNT',e,u,u) while j>1 do local s={}
for as=1,math.min(j,1000)do s[#s+1]=u s[#s+1]=p('%s-0.%.0f',u,d) d=d+1 end j=j-o('ZADD',e,'NX',unpack(s)) end
while j>0 do j=j-o('ZADD',e,'NX',u,u..'-0.'..ab(d)) d=d+1 end end local function aa(e,aw) if aw then
o('PEXPIREAT',e,ab(aw)) end end local function bf(a,N,x) local e=a.a if N=='charge'then local W=am(a,ai(a))
bb(a,x.B or a.b,x.y) aa(e,W) elseif N~='keep'then q().j(a,N,x) elseif a.d then aa(e,am(a,ai(a))) end end
local function bI(L,z) local aT=z[1] if not aT then q().c('ARITY') end local a={limit=0,capacity=0}
local f=q().p(a,z,1+1,' ANCHOR ') if z[f]then q().c(q().n(z[f]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end
a.A=a.ANCHOR and a.ANCHOR*1000 a.i=q().x(a,aT) local ac=q().m((' COST PARTIAL '),'RESERVE') bB(a,L,ac,true)
bq(a,'delete') local V=a.d or a.E local aB=V q().s(a,aB) if V then bf(a,'delete') end return aB and 1 or 0 end
function q() if not ad then local i={}
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
i.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function be(bc,al) local w=0
for l=1,#al,1000 do local s={unpack(bc)} for d=l,math.min(l+999,#al)do s[#s+1]=al[d] end w=w+o(unpack(s)) end return w
end local function bH(e,u,m) local P={} for as,bt in ipairs(m)do P[#P+1]=u P[#P+1]=bt end be({'ZADD',e,'XX'},P) end
local function bg(a,N,x) local e=a.a if N=='delete'then o('UNLINK',e) return end local W=am(a,ai(a)) if x.F then
local u=p('%.0f',a.b) bH(e,u,o('ZRANGEBYSCORE',e,'('..u,'+inf','LIMIT','0',ab(a.f))) aa(e,W) return end local m=a.o+a.k
local l,k=m-x.q,m-1 if x.w then k=o('ZCOUNT',e,'-inf',ab(x.w))-1 l=math.max(0,k+1-x.q) end if k<0 or l>0 or k+1<m then
aa(e,W) end if k>=0 then o('ZREMRANGEBYRANK',e,p('%.0f',l),p('%.0f',k)) end end local function F(h) error({err=h},0) end
local function C(Z) F(i[Z]) end local function bj(S) if type(S)=='table'then return S elseif K(S,'^%u+ ')then
return redis.error_reply(S) end error(S,0) end local function aJ(b,c) local at,bd=b-b==0,c-c==0 if at or bd then
return at elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end
local function aI(b,c) if b-b==0 and c-c==0 then return b<c end return aJ(b,c) end local function av(d) if d-d==0 then
return d end local w=0 for bn=#d,1,-1 do w=w*(2^24)+d[bn] end return w end local ar={ __sub=function() return 1 end, }
local function X(g) local j=#g while j>0 and g[j]==0 do g[j]=nil j=j-1 end
if j>3 or(j==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,ar) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function J(d) if d-d~=0 then return d end
local g,j={},0 while d>0 do local t=d%(2^24) j=j+1 g[j]=t d=(d-t)/(2^24) end return g end local function ba(b,c)
b,c=J(b),J(c) local w,A={},0 for d=1,math.max(#b,#c)+1 do local t=(b[d]or 0)+(c[d]or 0)+A A=t>=(2^24)and 1 or 0
w[d]=t-A*(2^24) end return X(w) end local function au(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return ba(b,c) end local function bL(b,c) if not aJ(c,b)then return 0 end c=J(c) local ay,ae={},0 for d=1,#b do
local t=b[d]-(c[d]or 0)-ae ae=t<0 and 1 or 0 ay[d]=t+ae*(2^24) end return X(ay) end local function bK(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return bL(b,c) end local function bv(b,c) b,c=J(b),J(c) local Q={}
for d=1,#b+#c do Q[d]=0 end for d=1,#b do local A=0 for ak=1,#c do local t=Q[d+ak-1]+b[d]*c[ak]+A A=math.floor(t/(2^24))
Q[d+ak-1]=t-A*(2^24) end Q[d+#c]=A end return X(Q) end local function aL(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then
return b*c end return bv(b,c) end local function bh(b,c) local ap=0 while not aI(b,c)do
local s=math.max(1,math.floor(av(b)/av(c)*(1-2^-45))) s=X(J(s)) ap=au(ap,s) b=bK(b,aL(s,c)) end return ap,b end
local function az(b,c) if b-b==0 and c-c==0 then local T=b%c return(b-T)/c,T end return bh(b,c) end local function bO(d)
local aq='' while d-d~=0 do local T d,T=az(d,10000000) aq=p('%07.0f',T)..aq end return p('%.0f',d)..aq end
local function bk(e,M) local aH=o('PTTL',e) return aH>=0 and M+aH or nil end local function bD(e,O,k,m,v)
local B=o('ZCOUNT',e,O,k) local D=math.min(B,v) if D>0 then local l=O=='0'and o('ZCOUNT',e,'-inf','(0')or 0
o('ZREMRANGEBYRANK',e,p('%.0f',l),p('%.0f',l+D-1)) m,B,ag=m-D,B-D,v-D end return m,B end local function G(bp,r)
return not K(r,' ',1,true)and K(bp,' '..r..' ',1,true)~=nil end local function bo(r,n) local l,k=0,0
local aQ,bs=math.min(#r,#n),math.max(#r,#n) while l<aQ and r:byte(l+1)==n:byte(l+1)do l=l+1 end
while k<aQ-l and r:byte(-1-k)==n:byte(-1-k)do k=k+1 end return l+k>=2 and bs-l-k<=2 end local aZ={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bN(a,n)
return not G(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or G((' COST PARTIAL '),n) end
local function bG(y,a,U) local n,bQ=y[1],a.z if not G(U,n)then F(p('ERR invalid %s: only %s it',n,y[3]))
elseif not bN(a,n)then F(p('ERR invalid %s: %s takes none',n,('SLIDING'))) elseif a[n]~=nil then
F(p('ERR syntax error: %s comes at most once',y[2])) end end local function ax(b,c) for f=1,math.min(#b,#c)do
local aU,aV=b:byte(f),c:byte(f) if aU~=aV then return aU<aV end end return#b<#c end local function af(h,v)
if h~='0'and not K(h,'^[1-9]%d*$')then return nil end return(#h<#v or(#h==#v and not ax(v,h)))and h or nil end
local function bu(b,c) return aI(c,b)and c or b end local function aC(g)
if#g<=15 or(#g==16 and ax(g,'9007199254740992'))then return g+0 end local ah=#g%7 local d=ah>0 and g:sub(1,ah)+0 or 0
for f=ah+1,#g,7 do d=au(aL(d,10000000),g:sub(f,f+6)+0) end return d end
local aY=setmetatable({(2^24)-1,(2^24)-1,2^16-1},ar) local function bx(Z,h,aG) local g=h and af(h,'9223372036854775807')
local d=g and aC(g) if not d or d==0 and aG>0 then
F(p('ERR invalid %s: expected an integer from %d to 9223372036854775807',Z,aG)) elseif d-d~=0 then
F(p('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Z)) end return d end
local function bz(n,h,bT) if n=='AS'then return h and#h>=1 and#h<=64 and not K(h,'[^%w._-]')and h or C('AS')
elseif n=='AT'then local g=h and af(h,'9223372036854775807') return g and bu(aC(g),(az(aY,1000)))or C('AT') end
return bx(n,h,n=='BURST'and 1 or 0) end local function bE(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
C(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
C(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local aW={FULL=true,LINE=true,HEADERS=true}
local function bw(aA,aM) if aA then C(aA==aM and'FORM_TWICE'or'TWO_FORMS') end return aM end local function by(a,z,f,U)
while z[f]do local r,y=z[f]:upper(),nil for as,aF in ipairs(aZ)do y=aF[1]==r and aF or y end if y then bG(y,a,U)
if y[2]==r then a[r]=true f=f+1 else a[r]=bz(r,z[f+1],z[f+2]) f=f+(r=='RESERVE'and 3 or 2) end bE(a)
elseif aW[r]and G(U,'form')then a.form=bw(a.form,r) f=f+1 else return f end end return f end local function bJ(E)
return E==''and 1000 or E=='ms'and 1 or E=='s'and 1000 or E=='m'and 60000 or E=='h'and 3600000 or E=='d'and 86400000
or nil end local function bA(h) local ao,E=aK(h,'^(%d+)(%l*)$') local aP=ao and bJ(E)
local H=aP and af(ao,'18446744073709551615')and ao*aP return H and H>=1 and H<=1e15 and H or nil end
local aX={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function bP(a,h) local I=bA(h)
if not I then a.v=h:upper() I=aX[a.v] if not I then C(G((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not G((' COST PARTIAL '),'ANCHOR')then
F(p('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return I end local function bm(e)
return e:sub(-9)==':reserved'or e:sub(-14)==':reserved:ends' end local function aN(e) if bm(e)then C('RESERVED_KEY') end
end local function bF(a,V) local aD=aK(a.g,'^(.*:reserved):ends$')
if not V or aD and redis.pcall('TYPE',aD).ok=='hash'then aN(a.g) end end
ad={j=bg,error_reply=bj,l=bk,c=C,m=G,n=bo,p=by,r=bD,s=bF,t=aN,u=bO,x=bP} end return ad end
local bi,aO=pcall(bI,KEYS,ARGV) return bi and aO or q().error_reply(aO)
