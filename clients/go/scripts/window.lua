-- RL.WINDOW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function fY(as) local bP,o local H,m,be,gv=string.find,string.format,string.match,string.sub
local function fG(y,f,N) local aU,V,q=y[f],y[f+1],y[f+2] if not V then o().E('ARITY') end local a={ o='', U=0, now_ms=0,
A=0, ar=0, limit=0, w=0, c=1, form=nil, delay=0, i=nil, k=nil, allowed=false, count=0, ttl=0, g='keep', remaining=0,
t=1, } f=f+2 if q=='LINE'and not y[f+1]and N~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=q,f+1
elseif q then local D=y[f+1]or''
local du=N==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and y[f+2]=='LINE'and not y[f+3]and#D<16
if du and q=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and H(D,'^[1-9]%d*$')then
a.form,a.c,f='LINE',D+0,f+3 elseif du and q=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and D~=''then
a.form,a.ID,f='LINE',D,f+3 else f=o().aj(a,y,f,N) a.c=a.COST or 1 end end local bX=#V<16 and H(V,'^[1-9]%d*$')
a.limit=bX and V+0 or o().ai('limit',V,0) bX=#aU<10 and H(aU,'^[1-9]%d*$') local T=bX and aU*1000 or o().as(a,aU)
a.A,a.ar,a.w=T,T<9e12 and T*1000 or o().S(T,1000),a.BURST or a.limit return a,f end local function fE(y,N)
local a,f=fG(y,1,N) if y[f]then o().ac(a,N,y[f]) end return a end local n=redis.call local function fL(a)
local dV=n('TIME') local ce=dV[1]*1000000+dV[2] a.U,a.now_ms=ce,(ce-ce%1000)/1000 end local function gb(a,Y,f,da,bY)
local i=Y[f] if not i then o().E('KEYS') end a.o,f=i,f+1 if bY then a.F=i elseif H(i,':reserved',1,true)then o().ak(i)
end if da then f=a.av and f+2 or o().am(a,Y,f,i) end return f end local function fI(a,Y,da,bY) fL(a)
if#Y~=gb(a,Y,1,da,bY)-1 then o().E('KEYS') end end local function dz(a) local i=a.o local g=n('GET',i) if g then
local D=#g<16 and H(g,'^[1-9]%d*$')and g+0 or o().aq(g)
local C=redis.REDIS_VERSION_NUM and n('PEXPIRETIME',i)or o().ab(i,a.now_ms)or-1 if C<0 then C=nil elseif C>=(2^53)then
o().E('INEXACT_STATE') end a.i={e=D,f=C} end end local function bk(a,p) local W=a.now_ms local C=p and p.f if not p then
return nil,0 elseif C and C<=W then return nil,0 end local bd=W+a.A return C and C<bd and C or bd,p.e>0 and p.e or 0 end
local function bc(c) if c-c~=0 or c>=(2^53)then o().E('INEXACT_REPLY') end return c end local function ge(p,u)
if u and u~=p.f then return'rebase',{e=p.e,f=u} end return'keep' end local function bt(a,E,p) local u,ad=bk(a,p)
a.a,a.ap,a.remaining=u,ad,ad<a.limit and a.limit-ad or 0 end local function bl(r,s,aA) if r=='keep'then return aA end
return r~='delete'and s or nil end local function aj(ag) local F=ag%1000
return ag<0 and-1 or F==0 and ag/1000 or(ag-F)/1000+1 end local function bn(d,e) if d-d==0 and e-e==0 and d+e<(2^53)then
return d+e end return o().W(d,e) end local function eZ(d,e) if d-d==0 and e-e==0 then local F=d%e
return F==0 and d/e or(d-F)/e+1 end local aQ,F=o().aa(d,e) return F==0 and aQ or bn(aQ,1) end local function dS(d,e)
if d-d==0 and e-e==0 then return d>e and d-e or 0 end return o().al(d,e) end local function bg(d,e)
if d-d==0 and e-e==0 and d*e<(2^53)then return d*e end return o().S(d,e) end local function v(a,h) local V=a.limit
if h>V then return nil elseif a.ap+h<=V then return 0 end return eZ(dS(bg(a.a,1000),a.U),1000) end
local function gd(a,h) local v=v(a,h==0 and 1 or h) v=v and aj(bc(v))or-1 return v==0 and 1 or v end
local function bq(a,h) local p,V=a.i,a.limit local u,ad=bk(a,p) local az=ad+(h==0 and 1 or h)<=V
a.allowed,a.count=az,bc(ad) if az and h>0 then u=u and p.e>=0 and u or a.now_ms+a.A a.g,a.k='charge',{e=ad+h,f=u} else
a.g,a.k=ge(p,u) end bt(a,a.g,bl(a.g,a.k,p)) if az then a.ttl=aj(bc(v(a,V))) else a.ttl=gd(a,h) end end
local function eV(a) if a.PARTIAL or a.ALWAYS then o().Z(a) else local h=a.c a.t=h bq(a,h) end if a.SHADOW then o().Y(a)
end end local function bs(a) local r,v=a.g,v bt(a,r,r=='keep'and a.i or r~='delete'and a.k or nil)
local at,bT,ab,ai,aH=a.remaining,a.w,0,0,0 if not a.allowed then local h=a.t ab=v(a,a.p or(h==0 and 1 or h))or-1
if a.I and ab>=0 then ab=math.max(ab,a.I) end end if at<bT then ai=v(a,at+1)or-1 aH=at+1==bT and ai or v(a,bT)or-1 end
if ab-ab~=0 or ai-ai~=0 or aH-aH~=0 or ab>=(2^53)or aH>=(2^53)then o().E('INEXACT_REPLY') end return at,ab,ai,aH,0 end
local function fp(a,am) local at,ab,ai,aH,eX=bs(a) local fW=a.G and 1 or 0 return m(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and o().V(a)or 1)or 0,a.count,a.ttl,a.w,at,ab,ai,aH, eX,a.now_ms,fW,am ) end
local function fM(a,am) local aB=a.form if aB=='LINE'then return fp(a,am) elseif aB then return o().ah(a,am) end
return{a.allowed and(a.PARTIAL and o().V(a)or 1)or 0,a.count,a.ttl} end local function eP(a) if a.u then return a.u.c
end if a.g~='charge'then return 0 elseif a.ALWAYS then return a.t elseif not a.allowed or(a.G and not a.PARTIAL)then
return 0 end return a.t end local function S(c) if c-c~=0 then return o().an(c) end return m('%.0f',c) end
local function cF(i,aV) if aV then n('PEXPIREAT',i,S(aV)) end end local function di(a,r,s) local i,aA=a.o,a.i
if r=='delete'then n('UNLINK',i) elseif r=='keep'then return elseif aA and aA.f==s.f then local dl=s.e-aA.e
n('INCRBY',i,dl==1 and'1'or m('%.0f',dl)) elseif aA and aA.e==s.e then cF(i,s.f) else n('SET',i,S(s.e),'PXAT',S(s.f))
end end local function fT(Y,y) local a=fE(y,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
fI(a,Y,a.RESERVE) if a.RESERVE then o().ag(a) else dz(a,'write') eV(a) end local eL=fM(a,eP(a))
if a.SHADOW or a.RESERVE then o().X(a,true) else di(a,a.g,a.k) end return eL end function o() if not bP then local w={}
w.NOT_A_COUNTER='ERR value is not an integer or out of range'
w.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module'
w.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
w.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
w.ID='ERR invalid ID: expected 1 to 512 bytes'
w.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
w.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
w.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
w.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds' w.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
w.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
w.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
w.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
w.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
w.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
w.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
w.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' w.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
w.INEXACT_REPLY='ERR the reply has a number above 9007199254740991, which needs the module'
w.FOREIGN_RESERVATION='ERR the hash of the reservations holds a value that the module did not write'
w.ARITY='ERR wrong number of arguments' local function X(g) error({err=g},0) end local function G(ah) X(w[ah]) end
local function fa(as) if type(as)=='table'then return as elseif H(as,'^%u+ ')then return redis.error_reply(as) end
error(as,0) end local function aK(c) if c-c~=0 then return c end local k,B={},0 while c>0 do local U=c%(2^24) B=B+1
k[B]=U c=(c-U)/(2^24) end return k end local dd={ __sub=function() return 1 end, } local function bu(k) local B=#k
while B>0 and k[B]==0 do k[B]=nil B=B-1 end if B>3 or(B==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,dd)
end return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function eJ(d,e) d,e=aK(d),aK(e)
local ac,al={},0 for c=1,math.max(#d,#e)+1 do local U=(d[c]or 0)+(e[c]or 0)+al al=U>=(2^24)and 1 or 0 ac[c]=U-al*(2^24)
end return bu(ac) end local function dy(d,e) local dg,eN=d-d==0,e-e==0 if dg or eN then return dg elseif#d~=#e then
return#d<#e end for c=#d,1,-1 do if d[c]~=e[c]then return d[c]<e[c] end end return false end local function fZ(d,e)
if not dy(e,d)then return 0 end e=aK(e) local dm,bS={},0 for c=1,#d do local U=d[c]-(e[c]or 0)-bS bS=U<0 and 1 or 0
dm[c]=U+bS*(2^24) end return bu(dm) end local function fu(d,e) d,e=aK(d),aK(e) local bi={} for c=1,#d+#e do bi[c]=0 end
for c=1,#d do local al=0 for ca=1,#e do local U=bi[c+ca-1]+d[c]*e[ca]+al al=math.floor(U/(2^24)) bi[c+ca-1]=U-al*(2^24)
end bi[c+#e]=al end return bu(bi) end local function bZ(d,e) if d-d==0 and e-e==0 then return d<e end return dy(d,e) end
local function dh(c) if c-c==0 then return c end local ac=0 for fm=#c,1,-1 do ac=ac*(2^24)+c[fm] end return ac end
local function dn(d,e) local aQ=0 while not bZ(d,e)do local ar=math.max(1,math.floor(dh(d)/dh(e)*(1-2^-45)))
ar=bu(aK(ar)) aQ=bn(aQ,ar) d=dS(d,bg(ar,e)) end return aQ,d end local function bU(d,e) if d-d==0 and e-e==0 then
local F=d%e return(d-F)/e,F end return dn(d,e) end local function gc(c) local cH='' while c-c~=0 do local F
c,F=bU(c,10000000) cH=m('%07.0f',F)..cH end return m('%.0f',c)..cH end local function dq(i,W) local dx=n('PTTL',i)
return dx>=0 and W+dx or nil end local function aW(d,e) for f=1,math.min(#d,#e)do local eE,eF=d:byte(f),e:byte(f)
if eE~=eF then return eE<eF end end return#d<#e end local function aZ(g,R) if g~='0'and not H(g,'^[1-9]%d*$')then
return nil end return(#g<#R or(#g==#R and not aW(R,g)))and g or nil end local function fc(g,A,fD)
local gr={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local db=gr[be(g,'^(%u):')] if not db or db==A then
G(fD) end X('ERR the key holds a state of '..db..': use another key for each algorithm') end local function bv(k)
if#k<=15 or(#k==16 and aW(k,'9007199254740992'))then return k+0 end local bW=#k%7 local c=bW>0 and k:sub(1,bW)+0 or 0
for f=bW+1,#k,7 do c=bn(bg(c,10000000),k:sub(f,f+6)+0) end return c end local function gp(g)
local fX,k=be(g,'^(%-?)(%d+)$') local cd=fX=='-' k=k and aZ(k,cd and'9223372036854775808'or'9223372036854775807')
if not k or(cd and k=='0')then fc(g,nil,'NOT_A_COUNTER') end local D=bv(k) if D-D~=0 then G('INEXACT_STATE') end
return cd and-D or D end local function dJ(ah,g,dw) local k=g and aZ(g,'9223372036854775807') local c=k and bv(k)
if not c or c==0 and dw>0 then X(m('ERR invalid %s: expected an integer from %d to 9223372036854775807',ah,dw))
elseif c-c~=0 then X(m('ERR invalid %s: the Lua library takes integers up to 9007199254740991',ah)) end return c end
local de={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aC(aO,A)
return not H(A,' ',1,true)and H(aO,' '..A..' ',1,true)~=nil end local function dU(a,q)
return not aC(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',q)or aC((' COST PARTIAL ALWAYS RESERVE RESERVATION '),q)
end local function fn(A,q) local z,af=0,0 local dQ,fs=math.min(#A,#q),math.max(#A,#q)
while z<dQ and A:byte(z+1)==q:byte(z+1)do z=z+1 end while af<dQ-z and A:byte(-1-af)==q:byte(-1-af)do af=af+1 end
return z+af>=2 and fs-z-af<=2 end local function fd(a,N,A) local aE={} for E,O in ipairs(de)do
if aC(N,O[1])and dU(a,O[1])then aE[#aE+1]=O[2] end end for E,aB in ipairs({'FULL','LINE','HEADERS'})do aE[#aE+1]=aB end
for E,q in ipairs(aE)do if fn(A:upper(),be(q,'^%u+'))then X('ERR syntax error: no such option, but there is '..q) end
end local af=table.remove(aE) local gg=table.concat(aE,', ')
X('ERR syntax error: after limit come '..gg..' or '..af..', each at most once') end local function fO(O,a,N)
local q,gs=O[1],a.at if not aC(N,q)then X(m('ERR invalid %s: only %s it',q,O[3])) elseif not dU(a,q)then
X(m('ERR invalid %s: %s takes none',q,('WINDOW'))) elseif a[q]~=nil then
X(m('ERR syntax error: %s comes at most once',O[2])) end end
local df={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function dL(g) local aD,dW=be(g,'^(%d+)(%l*)$')
local ag=aD and df[dW]and aZ(aD,'18446744073709551615')and aD*df[dW] return ag and ag>=1 and ag<=1e15 and ag or nil end
local function dK(g,R) return g and#g>=1 and#g<=R and g end local function dC(d,e) return bZ(e,d)and e or d end
local eI=setmetatable({(2^24)-1,(2^24)-1,2^16-1},dd) local function fH(q,g,bI) if q=='RESERVE'then local P=bI and dL(bI)
return dK(g,128)and P and{id=g,ttl=P}or G('RESERVE') elseif q=='RESERVATION'then return dK(g,128)or G('RESERVATION') end
if q=='AS'then return g and#g>=1 and#g<=64 and not H(g,'[^%w._-]')and g or G('AS') elseif q=='AT'then
local k=g and aZ(g,'9223372036854775807') return k and dC(bv(k),(bU(eI,1000)))or G('AT') end
return dJ(q,g,q=='BURST'and 1 or 0) end local function fN(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
G(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
G(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local eG={FULL=true,LINE=true,HEADERS=true}
local function fw(aB,dD) if aB then G(aB==dD and'FORM_TWICE'or'TWO_FORMS') end return dD end local function fF(a,y,f,N)
while y[f]do local A,O=y[f]:upper(),nil for E,dv in ipairs(de)do O=dv[1]==A and dv or O end if O then fO(O,a,N)
if O[2]==A then a[A]=true f=f+1 else a[A]=fH(A,y[f+1],y[f+2]) f=f+(A=='RESERVE'and 3 or 2) end fN(a)
elseif eG[A]and aC(N,'form')then a.form=fw(a.form,A) f=f+1 else return f end end return f end
local eH={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function gq(a,g) local T=dL(g)
if not T then a.ao=g:upper() T=eH[a.ao] if not T then
G(aC((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aC((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
X(m('ERR invalid window: %s takes no windows of the calendar',('WINDOW'))) end end return T end local function fk(i)
return i:sub(-9)==':reserved'or i:sub(-14)==':reserved:ends' end local function fP(i) if fk(i)then G('RESERVED_KEY') end
end local function ga(a,Y,f,i) local bw,u=Y[f]or'',Y[f+1] local ah=((nil)and(nil)(a)or'')..':reserved'
if(bw~=i..ah and bw~='{'..i..'}'..ah)or u~=bw..':ends'then G('KEYS') end a.af,a.n=bw,u return f+2 end
local function dj(a) local fx=a.PARTIAL and a.t<a.c a.G=a.SHADOW and not a.u and(fx or not a.allowed)
if not a.allowed and(a.G or a.u)then a.allowed=true if not(nil)then local E,E,E,cD=bs(a) a.ttl=aj(cD) end end end
local function dO(a) bt(a,'keep',a.i) return a.remaining end local function dH(a,aV,h)
if h==0 or(aV and not bZ(a.now_ms,bn(aV,a.A)))then return'keep' end local u,ad=bk(a,a.i) if ad+h>=(2^53)then
G('INEXACT_REPLY') end u=u and a.i.e>=0 and u or a.now_ms+a.A return'charge',{e=ad+h,f=u} end local function dE(h)
return h==0 and 1 or h end local function eT(a) local h=a.c bq(a,0) local r,s=dH(a,nil,h) if h>0 then a.g,a.k=r,s end
local dR=bl(a.g,a.k,a.i) bt(a,a.g,dR) a.allowed=a.w>0 and v(a,0)==0 a.p=a.w>0 and h or dE(h) if(nil)then
a.count,a.ttl=(nil)(dR,a.now_ms) elseif a.allowed then a.ttl=aj(bc(v(a,a.w))) else local v=v(a,a.p)
a.ttl=v and math.max(1,aj(bc(v)))or-1 end end local function eU(a) local h=a.c if a.PARTIAL then h=math.min(h,dO(a)) end
a.t=h if a.ALWAYS then eT(a) else bq(a,h) end end local function aX(a,p) local C=p and p.f
return C and C>a.now_ms and C or a.now_ms+a.A end local function aP(g)
local k=aZ(g,'9223372036854775807')or G('FOREIGN_RESERVATION') local c=bv(k) return c-c==0 and c or G('INEXACT_STATE')
end local function aY(g) local h,eO,bb,aX,P=be(g,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not h or#P>16 or tonumber(P)>1e15 or P=='0'then G('FOREIGN_RESERVATION') end return{ c=h~=''and aP(h)or nil,
q=aP(eO), a=aP(bb), r=aP(aX), ttl=aP(P), } end local function fb(i,W) if not redis.REDIS_VERSION_NUM then return dq(i,W)
end local f=n('PEXPIRETIME',i) return f>=0 and f or nil end local function fU(i,bH) bH=m('%.0f',bH)
local dP=n('ZRANGE',i,bH,bH,'WITHSCORES')[2] return dP and tonumber(dP) end local gt,aL,bK,gu=4000,1000,1000,2*500
local function cE(b,I) b.l,b.D={},{} for E,t in ipairs(I)do if t.j.c then b.l[#b.l+1]={id=t.id,z=t.j}
elseif t.id~=b.id then b.D[#b.D+1]=t.id end end aL=math.max(0,aL-#b.l-#b.D) table.sort(b.l,function(d,e)
if d.z.q~=e.z.q then return d.z.q<e.z.q end return aW(d.id,e.id) end) b.au=true end local function fS(b)
local z=n('ZRANGE',b.n,'0',m('%.0f',aL),'WITHSCORES') local aN,u,I,ci={},{},{},false b.y=nil for c=1,#z,2 do
local bb=tonumber(z[c+1]) if bb>b.now_ms or#aN==aL then b.y=bb break end aN[#aN+1],u[#u+1]=z[c],bb end
local au=#aN>0 and n('HMGET',b.o,unpack(aN))or{} for c,K in ipairs(aN)do local J=au[c]and aY(au[c])
if not J or J.a~=u[c]then return false end I[c]={id=K,j=J} ci=ci or K==b.id end
if b.b and b.b.a<=b.now_ms and not ci then I[#I+1]={id=b.id,j=b.b} end cE(b,I) local ch=0 for E,l in ipairs(b.l)do
ch=l.id==b.id and 1 or ch end local fC=#b.l+#b.D-ch b.p=b.x-(b.v and 1 or 0)==fC and 0 or nil return true end
local function dB(J) return J.c and math.max(J.a+J.ttl,J.r)or J.a end local function fR(b) local l,aS,dI={},{},nil
local bR=n('HGETALL',b.o) for c=1,#bR,2 do local K=bR[c] if K~=''then local t={id=K,j=aY(bR[c+1])}
if t.j.a<=b.now_ms then l[#l+1]=t elseif K~=b.id then aS[#aS+1]=t end end end if#l>aL then table.sort(l,function(d,e)
if d.j.a~=e.j.a then return d.j.a<e.j.a end return aW(d.id,e.id) end) for c=#l,aL+1,-1 do local t=table.remove(l,c)
if t.id==b.id then dI=t else aS[#aS+1]=t end end l[#l+1]=dI end b.y,b.p,b.K=nil,0,aS for E,t in ipairs(aS)do
b.y=math.min(b.y or t.j.a,t.j.a) b.p=math.max(b.p,dB(t.j)) end cE(b,l) end local function eK(b,R)
local bJ=b.B==1 and n('ZSCORE',b.n,'') b.ae=bJ and true or false b.y=nil if R>0 then
local I=n('HSCAN',b.o,bJ and S(-1-tonumber(bJ))or'0','COUNT',S(R)) b.J,b.M,b.K=tonumber(I[1]),not bJ,{}
for c=1,#I[2],2 do local K=I[2][c] if K~=''and K~=b.id then b.K[#b.K+1]={id=K,j=aY(I[2][c+1])} elseif K~=''then
aY(I[2][c+1]) end end table.sort(b.K,function(d,e) return aW(d.id,e.id) end) b.H=b.J==0 end
if b.b and b.b.a<=b.now_ms then cE(b,{{id=b.id,j=b.b}}) b.p=b.x==1 and 0 or nil end end local function fr(a,K)
local i=a.af local I=n('HMGET',i,K,'') local b={o=i,n=a.n,id=K,now_ms=a.now_ms,l={},D={}} b.v=I[1]and aY(I[1])or nil
b.b=b.v b.B=I[2]and aP(I[2])or nil b.x=n('HLEN',i)-(b.B and 1 or 0) b.f=fb(i,b.now_ms) b.P=n('ZCARD',b.n) b.y=fU(b.n,0)
local fA=b.x==b.P and(b.B==0 or b.x==0 and not b.B) local ff=math.min(b.y or math.huge,b.b and b.b.a or math.huge)
b.H=fA and(ff>b.now_ms or fS(b)) if not b.H then local an=b.x+(b.B and 1 or 0) local R=an<=bK and an or math.min(bK,500)
bK=bK-R if R==an then b.H,b.M=true,true fR(b) else eK(b,R) end end return b end local function fV(a,bp,bQ)
local p,cC=a.i,bp.c or 0 if bp.r<=a.now_ms then return'keep' elseif bQ>=cC then local r,s=dH(a,nil,bQ-cC)
if r=='charge'and not bk(a,p)then s.f=math.min(bp.r,a.now_ms+a.A) end return r,s
elseif not p or p.e<=0 or p.f~=bp.r then return'keep' end local D=p.e-(cC-bQ) if D<=0 then return'delete' end
return'refund',{e=D,f=p.f} end local function cc(l,W) local ay=l.z if W>=ay.a+ay.ttl then return nil end return{ q=ay.q,
a=ay.a+ay.ttl, r=(l.ad or ay.c==0)and ay.r or 0, ttl=ay.ttl, } end local function fi(a) local b=a.N
for E,l in ipairs(b.l)do if l.z.c>0 and b.now_ms<l.z.r then local r,s=fV(a,l.z,0) if r~='keep'then if not a.Q then
a.Q,a.v=true,a.i end l.ad=true a.i=bl(r,s,a.i) end end end if b.b and b.b.a<=b.now_ms then b.b=nil
for E,l in ipairs(b.l)do if l.id==b.id then b.b=cc(l,b.now_ms) end end end end local function fy(b)
return b.b and b.b.c and b.b or nil end local function dG(b) local B,ba,ap=b.x-(b.v and 1 or 0)-#b.D,b.y,b.p or 0
for E,l in ipairs(b.l)do local ao=l.id~=b.id and cc(l,b.now_ms) if ao then ba=math.min(ba or ao.a,ao.a)
ap=math.max(ap,ao.a) elseif l.id~=b.id then B=B-1 end end return B,ba,ap end local function fh(b) local B,ba=dG(b)
if b.b or B<100000 then return nil end return math.max(1,(ba or 0)-b.now_ms) end local function eW(a) local h,b=a.c,a.N
fi(a) a.u,a.I=fy(b),fh(b) if a.u then h=0 elseif a.PARTIAL then h=math.min(h,dO(a)) end local dk=(nil)or bq dk(a,h)
if a.I and a.allowed then dk(a,0) a.allowed,a.p=false,dE(h) if not(nil)then a.ttl=aj(a.I) end end a.t=h dj(a) end
local function fq(a) a.N=fr(a,a.RESERVE.id) dz(a,'write') eW(a) end local function dt(a,r,s) local p=a.i
if r=='rebase'then return'keep' elseif r=='charge'and p and p.e>=0 and bk(a,p)then return'charge',{e=s.e,f=p.f} end
return r,s end local function dF(b,h,P,aX) local W=b.now_ms b.b={c=h,q=W,a=W+P,r=aX,ttl=P} end local function fK(b,bz,P)
if bz.a<b.now_ms+P then dF(b,bz.c,P,bz.r) b.b.q=bz.q end end local function fz(a) local ds=not a.G if a.PARTIAL then
ds=a.t>0 and not a.I end return not a.u and a.allowed and ds end local function eR(a,r,s) if a.Q then s=bl(r,s,a.i)
a.i=a.v if not s then r=a.v and'delete'or'keep' elseif r~='charge'then r='refund' end end di(a,r,s) end
local function dp(J) local y={J.c and S(J.c)or''} for c,D in ipairs({J.q,J.a,J.r,J.ttl})do y[c+1]=S(D) end
return table.concat(y,':') end local function bo(eM,cb) local ac=0 for z=1,#cb,1000 do local ar={unpack(eM)}
for c=z,math.min(z+999,#cb)do ar[#ar+1]=cb[c] end ac=ac+n(unpack(ar)) end return ac end local function eQ(b)
local B,E,ap=dG(b) if B==0 and not b.b then if b.x>0 or b.B then n('UNLINK',b.o) end if b.P>0 then n('UNLINK',b.n) end
return end local an,bf,aa={},{},{} local function aI(aO,z,bI) aO[#aO+1]=z aO[#aO+1]=bI end for E,K in ipairs(b.D)do
aa[#aa+1]=K end for E,t in ipairs(b.K or{})do aI(bf,S(t.j.a),t.id) end for E,l in ipairs(b.l)do
local ao=l.id~=b.id and cc(l,b.now_ms) if ao then aI(an,l.id,dp(ao)) aI(bf,S(ao.a),l.id) elseif l.id~=b.id then
aa[#aa+1]=l.id end end if b.b and b.b~=b.v then aI(an,b.id,dp(b.b)) elseif not b.b and b.v then aa[#aa+1]=b.id end
if b.b then ap=math.max(ap,dB(b.b)) local fj=not b.v or b.b.a~=b.v.a if b.M or b.ae or b.H and fj then
aI(bf,S(b.b.a),b.id) end end local dA=b.H and 0 or 1 if b.B~=dA then aI(an,'',S(dA)) end bo({'HSET',b.o},an)
bo({'HDEL',b.o},aa) if b.J and b.J>0 then aI(bf,'-'..S(b.J+1),'') end if b.M and b.P>0 then n('UNLINK',b.n) end
bo({'ZADD',b.n},bf) if b.J==0 then aa[#aa+1]='' end bo({'ZREM',b.n},aa) local aM,bd,C=b.f,ap+5000,nil
local gf=not aM and not b.p and b.x>0 if not gf and(not aM or aM<ap or(b.p and aM>bd))then C=bd end cF(b.o,C)
if C or b.M and aM then cF(b.n,C or aM) end end local function eS(a,az) if not az and a.g=='charge'then
a.g,a.k='keep',nil end if a.SHADOW and dt then a.g,a.k=dt(a,a.g,a.k) end local b=a.N if b and az and a.u then
fK(b,a.u,a.RESERVE.ttl) elseif b and az and fz(a)then local s=bl(a.g,a.k,a.i) dF(b,a.t,a.RESERVE.ttl,aX(a,s)) end
eR(a,a.g,a.k) if b then eQ(b) end end local function dM(a) return a.u and a.u.c or a.G and a.c or a.t end
local function dr(a) if not a.allowed then return 0 end return a.PARTIAL and dM(a)or 1 end local function fg(a,am)
local at,fQ,ai,cD,eY=bs(a) return{ 'allowed',dr(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.w, 'remaining',at,
'retry_after_ms',fQ, 'next_ms',ai, 'reset_ms',cD, 'delay_ms',eY, 'now_ms',a.now_ms, 'shadow',a.G and 1 or 0,
'charged',am, } end local function fv(bj) local dT={} for E,a in ipairs(bj)do local z,aD=a.AS or('WINDOW'):lower(),2
a.F=z while dT[a.F]do a.F=m('%s-%d',z,aD) aD=aD+1 end dT[a.F]=true end end local function by(c)
return m('%.0f',dC(c,999999999999999)) end local function fJ(a) local T=(nil)and(nil)(a)or a.A local bV,F=1000,T%1000
while F>0 do bV,F=F,bV%F end local eD=1000/bV local aU=bU(bg(T,eD),1000)
return m('"%s";q=%s;w=%s',a.F,by(bg(a.limit,eD)),by(aU)) end local function fo(t,cf) if t.allowed~=cf.allowed then
return not t.allowed end local v,cg=t.retry_after_ms,cf.retry_after_ms if v~=cg then return v<0 or(cg>=0 and v>cg) end
return t.remaining<cf.remaining end local function fl(bj) local cG,dN=bj[1],{} fv(bj) for c,a in ipairs(bj)do
dN[c]=fJ(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bs(a) if fo(a,cG)then cG=a end end local a=cG local au={
'X-RateLimit-Limit', m('%.0f',a.w), 'X-RateLimit-Remaining', m('%.0f',a.remaining), } local function bx(ah,D)
au[#au+1]=ah au[#au+1]=D end if a.reset_ms>=0 then bx('X-RateLimit-Reset',m('%.0f',aj(a.now_ms+a.reset_ms))) end
bx('RateLimit-Policy',table.concat(dN,', ')) local ft=a.next_ms>=0 and';t='..by(aj(a.next_ms))or''
bx('RateLimit',m('"%s";r=%s%s',a.F,by(a.remaining),ft)) if not a.allowed and a.retry_after_ms>=0 then
bx('Retry-After',m('%.0f',aj(a.retry_after_ms))) end return au end local function fB(a,am) if a.form=='FULL'then
return fg(a,am) end return{dr(a),a.count,a.ttl,fl({a})} end
bP={W=eJ,X=eS,Y=dj,Z=eU,aa=dn,error_reply=fa,ab=dq,E=G,ac=fd,ag=fq,S=fu,ah=fB,ai=dJ,aj=fF,V=dM,ak=fP,al=fZ,am=ga,an=gc,aq=gp,as=gq}
end return bP end if as then return o().error_reply(as) end local br,aR=pcall(fT,KEYS,ARGV)
return br and aR or o().error_reply(aR) end local function fe(dc,ae) local H,m,n=string.find,string.format,redis.call
local bh local cI=ae[1] local bL=ae[2] local bM=ae[3] if not bL then return end local bm=ae[4] local cm local L local Z
if(bM=='LINE')and(not bm)then cm=4 L=1 Z='LINE' else local cj local ck local cl if bM then if bm then
if not(((((ae[5]=='LINE')and(not ae[6]))and((#bm)<16))and(bM=='COST'))and H(bm,'^[1-9]%d*$'))then return end cj=6
ck=bm+0 cl='LINE' else if(((ae[5]=='LINE')and(not ae[6]))and(bM=='COST'))and H('','^[1-9]%d*$')then return end return
end else cj=3 ck=1 cl=nil end cm=cj L=ck Z=cl end if not(((#bL)<16)and H(bL,'^[1-9]%d*$'))then return end local j=bL+0
if not(((#cI)<10)and H(cI,'^[1-9]%d*$'))then return end local cJ=cI*1000 if not(cJ<9e12)then return end local gh=ae[cm]
if gh then return end local dX=n('TIME') local x=(dX[1]*1e06)+dX[2] local ak=(x-(x%1000))/1000 local av=dc[1]
if not av then return end if H(av,':reserved',1,true)then return end if not((#dc)==1)then return end
local bN=n('GET',av) if bN then if not(((#bN)<16)and H(bN,'^[1-9]%d*$'))then return end local Q=bN+0
if not redis.REDIS_VERSION_NUM then return end local aJ=n('PEXPIRETIME',av) if aJ<0 then return end if 2^53<=aJ then
return end if aJ<=ak then return end local bO=ak+cJ local M=(aJ<bO)and aJ or bO local gi=(Q+L)<=j if 2^53<=Q then return
end if gi then local aw=Q+L if M<=ak then return end local aT=(M<bO)and M or bO local cK=(aw<j)and(j-aw)or 0 local aF
if(aw+j)<=j then aF=0 else if not((aT*1000)<2^53)then return end local dY=aT*1000 local cL=(x<dY)and(dY-x)or 0
local dZ=cL%1000 aF=(dZ==0)and(cL/1000)or(((cL-dZ)/1000)+1) end if 2^53<=aF then return end local ea=aF%1000
local eb=(aF<0)and(-1)or((ea==0)and(aF/1000)or(((aF-ea)/1000)+1)) local cq if Z=='LINE'then local cp local bC
if cK<j then local cQ=cK+1 local bB if j<cQ then bB=nil else if(aw+cQ)<=j then bB=0 else if not((aT*1000)<2^53)then
return end local ek=aT*1000 local cR=(x<ek)and(ek-x)or 0 local el=cR%1000 bB=(el==0)and(cR/1000)or(((cR-el)/1000)+1) end
end local em=bB or(-1) local co if cQ==j then co=em else local cn if(aw+j)<=j then cn=0 else if not((aT*1000)<2^53)then
return end local en=aT*1000 local cS=(x<en)and(en-x)or 0 local eo=cS%1000 cn=(eo==0)and(cS/1000)or(((cS-eo)/1000)+1) end
co=cn end cp=em bC=co else cp=0 bC=0 end if 2^53<=bC then return end
local gl=m('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',Q,eb,j,cK,cp,bC,ak,L) cq=gl else if Z then return end
cq={1,Q,eb} end if aJ==M then local ep=aw-Q local cr if ep==1 then cr='1' else cr=m('%.0f',ep) end
local gw=n('INCRBY',av,cr) else if Q==aw then local gx=n('PEXPIREAT',av,m('%.0f',M)) else
local gy=n('SET',av,m('%.0f',aw),'PXAT',m('%.0f',M)) end end bh=cq else if not(M==aJ)then return end
local cM=(Q<j)and(j-Q)or 0 local aq if j<L then aq=nil else if not((M*1000)<2^53)then return end local ec=M*1000
local cN=(x<ec)and(ec-x)or 0 local ed=cN%1000 aq=(ed==0)and(cN/1000)or(((cN-ed)/1000)+1) end local bA if aq then
if 2^53<=aq then return end local ee=aq%1000 local gj=(aq<0)and(-1)or((ee==0)and(aq/1000)or(((aq-ee)/1000)+1)) bA=gj
else bA=-1 end local ef=(bA==0)and 1 or bA local cw if Z=='LINE'then local cs if j<L then cs=nil else
if not((M*1000)<2^53)then return end local eq=M*1000 local cT=(x<eq)and(eq-x)or 0 local er=cT%1000
cs=(er==0)and(cT/1000)or(((cT-er)/1000)+1) end local es=cs or(-1) local bE local cv if cM<j then local cU=cM+1 local bD
if j<cU then bD=nil else if(Q+cU)<=j then bD=0 else if not((M*1000)<2^53)then return end local et=M*1000
local cV=(x<et)and(et-x)or 0 local eu=cV%1000 bD=(eu==0)and(cV/1000)or(((cV-eu)/1000)+1) end end local ev=bD or(-1)
local cu if cU==j then cu=ev else local ct if(Q+j)<=j then ct=0 else if not((M*1000)<2^53)then return end
local ew=M*1000 local cW=(x<ew)and(ew-x)or 0 local ex=cW%1000 ct=(ex==0)and(cW/1000)or(((cW-ex)/1000)+1) end cu=ct end
bE=cu cv=ev else bE=0 cv=0 end if(2^53<=es)or(2^53<=bE)then return end
local gm=m('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',Q,ef,j,cM,es,cv,bE,ak) cw=gm else if Z then return end
cw={0,Q,ef} end bh=cw end else local gk=L<=j if gk then local ax=ak+cJ if ax<=ak then return end
local cO=(L<j)and(j-L)or 0 local aG if(L+j)<=j then aG=0 else if not((ax*1000)<2^53)then return end local eg=ax*1000
local cP=(x<eg)and(eg-x)or 0 local eh=cP%1000 aG=(eh==0)and(cP/1000)or(((cP-eh)/1000)+1) end if 2^53<=aG then return end
local ei=aG%1000 local ej=(aG<0)and(-1)or((ei==0)and(aG/1000)or(((aG-ei)/1000)+1)) local cA if Z=='LINE'then local cz
local bG if cO<j then local cX=cO+1 local bF if j<cX then bF=nil else if(L+cX)<=j then bF=0 else
if not((ax*1000)<2^53)then return end local ey=ax*1000 local cY=(x<ey)and(ey-x)or 0 local ez=cY%1000
bF=(ez==0)and(cY/1000)or(((cY-ez)/1000)+1) end end local eA=bF or(-1) local cy if cX==j then cy=eA else local cx
if(L+j)<=j then cx=0 else if not((ax*1000)<2^53)then return end local eB=ax*1000 local cZ=(x<eB)and(eB-x)or 0
local eC=cZ%1000 cx=(eC==0)and(cZ/1000)or(((cZ-eC)/1000)+1) end cy=cx end cz=eA bG=cy else cz=0 bG=0 end
if 2^53<=bG then return end local gn=m('1 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',ej,j,cO,cz,bG,ak,L) cA=gn else
if Z then return end cA={1,0,ej} end local go=m('%.0f',L) local gz=n('SET',av,go,'PXAT',m('%.0f',ax)) bh=cA else
local cB if Z=='LINE'then cB=m('0 0 -1 %.0f %.0f -1 0 0 0 %.0f 0 0',j,j,ak) else if Z then return end cB={0,0,(-1)} end
bh=cB end end return bh end local br,aR=pcall(fe,KEYS,ARGV) if br and aR then return aR end return fY(not br and aR)
