-- RL.COUNTER, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function iY(aP) local cJ,l local S,m,ba,jE=string.find,string.format,string.match,string.sub
local function iF(H,g,ag) local az,aL,t=H[g],H[g+1],H[g+2] if not aL then l().H('ARITY') end local a={ l='', N=0,
now_ms=0, e=0, v=0, limit=0, w=0, c=1, form=nil, delay=0, i=nil, u=nil, allowed=false, count=0, ttl=0, j='keep',
remaining=0, q=1, } g=g+2 if t=='LINE'and not H[g+1]and ag~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,g=t,g+1 elseif t then local aG=H[g+1]or''
local eE=ag==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and H[g+2]=='LINE'and not H[g+3]and#aG<16
if eE and t=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and S(aG,'^[1-9]%d*$')then
a.form,a.c,g='LINE',aG+0,g+3 elseif eE and t=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and aG~=''then
a.form,a.ID,g='LINE',aG,g+3 else g=l().as(a,H,g,ag) a.c=a.COST or 1 end end local cX=#aL<16 and S(aL,'^[1-9]%d*$')
a.limit=cX and aL+0 or l().ar('limit',aL,0) cX=#az<10 and S(az,'^[1-9]%d*$') local s=cX and az*1000 or l().az(a,az)
a.e,a.v,a.w=s,s<9e12 and s*1000 or l().X(s,1000),a.BURST or a.limit return a,g end local function iC(H,ag)
local a,g=iF(H,1,ag) if H[g]then l().ai(a,ag,H[g]) end return a end local r=redis.call local function iK(a)
local fg=r('TIME') local dc=fg[1]*1000000+fg[2] a.N,a.now_ms=dc,(dc-dc%1000)/1000 end local function jb(a,as,g,el,cY)
local q=as[g] if not q then l().H('KEYS') end a.l,g=q,g+1 if cY then a.E=q elseif S(q,':reserved',1,true)then l().au(q)
end if el then g=a.aC and g+2 or l().aw(a,as,g,q) end return g end local function al(a,as,el,cY) iK(a)
if#as~=jb(a,as,1,el,cY)-1 then l().H('KEYS') end end local function jz(j,iH) local e,f,cP,cR,F=ba(j,iH) if not e then
return nil elseif S(j,':0%d')then return nil end local ah=#cR<17 and cR+0 return#e<16 and e+0 or l().P(e),
#f<16 and f+0 or l().P(f), #cP<16 and cP+0 or l().P(cP), ah and ah<9e15 and ah or l().P(cR), F end local function ii(aa)
return aa and aa-aa==0 and aa>=1 and aa<=1e15 end local function ad(e,f) if e-e==0 and f-f==0 and e*f<(2^53)then
return e*f end return l().X(e,f) end local function hM(j) local s,U,v,w,F=jz(j,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$')
if not ii(s)or not U or not v or not w or F~=''then return nil end local ae=ad(U,s) local aE=ad(ae,1000)
if aE-aE~=0 or v-v~=0 or w-w~=0 then if l().S(aE)or l().S(v)or l().S(w)then return nil end end if ae==0 and w~=0 then
return nil end return{e=s,g=ae,current=v,previous=w} end local function eJ(a) local j=r('GET',a.l) if j then
a.i=hM(j)or l().ah(j,('COUNTER'),'FOREIGN_VALUE') end end local function bv(s,ae,v,w)
return{e=s,g=ae,current=v,previous=w} end local function bN(a,J) local ap,s=a.now_ms,a.e local ae=ap-ap%s if not J then
return bv(s,ae,0,0) elseif J.g==ae and J.e==s then return J end return l().at(a,J,ae) end local function am(e,f)
if e-e==0 and f-f==0 then return e>f and e-f or 0 end return l().av(e,f) end local function ek(a,h) local w=h.previous
return w==0 and 0 or ad(w,am(a.v,a.N-h.g*1000)) end local function P(e,f) if e-e==0 and f-f==0 and e+f<(2^53)then
return e+f end return l().Z(e,f) end local function X(e,f) if e-e==0 and f-f==0 then return e<f end return l().an(e,f)
end local function bD(c) if c-c~=0 or c>=(2^53)then l().H('INEXACT_REPLY') end return c end local function bi(e,f)
if e-e==0 and f-f==0 then local F=e%f return(e-F)/f,F end return l().V(e,f) end local function cT(e,f)
if e-e==0 and f-f==0 then local F=e%f return F==0 and e/f or(e-F)/f+1 end local bs,F=l().V(e,f)
return F==0 and bs or P(bs,1) end local function Z(O,h) local cI=h.current~=0 and 2 or h.previous~=0 and 1 or 0
return P(h.g,h.e*cI) end local function fb(a,h,cH) a.ac=h
a.remaining=am(am(a.limit,h.current),cH==0 and 0 or cT(cH,a.v)) end local function fh(a,bu,A)
return A==0 and 0 or am(a.v,(bi(ad(bu,a.v),A))) end local function G(a,i) local bu,h=a.limit-i,a.ac
local v,aE=h.current,ad(h.g,1000) if bu<0 then return nil elseif X(bu,v)then aE=P(P(aE,a.v),fh(a,bu,v)) else
aE=P(aE,fh(a,bu-v,h.previous)) end return cT(am(aE,a.N),1000) end local function aR(aa) local F=aa%1000
return aa<0 and-1 or F==0 and aa/1000 or(aa-F)/1000+1 end local function jd(a,i) local G=G(a,i==0 and 1 or i)
G=G and aR(bD(G))or-1 return G==0 and 1 or G end local function bQ(a,i) local J,aL,az=a.i,a.limit,a.v local h=bN(a,J)
local v,w=h.current,ek(a,h) local I=ad(P(v,i==0 and 1 or i),az) local aW=not X(ad(aL,az),P(I,w)) a.allowed,a.j=aW,'keep'
a.count=bD(w==0 and v or P(v,(bi(w,az)))) if aW and i>0 then h=bv(a.e,h.g,P(v,i),h.previous) a.j,a.u='charge',h
elseif J and aL>0 and(X(a.now_ms,J.g)or J.e~=a.e)then if v~=0 or h.previous~=0 then a.j,a.u='rebase',h end end
if aW then a.ttl=bD(cT(am(ad(Z(a,h),1000),a.N),1000000)) else fb(a,h,w) a.ttl=jd(a,i) end end local function hK(a)
if a.PARTIAL or a.ALWAYS then l().ad(a) else local i=a.c a.q=i bQ(a,i) end if a.SHADOW then l().ab(a) end end
local function cV(a,O,J) local h=bN(a,J) fb(a,h,ek(a,h)) end local function bT(a) local z,G=a.j,G
cV(a,z,z=='keep'and a.i or z~='delete'and a.u or nil) local aQ,cQ,av,aC,bf=a.remaining,a.w,0,0,0 if not a.allowed then
local i=a.q av=G(a,a.p or(i==0 and 1 or i))or-1 if a.I and av>=0 then av=math.max(av,a.I) end end if aQ<cQ then
aC=G(a,aQ+1)or-1 bf=aQ+1==cQ and aC or G(a,cQ)or-1 end
if av-av~=0 or aC-aC~=0 or bf-bf~=0 or av>=(2^53)or bf>=(2^53)then l().H('INEXACT_REPLY') end return aQ,av,aC,bf,0 end
local function ik(a,Y) local aQ,av,aC,bf,hN=bT(a) local iX=a.F and 1 or 0 return m(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and l().Y(a)or 1)or 0,a.count,a.ttl,a.w,aQ,av,aC,bf, hN,a.now_ms,iX,Y ) end
local function iN(a,Y) local aY=a.form if aY=='LINE'then return ik(a,Y) elseif aY then return l().aq(a,Y) end
return{a.allowed and(a.PARTIAL and l().Y(a)or 1)or 0,a.count,a.ttl} end local function hE(a) if a.r then return a.r.c
end if a.j~='charge'then return 0 elseif a.ALWAYS then return a.q elseif not a.allowed or(a.F and not a.PARTIAL)then
return 0 end return a.q end local function ez(q,ap) if not redis.REDIS_VERSION_NUM then return l().ag(q,ap) end
local g=r('PEXPIRETIME',q) return g>=0 and g or nil end local function hR(a,z,Q) local aH,cS=a.i,(nil)
if z=='keep'and(not aH or not cS)then return nil end local E=aH and ez(a.l,a.now_ms) if E and E>=(2^53)then
E=l().aj(l().ae(E)) end if z=='keep'then local I=Z(a,aH) return E and X(E,I)and P(I,5000)or nil end local I=Z(a,Q)
local aK=P(I,5000) if not aH then return aK elseif not E then return aK end if cS and z=='rebase'then
return l().ap(E,Z(a,aH),I) elseif X(E,I)then return aK elseif not X(aK,E)or(cS and X(P(Z(a,aH),5000),E))then return nil
end return aK end local function ab(c) if c-c~=0 then return l().ax(c) end return m('%.0f',c) end
local function dE(q,an) if an then r('PEXPIREAT',q,ab(an)) end end local function ew(h)
local s,v,w=h.e,h.current,h.previous local U=bi(h.g,s) local ij=U-U~=0 or v-v~=0 or w-w~=0 if ij then
U,v,w=ab(U),ab(v),ab(w) return'C:'..ab(s)..':'..U..':'..v..':'..w end return m('C:%.0f:%.0f:%.0f:%.0f',s,U,v,w) end
local function es(a,z,Q) local q=a.l if z=='delete'then r('UNLINK',q) return end local Z=hR(a,z,Q) if z=='keep'then
dE(q,Z) elseif Z then r('SET',q,ew(Q),'PXAT',Z==0 and'1'or ab(Z)) else r('SET',q,ew(Q),'KEEPTTL') end end
local function iU(as,H) local a=iC(H,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
al(a,as,a.RESERVE) if a.RESERVE then l().ao(a) else eJ(a,'write') hK(a) end local hA=iN(a,hE(a))
if a.SHADOW or a.RESERVE then l().aa(a,true) else es(a,a.j,a.u) end return hA end function l() if not cJ then local D={}
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
D.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module' local function bY(e,f)
return X(f,e)and f or e end local cK={ __sub=function() return 1 end, }
local cL=setmetatable({(2^24)-1,(2^24)-1,2^15-1},cK) local function eO(c) return bY(c,cL) end local function iL(a,J,ae)
local s=a.e if X(a.now_ms,J.g)then return bv(s,ae,bY(P(J.current,J.previous),a.limit),0) end local by=bv(s,ae,0,0)
local function al(A,ey) if ey>ae then by.current=eO(P(by.current,A)) elseif ey+s>ae then
by.previous=eO(P(by.previous,A)) end end al(J.current,J.g+J.e) al(J.previous,J.g) return by end local function ar(j)
error({err=j},0) end local function R(aB) ar(D[aB]) end local function hT(j,N,iB)
local jA={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local em=jA[ba(j,'^(%u):')] if not em or em==N then
R(iB) end ar('ERR the key holds a state of '..em..': use another key for each algorithm') end local function hQ(aP)
if type(aP)=='table'then return aP elseif S(aP,'^%u+ ')then return redis.error_reply(aP) end error(aP,0) end
local function aX(c) if c-c~=0 then return c end local n,A={},0 while c>0 do local ao=c%(2^24) A=A+1 n[A]=ao
c=(c-ao)/(2^24) end return n end local function bE(n) local A=#n while A>0 and n[A]==0 do n[A]=nil A=A-1 end
if A>3 or(A==3 and n[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(n,cK) end
return(n[1]or 0)+(n[2]or 0)*(2^24)+(n[3]or 0)*(2^24)*(2^24) end local function eI(e,f) local eq,hC=e-e==0,f-f==0
if eq or hC then return eq elseif#e~=#f then return#e<#f end for c=#e,1,-1 do if e[c]~=f[c]then return e[c]<f[c] end end
return false end local function hy(e,f) e,f=aX(e),aX(f) local aw,aI={},0 for c=1,math.max(#e,#f)+1 do
local ao=(e[c]or 0)+(f[c]or 0)+aI aI=ao>=(2^24)and 1 or 0 aw[c]=ao-aI*(2^24) end return bE(aw) end
local function iZ(e,f) if not eI(f,e)then return 0 end f=aX(f) local ev,cO={},0 for c=1,#e do
local ao=e[c]-(f[c]or 0)-cO cO=ao<0 and 1 or 0 ev[c]=ao+cO*(2^24) end return bE(ev) end local function ir(e,f)
e,f=aX(e),aX(f) local bH={} for c=1,#e+#f do bH[c]=0 end for c=1,#e do local aI=0 for cZ=1,#f do
local ao=bH[c+cZ-1]+e[c]*f[cZ]+aI aI=math.floor(ao/(2^24)) bH[c+cZ-1]=ao-aI*(2^24) end bH[c+#f]=aI end return bE(bH) end
local function er(c) if c-c==0 then return c end local aw=0 for ie=#c,1,-1 do aw=aw*(2^24)+c[ie] end return aw end
local function hP(e,f) local bs=0 while not X(e,f)do local aO=math.max(1,math.floor(er(e)/er(f)*(1-2^-45)))
aO=bE(aX(aO)) bs=P(bs,aO) e=am(e,ad(aO,f)) end return bs,e end local function jc(c) local dG='' while c-c~=0 do local F
c,F=bi(c,10000000) dG=m('%07.0f',F)..dG end return m('%.0f',c)..dG end local function bh(e,f) for g=1,math.min(#e,#f)do
local ht,hu=e:byte(g),f:byte(g) if ht~=hu then return ht<hu end end return#e<#f end local function bU(n)
if#n<=15 or(#n==16 and bh(n,'9007199254740992'))then return n+0 end local cW=#n%7 local c=cW>0 and n:sub(1,cW)+0 or 0
for g=cW+1,#n,7 do c=P(ad(c,10000000),n:sub(g,g+6)+0) end return c end local function iD(n) if#n>1 and n:byte()==48 then
return nil elseif#n<20 or(#n==20 and not bh('18446744073709551615',n))then return bU(n) end end local function eD(c)
return X(cL,c) end local function hS(q,ap) local eH=r('PTTL',q) return eH>=0 and ap+eH or nil end
local function iq(E,it,I) if E-E~=0 then R('INEXACT_STATE') end local bG=am(E,am(it,I)) bG=X(bG,I)and I or bG
return bG~=E and bG or nil end local function bR(j,ak) if j~='0'and not S(j,'^[1-9]%d*$')then return nil end
return(#j<#ak or(#j==#ak and not bh(ak,j)))and j or nil end local function eT(aB,j,eG)
local n=j and bR(j,'9223372036854775807') local c=n and bU(n) if not c or c==0 and eG>0 then
ar(m('ERR invalid %s: expected an integer from %d to 9223372036854775807',aB,eG)) elseif c-c~=0 then
ar(m('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aB)) end return c end local eo={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aZ(bm,N)
return not S(N,' ',1,true)and S(bm,' '..N..' ',1,true)~=nil end local function ff(a,t)
return not aZ(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',t)or aZ((' COST PARTIAL ALWAYS RESERVE RESERVATION '),t)
end local function ig(N,t) local K,ah=0,0 local fc,io=math.min(#N,#t),math.max(#N,#t)
while K<fc and N:byte(K+1)==t:byte(K+1)do K=K+1 end while ah<fc-K and N:byte(-1-ah)==t:byte(-1-ah)do ah=ah+1 end
return K+ah>=2 and io-K-ah<=2 end local function hU(a,ag,N) local bb={} for O,ai in ipairs(eo)do
if aZ(ag,ai[1])and ff(a,ai[1])then bb[#bb+1]=ai[2] end end for O,aY in ipairs({'FULL','LINE','HEADERS'})do bb[#bb+1]=aY
end for O,t in ipairs(bb)do if ig(N:upper(),ba(t,'^%u+'))then ar('ERR syntax error: no such option, but there is '..t)
end end local ah=table.remove(bb) local jf=table.concat(bb,', ')
ar('ERR syntax error: after limit come '..jf..' or '..ah..', each at most once') end local function iP(ai,a,ag)
local t,jB=ai[1],a.aA if not aZ(ag,t)then ar(m('ERR invalid %s: only %s it',t,ai[3])) elseif not ff(a,t)then
ar(m('ERR invalid %s: %s takes none',t,('COUNTER'))) elseif a[t]~=nil then
ar(m('ERR syntax error: %s comes at most once',ai[2])) end end
local ep={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function eV(j) local U,fi=ba(j,'^(%d+)(%l*)$')
local aa=U and ep[fi]and bR(U,'18446744073709551615')and U*ep[fi] return aa and aa>=1 and aa<=1e15 and aa or nil end
local function eU(j,ak) return j and#j>=1 and#j<=ak and j end local hx=setmetatable({(2^24)-1,(2^24)-1,2^16-1},cK)
local function iG(t,j,cy) if t=='RESERVE'then local aj=cy and eV(cy)
return eU(j,128)and aj and{id=j,ttl=aj}or R('RESERVE') elseif t=='RESERVATION'then return eU(j,128)or R('RESERVATION')
end if t=='AS'then return j and#j>=1 and#j<=64 and not S(j,'[^%w._-]')and j or R('AS') elseif t=='AT'then
local n=j and bR(j,'9223372036854775807') return n and bY(bU(n),(bi(hx,1000)))or R('AT') end
return eT(t,j,t=='BURST'and 1 or 0) end local function iO(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
R(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
R(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local hv={FULL=true,LINE=true,HEADERS=true}
local function iu(aY,eM) if aY then R(aY==eM and'FORM_TWICE'or'TWO_FORMS') end return eM end local function iE(a,H,g,ag)
while H[g]do local N,ai=H[g]:upper(),nil for O,eF in ipairs(eo)do ai=eF[1]==N and eF or ai end if ai then iP(ai,a,ag)
if ai[2]==N then a[N]=true g=g+1 else a[N]=iG(N,H[g+1],H[g+2]) g=g+(N=='RESERVE'and 3 or 2) end iO(a)
elseif hv[N]and aZ(ag,'form')then a.form=iu(a.form,N) g=g+1 else return g end end return g end
local hw={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function jy(a,j) local s=eV(j)
if not s then a.ay=j:upper() s=hw[a.ay] if not s then
R(aZ((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aZ((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
ar(m('ERR invalid window: %s takes no windows of the calendar',('COUNTER'))) end end return s end local function ic(q)
return q:sub(-9)==':reserved'or q:sub(-14)==':reserved:ends' end local function iQ(q) if ic(q)then R('RESERVED_KEY') end
end local function ja(a,as,g,q) local bV,bk=as[g]or'',as[g+1] local aB=((nil)and(nil)(a)or'')..':reserved'
if(bV~=q..aB and bV~='{'..q..'}'..aB)or bk~=bV..':ends'then R('KEYS') end a.am,a.o=bV,bk return g+2 end
local function et(a) local iv=a.PARTIAL and a.q<a.c a.F=a.SHADOW and not a.r and(iv or not a.allowed)
if not a.allowed and(a.F or a.r)then a.allowed=true if not(nil)then local O,O,O,dC=bT(a) a.ttl=aR(dC) end end end
local function eZ(a) cV(a,'keep',a.i) return a.remaining end local function eX(h,an) if not an or not X(an,h.g)then
return'current' end return an+h.e>=h.g and'previous'or nil end local function eR(a,an,i) local h=bN(a,a.i)
local al=eX(h,an) if i==0 or not al then return'keep' end local Y=bv(h.e,h.g,h.current,h.previous) Y[al]=P(Y[al],i)
local cH=P(ad(Y.current,a.v),ek(a,Y)) if eD(Y[al])or X(ad(cL,a.v),cH)then R('OVERFLOW') end return'charge',Y end
local function cz(z,Q,aH) if z=='keep'then return aH end return z~='delete'and Q or nil end local function eN(i)
return i==0 and 1 or i end local function hI(a) local i=a.c bQ(a,0) local z,Q=eR(a,nil,i) if i>0 then a.j,a.u=z,Q end
local fd=cz(a.j,a.u,a.i) cV(a,a.j,fd) a.allowed=a.w>0 and G(a,0)==0 a.p=a.w>0 and i or eN(i) if(nil)then
a.count,a.ttl=(nil)(fd,a.now_ms) elseif a.allowed then a.ttl=aR(bD(G(a,a.w))) else local G=G(a,a.p)
a.ttl=G and math.max(1,aR(bD(G)))or-1 end end local function hJ(a) local i=a.c if a.PARTIAL then i=math.min(i,eZ(a)) end
a.q=i if a.ALWAYS then hI(a) else bQ(a,i) end end local function bz(a) return a.now_ms-a.now_ms%a.e+2*a.e end
local function bn(j) local n=bR(j,'9223372036854775807')or R('FOREIGN_RESERVATION') local c=bU(n)
return c-c==0 and c or R('INEXACT_STATE') end local function bA(j)
local i,hD,bC,bz,aj=ba(j,'^(%d*):(%d+):(%d+):(%d+):(%d+)$') if not i or#aj>16 or tonumber(aj)>1e15 or aj=='0'then
R('FOREIGN_RESERVATION') end return{ c=i~=''and bn(i)or nil, k=bn(hD), a=bn(bC), x=bn(bz), ttl=bn(aj), } end
local function iV(q,cx) cx=m('%.0f',cx) local fa=r('ZRANGE',q,cx,cx,'WITHSCORES')[2] return fa and tonumber(fa) end
local jC,bj,cB,jD=4000,1000,1000,2*500 local function dD(b,T) b.n,b.D={},{} for O,B in ipairs(T)do if B.f.c then
b.n[#b.n+1]={id=B.id,A=B.f} elseif B.id~=b.id then b.D[#b.D+1]=B.id end end bj=math.max(0,bj-#b.n-#b.D)
table.sort(b.n,function(e,f) if e.A.k~=f.A.k then return e.A.k<f.A.k end return bh(e.id,f.id) end) b.aB=true end
local function iT(b) local K=r('ZRANGE',b.o,'0',m('%.0f',bj),'WITHSCORES') local bl,bk,T,dg={},{},{},false b.z=nil
for c=1,#K,2 do local bC=tonumber(K[c+1]) if bC>b.now_ms or#bl==bj then b.z=bC break end bl[#bl+1],bk[#bk+1]=K[c],bC end
local aS=#bl>0 and r('HMGET',b.l,unpack(bl))or{} for c,W in ipairs(bl)do local V=aS[c]and bA(aS[c])
if not V or V.a~=bk[c]then return false end T[c]={id=W,f=V} dg=dg or W==b.id end
if b.b and b.b.a<=b.now_ms and not dg then T[#T+1]={id=b.id,f=b.b} end dD(b,T) local df=0 for O,p in ipairs(b.n)do
df=p.id==b.id and 1 or df end local iA=#b.n+#b.D-df b.p=b.y-(b.t and 1 or 0)==iA and 0 or nil return true end
local function eL(V) return V.c and math.max(V.a+V.ttl,V.x)or V.a end local function iS(b) local p,bw,eS={},{},nil
local cN=r('HGETALL',b.l) for c=1,#cN,2 do local W=cN[c] if W~=''then local B={id=W,f=bA(cN[c+1])}
if B.f.a<=b.now_ms then p[#p+1]=B elseif W~=b.id then bw[#bw+1]=B end end end if#p>bj then table.sort(p,function(e,f)
if e.f.a~=f.f.a then return e.f.a<f.f.a end return bh(e.id,f.id) end) for c=#p,bj+1,-1 do local B=table.remove(p,c)
if B.id==b.id then eS=B else bw[#bw+1]=B end end p[#p+1]=eS end b.z,b.p,b.K=nil,0,bw for O,B in ipairs(bw)do
b.z=math.min(b.z or B.f.a,B.f.a) b.p=math.max(b.p,eL(B.f)) end dD(b,p) end local function hz(b,ak)
local cA=b.B==1 and r('ZSCORE',b.o,'') b.al=cA and true or false b.z=nil if ak>0 then
local T=r('HSCAN',b.l,cA and ab(-1-tonumber(cA))or'0','COUNT',ab(ak)) b.J,b.M,b.K=tonumber(T[1]),not cA,{}
for c=1,#T[2],2 do local W=T[2][c] if W~=''and W~=b.id then b.K[#b.K+1]={id=W,f=bA(T[2][c+1])} elseif W~=''then
bA(T[2][c+1]) end end table.sort(b.K,function(e,f) return bh(e.id,f.id) end) b.G=b.J==0 end
if b.b and b.b.a<=b.now_ms then dD(b,{{id=b.id,f=b.b}}) b.p=b.y==1 and 0 or nil end end local function im(a,W)
local q=a.am local T=r('HMGET',q,W,'') local b={l=q,o=a.o,id=W,now_ms=a.now_ms,n={},D={}} b.t=T[1]and bA(T[1])or nil
b.b=b.t b.B=T[2]and bn(T[2])or nil b.y=r('HLEN',q)-(b.B and 1 or 0) b.af=ez(q,b.now_ms) b.U=r('ZCARD',b.o) b.z=iV(b.o,0)
local iy=b.y==b.U and(b.B==0 or b.y==0 and not b.B) local hW=math.min(b.z or math.huge,b.b and b.b.a or math.huge)
b.G=iy and(hW>b.now_ms or iT(b)) if not b.G then local aJ=b.y+(b.B and 1 or 0)
local ak=aJ<=cB and aJ or math.min(cB,500) cB=cB-ak if ak==aJ then b.G,b.M=true,true iS(b) else hz(b,ak) end end
return b end local function iM(a,an,i) local h=bN(a,a.i) local al=eX(h,an) local hX=al=='current'and i or 0
local eC=al=='previous'and i or 0 if not an then eC=am(i,h.current) end local v,w=am(h.current,hX),am(h.previous,eC)
if not X(v,h.current)and not X(w,h.previous)then return'keep' elseif v==0 and w==0 then return'delete' end
return'refund',bv(h.e,h.g,v,w) end local function iW(a,bP,cM) local dB=bP.c or 0 if bP.x<=a.now_ms then return'keep'
elseif cM<dB then return iM(a,bP.k,dB-cM) end return eR(a,bP.k,cM-dB) end local function db(p,ap) local aV=p.A
if ap>=aV.a+aV.ttl then return nil end return{ k=aV.k, a=aV.a+aV.ttl, x=(p.ak or aV.c==0)and aV.x or 0, ttl=aV.ttl, }
end local function ia(a) local b=a.Q for O,p in ipairs(b.n)do if p.A.c>0 and b.now_ms<p.A.x then local z,Q=iW(a,p.A,0)
if z~='keep'then if not a.W then a.W,a.t=true,a.i end p.ak=true a.i=cz(z,Q,a.i) end end end
if b.b and b.b.a<=b.now_ms then b.b=nil for O,p in ipairs(b.n)do if p.id==b.id then b.b=db(p,b.now_ms) end end end end
local function iw(b) return b.b and b.b.c and b.b or nil end local function eQ(b)
local A,bB,I=b.y-(b.t and 1 or 0)-#b.D,b.z,b.p or 0 for O,p in ipairs(b.n)do local aM=p.id~=b.id and db(p,b.now_ms)
if aM then bB=math.min(bB or aM.a,aM.a) I=math.max(I,aM.a) elseif p.id~=b.id then A=A-1 end end return A,bB,I end
local function hZ(b) local A,bB=eQ(b) if b.b or A<100000 then return nil end return math.max(1,(bB or 0)-b.now_ms) end
local function hL(a) local i,b=a.c,a.Q ia(a) a.r,a.I=iw(b),hZ(b) if a.r then i=0 elseif a.PARTIAL then
i=math.min(i,eZ(a)) end local eu=(nil)or bQ eu(a,i) if a.I and a.allowed then eu(a,0) a.allowed,a.p=false,eN(i)
if not(nil)then a.ttl=aR(a.I) end end a.q=i et(a) end local function il(a) a.Q=im(a,a.RESERVE.id) eJ(a,'write') hL(a)
end local function eP(b,i,aj,bz) local ap=b.now_ms b.b={c=i,k=ap,a=ap+aj,x=bz,ttl=aj} end local function iJ(b,bZ,aj)
if bZ.a<b.now_ms+aj then eP(b,bZ.c,aj,bZ.x) b.b.k=bZ.k end end local function ix(a) local eB=not a.F if a.PARTIAL then
eB=a.q>0 and not a.I end return not a.r and a.allowed and eB end local function hG(a,z,Q) if a.W then Q=cz(z,Q,a.i)
a.i=a.t if not Q then z=a.t and'delete'or'keep' elseif z~='charge'then z='refund' end end es(a,z,Q) end
local function ex(V) local H={V.c and ab(V.c)or''} for c,aG in ipairs({V.k,V.a,V.x,V.ttl})do H[c+1]=ab(aG) end
return table.concat(H,':') end local function bO(hB,da) local aw=0 for K=1,#da,1000 do local aO={unpack(hB)}
for c=K,math.min(K+999,#da)do aO[#aO+1]=da[c] end aw=aw+r(unpack(aO)) end return aw end local function hF(b)
local A,O,I=eQ(b) if A==0 and not b.b then if b.y>0 or b.B then r('UNLINK',b.l) end if b.U>0 then r('UNLINK',b.o) end
return end local aJ,bF,au={},{},{} local function bg(bm,K,cy) bm[#bm+1]=K bm[#bm+1]=cy end for O,W in ipairs(b.D)do
au[#au+1]=W end for O,B in ipairs(b.K or{})do bg(bF,ab(B.f.a),B.id) end for O,p in ipairs(b.n)do
local aM=p.id~=b.id and db(p,b.now_ms) if aM then bg(aJ,p.id,ex(aM)) bg(bF,ab(aM.a),p.id) elseif p.id~=b.id then
au[#au+1]=p.id end end if b.b and b.b~=b.t then bg(aJ,b.id,ex(b.b)) elseif not b.b and b.t then au[#au+1]=b.id end
if b.b then I=math.max(I,eL(b.b)) local ib=not b.t or b.b.a~=b.t.a if b.M or b.al or b.G and ib then
bg(bF,ab(b.b.a),b.id) end end local eK=b.G and 0 or 1 if b.B~=eK then bg(aJ,'',ab(eK)) end bO({'HSET',b.l},aJ)
bO({'HDEL',b.l},au) if b.J and b.J>0 then bg(bF,'-'..ab(b.J+1),'') end if b.M and b.U>0 then r('UNLINK',b.o) end
bO({'ZADD',b.o},bF) if b.J==0 then au[#au+1]='' end bO({'ZREM',b.o},au) local E,aK,Z=b.af,I+5000,nil
local je=not E and not b.p and b.y>0 if not je and(not E or E<I or(b.p and E>aK))then Z=aK end dE(b.l,Z)
if Z or b.M and E then dE(b.o,Z or E) end end local function hH(a,aW) if not aW and a.j=='charge'then a.j,a.u='keep',nil
end local b=a.Q if b and aW and a.r then iJ(b,a.r,a.RESERVE.ttl) elseif b and aW and ix(a)then local Q=cz(a.j,a.u,a.i)
eP(b,a.q,a.RESERVE.ttl,bz(a,Q)) end hG(a,a.j,a.u) if b then hF(b) end end local function eW(a)
return a.r and a.r.c or a.F and a.c or a.q end local function eA(a) if not a.allowed then return 0 end
return a.PARTIAL and eW(a)or 1 end local function hY(a,Y) local aQ,iR,aC,dC,hO=bT(a) return{ 'allowed',eA(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.w, 'remaining',aQ, 'retry_after_ms',iR, 'next_ms',aC, 'reset_ms',dC,
'delay_ms',hO, 'now_ms',a.now_ms, 'shadow',a.F and 1 or 0, 'charged',Y, } end local function is(bI) local fe={}
for O,a in ipairs(bI)do local K,U=a.AS or('COUNTER'):lower(),2 a.E=K while fe[a.E]do a.E=m('%s-%d',K,U) U=U+1 end
fe[a.E]=true end end local function bX(c) return m('%.0f',bY(c,999999999999999)) end local function iI(a)
local s=(nil)and(nil)(a)or a.e local cU,F=1000,s%1000 while F>0 do cU,F=F,cU%F end local cI=1000/cU
local az=bi(ad(s,cI),1000) return m('"%s";q=%s;w=%s',a.E,bX(ad(a.limit,cI)),bX(az)) end local function ih(B,dd)
if B.allowed~=dd.allowed then return not B.allowed end local G,de=B.retry_after_ms,dd.retry_after_ms if G~=de then
return G<0 or(de>=0 and G>de) end return B.remaining<dd.remaining end local function id(bI) local dF,eY=bI[1],{} is(bI)
for c,a in ipairs(bI)do eY[c]=iI(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bT(a) if ih(a,dF)then dF=a end end
local a=dF local aS={ 'X-RateLimit-Limit', m('%.0f',a.w), 'X-RateLimit-Remaining', m('%.0f',a.remaining), }
local function bW(aB,aG) aS[#aS+1]=aB aS[#aS+1]=aG end if a.reset_ms>=0 then
bW('X-RateLimit-Reset',m('%.0f',aR(a.now_ms+a.reset_ms))) end bW('RateLimit-Policy',table.concat(eY,', '))
local ip=a.next_ms>=0 and';t='..bX(aR(a.next_ms))or'' bW('RateLimit',m('"%s";r=%s%s',a.E,bX(a.remaining),ip))
if not a.allowed and a.retry_after_ms>=0 then bW('Retry-After',m('%.0f',aR(a.retry_after_ms))) end return aS end
local function iz(a,Y) if a.form=='FULL'then return hY(a,Y) end return{eA(a),a.count,a.ttl,id({a})} end
cJ={Z=hy,aa=hH,ab=et,ad=hJ,ae=aX,V=hP,error_reply=hQ,ag=hS,H=R,ah=hT,ai=hU,aj=bE,S=eD,an=eI,ao=il,ap=iq,X=ir,aq=iz,ar=eT,P=iD,as=iE,Y=eW,at=iL,au=iQ,av=iZ,aw=ja,ax=jc,az=jy}
end return cJ end if aP then return l().error_reply(aP) end local bS,bt=pcall(iU,KEYS,ARGV)
return bS and bt or l().error_reply(bt) end local function hV(en,aA)
local S,ba,m,r=string.find,string.match,string.format,redis.call local bc local dR=aA[1] local cD=aA[2] local cE=aA[3]
if not cD then return end local bK=aA[4] local dv local L local at if(cE=='LINE')and(not bK)then dv=4 L=1 at='LINE' else
local ds local dt local du if cE then if bK then
if not(((((aA[5]=='LINE')and(not aA[6]))and((#bK)<16))and(cE=='COST'))and S(bK,'^[1-9]%d*$'))then return end ds=6
dt=bK+0 du='LINE' else if(((aA[5]=='LINE')and(not aA[6]))and(cE=='COST'))and S('','^[1-9]%d*$')then return end return
end else ds=3 dt=1 du=nil end dv=ds L=dt at=du end if not(((#cD)<16)and S(cD,'^[1-9]%d*$'))then return end local y=cD+0
if not(((#dR)<10)and S(dR,'^[1-9]%d*$'))then return end local C=dR*1000 if not(C<9e12)then return end local d=C*1000
local jn=aA[dv] if jn then return end local gd=r('TIME') local k=(gd[1]*1e06)+gd[2] local aF=(k-(k%1000))/1000
local aq=en[1] if not aq then return end if S(aq,':reserved',1,true)then return end if not((#en)==1)then return end
local dS=r('GET',aq) if dS then local dT,ge,gf,gg,jo=ba(dS,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not dT then return else
if S(dS,':0%d')then return else local o=((#gg)<17)and(gg+0) if not((#dT)<16)then return end if not((#ge)<16)then return
end if not((#gf)<16)then return end if o then if not(o<9e15)then return end local bL=dT+0 local gh=ge+0 local x=gf+0
if(not((1<=bL)and(bL<=1e15)))or(not(jo==''))then return else if not((gh*bL)<2^53)then return end local ac=gh*bL
if not((ac*1000)<2^53)then return end local u=ac*1000 if(ac==0)and(not(o==0))then return else
if not((ac==(aF-(aF%C)))and(bL==C))then return end local bd if o==0 then bd=0 else local gi=k-u
local gj=(gi<d)and(d-gi)or 0 if not((o*gj)<2^53)then return end bd=o*gj end if not((x+L)<2^53)then return end
local M=x+L if not((M*d)<2^53)then return end local gk=M*d if not((y*d)<2^53)then return end if not((gk+bd)<2^53)then
return end local jp=gk+bd local be if bd==0 then be=x else local jq=bd%d local gl=(bd-jq)/d if not((x+gl)<2^53)then
return end be=x+gl end if 2^53<=be then return end if not((y*d)<jp)then if not(M<2^53)then return end
local gm=C*((not(M==0))and 2 or((not(o==0))and 1 or 0)) if not((ac+gm)<2^53)then return end local af=ac+gm
if not((af*1000)<2^53)then return end local gn=af*1000 local dU=(k<gn)and(gn-k)or 0 local go=dU%1e06
local dV=(go==0)and(dU/1e06)or(((dU-go)/1e06)+1) if 2^53<=dV then return end if at=='LINE'then local bo if o==0 then
bo=0 else local gK=k-u local gL=(gK<d)and(d-gK)or 0 if not((o*gL)<2^53)then return end bo=o*gL end
local gM=(M<y)and(y-M)or 0 local co if bo==0 then co=0 else local gN=bo%d local jt=(gN==0)and(bo/d)or(((bo-gN)/d)+1)
co=jt end local eb=(co<gM)and(gM-co)or 0 local dy local cu if eb<y then local gO=eb+1 local cr local bM=y-gO
if not(u<2^53)then return end if bM<0 then cr=nil else if bM<M then if not((u+d)<2^53)then return end local gP=u+d
local cp if M==0 then cp=0 else if not((bM*d)<2^53)then return end local gQ=bM*d local gR=(gQ-(gQ%M))/M
cp=(gR<d)and(d-gR)or 0 end if not((gP+cp)<2^53)then return end local gS=gP+cp local ec=(k<gS)and(gS-k)or 0
local gT=ec%1000 cr=(gT==0)and(ec/1000)or(((ec-gT)/1000)+1) else local gU=bM-M local cq if o==0 then cq=0 else
if not((gU*d)<2^53)then return end local gV=gU*d local gW=(gV-(gV%o))/o cq=(gW<d)and(d-gW)or 0 end
if not((u+cq)<2^53)then return end local gX=u+cq local ed=(k<gX)and(gX-k)or 0 local gY=ed%1000
cr=(gY==0)and(ed/1000)or(((ed-gY)/1000)+1) end end local gZ=cr or(-1) local dx if gO==y then dx=gZ else local dw
if 0<M then if not((u+d)<2^53)then return end local ha=u+d local cs if M==0 then cs=0 else local hb=(0-(0%M))/M
cs=(hb<d)and(d-hb)or 0 end if not((ha+cs)<2^53)then return end local hc=ha+cs local ee=(k<hc)and(hc-k)or 0
local hd=ee%1000 dw=(hd==0)and(ee/1000)or(((ee-hd)/1000)+1) else local he=0-M local ct if o==0 then ct=0 else
if not((he*d)<2^53)then return end local hf=he*d local hg=(hf-(hf%o))/o ct=(hg<d)and(d-hg)or 0 end
if not((u+ct)<2^53)then return end local hh=u+ct local ef=(k<hh)and(hh-k)or 0 local hi=ef%1000
dw=(hi==0)and(ef/1000)or(((ef-hi)/1000)+1) end dx=dw end dy=gZ cu=dx else dy=0 cu=0 end if 2^53<=cu then return end
local ju=m('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',be,dV,y,eb,dy,cu,aF,L) local bp
if not redis.REDIS_VERSION_NUM then return end local hj=r('PEXPIRETIME',aq) local cF=(0<=hj)and hj or nil if cF then
if 2^53<=cF then return end if not(af<2^53)then return end if not((af+5000)<2^53)then return end local eg=af+5000
if cF<af then bp=eg else if not(eg<cF)then bp=nil else bp=eg end end else if not(af<2^53)then return end
if not((af+5000)<2^53)then return end return end if bp then local dz if bp==0 then dz='1' else local jv=m('%.0f',bp)
dz=jv end local jH=r('SET',aq,m('C:%.0f:%.0f:%.0f:%.0f',C,((ac-(ac%C))/C),M,o),'PXAT',dz) else
local jI=r('SET',aq,m('C:%.0f:%.0f:%.0f:%.0f',C,((ac-(ac%C))/C),M,o),'KEEPTTL') end bc=ju else if at then return end
local bq if not redis.REDIS_VERSION_NUM then return end local hk=r('PEXPIRETIME',aq) local cG=(0<=hk)and hk or nil
if cG then if 2^53<=cG then return end if not(af<2^53)then return end if not((af+5000)<2^53)then return end
local eh=af+5000 if cG<af then bq=eh else if not(eh<cG)then bq=nil else bq=eh end end else if not(af<2^53)then return
end if not((af+5000)<2^53)then return end return end if bq then local dA if bq==0 then dA='1' else local jw=m('%.0f',bq)
dA=jw end local jJ=r('SET',aq,m('C:%.0f:%.0f:%.0f:%.0f',C,((ac-(ac%C))/C),M,o),'PXAT',dA) else
local jK=r('SET',aq,m('C:%.0f:%.0f:%.0f:%.0f',C,((ac-(ac%C))/C),M,o),'KEEPTTL') end bc={1,be,dV} end else if aF<ac then
return end local gp=(x<y)and(y-x)or 0 local aD local ax=y-L if not(u<2^53)then return end if ax<0 then aD=nil else
if ax<x then if not((u+d)<2^53)then return end local gq=u+d local ck if x==0 then ck=0 else if not((ax*d)<2^53)then
return end local gr=ax*d local gs=(gr-(gr%x))/x ck=(gs<d)and(d-gs)or 0 end if not((gq+ck)<2^53)then return end
local gt=gq+ck local dW=(k<gt)and(gt-k)or 0 local gu=dW%1000 aD=(gu==0)and(dW/1000)or(((dW-gu)/1000)+1) else
local gv=ax-x local cl if o==0 then cl=0 else if not((gv*d)<2^53)then return end local gw=gv*d local gx=(gw-(gw%o))/o
cl=(gx<d)and(d-gx)or 0 end if not((u+cl)<2^53)then return end local gy=u+cl local dX=(k<gy)and(gy-k)or 0
local gz=dX%1000 aD=(gz==0)and(dX/1000)or(((dX-gz)/1000)+1) end end local cm if aD then if 2^53<=aD then return end
local gA=aD%1000 local jr=(aD<0)and(-1)or((gA==0)and(aD/1000)or(((aD-gA)/1000)+1)) cm=jr else cm=-1 end
local gB=(cm==0)and 1 or cm local dk if at=='LINE'then local br if o==0 then br=0 else local hl=k-u
local hm=(hl<d)and(d-hl)or 0 if not((o*hm)<2^53)then return end br=o*hm end local cv if br==0 then cv=0 else
local hn=br%d local jx=(hn==0)and(br/d)or(((br-hn)/d)+1) cv=jx end local ei=(cv<gp)and(gp-cv)or 0 local cb if ax<0 then
cb=nil else if ax<x then if not((u+d)<2^53)then return end local ho=u+d local cw if x==0 then cw=0 else
if not((ax*d)<2^53)then return end local hp=ax*d local hq=(hp-(hp%x))/x cw=(hq<d)and(d-hq)or 0 end
if not((ho+cw)<2^53)then return end local hr=ho+cw local ej=(k<hr)and(hr-k)or 0 local hs=ej%1000
cb=(hs==0)and(ej/1000)or(((ej-hs)/1000)+1) else local fj=ax-x local ca if o==0 then ca=0 else if not((fj*d)<2^53)then
return end local fk=fj*d local fl=(fk-(fk%o))/o ca=(fl<d)and(d-fl)or 0 end if not((u+ca)<2^53)then return end
local fm=u+ca local dH=(k<fm)and(fm-k)or 0 local fn=dH%1000 cb=(fn==0)and(dH/1000)or(((dH-fn)/1000)+1) end end
local fo=cb or(-1) local dj local ch if ei<y then local fp=ei+1 local ce local bJ=y-fp if bJ<0 then ce=nil else
if bJ<x then if not((u+d)<2^53)then return end local fq=u+d local cc if x==0 then cc=0 else if not((bJ*d)<2^53)then
return end local fr=bJ*d local fs=(fr-(fr%x))/x cc=(fs<d)and(d-fs)or 0 end if not((fq+cc)<2^53)then return end
local ft=fq+cc local dI=(k<ft)and(ft-k)or 0 local fu=dI%1000 ce=(fu==0)and(dI/1000)or(((dI-fu)/1000)+1) else
local fv=bJ-x local cd if o==0 then cd=0 else if not((fv*d)<2^53)then return end local fw=fv*d local fx=(fw-(fw%o))/o
cd=(fx<d)and(d-fx)or 0 end if not((u+cd)<2^53)then return end local fy=u+cd local dJ=(k<fy)and(fy-k)or 0
local fz=dJ%1000 ce=(fz==0)and(dJ/1000)or(((dJ-fz)/1000)+1) end end local fA=ce or(-1) local di if fp==y then di=fA else
local dh if 0<x then if not((u+d)<2^53)then return end local fB=u+d local cf if x==0 then cf=0 else local fC=(0-(0%x))/x
cf=(fC<d)and(d-fC)or 0 end if not((fB+cf)<2^53)then return end local fD=fB+cf local dK=(k<fD)and(fD-k)or 0
local fE=dK%1000 dh=(fE==0)and(dK/1000)or(((dK-fE)/1000)+1) else local fF=0-x local cg if o==0 then cg=0 else
if not((fF*d)<2^53)then return end local fG=fF*d local fH=(fG-(fG%o))/o cg=(fH<d)and(d-fH)or 0 end
if not((u+cg)<2^53)then return end local fI=u+cg local dL=(k<fI)and(fI-k)or 0 local fJ=dL%1000
dh=(fJ==0)and(dL/1000)or(((dL-fJ)/1000)+1) end di=dh end dj=fA ch=di else dj=0 ch=0 end if(2^53<=fo)or(2^53<=ch)then
return end local jg=m('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',be,gB,y,ei,fo,dj,ch,aF) dk=jg else if at then
return end dk={0,be,gB} end bc=dk end end end else return end end end else local ay=aF-(aF%C) if not(L<2^53)then return
end if not((L*d)<2^53)then return end local gC=L*d if not((y*d)<2^53)then return end if not(gC<2^53)then return end
if not((y*d)<gC)then local gD=C*2 if not((ay+gD)<2^53)then return end local aU=ay+gD if not((aU*1000)<2^53)then return
end local gE=aU*1000 local dY=(k<gE)and(gE-k)or 0 local gF=dY%1e06 local dZ=(gF==0)and(dY/1e06)or(((dY-gF)/1e06)+1)
if 2^53<=dZ then return end if at=='LINE'then local fK=(L<y)and(y-L)or 0 local dM=(0<fK)and fK or 0 local dm local cj
if dM<y then local fL=dM+1 local ci local cC=y-fL if not((ay*1000)<2^53)then return end local aT=ay*1000 if cC<0 then
ci=nil else local jh=cC<L if jh then if not((aT+d)<2^53)then return end local fM=aT+d if not((cC*d)<2^53)then return end
local fN=cC*d local ji=fN%L local fO=(fN-ji)/L local fP=(fO<d)and(d-fO)or 0 if not((fM+fP)<2^53)then return end
local fQ=fM+fP local dN=(k<fQ)and(fQ-k)or 0 local fR=dN%1000 ci=(fR==0)and(dN/1000)or(((dN-fR)/1000)+1) else
if not(aT<2^53)then return end local dO=(k<aT)and(aT-k)or 0 local fS=dO%1000 ci=(fS==0)and(dO/1000)or(((dO-fS)/1000)+1)
end end local fT=ci or(-1) local dl if fL==y then dl=fT else if not(aT<2^53)then return end if not((aT+d)<2^53)then
return end local fU=aT+d local jj=0%L local fV=(0-jj)/L local fW=(fV<d)and(d-fV)or 0 if not((fU+fW)<2^53)then return end
local fX=fU+fW local dP=(k<fX)and(fX-k)or 0 local fY=dP%1000 dl=(fY==0)and(dP/1000)or(((dP-fY)/1000)+1) end dm=fT cj=dl
else dm=0 cj=0 end if 2^53<=cj then return end
local jk=m('1 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',dZ,y,dM,dm,cj,aF,L) if not(aU<2^53)then return end
if not((aU+5000)<2^53)then return end local fZ=aU+5000 local jl=m('C:%.0f:%.0f:%.0f:0',C,((ay-(ay%C))/C),L) local dn
if fZ==0 then dn='1' else dn=m('%.0f',fZ) end local jF=r('SET',aq,jl,'PXAT',dn) bc=jk else if at then return end
if not(aU<2^53)then return end if not((aU+5000)<2^53)then return end local ga=aU+5000
local jm=m('C:%.0f:%.0f:%.0f:0',C,((ay-(ay%C))/C),L) local dp if ga==0 then dp='1' else dp=m('%.0f',ga) end
local jG=r('SET',aq,jm,'PXAT',dp) bc={1,0,dZ} end else local aN local gG=y-L if not((ay*1000)<2^53)then return end
local bx=ay*1000 if gG<0 then aN=nil else if not(bx<2^53)then return end local ea=(k<bx)and(bx-k)or 0 local gH=ea%1000
aN=(gH==0)and(ea/1000)or(((ea-gH)/1000)+1) end local cn if aN then if 2^53<=aN then return end local gI=aN%1000
local js=(aN<0)and(-1)or((gI==0)and(aN/1000)or(((aN-gI)/1000)+1)) cn=js else cn=-1 end local gJ=(cn==0)and 1 or cn
local dr if at=='LINE'then local dq if not(bx<2^53)then return end if gG<0 then dq=nil else local dQ=(k<bx)and(bx-k)or 0
local gb=dQ%1000 dq=(gb==0)and(dQ/1000)or(((dQ-gb)/1000)+1) end local gc=dq or(-1) if 2^53<=gc then return end
dr=m('0 0 %.0f %.0f %.0f %.0f 0 0 0 %.0f 0 0',gJ,y,y,gc,aF) else if at then return end dr={0,0,gJ} end bc=dr end end
return bc end local bS,bt=pcall(hV,KEYS,ARGV) if bS and bt then return bt end return iY(not bS and bt)
