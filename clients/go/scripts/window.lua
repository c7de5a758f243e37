-- RL.WINDOW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function gc(av) local bT,o local L,m,ar,gz=string.find,string.format,string.match,string.sub local function dQ(ae)
return ae==''and 1000 or ae=='ms'and 1 or ae=='s'and 1000 or ae=='m'and 60000 or ae=='h'and 3600000
or ae=='d'and 86400000 or nil end local function fK(y,f,O) local bq,V,q=y[f],y[f+1],y[f+2] if not V then o().z('ARITY')
end local a={ l='', N=0, now_ms=0, w=0, an=0, limit=0, s=0, c=1, form=nil, delay=0, g=nil, i=nil, allowed=false,
count=0, ttl=0, f='keep', remaining=0, p=1, } f=f+2
if q=='LINE'and not y[f+1]and O~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then a.form,f=q,f+1 elseif q then
local D=y[f+1]or''
local dv=O==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and y[f+2]=='LINE'and not y[f+3]and#D<16
if dv and q=='COST'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')~=' ID 'and L(D,'^[1-9]%d*$')then
a.form,a.c,f='LINE',D+0,f+3 elseif dv and q=='ID'and(' COST PARTIAL ALWAYS RESERVE RESERVATION ')==' ID 'and D~=''then
a.form,a.ID,f='LINE',D,f+3 else f=o().af(a,y,f,O) a.c=a.COST or 1 end end local fr=#V<16 and L(V,'^[1-9]%d*$')
a.limit=fr and V+0 or o().ae('limit',V,0) local Z,ae=ar(bq,'^([1-9]%d*)(%l*)$') local bn=Z and#bq<16 and dQ(ae)
local K=bn and Z*bn if not K or K<1 or K>1e15 then K=o().ao(a,bq) end
a.w,a.an,a.s=K,K<9e12 and K*1000 or o().M(K,1000),a.BURST or a.limit return a,f end local function fI(y,O)
local a,f=fK(y,1,O) if y[f]then o().Y(a,O,y[f]) end return a end local n=redis.call local function fP(a)
local dX=n('TIME') local ch=dX[1]*1000000+dX[2] a.N,a.now_ms=ch,(ch-ch%1000)/1000 end local function gf(a,Y,f,dc,cb)
local i=Y[f] if not i then o().z('KEYS') end a.l,f=i,f+1 if cb then a.A=i elseif L(i,':reserved',1,true)then o().ag(i)
end if dc then f=a.ar and f+2 or o().ai(a,Y,f,i) end return f end local function fM(a,Y,dc,cb) fP(a)
if#Y~=gf(a,Y,1,dc,cb)-1 then o().z('KEYS') end end local function dA(a) local i=a.l local g=n('GET',i) if g then
local D=#g<16 and L(g,'^[1-9]%d*$')and g+0 or o().am(g)
local C=redis.REDIS_VERSION_NUM and n('PEXPIRETIME',i)or o().X(i,a.now_ms)or-1 if C<0 then C=nil elseif C>=(2^53)then
o().z('INEXACT_STATE') end a.g={d=D,e=C} end end local function bm(a,p) local W=a.now_ms local C=p and p.e if not p then
return nil,0 elseif C and C<=W then return nil,0 end local bg=W+a.w return C and C<bg and C or bg,p.d>0 and p.d or 0 end
local function bf(c) if c-c~=0 or c>=(2^53)then o().z('INEXACT_REPLY') end return c end local function gi(p,u)
if u and u~=p.e then return'rebase',{d=p.d,e=u} end return'keep' end local function bx(a,E,p) local u,af=bm(a,p)
a.a,a.al,a.remaining=u,af,af<a.limit and a.limit-af or 0 end local function bo(r,s,aD) if r=='keep'then return aD end
return r~='delete'and s or nil end local function al(ai) local F=ai%1000
return ai<0 and-1 or F==0 and ai/1000 or(ai-F)/1000+1 end local function br(d,e) if d-d==0 and e-e==0 and d+e<(2^53)then
return d+e end return o().Q(d,e) end local function fc(d,e) if d-d==0 and e-e==0 then local F=d%e
return F==0 and d/e or(d-F)/e+1 end local aS,F=o().W(d,e) return F==0 and aS or br(aS,1) end local function dU(d,e)
if d-d==0 and e-e==0 then return d>e and d-e or 0 end return o().ah(d,e) end local function bi(d,e)
if d-d==0 and e-e==0 and d*e<(2^53)then return d*e end return o().M(d,e) end local function v(a,h) local V=a.limit
if h>V then return nil elseif a.al+h<=V then return 0 end return fc(dU(bi(a.a,1000),a.N),1000) end
local function gh(a,h) local v=v(a,h==0 and 1 or h) v=v and al(bf(v))or-1 return v==0 and 1 or v end
local function bu(a,h) local p,V=a.g,a.limit local u,af=bm(a,p) local aC=af+(h==0 and 1 or h)<=V
a.allowed,a.count=aC,bf(af) if aC and h>0 then u=u and p.d>=0 and u or a.now_ms+a.w a.f,a.i='charge',{d=af+h,e=u} else
a.f,a.i=gi(p,u) end bx(a,a.f,bo(a.f,a.i,p)) if aC then a.ttl=al(bf(v(a,V))) else a.ttl=gh(a,h) end end
local function eY(a) if a.PARTIAL or a.ALWAYS then o().V(a) else local h=a.c a.p=h bu(a,h) end if a.SHADOW then o().U(a)
end end local function bw(a) local r,v=a.f,v bx(a,r,r=='keep'and a.g or r~='delete'and a.i or nil)
local aw,bX,ac,ak,aJ=a.remaining,a.s,0,0,0 if not a.allowed then local h=a.p ac=v(a,a.m or(h==0 and 1 or h))or-1
if a.E and ac>=0 then ac=math.max(ac,a.E) end end if aw<bX then ak=v(a,aw+1)or-1 aJ=aw+1==bX and ak or v(a,bX)or-1 end
if ac-ac~=0 or ak-ak~=0 or aJ-aJ~=0 or ac>=(2^53)or aJ>=(2^53)then o().z('INEXACT_REPLY') end return aw,ac,ak,aJ,0 end
local function ft(a,ao) local aw,ac,ak,aJ,fa=bw(a) local ga=a.B and 1 or 0 return m(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and o().P(a)or 1)or 0,a.count,a.ttl,a.s,aw,ac,ak,aJ, fa,a.now_ms,ga,ao ) end
local function fQ(a,ao) local aE=a.form if aE=='LINE'then return ft(a,ao) elseif aE then return o().ad(a,ao) end
return{a.allowed and(a.PARTIAL and o().P(a)or 1)or 0,a.count,a.ttl} end local function eS(a) if a.q then return a.q.c
end if a.f~='charge'then return 0 elseif a.ALWAYS then return a.p elseif not a.allowed or(a.B and not a.PARTIAL)then
return 0 end return a.p end local function T(c) if c-c~=0 then return o().aj(c) end return m('%.0f',c) end
local function cI(i,aY) if aY then n('PEXPIREAT',i,T(aY)) end end local function dj(a,r,s) local i,aD=a.l,a.g
if r=='delete'then n('UNLINK',i) elseif r=='keep'then return elseif aD and aD.e==s.e then local dm=s.d-aD.d
n('INCRBY',i,dm==1 and'1'or m('%.0f',dm)) elseif aD and aD.d==s.d then cI(i,s.e) else n('SET',i,T(s.d),'PXAT',T(s.e))
end end local function fX(Y,y) local a=fI(y,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
fM(a,Y,a.RESERVE) if a.RESERVE then o().ac(a) else dA(a,'write') eY(a) end local eO=fQ(a,eS(a))
if a.SHADOW or a.RESERVE then o().S(a,true) else dj(a,a.f,a.i) end return eO end function o() if not bT then local w={}
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
w.ARITY='ERR wrong number of arguments' local function X(g) error({err=g},0) end local function G(aj) X(w[aj]) end
local function fd(av) if type(av)=='table'then return av elseif L(av,'^%u+ ')then return redis.error_reply(av) end
error(av,0) end local function aM(c) if c-c~=0 then return c end local k,B={},0 while c>0 do local U=c%(2^24) B=B+1
k[B]=U c=(c-U)/(2^24) end return k end local df={ __sub=function() return 1 end, } local function by(k) local B=#k
while B>0 and k[B]==0 do k[B]=nil B=B-1 end if B>3 or(B==3 and k[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(k,df)
end return(k[1]or 0)+(k[2]or 0)*(2^24)+(k[3]or 0)*(2^24)*(2^24) end local function eM(d,e) d,e=aM(d),aM(e)
local ad,an={},0 for c=1,math.max(#d,#e)+1 do local U=(d[c]or 0)+(e[c]or 0)+an an=U>=(2^24)and 1 or 0 ad[c]=U-an*(2^24)
end return by(ad) end local function dz(d,e) local dh,eQ=d-d==0,e-e==0 if dh or eQ then return dh elseif#d~=#e then
return#d<#e end for c=#d,1,-1 do if d[c]~=e[c]then return d[c]<e[c] end end return false end local function gd(d,e)
if not dz(e,d)then return 0 end e=aM(e) local dn,bW={},0 for c=1,#d do local U=d[c]-(e[c]or 0)-bW bW=U<0 and 1 or 0
dn[c]=U+bW*(2^24) end return by(dn) end local function fy(d,e) d,e=aM(d),aM(e) local bk={} for c=1,#d+#e do bk[c]=0 end
for c=1,#d do local an=0 for cd=1,#e do local U=bk[c+cd-1]+d[c]*e[cd]+an an=math.floor(U/(2^24)) bk[c+cd-1]=U-an*(2^24)
end bk[c+#e]=an end return by(bk) end local function cc(d,e) if d-d==0 and e-e==0 then return d<e end return dz(d,e) end
local function di(c) if c-c==0 then return c end local ad=0 for fp=#c,1,-1 do ad=ad*(2^24)+c[fp] end return ad end
local function dp(d,e) local aS=0 while not cc(d,e)do local au=math.max(1,math.floor(di(d)/di(e)*(1-2^-45)))
au=by(aM(au)) aS=br(aS,au) d=dU(d,bi(au,e)) end return aS,d end local function bY(d,e) if d-d==0 and e-e==0 then
local F=d%e return(d-F)/e,F end return dp(d,e) end local function gg(c) local cK='' while c-c~=0 do local F
c,F=bY(c,10000000) cK=m('%07.0f',F)..cK end return m('%.0f',c)..cK end local function dr(i,W) local dy=n('PTTL',i)
return dy>=0 and W+dy or nil end local function aZ(d,e) for f=1,math.min(#d,#e)do local eH,eI=d:byte(f),e:byte(f)
if eH~=eI then return eH<eI end end return#d<#e end local function bc(g,S) if g~='0'and not L(g,'^[1-9]%d*$')then
return nil end return(#g<#S or(#g==#S and not aZ(S,g)))and g or nil end local function ff(g,A,fH)
local gv={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local dd=gv[ar(g,'^(%u):')] if not dd or dd==A then
G(fH) end X('ERR the key holds a state of '..dd..': use another key for each algorithm') end local function bz(k)
if#k<=15 or(#k==16 and aZ(k,'9007199254740992'))then return k+0 end local ca=#k%7 local c=ca>0 and k:sub(1,ca)+0 or 0
for f=ca+1,#k,7 do c=br(bi(c,10000000),k:sub(f,f+6)+0) end return c end local function gt(g)
local gb,k=ar(g,'^(%-?)(%d+)$') local cg=gb=='-' k=k and bc(k,cg and'9223372036854775808'or'9223372036854775807')
if not k or(cg and k=='0')then ff(g,nil,'NOT_A_COUNTER') end local D=bz(k) if D-D~=0 then G('INEXACT_STATE') end
return cg and-D or D end local function dK(aj,g,dx) local k=g and bc(g,'9223372036854775807') local c=k and bz(k)
if not c or c==0 and dx>0 then X(m('ERR invalid %s: expected an integer from %d to 9223372036854775807',aj,dx))
elseif c-c~=0 then X(m('ERR invalid %s: the Lua library takes integers up to 9007199254740991',aj)) end return c end
local dg={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aF(aQ,A)
return not L(A,' ',1,true)and L(aQ,' '..A..' ',1,true)~=nil end local function dW(a,q)
return not aF(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',q)or aF((' COST PARTIAL ALWAYS RESERVE RESERVATION '),q)
end local function fq(A,q) local z,ah=0,0 local dS,fw=math.min(#A,#q),math.max(#A,#q)
while z<dS and A:byte(z+1)==q:byte(z+1)do z=z+1 end while ah<dS-z and A:byte(-1-ah)==q:byte(-1-ah)do ah=ah+1 end
return z+ah>=2 and fw-z-ah<=2 end local function fg(a,O,A) local aG={} for E,P in ipairs(dg)do
if aF(O,P[1])and dW(a,P[1])then aG[#aG+1]=P[2] end end for E,aE in ipairs({'FULL','LINE','HEADERS'})do aG[#aG+1]=aE end
for E,q in ipairs(aG)do if fq(A:upper(),ar(q,'^%u+'))then X('ERR syntax error: no such option, but there is '..q) end
end local ah=table.remove(aG) local gk=table.concat(aG,', ')
X('ERR syntax error: after limit come '..gk..' or '..ah..', each at most once') end local function fS(P,a,O)
local q,gw=P[1],a.ap if not aF(O,q)then X(m('ERR invalid %s: only %s it',q,P[3])) elseif not dW(a,q)then
X(m('ERR invalid %s: %s takes none',q,('WINDOW'))) elseif a[q]~=nil then
X(m('ERR syntax error: %s comes at most once',P[2])) end end local function dM(g) local Z,ae=ar(g,'^(%d+)(%l*)$')
local bn=Z and dQ(ae) local ai=bn and bc(Z,'18446744073709551615')and Z*bn
return ai and ai>=1 and ai<=1e15 and ai or nil end local function dL(g,S) return g and#g>=1 and#g<=S and g end
local function dD(d,e) return cc(e,d)and e or d end local eL=setmetatable({(2^24)-1,(2^24)-1,2^16-1},df)
local function fL(q,g,bM) if q=='RESERVE'then local Q=bM and dM(bM) return dL(g,128)and Q and{id=g,ttl=Q}or G('RESERVE')
elseif q=='RESERVATION'then return dL(g,128)or G('RESERVATION') end if q=='AS'then
return g and#g>=1 and#g<=64 and not L(g,'[^%w._-]')and g or G('AS') elseif q=='AT'then
local k=g and bc(g,'9223372036854775807') return k and dD(bz(k),(bY(eL,1000)))or G('AT') end
return dK(q,g,q=='BURST'and 1 or 0) end local function fR(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
G(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
G(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local eJ={FULL=true,LINE=true,HEADERS=true}
local function fA(aE,dE) if aE then G(aE==dE and'FORM_TWICE'or'TWO_FORMS') end return dE end local function fJ(a,y,f,O)
while y[f]do local A,P=y[f]:upper(),nil for E,dw in ipairs(dg)do P=dw[1]==A and dw or P end if P then fS(P,a,O)
if P[2]==A then a[A]=true f=f+1 else a[A]=fL(A,y[f+1],y[f+2]) f=f+(A=='RESERVE'and 3 or 2) end fR(a)
elseif eJ[A]and aF(O,'form')then a.form=fA(a.form,A) f=f+1 else return f end end return f end
local eK={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function gu(a,g) local K=dM(g)
if not K then a.ak=g:upper() K=eK[a.ak] if not K then
G(aF((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aF((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
X(m('ERR invalid window: %s takes no windows of the calendar',('WINDOW'))) end end return K end local function fn(i)
return i:sub(-9)==':reserved'or i:sub(-14)==':reserved:ends' end local function fT(i) if fn(i)then G('RESERVED_KEY') end
end local function ge(a,Y,f,i) local bA,u=Y[f]or'',Y[f+1] local aj=((nil)and(nil)(a)or'')..':reserved'
if(bA~=i..aj and bA~='{'..i..'}'..aj)or u~=bA..':ends'then G('KEYS') end a.ab,a.k=bA,u return f+2 end
local function dk(a) local fB=a.PARTIAL and a.p<a.c a.B=a.SHADOW and not a.q and(fB or not a.allowed)
if not a.allowed and(a.B or a.q)then a.allowed=true if not(nil)then local E,E,E,cG=bw(a) a.ttl=al(cG) end end end
local function dP(a) bx(a,'keep',a.g) return a.remaining end local function dI(a,aY,h)
if h==0 or(aY and not cc(a.now_ms,br(aY,a.w)))then return'keep' end local u,af=bm(a,a.g) if af+h>=(2^53)then
G('INEXACT_REPLY') end u=u and a.g.d>=0 and u or a.now_ms+a.w return'charge',{d=af+h,e=u} end local function dF(h)
return h==0 and 1 or h end local function eW(a) local h=a.c bu(a,0) local r,s=dI(a,nil,h) if h>0 then a.f,a.i=r,s end
local dT=bo(a.f,a.i,a.g) bx(a,a.f,dT) a.allowed=a.s>0 and v(a,0)==0 a.m=a.s>0 and h or dF(h) if(nil)then
a.count,a.ttl=(nil)(dT,a.now_ms) elseif a.allowed then a.ttl=al(bf(v(a,a.s))) else local v=v(a,a.m)
a.ttl=v and math.max(1,al(bf(v)))or-1 end end local function eX(a) local h=a.c if a.PARTIAL then h=math.min(h,dP(a)) end
a.p=h if a.ALWAYS then eW(a) else bu(a,h) end end local function ba(a,p) local C=p and p.e
return C and C>a.now_ms and C or a.now_ms+a.w end local function aR(g)
local k=bc(g,'9223372036854775807')or G('FOREIGN_RESERVATION') local c=bz(k) return c-c==0 and c or G('INEXACT_STATE')
end local function bb(g) local h,eR,be,ba,Q=ar(g,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not h or#Q>16 or tonumber(Q)>1e15 or Q=='0'then G('FOREIGN_RESERVATION') end return{ c=h~=''and aR(h)or nil,
n=aR(eR), a=aR(be), o=aR(ba), ttl=aR(Q), } end local function fe(i,W) if not redis.REDIS_VERSION_NUM then return dr(i,W)
end local f=n('PEXPIRETIME',i) return f>=0 and f or nil end local function fY(i,bL) bL=m('%.0f',bL)
local dR=n('ZRANGE',i,bL,bL,'WITHSCORES')[2] return dR and tonumber(dR) end local gx,aN,bO,gy=4000,1000,1000,2*500
local function cH(b,H) b.j,b.y={},{} for E,t in ipairs(H)do if t.h.c then b.j[#b.j+1]={id=t.id,v=t.h}
elseif t.id~=b.id then b.y[#b.y+1]=t.id end end aN=math.max(0,aN-#b.j-#b.y) table.sort(b.j,function(d,e)
if d.v.n~=e.v.n then return d.v.n<e.v.n end return aZ(d.id,e.id) end) b.aq=true end local function fW(b)
local z=n('ZRANGE',b.k,'0',m('%.0f',aN),'WITHSCORES') local aP,u,H,cl={},{},{},false b.u=nil for c=1,#z,2 do
local be=tonumber(z[c+1]) if be>b.now_ms or#aP==aN then b.u=be break end aP[#aP+1],u[#u+1]=z[c],be end
local ax=#aP>0 and n('HMGET',b.l,unpack(aP))or{} for c,J in ipairs(aP)do local I=ax[c]and bb(ax[c])
if not I or I.a~=u[c]then return false end H[c]={id=J,h=I} cl=cl or J==b.id end
if b.b and b.b.a<=b.now_ms and not cl then H[#H+1]={id=b.id,h=b.b} end cH(b,H) local ck=0 for E,l in ipairs(b.j)do
ck=l.id==b.id and 1 or ck end local fG=#b.j+#b.y-ck b.m=b.t-(b.r and 1 or 0)==fG and 0 or nil return true end
local function dC(I) return I.c and math.max(I.a+I.ttl,I.o)or I.a end local function fV(b) local l,aU,dJ={},{},nil
local bV=n('HGETALL',b.l) for c=1,#bV,2 do local J=bV[c] if J~=''then local t={id=J,h=bb(bV[c+1])}
if t.h.a<=b.now_ms then l[#l+1]=t elseif J~=b.id then aU[#aU+1]=t end end end if#l>aN then table.sort(l,function(d,e)
if d.h.a~=e.h.a then return d.h.a<e.h.a end return aZ(d.id,e.id) end) for c=#l,aN+1,-1 do local t=table.remove(l,c)
if t.id==b.id then dJ=t else aU[#aU+1]=t end end l[#l+1]=dJ end b.u,b.m,b.G=nil,0,aU for E,t in ipairs(aU)do
b.u=math.min(b.u or t.h.a,t.h.a) b.m=math.max(b.m,dC(t.h)) end cH(b,l) end local function eN(b,S)
local bN=b.x==1 and n('ZSCORE',b.k,'') b.aa=bN and true or false b.u=nil if S>0 then
local H=n('HSCAN',b.l,bN and T(-1-tonumber(bN))or'0','COUNT',T(S)) b.F,b.H,b.G=tonumber(H[1]),not bN,{}
for c=1,#H[2],2 do local J=H[2][c] if J~=''and J~=b.id then b.G[#b.G+1]={id=J,h=bb(H[2][c+1])} elseif J~=''then
bb(H[2][c+1]) end end table.sort(b.G,function(d,e) return aZ(d.id,e.id) end) b.D=b.F==0 end
if b.b and b.b.a<=b.now_ms then cH(b,{{id=b.id,h=b.b}}) b.m=b.t==1 and 0 or nil end end local function fv(a,J)
local i=a.ab local H=n('HMGET',i,J,'') local b={l=i,k=a.k,id=J,now_ms=a.now_ms,j={},y={}} b.r=H[1]and bb(H[1])or nil
b.b=b.r b.x=H[2]and aR(H[2])or nil b.t=n('HLEN',i)-(b.x and 1 or 0) b.e=fe(i,b.now_ms) b.J=n('ZCARD',b.k) b.u=fY(b.k,0)
local fE=b.t==b.J and(b.x==0 or b.t==0 and not b.x) local fi=math.min(b.u or math.huge,b.b and b.b.a or math.huge)
b.D=fE and(fi>b.now_ms or fW(b)) if not b.D then local ap=b.t+(b.x and 1 or 0) local S=ap<=bO and ap or math.min(bO,500)
bO=bO-S if S==ap then b.D,b.H=true,true fV(b) else eN(b,S) end end return b end local function fZ(a,bt,bU)
local p,cF=a.g,bt.c or 0 if bt.o<=a.now_ms then return'keep' elseif bU>=cF then local r,s=dI(a,nil,bU-cF)
if r=='charge'and not bm(a,p)then s.e=math.min(bt.o,a.now_ms+a.w) end return r,s
elseif not p or p.d<=0 or p.e~=bt.o then return'keep' end local D=p.d-(cF-bU) if D<=0 then return'delete' end
return'refund',{d=D,e=p.e} end local function cf(l,W) local aB=l.v if W>=aB.a+aB.ttl then return nil end return{ n=aB.n,
a=aB.a+aB.ttl, o=(l.Z or aB.c==0)and aB.o or 0, ttl=aB.ttl, } end local function fl(a) local b=a.I
for E,l in ipairs(b.j)do if l.v.c>0 and b.now_ms<l.v.o then local r,s=fZ(a,l.v,0) if r~='keep'then if not a.K then
a.K,a.r=true,a.g end l.Z=true a.g=bo(r,s,a.g) end end end if b.b and b.b.a<=b.now_ms then b.b=nil
for E,l in ipairs(b.j)do if l.id==b.id then b.b=cf(l,b.now_ms) end end end end local function fC(b)
return b.b and b.b.c and b.b or nil end local function dH(b) local B,bd,as=b.t-(b.r and 1 or 0)-#b.y,b.u,b.m or 0
for E,l in ipairs(b.j)do local aq=l.id~=b.id and cf(l,b.now_ms) if aq then bd=math.min(bd or aq.a,aq.a)
as=math.max(as,aq.a) elseif l.id~=b.id then B=B-1 end end return B,bd,as end local function fk(b) local B,bd=dH(b)
if b.b or B<100000 then return nil end return math.max(1,(bd or 0)-b.now_ms) end local function eZ(a) local h,b=a.c,a.I
fl(a) a.q,a.E=fC(b),fk(b) if a.q then h=0 elseif a.PARTIAL then h=math.min(h,dP(a)) end local dl=(nil)or bu dl(a,h)
if a.E and a.allowed then dl(a,0) a.allowed,a.m=false,dF(h) if not(nil)then a.ttl=al(a.E) end end a.p=h dk(a) end
local function fu(a) a.I=fv(a,a.RESERVE.id) dA(a,'write') eZ(a) end local function du(a,r,s) local p=a.g
if r=='rebase'then return'keep' elseif r=='charge'and p and p.d>=0 and bm(a,p)then return'charge',{d=s.d,e=p.e} end
return r,s end local function dG(b,h,Q,ba) local W=b.now_ms b.b={c=h,n=W,a=W+Q,o=ba,ttl=Q} end local function fO(b,bD,Q)
if bD.a<b.now_ms+Q then dG(b,bD.c,Q,bD.o) b.b.n=bD.n end end local function fD(a) local dt=not a.B if a.PARTIAL then
dt=a.p>0 and not a.E end return not a.q and a.allowed and dt end local function eU(a,r,s) if a.K then s=bo(r,s,a.g)
a.g=a.r if not s then r=a.r and'delete'or'keep' elseif r~='charge'then r='refund' end end dj(a,r,s) end
local function dq(I) local y={I.c and T(I.c)or''} for c,D in ipairs({I.n,I.a,I.o,I.ttl})do y[c+1]=T(D) end
return table.concat(y,':') end local function bs(eP,ce) local ad=0 for z=1,#ce,1000 do local au={unpack(eP)}
for c=z,math.min(z+999,#ce)do au[#au+1]=ce[c] end ad=ad+n(unpack(au)) end return ad end local function eT(b)
local B,E,as=dH(b) if B==0 and not b.b then if b.t>0 or b.x then n('UNLINK',b.l) end if b.J>0 then n('UNLINK',b.k) end
return end local ap,bh,ab={},{},{} local function aK(aQ,z,bM) aQ[#aQ+1]=z aQ[#aQ+1]=bM end for E,J in ipairs(b.y)do
ab[#ab+1]=J end for E,t in ipairs(b.G or{})do aK(bh,T(t.h.a),t.id) end for E,l in ipairs(b.j)do
local aq=l.id~=b.id and cf(l,b.now_ms) if aq then aK(ap,l.id,dq(aq)) aK(bh,T(aq.a),l.id) elseif l.id~=b.id then
ab[#ab+1]=l.id end end if b.b and b.b~=b.r then aK(ap,b.id,dq(b.b)) elseif not b.b and b.r then ab[#ab+1]=b.id end
if b.b then as=math.max(as,dC(b.b)) local fm=not b.r or b.b.a~=b.r.a if b.H or b.aa or b.D and fm then
aK(bh,T(b.b.a),b.id) end end local dB=b.D and 0 or 1 if b.x~=dB then aK(ap,'',T(dB)) end bs({'HSET',b.l},ap)
bs({'HDEL',b.l},ab) if b.F and b.F>0 then aK(bh,'-'..T(b.F+1),'') end if b.H and b.J>0 then n('UNLINK',b.k) end
bs({'ZADD',b.k},bh) if b.F==0 then ab[#ab+1]='' end bs({'ZREM',b.k},ab) local aO,bg,C=b.e,as+5000,nil
local gj=not aO and not b.m and b.t>0 if not gj and(not aO or aO<as or(b.m and aO>bg))then C=bg end cI(b.l,C)
if C or b.H and aO then cI(b.k,C or aO) end end local function eV(a,aC) if not aC and a.f=='charge'then
a.f,a.i='keep',nil end if a.SHADOW and du then a.f,a.i=du(a,a.f,a.i) end local b=a.I if b and aC and a.q then
fO(b,a.q,a.RESERVE.ttl) elseif b and aC and fD(a)then local s=bo(a.f,a.i,a.g) dG(b,a.p,a.RESERVE.ttl,ba(a,s)) end
eU(a,a.f,a.i) if b then eT(b) end end local function dN(a) return a.q and a.q.c or a.B and a.c or a.p end
local function ds(a) if not a.allowed then return 0 end return a.PARTIAL and dN(a)or 1 end local function fj(a,ao)
local aw,fU,ak,cG,fb=bw(a) return{ 'allowed',ds(a), 'count',a.count, 'ttl',a.ttl, 'limit',a.s, 'remaining',aw,
'retry_after_ms',fU, 'next_ms',ak, 'reset_ms',cG, 'delay_ms',fb, 'now_ms',a.now_ms, 'shadow',a.B and 1 or 0,
'charged',ao, } end local function fz(bl) local dV={} for E,a in ipairs(bl)do local z,Z=a.AS or('WINDOW'):lower(),2
a.A=z while dV[a.A]do a.A=m('%s-%d',z,Z) Z=Z+1 end dV[a.A]=true end end local function bC(c)
return m('%.0f',dD(c,999999999999999)) end local function fN(a) local K=(nil)and(nil)(a)or a.w local bZ,F=1000,K%1000
while F>0 do bZ,F=F,bZ%F end local eG=1000/bZ local bq=bY(bi(K,eG),1000)
return m('"%s";q=%s;w=%s',a.A,bC(bi(a.limit,eG)),bC(bq)) end local function fs(t,ci) if t.allowed~=ci.allowed then
return not t.allowed end local v,cj=t.retry_after_ms,ci.retry_after_ms if v~=cj then return v<0 or(cj>=0 and v>cj) end
return t.remaining<ci.remaining end local function fo(bl) local cJ,dO=bl[1],{} fz(bl) for c,a in ipairs(bl)do
dO[c]=fN(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bw(a) if fs(a,cJ)then cJ=a end end local a=cJ local ax={
'X-RateLimit-Limit', m('%.0f',a.s), 'X-RateLimit-Remaining', m('%.0f',a.remaining), } local function bB(aj,D)
ax[#ax+1]=aj ax[#ax+1]=D end if a.reset_ms>=0 then bB('X-RateLimit-Reset',m('%.0f',al(a.now_ms+a.reset_ms))) end
bB('RateLimit-Policy',table.concat(dO,', ')) local fx=a.next_ms>=0 and';t='..bC(al(a.next_ms))or''
bB('RateLimit',m('"%s";r=%s%s',a.A,bC(a.remaining),fx)) if not a.allowed and a.retry_after_ms>=0 then
bB('Retry-After',m('%.0f',al(a.retry_after_ms))) end return ax end local function fF(a,ao) if a.form=='FULL'then
return fj(a,ao) end return{ds(a),a.count,a.ttl,fo({a})} end
bT={Q=eM,S=eV,U=dk,V=eX,W=dp,error_reply=fd,X=dr,z=G,Y=fg,ac=fu,M=fy,ad=fF,ae=dK,af=fJ,P=dN,ag=fT,ah=gd,ai=ge,aj=gg,am=gt,ao=gu}
end return bT end if av then return o().error_reply(av) end local bv,aT=pcall(fX,KEYS,ARGV)
return bv and aT or o().error_reply(aT) end local function fh(de,ag)
local L,ar,m,n=string.find,string.match,string.format,redis.call if m('%d',2^40)~='1099511627776'then return end
local bj local dY=ag[1] local bP=ag[2] local bQ=ag[3] if not bP then return end local bp=ag[4] local cp local M local aa
if(bQ=='LINE')and(not bp)then cp=4 M=1 aa='LINE' else local cm local cn local co if bQ then if bp then
if not(((((ag[5]=='LINE')and(not ag[6]))and((#bp)<16))and(bQ=='COST'))and L(bp,'^[1-9]%d*$'))then return end cm=6
cn=bp+0 co='LINE' else if(((ag[5]=='LINE')and(not ag[6]))and(bQ=='COST'))and L('','^[1-9]%d*$')then return end return
end else cm=3 cn=1 co=nil end cp=cm M=cn aa=co end if not(((#bP)<16)and L(bP,'^[1-9]%d*$'))then return end local j=bP+0
local dZ,aV=ar(dY,'^([1-9]%d*)(%l*)$') if dZ then if(#dY)<16 then
local cL=(aV=='')and 1000 or((aV=='ms')and 1 or((aV=='s')and 1000 or((aV=='m')and 60000 or((aV=='h')and 3.6e6 or((aV=='d')and 8.64e7 or nil)))))
local aW=cL and(dZ*cL)or cL if(not aW)or((aW<1)or(1e15<aW))then return end if not(aW<9e12)then return end
local gl=ag[cp] if gl then return end local ea=n('TIME') local x=(ea[1]*1e6)+ea[2] local am=(x-(x%1000))/1000
local ay=de[1] if not ay then return end if L(ay,':reserved',1,true)then return end if not((#de)==1)then return end
local bR=n('GET',ay) if bR then if not(((#bR)<16)and L(bR,'^[1-9]%d*$'))then return end local R=bR+0
if not redis.REDIS_VERSION_NUM then return end local aL=n('PEXPIRETIME',ay) if aL<0 then return end if 2^53<=aL then
return end if aL<=am then return end local bS=am+aW local N=(aL<bS)and aL or bS local gm=(R+M)<=j if 2^53<=R then return
end if gm then local az=R+M if N<=am then return end local aX=(N<bS)and N or bS local cM=(az<j)and(j-az)or 0 local aH
if(az+j)<=j then aH=0 else if not((aX*1000)<2^53)then return end local eb=aX*1000 local cN=(x<eb)and(eb-x)or 0
local ec=cN%1000 aH=(ec==0)and(cN/1000)or(((cN-ec)/1000)+1) end if 2^53<=aH then return end local ed=aH%1000
local ee=(aH<0)and(-1)or((ed==0)and(aH/1000)or(((aH-ed)/1000)+1)) local ct if aa=='LINE'then local cs local bG
if cM<j then local cS=cM+1 local bF if j<cS then bF=nil else if(az+cS)<=j then bF=0 else if not((aX*1000)<2^53)then
return end local en=aX*1000 local cT=(x<en)and(en-x)or 0 local eo=cT%1000 bF=(eo==0)and(cT/1000)or(((cT-eo)/1000)+1) end
end local ep=bF or(-1) local cr if cS==j then cr=ep else local cq if(az+j)<=j then cq=0 else if not((aX*1000)<2^53)then
return end local eq=aX*1000 local cU=(x<eq)and(eq-x)or 0 local er=cU%1000 cq=(er==0)and(cU/1000)or(((cU-er)/1000)+1) end
cr=cq end cs=ep bG=cr else cs=0 bG=0 end if 2^53<=bG then return end
local gp=m('1 %d %d %d %d 0 %d %d 0 %d 0 %d',R,ee,j,cM,cs,bG,am,M) ct=gp else if aa then return end ct={1,R,ee} end
if aL==N then local es=az-R local cu if es==1 then cu='1' else cu=m('%d',es) end local gA=n('INCRBY',ay,cu) else
if R==az then local gB=n('PEXPIREAT',ay,m('%d',N)) else local gC=n('SET',ay,m('%d',az),'PXAT',m('%d',N)) end end bj=ct
else if not(N==aL)then return end local cO=(R<j)and(j-R)or 0 local at if j<M then at=nil else if not((N*1000)<2^53)then
return end local ef=N*1000 local cP=(x<ef)and(ef-x)or 0 local eg=cP%1000 at=(eg==0)and(cP/1000)or(((cP-eg)/1000)+1) end
local bE if at then if 2^53<=at then return end local eh=at%1000
local gn=(at<0)and(-1)or((eh==0)and(at/1000)or(((at-eh)/1000)+1)) bE=gn else bE=-1 end local ei=(bE==0)and 1 or bE
local cz if aa=='LINE'then local cv if j<M then cv=nil else if not((N*1000)<2^53)then return end local et=N*1000
local cV=(x<et)and(et-x)or 0 local eu=cV%1000 cv=(eu==0)and(cV/1000)or(((cV-eu)/1000)+1) end local ev=cv or(-1) local cy
local bI if cO<j then local cW=cO+1 local bH if j<cW then bH=nil else if(R+cW)<=j then bH=0 else
if not((N*1000)<2^53)then return end local ew=N*1000 local cX=(x<ew)and(ew-x)or 0 local ex=cX%1000
bH=(ex==0)and(cX/1000)or(((cX-ex)/1000)+1) end end local ey=bH or(-1) local cx if cW==j then cx=ey else local cw
if(R+j)<=j then cw=0 else if not((N*1000)<2^53)then return end local ez=N*1000 local cY=(x<ez)and(ez-x)or 0
local eA=cY%1000 cw=(eA==0)and(cY/1000)or(((cY-eA)/1000)+1) end cx=cw end cy=ey bI=cx else cy=0 bI=0 end
if(2^53<=ev)or(2^53<=bI)then return end local gq=m('0 %d %d %d %d %d %d %d 0 %d 0 0',R,ei,j,cO,ev,cy,bI,am) cz=gq else
if aa then return end cz={0,R,ei} end bj=cz end else local go=M<=j if go then local aA=am+aW if aA<=am then return end
local cQ=(M<j)and(j-M)or 0 local aI if(M+j)<=j then aI=0 else if not((aA*1000)<2^53)then return end local ej=aA*1000
local cR=(x<ej)and(ej-x)or 0 local ek=cR%1000 aI=(ek==0)and(cR/1000)or(((cR-ek)/1000)+1) end if 2^53<=aI then return end
local el=aI%1000 local em=(aI<0)and(-1)or((el==0)and(aI/1000)or(((aI-el)/1000)+1)) local cD if aa=='LINE'then local cC
local bK if cQ<j then local cZ=cQ+1 local bJ if j<cZ then bJ=nil else if(M+cZ)<=j then bJ=0 else
if not((aA*1000)<2^53)then return end local eB=aA*1000 local da=(x<eB)and(eB-x)or 0 local eC=da%1000
bJ=(eC==0)and(da/1000)or(((da-eC)/1000)+1) end end local eD=bJ or(-1) local cB if cZ==j then cB=eD else local cA
if(M+j)<=j then cA=0 else if not((aA*1000)<2^53)then return end local eE=aA*1000 local db=(x<eE)and(eE-x)or 0
local eF=db%1000 cA=(eF==0)and(db/1000)or(((db-eF)/1000)+1) end cB=cA end cC=eD bK=cB else cC=0 bK=0 end
if 2^53<=bK then return end local gr=m('1 0 %d %d %d 0 %d %d 0 %d 0 %d',em,j,cQ,cC,bK,am,M) cD=gr else if aa then return
end cD={1,0,em} end local gs=m('%d',M) local gD=n('SET',ay,gs,'PXAT',m('%d',aA)) bj=cD else local cE if aa=='LINE'then
cE=m('0 0 -1 %d %d -1 0 0 0 %d 0 0',j,j,am) else if aa then return end cE={0,0,(-1)} end bj=cE end end else return end
else return end return bj end local bv,aT=pcall(fh,KEYS,ARGV) if bv and aT then return aT end return gc(not bv and aT)
