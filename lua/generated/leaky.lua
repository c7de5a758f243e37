-- RL.LEAKY, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function hJ(ao) local bI,h local z,n,ax,ig=string.find,string.format,string.match,string.sub local function B(c,d)
if c-c==0 and d-d==0 and c*d<(2^53)then return c*d end return h().z(c,d) end local function eh(a) a.q=B(a.b,a.f)
if a.q-a.q~=0 then h().ad(a) end end local function hs(w,e,K) local O,V,o=w[e],w[e+1],w[e+2] if not V then
h().p('ARITY') end local a={ u='', r=0, now_ms=0, a=0, f=0, limit=0, b=0, i=1, form=nil, w=0, l=nil, g=nil,
allowed=false, count=0, ttl=0, c='keep', remaining=0, j=1, } e=e+2
if o=='LINE'and not w[e+1]and K~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=o,e+1 elseif o then
local aI=w[e+1]or''
local dW=K==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and w[e+2]=='LINE'and not w[e+3]and#aI<16
if dW and o=='COST'and(' COST PARTIAL BURST ')~=' ID 'and z(aI,'^[1-9]%d*$')then a.form,a.i,e='LINE',aI+0,e+3
elseif dW and o=='ID'and(' COST PARTIAL BURST ')==' ID 'and aI~=''then a.form,a.ID,e='LINE',aI,e+3 else
e=h().aa(a,w,e,K) a.i=a.COST or 1 end end local bY=#V<16 and z(V,'^[1-9]%d*$') a.limit=bY and V+0 or h().Z('limit',V,0)
bY=#O<10 and z(O,'^[1-9]%d*$') local r=bY and O*1000 or h().ah(a,O)
a.a,a.f,a.b=r,r<9e12 and r*1000 or h().z(r,1000),a.BURST or a.limit if eh then eh(a) end return a,e end
local function hq(w,K) local a,e=hs(w,1,K) if w[e]then h().P(a,K,w[e]) end return a end local y=redis.call
local function hy(a) local Q=y('TIME') local ay=Q[1]*1000000+Q[2] a.r,a.now_ms=ay,(ay-ay%1000)/1000 end
local function hM(a,aK,e,go,bZ) local s=aK[e] if not s then h().p('KEYS') end a.u,e=s,e+1 if bZ then a.o=s
elseif z(s,':reserved',1,true)then h().ac(s) end return e end local function hw(a,aK,go,bZ) hy(a)
if#aK~=hM(a,aK,1,go,bZ)-1 then h().p('KEYS') end end local function ic(i,hv) local c,d,bN,bP,p=ax(i,hv) if not c then
return nil elseif z(i,':0%d')then return nil end local L=#bP<17 and bP+0 return#c<16 and c+0 or h().v(c),
#d<16 and d+0 or h().v(d), #bN<16 and bN+0 or h().v(bN), L and L<9e15 and L or h().v(bP), p end local function gZ(E)
return E and E-E==0 and E>=1 and E<=1e15 end local function gF(i)
local u,m,r,e,p=ic(i,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not gZ(r)or not u or not m or not e then return nil end
local Z=0 if p~=''then Z=h().H(p) if not Z then return nil end end if u-u~=0 or e-e~=0 or m-m~=0 or m>=r*1000 then
if h().V(u,m,r,e)then return nil end end return{n=u,k=m,a=r,at=e,e=Z} end local function hc(a) local i=y('GET',a.u)
if i then a.l=gF(i)or h().N(i,('LEAKY'),'FOREIGN_VALUE') end end local function aq(c,d) if c-c==0 and d-d==0 then
return c>d and c-d or 0 end return h().ae(c,d) end local function F(c,d) if c-c==0 and d-d==0 and c+d<(2^53)then
return c+d end return h().E(c,d) end local function ag(c,d) if c-c==0 and d-d==0 then local p=c%d
return p==0 and c/d or(c-p)/d+1 end local aO,p=h().y(c,d) return p==0 and aO or F(aO,1) end local function D(c,d)
if c-c==0 and d-d==0 then return c<d end return h().W(c,d) end local function bc(c,d) return D(d,c)and d or c end
local function ef(a,j) local m,O,u=j.k,a.f,j.n if j.a~=a.a and m~=0 then m=ag(B(m,O),B(j.a,1000)) end
u=bc(F(B(u,O),m),a.q) return j.e==0 and u or F(u,B(j.e,O)) end local function cH(a,j) if not j then return 0 end
return aq(ef(a,j),B(aq(a.r,j.at),a.limit)) end local function aZ(c,d) if c-c==0 and d-d==0 then local p=c%d
return(c-p)/d,p end return h().y(c,d) end local function au(f) if f-f~=0 or f>=(2^53)then h().p('INEXACT_REPLY') end
return f end local function bz(a,aD) local Q=ag(aD,a.limit) return Q-Q==0 and Q or h().B(Q) end local function ej(a,aD)
a.ab=aD a.remaining=a.limit==0 and 0 or aq(a.b,ag(aD,a.f)) end local function t(a,l) local V,ei=a.limit,a.b-l
if V==0 or ei<0 then return nil end local Q=ag(aq(a.ab,B(ei,a.f)),V) if Q-Q~=0 and h().U(F(Q,a.r))then return nil end
return ag(Q,1000) end local function aE(E) local p=E%1000 return E<0 and-1 or p==0 and E/1000 or(E-p)/1000+1 end
local function hP(a,l) local t=t(a,l==0 and 1 or l) t=t and aE(au(t))or-1 return t==0 and 1 or t end
local function bQ(a,l) local j,V,O,ay=a.l,a.limit,a.f,a.r local G=cH(a,j) local M=F(G,B(l==0 and 1 or l,O))
local aJ=V>0 and not D(a.q,M) local aY,m=aZ(G,O) a.allowed,a.count,a.c=aJ,au(m==0 and aY or F(aY,1)),'keep'
if aJ and l>0 then a.c='charge' a.g={n=F(aY,l),k=m,a=a.a,at=ay,e=0} a.ttl=au(ag(bz(a,M),1000000)) else
if j and V>0 and D(ay,j.at)then a.c='rebase' a.g={n=j.n,k=j.k,a=j.a,at=ay,e=j.e} end if aJ then
a.ttl=au(ag(bz(a,G),1000000)) else ej(a,G) a.ttl=hP(a,l) end end a.w=true and aJ and bz(a,G)or 0 end
local function gE(a) if a.PARTIAL or a.ALWAYS then h().I(a) else local l=a.i a.j=l bQ(a,l) end if a.SHADOW then h().G(a)
end end local function bU(a,af,j) ej(a,cH(a,j)) end local function bo(a) local x,t=a.c,t
bU(a,x,x=='keep'and a.l or x~='delete'and a.g or nil) local ai,bO,W,ab,ap=a.remaining,a.b,0,0,0 if not a.allowed then
local l=a.j W=t(a,a.A or(l==0 and 1 or l))or-1 if a.S and W>=0 then W=math.max(W,a.S) end end if ai<bO then
ab=t(a,ai+1)or-1 ap=ai+1==bO and ab or t(a,bO)or-1 end if W-W~=0 or ab-ab~=0 or ap-ap~=0 or W>=(2^53)or ap>=(2^53)then
h().p('INEXACT_REPLY') end if a.w~=0 then return ai,W,ab,ap,au(ag(a.w,1000)) end return ai,W,ab,ap,0 end
local function ha(a,al) local ai,W,ab,ap,gG=bo(a) local hI=a.t and 1 or 0 return n(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().D(a)or 1)or 0,a.count,a.ttl,a.b,ai,W,ab,ap, gG,a.now_ms,hI,al ) end
local function hA(a,al) local av=a.form if av=='LINE'then return ha(a,al) elseif av then return h().Y(a,al) end
return{a.allowed and(a.PARTIAL and h().D(a)or 1)or 0,a.count,a.ttl} end local function gx(a) if a.c~='charge'then
return 0 elseif a.ALWAYS then return a.j elseif not a.allowed or(a.t and not a.PARTIAL)then return 0 end return a.j end
local function ah(a,j) local e=j.at if a.limit>0 then e=F(e,bz(a,ef(a,j))) e=e-e==0 and e or h().B(e) end
return ag(e,1000) end local function gN(s,cc) if not redis.REDIS_VERSION_NUM then return h().M(s,cc) end
local e=y('PEXPIRETIME',s) return e>=0 and e or nil end local function gL(a,x,R) local G,bR=a.l,true
if x=='keep'and(not G or not bR)then return nil end local A=G and gN(a.u,a.now_ms) if A and A>=(2^53)then
A=h().Q(h().J(A)) end if x=='keep'then local M=ah(a,G) return A and D(A,M)and F(M,5000)or nil end local M=ah(a,R)
local bb=F(M,5000) if not G then return bb elseif not A then return bb end if bR and x=='rebase'then
return h().X(A,ah(a,G),M) elseif D(A,M)then return bb elseif not D(bb,A)or(bR and D(F(ah(a,G),5000),A))then return nil
end return bb end local function aF(f) if f-f~=0 then return h().af(f) end return n('%.0f',f) end
local function hH(s,dR) if dR then y('PEXPIREAT',s,aF(dR)) end end local function dU(j) local u,m,r,e=j.n,j.k,j.a,j.at
if j.e~=0 or u-u~=0 or m-m~=0 or e-e~=0 then return h().K(j) end return n('L:%.0f:%.0f:%.0f:%.0f',u,m,r,e) end
local function dS(a,x,R) local s=a.u if x=='delete'then y('UNLINK',s) return end local ah=gL(a,x,R) if x=='keep'then
hH(s,ah) elseif ah then y('SET',s,dU(R),'PXAT',ah==0 and'1'or aF(ah)) else y('SET',s,dU(R),'KEEPTTL') end end
local function hG(aK,w) local a=hq(w,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
hw(a,aK,a.RESERVE) hc(a,'write') gE(a) local gv=hA(a,gx(a)) if a.SHADOW or a.RESERVE then h().F(a,true) else
dS(a,a.c,a.g) end return gv end function h() if not bI then local q={}
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
return 1 end, } local bK=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bm) local function hl(cb) return bc(cb,bK) end
local function gV(cb) return D(bK,cb) end local gt=setmetatable({6553600,11973543,3552},bm) local function aa(i)
error({err=i},0) end local function P(aM) aa(q[aM]) end local function hE(a) if a.limit>0 and D(B(a.limit,gt),a.q)then
P('SPAN') end end local bJ=setmetatable({(2^24)-1,(2^24)-1,2^15-1},bm) local function bX(f) return D(bJ,f) end
local function gW(u,m,r,e) local hO=bX(u)or(not D(u,bJ)and m~=0) return hO or bX(e)or not D(m,B(r,1000)) end
local function bM(c,d) for e=1,math.min(#c,#d)do local gp,gq=c:byte(e),d:byte(e) if gp~=gq then return gp<gq end end
return#c<#d end local function bV(k) if#k<=15 or(#k==16 and bM(k,'9007199254740992'))then return k+0 end local bW=#k%7
local f=bW>0 and k:sub(1,bW)+0 or 0 for e=bW+1,#k,7 do f=F(B(f,10000000),k:sub(e,e+6)+0) end return f end
local function ed(k) if#k>1 and k:byte()==48 then return nil
elseif#k<20 or(#k==20 and not bM('18446744073709551615',k))then return bV(k) end end local function gB(p)
local k=ax(p,'^:(%d+)$') local Z=k and ed(k) return Z and Z~=0 and not bX(Z)and Z or nil end local function gJ(j)
local u,m,r,e=j.n,j.k,j.a,j.at local i='L:'..aF(u)..':'..aF(m)..':'..aF(r)..':'..aF(e)
return j.e==0 and i or i..':'..aF(j.e) end local function gO(i,v,ho)
local id={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local dL=id[ax(i,'^(%u):')] if not dL or dL==v then
P(ho) end aa('ERR the key holds a state of '..dL..': use another key for each algorithm') end local function gK(ao)
if type(ao)=='table'then return ao elseif z(ao,'^%u+ ')then return redis.error_reply(ao) end error(ao,0) end
local function at(f) if f-f~=0 then return f end local k,S={},0 while f>0 do local T=f%(2^24) S=S+1 k[S]=T
f=(f-T)/(2^24) end return k end local function ba(k) local S=#k while S>0 and k[S]==0 do k[S]=nil S=S-1 end
if S>3 or(S==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,bm) end
return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function ea(c,d) local dP,gw=c-c==0,d-d==0
if dP or gw then return dP elseif#c~=#d then return#c<#d end for f=#c,1,-1 do if c[f]~=d[f]then return c[f]<d[f] end end
return false end local function gu(c,d) c,d=at(c),at(d) local aQ,ak={},0 for f=1,math.max(#c,#d)+1 do
local T=(c[f]or 0)+(d[f]or 0)+ak ak=T>=(2^24)and 1 or 0 aQ[f]=T-ak*(2^24) end return ba(aQ) end local function hL(c,d)
if not ea(d,c)then return 0 end d=at(d) local dT,bL={},0 for f=1,#c do local T=c[f]-(d[f]or 0)-bL bL=T<0 and 1 or 0
dT[f]=T+bL*(2^24) end return ba(dT) end local function hg(c,d) c,d=at(c),at(d) local bf={} for f=1,#c+#d do bf[f]=0 end
for f=1,#c do local ak=0 for ca=1,#d do local T=bf[f+ca-1]+c[f]*d[ca]+ak ak=math.floor(T/(2^24)) bf[f+ca-1]=T-ak*(2^24)
end bf[f+#d]=ak end return ba(bf) end local function dQ(f) if f-f==0 then return f end local aQ=0 for gU=#f,1,-1 do
aQ=aQ*(2^24)+f[gU] end return aQ end local function gI(c,d) local aO=0 while not D(c,d)do
local m=math.max(1,math.floor(dQ(c)/dQ(d)*(1-2^-45))) m=ba(at(m)) aO=F(aO,m) c=aq(c,B(m,d)) end return aO,c end
local function hN(f) local cK='' while f-f~=0 do local p f,p=aZ(f,10000000) cK=n('%07.0f',p)..cK end
return n('%.0f',f)..cK end local function gM(s,cc) local dZ=y('PTTL',s) return dZ>=0 and cc+dZ or nil end
local function hf(A,hi,M) if A-A~=0 then P('INEXACT_STATE') end local bd=aq(A,aq(hi,M)) bd=D(bd,M)and M or bd
return bd~=A and bd or nil end local function bS(i,aL) if i~='0'and not z(i,'^[1-9]%d*$')then return nil end
return(#i<#aL or(#i==#aL and not bM(aL,i)))and i or nil end local function ec(aM,i,dY)
local k=i and bS(i,'9223372036854775807') local f=k and bV(k) if not f or f==0 and dY>0 then
aa(n('ERR invalid %s: expected an integer from %d to 9223372036854775807',aM,dY)) elseif f-f~=0 then
aa(n('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aM)) end return f end local dN={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aw(hb,v)
return not z(v,' ',1,true)and z(hb,' '..v..' ',1,true)~=nil end local function en(a,o)
return not aw(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',o)or aw((' COST PARTIAL BURST '),o)
end local function gX(v,o) local U,L=0,0 local ek,hd=math.min(#v,#o),math.max(#v,#o)
while U<ek and v:byte(U+1)==o:byte(U+1)do U=U+1 end while L<ek-U and v:byte(-1-L)==o:byte(-1-L)do L=L+1 end
return U+L>=2 and hd-U-L<=2 end local function gP(a,K,v) local aA={} for af,N in ipairs(dN)do
if aw(K,N[1])and en(a,N[1])then aA[#aA+1]=N[2] end end for af,av in ipairs({'FULL','LINE','HEADERS'})do aA[#aA+1]=av end
for af,o in ipairs(aA)do if gX(v:upper(),ax(o,'^%u+'))then aa('ERR syntax error: no such option, but there is '..o) end
end local L=table.remove(aA) local hQ=table.concat(aA,', ')
aa('ERR syntax error: after limit come '..hQ..' or '..L..', each at most once') end local function hC(N,a,K)
local o,ie=N[1],a.ai if not aw(K,o)then aa(n('ERR invalid %s: only %s it',o,N[3])) elseif not en(a,o)then
aa(n('ERR invalid %s: %s takes none',o,('LEAKY'))) elseif a[o]~=nil then
aa(n('ERR syntax error: %s comes at most once',N[2])) end end local function ht(o,i,ih) if o=='AS'then
return i and#i>=1 and#i<=64 and not z(i,'[^%w._-]')and i or P('AS') elseif o=='AT'then
local k=i and bS(i,'9223372036854775807') return k and bc(bV(k),(aZ(bK,1000)))or P('AT') end
return ec(o,i,o=='BURST'and 1 or 0) end local function hB(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
P(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
P(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local gr={FULL=true,LINE=true,HEADERS=true}
local function hk(av,eb) if av then P(av==eb and'FORM_TWICE'or'TWO_FORMS') end return eb end local function hr(a,w,e,K)
while w[e]do local v,N=w[e]:upper(),nil for af,dX in ipairs(dN)do N=dX[1]==v and dX or N end if N then hC(N,a,K)
if N[2]==v then a[v]=true e=e+1 else a[v]=ht(v,w[e+1],w[e+2]) e=e+(v=='RESERVE'and 3 or 2) end hB(a)
elseif gr[v]and aw(K,'form')then a.form=hk(a.form,v) e=e+1 else return e end end return e end
local dO={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function hu(i) local az,eo=ax(i,'^(%d+)(%l*)$')
local E=az and dO[eo]and bS(az,'18446744073709551615')and az*dO[eo] return E and E>=1 and E<=1e15 and E or nil end
local gs={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function ib(a,i) local r=hu(i)
if not r then a.ag=i:upper() r=gs[a.ag] if not r then
P(aw((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aw((' COST PARTIAL BURST '),'ANCHOR')then
aa(n('ERR invalid window: %s takes no windows of the calendar',('LEAKY'))) end end return r end local function gS(s)
return s:sub(-9)==':reserved'or s:sub(-14)==':reserved:ends' end local function hD(s) if gS(s)then P('RESERVED_KEY') end
end local function gA(a) local hm=a.PARTIAL and a.j<a.i a.t=a.SHADOW and not a.x and(hm or not a.allowed)
if not a.allowed and(a.t or a.x)then a.allowed=true if not(nil)then local af,af,af,cI=bo(a) a.ttl=aE(cI) end end end
local function hz(a) bU(a,'keep',a.l) return a.remaining end local function hp(a,af,l) if l==0 or a.limit==0 then
return'keep' end local aD=F(cH(a,a.l),B(l,a.f)) if D(B(bJ,a.f),aD)then P('OVERFLOW') end local aY,m=aZ(aD,a.f)
local aL=m==0 and a.b or a.b-1 local u,Z=bc(aY,aL),aq(aY,aL) return'charge',{n=u,k=m,a=a.a,at=a.r,e=Z} end
local function hK(x,R,G) if x=='keep'then return G end return x~='delete'and R or nil end local function hj(l)
return l==0 and 1 or l end local function gC(a) local l=a.i bQ(a,0) local x,R=hp(a,nil,l) if l>0 then a.c,a.g=x,R end
local el=hK(a.c,a.g,a.l) bU(a,a.c,el) a.allowed=a.b>0 and t(a,0)==0 a.A=a.b>0 and l or hj(l) if(nil)then
a.count,a.ttl=(nil)(el,a.now_ms) elseif a.allowed then a.ttl=aE(au(t(a,a.b))) else local t=t(a,a.A)
a.ttl=t and math.max(1,aE(au(t)))or-1 end end local function gD(a) local l=a.i if a.PARTIAL then l=math.min(l,hz(a)) end
a.j=l if a.ALWAYS then gC(a) else bQ(a,l) end end local function gy(a,x,R) dS(a,x,R) end local function gz(a,aJ)
if not aJ and a.c=='charge'then a.c,a.g='keep',nil end gy(a,a.c,a.g) end local function ee(a)
return a.x and a.x.i or a.t and a.i or a.j end local function dV(a) if not a.allowed then return 0 end
return a.PARTIAL and ee(a)or 1 end local function gR(a,al) local ai,hF,ab,cI,gH=bo(a) return{ 'allowed',dV(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.b, 'remaining',ai, 'retry_after_ms',hF, 'next_ms',ab, 'reset_ms',cI,
'delay_ms',gH, 'now_ms',a.now_ms, 'shadow',a.t and 1 or 0, 'charged',al, } end local function hh(bg) local em={}
for af,a in ipairs(bg)do local U,az=a.AS or('LEAKY'):lower(),2 a.o=U while em[a.o]do a.o=n('%s-%d',U,az) az=az+1 end
em[a.o]=true end end local function bq(f) return n('%.0f',bc(f,999999999999999)) end local function hx(a)
local r=(nil)and(nil)(a)or a.a local bT,p=1000,r%1000 while p>0 do bT,p=p,bT%p end local gn=1000/bT
local O=aZ(B(r,gn),1000) return n('"%s";q=%s;w=%s',a.o,bq(B(a.limit,gn)),bq(O)) end local function gY(br,cd)
if br.allowed~=cd.allowed then return not br.allowed end local t,ce=br.retry_after_ms,cd.retry_after_ms if t~=ce then
return t<0 or(ce>=0 and t>ce) end return br.remaining<cd.remaining end local function gT(bg) local cJ,eg=bg[1],{} hh(bg)
for f,a in ipairs(bg)do eg[f]=hx(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bo(a) if gY(a,cJ)then cJ=a end end
local a=cJ local bh={ 'X-RateLimit-Limit', n('%.0f',a.b), 'X-RateLimit-Remaining', n('%.0f',a.remaining), }
local function bp(aM,aI) bh[#bh+1]=aM bh[#bh+1]=aI end if a.reset_ms>=0 then
bp('X-RateLimit-Reset',n('%.0f',aE(a.now_ms+a.reset_ms))) end bp('RateLimit-Policy',table.concat(eg,', '))
local he=a.next_ms>=0 and';t='..bq(aE(a.next_ms))or'' bp('RateLimit',n('"%s";r=%s%s',a.o,bq(a.remaining),he))
if not a.allowed and a.retry_after_ms>=0 then bp('Retry-After',n('%.0f',aE(a.retry_after_ms))) end return bh end
local function hn(a,al) if a.form=='FULL'then return gR(a,al) end return{dV(a),a.count,a.ttl,gT({a})} end
bI={E=gu,F=gz,G=gA,H=gB,I=gD,J=at,y=gI,K=gJ,error_reply=gK,M=gM,p=P,N=gO,P=gP,Q=ba,U=gV,V=gW,W=ea,X=hf,z=hg,B=hl,Y=hn,Z=ec,v=ed,aa=hr,D=ee,ac=hD,ad=hE,ae=hL,af=hN,ah=ib}
end return bI end if ao then return h().error_reply(ao) end local bn,aP=pcall(hG,KEYS,ARGV)
return bn and aP or h().error_reply(aP) end local function gQ(dM,ae)
local z,ax,n,y=string.find,string.match,string.format,redis.call local be local cZ=ae[1] local bB=ae[2] local bC=ae[3]
if not bB then return end local bi=ae[4] local ct local H local ac if(bC=='LINE')and(not bi)then ct=4 H=1 ac='LINE' else
local cq local cr local cs if bC then if bi then
if not(((((ae[5]=='LINE')and(not ae[6]))and((#bi)<16))and(bC=='COST'))and z(bi,'^[1-9]%d*$'))then return end cq=6
cr=bi+0 cs='LINE' else if(((ae[5]=='LINE')and(not ae[6]))and(bC=='COST'))and z('','^[1-9]%d*$')then return end return
end else cq=3 cr=1 cs=nil end ct=cq H=cr ac=cs end if not(((#bB)<16)and z(bB,'^[1-9]%d*$'))then return end local b=bB+0
if not(((#cZ)<10)and z(cZ,'^[1-9]%d*$'))then return end local aR=cZ*1000 if not(aR<9e12)then return end local g=aR*1000
if not((b*g)<2^53)then return end local I=b*g local hU=ae[ct] if hU then return end local eX=y('TIME')
local J=(eX[1]*1e06)+eX[2] local bD=(J-(J%1000))/1000 local aj=dM[1] if not aj then return end
if z(aj,':reserved',1,true)then return end if not((#dM)==1)then return end local da=y('GET',aj) if da then
local db,eY,eZ,fa,hV=ax(da,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not db then return else if z(da,':0%d')then return else
local ad=((#fa)<17)and(fa+0) if not((#db)<16)then return end if not((#eY)<16)then return end if not((#eZ)<16)then return
end if ad then if not(ad<9e15)then return end local fb=db+0 local bE=eY+0 local bF=eZ+0 if not((1<=bF)and(bF<=1e15))then
return else if not(hV=='')then return end if(bF*1000)<=bE then return end if(not(bF==aR))and(not(bE==0))then return end
if not((fb*g)<2^53)then return end local aS=fb*g if not((aS+bE)<2^53)then return end local aT=aS+bE
local X=(I<aT)and I or aT local fc=(ad<J)and(J-ad)or 0 if not((fc*b)<2^53)then return end local dc=fc*b
local C=(dc<X)and(X-dc)or 0 if not((H*g)<2^53)then return end local fd=H*g if not((C+fd)<2^53)then return end
local bG=C+fd local Y=C%g local aU=(C-Y)/g local aB if Y==0 then aB=aU else if not((aU+1)<2^53)then return end aB=aU+1
end if 2^53<=aB then return end if not(I<bG)then if not((aU+H)<2^53)then return end local ar=aU+H local fe=bG%b
local dd=(fe==0)and(bG/b)or(((bG-fe)/b)+1) local ff=dd%1e06 local de=(ff==0)and(dd/1e06)or(((dd-ff)/1e06)+1)
if 2^53<=de then return end local fm=C%b local bH=(fm==0)and(C/b)or(((C-fm)/b)+1) local cy if ac=='LINE'then local cx
if not((ar*g)<2^53)then return end local fn=ar*g if not((fn+Y)<2^53)then return end local fo=fn+Y
local fp=(I<fo)and I or fo local aH=(0<fp)and fp or 0 local fq=aH%g local fr=(fq==0)and(aH/g)or(((aH-fq)/g)+1)
local di=(fr<b)and(b-fr)or 0 local cw local bw if di<b then local fs=di+1 local cu local dj=b-fs if dj<0 then cu=nil
else if not((dj*g)<2^53)then return end local ft=dj*g local dk=(ft<aH)and(aH-ft)or 0 local fu=dk%b
local dl=(fu==0)and(dk/b)or(((dk-fu)/b)+1) local fv=dl%1000 cu=(fv==0)and(dl/1000)or(((dl-fv)/1000)+1) end
local fw=cu or(-1) local cv if fs==b then cv=fw else local dm=(0<aH)and aH or 0 local fx=dm%b
local dn=(fx==0)and(dm/b)or(((dm-fx)/b)+1) local fy=dn%1000 cv=(fy==0)and(dn/1000)or(((dn-fy)/1000)+1) end cw=fw bw=cv
else cw=0 bw=0 end if 2^53<=bw then return end if not(bH==0)then local fz=bH%1000
local fA=(fz==0)and(bH/1000)or(((bH-fz)/1000)+1) if 2^53<=fA then return end cx=fA else cx=0 end
local hX=n('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f %.0f %.0f 0 %.0f',aB,de,b,di,cw,bw,cx,bD,H) cy=hX else if ac then return
end cy={1,aB,de} end local aN if not redis.REDIS_VERSION_NUM then return end local fB=y('PEXPIRETIME',aj)
local bj=(0<=fB)and fB or nil if bj then if 2^53<=bj then return end if not((ar*g)<2^53)then return end local fC=ar*g
if not((fC+Y)<2^53)then return end local fD=fC+Y local dp=(I<fD)and I or fD local fE=dp%b
local fF=(fE==0)and(dp/b)or(((dp-fE)/b)+1) if not((J+fF)<2^53)then return end local dq=J+fF local fG=dq%1000
local dr=(fG==0)and(dq/1000)or(((dq-fG)/1000)+1) if not((dr+5000)<2^53)then return end local ds=dr+5000 if bj<dr then
aN=ds else local cz if not(ds<bj)then cz=true else if not(aS<2^53)then return end if not(aT<2^53)then return end
local fH=X%b local fI=(fH==0)and(X/b)or(((X-fH)/b)+1) if not((ad+fI)<2^53)then return end local dt=ad+fI
local fJ=dt%1000 local fK=(fJ==0)and(dt/1000)or(((dt-fJ)/1000)+1) if not((fK+5000)<2^53)then return end cz=(fK+5000)<bj
end if cz then aN=nil else aN=ds end end else if not((ar*g)<2^53)then return end local fL=ar*g if not((fL+Y)<2^53)then
return end local fM=fL+Y local du=(I<fM)and I or fM local fN=du%b local fO=(fN==0)and(du/b)or(((du-fN)/b)+1)
if not((J+fO)<2^53)then return end local dv=J+fO local fP=dv%1000
if not((((fP==0)and(dv/1000)or(((dv-fP)/1000)+1))+5000)<2^53)then return end return end if aN then local cA
if aN==0 then cA='1' else local hY=n('%.0f',aN) cA=hY end
local ij=y('SET',aj,n('L:%.0f:%.0f:%.0f:%.0f',ar,Y,aR,J),'PXAT',cA) else
local ik=y('SET',aj,n('L:%.0f:%.0f:%.0f:%.0f',ar,Y,aR,J),'KEEPTTL') end be=cy else if J<ad then return end
local fg=(Y==0)and(C/g)or(aU+1) local df=(fg<b)and(b-fg)or 0 local am local aV=b-H if aV<0 then am=nil else
if not((aV*g)<2^53)then return end local fh=aV*g local dg=(fh<C)and(C-fh)or 0 local fi=dg%b
local dh=(fi==0)and(dg/b)or(((dg-fi)/b)+1) local fj=dh%1000 am=(fj==0)and(dh/1000)or(((dh-fj)/1000)+1) end local bv
if am then if 2^53<=am then return end local fk=am%1000
local hW=(am<0)and(-1)or((fk==0)and(am/1000)or(((am-fk)/1000)+1)) bv=hW else bv=-1 end local fl=(bv==0)and 1 or bv
local cF if ac=='LINE'then if not(aS<2^53)then return end if not(aT<2^53)then return end if not(dc<2^53)then return end
local cB if aV<0 then cB=nil else if not((aV*g)<2^53)then return end local fQ=aV*g local dw=(fQ<C)and(C-fQ)or 0
local fR=dw%b local dx=(fR==0)and(dw/b)or(((dw-fR)/b)+1) local fS=dx%1000 cB=(fS==0)and(dx/1000)or(((dx-fS)/1000)+1) end
local fT=cB or(-1) local cE local bx if df<b then local fU=df+1 local cC local dy=b-fU if dy<0 then cC=nil else
if not((dy*g)<2^53)then return end local fV=dy*g local dz=(fV<C)and(C-fV)or 0 local fW=dz%b
local dA=(fW==0)and(dz/b)or(((dz-fW)/b)+1) local fX=dA%1000 cC=(fX==0)and(dA/1000)or(((dA-fX)/1000)+1) end
local fY=cC or(-1) local cD if fU==b then cD=fY else local dB=(0<C)and C or 0 local fZ=dB%b
local dC=(fZ==0)and(dB/b)or(((dB-fZ)/b)+1) local ga=dC%1000 cD=(ga==0)and(dC/1000)or(((dC-ga)/1000)+1) end cE=fY bx=cD
else cE=0 bx=0 end if(2^53<=fT)or(2^53<=bx)then return end
local hZ=n('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',aB,fl,b,df,fT,cE,bx,bD) cF=hZ else if ac then return end
cF={0,aB,fl} end local by if not redis.REDIS_VERSION_NUM then return end local gb=y('PEXPIRETIME',aj)
local dD=(0<=gb)and gb or nil if dD then if 2^53<=dD then return end if not(aS<2^53)then return end if not(aT<2^53)then
return end local gc=X%b local gd=(gc==0)and(X/b)or(((X-gc)/b)+1) if not((ad+gd)<2^53)then return end local dE=ad+gd
local ge=dE%1000 local dF=(ge==0)and(dE/1000)or(((dE-ge)/1000)+1) local cG if dD<dF then if not((dF+5000)<2^53)then
return end cG=dF+5000 else cG=nil end by=cG else if not(aS<2^53)then return end if not(aT<2^53)then return end
local gf=X%b if not((ad+((gf==0)and(X/b)or(((X-gf)/b)+1)))<2^53)then return end by=nil end if by then
local ia=n('%.0f',by) local il=y('PEXPIREAT',aj,ia) end be=cF end end else return end end end else
if not((H*g)<2^53)then return end local bk=H*g if not(bk<2^53)then return end local as=0%g local aW=(0-as)/g local aC
if as==0 then aC=aW else if not((aW+1)<2^53)then return end aC=aW+1 end if 2^53<=aC then return end if not(I<bk)then
if not((aW+H)<2^53)then return end local bl=aW+H local gg=bk%b local dG=(gg==0)and(bk/b)or(((bk-gg)/b)+1)
local gh=dG%1e06 local dH=(gh==0)and(dG/1e06)or(((dG-gh)/1e06)+1) if 2^53<=dH then return end local eq=0%b
local bA=(eq==0)and(0/b)or(((0-eq)/b)+1) local cj if ac=='LINE'then local ci if not((bl*g)<2^53)then return end
local er=bl*g if not((er+as)<2^53)then return end local es=er+as local et=(I<es)and I or es local aG=(0<et)and et or 0
local eu=aG%g local ev=(eu==0)and(aG/g)or(((aG-eu)/g)+1) local cL=(ev<b)and(b-ev)or 0 local ch local bt if cL<b then
local ew=cL+1 local cf local cM=b-ew if cM<0 then cf=nil else if not((cM*g)<2^53)then return end local ex=cM*g
local cN=(ex<aG)and(aG-ex)or 0 local ey=cN%b local cO=(ey==0)and(cN/b)or(((cN-ey)/b)+1) local ez=cO%1000
cf=(ez==0)and(cO/1000)or(((cO-ez)/1000)+1) end local eA=cf or(-1) local cg if ew==b then cg=eA else
local cP=(0<aG)and aG or 0 local eB=cP%b local cQ=(eB==0)and(cP/b)or(((cP-eB)/b)+1) local eC=cQ%1000
cg=(eC==0)and(cQ/1000)or(((cQ-eC)/1000)+1) end ch=eA bt=cg else ch=0 bt=0 end if 2^53<=bt then return end
if not(bA==0)then local eD=bA%1000 local eE=(eD==0)and(bA/1000)or(((bA-eD)/1000)+1) if 2^53<=eE then return end ci=eE
else ci=0 end local hS=n('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f %.0f %.0f 0 %.0f',aC,dH,b,cL,ch,bt,ci,bD,H) cj=hS else
if ac then return end cj={1,aC,dH} end if not((bl*g)<2^53)then return end local eF=bl*g if not((eF+as)<2^53)then return
end local eG=eF+as local cR=(I<eG)and I or eG local eH=cR%b local eI=(eH==0)and(cR/b)or(((cR-eH)/b)+1)
if not((J+eI)<2^53)then return end local cS=J+eI local eJ=cS%1000 local eK=(eJ==0)and(cS/1000)or(((cS-eJ)/1000)+1)
if not((eK+5000)<2^53)then return end local eL=eK+5000 local ck if eL==0 then ck='1' else ck=n('%.0f',eL) end
local ii=y('SET',aj,n('L:%.0f:%.0f:%.0f:%.0f',bl,as,aR,J),'PXAT',ck) be=cj else local gi=(as==0)and(0/g)or(aW+1)
local dI=(gi<b)and(b-gi)or 0 local an local aX=b-H if aX<0 then an=nil else if not((aX*g)<2^53)then return end
local gj=aX*g local dJ=(gj<0)and(0-gj)or 0 local gk=dJ%b local dK=(gk==0)and(dJ/b)or(((dJ-gk)/b)+1) local gl=dK%1000
an=(gl==0)and(dK/1000)or(((dK-gl)/1000)+1) end local bs if an then if 2^53<=an then return end local gm=an%1000
local hR=(an<0)and(-1)or((gm==0)and(an/1000)or(((an-gm)/1000)+1)) bs=hR else bs=-1 end local ep=(bs==0)and 1 or bs
local cp if ac=='LINE'then local cl if aX<0 then cl=nil else if not((aX*g)<2^53)then return end local eM=aX*g
local cT=(eM<0)and(0-eM)or 0 local eN=cT%b local cU=(eN==0)and(cT/b)or(((cT-eN)/b)+1) local eO=cU%1000
cl=(eO==0)and(cU/1000)or(((cU-eO)/1000)+1) end local eP=cl or(-1) local co local bu if dI<b then local eQ=dI+1 local cm
local cV=b-eQ if cV<0 then cm=nil else if not((cV*g)<2^53)then return end local eR=cV*g local cW=(eR<0)and(0-eR)or 0
local eS=cW%b local cX=(eS==0)and(cW/b)or(((cW-eS)/b)+1) local eT=cX%1000 cm=(eT==0)and(cX/1000)or(((cX-eT)/1000)+1) end
local eU=cm or(-1) local cn if eQ==b then cn=eU else local eV=0%b local cY=(eV==0)and(0/b)or(((0-eV)/b)+1)
local eW=cY%1000 cn=(eW==0)and(cY/1000)or(((cY-eW)/1000)+1) end co=eU bu=cn else co=0 bu=0 end
if(2^53<=eP)or(2^53<=bu)then return end
local hT=n('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',aC,ep,b,dI,eP,co,bu,bD) cp=hT else if ac then return end
cp={0,aC,ep} end be=cp end end return be end local bn,aP=pcall(gQ,KEYS,ARGV) if bn and aP then return aP end
return hJ(not bn and aP)
