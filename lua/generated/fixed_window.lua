-- RL.FIXED: KEYS and ARGV of the script that it replaces, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local function gi(aw) local ci,n local J,k,au,cX=string.find,string.format,string.match,string.sub local function ei(P)
return P==''and 1000 or P=='ms'and 1 or P=='s'and 1000 or P=='m'and 60000 or P=='h'and 3600000 or P=='d'and 86400000
or nil end local function fQ(z,f,R) local aP,O,q=z[f],z[f+1],z[f+2] if not O then n().A('ARITY') end local a={ j='',
al=0, now_ms=0, h=0, au=0, limit=0, u=0, c=1, form=nil, delay=0, d=nil, t=nil, allowed=false, count=0, ttl=0, i='keep',
remaining=0, q=1, } f=f+2 if q=='LINE'and not z[f+1]and R~=' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'then
a.form,f=q,f+1 elseif q then local A=z[f+1]or''
local dM=R==' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE 'and z[f+2]=='LINE'and not z[f+3]and#A<16
if dM and q=='COST'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')~=' ID 'and J(A,'^[1-9]%d*$')then
a.form,a.c,f='LINE',A+0,f+3
elseif dM and q=='ID'and(' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ')==' ID 'and A~=''then
a.form,a.ID,f='LINE',A,f+3 else f=n().ao(a,z,f,R) a.c=a.COST or 1 end a.o=a.ANCHOR and a.ANCHOR*1000 end
local fv=#O<16 and J(O,'^[1-9]%d*$') a.limit=fv and O+0 or n().an('limit',O,0) local S,P=au(aP,'^([1-9]%d*)(%l*)$')
local bu=S and#aP<16 and ei(P) local y=bu and S*bu if not y or y<1 or y>1e15 then y=n().av(a,aP) end
a.h,a.au,a.u=y,y<9e12 and y*1000 or n().aj(y,1000),a.BURST or a.limit return a,f end local function fO(z,R)
local a,f=fQ(z,1,R) if z[f]then n().ad(a,R,z[f]) end return a end local r=redis.call local function fV(a)
local bw=r('TIME') local cz=bw[1]*1000000+bw[2] a.al,a.now_ms=cz,(cz-cz%1000)/1000 end local function bv(a)
if a.g or a.o then return n().V(a,(n().S(a))) end local p,y=a.now_ms,a.h local S=(p-p%y)/y
return k(S<2147483648 and':%d'or':%.0f',S) end local function gm(a,N,f,bg,cs) local i=N[f] if bv then
local bb,ba=bv(a),N[f+1] local ab=#bb if not ba then n().A('KEYS') elseif cX(i,-ab)~=bb then i=ba if cX(i,-ab)~=bb then
a.U=true end end a.j,i,f=i,cX(i,1,-ab-1),f+2 else if not i then n().A('KEYS') end a.j,f=i,f+1 end if cs then a.D=i
elseif J(i,':reserved',1,true)then n().ap(i) end if bg then f=a.U and f+2 or n().aq(a,N,f,i) end return f end
local function fS(a,N,bg,cs) fV(a) if#N==1 then N=n().aa(a,N,bg) end if#N~=gm(a,N,1,bg,cs)-1 then n().A('KEYS')
elseif a.U then n().ac(a) end end local function dR(a) local i=a.j local g=r('GET',i) if g then
local A=#g<16 and J(g,'^[1-9]%d*$')and g+0 or n().at(g)
local I=redis.REDIS_VERSION_NUM and r('PEXPIRETIME',i)or n().ab(i,a.now_ms)or-1 if I<0 then I=nil elseif I>=(2^53)then
n().A('INEXACT_STATE') end a.d={l=A,f=I} end end local function eo(I,p) if not I then return-2 end
local Y=(I>p and I-p or 0)+500 return(Y-Y%1000)/1000 end local function bk(a,h) local t,p,O=a.d,a.now_ms,a.limit
local H,ac=t and t.l or 0,h==0 and 1 or h local aR=ac<=O and H+ac<=O local bD=(aR or H>=O)and h>0
local B=bD and H+h or H if B>=(2^53)then n().A('INEXACT_REPLY') end local I=t and not(bD and H==0)and t.f or nil
if not I and(t or bD)then I=(a.g or a.o)and n().ak(a)or p+a.h end a.allowed,a.count,a.ttl,a.i=aR,B,eo(I,p),'keep'
if bD or(t and not t.f)then a.i,a.t='charge',{l=B,f=I} end end local function eY(a) if a.PARTIAL or a.ALWAYS then
n().Z(a) else local h=a.c a.q=h bk(a,h) end if a.SHADOW then n().X(a) end end local function Q(a,h) local O=a.limit
if h>O then return nil elseif a.N+h<=O then return 0 end if a.g or a.o then local w,u=n().S(a) return u-a.now_ms end
return a.h-a.now_ms%a.h end local function cq(a,w,t) local A,O=t and t.l or 0,a.limit a.N=A>0 and A or 0
a.remaining=a.N<O and O-a.N or 0 end local function bF(a) local C,Q=a.i,Q
cq(a,C,C=='keep'and a.d or C~='delete'and a.t or nil) local ax,cl,ai,an,aL=a.remaining,a.u,0,0,0 if not a.allowed then
local h=a.q ai=Q(a,a.k or(h==0 and 1 or h))or-1 if a.G and ai>=0 then ai=math.max(ai,a.G) end end if ax<cl then
an=Q(a,ax+1)or-1 aL=ax+1==cl and an or Q(a,cl)or-1 end
if ai-ai~=0 or an-an~=0 or aL-aL~=0 or ai>=(2^53)or aL>=(2^53)then n().A('INEXACT_REPLY') end return ax,ai,an,aL,0 end
local function fy(a,aq) local ax,ai,an,aL,fb=bF(a) local gg=a.E and 1 or 0 return k(
'%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
a.allowed and(a.PARTIAL and n().Q(a)or 1)or 0,a.count,a.ttl,a.u,ax,ai,an,aL, fb,a.now_ms,gg,aq ) end
local function fW(a,aq) local aF=a.form if aF=='LINE'then return fy(a,aq) elseif aF then return n().am(a,aq) end
return{a.allowed and(a.PARTIAL and n().Q(a)or 1)or 0,a.count,a.ttl} end local function eR(a) if a.r then return a.r.c
end if a.i~='charge'then return 0 elseif a.ALWAYS then return a.q elseif not a.allowed or(a.E and not a.PARTIAL)then
return 0 end return a.q end local function ad(c) if c-c~=0 then return n().ar(c) end return k('%.0f',c) end
local function dd(i,aE) if aE then r('PEXPIREAT',i,ad(aE)) end end local function dD(a,C,B) local i,H=a.j,a.d
if C=='delete'then r('UNLINK',i) elseif C~='keep'then local cn=B.l-(H and H.l or 0) if cn~=0 then
r('INCRBY',i,cn==1 and'1'or k('%.0f',cn)) end if not H or B.f~=H.f then dd(i,B.f) end end end local function gd(N,z)
local a=fO(z,' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ') fS(a,N,a.RESERVE)
if a.RESERVE then n().ah(a) else dR(a,'write') eY(a) end local eL=fW(a,eR(a)) if a.SHADOW or a.RESERVE then
n().W(a,true) else dD(a,a.i,a.t) end return eL end function n() if not ci then local x={}
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
x.ARITY='ERR wrong number of arguments' local function dB(a,gj)
return k(':%s:%.0f',a.g and a.g:lower()or k('%.0fms',a.h),gj) end local function eV(bh,dV) if dV<2 then bh=bh-1 end
local fG=(dV+10)%12 local fx=math.floor(bh/4)-math.floor(bh/100)+math.floor(bh/400)
return 365*bh+fx+math.floor((153*fG+2)/5)-719468 end local function bG(c) return eV(math.floor(c/12),c%12) end
local function dW(bj) local af=1970*12+math.floor(bj/30.436875)+1 while bG(af)>bj do af=af-1 end return af,bj-bG(af) end
local function de(aC,af) local f=aC.ai+af local m=bG(f) return(m+math.min(aC.Y,bG(f+1)-m-1))*86400000+aC.as end
local function eP(ay,aD,p) local bw=aD%86400000 local af,bj=dW((aD-bw)/86400000) local aC={ai=af,Y=bj,as=bw}
local dz=dW(math.floor(p/86400000))-af local aX=dz-dz%ay local m,u=de(aC,aX),de(aC,aX+ay) if m>p then m,u=de(aC,aX-ay),m
end return m,u,u-m end local function cY(a,p) local P,aD=a.g,a.o if P=='MONTH'or P=='YEAR'then
local m,u,ab=eP(P=='YEAR'and 12 or 1,aD or 0,p) return math.max(0,m),u,ab end aD=aD or(P=='WEEK'and 4*86400000)or 0
local ab=a.h local dy=(p%ab-aD%ab)%ab return math.max(0,p-dy),p-dy+ab,ab end local function bX(a) if a.g or a.o then
return cY(a,a.now_ms) end local p,y=a.now_ms,a.h local m=p-p%y return m,m+y end local function cy(a) if a.g or a.o then
local w,u=cY(a,a.now_ms) return u end return a.now_ms+a.h end local function aa(g) error({err=g},0) end
local function F(am) aa(x[am]) end local function ff(aw) if type(aw)=='table'then return aw elseif J(aw,'^%u+ ')then
return redis.error_reply(aw) end error(aw,0) end local function aS(c) if c-c~=0 then return c end local j,E={},0
while c>0 do local Z=c%(2^24) E=E+1 j[E]=Z c=(c-Z)/(2^24) end return j end local du={ __sub=function() return 1 end, }
local function bH(j) local E=#j while E>0 and j[E]==0 do j[E]=nil E=E-1 end
if E>3 or(E==3 and j[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(j,du) end
return(j[1]or 0)+(j[2]or 0)*(2^24)+(j[3]or 0)*(2^24)*(2^24) end local function dX(d,e) d,e=aS(d),aS(e) local bs={}
for c=1,#d+#e do bs[c]=0 end for c=1,#d do local ap=0 for cu=1,#e do local Z=bs[c+cu-1]+d[c]*e[cu]+ap
ap=math.floor(Z/(2^24)) bs[c+cu-1]=Z-ap*(2^24) end bs[c+#e]=ap end return bH(bs) end local function dQ(d,e)
local dw,eN=d-d==0,e-e==0 if dw or eN then return dw elseif#d~=#e then return#d<#e end for c=#d,1,-1 do
if d[c]~=e[c]then return d[c]<e[c] end end return false end local function ct(d,e) if d-d==0 and e-e==0 then return d<e
end return dQ(d,e) end local function dA(c) if c-c==0 then return c end local aj=0 for fs=#c,1,-1 do aj=aj*(2^24)+c[fs]
end return aj end local function eJ(d,e) d,e=aS(d),aS(e) local aj,ap={},0 for c=1,math.max(#d,#e)+1 do
local Z=(d[c]or 0)+(e[c]or 0)+ap ap=Z>=(2^24)and 1 or 0 aj[c]=Z-ap*(2^24) end return bH(aj) end local function dx(d,e)
if d-d==0 and e-e==0 and d+e<(2^53)then return d+e end return eJ(d,e) end local function gk(d,e) if not dQ(e,d)then
return 0 end e=aS(e) local dG,ck={},0 for c=1,#d do local Z=d[c]-(e[c]or 0)-ck ck=Z<0 and 1 or 0 dG[c]=Z+ck*(2^24) end
return bH(dG) end local function aO(d,e) if d-d==0 and e-e==0 then return d>e and d-e or 0 end return gk(d,e) end
local function bM(d,e) if d-d==0 and e-e==0 and d*e<(2^53)then return d*e end return dX(d,e) end local function fe(d,e)
local cZ=0 while not ct(d,e)do local av=math.max(1,math.floor(dA(d)/dA(e)*(1-2^-45))) av=bH(aS(av)) cZ=dx(cZ,av)
d=aO(d,bM(av,e)) end return cZ,d end local function co(d,e) if d-d==0 and e-e==0 then local U=d%e return(d-U)/e,U end
return fe(d,e) end local function gn(c) local dg='' while c-c~=0 do local U c,U=co(c,10000000) dg=k('%07.0f',U)..dg end
return k('%.0f',c)..dg end local function dK(i,p) local dP=r('PTTL',i) return dP>=0 and p+dP or nil end
local function bi(d,e) for f=1,math.min(#d,#e)do local eE,eF=d:byte(f),e:byte(f) if eE~=eF then return eE<eF end end
return#d<#e end local function aT(g,X) if g~='0'and not J(g,'^[1-9]%d*$')then return nil end
return(#g<#X or(#g==#X and not bi(X,g)))and g or nil end local function fi(g,D,fN)
local gz={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local dt=gz[au(g,'^(%u):')] if not dt or dt==D then
F(fN) end aa('ERR the key holds a state of '..dt..': use another key for each algorithm') end local function bI(j)
if#j<=15 or(#j==16 and bi(j,'9007199254740992'))then return j+0 end local cr=#j%7 local c=cr>0 and j:sub(1,cr)+0 or 0
for f=cr+1,#j,7 do c=dx(bM(c,10000000),j:sub(f,f+6)+0) end return c end local function gx(g)
local gh,j=au(g,'^(%-?)(%d+)$') local cx=gh=='-' j=j and aT(j,cx and'9223372036854775808'or'9223372036854775807')
if not j or(cx and j=='0')then fi(g,nil,'NOT_A_COUNTER') end local A=bI(j) if A-A~=0 then F('INEXACT_STATE') end
return cx and-A or A end local function ec(am,g,dO) local j=g and aT(g,'9223372036854775807') local c=j and bI(j)
if not c or c==0 and dO>0 then aa(k('ERR invalid %s: expected an integer from %d to 9223372036854775807',am,dO))
elseif c-c~=0 then aa(k('ERR invalid %s: the Lua library takes integers up to 9007199254740991',am)) end return c end
local dv={ {'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'}, {'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'},
{'RESERVED','RESERVED n','RL.SETTLE takes'}, {'ACTUAL','ACTUAL m','RL.SETTLE takes'},
{'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function aH(aY,D)
return not J(D,' ',1,true)and J(aY,' '..D..' ',1,true)~=nil end local function en(a,q)
return not aH(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',q)or aH((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),q)
end local function fu(D,q) local m,u=0,0 local ek,fB=math.min(#D,#q),math.max(#D,#q)
while m<ek and D:byte(m+1)==q:byte(m+1)do m=m+1 end while u<ek-m and D:byte(-1-u)==q:byte(-1-u)do u=u+1 end
return m+u>=2 and fB-m-u<=2 end local function fj(a,R,D) local aI={} for w,V in ipairs(dv)do
if aH(R,V[1])and en(a,V[1])then aI[#aI+1]=V[2] end end for w,aF in ipairs({'FULL','LINE','HEADERS'})do aI[#aI+1]=aF end
for w,q in ipairs(aI)do if fu(D:upper(),au(q,'^%u+'))then aa('ERR syntax error: no such option, but there is '..q) end
end local u=table.remove(aI) local gp=table.concat(aI,', ')
aa('ERR syntax error: after limit come '..gp..' or '..u..', each at most once') end local function fY(V,a,R)
local q,gA=V[1],a.aw if not aH(R,q)then aa(k('ERR invalid %s: only %s it',q,V[3])) elseif not en(a,q)then
aa(k('ERR invalid %s: %s takes none',q,('FIXED'))) elseif a[q]~=nil then
aa(k('ERR syntax error: %s comes at most once',V[2])) end end local function ee(g) local S,P=au(g,'^(%d+)(%l*)$')
local bu=S and ei(P) local Y=bu and aT(S,'18446744073709551615')and S*bu return Y and Y>=1 and Y<=1e15 and Y or nil end
local function ed(g,X) return g and#g>=1 and#g<=X and g end local function dU(d,e) return ct(e,d)and e or d end
local eI=setmetatable({(2^24)-1,(2^24)-1,2^16-1},du) local function fR(q,g,bZ) if q=='RESERVE'then local W=bZ and ee(bZ)
return ed(g,128)and W and{id=g,ttl=W}or F('RESERVE') elseif q=='RESERVATION'then return ed(g,128)or F('RESERVATION') end
if q=='ANCHOR'then local j=g and aT(g,'253402300799') return j and j+0 or F('ANCHOR') end if q=='AS'then
return g and#g>=1 and#g<=64 and not J(g,'[^%w._-]')and g or F('AS') elseif q=='AT'then
local j=g and aT(g,'9223372036854775807') return j and dU(bI(j),(co(eI,1000)))or F('AT') end
return ec(q,g,q=='BURST'and 1 or 0) end local function fX(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
F(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
F(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local eG={FULL=true,LINE=true,HEADERS=true}
local function fE(aF,dY) if aF then F(aF==dY and'FORM_TWICE'or'TWO_FORMS') end return dY end local function fP(a,z,f,R)
while z[f]do local D,V=z[f]:upper(),nil for w,dN in ipairs(dv)do V=dN[1]==D and dN or V end if V then fY(V,a,R)
if V[2]==D then a[D]=true f=f+1 else a[D]=fR(D,z[f+1],z[f+2]) f=f+(D=='RESERVE'and 3 or 2) end fX(a)
elseif eG[D]and aH(R,'form')then a.form=fE(a.form,D) f=f+1 else return f end end return f end
local eH={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function gy(a,g) local y=ee(g)
if not y then a.g=g:upper() y=eH[a.g] if not y then
F(aH((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not aH((' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION '),'ANCHOR')then
aa(k('ERR invalid window: %s takes no windows of the calendar',('FIXED'))) end end return y end local function fq(i)
return i:sub(-9)==':reserved'or i:sub(-14)==':reserved:ends' end local function fZ(i) if fq(i)then F('RESERVED_KEY') end
end local function fF(a) local w,u=bX(a) if a.g or a.o then return dB(a,u) end return':'..ad(u/a.h) end
local function eO(a) return bv(a)..' '..fF(a) end local function fh(a) aa(k('ERR clock %.0f %s',a.now_ms,eO(a))) end
local function bL(a) local aP=a.g and a.g:lower()or k('%.0fms',a.h) return':'..aP..(a.o and k(':%.0f',a.o/1000)or'') end
local function gl(a,N,f,i) local aG,aV=N[f]or'',N[f+1] local am=(bL and bL(a)or'')..':reserved'
if(aG~=i..am and aG~='{'..i..'}'..am)or aV~=aG..':ends'then F('KEYS') end a.ag,a.n=aG,aV return f+2 end
local function fd(a,N,bg) local i=N[1] local ae={i} if bv then ae={i..bv(a),''} end if bg then
local aG=i..(bL and bL(a)or'')..':reserved' ae[#ae+1],ae[#ae+2]=aG,aG..':ends' end return ae end local function aM(Y)
local U=Y%1000 return Y<0 and-1 or U==0 and Y/1000 or(Y-U)/1000+1 end local function dE(a)
local fH=a.PARTIAL and a.q<a.c a.E=a.SHADOW and not a.r and(fH or not a.allowed) if not a.allowed and(a.E or a.r)then
a.allowed=true if not true then local w,w,w,db=bF(a) a.ttl=aM(db) end end end local function eh(a) cq(a,'keep',a.d)
return a.remaining end local function ft(a,aE) return not aE or not ct(aE,(bX(a))) end local function eb(a,aE,h)
local t=a.d if h==0 or not ft(a,aE)then return'keep' end local H=t and t.l or 0 if H+h+1>=(2^53)then F('INEXACT_REPLY')
end local as=H~=0 and t.f return'charge',{l=H+h,f=as or cy(a)} end local function ca(C,B,H) if C=='keep'then return H
end return C~='delete'and B or nil end local function bq(h) return h==0 and 1 or h end local function eB(t,p)
return t and t.l or 0,eo(t and t.f,p) end local function dJ(c) if c-c~=0 or c>=(2^53)then F('INEXACT_REPLY') end
return c end local function eW(a) local h=a.c bk(a,0) local C,B=eb(a,nil,h) if h>0 then a.i,a.t=C,B end
local el=ca(a.i,a.t,a.d) cq(a,a.i,el) a.allowed=a.u>0 and Q(a,0)==0 a.k=a.u>0 and h or bq(h) if eB then
a.count,a.ttl=eB(el,a.now_ms) elseif a.allowed then a.ttl=aM(dJ(Q(a,a.u))) else local Q=Q(a,a.k)
a.ttl=Q and math.max(1,aM(dJ(Q)))or-1 end end local function eX(a) local h=a.c if a.PARTIAL then h=math.min(h,eh(a)) end
a.q=h if a.ALWAYS then eW(a) else bk(a,h) end end local function aZ(g)
local j=aT(g,'9223372036854775807')or F('FOREIGN_RESERVATION') local c=bI(j) return c-c==0 and c or F('INEXACT_STATE')
end local function bl(g) local h,eQ,bn,cm,W=au(g,'^(%d*):(%d+):(%d+):(%d+):(%d+)$')
if not h or#W>16 or tonumber(W)>1e15 or W=='0'then F('FOREIGN_RESERVATION') end return{ c=h~=''and aZ(h)or nil,
p=aZ(eQ), a=aZ(bn), v=aZ(cm), ttl=aZ(W), } end local function fg(i,p) if not redis.REDIS_VERSION_NUM then return dK(i,p)
end local f=r('PEXPIRETIME',i) return f>=0 and f or nil end local function ge(i,bY) bY=k('%.0f',bY)
local ej=r('ZRANGE',i,bY,bY,'WITHSCORES')[2] return ej and tonumber(ej) end local gB,aU,cb,gC=4000,1000,1000,2*500
local function dc(b,K) b.m,b.B={},{} for w,s in ipairs(K)do if s.e.c then b.m[#b.m+1]={id=s.id,y=s.e}
elseif s.id~=b.id then b.B[#b.B+1]=s.id end end aU=math.max(0,aU-#b.m-#b.B) table.sort(b.m,function(d,e)
if d.y.p~=e.y.p then return d.y.p<e.y.p end return bi(d.id,e.id) end) b.ax=true end local function gc(b)
local m=r('ZRANGE',b.n,'0',k('%.0f',aU),'WITHSCORES') local aW,aV,K,cC={},{},{},false b.x=nil for c=1,#m,2 do
local bn=tonumber(m[c+1]) if bn>b.now_ms or#aW==aU then b.x=bn break end aW[#aW+1],aV[#aV+1]=m[c],bn end
local az=#aW>0 and r('HMGET',b.j,unpack(aW))or{} for c,M in ipairs(aW)do local L=az[c]and bl(az[c])
if not L or L.a~=aV[c]then return false end K[c]={id=M,e=L} cC=cC or M==b.id end
if b.b and b.b.a<=b.now_ms and not cC then K[#K+1]={id=b.id,e=b.b} end dc(b,K) local cB=0 for w,o in ipairs(b.m)do
cB=o.id==b.id and 1 or cB end local fM=#b.m+#b.B-cB b.k=b.w-(b.s and 1 or 0)==fM and 0 or nil return true end
local function dT(L) return L.c and math.max(L.a+L.ttl,L.v)or L.a end local function gb(b) local o,be,bb={},{},nil
local ae=r('HGETALL',b.j) for c=1,#ae,2 do local M=ae[c] if M~=''then local s={id=M,e=bl(ae[c+1])}
if s.e.a<=b.now_ms then o[#o+1]=s elseif M~=b.id then be[#be+1]=s end end end if#o>aU then table.sort(o,function(d,e)
if d.e.a~=e.e.a then return d.e.a<e.e.a end return bi(d.id,e.id) end) for c=#o,aU+1,-1 do local s=table.remove(o,c)
if s.id==b.id then bb=s else be[#be+1]=s end end o[#o+1]=bb end b.x,b.k,b.I=nil,0,be for w,s in ipairs(be)do
b.x=math.min(b.x or s.e.a,s.e.a) b.k=math.max(b.k,dT(s.e)) end dc(b,o) end local function eK(b,X)
local ay=b.z==1 and r('ZSCORE',b.n,'') b.af=ay and true or false b.x=nil if X>0 then
local K=r('HSCAN',b.j,ay and ad(-1-tonumber(ay))or'0','COUNT',ad(X)) b.H,b.J,b.I=tonumber(K[1]),not ay,{}
for c=1,#K[2],2 do local M=K[2][c] if M~=''and M~=b.id then b.I[#b.I+1]={id=M,e=bl(K[2][c+1])} elseif M~=''then
bl(K[2][c+1]) end end table.sort(b.I,function(d,e) return bi(d.id,e.id) end) b.F=b.H==0 end
if b.b and b.b.a<=b.now_ms then dc(b,{{id=b.id,e=b.b}}) b.k=b.w==1 and 0 or nil end end local function fA(a,M)
local i=a.ag local K=r('HMGET',i,M,'') local b={j=i,n=a.n,id=M,now_ms=a.now_ms,m={},B={}} b.s=K[1]and bl(K[1])or nil
b.b=b.s b.z=K[2]and aZ(K[2])or nil b.w=r('HLEN',i)-(b.z and 1 or 0) b.f=fg(i,b.now_ms) b.M=r('ZCARD',b.n) b.x=ge(b.n,0)
local fK=b.w==b.M and(b.z==0 or b.w==0 and not b.z) local fl=math.min(b.x or math.huge,b.b and b.b.a or math.huge)
b.F=fK and(fl>b.now_ms or gc(b)) if not b.F then local ar=b.w+(b.z and 1 or 0) local X=ar<=cb and ar or math.min(cb,500)
cb=cb-X if X==ar then b.F,b.J=true,true gb(b) else eK(b,X) end end return b end local function dI(a) local w,u=bX(a)
return u end local function gf(a,dC,cj) local t,da=a.d,dC.c or 0 if dC.v~=dI(a)then return'keep' elseif cj>=da then
return eb(a,nil,cj-da) elseif not t or t.l<=0 then return'keep' end local A=math.max(0,t.l-(da-cj))
return'refund',{l=A,f=t.f or cy(a)} end local function cw(o,p) local aB=o.y if p>=aB.a+aB.ttl then return nil end
return{ p=aB.p, a=aB.a+aB.ttl, v=(o.ae or aB.c==0)and aB.v or 0, ttl=aB.ttl, } end local function fo(a) local b=a.K
for w,o in ipairs(b.m)do if o.y.c>0 and b.now_ms<o.y.v then local C,B=gf(a,o.y,0) if C~='keep'then if not a.P then
a.P,a.s=true,a.d end o.ae=true a.d=ca(C,B,a.d) end end end if b.b and b.b.a<=b.now_ms then b.b=nil
for w,o in ipairs(b.m)do if o.id==b.id then b.b=cw(o,b.now_ms) end end end end local function fI(b)
return b.b and b.b.c and b.b or nil end local function ea(b) local E,bm,ac=b.w-(b.s and 1 or 0)-#b.B,b.x,b.k or 0
for w,o in ipairs(b.m)do local at=o.id~=b.id and cw(o,b.now_ms) if at then bm=math.min(bm or at.a,at.a)
ac=math.max(ac,at.a) elseif o.id~=b.id then E=E-1 end end return E,bm,ac end local function fn(b) local E,bm=ea(b)
if b.b or E<100000 then return nil end return math.max(1,(bm or 0)-b.now_ms) end local function fa(a,h)
local H=a.d and a.d.l or 0 local bo=bq(h)<=a.limit and H+bq(h)<=a.limit bk(a,bo and h or 0) a.allowed,a.k=bo,bq(h) end
local function eZ(a) local h,b=a.c,a.K fo(a) a.r,a.G=fI(b),fn(b) if a.r then h=0 elseif a.PARTIAL then
h=math.min(h,eh(a)) end local dF=fa or bk dF(a,h) if a.G and a.allowed then dF(a,0) a.allowed,a.k=false,bq(h)
if not true then a.ttl=aM(a.G) end end a.q=h dE(a) end local function fz(a) a.K=fA(a,a.RESERVE.id) dR(a,'write') eZ(a)
end local function dZ(b,h,W,cm) local p=b.now_ms b.b={c=h,p=p,a=p+W,v=cm,ttl=W} end local function fU(b,bN,W)
if bN.a<b.now_ms+W then dZ(b,bN.c,W,bN.v) b.b.p=bN.p end end local function fJ(a) local bo=not a.E if a.PARTIAL then
bo=a.q>0 and not a.G end return not a.r and a.allowed and bo end local function eT(a,C,B) if a.P then B=ca(C,B,a.d)
a.d=a.s if not B then C=a.s and'delete'or'keep' elseif C~='charge'then C='refund' end end dD(a,C,B) end
local function dH(L) local z={L.c and ad(L.c)or''} for c,A in ipairs({L.p,L.a,L.v,L.ttl})do z[c+1]=ad(A) end
return table.concat(z,':') end local function bC(eM,cv) local aj=0 for m=1,#cv,1000 do local av={unpack(eM)}
for c=m,math.min(m+999,#cv)do av[#av+1]=cv[c] end aj=aj+r(unpack(av)) end return aj end local function eS(b)
local E,w,ac=ea(b) if E==0 and not b.b then if b.w>0 or b.z then r('UNLINK',b.j) end if b.M>0 then r('UNLINK',b.n) end
return end local ar,bp,ah={},{},{} local function aN(aY,m,bZ) aY[#aY+1]=m aY[#aY+1]=bZ end for w,M in ipairs(b.B)do
ah[#ah+1]=M end for w,s in ipairs(b.I or{})do aN(bp,ad(s.e.a),s.id) end for w,o in ipairs(b.m)do
local at=o.id~=b.id and cw(o,b.now_ms) if at then aN(ar,o.id,dH(at)) aN(bp,ad(at.a),o.id) elseif o.id~=b.id then
ah[#ah+1]=o.id end end if b.b and b.b~=b.s then aN(ar,b.id,dH(b.b)) elseif not b.b and b.s then ah[#ah+1]=b.id end
if b.b then ac=math.max(ac,dT(b.b)) local fp=not b.s or b.b.a~=b.s.a if b.J or b.af or b.F and fp then
aN(bp,ad(b.b.a),b.id) end end local dS=b.F and 0 or 1 if b.z~=dS then aN(ar,'',ad(dS)) end bC({'HSET',b.j},ar)
bC({'HDEL',b.j},ah) if b.H and b.H>0 then aN(bp,'-'..ad(b.H+1),'') end if b.J and b.M>0 then r('UNLINK',b.n) end
bC({'ZADD',b.n},bp) if b.H==0 then ah[#ah+1]='' end bC({'ZREM',b.n},ah) local as,aX,I=b.f,ac+5000,nil
local go=not as and not b.k and b.w>0 if not go and(not as or as<ac or(b.k and as>aX))then I=aX end dd(b.j,I)
if I or b.J and as then dd(b.n,I or as) end end local function eU(a,aR) if not aR and a.i=='charge'then
a.i,a.t='keep',nil end local b=a.K if b and aR and a.r then fU(b,a.r,a.RESERVE.ttl) elseif b and aR and fJ(a)then
local B=ca(a.i,a.t,a.d) dZ(b,a.q,a.RESERVE.ttl,dI(a,B)) end eT(a,a.i,a.t) if b then eS(b) end end local function ef(a)
return a.r and a.r.c or a.E and a.c or a.q end local function dL(a) if not a.allowed then return 0 end
return a.PARTIAL and ef(a)or 1 end local function fm(a,aq) local ax,ga,an,db,fc=bF(a) return{ 'allowed',dL(a),
'count',a.count, 'ttl',a.ttl, 'limit',a.u, 'remaining',ax, 'retry_after_ms',ga, 'next_ms',an, 'reset_ms',db,
'delay_ms',fc, 'now_ms',a.now_ms, 'shadow',a.E and 1 or 0, 'charged',aq, } end local function fD(bt) local em={}
for w,a in ipairs(bt)do local m,S=a.AS or('FIXED'):lower(),2 a.D=m while em[a.D]do a.D=k('%s-%d',m,S) S=S+1 end
em[a.D]=true end end local function eC(a) if a.g or a.o then return(select(3,cY(a,a.now_ms))) end return a.h end
local function bK(c) return k('%.0f',dU(c,999999999999999)) end local function fT(a) local y=eC and eC(a)or a.h
local cp,U=1000,y%1000 while U>0 do cp,U=U,cp%U end local eD=1000/cp local aP=co(bM(y,eD),1000)
return k('"%s";q=%s;w=%s',a.D,bK(bM(a.limit,eD)),bK(aP)) end local function fw(s,ba) if s.allowed~=ba.allowed then
return not s.allowed end local Q,cA=s.retry_after_ms,ba.retry_after_ms if Q~=cA then return Q<0 or(cA>=0 and Q>cA) end
return s.remaining<ba.remaining end local function fr(bt) local df,eg=bt[1],{} fD(bt) for c,a in ipairs(bt)do
eg[c]=fT(a) a.remaining,a.retry_after_ms,a.next_ms,a.reset_ms=bF(a) if fw(a,df)then df=a end end local a=df local az={
'X-RateLimit-Limit', k('%.0f',a.u), 'X-RateLimit-Remaining', k('%.0f',a.remaining), } local function bJ(am,A)
az[#az+1]=am az[#az+1]=A end if a.reset_ms>=0 then bJ('X-RateLimit-Reset',k('%.0f',aM(a.now_ms+a.reset_ms))) end
bJ('RateLimit-Policy',table.concat(eg,', ')) local fC=a.next_ms>=0 and';t='..bK(aM(a.next_ms))or''
bJ('RateLimit',k('"%s";r=%s%s',a.D,bK(a.remaining),fC)) if not a.allowed and a.retry_after_ms>=0 then
bJ('Retry-After',k('%.0f',aM(a.retry_after_ms))) end return az end local function fL(a,aq) if a.form=='FULL'then
return fm(a,aq) end return{dL(a),a.count,a.ttl,fr({a})} end
ci={V=dB,W=eU,X=dE,Z=eX,aa=fd,error_reply=ff,ab=dK,A=F,ac=fh,ad=fj,ah=fz,aj=dX,ak=cy,am=fL,an=ec,ao=fP,Q=ef,S=bX,ap=fZ,aq=gl,ar=gn,at=gx,av=gy}
end return ci end if aw then return n().error_reply(aw) end local bE,bd=pcall(gd,KEYS,ARGV)
return bE and bd or n().error_reply(bd) end local function fk(aQ,al)
local J,au,aO,k,r=string.find,string.match,string.sub,string.format,redis.call if k('%d',2^40)~='1099511627776'then
return end local br local ep=al[1] local cc=al[2] local cd=al[3] if not cc then return end local bx=al[4] local cG
local T local ag if(cd=='LINE')and(not bx)then cG=4 T=1 ag='LINE' else local cD local cE local cF if cd then if bx then
if not(((((al[5]=='LINE')and(not al[6]))and((#bx)<16))and(cd=='COST'))and J(bx,'^[1-9]%d*$'))then return end cD=6
cE=bx+0 cF='LINE' else if(((al[5]=='LINE')and(not al[6]))and(cd=='COST'))and J('','^[1-9]%d*$')then return end return
end else cD=3 cE=1 cF=nil end cG=cD T=cE ag=cF end if not(((#cc)<16)and J(cc,'^[1-9]%d*$'))then return end local l=cc+0
local eq,bf=au(ep,'^([1-9]%d*)(%l*)$') if eq then if(#ep)<16 then
local dh=(bf=='')and 1000 or((bf=='ms')and 1 or((bf=='s')and 1000 or((bf=='m')and 60000 or((bf=='h')and 3.6e6 or((bf=='d')and 8.64e7 or nil)))))
local v=dh and(eq*dh)or dh if(not v)or((v<1)or(1e15<v))then return end if not(v<9e12)then return end local gq=al[cG]
if gq then return end local aJ local er=r('TIME') local es=(er[1]*1e6)+er[2] local G=(es-(es%1000))/1000 if(#aQ)==1 then
return end local di=aQ[1] local et=(G-(G%v))/v local dj=k(((et<2147483648)and':%d'or':%d'),et) local by=aQ[2]
local bz=#dj if not by then return end if not(aO(di,(-bz))==dj)then if not(aO(by,(-bz))==dj)then
if J(aO(by,1,((-bz)-1)),':reserved',1,true)then return end if not((#aQ)==2)then return end return else
if J(aO(by,1,((-bz)-1)),':reserved',1,true)then return end if not((#aQ)==2)then return end aJ=by end else
if J(aO(di,1,((-bz)-1)),':reserved',1,true)then return end if not((#aQ)==2)then return end aJ=di end
local ce=r('GET',aJ) if ce then if not(((#ce)<16)and J(ce,'^[1-9]%d*$'))then return end local ao=ce+0
if not redis.REDIS_VERSION_NUM then return end local cf=r('PEXPIRETIME',aJ) if cf<0 then return end if 2^53<=cf then
return end local bA=(T<=l)and((ao+T)<=l) local eu=bA or(l<=ao) local aA=eu and(ao+T)or ao if 2^53<=aA then return end
local ev=((G<cf)and(cf-G)or 0)+500 local cg=(ev-(ev%1000))/1000 if eu then local cH if not bA then cH=0 else cH=T end
local cL if ag=='LINE'then local bB=(0<aA)and aA or 0 local dl=(bB<l)and(l-bB)or 0 local bP if not bA then local bO
if l<T then bO=nil else if(bB+T)<=l then bO=0 else bO=v-(G%v) end end local gr=bO or(-1) bP=gr else bP=0 end local cK
local bR if dl<l then local dm=dl+1 local bQ if l<dm then bQ=nil else if(bB+dm)<=l then bQ=0 else bQ=v-(G%v) end end
local ex=bQ or(-1) local cJ if dm==l then cJ=ex else local cI if(bB+l)<=l then cI=0 else cI=v-(G%v) end cJ=cI end cK=ex
bR=cJ else cK=0 bR=0 end if(2^53<=bP)or(2^53<=bR)then return end
local gs=k('%d %d %d %d %d %d %d %d 0 %d 0 %d',(bA and 1 or 0),aA,cg,l,dl,bP,cK,bR,G,cH) cL=gs else if ag then return
end cL={(bA and 1 or 0),aA,cg} end local dn=aA-ao if not(dn==0)then local cM if dn==1 then cM='1' else cM=k('%d',dn) end
local gD=r('INCRBY',aJ,cM) end br=cL else local cQ if ag=='LINE'then local dp=l-ao local bS if l<T then bS=nil else
if(ao+T)<=l then bS=0 else bS=v-(G%v) end end local ey=bS or(-1) local cP local bU if dp<l then local dq=dp+1 local bT
if l<dq then bT=nil else if(ao+dq)<=l then bT=0 else bT=v-(G%v) end end local ez=bT or(-1) local cO if dq==l then cO=ez
else local cN if(ao+l)<=l then cN=0 else cN=v-(G%v) end cO=cN end cP=ez bU=cO else cP=0 bU=0 end
if(2^53<=ey)or(2^53<=bU)then return end local gt=k('0 %d %d %d %d %d %d %d 0 %d 0 0',aA,cg,l,dp,ey,cP,bU,G) cQ=gt else
if ag then return end cQ={0,aA,cg} end br=cQ end else local dk=T<=l local ak=dk and T or 0 if 2^53<=ak then return end
local aK if dk then aK=G+v else aK=nil end local bc if not aK then bc=-2 else local ew=((G<aK)and(aK-G)or 0)+500
bc=(ew-(ew%1000))/1000 end if dk then local cU if ag=='LINE'then local ch=(0<ak)and ak or 0 local dr=(ch<l)and(l-ch)or 0
local cT local bW if dr<l then local ds=dr+1 local bV if l<ds then bV=nil else if(ch+ds)<=l then bV=0 else bV=v-(G%v)
end end local eA=bV or(-1) local cS if ds==l then cS=eA else local cR if(ch+l)<=l then cR=0 else cR=v-(G%v) end cS=cR
end cT=eA bW=cS else cT=0 bW=0 end if 2^53<=bW then return end
local gu=k('1 %d %d %d %d 0 %d %d 0 %d 0 %d',ak,bc,l,dr,cT,bW,G,T) cU=gu else if ag then return end cU={1,ak,bc} end
if not(ak==0)then local cV if ak==1 then cV='1' else cV=k('%d',ak) end local gE=r('INCRBY',aJ,cV) end if aK then
local gv=k('%d',aK) local gF=r('PEXPIREAT',aJ,gv) end br=cU else local cW if ag=='LINE'then
local gw=k('0 %d %d %d %d -1 0 0 0 %d 0 0',ak,bc,l,l,G) cW=gw else if ag then return end cW={0,ak,bc} end br=cW end end
else return end else return end return br end local bE,bd=pcall(fk,KEYS,ARGV) if bE and bd then return bd end
return gi(not bE and bd)
