-- RL.LOCKOUT, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function fy(aa) local bu,i local v,j,au,gt=string.find,string.format,string.match,string.sub local function dk(a)
local bw=a.BLOCK or a.q local de=a.MAX or math.max(bw,86400000) if de<bw then i().j('MAX_BELOW_BLOCK') end a.x,a.u=bw,de
end local function fj(u,f,A) local aE,C,l=u[f],u[f+1],u[f+2] if not C then i().j('ARITY') end local a={ t='', P=0,
now_ms=0, q=0, Y=0, limit=0, f=0, g=1, form=nil, delay=0, p=nil, c=nil, allowed=false, count=0, ttl=0, a='keep',
remaining=0, i=1, } f=f+2 if l=='LINE'and not u[f+1]and A~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=l,f+1 elseif l then local ao=u[f+1]or''
local da=A==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and u[f+2]=='LINE'and not u[f+3]and#ao<16
if da and l=='COST'and(' COST BLOCK MAX ')~=' ID 'and v(ao,'^[1-9]%d*$')then a.form,a.g,f='LINE',ao+0,f+3
elseif da and l=='ID'and(' COST BLOCK MAX ')==' ID 'and ao~=''then a.form,a.ID,f='LINE',ao,f+3 else f=i().U(a,u,f,A)
a.g=a.COST or 1 end end local bJ=#C<16 and v(C,'^[1-9]%d*$') a.limit=bJ and C+0 or i().S('limit',C,0)
bJ=#aE<10 and v(aE,'^[1-9]%d*$') local D=bJ and aE*1000 or i().Z(a,aE)
a.q,a.Y,a.f=D,D<9e12 and D*1000 or i().B(D,1000),a.BURST or a.limit if dk then dk(a) end return a,f end
local function fg(u,A) local a,f=fj(u,1,A) if u[f]then i().K(a,A,u[f]) end return a end local S=redis.call
local function fp(a) local dr=S('TIME') local bS=dr[1]*1000000+dr[2] a.P,a.now_ms=bS,(bS-bS%1000)/1000 end
local function fC(a,aq,f,el,bK) local K=aq[f] if not K then i().j('KEYS') end a.t,f=K,f+1 if bK then a.o=K
elseif v(K,':reserved',1,true)then i().V(K) end return f end local function fm(a,aq,el,bK) fp(a)
if#aq~=fC(a,aq,1,el,bK)-1 then i().j('KEYS') end end local function gq(h,fl) local b,c,bz,bB,s=au(h,fl) if not b then
return nil elseif v(h,':0%d')then return nil end local q=#bB<17 and bB+0 return#b<16 and b+0 or i().v(b),
#c<16 and c+0 or i().v(c), #bz<16 and bz+0 or i().v(bz), q and q<9e15 and q or i().v(bB), s end local function ar(b,c)
if b-b==0 and c-c==0 then return b<c end return i().N(b,c) end local function av(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return i().B(b,c) end local function eC(h)
local J,I,q,at,as=gq(h,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not J or not I or not q or not at or#as>2 or as+0>64 then
return nil elseif ar(q,I)or ar(1e15,at)then return nil elseif J-J~=0 or q-q~=0 then if i().A(J)or i().A(av(q,1000))then
return nil end i().j('INEXACT_STATE') end return{l=J,k=I,e=q,b=at,n=as+0} end local function eW(a) local h=S('GET',a.t)
if h then a.p=eC(h)or i().J(h,('LOCKOUT'),'FOREIGN_VALUE') end end local function aG(a,e) local ax=a.now_ms
if not e or e.e<=ax then return e end local I=math.min(e.k,ax) return{l=e.l,k=I,e=ax,b=e.b,n=e.n} end
local function dl(a,e) local cU=e and(e.b>0 and e.e+e.b or e.k+a.q) if cU and a.now_ms<cU and e.l>0 then return e.l,e.k
end return 0,a.now_ms end local function cZ(a,e) return e and a.now_ms<e.e+e.b end local function dd(a,e) if e.b==0 then
return e.n end local cB,bL=0,a.x while bL<a.u do cB,bL=cB+1,2*bL end return math.min(e.n+1,cB) end
local function aR(b,c) if b-b==0 and c-c==0 then local s=b%c return(b-s)/c,s end return i().y(b,c) end
local function eT(a,e) local fo=math.max(0,a.now_ms-e.e-e.b) return math.max(0,dd(a,e)-(aR(fo,a.u))) end
local function aQ(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return i().F(b,c) end
local function bQ(b,c) return ar(c,b)and c or b end local function eG(b,c) if b-b==0 and c-c==0 then local s=b%c
return s==0 and b/c or(b-s)/c+1 end local aA,s=i().y(b,c) return s==0 and aA or aQ(aA,1) end local function cV(a,e)
local f=aQ(e.e+e.b,av(dd(a,e),a.u)) if f-f~=0 then return bQ(f,eG(i().MAX_UNSIGNED,1000)) end return math.max(f,e.k+a.q)
end local function dm(a,e) local J,I=dl(a,e) if cZ(a,e)then a.z,a.remaining=e.e+e.b,0 else
a.z,a.remaining=I+a.q,math.max(0,a.limit-J) end end local function ac(U) local s=U%1000
return U<0 and-1 or s==0 and U/1000 or(U-s)/1000+1 end local function o(a,m) local C,cX=a.limit,a.remaining
if m>C or C==0 then return nil elseif m<=cX and cX>0 then return 0 end return a.z-a.now_ms end local function bF(d)
if d-d~=0 or d>=(2^53)then i().j('INEXACT_REPLY') end return d end local function fF(a,m) local o=o(a,m==0 and 1 or m)
o=o and ac(bF(o))or-1 return o==0 and 1 or o end local function bC(a,m) local ax,C,e=a.now_ms,a.limit,aG(a,a.p)
local J,I=dl(a,e) local x=J+(m==0 and 1 or m) local aF=not cZ(a,e)and x<=C a.allowed,a.count,a.a=aF,J,'keep'
if aF and m>0 then local as,at=e and eT(a,e)or 0,0 if x==C then at=math.min(a.x*2^as,a.u) end e={l=x,k=I,e=ax,b=at,n=as}
a.a,a.c='charge',e elseif e~=a.p and ar(ax,cV(a,e))then a.a,a.c='rebase',e end dm(a,e) if aF then a.ttl=ac(o(a,C)) else
a.ttl=fF(a,m) end end local function eB(a) if a.PARTIAL or a.ALWAYS then i().I(a) else local m=a.g a.i=m bC(a,m) end
if a.SHADOW then i().H(a) end end local function bG(a,R,e) dm(a,aG(a,e)) end local function aT(a) local w,o=a.a,o
bG(a,w,w=='keep'and a.p or w~='delete'and a.c or nil) local ab,bA,O,V,al=a.remaining,a.f,0,0,0 if not a.allowed then
local m=a.i O=o(a,a.D or(m==0 and 1 or m))or-1 if a.M and O>=0 then O=math.max(O,a.M) end end if ab<bA then
V=o(a,ab+1)or-1 al=ab+1==bA and V or o(a,bA)or-1 end if O-O~=0 or V-V~=0 or al-al~=0 or O>=(2^53)or al>=(2^53)then
i().j('INEXACT_REPLY') end return ab,O,V,al,0 end local function eU(a,Z) local ab,O,V,al,eD=aT(a)
local fx=a.r and 1 or 0 return j( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().E(a)or 1)or 0,a.count,a.ttl,a.f,ab,O,V,al, eD,a.now_ms,fx,Z ) end local function fr(a,Z)
local ad=a.form if ad=='LINE'then return eU(a,Z) elseif ad then return i().Q(a,Z) end
return{a.allowed and(a.PARTIAL and i().E(a)or 1)or 0,a.count,a.ttl} end local function ev(a) if a.a~='charge'then
return 0 elseif a.ALWAYS then return a.i elseif not a.allowed or(a.r and not a.PARTIAL)then return 0 end return a.i end
local function aL(d) if d-d~=0 then return i().W(d) end return j('%.0f',d) end local function eH(e)
local I,q=aL(e.k),aL(e.e) return j('O:%s:%s:%s:%s:%d',aL(e.l),I,q,aL(e.b),e.n) end local function cS(a,w,x)
if w=='delete'then S('UNLINK',a.t) elseif w~='keep'then S('SET',a.t,eH(x),'PXAT',aL(cV(a,x))) end end
local function fw(aq,u) local a=fg(u,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
fm(a,aq,a.RESERVE) eW(a,'write') eB(a) local es=fr(a,ev(a)) if a.SHADOW or a.RESERVE then i().G(a,true) else
cS(a,a.a,a.c) end return es end function i() if not bu then local p={}
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
..'reservations' p.ARITY='ERR wrong number of arguments'
p.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
p.MAX_BELOW_BLOCK='ERR invalid MAX: expected at least BLOCK, which is the window if not given'
p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
p.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function G(h)
error({err=h},0) end local function T(aw) G(p[aw]) end local function eJ(h,t,ff)
local gr={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local cL=gr[au(h,'^(%u):')] if not cL or cL==t then
T(ff) end G('ERR the key holds a state of '..cL..': use another key for each algorithm') end local function eI(aa)
if type(aa)=='table'then return aa elseif v(aa,'^%u+ ')then return redis.error_reply(aa) end error(aa,0) end local bv={
__sub=function() return 1 end, } local cN=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bv) local function dc(b,c)
local cQ,et=b-b==0,c-c==0 if cQ or et then return cQ elseif#b~=#c then return#b<#c end for d=#b,1,-1 do
if b[d]~=c[d]then return b[d]<c[d] end end return false end local function ap(d) if d-d~=0 then return d end
local k,E={},0 while d>0 do local F=d%(2^24) E=E+1 k[E]=F d=(d-F)/(2^24) end return k end local function aU(k)
local E=#k while E>0 and k[E]==0 do k[E]=nil E=E-1 end if E>3 or(E==3 and k[3]>=(2^53)/(2^24)/(2^24))then
return setmetatable(k,bv) end return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function er(b,c)
b,c=ap(b),ap(c) local aC,Y={},0 for d=1,math.max(#b,#c)+1 do local F=(b[d]or 0)+(c[d]or 0)+Y Y=F>=(2^24)and 1 or 0
aC[d]=F-Y*(2^24) end return aU(aC) end local function eZ(b,c) b,c=ap(b),ap(c) local aJ={} for d=1,#b+#c do aJ[d]=0 end
for d=1,#b do local Y=0 for bM=1,#c do local F=aJ[d+bM-1]+b[d]*c[bM]+Y Y=math.floor(F/(2^24)) aJ[d+bM-1]=F-Y*(2^24) end
aJ[d+#c]=Y end return aU(aJ) end local function cR(d) if d-d==0 then return d end local aC=0 for eP=#d,1,-1 do
aC=aC*(2^24)+d[eP] end return aC end local function fB(b,c) if not dc(c,b)then return 0 end c=ap(c) local cT,bx={},0
for d=1,#b do local F=b[d]-(c[d]or 0)-bx bx=F<0 and 1 or 0 cT[d]=F+bx*(2^24) end return aU(cT) end
local function fA(b,c) if b-b==0 and c-c==0 then return b>c and b-c or 0 end return fB(b,c) end local function eF(b,c)
local aA=0 while not ar(b,c)do local bq=math.max(1,math.floor(cR(b)/cR(c)*(1-2^-45))) bq=aU(ap(bq)) aA=aQ(aA,bq)
b=fA(b,av(bq,c)) end return aA,b end local function fD(d) local cA='' while d-d~=0 do local s d,s=aR(d,10000000)
cA=j('%07.0f',s)..cA end return j('%.0f',d)..cA end local function by(b,c) for f=1,math.min(#b,#c)do
local em,en=b:byte(f),c:byte(f) if em~=en then return em<en end end return#b<#c end local function bH(k)
if#k<=15 or(#k==16 and by(k,'9007199254740992'))then return k+0 end local bI=#k%7 local d=bI>0 and k:sub(1,bI)+0 or 0
for f=bI+1,#k,7 do d=aQ(av(d,10000000),k:sub(f,f+6)+0) end return d end local function fh(k)
if#k>1 and k:byte()==48 then return nil elseif#k<20 or(#k==20 and not by('18446744073709551615',k))then return bH(k) end
end local eq=setmetatable({(2^24)-1,(2^24)-1,2^15-1},bv) local function eQ(d) return ar(eq,d) end
local function bD(h,bR) if h~='0'and not v(h,'^[1-9]%d*$')then return nil end
return(#h<#bR or(#h==#bR and not by(bR,h)))and h or nil end local function dg(aw,h,db)
local k=h and bD(h,'9223372036854775807') local d=k and bH(k) if not d or d==0 and db>0 then
G(j('ERR invalid %s: expected an integer from %d to 9223372036854775807',aw,db)) elseif d-d~=0 then
G(j('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aw)) end return d end local cO={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ae(eV,t)
return not v(t,' ',1,true)and v(eV,' '..t..' ',1,true)~=nil end local function dq(a,l)
return not ae(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or ae((' COST BLOCK MAX '),l) end
local function eR(t,l) local H,q=0,0 local dn,eX=math.min(#t,#l),math.max(#t,#l)
while H<dn and t:byte(H+1)==l:byte(H+1)do H=H+1 end while q<dn-H and t:byte(-1-q)==l:byte(-1-q)do q=q+1 end
return H+q>=2 and eX-H-q<=2 end local function eK(a,A,t) local ag={} for R,B in ipairs(cO)do
if ae(A,B[1])and dq(a,B[1])then ag[#ag+1]=B[2] end end for R,ad in ipairs({'FULL','LINE','HEADERS'})do ag[#ag+1]=ad end
for R,l in ipairs(ag)do if eR(t:upper(),au(l,'^%u+'))then G('ERR syntax error: no such option, but there is '..l) end
end local q=table.remove(ag) local fG=table.concat(ag,', ')
G('ERR syntax error: after limit come '..fG..' or '..q..', each at most once') end local function ft(B,a,A)
local l,gs=B[1],a.aa if not ae(A,l)then G(j('ERR invalid %s: only %s it',l,B[3])) elseif not dq(a,l)then
G(j('ERR invalid %s: %s takes none',l,('LOCKOUT'))) elseif a[l]~=nil then
G(j('ERR syntax error: %s comes at most once',B[2])) end end
local cP={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function dh(h) local af,ds=au(h,'^(%d+)(%l*)$')
local U=af and cP[ds]and bD(af,'18446744073709551615')and af*cP[ds] return U and U>=1 and U<=1e15 and U or nil end
local function fk(l,h,gu) if l=='BLOCK'or l=='MAX'then
local fE='expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
return h and dh(h)or G('ERR invalid '..l..': '..fE) end if l=='AS'then
return h and#h>=1 and#h<=64 and not v(h,'[^%w._-]')and h or T('AS') elseif l=='AT'then
local k=h and bD(h,'9223372036854775807') return k and bQ(bH(k),(aR(cN,1000)))or T('AT') end
return dg(l,h,l=='BURST'and 1 or 0) end local function fs(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
T(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
T(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local eo={FULL=true,LINE=true,HEADERS=true}
local function fc(ad,df) if ad then T(ad==df and'FORM_TWICE'or'TWO_FORMS') end return df end local function fi(a,u,f,A)
while u[f]do local t,B=u[f]:upper(),nil for R,aG in ipairs(cO)do B=aG[1]==t and aG or B end if B then ft(B,a,A)
if B[2]==t then a[t]=true f=f+1 else a[t]=fk(t,u[f+1],u[f+2]) f=f+(t=='RESERVE'and 3 or 2) end fs(a)
elseif eo[t]and ae(A,'form')then a.form=fc(a.form,t) f=f+1 else return f end end return f end
local ep={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function gp(a,h) local D=dh(h)
if not D then a.X=h:upper() D=ep[a.X] if not D then T(ae((' COST BLOCK MAX '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not ae((' COST BLOCK MAX '),'ANCHOR')then
G(j('ERR invalid window: %s takes no windows of the calendar',('LOCKOUT'))) end end return D end local function eN(K)
return K:sub(-9)==':reserved'or K:sub(-14)==':reserved:ends' end local function fu(K) if eN(K)then T('RESERVED_KEY') end
end local function ey(a) local fd=a.PARTIAL and a.i<a.g a.r=a.SHADOW and not a.w and(fd or not a.allowed)
if not a.allowed and(a.r or a.w)then a.allowed=true if not(nil)then local R,R,R,cy=aT(a) a.ttl=ac(cy) end end end
local function fq(a) bG(a,'keep',a.p) return a.remaining end local function fz(w,x,eu) if w=='keep'then return eu end
return w~='delete'and x or nil end local function fb(m) return m==0 and 1 or m end local function ez(a) local m=a.g
bC(a,0) local w,x=(nil)(a,nil,m) if m>0 then a.a,a.c=w,x end local e=fz(a.a,a.c,a.p) bG(a,a.a,e)
a.allowed=a.f>0 and o(a,0)==0 a.D=a.f>0 and m or fb(m) if(nil)then a.count,a.ttl=(nil)(e,a.now_ms) elseif a.allowed then
a.ttl=ac(bF(o(a,a.f))) else local o=o(a,a.D) a.ttl=o and math.max(1,ac(bF(o)))or-1 end end local function eA(a)
local m=a.g if a.PARTIAL then m=math.min(m,fq(a)) end a.i=m if a.ALWAYS then ez(a) else bC(a,m) end end
local function cY(R,w,x) if w=='rebase'then return'keep' end return w,x end local function ew(a,w,x) cS(a,w,x) end
local function ex(a,aF) if not aF and a.a=='charge'then a.a,a.c='keep',nil end if a.SHADOW and cY then
a.a,a.c=cY(a,a.a,a.c) end ew(a,a.a,a.c) end local function di(a) return a.w and a.w.g or a.r and a.g or a.i end
local function cW(a) if not a.allowed then return 0 end return a.PARTIAL and di(a)or 1 end local function eM(a,Z)
local ab,fv,V,cy,eE=aT(a) return{ 'allowed',cW(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.f, 'remaining',ab,
'retry_after_ms',fv, 'next_ms',V, 'reset_ms',cy, 'delay_ms',eE, 'now_ms',a.now_ms, 'shadow',a.r and 1 or 0, 'charged',Z,
} end local function fa(aK) local dp={} for R,a in ipairs(aK)do local H,af=a.AS or('LOCKOUT'):lower(),2 a.o=H
while dp[a.o]do a.o=j('%s-%d',H,af) af=af+1 end dp[a.o]=true end end local function aW(d)
return j('%.0f',bQ(d,999999999999999)) end local function fn(a) local D=(nil)and(nil)(a)or a.q local bE,s=1000,D%1000
while s>0 do bE,s=s,bE%s end local ek=1000/bE local aE=aR(av(D,ek),1000)
return j('"%s";q=%s;w=%s',a.o,aW(av(a.limit,ek)),aW(aE)) end local function eS(ba,bT) if ba.allowed~=bT.allowed then
return not ba.allowed end local o,bU=ba.retry_after_ms,bT.retry_after_ms if o~=bU then return o<0 or(bU>=0 and o>bU) end
return ba.remaining<bT.remaining end local function eO(aK) local cz,dj=aK[1],{} fa(aK) for d,a in ipairs(aK)do
dj[d]=fn(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aT(a) if eS(a,cz)then cz=a end end local a=cz local aM={
'X-RateLimit-Limit', j('%.0f',a.f), 'X-RateLimit-Remaining', j('%.0f',a.remaining), } local function aV(aw,ao)
aM[#aM+1]=aw aM[#aM+1]=ao end if a.reset_ms>=0 then aV('X-RateLimit-Reset',j('%.0f',ac(a.now_ms+a.reset_ms))) end
aV('RateLimit-Policy',table.concat(dj,', ')) local eY=a.next_ms>=0 and';t='..aW(ac(a.next_ms))or''
aV('RateLimit',j('"%s";r=%s%s',a.o,aW(a.remaining),eY)) if not a.allowed and a.retry_after_ms>=0 then
aV('Retry-After',j('%.0f',ac(a.retry_after_ms))) end return aM end local function fe(a,Z) if a.form=='FULL'then
return eM(a,Z) end return{cW(a),a.count,a.ttl,eO({a})} end
bu={MAX_UNSIGNED=cN,F=er,G=ex,H=ey,I=eA,y=eF,error_reply=eI,j=T,J=eJ,K=eK,A=eQ,N=dc,B=eZ,Q=fe,S=dg,v=fh,U=fi,E=di,V=fu,W=fD,Z=gp}
end return bu end if aa then return i().error_reply(aa) end local aS,aB=pcall(fw,KEYS,ARGV)
return aS and aB or i().error_reply(aB) end local function eL(cM,Q)
local v,au,j,S=string.find,string.match,string.format,redis.call local aI local cC=Q[1] local br=Q[2] local bs=Q[3]
if not br then return end local aN=Q[4] local bY local y local L if(bs=='LINE')and(not aN)then bY=4 y=1 L='LINE' else
local bV local bW local bX if bs then if aN then
if not(((((Q[5]=='LINE')and(not Q[6]))and((#aN)<16))and(bs=='COST'))and v(aN,'^[1-9]%d*$'))then return end bV=6 bW=aN+0
bX='LINE' else if(((Q[5]=='LINE')and(not Q[6]))and(bs=='COST'))and v('','^[1-9]%d*$')then return end return end else
bV=3 bW=1 bX=nil end bY=bV y=bW L=bX end if not(((#br)<16)and v(br,'^[1-9]%d*$'))then return end local n=br+0
if not(((#cC)<10)and v(cC,'^[1-9]%d*$'))then return end local r=cC*1000 if not(r<9e12)then return end
local z=(r<8.64e07)and 8.64e07 or r if z<r then return end local fH=Q[bY] if fH then return end local dt=S('TIME')
local du=(dt[1]*1e06)+dt[2] local g=(du-(du%1000))/1000 local aO=cM[1] if not aO then return end
if v(aO,':reserved',1,true)then return end if not((#cM)==1)then return end local cD=S('GET',aO) if cD then
local cE,dv,dw,dx,cF=au(cD,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not cE then return else if v(cD,':0%d')then return
else local P=((#dx)<17)and(dx+0) if not((#cE)<16)then return end if not((#dv)<16)then return end if not((#dw)<16)then
return end if P then if not(P<9e15)then return end local aD=cE+0 local aP=dv+0 local am=dw+0
if(2<(#cF))or(64<(cF+0))then return else local bZ if am<aP then bZ=true else bZ=1e15<P end if bZ then return else
local dy=cF+0 if not(am<=g)then return end local ah local ai local cG=(0<P)and(am+P)or(aP+r) if(g<cG)and(0<aD)then ah=aD
ai=aP else ah=0 ai=g end local an=ah+y local cH=g<(am+P) if(not cH)and(an<=n)then local dz=(g-am)-P
local dA=(0<dz)and dz or 0 local ca if P==0 then ca=dy else local bN=0 local aX=r while aX<z do local fI=bN+1
local fJ=2*aX bN,aX=fI,fJ end local dB=bN local gv=aX local dC=dy+1 ca=(dC<dB)and dC or dB end
local dD=ca-((dA-(dA%z))/z) local bt=(0<dD)and dD or 0 local M if an==n then local dE=r*(2^bt) M=(dE<z)and dE or z else
M=0 end local cb local cc local dF=(0<M)and(g+M)or(ai+r) if(g<dF)and(0<an)then cb=an cc=ai else cb=0 cc=g end
local dG=g<(g+M) local bb local cd if dG then local fK=g+M bb=0 cd=fK else local dH=n-cb local fL=cc+r
bb=(0<dH)and dH or 0 cd=fL end local ay if(n<=bb)and(0<bb)then ay=0 else local fM=cd-g ay=fM end local dI=ay%1000
local dJ=(ay<0)and(-1)or((dI==0)and(ay/1000)or(((ay-dI)/1000)+1)) local cl if L=='LINE'then local ch local ci
if(g<dF)and(0<an)then ch=an ci=ai else ch=0 ci=g end local aj local be if dG then local fQ=g+M aj=0 be=fQ else
local dN=n-ch local fR=ci+r aj=(0<dN)and dN or 0 be=fR end local ck local bg if aj<n then local cI=aj+1 local bf
if n<cI then bf=nil else if(cI<=aj)and(0<aj)then bf=0 else local fS=be-g bf=fS end end local dO=bf or(-1) local cj
if cI==n then cj=dO else local fT=be-g cj=fT end ck=dO bg=cj else ck=0 bg=0 end if 2^53<=bg then return end
local fU=j('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',ah,dJ,n,aj,ck,bg,g,y) cl=fU else if L then return end
cl={1,ah,dJ} end local fV=j('%.0f',ai) local fW=j('%.0f',M) local bh if M==0 then bh=bt else local bO=0 local aY=r
while aY<z do local fX=bO+1 local fY=2*aY bO,aY=fX,fY end local dP=bO local gw=aY local dQ=bt+1 bh=(dQ<dP)and dQ or dP
end if not((bh*z)<2^53)then return end local dR=bh*z local dS=g+M if not((dS+dR)<2^53)then return end local dT=dS+dR
local dU=ai+r
local gx=S('SET',aO,j('O:%s:%s:%s:%s:%d',j('%.0f',an),fV,j('%.0f',g),fW,bt),'PXAT',j('%.0f',((dT<dU)and dU or dT)))
aI=cl else local ce local cf if(g<cG)and(0<aD)then ce=aD cf=aP else ce=0 cf=g end local bc local cg if cH then bc=0
cg=am+P else local dK=n-ce local fN=cf+r bc=(0<dK)and dK or 0 cg=fN end local W if n<y then W=nil else
if(y<=bc)and(0<bc)then W=0 else local fO=cg-g W=fO end end local bd if W then if 2^53<=W then return end local dL=W%1000
local fP=(W<0)and(-1)or((dL==0)and(W/1000)or(((W-dL)/1000)+1)) bd=fP else bd=-1 end local dM=(bd==0)and 1 or bd local cq
if L=='LINE'then local cm local cn if(g<cG)and(0<aD)then cm=aD cn=aP else cm=0 cn=g end local X local aH if cH then X=0
aH=am+P else local dV=n-cm local fZ=cn+r X=(0<dV)and dV or 0 aH=fZ end local bi if n<y then bi=nil else
if(y<=X)and(0<X)then bi=0 else local ga=aH-g bi=ga end end local dW=bi or(-1) local cp local bk if X<n then local cJ=X+1
local bj if n<cJ then bj=nil else if(cJ<=X)and(0<X)then bj=0 else local gb=aH-g bj=gb end end local dX=bj or(-1)
local co if cJ==n then co=dX else local gc=aH-g co=gc end cp=dX bk=co else cp=0 bk=0 end if(2^53<=dW)or(2^53<=bk)then
return end local gd=j('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',ah,dM,n,X,dW,cp,bk,g) cq=gd else if L then
return end cq={0,ah,dM} end aI=cq end end end else return end end end else local ge=y<=n if ge then local N if y==n then
N=(r<z)and r or z else N=0 end local cr local dY=(0<N)and(g+N)or(g+r) if g<dY then cr=y else cr=0 end local dZ=g<(g+N)
local bl local cs if dZ then local gf=g+N bl=0 cs=gf else local ea=n-cr bl=(0<ea)and ea or 0 cs=g+r end local az
if(n<=bl)and(0<bl)then az=0 else local gg=cs-g az=gg end local eb=az%1000
local ec=(az<0)and(-1)or((eb==0)and(az/1000)or(((az-eb)/1000)+1)) local cw if L=='LINE'then local ct if g<dY then ct=y
else ct=0 end local ak local bm if dZ then local gh=g+N ak=0 bm=gh else local ed=n-ct ak=(0<ed)and ed or 0 bm=g+r end
local cv local bo if ak<n then local cK=ak+1 local bn if n<cK then bn=nil else if(cK<=ak)and(0<ak)then bn=0 else
local gi=bm-g bn=gi end end local ee=bn or(-1) local cu if cK==n then cu=ee else local gj=bm-g cu=gj end cv=ee bo=cu
else cv=0 bo=0 end if 2^53<=bo then return end
local gk=j('1 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',ec,n,ak,cv,bo,g,y) cw=gk else if L then return end cw={1,0,ec}
end local gl=j('%.0f',y) local gm=j('%.0f',N) local bp if N==0 then bp=0 else local bP=0 local aZ=r while aZ<z do
local gn=bP+1 local go=2*aZ bP,aZ=gn,go end local ef=bP local gy=aZ bp=(1<ef)and 1 or ef end if not((bp*z)<2^53)then
return end local eg=bp*z local eh=g+N if not((eh+eg)<2^53)then return end local ei=eh+eg local ej=g+r
local gz=S('SET',aO,j('O:%s:%s:%s:%s:0',gl,j('%.0f',g),j('%.0f',g),gm),'PXAT',j('%.0f',((ei<ej)and ej or ei))) aI=cw
else local cx if L=='LINE'then cx=j('0 0 -1 %.0f %.0f -1 0 0 0 %.0f 0 0',n,n,g) else if L then return end cx={0,0,(-1)}
end aI=cx end end return aI end local aS,aB=pcall(eL,KEYS,ARGV) if aS and aB then return aB end return fy(not aS and aB)
