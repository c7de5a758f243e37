-- RL.PEEK COUNTER, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aG,h local O,x,an,dh=string.find,string.format,string.match,string.sub local function bE(M) return M==''and 1000
or M=='ms'and 1 or M=='s'and 1000 or M=='m'and 60000 or M=='h'and 3600000 or M=='d'and 86400000 or nil end
local function cI(r,e,C) local U,X,l=r[e],r[e+1],r[e+2] if not X then h().k('ARITY') end local a={ r='', l=0, now_ms=0,
a=0, c=0, limit=0, d=0, e=1, form=nil, delay=0, h=nil, i=nil, allowed=false, count=0, ttl=0, f='keep', remaining=0, j=1,
} e=e+2 if l=='LINE'and not r[e+1]and C~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=l,e+1
elseif l then local af=r[e+1]or''
local br=C==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and r[e+2]=='LINE'and not r[e+3]and#af<16
if br and l=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and O(af,'^[1-9]%d*$')then
a.form,a.e,e='LINE',af+0,e+3 elseif br and l=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and af~=''then
a.form,a.ID,e='LINE',af,e+3 else e=h().G(a,r,e,C) a.e=a.COST or 1 end end local co=#X<16 and O(X,'^[1-9]%d*$')
a.limit=co and X+0 or h().F('limit',X,0) local F,M=an(U,'^([1-9]%d*)(%l*)$') local as=F and#U<16 and bE(M)
local k=as and F*as if not k or k<1 or k>1e15 then k=h().N(a,U) end
a.a,a.c,a.d=k,k<9e12 and k*1000 or h().s(k,1000),a.BURST or a.limit return a,e end local function cF(r,C)
local a,e=cI(r,1,C) if r[e]then h().A(a,C,r[e]) end return a end local bl=redis.call local function cN(a)
local bL=bl('TIME') local ba=bL[1]*1000000+bL[2] a.l,a.now_ms=ba,(ba-ba%1000)/1000 end local function da(a,K,e,bg,aY)
local z=K[e] if not z then h().k('KEYS') end a.r,e=z,e+1 if aY then a.g=z elseif O(z,':reserved',1,true)then h().I(z)
end if bg then e=a.U and e+2 or h().K(a,K,e,z) end return e end local function S(a,K,bg,aY) cN(a)
if#K~=da(a,K,1,bg,aY)-1 then h().k('KEYS') end end local function de(f,cK) local b,c,aO,aQ,q=an(f,cK) if not b then
return nil elseif O(f,':0%d')then return nil end local E=#aQ<17 and aQ+0 return#b<16 and b+0 or h().m(b),
#c<16 and c+0 or h().m(c), #aO<16 and aO+0 or h().m(aO), E and E<9e15 and E or h().m(aQ), q end local function cq(y)
return y and y-y==0 and y>=1 and y<=1e15 end local function A(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c
end return h().s(b,c) end local function ca(f) local k,F,t,v,q=de(f,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$')
if not cq(k)or not F or not t or not v or q~=''then return nil end local B=A(F,k) local T=A(B,1000)
if T-T~=0 or t-t~=0 or v-v~=0 then if h().o(T)or h().o(t)or h().o(v)then return nil end end if B==0 and v~=0 then
return nil end return{a=k,b=B,current=t,previous=v} end local function ct(a) local f=bl('GET',a.r) if f then
a.h=ca(f)or h().z(f,('COUNTER'),'FOREIGN_VALUE') end end local function at(k,B,t,v) return{a=k,b=B,current=t,previous=v}
end local function aK(a,o) local bx,k=a.now_ms,a.a local B=bx-bx%k if not o then return at(k,B,0,0)
elseif o.b==B and o.a==k then return o end return h().H(a,o,B) end local function ae(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return h().J(b,c) end local function bf(a,g) local v=g.previous
return v==0 and 0 or A(v,ae(a.c,a.l-g.b*1000)) end local function u(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then
return b+c end return h().v(b,c) end local function P(b,c) if b-b==0 and c-c==0 then return b<c end return h().D(b,c)
end local function am(d) if d-d~=0 or d>=(2^53)then h().k('INEXACT_REPLY') end return d end local function av(b,c)
if b-b==0 and c-c==0 then local q=b%c return(b-q)/c,q end return h().q(b,c) end local function aT(b,c)
if b-b==0 and c-c==0 then local q=b%c return q==0 and b/c or(b-q)/c+1 end local ah,q=h().q(b,c)
return q==0 and ah or u(ah,1) end local function cg(N,g) local aF=g.current~=0 and 2 or g.previous~=0 and 1 or 0
return u(g.b,g.a*aF) end local function bG(a,g,aE) a.x=g a.remaining=ae(ae(a.limit,g.current),aE==0 and 0 or aT(aE,a.c))
end local function bM(a,ai,s) return s==0 and 0 or ae(a.c,(av(A(ai,a.c),s))) end local function m(a,j)
local ai,g=a.limit-j,a.x local t,T=g.current,A(g.b,1000) if ai<0 then return nil elseif P(ai,t)then
T=u(u(T,a.c),bM(a,ai,t)) else T=u(T,bM(a,ai-t,g.previous)) end return aT(ae(T,a.l),1000) end local function ad(y)
local q=y%1000 return y<0 and-1 or q==0 and y/1000 or(y-q)/1000+1 end local function db(a,j)
local m=m(a,j==0 and 1 or j) m=m and ad(am(m))or-1 return m==0 and 1 or m end local function aR(a,j)
local o,X,U=a.h,a.limit,a.c local g=aK(a,o) local t,v=g.current,bf(a,g) local cy=A(u(t,j==0 and 1 or j),U)
local aL=not P(A(X,U),u(cy,v)) a.allowed,a.f=aL,'keep' a.count=am(v==0 and t or u(t,(av(v,U)))) if aL and j>0 then
g=at(a.a,g.b,u(t,j),g.previous) a.f,a.i='charge',g elseif o and X>0 and(P(a.now_ms,o.b)or o.a~=a.a)then
if t~=0 or g.previous~=0 then a.f,a.i='rebase',g end end if aL then a.ttl=am(aT(ae(A(cg(a,g),1000),a.l),1000000)) else
bG(a,g,v) a.ttl=db(a,j) end end local function bZ(a) if a.PARTIAL or a.ALWAYS then h().y(a) else local j=a.e a.j=j
aR(a,j) end if a.SHADOW then h().w(a) end end local function aV(a,N,o) local g=aK(a,o) bG(a,g,bf(a,g)) end
local function aw(a) local W,m=a.f,m aV(a,W,W=='keep'and a.h or W~='delete'and a.i or nil)
local Y,aP,L,R,ac=a.remaining,a.d,0,0,0 if not a.allowed then local j=a.j L=m(a,a.t or(j==0 and 1 or j))or-1
if a.B and L>=0 then L=math.max(L,a.B) end end if Y<aP then R=m(a,Y+1)or-1 ac=Y+1==aP and R or m(a,aP)or-1 end
if L-L~=0 or R-R~=0 or ac-ac~=0 or L>=(2^53)or ac>=(2^53)then h().k('INEXACT_REPLY') end return Y,L,R,ac,0 end
local function cr(a,w) local Y,L,R,ac,cb=aw(a) local cW=a.n and 1 or 0 return x(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().u(a)or 1)or 0,a.count,a.ttl,a.d,Y,L,R,ac, cb,a.now_ms,cW,w ) end local function cQ(a,w)
local Z=a.form if Z=='LINE'then return cr(a,w) elseif Z then return h().E(a,w) end
return{a.allowed and(a.PARTIAL and h().u(a)or 1)or 0,a.count,a.ttl} end local function cV(K,r)
local a=cF(r,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') S(a,K) ct(a,'read') bZ(a) return cQ(a,0)
end function h() if not aG then local n={}
n.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
n.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
n.ID='ERR invalid ID: expected 1 to 512 bytes'
n.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
n.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
n.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
n.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
n.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
n.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
n.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
n.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
n.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
n.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
n.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
n.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' n.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
n.OVERFLOW='ERR increment or decrement would overflow' n.ARITY='ERR wrong number of arguments'
n.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
n.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function aB(b,c)
return P(c,b)and c or b end local aH={ __sub=function() return 1 end, }
local aI=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aH) local function bw(d) return aB(d,aI) end local function cO(a,o,B)
local k=a.a if P(a.now_ms,o.b)then return at(k,B,aB(u(o.current,o.previous),a.limit),0) end local ak=at(k,B,0,0)
local function S(s,bn) if bn>B then ak.current=bw(u(ak.current,s)) elseif bn+k>B then ak.previous=bw(u(ak.previous,s))
end end S(o.current,o.b+o.a) S(o.previous,o.b) return ak end local function J(f) error({err=f},0) end
local function D(Q) J(n[Q]) end local function ch(f,p,cD)
local df={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bh=df[an(f,'^(%u):')] if not bh or bh==p then
D(cD) end J('ERR the key holds a state of '..bh..': use another key for each algorithm') end local function cf(aq)
if type(aq)=='table'then return aq elseif O(aq,'^%u+ ')then return redis.error_reply(aq) end error(aq,0) end
local function bu(b,c) local bj,bU=b-b==0,c-c==0 if bj or bU then return bj elseif#b~=#c then return#b<#c end
for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function ag(d) if d-d~=0 then
return d end local i,s={},0 while d>0 do local H=d%(2^24) s=s+1 i[s]=H d=(d-H)/(2^24) end return i end
local function ax(i) local s=#i while s>0 and i[s]==0 do i[s]=nil s=s-1 end
if s>3 or(s==3 and i[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(i,aH) end
return(i[1]or 0)+(i[2]or 0)*(2^24)+(i[3]or 0)*(2^24)*(2^24) end local function bT(b,c) b,c=ag(b),ag(c) local aj,V={},0
for d=1,math.max(#b,#c)+1 do local H=(b[d]or 0)+(c[d]or 0)+V V=H>=(2^24)and 1 or 0 aj[d]=H-V*(2^24) end return ax(aj)
end local function cY(b,c) if not bu(c,b)then return 0 end c=ag(c) local bm,aM={},0 for d=1,#b do
local H=b[d]-(c[d]or 0)-aM aM=H<0 and 1 or 0 bm[d]=H+aM*(2^24) end return ax(bm) end local function cw(b,c)
b,c=ag(b),ag(c) local ap={} for d=1,#b+#c do ap[d]=0 end for d=1,#b do local V=0 for aZ=1,#c do
local H=ap[d+aZ-1]+b[d]*c[aZ]+V V=math.floor(H/(2^24)) ap[d+aZ-1]=H-V*(2^24) end ap[d+#c]=V end return ax(ap) end
local function bk(d) if d-d==0 then return d end local aj=0 for cm=#d,1,-1 do aj=aj*(2^24)+d[cm] end return aj end
local function cd(b,c) local ah=0 while not P(b,c)do local aD=math.max(1,math.floor(bk(b)/bk(c)*(1-2^-45)))
aD=ax(ag(aD)) ah=u(ah,aD) b=ae(b,A(aD,c)) end return ah,b end local function aN(b,c) for e=1,math.min(#b,#c)do
local bO,bP=b:byte(e),c:byte(e) if bO~=bP then return bO<bP end end return#b<#c end local function aW(i)
if#i<=15 or(#i==16 and aN(i,'9007199254740992'))then return i+0 end local aX=#i%7 local d=aX>0 and i:sub(1,aX)+0 or 0
for e=aX+1,#i,7 do d=u(A(d,10000000),i:sub(e,e+6)+0) end return d end local function cG(i) if#i>1 and i:byte()==48 then
return nil elseif#i<20 or(#i==20 and not aN('18446744073709551615',i))then return aW(i) end end local function bq(d)
return P(aI,d) end local function aS(f,ao) if f~='0'and not O(f,'^[1-9]%d*$')then return nil end
return(#f<#ao or(#f==#ao and not aN(ao,f)))and f or nil end local function by(Q,f,bt)
local i=f and aS(f,'9223372036854775807') local d=i and aW(i) if not d or d==0 and bt>0 then
J(x('ERR invalid %s: expected an integer from %d to 9223372036854775807',Q,bt)) elseif d-d~=0 then
J(x('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Q)) end return d end local bi={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aa(cs,p)
return not O(p,' ',1,true)and O(cs,' '..p..' ',1,true)~=nil end local function bK(a,l)
return not aa(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or aa((' COST PARTIAL ALWAYS RESERVE RESERVATION '),l)
end local function cn(p,l) local I,E=0,0 local bH,cu=math.min(#p,#l),math.max(#p,#l)
while I<bH and p:byte(I+1)==l:byte(I+1)do I=I+1 end while E<bH-I and p:byte(-1-E)==l:byte(-1-E)do E=E+1 end
return I+E>=2 and cu-I-E<=2 end local function ci(a,C,p) local ab={} for N,G in ipairs(bi)do
if aa(C,G[1])and bK(a,G[1])then ab[#ab+1]=G[2] end end for N,Z in ipairs({'FULL','LINE','HEADERS'})do ab[#ab+1]=Z end
for N,l in ipairs(ab)do if cn(p:upper(),an(l,'^%u+'))then J('ERR syntax error: no such option, but there is '..l) end
end local E=table.remove(ab) local dc=table.concat(ab,', ')
J('ERR syntax error: after limit come '..dc..' or '..E..', each at most once') end local function cS(G,a,C)
local l,dg=G[1],a.P if not aa(C,l)then J(x('ERR invalid %s: only %s it',l,G[3])) elseif not bK(a,l)then
J(x('ERR invalid %s: %s takes none',l,('COUNTER'))) elseif a[l]~=nil then
J(x('ERR syntax error: %s comes at most once',G[2])) end end local function bA(f) local F,M=an(f,'^(%d+)(%l*)$')
local as=F and bE(M) local y=as and aS(F,'18446744073709551615')and F*as return y and y>=1 and y<=1e15 and y or nil end
local function bz(f,ao) return f and#f>=1 and#f<=ao and f end local bS=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aH)
local function cJ(l,f,bF) if l=='RESERVE'then local bN=bF and bA(bF)
return bz(f,128)and bN and{id=f,ttl=bN}or D('RESERVE') elseif l=='RESERVATION'then return bz(f,128)or D('RESERVATION')
end if l=='AS'then return f and#f>=1 and#f<=64 and not O(f,'[^%w._-]')and f or D('AS') elseif l=='AT'then
local i=f and aS(f,'9223372036854775807') return i and aB(aW(i),(av(bS,1000)))or D('AT') end
return by(l,f,l=='BURST'and 1 or 0) end local function cR(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
D(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
D(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bQ={FULL=true,LINE=true,HEADERS=true}
local function cA(Z,bv) if Z then D(Z==bv and'FORM_TWICE'or'TWO_FORMS') end return bv end local function cH(a,r,e,C)
while r[e]do local p,G=r[e]:upper(),nil for N,bs in ipairs(bi)do G=bs[1]==p and bs or G end if G then cS(G,a,C)
if G[2]==p then a[p]=true e=e+1 else a[p]=cJ(p,r[e+1],r[e+2]) e=e+(p=='RESERVE'and 3 or 2) end cR(a)
elseif bQ[p]and aa(C,'form')then a.form=cA(a.form,p) e=e+1 else return e end end return e end
local bR={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function dd(a,f) local k=bA(f)
if not k then a.M=f:upper() k=bR[a.M] if not k then
D(aa((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aa((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
J(x('ERR invalid window: %s takes no windows of the calendar',('COUNTER'))) end end return k end local function ck(z)
return z:sub(-9)==':reserved'or z:sub(-14)==':reserved:ends' end local function cT(z) if ck(z)then D('RESERVED_KEY') end
end local function cZ(a,K,e,z) local ay,bo=K[e]or'',K[e+1] local Q=((nil)and(nil)(a)or'')..':reserved'
if(ay~=z..Q and ay~='{'..z..'}'..Q)or bo~=ay..':ends'then D('KEYS') end a.S,a.Q=ay,bo return e+2 end
local function bW(a) local cB=a.PARTIAL and a.j<a.e a.n=a.SHADOW and not a.p and(cB or not a.allowed)
if not a.allowed and(a.n or a.p)then a.allowed=true if not(nil)then local N,N,N,bd=aw(a) a.ttl=ad(bd) end end end
local function cP(a) aV(a,'keep',a.h) return a.remaining end local function cL(g,al) if not al or not P(al,g.b)then
return'current' end return al+g.a>=g.b and'previous'or nil end local function cE(a,al,j) local g=aK(a,a.h)
local S=cL(g,al) if j==0 or not S then return'keep' end local w=at(g.a,g.b,g.current,g.previous) w[S]=u(w[S],j)
local aE=u(A(w.current,a.c),bf(a,w)) if bq(w[S])or P(A(aI,a.c),aE)then D('OVERFLOW') end return'charge',w end
local function cX(W,aJ,bV) if W=='keep'then return bV end return W~='delete'and aJ or nil end local function cz(j)
return j==0 and 1 or j end local function bX(a) local j=a.e aR(a,0) local W,aJ=cE(a,nil,j) if j>0 then a.f,a.i=W,aJ end
local bI=cX(a.f,a.i,a.h) aV(a,a.f,bI) a.allowed=a.d>0 and m(a,0)==0 a.t=a.d>0 and j or cz(j) if(nil)then
a.count,a.ttl=(nil)(bI,a.now_ms) elseif a.allowed then a.ttl=ad(am(m(a,a.d))) else local m=m(a,a.t)
a.ttl=m and math.max(1,ad(am(m)))or-1 end end local function bY(a) local j=a.e if a.PARTIAL then j=math.min(j,cP(a)) end
a.j=j if a.ALWAYS then bX(a) else aR(a,j) end end local function bB(a) return a.p and a.p.e or a.n and a.e or a.j end
local function bp(a) if not a.allowed then return 0 end return a.PARTIAL and bB(a)or 1 end local function cj(a,w)
local Y,cU,R,bd,cc=aw(a) return{ 'allowed',bp(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.d, 'remaining',Y,
'retry_after_ms',cU, 'next_ms',R, 'reset_ms',bd, 'delay_ms',cc, 'now_ms',a.now_ms, 'shadow',a.n and 1 or 0, 'charged',w,
} end local function cx(ar) local bJ={} for N,a in ipairs(ar)do local I,F=a.AS or('COUNTER'):lower(),2 a.g=I
while bJ[a.g]do a.g=x('%s-%d',I,F) F=F+1 end bJ[a.g]=true end end local function aA(d)
return x('%.0f',aB(d,999999999999999)) end local function cM(a) local k=(nil)and(nil)(a)or a.a local aU,q=1000,k%1000
while q>0 do aU,q=q,aU%q end local aF=1000/aU local U=av(A(k,aF),1000)
return x('"%s";q=%s;w=%s',a.g,aA(A(a.limit,aF)),aA(U)) end local function cp(aC,bb) if aC.allowed~=bb.allowed then
return not aC.allowed end local m,bc=aC.retry_after_ms,bb.retry_after_ms if m~=bc then return m<0 or(bc>=0 and m>bc) end
return aC.remaining<bb.remaining end local function cl(ar) local be,bC=ar[1],{} cx(ar) for d,a in ipairs(ar)do
bC[d]=cM(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aw(a) if cp(a,be)then be=a end end local a=be local au={
'X-RateLimit-Limit', x('%.0f',a.d), 'X-RateLimit-Remaining', x('%.0f',a.remaining), } local function az(Q,af)
au[#au+1]=Q au[#au+1]=af end if a.reset_ms>=0 then az('X-RateLimit-Reset',x('%.0f',ad(a.now_ms+a.reset_ms))) end
az('RateLimit-Policy',table.concat(bC,', ')) local cv=a.next_ms>=0 and';t='..aA(ad(a.next_ms))or''
az('RateLimit',x('"%s";r=%s%s',a.g,aA(a.remaining),cv)) if not a.allowed and a.retry_after_ms>=0 then
az('Retry-After',x('%.0f',ad(a.retry_after_ms))) end return au end local function cC(a,w) if a.form=='FULL'then
return cj(a,w) end return{bp(a),a.count,a.ttl,cl({a})} end
aG={v=bT,w=bW,y=bY,q=cd,error_reply=cf,k=D,z=ch,A=ci,o=bq,D=bu,s=cw,E=cC,F=by,m=cG,G=cH,u=bB,H=cO,I=cT,J=cY,K=cZ,N=dd}
end return aG end local ce,bD=pcall(cV,KEYS,ARGV) return ce and bD or h().error_reply(bD)
