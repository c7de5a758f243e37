-- RL.FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function gd(at) local cc,o local F,k,bk,cT=string.find,string.format,string.match,string.sub
local function fL(x,f,P) local az,N,q=x[f],x[f+1],x[f+2] if not N then o().F('ARITY') end local a={ l='', ao=0,
now_ms=0, j=0, ax=0, limit=0, y=0, c=1, form=nil, delay=0, e=nil, x=nil, allowed=false, count=0, ttl=0, k='keep',
remaining=0, u=1, } f=f+2 if q=='LINE'and not x[f+1]and P~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=q,f+1 elseif q then local y=x[f+1]or''
local dM=P==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and x[f+2]=='LINE'and not x[f+3]and#y<16
if dM and q=='COST'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')~=' ID 'and F(y,'^[1-9]%d*$')then
a.form,a.c,f='LINE',y+0,f+3
elseif dM and q=='ID'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')==' ID 'and y~=''then
a.form,a.ID,f='LINE',y,f+3 else f=o().ar(a,x,f,P) a.c=a.COST or 1 end a.r=a.ANCHOR and a.ANCHOR*1000 end
local cn=#N<16 and F(N,'^[1-9]%d*$') a.limit=cn and N+0 or o().aq('limit',N,0) cn=#az<10 and F(az,'^[1-9]%d*$')
local J=cn and az*1000 or o().ay(a,az) a.j,a.ax,a.y=J,J<9e12 and J*1000 or o().am(J,1000),a.BURST or a.limit return a,f
end local function fJ(x,P) local a,f=fL(x,1,P) if x[f]then o().ag(a,P,x[f]) end return a end local r=redis.call
local function fQ(a) local bq=r('TIME') local cv=bq[1]*1000000+bq[2] a.ao,a.now_ms=cv,(cv-cv%1000)/1000 end
local function dc(a) if a.i or a.r then return o().Z(a,(o().X(a))) end local p,J=a.now_ms,a.j local ad=(p-p%J)/J
return k(ad<2147483648 and':%d'or':%.0f',ad) end local function gh(a,Y,f,dq,co) local i=Y[f] if dc then
local aX,aW=dc(a),Y[f+1] local Z=#aX if not aW then o().F('KEYS') elseif cT(i,-Z)~=aX then i=aW if cT(i,-Z)~=aX then
a.Y=true end end a.l,i,f=i,cT(i,1,-Z-1),f+2 else if not i then o().F('KEYS') end a.l,f=i,f+1 end if co then a.H=i
elseif F(i,':reserved',1,true)then o().as(i) end if dq then f=a.Y and f+2 or o().at(a,Y,f,i) end return f end
local function fN(a,Y,dq,co) fQ(a) if#Y~=gh(a,Y,1,dq,co)-1 then o().F('KEYS') elseif a.Y then o().af(a) end end
local function dR(a) local i=a.l local g=r('GET',i) if g then local y=#g<16 and F(g,'^[1-9]%d*$')and g+0 or o().aw(g)
local I=redis.REDIS_VERSION_NUM and r('PEXPIRETIME',i)or o().ae(i,a.now_ms)or-1 if I<0 then I=nil elseif I>=(2^53)then
o().F('INEXACT_STATE') end a.e={o=y,g=I} end end local function en(I,p) if not I then return-2 end
local V=(I>p and I-p or 0)+500 return(V-V%1000)/1000 end local function bf(a,h) local t,p,N=a.e,a.now_ms,a.limit
local H,aa=t and t.o or 0,h==0 and 1 or h local aN=aa<=N and H+aa<=N local bx=(aN or H>=N)and h>0
local z=bx and H+h or H if z>=(2^53)then o().F('INEXACT_REPLY') end local I=t and not(bx and H==0)and t.g or nil
if not I and(t or bx)then I=(a.i or a.r)and o().an(a)or p+a.j end a.allowed,a.count,a.ttl,a.k=aN,z,en(I,p),'keep'
if bx or(t and not t.g)then a.k,a.x='charge',{o=z,g=I} end end local function eV(a) if a.PARTIAL or a.ALWAYS then
o().ad(a) else local h=a.c a.u=h bf(a,h) end if a.SHADOW then o().ab(a) end end local function O(a,h) local N=a.limit
if h>N then return nil elseif a.U+h<=N then return 0 end if a.i or a.r then local v,u=o().X(a) return u-a.now_ms end
return a.j-a.now_ms%a.j end local function cl(a,v,t) local y,N=t and t.o or 0,a.limit a.U=y>0 and y or 0
a.remaining=a.U<N and N-a.U or 0 end local function bz(a) local A,O=a.k,O
cl(a,A,A=='keep'and a.e or A~='delete'and a.x or nil) local au,cg,ag,al,aI=a.remaining,a.y,0,0,0 if not a.allowed then
local h=a.u ag=O(a,a.n or(h==0 and 1 or h))or-1 if a.K and ag>=0 then ag=math.max(ag,a.K) end end if au<cg then
al=O(a,au+1)or-1 aI=au+1==cg and al or O(a,cg)or-1 end
if ag-ag~=0 or al-al~=0 or aI-aI~=0 or ag>=(2^53)or aI>=(2^53)then o().F('INEXACT_REPLY') end return au,ag,al,aI,0 end
local function ft(a,ao) local au,ag,al,aI,eY=bz(a) local gb=a.I and 1 or 0 return k(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and o().W(a)or 1)or 0,a.count,a.ttl,a.y,au,ag,al,aI, eY,a.now_ms,gb,ao ) end
local function fR(a,ao) local aD=a.form if aD=='LINE'then return ft(a,ao) elseif aD then return o().ap(a,ao) end
return{a.allowed and(a.PARTIAL and o().W(a)or 1)or 0,a.count,a.ttl} end local function eO(a) if a.v then return a.v.c
end if a.k~='charge'then return 0 elseif a.ALWAYS then return a.u elseif not a.allowed or(a.I and not a.PARTIAL)then
return 0 end return a.u end local function ab(c) if c-c~=0 then return o().au(c) end return k('%.0f',c) end
local function cZ(i,aC) if aC then r('PEXPIREAT',i,ab(aC)) end end local function dC(a,A,z) local i,H=a.l,a.e
if A=='delete'then r('UNLINK',i) elseif A~='keep'then local ci=z.o-(H and H.o or 0) if ci~=0 then
r('INCRBY',i,ci==1 and'1'or k('%.0f',ci)) end if not H or z.g~=H.g then cZ(i,z.g) end end end local function fY(Y,x)
local a=fJ(x,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') fN(a,Y,a.RESERVE)
if a.RESERVE then o().ak(a) else dR(a,'write') eV(a) end local eI=fR(a,eO(a)) if a.SHADOW or a.RESERVE then
o().aa(a,true) else dC(a,a.k,a.x) end return eI end function o() if not cc then local w={}
w.NOT_A_COUNTER='ERR value is not an integer or out of range'
w.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
w.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
w.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
w.ID='ERR invalid ID: expected 1 to 512 bytes'
w.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
w.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
w.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
w.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
w.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
w.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
w.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
w.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
w.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
w.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
w.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
w.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' w.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
w.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
w.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
w.ARITY='ERR wrong number of arguments' local function dA(a,ge)
return k(':%s:%.0f',a.i and a.i:lower()or k('%.0fms',a.j),ge) end local function eS(bb,dV) if dV<2 then bb=bb-1 end
local fB=(dV+10)%12 local fs=math.floor(bb/4)-math.floor(bb/100)+math.floor(bb/400)
return 365*bb+fs+math.floor((153*fB+2)/5)-719468 end local function bA(c) return eS(math.floor(c/12),c%12) end
local function dW(be) local ac=1970*12+math.floor(be/30.436875)+1 while bA(ac)>be do ac=ac-1 end return ac,be-bA(ac) end
local function da(aA,ac) local f=aA.al+ac local m=bA(f) return(m+math.min(aA.ac,bA(f+1)-m-1))*86400000+aA.av end
local function eM(av,aB,p) local bq=aB%86400000 local ac,be=dW((aB-bq)/86400000) local aA={al=ac,ac=be,av=bq}
local dy=dW(math.floor(p/86400000))-ac local aT=dy-dy%av local m,u=da(aA,aT),da(aA,aT+av) if m>p then m,u=da(aA,aT-av),m
end return m,u,u-m end local function cU(a,p) local aM,aB=a.i,a.r if aM=='MONTH'or aM=='YEAR'then
local m,u,Z=eM(aM=='YEAR'and 12 or 1,aB or 0,p) return math.max(0,m),u,Z end aB=aB or(aM=='WEEK'and 4*86400000)or 0
local Z=a.j local dx=(p%Z-aB%Z)%Z return math.max(0,p-dx),p-dx+Z,Z end local function bR(a) if a.i or a.r then
return cU(a,a.now_ms) end local p,J=a.now_ms,a.j local m=p-p%J return m,m+J end local function cu(a) if a.i or a.r then
local v,u=cU(a,a.now_ms) return u end return a.now_ms+a.j end local function X(g) error({err=g},0) end
local function E(ak) X(w[ak]) end local function fb(at) if type(at)=='table'then return at elseif F(at,'^%u+ ')then
return redis.error_reply(at) end error(at,0) end local function aO(c) if c-c~=0 then return c end local j,D={},0
while c>0 do local W=c%(2^24) D=D+1 j[D]=W c=(c-W)/(2^24) end return j end local ds={ __sub=function() return 1 end, }
local function bB(j) local D=#j while D>0 and j[D]==0 do j[D]=nil D=D-1 end
if D>3 or(D==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,ds) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function dX(d,e) d,e=aO(d),aO(e) local bo={}
for c=1,#d+#e do bo[c]=0 end for c=1,#d do local an=0 for cq=1,#e do local W=bo[c+cq-1]+d[c]*e[cq]+an
an=math.floor(W/(2^24)) bo[c+cq-1]=W-an*(2^24) end bo[c+#e]=an end return bB(bo) end local function dQ(d,e)
local dv,eK=d-d==0,e-e==0 if dv or eK then return dv elseif#d~=#e then return#d<#e end for c=#d,1,-1 do
if d[c]~=e[c]then return d[c]<e[c] end end return false end local function cp(d,e) if d-d==0 and e-e==0 then return d<e
end return dQ(d,e) end local function dz(c) if c-c==0 then return c end local ah=0 for fo=#c,1,-1 do ah=ah*(2^24)+c[fo]
end return ah end local function eG(d,e) d,e=aO(d),aO(e) local ah,an={},0 for c=1,math.max(#d,#e)+1 do
local W=(d[c]or 0)+(e[c]or 0)+an an=W>=(2^24)and 1 or 0 ah[c]=W-an*(2^24) end return bB(ah) end local function dw(d,e)
if d-d==0 and e-e==0 and d+e<(2^53)then return d+e end return eG(d,e) end local function gf(d,e) if not dQ(e,d)then
return 0 end e=aO(e) local dF,cf={},0 for c=1,#d do local W=d[c]-(e[c]or 0)-cf cf=W<0 and 1 or 0 dF[c]=W+cf*(2^24) end
return bB(dF) end local function aL(d,e) if d-d==0 and e-e==0 then return d>e and d-e or 0 end return gf(d,e) end
local function bG(d,e) if d-d==0 and e-e==0 and d*e<(2^53)then return d*e end return dX(d,e) end local function fa(d,e)
local cV=0 while not cp(d,e)do local as=math.max(1,math.floor(dz(d)/dz(e)*(1-2^-45))) as=bB(aO(as)) cV=dw(cV,as)
d=aL(d,bG(as,e)) end return cV,d end local function cj(d,e) if d-d==0 and e-e==0 then local R=d%e return(d-R)/e,R end
return fa(d,e) end local function gi(c) local dd='' while c-c~=0 do local R c,R=cj(c,10000000) dd=k('%07.0f',R)..dd end
return k('%.0f',c)..dd end local function dJ(i,p) local dP=r('PTTL',i) return dP>=0 and p+dP or nil end
local function bd(d,e) for f=1,math.min(#d,#e)do local eB,eC=d:byte(f),e:byte(f) if eB~=eC then return eB<eC end end
return#d<#e end local function aP(g,U) if g~='0'and not F(g,'^[1-9]%d*$')then return nil end
return(#g<#U or(#g==#U and not bd(U,g)))and g or nil end local function fe(g,C,fI)
local gu={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local dr=gu[bk(g,'^(%u):')] if not dr or dr==C then
E(fI) end X('ERR the key holds a state of '..dr..': use another key for each algorithm') end local function bC(j)
if#j<=15 or(#j==16 and bd(j,'9007199254740992'))then return j+0 end local cm=#j%7 local c=cm>0 and j:sub(1,cm)+0 or 0
for f=cm+1,#j,7 do c=dw(bG(c,10000000),j:sub(f,f+6)+0) end return c end local function gs(g)
local gc,j=bk(g,'^(%-?)(%d+)$') local ct=gc=='-' j=j and aP(j,ct and'9223372036854775808'or'9223372036854775807')
if not j or(ct and j=='0')then fe(g,nil,'NOT_A_COUNTER') end local y=bC(j) if y-y~=0 then E('INEXACT_STATE') end
return ct and-y or y end local function ec(ak,g,dO) local j=g and aP(g,'9223372036854775807') local c=j and bC(j)
if not c or c==0 and dO>0 then X(k('ERR invalid %s: expected an integer from %d to 9223372036854775807',ak,dO))
elseif c-c~=0 then X(k('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ak)) end return c end
local dt={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aE(aU,C)
return not F(C,' ',1,true)and F(aU,' '..C..' ',1,true)~=nil end local function em(a,q)
return not aE(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',q)or aE((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),q)
end local function fq(C,q) local m,u=0,0 local ej,fw=math.min(#C,#q),math.max(#C,#q)
while m<ej and C:byte(m+1)==q:byte(m+1)do m=m+1 end while u<ej-m and C:byte(-1-u)==q:byte(-1-u)do u=u+1 end
return m+u>=2 and fw-m-u<=2 end local function ff(a,P,C) local aF={} for v,S in ipairs(dt)do
if aE(P,S[1])and em(a,S[1])then aF[#aF+1]=S[2] end end for v,aD in ipairs({'FULL','LINE','HEADERS'})do aF[#aF+1]=aD end
for v,q in ipairs(aF)do if fq(C:upper(),bk(q,'^%u+'))then X('ERR syntax error: no such option, but there is '..q) end
end local u=table.remove(aF) local gk=table.concat(aF,', ')
X('ERR syntax error: after limit come '..gk..' or '..u..', each at most once') end local function fT(S,a,P)
local q,gv=S[1],a.az if not aE(P,q)then X(k('ERR invalid %s: only %s it',q,S[3])) elseif not em(a,q)then
X(k('ERR invalid %s: %s takes none',q,('FIXED'))) elseif a[q]~=nil then
X(k('ERR syntax error: %s comes at most once',S[2])) end end
local du={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function ee(g) local ad,aM=bk(g,'^(%d+)(%l*)$')
local V=ad and du[aM]and aP(ad,'18446744073709551615')and ad*du[aM] return V and V>=1 and V<=1e15 and V or nil end
local function ed(g,U) return g and#g>=1 and#g<=U and g end local function dU(d,e) return cp(e,d)and e or d end
local eF=setmetatable({(2^24)-1,(2^24)-1,2^16-1},ds) local function fM(q,g,bT) if q=='RESERVE'then local T=bT and ee(bT)
return ed(g,128)and T and{id=g,ttl=T}or E('RESERVE') elseif q=='RESERVATION'then return ed(g,128)or E('RESERVATION') end
if q=='ANCHOR'then local j=g and aP(g,'253402300799') return j and j+0 or E('ANCHOR') end if q=='AS'then
return g and#g>=1 and#g<=64 and not F(g,'[^%w._-]')and g or E('AS') elseif q=='AT'then
local j=g and aP(g,'9223372036854775807') return j and dU(bC(j),(cj(eF,1000)))or E('AT') end
return ec(q,g,q=='BURST'and 1 or 0) end local function fS(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
E(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
E(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local eD={FULL=true,LINE=true,HEADERS=true}
local function fz(aD,dY) if aD then E(aD==dY and'FORM_TWICE'or'TWO_FORMS') end return dY end local function fK(a,x,f,P)
while x[f]do local C,S=x[f]:upper(),nil for v,dN in ipairs(dt)do S=dN[1]==C and dN or S end if S then fT(S,a,P)
if S[2]==C then a[C]=true f=f+1 else a[C]=fM(C,x[f+1],x[f+2]) f=f+(C=='RESERVE'and 3 or 2) end fS(a)
elseif eD[C]and aE(P,'form')then a.form=fz(a.form,C) f=f+1 else return f end end return f end
local eE={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function gt(a,g) local J=ee(g)
if not J then a.i=g:upper() J=eE[a.i] if not J then
E(aE((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aE((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
X(k('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return J end local function fm(i)
return i:sub(-9)==':reserved'or i:sub(-14)==':reserved:ends' end local function fU(i) if fm(i)then E('RESERVED_KEY') end
end local function fA(a) local v,u=bR(a) if a.i or a.r then return dA(a,u) end return':'..ab(u/a.j) end
local function eL(a) return dc(a)..' '..fA(a) end local function fd(a) X(k('ERR clock %.0f %s',a.now_ms,eL(a))) end
local function dL(a) local az=a.i and a.i:lower()or k('%.0fms',a.j) return':'..az..(a.r and k(':%.0f',a.r/1000)or'') end
local function gg(a,Y,f,i) local bD,aR=Y[f]or'',Y[f+1] local ak=(dL and dL(a)or'')..':reserved'
if(bD~=i..ak and bD~='{'..i..'}'..ak)or aR~=bD..':ends'then E('KEYS') end a.aj,a.q=bD,aR return f+2 end
local function aJ(V) local R=V%1000 return V<0 and-1 or R==0 and V/1000 or(V-R)/1000+1 end local function dD(a)
local fC=a.PARTIAL and a.u<a.c a.I=a.SHADOW and not a.v and(fC or not a.allowed) if not a.allowed and(a.I or a.v)then
a.allowed=true if not true then local v,v,v,cX=bz(a) a.ttl=aJ(cX) end end end local function eh(a) cl(a,'keep',a.e)
return a.remaining end local function fp(a,aC) return not aC or not cp(aC,(bR(a))) end local function eb(a,aC,h)
local t=a.e if h==0 or not fp(a,aC)then return'keep' end local H=t and t.o or 0 if H+h+1>=(2^53)then E('INEXACT_REPLY')
end local aq=H~=0 and t.g return'charge',{o=H+h,g=aq or cu(a)} end local function bU(A,z,H) if A=='keep'then return H
end return A~='delete'and z or nil end local function bm(h) return h==0 and 1 or h end local function ey(t,p)
return t and t.o or 0,en(t and t.g,p) end local function dI(c) if c-c~=0 or c>=(2^53)then E('INEXACT_REPLY') end
return c end local function eT(a) local h=a.c bf(a,0) local A,z=eb(a,nil,h) if h>0 then a.k,a.x=A,z end
local ek=bU(a.k,a.x,a.e) cl(a,a.k,ek) a.allowed=a.y>0 and O(a,0)==0 a.n=a.y>0 and h or bm(h) if ey then
a.count,a.ttl=ey(ek,a.now_ms) elseif a.allowed then a.ttl=aJ(dI(O(a,a.y))) else local O=O(a,a.n)
a.ttl=O and math.max(1,aJ(dI(O)))or-1 end end local function eU(a) local h=a.c if a.PARTIAL then h=math.min(h,eh(a)) end
a.u=h if a.ALWAYS then eT(a) else bf(a,h) end end local function aV(g)
local j=aP(g,'9223372036854775807')or E('FOREIGN_RESERVATION') local c=bC(j) return c-c==0 and c or E('INEXACT_STATE')
end local function bg(g) local h,eN,bi,ch,T=bk(g,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not h or#T>16 or tonumber(T)>1e15 or T=='0'then E('FOREIGN_RESERVATION') end return{ c=h~=''and aV(h)or nil,
t=aV(eN), a=aV(bi), z=aV(ch), ttl=aV(T), } end local function fc(i,p) if not redis.REDIS_VERSION_NUM then return dJ(i,p)
end local f=r('PEXPIRETIME',i) return f>=0 and f or nil end local function fZ(i,bS) bS=k('%.0f',bS)
local ei=r('ZRANGE',i,bS,bS,'WITHSCORES')[2] return ei and tonumber(ei) end local gw,aQ,bV,gx=4000,1000,1000,2*500
local function cY(b,K) b.p,b.G={},{} for v,s in ipairs(K)do if s.f.c then b.p[#b.p+1]={id=s.id,D=s.f}
elseif s.id~=b.id then b.G[#b.G+1]=s.id end end aQ=math.max(0,aQ-#b.p-#b.G) table.sort(b.p,function(d,e)
if d.D.t~=e.D.t then return d.D.t<e.D.t end return bd(d.id,e.id) end) b.aA=true end local function fX(b)
local m=r('ZRANGE',b.q,'0',k('%.0f',aQ),'WITHSCORES') local aS,aR,K,cy={},{},{},false b.B=nil for c=1,#m,2 do
local bi=tonumber(m[c+1]) if bi>b.now_ms or#aS==aQ then b.B=bi break end aS[#aS+1],aR[#aR+1]=m[c],bi end
local aw=#aS>0 and r('HMGET',b.l,unpack(aS))or{} for c,M in ipairs(aS)do local L=aw[c]and bg(aw[c])
if not L or L.a~=aR[c]then return false end K[c]={id=M,f=L} cy=cy or M==b.id end
if b.b and b.b.a<=b.now_ms and not cy then K[#K+1]={id=b.id,f=b.b} end cY(b,K) local cx=0 for v,n in ipairs(b.p)do
cx=n.id==b.id and 1 or cx end local fH=#b.p+#b.G-cx b.n=b.A-(b.w and 1 or 0)==fH and 0 or nil return true end
local function dT(L) return L.c and math.max(L.a+L.ttl,L.z)or L.a end local function fW(b) local n,ba,aX={},{},nil
local ce=r('HGETALL',b.l) for c=1,#ce,2 do local M=ce[c] if M~=''then local s={id=M,f=bg(ce[c+1])}
if s.f.a<=b.now_ms then n[#n+1]=s elseif M~=b.id then ba[#ba+1]=s end end end if#n>aQ then table.sort(n,function(d,e)
if d.f.a~=e.f.a then return d.f.a<e.f.a end return bd(d.id,e.id) end) for c=#n,aQ+1,-1 do local s=table.remove(n,c)
if s.id==b.id then aX=s else ba[#ba+1]=s end end n[#n+1]=aX end b.B,b.n,b.N=nil,0,ba for v,s in ipairs(ba)do
b.B=math.min(b.B or s.f.a,s.f.a) b.n=math.max(b.n,dT(s.f)) end cY(b,n) end local function eH(b,U)
local av=b.E==1 and r('ZSCORE',b.q,'') b.ai=av and true or false b.B=nil if U>0 then
local K=r('HSCAN',b.l,av and ab(-1-tonumber(av))or'0','COUNT',ab(U)) b.M,b.P,b.N=tonumber(K[1]),not av,{}
for c=1,#K[2],2 do local M=K[2][c] if M~=''and M~=b.id then b.N[#b.N+1]={id=M,f=bg(K[2][c+1])} elseif M~=''then
bg(K[2][c+1]) end end table.sort(b.N,function(d,e) return bd(d.id,e.id) end) b.J=b.M==0 end
if b.b and b.b.a<=b.now_ms then cY(b,{{id=b.id,f=b.b}}) b.n=b.A==1 and 0 or nil end end local function fv(a,M)
local i=a.aj local K=r('HMGET',i,M,'') local b={l=i,q=a.q,id=M,now_ms=a.now_ms,p={},G={}} b.w=K[1]and bg(K[1])or nil
b.b=b.w b.E=K[2]and aV(K[2])or nil b.A=r('HLEN',i)-(b.E and 1 or 0) b.g=fc(i,b.now_ms) b.S=r('ZCARD',b.q) b.B=fZ(b.q,0)
local fF=b.A==b.S and(b.E==0 or b.A==0 and not b.E) local fh=math.min(b.B or math.huge,b.b and b.b.a or math.huge)
b.J=fF and(fh>b.now_ms or fX(b)) if not b.J then local ap=b.A+(b.E and 1 or 0) local U=ap<=bV and ap or math.min(bV,500)
bV=bV-U if U==ap then b.J,b.P=true,true fW(b) else eH(b,U) end end return b end local function dH(a) local v,u=bR(a)
return u end local function ga(a,dB,cd) local t,cW=a.e,dB.c or 0 if dB.z~=dH(a)then return'keep' elseif cd>=cW then
return eb(a,nil,cd-cW) elseif not t or t.o<=0 then return'keep' end local y=math.max(0,t.o-(cW-cd))
return'refund',{o=y,g=t.g or cu(a)} end local function cs(n,p) local ay=n.D if p>=ay.a+ay.ttl then return nil end
return{ t=ay.t, a=ay.a+ay.ttl, z=(n.ah or ay.c==0)and ay.z or 0, ttl=ay.ttl, } end local function fk(a) local b=a.Q
for v,n in ipairs(b.p)do if n.D.c>0 and b.now_ms<n.D.z then local A,z=ga(a,n.D,0) if A~='keep'then if not a.V then
a.V,a.w=true,a.e end n.ah=true a.e=bU(A,z,a.e) end end end if b.b and b.b.a<=b.now_ms then b.b=nil
for v,n in ipairs(b.p)do if n.id==b.id then b.b=cs(n,b.now_ms) end end end end local function fD(b)
return b.b and b.b.c and b.b or nil end local function ea(b) local D,bh,aa=b.A-(b.w and 1 or 0)-#b.G,b.B,b.n or 0
for v,n in ipairs(b.p)do local ar=n.id~=b.id and cs(n,b.now_ms) if ar then bh=math.min(bh or ar.a,ar.a)
aa=math.max(aa,ar.a) elseif n.id~=b.id then D=D-1 end end return D,bh,aa end local function fj(b) local D,bh=ea(b)
if b.b or D<100000 then return nil end return math.max(1,(bh or 0)-b.now_ms) end local function eX(a,h)
local H=a.e and a.e.o or 0 local bj=bm(h)<=a.limit and H+bm(h)<=a.limit bf(a,bj and h or 0) a.allowed,a.n=bj,bm(h) end
local function eW(a) local h,b=a.c,a.Q fk(a) a.v,a.K=fD(b),fj(b) if a.v then h=0 elseif a.PARTIAL then
h=math.min(h,eh(a)) end local dE=eX or bf dE(a,h) if a.K and a.allowed then dE(a,0) a.allowed,a.n=false,bm(h)
if not true then a.ttl=aJ(a.K) end end a.u=h dD(a) end local function fu(a) a.Q=fv(a,a.RESERVE.id) dR(a,'write') eW(a)
end local function dZ(b,h,T,ch) local p=b.now_ms b.b={c=h,t=p,a=p+T,z=ch,ttl=T} end local function fP(b,bH,T)
if bH.a<b.now_ms+T then dZ(b,bH.c,T,bH.z) b.b.t=bH.t end end local function fE(a) local bj=not a.I if a.PARTIAL then
bj=a.u>0 and not a.K end return not a.v and a.allowed and bj end local function eQ(a,A,z) if a.V then z=bU(A,z,a.e)
a.e=a.w if not z then A=a.w and'delete'or'keep' elseif A~='charge'then A='refund' end end dC(a,A,z) end
local function dG(L) local x={L.c and ab(L.c)or''} for c,y in ipairs({L.t,L.a,L.z,L.ttl})do x[c+1]=ab(y) end
return table.concat(x,':') end local function bw(eJ,cr) local ah=0 for m=1,#cr,1000 do local as={unpack(eJ)}
for c=m,math.min(m+999,#cr)do as[#as+1]=cr[c] end ah=ah+r(unpack(as)) end return ah end local function eP(b)
local D,v,aa=ea(b) if D==0 and not b.b then if b.A>0 or b.E then r('UNLINK',b.l) end if b.S>0 then r('UNLINK',b.q) end
return end local ap,bl,af={},{},{} local function aK(aU,m,bT) aU[#aU+1]=m aU[#aU+1]=bT end for v,M in ipairs(b.G)do
af[#af+1]=M end for v,s in ipairs(b.N or{})do aK(bl,ab(s.f.a),s.id) end for v,n in ipairs(b.p)do
local ar=n.id~=b.id and cs(n,b.now_ms) if ar then aK(ap,n.id,dG(ar)) aK(bl,ab(ar.a),n.id) elseif n.id~=b.id then
af[#af+1]=n.id end end if b.b and b.b~=b.w then aK(ap,b.id,dG(b.b)) elseif not b.b and b.w then af[#af+1]=b.id end
if b.b then aa=math.max(aa,dT(b.b)) local fl=not b.w or b.b.a~=b.w.a if b.P or b.ai or b.J and fl then
aK(bl,ab(b.b.a),b.id) end end local dS=b.J and 0 or 1 if b.E~=dS then aK(ap,'',ab(dS)) end bw({'HSET',b.l},ap)
bw({'HDEL',b.l},af) if b.M and b.M>0 then aK(bl,'-'..ab(b.M+1),'') end if b.P and b.S>0 then r('UNLINK',b.q) end
bw({'ZADD',b.q},bl) if b.M==0 then af[#af+1]='' end bw({'ZREM',b.q},af) local aq,aT,I=b.g,aa+5000,nil
local gj=not aq and not b.n and b.A>0 if not gj and(not aq or aq<aa or(b.n and aq>aT))then I=aT end cZ(b.l,I)
if I or b.P and aq then cZ(b.q,I or aq) end end local function eR(a,aN) if not aN and a.k=='charge'then
a.k,a.x='keep',nil end local b=a.Q if b and aN and a.v then fP(b,a.v,a.RESERVE.ttl) elseif b and aN and fE(a)then
local z=bU(a.k,a.x,a.e) dZ(b,a.u,a.RESERVE.ttl,dH(a,z)) end eQ(a,a.k,a.x) if b then eP(b) end end local function ef(a)
return a.v and a.v.c or a.I and a.c or a.u end local function dK(a) if not a.allowed then return 0 end
return a.PARTIAL and ef(a)or 1 end local function fi(a,ao) local au,fV,al,cX,eZ=bz(a) return{ 'allowed',dK(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.y, 'remaining',au, 'retry_after_ms',fV, 'next_ms',al, 'reset_ms',cX,
'delay_ms',eZ, 'now_ms',a.now_ms, 'shadow',a.I and 1 or 0, 'charged',ao, } end local function fy(bp) local el={}
for v,a in ipairs(bp)do local m,ad=a.AS or('FIXED'):lower(),2 a.H=m while el[a.H]do a.H=k('%s-%d',m,ad) ad=ad+1 end
el[a.H]=true end end local function ez(a) if a.i or a.r then return(select(3,cU(a,a.now_ms))) end return a.j end
local function bF(c) return k('%.0f',dU(c,999999999999999)) end local function fO(a) local J=ez and ez(a)or a.j
local ck,R=1000,J%1000 while R>0 do ck,R=R,ck%R end local eA=1000/ck local az=cj(bG(J,eA),1000)
return k('"%s";q=%s;w=%s',a.H,bF(bG(a.limit,eA)),bF(az)) end local function fr(s,aW) if s.allowed~=aW.allowed then
return not s.allowed end local O,cw=s.retry_after_ms,aW.retry_after_ms if O~=cw then return O<0 or(cw>=0 and O>cw) end
return s.remaining<aW.remaining end local function fn(bp) local db,eg=bp[1],{} fy(bp) for c,a in ipairs(bp)do
eg[c]=fO(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bz(a) if fr(a,db)then db=a end end local a=db local aw={
'X-RateLimit-Limit', k('%.0f',a.y), 'X-RateLimit-Remaining', k('%.0f',a.remaining), } local function bE(ak,y)
aw[#aw+1]=ak aw[#aw+1]=y end if a.reset_ms>=0 then bE('X-RateLimit-Reset',k('%.0f',aJ(a.now_ms+a.reset_ms))) end
bE('RateLimit-Policy',table.concat(eg,', ')) local fx=a.next_ms>=0 and';t='..bF(aJ(a.next_ms))or''
bE('RateLimit',k('"%s";r=%s%s',a.H,bF(a.remaining),fx)) if not a.allowed and a.retry_after_ms>=0 then
bE('Retry-After',k('%.0f',aJ(a.retry_after_ms))) end return aw end local function fG(a,ao) if a.form=='FULL'then
return fi(a,ao) end return{dK(a),a.count,a.ttl,fn({a})} end
cc={Z=dA,aa=eR,ab=dD,ad=eU,error_reply=fb,ae=dJ,F=E,af=fd,ag=ff,ak=fu,am=dX,an=cu,ap=fG,aq=ec,ar=fK,W=ef,X=bR,as=fU,at=gg,au=gi,aw=gs,ay=gt}
end return cc end if at then return o().error_reply(at) end local by,aZ=pcall(fY,KEYS,ARGV)
return by and aZ or o().error_reply(aZ) end local function fg(bc,aj)
local F,aL,k,r=string.find,string.sub,string.format,redis.call local bn local de=aj[1] local bW=aj[2] local bX=aj[3]
if not bW then return end local br=aj[4] local cC local Q local ae if(bX=='LINE')and(not br)then cC=4 Q=1 ae='LINE' else
local cz local cA local cB if bX then if br then
if not(((((aj[5]=='LINE')and(not aj[6]))and((#br)<16))and(bX=='COST'))and F(br,'^[1-9]%d*$'))then return end cz=6
cA=br+0 cB='LINE' else if(((aj[5]=='LINE')and(not aj[6]))and(bX=='COST'))and F('','^[1-9]%d*$')then return end return
end else cz=3 cA=1 cB=nil end cC=cz Q=cA ae=cB end if not(((#bW)<16)and F(bW,'^[1-9]%d*$'))then return end local l=bW+0
if not(((#de)<10)and F(de,'^[1-9]%d*$'))then return end local B=de*1000 if not(B<9e12)then return end local gl=aj[cC]
if gl then return end local aG local eo=r('TIME') local ep=(eo[1]*1e06)+eo[2] local G=(ep-(ep%1000))/1000 local df=bc[1]
local eq=(G-(G%B))/B local dg=k(((eq<2147483648)and':%d'or':%.0f'),eq) local bs=bc[2] local bt=#dg if not bs then return
end if not(aL(df,(-bt))==dg)then if not(aL(bs,(-bt))==dg)then if F(aL(bs,1,((-bt)-1)),':reserved',1,true)then return end
if not((#bc)==2)then return end return else if F(aL(bs,1,((-bt)-1)),':reserved',1,true)then return end
if not((#bc)==2)then return end aG=bs end else if F(aL(df,1,((-bt)-1)),':reserved',1,true)then return end
if not((#bc)==2)then return end aG=df end local bY=r('GET',aG) if bY then if not(((#bY)<16)and F(bY,'^[1-9]%d*$'))then
return end local am=bY+0 if not redis.REDIS_VERSION_NUM then return end local bZ=r('PEXPIRETIME',aG) if bZ<0 then return
end if 2^53<=bZ then return end local bu=(Q<=l)and((am+Q)<=l) local er=bu or(l<=am) local ax=er and(am+Q)or am
if 2^53<=ax then return end local es=((G<bZ)and(bZ-G)or 0)+500 local ca=(es-(es%1000))/1000 if er then local cD
if not bu then cD=0 else cD=Q end local cH if ae=='LINE'then local bv=(0<ax)and ax or 0 local di=(bv<l)and(l-bv)or 0
local bJ if not bu then local bI if l<Q then bI=nil else if(bv+Q)<=l then bI=0 else bI=B-(G%B) end end
local gm=bI or(-1) bJ=gm else bJ=0 end local cG local bL if di<l then local dj=di+1 local bK if l<dj then bK=nil else
if(bv+dj)<=l then bK=0 else bK=B-(G%B) end end local eu=bK or(-1) local cF if dj==l then cF=eu else local cE
if(bv+l)<=l then cE=0 else cE=B-(G%B) end cF=cE end cG=eu bL=cF else cG=0 bL=0 end if(2^53<=bJ)or(2^53<=bL)then return
end local gn=k('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 %.0f',(bu and 1 or 0),ax,ca,l,di,bJ,cG,bL,G,cD) cH=gn
else if ae then return end cH={(bu and 1 or 0),ax,ca} end local dk=ax-am if not(dk==0)then local cI if dk==1 then cI='1'
else cI=k('%.0f',dk) end local gy=r('INCRBY',aG,cI) end bn=cH else local cM if ae=='LINE'then local dl=l-am local bM
if l<Q then bM=nil else if(am+Q)<=l then bM=0 else bM=B-(G%B) end end local ev=bM or(-1) local cL local bO if dl<l then
local dm=dl+1 local bN if l<dm then bN=nil else if(am+dm)<=l then bN=0 else bN=B-(G%B) end end local ew=bN or(-1)
local cK if dm==l then cK=ew else local cJ if(am+l)<=l then cJ=0 else cJ=B-(G%B) end cK=cJ end cL=ew bO=cK else cL=0
bO=0 end if(2^53<=ev)or(2^53<=bO)then return end
local go=k('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',ax,ca,l,dl,ev,cL,bO,G) cM=go else if ae then return end
cM={0,ax,ca} end bn=cM end else local dh=Q<=l local ai=dh and Q or 0 if 2^53<=ai then return end local aH if dh then
aH=G+B else aH=nil end local aY if not aH then aY=-2 else local et=((G<aH)and(aH-G)or 0)+500 aY=(et-(et%1000))/1000 end
if dh then local cQ if ae=='LINE'then local cb=(0<ai)and ai or 0 local dn=(cb<l)and(l-cb)or 0 local cP local bQ
if dn<l then local dp=dn+1 local bP if l<dp then bP=nil else if(cb+dp)<=l then bP=0 else bP=B-(G%B) end end
local ex=bP or(-1) local cO if dp==l then cO=ex else local cN if(cb+l)<=l then cN=0 else cN=B-(G%B) end cO=cN end cP=ex
bQ=cO else cP=0 bQ=0 end if 2^53<=bQ then return end
local gp=k('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',ai,aY,l,dn,cP,bQ,G,Q) cQ=gp else if ae then return end
cQ={1,ai,aY} end if not(ai==0)then local cR if ai==1 then cR='1' else cR=k('%.0f',ai) end local gz=r('INCRBY',aG,cR) end
if aH then local gq=k('%.0f',aH) local gA=r('PEXPIREAT',aG,gq) end bn=cQ else local cS if ae=='LINE'then
local gr=k('0 %.0f %.0f %.0f %.0f -1 0 0 0 %.0f 0 0',ai,aY,l,l,G) cS=gr else if ae then return end cS={0,ai,aY} end
bn=cS end end return bn end local by,aZ=pcall(fg,KEYS,ARGV) if by and aZ then return aZ end return gd(not by and aZ)
