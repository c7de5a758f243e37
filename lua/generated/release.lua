-- RL.RELEASE, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local w,i local function af(n,g) if#n-g+1>1000 then i().b('TOO_MANY_IDS') end local h,L={},{} for A=g,#n do
local k=i().e(n[A],512)or i().b('IDS') if not L[k]then L[k]=true h[#h+1]=k end end return#h>0 and h or i().b('ARITY')
end local c=redis.call local function ag(a) local N=c('TIME') local B=N[1]*1000000+N[2] a.j,a.c=B,(B-B%1000)/1000 end
local function P(u,n,an,g) local a={window_ms=an} local h=af(n,g) if#u~=1 then i().b('KEYS') end a.a=u[1] i().g(a.a)
ag(a) return a,h end local function al(u,n) return i().f(P(u,n,0,1)) end function i() if not w then local o={}
o.RESERVED_KEY='ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
..'reservations' o.ARITY='ERR wrong number of arguments' o.IDS='ERR invalid id: expected 1 to 512 bytes'
o.TOO_MANY_IDS='ERR invalid id: expected at most 1000 ids a call'
o.KEYS='ERR invalid KEYS: expected those that this call needs; see docs/lua.md' local function Q(O,z) local E=0
for g=1,#z,1000 do local D={unpack(O)} for A=g,math.min(g+999,#z)do D[#D+1]=z[A] end E=E+c(unpack(D)) end return E end
local Y,q,aq,as=string.find,string.format,string.match,string.sub local y,ap,at,ar=4000,1000,1000,2*500
local function aj(b,s,d,e,l) local j=c('ZCOUNT',b,s,d) local m=math.min(j,l) if m>0 then
local g=s=='0'and c('ZCOUNT',b,'-inf','(0')or 0 c('ZREMRANGEBYRANK',b,q('%.0f',g),q('%.0f',g+m-1)) e,j,y=e-m,j-m,l-m end
return e,j end local function ac(a,s,M,J) local b=a.a local e,j=c('ZCARD',b),0 if e>0 and M>=0 and J~='delete'then
local d=q('%.0f',M) local l=J=='read'and 0 or y if e<=l then local m=c('ZREMRANGEBYSCORE',b,s,d) e,y=e-m,l-m else
e,j=aj(b,s,d,e,l) end end a.d,a.i,a.h=e-j,j,e>0 end local function G(f)
return f<2^64 and math.max(0,math.ceil(f))or(1/0) end local function S(a,k) local f=a.d>0 and c('ZSCORE',a.a,k)
local x=f and G(tonumber(f)) return x and x>a.c and x or nil end local function aa(a,h) ac(a,'-inf',a.c,'write')
local r={} for ao,k in ipairs(h)do r[#r+1]=S(a,k)and k end return r end local function am(b,v) v=q('%.0f',v)
local f=c('ZRANGE',b,v,v,'WITHSCORES')[2] return f and tonumber(f) end local function ab(b) local f=am(b,-1)
return f and G(f) end local function U(b,d,r) if d>=(2^53)or r~=d then
c('PEXPIREAT',b,d<2^63 and q('%.0f',d)or'9223372036854775807') end end local function V(b,C) local I=c('PTTL',b)
return I>=0 and C+I or nil end local function W(b,C) if not redis.REDIS_VERSION_NUM then return V(b,C) end
local F=c('PEXPIRETIME',b) return F>=0 and F or nil end local function ah(a,h) local ai=Q({'ZREM',a.a},aa(a,h))
local d=a.d>0 and ab(a.a) if d then U(a.a,d,W(a.a,a.c)) end return ai end local function X(p) error({err=p},0) end
local function H(ad) X(o[ad]) end local function T(t) if type(t)=='table'then return t elseif Y(t,'^%u+ ')then
return redis.error_reply(t) end error(t,0) end local function ae(p,l) return p and#p>=1 and#p<=l and p end
local function Z(b) return b:sub(-9)==':reserved'or b:sub(-14)==':reserved:ends' end local function ak(b) if Z(b)then
H('RESERVED_KEY') end end w={error_reply=T,b=H,e=ae,f=ah,g=ak} end return w end local R,K=pcall(al,KEYS,ARGV)
return R and K or i().error_reply(K)
