-- RL.SETTLE SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aG,h local Q,i,bC,ds=string.find,string.format,string.match,string.sub local function cR(q,e,x)
local ai,ak,j=q[e],q[e+1],q[e+2] if not ak then h().j('ARITY') end local a={ c='', O=0, now_ms=0, i=0, Z=0, limit=0,
b=0, a=1, form=nil, delay=0, g=nil, l=nil, allowed=false, count=0, ttl=0, e='keep', remaining=0, n=1, } e=e+2
if j=='LINE'and not q[e+1]and x~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=j,e+1 elseif j then
local ae=q[e+1]or''
local bw=x==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and q[e+2]=='LINE'and not q[e+3]and#ae<16
if bw and j=='COST'and(' COST PARTIAL ')~=' ID 'and Q(ae,'^[1-9]%d*$')then a.form,a.a,e='LINE',ae+0,e+3
elseif bw and j=='ID'and(' COST PARTIAL ')==' ID 'and ae~=''then a.form,a.ID,e='LINE',ae,e+3 else e=h().S(a,q,e,x)
a.a=a.COST or 1 end end local aU=#ak<16 and Q(ak,'^[1-9]%d*$') a.limit=aU and ak+0 or h().R('limit',ak,0)
aU=#ai<10 and Q(ai,'^[1-9]%d*$') local z=aU and ai*1000 or h().aa(a,ai)
a.i,a.Z,a.b=z,z<9e12 and z*1000 or h().N(z,1000),a.BURST or a.limit return a,e end local function cO(q,x)
local a,e=cR(q,1,x) if q[e]then h().J(a,x,q[e]) end if true and a.a>1000 then h().B(h().M(a),'LOG_COST') end return a
end local function cP(q,x) if not q[1+1]then h().j('ARITY') end return cO(q,x) end local r=redis.call
local function cW(a) local bS=r('TIME') local bb=bS[1]*1000000+bS[2] a.O,a.now_ms=bb,(bb-bb%1000)/1000 end
local function dk(a,ag,e,bV,aV) local f=ag[e] if not f then h().j('KEYS') end a.c,e=f,e+1 if aV then a.k=f
elseif Q(f,':reserved',1,true)then h().V(f) end return e end local function cU(a,ag,bV,aV) cW(a)
if#ag~=dk(a,ag,1,bV,aV)-1 then h().j('KEYS') end end local aQ,dr,du,aB=4000,1000,1000,2*500 local function cD(a,V,bR,an)
local f=a.c local u,U=r('ZCARD',f),0 if u>0 and bR>=0 and an~='delete'then local t=i('%.0f',bR)
local K=an=='read'and 0 or aQ if u<=K then local W=r('ZREMRANGEBYSCORE',f,V,t) u,aQ=u-W,K-W else u,U=h().U(f,V,t,u,K)
end end a.f,a.u,a.o=u-U,U,u>0 end local function bA(a,an) cD(a,'0',a.now_ms-a.i,an) a.v=500 if an=='write'then
aB=(aB-aB%2)/2 a.v=aB end end local function bO(m,n,aJ) if m=='keep'then return aJ end return m~='delete'and n or nil
end local function aA(c,d) if c-c==0 and d-d==0 then return c<d end return h().L(c,d) end local function ad(H)
local C=H%1000 return H<0 and-1 or C==0 and H/1000 or(H-C)/1000+1 end local function bo(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return h().D(c,d) end local function aM(a,g) local f,aY=a.c,a.f
local aI=aY+(g==0 and 1 or g)<=a.limit a.allowed,a.count,a.ttl,a.e=aI,aY,ad(a.i),'keep' if aI and g>0 then
a.e,a.l='charge',{p=g} elseif not aI and aY>0 and r('ZCOUNT',f,'('..i('%.0f',a.now_ms),'+inf')>0 then
a.e,a.l='rebase',{X=true} end end local function br(a) if a.PARTIAL or a.ALWAYS then h().G(a) else local g=a.a a.n=g
aM(a,g) end if a.SHADOW then h().F(a) end end local function bM(f,F) F=i('%.0f',F)
local w=r('ZRANGE',f,F,F,'WITHSCORES')[2] return w and tonumber(w) end local function cK(a) local f=a.c
local V=a.o and bM(f,0) return V and V<0 and r('ZCOUNT',f,'-inf','(0')or 0 end local function bB(a,F)
local w=F>=0 and F<a.f+a.u and bM(a.c,F) return w and math.max(0,math.ceil(w)) end local function ar(b) if b-b~=0 then
return h().W(b) end return i('%.0f',b) end local function aX(a,b) local E,aH=a.now_ms,a.t a.q=a.q or cK(a)
if b>=a.f+aH-a.q then return nil end local F=b+a.q+a.u local e=bB(a,F) if e and aH>0 and e>E then e=nil end
if not e then local aW=bB(a,F-aH) e=aW and aW>E and aW or E end if a.T then a.w=a.w or r('ZCOUNT',a.c,'-inf',ar(E))+a.v
e=F<a.w and math.min(e,E)or e end return e+a.i end local function dn(a,g,A,aX,aS) local bh=a.limit-g if bh<0 then
return nil elseif A<=bh then return 0 end local R=aX(a,A-bh-1) if aS and(not R or aS<R)then R=aS end
return R and(R>=(2^53)and(1/0)or math.max(0,R-a.now_ms)) end local function aD(a,bv) local E,z=a.now_ms,a.i
if bv and 2*(bv-E)>=3*z then return nil end return E+2*z end local function y(a,g)
return dn(a,g,a.f+a.t,aX,(aD(a,a.y)or a.y)+1) end local function av(f,E) if not redis.REDIS_VERSION_NUM then
return h().I(f,E) end local e=r('PEXPIRETIME',f) return e>=0 and e or nil end local function aR(a,m,n)
a.q,a.w,a.t,a.T=nil,nil,m=='charge'and n.p or 0,m=='rebase' local I=a.limit-a.f-a.t a.remaining=I>0 and I or 0
a.y=a.o and av(a.c,a.now_ms)or nil end local function aw(a) local m,y=a.e,y
aR(a,m,m=='keep'and a.g or m~='delete'and a.l or nil) local I,aL,L,S,ac=a.remaining,a.b,0,0,0 if not a.allowed then
local g=a.n L=y(a,a.z or(g==0 and 1 or g))or-1 if a.K and L>=0 then L=math.max(L,a.K) end end if I<aL then
S=y(a,I+1)or-1 ac=I+1==aL and S or y(a,aL)or-1 end if L-L~=0 or S-S~=0 or ac-ac~=0 or L>=(2^53)or ac>=(2^53)then
h().j('INEXACT_REPLY') end return I,L,S,ac,0 end local function cB(a,A) local I,L,S,ac,co=aw(a) local dh=a.r and 1 or 0
return i( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().A(a)or 1)or 0,a.count,a.ttl,a.b,I,L,S,ac, co,a.now_ms,dh,A ) end local function bK(a,A)
local Y=a.form if Y=='LINE'then return cB(a,A) elseif Y then return h().P(a,A) end
return{a.allowed and(a.PARTIAL and h().A(a)or 1)or 0,a.count,a.ttl} end local function ck(a,m,n,A) local au
if not true then local X,aJ,aq=nil,a.g,bO(m,n,a.g) if X and aA(X,a.now_ms)then aq=nil end a.g=aq br(a) au=bK(a,A) a.g=aJ
end if not a.ac then h().E(a,m,n) end if not au then bA(a,'read') br(a) au=bK(a,A) end return au end
local function dg(ag,q) local a=cP(q,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ')
local bf,at=a.RESERVED,a.ACTUAL if not bf or not at then h().j('SETTLEMENT') end local aj=math.abs(bf-at)
h().B(true and aj or 0,'LOG_DIFFERENCE') cU(a,ag) bA(a,'write') local cl=at<bf and h().refund or h().Q
local m,n=cl(a,a.AT,aj) return ck(a,m,n,at) end function h() if not aG then local p={}
p.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
p.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
p.ID='ERR invalid ID: expected 1 to 512 bytes'
p.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
p.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
p.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
p.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
p.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
p.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
p.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
p.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
p.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
p.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
p.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
p.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
p.ARITY='ERR wrong number of arguments'
p.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
p.LOG_COST='ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more'
p.LOG_DIFFERENCE='ERR invalid ACTUAL: RL.SLIDING is corrected by at most 1000 units a call; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more'
p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function cX(a,O,g)
local o=math.min(a.f,g) if o==0 then return'keep' end return'refund',{remove=o,C=O} end local function bG(a,O,g)
if g==0 then return'keep' elseif not O or not aA(O,a.now_ms)then return'charge',{p=g} elseif O<=a.now_ms-a.i then
return'keep' end return'charge',{p=g,H=O} end local function P(k) error({err=k},0) end local function J(ah) P(p[ah]) end
local function cs(ao) if type(ao)=='table'then return ao elseif Q(ao,'^%u+ ')then return redis.error_reply(ao) end
error(ao,0) end local function bz(c,d) local bn,ce=c-c==0,d-d==0 if bn or ce then return bn elseif#c~=#d then
return#c<#d end for b=#c,1,-1 do if c[b]~=d[b]then return c[b]<d[b] end end return false end local function af(b)
if b-b~=0 then return b end local l,o={},0 while b>0 do local G=b%(2^24) o=o+1 l[o]=G b=(b-G)/(2^24) end return l end
local bk={ __sub=function() return 1 end, } local function ax(l) local o=#l while o>0 and l[o]==0 do l[o]=nil o=o-1 end
if o>3 or(o==3 and l[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(l,bk) end
return(l[1]or 0)+(l[2]or 0)*(2^24)+(l[3]or 0)*(2^24)*(2^24) end local function cb(c,d) c,d=af(c),af(d) local M,T={},0
for b=1,math.max(#c,#d)+1 do local G=(c[b]or 0)+(d[b]or 0)+T T=G>=(2^24)and 1 or 0 M[b]=G-T*(2^24) end return ax(M) end
local function bE(c,d) c,d=af(c),af(d) local am={} for b=1,#c+#d do am[b]=0 end for b=1,#c do local T=0 for aZ=1,#d do
local G=am[b+aZ-1]+c[b]*d[aZ]+T T=math.floor(G/(2^24)) am[b+aZ-1]=G-T*(2^24) end am[b+#d]=T end return ax(am) end
local function bp(b) if b-b==0 then return b end local M=0 for cy=#b,1,-1 do M=M*(2^24)+b[cy] end return M end
local function dj(c,d) if not bz(d,c)then return 0 end d=af(d) local aj,aK={},0 for b=1,#c do local G=c[b]-(d[b]or 0)-aK
aK=G<0 and 1 or 0 aj[b]=G+aK*(2^24) end return ax(aj) end local function di(c,d) if c-c==0 and d-d==0 then
return c>d and c-d or 0 end return dj(c,d) end local function aC(c,d) if c-c==0 and d-d==0 and c*d<(2^53)then return c*d
end return bE(c,d) end local function cq(c,d) local be=0 while not aA(c,d)do
local B=math.max(1,math.floor(bp(c)/bp(d)*(1-2^-45))) B=ax(af(B)) be=bo(be,B) c=di(c,aC(B,d)) end return be,c end
local function aO(c,d) if c-c==0 and d-d==0 then local C=c%d return(c-C)/d,C end return cq(c,d) end local function dl(b)
local bj='' while b-b~=0 do local C b,C=aO(b,10000000) bj=i('%07.0f',C)..bj end return i('%.0f',b)..bj end
local function ct(f,E) local R=r('PTTL',f) return R>=0 and E+R or nil end local function cZ(f,V,t,u,K)
local U=r('ZCOUNT',f,V,t) local W=math.min(U,K) if W>0 then local s=V=='0'and r('ZCOUNT',f,'-inf','(0')or 0
r('ZREMRANGEBYRANK',f,i('%.0f',s),i('%.0f',s+W-1)) u,U,aQ=u-W,U-W,K-W end return u,U end local function bq(c,d)
for e=1,math.min(#c,#d)do local bW,bX=c:byte(e),d:byte(e) if bW~=bX then return bW<bX end end return#c<#d end
local function aN(k,K) if k~='0'and not Q(k,'^[1-9]%d*$')then return nil end
return(#k<#K or(#k==#K and not bq(K,k)))and k or nil end local function bu(l)
if#l<=15 or(#l==16 and bq(l,'9007199254740992'))then return l+0 end local aT=#l%7 local b=aT>0 and l:sub(1,aT)+0 or 0
for e=aT+1,#l,7 do b=bo(aC(b,10000000),l:sub(e,e+6)+0) end return b end local function bH(ah,k,by)
local l=k and aN(k,'9223372036854775807') local b=l and bu(l) if not b or b==0 and by>0 then
P(i('ERR invalid %s: expected an integer from %d to 9223372036854775807',ah,by)) elseif b-b~=0 then
P(i('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ah)) end return b end local bl={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Z(cC,v)
return not Q(v,' ',1,true)and Q(cC,' '..v..' ',1,true)~=nil end local function bQ(a,j)
return not Z(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or Z((' COST PARTIAL '),j) end
local function cz(v,j) local s,t=0,0 local bN,cE=math.min(#v,#j),math.max(#v,#j)
while s<bN and v:byte(s+1)==j:byte(s+1)do s=s+1 end while t<bN-s and v:byte(-1-t)==j:byte(-1-t)do t=t+1 end
return s+t>=2 and cE-s-t<=2 end local function cu(a,x,v) local ab={} for N,D in ipairs(bl)do
if Z(x,D[1])and bQ(a,D[1])then ab[#ab+1]=D[2] end end for N,Y in ipairs({'FULL','LINE','HEADERS'})do ab[#ab+1]=Y end
for N,j in ipairs(ab)do if cz(v:upper(),bC(j,'^%u+'))then P('ERR syntax error: no such option, but there is '..j) end
end local t=table.remove(ab) local dm=table.concat(ab,', ')
P('ERR syntax error: after limit come '..dm..' or '..t..', each at most once') end local function dc(D,a,x)
local j,dq=D[1],a.ab if not Z(x,j)then P(i('ERR invalid %s: only %s it',j,D[3])) elseif not bQ(a,j)then
P(i('ERR invalid %s: %s takes none',j,('SLIDING'))) elseif a[j]~=nil then
P(i('ERR syntax error: %s comes at most once',D[2])) end end local function bD(c,d) return aA(d,c)and d or c end
local ca=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bk) local function cS(j,k,dt) if j=='AS'then
return k and#k>=1 and#k<=64 and not Q(k,'[^%w._-]')and k or J('AS') elseif j=='AT'then
local l=k and aN(k,'9223372036854775807') return l and bD(bu(l),(aO(ca,1000)))or J('AT') end
return bH(j,k,j=='BURST'and 1 or 0) end local function da(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
J(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
J(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bY={FULL=true,LINE=true,HEADERS=true}
local function cL(Y,bF) if Y then J(Y==bF and'FORM_TWICE'or'TWO_FORMS') end return bF end local function cQ(a,q,e,x)
while q[e]do local v,D=q[e]:upper(),nil for N,bx in ipairs(bl)do D=bx[1]==v and bx or D end if D then dc(D,a,x)
if D[2]==v then a[v]=true e=e+1 else a[v]=cS(v,q[e+1],q[e+2]) e=e+(v=='RESERVE'and 3 or 2) end da(a)
elseif bY[v]and Z(x,'form')then a.form=cL(a.form,v) e=e+1 else return e end end return e end
local bm={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cT(k) local aa,bT=bC(k,'^(%d+)(%l*)$')
local H=aa and bm[bT]and aN(aa,'18446744073709551615')and aa*bm[bT] return H and H>=1 and H<=1e15 and H or nil end
local bZ={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dp(a,k) local z=cT(k)
if not z then a.Y=k:upper() z=bZ[a.Y] if not z then J(Z((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Z((' COST PARTIAL '),'ANCHOR')then
P(i('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return z end local function cH(a)
if not true then return 0 elseif a.b<a.a then return a.PARTIAL and a.b or 0 end return a.a end local function db(u,k)
if u>1000 then J(k) end end local function cw(f) return f:sub(-9)==':reserved'or f:sub(-14)==':reserved:ends' end
local function dd(f) if cw(f)then J('RESERVED_KEY') end end local function cj(a) local cM=a.PARTIAL and a.n<a.a
a.r=a.SHADOW and not a.x and(cM or not a.allowed) if not a.allowed and(a.r or a.x)then a.allowed=true if not true then
local N,N,N,bg=aw(a) a.ttl=ad(bg) end end end local function cY(a) aR(a,'keep',a.g) return a.remaining end
local function cJ(g) return g==0 and 1 or g end local function bs(b) if b-b~=0 or b>=(2^53)then J('INEXACT_REPLY') end
return b end local function cm(a) local g=a.a aM(a,0) local m,n=bG(a,nil,g) if g>0 then a.e,a.l=m,n end
local aq=bO(a.e,a.l,a.g) aR(a,a.e,aq) a.allowed=a.b>0 and y(a,0)==0 a.z=a.b>0 and g or cJ(g) if(nil)then
a.count,a.ttl=(nil)(aq,a.now_ms) elseif a.allowed then a.ttl=ad(bs(y(a,a.b))) else local y=y(a,a.z)
a.ttl=y and math.max(1,ad(bs(y)))or-1 end end local function cn(a) local g=a.a if a.PARTIAL then g=math.min(g,cY(a)) end
a.n=g if a.ALWAYS then cm(a) else aM(a,g) end end local function cc(f,H,o) local w=i('%.0f',H) local b=r('ZCOUNT',f,w,w)
while o>1 do local B={} for N=1,math.min(o,1000)do B[#B+1]=w B[#B+1]=i('%s-0.%.0f',w,b) b=b+1 end
o=o-r('ZADD',f,'NX',unpack(B)) end while o>0 do o=o-r('ZADD',f,'NX',w,w..'-0.'..ar(b)) b=b+1 end end
local function aF(f,O) if O then r('PEXPIREAT',f,ar(O)) end end local function cf(cd,ba) local M=0 for s=1,#ba,1000 do
local B={unpack(cd)} for b=s,math.min(s+999,#ba)do B[#B+1]=ba[b] end M=M+r(unpack(B)) end return M end
local function de(f,w,u) local al={} for N,cF in ipairs(u)do al[#al+1]=w al[#al+1]=cF end cf({'ZADD',f,'XX'},al) end
local function ci(a,m,n) local f=a.c if m=='delete'then r('UNLINK',f) return end
local X=aD(a,a.o and av(f,a.now_ms)or nil) if n.X then local w=i('%.0f',a.now_ms)
de(f,w,r('ZRANGEBYSCORE',f,'('..w,'+inf','LIMIT','0',ar(a.v))) aF(f,X) return end local u=a.f+a.u
local s,t=u-n.remove,u-1 if n.C then t=r('ZCOUNT',f,'-inf',ar(n.C))-1 s=math.max(0,t+1-n.remove) end
if t<0 or s>0 or t+1<u then aF(f,X) end if t>=0 then r('ZREMRANGEBYRANK',f,i('%.0f',s),i('%.0f',t)) end end
local function cg(a,m,n) local f=a.c if m=='charge'then local X=aD(a,a.o and av(f,a.now_ms)or nil)
cc(f,n.H or a.now_ms,n.p) aF(f,X) elseif m~='keep'then ci(a,m,n) elseif a.o then aF(f,aD(a,av(f,a.now_ms))) end end
local function ch(a,m,n) cg(a,m,n) end local function bI(a) return a.x and a.x.a or a.r and a.a or a.n end
local function bt(a) if not a.allowed then return 0 end return a.PARTIAL and bI(a)or 1 end local function cv(a,A)
local I,df,S,bg,cp=aw(a) return{ 'allowed',bt(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',I,
'retry_after_ms',df, 'next_ms',S, 'reset_ms',bg, 'delay_ms',cp, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0, 'charged',A,
} end local function cI(ap) local bP={} for N,a in ipairs(ap)do local s,aa=a.AS or('SLIDING'):lower(),2 a.k=s
while bP[a.k]do a.k=i('%s-%d',s,aa) aa=aa+1 end bP[a.k]=true end end local function az(b)
return i('%.0f',bD(b,999999999999999)) end local function cV(a) local z=(nil)and(nil)(a)or a.i local aP,C=1000,z%1000
while C>0 do aP,C=C,aP%C end local bU=1000/aP local ai=aO(aC(z,bU),1000)
return i('"%s";q=%s;w=%s',a.k,az(aC(a.limit,bU)),az(ai)) end local function cA(aE,bc) if aE.allowed~=bc.allowed then
return not aE.allowed end local y,bd=aE.retry_after_ms,bc.retry_after_ms if y~=bd then return y<0 or(bd>=0 and y>bd) end
return aE.remaining<bc.remaining end local function cx(ap) local bi,bJ=ap[1],{} cI(ap) for b,a in ipairs(ap)do
bJ[b]=cV(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aw(a) if cA(a,bi)then bi=a end end local a=bi local as={
'X-RateLimit-Limit', i('%.0f',a.b), 'X-RateLimit-Remaining', i('%.0f',a.remaining), } local function ay(ah,ae)
as[#as+1]=ah as[#as+1]=ae end if a.reset_ms>=0 then ay('X-RateLimit-Reset',i('%.0f',ad(a.now_ms+a.reset_ms))) end
ay('RateLimit-Policy',table.concat(bJ,', ')) local cG=a.next_ms>=0 and';t='..az(ad(a.next_ms))or''
ay('RateLimit',i('"%s";r=%s%s',a.k,az(a.remaining),cG)) if not a.allowed and a.retry_after_ms>=0 then
ay('Retry-After',i('%.0f',ad(a.retry_after_ms))) end return as end local function cN(a,A) if a.form=='FULL'then
return cv(a,A) end return{bt(a),a.count,a.ttl,cx({a})} end
aG={D=cb,E=ch,F=cj,G=cn,error_reply=cs,I=ct,j=J,J=cu,L=bz,M=cH,N=bE,P=cN,Q=bG,R=bH,S=cQ,A=bI,refund=cX,U=cZ,B=db,V=dd,W=dl,aa=dp}
end return aG end local cr,bL=pcall(dg,KEYS,ARGV) return cr and bL or h().error_reply(bL)
