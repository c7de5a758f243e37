-- RL.FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function gh(av) local ce,o local J,k,at,cU=string.find,string.format,string.match,string.sub local function ei(O)
return O==''and 1000 or O=='ms'and 1 or O=='s'and 1000 or O=='m'and 60000 or O=='h'and 3600000 or O=='d'and 86400000
or nil end local function fP(z,f,Q) local aN,N,q=z[f],z[f+1],z[f+2] if not N then o().A('ARITY') end local a={ j='',
ak=0, now_ms=0, h=0, at=0, limit=0, u=0, c=1, form=nil, delay=0, d=nil, t=nil, allowed=false, count=0, ttl=0, i='keep',
remaining=0, q=1, } f=f+2 if q=='LINE'and not z[f+1]and Q~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=q,f+1 elseif q then local A=z[f+1]or''
local dM=Q==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and z[f+2]=='LINE'and not z[f+3]and#A<16
if dM and q=='COST'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')~=' ID 'and J(A,'^[1-9]%d*$')then
a.form,a.c,f='LINE',A+0,f+3
elseif dM and q=='ID'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')==' ID 'and A~=''then
a.form,a.ID,f='LINE',A,f+3 else f=o().an(a,z,f,Q) a.c=a.COST or 1 end a.o=a.ANCHOR and a.ANCHOR*1000 end
local fu=#N<16 and J(N,'^[1-9]%d*$') a.limit=fu and N+0 or o().am('limit',N,0) local R,O=at(aN,'^([1-9]%d*)(%l*)$')
local br=R and#aN<16 and ei(O) local y=br and R*br if not y or y<1 or y>1e15 then y=o().au(a,aN) end
a.h,a.at,a.u=y,y<9e12 and y*1000 or o().ai(y,1000),a.BURST or a.limit return a,f end local function fN(z,Q)
local a,f=fP(z,1,Q) if z[f]then o().ac(a,Q,z[f]) end return a end local r=redis.call local function fU(a)
local bs=r('TIME') local cw=bs[1]*1000000+bs[2] a.ak,a.now_ms=cw,(cw-cw%1000)/1000 end local function dd(a)
if a.g or a.o then return o().V(a,(o().S(a))) end local p,y=a.now_ms,a.h local R=(p-p%y)/y
return k(R<2147483648 and':%d'or':%.0f',R) end local function gl(a,aa,f,dr,cp) local i=aa[f] if dd then
local aY,aX=dd(a),aa[f+1] local ab=#aY if not aX then o().A('KEYS') elseif cU(i,-ab)~=aY then i=aX if cU(i,-ab)~=aY then
a.U=true end end a.j,i,f=i,cU(i,1,-ab-1),f+2 else if not i then o().A('KEYS') end a.j,f=i,f+1 end if cp then a.D=i
elseif J(i,':reserved',1,true)then o().ao(i) end if dr then f=a.U and f+2 or o().ap(a,aa,f,i) end return f end
local function fR(a,aa,dr,cp) fU(a) if#aa~=gl(a,aa,1,dr,cp)-1 then o().A('KEYS') elseif a.U then o().ab(a) end end
local function dR(a) local i=a.j local g=r('GET',i) if g then local A=#g<16 and J(g,'^[1-9]%d*$')and g+0 or o().as(g)
local I=redis.REDIS_VERSION_NUM and r('PEXPIRETIME',i)or o().aa(i,a.now_ms)or-1 if I<0 then I=nil elseif I>=(2^53)then
o().A('INEXACT_STATE') end a.d={l=A,f=I} end end local function eo(I,p) if not I then return-2 end
local X=(I>p and I-p or 0)+500 return(X-X%1000)/1000 end local function bh(a,h) local t,p,N=a.d,a.now_ms,a.limit
local H,ac=t and t.l or 0,h==0 and 1 or h local aO=ac<=N and H+ac<=N local bz=(aO or H>=N)and h>0
local B=bz and H+h or H if B>=(2^53)then o().A('INEXACT_REPLY') end local I=t and not(bz and H==0)and t.f or nil
if not I and(t or bz)then I=(a.g or a.o)and o().aj(a)or p+a.h end a.allowed,a.count,a.ttl,a.i=aO,B,eo(I,p),'keep'
if bz or(t and not t.f)then a.i,a.t='charge',{l=B,f=I} end end local function eY(a) if a.PARTIAL or a.ALWAYS then
o().Z(a) else local h=a.c a.q=h bh(a,h) end if a.SHADOW then o().X(a) end end local function P(a,h) local N=a.limit
if h>N then return nil elseif a.N+h<=N then return 0 end if a.g or a.o then local w,u=o().S(a) return u-a.now_ms end
return a.h-a.now_ms%a.h end local function cn(a,w,t) local A,N=t and t.l or 0,a.limit a.N=A>0 and A or 0
a.remaining=a.N<N and N-a.N or 0 end local function bB(a) local C,P=a.i,P
cn(a,C,C=='keep'and a.d or C~='delete'and a.t or nil) local aw,ci,ah,am,aJ=a.remaining,a.u,0,0,0 if not a.allowed then
local h=a.q ah=P(a,a.k or(h==0 and 1 or h))or-1 if a.G and ah>=0 then ah=math.max(ah,a.G) end end if aw<ci then
am=P(a,aw+1)or-1 aJ=aw+1==ci and am or P(a,ci)or-1 end
if ah-ah~=0 or am-am~=0 or aJ-aJ~=0 or ah>=(2^53)or aJ>=(2^53)then o().A('INEXACT_REPLY') end return aw,ah,am,aJ,0 end
local function fx(a,ap) local aw,ah,am,aJ,fb=bB(a) local gf=a.E and 1 or 0 return k(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and o().Q(a)or 1)or 0,a.count,a.ttl,a.u,aw,ah,am,aJ, fb,a.now_ms,gf,ap ) end
local function fV(a,ap) local aE=a.form if aE=='LINE'then return fx(a,ap) elseif aE then return o().al(a,ap) end
return{a.allowed and(a.PARTIAL and o().Q(a)or 1)or 0,a.count,a.ttl} end local function eR(a) if a.r then return a.r.c
end if a.i~='charge'then return 0 elseif a.ALWAYS then return a.q elseif not a.allowed or(a.E and not a.PARTIAL)then
return 0 end return a.q end local function ad(c) if c-c~=0 then return o().aq(c) end return k('%.0f',c) end
local function da(i,aD) if aD then r('PEXPIREAT',i,ad(aD)) end end local function dC(a,C,B) local i,H=a.j,a.d
if C=='delete'then r('UNLINK',i) elseif C~='keep'then local ck=B.l-(H and H.l or 0) if ck~=0 then
r('INCRBY',i,ck==1 and'1'or k('%.0f',ck)) end if not H or B.f~=H.f then da(i,B.f) end end end local function gc(aa,z)
local a=fN(z,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') fR(a,aa,a.RESERVE)
if a.RESERVE then o().ag(a) else dR(a,'write') eY(a) end local eL=fV(a,eR(a)) if a.SHADOW or a.RESERVE then
o().W(a,true) else dC(a,a.i,a.t) end return eL end function o() if not ce then local x={}
x.NOT_A_COUNTER='ERR value is not an integer or out of range'
x.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
x.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
x.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
x.ID='ERR invalid ID: expected 1 to 512 bytes'
x.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
x.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
x.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
x.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
x.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
x.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
x.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
x.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
x.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
x.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
x.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
x.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' x.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
x.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
x.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
x.ARITY='ERR wrong number of arguments' local function dA(a,gi)
return k(':%s:%.0f',a.g and a.g:lower()or k('%.0fms',a.h),gi) end local function eV(bd,dV) if dV<2 then bd=bd-1 end
local fF=(dV+10)%12 local fw=math.floor(bd/4)-math.floor(bd/100)+math.floor(bd/400)
return 365*bd+fw+math.floor((153*fF+2)/5)-719468 end local function bC(c) return eV(math.floor(c/12),c%12) end
local function dW(bg) local ae=1970*12+math.floor(bg/30.436875)+1 while bC(ae)>bg do ae=ae-1 end return ae,bg-bC(ae) end
local function db(aB,ae) local f=aB.ah+ae local m=bC(f) return(m+math.min(aB.Y,bC(f+1)-m-1))*86400000+aB.ar end
local function eP(ax,aC,p) local bs=aC%86400000 local ae,bg=dW((aC-bs)/86400000) local aB={ah=ae,Y=bg,ar=bs}
local dy=dW(math.floor(p/86400000))-ae local aU=dy-dy%ax local m,u=db(aB,aU),db(aB,aU+ax) if m>p then m,u=db(aB,aU-ax),m
end return m,u,u-m end local function cV(a,p) local O,aC=a.g,a.o if O=='MONTH'or O=='YEAR'then
local m,u,ab=eP(O=='YEAR'and 12 or 1,aC or 0,p) return math.max(0,m),u,ab end aC=aC or(O=='WEEK'and 4*86400000)or 0
local ab=a.h local dx=(p%ab-aC%ab)%ab return math.max(0,p-dx),p-dx+ab,ab end local function bT(a) if a.g or a.o then
return cV(a,a.now_ms) end local p,y=a.now_ms,a.h local m=p-p%y return m,m+y end local function cv(a) if a.g or a.o then
local w,u=cV(a,a.now_ms) return u end return a.now_ms+a.h end local function Z(g) error({err=g},0) end
local function F(al) Z(x[al]) end local function fe(av) if type(av)=='table'then return av elseif J(av,'^%u+ ')then
return redis.error_reply(av) end error(av,0) end local function aP(c) if c-c~=0 then return c end local j,E={},0
while c>0 do local Y=c%(2^24) E=E+1 j[E]=Y c=(c-Y)/(2^24) end return j end local dt={ __sub=function() return 1 end, }
local function bD(j) local E=#j while E>0 and j[E]==0 do j[E]=nil E=E-1 end
if E>3 or(E==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,dt) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function dX(d,e) d,e=aP(d),aP(e) local bp={}
for c=1,#d+#e do bp[c]=0 end for c=1,#d do local ao=0 for cr=1,#e do local Y=bp[c+cr-1]+d[c]*e[cr]+ao
ao=math.floor(Y/(2^24)) bp[c+cr-1]=Y-ao*(2^24) end bp[c+#e]=ao end return bD(bp) end local function dQ(d,e)
local dv,eN=d-d==0,e-e==0 if dv or eN then return dv elseif#d~=#e then return#d<#e end for c=#d,1,-1 do
if d[c]~=e[c]then return d[c]<e[c] end end return false end local function cq(d,e) if d-d==0 and e-e==0 then return d<e
end return dQ(d,e) end local function dz(c) if c-c==0 then return c end local ai=0 for fr=#c,1,-1 do ai=ai*(2^24)+c[fr]
end return ai end local function eJ(d,e) d,e=aP(d),aP(e) local ai,ao={},0 for c=1,math.max(#d,#e)+1 do
local Y=(d[c]or 0)+(e[c]or 0)+ao ao=Y>=(2^24)and 1 or 0 ai[c]=Y-ao*(2^24) end return bD(ai) end local function dw(d,e)
if d-d==0 and e-e==0 and d+e<(2^53)then return d+e end return eJ(d,e) end local function gj(d,e) if not dQ(e,d)then
return 0 end e=aP(e) local dF,ch={},0 for c=1,#d do local Y=d[c]-(e[c]or 0)-ch ch=Y<0 and 1 or 0 dF[c]=Y+ch*(2^24) end
return bD(dF) end local function aM(d,e) if d-d==0 and e-e==0 then return d>e and d-e or 0 end return gj(d,e) end
local function bI(d,e) if d-d==0 and e-e==0 and d*e<(2^53)then return d*e end return dX(d,e) end local function fd(d,e)
local cW=0 while not cq(d,e)do local au=math.max(1,math.floor(dz(d)/dz(e)*(1-2^-45))) au=bD(aP(au)) cW=dw(cW,au)
d=aM(d,bI(au,e)) end return cW,d end local function cl(d,e) if d-d==0 and e-e==0 then local T=d%e return(d-T)/e,T end
return fd(d,e) end local function gm(c) local de='' while c-c~=0 do local T c,T=cl(c,10000000) de=k('%07.0f',T)..de end
return k('%.0f',c)..de end local function dJ(i,p) local dP=r('PTTL',i) return dP>=0 and p+dP or nil end
local function bf(d,e) for f=1,math.min(#d,#e)do local eE,eF=d:byte(f),e:byte(f) if eE~=eF then return eE<eF end end
return#d<#e end local function aQ(g,W) if g~='0'and not J(g,'^[1-9]%d*$')then return nil end
return(#g<#W or(#g==#W and not bf(W,g)))and g or nil end local function fh(g,D,fM)
local gy={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local ds=gy[at(g,'^(%u):')] if not ds or ds==D then
F(fM) end Z('ERR the key holds a state of '..ds..': use another key for each algorithm') end local function bE(j)
if#j<=15 or(#j==16 and bf(j,'9007199254740992'))then return j+0 end local co=#j%7 local c=co>0 and j:sub(1,co)+0 or 0
for f=co+1,#j,7 do c=dw(bI(c,10000000),j:sub(f,f+6)+0) end return c end local function gw(g)
local gg,j=at(g,'^(%-?)(%d+)$') local cu=gg=='-' j=j and aQ(j,cu and'9223372036854775808'or'9223372036854775807')
if not j or(cu and j=='0')then fh(g,nil,'NOT_A_COUNTER') end local A=bE(j) if A-A~=0 then F('INEXACT_STATE') end
return cu and-A or A end local function ec(al,g,dO) local j=g and aQ(g,'9223372036854775807') local c=j and bE(j)
if not c or c==0 and dO>0 then Z(k('ERR invalid %s: expected an integer from %d to 9223372036854775807',al,dO))
elseif c-c~=0 then Z(k('ERR invalid %s: the Lua library takes integers up to 9007199254740991',al)) end return c end
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
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aF(aV,D)
return not J(D,' ',1,true)and J(aV,' '..D..' ',1,true)~=nil end local function en(a,q)
return not aF(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',q)or aF((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),q)
end local function ft(D,q) local m,u=0,0 local ek,fA=math.min(#D,#q),math.max(#D,#q)
while m<ek and D:byte(m+1)==q:byte(m+1)do m=m+1 end while u<ek-m and D:byte(-1-u)==q:byte(-1-u)do u=u+1 end
return m+u>=2 and fA-m-u<=2 end local function fi(a,Q,D) local aG={} for w,U in ipairs(du)do
if aF(Q,U[1])and en(a,U[1])then aG[#aG+1]=U[2] end end for w,aE in ipairs({'FULL','LINE','HEADERS'})do aG[#aG+1]=aE end
for w,q in ipairs(aG)do if ft(D:upper(),at(q,'^%u+'))then Z('ERR syntax error: no such option, but there is '..q) end
end local u=table.remove(aG) local go=table.concat(aG,', ')
Z('ERR syntax error: after limit come '..go..' or '..u..', each at most once') end local function fX(U,a,Q)
local q,gz=U[1],a.av if not aF(Q,q)then Z(k('ERR invalid %s: only %s it',q,U[3])) elseif not en(a,q)then
Z(k('ERR invalid %s: %s takes none',q,('FIXED'))) elseif a[q]~=nil then
Z(k('ERR syntax error: %s comes at most once',U[2])) end end local function ee(g) local R,O=at(g,'^(%d+)(%l*)$')
local br=R and ei(O) local X=br and aQ(R,'18446744073709551615')and R*br return X and X>=1 and X<=1e15 and X or nil end
local function ed(g,W) return g and#g>=1 and#g<=W and g end local function dU(d,e) return cq(e,d)and e or d end
local eI=setmetatable({(2^24)-1,(2^24)-1,2^16-1},dt) local function fQ(q,g,bV) if q=='RESERVE'then local V=bV and ee(bV)
return ed(g,128)and V and{id=g,ttl=V}or F('RESERVE') elseif q=='RESERVATION'then return ed(g,128)or F('RESERVATION') end
if q=='ANCHOR'then local j=g and aQ(g,'253402300799') return j and j+0 or F('ANCHOR') end if q=='AS'then
return g and#g>=1 and#g<=64 and not J(g,'[^%w._-]')and g or F('AS') elseif q=='AT'then
local j=g and aQ(g,'9223372036854775807') return j and dU(bE(j),(cl(eI,1000)))or F('AT') end
return ec(q,g,q=='BURST'and 1 or 0) end local function fW(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local eG={FULL=true,LINE=true,HEADERS=true}
local function fD(aE,dY) if aE then F(aE==dY and'FORM_TWICE'or'TWO_FORMS') end return dY end local function fO(a,z,f,Q)
while z[f]do local D,U=z[f]:upper(),nil for w,dN in ipairs(du)do U=dN[1]==D and dN or U end if U then fX(U,a,Q)
if U[2]==D then a[D]=true f=f+1 else a[D]=fQ(D,z[f+1],z[f+2]) f=f+(D=='RESERVE'and 3 or 2) end fW(a)
elseif eG[D]and aF(Q,'form')then a.form=fD(a.form,D) f=f+1 else return f end end return f end
local eH={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function gx(a,g) local y=ee(g)
if not y then a.g=g:upper() y=eH[a.g] if not y then
F(aF((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aF((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
Z(k('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return y end local function fp(i)
return i:sub(-9)==':reserved'or i:sub(-14)==':reserved:ends' end local function fY(i) if fp(i)then F('RESERVED_KEY') end
end local function fE(a) local w,u=bT(a) if a.g or a.o then return dA(a,u) end return':'..ad(u/a.h) end
local function eO(a) return dd(a)..' '..fE(a) end local function fg(a) Z(k('ERR clock %.0f %s',a.now_ms,eO(a))) end
local function dL(a) local aN=a.g and a.g:lower()or k('%.0fms',a.h) return':'..aN..(a.o and k(':%.0f',a.o/1000)or'') end
local function gk(a,aa,f,i) local bF,aS=aa[f]or'',aa[f+1] local al=(dL and dL(a)or'')..':reserved'
if(bF~=i..al and bF~='{'..i..'}'..al)or aS~=bF..':ends'then F('KEYS') end a.af,a.n=bF,aS return f+2 end
local function aK(X) local T=X%1000 return X<0 and-1 or T==0 and X/1000 or(X-T)/1000+1 end local function dD(a)
local fG=a.PARTIAL and a.q<a.c a.E=a.SHADOW and not a.r and(fG or not a.allowed) if not a.allowed and(a.E or a.r)then
a.allowed=true if not true then local w,w,w,cY=bB(a) a.ttl=aK(cY) end end end local function eh(a) cn(a,'keep',a.d)
return a.remaining end local function fs(a,aD) return not aD or not cq(aD,(bT(a))) end local function eb(a,aD,h)
local t=a.d if h==0 or not fs(a,aD)then return'keep' end local H=t and t.l or 0 if H+h+1>=(2^53)then F('INEXACT_REPLY')
end local ar=H~=0 and t.f return'charge',{l=H+h,f=ar or cv(a)} end local function bW(C,B,H) if C=='keep'then return H
end return C~='delete'and B or nil end local function bn(h) return h==0 and 1 or h end local function eB(t,p)
return t and t.l or 0,eo(t and t.f,p) end local function dI(c) if c-c~=0 or c>=(2^53)then F('INEXACT_REPLY') end
return c end local function eW(a) local h=a.c bh(a,0) local C,B=eb(a,nil,h) if h>0 then a.i,a.t=C,B end
local el=bW(a.i,a.t,a.d) cn(a,a.i,el) a.allowed=a.u>0 and P(a,0)==0 a.k=a.u>0 and h or bn(h) if eB then
a.count,a.ttl=eB(el,a.now_ms) elseif a.allowed then a.ttl=aK(dI(P(a,a.u))) else local P=P(a,a.k)
a.ttl=P and math.max(1,aK(dI(P)))or-1 end end local function eX(a) local h=a.c if a.PARTIAL then h=math.min(h,eh(a)) end
a.q=h if a.ALWAYS then eW(a) else bh(a,h) end end local function aW(g)
local j=aQ(g,'9223372036854775807')or F('FOREIGN_RESERVATION') local c=bE(j) return c-c==0 and c or F('INEXACT_STATE')
end local function bi(g) local h,eQ,bk,cj,V=at(g,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not h or#V>16 or tonumber(V)>1e15 or V=='0'then F('FOREIGN_RESERVATION') end return{ c=h~=''and aW(h)or nil,
p=aW(eQ), a=aW(bk), v=aW(cj), ttl=aW(V), } end local function ff(i,p) if not redis.REDIS_VERSION_NUM then return dJ(i,p)
end local f=r('PEXPIRETIME',i) return f>=0 and f or nil end local function gd(i,bU) bU=k('%.0f',bU)
local ej=r('ZRANGE',i,bU,bU,'WITHSCORES')[2] return ej and tonumber(ej) end local gA,aR,bX,gB=4000,1000,1000,2*500
local function cZ(b,K) b.m,b.B={},{} for w,s in ipairs(K)do if s.e.c then b.m[#b.m+1]={id=s.id,y=s.e}
elseif s.id~=b.id then b.B[#b.B+1]=s.id end end aR=math.max(0,aR-#b.m-#b.B) table.sort(b.m,function(d,e)
if d.y.p~=e.y.p then return d.y.p<e.y.p end return bf(d.id,e.id) end) b.aw=true end local function gb(b)
local m=r('ZRANGE',b.n,'0',k('%.0f',aR),'WITHSCORES') local aT,aS,K,cz={},{},{},false b.x=nil for c=1,#m,2 do
local bk=tonumber(m[c+1]) if bk>b.now_ms or#aT==aR then b.x=bk break end aT[#aT+1],aS[#aS+1]=m[c],bk end
local ay=#aT>0 and r('HMGET',b.j,unpack(aT))or{} for c,M in ipairs(aT)do local L=ay[c]and bi(ay[c])
if not L or L.a~=aS[c]then return false end K[c]={id=M,e=L} cz=cz or M==b.id end
if b.b and b.b.a<=b.now_ms and not cz then K[#K+1]={id=b.id,e=b.b} end cZ(b,K) local cy=0 for w,n in ipairs(b.m)do
cy=n.id==b.id and 1 or cy end local fL=#b.m+#b.B-cy b.k=b.w-(b.s and 1 or 0)==fL and 0 or nil return true end
local function dT(L) return L.c and math.max(L.a+L.ttl,L.v)or L.a end local function ga(b) local n,bb,aY={},{},nil
local cg=r('HGETALL',b.j) for c=1,#cg,2 do local M=cg[c] if M~=''then local s={id=M,e=bi(cg[c+1])}
if s.e.a<=b.now_ms then n[#n+1]=s elseif M~=b.id then bb[#bb+1]=s end end end if#n>aR then table.sort(n,function(d,e)
if d.e.a~=e.e.a then return d.e.a<e.e.a end return bf(d.id,e.id) end) for c=#n,aR+1,-1 do local s=table.remove(n,c)
if s.id==b.id then aY=s else bb[#bb+1]=s end end n[#n+1]=aY end b.x,b.k,b.I=nil,0,bb for w,s in ipairs(bb)do
b.x=math.min(b.x or s.e.a,s.e.a) b.k=math.max(b.k,dT(s.e)) end cZ(b,n) end local function eK(b,W)
local ax=b.z==1 and r('ZSCORE',b.n,'') b.ae=ax and true or false b.x=nil if W>0 then
local K=r('HSCAN',b.j,ax and ad(-1-tonumber(ax))or'0','COUNT',ad(W)) b.H,b.J,b.I=tonumber(K[1]),not ax,{}
for c=1,#K[2],2 do local M=K[2][c] if M~=''and M~=b.id then b.I[#b.I+1]={id=M,e=bi(K[2][c+1])} elseif M~=''then
bi(K[2][c+1]) end end table.sort(b.I,function(d,e) return bf(d.id,e.id) end) b.F=b.H==0 end
if b.b and b.b.a<=b.now_ms then cZ(b,{{id=b.id,e=b.b}}) b.k=b.w==1 and 0 or nil end end local function fz(a,M)
local i=a.af local K=r('HMGET',i,M,'') local b={j=i,n=a.n,id=M,now_ms=a.now_ms,m={},B={}} b.s=K[1]and bi(K[1])or nil
b.b=b.s b.z=K[2]and aW(K[2])or nil b.w=r('HLEN',i)-(b.z and 1 or 0) b.f=ff(i,b.now_ms) b.M=r('ZCARD',b.n) b.x=gd(b.n,0)
local fJ=b.w==b.M and(b.z==0 or b.w==0 and not b.z) local fk=math.min(b.x or math.huge,b.b and b.b.a or math.huge)
b.F=fJ and(fk>b.now_ms or gb(b)) if not b.F then local aq=b.w+(b.z and 1 or 0) local W=aq<=bX and aq or math.min(bX,500)
bX=bX-W if W==aq then b.F,b.J=true,true ga(b) else eK(b,W) end end return b end local function dH(a) local w,u=bT(a)
return u end local function ge(a,dB,cf) local t,cX=a.d,dB.c or 0 if dB.v~=dH(a)then return'keep' elseif cf>=cX then
return eb(a,nil,cf-cX) elseif not t or t.l<=0 then return'keep' end local A=math.max(0,t.l-(cX-cf))
return'refund',{l=A,f=t.f or cv(a)} end local function ct(n,p) local aA=n.y if p>=aA.a+aA.ttl then return nil end
return{ p=aA.p, a=aA.a+aA.ttl, v=(n.ad or aA.c==0)and aA.v or 0, ttl=aA.ttl, } end local function fn(a) local b=a.K
for w,n in ipairs(b.m)do if n.y.c>0 and b.now_ms<n.y.v then local C,B=ge(a,n.y,0) if C~='keep'then if not a.P then
a.P,a.s=true,a.d end n.ad=true a.d=bW(C,B,a.d) end end end if b.b and b.b.a<=b.now_ms then b.b=nil
for w,n in ipairs(b.m)do if n.id==b.id then b.b=ct(n,b.now_ms) end end end end local function fH(b)
return b.b and b.b.c and b.b or nil end local function ea(b) local E,bj,ac=b.w-(b.s and 1 or 0)-#b.B,b.x,b.k or 0
for w,n in ipairs(b.m)do local as=n.id~=b.id and ct(n,b.now_ms) if as then bj=math.min(bj or as.a,as.a)
ac=math.max(ac,as.a) elseif n.id~=b.id then E=E-1 end end return E,bj,ac end local function fm(b) local E,bj=ea(b)
if b.b or E<100000 then return nil end return math.max(1,(bj or 0)-b.now_ms) end local function fa(a,h)
local H=a.d and a.d.l or 0 local bl=bn(h)<=a.limit and H+bn(h)<=a.limit bh(a,bl and h or 0) a.allowed,a.k=bl,bn(h) end
local function eZ(a) local h,b=a.c,a.K fn(a) a.r,a.G=fH(b),fm(b) if a.r then h=0 elseif a.PARTIAL then
h=math.min(h,eh(a)) end local dE=fa or bh dE(a,h) if a.G and a.allowed then dE(a,0) a.allowed,a.k=false,bn(h)
if not true then a.ttl=aK(a.G) end end a.q=h dD(a) end local function fy(a) a.K=fz(a,a.RESERVE.id) dR(a,'write') eZ(a)
end local function dZ(b,h,V,cj) local p=b.now_ms b.b={c=h,p=p,a=p+V,v=cj,ttl=V} end local function fT(b,bJ,V)
if bJ.a<b.now_ms+V then dZ(b,bJ.c,V,bJ.v) b.b.p=bJ.p end end local function fI(a) local bl=not a.E if a.PARTIAL then
bl=a.q>0 and not a.G end return not a.r and a.allowed and bl end local function eT(a,C,B) if a.P then B=bW(C,B,a.d)
a.d=a.s if not B then C=a.s and'delete'or'keep' elseif C~='charge'then C='refund' end end dC(a,C,B) end
local function dG(L) local z={L.c and ad(L.c)or''} for c,A in ipairs({L.p,L.a,L.v,L.ttl})do z[c+1]=ad(A) end
return table.concat(z,':') end local function by(eM,cs) local ai=0 for m=1,#cs,1000 do local au={unpack(eM)}
for c=m,math.min(m+999,#cs)do au[#au+1]=cs[c] end ai=ai+r(unpack(au)) end return ai end local function eS(b)
local E,w,ac=ea(b) if E==0 and not b.b then if b.w>0 or b.z then r('UNLINK',b.j) end if b.M>0 then r('UNLINK',b.n) end
return end local aq,bm,ag={},{},{} local function aL(aV,m,bV) aV[#aV+1]=m aV[#aV+1]=bV end for w,M in ipairs(b.B)do
ag[#ag+1]=M end for w,s in ipairs(b.I or{})do aL(bm,ad(s.e.a),s.id) end for w,n in ipairs(b.m)do
local as=n.id~=b.id and ct(n,b.now_ms) if as then aL(aq,n.id,dG(as)) aL(bm,ad(as.a),n.id) elseif n.id~=b.id then
ag[#ag+1]=n.id end end if b.b and b.b~=b.s then aL(aq,b.id,dG(b.b)) elseif not b.b and b.s then ag[#ag+1]=b.id end
if b.b then ac=math.max(ac,dT(b.b)) local fo=not b.s or b.b.a~=b.s.a if b.J or b.ae or b.F and fo then
aL(bm,ad(b.b.a),b.id) end end local dS=b.F and 0 or 1 if b.z~=dS then aL(aq,'',ad(dS)) end by({'HSET',b.j},aq)
by({'HDEL',b.j},ag) if b.H and b.H>0 then aL(bm,'-'..ad(b.H+1),'') end if b.J and b.M>0 then r('UNLINK',b.n) end
by({'ZADD',b.n},bm) if b.H==0 then ag[#ag+1]='' end by({'ZREM',b.n},ag) local ar,aU,I=b.f,ac+5000,nil
local gn=not ar and not b.k and b.w>0 if not gn and(not ar or ar<ac or(b.k and ar>aU))then I=aU end da(b.j,I)
if I or b.J and ar then da(b.n,I or ar) end end local function eU(a,aO) if not aO and a.i=='charge'then
a.i,a.t='keep',nil end local b=a.K if b and aO and a.r then fT(b,a.r,a.RESERVE.ttl) elseif b and aO and fI(a)then
local B=bW(a.i,a.t,a.d) dZ(b,a.q,a.RESERVE.ttl,dH(a,B)) end eT(a,a.i,a.t) if b then eS(b) end end local function ef(a)
return a.r and a.r.c or a.E and a.c or a.q end local function dK(a) if not a.allowed then return 0 end
return a.PARTIAL and ef(a)or 1 end local function fl(a,ap) local aw,fZ,am,cY,fc=bB(a) return{ 'allowed',dK(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.u, 'remaining',aw, 'retry_after_ms',fZ, 'next_ms',am, 'reset_ms',cY,
'delay_ms',fc, 'now_ms',a.now_ms, 'shadow',a.E and 1 or 0, 'charged',ap, } end local function fC(bq) local em={}
for w,a in ipairs(bq)do local m,R=a.AS or('FIXED'):lower(),2 a.D=m while em[a.D]do a.D=k('%s-%d',m,R) R=R+1 end
em[a.D]=true end end local function eC(a) if a.g or a.o then return(select(3,cV(a,a.now_ms))) end return a.h end
local function bH(c) return k('%.0f',dU(c,999999999999999)) end local function fS(a) local y=eC and eC(a)or a.h
local cm,T=1000,y%1000 while T>0 do cm,T=T,cm%T end local eD=1000/cm local aN=cl(bI(y,eD),1000)
return k('"%s";q=%s;w=%s',a.D,bH(bI(a.limit,eD)),bH(aN)) end local function fv(s,aX) if s.allowed~=aX.allowed then
return not s.allowed end local P,cx=s.retry_after_ms,aX.retry_after_ms if P~=cx then return P<0 or(cx>=0 and P>cx) end
return s.remaining<aX.remaining end local function fq(bq) local dc,eg=bq[1],{} fC(bq) for c,a in ipairs(bq)do
eg[c]=fS(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bB(a) if fv(a,dc)then dc=a end end local a=dc local ay={
'X-RateLimit-Limit', k('%.0f',a.u), 'X-RateLimit-Remaining', k('%.0f',a.remaining), } local function bG(al,A)
ay[#ay+1]=al ay[#ay+1]=A end if a.reset_ms>=0 then bG('X-RateLimit-Reset',k('%.0f',aK(a.now_ms+a.reset_ms))) end
bG('RateLimit-Policy',table.concat(eg,', ')) local fB=a.next_ms>=0 and';t='..bH(aK(a.next_ms))or''
bG('RateLimit',k('"%s";r=%s%s',a.D,bH(a.remaining),fB)) if not a.allowed and a.retry_after_ms>=0 then
bG('Retry-After',k('%.0f',aK(a.retry_after_ms))) end return ay end local function fK(a,ap) if a.form=='FULL'then
return fl(a,ap) end return{dK(a),a.count,a.ttl,fq({a})} end
ce={V=dA,W=eU,X=dD,Z=eX,error_reply=fe,aa=dJ,A=F,ab=fg,ac=fi,ag=fy,ai=dX,aj=cv,al=fK,am=ec,an=fO,Q=ef,S=bT,ao=fY,ap=gk,aq=gm,as=gw,au=gx}
end return ce end if av then return o().error_reply(av) end local bA,ba=pcall(gc,KEYS,ARGV)
return bA and ba or o().error_reply(ba) end local function fj(be,ak)
local J,at,aM,k,r=string.find,string.match,string.sub,string.format,redis.call if k('%d',2^40)~='1099511627776'then
return end local bo local ep=ak[1] local bY=ak[2] local bZ=ak[3] if not bY then return end local bt=ak[4] local cD
local S local af if(bZ=='LINE')and(not bt)then cD=4 S=1 af='LINE' else local cA local cB local cC if bZ then if bt then
if not(((((ak[5]=='LINE')and(not ak[6]))and((#bt)<16))and(bZ=='COST'))and J(bt,'^[1-9]%d*$'))then return end cA=6
cB=bt+0 cC='LINE' else if(((ak[5]=='LINE')and(not ak[6]))and(bZ=='COST'))and J('','^[1-9]%d*$')then return end return
end else cA=3 cB=1 cC=nil end cD=cA S=cB af=cC end if not(((#bY)<16)and J(bY,'^[1-9]%d*$'))then return end local l=bY+0
local eq,bc=at(ep,'^([1-9]%d*)(%l*)$') if eq then if(#ep)<16 then
local df=(bc=='')and 1000 or((bc=='ms')and 1 or((bc=='s')and 1000 or((bc=='m')and 60000 or((bc=='h')and 3.6e6 or((bc=='d')and 8.64e7 or nil)))))
local v=df and(eq*df)or df if(not v)or((v<1)or(1e15<v))then return end if not(v<9e12)then return end local gp=ak[cD]
if gp then return end local aH local er=r('TIME') local es=(er[1]*1e6)+er[2] local G=(es-(es%1000))/1000 local dg=be[1]
local et=(G-(G%v))/v local dh=k(((et<2147483648)and':%d'or':%d'),et) local bu=be[2] local bv=#dh if not bu then return
end if not(aM(dg,(-bv))==dh)then if not(aM(bu,(-bv))==dh)then if J(aM(bu,1,((-bv)-1)),':reserved',1,true)then return end
if not((#be)==2)then return end return else if J(aM(bu,1,((-bv)-1)),':reserved',1,true)then return end
if not((#be)==2)then return end aH=bu end else if J(aM(dg,1,((-bv)-1)),':reserved',1,true)then return end
if not((#be)==2)then return end aH=dg end local ca=r('GET',aH) if ca then if not(((#ca)<16)and J(ca,'^[1-9]%d*$'))then
return end local an=ca+0 if not redis.REDIS_VERSION_NUM then return end local cb=r('PEXPIRETIME',aH) if cb<0 then return
end if 2^53<=cb then return end local bw=(S<=l)and((an+S)<=l) local eu=bw or(l<=an) local az=eu and(an+S)or an
if 2^53<=az then return end local ev=((G<cb)and(cb-G)or 0)+500 local cc=(ev-(ev%1000))/1000 if eu then local cE
if not bw then cE=0 else cE=S end local cI if af=='LINE'then local bx=(0<az)and az or 0 local dj=(bx<l)and(l-bx)or 0
local bL if not bw then local bK if l<S then bK=nil else if(bx+S)<=l then bK=0 else bK=v-(G%v) end end
local gq=bK or(-1) bL=gq else bL=0 end local cH local bN if dj<l then local dk=dj+1 local bM if l<dk then bM=nil else
if(bx+dk)<=l then bM=0 else bM=v-(G%v) end end local ex=bM or(-1) local cG if dk==l then cG=ex else local cF
if(bx+l)<=l then cF=0 else cF=v-(G%v) end cG=cF end cH=ex bN=cG else cH=0 bN=0 end if(2^53<=bL)or(2^53<=bN)then return
end local gr=k('%d %d %d %d %d %d %d %d 0 %d 0 %d',(bw and 1 or 0),az,cc,l,dj,bL,cH,bN,G,cE) cI=gr else if af then
return end cI={(bw and 1 or 0),az,cc} end local dl=az-an if not(dl==0)then local cJ if dl==1 then cJ='1' else
cJ=k('%d',dl) end local gC=r('INCRBY',aH,cJ) end bo=cI else local cN if af=='LINE'then local dm=l-an local bO
if l<S then bO=nil else if(an+S)<=l then bO=0 else bO=v-(G%v) end end local ey=bO or(-1) local cM local bQ if dm<l then
local dn=dm+1 local bP if l<dn then bP=nil else if(an+dn)<=l then bP=0 else bP=v-(G%v) end end local ez=bP or(-1)
local cL if dn==l then cL=ez else local cK if(an+l)<=l then cK=0 else cK=v-(G%v) end cL=cK end cM=ez bQ=cL else cM=0
bQ=0 end if(2^53<=ey)or(2^53<=bQ)then return end local gs=k('0 %d %d %d %d %d %d %d 0 %d 0 0',az,cc,l,dm,ey,cM,bQ,G)
cN=gs else if af then return end cN={0,az,cc} end bo=cN end else local di=S<=l local aj=di and S or 0 if 2^53<=aj then
return end local aI if di then aI=G+v else aI=nil end local aZ if not aI then aZ=-2 else
local ew=((G<aI)and(aI-G)or 0)+500 aZ=(ew-(ew%1000))/1000 end if di then local cR if af=='LINE'then
local cd=(0<aj)and aj or 0 local dp=(cd<l)and(l-cd)or 0 local cQ local bS if dp<l then local dq=dp+1 local bR
if l<dq then bR=nil else if(cd+dq)<=l then bR=0 else bR=v-(G%v) end end local eA=bR or(-1) local cP if dq==l then cP=eA
else local cO if(cd+l)<=l then cO=0 else cO=v-(G%v) end cP=cO end cQ=eA bS=cP else cQ=0 bS=0 end if 2^53<=bS then return
end local gt=k('1 %d %d %d %d 0 %d %d 0 %d 0 %d',aj,aZ,l,dp,cQ,bS,G,S) cR=gt else if af then return end cR={1,aj,aZ} end
if not(aj==0)then local cS if aj==1 then cS='1' else cS=k('%d',aj) end local gD=r('INCRBY',aH,cS) end if aI then
local gu=k('%d',aI) local gE=r('PEXPIREAT',aH,gu) end bo=cR else local cT if af=='LINE'then
local gv=k('0 %d %d %d %d -1 0 0 0 %d 0 0',aj,aZ,l,l,G) cT=gv else if af then return end cT={0,aj,aZ} end bo=cT end end
else return end else return end return bo end local bA,ba=pcall(fj,KEYS,ARGV) if bA and ba then return ba end
return gh(not bA and ba)
