-- RL.REFUND WINDOW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local aE,i local N,s,ai,db=string.find,string.format,string.match,string.sub local function bx(L) return L==''and 1000
or L=='ms'and 1 or L=='s'and 1000 or L=='m'and 60000 or L=='h'and 3600000 or L=='d'and 86400000 or nil end
local function cB(o,e,w) local ar,F,j=o[e],o[e+1],o[e+2] if not F then i().g('ARITY') end local a={ m='', q=0, now_ms=0,
h=0, P=0, limit=0, e=0, d=1, form=nil, delay=0, a=nil, i=nil, allowed=false, count=0, ttl=0, f='keep', remaining=0, k=1,
} e=e+2 if j=='LINE'and not o[e+1]and w~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,e=j,e+1
elseif j then local z=o[e+1]or''
local bj=w==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and o[e+2]=='LINE'and not o[e+3]and#z<16
if bj and j=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and N(z,'^[1-9]%d*$')then
a.form,a.d,e='LINE',z+0,e+3 elseif bj and j=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and z~=''then
a.form,a.ID,e='LINE',z,e+3 else e=i().F(a,o,e,w) a.d=a.COST or 1 end end local cj=#F<16 and N(F,'^[1-9]%d*$')
a.limit=cj and F+0 or i().E('limit',F,0) local J,L=ai(ar,'^([1-9]%d*)(%l*)$') local ao=J and#ar<16 and bx(L)
local v=ao and J*ao if not v or v<1 or v>1e15 then v=i().Q(a,ar) end
a.h,a.P,a.e=v,v<9e12 and v*1000 or i().o(v,1000),a.BURST or a.limit return a,e end local function cy(o,w)
local a,e=cB(o,1,w) if o[e]then i().z(a,w,o[e]) end return a end local function cz(o,w) if not o[1+1]then i().g('ARITY')
end return cy(o,w) end local U=redis.call local function cF(a) local bD=U('TIME') local aQ=bD[1]*1000000+bD[2]
a.q,a.now_ms=aQ,(aQ-aQ%1000)/1000 end local function cT(a,I,e,aX,aN) local k=I[e] if not k then i().g('KEYS') end
a.m,e=k,e+1 if aN then a.j=k elseif N(k,':reserved',1,true)then i().G(k) end if aX then e=a.Y and e+2 or i().J(a,I,e,k)
end return e end local function cD(a,I,aX,aN) cF(a) if#I~=cT(a,I,1,aX,aN)-1 then i().g('KEYS') end end
local function cn(a) local k=a.m local f=U('GET',k) if f then local z=#f<16 and N(f,'^[1-9]%d*$')and f+0 or i().N(f)
local A=redis.REDIS_VERSION_NUM and U('PEXPIRETIME',k)or i().y(k,a.now_ms)or-1 if A<0 then A=nil elseif A>=(2^53)then
i().g('INEXACT_STATE') end a.a={b=z,c=A} end end local function aD(n,q,M) if n=='keep'then return M end
return n~='delete'and q or nil end local function ah(b,c) if b-b==0 and c-c==0 then return b<c end return i().B(b,c) end
local function aC(a,t) local az=a.now_ms local A=t and t.c if not t then return nil,0 elseif A and A<=az then
return nil,0 end local bl=az+a.h return A and A<bl and A or bl,t.b>0 and t.b or 0 end local function ag(d)
if d-d~=0 or d>=(2^53)then i().g('INEXACT_REPLY') end return d end local function bF(t,l) if l and l~=t.c then
return'rebase',{b=t.b,c=l} end return'keep' end local function au(a,S,t) local l,y=aC(a,t)
a.x,a.M,a.remaining=l,y,y<a.limit and a.limit-y or 0 end local function X(P) local u=P%1000
return P<0 and-1 or u==0 and P/1000 or(P-u)/1000+1 end local function af(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then
return b+c end return i().s(b,c) end local function bX(b,c) if b-b==0 and c-c==0 then local u=b%c
return u==0 and b/c or(b-u)/c+1 end local ad,u=i().w(b,c) return u==0 and ad or af(ad,1) end local function bA(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return i().I(b,c) end local function ak(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return i().o(b,c) end local function m(a,g) local F=a.limit
if g>F then return nil elseif a.M+g<=F then return 0 end return bX(bA(ak(a.x,1000),a.q),1000) end local function cV(a,g)
local m=m(a,g==0 and 1 or g) m=m and X(ag(m))or-1 return m==0 and 1 or m end local function aI(a,g)
local t,F=a.a,a.limit local l,y=aC(a,t) local aF=y+(g==0 and 1 or g)<=F a.allowed,a.count=aF,ag(y) if aF and g>0 then
l=l and t.b>=0 and l or a.now_ms+a.h a.f,a.i='charge',{b=y+g,c=l} else a.f,a.i=bF(t,l) end au(a,a.f,aD(a.f,a.i,t))
if aF then a.ttl=X(ag(m(a,F))) else a.ttl=cV(a,g) end end local function bU(a) if a.PARTIAL or a.ALWAYS then i().v(a)
else local g=a.d a.k=g aI(a,g) end if a.SHADOW then i().u(a) end end local function at(a) local n,m=a.f,m
au(a,n,n=='keep'and a.a or n~='delete'and a.i or nil) local W,aH,K,R,ab=a.remaining,a.e,0,0,0 if not a.allowed then
local g=a.k K=m(a,a.p or(g==0 and 1 or g))or-1 if a.A and K>=0 then K=math.max(K,a.A) end end if W<aH then
R=m(a,W+1)or-1 ab=W+1==aH and R or m(a,aH)or-1 end if K-K~=0 or R-R~=0 or ab-ab~=0 or K>=(2^53)or ab>=(2^53)then
i().g('INEXACT_REPLY') end return W,K,R,ab,0 end local function cl(a,G) local W,K,R,ab,bV=at(a) local cP=a.l and 1 or 0
return s( '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and i().r(a)or 1)or 0,a.count,a.ttl,a.e,W,K,R,ab, bV,a.now_ms,cP,G ) end local function cI(a,G)
local Y=a.form if Y=='LINE'then return cl(a,G) elseif Y then return i().D(a,G) end
return{a.allowed and(a.PARTIAL and i().r(a)or 1)or 0,a.count,a.ttl} end local function bR(a,n,q,G) local bc
local A,M,ap=nil,a.a,aD(n,q,a.a) if A and ah(A,a.now_ms)then ap=nil end a.a=ap bU(a) bc=cI(a,G) a.a=M if not a.X then
i().t(a,n,q) end return bc end local function cN(I,o) local a=cz(o,' form COST AT BURST BLOCK MAX ANCHOR ') cD(a,I)
cn(a,'write') local n,q=i().refund(a,a.AT,a.d) return bR(a,n,q,0) end function i() if not aE then local p={}
p.NOT_A_COUNTER='ERR value is not an integer or out of range'
p.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
p.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
p.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
p.ID='ERR invalid ID: expected 1 to 512 bytes'
p.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
p.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
p.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
p.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds' p.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
p.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
p.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
p.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
p.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
p.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
p.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
p.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
p.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
p.ARITY='ERR wrong number of arguments' local function cG(a,T,g) local t=a.a local l,y=aC(a,t)
local ch=l and T and ah(af(T,a.h),l) if not l or y==0 or ch or g==0 then return bF(t,l) elseif g>=y then return'delete'
end return'refund',{b=y-g,c=l} end local function H(f) error({err=f},0) end local function x(Q) H(p[Q]) end
local function bZ(am) if type(am)=='table'then return am elseif N(am,'^%u+ ')then return redis.error_reply(am) end
error(am,0) end local function bo(b,c) local bb,bN=b-b==0,c-c==0 if bb or bN then return bb elseif#b~=#c then
return#b<#c end for d=#b,1,-1 do if b[d]~=c[d]then return b[d]<c[d] end end return false end local function ac(d)
if d-d~=0 then return d end local h,C={},0 while d>0 do local D=d%(2^24) C=C+1 h[C]=D d=(d-D)/(2^24) end return h end
local aZ={ __sub=function() return 1 end, } local function av(h) local C=#h while C>0 and h[C]==0 do h[C]=nil C=C-1 end
if C>3 or(C==3 and h[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(h,aZ) end
return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function bM(b,c) b,c=ac(b),ac(c) local ae,V={},0
for d=1,math.max(#b,#c)+1 do local D=(b[d]or 0)+(c[d]or 0)+V V=D>=(2^24)and 1 or 0 ae[d]=D-V*(2^24) end return av(ae)
end local function cR(b,c) if not bo(c,b)then return 0 end c=ac(c) local bg,aG={},0 for d=1,#b do
local D=b[d]-(c[d]or 0)-aG aG=D<0 and 1 or 0 bg[d]=D+aG*(2^24) end return av(bg) end local function cq(b,c)
b,c=ac(b),ac(c) local al={} for d=1,#b+#c do al[d]=0 end for d=1,#b do local V=0 for aO=1,#c do
local D=al[d+aO-1]+b[d]*c[aO]+V V=math.floor(D/(2^24)) al[d+aO-1]=D-V*(2^24) end al[d+#c]=V end return av(al) end
local function bd(d) if d-d==0 then return d end local ae=0 for cg=#d,1,-1 do ae=ae*(2^24)+d[cg] end return ae end
local function bh(b,c) local ad=0 while not ah(b,c)do local aB=math.max(1,math.floor(bd(b)/bd(c)*(1-2^-45)))
aB=av(ac(aB)) ad=af(ad,aB) b=bA(b,ak(aB,c)) end return ad,b end local function ca(k,az) local bn=U('PTTL',k)
return bn>=0 and az+bn or nil end local function be(b,c) for e=1,math.min(#b,#c)do local bH,bI=b:byte(e),c:byte(e)
if bH~=bI then return bH<bI end end return#b<#c end local function as(f,aj) if f~='0'and not N(f,'^[1-9]%d*$')then
return nil end return(#f<#aj or(#f==#aj and not be(aj,f)))and f or nil end local function cb(f,r,cw)
local cZ={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aY=cZ[ai(f,'^(%u):')] if not aY or aY==r then
x(cw) end H('ERR the key holds a state of '..aY..': use another key for each algorithm') end local function aL(h)
if#h<=15 or(#h==16 and be(h,'9007199254740992'))then return h+0 end local aM=#h%7 local d=aM>0 and h:sub(1,aM)+0 or 0
for e=aM+1,#h,7 do d=af(ak(d,10000000),h:sub(e,e+6)+0) end return d end local function cX(f)
local cQ,h=ai(f,'^(%-?)(%d+)$') local aP=cQ=='-' h=h and as(h,aP and'9223372036854775808'or'9223372036854775807')
if not h or(aP and h=='0')then cb(f,nil,'NOT_A_COUNTER') end local z=aL(h) if z-z~=0 then x('INEXACT_STATE') end
return aP and-z or z end local function br(Q,f,bm) local h=f and as(f,'9223372036854775807') local d=h and aL(h)
if not d or d==0 and bm>0 then H(s('ERR invalid %s: expected an integer from %d to 9223372036854775807',Q,bm))
elseif d-d~=0 then H(s('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Q)) end return d end
local ba={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function Z(cm,r)
return not N(r,' ',1,true)and N(cm,' '..r..' ',1,true)~=nil end local function bC(a,j)
return not Z(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',j)or Z((' COST PARTIAL ALWAYS RESERVE RESERVATION '),j)
end local function ci(r,j) local E,O=0,0 local bz,co=math.min(#r,#j),math.max(#r,#j)
while E<bz and r:byte(E+1)==j:byte(E+1)do E=E+1 end while O<bz-E and r:byte(-1-O)==j:byte(-1-O)do O=O+1 end
return E+O>=2 and co-E-O<=2 end local function cc(a,w,r) local aa={} for S,B in ipairs(ba)do
if Z(w,B[1])and bC(a,B[1])then aa[#aa+1]=B[2] end end for S,Y in ipairs({'FULL','LINE','HEADERS'})do aa[#aa+1]=Y end
for S,j in ipairs(aa)do if ci(r:upper(),ai(j,'^%u+'))then H('ERR syntax error: no such option, but there is '..j) end
end local O=table.remove(aa) local cW=table.concat(aa,', ')
H('ERR syntax error: after limit come '..cW..' or '..O..', each at most once') end local function cK(B,a,w)
local j,da=B[1],a.S if not Z(w,j)then H(s('ERR invalid %s: only %s it',j,B[3])) elseif not bC(a,j)then
H(s('ERR invalid %s: %s takes none',j,('WINDOW'))) elseif a[j]~=nil then
H(s('ERR syntax error: %s comes at most once',B[2])) end end local function bt(f) local J,L=ai(f,'^(%d+)(%l*)$')
local ao=J and bx(L) local P=ao and as(J,'18446744073709551615')and J*ao return P and P>=1 and P<=1e15 and P or nil end
local function bs(f,aj) return f and#f>=1 and#f<=aj and f end local function bp(b,c) return ah(c,b)and c or b end
local function aJ(b,c) if b-b==0 and c-c==0 then local u=b%c return(b-u)/c,u end return bh(b,c) end
local bL=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aZ) local function cC(j,f,by) if j=='RESERVE'then
local bE=by and bt(by) return bs(f,128)and bE and{id=f,ttl=bE}or x('RESERVE') elseif j=='RESERVATION'then
return bs(f,128)or x('RESERVATION') end if j=='AS'then
return f and#f>=1 and#f<=64 and not N(f,'[^%w._-]')and f or x('AS') elseif j=='AT'then
local h=f and as(f,'9223372036854775807') return h and bp(aL(h),(aJ(bL,1000)))or x('AT') end
return br(j,f,j=='BURST'and 1 or 0) end local function cJ(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
x(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
x(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bJ={FULL=true,LINE=true,HEADERS=true}
local function ct(Y,bq) if Y then x(Y==bq and'FORM_TWICE'or'TWO_FORMS') end return bq end local function cA(a,o,e,w)
while o[e]do local r,B=o[e]:upper(),nil for S,bk in ipairs(ba)do B=bk[1]==r and bk or B end if B then cK(B,a,w)
if B[2]==r then a[r]=true e=e+1 else a[r]=cC(r,o[e+1],o[e+2]) e=e+(r=='RESERVE'and 3 or 2) end cJ(a)
elseif bJ[r]and Z(w,'form')then a.form=ct(a.form,r) e=e+1 else return e end end return e end
local bK={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cY(a,f) local v=bt(f)
if not v then a.K=f:upper() v=bK[a.K] if not v then
x(Z((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not Z((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
H(s('ERR invalid window: %s takes no windows of the calendar',('WINDOW'))) end end return v end local function ce(k)
return k:sub(-9)==':reserved'or k:sub(-14)==':reserved:ends' end local function cL(k) if ce(k)then x('RESERVED_KEY') end
end local function cS(a,I,e,k) local aw,l=I[e]or'',I[e+1] local Q=((nil)and(nil)(a)or'')..':reserved'
if(aw~=k..Q and aw~='{'..k..'}'..Q)or l~=aw..':ends'then x('KEYS') end a.W,a.U=aw,l return e+2 end local function bQ(a)
local cu=a.PARTIAL and a.k<a.d a.l=a.SHADOW and not a.n and(cu or not a.allowed) if not a.allowed and(a.l or a.n)then
a.allowed=true if not(nil)then local S,S,S,aT=at(a) a.ttl=X(aT) end end end local function cH(a) au(a,'keep',a.a)
return a.remaining end local function cx(a,T,g) if g==0 or(T and not ah(a.now_ms,af(T,a.h)))then return'keep' end
local l,y=aC(a,a.a) if y+g>=(2^53)then x('INEXACT_REPLY') end l=l and a.a.b>=0 and l or a.now_ms+a.h
return'charge',{b=y+g,c=l} end local function cs(g) return g==0 and 1 or g end local function bS(a) local g=a.d aI(a,0)
local n,q=cx(a,nil,g) if g>0 then a.f,a.i=n,q end local ap=aD(a.f,a.i,a.a) au(a,a.f,ap) a.allowed=a.e>0 and m(a,0)==0
a.p=a.e>0 and g or cs(g) if(nil)then a.count,a.ttl=(nil)(ap,a.now_ms) elseif a.allowed then a.ttl=X(ag(m(a,a.e))) else
local m=m(a,a.p) a.ttl=m and math.max(1,X(ag(m)))or-1 end end local function bT(a) local g=a.d if a.PARTIAL then
g=math.min(g,cH(a)) end a.k=g if a.ALWAYS then bS(a) else aI(a,g) end end local function cU(d) local aV=''
while d-d~=0 do local u d,u=aJ(d,10000000) aV=s('%07.0f',u)..aV end return s('%.0f',d)..aV end local function aW(d)
if d-d~=0 then return cU(d) end return s('%.0f',d) end local function cO(k,T) if T then U('PEXPIREAT',k,aW(T)) end end
local function bO(a,n,q) local k,M=a.m,a.a if n=='delete'then U('UNLINK',k) elseif n=='keep'then return
elseif M and M.c==q.c then local bf=q.b-M.b U('INCRBY',k,bf==1 and'1'or s('%.0f',bf)) elseif M and M.b==q.b then
cO(k,q.c) else U('SET',k,aW(q.b),'PXAT',aW(q.c)) end end local function bP(a,n,q) if a.V then q=aD(n,q,a.a) a.a=a.H
if not q then n=a.H and'delete'or'keep' elseif n~='charge'then n='refund' end end bO(a,n,q) end local function bu(a)
return a.n and a.n.d or a.l and a.d or a.k end local function bi(a) if not a.allowed then return 0 end
return a.PARTIAL and bu(a)or 1 end local function cd(a,G) local W,cM,R,aT,bW=at(a) return{ 'allowed',bi(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.e, 'remaining',W, 'retry_after_ms',cM, 'next_ms',R, 'reset_ms',aT,
'delay_ms',bW, 'now_ms',a.now_ms, 'shadow',a.l and 1 or 0, 'charged',G, } end local function cr(an) local bB={}
for S,a in ipairs(an)do local E,J=a.AS or('WINDOW'):lower(),2 a.j=E while bB[a.j]do a.j=s('%s-%d',E,J) J=J+1 end
bB[a.j]=true end end local function ay(d) return s('%.0f',bp(d,999999999999999)) end local function cE(a)
local v=(nil)and(nil)(a)or a.h local aK,u=1000,v%1000 while u>0 do aK,u=u,aK%u end local bG=1000/aK
local ar=aJ(ak(v,bG),1000) return s('"%s";q=%s;w=%s',a.j,ay(ak(a.limit,bG)),ay(ar)) end local function ck(aA,aR)
if aA.allowed~=aR.allowed then return not aA.allowed end local m,aS=aA.retry_after_ms,aR.retry_after_ms if m~=aS then
return m<0 or(aS>=0 and m>aS) end return aA.remaining<aR.remaining end local function cf(an) local aU,bv=an[1],{} cr(an)
for d,a in ipairs(an)do bv[d]=cE(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=at(a) if ck(a,aU)then aU=a end end
local a=aU local aq={ 'X-RateLimit-Limit', s('%.0f',a.e), 'X-RateLimit-Remaining', s('%.0f',a.remaining), }
local function ax(Q,z) aq[#aq+1]=Q aq[#aq+1]=z end if a.reset_ms>=0 then
ax('X-RateLimit-Reset',s('%.0f',X(a.now_ms+a.reset_ms))) end ax('RateLimit-Policy',table.concat(bv,', '))
local cp=a.next_ms>=0 and';t='..ay(X(a.next_ms))or'' ax('RateLimit',s('"%s";r=%s%s',a.j,ay(a.remaining),cp))
if not a.allowed and a.retry_after_ms>=0 then ax('Retry-After',s('%.0f',X(a.retry_after_ms))) end return aq end
local function cv(a,G) if a.form=='FULL'then return cd(a,G) end return{bi(a),a.count,a.ttl,cf({a})} end
aE={s=bM,t=bP,u=bQ,v=bT,w=bh,error_reply=bZ,y=ca,g=x,z=cc,B=bo,o=cq,D=cv,E=br,F=cA,r=bu,refund=cG,G=cL,I=cR,J=cS,N=cX,Q=cY}
end return aE end local bY,bw=pcall(cN,KEYS,ARGV) return bY and bw or i().error_reply(bw)
