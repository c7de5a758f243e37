-- RL.PEEK LEAKY, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aD,h local Q,t,ai,cZ=string.find,string.format,string.match,string.sub local function bw(O) return O==''and 1000
or O=='ms'and 1 or O=='s'and 1000 or O=='m'and 60000 or O=='h'and 3600000 or O=='d'and 86400000 or nil end
local function s(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return h().v(b,c) end local function bt(a)
a.l=s(a.a,a.c) if a.l-a.l~=0 then h().S(a) end end local function cy(r,e,w) local A,F,j=r[e],r[e+1],r[e+2] if not F then
h().k('ARITY') end local a={ u='', m=0, now_ms=0, b=0, c=0, limit=0, a=0, d=1, form=nil, r=0, h=nil, i=nil,
allowed=false, count=0, ttl=0, e='keep', remaining=0, j=1, } e=e+2
if j=='LINE'and not r[e+1]and w~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=j,e+1 elseif j then
local af=r[e+1]or''
local bj=w==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and r[e+2]=='LINE'and not r[e+3]and#af<16
if bj and j=='COST'and(' COST PARTIAL BURST ')~=' ID 'and Q(af,'^[1-9]%d*$')then a.form,a.d,e='LINE',af+0,e+3
elseif bj and j=='ID'and(' COST PARTIAL BURST ')==' ID 'and af~=''then a.form,a.ID,e='LINE',af,e+3 else e=h().N(a,r,e,w)
a.d=a.COST or 1 end end local cf=#F<16 and Q(F,'^[1-9]%d*$') a.limit=cf and F+0 or h().M('limit',F,0)
local N,O=ai(A,'^([1-9]%d*)(%l*)$') local at=N and#A<16 and bw(O) local l=at and N*at if not l or l<1 or l>1e15 then
l=h().W(a,A) end a.b,a.c,a.a=l,l<9e12 and l*1000 or h().v(l,1000),a.BURST or a.limit if bt then bt(a) end return a,e end
local function cw(r,w) local a,e=cy(r,1,w) if r[e]then h().E(a,w,r[e]) end return a end local bg=redis.call
local function cF(a) local z=bg('TIME') local ab=z[1]*1000000+z[2] a.m,a.now_ms=ab,(ab-ab%1000)/1000 end
local function cR(a,ah,e,bD,aT) local K=ah[e] if not K then h().k('KEYS') end a.u,e=K,e+1 if aT then a.g=K
elseif Q(K,':reserved',1,true)then h().Q(K) end return e end local function cD(a,ah,bD,aT) cF(a)
if#ah~=cR(a,ah,1,bD,aT)-1 then h().k('KEYS') end end local function cW(g,cC) local b,c,aJ,aL,n=ai(g,cC) if not b then
return nil elseif Q(g,':0%d')then return nil end local x=#aL<17 and aL+0 return#b<16 and b+0 or h().p(b),
#c<16 and c+0 or h().p(c), #aJ<16 and aJ+0 or h().p(aJ), x and x<9e15 and x or h().p(aL), n end local function ch(u)
return u and u-u==0 and u>=1 and u<=1e15 end local function bQ(g)
local v,k,l,e,n=cW(g,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not ch(l)or not v or not k or not e then return nil end
local I=0 if n~=''then I=h().A(n) if not I then return nil end end if v-v~=0 or e-e~=0 or k-k~=0 or k>=l*1000 then
if h().H(v,k,l,e)then return nil end end return{o=v,n=k,b=l,at=e,f=I} end local function ck(a) local g=bg('GET',a.u)
if g then a.h=bQ(g)or h().D(g,('LEAKY'),'FOREIGN_VALUE') end end local function am(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return h().U(b,c) end local function H(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then
return b+c end return h().y(b,c) end local function V(b,c) if b-b==0 and c-c==0 then local n=b%c
return n==0 and b/c or(b-n)/c+1 end local al,n=h().t(b,c) return n==0 and al or H(al,1) end local function L(b,c)
if b-b==0 and c-c==0 then return b<c end return h().I(b,c) end local function ap(b,c) return L(c,b)and c or b end
local function cB(a,p) local k,A,v=p.n,a.c,p.o if p.b~=a.b and k~=0 then k=V(s(k,A),s(p.b,1000)) end
v=ap(H(s(v,A),k),a.l) return p.f==0 and v or H(v,s(p.f,A)) end local function aY(a,p) if not p then return 0 end
return am(cB(a,p),s(am(a.m,p.at),a.limit)) end local function ax(b,c) if b-b==0 and c-c==0 then local n=b%c
return(b-n)/c,n end return h().t(b,c) end local function Y(d) if d-d~=0 or d>=(2^53)then h().k('INEXACT_REPLY') end
return d end local function bb(a,ad) local z=V(ad,a.limit) return z-z==0 and z or h().J(z) end local function bx(a,ad)
a.P=ad a.remaining=a.limit==0 and 0 or am(a.a,V(ad,a.c)) end local function o(a,i) local F,bv=a.limit,a.a-i
if F==0 or bv<0 then return nil end local z=V(am(a.P,s(bv,a.c)),F) if z-z~=0 and h().G(H(z,a.m))then return nil end
return V(z,1000) end local function ae(u) local n=u%1000 return u<0 and-1 or n==0 and u/1000 or(u-n)/1000+1 end
local function cT(a,i) local o=o(a,i==0 and 1 or i) o=o and ae(Y(o))or-1 return o==0 and 1 or o end
local function aM(a,i) local p,F,A,ab=a.h,a.limit,a.c,a.m local X=aY(a,p) local bo=H(X,s(i==0 and 1 or i,A))
local aw=F>0 and not L(a.l,bo) local ao,k=ax(X,A) a.allowed,a.count,a.e=aw,Y(k==0 and ao or H(ao,1)),'keep'
if aw and i>0 then a.e='charge' a.i={o=H(ao,i),n=k,b=a.b,at=ab,f=0} a.ttl=Y(V(bb(a,bo),1000000)) else
if p and F>0 and L(ab,p.at)then a.e='rebase' a.i={o=p.o,n=p.n,b=p.b,at=ab,f=p.f} end if aw then
a.ttl=Y(V(bb(a,X),1000000)) else bx(a,X) a.ttl=cT(a,i) end end a.r=true and aw and bb(a,X)or 0 end local function bP(a)
if a.PARTIAL or a.ALWAYS then h().B(a) else local i=a.d a.j=i aM(a,i) end if a.SHADOW then h().z(a) end end
local function aP(a,P,p) bx(a,aY(a,p)) end local function ay(a) local T,o=a.e,o
aP(a,T,T=='keep'and a.h or T~='delete'and a.i or nil) local R,aK,G,M,W=a.remaining,a.a,0,0,0 if not a.allowed then
local i=a.j G=o(a,a.w or(i==0 and 1 or i))or-1 if a.F and G>=0 then G=math.max(G,a.F) end end if R<aK then
M=o(a,R+1)or-1 W=R+1==aK and M or o(a,aK)or-1 end if G-G~=0 or M-M~=0 or W-W~=0 or G>=(2^53)or W>=(2^53)then
h().k('INEXACT_REPLY') end if a.r~=0 then return R,G,M,W,Y(V(a.r,1000)) end return R,G,M,W,0 end local function ci(a,U)
local R,G,M,W,bR=ay(a) local cO=a.q and 1 or 0 return t( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().x(a)or 1)or 0,a.count,a.ttl,a.a,R,G,M,W, bR,a.now_ms,cO,U ) end local function cH(a,U)
local Z=a.form if Z=='LINE'then return ci(a,U) elseif Z then return h().K(a,U) end
return{a.allowed and(a.PARTIAL and h().x(a)or 1)or 0,a.count,a.ttl} end local function cN(ah,r)
local a=cw(r,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cD(a,ah) ck(a,'read') bP(a)
return cH(a,0) end function h() if not aD then local m={}
m.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
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
..'reservations' m.OVERFLOW='ERR increment or decrement would overflow' m.ARITY='ERR wrong number of arguments'
m.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
m.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
m.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local av={ __sub=function()
return 1 end, } local aF=setmetatable({(2^24)-1,(2^24)-1,2^16-1},av) local function cr(aV) return ap(aV,aF) end
local function cc(aV) return L(aF,aV) end local bI=setmetatable({6553600,11973543,3552},av) local function J(g)
error({err=g},0) end local function D(ak) J(m[ak]) end local function cL(a) if a.limit>0 and L(s(a.limit,bI),a.l)then
D('SPAN') end end local aE=setmetatable({(2^24)-1,(2^24)-1,2^15-1},av) local function aS(d) return L(aE,d) end
local function cd(v,k,l,e) local cS=aS(v)or(not L(v,aE)and k~=0) return cS or aS(e)or not L(k,s(l,1000)) end
local function aI(b,c) for e=1,math.min(#b,#c)do local bE,bF=b:byte(e),c:byte(e) if bE~=bF then return bE<bF end end
return#b<#c end local function aQ(f) if#f<=15 or(#f==16 and aI(f,'9007199254740992'))then return f+0 end local aR=#f%7
local d=aR>0 and f:sub(1,aR)+0 or 0 for e=aR+1,#f,7 do d=H(s(d,10000000),f:sub(e,e+6)+0) end return d end
local function bq(f) if#f>1 and f:byte()==48 then return nil
elseif#f<20 or(#f==20 and not aI('18446744073709551615',f))then return aQ(f) end end local function bM(n)
local f=ai(n,'^:(%d+)$') local I=f and bq(f) return I and I~=0 and not aS(I)and I or nil end local function bW(g,q,cu)
local cX={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bc=cX[ai(g,'^(%u):')] if not bc or bc==q then
D(cu) end J('ERR the key holds a state of '..bc..': use another key for each algorithm') end local function bV(ar)
if type(ar)=='table'then return ar elseif Q(ar,'^%u+ ')then return redis.error_reply(ar) end error(ar,0) end
local function bm(b,c) local be,bK=b-b==0,c-c==0 if be or bK then return be elseif#b~=#c then return#b<#c end
for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function ag(d) if d-d~=0 then
return d end local f,B={},0 while d>0 do local C=d%(2^24) B=B+1 f[B]=C d=(d-C)/(2^24) end return f end
local function az(f) local B=#f while B>0 and f[B]==0 do f[B]=nil B=B-1 end
if B>3 or(B==3 and f[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(f,av) end
return(f[1]or 0)+(f[2]or 0)*(2^24)+(f[3]or 0)*(2^24)*(2^24) end local function bJ(b,c) b,c=ag(b),ag(c) local an,S={},0
for d=1,math.max(#b,#c)+1 do local C=(b[d]or 0)+(c[d]or 0)+S S=C>=(2^24)and 1 or 0 an[d]=C-S*(2^24) end return az(an)
end local function cQ(b,c) if not bm(c,b)then return 0 end c=ag(c) local bh,aH={},0 for d=1,#b do
local C=b[d]-(c[d]or 0)-aH aH=C<0 and 1 or 0 bh[d]=C+aH*(2^24) end return az(bh) end local function cn(b,c)
b,c=ag(b),ag(c) local aq={} for d=1,#b+#c do aq[d]=0 end for d=1,#b do local S=0 for aU=1,#c do
local C=aq[d+aU-1]+b[d]*c[aU]+S S=math.floor(C/(2^24)) aq[d+aU-1]=C-S*(2^24) end aq[d+#c]=S end return az(aq) end
local function bf(d) if d-d==0 then return d end local an=0 for cb=#d,1,-1 do an=an*(2^24)+d[cb] end return an end
local function bT(b,c) local al=0 while not L(b,c)do local k=math.max(1,math.floor(bf(b)/bf(c)*(1-2^-45))) k=az(ag(k))
al=H(al,k) b=am(b,s(k,c)) end return al,b end local function aN(g,aj) if g~='0'and not Q(g,'^[1-9]%d*$')then return nil
end return(#g<#aj or(#g==#aj and not aI(aj,g)))and g or nil end local function bp(ak,g,bl)
local f=g and aN(g,'9223372036854775807') local d=f and aQ(f) if not d or d==0 and bl>0 then
J(t('ERR invalid %s: expected an integer from %d to 9223372036854775807',ak,bl)) elseif d-d~=0 then
J(t('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ak)) end return d end local bd={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aa(cj,q)
return not Q(q,' ',1,true)and Q(cj,' '..q..' ',1,true)~=nil end local function bB(a,j)
return not aa(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or aa((' COST PARTIAL BURST '),j)
end local function ce(q,j) local E,x=0,0 local by,cl=math.min(#q,#j),math.max(#q,#j)
while E<by and q:byte(E+1)==j:byte(E+1)do E=E+1 end while x<by-E and q:byte(-1-x)==j:byte(-1-x)do x=x+1 end
return E+x>=2 and cl-E-x<=2 end local function bX(a,w,q) local ac={} for P,y in ipairs(bd)do
if aa(w,y[1])and bB(a,y[1])then ac[#ac+1]=y[2] end end for P,Z in ipairs({'FULL','LINE','HEADERS'})do ac[#ac+1]=Z end
for P,j in ipairs(ac)do if ce(q:upper(),ai(j,'^%u+'))then J('ERR syntax error: no such option, but there is '..j) end
end local x=table.remove(ac) local cU=table.concat(ac,', ')
J('ERR syntax error: after limit come '..cU..' or '..x..', each at most once') end local function cJ(y,a,w)
local j,cY=y[1],a.X if not aa(w,j)then J(t('ERR invalid %s: only %s it',j,y[3])) elseif not bB(a,j)then
J(t('ERR invalid %s: %s takes none',j,('LEAKY'))) elseif a[j]~=nil then
J(t('ERR syntax error: %s comes at most once',y[2])) end end local function cz(j,g,da) if j=='AS'then
return g and#g>=1 and#g<=64 and not Q(g,'[^%w._-]')and g or D('AS') elseif j=='AT'then
local f=g and aN(g,'9223372036854775807') return f and ap(aQ(f),(ax(aF,1000)))or D('AT') end
return bp(j,g,j=='BURST'and 1 or 0) end local function cI(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
D(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
D(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bG={FULL=true,LINE=true,HEADERS=true}
local function cq(Z,bn) if Z then D(Z==bn and'FORM_TWICE'or'TWO_FORMS') end return bn end local function cx(a,r,e,w)
while r[e]do local q,y=r[e]:upper(),nil for P,bk in ipairs(bd)do y=bk[1]==q and bk or y end if y then cJ(y,a,w)
if y[2]==q then a[q]=true e=e+1 else a[q]=cz(q,r[e+1],r[e+2]) e=e+(q=='RESERVE'and 3 or 2) end cI(a)
elseif bG[q]and aa(w,'form')then a.form=cq(a.form,q) e=e+1 else return e end end return e end local function cA(g)
local N,O=ai(g,'^(%d+)(%l*)$') local at=N and bw(O) local u=at and aN(N,'18446744073709551615')and N*at
return u and u>=1 and u<=1e15 and u or nil end
local bH={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cV(a,g) local l=cA(g)
if not l then a.V=g:upper() l=bH[a.V] if not l then
D(aa((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aa((' COST PARTIAL BURST '),'ANCHOR')then
J(t('ERR invalid window: %s takes no windows of the calendar',('LEAKY'))) end end return l end local function bZ(K)
return K:sub(-9)==':reserved'or K:sub(-14)==':reserved:ends' end local function cK(K) if bZ(K)then D('RESERVED_KEY') end
end local function bL(a) local cs=a.PARTIAL and a.j<a.d a.q=a.SHADOW and not a.s and(cs or not a.allowed)
if not a.allowed and(a.q or a.s)then a.allowed=true if not(nil)then local P,P,P,aZ=ay(a) a.ttl=ae(aZ) end end end
local function cG(a) aP(a,'keep',a.h) return a.remaining end local function cv(a,P,i) if i==0 or a.limit==0 then
return'keep' end local ad=H(aY(a,a.h),s(i,a.c)) if L(s(aE,a.c),ad)then D('OVERFLOW') end local ao,k=ax(ad,a.c)
local aj=k==0 and a.a or a.a-1 local v,I=ap(ao,aj),am(ao,aj) return'charge',{o=v,n=k,b=a.b,at=a.m,f=I} end
local function cP(T,aG,X) if T=='keep'then return X end return T~='delete'and aG or nil end local function cp(i)
return i==0 and 1 or i end local function bN(a) local i=a.d aM(a,0) local T,aG=cv(a,nil,i) if i>0 then a.e,a.i=T,aG end
local bz=cP(a.e,a.i,a.h) aP(a,a.e,bz) a.allowed=a.a>0 and o(a,0)==0 a.w=a.a>0 and i or cp(i) if(nil)then
a.count,a.ttl=(nil)(bz,a.now_ms) elseif a.allowed then a.ttl=ae(Y(o(a,a.a))) else local o=o(a,a.w)
a.ttl=o and math.max(1,ae(Y(o)))or-1 end end local function bO(a) local i=a.d if a.PARTIAL then i=math.min(i,cG(a)) end
a.j=i if a.ALWAYS then bN(a) else aM(a,i) end end local function br(a) return a.s and a.s.d or a.q and a.d or a.j end
local function bi(a) if not a.allowed then return 0 end return a.PARTIAL and br(a)or 1 end local function bY(a,U)
local R,cM,M,aZ,bS=ay(a) return{ 'allowed',bi(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.a, 'remaining',R,
'retry_after_ms',cM, 'next_ms',M, 'reset_ms',aZ, 'delay_ms',bS, 'now_ms',a.now_ms, 'shadow',a.q and 1 or 0, 'charged',U,
} end local function co(as) local bA={} for P,a in ipairs(as)do local E,N=a.AS or('LEAKY'):lower(),2 a.g=E
while bA[a.g]do a.g=t('%s-%d',E,N) N=N+1 end bA[a.g]=true end end local function aB(d)
return t('%.0f',ap(d,999999999999999)) end local function cE(a) local l=(nil)and(nil)(a)or a.b local aO,n=1000,l%1000
while n>0 do aO,n=n,aO%n end local bC=1000/aO local A=ax(s(l,bC),1000)
return t('"%s";q=%s;w=%s',a.g,aB(s(a.limit,bC)),aB(A)) end local function cg(aC,aW) if aC.allowed~=aW.allowed then
return not aC.allowed end local o,aX=aC.retry_after_ms,aW.retry_after_ms if o~=aX then return o<0 or(aX>=0 and o>aX) end
return aC.remaining<aW.remaining end local function ca(as) local ba,bs=as[1],{} co(as) for d,a in ipairs(as)do
bs[d]=cE(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ay(a) if cg(a,ba)then ba=a end end local a=ba local au={
'X-RateLimit-Limit', t('%.0f',a.a), 'X-RateLimit-Remaining', t('%.0f',a.remaining), } local function aA(ak,af)
au[#au+1]=ak au[#au+1]=af end if a.reset_ms>=0 then aA('X-RateLimit-Reset',t('%.0f',ae(a.now_ms+a.reset_ms))) end
aA('RateLimit-Policy',table.concat(bs,', ')) local cm=a.next_ms>=0 and';t='..aB(ae(a.next_ms))or''
aA('RateLimit',t('"%s";r=%s%s',a.g,aB(a.remaining),cm)) if not a.allowed and a.retry_after_ms>=0 then
aA('Retry-After',t('%.0f',ae(a.retry_after_ms))) end return au end local function ct(a,U) if a.form=='FULL'then
return bY(a,U) end return{bi(a),a.count,a.ttl,ca({a})} end
aD={y=bJ,z=bL,A=bM,B=bO,t=bT,error_reply=bV,k=D,D=bW,E=bX,G=cc,H=cd,I=bm,v=cn,J=cr,K=ct,M=bp,p=bq,N=cx,x=br,Q=cK,S=cL,U=cQ,W=cV}
end return aD end local bU,bu=pcall(cN,KEYS,ARGV) return bU and bu or h().error_reply(bu)
