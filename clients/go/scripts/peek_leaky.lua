-- RL.PEEK LEAKY, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aB,h local K,t,an,cY=string.find,string.format,string.match,string.sub local function s(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return h().z(b,c) end local function bt(a) a.o=s(a.a,a.c)
if a.o-a.o~=0 then h().X(a) end end local function cx(r,e,w) local z,F,j=r[e],r[e+1],r[e+2] if not F then h().n('ARITY')
end local a={ y='', p=0, now_ms=0, b=0, c=0, limit=0, a=0, e=1, form=nil, v=0, j=nil, k=nil, allowed=false, count=0,
ttl=0, f='keep', remaining=0, l=1, } e=e+2
if j=='LINE'and not r[e+1]and w~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=j,e+1 elseif j then
local ae=r[e+1]or''
local bj=w==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and r[e+2]=='LINE'and not r[e+3]and#ae<16
if bj and j=='COST'and(' COST PARTIAL BURST ')~=' ID 'and K(ae,'^[1-9]%d*$')then a.form,a.e,e='LINE',ae+0,e+3
elseif bj and j=='ID'and(' COST PARTIAL BURST ')==' ID 'and ae~=''then a.form,a.ID,e='LINE',ae,e+3 else e=h().U(a,r,e,w)
a.e=a.COST or 1 end end local aR=#F<16 and K(F,'^[1-9]%d*$') a.limit=aR and F+0 or h().S('limit',F,0)
aR=#z<10 and K(z,'^[1-9]%d*$') local q=aR and z*1000 or h().aa(a,z)
a.b,a.c,a.a=q,q<9e12 and q*1000 or h().z(q,1000),a.BURST or a.limit if bt then bt(a) end return a,e end
local function cv(r,w) local a,e=cx(r,1,w) if r[e]then h().I(a,w,r[e]) end return a end local bg=redis.call
local function cE(a) local A=bg('TIME') local Z=A[1]*1000000+A[2] a.p,a.now_ms=Z,(Z-Z%1000)/1000 end
local function cQ(a,ag,e,bD,aS) local L=ag[e] if not L then h().n('KEYS') end a.y,e=L,e+1 if aS then a.i=L
elseif K(L,':reserved',1,true)then h().W(L) end return e end local function cC(a,ag,bD,aS) cE(a)
if#ag~=cQ(a,ag,1,bD,aS)-1 then h().n('KEYS') end end local function cV(g,cB) local b,c,aH,aJ,m=an(g,cB) if not b then
return nil elseif K(g,':0%d')then return nil end local x=#aJ<17 and aJ+0 return#b<16 and b+0 or h().t(b),
#c<16 and c+0 or h().t(c), #aH<16 and aH+0 or h().t(aH), x and x<9e15 and x or h().t(aJ), m end local function cg(u)
return u and u-u==0 and u>=1 and u<=1e15 end local function bQ(g)
local v,k,q,e,m=cV(g,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not cg(q)or not v or not k or not e then return nil end
local I=0 if m~=''then I=h().F(m) if not I then return nil end end if v-v~=0 or e-e~=0 or k-k~=0 or k>=q*1000 then
if h().M(v,k,q,e)then return nil end end return{r=v,q=k,b=q,at=e,g=I} end local function cj(a) local g=bg('GET',a.y)
if g then a.j=bQ(g)or h().H(g,('LEAKY'),'FOREIGN_VALUE') end end local function ak(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return h().Y(b,c) end local function H(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then
return b+c end return h().D(b,c) end local function T(b,c) if b-b==0 and c-c==0 then local m=b%c
return m==0 and b/c or(b-m)/c+1 end local aj,m=h().x(b,c) return m==0 and aj or H(aj,1) end local function M(b,c)
if b-b==0 and c-c==0 then return b<c end return h().N(b,c) end local function ao(b,c) return M(c,b)and c or b end
local function cA(a,o) local k,z,v=o.q,a.c,o.r if o.b~=a.b and k~=0 then k=T(s(k,z),s(o.b,1000)) end
v=ao(H(s(v,z),k),a.o) return o.g==0 and v or H(v,s(o.g,z)) end local function aX(a,o) if not o then return 0 end
return ak(cA(a,o),s(ak(a.p,o.at),a.limit)) end local function av(b,c) if b-b==0 and c-c==0 then local m=b%c
return(b-m)/c,m end return h().x(b,c) end local function W(d) if d-d~=0 or d>=(2^53)then h().n('INEXACT_REPLY') end
return d end local function ba(a,ac) local A=T(ac,a.limit) return A-A==0 and A or h().P(A) end local function bw(a,ac)
a.V=ac a.remaining=a.limit==0 and 0 or ak(a.a,T(ac,a.c)) end local function n(a,i) local F,bv=a.limit,a.a-i
if F==0 or bv<0 then return nil end local A=T(ak(a.V,s(bv,a.c)),F) if A-A~=0 and h().K(H(A,a.p))then return nil end
return T(A,1000) end local function ad(u) local m=u%1000 return u<0 and-1 or m==0 and u/1000 or(u-m)/1000+1 end
local function cS(a,i) local n=n(a,i==0 and 1 or i) n=n and ad(W(n))or-1 return n==0 and 1 or n end
local function aK(a,i) local o,F,z,Z=a.j,a.limit,a.c,a.p local V=aX(a,o) local bo=H(V,s(i==0 and 1 or i,z))
local au=F>0 and not M(a.o,bo) local am,k=av(V,z) a.allowed,a.count,a.f=au,W(k==0 and am or H(am,1)),'keep'
if au and i>0 then a.f='charge' a.k={r=H(am,i),q=k,b=a.b,at=Z,g=0} a.ttl=W(T(ba(a,bo),1000000)) else
if o and F>0 and M(Z,o.at)then a.f='rebase' a.k={r=o.r,q=o.q,b=o.b,at=Z,g=o.g} end if au then
a.ttl=W(T(ba(a,V),1000000)) else bw(a,V) a.ttl=cS(a,i) end end a.v=true and au and ba(a,V)or 0 end local function bP(a)
if a.PARTIAL or a.ALWAYS then h().G(a) else local i=a.e a.l=i aK(a,i) end if a.SHADOW then h().E(a) end end
local function aN(a,O,o) bw(a,aX(a,o)) end local function aw(a) local R,n=a.f,n
aN(a,R,R=='keep'and a.j or R~='delete'and a.k or nil) local P,aI,G,N,U=a.remaining,a.a,0,0,0 if not a.allowed then
local i=a.l G=n(a,a.A or(i==0 and 1 or i))or-1 if a.J and G>=0 then G=math.max(G,a.J) end end if P<aI then
N=n(a,P+1)or-1 U=P+1==aI and N or n(a,aI)or-1 end if G-G~=0 or N-N~=0 or U-U~=0 or G>=(2^53)or U>=(2^53)then
h().n('INEXACT_REPLY') end if a.v~=0 then return P,G,N,U,W(T(a.v,1000)) end return P,G,N,U,0 end local function ch(a,S)
local P,G,N,U,bR=aw(a) local cN=a.u and 1 or 0 return t( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and h().B(a)or 1)or 0,a.count,a.ttl,a.a,P,G,N,U, bR,a.now_ms,cN,S ) end local function cG(a,S)
local X=a.form if X=='LINE'then return ch(a,S) elseif X then return h().Q(a,S) end
return{a.allowed and(a.PARTIAL and h().B(a)or 1)or 0,a.count,a.ttl} end local function cM(ag,r)
local a=cv(r,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ') cC(a,ag) cj(a,'read') bP(a)
return cG(a,0) end function h() if not aB then local l={}
l.SPAN='ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
l.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
l.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
l.ID='ERR invalid ID: expected 1 to 512 bytes'
l.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
l.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
l.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
l.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
l.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
l.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
l.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
l.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
l.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
l.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
l.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
l.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' l.OVERFLOW='ERR increment or decrement would overflow' l.ARITY='ERR wrong number of arguments'
l.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
l.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
l.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local at={ __sub=function()
return 1 end, } local aD=setmetatable({(2^24)-1,(2^24)-1,2^16-1},at) local function cq(aU) return ao(aU,aD) end
local function cc(aU) return M(aD,aU) end local bI=setmetatable({6553600,11973543,3552},at) local function J(g)
error({err=g},0) end local function D(ai) J(l[ai]) end local function cK(a) if a.limit>0 and M(s(a.limit,bI),a.o)then
D('SPAN') end end local aC=setmetatable({(2^24)-1,(2^24)-1,2^15-1},at) local function aQ(d) return M(aC,d) end
local function cd(v,k,q,e) local cR=aQ(v)or(not M(v,aC)and k~=0) return cR or aQ(e)or not M(k,s(q,1000)) end
local function aG(b,c) for e=1,math.min(#b,#c)do local bE,bF=b:byte(e),c:byte(e) if bE~=bF then return bE<bF end end
return#b<#c end local function aO(f) if#f<=15 or(#f==16 and aG(f,'9007199254740992'))then return f+0 end local aP=#f%7
local d=aP>0 and f:sub(1,aP)+0 or 0 for e=aP+1,#f,7 do d=H(s(d,10000000),f:sub(e,e+6)+0) end return d end
local function bq(f) if#f>1 and f:byte()==48 then return nil
elseif#f<20 or(#f==20 and not aG('18446744073709551615',f))then return aO(f) end end local function bM(m)
local f=an(m,'^:(%d+)$') local I=f and bq(f) return I and I~=0 and not aQ(I)and I or nil end local function bW(g,p,ct)
local cW={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bb=cW[an(g,'^(%u):')] if not bb or bb==p then
D(ct) end J('ERR the key holds a state of '..bb..': use another key for each algorithm') end local function bV(aq)
if type(aq)=='table'then return aq elseif K(aq,'^%u+ ')then return redis.error_reply(aq) end error(aq,0) end
local function bm(b,c) local be,bK=b-b==0,c-c==0 if be or bK then return be elseif#b~=#c then return#b<#c end
for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function af(d) if d-d~=0 then
return d end local f,B={},0 while d>0 do local C=d%(2^24) B=B+1 f[B]=C d=(d-C)/(2^24) end return f end
local function ax(f) local B=#f while B>0 and f[B]==0 do f[B]=nil B=B-1 end
if B>3 or(B==3 and f[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(f,at) end
return(f[1]or 0)+(f[2]or 0)*(2^24)+(f[3]or 0)*(2^24)*(2^24) end local function bJ(b,c) b,c=af(b),af(c) local al,Q={},0
for d=1,math.max(#b,#c)+1 do local C=(b[d]or 0)+(c[d]or 0)+Q Q=C>=(2^24)and 1 or 0 al[d]=C-Q*(2^24) end return ax(al)
end local function cP(b,c) if not bm(c,b)then return 0 end c=af(c) local bh,aF={},0 for d=1,#b do
local C=b[d]-(c[d]or 0)-aF aF=C<0 and 1 or 0 bh[d]=C+aF*(2^24) end return ax(bh) end local function cm(b,c)
b,c=af(b),af(c) local ap={} for d=1,#b+#c do ap[d]=0 end for d=1,#b do local Q=0 for aT=1,#c do
local C=ap[d+aT-1]+b[d]*c[aT]+Q Q=math.floor(C/(2^24)) ap[d+aT-1]=C-Q*(2^24) end ap[d+#c]=Q end return ax(ap) end
local function bf(d) if d-d==0 then return d end local al=0 for cb=#d,1,-1 do al=al*(2^24)+d[cb] end return al end
local function bT(b,c) local aj=0 while not M(b,c)do local k=math.max(1,math.floor(bf(b)/bf(c)*(1-2^-45))) k=ax(af(k))
aj=H(aj,k) b=ak(b,s(k,c)) end return aj,b end local function aL(g,ah) if g~='0'and not K(g,'^[1-9]%d*$')then return nil
end return(#g<#ah or(#g==#ah and not aG(ah,g)))and g or nil end local function bp(ai,g,bl)
local f=g and aL(g,'9223372036854775807') local d=f and aO(f) if not d or d==0 and bl>0 then
J(t('ERR invalid %s: expected an integer from %d to 9223372036854775807',ai,bl)) elseif d-d~=0 then
J(t('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ai)) end return d end local bc={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Y(ci,p)
return not K(p,' ',1,true)and K(ci,' '..p..' ',1,true)~=nil end local function bA(a,j)
return not Y(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or Y((' COST PARTIAL BURST '),j)
end local function ce(p,j) local E,x=0,0 local bx,ck=math.min(#p,#j),math.max(#p,#j)
while E<bx and p:byte(E+1)==j:byte(E+1)do E=E+1 end while x<bx-E and p:byte(-1-x)==j:byte(-1-x)do x=x+1 end
return E+x>=2 and ck-E-x<=2 end local function bX(a,w,p) local ab={} for O,y in ipairs(bc)do
if Y(w,y[1])and bA(a,y[1])then ab[#ab+1]=y[2] end end for O,X in ipairs({'FULL','LINE','HEADERS'})do ab[#ab+1]=X end
for O,j in ipairs(ab)do if ce(p:upper(),an(j,'^%u+'))then J('ERR syntax error: no such option, but there is '..j) end
end local x=table.remove(ab) local cT=table.concat(ab,', ')
J('ERR syntax error: after limit come '..cT..' or '..x..', each at most once') end local function cI(y,a,w)
local j,cX=y[1],a.ab if not Y(w,j)then J(t('ERR invalid %s: only %s it',j,y[3])) elseif not bA(a,j)then
J(t('ERR invalid %s: %s takes none',j,('LEAKY'))) elseif a[j]~=nil then
J(t('ERR syntax error: %s comes at most once',y[2])) end end local function cy(j,g,cZ) if j=='AS'then
return g and#g>=1 and#g<=64 and not K(g,'[^%w._-]')and g or D('AS') elseif j=='AT'then
local f=g and aL(g,'9223372036854775807') return f and ao(aO(f),(av(aD,1000)))or D('AT') end
return bp(j,g,j=='BURST'and 1 or 0) end local function cH(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
D(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
D(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bG={FULL=true,LINE=true,HEADERS=true}
local function cp(X,bn) if X then D(X==bn and'FORM_TWICE'or'TWO_FORMS') end return bn end local function cw(a,r,e,w)
while r[e]do local p,y=r[e]:upper(),nil for O,bk in ipairs(bc)do y=bk[1]==p and bk or y end if y then cI(y,a,w)
if y[2]==p then a[p]=true e=e+1 else a[p]=cy(p,r[e+1],r[e+2]) e=e+(p=='RESERVE'and 3 or 2) end cH(a)
elseif bG[p]and Y(w,'form')then a.form=cp(a.form,p) e=e+1 else return e end end return e end
local bd={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cz(g) local aa,bB=an(g,'^(%d+)(%l*)$')
local u=aa and bd[bB]and aL(aa,'18446744073709551615')and aa*bd[bB] return u and u>=1 and u<=1e15 and u or nil end
local bH={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cU(a,g) local q=cz(g)
if not q then a.Z=g:upper() q=bH[a.Z] if not q then
D(Y((' COST PARTIAL BURST '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Y((' COST PARTIAL BURST '),'ANCHOR')then
J(t('ERR invalid window: %s takes no windows of the calendar',('LEAKY'))) end end return q end local function bZ(L)
return L:sub(-9)==':reserved'or L:sub(-14)==':reserved:ends' end local function cJ(L) if bZ(L)then D('RESERVED_KEY') end
end local function bL(a) local cr=a.PARTIAL and a.l<a.e a.u=a.SHADOW and not a.w and(cr or not a.allowed)
if not a.allowed and(a.u or a.w)then a.allowed=true if not(nil)then local O,O,O,aY=aw(a) a.ttl=ad(aY) end end end
local function cF(a) aN(a,'keep',a.j) return a.remaining end local function cu(a,O,i) if i==0 or a.limit==0 then
return'keep' end local ac=H(aX(a,a.j),s(i,a.c)) if M(s(aC,a.c),ac)then D('OVERFLOW') end local am,k=av(ac,a.c)
local ah=k==0 and a.a or a.a-1 local v,I=ao(am,ah),ak(am,ah) return'charge',{r=v,q=k,b=a.b,at=a.p,g=I} end
local function cO(R,aE,V) if R=='keep'then return V end return R~='delete'and aE or nil end local function co(i)
return i==0 and 1 or i end local function bN(a) local i=a.e aK(a,0) local R,aE=cu(a,nil,i) if i>0 then a.f,a.k=R,aE end
local by=cO(a.f,a.k,a.j) aN(a,a.f,by) a.allowed=a.a>0 and n(a,0)==0 a.A=a.a>0 and i or co(i) if(nil)then
a.count,a.ttl=(nil)(by,a.now_ms) elseif a.allowed then a.ttl=ad(W(n(a,a.a))) else local n=n(a,a.A)
a.ttl=n and math.max(1,ad(W(n)))or-1 end end local function bO(a) local i=a.e if a.PARTIAL then i=math.min(i,cF(a)) end
a.l=i if a.ALWAYS then bN(a) else aK(a,i) end end local function br(a) return a.w and a.w.e or a.u and a.e or a.l end
local function bi(a) if not a.allowed then return 0 end return a.PARTIAL and br(a)or 1 end local function bY(a,S)
local P,cL,N,aY,bS=aw(a) return{ 'allowed',bi(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.a, 'remaining',P,
'retry_after_ms',cL, 'next_ms',N, 'reset_ms',aY, 'delay_ms',bS, 'now_ms',a.now_ms, 'shadow',a.u and 1 or 0, 'charged',S,
} end local function cn(ar) local bz={} for O,a in ipairs(ar)do local E,aa=a.AS or('LEAKY'):lower(),2 a.i=E
while bz[a.i]do a.i=t('%s-%d',E,aa) aa=aa+1 end bz[a.i]=true end end local function az(d)
return t('%.0f',ao(d,999999999999999)) end local function cD(a) local q=(nil)and(nil)(a)or a.b local aM,m=1000,q%1000
while m>0 do aM,m=m,aM%m end local bC=1000/aM local z=av(s(q,bC),1000)
return t('"%s";q=%s;w=%s',a.i,az(s(a.limit,bC)),az(z)) end local function cf(aA,aV) if aA.allowed~=aV.allowed then
return not aA.allowed end local n,aW=aA.retry_after_ms,aV.retry_after_ms if n~=aW then return n<0 or(aW>=0 and n>aW) end
return aA.remaining<aV.remaining end local function ca(ar) local aZ,bs=ar[1],{} cn(ar) for d,a in ipairs(ar)do
bs[d]=cD(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=aw(a) if cf(a,aZ)then aZ=a end end local a=aZ local as={
'X-RateLimit-Limit', t('%.0f',a.a), 'X-RateLimit-Remaining', t('%.0f',a.remaining), } local function ay(ai,ae)
as[#as+1]=ai as[#as+1]=ae end if a.reset_ms>=0 then ay('X-RateLimit-Reset',t('%.0f',ad(a.now_ms+a.reset_ms))) end
ay('RateLimit-Policy',table.concat(bs,', ')) local cl=a.next_ms>=0 and';t='..az(ad(a.next_ms))or''
ay('RateLimit',t('"%s";r=%s%s',a.i,az(a.remaining),cl)) if not a.allowed and a.retry_after_ms>=0 then
ay('Retry-After',t('%.0f',ad(a.retry_after_ms))) end return as end local function cs(a,S) if a.form=='FULL'then
return bY(a,S) end return{bi(a),a.count,a.ttl,ca({a})} end
aB={D=bJ,E=bL,F=bM,G=bO,x=bT,error_reply=bV,n=D,H=bW,I=bX,K=cc,M=cd,N=bm,z=cm,P=cq,Q=cs,S=bp,t=bq,U=cw,B=br,W=cJ,X=cK,Y=cP,aa=cU}
end return aB end local bU,bu=pcall(cM,KEYS,ARGV) return bU and bu or h().error_reply(bu)
