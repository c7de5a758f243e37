-- RL.TOKEN, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function hD(as) local bJ,h local B,m,ak,hZ=string.find,string.format,string.match,string.sub local function eg(ae)
return ae==''and 1000 or ae=='ms'and 1 or ae=='s'and 1000 or ae=='m'and 60000 or ae=='h'and 3600000
or ae=='d'and 86400000 or nil end local function A(c,d) if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end
return h().v(c,d) end local function ee(a) a.n=A(a.b,a.e) if a.n-a.n~=0 then h().Z(a) end end local function hm(w,e,J)
local Q,V,o=w[e],w[e+1],w[e+2] if not V then h().m('ARITY') end local a={ q='', o=0, now_ms=0, a=0, e=0, limit=0, b=0,
g=1, form=nil, s=0, j=nil, f=nil, allowed=false, count=0, ttl=0, c='keep', remaining=0, h=1, } e=e+2
if o=='LINE'and not w[e+1]and J~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=o,e+1 elseif o then
local aK=w[e+1]or''
local dT=J==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and w[e+2]=='LINE'and not w[e+3]and#aK<16
if dT and o=='COST'and(' COST PARTIAL BURST ALWAYS ')~=' ID 'and B(aK,'^[1-9]%d*$')then a.form,a.g,e='LINE',aK+0,e+3
elseif dT and o=='ID'and(' COST PARTIAL BURST ALWAYS ')==' ID 'and aK~=''then a.form,a.ID,e='LINE',aK,e+3 else
e=h().W(a,w,e,J) a.g=a.COST or 1 end end local gR=#V<16 and B(V,'^[1-9]%d*$') a.limit=gR and V+0 or h().V('limit',V,0)
local ac,ae=ak(Q,'^([1-9]%d*)(%l*)$') local bj=ac and#Q<16 and eg(ae) local p=bj and ac*bj
if not p or p<1 or p>1e15 then p=h().ad(a,Q) end a.a,a.e,a.b=p,p<9e12 and p*1000 or h().v(p,1000),a.BURST or a.limit
if ee then ee(a) end return a,e end local function hk(w,J) local a,e=hm(w,1,J) if w[e]then h().J(a,J,w[e]) end return a
end local y=redis.call local function hs(a) local P=y('TIME') local aB=P[1]*1000000+P[2]
a.o,a.now_ms=aB,(aB-aB%1000)/1000 end local function hG(a,aM,e,gh,bZ) local s=aM[e] if not s then h().m('KEYS') end
a.q,e=s,e+1 if bZ then a.l=s elseif B(s,':reserved',1,true)then h().Y(s) end return e end local function hq(a,aM,gh,bZ)
hs(a) if#aM~=hG(a,aM,1,gh,bZ)-1 then h().m('KEYS') end end local function hW(i,hp) local c,d,bO,bQ,q=ak(i,hp)
if not c then return nil elseif B(i,':0%d')then return nil end local K=#bQ<17 and bQ+0 return#c<16 and c+0 or h().r(c),
#d<16 and d+0 or h().r(d), #bO<16 and bO+0 or h().r(bO), K and K<9e15 and K or h().r(bQ), q end local function gT(D)
return D and D-D==0 and D>=1 and D<=1e15 end local function gy(i)
local u,n,p,e,q=hW(i,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not gT(p)or not u or not n or not e then return nil end
local Z=0 if q~=''then Z=h().D(q) if not Z then return nil end end if u-u~=0 or e-e~=0 or n-n~=0 or n>=p*1000 then
if h().P(u,n,p,e)then return nil end end return{k=u,i=n,a=p,at=e,d=Z} end local function gW(a) local i=y('GET',a.q)
if i then a.j=gy(i)or h().I(i,('TOKEN'),'FOREIGN_VALUE') end end local function au(c,d) if c-c==0 and d-d==0 then
return c>d and c-d or 0 end return h().aa(c,d) end local function E(c,d) if c-c==0 and d-d==0 and c+d<(2^53)then
return c+d end return h().z(c,d) end local function ai(c,d) if c-c==0 and d-d==0 then local q=c%d
return q==0 and c/d or(c-q)/d+1 end local aQ,q=h().u(c,d) return q==0 and aQ or E(aQ,1) end local function C(c,d)
if c-c==0 and d-d==0 then return c<d end return h().Q(c,d) end local function be(c,d) return C(d,c)and d or c end
local function ec(a,j) local n,Q,u=j.i,a.e,j.k if j.a~=a.a and n~=0 then n=ai(A(n,Q),A(j.a,1000)) end
u=be(E(A(u,Q),n),a.n) return j.d==0 and u or E(u,A(j.d,Q)) end local function cF(a,j) if not j then return 0 end
return au(ec(a,j),A(au(a.o,j.at),a.limit)) end local function bb(c,d) if c-c==0 and d-d==0 then local q=c%d
return(c-q)/d,q end return h().u(c,d) end local function ay(f) if f-f~=0 or f>=(2^53)then h().m('INEXACT_REPLY') end
return f end local function bC(a,aF) local P=ai(aF,a.limit) return P-P==0 and P or h().x(P) end local function eh(a,aF)
a.X=aF a.remaining=a.limit==0 and 0 or au(a.b,ai(aF,a.e)) end local function t(a,l) local V,ef=a.limit,a.b-l
if V==0 or ef<0 then return nil end local P=ai(au(a.X,A(ef,a.e)),V) if P-P~=0 and h().N(E(P,a.o))then return nil end
return ai(P,1000) end local function aG(D) local q=D%1000 return D<0 and-1 or q==0 and D/1000 or(D-q)/1000+1 end
local function hJ(a,l) local t=t(a,l==0 and 1 or l) t=t and aG(ay(t))or-1 return t==0 and 1 or t end
local function bR(a,l) local j,V,Q,aB=a.j,a.limit,a.e,a.o local F=cF(a,j) local L=E(F,A(l==0 and 1 or l,Q))
local aL=V>0 and not C(a.n,L) local ba,n=bb(F,Q) a.allowed,a.count,a.c=aL,ay(n==0 and ba or E(ba,1)),'keep'
if aL and l>0 then a.c='charge' a.f={k=E(ba,l),i=n,a=a.a,at=aB,d=0} a.ttl=ay(ai(bC(a,L),1000000)) else
if j and V>0 and C(aB,j.at)then a.c='rebase' a.f={k=j.k,i=j.i,a=j.a,at=aB,d=j.d} end if aL then
a.ttl=ay(ai(bC(a,F),1000000)) else eh(a,F) a.ttl=hJ(a,l) end end a.s=false and aL and bC(a,F)or 0 end
local function gx(a) if a.PARTIAL or a.ALWAYS then h().E(a) else local l=a.g a.h=l bR(a,l) end if a.SHADOW then h().B(a)
end end local function bV(a,ah,j) eh(a,cF(a,j)) end local function br(a) local x,t=a.c,t
bV(a,x,x=='keep'and a.j or x~='delete'and a.f or nil) local al,bP,W,ab,at=a.remaining,a.b,0,0,0 if not a.allowed then
local l=a.h W=t(a,a.w or(l==0 and 1 or l))or-1 if a.M and W>=0 then W=math.max(W,a.M) end end if al<bP then
ab=t(a,al+1)or-1 at=al+1==bP and ab or t(a,bP)or-1 end if W-W~=0 or ab-ab~=0 or at-at~=0 or W>=(2^53)or at>=(2^53)then
h().m('INEXACT_REPLY') end if a.s~=0 then return al,W,ab,at,ay(ai(a.s,1000)) end return al,W,ab,at,0 end
local function gU(a,ap) local al,W,ab,at,gz=br(a) local hC=a.p and 1 or 0 return m(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl,a.b,al,W,ab,at, gz,a.now_ms,hC,ap ) end
local function hu(a,ap) local az=a.form if az=='LINE'then return gU(a,ap) elseif az then return h().U(a,ap) end
return{a.allowed and(a.PARTIAL and h().y(a)or 1)or 0,a.count,a.ttl} end local function gq(a) if a.c~='charge'then
return 0 elseif a.ALWAYS then return a.h elseif not a.allowed or(a.p and not a.PARTIAL)then return 0 end return a.h end
local function aj(a,j) local e=j.at if a.limit>0 then e=E(e,bC(a,ec(a,j))) e=e-e==0 and e or h().x(e) end
return ai(e,1000) end local function gG(s,cc) if not redis.REDIS_VERSION_NUM then return h().H(s,cc) end
local e=y('PEXPIRETIME',s) return e>=0 and e or nil end local function gE(a,x,R) local F,bS=a.j,true
if x=='keep'and(not F or not bS)then return nil end local z=F and gG(a.q,a.now_ms) if z and z>=(2^53)then
z=h().K(h().F(z)) end if x=='keep'then local L=aj(a,F) return z and C(z,L)and E(L,5000)or nil end local L=aj(a,R)
local bd=E(L,5000) if not F then return bd elseif not z then return bd end if bS and x=='rebase'then
return h().S(z,aj(a,F),L) elseif C(z,L)then return bd elseif not C(bd,z)or(bS and C(E(aj(a,F),5000),z))then return nil
end return bd end local function aH(f) if f-f~=0 then return h().ab(f) end return m('%.0f',f) end
local function hB(s,dO) if dO then y('PEXPIREAT',s,aH(dO)) end end local function dR(j) local u,n,p,e=j.k,j.i,j.a,j.at
if j.d~=0 or u-u~=0 or n-n~=0 or e-e~=0 then return h().G(j) end return m('T:%.0f:%.0f:%.0f:%.0f',u,n,p,e) end
local function dP(a,x,R) local s=a.q if x=='delete'then y('UNLINK',s) return end local aj=gE(a,x,R) if x=='keep'then
hB(s,aj) elseif aj then y('SET',s,dR(R),'PXAT',aj==0 and'1'or aH(aj)) else y('SET',s,dR(R),'KEEPTTL') end end
local function hA(aM,w) local a=hk(w,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
hq(a,aM,a.RESERVE) gW(a,'write') gx(a) local go=hu(a,gq(a)) if a.SHADOW or a.RESERVE then h().A(a,true) else
dP(a,a.c,a.f) end return go end function h() if not bJ then local r={}
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
return 1 end, } local bL=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bp) local function hf(cb) return be(cb,bL) end
local function gO(cb) return C(bL,cb) end local gm=setmetatable({6553600,11973543,3552},bp) local function aa(i)
error({err=i},0) end local function O(aO) aa(r[aO]) end local function hy(a) if a.limit>0 and C(A(a.limit,gm),a.n)then
O('SPAN') end end local bK=setmetatable({(2^24)-1,(2^24)-1,2^15-1},bp) local function bY(f) return C(bK,f) end
local function gP(u,n,p,e) local hI=bY(u)or(not C(u,bK)and n~=0) return hI or bY(e)or not C(n,A(p,1000)) end
local function bN(c,d) for e=1,math.min(#c,#d)do local gi,gj=c:byte(e),d:byte(e) if gi~=gj then return gi<gj end end
return#c<#d end local function bW(k) if#k<=15 or(#k==16 and bN(k,'9007199254740992'))then return k+0 end local bX=#k%7
local f=bX>0 and k:sub(1,bX)+0 or 0 for e=bX+1,#k,7 do f=E(A(f,10000000),k:sub(e,e+6)+0) end return f end
local function ea(k) if#k>1 and k:byte()==48 then return nil
elseif#k<20 or(#k==20 and not bN('18446744073709551615',k))then return bW(k) end end local function gu(q)
local k=ak(q,'^:(%d+)$') local Z=k and ea(k) return Z and Z~=0 and not bY(Z)and Z or nil end local function gC(j)
local u,n,p,e=j.k,j.i,j.a,j.at local i='T:'..aH(u)..':'..aH(n)..':'..aH(p)..':'..aH(e)
return j.d==0 and i or i..':'..aH(j.d) end local function gH(i,v,hi)
local hX={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local dJ=hX[ak(i,'^(%u):')] if not dJ or dJ==v then
O(hi) end aa('ERR the key holds a state of '..dJ..': use another key for each algorithm') end local function gD(as)
if type(as)=='table'then return as elseif B(as,'^%u+ ')then return redis.error_reply(as) end error(as,0) end
local function ax(f) if f-f~=0 then return f end local k,S={},0 while f>0 do local T=f%(2^24) S=S+1 k[S]=T
f=(f-T)/(2^24) end return k end local function bc(k) local S=#k while S>0 and k[S]==0 do k[S]=nil S=S-1 end
if S>3 or(S==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,bp) end
return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function dX(c,d) local dM,gp=c-c==0,d-d==0
if dM or gp then return dM elseif#c~=#d then return#c<#d end for f=#c,1,-1 do if c[f]~=d[f]then return c[f]<d[f] end end
return false end local function gn(c,d) c,d=ax(c),ax(d) local aS,ao={},0 for f=1,math.max(#c,#d)+1 do
local T=(c[f]or 0)+(d[f]or 0)+ao ao=T>=(2^24)and 1 or 0 aS[f]=T-ao*(2^24) end return bc(aS) end local function hF(c,d)
if not dX(d,c)then return 0 end d=ax(d) local dQ,bM={},0 for f=1,#c do local T=c[f]-(d[f]or 0)-bM bM=T<0 and 1 or 0
dQ[f]=T+bM*(2^24) end return bc(dQ) end local function ha(c,d) c,d=ax(c),ax(d) local bh={} for f=1,#c+#d do bh[f]=0 end
for f=1,#c do local ao=0 for ca=1,#d do local T=bh[f+ca-1]+c[f]*d[ca]+ao ao=math.floor(T/(2^24)) bh[f+ca-1]=T-ao*(2^24)
end bh[f+#d]=ao end return bc(bh) end local function dN(f) if f-f==0 then return f end local aS=0 for gN=#f,1,-1 do
aS=aS*(2^24)+f[gN] end return aS end local function gB(c,d) local aQ=0 while not C(c,d)do
local n=math.max(1,math.floor(dN(c)/dN(d)*(1-2^-45))) n=bc(ax(n)) aQ=E(aQ,n) c=au(c,A(n,d)) end return aQ,c end
local function hH(f) local cI='' while f-f~=0 do local q f,q=bb(f,10000000) cI=m('%07.0f',q)..cI end
return m('%.0f',f)..cI end local function gF(s,cc) local dW=y('PTTL',s) return dW>=0 and cc+dW or nil end
local function gZ(z,hc,L) if z-z~=0 then O('INEXACT_STATE') end local bf=au(z,au(hc,L)) bf=C(bf,L)and L or bf
return bf~=z and bf or nil end local function bT(i,aN) if i~='0'and not B(i,'^[1-9]%d*$')then return nil end
return(#i<#aN or(#i==#aN and not bN(aN,i)))and i or nil end local function dZ(aO,i,dV)
local k=i and bT(i,'9223372036854775807') local f=k and bW(k) if not f or f==0 and dV>0 then
aa(m('ERR invalid %s: expected an integer from %d to 9223372036854775807',aO,dV)) elseif f-f~=0 then
aa(m('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aO)) end return f end local dL={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aA(gV,v)
return not B(v,' ',1,true)and B(gV,' '..v..' ',1,true)~=nil end local function el(a,o)
return not aA(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',o)or aA((' COST PARTIAL BURST ALWAYS '),o)
end local function gQ(v,o) local U,K=0,0 local ei,gX=math.min(#v,#o),math.max(#v,#o)
while U<ei and v:byte(U+1)==o:byte(U+1)do U=U+1 end while K<ei-U and v:byte(-1-K)==o:byte(-1-K)do K=K+1 end
return U+K>=2 and gX-U-K<=2 end local function gI(a,J,v) local aC={} for ah,M in ipairs(dL)do
if aA(J,M[1])and el(a,M[1])then aC[#aC+1]=M[2] end end for ah,az in ipairs({'FULL','LINE','HEADERS'})do aC[#aC+1]=az end
for ah,o in ipairs(aC)do if gQ(v:upper(),ak(o,'^%u+'))then aa('ERR syntax error: no such option, but there is '..o) end
end local K=table.remove(aC) local hK=table.concat(aC,', ')
aa('ERR syntax error: after limit come '..hK..' or '..K..', each at most once') end local function hw(M,a,J)
local o,hY=M[1],a.ae if not aA(J,o)then aa(m('ERR invalid %s: only %s it',o,M[3])) elseif not el(a,o)then
aa(m('ERR invalid %s: %s takes none',o,('TOKEN'))) elseif a[o]~=nil then
aa(m('ERR syntax error: %s comes at most once',M[2])) end end local function hn(o,i,ia) if o=='AS'then
return i and#i>=1 and#i<=64 and not B(i,'[^%w._-]')and i or O('AS') elseif o=='AT'then
local k=i and bT(i,'9223372036854775807') return k and be(bW(k),(bb(bL,1000)))or O('AT') end
return dZ(o,i,o=='BURST'and 1 or 0) end local function hv(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
O(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
O(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local gk={FULL=true,LINE=true,HEADERS=true}
local function he(az,dY) if az then O(az==dY and'FORM_TWICE'or'TWO_FORMS') end return dY end local function hl(a,w,e,J)
while w[e]do local v,M=w[e]:upper(),nil for ah,dU in ipairs(dL)do M=dU[1]==v and dU or M end if M then hw(M,a,J)
if M[2]==v then a[v]=true e=e+1 else a[v]=hn(v,w[e+1],w[e+2]) e=e+(v=='RESERVE'and 3 or 2) end hv(a)
elseif gk[v]and aA(J,'form')then a.form=he(a.form,v) e=e+1 else return e end end return e end local function ho(i)
local ac,ae=ak(i,'^(%d+)(%l*)$') local bj=ac and eg(ae) local D=bj and bT(ac,'18446744073709551615')and ac*bj
return D and D>=1 and D<=1e15 and D or nil end
local gl={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function hV(a,i) local p=ho(i)
if not p then a.ac=i:upper() p=gl[a.ac] if not p then
O(aA((' COST PARTIAL BURST ALWAYS '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aA((' COST PARTIAL BURST ALWAYS '),'ANCHOR')then
aa(m('ERR invalid window: %s takes no windows of the calendar',('TOKEN'))) end end return p end local function gL(s)
return s:sub(-9)==':reserved'or s:sub(-14)==':reserved:ends' end local function hx(s) if gL(s)then O('RESERVED_KEY') end
end local function gt(a) local hg=a.PARTIAL and a.h<a.g a.p=a.SHADOW and not a.t and(hg or not a.allowed)
if not a.allowed and(a.p or a.t)then a.allowed=true if not(nil)then local ah,ah,ah,cG=br(a) a.ttl=aG(cG) end end end
local function ht(a) bV(a,'keep',a.j) return a.remaining end local function hj(a,ah,l) if l==0 or a.limit==0 then
return'keep' end local aF=E(cF(a,a.j),A(l,a.e)) if C(A(bK,a.e),aF)then O('OVERFLOW') end local ba,n=bb(aF,a.e)
local aN=n==0 and a.b or a.b-1 local u,Z=be(ba,aN),au(ba,aN) return'charge',{k=u,i=n,a=a.a,at=a.o,d=Z} end
local function hE(x,R,F) if x=='keep'then return F end return x~='delete'and R or nil end local function hd(l)
return l==0 and 1 or l end local function gv(a) local l=a.g bR(a,0) local x,R=hj(a,nil,l) if l>0 then a.c,a.f=x,R end
local ej=hE(a.c,a.f,a.j) bV(a,a.c,ej) a.allowed=a.b>0 and t(a,0)==0 a.w=a.b>0 and l or hd(l) if(nil)then
a.count,a.ttl=(nil)(ej,a.now_ms) elseif a.allowed then a.ttl=aG(ay(t(a,a.b))) else local t=t(a,a.w)
a.ttl=t and math.max(1,aG(ay(t)))or-1 end end local function gw(a) local l=a.g if a.PARTIAL then l=math.min(l,ht(a)) end
a.h=l if a.ALWAYS then gv(a) else bR(a,l) end end local function gr(a,x,R) dP(a,x,R) end local function gs(a,aL)
if not aL and a.c=='charge'then a.c,a.f='keep',nil end gr(a,a.c,a.f) end local function eb(a)
return a.t and a.t.g or a.p and a.g or a.h end local function dS(a) if not a.allowed then return 0 end
return a.PARTIAL and eb(a)or 1 end local function gK(a,ap) local al,hz,ab,cG,gA=br(a) return{ 'allowed',dS(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',al, 'retry_after_ms',hz, 'next_ms',ab, 'reset_ms',cG,
'delay_ms',gA, 'now_ms',a.now_ms, 'shadow',a.p and 1 or 0, 'charged',ap, } end local function hb(bi) local ek={}
for ah,a in ipairs(bi)do local U,ac=a.AS or('TOKEN'):lower(),2 a.l=U while ek[a.l]do a.l=m('%s-%d',U,ac) ac=ac+1 end
ek[a.l]=true end end local function bt(f) return m('%.0f',be(f,999999999999999)) end local function hr(a)
local p=(nil)and(nil)(a)or a.a local bU,q=1000,p%1000 while q>0 do bU,q=q,bU%q end local gg=1000/bU
local Q=bb(A(p,gg),1000) return m('"%s";q=%s;w=%s',a.l,bt(A(a.limit,gg)),bt(Q)) end local function gS(bu,cd)
if bu.allowed~=cd.allowed then return not bu.allowed end local t,ce=bu.retry_after_ms,cd.retry_after_ms if t~=ce then
return t<0 or(ce>=0 and t>ce) end return bu.remaining<cd.remaining end local function gM(bi) local cH,ed=bi[1],{} hb(bi)
for f,a in ipairs(bi)do ed[f]=hr(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=br(a) if gS(a,cH)then cH=a end end
local a=cH local bk={ 'X-RateLimit-Limit', m('%.0f',a.b), 'X-RateLimit-Remaining', m('%.0f',a.remaining), }
local function bs(aO,aK) bk[#bk+1]=aO bk[#bk+1]=aK end if a.reset_ms>=0 then
bs('X-RateLimit-Reset',m('%.0f',aG(a.now_ms+a.reset_ms))) end bs('RateLimit-Policy',table.concat(ed,', '))
local gY=a.next_ms>=0 and';t='..bt(aG(a.next_ms))or'' bs('RateLimit',m('"%s";r=%s%s',a.l,bt(a.remaining),gY))
if not a.allowed and a.retry_after_ms>=0 then bs('Retry-After',m('%.0f',aG(a.retry_after_ms))) end return bk end
local function hh(a,ap) if a.form=='FULL'then return gK(a,ap) end return{dS(a),a.count,a.ttl,gM({a})} end
bJ={z=gn,A=gs,B=gt,D=gu,E=gw,F=ax,u=gB,G=gC,error_reply=gD,H=gF,m=O,I=gH,J=gI,K=bc,N=gO,P=gP,Q=dX,S=gZ,v=ha,x=hf,U=hh,V=dZ,r=ea,W=hl,y=eb,Y=hx,Z=hy,aa=hF,ab=hH,ad=hV}
end return bJ end if as then return h().error_reply(as) end local bq,aR=pcall(hA,KEYS,ARGV)
return bq and aR or h().error_reply(aR) end local function gJ(dK,ag)
local B,ak,m,y=string.find,string.match,string.format,redis.call if m('%d',2^40)~='1099511627776'then return end
local bg local eQ=ag[1] local bD=ag[2] local bE=ag[3] if not bD then return end local bl=ag[4] local cs local G local ad
if(bE=='LINE')and(not bl)then cs=4 G=1 ad='LINE' else local cp local cq local cr if bE then if bl then
if not(((((ag[5]=='LINE')and(not ag[6]))and((#bl)<16))and(bE=='COST'))and B(bl,'^[1-9]%d*$'))then return end cp=6
cq=bl+0 cr='LINE' else if(((ag[5]=='LINE')and(not ag[6]))and(bE=='COST'))and B('','^[1-9]%d*$')then return end return
end else cp=3 cq=1 cr=nil end cs=cp G=cq ad=cr end if not(((#bD)<16)and B(bD,'^[1-9]%d*$'))then return end local b=bD+0
local eR,aT=ak(eQ,'^([1-9]%d*)(%l*)$') if eR then if(#eQ)<16 then
local cX=(aT=='')and 1000 or((aT=='ms')and 1 or((aT=='s')and 1000 or((aT=='m')and 60000 or((aT=='h')and 3.6e6 or((aT=='d')and 8.64e7 or nil)))))
local am=cX and(eR*cX)or cX if(not am)or((am<1)or(1e15<am))then return end if not(am<9e12)then return end
local g=am*1000 if not((b*g)<2^53)then return end local H=b*g local hN=ag[cs] if hN then return end local eS=y('TIME')
local I=(eS[1]*1e6)+eS[2] local bF=(I-(I%1000))/1000 local an=dK[1] if not an then return end
if B(an,':reserved',1,true)then return end if not((#dK)==1)then return end local cY=y('GET',an) if cY then
local cZ,eT,eU,eV,hO=ak(cY,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not cZ then return else if B(cY,':0%d')then return else
local af=((#eV)<17)and(eV+0) if not((#cZ)<16)then return end if not((#eT)<16)then return end if not((#eU)<16)then return
end if af then if not(af<9e15)then return end local eW=cZ+0 local bG=eT+0 local bH=eU+0 if not((1<=bH)and(bH<=1e15))then
return else if not(hO=='')then return end if(bH*1000)<=bG then return end if(not(bH==am))and(not(bG==0))then return end
if not((eW*g)<2^53)then return end local aU=eW*g if not((aU+bG)<2^53)then return end local aV=aU+bG
local X=(H<aV)and H or aV local eX=(af<I)and(I-af)or 0 if not((eX*b)<2^53)then return end local da=eX*b
local N=(da<X)and(X-da)or 0 if not((G*g)<2^53)then return end local eY=G*g if not((N+eY)<2^53)then return end
local bI=N+eY local Y=N%g local aW=(N-Y)/g local aD if Y==0 then aD=aW else if not((aW+1)<2^53)then return end aD=aW+1
end if 2^53<=aD then return end if not(H<bI)then if not((aW+G)<2^53)then return end local av=aW+G local eZ=bI%b
local db=(eZ==0)and(bI/b)or(((bI-eZ)/b)+1) local fa=db%1e6 local dc=(fa==0)and(db/1e6)or(((db-fa)/1e6)+1)
if 2^53<=dc then return end local cw if ad=='LINE'then if not((av*g)<2^53)then return end local fh=av*g
if not((fh+Y)<2^53)then return end local fi=fh+Y local fj=(H<fi)and H or fi local aJ=(0<fj)and fj or 0 local fk=aJ%g
local fl=(fk==0)and(aJ/g)or(((aJ-fk)/g)+1) local dg=(fl<b)and(b-fl)or 0 local cv local by if dg<b then local fm=dg+1
local ct local dh=b-fm if dh<0 then ct=nil else if not((dh*g)<2^53)then return end local fn=dh*g
local di=(fn<aJ)and(aJ-fn)or 0 local fo=di%b local dj=(fo==0)and(di/b)or(((di-fo)/b)+1) local fp=dj%1000
ct=(fp==0)and(dj/1000)or(((dj-fp)/1000)+1) end local fq=ct or(-1) local cu if fm==b then cu=fq else
local dk=(0<aJ)and aJ or 0 local fr=dk%b local dl=(fr==0)and(dk/b)or(((dk-fr)/b)+1) local fs=dl%1000
cu=(fs==0)and(dl/1000)or(((dl-fs)/1000)+1) end cv=fq by=cu else cv=0 by=0 end if 2^53<=by then return end
local hQ=m('1 %d %d %d %d 0 %d %d 0 %d 0 %d',aD,dc,b,dg,cv,by,bF,G) cw=hQ else if ad then return end cw={1,aD,dc} end
local aP if not redis.REDIS_VERSION_NUM then return end local ft=y('PEXPIRETIME',an) local bm=(0<=ft)and ft or nil
if bm then if 2^53<=bm then return end if not((av*g)<2^53)then return end local fu=av*g if not((fu+Y)<2^53)then return
end local fv=fu+Y local dm=(H<fv)and H or fv local fw=dm%b local fx=(fw==0)and(dm/b)or(((dm-fw)/b)+1)
if not((I+fx)<2^53)then return end local dn=I+fx local fy=dn%1000 local dp=(fy==0)and(dn/1000)or(((dn-fy)/1000)+1)
if not((dp+5000)<2^53)then return end local dq=dp+5000 if bm<dp then aP=dq else local cx if not(dq<bm)then cx=true else
if not(aU<2^53)then return end if not(aV<2^53)then return end local fz=X%b local fA=(fz==0)and(X/b)or(((X-fz)/b)+1)
if not((af+fA)<2^53)then return end local dr=af+fA local fB=dr%1000 local fC=(fB==0)and(dr/1000)or(((dr-fB)/1000)+1)
if not((fC+5000)<2^53)then return end cx=(fC+5000)<bm end if cx then aP=nil else aP=dq end end else
if not((av*g)<2^53)then return end local fD=av*g if not((fD+Y)<2^53)then return end local fE=fD+Y
local ds=(H<fE)and H or fE local fF=ds%b local fG=(fF==0)and(ds/b)or(((ds-fF)/b)+1) if not((I+fG)<2^53)then return end
local dt=I+fG local fH=dt%1000 if not((((fH==0)and(dt/1000)or(((dt-fH)/1000)+1))+5000)<2^53)then return end return end
if aP then local cy if aP==0 then cy='1' else local hR=m('%d',aP) cy=hR end
local ic=y('SET',an,m('T:%d:%d:%d:%d',av,Y,am,I),'PXAT',cy) else
local id=y('SET',an,m('T:%d:%d:%d:%d',av,Y,am,I),'KEEPTTL') end bg=cw else if I<af then return end
local fb=(Y==0)and(N/g)or(aW+1) local dd=(fb<b)and(b-fb)or 0 local aq local aX=b-G if aX<0 then aq=nil else
if not((aX*g)<2^53)then return end local fc=aX*g local de=(fc<N)and(N-fc)or 0 local fd=de%b
local df=(fd==0)and(de/b)or(((de-fd)/b)+1) local fe=df%1000 aq=(fe==0)and(df/1000)or(((df-fe)/1000)+1) end local bx
if aq then if 2^53<=aq then return end local ff=aq%1000
local hP=(aq<0)and(-1)or((ff==0)and(aq/1000)or(((aq-ff)/1000)+1)) bx=hP else bx=-1 end local fg=(bx==0)and 1 or bx
local cD if ad=='LINE'then if not(aU<2^53)then return end if not(aV<2^53)then return end if not(da<2^53)then return end
local cz if aX<0 then cz=nil else if not((aX*g)<2^53)then return end local fI=aX*g local du=(fI<N)and(N-fI)or 0
local fJ=du%b local dv=(fJ==0)and(du/b)or(((du-fJ)/b)+1) local fK=dv%1000 cz=(fK==0)and(dv/1000)or(((dv-fK)/1000)+1) end
local fL=cz or(-1) local cC local bz if dd<b then local fM=dd+1 local cA local dw=b-fM if dw<0 then cA=nil else
if not((dw*g)<2^53)then return end local fN=dw*g local dx=(fN<N)and(N-fN)or 0 local fO=dx%b
local dy=(fO==0)and(dx/b)or(((dx-fO)/b)+1) local fP=dy%1000 cA=(fP==0)and(dy/1000)or(((dy-fP)/1000)+1) end
local fQ=cA or(-1) local cB if fM==b then cB=fQ else local dz=(0<N)and N or 0 local fR=dz%b
local dA=(fR==0)and(dz/b)or(((dz-fR)/b)+1) local fS=dA%1000 cB=(fS==0)and(dA/1000)or(((dA-fS)/1000)+1) end cC=fQ bz=cB
else cC=0 bz=0 end if(2^53<=fL)or(2^53<=bz)then return end
local hS=m('0 %d %d %d %d %d %d %d 0 %d 0 0',aD,fg,b,dd,fL,cC,bz,bF) cD=hS else if ad then return end cD={0,aD,fg} end
local bA if not redis.REDIS_VERSION_NUM then return end local fT=y('PEXPIRETIME',an) local dB=(0<=fT)and fT or nil
if dB then if 2^53<=dB then return end if not(aU<2^53)then return end if not(aV<2^53)then return end local fU=X%b
local fV=(fU==0)and(X/b)or(((X-fU)/b)+1) if not((af+fV)<2^53)then return end local dC=af+fV local fW=dC%1000
local dD=(fW==0)and(dC/1000)or(((dC-fW)/1000)+1) local cE if dB<dD then if not((dD+5000)<2^53)then return end cE=dD+5000
else cE=nil end bA=cE else if not(aU<2^53)then return end if not(aV<2^53)then return end local fX=X%b
if not((af+((fX==0)and(X/b)or(((X-fX)/b)+1)))<2^53)then return end bA=nil end if bA then local hT=m('%d',bA)
local ie=y('PEXPIREAT',an,hT) end bg=cD end end else return end end end else if not((G*g)<2^53)then return end
local bn=G*g if not(bn<2^53)then return end local aw=0%g local aY=(0-aw)/g local aE if aw==0 then aE=aY else
if not((aY+1)<2^53)then return end aE=aY+1 end if 2^53<=aE then return end if not(H<bn)then if not((aY+G)<2^53)then
return end local bo=aY+G local fY=bn%b local dE=(fY==0)and(bn/b)or(((bn-fY)/b)+1) local fZ=dE%1e6
local dF=(fZ==0)and(dE/1e6)or(((dE-fZ)/1e6)+1) if 2^53<=dF then return end local ci if ad=='LINE'then
if not((bo*g)<2^53)then return end local em=bo*g if not((em+aw)<2^53)then return end local en=em+aw
local eo=(H<en)and H or en local aI=(0<eo)and eo or 0 local ep=aI%g local eq=(ep==0)and(aI/g)or(((aI-ep)/g)+1)
local cJ=(eq<b)and(b-eq)or 0 local ch local bv if cJ<b then local er=cJ+1 local cf local cK=b-er if cK<0 then cf=nil
else if not((cK*g)<2^53)then return end local es=cK*g local cL=(es<aI)and(aI-es)or 0 local et=cL%b
local cM=(et==0)and(cL/b)or(((cL-et)/b)+1) local eu=cM%1000 cf=(eu==0)and(cM/1000)or(((cM-eu)/1000)+1) end
local ev=cf or(-1) local cg if er==b then cg=ev else local cN=(0<aI)and aI or 0 local ew=cN%b
local cO=(ew==0)and(cN/b)or(((cN-ew)/b)+1) local ex=cO%1000 cg=(ex==0)and(cO/1000)or(((cO-ex)/1000)+1) end ch=ev bv=cg
else ch=0 bv=0 end if 2^53<=bv then return end local hL=m('1 %d %d %d %d 0 %d %d 0 %d 0 %d',aE,dF,b,cJ,ch,bv,bF,G) ci=hL
else if ad then return end ci={1,aE,dF} end if not((bo*g)<2^53)then return end local ey=bo*g if not((ey+aw)<2^53)then
return end local ez=ey+aw local cP=(H<ez)and H or ez local eA=cP%b local eB=(eA==0)and(cP/b)or(((cP-eA)/b)+1)
if not((I+eB)<2^53)then return end local cQ=I+eB local eC=cQ%1000 local eD=(eC==0)and(cQ/1000)or(((cQ-eC)/1000)+1)
if not((eD+5000)<2^53)then return end local eE=eD+5000 local cj if eE==0 then cj='1' else cj=m('%d',eE) end
local ib=y('SET',an,m('T:%d:%d:%d:%d',bo,aw,am,I),'PXAT',cj) bg=ci else local ga=(aw==0)and(0/g)or(aY+1)
local dG=(ga<b)and(b-ga)or 0 local ar local aZ=b-G if aZ<0 then ar=nil else if not((aZ*g)<2^53)then return end
local gb=aZ*g local dH=(gb<0)and(0-gb)or 0 local gc=dH%b local dI=(gc==0)and(dH/b)or(((dH-gc)/b)+1) local gd=dI%1000
ar=(gd==0)and(dI/1000)or(((dI-gd)/1000)+1) end local bB if ar then if 2^53<=ar then return end local ge=ar%1000
local hU=(ar<0)and(-1)or((ge==0)and(ar/1000)or(((ar-ge)/1000)+1)) bB=hU else bB=-1 end local gf=(bB==0)and 1 or bB
local co if ad=='LINE'then local ck if aZ<0 then ck=nil else if not((aZ*g)<2^53)then return end local eF=aZ*g
local cR=(eF<0)and(0-eF)or 0 local eG=cR%b local cS=(eG==0)and(cR/b)or(((cR-eG)/b)+1) local eH=cS%1000
ck=(eH==0)and(cS/1000)or(((cS-eH)/1000)+1) end local eI=ck or(-1) local cn local bw if dG<b then local eJ=dG+1 local cl
local cT=b-eJ if cT<0 then cl=nil else if not((cT*g)<2^53)then return end local eK=cT*g local cU=(eK<0)and(0-eK)or 0
local eL=cU%b local cV=(eL==0)and(cU/b)or(((cU-eL)/b)+1) local eM=cV%1000 cl=(eM==0)and(cV/1000)or(((cV-eM)/1000)+1) end
local eN=cl or(-1) local cm if eJ==b then cm=eN else local eO=0%b local cW=(eO==0)and(0/b)or(((0-eO)/b)+1)
local eP=cW%1000 cm=(eP==0)and(cW/1000)or(((cW-eP)/1000)+1) end cn=eN bw=cm else cn=0 bw=0 end
if(2^53<=eI)or(2^53<=bw)then return end local hM=m('0 %d %d %d %d %d %d %d 0 %d 0 0',aE,gf,b,dG,eI,cn,bw,bF) co=hM else
if ad then return end co={0,aE,gf} end bg=co end end else return end else return end return bg end
local bq,aR=pcall(gJ,KEYS,ARGV) if bq and aR then return aR end return hD(not bq and aR)
