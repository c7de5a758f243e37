-- RL.REFUND GCRA, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aF,g local O,r,aB,dn=string.find,string.format,string.match,string.sub local function H(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return g().v(b,c) end local function x(b,c)
if b-b==0 and c-c==0 then return b<c end return g().P(b,c) end local function C(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return g().A(b,c) end local function ae(b,c)
if b-b==0 and c-c==0 then local u=b%c return u==0 and b/c or(b-u)/c+1 end local aj,u=g().u(b,c)
return u==0 and aj or C(aj,1) end local function bA(a) a.c,a.g=0,0 if a.limit>0 then local bL=H(a.y,1000)
if x(bL,a.limit)then g().j('SPAN') end a.c=ae(bL,a.limit) a.g=H(a.b,a.c) if a.g-a.g~=0 then g().X(a) end end end
local function cO(p,e,w) local am,ap,j=p[e],p[e+1],p[e+2] if not ap then g().j('ARITY') end local a={ p='', q=0,
now_ms=0, z=0, y=0, limit=0, b=0, e=1, form=nil, delay=0, a=nil, n=nil, allowed=false, count=0, ttl=0, i='keep',
remaining=0, o=1, } e=e+2 if j=='LINE'and not p[e+1]and w~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,e=j,e+1 elseif j then local ad=p[e+1]or''
local br=w==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and p[e+2]=='LINE'and not p[e+3]and#ad<16
if br and j=='COST'and(' COST PARTIAL BURST ')~=' ID 'and O(ad,'^[1-9]%d*$')then a.form,a.e,e='LINE',ad+0,e+3
elseif br and j=='ID'and(' COST PARTIAL BURST ')==' ID 'and ad~=''then a.form,a.ID,e='LINE',ad,e+3 else e=g().V(a,p,e,w)
a.e=a.COST or 1 end end local aR=#ap<16 and O(ap,'^[1-9]%d*$') a.limit=aR and ap+0 or g().U('limit',ap,0)
aR=#am<10 and O(am,'^[1-9]%d*$') local A=aR and am*1000 or g().aa(a,am)
a.z,a.y,a.b=A,A<9e12 and A*1000 or g().v(A,1000),a.BURST or a.limit if bA then bA(a) end return a,e end
local function cL(p,w) local a,e=cO(p,1,w) if p[e]then g().K(a,w,p[e]) end return a end local function cM(p,w)
if not p[1+1]then g().j('ARITY') end return cL(p,w) end local S=redis.call local function cT(a) local bH=S('TIME')
local aX=bH[1]*1000000+bH[2] a.q,a.now_ms=aX,(aX-aX%1000)/1000 end local function dg(a,ah,e,bN,aS) local n=ah[e]
if not n then g().j('KEYS') end a.p,e=n,e+1 if aS then a.l=n elseif O(n,':reserved',1,true)then g().W(n) end return e
end local function cR(a,ah,bN,aS) cT(a) if#ah~=dg(a,ah,1,bN,aS)-1 then g().j('KEYS') end end local function ce(f)
local L,aW=aB(f,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not L or L:byte()>56 then return g().G(f) end
return{f=L+0,k=aW+0} end local function cy(a) local f=S('GET',a.p) if f then
a.a=ce(f)or g().J(f,('GCRA'),'FOREIGN_VALUE') end end local function y(B,t) return ae(t.k==0 and t.f or C(t.f,1),1000)
end local function bE(k,q,I) if k=='keep'then return I end return k~='delete'and q or nil end local function cn(n,aY)
if not redis.REDIS_VERSION_NUM then return g().I(n,aY) end local e=S('PEXPIRETIME',n) return e>=0 and e or nil end
local function aN(a,k,q) local I,aL=a.a,(nil) if k=='keep'and(not I or not aL)then return nil end
local v=I and cn(a.p,a.now_ms) if v and v>=(2^53)then v=g().M(g().H(v)) end if k=='keep'then local M=y(a,I)
return v and x(v,M)and C(M,5000)or nil end local M=y(a,q) local ao=C(M,5000) if not I then return ao elseif not v then
return ao end if aL and k=='rebase'then return g().Q(v,y(a,I),M) elseif x(v,M)then return ao
elseif not x(ao,v)or(aL and x(C(y(a,I),5000),v))then return nil end return ao end local function V(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return g().Y(b,c) end local function av(a,t) local l,bI=0,a.g
if t and not x(t.f,a.q)then l=C(H(V(t.f,a.q),1000),t.k) if x(bI,l)then return bI,true end end return l,false end
local function af(d) if d-d~=0 or d>=(2^53)then g().j('INEXACT_REPLY') end return d end local function bK(a,l)
return a.c==0 and 0 or ae(l,a.c) end local function ax(b,c) if b-b==0 and c-c==0 then local u=b%c return(b-u)/c,u end
return g().u(b,c) end local function aE(a,l) local L,aW=ax(l,1000) return{f=C(a.q,L),k=aW} end local function bC(a,l)
a.B=l a.remaining=a.c==0 and 0 or V(a.b,bK(a,l)) end local function o(a,h) local ag=a.c if ag==0 or h>a.b then
return nil end return ae(V(a.B,V(a.g,H(h,ag))),1000000) end local function ac(Q) local u=Q%1000
return Q<0 and-1 or u==0 and Q/1000 or(Q-u)/1000+1 end local function di(a,h) local o=o(a,h==0 and 1 or h)
o=o and ac(af(o))or-1 return o==0 and 1 or o end local function aK(a,h) local l,bW=av(a,a.a) local ag=a.c
local q=C(l,H(h==0 and 1 or h,ag)) local aH=ag~=0 and not x(a.g,q) a.allowed,a.count,a.i=aH,af(bK(a,l)),'keep'
if aH and h==0 then a.ttl=af(ae(l,1000000000)) elseif aH then a.i,a.n='charge',aE(a,q) a.ttl=af(ae(q,1000000000)) else
if bW and ag~=0 then a.i,a.n='rebase',aE(a,l) end bC(a,l) a.ttl=di(a,h) end end local function cd(a)
if a.PARTIAL or a.ALWAYS then g().F(a) else local h=a.e a.o=h aK(a,h) end if a.SHADOW then g().E(a) end end
local function aO(a,B,t) bC(a,(av(a,t))) end local function ay(a) local k,o=a.i,o
aO(a,k,k=='keep'and a.a or k~='delete'and a.n or nil) local U,aJ,N,R,ab=a.remaining,a.b,0,0,0 if not a.allowed then
local h=a.o N=o(a,a.w or(h==0 and 1 or h))or-1 if a.N and N>=0 then N=math.max(N,a.N) end end if U<aJ then
R=o(a,U+1)or-1 ab=U+1==aJ and R or o(a,aJ)or-1 end if N-N~=0 or R-R~=0 or ab-ab~=0 or N>=(2^53)or ab>=(2^53)then
g().j('INEXACT_REPLY') end return U,N,R,ab,0 end local function cw(a,J) local U,N,R,ab,cg=ay(a) local de=a.r and 1 or 0
return r( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and g().x(a)or 1)or 0,a.count,a.ttl,a.b,U,N,R,ab, cg,a.now_ms,de,J ) end local function cW(a,J)
local X=a.form if X=='LINE'then return cw(a,J) elseif X then return g().S(a,J) end
return{a.allowed and(a.PARTIAL and g().x(a)or 1)or 0,a.count,a.ttl} end local function ca(a,k,q,J) local bk
local y,I,ak=nil,a.a,bE(k,q,a.a) if ak and aN then y=aN(a,k,q) end if y and x(y,a.now_ms)then ak=nil end a.a=ak cd(a)
bk=cW(a,J) a.a=I if not a.ac then g().D(a,k,q) end return bk end local function dc(ah,p)
local a=cM(p,' form COST AT BURST BLOCK MAX ANCHOR ') cR(a,ah) cy(a,'write') local k,q=g().refund(a,a.AT,a.e)
return ca(a,k,q,0) end function g() if not aF then local m={}
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
m.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local aG={ __sub=function()
return 1 end, } local bS=setmetatable({9437184,14339741,14210},aG) local function K(f) error({err=f},0) end
local function F(ai) K(m[ai]) end local function da(a) if x(bS,a.g)then F('SPAN') end end local function bn(b,c)
for e=1,math.min(#b,#c)do local bO,bP=b:byte(e),c:byte(e) if bO~=bP then return bO<bP end end return#b<#c end
local function aw(f,aV) if f~='0'and not O(f,'^[1-9]%d*$')then return nil end
return(#f<#aV or(#f==#aV and not bn(aV,f)))and f or nil end local function aP(i)
if#i<=15 or(#i==16 and bn(i,'9007199254740992'))then return i+0 end local aQ=#i%7 local d=aQ>0 and i:sub(1,aQ)+0 or 0
for e=aQ+1,#i,7 do d=C(H(d,10000000),i:sub(e,e+6)+0) end return d end local function cf(f)
local i=aw(f,'18446744073709551615') if not i then return nil end return{f=#i>3 and aP(i:sub(1,-4))or 0,k=i:sub(-3)+0}
end local function cU(a,B,h) local l=av(a,a.a) local bb=H(h,a.c) if l==0 or bb==0 then return'keep'
elseif not x(bb,l)then return'delete' end return'refund',aE(a,V(l,bb)) end local function co(f,s,cJ)
local dl={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bg=dl[aB(f,'^(%u):')] if not bg or bg==s then
F(cJ) end K('ERR the key holds a state of '..bg..': use another key for each algorithm') end local function cl(as)
if type(as)=='table'then return as elseif O(as,'^%u+ ')then return redis.error_reply(as) end error(as,0) end
local function W(d) if d-d~=0 then return d end local i,D={},0 while d>0 do local E=d%(2^24) D=D+1 i[D]=E d=(d-E)/(2^24)
end return i end local function an(i) local D=#i while D>0 and i[D]==0 do i[D]=nil D=D-1 end
if D>3 or(D==3 and i[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(i,aG) end
return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function bv(b,c) local bj,bV=b-b==0,c-c==0
if bj or bV then return bj elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function bU(b,c) b,c=W(b),W(c) local al,T={},0 for d=1,math.max(#b,#c)+1 do
local E=(b[d]or 0)+(c[d]or 0)+T T=E>=(2^24)and 1 or 0 al[d]=E-T*(2^24) end return an(al) end local function df(b,c)
if not bv(c,b)then return 0 end c=W(c) local bo,aI={},0 for d=1,#b do local E=b[d]-(c[d]or 0)-aI aI=E<0 and 1 or 0
bo[d]=E+aI*(2^24) end return an(bo) end local function cC(b,c) b,c=W(b),W(c) local ar={} for d=1,#b+#c do ar[d]=0 end
for d=1,#b do local T=0 for aT=1,#c do local E=ar[d+aT-1]+b[d]*c[aT]+T T=math.floor(E/(2^24)) ar[d+aT-1]=E-T*(2^24) end
ar[d+#c]=T end return an(ar) end local function bl(d) if d-d==0 then return d end local al=0 for ct=#d,1,-1 do
al=al*(2^24)+d[ct] end return al end local function ci(b,c) local aj=0 while not x(b,c)do
local aD=math.max(1,math.floor(bl(b)/bl(c)*(1-2^-45))) aD=an(W(aD)) aj=C(aj,aD) b=V(b,H(aD,c)) end return aj,b end
local function cm(n,aY) local bu=S('PTTL',n) return bu>=0 and aY+bu or nil end local function cB(v,cE,M) if v-v~=0 then
F('INEXACT_STATE') end local aq=V(v,V(cE,M)) aq=x(aq,M)and M or aq return aq~=v and aq or nil end
local function bx(ai,f,bt) local i=f and aw(f,'9223372036854775807') local d=i and aP(i) if not d or d==0 and bt>0 then
K(r('ERR invalid %s: expected an integer from %d to 9223372036854775807',ai,bt)) elseif d-d~=0 then
K(r('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ai)) end return d end local bh={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Y(cx,s)
return not O(s,' ',1,true)and O(cx,' '..s..' ',1,true)~=nil end local function bG(a,j)
return not Y(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or Y((' COST PARTIAL BURST '),j)
end local function cu(s,j) local G,P=0,0 local bD,cz=math.min(#s,#j),math.max(#s,#j)
while G<bD and s:byte(G+1)==j:byte(G+1)do G=G+1 end while P<bD-G and s:byte(-1-P)==j:byte(-1-P)do P=P+1 end
return G+P>=2 and cz-G-P<=2 end local function cp(a,w,s) local aa={} for B,z in ipairs(bh)do
if Y(w,z[1])and bG(a,z[1])then aa[#aa+1]=z[2] end end for B,X in ipairs({'FULL','LINE','HEADERS'})do aa[#aa+1]=X end
for B,j in ipairs(aa)do if cu(s:upper(),aB(j,'^%u+'))then K('ERR syntax error: no such option, but there is '..j) end
end local P=table.remove(aa) local dj=table.concat(aa,', ')
K('ERR syntax error: after limit come '..dj..' or '..P..', each at most once') end local function cY(z,a,w)
local j,dm=z[1],a.ab if not Y(w,j)then K(r('ERR invalid %s: only %s it',j,z[3])) elseif not bG(a,j)then
K(r('ERR invalid %s: %s takes none',j,('GCRA'))) elseif a[j]~=nil then
K(r('ERR syntax error: %s comes at most once',z[2])) end end local function aU(b,c) return x(c,b)and c or b end
local bT=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aG) local function cP(j,f,dp) if j=='AS'then
return f and#f>=1 and#f<=64 and not O(f,'[^%w._-]')and f or F('AS') elseif j=='AT'then
local i=f and aw(f,'9223372036854775807') return i and aU(aP(i),(ax(bT,1000)))or F('AT') end
return bx(j,f,j=='BURST'and 1 or 0) end local function cX(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bQ={FULL=true,LINE=true,HEADERS=true}
local function cG(X,bw) if X then F(X==bw and'FORM_TWICE'or'TWO_FORMS') end return bw end local function cN(a,p,e,w)
while p[e]do local s,z=p[e]:upper(),nil for B,bs in ipairs(bh)do z=bs[1]==s and bs or z end if z then cY(z,a,w)
if z[2]==s then a[s]=true e=e+1 else a[s]=cP(s,p[e+1],p[e+2]) e=e+(s=='RESERVE'and 3 or 2) end cX(a)
elseif bQ[s]and Y(w,'form')then a.form=cG(a.form,s) e=e+1 else return e end end return e end
local bi={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cQ(f) local Z,bJ=aB(f,'^(%d+)(%l*)$')
local Q=Z and bi[bJ]and aw(Z,'18446744073709551615')and Z*bi[bJ] return Q and Q>=1 and Q<=1e15 and Q or nil end
local bR={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dk(a,f) local A=cQ(f)
if not A then a.Z=f:upper() A=bR[a.Z] if not A then
F(Y((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Y((' COST PARTIAL BURST '),'ANCHOR')then
K(r('ERR invalid window: %s takes no windows of the calendar',('GCRA'))) end end return A end local function cr(n)
return n:sub(-9)==':reserved'or n:sub(-14)==':reserved:ends' end local function cZ(n) if cr(n)then F('RESERVED_KEY') end
end local function bZ(a) local cH=a.PARTIAL and a.o<a.e a.r=a.SHADOW and not a.t and(cH or not a.allowed)
if not a.allowed and(a.r or a.t)then a.allowed=true if not(nil)then local B,B,B,bc=ay(a) a.ttl=ac(bc) end end end
local function cV(a) aO(a,'keep',a.a) return a.remaining end local function cK(a,B,h) if h==0 or a.c==0 then
return'keep' end local l=av(a,a.a) return'charge',aE(a,aU(C(l,H(h,a.c)),a.g)) end local function cF(h)
return h==0 and 1 or h end local function cb(a) local h=a.e aK(a,0) local k,q=cK(a,nil,h) if h>0 then a.i,a.n=k,q end
local ak=bE(a.i,a.n,a.a) aO(a,a.i,ak) a.allowed=a.b>0 and o(a,0)==0 a.w=a.b>0 and h or cF(h) if(nil)then
a.count,a.ttl=(nil)(ak,a.now_ms) elseif a.allowed then a.ttl=ac(af(o(a,a.b))) else local o=o(a,a.w)
a.ttl=o and math.max(1,ac(af(o)))or-1 end end local function cc(a) local h=a.e if a.PARTIAL then h=math.min(h,cV(a)) end
a.o=h if a.ALWAYS then cb(a) else aK(a,h) end end local function dh(d) local be='' while d-d~=0 do local u
d,u=ax(d,10000000) be=r('%07.0f',u)..be end return r('%.0f',d)..be end local function bf(d) if d-d~=0 then return dh(d)
end return r('%.0f',d) end local function dd(n,bm) if bm then S('PEXPIREAT',n,bf(bm)) end end local function ck(t)
return t.f==0 and r('%d',t.k)or bf(t.f)..r('%03d',t.k) end local function bp(t) local L=t.f if L-L~=0 or L<1000000 then
return ck(t) end return r('%.0f%03d',L,t.k) end local function bY(a,k,q) local n=a.p if k=='delete'then S('UNLINK',n)
return end local y=aN(a,k,q) if k=='keep'then dd(n,y) elseif y then S('SET',n,bp(q),'PXAT',y==0 and'1'or bf(y)) else
S('SET',n,bp(q),'KEEPTTL') end end local function bX(a,k,q) bY(a,k,q) end local function by(a)
return a.t and a.t.e or a.r and a.e or a.o end local function bq(a) if not a.allowed then return 0 end
return a.PARTIAL and by(a)or 1 end local function cq(a,J) local U,db,R,bc,ch=ay(a) return{ 'allowed',bq(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',U, 'retry_after_ms',db, 'next_ms',R, 'reset_ms',bc,
'delay_ms',ch, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0, 'charged',J, } end local function cD(at) local bF={}
for B,a in ipairs(at)do local G,Z=a.AS or('GCRA'):lower(),2 a.l=G while bF[a.l]do a.l=r('%s-%d',G,Z) Z=Z+1 end
bF[a.l]=true end end local function aA(d) return r('%.0f',aU(d,999999999999999)) end local function cS(a)
local A=(nil)and(nil)(a)or a.z local aM,u=1000,A%1000 while u>0 do aM,u=u,aM%u end local bM=1000/aM
local am=ax(H(A,bM),1000) return r('"%s";q=%s;w=%s',a.l,aA(H(a.limit,bM)),aA(am)) end local function cv(aC,aZ)
if aC.allowed~=aZ.allowed then return not aC.allowed end local o,ba=aC.retry_after_ms,aZ.retry_after_ms if o~=ba then
return o<0 or(ba>=0 and o>ba) end return aC.remaining<aZ.remaining end local function cs(at) local bd,bz=at[1],{} cD(at)
for d,a in ipairs(at)do bz[d]=cS(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ay(a) if cv(a,bd)then bd=a end end
local a=bd local au={ 'X-RateLimit-Limit', r('%.0f',a.b), 'X-RateLimit-Remaining', r('%.0f',a.remaining), }
local function az(ai,ad) au[#au+1]=ai au[#au+1]=ad end if a.reset_ms>=0 then
az('X-RateLimit-Reset',r('%.0f',ac(a.now_ms+a.reset_ms))) end az('RateLimit-Policy',table.concat(bz,', '))
local cA=a.next_ms>=0 and';t='..aA(ac(a.next_ms))or'' az('RateLimit',r('"%s";r=%s%s',a.l,aA(a.remaining),cA))
if not a.allowed and a.retry_after_ms>=0 then az('Retry-After',r('%.0f',ac(a.retry_after_ms))) end return au end
local function cI(a,J) if a.form=='FULL'then return cq(a,J) end return{bq(a),a.count,a.ttl,cs({a})} end
aF={A=bU,D=bX,E=bZ,F=cc,G=cf,H=W,u=ci,error_reply=cl,I=cm,j=F,J=co,K=cp,M=an,P=bv,Q=cB,v=cC,S=cI,U=bx,V=cN,x=by,refund=cU,W=cZ,X=da,Y=df,aa=dk}
end return aF end local cj,bB=pcall(dc,KEYS,ARGV) return cj and bB or g().error_reply(bB)
