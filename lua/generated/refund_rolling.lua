-- RL.REFUND ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local bl,n local Y,D,bA,aC=string.find,string.format,string.match,string.sub local function dF(w,g,F)
local aH,ai,p=w[g],w[g+1],w[g+2] if not ai then n().j('ARITY') end local a={ q='', M=0, now_ms=0, k=0, Y=0, limit=0,
i=0, g=1, form=nil, delay=0, e=nil, l=nil, allowed=false, count=0, ttl=0, f='keep', remaining=0, p=1, } g=g+2
if p=='LINE'and not w[g+1]and F~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,g=p,g+1 elseif p then
local ay=w[g+1]or''
local ce=F==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and w[g+2]=='LINE'and not w[g+3]and#ay<16
if ce and p=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and Y(ay,'^[1-9]%d*$')then
a.form,a.g,g='LINE',ay+0,g+3 elseif ce and p=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and ay~=''then
a.form,a.ID,g='LINE',ay,g+3 else g=n().Q(a,w,g,F) a.g=a.COST or 1 end end local bv=#ai<16 and Y(ai,'^[1-9]%d*$')
a.limit=bv and ai+0 or n().P('limit',ai,0) bv=#aH<10 and Y(aH,'^[1-9]%d*$') local z=bv and aH*1000 or n().Z(a,aH)
a.k,a.Y,a.i=z,z<9e12 and z*1000 or n().u(z,1000),a.BURST or a.limit return a,g end local function dC(w,F)
local a,g=dF(w,1,F) if w[g]then n().F(a,F,w[g]) end return a end local function dD(w,F) if not w[1+1]then n().j('ARITY')
end return dC(w,F) end local R=redis.call local function dK(a) local cv=R('TIME') local bE=cv[1]*1000000+cv[2]
a.M,a.now_ms=bE,(bE-bE%1000)/1000 end local function ea(a,U,g,bN,bw) local l=U[g] if not l then n().j('KEYS') end
a.q,g=l,g+1 if bw then a.n=l elseif Y(l,':reserved',1,true)then n().S(l) end if bN then g=a.af and g+2 or n().V(a,U,g,l)
end return g end local function dH(a,U,bN,bw) dK(a) if#U~=ea(a,U,1,bN,bw)-1 then n().j('KEYS') end end
local bW,cH=string.byte,string.char local function H(b,d) local e,f,ad,af,an,ao,Z=bW(b,15*d+3,15*d+9) if Z>=32 then
n().j('INEXACT_STATE') end return e+256*(f+256*(ad+256*(af+256*(an+256*(ao+256*Z))))) end local function aX(b,o,y)
if o==0 or H(b,o-1)<=y then return o end local az,aR=0,o while aR>1 do local bt=(aR-aR%2)/2 if H(b,az+bt)<=y then
az=az+bt end aR=aR-bt end return H(b,az)<=y and az+1 or az end local function Q(b,d)
local e,f,ad,af,an,ao,Z,db=bW(b,15*d+10,15*d+17) return an+256*(ao+256*(Z+256*db)),e+256*(f+256*(ad+256*af)) end
local function dJ(a,b) local o=(#b-2)/15 if aC(b,1,2)~='R:'or o%1~=0 or o<1 or o>8192 then return nil end
local bs,C,j,h=a.now_ms-a.k,0,0,0 if bs>=0 and H(b,0)<=bs then C=aX(b,o,bs) j,h=Q(b,C-1) local be,by=Q(b,o-1)
if be<j or(be==j and by<h)then return nil end end return{c=b,a=o,b=C,hi=j,lo=h} end local function dm(a)
local b=R('GET',a.q) if b then a.e=dJ(a,b)or n().E(b,'ROLLING','FOREIGN_VALUE') end end local function cd(r)
local h=r%(2^32) return(r-h)/(2^32),h end local function aG(j,h,dx,dy) j,h=j+dx,h+dy if h>=(2^32)then j,h=j+1,h-(2^32)
end return j%(2^32),h,j>=(2^32) end local function aK(e,f) if e-e==0 and f-f==0 then local v=e%f return(e-v)/f,v end
return n().D(e,f) end local function aB(e,f) if e-e==0 and f-f==0 and e*f<(2^53)then return e*f end return n().u(e,f)
end local function aE(a,e,f) local z=a.k if e==f then return true elseif z<=4096 or math.abs(e-f)>=z/4096+1 then
return false end return(aK(aB(e,4096),z))==(aK(aB(f,4096),z)) end local function br(c,aa,S,v,av) local b,J,C=c.c,c.a,c.b
local o,bF=aa+(J-v)+1,15*aa+2 local i={c=aC(b,1,bF)..S,a=o,b=C,hi=c.hi,lo=c.lo} i.write,i.w,i.o='SETRANGE',bF,S
if v<J then i.o=S..aC(b,15*v+3) i.c=aC(b,1,bF)..i.o elseif aa==J then i.write='APPEND' end
if J==0 or(C>0 and C*2>=J)or av or o<J or o>8192 then i.write='SET' end return i end local function aJ(y,j,h)
local e,f=y%16777216,j%65536 local ad,af=h%65536,(y-y%16777216)/16777216 local an,ao,Z=(j-f)/65536,(h-ad)/65536,af%65536
return cH( e%256,(e-e%256)/256%256,(e-e%65536)/65536, Z%256,(Z-Z%256)/256,(af-Z)/65536%256,(af-af%16777216)/16777216,
ad%256,(ad-ad%256)/256,ao%256,(ao-ao%256)/256, f%256,(f-f%256)/256,an%256,(an-an%256)/256 ) end
local function K(a,c,g,r) local b,o=c.c,c.a local x=aX(b,o,g) local j,h=cd(r) local N,O,av,aa=c.hi,c.lo,false,o
if o>0 then local be,by=Q(b,o-1) N,O,av=aG(be,by,j,h) if x<o then return n().y(a,c,x,g,j,h,av) elseif o>c.b then
aa=aE(a,H(b,o-1),g)and o-1 or o else N,O=aG(c.hi,c.lo,j,h) end else N,O=j,h end return br(c,aa,aJ(g,N,O),o,av) end
local function bk(t,i,J) if t=='keep'then return J end return t~='delete'and i or nil end local function bf(e,f)
if e-e==0 and f-f==0 then return e<f end return n().I(e,f) end local function ee(j,h,de,dl) local r=(j-de)*(2^32)+(h-dl)
return r<0 and r+(2^32)*(2^32)or r end local function aV(c,d) local j,h=Q(c.c,d) return ee(j,h,c.hi,c.lo) end
local function aU(c) return c and c.a>0 and aV(c,c.a-1)or 0 end local function aL(d) if d-d~=0 or d>=(2^53)then
n().j('INEXACT_REPLY') end return d end local function aZ(a,W,c) local r=aU(c)
a.J,a.X,a.remaining=c,r,r<a.limit and a.limit-r or 0 end local function al(y) local v=y%1000
return y<0 and-1 or v==0 and y/1000 or(y-v)/1000+1 end local function s(a,k) local bK,c,r=a.limit-k,a.J,a.X if bK<0 then
return nil elseif r<=bK then return 0 end local bD,aj,ah=r-bK,c.b,c.a-1 if aV(c,aj)>=bD then ah=aj
elseif aV(c,ah>0 and ah-1 or 0)<bD then aj=ah end while aj<ah do local bB=(aj+ah-(aj+ah)%2)/2 if aV(c,bB)>=bD then ah=bB
else aj=bB+1 end end local aM=H(c.c,aj)+a.k-a.now_ms return aM>0 and aM or 0 end local function ed(a,k)
local s=s(a,k==0 and 1 or k) s=s and al(aL(s))or-1 return s==0 and 1 or s end local function bo(a,k)
local c,ai=a.e,a.limit local r=aU(c) local aW=r+(k==0 and 1 or k)<=ai a.allowed,a.count,a.f=aW,aL(r),'keep'
if aW and k>0 then a.f='charge' a.l=K(a,c or{c='R:',a=0,b=0,hi=0,lo=0},a.now_ms,k)
elseif not aW and r>0 and H(c.c,c.a-1)>a.now_ms then a.f,a.l='rebase',n().K(a,c) end aZ(a,a.f,bk(a.f,a.l,c)) if aW then
a.ttl=al(aL(s(a,ai))) else a.ttl=ed(a,k) end end local function cP(a) if a.PARTIAL or a.ALWAYS then n().B(a) else
local k=a.g a.p=k bo(a,k) end if a.SHADOW then n().A(a) end end local function aY(a) local t,s=a.f,s
aZ(a,t,t=='keep'and a.e or t~='delete'and a.l or nil) local ak,bn,V,ac,aw=a.remaining,a.i,0,0,0 if not a.allowed then
local k=a.p V=s(a,a.v or(k==0 and 1 or k))or-1 if a.G and V>=0 then V=math.max(V,a.G) end end if ak<bn then
ac=s(a,ak+1)or-1 aw=ak+1==bn and ac or s(a,bn)or-1 end if V-V~=0 or ac-ac~=0 or aw-aw~=0 or V>=(2^53)or aw>=(2^53)then
n().j('INEXACT_REPLY') end return ak,V,ac,aw,0 end local function dj(a,K) local ak,V,ac,aw,cQ=aY(a)
local dW=a.r and 1 or 0 return D( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and n().x(a)or 1)or 0,a.count,a.ttl,a.i,ak,V,ac,aw, cQ,a.now_ms,dW,K ) end
local function dN(a,K) local ap=a.form if ap=='LINE'then return dj(a,K) elseif ap then return n().N(a,K) end
return{a.allowed and(a.PARTIAL and n().x(a)or 1)or 0,a.count,a.ttl} end local function cM(a,t,i,K) local bU
local ag,J,aS=nil,a.e,bk(t,i,a.e) if ag and bf(ag,a.now_ms)then aS=nil end a.e=aS cP(a) bU=dN(a,K) a.e=J
if not a.ae then n().z(a,t,i) end return bU end local function dT(U,w)
local a=dD(w,' form COST AT BURST BLOCK MAX ANCHOR ') dH(a,U) dm(a,'write') local t,i=n().refund(a,a.AT,a.g)
return cM(a,t,i,0) end function n() if not bl then local u={}
u.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
u.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
u.ID='ERR invalid ID: expected 1 to 512 bytes'
u.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
u.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
u.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
u.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
u.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
u.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
u.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
u.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
u.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
u.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
u.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
u.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' u.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
u.OVERFLOW='ERR increment or decrement would overflow'
u.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
u.ARITY='ERR wrong number of arguments' u.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
u.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
local function bC(b,cZ,ec,X,am,j,h) local aD={} for d=cZ,ec-1 do local bg,bh=X,am if not X then bg,bh=Q(b,d)
bg,bh=aG(bg,bh,j,h) end aD[#aD+1]=aJ(H(b,d),bg,bh) end return table.concat(aD) end local function cI(a,c,x,g,j,h,av)
local b,o,aa,v=c.c,c.a,x,x local N,O,y=c.hi,c.lo,g if x>c.b then N,O=Q(b,x-1) end if x>c.b and aE(a,H(b,x-1),g)then
aa=x-1 elseif aE(a,H(b,x),g)then y,v=H(b,x),x+1 N,O=Q(b,x) end N,O=aG(N,O,j,h) local di=bC(b,v,o,nil,nil,j,h)
local eg={c=aC(b,1,15*v+2)..di,a=o,b=c.b,hi=c.hi,lo=c.lo} return br(eg,aa,aJ(y,N,O),v,av) end local function dq(a,c)
local b,I=c.c,a.now_ms local x=aX(b,c.a,I) local bx=x>c.b and aE(a,H(b,x-1),I) local j,h=Q(b,c.a-1)
return br(c,bx and x-1 or x,aJ(I,j,h),c.a,false) end local function dL(a,B,k) local c=a.e if not c then return'keep' end
local b,m=c.c,c.a if B then B=B-B==0 and B or(2^53) m=aX(b,c.a,B) local df=m>c.b and H(b,m-1)==B
if not df and m<c.a and aE(a,H(b,m),B)then m=m+1 end end local r,X,am=0,c.hi,c.lo if m>c.b then r=aV(c,m-1)
X,am=Q(b,m-1) end local G=math.min(k,r) if G==0 then return'keep' elseif G==aU(c)then return'delete' end local j,h=cd(G)
j,h=((2^32)-j-(h>0 and 1 or 0))%(2^32),((2^32)-h)%(2^32) X,am=aG(X,am,j,h) local ax=m while ax>0 do local N,O=Q(b,ax-1)
if N<X or(N==X and O<=am)then break end ax=ax-1 end local bX=bC(b,ax,m,X,am)..bC(b,m,c.a,nil,nil,j,h)
local i={c=aC(b,1,15*ax+2)..bX,a=c.a,b=c.b} i.hi,i.lo,i.write,i.w,i.o=c.hi,c.lo,'SETRANGE',15*ax+2,bX
if c.b>0 and c.b*2>=c.a then i.write='SET' end return'refund',i end local function T(b) error({err=b},0) end
local function L(ab) T(u[ab]) end local function cX(b,A,dA)
local ei={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bO=ei[bA(b,'^(%u):')] if not bO or bO==A then
L(dA) end T('ERR the key holds a state of '..bO..': use another key for each algorithm') end local function cU(aP)
if type(aP)=='table'then return aP elseif Y(aP,'^%u+ ')then return redis.error_reply(aP) end error(aP,0) end
local function ch(e,f) local bS,cG=e-e==0,f-f==0 if bS or cG then return bS elseif#e~=#f then return#e<#f end
for d=#e,1,-1 do if e[d]~=f[d]then return e[d]<f[d] end end return false end local function aA(d) if d-d~=0 then
return d end local q,G={},0 while d>0 do local P=d%(2^24) G=G+1 q[G]=P d=(d-P)/(2^24) end return q end local bP={
__sub=function() return 1 end, } local function ba(q) local G=#q while G>0 and q[G]==0 do q[G]=nil G=G-1 end
if G>3 or(G==3 and q[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(q,bP) end
return(q[1]or 0)+(q[2]or 0)*(2^24)+(q[3]or 0)*(2^24)*(2^24) end local function dr(e,f) e,f=aA(e),aA(f) local aO={}
for d=1,#e+#f do aO[d]=0 end for d=1,#e do local ae=0 for bz=1,#f do local P=aO[d+bz-1]+e[d]*f[bz]+ae
ae=math.floor(P/(2^24)) aO[d+bz-1]=P-ae*(2^24) end aO[d+#f]=ae end return ba(aO) end local function bV(d) if d-d==0 then
return d end local aF=0 for x=#d,1,-1 do aF=aF*(2^24)+d[x] end return aF end local function cF(e,f) e,f=aA(e),aA(f)
local aF,ae={},0 for d=1,math.max(#e,#f)+1 do local P=(e[d]or 0)+(f[d]or 0)+ae ae=P>=(2^24)and 1 or 0 aF[d]=P-ae*(2^24)
end return ba(aF) end local function bT(e,f) if e-e==0 and f-f==0 and e+f<(2^53)then return e+f end return cF(e,f) end
local function dY(e,f) if not ch(f,e)then return 0 end f=aA(f) local bZ,bm={},0 for d=1,#e do local P=e[d]-(f[d]or 0)-bm
bm=P<0 and 1 or 0 bZ[d]=P+bm*(2^24) end return ba(bZ) end local function dX(e,f) if e-e==0 and f-f==0 then
return e>f and e-f or 0 end return dY(e,f) end local function cS(e,f) local bI=0 while not bf(e,f)do
local bj=math.max(1,math.floor(bV(e)/bV(f)*(1-2^-45))) bj=ba(aA(bj)) bI=bT(bI,bj) e=dX(e,aB(bj,f)) end return bI,e end
local function bY(e,f) for g=1,math.min(#e,#f)do local cA,cB=e:byte(g),f:byte(g) if cA~=cB then return cA<cB end end
return#e<#f end local function bp(b,aN) if b~='0'and not Y(b,'^[1-9]%d*$')then return nil end
return(#b<#aN or(#b==#aN and not bY(aN,b)))and b or nil end local function cc(q)
if#q<=15 or(#q==16 and bY(q,'9007199254740992'))then return q+0 end local bu=#q%7 local d=bu>0 and q:sub(1,bu)+0 or 0
for g=bu+1,#q,7 do d=bT(aB(d,10000000),q:sub(g,g+6)+0) end return d end local function ck(ab,b,cg)
local q=b and bp(b,'9223372036854775807') local d=q and cc(q) if not d or d==0 and cg>0 then
T(D('ERR invalid %s: expected an integer from %d to 9223372036854775807',ab,cg)) elseif d-d~=0 then
T(D('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ab)) end return d end local bQ={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ar(dk,A)
return not Y(A,' ',1,true)and Y(dk,' '..A..' ',1,true)~=nil end local function ct(a,p)
return not ar(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',p)or ar((' COST PARTIAL ALWAYS RESERVE RESERVATION '),p)
end local function dg(A,p) local C,m=0,0 local cr,dn=math.min(#A,#p),math.max(#A,#p)
while C<cr and A:byte(C+1)==p:byte(C+1)do C=C+1 end while m<cr-C and A:byte(-1-m)==p:byte(-1-m)do m=m+1 end
return C+m>=2 and dn-C-m<=2 end local function cY(a,F,A) local au={} for W,M in ipairs(bQ)do
if ar(F,M[1])and ct(a,M[1])then au[#au+1]=M[2] end end for W,ap in ipairs({'FULL','LINE','HEADERS'})do au[#au+1]=ap end
for W,p in ipairs(au)do if dg(A:upper(),bA(p,'^%u+'))then T('ERR syntax error: no such option, but there is '..p) end
end local m=table.remove(au) local ef=table.concat(au,', ')
T('ERR syntax error: after limit come '..ef..' or '..m..', each at most once') end local function dP(M,a,F)
local p,ej=M[1],a.aa if not ar(F,p)then T(D('ERR invalid %s: only %s it',p,M[3])) elseif not ct(a,p)then
T(D('ERR invalid %s: %s takes none',p,('ROLLING'))) elseif a[p]~=nil then
T(D('ERR syntax error: %s comes at most once',M[2])) end end
local bR={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cm(b) local at,cx=bA(b,'^(%d+)(%l*)$')
local y=at and bR[cx]and bp(at,'18446744073709551615')and at*bR[cx] return y and y>=1 and y<=1e15 and y or nil end
local function cl(b,aN) return b and#b>=1 and#b<=aN and b end local function ci(e,f) return bf(f,e)and f or e end
local cE=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bP) local function dG(p,b,cq) if p=='RESERVE'then
local cw=cq and cm(cq) return cl(b,128)and cw and{id=b,ttl=cw}or L('RESERVE') elseif p=='RESERVATION'then
return cl(b,128)or L('RESERVATION') end if p=='AS'then
return b and#b>=1 and#b<=64 and not Y(b,'[^%w._-]')and b or L('AS') elseif p=='AT'then
local q=b and bp(b,'9223372036854775807') return q and ci(cc(q),(aK(cE,1000)))or L('AT') end
return ck(p,b,p=='BURST'and 1 or 0) end local function dO(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
L(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
L(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cC={FULL=true,LINE=true,HEADERS=true}
local function dv(ap,cj) if ap then L(ap==cj and'FORM_TWICE'or'TWO_FORMS') end return cj end local function dE(a,w,g,F)
while w[g]do local A,M=w[g]:upper(),nil for W,cf in ipairs(bQ)do M=cf[1]==A and cf or M end if M then dP(M,a,F)
if M[2]==A then a[A]=true g=g+1 else a[A]=dG(A,w[g+1],w[g+2]) g=g+(A=='RESERVE'and 3 or 2) end dO(a)
elseif cC[A]and ar(F,'form')then a.form=dv(a.form,A) g=g+1 else return g end end return g end
local cD={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function eh(a,b) local z=cm(b)
if not z then a.W=b:upper() z=cD[a.W] if not z then
L(ar((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ar((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
T(D('ERR invalid window: %s takes no windows of the calendar',('ROLLING'))) end end return z end local function dc(l)
return l:sub(-9)==':reserved'or l:sub(-14)==':reserved:ends' end local function dQ(l) if dc(l)then L('RESERVED_KEY') end
end local function dZ(a,U,g,l) local bb,ca=U[g]or'',U[g+1] local ab=((nil)and(nil)(a)or'')..':reserved'
if(bb~=l..ab and bb~='{'..l..'}'..ab)or ca~=bb..':ends'then L('KEYS') end a.ad,a.ac=bb,ca return g+2 end
local function cL(a) local dw=a.PARTIAL and a.p<a.g a.r=a.SHADOW and not a.t and(dw or not a.allowed)
if not a.allowed and(a.r or a.t)then a.allowed=true if not(nil)then local W,W,W,bJ=aY(a) a.ttl=al(bJ) end end end
local function dM(a) aZ(a,'keep',a.e) return a.remaining end local function dB(a,B,k) local I,c=a.now_ms,a.e
B=B and bf(B,I)and B or I if k==0 or(B<I and B<=I-a.k)then return'keep' end local r=aU(c)+k if r>=(2^53)then
L(r>2^63 and'OVERFLOW'or'INEXACT_REPLY') end return'charge',K(a,c or{c='R:',a=0,b=0,hi=0,lo=0},B,k) end
local function dt(k) return k==0 and 1 or k end local function cN(a) local k=a.g bo(a,0) local t,i=dB(a,nil,k)
if k>0 then a.f,a.l=t,i end local aS=bk(a.f,a.l,a.e) aZ(a,a.f,aS) a.allowed=a.i>0 and s(a,0)==0 a.v=a.i>0 and k or dt(k)
if(nil)then a.count,a.ttl=(nil)(aS,a.now_ms) elseif a.allowed then a.ttl=al(aL(s(a,a.i))) else local s=s(a,a.v)
a.ttl=s and math.max(1,al(aL(s)))or-1 end end local function cO(a) local k=a.g if a.PARTIAL then k=math.min(k,dM(a)) end
a.p=k if a.ALWAYS then cN(a) else bo(a,k) end end local function cV(l,I) local aM=R('PTTL',l)
return aM>=0 and I+aM or nil end local function cW(l,I) if not redis.REDIS_VERSION_NUM then return cV(l,I) end
local g=R('PEXPIRETIME',l) return g>=0 and g or nil end local function du(a,aq) local I,z=a.now_ms,a.k
if aq and 2*(aq-I)>=3*z then return nil end return I+2*z end local function dS(a,c) local b,E=c.c,{} for d=c.b,c.a-1 do
local j,h=Q(b,d) j,h=aG(j,h,((2^32)-c.hi-(c.lo>0 and 1 or 0))%(2^32),((2^32)-c.lo)%(2^32)) local m=E[#E]
if(m or j>0 or h>0)and not(m and m.hi==j and m.lo==h)then E[#E+1]={ms=H(b,d),hi=j,lo=h} end end if#E>4096+1 then
local as={} for W,S in ipairs(E)do local bx=#as>0 and aE(a,S.ms,as[#as].ms) as[bx and#as or#as+1]=S end E=as end
if#E>8192 then local m,aI=E[#E],0 while aI<#E and E[aI+1].ms<=a.now_ms do aI=aI+1 end
for d=#E,math.min(aI,8192-1)+1,-1 do E[d]=nil end E[#E+1]=m end local aD={'R:'} for d,S in ipairs(E)do
aD[d+1]=aJ(S.ms,S.hi,S.lo) end return table.concat(aD) end local function eb(d) local bM='' while d-d~=0 do local v
d,v=aK(d,10000000) bM=D('%07.0f',v)..bM end return D('%.0f',d)..bM end local function cu(d) if d-d~=0 then return eb(d)
end return D('%.0f',d) end local function dV(a,i,ag,aq) local l,b=a.q,i.write=='SET'and dS(a,i)or i.c if ag then
R('SET',l,b,'PXAT',cu(ag)) elseif aq then R('SET',l,b,'KEEPTTL') end end local function dU(l,B) if B then
R('PEXPIREAT',l,cu(B)) end end local function cJ(a,t,i) local l,J=a.q,a.e if t=='delete'then R('UNLINK',l) return end
local aq=J and not a.ab and cW(l,a.now_ms)or nil local ag=du(a,aq) if t~='keep'then local cz=i.write
if cz=='SET'or a.H then dV(a,i,ag,aq) return elseif cz=='APPEND'then R('APPEND',l,i.o) else
R('SETRANGE',l,D('%d',i.w),i.o) end elseif aU(J)==0 then return end dU(l,ag) end local function cK(a,t,i) if a.H then
i=bk(t,i,a.e) a.e=a.U if not i then t=a.U and'delete'or'keep' elseif t~='charge'then t='refund' end end cJ(a,t,i) end
local function cn(a) return a.t and a.t.g or a.r and a.g or a.p end local function cb(a) if not a.allowed then return 0
end return a.PARTIAL and cn(a)or 1 end local function da(a,K) local ak,dR,ac,bJ,cR=aY(a) return{ 'allowed',cb(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.i, 'remaining',ak, 'retry_after_ms',dR, 'next_ms',ac, 'reset_ms',bJ,
'delay_ms',cR, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0, 'charged',K, } end local function ds(aQ) local cs={}
for W,a in ipairs(aQ)do local C,at=a.AS or('ROLLING'):lower(),2 a.n=C while cs[a.n]do a.n=D('%s-%d',C,at) at=at+1 end
cs[a.n]=true end end local function bd(d) return D('%.0f',ci(d,999999999999999)) end local function dI(a)
local z=(nil)and(nil)(a)or a.k local bq,v=1000,z%1000 while v>0 do bq,v=v,bq%v end local cy=1000/bq
local aH=aK(aB(z,cy),1000) return D('"%s";q=%s;w=%s',a.n,bd(aB(a.limit,cy)),bd(aH)) end local function dh(bi,bG)
if bi.allowed~=bG.allowed then return not bi.allowed end local s,bH=bi.retry_after_ms,bG.retry_after_ms if s~=bH then
return s<0 or(bH>=0 and s>bH) end return bi.remaining<bG.remaining end local function dd(aQ) local bL,co=aQ[1],{} ds(aQ)
for d,a in ipairs(aQ)do co[d]=dI(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aY(a) if dh(a,bL)then bL=a end end
local a=bL local aT={ 'X-RateLimit-Limit', D('%.0f',a.i), 'X-RateLimit-Remaining', D('%.0f',a.remaining), }
local function bc(ab,ay) aT[#aT+1]=ab aT[#aT+1]=ay end if a.reset_ms>=0 then
bc('X-RateLimit-Reset',D('%.0f',al(a.now_ms+a.reset_ms))) end bc('RateLimit-Policy',table.concat(co,', '))
local dp=a.next_ms>=0 and';t='..bd(al(a.next_ms))or'' bc('RateLimit',D('"%s";r=%s%s',a.n,bd(a.remaining),dp))
if not a.allowed and a.retry_after_ms>=0 then bc('Retry-After',D('%.0f',al(a.retry_after_ms))) end return aT end
local function dz(a,K) if a.form=='FULL'then return da(a,K) end return{cb(a),a.count,a.ttl,dd({a})} end
bl={y=cI,z=cK,A=cL,B=cO,D=cS,error_reply=cU,j=L,E=cX,F=cY,I=ch,K=dq,u=dr,N=dz,P=ck,Q=dE,x=cn,refund=dL,S=dQ,V=dZ,Z=eh}
end return bl end local cT,cp=pcall(dT,KEYS,ARGV) return cT and cp or n().error_reply(cp)
