-- RL.LEAKY, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function hN(as) local bL,h local C,m,ak,ik=string.find,string.format,string.match,string.sub local function ek(ae)
return ae==''and 1000 or ae=='ms'and 1 or ae=='s'and 1000 or ae=='m'and 60000 or ae=='h'and 3600000
or ae=='d'and 86400000 or nil end local function A(c,d) if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end
return h().v(c,d) end local function ei(a) a.n=A(a.b,a.e) if a.n-a.n~=0 then h().Z(a) end end local function hw(w,e,K)
local Q,V,o=w[e],w[e+1],w[e+2] if not V then h().m('ARITY') end local a={ q='', o=0, now_ms=0, a=0, e=0, limit=0, b=0,
g=1, form=nil, s=0, j=nil, f=nil, allowed=false, count=0, ttl=0, c='keep', remaining=0, h=1, } e=e+2
if o=='LINE'and not w[e+1]and K~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=o,e+1 elseif o then
local aK=w[e+1]or''
local dX=K==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and w[e+2]=='LINE'and not w[e+3]and#aK<16
if dX and o=='COST'and(' COST PARTIAL BURST ')~=' ID 'and C(aK,'^[1-9]%d*$')then a.form,a.g,e='LINE',aK+0,e+3
elseif dX and o=='ID'and(' COST PARTIAL BURST ')==' ID 'and aK~=''then a.form,a.ID,e='LINE',aK,e+3 else e=h().W(a,w,e,K)
a.g=a.COST or 1 end end local hb=#V<16 and C(V,'^[1-9]%d*$') a.limit=hb and V+0 or h().V('limit',V,0)
local ac,ae=ak(Q,'^([1-9]%d*)(%l*)$') local bj=ac and#Q<16 and ek(ae) local p=bj and ac*bj
if not p or p<1 or p>1e15 then p=h().ad(a,Q) end a.a,a.e,a.b=p,p<9e12 and p*1000 or h().v(p,1000),a.BURST or a.limit
if ei then ei(a) end return a,e end local function hu(w,K) local a,e=hw(w,1,K) if w[e]then h().J(a,K,w[e]) end return a
end local y=redis.call local function hC(a) local P=y('TIME') local aB=P[1]*1000000+P[2]
a.o,a.now_ms=aB,(aB-aB%1000)/1000 end local function hQ(a,aM,e,gr,cb) local s=aM[e] if not s then h().m('KEYS') end
a.q,e=s,e+1 if cb then a.l=s elseif C(s,':reserved',1,true)then h().Y(s) end return e end local function hA(a,aM,gr,cb)
hC(a) if#aM~=hQ(a,aM,1,gr,cb)-1 then h().m('KEYS') end end local function ih(i,hz) local c,d,bQ,bS,q=ak(i,hz)
if not c then return nil elseif C(i,':0%d')then return nil end local L=#bS<17 and bS+0 return#c<16 and c+0 or h().r(c),
#d<16 and d+0 or h().r(d), #bQ<16 and bQ+0 or h().r(bQ), L and L<9e15 and L or h().r(bS), q end local function hd(E)
return E and E-E==0 and E>=1 and E<=1e15 end local function gI(i)
local u,n,p,e,q=ih(i,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not hd(p)or not u or not n or not e then return nil end
local Z=0 if q~=''then Z=h().D(q) if not Z then return nil end end if u-u~=0 or e-e~=0 or n-n~=0 or n>=p*1000 then
if h().P(u,n,p,e)then return nil end end return{k=u,i=n,a=p,at=e,d=Z} end local function hg(a) local i=y('GET',a.q)
if i then a.j=gI(i)or h().I(i,('LEAKY'),'FOREIGN_VALUE') end end local function au(c,d) if c-c==0 and d-d==0 then
return c>d and c-d or 0 end return h().aa(c,d) end local function F(c,d) if c-c==0 and d-d==0 and c+d<(2^53)then
return c+d end return h().z(c,d) end local function ai(c,d) if c-c==0 and d-d==0 then local q=c%d
return q==0 and c/d or(c-q)/d+1 end local aQ,q=h().u(c,d) return q==0 and aQ or F(aQ,1) end local function D(c,d)
if c-c==0 and d-d==0 then return c<d end return h().Q(c,d) end local function be(c,d) return D(d,c)and d or c end
local function eg(a,j) local n,Q,u=j.i,a.e,j.k if j.a~=a.a and n~=0 then n=ai(A(n,Q),A(j.a,1000)) end
u=be(F(A(u,Q),n),a.n) return j.d==0 and u or F(u,A(j.d,Q)) end local function cJ(a,j) if not j then return 0 end
return au(eg(a,j),A(au(a.o,j.at),a.limit)) end local function bb(c,d) if c-c==0 and d-d==0 then local q=c%d
return(c-q)/d,q end return h().u(c,d) end local function ay(f) if f-f~=0 or f>=(2^53)then h().m('INEXACT_REPLY') end
return f end local function bC(a,aF) local P=ai(aF,a.limit) return P-P==0 and P or h().x(P) end local function el(a,aF)
a.X=aF a.remaining=a.limit==0 and 0 or au(a.b,ai(aF,a.e)) end local function t(a,l) local V,ej=a.limit,a.b-l
if V==0 or ej<0 then return nil end local P=ai(au(a.X,A(ej,a.e)),V) if P-P~=0 and h().N(F(P,a.o))then return nil end
return ai(P,1000) end local function aG(E) local q=E%1000 return E<0 and-1 or q==0 and E/1000 or(E-q)/1000+1 end
local function hT(a,l) local t=t(a,l==0 and 1 or l) t=t and aG(ay(t))or-1 return t==0 and 1 or t end
local function bT(a,l) local j,V,Q,aB=a.j,a.limit,a.e,a.o local G=cJ(a,j) local M=F(G,A(l==0 and 1 or l,Q))
local aL=V>0 and not D(a.n,M) local ba,n=bb(G,Q) a.allowed,a.count,a.c=aL,ay(n==0 and ba or F(ba,1)),'keep'
if aL and l>0 then a.c='charge' a.f={k=F(ba,l),i=n,a=a.a,at=aB,d=0} a.ttl=ay(ai(bC(a,M),1000000)) else
if j and V>0 and D(aB,j.at)then a.c='rebase' a.f={k=j.k,i=j.i,a=j.a,at=aB,d=j.d} end if aL then
a.ttl=ay(ai(bC(a,G),1000000)) else el(a,G) a.ttl=hT(a,l) end end a.s=true and aL and bC(a,G)or 0 end
local function gH(a) if a.PARTIAL or a.ALWAYS then h().E(a) else local l=a.g a.h=l bT(a,l) end if a.SHADOW then h().B(a)
end end local function bX(a,ah,j) el(a,cJ(a,j)) end local function br(a) local x,t=a.c,t
bX(a,x,x=='keep'and a.j or x~='delete'and a.f or nil) local al,bR,W,ab,at=a.remaining,a.b,0,0,0 if not a.allowed then
local l=a.h W=t(a,a.w or(l==0 and 1 or l))or-1 if a.M and W>=0 then W=math.max(W,a.M) end end if al<bR then
ab=t(a,al+1)or-1 at=al+1==bR and ab or t(a,bR)or-1 end if W-W~=0 or ab-ab~=0 or at-at~=0 or W>=(2^53)or at>=(2^53)then
h().m('INEXACT_REPLY') end if a.s~=0 then return al,W,ab,at,ay(ai(a.s,1000)) end return al,W,ab,at,0 end
local function he(a,ap) local al,W,ab,at,gJ=br(a) local hM=a.p and 1 or 0 return m(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl,a.b,al,W,ab,at, gJ,a.now_ms,hM,ap ) end
local function hE(a,ap) local az=a.form if az=='LINE'then return he(a,ap) elseif az then return h().U(a,ap) end
return{a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl} end local function gA(a) if a.c~='charge'then
return 0 elseif a.ALWAYS then return a.h elseif not a.allowed or(a.p and not a.PARTIAL)then return 0 end return a.h end
local function aj(a,j) local e=j.at if a.limit>0 then e=F(e,bC(a,eg(a,j))) e=e-e==0 and e or h().x(e) end
return ai(e,1000) end local function gQ(s,ce) if not redis.REDIS_VERSION_NUM then return h().H(s,ce) end
local e=y('PEXPIRETIME',s) return e>=0 and e or nil end local function gO(a,x,R) local G,bU=a.j,true
if x=='keep'and(not G or not bU)then return nil end local z=G and gQ(a.q,a.now_ms) if z and z>=(2^53)then
z=h().K(h().F(z)) end if x=='keep'then local M=aj(a,G) return z and D(z,M)and F(M,5000)or nil end local M=aj(a,R)
local bd=F(M,5000) if not G then return bd elseif not z then return bd end if bU and x=='rebase'then
return h().S(z,aj(a,G),M) elseif D(z,M)then return bd elseif not D(bd,z)or(bU and D(F(aj(a,G),5000),z))then return nil
end return bd end local function aH(f) if f-f~=0 then return h().ab(f) end return m('%.0f',f) end
local function hL(s,dS) if dS then y('PEXPIREAT',s,aH(dS)) end end local function dV(j) local u,n,p,e=j.k,j.i,j.a,j.at
if j.d~=0 or u-u~=0 or n-n~=0 or e-e~=0 then return h().G(j) end return m('L:%.0f:%.0f:%.0f:%.0f',u,n,p,e) end
local function dT(a,x,R) local s=a.q if x=='delete'then y('UNLINK',s) return end local aj=gO(a,x,R) if x=='keep'then
hL(s,aj) elseif aj then y('SET',s,dV(R),'PXAT',aj==0 and'1'or aH(aj)) else y('SET',s,dV(R),'KEEPTTL') end end
local function hK(aM,w) local a=hu(w,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
hA(a,aM,a.RESERVE) hg(a,'write') gH(a) local gy=hE(a,gA(a)) if a.SHADOW or a.RESERVE then h().A(a,true) else
dT(a,a.c,a.f) end return gy end function h() if not bL then local r={}
r.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
r.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
r.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
r.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
r.ID='ERR invalid ID: expected 1 to 512 bytes'
r.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
r.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
r.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
r.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
r.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
r.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
r.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
r.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
r.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
r.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
r.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
r.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' r.OVERFLOW='ERR increment or decrement would overflow' r.ARITY='ERR wrong number of arguments'
r.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
r.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
r.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local bp={ __sub=function()
return 1 end, } local bN=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bp) local function hp(cd) return be(cd,bN) end
local function gY(cd) return D(bN,cd) end local gw=setmetatable({6553600,11973543,3552},bp) local function aa(i)
error({err=i},0) end local function O(aO) aa(r[aO]) end local function hI(a) if a.limit>0 and D(A(a.limit,gw),a.n)then
O('SPAN') end end local bM=setmetatable({(2^24)-1,(2^24)-1,2^15-1},bp) local function ca(f) return D(bM,f) end
local function gZ(u,n,p,e) local hS=ca(u)or(not D(u,bM)and n~=0) return hS or ca(e)or not D(n,A(p,1000)) end
local function bP(c,d) for e=1,math.min(#c,#d)do local gs,gt=c:byte(e),d:byte(e) if gs~=gt then return gs<gt end end
return#c<#d end local function bY(k) if#k<=15 or(#k==16 and bP(k,'9007199254740992'))then return k+0 end local bZ=#k%7
local f=bZ>0 and k:sub(1,bZ)+0 or 0 for e=bZ+1,#k,7 do f=F(A(f,10000000),k:sub(e,e+6)+0) end return f end
local function ee(k) if#k>1 and k:byte()==48 then return nil
elseif#k<20 or(#k==20 and not bP('18446744073709551615',k))then return bY(k) end end local function gE(q)
local k=ak(q,'^:(%d+)$') local Z=k and ee(k) return Z and Z~=0 and not ca(Z)and Z or nil end local function gM(j)
local u,n,p,e=j.k,j.i,j.a,j.at local i='L:'..aH(u)..':'..aH(n)..':'..aH(p)..':'..aH(e)
return j.d==0 and i or i..':'..aH(j.d) end local function gR(i,v,hs)
local ii={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local dN=ii[ak(i,'^(%u):')] if not dN or dN==v then
O(hs) end aa('ERR the key holds a state of '..dN..': use another key for each algorithm') end local function gN(as)
if type(as)=='table'then return as elseif C(as,'^%u+ ')then return redis.error_reply(as) end error(as,0) end
local function ax(f) if f-f~=0 then return f end local k,S={},0 while f>0 do local T=f%(2^24) S=S+1 k[S]=T
f=(f-T)/(2^24) end return k end local function bc(k) local S=#k while S>0 and k[S]==0 do k[S]=nil S=S-1 end
if S>3 or(S==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,bp) end
return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function eb(c,d) local dQ,gz=c-c==0,d-d==0
if dQ or gz then return dQ elseif#c~=#d then return#c<#d end for f=#c,1,-1 do if c[f]~=d[f]then return c[f]<d[f] end end
return false end local function gx(c,d) c,d=ax(c),ax(d) local aS,ao={},0 for f=1,math.max(#c,#d)+1 do
local T=(c[f]or 0)+(d[f]or 0)+ao ao=T>=(2^24)and 1 or 0 aS[f]=T-ao*(2^24) end return bc(aS) end local function hP(c,d)
if not eb(d,c)then return 0 end d=ax(d) local dU,bO={},0 for f=1,#c do local T=c[f]-(d[f]or 0)-bO bO=T<0 and 1 or 0
dU[f]=T+bO*(2^24) end return bc(dU) end local function hk(c,d) c,d=ax(c),ax(d) local bh={} for f=1,#c+#d do bh[f]=0 end
for f=1,#c do local ao=0 for cc=1,#d do local T=bh[f+cc-1]+c[f]*d[cc]+ao ao=math.floor(T/(2^24)) bh[f+cc-1]=T-ao*(2^24)
end bh[f+#d]=ao end return bc(bh) end local function dR(f) if f-f==0 then return f end local aS=0 for gX=#f,1,-1 do
aS=aS*(2^24)+f[gX] end return aS end local function gL(c,d) local aQ=0 while not D(c,d)do
local n=math.max(1,math.floor(dR(c)/dR(d)*(1-2^-45))) n=bc(ax(n)) aQ=F(aQ,n) c=au(c,A(n,d)) end return aQ,c end
local function hR(f) local cM='' while f-f~=0 do local q f,q=bb(f,10000000) cM=m('%07.0f',q)..cM end
return m('%.0f',f)..cM end local function gP(s,ce) local ea=y('PTTL',s) return ea>=0 and ce+ea or nil end
local function hj(z,hm,M) if z-z~=0 then O('INEXACT_STATE') end local bf=au(z,au(hm,M)) bf=D(bf,M)and M or bf
return bf~=z and bf or nil end local function bV(i,aN) if i~='0'and not C(i,'^[1-9]%d*$')then return nil end
return(#i<#aN or(#i==#aN and not bP(aN,i)))and i or nil end local function ed(aO,i,dZ)
local k=i and bV(i,'9223372036854775807') local f=k and bY(k) if not f or f==0 and dZ>0 then
aa(m('ERR invalid %s: expected an integer from %d to 9223372036854775807',aO,dZ)) elseif f-f~=0 then
aa(m('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aO)) end return f end local dP={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aA(hf,v)
return not C(v,' ',1,true)and C(hf,' '..v..' ',1,true)~=nil end local function ep(a,o)
return not aA(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',o)or aA((' COST PARTIAL BURST '),o)
end local function ha(v,o) local U,L=0,0 local em,hh=math.min(#v,#o),math.max(#v,#o)
while U<em and v:byte(U+1)==o:byte(U+1)do U=U+1 end while L<em-U and v:byte(-1-L)==o:byte(-1-L)do L=L+1 end
return U+L>=2 and hh-U-L<=2 end local function gS(a,K,v) local aC={} for ah,N in ipairs(dP)do
if aA(K,N[1])and ep(a,N[1])then aC[#aC+1]=N[2] end end for ah,az in ipairs({'FULL','LINE','HEADERS'})do aC[#aC+1]=az end
for ah,o in ipairs(aC)do if ha(v:upper(),ak(o,'^%u+'))then aa('ERR syntax error: no such option, but there is '..o) end
end local L=table.remove(aC) local hU=table.concat(aC,', ')
aa('ERR syntax error: after limit come '..hU..' or '..L..', each at most once') end local function hG(N,a,K)
local o,ij=N[1],a.ae if not aA(K,o)then aa(m('ERR invalid %s: only %s it',o,N[3])) elseif not ep(a,o)then
aa(m('ERR invalid %s: %s takes none',o,('LEAKY'))) elseif a[o]~=nil then
aa(m('ERR syntax error: %s comes at most once',N[2])) end end local function hx(o,i,il) if o=='AS'then
return i and#i>=1 and#i<=64 and not C(i,'[^%w._-]')and i or O('AS') elseif o=='AT'then
local k=i and bV(i,'9223372036854775807') return k and be(bY(k),(bb(bN,1000)))or O('AT') end
return ed(o,i,o=='BURST'and 1 or 0) end local function hF(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
O(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
O(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local gu={FULL=true,LINE=true,HEADERS=true}
local function ho(az,ec) if az then O(az==ec and'FORM_TWICE'or'TWO_FORMS') end return ec end local function hv(a,w,e,K)
while w[e]do local v,N=w[e]:upper(),nil for ah,dY in ipairs(dP)do N=dY[1]==v and dY or N end if N then hG(N,a,K)
if N[2]==v then a[v]=true e=e+1 else a[v]=hx(v,w[e+1],w[e+2]) e=e+(v=='RESERVE'and 3 or 2) end hF(a)
elseif gu[v]and aA(K,'form')then a.form=ho(a.form,v) e=e+1 else return e end end return e end local function hy(i)
local ac,ae=ak(i,'^(%d+)(%l*)$') local bj=ac and ek(ae) local E=bj and bV(ac,'18446744073709551615')and ac*bj
return E and E>=1 and E<=1e15 and E or nil end
local gv={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function ig(a,i) local p=hy(i)
if not p then a.ac=i:upper() p=gv[a.ac] if not p then
O(aA((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aA((' COST PARTIAL BURST '),'ANCHOR')then
aa(m('ERR invalid window: %s takes no windows of the calendar',('LEAKY'))) end end return p end local function gV(s)
return s:sub(-9)==':reserved'or s:sub(-14)==':reserved:ends' end local function hH(s) if gV(s)then O('RESERVED_KEY') end
end local function gD(a) local hq=a.PARTIAL and a.h<a.g a.p=a.SHADOW and not a.t and(hq or not a.allowed)
if not a.allowed and(a.p or a.t)then a.allowed=true if not(nil)then local ah,ah,ah,cK=br(a) a.ttl=aG(cK) end end end
local function hD(a) bX(a,'keep',a.j) return a.remaining end local function ht(a,ah,l) if l==0 or a.limit==0 then
return'keep' end local aF=F(cJ(a,a.j),A(l,a.e)) if D(A(bM,a.e),aF)then O('OVERFLOW') end local ba,n=bb(aF,a.e)
local aN=n==0 and a.b or a.b-1 local u,Z=be(ba,aN),au(ba,aN) return'charge',{k=u,i=n,a=a.a,at=a.o,d=Z} end
local function hO(x,R,G) if x=='keep'then return G end return x~='delete'and R or nil end local function hn(l)
return l==0 and 1 or l end local function gF(a) local l=a.g bT(a,0) local x,R=ht(a,nil,l) if l>0 then a.c,a.f=x,R end
local en=hO(a.c,a.f,a.j) bX(a,a.c,en) a.allowed=a.b>0 and t(a,0)==0 a.w=a.b>0 and l or hn(l) if(nil)then
a.count,a.ttl=(nil)(en,a.now_ms) elseif a.allowed then a.ttl=aG(ay(t(a,a.b))) else local t=t(a,a.w)
a.ttl=t and math.max(1,aG(ay(t)))or-1 end end local function gG(a) local l=a.g if a.PARTIAL then l=math.min(l,hD(a)) end
a.h=l if a.ALWAYS then gF(a) else bT(a,l) end end local function gB(a,x,R) dT(a,x,R) end local function gC(a,aL)
if not aL and a.c=='charge'then a.c,a.f='keep',nil end gB(a,a.c,a.f) end local function ef(a)
return a.t and a.t.g or a.p and a.g or a.h end local function dW(a) if not a.allowed then return 0 end
return a.PARTIAL and ef(a)or 1 end local function gU(a,ap) local al,hJ,ab,cK,gK=br(a) return{ 'allowed',dW(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',al, 'retry_after_ms',hJ, 'next_ms',ab, 'reset_ms',cK,
'delay_ms',gK, 'now_ms',a.now_ms, 'shadow',a.p and 1 or 0, 'charged',ap, } end local function hl(bi) local eo={}
for ah,a in ipairs(bi)do local U,ac=a.AS or('LEAKY'):lower(),2 a.l=U while eo[a.l]do a.l=m('%s-%d',U,ac) ac=ac+1 end
eo[a.l]=true end end local function bt(f) return m('%.0f',be(f,999999999999999)) end local function hB(a)
local p=(nil)and(nil)(a)or a.a local bW,q=1000,p%1000 while q>0 do bW,q=q,bW%q end local gq=1000/bW
local Q=bb(A(p,gq),1000) return m('"%s";q=%s;w=%s',a.l,bt(A(a.limit,gq)),bt(Q)) end local function hc(bu,cf)
if bu.allowed~=cf.allowed then return not bu.allowed end local t,cg=bu.retry_after_ms,cf.retry_after_ms if t~=cg then
return t<0 or(cg>=0 and t>cg) end return bu.remaining<cf.remaining end local function gW(bi) local cL,eh=bi[1],{} hl(bi)
for f,a in ipairs(bi)do eh[f]=hB(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=br(a) if hc(a,cL)then cL=a end end
local a=cL local bk={ 'X-RateLimit-Limit', m('%.0f',a.b), 'X-RateLimit-Remaining', m('%.0f',a.remaining), }
local function bs(aO,aK) bk[#bk+1]=aO bk[#bk+1]=aK end if a.reset_ms>=0 then
bs('X-RateLimit-Reset',m('%.0f',aG(a.now_ms+a.reset_ms))) end bs('RateLimit-Policy',table.concat(eh,', '))
local hi=a.next_ms>=0 and';t='..bt(aG(a.next_ms))or'' bs('RateLimit',m('"%s";r=%s%s',a.l,bt(a.remaining),hi))
if not a.allowed and a.retry_after_ms>=0 then bs('Retry-After',m('%.0f',aG(a.retry_after_ms))) end return bk end
local function hr(a,ap) if a.form=='FULL'then return gU(a,ap) end return{dW(a),a.count,a.ttl,gW({a})} end
bL={z=gx,A=gC,B=gD,D=gE,E=gG,F=ax,u=gL,G=gM,error_reply=gN,H=gP,m=O,I=gR,J=gS,K=bc,N=gY,P=gZ,Q=eb,S=hj,v=hk,x=hp,U=hr,V=ed,r=ee,W=hv,y=ef,Y=hH,Z=hI,aa=hP,ab=hR,ad=ig}
end return bL end if as then return h().error_reply(as) end local bq,aR=pcall(hK,KEYS,ARGV)
return bq and aR or h().error_reply(aR) end local function gT(dO,ag)
local C,ak,m,y=string.find,string.match,string.format,redis.call if m('%d',2^40)~='1099511627776'then return end
local bg local fa=ag[1] local bE=ag[2] local bF=ag[3] if not bE then return end local bl=ag[4] local cv local H local ad
if(bF=='LINE')and(not bl)then cv=4 H=1 ad='LINE' else local cs local ct local cu if bF then if bl then
if not(((((ag[5]=='LINE')and(not ag[6]))and((#bl)<16))and(bF=='COST'))and C(bl,'^[1-9]%d*$'))then return end cs=6
ct=bl+0 cu='LINE' else if(((ag[5]=='LINE')and(not ag[6]))and(bF=='COST'))and C('','^[1-9]%d*$')then return end return
end else cs=3 ct=1 cu=nil end cv=cs H=ct ad=cu end if not(((#bE)<16)and C(bE,'^[1-9]%d*$'))then return end local b=bE+0
local fb,aT=ak(fa,'^([1-9]%d*)(%l*)$') if fb then if(#fa)<16 then
local db=(aT=='')and 1000 or((aT=='ms')and 1 or((aT=='s')and 1000 or((aT=='m')and 60000 or((aT=='h')and 3.6e6 or((aT=='d')and 8.64e7 or nil)))))
local am=db and(fb*db)or db if(not am)or((am<1)or(1e15<am))then return end if not(am<9e12)then return end
local g=am*1000 if not((b*g)<2^53)then return end local I=b*g local hY=ag[cv] if hY then return end local fc=y('TIME')
local J=(fc[1]*1e6)+fc[2] local bG=(J-(J%1000))/1000 local an=dO[1] if not an then return end
if C(an,':reserved',1,true)then return end if not((#dO)==1)then return end local dc=y('GET',an) if dc then
local dd,fd,fe,ff,hZ=ak(dc,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not dd then return else if C(dc,':0%d')then return else
local af=((#ff)<17)and(ff+0) if not((#dd)<16)then return end if not((#fd)<16)then return end if not((#fe)<16)then return
end if af then if not(af<9e15)then return end local fg=dd+0 local bH=fd+0 local bI=fe+0 if not((1<=bI)and(bI<=1e15))then
return else if not(hZ=='')then return end if(bI*1000)<=bH then return end if(not(bI==am))and(not(bH==0))then return end
if not((fg*g)<2^53)then return end local aU=fg*g if not((aU+bH)<2^53)then return end local aV=aU+bH
local X=(I<aV)and I or aV local fh=(af<J)and(J-af)or 0 if not((fh*b)<2^53)then return end local de=fh*b
local B=(de<X)and(X-de)or 0 if not((H*g)<2^53)then return end local fi=H*g if not((B+fi)<2^53)then return end
local bJ=B+fi local Y=B%g local aW=(B-Y)/g local aD if Y==0 then aD=aW else if not((aW+1)<2^53)then return end aD=aW+1
end if 2^53<=aD then return end if not(I<bJ)then if not((aW+H)<2^53)then return end local av=aW+H local fj=bJ%b
local df=(fj==0)and(bJ/b)or(((bJ-fj)/b)+1) local fk=df%1e6 local dg=(fk==0)and(df/1e6)or(((df-fk)/1e6)+1)
if 2^53<=dg then return end local fr=B%b local bK=(fr==0)and(B/b)or(((B-fr)/b)+1) local cA if ad=='LINE'then local cz
if not((av*g)<2^53)then return end local fs=av*g if not((fs+Y)<2^53)then return end local ft=fs+Y
local fu=(I<ft)and I or ft local aJ=(0<fu)and fu or 0 local fv=aJ%g local fw=(fv==0)and(aJ/g)or(((aJ-fv)/g)+1)
local dk=(fw<b)and(b-fw)or 0 local cy local bz if dk<b then local fx=dk+1 local cw local dl=b-fx if dl<0 then cw=nil
else if not((dl*g)<2^53)then return end local fy=dl*g local dm=(fy<aJ)and(aJ-fy)or 0 local fz=dm%b
local dn=(fz==0)and(dm/b)or(((dm-fz)/b)+1) local fA=dn%1000 cw=(fA==0)and(dn/1000)or(((dn-fA)/1000)+1) end
local fB=cw or(-1) local cx if fx==b then cx=fB else local dp=(0<aJ)and aJ or 0 local fC=dp%b
local dq=(fC==0)and(dp/b)or(((dp-fC)/b)+1) local fD=dq%1000 cx=(fD==0)and(dq/1000)or(((dq-fD)/1000)+1) end cy=fB bz=cx
else cy=0 bz=0 end if 2^53<=bz then return end if not(bK==0)then local fE=bK%1000
local fF=(fE==0)and(bK/1000)or(((bK-fE)/1000)+1) if 2^53<=fF then return end cz=fF else cz=0 end
local ib=m('1 %d %d %d %d 0 %d %d %d %d 0 %d',aD,dg,b,dk,cy,bz,cz,bG,H) cA=ib else if ad then return end cA={1,aD,dg}
end local aP if not redis.REDIS_VERSION_NUM then return end local fG=y('PEXPIRETIME',an) local bm=(0<=fG)and fG or nil
if bm then if 2^53<=bm then return end if not((av*g)<2^53)then return end local fH=av*g if not((fH+Y)<2^53)then return
end local fI=fH+Y local dr=(I<fI)and I or fI local fJ=dr%b local fK=(fJ==0)and(dr/b)or(((dr-fJ)/b)+1)
if not((J+fK)<2^53)then return end local ds=J+fK local fL=ds%1000 local dt=(fL==0)and(ds/1000)or(((ds-fL)/1000)+1)
if not((dt+5000)<2^53)then return end local du=dt+5000 if bm<dt then aP=du else local cB if not(du<bm)then cB=true else
if not(aU<2^53)then return end if not(aV<2^53)then return end local fM=X%b local fN=(fM==0)and(X/b)or(((X-fM)/b)+1)
if not((af+fN)<2^53)then return end local dv=af+fN local fO=dv%1000 local fP=(fO==0)and(dv/1000)or(((dv-fO)/1000)+1)
if not((fP+5000)<2^53)then return end cB=(fP+5000)<bm end if cB then aP=nil else aP=du end end else
if not((av*g)<2^53)then return end local fQ=av*g if not((fQ+Y)<2^53)then return end local fR=fQ+Y
local dw=(I<fR)and I or fR local fS=dw%b local fT=(fS==0)and(dw/b)or(((dw-fS)/b)+1) if not((J+fT)<2^53)then return end
local dx=J+fT local fU=dx%1000 if not((((fU==0)and(dx/1000)or(((dx-fU)/1000)+1))+5000)<2^53)then return end return end
if aP then local cC if aP==0 then cC='1' else local ic=m('%d',aP) cC=ic end
local io=y('SET',an,m('L:%d:%d:%d:%d',av,Y,am,J),'PXAT',cC) else
local ip=y('SET',an,m('L:%d:%d:%d:%d',av,Y,am,J),'KEEPTTL') end bg=cA else if J<af then return end
local fl=(Y==0)and(B/g)or(aW+1) local dh=(fl<b)and(b-fl)or 0 local ar local aX=b-H if aX<0 then ar=nil else
if not((aX*g)<2^53)then return end local fm=aX*g local di=(fm<B)and(B-fm)or 0 local fn=di%b
local dj=(fn==0)and(di/b)or(((di-fn)/b)+1) local fo=dj%1000 ar=(fo==0)and(dj/1000)or(((dj-fo)/1000)+1) end local by
if ar then if 2^53<=ar then return end local fp=ar%1000
local ia=(ar<0)and(-1)or((fp==0)and(ar/1000)or(((ar-fp)/1000)+1)) by=ia else by=-1 end local fq=(by==0)and 1 or by
local cH if ad=='LINE'then if not(aU<2^53)then return end if not(aV<2^53)then return end if not(de<2^53)then return end
local cD if aX<0 then cD=nil else if not((aX*g)<2^53)then return end local fV=aX*g local dy=(fV<B)and(B-fV)or 0
local fW=dy%b local dz=(fW==0)and(dy/b)or(((dy-fW)/b)+1) local fX=dz%1000 cD=(fX==0)and(dz/1000)or(((dz-fX)/1000)+1) end
local fY=cD or(-1) local cG local bA if dh<b then local fZ=dh+1 local cE local dA=b-fZ if dA<0 then cE=nil else
if not((dA*g)<2^53)then return end local ga=dA*g local dB=(ga<B)and(B-ga)or 0 local gb=dB%b
local dC=(gb==0)and(dB/b)or(((dB-gb)/b)+1) local gc=dC%1000 cE=(gc==0)and(dC/1000)or(((dC-gc)/1000)+1) end
local gd=cE or(-1) local cF if fZ==b then cF=gd else local dD=(0<B)and B or 0 local ge=dD%b
local dE=(ge==0)and(dD/b)or(((dD-ge)/b)+1) local gf=dE%1000 cF=(gf==0)and(dE/1000)or(((dE-gf)/1000)+1) end cG=gd bA=cF
else cG=0 bA=0 end if(2^53<=fY)or(2^53<=bA)then return end
local id=m('0 %d %d %d %d %d %d %d 0 %d 0 0',aD,fq,b,dh,fY,cG,bA,bG) cH=id else if ad then return end cH={0,aD,fq} end
local bB if not redis.REDIS_VERSION_NUM then return end local gg=y('PEXPIRETIME',an) local dF=(0<=gg)and gg or nil
if dF then if 2^53<=dF then return end if not(aU<2^53)then return end if not(aV<2^53)then return end local gh=X%b
local gi=(gh==0)and(X/b)or(((X-gh)/b)+1) if not((af+gi)<2^53)then return end local dG=af+gi local gj=dG%1000
local dH=(gj==0)and(dG/1000)or(((dG-gj)/1000)+1) local cI if dF<dH then if not((dH+5000)<2^53)then return end cI=dH+5000
else cI=nil end bB=cI else if not(aU<2^53)then return end if not(aV<2^53)then return end local gk=X%b
if not((af+((gk==0)and(X/b)or(((X-gk)/b)+1)))<2^53)then return end bB=nil end if bB then local ie=m('%d',bB)
local iq=y('PEXPIREAT',an,ie) end bg=cH end end else return end end end else if not((H*g)<2^53)then return end
local bn=H*g if not(bn<2^53)then return end local aw=0%g local aY=(0-aw)/g local aE if aw==0 then aE=aY else
if not((aY+1)<2^53)then return end aE=aY+1 end if 2^53<=aE then return end if not(I<bn)then if not((aY+H)<2^53)then
return end local bo=aY+H local gl=bn%b local dI=(gl==0)and(bn/b)or(((bn-gl)/b)+1) local gm=dI%1e6
local dJ=(gm==0)and(dI/1e6)or(((dI-gm)/1e6)+1) if 2^53<=dJ then return end local et=0%b
local bD=(et==0)and(0/b)or(((0-et)/b)+1) local cl if ad=='LINE'then local ck if not((bo*g)<2^53)then return end
local eu=bo*g if not((eu+aw)<2^53)then return end local ev=eu+aw local ew=(I<ev)and I or ev local aI=(0<ew)and ew or 0
local ex=aI%g local ey=(ex==0)and(aI/g)or(((aI-ex)/g)+1) local cN=(ey<b)and(b-ey)or 0 local cj local bw if cN<b then
local ez=cN+1 local ch local cO=b-ez if cO<0 then ch=nil else if not((cO*g)<2^53)then return end local eA=cO*g
local cP=(eA<aI)and(aI-eA)or 0 local eB=cP%b local cQ=(eB==0)and(cP/b)or(((cP-eB)/b)+1) local eC=cQ%1000
ch=(eC==0)and(cQ/1000)or(((cQ-eC)/1000)+1) end local eD=ch or(-1) local ci if ez==b then ci=eD else
local cR=(0<aI)and aI or 0 local eE=cR%b local cS=(eE==0)and(cR/b)or(((cR-eE)/b)+1) local eF=cS%1000
ci=(eF==0)and(cS/1000)or(((cS-eF)/1000)+1) end cj=eD bw=ci else cj=0 bw=0 end if 2^53<=bw then return end
if not(bD==0)then local eG=bD%1000 local eH=(eG==0)and(bD/1000)or(((bD-eG)/1000)+1) if 2^53<=eH then return end ck=eH
else ck=0 end local hW=m('1 %d %d %d %d 0 %d %d %d %d 0 %d',aE,dJ,b,cN,cj,bw,ck,bG,H) cl=hW else if ad then return end
cl={1,aE,dJ} end if not((bo*g)<2^53)then return end local eI=bo*g if not((eI+aw)<2^53)then return end local eJ=eI+aw
local cT=(I<eJ)and I or eJ local eK=cT%b local eL=(eK==0)and(cT/b)or(((cT-eK)/b)+1) if not((J+eL)<2^53)then return end
local cU=J+eL local eM=cU%1000 local eN=(eM==0)and(cU/1000)or(((cU-eM)/1000)+1) if not((eN+5000)<2^53)then return end
local eO=eN+5000 local cm if eO==0 then cm='1' else cm=m('%d',eO) end
local im=y('SET',an,m('L:%d:%d:%d:%d',bo,aw,am,J),'PXAT',cm) bg=cl else local gn=(aw==0)and(0/g)or(aY+1)
local dK=(gn<b)and(b-gn)or 0 local aq local aZ=b-H if aZ<0 then aq=nil else if not((aZ*g)<2^53)then return end
local go=aZ*g local dL=(go<0)and(0-go)or 0 local gp=dL%b local dM=(gp==0)and(dL/b)or(((dL-gp)/b)+1) local eq=dM%1000
aq=(eq==0)and(dM/1000)or(((dM-eq)/1000)+1) end local bv if aq then if 2^53<=aq then return end local er=aq%1000
local hV=(aq<0)and(-1)or((er==0)and(aq/1000)or(((aq-er)/1000)+1)) bv=hV else bv=-1 end local es=(bv==0)and 1 or bv
local cr if ad=='LINE'then local cn if aZ<0 then cn=nil else if not((aZ*g)<2^53)then return end local eP=aZ*g
local cV=(eP<0)and(0-eP)or 0 local eQ=cV%b local cW=(eQ==0)and(cV/b)or(((cV-eQ)/b)+1) local eR=cW%1000
cn=(eR==0)and(cW/1000)or(((cW-eR)/1000)+1) end local eS=cn or(-1) local cq local bx if dK<b then local eT=dK+1 local co
local cX=b-eT if cX<0 then co=nil else if not((cX*g)<2^53)then return end local eU=cX*g local cY=(eU<0)and(0-eU)or 0
local eV=cY%b local cZ=(eV==0)and(cY/b)or(((cY-eV)/b)+1) local eW=cZ%1000 co=(eW==0)and(cZ/1000)or(((cZ-eW)/1000)+1) end
local eX=co or(-1) local cp if eT==b then cp=eX else local eY=0%b local da=(eY==0)and(0/b)or(((0-eY)/b)+1)
local eZ=da%1000 cp=(eZ==0)and(da/1000)or(((da-eZ)/1000)+1) end cq=eX bx=cp else cq=0 bx=0 end
if(2^53<=eS)or(2^53<=bx)then return end local hX=m('0 %d %d %d %d %d %d %d 0 %d 0 0',aE,es,b,dK,eS,cq,bx,bG) cr=hX else
if ad then return end cr={0,aE,es} end bg=cr end end else return end else return end return bg end
local bq,aR=pcall(gT,KEYS,ARGV) if bq and aR then return aR end return hN(not bq and aR)
