-- RL.PEEK ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aU,n local N,y,bl,ax=string.find,string.format,string.match,string.sub local function dl(w,f,A)
local au,aa,l=w[f],w[f+1],w[f+2] if not aa then n().j('ARITY') end local a={ t='', I=0, now_ms=0, n=0, U=0, limit=0,
f=0, g=1, form=nil, delay=0, l=nil, i=nil, allowed=false, count=0, ttl=0, e='keep', remaining=0, o=1, } f=f+2
if l=='LINE'and not w[f+1]and A~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=l,f+1 elseif l then
local ap=w[f+1]or''
local bO=A==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and w[f+2]=='LINE'and not w[f+3]and#ap<16
if bO and l=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and N(ap,'^[1-9]%d*$')then
a.form,a.g,f='LINE',ap+0,f+3 elseif bO and l=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and ap~=''then
a.form,a.ID,f='LINE',ap,f+3 else f=n().M(a,w,f,A) a.g=a.COST or 1 end end local bg=#aa<16 and N(aa,'^[1-9]%d*$')
a.limit=bg and aa+0 or n().K('limit',aa,0) bg=#au<10 and N(au,'^[1-9]%d*$') local x=bg and au*1000 or n().V(a,au)
a.n,a.U,a.f=x,x<9e12 and x*1000 or n().u(x,1000),a.BURST or a.limit return a,f end local function dj(w,A)
local a,f=dl(w,1,A) if w[f]then n().E(a,A,w[f]) end return a end local bI=redis.call local function dr(a)
local ch=bI('TIME') local bo=ch[1]*1000000+ch[2] a.I,a.now_ms=bo,(bo-bo%1000)/1000 end local function dD(a,J,f,by,bh)
local z=J[f] if not z then n().j('KEYS') end a.t,f=z,f+1 if bh then a.k=z elseif N(z,':reserved',1,true)then n().N(z)
end if by then f=a.aa and f+2 or n().P(a,J,f,z) end return f end local function dn(a,J,by,bh) dr(a)
if#J~=dD(a,J,1,by,bh)-1 then n().j('KEYS') end end local bG,ct=string.byte,string.char local function E(c,e)
local b,d,V,Y,ah,ai,O=bG(c,15*e+3,15*e+9) if O>=32 then n().j('INEXACT_STATE') end
return b+256*(d+256*(V+256*(Y+256*(ah+256*(ai+256*O))))) end local function aX(c,k,s) if k==0 or E(c,k-1)<=s then
return k end local aq,aB=0,k while aB>1 do local be=(aB-aB%2)/2 if E(c,aq+be)<=s then aq=aq+be end aB=aB-be end
return E(c,aq)<=s and aq+1 or aq end local function af(c,e) local b,d,V,Y,ah,ai,O,cI=bG(c,15*e+10,15*e+17)
return ah+256*(ai+256*(O+256*cI)),b+256*(d+256*(V+256*Y)) end local function dq(a,c) local k=(#c-2)/15
if ax(c,1,2)~='R:'or k%1~=0 or k<1 or k>8192 then return nil end local bd,u,j,i=a.now_ms-a.n,0,0,0
if bd>=0 and E(c,0)<=bd then u=aX(c,k,bd) j,i=af(c,u-1) local aM,bi=af(c,k-1) if aM<j or(aM==j and bi<i)then return nil
end end return{b=c,a=k,c=u,hi=j,lo=i} end local function cU(a) local c=bI('GET',a.t) if c then
a.l=dq(a,c)or n().D(c,'ROLLING','FOREIGN_VALUE') end end local function dG(j,i,cM,cT) local q=(j-cM)*(2^32)+(i-cT)
return q<0 and q+(2^32)*(2^32)or q end local function aT(g,e) local j,i=af(g.b,e) return dG(j,i,g.hi,g.lo) end
local function bx(g) return g and g.a>0 and aT(g,g.a-1)or 0 end local function av(e) if e-e~=0 or e>=(2^53)then
n().j('INEXACT_REPLY') end return e end local function cJ(q) local i=q%(2^32) return(q-i)/(2^32),i end
local function aS(j,i,de,df) j,i=j+de,i+df if i>=(2^32)then j,i=j+1,i-(2^32) end return j%(2^32),i,j>=(2^32) end
local function aF(b,d) if b-b==0 and d-d==0 then local v=b%d return(b-v)/d,v end return n().B(b,d) end
local function as(b,d) if b-b==0 and d-d==0 and b*d<(2^53)then return b*d end return n().u(b,d) end
local function aR(a,b,d) local x=a.n if b==d then return true elseif x<=4096 or math.abs(b-d)>=x/4096+1 then
return false end return(aF(as(b,4096),x))==(aF(as(d,4096),x)) end local function bb(g,P,bc,v,an) local c,U,u=g.b,g.a,g.c
local k,bp=P+(U-v)+1,15*P+2 local B={b=ax(c,1,bp)..bc,a=k,c=u,hi=g.hi,lo=g.lo} B.x,B.Z,B.r='SETRANGE',bp,bc if v<U then
B.r=bc..ax(c,15*v+3) B.b=ax(c,1,bp)..B.r elseif P==U then B.x='APPEND' end
if U==0 or(u>0 and u*2>=U)or an or k<U or k>8192 then B.x='SET' end return B end local function aE(s,j,i)
local b,d=s%16777216,j%65536 local V,Y=i%65536,(s-s%16777216)/16777216 local ah,ai,O=(j-d)/65536,(i-V)/65536,Y%65536
return ct( b%256,(b-b%256)/256%256,(b-b%65536)/65536, O%256,(O-O%256)/256,(Y-O)/65536%256,(Y-Y%16777216)/16777216,
V%256,(V-V%256)/256,ai%256,(ai-ai%256)/256, d%256,(d-d%256)/256,ah%256,(ah-ah%256)/256 ) end local function F(a,g,f,q)
local c,k=g.b,g.a local r=aX(c,k,f) local j,i=cJ(q) local L,M,an,P=g.hi,g.lo,false,k if k>0 then local aM,bi=af(c,k-1)
L,M,an=aS(aM,bi,j,i) if r<k then return n().y(a,g,r,f,j,i,an) elseif k>g.c then P=aR(a,E(c,k-1),f)and k-1 or k else
L,M=aS(g.hi,g.lo,j,i) end else L,M=j,i end return bb(g,P,aE(f,L,M),k,an) end local function aH(a,T,g) local q=bx(g)
a.G,a.S,a.remaining=g,q,q<a.limit and a.limit-q or 0 end local function ce(X,B,U) if X=='keep'then return U end
return X~='delete'and B or nil end local function ae(s) local v=s%1000
return s<0 and-1 or v==0 and s/1000 or(s-v)/1000+1 end local function o(a,h) local bv,g,q=a.limit-h,a.G,a.S if bv<0 then
return nil elseif q<=bv then return 0 end local bn,ab,Z=q-bv,g.c,g.a-1 if aT(g,ab)>=bn then Z=ab
elseif aT(g,Z>0 and Z-1 or 0)<bn then ab=Z end while ab<Z do local bm=(ab+Z-(ab+Z)%2)/2 if aT(g,bm)>=bn then Z=bm else
ab=bm+1 end end local bR=E(g.b,ab)+a.n-a.now_ms return bR>0 and bR or 0 end local function dF(a,h)
local o=o(a,h==0 and 1 or h) o=o and ae(av(o))or-1 return o==0 and 1 or o end local function aY(a,h)
local g,aa=a.l,a.limit local q=bx(g) local aD=q+(h==0 and 1 or h)<=aa a.allowed,a.count,a.e=aD,av(q),'keep'
if aD and h>0 then a.e='charge' a.i=F(a,g or{b='R:',a=0,c=0,hi=0,lo=0},a.now_ms,h)
elseif not aD and q>0 and E(g.b,g.a-1)>a.now_ms then a.e,a.i='rebase',n().H(a,g) end aH(a,a.e,ce(a.e,a.i,g)) if aD then
a.ttl=ae(av(o(a,aa))) else a.ttl=dF(a,h) end end local function cy(a) if a.PARTIAL or a.ALWAYS then n().A(a) else
local h=a.g a.o=h aY(a,h) end if a.SHADOW then n().z(a) end end local function aG(a) local X,o=a.e,o
aH(a,X,X=='keep'and a.l or X~='delete'and a.i or nil) local ad,aW,K,S,ao=a.remaining,a.f,0,0,0 if not a.allowed then
local h=a.o K=o(a,a.v or(h==0 and 1 or h))or-1 if a.F and K>=0 then K=math.max(K,a.F) end end if ad<aW then
S=o(a,ad+1)or-1 ao=ad+1==aW and S or o(a,aW)or-1 end if K-K~=0 or S-S~=0 or ao-ao~=0 or K>=(2^53)or ao>=(2^53)then
n().j('INEXACT_REPLY') end return ad,K,S,ao,0 end local function cR(a,F) local ad,K,S,ao,cz=aG(a)
local dz=a.p and 1 or 0 return y( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and n().w(a)or 1)or 0,a.count,a.ttl,a.f,ad,K,S,ao, cz,a.now_ms,dz,F ) end local function dt(a,F)
local aj=a.form if aj=='LINE'then return cR(a,F) elseif aj then return n().J(a,F) end
return{a.allowed and(a.PARTIAL and n().w(a)or 1)or 0,a.count,a.ttl} end local function dy(J,w)
local a=dj(w,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') dn(a,J) cU(a,'read') cy(a) return dt(a,0)
end function n() if not aU then local p={}
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
..'reservations' p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
p.OVERFLOW='ERR increment or decrement would overflow'
p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
p.ARITY='ERR wrong number of arguments' p.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
p.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
local function cX(c,cG,dE,bJ,cs,j,i) local bs={} for e=cG,dE-1 do local aN,aO=bJ,cs if not bJ then aN,aO=af(c,e)
aN,aO=aS(aN,aO,j,i) end bs[#bs+1]=aE(E(c,e),aN,aO) end return table.concat(bs) end local function cu(a,g,r,f,j,i,an)
local c,k,P,v=g.b,g.a,r,r local L,M,s=g.hi,g.lo,f if r>g.c then L,M=af(c,r-1) end if r>g.c and aR(a,E(c,r-1),f)then
P=r-1 elseif aR(a,E(c,r),f)then s,v=E(c,r),r+1 L,M=af(c,r) end L,M=aS(L,M,j,i) local cQ=cX(c,v,k,nil,nil,j,i)
local dI={b=ax(c,1,15*v+2)..cQ,a=k,c=g.c,hi=g.hi,lo=g.lo} return bb(dI,P,aE(s,L,M),v,an) end local function cY(a,g)
local c,ac=g.b,a.now_ms local r=aX(c,g.a,ac) local cP=r>g.c and aR(a,E(c,r-1),ac) local j,i=af(c,g.a-1)
return bb(g,cP and r-1 or r,aE(ac,j,i),g.a,false) end local function I(c) error({err=c},0) end local function C(R)
I(p[R]) end local function cE(c,t,dh) local dK={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'}
local bz=dK[bl(c,'^(%u):')] if not bz or bz==t then C(dh) end
I('ERR the key holds a state of '..bz..': use another key for each algorithm') end local function cD(az)
if type(az)=='table'then return az elseif N(az,'^%u+ ')then return redis.error_reply(az) end error(az,0) end
local function ar(e) if e-e~=0 then return e end local m,G={},0 while e>0 do local H=e%(2^24) G=G+1 m[G]=H
e=(e-H)/(2^24) end return m end local bA={ __sub=function() return 1 end, } local function aI(m) local G=#m
while G>0 and m[G]==0 do m[G]=nil G=G-1 end if G>3 or(G==3 and m[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(m,bA)
end return(m[1]or 0)+(m[2]or 0)*(2^24)+(m[3]or 0)*(2^24)*(2^24) end local function cZ(b,d) b,d=ar(b),ar(d) local ay={}
for e=1,#b+#d do ay[e]=0 end for e=1,#b do local W=0 for bk=1,#d do local H=ay[e+bk-1]+b[e]*d[bk]+W
W=math.floor(H/(2^24)) ay[e+bk-1]=H-W*(2^24) end ay[e+#d]=W end return aI(ay) end local function bS(b,d)
local bD,cr=b-b==0,d-d==0 if bD or cr then return bD elseif#b~=#d then return#b<#d end for e=#b,1,-1 do
if b[e]~=d[e]then return b[e]<d[e] end end return false end local function bj(b,d) if b-b==0 and d-d==0 then return b<d
end return bS(b,d) end local function bF(e) if e-e==0 then return e end local at=0 for r=#e,1,-1 do at=at*(2^24)+e[r]
end return at end local function cq(b,d) b,d=ar(b),ar(d) local at,W={},0 for e=1,math.max(#b,#d)+1 do
local H=(b[e]or 0)+(d[e]or 0)+W W=H>=(2^24)and 1 or 0 at[e]=H-W*(2^24) end return aI(at) end local function bE(b,d)
if b-b==0 and d-d==0 and b+d<(2^53)then return b+d end return cq(b,d) end local function dB(b,d) if not bS(d,b)then
return 0 end d=ar(d) local bK,aV={},0 for e=1,#b do local H=b[e]-(d[e]or 0)-aV aV=H<0 and 1 or 0 bK[e]=H+aV*(2^24) end
return aI(bK) end local function dA(b,d) if b-b==0 and d-d==0 then return b>d and b-d or 0 end return dB(b,d) end
local function cB(b,d) local bt=0 while not bj(b,d)do local aQ=math.max(1,math.floor(bF(b)/bF(d)*(1-2^-45)))
aQ=aI(ar(aQ)) bt=bE(bt,aQ) b=dA(b,as(aQ,d)) end return bt,b end local function bH(b,d) for f=1,math.min(#b,#d)do
local cl,cm=b:byte(f),d:byte(f) if cl~=cm then return cl<cm end end return#b<#d end local function aZ(c,aw)
if c~='0'and not N(c,'^[1-9]%d*$')then return nil end return(#c<#aw or(#c==#aw and not bH(aw,c)))and c or nil end
local function bN(m) if#m<=15 or(#m==16 and bH(m,'9007199254740992'))then return m+0 end local bf=#m%7
local e=bf>0 and m:sub(1,bf)+0 or 0 for f=bf+1,#m,7 do e=bE(as(e,10000000),m:sub(f,f+6)+0) end return e end
local function bV(R,c,bQ) local m=c and aZ(c,'9223372036854775807') local e=m and bN(m) if not e or e==0 and bQ>0 then
I(y('ERR invalid %s: expected an integer from %d to 9223372036854775807',R,bQ)) elseif e-e~=0 then
I(y('ERR invalid %s: the Lua library takes integers up to 9007199254740991',R)) end return e end local bB={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ak(cS,t)
return not N(t,' ',1,true)and N(cS,' '..t..' ',1,true)~=nil end local function cg(a,l)
return not ak(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or ak((' COST PARTIAL ALWAYS RESERVE RESERVATION '),l)
end local function cN(t,l) local u,Q=0,0 local cc,cV=math.min(#t,#l),math.max(#t,#l)
while u<cc and t:byte(u+1)==l:byte(u+1)do u=u+1 end while Q<cc-u and t:byte(-1-Q)==l:byte(-1-Q)do Q=Q+1 end
return u+Q>=2 and cV-u-Q<=2 end local function cF(a,A,t) local am={} for T,D in ipairs(bB)do
if ak(A,D[1])and cg(a,D[1])then am[#am+1]=D[2] end end for T,aj in ipairs({'FULL','LINE','HEADERS'})do am[#am+1]=aj end
for T,l in ipairs(am)do if cN(t:upper(),bl(l,'^%u+'))then I('ERR syntax error: no such option, but there is '..l) end
end local Q=table.remove(am) local dH=table.concat(am,', ')
I('ERR syntax error: after limit come '..dH..' or '..Q..', each at most once') end local function dv(D,a,A)
local l,dL=D[1],a.W if not ak(A,l)then I(y('ERR invalid %s: only %s it',l,D[3])) elseif not cg(a,l)then
I(y('ERR invalid %s: %s takes none',l,('ROLLING'))) elseif a[l]~=nil then
I(y('ERR syntax error: %s comes at most once',D[2])) end end
local bC={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bX(c) local al,cj=bl(c,'^(%d+)(%l*)$')
local s=al and bC[cj]and aZ(al,'18446744073709551615')and al*bC[cj] return s and s>=1 and s<=1e15 and s or nil end
local function bW(c,aw) return c and#c>=1 and#c<=aw and c end local function bT(b,d) return bj(d,b)and d or b end
local cp=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bA) local function dm(l,c,cb) if l=='RESERVE'then
local ci=cb and bX(cb) return bW(c,128)and ci and{id=c,ttl=ci}or C('RESERVE') elseif l=='RESERVATION'then
return bW(c,128)or C('RESERVATION') end if l=='AS'then
return c and#c>=1 and#c<=64 and not N(c,'[^%w._-]')and c or C('AS') elseif l=='AT'then
local m=c and aZ(c,'9223372036854775807') return m and bT(bN(m),(aF(cp,1000)))or C('AT') end
return bV(l,c,l=='BURST'and 1 or 0) end local function du(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
C(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
C(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cn={FULL=true,LINE=true,HEADERS=true}
local function dc(aj,bU) if aj then C(aj==bU and'FORM_TWICE'or'TWO_FORMS') end return bU end local function dk(a,w,f,A)
while w[f]do local t,D=w[f]:upper(),nil for T,bP in ipairs(bB)do D=bP[1]==t and bP or D end if D then dv(D,a,A)
if D[2]==t then a[t]=true f=f+1 else a[t]=dm(t,w[f+1],w[f+2]) f=f+(t=='RESERVE'and 3 or 2) end du(a)
elseif cn[t]and ak(A,'form')then a.form=dc(a.form,t) f=f+1 else return f end end return f end
local co={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dJ(a,c) local x=bX(c)
if not x then a.Q=c:upper() x=co[a.Q] if not x then
C(ak((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ak((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
I(y('ERR invalid window: %s takes no windows of the calendar',('ROLLING'))) end end return x end local function cK(z)
return z:sub(-9)==':reserved'or z:sub(-14)==':reserved:ends' end local function dw(z) if cK(z)then C('RESERVED_KEY') end
end local function dC(a,J,f,z) local aJ,bL=J[f]or'',J[f+1] local R=((nil)and(nil)(a)or'')..':reserved'
if(aJ~=z..R and aJ~='{'..z..'}'..R)or bL~=aJ..':ends'then C('KEYS') end a.Y,a.X=aJ,bL return f+2 end
local function cv(a) local dd=a.PARTIAL and a.o<a.g a.p=a.SHADOW and not a.q and(dd or not a.allowed)
if not a.allowed and(a.p or a.q)then a.allowed=true if not(nil)then local T,T,T,bu=aG(a) a.ttl=ae(bu) end end end
local function ds(a) aH(a,'keep',a.l) return a.remaining end local function di(a,ag,h) local ac,g=a.now_ms,a.l
ag=ag and bj(ag,ac)and ag or ac if h==0 or(ag<ac and ag<=ac-a.n)then return'keep' end local q=bx(g)+h if q>=(2^53)then
C(q>2^63 and'OVERFLOW'or'INEXACT_REPLY') end return'charge',F(a,g or{b='R:',a=0,c=0,hi=0,lo=0},ag,h) end
local function db(h) return h==0 and 1 or h end local function cw(a) local h=a.g aY(a,0) local X,B=di(a,nil,h)
if h>0 then a.e,a.i=X,B end local cd=ce(a.e,a.i,a.l) aH(a,a.e,cd) a.allowed=a.f>0 and o(a,0)==0 a.v=a.f>0 and h or db(h)
if(nil)then a.count,a.ttl=(nil)(cd,a.now_ms) elseif a.allowed then a.ttl=ae(av(o(a,a.f))) else local o=o(a,a.v)
a.ttl=o and math.max(1,ae(av(o)))or-1 end end local function cx(a) local h=a.g if a.PARTIAL then h=math.min(h,ds(a)) end
a.o=h if a.ALWAYS then cw(a) else aY(a,h) end end local function bY(a) return a.q and a.q.g or a.p and a.g or a.o end
local function bM(a) if not a.allowed then return 0 end return a.PARTIAL and bY(a)or 1 end local function cH(a,F)
local ad,dx,S,bu,cA=aG(a) return{ 'allowed',bM(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.f, 'remaining',ad,
'retry_after_ms',dx, 'next_ms',S, 'reset_ms',bu, 'delay_ms',cA, 'now_ms',a.now_ms, 'shadow',a.p and 1 or 0, 'charged',F,
} end local function da(aA) local cf={} for T,a in ipairs(aA)do local u,al=a.AS or('ROLLING'):lower(),2 a.k=u
while cf[a.k]do a.k=y('%s-%d',u,al) al=al+1 end cf[a.k]=true end end local function aL(e)
return y('%.0f',bT(e,999999999999999)) end local function dp(a) local x=(nil)and(nil)(a)or a.n local ba,v=1000,x%1000
while v>0 do ba,v=v,ba%v end local ck=1000/ba local au=aF(as(x,ck),1000)
return y('"%s";q=%s;w=%s',a.k,aL(as(a.limit,ck)),aL(au)) end local function cO(aP,bq) if aP.allowed~=bq.allowed then
return not aP.allowed end local o,br=aP.retry_after_ms,bq.retry_after_ms if o~=br then return o<0 or(br>=0 and o>br) end
return aP.remaining<bq.remaining end local function cL(aA) local bw,bZ=aA[1],{} da(aA) for e,a in ipairs(aA)do
bZ[e]=dp(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aG(a) if cO(a,bw)then bw=a end end local a=bw local aC={
'X-RateLimit-Limit', y('%.0f',a.f), 'X-RateLimit-Remaining', y('%.0f',a.remaining), } local function aK(R,ap)
aC[#aC+1]=R aC[#aC+1]=ap end if a.reset_ms>=0 then aK('X-RateLimit-Reset',y('%.0f',ae(a.now_ms+a.reset_ms))) end
aK('RateLimit-Policy',table.concat(bZ,', ')) local cW=a.next_ms>=0 and';t='..aL(ae(a.next_ms))or''
aK('RateLimit',y('"%s";r=%s%s',a.k,aL(a.remaining),cW)) if not a.allowed and a.retry_after_ms>=0 then
aK('Retry-After',y('%.0f',ae(a.retry_after_ms))) end return aC end local function dg(a,F) if a.form=='FULL'then
return cH(a,F) end return{bM(a),a.count,a.ttl,cL({a})} end
aU={y=cu,z=cv,A=cx,B=cB,error_reply=cD,j=C,D=cE,E=cF,H=cY,u=cZ,J=dg,K=bV,M=dk,w=bY,N=dw,P=dC,V=dJ} end return aU end
local cC,ca=pcall(dy,KEYS,ARGV) return cC and ca or n().error_reply(ca)
