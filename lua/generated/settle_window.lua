-- RL.SETTLE WINDOW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local bn,j local aa,x,aD,ek=string.find,string.format,string.match,string.sub local function cs(X) return X==''and 1000
or X=='ms'and 1 or X=='s'and 1000 or X=='m'and 60000 or X=='h'and 3600000 or X=='d'and 86400000 or nil end
local function dF(s,f,J) local aY,R,o=s[f],s[f+1],s[f+2] if not R then j().q('ARITY') end local a={ j='', K=0, now_ms=0,
m=0, as=0, limit=0, n=0, f=1, form=nil, delay=0, c=nil, x=nil, allowed=false, count=0, ttl=0, o='keep', remaining=0,
A=1, } f=f+2 if o=='LINE'and not s[f+1]and J~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=o,f+1
elseif o then local A=s[f+1]or''
local ca=J==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and s[f+2]=='LINE'and not s[f+3]and#A<16
if ca and o=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and aa(A,'^[1-9]%d*$')then
a.form,a.f,f='LINE',A+0,f+3 elseif ca and o=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and A~=''then
a.form,a.ID,f='LINE',A,f+3 else f=j().ak(a,s,f,J) a.f=a.COST or 1 end end local dl=#R<16 and aa(R,'^[1-9]%d*$')
a.limit=dl and R+0 or j().aj('limit',R,0) local T,X=aD(aY,'^([1-9]%d*)(%l*)$') local aV=T and#aY<16 and cs(X)
local I=aV and T*aV if not I or I<1 or I>1e15 then I=j().at(a,aY) end
a.m,a.as,a.n=I,I<9e12 and I*1000 or j().J(I,1000),a.BURST or a.limit return a,f end local function dC(s,J)
local a,f=dF(s,1,J) if s[f]then j().Y(a,J,s[f]) end return a end local function dD(s,J) if not s[1+1]then j().q('ARITY')
end return dC(s,J) end local v=redis.call local function dI(a) local cz=v('TIME') local bC=cz[1]*1000000+cz[2]
a.K,a.now_ms=bC,(bC-bC%1000)/1000 end local function dZ(a,Q,f,bN,bx) local i=Q[f] if not i then j().q('KEYS') end
a.j,f=i,f+1 if bx then a.y=i elseif aa(i,':reserved',1,true)then j().al(i) end if bN then
f=a.aw and f+2 or j().ao(a,Q,f,i) end return f end local function cp(a,Q,bN,bx) dI(a) if#Q~=dZ(a,Q,1,bN,bx)-1 then
j().q('KEYS') end end local function cf(a) local i=a.j local g=v('GET',i) if g then
local A=#g<16 and aa(g,'^[1-9]%d*$')and g+0 or j().ar(g)
local w=redis.REDIS_VERSION_NUM and v('PEXPIRETIME',i)or j().X(i,a.now_ms)or-1 if w<0 then w=nil elseif w>=(2^53)then
j().q('INEXACT_STATE') end a.c={e=A,d=w} end end local function aX(m,p,Z) if m=='keep'then return Z end
return m~='delete'and p or nil end local function aO(d,e) if d-d==0 and e-e==0 then return d<e end return j().af(d,e)
end local function aU(a,q) local al=a.now_ms local w=q and q.d if not q then return nil,0 elseif w and w<=al then
return nil,0 end local aN=al+a.m return w and w<aN and w or aN,q.e>0 and q.e or 0 end local function aM(c)
if c-c~=0 or c>=(2^53)then j().q('INEXACT_REPLY') end return c end local function cA(q,n) if n and n~=q.d then
return'rebase',{e=q.e,d=n} end return'keep' end local function bd(a,B,q) local n,K=aU(a,q)
a.a,a.aq,a.remaining=n,K,K<a.limit and a.limit-K or 0 end local function ao(ac) local C=ac%1000
return ac<0 and-1 or C==0 and ac/1000 or(ac-C)/1000+1 end local function aH(d,e) if d-d==0 and e-e==0 and d+e<(2^53)then
return d+e end return j().N(d,e) end local function cW(d,e) if d-d==0 and e-e==0 then local C=d%e
return C==0 and d/e or(d-C)/e+1 end local aF,C=j().W(d,e) return C==0 and aF or aH(aF,1) end local function cw(d,e)
if d-d==0 and e-e==0 then return d>e and d-e or 0 end return j().an(d,e) end local function aQ(d,e)
if d-d==0 and e-e==0 and d*e<(2^53)then return d*e end return j().J(d,e) end local function u(a,h) local R=a.limit
if h>R then return nil elseif a.aq+h<=R then return 0 end return cW(cw(aQ(a.a,1000),a.K),1000) end
local function eb(a,h) local u=u(a,h==0 and 1 or h) u=u and ao(aM(u))or-1 return u==0 and 1 or u end
local function bs(a,h) local q,R=a.c,a.limit local n,K=aU(a,q) local bp=K+(h==0 and 1 or h)<=R
a.allowed,a.count=bp,aM(K) if bp and h>0 then n=n and q.e>=0 and n or a.now_ms+a.m a.o,a.x='charge',{e=K+h,d=n} else
a.o,a.x=cA(q,n) end bd(a,a.o,aX(a.o,a.x,q)) if bp then a.ttl=ao(aM(u(a,R))) else a.ttl=eb(a,h) end end
local function cT(a) if a.PARTIAL or a.ALWAYS then j().V(a) else local h=a.f a.A=h bs(a,h) end if a.SHADOW then j().U(a)
end end local function bc(a) local m,u=a.o,u bd(a,m,m=='keep'and a.c or m~='delete'and a.x or nil)
local an,br,V,ae,av=a.remaining,a.n,0,0,0 if not a.allowed then local h=a.A V=u(a,a.k or(h==0 and 1 or h))or-1
if a.Z and V>=0 then V=math.max(V,a.Z) end end if an<br then ae=u(a,an+1)or-1 av=an+1==br and ae or u(a,br)or-1 end
if V-V~=0 or ae-ae~=0 or av-av~=0 or V>=(2^53)or av>=(2^53)then j().q('INEXACT_REPLY') end return an,V,ae,av,0 end
local function dn(a,L) local an,V,ae,av,cU=bc(a) local dV=a.F and 1 or 0 return x(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and j().M(a)or 1)or 0,a.count,a.ttl,a.n,an,V,ae,av, cU,a.now_ms,dV,L ) end
local function dL(a,L) local ar=a.form if ar=='LINE'then return dn(a,L) elseif ar then return j().ah(a,L) end
return{a.allowed and(a.PARTIAL and j().M(a)or 1)or 0,a.count,a.ttl} end local function bT(a,m,p,L) local aZ
local w,Z,aW=nil,a.c,aX(m,p,a.c) if w and aO(w,a.now_ms)then aW=nil end a.c=aW cT(a) aZ=dL(a,L) a.c=Z if not a.ae then
j().S(a,m,p) end return aZ end local function dU(a) local b,m,p,L=j().ag(a,a.RESERVATION),'keep',nil,0 cf(a,'write')
a.P=b j().aa(a) local ah=b.b if ah then m,p=j().am(a,ah,a.ACTUAL) L=a.ACTUAL b.b=nil end a.ae=not ah and not a.G
local aZ=bT(a,m,p,L) j().Q(b) return aZ end local function dS(Q,s)
local a=dD(s,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ') local au,Y=a.RESERVED,a.ACTUAL
if Y and a.RESERVATION then cp(a,Q,true) return dU(a) end if not au or not Y then j().q('SETTLEMENT') end
local bb=math.abs(au-Y) cp(a,Q) cf(a,'write') local cQ=Y<au and j().refund or j().ai local m,p=cQ(a,a.AT,bb)
return bT(a,m,p,Y) end function j() if not bn then local t={}
t.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
t.NOT_A_COUNTER='ERR value is not an integer or out of range'
t.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
t.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
t.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
t.ID='ERR invalid ID: expected 1 to 512 bytes'
t.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
t.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
t.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
t.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds' t.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
t.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
t.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
t.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
t.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
t.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
t.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
t.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' t.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
t.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
t.ARITY='ERR wrong number of arguments'
t.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id' local function dJ(a,af,h)
local q=a.c local n,K=aU(a,q) local dj=n and af and aO(aH(af,a.m),n) if not n or K==0 or dj or h==0 then return cA(q,n)
elseif h>=K then return'delete' end return'refund',{e=K-h,d=n} end local function S(g) error({err=g},0) end
local function E(ad) S(t[ad]) end local function bF(a,af,h) if h==0 or(af and not aO(a.now_ms,aH(af,a.m)))then
return'keep' end local n,K=aU(a,a.c) if K+h>=(2^53)then E('INEXACT_REPLY') end n=n and a.c.e>=0 and n or a.now_ms+a.m
return'charge',{e=K+h,d=n} end local function cu(a,ah,Y) local q,au=a.c,ah.f or 0 if ah.p<=a.now_ms then return'keep'
elseif Y>=au then local m,p=bF(a,nil,Y-au) if m=='charge'and not aU(a,q)then p.d=math.min(ah.p,a.now_ms+a.m) end
return m,p elseif not q or q.e<=0 or q.d~=ah.p then return'keep' end local A=q.e-(au-Y) if A<=0 then return'delete' end
return'refund',{e=A,d=q.d} end local function cY(aS) if type(aS)=='table'then return aS elseif aa(aS,'^%u+ ')then
return redis.error_reply(aS) end error(aS,0) end local function ce(d,e) local bR,cK=d-d==0,e-e==0 if bR or cK then
return bR elseif#d~=#e then return#d<#e end for c=#d,1,-1 do if d[c]~=e[c]then return d[c]<e[c] end end return false end
local function ay(c) if c-c~=0 then return c end local k,D={},0 while c>0 do local P=c%(2^24) D=D+1 k[D]=P
c=(c-P)/(2^24) end return k end local bP={ __sub=function() return 1 end, } local function be(k) local D=#k
while D>0 and k[D]==0 do k[D]=nil D=D-1 end if D>3 or(D==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,bP)
end return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function cH(d,e) d,e=ay(d),ay(e)
local W,ag={},0 for c=1,math.max(#d,#e)+1 do local P=(d[c]or 0)+(e[c]or 0)+ag ag=P>=(2^24)and 1 or 0 W[c]=P-ag*(2^24)
end return be(W) end local function dX(d,e) if not ce(e,d)then return 0 end e=ay(e) local bb,bq={},0 for c=1,#d do
local P=d[c]-(e[c]or 0)-bq bq=P<0 and 1 or 0 bb[c]=P+bq*(2^24) end return be(bb) end local function ds(d,e)
d,e=ay(d),ay(e) local aR={} for c=1,#d+#e do aR[c]=0 end for c=1,#d do local ag=0 for by=1,#e do
local P=aR[c+by-1]+d[c]*e[by]+ag ag=math.floor(P/(2^24)) aR[c+by-1]=P-ag*(2^24) end aR[c+#e]=ag end return be(aR) end
local function bS(c) if c-c==0 then return c end local W=0 for di=#c,1,-1 do W=W*(2^24)+c[di] end return W end
local function bW(d,e) local aF=0 while not aO(d,e)do local am=math.max(1,math.floor(bS(d)/bS(e)*(1-2^-45)))
am=be(ay(am)) aF=aH(aF,am) d=cw(d,aQ(am,e)) end return aF,d end local function bY(i,al) local cd=v('PTTL',i)
return cd>=0 and al+cd or nil end local function aI(d,e) for f=1,math.min(#d,#e)do local cC,cD=d:byte(f),e:byte(f)
if cC~=cD then return cC<cD end end return#d<#e end local function aK(g,N) if g~='0'and not aa(g,'^[1-9]%d*$')then
return nil end return(#g<#N or(#g==#N and not aI(N,g)))and g or nil end local function da(g,z,dB)
local eg={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bO=eg[aD(g,'^(%u):')] if not bO or bO==z then
E(dB) end S('ERR the key holds a state of '..bO..': use another key for each algorithm') end local function bf(k)
if#k<=15 or(#k==16 and aI(k,'9007199254740992'))then return k+0 end local bw=#k%7 local c=bw>0 and k:sub(1,bw)+0 or 0
for f=bw+1,#k,7 do c=aH(aQ(c,10000000),k:sub(f,f+6)+0) end return c end local function ee(g)
local dW,k=aD(g,'^(%-?)(%d+)$') local bB=dW=='-' k=k and aK(k,bB and'9223372036854775808'or'9223372036854775807')
if not k or(bB and k=='0')then da(g,nil,'NOT_A_COUNTER') end local A=bf(k) if A-A~=0 then E('INEXACT_STATE') end
return bB and-A or A end local function cl(ad,g,cc) local k=g and aK(g,'9223372036854775807') local c=k and bf(k)
if not c or c==0 and cc>0 then S(x('ERR invalid %s: expected an integer from %d to 9223372036854775807',ad,cc))
elseif c-c~=0 then S(x('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ad)) end return c end
local bQ={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function as(aC,z)
return not aa(z,' ',1,true)and aa(aC,' '..z..' ',1,true)~=nil end local function cy(a,o)
return not as(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',o)or as((' COST PARTIAL ALWAYS RESERVE RESERVATION '),o)
end local function dk(z,o) local y,ab=0,0 local cv,dq=math.min(#z,#o),math.max(#z,#o)
while y<cv and z:byte(y+1)==o:byte(y+1)do y=y+1 end while ab<cv-y and z:byte(-1-ab)==o:byte(-1-ab)do ab=ab+1 end
return y+ab>=2 and dq-y-ab<=2 end local function db(a,J,z) local at={} for B,M in ipairs(bQ)do
if as(J,M[1])and cy(a,M[1])then at[#at+1]=M[2] end end for B,ar in ipairs({'FULL','LINE','HEADERS'})do at[#at+1]=ar end
for B,o in ipairs(at)do if dk(z:upper(),aD(o,'^%u+'))then S('ERR syntax error: no such option, but there is '..o) end
end local ab=table.remove(at) local ed=table.concat(at,', ')
S('ERR syntax error: after limit come '..ed..' or '..ab..', each at most once') end local function dN(M,a,J)
local o,eh=M[1],a.au if not as(J,o)then S(x('ERR invalid %s: only %s it',o,M[3])) elseif not cy(a,o)then
S(x('ERR invalid %s: %s takes none',o,('WINDOW'))) elseif a[o]~=nil then
S(x('ERR syntax error: %s comes at most once',M[2])) end end local function cn(g) local T,X=aD(g,'^(%d+)(%l*)$')
local aV=T and cs(X) local ac=aV and aK(T,'18446744073709551615')and T*aV return ac and ac>=1 and ac<=1e15 and ac or nil
end local function cm(g,N) return g and#g>=1 and#g<=N and g end local function ci(d,e) return aO(e,d)and e or d end
local function bt(d,e) if d-d==0 and e-e==0 then local C=d%e return(d-C)/e,C end return bW(d,e) end
local cG=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bP) local function dG(o,g,bk) if o=='RESERVE'then
local ax=bk and cn(bk) return cm(g,128)and ax and{id=g,ttl=ax}or E('RESERVE') elseif o=='RESERVATION'then
return cm(g,128)or E('RESERVATION') end if o=='AS'then
return g and#g>=1 and#g<=64 and not aa(g,'[^%w._-]')and g or E('AS') elseif o=='AT'then
local k=g and aK(g,'9223372036854775807') return k and ci(bf(k),(bt(cG,1000)))or E('AT') end
return cl(o,g,o=='BURST'and 1 or 0) end local function dM(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
E(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
E(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cE={FULL=true,LINE=true,HEADERS=true}
local function dv(ar,cj) if ar then E(ar==cj and'FORM_TWICE'or'TWO_FORMS') end return cj end local function dE(a,s,f,J)
while s[f]do local z,M=s[f]:upper(),nil for B,cb in ipairs(bQ)do M=cb[1]==z and cb or M end if M then dN(M,a,J)
if M[2]==z then a[z]=true f=f+1 else a[z]=dG(z,s[f+1],s[f+2]) f=f+(z=='RESERVE'and 3 or 2) end dM(a)
elseif cE[z]and as(J,'form')then a.form=dv(a.form,z) f=f+1 else return f end end return f end
local cF={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function ef(a,g) local I=cn(g)
if not I then a.ap=g:upper() I=cF[a.ap] if not I then
E(as((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not as((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
S(x('ERR invalid window: %s takes no windows of the calendar',('WINDOW'))) end end return I end local function dg(i)
return i:sub(-9)==':reserved'or i:sub(-14)==':reserved:ends' end local function dO(i) if dg(i)then E('RESERVED_KEY') end
end local function dY(a,Q,f,i) local bg,n=Q[f]or'',Q[f+1] local ad=((nil)and(nil)(a)or'')..':reserved'
if(bg~=i..ad and bg~='{'..i..'}'..ad)or n~=bg..':ends'then E('KEYS') end a.ad,a.i=bg,n return f+2 end
local function bU(a,q) local w=q and q.d return w and w>a.now_ms and w or a.now_ms+a.m end local function aE(g)
local k=aK(g,'9223372036854775807')or E('FOREIGN_RESERVATION') local c=bf(k) return c-c==0 and c or E('INEXACT_STATE')
end local function aJ(g) local h,cL,aL,bU,ax=aD(g,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not h or#ax>16 or tonumber(ax)>1e15 or ax=='0'then E('FOREIGN_RESERVATION') end return{ f=h~=''and aE(h)or nil,
u=aE(cL), a=aE(aL), p=aE(bU), ttl=aE(ax), } end local function cZ(i,al) if not redis.REDIS_VERSION_NUM then
return bY(i,al) end local f=v('PEXPIRETIME',i) return f>=0 and f or nil end local function dT(i,bj) bj=x('%.0f',bj)
local ct=v('ZRANGE',i,bj,bj,'WITHSCORES')[2] return ct and tonumber(ct) end local ei,az,bm,ej=4000,1000,1000,2*500
local function bJ(b,F) b.h,b.w={},{} for B,r in ipairs(F)do if r.g.f then b.h[#b.h+1]={id=r.id,t=r.g}
elseif r.id~=b.id then b.w[#b.w+1]=r.id end end az=math.max(0,az-#b.h-#b.w) table.sort(b.h,function(d,e)
if d.t.u~=e.t.u then return d.t.u<e.t.u end return aI(d.id,e.id) end) b.av=true end local function dR(b)
local y=v('ZRANGE',b.i,'0',x('%.0f',az),'WITHSCORES') local aB,n,F,bH={},{},{},false b.s=nil for c=1,#y,2 do
local aL=tonumber(y[c+1]) if aL>b.now_ms or#aB==az then b.s=aL break end aB[#aB+1],n[#n+1]=y[c],aL end
local ap=#aB>0 and v('HMGET',b.j,unpack(aB))or{} for c,H in ipairs(aB)do local G=ap[c]and aJ(ap[c])
if not G or G.a~=n[c]then return false end F[c]={id=H,g=G} bH=bH or H==b.id end
if b.b and b.b.a<=b.now_ms and not bH then F[#F+1]={id=b.id,g=b.b} end bJ(b,F) local bG=0 for B,l in ipairs(b.h)do
bG=l.id==b.id and 1 or bG end local dz=#b.h+#b.w-bG b.k=b.r-(b.l and 1 or 0)==dz and 0 or nil return true end
local function ch(G) return G.f and math.max(G.a+G.ttl,G.p)or G.a end local function dQ(b) local l,aG,ck={},{},nil
local bo=v('HGETALL',b.j) for c=1,#bo,2 do local H=bo[c] if H~=''then local r={id=H,g=aJ(bo[c+1])}
if r.g.a<=b.now_ms then l[#l+1]=r elseif H~=b.id then aG[#aG+1]=r end end end if#l>az then table.sort(l,function(d,e)
if d.g.a~=e.g.a then return d.g.a<e.g.a end return aI(d.id,e.id) end) for c=#l,az+1,-1 do local r=table.remove(l,c)
if r.id==b.id then ck=r else aG[#aG+1]=r end end l[#l+1]=ck end b.s,b.k,b.D=nil,0,aG for B,r in ipairs(aG)do
b.s=math.min(b.s or r.g.a,r.g.a) b.k=math.max(b.k,ch(r.g)) end bJ(b,l) end local function ea(c) local bM=''
while c-c~=0 do local C c,C=bt(c,10000000) bM=x('%07.0f',C)..bM end return x('%.0f',c)..bM end local function O(c)
if c-c~=0 then return ea(c) end return x('%.0f',c) end local function cI(b,N) local bl=b.v==1 and v('ZSCORE',b.i,'')
b.ac=bl and true or false b.s=nil if N>0 then local F=v('HSCAN',b.j,bl and O(-1-tonumber(bl))or'0','COUNT',O(N))
b.B,b.E,b.D=tonumber(F[1]),not bl,{} for c=1,#F[2],2 do local H=F[2][c] if H~=''and H~=b.id then
b.D[#b.D+1]={id=H,g=aJ(F[2][c+1])} elseif H~=''then aJ(F[2][c+1]) end end table.sort(b.D,function(d,e)
return aI(d.id,e.id) end) b.z=b.B==0 end if b.b and b.b.a<=b.now_ms then bJ(b,{{id=b.id,g=b.b}}) b.k=b.r==1 and 0 or nil
end end local function dp(a,H) local i=a.ad local F=v('HMGET',i,H,'') local b={j=i,i=a.i,id=H,now_ms=a.now_ms,h={},w={}}
b.l=F[1]and aJ(F[1])or nil b.b=b.l b.v=F[2]and aE(F[2])or nil b.r=v('HLEN',i)-(b.v and 1 or 0) b.d=cZ(i,b.now_ms)
b.I=v('ZCARD',b.i) b.s=dT(b.i,0) local dx=b.r==b.I and(b.v==0 or b.r==0 and not b.v)
local dc=math.min(b.s or math.huge,b.b and b.b.a or math.huge) b.z=dx and(dc>b.now_ms or dR(b)) if not b.z then
local ai=b.r+(b.v and 1 or 0) local N=ai<=bm and ai or math.min(bm,500) bm=bm-N if N==ai then b.z,b.E=true,true dQ(b)
else cI(b,N) end end return b end local function bA(l,al) local aq=l.t if al>=aq.a+aq.ttl then return nil end return{
u=aq.u, a=aq.a+aq.ttl, p=(l.ab or aq.f==0)and aq.p or 0, ttl=aq.ttl, } end local function de(a) local b=a.P
for B,l in ipairs(b.h)do if l.t.f>0 and b.now_ms<l.t.p then local m,p=cu(a,l.t,0) if m~='keep'then if not a.G then
a.G,a.l=true,a.c end l.ab=true a.c=aX(m,p,a.c) end end end if b.b and b.b.a<=b.now_ms then b.b=nil
for B,l in ipairs(b.h)do if l.id==b.id then b.b=bA(l,b.now_ms) end end end end local function dA(b)
local D,bv,ak=b.r-(b.l and 1 or 0)-#b.w,b.s,b.k or 0 for B,l in ipairs(b.h)do local aj=l.id~=b.id and bA(l,b.now_ms)
if aj then bv=math.min(bv or aj.a,aj.a) ak=math.max(ak,aj.a) elseif l.id~=b.id then D=D-1 end end return D,bv,ak end
local function bX(G) local s={G.f and O(G.f)or''} for c,A in ipairs({G.u,G.a,G.p,G.ttl})do s[c+1]=O(A) end
return table.concat(s,':') end local function ba(cJ,bz) local W=0 for y=1,#bz,1000 do local am={unpack(cJ)}
for c=y,math.min(y+999,#bz)do am[#am+1]=bz[c] end W=W+v(unpack(am)) end return W end local function bK(i,af) if af then
v('PEXPIREAT',i,O(af)) end end local function cN(b) local D,B,ak=dA(b) if D==0 and not b.b then if b.r>0 or b.v then
v('UNLINK',b.j) end if b.I>0 then v('UNLINK',b.i) end return end local ai,aP,U={},{},{} local function aw(aC,y,bk)
aC[#aC+1]=y aC[#aC+1]=bk end for B,H in ipairs(b.w)do U[#U+1]=H end for B,r in ipairs(b.D or{})do aw(aP,O(r.g.a),r.id)
end for B,l in ipairs(b.h)do local aj=l.id~=b.id and bA(l,b.now_ms) if aj then aw(ai,l.id,bX(aj)) aw(aP,O(aj.a),l.id)
elseif l.id~=b.id then U[#U+1]=l.id end end if b.b and b.b~=b.l then aw(ai,b.id,bX(b.b)) elseif not b.b and b.l then
U[#U+1]=b.id end if b.b then ak=math.max(ak,ch(b.b)) local df=not b.l or b.b.a~=b.l.a if b.E or b.ac or b.z and df then
aw(aP,O(b.b.a),b.id) end end local cg=b.z and 0 or 1 if b.v~=cg then aw(ai,'',O(cg)) end ba({'HSET',b.j},ai)
ba({'HDEL',b.j},U) if b.B and b.B>0 then aw(aP,'-'..O(b.B+1),'') end if b.E and b.I>0 then v('UNLINK',b.i) end
ba({'ZADD',b.i},aP) if b.B==0 then U[#U+1]='' end ba({'ZREM',b.i},U) local aA,aN,w=b.d,ak+5000,nil
local ec=not aA and not b.k and b.r>0 if not ec and(not aA or aA<ak or(b.k and aA>aN))then w=aN end bK(b.j,w)
if w or b.E and aA then bK(b.i,w or aA) end end local function cP(a) local dw=a.PARTIAL and a.A<a.f
a.F=a.SHADOW and not a.H and(dw or not a.allowed) if not a.allowed and(a.F or a.H)then a.allowed=true if not(nil)then
local B,B,B,bI=bc(a) a.ttl=ao(bI) end end end local function dK(a) bd(a,'keep',a.c) return a.remaining end
local function du(h) return h==0 and 1 or h end local function cR(a) local h=a.f bs(a,0) local m,p=bF(a,nil,h)
if h>0 then a.o,a.x=m,p end local aW=aX(a.o,a.x,a.c) bd(a,a.o,aW) a.allowed=a.n>0 and u(a,0)==0 a.k=a.n>0 and h or du(h)
if(nil)then a.count,a.ttl=(nil)(aW,a.now_ms) elseif a.allowed then a.ttl=ao(aM(u(a,a.n))) else local u=u(a,a.k)
a.ttl=u and math.max(1,ao(aM(u)))or-1 end end local function cS(a) local h=a.f if a.PARTIAL then h=math.min(h,dK(a)) end
a.A=h if a.ALWAYS then cR(a) else bs(a,h) end end local function cM(a,m,p) local i,Z=a.j,a.c if m=='delete'then
v('UNLINK',i) elseif m=='keep'then return elseif Z and Z.d==p.d then local bV=p.e-Z.e
v('INCRBY',i,bV==1 and'1'or x('%.0f',bV)) elseif Z and Z.e==p.e then bK(i,p.d) else v('SET',i,O(p.e),'PXAT',O(p.d)) end
end local function cO(a,m,p) if a.G then p=aX(m,p,a.c) a.c=a.l if not p then m=a.l and'delete'or'keep'
elseif m~='charge'then m='refund' end end cM(a,m,p) end local function co(a) return a.H and a.H.f or a.F and a.f or a.A
end local function bZ(a) if not a.allowed then return 0 end return a.PARTIAL and co(a)or 1 end local function dd(a,L)
local an,dP,ae,bI,cV=bc(a) return{ 'allowed',bZ(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.n, 'remaining',an,
'retry_after_ms',dP, 'next_ms',ae, 'reset_ms',bI, 'delay_ms',cV, 'now_ms',a.now_ms, 'shadow',a.F and 1 or 0,
'charged',L, } end local function dt(aT) local cx={} for B,a in ipairs(aT)do local y,T=a.AS or('WINDOW'):lower(),2 a.y=y
while cx[a.y]do a.y=x('%s-%d',y,T) T=T+1 end cx[a.y]=true end end local function bi(c)
return x('%.0f',ci(c,999999999999999)) end local function dH(a) local I=(nil)and(nil)(a)or a.m local bu,C=1000,I%1000
while C>0 do bu,C=C,bu%C end local cB=1000/bu local aY=bt(aQ(I,cB),1000)
return x('"%s";q=%s;w=%s',a.y,bi(aQ(a.limit,cB)),bi(aY)) end local function dm(r,bD) if r.allowed~=bD.allowed then
return not r.allowed end local u,bE=r.retry_after_ms,bD.retry_after_ms if u~=bE then return u<0 or(bE>=0 and u>bE) end
return r.remaining<bD.remaining end local function dh(aT) local bL,cq=aT[1],{} dt(aT) for c,a in ipairs(aT)do
cq[c]=dH(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bc(a) if dm(a,bL)then bL=a end end local a=bL local ap={
'X-RateLimit-Limit', x('%.0f',a.n), 'X-RateLimit-Remaining', x('%.0f',a.remaining), } local function bh(ad,A)
ap[#ap+1]=ad ap[#ap+1]=A end if a.reset_ms>=0 then bh('X-RateLimit-Reset',x('%.0f',ao(a.now_ms+a.reset_ms))) end
bh('RateLimit-Policy',table.concat(cq,', ')) local dr=a.next_ms>=0 and';t='..bi(ao(a.next_ms))or''
bh('RateLimit',x('"%s";r=%s%s',a.y,bi(a.remaining),dr)) if not a.allowed and a.retry_after_ms>=0 then
bh('Retry-After',x('%.0f',ao(a.retry_after_ms))) end return ap end local function dy(a,L) if a.form=='FULL'then
return dd(a,L) end return{bZ(a),a.count,a.ttl,dh({a})} end
bn={N=cH,Q=cN,S=cO,U=cP,V=cS,W=bW,error_reply=cY,X=bY,q=E,Y=db,aa=de,af=ce,ag=dp,J=ds,ah=dy,ai=bF,aj=cl,ak=dE,M=co,refund=dJ,al=dO,am=cu,an=dX,ao=dY,ar=ee,at=ef}
end return bn end local cX,cr=pcall(dS,KEYS,ARGV) return cX and cr or j().error_reply(cr)
