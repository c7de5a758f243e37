-- RL.REFUND SLIDING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aE,h local Q,i,bA,dp=string.find,string.format,string.match,string.sub local function cO(p,e,x)
local ai,aj,j=p[e],p[e+1],p[e+2] if not aj then h().o('ARITY') end local a={ c='', O=0, now_ms=0, i=0, Y=0, limit=0,
b=0, a=1, form=nil, delay=0, g=nil, k=nil, allowed=false, count=0, ttl=0, e='keep', remaining=0, l=1, } e=e+2
if j=='LINE'and not p[e+1]and x~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=j,e+1 elseif j then
local ae=p[e+1]or''
local bu=x==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[e+2]=='LINE'and not p[e+3]and#ae<16
if bu and j=='COST'and(' COST PARTIAL ')~=' ID 'and Q(ae,'^[1-9]%d*$')then a.form,a.a,e='LINE',ae+0,e+3
elseif bu and j=='ID'and(' COST PARTIAL ')==' ID 'and ae~=''then a.form,a.ID,e='LINE',ae,e+3 else e=h().R(a,p,e,x)
a.a=a.COST or 1 end end local aS=#aj<16 and Q(aj,'^[1-9]%d*$') a.limit=aS and aj+0 or h().Q('limit',aj,0)
aS=#ai<10 and Q(ai,'^[1-9]%d*$') local z=aS and ai*1000 or h().Z(a,ai)
a.i,a.Y,a.b=z,z<9e12 and z*1000 or h().N(z,1000),a.BURST or a.limit return a,e end local function cL(p,x)
local a,e=cO(p,1,x) if p[e]then h().J(a,x,p[e]) end if true and a.a>1000 then h().B(h().M(a),'LOG_COST') end return a
end local function cM(p,x) if not p[1+1]then h().o('ARITY') end return cL(p,x) end local q=redis.call
local function cT(a) local bP=q('TIME') local aZ=bP[1]*1000000+bP[2] a.O,a.now_ms=aZ,(aZ-aZ%1000)/1000 end
local function dh(a,ag,e,bS,aT) local f=ag[e] if not f then h().o('KEYS') end a.c,e=f,e+1 if aT then a.j=f
elseif Q(f,':reserved',1,true)then h().U(f) end return e end local function cR(a,ag,bS,aT) cT(a)
if#ag~=dh(a,ag,1,bS,aT)-1 then h().o('KEYS') end end local aO,dn,dr,az=4000,1000,1000,2*500 local function cz(a,V,bO,am)
local f=a.c local u,U=q('ZCARD',f),0 if u>0 and bO>=0 and am~='delete'then local s=i('%.0f',bO)
local K=am=='read'and 0 or aO if u<=K then local W=q('ZREMRANGEBYSCORE',f,V,s) u,aO=u-W,K-W else u,U=h().T(f,V,s,u,K)
end end a.f,a.u,a.n=u-U,U,u>0 end local function by(a,am) cz(a,'0',a.now_ms-a.i,am) a.v=500 if am=='write'then
az=(az-az%2)/2 a.v=az end end local function bL(m,n,aH) if m=='keep'then return aH end return m~='delete'and n or nil
end local function ay(c,d) if c-c==0 and d-d==0 then return c<d end return h().L(c,d) end local function ad(H)
local C=H%1000 return H<0 and-1 or C==0 and H/1000 or(H-C)/1000+1 end local function bl(c,d)
if c-c==0 and d-d==0 and c+d<(2^53)then return c+d end return h().D(c,d) end local function aK(a,g) local f,aW=a.c,a.f
local aG=aW+(g==0 and 1 or g)<=a.limit a.allowed,a.count,a.ttl,a.e=aG,aW,ad(a.i),'keep' if aG and g>0 then
a.e,a.k='charge',{p=g} elseif not aG and aW>0 and q('ZCOUNT',f,'('..i('%.0f',a.now_ms),'+inf')>0 then
a.e,a.k='rebase',{W=true} end end local function bo(a) if a.PARTIAL or a.ALWAYS then h().G(a) else local g=a.a a.l=g
aK(a,g) end if a.SHADOW then h().F(a) end end local function bJ(f,F) F=i('%.0f',F)
local w=q('ZRANGE',f,F,F,'WITHSCORES')[2] return w and tonumber(w) end local function cG(a) local f=a.c
local V=a.n and bJ(f,0) return V and V<0 and q('ZCOUNT',f,'-inf','(0')or 0 end local function bz(a,F)
local w=F>=0 and F<a.f+a.u and bJ(a.c,F) return w and math.max(0,math.ceil(w)) end local function aq(b) if b-b~=0 then
return h().V(b) end return i('%.0f',b) end local function aV(a,b) local E,aF=a.now_ms,a.t a.q=a.q or cG(a)
if b>=a.f+aF-a.q then return nil end local F=b+a.q+a.u local e=bz(a,F) if e and aF>0 and e>E then e=nil end
if not e then local aU=bz(a,F-aF) e=aU and aU>E and aU or E end if a.S then a.w=a.w or q('ZCOUNT',a.c,'-inf',aq(E))+a.v
e=F<a.w and math.min(e,E)or e end return e+a.i end local function dk(a,g,A,aV,aQ) local be=a.limit-g if be<0 then
return nil elseif A<=be then return 0 end local R=aV(a,A-be-1) if aQ and(not R or aQ<R)then R=aQ end
return R and(R>=(2^53)and(1/0)or math.max(0,R-a.now_ms)) end local function aB(a,bt) local E,z=a.now_ms,a.i
if bt and 2*(bt-E)>=3*z then return nil end return E+2*z end local function y(a,g)
return dk(a,g,a.f+a.t,aV,(aB(a,a.y)or a.y)+1) end local function at(f,E) if not redis.REDIS_VERSION_NUM then
return h().I(f,E) end local e=q('PEXPIRETIME',f) return e>=0 and e or nil end local function aP(a,m,n)
a.q,a.w,a.t,a.S=nil,nil,m=='charge'and n.p or 0,m=='rebase' local I=a.limit-a.f-a.t a.remaining=I>0 and I or 0
a.y=a.n and at(a.c,a.now_ms)or nil end local function au(a) local m,y=a.e,y
aP(a,m,m=='keep'and a.g or m~='delete'and a.k or nil) local I,aJ,L,S,ac=a.remaining,a.b,0,0,0 if not a.allowed then
local g=a.l L=y(a,a.z or(g==0 and 1 or g))or-1 if a.K and L>=0 then L=math.max(L,a.K) end end if I<aJ then
S=y(a,I+1)or-1 ac=I+1==aJ and S or y(a,aJ)or-1 end if L-L~=0 or S-S~=0 or ac-ac~=0 or L>=(2^53)or ac>=(2^53)then
h().o('INEXACT_REPLY') end return I,L,S,ac,0 end local function cx(a,A) local I,L,S,ac,ck=au(a) local de=a.r and 1 or 0
return i( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().A(a)or 1)or 0,a.count,a.ttl,a.b,I,L,S,ac, ck,a.now_ms,de,A ) end local function bH(a,A)
local Y=a.form if Y=='LINE'then return cx(a,A) elseif Y then return h().P(a,A) end
return{a.allowed and(a.PARTIAL and h().A(a)or 1)or 0,a.count,a.ttl} end local function ch(a,m,n,A) local as
if not true then local X,aH,ap=nil,a.g,bL(m,n,a.g) if X and ay(X,a.now_ms)then ap=nil end a.g=ap bo(a) as=bH(a,A) a.g=aH
end if not a.ab then h().E(a,m,n) end if not as then by(a,'read') bo(a) as=bH(a,A) end return as end
local function dd(ag,p) local a=cM(p,' form COST AT BURST BLOCK MAX ANCHOR ') h().B(true and a.a or 0,'LOG_COST')
cR(a,ag) by(a,'write') local m,n=h().refund(a,a.AT,a.a) return ch(a,m,n,0) end function h() if not aE then local t={}
t.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
t.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
t.ID='ERR invalid ID: expected 1 to 512 bytes'
t.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
t.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
t.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
t.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
t.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
t.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
t.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
t.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
t.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
t.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
t.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
t.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' t.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
t.ARITY='ERR wrong number of arguments'
t.LOG_COST='ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
..'COUNTER, TOKEN, LEAKY or GCRA for more'
t.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function cU(a,O,g)
local o=math.min(a.f,g) if o==0 then return'keep' end return'refund',{remove=o,C=O} end local function P(k)
error({err=k},0) end local function J(ah) P(t[ah]) end local function co(an) if type(an)=='table'then return an
elseif Q(an,'^%u+ ')then return redis.error_reply(an) end error(an,0) end local function bx(c,d)
local bk,cb=c-c==0,d-d==0 if bk or cb then return bk elseif#c~=#d then return#c<#d end for b=#c,1,-1 do
if c[b]~=d[b]then return c[b]<d[b] end end return false end local function af(b) if b-b~=0 then return b end
local l,o={},0 while b>0 do local G=b%(2^24) o=o+1 l[o]=G b=(b-G)/(2^24) end return l end local bh={ __sub=function()
return 1 end, } local function av(l) local o=#l while o>0 and l[o]==0 do l[o]=nil o=o-1 end
if o>3 or(o==3 and l[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(l,bh) end
return(l[1]or 0)+(l[2]or 0)*(2^24)+(l[3]or 0)*(2^24)*(2^24) end local function bY(c,d) c,d=af(c),af(d) local M,T={},0
for b=1,math.max(#c,#d)+1 do local G=(c[b]or 0)+(d[b]or 0)+T T=G>=(2^24)and 1 or 0 M[b]=G-T*(2^24) end return av(M) end
local function bC(c,d) c,d=af(c),af(d) local al={} for b=1,#c+#d do al[b]=0 end for b=1,#c do local T=0 for aX=1,#d do
local G=al[b+aX-1]+c[b]*d[aX]+T T=math.floor(G/(2^24)) al[b+aX-1]=G-T*(2^24) end al[b+#d]=T end return av(al) end
local function bm(b) if b-b==0 then return b end local M=0 for cu=#b,1,-1 do M=M*(2^24)+b[cu] end return M end
local function dg(c,d) if not bx(d,c)then return 0 end d=af(d) local bp,aI={},0 for b=1,#c do local G=c[b]-(d[b]or 0)-aI
aI=G<0 and 1 or 0 bp[b]=G+aI*(2^24) end return av(bp) end local function df(c,d) if c-c==0 and d-d==0 then
return c>d and c-d or 0 end return dg(c,d) end local function aA(c,d) if c-c==0 and d-d==0 and c*d<(2^53)then return c*d
end return bC(c,d) end local function cm(c,d) local bc=0 while not ay(c,d)do
local B=math.max(1,math.floor(bm(c)/bm(d)*(1-2^-45))) B=av(af(B)) bc=bl(bc,B) c=df(c,aA(B,d)) end return bc,c end
local function aM(c,d) if c-c==0 and d-d==0 then local C=c%d return(c-C)/d,C end return cm(c,d) end local function di(b)
local bg='' while b-b~=0 do local C b,C=aM(b,10000000) bg=i('%07.0f',C)..bg end return i('%.0f',b)..bg end
local function cp(f,E) local R=q('PTTL',f) return R>=0 and E+R or nil end local function cW(f,V,s,u,K)
local U=q('ZCOUNT',f,V,s) local W=math.min(U,K) if W>0 then local r=V=='0'and q('ZCOUNT',f,'-inf','(0')or 0
q('ZREMRANGEBYRANK',f,i('%.0f',r),i('%.0f',r+W-1)) u,U,aO=u-W,U-W,K-W end return u,U end local function bn(c,d)
for e=1,math.min(#c,#d)do local bT,bU=c:byte(e),d:byte(e) if bT~=bU then return bT<bU end end return#c<#d end
local function aL(k,K) if k~='0'and not Q(k,'^[1-9]%d*$')then return nil end
return(#k<#K or(#k==#K and not bn(K,k)))and k or nil end local function bs(l)
if#l<=15 or(#l==16 and bn(l,'9007199254740992'))then return l+0 end local aR=#l%7 local b=aR>0 and l:sub(1,aR)+0 or 0
for e=aR+1,#l,7 do b=bl(aA(b,10000000),l:sub(e,e+6)+0) end return b end local function bE(ah,k,bw)
local l=k and aL(k,'9223372036854775807') local b=l and bs(l) if not b or b==0 and bw>0 then
P(i('ERR invalid %s: expected an integer from %d to 9223372036854775807',ah,bw)) elseif b-b~=0 then
P(i('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ah)) end return b end local bi={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Z(cy,v)
return not Q(v,' ',1,true)and Q(cy,' '..v..' ',1,true)~=nil end local function bN(a,j)
return not Z(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or Z((' COST PARTIAL '),j) end
local function cv(v,j) local r,s=0,0 local bK,cA=math.min(#v,#j),math.max(#v,#j)
while r<bK and v:byte(r+1)==j:byte(r+1)do r=r+1 end while s<bK-r and v:byte(-1-s)==j:byte(-1-s)do s=s+1 end
return r+s>=2 and cA-r-s<=2 end local function cq(a,x,v) local ab={} for N,D in ipairs(bi)do
if Z(x,D[1])and bN(a,D[1])then ab[#ab+1]=D[2] end end for N,Y in ipairs({'FULL','LINE','HEADERS'})do ab[#ab+1]=Y end
for N,j in ipairs(ab)do if cv(v:upper(),bA(j,'^%u+'))then P('ERR syntax error: no such option, but there is '..j) end
end local s=table.remove(ab) local dj=table.concat(ab,', ')
P('ERR syntax error: after limit come '..dj..' or '..s..', each at most once') end local function cZ(D,a,x)
local j,dm=D[1],a.aa if not Z(x,j)then P(i('ERR invalid %s: only %s it',j,D[3])) elseif not bN(a,j)then
P(i('ERR invalid %s: %s takes none',j,('SLIDING'))) elseif a[j]~=nil then
P(i('ERR syntax error: %s comes at most once',D[2])) end end local function bB(c,d) return ay(d,c)and d or c end
local bX=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bh) local function cP(j,k,dq) if j=='AS'then
return k and#k>=1 and#k<=64 and not Q(k,'[^%w._-]')and k or J('AS') elseif j=='AT'then
local l=k and aL(k,'9223372036854775807') return l and bB(bs(l),(aM(bX,1000)))or J('AT') end
return bE(j,k,j=='BURST'and 1 or 0) end local function cX(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
J(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
J(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bV={FULL=true,LINE=true,HEADERS=true}
local function cH(Y,bD) if Y then J(Y==bD and'FORM_TWICE'or'TWO_FORMS') end return bD end local function cN(a,p,e,x)
while p[e]do local v,D=p[e]:upper(),nil for N,bv in ipairs(bi)do D=bv[1]==v and bv or D end if D then cZ(D,a,x)
if D[2]==v then a[v]=true e=e+1 else a[v]=cP(v,p[e+1],p[e+2]) e=e+(v=='RESERVE'and 3 or 2) end cX(a)
elseif bV[v]and Z(x,'form')then a.form=cH(a.form,v) e=e+1 else return e end end return e end
local bj={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cQ(k) local aa,bQ=bA(k,'^(%d+)(%l*)$')
local H=aa and bj[bQ]and aL(aa,'18446744073709551615')and aa*bj[bQ] return H and H>=1 and H<=1e15 and H or nil end
local bW={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dl(a,k) local z=cQ(k)
if not z then a.X=k:upper() z=bW[a.X] if not z then J(Z((' COST PARTIAL '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Z((' COST PARTIAL '),'ANCHOR')then
P(i('ERR invalid window: %s takes no windows of the calendar',('SLIDING'))) end end return z end local function cD(a)
if not true then return 0 elseif a.b<a.a then return a.PARTIAL and a.b or 0 end return a.a end local function cY(u,k)
if u>1000 then J(k) end end local function cs(f) return f:sub(-9)==':reserved'or f:sub(-14)==':reserved:ends' end
local function da(f) if cs(f)then J('RESERVED_KEY') end end local function cg(a) local cI=a.PARTIAL and a.l<a.a
a.r=a.SHADOW and not a.x and(cI or not a.allowed) if not a.allowed and(a.r or a.x)then a.allowed=true if not true then
local N,N,N,bd=au(a) a.ttl=ad(bd) end end end local function cV(a) aP(a,'keep',a.g) return a.remaining end
local function cK(a,O,g) if g==0 then return'keep' elseif not O or not ay(O,a.now_ms)then return'charge',{p=g}
elseif O<=a.now_ms-a.i then return'keep' end return'charge',{p=g,H=O} end local function cF(g) return g==0 and 1 or g
end local function bq(b) if b-b~=0 or b>=(2^53)then J('INEXACT_REPLY') end return b end local function ci(a) local g=a.a
aK(a,0) local m,n=cK(a,nil,g) if g>0 then a.e,a.k=m,n end local ap=bL(a.e,a.k,a.g) aP(a,a.e,ap)
a.allowed=a.b>0 and y(a,0)==0 a.z=a.b>0 and g or cF(g) if(nil)then a.count,a.ttl=(nil)(ap,a.now_ms)
elseif a.allowed then a.ttl=ad(bq(y(a,a.b))) else local y=y(a,a.z) a.ttl=y and math.max(1,ad(bq(y)))or-1 end end
local function cj(a) local g=a.a if a.PARTIAL then g=math.min(g,cV(a)) end a.l=g if a.ALWAYS then ci(a) else aK(a,g) end
end local function bZ(f,H,o) local w=i('%.0f',H) local b=q('ZCOUNT',f,w,w) while o>1 do local B={}
for N=1,math.min(o,1000)do B[#B+1]=w B[#B+1]=i('%s-0.%.0f',w,b) b=b+1 end o=o-q('ZADD',f,'NX',unpack(B)) end
while o>0 do o=o-q('ZADD',f,'NX',w,w..'-0.'..aq(b)) b=b+1 end end local function aD(f,O) if O then
q('PEXPIREAT',f,aq(O)) end end local function cc(ca,aY) local M=0 for r=1,#aY,1000 do local B={unpack(ca)}
for b=r,math.min(r+999,#aY)do B[#B+1]=aY[b] end M=M+q(unpack(B)) end return M end local function db(f,w,u) local ak={}
for N,cB in ipairs(u)do ak[#ak+1]=w ak[#ak+1]=cB end cc({'ZADD',f,'XX'},ak) end local function cf(a,m,n) local f=a.c
if m=='delete'then q('UNLINK',f) return end local X=aB(a,a.n and at(f,a.now_ms)or nil) if n.W then
local w=i('%.0f',a.now_ms) db(f,w,q('ZRANGEBYSCORE',f,'('..w,'+inf','LIMIT','0',aq(a.v))) aD(f,X) return end
local u=a.f+a.u local r,s=u-n.remove,u-1 if n.C then s=q('ZCOUNT',f,'-inf',aq(n.C))-1 r=math.max(0,s+1-n.remove) end
if s<0 or r>0 or s+1<u then aD(f,X) end if s>=0 then q('ZREMRANGEBYRANK',f,i('%.0f',r),i('%.0f',s)) end end
local function cd(a,m,n) local f=a.c if m=='charge'then local X=aB(a,a.n and at(f,a.now_ms)or nil)
bZ(f,n.H or a.now_ms,n.p) aD(f,X) elseif m~='keep'then cf(a,m,n) elseif a.n then aD(f,aB(a,at(f,a.now_ms))) end end
local function ce(a,m,n) cd(a,m,n) end local function bF(a) return a.x and a.x.a or a.r and a.a or a.l end
local function br(a) if not a.allowed then return 0 end return a.PARTIAL and bF(a)or 1 end local function cr(a,A)
local I,dc,S,bd,cl=au(a) return{ 'allowed',br(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',I,
'retry_after_ms',dc, 'next_ms',S, 'reset_ms',bd, 'delay_ms',cl, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0, 'charged',A,
} end local function cE(ao) local bM={} for N,a in ipairs(ao)do local r,aa=a.AS or('SLIDING'):lower(),2 a.j=r
while bM[a.j]do a.j=i('%s-%d',r,aa) aa=aa+1 end bM[a.j]=true end end local function ax(b)
return i('%.0f',bB(b,999999999999999)) end local function cS(a) local z=(nil)and(nil)(a)or a.i local aN,C=1000,z%1000
while C>0 do aN,C=C,aN%C end local bR=1000/aN local ai=aM(aA(z,bR),1000)
return i('"%s";q=%s;w=%s',a.j,ax(aA(a.limit,bR)),ax(ai)) end local function cw(aC,ba) if aC.allowed~=ba.allowed then
return not aC.allowed end local y,bb=aC.retry_after_ms,ba.retry_after_ms if y~=bb then return y<0 or(bb>=0 and y>bb) end
return aC.remaining<ba.remaining end local function ct(ao) local bf,bG=ao[1],{} cE(ao) for b,a in ipairs(ao)do
bG[b]=cS(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=au(a) if cw(a,bf)then bf=a end end local a=bf local ar={
'X-RateLimit-Limit', i('%.0f',a.b), 'X-RateLimit-Remaining', i('%.0f',a.remaining), } local function aw(ah,ae)
ar[#ar+1]=ah ar[#ar+1]=ae end if a.reset_ms>=0 then aw('X-RateLimit-Reset',i('%.0f',ad(a.now_ms+a.reset_ms))) end
aw('RateLimit-Policy',table.concat(bG,', ')) local cC=a.next_ms>=0 and';t='..ax(ad(a.next_ms))or''
aw('RateLimit',i('"%s";r=%s%s',a.j,ax(a.remaining),cC)) if not a.allowed and a.retry_after_ms>=0 then
aw('Retry-After',i('%.0f',ad(a.retry_after_ms))) end return ar end local function cJ(a,A) if a.form=='FULL'then
return cr(a,A) end return{br(a),a.count,a.ttl,ct({a})} end
aE={D=bY,E=ce,F=cg,G=cj,error_reply=co,I=cp,o=J,J=cq,L=bx,M=cD,N=bC,P=cJ,Q=bE,R=cN,A=bF,refund=cU,T=cW,B=cY,U=da,V=di,Z=dl}
end return aE end local cn,bI=pcall(dd,KEYS,ARGV) return cn and bI or h().error_reply(bI)
