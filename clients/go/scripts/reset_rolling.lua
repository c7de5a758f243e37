-- RL.RESET ROLLING, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local ao,m local v=redis.call local function ce(a) local bi=v('TIME') local ax=bi[1]*1000000+bi[2]
a.F,a.b=ax,(ax-ax%1000)/1000 end local U,z,aw,cb=string.find,string.format,string.match,string.sub
local function cs(a,A,f,X,au) local g=A[f] if not g then m().a('KEYS') end a.c,f=g,f+1 if au then a.g=g
elseif U(g,':reserved',1,true)then m().s(g) end if X then f=a.H and f+2 or m().u(a,A,f,g) end return f end
local function cc(a,A,X,au) ce(a) if#A~=cs(a,A,1,X,au)-1 then m().a('KEYS') end end local aJ,bw=string.byte,string.char
local function ac(e,d) local b,c,F,H,K,L,C=aJ(e,15*d+3,15*d+9) if C>=32 then m().a('INEXACT_STATE') end
return b+256*(c+256*(F+256*(H+256*(K+256*(L+256*C))))) end local function by(e,y,t) if y==0 or ac(e,y-1)<=t then
return y end local R,ag=0,y while ag>1 do local as=(ag-ag%2)/2 if ac(e,R+as)<=t then R=R+as end ag=ag-as end
return ac(e,R)<=t and R+1 or R end local function an(e,d) local b,c,F,H,K,L,C,bF=aJ(e,15*d+10,15*d+17)
return K+256*(L+256*(C+256*bF)),b+256*(c+256*(F+256*H)) end local function cd(a,e) local y=(#e-2)/15
if cb(e,1,2)~='R:'or y%1~=0 or y<1 or y>8192 then return nil end local aq,s,i,j=a.b-a.f,0,0,0
if aq>=0 and ac(e,0)<=aq then s=by(e,y,aq) i,j=an(e,s-1) local aT,bM=an(e,y-1) if aT<i or(aT==i and bM<j)then return nil
end end return{e=e,d=y,m=s,hi=i,lo=j} end local function bP(a) local e=v('GET',a.c) if e then
a.h=cd(a,e)or m().l(e,'ROLLING','FOREIGN_VALUE') end end local function bD(g,V) if not redis.REDIS_VERSION_NUM then
return m().k(g,V) end local f=v('PEXPIRETIME',g) return f>=0 and f or nil end local function bT(a,N) local V,u=a.b,a.f
if N and 2*(N-V)>=3*u then return nil end return V+2*u end local function cv(i,j,bI,bO) local aB=(i-bI)*(2^32)+(j-bO)
return aB<0 and aB+(2^32)*(2^32)or aB end local function cx(p,d) local i,j=an(p.e,d) return cv(i,j,p.hi,p.lo) end
local function cw(p) return p and p.d>0 and cx(p,p.d-1)or 0 end local function bh(d) if d-d~=0 then return m().v(d) end
return z('%.0f',d) end local function cm(g,aH) if aH then v('PEXPIREAT',g,bh(aH)) end end local function bx(a,aL,B)
local g,aI=a.c,a.h if aL=='delete'then v('UNLINK',g) return end local N=aI and not a.B and bD(g,a.b)or nil
local aa=bT(a,N) if aL~='keep'then local bl=B.y if bl=='SET'or a.E then m().t(a,B,aa,N) return elseif bl=='APPEND'then
v('APPEND',g,B.i) else v('SETRANGE',g,z('%d',B.G),B.i) end elseif cw(aI)==0 then return end cm(g,aa) end
local function cj(A,E) local bk=E[1] if not bk then m().a('ARITY') end local a={limit=0,capacity=0}
local f=m().q(a,E,1+1,' ANCHOR ') if E[f]then m().a(m().p(E[f]:upper(),'ANCHOR')and'NO_SUCH_OPTION'or'RESET_WORDS') end
a.A=a.ANCHOR and a.ANCHOR*1000 a.f=m().x(a,bk) local X=m().o((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'RESERVE')
cc(a,A,X,true) local aR=X and m().n(a) bP(a,'delete') local Z=a.D or a.h local ar=Z ar=Z or aR m().r(a,ar) if Z then
bx(a,'delete') end if aR then v('UNLINK',a.hash,a.j) end return ar and 1 or 0 end function m() if not ao then local k={}
k.AT='ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
k.ANCHOR='ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
k.ID='ERR invalid ID: expected 1 to 512 bytes'
k.AS='ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
k.RESERVE='ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
..'with a unit ms, s, m, h or d, up to 10^12 seconds'
k.RESERVATION='ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
k.PARTIAL_AND_ALWAYS='ERR syntax error: PARTIAL and ALWAYS exclude each other'
k.RESERVE_AND_ALWAYS='ERR syntax error: RESERVE and ALWAYS exclude each other'
k.RESERVATION_AND_RESERVED='ERR syntax error: RESERVED and RESERVATION exclude each other'
k.RESERVATION_AND_AT='ERR syntax error: RESERVATION and AT exclude each other'
k.FORM_TWICE='ERR syntax error: FULL, LINE or HEADERS comes at most once'
k.TWO_FORMS='ERR syntax error: FULL, LINE and HEADERS exclude each other'
k.CALENDAR_WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
..'d, up to 10^12 seconds; or day, week, month or year'
k.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds'
k.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' k.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
k.ARITY='ERR wrong number of arguments' k.FOREIGN_VALUE='ERR the key holds a value that this algorithm did not write'
k.RESET_WORDS='ERR syntax error: after window comes ANCHOR t or nothing'
k.NO_SUCH_OPTION='ERR syntax error: no such option, but there is ANCHOR t'
k.INEXACT_STATE='ERR the key holds a number above 9007199254740991, which needs the module' local function cq(i,j,bV,bW)
i,j=i+bV,j+bW if j>=(2^32)then i,j=i+1,j-(2^32) end return i%(2^32),j,i>=(2^32) end local function aX(b,c)
local aE,bu=b-b==0,c-c==0 if aE or bu then return aE elseif#b~=#c then return#b<#c end for d=#b,1,-1 do
if b[d]~=c[d]then return b[d]<c[d] end end return false end local function aW(b,c) if b-b==0 and c-c==0 then return b<c
end return aX(b,c) end local function aG(d) if d-d==0 then return d end local W=0 for bJ=#d,1,-1 do W=W*(2^24)+d[bJ] end
return W end local aD={ __sub=function() return 1 end, } local function ak(h) local w=#h while w>0 and h[w]==0 do
h[w]=nil w=w-1 end if w>3 or(w==3 and h[3]>=(2^53)/(2^24)/(2^24))then return setmetatable(h,aD) end
return(h[1]or 0)+(h[2]or 0)*(2^24)+(h[3]or 0)*(2^24)*(2^24) end local function S(d) if d-d~=0 then return d end
local h,w={},0 while d>0 do local x=d%(2^24) w=w+1 h[w]=x d=(d-x)/(2^24) end return h end local function bt(b,c)
b,c=S(b),S(c) local W,G={},0 for d=1,math.max(#b,#c)+1 do local x=(b[d]or 0)+(c[d]or 0)+G G=x>=(2^24)and 1 or 0
W[d]=x-G*(2^24) end return ak(W) end local function aF(b,c) if b-b==0 and c-c==0 and b+c<(2^53)then return b+c end
return bt(b,c) end local function cp(b,c) if not aX(c,b)then return 0 end c=S(c) local aM,ap={},0 for d=1,#b do
local x=b[d]-(c[d]or 0)-ap ap=x<0 and 1 or 0 aM[d]=x+ap*(2^24) end return ak(aM) end local function co(b,c)
if b-b==0 and c-c==0 then return b>c and b-c or 0 end return cp(b,c) end local function bS(b,c) b,c=S(b),S(c)
local ad={} for d=1,#b+#c do ad[d]=0 end for d=1,#b do local G=0 for av=1,#c do local x=ad[d+av-1]+b[d]*c[av]+G
G=math.floor(x/(2^24)) ad[d+av-1]=x-G*(2^24) end ad[d+#c]=G end return ak(ad) end local function al(b,c)
if b-b==0 and c-c==0 and b*c<(2^53)then return b*c end return bS(b,c) end local function bz(b,c) local az=0
while not aW(b,c)do local am=math.max(1,math.floor(aG(b)/aG(c)*(1-2^-45))) am=ak(S(am)) az=aF(az,am) b=co(b,al(am,c))
end return az,b end local function aj(b,c) if b-b==0 and c-c==0 then local af=b%c return(b-af)/c,af end return bz(b,c)
end local function ck(a,b,c) local u=a.f if b==c then return true elseif u<=4096 or math.abs(b-c)>=u/4096+1 then
return false end return(aj(al(b,4096),u))==(aj(al(c,4096),u)) end local function bv(t,i,j) local b,c=t%16777216,i%65536
local F,H=j%65536,(t-t%16777216)/16777216 local K,L,C=(i-c)/65536,(j-F)/65536,H%65536 return bw(
b%256,(b-b%256)/256%256,(b-b%65536)/65536, C%256,(C-C%256)/256,(H-C)/65536%256,(H-H%16777216)/16777216,
F%256,(F-F%256)/256,L%256,(L-L%256)/256, c%256,(c-c%256)/256,K%256,(K-K%256)/256 ) end local function ci(a,p)
local e,o=p.e,{} for d=p.m,p.d-1 do local i,j=an(e,d)
i,j=cq(i,j,((2^32)-p.hi-(p.lo>0 and 1 or 0))%(2^32),((2^32)-p.lo)%(2^32)) local q=o[#o]
if(q or i>0 or j>0)and not(q and q.hi==i and q.lo==j)then o[#o+1]={ms=ac(e,d),hi=i,lo=j} end end if#o>4096+1 then
local P={} for bs,T in ipairs(o)do local bL=#P>0 and ck(a,T.ms,P[#P].ms) P[bL and#P or#P+1]=T end o=P end if#o>8192 then
local q,Y=o[#o],0 while Y<#o and o[Y+1].ms<=a.b do Y=Y+1 end for d=#o,math.min(Y,8192-1)+1,-1 do o[d]=nil end o[#o+1]=q
end local bb={'R:'} for d,T in ipairs(o)do bb[d+1]=bv(T.ms,T.hi,T.lo) end return table.concat(bb) end
local function cn(a,B,aa,N) local g,e=a.c,B.y=='SET'and ci(a,B)or B.e if aa then v('SET',g,e,'PXAT',bh(aa))
elseif N then v('SET',g,e,'KEEPTTL') end end local function I(e) error({err=e},0) end local function r(Q) I(k[Q]) end
local function bE(e,n,bX) local cz={C='COUNTER',L='LEAKY',O='LOCKOUT',R='ROLLING',T='TOKEN'} local aC=cz[aw(e,'^(%u):')]
if not aC or aC==n then r(bX) end I('ERR the key holds a state of '..aC..': use another key for each algorithm') end
local function bB(ae) if type(ae)=='table'then return ae elseif U(ae,'^%u+ ')then return redis.error_reply(ae) end
error(ae,0) end local function cu(d) local aA='' while d-d~=0 do local af d,af=aj(d,10000000) aA=z('%07.0f',af)..aA end
return z('%.0f',d)..aA end local function bC(g,V) local aV=v('PTTL',g) return aV>=0 and V+aV or nil end
local function O(bN,n) return not U(n,' ',1,true)and U(bN,' '..n..' ',1,true)~=nil end local function bK(n,l)
local s,q=0,0 local bg,bQ=math.min(#n,#l),math.max(#n,#l) while s<bg and n:byte(s+1)==l:byte(s+1)do s=s+1 end
while q<bg-s and n:byte(-1-q)==l:byte(-1-q)do q=q+1 end return s+q>=2 and bQ-s-q<=2 end local br={
{'COST','COST n','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'}, {'PARTIAL','PARTIAL','RL.<ALGO> and RL.PEEK take'},
{'ALWAYS','ALWAYS','RL.<ALGO> and RL.PEEK take'}, {'RESERVED','RESERVED n','RL.SETTLE takes'},
{'ACTUAL','ACTUAL m','RL.SETTLE takes'}, {'AT','AT ms','RL.REFUND and RL.SETTLE take'},
{'BURST','BURST n','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take'},
{'BLOCK','BLOCK d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'MAX','MAX d','RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take'},
{'ANCHOR','ANCHOR t','RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take'},
{'ID','ID id','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'AS','AS name','RL.<ALGO>, RL.PEEK and RL.MULTI take'},
{'SHADOW','SHADOW','RL.<ALGO>, RL.PEEK and RL.MULTI take'}, {'RESERVE','RESERVE id ttl','RL.<ALGO> and RL.MULTI take'},
{'RESERVATION','RESERVATION id','RL.SETTLE takes'}, } local function ct(a,l)
return not O(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ',l)or O((' COST PARTIAL ALWAYS RESERVE RESERVATION '),l)
end local function ch(D,a,ah) local l,cA=D[1],a.z if not O(ah,l)then I(z('ERR invalid %s: only %s it',l,D[3]))
elseif not ct(a,l)then I(z('ERR invalid %s: %s takes none',l,('ROLLING'))) elseif a[l]~=nil then
I(z('ERR syntax error: %s comes at most once',D[2])) end end local function cl(J) return J==''and 1000 or J=='ms'and 1
or J=='s'and 1000 or J=='m'and 60000 or J=='h'and 3600000 or J=='d'and 86400000 or nil end local function aK(b,c)
for f=1,math.min(#b,#c)do local bm,bn=b:byte(f),c:byte(f) if bm~=bn then return bm<bn end end return#b<#c end
local function ai(e,ab) if e~='0'and not U(e,'^[1-9]%d*$')then return nil end
return(#e<#ab or(#e==#ab and not aK(ab,e)))and e or nil end local function ba(e) local ay,J=aw(e,'^(%d+)(%l*)$')
local be=ay and cl(J) local t=be and ai(ay,'18446744073709551615')and ay*be return t and t>=1 and t<=1e15 and t or nil
end local function aZ(e,ab) return e and#e>=1 and#e<=ab and e end local function bR(b,c) return aW(c,b)and c or b end
local function aQ(h) if#h<=15 or(#h==16 and aK(h,'9007199254740992'))then return h+0 end local at=#h%7
local d=at>0 and h:sub(1,at)+0 or 0 for f=at+1,#h,7 do d=aF(al(d,10000000),h:sub(f,f+6)+0) end return d end
local bq=setmetatable({(2^24)-1,(2^24)-1,2^16-1},aD) local function bY(Q,e,aU) local h=e and ai(e,'9223372036854775807')
local d=h and aQ(h) if not d or d==0 and aU>0 then
I(z('ERR invalid %s: expected an integer from %d to 9223372036854775807',Q,aU)) elseif d-d~=0 then
I(z('ERR invalid %s: the Lua library takes integers up to 9007199254740991',Q)) end return d end
local function ca(l,e,bf) if l=='RESERVE'then local bj=bf and ba(bf)
return aZ(e,128)and bj and{id=e,ttl=bj}or r('RESERVE') elseif l=='RESERVATION'then return aZ(e,128)or r('RESERVATION')
end if l=='AS'then return e and#e>=1 and#e<=64 and not U(e,'[^%w._-]')and e or r('AS') elseif l=='AT'then
local h=e and ai(e,'9223372036854775807') return h and bR(aQ(h),(aj(bq,1000)))or r('AT') end
return bY(l,e,l=='BURST'and 1 or 0) end local function cf(a) if a.ALWAYS and(a.PARTIAL or a.RESERVE)then
r(a.PARTIAL and'PARTIAL_AND_ALWAYS'or'RESERVE_AND_ALWAYS') elseif a.RESERVATION and(a.RESERVED or a.AT)then
r(a.RESERVED and'RESERVATION_AND_RESERVED'or'RESERVATION_AND_AT') end end local bo={FULL=true,LINE=true,HEADERS=true}
local function bU(aP,aY) if aP then r(aP==aY and'FORM_TWICE'or'TWO_FORMS') end return aY end local function bZ(a,E,f,ah)
while E[f]do local n,D=E[f]:upper(),nil for bs,aS in ipairs(br)do D=aS[1]==n and aS or D end if D then ch(D,a,ah)
if D[2]==n then a[n]=true f=f+1 else a[n]=ca(n,E[f+1],E[f+2]) f=f+(n=='RESERVE'and 3 or 2) end cf(a)
elseif bo[n]and O(ah,'form')then a.form=bU(a.form,n) f=f+1 else return f end end return f end
local bp={DAY=86400000,WEEK=7*86400000,MONTH=31*86400000,YEAR=366*86400000} local function cy(a,e) local u=ba(e)
if not u then a.w=e:upper() u=bp[a.w] if not u then
r(O((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')and'CALENDAR_WINDOW'or'WINDOW')
elseif not O((' COST PARTIAL ALWAYS RESERVE RESERVATION '),'ANCHOR')then
I(z('ERR invalid window: %s takes no windows of the calendar',('ROLLING'))) end end return u end local function bH(g)
return g:sub(-9)==':reserved'or g:sub(-14)==':reserved:ends' end local function bc(g) if bH(g)then r('RESERVED_KEY') end
end local function cg(a,Z) local M=aw(a.g,'^(.*:reserved):ends$') if not Z or M and redis.pcall('TYPE',M).ok=='hash'then
bc(a.g) end end local function cr(a,A,f,g) local M,aO=A[f]or'',A[f+1] local Q=((nil)and(nil)(a)or'')..':reserved'
if(M~=g..Q and M~='{'..g..'}'..Q)or aO~=M..':ends'then r('KEYS') end a.hash,a.j=M,aO return f+2 end local function bG(a)
local aN=redis.pcall('HGET',a.hash,'') return type(aN)=='string'and ai(aN,'18446744073709551615') end
ao={error_reply=bB,k=bC,a=r,l=bE,n=bG,o=O,p=bK,q=bZ,r=cg,s=bc,t=cn,u=cr,v=cu,x=cy} end return ao end
local bA,bd=pcall(cj,KEYS,ARGV) return bA and bd or m().error_reply(bd)
