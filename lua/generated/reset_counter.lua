-- RL.RESET COUNTER, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ah,h local z=redis.call local function bQ(a) local aX=z('TIME') local au=aX[1]*1000000+aX[2]
a.P,a.B=au,(au-au%1000)/1000 end local L,v,ae,cg=string.find,string.format,string.match,string.sub
local function bY(a,w,f,T,as) local i=w[f] if not i then h().a('KEYS') end a.e,f=i,f+1 if as then a.i=i
elseif L(i,':reserved',1,true)then h().F(i) end if T then f=a.Q and f+2 or h().G(a,w,f,i) end return f end
local function bP(a,w,T,as) bQ(a) if#w~=bY(a,w,1,T,as)-1 then h().a('KEYS') end end local function cd(e,bO)
local b,c,al,am,C=ae(e,bO) if not b then return nil elseif L(e,':0%d')then return nil end local u=#am<17 and am+0
return#b<16 and b+0 or h().b(b), #c<16 and c+0 or h().b(c), #al<16 and al+0 or h().b(al),
u and u<9e15 and u or h().b(am), C end local function bz(x) return x and x-x==0 and x>=1 and x<=1e15 end
local function af(b,c) if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return h().A(b,c) end local function bm(e)
local r,o,q,p,C=cd(e,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not bz(r)or not o or not q or not p or C~=''then return nil
end local ay=af(o,r) local ax=af(ay,1000) if ax-ax~=0 or q-q~=0 or p-p~=0 then if h().c(ax)or h().c(q)or h().c(p)then
return nil end end if ay==0 and p~=0 then return nil end return{f=r,k=ay,g=q,j=p} end local function bC(a)
local e=z('GET',a.e) if e then a.l=bm(e)or h().t(e,('COUNTER'),'FOREIGN_VALUE') end end local function P(b,c)
if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end return h().n(b,c) end local function B(bi,A)
local cc=A.g~=0 and 2 or A.j~=0 and 1 or 0 return P(A.k,A.f*cc) end local function bs(i,av)
if not redis.REDIS_VERSION_NUM then return h().r(i,av) end local f=z('PEXPIRETIME',i) return f>=0 and f or nil end
local function I(b,c) if b-b==0 and c-c==0 then return b<c end return h().y(b,c) end local function bq(a,J,U)
local Q,an=a.l,(nil) if J=='keep'and(not Q or not an)then return nil end local m=Q and bs(a.e,a.B)
if m and m>=(2^53)then m=h().u(h().o(m)) end if J=='keep'then local y=B(a,Q) return m and I(m,y)and P(y,5000)or nil end
local y=B(a,U) local X=P(y,5000) if not Q then return X elseif not m then return X end if an and J=='rebase'then
return h().z(m,B(a,Q),y) elseif I(m,y)then return X elseif not I(X,m)or(an and I(P(B(a,Q),5000),m))then return nil end
return X end local function S(d) if d-d~=0 then return h().H(d) end return v('%.0f',d) end local function bV(i,aF)
if aF then z('PEXPIREAT',i,S(aF)) end end local function ao(b,c) if b-b==0 and c-c==0 then local C=b%c return(b-C)/c,C
end return h().p(b,c) end local function aI(A) local r,q,p=A.f,A.g,A.j local o=ao(A.k,r)
local bA=o-o~=0 or q-q~=0 or p-p~=0 if bA then o,q,p=S(o),S(q),S(p) return'C:'..S(r)..':'..o..':'..q..':'..p end
return v('C:%.0f:%.0f:%.0f:%.0f',r,o,q,p) end local function bl(a,J,U) local i=a.e if J=='delete'then z('UNLINK',i)
return end local B=bq(a,J,U) if J=='keep'then bV(i,B) elseif B then z('SET',i,aI(U),'PXAT',B==0 and'1'or S(B)) else
z('SET',i,aI(U),'KEEPTTL') end end local function bU(w,E) local ba=E[1] if not ba then h().a('ARITY') end
local a={limit=0,capacity=0} local f=h().D(a,E,1+1,' ANCHOR ') if E[f]then
h().a(h().x(E[f]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end a.M=a.ANCHOR and a.ANCHOR*1000 a.f=h().J(a,ba)
local T=h().w((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'RESERVE') bP(a,w,T,true) local aL=T and h().v(a)
bC(a,'delete') local V=a.N or a.l local ap=V ap=V or aL h().E(a,ap) if V then bl(a,'delete') end if aL then
z('UNLINK',a.hash,a.q) end return ap and 1 or 0 end function h() if not ah then local j={}
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
local function n(O) G(j[O]) end local function bt(e,l,bJ)
local ce={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aB=ce[ae(e,'^(%u):')] if not aB or aB==l then
n(bJ) end G('ERR the key holds a state of '..aB..': use another key for each algorithm') end local function bp(ab)
if type(ab)=='table'then return ab elseif L(ab,'^%u+ ')then return redis.error_reply(ab) end error(ab,0) end
local function K(d) if d-d~=0 then return d end local g,s={},0 while d>0 do local t=d%(2^24) s=s+1 g[s]=t d=(d-t)/(2^24)
end return g end local ai={ __sub=function() return 1 end, } local function W(g) local s=#g while s>0 and g[s]==0 do
g[s]=nil s=s-1 end if s>3 or(s==3 and g[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(g,ai) end
return(g[1]or 0)+(g[2]or 0)*(2^24)+(g[3]or 0)*(2^24)*(2^24) end local function aP(b,c) local aD,bk=b-b==0,c-c==0
if aD or bk then return aD elseif#b~=#c then return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end
return false end local function bj(b,c) b,c=K(b),K(c) local R,F={},0 for d=1,math.max(#b,#c)+1 do
local t=(b[d]or 0)+(c[d]or 0)+F F=t>=(2^24)and 1 or 0 R[d]=t-F*(2^24) end return W(R) end local function bG(b,c)
b,c=K(b),K(c) local aa={} for d=1,#b+#c do aa[d]=0 end for d=1,#b do local F=0 for at=1,#c do
local t=aa[d+at-1]+b[d]*c[at]+F F=math.floor(t/(2^24)) aa[d+at-1]=t-F*(2^24) end aa[d+#c]=F end return W(aa) end
local function aE(d) if d-d==0 then return d end local R=0 for bw=#d,1,-1 do R=R*(2^24)+d[bw] end return R end
local function bW(b,c) if not aP(c,b)then return 0 end c=K(c) local aG,aj={},0 for d=1,#b do local t=b[d]-(c[d]or 0)-aj
aj=t<0 and 1 or 0 aG[d]=t+aj*(2^24) end return W(aG) end local function az(b,c) if b-b==0 and c-c==0 then
return b>c and b-c or 0 end return bW(b,c) end local function bn(b,c) local aw=0 while not I(b,c)do
local ag=math.max(1,math.floor(aE(b)/aE(c)*(1-2^-45))) ag=W(K(ag)) aw=P(aw,ag) b=az(b,af(ag,c)) end return aw,b end
local function ca(d) local aA='' while d-d~=0 do local C d,C=ao(d,10000000) aA=v('%07.0f',C)..aA end
return v('%.0f',d)..aA end local function ak(b,c) for f=1,math.min(#b,#c)do local bb,bc=b:byte(f),c:byte(f)
if bb~=bc then return bb<bc end end return#b<#c end local function aq(g)
if#g<=15 or(#g==16 and ak(g,'9007199254740992'))then return g+0 end local ar=#g%7 local d=ar>0 and g:sub(1,ar)+0 or 0
for f=ar+1,#g,7 do d=P(af(d,10000000),g:sub(f,f+6)+0) end return d end local function bL(g) if#g>1 and g:byte()==48 then
return nil elseif#g<20 or(#g==20 and not ak('18446744073709551615',g))then return aq(g) end end
local bf=setmetatable({(2^24)-1,(2^24)-1,2^15-1},ai) local function bx(d) return I(bf,d) end local function br(i,av)
local aO=z('PTTL',i) return aO>=0 and av+aO or nil end local function bF(m,bH,y) if m-m~=0 then n('INEXACT_STATE') end
local Z=az(m,az(bH,y)) Z=I(Z,y)and y or Z return Z~=m and Z or nil end local function N(bB,l)
return not L(l,' ',1,true)and L(bB,' '..l..' ',1,true)~=nil end local function by(l,k) local H,u=0,0
local aW,bD=math.min(#l,#k),math.max(#l,#k) while H<aW and l:byte(H+1)==k:byte(H+1)do H=H+1 end
while u<aW-H and l:byte(-1-u)==k:byte(-1-u)do u=u+1 end return H+u>=2 and bD-H-u<=2 end local bh={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function bZ(a,k)
return not N(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',k)or N((' COST PARTIAL ALWAYS RESERVE RESERVATION '),k)
end local function bT(D,a,ac) local k,cf=D[1],a.K if not N(ac,k)then G(v('ERR invalid %s: only %s it',k,D[3]))
elseif not bZ(a,k)then G(v('ERR invalid %s: %s takes none',k,('COUNTER'))) elseif a[k]~=nil then
G(v('ERR syntax error: %s comes at most once',D[2])) end end
local aC={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function ad(e,Y)
if e~='0'and not L(e,'^[1-9]%d*$')then return nil end return(#e<#Y or(#e==#Y and not ak(Y,e)))and e or nil end
local function aS(e) local o,aZ=ae(e,'^(%d+)(%l*)$') local x=o and aC[aZ]and ad(o,'18446744073709551615')and o*aC[aZ]
return x and x>=1 and x<=1e15 and x or nil end local function aR(e,Y) return e and#e>=1 and#e<=Y and e end
local function bE(b,c) return I(c,b)and c or b end local bg=setmetatable({(2^24)-1,(2^24)-1,2^16-1},ai)
local function bK(O,e,aN) local g=e and ad(e,'9223372036854775807') local d=g and aq(g) if not d or d==0 and aN>0 then
G(v('ERR invalid %s: expected an integer from %d to 9223372036854775807',O,aN)) elseif d-d~=0 then
G(v('ERR invalid %s: the Lua library takes integers up to 9007199254740991',O)) end return d end
local function bN(k,e,aV) if k=='RESERVE'then local aY=aV and aS(aV)
return aR(e,128)and aY and{id=e,ttl=aY}or n('RESERVE') elseif k=='RESERVATION'then return aR(e,128)or n('RESERVATION')
end if k=='AS'then return e and#e>=1 and#e<=64 and not L(e,'[^%w._-]')and e or n('AS') elseif k=='AT'then
local g=e and ad(e,'9223372036854775807') return g and bE(aq(g),(ao(bg,1000)))or n('AT') end
return bK(k,e,k=='BURST'and 1 or 0) end local function bR(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
n(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
n(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bd={FULL=true,LINE=true,HEADERS=true}
local function bI(aK,aQ) if aK then n(aK==aQ and'FORM_TWICE'or'TWO_FORMS') end return aQ end local function bM(a,E,f,ac)
while E[f]do local l,D=E[f]:upper(),nil for bi,aM in ipairs(bh)do D=aM[1]==l and aM or D end if D then bT(D,a,ac)
if D[2]==l then a[l]=true f=f+1 else a[l]=bN(l,E[f+1],E[f+2]) f=f+(l=='RESERVE'and 3 or 2) end bR(a)
elseif bd[l]and N(ac,'form')then a.form=bI(a.form,l) f=f+1 else return f end end return f end
local be={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cb(a,e) local r=aS(e)
if not r then a.I=e:upper() r=be[a.I] if not r then
n(N((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not N((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
G(v('ERR invalid window: %s takes no windows of the calendar',('COUNTER'))) end end return r end local function bv(i)
return i:sub(-9)==':reserved'or i:sub(-14)==':reserved:ends' end local function aT(i) if bv(i)then n('RESERVED_KEY') end
end local function bS(a,V) local M=ae(a.i,'^(.*:reserved):ends$') if not V or M and redis.pcall('TYPE',M).ok=='hash'then
aT(a.i) end end local function bX(a,w,f,i) local M,aJ=w[f]or'',w[f+1] local O=((nil)and(nil)(a)or'')..':reserved'
if(M~=i..O and M~='{'..i..'}'..O)or aJ~=M..':ends'then n('KEYS') end a.hash,a.q=M,aJ return f+2 end local function bu(a)
local aH=redis.pcall('HGET',a.hash,'') return type(aH)=='string'and ad(aH,'18446744073709551615') end
ah={n=bj,o=K,p=bn,error_reply=bp,r=br,a=n,t=bt,u=W,v=bu,c=bx,w=N,x=by,y=aP,z=bF,A=bG,b=bL,D=bM,E=bS,F=aT,G=bX,H=ca,J=cb}
end return ah end local bo,aU=pcall(bU,KEYS,ARGV) return bo and aU or h().error_reply(aU)
