-- RL.RESET LEAKY, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ah,h local E=redis.call local function bN(c) local Q=E('TIME') local ax=Q[1]*1000000+Q[2]
c.M,c.z=ax,(ax-ax%1000)/1000 end local M,w,Z,cf=string.find,string.format,string.match,string.sub
local function bV(c,S,e,ag,at) local l=S[e] if not l then h().c('KEYS') end c.e,e=l,e+1 if at then c.i=l
elseif M(l,':reserved',1,true)then h().D(l) end return e end local function bM(c,S,ag,at) bN(c)
if#S~=bV(c,S,1,ag,at)-1 then h().c('KEYS') end end local function cb(f,bL) local a,b,al,am,p=Z(f,bL) if not a then
return nil elseif M(f,':0%d')then return nil end local u=#am<17 and am+0 return#a<16 and a+0 or h().d(a),
#b<16 and b+0 or h().d(b), #al<16 and al+0 or h().d(al), u and u<9e15 and u or h().d(am), p end local function bu(y)
return y and y-y==0 and y>=1 and y<=1e15 end local function bi(f)
local m,i,r,e,p=cb(f,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not bu(r)or not m or not i or not e then return nil end
local G=0 if p~=''then G=h().m(p) if not G then return nil end end if m-m~=0 or e-e~=0 or i-i~=0 or i>=r*1000 then
if h().t(m,i,r,e)then return nil end end return{g=m,f=i,a=r,at=e,b=G} end local function bw(c) local f=E('GET',c.e)
if f then c.k=bi(f)or h().r(f,('LEAKY'),'FOREIGN_VALUE') end end local function A(a,b)
if a-a==0 and b-b==0 and a+b<(2^53)then return a+b end return h().l(a,b) end local function ap(a,b)
if a-a==0 and b-b==0 then local p=a%b return p==0 and a/b or(a-p)/b+1 end local T,p=h().o(a,b)
return p==0 and T or A(T,1) end local function bY(c,bJ) local Q=ap(bJ,c.h) return Q-Q==0 and Q or h().j(Q) end
local function O(a,b) if a-a==0 and b-b==0 and a*b<(2^53)then return a*b end return h().y(a,b) end local function x(a,b)
if a-a==0 and b-b==0 then return a<b end return h().w(a,b) end local function av(a,b) return x(b,a)and b or a end
local function bK(c,j) local i,V,m=j.f,c.N,j.g if j.a~=c.a and i~=0 then i=ap(O(i,V),O(j.a,1000)) end
m=av(A(O(m,V),i),c.K) return j.b==0 and m or A(m,O(j.b,V)) end local function B(c,j) local e=j.at if c.h>0 then
e=A(e,bY(c,bK(c,j))) e=e-e==0 and e or h().j(e) end return ap(e,1000) end local function bo(l,ay)
if not redis.REDIS_VERSION_NUM then return h().q(l,ay) end local e=E('PEXPIRETIME',l) return e>=0 and e or nil end
local function bm(c,K,W) local R,an=c.k,true if K=='keep'and(not R or not an)then return nil end
local q=R and bo(c.e,c.z) if q and q>=(2^53)then q=h().s(h().n(q)) end if K=='keep'then local z=B(c,R)
return q and x(q,z)and A(z,5000)or nil end local z=B(c,W) local Y=A(z,5000) if not R then return Y elseif not q then
return Y end if an and K=='rebase'then return h().x(q,B(c,R),z) elseif x(q,z)then return Y
elseif not x(Y,q)or(an and x(A(B(c,R),5000),q))then return nil end return Y end local function P(d) if d-d~=0 then
return h().E(d) end return w('%.0f',d) end local function bT(l,aH) if aH then E('PEXPIREAT',l,P(aH)) end end
local function aL(j) local m,i,r,e=j.g,j.f,j.a,j.at if j.b~=0 or m-m~=0 or i-i~=0 or e-e~=0 then return h().p(j) end
return w('L:%.0f:%.0f:%.0f:%.0f',m,i,r,e) end local function bg(c,K,W) local l=c.e if K=='delete'then E('UNLINK',l)
return end local B=bm(c,K,W) if K=='keep'then bT(l,B) elseif B then E('SET',l,aL(W),'PXAT',B==0 and'1'or P(B)) else
E('SET',l,aL(W),'KEEPTTL') end end local function bR(S,D) local V=D[1] if not V then h().c('ARITY') end
local c={h=0,capacity=0} local e=h().A(c,D,1+1,' ANCHOR ') if D[e]then
h().c(h().v(D[e]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end c.I=c.ANCHOR and c.ANCHOR*1000 c.a=h().G(c,V)
local ag=h().u((' COST PARTIAL BURST '),'RESERVE') bM(c,S,ag,true) bw(c,'delete') local ae=c.J or c.k local aN=ae
h().B(c,aN) if ae then bg(c,'delete') end return aN and 1 or 0 end function h() if not ah then local k={}
k.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
k.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
k.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
k.ID='ERR invalid ID: expected 1 to 512 bytes'
k.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
k.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
k.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
k.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
k.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
k.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
k.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
k.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
k.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
k.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
k.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
k.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' k.ARITY='ERR wrong number of arguments'
k.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
k.RESET_WORDS='ERR syntax error: after window comes ANCHOR t or nothing'
k.NO_SUCH_OPTION='ERR syntax error: no such option, but there is ANCHOR t'
k.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local ai={ __sub=function() return 1
end, } local aE=setmetatable({(2^24)-1,(2^24)-1,2^16-1},ai) local function bD(by) return av(by,aE) end
local aD=setmetatable({(2^24)-1,(2^24)-1,2^15-1},ai) local function as(d) return x(aD,d) end local function bs(m,i,r,e)
local bZ=as(m)or(not x(m,aD)and i~=0) return bZ or as(e)or not x(i,O(r,1000)) end local function ak(a,b)
for e=1,math.min(#a,#b)do local aZ,ba=a:byte(e),b:byte(e) if aZ~=ba then return aZ<ba end end return#a<#b end
local function aq(g) if#g<=15 or(#g==16 and ak(g,'9007199254740992'))then return g+0 end local ar=#g%7
local d=ar>0 and g:sub(1,ar)+0 or 0 for e=ar+1,#g,7 do d=A(O(d,10000000),g:sub(e,e+6)+0) end return d end
local function aU(g) if#g>1 and g:byte()==48 then return nil
elseif#g<20 or(#g==20 and not ak('18446744073709551615',g))then return aq(g) end end local function bh(p)
local g=Z(p,'^:(%d+)$') local G=g and aU(g) return G and G~=0 and not as(G)and G or nil end local function bk(j)
local m,i,r,e=j.g,j.f,j.a,j.at local f='L:'..P(m)..':'..P(i)..':'..P(r)..':'..P(e) return j.b==0 and f or f..':'..P(j.b)
end local function H(f) error({err=f},0) end local function v(af) H(k[af]) end local function bp(f,o,bE)
local cc={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aC=cc[Z(f,'^(%u):')] if not aC or aC==o then
v(bE) end H('ERR the key holds a state of '..aC..': use another key for each algorithm') end local function bl(ac)
if type(ac)=='table'then return ac elseif M(ac,'^%u+ ')then return redis.error_reply(ac) end error(ac,0) end
local function L(d) if d-d~=0 then return d end local g,s={},0 while d>0 do local t=d%(2^24) s=s+1 g[s]=t d=(d-t)/(2^24)
end return g end local function X(g) local s=#g while s>0 and g[s]==0 do g[s]=nil s=s-1 end
if s>3 or(s==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,ai) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function aS(a,b) local aF,bf=a-a==0,b-b==0
if aF or bf then return aF elseif#a~=#b then return#a<#b end for d=#a,1,-1 do if a[d]~=b[d]then return a[d]<b[d] end end
return false end local function be(a,b) a,b=L(a),L(b) local U,F={},0 for d=1,math.max(#a,#b)+1 do
local t=(a[d]or 0)+(b[d]or 0)+F F=t>=(2^24)and 1 or 0 U[d]=t-F*(2^24) end return X(U) end local function bA(a,b)
a,b=L(a),L(b) local ab={} for d=1,#a+#b do ab[d]=0 end for d=1,#a do local F=0 for au=1,#b do
local t=ab[d+au-1]+a[d]*b[au]+F F=math.floor(t/(2^24)) ab[d+au-1]=t-F*(2^24) end ab[d+#b]=F end return X(ab) end
local function aG(d) if d-d==0 then return d end local U=0 for br=#d,1,-1 do U=U*(2^24)+d[br] end return U end
local function bU(a,b) if not aS(b,a)then return 0 end b=L(b) local aI,aj={},0 for d=1,#a do local t=a[d]-(b[d]or 0)-aj
aj=t<0 and 1 or 0 aI[d]=t+aj*(2^24) end return X(aI) end local function aA(a,b) if a-a==0 and b-b==0 then
return a>b and a-b or 0 end return bU(a,b) end local function aK(a,b) local T=0 while not x(a,b)do
local i=math.max(1,math.floor(aG(a)/aG(b)*(1-2^-45))) i=X(L(i)) T=A(T,i) a=aA(a,O(i,b)) end return T,a end
local function aJ(a,b) if a-a==0 and b-b==0 then local p=a%b return(a-p)/b,p end return aK(a,b) end local function bX(d)
local aB='' while d-d~=0 do local p d,p=aJ(d,10000000) aB=w('%07.0f',p)..aB end return w('%.0f',d)..aB end
local function bn(l,ay) local aR=E('PTTL',l) return aR>=0 and ay+aR or nil end local function bz(q,bB,z) if q-q~=0 then
v('INEXACT_STATE') end local aa=aA(q,aA(bB,z)) aa=x(aa,z)and z or aa return aa~=q and aa or nil end
local function N(bv,o) return not M(o,' ',1,true)and M(bv,' '..o..' ',1,true)~=nil end local function bt(o,n)
local I,u=0,0 local aY,bx=math.min(#o,#n),math.max(#o,#n) while I<aY and o:byte(I+1)==n:byte(I+1)do I=I+1 end
while u<aY-I and o:byte(-1-u)==n:byte(-1-u)do u=u+1 end return I+u>=2 and bx-I-u<=2 end local bd={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bW(c,n)
return not N(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or N((' COST PARTIAL BURST '),n)
end local function bQ(C,c,ad) local n,ce=C[1],c.H if not N(ad,n)then H(w('ERR invalid %s: only %s it',n,C[3]))
elseif not bW(c,n)then H(w('ERR invalid %s: %s takes none',n,('LEAKY'))) elseif c[n]~=nil then
H(w('ERR syntax error: %s comes at most once',C[2])) end end local function ao(f,aw)
if f~='0'and not M(f,'^[1-9]%d*$')then return nil end return(#f<#aw or(#f==#aw and not ak(aw,f)))and f or nil end
local function bF(af,f,aQ) local g=f and ao(f,'9223372036854775807') local d=g and aq(g) if not d or d==0 and aQ>0 then
H(w('ERR invalid %s: expected an integer from %d to 9223372036854775807',af,aQ)) elseif d-d~=0 then
H(w('ERR invalid %s: the Lua library takes integers up to 9007199254740991',af)) end return d end
local function bH(n,f,cg) if n=='AS'then return f and#f>=1 and#f<=64 and not M(f,'[^%w._-]')and f or v('AS')
elseif n=='AT'then local g=f and ao(f,'9223372036854775807') return g and av(aq(g),(aJ(aE,1000)))or v('AT') end
return bF(n,f,n=='BURST'and 1 or 0) end local function bO(c) if c.ALWAYS and(c.PARTIAL or c.RESERVE)then
v(c.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif c.RESERVATION and(c.RESERVED or c.AT)then
v(c.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bb={FULL=true,LINE=true,HEADERS=true}
local function bC(aM,aT) if aM then v(aM==aT and'FORM_TWICE'or'TWO_FORMS') end return aT end local function bG(c,D,e,ad)
while D[e]do local o,C=D[e]:upper(),nil for cd,aP in ipairs(bd)do C=aP[1]==o and aP or C end if C then bQ(C,c,ad)
if C[2]==o then c[o]=true e=e+1 else c[o]=bH(o,D[e+1],D[e+2]) e=e+(o=='RESERVE'and 3 or 2) end bO(c)
elseif bb[o]and N(ad,'form')then c.form=bC(c.form,o) e=e+1 else return e end end return e end local function bS(J)
return J==''and 1000 or J=='ms'and 1 or J=='s'and 1000 or J=='m'and 60000 or J=='h'and 3600000 or J=='d'and 86400000
or nil end local function bI(f) local az,J=Z(f,'^(%d+)(%l*)$') local aX=az and bS(J)
local y=aX and ao(az,'18446744073709551615')and az*aX return y and y>=1 and y<=1e15 and y or nil end
local bc={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function ca(c,f) local r=bI(f)
if not r then c.F=f:upper() r=bc[c.F] if not r then
v(N((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not N((' COST PARTIAL BURST '),'ANCHOR')then
H(w('ERR invalid window: %s takes no windows of the calendar',('LEAKY'))) end end return r end local function bq(l)
return l:sub(-9)==':reserved'or l:sub(-14)==':reserved:ends' end local function aV(l) if bq(l)then v('RESERVED_KEY') end
end local function bP(c,ae) local aO=Z(c.i,'^(.*:reserved):ends$')
if not ae or aO and redis.pcall('TYPE',aO).ok=='hash'then aV(c.i) end end
ah={l=be,m=bh,n=L,o=aK,p=bk,error_reply=bl,q=bn,c=v,r=bp,s=X,t=bs,u=N,v=bt,w=aS,x=bz,y=bA,j=bD,d=aU,A=bG,B=bP,D=aV,E=bX,G=ca}
end return ah end local bj,aW=pcall(bR,KEYS,ARGV) return bj and aW or h().error_reply(aW)
