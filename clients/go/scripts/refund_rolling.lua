-- RL.REFUND ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local bo,n local ai,D,bi,aD=string.find,string.format,string.match,string.sub local function cq(X) return X==''and 1000
or X=='ms'and 1 or X=='s'and 1000 or X=='m'and 60000 or X=='h'and 3600000 or X=='d'and 86400000 or nil end
local function dG(x,g,F) local aX,ak,p=x[g],x[g+1],x[g+2] if not ak then n().h('ARITY') end local a={ n='', H=0,
now_ms=0, i=0, U=0, limit=0, g=0, f=1, form=nil, delay=0, d=nil, j=nil, allowed=false, count=0, ttl=0, e='keep',
remaining=0, m=1, } g=g+2 if p=='LINE'and not x[g+1]and F~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,g=p,g+1 elseif p then local az=x[g+1]or''
local ce=F==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and x[g+2]=='LINE'and not x[g+3]and#az<16
if ce and p=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and ai(az,'^[1-9]%d*$')then
a.form,a.f,g='LINE',az+0,g+3 elseif ce and p=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and az~=''then
a.form,a.ID,g='LINE',az,g+3 else g=n().K(a,x,g,F) a.f=a.COST or 1 end end local dh=#ak<16 and ai(ak,'^[1-9]%d*$')
a.limit=dh and ak+0 or n().J('limit',ak,0) local V,X=bi(aX,'^([1-9]%d*)(%l*)$') local aR=V and#aX<16 and cq(X)
local s=aR and V*aR if not s or s<1 or s>1e15 then s=n().V(a,aX) end
a.i,a.U,a.g=s,s<9e12 and s*1000 or n().q(s,1000),a.BURST or a.limit return a,g end local function dD(x,F)
local a,g=dG(x,1,F) if x[g]then n().A(a,F,x[g]) end return a end local function dE(x,F) if not x[1+1]then n().h('ARITY')
end return dD(x,F) end local R=redis.call local function dL(a) local cw=R('TIME') local bF=cw[1]*1000000+cw[2]
a.H,a.now_ms=bF,(bF-bF%1000)/1000 end local function eb(a,U,g,bO,by) local l=U[g] if not l then n().h('KEYS') end
a.n,g=l,g+1 if by then a.k=l elseif ai(l,':reserved',1,true)then n().M(l) end if bO then
g=a.ab and g+2 or n().P(a,U,g,l) end return g end local function dI(a,U,bO,by) dL(a) if#U~=eb(a,U,1,bO,by)-1 then
n().h('KEYS') end end local bW,cH=string.byte,string.char local function H(b,d)
local e,f,ae,ag,ap,aq,aa=bW(b,15*d+3,15*d+9) if aa>=32 then n().h('INEXACT_STATE') end
return e+256*(f+256*(ae+256*(ag+256*(ap+256*(aq+256*aa))))) end local function aZ(b,o,z) if o==0 or H(b,o-1)<=z then
return o end local aA,aS=0,o while aS>1 do local bw=(aS-aS%2)/2 if H(b,aA+bw)<=z then aA=aA+bw end aS=aS-bw end
return H(b,aA)<=z and aA+1 or aA end local function Q(b,d) local e,f,ae,ag,ap,aq,aa,db=bW(b,15*d+10,15*d+17)
return ap+256*(aq+256*(aa+256*db)),e+256*(f+256*(ae+256*ag)) end local function dK(a,b) local o=(#b-2)/15
if aD(b,1,2)~='R:'or o%1~=0 or o<1 or o>8192 then return nil end local bv,C,j,h=a.now_ms-a.i,0,0,0
if bv>=0 and H(b,0)<=bv then C=aZ(b,o,bv) j,h=Q(b,C-1) local bg,bA=Q(b,o-1) if bg<j or(bg==j and bA<h)then return nil
end end return{c=b,a=o,b=C,hi=j,lo=h} end local function dn(a) local b=R('GET',a.n) if b then
a.d=dK(a,b)or n().z(b,'ROLLING','FOREIGN_VALUE') end end local function cd(r) local h=r%(2^32) return(r-h)/(2^32),h end
local function aH(j,h,dy,dz) j,h=j+dy,h+dz if h>=(2^32)then j,h=j+1,h-(2^32) end return j%(2^32),h,j>=(2^32) end
local function aK(e,f) if e-e==0 and f-f==0 then local w=e%f return(e-w)/f,w end return n().y(e,f) end
local function aC(e,f) if e-e==0 and f-f==0 and e*f<(2^53)then return e*f end return n().q(e,f) end
local function aF(a,e,f) local s=a.i if e==f then return true elseif s<=4096 or math.abs(e-f)>=s/4096+1 then
return false end return(aK(aC(e,4096),s))==(aK(aC(f,4096),s)) end local function bu(c,ab,S,w,aw) local b,J,C=c.c,c.a,c.b
local o,bG=ab+(J-w)+1,15*ab+2 local i={c=aD(b,1,bG)..S,a=o,b=C,hi=c.hi,lo=c.lo} i.write,i.s,i.l='SETRANGE',bG,S
if w<J then i.l=S..aD(b,15*w+3) i.c=aD(b,1,bG)..i.l elseif ab==J then i.write='APPEND' end
if J==0 or(C>0 and C*2>=J)or aw or o<J or o>8192 then i.write='SET' end return i end local function aJ(z,j,h)
local e,f=z%16777216,j%65536 local ae,ag=h%65536,(z-z%16777216)/16777216
local ap,aq,aa=(j-f)/65536,(h-ae)/65536,ag%65536 return cH( e%256,(e-e%256)/256%256,(e-e%65536)/65536,
aa%256,(aa-aa%256)/256,(ag-aa)/65536%256,(ag-ag%16777216)/16777216, ae%256,(ae-ae%256)/256,aq%256,(aq-aq%256)/256,
f%256,(f-f%256)/256,ap%256,(ap-ap%256)/256 ) end local function K(a,c,g,r) local b,o=c.c,c.a local y=aZ(b,o,g)
local j,h=cd(r) local N,O,aw,ab=c.hi,c.lo,false,o if o>0 then local bg,bA=Q(b,o-1) N,O,aw=aH(bg,bA,j,h) if y<o then
return n().u(a,c,y,g,j,h,aw) elseif o>c.b then ab=aF(a,H(b,o-1),g)and o-1 or o else N,O=aH(c.hi,c.lo,j,h) end else
N,O=j,h end return bu(c,ab,aJ(g,N,O),o,aw) end local function bn(u,i,J) if u=='keep'then return J end
return u~='delete'and i or nil end local function bh(e,f) if e-e==0 and f-f==0 then return e<f end return n().E(e,f) end
local function ef(j,h,de,dm) local r=(j-de)*(2^32)+(h-dm) return r<0 and r+(2^32)*(2^32)or r end local function aW(c,d)
local j,h=Q(c.c,d) return ef(j,h,c.hi,c.lo) end local function aV(c) return c and c.a>0 and aW(c,c.a-1)or 0 end
local function aL(d) if d-d~=0 or d>=(2^53)then n().h('INEXACT_REPLY') end return d end local function bb(a,Y,c)
local r=aV(c) a.F,a.S,a.remaining=c,r,r<a.limit and a.limit-r or 0 end local function an(z) local w=z%1000
return z<0 and-1 or w==0 and z/1000 or(z-w)/1000+1 end local function t(a,k) local bL,c,r=a.limit-k,a.F,a.S if bL<0 then
return nil elseif r<=bL then return 0 end local bE,al,aj=r-bL,c.b,c.a-1 if aW(c,al)>=bE then aj=al
elseif aW(c,aj>0 and aj-1 or 0)<bE then al=aj end while al<aj do local bC=(al+aj-(al+aj)%2)/2 if aW(c,bC)>=bE then aj=bC
else al=bC+1 end end local aM=H(c.c,al)+a.i-a.now_ms return aM>0 and aM or 0 end local function ee(a,k)
local t=t(a,k==0 and 1 or k) t=t and an(aL(t))or-1 return t==0 and 1 or t end local function br(a,k)
local c,ak=a.d,a.limit local r=aV(c) local aY=r+(k==0 and 1 or k)<=ak a.allowed,a.count,a.e=aY,aL(r),'keep'
if aY and k>0 then a.e='charge' a.j=K(a,c or{c='R:',a=0,b=0,hi=0,lo=0},a.now_ms,k)
elseif not aY and r>0 and H(c.c,c.a-1)>a.now_ms then a.e,a.j='rebase',n().G(a,c) end bb(a,a.e,bn(a.e,a.j,c)) if aY then
a.ttl=an(aL(t(a,ak))) else a.ttl=ee(a,k) end end local function cP(a) if a.PARTIAL or a.ALWAYS then n().x(a) else
local k=a.f a.m=k br(a,k) end if a.SHADOW then n().w(a) end end local function ba(a) local u,t=a.e,t
bb(a,u,u=='keep'and a.d or u~='delete'and a.j or nil) local am,bq,W,ad,ax=a.remaining,a.g,0,0,0 if not a.allowed then
local k=a.m W=t(a,a.r or(k==0 and 1 or k))or-1 if a.B and W>=0 then W=math.max(W,a.B) end end if am<bq then
ad=t(a,am+1)or-1 ax=am+1==bq and ad or t(a,bq)or-1 end if W-W~=0 or ad-ad~=0 or ax-ax~=0 or W>=(2^53)or ax>=(2^53)then
n().h('INEXACT_REPLY') end return am,W,ad,ax,0 end local function dk(a,K) local am,W,ad,ax,cQ=ba(a)
local dX=a.o and 1 or 0 return D( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and n().t(a)or 1)or 0,a.count,a.ttl,a.g,am,W,ad,ax, cQ,a.now_ms,dX,K ) end
local function dO(a,K) local ar=a.form if ar=='LINE'then return dk(a,K) elseif ar then return n().I(a,K) end
return{a.allowed and(a.PARTIAL and n().t(a)or 1)or 0,a.count,a.ttl} end local function cM(a,u,i,K) local bU
local ah,J,aT=nil,a.d,bn(u,i,a.d) if ah and bh(ah,a.now_ms)then aT=nil end a.d=aT cP(a) bU=dO(a,K) a.d=J
if not a.aa then n().v(a,u,i) end return bU end local function dU(U,x)
local a=dE(x,' form COST AT BURST BLOCK MAX ANCHOR ') dI(a,U) dn(a,'write') local u,i=n().refund(a,a.AT,a.f)
return cM(a,u,i,0) end function n() if not bo then local v={}
v.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
v.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
v.ID='ERR invalid ID: expected 1 to 512 bytes'
v.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
v.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
v.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
v.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
v.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
v.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
v.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
v.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
v.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
v.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
v.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
v.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' v.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
v.OVERFLOW='ERR increment or decrement would overflow'
v.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
v.ARITY='ERR wrong number of arguments' v.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
v.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
local function bD(b,cZ,ed,Z,ao,j,h) local aE={} for d=cZ,ed-1 do local bj,bk=Z,ao if not Z then bj,bk=Q(b,d)
bj,bk=aH(bj,bk,j,h) end aE[#aE+1]=aJ(H(b,d),bj,bk) end return table.concat(aE) end local function cI(a,c,y,g,j,h,aw)
local b,o,ab,w=c.c,c.a,y,y local N,O,z=c.hi,c.lo,g if y>c.b then N,O=Q(b,y-1) end if y>c.b and aF(a,H(b,y-1),g)then
ab=y-1 elseif aF(a,H(b,y),g)then z,w=H(b,y),y+1 N,O=Q(b,y) end N,O=aH(N,O,j,h) local dj=bD(b,w,o,nil,nil,j,h)
local eh={c=aD(b,1,15*w+2)..dj,a=o,b=c.b,hi=c.hi,lo=c.lo} return bu(eh,ab,aJ(z,N,O),w,aw) end local function dr(a,c)
local b,I=c.c,a.now_ms local y=aZ(b,c.a,I) local bz=y>c.b and aF(a,H(b,y-1),I) local j,h=Q(b,c.a-1)
return bu(c,bz and y-1 or y,aJ(I,j,h),c.a,false) end local function dM(a,B,k) local c=a.d if not c then return'keep' end
local b,m=c.c,c.a if B then B=B-B==0 and B or(2^53) m=aZ(b,c.a,B) local df=m>c.b and H(b,m-1)==B
if not df and m<c.a and aF(a,H(b,m),B)then m=m+1 end end local r,Z,ao=0,c.hi,c.lo if m>c.b then r=aW(c,m-1)
Z,ao=Q(b,m-1) end local G=math.min(k,r) if G==0 then return'keep' elseif G==aV(c)then return'delete' end local j,h=cd(G)
j,h=((2^32)-j-(h>0 and 1 or 0))%(2^32),((2^32)-h)%(2^32) Z,ao=aH(Z,ao,j,h) local ay=m while ay>0 do local N,O=Q(b,ay-1)
if N<Z or(N==Z and O<=ao)then break end ay=ay-1 end local bX=bD(b,ay,m,Z,ao)..bD(b,m,c.a,nil,nil,j,h)
local i={c=aD(b,1,15*ay+2)..bX,a=c.a,b=c.b} i.hi,i.lo,i.write,i.s,i.l=c.hi,c.lo,'SETRANGE',15*ay+2,bX
if c.b>0 and c.b*2>=c.a then i.write='SET' end return'refund',i end local function T(b) error({err=b},0) end
local function L(ac) T(v[ac]) end local function cX(b,A,dB)
local ej={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bP=ej[bi(b,'^(%u):')] if not bP or bP==A then
L(dB) end T('ERR the key holds a state of '..bP..': use another key for each algorithm') end local function cU(aP)
if type(aP)=='table'then return aP elseif ai(aP,'^%u+ ')then return redis.error_reply(aP) end error(aP,0) end
local function ch(e,f) local bS,cG=e-e==0,f-f==0 if bS or cG then return bS elseif#e~=#f then return#e<#f end
for d=#e,1,-1 do if e[d]~=f[d]then return e[d]<f[d] end end return false end local function aB(d) if d-d~=0 then
return d end local q,G={},0 while d>0 do local P=d%(2^24) G=G+1 q[G]=P d=(d-P)/(2^24) end return q end local bQ={
__sub=function() return 1 end, } local function bc(q) local G=#q while G>0 and q[G]==0 do q[G]=nil G=G-1 end
if G>3 or(G==3 and q[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(q,bQ) end
return(q[1]or 0)+(q[2]or 0)*(2^24)+(q[3]or 0)*(2^24)*(2^24) end local function ds(e,f) e,f=aB(e),aB(f) local aO={}
for d=1,#e+#f do aO[d]=0 end for d=1,#e do local af=0 for bB=1,#f do local P=aO[d+bB-1]+e[d]*f[bB]+af
af=math.floor(P/(2^24)) aO[d+bB-1]=P-af*(2^24) end aO[d+#f]=af end return bc(aO) end local function bV(d) if d-d==0 then
return d end local aG=0 for y=#d,1,-1 do aG=aG*(2^24)+d[y] end return aG end local function cF(e,f) e,f=aB(e),aB(f)
local aG,af={},0 for d=1,math.max(#e,#f)+1 do local P=(e[d]or 0)+(f[d]or 0)+af af=P>=(2^24)and 1 or 0 aG[d]=P-af*(2^24)
end return bc(aG) end local function bT(e,f) if e-e==0 and f-f==0 and e+f<(2^53)then return e+f end return cF(e,f) end
local function dZ(e,f) if not ch(f,e)then return 0 end f=aB(f) local bZ,bp={},0 for d=1,#e do local P=e[d]-(f[d]or 0)-bp
bp=P<0 and 1 or 0 bZ[d]=P+bp*(2^24) end return bc(bZ) end local function dY(e,f) if e-e==0 and f-f==0 then
return e>f and e-f or 0 end return dZ(e,f) end local function cS(e,f) local bJ=0 while not bh(e,f)do
local bm=math.max(1,math.floor(bV(e)/bV(f)*(1-2^-45))) bm=bc(aB(bm)) bJ=bT(bJ,bm) e=dY(e,aC(bm,f)) end return bJ,e end
local function bY(e,f) for g=1,math.min(#e,#f)do local cA,cB=e:byte(g),f:byte(g) if cA~=cB then return cA<cB end end
return#e<#f end local function bs(b,aN) if b~='0'and not ai(b,'^[1-9]%d*$')then return nil end
return(#b<#aN or(#b==#aN and not bY(aN,b)))and b or nil end local function cc(q)
if#q<=15 or(#q==16 and bY(q,'9007199254740992'))then return q+0 end local bx=#q%7 local d=bx>0 and q:sub(1,bx)+0 or 0
for g=bx+1,#q,7 do d=bT(aC(d,10000000),q:sub(g,g+6)+0) end return d end local function ck(ac,b,cg)
local q=b and bs(b,'9223372036854775807') local d=q and cc(q) if not d or d==0 and cg>0 then
T(D('ERR invalid %s: expected an integer from %d to 9223372036854775807',ac,cg)) elseif d-d~=0 then
T(D('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ac)) end return d end local bR={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function at(dl,A)
return not ai(A,' ',1,true)and ai(dl,' '..A..' ',1,true)~=nil end local function cu(a,p)
return not at(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',p)or at((' COST PARTIAL ALWAYS RESERVE RESERVATION '),p)
end local function dg(A,p) local C,m=0,0 local cs,dp=math.min(#A,#p),math.max(#A,#p)
while C<cs and A:byte(C+1)==p:byte(C+1)do C=C+1 end while m<cs-C and A:byte(-1-m)==p:byte(-1-m)do m=m+1 end
return C+m>=2 and dp-C-m<=2 end local function cY(a,F,A) local av={} for Y,M in ipairs(bR)do
if at(F,M[1])and cu(a,M[1])then av[#av+1]=M[2] end end for Y,ar in ipairs({'FULL','LINE','HEADERS'})do av[#av+1]=ar end
for Y,p in ipairs(av)do if dg(A:upper(),bi(p,'^%u+'))then T('ERR syntax error: no such option, but there is '..p) end
end local m=table.remove(av) local eg=table.concat(av,', ')
T('ERR syntax error: after limit come '..eg..' or '..m..', each at most once') end local function dQ(M,a,F)
local p,ek=M[1],a.W if not at(F,p)then T(D('ERR invalid %s: only %s it',p,M[3])) elseif not cu(a,p)then
T(D('ERR invalid %s: %s takes none',p,('ROLLING'))) elseif a[p]~=nil then
T(D('ERR syntax error: %s comes at most once',M[2])) end end local function cm(b) local V,X=bi(b,'^(%d+)(%l*)$')
local aR=V and cq(X) local z=aR and bs(V,'18446744073709551615')and V*aR return z and z>=1 and z<=1e15 and z or nil end
local function cl(b,aN) return b and#b>=1 and#b<=aN and b end local function ci(e,f) return bh(f,e)and f or e end
local cE=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bQ) local function dH(p,b,cr) if p=='RESERVE'then
local cx=cr and cm(cr) return cl(b,128)and cx and{id=b,ttl=cx}or L('RESERVE') elseif p=='RESERVATION'then
return cl(b,128)or L('RESERVATION') end if p=='AS'then
return b and#b>=1 and#b<=64 and not ai(b,'[^%w._-]')and b or L('AS') elseif p=='AT'then
local q=b and bs(b,'9223372036854775807') return q and ci(cc(q),(aK(cE,1000)))or L('AT') end
return ck(p,b,p=='BURST'and 1 or 0) end local function dP(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
L(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
L(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cC={FULL=true,LINE=true,HEADERS=true}
local function dw(ar,cj) if ar then L(ar==cj and'FORM_TWICE'or'TWO_FORMS') end return cj end local function dF(a,x,g,F)
while x[g]do local A,M=x[g]:upper(),nil for Y,cf in ipairs(bR)do M=cf[1]==A and cf or M end if M then dQ(M,a,F)
if M[2]==A then a[A]=true g=g+1 else a[A]=dH(A,x[g+1],x[g+2]) g=g+(A=='RESERVE'and 3 or 2) end dP(a)
elseif cC[A]and at(F,'form')then a.form=dw(a.form,A) g=g+1 else return g end end return g end
local cD={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function ei(a,b) local s=cm(b)
if not s then a.Q=b:upper() s=cD[a.Q] if not s then
L(at((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not at((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
T(D('ERR invalid window: %s takes no windows of the calendar',('ROLLING'))) end end return s end local function dc(l)
return l:sub(-9)==':reserved'or l:sub(-14)==':reserved:ends' end local function dR(l) if dc(l)then L('RESERVED_KEY') end
end local function ea(a,U,g,l) local bd,ca=U[g]or'',U[g+1] local ac=((nil)and(nil)(a)or'')..':reserved'
if(bd~=l..ac and bd~='{'..l..'}'..ac)or ca~=bd..':ends'then L('KEYS') end a.Z,a.Y=bd,ca return g+2 end
local function cL(a) local dx=a.PARTIAL and a.m<a.f a.o=a.SHADOW and not a.p and(dx or not a.allowed)
if not a.allowed and(a.o or a.p)then a.allowed=true if not(nil)then local Y,Y,Y,bK=ba(a) a.ttl=an(bK) end end end
local function dN(a) bb(a,'keep',a.d) return a.remaining end local function dC(a,B,k) local I,c=a.now_ms,a.d
B=B and bh(B,I)and B or I if k==0 or(B<I and B<=I-a.i)then return'keep' end local r=aV(c)+k if r>=(2^53)then
L(r>2^63 and'OVERFLOW'or'INEXACT_REPLY') end return'charge',K(a,c or{c='R:',a=0,b=0,hi=0,lo=0},B,k) end
local function du(k) return k==0 and 1 or k end local function cN(a) local k=a.f br(a,0) local u,i=dC(a,nil,k)
if k>0 then a.e,a.j=u,i end local aT=bn(a.e,a.j,a.d) bb(a,a.e,aT) a.allowed=a.g>0 and t(a,0)==0 a.r=a.g>0 and k or du(k)
if(nil)then a.count,a.ttl=(nil)(aT,a.now_ms) elseif a.allowed then a.ttl=an(aL(t(a,a.g))) else local t=t(a,a.r)
a.ttl=t and math.max(1,an(aL(t)))or-1 end end local function cO(a) local k=a.f if a.PARTIAL then k=math.min(k,dN(a)) end
a.m=k if a.ALWAYS then cN(a) else br(a,k) end end local function cV(l,I) local aM=R('PTTL',l)
return aM>=0 and I+aM or nil end local function cW(l,I) if not redis.REDIS_VERSION_NUM then return cV(l,I) end
local g=R('PEXPIRETIME',l) return g>=0 and g or nil end local function dv(a,as) local I,s=a.now_ms,a.i
if as and 2*(as-I)>=3*s then return nil end return I+2*s end local function dT(a,c) local b,E=c.c,{} for d=c.b,c.a-1 do
local j,h=Q(b,d) j,h=aH(j,h,((2^32)-c.hi-(c.lo>0 and 1 or 0))%(2^32),((2^32)-c.lo)%(2^32)) local m=E[#E]
if(m or j>0 or h>0)and not(m and m.hi==j and m.lo==h)then E[#E+1]={ms=H(b,d),hi=j,lo=h} end end if#E>4096+1 then
local au={} for Y,S in ipairs(E)do local bz=#au>0 and aF(a,S.ms,au[#au].ms) au[bz and#au or#au+1]=S end E=au end
if#E>8192 then local m,aI=E[#E],0 while aI<#E and E[aI+1].ms<=a.now_ms do aI=aI+1 end
for d=#E,math.min(aI,8192-1)+1,-1 do E[d]=nil end E[#E+1]=m end local aE={'R:'} for d,S in ipairs(E)do
aE[d+1]=aJ(S.ms,S.hi,S.lo) end return table.concat(aE) end local function ec(d) local bN='' while d-d~=0 do local w
d,w=aK(d,10000000) bN=D('%07.0f',w)..bN end return D('%.0f',d)..bN end local function cv(d) if d-d~=0 then return ec(d)
end return D('%.0f',d) end local function dW(a,i,ah,as) local l,b=a.n,i.write=='SET'and dT(a,i)or i.c if ah then
R('SET',l,b,'PXAT',cv(ah)) elseif as then R('SET',l,b,'KEEPTTL') end end local function dV(l,B) if B then
R('PEXPIREAT',l,cv(B)) end end local function cJ(a,u,i) local l,J=a.n,a.d if u=='delete'then R('UNLINK',l) return end
local as=J and not a.X and cW(l,a.now_ms)or nil local ah=dv(a,as) if u~='keep'then local cz=i.write
if cz=='SET'or a.D then dW(a,i,ah,as) return elseif cz=='APPEND'then R('APPEND',l,i.l) else
R('SETRANGE',l,D('%d',i.s),i.l) end elseif aV(J)==0 then return end dV(l,ah) end local function cK(a,u,i) if a.D then
i=bn(u,i,a.d) a.d=a.N if not i then u=a.N and'delete'or'keep' elseif u~='charge'then u='refund' end end cJ(a,u,i) end
local function cn(a) return a.p and a.p.f or a.o and a.f or a.m end local function cb(a) if not a.allowed then return 0
end return a.PARTIAL and cn(a)or 1 end local function da(a,K) local am,dS,ad,bK,cR=ba(a) return{ 'allowed',cb(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.g, 'remaining',am, 'retry_after_ms',dS, 'next_ms',ad, 'reset_ms',bK,
'delay_ms',cR, 'now_ms',a.now_ms, 'shadow',a.o and 1 or 0, 'charged',K, } end local function dt(aQ) local ct={}
for Y,a in ipairs(aQ)do local C,V=a.AS or('ROLLING'):lower(),2 a.k=C while ct[a.k]do a.k=D('%s-%d',C,V) V=V+1 end
ct[a.k]=true end end local function bf(d) return D('%.0f',ci(d,999999999999999)) end local function dJ(a)
local s=(nil)and(nil)(a)or a.i local bt,w=1000,s%1000 while w>0 do bt,w=w,bt%w end local cy=1000/bt
local aX=aK(aC(s,cy),1000) return D('"%s";q=%s;w=%s',a.k,bf(aC(a.limit,cy)),bf(aX)) end local function di(bl,bH)
if bl.allowed~=bH.allowed then return not bl.allowed end local t,bI=bl.retry_after_ms,bH.retry_after_ms if t~=bI then
return t<0 or(bI>=0 and t>bI) end return bl.remaining<bH.remaining end local function dd(aQ) local bM,co=aQ[1],{} dt(aQ)
for d,a in ipairs(aQ)do co[d]=dJ(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ba(a) if di(a,bM)then bM=a end end
local a=bM local aU={ 'X-RateLimit-Limit', D('%.0f',a.g), 'X-RateLimit-Remaining', D('%.0f',a.remaining), }
local function be(ac,az) aU[#aU+1]=ac aU[#aU+1]=az end if a.reset_ms>=0 then
be('X-RateLimit-Reset',D('%.0f',an(a.now_ms+a.reset_ms))) end be('RateLimit-Policy',table.concat(co,', '))
local dq=a.next_ms>=0 and';t='..bf(an(a.next_ms))or'' be('RateLimit',D('"%s";r=%s%s',a.k,bf(a.remaining),dq))
if not a.allowed and a.retry_after_ms>=0 then be('Retry-After',D('%.0f',an(a.retry_after_ms))) end return aU end
local function dA(a,K) if a.form=='FULL'then return da(a,K) end return{cb(a),a.count,a.ttl,dd({a})} end
bo={u=cI,v=cK,w=cL,x=cO,y=cS,error_reply=cU,h=L,z=cX,A=cY,E=ch,G=dr,q=ds,I=dA,J=ck,K=dF,t=cn,refund=dM,M=dR,P=ea,V=ei}
end return bo end local cT,cp=pcall(dU,KEYS,ARGV) return cT and cp or n().error_reply(cp)
