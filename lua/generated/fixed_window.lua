-- RL.FIXED: KEYS and ARGV of the script that it replaces, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function ge(au) local cg,n local F,k,bn,cW=string.find,string.format,string.match,string.sub
local function fM(x,f,Q) local aA,O,q=x[f],x[f+1],x[f+2] if not O then n().F('ARITY') end local a={ l='', ap=0,
now_ms=0, j=0, ay=0, limit=0, y=0, c=1, form=nil, delay=0, e=nil, x=nil, allowed=false, count=0, ttl=0, k='keep',
remaining=0, u=1, } f=f+2 if q=='LINE'and not x[f+1]and Q~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=q,f+1 elseif q then local y=x[f+1]or''
local dM=Q==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and x[f+2]=='LINE'and not x[f+3]and#y<16
if dM and q=='COST'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')~=' ID 'and F(y,'^[1-9]%d*$')then
a.form,a.c,f='LINE',y+0,f+3
elseif dM and q=='ID'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')==' ID 'and y~=''then
a.form,a.ID,f='LINE',y,f+3 else f=n().as(a,x,f,Q) a.c=a.COST or 1 end a.r=a.ANCHOR and a.ANCHOR*1000 end
local cq=#O<16 and F(O,'^[1-9]%d*$') a.limit=cq and O+0 or n().ar('limit',O,0) cq=#aA<10 and F(aA,'^[1-9]%d*$')
local J=cq and aA*1000 or n().az(a,aA) a.j,a.ay,a.y=J,J<9e12 and J*1000 or n().an(J,1000),a.BURST or a.limit return a,f
end local function fK(x,Q) local a,f=fM(x,1,Q) if x[f]then n().ah(a,Q,x[f]) end return a end local r=redis.call
local function fR(a) local bu=r('TIME') local cy=bu[1]*1000000+bu[2] a.ap,a.now_ms=cy,(cy-cy%1000)/1000 end
local function bt(a) if a.i or a.r then return n().Z(a,(n().X(a))) end local p,J=a.now_ms,a.j local ae=(p-p%J)/J
return k(ae<2147483648 and':%d'or':%.0f',ae) end local function gi(a,N,f,be,cr) local i=N[f] if bt then
local ba,aZ=bt(a),N[f+1] local Z=#ba if not aZ then n().F('KEYS') elseif cW(i,-Z)~=ba then i=aZ if cW(i,-Z)~=ba then
a.Y=true end end a.l,i,f=i,cW(i,1,-Z-1),f+2 else if not i then n().F('KEYS') end a.l,f=i,f+1 end if cr then a.H=i
elseif F(i,':reserved',1,true)then n().at(i) end if be then f=a.Y and f+2 or n().au(a,N,f,i) end return f end
local function fO(a,N,be,cr) fR(a) if#N==1 then N=n().ae(a,N,be) end if#N~=gi(a,N,1,be,cr)-1 then n().F('KEYS')
elseif a.Y then n().ag(a) end end local function dR(a) local i=a.l local g=r('GET',i) if g then
local y=#g<16 and F(g,'^[1-9]%d*$')and g+0 or n().ax(g)
local I=redis.REDIS_VERSION_NUM and r('PEXPIRETIME',i)or n().af(i,a.now_ms)or-1 if I<0 then I=nil elseif I>=(2^53)then
n().F('INEXACT_STATE') end a.e={o=y,g=I} end end local function en(I,p) if not I then return-2 end
local W=(I>p and I-p or 0)+500 return(W-W%1000)/1000 end local function bi(a,h) local t,p,O=a.e,a.now_ms,a.limit
local H,aa=t and t.o or 0,h==0 and 1 or h local aQ=aa<=O and H+aa<=O local bB=(aQ or H>=O)and h>0
local z=bB and H+h or H if z>=(2^53)then n().F('INEXACT_REPLY') end local I=t and not(bB and H==0)and t.g or nil
if not I and(t or bB)then I=(a.i or a.r)and n().ao(a)or p+a.j end a.allowed,a.count,a.ttl,a.k=aQ,z,en(I,p),'keep'
if bB or(t and not t.g)then a.k,a.x='charge',{o=z,g=I} end end local function eV(a) if a.PARTIAL or a.ALWAYS then
n().ad(a) else local h=a.c a.u=h bi(a,h) end if a.SHADOW then n().ab(a) end end local function P(a,h) local O=a.limit
if h>O then return nil elseif a.U+h<=O then return 0 end if a.i or a.r then local v,u=n().X(a) return u-a.now_ms end
return a.j-a.now_ms%a.j end local function co(a,v,t) local y,O=t and t.o or 0,a.limit a.U=y>0 and y or 0
a.remaining=a.U<O and O-a.U or 0 end local function bD(a) local A,P=a.k,P
co(a,A,A=='keep'and a.e or A~='delete'and a.x or nil) local av,cj,ah,am,aK=a.remaining,a.y,0,0,0 if not a.allowed then
local h=a.u ah=P(a,a.n or(h==0 and 1 or h))or-1 if a.K and ah>=0 then ah=math.max(ah,a.K) end end if av<cj then
am=P(a,av+1)or-1 aK=av+1==cj and am or P(a,cj)or-1 end
if ah-ah~=0 or am-am~=0 or aK-aK~=0 or ah>=(2^53)or aK>=(2^53)then n().F('INEXACT_REPLY') end return av,ah,am,aK,0 end
local function fu(a,ap) local av,ah,am,aK,eY=bD(a) local gc=a.I and 1 or 0 return k(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and n().W(a)or 1)or 0,a.count,a.ttl,a.y,av,ah,am,aK, eY,a.now_ms,gc,ap ) end
local function fS(a,ap) local aE=a.form if aE=='LINE'then return fu(a,ap) elseif aE then return n().aq(a,ap) end
return{a.allowed and(a.PARTIAL and n().W(a)or 1)or 0,a.count,a.ttl} end local function eO(a) if a.v then return a.v.c
end if a.k~='charge'then return 0 elseif a.ALWAYS then return a.u elseif not a.allowed or(a.I and not a.PARTIAL)then
return 0 end return a.u end local function ab(c) if c-c~=0 then return n().av(c) end return k('%.0f',c) end
local function dc(i,aD) if aD then r('PEXPIREAT',i,ab(aD)) end end local function dD(a,A,z) local i,H=a.l,a.e
if A=='delete'then r('UNLINK',i) elseif A~='keep'then local cl=z.o-(H and H.o or 0) if cl~=0 then
r('INCRBY',i,cl==1 and'1'or k('%.0f',cl)) end if not H or z.g~=H.g then dc(i,z.g) end end end local function fZ(N,x)
local a=fK(x,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') fO(a,N,a.RESERVE)
if a.RESERVE then n().al(a) else dR(a,'write') eV(a) end local eI=fS(a,eO(a)) if a.SHADOW or a.RESERVE then
n().aa(a,true) else dD(a,a.k,a.x) end return eI end function n() if not cg then local w={}
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
w.ARITY='ERR wrong number of arguments' local function dB(a,gf)
return k(':%s:%.0f',a.i and a.i:lower()or k('%.0fms',a.j),gf) end local function eS(bf,dV) if dV<2 then bf=bf-1 end
local fC=(dV+10)%12 local ft=math.floor(bf/4)-math.floor(bf/100)+math.floor(bf/400)
return 365*bf+ft+math.floor((153*fC+2)/5)-719468 end local function bE(c) return eS(math.floor(c/12),c%12) end
local function dW(bh) local ad=1970*12+math.floor(bh/30.436875)+1 while bE(ad)>bh do ad=ad-1 end return ad,bh-bE(ad) end
local function dd(aB,ad) local f=aB.am+ad local m=bE(f) return(m+math.min(aB.ac,bE(f+1)-m-1))*86400000+aB.aw end
local function eM(aw,aC,p) local bu=aC%86400000 local ad,bh=dW((aC-bu)/86400000) local aB={am=ad,ac=bh,aw=bu}
local dz=dW(math.floor(p/86400000))-ad local aW=dz-dz%aw local m,u=dd(aB,aW),dd(aB,aW+aw) if m>p then m,u=dd(aB,aW-aw),m
end return m,u,u-m end local function cX(a,p) local aO,aC=a.i,a.r if aO=='MONTH'or aO=='YEAR'then
local m,u,Z=eM(aO=='YEAR'and 12 or 1,aC or 0,p) return math.max(0,m),u,Z end aC=aC or(aO=='WEEK'and 4*86400000)or 0
local Z=a.j local dy=(p%Z-aC%Z)%Z return math.max(0,p-dy),p-dy+Z,Z end local function bV(a) if a.i or a.r then
return cX(a,a.now_ms) end local p,J=a.now_ms,a.j local m=p-p%J return m,m+J end local function cx(a) if a.i or a.r then
local v,u=cX(a,a.now_ms) return u end return a.now_ms+a.j end local function Y(g) error({err=g},0) end
local function E(al) Y(w[al]) end local function fc(au) if type(au)=='table'then return au elseif F(au,'^%u+ ')then
return redis.error_reply(au) end error(au,0) end local function aR(c) if c-c~=0 then return c end local j,D={},0
while c>0 do local X=c%(2^24) D=D+1 j[D]=X c=(c-X)/(2^24) end return j end local dt={ __sub=function() return 1 end, }
local function bF(j) local D=#j while D>0 and j[D]==0 do j[D]=nil D=D-1 end
if D>3 or(D==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,dt) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function dX(d,e) d,e=aR(d),aR(e) local br={}
for c=1,#d+#e do br[c]=0 end for c=1,#d do local ao=0 for ct=1,#e do local X=br[c+ct-1]+d[c]*e[ct]+ao
ao=math.floor(X/(2^24)) br[c+ct-1]=X-ao*(2^24) end br[c+#e]=ao end return bF(br) end local function dQ(d,e)
local dw,eK=d-d==0,e-e==0 if dw or eK then return dw elseif#d~=#e then return#d<#e end for c=#d,1,-1 do
if d[c]~=e[c]then return d[c]<e[c] end end return false end local function cs(d,e) if d-d==0 and e-e==0 then return d<e
end return dQ(d,e) end local function dA(c) if c-c==0 then return c end local ai=0 for fp=#c,1,-1 do ai=ai*(2^24)+c[fp]
end return ai end local function eG(d,e) d,e=aR(d),aR(e) local ai,ao={},0 for c=1,math.max(#d,#e)+1 do
local X=(d[c]or 0)+(e[c]or 0)+ao ao=X>=(2^24)and 1 or 0 ai[c]=X-ao*(2^24) end return bF(ai) end local function dx(d,e)
if d-d==0 and e-e==0 and d+e<(2^53)then return d+e end return eG(d,e) end local function gg(d,e) if not dQ(e,d)then
return 0 end e=aR(e) local dG,ci={},0 for c=1,#d do local X=d[c]-(e[c]or 0)-ci ci=X<0 and 1 or 0 dG[c]=X+ci*(2^24) end
return bF(dG) end local function aN(d,e) if d-d==0 and e-e==0 then return d>e and d-e or 0 end return gg(d,e) end
local function bK(d,e) if d-d==0 and e-e==0 and d*e<(2^53)then return d*e end return dX(d,e) end local function fb(d,e)
local cY=0 while not cs(d,e)do local at=math.max(1,math.floor(dA(d)/dA(e)*(1-2^-45))) at=bF(aR(at)) cY=dx(cY,at)
d=aN(d,bK(at,e)) end return cY,d end local function cm(d,e) if d-d==0 and e-e==0 then local S=d%e return(d-S)/e,S end
return fb(d,e) end local function gj(c) local df='' while c-c~=0 do local S c,S=cm(c,10000000) df=k('%07.0f',S)..df end
return k('%.0f',c)..df end local function dK(i,p) local dP=r('PTTL',i) return dP>=0 and p+dP or nil end
local function bg(d,e) for f=1,math.min(#d,#e)do local eB,eC=d:byte(f),e:byte(f) if eB~=eC then return eB<eC end end
return#d<#e end local function aS(g,V) if g~='0'and not F(g,'^[1-9]%d*$')then return nil end
return(#g<#V or(#g==#V and not bg(V,g)))and g or nil end local function ff(g,C,fJ)
local gv={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local ds=gv[bn(g,'^(%u):')] if not ds or ds==C then
E(fJ) end Y('ERR the key holds a state of '..ds..': use another key for each algorithm') end local function bG(j)
if#j<=15 or(#j==16 and bg(j,'9007199254740992'))then return j+0 end local cp=#j%7 local c=cp>0 and j:sub(1,cp)+0 or 0
for f=cp+1,#j,7 do c=dx(bK(c,10000000),j:sub(f,f+6)+0) end return c end local function gt(g)
local gd,j=bn(g,'^(%-?)(%d+)$') local cw=gd=='-' j=j and aS(j,cw and'9223372036854775808'or'9223372036854775807')
if not j or(cw and j=='0')then ff(g,nil,'NOT_A_COUNTER') end local y=bG(j) if y-y~=0 then E('INEXACT_STATE') end
return cw and-y or y end local function ec(al,g,dO) local j=g and aS(g,'9223372036854775807') local c=j and bG(j)
if not c or c==0 and dO>0 then Y(k('ERR invalid %s: expected an integer from %d to 9223372036854775807',al,dO))
elseif c-c~=0 then Y(k('ERR invalid %s: the Lua library takes integers up to 9007199254740991',al)) end return c end
local du={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aG(aX,C)
return not F(C,' ',1,true)and F(aX,' '..C..' ',1,true)~=nil end local function em(a,q)
return not aG(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',q)or aG((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),q)
end local function fr(C,q) local m,u=0,0 local ej,fx=math.min(#C,#q),math.max(#C,#q)
while m<ej and C:byte(m+1)==q:byte(m+1)do m=m+1 end while u<ej-m and C:byte(-1-u)==q:byte(-1-u)do u=u+1 end
return m+u>=2 and fx-m-u<=2 end local function fg(a,Q,C) local aH={} for v,T in ipairs(du)do
if aG(Q,T[1])and em(a,T[1])then aH[#aH+1]=T[2] end end for v,aE in ipairs({'FULL','LINE','HEADERS'})do aH[#aH+1]=aE end
for v,q in ipairs(aH)do if fr(C:upper(),bn(q,'^%u+'))then Y('ERR syntax error: no such option, but there is '..q) end
end local u=table.remove(aH) local gl=table.concat(aH,', ')
Y('ERR syntax error: after limit come '..gl..' or '..u..', each at most once') end local function fU(T,a,Q)
local q,gw=T[1],a.aA if not aG(Q,q)then Y(k('ERR invalid %s: only %s it',q,T[3])) elseif not em(a,q)then
Y(k('ERR invalid %s: %s takes none',q,('FIXED'))) elseif a[q]~=nil then
Y(k('ERR syntax error: %s comes at most once',T[2])) end end
local dv={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function ee(g) local ae,aO=bn(g,'^(%d+)(%l*)$')
local W=ae and dv[aO]and aS(ae,'18446744073709551615')and ae*dv[aO] return W and W>=1 and W<=1e15 and W or nil end
local function ed(g,V) return g and#g>=1 and#g<=V and g end local function dU(d,e) return cs(e,d)and e or d end
local eF=setmetatable({(2^24)-1,(2^24)-1,2^16-1},dt) local function fN(q,g,bX) if q=='RESERVE'then local U=bX and ee(bX)
return ed(g,128)and U and{id=g,ttl=U}or E('RESERVE') elseif q=='RESERVATION'then return ed(g,128)or E('RESERVATION') end
if q=='ANCHOR'then local j=g and aS(g,'253402300799') return j and j+0 or E('ANCHOR') end if q=='AS'then
return g and#g>=1 and#g<=64 and not F(g,'[^%w._-]')and g or E('AS') elseif q=='AT'then
local j=g and aS(g,'9223372036854775807') return j and dU(bG(j),(cm(eF,1000)))or E('AT') end
return ec(q,g,q=='BURST'and 1 or 0) end local function fT(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
E(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
E(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local eD={FULL=true,LINE=true,HEADERS=true}
local function fA(aE,dY) if aE then E(aE==dY and'FORM_TWICE'or'TWO_FORMS') end return dY end local function fL(a,x,f,Q)
while x[f]do local C,T=x[f]:upper(),nil for v,dN in ipairs(du)do T=dN[1]==C and dN or T end if T then fU(T,a,Q)
if T[2]==C then a[C]=true f=f+1 else a[C]=fN(C,x[f+1],x[f+2]) f=f+(C=='RESERVE'and 3 or 2) end fT(a)
elseif eD[C]and aG(Q,'form')then a.form=fA(a.form,C) f=f+1 else return f end end return f end
local eE={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function gu(a,g) local J=ee(g)
if not J then a.i=g:upper() J=eE[a.i] if not J then
E(aG((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aG((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
Y(k('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return J end local function fn(i)
return i:sub(-9)==':reserved'or i:sub(-14)==':reserved:ends' end local function fV(i) if fn(i)then E('RESERVED_KEY') end
end local function fB(a) local v,u=bV(a) if a.i or a.r then return dB(a,u) end return':'..ab(u/a.j) end
local function eL(a) return bt(a)..' '..fB(a) end local function fe(a) Y(k('ERR clock %.0f %s',a.now_ms,eL(a))) end
local function bJ(a) local aA=a.i and a.i:lower()or k('%.0fms',a.j) return':'..aA..(a.r and k(':%.0f',a.r/1000)or'') end
local function gh(a,N,f,i) local aF,aU=N[f]or'',N[f+1] local al=(bJ and bJ(a)or'')..':reserved'
if(aF~=i..al and aF~='{'..i..'}'..al)or aU~=aF..':ends'then E('KEYS') end a.ak,a.q=aF,aU return f+2 end
local function fa(a,N,be) local i=N[1] local ac={i} if bt then ac={i..bt(a),''} end if be then
local aF=i..(bJ and bJ(a)or'')..':reserved' ac[#ac+1],ac[#ac+2]=aF,aF..':ends' end return ac end local function aL(W)
local S=W%1000 return W<0 and-1 or S==0 and W/1000 or(W-S)/1000+1 end local function dE(a)
local fD=a.PARTIAL and a.u<a.c a.I=a.SHADOW and not a.v and(fD or not a.allowed) if not a.allowed and(a.I or a.v)then
a.allowed=true if not true then local v,v,v,da=bD(a) a.ttl=aL(da) end end end local function eh(a) co(a,'keep',a.e)
return a.remaining end local function fq(a,aD) return not aD or not cs(aD,(bV(a))) end local function eb(a,aD,h)
local t=a.e if h==0 or not fq(a,aD)then return'keep' end local H=t and t.o or 0 if H+h+1>=(2^53)then E('INEXACT_REPLY')
end local ar=H~=0 and t.g return'charge',{o=H+h,g=ar or cx(a)} end local function bY(A,z,H) if A=='keep'then return H
end return A~='delete'and z or nil end local function bp(h) return h==0 and 1 or h end local function ey(t,p)
return t and t.o or 0,en(t and t.g,p) end local function dJ(c) if c-c~=0 or c>=(2^53)then E('INEXACT_REPLY') end
return c end local function eT(a) local h=a.c bi(a,0) local A,z=eb(a,nil,h) if h>0 then a.k,a.x=A,z end
local ek=bY(a.k,a.x,a.e) co(a,a.k,ek) a.allowed=a.y>0 and P(a,0)==0 a.n=a.y>0 and h or bp(h) if ey then
a.count,a.ttl=ey(ek,a.now_ms) elseif a.allowed then a.ttl=aL(dJ(P(a,a.y))) else local P=P(a,a.n)
a.ttl=P and math.max(1,aL(dJ(P)))or-1 end end local function eU(a) local h=a.c if a.PARTIAL then h=math.min(h,eh(a)) end
a.u=h if a.ALWAYS then eT(a) else bi(a,h) end end local function aY(g)
local j=aS(g,'9223372036854775807')or E('FOREIGN_RESERVATION') local c=bG(j) return c-c==0 and c or E('INEXACT_STATE')
end local function bj(g) local h,eN,bl,ck,U=bn(g,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not h or#U>16 or tonumber(U)>1e15 or U=='0'then E('FOREIGN_RESERVATION') end return{ c=h~=''and aY(h)or nil,
t=aY(eN), a=aY(bl), z=aY(ck), ttl=aY(U), } end local function fd(i,p) if not redis.REDIS_VERSION_NUM then return dK(i,p)
end local f=r('PEXPIRETIME',i) return f>=0 and f or nil end local function ga(i,bW) bW=k('%.0f',bW)
local ei=r('ZRANGE',i,bW,bW,'WITHSCORES')[2] return ei and tonumber(ei) end local gx,aT,bZ,gy=4000,1000,1000,2*500
local function db(b,K) b.p,b.G={},{} for v,s in ipairs(K)do if s.f.c then b.p[#b.p+1]={id=s.id,D=s.f}
elseif s.id~=b.id then b.G[#b.G+1]=s.id end end aT=math.max(0,aT-#b.p-#b.G) table.sort(b.p,function(d,e)
if d.D.t~=e.D.t then return d.D.t<e.D.t end return bg(d.id,e.id) end) b.aB=true end local function fY(b)
local m=r('ZRANGE',b.q,'0',k('%.0f',aT),'WITHSCORES') local aV,aU,K,cB={},{},{},false b.B=nil for c=1,#m,2 do
local bl=tonumber(m[c+1]) if bl>b.now_ms or#aV==aT then b.B=bl break end aV[#aV+1],aU[#aU+1]=m[c],bl end
local ax=#aV>0 and r('HMGET',b.l,unpack(aV))or{} for c,M in ipairs(aV)do local L=ax[c]and bj(ax[c])
if not L or L.a~=aU[c]then return false end K[c]={id=M,f=L} cB=cB or M==b.id end
if b.b and b.b.a<=b.now_ms and not cB then K[#K+1]={id=b.id,f=b.b} end db(b,K) local cA=0 for v,o in ipairs(b.p)do
cA=o.id==b.id and 1 or cA end local fI=#b.p+#b.G-cA b.n=b.A-(b.w and 1 or 0)==fI and 0 or nil return true end
local function dT(L) return L.c and math.max(L.a+L.ttl,L.z)or L.a end local function fX(b) local o,bd,ba={},{},nil
local ac=r('HGETALL',b.l) for c=1,#ac,2 do local M=ac[c] if M~=''then local s={id=M,f=bj(ac[c+1])}
if s.f.a<=b.now_ms then o[#o+1]=s elseif M~=b.id then bd[#bd+1]=s end end end if#o>aT then table.sort(o,function(d,e)
if d.f.a~=e.f.a then return d.f.a<e.f.a end return bg(d.id,e.id) end) for c=#o,aT+1,-1 do local s=table.remove(o,c)
if s.id==b.id then ba=s else bd[#bd+1]=s end end o[#o+1]=ba end b.B,b.n,b.N=nil,0,bd for v,s in ipairs(bd)do
b.B=math.min(b.B or s.f.a,s.f.a) b.n=math.max(b.n,dT(s.f)) end db(b,o) end local function eH(b,V)
local aw=b.E==1 and r('ZSCORE',b.q,'') b.aj=aw and true or false b.B=nil if V>0 then
local K=r('HSCAN',b.l,aw and ab(-1-tonumber(aw))or'0','COUNT',ab(V)) b.M,b.P,b.N=tonumber(K[1]),not aw,{}
for c=1,#K[2],2 do local M=K[2][c] if M~=''and M~=b.id then b.N[#b.N+1]={id=M,f=bj(K[2][c+1])} elseif M~=''then
bj(K[2][c+1]) end end table.sort(b.N,function(d,e) return bg(d.id,e.id) end) b.J=b.M==0 end
if b.b and b.b.a<=b.now_ms then db(b,{{id=b.id,f=b.b}}) b.n=b.A==1 and 0 or nil end end local function fw(a,M)
local i=a.ak local K=r('HMGET',i,M,'') local b={l=i,q=a.q,id=M,now_ms=a.now_ms,p={},G={}} b.w=K[1]and bj(K[1])or nil
b.b=b.w b.E=K[2]and aY(K[2])or nil b.A=r('HLEN',i)-(b.E and 1 or 0) b.g=fd(i,b.now_ms) b.S=r('ZCARD',b.q) b.B=ga(b.q,0)
local fG=b.A==b.S and(b.E==0 or b.A==0 and not b.E) local fi=math.min(b.B or math.huge,b.b and b.b.a or math.huge)
b.J=fG and(fi>b.now_ms or fY(b)) if not b.J then local aq=b.A+(b.E and 1 or 0) local V=aq<=bZ and aq or math.min(bZ,500)
bZ=bZ-V if V==aq then b.J,b.P=true,true fX(b) else eH(b,V) end end return b end local function dI(a) local v,u=bV(a)
return u end local function gb(a,dC,ch) local t,cZ=a.e,dC.c or 0 if dC.z~=dI(a)then return'keep' elseif ch>=cZ then
return eb(a,nil,ch-cZ) elseif not t or t.o<=0 then return'keep' end local y=math.max(0,t.o-(cZ-ch))
return'refund',{o=y,g=t.g or cx(a)} end local function cv(o,p) local az=o.D if p>=az.a+az.ttl then return nil end
return{ t=az.t, a=az.a+az.ttl, z=(o.ai or az.c==0)and az.z or 0, ttl=az.ttl, } end local function fl(a) local b=a.Q
for v,o in ipairs(b.p)do if o.D.c>0 and b.now_ms<o.D.z then local A,z=gb(a,o.D,0) if A~='keep'then if not a.V then
a.V,a.w=true,a.e end o.ai=true a.e=bY(A,z,a.e) end end end if b.b and b.b.a<=b.now_ms then b.b=nil
for v,o in ipairs(b.p)do if o.id==b.id then b.b=cv(o,b.now_ms) end end end end local function fE(b)
return b.b and b.b.c and b.b or nil end local function ea(b) local D,bk,aa=b.A-(b.w and 1 or 0)-#b.G,b.B,b.n or 0
for v,o in ipairs(b.p)do local as=o.id~=b.id and cv(o,b.now_ms) if as then bk=math.min(bk or as.a,as.a)
aa=math.max(aa,as.a) elseif o.id~=b.id then D=D-1 end end return D,bk,aa end local function fk(b) local D,bk=ea(b)
if b.b or D<100000 then return nil end return math.max(1,(bk or 0)-b.now_ms) end local function eX(a,h)
local H=a.e and a.e.o or 0 local bm=bp(h)<=a.limit and H+bp(h)<=a.limit bi(a,bm and h or 0) a.allowed,a.n=bm,bp(h) end
local function eW(a) local h,b=a.c,a.Q fl(a) a.v,a.K=fE(b),fk(b) if a.v then h=0 elseif a.PARTIAL then
h=math.min(h,eh(a)) end local dF=eX or bi dF(a,h) if a.K and a.allowed then dF(a,0) a.allowed,a.n=false,bp(h)
if not true then a.ttl=aL(a.K) end end a.u=h dE(a) end local function fv(a) a.Q=fw(a,a.RESERVE.id) dR(a,'write') eW(a)
end local function dZ(b,h,U,ck) local p=b.now_ms b.b={c=h,t=p,a=p+U,z=ck,ttl=U} end local function fQ(b,bL,U)
if bL.a<b.now_ms+U then dZ(b,bL.c,U,bL.z) b.b.t=bL.t end end local function fF(a) local bm=not a.I if a.PARTIAL then
bm=a.u>0 and not a.K end return not a.v and a.allowed and bm end local function eQ(a,A,z) if a.V then z=bY(A,z,a.e)
a.e=a.w if not z then A=a.w and'delete'or'keep' elseif A~='charge'then A='refund' end end dD(a,A,z) end
local function dH(L) local x={L.c and ab(L.c)or''} for c,y in ipairs({L.t,L.a,L.z,L.ttl})do x[c+1]=ab(y) end
return table.concat(x,':') end local function bA(eJ,cu) local ai=0 for m=1,#cu,1000 do local at={unpack(eJ)}
for c=m,math.min(m+999,#cu)do at[#at+1]=cu[c] end ai=ai+r(unpack(at)) end return ai end local function eP(b)
local D,v,aa=ea(b) if D==0 and not b.b then if b.A>0 or b.E then r('UNLINK',b.l) end if b.S>0 then r('UNLINK',b.q) end
return end local aq,bo,ag={},{},{} local function aM(aX,m,bX) aX[#aX+1]=m aX[#aX+1]=bX end for v,M in ipairs(b.G)do
ag[#ag+1]=M end for v,s in ipairs(b.N or{})do aM(bo,ab(s.f.a),s.id) end for v,o in ipairs(b.p)do
local as=o.id~=b.id and cv(o,b.now_ms) if as then aM(aq,o.id,dH(as)) aM(bo,ab(as.a),o.id) elseif o.id~=b.id then
ag[#ag+1]=o.id end end if b.b and b.b~=b.w then aM(aq,b.id,dH(b.b)) elseif not b.b and b.w then ag[#ag+1]=b.id end
if b.b then aa=math.max(aa,dT(b.b)) local fm=not b.w or b.b.a~=b.w.a if b.P or b.aj or b.J and fm then
aM(bo,ab(b.b.a),b.id) end end local dS=b.J and 0 or 1 if b.E~=dS then aM(aq,'',ab(dS)) end bA({'HSET',b.l},aq)
bA({'HDEL',b.l},ag) if b.M and b.M>0 then aM(bo,'-'..ab(b.M+1),'') end if b.P and b.S>0 then r('UNLINK',b.q) end
bA({'ZADD',b.q},bo) if b.M==0 then ag[#ag+1]='' end bA({'ZREM',b.q},ag) local ar,aW,I=b.g,aa+5000,nil
local gk=not ar and not b.n and b.A>0 if not gk and(not ar or ar<aa or(b.n and ar>aW))then I=aW end dc(b.l,I)
if I or b.P and ar then dc(b.q,I or ar) end end local function eR(a,aQ) if not aQ and a.k=='charge'then
a.k,a.x='keep',nil end local b=a.Q if b and aQ and a.v then fQ(b,a.v,a.RESERVE.ttl) elseif b and aQ and fF(a)then
local z=bY(a.k,a.x,a.e) dZ(b,a.u,a.RESERVE.ttl,dI(a,z)) end eQ(a,a.k,a.x) if b then eP(b) end end local function ef(a)
return a.v and a.v.c or a.I and a.c or a.u end local function dL(a) if not a.allowed then return 0 end
return a.PARTIAL and ef(a)or 1 end local function fj(a,ap) local av,fW,am,da,eZ=bD(a) return{ 'allowed',dL(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.y, 'remaining',av, 'retry_after_ms',fW, 'next_ms',am, 'reset_ms',da,
'delay_ms',eZ, 'now_ms',a.now_ms, 'shadow',a.I and 1 or 0, 'charged',ap, } end local function fz(bs) local el={}
for v,a in ipairs(bs)do local m,ae=a.AS or('FIXED'):lower(),2 a.H=m while el[a.H]do a.H=k('%s-%d',m,ae) ae=ae+1 end
el[a.H]=true end end local function ez(a) if a.i or a.r then return(select(3,cX(a,a.now_ms))) end return a.j end
local function bI(c) return k('%.0f',dU(c,999999999999999)) end local function fP(a) local J=ez and ez(a)or a.j
local cn,S=1000,J%1000 while S>0 do cn,S=S,cn%S end local eA=1000/cn local aA=cm(bK(J,eA),1000)
return k('"%s";q=%s;w=%s',a.H,bI(bK(a.limit,eA)),bI(aA)) end local function fs(s,aZ) if s.allowed~=aZ.allowed then
return not s.allowed end local P,cz=s.retry_after_ms,aZ.retry_after_ms if P~=cz then return P<0 or(cz>=0 and P>cz) end
return s.remaining<aZ.remaining end local function fo(bs) local de,eg=bs[1],{} fz(bs) for c,a in ipairs(bs)do
eg[c]=fP(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bD(a) if fs(a,de)then de=a end end local a=de local ax={
'X-RateLimit-Limit', k('%.0f',a.y), 'X-RateLimit-Remaining', k('%.0f',a.remaining), } local function bH(al,y)
ax[#ax+1]=al ax[#ax+1]=y end if a.reset_ms>=0 then bH('X-RateLimit-Reset',k('%.0f',aL(a.now_ms+a.reset_ms))) end
bH('RateLimit-Policy',table.concat(eg,', ')) local fy=a.next_ms>=0 and';t='..bI(aL(a.next_ms))or''
bH('RateLimit',k('"%s";r=%s%s',a.H,bI(a.remaining),fy)) if not a.allowed and a.retry_after_ms>=0 then
bH('Retry-After',k('%.0f',aL(a.retry_after_ms))) end return ax end local function fH(a,ap) if a.form=='FULL'then
return fj(a,ap) end return{dL(a),a.count,a.ttl,fo({a})} end
cg={Z=dB,aa=eR,ab=dE,ad=eU,ae=fa,error_reply=fc,af=dK,F=E,ag=fe,ah=fg,al=fv,an=dX,ao=cx,aq=fH,ar=ec,as=fL,W=ef,X=bV,at=fV,au=gh,av=gj,ax=gt,az=gu}
end return cg end if au then return n().error_reply(au) end local bC,bc=pcall(fZ,KEYS,ARGV)
return bC and bc or n().error_reply(bc) end local function fh(aP,ak)
local F,aN,k,r=string.find,string.sub,string.format,redis.call local bq local dg=ak[1] local ca=ak[2] local cb=ak[3]
if not ca then return end local bv=ak[4] local cF local R local af if(cb=='LINE')and(not bv)then cF=4 R=1 af='LINE' else
local cC local cD local cE if cb then if bv then
if not(((((ak[5]=='LINE')and(not ak[6]))and((#bv)<16))and(cb=='COST'))and F(bv,'^[1-9]%d*$'))then return end cC=6
cD=bv+0 cE='LINE' else if(((ak[5]=='LINE')and(not ak[6]))and(cb=='COST'))and F('','^[1-9]%d*$')then return end return
end else cC=3 cD=1 cE=nil end cF=cC R=cD af=cE end if not(((#ca)<16)and F(ca,'^[1-9]%d*$'))then return end local l=ca+0
if not(((#dg)<10)and F(dg,'^[1-9]%d*$'))then return end local B=dg*1000 if not(B<9e12)then return end local gm=ak[cF]
if gm then return end local aI local eo=r('TIME') local ep=(eo[1]*1e06)+eo[2] local G=(ep-(ep%1000))/1000
if(#aP)==1 then return end local dh=aP[1] local eq=(G-(G%B))/B local di=k(((eq<2147483648)and':%d'or':%.0f'),eq)
local bw=aP[2] local bx=#di if not bw then return end if not(aN(dh,(-bx))==di)then if not(aN(bw,(-bx))==di)then
if F(aN(bw,1,((-bx)-1)),':reserved',1,true)then return end if not((#aP)==2)then return end return else
if F(aN(bw,1,((-bx)-1)),':reserved',1,true)then return end if not((#aP)==2)then return end aI=bw end else
if F(aN(dh,1,((-bx)-1)),':reserved',1,true)then return end if not((#aP)==2)then return end aI=dh end
local cc=r('GET',aI) if cc then if not(((#cc)<16)and F(cc,'^[1-9]%d*$'))then return end local an=cc+0
if not redis.REDIS_VERSION_NUM then return end local cd=r('PEXPIRETIME',aI) if cd<0 then return end if 2^53<=cd then
return end local by=(R<=l)and((an+R)<=l) local er=by or(l<=an) local ay=er and(an+R)or an if 2^53<=ay then return end
local es=((G<cd)and(cd-G)or 0)+500 local ce=(es-(es%1000))/1000 if er then local cG if not by then cG=0 else cG=R end
local cK if af=='LINE'then local bz=(0<ay)and ay or 0 local dk=(bz<l)and(l-bz)or 0 local bN if not by then local bM
if l<R then bM=nil else if(bz+R)<=l then bM=0 else bM=B-(G%B) end end local gn=bM or(-1) bN=gn else bN=0 end local cJ
local bP if dk<l then local dl=dk+1 local bO if l<dl then bO=nil else if(bz+dl)<=l then bO=0 else bO=B-(G%B) end end
local eu=bO or(-1) local cI if dl==l then cI=eu else local cH if(bz+l)<=l then cH=0 else cH=B-(G%B) end cI=cH end cJ=eu
bP=cI else cJ=0 bP=0 end if(2^53<=bN)or(2^53<=bP)then return end
local go=k('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 %.0f',(by and 1 or 0),ay,ce,l,dk,bN,cJ,bP,G,cG) cK=go else
if af then return end cK={(by and 1 or 0),ay,ce} end local dm=ay-an if not(dm==0)then local cL if dm==1 then cL='1' else
cL=k('%.0f',dm) end local gz=r('INCRBY',aI,cL) end bq=cK else local cP if af=='LINE'then local dn=l-an local bQ
if l<R then bQ=nil else if(an+R)<=l then bQ=0 else bQ=B-(G%B) end end local ev=bQ or(-1) local cO local bS if dn<l then
local dp=dn+1 local bR if l<dp then bR=nil else if(an+dp)<=l then bR=0 else bR=B-(G%B) end end local ew=bR or(-1)
local cN if dp==l then cN=ew else local cM if(an+l)<=l then cM=0 else cM=B-(G%B) end cN=cM end cO=ew bS=cN else cO=0
bS=0 end if(2^53<=ev)or(2^53<=bS)then return end
local gp=k('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',ay,ce,l,dn,ev,cO,bS,G) cP=gp else if af then return end
cP={0,ay,ce} end bq=cP end else local dj=R<=l local aj=dj and R or 0 if 2^53<=aj then return end local aJ if dj then
aJ=G+B else aJ=nil end local bb if not aJ then bb=-2 else local et=((G<aJ)and(aJ-G)or 0)+500 bb=(et-(et%1000))/1000 end
if dj then local cT if af=='LINE'then local cf=(0<aj)and aj or 0 local dq=(cf<l)and(l-cf)or 0 local cS local bU
if dq<l then local dr=dq+1 local bT if l<dr then bT=nil else if(cf+dr)<=l then bT=0 else bT=B-(G%B) end end
local ex=bT or(-1) local cR if dr==l then cR=ex else local cQ if(cf+l)<=l then cQ=0 else cQ=B-(G%B) end cR=cQ end cS=ex
bU=cR else cS=0 bU=0 end if 2^53<=bU then return end
local gq=k('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',aj,bb,l,dq,cS,bU,G,R) cT=gq else if af then return end
cT={1,aj,bb} end if not(aj==0)then local cU if aj==1 then cU='1' else cU=k('%.0f',aj) end local gA=r('INCRBY',aI,cU) end
if aJ then local gr=k('%.0f',aJ) local gB=r('PEXPIREAT',aI,gr) end bq=cT else local cV if af=='LINE'then
local gs=k('0 %.0f %.0f %.0f %.0f -1 0 0 0 %.0f 0 0',aj,bb,l,l,G) cV=gs else if af then return end cV={0,aj,bb} end
bq=cV end end return bq end local bC,bc=pcall(fh,KEYS,ARGV) if bC and bc then return bc end return ge(not bC and bc)
