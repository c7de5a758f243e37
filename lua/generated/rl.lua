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
errors.ALGORITHM = 'ERR invalid algorithm: expected one of ' .. 'FIXED, WINDOW, SLIDING, COUNTER, TOKEN, LEAKY, GCRA, ROLLING, LEASE, LOCKOUT'
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
local HAS_SHORT_LONG
local FAST = {
FIXED=function(K,f) local m,ab,cL,b,d=string.find,string.match,string.sub,string.format,redis.call local cF
local vo=f[2] local cP=f[3] local ml=f[4] if not cP then return end local iW=f[5] local fo local av local bh
if(ml=='LINE')and(not iW)then fo=5 av=1 bh='LINE' else local oQ local oR local oS if ml then if iW then
if not(((((f[6]=='LINE')and(not f[7]))and((#iW)<16))and(ml=='COST'))and m(iW,'^[1-9]%d*$'))then return end oQ=7 oR=iW+0
oS='LINE' else if(((f[6]=='LINE')and(not f[7]))and(ml=='COST'))and m('','^[1-9]%d*$')then return end return end else
oQ=4 oR=1 oS=nil end fo=oQ av=oR bh=oS end if not(((#cP)<16)and m(cP,'^[1-9]%d*$'))then return end local c=cP+0
local A,F=ab(vo,'^([1-9]%d*)(%l*)$') if A then if(#vo)<16 then
local iZ=(F=='')and 1000 or((F=='ms')and 1 or((F=='s')and 1000 or((F=='m')and 60000 or((F=='h')and 3.6e6 or((F=='d')and 8.64e7 or nil)))))
local H=iZ and(A*iZ)or iZ if(not H)or((H<1)or(1e15<H))then return end if not(H<9e12)then return end local mr=f[fo]
if mr then return end local fp local aM=d('TIME') local P=(aM[1]*1e6)+aM[2] local x=(P-(P%1000))/1000 local hu=K[1]
local u=(x-(x%H))/H local sz=b(((u<2147483648)and':%d'or':%d'),u) local ar=K[2] local v=#sz if not ar then return end
if not(cL(hu,(-v))==sz)then if not(cL(ar,(-v))==sz)then if m(cL(ar,1,((-v)-1)),':reserved',1,true)then return end
if not((#K)==2)then return end return else if m(cL(ar,1,((-v)-1)),':reserved',1,true)then return end if not((#K)==2)then
return end fp=ar end else if m(cL(hu,1,((-v)-1)),':reserved',1,true)then return end if not((#K)==2)then return end fp=hu
end local hx=d('GET',fp) if hx then if not(((#hx)<16)and m(hx,'^[1-9]%d*$'))then return end local w=hx+0
if not redis.REDIS_VERSION_NUM then return end local cQ=d('PEXPIRETIME',fp) if cQ<0 then return end if 2^53<=cQ then
return end local fZ=(av<=c)and((w+av)<=c) local cR=fZ or(c<=w) local cS=cR and(w+av)or w if 2^53<=cS then return end
local co=((x<cQ)and(cQ-x)or 0)+500 local hy=(co-(co%1000))/1000 if cR then local pk if not fZ then pk=0 else pk=av end
local pu if bh=='LINE'then local gc=(0<cS)and cS or 0 local eI=(gc<c)and(c-gc)or 0 local dx if not fZ then local kJ
if c<av then kJ=nil else if(gc+av)<=c then kJ=0 else kJ=H-(x%H) end end local da=kJ or(-1) dx=da else dx=0 end local pq
local ce if eI<c then local dQ=eI+1 local kL if c<dQ then kL=nil else if(gc+dQ)<=c then kL=0 else kL=H-(x%H) end end
local ak=kL or(-1) local dy if dQ==c then dy=ak else local aF if(gc+c)<=c then aF=0 else aF=H-(x%H) end dy=aF end pq=ak
ce=dy else pq=0 ce=0 end if(2^53<=dx)or(2^53<=ce)then return end
local CP=b('%d %d %d %d %d %d %d %d 0 %d 0 %d',(fZ and 1 or 0),cS,hy,c,eI,dx,pq,ce,x,pk) pu=CP else if bh then return
end pu={(fZ and 1 or 0),cS,hy} end local hG=cS-w if not(hG==0)then local px if hG==1 then px='1' else px=b('%d',hG) end
local dd=d('INCRBY',fp,px) end cF=pu else local bG if bh=='LINE'then local dR=c-w local kP if c<av then kP=nil else
if(w+av)<=c then kP=0 else kP=H-(x%H) end end local gh=kP or(-1) local bF local ep if dR<c then local jk=dR+1 local eo
if c<jk then eo=nil else if(w+jk)<=c then eo=0 else eo=H-(x%H) end end local wi=eo or(-1) local aU if jk==c then aU=wi
else local fy if(w+c)<=c then fy=0 else fy=H-(x%H) end aU=fy end bF=wi ep=aU else bF=0 ep=0 end
if(2^53<=gh)or(2^53<=ep)then return end local eL=b('0 %d %d %d %d %d %d %d 0 %d 0 0',cS,hy,c,dR,gh,bF,ep,x) bG=eL else
if bh then return end bG={0,cS,hy} end cF=bG end else local hA=av<=c local cW=hA and av or 0 if 2^53<=cW then return end
local fw if hA then fw=x+H else fw=nil end local gW if not fw then gW=-2 else local as=((x<fw)and(fw-x)or 0)+500
gW=(as-(as%1000))/1000 end if hA then local pO if bh=='LINE'then local bq=(0<cW)and cW or 0 local sO=(bq<c)and(c-bq)or 0
local dB local kY if sO<c then local sP=sO+1 local kX if c<sP then kX=nil else if(bq+sP)<=c then kX=0 else kX=H-(x%H)
end end local bU=kX or(-1) local fz if sP==c then fz=bU else local cf if(bq+c)<=c then cf=0 else cf=H-(x%H) end fz=cf
end dB=bU kY=fz else dB=0 kY=0 end if 2^53<=kY then return end
local bC=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',cW,gW,c,sO,dB,kY,x,av) pO=bC else if bh then return end pO={1,cW,gW} end
if not(cW==0)then local fA if cW==1 then fA='1' else fA=b('%d',cW) end local sT=d('INCRBY',fp,fA) end if fw then
local mK=b('%d',fw) local wv=d('PEXPIREAT',fp,mK) end cF=pO else local qb if bh=='LINE'then
local hQ=b('0 %d %d %d %d -1 0 0 0 %d 0 0',cW,gW,c,c,x) qb=hQ else if bh then return end qb={0,cW,gW} end cF=qb end end
else return end else return end return cF end, WINDOW=function(K,f)
local m,ab,b,d=string.find,string.match,string.format,redis.call local bN local iV=f[2] local aX=f[3] local aq=f[4]
if not aX then return end local aK=f[5] local aS local s local n if(aq=='LINE')and(not aK)then aS=5 s=1 n='LINE' else
local fn local aQ local aR if aq then if aK then
if not(((((f[6]=='LINE')and(not f[7]))and((#aK)<16))and(aq=='COST'))and m(aK,'^[1-9]%d*$'))then return end fn=7 aQ=aK+0
aR='LINE' else if(((f[6]=='LINE')and(not f[7]))and(aq=='COST'))and m('','^[1-9]%d*$')then return end return end else
fn=4 aQ=1 aR=nil end aS=fn s=aQ n=aR end if not(((#aX)<16)and m(aX,'^[1-9]%d*$'))then return end local o=aX+0
local h,ac=ab(iV,'^([1-9]%d*)(%l*)$') if h then if(#iV)<16 then
local af=(ac=='')and 1000 or((ac=='ms')and 1 or((ac=='s')and 1000 or((ac=='m')and 60000 or((ac=='h')and 3.6e6 or((ac=='d')and 8.64e7 or nil)))))
local i=af and(h*af)or af if(not i)or((i<1)or(1e15<i))then return end if not(i<9e12)then return end local A=f[aS]
if A then return end local fV=d('TIME') local l=(fV[1]*1e6)+fV[2] local j=(l-(l%1000))/1000 local g=K[1] if not g then
return end if m(g,':reserved',1,true)then return end if not((#K)==1)then return end local ms=d('GET',g) if ms then
if not(((#ms)<16)and m(ms,'^[1-9]%d*$'))then return end local P=ms+0 if not redis.REDIS_VERSION_NUM then return end
local fW=d('PEXPIRETIME',g) if fW<0 then return end if 2^53<=fW then return end if fW<=j then return end local eE=j+i
local Z=(fW<eE)and fW or eE local aZ=(P+s)<=o if 2^53<=P then return end if aZ then local R=P+s if Z<=j then return end
local aj=(Z<eE)and Z or eE local sB=(R<o)and(o-R)or 0 local fs if(R+o)<=o then fs=0 else if not((aj*1000)<2^53)then
return end local cR=aj*1000 local eF=(l<cR)and(cR-l)or 0 local co=eF%1000 fs=(co==0)and(eF/1000)or(((eF-co)/1000)+1) end
if 2^53<=fs then return end local vV=fs%1000 local hz=(fs<0)and(-1)or((vV==0)and(fs/1000)or(((fs-vV)/1000)+1)) local cf
if n=='LINE'then local pJ local kW if sB<o then local aD=sB+1 local kU if o<aD then kU=nil else if(R+aD)<=o then kU=0
else if not((aj*1000)<2^53)then return end local wo=aj*1000 local sM=(l<wo)and(wo-l)or 0 local hI=sM%1000
kU=(hI==0)and(sM/1000)or(((sM-hI)/1000)+1) end end local jn=kU or(-1) local dA if aD==o then dA=jn else local pI
if(R+o)<=o then pI=0 else if not((aj*1000)<2^53)then return end local gk=aj*1000 local bq=(l<gk)and(gk-l)or 0
local ws=bq%1000 pI=(ws==0)and(bq/1000)or(((bq-ws)/1000)+1) end dA=pI end pJ=jn kW=dA else pJ=0 kW=0 end
if 2^53<=kW then return end local cs=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',P,hz,o,sB,pJ,kW,j,s) cf=cs else if n then
return end cf={1,P,hz} end if fW==Z then local bc=R-P local pM if bc==1 then pM='1' else pM=b('%d',bc) end
local bC=d('INCRBY',g,pM) else if P==R then local gm=d('PEXPIREAT',g,b('%d',Z)) else
local bD=d('SET',g,b('%d',R),'PXAT',b('%d',Z)) end end bN=cf else if not(Z==fW)then return end local J=(P<o)and(o-P)or 0
local el if o<s then el=nil else if not((Z*1000)<2^53)then return end local aO=Z*1000 local eG=(l<aO)and(aO-l)or 0
local cY=eG%1000 el=(cY==0)and(eG/1000)or(((eG-cY)/1000)+1) end local kI if el then if 2^53<=el then return end
local eI=el%1000 local hC=(el<0)and(-1)or((eI==0)and(el/1000)or(((el-eI)/1000)+1)) kI=hC else kI=-1 end
local cZ=(kI==0)and 1 or kI local dF if n=='LINE'then local cE if o<s then cE=nil else if not((Z*1000)<2^53)then return
end local dj=Z*1000 local br=(l<dj)and(dj-l)or 0 local hQ=br%1000 cE=(hQ==0)and(br/1000)or(((br-hQ)/1000)+1) end
local wA=cE or(-1) local fD local aV if J<o then local jq=J+1 local dE if o<jq then dE=nil else if(P+jq)<=o then dE=0
else if not((Z*1000)<2^53)then return end local au=Z*1000 local sX=(l<au)and(au-l)or 0 local js=sX%1000
dE=(js==0)and(sX/1000)or(((sX-js)/1000)+1) end end local eP=dE or(-1) local qg if jq==o then qg=eP else local et
if(P+o)<=o then et=0 else if not((Z*1000)<2^53)then return end local eR=Z*1000 local aE=(l<eR)and(eR-l)or 0
local cu=aE%1000 et=(cu==0)and(aE/1000)or(((aE-cu)/1000)+1) end qg=et end fD=eP aV=qg else fD=0 aV=0 end
if(2^53<=wA)or(2^53<=aV)then return end local mU=b('0 %d %d %d %d %d %d %d 0 %d 0 0',P,cZ,o,J,wA,fD,aV,j) dF=mU else
if n then return end dF={0,P,cZ} end bN=dF end else local sE=s<=o if sE then local O=j+i if O<=j then return end
local sI=(s<o)and(o-s)or 0 local ax if(s+o)<=o then ax=0 else if not((O*1000)<2^53)then return end local db=O*1000
local cq=(l<db)and(db-l)or 0 local dc=cq%1000 ax=(dc==0)and(cq/1000)or(((cq-dc)/1000)+1) end if 2^53<=ax then return end
local aC=ax%1000 local jf=(ax<0)and(-1)or((aC==0)and(ax/1000)or(((ax-aC)/1000)+1)) local cg if n=='LINE'then local qx
local lm if sI<o then local al=sI+1 local eu if o<al then eu=nil else if(s+al)<=o then eu=0 else
if not((O*1000)<2^53)then return end local hV=O*1000 local sZ=(l<hV)and(hV-l)or 0 local aP=sZ%1000
eu=(aP==0)and(sZ/1000)or(((sZ-aP)/1000)+1) end end local eU=eu or(-1) local bl if al==o then bl=eU else local ap
if(s+o)<=o then ap=0 else if not((O*1000)<2^53)then return end local dq=O*1000 local eV=(l<dq)and(dq-l)or 0
local cv=eV%1000 ap=(cv==0)and(eV/1000)or(((eV-cv)/1000)+1) end bl=ap end qx=eU lm=bl else qx=0 lm=0 end
if 2^53<=lm then return end local gu=b('1 0 %d %d %d 0 %d %d 0 %d 0 %d',jf,o,sI,qx,lm,j,s) cg=gu else if n then return
end cg={1,0,jf} end local mY=b('%d',s) local tc=d('SET',g,mY,'PXAT',b('%d',O)) bN=cg else local qI if n=='LINE'then
qI=b('0 0 -1 %d %d -1 0 0 0 %d 0 0',o,o,j) else if n then return end qI={0,0,(-1)} end bN=qI end end else return end
else return end return bN end, SLIDING=function(K,f)
local S,m,ab,b,d=math.ceil,string.find,string.match,string.format,redis.call local iJ local iV=f[2] local aX=f[3]
local aq=f[4] if not aX then return end local aK=f[5] local aS local s local n if(aq=='LINE')and(not aK)then aS=5 s=1
n='LINE' else local fn local aQ local aR if aq then if aK then
if not(((((f[6]=='LINE')and(not f[7]))and((#aK)<16))and(aq=='COST'))and m(aK,'^[1-9]%d*$'))then return end fn=7 aQ=aK+0
aR='LINE' else if(((f[6]=='LINE')and(not f[7]))and(aq=='COST'))and m('','^[1-9]%d*$')then return end return end else
fn=4 aQ=1 aR=nil end aS=fn s=aQ n=aR end if not(((#aX)<16)and m(aX,'^[1-9]%d*$'))then return end local o=aX+0
local h,ac=ab(iV,'^([1-9]%d*)(%l*)$') if h then if(#iV)<16 then
local af=(ac=='')and 1000 or((ac=='ms')and 1 or((ac=='s')and 1000 or((ac=='m')and 60000 or((ac=='h')and 3.6e6 or((ac=='d')and 8.64e7 or nil)))))
local i=af and(h*af)or af if(not i)or((i<1)or(1e15<i))then return end if not(i<9e12)then return end local A=f[aS]
if A then return end if 1000<s then return end local fV=d('TIME') local l=(fV[1]*1e6)+fV[2] local j=(l-(l%1000))/1000
local g=K[1] if not g then return end if m(g,':reserved',1,true)then return end if not((#K)==1)then return end
local P=j-i local X=d('ZCARD',g) local L if(0<X)and(0<=P)then if not(X<=4000)then return end
local aY=d('ZREMRANGEBYSCORE',g,'0',b('%d',P)) L=X-aY else L=X end local ar=0<L local D=(L+s)<=o local vQ=i%1000
local hw=(vQ==0)and(i/1000)or(((i-vQ)/1000)+1) if D then if n=='LINE'then local eF=(o-L)-s local dO=(0<eF)and eF or 0
local cd if ar then local hy=d('ZRANGE',g,'0','0','WITHSCORES') local ai=hy[2] if ai then cd=tonumber(ai) else cd=0 end
else cd=0 end if cd<0 then return end local kQ local kR local ix local hb if dO<o then local hA=dO+1 local fx if ar then
if not redis.REDIS_VERSION_NUM then return end local mt=d('PEXPIRETIME',g) fx=((0<=mt)and mt or nil)or 0 else fx=0 end
local ek if(3*i)<=(2*(fx-j))then ek=nil else ek=j+(2*i) end local pl if ek then pl=ek else pl=fx end local bp=L+s
local cY=pl+1 local aw local em local aA=o-hA if aA<0 then aw=nil em=nil else if bp<=aA then aw=nil em=0 else
local gb=(bp-aA)-1 local aF local dy if bp<=gb then aF=nil dy=nil else local iv if ar then
local cZ=d('ZRANGE',g,'-1','-1','WITHSCORES') local vX=cZ[2] if vX then iv=tonumber(vX) else iv=0 end else iv=0 end
if j<iv then return end local gY if gb<L then if gb==0 then local O=S(cd) gY=(0<O)and O or 0 else if 0<=gb then
local bT=b('%d',gb) local CN=d('ZRANGE',g,bT,bT,'WITHSCORES') local vZ=CN[2] if vZ then local ak=S(tonumber(vZ))
gY=(0<ak)and ak or 0 else gY=j end else gY=j end end else gY=j end local sH=gY+i aF=iv dy=sH end local ce
if(not dy)or(cY<dy)then ce=cY else ce=dy end local ps if ce then local pr if 2^53<=ce then pr=1/0 else local cp=ce-j
pr=(0<cp)and cp or 0 end ps=pr else ps=ce end aw=aF em=ps end end local eK=em or(-1) local ep local pB if hA==o then
ep=aw pB=eK else local ao if(3*i)<=(2*(fx-j))then ao=nil else ao=j+(2*i) end local pw if ao then pw=ao else pw=fx end
local mw=pw+1 local aU local bF if bp<=0 then aU=aw bF=0 else local aC=bp-1 local eo local iw if bp<=aC then eo=aw
iw=nil else local aT if aw then aT=aw else local bj if ar then local CU=d('ZRANGE',g,'-1','-1','WITHSCORES')
local jg=CU[2] if jg then bj=tonumber(jg) else bj=0 end else bj=0 end aT=bj end if j<aT then return end local cD
if aC<L then if aC==0 then local gh=S(cd) cD=(0<gh)and gh or 0 else if 0<=aC then local dS=b('%d',aC)
local B=d('ZRANGE',g,dS,dS,'WITHSCORES') local wg=B[2] if wg then local mx=S(tonumber(wg)) cD=(0<mx)and mx or 0 else
cD=j end else cD=j end end else cD=j end local hH=cD+i eo=aT iw=hH end local ha if(not iw)or(mw<iw)then ha=mw else ha=iw
end local fy if ha then local pA if 2^53<=ha then pA=1/0 else local bB=ha-j pA=(0<bB)and bB or 0 end fy=pA else fy=ha
end aU=eo bF=fy end ep=aU pB=bF or(-1) end kQ=ep kR=fx ix=eK hb=pB else kQ=nil kR=nil ix=0 hb=0 end
if(not((ix-ix)==0))or((not((hb-hb)==0))or(2^53<=hb))then return end
local dU=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',L,hw,o,dO,ix,hb,j,s) local eq if kR then eq=kR else local aG if ar then
if not redis.REDIS_VERSION_NUM then return end local gj=d('PEXPIRETIME',g) aG=((0<=gj)and gj or nil)or 0 else aG=0 end
eq=aG end local dA if eq then if(3*i)<=(2*(eq-j))then dA=nil else dA=j+(2*i) end else dA=j+(2*i) end local di=b('%d',j)
if kQ then local pL if kQ<j then pL=0 else local bb=d('ZCOUNT',g,di,di) pL=bb end if 1<s then return end local ef=s
local dv=pL while 0<ef do local sR=b('%d',dv) local bc=d('ZADD',g,'NX',di,(di..('-0.'..sR))) local jp=ef-bc
local bC=dv+1 ef,dv=jp,bC end local hL=ef local Ee=dv else local sQ=d('ZCOUNT',g,di,di) if 1<s then return end
local kh=s local ki=sQ while 0<kh do local go=b('%d',ki) local bD=d('ZADD',g,'NX',di,(di..('-0.'..go))) local hM=kh-bD
local sS=ki+1 kh,ki=hM,sS end local sT=kh local bV=ki end if dA then local wv=b('%d',dA) local sU=d('PEXPIREAT',g,wv)
end iJ=dU else if n then return end local fB if ar then if not redis.REDIS_VERSION_NUM then return end
local eN=d('PEXPIRETIME',g) fB=((0<=eN)and eN or nil)or 0 else fB=0 end local es if(3*i)<=(2*(fB-j))then es=nil else
es=j+(2*i) end local br=b('%d',j) local sW=d('ZCOUNT',g,br,br) if 1<s then return end local kj=s local kk=sW
while 0<kj do local mP=b('%d',kk) local jq=d('ZADD',g,'NX',br,(br..('-0.'..mP))) local mQ=kj-jq local dk=kk+1
kj,kk=mQ,dk end local Eh=kj local au=kk if es then local jr=b('%d',es) local mR=d('PEXPIREAT',g,jr) end iJ={1,L,hw} end
else local kG if ar then local sA=d('ZRANGE',g,'-1','-1','WITHSCORES') local cQ=sA[2] if cQ then kG=tonumber(cQ) else
kG=0 end else kG=0 end if j<kG then if n=='LINE'then local aE=o-L local dl=(0<aE)and aE or 0 local aV if ar then
local gr=d('ZRANGE',g,'0','0','WITHSCORES') local mS=gr[2] if mS then aV=tonumber(mS) else aV=0 end else aV=0 end
if aV<0 then return end local bI if ar then if not redis.REDIS_VERSION_NUM then return end local hU=d('PEXPIRETIME',g)
bI=((0<=hU)and hU or nil)or 0 else bI=0 end local lh if(3*i)<=(2*(bI-j))then lh=nil else lh=j+(2*i) end local qk
if lh then qk=lh else qk=bI end local dX=qk+1 local lk local dn=o-s if dn<0 then lk=nil else if L<=dn then lk=0 else
local mX=(L-dn)-1 if not(L<=mX)then return end local qo if 2^53<=dX then qo=1/0 else local wP=dX-j qo=(0<wP)and wP or 0
end lk=qo end end local al=lk or(-1) local az local bL if dl<o then local jz=dl+1 local bJ if(3*i)<=(2*(bI-j))then
bJ=nil else bJ=j+(2*i) end local aW if bJ then aW=bJ else aW=bI end local wU=aW+1 local ap local dq=o-jz if dq<0 then
ap=nil else if L<=dq then ap=0 else local eV=(L-dq)-1 if not(L<=eV)then return end local bK if 2^53<=wU then bK=1/0 else
local cv=wU-j bK=(0<cv)and cv or 0 end ap=bK end end local jC=ap or(-1) local fG if jz==o then fG=jC else local lo
if(3*i)<=(2*(bI-j))then lo=nil else lo=j+(2*i) end local cg if lo then cg=lo else cg=bI end local ia=cg+1 local fF
if L<=0 then fF=0 else local tb=L-1 if not(L<=tb)then return end local fE if 2^53<=ia then fE=1/0 else local xb=ia-j
fE=(0<xb)and xb or 0 end fF=fE end fG=fF end az=jC bL=fG else az=0 bL=0 end
if(not((al-al)==0))or((not((az-az)==0))or((not((bL-bL)==0))or((2^53<=al)or(2^53<=bL))))then return end return else
if n then return end return end else if n=='LINE'then local xi=o-L local tg=(0<xi)and xi or 0 local aI if ar then
local jF=d('ZRANGE',g,'0','0','WITHSCORES') local xk=jF[2] if xk then aI=tonumber(xk) else aI=0 end else aI=0 end
if aI<0 then return end local dH if ar then if not redis.REDIS_VERSION_NUM then return end local xo=d('PEXPIRETIME',g)
dH=((0<=xo)and xo or nil)or 0 else dH=0 end local dI if(3*i)<=(2*(dH-j))then dI=nil else dI=j+(2*i) end local fH
if dI then fH=dI else fH=dH end local fb=fH+1 local lx local tj=o-s if tj<0 then lx=nil else if L<=tj then lx=0 else
local eb=(L-tj)-1 local bO if L<=eb then bO=nil else if eb==0 then local nl=S(aI) bO=((0<nl)and nl or 0)+i else
if 0<=eb then local gx=b('%d',eb) local jK=d('ZRANGE',g,gx,gx,'WITHSCORES') local dr=jK[2] if dr then
local fd=S(tonumber(dr)) bO=((0<fd)and fd or 0)+i else bO=j+i end else bO=j+i end end end local ci
if(not bO)or(fb<bO)then ci=fb else ci=bO end local qR if ci then local cI if 2^53<=ci then cI=1/0 else local nm=ci-j
cI=(0<nm)and nm or 0 end qR=cI else qR=ci end lx=qR end end local bs=lx or(-1) local iH local bv if tg<o then
local ds=tg+1 local lz if(3*i)<=(2*(dH-j))then lz=nil else lz=j+(2*i) end local qU if lz then qU=lz else qU=dH end
local jP=qU+1 local lA local tp=o-ds if tp<0 then lA=nil else if L<=tp then lA=0 else local no=(L-tp)-1 local eA
if L<=no then eA=nil else if no==0 then local jR=S(aI) eA=((0<jR)and jR or 0)+i else if 0<=no then local xG=b('%d',no)
local gA=d('ZRANGE',g,xG,xG,'WITHSCORES') local nq=gA[2] if nq then local xH=S(tonumber(nq)) eA=((0<xH)and xH or 0)+i
else eA=j+i end else eA=j+i end end end local cJ if(not eA)or(jP<eA)then cJ=jP else cJ=eA end local rh if cJ then
local rg if 2^53<=cJ then rg=1/0 else local ff=cJ-j rg=(0<ff)and ff or 0 end rh=rg else rh=cJ end lA=rh end end
local gB=lA or(-1) local rp if ds==o then rp=gB else local lC if(3*i)<=(2*(dH-j))then lC=nil else lC=j+(2*i) end
local cl if lC then cl=lC else cl=dH end local xM=cl+1 local ro if L<=0 then ro=0 else local fg=L-1 local eB
if L<=fg then eB=nil else if fg==0 then local fi=S(aI) eB=((0<fi)and fi or 0)+i else if 0<=fg then local nv=b('%d',fg)
local tv=d('ZRANGE',g,nv,nv,'WITHSCORES') local gC=tv[2] if gC then local xP=S(tonumber(gC)) eB=((0<xP)and xP or 0)+i
else eB=j+i end else eB=j+i end end end local hk if(not eB)or(xM<eB)then hk=xM else hk=eB end local rn if hk then
local cm if 2^53<=hk then cm=1/0 else local jV=hk-j cm=(0<jV)and jV or 0 end rn=cm else rn=hk end ro=rn end rp=ro or(-1)
end iH=gB bv=rp else iH=0 bv=0 end
if(not((bs-bs)==0))or((not((iH-iH)==0))or((not((bv-bv)==0))or((2^53<=bs)or(2^53<=bv))))then return end
local DC=b('0 %d %d %d %d %d %d %d 0 %d 0 0',L,hw,o,tg,bs,iH,bv,j) if ar then local lF if(3*i)<=(2*(dH-j))then lF=nil
else lF=j+(2*i) end if lF then local xW=b('%d',lF) local Er=d('PEXPIREAT',g,xW) end end iJ=DC else if n then return end
if ar then if not redis.REDIS_VERSION_NUM then return end local bY=d('PEXPIRETIME',g) local lG
if(3*i)<=(2*((((0<=bY)and bY or nil)or 0)-j))then lG=nil else lG=j+(2*i) end if lG then local nx=b('%d',lG)
local ny=d('PEXPIREAT',g,nx) end end iJ={0,L,hw} end end end else return end else return end return iJ end,
COUNTER=function(K,f) local m,ab,b,d=string.find,string.match,string.format,redis.call local fl local vm=f[2]
local aK=f[3] local aL=f[4] if not aK then return end local cP=f[5] local oP local am local cy
if(aL=='LINE')and(not cP)then oP=5 am=1 cy='LINE' else local cb local I local ae if aL then if cP then
if not(((((f[6]=='LINE')and(not f[7]))and((#cP)<16))and(aL=='COST'))and m(cP,'^[1-9]%d*$'))then return end cb=7 I=cP+0
ae='LINE' else if(((f[6]=='LINE')and(not f[7]))and(aL=='COST'))and m('','^[1-9]%d*$')then return end return end else
cb=4 I=1 ae=nil end oP=cb am=I cy=ae end if not(((#aK)<16)and m(aK,'^[1-9]%d*$'))then return end local G=aK+0
local vA,i=ab(vm,'^([1-9]%d*)(%l*)$') if vA then if(#vm)<16 then
local ah=(i=='')and 1000 or((i=='ms')and 1 or((i=='s')and 1000 or((i=='m')and 60000 or((i=='h')and 3.6e6 or((i=='d')and 8.64e7 or nil)))))
local F=ah and(vA*ah)or ah if(not F)or((F<1)or(1e15<F))then return end if not(F<9e12)then return end local e=F*1000
local fV=f[oP] if fV then return end local mr=d('TIME') local g=(mr[1]*1e6)+mr[2] local C=(g-(g%1000))/1000 local P=K[1]
if not P then return end if m(P,':reserved',1,true)then return end if not((#K)==1)then return end local X=d('GET',P)
if X then local hv,aY,Q,eD,fX=ab(X,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not hv then return else if m(X,':0%d')then
return else local v=((#eD)<17)and(eD+0) if not((#hv)<16)then return end if not((#aY)<16)then return end
if not((#Q)<16)then return end if v then if not(v<9e15)then return end local z=hv+0 local aZ=aY+0 local D=Q+0
if(not((1<=z)and(z<=1e15)))or(not(fX==''))then return else if not((aZ*z)<2^53)then return end local aj=aZ*z
if not((aj*1000)<2^53)then return end local N=aj*1000 if(aj==0)and(not(v==0))then return else
if not((aj==(C-(C%F)))and(z==F))then return end local fu if v==0 then fu=0 else local cV=g-N
local ad=(cV<e)and(e-cV)or 0 if not((v*ad)<2^53)then return end fu=v*ad end if not((D+am)<2^53)then return end
local p=D+am if not((p*e)<2^53)then return end local as=p*e if not((G*e)<2^53)then return end if not((as+fu)<2^53)then
return end local CK=as+fu local ag if fu==0 then ag=D else local CL=fu%e local eH=(fu-CL)/e if not((D+eH)<2^53)then
return end ag=D+eH end if 2^53<=ag then return end if not((G*e)<CK)then if not(p<2^53)then return end
local O=F*((not(p==0))and 2 or((not(v==0))and 1 or 0)) if not((aj+O)<2^53)then return end local ak=aj+O
if not((ak*1000)<2^53)then return end local ge=ak*1000 local hD=(g<ge)and(ge-g)or 0 local je=hD%1e6
local eJ=(je==0)and(hD/1e6)or(((hD-je)/1e6)+1) if 2^53<=eJ then return end if cy=='LINE'then local hd if v==0 then hd=0
else local jw=g-N local jx=(jw<e)and(e-jw)or 0 if not((v*jx)<2^53)then return end hd=v*jx end local dp=(p<G)and(G-p)or 0
local lj if hd==0 then lj=0 else local gs=hd%e local Di=(gs==0)and(hd/e)or(((hd-gs)/e)+1) lj=Di end
local al=(lj<dp)and(dp-lj)or 0 local fI local lv if al<G then local eT=al+1 local ew local aP=G-eT if not(N<2^53)then
return end if aP<0 then ew=nil else if aP<p then if not((N+e)<2^53)then return end local dY=N+e local ln if p==0 then
ln=0 else if not((aP*e)<2^53)then return end local cv=aP*e local wX=(cv-(cv%p))/p ln=(wX<e)and(e-wX)or 0 end
if not((dY+ln)<2^53)then return end local gu=dY+ln local eW=(g<gu)and(gu-g)or 0 local hZ=eW%1000
ew=(hZ==0)and(eW/1000)or(((eW-hZ)/1000)+1) else local xa=aP-p local bM if v==0 then bM=0 else if not((xa*e)<2^53)then
return end local jE=xa*e local mZ=(jE-(jE%v))/v bM=(mZ<e)and(e-mZ)or 0 end if not((N+bM)<2^53)then return end
local xd=N+bM local td=(g<xd)and(xd-g)or 0 local xe=td%1000 ew=(xe==0)and(td/1000)or(((td-xe)/1000)+1) end end
local na=ew or(-1) local qN if eT==G then qN=na else local ey if 0<p then if not((N+e)<2^53)then return end local xg=N+e
local aI if p==0 then aI=0 else local jF=(0-(0%p))/p aI=(jF<e)and(e-jF)or 0 end if not((xg+aI)<2^53)then return end
local nf=xg+aI local ng=(g<nf)and(nf-g)or 0 local xn=ng%1000 ey=(xn==0)and(ng/1000)or(((ng-xn)/1000)+1) else
local xp=0-p local lu if v==0 then lu=0 else if not((xp*e)<2^53)then return end local nh=xp*e local ea=(nh-(nh%v))/v
lu=(ea<e)and(e-ea)or 0 end if not((N+lu)<2^53)then return end local fb=N+lu local ig=(g<fb)and(fb-g)or 0
local ec=ig%1000 ey=(ec==0)and(ig/1000)or(((ig-ec)/1000)+1) end qN=ey end fI=na lv=qN else fI=0 lv=0 end
if 2^53<=lv then return end local nl=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',ag,eJ,G,al,fI,lv,C,am) local ck
if not redis.REDIS_VERSION_NUM then return end local jM=d('PEXPIRETIME',P) local ds=(0<=jM)and jM or nil if ds then
if 2^53<=ds then return end if not(ak<2^53)then return end if not((ak+5000)<2^53)then return end local jO=ak+5000
if ds<ak then ck=jO else if not(jO<ds)then ck=nil else ck=jO end end else if not(ak<2^53)then return end
if not((ak+5000)<2^53)then return end return end if ck then local cJ if ck==0 then cJ='1' else local Dx=b('%d',ck) cJ=Dx
end local ff=d('SET',P,b('C:%d:%d:%d:%d',F,((aj-(aj%F))/F),p,v),'PXAT',cJ) else
local ik=d('SET',P,b('C:%d:%d:%d:%d',F,((aj-(aj%F))/F),p,v),'KEEPTTL') end fl=nl else if cy then return end local bv
if not redis.REDIS_VERSION_NUM then return end local ee=d('PEXPIRETIME',P) local nu=(0<=ee)and ee or nil if nu then
if 2^53<=nu then return end if not(ak<2^53)then return end if not((ak+5000)<2^53)then return end local jT=ak+5000
if nu<ak then bv=jT else if not(jT<nu)then bv=nil else bv=jT end end else if not(ak<2^53)then return end
if not((ak+5000)<2^53)then return end return end if bv then local ru if bv==0 then ru='1' else local tw=b('%d',bv) ru=tw
end local xV=d('SET',P,b('C:%d:%d:%d:%d',F,((aj-(aj%F))/F),p,v),'PXAT',ru) else
local Es=d('SET',P,b('C:%d:%d:%d:%d',F,((aj-(aj%F))/F),p,v),'KEEPTTL') end fl={1,ag,eJ} end else if C<aj then return end
local mv=(D<G)and(G-D)or 0 local dz local de=G-am if not(N<2^53)then return end if de<0 then dz=nil else if de<D then
if not((N+e)<2^53)then return end local wf=N+e local cC if D==0 then cC=0 else if not((de*e)<2^53)then return end
local jj=de*e local gg=(jj-(jj%D))/D cC=(gg<e)and(e-gg)or 0 end if not((wf+cC)<2^53)then return end local hH=wf+cC
local sL=(g<hH)and(hH-g)or 0 local df=sL%1000 dz=(df==0)and(sL/1000)or(((sL-df)/1000)+1) else local wl=de-D local kS
if v==0 then kS=0 else if not((wl*e)<2^53)then return end local dT=wl*e local mz=(dT-(dT%v))/v kS=(mz<e)and(e-mz)or 0
end if not((N+kS)<2^53)then return end local gi=N+kS local hI=(g<gi)and(gi-g)or 0 local mA=hI%1000
dz=(mA==0)and(hI/1000)or(((hI-mA)/1000)+1) end end local er if dz then if 2^53<=dz then return end local dW=dz%1000
local bq=(dz<0)and(-1)or((dW==0)and(dz/1000)or(((dz-dW)/1000)+1)) er=bq else er=-1 end local wq=(er==0)and 1 or er
local nZ if cy=='LINE'then local hl if v==0 then hl=0 else local bf=g-N local ca=(bf<e)and(e-bf)or 0
if not((v*ca)<2^53)then return end hl=v*ca end local lH if hl==0 then lH=0 else local kb=hl%e
local nA=(kb==0)and(hl/e)or(((hl-kb)/e)+1) lH=nA end local gF=(lH<mv)and(mv-lH)or 0 local kn if de<0 then kn=nil else
if de<D then if not((N+e)<2^53)then return end local nB=N+e local lJ if D==0 then lJ=0 else if not((de*e)<2^53)then
return end local kf=de*e local nD=(kf-(kf%D))/D lJ=(nD<e)and(e-nD)or 0 end if not((nB+lJ)<2^53)then return end
local yd=nB+lJ local fO=(g<yd)and(yd-g)or 0 local tC=fO%1000 kn=(tC==0)and(fO/1000)or(((fO-tC)/1000)+1) else
local cM=de-D local km if v==0 then km=0 else if not((cM*e)<2^53)then return end local tE=cM*e local lN=(tE-(tE%v))/v
km=(lN<e)and(e-lN)or 0 end if not((N+km)<2^53)then return end local tG=N+km local rB=(g<tG)and(tG-g)or 0
local tH=rB%1000 kn=(tH==0)and(rB/1000)or(((rB-tH)/1000)+1) end end local tI=kn or(-1) local nY local kt if gF<G then
local tL=gF+1 local kp local cN=G-tL if cN<0 then kp=nil else if cN<D then if not((N+e)<2^53)then return end
local eC=N+e local bg if D==0 then bg=0 else if not((cN*e)<2^53)then return end local bn=cN*e local hn=(bn-(bn%D))/D
bg=(hn<e)and(e-hn)or 0 end if not((eC+bg)<2^53)then return end local tP=eC+bg local iN=(g<tP)and(tP-g)or 0
local tU=iN%1000 kp=(tU==0)and(iN/1000)or(((iN-tU)/1000)+1) else local tV=cN-D local dw if v==0 then dw=0 else
if not((tV*e)<2^53)then return end local bP=tV*e local dK=(bP-(bP%v))/v dw=(dK<e)and(e-dK)or 0 end
if not((N+dw)<2^53)then return end local ua=N+dw local fP=(g<ua)and(ua-g)or 0 local uc=fP%1000
kp=(uc==0)and(fP/1000)or(((fP-uc)/1000)+1) end end local hp=kp or(-1) local nX if tL==G then nX=hp else local nW
if 0<D then if not((N+e)<2^53)then return end local ue=N+e local kr if D==0 then kr=0 else local uj=(0-(0%D))/D
kr=(uj<e)and(e-uj)or 0 end if not((ue+kr)<2^53)then return end local uk=ue+kr local rJ=(g<uk)and(uk-g)or 0
local un=rJ%1000 nW=(un==0)and(rJ/1000)or(((rJ-un)/1000)+1) else local uo=0-D local ks if v==0 then ks=0 else
if not((uo*e)<2^53)then return end local lW=uo*e local up=(lW-(lW%v))/v ks=(up<e)and(e-up)or 0 end
if not((N+ks)<2^53)then return end local us=N+ks local lY=(g<us)and(us-g)or 0 local ut=lY%1000
nW=(ut==0)and(lY/1000)or(((lY-ut)/1000)+1) end nX=nW end nY=hp kt=nX else nY=0 kt=0 end if(2^53<=tI)or(2^53<=kt)then
return end local ys=b('0 %d %d %d %d %d %d %d 0 %d 0 0',ag,wq,G,gF,tI,nY,kt,C) nZ=ys else if cy then return end
nZ={0,ag,wq} end fl=nZ end end end else return end end end else local bb=C-(C%F) if not(am<2^53)then return end
if not((am*e)<2^53)then return end local gl=am*e if not((G*e)<2^53)then return end if not(gl<2^53)then return end
if not((G*e)<gl)then local eN=F*2 if not((bb+eN)<2^53)then return end local ct=bb+eN if not((ct*1000)<2^53)then return
end local gp=ct*1000 local hP=(g<gp)and(gp-g)or 0 local eO=hP%1e6 local sV=(eO==0)and(hP/1e6)or(((hP-eO)/1e6)+1)
if 2^53<=sV then return end if cy=='LINE'then local iO=(am<G)and(G-am)or 0 local fR=(0<iO)and iO or 0 local om local kx
if fR<G then local uF=fR+1 local kv local lZ=G-uF if not((bb*1000)<2^53)then return end local bQ=bb*1000 if lZ<0 then
kv=nil else local ma=lZ<am if ma then if not((bQ+e)<2^53)then return end local fS=bQ+e if not((lZ*e)<2^53)then return
end local hr=lZ*e local yw=hr%am local uI=(hr-yw)/am local uJ=(uI<e)and(e-uI)or 0 if not((fS+uJ)<2^53)then return end
local hs=fS+uJ local iS=(g<hs)and(hs-g)or 0 local uN=iS%1000 kv=(uN==0)and(iS/1000)or(((iS-uN)/1000)+1) else
if not(bQ<2^53)then return end local rV=(g<bQ)and(bQ-g)or 0 local dM=rV%1000 kv=(dM==0)and(rV/1000)or(((rV-dM)/1000)+1)
end end local uQ=kv or(-1) local ol if uF==G then ol=uQ else if not(bQ<2^53)then return end if not((bQ+e)<2^53)then
return end local mb=bQ+e local mc=0%am local uU=(0-mc)/am local md=(uU<e)and(e-uU)or 0 if not((mb+md)<2^53)then return
end local me=mb+md local iT=(g<me)and(me-g)or 0 local uV=iT%1000 ol=(uV==0)and(iT/1000)or(((iT-uV)/1000)+1) end om=uQ
kx=ol else om=0 kx=0 end if 2^53<=kx then return end local yD=b('1 0 %d %d %d 0 %d %d 0 %d 0 %d',sV,G,fR,om,kx,C,am)
if not(ct<2^53)then return end if not((ct+5000)<2^53)then return end local uX=ct+5000
local sa=b('C:%d:%d:%d:0',F,((bb-(bb%F))/F),am) local on if uX==0 then on='1' else on=b('%d',uX) end
local DS=d('SET',P,sa,'PXAT',on) fl=yD else if cy then return end if not(ct<2^53)then return end
if not((ct+5000)<2^53)then return end local uZ=ct+5000 local yT=b('C:%d:%d:%d:0',F,((bb-(bb%F))/F),am) local oo
if uZ==0 then oo='1' else oo=b('%d',uZ) end local DT=d('SET',P,yT,'PXAT',oo) fl={1,0,sV} end else local bu local mQ=G-am
if not((bb*1000)<2^53)then return end local au=bb*1000 if mQ<0 then bu=nil else if not(au<2^53)then return end
local hR=(g<au)and(au-g)or 0 local eR=hR%1000 bu=(eR==0)and(hR/1000)or(((hR-eR)/1000)+1) end local et if bu then
if 2^53<=bu then return end local cu=bu%1000 local gr=(bu<0)and(-1)or((cu==0)and(bu/1000)or(((bu-cu)/1000)+1)) et=gr
else et=-1 end local jv=(et==0)and 1 or et local ej if cy=='LINE'then local ov if not(au<2^53)then return end
if mQ<0 then ov=nil else local iU=(g<au)and(au-g)or 0 local mh=iU%1000 ov=(mh==0)and(iU/1000)or(((iU-mh)/1000)+1) end
local vc=ov or(-1) if 2^53<=vc then return end ej=b('0 0 %d %d %d %d 0 0 0 %d 0 0',jv,G,G,vc,C) else if cy then return
end ej={0,0,jv} end fl=ej end end else return end else return end return fl end, TOKEN=function(K,f)
local m,ab,b,d=string.find,string.match,string.format,redis.call local is local bo=f[2] local bx=f[3] local dN=f[4]
if not bx then return end local cn=f[5] local cb local I local ae if(dN=='LINE')and(not cn)then cb=5 I=1 ae='LINE' else
local s local n local W if dN then if cn then
if not(((((f[6]=='LINE')and(not f[7]))and((#cn)<16))and(dN=='COST'))and m(cn,'^[1-9]%d*$'))then return end s=7 n=cn+0
W='LINE' else if(((f[6]=='LINE')and(not f[7]))and(dN=='COST'))and m('','^[1-9]%d*$')then return end return end else s=4
n=1 W=nil end cb=s I=n ae=W end if not(((#bx)<16)and m(bx,'^[1-9]%d*$'))then return end local a=bx+0
local iY,af=ab(bo,'^([1-9]%d*)(%l*)$') if iY then if(#bo)<16 then
local E=(af=='')and 1000 or((af=='ms')and 1 or((af=='s')and 1000 or((af=='m')and 60000 or((af=='h')and 3.6e6 or((af=='d')and 8.64e7 or nil)))))
local ah=E and(iY*E)or E if(not ah)or((ah<1)or(1e15<ah))then return end if not(ah<9e12)then return end local c=ah*1000
if not((a*c)<2^53)then return end local M=a*c local H=f[cb] if H then return end local ja=d('TIME')
local C=(ja[1]*1e6)+ja[2] local aM=(C-(C%1000))/1000 local x=K[1] if not x then return end
if m(x,':reserved',1,true)then return end if not((#K)==1)then return end local t=d('GET',x) if t then
local aY,Q,eD,fX,u=ab(t,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not aY then return else if m(t,':0%d')then return else
local z=((#fX)<17)and(fX+0) if not((#aY)<16)then return end if not((#Q)<16)then return end if not((#eD)<16)then return
end if z then if not(z<9e15)then return end local aZ=aY+0 local D=Q+0 local R=eD+0 if not((1<=R)and(R<=1e15))then return
else if not(u=='')then return end if(R*1000)<=D then return end if(not(R==ah))and(not(D==0))then return end
if not((aZ*c)<2^53)then return end local ai=aZ*c if not((ai+D)<2^53)then return end local bA=ai+D
local ad=(M<bA)and M or bA local ba=(z<C)and(C-z)or 0 if not((ba*a)<2^53)then return end local cX=ba*a
local p=(cX<ad)and(ad-cX)or 0 if not((I*c)<2^53)then return end local bS=I*c if not((p+bS)<2^53)then return end
local dP=p+bS local V=p%c local aA=(p-V)/c local ag if V==0 then ag=aA else if not((aA+1)<2^53)then return end ag=aA+1
end if 2^53<=ag then return end if not(M<dP)then if not((aA+I)<2^53)then return end local aB=aA+I local da=dP%a
local bT=(da==0)and(dP/a)or(((dP-da)/a)+1) local gd=bT%1e6 local O=(gd==0)and(bT/1e6)or(((bT-gd)/1e6)+1) if 2^53<=O then
return end local pW if ae=='LINE'then if not((aB*c)<2^53)then return end local bB=aB*c if not((bB+V)<2^53)then return
end local wj=bB+V local wn=(M<wj)and M or wj local dg=(0<wn)and wn or 0 local gi=dg%c
local wp=(gi==0)and(dg/c)or(((dg-gi)/c)+1) local cr=(wp<a)and(a-wp)or 0 local pT local lb if cr<a then local gk=cr+1
local cf local bq=a-gk if bq<0 then cf=nil else if not((bq*c)<2^53)then return end local wr=bq*c
local dh=(wr<dg)and(dg-wr)or 0 local hJ=dh%a local hK=(hJ==0)and(dh/a)or(((dh-hJ)/a)+1) local cs=hK%1000
cf=(cs==0)and(hK/1000)or(((hK-cs)/1000)+1) end local mF=cf or(-1) local fA if gk==a then fA=mF else
local bC=(0<dg)and dg or 0 local mI=bC%a local gm=(mI==0)and(bC/a)or(((bC-mI)/a)+1) local bD=gm%1000
fA=(bD==0)and(gm/1000)or(((gm-bD)/1000)+1) end pT=mF lb=fA else pT=0 lb=0 end if 2^53<=lb then return end
local mM=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',ag,O,a,cr,pT,lb,aM,I) pW=mM else if ae then return end pW={1,ag,O} end
local he if not redis.REDIS_VERSION_NUM then return end local eO=d('PEXPIRETIME',x) local dj=(0<=eO)and eO or nil
if dj then if 2^53<=dj then return end if not((aB*c)<2^53)then return end local mP=aB*c if not((mP+V)<2^53)then return
end local dk=mP+V local jr=(M<dk)and M or dk local eP=jr%a local wD=(eP==0)and(jr/a)or(((jr-eP)/a)+1)
if not((C+wD)<2^53)then return end local eQ=C+wD local aE=eQ%1000 local dl=(aE==0)and(eQ/1000)or(((eQ-aE)/1000)+1)
if not((dl+5000)<2^53)then return end local gr=dl+5000 if dj<dl then he=gr else local qp if not(gr<dj)then qp=true else
if not(ai<2^53)then return end if not(bA<2^53)then return end local mW=ad%a local dm=(mW==0)and(ad/a)or(((ad-mW)/a)+1)
if not((z+dm)<2^53)then return end local dX=z+dm local jy=dX%1000 local mX=(jy==0)and(dX/1000)or(((dX-jy)/1000)+1)
if not((mX+5000)<2^53)then return end qp=(mX+5000)<dj end if qp then he=nil else he=gr end end else
if not((aB*c)<2^53)then return end local aP=aB*c if not((aP+V)<2^53)then return end local eU=aP+V
local dq=(M<eU)and M or eU local wW=dq%a local cv=(wW==0)and(dq/a)or(((dq-wW)/a)+1) if not((C+cv)<2^53)then return end
local hX=C+cv local wY=hX%1000 if not((((wY==0)and(hX/1000)or(((hX-wY)/1000)+1))+5000)<2^53)then return end return end
if he then local cH if he==0 then cH='1' else local tb=b('%d',he) cH=tb end
local Ei=d('SET',x,b('T:%d:%d:%d:%d',aB,V,ah,C),'PXAT',cH) else
local gw=d('SET',x,b('T:%d:%d:%d:%d',aB,V,ah,C),'KEEPTTL') end is=pW else if C<z then return end
local cp=(V==0)and(p/c)or(aA+1) local gf=(cp<a)and(a-cp)or 0 local ay local at=a-I if at<0 then ay=nil else
if not((at*c)<2^53)then return end local db=at*c local cq=(db<p)and(p-db)or 0 local dc=cq%a
local dd=(dc==0)and(cq/a)or(((cq-dc)/a)+1) local aC=dd%1000 ay=(aC==0)and(dd/1000)or(((dd-aC)/1000)+1) end local bj
if ay then if 2^53<=ay then return end local jh=ay%1000
local sK=(ay<0)and(-1)or((jh==0)and(ay/1000)or(((ay-jh)/1000)+1)) bj=sK else bj=-1 end local dR=(bj==0)and 1 or bj
local qW if ae=='LINE'then if not(ai<2^53)then return end if not(bA<2^53)then return end if not(cX<2^53)then return end
local fH if at<0 then fH=nil else if not((at*c)<2^53)then return end local xm=at*c local ti=(xm<p)and(p-xm)or 0
local xq=ti%a local jH=(xq==0)and(ti/a)or(((ti-xq)/a)+1) local xr=jH%1000 fH=(xr==0)and(jH/1000)or(((jH-xr)/1000)+1) end
local jJ=fH or(-1) local bm local ly if gf<a then local xt=gf+1 local qO local ie=a-xt if ie<0 then qO=nil else
if not((ie*c)<2^53)then return end local ih=ie*c local ec=(ih<p)and(p-ih)or 0 local nk=ec%a
local fc=(nk==0)and(ec/a)or(((ec-nk)/a)+1) local gy=fc%1000 qO=(gy==0)and(fc/1000)or(((fc-gy)/1000)+1) end
local fd=qO or(-1) local qT if xt==a then qT=fd else local gz=(0<p)and p or 0 local xA=gz%a
local bs=(xA==0)and(gz/a)or(((gz-xA)/a)+1) local xC=bs%1000 qT=(xC==0)and(bs/1000)or(((bs-xC)/1000)+1) end bm=fd ly=qT
else bm=0 ly=0 end if(2^53<=jJ)or(2^53<=ly)then return end
local fe=b('0 %d %d %d %d %d %d %d 0 %d 0 0',ag,dR,a,gf,jJ,bm,ly,aM) qW=fe else if ae then return end qW={0,ag,dR} end
local lD if not redis.REDIS_VERSION_NUM then return end local gA=d('PEXPIRETIME',x) local dt=(0<=gA)and gA or nil
if dt then if 2^53<=dt then return end if not(ai<2^53)then return end if not(bA<2^53)then return end local ij=ad%a
local xK=(ij==0)and(ad/a)or(((ad-ij)/a)+1) if not((z+xK)<2^53)then return end local tr=z+xK local xL=tr%1000
local ts=(xL==0)and(tr/1000)or(((tr-xL)/1000)+1) local fL if dt<ts then if not((ts+5000)<2^53)then return end fL=ts+5000
else fL=nil end lD=fL else if not(ai<2^53)then return end if not(bA<2^53)then return end local jU=ad%a
if not((z+((jU==0)and(ad/a)or(((ad-jU)/a)+1)))<2^53)then return end lD=nil end if lD then local nw=b('%d',lD)
local Eq=d('PEXPIREAT',x,nw) end is=qW end end else return end end end else if not((I*c)<2^53)then return end
local jX=I*c if not(jX<2^53)then return end local bX=0%c local bY=(0-bX)/c local fM if bX==0 then fM=bY else
if not((bY+1)<2^53)then return end fM=bY+1 end if 2^53<=fM then return end if not(M<jX)then if not((bY+I)<2^53)then
return end local bZ=bY+I local ca=jX%a local tx=(ca==0)and(jX/a)or(((jX-ca)/a)+1) local gE=tx%1e6
local jZ=(gE==0)and(tx/1e6)or(((tx-gE)/1e6)+1) if 2^53<=jZ then return end local nQ if ae=='LINE'then
if not((bZ*c)<2^53)then return end local lK=bZ*c if not((lK+bX)<2^53)then return end local lM=lK+bX
local tF=(M<lM)and M or lM local dJ=(0<tF)and tF or 0 local tJ=dJ%c local tK=(tJ==0)and(dJ/c)or(((dJ-tJ)/c)+1)
local iK=(tK<a)and(a-tK)or 0 local nO local dw if iK<a then local lO=iK+1 local nM local eC=a-lO if eC<0 then nM=nil
else if not((eC*c)<2^53)then return end local iL=eC*c local bn=(iL<dJ)and(dJ-iL)or 0 local tN=bn%a
local hn=(tN==0)and(bn/a)or(((bn-tN)/a)+1) local ho=hn%1000 nM=(ho==0)and(hn/1000)or(((hn-ho)/1000)+1) end
local tQ=nM or(-1) local nN if lO==a then nN=tQ else local rF=(0<dJ)and dJ or 0 local tX=rF%a
local bP=(tX==0)and(rF/a)or(((rF-tX)/a)+1) local dK=bP%1000 nN=(dK==0)and(bP/1000)or(((bP-dK)/1000)+1) end nO=tQ dw=nN
else nO=0 dw=0 end if 2^53<=dw then return end local lQ=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',fM,jZ,a,iK,nO,dw,aM,I) nQ=lQ
else if ae then return end nQ={1,fM,jZ} end if not((bZ*c)<2^53)then return end local uh=bZ*c if not((uh+bX)<2^53)then
return end local ui=uh+bX local dL=(M<ui)and M or ui local ul=dL%a local um=(ul==0)and(dL/a)or(((dL-ul)/a)+1)
if not((C+um)<2^53)then return end local rK=C+um local lU=rK%1000 local lV=(lU==0)and(rK/1000)or(((rK-lU)/1000)+1)
if not((lV+5000)<2^53)then return end local lX=lV+5000 local nV if lX==0 then nV='1' else nV=b('%d',lX) end
local lY=d('SET',x,b('T:%d:%d:%d:%d',bZ,bX,ah,C),'PXAT',nV) is=nQ else local nA=(bX==0)and(0/c)or(bY+1)
local im=(nA<a)and(a-nA)or 0 local bw local du=a-I if du<0 then bw=nil else if not((du*c)<2^53)then return end
local io=du*c local tz=(io<0)and(0-io)or 0 local fj=tz%a local ke=(fj==0)and(tz/a)or(((tz-fj)/a)+1) local nC=ke%1000
bw=(nC==0)and(ke/1000)or(((ke-nC)/1000)+1) end local lI if bw then if 2^53<=bw then return end local ip=bw%1000
local DR=(bw<0)and(-1)or((ip==0)and(bw/1000)or(((bw-ip)/1000)+1)) lI=DR else lI=-1 end local yb=(lI==0)and 1 or lI
local oh if ae=='LINE'then local ob if du<0 then ob=nil else if not((du*c)<2^53)then return end local rO=du*c
local rP=(rO<0)and(0-rO)or 0 local uz=rP%a local rQ=(uz==0)and(rP/a)or(((rP-uz)/a)+1) local uA=rQ%1000
ob=(uA==0)and(rQ/1000)or(((rQ-uA)/1000)+1) end local uB=ob or(-1) local of local ku if im<a then local uC=im+1 local oc
local rR=a-uC if rR<0 then oc=nil else if not((rR*c)<2^53)then return end local iO=rR*c local fR=(iO<0)and(0-iO)or 0
local uD=fR%a local rS=(uD==0)and(fR/a)or(((fR-uD)/a)+1) local uG=rS%1000 oc=(uG==0)and(rS/1000)or(((rS-uG)/1000)+1) end
local iP=oc or(-1) local oe if uC==a then oe=iP else local fT=0%a local iQ=(fT==0)and(0/a)or(((0-fT)/a)+1)
local iR=iQ%1000 oe=(iR==0)and(iQ/1000)or(((iQ-iR)/1000)+1) end of=iP ku=oe else of=0 ku=0 end
if(2^53<=uB)or(2^53<=ku)then return end local iS=b('0 %d %d %d %d %d %d %d 0 %d 0 0',fM,yb,a,im,uB,of,ku,aM) oh=iS else
if ae then return end oh={0,fM,yb} end is=oh end end else return end else return end return is end, LEAKY=function(K,f)
local m,ab,b,d=string.find,string.match,string.format,redis.call local it local bo=f[2] local bx=f[3] local dN=f[4]
if not bx then return end local cn=f[5] local cb local I local ae if(dN=='LINE')and(not cn)then cb=5 I=1 ae='LINE' else
local s local n local W if dN then if cn then
if not(((((f[6]=='LINE')and(not f[7]))and((#cn)<16))and(dN=='COST'))and m(cn,'^[1-9]%d*$'))then return end s=7 n=cn+0
W='LINE' else if(((f[6]=='LINE')and(not f[7]))and(dN=='COST'))and m('','^[1-9]%d*$')then return end return end else s=4
n=1 W=nil end cb=s I=n ae=W end if not(((#bx)<16)and m(bx,'^[1-9]%d*$'))then return end local a=bx+0
local iY,af=ab(bo,'^([1-9]%d*)(%l*)$') if iY then if(#bo)<16 then
local E=(af=='')and 1000 or((af=='ms')and 1 or((af=='s')and 1000 or((af=='m')and 60000 or((af=='h')and 3.6e6 or((af=='d')and 8.64e7 or nil)))))
local ah=E and(iY*E)or E if(not ah)or((ah<1)or(1e15<ah))then return end if not(ah<9e12)then return end local c=ah*1000
if not((a*c)<2^53)then return end local M=a*c local H=f[cb] if H then return end local ja=d('TIME')
local C=(ja[1]*1e6)+ja[2] local aM=(C-(C%1000))/1000 local x=K[1] if not x then return end
if m(x,':reserved',1,true)then return end if not((#K)==1)then return end local t=d('GET',x) if t then
local aY,Q,eD,fX,u=ab(t,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not aY then return else if m(t,':0%d')then return else
local z=((#fX)<17)and(fX+0) if not((#aY)<16)then return end if not((#Q)<16)then return end if not((#eD)<16)then return
end if z then if not(z<9e15)then return end local aZ=aY+0 local D=Q+0 local R=eD+0 if not((1<=R)and(R<=1e15))then return
else if not(u=='')then return end if(R*1000)<=D then return end if(not(R==ah))and(not(D==0))then return end
if not((aZ*c)<2^53)then return end local ai=aZ*c if not((ai+D)<2^53)then return end local bA=ai+D
local ad=(M<bA)and M or bA local ba=(z<C)and(C-z)or 0 if not((ba*a)<2^53)then return end local cX=ba*a
local p=(cX<ad)and(ad-cX)or 0 if not((I*c)<2^53)then return end local bS=I*c if not((p+bS)<2^53)then return end
local dP=p+bS local V=p%c local aA=(p-V)/c local ag if V==0 then ag=aA else if not((aA+1)<2^53)then return end ag=aA+1
end if 2^53<=ag then return end if not(M<dP)then if not((aA+I)<2^53)then return end local aB=aA+I local da=dP%a
local bT=(da==0)and(dP/a)or(((dP-da)/a)+1) local gd=bT%1e6 local O=(gd==0)and(bT/1e6)or(((bT-gd)/1e6)+1) if 2^53<=O then
return end local dS=p%a local B=(dS==0)and(p/a)or(((p-dS)/a)+1) local pY if ae=='LINE'then local fB
if not((aB*c)<2^53)then return end local dT=aB*c if not((dT+V)<2^53)then return end local eM=dT+V
local jm=(M<eM)and M or eM local cr=(0<jm)and jm or 0 local dV=cr%c local gj=(dV==0)and(cr/c)or(((cr-dV)/c)+1)
local dW=(gj<a)and(a-gj)or 0 local pV local lc if dW<a then local wt=dW+1 local pN local hJ=a-wt if hJ<0 then pN=nil
else if not((hJ*c)<2^53)then return end local bU=hJ*c local cs=(bU<cr)and(cr-bU)or 0 local mG=cs%a
local jo=(mG==0)and(cs/a)or(((cs-mG)/a)+1) local bc=jo%1000 pN=(bc==0)and(jo/1000)or(((jo-bc)/1000)+1) end
local hL=pN or(-1) local pU if wt==a then pU=hL else local bD=(0<cr)and cr or 0 local bV=bD%a
local hN=(bV==0)and(bD/a)or(((bD-bV)/a)+1) local mL=hN%1000 pU=(mL==0)and(hN/1000)or(((hN-mL)/1000)+1) end pV=hL lc=pU
else pV=0 lc=0 end if 2^53<=lc then return end if not(B==0)then local eN=B%1000
local ct=(eN==0)and(B/1000)or(((B-eN)/1000)+1) if 2^53<=ct then return end fB=ct else fB=0 end
local Dc=b('1 %d %d %d %d 0 %d %d %d %d 0 %d',ag,O,a,dW,pV,lc,fB,aM,I) pY=Dc else if ae then return end pY={1,ag,O} end
local az if not redis.REDIS_VERSION_NUM then return end local dk=d('PEXPIRETIME',x) local au=(0<=dk)and dk or nil
if au then if 2^53<=au then return end if not((aB*c)<2^53)then return end local hR=aB*c if not((hR+V)<2^53)then return
end local eQ=hR+V local eS=(M<eQ)and M or eQ local wF=eS%a local wG=(wF==0)and(eS/a)or(((eS-wF)/a)+1)
if not((C+wG)<2^53)then return end local hS=C+wG local mV=hS%1000 local hT=(mV==0)and(hS/1000)or(((hS-mV)/1000)+1)
if not((hT+5000)<2^53)then return end local hU=hT+5000 if au<hT then az=hU else local qt if not(hU<au)then qt=true else
if not(ai<2^53)then return end if not(bA<2^53)then return end local al=ad%a local bd=(al==0)and(ad/a)or(((ad-al)/a)+1)
if not((z+bd)<2^53)then return end local hW=z+bd local wR=hW%1000 local wS=(wR==0)and(hW/1000)or(((hW-wR)/1000)+1)
if not((wS+5000)<2^53)then return end qt=(wS+5000)<au end if qt then az=nil else az=hU end end else
if not((aB*c)<2^53)then return end local jB=aB*c if not((jB+V)<2^53)then return end local hX=jB+V
local be=(M<hX)and M or hX local wZ=be%a local jD=(wZ==0)and(be/a)or(((be-wZ)/a)+1) if not((C+jD)<2^53)then return end
local eX=C+jD local tc=eX%1000 if not((((tc==0)and(eX/1000)or(((eX-tc)/1000)+1))+5000)<2^53)then return end return end
if az then local ev if az==0 then ev='1' else local bE=b('%d',az) ev=bE end
local Ej=d('SET',x,b('L:%d:%d:%d:%d',aB,V,ah,C),'PXAT',ev) else
local eY=d('SET',x,b('L:%d:%d:%d:%d',aB,V,ah,C),'KEEPTTL') end it=pY else if C<z then return end
local cp=(V==0)and(p/c)or(aA+1) local gf=(cp<a)and(a-cp)or 0 local ay local at=a-I if at<0 then ay=nil else
if not((at*c)<2^53)then return end local db=at*c local cq=(db<p)and(p-db)or 0 local dc=cq%a
local dd=(dc==0)and(cq/a)or(((cq-dc)/a)+1) local aC=dd%1000 ay=(aC==0)and(dd/1000)or(((dd-aC)/1000)+1) end local bj
if ay then if 2^53<=ay then return end local jh=ay%1000
local sK=(ay<0)and(-1)or((jh==0)and(ay/1000)or(((ay-jh)/1000)+1)) bj=sK else bj=-1 end local dR=(bj==0)and 1 or bj
local rb if ae=='LINE'then if not(ai<2^53)then return end if not(bA<2^53)then return end if not(cX<2^53)then return end
local fI if at<0 then fI=nil else if not((at*c)<2^53)then return end local ic=at*c local id=(ic<p)and(p-ic)or 0
local ig=id%a local ih=(ig==0)and(id/a)or(((id-ig)/a)+1) local xu=ih%1000 fI=(xu==0)and(ih/1000)or(((ih-xu)/1000)+1) end
local fc=fI or(-1) local qY local cj if gf<a then local dr=gf+1 local qS local jL=a-dr if jL<0 then qS=nil else
if not((jL*c)<2^53)then return end local xw=jL*c local tl=(xw<p)and(p-xw)or 0 local xy=tl%a
local gz=(xy==0)and(tl/a)or(((tl-xy)/a)+1) local bs=gz%1000 qS=(bs==0)and(gz/1000)or(((gz-bs)/1000)+1) end
local ds=qS or(-1) local ez if dr==a then ez=ds else local jN=(0<p)and p or 0 local fe=jN%a
local ed=(fe==0)and(jN/a)or(((jN-fe)/a)+1) local jQ=ed%1000 ez=(jQ==0)and(ed/1000)or(((ed-jQ)/1000)+1) end qY=ds cj=ez
else qY=0 cj=0 end if(2^53<=fc)or(2^53<=cj)then return end
local nq=b('0 %d %d %d %d %d %d %d 0 %d 0 0',ag,dR,a,gf,fc,qY,cj,aM) rb=nq else if ae then return end rb={0,ag,dR} end
local lE if not redis.REDIS_VERSION_NUM then return end local ii=d('PEXPIRETIME',x) local jS=(0<=ii)and ii or nil
if jS then if 2^53<=jS then return end if not(ai<2^53)then return end if not(bA<2^53)then return end local ee=ad%a
local xN=(ee==0)and(ad/a)or(((ad-ee)/a)+1) if not((z+xN)<2^53)then return end local tu=z+xN local gC=tu%1000
local gD=(gC==0)and(tu/1000)or(((tu-gC)/1000)+1) local rm if jS<gD then if not((gD+5000)<2^53)then return end rm=gD+5000
else rm=nil end lE=rm else if not(ai<2^53)then return end if not(bA<2^53)then return end local nw=ad%a
if not((z+((nw==0)and(ad/a)or(((ad-nw)/a)+1)))<2^53)then return end lE=nil end if lE then local DJ=b('%d',lE)
local xW=d('PEXPIREAT',x,DJ) end it=rb end end else return end end end else if not((I*c)<2^53)then return end
local jY=I*c if not(jY<2^53)then return end local bf=0%c local ca=(0-bf)/c local fN if bf==0 then fN=ca else
if not((ca+1)<2^53)then return end fN=ca+1 end if 2^53<=fN then return end if not(M<jY)then if not((ca+I)<2^53)then
return end local ka=ca+I local im=jY%a local gF=(im==0)and(jY/a)or(((jY-im)/a)+1) local kc=gF%1e6
local du=(kc==0)and(gF/1e6)or(((gF-kc)/1e6)+1) if 2^53<=du then return end local lL=0%a
local hm=(lL==0)and(0/a)or(((0-lL)/a)+1) local nU if ae=='LINE'then local nT if not((ka*c)<2^53)then return end
local cN=ka*c if not((cN+bf)<2^53)then return end local rD=cN+bf local lP=(M<rD)and M or rD local bn=(0<lP)and lP or 0
local tO=bn%c local iM=(tO==0)and(bn/c)or(((bn-tO)/c)+1) local ho=(iM<a)and(a-iM)or 0 local nS local kq if ho<a then
local tT=ho+1 local nP local rE=a-tT if rE<0 then nP=nil else if not((rE*c)<2^53)then return end local tW=rE*c
local bP=(tW<bn)and(bn-tW)or 0 local tY=bP%a local dK=(tY==0)and(bP/a)or(((bP-tY)/a)+1) local tZ=dK%1000
nP=(tZ==0)and(dK/1000)or(((dK-tZ)/1000)+1) end local ub=nP or(-1) local nR if tT==a then nR=ub else
local hp=(0<bn)and bn or 0 local ud=hp%a local rG=(ud==0)and(hp/a)or(((hp-ud)/a)+1) local fQ=rG%1000
nR=(fQ==0)and(rG/1000)or(((rG-fQ)/1000)+1) end nS=ub kq=nR else nS=0 kq=0 end if 2^53<=kq then return end
if not(hm==0)then local uf=hm%1000 local ug=(uf==0)and(hm/1000)or(((hm-uf)/1000)+1) if 2^53<=ug then return end nT=ug
else nT=0 end local yn=b('1 %d %d %d %d 0 %d %d %d %d 0 %d',fN,du,a,ho,nS,kq,nT,aM,I) nU=yn else if ae then return end
nU={1,fN,du} end if not((ka*c)<2^53)then return end local uq=ka*c if not((uq+bf)<2^53)then return end local ur=uq+bf
local rL=(M<ur)and M or ur local uu=rL%a local uv=(uu==0)and(rL/a)or(((rL-uu)/a)+1) if not((C+uv)<2^53)then return end
local rN=C+uv local uw=rN%1000 local ux=(uw==0)and(rN/1000)or(((rN-uw)/1000)+1) if not((ux+5000)<2^53)then return end
local uy=ux+5000 local oa if uy==0 then oa='1' else oa=b('%d',uy) end
local rO=d('SET',x,b('L:%d:%d:%d:%d',ka,bf,ah,C),'PXAT',oa) it=nU else local kd=(bf==0)and(0/c)or(ca+1)
local fj=(kd<a)and(a-kd)or 0 local eg local fk=a-I if fk<0 then eg=nil else if not((fk*c)<2^53)then return end
local kf=fk*c local ip=(kf<0)and(0-kf)or 0 local yc=ip%a local tA=(yc==0)and(ip/a)or(((ip-yc)/a)+1) local tB=tA%1000
eg=(tB==0)and(tA/1000)or(((tA-tB)/1000)+1) end local cw if eg then if 2^53<=eg then return end local tD=eg%1000
local yf=(eg<0)and(-1)or((tD==0)and(eg/1000)or(((eg-tD)/1000)+1)) cw=yf else cw=-1 end local cM=(cw==0)and 1 or cw
local ok if ae=='LINE'then local od if fk<0 then od=nil else if not((fk*c)<2^53)then return end local uE=fk*c
local rT=(uE<0)and(0-uE)or 0 local iP=rT%a local bQ=(iP==0)and(rT/a)or(((rT-iP)/a)+1) local ma=bQ%1000
od=(ma==0)and(bQ/1000)or(((bQ-ma)/1000)+1) end local fS=od or(-1) local ei local kw if fj<a then local fT=fj+1 local oi
local hr=a-fT if hr<0 then oi=nil else if not((hr*c)<2^53)then return end local iR=hr*c local rU=(iR<0)and(0-iR)or 0
local uL=rU%a local hs=(uL==0)and(rU/a)or(((rU-uL)/a)+1) local uM=hs%1000 oi=(uM==0)and(hs/1000)or(((hs-uM)/1000)+1) end
local uO=oi or(-1) local oj if fT==a then oj=uO else local uP=0%a local dM=(uP==0)and(0/a)or(((0-uP)/a)+1)
local uR=dM%1000 oj=(uR==0)and(dM/1000)or(((dM-uR)/1000)+1) end ei=uO kw=oj else ei=0 kw=0 end
if(2^53<=fS)or(2^53<=kw)then return end local mb=b('0 %d %d %d %d %d %d %d 0 %d 0 0',fN,cM,a,fj,fS,ei,kw,aM) ok=mb else
if ae then return end ok={0,fN,cM} end it=ok end end else return end else return end return it end, GCRA=function(K,f)
local m,ab,b,d=string.find,string.match,string.format,redis.call local cw local aX=f[2] local aq=f[3] local aJ=f[4]
if not aq then return end local aL=f[5] local s local n local W if(aJ=='LINE')and(not aL)then s=5 n=1 W='LINE' else
local aQ local aR local aS if aJ then if aL then
if not(((((f[6]=='LINE')and(not f[7]))and((#aL)<16))and(aJ=='COST'))and m(aL,'^[1-9]%d*$'))then return end aQ=7 aR=aL+0
aS='LINE' else if(((f[6]=='LINE')and(not f[7]))and(aJ=='COST'))and m('','^[1-9]%d*$')then return end return end else
aQ=4 aR=1 aS=nil end s=aQ n=aR W=aS end if not(((#aq)<16)and m(aq,'^[1-9]%d*$'))then return end local h=aq+0
local ac,by=ab(aX,'^([1-9]%d*)(%l*)$') if ac then if(#aX)<16 then
local G=(by=='')and 1000 or((by=='ms')and 1 or((by=='s')and 1000 or((by=='m')and 60000 or((by=='h')and 3.6e6 or((by=='d')and 8.64e7 or nil)))))
local E=G and(ac*G)or G if(not E)or((E<1)or(1e15<E))then return end if not(E<9e12)then return end local vB=E*1000
if not((vB*1000)<2^53)then return end local A=vB*1000 if A<h then return end local H=A%h
local k=(H==0)and(A/h)or(((A-H)/h)+1) if not((h*k)<2^53)then return end local l=h*k local bz=f[s] if bz then return end
local aN=d('TIME') local X=(aN[1]*1e6)+aN[2] local t=(X-(X%1000))/1000 local Q=K[1] if not Q then return end
if m(Q,':reserved',1,true)then return end if not((#K)==1)then return end local u=d('GET',Q) if u then
local eE,Z=ab(u,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if(not eE)or(56<eE:byte())then return end
local z=eE+0 local aZ=Z+0 local cA local kH local vR=z<X if not vR then local vS=(X<z)and(z-X)or 0
if not((vS*1000)<2^53)then return end local fY=vS*1000 if not((fY+aZ)<2^53)then return end local N=fY+aZ if l<N then
cA=l kH=true else cA=N kH=false end else cA=0 kH=false end if not((n*k)<2^53)then return end local cT=n*k
if not((cA+cT)<2^53)then return end local ai=cA+cT local ft if not(k==0)then ft=not(l<ai) else ft=false end local fv
if k==0 then fv=0 else local ba=cA%k local CJ=(ba==0)and(cA/k)or(((cA-ba)/k)+1) fv=CJ end if 2^53<=fv then return end
if ft then local as=ai%1000 local bS=(ai-as)/1000 if not((X+bS)<2^53)then return end local aO=X+bS local ga=ai%1e9
local jd=(ga==0)and(ai/1e9)or(((ai-ga)/1e9)+1) if 2^53<=jd then return end local pK if W=='LINE'then local aT
if not(aO<X)then local aC=(X<aO)and(aO-X)or 0 if not((aC*1000)<2^53)then return end local wd=aC*1000
if not((wd+as)<2^53)then return end local jg=wd+as if l<jg then aT=l else aT=jg end else aT=0 end local cC if k==0 then
cC=0 else local wh=aT%k local gg=(wh==0)and(aT/k)or(((aT-wh)/k)+1) cC=(gg<h)and(h-gg)or 0 end local pH local aG
if cC<h then local bB=cC+1 local bG if(k==0)or(h<bB)then bG=nil else if not((bB*k)<2^53)then return end local wk=bB*k
local wm=(wk<l)and(l-wk)or 0 local dT=(wm<aT)and(aT-wm)or 0 local aD=dT%1e6 bG=(aD==0)and(dT/1e6)or(((dT-aD)/1e6)+1) end
local dU=bG or(-1) local pG if bB==h then pG=dU else local pF if k==0 then pF=nil else if not(l<2^53)then return end
local sN=(0<aT)and aT or 0 local mC=sN%1e6 pF=(mC==0)and(sN/1e6)or(((sN-mC)/1e6)+1) end pG=pF or(-1) end pH=dU aG=pG
else pH=0 aG=0 end if 2^53<=aG then return end local dh=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',fv,jd,h,cC,pH,aG,t,n) pK=dh
else if W then return end pK={1,fv,jd} end local hc if not redis.REDIS_VERSION_NUM then return end
local mH=d('PEXPIRETIME',Q) local bc=(0<=mH)and mH or nil if bc then if 2^53<=bc then return end local dC if as==0 then
dC=aO else if not((aO+1)<2^53)then return end dC=aO+1 end local go=dC%1000
local bD=(go==0)and(dC/1000)or(((dC-go)/1000)+1) if not((bD+5000)<2^53)then return end local bV=bD+5000 if bc<bD then
hc=bV else if not(bV<bc)then hc=nil else hc=bV end end else local bt if as==0 then bt=aO else if not((aO+1)<2^53)then
return end bt=aO+1 end local hO=bt%1000 local gp=(hO==0)and(bt/1000)or(((bt-hO)/1000)+1) if not((gp+5000)<2^53)then
return end return end if hc then if aO<1e6 then return end local fC if hc==0 then fC='1' else local br=b('%d',hc) fC=br
end local wz=d('SET',Q,b('%d%03d',aO,as),'PXAT',fC) else if aO<1e6 then return end
local Eg=d('SET',Q,b('%d%03d',aO,as),'KEEPTTL') end cw=pK else if kH and(not(k==0))then return end local aF
if(k==0)or(h<n)then aF=nil else if not(cT<2^53)then return end local dQ=(cT<l)and(l-cT)or 0
local O=(dQ<cA)and(cA-dQ)or 0 local ge=O%1e6 aF=(ge==0)and(O/1e6)or(((O-ge)/1e6)+1) end local aw if aF then
if 2^53<=aF then return end local je=aF%1000 local eJ=(aF<0)and(-1)or((je==0)and(aF/1000)or(((aF-je)/1000)+1)) aw=eJ
else aw=-1 end local hE=(aw==0)and 1 or aw local cg if W=='LINE'then local bH if not vR then local ju=(X<z)and(z-X)or 0
if not((ju*1000)<2^53)then return end local eR=ju*1000 if not((eR+aZ)<2^53)then return end local aE=eR+aZ if l<aE then
bH=l else bH=aE end else bH=0 end local dF if k==0 then dF=0 else local hS=bH%k
local wH=(hS==0)and(bH/k)or(((bH-hS)/k)+1) dF=(wH<h)and(h-wH)or 0 end local ql if(k==0)or(h<n)then ql=nil else
if not(cT<2^53)then return end local jx=(cT<l)and(l-cT)or 0 local dm=(jx<bH)and(bH-jx)or 0 local dX=dm%1e6
ql=(dX==0)and(dm/1e6)or(((dm-dX)/1e6)+1) end local dp=ql or(-1) local ap local bl if dF<h then local bW=dF+1 local bJ
if(k==0)or(h<bW)then bJ=nil else if not((bW*k)<2^53)then return end local wQ=bW*k local bd=(wQ<l)and(l-wQ)or 0
local hV=(bd<bH)and(bH-bd)or 0 local eT=hV%1e6 bJ=(eT==0)and(hV/1e6)or(((hV-eT)/1e6)+1) end local aP=bJ or(-1) local bK
if bW==h then bK=aP else local qw if k==0 then qw=nil else if not(l<2^53)then return end local dY=(0<bH)and bH or 0
local dZ=dY%1e6 qw=(dZ==0)and(dY/1e6)or(((dY-dZ)/1e6)+1) end bK=qw or(-1) end ap=aP bl=bK else ap=0 bl=0 end
if(2^53<=dp)or(2^53<=bl)then return end local be=b('0 %d %d %d %d %d %d %d 0 %d 0 0',fv,hE,h,dF,dp,ap,bl,t) cg=be else
if W then return end cg={0,fv,hE} end cw=cg end else if not((n*k)<2^53)then return end local bE=n*k if not(bE<2^53)then
return end local ew if not(k==0)then ew=not(l<bE) else ew=false end local ch if k==0 then ch=0 else local nc=0%k
ch=(nc==0)and(0/k)or(((0-nc)/k)+1) end if 2^53<=ch then return end if ew then local eZ=bE%1000 local nd=(bE-eZ)/1000
if not((X+nd)<2^53)then return end local fa=X+nd local ne=bE%1e9 local jG=(ne==0)and(bE/1e9)or(((bE-ne)/1e9)+1)
if 2^53<=jG then return end local rl if W=='LINE'then local bm if not(fa<X)then local xz=(X<fa)and(fa-X)or 0
if not((xz*1000)<2^53)then return end local jM=xz*1000 if not((jM+eZ)<2^53)then return end local xB=jM+eZ if l<xB then
bm=l else bm=xB end else bm=0 end local iF if k==0 then iF=0 else local ed=bm%k
local jP=(ed==0)and(bm/k)or(((bm-ed)/k)+1) iF=(jP<h)and(h-jP)or 0 end local fK local cK if iF<h then local np=iF+1
local rf if(k==0)or(h<np)then rf=nil else if not((np*k)<2^53)then return end local dt=np*k local jR=(dt<l)and(l-dt)or 0
local tq=(jR<bm)and(bm-jR)or 0 local xI=tq%1e6 rf=(xI==0)and(tq/1e6)or(((tq-xI)/1e6)+1) end local ns=rf or(-1) local fJ
if np==h then fJ=ns else local cl if k==0 then cl=nil else if not(l<2^53)then return end local ij=(0<bm)and bm or 0
local ik=ij%1e6 cl=(ik==0)and(ij/1e6)or(((ij-ik)/1e6)+1) end fJ=cl or(-1) end fK=ns cK=fJ else fK=0 cK=0 end
if 2^53<=cK then return end local fg=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',ch,jG,h,iF,fK,cK,t,n) rl=fg else if W then
return end rl={1,ch,jG} end local iG if eZ==0 then iG=fa else if not((fa+1)<2^53)then return end iG=fa+1 end
local jV=iG%1000 local xS=(jV==0)and(iG/1000)or(((iG-jV)/1000)+1) if not((xS+5000)<2^53)then return end local jW=xS+5000
if fa<1e6 then return end local rr if jW==0 then rr='1' else rr=b('%d',jW) end
local Eo=d('SET',Q,b('%d%03d',fa,eZ),'PXAT',rr) cw=rl else local ex if(k==0)or(h<n)then ex=nil else
local ea=(bE<l)and(l-bE)or 0 local ic=(ea<0)and(0-ea)or 0 local fb=ic%1e6 ex=(fb==0)and(ic/1e6)or(((ic-fb)/1e6)+1) end
local ey if ex then if 2^53<=ex then return end local ec=ex%1000
local tk=(ex<0)and(-1)or((ec==0)and(ex/1000)or(((ex-ec)/1000)+1)) ey=tk else ey=-1 end local xv=(ey==0)and 1 or ey
local rA if W=='LINE'then local iI if k==0 then iI=0 else local xX=0%k local xY=(xX==0)and(0/k)or(((0-xX)/k)+1)
iI=(xY<h)and(h-xY)or 0 end local rv if(k==0)or(h<n)then rv=nil else local nx=(bE<l)and(l-bE)or 0
local bf=(nx<0)and(0-nx)or 0 local nz=bf%1e6 rv=(nz==0)and(bf/1e6)or(((bf-nz)/1e6)+1) end local gE=rv or(-1) local rz
local bw if iI<h then local il=iI+1 local rw if(k==0)or(h<il)then rw=nil else if not((il*k)<2^53)then return end
local kb=il*k local xZ=(kb<l)and(l-kb)or 0 local ty=(xZ<0)and(0-xZ)or 0 local kc=ty%1e6
rw=(kc==0)and(ty/1e6)or(((ty-kc)/1e6)+1) end local ya=rw or(-1) local ry if il==h then ry=ya else local rx if k==0 then
rx=nil else if not(l<2^53)then return end rx=0 end ry=rx or(-1) end rz=ya bw=ry else rz=0 bw=0 end
if(2^53<=gE)or(2^53<=bw)then return end local nD=b('0 %d %d %d %d %d %d %d 0 %d 0 0',ch,xv,h,iI,gE,rz,bw,t) rA=nD else
if W then return end rA={0,ch,xv} end cw=rA end end else return end else return end return cw end, ROLLING=function(K,f)
local ye,q,nE,m,ab,cL,b,d=math.abs,string.byte,string.char,string.find,string.match,string.sub,string.format,redis.call
local kF local vt=f[2] local mm=f[3] local mn=f[4] if not mm then return end local iX=f[5] local oW local cc local cz
if(mn=='LINE')and(not iX)then oW=5 cc=1 cz='LINE' else local fo local av local bh if mn then if iX then
if not(((((f[6]=='LINE')and(not f[7]))and((#iX)<16))and(mn=='COST'))and m(iX,'^[1-9]%d*$'))then return end fo=7 av=iX+0
bh='LINE' else if(((f[6]=='LINE')and(not f[7]))and(mn=='COST'))and m('','^[1-9]%d*$')then return end return end else
fo=4 av=1 bh=nil end oW=fo cc=av cz=bh end if not(((#mm)<16)and m(mm,'^[1-9]%d*$'))then return end local e=mm+0
local M,ht=ab(vt,'^([1-9]%d*)(%l*)$') if M then if(#vt)<16 then
local H=(ht=='')and 1000 or((ht=='ms')and 1 or((ht=='s')and 1000 or((ht=='m')and 60000 or((ht=='h')and 3.6e6 or((ht=='d')and 8.64e7 or nil)))))
local aa=H and(M*H)or H if(not aa)or((aa<1)or(1e15<aa))then return end if not(aa<9e12)then return end local bz=f[oW]
if bz then return end local aN=d('TIME') local X=(aN[1]*1e6)+aN[2] local t=(X-(X%1000))/1000 local Q=K[1] if not Q then
return end if m(Q,':reserved',1,true)then return end if not((#K)==1)then return end local u=d('GET',Q) if u then local y
local T local U local Y=((#u)-2)/15 if(not(cL(u,1,2)=='R:'))or((not((Y%1)==0))or((Y<1)or(8192<Y)))then return end
local R=t-aa local pj if 0<=R then local hw,hx,CG,CH,w,sA,cQ=q(u,3,9) if 32<=cQ then return end
pj=(hw+(256*(hx+(256*(CG+(256*(CH+(256*(w+(256*(sA+(256*cQ))))))))))))<=R else pj=false end if pj then local dx
local cR=Y-1 local CI,cS,eF,dO,jb,cT,co=q(u,((15*cR)+3),((15*cR)+9)) if 32<=co then return end
if(CI+(256*(cS+(256*(eF+(256*(dO+(256*(jb+(256*(cT+(256*co))))))))))))<=R then dx=Y else local iq=0 local gS=Y
while 1<gS do local ba=(gS-(gS%2))/2 local cX=iq+ba local mt,hB,p,J,sC,as,bS=q(u,((15*cX)+3),((15*cX)+9)) if 32<=bS then
return end local eG=mt+(256*(hB+(256*(p+(256*(J+(256*(sC+(256*(as+(256*bS))))))))))) local pm if eG<=R then
local bp=iq+ba pm=bp else pm=iq end local jd=gS-ba iq,gS=pm,jd end local cY=iq local V=gS
local eH,gb,gc,eI,hC,mu,cZ=q(u,((15*cY)+3),((15*cY)+9)) if 32<=cZ then return end
dx=((eH+(256*(gb+(256*(gc+(256*(eI+(256*(hC+(256*(mu+(256*cZ))))))))))))<=R)and(cY+1)or cY end local dQ=dx-1
local sE,gd,O,ak,sF,sG,ge,sH=q(u,((15*dQ)+10),((15*dQ)+17)) local hE=sF+(256*(sG+(256*(ge+(256*sH)))))
local eK=sE+(256*(gd+(256*(O+(256*ak))))) local CQ,mv,at,hF,CR,db,CS,CT=q(u,((15*cR)+10),((15*cR)+17))
local wc=CR+(256*(db+(256*(CS+(256*CT))))) if(wc<hE)or((wc==hE)and((CQ+(256*(mv+(256*(at+(256*hF))))))<eK))then return
end y=dx T=hE U=eK else y=0 T=0 U=0 end local B=Y-1 local gg,CV,gh,mx,my,jk,CW,hH=q(u,((15*B)+10),((15*B)+17))
local eM=(((my+(256*(jk+(256*(CW+(256*hH))))))-T)*2^32)+((gg+(256*(CV+(256*(gh+(256*mx))))))-U)
local aD=(eM<0)and(eM+2^64)or eM local dU=(aD+cc)<=e if 2^53<=aD then return end if dU then local aH local dG local ev
local qF local lr local bt local mB,mC,dV,gj,gk,mD,dW=q(u,((15*B)+3),((15*B)+9)) if 32<=dW then return end
if(mB+(256*(mC+(256*(dV+(256*(gj+(256*(gk+(256*(mD+(256*dW))))))))))))<=t then bt=Y else local ir=0 local gT=Y
while 1<gT do local bU=(gT-(gT%2))/2 local cs=ir+bU local sQ,mE,mF,mG,jo,CZ,wu=q(u,((15*cs)+3),((15*cs)+9))
if 32<=wu then return end local gl=sQ+(256*(mE+(256*(mF+(256*(mG+(256*(jo+(256*(CZ+(256*wu))))))))))) local dC
if gl<=t then local mI=ir+bU dC=mI else dC=ir end local mJ=gT-bU ir,gT=dC,mJ end local gn=ir local Ef=gT
local hM,sS,sT,bV,hN,Da,mK=q(u,((15*gn)+3),((15*gn)+9)) if 32<=mK then return end
bt=((hM+(256*(sS+(256*(sT+(256*(bV+(256*(hN+(256*(Da+(256*mK))))))))))))<=t)and(gn+1)or gn end local hO=cc%2^32
local gp=(cc-hO)/2^32 local dj,mN,mO,br,sW,wz,Dd,hQ=q(u,((15*B)+10),((15*B)+17))
local js=(sW+(256*(wz+(256*(Dd+(256*hQ))))))+gp local jt=(dj+(256*(mN+(256*(mO+(256*br))))))+hO local le local lf
if 2^32<=jt then le=js+1 lf=jt-2^32 else le=js lf=jt end local ju=le%2^32 local wE=2^32<=le if bt<Y then return end
if y<Y then local De,Df,aE,dl,eS,Dg,cu=q(u,((15*B)+3),((15*B)+9)) if 32<=cu then return end
local mT=De+(256*(Df+(256*(aE+(256*(dl+(256*(eS+(256*(Dg+(256*cu))))))))))) local li if mT==t then li=true else
if(aa<=4096)or(((aa/4096)+1)<=ye((mT-t)))then li=false else if not((mT*4096)<2^53)then return end local wI=mT*4096
if not((t*4096)<2^53)then return end local wL=t*4096 li=((wI-(wI%aa))/aa)==((wL-(wL%aa))/aa) end end
local dm=li and B or Y local dn=t%16777216 local dp=ju%65536 local bW=lf%65536 local gs=(t-dn)/16777216
local sY=(ju-dp)/65536 local al=(lf-bW)/65536 local bd=gs%65536
local gt=nE((dn%256),(((dn-(dn%256))/256)%256),((dn-(dn%65536))/65536),(bd%256),((bd-(bd%256))/256),(((gs-bd)/65536)%256),((gs-(gs%16777216))/16777216),(bW%256),((bW-(bW%256))/256),(al%256),((al-(al%256))/256),(dp%256),((dp-(dp%256))/256),(sY%256),((sY-(sY%256))/256))
local ta=dm+1 local eU=(15*dm)+2 local qu if dm==Y then qu='APPEND' else qu='SETRANGE' end local qv
if((0<y)and(Y<=(y*2)))or(wE or((ta<Y)or(8192<ta)))then qv='SET' else qv=qu end aH=cL(u,1,eU)..gt dG=ta ev=qv qF=eU lr=gt
else local wV=T+gp local dZ=U+hO local bK local ap if 2^32<=dZ then bK=dZ-2^32 ap=wV+1 else bK=dZ ap=wV end
local jC=ap%2^32 local be=t%16777216 local hY=jC%65536 local gv=bK%65536 local eW=(t-be)/16777216 local hZ=(jC-hY)/65536
local ia=(bK-gv)/65536 local eX=eW%65536
local mY=nE((be%256),(((be-(be%256))/256)%256),((be-(be%65536))/65536),(eX%256),((eX-(eX%256))/256),(((eW-eX)/65536)%256),((eW-(eW%16777216))/16777216),(gv%256),((gv-(gv%256))/256),(ia%256),((ia-(ia%256))/256),(hY%256),((hY-(hY%256))/256),(hZ%256),((hZ-(hZ%256))/256))
local gw=Y+1 local xc=(15*Y)+2 local qE if((0<y)and(Y<=(y*2)))or(wE or((gw<Y)or(8192<gw)))then qE='SET' else qE='APPEND'
end aH=cL(u,1,xc)..mY dG=gw ev=qE qF=xc lr=mY end local hf if 0<dG then local xj=dG-1
local ne,jG,Do,xl,Dp,nf,Dq,th=q(aH,((15*xj)+10),((15*xj)+17))
local ea=(((Dp+(256*(nf+(256*(Dq+(256*th))))))-T)*2^32)+((ne+(256*(jG+(256*(Do+(256*xl))))))-U)
hf=(ea<0)and(ea+2^64)or ea else hf=0 end local cm if hf<=0 then cm=0 else local nj=dG-1
local nk,fc,gx,jK,dr,Ds,gy,jL=q(aH,((15*y)+10),((15*y)+17))
local tm=(((dr+(256*(Ds+(256*(gy+(256*jL))))))-T)*2^32)+((nk+(256*(fc+(256*(gx+(256*jK))))))-U) local rd local re
if hf<=((tm<0)and(tm+2^64)or tm)then rd=y re=y else local xD=(0<nj)and(nj-1)or 0
local Dt,to,Du,jN,jO,Dv,nn,fe=q(aH,((15*xD)+10),((15*xD)+17))
local dt=(((jO+(256*(Dv+(256*(nn+(256*fe))))))-T)*2^32)+((Dt+(256*(to+(256*(Du+(256*jN))))))-U) local rc
if((dt<0)and(dt+2^64)or dt)<hf then rc=nj else rc=y end rd=rc re=nj end local gU=re local gV=rd while gV<gU do
local nr=((gV+gU)-((gV+gU)%2))/2 local ns,ff,ii,nt,jS,gB,Dy,Dz=q(aH,((15*nr)+10),((15*nr)+17))
local DA=jS+(256*(gB+(256*(Dy+(256*Dz))))) local DB=ns+(256*(ff+(256*(ii+(256*nt))))) local tt=((DA-T)*2^32)+(DB-U)
local fg=(tt<0)and(tt+2^64)or tt local fL local rk if hf<=fg then fL=gV rk=nr else local ee=nr+1 fL=ee rk=gU end
gU,gV=rk,fL end local Em=gU local xO=gV local nv,tv,gC,gD,fh,jT,fi=q(aH,((15*xO)+3),((15*xO)+9)) if 32<=fi then return
end local jU=((nv+(256*(tv+(256*(gC+(256*(gD+(256*(fh+(256*(jT+(256*fi))))))))))))+aa)-t cm=(0<jU)and jU or 0 end
if 2^53<=cm then return end local jW=cm%1000 local xU=(cm<0)and(-1)or((jW==0)and(cm/1000)or(((cm-jW)/1000)+1)) local oE
if cz=='LINE'then local cx if 0<dG then local mc=dG-1 local yy,md,yz,yA,me,yB,yC,iT=q(aH,((15*mc)+10),((15*mc)+17))
local rW=(((me+(256*(yB+(256*(yC+(256*iT))))))-T)*2^32)+((yy+(256*(md+(256*(yz+(256*yA))))))-U)
cx=(rW<0)and(rW+2^64)or rW else cx=0 end local rX=(cx<e)and(e-cx)or 0 local oD local ky if rX<e then local uW=rX+1
local ej local rY=e-uW if rY<0 then ej=nil else if cx<=rY then ej=0 else local rZ=cx-rY local mf=dG-1
local yE,yF,yG,yH,yI,yJ,yK,sa=q(aH,((15*y)+10),((15*y)+17))
local sb=(((yI+(256*(yJ+(256*(yK+(256*sa))))))-T)*2^32)+((yE+(256*(yF+(256*(yG+(256*yH))))))-U) local oq local os
if rZ<=((sb<0)and(sb+2^64)or sb)then oq=y os=y else local uY=(0<mf)and(mf-1)or 0
local yL,yM,yN,yO,yP,yQ,yR,yS=q(aH,((15*uY)+10),((15*uY)+17))
local sc=(((yP+(256*(yQ+(256*(yR+(256*yS))))))-T)*2^32)+((yL+(256*(yM+(256*(yN+(256*yO))))))-U) local op
if((sc<0)and(sc+2^64)or sc)<rZ then op=mf else op=y end oq=op os=mf end local gI=os local gJ=oq while gJ<gI do
local mg=((gJ+gI)-((gJ+gI)%2))/2 local yU,yV,yW,yX,yY,yZ,za,zb=q(aH,((15*mg)+10),((15*mg)+17))
local zc=yY+(256*(yZ+(256*(za+(256*zb))))) local zd=yU+(256*(yV+(256*(yW+(256*yX))))) local sd=((zc-T)*2^32)+(zd-U)
local ze=(sd<0)and(sd+2^64)or sd local ot local ou if rZ<=ze then ot=gJ ou=mg else local zf=mg+1 ot=zf ou=gI end
gI,gJ=ou,ot end local DU=gI local va=gJ local zg,iU,zh,zi,zj,mh,vb=q(aH,((15*va)+3),((15*va)+9)) if 32<=vb then return
end local vd=((zg+(256*(iU+(256*(zh+(256*(zi+(256*(zj+(256*(mh+(256*vb))))))))))))+aa)-t ej=(0<vd)and vd or 0 end end
local ve=ej or(-1) local oC if uW==e then oC=ve else local oB if cx<=0 then oB=0 else local mi=dG-1
local zk,zl,zm,zn,zo,zp,zq,zr=q(aH,((15*y)+10),((15*y)+17))
local se=(((zo+(256*(zp+(256*(zq+(256*zr))))))-T)*2^32)+((zk+(256*(zl+(256*(zm+(256*zn))))))-U) local ox local oy
if cx<=((se<0)and(se+2^64)or se)then ox=y oy=y else local vf=(0<mi)and(mi-1)or 0
local zs,zt,zu,zv,zw,zx,zy,zz=q(aH,((15*vf)+10),((15*vf)+17))
local sf=(((zw+(256*(zx+(256*(zy+(256*zz))))))-T)*2^32)+((zs+(256*(zt+(256*(zu+(256*zv))))))-U) local ow
if((sf<0)and(sf+2^64)or sf)<cx then ow=mi else ow=y end ox=ow oy=mi end local gK=oy local gL=ox while gL<gK do
local mj=((gL+gK)-((gL+gK)%2))/2 local zA,zB,zC,zD,zE,zF,zG,zH=q(aH,((15*mj)+10),((15*mj)+17))
local zI=zE+(256*(zF+(256*(zG+(256*zH))))) local zJ=zA+(256*(zB+(256*(zC+(256*zD))))) local sg=((zI-T)*2^32)+(zJ-U)
local zK=(sg<0)and(sg+2^64)or sg local oz local oA if cx<=zK then oz=gL oA=mj else local zL=mj+1 oz=zL oA=gK end
gK,gL=oA,oz end local DV=gK local vg=gL local zM,zN,zO,zP,zQ,zR,vh=q(aH,((15*vg)+3),((15*vg)+9)) if 32<=vh then return
end local vi=((zM+(256*(zN+(256*(zO+(256*(zP+(256*(zQ+(256*(zR+(256*vh))))))))))))+aa)-t oB=(0<vi)and vi or 0 end oC=oB
end oD=ve ky=oC else oD=0 ky=0 end if 2^53<=ky then return end
local zS=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',aD,xU,e,rX,oD,ky,t,cc) oE=zS else if cz then return end oE={1,aD,xU} end
if not redis.REDIS_VERSION_NUM then return end local vj=d('PEXPIRETIME',Q) local vk=(0<=vj)and vj or nil local kz
if vk then kz=vk else kz=nil end local fm if kz then if(3*aa)<=(2*(kz-t))then fm=nil else fm=t+(2*aa) end else
fm=t+(2*aa) end if ev=='SET'then return else if ev=='APPEND'then local DW=d('APPEND',Q,lr) if fm then
local zT=b('%d',fm) local DX=d('PEXPIREAT',Q,zT) end else local DY=d('SETRANGE',Q,b('%d',qF),lr) if fm then
local zU=b('%d',fm) local DZ=d('PEXPIREAT',Q,zU) end end end kF=oE else local qJ if 0<aD then
local Dl,tf,na,eY,Dm,nb,xf=q(u,((15*B)+3),((15*B)+9)) if 32<=xf then return end
qJ=t<(Dl+(256*(tf+(256*(na+(256*(eY+(256*(Dm+(256*(nb+(256*xf)))))))))))) else qJ=false end if qJ then return end
local DD,DE,DF,tw,DG,xV,DH,DI=q(u,((15*B)+10),((15*B)+17))
local bX=(((DG+(256*(xV+(256*(DH+(256*DI))))))-T)*2^32)+((DD+(256*(DE+(256*(DF+(256*tw))))))-U)
local bY=(bX<0)and(bX+2^64)or bX local bg local bZ=e-cc if bZ<0 then bg=nil else if bY<=bZ then bg=0 else local ny=bY-bZ
local DK,nz,DL,DM,gE,jZ,DN,il=q(u,((15*y)+10),((15*y)+17))
local io=(((gE+(256*(jZ+(256*(DN+(256*il))))))-T)*2^32)+((DK+(256*(nz+(256*(DL+(256*DM))))))-U) local nI local nJ
if ny<=((io<0)and(io+2^64)or io)then nI=y nJ=y else local kd=(0<B)and(B-1)or 0
local fj,ke,DO,DP,nB,DQ,nC,fk=q(u,((15*kd)+10),((15*kd)+17))
local fO=(((nB+(256*(DQ+(256*(nC+(256*fk))))))-T)*2^32)+((fj+(256*(ke+(256*(DO+(256*DP))))))-U) local nH
if((fO<0)and(fO+2^64)or fO)<ny then nH=B else nH=y end nI=nH nJ=B end local gG=nJ local gH=nI while gH<gG do
local cM=((gH+gG)-((gH+gG)%2))/2 local lK,lL,hm,lM,lN,yg,yh,yi=q(u,((15*cM)+10),((15*cM)+17))
local dJ=lN+(256*(yg+(256*(yh+(256*yi))))) local yj=lK+(256*(lL+(256*(hm+(256*lM))))) local rC=((dJ-T)*2^32)+(yj-U)
local iK=(rC<0)and(rC+2^64)or rC local nK local nL if ny<=iK then nK=gH nL=cM else local cN=cM+1 nK=cN nL=gG end
gG,gH=nL,nK end local rD=gG local tM=gH local lO,yk,lP,eC,yl,ym,iL=q(u,((15*tM)+3),((15*tM)+9)) if 32<=iL then return
end local iM=((lO+(256*(yk+(256*(lP+(256*(eC+(256*(yl+(256*(ym+(256*iL))))))))))))+aa)-t bg=(0<iM)and iM or 0 end end
local ko if bg then if 2^53<=bg then return end local tR=bg%1000
local iN=(bg<0)and(-1)or((tR==0)and(bg/1000)or(((bg-tR)/1000)+1)) ko=iN else ko=-1 end local tS=(ko==0)and 1 or ko
local pc if cz=='LINE'then local zV,zW,zX,zY,zZ,Aa,Ab,Ac=q(u,((15*B)+10),((15*B)+17))
local sh=(((zZ+(256*(Aa+(256*(Ab+(256*Ac))))))-T)*2^32)+((zV+(256*(zW+(256*(zX+(256*zY))))))-U)
local cO=(sh<0)and(sh+2^64)or sh local si=(cO<e)and(e-cO)or 0 local kA if bZ<0 then kA=nil else if cO<=bZ then kA=0 else
local sj=cO-bZ local Ad,Ae,Af,Ag,Ah,Ai,Aj,Ak=q(u,((15*y)+10),((15*y)+17))
local sk=(((Ah+(256*(Ai+(256*(Aj+(256*Ak))))))-T)*2^32)+((Ad+(256*(Ae+(256*(Af+(256*Ag))))))-U) local oG local oH
if sj<=((sk<0)and(sk+2^64)or sk)then oG=y oH=y else local vl=(0<B)and(B-1)or 0
local Al,Am,An,Ao,Ap,Aq,Ar,As=q(u,((15*vl)+10),((15*vl)+17))
local sl=(((Ap+(256*(Aq+(256*(Ar+(256*As))))))-T)*2^32)+((Al+(256*(Am+(256*(An+(256*Ao))))))-U) local oF
if((sl<0)and(sl+2^64)or sl)<sj then oF=B else oF=y end oG=oF oH=B end local gM=oH local gN=oG while gN<gM do
local mk=((gN+gM)-((gN+gM)%2))/2 local At,Au,Av,Aw,Ax,Ay,Az,AA=q(u,((15*mk)+10),((15*mk)+17))
local AB=Ax+(256*(Ay+(256*(Az+(256*AA))))) local AC=At+(256*(Au+(256*(Av+(256*Aw))))) local sm=((AB-T)*2^32)+(AC-U)
local AD=(sm<0)and(sm+2^64)or sm local oI local oJ if sj<=AD then oI=gN oJ=mk else local AE=mk+1 oI=AE oJ=gM end
gM,gN=oJ,oI end local Ea=gM local vn=gN local AF,AG,AH,AI,AJ,AK,vp=q(u,((15*vn)+3),((15*vn)+9)) if 32<=vp then return
end local vq=((AF+(256*(AG+(256*(AH+(256*(AI+(256*(AJ+(256*(AK+(256*vp))))))))))))+aa)-t kA=(0<vq)and vq or 0 end end
local vr=kA or(-1) local pb local kC if si<e then local vs=si+1 local kB local sn=e-vs if sn<0 then kB=nil else
if cO<=sn then kB=0 else local so=cO-sn local AL,AM,AN,AO,AP,AQ,AR,AS=q(u,((15*y)+10),((15*y)+17))
local sp=(((AP+(256*(AQ+(256*(AR+(256*AS))))))-T)*2^32)+((AL+(256*(AM+(256*(AN+(256*AO))))))-U) local oL local oM
if so<=((sp<0)and(sp+2^64)or sp)then oL=y oM=y else local vu=(0<B)and(B-1)or 0
local AT,AU,AV,AW,AX,AY,AZ,Ba=q(u,((15*vu)+10),((15*vu)+17))
local sq=(((AX+(256*(AY+(256*(AZ+(256*Ba))))))-T)*2^32)+((AT+(256*(AU+(256*(AV+(256*AW))))))-U) local oK
if((sq<0)and(sq+2^64)or sq)<so then oK=B else oK=y end oL=oK oM=B end local gO=oM local gP=oL while gP<gO do
local mo=((gP+gO)-((gP+gO)%2))/2 local Bb,Bc,Bd,Be,Bf,Bg,Bh,Bi=q(u,((15*mo)+10),((15*mo)+17))
local Bj=Bf+(256*(Bg+(256*(Bh+(256*Bi))))) local Bk=Bb+(256*(Bc+(256*(Bd+(256*Be))))) local sr=((Bj-T)*2^32)+(Bk-U)
local Bl=(sr<0)and(sr+2^64)or sr local oN local oO if so<=Bl then oN=gP oO=mo else local Bm=mo+1 oN=Bm oO=gO end
gO,gP=oO,oN end local Eb=gO local vv=gP local Bn,Bo,Bp,Bq,Br,Bs,vw=q(u,((15*vv)+3),((15*vv)+9)) if 32<=vw then return
end local vx=((Bn+(256*(Bo+(256*(Bp+(256*(Bq+(256*(Br+(256*(Bs+(256*vw))))))))))))+aa)-t kB=(0<vx)and vx or 0 end end
local vy=kB or(-1) local pa if vs==e then pa=vy else local oZ if cO<=0 then oZ=0 else
local Bt,Bu,Bv,Bw,Bx,By,Bz,BA=q(u,((15*y)+10),((15*y)+17))
local ss=(((Bx+(256*(By+(256*(Bz+(256*BA))))))-T)*2^32)+((Bt+(256*(Bu+(256*(Bv+(256*Bw))))))-U) local oU local oV
if cO<=((ss<0)and(ss+2^64)or ss)then oU=y oV=y else local vz=(0<B)and(B-1)or 0
local BB,BC,BD,BE,BF,BG,BH,BI=q(u,((15*vz)+10),((15*vz)+17))
local st=(((BF+(256*(BG+(256*(BH+(256*BI))))))-T)*2^32)+((BB+(256*(BC+(256*(BD+(256*BE))))))-U) local oT
if((st<0)and(st+2^64)or st)<cO then oT=B else oT=y end oU=oT oV=B end local gQ=oV local gR=oU while gR<gQ do
local mp=((gR+gQ)-((gR+gQ)%2))/2 local BJ,BK,BL,BM,BN,BO,BP,BQ=q(u,((15*mp)+10),((15*mp)+17))
local BR=BN+(256*(BO+(256*(BP+(256*BQ))))) local BS=BJ+(256*(BK+(256*(BL+(256*BM))))) local su=((BR-T)*2^32)+(BS-U)
local BT=(su<0)and(su+2^64)or su local oX local oY if cO<=BT then oX=gR oY=mp else local BU=mp+1 oX=BU oY=gQ end
gQ,gR=oY,oX end local Ec=gQ local vC=gR local BV,BW,BX,BY,BZ,Ca,vD=q(u,((15*vC)+3),((15*vC)+9)) if 32<=vD then return
end local vE=((BV+(256*(BW+(256*(BX+(256*(BY+(256*(BZ+(256*(Ca+(256*vD))))))))))))+aa)-t oZ=(0<vE)and vE or 0 end pa=oZ
end pb=vy kC=pa else pb=0 kC=0 end if(2^53<=vr)or(2^53<=kC)then return end
local Cb=b('0 %d %d %d %d %d %d %d 0 %d 0 0',aD,tS,e,si,vr,pb,kC,t) pc=Cb else if cz then return end pc={0,aD,tS} end
if not redis.REDIS_VERSION_NUM then return end local vF=d('PEXPIRETIME',Q) local vG=(0<=vF)and vF or nil local kD
if vG then kD=vG else kD=nil end local iu if kD then if(3*aa)<=(2*(kD-t))then iu=nil else iu=t+(2*aa) end else
iu=t+(2*aa) end local Cc,Cd,Ce,Cf,Cg,Ch,Ci,Cj=q(u,((15*B)+10),((15*B)+17))
local sw=(((Cg+(256*(Ch+(256*(Ci+(256*Cj))))))-T)*2^32)+((Cc+(256*(Cd+(256*(Ce+(256*Cf))))))-U)
if not(((sw<0)and(sw+2^64)or sw)==0)then if iu then local Ck=b('%d',iu) local Ed=d('PEXPIREAT',Q,Ck) end end kF=pc end
else local bP=cc<=e if bP then local fP=cc%2^32 local lQ=(cc-fP)/2^32 local hq=t%16777216 local lR=lQ%65536
local fQ=fP%65536 local lS=(t-hq)/16777216 local rH=(lQ-lR)/65536 local rI=(fP-fQ)/65536 local lT=lS%65536
local dL=cL('R:',1,2)..nE((hq%256),(((hq-(hq%256))/256)%256),((hq-(hq%65536))/65536),(lT%256),((lT-(lT%256))/256),(((lS-lT)/65536)%256),((lS-(lS%16777216))/16777216),(fQ%256),((fQ-(fQ%256))/256),(rI%256),((rI-(rI%256))/256),(lR%256),((lR-(lR%256))/256),(rH%256),((rH-(rH%256))/256))
local yo,lU,lV,lW,yp,yq,lX,yr=q(dL,10,17)
local rM=((yp+(256*(yq+(256*(lX+(256*yr))))))*2^32)+(yo+(256*(lU+(256*(lV+(256*lW)))))) local og
if((rM<0)and(rM+2^64)or rM)<=0 then og=0 else local yt,fS,yu,yv,fT,iQ,uH=q(dL,3,9) if 32<=uH then return end
local uK=((yt+(256*(fS+(256*(yu+(256*(yv+(256*(fT+(256*(iQ+(256*uH))))))))))))+aa)-t og=(0<uK)and uK or 0 end
if 2^53<=og then return end if cz=='LINE'then local Cl,Cm,Cn,Co,Cp,Cq,Cr,Cs=q(dL,10,17)
local sx=((Cp+(256*(Cq+(256*(Cr+(256*Cs))))))*2^32)+(Cl+(256*(Cm+(256*(Cn+(256*Co)))))) local mq=(sx<0)and(sx+2^64)or sx
local vH=(mq<e)and(e-mq)or 0 local pf if vH<e then local vI=vH+1 local kE local vJ=e-vI if vJ<0 then kE=nil else
if mq<=vJ then kE=0 else local Ct,Cu,Cv,Cw,Cx,Cy,vL=q(dL,3,9) if 32<=vL then return end
local vM=((Ct+(256*(Cu+(256*(Cv+(256*(Cw+(256*(Cx+(256*(Cy+(256*vL))))))))))))+aa)-t kE=(0<vM)and vM or 0 end end
local Cz=kE or(-1) local pe if vI==e then pe=Cz else local pd if mq<=0 then pd=0 else
local CA,CB,CC,CD,CE,CF,vN=q(dL,3,9) if 32<=vN then return end
local vO=((CA+(256*(CB+(256*(CC+(256*(CD+(256*(CE+(256*(CF+(256*vN))))))))))))+aa)-t pd=(0<vO)and vO or 0 end pe=pd end
pf=pe else pf=0 end if 2^53<=pf then return end else if cz then return end end return else local eh local dM=e-cc
if dM<0 then eh=nil else eh=0 end local ei if eh then if 2^53<=eh then return end local uS=eh%1000
local yx=(eh<0)and(-1)or((uS==0)and(eh/1000)or(((eh-uS)/1000)+1)) ei=yx else ei=-1 end local uT=(ei==0)and 1 or ei
local ph if cz=='LINE'then local pg if dM<0 then pg=nil else pg=0 end local vP=pg or(-1) if 2^53<=vP then return end
ph=b('0 0 %d %d %d %d 0 0 0 %d 0 0',uT,e,e,vP,t) else if cz then return end ph={0,0,uT} end kF=ph end end else return
end else return end return kF end, LEASE=function(K,f)
local S,m,ab,b,d=math.ceil,string.find,string.match,string.format,redis.call local rt local aJ=f[2] local bo=f[3]
local bx=f[4] if not bo then return end local fU=f[5] if(bx=='LINE')and(not fU)then
if not(((#bo)<16)and m(bo,'^[1-9]%d*$'))then return end local h,ac=ab(aJ,'^([1-9]%d*)(%l*)$') if h then if(#aJ)<16 then
local af=(ac=='')and 1000 or((ac=='ms')and 1 or((ac=='s')and 1000 or((ac=='m')and 60000 or((ac=='h')and 3.6e6 or((ac=='d')and 8.64e7 or nil)))))
local i=af and(h*af)or af if(not i)or((i<1)or(1e15<i))then return end if not(i<9e12)then return end return else return
end else return end else if bx then if fU then
if not(((((f[6]=='LINE')and(not f[7]))and((#fU)<16))and(bx=='ID'))and(not(fU=='')))then return end
if not(((#bo)<16)and m(bo,'^[1-9]%d*$'))then return end local A=bo+0 local F,e=ab(aJ,'^([1-9]%d*)(%l*)$') if F then
if(#aJ)<16 then
local sv=(e=='')and 1000 or((e=='ms')and 1 or((e=='s')and 1000 or((e=='m')and 60000 or((e=='h')and 3.6e6 or((e=='d')and 8.64e7 or nil)))))
local k=sv and(F*sv)or sv if(not k)or((k<1)or(1e15<k))then return end if not(k<9e12)then return end local Y=d('TIME')
local R=(Y[1]*1e6)+Y[2] local bR=(R-(R%1000))/1000 local w=K[1] if not w then return end if m(w,':reserved',1,true)then
return end if not((#K)==1)then return end local fY=d('ZCARD',w) local bi if(0<fY)and(0<=bR)then if not(fY<=4000)then
return end local fZ=d('ZREMRANGEBYSCORE',w,'-inf',b('%d',bR)) bi=fY-fZ else bi=fY end local dO=0<bi local an if dO then
local co=d('ZSCORE',w,fU) if co then local vU=tonumber(co) local cd if vU<2^64 then local cU=S(vU) cd=(0<cU)and cU or 0
else cd=1/0 end local ft if bR<cd then ft=cd else ft=nil end an=ft else an=nil end else an=nil end
local cV=an and(bi-1)or bi local hB=(not(an==nil))or(cV<A) local J=bR+k if hB and(not(an==J))then
if not((J*1000)<2^53)then return end local jc=J*1000 local sD=(R<jc)and(jc-R)or 0 local eG=sD%1e6
local bp=(eG==0)and(sD/1e6)or(((sD-eG)/1e6)+1) if 2^53<=bp then return end local sJ=an and 0 or 1 local ji=cV+1
local jj=A-ji local dS=(0<jj)and jj or 0 local az local bL if dS<A then local my=dS+1 local ld local jl=A-my
if jl<0 then ld=nil else if ji<=jl then ld=0 else local df=(ji-jl)-1 local iA if df<cV then local kV local iy
local eL=b('%d',df) local eM=d('ZRANGE',w,eL,eL,'WITHSCORES') local aD=eM[2] if aD then local dg=tonumber(aD) local pC
if dg<2^64 then local jm=S(dg) pC=(0<jm)and jm or 0 else pC=1/0 end iy=pC else iy=1/0 end if an then local er
if an<=iy then local eq local jn=b('%d',(df+1)) local mA=d('ZRANGE',w,jn,jn,'WITHSCORES') local mB=mA[2] if mB then
local dV=tonumber(mB) local aG if dV<2^64 then local mD=S(dV) aG=(0<mD)and mD or 0 else aG=1/0 end eq=aG else eq=1/0 end
er=eq else er=iy end kV=er else kV=iy end if kV<=J then iA=kV else local pS if 0<df then local dh=df-1 local la local dB
local hK=b('%d',dh) local CY=d('ZRANGE',w,hK,hK,'WITHSCORES') local bU=CY[2] if bU then local bb=tonumber(bU) local fz
if bb<2^64 then local mE=S(bb) fz=(0<mE)and mE or 0 else fz=1/0 end dB=fz else dB=1/0 end if an then local pR
if an<=dB then local pQ local jp=b('%d',(dh+1)) local bC=d('ZRANGE',w,jp,jp,'WITHSCORES') local hL=bC[2] if hL then
local gl=tonumber(hL) local pP if gl<2^64 then local mJ=S(gl) pP=(0<mJ)and mJ or 0 else pP=1/0 end pQ=pP else pQ=1/0 end
pR=pQ else pR=dB end la=pR else la=dB end pS=(la<J)and J or la else pS=J end iA=pS end else local dD if 0<df then
local bV=df-1 local bk local iz local sU=b('%d',bV) local mL=d('ZRANGE',w,sU,sU,'WITHSCORES') local mM=mL[2] if mM then
local ww=tonumber(mM) local bt if ww<2^64 then local wx=S(ww) bt=(0<wx)and wx or 0 else bt=1/0 end iz=bt else iz=1/0 end
if an then local fC if an<=iz then local qa local hP=b('%d',(bV+1)) local Db=d('ZRANGE',w,hP,hP,'WITHSCORES')
local wy=Db[2] if wy then local eO=tonumber(wy) local pZ if eO<2^64 then local mN=S(eO) pZ=(0<mN)and mN or 0 else pZ=1/0
end qa=pZ else qa=1/0 end fC=qa else fC=iz end bk=fC else bk=iz end dD=(bk<J)and J or bk else dD=J end iA=dD end
local cE if not(iA==(1/0))then cE=iA else cE=nil end local qd if cE then local qc if 2^53<=cE then qc=1/0 else
local wB=cE-bR qc=(0<wB)and wB or 0 end qd=qc else qd=cE end ld=qd end end local dk=ld or(-1) local fG if my==A then
fG=dk else local fF if ji<=0 then fF=0 else local gq=ji-1 local iC if gq<cV then local lg local aV local aE=b('%d',gq)
local dl=d('ZRANGE',w,aE,aE,'WITHSCORES') local eS=dl[2] if eS then local cu=tonumber(eS) local fD if cu<2^64 then
local jv=S(cu) fD=(0<jv)and jv or 0 else fD=1/0 end aV=fD else aV=1/0 end if an then local qj if an<=aV then local bI
local mU=b('%d',(gq+1)) local mV=d('ZRANGE',w,mU,mU,'WITHSCORES') local hT=mV[2] if hT then local wJ=tonumber(hT)
local qi if wJ<2^64 then local wK=S(wJ) qi=(0<wK)and wK or 0 else qi=1/0 end bI=qi else bI=1/0 end qj=bI else qj=aV end
lg=qj else lg=aV end if lg<=J then iC=lg else local eu if 0<gq then local jw=gq-1 local aW local iB local wM=b('%d',jw)
local Dh=d('ZRANGE',w,wM,wM,'WITHSCORES') local wN=Dh[2] if wN then local wO=tonumber(wN) local qm if wO<2^64 then
local jy=S(wO) qm=(0<jy)and jy or 0 else qm=1/0 end iB=qm else iB=1/0 end if an then local qs if an<=iB then local bJ
local bd=b('%d',(jw+1)) local gt=d('ZRANGE',w,bd,bd,'WITHSCORES') local jz=gt[2] if jz then local hW=tonumber(jz)
local qr if hW<2^64 then local eT=S(hW) qr=(0<eT)and eT or 0 else qr=1/0 end bJ=qr else bJ=1/0 end qs=bJ else qs=iB end
aW=qs else aW=iB end eu=(aW<J)and J or aW else eu=J end iC=eu end else local qB if 0<gq then local jA=gq-1 local lp
local bl local dY=b('%d',jA) local Dj=d('ZRANGE',w,dY,dY,'WITHSCORES') local eV=Dj[2] if eV then local dZ=tonumber(eV)
local ap if dZ<2^64 then local jB=S(dZ) ap=(0<jB)and jB or 0 else ap=1/0 end bl=ap else bl=1/0 end if an then local qA
if an<=bl then local qz local be=b('%d',(jA+1)) local hY=d('ZRANGE',w,be,be,'WITHSCORES') local gu=hY[2] if gu then
local gv=tonumber(gu) local qy if gv<2^64 then local jD=S(gv) qy=(0<jD)and jD or 0 else qy=1/0 end qz=qy else qz=1/0 end
qA=qz else qA=bl end lp=qA else lp=bl end qB=(lp<J)and J or lp else qB=J end iC=qB end local cH if not(iC==(1/0))then
cH=iC else cH=nil end local fE if cH then local qD if 2^53<=cH then qD=1/0 else local jE=cH-bR qD=(0<jE)and jE or 0 end
fE=qD else fE=cH end fF=fE end fG=fF or(-1) end az=dk bL=fG else az=0 bL=0 end
if(not((az-az)==0))or((not((bL-bL)==0))or(2^53<=bL))then return end
local Dk=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',cV,bp,A,dS,az,bL,bR,sJ) local iD if dO then
if not redis.REDIS_VERSION_NUM then return end local eY=d('PEXPIRETIME',w) local nb=(0<=eY)and eY or nil local qG
if nb then qG=nb else qG=nil end iD=qG else iD=nil end if an then local Ek=d('ZADD',w,'XX',b('%d',J),fU) else
local El=d('ZADD',w,b('%d',J),fU) end if cV==0 then if(2^53<=J)or(not(iD==J))then local qL if J<9223372036854775808 then
qL=b('%d',J) else qL='9223372036854775807' end local jF=d('PEXPIREAT',w,qL) end else
local Dn=d('ZRANGE',w,'-1','-1','WITHSCORES') local ib=Dn[2] if ib then local eZ=tonumber(ib) local bN if eZ<2^64 then
local xh=S(eZ) bN=(0<xh)and xh or 0 else bN=1/0 end if(2^53<=bN)or(not(iD==bN))then local aI
if bN<9223372036854775808 then aI=b('%d',bN) else aI='9223372036854775807' end local xl=d('PEXPIREAT',w,aI) end else
if(2^53<=ib)or(not(iD==ib))then local qM if ib<9223372036854775808 then qM=b('%d',ib) else qM='9223372036854775807' end
local ng=d('PEXPIREAT',w,qM) end end end rt=Dk else local py if hB then if not((J*1000)<2^53)then return end
local V=J*1000 local eH=(R<V)and(V-R)or 0 local hC=eH%1e6 local mu=(hC==0)and(eH/1e6)or(((eH-hC)/1e6)+1)
if 2^53<=mu then return end py=mu else local ao local O=A-1 if O<0 then ao=nil else if bi<=O then ao=0 else
local sG=(bi-O)-1 local kM local wb=b('%d',sG) local CO=d('ZRANGE',w,wb,wb,'WITHSCORES') local cp=CO[2] if cp then
local eJ=tonumber(cp) local pt if eJ<2^64 then local eK=S(eJ) pt=(0<eK)and eK or 0 else pt=1/0 end kM=pt else kM=1/0 end
local gZ if not(kM==(1/0))then gZ=kM else gZ=nil end local en if gZ then local pv if 2^53<=gZ then pv=1/0 else
local hF=gZ-bR pv=(0<hF)and hF or 0 end en=pv else en=gZ end ao=en end end local kN if ao then
if(not((ao-ao)==0))or(2^53<=ao)then return end local hG=ao%1000
local dc=(ao<0)and(-1)or((hG==0)and(ao/1000)or(((ao-hG)/1000)+1)) kN=dc else kN=-1 end local mw=(kN==0)and 1 or kN py=mw
end local jI=A-bi local ni=(0<jI)and jI or 0 local cI if not hB then local ci local eb=A-1 if eb<0 then ci=nil else
if bi<=eb then ci=0 else local tk=(bi-eb)-1 local lw local gx=b('%d',tk) local jK=d('ZRANGE',w,gx,gx,'WITHSCORES')
local dr=jK[2] if dr then local gy=tonumber(dr) local qP if gy<2^64 then local fd=S(gy) qP=(0<fd)and fd or 0 else qP=1/0
end lw=qP else lw=1/0 end local hg if not(lw==(1/0))then hg=lw else hg=nil end local qQ if hg then local bO
if 2^53<=hg then bO=1/0 else local xx=hg-bR bO=(0<xx)and xx or 0 end qQ=bO else qQ=hg end ci=qQ end end
local nm=ci or(-1) cI=nm else cI=0 end local cK local hi if ni<A then local bs=ni+1 local ck local tn=A-bs if tn<0 then
ck=nil else if bi<=tn then ck=0 else local to=(bi-tn)-1 local ez local nn=b('%d',to)
local fe=d('ZRANGE',w,nn,nn,'WITHSCORES') local ed=fe[2] if ed then local xE=tonumber(ed) local qX if xE<2^64 then
local jQ=S(xE) qX=(0<jQ)and jQ or 0 else qX=1/0 end ez=qX else ez=1/0 end local cj if not(ez==(1/0))then cj=ez else
cj=nil end local ra if cj then local qZ if 2^53<=cj then qZ=1/0 else local xF=cj-bR qZ=(0<xF)and xF or 0 end ra=qZ else
ra=cj end ck=ra end end local gA=ck or(-1) local fK if bs==A then fK=gA else local fJ if bi<=0 then fJ=0 else
local Dw=bi-1 local lB local ff=b('%d',Dw) local ii=d('ZRANGE',w,ff,ff,'WITHSCORES') local nt=ii[2] if nt then
local gB=tonumber(nt) local ri if gB<2^64 then local xJ=S(gB) ri=(0<xJ)and xJ or 0 else ri=1/0 end lB=ri else lB=1/0 end
local hh if not(lB==(1/0))then hh=lB else hh=nil end local cl if hh then local rj if 2^53<=hh then rj=1/0 else
local ik=hh-bR rj=(0<ik)and ik or 0 end cl=rj else cl=hh end fJ=cl end fK=fJ or(-1) end cK=gA hi=fK else cK=0 hi=0 end
if(not((cI-cI)==0))or((not((cK-cK)==0))or((not((hi-hi)==0))or((2^53<=cI)or(2^53<=hi))))then return end
local ee=b('%d %d %d %d %d %d %d %d 0 %d 0 0',(hB and 1 or 0),cV,py,A,ni,cI,cK,hi,bR) if dO then
local gD=d('ZRANGE',w,'-1','-1','WITHSCORES') local fh=gD[2] if fh then local fi=tonumber(fh) local hj if fi<2^64 then
local xQ=S(fi) hj=(0<xQ)and xQ or 0 else hj=1/0 end if not redis.REDIS_VERSION_NUM then return end
local xR=d('PEXPIRETIME',w) if(2^53<=hj)or(not(((0<=xR)and xR or nil)==hj))then local rq if hj<9223372036854775808 then
rq=b('%d',hj) else rq='9223372036854775807' end local En=d('PEXPIREAT',w,rq) end else
if not redis.REDIS_VERSION_NUM then return end local xT=d('PEXPIRETIME',w)
if(2^53<=fh)or(not(((0<=xT)and xT or nil)==fh))then local rs if fh<9223372036854775808 then rs=b('%d',fh) else
rs='9223372036854775807' end local Ep=d('PEXPIREAT',w,rs) end end end rt=ee end else return end else return end else
return end else if not(((#bo)<16)and m(bo,'^[1-9]%d*$'))then return end local vK,bz=ab(aJ,'^([1-9]%d*)(%l*)$')
if vK then if(#aJ)<16 then
local aM=(bz=='')and 1000 or((bz=='ms')and 1 or((bz=='s')and 1000 or((bz=='m')and 60000 or((bz=='h')and 3.6e6 or((bz=='d')and 8.64e7 or nil)))))
local aN=aM and(vK*aM)or aM if(not aN)or((aN<1)or(1e15<aN))then return end if not(aN<9e12)then return end return else
return end else return end end end return rt end, LOCKOUT=function(K,f)
local m,ab,b,d=string.find,string.match,string.format,redis.call local iE local aX=f[2] local aq=f[3] local aJ=f[4]
if not aq then return end local aL=f[5] local s local n local W if(aJ=='LINE')and(not aL)then s=5 n=1 W='LINE' else
local aQ local aR local aS if aJ then if aL then
if not(((((f[6]=='LINE')and(not f[7]))and((#aL)<16))and(aJ=='COST'))and m(aL,'^[1-9]%d*$'))then return end aQ=7 aR=aL+0
aS='LINE' else if(((f[6]=='LINE')and(not f[7]))and(aJ=='COST'))and m('','^[1-9]%d*$')then return end return end else
aQ=4 aR=1 aS=nil end s=aQ n=aR W=aS end if not(((#aq)<16)and m(aq,'^[1-9]%d*$'))then return end local h=aq+0
local ac,by=ab(aX,'^([1-9]%d*)(%l*)$') if ac then if(#aX)<16 then
local G=(by=='')and 1000 or((by=='ms')and 1 or((by=='s')and 1000 or((by=='m')and 60000 or((by=='h')and 3.6e6 or((by=='d')and 8.64e7 or nil)))))
local E=G and(ac*G)or G if(not E)or((E<1)or(1e15<E))then return end if not(E<9e12)then return end
local A=(E<8.64e7)and 8.64e7 or E if A<E then return end local iZ=f[s] if iZ then return end local l=d('TIME')
local bz=(l[1]*1e6)+l[2] local r=(bz-(bz%1000))/1000 local aN=K[1] if not aN then return end
if m(aN,':reserved',1,true)then return end if not((#K)==1)then return end local x=d('GET',aN) if x then
local sy,hu,hv,aY,Q=ab(x,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not sy then return else if m(x,':0%d')then return else
local Z=((#aY)<17)and(aY+0) if not((#sy)<16)then return end if not((#hu)<16)then return end if not((#hv)<16)then return
end if Z then if not(Z<9e15)then return end local Y=sy+0 local v=hu+0 local z=hv+0 if(2<(#Q))or(64<(Q+0))then return
else local pi if z<v then pi=true else pi=1e15<Z end if pi then return else local vT=Q+0 if not(z<=r)then return end
local fq local fr local jb=(0<Z)and(z+Z)or(v+E) if(r<jb)and(0<Y)then fq=Y fr=v else fq=0 fr=r end local cU=fq+n
local hz=r<(z+Z) if(not hz)and(cU<=h)then local vW=(r-z)-Z local ba=(0<vW)and vW or 0 local ek if Z==0 then ek=vT else
local nF=0 local kg=E while kg<A do local J=nF+1 local sC=2*kg nF,kg=J,sC end local as=nF local bS=kg local jc=vT+1
ek=(jc<as)and jc or as end local bp=ek-((ba-(ba%A))/A) local ga=(0<bp)and bp or 0 local cB if cU==h then
local V=E*(2^ga) cB=(V<A)and V or A else cB=0 end local pn local po local cZ=(0<cB)and(r+cB)or(fr+E)
if(r<cZ)and(0<cU)then pn=cU po=fr else pn=0 po=r end local vY=r<(r+cB) local kK local pp if vY then local CM=r+cB kK=0
pp=CM else local da=h-pn local bT=po+E kK=(0<da)and da or 0 pp=bT end local gX if(h<=kK)and(0<kK)then gX=0 else
local sF=pp-r gX=sF end local wa=gX%1000 local hD=(gX<0)and(-1)or((wa==0)and(gX/1000)or(((gX-wa)/1000)+1)) local aG
if W=='LINE'then local pz local cD if(r<cZ)and(0<cU)then pz=cU cD=fr else pz=0 cD=r end local aU local bF if vY then
local jl=r+cB aU=0 bF=jl else local bB=h-pz local CX=cD+E aU=(0<bB)and bB or 0 bF=CX end local pE local kT if aU<h then
local eL=aU+1 local bG if h<eL then bG=nil else if(eL<=aU)and(0<aU)then bG=0 else local mz=bF-r bG=mz end end
local dU=bG or(-1) local pD if eL==h then pD=dU else local gi=bF-r pD=gi end pE=dU kT=pD else pE=0 kT=0 end
if 2^53<=kT then return end local dV=b('1 %d %d %d %d 0 %d %d 0 %d 0 %d',fq,hD,h,aU,pE,kT,r,n) aG=dV else if W then
return end aG={1,fq,hD} end local dh=b('%d',fr) local di=b('%d',cB) local kZ if cB==0 then kZ=ga else local ef=0
local dv=E while dv<A do local mH=ef+1 local sR=2*dv ef,dv=mH,sR end local bc=ef local jp=dv local bC=ga+1
kZ=(bC<bc)and bC or bc end if not((kZ*A)<2^53)then return end local gm=kZ*A local gn=r+cB if not((gn+gm)<2^53)then
return end local go=gn+gm local hM=fr+E
local hN=d('SET',aN,b('O:%s:%s:%s:%s:%d',b('%d',cU),dh,b('%d',r),di,ga),'PXAT',b('%d',((go<hM)and hM or go))) iE=aG else
local aw local em if(r<jb)and(0<Y)then aw=Y em=v else aw=0 em=r end local en local ao if hz then en=0 ao=z+Z else
local at=h-aw local hF=em+E en=(0<at)and at or 0 ao=hF end local ax if h<n then ax=nil else if(n<=en)and(0<en)then ax=0
else local dd=ao-r ax=dd end end local kO if ax then if 2^53<=ax then return end local jf=ax%1000
local sJ=(ax<0)and(-1)or((jf==0)and(ax/1000)or(((ax-jf)/1000)+1)) kO=sJ else kO=-1 end local we=(kO==0)and 1 or kO
local qh if W=='LINE'then local pX local es if(r<jb)and(0<Y)then pX=Y es=v else pX=0 es=r end local bk local dD
if hz then bk=0 dD=z+Z else local mO=h-pX local br=es+E bk=(0<mO)and mO or 0 dD=br end local cF if h<n then cF=nil else
if(n<=bk)and(0<bk)then cF=0 else local au=dD-r cF=au end end local wC=cF or(-1) local qf local bu if bk<h then
local mR=bk+1 local dE if h<mR then dE=nil else if(mR<=bk)and(0<bk)then dE=0 else local jt=dD-r dE=jt end end
local eP=dE or(-1) local qe if mR==h then qe=eP else local eQ=dD-r qe=eQ end qf=eP bu=qe else qf=0 bu=0 end
if(2^53<=wC)or(2^53<=bu)then return end local mS=b('0 %d %d %d %d %d %d %d 0 %d 0 0',fq,we,h,bk,wC,qf,bu,r) qh=mS else
if W then return end qh={0,fq,we} end iE=qh end end end else return end end end else local mW=n<=h if mW then local cG
if n==h then cG=(E<A)and E or A else cG=0 end local qn local bW=(0<cG)and(r+cG)or(r+E) if r<bW then qn=n else qn=0 end
local al=r<(r+cG) local ll local qq if al then local bd=r+cG ll=0 qq=bd else local gt=h-qn ll=(0<gt)and gt or 0 qq=r+E
end local aW if(h<=ll)and(0<ll)then aW=0 else local aP=qq-r aW=aP end local wT=aW%1000
local jA=(aW<0)and(-1)or((wT==0)and(aW/1000)or(((aW-wT)/1000)+1)) local qK if W=='LINE'then local qC if r<bW then qC=n
else qC=0 end local bM local lq if al then local mZ=r+cG bM=0 lq=mZ else local gw=h-qC bM=(0<gw)and gw or 0 lq=r+E end
local ch local lt if bM<h then local te=bM+1 local ls if h<te then ls=nil else if(te<=bM)and(0<bM)then ls=0 else
local tf=lq-r ls=tf end end local eY=ls or(-1) local qH if te==h then qH=eY else local nc=lq-r qH=nc end ch=eY lt=qH
else ch=0 lt=0 end if 2^53<=lt then return end local nd=b('1 0 %d %d %d 0 %d %d 0 %d 0 %d',jA,h,bM,ch,lt,r,n) qK=nd else
if W then return end qK={1,0,jA} end local th=b('%d',n) local Dr=b('%d',cG) local dI if cG==0 then dI=0 else local nG=0
local kl=E while kl<A do local jH=nG+1 local nh=2*kl nG,kl=jH,nh end local jI=nG local ni=kl dI=(1<jI)and 1 or jI end
if not((dI*A)<2^53)then return end local jJ=dI*A local xs=r+cG if not((xs+jJ)<2^53)then return end local id=xs+jJ
local ie=r+E local eb=d('SET',aN,b('O:%s:%s:%s:%s:0',th,b('%d',r),b('%d',r),Dr),'PXAT',b('%d',((id<ie)and ie or id)))
iE=qK else local qV if W=='LINE'then qV=b('0 0 -1 %d %d -1 0 0 0 %d 0 0',h,h,r) else if W then return end qV={0,0,(-1)}
end iE=qV end end else return end else return end return iE end,
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
      r.oldest, r.newest, r.held = nil, nil, nil
      r.may_move = 500
      if purpose == 'write' then
        moved_left = (moved_left - moved_left % 2) / 2
        r.may_move = moved_left
      end
    end
    local function oldest_of(r)
      r.oldest = r.oldest or r.exists and score_at(r.key, 0) or 0
      return r.oldest
    end
    local function newest_of(r)
      r.newest = r.newest or r.exists and score_at(r.key, -1) or 0
      return r.newest
    end
    local function held_by(r)
      r.held = r.held or r.exists and expiry_of(r.key, r.now_ms) or 0
      return r.held
    end
    local function decide(r, cost)
      local len = r.len
      local allowed = len + (cost == 0 and 1 or cost) <= r.limit
      r.allowed, r.count, r.ttl, r.change = allowed, len, seconds_of(r.window_ms), 'keep'
      if allowed and cost > 0 then
        r.change, r.after = 'charge', { add = cost }
      elseif not allowed and newest_of(r) > r.now_ms then
        r.change, r.after = 'rebase', { to_now = true }
      end
    end
    local function made_at(r, rank)
      local score = rank == 0 and oldest_of(r) or rank >= 0 and rank < r.len + r.expired and score_at(r.key, rank)
      return score and math.max(0, math.ceil(score))
    end
    local function made_out_of_order(r, rank)
      local now_ms, added = r.now_ms, r.added
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
      return at
    end
    local function leaves_at(r, n)
      if n >= r.len + r.added - r.never then
        return nil
      end
      local rank = n + r.never + r.expired
      if newest_of(r) > r.now_ms then
        return made_out_of_order(r, rank) + r.window_ms
      end
      return (rank < r.len + r.expired and made_at(r, rank) or r.now_ms) + r.window_ms
    end
    local function forecast(r, change, after)
      r.moved, r.added, r.rebased = nil, change == 'charge' and after.add or 0, change == 'rebase'
      local remaining = r.limit - r.len - r.added
      r.remaining, r.never = remaining > 0 and remaining or 0, 0
      if oldest_of(r) < 0 then
        r.never = call('ZCOUNT', r.key, '-inf', '(0')
      end
    end
    local function wait(r, cost)
      return wait_in_order(r, cost, r.len + r.added, leaves_at, (new_log_expiry(r, held_by(r)) or held_by(r)) + 1)
    end
    local function add_members(r, ms, count)
      local key, score = r.key, format('%.0f', ms)
      local n = r.newest and r.newest < ms and 0 or call('ZCOUNT', key, score, score)
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
      local expires_at = new_log_expiry(r, held_by(r))
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
        local expires_at = new_log_expiry(r, held_by(r))
        add_members(r, after.earlier or r.now_ms, after.add)
        set_expiry(key, expires_at)
      elseif change ~= 'keep' then
        commit_rare(r, change, after)
      elseif r.exists then
        set_expiry(key, new_log_expiry(r, held_by(r)))
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
local function scale_of(unit)
  return unit == '' and 1000
    or unit == 'ms' and 1
    or unit == 's' and 1000
    or unit == 'm' and 60000
    or unit == 'h' and 3600000
    or unit == 'd' and 86400000
    or nil
end
local function parse_window(text)
  local number, unit = match(text, '^(%d+)(%l*)$')
  local scale = number and scale_of(unit)
  local ms = scale and digits_up_to(number, '18446744073709551615') and number * scale
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
  local number, unit = match(window, '^([1-9]%d*)(%l*)$')
  local scale = number and #window < 16 and scale_of(unit)
  local window_ms = scale and number * scale
  if not window_ms or window_ms < 1 or window_ms > 1e15 then
    window_ms = window_of(r, window)
  end
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
  local fast = not HAS_SHORT_LONG and FAST[words[1]]
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
  HAS_SHORT_LONG = format('%d', 2 ^ 40) ~= '1099511627776'
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
