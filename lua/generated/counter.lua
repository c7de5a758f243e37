-- RL.COUNTER, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function jc(aR) local cM,l local Z,m,aB,jI=string.find,string.format,string.match,string.sub local function fb(ax)
return ax==''and 1000 or ax=='ms'and 1 or ax=='s'and 1000 or ax=='m'and 60000 or ax=='h'and 3600000
or ax=='d'and 86400000 or nil end local function iJ(H,g,ag) local aI,aN,t=H[g],H[g+1],H[g+2] if not aN then
l().D('ARITY') end local a={ j='', I=0, now_ms=0, d=0, r=0, limit=0, s=0, c=1, form=nil, delay=0, g=nil, q=nil,
allowed=false, count=0, ttl=0, h='keep', remaining=0, n=1, } g=g+2
if t=='LINE'and not H[g+1]and ag~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,g=t,g+1 elseif t then
local aH=H[g+1]or''
local eF=ag==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and H[g+2]=='LINE'and not H[g+3]and#aH<16
if eF and t=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and Z(aH,'^[1-9]%d*$')then
a.form,a.c,g='LINE',aH+0,g+3 elseif eF and t=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and aH~=''then
a.form,a.ID,g='LINE',aH,g+3 else g=l().ao(a,H,g,ag) a.c=a.COST or 1 end end local ik=#aN<16 and Z(aN,'^[1-9]%d*$')
a.limit=ik and aN+0 or l().an('limit',aN,0) local L,ax=aB(aI,'^([1-9]%d*)(%l*)$') local bL=L and#aI<16 and fb(ax)
local p=bL and L*bL if not p or p<1 or p>1e15 then p=l().av(a,aI) end
a.d,a.r,a.s=p,p<9e12 and p*1000 or l().S(p,1000),a.BURST or a.limit return a,g end local function iG(H,ag)
local a,g=iJ(H,1,ag) if H[g]then l().ae(a,ag,H[g]) end return a end local s=redis.call local function iO(a)
local fi=s('TIME') local de=fi[1]*1000000+fi[2] a.I,a.now_ms=de,(de-de%1000)/1000 end local function jf(a,as,g,en,da)
local r=as[g] if not r then l().D('KEYS') end a.j,g=r,g+1 if da then a.z=r elseif Z(r,':reserved',1,true)then l().aq(r)
end if en then g=a.ay and g+2 or l().as(a,as,g,r) end return g end local function al(a,as,en,da) iO(a)
if#as~=jf(a,as,1,en,da)-1 then l().D('KEYS') end end local function jD(j,iL) local e,f,cS,cU,F=aB(j,iL) if not e then
return nil elseif Z(j,':0%d')then return nil end local ah=#cU<17 and cU+0 return#e<16 and e+0 or l().J(e),
#f<16 and f+0 or l().J(f), #cS<16 and cS+0 or l().J(cS), ah and ah<9e15 and ah or l().J(cU), F end local function im(aa)
return aa and aa-aa==0 and aa>=1 and aa<=1e15 end local function ad(e,f) if e-e==0 and f-f==0 and e*f<(2^53)then
return e*f end return l().S(e,f) end local function hP(j) local p,L,v,x,F=jD(j,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$')
if not im(p)or not L or not v or not x or F~=''then return nil end local ae=ad(L,p) local aF=ad(ae,1000)
if aF-aF~=0 or v-v~=0 or x-x~=0 then if l().M(aF)or l().M(v)or l().M(x)then return nil end end if ae==0 and x~=0 then
return nil end return{d=p,f=ae,current=v,previous=x} end local function eK(a) local j=s('GET',a.j) if j then
a.g=hP(j)or l().ad(j,('COUNTER'),'FOREIGN_VALUE') end end local function bw(p,ae,v,x)
return{d=p,f=ae,current=v,previous=x} end local function bQ(a,J) local ap,p=a.now_ms,a.d local ae=ap-ap%p if not J then
return bw(p,ae,0,0) elseif J.f==ae and J.d==p then return J end return l().ap(a,J,ae) end local function am(e,f)
if e-e==0 and f-f==0 then return e>f and e-f or 0 end return l().ar(e,f) end local function em(a,h) local x=h.previous
return x==0 and 0 or ad(x,am(a.r,a.I-h.f*1000)) end local function Q(e,f) if e-e==0 and f-f==0 and e+f<(2^53)then
return e+f end return l().V(e,f) end local function W(e,f) if e-e==0 and f-f==0 then return e<f end return l().aj(e,f)
end local function bF(c) if c-c~=0 or c>=(2^53)then l().D('INEXACT_REPLY') end return c end local function bj(e,f)
if e-e==0 and f-f==0 then local F=e%f return(e-F)/f,F end return l().P(e,f) end local function cW(e,f)
if e-e==0 and f-f==0 then local F=e%f return F==0 and e/f or(e-F)/f+1 end local bt,F=l().P(e,f)
return F==0 and bt or Q(bt,1) end local function Y(P,h) local cL=h.current~=0 and 2 or h.previous~=0 and 1 or 0
return Q(h.f,h.d*cL) end local function fd(a,h,cK) a.Y=h a.remaining=am(am(a.limit,h.current),cK==0 and 0 or cW(cK,a.r))
end local function fj(a,bv,B) return B==0 and 0 or am(a.r,(bj(ad(bv,a.r),B))) end local function G(a,i)
local bv,h=a.limit-i,a.Y local v,aF=h.current,ad(h.f,1000) if bv<0 then return nil elseif W(bv,v)then
aF=Q(Q(aF,a.r),fj(a,bv,v)) else aF=Q(aF,fj(a,bv-v,h.previous)) end return cW(am(aF,a.I),1000) end local function aT(aa)
local F=aa%1000 return aa<0 and-1 or F==0 and aa/1000 or(aa-F)/1000+1 end local function jh(a,i)
local G=G(a,i==0 and 1 or i) G=G and aT(bF(G))or-1 return G==0 and 1 or G end local function bT(a,i)
local J,aN,aI=a.g,a.limit,a.r local h=bQ(a,J) local v,x=h.current,em(a,h) local I=ad(Q(v,i==0 and 1 or i),aI)
local aY=not W(ad(aN,aI),Q(I,x)) a.allowed,a.h=aY,'keep' a.count=bF(x==0 and v or Q(v,(bj(x,aI)))) if aY and i>0 then
h=bw(a.d,h.f,Q(v,i),h.previous) a.h,a.q='charge',h elseif J and aN>0 and(W(a.now_ms,J.f)or J.d~=a.d)then
if v~=0 or h.previous~=0 then a.h,a.q='rebase',h end end if aY then a.ttl=bF(cW(am(ad(Y(a,h),1000),a.I),1000000)) else
fd(a,h,x) a.ttl=jh(a,i) end end local function hN(a) if a.PARTIAL or a.ALWAYS then l().Z(a) else local i=a.c a.n=i
bT(a,i) end if a.SHADOW then l().X(a) end end local function cY(a,P,J) local h=bQ(a,J) fd(a,h,em(a,h)) end
local function bW(a) local A,G=a.h,G cY(a,A,A=='keep'and a.g or A~='delete'and a.q or nil)
local aS,cT,av,aD,bg=a.remaining,a.s,0,0,0 if not a.allowed then local i=a.n av=G(a,a.m or(i==0 and 1 or i))or-1
if a.E and av>=0 then av=math.max(av,a.E) end end if aS<cT then aD=G(a,aS+1)or-1 bg=aS+1==cT and aD or G(a,cT)or-1 end
if av-av~=0 or aD-aD~=0 or bg-bg~=0 or av>=(2^53)or bg>=(2^53)then l().D('INEXACT_REPLY') end return aS,av,aD,bg,0 end
local function ip(a,X) local aS,av,aD,bg,hQ=bW(a) local jb=a.A and 1 or 0 return m(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and l().U(a)or 1)or 0,a.count,a.ttl,a.s,aS,av,aD,bg, hQ,a.now_ms,jb,X ) end
local function iR(a,X) local ba=a.form if ba=='LINE'then return ip(a,X) elseif ba then return l().am(a,X) end
return{a.allowed and(a.PARTIAL and l().U(a)or 1)or 0,a.count,a.ttl} end local function hH(a) if a.o then return a.o.c
end if a.h~='charge'then return 0 elseif a.ALWAYS then return a.n elseif not a.allowed or(a.A and not a.PARTIAL)then
return 0 end return a.n end local function eA(r,ap) if not redis.REDIS_VERSION_NUM then return l().ac(r,ap) end
local g=s('PEXPIRETIME',r) return g>=0 and g or nil end local function hU(a,A,R) local aJ,cV=a.g,(nil)
if A=='keep'and(not aJ or not cV)then return nil end local E=aJ and eA(a.j,a.now_ms) if E and E>=(2^53)then
E=l().af(l().aa(E)) end if A=='keep'then local I=Y(a,aJ) return E and W(E,I)and Q(I,5000)or nil end local I=Y(a,R)
local aM=Q(I,5000) if not aJ then return aM elseif not E then return aM end if cV and A=='rebase'then
return l().al(E,Y(a,aJ),I) elseif W(E,I)then return aM elseif not W(aM,E)or(cV and W(Q(Y(a,aJ),5000),E))then return nil
end return aM end local function ab(c) if c-c~=0 then return l().at(c) end return m('%.0f',c) end
local function dG(r,an) if an then s('PEXPIREAT',r,ab(an)) end end local function ex(h)
local p,v,x=h.d,h.current,h.previous local L=bj(h.f,p) local io=L-L~=0 or v-v~=0 or x-x~=0 if io then
L,v,x=ab(L),ab(v),ab(x) return'C:'..ab(p)..':'..L..':'..v..':'..x end return m('C:%.0f:%.0f:%.0f:%.0f',p,L,v,x) end
local function et(a,A,R) local r=a.j if A=='delete'then s('UNLINK',r) return end local Y=hU(a,A,R) if A=='keep'then
dG(r,Y) elseif Y then s('SET',r,ex(R),'PXAT',Y==0 and'1'or ab(Y)) else s('SET',r,ex(R),'KEEPTTL') end end
local function iY(as,H) local a=iG(H,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
al(a,as,a.RESERVE) if a.RESERVE then l().ak(a) else eK(a,'write') hN(a) end local hD=iR(a,hH(a))
if a.SHADOW or a.RESERVE then l().W(a,true) else et(a,a.h,a.q) end return hD end function l() if not cM then local D={}
D.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
D.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
D.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
D.ID='ERR invalid ID: expected 1 to 512 bytes'
D.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
D.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
D.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
D.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
D.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
D.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
D.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
D.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
D.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
D.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
D.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
D.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' D.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
D.OVERFLOW='ERR increment or decrement would overflow'
D.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
D.ARITY='ERR wrong number of arguments' D.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
D.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function cb(e,f)
return W(f,e)and f or e end local cN={ __sub=function() return 1 end, }
local cO=setmetatable({(2^24)-1,(2^24)-1,2^15-1},cN) local function eP(c) return cb(c,cO) end local function iP(a,J,ae)
local p=a.d if W(a.now_ms,J.f)then return bw(p,ae,cb(Q(J.current,J.previous),a.limit),0) end local bA=bw(p,ae,0,0)
local function al(B,ez) if ez>ae then bA.current=eP(Q(bA.current,B)) elseif ez+p>ae then
bA.previous=eP(Q(bA.previous,B)) end end al(J.current,J.f+J.d) al(J.previous,J.f) return bA end local function ar(j)
error({err=j},0) end local function S(aC) ar(D[aC]) end local function hW(j,O,iF)
local jE={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local eo=jE[aB(j,'^(%u):')] if not eo or eo==O then
S(iF) end ar('ERR the key holds a state of '..eo..': use another key for each algorithm') end local function hT(aR)
if type(aR)=='table'then return aR elseif Z(aR,'^%u+ ')then return redis.error_reply(aR) end error(aR,0) end
local function aZ(c) if c-c~=0 then return c end local n,B={},0 while c>0 do local ao=c%(2^24) B=B+1 n[B]=ao
c=(c-ao)/(2^24) end return n end local function bG(n) local B=#n while B>0 and n[B]==0 do n[B]=nil B=B-1 end
if B>3 or(B==3 and n[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(n,cN) end
return(n[1]or 0)+(n[2]or 0)*(2^24)+(n[3]or 0)*(2^24)*(2^24) end local function eJ(e,f) local er,hF=e-e==0,f-f==0
if er or hF then return er elseif#e~=#f then return#e<#f end for c=#e,1,-1 do if e[c]~=f[c]then return e[c]<f[c] end end
return false end local function hB(e,f) e,f=aZ(e),aZ(f) local aw,aK={},0 for c=1,math.max(#e,#f)+1 do
local ao=(e[c]or 0)+(f[c]or 0)+aK aK=ao>=(2^24)and 1 or 0 aw[c]=ao-aK*(2^24) end return bG(aw) end
local function jd(e,f) if not eJ(f,e)then return 0 end f=aZ(f) local ew,cR={},0 for c=1,#e do
local ao=e[c]-(f[c]or 0)-cR cR=ao<0 and 1 or 0 ew[c]=ao+cR*(2^24) end return bG(ew) end local function iv(e,f)
e,f=aZ(e),aZ(f) local bJ={} for c=1,#e+#f do bJ[c]=0 end for c=1,#e do local aK=0 for db=1,#f do
local ao=bJ[c+db-1]+e[c]*f[db]+aK aK=math.floor(ao/(2^24)) bJ[c+db-1]=ao-aK*(2^24) end bJ[c+#f]=aK end return bG(bJ) end
local function es(c) if c-c==0 then return c end local aw=0 for ii=#c,1,-1 do aw=aw*(2^24)+c[ii] end return aw end
local function hS(e,f) local bt=0 while not W(e,f)do local aQ=math.max(1,math.floor(es(e)/es(f)*(1-2^-45)))
aQ=bG(aZ(aQ)) bt=Q(bt,aQ) e=am(e,ad(aQ,f)) end return bt,e end local function jg(c) local dI='' while c-c~=0 do local F
c,F=bj(c,10000000) dI=m('%07.0f',F)..dI end return m('%.0f',c)..dI end local function bi(e,f) for g=1,math.min(#e,#f)do
local hw,hx=e:byte(g),f:byte(g) if hw~=hx then return hw<hx end end return#e<#f end local function bX(n)
if#n<=15 or(#n==16 and bi(n,'9007199254740992'))then return n+0 end local cZ=#n%7 local c=cZ>0 and n:sub(1,cZ)+0 or 0
for g=cZ+1,#n,7 do c=Q(ad(c,10000000),n:sub(g,g+6)+0) end return c end local function iH(n) if#n>1 and n:byte()==48 then
return nil elseif#n<20 or(#n==20 and not bi('18446744073709551615',n))then return bX(n) end end local function eE(c)
return W(cO,c) end local function hV(r,ap) local eI=s('PTTL',r) return eI>=0 and ap+eI or nil end
local function iu(E,ix,I) if E-E~=0 then S('INEXACT_STATE') end local bI=am(E,am(ix,I)) bI=W(bI,I)and I or bI
return bI~=E and bI or nil end local function bU(j,ak) if j~='0'and not Z(j,'^[1-9]%d*$')then return nil end
return(#j<#ak or(#j==#ak and not bi(ak,j)))and j or nil end local function eU(aC,j,eH)
local n=j and bU(j,'9223372036854775807') local c=n and bX(n) if not c or c==0 and eH>0 then
ar(m('ERR invalid %s: expected an integer from %d to 9223372036854775807',aC,eH)) elseif c-c~=0 then
ar(m('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aC)) end return c end local eq={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bb(bn,O)
return not Z(O,' ',1,true)and Z(bn,' '..O..' ',1,true)~=nil end local function fh(a,t)
return not bb(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',t)or bb((' COST PARTIAL ALWAYS RESERVE RESERVATION '),t)
end local function ij(O,t) local K,ah=0,0 local fe,is=math.min(#O,#t),math.max(#O,#t)
while K<fe and O:byte(K+1)==t:byte(K+1)do K=K+1 end while ah<fe-K and O:byte(-1-ah)==t:byte(-1-ah)do ah=ah+1 end
return K+ah>=2 and is-K-ah<=2 end local function hX(a,ag,O) local bc={} for P,ai in ipairs(eq)do
if bb(ag,ai[1])and fh(a,ai[1])then bc[#bc+1]=ai[2] end end for P,ba in ipairs({'FULL','LINE','HEADERS'})do bc[#bc+1]=ba
end for P,t in ipairs(bc)do if ij(O:upper(),aB(t,'^%u+'))then ar('ERR syntax error: no such option, but there is '..t)
end end local ah=table.remove(bc) local jj=table.concat(bc,', ')
ar('ERR syntax error: after limit come '..jj..' or '..ah..', each at most once') end local function iT(ai,a,ag)
local t,jF=ai[1],a.aw if not bb(ag,t)then ar(m('ERR invalid %s: only %s it',t,ai[3])) elseif not fh(a,t)then
ar(m('ERR invalid %s: %s takes none',t,('COUNTER'))) elseif a[t]~=nil then
ar(m('ERR syntax error: %s comes at most once',ai[2])) end end local function eW(j) local L,ax=aB(j,'^(%d+)(%l*)$')
local bL=L and fb(ax) local aa=bL and bU(L,'18446744073709551615')and L*bL
return aa and aa>=1 and aa<=1e15 and aa or nil end local function eV(j,ak) return j and#j>=1 and#j<=ak and j end
local hA=setmetatable({(2^24)-1,(2^24)-1,2^16-1},cN) local function iK(t,j,cB) if t=='RESERVE'then
local aj=cB and eW(cB) return eV(j,128)and aj and{id=j,ttl=aj}or S('RESERVE') elseif t=='RESERVATION'then
return eV(j,128)or S('RESERVATION') end if t=='AS'then
return j and#j>=1 and#j<=64 and not Z(j,'[^%w._-]')and j or S('AS') elseif t=='AT'then
local n=j and bU(j,'9223372036854775807') return n and cb(bX(n),(bj(hA,1000)))or S('AT') end
return eU(t,j,t=='BURST'and 1 or 0) end local function iS(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
S(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
S(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local hy={FULL=true,LINE=true,HEADERS=true}
local function iy(ba,eN) if ba then S(ba==eN and'FORM_TWICE'or'TWO_FORMS') end return eN end local function iI(a,H,g,ag)
while H[g]do local O,ai=H[g]:upper(),nil for P,eG in ipairs(eq)do ai=eG[1]==O and eG or ai end if ai then iT(ai,a,ag)
if ai[2]==O then a[O]=true g=g+1 else a[O]=iK(O,H[g+1],H[g+2]) g=g+(O=='RESERVE'and 3 or 2) end iS(a)
elseif hy[O]and bb(ag,'form')then a.form=iy(a.form,O) g=g+1 else return g end end return g end
local hz={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function jC(a,j) local p=eW(j)
if not p then a.au=j:upper() p=hz[a.au] if not p then
S(bb((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not bb((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
ar(m('ERR invalid window: %s takes no windows of the calendar',('COUNTER'))) end end return p end local function ig(r)
return r:sub(-9)==':reserved'or r:sub(-14)==':reserved:ends' end local function iU(r) if ig(r)then S('RESERVED_KEY') end
end local function je(a,as,g,r) local bY,bl=as[g]or'',as[g+1] local aC=((nil)and(nil)(a)or'')..':reserved'
if(bY~=r..aC and bY~='{'..r..'}'..aC)or bl~=bY..':ends'then S('KEYS') end a.ai,a.l=bY,bl return g+2 end
local function eu(a) local iz=a.PARTIAL and a.n<a.c a.A=a.SHADOW and not a.o and(iz or not a.allowed)
if not a.allowed and(a.A or a.o)then a.allowed=true if not(nil)then local P,P,P,dE=bW(a) a.ttl=aT(dE) end end end
local function fa(a) cY(a,'keep',a.g) return a.remaining end local function eY(h,an) if not an or not W(an,h.f)then
return'current' end return an+h.d>=h.f and'previous'or nil end local function eS(a,an,i) local h=bQ(a,a.g)
local al=eY(h,an) if i==0 or not al then return'keep' end local X=bw(h.d,h.f,h.current,h.previous) X[al]=Q(X[al],i)
local cK=Q(ad(X.current,a.r),em(a,X)) if eE(X[al])or W(ad(cO,a.r),cK)then S('OVERFLOW') end return'charge',X end
local function cC(A,R,aJ) if A=='keep'then return aJ end return A~='delete'and R or nil end local function eO(i)
return i==0 and 1 or i end local function hL(a) local i=a.c bT(a,0) local A,R=eS(a,nil,i) if i>0 then a.h,a.q=A,R end
local ff=cC(a.h,a.q,a.g) cY(a,a.h,ff) a.allowed=a.s>0 and G(a,0)==0 a.m=a.s>0 and i or eO(i) if(nil)then
a.count,a.ttl=(nil)(ff,a.now_ms) elseif a.allowed then a.ttl=aT(bF(G(a,a.s))) else local G=G(a,a.m)
a.ttl=G and math.max(1,aT(bF(G)))or-1 end end local function hM(a) local i=a.c if a.PARTIAL then i=math.min(i,fa(a)) end
a.n=i if a.ALWAYS then hL(a) else bT(a,i) end end local function bB(a) return a.now_ms-a.now_ms%a.d+2*a.d end
local function bo(j) local n=bU(j,'9223372036854775807')or S('FOREIGN_RESERVATION') local c=bX(n)
return c-c==0 and c or S('INEXACT_STATE') end local function bC(j)
local i,hG,bE,bB,aj=aB(j,'^(%d*):(%d+):(%d+):(%d+):(%d+)$') if not i or#aj>16 or tonumber(aj)>1e15 or aj=='0'then
S('FOREIGN_RESERVATION') end return{ c=i~=''and bo(i)or nil, i=bo(hG), a=bo(bE), t=bo(bB), ttl=bo(aj), } end
local function iZ(r,cA) cA=m('%.0f',cA) local fc=s('ZRANGE',r,cA,cA,'WITHSCORES')[2] return fc and tonumber(fc) end
local jG,bk,cE,jH=4000,1000,1000,2*500 local function dF(b,T) b.k,b.y={},{} for P,C in ipairs(T)do if C.e.c then
b.k[#b.k+1]={id=C.id,w=C.e} elseif C.id~=b.id then b.y[#b.y+1]=C.id end end bk=math.max(0,bk-#b.k-#b.y)
table.sort(b.k,function(e,f) if e.w.i~=f.w.i then return e.w.i<f.w.i end return bi(e.id,f.id) end) b.ax=true end
local function iX(b) local K=s('ZRANGE',b.l,'0',m('%.0f',bk),'WITHSCORES') local bm,bl,T,di={},{},{},false b.v=nil
for c=1,#K,2 do local bE=tonumber(K[c+1]) if bE>b.now_ms or#bm==bk then b.v=bE break end bm[#bm+1],bl[#bl+1]=K[c],bE end
local aU=#bm>0 and s('HMGET',b.j,unpack(bm))or{} for c,V in ipairs(bm)do local U=aU[c]and bC(aU[c])
if not U or U.a~=bl[c]then return false end T[c]={id=V,e=U} di=di or V==b.id end
if b.b and b.b.a<=b.now_ms and not di then T[#T+1]={id=b.id,e=b.b} end dF(b,T) local dh=0 for P,q in ipairs(b.k)do
dh=q.id==b.id and 1 or dh end local iE=#b.k+#b.y-dh b.m=b.u-(b.p and 1 or 0)==iE and 0 or nil return true end
local function eM(U) return U.c and math.max(U.a+U.ttl,U.t)or U.a end local function iW(b) local q,bx,eT={},{},nil
local cQ=s('HGETALL',b.j) for c=1,#cQ,2 do local V=cQ[c] if V~=''then local C={id=V,e=bC(cQ[c+1])}
if C.e.a<=b.now_ms then q[#q+1]=C elseif V~=b.id then bx[#bx+1]=C end end end if#q>bk then table.sort(q,function(e,f)
if e.e.a~=f.e.a then return e.e.a<f.e.a end return bi(e.id,f.id) end) for c=#q,bk+1,-1 do local C=table.remove(q,c)
if C.id==b.id then eT=C else bx[#bx+1]=C end end q[#q+1]=eT end b.v,b.m,b.G=nil,0,bx for P,C in ipairs(bx)do
b.v=math.min(b.v or C.e.a,C.e.a) b.m=math.max(b.m,eM(C.e)) end dF(b,q) end local function hC(b,ak)
local cD=b.x==1 and s('ZSCORE',b.l,'') b.ah=cD and true or false b.v=nil if ak>0 then
local T=s('HSCAN',b.j,cD and ab(-1-tonumber(cD))or'0','COUNT',ab(ak)) b.F,b.H,b.G=tonumber(T[1]),not cD,{}
for c=1,#T[2],2 do local V=T[2][c] if V~=''and V~=b.id then b.G[#b.G+1]={id=V,e=bC(T[2][c+1])} elseif V~=''then
bC(T[2][c+1]) end end table.sort(b.G,function(e,f) return bi(e.id,f.id) end) b.B=b.F==0 end
if b.b and b.b.a<=b.now_ms then dF(b,{{id=b.id,e=b.b}}) b.m=b.u==1 and 0 or nil end end local function ir(a,V)
local r=a.ai local T=s('HMGET',r,V,'') local b={j=r,l=a.l,id=V,now_ms=a.now_ms,k={},y={}} b.p=T[1]and bC(T[1])or nil
b.b=b.p b.x=T[2]and bo(T[2])or nil b.u=s('HLEN',r)-(b.x and 1 or 0) b.ab=eA(r,b.now_ms) b.N=s('ZCARD',b.l) b.v=iZ(b.l,0)
local iC=b.u==b.N and(b.x==0 or b.u==0 and not b.x) local hZ=math.min(b.v or math.huge,b.b and b.b.a or math.huge)
b.B=iC and(hZ>b.now_ms or iX(b)) if not b.B then local aL=b.u+(b.x and 1 or 0)
local ak=aL<=cE and aL or math.min(cE,500) cE=cE-ak if ak==aL then b.B,b.H=true,true iW(b) else hC(b,ak) end end
return b end local function iQ(a,an,i) local h=bQ(a,a.g) local al=eY(h,an) local ia=al=='current'and i or 0
local eD=al=='previous'and i or 0 if not an then eD=am(i,h.current) end local v,x=am(h.current,ia),am(h.previous,eD)
if not W(v,h.current)and not W(x,h.previous)then return'keep' elseif v==0 and x==0 then return'delete' end
return'refund',bw(h.d,h.f,v,x) end local function ja(a,bS,cP) local dD=bS.c or 0 if bS.t<=a.now_ms then return'keep'
elseif cP<dD then return iQ(a,bS.i,dD-cP) end return eS(a,bS.i,cP-dD) end local function dd(q,ap) local aX=q.w
if ap>=aX.a+aX.ttl then return nil end return{ i=aX.i, a=aX.a+aX.ttl, t=(q.ag or aX.c==0)and aX.t or 0, ttl=aX.ttl, }
end local function id(a) local b=a.K for P,q in ipairs(b.k)do if q.w.c>0 and b.now_ms<q.w.t then local A,R=ja(a,q.w,0)
if A~='keep'then if not a.Q then a.Q,a.p=true,a.g end q.ag=true a.g=cC(A,R,a.g) end end end
if b.b and b.b.a<=b.now_ms then b.b=nil for P,q in ipairs(b.k)do if q.id==b.id then b.b=dd(q,b.now_ms) end end end end
local function iA(b) return b.b and b.b.c and b.b or nil end local function eR(b)
local B,bD,I=b.u-(b.p and 1 or 0)-#b.y,b.v,b.m or 0 for P,q in ipairs(b.k)do local aO=q.id~=b.id and dd(q,b.now_ms)
if aO then bD=math.min(bD or aO.a,aO.a) I=math.max(I,aO.a) elseif q.id~=b.id then B=B-1 end end return B,bD,I end
local function ic(b) local B,bD=eR(b) if b.b or B<100000 then return nil end return math.max(1,(bD or 0)-b.now_ms) end
local function hO(a) local i,b=a.c,a.K id(a) a.o,a.E=iA(b),ic(b) if a.o then i=0 elseif a.PARTIAL then
i=math.min(i,fa(a)) end local ev=(nil)or bT ev(a,i) if a.E and a.allowed then ev(a,0) a.allowed,a.m=false,eO(i)
if not(nil)then a.ttl=aT(a.E) end end a.n=i eu(a) end local function iq(a) a.K=ir(a,a.RESERVE.id) eK(a,'write') hO(a)
end local function eQ(b,i,aj,bB) local ap=b.now_ms b.b={c=i,i=ap,a=ap+aj,t=bB,ttl=aj} end local function iN(b,cc,aj)
if cc.a<b.now_ms+aj then eQ(b,cc.c,aj,cc.t) b.b.i=cc.i end end local function iB(a) local eC=not a.A if a.PARTIAL then
eC=a.n>0 and not a.E end return not a.o and a.allowed and eC end local function hJ(a,A,R) if a.Q then R=cC(A,R,a.g)
a.g=a.p if not R then A=a.p and'delete'or'keep' elseif A~='charge'then A='refund' end end et(a,A,R) end
local function ey(U) local H={U.c and ab(U.c)or''} for c,aH in ipairs({U.i,U.a,U.t,U.ttl})do H[c+1]=ab(aH) end
return table.concat(H,':') end local function bR(hE,dc) local aw=0 for K=1,#dc,1000 do local aQ={unpack(hE)}
for c=K,math.min(K+999,#dc)do aQ[#aQ+1]=dc[c] end aw=aw+s(unpack(aQ)) end return aw end local function hI(b)
local B,P,I=eR(b) if B==0 and not b.b then if b.u>0 or b.x then s('UNLINK',b.j) end if b.N>0 then s('UNLINK',b.l) end
return end local aL,bH,au={},{},{} local function bh(bn,K,cB) bn[#bn+1]=K bn[#bn+1]=cB end for P,V in ipairs(b.y)do
au[#au+1]=V end for P,C in ipairs(b.G or{})do bh(bH,ab(C.e.a),C.id) end for P,q in ipairs(b.k)do
local aO=q.id~=b.id and dd(q,b.now_ms) if aO then bh(aL,q.id,ey(aO)) bh(bH,ab(aO.a),q.id) elseif q.id~=b.id then
au[#au+1]=q.id end end if b.b and b.b~=b.p then bh(aL,b.id,ey(b.b)) elseif not b.b and b.p then au[#au+1]=b.id end
if b.b then I=math.max(I,eM(b.b)) local ie=not b.p or b.b.a~=b.p.a if b.H or b.ah or b.B and ie then
bh(bH,ab(b.b.a),b.id) end end local eL=b.B and 0 or 1 if b.x~=eL then bh(aL,'',ab(eL)) end bR({'HSET',b.j},aL)
bR({'HDEL',b.j},au) if b.F and b.F>0 then bh(bH,'-'..ab(b.F+1),'') end if b.H and b.N>0 then s('UNLINK',b.l) end
bR({'ZADD',b.l},bH) if b.F==0 then au[#au+1]='' end bR({'ZREM',b.l},au) local E,aM,Y=b.ab,I+5000,nil
local ji=not E and not b.m and b.u>0 if not ji and(not E or E<I or(b.m and E>aM))then Y=aM end dG(b.j,Y)
if Y or b.H and E then dG(b.l,Y or E) end end local function hK(a,aY) if not aY and a.h=='charge'then a.h,a.q='keep',nil
end local b=a.K if b and aY and a.o then iN(b,a.o,a.RESERVE.ttl) elseif b and aY and iB(a)then local R=cC(a.h,a.q,a.g)
eQ(b,a.n,a.RESERVE.ttl,bB(a,R)) end hJ(a,a.h,a.q) if b then hI(b) end end local function eX(a)
return a.o and a.o.c or a.A and a.c or a.n end local function eB(a) if not a.allowed then return 0 end
return a.PARTIAL and eX(a)or 1 end local function ib(a,X) local aS,iV,aD,dE,hR=bW(a) return{ 'allowed',eB(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.s, 'remaining',aS, 'retry_after_ms',iV, 'next_ms',aD, 'reset_ms',dE,
'delay_ms',hR, 'now_ms',a.now_ms, 'shadow',a.A and 1 or 0, 'charged',X, } end local function iw(bK) local fg={}
for P,a in ipairs(bK)do local K,L=a.AS or('COUNTER'):lower(),2 a.z=K while fg[a.z]do a.z=m('%s-%d',K,L) L=L+1 end
fg[a.z]=true end end local function ca(c) return m('%.0f',cb(c,999999999999999)) end local function iM(a)
local p=(nil)and(nil)(a)or a.d local cX,F=1000,p%1000 while F>0 do cX,F=F,cX%F end local cL=1000/cX
local aI=bj(ad(p,cL),1000) return m('"%s";q=%s;w=%s',a.z,ca(ad(a.limit,cL)),ca(aI)) end local function il(C,df)
if C.allowed~=df.allowed then return not C.allowed end local G,dg=C.retry_after_ms,df.retry_after_ms if G~=dg then
return G<0 or(dg>=0 and G>dg) end return C.remaining<df.remaining end local function ih(bK) local dH,eZ=bK[1],{} iw(bK)
for c,a in ipairs(bK)do eZ[c]=iM(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bW(a) if il(a,dH)then dH=a end end
local a=dH local aU={ 'X-RateLimit-Limit', m('%.0f',a.s), 'X-RateLimit-Remaining', m('%.0f',a.remaining), }
local function bZ(aC,aH) aU[#aU+1]=aC aU[#aU+1]=aH end if a.reset_ms>=0 then
bZ('X-RateLimit-Reset',m('%.0f',aT(a.now_ms+a.reset_ms))) end bZ('RateLimit-Policy',table.concat(eZ,', '))
local it=a.next_ms>=0 and';t='..ca(aT(a.next_ms))or'' bZ('RateLimit',m('"%s";r=%s%s',a.z,ca(a.remaining),it))
if not a.allowed and a.retry_after_ms>=0 then bZ('Retry-After',m('%.0f',aT(a.retry_after_ms))) end return aU end
local function iD(a,X) if a.form=='FULL'then return ib(a,X) end return{eB(a),a.count,a.ttl,ih({a})} end
cM={V=hB,W=hK,X=eu,Z=hM,aa=aZ,P=hS,error_reply=hT,ac=hV,D=S,ad=hW,ae=hX,af=bG,M=eE,aj=eJ,ak=iq,al=iu,S=iv,am=iD,an=eU,J=iH,ao=iI,U=eX,ap=iP,aq=iU,ar=jd,as=je,at=jg,av=jC}
end return cM end if aR then return l().error_reply(aR) end local bV,bu=pcall(iY,KEYS,ARGV)
return bV and bu or l().error_reply(bu) end local function hY(ep,aA)
local Z,aB,m,s=string.find,string.match,string.format,redis.call if m('%d',2^40)~='1099511627776'then return end
local bd local gf=aA[1] local cG=aA[2] local cH=aA[3] if not cG then return end local bN=aA[4] local dx local M local at
if(cH=='LINE')and(not bN)then dx=4 M=1 at='LINE' else local du local dv local dw if cH then if bN then
if not(((((aA[5]=='LINE')and(not aA[6]))and((#bN)<16))and(cH=='COST'))and Z(bN,'^[1-9]%d*$'))then return end du=6
dv=bN+0 dw='LINE' else if(((aA[5]=='LINE')and(not aA[6]))and(cH=='COST'))and Z('','^[1-9]%d*$')then return end return
end else du=3 dv=1 dw=nil end dx=du M=dv at=dw end if not(((#cG)<16)and Z(cG,'^[1-9]%d*$'))then return end local z=cG+0
local gg,by=aB(gf,'^([1-9]%d*)(%l*)$') if gg then if(#gf)<16 then
local dU=(by=='')and 1000 or((by=='ms')and 1 or((by=='s')and 1000 or((by=='m')and 60000 or((by=='h')and 3.6e6 or((by=='d')and 8.64e7 or nil)))))
local w=dU and(gg*dU)or dU if(not w)or((w<1)or(1e15<w))then return end if not(w<9e12)then return end local d=w*1000
local jr=aA[dx] if jr then return end local gh=s('TIME') local k=(gh[1]*1e6)+gh[2] local aG=(k-(k%1000))/1000
local aq=ep[1] if not aq then return end if Z(aq,':reserved',1,true)then return end if not((#ep)==1)then return end
local dV=s('GET',aq) if dV then local dW,gi,gj,gk,js=aB(dV,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not dW then return else
if Z(dV,':0%d')then return else local o=((#gk)<17)and(gk+0) if not((#dW)<16)then return end if not((#gi)<16)then return
end if not((#gj)<16)then return end if o then if not(o<9e15)then return end local bO=dW+0 local gl=gi+0 local y=gj+0
if(not((1<=bO)and(bO<=1e15)))or(not(js==''))then return else if not((gl*bO)<2^53)then return end local ac=gl*bO
if not((ac*1000)<2^53)then return end local u=ac*1000 if(ac==0)and(not(o==0))then return else
if not((ac==(aG-(aG%w)))and(bO==w))then return end local be if o==0 then be=0 else local gm=k-u
local gn=(gm<d)and(d-gm)or 0 if not((o*gn)<2^53)then return end be=o*gn end if not((y+M)<2^53)then return end
local N=y+M if not((N*d)<2^53)then return end local go=N*d if not((z*d)<2^53)then return end if not((go+be)<2^53)then
return end local jt=go+be local bf if be==0 then bf=y else local ju=be%d local gp=(be-ju)/d if not((y+gp)<2^53)then
return end bf=y+gp end if 2^53<=bf then return end if not((z*d)<jt)then if not(N<2^53)then return end
local gq=w*((not(N==0))and 2 or((not(o==0))and 1 or 0)) if not((ac+gq)<2^53)then return end local af=ac+gq
if not((af*1000)<2^53)then return end local gr=af*1000 local dX=(k<gr)and(gr-k)or 0 local gs=dX%1e6
local dY=(gs==0)and(dX/1e6)or(((dX-gs)/1e6)+1) if 2^53<=dY then return end if at=='LINE'then local bp if o==0 then bp=0
else local gO=k-u local gP=(gO<d)and(d-gO)or 0 if not((o*gP)<2^53)then return end bp=o*gP end local gQ=(N<z)and(z-N)or 0
local cr if bp==0 then cr=0 else local gR=bp%d local jx=(gR==0)and(bp/d)or(((bp-gR)/d)+1) cr=jx end
local ee=(cr<gQ)and(gQ-cr)or 0 local dA local cx if ee<z then local gS=ee+1 local cu local bP=z-gS if not(u<2^53)then
return end if bP<0 then cu=nil else if bP<N then if not((u+d)<2^53)then return end local gT=u+d local cs if N==0 then
cs=0 else if not((bP*d)<2^53)then return end local gU=bP*d local gV=(gU-(gU%N))/N cs=(gV<d)and(d-gV)or 0 end
if not((gT+cs)<2^53)then return end local gW=gT+cs local ef=(k<gW)and(gW-k)or 0 local gX=ef%1000
cu=(gX==0)and(ef/1000)or(((ef-gX)/1000)+1) else local gY=bP-N local ct if o==0 then ct=0 else if not((gY*d)<2^53)then
return end local gZ=gY*d local ha=(gZ-(gZ%o))/o ct=(ha<d)and(d-ha)or 0 end if not((u+ct)<2^53)then return end
local hb=u+ct local eg=(k<hb)and(hb-k)or 0 local hc=eg%1000 cu=(hc==0)and(eg/1000)or(((eg-hc)/1000)+1) end end
local hd=cu or(-1) local dz if gS==z then dz=hd else local dy if 0<N then if not((u+d)<2^53)then return end local he=u+d
local cv if N==0 then cv=0 else local hf=(0-(0%N))/N cv=(hf<d)and(d-hf)or 0 end if not((he+cv)<2^53)then return end
local hg=he+cv local eh=(k<hg)and(hg-k)or 0 local hh=eh%1000 dy=(hh==0)and(eh/1000)or(((eh-hh)/1000)+1) else
local hi=0-N local cw if o==0 then cw=0 else if not((hi*d)<2^53)then return end local hj=hi*d local hk=(hj-(hj%o))/o
cw=(hk<d)and(d-hk)or 0 end if not((u+cw)<2^53)then return end local hl=u+cw local ei=(k<hl)and(hl-k)or 0
local hm=ei%1000 dy=(hm==0)and(ei/1000)or(((ei-hm)/1000)+1) end dz=dy end dA=hd cx=dz else dA=0 cx=0 end
if 2^53<=cx then return end local jy=m('1 %d %d %d %d 0 %d %d 0 %d 0 %d',bf,dY,z,ee,dA,cx,aG,M) local bq
if not redis.REDIS_VERSION_NUM then return end local hn=s('PEXPIRETIME',aq) local cI=(0<=hn)and hn or nil if cI then
if 2^53<=cI then return end if not(af<2^53)then return end if not((af+5000)<2^53)then return end local ej=af+5000
if cI<af then bq=ej else if not(ej<cI)then bq=nil else bq=ej end end else if not(af<2^53)then return end
if not((af+5000)<2^53)then return end return end if bq then local dB if bq==0 then dB='1' else local jz=m('%d',bq) dB=jz
end local jL=s('SET',aq,m('C:%d:%d:%d:%d',w,((ac-(ac%w))/w),N,o),'PXAT',dB) else
local jM=s('SET',aq,m('C:%d:%d:%d:%d',w,((ac-(ac%w))/w),N,o),'KEEPTTL') end bd=jy else if at then return end local br
if not redis.REDIS_VERSION_NUM then return end local ho=s('PEXPIRETIME',aq) local cJ=(0<=ho)and ho or nil if cJ then
if 2^53<=cJ then return end if not(af<2^53)then return end if not((af+5000)<2^53)then return end local ek=af+5000
if cJ<af then br=ek else if not(ek<cJ)then br=nil else br=ek end end else if not(af<2^53)then return end
if not((af+5000)<2^53)then return end return end if br then local dC if br==0 then dC='1' else local jA=m('%d',br) dC=jA
end local jN=s('SET',aq,m('C:%d:%d:%d:%d',w,((ac-(ac%w))/w),N,o),'PXAT',dC) else
local jO=s('SET',aq,m('C:%d:%d:%d:%d',w,((ac-(ac%w))/w),N,o),'KEEPTTL') end bd={1,bf,dY} end else if aG<ac then return
end local gt=(y<z)and(z-y)or 0 local aE local ay=z-M if not(u<2^53)then return end if ay<0 then aE=nil else if ay<y then
if not((u+d)<2^53)then return end local gu=u+d local cn if y==0 then cn=0 else if not((ay*d)<2^53)then return end
local gv=ay*d local gw=(gv-(gv%y))/y cn=(gw<d)and(d-gw)or 0 end if not((gu+cn)<2^53)then return end local gx=gu+cn
local dZ=(k<gx)and(gx-k)or 0 local gy=dZ%1000 aE=(gy==0)and(dZ/1000)or(((dZ-gy)/1000)+1) else local gz=ay-y local co
if o==0 then co=0 else if not((gz*d)<2^53)then return end local gA=gz*d local gB=(gA-(gA%o))/o co=(gB<d)and(d-gB)or 0
end if not((u+co)<2^53)then return end local gC=u+co local ea=(k<gC)and(gC-k)or 0 local gD=ea%1000
aE=(gD==0)and(ea/1000)or(((ea-gD)/1000)+1) end end local cp if aE then if 2^53<=aE then return end local gE=aE%1000
local jv=(aE<0)and(-1)or((gE==0)and(aE/1000)or(((aE-gE)/1000)+1)) cp=jv else cp=-1 end local gF=(cp==0)and 1 or cp
local dm if at=='LINE'then local bs if o==0 then bs=0 else local hp=k-u local hq=(hp<d)and(d-hp)or 0
if not((o*hq)<2^53)then return end bs=o*hq end local cy if bs==0 then cy=0 else local hr=bs%d
local jB=(hr==0)and(bs/d)or(((bs-hr)/d)+1) cy=jB end local el=(cy<gt)and(gt-cy)or 0 local ce if ay<0 then ce=nil else
if ay<y then if not((u+d)<2^53)then return end local hs=u+d local cz if y==0 then cz=0 else if not((ay*d)<2^53)then
return end local ht=ay*d local hu=(ht-(ht%y))/y cz=(hu<d)and(d-hu)or 0 end if not((hs+cz)<2^53)then return end
local hv=hs+cz local dJ=(k<hv)and(hv-k)or 0 local fk=dJ%1000 ce=(fk==0)and(dJ/1000)or(((dJ-fk)/1000)+1) else
local fl=ay-y local cd if o==0 then cd=0 else if not((fl*d)<2^53)then return end local fm=fl*d local fn=(fm-(fm%o))/o
cd=(fn<d)and(d-fn)or 0 end if not((u+cd)<2^53)then return end local fo=u+cd local dK=(k<fo)and(fo-k)or 0
local fp=dK%1000 ce=(fp==0)and(dK/1000)or(((dK-fp)/1000)+1) end end local fq=ce or(-1) local dl local ck if el<z then
local fr=el+1 local ch local bM=z-fr if bM<0 then ch=nil else if bM<y then if not((u+d)<2^53)then return end
local fs=u+d local cf if y==0 then cf=0 else if not((bM*d)<2^53)then return end local ft=bM*d local fu=(ft-(ft%y))/y
cf=(fu<d)and(d-fu)or 0 end if not((fs+cf)<2^53)then return end local fv=fs+cf local dL=(k<fv)and(fv-k)or 0
local fw=dL%1000 ch=(fw==0)and(dL/1000)or(((dL-fw)/1000)+1) else local fx=bM-y local cg if o==0 then cg=0 else
if not((fx*d)<2^53)then return end local fy=fx*d local fz=(fy-(fy%o))/o cg=(fz<d)and(d-fz)or 0 end
if not((u+cg)<2^53)then return end local fA=u+cg local dM=(k<fA)and(fA-k)or 0 local fB=dM%1000
ch=(fB==0)and(dM/1000)or(((dM-fB)/1000)+1) end end local fC=ch or(-1) local dk if fr==z then dk=fC else local dj
if 0<y then if not((u+d)<2^53)then return end local fD=u+d local ci if y==0 then ci=0 else local fE=(0-(0%y))/y
ci=(fE<d)and(d-fE)or 0 end if not((fD+ci)<2^53)then return end local fF=fD+ci local dN=(k<fF)and(fF-k)or 0
local fG=dN%1000 dj=(fG==0)and(dN/1000)or(((dN-fG)/1000)+1) else local fH=0-y local cj if o==0 then cj=0 else
if not((fH*d)<2^53)then return end local fI=fH*d local fJ=(fI-(fI%o))/o cj=(fJ<d)and(d-fJ)or 0 end
if not((u+cj)<2^53)then return end local fK=u+cj local dO=(k<fK)and(fK-k)or 0 local fL=dO%1000
dj=(fL==0)and(dO/1000)or(((dO-fL)/1000)+1) end dk=dj end dl=fC ck=dk else dl=0 ck=0 end if(2^53<=fq)or(2^53<=ck)then
return end local jk=m('0 %d %d %d %d %d %d %d 0 %d 0 0',bf,gF,z,el,fq,dl,ck,aG) dm=jk else if at then return end
dm={0,bf,gF} end bd=dm end end end else return end end end else local az=aG-(aG%w) if not(M<2^53)then return end
if not((M*d)<2^53)then return end local gG=M*d if not((z*d)<2^53)then return end if not(gG<2^53)then return end
if not((z*d)<gG)then local gH=w*2 if not((az+gH)<2^53)then return end local aW=az+gH if not((aW*1000)<2^53)then return
end local gI=aW*1000 local eb=(k<gI)and(gI-k)or 0 local gJ=eb%1e6 local ec=(gJ==0)and(eb/1e6)or(((eb-gJ)/1e6)+1)
if 2^53<=ec then return end if at=='LINE'then local fM=(M<z)and(z-M)or 0 local dP=(0<fM)and fM or 0 local dp local cm
if dP<z then local fN=dP+1 local cl local cF=z-fN if not((az*1000)<2^53)then return end local aV=az*1000 if cF<0 then
cl=nil else local jl=cF<M if jl then if not((aV+d)<2^53)then return end local fO=aV+d if not((cF*d)<2^53)then return end
local fP=cF*d local jm=fP%M local fQ=(fP-jm)/M local fR=(fQ<d)and(d-fQ)or 0 if not((fO+fR)<2^53)then return end
local fS=fO+fR local dQ=(k<fS)and(fS-k)or 0 local fT=dQ%1000 cl=(fT==0)and(dQ/1000)or(((dQ-fT)/1000)+1) else
if not(aV<2^53)then return end local dR=(k<aV)and(aV-k)or 0 local fU=dR%1000 cl=(fU==0)and(dR/1000)or(((dR-fU)/1000)+1)
end end local fV=cl or(-1) local dn if fN==z then dn=fV else if not(aV<2^53)then return end if not((aV+d)<2^53)then
return end local fW=aV+d local jn=0%M local fX=(0-jn)/M local fY=(fX<d)and(d-fX)or 0 if not((fW+fY)<2^53)then return end
local fZ=fW+fY local dS=(k<fZ)and(fZ-k)or 0 local ga=dS%1000 dn=(ga==0)and(dS/1000)or(((dS-ga)/1000)+1) end dp=fV cm=dn
else dp=0 cm=0 end if 2^53<=cm then return end local jo=m('1 0 %d %d %d 0 %d %d 0 %d 0 %d',ec,z,dP,dp,cm,aG,M)
if not(aW<2^53)then return end if not((aW+5000)<2^53)then return end local gb=aW+5000
local jp=m('C:%d:%d:%d:0',w,((az-(az%w))/w),M) local dq if gb==0 then dq='1' else dq=m('%d',gb) end
local jJ=s('SET',aq,jp,'PXAT',dq) bd=jo else if at then return end if not(aW<2^53)then return end
if not((aW+5000)<2^53)then return end local gc=aW+5000 local jq=m('C:%d:%d:%d:0',w,((az-(az%w))/w),M) local dr
if gc==0 then dr='1' else dr=m('%d',gc) end local jK=s('SET',aq,jq,'PXAT',dr) bd={1,0,ec} end else local aP local gK=z-M
if not((az*1000)<2^53)then return end local bz=az*1000 if gK<0 then aP=nil else if not(bz<2^53)then return end
local ed=(k<bz)and(bz-k)or 0 local gL=ed%1000 aP=(gL==0)and(ed/1000)or(((ed-gL)/1000)+1) end local cq if aP then
if 2^53<=aP then return end local gM=aP%1000 local jw=(aP<0)and(-1)or((gM==0)and(aP/1000)or(((aP-gM)/1000)+1)) cq=jw
else cq=-1 end local gN=(cq==0)and 1 or cq local dt if at=='LINE'then local ds if not(bz<2^53)then return end
if gK<0 then ds=nil else local dT=(k<bz)and(bz-k)or 0 local gd=dT%1000 ds=(gd==0)and(dT/1000)or(((dT-gd)/1000)+1) end
local ge=ds or(-1) if 2^53<=ge then return end dt=m('0 0 %d %d %d %d 0 0 0 %d 0 0',gN,z,z,ge,aG) else if at then return
end dt={0,0,gN} end bd=dt end end else return end else return end return bd end local bV,bu=pcall(hY,KEYS,ARGV)
if bV and bu then return bu end return jc(not bV and bu)
