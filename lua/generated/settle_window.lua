-- RL.SETTLE WINDOW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local bl,j local T,x,aO,ej=string.find,string.format,string.match,string.sub local function dE(s,f,I)
local aF,R,o=s[f],s[f+1],s[f+2] if not R then j().u('ARITY') end local a={ l='', Q=0, now_ms=0, p=0, aw=0, limit=0, q=0,
g=1, form=nil, delay=0, c=nil, B=nil, allowed=false, count=0, ttl=0, r='keep', remaining=0, F=1, } f=f+2
if o=='LINE'and not s[f+1]and I~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=o,f+1 elseif o then
local A=s[f+1]or''
local ca=I==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and s[f+2]=='LINE'and not s[f+3]and#A<16
if ca and o=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and T(A,'^[1-9]%d*$')then
a.form,a.g,f='LINE',A+0,f+3 elseif ca and o=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and A~=''then
a.form,a.ID,f='LINE',A,f+3 else f=j().ao(a,s,f,I) a.g=a.COST or 1 end end local bv=#R<16 and T(R,'^[1-9]%d*$')
a.limit=bv and R+0 or j().an('limit',R,0) bv=#aF<10 and T(aF,'^[1-9]%d*$') local O=bv and aF*1000 or j().ax(a,aF)
a.p,a.aw,a.q=O,O<9e12 and O*1000 or j().P(O,1000),a.BURST or a.limit return a,f end local function dB(s,I)
local a,f=dE(s,1,I) if s[f]then j().ac(a,I,s[f]) end return a end local function dC(s,I) if not s[1+1]then
j().u('ARITY') end return dB(s,I) end local v=redis.call local function dH(a) local cy=v('TIME')
local bB=cy[1]*1000000+cy[2] a.Q,a.now_ms=bB,(bB-bB%1000)/1000 end local function dY(a,Q,f,bM,bw) local i=Q[f]
if not i then j().u('KEYS') end a.l,f=i,f+1 if bw then a.D=i elseif T(i,':reserved',1,true)then j().ap(i) end if bM then
f=a.aA and f+2 or j().as(a,Q,f,i) end return f end local function cp(a,Q,bM,bw) dH(a) if#Q~=dY(a,Q,1,bM,bw)-1 then
j().u('KEYS') end end local function cf(a) local i=a.l local g=v('GET',i) if g then
local A=#g<16 and T(g,'^[1-9]%d*$')and g+0 or j().av(g)
local w=redis.REDIS_VERSION_NUM and v('PEXPIRETIME',i)or j().ab(i,a.now_ms)or-1 if w<0 then w=nil elseif w>=(2^53)then
j().u('INEXACT_STATE') end a.c={f=A,e=w} end end local function aW(m,p,Y) if m=='keep'then return Y end
return m~='delete'and p or nil end local function aN(d,e) if d-d==0 and e-e==0 then return d<e end return j().aj(d,e)
end local function aU(a,q) local aj=a.now_ms local w=q and q.e if not q then return nil,0 elseif w and w<=aj then
return nil,0 end local aM=aj+a.p return w and w<aM and w or aM,q.f>0 and q.f or 0 end local function aL(c)
if c-c~=0 or c>=(2^53)then j().u('INEXACT_REPLY') end return c end local function cz(q,n) if n and n~=q.e then
return'rebase',{f=q.f,e=n} end return'keep' end local function bb(a,B,q) local n,J=aU(a,q)
a.a,a.au,a.remaining=n,J,J<a.limit and a.limit-J or 0 end local function am(aa) local C=aa%1000
return aa<0 and-1 or C==0 and aa/1000 or(aa-C)/1000+1 end local function aG(d,e) if d-d==0 and e-e==0 and d+e<(2^53)then
return d+e end return j().U(d,e) end local function cW(d,e) if d-d==0 and e-e==0 then local C=d%e
return C==0 and d/e or(d-C)/e+1 end local aD,C=j().aa(d,e) return C==0 and aD or aG(aD,1) end local function cv(d,e)
if d-d==0 and e-e==0 then return d>e and d-e or 0 end return j().ar(d,e) end local function aQ(d,e)
if d-d==0 and e-e==0 and d*e<(2^53)then return d*e end return j().P(d,e) end local function u(a,h) local R=a.limit
if h>R then return nil elseif a.au+h<=R then return 0 end return cW(cv(aQ(a.a,1000),a.Q),1000) end
local function ea(a,h) local u=u(a,h==0 and 1 or h) u=u and am(aL(u))or-1 return u==0 and 1 or u end
local function bq(a,h) local q,R=a.c,a.limit local n,J=aU(a,q) local bn=J+(h==0 and 1 or h)<=R
a.allowed,a.count=bn,aL(J) if bn and h>0 then n=n and q.f>=0 and n or a.now_ms+a.p a.r,a.B='charge',{f=J+h,e=n} else
a.r,a.B=cz(q,n) end bb(a,a.r,aW(a.r,a.B,q)) if bn then a.ttl=am(aL(u(a,R))) else a.ttl=ea(a,h) end end
local function cT(a) if a.PARTIAL or a.ALWAYS then j().Z(a) else local h=a.g a.F=h bq(a,h) end if a.SHADOW then j().Y(a)
end end local function ba(a) local m,u=a.r,u bb(a,m,m=='keep'and a.c or m~='delete'and a.B or nil)
local al,bp,V,ac,au=a.remaining,a.q,0,0,0 if not a.allowed then local h=a.F V=u(a,a.n or(h==0 and 1 or h))or-1
if a.ad and V>=0 then V=math.max(V,a.ad) end end if al<bp then ac=u(a,al+1)or-1 au=al+1==bp and ac or u(a,bp)or-1 end
if V-V~=0 or ac-ac~=0 or au-au~=0 or V>=(2^53)or au>=(2^53)then j().u('INEXACT_REPLY') end return al,V,ac,au,0 end
local function dm(a,K) local al,V,ac,au,cU=ba(a) local dU=a.J and 1 or 0 return x(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and j().S(a)or 1)or 0,a.count,a.ttl,a.q,al,V,ac,au, cU,a.now_ms,dU,K ) end
local function dK(a,K) local ap=a.form if ap=='LINE'then return dm(a,K) elseif ap then return j().al(a,K) end
return{a.allowed and(a.PARTIAL and j().S(a)or 1)or 0,a.count,a.ttl} end local function bT(a,m,p,K) local aX
local w,Y,aV=nil,a.c,aW(m,p,a.c) if w and aN(w,a.now_ms)then aV=nil end a.c=aV cT(a) aX=dK(a,K) a.c=Y if not a.ai then
j().X(a,m,p) end return aX end local function dT(a) local b,m,p,K=j().ak(a,a.RESERVATION),'keep',nil,0 cf(a,'write')
a.V=b j().ae(a) local af=b.b if af then m,p=j().aq(a,af,a.ACTUAL) K=a.ACTUAL b.b=nil end a.ai=not af and not a.K
local aX=bT(a,m,p,K) j().W(b) return aX end local function dR(Q,s)
local a=dC(s,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ') local at,X=a.RESERVED,a.ACTUAL
if X and a.RESERVATION then cp(a,Q,true) return dT(a) end if not at or not X then j().u('SETTLEMENT') end
local aZ=math.abs(at-X) cp(a,Q) cf(a,'write') local cQ=X<at and j().refund or j().am local m,p=cQ(a,a.AT,aZ)
return bT(a,m,p,X) end function j() if not bl then local t={}
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
t.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id' local function dI(a,ad,h)
local q=a.c local n,J=aU(a,q) local dj=n and ad and aN(aG(ad,a.p),n) if not n or J==0 or dj or h==0 then return cz(q,n)
elseif h>=J then return'delete' end return'refund',{f=J-h,e=n} end local function S(g) error({err=g},0) end
local function E(ab) S(t[ab]) end local function bE(a,ad,h) if h==0 or(ad and not aN(a.now_ms,aG(ad,a.p)))then
return'keep' end local n,J=aU(a,a.c) if J+h>=(2^53)then E('INEXACT_REPLY') end n=n and a.c.f>=0 and n or a.now_ms+a.p
return'charge',{f=J+h,e=n} end local function ct(a,af,X) local q,at=a.c,af.g or 0 if af.t<=a.now_ms then return'keep'
elseif X>=at then local m,p=bE(a,nil,X-at) if m=='charge'and not aU(a,q)then p.e=math.min(af.t,a.now_ms+a.p) end
return m,p elseif not q or q.f<=0 or q.e~=af.t then return'keep' end local A=q.f-(at-X) if A<=0 then return'delete' end
return'refund',{f=A,e=q.e} end local function cY(aS) if type(aS)=='table'then return aS elseif T(aS,'^%u+ ')then
return redis.error_reply(aS) end error(aS,0) end local function ce(d,e) local bR,cK=d-d==0,e-e==0 if bR or cK then
return bR elseif#d~=#e then return#d<#e end for c=#d,1,-1 do if d[c]~=e[c]then return d[c]<e[c] end end return false end
local function ax(c) if c-c~=0 then return c end local k,D={},0 while c>0 do local P=c%(2^24) D=D+1 k[D]=P
c=(c-P)/(2^24) end return k end local bO={ __sub=function() return 1 end, } local function bc(k) local D=#k
while D>0 and k[D]==0 do k[D]=nil D=D-1 end if D>3 or(D==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,bO)
end return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function cH(d,e) d,e=ax(d),ax(e)
local W,ae={},0 for c=1,math.max(#d,#e)+1 do local P=(d[c]or 0)+(e[c]or 0)+ae ae=P>=(2^24)and 1 or 0 W[c]=P-ae*(2^24)
end return bc(W) end local function dW(d,e) if not ce(e,d)then return 0 end e=ax(e) local aZ,bo={},0 for c=1,#d do
local P=d[c]-(e[c]or 0)-bo bo=P<0 and 1 or 0 aZ[c]=P+bo*(2^24) end return bc(aZ) end local function dr(d,e)
d,e=ax(d),ax(e) local aR={} for c=1,#d+#e do aR[c]=0 end for c=1,#d do local ae=0 for bx=1,#e do
local P=aR[c+bx-1]+d[c]*e[bx]+ae ae=math.floor(P/(2^24)) aR[c+bx-1]=P-ae*(2^24) end aR[c+#e]=ae end return bc(aR) end
local function bS(c) if c-c==0 then return c end local W=0 for di=#c,1,-1 do W=W*(2^24)+c[di] end return W end
local function bW(d,e) local aD=0 while not aN(d,e)do local ak=math.max(1,math.floor(bS(d)/bS(e)*(1-2^-45)))
ak=bc(ax(ak)) aD=aG(aD,ak) d=cv(d,aQ(ak,e)) end return aD,d end local function bY(i,aj) local cd=v('PTTL',i)
return cd>=0 and aj+cd or nil end local function aH(d,e) for f=1,math.min(#d,#e)do local cC,cD=d:byte(f),e:byte(f)
if cC~=cD then return cC<cD end end return#d<#e end local function aJ(g,M) if g~='0'and not T(g,'^[1-9]%d*$')then
return nil end return(#g<#M or(#g==#M and not aH(M,g)))and g or nil end local function da(g,z,dA)
local ef={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local bN=ef[aO(g,'^(%u):')] if not bN or bN==z then
E(dA) end S('ERR the key holds a state of '..bN..': use another key for each algorithm') end local function bd(k)
if#k<=15 or(#k==16 and aH(k,'9007199254740992'))then return k+0 end local bu=#k%7 local c=bu>0 and k:sub(1,bu)+0 or 0
for f=bu+1,#k,7 do c=aG(aQ(c,10000000),k:sub(f,f+6)+0) end return c end local function ed(g)
local dV,k=aO(g,'^(%-?)(%d+)$') local bA=dV=='-' k=k and aJ(k,bA and'9223372036854775808'or'9223372036854775807')
if not k or(bA and k=='0')then da(g,nil,'NOT_A_COUNTER') end local A=bd(k) if A-A~=0 then E('INEXACT_STATE') end
return bA and-A or A end local function cl(ab,g,cc) local k=g and aJ(g,'9223372036854775807') local c=k and bd(k)
if not c or c==0 and cc>0 then S(x('ERR invalid %s: expected an integer from %d to 9223372036854775807',ab,cc))
elseif c-c~=0 then S(x('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ab)) end return c end
local bP={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aq(aB,z)
return not T(z,' ',1,true)and T(aB,' '..z..' ',1,true)~=nil end local function cx(a,o)
return not aq(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',o)or aq((' COST PARTIAL ALWAYS RESERVE RESERVATION '),o)
end local function dk(z,o) local y,Z=0,0 local cu,dp=math.min(#z,#o),math.max(#z,#o)
while y<cu and z:byte(y+1)==o:byte(y+1)do y=y+1 end while Z<cu-y and z:byte(-1-Z)==o:byte(-1-Z)do Z=Z+1 end
return y+Z>=2 and dp-y-Z<=2 end local function db(a,I,z) local as={} for B,L in ipairs(bP)do
if aq(I,L[1])and cx(a,L[1])then as[#as+1]=L[2] end end for B,ap in ipairs({'FULL','LINE','HEADERS'})do as[#as+1]=ap end
for B,o in ipairs(as)do if dk(z:upper(),aO(o,'^%u+'))then S('ERR syntax error: no such option, but there is '..o) end
end local Z=table.remove(as) local ec=table.concat(as,', ')
S('ERR syntax error: after limit come '..ec..' or '..Z..', each at most once') end local function dM(L,a,I)
local o,eg=L[1],a.ay if not aq(I,o)then S(x('ERR invalid %s: only %s it',o,L[3])) elseif not cx(a,o)then
S(x('ERR invalid %s: %s takes none',o,('WINDOW'))) elseif a[o]~=nil then
S(x('ERR syntax error: %s comes at most once',L[2])) end end
local bQ={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function cn(g) local ar,cA=aO(g,'^(%d+)(%l*)$')
local aa=ar and bQ[cA]and aJ(ar,'18446744073709551615')and ar*bQ[cA] return aa and aa>=1 and aa<=1e15 and aa or nil end
local function cm(g,M) return g and#g>=1 and#g<=M and g end local function ci(d,e) return aN(e,d)and e or d end
local function br(d,e) if d-d==0 and e-e==0 then local C=d%e return(d-C)/e,C end return bW(d,e) end
local cG=setmetatable({(2^24)-1,(2^24)-1,2^16-1},bO) local function dF(o,g,bi) if o=='RESERVE'then
local aw=bi and cn(bi) return cm(g,128)and aw and{id=g,ttl=aw}or E('RESERVE') elseif o=='RESERVATION'then
return cm(g,128)or E('RESERVATION') end if o=='AS'then
return g and#g>=1 and#g<=64 and not T(g,'[^%w._-]')and g or E('AS') elseif o=='AT'then
local k=g and aJ(g,'9223372036854775807') return k and ci(bd(k),(br(cG,1000)))or E('AT') end
return cl(o,g,o=='BURST'and 1 or 0) end local function dL(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
E(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
E(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cE={FULL=true,LINE=true,HEADERS=true}
local function du(ap,cj) if ap then E(ap==cj and'FORM_TWICE'or'TWO_FORMS') end return cj end local function dD(a,s,f,I)
while s[f]do local z,L=s[f]:upper(),nil for B,cb in ipairs(bP)do L=cb[1]==z and cb or L end if L then dM(L,a,I)
if L[2]==z then a[z]=true f=f+1 else a[z]=dF(z,s[f+1],s[f+2]) f=f+(z=='RESERVE'and 3 or 2) end dL(a)
elseif cE[z]and aq(I,'form')then a.form=du(a.form,z) f=f+1 else return f end end return f end
local cF={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function ee(a,g) local O=cn(g)
if not O then a.at=g:upper() O=cF[a.at] if not O then
E(aq((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aq((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
S(x('ERR invalid window: %s takes no windows of the calendar',('WINDOW'))) end end return O end local function dg(i)
return i:sub(-9)==':reserved'or i:sub(-14)==':reserved:ends' end local function dN(i) if dg(i)then E('RESERVED_KEY') end
end local function dX(a,Q,f,i) local be,n=Q[f]or'',Q[f+1] local ab=((nil)and(nil)(a)or'')..':reserved'
if(be~=i..ab and be~='{'..i..'}'..ab)or n~=be..':ends'then E('KEYS') end a.ah,a.k=be,n return f+2 end
local function bU(a,q) local w=q and q.e return w and w>a.now_ms and w or a.now_ms+a.p end local function aC(g)
local k=aJ(g,'9223372036854775807')or E('FOREIGN_RESERVATION') local c=bd(k) return c-c==0 and c or E('INEXACT_STATE')
end local function aI(g) local h,cL,aK,bU,aw=aO(g,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not h or#aw>16 or tonumber(aw)>1e15 or aw=='0'then E('FOREIGN_RESERVATION') end return{ g=h~=''and aC(h)or nil,
y=aC(cL), a=aC(aK), t=aC(bU), ttl=aC(aw), } end local function cZ(i,aj) if not redis.REDIS_VERSION_NUM then
return bY(i,aj) end local f=v('PEXPIRETIME',i) return f>=0 and f or nil end local function dS(i,bh) bh=x('%.0f',bh)
local cs=v('ZRANGE',i,bh,bh,'WITHSCORES')[2] return cs and tonumber(cs) end local eh,ay,bk,ei=4000,1000,1000,2*500
local function bI(b,F) b.j,b.A={},{} for B,r in ipairs(F)do if r.i.g then b.j[#b.j+1]={id=r.id,x=r.i}
elseif r.id~=b.id then b.A[#b.A+1]=r.id end end ay=math.max(0,ay-#b.j-#b.A) table.sort(b.j,function(d,e)
if d.x.y~=e.x.y then return d.x.y<e.x.y end return aH(d.id,e.id) end) b.az=true end local function dQ(b)
local y=v('ZRANGE',b.k,'0',x('%.0f',ay),'WITHSCORES') local aA,n,F,bG={},{},{},false b.w=nil for c=1,#y,2 do
local aK=tonumber(y[c+1]) if aK>b.now_ms or#aA==ay then b.w=aK break end aA[#aA+1],n[#n+1]=y[c],aK end
local an=#aA>0 and v('HMGET',b.l,unpack(aA))or{} for c,H in ipairs(aA)do local G=an[c]and aI(an[c])
if not G or G.a~=n[c]then return false end F[c]={id=H,i=G} bG=bG or H==b.id end
if b.b and b.b.a<=b.now_ms and not bG then F[#F+1]={id=b.id,i=b.b} end bI(b,F) local bF=0 for B,l in ipairs(b.j)do
bF=l.id==b.id and 1 or bF end local dy=#b.j+#b.A-bF b.n=b.v-(b.o and 1 or 0)==dy and 0 or nil return true end
local function ch(G) return G.g and math.max(G.a+G.ttl,G.t)or G.a end local function dP(b) local l,aE,ck={},{},nil
local bm=v('HGETALL',b.l) for c=1,#bm,2 do local H=bm[c] if H~=''then local r={id=H,i=aI(bm[c+1])}
if r.i.a<=b.now_ms then l[#l+1]=r elseif H~=b.id then aE[#aE+1]=r end end end if#l>ay then table.sort(l,function(d,e)
if d.i.a~=e.i.a then return d.i.a<e.i.a end return aH(d.id,e.id) end) for c=#l,ay+1,-1 do local r=table.remove(l,c)
if r.id==b.id then ck=r else aE[#aE+1]=r end end l[#l+1]=ck end b.w,b.n,b.H=nil,0,aE for B,r in ipairs(aE)do
b.w=math.min(b.w or r.i.a,r.i.a) b.n=math.max(b.n,ch(r.i)) end bI(b,l) end local function dZ(c) local bL=''
while c-c~=0 do local C c,C=br(c,10000000) bL=x('%07.0f',C)..bL end return x('%.0f',c)..bL end local function N(c)
if c-c~=0 then return dZ(c) end return x('%.0f',c) end local function cI(b,M) local bj=b.z==1 and v('ZSCORE',b.k,'')
b.ag=bj and true or false b.w=nil if M>0 then local F=v('HSCAN',b.l,bj and N(-1-tonumber(bj))or'0','COUNT',N(M))
b.G,b.I,b.H=tonumber(F[1]),not bj,{} for c=1,#F[2],2 do local H=F[2][c] if H~=''and H~=b.id then
b.H[#b.H+1]={id=H,i=aI(F[2][c+1])} elseif H~=''then aI(F[2][c+1]) end end table.sort(b.H,function(d,e)
return aH(d.id,e.id) end) b.E=b.G==0 end if b.b and b.b.a<=b.now_ms then bI(b,{{id=b.id,i=b.b}}) b.n=b.v==1 and 0 or nil
end end local function dn(a,H) local i=a.ah local F=v('HMGET',i,H,'') local b={l=i,k=a.k,id=H,now_ms=a.now_ms,j={},A={}}
b.o=F[1]and aI(F[1])or nil b.b=b.o b.z=F[2]and aC(F[2])or nil b.v=v('HLEN',i)-(b.z and 1 or 0) b.e=cZ(i,b.now_ms)
b.N=v('ZCARD',b.k) b.w=dS(b.k,0) local dw=b.v==b.N and(b.z==0 or b.v==0 and not b.z)
local dc=math.min(b.w or math.huge,b.b and b.b.a or math.huge) b.E=dw and(dc>b.now_ms or dQ(b)) if not b.E then
local ag=b.v+(b.z and 1 or 0) local M=ag<=bk and ag or math.min(bk,500) bk=bk-M if M==ag then b.E,b.I=true,true dP(b)
else cI(b,M) end end return b end local function bz(l,aj) local ao=l.x if aj>=ao.a+ao.ttl then return nil end return{
y=ao.y, a=ao.a+ao.ttl, t=(l.af or ao.g==0)and ao.t or 0, ttl=ao.ttl, } end local function de(a) local b=a.V
for B,l in ipairs(b.j)do if l.x.g>0 and b.now_ms<l.x.t then local m,p=ct(a,l.x,0) if m~='keep'then if not a.K then
a.K,a.o=true,a.c end l.af=true a.c=aW(m,p,a.c) end end end if b.b and b.b.a<=b.now_ms then b.b=nil
for B,l in ipairs(b.j)do if l.id==b.id then b.b=bz(l,b.now_ms) end end end end local function dz(b)
local D,bt,ai=b.v-(b.o and 1 or 0)-#b.A,b.w,b.n or 0 for B,l in ipairs(b.j)do local ah=l.id~=b.id and bz(l,b.now_ms)
if ah then bt=math.min(bt or ah.a,ah.a) ai=math.max(ai,ah.a) elseif l.id~=b.id then D=D-1 end end return D,bt,ai end
local function bX(G) local s={G.g and N(G.g)or''} for c,A in ipairs({G.y,G.a,G.t,G.ttl})do s[c+1]=N(A) end
return table.concat(s,':') end local function aY(cJ,by) local W=0 for y=1,#by,1000 do local ak={unpack(cJ)}
for c=y,math.min(y+999,#by)do ak[#ak+1]=by[c] end W=W+v(unpack(ak)) end return W end local function bJ(i,ad) if ad then
v('PEXPIREAT',i,N(ad)) end end local function cN(b) local D,B,ai=dz(b) if D==0 and not b.b then if b.v>0 or b.z then
v('UNLINK',b.l) end if b.N>0 then v('UNLINK',b.k) end return end local ag,aP,U={},{},{} local function av(aB,y,bi)
aB[#aB+1]=y aB[#aB+1]=bi end for B,H in ipairs(b.A)do U[#U+1]=H end for B,r in ipairs(b.H or{})do av(aP,N(r.i.a),r.id)
end for B,l in ipairs(b.j)do local ah=l.id~=b.id and bz(l,b.now_ms) if ah then av(ag,l.id,bX(ah)) av(aP,N(ah.a),l.id)
elseif l.id~=b.id then U[#U+1]=l.id end end if b.b and b.b~=b.o then av(ag,b.id,bX(b.b)) elseif not b.b and b.o then
U[#U+1]=b.id end if b.b then ai=math.max(ai,ch(b.b)) local df=not b.o or b.b.a~=b.o.a if b.I or b.ag or b.E and df then
av(aP,N(b.b.a),b.id) end end local cg=b.E and 0 or 1 if b.z~=cg then av(ag,'',N(cg)) end aY({'HSET',b.l},ag)
aY({'HDEL',b.l},U) if b.G and b.G>0 then av(aP,'-'..N(b.G+1),'') end if b.I and b.N>0 then v('UNLINK',b.k) end
aY({'ZADD',b.k},aP) if b.G==0 then U[#U+1]='' end aY({'ZREM',b.k},U) local az,aM,w=b.e,ai+5000,nil
local eb=not az and not b.n and b.v>0 if not eb and(not az or az<ai or(b.n and az>aM))then w=aM end bJ(b.l,w)
if w or b.I and az then bJ(b.k,w or az) end end local function cP(a) local dv=a.PARTIAL and a.F<a.g
a.J=a.SHADOW and not a.M and(dv or not a.allowed) if not a.allowed and(a.J or a.M)then a.allowed=true if not(nil)then
local B,B,B,bH=ba(a) a.ttl=am(bH) end end end local function dJ(a) bb(a,'keep',a.c) return a.remaining end
local function dt(h) return h==0 and 1 or h end local function cR(a) local h=a.g bq(a,0) local m,p=bE(a,nil,h)
if h>0 then a.r,a.B=m,p end local aV=aW(a.r,a.B,a.c) bb(a,a.r,aV) a.allowed=a.q>0 and u(a,0)==0 a.n=a.q>0 and h or dt(h)
if(nil)then a.count,a.ttl=(nil)(aV,a.now_ms) elseif a.allowed then a.ttl=am(aL(u(a,a.q))) else local u=u(a,a.n)
a.ttl=u and math.max(1,am(aL(u)))or-1 end end local function cS(a) local h=a.g if a.PARTIAL then h=math.min(h,dJ(a)) end
a.F=h if a.ALWAYS then cR(a) else bq(a,h) end end local function cM(a,m,p) local i,Y=a.l,a.c if m=='delete'then
v('UNLINK',i) elseif m=='keep'then return elseif Y and Y.e==p.e then local bV=p.f-Y.f
v('INCRBY',i,bV==1 and'1'or x('%.0f',bV)) elseif Y and Y.f==p.f then bJ(i,p.e) else v('SET',i,N(p.f),'PXAT',N(p.e)) end
end local function cO(a,m,p) if a.K then p=aW(m,p,a.c) a.c=a.o if not p then m=a.o and'delete'or'keep'
elseif m~='charge'then m='refund' end end cM(a,m,p) end local function co(a) return a.M and a.M.g or a.J and a.g or a.F
end local function bZ(a) if not a.allowed then return 0 end return a.PARTIAL and co(a)or 1 end local function dd(a,K)
local al,dO,ac,bH,cV=ba(a) return{ 'allowed',bZ(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.q, 'remaining',al,
'retry_after_ms',dO, 'next_ms',ac, 'reset_ms',bH, 'delay_ms',cV, 'now_ms',a.now_ms, 'shadow',a.J and 1 or 0,
'charged',K, } end local function ds(aT) local cw={} for B,a in ipairs(aT)do local y,ar=a.AS or('WINDOW'):lower(),2
a.D=y while cw[a.D]do a.D=x('%s-%d',y,ar) ar=ar+1 end cw[a.D]=true end end local function bg(c)
return x('%.0f',ci(c,999999999999999)) end local function dG(a) local O=(nil)and(nil)(a)or a.p local bs,C=1000,O%1000
while C>0 do bs,C=C,bs%C end local cB=1000/bs local aF=br(aQ(O,cB),1000)
return x('"%s";q=%s;w=%s',a.D,bg(aQ(a.limit,cB)),bg(aF)) end local function dl(r,bC) if r.allowed~=bC.allowed then
return not r.allowed end local u,bD=r.retry_after_ms,bC.retry_after_ms if u~=bD then return u<0 or(bD>=0 and u>bD) end
return r.remaining<bC.remaining end local function dh(aT) local bK,cq=aT[1],{} ds(aT) for c,a in ipairs(aT)do
cq[c]=dG(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=ba(a) if dl(a,bK)then bK=a end end local a=bK local an={
'X-RateLimit-Limit', x('%.0f',a.q), 'X-RateLimit-Remaining', x('%.0f',a.remaining), } local function bf(ab,A)
an[#an+1]=ab an[#an+1]=A end if a.reset_ms>=0 then bf('X-RateLimit-Reset',x('%.0f',am(a.now_ms+a.reset_ms))) end
bf('RateLimit-Policy',table.concat(cq,', ')) local dq=a.next_ms>=0 and';t='..bg(am(a.next_ms))or''
bf('RateLimit',x('"%s";r=%s%s',a.D,bg(a.remaining),dq)) if not a.allowed and a.retry_after_ms>=0 then
bf('Retry-After',x('%.0f',am(a.retry_after_ms))) end return an end local function dx(a,K) if a.form=='FULL'then
return dd(a,K) end return{bZ(a),a.count,a.ttl,dh({a})} end
bl={U=cH,W=cN,X=cO,Y=cP,Z=cS,aa=bW,error_reply=cY,ab=bY,u=E,ac=db,ae=de,aj=ce,ak=dn,P=dr,al=dx,am=bE,an=cl,ao=dD,S=co,refund=dI,ap=dN,aq=ct,ar=dW,as=dX,av=ed,ax=ee}
end return bl end local cX,cr=pcall(dR,KEYS,ARGV) return cX and cr or j().error_reply(cr)
