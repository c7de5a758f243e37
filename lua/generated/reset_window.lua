-- RL.RESET WINDOW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local V,k local r=redis.call local function bt(a) local aL=r('TIME') local ad=aL[1]*1000000+aL[2]
a.B,a.o=ad,(ad-ad%1000)/1000 end local x,p,R,bL=string.find,string.format,string.match,string.sub
local function bD(a,q,f,G,aa) local h=q[f] if not h then k().a('KEYS') end a.e,f=h,f+1 if aa then a.f=h
elseif x(h,':reserved',1,true)then k().r(h) end if G then f=a.E and f+2 or k().t(a,q,f,h) end return f end
local function bs(a,q,G,aa) bt(a) if#q~=bD(a,q,1,G,aa)-1 then k().a('KEYS') end end local function bi(a) local h=a.e
local e=r('GET',h) if e then local F=#e<16 and x(e,'^[1-9]%d*$')and e+0 or k().w(e)
local P=redis.REDIS_VERSION_NUM and r('PEXPIRETIME',h)or k().j(h,a.o)or-1 if P<0 then P=nil elseif P>=(2^53)then
k().a('INEXACT_STATE') end a.g={b=F,c=P} end end local function ah(d) if d-d~=0 then return k().u(d) end
return p('%.0f',d) end local function by(h,ao) if ao then r('PEXPIREAT',h,ah(ao)) end end local function aX(a,aq,C)
local h,H=a.e,a.g if aq=='delete'then r('UNLINK',h) elseif aq=='keep'then return elseif H and H.c==C.c then
local ar=C.b-H.b r('INCRBY',h,ar==1 and'1'or p('%.0f',ar)) elseif H and H.b==C.b then by(h,C.c) else
r('SET',h,ah(C.b),'PXAT',ah(C.c)) end end local function bx(q,t) local aO=t[1] if not aO then k().a('ARITY') end
local a={limit=0,capacity=0} local f=k().p(a,t,1+1,' ANCHOR ') if t[f]then
k().a(k().n(t[f]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end a.z=a.ANCHOR and a.ANCHOR*1000 a.D=k().x(a,aO)
local G=k().l((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'RESERVE') bs(a,q,G,true) local ax=G and k().k(a)
bi(a,'delete') local J=a.A or a.g local X=J X=J or ax k().q(a,X) if J then aX(a,'delete') end if ax then
r('UNLINK',a.hash,a.i) end return X and 1 or 0 end function k() if not V then local i={}
i.NOT_A_COUNTER='ERR value is not an integer or out of range'
i.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
i.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
i.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
i.ID='ERR invalid ID: expected 1 to 512 bytes'
i.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
i.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
i.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
i.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds' i.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
i.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
i.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
i.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
i.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
i.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
i.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
i.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' i.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
i.ARITY='ERR wrong number of arguments' i.RESET_WORDS='ERR syntax error: after window comes ANCHOR t or nothing'
i.NO_SUCH_OPTION='ERR syntax error: no such option, but there is ANCHOR t' local function v(e) error({err=e},0) end
local function m(B) v(i[B]) end local function ba(M) if type(M)=='table'then return M elseif x(M,'^%u+ ')then
return redis.error_reply(M) end error(M,0) end local function aC(b,c) local al,aW=b-b==0,c-c==0 if al or aW then
return al elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end
local function aB(b,c) if b-b==0 and c-c==0 then return b<c end return aC(b,c) end local function an(d) if d-d==0 then
return d end local E=0 for bf=#d,1,-1 do E=E*(2^24)+d[bf] end return E end local aj={ __sub=function() return 1 end, }
local function Q(g) local n=#g while n>0 and g[n]==0 do g[n]=nil n=n-1 end
if n>3 or(n==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,aj) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function D(d) if d-d~=0 then return d end
local g,n={},0 while d>0 do local o=d%(2^24) n=n+1 g[n]=o d=(d-o)/(2^24) end return g end local function aV(b,c)
b,c=D(b),D(c) local E,u={},0 for d=1,math.max(#b,#c)+1 do local o=(b[d]or 0)+(c[d]or 0)+u u=o>=(2^24)and 1 or 0
E[d]=o-u*(2^24) end return Q(E) end local function am(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return aV(b,c) end local function bB(b,c) if not aC(c,b)then return 0 end c=D(c) local as,W={},0 for d=1,#b do
local o=b[d]-(c[d]or 0)-W W=o<0 and 1 or 0 as[d]=o+W*(2^24) end return Q(as) end local function bA(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return bB(b,c) end local function bl(b,c) b,c=D(b),D(c) local L={}
for d=1,#b+#c do L[d]=0 end for d=1,#b do local u=0 for ab=1,#c do local o=L[d+ab-1]+b[d]*c[ab]+u u=math.floor(o/(2^24))
L[d+ab-1]=o-u*(2^24) end L[d+#c]=u end return Q(L) end local function aD(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then
return b*c end return bl(b,c) end local function aY(b,c) local af=0 while not aB(b,c)do
local T=math.max(1,math.floor(an(b)/an(c)*(1-2^-45))) T=Q(D(T)) af=am(af,T) b=bA(b,aD(T,c)) end return af,b end
local function at(b,c) if b-b==0 and c-c==0 then local N=b%c return(b-N)/c,N end return aY(b,c) end local function bF(d)
local ag='' while d-d~=0 do local N d,N=at(d,10000000) ag=p('%07.0f',N)..ag end return p('%.0f',d)..ag end
local function bb(h,bn) local aA=r('PTTL',h) return aA>=0 and bn+aA or nil end local function ap(b,c)
for f=1,math.min(#b,#c)do local aP,aQ=b:byte(f),c:byte(f) if aP~=aQ then return aP<aQ end end return#b<#c end
local function I(e,K) if e~='0'and not x(e,'^[1-9]%d*$')then return nil end
return(#e<#K or(#e==#K and not ap(K,e)))and e or nil end local function bc(e,l,bo)
local bI={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local ai=bI[R(e,'^(%u):')] if not ai or ai==l then
m(bo) end v('ERR the key holds a state of '..ai..': use another key for each algorithm') end local function Y(g)
if#g<=15 or(#g==16 and ap(g,'9007199254740992'))then return g+0 end local Z=#g%7 local d=Z>0 and g:sub(1,Z)+0 or 0
for f=Z+1,#g,7 do d=am(aD(d,10000000),g:sub(f,f+6)+0) end return d end local function bG(e)
local bz,g=R(e,'^(%-?)(%d+)$') local ac=bz=='-' g=g and I(g,ac and'9223372036854775808'or'9223372036854775807')
if not g or(ac and g=='0')then bc(e,nil,'NOT_A_COUNTER') end local F=Y(g) if F-F~=0 then m('INEXACT_STATE') end
return ac and-F or F end local function z(bh,l) return not x(l,' ',1,true)and x(bh,' '..l..' ',1,true)~=nil end
local function bg(l,j) local w,A=0,0 local aK,bj=math.min(#l,#j),math.max(#l,#j)
while w<aK and l:byte(w+1)==j:byte(w+1)do w=w+1 end while A<aK-w and l:byte(-1-A)==j:byte(-1-A)do A=A+1 end
return w+A>=2 and bj-w-A<=2 end local aU={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
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
return not z(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or z((' COST PARTIAL ALWAYS RESERVE RESERVATION '),j)
end local function bw(s,a,O) local j,bK=s[1],a.y if not z(O,j)then v(p('ERR invalid %s: only %s it',j,s[3]))
elseif not bE(a,j)then v(p('ERR invalid %s: %s takes none',j,('WINDOW'))) elseif a[j]~=nil then
v(p('ERR syntax error: %s comes at most once',s[2])) end end
local ak={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function aG(e) local ae,aN=R(e,'^(%d+)(%l*)$')
local S=ae and ak[aN]and I(ae,'18446744073709551615')and ae*ak[aN] return S and S>=1 and S<=1e15 and S or nil end
local function aF(e,K) return e and#e>=1 and#e<=K and e end local function bk(b,c) return aB(c,b)and c or b end
local aT=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aj) local function bp(B,e,az) local g=e and I(e,'9223372036854775807')
local d=g and Y(g) if not d or d==0 and az>0 then
v(p('ERR invalid %s: expected an integer from %d to 9223372036854775807',B,az)) elseif d-d~=0 then
v(p('ERR invalid %s: the Lua library takes integers up to 9007199254740991',B)) end return d end
local function br(j,e,aJ) if j=='RESERVE'then local aM=aJ and aG(aJ)
return aF(e,128)and aM and{id=e,ttl=aM}or m('RESERVE') elseif j=='RESERVATION'then return aF(e,128)or m('RESERVATION')
end if j=='AS'then return e and#e>=1 and#e<=64 and not x(e,'[^%w._-]')and e or m('AS') elseif j=='AT'then
local g=e and I(e,'9223372036854775807') return g and bk(Y(g),(at(aT,1000)))or m('AT') end
return bp(j,e,j=='BURST'and 1 or 0) end local function bu(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
m(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
m(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local aR={FULL=true,LINE=true,HEADERS=true}
local function bm(aw,aE) if aw then m(aw==aE and'FORM_TWICE'or'TWO_FORMS') end return aE end local function bq(a,t,f,O)
while t[f]do local l,s=t[f]:upper(),nil for bJ,ay in ipairs(aU)do s=ay[1]==l and ay or s end if s then bw(s,a,O)
if s[2]==l then a[l]=true f=f+1 else a[l]=br(l,t[f+1],t[f+2]) f=f+(l=='RESERVE'and 3 or 2) end bu(a)
elseif aR[l]and z(O,'form')then a.form=bm(a.form,l) f=f+1 else return f end end return f end
local aS={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function bH(a,e) local U=aG(e)
if not U then a.v=e:upper() U=aS[a.v] if not U then
m(z((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not z((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
v(p('ERR invalid window: %s takes no windows of the calendar',('WINDOW'))) end end return U end local function be(h)
return h:sub(-9)==':reserved'or h:sub(-14)==':reserved:ends' end local function aH(h) if be(h)then m('RESERVED_KEY') end
end local function bv(a,J) local y=R(a.f,'^(.*:reserved):ends$') if not J or y and redis.pcall('TYPE',y).ok=='hash'then
aH(a.f) end end local function bC(a,q,f,h) local y,av=q[f]or'',q[f+1] local B=((nil)and(nil)(a)or'')..':reserved'
if(y~=h..B and y~='{'..h..'}'..B)or av~=y..':ends'then m('KEYS') end a.hash,a.i=y,av return f+2 end local function bd(a)
local au=redis.pcall('HGET',a.hash,'') return type(au)=='string'and I(au,'18446744073709551615') end
V={error_reply=ba,j=bb,a=m,k=bd,l=z,n=bg,p=bq,q=bv,r=aH,t=bC,u=bF,w=bG,x=bH} end return V end
local aZ,aI=pcall(bx,KEYS,ARGV) return aZ and aI or k().error_reply(aI)
