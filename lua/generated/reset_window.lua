-- RL.RESET WINDOW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local W,k local r=redis.call local function bt(a) local aM=r('TIME') local ae=aM[1]*1000000+aM[2]
a.x,a.l=ae,(ae-ae%1000)/1000 end local y,p,S,bM=string.find,string.format,string.match,string.sub
local function bE(a,q,f,H,ab) local h=q[f] if not h then k().a('KEYS') end a.d,f=h,f+1 if ab then a.e=h
elseif y(h,':reserved',1,true)then k().o(h) end if H then f=a.z and f+2 or k().p(a,q,f,h) end return f end
local function bs(a,q,H,ab) bt(a) if#q~=bE(a,q,1,H,ab)-1 then k().a('KEYS') end end local function bi(a) local h=a.d
local e=r('GET',h) if e then local G=#e<16 and y(e,'^[1-9]%d*$')and e+0 or k().s(e)
local Q=redis.REDIS_VERSION_NUM and r('PEXPIRETIME',h)or k().h(h,a.l)or-1 if Q<0 then Q=nil elseif Q>=(2^53)then
k().a('INEXACT_STATE') end a.f={b=G,c=Q} end end local function ai(d) if d-d~=0 then return k().q(d) end
return p('%.0f',d) end local function bz(h,ao) if ao then r('PEXPIREAT',h,ai(ao)) end end local function aX(a,aq,D)
local h,I=a.d,a.f if aq=='delete'then r('UNLINK',h) elseif aq=='keep'then return elseif I and I.c==D.c then
local ar=D.b-I.b r('INCRBY',h,ar==1 and'1'or p('%.0f',ar)) elseif I and I.b==D.b then bz(h,D.c) else
r('SET',h,ai(D.b),'PXAT',ai(D.c)) end end local function bx(q,t) local aO=t[1] if not aO then k().a('ARITY') end
local a={limit=0,capacity=0} local f=k().m(a,t,1+1,' ANCHOR ') if t[f]then
k().a(k().k(t[f]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end a.v=a.ANCHOR and a.ANCHOR*1000 a.y=k().t(a,aO)
local H=k().j((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'RESERVE') bs(a,q,H,true) local ax=H and k().i(a)
bi(a,'delete') local K=a.w or a.f local Y=K Y=K or ax k().n(a,Y) if K then aX(a,'delete') end if ax then
r('UNLINK',a.hash,a.g) end return Y and 1 or 0 end function k() if not W then local i={}
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
local function m(C) v(i[C]) end local function ba(N) if type(N)=='table'then return N elseif y(N,'^%u+ ')then
return redis.error_reply(N) end error(N,0) end local function aC(b,c) local al,aW=b-b==0,c-c==0 if al or aW then
return al elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end
local function aB(b,c) if b-b==0 and c-c==0 then return b<c end return aC(b,c) end local function an(d) if d-d==0 then
return d end local F=0 for bf=#d,1,-1 do F=F*(2^24)+d[bf] end return F end local ak={ __sub=function() return 1 end, }
local function R(g) local n=#g while n>0 and g[n]==0 do g[n]=nil n=n-1 end
if n>3 or(n==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,ak) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function E(d) if d-d~=0 then return d end
local g,n={},0 while d>0 do local o=d%(2^24) n=n+1 g[n]=o d=(d-o)/(2^24) end return g end local function aV(b,c)
b,c=E(b),E(c) local F,u={},0 for d=1,math.max(#b,#c)+1 do local o=(b[d]or 0)+(c[d]or 0)+u u=o>=(2^24)and 1 or 0
F[d]=o-u*(2^24) end return R(F) end local function am(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return aV(b,c) end local function bC(b,c) if not aC(c,b)then return 0 end c=E(c) local as,X={},0 for d=1,#b do
local o=b[d]-(c[d]or 0)-X X=o<0 and 1 or 0 as[d]=o+X*(2^24) end return R(as) end local function bB(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return bC(b,c) end local function bl(b,c) b,c=E(b),E(c) local M={}
for d=1,#b+#c do M[d]=0 end for d=1,#b do local u=0 for ac=1,#c do local o=M[d+ac-1]+b[d]*c[ac]+u u=math.floor(o/(2^24))
M[d+ac-1]=o-u*(2^24) end M[d+#c]=u end return R(M) end local function aD(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then
return b*c end return bl(b,c) end local function aY(b,c) local ag=0 while not aB(b,c)do
local U=math.max(1,math.floor(an(b)/an(c)*(1-2^-45))) U=R(E(U)) ag=am(ag,U) b=bB(b,aD(U,c)) end return ag,b end
local function at(b,c) if b-b==0 and c-c==0 then local O=b%c return(b-O)/c,O end return aY(b,c) end local function bG(d)
local ah='' while d-d~=0 do local O d,O=at(d,10000000) ah=p('%07.0f',O)..ah end return p('%.0f',d)..ah end
local function bb(h,bn) local aA=r('PTTL',h) return aA>=0 and bn+aA or nil end local function ap(b,c)
for f=1,math.min(#b,#c)do local aP,aQ=b:byte(f),c:byte(f) if aP~=aQ then return aP<aQ end end return#b<#c end
local function J(e,L) if e~='0'and not y(e,'^[1-9]%d*$')then return nil end
return(#e<#L or(#e==#L and not ap(L,e)))and e or nil end local function bc(e,l,bo)
local bJ={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aj=bJ[S(e,'^(%u):')] if not aj or aj==l then
m(bo) end v('ERR the key holds a state of '..aj..': use another key for each algorithm') end local function Z(g)
if#g<=15 or(#g==16 and ap(g,'9007199254740992'))then return g+0 end local aa=#g%7 local d=aa>0 and g:sub(1,aa)+0 or 0
for f=aa+1,#g,7 do d=am(aD(d,10000000),g:sub(f,f+6)+0) end return d end local function bH(e)
local bA,g=S(e,'^(%-?)(%d+)$') local ad=bA=='-' g=g and J(g,ad and'9223372036854775808'or'9223372036854775807')
if not g or(ad and g=='0')then bc(e,nil,'NOT_A_COUNTER') end local G=Z(g) if G-G~=0 then m('INEXACT_STATE') end
return ad and-G or G end local function A(bh,l) return not y(l,' ',1,true)and y(bh,' '..l..' ',1,true)~=nil end
local function bg(l,j) local w,B=0,0 local aL,bj=math.min(#l,#j),math.max(#l,#j)
while w<aL and l:byte(w+1)==j:byte(w+1)do w=w+1 end while B<aL-w and l:byte(-1-B)==j:byte(-1-B)do B=B+1 end
return w+B>=2 and bj-w-B<=2 end local aU={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bF(a,j)
return not A(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or A((' COST PARTIAL ALWAYS RESERVE RESERVATION '),j)
end local function bw(s,a,P) local j,bL=s[1],a.u if not A(P,j)then v(p('ERR invalid %s: only %s it',j,s[3]))
elseif not bF(a,j)then v(p('ERR invalid %s: %s takes none',j,('WINDOW'))) elseif a[j]~=nil then
v(p('ERR syntax error: %s comes at most once',s[2])) end end local function by(x) return x==''and 1000 or x=='ms'and 1
or x=='s'and 1000 or x=='m'and 60000 or x=='h'and 3600000 or x=='d'and 86400000 or nil end local function aG(e)
local af,x=S(e,'^(%d+)(%l*)$') local aJ=af and by(x) local T=aJ and J(af,'18446744073709551615')and af*aJ
return T and T>=1 and T<=1e15 and T or nil end local function aF(e,L) return e and#e>=1 and#e<=L and e end
local function bk(b,c) return aB(c,b)and c or b end local aT=setmetatable({(2^24)-1,(2^24)-1,2^16-1},ak)
local function bp(C,e,az) local g=e and J(e,'9223372036854775807') local d=g and Z(g) if not d or d==0 and az>0 then
v(p('ERR invalid %s: expected an integer from %d to 9223372036854775807',C,az)) elseif d-d~=0 then
v(p('ERR invalid %s: the Lua library takes integers up to 9007199254740991',C)) end return d end
local function br(j,e,aK) if j=='RESERVE'then local aN=aK and aG(aK)
return aF(e,128)and aN and{id=e,ttl=aN}or m('RESERVE') elseif j=='RESERVATION'then return aF(e,128)or m('RESERVATION')
end if j=='AS'then return e and#e>=1 and#e<=64 and not y(e,'[^%w._-]')and e or m('AS') elseif j=='AT'then
local g=e and J(e,'9223372036854775807') return g and bk(Z(g),(at(aT,1000)))or m('AT') end
return bp(j,e,j=='BURST'and 1 or 0) end local function bu(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
m(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
m(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local aR={FULL=true,LINE=true,HEADERS=true}
local function bm(aw,aE) if aw then m(aw==aE and'FORM_TWICE'or'TWO_FORMS') end return aE end local function bq(a,t,f,P)
while t[f]do local l,s=t[f]:upper(),nil for bK,ay in ipairs(aU)do s=ay[1]==l and ay or s end if s then bw(s,a,P)
if s[2]==l then a[l]=true f=f+1 else a[l]=br(l,t[f+1],t[f+2]) f=f+(l=='RESERVE'and 3 or 2) end bu(a)
elseif aR[l]and A(P,'form')then a.form=bm(a.form,l) f=f+1 else return f end end return f end
local aS={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function bI(a,e) local V=aG(e)
if not V then a.r=e:upper() V=aS[a.r] if not V then
m(A((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not A((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
v(p('ERR invalid window: %s takes no windows of the calendar',('WINDOW'))) end end return V end local function be(h)
return h:sub(-9)==':reserved'or h:sub(-14)==':reserved:ends' end local function aH(h) if be(h)then m('RESERVED_KEY') end
end local function bv(a,K) local z=S(a.e,'^(.*:reserved):ends$') if not K or z and redis.pcall('TYPE',z).ok=='hash'then
aH(a.e) end end local function bD(a,q,f,h) local z,av=q[f]or'',q[f+1] local C=((nil)and(nil)(a)or'')..':reserved'
if(z~=h..C and z~='{'..h..'}'..C)or av~=z..':ends'then m('KEYS') end a.hash,a.g=z,av return f+2 end local function bd(a)
local au=redis.pcall('HGET',a.hash,'') return type(au)=='string'and J(au,'18446744073709551615') end
W={error_reply=ba,h=bb,a=m,i=bd,j=A,k=bg,m=bq,n=bv,o=aH,p=bD,q=bG,s=bH,t=bI} end return W end
local aZ,aI=pcall(bx,KEYS,ARGV) return aZ and aI or k().error_reply(aI)
