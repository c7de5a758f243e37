-- RL.RENEW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local D,g local function aw(l,i) if#l-i+1>1000 then g().a('TOO_MANY_IDS') end local j,V={},{} for I=i,#l do
local n=g().e(l[I],512)or g().a('IDS') if not V[n]then V[n]=true j[#j+1]=n end end return#j>0 and j or g().a('ARITY')
end local f=redis.call local function ay(b) local X=f('TIME') local J=X[1]*1000000+X[2] b.l,b.c=J,(J-J%1000)/1000 end
local function ac(A,l,N,i) local b={i=N} local j=aw(l,i) if#A~=1 then g().a('KEYS') end b.b=A[1] g().h(b.b) ay(b)
return b,j end local function aD(A,l) if not l[2]then g().a('ARITY') end local N=g().f(l[1])or g().a('WINDOW')
return g().g(ac(A,l,N,2)) end function g() if not D then local q={}
q.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' q.ARITY='ERR wrong number of arguments'
q.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds' q.IDS='ERR invalid id: expected 1 to 512 bytes'
q.TOO_MANY_IDS='ERR invalid id: expected at most 1000 ids a call'
q.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
local Q,s,ar,aI=string.find,string.format,string.match,string.sub local G,aG,aJ,aH=4000,1000,1000,2*500
local function az(a,w,k,d,h) local m=f('ZCOUNT',a,w,k) local o=math.min(m,h) if o>0 then
local i=w=='0'and f('ZCOUNT',a,'-inf','(0')or 0 f('ZREMRANGEBYRANK',a,s('%.0f',i),s('%.0f',i+o-1)) d,m,G=d-o,m-o,h-o end
return d,m end local function aq(b,w,W,S) local a=b.b local d,m=f('ZCARD',a),0 if d>0 and W>=0 and S~='delete'then
local k=s('%.0f',W) local h=S=='read'and 0 or G if d<=h then local o=f('ZREMRANGEBYSCORE',a,w,k) d,G=d-o,h-o else
d,m=az(a,w,k,d,h) end end b.d,b.k,b.j=d-m,m,d>0 end local function O(e)
return e<2^64 and math.max(0,math.ceil(e))or(1/0) end local function ah(b,n) local e=b.d>0 and f('ZSCORE',b.b,n)
local u=e and O(tonumber(e)) return u and u>b.c and u or nil end local function ao(b,j) aq(b,'-inf',b.c,'write')
local r={} for aa,n in ipairs(j)do r[#r+1]=ah(b,n)and n end return r end local function ak(a,x) local R=f('PTTL',a)
return R>=0 and x+R or nil end local function al(a,x) if not redis.REDIS_VERSION_NUM then return ak(a,x) end
local t=f('PEXPIRETIME',a) return t>=0 and t or nil end local function ae(ab,H) local M=0 for i=1,#H,1000 do
local L={unpack(ab)} for I=i,math.min(i+999,#H)do L[#L+1]=H[I] end M=M+f(unpack(L)) end return M end
local function aC(a,e,d) local y={} for aa,as in ipairs(d)do y[#y+1]=e y[#y+1]=as end ae({'ZADD',a,'XX'},y) end
local function aj(a,k,r) if k>=(2^53)or r~=k then f('PEXPIREAT',a,k<2^63 and s('%.0f',k)or'9223372036854775807') end end
local function aF(a,C) C=s('%.0f',C) local e=f('ZRANGE',a,C,C,'WITHSCORES')[2] return e and tonumber(e) end
local function ap(a) local e=aF(a,-1) return e and O(e) end local function at(a,u,v,x) local r=al(a,x)
aC(a,s('%.0f',u),v) aj(a,ap(a),r) end local function aA(b,j) local v=ao(b,j) if#v>0 then at(b.b,b.c+b.i,v,b.c) end
return#v end local function am(c) error({err=c},0) end local function P(au) am(q[au]) end local function ai(z)
if type(z)=='table'then return z elseif Q(z,'^%u+ ')then return redis.error_reply(z) end error(z,0) end
local function aE(p) return p==''and 1000 or p=='ms'and 1 or p=='s'and 1000 or p=='m'and 60000 or p=='h'and 3600000
or p=='d'and 86400000 or nil end local function ad(E,F) for t=1,math.min(#E,#F)do local Y,Z=E:byte(t),F:byte(t)
if Y~=Z then return Y<Z end end return#E<#F end local function af(c,h) if c~='0'and not Q(c,'^[1-9]%d*$')then return nil
end return(#c<#h or(#c==#h and not ad(h,c)))and c or nil end local function ax(c) local K,p=ar(c,'^(%d+)(%l*)$')
local U=K and aE(p) local B=U and af(K,'18446744073709551615')and K*U return B and B>=1 and B<=1e15 and B or nil end
local function av(c,h) return c and#c>=1 and#c<=h and c end local function an(a)
return a:sub(-9)==':reserved'or a:sub(-14)==':reserved:ends' end local function aB(a) if an(a)then P('RESERVED_KEY') end
end D={error_reply=ai,a=P,e=av,f=ax,g=aA,h=aB} end return D end local ag,T=pcall(aD,KEYS,ARGV)
return ag and T or g().error_reply(T)
