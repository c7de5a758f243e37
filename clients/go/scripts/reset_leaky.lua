-- RL.RESET LEAKY, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ag,h local E=redis.call local function bN(c) local P=E('TIME') local aw=P[1]*1000000+P[2]
c.S,c.E=aw,(aw-aw%1000)/1000 end local L,w,Y,ce=string.find,string.format,string.match,string.sub
local function bU(c,R,e,af,as) local l=R[e] if not l then h().c('KEYS') end c.f,e=l,e+1 if as then c.k=l
elseif L(l,':reserved',1,true)then h().H(l) end return e end local function bM(c,R,af,as) bN(c)
if#R~=bU(c,R,1,af,as)-1 then h().c('KEYS') end end local function ca(f,bL) local a,b,ak,al,p=Y(f,bL) if not a then
return nil elseif L(f,':0%d')then return nil end local u=#al<17 and al+0 return#a<16 and a+0 or h().e(a),
#b<16 and b+0 or h().e(b), #ak<16 and ak+0 or h().e(ak), u and u<9e15 and u or h().e(al), p end local function bu(y)
return y and y-y==0 and y>=1 and y<=1e15 end local function bi(f)
local m,i,r,e,p=ca(f,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not bu(r)or not m or not i or not e then return nil end
local G=0 if p~=''then G=h().p(p) if not G then return nil end end if m-m~=0 or e-e~=0 or i-i~=0 or i>=r*1000 then
if h().x(m,i,r,e)then return nil end end return{i=m,g=i,a=r,at=e,b=G} end local function bw(c) local f=E('GET',c.f)
if f then c.n=bi(f)or h().v(f,('LEAKY'),'FOREIGN_VALUE') end end local function A(a,b)
if a-a==0 and b-b==0 and a+b<(2^53)then return a+b end return h().o(a,b) end local function ao(a,b)
if a-a==0 and b-b==0 then local p=a%b return p==0 and a/b or(a-p)/b+1 end local S,p=h().r(a,b)
return p==0 and S or A(S,1) end local function bX(c,bJ) local P=ao(bJ,c.j) return P-P==0 and P or h().l(P) end
local function N(a,b) if a-a==0 and b-b==0 and a*b<(2^53)then return a*b end return h().D(a,b) end local function x(a,b)
if a-a==0 and b-b==0 then return a<b end return h().A(a,b) end local function au(a,b) return x(b,a)and b or a end
local function bK(c,j) local i,U,m=j.g,c.U,j.i if j.a~=c.a and i~=0 then i=ao(N(i,U),N(j.a,1000)) end
m=au(A(N(m,U),i),c.Q) return j.b==0 and m or A(m,N(j.b,U)) end local function B(c,j) local e=j.at if c.j>0 then
e=A(e,bX(c,bK(c,j))) e=e-e==0 and e or h().l(e) end return ao(e,1000) end local function bo(l,ax)
if not redis.REDIS_VERSION_NUM then return h().u(l,ax) end local e=E('PEXPIRETIME',l) return e>=0 and e or nil end
local function bm(c,J,V) local Q,am=c.n,true if J=='keep'and(not Q or not am)then return nil end
local q=Q and bo(c.f,c.E) if q and q>=(2^53)then q=h().w(h().q(q)) end if J=='keep'then local z=B(c,Q)
return q and x(q,z)and A(z,5000)or nil end local z=B(c,V) local X=A(z,5000) if not Q then return X elseif not q then
return X end if am and J=='rebase'then return h().B(q,B(c,Q),z) elseif x(q,z)then return X
elseif not x(X,q)or(am and x(A(B(c,Q),5000),q))then return nil end return X end local function O(d) if d-d~=0 then
return h().I(d) end return w('%.0f',d) end local function bS(l,aH) if aH then E('PEXPIREAT',l,O(aH)) end end
local function aL(j) local m,i,r,e=j.i,j.g,j.a,j.at if j.b~=0 or m-m~=0 or i-i~=0 or e-e~=0 then return h().t(j) end
return w('L:%.0f:%.0f:%.0f:%.0f',m,i,r,e) end local function bg(c,J,V) local l=c.f if J=='delete'then E('UNLINK',l)
return end local B=bm(c,J,V) if J=='keep'then bS(l,B) elseif B then E('SET',l,aL(V),'PXAT',B==0 and'1'or O(B)) else
E('SET',l,aL(V),'KEEPTTL') end end local function bR(R,D) local U=D[1] if not U then h().c('ARITY') end
local c={j=0,capacity=0} local e=h().F(c,D,1+1,' ANCHOR ') if D[e]then
h().c(h().z(D[e]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end c.N=c.ANCHOR and c.ANCHOR*1000 c.a=h().K(c,U)
local af=h().y((' COST PARTIAL BURST '),'RESERVE') bM(c,R,af,true) bw(c,'delete') local ad=c.P or c.n local aN=ad
h().G(c,aN) if ad then bg(c,'delete') end return aN and 1 or 0 end function h() if not ag then local k={}
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
k.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local ah={ __sub=function() return 1
end, } local aD=setmetatable({(2^24)-1,(2^24)-1,2^16-1},ah) local function bD(by) return au(by,aD) end
local aC=setmetatable({(2^24)-1,(2^24)-1,2^15-1},ah) local function ar(d) return x(aC,d) end local function bs(m,i,r,e)
local bY=ar(m)or(not x(m,aC)and i~=0) return bY or ar(e)or not x(i,N(r,1000)) end local function aj(a,b)
for e=1,math.min(#a,#b)do local aZ,ba=a:byte(e),b:byte(e) if aZ~=ba then return aZ<ba end end return#a<#b end
local function ap(g) if#g<=15 or(#g==16 and aj(g,'9007199254740992'))then return g+0 end local aq=#g%7
local d=aq>0 and g:sub(1,aq)+0 or 0 for e=aq+1,#g,7 do d=A(N(d,10000000),g:sub(e,e+6)+0) end return d end
local function aU(g) if#g>1 and g:byte()==48 then return nil
elseif#g<20 or(#g==20 and not aj('18446744073709551615',g))then return ap(g) end end local function bh(p)
local g=Y(p,'^:(%d+)$') local G=g and aU(g) return G and G~=0 and not ar(G)and G or nil end local function bk(j)
local m,i,r,e=j.i,j.g,j.a,j.at local f='L:'..O(m)..':'..O(i)..':'..O(r)..':'..O(e) return j.b==0 and f or f..':'..O(j.b)
end local function H(f) error({err=f},0) end local function v(ae) H(k[ae]) end local function bp(f,o,bE)
local cb={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aB=cb[Y(f,'^(%u):')] if not aB or aB==o then
v(bE) end H('ERR the key holds a state of '..aB..': use another key for each algorithm') end local function bl(ab)
if type(ab)=='table'then return ab elseif L(ab,'^%u+ ')then return redis.error_reply(ab) end error(ab,0) end
local function K(d) if d-d~=0 then return d end local g,s={},0 while d>0 do local t=d%(2^24) s=s+1 g[s]=t d=(d-t)/(2^24)
end return g end local function W(g) local s=#g while s>0 and g[s]==0 do g[s]=nil s=s-1 end
if s>3 or(s==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,ah) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function aS(a,b) local aF,bf=a-a==0,b-b==0
if aF or bf then return aF elseif#a~=#b then return#a<#b end for d=#a,1,-1 do if a[d]~=b[d]then return a[d]<b[d] end end
return false end local function be(a,b) a,b=K(a),K(b) local T,F={},0 for d=1,math.max(#a,#b)+1 do
local t=(a[d]or 0)+(b[d]or 0)+F F=t>=(2^24)and 1 or 0 T[d]=t-F*(2^24) end return W(T) end local function bA(a,b)
a,b=K(a),K(b) local aa={} for d=1,#a+#b do aa[d]=0 end for d=1,#a do local F=0 for at=1,#b do
local t=aa[d+at-1]+a[d]*b[at]+F F=math.floor(t/(2^24)) aa[d+at-1]=t-F*(2^24) end aa[d+#b]=F end return W(aa) end
local function aG(d) if d-d==0 then return d end local T=0 for br=#d,1,-1 do T=T*(2^24)+d[br] end return T end
local function bT(a,b) if not aS(b,a)then return 0 end b=K(b) local aI,ai={},0 for d=1,#a do local t=a[d]-(b[d]or 0)-ai
ai=t<0 and 1 or 0 aI[d]=t+ai*(2^24) end return W(aI) end local function az(a,b) if a-a==0 and b-b==0 then
return a>b and a-b or 0 end return bT(a,b) end local function aK(a,b) local S=0 while not x(a,b)do
local i=math.max(1,math.floor(aG(a)/aG(b)*(1-2^-45))) i=W(K(i)) S=A(S,i) a=az(a,N(i,b)) end return S,a end
local function aJ(a,b) if a-a==0 and b-b==0 then local p=a%b return(a-p)/b,p end return aK(a,b) end local function bW(d)
local aA='' while d-d~=0 do local p d,p=aJ(d,10000000) aA=w('%07.0f',p)..aA end return w('%.0f',d)..aA end
local function bn(l,ax) local aR=E('PTTL',l) return aR>=0 and ax+aR or nil end local function bz(q,bB,z) if q-q~=0 then
v('INEXACT_STATE') end local Z=az(q,az(bB,z)) Z=x(Z,z)and z or Z return Z~=q and Z or nil end local function M(bv,o)
return not L(o,' ',1,true)and L(bv,' '..o..' ',1,true)~=nil end local function bt(o,n) local I,u=0,0
local aX,bx=math.min(#o,#n),math.max(#o,#n) while I<aX and o:byte(I+1)==n:byte(I+1)do I=I+1 end
while u<aX-I and o:byte(-1-u)==n:byte(-1-u)do u=u+1 end return I+u>=2 and bx-I-u<=2 end local bd={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bV(c,n)
return not M(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',n)or M((' COST PARTIAL BURST '),n)
end local function bQ(C,c,ac) local n,cd=C[1],c.M if not M(ac,n)then H(w('ERR invalid %s: only %s it',n,C[3]))
elseif not bV(c,n)then H(w('ERR invalid %s: %s takes none',n,('LEAKY'))) elseif c[n]~=nil then
H(w('ERR syntax error: %s comes at most once',C[2])) end end local function an(f,av)
if f~='0'and not L(f,'^[1-9]%d*$')then return nil end return(#f<#av or(#f==#av and not aj(av,f)))and f or nil end
local function bF(ae,f,aQ) local g=f and an(f,'9223372036854775807') local d=g and ap(g) if not d or d==0 and aQ>0 then
H(w('ERR invalid %s: expected an integer from %d to 9223372036854775807',ae,aQ)) elseif d-d~=0 then
H(w('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ae)) end return d end
local function bH(n,f,cf) if n=='AS'then return f and#f>=1 and#f<=64 and not L(f,'[^%w._-]')and f or v('AS')
elseif n=='AT'then local g=f and an(f,'9223372036854775807') return g and au(ap(g),(aJ(aD,1000)))or v('AT') end
return bF(n,f,n=='BURST'and 1 or 0) end local function bO(c) if c.ALWAYS and(c.PARTIAL or c.RESERVE)then
v(c.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif c.RESERVATION and(c.RESERVED or c.AT)then
v(c.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bb={FULL=true,LINE=true,HEADERS=true}
local function bC(aM,aT) if aM then v(aM==aT and'FORM_TWICE'or'TWO_FORMS') end return aT end local function bG(c,D,e,ac)
while D[e]do local o,C=D[e]:upper(),nil for cc,aP in ipairs(bd)do C=aP[1]==o and aP or C end if C then bQ(C,c,ac)
if C[2]==o then c[o]=true e=e+1 else c[o]=bH(o,D[e+1],D[e+2]) e=e+(o=='RESERVE'and 3 or 2) end bO(c)
elseif bb[o]and M(ac,'form')then c.form=bC(c.form,o) e=e+1 else return e end end return e end
local aE={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function bI(f) local ay,aY=Y(f,'^(%d+)(%l*)$')
local y=ay and aE[aY]and an(ay,'18446744073709551615')and ay*aE[aY] return y and y>=1 and y<=1e15 and y or nil end
local bc={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function bZ(c,f) local r=bI(f)
if not r then c.J=f:upper() r=bc[c.J] if not r then
v(M((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not M((' COST PARTIAL BURST '),'ANCHOR')then
H(w('ERR invalid window: %s takes no windows of the calendar',('LEAKY'))) end end return r end local function bq(l)
return l:sub(-9)==':reserved'or l:sub(-14)==':reserved:ends' end local function aV(l) if bq(l)then v('RESERVED_KEY') end
end local function bP(c,ad) local aO=Y(c.k,'^(.*:reserved):ends$')
if not ad or aO and redis.pcall('TYPE',aO).ok=='hash'then aV(c.k) end end
ag={o=be,p=bh,q=K,r=aK,t=bk,error_reply=bl,u=bn,c=v,v=bp,w=W,x=bs,y=M,z=bt,A=aS,B=bz,D=bA,l=bD,e=aU,F=bG,G=bP,H=aV,I=bW,K=bZ}
end return ag end local bj,aW=pcall(bR,KEYS,ARGV) return bj and aW or h().error_reply(aW)
