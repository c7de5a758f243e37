#!lua name=rl
-- All commands, as functions, without the module: docs/lua.md. Put together by scripts/generate-lua; do not edit.
local set_late
local errors = {}
errors.ARITY = 'ERR wrong number of arguments'
errors.INEXACT_REPLY = 'ERR the reply has a number above 9007199254740991, which needs the module'
errors.NOT_A_COUNTER = 'ERR value is not an integer or out of range'
errors.INEXACT_STATE = 'ERR the key holds a number above 9007199254740991, which needs the module'
errors.WINDOW = 'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to '
  .. '10^12 seconds'
errors.KEYS = 'ERR invalid KEYS: expected those that this call needs; see docs/lua.md'
errors.RESERVED_KEY = 'ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of '
  .. 'reservations'
errors.OVERFLOW = 'ERR increment or decrement would overflow'
errors.FOREIGN_VALUE = 'ERR the key holds a value that this algorithm did not write'
errors.SPAN = 'ERR invalid window, limit or BURST: together they describe a rate that cannot be represented'
errors.LEASE_CORRECTION = 'ERR invalid algorithm: a lease has no cost to correct; RL.RELEASE ends it'
errors.MAX_BELOW_BLOCK = 'ERR invalid MAX: expected at least BLOCK, which is the window if not given'
errors.NO_SETTLEMENT = 'ERR invalid algorithm: it is charged before anything is known, so RL.SETTLE has nothing to '
  .. 'correct; RL.REFUND gives back'
errors.ALGORITHM = 'ERR invalid algorithm: expected one of FIXED, WINDOW, SLIDING, COUNTER, TOKEN, LEAKY, GCRA, '
  .. 'ROLLING, LEASE, LOCKOUT'
errors.ID = 'ERR invalid ID: expected 1 to 512 bytes'
errors.AT = 'ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807'
errors.ANCHOR = 'ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799'
errors.AS = 'ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -'
errors.RESERVE = 'ERR invalid RESERVE: expected an id of 1 to 128 bytes, and a ttl: a positive integer of seconds, or one '
  .. 'with a unit ms, s, m, h or d, up to 10^12 seconds'
errors.RESERVATION = 'ERR invalid RESERVATION: expected an id of 1 to 128 bytes'
errors.PARTIAL_AND_ALWAYS = 'ERR syntax error: PARTIAL and ALWAYS exclude each other'
errors.RESERVE_AND_ALWAYS = 'ERR syntax error: RESERVE and ALWAYS exclude each other'
errors.RESERVATION_AND_RESERVED = 'ERR syntax error: RESERVED and RESERVATION exclude each other'
errors.RESERVATION_AND_AT = 'ERR syntax error: RESERVATION and AT exclude each other'
errors.FORM_TWICE = 'ERR syntax error: FULL, LINE or HEADERS comes at most once'
errors.TWO_FORMS = 'ERR syntax error: FULL, LINE and HEADERS exclude each other'
errors.CALENDAR_WINDOW = 'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or '
  .. 'd, up to 10^12 seconds; or day, week, month or year'
errors.LOG_COST = 'ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, '
  .. 'COUNTER, TOKEN, LEAKY or GCRA for more'
errors.ID_MISSING = 'ERR syntax error: LEASE needs ID id, the holder of the lease'
errors.FOREIGN_RESERVATION = 'ERR the hash of the reservations holds a value that the module did not write'
errors.NUM_LIMITS = 'ERR invalid numlimits: expected an integer from 1 to 64'
errors.FEWER_LIMITS = 'ERR invalid numlimits: fewer limits follow than it says'
errors.AFTER_FORM = 'ERR syntax error: FULL, LINE or HEADERS comes last'
errors.LIMIT_ARITY = 'ERR syntax error: expected the word of an algorithm, a key, a window and a limit'
errors.SAME_KEY = 'ERR invalid key: two limits would keep their state in one key; give each its own key'
errors.SETTLEMENT = 'ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id'
errors.LOG_DIFFERENCE = 'ERR invalid ACTUAL: RL.SLIDING is corrected by at most 1000 units a call; use ROLLING, '
  .. 'COUNTER, TOKEN, LEAKY or GCRA for more'
errors.NO_SUCH_OPTION = 'ERR syntax error: no such option, but there is ANCHOR t'
errors.RESET_WORDS = 'ERR syntax error: after window comes ANCHOR t or nothing'
errors.TOO_MANY_IDS = 'ERR invalid id: expected at most 1000 ids a call'
errors.IDS = 'ERR invalid id: expected 1 to 512 bytes'
local find, format, match, part_of
local expired_left, ended_left, unordered_left, moved_left = 4000, 1000, 1000, 2 * 500
local function error_reply(raised)
  if type(raised) == 'table' then
    return raised
  elseif find(raised, '^%u+ ') then
    return redis.error_reply(raised)
  end
  error(raised, 0)
end
local function run(command, keys, words)
  if not find then
    set_late()
  end
  expired_left, ended_left, unordered_left, moved_left = 4000, 1000, 1000, 2 * 500
  local done, result = pcall(command, keys, words)
  return done and result or error_reply(result)
end
local function register(name, command, description, flag)
  redis.register_function({
    function_name = name,
    callback = function(keys, words)
      return run(command, keys, words)
    end,
    description = description,
    flags = { flag },
  })
end
local FAST = {
FIXED=function(N,f) local i,cl,c,b=string.find,string.sub,string.format,redis.call local cQ local tV=f[2] local cZ=f[3]
local nC=f[4] if not cZ then return end local jY=f[5] local fp local aA local aY if(nC=='LINE')and(not jY)then fp=5 aA=1
aY='LINE' else local qs local qt local qu if nC then if jY then
if not(((((f[6]=='LINE')and(not f[7]))and((#jY)<16))and(nC=='COST'))and i(jY,'^[1-9]%d*$'))then return end qs=7 qt=jY+0
qu='LINE' else if(((f[6]=='LINE')and(not f[7]))and(nC=='COST'))and i('','^[1-9]%d*$')then return end return end else
qs=4 qt=1 qu=nil end fp=qs aA=qt aY=qu end if not(((#cZ)<16)and i(cZ,'^[1-9]%d*$'))then return end local B=cZ+0
if not(((#tV)<10)and i(tV,'^[1-9]%d*$'))then return end local d=tV*1000 if not(d<9e12)then return end local H=f[fp]
if H then return end local fq local bK=b('TIME') local L=(bK[1]*1e06)+bK[2] local y=(L-(L%1000))/1000 local bp=N[1]
local t=(y-(y%d))/d local F=c(((t<2147483648)and':%d'or':%.0f'),t) local kc=N[2] local u=#F if not kc then return end
if not(cl(bp,(-u))==F)then if not(cl(kc,(-u))==F)then if i(cl(kc,1,((-u)-1)),':reserved',1,true)then return end
if not((#N)==2)then return end return else if i(cl(kc,1,((-u)-1)),':reserved',1,true)then return end if not((#N)==2)then
return end fq=kc end else if i(cl(bp,1,((-u)-1)),':reserved',1,true)then return end if not((#N)==2)then return end fq=bp
end local hN=b('GET',fq) if hN then if not(((#hN)<16)and i(hN,'^[1-9]%d*$'))then return end local co=hN+0
if not redis.REDIS_VERSION_NUM then return end local gg=b('PEXPIRETIME',fq) if gg<0 then return end if 2^53<=gg then
return end local kd=(aA<=B)and((co+aA)<=B) local cp=kd or(B<=co) local br=cp and(co+aA)or co if 2^53<=br then return end
local ez=((y<gg)and(gg-y)or 0)+500 local nL=(ez-(ez%1000))/1000 if cp then local qU if not kd then qU=0 else qU=aA end
local rb if aY=='LINE'then local gk=(0<br)and br or 0 local eC=(gk<B)and(B-gk)or 0 local mi if not kd then local mg
if B<aA then mg=nil else if(gk+aA)<=B then mg=0 else mg=d-(y%d) end end local bL=mg or(-1) mi=bL else mi=0 end local ap
local cJ if eC<B then local hS=eC+1 local ea if B<hS then ea=nil else if(gk+hS)<=B then ea=0 else ea=d-(y%d) end end
local ah=ea or(-1) local fx if hS==B then fx=ah else local aN if(gk+B)<=B then aN=0 else aN=d-(y%d) end fx=aN end ap=ah
cJ=fx else ap=0 cJ=0 end if(2^53<=mi)or(2^53<=cJ)then return end
local eD=c('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 %.0f',(kd and 1 or 0),br,nL,B,eC,mi,ap,cJ,y,qU) rb=eD else
if aY then return end rb={(kd and 1 or 0),br,nL} end local us=br-co if not(us==0)then local rc if us==1 then rc='1' else
rc=c('%.0f',us) end local bN=b('INCRBY',fq,rc) end cQ=rb else local bC if aY=='LINE'then local dI=B-co local mp
if B<aA then mp=nil else if(co+aA)<=B then mp=0 else mp=d-(y%d) end end local nU=mp or(-1) local bB local cN
if dI<B then local kq=dI+1 local cM if B<kq then cM=nil else if(co+kq)<=B then cM=0 else cM=d-(y%d) end end
local hZ=cM or(-1) local bX if kq==B then bX=hZ else local ri if(co+B)<=B then ri=0 else ri=d-(y%d) end bX=ri end bB=hZ
cN=bX else bB=0 cN=0 end if(2^53<=nU)or(2^53<=cN)then return end
local eI=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',br,nL,B,dI,nU,bB,cN,y) bC=eI else if aY then return end
bC={0,br,nL} end cQ=bC end else local uo=aA<=B local bs=uo and aA or 0 if 2^53<=bs then return end local fw if uo then
fw=y+d else fw=nil end local hl if not fw then hl=-2 else local ax=((y<fw)and(fw-y)or 0)+500 hl=(ax-(ax%1000))/1000 end
if uo then local fC if aY=='LINE'then local aS=(0<bs)and bs or 0 local kv=(aS<B)and(B-aS)or 0 local fB local ei
if kv<B then local ig=kv+1 local eh if B<ig then eh=nil else if(aS+ig)<=B then eh=0 else eh=d-(y%d) end end
local cv=eh or(-1) local fA if ig==B then fA=cv else local bY if(aS+B)<=B then bY=0 else bY=d-(y%d) end fA=bY end fB=cv
ei=fA else fB=0 ei=0 end if 2^53<=ei then return end
local bO=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',bs,hl,B,kv,fB,ei,y,aA) fC=bO else if aY then return end
fC={1,bs,hl} end if not(bs==0)then local bk if bs==1 then bk='1' else bk=c('%.0f',bs) end local EC=b('INCRBY',fq,bk) end
if fw then local iq=c('%.0f',fw) local xU=b('PEXPIREAT',fq,iq) end cQ=fC else local rH if aY=='LINE'then
local is=c('0 %.0f %.0f %.0f %.0f -1 0 0 0 %.0f 0 0',bs,hl,B,B,y) rH=is else if aY then return end rH={0,bs,hl} end
cQ=rH end end return cQ end, WINDOW=function(N,f) local i,c,b=string.find,string.format,redis.call local dz
local tO=f[2] local bJ=f[3] local bc=f[4] if not bJ then return end local cY=f[5] local bT local Q local v
if(bc=='LINE')and(not cY)then bT=5 Q=1 v='LINE' else local fo local P local al if bc then if cY then
if not(((((f[6]=='LINE')and(not f[7]))and((#cY)<16))and(bc=='COST'))and i(cY,'^[1-9]%d*$'))then return end fo=7 P=cY+0
al='LINE' else if(((f[6]=='LINE')and(not f[7]))and(bc=='COST'))and i('','^[1-9]%d*$')then return end return end else
fo=4 P=1 al=nil end bT=fo Q=P v=al end if not(((#bJ)<16)and i(bJ,'^[1-9]%d*$'))then return end local e=bJ+0
if not(((#tO)<10)and i(tO,'^[1-9]%d*$'))then return end local uc=tO*1000 if not(uc<9e12)then return end local l=f[bT]
if l then return end local B=b('TIME') local ab=(B[1]*1e06)+B[2] local J=(ab-(ab%1000))/1000 local o=N[1] if not o then
return end if i(o,':reserved',1,true)then return end if not((#N)==1)then return end local gf=b('GET',o) if gf then
if not(((#gf)<16)and i(gf,'^[1-9]%d*$'))then return end local L=gf+0 if not redis.REDIS_VERSION_NUM then return end
local da=b('PEXPIRETIME',o) if da<0 then return end if 2^53<=da then return end if da<=J then return end local ey=J+uc
local W=(da<ey)and da or ey local aV=(L+Q)<=e if 2^53<=L then return end if aV then local O=L+Q if W<=J then return end
local ac=(W<ey)and W or ey local hO=(O<e)and(e-O)or 0 local ft if(O+e)<=e then ft=0 else if not((ac*1000)<2^53)then
return end local cp=ac*1000 local ke=(ab<cp)and(cp-ab)or 0 local ez=ke%1000 ft=(ez==0)and(ke/1000)or(((ke-ez)/1000)+1)
end if 2^53<=ft then return end local xx=ft%1000 local hP=(ft<0)and(-1)or((xx==0)and(ft/1000)or(((ft-xx)/1000)+1))
local bY if v=='LINE'then local rq local mt if hO<e then local cs=hO+1 local ms if e<cs then ms=nil else
if(O+cs)<=e then ms=0 else if not((ac*1000)<2^53)then return end local xO=ac*1000 local ut=(ab<xO)and(xO-ab)or 0
local ic=ut%1000 ms=(ic==0)and(ut/1000)or(((ut-ic)/1000)+1) end end local xQ=ms or(-1) local rp if cs==e then rp=xQ else
local ro if(O+e)<=e then ro=0 else if not((ac*1000)<2^53)then return end local dg=ac*1000 local aS=(ab<dg)and(dg-ab)or 0
local ie=aS%1000 ro=(ie==0)and(aS/1000)or(((aS-ie)/1000)+1) end rp=ro end rq=xQ mt=rp else rq=0 mt=0 end
if 2^53<=mt then return end local eJ=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',L,hP,e,hO,rq,mt,J,Q) bY=eJ else
if v then return end bY={1,L,hP} end if da==W then local az=O-L local ru if az==1 then ru='1' else ru=c('%.0f',az) end
local bO=b('INCRBY',o,ru) else if L==O then local dh=b('PEXPIREAT',o,c('%.0f',W)) else
local aI=b('SET',o,c('%.0f',O),'PXAT',c('%.0f',W)) end end dz=bY else if not(W==da)then return end
local dc=(L<e)and(e-L)or 0 local bA if e<Q then bA=nil else if not((W*1000)<2^53)then return end local av=W*1000
local kh=(ab<av)and(av-ab)or 0 local nN=kh%1000 bA=(nN==0)and(kh/1000)or(((kh-nN)/1000)+1) end local mf if bA then
if 2^53<=bA then return end local eC=bA%1000 local uq=(bA<0)and(-1)or((eC==0)and(bA/1000)or(((bA-eC)/1000)+1)) mf=uq
else mf=-1 end local be=(mf==0)and 1 or mf local dw if v=='LINE'then local rG if e<Q then rG=nil else
if not((W*1000)<2^53)then return end local eO=W*1000 local gx=(ab<eO)and(eO-ab)or 0 local is=gx%1000
rG=(is==0)and(gx/1000)or(((gx-is)/1000)+1) end local bP=rG or(-1) local el local fF if dc<e then local kC=dc+1 local dv
if e<kC then dv=nil else if(L+kC)<=e then dv=0 else if not((W*1000)<2^53)then return end local aJ=W*1000
local dL=(ab<aJ)and(aJ-ab)or 0 local kF=dL%1000 dv=(kF==0)and(dL/1000)or(((dL-kF)/1000)+1) end end local cx=dv or(-1)
local rL if kC==e then rL=cx else local ek if(L+e)<=e then ek=0 else if not((W*1000)<2^53)then return end
local eR=W*1000 local aK=(ab<eR)and(eR-ab)or 0 local di=aK%1000 ek=(di==0)and(aK/1000)or(((aK-di)/1000)+1) end rL=ek end
el=rL fF=cx else el=0 fF=0 end if(2^53<=bP)or(2^53<=el)then return end
local EK=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',L,be,e,dc,bP,fF,el,J) dw=EK else if v then return end
dw={0,L,be} end dz=dw end else local nQ=Q<=e if nQ then local X=J+uc if X<=J then return end local hV=(Q<e)and(e-Q)or 0
local aC if(Q+e)<=e then aC=0 else if not((X*1000)<2^53)then return end local de=X*1000 local bu=(ab<de)and(de-ab)or 0
local cr=bu%1000 aC=(cr==0)and(bu/1000)or(((bu-cr)/1000)+1) end if 2^53<=aC then return end local aj=aC%1000
local eE=(aC<0)and(-1)or((aj==0)and(aC/1000)or(((aC-aj)/1000)+1)) local ce if v=='LINE'then local fI local dy
if hV<e then local ak=hV+1 local en if e<ak then en=nil else if(Q+ak)<=e then en=0 else if not((X*1000)<2^53)then return
end local eU=X*1000 local cz=(ab<eU)and(eU-ab)or 0 local aL=cz%1000 en=(aL==0)and(cz/1000)or(((cz-aL)/1000)+1) end end
local kK=en or(-1) local bE if ak==e then bE=kK else local cc if(Q+e)<=e then cc=0 else if not((X*1000)<2^53)then return
end local dN=X*1000 local iC=(ab<dN)and(dN-ab)or 0 local eX=iC%1000 cc=(eX==0)and(iC/1000)or(((iC-eX)/1000)+1) end bE=cc
end fI=kK dy=bE else fI=0 dy=0 end if 2^53<=dy then return end
local oq=c('1 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',eE,e,hV,fI,dy,J,Q) ce=oq else if v then return end ce={1,0,eE}
end local EP=c('%.0f',Q) local gD=b('SET',o,EP,'PXAT',c('%.0f',X)) dz=ce else local fL if v=='LINE'then
fL=c('0 0 -1 %.0f %.0f -1 0 0 0 %.0f 0 0',e,e,J) else if v then return end fL={0,0,(-1)} end dz=fL end end return dz
end, SLIDING=function(N,f) local I,i,c,b=math.ceil,string.find,string.format,redis.call local jg local tN=f[2]
local ny=f[3] local nz=f[4] if not ny then return end local as=f[5] local fo local P local al
if(nz=='LINE')and(not as)then fo=5 P=1 al='LINE' else local qh local qi local ql if nz then if as then
if not(((((f[6]=='LINE')and(not f[7]))and((#as)<16))and(nz=='COST'))and i(as,'^[1-9]%d*$'))then return end qh=7 qi=as+0
ql='LINE' else if(((f[6]=='LINE')and(not f[7]))and(nz=='COST'))and i('','^[1-9]%d*$')then return end return end else
qh=4 qi=1 ql=nil end fo=qh P=qi al=ql end if not(((#ny)<16)and i(ny,'^[1-9]%d*$'))then return end local aG=ny+0
if not(((#tN)<10)and i(tN,'^[1-9]%d*$'))then return end local e=tN*1000 if not(e<9e12)then return end local a=f[fo]
if a then return end if 1000<P then return end local h=b('TIME') local xe=(h[1]*1e06)+h[2] local d=(xe-(xe%1000))/1000
local k=N[1] if not k then return end if i(k,':reserved',1,true)then return end if not((#N)==1)then return end
local gf=d-e local L=b('ZCARD',k) local w if(0<L)and(0<=gf)then if not(L<=4000)then return end
local kb=b('ZREMRANGEBYSCORE',k,'0',c('%.0f',gf)) w=L-kb else w=L end local ae=0<w local z=(w+P)<=aG local O=e%1000
local nK=(e<0)and(-1)or((O==0)and(e/1000)or(((e-O)/1000)+1)) if z then if al=='LINE'then local E=(aG-w)-P
local un=(0<E)and E or 0 local dZ if ae then if not redis.REDIS_VERSION_NUM then return end local cp=b('PEXPIRETIME',k)
local br=(0<=cp)and cp or nil local qP if br then qP=br else qP=nil end dZ=qP else dZ=nil end local aO local ca
if un<aG then local A=un+1 local jk if dZ then if(3*e)<=(2*(dZ-d))then jk=nil else jk=d+(2*e) end else jk=d+(2*e) end
local qS if jk then qS=jk else qS=dZ end local aH=w+P local m=qS+1 local jl local mo local gi=aG-A if gi<0 then jl=nil
mo=nil else if aH<=gi then jl=nil mo=0 else local eA=(aH-gi)-1 local bW local aB if ae then
local kh=b('ZRANGE',k,'0','0','WITHSCORES') local gj=kh[2] if gj then local bA if tonumber(gj)<0 then
local M=b('ZCOUNT',k,'-inf','(0') bA=M else bA=0 end aB=bA else aB=0 end else aB=0 end if(aH-aB)<=eA then bW=nil else
local eB=eA+aB if(0<=eB)and(eB<w)then local be=c('%.0f',eB) local nO=b('ZRANGE',k,be,be,'WITHSCORES') local ao=nO[2]
if ao then local xD=I(tonumber(ao)) local ki=(0<xD)and xD or 0 local mh if d<ki then mh=nil else mh=ki end local cJ
if not mh then local hR=eB-P if(0<=hR)and(hR<w)then local bt=c('%.0f',hR) local X=b('ZRANGE',k,bt,bt,'WITHSCORES')
local ah=X[2] if ah then local gm=I(tonumber(ah)) local gn=(0<gm)and gm or 0 local ap if d<gn then ap=gn else ap=d end
cJ=ap else cJ=d end else cJ=d end else cJ=mh end local nS=cJ+e bW=nS else local dH=eB-P if(0<=dH)and(dH<w)then
local hU=c('%.0f',dH) local eD=b('ZRANGE',k,hU,hU,'WITHSCORES') local hV=eD[2] if hV then local hW=I(tonumber(hV))
local hX=(0<hW)and hW or 0 local fy if d<hX then fy=hX else fy=d end local Eq=fy+e bW=Eq else bW=d+e end else bW=d+e end
end else local km=eB-P if(0<=km)and(km<w)then local cr=c('%.0f',km) local bN=b('ZRANGE',k,cr,cr,'WITHSCORES')
local xE=bN[2] if xE then local aj=I(tonumber(xE)) local eE=(0<aj)and aj or 0 local ec if d<eE then ec=eE else ec=d end
local eF=ec+e bW=eF else bW=d+e end else bW=d+e end end end local hm if(not bW)or(m<bW)then hm=m else hm=bW end local re
if hm then local rd if 2^53<=hm then rd=1/0 else local xI=hm-d rd=(0<xI)and xI or 0 end re=rd else re=hm end jl=aB mo=re
end end local eG=mo or(-1) local fD if A==aG then fD=eG else local cM if dZ then if(3*e)<=(2*(dZ-d))then cM=nil else
cM=d+(2*e) end else cM=d+(2*e) end local rh if cM then rh=cM else rh=dZ end local eH=rh+1 local cP if aH<=0 then cP=0
else local kr=aH-1 local ai local ee if jl then ee=jl else local ed if ae then
local cs=b('ZRANGE',k,'0','0','WITHSCORES') local ct=cs[2] if ct then local fz if tonumber(ct)<0 then
local gp=b('ZCOUNT',k,'-inf','(0') fz=gp else fz=0 end ed=fz else ed=0 end else ed=0 end ee=ed end if(aH-ee)<=kr then
ai=nil else local ib=kr+ee if(0<=ib)and(ib<w)then local kt=c('%.0f',ib) local Ex=b('ZRANGE',k,kt,kt,'WITHSCORES')
local ku=Ex[2] if ku then local nY=I(tonumber(ku)) local bf=(0<nY)and nY or 0 local dt if d<bf then dt=nil else dt=bf
end local jn if not dt then local ie=ib-P if(0<=ie)and(ie<w)then local kx=c('%.0f',ie)
local Ey=b('ZRANGE',k,kx,kx,'WITHSCORES') local ig=Ey[2] if ig then local cv=I(tonumber(ig)) local nZ=(0<cv)and cv or 0
local rs if d<nZ then rs=nZ else rs=d end jn=rs else jn=d end else jn=d end else jn=dt end local eL=jn+e ai=eL else
local ik=ib-P if(0<=ik)and(ik<w)then local oa=c('%.0f',ik) local eK=b('ZRANGE',k,oa,oa,'WITHSCORES') local im=eK[2]
if im then local ky=I(tonumber(im)) local xT=(0<ky)and ky or 0 local fC if d<xT then fC=xT else fC=d end local eM=fC+e
ai=eM else ai=d+e end else ai=d+e end end else local dK=ib-P if(0<=dK)and(dK<w)then local aI=c('%.0f',dK)
local io=b('ZRANGE',k,aI,aI,'WITHSCORES') local gw=io[2] if gw then local od=I(tonumber(gw)) local iq=(0<od)and od or 0
local rz if d<iq then rz=iq else rz=d end local ED=rz+e ai=ED else ai=d+e end else ai=d+e end end end local cO
if(not ai)or(eH<ai)then cO=eH else cO=ai end local bl if cO then local bZ if 2^53<=cO then bZ=1/0 else local xY=cO-d
bZ=(0<xY)and xY or 0 end bl=bZ else bl=cO end cP=bl end fD=cP or(-1) end aO=eG ca=fD else aO=0 ca=0 end
if((not((aO-aO)==0))or(not((ca-ca)==0)))or(2^53<=ca)then return end
local eP=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',w,nK,aG,un,aO,ca,d,P) local mz if ae then
if not redis.REDIS_VERSION_NUM then return end local yd=b('PEXPIRETIME',k) local dL=(0<=yd)and yd or nil local rI
if dL then rI=dL else rI=nil end mz=rI else mz=nil end local cb if mz then if(3*e)<=(2*(mz-d))then cb=nil else
cb=d+(2*e) end else cb=d+(2*e) end local oi=c('%.0f',d) local aK=b('ZCOUNT',k,oi,oi) if 1<P then return end local lA=P
local lB=aK while 0<lA do local iw=c('%.0f',lB) local ix=b('ZADD',k,'NX',oi,(oi..('-0.'..iw))) local oj=lA-ix
local EJ=lB+1 lA,lB=oj,EJ end local FV=lA local gA=lB if cb then local ok=c('%.0f',cb) local dM=b('PEXPIREAT',k,ok) end
jg=eP else if al then return end local mB if ae then if not redis.REDIS_VERSION_NUM then return end
local yl=b('PEXPIRETIME',k) local yn=(0<=yl)and yl or nil local dx if yn then dx=yn else dx=nil end mB=dx else mB=nil
end local jq if mB then if(3*e)<=(2*(mB-d))then jq=nil else jq=d+(2*e) end else jq=d+(2*e) end local dj=c('%.0f',d)
local om=b('ZCOUNT',k,dj,dj) if 1<P then return end local lC=P local lD=om while 0<lC do local bg=c('%.0f',lD)
local oo=b('ZADD',k,'NX',dj,(dj..('-0.'..bg))) local EN=lC-oo local eU=lD+1 lC,lD=EN,eU end local cy=lC local iB=lD
if jq then local op=c('%.0f',jq) local aL=b('PEXPIREAT',k,op) end jg={1,w,nK} end else local qL if ae then
local uk=b('ZCOUNT',k,('('..c('%.0f',d)),'+inf') qL=0<uk else qL=false end if qL then if al=='LINE'then local eW=aG-w
local kL=(0<eW)and eW or 0 local ag if ae then if not redis.REDIS_VERSION_NUM then return end
local kN=b('PEXPIRETIME',k) local kO=(0<=kN)and kN or nil local fJ if kO then fJ=kO else fJ=nil end ag=fJ else ag=nil
end local jt if ag then if(3*e)<=(2*(ag-d))then jt=nil else jt=d+(2*e) end else jt=d+(2*e) end local sb if jt then sb=jt
else sb=ag end local yE=sb+1 local fN local aF local mJ local uB=aG-P if uB<0 then fN=nil aF=nil mJ=nil else
if w<=uB then fN=nil aF=nil mJ=0 else local kQ=(w-uB)-1 local jx local fM local aU if ae then
local aT=b('ZRANGE',k,'0','0','WITHSCORES') local iE=aT[2] if iE then local sg if tonumber(iE)<0 then
local cA=b('ZCOUNT',k,'-inf','(0') sg=cA else sg=0 end aU=sg else aU=0 end else aU=0 end if(w-aU)<=kQ then jx=nil fM=nil
else local aX=kQ+aU if(0<=aX)and(aX<w)then local bQ=c('%.0f',aX) local EQ=b('ZRANGE',k,bQ,bQ,'WITHSCORES')
local uE=EQ[2] if uE then local gG=I(tonumber(uE)) local gH=(0<gG)and gG or 0 local ER=b('ZCOUNT',k,'-inf',c('%.0f',d))
local uH=ER+500 local dz if aX<uH then dz=(gH<d)and gH or d else dz=gH end local uL=dz+e jx=uH fM=uL else
local ES=b('ZCOUNT',k,'-inf',c('%.0f',d)) jx=ES+500 fM=d+e end else local oy=b('ZCOUNT',k,'-inf',c('%.0f',d)) jx=oy+500
fM=d+e end end local hs if(not fM)or(yE<fM)then hs=yE else hs=fM end local sl if hs then local sk if 2^53<=hs then
sk=1/0 else local gI=hs-d sk=(0<gI)and gI or 0 end sl=sk else sl=hs end fN=aU aF=jx mJ=sl end end local uM=mJ or(-1)
local cX local jF if kL<aG then local fb=kL+1 local jy if ag then if(3*e)<=(2*(ag-d))then jy=nil else jy=d+(2*e) end
else jy=d+(2*e) end local fO if jy then fO=jy else fO=ag end local gK=fO+1 local bn local ci local es local kZ=aG-fb
if kZ<0 then bn=fN ci=aF es=nil else if w<=kZ then bn=fN ci=aF es=0 else local oF=(w-kZ)-1 local dA local bG local jz
if fN then jz=fN else local mN if ae then local EZ=b('ZRANGE',k,'0','0','WITHSCORES') local iK=EZ[2] if iK then local sq
if tonumber(iK)<0 then local iL=b('ZCOUNT',k,'-inf','(0') sq=iL else sq=0 end mN=sq else mN=0 end else mN=0 end jz=mN
end if(w-jz)<=oF then dA=aF bG=nil else local dl=oF+jz if(0<=dl)and(dl<w)then local la=c('%.0f',dl)
local oG=b('ZRANGE',k,la,la,'WITHSCORES') local lb=oG[2] if lb then local yP=I(tonumber(lb)) local uP=(0<yP)and yP or 0
local mQ if aF then mQ=aF else local Fa=b('ZCOUNT',k,'-inf',c('%.0f',d)) mQ=Fa+500 end local ss if dl<mQ then
ss=(uP<d)and uP or d else ss=uP end local oK=ss+e dA=mQ bG=oK else local sw if aF then sw=aF else
local uQ=b('ZCOUNT',k,'-inf',c('%.0f',d)) sw=uQ+500 end dA=sw bG=d+e end else local sy if aF then sy=aF else
local Fh=b('ZCOUNT',k,'-inf',c('%.0f',d)) sy=Fh+500 end dA=sy bG=d+e end end local bm if(not bG)or(gK<bG)then bm=gK else
bm=bG end local ch if bm then local sz if 2^53<=bm then sz=1/0 else local ld=bm-d sz=(0<ld)and ld or 0 end ch=sz else
ch=bm end bn=jz ci=dA es=ch end end local oL=es or(-1) local cj if fb==aG then cj=oL else local jD if ag then
if(3*e)<=(2*(ag-d))then jD=nil else jD=d+(2*e) end else jD=d+(2*e) end local sA if jD then sA=jD else sA=ag end
local lg=sA+1 local sS if w<=0 then sS=0 else local yU=w-1 local fS local mU if bn then mU=bn else local mT if ae then
local Fq=b('ZRANGE',k,'0','0','WITHSCORES') local yW=Fq[2] if yW then local sG if tonumber(yW)<0 then
local Fr=b('ZCOUNT',k,'-inf','(0') sG=Fr else sG=0 end mT=sG else mT=0 end else mT=0 end mU=mT end if(w-mU)<=yU then
fS=nil else local oO=yU+mU if(0<=oO)and(oO<w)then local lh=c('%.0f',oO) local uZ=b('ZRANGE',k,lh,lh,'WITHSCORES')
local oP=uZ[2] if oP then local li=I(tonumber(oP)) local iR=(0<li)and li or 0 local cW if ci then cW=ci else
local oQ=b('ZCOUNT',k,'-inf',c('%.0f',d)) cW=oQ+500 end local sL if oO<cW then sL=(iR<d)and iR or d else sL=iR end
local vd=sL+e fS=vd else if not ci then local vc=b('ZCOUNT',k,'-inf',c('%.0f',d)) end fS=d+e end else if not ci then
local yY=b('ZCOUNT',k,'-inf',c('%.0f',d)) end fS=d+e end end local hy if(not fS)or(lg<fS)then hy=lg else hy=fS end
local sR if hy then local sQ if 2^53<=hy then sQ=1/0 else local ve=hy-d sQ=(0<ve)and ve or 0 end sR=sQ else sR=hy end
sS=sR end cj=sS or(-1) end cX=oL jF=cj else cX=0 jF=0 end
if(not((uM-uM)==0))or((((not((cX-cX)==0))or(not((jF-jF)==0)))or(2^53<=uM))or(2^53<=jF))then return end return else
if al then return end return end else if al=='LINE'then local zg=aG-w local vh=(0<zg)and zg or 0 local ck if ae then
if not redis.REDIS_VERSION_NUM then return end local zh=b('PEXPIRETIME',k) local lr=(0<=zh)and zh or nil local sV
if lr then sV=lr else sV=nil end ck=sV else ck=nil end local jG if ck then if(3*e)<=(2*(ck-d))then jG=nil else
jG=d+(2*e) end else jG=d+(2*e) end local sZ if jG then sZ=jG else sZ=ck end local gQ=sZ+1 local bS local dV
local lu=aG-P if lu<0 then bS=nil dV=nil else if w<=lu then bS=nil dV=0 else local lv=(w-lu)-1 local fj local hh
if ae then local oW=b('ZRANGE',k,'0','0','WITHSCORES') local lw=oW[2] if lw then local pa if tonumber(lw)<0 then
local zo=b('ZCOUNT',k,'-inf','(0') pa=zo else pa=0 end hh=pa else hh=0 end else hh=0 end if(w-hh)<=lv then fj=nil else
local hB=lv+hh if(0<=hB)and(hB<w)then local vo=c('%.0f',hB) local tb=b('ZRANGE',k,vo,vo,'WITHSCORES') local nc=tb[2]
if nc then local fV=I(tonumber(nc)) fj=((0<fV)and fV or 0)+e else fj=d+e end else fj=d+e end end local hi
if(not fj)or(gQ<fj)then hi=gQ else hi=fj end local fk if hi then local pb if 2^53<=hi then pb=1/0 else local hC=hi-d
pb=(0<hC)and hC or 0 end fk=pb else fk=hi end bS=hh dV=fk end end local fX=dV or(-1) local jd local hk if vh<aG then
local fY=vh+1 local jb if ck then if(3*e)<=(2*(ck-d))then jb=nil else jb=d+(2*e) end else jb=d+(2*e) end local pc
if jb then pc=jb else pc=ck end local dB=pc+1 local jc local lL local hE=aG-fY if hE<0 then jc=bS lL=nil else
if w<=hE then jc=bS lL=0 else local hF=(w-hE)-1 local by local dp if bS then dp=bS else local dW if ae then
local jJ=b('ZRANGE',k,'0','0','WITHSCORES') local jK=jJ[2] if jK then local pe if tonumber(jK)<0 then
local bb=b('ZCOUNT',k,'-inf','(0') pe=bb else pe=0 end dW=pe else dW=0 end else dW=0 end dp=dW end if(w-dp)<=hF then
by=nil else local aP=hF+dp if(0<=aP)and(aP<w)then local fZ=c('%.0f',aP) local tg=b('ZRANGE',k,fZ,fZ,'WITHSCORES')
local ga=tg[2] if ga then local nj=I(tonumber(ga)) by=((0<nj)and nj or 0)+e else by=d+e end else by=d+e end end local cD
if(not by)or(dB<by)then cD=dB else cD=by end local pk if cD then local pj if 2^53<=cD then pj=1/0 else local jL=cD-d
pj=(0<jL)and jL or 0 end pk=pj else pk=cD end jc=dp lL=pk end end local jM=lL or(-1) local px if fY==aG then px=jM else
local cE if ck then if(3*e)<=(2*(ck-d))then cE=nil else cE=d+(2*e) end else cE=d+(2*e) end local pm if cE then pm=cE
else pm=ck end local jN=pm+1 local pw if w<=0 then pw=0 else local vM=w-1 local fl local lN if jc then lN=jc else
local lM if ae then local nl=b('ZRANGE',k,'0','0','WITHSCORES') local vQ=nl[2] if vQ then local po
if tonumber(vQ)<0 then local dC=b('ZCOUNT',k,'-inf','(0') po=dC else po=0 end lM=po else lM=0 end else lM=0 end lN=lM
end if(w-lN)<=vM then fl=nil else local tn=vM+lN if(0<=tn)and(tn<w)then local bH=c('%.0f',tn)
local zD=b('ZRANGE',k,bH,bH,'WITHSCORES') local hJ=zD[2] if hJ then local vV=I(tonumber(hJ)) fl=((0<vV)and vV or 0)+e
else fl=d+e end else fl=d+e end end local hj if(not fl)or(jN<fl)then hj=jN else hj=fl end local pv if hj then local pu
if 2^53<=hj then pu=1/0 else local nn=hj-d pu=(0<nn)and nn or 0 end pv=pu else pv=hj end pw=pv end px=pw or(-1) end
jd=jM hk=px else jd=0 hk=0 end
if(not((fX-fX)==0))or((((not((jd-jd)==0))or(not((hk-hk)==0)))or(2^53<=fX))or(2^53<=hk))then return end
local jQ=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',w,nK,aG,vh,fX,jd,hk,d) if ae then
if not redis.REDIS_VERSION_NUM then return end local wf=b('PEXPIRETIME',k) local wg=(0<=wf)and wf or nil local je
if wg then if(3*e)<=(2*(wg-d))then je=nil else je=d+(2*e) end else je=d+(2*e) end if je then local no=c('%.0f',je)
local FI=b('PEXPIREAT',k,no) end end jg=jQ else if al then return end if ae then if not redis.REDIS_VERSION_NUM then
return end local wk=b('PEXPIRETIME',k) local wl=(0<=wk)and wk or nil local jf if wl then if(3*e)<=(2*(wl-d))then jf=nil
else jf=d+(2*e) end else jf=d+(2*e) end if jf then local ew=c('%.0f',jf) local FJ=b('PEXPIREAT',k,ew) end end
jg={0,w,nK} end end end return jg end, COUNTER=function(N,f)
local i,dn,c,b=string.find,string.match,string.format,redis.call local fm local tS=f[2] local cY=f[3] local aR=f[4]
if not cY then return end local cZ=f[5] local qp local am local cG if(aR=='LINE')and(not cZ)then qp=5 am=1 cG='LINE'
else local bU local K local Z if aR then if cZ then
if not(((((f[6]=='LINE')and(not f[7]))and((#cZ)<16))and(aR=='COST'))and i(cZ,'^[1-9]%d*$'))then return end bU=7 K=cZ+0
Z='LINE' else if(((f[6]=='LINE')and(not f[7]))and(aR=='COST'))and i('','^[1-9]%d*$')then return end return end else bU=4
K=1 Z=nil end qp=bU am=K cG=Z end if not(((#cY)<16)and i(cY,'^[1-9]%d*$'))then return end local l=cY+0
if not(((#tS)<10)and i(tS,'^[1-9]%d*$'))then return end local V=tS*1000 if not(V<9e12)then return end local h=V*1000
local B=f[qp] if B then return end local H=b('TIME') local o=(H[1]*1e06)+H[2] local D=(o-(o%1000))/1000 local L=N[1]
if not L then return end if i(L,':reserved',1,true)then return end if not((#N)==1)then return end local ad=b('GET',L)
if ad then local au,bq,S,ex,ae=dn(ad,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not au then return else if i(ad,':0%d')then
return else local u=((#ex)<17)and(ex+0) if not((#au)<16)then return end if not((#bq)<16)then return end
if not((#S)<16)then return end if u then if not(u<9e15)then return end local z=au+0 local aV=bq+0 local G=S+0
if(not((1<=z)and(z<=1e15)))or(not(ae==''))then return else if not((aV*z)<2^53)then return end local ac=aV*z
if not((ac*1000)<2^53)then return end local E=ac*1000 if(ac==0)and(not(u==0))then return else
if not((ac==(D-(D%V)))and(z==V))then return end local fu if u==0 then fu=0 else local xz=o-E local Y=(xz<h)and(h-xz)or 0
if not((u*Y)<2^53)then return end fu=u*Y end if not((G+am)<2^53)then return end local m=G+am if not((m*h)<2^53)then
return end local ax=m*h if not((l*h)<2^53)then return end if not((ax+fu)<2^53)then return end local Ei=ax+fu local af
if fu==0 then af=G else local Ej=fu%h local xC=(fu-Ej)/h if not((G+xC)<2^53)then return end af=G+xC end if 2^53<=af then
return end if not((l*h)<Ei)then if not(m<2^53)then return end local X=V*((not(m==0))and 2 or((not(u==0))and 1 or 0))
if not((ac+X)<2^53)then return end local ah=ac+X if not((ah*1000)<2^53)then return end local gl=ah*1000
local hT=(o<gl)and(gl-o)or 0 local kk=hT%1e06 local dH=(kk==0)and(hT/1e06)or(((hT-kk)/1e06)+1) if 2^53<=dH then return
end if cG=='LINE'then local hn if u==0 then hn=0 else local yo=o-E local kH=(yo<h)and(h-yo)or 0 if not((u*kH)<2^53)then
return end hn=u*kH end local kI=(m<l)and(l-m)or 0 local em if hn==0 then em=0 else local yt=hn%h
local eT=(yt==0)and(hn/h)or(((hn-yt)/h)+1) em=eT end local ak=(em<kI)and(kI-em)or 0 local cg local er if ak<l then
local eV=ak+1 local aU local aL=l-eV if not(E<2^53)then return end if aL<0 then aU=nil else if aL<m then
if not((E+h)<2^53)then return end local dO=E+h local cd if m==0 then cd=0 else if not((aL*h)<2^53)then return end
local eX=aL*h local kO=(eX-(eX%m))/m cd=(kO<h)and(h-kO)or 0 end if not((dO+cd)<2^53)then return end local oq=dO+cd
local uz=(o<oq)and(oq-o)or 0 local yB=uz%1000 aU=(yB==0)and(uz/1000)or(((uz-yB)/1000)+1) else local yC=aL-m local bF
if u==0 then bF=0 else if not((yC*h)<2^53)then return end local gE=yC*h local ou=(gE-(gE%u))/u bF=(ou<h)and(h-ou)or 0
end if not((E+bF)<2^53)then return end local iD=E+bF local iE=(o<iD)and(iD-o)or 0 local cA=iE%1000
aU=(cA==0)and(iE/1000)or(((iE-cA)/1000)+1) end end local yG=aU or(-1) local so if eV==l then so=yG else local eq
if 0<m then if not((E+h)<2^53)then return end local yH=E+h local mH if m==0 then mH=0 else local iF=(0-(0%m))/m
mH=(iF<h)and(h-iF)or 0 end if not((yH+mH)<2^53)then return end local kT=yH+mH local uK=(o<kT)and(kT-o)or 0
local kU=uK%1000 eq=(kU==0)and(uK/1000)or(((uK-kU)/1000)+1) else local oz=0-m local mK if u==0 then mK=0 else
if not((oz*h)<2^53)then return end local gI=oz*h local kW=(gI-(gI%u))/u mK=(kW<h)and(h-kW)or 0 end
if not((E+mK)<2^53)then return end local kY=E+mK local iI=(o<kY)and(kY-o)or 0 local dT=iI%1000
eq=(dT==0)and(iI/1000)or(((iI-dT)/1000)+1) end so=eq end cg=yG er=so else cg=0 er=0 end if 2^53<=er then return end
local EY=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',af,dH,l,ak,cg,er,D,am) local hw
if not redis.REDIS_VERSION_NUM then return end local fd=b('PEXPIRETIME',L) local dm=(0<=fd)and fd or nil if dm then
if 2^53<=dm then return end if not(ah<2^53)then return end if not((ah+5000)<2^53)then return end local fe=ah+5000
if dm<ah then hw=fe else if not(fe<dm)then hw=nil else hw=fe end end else if not(ah<2^53)then return end
if not((ah+5000)<2^53)then return end return end if hw then local bn if hw==0 then bn='1' else local Fi=c('%.0f',hw)
bn=Fi end local FZ=b('SET',L,c('C:%.0f:%.0f:%.0f:%.0f',V,((ac-(ac%V))/V),m,u),'PXAT',bn) else
local uU=b('SET',L,c('C:%.0f:%.0f:%.0f:%.0f',V,((ac-(ac%V))/V),m,u),'KEEPTTL') end fm=EY else if cG then return end
local cW if not redis.REDIS_VERSION_NUM then return end local fg=b('PEXPIRETIME',L) local oN=(0<=fg)and fg or nil
if oN then if 2^53<=oN then return end if not(ah<2^53)then return end if not((ah+5000)<2^53)then return end
local uY=ah+5000 if oN<ah then cW=uY else if not(uY<oN)then cW=nil else cW=uY end end else if not(ah<2^53)then return
end if not((ah+5000)<2^53)then return end return end if cW then local sP if cW==0 then sP='1' else local oR=c('%.0f',cW)
sP=oR end local Gc=b('SET',L,c('C:%.0f:%.0f:%.0f:%.0f',V,((ac-(ac%V))/V),m,u),'PXAT',sP) else
local Gd=b('SET',L,c('C:%.0f:%.0f:%.0f:%.0f',V,((ac-(ac%V))/V),m,u),'KEEPTTL') end fm={1,af,dH} end else if D<ac then
return end local kl=(G<l)and(l-G)or 0 local ds local bv=l-am if not(E<2^53)then return end if bv<0 then ds=nil else
if bv<G then if not((E+h)<2^53)then return end local xH=E+h local cL if G==0 then cL=0 else if not((bv*h)<2^53)then
return end local hY=bv*h local kp=(hY-(hY%G))/G cL=(kp<h)and(h-kp)or 0 end if not((xH+cL)<2^53)then return end
local nV=xH+cL local ia=(o<nV)and(nV-o)or 0 local xK=ia%1000 ds=(xK==0)and(ia/1000)or(((ia-xK)/1000)+1) else
local xM=bv-G local mq if u==0 then mq=0 else if not((xM*h)<2^53)then return end local dJ=xM*h local ct=(dJ-(dJ%u))/u
mq=(ct<h)and(h-ct)or 0 end if not((E+mq)<2^53)then return end local gq=E+mq local ic=(o<gq)and(gq-o)or 0
local kt=ic%1000 ds=(kt==0)and(ic/1000)or(((ic-kt)/1000)+1) end end local dt if ds then if 2^53<=ds then return end
local bf=ds%1000 local aS=(ds<0)and(-1)or((bf==0)and(ds/1000)or(((ds-bf)/1000)+1)) dt=aS else dt=-1 end
local gt=(dt==0)and 1 or dt local pt if cG=='LINE'then local hz if u==0 then hz=0 else local aM=o-E
local bh=(aM<h)and(h-aM)or 0 if not((u*bh)<2^53)then return end hz=u*bh end local mX if hz==0 then mX=0 else
local lp=hz%h local oU=(lp==0)and(hz/h)or(((hz-lp)/h)+1) mX=oU end local gP=(mX<kl)and(kl-mX)or 0 local lG if bv<0 then
lG=nil else if bv<G then if not((E+h)<2^53)then return end local zk=E+h local na if G==0 then na=0 else
if not((bv*h)<2^53)then return end local ls=bv*h local iY=(ls-(ls%G))/G na=(iY<h)and(h-iY)or 0 end
if not((zk+na)<2^53)then return end local lv=zk+na local vl=(o<lv)and(lv-o)or 0 local oW=vl%1000
lG=(oW==0)and(vl/1000)or(((vl-oW)/1000)+1) else local jH=bv-G local lF if u==0 then lF=0 else if not((jH*h)<2^53)then
return end local hA=jH*h local vn=(hA-(hA%u))/u lF=(vn<h)and(h-vn)or 0 end if not((E+lF)<2^53)then return end
local fV=E+lF local tc=(o<fV)and(fV-o)or 0 local vp=tc%1000 lG=(vp==0)and(tc/1000)or(((tc-vp)/1000)+1) end end
local vq=lG or(-1) local ps local lP if gP<l then local vt=gP+1 local lJ local eu=l-vt if eu<0 then lJ=nil else
if eu<G then if not((E+h)<2^53)then return end local hD=E+h local lH if G==0 then lH=0 else if not((eu*h)<2^53)then
return end local ba=eu*h local ev=(ba-(ba%G))/G lH=(ev<h)and(h-ev)or 0 end if not((hD+lH)<2^53)then return end
local hE=hD+lH local hF=(o<hE)and(hE-o)or 0 local vy=hF%1000 lJ=(vy==0)and(hF/1000)or(((hF-vy)/1000)+1) else
local jK=eu-G local dX if u==0 then dX=0 else if not((jK*h)<2^53)then return end local bb=jK*h local aP=(bb-(bb%u))/u
dX=(aP<h)and(h-aP)or 0 end if not((E+dX)<2^53)then return end local ga=E+dX local th=(o<ga)and(ga-o)or 0
local vB=th%1000 lJ=(vB==0)and(th/1000)or(((th-vB)/1000)+1) end end local hH=lJ or(-1) local pr if vt==l then pr=hH else
local pq if 0<G then if not((E+h)<2^53)then return end local jL=E+h local cE if G==0 then cE=0 else local vJ=(0-(0%G))/G
cE=(vJ<h)and(h-vJ)or 0 end if not((jL+cE)<2^53)then return end local vK=jL+cE local tk=(o<vK)and(vK-o)or 0
local jO=tk%1000 pq=(jO==0)and(tk/1000)or(((tk-jO)/1000)+1) else local vN=0-G local lO if u==0 then lO=0 else
if not((vN*h)<2^53)then return end local nl=vN*h local dC=(nl-(nl%u))/u lO=(dC<h)and(h-dC)or 0 end
if not((E+lO)<2^53)then return end local vT=E+lO local bH=(o<vT)and(vT-o)or 0 local vU=bH%1000
pq=(vU==0)and(bH/1000)or(((bH-vU)/1000)+1) end pr=pq end ps=hH lP=pr else ps=0 lP=0 end if(2^53<=vq)or(2^53<=lP)then
return end local zE=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',af,gt,l,gP,vq,ps,lP,D) pt=zE else if cG then
return end pt={0,af,gt} end fm=pt end end end else return end end end else local bx=D-(D%V) if not(am<2^53)then return
end if not((am*h)<2^53)then return end local kz=am*h if not((l*h)<2^53)then return end if not(kz<2^53)then return end
if not((l*h)<kz)then local kA=V*2 if not((bx+kA)<2^53)then return end local cw=bx+kA if not((cw*1000)<2^53)then return
end local of=cw*1000 local uu=(o<of)and(of-o)or 0 local kB=uu%1e06 local ir=(kB==0)and(uu/1e06)or(((uu-kB)/1e06)+1)
if 2^53<=ir then return end if cG=='LINE'then local jR=(am<l)and(l-am)or 0 local gc=(0<jR)and jR or 0 local pL local lT
if gc<l then local wi=gc+1 local lR local np=l-wi if not((bx*1000)<2^53)then return end local bI=bx*1000 if np<0 then
lR=nil else local nq=np<am if nq then if not((bI+h)<2^53)then return end local jT=bI+h if not((np*h)<2^53)then return
end local ew=np*h local zM=ew%am local wm=(ew-zM)/am local wn=(wm<h)and(h-wm)or 0 if not((jT+wn)<2^53)then return end
local hK=jT+wn local jW=(o<hK)and(hK-o)or 0 local wq=jW%1000 lR=(wq==0)and(jW/1000)or(((jW-wq)/1000)+1) else
if not(bI<2^53)then return end local tz=(o<bI)and(bI-o)or 0 local hL=tz%1000 lR=(hL==0)and(tz/1000)or(((tz-hL)/1000)+1)
end end local wt=lR or(-1) local pK if wi==l then pK=wt else if not(bI<2^53)then return end if not((bI+h)<2^53)then
return end local ns=bI+h local zS=0%am local ww=(0-zS)/am local wx=(ww<h)and(h-ww)or 0 if not((ns+wx)<2^53)then return
end local wy=ns+wx local tA=(o<wy)and(wy-o)or 0 local wz=tA%1000 pK=(wz==0)and(tA/1000)or(((tA-wz)/1000)+1) end pL=wt
lT=pK else pL=0 lT=0 end if 2^53<=lT then return end
local nt=c('1 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',ir,l,gc,pL,lT,D,am) if not(cw<2^53)then return end
if not((cw+5000)<2^53)then return end local nu=cw+5000 local Ab=c('C:%.0f:%.0f:%.0f:0',V,((bx-(bx%V))/V),am) local pM
if nu==0 then pM='1' else pM=c('%.0f',nu) end local FK=b('SET',L,Ab,'PXAT',pM) fm=nt else if cG then return end
if not(cw<2^53)then return end if not((cw+5000)<2^53)then return end local jX=cw+5000
local tF=c('C:%.0f:%.0f:%.0f:0',V,((bx-(bx%V))/V),am) local pN if jX==0 then pN='1' else pN=c('%.0f',jX) end
local wD=b('SET',L,tF,'PXAT',pN) fm={1,0,ir} end else local aw local yc=l-am if not((bx*1000)<2^53)then return end
local aJ=bx*1000 if yc<0 then aw=nil else if not(aJ<2^53)then return end local iu=(o<aJ)and(aJ-o)or 0 local eR=iu%1000
aw=(eR==0)and(iu/1000)or(((iu-eR)/1000)+1) end local ek if aw then if 2^53<=aw then return end local di=aw%1000
local gy=(aw<0)and(-1)or((di==0)and(aw/1000)or(((aw-di)/1000)+1)) ek=gy else ek=-1 end local gz=(ek==0)and 1 or ek
local pS if cG=='LINE'then local pR if not(aJ<2^53)then return end if yc<0 then pR=nil else local tI=(o<aJ)and(aJ-o)or 0
local gd=tI%1000 pR=(gd==0)and(tI/1000)or(((tI-gd)/1000)+1) end local wF=pR or(-1) if 2^53<=wF then return end
pS=c('0 0 %.0f %.0f %.0f %.0f 0 0 0 %.0f 0 0',gz,l,l,wF,D) else if cG then return end pS={0,0,gz} end fm=pS end end
return fm end, TOKEN=function(N,f) local i,dn,c,b=string.find,string.match,string.format,redis.call local jh
local aQ=f[2] local as=f[3] local dD=f[4] if not as then return end local cm=f[5] local bU local K local Z
if(dD=='LINE')and(not cm)then bU=5 K=1 Z='LINE' else local Q local v local U if dD then if cm then
if not(((((f[6]=='LINE')and(not f[7]))and((#cm)<16))and(dD=='COST'))and i(cm,'^[1-9]%d*$'))then return end Q=7 v=cm+0
U='LINE' else if(((f[6]=='LINE')and(not f[7]))and(dD=='COST'))and i('','^[1-9]%d*$')then return end return end else Q=4
v=1 U=nil end bU=Q K=v Z=U end if not(((#as)<16)and i(as,'^[1-9]%d*$'))then return end local a=as+0
if not(((#aQ)<10)and i(aQ,'^[1-9]%d*$'))then return end local l=aQ*1000 if not(l<9e12)then return end local g=l*1000
if not((a*g)<2^53)then return end local R=a*g local ug=f[bU] if ug then return end local ka=b('TIME')
local D=(ka[1]*1e06)+ka[2] local bK=(D-(D%1000))/1000 local y=N[1] if not y then return end
if i(y,':reserved',1,true)then return end if not((#N)==1)then return end local r=b('GET',y) if r then
local bq,S,ex,ae,t=dn(r,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not bq then return else if i(r,':0%d')then return else
local z=((#ae)<17)and(ae+0) if not((#bq)<16)then return end if not((#S)<16)then return end if not((#ex)<16)then return
end if z then if not(z<9e15)then return end local aV=bq+0 local G=S+0 local O=ex+0 if not((1<=O)and(O<=1e15))then return
else if not(t=='')then return end if(O*1000)<=G then return end if(not(O==l))and(not(G==0))then return end
if not((aV*g)<2^53)then return end local an=aV*g if not((an+G)<2^53)then return end local A=an+G local Y=(R<A)and R or A
local cq=(z<D)and(D-z)or 0 if not((cq*a)<2^53)then return end local aH=cq*a local m=(aH<Y)and(Y-aH)or 0
if not((K*g)<2^53)then return end local aW=K*g if not((m+aW)<2^53)then return end local dF=m+aW local M=m%g
local bd=(m-M)/g local af if M==0 then af=bd else if not((bd+1)<2^53)then return end af=bd+1 end if 2^53<=af then return
end if not(R<dF)then if not((bd+K)<2^53)then return end local ao=bd+K local bL=dF%a
local bM=(bL==0)and(dF/a)or(((dF-bL)/a)+1) local bt=bM%1e06 local X=(bt==0)and(bM/1e06)or(((bM-bt)/1e06)+1)
if 2^53<=X then return end local rC if Z=='LINE'then if not((ao*g)<2^53)then return end local bw=ao*g
if not((bw+M)<2^53)then return end local eH=bw+M local xN=(R<eH)and R or eH local df=(0<xN)and xN or 0 local gq=df%g
local xP=(gq==0)and(df/g)or(((df-gq)/g)+1) local cu=(xP<a)and(a-xP)or 0 local ry local mw if cu<a then local dg=cu+1
local bY local aS=a-dg if aS<0 then bY=nil else if not((aS*g)<2^53)then return end local kw=aS*g
local gu=(kw<df)and(df-kw)or 0 local ih=gu%a local ii=(ih==0)and(gu/a)or(((gu-ih)/a)+1) local eJ=ii%1000
bY=(eJ==0)and(ii/1000)or(((ii-eJ)/1000)+1) end local xR=bY or(-1) local bk if dg==a then bk=xR else
local bO=(0<df)and df or 0 local ob=bO%a local dh=(ob==0)and(bO/a)or(((bO-ob)/a)+1) local aI=dh%1000
bk=(aI==0)and(dh/1000)or(((dh-aI)/1000)+1) end ry=xR mw=bk else ry=0 mw=0 end if 2^53<=mw then return end
local eM=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',af,X,a,cu,ry,mw,bK,K) rC=eM else if Z then return end
rC={1,af,X} end local cS if not redis.REDIS_VERSION_NUM then return end local kB=b('PEXPIRETIME',y)
local eO=(0<=kB)and kB or nil if eO then if 2^53<=eO then return end if not((ao*g)<2^53)then return end local oh=ao*g
if not((oh+M)<2^53)then return end local kD=oh+M local kE=(R<kD)and R or kD local cx=kE%a
local yf=(cx==0)and(kE/a)or(((kE-cx)/a)+1) if not((D+yf)<2^53)then return end local eQ=D+yf local aK=eQ%1000
local eS=(aK==0)and(eQ/1000)or(((eQ-aK)/1000)+1) if not((eS+5000)<2^53)then return end local gy=eS+5000 if eO<eS then
cS=gy else local rQ if not(gy<eO)then rQ=true else if not(an<2^53)then return end if not(A<2^53)then return end
local ol=Y%a local iz=(ol==0)and(Y/a)or(((Y-ol)/a)+1) if not((z+iz)<2^53)then return end local iA=z+iz local dj=iA%1000
local om=(dj==0)and(iA/1000)or(((iA-dj)/1000)+1) if not((om+5000)<2^53)then return end rQ=(om+5000)<eO end if rQ then
cS=nil else cS=gy end end else if not((ao*g)<2^53)then return end local aL=ao*g if not((aL+M)<2^53)then return end
local kK=aL+M local dN=(R<kK)and R or kK local kL=dN%a local eX=(kL==0)and(dN/a)or(((dN-kL)/a)+1)
if not((D+eX)<2^53)then return end local dk=D+eX local yy=dk%1000
if not((((yy==0)and(dk/1000)or(((dk-yy)/1000)+1))+5000)<2^53)then return end return end if cS then local sc
if cS==0 then sc='1' else local uA=c('%.0f',cS) sc=uA end
local ot=b('SET',y,c('T:%.0f:%.0f:%.0f:%.0f',ao,M,l,D),'PXAT',sc) else
local uC=b('SET',y,c('T:%.0f:%.0f:%.0f:%.0f',ao,M,l,D),'KEEPTTL') end jh=rC else if D<z then return end
local kj=(M==0)and(m/g)or(bd+1) local dd=(kj<a)and(a-kj)or 0 local aD local ay=a-K if ay<0 then aD=nil else
if not((ay*g)<2^53)then return end local de=ay*g local bu=(de<m)and(m-de)or 0 local cr=bu%a
local bN=(cr==0)and(bu/a)or(((bu-cr)/a)+1) local aj=bN%1000 aD=(aj==0)and(bN/1000)or(((bN-aj)/1000)+1) end local C
if aD then if 2^53<=aD then return end local ko=aD%1000
local eF=(aD<0)and(-1)or((ko==0)and(aD/1000)or(((aD-ko)/1000)+1)) C=eF else C=-1 end local dI=(C==0)and 1 or C local st
if Z=='LINE'then if not(an<2^53)then return end if not(A<2^53)then return end if not(aH<2^53)then return end local sm
if ay<0 then sm=nil else if not((ay*g)<2^53)then return end local oy=ay*g local kV=(oy<m)and(m-oy)or 0 local oA=kV%a
local fa=(oA==0)and(kV/a)or(((kV-oA)/a)+1) local oB=fa%1000 sm=(oB==0)and(fa/1000)or(((fa-oB)/1000)+1) end
local kX=sm or(-1) local aq local mO if dd<a then local oC=dd+1 local sp local dR=a-oC if dR<0 then sp=nil else
if not((dR*g)<2^53)then return end local dS=dR*g local dT=(dS<m)and(m-dS)or 0 local gK=dT%a
local fc=(gK==0)and(dT/a)or(((dT-gK)/a)+1) local yL=fc%1000 sp=(yL==0)and(fc/1000)or(((fc-yL)/1000)+1) end
local yM=sp or(-1) local fP if oC==a then fP=yM else local gL=(0<m)and m or 0 local dl=gL%a
local bR=(dl==0)and(gL/a)or(((gL-dl)/a)+1) local oG=bR%1000 fP=(oG==0)and(bR/1000)or(((bR-oG)/1000)+1) end aq=yM mO=fP
else aq=0 mO=0 end if(2^53<=kX)or(2^53<=mO)then return end
local gM=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',af,dI,a,dd,kX,aq,mO,bK) st=gM else if Z then return end
st={0,af,dI} end local mV if not redis.REDIS_VERSION_NUM then return end local lc=b('PEXPIRETIME',y)
local dU=(0<=lc)and lc or nil if dU then if 2^53<=dU then return end if not(an<2^53)then return end if not(A<2^53)then
return end local ff=Y%a local oM=(ff==0)and(Y/a)or(((Y-ff)/a)+1) if not((z+oM)<2^53)then return end local uV=z+oM
local lg=uV%1000 local uW=(lg==0)and(uV/1000)or(((uV-lg)/1000)+1) local cV if dU<uW then if not((uW+5000)<2^53)then
return end cV=uW+5000 else cV=nil end mV=cV else if not(an<2^53)then return end if not(A<2^53)then return end
local va=Y%a if not((z+((va==0)and(Y/a)or(((Y-va)/a)+1)))<2^53)then return end mV=nil end if mV then
local iS=c('%.0f',mV) local vc=b('PEXPIREAT',y,iS) end jh=st end end else return end end end else if not((K*g)<2^53)then
return end local lj=K*g if not(lj<2^53)then return end local fh=0%g local iT=(0-fh)/g local fT if fh==0 then fT=iT else
if not((iT+1)<2^53)then return end fT=iT+1 end if 2^53<=fT then return end if not(R<lj)then if not((iT+K)<2^53)then
return end local ll=iT+K local bh=lj%a local ln=(bh==0)and(lj/a)or(((lj-bh)/a)+1) local gO=ln%1e06
local vf=(gO==0)and(ln/1e06)or(((ln-gO)/1e06)+1) if 2^53<=vf then return end local ph if Z=='LINE'then
if not((ll*g)<2^53)then return end local hB=ll*g if not((hB+fh)<2^53)then return end local jI=hB+fh
local nd=(R<jI)and R or jI local fW=(0<nd)and nd or 0 local vr=fW%g local vs=(vr==0)and(fW/g)or(((fW-vr)/g)+1)
local td=(vs<a)and(a-vs)or 0 local lI local dX if td<a then local vv=td+1 local pd local hD=a-vv if hD<0 then pd=nil
else if not((hD*g)<2^53)then return end local vw=hD*g local ba=(vw<fW)and(fW-vw)or 0 local ne=ba%a
local ev=(ne==0)and(ba/a)or(((ba-ne)/a)+1) local dB=ev%1000 pd=(dB==0)and(ev/1000)or(((ev-dB)/1000)+1) end
local vx=pd or(-1) local pf if vv==a then pf=vx else local jJ=(0<fW)and fW or 0 local hG=jJ%a
local bb=(hG==0)and(jJ/a)or(((jJ-hG)/a)+1) local aP=bb%1000 pf=(aP==0)and(bb/1000)or(((bb-aP)/1000)+1) end lI=pf dX=vx
else lI=0 dX=0 end if 2^53<=lI then return end
local nj=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',fT,vf,a,td,dX,lI,bK,K) ph=nj else if Z then return end
ph={1,fT,vf} end if not((ll*g)<2^53)then return end local vH=ll*g if not((vH+fh)<2^53)then return end local vI=vH+fh
local tj=(R<vI)and R or vI local jN=tj%a local vL=(jN==0)and(tj/a)or(((tj-jN)/a)+1) if not((D+vL)<2^53)then return end
local tm=D+vL local vO=tm%1000 local vP=(vO==0)and(tm/1000)or(((tm-vO)/1000)+1) if not((vP+5000)<2^53)then return end
local vR=vP+5000 local pp if vR==0 then pp='1' else pp=c('%.0f',vR) end
local bH=b('SET',y,c('T:%.0f:%.0f:%.0f:%.0f',ll,fh,l,D),'PXAT',pp) jh=ph else local oU=(fh==0)and(0/g)or(iT+1)
local iU=(oU<a)and(a-oU)or 0 local bo local bi=a-K if bi<0 then bo=nil else if not((bi*g)<2^53)then return end
local lr=bi*g local vi=(lr<0)and(0-lr)or 0 local iV=vi%a local vj=(iV==0)and(vi/a)or(((vi-iV)/a)+1) local iX=vj%1000
bo=(iX==0)and(vj/1000)or(((vj-iX)/1000)+1) end local mZ if bo then if 2^53<=bo then return end local fi=bo%1000
local vk=(bo<0)and(-1)or((fi==0)and(bo/1000)or(((bo-fi)/1000)+1)) mZ=vk else mZ=-1 end local oV=(mZ==0)and 1 or mZ
local pE if Z=='LINE'then local pz if bi<0 then pz=nil else if not((bi*g)<2^53)then return end local tr=bi*g
local ts=(tr<0)and(0-tr)or 0 local wb=ts%a local jQ=(wb==0)and(ts/a)or(((ts-wb)/a)+1) local wc=jQ%1000
pz=(wc==0)and(jQ/1000)or(((jQ-wc)/1000)+1) end local wd=pz or(-1) local pD local lQ if iU<a then local we=iU+1 local pA
local tu=a-we if tu<0 then pA=nil else if not((tu*g)<2^53)then return end local jR=tu*g local gc=(jR<0)and(0-jR)or 0
local wh=gc%a local tv=(wh==0)and(gc/a)or(((gc-wh)/a)+1) local wj=tv%1000 pA=(wj==0)and(tv/1000)or(((tv-wj)/1000)+1) end
local jS=pA or(-1) local pC if we==a then pC=jS else local jU=0%a local tx=(jU==0)and(0/a)or(((0-jU)/a)+1)
local jV=tx%1000 pC=(jV==0)and(tx/1000)or(((tx-jV)/1000)+1) end pD=jS lQ=pC else pD=0 lQ=0 end
if(2^53<=wd)or(2^53<=lQ)then return end
local jW=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',fT,oV,a,iU,wd,pD,lQ,bK) pE=jW else if Z then return end
pE={0,fT,oV} end jh=pE end end return jh end, LEAKY=function(N,f)
local i,dn,c,b=string.find,string.match,string.format,redis.call local ji local aQ=f[2] local as=f[3] local dD=f[4]
if not as then return end local cm=f[5] local bU local K local Z if(dD=='LINE')and(not cm)then bU=5 K=1 Z='LINE' else
local Q local v local U if dD then if cm then
if not(((((f[6]=='LINE')and(not f[7]))and((#cm)<16))and(dD=='COST'))and i(cm,'^[1-9]%d*$'))then return end Q=7 v=cm+0
U='LINE' else if(((f[6]=='LINE')and(not f[7]))and(dD=='COST'))and i('','^[1-9]%d*$')then return end return end else Q=4
v=1 U=nil end bU=Q K=v Z=U end if not(((#as)<16)and i(as,'^[1-9]%d*$'))then return end local a=as+0
if not(((#aQ)<10)and i(aQ,'^[1-9]%d*$'))then return end local l=aQ*1000 if not(l<9e12)then return end local g=l*1000
if not((a*g)<2^53)then return end local R=a*g local ug=f[bU] if ug then return end local ka=b('TIME')
local D=(ka[1]*1e06)+ka[2] local bK=(D-(D%1000))/1000 local y=N[1] if not y then return end
if i(y,':reserved',1,true)then return end if not((#N)==1)then return end local r=b('GET',y) if r then
local bq,S,ex,ae,t=dn(r,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not bq then return else if i(r,':0%d')then return else
local z=((#ae)<17)and(ae+0) if not((#bq)<16)then return end if not((#S)<16)then return end if not((#ex)<16)then return
end if z then if not(z<9e15)then return end local aV=bq+0 local G=S+0 local O=ex+0 if not((1<=O)and(O<=1e15))then return
else if not(t=='')then return end if(O*1000)<=G then return end if(not(O==l))and(not(G==0))then return end
if not((aV*g)<2^53)then return end local an=aV*g if not((an+G)<2^53)then return end local A=an+G local Y=(R<A)and R or A
local cq=(z<D)and(D-z)or 0 if not((cq*a)<2^53)then return end local aH=cq*a local m=(aH<Y)and(Y-aH)or 0
if not((K*g)<2^53)then return end local aW=K*g if not((m+aW)<2^53)then return end local dF=m+aW local M=m%g
local bd=(m-M)/g local af if M==0 then af=bd else if not((bd+1)<2^53)then return end af=bd+1 end if 2^53<=af then return
end if not(R<dF)then if not((bd+K)<2^53)then return end local ao=bd+K local bL=dF%a
local bM=(bL==0)and(dF/a)or(((dF-bL)/a)+1) local bt=bM%1e06 local X=(bt==0)and(bM/1e06)or(((bM-bt)/1e06)+1)
if 2^53<=X then return end local xJ=m%a local nT=(xJ==0)and(m/a)or(((m-xJ)/a)+1) local rE if Z=='LINE'then local bZ
if not((ao*g)<2^53)then return end local dJ=ao*g if not((dJ+M)<2^53)then return end local nX=dJ+M
local gp=(R<nX)and R or nX local cu=(0<gp)and gp or 0 local gr=cu%g local gs=(gr==0)and(cu/g)or(((cu-gr)/g)+1)
local bf=(gs<a)and(a-gs)or 0 local rB local mx if bf<a then local kx=bf+1 local rv local ih=a-kx if ih<0 then rv=nil
else if not((ih*g)<2^53)then return end local cv=ih*g local eJ=(cv<cu)and(cu-cv)or 0 local ik=eJ%a
local il=(ik==0)and(eJ/a)or(((eJ-ik)/a)+1) local az=il%1000 rv=(az==0)and(il/1000)or(((il-az)/1000)+1) end
local ky=rv or(-1) local rA if kx==a then rA=ky else local aI=(0<cu)and cu or 0 local ip=aI%a
local oc=(ip==0)and(aI/a)or(((aI-ip)/a)+1) local eL=oc%1000 rA=(eL==0)and(oc/1000)or(((oc-eL)/1000)+1) end rB=ky mx=rA
else rB=0 mx=0 end if 2^53<=mx then return end if not(nT==0)then local kA=nT%1000
local cw=(kA==0)and(nT/1000)or(((nT-kA)/1000)+1) if 2^53<=cw then return end bZ=cw else bZ=0 end
local EE=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f %.0f %.0f 0 %.0f',af,X,a,bf,rB,mx,bZ,bK,K) rE=EE else if Z then return end
rE={1,af,X} end local hq if not redis.REDIS_VERSION_NUM then return end local kD=b('PEXPIRETIME',y)
local aJ=(0<=kD)and kD or nil if aJ then if 2^53<=aJ then return end if not((ao*g)<2^53)then return end local iu=ao*g
if not((iu+M)<2^53)then return end local eQ=iu+M local iv=(R<eQ)and R or eQ local iw=iv%a
local ix=(iw==0)and(iv/a)or(((iv-iw)/a)+1) if not((D+ix)<2^53)then return end local gA=D+ix local ok=gA%1000
local dM=(ok==0)and(gA/1000)or(((gA-ok)/1000)+1) if not((dM+5000)<2^53)then return end local iy=dM+5000 if aJ<dM then
hq=iy else local rT if not(iy<aJ)then rT=true else if not(an<2^53)then return end if not(A<2^53)then return end
local ak=Y%a local bg=(ak==0)and(Y/a)or(((Y-ak)/a)+1) if not((z+bg)<2^53)then return end local cy=z+bg local kJ=cy%1000
local op=(kJ==0)and(cy/1000)or(((cy-kJ)/1000)+1) if not((op+5000)<2^53)then return end rT=(op+5000)<aJ end if rT then
hq=nil else hq=iy end end else if not((ao*g)<2^53)then return end local kM=ao*g if not((kM+M)<2^53)then return end
local dk=kM+M local kP=(R<dk)and R or dk local dP=kP%a local gC=(dP==0)and(kP/a)or(((kP-dP)/a)+1)
if not((D+gC)<2^53)then return end local eY=D+gC local gD=eY%1000
if not((((gD==0)and(eY/1000)or(((eY-gD)/1000)+1))+5000)<2^53)then return end return end if hq then local se
if hq==0 then se='1' else local aT=c('%.0f',hq) se=aT end
local FW=b('SET',y,c('L:%.0f:%.0f:%.0f:%.0f',ao,M,l,D),'PXAT',se) else
local aX=b('SET',y,c('L:%.0f:%.0f:%.0f:%.0f',ao,M,l,D),'KEEPTTL') end ji=rE else if D<z then return end
local kj=(M==0)and(m/g)or(bd+1) local dd=(kj<a)and(a-kj)or 0 local aD local ay=a-K if ay<0 then aD=nil else
if not((ay*g)<2^53)then return end local de=ay*g local bu=(de<m)and(m-de)or 0 local cr=bu%a
local bN=(cr==0)and(bu/a)or(((bu-cr)/a)+1) local aj=bN%1000 aD=(aj==0)and(bN/1000)or(((bN-aj)/1000)+1) end local C
if aD then if 2^53<=aD then return end local ko=aD%1000
local eF=(aD<0)and(-1)or((ko==0)and(aD/1000)or(((aD-ko)/1000)+1)) C=eF else C=-1 end local dI=(C==0)and 1 or C local sx
if Z=='LINE'then if not(an<2^53)then return end if not(A<2^53)then return end if not(aH<2^53)then return end local cg
if ay<0 then cg=nil else if not((ay*g)<2^53)then return end local iH=ay*g local dQ=(iH<m)and(m-iH)or 0 local iI=dQ%a
local dS=(iI==0)and(dQ/a)or(((dQ-iI)/a)+1) local oD=dS%1000 cg=(oD==0)and(dS/1000)or(((dS-oD)/1000)+1) end
local fc=cg or(-1) local sv local mR if dd<a then local oE=dd+1 local cU local iJ=a-oE if iJ<0 then cU=nil else
if not((iJ*g)<2^53)then return end local yN=iJ*g local iK=(yN<m)and(m-yN)or 0 local iL=iK%a
local gL=(iL==0)and(iK/a)or(((iK-iL)/a)+1) local bR=gL%1000 cU=(bR==0)and(gL/1000)or(((gL-bR)/1000)+1) end
local dm=cU or(-1) local su if oE==a then su=dm else local iM=(0<m)and m or 0 local gM=iM%a
local iN=(gM==0)and(iM/a)or(((iM-gM)/a)+1) local oI=iN%1000 su=(oI==0)and(iN/1000)or(((iN-oI)/1000)+1) end sv=dm mR=su
else sv=0 mR=0 end if(2^53<=fc)or(2^53<=mR)then return end
local uR=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',af,dI,a,dd,fc,sv,mR,bK) sx=uR else if Z then return end
sx={0,af,dI} end local mW if not redis.REDIS_VERSION_NUM then return end local yT=b('PEXPIRETIME',y)
local lf=(0<=yT)and yT or nil if lf then if 2^53<=lf then return end if not(an<2^53)then return end if not(A<2^53)then
return end local fg=Y%a local iP=(fg==0)and(Y/a)or(((Y-fg)/a)+1) if not((z+iP)<2^53)then return end local iQ=z+iP
local gN=iQ%1000 local uX=(gN==0)and(iQ/1000)or(((iQ-gN)/1000)+1) local sI if lf<uX then if not((uX+5000)<2^53)then
return end sI=uX+5000 else sI=nil end mW=sI else if not(an<2^53)then return end if not(A<2^53)then return end
local iS=Y%a if not((z+((iS==0)and(Y/a)or(((Y-iS)/a)+1)))<2^53)then return end mW=nil end if mW then
local FD=c('%.0f',mW) local ve=b('PEXPIREAT',y,FD) end ji=sx end end else return end end end else if not((K*g)<2^53)then
return end local lk=K*g if not(lk<2^53)then return end local aM=0%g local bh=(0-aM)/g local fU if aM==0 then fU=bh else
if not((bh+1)<2^53)then return end fU=bh+1 end if 2^53<=fU then return end if not(R<lk)then if not((bh+K)<2^53)then
return end local lo=bh+K local iU=lk%a local gP=(iU==0)and(lk/a)or(((lk-iU)/a)+1) local lq=gP%1e06
local bi=(lq==0)and(gP/1e06)or(((gP-lq)/1e06)+1) if 2^53<=bi then return end local vm=0%a
local nb=(vm==0)and(0/a)or(((0-vm)/a)+1) local pn if Z=='LINE'then local pl if not((lo*g)<2^53)then return end
local eu=lo*g if not((eu+aM)<2^53)then return end local vu=eu+aM local fX=(R<vu)and R or vu local ba=(0<fX)and fX or 0
local nf=ba%g local ng=(nf==0)and(ba/g)or(((ba-nf)/g)+1) local dB=(ng<a)and(a-ng)or 0 local cD local lK if dB<a then
local nh=dB+1 local pg local te=a-nh if te<0 then pg=nil else if not((te*g)<2^53)then return end local vz=te*g
local bb=(vz<ba)and(ba-vz)or 0 local tf=bb%a local aP=(tf==0)and(bb/a)or(((bb-tf)/a)+1) local fZ=aP%1000
pg=(fZ==0)and(aP/1000)or(((aP-fZ)/1000)+1) end local ni=pg or(-1) local pi if nh==a then pi=ni else
local hH=(0<ba)and ba or 0 local vD=hH%a local ti=(vD==0)and(hH/a)or(((hH-vD)/a)+1) local nk=ti%1000
pi=(nk==0)and(ti/1000)or(((ti-nk)/1000)+1) end cD=ni lK=pi else cD=0 lK=0 end if 2^53<=lK then return end
if not(nb==0)then local vG=nb%1000 local jM=(vG==0)and(nb/1000)or(((nb-vG)/1000)+1) if 2^53<=jM then return end pl=jM
else pl=0 end local zC=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f %.0f %.0f 0 %.0f',fU,bi,a,dB,cD,lK,pl,bK,K) pn=zC else
if Z then return end pn={1,fU,bi} end if not((lo*g)<2^53)then return end local gb=lo*g if not((gb+aM)<2^53)then return
end local vS=gb+aM local hJ=(R<vS)and R or vS local vW=hJ%a local vX=(vW==0)and(hJ/a)or(((hJ-vW)/a)+1)
if not((D+vX)<2^53)then return end local tq=D+vX local vY=tq%1000 local vZ=(vY==0)and(tq/1000)or(((tq-vY)/1000)+1)
if not((vZ+5000)<2^53)then return end local wa=vZ+5000 local py if wa==0 then py='1' else py=c('%.0f',wa) end
local tr=b('SET',y,c('L:%.0f:%.0f:%.0f:%.0f',lo,aM,l,D),'PXAT',py) ji=pn else local zj=(aM==0)and(0/g)or(bh+1)
local iV=(zj<a)and(a-zj)or 0 local et local cB=a-K if cB<0 then et=nil else if not((cB*g)<2^53)then return end
local ls=cB*g local fi=(ls<0)and(0-ls)or 0 local gQ=fi%a local lt=(gQ==0)and(fi/a)or(((fi-gQ)/a)+1) local zl=lt%1000
et=(zl==0)and(lt/1000)or(((lt-zl)/1000)+1) end local cC if et then if 2^53<=et then return end local lw=et%1000
local zn=(et<0)and(-1)or((lw==0)and(et/1000)or(((et-lw)/1000)+1)) cC=zn else cC=-1 end local jH=(cC==0)and 1 or cC
local pI if Z=='LINE'then local pB if cB<0 then pB=nil else if not((cB*g)<2^53)then return end local no=cB*g
local tw=(no<0)and(0-no)or 0 local jS=tw%a local bI=(jS==0)and(tw/a)or(((tw-jS)/a)+1) local nq=bI%1000
pB=(nq==0)and(bI/1000)or(((bI-nq)/1000)+1) end local jT=pB or(-1) local pH local lS if iV<a then local jU=iV+1 local pF
local ew=a-jU if ew<0 then pF=nil else if not((ew*g)<2^53)then return end local jV=ew*g local ty=(jV<0)and(0-jV)or 0
local wo=ty%a local hK=(wo==0)and(ty/a)or(((ty-wo)/a)+1) local wp=hK%1000 pF=(wp==0)and(hK/1000)or(((hK-wp)/1000)+1) end
local wr=pF or(-1) local pG if jU==a then pG=wr else local ws=0%a local hL=(ws==0)and(0/a)or(((0-ws)/a)+1)
local nr=hL%1000 pG=(nr==0)and(hL/1000)or(((hL-nr)/1000)+1) end pH=wr lS=pG else pH=0 lS=0 end
if(2^53<=jT)or(2^53<=lS)then return end
local ns=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',fU,jH,a,iV,jT,pH,lS,bK) pI=ns else if Z then return end
pI={0,fU,jH} end ji=pI end end return ji end, GCRA=function(N,f)
local i,dn,c,b=string.find,string.match,string.format,redis.call local cC local bJ=f[2] local bc=f[3] local ar=f[4]
if not bc then return end local aR=f[5] local Q local v local U if(ar=='LINE')and(not aR)then Q=5 v=1 U='LINE' else
local P local al local bT if ar then if aR then
if not(((((f[6]=='LINE')and(not f[7]))and((#aR)<16))and(ar=='COST'))and i(aR,'^[1-9]%d*$'))then return end P=7 al=aR+0
bT='LINE' else if(((f[6]=='LINE')and(not f[7]))and(ar=='COST'))and i('','^[1-9]%d*$')then return end return end else P=4
al=1 bT=nil end Q=P v=al U=bT end if not(((#bc)<16)and i(bc,'^[1-9]%d*$'))then return end local j=bc+0
if not(((#bJ)<10)and i(bJ,'^[1-9]%d*$'))then return end local a=bJ*1000 if not(a<9e12)then return end local wZ=a*1000
if not((wZ*1000)<2^53)then return end local at=wZ*1000 if at<j then return end local d=at%j
local n=(d==0)and(at/j)or(((at-d)/j)+1) if not((j*n)<2^53)then return end local H=j*n local hM=f[Q] if hM then return
end local cn=b('TIME') local ad=(cn[1]*1e06)+cn[2] local r=(ad-(ad%1000))/1000 local S=N[1] if not S then return end
if i(S,':reserved',1,true)then return end if not((#N)==1)then return end local t=b('GET',S) if t then
local ey,W=dn(t,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if(not ey)or(56<ey:byte())then return end
local z=ey+0 local aV=W+0 local cI local aa local xt=z<ad if not xt then local xu=(ad<z)and(z-ad)or 0
if not((xu*1000)<2^53)then return end local xw=xu*1000 if not((xw+aV)<2^53)then return end local E=xw+aV if H<E then
cI=H aa=true else cI=E aa=false end else cI=0 aa=false end if not((v*n)<2^53)then return end local db=v*n
if not((cI+db)<2^53)then return end local an=cI+db local qQ if not(n==0)then qQ=not(H<an) else qQ=false end local fv
if n==0 then fv=0 else local cq=cI%n local kg=(cq==0)and(cI/n)or(((cI-cq)/n)+1) fv=kg end if 2^53<=fv then return end
if qQ then local ax=an%1000 local aW=(an-ax)/1000 if not((ad+aW)<2^53)then return end local av=ad+aW local dG=an%1e09
local up=(dG==0)and(an/1e09)or(((an-dG)/1e09)+1) if 2^53<=up then return end local rr if U=='LINE'then local cK
if not(av<ad)then local aj=(ad<av)and(av-ad)or 0 if not((aj*1000)<2^53)then return end local xF=aj*1000
if not((xF+ax)<2^53)then return end local xG=xF+ax if H<xG then cK=H else cK=xG end else cK=0 end local cL if n==0 then
cL=0 else local eG=cK%n local kp=(eG==0)and(cK/n)or(((cK-eG)/n)+1) cL=(kp<j)and(j-kp)or 0 end local rm local eg
if cL<j then local bw=cL+1 local bC if(n==0)or(j<bw)then bC=nil else if not((bw*n)<2^53)then return end local xL=bw*n
local kr=(xL<H)and(H-xL)or 0 local dJ=(kr<cK)and(cK-kr)or 0 local cs=dJ%1e06 bC=(cs==0)and(dJ/1e06)or(((dJ-cs)/1e06)+1)
end local ks=bC or(-1) local rl if bw==j then rl=ks else local rk if n==0 then rk=nil else if not(H<2^53)then return end
local id=(0<cK)and cK or 0 local ku=id%1e06 rk=(ku==0)and(id/1e06)or(((id-ku)/1e06)+1) end rl=rk or(-1) end rm=ks eg=rl
else rm=0 eg=0 end if 2^53<=eg then return end
local gu=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',fv,up,j,cL,rm,eg,r,v) rr=gu else if U then return end
rr={1,fv,up} end local aO if not redis.REDIS_VERSION_NUM then return end local eK=b('PEXPIRETIME',S)
local az=(0<=eK)and eK or nil if az then if 2^53<=az then return end local jo if ax==0 then jo=av else
if not((av+1)<2^53)then return end jo=av+1 end local gv=jo%1000 local aI=(gv==0)and(jo/1000)or(((jo-gv)/1000)+1)
if not((aI+5000)<2^53)then return end local ip=aI+5000 if az<aI then aO=ip else if not(ip<az)then aO=nil else aO=ip end
end else local ai if ax==0 then ai=av else if not((av+1)<2^53)then return end ai=av+1 end local xZ=ai%1000
local of=(xZ==0)and(ai/1000)or(((ai-xZ)/1000)+1) if not((of+5000)<2^53)then return end return end if aO then
if av<1e06 then return end local rF if aO==0 then rF='1' else local gx=c('%.0f',aO) rF=gx end
local eP=b('SET',S,c('%.0f%03d',av,ax),'PXAT',rF) else if av<1e06 then return end
local yb=b('SET',S,c('%.0f%03d',av,ax),'KEEPTTL') end cC=rr else if aa and(not(n==0))then return end local aN
if(n==0)or(j<v)then aN=nil else if not(db<2^53)then return end local hS=(db<H)and(H-db)or 0
local X=(hS<cI)and(cI-hS)or 0 local gl=X%1e06 aN=(gl==0)and(X/1e06)or(((X-gl)/1e06)+1) end local eb if aN then
if 2^53<=aN then return end local kk=aN%1000 local dH=(aN<0)and(-1)or((kk==0)and(aN/1000)or(((aN-kk)/1000)+1)) eb=dH
else eb=-1 end local nR=(eb==0)and 1 or eb local ce if U=='LINE'then local bD if not xt then
local kG=(ad<z)and(z-ad)or 0 if not((kG*1000)<2^53)then return end local eR=kG*1000 if not((eR+aV)<2^53)then return end
local aK=eR+aV if H<aK then bD=H else bD=aK end else bD=0 end local dw if n==0 then dw=0 else local gA=bD%n
local yg=(gA==0)and(bD/n)or(((bD-gA)/n)+1) dw=(yg<j)and(j-yg)or 0 end local rN if(n==0)or(j<v)then rN=nil else
if not(db<2^53)then return end local kH=(db<H)and(H-db)or 0 local iz=(kH<bD)and(bD-kH)or 0 local iA=iz%1e06
rN=(iA==0)and(iz/1e06)or(((iz-iA)/1e06)+1) end local kI=rN or(-1) local cc local bE if dw<j then local gB=dw+1 local rS
if(n==0)or(j<gB)then rS=nil else if not((gB*n)<2^53)then return end local yu=gB*n local bg=(yu<H)and(H-yu)or 0
local eU=(bg<bD)and(bD-bg)or 0 local eV=eU%1e06 rS=(eV==0)and(eU/1e06)or(((eU-eV)/1e06)+1) end local aL=rS or(-1)
local rX if gB==j then rX=aL else local rW if n==0 then rW=nil else if not(H<2^53)then return end
local dO=(0<bD)and bD or 0 local eW=dO%1e06 rW=(eW==0)and(dO/1e06)or(((dO-eW)/1e06)+1) end rX=rW or(-1) end cc=aL bE=rX
else cc=0 bE=0 end if(2^53<=kI)or(2^53<=bE)then return end
local kP=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',fv,nR,j,dw,kI,cc,bE,r) ce=kP else if U then return end
ce={0,fv,nR} end cC=ce end else if not((v*n)<2^53)then return end local aT=v*n if not(aT<2^53)then return end local aU
if not(n==0)then aU=not(H<aT) else aU=false end local cf if n==0 then cf=0 else local bQ=0%n
cf=(bQ==0)and(0/n)or(((0-bQ)/n)+1) end if 2^53<=cf then return end if aU then local kS=aT%1000 local ox=(aT-kS)/1000
if not((ad+ox)<2^53)then return end local eZ=ad+ox local yJ=aT%1e09 local uI=(yJ==0)and(aT/1e09)or(((aT-yJ)/1e09)+1)
if 2^53<=uI then return end local fR if U=='LINE'then local aq if not(eZ<ad)then local yO=(ad<eZ)and(eZ-ad)or 0
if not((yO*1000)<2^53)then return end local fd=yO*1000 if not((fd+kS)<2^53)then return end local la=fd+kS if H<la then
aq=H else aq=la end else aq=0 end local jB if n==0 then jB=0 else local iN=aq%n
local oH=(iN==0)and(aq/n)or(((aq-iN)/n)+1) jB=(oH<j)and(j-oH)or 0 end local sD local mS if jB<j then local oJ=jB+1
local ch if(n==0)or(j<oJ)then ch=nil else if not((oJ*n)<2^53)then return end local dU=oJ*n local oK=(dU<H)and(H-dU)or 0
local uS=(oK<aq)and(aq-oK)or 0 local ld=uS%1e06 ch=(ld==0)and(uS/1e06)or(((uS-ld)/1e06)+1) end local le=ch or(-1)
local sC if oJ==j then sC=le else local sB if n==0 then sB=nil else if not(H<2^53)then return end
local ff=(0<aq)and aq or 0 local uU=ff%1e06 sB=(uU==0)and(ff/1e06)or(((ff-uU)/1e06)+1) end sC=sB or(-1) end sD=le mS=sC
else sD=0 mS=0 end if 2^53<=mS then return end
local Fp=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',cf,uI,j,jB,sD,mS,r,v) fR=Fp else if U then return end
fR={1,cf,uI} end local jE if kS==0 then jE=eZ else if not((eZ+1)<2^53)then return end jE=eZ+1 end local li=jE%1000
local iR=(li==0)and(jE/1000)or(((jE-li)/1000)+1) if not((iR+5000)<2^53)then return end local oQ=iR+5000 if eZ<1e06 then
return end local sM if oQ==0 then sM='1' else sM=c('%.0f',oQ) end local Ga=b('SET',S,c('%.0f%03d',eZ,kS),'PXAT',sM)
cC=fR else local ep if(n==0)or(j<v)then ep=nil else local kW=(aT<H)and(H-aT)or 0 local iH=(kW<0)and(0-kW)or 0
local kY=iH%1e06 ep=(kY==0)and(iH/1e06)or(((iH-kY)/1e06)+1) end local eq if ep then if 2^53<=ep then return end
local dT=ep%1000 local EX=(ep<0)and(-1)or((dT==0)and(ep/1000)or(((ep-dT)/1000)+1)) eq=EX else eq=-1 end
local gJ=(eq==0)and 1 or eq local ta if U=='LINE'then local cX if n==0 then cX=0 else local za=0%n
local zb=(za==0)and(0/n)or(((0-za)/n)+1) cX=(zb<j)and(j-zb)or 0 end local sT if(n==0)or(j<v)then sT=nil else
local lm=(aT<H)and(H-aT)or 0 local aM=(lm<0)and(0-lm)or 0 local oS=aM%1e06 sT=(oS==0)and(aM/1e06)or(((aM-oS)/1e06)+1)
end local gO=sT or(-1) local sY local bo if cX<j then local oT=cX+1 local sU if(n==0)or(j<oT)then sU=nil else
if not((oT*n)<2^53)then return end local lp=oT*n local zf=(lp<H)and(H-lp)or 0 local vg=(zf<0)and(0-zf)or 0
local lq=vg%1e06 sU=(lq==0)and(vg/1e06)or(((vg-lq)/1e06)+1) end local zi=sU or(-1) local sX if oT==j then sX=zi else
local sW if n==0 then sW=nil else if not(H<2^53)then return end sW=0 end sX=sW or(-1) end sY=zi bo=sX else sY=0 bo=0 end
if(2^53<=gO)or(2^53<=bo)then return end
local iY=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',cf,gJ,j,cX,gO,sY,bo,r) ta=iY else if U then return end
ta={0,cf,gJ} end cC=ta end end return cC end, ROLLING=function(N,f)
local zm,p,lx,i,cl,c,b=math.abs,string.byte,string.char,string.find,string.sub,string.format,redis.call local md
local tX=f[2] local nD=f[3] local nE=f[4] if not nD then return end local jZ=f[5] local qv local bV local cH
if(nE=='LINE')and(not jZ)then qv=5 bV=1 cH='LINE' else local fp local aA local aY if nE then if jZ then
if not(((((f[6]=='LINE')and(not f[7]))and((#jZ)<16))and(nE=='COST'))and i(jZ,'^[1-9]%d*$'))then return end fp=7 aA=jZ+0
aY='LINE' else if(((f[6]=='LINE')and(not f[7]))and(nE=='COST'))and i('','^[1-9]%d*$')then return end return end else
fp=4 aA=1 aY=nil end qv=fp bV=aA cH=aY end if not(((#nD)<16)and i(nD,'^[1-9]%d*$'))then return end local d=nD+0
if not(((#tX)<10)and i(tX,'^[1-9]%d*$'))then return end local J=tX*1000 if not(J<9e12)then return end local hM=f[qv]
if hM then return end local cn=b('TIME') local ad=(cn[1]*1e06)+cn[2] local r=(ad-(ad%1000))/1000 local S=N[1]
if not S then return end if i(S,':reserved',1,true)then return end if not((#N)==1)then return end local t=b('GET',S)
if t then local x local T local C local q=((#t)-2)/15 if(not(cl(t,1,2)=='R:'))or(((not((q%1)==0))or(q<1))or(8192<q))then
return end local O=r-J local qN if 0<=O then local uk,hN,Ee,ul,co,Ef,gg=p(t,3,9) if 32<=gg then return end
qN=(uk+(256*(hN+(256*(Ee+(256*(ul+(256*(co+(256*(Ef+(256*gg))))))))))))<=O else qN=false end if qN then local mj
local qR if q==0 then qR=true else local cp=q-1 local dE,br,ke,Eg,kf,db,ez=p(t,((15*cp)+3),((15*cp)+9)) if 32<=ez then
return end qR=(dE+(256*(br+(256*(ke+(256*(Eg+(256*(kf+(256*(db+(256*ez))))))))))))<=O end if qR then mj=q else
local iZ=0 local hd=q while 1<hd do local kg=(hd-(hd%2))/2 local xA=iZ+kg
local Eh,m,dc,gi,ax,aW,eA=p(t,((15*xA)+3),((15*xA)+9)) if 32<=eA then return end
local gj=Eh+(256*(m+(256*(dc+(256*(gi+(256*(ax+(256*(aW+(256*eA))))))))))) local qV if gj<=O then local dG=iZ+kg qV=dG
else qV=iZ end local nN=hd-kg iZ,hd=qV,nN end local M=iZ local bd=hd
local eB,gk,eC,uq,Ek,be,nO=p(t,((15*M)+3),((15*M)+9)) if 32<=nO then return end
mj=((eB+(256*(gk+(256*(eC+(256*(uq+(256*(Ek+(256*(be+(256*nO))))))))))))<=O)and(M+1)or M end local nQ=mj-1
local bt,X,ah,ur,Em,gl,gm,gn=p(t,((15*nQ)+10),((15*nQ)+17)) local hU=Em+(256*(gl+(256*(gm+(256*gn)))))
local eD=bt+(256*(X+(256*(ah+(256*ur))))) local kl=q-1 local ay,hW,hX,de,En,Eo,bu,km=p(t,((15*kl)+10),((15*kl)+17))
local aj=En+(256*(Eo+(256*(bu+(256*km))))) if(aj<hU)or((aj==hU)and((ay+(256*(hW+(256*(hX+(256*de))))))<eD))then return
end x=mj T=hU C=eD else x=0 T=0 C=0 end local dr if 0<q then local eG=q-1
local nU,Er,Es,kq,Et,nV,nW,hZ=p(t,((15*eG)+10),((15*eG)+17))
local ct=(((Et+(256*(nV+(256*(nW+(256*hZ))))))-T)*2^32)+((nU+(256*(Er+(256*(Es+(256*kq))))))-C)
dr=(ct<0)and(ct+2^64)or ct else dr=0 end local Ew=(dr+bV)<=d if 2^53<=dr then return end if Ew then local aE local cT
local jv local mI local jw local bl local eh if q==0 then eh=true else local gs=q-1
local dg,nY,bf,aS,kv,gt,kw=p(t,((15*gs)+3),((15*gs)+9)) if 32<=kw then return end
eh=(dg+(256*(nY+(256*(bf+(256*(aS+(256*(kv+(256*(gt+(256*kw))))))))))))<=r end if eh then bl=q else local ja=0
local he=q while 1<he do local ij=(he-(he%2))/2 local il=ja+ij local EA,oa,eK,im,az,xS,bO=p(t,((15*il)+3),((15*il)+9))
if 32<=bO then return end local EB=EA+(256*(oa+(256*(eK+(256*(im+(256*(az+(256*(xS+(256*bO))))))))))) local rw
if EB<=r then local gv=ja+ij rw=gv else rw=ja end local io=he-ij ja,he=rw,io end local gw=ja local EC=he
local od,iq,xU,oe,eL,eM,xV=p(t,((15*gw)+3),((15*gw)+9)) if 32<=xV then return end
bl=((od+(256*(iq+(256*(xU+(256*(oe+(256*(eL+(256*(eM+(256*xV))))))))))))<=r)and(gw+1)or gw end local eN=bV%2^32
local og=(bV-eN)/2^32 if 0<q then local eP=q-1 local EF,is,EG,yb,bP,EH,oh,kC=p(t,((15*eP)+10),((15*eP)+17))
local kG=(bP+(256*(EH+(256*(oh+(256*kC))))))+og local uv=(EF+(256*(is+(256*(EG+(256*yb))))))+eN local ej local aw
if 2^32<=uv then ej=kG+1 aw=uv-2^32 else ej=kG aw=uv end local aK=ej%2^32 local eS=2^32<=ej if bl<q then return end
if x<q then local di,gy,uw,gz,iw,ix,oj=p(t,((15*eP)+3),((15*eP)+9)) if 32<=oj then return end
local dM=di+(256*(gy+(256*(uw+(256*(gz+(256*(iw+(256*(ix+(256*oj))))))))))) local mC if dM==r then mC=true else
if(J<=4096)or(((J/4096)+1)<=zm((dM-r)))then mC=false else if not((dM*4096)<2^53)then return end local yk=dM*4096
if not((r*4096)<2^53)then return end local yp=r*4096 mC=((yk-(yk%J))/J)==((yp-(yp%J))/J) end end local ux=mC and eP or q
local eT=r%16777216 local on=aK%65536 local ak=aw%65536 local bg=(r-eT)/16777216 local cy=(aK-on)/65536
local iB=(aw-ak)/65536 local cz=bg%65536
local eV=lx((eT%256),(((eT-(eT%256))/256)%256),((eT-(eT%65536))/65536),(cz%256),((cz-(cz%256))/256),(((bg-cz)/65536)%256),((bg-(bg%16777216))/16777216),(ak%256),((ak-(ak%256))/256),(iB%256),((iB-(iB%256))/256),(on%256),((on-(on%256))/256),(cy%256),((cy-(cy%256))/256))
local uy=ux+1 local dN=(15*ux)+2 local rU if ux==q then rU='APPEND' else rU='SETRANGE' end local rV
if(q==0)or(((((0<x)and(q<=(x*2)))or eS)or(uy<q))or(8192<uy))then rV='SET' else rV=rU end aE=cl(t,1,dN)..eV cT=uy jv=rV
mI=dN jw=eV else local kN=T+og local dk=C+eN local ag local rY if 2^32<=dk then ag=dk-2^32 rY=kN+1 else ag=dk rY=kN end
local yz=rY%2^32 local dP=r%16777216 local gC=yz%65536 local os=ag%65536 local eY=(r-dP)/16777216 local gD=(yz-gC)/65536
local ot=(ag-os)/65536 local gE=eY%65536
local yD=lx((dP%256),(((dP-(dP%256))/256)%256),((dP-(dP%65536))/65536),(gE%256),((gE-(gE%256))/256),(((eY-gE)/65536)%256),((eY-(eY%16777216))/16777216),(os%256),((os-(os%256))/256),(ot%256),((ot-(ot%256))/256),(gC%256),((gC-(gC%256))/256),(gD%256),((gD-(gD%256))/256))
local iD=q+1 local uD=(15*q)+2 local sf if(q==0)or(((((0<x)and(q<=(x*2)))or eS)or(iD<q))or(8192<iD))then sf='SET' else
sf='APPEND' end aE=cl(t,1,uD)..yD cT=iD jv=sf mI=uD jw=yD end else local aX=r%16777216 local gF=og%65536
local ow=eN%65536 local bQ=(r-aX)/16777216 local uF=(og-gF)/65536 local uG=(eN-ow)/65536 local gG=bQ%65536
local gH=lx((aX%256),(((aX-(aX%256))/256)%256),((aX-(aX%65536))/65536),(gG%256),((gG-(gG%256))/256),(((bQ-gG)/65536)%256),((bQ-(bQ%16777216))/16777216),(ow%256),((ow-(ow%256))/256),(uG%256),((uG-(uG%256))/256),(gF%256),((gF-(gF%256))/256),(uF%256),((uF-(uF%256))/256))
local iF=q+1 local yI=(15*q)+2 local sj if(q==0)or((((0<x)and(q<=(x*2)))or(iF<q))or(8192<iF))then sj='SET' else
sj='APPEND' end aE=cl(t,1,yI)..gH cT=iF jv=sj mI=yI jw=gH end local cU if 0<cT then local yK=cT-1
local oD,gJ,gK,fc,kZ,uN,oE,oF=p(aE,((15*yK)+10),((15*yK)+17))
local bR=(((kZ+(256*(uN+(256*(oE+(256*oF))))))-T)*2^32)+((oD+(256*(gJ+(256*(gK+(256*fc))))))-C)
cU=(bR<0)and(bR+2^64)or bR else cU=0 end local cj if cU<=0 then cj=0 else local fe=cT-1
local oH,Fb,Fc,Fd,oI,Fe,Ff,Fg=p(aE,((15*x)+10),((15*x)+17))
local uT=(((oI+(256*(Fe+(256*(Ff+(256*Fg))))))-T)*2^32)+((oH+(256*(Fb+(256*(Fc+(256*Fd))))))-C) local sE local sF
if cU<=((uT<0)and(uT+2^64)or uT)then sE=x sF=x else local le=(0<fe)and(fe-1)or 0
local oL,lf,Fj,Fk,Fl,Fm,Fn,ff=p(aE,((15*le)+10),((15*le)+17))
local iP=(((Fl+(256*(Fm+(256*(Fn+(256*ff))))))-T)*2^32)+((oL+(256*(lf+(256*(Fj+(256*Fk))))))-C) local fR
if((iP<0)and(iP+2^64)or iP)<cU then fR=fe else fR=x end sE=fR sF=fe end local hf=sF local hg=sE while hg<hf do
local gN=((hg+hf)-((hg+hf)%2))/2 local Fs,Ft,Fu,Fv,lh,uZ,oP,Fw=p(aE,((15*gN)+10),((15*gN)+17))
local Fx=lh+(256*(uZ+(256*(oP+(256*Fw))))) local Fy=Fs+(256*(Ft+(256*(Fu+(256*Fv))))) local vb=((Fx-T)*2^32)+(Fy-C)
local iS=(vb<0)and(vb+2^64)or vb local sN local sO if cU<=iS then sN=hg sO=gN else local vc=gN+1 sN=vc sO=hf end
hf,hg=sO,sN end local Gb=hf local oR=hg local Fz,yY,FA,vd,FB,FC,yZ=p(aE,((15*oR)+3),((15*oR)+9)) if 32<=yZ then return
end local zc=((Fz+(256*(yY+(256*(FA+(256*(vd+(256*(FB+(256*(FC+(256*yZ))))))))))))+J)-r cj=(0<zc)and zc or 0 end
if 2^53<=cj then return end local zd=cj%1000 local ze=(cj<0)and(-1)or((zd==0)and(cj/1000)or(((cj-zd)/1000)+1)) local qd
if cH=='LINE'then local cF if 0<cT then local wC=cT-1 local nu,zU,zV,zW,zX,zY,zZ,Aa=p(aE,((15*wC)+10),((15*wC)+17))
local tB=(((zX+(256*(zY+(256*(zZ+(256*Aa))))))-T)*2^32)+((nu+(256*(zU+(256*(zV+(256*zW))))))-C)
cF=(tB<0)and(tB+2^64)or tB else cF=0 end local tC=(cF<d)and(d-cF)or 0 local qc local lW if tC<d then local jX=tC+1
local lV local tD=d-jX if tD<0 then lV=nil else if cF<=tD then lV=0 else local tE=cF-tD local nv=cT-1
local tF,Ac,Ad,Ae,wD,Af,Ag,Ah=p(aE,((15*x)+10),((15*x)+17))
local tG=(((wD+(256*(Af+(256*(Ag+(256*Ah))))))-T)*2^32)+((tF+(256*(Ac+(256*(Ad+(256*Ae))))))-C) local pP local pQ
if tE<=((tG<0)and(tG+2^64)or tG)then pP=x pQ=x else local wE=(0<nv)and(nv-1)or 0
local Ai,Aj,Ak,Al,Am,An,Ao,Ap=p(aE,((15*wE)+10),((15*wE)+17))
local tH=(((Am+(256*(An+(256*(Ao+(256*Ap))))))-T)*2^32)+((Ai+(256*(Aj+(256*(Ak+(256*Al))))))-C) local pO
if((tH<0)and(tH+2^64)or tH)<tE then pO=nv else pO=x end pP=pO pQ=nv end local gT=pQ local gU=pP while gU<gT do
local gd=((gU+gT)-((gU+gT)%2))/2 local Aq,Ar,As,At,Au,Av,Aw,Ax=p(aE,((15*gd)+10),((15*gd)+17))
local Ay=Au+(256*(Av+(256*(Aw+(256*Ax))))) local Az=Aq+(256*(Ar+(256*(As+(256*At))))) local tJ=((Ay-T)*2^32)+(Az-C)
local AA=(tJ<0)and(tJ+2^64)or tJ local pT local pU if tE<=AA then pT=gU pU=gd else local AB=gd+1 pT=AB pU=gT end
gT,gU=pU,pT end local FL=gT local wG=gU local AC,AD,AE,AF,AG,AH,wH=p(aE,((15*wG)+3),((15*wG)+9)) if 32<=wH then return
end local wI=((AC+(256*(AD+(256*(AE+(256*(AF+(256*(AG+(256*(AH+(256*wH))))))))))))+J)-r lV=(0<wI)and wI or 0 end end
local wJ=lV or(-1) local qb if jX==d then qb=wJ else local qa if cF<=0 then qa=0 else local nw=cT-1
local AI,AJ,AK,AL,AM,AN,AO,AP=p(aE,((15*x)+10),((15*x)+17))
local tK=(((AM+(256*(AN+(256*(AO+(256*AP))))))-T)*2^32)+((AI+(256*(AJ+(256*(AK+(256*AL))))))-C) local pW local pX
if cF<=((tK<0)and(tK+2^64)or tK)then pW=x pX=x else local wK=(0<nw)and(nw-1)or 0
local AQ,AR,AS,AT,AU,AV,AW,AX=p(aE,((15*wK)+10),((15*wK)+17))
local tL=(((AU+(256*(AV+(256*(AW+(256*AX))))))-T)*2^32)+((AQ+(256*(AR+(256*(AS+(256*AT))))))-C) local pV
if((tL<0)and(tL+2^64)or tL)<cF then pV=nw else pV=x end pW=nw pX=pV end local gV=pW local gW=pX while gW<gV do
local nx=((gW+gV)-((gW+gV)%2))/2 local AY,AZ,Ba,Bb,Bc,Bd,Be,Bf=p(aE,((15*nx)+10),((15*nx)+17))
local Bg=Bc+(256*(Bd+(256*(Be+(256*Bf))))) local Bh=AY+(256*(AZ+(256*(Ba+(256*Bb))))) local tM=((Bg-T)*2^32)+(Bh-C)
local Bi=(tM<0)and(tM+2^64)or tM local pY local pZ if cF<=Bi then pY=nx pZ=gW else local Bj=nx+1 pY=gV pZ=Bj end
gV,gW=pY,pZ end local FM=gV local wL=gW local Bk,Bl,Bm,Bn,Bo,Bp,wM=p(aE,((15*wL)+3),((15*wL)+9)) if 32<=wM then return
end local wN=((Bk+(256*(Bl+(256*(Bm+(256*(Bn+(256*(Bo+(256*(Bp+(256*wM))))))))))))+J)-r qa=(0<wN)and wN or 0 end qb=qa
end qc=wJ lW=qb else qc=0 lW=0 end if 2^53<=lW then return end
local Bq=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',dr,ze,d,tC,qc,lW,r,bV) qd=Bq else if cH then return end
qd={1,dr,ze} end if not redis.REDIS_VERSION_NUM then return end local wO=b('PEXPIRETIME',S)
local wP=(0<=wO)and wO or nil local lX if wP then lX=wP else lX=nil end local fn if lX then if(3*J)<=(2*(lX-r))then
fn=nil else fn=r+(2*J) end else fn=r+(2*J) end if jv=='SET'then return else if jv=='APPEND'then
local FN=b('APPEND',S,jw) if fn then local Br=c('%.0f',fn) local FO=b('PEXPIREAT',S,Br) end else
local FP=b('SETRANGE',S,c('%d',mI),jw) if fn then local Bs=c('%.0f',fn) local FQ=b('PEXPIREAT',S,Bs) end end end md=qd
else local sn if 0<dr then local kU=q-1 local uL,kV,EV,oz,EW,oA,fa=p(t,((15*kU)+3),((15*kU)+9)) if 32<=fa then return
end sn=r<(uL+(256*(kV+(256*(EV+(256*(oz+(256*(EW+(256*(oA+(256*fa)))))))))))) else sn=false end if sn then return end
local mY if 0<q then local lm=q-1 local aM,bh,ln,FE,oS,FF,FG,gO=p(t,((15*lm)+10),((15*lm)+17))
local bi=(((oS+(256*(FF+(256*(FG+(256*gO))))))-T)*2^32)+((aM+(256*(bh+(256*(ln+(256*FE))))))-C)
mY=(bi<0)and(bi+2^64)or bi else mY=0 end local dq local iW=d-bV if iW<0 then dq=nil else if mY<=iW then dq=0 else
local iX=mY-iW local cB=q-1 local FH,fi,vk,iY,oV,gQ,lt,lu=p(t,((15*x)+10),((15*x)+17))
local hA=(((oV+(256*(gQ+(256*(lt+(256*lu))))))-T)*2^32)+((FH+(256*(fi+(256*(vk+(256*iY))))))-C) local bS local dV
if iX<=((hA<0)and(hA+2^64)or hA)then bS=x dV=x else local jI=(0<cB)and(cB-1)or 0
local tb,nc,zp,nd,zq,fV,zr,zs=p(t,((15*jI)+10),((15*jI)+17))
local hC=(((zq+(256*(fV+(256*(zr+(256*zs))))))-T)*2^32)+((tb+(256*(nc+(256*(zp+(256*nd))))))-C) local fk
if((hC<0)and(hC+2^64)or hC)<iX then fk=cB else fk=x end bS=fk dV=cB end local gR=dV local gS=bS while gS<gR do
local fY=((gS+gR)-((gS+gR)%2))/2 local zt,zu,zv,ne,ev,nf,ng,zw=p(t,((15*fY)+10),((15*fY)+17))
local zx=ev+(256*(nf+(256*(ng+(256*zw))))) local nh=zt+(256*(zu+(256*(zv+(256*ne))))) local hG=((zx-T)*2^32)+(nh-C)
local bb=(hG<0)and(hG+2^64)or hG local dW local dp if iX<=bb then dW=gS dp=fY else local zy=fY+1 dW=zy dp=gR end
gR,gS=dp,dW end local tf=gR local aP=gS local zz,zA,fZ,tg,ga,ni,vA=p(t,((15*aP)+3),((15*aP)+9)) if 32<=vA then return
end local vC=((zz+(256*(zA+(256*(fZ+(256*(tg+(256*(ga+(256*(ni+(256*vA))))))))))))+J)-r dq=(0<vC)and vC or 0 end end
local by if dq then if 2^53<=dq then return end local vE=dq%1000
local nk=(dq<0)and(-1)or((vE==0)and(dq/1000)or(((dq-vE)/1000)+1)) by=nk else by=-1 end local vF=(by==0)and 1 or by
local qE if cH=='LINE'then local bz if 0<q then local wQ=q-1
local Bt,Bu,Bv,Bw,Bx,By,Bz,BA=p(t,((15*wQ)+10),((15*wQ)+17))
local tP=(((Bx+(256*(By+(256*(Bz+(256*BA))))))-T)*2^32)+((Bt+(256*(Bu+(256*(Bv+(256*Bw))))))-C)
bz=(tP<0)and(tP+2^64)or tP else bz=0 end local tQ=(bz<d)and(d-bz)or 0 local lY if iW<0 then lY=nil else if bz<=iW then
lY=0 else local tR=bz-iW local nA=q-1 local BB,BC,BD,BE,BF,BG,BH,BI=p(t,((15*x)+10),((15*x)+17))
local tT=(((BF+(256*(BG+(256*(BH+(256*BI))))))-T)*2^32)+((BB+(256*(BC+(256*(BD+(256*BE))))))-C) local qf local qg
if tR<=((tT<0)and(tT+2^64)or tT)then qf=x qg=x else local wR=(0<nA)and(nA-1)or 0
local BJ,BK,BL,BM,BN,BO,BP,BQ=p(t,((15*wR)+10),((15*wR)+17))
local tU=(((BN+(256*(BO+(256*(BP+(256*BQ))))))-T)*2^32)+((BJ+(256*(BK+(256*(BL+(256*BM))))))-C) local qe
if((tU<0)and(tU+2^64)or tU)<tR then qe=nA else qe=x end qf=qe qg=nA end local gX=qg local gY=qf while gY<gX do
local nB=((gY+gX)-((gY+gX)%2))/2 local BR,BS,BT,BU,BV,BW,BX,BY=p(t,((15*nB)+10),((15*nB)+17))
local BZ=BV+(256*(BW+(256*(BX+(256*BY))))) local Ca=BR+(256*(BS+(256*(BT+(256*BU))))) local tW=((BZ-T)*2^32)+(Ca-C)
local Cb=(tW<0)and(tW+2^64)or tW local qj local qk if tR<=Cb then qj=gY qk=nB else local Cc=nB+1 qj=Cc qk=gX end
gX,gY=qk,qj end local FR=gX local wS=gY local Cd,Ce,Cf,Cg,Ch,Ci,wT=p(t,((15*wS)+3),((15*wS)+9)) if 32<=wT then return
end local wU=((Cd+(256*(Ce+(256*(Cf+(256*(Cg+(256*(Ch+(256*(Ci+(256*wT))))))))))))+J)-r lY=(0<wU)and wU or 0 end end
local wV=lY or(-1) local qD local ma if tQ<d then local wW=tQ+1 local lZ local tY=d-wW if tY<0 then lZ=nil else
if bz<=tY then lZ=0 else local tZ=bz-tY local nF=q-1 local Cj,Ck,Cl,Cm,Cn,Co,Cp,Cq=p(t,((15*x)+10),((15*x)+17))
local ua=(((Cn+(256*(Co+(256*(Cp+(256*Cq))))))-T)*2^32)+((Cj+(256*(Ck+(256*(Cl+(256*Cm))))))-C) local qn local qo
if tZ<=((ua<0)and(ua+2^64)or ua)then qn=x qo=x else local wX=(0<nF)and(nF-1)or 0
local Cr,Cs,Ct,Cu,Cv,Cw,Cx,Cy=p(t,((15*wX)+10),((15*wX)+17))
local ub=(((Cv+(256*(Cw+(256*(Cx+(256*Cy))))))-T)*2^32)+((Cr+(256*(Cs+(256*(Ct+(256*Cu))))))-C) local qm
if((ub<0)and(ub+2^64)or ub)<tZ then qm=nF else qm=x end qn=qm qo=nF end local gZ=qo local ha=qn while ha<gZ do
local nG=((ha+gZ)-((ha+gZ)%2))/2 local Cz,CA,CB,CC,CD,CE,CF,CG=p(t,((15*nG)+10),((15*nG)+17))
local CH=CD+(256*(CE+(256*(CF+(256*CG))))) local CI=Cz+(256*(CA+(256*(CB+(256*CC))))) local ud=((CH-T)*2^32)+(CI-C)
local CJ=(ud<0)and(ud+2^64)or ud local qq local qr if tZ<=CJ then qq=ha qr=nG else local CK=nG+1 qq=CK qr=gZ end
gZ,ha=qr,qq end local FS=gZ local wY=ha local CL,CM,CN,CO,CP,CQ,xa=p(t,((15*wY)+3),((15*wY)+9)) if 32<=xa then return
end local xb=((CL+(256*(CM+(256*(CN+(256*(CO+(256*(CP+(256*(CQ+(256*xa))))))))))))+J)-r lZ=(0<xb)and xb or 0 end end
local xc=lZ or(-1) local qC if wW==d then qC=xc else local qB if bz<=0 then qB=0 else local nH=q-1
local CR,CS,CT,CU,CV,CW,CX,CY=p(t,((15*x)+10),((15*x)+17))
local ue=(((CV+(256*(CW+(256*(CX+(256*CY))))))-T)*2^32)+((CR+(256*(CS+(256*(CT+(256*CU))))))-C) local qx local qy
if bz<=((ue<0)and(ue+2^64)or ue)then qx=x qy=x else local xd=(0<nH)and(nH-1)or 0
local CZ,Da,Db,Dc,Dd,De,Df,Dg=p(t,((15*xd)+10),((15*xd)+17))
local uf=(((Dd+(256*(De+(256*(Df+(256*Dg))))))-T)*2^32)+((CZ+(256*(Da+(256*(Db+(256*Dc))))))-C) local qw
if((uf<0)and(uf+2^64)or uf)<bz then qw=nH else qw=x end qx=qw qy=nH end local hb=qy local hc=qx while hc<hb do
local nI=((hc+hb)-((hc+hb)%2))/2 local Dh,Di,Dj,Dk,Dl,Dm,Dn,Do=p(t,((15*nI)+10),((15*nI)+17))
local Dp=Dl+(256*(Dm+(256*(Dn+(256*Do))))) local Dq=Dh+(256*(Di+(256*(Dj+(256*Dk))))) local uh=((Dp-T)*2^32)+(Dq-C)
local Dr=(uh<0)and(uh+2^64)or uh local qz local qA if bz<=Dr then qz=hc qA=nI else local Ds=nI+1 qz=Ds qA=hb end
hb,hc=qA,qz end local FT=hb local xf=hc local Dt,Du,Dv,Dw,Dx,Dy,xg=p(t,((15*xf)+3),((15*xf)+9)) if 32<=xg then return
end local xh=((Dt+(256*(Du+(256*(Dv+(256*(Dw+(256*(Dx+(256*(Dy+(256*xg))))))))))))+J)-r qB=(0<xh)and xh or 0 end qC=qB
end qD=xc ma=qC else qD=0 ma=0 end if(2^53<=wV)or(2^53<=ma)then return end
local Dz=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',dr,vF,d,tQ,wV,qD,ma,r) qE=Dz else if cH then return end
qE={0,dr,vF} end if not redis.REDIS_VERSION_NUM then return end local xi=b('PEXPIRETIME',S)
local xj=(0<=xi)and xi or nil local mb if xj then mb=xj else mb=nil end local jj if mb then if(3*J)<=(2*(mb-r))then
jj=nil else jj=r+(2*J) end else jj=r+(2*J) end local qF if 0<q then local xk=q-1
local DA,DB,DC,DD,DE,DF,DG,DH=p(t,((15*xk)+10),((15*xk)+17))
local ui=(((DE+(256*(DF+(256*(DG+(256*DH))))))-T)*2^32)+((DA+(256*(DB+(256*(DC+(256*DD))))))-C)
qF=(ui<0)and(ui+2^64)or ui else qF=0 end if not(qF==0)then if jj then local DI=c('%.0f',jj) local FU=b('PEXPIREAT',S,DI)
end end md=qE end else local zB=bV<=d if zB then local tl=bV%2^32 local jO=(bV-tl)/2^32 local hI=r%16777216
local dC=jO%65536 local gb=tl%65536 local nm=(r-hI)/16777216 local to=(jO-dC)/65536 local tp=(tl-gb)/65536
local bH=nm%65536
local jP=cl('R:',1,2)..lx((hI%256),(((hI-(hI%256))/256)%256),((hI-(hI%65536))/65536),(bH%256),((bH-(bH%256))/256),(((nm-bH)/65536)%256),((nm-(nm%16777216))/16777216),(gb%256),((gb-(gb%256))/256),(tp%256),((tp-(tp%256))/256),(dC%256),((dC-(dC%256))/256),(to%256),((to-(to%256))/256))
local nn,zF,zG,zH,zI,zJ,zK,zL=p(jP,10,17)
local tt=((zI+(256*(zJ+(256*(zK+(256*zL))))))*2^32)+(nn+(256*(zF+(256*(zG+(256*zH)))))) local pJ
if((tt<0)and(tt+2^64)or tt)<=0 then pJ=0 else local nr,zN,zO,zP,zQ,zR,wu=p(jP,3,9) if 32<=wu then return end
local wv=((nr+(256*(zN+(256*(zO+(256*(zP+(256*(zQ+(256*(zR+(256*wu))))))))))))+J)-r pJ=(0<wv)and wv or 0 end
if 2^53<=pJ then return end if cH=='LINE'then local DJ,DK,DL,DM,DN,DO,DP,DQ=p(jP,10,17)
local uj=((DN+(256*(DO+(256*(DP+(256*DQ))))))*2^32)+(DJ+(256*(DK+(256*(DL+(256*DM)))))) local nJ=(uj<0)and(uj+2^64)or uj
local xl=(nJ<d)and(d-nJ)or 0 local qI if xl<d then local xm=xl+1 local mc local xn=d-xm if xn<0 then mc=nil else
if nJ<=xn then mc=0 else local DR,DS,DT,DU,DV,DW,xo=p(jP,3,9) if 32<=xo then return end
local xp=((DR+(256*(DS+(256*(DT+(256*(DU+(256*(DV+(256*(DW+(256*xo))))))))))))+J)-r mc=(0<xp)and xp or 0 end end
local DX=mc or(-1) local qH if xm==d then qH=DX else local qG if nJ<=0 then qG=0 else
local DY,DZ,Ea,Eb,Ec,Ed,xq=p(jP,3,9) if 32<=xq then return end
local xr=((DY+(256*(DZ+(256*(Ea+(256*(Eb+(256*(Ec+(256*(Ed+(256*xq))))))))))))+J)-r qG=(0<xr)and xr or 0 end qH=qG end
qI=qH else qI=0 end if 2^53<=qI then return end else if cH then return end end return else local dY local wA=d-bV
if wA<0 then dY=nil else dY=0 end local lU if dY then if 2^53<=dY then return end local nt=dY%1000
local zT=(dY<0)and(-1)or((nt==0)and(dY/1000)or(((dY-nt)/1000)+1)) lU=zT else lU=-1 end local wB=(lU==0)and 1 or lU
local qK if cH=='LINE'then local qJ if wA<0 then qJ=nil else qJ=0 end local xs=qJ or(-1) if 2^53<=xs then return end
qK=c('0 0 %.0f %.0f %.0f %.0f 0 0 0 %.0f 0 0',wB,d,d,xs,r) else if cH then return end qK={0,0,wB} end md=qK end end
return md end, LEASE=function(N,f) local I,i,c,b=math.ceil,string.find,string.format,redis.call local sK local ar=f[2]
local aQ=f[3] local as=f[4] if not aQ then return end local ge=f[5] if(as=='LINE')and(not ge)then
if not(((#aQ)<16)and i(aQ,'^[1-9]%d*$'))then return end if not(((#ar)<10)and i(ar,'^[1-9]%d*$'))then return end
if not((ar*1000)<9e12)then return end return else if as then if ge then
if not(((((f[6]=='LINE')and(not f[7]))and((#ge)<16))and(as=='ID'))and(not(ge=='')))then return end
if not(((#aQ)<16)and i(aQ,'^[1-9]%d*$'))then return end local l=aQ+0 if not(((#ar)<10)and i(ar,'^[1-9]%d*$'))then return
end local V=ar*1000 if not(V<9e12)then return end local da=b('TIME') local bp=(da[1]*1e06)+da[2]
local au=(bp-(bp%1000))/1000 local F=N[1] if not F then return end if i(F,':reserved',1,true)then return end
if not((#N)==1)then return end local O=b('ZCARD',F) local aZ if(0<O)and(0<=au)then if not(O<=4000)then return end
local ul=b('ZREMRANGEBYSCORE',F,'-inf',c('%.0f',au)) aZ=O-ul else aZ=O end local um=0<aZ local aa if um then
local ac=b('ZSCORE',F,ge) if ac then local hO=tonumber(ac) local me if hO<2^64 then local E=I(hO) me=(0<E)and E or 0
else me=1/0 end local qO if au<me then qO=me else qO=nil end aa=qO else aa=nil end else aa=nil end
local dE=aa and(aZ-1)or aZ local nM=(not(aa==nil))or(dE<l) local A=au+V if nM and(not(aa==A))then
if not((A*1000)<2^53)then return end local xy=A*1000 local hQ=(bp<xy)and(xy-bp)or 0 local bs=hQ%1e06
local aH=(bs==0)and(hQ/1e06)or(((hQ-bs)/1e06)+1) if 2^53<=aH then return end local hX=aa and 0 or 1 local kn=dE+1
local bv=l-kn local aj=(0<bv)and bv or 0 local js local hp if aj<l then local eF=aj+1 local ca local hY=l-eF
if hY<0 then ca=nil else if kn<=hY then ca=0 else local go=(kn-hY)-1 local bl if go<dE then local ef local cN
local nW=c('%.0f',go) local hZ=b('ZRANGE',F,nW,nW,'WITHSCORES') local ia=hZ[2] if ia then local bw=tonumber(ia) local bB
if bw<2^64 then local eH=I(bw) bB=(0<eH)and eH or 0 else bB=1/0 end cN=bB else cN=1/0 end if aa then local ee
if aa<=cN then local ed local eI=c('%.0f',(go+1)) local nX=b('ZRANGE',F,eI,eI,'WITHSCORES') local cs=nX[2] if cs then
local df=tonumber(cs) local fz if df<2^64 then local gp=I(df) fz=(0<gp)and gp or 0 else fz=1/0 end ed=fz else ed=1/0 end
ee=ed else ee=cN end ef=ee else ef=cN end if ef<=A then bl=ef else local rt if 0<go then local id=go-1 local mu local jm
local gr=c('%.0f',id) local gs=b('ZRANGE',F,gr,gr,'WITHSCORES') local dg=gs[2] if dg then local bf=tonumber(dg) local rn
if bf<2^64 then local gt=I(bf) rn=(0<gt)and gt or 0 else rn=1/0 end jm=rn else jm=1/0 end if aa then local ei
if aa<=jm then local fB local ii=c('%.0f',(id+1)) local Ez=b('ZRANGE',F,ii,ii,'WITHSCORES') local cv=Ez[2] if cv then
local bx=tonumber(cv) local fA if bx<2^64 then local ij=I(bx) fA=(0<ij)and ij or 0 else fA=1/0 end fB=fA else fB=1/0 end
ei=fB else ei=jm end mu=ei else mu=jm end rt=(mu<A)and A or mu else rt=A end bl=rt end else local bZ if 0<go then
local az=go-1 local my local bk local kz=c('%.0f',az) local ob=b('ZRANGE',F,kz,kz,'WITHSCORES') local dh=ob[2]
if dh then local dK=tonumber(dh) local rx if dK<2^64 then local aI=I(dK) rx=(0<aI)and aI or 0 else rx=1/0 end bk=rx else
bk=1/0 end if aa then local cO if aa<=bk then local rD local oe=c('%.0f',(az+1))
local eL=b('ZRANGE',F,oe,oe,'WITHSCORES') local eM=eL[2] if eM then local xW=tonumber(eM) local ai if xW<2^64 then
local xX=I(xW) ai=(0<xX)and xX or 0 else ai=1/0 end rD=ai else rD=1/0 end cO=rD else cO=bk end my=cO else my=bk end
bZ=(my<A)and A or my else bZ=A end bl=bZ end local cP if not(bl==(1/0))then cP=bl else cP=nil end local aO if cP then
local fE if 2^53<=cP then fE=1/0 else local eN=cP-au fE=(0<eN)and eN or 0 end aO=fE else aO=cP end ca=aO end end
local ir=ca or(-1) local cS if eF==l then cS=ir else local ce if kn<=0 then ce=0 else local bP=kn-1 local ag
if bP<dE then local mA local cb local dL=c('%.0f',bP) local kE=b('ZRANGE',F,dL,dL,'WITHSCORES') local it=kE[2]
if it then local kF=tonumber(it) local rJ if kF<2^64 then local cx=I(kF) rJ=(0<cx)and cx or 0 else rJ=1/0 end cb=rJ else
cb=1/0 end if aa then local fG if aa<=cb then local fF local aK=c('%.0f',(bP+1))
local eS=b('ZRANGE',F,aK,aK,'WITHSCORES') local iv=eS[2] if iv then local di=tonumber(iv) local el if di<2^64 then
local gz=I(di) el=(0<gz)and gz or 0 else el=1/0 end fF=el else fF=1/0 end fG=fF else fG=cb end mA=fG else mA=cb end
if mA<=A then ag=mA else local em if 0<bP then local yh=bP-1 local mD local dx local yi=c('%.0f',yh)
local EL=b('ZRANGE',F,yi,yi,'WITHSCORES') local iy=EL[2] if iy then local yj=tonumber(iy) local rM if yj<2^64 then
local ym=I(yj) rM=(0<ym)and ym or 0 else rM=1/0 end dx=rM else dx=1/0 end if aa then local fH if aa<=dx then local rP
local yq=c('%.0f',(yh+1)) local EM=b('ZRANGE',F,yq,yq,'WITHSCORES') local yr=EM[2] if yr then local ys=tonumber(yr)
local rO if ys<2^64 then local dj=I(ys) rO=(0<dj)and dj or 0 else rO=1/0 end rP=rO else rP=1/0 end fH=rP else fH=dx end
mD=fH else mD=dx end em=(mD<A)and A or mD else em=A end ag=em end else local fJ if 0<bP then local ak=bP-1 local dy
local jr local cy=c('%.0f',ak) local iB=b('ZRANGE',F,cy,cy,'WITHSCORES') local cz=iB[2] if cz then local kJ=tonumber(cz)
local en if kJ<2^64 then local yv=I(kJ) en=(0<yv)and yv or 0 else en=1/0 end jr=en else jr=1/0 end if aa then local fI
if aa<=jr then local bE local dO=c('%.0f',(ak+1)) local EO=b('ZRANGE',F,dO,dO,'WITHSCORES') local iC=EO[2] if iC then
local eW=tonumber(iC) local cc if eW<2^64 then local kM=I(eW) cc=(0<kM)and kM or 0 else cc=1/0 end bE=cc else bE=1/0 end
fI=bE else fI=jr end dy=fI else dy=jr end fJ=(dy<A)and A or dy else fJ=A end ag=fJ end local cd if not(ag==(1/0))then
cd=ag else cd=nil end local sa if cd then local rZ if 2^53<=cd then rZ=1/0 else local yA=cd-au rZ=(0<yA)and yA or 0 end
sa=rZ else sa=cd end ce=sa end cS=ce or(-1) end js=ir hp=cS else js=0 hp=0 end
if((not((js-js)==0))or(not((hp-hp)==0)))or(2^53<=hp)then return end
local uA=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',dE,aH,l,aj,js,hp,au,hX) local ju if um then
if not redis.REDIS_VERSION_NUM then return end local kQ=b('PEXPIRETIME',F) local yF=(0<=kQ)and kQ or nil local eo
if yF then eo=yF else eo=nil end ju=eo else ju=nil end if aa then local uD=b('ZADD',F,'XX',c('%.0f',A),ge) else
local aT=b('ZADD',F,c('%.0f',A),ge) end if dE==0 then if(2^53<=A)or(not(ju==A))then local fK
if A<9223372036854775808 then fK=c('%.0f',A) else fK='9223372036854775807' end local uE=b('PEXPIREAT',F,fK) end else
local kR=b('ZRANGE',F,'-1','-1','WITHSCORES') local cA=kR[2] if cA then local ov=tonumber(cA) local hr if ov<2^64 then
local gF=I(ov) hr=(0<gF)and gF or 0 else hr=1/0 end if(2^53<=hr)or(not(ju==hr))then local fL
if hr<9223372036854775808 then fL=c('%.0f',hr) else fL='9223372036854775807' end local gH=b('PEXPIREAT',F,fL) end else
if(2^53<=cA)or(not(ju==cA))then local sh if cA<9223372036854775808 then sh=c('%.0f',cA) else sh='9223372036854775807'
end local uH=b('PEXPIREAT',F,sh) end end end sK=uA else local ra if nM then if not((A*1000)<2^53)then return end
local dc=A*1000 local aW=(bp<dc)and(dc-bp)or 0 local xB=aW%1e06 local av=(xB==0)and(aW/1e06)or(((aW-xB)/1e06)+1)
if 2^53<=av then return end ra=av else local ap local be=l-1 if be<0 then ap=nil else if aZ<=be then ap=0 else
local El=(aZ-be)-1 local ml local nP=c('%.0f',El) local bL=b('ZRANGE',F,nP,nP,'WITHSCORES') local bM=bL[2] if bM then
local hR=tonumber(bM) local ea if hR<2^64 then local bt=I(hR) ea=(0<bt)and bt or 0 else ea=1/0 end ml=ea else ml=1/0 end
local bj if not(ml==(1/0))then bj=ml else bj=nil end local fx if bj then local aN if 2^53<=bj then aN=1/0 else
local gm=bj-au aN=(0<gm)and gm or 0 end fx=aN else fx=bj end ap=fx end end local mm if ap then
if(not((ap-ap)==0))or(2^53<=ap)then return end local dd=ap%1000
local nR=(ap<0)and(-1)or((dd==0)and(ap/1000)or(((ap-dd)/1000)+1)) mm=nR else mm=-1 end local eD=(mm==0)and 1 or mm ra=eD
end local kT=l-aZ local uJ=(0<kT)and kT or 0 local hu if not nM then local mM local iG=l-1 if iG<0 then mM=nil else
if aZ<=iG then mM=0 else local oB=(aZ-iG)-1 local mL local fb=c('%.0f',oB) local oC=b('ZRANGE',F,fb,fb,'WITHSCORES')
local dQ=oC[2] if dQ then local dR=tonumber(dQ) local fO if dR<2^64 then local dS=I(dR) fO=(0<dS)and dS or 0 else fO=1/0
end mL=fO else mL=1/0 end local ht if not(mL==(1/0))then ht=mL else ht=nil end local er if ht then local cg
if 2^53<=ht then cg=1/0 else local gJ=ht-au cg=(0<gJ)and gJ or 0 end er=cg else er=ht end mM=er end end
local uN=mM or(-1) hu=uN else hu=0 end local jC local hx if uJ<l then local iJ=uJ+1 local mP local uO=l-iJ if uO<0 then
mP=nil else if aZ<=uO then mP=0 else local iL=(aZ-uO)-1 local aq local dl=c('%.0f',iL)
local bR=b('ZRANGE',F,dl,dl,'WITHSCORES') local fd=bR[2] if fd then local dm=tonumber(fd) local fP if dm<2^64 then
local lb=I(dm) fP=(0<lb)and lb or 0 else fP=1/0 end aq=fP else aq=1/0 end local hv if not(aq==(1/0))then hv=aq else
hv=nil end local fQ if hv then local sr if 2^53<=hv then sr=1/0 else local iM=hv-au sr=(0<iM)and iM or 0 end fQ=sr else
fQ=hv end mP=fQ end end local gM=mP or(-1) local es if iJ==l then es=gM else local ci if aZ<=0 then ci=0 else
local uQ=aZ-1 local bG local lc=c('%.0f',uQ) local uR=b('ZRANGE',F,lc,lc,'WITHSCORES') local dU=uR[2] if dU then
local yQ=tonumber(dU) local dA if yQ<2^64 then local yR=I(yQ) dA=(0<yR)and yR or 0 else dA=1/0 end bG=dA else bG=1/0 end
local bm if not(bG==(1/0))then bm=bG else bm=nil end local bn if bm then local ch if 2^53<=bm then ch=1/0 else
local yS=bm-au ch=(0<yS)and yS or 0 end bn=ch else bn=bm end ci=bn end es=ci or(-1) end jC=gM hx=es else jC=0 hx=0 end
if(not((hu-hu)==0))or((((not((jC-jC)==0))or(not((hx-hx)==0)))or(2^53<=hu))or(2^53<=hx))then return end
local oM=c('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',(nM and 1 or 0),dE,ra,l,uJ,hu,jC,hx,au) if um then
local Fo=b('ZRANGE',F,'-1','-1','WITHSCORES') local iO=Fo[2] if iO then local yV=tonumber(iO) local cV if yV<2^64 then
local fg=I(yV) cV=(0<fg)and fg or 0 else cV=1/0 end if not redis.REDIS_VERSION_NUM then return end
local iQ=b('PEXPIRETIME',F) if(2^53<=cV)or(not(((0<=iQ)and iQ or nil)==cV))then local sH if cV<9223372036854775808 then
sH=c('%.0f',cV) else sH='9223372036854775807' end local lh=b('PEXPIREAT',F,sH) end else
if not redis.REDIS_VERSION_NUM then return end local yX=b('PEXPIRETIME',F)
if(2^53<=iO)or(not(((0<=yX)and yX or nil)==iO))then local sJ if iO<9223372036854775808 then sJ=c('%.0f',iO) else
sJ='9223372036854775807' end local va=b('PEXPIREAT',F,sJ) end end end sK=oM end else return end else
if not(((#aQ)<16)and i(aQ,'^[1-9]%d*$'))then return end if not(((#ar)<10)and i(ar,'^[1-9]%d*$'))then return end
if not((ar*1000)<9e12)then return end return end end return sK end, LOCKOUT=function(N,f)
local i,dn,c,b=string.find,string.match,string.format,redis.call local jA local bJ=f[2] local bc=f[3] local ar=f[4]
if not bc then return end local aR=f[5] local Q local v local U if(ar=='LINE')and(not aR)then Q=5 v=1 U='LINE' else
local P local al local bT if ar then if aR then
if not(((((f[6]=='LINE')and(not f[7]))and((#aR)<16))and(ar=='COST'))and i(aR,'^[1-9]%d*$'))then return end P=7 al=aR+0
bT='LINE' else if(((f[6]=='LINE')and(not f[7]))and(ar=='COST'))and i('','^[1-9]%d*$')then return end return end else P=4
al=1 bT=nil end Q=P v=al U=bT end if not(((#bc)<16)and i(bc,'^[1-9]%d*$'))then return end local j=bc+0
if not(((#bJ)<10)and i(bJ,'^[1-9]%d*$'))then return end local a=bJ*1000 if not(a<9e12)then return end
local at=(a<8.64e07)and 8.64e07 or a if at<a then return end local R=f[Q] if R then return end local ab=b('TIME')
local hM=(ab[1]*1e06)+ab[2] local s=(hM-(hM%1000))/1000 local cn=N[1] if not cn then return end
if i(cn,':reserved',1,true)then return end if not((#N)==1)then return end local y=b('GET',cn) if y then
local kb,bp,au,bq,S=dn(y,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not kb then return else if i(y,':0%d')then return else
local W=((#bq)<17)and(bq+0) if not((#kb)<16)then return end if not((#bp)<16)then return end if not((#au)<16)then return
end if W then if not(W<9e15)then return end local q=kb+0 local u=bp+0 local z=au+0 if(2<(#S))or(64<(S+0))then return
else local qM if z<u then qM=true else qM=1e15<W end if qM then return else local xv=S+0 if not(z<=s)then return end
local fr local fs local kf=(0<W)and(z+W)or(u+a) if(s<kf)and(0<q)then fr=q fs=u else fr=0 fs=s end local gh=fr+v
local hP=s<(z+W) if(not hP)and(gh<=j)then local hQ=(s-z)-W local cq=(0<hQ)and hQ or 0 local qT if W==0 then qT=xv else
local oX=0 local ly=a while ly<at do local dc=oX+1 local gi=2*ly oX,ly=dc,gi end local ax=oX local aW=ly local eA=xv+1
qT=(eA<ax)and eA or ax end local gj=qT-((cq-(cq%at))/at) local dG=(0<gj)and gj or 0 local aB if gh==j then
local M=a*(2^dG) aB=(M<at)and M or at else aB=0 end local qW local qX local be=(0<aB)and(s+aB)or(fs+a)
if(s<be)and(0<gh)then qW=gh qX=fs else qW=0 qX=s end local ki=s<(s+aB) local mk local qY if ki then local nP=s+aB mk=0
qY=nP else local bL=j-qW local bM=qX+a mk=(0<bL)and bL or 0 qY=bM end local bj if(j<=mk)and(0<mk)then bj=0 else
local ur=qY-s bj=ur end local gn=bj%1000 local hT=(bj<0)and(-1)or((gn==0)and(bj/1000)or(((bj-gn)/1000)+1)) local eg
if U=='LINE'then local rf local rg if(s<be)and(0<gh)then rf=gh rg=fs else rf=0 rg=s end local bX local bB if ki then
local Eu=s+aB bX=0 bB=Eu else local bw=j-rf local Ev=rg+a bX=(0<bw)and bw or 0 bB=Ev end local rj local mr if bX<j then
local eI=bX+1 local bC if j<eI then bC=nil else if(eI<=bX)and(0<bX)then bC=0 else local ct=bB-s bC=ct end end
local ks=bC or(-1) local ef if eI==j then ef=ks else local gq=bB-s ef=gq end rj=ks mr=ef else rj=0 mr=0 end
if 2^53<=mr then return end local gr=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',fr,hT,j,bX,rj,mr,s,v) eg=gr
else if U then return end eg={1,fr,hT} end local gu=c('%.0f',fs) local nZ=c('%.0f',aB) local mv if aB==0 then mv=dG else
local oY=0 local lz=a while lz<at do local eK=oY+1 local im=2*lz oY,lz=eK,im end local az=oY local xS=lz local bO=dG+1
mv=(bO<az)and bO or az end if not((mv*at)<2^53)then return end local dh=mv*at local dK=s+aB if not((dK+dh)<2^53)then
return end local gv=dK+dh local io=fs+a
local oc=b('SET',cn,c('O:%s:%s:%s:%s:%d',c('%.0f',gh),gu,c('%.0f',s),nZ,dG),'PXAT',c('%.0f',((gv<io)and io or gv)))
jA=eg else local eb local qZ if(s<kf)and(0<q)then eb=q qZ=u else eb=0 qZ=s end local mn local fy if hP then mn=0 fy=z+W
else local ay=j-eb local hW=qZ+a mn=(0<ay)and ay or 0 fy=hW end local aC if j<v then aC=nil else if(v<=mn)and(0<mn)then
aC=0 else local bN=fy-s aC=bN end end local ec if aC then if 2^53<=aC then return end local eE=aC%1000
local Ep=(aC<0)and(-1)or((eE==0)and(aC/1000)or(((aC-eE)/1000)+1)) ec=Ep else ec=-1 end local nS=(ec==0)and 1 or ec
local fG if U=='LINE'then local fD local fE if(s<kf)and(0<q)then fD=q fE=u else fD=0 fE=s end local du local jp
if hP then du=0 jp=z+W else local ya=j-fD local gx=fE+a du=(0<ya)and ya or 0 jp=gx end local cQ if j<v then cQ=nil else
if(v<=du)and(0<du)then cQ=0 else local aJ=jp-s cQ=aJ end end local ye=cQ or(-1) local ej local aw if du<j then
local it=du+1 local dv if j<it then dv=nil else if(it<=du)and(0<du)then dv=0 else local EI=jp-s dv=EI end end
local cx=dv or(-1) local rK if it==j then rK=cx else local eQ=jp-s rK=eQ end ej=cx aw=rK else ej=0 aw=0 end
if(2^53<=ye)or(2^53<=aw)then return end
local uw=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',fr,nS,j,du,ye,ej,aw,s) fG=uw else if U then return end
fG={0,fr,nS} end jA=fG end end end else return end end end else local ol=v<=j if ol then local cR if v==j then
cR=(a<at)and a or at else cR=0 end local fH local gB=(0<cR)and(s+cR)or(s+a) if s<gB then fH=v else fH=0 end
local ak=s<(s+cR) local mE local rR if ak then local bg=s+cR mE=0 rR=bg else local oo=j-fH mE=(0<oo)and oo or 0 rR=s+a
end local ho if(j<=mE)and(0<mE)then ho=0 else local aL=rR-s ho=aL end local yw=ho%1000
local yx=(ho<0)and(-1)or((yw==0)and(ho/1000)or(((ho-yw)/1000)+1)) local si if U=='LINE'then local sd if s<gB then sd=v
else sd=0 end local bF local eo if ak then local ou=s+cR bF=0 eo=ou else local uC=j-sd bF=(0<uC)and uC or 0 eo=s+a end
local cf local mG if bF<j then local kR=bF+1 local mF if j<kR then mF=nil else if(kR<=bF)and(0<bF)then mF=0 else
local ov=eo-s mF=ov end end local aX=mF or(-1) local fK if kR==j then fK=aX else local bQ=eo-s fK=bQ end cf=aX mG=fK
else cf=0 mG=0 end if 2^53<=mG then return end
local ox=c('1 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',yx,j,bF,cf,mG,s,v) si=ox else if U then return end si={1,0,yx}
end local ET=c('%.0f',v) local EU=c('%.0f',cR) local aF if cR==0 then aF=0 else local oZ=0 local lE=a while lE<at do
local fa=oZ+1 local gI=2*lE oZ,lE=fa,gI end local iG=oZ local FX=lE aF=(1<iG)and 1 or iG end if not((aF*at)<2^53)then
return end local kX=aF*at local fb=s+cR if not((fb+kX)<2^53)then return end local dQ=fb+kX local dR=s+a
local FY=b('SET',cn,c('O:%s:%s:%s:%s:0',ET,c('%.0f',s),c('%.0f',s),EU),'PXAT',c('%.0f',((dQ<dR)and dR or dQ))) jA=si
else local fQ if U=='LINE'then fQ=c('0 0 -1 %.0f %.0f -1 0 0 0 %.0f 0 0',j,j,s) else if U then return end fQ={0,0,(-1)}
end jA=fQ end end return jA end,
}
local function fail_with(text)
  error({ err = text }, 0)
end
local function fail(name)
  fail_with(errors[name])
end
local ALGORITHMS = {}
local function less_large(a, b)
  local a_is_number, b_is_number = a - a == 0, b - b == 0
  if a_is_number or b_is_number then
    return a_is_number
  elseif #a ~= #b then
    return #a < #b
  end
  for n = #a, 1, -1 do
    if a[n] ~= b[n] then
      return a[n] < b[n]
    end
  end
  return false
end
local function less(a, b)
  if a - a == 0 and b - b == 0 then
    return a < b
  end
  return less_large(a, b)
end
local function approximately(n)
  if n - n == 0 then
    return n
  end
  local sum = 0
  for index = #n, 1, -1 do
    sum = sum * (2 ^ 24) + n[index]
  end
  return sum
end
local LARGE = {
  __sub = function()
    return 1
  end,
}
local function from_digits(digits)
  local count = #digits
  while count > 0 and digits[count] == 0 do
    digits[count] = nil
    count = count - 1
  end
  if count > 3 or (count == 3 and digits[3] >= (2 ^ 53) / (2 ^ 24) / (2 ^ 24)) then
    return setmetatable(digits, LARGE)
  end
  return (digits[1] or 0) + (digits[2] or 0) * (2 ^ 24) + (digits[3] or 0) * (2 ^ 24) * (2 ^ 24)
end
local function digits_of(n)
  if n - n ~= 0 then
    return n
  end
  local digits, count = {}, 0
  while n > 0 do
    local digit = n % (2 ^ 24)
    count = count + 1
    digits[count] = digit
    n = (n - digit) / (2 ^ 24)
  end
  return digits
end
local function add_large(a, b)
  a, b = digits_of(a), digits_of(b)
  local sum, carry = {}, 0
  for n = 1, math.max(#a, #b) + 1 do
    local digit = (a[n] or 0) + (b[n] or 0) + carry
    carry = digit >= (2 ^ 24) and 1 or 0
    sum[n] = digit - carry * (2 ^ 24)
  end
  return from_digits(sum)
end
local function add(a, b)
  if a - a == 0 and b - b == 0 and a + b < (2 ^ 53) then
    return a + b
  end
  return add_large(a, b)
end
local function sub_large(a, b)
  if not less_large(b, a) then
    return 0
  end
  b = digits_of(b)
  local difference, borrow = {}, 0
  for n = 1, #a do
    local digit = a[n] - (b[n] or 0) - borrow
    borrow = digit < 0 and 1 or 0
    difference[n] = digit + borrow * (2 ^ 24)
  end
  return from_digits(difference)
end
local function sub(a, b)
  if a - a == 0 and b - b == 0 then
    return a > b and a - b or 0
  end
  return sub_large(a, b)
end
local function mul_large(a, b)
  a, b = digits_of(a), digits_of(b)
  local product = {}
  for n = 1, #a + #b do
    product[n] = 0
  end
  for n = 1, #a do
    local carry = 0
    for m = 1, #b do
      local digit = product[n + m - 1] + a[n] * b[m] + carry
      carry = math.floor(digit / (2 ^ 24))
      product[n + m - 1] = digit - carry * (2 ^ 24)
    end
    product[n + #b] = carry
  end
  return from_digits(product)
end
local function mul(a, b)
  if a - a == 0 and b - b == 0 and a * b < (2 ^ 53) then
    return a * b
  end
  return mul_large(a, b)
end
local function divide_large(a, b)
  local quotient = 0
  while not less(a, b) do
    local part = math.max(1, math.floor(approximately(a) / approximately(b) * (1 - 2 ^ -45)))
    part = from_digits(digits_of(part))
    quotient = add(quotient, part)
    a = sub(a, mul(part, b))
  end
  return quotient, a
end
local function divide(a, b)
  if a - a == 0 and b - b == 0 then
    local rest = a % b
    return (a - rest) / b, rest
  end
  return divide_large(a, b)
end
local function text_of_large(n)
  local tail = ''
  while n - n ~= 0 do
    local rest
    n, rest = divide(n, 10000000)
    tail = format('%07.0f', rest) .. tail
  end
  return format('%.0f', n) .. tail
end
local function text_of(n)
  if n - n ~= 0 then
    return text_of_large(n)
  end
  return format('%.0f', n)
end
local call
local function set_expiry(key, at_ms)
  if at_ms then
    call('PEXPIREAT', key, text_of(at_ms))
  end
end
local function needed_for(cost)
  return cost == 0 and 1 or cost
end
local function is_in(list, word)
  return not find(word, ' ', 1, true) and find(list, ' ' .. word .. ' ', 1, true) ~= nil
end
local function takes(r, option)
  local algorithm = r.algorithm
  return not is_in(' COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID RESERVE RESERVATION ', option) or is_in(algorithm.takes, option)
end
local function bytes_before(a, b)
  for at = 1, math.min(#a, #b) do
    local x, y = a:byte(at), b:byte(at)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end
local function digits_up_to(text, most)
  if text ~= '0' and not find(text, '^[1-9]%d*$') then
    return nil
  end
  return (#text < #most or (#text == #most and not bytes_before(most, text))) and text or nil
end
local function fail_with_foreign_value(text, word, otherwise)
  local writers = { C = 'COUNTER', L = 'LEAKY', O = 'LOCKOUT', R = 'ROLLING', T = 'TOKEN' }
  local writer = writers[match(text, '^(%u):')]
  if not writer or writer == word then
    fail(otherwise)
  end
  fail_with('ERR the key holds a state of ' .. writer .. ': use another key for each algorithm')
end
local function from_text(digits)
  if #digits <= 15 or (#digits == 16 and bytes_before(digits, '9007199254740992')) then
    return digits + 0
  end
  local head = #digits % 7
  local n = head > 0 and digits:sub(1, head) + 0 or 0
  for at = head + 1, #digits, 7 do
    n = add(mul(n, 10000000), digits:sub(at, at + 6) + 0)
  end
  return n
end
local function value_of(text)
  local sign, digits = match(text, '^(%-?)(%d+)$')
  local negative = sign == '-'
  digits = digits and digits_up_to(digits, negative and '9223372036854775808' or '9223372036854775807')
  if not digits or (negative and digits == '0') then
    fail_with_foreign_value(text, nil, 'NOT_A_COUNTER')
  end
  local value = from_text(digits)
  if value - value ~= 0 then
    fail('INEXACT_STATE')
  end
  return negative and -value or value
end
local function expiry_by_ttl(key, now_ms)
  local left = call('PTTL', key)
  return left >= 0 and now_ms + left or nil
end
local function load_counter(r)
  local key = r.key
  local text = call('GET', key)
  if text then
    local value = #text < 16 and find(text, '^[1-9]%d*$') and text + 0 or value_of(text)
    local expires_at = redis.REDIS_VERSION_NUM and call('PEXPIRETIME', key) or expiry_by_ttl(key, r.now_ms) or -1
    if expires_at < 0 then
      expires_at = nil
    elseif expires_at >= (2 ^ 53) then
      fail('INEXACT_STATE')
    end
    r.state = { value = value, expires_at = expires_at }
  end
end
local function state_after(change, after, before)
  if change == 'keep' then
    return before
  end
  return change ~= 'delete' and after or nil
end
local function mark_of(ended, now_ms)
  local was = ended.was
  if now_ms >= was.ends_at + was.ttl then
    return nil
  end
  return {
    charged_at = was.charged_at,
    ends_at = was.ends_at + was.ttl,
    counts_until = (ended.given_back or was.cost == 0) and was.counts_until or 0,
    ttl = was.ttl,
  }
end
local function give_back_book(r)
  local book = r.book
  local algorithm = r.algorithm
  if algorithm.give_back then
    algorithm.give_back(r, book.ended)
  else
    for _, ended in ipairs(book.ended) do
      if ended.was.cost > 0 and book.now_ms < ended.was.counts_until then
        local change, after = algorithm.settle_reserved(r, ended.was, 0)
        if change ~= 'keep' then
          if not r.gave_back then
            r.gave_back, r.stored = true, r.state
          end
          ended.given_back = true
          r.state = state_after(change, after, r.state)
        end
      end
    end
  end
  if book.own and book.own.ends_at <= book.now_ms then
    book.own = nil
    for _, ended in ipairs(book.ended) do
      if ended.id == book.id then
        book.own = mark_of(ended, book.now_ms)
      end
    end
  end
end
local function open_of_book(book)
  return book.own and book.own.cost and book.own or nil
end
local function others_of_book(book)
  local count, earliest, needed = book.len - (book.stored and 1 or 0) - #book.gone, book.next_end, book.needed or 0
  for _, ended in ipairs(book.ended) do
    local mark = ended.id ~= book.id and mark_of(ended, book.now_ms)
    if mark then
      earliest = math.min(earliest or mark.ends_at, mark.ends_at)
      needed = math.max(needed, mark.ends_at)
    elseif ended.id ~= book.id then
      count = count - 1
    end
  end
  return count, earliest, needed
end
local function full_for_book(book)
  local count, earliest = others_of_book(book)
  if book.own or count < 100000 then
    return nil
  end
  return math.max(1, (earliest or 0) - book.now_ms)
end
local function remaining_of(r)
  local algorithm = r.algorithm
  algorithm.forecast(r, 'keep', r.state)
  return r.remaining
end
local function seconds_of(ms)
  local rest = ms % 1000
  return ms < 0 and -1 or rest == 0 and ms / 1000 or (ms - rest) / 1000 + 1
end
local function exact(n)
  if n - n ~= 0 or n >= (2 ^ 53) then
    fail('INEXACT_REPLY')
  end
  return n
end
local function divide_up(a, b)
  if a - a == 0 and b - b == 0 then
    local rest = a % b
    return rest == 0 and a / b or (a - rest) / b + 1
  end
  local quotient, rest = divide_large(a, b)
  return rest == 0 and quotient or add(quotient, 1)
end
local function figures(r)
  local algorithm = r.algorithm
  local change, wait = r.change, algorithm.wait
  algorithm.forecast(r, change, change == 'keep' and r.state or change ~= 'delete' and r.after or nil)
  local remaining, capacity, retry, next_ms, reset = r.remaining, r.capacity, 0, 0, 0
  if not r.allowed then
    local cost = r.decided_cost
    retry = wait(r, r.needed or (cost == 0 and 1 or cost)) or -1
    if r.full_for and retry >= 0 then
      retry = math.max(retry, r.full_for)
    end
  end
  if remaining < capacity then
    next_ms = wait(r, remaining + 1) or -1
    reset = remaining + 1 == capacity and next_ms or wait(r, capacity) or -1
  end
  if retry - retry ~= 0 or next_ms - next_ms ~= 0 or reset - reset ~= 0 or retry >= (2 ^ 53) or reset >= (2 ^ 53) then
    fail('INEXACT_REPLY')
  end
  if r.delay ~= 0 then
    return remaining, retry, next_ms, reset, exact(divide_up(r.delay, 1000))
  end
  return remaining, retry, next_ms, reset, 0
end
local function conclude(r)
  local algorithm = r.algorithm
  local only_a_part = r.PARTIAL and r.decided_cost < r.cost
  r.shadowed = r.SHADOW and not r.open and (only_a_part or not r.allowed)
  if not r.allowed and (r.shadowed or r.open) then
    r.allowed = true
    if not algorithm.ttl_of_script then
      local _, _, _, reset_ms = figures(r)
      r.ttl = seconds_of(reset_ms)
    end
  end
end
local function decide_reserving(r)
  local algorithm = r.algorithm
  local cost, book = r.cost, r.book
  give_back_book(r)
  r.open, r.full_for = open_of_book(book), full_for_book(book)
  if r.open then
    cost = 0
  elseif r.PARTIAL then
    cost = math.min(cost, remaining_of(r))
  end
  local decide_at = algorithm.decide_reserving or algorithm.decide
  decide_at(r, cost)
  if r.full_for and r.allowed then
    decide_at(r, 0)
    r.allowed, r.needed = false, needed_for(cost)
    if not algorithm.ttl_of_script then
      r.ttl = seconds_of(r.full_for)
    end
  end
  r.decided_cost = cost
  conclude(r)
end
local function ttl_of_denial(r, cost)
  local algorithm = r.algorithm
  local wait = algorithm.wait(r, cost == 0 and 1 or cost)
  wait = wait and seconds_of(exact(wait)) or -1
  return wait == 0 and 1 or wait
end
local function remove_some(key, lowest, last, members, most)
  local expired = call('ZCOUNT', key, lowest, last)
  local removed = math.min(expired, most)
  if removed > 0 then
    local first = lowest == '0' and call('ZCOUNT', key, '-inf', '(0') or 0
    call('ZREMRANGEBYRANK', key, format('%.0f', first), format('%.0f', first + removed - 1))
    members, expired, expired_left = members - removed, expired - removed, most - removed
  end
  return members, expired
end
local function load_set(r, lowest, through, purpose)
  local key = r.key
  local members, expired = call('ZCARD', key), 0
  if members > 0 and through >= 0 and purpose ~= 'delete' then
    local last = format('%.0f', through)
    local most = purpose == 'read' and 0 or expired_left
    if members <= most then
      local removed = call('ZREMRANGEBYSCORE', key, lowest, last)
      members, expired_left = members - removed, most - removed
    else
      members, expired = remove_some(key, lowest, last, members, most)
    end
  end
  r.len, r.expired, r.exists = members - expired, expired, members > 0
end
local function score_at(key, rank)
  rank = format('%.0f', rank)
  local score = call('ZRANGE', key, rank, rank, 'WITHSCORES')[2]
  return score and tonumber(score)
end
local function expiry_of(key, now_ms)
  if not redis.REDIS_VERSION_NUM then
    return expiry_by_ttl(key, now_ms)
  end
  local at = call('PEXPIRETIME', key)
  return at >= 0 and at or nil
end
local function wait_in_order(r, cost, charged, leaves_at, gone_at)
  local room = r.limit - cost
  if room < 0 then
    return nil
  elseif charged <= room then
    return 0
  end
  local left = leaves_at(r, charged - room - 1)
  if gone_at and (not left or gone_at < left) then
    left = gone_at
  end
  return left and (left >= (2 ^ 53) and (1 / 0) or math.max(0, left - r.now_ms))
end
local function new_log_expiry(r, held)
  local now_ms, window_ms = r.now_ms, r.window_ms
  if held and 2 * (held - now_ms) >= 3 * window_ms then
    return nil
  end
  return now_ms + 2 * window_ms
end
local function call_in_parts(arguments, many)
  local sum = 0
  for first = 1, #many, 1000 do
    local part = { unpack(arguments) }
    for n = first, math.min(first + 999, #many) do
      part[#part + 1] = many[n]
    end
    sum = sum + call(unpack(part))
  end
  return sum
end
local function rescore(key, score, members)
  local pairs_of_it = {}
  for _, member in ipairs(members) do
    pairs_of_it[#pairs_of_it + 1] = score
    pairs_of_it[#pairs_of_it + 1] = member
  end
  call_in_parts({ 'ZADD', key, 'XX' }, pairs_of_it)
end
local function parse_digits(digits)
  if #digits > 1 and digits:byte() == 48 then
    return nil
  elseif #digits < 20 or (#digits == 20 and not bytes_before('18446744073709551615', digits)) then
    return from_text(digits)
  end
end
local function words_of(text, pattern)
  local a, b, c, d, rest = match(text, pattern)
  if not a then
    return nil
  elseif find(text, ':0%d') then
    return nil
  end
  local last = #d < 17 and d + 0
  return #a < 16 and a + 0 or parse_digits(a),
    #b < 16 and b + 0 or parse_digits(b),
    #c < 16 and c + 0 or parse_digits(c),
    last and last < 9e15 and last or parse_digits(d),
    rest
end
local function is_window(ms)
  return ms and ms - ms == 0 and ms >= 1 and ms <= 1e15
end
local MAX_COUNT
local function is_beyond_count(n)
  return less(MAX_COUNT, n)
end
local function min(a, b)
  return less(b, a) and b or a
end
local function read_clock(r)
  local time = call('TIME')
  local now = time[1] * 1000000 + time[2]
  r.now, r.now_ms = now, (now - now % 1000) / 1000
end
local function derive_keys(r, keys, with_book)
  local algorithm = r.algorithm
  local key = keys[1]
  local all = { key }
  if algorithm.suffix then
    all = { key .. algorithm.suffix(r), '' }
  end
  if with_book then
    local hash = key .. (algorithm.infix and algorithm.infix(r) or '') .. ':reserved'
    all[#all + 1], all[#all + 2] = hash, hash .. ':ends'
  end
  return all
end
local function has_name_of_reservations(key)
  return key:sub(-9) == ':reserved' or key:sub(-14) == ':reserved:ends'
end
local function require_other_name(key)
  if has_name_of_reservations(key) then
    fail('RESERVED_KEY')
  end
end
local function take_book(r, keys, at, key)
  local algorithm = r.algorithm
  local hash, ends = keys[at] or '', keys[at + 1]
  local name = (algorithm.infix and algorithm.infix(r) or '') .. ':reserved'
  if (hash ~= key .. name and hash ~= '{' .. key .. '}' .. name) or ends ~= hash .. ':ends' then
    fail('KEYS')
  end
  r.hash, r.ends = hash, ends
  return at + 2
end
local function take_keys(r, keys, at, with_book, is_reset)
  local algorithm = r.algorithm
  local key = keys[at]
  if algorithm.suffix then
    local own, other = algorithm.suffix(r), keys[at + 1]
    local length = #own
    if not other then
      fail('KEYS')
    elseif part_of(key, -length) ~= own then
      key = other
      if part_of(key, -length) ~= own then
        r.wrong_clock = true
      end
    end
    r.key, key, at = key, part_of(key, 1, -length - 1), at + 2
  else
    if not key then
      fail('KEYS')
    end
    r.key, at = key, at + 1
  end
  if is_reset then
    r.name = key
  elseif find(key, ':reserved', 1, true) then
    require_other_name(key)
  end
  if with_book then
    at = r.wrong_clock and at + 2 or take_book(r, keys, at, key)
  end
  return at
end
local function both_suffixes(r)
  local algorithm = r.algorithm
  return algorithm.suffix(r) .. ' ' .. algorithm.next_suffix(r)
end
local function fail_by_clock(r)
  fail_with(format('ERR clock %.0f %s', r.now_ms, both_suffixes(r)))
end
local function place(r, keys, with_book, is_reset)
  read_clock(r)
  if #keys == 1 then
    keys = derive_keys(r, keys, with_book)
  end
  if #keys ~= take_keys(r, keys, 1, with_book, is_reset) - 1 then
    fail('KEYS')
  elseif r.wrong_clock then
    fail_by_clock(r)
  end
end
local function moved_expiry(held, needed_before, needed)
  if held - held ~= 0 then
    fail('INEXACT_STATE')
  end
  local moved = sub(held, sub(needed_before, needed))
  moved = less(moved, needed) and needed or moved
  return moved ~= held and moved or nil
end
local function expiry_after(r, change, after)
  local algorithm = r.algorithm
  local before, depends = r.state, algorithm.expiry_depends_on_policy
  if change == 'keep' and (not before or not depends) then
    return nil
  end
  local held = before and expiry_of(r.key, r.now_ms)
  if held and held >= (2 ^ 53) then
    held = from_digits(digits_of(held))
  end
  if change == 'keep' then
    local needed = algorithm.expires_at(r, before)
    return held and less(held, needed) and add(needed, 5000) or nil
  end
  local needed = algorithm.expires_at(r, after)
  local latest = add(needed, 5000)
  if not before then
    return latest
  elseif not held then
    return latest
  end
  if depends and change == 'rebase' then
    return moved_expiry(held, algorithm.expires_at(r, before), needed)
  elseif less(held, needed) then
    return latest
  elseif not less(latest, held) or (depends and less(add(algorithm.expires_at(r, before), 5000), held)) then
    return nil
  end
  return latest
end
local function load_record(r)
  local text = call('GET', r.key)
  if text then
    local algorithm = r.algorithm
    r.state = algorithm.decode(text) or fail_with_foreign_value(text, algorithm.word, 'FOREIGN_VALUE')
  end
end
local function commit_record(r, change, after)
  local key = r.key
  if change == 'delete' then
    call('UNLINK', key)
    return
  end
  local algorithm = r.algorithm
  local expires_at = expiry_after(r, change, after)
  if change == 'keep' then
    set_expiry(key, expires_at)
  elseif expires_at then
    call('SET', key, algorithm.encode(after), 'PXAT', expires_at == 0 and '1' or text_of(expires_at))
  else
    call('SET', key, algorithm.encode(after), 'KEEPTTL')
  end
end
local MAX_UNSIGNED
local MAX_SPAN
local MAX_TOLERANCE
local byte_of, char_of
local function build_algorithm(word)
  if word == 'FIXED' then
    local function days_before(year, month)
      if month < 2 then
        year = year - 1
      end
      local of_march = (month + 10) % 12
      local leap_days = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
      return 365 * year + leap_days + math.floor((153 * of_march + 2) / 5) - 719468
    end
    local function first_of_month(n)
      return days_before(math.floor(n / 12), n % 12)
    end
    local function month_of(day)
      local months = 1970 * 12 + math.floor(day / 30.436875) + 1
      while first_of_month(months) > day do
        months = months - 1
      end
      return months, day - first_of_month(months)
    end
    local function start_after(anchor, months)
      local at = anchor.months + months
      local first = first_of_month(at)
      return (first + math.min(anchor.day, first_of_month(at + 1) - first - 1)) * 86400000 + anchor.time
    end
    local function calendar_period(step, anchor_ms, now_ms)
      local time = anchor_ms % 86400000
      local months, day = month_of((anchor_ms - time) / 86400000)
      local anchor = { months = months, day = day, time = time }
      local apart = month_of(math.floor(now_ms / 86400000)) - months
      local latest = apart - apart % step
      local first, last = start_after(anchor, latest), start_after(anchor, latest + step)
      if first > now_ms then
        first, last = start_after(anchor, latest - step), first
      end
      return first, last, last - first
    end
    local function period_of(r, now_ms)
      local unit, anchor_ms = r.unit, r.anchor_ms
      if unit == 'MONTH' or unit == 'YEAR' then
        local first, last, length = calendar_period(unit == 'YEAR' and 12 or 1, anchor_ms or 0, now_ms)
        return math.max(0, first), last, length
      end
      anchor_ms = anchor_ms or (unit == 'WEEK' and 4 * 86400000) or 0
      local length = r.window_ms
      local ago = (now_ms % length - anchor_ms % length) % length
      return math.max(0, now_ms - ago), now_ms - ago + length, length
    end
    local function infix(r)
      local window = r.unit and r.unit:lower() or format('%.0fms', r.window_ms)
      return ':' .. window .. (r.anchor_ms and format(':%.0f', r.anchor_ms / 1000) or '')
    end
    local function calendar_suffix(r, start)
      return format(':%s:%.0f', r.unit and r.unit:lower() or format('%.0fms', r.window_ms), start)
    end
    local function period(r)
      if r.unit or r.anchor_ms then
        return period_of(r, r.now_ms)
      end
      local now_ms, window_ms = r.now_ms, r.window_ms
      local first = now_ms - now_ms % window_ms
      return first, first + window_ms
    end
    local function suffix(r)
      if r.unit or r.anchor_ms then
        return calendar_suffix(r, (period(r)))
      end
      local now_ms, window_ms = r.now_ms, r.window_ms
      local number = (now_ms - now_ms % window_ms) / window_ms
      return format(number < 2147483648 and ':%d' or ':%.0f', number)
    end
    local function next_suffix(r)
      local _, last = period(r)
      if r.unit or r.anchor_ms then
        return calendar_suffix(r, last)
      end
      return ':' .. text_of(last / r.window_ms)
    end
    local function window_at(r)
      if r.unit or r.anchor_ms then
        return (select(3, period_of(r, r.now_ms)))
      end
      return r.window_ms
    end
    local function new_expiry(r)
      if r.unit or r.anchor_ms then
        local _, last = period_of(r, r.now_ms)
        return last
      end
      return r.now_ms + r.window_ms
    end
    local function ttl_of_script(expires_at, now_ms)
      if not expires_at then
        return -2
      end
      local ms = (expires_at > now_ms and expires_at - now_ms or 0) + 500
      return (ms - ms % 1000) / 1000
    end
    local function decide(r, cost)
      local counter, now_ms, limit = r.state, r.now_ms, r.limit
      local before, needed = counter and counter.value or 0, cost == 0 and 1 or cost
      local allowed = needed <= limit and before + needed <= limit
      local counted = (allowed or before >= limit) and cost > 0
      local after = counted and before + cost or before
      if after >= (2 ^ 53) then
        fail('INEXACT_REPLY')
      end
      local expires_at = counter and not (counted and before == 0) and counter.expires_at or nil
      if not expires_at and (counter or counted) then
        expires_at = (r.unit or r.anchor_ms) and new_expiry(r) or now_ms + r.window_ms
      end
      r.allowed, r.count, r.ttl, r.change = allowed, after, ttl_of_script(expires_at, now_ms), 'keep'
      if counted or (counter and not counter.expires_at) then
        r.change, r.after = 'charge', { value = after, expires_at = expires_at }
      end
    end
    local function forecast(r, _, counter)
      local value, limit = counter and counter.value or 0, r.limit
      r.units = value > 0 and value or 0
      r.remaining = r.units < limit and limit - r.units or 0
    end
    local function wait(r, cost)
      local limit = r.limit
      if cost > limit then
        return nil
      elseif r.units + cost <= limit then
        return 0
      end
      if r.unit or r.anchor_ms then
        local _, last = period(r)
        return last - r.now_ms
      end
      return r.window_ms - r.now_ms % r.window_ms
    end
    local function commit(r, change, after)
      local key, before = r.key, r.state
      if change == 'delete' then
        call('UNLINK', key)
      elseif change ~= 'keep' then
        local delta = after.value - (before and before.value or 0)
        if delta ~= 0 then
          call('INCRBY', key, delta == 1 and '1' or format('%.0f', delta))
        end
        if not before or after.expires_at ~= before.expires_at then
          set_expiry(key, after.expires_at)
        end
      end
    end
    local function verdict_after(counter, now_ms)
      return counter and counter.value or 0, ttl_of_script(counter and counter.expires_at, now_ms)
    end
    local function decide_without_denials(r, cost)
      local before = r.state and r.state.value or 0
      local fits = needed_for(cost) <= r.limit and before + needed_for(cost) <= r.limit
      decide(r, fits and cost or 0)
      r.allowed, r.needed = fits, needed_for(cost)
    end
    local function end_of_period(r)
      local _, last = period(r)
      return last
    end
    local function is_current_period(r, at_ms)
      return not at_ms or not less(at_ms, (period(r)))
    end
    local function refund(r, at_ms, cost)
      local counter = r.state
      if not counter or not is_current_period(r, at_ms) then
        return 'keep'
      end
      local value = counter.value
      if value > 0 and cost > 0 then
        value = math.max(0, math.min(value, r.limit) - cost)
      end
      if value == counter.value and counter.expires_at then
        return 'keep'
      end
      return 'refund', { value = value, expires_at = counter.expires_at or new_expiry(r) }
    end
    local function overcharge(r, at_ms, cost)
      local counter = r.state
      if cost == 0 or not is_current_period(r, at_ms) then
        return 'keep'
      end
      local before = counter and counter.value or 0
      if before + cost + 1 >= (2 ^ 53) then
        fail('INEXACT_REPLY')
      end
      local held = before ~= 0 and counter.expires_at
      return 'charge', { value = before + cost, expires_at = held or new_expiry(r) }
    end
    local function settle_reserved(r, charge, actual)
      local counter, reserved = r.state, charge.cost or 0
      if charge.counts_until ~= end_of_period(r) then
        return 'keep'
      elseif actual >= reserved then
        return overcharge(r, nil, actual - reserved)
      elseif not counter or counter.value <= 0 then
        return 'keep'
      end
      local value = math.max(0, counter.value - (reserved - actual))
      return 'refund', { value = value, expires_at = counter.expires_at or new_expiry(r) }
    end
    return {
      word = 'FIXED',
      takes = ' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ',
      ttl_of_script = true,
      infix = infix,
      suffix = suffix,
      next_suffix = next_suffix,
      window_at = window_at,
      load = load_counter,
      decide = decide,
      forecast = forecast,
      wait = wait,
      commit = commit,
      verdict_after = verdict_after,
      decide_reserving = decide_without_denials,
      counts_until = end_of_period,
      refund = refund,
      overcharge = overcharge,
      settle_reserved = settle_reserved,
    }
  elseif word == 'WINDOW' then
    local function running(r, counter)
      local now_ms = r.now_ms
      local expires_at = counter and counter.expires_at
      if not counter then
        return nil, 0
      elseif expires_at and expires_at <= now_ms then
        return nil, 0
      end
      local latest = now_ms + r.window_ms
      return expires_at and expires_at < latest and expires_at or latest, counter.value > 0 and counter.value or 0
    end
    local function uncharged(counter, ends)
      if ends and ends ~= counter.expires_at then
        return 'rebase', { value = counter.value, expires_at = ends }
      end
      return 'keep'
    end
    local function forecast(r, _, counter)
      local ends, units = running(r, counter)
      r.ends_at, r.units, r.remaining = ends, units, units < r.limit and r.limit - units or 0
    end
    local function wait(r, cost)
      local limit = r.limit
      if cost > limit then
        return nil
      elseif r.units + cost <= limit then
        return 0
      end
      return divide_up(sub(mul(r.ends_at, 1000), r.now), 1000)
    end
    local function decide(r, cost)
      local counter, limit = r.state, r.limit
      local ends, units = running(r, counter)
      local allowed = units + (cost == 0 and 1 or cost) <= limit
      r.allowed, r.count = allowed, exact(units)
      if allowed and cost > 0 then
        ends = ends and counter.value >= 0 and ends or r.now_ms + r.window_ms
        r.change, r.after = 'charge', { value = units + cost, expires_at = ends }
      else
        r.change, r.after = uncharged(counter, ends)
      end
      forecast(r, r.change, state_after(r.change, r.after, counter))
      if allowed then
        r.ttl = seconds_of(exact(wait(r, limit)))
      else
        r.ttl = ttl_of_denial(r, cost)
      end
    end
    local function commit(r, change, after)
      local key, before = r.key, r.state
      if change == 'delete' then
        call('UNLINK', key)
      elseif change == 'keep' then
        return
      elseif before and before.expires_at == after.expires_at then
        local delta = after.value - before.value
        call('INCRBY', key, delta == 1 and '1' or format('%.0f', delta))
      elseif before and before.value == after.value then
        set_expiry(key, after.expires_at)
      else
        call('SET', key, text_of(after.value), 'PXAT', text_of(after.expires_at))
      end
    end
    local function counts_until(r, counter)
      local expires_at = counter and counter.expires_at
      return expires_at and expires_at > r.now_ms and expires_at or r.now_ms + r.window_ms
    end
    local function refund(r, at_ms, cost)
      local counter = r.state
      local ends, units = running(r, counter)
      local is_earlier = ends and at_ms and less(add(at_ms, r.window_ms), ends)
      if not ends or units == 0 or is_earlier or cost == 0 then
        return uncharged(counter, ends)
      elseif cost >= units then
        return 'delete'
      end
      return 'refund', { value = units - cost, expires_at = ends }
    end
    local function overcharge(r, at_ms, cost)
      if cost == 0 or (at_ms and not less(r.now_ms, add(at_ms, r.window_ms))) then
        return 'keep'
      end
      local ends, units = running(r, r.state)
      if units + cost >= (2 ^ 53) then
        fail('INEXACT_REPLY')
      end
      ends = ends and r.state.value >= 0 and ends or r.now_ms + r.window_ms
      return 'charge', { value = units + cost, expires_at = ends }
    end
    local function settle_reserved(r, charge, actual)
      local counter, reserved = r.state, charge.cost or 0
      if charge.counts_until <= r.now_ms then
        return 'keep'
      elseif actual >= reserved then
        local change, after = overcharge(r, nil, actual - reserved)
        if change == 'charge' and not running(r, counter) then
          after.expires_at = math.min(charge.counts_until, r.now_ms + r.window_ms)
        end
        return change, after
      elseif not counter or counter.value <= 0 or counter.expires_at ~= charge.counts_until then
        return 'keep'
      end
      local value = counter.value - (reserved - actual)
      if value <= 0 then
        return 'delete'
      end
      return 'refund', { value = value, expires_at = counter.expires_at }
    end
    local function in_shadow(r, change, after)
      local counter = r.state
      if change == 'rebase' then
        return 'keep'
      elseif change == 'charge' and counter and counter.value >= 0 and running(r, counter) then
        return 'charge', { value = after.value, expires_at = counter.expires_at }
      end
      return change, after
    end
    return {
      word = 'WINDOW',
      takes = ' COST PARTIAL ALWAYS RESERVE RESERVATION ',
      load = load_counter,
      decide = decide,
      forecast = forecast,
      wait = wait,
      commit = commit,
      in_shadow = in_shadow,
      counts_until = counts_until,
      refund = refund,
      overcharge = overcharge,
      settle_reserved = settle_reserved,
    }
  elseif word == 'SLIDING' then
    local function load(r, purpose)
      load_set(r, '0', r.now_ms - r.window_ms, purpose)
      r.may_move = 500
      if purpose == 'write' then
        moved_left = (moved_left - moved_left % 2) / 2
        r.may_move = moved_left
      end
    end
    local function decide(r, cost)
      local key, len = r.key, r.len
      local allowed = len + (cost == 0 and 1 or cost) <= r.limit
      r.allowed, r.count, r.ttl, r.change = allowed, len, seconds_of(r.window_ms), 'keep'
      if allowed and cost > 0 then
        r.change, r.after = 'charge', { add = cost }
      elseif not allowed and len > 0 and call('ZCOUNT', key, '(' .. format('%.0f', r.now_ms), '+inf') > 0 then
        r.change, r.after = 'rebase', { to_now = true }
      end
    end
    local function never_leaving(r)
      local key = r.key
      local lowest = r.exists and score_at(key, 0)
      return lowest and lowest < 0 and call('ZCOUNT', key, '-inf', '(0') or 0
    end
    local function made_at(r, rank)
      local score = rank >= 0 and rank < r.len + r.expired and score_at(r.key, rank)
      return score and math.max(0, math.ceil(score))
    end
    local function leaves_at(r, n)
      local now_ms, added = r.now_ms, r.added
      r.never = r.never or never_leaving(r)
      if n >= r.len + added - r.never then
        return nil
      end
      local rank = n + r.never + r.expired
      local at = made_at(r, rank)
      if at and added > 0 and at > now_ms then
        at = nil
      end
      if not at then
        local later = made_at(r, rank - added)
        at = later and later > now_ms and later or now_ms
      end
      if r.rebased then
        r.moved = r.moved or call('ZCOUNT', r.key, '-inf', text_of(now_ms)) + r.may_move
        at = rank < r.moved and math.min(at, now_ms) or at
      end
      return at + r.window_ms
    end
    local function forecast(r, change, after)
      r.never, r.moved, r.added, r.rebased = nil, nil, change == 'charge' and after.add or 0, change == 'rebase'
      local remaining = r.limit - r.len - r.added
      r.remaining = remaining > 0 and remaining or 0
      r.held = r.exists and expiry_of(r.key, r.now_ms) or nil
    end
    local function wait(r, cost)
      return wait_in_order(r, cost, r.len + r.added, leaves_at, (new_log_expiry(r, r.held) or r.held) + 1)
    end
    local function add_members(key, ms, count)
      local score = format('%.0f', ms)
      local n = call('ZCOUNT', key, score, score)
      while count > 1 do
        local part = {}
        for _ = 1, math.min(count, 1000) do
          part[#part + 1] = score
          part[#part + 1] = format('%s-0.%.0f', score, n)
          n = n + 1
        end
        count = count - call('ZADD', key, 'NX', unpack(part))
      end
      while count > 0 do
        count = count - call('ZADD', key, 'NX', score, score .. '-0.' .. text_of(n))
        n = n + 1
      end
    end
    local function commit_rare(r, change, after)
      local key = r.key
      if change == 'delete' then
        call('UNLINK', key)
        return
      end
      local expires_at = new_log_expiry(r, r.exists and expiry_of(key, r.now_ms) or nil)
      if after.to_now then
        local score = format('%.0f', r.now_ms)
        rescore(key, score, call('ZRANGEBYSCORE', key, '(' .. score, '+inf', 'LIMIT', '0', text_of(r.may_move)))
        set_expiry(key, expires_at)
        return
      end
      local members = r.len + r.expired
      local first, last = members - after.remove, members - 1
      if after.up_to then
        last = call('ZCOUNT', key, '-inf', text_of(after.up_to)) - 1
        first = math.max(0, last + 1 - after.remove)
      end
      if last < 0 or first > 0 or last + 1 < members then
        set_expiry(key, expires_at)
      end
      if last >= 0 then
        call('ZREMRANGEBYRANK', key, format('%.0f', first), format('%.0f', last))
      end
    end
    local function commit(r, change, after)
      local key = r.key
      if change == 'charge' then
        local expires_at = new_log_expiry(r, r.exists and expiry_of(key, r.now_ms) or nil)
        add_members(key, after.earlier or r.now_ms, after.add)
        set_expiry(key, expires_at)
      elseif change ~= 'keep' then
        commit_rare(r, change, after)
      elseif r.exists then
        set_expiry(key, new_log_expiry(r, expiry_of(key, r.now_ms)))
      end
    end
    local function refund(r, at_ms, cost)
      local count = math.min(r.len, cost)
      if count == 0 then
        return 'keep'
      end
      return 'refund', { remove = count, up_to = at_ms }
    end
    local function overcharge(r, at_ms, cost)
      if cost == 0 then
        return 'keep'
      elseif not at_ms or not less(at_ms, r.now_ms) then
        return 'charge', { add = cost }
      elseif at_ms <= r.now_ms - r.window_ms then
        return 'keep'
      end
      return 'charge', { add = cost, earlier = at_ms }
    end
    return {
      word = 'SLIDING',
      takes = ' COST PARTIAL ',
      ttl_of_script = true,
      adds_members = true,
      load = load,
      decide = decide,
      forecast = forecast,
      wait = wait,
      commit = commit,
      refund = refund,
      overcharge = overcharge,
    }
  elseif word == 'COUNTER' then
    local function decode(text)
      local window_ms, number, current, previous, rest = words_of(text, '^C:(%d+):(%d+):(%d+):(%d+)(.*)$')
      if not is_window(window_ms) or not number or not current or not previous or rest ~= '' then
        return nil
      end
      local start_ms = mul(number, window_ms)
      local start = mul(start_ms, 1000)
      if start - start ~= 0 or current - current ~= 0 or previous - previous ~= 0 then
        if is_beyond_count(start) or is_beyond_count(current) or is_beyond_count(previous) then
          return nil
        end
      end
      if start_ms == 0 and previous ~= 0 then
        return nil
      end
      return { window_ms = window_ms, start_ms = start_ms, current = current, previous = previous }
    end
    local function encode(counts)
      local window_ms, current, previous = counts.window_ms, counts.current, counts.previous
      local number = divide(counts.start_ms, window_ms)
      local large = number - number ~= 0 or current - current ~= 0 or previous - previous ~= 0
      if large then
        number, current, previous = text_of(number), text_of(current), text_of(previous)
        return 'C:' .. text_of(window_ms) .. ':' .. number .. ':' .. current .. ':' .. previous
      end
      return format('C:%.0f:%.0f:%.0f:%.0f', window_ms, number, current, previous)
    end
    local function expires_at(_, counts)
      local windows = counts.current ~= 0 and 2 or counts.previous ~= 0 and 1 or 0
      return add(counts.start_ms, counts.window_ms * windows)
    end
    local function state_of(window_ms, start_ms, current, previous)
      return { window_ms = window_ms, start_ms = start_ms, current = current, previous = previous }
    end
    local function no_more_than_count(n)
      return min(n, MAX_COUNT)
    end
    local function realign(r, old, start_ms)
      local window_ms = r.window_ms
      if less(r.now_ms, old.start_ms) then
        return state_of(window_ms, start_ms, min(add(old.current, old.previous), r.limit), 0)
      end
      local aligned = state_of(window_ms, start_ms, 0, 0)
      local function place(count, end_ms)
        if end_ms > start_ms then
          aligned.current = no_more_than_count(add(aligned.current, count))
        elseif end_ms + window_ms > start_ms then
          aligned.previous = no_more_than_count(add(aligned.previous, count))
        end
      end
      place(old.current, old.start_ms + old.window_ms)
      place(old.previous, old.start_ms)
      return aligned
    end
    local function align(r, old)
      local now_ms, window_ms = r.now_ms, r.window_ms
      local start_ms = now_ms - now_ms % window_ms
      if not old then
        return state_of(window_ms, start_ms, 0, 0)
      elseif old.start_ms == start_ms and old.window_ms == window_ms then
        return old
      end
      return realign(r, old, start_ms)
    end
    local function weighted_previous(r, counts)
      local previous = counts.previous
      return previous == 0 and 0 or mul(previous, sub(r.window, r.now - counts.start_ms * 1000))
    end
    local function set_forecast(r, counts, weighted)
      r.counts = counts
      r.remaining = sub(sub(r.limit, counts.current), weighted == 0 and 0 or divide_up(weighted, r.window))
    end
    local function forecast(r, _, old)
      local counts = align(r, old)
      set_forecast(r, counts, weighted_previous(r, counts))
    end
    local function time_until_weight_is(r, room, count)
      return count == 0 and 0 or sub(r.window, (divide(mul(room, r.window), count)))
    end
    local function wait(r, cost)
      local room, counts = r.limit - cost, r.counts
      local current, start = counts.current, mul(counts.start_ms, 1000)
      if room < 0 then
        return nil
      elseif less(room, current) then
        start = add(add(start, r.window), time_until_weight_is(r, room, current))
      else
        start = add(start, time_until_weight_is(r, room - current, counts.previous))
      end
      return divide_up(sub(start, r.now), 1000)
    end
    local function decide(r, cost)
      local old, limit, window = r.state, r.limit, r.window
      local counts = align(r, old)
      local current, previous = counts.current, weighted_previous(r, counts)
      local needed = mul(add(current, cost == 0 and 1 or cost), window)
      local allowed = not less(mul(limit, window), add(needed, previous))
      r.allowed, r.change = allowed, 'keep'
      r.count = exact(previous == 0 and current or add(current, (divide(previous, window))))
      if allowed and cost > 0 then
        counts = state_of(r.window_ms, counts.start_ms, add(current, cost), counts.previous)
        r.change, r.after = 'charge', counts
      elseif old and limit > 0 and (less(r.now_ms, old.start_ms) or old.window_ms ~= r.window_ms) then
        if current ~= 0 or counts.previous ~= 0 then
          r.change, r.after = 'rebase', counts
        end
      end
      if allowed then
        r.ttl = exact(divide_up(sub(mul(expires_at(r, counts), 1000), r.now), 1000000))
      else
        set_forecast(r, counts, previous)
        r.ttl = ttl_of_denial(r, cost)
      end
    end
    local function place_of(counts, at_ms)
      if not at_ms or not less(at_ms, counts.start_ms) then
        return 'current'
      end
      return at_ms + counts.window_ms >= counts.start_ms and 'previous' or nil
    end
    local function refund(r, at_ms, cost)
      local counts = align(r, r.state)
      local place = place_of(counts, at_ms)
      local from_current = place == 'current' and cost or 0
      local from_previous = place == 'previous' and cost or 0
      if not at_ms then
        from_previous = sub(cost, counts.current)
      end
      local current, previous = sub(counts.current, from_current), sub(counts.previous, from_previous)
      if not less(current, counts.current) and not less(previous, counts.previous) then
        return 'keep'
      elseif current == 0 and previous == 0 then
        return 'delete'
      end
      return 'refund', state_of(counts.window_ms, counts.start_ms, current, previous)
    end
    local function overcharge(r, at_ms, cost)
      local counts = align(r, r.state)
      local place = place_of(counts, at_ms)
      if cost == 0 or not place then
        return 'keep'
      end
      local charged = state_of(counts.window_ms, counts.start_ms, counts.current, counts.previous)
      charged[place] = add(charged[place], cost)
      local weighted = add(mul(charged.current, r.window), weighted_previous(r, charged))
      if is_beyond_count(charged[place]) or less(mul(MAX_COUNT, r.window), weighted) then
        fail('OVERFLOW')
      end
      return 'charge', charged
    end
    local function counts_until(r)
      return r.now_ms - r.now_ms % r.window_ms + 2 * r.window_ms
    end
    local function settle_reserved(r, charge, actual)
      local reserved = charge.cost or 0
      if charge.counts_until <= r.now_ms then
        return 'keep'
      elseif actual < reserved then
        return refund(r, charge.charged_at, reserved - actual)
      end
      return overcharge(r, charge.charged_at, actual - reserved)
    end
    return {
      word = 'COUNTER',
      takes = ' COST PARTIAL ALWAYS RESERVE RESERVATION ',
      decode = decode,
      encode = encode,
      expires_at = expires_at,
      expiry_after = expiry_after,
      load = load_record,
      decide = decide,
      forecast = forecast,
      wait = wait,
      commit = commit_record,
      counts_until = counts_until,
      refund = refund,
      overcharge = overcharge,
      settle_reserved = settle_reserved,
    }
  elseif word == 'TOKEN' then
    local function parts_when_written(r, level)
      local part, window, used = level.part, r.window, level.used
      if level.window_ms ~= r.window_ms and part ~= 0 then
        part = divide_up(mul(part, window), mul(level.window_ms, 1000))
      end
      used = min(add(mul(used, window), part), r.full)
      return level.debt == 0 and used or add(used, mul(level.debt, window))
    end
    local function parts_at(r, level)
      if not level then
        return 0
      end
      return sub(parts_when_written(r, level), mul(sub(r.now, level.at), r.limit))
    end
    local function no_more_than_time(micros)
      return min(micros, MAX_UNSIGNED)
    end
    local function is_beyond_time(micros)
      return less(MAX_UNSIGNED, micros)
    end
    local function require_span(r)
      if r.limit > 0 and less(mul(r.limit, MAX_SPAN), r.full) then
        fail('SPAN')
      end
    end
    local function time_to_drain(r, parts)
      local time = divide_up(parts, r.limit)
      return time - time == 0 and time or no_more_than_time(time)
    end
    local function set_forecast(r, parts)
      r.parts = parts
      r.remaining = r.limit == 0 and 0 or sub(r.capacity, divide_up(parts, r.window))
    end
    local function forecast(r, _, level)
      set_forecast(r, parts_at(r, level))
    end
    local function wait(r, cost)
      local limit, room = r.limit, r.capacity - cost
      if limit == 0 or room < 0 then
        return nil
      end
      local time = divide_up(sub(r.parts, mul(room, r.window)), limit)
      if time - time ~= 0 and is_beyond_time(add(time, r.now)) then
        return nil
      end
      return divide_up(time, 1000)
    end
    local function prepare(r)
      r.full = mul(r.capacity, r.window)
      if r.full - r.full ~= 0 then
        require_span(r)
      end
    end
    local function is_foreign(used, part, window_ms, at)
      local too_high = is_beyond_count(used) or (not less(used, MAX_COUNT) and part ~= 0)
      return too_high or is_beyond_count(at) or not less(part, mul(window_ms, 1000))
    end
    local function debt_of(rest)
      local digits = match(rest, '^:(%d+)$')
      local debt = digits and parse_digits(digits)
      return debt and debt ~= 0 and not is_beyond_count(debt) and debt or nil
    end
    local function decode(text)
      local used, part, window_ms, at, rest = words_of(text, '^T:(%d+):(%d+):(%d+):(%d+)(.*)$')
      if not is_window(window_ms) or not used or not part or not at then
        return nil
      end
      local debt = 0
      if rest ~= '' then
        debt = debt_of(rest)
        if not debt then
          return nil
        end
      end
      if used - used ~= 0 or at - at ~= 0 or part - part ~= 0 or part >= window_ms * 1000 then
        if is_foreign(used, part, window_ms, at) then
          return nil
        end
      end
      return { used = used, part = part, window_ms = window_ms, at = at, debt = debt }
    end
    local function encode_large(level)
      local used, part, window_ms, at = level.used, level.part, level.window_ms, level.at
      local text = 'T:' .. text_of(used) .. ':' .. text_of(part) .. ':' .. text_of(window_ms) .. ':' .. text_of(at)
      return level.debt == 0 and text or text .. ':' .. text_of(level.debt)
    end
    local function encode(level)
      local used, part, window_ms, at = level.used, level.part, level.window_ms, level.at
      if level.debt ~= 0 or used - used ~= 0 or part - part ~= 0 or at - at ~= 0 then
        return encode_large(level)
      end
      return format('T:%.0f:%.0f:%.0f:%.0f', used, part, window_ms, at)
    end
    local function expires_at(r, level)
      local at = level.at
      if r.limit > 0 then
        at = add(at, time_to_drain(r, parts_when_written(r, level)))
        at = at - at == 0 and at or no_more_than_time(at)
      end
      return divide_up(at, 1000)
    end
    local function decide(r, cost)
      local level, limit, window, now = r.state, r.limit, r.window, r.now
      local before = parts_at(r, level)
      local needed = add(before, mul(cost == 0 and 1 or cost, window))
      local allowed = limit > 0 and not less(r.full, needed)
      local whole, part = divide(before, window)
      r.allowed, r.count, r.change = allowed, exact(part == 0 and whole or add(whole, 1)), 'keep'
      if allowed and cost > 0 then
        r.change = 'charge'
        r.after = { used = add(whole, cost), part = part, window_ms = r.window_ms, at = now, debt = 0 }
        r.ttl = exact(divide_up(time_to_drain(r, needed), 1000000))
      else
        if level and limit > 0 and less(now, level.at) then
          r.change = 'rebase'
          r.after = { used = level.used, part = level.part, window_ms = level.window_ms, at = now, debt = level.debt }
        end
        if allowed then
          r.ttl = exact(divide_up(time_to_drain(r, before), 1000000))
        else
          set_forecast(r, before)
          r.ttl = ttl_of_denial(r, cost)
        end
      end
      r.delay = false and allowed and time_to_drain(r, before) or 0
    end
    local function refund(r, _, cost)
      local level = r.state
      if not level or cost == 0 or parts_at(r, level) == 0 then
        return 'keep'
      end
      local used, part = level.used, level.part
      if not less(used, r.capacity) then
        used, part = r.capacity, 0
      end
      local rest = sub(cost, level.debt)
      if less(used, rest) then
        used, part = 0, 0
      else
        used = sub(used, rest)
      end
      local refunded =
        { used = used, part = part, window_ms = level.window_ms, at = level.at, debt = sub(level.debt, cost) }
      if parts_at(r, refunded) == 0 then
        return 'delete'
      end
      return 'refund', refunded
    end
    local function overcharge(r, _, cost)
      if cost == 0 or r.limit == 0 then
        return 'keep'
      end
      local parts = add(parts_at(r, r.state), mul(cost, r.window))
      if less(mul(MAX_COUNT, r.window), parts) then
        fail('OVERFLOW')
      end
      local whole, part = divide(parts, r.window)
      local most = part == 0 and r.capacity or r.capacity - 1
      local used, debt = min(whole, most), sub(whole, most)
      return 'charge', { used = used, part = part, window_ms = r.window_ms, at = r.now, debt = debt }
    end
    return {
      word = 'TOKEN',
      takes = ' COST PARTIAL BURST ALWAYS ',
      expiry_depends_on_policy = true,
      delays = false,
      prepare = prepare,
      decode = decode,
      encode = encode,
      expires_at = expires_at,
      expiry_after = expiry_after,
      load = load_record,
      decide = decide,
      forecast = forecast,
      wait = wait,
      commit = commit_record,
      refund = refund,
      overcharge = overcharge,
    }
  elseif word == 'LEAKY' then
    local function parts_when_written(r, level)
      local part, window, used = level.part, r.window, level.used
      if level.window_ms ~= r.window_ms and part ~= 0 then
        part = divide_up(mul(part, window), mul(level.window_ms, 1000))
      end
      used = min(add(mul(used, window), part), r.full)
      return level.debt == 0 and used or add(used, mul(level.debt, window))
    end
    local function parts_at(r, level)
      if not level then
        return 0
      end
      return sub(parts_when_written(r, level), mul(sub(r.now, level.at), r.limit))
    end
    local function no_more_than_time(micros)
      return min(micros, MAX_UNSIGNED)
    end
    local function is_beyond_time(micros)
      return less(MAX_UNSIGNED, micros)
    end
    local function require_span(r)
      if r.limit > 0 and less(mul(r.limit, MAX_SPAN), r.full) then
        fail('SPAN')
      end
    end
    local function time_to_drain(r, parts)
      local time = divide_up(parts, r.limit)
      return time - time == 0 and time or no_more_than_time(time)
    end
    local function set_forecast(r, parts)
      r.parts = parts
      r.remaining = r.limit == 0 and 0 or sub(r.capacity, divide_up(parts, r.window))
    end
    local function forecast(r, _, level)
      set_forecast(r, parts_at(r, level))
    end
    local function wait(r, cost)
      local limit, room = r.limit, r.capacity - cost
      if limit == 0 or room < 0 then
        return nil
      end
      local time = divide_up(sub(r.parts, mul(room, r.window)), limit)
      if time - time ~= 0 and is_beyond_time(add(time, r.now)) then
        return nil
      end
      return divide_up(time, 1000)
    end
    local function prepare(r)
      r.full = mul(r.capacity, r.window)
      if r.full - r.full ~= 0 then
        require_span(r)
      end
    end
    local function is_foreign(used, part, window_ms, at)
      local too_high = is_beyond_count(used) or (not less(used, MAX_COUNT) and part ~= 0)
      return too_high or is_beyond_count(at) or not less(part, mul(window_ms, 1000))
    end
    local function debt_of(rest)
      local digits = match(rest, '^:(%d+)$')
      local debt = digits and parse_digits(digits)
      return debt and debt ~= 0 and not is_beyond_count(debt) and debt or nil
    end
    local function decode(text)
      local used, part, window_ms, at, rest = words_of(text, '^L:(%d+):(%d+):(%d+):(%d+)(.*)$')
      if not is_window(window_ms) or not used or not part or not at then
        return nil
      end
      local debt = 0
      if rest ~= '' then
        debt = debt_of(rest)
        if not debt then
          return nil
        end
      end
      if used - used ~= 0 or at - at ~= 0 or part - part ~= 0 or part >= window_ms * 1000 then
        if is_foreign(used, part, window_ms, at) then
          return nil
        end
      end
      return { used = used, part = part, window_ms = window_ms, at = at, debt = debt }
    end
    local function encode_large(level)
      local used, part, window_ms, at = level.used, level.part, level.window_ms, level.at
      local text = 'L:' .. text_of(used) .. ':' .. text_of(part) .. ':' .. text_of(window_ms) .. ':' .. text_of(at)
      return level.debt == 0 and text or text .. ':' .. text_of(level.debt)
    end
    local function encode(level)
      local used, part, window_ms, at = level.used, level.part, level.window_ms, level.at
      if level.debt ~= 0 or used - used ~= 0 or part - part ~= 0 or at - at ~= 0 then
        return encode_large(level)
      end
      return format('L:%.0f:%.0f:%.0f:%.0f', used, part, window_ms, at)
    end
    local function expires_at(r, level)
      local at = level.at
      if r.limit > 0 then
        at = add(at, time_to_drain(r, parts_when_written(r, level)))
        at = at - at == 0 and at or no_more_than_time(at)
      end
      return divide_up(at, 1000)
    end
    local function decide(r, cost)
      local level, limit, window, now = r.state, r.limit, r.window, r.now
      local before = parts_at(r, level)
      local needed = add(before, mul(cost == 0 and 1 or cost, window))
      local allowed = limit > 0 and not less(r.full, needed)
      local whole, part = divide(before, window)
      r.allowed, r.count, r.change = allowed, exact(part == 0 and whole or add(whole, 1)), 'keep'
      if allowed and cost > 0 then
        r.change = 'charge'
        r.after = { used = add(whole, cost), part = part, window_ms = r.window_ms, at = now, debt = 0 }
        r.ttl = exact(divide_up(time_to_drain(r, needed), 1000000))
      else
        if level and limit > 0 and less(now, level.at) then
          r.change = 'rebase'
          r.after = { used = level.used, part = level.part, window_ms = level.window_ms, at = now, debt = level.debt }
        end
        if allowed then
          r.ttl = exact(divide_up(time_to_drain(r, before), 1000000))
        else
          set_forecast(r, before)
          r.ttl = ttl_of_denial(r, cost)
        end
      end
      r.delay = true and allowed and time_to_drain(r, before) or 0
    end
    local function refund(r, _, cost)
      local level = r.state
      if not level or cost == 0 or parts_at(r, level) == 0 then
        return 'keep'
      end
      local used, part = level.used, level.part
      if not less(used, r.capacity) then
        used, part = r.capacity, 0
      end
      local rest = sub(cost, level.debt)
      if less(used, rest) then
        used, part = 0, 0
      else
        used = sub(used, rest)
      end
      local refunded =
        { used = used, part = part, window_ms = level.window_ms, at = level.at, debt = sub(level.debt, cost) }
      if parts_at(r, refunded) == 0 then
        return 'delete'
      end
      return 'refund', refunded
    end
    local function overcharge(r, _, cost)
      if cost == 0 or r.limit == 0 then
        return 'keep'
      end
      local parts = add(parts_at(r, r.state), mul(cost, r.window))
      if less(mul(MAX_COUNT, r.window), parts) then
        fail('OVERFLOW')
      end
      local whole, part = divide(parts, r.window)
      local most = part == 0 and r.capacity or r.capacity - 1
      local used, debt = min(whole, most), sub(whole, most)
      return 'charge', { used = used, part = part, window_ms = r.window_ms, at = r.now, debt = debt }
    end
    return {
      word = 'LEAKY',
      takes = ' COST PARTIAL BURST ',
      expiry_depends_on_policy = true,
      delays = true,
      prepare = prepare,
      decode = decode,
      encode = encode,
      expires_at = expires_at,
      expiry_after = expiry_after,
      load = load_record,
      decide = decide,
      forecast = forecast,
      wait = wait,
      commit = commit_record,
      refund = refund,
      overcharge = overcharge,
    }
  elseif word == 'GCRA' then
    local function require_tolerance(r)
      if less(MAX_TOLERANCE, r.tolerance) then
        fail('SPAN')
      end
    end
    local function decode_rare(text)
      local digits = digits_up_to(text, '18446744073709551615')
      if not digits then
        return nil
      end
      return { micros = #digits > 3 and from_text(digits:sub(1, -4)) or 0, nanos = digits:sub(-3) + 0 }
    end
    local function encode_rare(tat)
      return tat.micros == 0 and format('%d', tat.nanos) or text_of(tat.micros) .. format('%03d', tat.nanos)
    end
    local function prepare(r)
      r.interval, r.tolerance = 0, 0
      if r.limit > 0 then
        local window_ns = mul(r.window, 1000)
        if less(window_ns, r.limit) then
          fail('SPAN')
        end
        r.interval = divide_up(window_ns, r.limit)
        r.tolerance = mul(r.capacity, r.interval)
        if r.tolerance - r.tolerance ~= 0 then
          require_tolerance(r)
        end
      end
    end
    local function decode(text)
      local micros, nanos = match(text, '^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$')
      if not micros or micros:byte() > 56 then
        return decode_rare(text)
      end
      return { micros = micros + 0, nanos = nanos + 0 }
    end
    local function encode(tat)
      local micros = tat.micros
      if micros - micros ~= 0 or micros < 1000000 then
        return encode_rare(tat)
      end
      return format('%.0f%03d', micros, tat.nanos)
    end
    local function expires_at(_, tat)
      return divide_up(tat.nanos == 0 and tat.micros or add(tat.micros, 1), 1000)
    end
    local function tat_of(r, ahead)
      local micros, nanos = divide(ahead, 1000)
      return { micros = add(r.now, micros), nanos = nanos }
    end
    local function ahead_of(r, tat)
      local ahead, tolerance = 0, r.tolerance
      if tat and not less(tat.micros, r.now) then
        ahead = add(mul(sub(tat.micros, r.now), 1000), tat.nanos)
        if less(tolerance, ahead) then
          return tolerance, true
        end
      end
      return ahead, false
    end
    local function used_of(r, ahead)
      return r.interval == 0 and 0 or divide_up(ahead, r.interval)
    end
    local function set_forecast(r, ahead)
      r.ahead = ahead
      r.remaining = r.interval == 0 and 0 or sub(r.capacity, used_of(r, ahead))
    end
    local function forecast(r, _, tat)
      set_forecast(r, (ahead_of(r, tat)))
    end
    local function wait(r, cost)
      local interval = r.interval
      if interval == 0 or cost > r.capacity then
        return nil
      end
      return divide_up(sub(r.ahead, sub(r.tolerance, mul(cost, interval))), 1000000)
    end
    local function decide(r, cost)
      local ahead, beyond = ahead_of(r, r.state)
      local interval = r.interval
      local after = add(ahead, mul(cost == 0 and 1 or cost, interval))
      local allowed = interval ~= 0 and not less(r.tolerance, after)
      r.allowed, r.count, r.change = allowed, exact(used_of(r, ahead)), 'keep'
      if allowed and cost == 0 then
        r.ttl = exact(divide_up(ahead, 1000000000))
      elseif allowed then
        r.change, r.after = 'charge', tat_of(r, after)
        r.ttl = exact(divide_up(after, 1000000000))
      else
        if beyond and interval ~= 0 then
          r.change, r.after = 'rebase', tat_of(r, ahead)
        end
        set_forecast(r, ahead)
        r.ttl = ttl_of_denial(r, cost)
      end
    end
    local function refund(r, _, cost)
      local ahead = ahead_of(r, r.state)
      local refunded = mul(cost, r.interval)
      if ahead == 0 or refunded == 0 then
        return 'keep'
      elseif not less(refunded, ahead) then
        return 'delete'
      end
      return 'refund', tat_of(r, sub(ahead, refunded))
    end
    local function overcharge(r, _, cost)
      if cost == 0 or r.interval == 0 then
        return 'keep'
      end
      local ahead = ahead_of(r, r.state)
      return 'charge', tat_of(r, min(add(ahead, mul(cost, r.interval)), r.tolerance))
    end
    return {
      word = 'GCRA',
      takes = ' COST PARTIAL BURST ',
      prepare = prepare,
      decode = decode,
      encode = encode,
      expires_at = expires_at,
      expiry_after = expiry_after,
      load = load_record,
      decide = decide,
      forecast = forecast,
      wait = wait,
      commit = commit_record,
      refund = refund,
      overcharge = overcharge,
    }
  elseif word == 'ROLLING' then
    local MOMENTS = 4096
    local MAX_ENTRIES = 8192
    local HALF = 2 ^ 32
    local function ms_at(text, n)
      local a, b, c, d, e, f, g = byte_of(text, 15 * n + 3, 15 * n + 9)
      if g >= 32 then
        fail('INEXACT_STATE')
      end
      return a + 256 * (b + 256 * (c + 256 * (d + 256 * (e + 256 * (f + 256 * g)))))
    end
    local function total_at(text, n)
      local a, b, c, d, e, f, g, h = byte_of(text, 15 * n + 10, 15 * n + 17)
      return e + 256 * (f + 256 * (g + 256 * h)), a + 256 * (b + 256 * (c + 256 * d))
    end
    local function bytes_of(ms, hi, lo)
      local a, b = ms % 16777216, hi % 65536
      local c, d = lo % 65536, (ms - ms % 16777216) / 16777216
      local e, f, g = (hi - b) / 65536, (lo - c) / 65536, d % 65536
      return char_of(
        a % 256, (a - a % 256) / 256 % 256, (a - a % 65536) / 65536,
        g % 256, (g - g % 256) / 256, (d - g) / 65536 % 256, (d - d % 16777216) / 16777216,
        c % 256, (c - c % 256) / 256, f % 256, (f - f % 256) / 256,
        b % 256, (b - b % 256) / 256, e % 256, (e - e % 256) / 256
      )
    end
    local function units_between(hi, lo, hi_before, lo_before)
      local units = (hi - hi_before) * HALF + (lo - lo_before)
      return units < 0 and units + HALF * HALF or units
    end
    local function sum_of(hi, lo, other_hi, other_lo)
      hi, lo = hi + other_hi, lo + other_lo
      if lo >= HALF then
        hi, lo = hi + 1, lo - HALF
      end
      return hi % HALF, lo, hi >= HALF
    end
    local function halves_of(units)
      local lo = units % HALF
      return (units - lo) / HALF, lo
    end
    local function count_through(text, len, ms)
      if len == 0 or ms_at(text, len - 1) <= ms then
        return len
      end
      local base, size = 0, len
      while size > 1 do
        local half = (size - size % 2) / 2
        if ms_at(text, base + half) <= ms then
          base = base + half
        end
        size = size - half
      end
      return ms_at(text, base) <= ms and base + 1 or base
    end
    local function read(r, text)
      local len = (#text - 2) / 15
      if part_of(text, 1, 2) ~= 'R:' or len % 1 ~= 0 or len < 1 or len > MAX_ENTRIES then
        return nil
      end
      local expired, first, hi, lo = r.now_ms - r.window_ms, 0, 0, 0
      if expired >= 0 and ms_at(text, 0) <= expired then
        first = count_through(text, len, expired)
        hi, lo = total_at(text, first - 1)
        local last_hi, last_lo = total_at(text, len - 1)
        if last_hi < hi or (last_hi == hi and last_lo < lo) then
          return nil
        end
      end
      return { text = text, len = len, first = first, hi = hi, lo = lo }
    end
    local function load(r)
      local text = call('GET', r.key)
      if text then
        r.state = read(r, text) or fail_with_foreign_value(text, 'ROLLING', 'FOREIGN_VALUE')
      end
    end
    local function units_through(log, n)
      local hi, lo = total_at(log.text, n)
      return units_between(hi, lo, log.hi, log.lo)
    end
    local function units_of(log)
      return log and log.len > 0 and units_through(log, log.len - 1) or 0
    end
    local function same_moment(r, a, b)
      local window_ms = r.window_ms
      if a == b then
        return true
      elseif window_ms <= MOMENTS or math.abs(a - b) >= window_ms / MOMENTS + 1 then
        return false
      end
      return (divide(mul(a, MOMENTS), window_ms)) == (divide(mul(b, MOMENTS), window_ms))
    end
    local function edited(log, kept, entry, rest, overflows)
      local text, before, first = log.text, log.len, log.first
      local len, offset = kept + (before - rest) + 1, 15 * kept + 2
      local after = { text = part_of(text, 1, offset) .. entry, len = len, first = first, hi = log.hi, lo = log.lo }
      after.write, after.offset, after.bytes = 'SETRANGE', offset, entry
      if rest < before then
        after.bytes = entry .. part_of(text, 15 * rest + 3)
        after.text = part_of(text, 1, offset) .. after.bytes
      elseif kept == before then
        after.write = 'APPEND'
      end
      if before == 0 or (first > 0 and first * 2 >= before) or overflows or len < before or len > MAX_ENTRIES then
        after.write = 'SET'
      end
      return after
    end
    local function moved(text, from, to, cap_hi, cap_lo, hi, lo)
      local parts = {}
      for n = from, to - 1 do
        local moved_hi, moved_lo = cap_hi, cap_lo
        if not cap_hi then
          moved_hi, moved_lo = total_at(text, n)
          moved_hi, moved_lo = sum_of(moved_hi, moved_lo, hi, lo)
        end
        parts[#parts + 1] = bytes_of(ms_at(text, n), moved_hi, moved_lo)
      end
      return table.concat(parts)
    end
    local function charged_before(r, log, index, at, hi, lo, overflows)
      local text, len, kept, rest = log.text, log.len, index, index
      local total_hi, total_lo, ms = log.hi, log.lo, at
      if index > log.first then
        total_hi, total_lo = total_at(text, index - 1)
      end
      if index > log.first and same_moment(r, ms_at(text, index - 1), at) then
        kept = index - 1
      elseif same_moment(r, ms_at(text, index), at) then
        ms, rest = ms_at(text, index), index + 1
        total_hi, total_lo = total_at(text, index)
      end
      total_hi, total_lo = sum_of(total_hi, total_lo, hi, lo)
      local later = moved(text, rest, len, nil, nil, hi, lo)
      local whole = { text = part_of(text, 1, 15 * rest + 2) .. later, len = len, first = log.first, hi = log.hi, lo = log.lo }
      return edited(whole, kept, bytes_of(ms, total_hi, total_lo), rest, overflows)
    end
    local function charged(r, log, at, units)
      local text, len = log.text, log.len
      local index = count_through(text, len, at)
      local hi, lo = halves_of(units)
      local total_hi, total_lo, overflows, kept = log.hi, log.lo, false, len
      if len > 0 then
        local last_hi, last_lo = total_at(text, len - 1)
        total_hi, total_lo, overflows = sum_of(last_hi, last_lo, hi, lo)
        if index < len then
          return charged_before(r, log, index, at, hi, lo, overflows)
        elseif len > log.first then
          kept = same_moment(r, ms_at(text, len - 1), at) and len - 1 or len
        else
          total_hi, total_lo = sum_of(log.hi, log.lo, hi, lo)
        end
      else
        total_hi, total_lo = hi, lo
      end
      return edited(log, kept, bytes_of(at, total_hi, total_lo), len, overflows)
    end
    local function moved_to_now(r, log)
      local text, now_ms = log.text, r.now_ms
      local index = count_through(text, log.len, now_ms)
      local joins = index > log.first and same_moment(r, ms_at(text, index - 1), now_ms)
      local hi, lo = total_at(text, log.len - 1)
      return edited(log, joins and index - 1 or index, bytes_of(now_ms, hi, lo), log.len, false)
    end
    local function rewritten(r, log)
      local text, entries = log.text, {}
      for n = log.first, log.len - 1 do
        local hi, lo = total_at(text, n)
        hi, lo = sum_of(hi, lo, (HALF - log.hi - (log.lo > 0 and 1 or 0)) % HALF, (HALF - log.lo) % HALF)
        local last = entries[#entries]
        if (last or hi > 0 or lo > 0) and not (last and last.hi == hi and last.lo == lo) then
          entries[#entries + 1] = { ms = ms_at(text, n), hi = hi, lo = lo }
        end
      end
      if #entries > MOMENTS + 1 then
        local merged = {}
        for _, entry in ipairs(entries) do
          local joins = #merged > 0 and same_moment(r, entry.ms, merged[#merged].ms)
          merged[joins and #merged or #merged + 1] = entry
        end
        entries = merged
      end
      if #entries > MAX_ENTRIES then
        local last, ahead = entries[#entries], 0
        while ahead < #entries and entries[ahead + 1].ms <= r.now_ms do
          ahead = ahead + 1
        end
        for n = #entries, math.min(ahead, MAX_ENTRIES - 1) + 1, -1 do
          entries[n] = nil
        end
        entries[#entries + 1] = last
      end
      local parts = { 'R:' }
      for n, entry in ipairs(entries) do
        parts[n + 1] = bytes_of(entry.ms, entry.hi, entry.lo)
      end
      return table.concat(parts)
    end
    local function forecast(r, _, log)
      local units = units_of(log)
      r.log, r.units, r.remaining = log, units, units < r.limit and r.limit - units or 0
    end
    local function wait(r, cost)
      local room, log, units = r.limit - cost, r.log, r.units
      if room < 0 then
        return nil
      elseif units <= room then
        return 0
      end
      local must_leave, low, high = units - room, log.first, log.len - 1
      if units_through(log, low) >= must_leave then
        high = low
      elseif units_through(log, high > 0 and high - 1 or 0) < must_leave then
        low = high
      end
      while low < high do
        local middle = (low + high - (low + high) % 2) / 2
        if units_through(log, middle) >= must_leave then
          high = middle
        else
          low = middle + 1
        end
      end
      local left = ms_at(log.text, low) + r.window_ms - r.now_ms
      return left > 0 and left or 0
    end
    local function decide(r, cost)
      local log, limit = r.state, r.limit
      local units = units_of(log)
      local allowed = units + (cost == 0 and 1 or cost) <= limit
      r.allowed, r.count, r.change = allowed, exact(units), 'keep'
      if allowed and cost > 0 then
        r.change = 'charge'
        r.after = charged(r, log or { text = 'R:', len = 0, first = 0, hi = 0, lo = 0 }, r.now_ms, cost)
      elseif not allowed and units > 0 and ms_at(log.text, log.len - 1) > r.now_ms then
        r.change, r.after = 'rebase', moved_to_now(r, log)
      end
      forecast(r, r.change, state_after(r.change, r.after, log))
      if allowed then
        r.ttl = seconds_of(exact(wait(r, limit)))
      else
        r.ttl = ttl_of_denial(r, cost)
      end
    end
    local function set_whole(r, after, expires_at, held)
      local key, text = r.key, after.write == 'SET' and rewritten(r, after) or after.text
      if expires_at then
        call('SET', key, text, 'PXAT', text_of(expires_at))
      elseif held then
        call('SET', key, text, 'KEEPTTL')
      end
    end
    local function commit(r, change, after)
      local key, before = r.key, r.state
      if change == 'delete' then
        call('UNLINK', key)
        return
      end
      local held = before and not r.begins_anew and expiry_of(key, r.now_ms) or nil
      local expires_at = new_log_expiry(r, held)
      if change ~= 'keep' then
        local write = after.write
        if write == 'SET' or r.gave_back then
          set_whole(r, after, expires_at, held)
          return
        elseif write == 'APPEND' then
          call('APPEND', key, after.bytes)
        else
          call('SETRANGE', key, format('%d', after.offset), after.bytes)
        end
      elseif units_of(before) == 0 then
        return
      end
      set_expiry(key, expires_at)
    end
    local function refund(r, at_ms, cost)
      local log = r.state
      if not log then
        return 'keep'
      end
      local text, last = log.text, log.len
      if at_ms then
        at_ms = at_ms - at_ms == 0 and at_ms or (2 ^ 53)
        last = count_through(text, log.len, at_ms)
        local is_exact = last > log.first and ms_at(text, last - 1) == at_ms
        if not is_exact and last < log.len and same_moment(r, ms_at(text, last), at_ms) then
          last = last + 1
        end
      end
      local units, cap_hi, cap_lo = 0, log.hi, log.lo
      if last > log.first then
        units = units_through(log, last - 1)
        cap_hi, cap_lo = total_at(text, last - 1)
      end
      local count = math.min(cost, units)
      if count == 0 then
        return 'keep'
      elseif count == units_of(log) then
        return 'delete'
      end
      local hi, lo = halves_of(count)
      hi, lo = (HALF - hi - (lo > 0 and 1 or 0)) % HALF, (HALF - lo) % HALF
      cap_hi, cap_lo = sum_of(cap_hi, cap_lo, hi, lo)
      local start = last
      while start > 0 do
        local total_hi, total_lo = total_at(text, start - 1)
        if total_hi < cap_hi or (total_hi == cap_hi and total_lo <= cap_lo) then
          break
        end
        start = start - 1
      end
      local bytes = moved(text, start, last, cap_hi, cap_lo) .. moved(text, last, log.len, nil, nil, hi, lo)
      local after = { text = part_of(text, 1, 15 * start + 2) .. bytes, len = log.len, first = log.first }
      after.hi, after.lo, after.write, after.offset, after.bytes = log.hi, log.lo, 'SETRANGE', 15 * start + 2, bytes
      if log.first > 0 and log.first * 2 >= log.len then
        after.write = 'SET'
      end
      return 'refund', after
    end
    local function overcharge(r, at_ms, cost)
      local now_ms, log = r.now_ms, r.state
      at_ms = at_ms and less(at_ms, now_ms) and at_ms or now_ms
      if cost == 0 or (at_ms < now_ms and at_ms <= now_ms - r.window_ms) then
        return 'keep'
      end
      local units = units_of(log) + cost
      if units >= (2 ^ 53) then
        fail(units > 2 ^ 63 and 'OVERFLOW' or 'INEXACT_REPLY')
      end
      return 'charge', charged(r, log or { text = 'R:', len = 0, first = 0, hi = 0, lo = 0 }, at_ms, cost)
    end
    local function counts_until(r)
      return r.now_ms + r.window_ms
    end
    local function give_back(r, all_ended)
      local log, entries, before, changed = r.state, {}, 0, false
      for n = log and log.first or 0, log and log.len - 1 or -1 do
        local through = exact(units_through(log, n))
        entries[#entries + 1] = { ms = ms_at(log.text, n), units = math.max(0, through - before) }
        before = math.max(before, through)
      end
      local reached, older = 0, {}
      for _, one in ipairs(all_ended) do
        local at, left = one.was.charged_at, one.was.cost
        if left > 0 and r.now_ms < one.was.counts_until then
          local last = 0
          while entries[last + 1] and entries[last + 1].ms <= at do
            last = last + 1
          end
          local is_exact = last > 0 and entries[last].ms == at
          if not is_exact and entries[last + 1] and same_moment(r, entries[last + 1].ms, at) then
            last = last + 1
          end
          for n = reached + 1, last do
            older[#older + 1] = entries[n]
          end
          reached = math.max(reached, last)
          while left > 0 and #older > 0 do
            local newest = older[#older]
            local taken = math.min(left, newest.units)
            newest.units, left = newest.units - taken, left - taken
            one.given_back = one.given_back or taken > 0
            if newest.units == 0 then
              older[#older] = nil
            end
          end
          changed = changed or one.given_back
        end
      end
      if not changed then
        return
      end
      local parts, total = { 'R:' }, 0
      for _, entry in ipairs(entries) do
        if entry.units > 0 then
          total = total + entry.units
          parts[#parts + 1] = bytes_of(entry.ms, halves_of(total))
        end
      end
      r.gave_back, r.stored = true, r.state
      r.state = #parts > 1 and read(r, table.concat(parts)) or nil
      r.begins_anew = not r.state
    end
    local function settle_reserved(r, charge, actual)
      local reserved = charge.cost or 0
      if charge.counts_until <= r.now_ms then
        return 'keep'
      elseif actual < reserved then
        return refund(r, charge.charged_at, reserved - actual)
      end
      return overcharge(r, charge.charged_at, actual - reserved)
    end
    return {
      word = 'ROLLING',
      takes = ' COST PARTIAL ALWAYS RESERVE RESERVATION ',
      load = load,
      decide = decide,
      forecast = forecast,
      wait = wait,
      commit = commit,
      counts_until = counts_until,
      give_back = give_back,
      refund = refund,
      overcharge = overcharge,
      settle_reserved = settle_reserved,
    }
  elseif word == 'LEASE' then
    local function end_of_score(score)
      return score < 2 ^ 64 and math.max(0, math.ceil(score)) or (1 / 0)
    end
    local function end_of(r, id)
      local score = r.len > 0 and call('ZSCORE', r.key, id)
      local ends = score and end_of_score(tonumber(score))
      return ends and ends > r.now_ms and ends or nil
    end
    local function load(r, purpose)
      load_set(r, '-inf', r.now_ms, purpose)
      r.own = r.ID and end_of(r, r.ID)
      r.others = r.own and r.len - 1 or r.len
    end
    local function end_of_lease(r, n)
      local score = score_at(r.key, n + r.expired)
      return score and end_of_score(score) or (1 / 0)
    end
    local function end_of_other(r, n)
      local ends = end_of_lease(r, n)
      return r.own and ends >= r.own and end_of_lease(r, n + 1) or ends
    end
    local function end_with_own(r, n, own_end)
      if n < r.others then
        local ends = end_of_other(r, n)
        if ends <= own_end then
          return ends
        end
      end
      return n > 0 and math.max(end_of_other(r, n - 1), own_end) or own_end
    end
    local function leaves_at(r, n)
      local ends = r.hold and end_with_own(r, n, r.hold) or end_of_lease(r, n)
      return ends ~= (1 / 0) and ends or nil
    end
    local function forecast(r, change, after)
      r.hold = change == 'charge' and after.hold or nil
      r.held = r.hold and r.others + 1 or r.len
      r.remaining = math.max(0, r.limit - r.held)
    end
    local function wait(r, cost)
      return wait_in_order(r, cost, r.held, leaves_at, nil)
    end
    local function decide(r)
      local now_ms, limit, own, others = r.now_ms, r.limit, r.own, r.others
      local allowed = limit > 0 and (own ~= nil or others < limit)
      local ends = now_ms + r.window_ms
      r.allowed, r.count, r.change = allowed, others, 'keep'
      if allowed and own ~= ends then
        r.change, r.after = 'charge', { hold = ends }
      end
      if allowed then
        r.ttl = exact(divide_up(sub(mul(ends, 1000), r.now), 1000000))
      else
        forecast(r, 'keep')
        r.ttl = ttl_of_denial(r, 1)
      end
    end
    local function expire_with_the_last(key, last, held)
      if last >= (2 ^ 53) or held ~= last then
        call('PEXPIREAT', key, last < 2 ^ 63 and format('%.0f', last) or '9223372036854775807')
      end
    end
    local function last_end(key)
      local score = score_at(key, -1)
      return score and end_of_score(score)
    end
    local function move_ends(key, ends, holders, now_ms)
      local held = expiry_of(key, now_ms)
      rescore(key, format('%.0f', ends), holders)
      expire_with_the_last(key, last_end(key), held)
    end
    local function commit(r, change, after)
      local key, now_ms = r.key, r.now_ms
      if change == 'delete' then
        call('UNLINK', key)
      elseif change == 'keep' then
        if r.len > 0 then
          expire_with_the_last(key, last_end(key), expiry_of(key, now_ms))
        end
      elseif r.ID then
        local held = r.exists and expiry_of(key, now_ms) or nil
        if r.own then
          call('ZADD', key, 'XX', format('%.0f', after.hold), r.ID)
        else
          call('ZADD', key, format('%.0f', after.hold), r.ID)
        end
        expire_with_the_last(key, r.others + r.expired == 0 and after.hold or last_end(key), held)
      end
    end
    local function units_charged(r)
      return r.own and 0 or 1
    end
    local function holding(r, ids)
      load_set(r, '-inf', r.now_ms, 'write')
      local held = {}
      for _, id in ipairs(ids) do
        held[#held + 1] = end_of(r, id) and id
      end
      return held
    end
    local function release(r, ids)
      local released = call_in_parts({ 'ZREM', r.key }, holding(r, ids))
      local last = r.len > 0 and last_end(r.key)
      if last then
        expire_with_the_last(r.key, last, expiry_of(r.key, r.now_ms))
      end
      return released
    end
    local function renew(r, ids)
      local holders = holding(r, ids)
      if #holders > 0 then
        move_ends(r.key, r.now_ms + r.window_ms, holders, r.now_ms)
      end
      return #holders
    end
    return {
      word = 'LEASE',
      takes = ' ID ',
      no_correction = 'LEASE_CORRECTION',
      quota_unit = 'concurrent-requests',
      units_charged = units_charged,
      load = load,
      decide = decide,
      forecast = forecast,
      wait = wait,
      commit = commit,
      release = release,
      renew = renew,
    }
  elseif word == 'LOCKOUT' then
    local function prepare(r)
      local block = r.BLOCK or r.window_ms
      local longest = r.MAX or math.max(block, 86400000)
      if longest < block then
        fail('MAX_BELOW_BLOCK')
      end
      r.block, r.longest = block, longest
    end
    local function decode(text)
      local attempts, start, last, lock, level = words_of(text, '^O:(%d+):(%d+):(%d+):(%d+):(%d+)$')
      if not attempts or not start or not last or not lock or #level > 2 or level + 0 > 64 then
        return nil
      elseif less(last, start) or less(1e15, lock) then
        return nil
      elseif attempts - attempts ~= 0 or last - last ~= 0 then
        if is_beyond_count(attempts) or is_beyond_count(mul(last, 1000)) then
          return nil
        end
        fail('INEXACT_STATE')
      end
      return { attempts = attempts, start = start, last = last, lock = lock, level = level + 0 }
    end
    local function encode(state)
      local start, last = text_of(state.start), text_of(state.last)
      return format('O:%s:%s:%s:%s:%d', text_of(state.attempts), start, last, text_of(state.lock), state.level)
    end
    local function known(r, state)
      local now_ms = r.now_ms
      if not state or state.last <= now_ms then
        return state
      end
      local start = math.min(state.start, now_ms)
      return { attempts = state.attempts, start = start, last = now_ms, lock = state.lock, level = state.level }
    end
    local function is_locked(r, state)
      return state and r.now_ms < state.last + state.lock
    end
    local function running(r, state)
      local ends = state and (state.lock > 0 and state.last + state.lock or state.start + r.window_ms)
      if ends and r.now_ms < ends and state.attempts > 0 then
        return state.attempts, state.start
      end
      return 0, r.now_ms
    end
    local function level_after(r, state)
      if state.lock == 0 then
        return state.level
      end
      local top, length = 0, r.block
      while length < r.longest do
        top, length = top + 1, 2 * length
      end
      return math.min(state.level + 1, top)
    end
    local function level_now(r, state)
      local quiet = math.max(0, r.now_ms - state.last - state.lock)
      return math.max(0, level_after(r, state) - (divide(quiet, r.longest)))
    end
    local function expires_at(r, state)
      local at = add(state.last + state.lock, mul(level_after(r, state), r.longest))
      if at - at ~= 0 then
        return min(at, divide_up(MAX_UNSIGNED, 1000))
      end
      return math.max(at, state.start + r.window_ms)
    end
    local function set_forecast(r, state)
      local attempts, start = running(r, state)
      if is_locked(r, state) then
        r.ends_at, r.remaining = state.last + state.lock, 0
      else
        r.ends_at, r.remaining = start + r.window_ms, math.max(0, r.limit - attempts)
      end
    end
    local function forecast(r, _, state)
      set_forecast(r, known(r, state))
    end
    local function wait(r, cost)
      local limit, free = r.limit, r.remaining
      if cost > limit or limit == 0 then
        return nil
      elseif cost <= free and free > 0 then
        return 0
      end
      return r.ends_at - r.now_ms
    end
    local function decide(r, cost)
      local now_ms, limit, state = r.now_ms, r.limit, known(r, r.state)
      local attempts, start = running(r, state)
      local after = attempts + (cost == 0 and 1 or cost)
      local allowed = not is_locked(r, state) and after <= limit
      r.allowed, r.count, r.change = allowed, attempts, 'keep'
      if allowed and cost > 0 then
        local level, lock = state and level_now(r, state) or 0, 0
        if after == limit then
          lock = math.min(r.block * 2 ^ level, r.longest)
        end
        state = { attempts = after, start = start, last = now_ms, lock = lock, level = level }
        r.change, r.after = 'charge', state
      elseif state ~= r.state and less(now_ms, expires_at(r, state)) then
        r.change, r.after = 'rebase', state
      end
      set_forecast(r, state)
      if allowed then
        r.ttl = seconds_of(wait(r, limit))
      else
        r.ttl = ttl_of_denial(r, cost)
      end
    end
    local function commit(r, change, after)
      if change == 'delete' then
        call('UNLINK', r.key)
      elseif change ~= 'keep' then
        call('SET', r.key, encode(after), 'PXAT', text_of(expires_at(r, after)))
      end
    end
    local function in_shadow(_, change, after)
      if change == 'rebase' then
        return 'keep'
      end
      return change, after
    end
    local function refund(r, at_ms, cost)
      local state = known(r, r.state)
      local attempts, start = running(r, state)
      if attempts == 0 or cost == 0 or at_ms and less(at_ms, start) then
        return 'keep'
      end
      attempts = math.max(0, attempts - cost)
      local refunded = { attempts = attempts, start = start, last = state.last, lock = 0, level = state.level }
      if running(r, refunded) == 0 and level_now(r, refunded) == 0 then
        return 'delete'
      end
      return 'refund', refunded
    end
    return {
      word = 'LOCKOUT',
      takes = ' COST BLOCK MAX ',
      no_correction = 'NO_SETTLEMENT',
      prepare = prepare,
      decode = decode,
      load = load_record,
      decide = decide,
      forecast = forecast,
      wait = wait,
      commit = commit,
      in_shadow = in_shadow,
      refund = refund,
    }
  end
end
local function build_named(word)
  word = word:upper()
  local algorithm = ALGORITHMS[word]
  if not algorithm then
    algorithm = build_algorithm(word) or fail('ALGORITHM')
    ALGORITHMS[word] = algorithm
  end
  return algorithm
end
local function select_algorithm(word)
  return ALGORITHMS[word] or build_named(word)
end
local function selected(words)
  local word = words[1]
  if not words[2] then
    fail('ARITY')
  end
  return select_algorithm(word)
end
local OPTIONS = {
  { 'COST', 'COST n', 'RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take' },
  { 'PARTIAL', 'PARTIAL', 'RL.<ALGO> and RL.PEEK take' },
  { 'ALWAYS', 'ALWAYS', 'RL.<ALGO> and RL.PEEK take' },
  { 'RESERVED', 'RESERVED n', 'RL.SETTLE takes' },
  { 'ACTUAL', 'ACTUAL m', 'RL.SETTLE takes' },
  { 'AT', 'AT ms', 'RL.REFUND and RL.SETTLE take' },
  { 'BURST', 'BURST n', 'RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND and RL.SETTLE take' },
  { 'BLOCK', 'BLOCK d', 'RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take' },
  { 'MAX', 'MAX d', 'RL.<ALGO>, RL.PEEK, RL.MULTI and RL.REFUND take' },
  { 'ANCHOR', 'ANCHOR t', 'RL.<ALGO>, RL.PEEK, RL.MULTI, RL.REFUND, RL.SETTLE and RL.RESET take' },
  { 'ID', 'ID id', 'RL.<ALGO>, RL.PEEK and RL.MULTI take' },
  { 'AS', 'AS name', 'RL.<ALGO>, RL.PEEK and RL.MULTI take' },
  { 'SHADOW', 'SHADOW', 'RL.<ALGO>, RL.PEEK and RL.MULTI take' },
  { 'RESERVE', 'RESERVE id ttl', 'RL.<ALGO> and RL.MULTI take' },
  { 'RESERVATION', 'RESERVATION id', 'RL.SETTLE takes' },
}
local function require_option(row, r, accepted)
  local option, algorithm = row[1], r.algorithm
  if not is_in(accepted, option) then
    fail_with(format('ERR invalid %s: only %s it', option, row[3]))
  elseif not takes(r, option) then
    fail_with(format('ERR invalid %s: %s takes none', option, algorithm.word))
  elseif r[option] ~= nil then
    fail_with(format('ERR syntax error: %s comes at most once', row[2]))
  end
end
local UNITS = { ms = 1, [''] = 1000, s = 1000, m = 60000, h = 3600000, d = 86400000 }
local function parse_window(text)
  local number, unit = match(text, '^(%d+)(%l*)$')
  local ms = number and UNITS[unit] and digits_up_to(number, '18446744073709551615') and number * UNITS[unit]
  return ms and ms >= 1 and ms <= 1e15 and ms or nil
end
local function parse_id(text, most)
  return text and #text >= 1 and #text <= most and text
end
local function parse_count(name, text, least)
  local digits = text and digits_up_to(text, '9223372036854775807')
  local n = digits and from_text(digits)
  if not n or n == 0 and least > 0 then
    fail_with(format('ERR invalid %s: expected an integer from %d to 9223372036854775807', name, least))
  elseif n - n ~= 0 then
    fail_with(format('ERR invalid %s: the Lua library takes integers up to 9007199254740991', name))
  end
  return n
end
local function parse_value(option, text, second)
  if option == 'RESERVE' then
    local ttl = second and parse_window(second)
    return parse_id(text, 128) and ttl and { id = text, ttl = ttl } or fail('RESERVE')
  elseif option == 'RESERVATION' then
    return parse_id(text, 128) or fail('RESERVATION')
  end
  if option == 'BLOCK' or option == 'MAX' then
    local text_of_windows = 'expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
    return text and parse_window(text) or fail_with('ERR invalid ' .. option .. ': ' .. text_of_windows)
  end
  if option == 'ID' then
    return parse_id(text, 512) or fail('ID')
  end
  if option == 'ANCHOR' then
    local digits = text and digits_up_to(text, '253402300799')
    return digits and digits + 0 or fail('ANCHOR')
  end
  if option == 'AS' then
    return text and #text >= 1 and #text <= 64 and not find(text, '[^%w._-]') and text or fail('AS')
  elseif option == 'AT' then
    local digits = text and digits_up_to(text, '9223372036854775807')
    return digits and min(from_text(digits), (divide(MAX_UNSIGNED, 1000))) or fail('AT')
  end
  return parse_count(option, text, option == 'BURST' and 1 or 0)
end
local function require_compatible(r)
  if r.ALWAYS and (r.PARTIAL or r.RESERVE) then
    fail(r.PARTIAL and 'PARTIAL_AND_ALWAYS' or 'RESERVE_AND_ALWAYS')
  elseif r.RESERVATION and (r.RESERVED or r.AT) then
    fail(r.RESERVED and 'RESERVATION_AND_RESERVED' or 'RESERVATION_AND_AT')
  end
end
local FORMS = { FULL = true, LINE = true, HEADERS = true }
local function next_form(form, named)
  if form then
    fail(form == named and 'FORM_TWICE' or 'TWO_FORMS')
  end
  return named
end
local function parse_options(r, words, at, accepted)
  while words[at] do
    local word, row = words[at]:upper(), nil
    for _, known in ipairs(OPTIONS) do
      row = known[1] == word and known or row
    end
    if row then
      require_option(row, r, accepted)
      if row[2] == word then
        r[word] = true
        at = at + 1
      else
        r[word] = parse_value(word, words[at + 1], words[at + 2])
        at = at + (word == 'RESERVE' and 3 or 2)
      end
      require_compatible(r)
    elseif FORMS[word] and is_in(accepted, 'form') then
      r.form = next_form(r.form, word)
      at = at + 1
    else
      return at
    end
  end
  return at
end
local LONGEST = { DAY = 86400000, WEEK = 7 * 86400000, MONTH = 31 * 86400000, YEAR = 366 * 86400000 }
local function window_of(r, text)
  local algorithm = r.algorithm
  local window_ms = parse_window(text)
  if not window_ms then
    r.unit = text:upper()
    window_ms = LONGEST[r.unit]
    if not window_ms then
      fail(is_in(algorithm.takes, 'ANCHOR') and 'CALENDAR_WINDOW' or 'WINDOW')
    elseif not is_in(algorithm.takes, 'ANCHOR') then
      fail_with(format('ERR invalid window: %s takes no windows of the calendar', algorithm.word))
    end
  end
  return window_ms
end
local function parse_request(algorithm, words, at, accepted)
  local window, limit, option = words[at], words[at + 1], words[at + 2]
  if not limit then
    fail('ARITY')
  end
  local r = {
    algorithm = algorithm,
    key = '',
    now = 0,
    now_ms = 0,
    window_ms = 0,
    window = 0,
    limit = 0,
    capacity = 0,
    cost = 1,
    form = nil,
    delay = 0,
    state = nil,
    after = nil,
    allowed = false,
    count = 0,
    ttl = 0,
    change = 'keep',
    remaining = 0,
    decided_cost = 1,
  }
  at = at + 2
  if option == 'LINE' and not words[at + 1] and accepted ~= ' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ' then
    r.form, at = option, at + 1
  elseif option then
    local value = words[at + 1] or ''
    local is_short = accepted == ' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ' and words[at + 2] == 'LINE' and not words[at + 3] and #value < 16
    if is_short and option == 'COST' and algorithm.takes ~= ' ID ' and find(value, '^[1-9]%d*$') then
      r.form, r.cost, at = 'LINE', value + 0, at + 3
    elseif is_short and option == 'ID' and algorithm.takes == ' ID ' and value ~= '' then
      r.form, r.ID, at = 'LINE', value, at + 3
    else
      at = parse_options(r, words, at, accepted)
      r.cost = r.COST or 1
    end
    r.anchor_ms = r.ANCHOR and r.ANCHOR * 1000
  end
  local is_plain = #limit < 16 and find(limit, '^[1-9]%d*$')
  r.limit = is_plain and limit + 0 or parse_count('limit', limit, 0)
  is_plain = #window < 10 and find(window, '^[1-9]%d*$')
  local window_ms = is_plain and window * 1000 or window_of(r, window)
  r.window_ms, r.window, r.capacity = window_ms, window_ms < 9e12 and window_ms * 1000 or mul_large(window_ms, 1000), r.BURST or r.limit
  if algorithm.prepare then
    algorithm.prepare(r)
  end
  return r, at
end
local function is_nearly(word, option)
  local first, last = 0, 0
  local shorter, longer = math.min(#word, #option), math.max(#word, #option)
  while first < shorter and word:byte(first + 1) == option:byte(first + 1) do
    first = first + 1
  end
  while last < shorter - first and word:byte(-1 - last) == option:byte(-1 - last) do
    last = last + 1
  end
  return first + last >= 2 and longer - first - last <= 2
end
local function fail_with_usage(r, accepted, word)
  local options = {}
  for _, row in ipairs(OPTIONS) do
    if is_in(accepted, row[1]) and takes(r, row[1]) then
      options[#options + 1] = row[2]
    end
  end
  for _, form in ipairs({ 'FULL', 'LINE', 'HEADERS' }) do
    options[#options + 1] = form
  end
  for _, option in ipairs(options) do
    if is_nearly(word:upper(), match(option, '^%u+')) then
      fail_with('ERR syntax error: no such option, but there is ' .. option)
    end
  end
  local last = table.remove(options)
  local usage = table.concat(options, ', ')
  fail_with('ERR syntax error: after limit come ' .. usage .. ' or ' .. last .. ', each at most once')
end
local function require_few_members(members, text)
  if members > 1000 then
    fail(text)
  end
end
local function most_members_added(r)
  local algorithm = r.algorithm
  if not algorithm.adds_members then
    return 0
  elseif r.capacity < r.cost then
    return r.PARTIAL and r.capacity or 0
  end
  return r.cost
end
local function parse_all(words, accepted)
  local algorithm = selected(words)
  local r, at = parse_request(algorithm, words, 2, accepted)
  if words[at] then
    fail_with_usage(r, accepted, words[at])
  end
  if algorithm.adds_members and r.cost > 1000 then
    require_few_members(most_members_added(r), 'LOG_COST')
  end
  return r
end
local function number_of_field(text)
  local digits = digits_up_to(text, '9223372036854775807') or fail('FOREIGN_RESERVATION')
  local n = from_text(digits)
  return n - n == 0 and n or fail('INEXACT_STATE')
end
local function decode_field(text)
  local cost, charged_at, ends_at, counts_until, ttl = match(text, '^(%d*):(%d+):(%d+):(%d+):(%d+)$')
  if not cost or #ttl > 16 or tonumber(ttl) > 1e15 or ttl == '0' then
    fail('FOREIGN_RESERVATION')
  end
  return {
    cost = cost ~= '' and number_of_field(cost) or nil,
    charged_at = number_of_field(charged_at),
    ends_at = number_of_field(ends_at),
    counts_until = number_of_field(counts_until),
    ttl = number_of_field(ttl),
  }
end
local function review(book, found)
  book.ended, book.gone = {}, {}
  for _, one in ipairs(found) do
    if one.field.cost then
      book.ended[#book.ended + 1] = { id = one.id, was = one.field }
    elseif one.id ~= book.id then
      book.gone[#book.gone + 1] = one.id
    end
  end
  ended_left = math.max(0, ended_left - #book.ended - #book.gone)
  table.sort(book.ended, function(a, b)
    if a.was.charged_at ~= b.was.charged_at then
      return a.was.charged_at < b.was.charged_at
    end
    return bytes_before(a.id, b.id)
  end)
  book.reviewed = true
end
local function review_ordered(book)
  local first = call('ZRANGE', book.ends, '0', format('%.0f', ended_left), 'WITHSCORES')
  local ids, ends, found, own_found = {}, {}, {}, false
  book.next_end = nil
  for n = 1, #first, 2 do
    local ends_at = tonumber(first[n + 1])
    if ends_at > book.now_ms or #ids == ended_left then
      book.next_end = ends_at
      break
    end
    ids[#ids + 1], ends[#ends + 1] = first[n], ends_at
  end
  local texts = #ids > 0 and call('HMGET', book.key, unpack(ids)) or {}
  for n, id in ipairs(ids) do
    local field = texts[n] and decode_field(texts[n])
    if not field or field.ends_at ~= ends[n] then
      return false
    end
    found[n] = { id = id, field = field }
    own_found = own_found or id == book.id
  end
  if book.own and book.own.ends_at <= book.now_ms and not own_found then
    found[#found + 1] = { id = book.id, field = book.own }
  end
  review(book, found)
  local own_ended = 0
  for _, ended in ipairs(book.ended) do
    own_ended = ended.id == book.id and 1 or own_ended
  end
  local others_ended = #book.ended + #book.gone - own_ended
  book.needed = book.len - (book.stored and 1 or 0) == others_ended and 0 or nil
  return true
end
local function matters_until(field)
  return field.cost and math.max(field.ends_at + field.ttl, field.counts_until) or field.ends_at
end
local function review_all(book)
  local ended, stay, own = {}, {}, nil
  local all = call('HGETALL', book.key)
  for n = 1, #all, 2 do
    local id = all[n]
    if id ~= '' then
      local one = { id = id, field = decode_field(all[n + 1]) }
      if one.field.ends_at <= book.now_ms then
        ended[#ended + 1] = one
      elseif id ~= book.id then
        stay[#stay + 1] = one
      end
    end
  end
  if #ended > ended_left then
    table.sort(ended, function(a, b)
      if a.field.ends_at ~= b.field.ends_at then
        return a.field.ends_at < b.field.ends_at
      end
      return bytes_before(a.id, b.id)
    end)
    for n = #ended, ended_left + 1, -1 do
      local one = table.remove(ended, n)
      if one.id == book.id then
        own = one
      else
        stay[#stay + 1] = one
      end
    end
    ended[#ended + 1] = own
  end
  book.next_end, book.needed, book.order = nil, 0, stay
  for _, one in ipairs(stay) do
    book.next_end = math.min(book.next_end or one.field.ends_at, one.field.ends_at)
    book.needed = math.max(book.needed, matters_until(one.field))
  end
  review(book, ended)
end
local function add_to_order(book, most)
  local step = book.earliest == 1 and call('ZSCORE', book.ends, '')
  book.has_step = step and true or false
  book.next_end = nil
  if most > 0 then
    local found = call('HSCAN', book.key, step and text_of(-1 - tonumber(step)) or '0', 'COUNT', text_of(most))
    book.next_step, book.anew, book.order = tonumber(found[1]), not step, {}
    for n = 1, #found[2], 2 do
      local id = found[2][n]
      if id ~= '' and id ~= book.id then
        book.order[#book.order + 1] = { id = id, field = decode_field(found[2][n + 1]) }
      elseif id ~= '' then
        decode_field(found[2][n + 1])
      end
    end
    table.sort(book.order, function(a, b)
      return bytes_before(a.id, b.id)
    end)
    book.complete = book.next_step == 0
  end
  if book.own and book.own.ends_at <= book.now_ms then
    review(book, { { id = book.id, field = book.own } })
    book.needed = book.len == 1 and 0 or nil
  end
end
local function load_book(r, id)
  local key = r.hash
  local found = call('HMGET', key, id, '')
  local book = { key = key, ends = r.ends, id = id, now_ms = r.now_ms, ended = {}, gone = {} }
  book.stored = found[1] and decode_field(found[1]) or nil
  book.own = book.stored
  book.earliest = found[2] and number_of_field(found[2]) or nil
  book.len = call('HLEN', key) - (book.earliest and 1 or 0)
  book.expires_at = expiry_of(key, book.now_ms)
  book.order_len = call('ZCARD', book.ends)
  book.next_end = score_at(book.ends, 0)
  local ordered = book.len == book.order_len and (book.earliest == 0 or book.len == 0 and not book.earliest)
  local first_end = math.min(book.next_end or math.huge, book.own and book.own.ends_at or math.huge)
  book.complete = ordered and (first_end > book.now_ms or review_ordered(book))
  if not book.complete then
    local fields = book.len + (book.earliest and 1 or 0)
    local most = fields <= unordered_left and fields or math.min(unordered_left, 500)
    unordered_left = unordered_left - most
    if most == fields then
      book.complete, book.anew = true, true
      review_all(book)
    else
      add_to_order(book, most)
    end
  end
  return book
end
local function load_and_reserve(r)
  local algorithm = r.algorithm
  r.book = load_book(r, r.RESERVE.id)
  algorithm.load(r, 'write')
  decide_reserving(r)
end
local function decide_always(r)
  local algorithm = r.algorithm
  local cost = r.cost
  algorithm.decide(r, 0)
  local change, after = algorithm.overcharge(r, nil, cost)
  if cost > 0 then
    r.change, r.after = change, after
  end
  local state = state_after(r.change, r.after, r.state)
  algorithm.forecast(r, r.change, state)
  r.allowed = r.capacity > 0 and algorithm.wait(r, 0) == 0
  r.needed = r.capacity > 0 and cost or needed_for(cost)
  if algorithm.verdict_after then
    r.count, r.ttl = algorithm.verdict_after(state, r.now_ms)
  elseif r.allowed then
    r.ttl = seconds_of(exact(algorithm.wait(r, r.capacity)))
  else
    local wait = algorithm.wait(r, r.needed)
    r.ttl = wait and math.max(1, seconds_of(exact(wait))) or -1
  end
end
local function decide_rare(r)
  local algorithm = r.algorithm
  local cost = r.cost
  if r.PARTIAL then
    cost = math.min(cost, remaining_of(r))
  end
  r.decided_cost = cost
  if r.ALWAYS then
    decide_always(r)
  else
    algorithm.decide(r, cost)
  end
end
local function decide_request(r)
  local algorithm = r.algorithm
  if r.PARTIAL or r.ALWAYS then
    decide_rare(r)
  else
    local cost = r.cost
    r.decided_cost = cost
    algorithm.decide(r, cost)
  end
  if r.SHADOW then
    conclude(r)
  end
end
local function part_allowed(r)
  return r.open and r.open.cost or r.shadowed and r.cost or r.decided_cost
end
local function line(r, charged)
  local remaining, retry, next_ms, reset, delay = figures(r)
  local shadow = r.shadowed and 1 or 0
  return format(
    '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.0f',
    r.allowed and (r.PARTIAL and part_allowed(r) or 1) or 0, r.count, r.ttl, r.capacity, remaining, retry, next_ms, reset,
    delay, r.now_ms, shadow, charged
  )
end
local function first_integer(r)
  if not r.allowed then
    return 0
  end
  return r.PARTIAL and part_allowed(r) or 1
end
local function full(r, charged)
  local remaining, retry_after_ms, next_ms, reset_ms, delay_ms = figures(r)
  return {
    'allowed', first_integer(r),
    'count', r.count,
    'ttl', r.ttl,
    'limit', r.capacity,
    'remaining', remaining,
    'retry_after_ms', retry_after_ms,
    'next_ms', next_ms,
    'reset_ms', reset_ms,
    'delay_ms', delay_ms,
    'now_ms', r.now_ms,
    'shadow', r.shadowed and 1 or 0,
    'charged', charged,
  }
end
local function name_policies(requests)
  local taken = {}
  for _, r in ipairs(requests) do
    local algorithm = r.algorithm
    local first, number = r.AS or algorithm.word:lower(), 2
    r.name = first
    while taken[r.name] do
      r.name = format('%s-%d', first, number)
      number = number + 1
    end
    taken[r.name] = true
  end
end
local function header_integer(n)
  return format('%.0f', min(n, 999999999999999))
end
local function policy_item(r)
  local algorithm = r.algorithm
  if algorithm.quota_unit then
    local quota, window = header_integer(r.limit), header_integer(seconds_of(r.window_ms))
    return format('"%s";q=%s;w=%s;qu="%s"', r.name, quota, window, algorithm.quota_unit)
  end
  local window_ms = algorithm.window_at and algorithm.window_at(r) or r.window_ms
  local divisor, rest = 1000, window_ms % 1000
  while rest > 0 do
    divisor, rest = rest, divisor % rest
  end
  local windows = 1000 / divisor
  local window = divide(mul(window_ms, windows), 1000)
  return format('"%s";q=%s;w=%s', r.name, header_integer(mul(r.limit, windows)), header_integer(window))
end
local function is_stricter(one, other)
  if one.allowed ~= other.allowed then
    return not one.allowed
  end
  local wait, other_wait = one.retry_after_ms, other.retry_after_ms
  if wait ~= other_wait then
    return wait < 0 or (other_wait >= 0 and wait > other_wait)
  end
  return one.remaining < other.remaining
end
local function headers(requests)
  local strictest, policies = requests[1], {}
  name_policies(requests)
  for n, r in ipairs(requests) do
    policies[n] = policy_item(r)
    r.remaining, r.retry_after_ms, r.next_ms, r.reset_ms = figures(r)
    if is_stricter(r, strictest) then
      strictest = r
    end
  end
  local r = strictest
  local texts = {
    'X-RateLimit-Limit',
    format('%.0f', r.capacity),
    'X-RateLimit-Remaining',
    format('%.0f', r.remaining),
  }
  local function header(name, value)
    texts[#texts + 1] = name
    texts[#texts + 1] = value
  end
  if r.reset_ms >= 0 then
    header('X-RateLimit-Reset', format('%.0f', seconds_of(r.now_ms + r.reset_ms)))
  end
  header('RateLimit-Policy', table.concat(policies, ', '))
  local more = r.next_ms >= 0 and ';t=' .. header_integer(seconds_of(r.next_ms)) or ''
  header('RateLimit', format('"%s";r=%s%s', r.name, header_integer(r.remaining), more))
  if not r.allowed and r.retry_after_ms >= 0 then
    header('Retry-After', format('%.0f', seconds_of(r.retry_after_ms)))
  end
  return texts
end
local function other_reply(r, charged)
  if r.form == 'FULL' then
    return full(r, charged)
  end
  return { first_integer(r), r.count, r.ttl, headers({ r }) }
end
local function reply(r, charged)
  local form = r.form
  if form == 'LINE' then
    return line(r, charged)
  elseif form then
    return other_reply(r, charged)
  end
  return { r.allowed and (r.PARTIAL and part_allowed(r) or 1) or 0, r.count, r.ttl }
end
local function charged_by(r)
  local algorithm = r.algorithm
  if r.open then
    return r.open.cost
  end
  if r.change ~= 'charge' then
    return 0
  elseif r.ALWAYS then
    return r.decided_cost
  elseif not r.allowed or (r.shadowed and not r.PARTIAL) then
    return 0
  end
  if algorithm.units_charged then
    return algorithm.units_charged(r)
  end
  return r.decided_cost
end
local function open_book(book, cost, ttl, counts_until)
  local now_ms = book.now_ms
  book.own = { cost = cost, charged_at = now_ms, ends_at = now_ms + ttl, counts_until = counts_until, ttl = ttl }
end
local function prolong_book(book, open, ttl)
  if open.ends_at < book.now_ms + ttl then
    open_book(book, open.cost, ttl, open.counts_until)
    book.own.charged_at = open.charged_at
  end
end
local function opens(r)
  local fits = not r.shadowed
  if r.PARTIAL then
    fits = r.decided_cost > 0 and not r.full_for
  end
  return not r.open and r.allowed and fits
end
local function commit_change(r, change, after)
  local algorithm = r.algorithm
  if r.gave_back then
    after = state_after(change, after, r.state)
    r.state = r.stored
    if not after then
      change = r.stored and 'delete' or 'keep'
    elseif change ~= 'charge' then
      change = 'refund'
    end
  end
  algorithm.commit(r, change, after)
end
local function encode_field(field)
  local words = { field.cost and text_of(field.cost) or '' }
  for n, value in ipairs({ field.charged_at, field.ends_at, field.counts_until, field.ttl }) do
    words[n + 1] = text_of(value)
  end
  return table.concat(words, ':')
end
local function commit_book(book)
  local count, _, needed = others_of_book(book)
  if count == 0 and not book.own then
    if book.len > 0 or book.earliest then
      call('UNLINK', book.key)
    end
    if book.order_len > 0 then
      call('UNLINK', book.ends)
    end
    return
  end
  local fields, members, removed = {}, {}, {}
  local function set(list, first, second)
    list[#list + 1] = first
    list[#list + 1] = second
  end
  for _, id in ipairs(book.gone) do
    removed[#removed + 1] = id
  end
  for _, one in ipairs(book.order or {}) do
    set(members, text_of(one.field.ends_at), one.id)
  end
  for _, ended in ipairs(book.ended) do
    local mark = ended.id ~= book.id and mark_of(ended, book.now_ms)
    if mark then
      set(fields, ended.id, encode_field(mark))
      set(members, text_of(mark.ends_at), ended.id)
    elseif ended.id ~= book.id then
      removed[#removed + 1] = ended.id
    end
  end
  if book.own and book.own ~= book.stored then
    set(fields, book.id, encode_field(book.own))
  elseif not book.own and book.stored then
    removed[#removed + 1] = book.id
  end
  if book.own then
    needed = math.max(needed, matters_until(book.own))
    local has_moved = not book.stored or book.own.ends_at ~= book.stored.ends_at
    if book.anew or book.has_step or book.complete and has_moved then
      set(members, text_of(book.own.ends_at), book.id)
    end
  end
  local mark_of_order = book.complete and 0 or 1
  if book.earliest ~= mark_of_order then
    set(fields, '', text_of(mark_of_order))
  end
  call_in_parts({ 'HSET', book.key }, fields)
  call_in_parts({ 'HDEL', book.key }, removed)
  if book.next_step and book.next_step > 0 then
    set(members, '-' .. text_of(book.next_step + 1), '')
  end
  if book.anew and book.order_len > 0 then
    call('UNLINK', book.ends)
  end
  call_in_parts({ 'ZADD', book.ends }, members)
  if book.next_step == 0 then
    removed[#removed + 1] = ''
  end
  call_in_parts({ 'ZREM', book.ends }, removed)
  local held, latest, expires_at = book.expires_at, needed + 5000, nil
  local unknown = not held and not book.needed and book.len > 0
  if not unknown and (not held or held < needed or (book.needed and held > latest)) then
    expires_at = latest
  end
  set_expiry(book.key, expires_at)
  if expires_at or book.anew and held then
    set_expiry(book.ends, expires_at or held)
  end
end
local function commit_rare_request(r, allowed)
  local algorithm = r.algorithm
  if not allowed and r.change == 'charge' then
    r.change, r.after = 'keep', nil
  end
  if r.SHADOW and algorithm.in_shadow then
    r.change, r.after = algorithm.in_shadow(r, r.change, r.after)
  end
  local book = r.book
  if book and allowed and r.open then
    prolong_book(book, r.open, r.RESERVE.ttl)
  elseif book and allowed and opens(r) then
    local after = state_after(r.change, r.after, r.state)
    open_book(book, r.decided_cost, r.RESERVE.ttl, algorithm.counts_until(r, after))
  end
  commit_change(r, r.change, r.after)
  if book then
    commit_book(book)
  end
end
local function run_check(keys, words)
  local r = parse_all(words, ' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
  local algorithm = r.algorithm
  if not r.ID and algorithm.takes == ' ID ' then
    fail('ID_MISSING')
  end
  place(r, keys, r.RESERVE)
  if r.RESERVE then
    load_and_reserve(r)
  else
    algorithm.load(r, 'write')
    decide_request(r)
  end
  local answer = reply(r, charged_by(r))
  if r.SHADOW or r.RESERVE then
    commit_rare_request(r, true)
  else
    algorithm.commit(r, r.change, r.after)
  end
  return answer
end
local function run_fast(keys, words)
  local fast = FAST[words[1]]
  return fast and fast(keys, words) or run_check(keys, words)
end
local function of_limit(number, action)
  local done, result = pcall(action)
  if done then
    return result
  end
  local text = type(result) == 'table' and result.err or result
  if type(result) == 'table' or find(text, '^%u+ ') then
    fail_with((text:gsub(' ', format(' limit %d: ', number), 1)))
  end
  error(result, 0)
end
local function add_limit(requests, state_keys, keys, key_at, words, at)
  local word = words[at] or fail('FEWER_LIMITS')
  if FORMS[word:upper()] then
    fail(words[at + 1] and 'AFTER_FORM' or 'FEWER_LIMITS')
  end
  local algorithm = select_algorithm(word)
  if not words[at + 2] then
    fail('LIMIT_ARITY')
  end
  local r, next_at = parse_request(algorithm, words, at + 1, ' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ')
  if algorithm.takes == ' ID ' and not r.ID then
    fail('ID_MISSING')
  end
  if #requests == 0 then
    read_clock(r)
  else
    r.now, r.now_ms = requests[1].now, requests[1].now_ms
  end
  key_at = take_keys(r, keys, key_at, r.RESERVE)
  for _, written in ipairs({ r.key, r.hash }) do
    if state_keys[written] then
      fail('SAME_KEY')
    end
    state_keys[written] = true
  end
  requests[#requests + 1] = r
  return key_at, next_at
end
local function fail_by_clocks(requests)
  local texts = { format('ERR clock %.0f', requests[1].now_ms) }
  for _, r in ipairs(requests) do
    local algorithm = r.algorithm
    if algorithm.suffix then
      texts[#texts + 1] = both_suffixes(r)
    end
  end
  fail_with(table.concat(texts, ' '))
end
local function load_and_decide(r)
  local algorithm = r.algorithm
  if r.RESERVE then
    load_and_reserve(r)
    return
  end
  algorithm.load(r, 'write')
  decide_request(r)
end
local function commit_request(r, allowed)
  local algorithm = r.algorithm
  if not allowed or r.SHADOW or r.RESERVE then
    commit_rare_request(r, allowed)
  else
    algorithm.commit(r, r.change, r.after)
  end
end
local function run_multi(keys, words)
  if not words[3] then
    fail('ARITY')
  end
  local requests, state_keys, members, key_at, at, form = {}, {}, 0, 1, 1, nil
  while key_at <= #keys do
    if #requests == 64 then
      fail('NUM_LIMITS')
    end
    of_limit(#requests + 1, function()
      key_at, at = add_limit(requests, state_keys, keys, key_at, words, at)
    end)
    members = members + most_members_added(requests[#requests])
  end
  while words[at] do
    local word = words[at]:upper()
    if FORMS[word] then
      form = next_form(form, word)
    elseif form then
      fail('AFTER_FORM')
    elseif is_in(' FIXED WINDOW SLIDING COUNTER TOKEN LEAKY GCRA ROLLING LEASE LOCKOUT ', word) then
      fail('KEYS')
    else
      of_limit(#requests, function()
        fail_with_usage(requests[#requests], ' COST BURST BLOCK MAX ANCHOR ID AS SHADOW RESERVE ', word)
      end)
    end
    at = at + 1
  end
  require_few_members(members, 'LOG_COST')
  for _, r in ipairs(requests) do
    if r.wrong_clock then
      fail_by_clocks(requests)
    end
  end
  local allowed = true
  for number, r in ipairs(requests) do
    of_limit(number, function()
      load_and_decide(r)
    end)
    allowed = allowed and r.allowed
  end
  local answers = {}
  for n, r in ipairs(requests) do
    local charged = allowed and charged_by(r) or 0
    if form == 'FULL' then
      answers[n] = full(r, charged)
    elseif form == 'LINE' then
      answers[n] = line(r, charged)
    else
      answers[n] = { first_integer(r), r.count, r.ttl }
    end
  end
  local answer = { allowed and 1 or 0, answers, form == 'HEADERS' and headers(requests) or nil }
  for _, r in ipairs(requests) do
    commit_request(r, allowed)
  end
  return answer
end
local function run_peek(keys, words)
  local r = parse_all(words, ' form COST PARTIAL ALWAYS BURST BLOCK MAX ANCHOR ID AS SHADOW ')
  place(r, keys)
  local algorithm = r.algorithm
  algorithm.load(r, 'read')
  decide_request(r)
  return reply(r, 0)
end
local function parse_correction(words, accepted)
  if not words[2 + 1] then
    fail('ARITY')
  end
  local algorithm = selected(words)
  if algorithm.no_correction and (accepted == ' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ' or not algorithm.refund) then
    fail(algorithm.no_correction)
  end
  return parse_all(words, accepted)
end
local function correct(r, change, after, charged)
  local algorithm = r.algorithm
  local answer
  if not algorithm.adds_members then
    local expires_at, before, state = nil, r.state, state_after(change, after, r.state)
    if state and algorithm.expiry_after then
      expires_at = algorithm.expiry_after(r, change, after)
    end
    if expires_at and less(expires_at, r.now_ms) then
      state = nil
    end
    r.state = state
    decide_request(r)
    answer = reply(r, charged)
    r.state = before
  end
  if not r.is_unknown then
    commit_change(r, change, after)
  end
  if not answer then
    algorithm.load(r, 'read')
    decide_request(r)
    answer = reply(r, charged)
  end
  return answer
end
local function settle_reservation(r)
  local algorithm = r.algorithm
  local book, change, after, charged = load_book(r, r.RESERVATION), 'keep', nil, 0
  algorithm.load(r, 'write')
  r.book = book
  give_back_book(r)
  local charge = book.own
  if charge then
    change, after = algorithm.settle_reserved(r, charge, r.ACTUAL)
    charged = r.ACTUAL
    book.own = nil
  end
  r.is_unknown = not charge and not r.gave_back
  local answer = correct(r, change, after, charged)
  commit_book(book)
  return answer
end
local function run_settle(keys, words)
  local r = parse_correction(words, ' form AT RESERVED ACTUAL BURST ANCHOR RESERVATION ')
  local algorithm = r.algorithm
  local reserved, actual = r.RESERVED, r.ACTUAL
  if actual and r.RESERVATION then
    place(r, keys, true)
    return settle_reservation(r)
  end
  if not reserved or not actual then
    fail('SETTLEMENT')
  end
  local difference = math.abs(reserved - actual)
  require_few_members(algorithm.adds_members and difference or 0, 'LOG_DIFFERENCE')
  place(r, keys)
  algorithm.load(r, 'write')
  local correction = actual < reserved and algorithm.refund or algorithm.overcharge
  local change, after = correction(r, r.AT, difference)
  return correct(r, change, after, actual)
end
local function run_refund(keys, words)
  local r = parse_correction(words, ' form COST AT BURST BLOCK MAX ANCHOR ')
  local algorithm = r.algorithm
  require_few_members(algorithm.adds_members and r.cost or 0, 'LOG_COST')
  place(r, keys)
  algorithm.load(r, 'write')
  local change, after = algorithm.refund(r, r.AT, r.cost)
  return correct(r, change, after, 0)
end
local function has_book(r)
  local earliest = redis.pcall('HGET', r.hash, '')
  return type(earliest) == 'string' and digits_up_to(earliest, '18446744073709551615')
end
local function require_left_over(r, exists)
  local hash = match(r.name, '^(.*:reserved):ends$')
  if not exists or hash and redis.pcall('TYPE', hash).ok == 'hash' then
    require_other_name(r.name)
  end
end
local function run_reset(keys, words)
  local algorithm = selected(words)
  local window = words[2]
  if not window then
    fail('ARITY')
  end
  local r = { algorithm = algorithm, limit = 0, capacity = 0 }
  local at = parse_options(r, words, 2 + 1, ' ANCHOR ')
  if words[at] then
    fail(is_nearly(words[at]:upper(), 'ANCHOR') and 'NO_SUCH_OPTION' or 'RESET_WORDS')
  end
  r.anchor_ms = r.ANCHOR and r.ANCHOR * 1000
  r.window_ms = window_of(r, window)
  local with_book = is_in(algorithm.takes, 'RESERVE')
  place(r, keys, with_book, true)
  local has_hash = with_book and has_book(r)
  algorithm.load(r, 'delete')
  local exists = r.exists or r.state
  local found = exists
  found = exists or has_hash
  require_left_over(r, found)
  if exists then
    algorithm.commit(r, 'delete')
  end
  if has_hash then
    call('UNLINK', r.hash, r.ends)
  end
  return found and 1 or 0
end
local function leases()
  return select_algorithm('LEASE')
end
local function parse_ids(words, first)
  if #words - first + 1 > 1000 then
    fail('TOO_MANY_IDS')
  end
  local ids, seen = {}, {}
  for n = first, #words do
    local id = parse_id(words[n], 512) or fail('IDS')
    if not seen[id] then
      seen[id] = true
      ids[#ids + 1] = id
    end
  end
  return #ids > 0 and ids or fail('ARITY')
end
local function begin_with_ids(keys, words, window_ms, first)
  local r = { window_ms = window_ms }
  local ids = parse_ids(words, first)
  if #keys ~= 1 then
    fail('KEYS')
  end
  r.key = keys[1]
  require_other_name(r.key)
  read_clock(r)
  return r, ids
end
local function run_release(keys, words)
  local algorithm = leases()
  return algorithm.release(begin_with_ids(keys, words, 0, 1))
end
local function run_renew(keys, words)
  local algorithm = leases()
  if not words[2] then
    fail('ARITY')
  end
  local window_ms = parse_window(words[1]) or fail('WINDOW')
  return algorithm.renew(begin_with_ids(keys, words, window_ms, 2))
end
function set_late()
  find, format, match, part_of = string.find, string.format, string.match, string.sub
  call = redis.call
  MAX_COUNT = setmetatable({ (2 ^ 24) - 1, (2 ^ 24) - 1, 2 ^ 15 - 1 }, LARGE)
  MAX_UNSIGNED = setmetatable({ (2 ^ 24) - 1, (2 ^ 24) - 1, 2 ^ 16 - 1 }, LARGE)
  MAX_SPAN = setmetatable({ 6553600, 11973543, 3552 }, LARGE)
  MAX_TOLERANCE = setmetatable({ 9437184, 14339741, 14210 }, LARGE)
  byte_of, char_of = string.byte, string.char
end
register('rl', run_fast, 'Checks a request against a limit and charges it if allowed.')
register('rl_multi', run_multi, 'Checks a request against several limits and charges all of them, or none.')
register('rl_peek', run_peek, 'Replies what the reply to a request would be, and changes nothing.', 'no-writes')
register('rl_settle', run_settle, 'Corrects what a request was charged to what it turned out to cost.')
register('rl_refund', run_refund, 'Gives back what a request was charged.', 'allow-oom')
register('rl_reset', run_reset, 'Deletes what was counted.', 'allow-oom')
register('rl_release', run_release, 'Ends leases.', 'allow-oom')
register('rl_renew', run_renew, 'Renews leases that have not ended.', 'allow-oom')
