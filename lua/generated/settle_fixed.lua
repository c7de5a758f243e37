-- RL.SETTLE FIXED, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local bu,i local af,q,aJ,bP=string.find,string.format,string.match,string.sub local function cL(L) return L==''and 1000
or L=='ms'and 1 or L=='s'and 1000 or L=='m'and 60000 or L=='h'and 3600000 or L=='d'and 86400000 or nil end
local function ef(v,f,J) local aA,K,o=v[f],v[f+1],v[f+2] if not K then i().p('ARITY') end local a={ j='', ao=0,
now_ms=0, i=0, ay=0, limit=0, q=0, d=1, form=nil, delay=0, c=nil, F=nil, allowed=false, count=0, ttl=0, x='keep',
remaining=0, B=1, } f=f+2 if o=='LINE'and not v[f+1]and J~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=o,f+1 elseif o then local s=v[f+1]or''
local cr=J==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and v[f+2]=='LINE'and not v[f+3]and#s<16
if cr and o=='COST'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')~=' ID 'and af(s,'^[1-9]%d*$')then
a.form,a.d,f='LINE',s+0,f+3
elseif cr and o=='ID'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')==' ID 'and s~=''then
a.form,a.ID,f='LINE',s,f+3 else f=i().as(a,v,f,J) a.d=a.COST or 1 end a.m=a.ANCHOR and a.ANCHOR*1000 end
local dK=#K<16 and af(K,'^[1-9]%d*$') a.limit=dK and K+0 or i().ar('limit',K,0) local O,L=aJ(aA,'^([1-9]%d*)(%l*)$')
local aY=O and#aA<16 and cL(L) local z=aY and O*aY if not z or z<1 or z>1e15 then z=i().az(a,aA) end
a.i,a.ay,a.q=z,z<9e12 and z*1000 or i().am(z,1000),a.BURST or a.limit return a,f end local function ec(v,J)
local a,f=ef(v,1,J) if v[f]then i().ac(a,J,v[f]) end return a end local function ed(v,J) if not v[1+1]then
i().p('ARITY') end return ec(v,J) end local A=redis.call local function ei(a) local ba=A('TIME')
local bK=ba[1]*1000000+ba[2] a.ao,a.now_ms=bK,(bK-bK%1000)/1000 end local function bX(a) if a.h or a.m then
return i().U(a,(i().P(a))) end local r,z=a.now_ms,a.i local O=(r-r%z)/z return q(O<2147483648 and':%d'or':%.0f',O) end
local function eB(a,R,f,bZ,bF) local h=R[f] if bX then local aM,aL=bX(a),R[f+1] local W=#aM if not aL then i().p('KEYS')
elseif bP(h,-W)~=aM then h=aL if bP(h,-W)~=aM then a.Q=true end end a.j,h,f=h,bP(h,1,-W-1),f+2 else if not h then
i().p('KEYS') end a.j,f=h,f+1 end if bF then a.z=h elseif af(h,':reserved',1,true)then i().at(h) end if bZ then
f=a.Q and f+2 or i().av(a,R,f,h) end return f end local function cI(a,R,bZ,bF) ei(a) if#R~=eB(a,R,1,bZ,bF)-1 then
i().p('KEYS') elseif a.Q then i().ab(a) end end local function cw(a) local h=a.j local g=A('GET',h) if g then
local s=#g<16 and af(g,'^[1-9]%d*$')and g+0 or i().ax(g)
local B=redis.REDIS_VERSION_NUM and A('PEXPIRETIME',h)or i().aa(h,a.now_ms)or-1 if B<0 then B=nil elseif B>=(2^53)then
i().p('INEXACT_STATE') end a.c={g=s,e=B} end end local function bs(p,t,E) if p=='keep'then return E end
return p~='delete'and t or nil end local function bm(d,e) if d-d==0 and e-e==0 then return d<e end return i().aj(d,e)
end local function cR(B,r) if not B then return-2 end local T=(B>r and B-r or 0)+500 return(T-T%1000)/1000 end
local function by(a,k) local n,r,K=a.c,a.now_ms,a.limit local E,X=n and n.g or 0,k==0 and 1 or k
local cg=X<=K and E+X<=K local bd=(cg or E>=K)and k>0 local t=bd and E+k or E if t>=(2^53)then i().p('INEXACT_REPLY')
end local B=n and not(bd and E==0)and n.e or nil if not B and(n or bd)then B=(a.h or a.m)and i().an(a)or r+a.i end
a.allowed,a.count,a.ttl,a.x=cg,t,cR(B,r),'keep' if bd or(n and not n.e)then a.x,a.F='charge',{g=t,e=B} end end
local function dr(a) if a.PARTIAL or a.ALWAYS then i().Z(a) else local k=a.d a.B=k by(a,k) end if a.SHADOW then i().X(a)
end end local function M(a,k) local K=a.limit if k>K then return nil elseif a.M+k<=K then return 0 end
if a.h or a.m then local y,w=i().P(a) return w-a.now_ms end return a.i-a.now_ms%a.i end local function bD(a,y,n)
local s,K=n and n.g or 0,a.limit a.M=s>0 and s or 0 a.remaining=a.M<K and K-a.M or 0 end local function bf(a)
local p,M=a.x,M bD(a,p,p=='keep'and a.c or p~='delete'and a.F or nil) local an,bx,ab,ah,ax=a.remaining,a.q,0,0,0
if not a.allowed then local k=a.B ab=M(a,a.n or(k==0 and 1 or k))or-1 if a.ad and ab>=0 then ab=math.max(ab,a.ad) end
end if an<bx then ah=M(a,an+1)or-1 ax=an+1==bx and ah or M(a,bx)or-1 end
if ab-ab~=0 or ah-ah~=0 or ax-ax~=0 or ab>=(2^53)or ax>=(2^53)then i().p('INEXACT_REPLY') end return an,ab,ah,ax,0 end
local function dN(a,N) local an,ab,ah,ax,ds=bf(a) local ev=a.H and 1 or 0 return q(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().N(a)or 1)or 0,a.count,a.ttl,a.q,an,ab,ah,ax, ds,a.now_ms,ev,N ) end
local function el(a,N) local at=a.form if at=='LINE'then return dN(a,N) elseif at then return i().ap(a,N) end
return{a.allowed and(a.PARTIAL and i().N(a)or 1)or 0,a.count,a.ttl} end local function ck(a,p,t,N) local bb
local B,E,aZ=nil,a.c,bs(p,t,a.c) if B and bm(B,a.now_ms)then aZ=nil end a.c=aZ dr(a) bb=el(a,N) a.c=E if not a.ai then
i().W(a,p,t) end return bb end local function eu(a) local b,p,t,N=i().ak(a,a.RESERVATION),'keep',nil,0 cw(a,'write')
a.S=b i().ae(a) local aB=b.b if aB then p,t=i().au(a,aB,a.ACTUAL) N=a.ACTUAL b.b=nil end a.ai=not aB and not a.I
local bb=ck(a,p,t,N) i().V(b) return bb end local function es(R,v)
local a=ed(v,' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ') local aw,ad=a.RESERVED,a.ACTUAL
if ad and a.RESERVATION then cI(a,R,true) return eu(a) end if not aw or not ad then i().p('SETTLEMENT') end
local be=math.abs(aw-ad) cI(a,R) cw(a,'write') local dl=ad<aw and i().refund or i().aq local p,t=dl(a,a.AT,be)
return ck(a,p,t,ad) end function i() if not bu then local x={}
x.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
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
x.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
x.ARITY='ERR wrong number of arguments'
x.SETTLEMENT='ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id' local function cj(a,ex)
return q(':%s:%.0f',a.h and a.h:lower()or q('%.0fms',a.i),ex) end local function dn(aP,cA) if cA<2 then aP=aP-1 end
local dV=(cA+10)%12 local dM=math.floor(aP/4)-math.floor(aP/100)+math.floor(aP/400)
return 365*aP+dM+math.floor((153*dV+2)/5)-719468 end local function bg(c) return dn(math.floor(c/12),c%12) end
local function cB(aR) local Z=1970*12+math.floor(aR/30.436875)+1 while bg(Z)>aR do Z=Z-1 end return Z,aR-bg(Z) end
local function bV(ar,Z) local f=ar.al+Z local l=bg(f) return(l+math.min(ar.Y,bg(f+1)-l-1))*86400000+ar.aw end
local function df(ao,as,r) local ba=as%86400000 local Z,aR=cB((as-ba)/86400000) local ar={al=Z,Y=aR,aw=ba}
local ch=cB(math.floor(r/86400000))-Z local aH=ch-ch%ao local l,w=bV(ar,aH),bV(ar,aH+ao) if l>r then l,w=bV(ar,aH-ao),l
end return l,w,w-l end local function bQ(a,r) local L,as=a.h,a.m if L=='MONTH'or L=='YEAR'then
local l,w,W=df(L=='YEAR'and 12 or 1,as or 0,r) return math.max(0,l),w,W end as=as or(L=='WEEK'and 4*86400000)or 0
local W=a.i local cf=(r%W-as%W)%W return math.max(0,r-cf),r-cf+W,W end local function bp(a) if a.h or a.m then
return bQ(a,a.now_ms) end local r,z=a.now_ms,a.i local l=r-r%z return l,l+z end local function bo(a) if a.h or a.m then
local y,w=bQ(a,a.now_ms) return w end return a.now_ms+a.i end local function cq(a,ae)
return not ae or not bm(ae,(bp(a))) end local function ej(a,ae,k) local n=a.c if not n or not cq(a,ae)then return'keep'
end local s=n.g if s>0 and k>0 then s=math.max(0,math.min(s,a.limit)-k) end if s==n.g and n.e then return'keep' end
return'refund',{g=s,e=n.e or bo(a)} end local function V(g) error({err=g},0) end local function D(ag) V(x[ag]) end
local function bM(a,ae,k) local n=a.c if k==0 or not cq(a,ae)then return'keep' end local E=n and n.g or 0
if E+k+1>=(2^53)then D('INEXACT_REPLY') end local ak=E~=0 and n.e return'charge',{g=E+k,e=ak or bo(a)} end
local function dw(a) local y,w=bp(a) return w end local function cN(a,aB,ad) local n,aw=a.c,aB.d or 0 if aB.y~=dw(a)then
return'keep' elseif ad>=aw then return bM(a,nil,ad-aw) elseif not n or n.g<=0 then return'keep' end
local s=math.max(0,n.g-(aw-ad)) return'refund',{g=s,e=n.e or bo(a)} end local function dx(aW) if type(aW)=='table'then
return aW elseif af(aW,'^%u+ ')then return redis.error_reply(aW) end error(aW,0) end local function cv(d,e)
local cd,dd=d-d==0,e-e==0 if cd or dd then return cd elseif#d~=#e then return#d<#e end for c=#d,1,-1 do
if d[c]~=e[c]then return d[c]<e[c] end end return false end local function aC(c) if c-c~=0 then return c end
local j,F={},0 while c>0 do local U=c%(2^24) F=F+1 j[F]=U c=(c-U)/(2^24) end return j end local cb={ __sub=function()
return 1 end, } local function bh(j) local F=#j while F>0 and j[F]==0 do j[F]=nil F=F-1 end
if F>3 or(F==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,cb) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function cC(d,e) d,e=aC(d),aC(e) local aV={}
for c=1,#d+#e do aV[c]=0 end for c=1,#d do local ai=0 for bG=1,#e do local U=aV[c+bG-1]+d[c]*e[bG]+ai
ai=math.floor(U/(2^24)) aV[c+bG-1]=U-ai*(2^24) end aV[c+#e]=ai end return bh(aV) end local function cn(h,r)
local cu=A('PTTL',h) return cu>=0 and r+cu or nil end local function aQ(d,e) for f=1,math.min(#d,#e)do
local cV,cW=d:byte(f),e:byte(f) if cV~=cW then return cV<cW end end return#d<#e end local function aD(g,S)
if g~='0'and not af(g,'^[1-9]%d*$')then return nil end return(#g<#S or(#g==#S and not aQ(S,g)))and g or nil end
local function dA(g,C,eb) local eH={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local ca=eH[aJ(g,'^(%u):')]
if not ca or ca==C then D(eb) end V('ERR the key holds a state of '..ca..': use another key for each algorithm') end
local function da(d,e) d,e=aC(d),aC(e) local ac,ai={},0 for c=1,math.max(#d,#e)+1 do local U=(d[c]or 0)+(e[c]or 0)+ai
ai=U>=(2^24)and 1 or 0 ac[c]=U-ai*(2^24) end return bh(ac) end local function ce(d,e)
if d-d==0 and e-e==0 and d+e<(2^53)then return d+e end return da(d,e) end local function bn(d,e)
if d-d==0 and e-e==0 and d*e<(2^53)then return d*e end return cC(d,e) end local function bi(j)
if#j<=15 or(#j==16 and aQ(j,'9007199254740992'))then return j+0 end local bE=#j%7 local c=bE>0 and j:sub(1,bE)+0 or 0
for f=bE+1,#j,7 do c=ce(bn(c,10000000),j:sub(f,f+6)+0) end return c end local function eF(g)
local ew,j=aJ(g,'^(%-?)(%d+)$') local bJ=ew=='-' j=j and aD(j,bJ and'9223372036854775808'or'9223372036854775807')
if not j or(bJ and j=='0')then dA(g,nil,'NOT_A_COUNTER') end local s=bi(j) if s-s~=0 then D('INEXACT_STATE') end
return bJ and-s or s end local function cE(ag,g,ct) local j=g and aD(g,'9223372036854775807') local c=j and bi(j)
if not c or c==0 and ct>0 then V(q('ERR invalid %s: expected an integer from %d to 9223372036854775807',ag,ct))
elseif c-c~=0 then V(q('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ag)) end return c end
local cc={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function au(aI,C)
return not af(C,' ',1,true)and af(aI,' '..C..' ',1,true)~=nil end local function cQ(a,o)
return not au(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',o)or au((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),o)
end local function dJ(C,o) local l,w=0,0 local cO,dP=math.min(#C,#o),math.max(#C,#o)
while l<cO and C:byte(l+1)==o:byte(l+1)do l=l+1 end while w<cO-l and C:byte(-1-w)==o:byte(-1-w)do w=w+1 end
return l+w>=2 and dP-l-w<=2 end local function dB(a,J,C) local av={} for y,Q in ipairs(cc)do
if au(J,Q[1])and cQ(a,Q[1])then av[#av+1]=Q[2] end end for y,at in ipairs({'FULL','LINE','HEADERS'})do av[#av+1]=at end
for y,o in ipairs(av)do if dJ(C:upper(),aJ(o,'^%u+'))then V('ERR syntax error: no such option, but there is '..o) end
end local w=table.remove(av) local eE=table.concat(av,', ')
V('ERR syntax error: after limit come '..eE..' or '..w..', each at most once') end local function en(Q,a,J)
local o,eI=Q[1],a.aA if not au(J,o)then V(q('ERR invalid %s: only %s it',o,Q[3])) elseif not cQ(a,o)then
V(q('ERR invalid %s: %s takes none',o,('FIXED'))) elseif a[o]~=nil then
V(q('ERR syntax error: %s comes at most once',Q[2])) end end local function cG(g) local O,L=aJ(g,'^(%d+)(%l*)$')
local aY=O and cL(L) local T=aY and aD(O,'18446744073709551615')and O*aY return T and T>=1 and T<=1e15 and T or nil end
local function cF(g,S) return g and#g>=1 and#g<=S and g end local function cz(d,e) return bm(e,d)and e or d end
local function ci(c) if c-c==0 then return c end local ac=0 for dI=#c,1,-1 do ac=ac*(2^24)+c[dI] end return ac end
local function ez(d,e) if not cv(e,d)then return 0 end e=aC(e) local be,bw={},0 for c=1,#d do local U=d[c]-(e[c]or 0)-bw
bw=U<0 and 1 or 0 be[c]=U+bw*(2^24) end return bh(be) end local function ey(d,e) if d-d==0 and e-e==0 then
return d>e and d-e or 0 end return ez(d,e) end local function du(d,e) local bR=0 while not bm(d,e)do
local am=math.max(1,math.floor(ci(d)/ci(e)*(1-2^-45))) am=bh(aC(am)) bR=ce(bR,am) d=ey(d,bn(am,e)) end return bR,d end
local function bA(d,e) if d-d==0 and e-e==0 then local P=d%e return(d-P)/e,P end return du(d,e) end
local cZ=setmetatable({(2^24)-1,(2^24)-1,2^16-1},cb) local function eg(o,g,br) if o=='RESERVE'then
local az=br and cG(br) return cF(g,128)and az and{id=g,ttl=az}or D('RESERVE') elseif o=='RESERVATION'then
return cF(g,128)or D('RESERVATION') end if o=='ANCHOR'then local j=g and aD(g,'253402300799')
return j and j+0 or D('ANCHOR') end if o=='AS'then return g and#g>=1 and#g<=64 and not af(g,'[^%w._-]')and g or D('AS')
elseif o=='AT'then local j=g and aD(g,'9223372036854775807') return j and cz(bi(j),(bA(cZ,1000)))or D('AT') end
return cE(o,g,o=='BURST'and 1 or 0) end local function em(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
D(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
D(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local cX={FULL=true,LINE=true,HEADERS=true}
local function dT(at,cD) if at then D(at==cD and'FORM_TWICE'or'TWO_FORMS') end return cD end local function ee(a,v,f,J)
while v[f]do local C,Q=v[f]:upper(),nil for y,cs in ipairs(cc)do Q=cs[1]==C and cs or Q end if Q then en(Q,a,J)
if Q[2]==C then a[C]=true f=f+1 else a[C]=eg(C,v[f+1],v[f+2]) f=f+(C=='RESERVE'and 3 or 2) end em(a)
elseif cX[C]and au(J,'form')then a.form=dT(a.form,C) f=f+1 else return f end end return f end
local cY={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function eG(a,g) local z=cG(g)
if not z then a.h=g:upper() z=cY[a.h] if not z then
D(au((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not au((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
V(q('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return z end local function dG(h)
return h:sub(-9)==':reserved'or h:sub(-14)==':reserved:ends' end local function eo(h) if dG(h)then D('RESERVED_KEY') end
end local function eC(c) local bY='' while c-c~=0 do local P c,P=bA(c,10000000) bY=q('%07.0f',P)..bY end
return q('%.0f',c)..bY end local function Y(c) if c-c~=0 then return eC(c) end return q('%.0f',c) end
local function dU(a) local y,w=bp(a) if a.h or a.m then return cj(a,w) end return':'..Y(w/a.i) end local function de(a)
return bX(a)..' '..dU(a) end local function dz(a) V(q('ERR clock %.0f %s',a.now_ms,de(a))) end local function cp(a)
local aA=a.h and a.h:lower()or q('%.0fms',a.i) return':'..aA..(a.m and q(':%.0f',a.m/1000)or'') end
local function eA(a,R,f,h) local bj,aF=R[f]or'',R[f+1] local ag=(cp and cp(a)or'')..':reserved'
if(bj~=h..ag and bj~='{'..h..'}'..ag)or aF~=bj..':ends'then D('KEYS') end a.ah,a.l=bj,aF return f+2 end
local function aK(g) local j=aD(g,'9223372036854775807')or D('FOREIGN_RESERVATION') local c=bi(j)
return c-c==0 and c or D('INEXACT_STATE') end local function aS(g)
local k,dg,aT,dm,az=aJ(g,'^(%d*):(%d+):(%d+):(%d+):(%d+)$') if not k or#az>16 or tonumber(az)>1e15 or az=='0'then
D('FOREIGN_RESERVATION') end return{ d=k~=''and aK(k)or nil, u=aK(dg), a=aK(aT), y=aK(dm), ttl=aK(az), } end
local function dy(h,r) if not redis.REDIS_VERSION_NUM then return cn(h,r) end local f=A('PEXPIRETIME',h)
return f>=0 and f or nil end local function et(h,bq) bq=q('%.0f',bq) local cM=A('ZRANGE',h,bq,bq,'WITHSCORES')[2]
return cM and tonumber(cM) end local eJ,aE,bt,eK=4000,1000,1000,2*500 local function bT(b,G) b.k,b.w={},{}
for y,u in ipairs(G)do if u.f.d then b.k[#b.k+1]={id=u.id,t=u.f} elseif u.id~=b.id then b.w[#b.w+1]=u.id end end
aE=math.max(0,aE-#b.k-#b.w) table.sort(b.k,function(d,e) if d.t.u~=e.t.u then return d.t.u<e.t.u end
return aQ(d.id,e.id) end) b.aB=true end local function er(b) local l=A('ZRANGE',b.l,'0',q('%.0f',aE),'WITHSCORES')
local aG,aF,G,bO={},{},{},false b.s=nil for c=1,#l,2 do local aT=tonumber(l[c+1]) if aT>b.now_ms or#aG==aE then b.s=aT
break end aG[#aG+1],aF[#aF+1]=l[c],aT end local ap=#aG>0 and A('HMGET',b.j,unpack(aG))or{} for c,I in ipairs(aG)do
local H=ap[c]and aS(ap[c]) if not H or H.a~=aF[c]then return false end G[c]={id=I,f=H} bO=bO or I==b.id end
if b.b and b.b.a<=b.now_ms and not bO then G[#G+1]={id=b.id,f=b.b} end bT(b,G) local bN=0 for y,m in ipairs(b.k)do
bN=m.id==b.id and 1 or bN end local dZ=#b.k+#b.w-bN b.n=b.r-(b.o and 1 or 0)==dZ and 0 or nil return true end
local function cy(H) return H.d and math.max(H.a+H.ttl,H.y)or H.a end local function eq(b) local m,aO,aM={},{},nil
local bv=A('HGETALL',b.j) for c=1,#bv,2 do local I=bv[c] if I~=''then local u={id=I,f=aS(bv[c+1])}
if u.f.a<=b.now_ms then m[#m+1]=u elseif I~=b.id then aO[#aO+1]=u end end end if#m>aE then table.sort(m,function(d,e)
if d.f.a~=e.f.a then return d.f.a<e.f.a end return aQ(d.id,e.id) end) for c=#m,aE+1,-1 do local u=table.remove(m,c)
if u.id==b.id then aM=u else aO[#aO+1]=u end end m[#m+1]=aM end b.s,b.n,b.E=nil,0,aO for y,u in ipairs(aO)do
b.s=math.min(b.s or u.f.a,u.f.a) b.n=math.max(b.n,cy(u.f)) end bT(b,m) end local function db(b,S)
local ao=b.v==1 and A('ZSCORE',b.l,'') b.ag=ao and true or false b.s=nil if S>0 then
local G=A('HSCAN',b.j,ao and Y(-1-tonumber(ao))or'0','COUNT',Y(S)) b.D,b.G,b.E=tonumber(G[1]),not ao,{}
for c=1,#G[2],2 do local I=G[2][c] if I~=''and I~=b.id then b.E[#b.E+1]={id=I,f=aS(G[2][c+1])} elseif I~=''then
aS(G[2][c+1]) end end table.sort(b.E,function(d,e) return aQ(d.id,e.id) end) b.A=b.D==0 end
if b.b and b.b.a<=b.now_ms then bT(b,{{id=b.id,f=b.b}}) b.n=b.r==1 and 0 or nil end end local function dO(a,I)
local h=a.ah local G=A('HMGET',h,I,'') local b={j=h,l=a.l,id=I,now_ms=a.now_ms,k={},w={}} b.o=G[1]and aS(G[1])or nil
b.b=b.o b.v=G[2]and aK(G[2])or nil b.r=A('HLEN',h)-(b.v and 1 or 0) b.e=dy(h,b.now_ms) b.K=A('ZCARD',b.l) b.s=et(b.l,0)
local dX=b.r==b.K and(b.v==0 or b.r==0 and not b.v) local dC=math.min(b.s or math.huge,b.b and b.b.a or math.huge)
b.A=dX and(dC>b.now_ms or er(b)) if not b.A then local aj=b.r+(b.v and 1 or 0) local S=aj<=bt and aj or math.min(bt,500)
bt=bt-S if S==aj then b.A,b.G=true,true eq(b) else db(b,S) end end return b end local function bI(m,r) local aq=m.t
if r>=aq.a+aq.ttl then return nil end return{ u=aq.u, a=aq.a+aq.ttl, y=(m.af or aq.d==0)and aq.y or 0, ttl=aq.ttl, } end
local function dE(a) local b=a.S for y,m in ipairs(b.k)do if m.t.d>0 and b.now_ms<m.t.y then local p,t=cN(a,m.t,0)
if p~='keep'then if not a.I then a.I,a.o=true,a.c end m.af=true a.c=bs(p,t,a.c) end end end
if b.b and b.b.a<=b.now_ms then b.b=nil for y,m in ipairs(b.k)do if m.id==b.id then b.b=bI(m,b.now_ms) end end end end
local function ea(b) local F,bC,X=b.r-(b.o and 1 or 0)-#b.w,b.s,b.n or 0 for y,m in ipairs(b.k)do
local al=m.id~=b.id and bI(m,b.now_ms) if al then bC=math.min(bC or al.a,al.a) X=math.max(X,al.a) elseif m.id~=b.id then
F=F-1 end end return F,bC,X end local function cl(H) local v={H.d and Y(H.d)or''}
for c,s in ipairs({H.u,H.a,H.y,H.ttl})do v[c+1]=Y(s) end return table.concat(v,':') end local function bc(dc,bH)
local ac=0 for l=1,#bH,1000 do local am={unpack(dc)} for c=l,math.min(l+999,#bH)do am[#am+1]=bH[c] end
ac=ac+A(unpack(am)) end return ac end local function bU(h,ae) if ae then A('PEXPIREAT',h,Y(ae)) end end
local function di(b) local F,y,X=ea(b) if F==0 and not b.b then if b.r>0 or b.v then A('UNLINK',b.j) end if b.K>0 then
A('UNLINK',b.l) end return end local aj,aU,aa={},{},{} local function ay(aI,l,br) aI[#aI+1]=l aI[#aI+1]=br end
for y,I in ipairs(b.w)do aa[#aa+1]=I end for y,u in ipairs(b.E or{})do ay(aU,Y(u.f.a),u.id) end for y,m in ipairs(b.k)do
local al=m.id~=b.id and bI(m,b.now_ms) if al then ay(aj,m.id,cl(al)) ay(aU,Y(al.a),m.id) elseif m.id~=b.id then
aa[#aa+1]=m.id end end if b.b and b.b~=b.o then ay(aj,b.id,cl(b.b)) elseif not b.b and b.o then aa[#aa+1]=b.id end
if b.b then X=math.max(X,cy(b.b)) local dF=not b.o or b.b.a~=b.o.a if b.G or b.ag or b.A and dF then
ay(aU,Y(b.b.a),b.id) end end local cx=b.A and 0 or 1 if b.v~=cx then ay(aj,'',Y(cx)) end bc({'HSET',b.j},aj)
bc({'HDEL',b.j},aa) if b.D and b.D>0 then ay(aU,'-'..Y(b.D+1),'') end if b.G and b.K>0 then A('UNLINK',b.l) end
bc({'ZADD',b.l},aU) if b.D==0 then aa[#aa+1]='' end bc({'ZREM',b.l},aa) local ak,aH,B=b.e,X+5000,nil
local eD=not ak and not b.n and b.r>0 if not eD and(not ak or ak<X or(b.n and ak>aH))then B=aH end bU(b.j,B)
if B or b.G and ak then bU(b.l,B or ak) end end local function aN(T) local P=T%1000
return T<0 and-1 or P==0 and T/1000 or(T-P)/1000+1 end local function dk(a) local dW=a.PARTIAL and a.B<a.d
a.H=a.SHADOW and not a.J and(dW or not a.allowed) if not a.allowed and(a.H or a.J)then a.allowed=true if not true then
local y,y,y,bS=bf(a) a.ttl=aN(bS) end end end local function ek(a) bD(a,'keep',a.c) return a.remaining end
local function dS(k) return k==0 and 1 or k end local function cS(n,r) return n and n.g or 0,cR(n and n.e,r) end
local function cm(c) if c-c~=0 or c>=(2^53)then D('INEXACT_REPLY') end return c end local function dp(a) local k=a.d
by(a,0) local p,t=bM(a,nil,k) if k>0 then a.x,a.F=p,t end local aZ=bs(a.x,a.F,a.c) bD(a,a.x,aZ)
a.allowed=a.q>0 and M(a,0)==0 a.n=a.q>0 and k or dS(k) if cS then a.count,a.ttl=cS(aZ,a.now_ms) elseif a.allowed then
a.ttl=aN(cm(M(a,a.q))) else local M=M(a,a.n) a.ttl=M and math.max(1,aN(cm(M)))or-1 end end local function dq(a)
local k=a.d if a.PARTIAL then k=math.min(k,ek(a)) end a.B=k if a.ALWAYS then dp(a) else by(a,k) end end
local function dh(a,p,t) local h,E=a.j,a.c if p=='delete'then A('UNLINK',h) elseif p~='keep'then
local bz=t.g-(E and E.g or 0) if bz~=0 then A('INCRBY',h,bz==1 and'1'or q('%.0f',bz)) end if not E or t.e~=E.e then
bU(h,t.e) end end end local function dj(a,p,t) if a.I then t=bs(p,t,a.c) a.c=a.o if not t then p=a.o and'delete'or'keep'
elseif p~='charge'then p='refund' end end dh(a,p,t) end local function cH(a) return a.J and a.J.d or a.H and a.d or a.B
end local function co(a) if not a.allowed then return 0 end return a.PARTIAL and cH(a)or 1 end local function dD(a,N)
local an,ep,ah,bS,dt=bf(a) return{ 'allowed',co(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.q, 'remaining',an,
'retry_after_ms',ep, 'next_ms',ah, 'reset_ms',bS, 'delay_ms',dt, 'now_ms',a.now_ms, 'shadow',a.H and 1 or 0,
'charged',N, } end local function dR(aX) local cP={} for y,a in ipairs(aX)do local l,O=a.AS or('FIXED'):lower(),2 a.z=l
while cP[a.z]do a.z=q('%s-%d',l,O) O=O+1 end cP[a.z]=true end end local function cT(a) if a.h or a.m then
return(select(3,bQ(a,a.now_ms))) end return a.i end local function bl(c) return q('%.0f',cz(c,999999999999999)) end
local function eh(a) local z=cT and cT(a)or a.i local bB,P=1000,z%1000 while P>0 do bB,P=P,bB%P end local cU=1000/bB
local aA=bA(bn(z,cU),1000) return q('"%s";q=%s;w=%s',a.z,bl(bn(a.limit,cU)),bl(aA)) end local function dL(u,aL)
if u.allowed~=aL.allowed then return not u.allowed end local M,bL=u.retry_after_ms,aL.retry_after_ms if M~=bL then
return M<0 or(bL>=0 and M>bL) end return u.remaining<aL.remaining end local function dH(aX) local bW,cJ=aX[1],{} dR(aX)
for c,a in ipairs(aX)do cJ[c]=eh(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bf(a) if dL(a,bW)then bW=a end end
local a=bW local ap={ 'X-RateLimit-Limit', q('%.0f',a.q), 'X-RateLimit-Remaining', q('%.0f',a.remaining), }
local function bk(ag,s) ap[#ap+1]=ag ap[#ap+1]=s end if a.reset_ms>=0 then
bk('X-RateLimit-Reset',q('%.0f',aN(a.now_ms+a.reset_ms))) end bk('RateLimit-Policy',table.concat(cJ,', '))
local dQ=a.next_ms>=0 and';t='..bl(aN(a.next_ms))or'' bk('RateLimit',q('"%s";r=%s%s',a.z,bl(a.remaining),dQ))
if not a.allowed and a.retry_after_ms>=0 then bk('Retry-After',q('%.0f',aN(a.retry_after_ms))) end return ap end
local function dY(a,N) if a.form=='FULL'then return dD(a,N) end return{co(a),a.count,a.ttl,dH({a})} end
bu={U=cj,V=di,W=dj,X=dk,Z=dq,error_reply=dx,aa=cn,p=D,ab=dz,ac=dB,ae=dE,aj=cv,ak=dO,am=cC,an=bo,ap=dY,aq=bM,ar=cE,as=ee,N=cH,P=bp,refund=ej,at=eo,au=cN,av=eA,ax=eF,az=eG}
end return bu end local dv,cK=pcall(es,KEYS,ARGV) return dv and cK or i().error_reply(cK)
