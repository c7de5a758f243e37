-- RL.RESET COUNTER, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ai,h local z=redis.call local function bQ(a) local aY=z('TIME') local av=aY[1]*1000000+aY[2]
a.J,a.x=av,(av-av%1000)/1000 end local M,v,af,ch=string.find,string.format,string.match,string.sub
local function bZ(a,w,f,U,at) local i=w[f] if not i then h().a('KEYS') end a.d,f=i,f+1 if at then a.g=i
elseif M(i,':reserved',1,true)then h().A(i) end if U then f=a.K and f+2 or h().B(a,w,f,i) end return f end
local function bP(a,w,U,at) bQ(a) if#w~=bZ(a,w,1,U,at)-1 then h().a('KEYS') end end local function ce(e,bO)
local b,c,am,an,C=af(e,bO) if not b then return nil elseif M(e,':0%d')then return nil end local u=#an<17 and an+0
return#b<16 and b+0 or h().b(b), #c<16 and c+0 or h().b(c), #am<16 and am+0 or h().b(am),
u and u<9e15 and u or h().b(an), C end local function bz(x) return x and x-x==0 and x>=1 and x<=1e15 end
local function ag(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return h().w(b,c) end local function bm(e)
local r,o,q,p,C=ce(e,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not bz(r)or not o or not q or not p or C~=''then return nil
end local az=ag(o,r) local ay=ag(az,1000) if ay-ay~=0 or q-q~=0 or p-p~=0 then if h().c(ay)or h().c(q)or h().c(p)then
return nil end end if az==0 and p~=0 then return nil end return{e=r,i=az,f=q,h=p} end local function bC(a)
local e=z('GET',a.d) if e then a.j=bm(e)or h().p(e,('COUNTER'),'FOREIGN_VALUE') end end local function Q(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return h().k(b,c) end local function B(bi,A)
local cd=A.f~=0 and 2 or A.h~=0 and 1 or 0 return Q(A.i,A.e*cd) end local function bs(i,aw)
if not redis.REDIS_VERSION_NUM then return h().o(i,aw) end local f=z('PEXPIRETIME',i) return f>=0 and f or nil end
local function I(b,c) if b-b==0 and c-c==0 then return b<c end return h().u(b,c) end local function bq(a,K,V)
local R,ao=a.j,(nil) if K=='keep'and(not R or not ao)then return nil end local m=R and bs(a.d,a.x)
if m and m>=(2^53)then m=h().q(h().l(m)) end if K=='keep'then local y=B(a,R) return m and I(m,y)and Q(y,5000)or nil end
local y=B(a,V) local Y=Q(y,5000) if not R then return Y elseif not m then return Y end if ao and K=='rebase'then
return h().v(m,B(a,R),y) elseif I(m,y)then return Y elseif not I(Y,m)or(ao and I(Q(B(a,R),5000),m))then return nil end
return Y end local function T(d) if d-d~=0 then return h().D(d) end return v('%.0f',d) end local function bW(i,aF)
if aF then z('PEXPIREAT',i,T(aF)) end end local function ap(b,c) if b-b==0 and c-c==0 then local C=b%c return(b-C)/c,C
end return h().m(b,c) end local function aI(A) local r,q,p=A.e,A.f,A.h local o=ap(A.i,r)
local bA=o-o~=0 or q-q~=0 or p-p~=0 if bA then o,q,p=T(o),T(q),T(p) return'C:'..T(r)..':'..o..':'..q..':'..p end
return v('C:%.0f:%.0f:%.0f:%.0f',r,o,q,p) end local function bl(a,K,V) local i=a.d if K=='delete'then z('UNLINK',i)
return end local B=bq(a,K,V) if K=='keep'then bW(i,B) elseif B then z('SET',i,aI(V),'PXAT',B==0 and'1'or T(B)) else
z('SET',i,aI(V),'KEEPTTL') end end local function bU(w,E) local ba=E[1] if not ba then h().a('ARITY') end
local a={limit=0,capacity=0} local f=h().y(a,E,1+1,' ANCHOR ') if E[f]then
h().a(h().t(E[f]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end a.H=a.ANCHOR and a.ANCHOR*1000 a.e=h().F(a,ba)
local U=h().s((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'RESERVE') bP(a,w,U,true) local aL=U and h().r(a)
bC(a,'delete') local W=a.I or a.j local aq=W aq=W or aL h().z(a,aq) if W then bl(a,'delete') end if aL then
z('UNLINK',a.hash,a.n) end return aq and 1 or 0 end function h() if not ai then local j={}
j.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
j.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
j.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
j.ID='ERR invalid ID: expected 1 to 512 bytes'
j.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
j.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
j.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
j.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
j.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
j.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
j.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
j.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
j.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
j.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
j.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
j.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' j.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
j.ARITY='ERR wrong number of arguments' j.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
j.RESET_WORDS='ERR syntax error: after window comes ANCHOR t or nothing'
j.NO_SUCH_OPTION='ERR syntax error: no such option, but there is ANCHOR t' local function G(e) error({err=e},0) end
local function n(P) G(j[P]) end local function bt(e,l,bJ)
local cf={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aC=cf[af(e,'^(%u):')] if not aC or aC==l then
n(bJ) end G('ERR the key holds a state of '..aC..': use another key for each algorithm') end local function bp(ac)
if type(ac)=='table'then return ac elseif M(ac,'^%u+ ')then return redis.error_reply(ac) end error(ac,0) end
local function L(d) if d-d~=0 then return d end local g,s={},0 while d>0 do local t=d%(2^24) s=s+1 g[s]=t d=(d-t)/(2^24)
end return g end local aj={ __sub=function() return 1 end, } local function X(g) local s=#g while s>0 and g[s]==0 do
g[s]=nil s=s-1 end if s>3 or(s==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,aj) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function aP(b,c) local aD,bk=b-b==0,c-c==0
if aD or bk then return aD elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function bj(b,c) b,c=L(b),L(c) local S,F={},0 for d=1,math.max(#b,#c)+1 do
local t=(b[d]or 0)+(c[d]or 0)+F F=t>=(2^24)and 1 or 0 S[d]=t-F*(2^24) end return X(S) end local function bG(b,c)
b,c=L(b),L(c) local ab={} for d=1,#b+#c do ab[d]=0 end for d=1,#b do local F=0 for au=1,#c do
local t=ab[d+au-1]+b[d]*c[au]+F F=math.floor(t/(2^24)) ab[d+au-1]=t-F*(2^24) end ab[d+#c]=F end return X(ab) end
local function aE(d) if d-d==0 then return d end local S=0 for bw=#d,1,-1 do S=S*(2^24)+d[bw] end return S end
local function bX(b,c) if not aP(c,b)then return 0 end c=L(c) local aG,ak={},0 for d=1,#b do local t=b[d]-(c[d]or 0)-ak
ak=t<0 and 1 or 0 aG[d]=t+ak*(2^24) end return X(aG) end local function aA(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return bX(b,c) end local function bn(b,c) local ax=0 while not I(b,c)do
local ah=math.max(1,math.floor(aE(b)/aE(c)*(1-2^-45))) ah=X(L(ah)) ax=Q(ax,ah) b=aA(b,ag(ah,c)) end return ax,b end
local function cb(d) local aB='' while d-d~=0 do local C d,C=ap(d,10000000) aB=v('%07.0f',C)..aB end
return v('%.0f',d)..aB end local function al(b,c) for f=1,math.min(#b,#c)do local bb,bc=b:byte(f),c:byte(f)
if bb~=bc then return bb<bc end end return#b<#c end local function ar(g)
if#g<=15 or(#g==16 and al(g,'9007199254740992'))then return g+0 end local as=#g%7 local d=as>0 and g:sub(1,as)+0 or 0
for f=as+1,#g,7 do d=Q(ag(d,10000000),g:sub(f,f+6)+0) end return d end local function bL(g) if#g>1 and g:byte()==48 then
return nil elseif#g<20 or(#g==20 and not al('18446744073709551615',g))then return ar(g) end end
local bf=setmetatable({(2^24)-1,(2^24)-1,2^15-1},aj) local function bx(d) return I(bf,d) end local function br(i,aw)
local aO=z('PTTL',i) return aO>=0 and aw+aO or nil end local function bF(m,bH,y) if m-m~=0 then n('INEXACT_STATE') end
local aa=aA(m,aA(bH,y)) aa=I(aa,y)and y or aa return aa~=m and aa or nil end local function O(bB,l)
return not M(l,' ',1,true)and M(bB,' '..l..' ',1,true)~=nil end local function by(l,k) local H,u=0,0
local aX,bD=math.min(#l,#k),math.max(#l,#k) while H<aX and l:byte(H+1)==k:byte(H+1)do H=H+1 end
while u<aX-H and l:byte(-1-u)==k:byte(-1-u)do u=u+1 end return H+u>=2 and bD-H-u<=2 end local bh={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ca(a,k)
return not O(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or O((' COST PARTIAL ALWAYS RESERVE RESERVATION '),k)
end local function bT(D,a,ad) local k,cg=D[1],a.G if not O(ad,k)then G(v('ERR invalid %s: only %s it',k,D[3]))
elseif not ca(a,k)then G(v('ERR invalid %s: %s takes none',k,('COUNTER'))) elseif a[k]~=nil then
G(v('ERR syntax error: %s comes at most once',D[2])) end end local function bV(J) return J==''and 1000 or J=='ms'and 1
or J=='s'and 1000 or J=='m'and 60000 or J=='h'and 3600000 or J=='d'and 86400000 or nil end local function ae(e,Z)
if e~='0'and not M(e,'^[1-9]%d*$')then return nil end return(#e<#Z or(#e==#Z and not al(Z,e)))and e or nil end
local function aS(e) local o,J=af(e,'^(%d+)(%l*)$') local aV=o and bV(J)
local x=aV and ae(o,'18446744073709551615')and o*aV return x and x>=1 and x<=1e15 and x or nil end
local function aR(e,Z) return e and#e>=1 and#e<=Z and e end local function bE(b,c) return I(c,b)and c or b end
local bg=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aj) local function bK(P,e,aN) local g=e and ae(e,'9223372036854775807')
local d=g and ar(g) if not d or d==0 and aN>0 then
G(v('ERR invalid %s: expected an integer from %d to 9223372036854775807',P,aN)) elseif d-d~=0 then
G(v('ERR invalid %s: the Lua library takes integers up to 9007199254740991',P)) end return d end
local function bN(k,e,aW) if k=='RESERVE'then local aZ=aW and aS(aW)
return aR(e,128)and aZ and{id=e,ttl=aZ}or n('RESERVE') elseif k=='RESERVATION'then return aR(e,128)or n('RESERVATION')
end if k=='AS'then return e and#e>=1 and#e<=64 and not M(e,'[^%w._-]')and e or n('AS') elseif k=='AT'then
local g=e and ae(e,'9223372036854775807') return g and bE(ar(g),(ap(bg,1000)))or n('AT') end
return bK(k,e,k=='BURST'and 1 or 0) end local function bR(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
n(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
n(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bd={FULL=true,LINE=true,HEADERS=true}
local function bI(aK,aQ) if aK then n(aK==aQ and'FORM_TWICE'or'TWO_FORMS') end return aQ end local function bM(a,E,f,ad)
while E[f]do local l,D=E[f]:upper(),nil for bi,aM in ipairs(bh)do D=aM[1]==l and aM or D end if D then bT(D,a,ad)
if D[2]==l then a[l]=true f=f+1 else a[l]=bN(l,E[f+1],E[f+2]) f=f+(l=='RESERVE'and 3 or 2) end bR(a)
elseif bd[l]and O(ad,'form')then a.form=bI(a.form,l) f=f+1 else return f end end return f end
local be={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cc(a,e) local r=aS(e)
if not r then a.E=e:upper() r=be[a.E] if not r then
n(O((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not O((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
G(v('ERR invalid window: %s takes no windows of the calendar',('COUNTER'))) end end return r end local function bv(i)
return i:sub(-9)==':reserved'or i:sub(-14)==':reserved:ends' end local function aT(i) if bv(i)then n('RESERVED_KEY') end
end local function bS(a,W) local N=af(a.g,'^(.*:reserved):ends$') if not W or N and redis.pcall('TYPE',N).ok=='hash'then
aT(a.g) end end local function bY(a,w,f,i) local N,aJ=w[f]or'',w[f+1] local P=((nil)and(nil)(a)or'')..':reserved'
if(N~=i..P and N~='{'..i..'}'..P)or aJ~=N..':ends'then n('KEYS') end a.hash,a.n=N,aJ return f+2 end local function bu(a)
local aH=redis.pcall('HGET',a.hash,'') return type(aH)=='string'and ae(aH,'18446744073709551615') end
ai={k=bj,l=L,m=bn,error_reply=bp,o=br,a=n,p=bt,q=X,r=bu,c=bx,s=O,t=by,u=aP,v=bF,w=bG,b=bL,y=bM,z=bS,A=aT,B=bY,D=cb,F=cc}
end return ai end local bo,aU=pcall(bU,KEYS,ARGV) return bo and aU or h().error_reply(aU)
