-- RL.GCRA, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function gw(am) local bI,g local D,k,aj,gR=string.find,string.format,string.match,string.sub local function dy(aa)
return aa==''and 1000 or aa=='ms'and 1 or aa=='s'and 1000 or aa=='m'and 60000 or aa=='h'and 3600000
or aa=='d'and 86400000 or nil end local function S(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end
return g().r(b,c) end local function G(b,c) if b-b==0 and c-c==0 then return b<c end return g().K(b,c) end
local function J(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return g().w(b,c) end
local function aC(b,c) if b-b==0 and c-c==0 then local w=b%c return w==0 and b/c or(b-w)/c+1 end local aI,w=g().q(b,c)
return w==0 and aI or J(aI,1) end local function dx(a) a.c,a.g=0,0 if a.limit>0 then local fb=S(a.u,1000)
if G(fb,a.limit)then g().k('SPAN') end a.c=aC(fb,a.limit) a.g=S(a.b,a.c) if a.g-a.g~=0 then g().U(a) end end end
local function gg(t,f,C) local bi,aQ,n=t[f],t[f+1],t[f+2] if not aQ then g().k('ARITY') end local a={ n='', o=0,
now_ms=0, v=0, u=0, limit=0, b=0, f=1, form=nil, delay=0, j=nil, e=nil, allowed=false, count=0, ttl=0, a='keep',
remaining=0, h=1, } f=f+2 if n=='LINE'and not t[f+1]and C~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=n,f+1 elseif n then local aB=t[f+1]or''
local dn=C==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and t[f+2]=='LINE'and not t[f+3]and#aB<16
if dn and n=='COST'and(' COST PARTIAL BURST ')~=' ID 'and D(aB,'^[1-9]%d*$')then a.form,a.f,f='LINE',aB+0,f+3
elseif dn and n=='ID'and(' COST PARTIAL BURST ')==' ID 'and aB~=''then a.form,a.ID,f='LINE',aB,f+3 else f=g().Q(a,t,f,C)
a.f=a.COST or 1 end end local fN=#aQ<16 and D(aQ,'^[1-9]%d*$') a.limit=fN and aQ+0 or g().P('limit',aQ,0)
local U,aa=aj(bi,'^([1-9]%d*)(%l*)$') local bc=U and#bi<16 and dy(aa) local z=bc and U*bc if not z or z<1 or z>1e15 then
z=g().Y(a,bi) end a.v,a.u,a.b=z,z<9e12 and z*1000 or g().r(z,1000),a.BURST or a.limit if dx then dx(a) end return a,f
end local function ge(t,C) local a,f=gg(t,1,C) if t[f]then g().H(a,C,t[f]) end return a end local B=redis.call
local function gl(a) local dE=B('TIME') local bY=dE[1]*1000000+dE[2] a.o,a.now_ms=bY,(bY-bY%1000)/1000 end
local function gz(a,aF,f,fd,bT) local p=aF[f] if not p then g().k('KEYS') end a.n,f=p,f+1 if bT then a.l=p
elseif D(p,':reserved',1,true)then g().S(p) end return f end local function gj(a,aF,fd,bT) gl(a)
if#aF~=gz(a,aF,1,fd,bT)-1 then g().k('KEYS') end end local function fv(h)
local R,bX=aj(h,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if not R or R:byte()>56 then return g().B(h) end
return{d=R+0,i=bX+0} end local function fR(a) local h=B('GET',a.n) if h then
a.j=fv(h)or g().G(h,('GCRA'),'FOREIGN_VALUE') end end local function ay(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return g().V(b,c) end local function bK(a,s) local u,dF=0,a.g if s and not G(s.d,a.o)then
u=J(S(ay(s.d,a.o),1000),s.i) if G(dF,u)then return dF,true end end return u,false end local function aD(d)
if d-d~=0 or d>=(2^53)then g().k('INEXACT_REPLY') end return d end local function dG(a,u)
return a.c==0 and 0 or aC(u,a.c) end local function bk(b,c) if b-b==0 and c-c==0 then local w=b%c return(b-w)/c,w end
return g().q(b,c) end local function cJ(a,u) local R,bX=bk(u,1000) return{d=J(a.o,R),i=bX} end local function dz(a,u)
a.x=u a.remaining=a.c==0 and 0 or ay(a.b,dG(a,u)) end local function q(a,j) local aE=a.c if aE==0 or j>a.b then
return nil end return aC(ay(a.x,ay(a.g,S(j,aE))),1000000) end local function ax(ae) local w=ae%1000
return ae<0 and-1 or w==0 and ae/1000 or(ae-w)/1000+1 end local function gB(a,j) local q=q(a,j==0 and 1 or j)
q=q and ax(aD(q))or-1 return q==0 and 1 or q end local function bN(a,j) local u,fn=bK(a,a.j) local aE=a.c
local A=J(u,S(j==0 and 1 or j,aE)) local aN=aE~=0 and not G(a.g,A) a.allowed,a.count,a.a=aN,aD(dG(a,u)),'keep'
if aN and j==0 then a.ttl=aD(aC(u,1000000000)) elseif aN then a.a,a.e='charge',cJ(a,A) a.ttl=aD(aC(A,1000000000)) else
if fn and aE~=0 then a.a,a.e='rebase',cJ(a,u) end dz(a,u) a.ttl=gB(a,j) end end local function fu(a)
if a.PARTIAL or a.ALWAYS then g().A(a) else local j=a.f a.h=j bN(a,j) end if a.SHADOW then g().z(a) end end
local function bQ(a,P,s) dz(a,(bK(a,s))) end local function bm(a) local v,q=a.a,q
bQ(a,v,v=='keep'and a.j or v~='delete'and a.e or nil) local an,bM,Z,af,aw=a.remaining,a.b,0,0,0 if not a.allowed then
local j=a.h Z=q(a,a.s or(j==0 and 1 or j))or-1 if a.J and Z>=0 then Z=math.max(Z,a.J) end end if an<bM then
af=q(a,an+1)or-1 aw=an+1==bM and af or q(a,bM)or-1 end if Z-Z~=0 or af-af~=0 or aw-aw~=0 or Z>=(2^53)or aw>=(2^53)then
g().k('INEXACT_REPLY') end return an,Z,af,aw,0 end local function fP(a,ai) local an,Z,af,aw,fx=bm(a)
local gv=a.m and 1 or 0 return k( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and g().t(a)or 1)or 0,a.count,a.ttl,a.b,an,Z,af,aw, fx,a.now_ms,gv,ai ) end
local function gn(a,ai) local ar=a.form if ar=='LINE'then return fP(a,ai) elseif ar then return g().N(a,ai) end
return{a.allowed and(a.PARTIAL and g().t(a)or 1)or 0,a.count,a.ttl} end local function fo(a) if a.a~='charge'then
return 0 elseif a.ALWAYS then return a.h elseif not a.allowed or(a.m and not a.PARTIAL)then return 0 end return a.h end
local function ac(P,s) return aC(s.i==0 and s.d or J(s.d,1),1000) end local function fE(p,bZ)
if not redis.REDIS_VERSION_NUM then return g().F(p,bZ) end local f=B('PEXPIRETIME',p) return f>=0 and f or nil end
local function fC(a,v,A) local ag,bO=a.j,(nil) if v=='keep'and(not ag or not bO)then return nil end
local y=ag and fE(a.n,a.now_ms) if y and y>=(2^53)then y=g().I(g().D(y)) end if v=='keep'then local T=ac(a,ag)
return y and G(y,T)and J(T,5000)or nil end local T=ac(a,A) local aP=J(T,5000) if not ag then return aP elseif not y then
return aP end if bO and v=='rebase'then return g().M(y,ac(a,ag),T) elseif G(y,T)then return aP
elseif not G(aP,y)or(bO and G(J(ac(a,ag),5000),y))then return nil end return aP end local function cK(d) if d-d~=0 then
return g().W(d) end return k('%.0f',d) end local function gu(p,dh) if dh then B('PEXPIREAT',p,cK(dh)) end end
local function dl(s) local R=s.d if R-R~=0 or R<1000000 then return g().E(s) end return k('%.0f%03d',R,s.i) end
local function dj(a,v,A) local p=a.n if v=='delete'then B('UNLINK',p) return end local ac=fC(a,v,A) if v=='keep'then
gu(p,ac) elseif ac then B('SET',p,dl(A),'PXAT',ac==0 and'1'or cK(ac)) else B('SET',p,dl(A),'KEEPTTL') end end
local function gt(aF,t) local a=ge(t,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
gj(a,aF,a.RESERVE) fR(a,'write') fu(a) local fl=gn(a,fo(a)) if a.SHADOW or a.RESERVE then g().y(a,true) else
dj(a,a.a,a.e) end return fl end function g() if not bI then local o={}
o.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
o.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
o.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
o.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
o.ID='ERR invalid ID: expected 1 to 512 bytes'
o.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
o.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
o.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
o.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
o.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
o.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
o.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
o.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
o.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
o.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
o.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
o.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' o.ARITY='ERR wrong number of arguments'
o.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
o.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
o.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local bJ={ __sub=function()
return 1 end, } local fi=setmetatable({9437184,14339741,14210},bJ) local function Q(h) error({err=h},0) end
local function M(aG) Q(o[aG]) end local function gr(a) if G(fi,a.g)then M('SPAN') end end local function di(b,c)
for f=1,math.min(#b,#c)do local fe,ff=b:byte(f),c:byte(f) if fe~=ff then return fe<ff end end return#b<#c end
local function bj(h,bW) if h~='0'and not D(h,'^[1-9]%d*$')then return nil end
return(#h<#bW or(#h==#bW and not di(bW,h)))and h or nil end local function bR(l)
if#l<=15 or(#l==16 and di(l,'9007199254740992'))then return l+0 end local bS=#l%7 local d=bS>0 and l:sub(1,bS)+0 or 0
for f=bS+1,#l,7 do d=J(S(d,10000000),l:sub(f,f+6)+0) end return d end local function fw(h)
local l=bj(h,'18446744073709551615') if not l then return nil end return{d=#l>3 and bR(l:sub(1,-4))or 0,i=l:sub(-3)+0}
end local function fA(s) return s.d==0 and k('%d',s.i)or cK(s.d)..k('%03d',s.i) end local function fF(h,r,gc)
local gP={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local dc=gP[aj(h,'^(%u):')] if not dc or dc==r then
M(gc) end Q('ERR the key holds a state of '..dc..': use another key for each algorithm') end local function fB(am)
if type(am)=='table'then return am elseif D(am,'^%u+ ')then return redis.error_reply(am) end error(am,0) end
local function aq(d) if d-d~=0 then return d end local l,K={},0 while d>0 do local L=d%(2^24) K=K+1 l[K]=L
d=(d-L)/(2^24) end return l end local function aO(l) local K=#l while K>0 and l[K]==0 do l[K]=nil K=K-1 end
if K>3 or(K==3 and l[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(l,bJ) end
return(l[1]or 0)+(l[2]or 0)*(2^24)+(l[3]or 0)*(2^24)*(2^24) end local function ds(b,c) local df,fm=b-b==0,c-c==0
if df or fm then return df elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function fk(b,c) b,c=aq(b),aq(c) local aK,ah={},0 for d=1,math.max(#b,#c)+1 do
local L=(b[d]or 0)+(c[d]or 0)+ah ah=L>=(2^24)and 1 or 0 aK[d]=L-ah*(2^24) end return aO(aK) end local function gy(b,c)
if not ds(c,b)then return 0 end c=aq(c) local dk,bL={},0 for d=1,#b do local L=b[d]-(c[d]or 0)-bL bL=L<0 and 1 or 0
dk[d]=L+bL*(2^24) end return aO(dk) end local function fV(b,c) b,c=aq(b),aq(c) local ba={} for d=1,#b+#c do ba[d]=0 end
for d=1,#b do local ah=0 for bU=1,#c do local L=ba[d+bU-1]+b[d]*c[bU]+ah ah=math.floor(L/(2^24)) ba[d+bU-1]=L-ah*(2^24)
end ba[d+#c]=ah end return aO(ba) end local function dg(d) if d-d==0 then return d end local aK=0 for fL=#d,1,-1 do
aK=aK*(2^24)+d[fL] end return aK end local function fz(b,c) local aI=0 while not G(b,c)do
local bx=math.max(1,math.floor(dg(b)/dg(c)*(1-2^-45))) bx=aO(aq(bx)) aI=J(aI,bx) b=ay(b,S(bx,c)) end return aI,b end
local function gA(d) local cI='' while d-d~=0 do local w d,w=bk(d,10000000) cI=k('%07.0f',w)..cI end
return k('%.0f',d)..cI end local function fD(p,bZ) local dr=B('PTTL',p) return dr>=0 and bZ+dr or nil end
local function fU(y,fX,T) if y-y~=0 then M('INEXACT_STATE') end local aR=ay(y,ay(fX,T)) aR=G(aR,T)and T or aR
return aR~=y and aR or nil end local function du(aG,h,dq) local l=h and bj(h,'9223372036854775807') local d=l and bR(l)
if not d or d==0 and dq>0 then Q(k('ERR invalid %s: expected an integer from %d to 9223372036854775807',aG,dq))
elseif d-d~=0 then Q(k('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aG)) end return d end
local de={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function as(fQ,r)
return not D(r,' ',1,true)and D(fQ,' '..r..' ',1,true)~=nil end local function dD(a,n)
return not as(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or as((' COST PARTIAL BURST '),n)
end local function fM(r,n) local N,ad=0,0 local dA,fS=math.min(#r,#n),math.max(#r,#n)
while N<dA and r:byte(N+1)==n:byte(N+1)do N=N+1 end while ad<dA-N and r:byte(-1-ad)==n:byte(-1-ad)do ad=ad+1 end
return N+ad>=2 and fS-N-ad<=2 end local function fG(a,C,r) local at={} for P,E in ipairs(de)do
if as(C,E[1])and dD(a,E[1])then at[#at+1]=E[2] end end for P,ar in ipairs({'FULL','LINE','HEADERS'})do at[#at+1]=ar end
for P,n in ipairs(at)do if fM(r:upper(),aj(n,'^%u+'))then Q('ERR syntax error: no such option, but there is '..n) end
end local ad=table.remove(at) local gC=table.concat(at,', ')
Q('ERR syntax error: after limit come '..gC..' or '..ad..', each at most once') end local function gp(E,a,C)
local n,gQ=E[1],a.Z if not as(C,n)then Q(k('ERR invalid %s: only %s it',n,E[3])) elseif not dD(a,n)then
Q(k('ERR invalid %s: %s takes none',n,('GCRA'))) elseif a[n]~=nil then
Q(k('ERR syntax error: %s comes at most once',E[2])) end end local function bV(b,c) return G(c,b)and c or b end
local fj=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bJ) local function gh(n,h,gS) if n=='AS'then
return h and#h>=1 and#h<=64 and not D(h,'[^%w._-]')and h or M('AS') elseif n=='AT'then
local l=h and bj(h,'9223372036854775807') return l and bV(bR(l),(bk(fj,1000)))or M('AT') end
return du(n,h,n=='BURST'and 1 or 0) end local function go(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
M(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
M(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local fg={FULL=true,LINE=true,HEADERS=true}
local function fZ(ar,dt) if ar then M(ar==dt and'FORM_TWICE'or'TWO_FORMS') end return dt end local function gf(a,t,f,C)
while t[f]do local r,E=t[f]:upper(),nil for P,dp in ipairs(de)do E=dp[1]==r and dp or E end if E then gp(E,a,C)
if E[2]==r then a[r]=true f=f+1 else a[r]=gh(r,t[f+1],t[f+2]) f=f+(r=='RESERVE'and 3 or 2) end go(a)
elseif fg[r]and as(C,'form')then a.form=fZ(a.form,r) f=f+1 else return f end end return f end local function gi(h)
local U,aa=aj(h,'^(%d+)(%l*)$') local bc=U and dy(aa) local ae=bc and bj(U,'18446744073709551615')and U*bc
return ae and ae>=1 and ae<=1e15 and ae or nil end
local fh={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function gO(a,h) local z=gi(h)
if not z then a.X=h:upper() z=fh[a.X] if not z then
M(as((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not as((' COST PARTIAL BURST '),'ANCHOR')then
Q(k('ERR invalid window: %s takes no windows of the calendar',('GCRA'))) end end return z end local function fJ(p)
return p:sub(-9)==':reserved'or p:sub(-14)==':reserved:ends' end local function gq(p) if fJ(p)then M('RESERVED_KEY') end
end local function fr(a) local ga=a.PARTIAL and a.h<a.f a.m=a.SHADOW and not a.p and(ga or not a.allowed)
if not a.allowed and(a.m or a.p)then a.allowed=true if not(nil)then local P,P,P,cG=bm(a) a.ttl=ax(cG) end end end
local function gm(a) bQ(a,'keep',a.j) return a.remaining end local function gd(a,P,j) if j==0 or a.c==0 then
return'keep' end local u=bK(a,a.j) return'charge',cJ(a,bV(J(u,S(j,a.c)),a.g)) end local function gx(v,A,ag)
if v=='keep'then return ag end return v~='delete'and A or nil end local function fY(j) return j==0 and 1 or j end
local function fs(a) local j=a.f bN(a,0) local v,A=gd(a,nil,j) if j>0 then a.a,a.e=v,A end local dB=gx(a.a,a.e,a.j)
bQ(a,a.a,dB) a.allowed=a.b>0 and q(a,0)==0 a.s=a.b>0 and j or fY(j) if(nil)then a.count,a.ttl=(nil)(dB,a.now_ms)
elseif a.allowed then a.ttl=ax(aD(q(a,a.b))) else local q=q(a,a.s) a.ttl=q and math.max(1,ax(aD(q)))or-1 end end
local function ft(a) local j=a.f if a.PARTIAL then j=math.min(j,gm(a)) end a.h=j if a.ALWAYS then fs(a) else bN(a,j) end
end local function fp(a,v,A) dj(a,v,A) end local function fq(a,aN) if not aN and a.a=='charge'then a.a,a.e='keep',nil
end fp(a,a.a,a.e) end local function dv(a) return a.p and a.p.f or a.m and a.f or a.h end local function dm(a)
if not a.allowed then return 0 end return a.PARTIAL and dv(a)or 1 end local function fI(a,ai) local an,gs,af,cG,fy=bm(a)
return{ 'allowed',dm(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',an, 'retry_after_ms',gs, 'next_ms',af,
'reset_ms',cG, 'delay_ms',fy, 'now_ms',a.now_ms, 'shadow',a.m and 1 or 0, 'charged',ai, } end local function fW(bb)
local dC={} for P,a in ipairs(bb)do local N,U=a.AS or('GCRA'):lower(),2 a.l=N while dC[a.l]do a.l=k('%s-%d',N,U) U=U+1
end dC[a.l]=true end end local function bo(d) return k('%.0f',bV(d,999999999999999)) end local function gk(a)
local z=(nil)and(nil)(a)or a.v local bP,w=1000,z%1000 while w>0 do bP,w=w,bP%w end local fc=1000/bP
local bi=bk(S(z,fc),1000) return k('"%s";q=%s;w=%s',a.l,bo(S(a.limit,fc)),bo(bi)) end local function fO(bp,ca)
if bp.allowed~=ca.allowed then return not bp.allowed end local q,cb=bp.retry_after_ms,ca.retry_after_ms if q~=cb then
return q<0 or(cb>=0 and q>cb) end return bp.remaining<ca.remaining end local function fK(bb) local cH,dw=bb[1],{} fW(bb)
for d,a in ipairs(bb)do dw[d]=gk(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bm(a) if fO(a,cH)then cH=a end end
local a=cH local bd={ 'X-RateLimit-Limit', k('%.0f',a.b), 'X-RateLimit-Remaining', k('%.0f',a.remaining), }
local function bn(aG,aB) bd[#bd+1]=aG bd[#bd+1]=aB end if a.reset_ms>=0 then
bn('X-RateLimit-Reset',k('%.0f',ax(a.now_ms+a.reset_ms))) end bn('RateLimit-Policy',table.concat(dw,', '))
local fT=a.next_ms>=0 and';t='..bo(ax(a.next_ms))or'' bn('RateLimit',k('"%s";r=%s%s',a.l,bo(a.remaining),fT))
if not a.allowed and a.retry_after_ms>=0 then bn('Retry-After',k('%.0f',ax(a.retry_after_ms))) end return bd end
local function gb(a,ai) if a.form=='FULL'then return fI(a,ai) end return{dm(a),a.count,a.ttl,fK({a})} end
bI={w=fk,y=fq,z=fr,A=ft,B=fw,D=aq,q=fz,E=fA,error_reply=fB,F=fD,k=M,G=fF,H=fG,I=aO,K=ds,M=fU,r=fV,N=gb,P=du,Q=gf,t=dv,S=gq,U=gr,V=gy,W=gA,Y=gO}
end return bI end if am then return g().error_reply(am) end local bl,aJ=pcall(gt,KEYS,ARGV)
return bl and aJ or g().error_reply(aJ) end local function fH(dd,ab)
local D,aj,k,B=string.find,string.match,string.format,redis.call if k('%d',2^40)~='1099511627776'then return end
local aS local dH=ab[1] local by=ab[2] local bz=ab[3] if not by then return end local be=ab[4] local cf local H local V
if(bz=='LINE')and(not be)then cf=4 H=1 V='LINE' else local cc local cd local ce if bz then if be then
if not(((((ab[5]=='LINE')and(not ab[6]))and((#be)<16))and(bz=='COST'))and D(be,'^[1-9]%d*$'))then return end cc=6
cd=be+0 ce='LINE' else if(((ab[5]=='LINE')and(not ab[6]))and(bz=='COST'))and D('','^[1-9]%d*$')then return end return
end else cc=3 cd=1 ce=nil end cf=cc H=cd V=ce end if not(((#by)<16)and D(by,'^[1-9]%d*$'))then return end local i=by+0
local dI,aL=aj(dH,'^([1-9]%d*)(%l*)$') if dI then if(#dH)<16 then
local cL=(aL=='')and 1000 or((aL=='ms')and 1 or((aL=='s')and 1000 or((aL=='m')and 60000 or((aL=='h')and 3.6e6 or((aL=='d')and 8.64e7 or nil)))))
local bf=cL and(dI*cL)or cL if(not bf)or((bf<1)or(1e15<bf))then return end if not(bf<9e12)then return end
local dJ=bf*1000 if not((dJ*1000)<2^53)then return end local bA=dJ*1000 if bA<i then return end local dK=bA%i
local e=(dK==0)and(bA/i)or(((bA-dK)/i)+1) if not((i*e)<2^53)then return end local m=i*e local gD=ab[cf] if gD then
return end local dL=B('TIME') local x=(dL[1]*1e6)+dL[2] local bB=(x-(x%1000))/1000 local az=dd[1] if not az then return
end if D(az,':reserved',1,true)then return end if not((#dd)==1)then return end local dM=B('GET',az) if dM then
local cM,gE=aj(dM,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if(not cM)or(56<cM:byte())then return end
local bg=cM+0 local bC=gE+0 local W local bq local dN=bg<x if not dN then local dO=(x<bg)and(bg-x)or 0
if not((dO*1000)<2^53)then return end local dP=dO*1000 if not((dP+bC)<2^53)then return end local dQ=dP+bC if m<dQ then
W=m bq=true else W=dQ bq=false end else W=0 bq=false end if not((H*e)<2^53)then return end local ao=H*e
if not((W+ao)<2^53)then return end local aM=W+ao local cg if not(e==0)then cg=not(m<aM) else cg=false end local au
if e==0 then au=0 else local dR=W%e local gF=(dR==0)and(W/e)or(((W-dR)/e)+1) au=gF end if 2^53<=au then return end
if cg then local aA=aM%1000 local dS=(aM-aA)/1000 if not((x+dS)<2^53)then return end local F=x+dS local dT=aM%1e9
local cN=(dT==0)and(aM/1e9)or(((aM-dT)/1e9)+1) if 2^53<=cN then return end local cl if V=='LINE'then local X
if not(F<x)then local dY=(x<F)and(F-x)or 0 if not((dY*1000)<2^53)then return end local dZ=dY*1000
if not((dZ+aA)<2^53)then return end local ea=dZ+aA if m<ea then X=m else X=ea end else X=0 end local aT if e==0 then
aT=0 else local eb=X%e local ec=(eb==0)and(X/e)or(((X-eb)/e)+1) aT=(ec<i)and(i-ec)or 0 end local ck local bs
if aT<i then local bD=aT+1 local ch if(e==0)or(i<bD)then ch=nil else if not((bD*e)<2^53)then return end local ed=bD*e
local ee=(ed<m)and(m-ed)or 0 local cP=(ee<X)and(X-ee)or 0 local ef=cP%1e6 ch=(ef==0)and(cP/1e6)or(((cP-ef)/1e6)+1) end
local eg=ch or(-1) local cj if bD==i then cj=eg else local ci if e==0 then ci=nil else if not(m<2^53)then return end
local cQ=(0<X)and X or 0 local eh=cQ%1e6 ci=(eh==0)and(cQ/1e6)or(((cQ-eh)/1e6)+1) end cj=ci or(-1) end ck=eg bs=cj else
ck=0 bs=0 end if 2^53<=bs then return end local gH=k('1 %d %d %d %d 0 %d %d 0 %d 0 %d',au,cN,i,aT,ck,bs,bB,H) cl=gH else
if V then return end cl={1,au,cN} end local aH if not redis.REDIS_VERSION_NUM then return end
local ei=B('PEXPIRETIME',az) local bE=(0<=ei)and ei or nil if bE then if 2^53<=bE then return end local aU if aA==0 then
aU=F else if not((F+1)<2^53)then return end aU=F+1 end local ej=aU%1000 local cR=(ej==0)and(aU/1000)or(((aU-ej)/1000)+1)
if not((cR+5000)<2^53)then return end local cS=cR+5000 if bE<cR then aH=cS else if not(cS<bE)then aH=nil else aH=cS end
end else local aV if aA==0 then aV=F else if not((F+1)<2^53)then return end aV=F+1 end local ek=aV%1000
local gI=(ek==0)and(aV/1000)or(((aV-ek)/1000)+1) if not((gI+5000)<2^53)then return end return end if aH then
if F<1e6 then return end local cm if aH==0 then cm='1' else local gJ=k('%d',aH) cm=gJ end
local gT=B('SET',az,k('%d%03d',F,aA),'PXAT',cm) else if F<1e6 then return end
local gU=B('SET',az,k('%d%03d',F,aA),'KEEPTTL') end aS=cl else if bq and(not(e==0))then return end local ak
if(e==0)or(i<H)then ak=nil else if not(ao<2^53)then return end local dU=(ao<m)and(m-ao)or 0 local cO=(dU<W)and(W-dU)or 0
local dV=cO%1e6 ak=(dV==0)and(cO/1e6)or(((cO-dV)/1e6)+1) end local br if ak then if 2^53<=ak then return end
local dW=ak%1000 local gG=(ak<0)and(-1)or((dW==0)and(ak/1000)or(((ak-dW)/1000)+1)) br=gG else br=-1 end
local dX=(br==0)and 1 or br local cs if V=='LINE'then local I if not dN then local el=(x<bg)and(bg-x)or 0
if not((el*1000)<2^53)then return end local em=el*1000 if not((em+bC)<2^53)then return end local en=em+bC if m<en then
I=m else I=en end else I=0 end local aW if e==0 then aW=0 else local eo=I%e local ep=(eo==0)and(I/e)or(((I-eo)/e)+1)
aW=(ep<i)and(i-ep)or 0 end local cn if(e==0)or(i<H)then cn=nil else if not(ao<2^53)then return end
local eq=(ao<m)and(m-ao)or 0 local cT=(eq<I)and(I-eq)or 0 local er=cT%1e6 cn=(er==0)and(cT/1e6)or(((cT-er)/1e6)+1) end
local es=cn or(-1) local cr local bt if aW<i then local bF=aW+1 local co if(e==0)or(i<bF)then co=nil else
if not((bF*e)<2^53)then return end local et=bF*e local eu=(et<m)and(m-et)or 0 local cU=(eu<I)and(I-eu)or 0
local ev=cU%1e6 co=(ev==0)and(cU/1e6)or(((cU-ev)/1e6)+1) end local ew=co or(-1) local cq if bF==i then cq=ew else
local cp if e==0 then cp=nil else if not(m<2^53)then return end local cV=(0<I)and I or 0 local ex=cV%1e6
cp=(ex==0)and(cV/1e6)or(((cV-ex)/1e6)+1) end cq=cp or(-1) end cr=ew bt=cq else cr=0 bt=0 end
if(2^53<=es)or(2^53<=bt)then return end local gK=k('0 %d %d %d %d %d %d %d 0 %d 0 0',au,dX,i,aW,es,cr,bt,bB) cs=gK else
if V then return end cs={0,au,dX} end aS=cs end else if not((H*e)<2^53)then return end local O=H*e if not(O<2^53)then
return end local ct if not(e==0)then ct=not(m<O) else ct=false end local av if e==0 then av=0 else local ey=0%e
av=(ey==0)and(0/e)or(((0-ey)/e)+1) end if 2^53<=av then return end if ct then local bh=O%1000 local ez=(O-bh)/1000
if not((x+ez)<2^53)then return end local ap=x+ez local eA=O%1e9 local cW=(eA==0)and(O/1e9)or(((O-eA)/1e9)+1)
if 2^53<=cW then return end local cy if V=='LINE'then local Y if not(ap<x)then local eF=(x<ap)and(ap-x)or 0
if not((eF*1000)<2^53)then return end local eG=eF*1000 if not((eG+bh)<2^53)then return end local eH=eG+bh if m<eH then
Y=m else Y=eH end else Y=0 end local aX if e==0 then aX=0 else local eI=Y%e local eJ=(eI==0)and(Y/e)or(((Y-eI)/e)+1)
aX=(eJ<i)and(i-eJ)or 0 end local cx local bv if aX<i then local bG=aX+1 local cu if(e==0)or(i<bG)then cu=nil else
if not((bG*e)<2^53)then return end local eK=bG*e local eL=(eK<m)and(m-eK)or 0 local cY=(eL<Y)and(Y-eL)or 0
local eM=cY%1e6 cu=(eM==0)and(cY/1e6)or(((cY-eM)/1e6)+1) end local eN=cu or(-1) local cw if bG==i then cw=eN else
local cv if e==0 then cv=nil else if not(m<2^53)then return end local cZ=(0<Y)and Y or 0 local eO=cZ%1e6
cv=(eO==0)and(cZ/1e6)or(((cZ-eO)/1e6)+1) end cw=cv or(-1) end cx=eN bv=cw else cx=0 bv=0 end if 2^53<=bv then return end
local gM=k('1 %d %d %d %d 0 %d %d 0 %d 0 %d',av,cW,i,aX,cx,bv,bB,H) cy=gM else if V then return end cy={1,av,cW} end
local aY if bh==0 then aY=ap else if not((ap+1)<2^53)then return end aY=ap+1 end local eP=aY%1000
local eQ=(eP==0)and(aY/1000)or(((aY-eP)/1000)+1) if not((eQ+5000)<2^53)then return end local eR=eQ+5000 if ap<1e6 then
return end local cz if eR==0 then cz='1' else cz=k('%d',eR) end local gV=B('SET',az,k('%d%03d',ap,bh),'PXAT',cz) aS=cy
else local al if(e==0)or(i<H)then al=nil else local eB=(O<m)and(m-O)or 0 local cX=(eB<0)and(0-eB)or 0 local eC=cX%1e6
al=(eC==0)and(cX/1e6)or(((cX-eC)/1e6)+1) end local bu if al then if 2^53<=al then return end local eD=al%1000
local gL=(al<0)and(-1)or((eD==0)and(al/1000)or(((al-eD)/1000)+1)) bu=gL else bu=-1 end local eE=(bu==0)and 1 or bu
local cF if V=='LINE'then local aZ if e==0 then aZ=0 else local eS=0%e local eT=(eS==0)and(0/e)or(((0-eS)/e)+1)
aZ=(eT<i)and(i-eT)or 0 end local cA if(e==0)or(i<H)then cA=nil else local eU=(O<m)and(m-O)or 0
local da=(eU<0)and(0-eU)or 0 local eV=da%1e6 cA=(eV==0)and(da/1e6)or(((da-eV)/1e6)+1) end local eW=cA or(-1) local cE
local bw if aZ<i then local bH=aZ+1 local cB if(e==0)or(i<bH)then cB=nil else if not((bH*e)<2^53)then return end
local eX=bH*e local eY=(eX<m)and(m-eX)or 0 local db=(eY<0)and(0-eY)or 0 local eZ=db%1e6
cB=(eZ==0)and(db/1e6)or(((db-eZ)/1e6)+1) end local fa=cB or(-1) local cD if bH==i then cD=fa else local cC if e==0 then
cC=nil else if not(m<2^53)then return end cC=0 end cD=cC or(-1) end cE=fa bw=cD else cE=0 bw=0 end
if(2^53<=eW)or(2^53<=bw)then return end local gN=k('0 %d %d %d %d %d %d %d 0 %d 0 0',av,eE,i,aZ,eW,cE,bw,bB) cF=gN else
if V then return end cF={0,av,eE} end aS=cF end end else return end else return end return aS end
local bl,aJ=pcall(fH,KEYS,ARGV) if bl and aJ then return aJ end return gw(not bl and aJ)
