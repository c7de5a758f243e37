-- RL.RENEW, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local C,g local function aw(l,i) if#l-i+1>1000 then g().a('TOO_MANY_IDS') end local j,U={},{} for H=i,#l do
local n=g().f(l[H],512)or g().a('IDS') if not U[n]then U[n]=true j[#j+1]=n end end return#j>0 and j or g().a('ARITY')
end local f=redis.call local function ay(b) local W=f('TIME') local I=W[1]*1000000+W[2] b.o,b.c=I,(I-I%1000)/1000 end
local function ac(z,l,M,i) local b={k=M} local j=aw(l,i) if#z~=1 then g().a('KEYS') end b.b=z[1] g().j(b.b) ay(b)
return b,j end local function aD(z,l) if not l[2]then g().a('ARITY') end local M=g().g(l[1])or g().a('WINDOW')
return g().i(ac(z,l,M,2)) end function g() if not C then local p={}
p.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' p.ARITY='ERR wrong number of arguments'
p.WINDOW='ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
..'10^12 seconds' p.IDS='ERR invalid id: expected 1 to 512 bytes'
p.TOO_MANY_IDS='ERR invalid id: expected at most 1000 ids a call'
p.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
local Q,r,ar,aH=string.find,string.format,string.match,string.sub local F,aF,aI,aG=4000,1000,1000,2*500
local function az(a,v,k,d,h) local m=f('ZCOUNT',a,v,k) local o=math.min(m,h) if o>0 then
local i=v=='0'and f('ZCOUNT',a,'-inf','(0')or 0 f('ZREMRANGEBYRANK',a,r('%.0f',i),r('%.0f',i+o-1)) d,m,F=d-o,m-o,h-o end
return d,m end local function aq(b,v,V,S) local a=b.b local d,m=f('ZCARD',a),0 if d>0 and V>=0 and S~='delete'then
local k=r('%.0f',V) local h=S=='read'and 0 or F if d<=h then local o=f('ZREMRANGEBYSCORE',a,v,k) d,F=d-o,h-o else
d,m=az(a,v,k,d,h) end end b.e,b.n,b.l=d-m,m,d>0 end local function O(e)
return e<2^64 and math.max(0,math.ceil(e))or(1/0) end local function ah(b,n) local e=b.e>0 and f('ZSCORE',b.b,n)
local t=e and O(tonumber(e)) return t and t>b.c and t or nil end local function ao(b,j) aq(b,'-inf',b.c,'write')
local q={} for aa,n in ipairs(j)do q[#q+1]=ah(b,n)and n end return q end local function ak(a,w) local R=f('PTTL',a)
return R>=0 and w+R or nil end local function al(a,w) if not redis.REDIS_VERSION_NUM then return ak(a,w) end
local s=f('PEXPIRETIME',a) return s>=0 and s or nil end local function ae(ab,G) local L=0 for i=1,#G,1000 do
local K={unpack(ab)} for H=i,math.min(i+999,#G)do K[#K+1]=G[H] end L=L+f(unpack(K)) end return L end
local function aC(a,e,d) local x={} for aa,as in ipairs(d)do x[#x+1]=e x[#x+1]=as end ae({'ZADD',a,'XX'},x) end
local function aj(a,k,q) if k>=(2^53)or q~=k then f('PEXPIREAT',a,k<2^63 and r('%.0f',k)or'9223372036854775807') end end
local function aE(a,B) B=r('%.0f',B) local e=f('ZRANGE',a,B,B,'WITHSCORES')[2] return e and tonumber(e) end
local function ap(a) local e=aE(a,-1) return e and O(e) end local function at(a,t,u,w) local q=al(a,w)
aC(a,r('%.0f',t),u) aj(a,ap(a),q) end local function aA(b,j) local u=ao(b,j) if#u>0 then at(b.b,b.c+b.k,u,b.c) end
return#u end local function am(c) error({err=c},0) end local function P(au) am(p[au]) end local function ai(y)
if type(y)=='table'then return y elseif Q(y,'^%u+ ')then return redis.error_reply(y) end error(y,0) end
local N={ms=1,['']=1000,s=1000,m=60000,h=3600000,d=86400000} local function ad(D,E) for s=1,math.min(#D,#E)do
local Y,Z=D:byte(s),E:byte(s) if Y~=Z then return Y<Z end end return#D<#E end local function af(c,h)
if c~='0'and not Q(c,'^[1-9]%d*$')then return nil end return(#c<#h or(#c==#h and not ad(h,c)))and c or nil end
local function ax(c) local J,X=ar(c,'^(%d+)(%l*)$') local A=J and N[X]and af(J,'18446744073709551615')and J*N[X]
return A and A>=1 and A<=1e15 and A or nil end local function av(c,h) return c and#c>=1 and#c<=h and c end
local function an(a) return a:sub(-9)==':reserved'or a:sub(-14)==':reserved:ends' end local function aB(a) if an(a)then
P('RESERVED_KEY') end end C={error_reply=ai,a=P,f=av,g=ax,i=aA,j=aB} end return C end local ag,T=pcall(aD,KEYS,ARGV)
return ag and T or g().error_reply(T)
