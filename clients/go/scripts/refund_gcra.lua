-- RL.REFUND GCRA, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aH,g local V,r,aq,dp=string.find,string.format,string.match,string.sub local function bC(P) return P==''and 1000
or P=='ms'and 1 or P=='s'and 1000 or P=='m'and 60000 or P=='h'and 3600000 or P=='d'and 86400000 or nil end
local function H(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return g().r(b,c) end local function y(b,c)
if b-b==0 and c-c==0 then return b<c end return g().J(b,c) end local function C(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return g().w(b,c) end local function af(b,c)
if b-b==0 and c-c==0 then local u=b%c return u==0 and b/c or(b-u)/c+1 end local ak,u=g().q(b,c)
return u==0 and ak or C(ak,1) end local function bA(a) a.c,a.f=0,0 if a.limit>0 then local bL=H(a.u,1000)
if y(bL,a.limit)then g().h('SPAN') end a.c=af(bL,a.limit) a.f=H(a.b,a.c) if a.f-a.f~=0 then g().S(a) end end end
local function cP(p,e,x) local ax,ap,j=p[e],p[e+1],p[e+2] if not ap then g().h('ARITY') end local a={ m='', n=0,
now_ms=0, v=0, u=0, limit=0, b=0, d=1, form=nil, delay=0, a=nil, k=nil, allowed=false, count=0, ttl=0, g='keep',
remaining=0, l=1, } e=e+2 if j=='LINE'and not p[e+1]and x~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local ae=p[e+1]or''
local br=x==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[e+2]=='LINE'and not p[e+3]and#ae<16
if br and j=='COST'and(' COST PARTIAL BURST ')~=' ID 'and V(ae,'^[1-9]%d*$')then a.form,a.d,e='LINE',ae+0,e+3
elseif br and j=='ID'and(' COST PARTIAL BURST ')==' ID 'and ae~=''then a.form,a.ID,e='LINE',ae,e+3 else e=g().P(a,p,e,x)
a.d=a.COST or 1 end end local cv=#ap<16 and V(ap,'^[1-9]%d*$') a.limit=cv and ap+0 or g().N('limit',ap,0)
local N,P=aq(ax,'^([1-9]%d*)(%l*)$') local av=N and#ax<16 and bC(P) local w=av and N*av if not w or w<1 or w>1e15 then
w=g().W(a,ax) end a.v,a.u,a.b=w,w<9e12 and w*1000 or g().r(w,1000),a.BURST or a.limit if bA then bA(a) end return a,e
end local function cM(p,x) local a,e=cP(p,1,x) if p[e]then g().G(a,x,p[e]) end return a end local function cN(p,x)
if not p[1+1]then g().h('ARITY') end return cM(p,x) end local T=redis.call local function cU(a) local bI=T('TIME')
local aY=bI[1]*1000000+bI[2] a.n,a.now_ms=aY,(aY-aY%1000)/1000 end local function dh(a,ai,e,bN,aT) local n=ai[e]
if not n then g().h('KEYS') end a.m,e=n,e+1 if aT then a.j=n elseif V(n,':reserved',1,true)then g().Q(n) end return e
end local function cS(a,ai,bN,aT) cU(a) if#ai~=dh(a,ai,1,bN,aT)-1 then g().h('KEYS') end end local function ce(f)
local L,aX=aq(f,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not L or L:byte()>56 then return g().B(f) end
return{e=L+0,i=aX+0} end local function cz(a) local f=T('GET',a.m) if f then
a.a=ce(f)or g().F(f,('GCRA'),'FOREIGN_VALUE') end end local function z(B,t) return af(t.i==0 and t.e or C(t.e,1),1000)
end local function bF(k,q,I) if k=='keep'then return I end return k~='delete'and q or nil end local function cn(n,aZ)
if not redis.REDIS_VERSION_NUM then return g().E(n,aZ) end local e=T('PEXPIRETIME',n) return e>=0 and e or nil end
local function aP(a,k,q) local I,aN=a.a,(nil) if k=='keep'and(not I or not aN)then return nil end
local v=I and cn(a.m,a.now_ms) if v and v>=(2^53)then v=g().H(g().D(v)) end if k=='keep'then local M=z(a,I)
return v and y(v,M)and C(M,5000)or nil end local M=z(a,q) local ao=C(M,5000) if not I then return ao elseif not v then
return ao end if aN and k=='rebase'then return g().K(v,z(a,I),M) elseif y(v,M)then return ao
elseif not y(ao,v)or(aN and y(C(z(a,I),5000),v))then return nil end return ao end local function X(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return g().U(b,c) end local function ay(a,t) local l,bJ=0,a.f
if t and not y(t.e,a.n)then l=C(H(X(t.e,a.n),1000),t.i) if y(bJ,l)then return bJ,true end end return l,false end
local function ag(d) if d-d~=0 or d>=(2^53)then g().h('INEXACT_REPLY') end return d end local function bK(a,l)
return a.c==0 and 0 or af(l,a.c) end local function aA(b,c) if b-b==0 and c-c==0 then local u=b%c return(b-u)/c,u end
return g().q(b,c) end local function aG(a,l) local L,aX=aA(l,1000) return{e=C(a.n,L),i=aX} end local function bD(a,l)
a.x=l a.remaining=a.c==0 and 0 or X(a.b,bK(a,l)) end local function o(a,h) local ah=a.c if ah==0 or h>a.b then
return nil end return af(X(a.x,X(a.f,H(h,ah))),1000000) end local function ad(R) local u=R%1000
return R<0 and-1 or u==0 and R/1000 or(R-u)/1000+1 end local function dj(a,h) local o=o(a,h==0 and 1 or h)
o=o and ad(ag(o))or-1 return o==0 and 1 or o end local function aM(a,h) local l,bW=ay(a,a.a) local ah=a.c
local q=C(l,H(h==0 and 1 or h,ah)) local aJ=ah~=0 and not y(a.f,q) a.allowed,a.count,a.g=aJ,ag(bK(a,l)),'keep'
if aJ and h==0 then a.ttl=ag(af(l,1000000000)) elseif aJ then a.g,a.k='charge',aG(a,q) a.ttl=ag(af(q,1000000000)) else
if bW and ah~=0 then a.g,a.k='rebase',aG(a,l) end bD(a,l) a.ttl=dj(a,h) end end local function cd(a)
if a.PARTIAL or a.ALWAYS then g().A(a) else local h=a.d a.l=h aM(a,h) end if a.SHADOW then g().z(a) end end
local function aQ(a,B,t) bD(a,(ay(a,t))) end local function aB(a) local k,o=a.g,o
aQ(a,k,k=='keep'and a.a or k~='delete'and a.k or nil) local W,aL,O,S,ac=a.remaining,a.b,0,0,0 if not a.allowed then
local h=a.l O=o(a,a.s or(h==0 and 1 or h))or-1 if a.I and O>=0 then O=math.max(O,a.I) end end if W<aL then
S=o(a,W+1)or-1 ac=W+1==aL and S or o(a,aL)or-1 end if O-O~=0 or S-S~=0 or ac-ac~=0 or O>=(2^53)or ac>=(2^53)then
g().h('INEXACT_REPLY') end return W,O,S,ac,0 end local function cx(a,J) local W,O,S,ac,cg=aB(a) local df=a.o and 1 or 0
return r( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and g().t(a)or 1)or 0,a.count,a.ttl,a.b,W,O,S,ac, cg,a.now_ms,df,J ) end local function cX(a,J)
local Z=a.form if Z=='LINE'then return cx(a,J) elseif Z then return g().M(a,J) end
return{a.allowed and(a.PARTIAL and g().t(a)or 1)or 0,a.count,a.ttl} end local function ca(a,k,q,J) local bk
local z,I,al=nil,a.a,bF(k,q,a.a) if al and aP then z=aP(a,k,q) end if z and y(z,a.now_ms)then al=nil end a.a=al cd(a)
bk=cX(a,J) a.a=I if not a.Y then g().y(a,k,q) end return bk end local function dd(ai,p)
local a=cN(p,' form COST AT BURST BLOCK MAX ANCHOR ') cS(a,ai) cz(a,'write') local k,q=g().refund(a,a.AT,a.d)
return ca(a,k,q,0) end function g() if not aH then local m={}
m.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
m.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
m.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
m.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
m.ID='ERR invalid ID: expected 1 to 512 bytes'
m.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
m.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
m.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
m.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
m.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
m.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
m.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
m.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
m.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
m.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
m.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
m.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' m.ARITY='ERR wrong number of arguments'
m.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
m.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
m.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local aI={ __sub=function()
return 1 end, } local bS=setmetatable({9437184,14339741,14210},aI) local function K(f) error({err=f},0) end
local function F(aj) K(m[aj]) end local function db(a) if y(bS,a.f)then F('SPAN') end end local function bn(b,c)
for e=1,math.min(#b,#c)do local bO,bP=b:byte(e),c:byte(e) if bO~=bP then return bO<bP end end return#b<#c end
local function az(f,aW) if f~='0'and not V(f,'^[1-9]%d*$')then return nil end
return(#f<#aW or(#f==#aW and not bn(aW,f)))and f or nil end local function aR(i)
if#i<=15 or(#i==16 and bn(i,'9007199254740992'))then return i+0 end local aS=#i%7 local d=aS>0 and i:sub(1,aS)+0 or 0
for e=aS+1,#i,7 do d=C(H(d,10000000),i:sub(e,e+6)+0) end return d end local function cf(f)
local i=az(f,'18446744073709551615') if not i then return nil end return{e=#i>3 and aR(i:sub(1,-4))or 0,i=i:sub(-3)+0}
end local function cV(a,B,h) local l=ay(a,a.a) local bc=H(h,a.c) if l==0 or bc==0 then return'keep'
elseif not y(bc,l)then return'delete' end return'refund',aG(a,X(l,bc)) end local function co(f,s,cK)
local dm={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bh=dm[aq(f,'^(%u):')] if not bh or bh==s then
F(cK) end K('ERR the key holds a state of '..bh..': use another key for each algorithm') end local function cl(at)
if type(at)=='table'then return at elseif V(at,'^%u+ ')then return redis.error_reply(at) end error(at,0) end
local function Y(d) if d-d~=0 then return d end local i,D={},0 while d>0 do local E=d%(2^24) D=D+1 i[D]=E d=(d-E)/(2^24)
end return i end local function an(i) local D=#i while D>0 and i[D]==0 do i[D]=nil D=D-1 end
if D>3 or(D==3 and i[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(i,aI) end
return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function bv(b,c) local bj,bV=b-b==0,c-c==0
if bj or bV then return bj elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function bU(b,c) b,c=Y(b),Y(c) local am,U={},0 for d=1,math.max(#b,#c)+1 do
local E=(b[d]or 0)+(c[d]or 0)+U U=E>=(2^24)and 1 or 0 am[d]=E-U*(2^24) end return an(am) end local function dg(b,c)
if not bv(c,b)then return 0 end c=Y(c) local bo,aK={},0 for d=1,#b do local E=b[d]-(c[d]or 0)-aK aK=E<0 and 1 or 0
bo[d]=E+aK*(2^24) end return an(bo) end local function cD(b,c) b,c=Y(b),Y(c) local as={} for d=1,#b+#c do as[d]=0 end
for d=1,#b do local U=0 for aU=1,#c do local E=as[d+aU-1]+b[d]*c[aU]+U U=math.floor(E/(2^24)) as[d+aU-1]=E-U*(2^24) end
as[d+#c]=U end return an(as) end local function bl(d) if d-d==0 then return d end local am=0 for ct=#d,1,-1 do
am=am*(2^24)+d[ct] end return am end local function ci(b,c) local ak=0 while not y(b,c)do
local aF=math.max(1,math.floor(bl(b)/bl(c)*(1-2^-45))) aF=an(Y(aF)) ak=C(ak,aF) b=X(b,H(aF,c)) end return ak,b end
local function cm(n,aZ) local bu=T('PTTL',n) return bu>=0 and aZ+bu or nil end local function cC(v,cF,M) if v-v~=0 then
F('INEXACT_STATE') end local ar=X(v,X(cF,M)) ar=y(ar,M)and M or ar return ar~=v and ar or nil end
local function bx(aj,f,bt) local i=f and az(f,'9223372036854775807') local d=i and aR(i) if not d or d==0 and bt>0 then
K(r('ERR invalid %s: expected an integer from %d to 9223372036854775807',aj,bt)) elseif d-d~=0 then
K(r('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aj)) end return d end local bi={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aa(cy,s)
return not V(s,' ',1,true)and V(cy,' '..s..' ',1,true)~=nil end local function bH(a,j)
return not aa(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or aa((' COST PARTIAL BURST '),j)
end local function cu(s,j) local G,Q=0,0 local bE,cA=math.min(#s,#j),math.max(#s,#j)
while G<bE and s:byte(G+1)==j:byte(G+1)do G=G+1 end while Q<bE-G and s:byte(-1-Q)==j:byte(-1-Q)do Q=Q+1 end
return G+Q>=2 and cA-G-Q<=2 end local function cp(a,x,s) local ab={} for B,A in ipairs(bi)do
if aa(x,A[1])and bH(a,A[1])then ab[#ab+1]=A[2] end end for B,Z in ipairs({'FULL','LINE','HEADERS'})do ab[#ab+1]=Z end
for B,j in ipairs(ab)do if cu(s:upper(),aq(j,'^%u+'))then K('ERR syntax error: no such option, but there is '..j) end
end local Q=table.remove(ab) local dk=table.concat(ab,', ')
K('ERR syntax error: after limit come '..dk..' or '..Q..', each at most once') end local function cZ(A,a,x)
local j,dn=A[1],a.X if not aa(x,j)then K(r('ERR invalid %s: only %s it',j,A[3])) elseif not bH(a,j)then
K(r('ERR invalid %s: %s takes none',j,('GCRA'))) elseif a[j]~=nil then
K(r('ERR syntax error: %s comes at most once',A[2])) end end local function aV(b,c) return y(c,b)and c or b end
local bT=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aI) local function cQ(j,f,dq) if j=='AS'then
return f and#f>=1 and#f<=64 and not V(f,'[^%w._-]')and f or F('AS') elseif j=='AT'then
local i=f and az(f,'9223372036854775807') return i and aV(aR(i),(aA(bT,1000)))or F('AT') end
return bx(j,f,j=='BURST'and 1 or 0) end local function cY(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bQ={FULL=true,LINE=true,HEADERS=true}
local function cH(Z,bw) if Z then F(Z==bw and'FORM_TWICE'or'TWO_FORMS') end return bw end local function cO(a,p,e,x)
while p[e]do local s,A=p[e]:upper(),nil for B,bs in ipairs(bi)do A=bs[1]==s and bs or A end if A then cZ(A,a,x)
if A[2]==s then a[s]=true e=e+1 else a[s]=cQ(s,p[e+1],p[e+2]) e=e+(s=='RESERVE'and 3 or 2) end cY(a)
elseif bQ[s]and aa(x,'form')then a.form=cH(a.form,s) e=e+1 else return e end end return e end local function cR(f)
local N,P=aq(f,'^(%d+)(%l*)$') local av=N and bC(P) local R=av and az(N,'18446744073709551615')and N*av
return R and R>=1 and R<=1e15 and R or nil end
local bR={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dl(a,f) local w=cR(f)
if not w then a.V=f:upper() w=bR[a.V] if not w then
F(aa((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aa((' COST PARTIAL BURST '),'ANCHOR')then
K(r('ERR invalid window: %s takes no windows of the calendar',('GCRA'))) end end return w end local function cr(n)
return n:sub(-9)==':reserved'or n:sub(-14)==':reserved:ends' end local function da(n) if cr(n)then F('RESERVED_KEY') end
end local function bZ(a) local cI=a.PARTIAL and a.l<a.d a.o=a.SHADOW and not a.p and(cI or not a.allowed)
if not a.allowed and(a.o or a.p)then a.allowed=true if not(nil)then local B,B,B,bd=aB(a) a.ttl=ad(bd) end end end
local function cW(a) aQ(a,'keep',a.a) return a.remaining end local function cL(a,B,h) if h==0 or a.c==0 then
return'keep' end local l=ay(a,a.a) return'charge',aG(a,aV(C(l,H(h,a.c)),a.f)) end local function cG(h)
return h==0 and 1 or h end local function cb(a) local h=a.d aM(a,0) local k,q=cL(a,nil,h) if h>0 then a.g,a.k=k,q end
local al=bF(a.g,a.k,a.a) aQ(a,a.g,al) a.allowed=a.b>0 and o(a,0)==0 a.s=a.b>0 and h or cG(h) if(nil)then
a.count,a.ttl=(nil)(al,a.now_ms) elseif a.allowed then a.ttl=ad(ag(o(a,a.b))) else local o=o(a,a.s)
a.ttl=o and math.max(1,ad(ag(o)))or-1 end end local function cc(a) local h=a.d if a.PARTIAL then h=math.min(h,cW(a)) end
a.l=h if a.ALWAYS then cb(a) else aM(a,h) end end local function di(d) local bf='' while d-d~=0 do local u
d,u=aA(d,10000000) bf=r('%07.0f',u)..bf end return r('%.0f',d)..bf end local function bg(d) if d-d~=0 then return di(d)
end return r('%.0f',d) end local function de(n,bm) if bm then T('PEXPIREAT',n,bg(bm)) end end local function ck(t)
return t.e==0 and r('%d',t.i)or bg(t.e)..r('%03d',t.i) end local function bp(t) local L=t.e if L-L~=0 or L<1000000 then
return ck(t) end return r('%.0f%03d',L,t.i) end local function bY(a,k,q) local n=a.m if k=='delete'then T('UNLINK',n)
return end local z=aP(a,k,q) if k=='keep'then de(n,z) elseif z then T('SET',n,bp(q),'PXAT',z==0 and'1'or bg(z)) else
T('SET',n,bp(q),'KEEPTTL') end end local function bX(a,k,q) bY(a,k,q) end local function by(a)
return a.p and a.p.d or a.o and a.d or a.l end local function bq(a) if not a.allowed then return 0 end
return a.PARTIAL and by(a)or 1 end local function cq(a,J) local W,dc,S,bd,ch=aB(a) return{ 'allowed',bq(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',W, 'retry_after_ms',dc, 'next_ms',S, 'reset_ms',bd,
'delay_ms',ch, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',J, } end local function cE(au) local bG={}
for B,a in ipairs(au)do local G,N=a.AS or('GCRA'):lower(),2 a.j=G while bG[a.j]do a.j=r('%s-%d',G,N) N=N+1 end
bG[a.j]=true end end local function aD(d) return r('%.0f',aV(d,999999999999999)) end local function cT(a)
local w=(nil)and(nil)(a)or a.v local aO,u=1000,w%1000 while u>0 do aO,u=u,aO%u end local bM=1000/aO
local ax=aA(H(w,bM),1000) return r('"%s";q=%s;w=%s',a.j,aD(H(a.limit,bM)),aD(ax)) end local function cw(aE,ba)
if aE.allowed~=ba.allowed then return not aE.allowed end local o,bb=aE.retry_after_ms,ba.retry_after_ms if o~=bb then
return o<0 or(bb>=0 and o>bb) end return aE.remaining<ba.remaining end local function cs(au) local be,bz=au[1],{} cE(au)
for d,a in ipairs(au)do bz[d]=cT(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aB(a) if cw(a,be)then be=a end end
local a=be local aw={ 'X-RateLimit-Limit', r('%.0f',a.b), 'X-RateLimit-Remaining', r('%.0f',a.remaining), }
local function aC(aj,ae) aw[#aw+1]=aj aw[#aw+1]=ae end if a.reset_ms>=0 then
aC('X-RateLimit-Reset',r('%.0f',ad(a.now_ms+a.reset_ms))) end aC('RateLimit-Policy',table.concat(bz,', '))
local cB=a.next_ms>=0 and';t='..aD(ad(a.next_ms))or'' aC('RateLimit',r('"%s";r=%s%s',a.j,aD(a.remaining),cB))
if not a.allowed and a.retry_after_ms>=0 then aC('Retry-After',r('%.0f',ad(a.retry_after_ms))) end return aw end
local function cJ(a,J) if a.form=='FULL'then return cq(a,J) end return{bq(a),a.count,a.ttl,cs({a})} end
aH={w=bU,y=bX,z=bZ,A=cc,B=cf,D=Y,q=ci,error_reply=cl,E=cm,h=F,F=co,G=cp,H=an,J=bv,K=cC,r=cD,M=cJ,N=bx,P=cO,t=by,refund=cV,Q=da,S=db,U=dg,W=dl}
end return aH end local cj,bB=pcall(dd,KEYS,ARGV) return cj and bB or g().error_reply(bB)
