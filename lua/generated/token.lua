-- RL.TOKEN, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function hz(ao) local bG,h local z,n,ax,hV=string.find,string.format,string.match,string.sub local function B(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return h().z(c,d) end local function ed(a) a.q=B(a.b,a.f)
if a.q-a.q~=0 then h().ad(a) end end local function hi(w,e,J) local O,V,o=w[e],w[e+1],w[e+2] if not V then
h().p('ARITY') end local a={ u='', r=0, now_ms=0, a=0, f=0, limit=0, b=0, i=1, form=nil, w=0, l=nil, g=nil,
allowed=false, count=0, ttl=0, c='keep', remaining=0, j=1, } e=e+2
if o=='LINE'and not w[e+1]and J~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=o,e+1 elseif o then
local aI=w[e+1]or''
local dS=J==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and w[e+2]=='LINE'and not w[e+3]and#aI<16
if dS and o=='COST'and(' COST PARTIAL BURST ALWAYS ')~=' ID 'and z(aI,'^[1-9]%d*$')then a.form,a.i,e='LINE',aI+0,e+3
elseif dS and o=='ID'and(' COST PARTIAL BURST ALWAYS ')==' ID 'and aI~=''then a.form,a.ID,e='LINE',aI,e+3 else
e=h().aa(a,w,e,J) a.i=a.COST or 1 end end local bW=#V<16 and z(V,'^[1-9]%d*$') a.limit=bW and V+0 or h().Z('limit',V,0)
bW=#O<10 and z(O,'^[1-9]%d*$') local r=bW and O*1000 or h().ah(a,O)
a.a,a.f,a.b=r,r<9e12 and r*1000 or h().z(r,1000),a.BURST or a.limit if ed then ed(a) end return a,e end
local function hg(w,J) local a,e=hi(w,1,J) if w[e]then h().P(a,J,w[e]) end return a end local y=redis.call
local function ho(a) local Q=y('TIME') local ay=Q[1]*1000000+Q[2] a.r,a.now_ms=ay,(ay-ay%1000)/1000 end
local function hC(a,aK,e,ge,bX) local s=aK[e] if not s then h().p('KEYS') end a.u,e=s,e+1 if bX then a.o=s
elseif z(s,':reserved',1,true)then h().ac(s) end return e end local function hm(a,aK,ge,bX) ho(a)
if#aK~=hC(a,aK,1,ge,bX)-1 then h().p('KEYS') end end local function hS(i,hl) local c,d,bL,bN,p=ax(i,hl) if not c then
return nil elseif z(i,':0%d')then return nil end local K=#bN<17 and bN+0 return#c<16 and c+0 or h().v(c),
#d<16 and d+0 or h().v(d), #bL<16 and bL+0 or h().v(bL), K and K<9e15 and K or h().v(bN), p end local function gP(D)
return D and D-D==0 and D>=1 and D<=1e15 end local function gv(i)
local u,m,r,e,p=hS(i,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not gP(r)or not u or not m or not e then return nil end
local Z=0 if p~=''then Z=h().H(p) if not Z then return nil end end if u-u~=0 or e-e~=0 or m-m~=0 or m>=r*1000 then
if h().V(u,m,r,e)then return nil end end return{n=u,k=m,a=r,at=e,e=Z} end local function gS(a) local i=y('GET',a.u)
if i then a.l=gv(i)or h().N(i,('TOKEN'),'FOREIGN_VALUE') end end local function aq(c,d) if c-c==0 and d-d==0 then
return c>d and c-d or 0 end return h().ae(c,d) end local function E(c,d) if c-c==0 and d-d==0 and c+d<(2^53)then
return c+d end return h().E(c,d) end local function ag(c,d) if c-c==0 and d-d==0 then local p=c%d
return p==0 and c/d or(c-p)/d+1 end local aO,p=h().y(c,d) return p==0 and aO or E(aO,1) end local function C(c,d)
if c-c==0 and d-d==0 then return c<d end return h().W(c,d) end local function bc(c,d) return C(d,c)and d or c end
local function eb(a,j) local m,O,u=j.k,a.f,j.n if j.a~=a.a and m~=0 then m=ag(B(m,O),B(j.a,1000)) end
u=bc(E(B(u,O),m),a.q) return j.e==0 and u or E(u,B(j.e,O)) end local function cD(a,j) if not j then return 0 end
return aq(eb(a,j),B(aq(a.r,j.at),a.limit)) end local function aZ(c,d) if c-c==0 and d-d==0 then local p=c%d
return(c-p)/d,p end return h().y(c,d) end local function au(f) if f-f~=0 or f>=(2^53)then h().p('INEXACT_REPLY') end
return f end local function bz(a,aD) local Q=ag(aD,a.limit) return Q-Q==0 and Q or h().B(Q) end local function ef(a,aD)
a.ab=aD a.remaining=a.limit==0 and 0 or aq(a.b,ag(aD,a.f)) end local function t(a,l) local V,ee=a.limit,a.b-l
if V==0 or ee<0 then return nil end local Q=ag(aq(a.ab,B(ee,a.f)),V) if Q-Q~=0 and h().U(E(Q,a.r))then return nil end
return ag(Q,1000) end local function aE(D) local p=D%1000 return D<0 and-1 or p==0 and D/1000 or(D-p)/1000+1 end
local function hF(a,l) local t=t(a,l==0 and 1 or l) t=t and aE(au(t))or-1 return t==0 and 1 or t end
local function bO(a,l) local j,V,O,ay=a.l,a.limit,a.f,a.r local F=cD(a,j) local L=E(F,B(l==0 and 1 or l,O))
local aJ=V>0 and not C(a.q,L) local aY,m=aZ(F,O) a.allowed,a.count,a.c=aJ,au(m==0 and aY or E(aY,1)),'keep'
if aJ and l>0 then a.c='charge' a.g={n=E(aY,l),k=m,a=a.a,at=ay,e=0} a.ttl=au(ag(bz(a,L),1000000)) else
if j and V>0 and C(ay,j.at)then a.c='rebase' a.g={n=j.n,k=j.k,a=j.a,at=ay,e=j.e} end if aJ then
a.ttl=au(ag(bz(a,F),1000000)) else ef(a,F) a.ttl=hF(a,l) end end a.w=false and aJ and bz(a,F)or 0 end
local function gu(a) if a.PARTIAL or a.ALWAYS then h().I(a) else local l=a.i a.j=l bO(a,l) end if a.SHADOW then h().G(a)
end end local function bS(a,af,j) ef(a,cD(a,j)) end local function bo(a) local x,t=a.c,t
bS(a,x,x=='keep'and a.l or x~='delete'and a.g or nil) local ai,bM,W,ab,ap=a.remaining,a.b,0,0,0 if not a.allowed then
local l=a.j W=t(a,a.A or(l==0 and 1 or l))or-1 if a.S and W>=0 then W=math.max(W,a.S) end end if ai<bM then
ab=t(a,ai+1)or-1 ap=ai+1==bM and ab or t(a,bM)or-1 end if W-W~=0 or ab-ab~=0 or ap-ap~=0 or W>=(2^53)or ap>=(2^53)then
h().p('INEXACT_REPLY') end if a.w~=0 then return ai,W,ab,ap,au(ag(a.w,1000)) end return ai,W,ab,ap,0 end
local function gQ(a,al) local ai,W,ab,ap,gw=bo(a) local hy=a.t and 1 or 0 return n(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().D(a)or 1)or 0,a.count,a.ttl,a.b,ai,W,ab,ap, gw,a.now_ms,hy,al ) end
local function hq(a,al) local av=a.form if av=='LINE'then return gQ(a,al) elseif av then return h().Y(a,al) end
return{a.allowed and(a.PARTIAL and h().D(a)or 1)or 0,a.count,a.ttl} end local function gn(a) if a.c~='charge'then
return 0 elseif a.ALWAYS then return a.j elseif not a.allowed or(a.t and not a.PARTIAL)then return 0 end return a.j end
local function ah(a,j) local e=j.at if a.limit>0 then e=E(e,bz(a,eb(a,j))) e=e-e==0 and e or h().B(e) end
return ag(e,1000) end local function gD(s,ca) if not redis.REDIS_VERSION_NUM then return h().M(s,ca) end
local e=y('PEXPIRETIME',s) return e>=0 and e or nil end local function gB(a,x,R) local F,bP=a.l,true
if x=='keep'and(not F or not bP)then return nil end local A=F and gD(a.u,a.now_ms) if A and A>=(2^53)then
A=h().Q(h().J(A)) end if x=='keep'then local L=ah(a,F) return A and C(A,L)and E(L,5000)or nil end local L=ah(a,R)
local bb=E(L,5000) if not F then return bb elseif not A then return bb end if bP and x=='rebase'then
return h().X(A,ah(a,F),L) elseif C(A,L)then return bb elseif not C(bb,A)or(bP and C(E(ah(a,F),5000),A))then return nil
end return bb end local function aF(f) if f-f~=0 then return h().af(f) end return n('%.0f',f) end
local function hx(s,dN) if dN then y('PEXPIREAT',s,aF(dN)) end end local function dQ(j) local u,m,r,e=j.n,j.k,j.a,j.at
if j.e~=0 or u-u~=0 or m-m~=0 or e-e~=0 then return h().K(j) end return n('T:%.0f:%.0f:%.0f:%.0f',u,m,r,e) end
local function dO(a,x,R) local s=a.u if x=='delete'then y('UNLINK',s) return end local ah=gB(a,x,R) if x=='keep'then
hx(s,ah) elseif ah then y('SET',s,dQ(R),'PXAT',ah==0 and'1'or aF(ah)) else y('SET',s,dQ(R),'KEEPTTL') end end
local function hw(aK,w) local a=hg(w,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
hm(a,aK,a.RESERVE) gS(a,'write') gu(a) local gl=hq(a,gn(a)) if a.SHADOW or a.RESERVE then h().F(a,true) else
dO(a,a.c,a.g) end return gl end function h() if not bG then local q={}
q.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
q.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
q.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
q.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
q.ID='ERR invalid ID: expected 1 to 512 bytes'
q.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
q.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
q.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
q.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
q.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
q.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
q.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
q.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
q.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
q.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
q.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
q.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' q.OVERFLOW='ERR increment or decrement would overflow' q.ARITY='ERR wrong number of arguments'
q.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
q.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
q.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local bm={ __sub=function()
return 1 end, } local bI=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bm) local function hb(bZ) return bc(bZ,bI) end
local function gL(bZ) return C(bI,bZ) end local gj=setmetatable({6553600,11973543,3552},bm) local function aa(i)
error({err=i},0) end local function P(aM) aa(q[aM]) end local function hu(a) if a.limit>0 and C(B(a.limit,gj),a.q)then
P('SPAN') end end local bH=setmetatable({(2^24)-1,(2^24)-1,2^15-1},bm) local function bV(f) return C(bH,f) end
local function gM(u,m,r,e) local hE=bV(u)or(not C(u,bH)and m~=0) return hE or bV(e)or not C(m,B(r,1000)) end
local function bK(c,d) for e=1,math.min(#c,#d)do local gf,gg=c:byte(e),d:byte(e) if gf~=gg then return gf<gg end end
return#c<#d end local function bT(k) if#k<=15 or(#k==16 and bK(k,'9007199254740992'))then return k+0 end local bU=#k%7
local f=bU>0 and k:sub(1,bU)+0 or 0 for e=bU+1,#k,7 do f=E(B(f,10000000),k:sub(e,e+6)+0) end return f end
local function dZ(k) if#k>1 and k:byte()==48 then return nil
elseif#k<20 or(#k==20 and not bK('18446744073709551615',k))then return bT(k) end end local function gr(p)
local k=ax(p,'^:(%d+)$') local Z=k and dZ(k) return Z and Z~=0 and not bV(Z)and Z or nil end local function gz(j)
local u,m,r,e=j.n,j.k,j.a,j.at local i='T:'..aF(u)..':'..aF(m)..':'..aF(r)..':'..aF(e)
return j.e==0 and i or i..':'..aF(j.e) end local function gE(i,v,he)
local hT={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local dH=hT[ax(i,'^(%u):')] if not dH or dH==v then
P(he) end aa('ERR the key holds a state of '..dH..': use another key for each algorithm') end local function gA(ao)
if type(ao)=='table'then return ao elseif z(ao,'^%u+ ')then return redis.error_reply(ao) end error(ao,0) end
local function at(f) if f-f~=0 then return f end local k,S={},0 while f>0 do local T=f%(2^24) S=S+1 k[S]=T
f=(f-T)/(2^24) end return k end local function ba(k) local S=#k while S>0 and k[S]==0 do k[S]=nil S=S-1 end
if S>3 or(S==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,bm) end
return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function dW(c,d) local dL,gm=c-c==0,d-d==0
if dL or gm then return dL elseif#c~=#d then return#c<#d end for f=#c,1,-1 do if c[f]~=d[f]then return c[f]<d[f] end end
return false end local function gk(c,d) c,d=at(c),at(d) local aQ,ak={},0 for f=1,math.max(#c,#d)+1 do
local T=(c[f]or 0)+(d[f]or 0)+ak ak=T>=(2^24)and 1 or 0 aQ[f]=T-ak*(2^24) end return ba(aQ) end local function hB(c,d)
if not dW(d,c)then return 0 end d=at(d) local dP,bJ={},0 for f=1,#c do local T=c[f]-(d[f]or 0)-bJ bJ=T<0 and 1 or 0
dP[f]=T+bJ*(2^24) end return ba(dP) end local function gW(c,d) c,d=at(c),at(d) local bf={} for f=1,#c+#d do bf[f]=0 end
for f=1,#c do local ak=0 for bY=1,#d do local T=bf[f+bY-1]+c[f]*d[bY]+ak ak=math.floor(T/(2^24)) bf[f+bY-1]=T-ak*(2^24)
end bf[f+#d]=ak end return ba(bf) end local function dM(f) if f-f==0 then return f end local aQ=0 for gK=#f,1,-1 do
aQ=aQ*(2^24)+f[gK] end return aQ end local function gy(c,d) local aO=0 while not C(c,d)do
local m=math.max(1,math.floor(dM(c)/dM(d)*(1-2^-45))) m=ba(at(m)) aO=E(aO,m) c=aq(c,B(m,d)) end return aO,c end
local function hD(f) local cG='' while f-f~=0 do local p f,p=aZ(f,10000000) cG=n('%07.0f',p)..cG end
return n('%.0f',f)..cG end local function gC(s,ca) local dV=y('PTTL',s) return dV>=0 and ca+dV or nil end
local function gV(A,gY,L) if A-A~=0 then P('INEXACT_STATE') end local bd=aq(A,aq(gY,L)) bd=C(bd,L)and L or bd
return bd~=A and bd or nil end local function bQ(i,aL) if i~='0'and not z(i,'^[1-9]%d*$')then return nil end
return(#i<#aL or(#i==#aL and not bK(aL,i)))and i or nil end local function dY(aM,i,dU)
local k=i and bQ(i,'9223372036854775807') local f=k and bT(k) if not f or f==0 and dU>0 then
aa(n('ERR invalid %s: expected an integer from %d to 9223372036854775807',aM,dU)) elseif f-f~=0 then
aa(n('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aM)) end return f end local dJ={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aw(gR,v)
return not z(v,' ',1,true)and z(gR,' '..v..' ',1,true)~=nil end local function ej(a,o)
return not aw(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',o)or aw((' COST PARTIAL BURST ALWAYS '),o)
end local function gN(v,o) local U,K=0,0 local eg,gT=math.min(#v,#o),math.max(#v,#o)
while U<eg and v:byte(U+1)==o:byte(U+1)do U=U+1 end while K<eg-U and v:byte(-1-K)==o:byte(-1-K)do K=K+1 end
return U+K>=2 and gT-U-K<=2 end local function gF(a,J,v) local aA={} for af,M in ipairs(dJ)do
if aw(J,M[1])and ej(a,M[1])then aA[#aA+1]=M[2] end end for af,av in ipairs({'FULL','LINE','HEADERS'})do aA[#aA+1]=av end
for af,o in ipairs(aA)do if gN(v:upper(),ax(o,'^%u+'))then aa('ERR syntax error: no such option, but there is '..o) end
end local K=table.remove(aA) local hG=table.concat(aA,', ')
aa('ERR syntax error: after limit come '..hG..' or '..K..', each at most once') end local function hs(M,a,J)
local o,hU=M[1],a.ai if not aw(J,o)then aa(n('ERR invalid %s: only %s it',o,M[3])) elseif not ej(a,o)then
aa(n('ERR invalid %s: %s takes none',o,('TOKEN'))) elseif a[o]~=nil then
aa(n('ERR syntax error: %s comes at most once',M[2])) end end local function hj(o,i,hW) if o=='AS'then
return i and#i>=1 and#i<=64 and not z(i,'[^%w._-]')and i or P('AS') elseif o=='AT'then
local k=i and bQ(i,'9223372036854775807') return k and bc(bT(k),(aZ(bI,1000)))or P('AT') end
return dY(o,i,o=='BURST'and 1 or 0) end local function hr(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
P(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
P(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local gh={FULL=true,LINE=true,HEADERS=true}
local function ha(av,dX) if av then P(av==dX and'FORM_TWICE'or'TWO_FORMS') end return dX end local function hh(a,w,e,J)
while w[e]do local v,M=w[e]:upper(),nil for af,dT in ipairs(dJ)do M=dT[1]==v and dT or M end if M then hs(M,a,J)
if M[2]==v then a[v]=true e=e+1 else a[v]=hj(v,w[e+1],w[e+2]) e=e+(v=='RESERVE'and 3 or 2) end hr(a)
elseif gh[v]and aw(J,'form')then a.form=ha(a.form,v) e=e+1 else return e end end return e end
local dK={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function hk(i) local az,ek=ax(i,'^(%d+)(%l*)$')
local D=az and dK[ek]and bQ(az,'18446744073709551615')and az*dK[ek] return D and D>=1 and D<=1e15 and D or nil end
local gi={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function hR(a,i) local r=hk(i)
if not r then a.ag=i:upper() r=gi[a.ag] if not r then
P(aw((' COST PARTIAL BURST ALWAYS '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aw((' COST PARTIAL BURST ALWAYS '),'ANCHOR')then
aa(n('ERR invalid window: %s takes no windows of the calendar',('TOKEN'))) end end return r end local function gI(s)
return s:sub(-9)==':reserved'or s:sub(-14)==':reserved:ends' end local function ht(s) if gI(s)then P('RESERVED_KEY') end
end local function gq(a) local hc=a.PARTIAL and a.j<a.i a.t=a.SHADOW and not a.x and(hc or not a.allowed)
if not a.allowed and(a.t or a.x)then a.allowed=true if not(nil)then local af,af,af,cE=bo(a) a.ttl=aE(cE) end end end
local function hp(a) bS(a,'keep',a.l) return a.remaining end local function hf(a,af,l) if l==0 or a.limit==0 then
return'keep' end local aD=E(cD(a,a.l),B(l,a.f)) if C(B(bH,a.f),aD)then P('OVERFLOW') end local aY,m=aZ(aD,a.f)
local aL=m==0 and a.b or a.b-1 local u,Z=bc(aY,aL),aq(aY,aL) return'charge',{n=u,k=m,a=a.a,at=a.r,e=Z} end
local function hA(x,R,F) if x=='keep'then return F end return x~='delete'and R or nil end local function gZ(l)
return l==0 and 1 or l end local function gs(a) local l=a.i bO(a,0) local x,R=hf(a,nil,l) if l>0 then a.c,a.g=x,R end
local eh=hA(a.c,a.g,a.l) bS(a,a.c,eh) a.allowed=a.b>0 and t(a,0)==0 a.A=a.b>0 and l or gZ(l) if(nil)then
a.count,a.ttl=(nil)(eh,a.now_ms) elseif a.allowed then a.ttl=aE(au(t(a,a.b))) else local t=t(a,a.A)
a.ttl=t and math.max(1,aE(au(t)))or-1 end end local function gt(a) local l=a.i if a.PARTIAL then l=math.min(l,hp(a)) end
a.j=l if a.ALWAYS then gs(a) else bO(a,l) end end local function go(a,x,R) dO(a,x,R) end local function gp(a,aJ)
if not aJ and a.c=='charge'then a.c,a.g='keep',nil end go(a,a.c,a.g) end local function ea(a)
return a.x and a.x.i or a.t and a.i or a.j end local function dR(a) if not a.allowed then return 0 end
return a.PARTIAL and ea(a)or 1 end local function gH(a,al) local ai,hv,ab,cE,gx=bo(a) return{ 'allowed',dR(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',ai, 'retry_after_ms',hv, 'next_ms',ab, 'reset_ms',cE,
'delay_ms',gx, 'now_ms',a.now_ms, 'shadow',a.t and 1 or 0, 'charged',al, } end local function gX(bg) local ei={}
for af,a in ipairs(bg)do local U,az=a.AS or('TOKEN'):lower(),2 a.o=U while ei[a.o]do a.o=n('%s-%d',U,az) az=az+1 end
ei[a.o]=true end end local function bq(f) return n('%.0f',bc(f,999999999999999)) end local function hn(a)
local r=(nil)and(nil)(a)or a.a local bR,p=1000,r%1000 while p>0 do bR,p=p,bR%p end local gd=1000/bR
local O=aZ(B(r,gd),1000) return n('"%s";q=%s;w=%s',a.o,bq(B(a.limit,gd)),bq(O)) end local function gO(br,cb)
if br.allowed~=cb.allowed then return not br.allowed end local t,cc=br.retry_after_ms,cb.retry_after_ms if t~=cc then
return t<0 or(cc>=0 and t>cc) end return br.remaining<cb.remaining end local function gJ(bg) local cF,ec=bg[1],{} gX(bg)
for f,a in ipairs(bg)do ec[f]=hn(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bo(a) if gO(a,cF)then cF=a end end
local a=cF local bh={ 'X-RateLimit-Limit', n('%.0f',a.b), 'X-RateLimit-Remaining', n('%.0f',a.remaining), }
local function bp(aM,aI) bh[#bh+1]=aM bh[#bh+1]=aI end if a.reset_ms>=0 then
bp('X-RateLimit-Reset',n('%.0f',aE(a.now_ms+a.reset_ms))) end bp('RateLimit-Policy',table.concat(ec,', '))
local gU=a.next_ms>=0 and';t='..bq(aE(a.next_ms))or'' bp('RateLimit',n('"%s";r=%s%s',a.o,bq(a.remaining),gU))
if not a.allowed and a.retry_after_ms>=0 then bp('Retry-After',n('%.0f',aE(a.retry_after_ms))) end return bh end
local function hd(a,al) if a.form=='FULL'then return gH(a,al) end return{dR(a),a.count,a.ttl,gJ({a})} end
bG={E=gk,F=gp,G=gq,H=gr,I=gt,J=at,y=gy,K=gz,error_reply=gA,M=gC,p=P,N=gE,P=gF,Q=ba,U=gL,V=gM,W=dW,X=gV,z=gW,B=hb,Y=hd,Z=dY,v=dZ,aa=hh,D=ea,ac=ht,ad=hu,ae=hB,af=hD,ah=hR}
end return bG end if ao then return h().error_reply(ao) end local bn,aP=pcall(hw,KEYS,ARGV)
return bn and aP or h().error_reply(aP) end local function gG(dI,ae)
local z,ax,n,y=string.find,string.match,string.format,redis.call local be local cV=ae[1] local bA=ae[2] local bB=ae[3]
if not bA then return end local bi=ae[4] local cq local G local ac if(bB=='LINE')and(not bi)then cq=4 G=1 ac='LINE' else
local cn local co local cp if bB then if bi then
if not(((((ae[5]=='LINE')and(not ae[6]))and((#bi)<16))and(bB=='COST'))and z(bi,'^[1-9]%d*$'))then return end cn=6
co=bi+0 cp='LINE' else if(((ae[5]=='LINE')and(not ae[6]))and(bB=='COST'))and z('','^[1-9]%d*$')then return end return
end else cn=3 co=1 cp=nil end cq=cn G=co ac=cp end if not(((#bA)<16)and z(bA,'^[1-9]%d*$'))then return end local b=bA+0
if not(((#cV)<10)and z(cV,'^[1-9]%d*$'))then return end local aR=cV*1000 if not(aR<9e12)then return end local g=aR*1000
if not((b*g)<2^53)then return end local H=b*g local hJ=ae[cq] if hJ then return end local eP=y('TIME')
local I=(eP[1]*1e06)+eP[2] local bC=(I-(I%1000))/1000 local aj=dI[1] if not aj then return end
if z(aj,':reserved',1,true)then return end if not((#dI)==1)then return end local cW=y('GET',aj) if cW then
local cX,eQ,eR,eS,hK=ax(cW,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not cX then return else if z(cW,':0%d')then return else
local ad=((#eS)<17)and(eS+0) if not((#cX)<16)then return end if not((#eQ)<16)then return end if not((#eR)<16)then return
end if ad then if not(ad<9e15)then return end local eT=cX+0 local bD=eQ+0 local bE=eR+0 if not((1<=bE)and(bE<=1e15))then
return else if not(hK=='')then return end if(bE*1000)<=bD then return end if(not(bE==aR))and(not(bD==0))then return end
if not((eT*g)<2^53)then return end local aS=eT*g if not((aS+bD)<2^53)then return end local aT=aS+bD
local X=(H<aT)and H or aT local eU=(ad<I)and(I-ad)or 0 if not((eU*b)<2^53)then return end local cY=eU*b
local N=(cY<X)and(X-cY)or 0 if not((G*g)<2^53)then return end local eV=G*g if not((N+eV)<2^53)then return end
local bF=N+eV local Y=N%g local aU=(N-Y)/g local aB if Y==0 then aB=aU else if not((aU+1)<2^53)then return end aB=aU+1
end if 2^53<=aB then return end if not(H<bF)then if not((aU+G)<2^53)then return end local ar=aU+G local eW=bF%b
local cZ=(eW==0)and(bF/b)or(((bF-eW)/b)+1) local eX=cZ%1e06 local da=(eX==0)and(cZ/1e06)or(((cZ-eX)/1e06)+1)
if 2^53<=da then return end local cu if ac=='LINE'then if not((ar*g)<2^53)then return end local fe=ar*g
if not((fe+Y)<2^53)then return end local ff=fe+Y local fg=(H<ff)and H or ff local aH=(0<fg)and fg or 0 local fh=aH%g
local fi=(fh==0)and(aH/g)or(((aH-fh)/g)+1) local de=(fi<b)and(b-fi)or 0 local ct local bv if de<b then local fj=de+1
local cr local df=b-fj if df<0 then cr=nil else if not((df*g)<2^53)then return end local fk=df*g
local dg=(fk<aH)and(aH-fk)or 0 local fl=dg%b local dh=(fl==0)and(dg/b)or(((dg-fl)/b)+1) local fm=dh%1000
cr=(fm==0)and(dh/1000)or(((dh-fm)/1000)+1) end local fn=cr or(-1) local cs if fj==b then cs=fn else
local di=(0<aH)and aH or 0 local fo=di%b local dj=(fo==0)and(di/b)or(((di-fo)/b)+1) local fp=dj%1000
cs=(fp==0)and(dj/1000)or(((dj-fp)/1000)+1) end ct=fn bv=cs else ct=0 bv=0 end if 2^53<=bv then return end
local hM=n('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',aB,da,b,de,ct,bv,bC,G) cu=hM else if ac then return end
cu={1,aB,da} end local aN if not redis.REDIS_VERSION_NUM then return end local fq=y('PEXPIRETIME',aj)
local bj=(0<=fq)and fq or nil if bj then if 2^53<=bj then return end if not((ar*g)<2^53)then return end local fr=ar*g
if not((fr+Y)<2^53)then return end local fs=fr+Y local dk=(H<fs)and H or fs local ft=dk%b
local fu=(ft==0)and(dk/b)or(((dk-ft)/b)+1) if not((I+fu)<2^53)then return end local dl=I+fu local fv=dl%1000
local dm=(fv==0)and(dl/1000)or(((dl-fv)/1000)+1) if not((dm+5000)<2^53)then return end local dn=dm+5000 if bj<dm then
aN=dn else local cv if not(dn<bj)then cv=true else if not(aS<2^53)then return end if not(aT<2^53)then return end
local fw=X%b local fx=(fw==0)and(X/b)or(((X-fw)/b)+1) if not((ad+fx)<2^53)then return end local dp=ad+fx
local fy=dp%1000 local fz=(fy==0)and(dp/1000)or(((dp-fy)/1000)+1) if not((fz+5000)<2^53)then return end cv=(fz+5000)<bj
end if cv then aN=nil else aN=dn end end else if not((ar*g)<2^53)then return end local fA=ar*g if not((fA+Y)<2^53)then
return end local fB=fA+Y local dq=(H<fB)and H or fB local fC=dq%b local fD=(fC==0)and(dq/b)or(((dq-fC)/b)+1)
if not((I+fD)<2^53)then return end local dr=I+fD local fE=dr%1000
if not((((fE==0)and(dr/1000)or(((dr-fE)/1000)+1))+5000)<2^53)then return end return end if aN then local cw
if aN==0 then cw='1' else local hN=n('%.0f',aN) cw=hN end
local hY=y('SET',aj,n('T:%.0f:%.0f:%.0f:%.0f',ar,Y,aR,I),'PXAT',cw) else
local hZ=y('SET',aj,n('T:%.0f:%.0f:%.0f:%.0f',ar,Y,aR,I),'KEEPTTL') end be=cu else if I<ad then return end
local eY=(Y==0)and(N/g)or(aU+1) local db=(eY<b)and(b-eY)or 0 local am local aV=b-G if aV<0 then am=nil else
if not((aV*g)<2^53)then return end local eZ=aV*g local dc=(eZ<N)and(N-eZ)or 0 local fa=dc%b
local dd=(fa==0)and(dc/b)or(((dc-fa)/b)+1) local fb=dd%1000 am=(fb==0)and(dd/1000)or(((dd-fb)/1000)+1) end local bu
if am then if 2^53<=am then return end local fc=am%1000
local hL=(am<0)and(-1)or((fc==0)and(am/1000)or(((am-fc)/1000)+1)) bu=hL else bu=-1 end local fd=(bu==0)and 1 or bu
local cB if ac=='LINE'then if not(aS<2^53)then return end if not(aT<2^53)then return end if not(cY<2^53)then return end
local cx if aV<0 then cx=nil else if not((aV*g)<2^53)then return end local fF=aV*g local ds=(fF<N)and(N-fF)or 0
local fG=ds%b local dt=(fG==0)and(ds/b)or(((ds-fG)/b)+1) local fH=dt%1000 cx=(fH==0)and(dt/1000)or(((dt-fH)/1000)+1) end
local fI=cx or(-1) local cA local bw if db<b then local fJ=db+1 local cy local du=b-fJ if du<0 then cy=nil else
if not((du*g)<2^53)then return end local fK=du*g local dv=(fK<N)and(N-fK)or 0 local fL=dv%b
local dw=(fL==0)and(dv/b)or(((dv-fL)/b)+1) local fM=dw%1000 cy=(fM==0)and(dw/1000)or(((dw-fM)/1000)+1) end
local fN=cy or(-1) local cz if fJ==b then cz=fN else local dx=(0<N)and N or 0 local fO=dx%b
local dy=(fO==0)and(dx/b)or(((dx-fO)/b)+1) local fP=dy%1000 cz=(fP==0)and(dy/1000)or(((dy-fP)/1000)+1) end cA=fN bw=cz
else cA=0 bw=0 end if(2^53<=fI)or(2^53<=bw)then return end
local hO=n('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',aB,fd,b,db,fI,cA,bw,bC) cB=hO else if ac then return end
cB={0,aB,fd} end local bx if not redis.REDIS_VERSION_NUM then return end local fQ=y('PEXPIRETIME',aj)
local dz=(0<=fQ)and fQ or nil if dz then if 2^53<=dz then return end if not(aS<2^53)then return end if not(aT<2^53)then
return end local fR=X%b local fS=(fR==0)and(X/b)or(((X-fR)/b)+1) if not((ad+fS)<2^53)then return end local dA=ad+fS
local fT=dA%1000 local dB=(fT==0)and(dA/1000)or(((dA-fT)/1000)+1) local cC if dz<dB then if not((dB+5000)<2^53)then
return end cC=dB+5000 else cC=nil end bx=cC else if not(aS<2^53)then return end if not(aT<2^53)then return end
local fU=X%b if not((ad+((fU==0)and(X/b)or(((X-fU)/b)+1)))<2^53)then return end bx=nil end if bx then
local hP=n('%.0f',bx) local ia=y('PEXPIREAT',aj,hP) end be=cB end end else return end end end else
if not((G*g)<2^53)then return end local bk=G*g if not(bk<2^53)then return end local as=0%g local aW=(0-as)/g local aC
if as==0 then aC=aW else if not((aW+1)<2^53)then return end aC=aW+1 end if 2^53<=aC then return end if not(H<bk)then
if not((aW+G)<2^53)then return end local bl=aW+G local fV=bk%b local dC=(fV==0)and(bk/b)or(((bk-fV)/b)+1)
local fW=dC%1e06 local dD=(fW==0)and(dC/1e06)or(((dC-fW)/1e06)+1) if 2^53<=dD then return end local cg if ac=='LINE'then
if not((bl*g)<2^53)then return end local el=bl*g if not((el+as)<2^53)then return end local em=el+as
local en=(H<em)and H or em local aG=(0<en)and en or 0 local eo=aG%g local ep=(eo==0)and(aG/g)or(((aG-eo)/g)+1)
local cH=(ep<b)and(b-ep)or 0 local bs local cf if cH<b then local eq=cH+1 local cd local cI=b-eq if cI<0 then cd=nil
else if not((cI*g)<2^53)then return end local er=cI*g local cJ=(er<aG)and(aG-er)or 0 local es=cJ%b
local cK=(es==0)and(cJ/b)or(((cJ-es)/b)+1) local et=cK%1000 cd=(et==0)and(cK/1000)or(((cK-et)/1000)+1) end
local eu=cd or(-1) local ce if eq==b then ce=eu else local cL=(0<aG)and aG or 0 local ev=cL%b
local cM=(ev==0)and(cL/b)or(((cL-ev)/b)+1) local ew=cM%1000 ce=(ew==0)and(cM/1000)or(((cM-ew)/1000)+1) end bs=ce cf=eu
else bs=0 cf=0 end if 2^53<=bs then return end
local hH=n('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',aC,dD,b,cH,cf,bs,bC,G) cg=hH else if ac then return end
cg={1,aC,dD} end if not((bl*g)<2^53)then return end local ex=bl*g if not((ex+as)<2^53)then return end local ey=ex+as
local cN=(H<ey)and H or ey local ez=cN%b local eA=(ez==0)and(cN/b)or(((cN-ez)/b)+1) if not((I+eA)<2^53)then return end
local cO=I+eA local eB=cO%1000 local eC=(eB==0)and(cO/1000)or(((cO-eB)/1000)+1) if not((eC+5000)<2^53)then return end
local eD=eC+5000 local ch if eD==0 then ch='1' else ch=n('%.0f',eD) end
local hX=y('SET',aj,n('T:%.0f:%.0f:%.0f:%.0f',bl,as,aR,I),'PXAT',ch) be=cg else local fX=(as==0)and(0/g)or(aW+1)
local dE=(fX<b)and(b-fX)or 0 local an local aX=b-G if aX<0 then an=nil else if not((aX*g)<2^53)then return end
local fY=aX*g local dF=(fY<0)and(0-fY)or 0 local fZ=dF%b local dG=(fZ==0)and(dF/b)or(((dF-fZ)/b)+1) local ga=dG%1000
an=(ga==0)and(dG/1000)or(((dG-ga)/1000)+1) end local by if an then if 2^53<=an then return end local gb=an%1000
local hQ=(an<0)and(-1)or((gb==0)and(an/1000)or(((an-gb)/1000)+1)) by=hQ else by=-1 end local gc=(by==0)and 1 or by
local cm if ac=='LINE'then local ci if aX<0 then ci=nil else if not((aX*g)<2^53)then return end local eE=aX*g
local cP=(eE<0)and(0-eE)or 0 local eF=cP%b local cQ=(eF==0)and(cP/b)or(((cP-eF)/b)+1) local eG=cQ%1000
ci=(eG==0)and(cQ/1000)or(((cQ-eG)/1000)+1) end local eH=ci or(-1) local cl local bt if dE<b then local eI=dE+1 local cj
local cR=b-eI if cR<0 then cj=nil else if not((cR*g)<2^53)then return end local eJ=cR*g local cS=(eJ<0)and(0-eJ)or 0
local eK=cS%b local cT=(eK==0)and(cS/b)or(((cS-eK)/b)+1) local eL=cT%1000 cj=(eL==0)and(cT/1000)or(((cT-eL)/1000)+1) end
local eM=cj or(-1) local ck if eI==b then ck=eM else local eN=0%b local cU=(eN==0)and(0/b)or(((0-eN)/b)+1)
local eO=cU%1000 ck=(eO==0)and(cU/1000)or(((cU-eO)/1000)+1) end cl=eM bt=ck else cl=0 bt=0 end
if(2^53<=eH)or(2^53<=bt)then return end
local hI=n('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',aC,gc,b,dE,eH,cl,bt,bC) cm=hI else if ac then return end
cm={0,aC,gc} end be=cm end end return be end local bn,aP=pcall(gG,KEYS,ARGV) if bn and aP then return aP end
return hz(not bn and aP)
