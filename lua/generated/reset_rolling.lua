-- RL.RESET ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local an,m local v=redis.call local function ce(a) local bh=v('TIME') local aw=bh[1]*1000000+bh[2]
a.J,a.b=aw,(aw-aw%1000)/1000 end local T,z,av,cb=string.find,string.format,string.match,string.sub
local function cr(a,A,f,W,at) local g=A[f] if not g then m().a('KEYS') end a.c,f=g,f+1 if at then a.i=g
elseif T(g,':reserved',1,true)then m().w(g) end if W then f=a.M and f+2 or m().y(a,A,f,g) end return f end
local function cc(a,A,W,at) ce(a) if#A~=cr(a,A,1,W,at)-1 then m().a('KEYS') end end local aJ,bw=string.byte,string.char
local function ab(e,d) local b,c,F,H,J,K,C=aJ(e,15*d+3,15*d+9) if C>=32 then m().a('INEXACT_STATE') end
return b+256*(c+256*(F+256*(H+256*(J+256*(K+256*C))))) end local function by(e,y,t) if y==0 or ab(e,y-1)<=t then
return y end local Q,af=0,y while af>1 do local ar=(af-af%2)/2 if ab(e,Q+ar)<=t then Q=Q+ar end af=af-ar end
return ab(e,Q)<=t and Q+1 or Q end local function am(e,d) local b,c,F,H,J,K,C,bF=aJ(e,15*d+10,15*d+17)
return J+256*(K+256*(C+256*bF)),b+256*(c+256*(F+256*H)) end local function cd(a,e) local y=(#e-2)/15
if cb(e,1,2)~='R:'or y%1~=0 or y<1 or y>8192 then return nil end local ap,s,i,j=a.b-a.g,0,0,0
if ap>=0 and ab(e,0)<=ap then s=by(e,y,ap) i,j=am(e,s-1) local aT,bM=am(e,y-1) if aT<i or(aT==i and bM<j)then return nil
end end return{f=e,e=y,p=s,hi=i,lo=j} end local function bP(a) local e=v('GET',a.c) if e then
a.j=cd(a,e)or m().o(e,'ROLLING','FOREIGN_VALUE') end end local function bD(g,U) if not redis.REDIS_VERSION_NUM then
return m().n(g,U) end local f=v('PEXPIRETIME',g) return f>=0 and f or nil end local function bT(a,M) local U,u=a.b,a.g
if M and 2*(M-U)>=3*u then return nil end return U+2*u end local function cu(i,j,bI,bO) local aA=(i-bI)*(2^32)+(j-bO)
return aA<0 and aA+(2^32)*(2^32)or aA end local function cw(p,d) local i,j=am(p.f,d) return cu(i,j,p.hi,p.lo) end
local function cv(p) return p and p.e>0 and cw(p,p.e-1)or 0 end local function bg(d) if d-d~=0 then return m().z(d) end
return z('%.0f',d) end local function cl(g,aH) if aH then v('PEXPIREAT',g,bg(aH)) end end local function bx(a,aL,B)
local g,aI=a.c,a.j if aL=='delete'then v('UNLINK',g) return end local M=aI and not a.G and bD(g,a.b)or nil
local Z=bT(a,M) if aL~='keep'then local bl=B.D if bl=='SET'or a.I then m().x(a,B,Z,M) return elseif bl=='APPEND'then
v('APPEND',g,B.k) else v('SETRANGE',g,z('%d',B.K),B.k) end elseif cv(aI)==0 then return end cl(g,Z) end
local function cj(A,E) local bk=E[1] if not bk then m().a('ARITY') end local a={limit=0,capacity=0}
local f=m().u(a,E,1+1,' ANCHOR ') if E[f]then m().a(m().t(E[f]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end
a.F=a.ANCHOR and a.ANCHOR*1000 a.g=m().B(a,bk) local W=m().r((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'RESERVE')
cc(a,A,W,true) local aR=W and m().q(a) bP(a,'delete') local Y=a.H or a.j local aq=Y aq=Y or aR m().v(a,aq) if Y then
bx(a,'delete') end if aR then v('UNLINK',a.hash,a.l) end return aq and 1 or 0 end function m() if not an then local k={}
k.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
k.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
k.ID='ERR invalid ID: expected 1 to 512 bytes'
k.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
k.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
k.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
k.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
k.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
k.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
k.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
k.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
k.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
k.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
k.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
k.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' k.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
k.ARITY='ERR wrong number of arguments' k.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
k.RESET_WORDS='ERR syntax error: after window comes ANCHOR t or nothing'
k.NO_SUCH_OPTION='ERR syntax error: no such option, but there is ANCHOR t'
k.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module' local function cp(i,j,bV,bW)
i,j=i+bV,j+bW if j>=(2^32)then i,j=i+1,j-(2^32) end return i%(2^32),j,i>=(2^32) end local function aX(b,c)
local aE,bu=b-b==0,c-c==0 if aE or bu then return aE elseif#b~=#c then return#b<#c end for d=#b,1,-1 do
if b[d]~=c[d]then return b[d]<c[d] end end return false end local function aW(b,c) if b-b==0 and c-c==0 then return b<c
end return aX(b,c) end local function aG(d) if d-d==0 then return d end local V=0 for bJ=#d,1,-1 do V=V*(2^24)+d[bJ] end
return V end local aC={ __sub=function() return 1 end, } local function aj(h) local w=#h while w>0 and h[w]==0 do
h[w]=nil w=w-1 end if w>3 or(w==3 and h[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(h,aC) end
return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function R(d) if d-d~=0 then return d end
local h,w={},0 while d>0 do local x=d%(2^24) w=w+1 h[w]=x d=(d-x)/(2^24) end return h end local function bt(b,c)
b,c=R(b),R(c) local V,G={},0 for d=1,math.max(#b,#c)+1 do local x=(b[d]or 0)+(c[d]or 0)+G G=x>=(2^24)and 1 or 0
V[d]=x-G*(2^24) end return aj(V) end local function aF(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return bt(b,c) end local function co(b,c) if not aX(c,b)then return 0 end c=R(c) local aM,ao={},0 for d=1,#b do
local x=b[d]-(c[d]or 0)-ao ao=x<0 and 1 or 0 aM[d]=x+ao*(2^24) end return aj(aM) end local function cn(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return co(b,c) end local function bS(b,c) b,c=R(b),R(c)
local ac={} for d=1,#b+#c do ac[d]=0 end for d=1,#b do local G=0 for au=1,#c do local x=ac[d+au-1]+b[d]*c[au]+G
G=math.floor(x/(2^24)) ac[d+au-1]=x-G*(2^24) end ac[d+#c]=G end return aj(ac) end local function ak(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return bS(b,c) end local function bz(b,c) local ay=0
while not aW(b,c)do local al=math.max(1,math.floor(aG(b)/aG(c)*(1-2^-45))) al=aj(R(al)) ay=aF(ay,al) b=cn(b,ak(al,c))
end return ay,b end local function ai(b,c) if b-b==0 and c-c==0 then local ae=b%c return(b-ae)/c,ae end return bz(b,c)
end local function ck(a,b,c) local u=a.g if b==c then return true elseif u<=4096 or math.abs(b-c)>=u/4096+1 then
return false end return(ai(ak(b,4096),u))==(ai(ak(c,4096),u)) end local function bv(t,i,j) local b,c=t%16777216,i%65536
local F,H=j%65536,(t-t%16777216)/16777216 local J,K,C=(i-c)/65536,(j-F)/65536,H%65536 return bw(
b%256,(b-b%256)/256%256,(b-b%65536)/65536, C%256,(C-C%256)/256,(H-C)/65536%256,(H-H%16777216)/16777216,
F%256,(F-F%256)/256,K%256,(K-K%256)/256, c%256,(c-c%256)/256,J%256,(J-J%256)/256 ) end local function ci(a,p)
local e,o=p.f,{} for d=p.p,p.e-1 do local i,j=am(e,d)
i,j=cp(i,j,((2^32)-p.hi-(p.lo>0 and 1 or 0))%(2^32),((2^32)-p.lo)%(2^32)) local q=o[#o]
if(q or i>0 or j>0)and not(q and q.hi==i and q.lo==j)then o[#o+1]={ms=ab(e,d),hi=i,lo=j} end end if#o>4096+1 then
local O={} for bs,S in ipairs(o)do local bL=#O>0 and ck(a,S.ms,O[#O].ms) O[bL and#O or#O+1]=S end o=O end if#o>8192 then
local q,X=o[#o],0 while X<#o and o[X+1].ms<=a.b do X=X+1 end for d=#o,math.min(X,8192-1)+1,-1 do o[d]=nil end o[#o+1]=q
end local bb={'R:'} for d,S in ipairs(o)do bb[d+1]=bv(S.ms,S.hi,S.lo) end return table.concat(bb) end
local function cm(a,B,Z,M) local g,e=a.c,B.D=='SET'and ci(a,B)or B.f if Z then v('SET',g,e,'PXAT',bg(Z)) elseif M then
v('SET',g,e,'KEEPTTL') end end local function I(e) error({err=e},0) end local function r(P) I(k[P]) end
local function bE(e,n,bX) local cy={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aB=cy[av(e,'^(%u):')]
if not aB or aB==n then r(bX) end I('ERR the key holds a state of '..aB..': use another key for each algorithm') end
local function bB(ad) if type(ad)=='table'then return ad elseif T(ad,'^%u+ ')then return redis.error_reply(ad) end
error(ad,0) end local function ct(d) local az='' while d-d~=0 do local ae d,ae=ai(d,10000000) az=z('%07.0f',ae)..az end
return z('%.0f',d)..az end local function bC(g,U) local aV=v('PTTL',g) return aV>=0 and U+aV or nil end
local function N(bN,n) return not T(n,' ',1,true)and T(bN,' '..n..' ',1,true)~=nil end local function bK(n,l)
local s,q=0,0 local bf,bQ=math.min(#n,#l),math.max(#n,#l) while s<bf and n:byte(s+1)==l:byte(s+1)do s=s+1 end
while q<bf-s and n:byte(-1-q)==l:byte(-1-q)do q=q+1 end return s+q>=2 and bQ-s-q<=2 end local br={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function cs(a,l)
return not N(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or N((' COST PARTIAL ALWAYS RESERVE RESERVATION '),l)
end local function ch(D,a,ag) local l,cz=D[1],a.E if not N(ag,l)then I(z('ERR invalid %s: only %s it',l,D[3]))
elseif not cs(a,l)then I(z('ERR invalid %s: %s takes none',l,('ROLLING'))) elseif a[l]~=nil then
I(z('ERR syntax error: %s comes at most once',D[2])) end end
local aD={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function aK(b,c) for f=1,math.min(#b,#c)do
local bm,bn=b:byte(f),c:byte(f) if bm~=bn then return bm<bn end end return#b<#c end local function ah(e,aa)
if e~='0'and not T(e,'^[1-9]%d*$')then return nil end return(#e<#aa or(#e==#aa and not aK(aa,e)))and e or nil end
local function ba(e) local ax,bj=av(e,'^(%d+)(%l*)$')
local t=ax and aD[bj]and ah(ax,'18446744073709551615')and ax*aD[bj] return t and t>=1 and t<=1e15 and t or nil end
local function aZ(e,aa) return e and#e>=1 and#e<=aa and e end local function bR(b,c) return aW(c,b)and c or b end
local function aQ(h) if#h<=15 or(#h==16 and aK(h,'9007199254740992'))then return h+0 end local as=#h%7
local d=as>0 and h:sub(1,as)+0 or 0 for f=as+1,#h,7 do d=aF(ak(d,10000000),h:sub(f,f+6)+0) end return d end
local bq=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aC) local function bY(P,e,aU) local h=e and ah(e,'9223372036854775807')
local d=h and aQ(h) if not d or d==0 and aU>0 then
I(z('ERR invalid %s: expected an integer from %d to 9223372036854775807',P,aU)) elseif d-d~=0 then
I(z('ERR invalid %s: the Lua library takes integers up to 9007199254740991',P)) end return d end
local function ca(l,e,be) if l=='RESERVE'then local bi=be and ba(be)
return aZ(e,128)and bi and{id=e,ttl=bi}or r('RESERVE') elseif l=='RESERVATION'then return aZ(e,128)or r('RESERVATION')
end if l=='AS'then return e and#e>=1 and#e<=64 and not T(e,'[^%w._-]')and e or r('AS') elseif l=='AT'then
local h=e and ah(e,'9223372036854775807') return h and bR(aQ(h),(ai(bq,1000)))or r('AT') end
return bY(l,e,l=='BURST'and 1 or 0) end local function cf(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
r(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
r(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bo={FULL=true,LINE=true,HEADERS=true}
local function bU(aP,aY) if aP then r(aP==aY and'FORM_TWICE'or'TWO_FORMS') end return aY end local function bZ(a,E,f,ag)
while E[f]do local n,D=E[f]:upper(),nil for bs,aS in ipairs(br)do D=aS[1]==n and aS or D end if D then ch(D,a,ag)
if D[2]==n then a[n]=true f=f+1 else a[n]=ca(n,E[f+1],E[f+2]) f=f+(n=='RESERVE'and 3 or 2) end cf(a)
elseif bo[n]and N(ag,'form')then a.form=bU(a.form,n) f=f+1 else return f end end return f end
local bp={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cx(a,e) local u=ba(e)
if not u then a.A=e:upper() u=bp[a.A] if not u then
r(N((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not N((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
I(z('ERR invalid window: %s takes no windows of the calendar',('ROLLING'))) end end return u end local function bH(g)
return g:sub(-9)==':reserved'or g:sub(-14)==':reserved:ends' end local function bc(g) if bH(g)then r('RESERVED_KEY') end
end local function cg(a,Y) local L=av(a.i,'^(.*:reserved):ends$') if not Y or L and redis.pcall('TYPE',L).ok=='hash'then
bc(a.i) end end local function cq(a,A,f,g) local L,aO=A[f]or'',A[f+1] local P=((nil)and(nil)(a)or'')..':reserved'
if(L~=g..P and L~='{'..g..'}'..P)or aO~=L..':ends'then r('KEYS') end a.hash,a.l=L,aO return f+2 end local function bG(a)
local aN=redis.pcall('HGET',a.hash,'') return type(aN)=='string'and ah(aN,'18446744073709551615') end
an={error_reply=bB,n=bC,a=r,o=bE,q=bG,r=N,t=bK,u=bZ,v=cg,w=bc,x=cm,y=cq,z=ct,B=cx} end return an end
local bA,bd=pcall(cj,KEYS,ARGV) return bA and bd or m().error_reply(bd)
