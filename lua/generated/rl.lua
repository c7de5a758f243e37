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
local FAST = {
FIXED=function(P,h) local l,ac,cO,c,b=string.find,string.match,string.sub,string.format,redis.call local cH
local xp=h[2] local cU=h[3] local nL=h[4] if not cU then return end local jW=h[5] local fp local az local be
if(nL=='LINE')and(not jW)then fp=5 az=1 be='LINE' else local qC local qD local qE if nL then if jW then
if not(((((h[6]=='LINE')and(not h[7]))and((#jW)<16))and(nL=='COST'))and l(jW,'^[1-9]%d*$'))then return end qC=7 qD=jW+0
qE='LINE' else if(((h[6]=='LINE')and(not h[7]))and(nL=='COST'))and l('','^[1-9]%d*$')then return end return end else
qC=4 qD=1 qE=nil end fp=qC az=qD be=qE end if not(((#cU)<16)and l(cU,'^[1-9]%d*$'))then return end local d=cU+0
local C,D=ac(xp,'^([1-9]%d*)(%l*)$') if C then if(#xp)<16 then
local jY=(D=='')and 1000 or((D=='ms')and 1 or((D=='s')and 1000 or((D=='m')and 60000 or((D=='h')and 3.6e6 or((D=='d')and 8.64e7 or nil)))))
local K=jY and(C*jY)or jY if(not K)or((K<1)or(1e15<K))then return end if not(K<9e12)then return end local nS=h[fp]
if nS then return end local fq local aQ=b('TIME') local N=(aQ[1]*1e6)+aQ[2] local x=(N-(N%1000))/1000 local hV=P[1]
local s=(x-(x%K))/K local uC=c(((s<2147483648)and':%d'or':%.0f'),s) local kb=P[2] local t=#uC if not kb then return end
if not(cO(hV,(-t))==uC)then if not(cO(kb,(-t))==uC)then if l(cO(kb,1,((-t)-1)),':reserved',1,true)then return end
if not((#P)==2)then return end return else if l(cO(kb,1,((-t)-1)),':reserved',1,true)then return end if not((#P)==2)then
return end fq=kb end else if l(cO(hV,1,((-t)-1)),':reserved',1,true)then return end if not((#P)==2)then return end fq=hV
end local hX=b('GET',fq) if hX then if not(((#hX)<16)and l(hX,'^[1-9]%d*$'))then return end local v=hX+0
if not redis.REDIS_VERSION_NUM then return end local gj=b('PEXPIRETIME',fq) if gj<0 then return end if 2^53<=gj then
return end local gl=(az<=d)and((v+az)<=d) local bv=gl or(d<=v) local bw=bv and(v+az)or v if 2^53<=bw then return end
local ck=((x<gj)and(gj-x)or 0)+500 local nT=(ck-(ck%1000))/1000 if bv then local qZ if not gl then qZ=0 else qZ=az end
local rh if be=='LINE'then local gp=(0<bw)and bw or 0 local eG=(gp<d)and(d-gp)or 0 local dt if not gl then local mf
if d<az then mf=nil else if(gp+az)<=d then mf=0 else mf=K-(x%K) end end local db=mf or(-1) dt=db else dt=0 end local fy
local cB if eG<d then local dP=eG+1 local mi if d<dP then mi=nil else if(gp+dP)<=d then mi=0 else mi=K-(x%K) end end
local al=mi or(-1) local re if dP==d then re=al else local bD if(gp+d)<=d then bD=0 else bD=K-(x%K) end re=bD end fy=al
cB=re else fy=0 cB=0 end if(2^53<=dt)or(2^53<=cB)then return end
local uM=c('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 %.0f',(gl and 1 or 0),bw,nT,d,eG,dt,fy,cB,x,qZ) rh=uM else
if be then return end rh={(gl and 1 or 0),bw,nT} end local ie=bw-v if not(ie==0)then local rj if ie==1 then rj='1' else
rj=c('%.0f',ie) end local bP=b('INCRBY',fq,rj) end cH=rh else local bE if be=='LINE'then local dR=d-v local mm
if d<az then mm=nil else if(v+az)<=d then mm=0 else mm=K-(x%K) end end local oa=mm or(-1) local em local mn if dR<d then
local kn=dR+1 local cE if d<kn then cE=nil else if(v+kn)<=d then cE=0 else cE=K-(x%K) end end local yc=cE or(-1)
local cb if kn==d then cb=yc else local rq if(v+d)<=d then rq=0 else rq=K-(x%K) end cb=rq end em=yc mn=cb else em=0 mn=0
end if(2^53<=oa)or(2^53<=mn)then return end
local eL=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',bw,nT,d,dR,oa,em,mn,x) bE=eL else if be then return end
bE={0,bw,nT} end cH=bE end else local uG=az<=d local cY=uG and az or 0 if 2^53<=cY then return end local fx if uG then
fx=x+K else fx=nil end local hv if not fx then hv=-2 else local ax=((x<fx)and(fx-x)or 0)+500 hv=(ax-(ax%1000))/1000 end
if uG then local fB if be=='LINE'then local bn=(0<cY)and cY or 0 local uS=(bn<d)and(d-bn)or 0 local dw local mv
if uS<d then local il=uS+1 local mu if d<il then mu=nil else if(bn+il)<=d then mu=0 else mu=K-(x%K) end end
local aZ=mu or(-1) local fA if il==d then fA=aZ else local cc if(bn+d)<=d then cc=0 else cc=K-(x%K) end fA=cc end dw=aZ
mv=fA else dw=0 mv=0 end if 2^53<=mv then return end
local cp=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',cY,hv,d,uS,dw,mv,x,az) fB=cp else if be then return end
fB={1,cY,hv} end if not(cY==0)then local fC if cY==1 then fC='1' else fC=c('%.0f',cY) end local yl=b('INCRBY',fq,fC) end
if fx then local gD=c('%.0f',fx) local FU=b('PEXPIREAT',fq,gD) end cH=fB else local rT if be=='LINE'then
local iw=c('0 %.0f %.0f %.0f %.0f -1 0 0 0 %.0f 0 0',cY,hv,d,d,x) rT=iw else if be then return end rT={0,cY,hv} end
cH=rT end end else return end else return end return cH end, WINDOW=function(P,h)
local l,ac,c,b=string.find,string.match,string.format,redis.call local aN local xl=h[2] local cR=h[3] local bk=h[4]
if not cR then return end local cT=h[5] local bX local T local u if(bk=='LINE')and(not cT)then bX=5 T=1 u='LINE' else
local fo local S local am if bk then if cT then
if not(((((h[6]=='LINE')and(not h[7]))and((#cT)<16))and(bk=='COST'))and l(cT,'^[1-9]%d*$'))then return end fo=7 S=cT+0
am='LINE' else if(((h[6]=='LINE')and(not h[7]))and(bk=='COST'))and l('','^[1-9]%d*$')then return end return end else
fo=4 S=1 am=nil end bX=fo T=S u=am end if not(((#cR)<16)and l(cR,'^[1-9]%d*$'))then return end local F=cR+0
local i,at=ac(xl,'^([1-9]%d*)(%l*)$') if i then if(#xl)<16 then
local g=(at=='')and 1000 or((at=='ms')and 1 or((at=='s')and 1000 or((at=='m')and 60000 or((at=='h')and 3.6e6 or((at=='d')and 8.64e7 or nil)))))
local aw=g and(i*g)or g if(not aw)or((aw<1)or(1e15<aw))then return end if not(aw<9e12)then return end local C=h[bX]
if C then return end local nQ=b('TIME') local m=(nQ[1]*1e6)+nQ[2] local dM=(m-(m%1000))/1000 local o=P[1] if not o then
return end if l(o,':reserved',1,true)then return end if not((#P)==1)then return end local gh=b('GET',o) if gh then
if not(((#gh)<16)and l(gh,'^[1-9]%d*$'))then return end local N=gh+0 if not redis.REDIS_VERSION_NUM then return end
local gi=b('PEXPIRETIME',o) if gi<0 then return end if 2^53<=gi then return end if gi<=dM then return end local eC=dM+aw
local aa=(gi<eC)and gi or eC local aX=(N+T)<=F if 2^53<=N then return end if aX then local L=N+T if aa<=dM then return
end local ak=(aa<eC)and aa or eC local uE=(L<F)and(F-L)or 0 local ft if(L+F)<=F then ft=0 else
if not((ak*1000)<2^53)then return end local bv=ak*1000 local kc=(m<bv)and(bv-m)or 0 local ck=kc%1000
ft=(ck==0)and(kc/1000)or(((kc-ck)/1000)+1) end if 2^53<=ft then return end local xU=ft%1000
local hY=(ft<0)and(-1)or((xU==0)and(ft/1000)or(((ft-xU)/1000)+1)) local cc if u=='LINE'then local rz local mt
if uE<F then local au=uE+1 local mr if F<au then mr=nil else if(L+au)<=F then mr=0 else if not((ak*1000)<2^53)then
return end local yg=ak*1000 local uQ=(m<yg)and(yg-m)or 0 local ii=uQ%1000 mr=(ii==0)and(uQ/1000)or(((uQ-ii)/1000)+1) end
end local kr=mr or(-1) local ry if au==F then ry=kr else local rx if(L+F)<=F then rx=0 else if not((ak*1000)<2^53)then
return end local gz=ak*1000 local bn=(m<gz)and(gz-m)or 0 local ik=bn%1000 rx=(ik==0)and(bn/1000)or(((bn-ik)/1000)+1) end
ry=rx end rz=kr mt=ry else rz=0 mt=0 end if 2^53<=mt then return end
local co=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',N,hY,F,uE,rz,mt,dM,T) cc=co else if u then return end
cc={1,N,hY} end if gi==aa then local bA=L-N local rC if bA==1 then rC='1' else rC=c('%.0f',bA) end
local cp=b('INCRBY',o,rC) else if N==L then local gC=b('PEXPIREAT',o,c('%.0f',aa)) else
local bo=b('SET',o,c('%.0f',L),'PXAT',c('%.0f',aa)) end end aN=cc else if not(aa==gi)then return end
local O=(N<F)and(F-N)or 0 local bC if F<T then bC=nil else if not((aa*1000)<2^53)then return end local aT=aa*1000
local cZ=(m<aT)and(aT-m)or 0 local go=cZ%1000 bC=(go==0)and(cZ/1000)or(((cZ-go)/1000)+1) end local me if bC then
if 2^53<=bC then return end local eG=bC%1000 local ia=(bC<0)and(-1)or((eG==0)and(bC/1000)or(((bC-eG)/1000)+1)) me=ia
else me=-1 end local cl=(me==0)and 1 or me local dA if u=='LINE'then local cG if F<T then cG=nil else
if not((aa*1000)<2^53)then return end local dj=aa*1000 local dU=(m<dj)and(dj-m)or 0 local iw=dU%1000
cG=(iw==0)and(dU/1000)or(((dU-iw)/1000)+1) end local yr=cG or(-1) local fG local cJ if O<F then local uV=O+1 local dz
if F<uV then dz=nil else if(N+uV)<=F then dz=0 else if not((aa*1000)<2^53)then return end local aI=aa*1000
local ix=(m<aI)and(aI-m)or 0 local kx=ix%1000 dz=(kx==0)and(ix/1000)or(((ix-kx)/1000)+1) end end local eR=dz or(-1)
local rZ if uV==F then rZ=eR else local en if(N+F)<=F then en=0 else if not((aa*1000)<2^53)then return end
local eT=aa*1000 local aU=(m<eT)and(eT-m)or 0 local ct=aU%1000 en=(ct==0)and(aU/1000)or(((aU-ct)/1000)+1) end rZ=en end
fG=eR cJ=rZ else fG=0 cJ=0 end if(2^53<=yr)or(2^53<=cJ)then return end
local os=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',N,cl,F,O,yr,fG,cJ,dM) dA=os else if u then return end
dA={0,N,cl} end aN=dA end else local uJ=T<=F if uJ then local V=dM+aw if V<=dM then return end
local id=(T<F)and(F-T)or 0 local aB if(T+F)<=F then aB=0 else if not((V*1000)<2^53)then return end local dd=V*1000
local cm=(m<dd)and(dd-m)or 0 local by=cm%1000 aB=(by==0)and(cm/1000)or(((cm-by)/1000)+1) end if 2^53<=aB then return end
local bm=aB%1000 local eJ=(aB<0)and(-1)or((bm==0)and(aB/1000)or(((aB-bm)/1000)+1)) local fI if u=='LINE'then local sq
local mI if id<F then local aJ=id+1 local eo if F<aJ then eo=nil else if(T+aJ)<=F then eo=0 else
if not((V*1000)<2^53)then return end local eV=V*1000 local va=(m<eV)and(eV-m)or 0 local aL=va%1000
eo=(aL==0)and(va/1000)or(((va-aL)/1000)+1) end end local eX=eo or(-1) local bg if aJ==F then bg=eX else local aV
if(T+F)<=F then aV=0 else if not((V*1000)<2^53)then return end local iD=V*1000 local iE=(m<iD)and(iD-m)or 0
local eY=iE%1000 aV=(eY==0)and(iE/1000)or(((iE-eY)/1000)+1) end bg=aV end sq=eX mI=bg else sq=0 mI=0 end
if 2^53<=mI then return end local gL=c('1 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',eJ,F,id,sq,mI,dM,T) fI=gL else
if u then return end fI={1,0,eJ} end local ox=c('%.0f',T) local vd=b('SET',o,ox,'PXAT',c('%.0f',V)) aN=fI else local sF
if u=='LINE'then sF=c('0 0 -1 %.0f %.0f -1 0 0 0 %.0f 0 0',F,F,dM) else if u then return end sF={0,0,(-1)} end aN=sF end
end else return end else return end return aN end, SLIDING=function(P,h)
local I,l,ac,c,b=math.ceil,string.find,string.match,string.format,redis.call local jg local xk=h[2] local nI=h[3]
local nJ=h[4] if not nI then return end local as=h[5] local fo local S local am if(nJ=='LINE')and(not as)then fo=5 S=1
am='LINE' else local qt local qu local qv if nJ then if as then
if not(((((h[6]=='LINE')and(not h[7]))and((#as)<16))and(nJ=='COST'))and l(as,'^[1-9]%d*$'))then return end qt=7 qu=as+0
qv='LINE' else if(((h[6]=='LINE')and(not h[7]))and(nJ=='COST'))and l('','^[1-9]%d*$')then return end return end else
qt=4 qu=1 qv=nil end fo=qt S=qu am=qv end if not(((#nI)<16)and l(nI,'^[1-9]%d*$'))then return end local aE=nI+0
local eA,hU=ac(xk,'^([1-9]%d*)(%l*)$') if eA then if(#xk)<16 then
local aF=(hU=='')and 1000 or((hU=='ms')and 1 or((hU=='s')and 1000 or((hU=='m')and 60000 or((hU=='h')and 3.6e6 or((hU=='d')and 8.64e7 or nil)))))
local g=aF and(eA*aF)or aF if(not g)or((g<1)or(1e15<g))then return end if not(g<9e12)then return end local Dp=h[fo]
if Dp then return end if 1000<S then return end local dL=b('TIME') local j=(dL[1]*1e6)+dL[2] local f=(j-(j%1000))/1000
local k=P[1] if not k then return end if l(k,':reserved',1,true)then return end if not((#P)==1)then return end
local gh=f-g local N=b('ZCARD',k) local w if(0<N)and(0<=gh)then if not(N<=4000)then return end
local ka=b('ZREMRANGEBYSCORE',k,'0',c('%.0f',gh)) w=N-ka else w=N end local ah=0<w local y=(w+S)<=aE local L=g%1000
local aG=(L==0)and(g/1000)or(((g-L)/1000)+1) if y then if am=='LINE'then local H=(aE-w)-S local uF=(0<H)and H or 0
local ei if ah then if not redis.REDIS_VERSION_NUM then return end local bv=b('PEXPIRETIME',k)
local bw=(0<=bv)and bv or nil local av if bw then av=bw else av=nil end ei=av else ei=nil end local bG local hA
if uF<aE then local aS=uF+1 local jk if ei then if(3*g)<=(2*(ei-f))then jk=nil else jk=f+(2*g) end else jk=f+(2*g) end
local qX if jk then qX=jk else qX=ei end local aH=w+S local n=qX+1 local jl local ml local gm=aE-aS if gm<0 then jl=nil
ml=nil else if aH<=gm then jl=nil ml=0 else local eD=(aH-gm)-1 local ca local aA if ah then
local cZ=b('ZRANGE',k,'0','0','WITHSCORES') local da=cZ[2] if da then local bC if tonumber(da)<0 then
local R=b('ZCOUNT',k,'-inf','(0') bC=R else bC=0 end aA=bC else aA=0 end else aA=0 end if(aH-aA)<=eD then ca=nil else
local eF=eD+aA if(0<=eF)and(eF<w)then local cl=c('%.0f',eF) local En=b('ZRANGE',k,cl,cl,'WITHSCORES') local aq=En[2]
if aq then local xW=I(tonumber(aq)) local kg=(0<xW)and xW or 0 local mg if f<kg then mg=nil else mg=kg end local cB
if not mg then local uI=eF-S if(0<=uI)and(uI<w)then local dc=c('%.0f',uI) local V=b('ZRANGE',k,dc,dc,'WITHSCORES')
local al=V[2] if al then local nV=I(tonumber(al)) local kh=(0<nV)and nV or 0 local fy if f<kh then fy=kh else fy=f end
cB=fy else cB=f end else cB=f end else cB=mg end local nZ=cB+g ca=nZ else local bO=eF-S if(0<=bO)and(bO<w)then
local eI=c('%.0f',bO) local uM=b('ZRANGE',k,eI,eI,'WITHSCORES') local id=uM[2] if id then local dQ=I(tonumber(id))
local nX=(0<dQ)and dQ or 0 local ar if f<nX then ar=nX else ar=f end local Et=ar+g ca=Et else ca=f+g end else ca=f+g end
end else local uN=eF-S if(0<=uN)and(uN<w)then local by=c('%.0f',uN) local bP=b('ZRANGE',k,by,by,'WITHSCORES')
local nY=bP[2] if nY then local bm=I(tonumber(nY)) local eJ=(0<bm)and bm or 0 local el if f<eJ then el=eJ else el=f end
local kk=el+g ca=kk else ca=f+g end else ca=f+g end end end local hy if(not ca)or(n<ca)then hy=n else hy=ca end local rm
if hy then local rl if 2^53<=hy then rl=1/0 else local eK=hy-f rl=(0<eK)and eK or 0 end rm=rl else rm=hy end jl=aA ml=rm
end end local km=ml or(-1) local fE if aS==aE then fE=km else local cE if ei then if(3*g)<=(2*(ei-f))then cE=nil else
cE=f+(2*g) end else cE=f+(2*g) end local rp if cE then rp=cE else rp=ei end local kp=rp+1 local rO if aH<=0 then rO=0
else local kq=aH-1 local af local mp if jl then mp=jl else local cF if ah then
local au=b('ZRANGE',k,'0','0','WITHSCORES') local gt=au[2] if gt then local fz if tonumber(gt)<0 then
local gv=b('ZCOUNT',k,'-inf','(0') fz=gv else fz=0 end cF=fz else cF=0 end else cF=0 end mp=cF end if(aH-mp)<=kq then
af=nil else local ih=kq+mp if(0<=ih)and(ih<w)then local gx=c('%.0f',ih) local ij=b('ZRANGE',k,gx,gx,'WITHSCORES')
local gy=ij[2] if gy then local gA=I(tonumber(gy)) local bQ=(0<gA)and gA or 0 local bp if f<bQ then bp=nil else bp=bQ
end local jm if not bp then local ik=ih-S if(0<=ik)and(ik<w)then local ks=c('%.0f',ik)
local Ey=b('ZRANGE',k,ks,ks,'WITHSCORES') local il=Ey[2] if il then local aZ=I(tonumber(il)) local oe=(0<aZ)and aZ or 0
local rB if f<oe then rB=oe else rB=f end jm=rB else jm=f end else jm=f end else jm=bp end local is=jm+g af=is else
local eN=ih-S if(0<=eN)and(eN<w)then local ku=c('%.0f',eN) local ip=b('ZRANGE',k,ku,ku,'WITHSCORES') local oh=ip[2]
if oh then local eO=I(tonumber(oh)) local yk=(0<eO)and eO or 0 local fB if f<yk then fB=yk else fB=f end local it=fB+g
af=it else af=f+g end else af=f+g end end else local cq=ih-S if(0<=cq)and(cq<w)then local bo=c('%.0f',cq)
local iq=b('ZRANGE',k,bo,bo,'WITHSCORES') local ok=iq[2] if ok then local ol=I(tonumber(ok)) local gD=(0<ol)and ol or 0
local rJ if f<gD then rJ=gD else rJ=f end local EC=rJ+g af=EC else af=f+g end else af=f+g end end end local hz
if(not af)or(kp<af)then hz=kp else hz=af end local rN if hz then local fD if 2^53<=hz then fD=1/0 else local yp=hz-f
fD=(0<yp)and yp or 0 end rN=fD else rN=hz end rO=rN end fE=rO or(-1) end bG=km hA=fE else bG=0 hA=0 end
if(not((bG-bG)==0))or((not((hA-hA)==0))or(2^53<=hA))then return end
local oo=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',w,aG,aE,uF,bG,hA,f,S) local mB if ah then
if not redis.REDIS_VERSION_NUM then return end local yv=b('PEXPIRETIME',k) local ix=(0<=yv)and yv or nil local rW
if ix then rW=ix else rW=nil end mB=rW else mB=nil end local cI if mB then if(3*g)<=(2*(mB-f))then cI=nil else
cI=f+(2*g) end else cI=f+(2*g) end local iz=c('%.0f',f) local aU=b('ZCOUNT',k,iz,iz) if 1<S then return end local lz=S
local lA=aU while 0<lz do local op=c('%.0f',lA) local oq=b('ZADD',k,'NX',iz,(iz..('-0.'..op))) local EK=lz-oq
local EL=lA+1 lz,lA=EK,EL end local kC=lz local gH=lA if cI then local iA=c('%.0f',cI) local gI=b('PEXPIREAT',k,iA) end
jg=oo else if am then return end local mE if ah then if not redis.REDIS_VERSION_NUM then return end
local yD=b('PEXPIRETIME',k) local yF=(0<=yD)and yD or nil local se if yF then se=yF else se=nil end mE=se else mE=nil
end local jp if mE then if(3*g)<=(2*(mE-f))then jp=nil else jp=f+(2*g) end else jp=f+(2*g) end local dm=c('%.0f',f)
local ou=b('ZCOUNT',k,dm,dm) if 1<S then return end local lB=S local lC=ou while 0<lB do local aK=c('%.0f',lC)
local dV=b('ZADD',k,'NX',dm,(dm..('-0.'..aK))) local ov=lB-dV local eV=lC+1 lB,lC=ov,eV end local gK=lB local FW=lC
if jp then local ow=c('%.0f',jp) local aL=b('PEXPIREAT',k,ow) end jg={1,w,aG} end else local qU if ah then
local uD=b('ZCOUNT',k,('('..c('%.0f',f)),'+inf') qU=0<uD else qU=false end if qU then if am=='LINE'then local bS=aE-w
local kG=(0<bS)and bS or 0 local ce if ah then if not redis.REDIS_VERSION_NUM then return end
local kI=b('PEXPIRETIME',k) local kJ=(0<=kI)and kI or nil local sr if kJ then sr=kJ else sr=nil end ce=sr else ce=nil
end local dB if ce then if(3*g)<=(2*(ce-f))then dB=nil else dB=f+(2*g) end else dB=f+(2*g) end local dC if dB then dC=dB
else dC=ce end local yQ=dC+1 local fK local aD local mP local ve=aE-S if ve<0 then fK=nil aD=nil mP=nil else
if w<=ve then fK=nil aD=nil mP=0 else local kM=(w-ve)-1 local js local fJ local aW if ah then
local bb=b('ZRANGE',k,'0','0','WITHSCORES') local iI=bb[2] if iI then local sC if tonumber(iI)<0 then
local oz=b('ZCOUNT',k,'-inf','(0') sC=oz else sC=0 end aW=sC else aW=0 end else aW=0 end if(w-aW)<=kM then js=nil fJ=nil
else local bB=kM+aW if(0<=bB)and(bB<w)then local gO=c('%.0f',bB) local yT=b('ZRANGE',k,gO,gO,'WITHSCORES')
local vh=yT[2] if vh then local oC=I(tonumber(vh)) local dn=(0<oC)and oC or 0 local ET=b('ZCOUNT',k,'-inf',c('%.0f',f))
local kN=ET+500 local aN if bB<kN then aN=(dn<f)and dn or f else aN=dn end local EY=aN+g js=kN fJ=EY else
local oF=b('ZCOUNT',k,'-inf',c('%.0f',f)) js=oF+500 fJ=f+g end else local oI=b('ZCOUNT',k,'-inf',c('%.0f',f)) js=oI+500
fJ=f+g end end local hE if(not fJ)or(yQ<fJ)then hE=yQ else hE=fJ end local sL if hE then local sK if 2^53<=hE then
sK=1/0 else local gP=hE-f sK=(0<gP)and gP or 0 end sL=sK else sL=hE end fK=aW aD=js mP=sL end end local vl=mP or(-1)
local nc local jz if kG<aE then local kS=kG+1 local jt if ce then if(3*g)<=(2*(ce-f))then jt=nil else jt=f+(2*g) end
else jt=f+(2*g) end local sN if jt then sN=jt else sN=ce end local gQ=sN+1 local dE local fP local mW local fe=aE-kS
if fe<0 then dE=fK fP=aD mW=nil else if w<=fe then dE=fK fP=aD mW=0 else local oM=(w-fe)-1 local jw local fN local bK
if fK then bK=fK else local mT if ah then local Fa=b('ZRANGE',k,'0','0','WITHSCORES') local iO=Fa[2] if iO then local eu
if tonumber(iO)<0 then local oN=b('ZCOUNT',k,'-inf','(0') eu=oN else eu=0 end mT=eu else mT=0 end else mT=0 end bK=mT
end if(w-bK)<=oM then jw=aD fN=nil else local gU=oM+bK if(0<=gU)and(gU<w)then local kX=c('%.0f',gU)
local oO=b('ZRANGE',k,kX,kX,'WITHSCORES') local kY=oO[2] if kY then local iP=I(tonumber(kY)) local kZ=(0<iP)and iP or 0
local mV if aD then mV=aD else local iQ=b('ZCOUNT',k,'-inf',c('%.0f',f)) mV=iQ+500 end local sW if gU<mV then
sW=(kZ<f)and kZ or f else sW=kZ end local oQ=sW+g jw=mV fN=oQ else local ta if aD then ta=aD else
local Fe=b('ZCOUNT',k,'-inf',c('%.0f',f)) ta=Fe+500 end jw=ta fN=f+g end else local fM if aD then fM=aD else
local Fg=b('ZCOUNT',k,'-inf',c('%.0f',f)) fM=Fg+500 end jw=fM fN=f+g end end local hH if(not fN)or(gQ<fN)then hH=gQ else
hH=fN end local fO if hH then local tg if 2^53<=hH then tg=1/0 else local le=hH-f tg=(0<le)and le or 0 end fO=tg else
fO=hH end dE=bK fP=jw mW=fO end end local gW=mW or(-1) local tx if kS==aE then tx=gW else local bL if ce then
if(3*g)<=(2*(ce-f))then bL=nil else bL=f+(2*g) end else bL=f+(2*g) end local ti if bL then ti=bL else ti=ce end
local lh=ti+1 local tw if w<=0 then tw=0 else local zl=w-1 local fV local mZ if dE then mZ=dE else local mY if ah then
local zn=b('ZRANGE',k,'0','0','WITHSCORES') local li=zn[2] if li then local tm if tonumber(li)<0 then
local vw=b('ZCOUNT',k,'-inf','(0') tm=vw else tm=0 end mY=tm else mY=0 end else mY=0 end mZ=mY end if(w-mZ)<=zl then
fV=nil else local dq=zl+mZ if(0<=dq)and(dq<w)then local zp=c('%.0f',dq) local Fo=b('ZRANGE',k,zp,zp,'WITHSCORES')
local zq=Fo[2] if zq then local ll=I(tonumber(zq)) local iU=(0<ll)and ll or 0 local cN if fP then cN=fP else
local gY=b('ZCOUNT',k,'-inf',c('%.0f',f)) cN=gY+500 end local to if dq<cN then to=(iU<f)and iU or f else to=iU end
local Fv=to+g fV=Fv else if not fP then local Fp=b('ZCOUNT',k,'-inf',c('%.0f',f)) end fV=f+g end else if not fP then
local zv=b('ZCOUNT',k,'-inf',c('%.0f',f)) end fV=f+g end end local hK if(not fV)or(lh<fV)then hK=lh else hK=fV end
local tv if hK then local tu if 2^53<=hK then tu=1/0 else local vy=hK-f tu=(0<vy)and vy or 0 end tv=tu else tv=hK end
tw=tv end tx=tw or(-1) end nc=gW jz=tx else nc=0 jz=0 end
if(not((vl-vl)==0))or((not((nc-nc)==0))or((not((jz-jz)==0))or((2^53<=vl)or(2^53<=jz))))then return end return else
if am then return end return end else if am=='LINE'then local zA=aE-w local vC=(0<zA)and zA or 0 local ci if ah then
if not redis.REDIS_VERSION_NUM then return end local zB=b('PEXPIRETIME',k) local ed=(0<=zB)and zB or nil local tA
if ed then tA=ed else tA=nil end ci=tA else ci=nil end local jA if ci then if(3*g)<=(2*(ci-f))then jA=nil else
jA=f+(2*g) end else jA=f+(2*g) end local tE if jA then tE=jA else tE=ci end local lv=tE+1 local fj local lG
local vF=aE-S if vF<0 then fj=nil lG=nil else if w<=vF then fj=nil lG=0 else local lw=(w-vF)-1 local bW local hr
if ah then local ng=b('ZRANGE',k,'0','0','WITHSCORES') local jB=ng[2] if jB then local pj if tonumber(jB)<0 then
local zG=b('ZCOUNT',k,'-inf','(0') pj=zG else pj=0 end hr=pj else hr=0 end else hr=0 end if(w-hr)<=lw then bW=nil else
local ew=lw+hr if(0<=ew)and(ew<w)then local nk=c('%.0f',ew) local tG=b('ZRANGE',k,nk,nk,'WITHSCORES') local nl=tG[2]
if nl then local jC=I(tonumber(nl)) bW=((0<jC)and jC or 0)+g else bW=f+g end else bW=f+g end end local hs
if(not bW)or(lv<bW)then hs=lv else hs=bW end local pm if hs then local pl if 2^53<=hs then pl=1/0 else local jE=hs-f
pl=(0<jE)and jE or 0 end pm=pl else pm=hs end fj=hr lG=pm end end local dG=lG or(-1) local jd local hu if vC<aE then
local nn=vC+1 local ja if ci then if(3*g)<=(2*(ci-f))then ja=nil else ja=f+(2*g) end else ja=f+(2*g) end local pn
if ja then pn=ja else pn=ci end local dH=pn+1 local jc local lL local hO=aE-nn if hO<0 then jc=fj lL=nil else
if w<=hO then jc=fj lL=0 else local ey=(w-hO)-1 local fk local jb if fj then jb=fj else local lI if ah then
local jH=b('ZRANGE',k,'0','0','WITHSCORES') local jI=jH[2] if jI then local pp if tonumber(jI)<0 then
local bj=b('ZCOUNT',k,'-inf','(0') pp=bj else pp=0 end lI=pp else lI=0 end else lI=0 end jb=lI end if(w-jb)<=ey then
fk=nil else local bs=ey+jb if(0<=bs)and(bs<w)then local jJ=c('%.0f',bs) local zK=b('ZRANGE',k,jJ,jJ,'WITHSCORES')
local jK=zK[2] if jK then local ga=I(tonumber(jK)) fk=((0<ga)and ga or 0)+g else fk=f+g end else fk=f+g end end local cv
if(not fk)or(dH<fk)then cv=dH else cv=fk end local pw if cv then local pv if 2^53<=cv then pv=1/0 else local jL=cv-f
pv=(0<jL)and jL or 0 end pw=pv else pw=cv end jc=jb lL=pw end end local jM=lL or(-1) local pJ if nn==aE then pJ=jM else
local cw if ci then if(3*g)<=(2*(ci-f))then cw=nil else cw=f+(2*g) end else cw=f+(2*g) end local py if cw then py=cw
else py=ci end local jN=py+1 local pI if w<=0 then pI=0 else local wi=w-1 local fl local lN if jc then lN=jc else
local lM if ah then local hR=b('ZRANGE',k,'0','0','WITHSCORES') local nt=hR[2] if nt then local pA
if tonumber(nt)<0 then local nv=b('ZCOUNT',k,'-inf','(0') pA=nv else pA=0 end lM=pA else lM=0 end else lM=0 end lN=lM
end if(w-lN)<=wi then fl=nil else local tQ=wi+lN if(0<=tQ)and(tQ<w)then local gc=c('%.0f',tQ)
local zP=b('ZRANGE',k,gc,gc,'WITHSCORES') local hS=zP[2] if hS then local wo=I(tonumber(hS)) fl=((0<wo)and wo or 0)+g
else fl=f+g end else fl=f+g end end local ht if(not fl)or(jN<fl)then ht=jN else ht=fl end local pH if ht then local pG
if 2^53<=ht then pG=1/0 else local wu=ht-f pG=(0<wu)and wu or 0 end pH=pG else pH=ht end pI=pH end pJ=pI or(-1) end
jd=jM hu=pJ else jd=0 hu=0 end
if(not((dG-dG)==0))or((not((jd-jd)==0))or((not((hu-hu)==0))or((2^53<=dG)or(2^53<=hu))))then return end
local jO=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',w,aG,aE,vC,dG,jd,hu,f) if ah then
if not redis.REDIS_VERSION_NUM then return end local wz=b('PEXPIRETIME',k) local wA=(0<=wz)and wz or nil local je
if wA then if(3*g)<=(2*(wA-f))then je=nil else je=f+(2*g) end else je=f+(2*g) end if je then local nw=c('%.0f',je)
local FF=b('PEXPIREAT',k,nw) end end jg=jO else if am then return end if ah then if not redis.REDIS_VERSION_NUM then
return end local wE=b('PEXPIRETIME',k) local wF=(0<=wE)and wE or nil local jf if wF then if(3*g)<=(2*(wF-f))then jf=nil
else jf=f+(2*g) end else jf=f+(2*g) end if jf then local ez=c('%.0f',jf) local FG=b('PEXPIREAT',k,ez) end end
jg={0,w,aG} end end end else return end else return end return jg end, COUNTER=function(P,h)
local l,ac,c,b=string.find,string.match,string.format,redis.call local fm local xn=h[2] local cT=h[3] local aP=h[4]
if not cT then return end local cU=h[5] local qB local an local cy if(aP=='LINE')and(not cU)then qB=5 an=1 cy='LINE'
else local bY local M local ae if aP then if cU then
if not(((((h[6]=='LINE')and(not h[7]))and((#cU)<16))and(aP=='COST'))and l(cU,'^[1-9]%d*$'))then return end bY=7 M=cU+0
ae='LINE' else if(((h[6]=='LINE')and(not h[7]))and(aP=='COST'))and l('','^[1-9]%d*$')then return end return end else
bY=4 M=1 ae=nil end qB=bY an=M cy=ae end if not(((#cT)<16)and l(cT,'^[1-9]%d*$'))then return end local J=cT+0
local xB,aw=ac(xn,'^([1-9]%d*)(%l*)$') if xB then if(#xn)<16 then
local aj=(aw=='')and 1000 or((aw=='ms')and 1 or((aw=='s')and 1000 or((aw=='m')and 60000 or((aw=='h')and 3.6e6 or((aw=='d')and 8.64e7 or nil)))))
local D=aj and(xB*aj)or aj if(not D)or((D<1)or(1e15<D))then return end if not(D<9e12)then return end local e=D*1000
local nQ=h[qB] if nQ then return end local nS=b('TIME') local o=(nS[1]*1e6)+nS[2] local A=(o-(o%1000))/1000 local N=P[1]
if not N then return end if l(N,':reserved',1,true)then return end if not((#P)==1)then return end local ag=b('GET',N)
if ag then local hW,bu,U,eB,ah=ac(ag,'^C:(%d+):(%d+):(%d+):(%d+)(.*)$') if not hW then return else if l(ag,':0%d')then
return else local t=((#eB)<17)and(eB+0) if not((#hW)<16)then return end if not((#bu)<16)then return end
if not((#U)<16)then return end if t then if not(t<9e15)then return end local y=hW+0 local aX=bu+0 local G=U+0
if(not((1<=y)and(y<=1e15)))or(not(ah==''))then return else if not((aX*y)<2^53)then return end local ak=aX*y
if not((ak*1000)<2^53)then return end local H=ak*1000 if(ak==0)and(not(t==0))then return else
if not((ak==(A-(A%D)))and(y==D))then return end local fv if t==0 then fv=0 else local cX=o-H
local ad=(cX<e)and(e-cX)or 0 if not((t*ad)<2^53)then return end fv=t*ad end if not((G+an)<2^53)then return end
local n=G+an if not((n*e)<2^53)then return end local ax=n*e if not((J*e)<2^53)then return end if not((ax+fv)<2^53)then
return end local El=ax+fv local ai if fv==0 then ai=G else local Em=fv%e local eE=(fv-Em)/e if not((G+eE)<2^53)then
return end ai=G+eE end if 2^53<=ai then return end if not((J*e)<El)then if not(n<2^53)then return end
local V=D*((not(n==0))and 2 or((not(t==0))and 1 or 0)) if not((ak+V)<2^53)then return end local al=ak+V
if not((al*1000)<2^53)then return end local gq=al*1000 local ib=(o<gq)and(gq-o)or 0 local ki=ib%1e6
local bO=(ki==0)and(ib/1e6)or(((ib-ki)/1e6)+1) if 2^53<=bO then return end if cy=='LINE'then local hB if t==0 then hB=0
else local kD=o-H local kE=(kD<e)and(e-kD)or 0 if not((t*kE)<2^53)then return end hB=t*kE end local dl=(n<J)and(J-n)or 0
local mG if hB==0 then mG=0 else local gJ=hB%e local EN=(gJ==0)and(hB/e)or(((hB-gJ)/e)+1) mG=EN end
local aJ=(mG<dl)and(dl-mG)or 0 local fL local mR if aJ<J then local eW=aJ+1 local aW local aL=J-eW if not(H<2^53)then
return end if aL<0 then aW=nil else if aL<n then if not((H+e)<2^53)then return end local dW=H+e local mJ if n==0 then
mJ=0 else if not((aL*e)<2^53)then return end local eY=aL*e local kJ=(eY-(eY%n))/n mJ=(kJ<e)and(e-kJ)or 0 end
if not((dW+mJ)<2^53)then return end local gL=dW+mJ local eZ=(o<gL)and(gL-o)or 0 local iH=eZ%1000
aW=(iH==0)and(eZ/1000)or(((eZ-iH)/1000)+1) else local yP=aL-n local bJ if t==0 then bJ=0 else if not((yP*e)<2^53)then
return end local kL=yP*e local oy=(kL-(kL%t))/t bJ=(oy<e)and(e-oy)or 0 end if not((H+bJ)<2^53)then return end
local yR=H+bJ local iI=(o<yR)and(yR-o)or 0 local oz=iI%1000 aW=(oz==0)and(iI/1000)or(((iI-oz)/1000)+1) end end
local oA=aW or(-1) local sO if eW==J then sO=oA else local et if 0<n then if not((H+e)<2^53)then return end local yU=H+e
local er if n==0 then er=0 else local vi=(0-(0%n))/n er=(vi<e)and(e-vi)or 0 end if not((yU+er)<2^53)then return end
local oG=yU+er local oH=(o<oG)and(oG-o)or 0 local yW=oH%1000 et=(yW==0)and(oH/1000)or(((oH-yW)/1000)+1) else
local yX=0-n local mQ if t==0 then mQ=0 else if not((yX*e)<2^53)then return end local gP=yX*e local dX=(gP-(gP%t))/t
mQ=(dX<e)and(e-dX)or 0 end if not((H+mQ)<2^53)then return end local kT=H+mQ local iM=(o<kT)and(kT-o)or 0
local dY=iM%1000 et=(dY==0)and(iM/1000)or(((iM-dY)/1000)+1) end sO=et end fL=oA mR=sO else fL=0 mR=0 end
if 2^53<=mR then return end local EZ=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',ai,bO,J,aJ,fL,mR,A,an) local ch
if not redis.REDIS_VERSION_NUM then return end local kW=b('PEXPIRETIME',N) local gV=(0<=kW)and kW or nil if gV then
if 2^53<=gV then return end if not(al<2^53)then return end if not((al+5000)<2^53)then return end local lb=al+5000
if gV<al then ch=lb else if not(lb<gV)then ch=nil else ch=lb end end else if not(al<2^53)then return end
if not((al+5000)<2^53)then return end return end if ch then local dE if ch==0 then dE='1' else local Fi=c('%.0f',ch)
dE=Fi end local lf=b('SET',N,c('C:%.0f:%.0f:%.0f:%.0f',D,((ak-(ak%D))/D),n,t),'PXAT',dE) else
local iT=b('SET',N,c('C:%.0f:%.0f:%.0f:%.0f',D,((ak-(ak%D))/D),n,t),'KEEPTTL') end fm=EZ else if cy then return end
local cN if not redis.REDIS_VERSION_NUM then return end local eb=b('PEXPIRETIME',N) local oU=(0<=eb)and eb or nil
if oU then if 2^53<=oU then return end if not(al<2^53)then return end if not((al+5000)<2^53)then return end
local lj=al+5000 if oU<al then cN=lj else if not(lj<oU)then cN=nil else cN=lj end end else if not(al<2^53)then return
end if not((al+5000)<2^53)then return end return end if cN then local tt if cN==0 then tt='1' else local vx=c('%.0f',cN)
tt=vx end local zu=b('SET',N,c('C:%.0f:%.0f:%.0f:%.0f',D,((ak-(ak%D))/D),n,t),'PXAT',tt) else
local Gc=b('SET',N,c('C:%.0f:%.0f:%.0f:%.0f',D,((ak-(ak%D))/D),n,t),'KEEPTTL') end fm={1,ai,bO} end else if A<ak then
return end local nW=(G<J)and(J-G)or 0 local dv local de=J-an if not(H<2^53)then return end if de<0 then dv=nil else
if de<G then if not((H+e)<2^53)then return end local yb=H+e local cD if G==0 then cD=0 else if not((de*e)<2^53)then
return end local kl=de*e local gs=(kl-(kl%G))/G cD=(gs<e)and(e-gs)or 0 end if not((yb+cD)<2^53)then return end
local oc=yb+cD local uP=(o<oc)and(oc-o)or 0 local dg=uP%1000 dv=(dg==0)and(uP/1000)or(((uP-dg)/1000)+1) else
local ye=de-G local mo if t==0 then mo=0 else if not((ye*e)<2^53)then return end local dS=ye*e local gt=(dS-(dS%t))/t
mo=(gt<e)and(e-gt)or 0 end if not((H+mo)<2^53)then return end local gw=H+mo local ii=(o<gw)and(gw-o)or 0
local gx=ii%1000 dv=(gx==0)and(ii/1000)or(((ii-gx)/1000)+1) end end local bp if dv then if 2^53<=dv then return end
local bQ=dv%1000 local bn=(dv<0)and(-1)or((bQ==0)and(dv/1000)or(((dv-bQ)/1000)+1)) bp=bn else bp=-1 end
local yi=(bp==0)and 1 or bp local pF if cy=='LINE'then local hL if t==0 then hL=0 else local bc=o-H
local bV=(bc<e)and(e-bc)or 0 if not((t*bV)<2^53)then return end hL=t*bV end local nd if hL==0 then nd=0 else
local lq=hL%e local oY=(lq==0)and(hL/e)or(((hL-lq)/e)+1) nd=oY end local ha=(nd<nW)and(nW-nd)or 0 local lF if de<0 then
lF=nil else if de<G then if not((H+e)<2^53)then return end local oZ=H+e local nf if G==0 then nf=0 else
if not((de*e)<2^53)then return end local lu=de*e local pb=(lu-(lu%G))/G nf=(pb<e)and(e-pb)or 0 end
if not((oZ+nf)<2^53)then return end local lw=oZ+nf local fY=(o<lw)and(lw-o)or 0 local ng=fY%1000
lF=(ng==0)and(fY/1000)or(((fY-ng)/1000)+1) else local cP=de-G local lE if t==0 then lE=0 else if not((cP*e)<2^53)then
return end local vH=cP*e local nj=(vH-(vH%t))/t lE=(nj<e)and(e-nj)or 0 end if not((H+lE)<2^53)then return end
local jC=H+lE local tH=(o<jC)and(jC-o)or 0 local vJ=tH%1000 lF=(vJ==0)and(tH/1000)or(((tH-vJ)/1000)+1) end end
local vK=lF or(-1) local pE local lP if ha<J then local vN=ha+1 local lJ local cQ=J-vN if cQ<0 then lJ=nil else
if cQ<G then if not((H+e)<2^53)then return end local ex=H+e local bd if G==0 then bd=0 else if not((cQ*e)<2^53)then
return end local bi=cQ*e local hN=(bi-(bi%G))/G bd=(hN<e)and(e-hN)or 0 end if not((ex+bd)<2^53)then return end
local hO=ex+bd local ey=(o<hO)and(hO-o)or 0 local vU=ey%1000 lJ=(vU==0)and(ey/1000)or(((ey-vU)/1000)+1) else
local jI=cQ-G local ds if t==0 then ds=0 else if not((jI*e)<2^53)then return end local bj=jI*e local bs=(bj-(bj%t))/t
ds=(bs<e)and(e-bs)or 0 end if not((H+ds)<2^53)then return end local jK=H+ds local fZ=(o<jK)and(jK-o)or 0
local vZ=fZ%1000 lJ=(vZ==0)and(fZ/1000)or(((fZ-vZ)/1000)+1) end end local hP=lJ or(-1) local pD if vN==J then pD=hP else
local pC if 0<G then if not((H+e)<2^53)then return end local jL=H+e local cw if G==0 then cw=0 else local we=(0-(0%G))/G
cw=(we<e)and(e-we)or 0 end if not((jL+cw)<2^53)then return end local wf=jL+cw local tO=(o<wf)and(wf-o)or 0
local wh=tO%1000 pC=(wh==0)and(tO/1000)or(((tO-wh)/1000)+1) else local wj=0-G local lO if t==0 then lO=0 else
if not((wj*e)<2^53)then return end local hR=wj*e local nv=(hR-(hR%t))/t lO=(nv<e)and(e-nv)or 0 end
if not((H+lO)<2^53)then return end local wm=H+lO local gc=(o<wm)and(wm-o)or 0 local wn=gc%1000
pC=(wn==0)and(gc/1000)or(((gc-wn)/1000)+1) end pD=pC end pE=hP lP=pD else pE=0 lP=0 end if(2^53<=vK)or(2^53<=lP)then
return end local zQ=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',ai,yi,J,ha,vK,pE,lP,A) pF=zQ else if cy then
return end pF={0,ai,yi} end fm=pF end end end else return end end end else local bz=A-(A%D) if not(an<2^53)then return
end if not((an*e)<2^53)then return end local gB=an*e if not((J*e)<2^53)then return end if not(gB<2^53)then return end
if not((J*e)<gB)then local kw=D*2 if not((bz+kw)<2^53)then return end local cs=bz+kw if not((cs*1000)<2^53)then return
end local gE=cs*1000 local iv=(o<gE)and(gE-o)or 0 local eP=iv%1e6 local uU=(eP==0)and(iv/1e6)or(((iv-eP)/1e6)+1)
if 2^53<=uU then return end if cy=='LINE'then local jP=(an<J)and(J-an)or 0 local gd=(0<jP)and jP or 0 local pW local lT
if gd<J then local wC=gd+1 local lR local nx=J-wC if not((bz*1000)<2^53)then return end local bM=bz*1000 if nx<0 then
lR=nil else local ny=nx<an if ny then if not((bM+e)<2^53)then return end local ge=bM+e if not((nx*e)<2^53)then return
end local ez=nx*e local zU=ez%an local wH=(ez-zU)/an local wI=(wH<e)and(e-wH)or 0 if not((ge+wI)<2^53)then return end
local hT=ge+wI local jT=(o<hT)and(hT-o)or 0 local wM=jT%1000 lR=(wM==0)and(jT/1000)or(((jT-wM)/1000)+1) else
if not(bM<2^53)then return end local tZ=(o<bM)and(bM-o)or 0 local dJ=tZ%1000 lR=(dJ==0)and(tZ/1000)or(((tZ-dJ)/1000)+1)
end end local wP=lR or(-1) local pV if wC==J then pV=wP else if not(bM<2^53)then return end if not((bM+e)<2^53)then
return end local nz=bM+e local nA=0%an local wT=(0-nA)/an local nB=(wT<e)and(e-wT)or 0 if not((nz+nB)<2^53)then return
end local nC=nz+nB local jU=(o<nC)and(nC-o)or 0 local wU=jU%1000 pV=(wU==0)and(jU/1000)or(((jU-wU)/1000)+1) end pW=wP
lT=pV else pW=0 lT=0 end if 2^53<=lT then return end
local Ab=c('1 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',uU,J,gd,pW,lT,A,an) if not(cs<2^53)then return end
if not((cs+5000)<2^53)then return end local wW=cs+5000 local ue=c('C:%.0f:%.0f:%.0f:0',D,((bz-(bz%D))/D),an) local pX
if wW==0 then pX='1' else pX=c('%.0f',wW) end local FH=b('SET',N,ue,'PXAT',pX) fm=Ab else if cy then return end
if not(cs<2^53)then return end if not((cs+5000)<2^53)then return end local wY=cs+5000
local Ar=c('C:%.0f:%.0f:%.0f:0',D,((bz-(bz%D))/D),an) local pY if wY==0 then pY='1' else pY=c('%.0f',wY) end
local FI=b('SET',N,Ar,'PXAT',pY) fm={1,0,uU} end else local bq local yu=J-an if not((bz*1000)<2^53)then return end
local aI=bz*1000 if yu<0 then bq=nil else if not(aI<2^53)then return end local iy=(o<aI)and(aI-o)or 0 local eT=iy%1000
bq=(eT==0)and(iy/1000)or(((iy-eT)/1000)+1) end local en if bq then if 2^53<=bq then return end local ct=bq%1000
local kA=(bq<0)and(-1)or((ct==0)and(bq/1000)or(((bq-ct)/1000)+1)) en=kA else en=-1 end local kB=(en==0)and 1 or en
local eh if cy=='LINE'then local qe if not(aI<2^53)then return end if yu<0 then qe=nil else local jV=(o<aI)and(aI-o)or 0
local nF=jV%1000 qe=(nF==0)and(jV/1000)or(((jV-nF)/1000)+1) end local xb=qe or(-1) if 2^53<=xb then return end
eh=c('0 0 %.0f %.0f %.0f %.0f 0 0 0 %.0f 0 0',kB,J,J,xb,A) else if cy then return end eh={0,0,kB} end fm=eh end end else
return end else return end return fm end, TOKEN=function(P,h)
local l,ac,c,b=string.find,string.match,string.format,redis.call local jh local bl=h[2] local as=h[3] local dK=h[4]
if not as then return end local cj=h[5] local bY local M local ae if(dK=='LINE')and(not cj)then bY=5 M=1 ae='LINE' else
local T local u local Y if dK then if cj then
if not(((((h[6]=='LINE')and(not h[7]))and((#cj)<16))and(dK=='COST'))and l(cj,'^[1-9]%d*$'))then return end T=7 u=cj+0
Y='LINE' else if(((h[6]=='LINE')and(not h[7]))and(dK=='COST'))and l('','^[1-9]%d*$')then return end return end else T=4
u=1 Y=nil end bY=T M=u ae=Y end if not(((#as)<16)and l(as,'^[1-9]%d*$'))then return end local a=as+0
local jX,g=ac(bl,'^([1-9]%d*)(%l*)$') if jX then if(#bl)<16 then
local B=(g=='')and 1000 or((g=='ms')and 1 or((g=='s')and 1000 or((g=='m')and 60000 or((g=='h')and 3.6e6 or((g=='d')and 8.64e7 or nil)))))
local aj=B and(jX*B)or B if(not aj)or((aj<1)or(1e15<aj))then return end if not(aj<9e12)then return end local d=aj*1000
if not((a*d)<2^53)then return end local Q=a*d local K=h[bY] if K then return end local jZ=b('TIME')
local A=(jZ[1]*1e6)+jZ[2] local aQ=(A-(A%1000))/1000 local x=P[1] if not x then return end
if l(x,':reserved',1,true)then return end if not((#P)==1)then return end local r=b('GET',x) if r then
local bu,U,eB,ah,s=ac(r,'^T:(%d+):(%d+):(%d+):(%d+)(.*)$') if not bu then return else if l(r,':0%d')then return else
local y=((#ah)<17)and(ah+0) if not((#bu)<16)then return end if not((#U)<16)then return end if not((#eB)<16)then return
end if y then if not(y<9e15)then return end local aX=bu+0 local G=U+0 local L=eB+0 if not((1<=L)and(L<=1e15))then return
else if not(s=='')then return end if(L*1000)<=G then return end if(not(L==aj))and(not(G==0))then return end
if not((aX*d)<2^53)then return end local ap=aX*d if not((ap+G)<2^53)then return end local aS=ap+G
local ad=(Q<aS)and Q or aS local aY=(y<A)and(A-y)or 0 if not((aY*a)<2^53)then return end local aH=aY*a
local n=(aH<ad)and(ad-aH)or 0 if not((M*d)<2^53)then return end local bN=M*d if not((n+bN)<2^53)then return end
local dN=n+bN local R=n%d local bx=(n-R)/d local ai if R==0 then ai=bx else if not((bx+1)<2^53)then return end ai=bx+1
end if 2^53<=ai then return end if not(Q<dN)then if not((bx+M)<2^53)then return end local aq=bx+M local db=dN%a
local dO=(db==0)and(dN/a)or(((dN-db)/a)+1) local dc=dO%1e6 local V=(dc==0)and(dO/1e6)or(((dO-dc)/1e6)+1) if 2^53<=V then
return end local rM if ae=='LINE'then if not((aq*d)<2^53)then return end local df=aq*d if not((df+R)<2^53)then return
end local kp=df+R local yf=(Q<kp)and Q or kp local dh=(0<yf)and yf or 0 local gw=dh%d
local yh=(gw==0)and(dh/d)or(((dh-gw)/d)+1) local cn=(yh<a)and(a-yh)or 0 local rI local my if cn<a then local gz=cn+1
local cc local bn=a-gz if bn<0 then cc=nil else if not((bn*d)<2^53)then return end local yj=bn*d
local di=(yj<dh)and(dh-yj)or 0 local im=di%a local io=(im==0)and(di/a)or(((di-im)/a)+1) local co=io%1000
cc=(co==0)and(io/1000)or(((io-co)/1000)+1) end local og=cc or(-1) local fC if gz==a then fC=og else
local cp=(0<dh)and dh or 0 local oi=cp%a local gC=(oi==0)and(cp/a)or(((cp-oi)/a)+1) local bo=gC%1000
fC=(bo==0)and(gC/1000)or(((gC-bo)/1000)+1) end rI=og my=fC else rI=0 my=0 end if 2^53<=my then return end
local it=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',ai,V,a,cn,rI,my,aQ,M) rM=it else if ae then return end
rM={1,ai,V} end local hC if not redis.REDIS_VERSION_NUM then return end local eP=b('PEXPIRETIME',x)
local dj=(0<=eP)and eP or nil if dj then if 2^53<=dj then return end if not((aq*d)<2^53)then return end local yt=aq*d
if not((yt+R)<2^53)then return end local eQ=yt+R local uW=(Q<eQ)and Q or eQ local eR=uW%a
local yx=(eR==0)and(uW/a)or(((uW-eR)/a)+1) if not((A+yx)<2^53)then return end local eS=A+yx local aU=eS%1000
local gG=(aU==0)and(eS/1000)or(((eS-aU)/1000)+1) if not((gG+5000)<2^53)then return end local kA=gG+5000 if dj<gG then
hC=kA else local si if not(kA<dj)then si=true else if not(ap<2^53)then return end if not(aS<2^53)then return end
local ot=ad%a local dk=(ot==0)and(ad/a)or(((ad-ot)/a)+1) if not((y+dk)<2^53)then return end local iB=y+dk
local dm=iB%1000 local ou=(dm==0)and(iB/1000)or(((iB-dm)/1000)+1) if not((ou+5000)<2^53)then return end si=(ou+5000)<dj
end if si then hC=nil else hC=kA end end else if not((aq*d)<2^53)then return end local aL=aq*d if not((aL+R)<2^53)then
return end local eX=aL+R local iD=(Q<eX)and Q or eX local kG=iD%a local eY=(kG==0)and(iD/a)or(((iD-kG)/a)+1)
if not((A+eY)<2^53)then return end local iF=A+eY local yN=iF%1000
if not((((yN==0)and(iF/1000)or(((iF-yN)/1000)+1))+5000)<2^53)then return end return end if hC then local cL
if hC==0 then cL='1' else local EP=c('%.0f',hC) cL=EP end
local FX=b('SET',x,c('T:%.0f:%.0f:%.0f:%.0f',aq,R,aj,A),'PXAT',cL) else
local gN=b('SET',x,c('T:%.0f:%.0f:%.0f:%.0f',aq,R,aj,A),'KEEPTTL') end jh=rM else if A<y then return end
local eH=(R==0)and(n/d)or(bx+1) local gr=(eH<a)and(a-eH)or 0 local aC local ay=a-M if ay<0 then aC=nil else
if not((ay*d)<2^53)then return end local dd=ay*d local cm=(dd<n)and(n-dd)or 0 local by=cm%a
local bP=(by==0)and(cm/a)or(((cm-by)/a)+1) local bm=bP%1000 aC=(bm==0)and(bP/1000)or(((bP-bm)/1000)+1) end local du
if aC then if 2^53<=aC then return end local kj=aC%1000
local kk=(aC<0)and(-1)or((kj==0)and(aC/1000)or(((aC-kj)/1000)+1)) du=kk else du=-1 end local dR=(du==0)and 1 or du
local sX if ae=='LINE'then if not(ap<2^53)then return end if not(aS<2^53)then return end if not(aH<2^53)then return end
local sM if ay<0 then sM=nil else if not((ay*d)<2^53)then return end local oI=ay*d local vk=(oI<n)and(n-oI)or 0
local yY=vk%a local kP=(yY==0)and(vk/a)or(((vk-yY)/a)+1) local yZ=kP%1000 sM=(yZ==0)and(kP/1000)or(((kP-yZ)/1000)+1) end
local kR=sM or(-1) local bh local mU if gr<a then local za=gr+1 local sP local iL=a-za if iL<0 then sP=nil else
if not((iL*d)<2^53)then return end local iN=iL*d local dY=(iN<n)and(n-iN)or 0 local gQ=dY%a
local fd=(gQ==0)and(dY/a)or(((dY-gQ)/a)+1) local gS=fd%1000 sP=(gS==0)and(fd/1000)or(((fd-gS)/1000)+1) end
local kV=sP or(-1) local sU if za==a then sU=kV else local gT=(0<n)and n or 0 local gU=gT%a
local dZ=(gU==0)and(gT/a)or(((gT-gU)/a)+1) local oO=dZ%1000 sU=(oO==0)and(dZ/1000)or(((dZ-oO)/1000)+1) end bh=kV mU=sU
else bh=0 mU=0 end if(2^53<=kR)or(2^53<=mU)then return end
local ff=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',ai,dR,a,gr,kR,bh,mU,aQ) sX=ff else if ae then return end
sX={0,ai,dR} end local na if not redis.REDIS_VERSION_NUM then return end local ld=b('PEXPIRETIME',x)
local dp=(0<=ld)and ld or nil if dp then if 2^53<=dp then return end if not(ap<2^53)then return end if not(aS<2^53)then
return end local iS=ad%a local zk=(iS==0)and(ad/a)or(((ad-iS)/a)+1) if not((y+zk)<2^53)then return end local vr=y+zk
local lh=vr%1000 local vs=(lh==0)and(vr/1000)or(((vr-lh)/1000)+1) local fT if dp<vs then if not((vs+5000)<2^53)then
return end fT=vs+5000 else fT=nil end na=fT else if not(ap<2^53)then return end if not(aS<2^53)then return end
local lk=ad%a if not((y+((lk==0)and(ad/a)or(((ad-lk)/a)+1)))<2^53)then return end na=nil end if na then
local oW=c('%.0f',na) local Fp=b('PEXPIREAT',x,oW) end jh=sX end end else return end end end else if not((M*d)<2^53)then
return end local lm=M*d if not(lm<2^53)then return end local bT=0%d local ec=(0-bT)/d local fW if bT==0 then fW=ec else
if not((ec+1)<2^53)then return end fW=ec+1 end if 2^53<=fW then return end if not(Q<lm)then if not((ec+M)<2^53)then
return end local bU=ec+M local bV=lm%a local vA=(bV==0)and(lm/a)or(((lm-bV)/a)+1) local gZ=vA%1e6
local lo=(gZ==0)and(vA/1e6)or(((vA-gZ)/1e6)+1) if 2^53<=lo then return end local pt if ae=='LINE'then
if not((bU*d)<2^53)then return end local ew=bU*d if not((ew+bT)<2^53)then return end local ni=ew+bT
local vI=(Q<ni)and Q or ni local dF=(0<vI)and vI or 0 local vL=dF%d local vM=(vL==0)and(dF/d)or(((dF-vL)/d)+1)
local jD=(vM<a)and(a-vM)or 0 local pr local ds if jD<a then local nm=jD+1 local po local ex=a-nm if ex<0 then po=nil
else if not((ex*d)<2^53)then return end local jF=ex*d local bi=(jF<dF)and(dF-jF)or 0 local vO=bi%a
local hN=(vO==0)and(bi/a)or(((bi-vO)/a)+1) local dH=hN%1000 po=(dH==0)and(hN/1000)or(((hN-dH)/1000)+1) end
local vQ=po or(-1) local pq if nm==a then pq=vQ else local jH=(0<dF)and dF or 0 local vW=jH%a
local bj=(vW==0)and(jH/a)or(((jH-vW)/a)+1) local bs=bj%1000 pq=(bs==0)and(bj/1000)or(((bj-bs)/1000)+1) end pr=vQ ds=pq
else pr=0 ds=0 end if 2^53<=ds then return end
local ga=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',fW,lo,a,jD,pr,ds,aQ,M) pt=ga else if ae then return end
pt={1,fW,lo} end if not((bU*d)<2^53)then return end local wc=bU*d if not((wc+bT)<2^53)then return end local wd=wc+bT
local dI=(Q<wd)and Q or wd local jN=dI%a local wg=(jN==0)and(dI/a)or(((dI-jN)/a)+1) if not((A+wg)<2^53)then return end
local tP=A+wg local nr=tP%1000 local ns=(nr==0)and(tP/1000)or(((tP-nr)/1000)+1) if not((ns+5000)<2^53)then return end
local nu=ns+5000 local pB if nu==0 then pB='1' else pB=c('%.0f',nu) end
local gc=b('SET',x,c('T:%.0f:%.0f:%.0f:%.0f',bU,bT,aj,A),'PXAT',pB) jh=pt else local oY=(bT==0)and(0/d)or(ec+1)
local iW=(oY<a)and(a-oY)or 0 local br local dr=a-M if dr<0 then br=nil else if not((dr*d)<2^53)then return end
local ed=dr*d local vD=(ed<0)and(0-ed)or 0 local fh=vD%a local lt=(fh==0)and(vD/a)or(((vD-fh)/a)+1) local pa=lt%1000
br=(pa==0)and(lt/1000)or(((lt-pa)/1000)+1) end local ne if br then if 2^53<=br then return end local iX=br%1000
local FE=(br<0)and(-1)or((iX==0)and(br/1000)or(((br-iX)/1000)+1)) ne=FE else ne=-1 end local zD=(ne==0)and 1 or ne
local pR if ae=='LINE'then local pL if dr<0 then pL=nil else if not((dr*d)<2^53)then return end local tT=dr*d
local tU=(tT<0)and(0-tT)or 0 local wv=tU%a local jO=(wv==0)and(tU/a)or(((tU-wv)/a)+1) local ww=jO%1000
pL=(ww==0)and(jO/1000)or(((jO-ww)/1000)+1) end local wx=pL or(-1) local pP local lQ if iW<a then local wy=iW+1 local pM
local tV=a-wy if tV<0 then pM=nil else if not((tV*d)<2^53)then return end local jP=tV*d local gd=(jP<0)and(0-jP)or 0
local wB=gd%a local tW=(wB==0)and(gd/a)or(((gd-wB)/a)+1) local wD=tW%1000 pM=(wD==0)and(tW/1000)or(((tW-wD)/1000)+1) end
local jQ=pM or(-1) local pO if wy==a then pO=jQ else local gf=0%a local jR=(gf==0)and(0/a)or(((0-gf)/a)+1)
local jS=jR%1000 pO=(jS==0)and(jR/1000)or(((jR-jS)/1000)+1) end pP=jQ lQ=pO else pP=0 lQ=0 end
if(2^53<=wx)or(2^53<=lQ)then return end
local jT=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',fW,zD,a,iW,wx,pP,lQ,aQ) pR=jT else if ae then return end
pR={0,fW,zD} end jh=pR end end else return end else return end return jh end, LEAKY=function(P,h)
local l,ac,c,b=string.find,string.match,string.format,redis.call local ji local bl=h[2] local as=h[3] local dK=h[4]
if not as then return end local cj=h[5] local bY local M local ae if(dK=='LINE')and(not cj)then bY=5 M=1 ae='LINE' else
local T local u local Y if dK then if cj then
if not(((((h[6]=='LINE')and(not h[7]))and((#cj)<16))and(dK=='COST'))and l(cj,'^[1-9]%d*$'))then return end T=7 u=cj+0
Y='LINE' else if(((h[6]=='LINE')and(not h[7]))and(dK=='COST'))and l('','^[1-9]%d*$')then return end return end else T=4
u=1 Y=nil end bY=T M=u ae=Y end if not(((#as)<16)and l(as,'^[1-9]%d*$'))then return end local a=as+0
local jX,g=ac(bl,'^([1-9]%d*)(%l*)$') if jX then if(#bl)<16 then
local B=(g=='')and 1000 or((g=='ms')and 1 or((g=='s')and 1000 or((g=='m')and 60000 or((g=='h')and 3.6e6 or((g=='d')and 8.64e7 or nil)))))
local aj=B and(jX*B)or B if(not aj)or((aj<1)or(1e15<aj))then return end if not(aj<9e12)then return end local d=aj*1000
if not((a*d)<2^53)then return end local Q=a*d local K=h[bY] if K then return end local jZ=b('TIME')
local A=(jZ[1]*1e6)+jZ[2] local aQ=(A-(A%1000))/1000 local x=P[1] if not x then return end
if l(x,':reserved',1,true)then return end if not((#P)==1)then return end local r=b('GET',x) if r then
local bu,U,eB,ah,s=ac(r,'^L:(%d+):(%d+):(%d+):(%d+)(.*)$') if not bu then return else if l(r,':0%d')then return else
local y=((#ah)<17)and(ah+0) if not((#bu)<16)then return end if not((#U)<16)then return end if not((#eB)<16)then return
end if y then if not(y<9e15)then return end local aX=bu+0 local G=U+0 local L=eB+0 if not((1<=L)and(L<=1e15))then return
else if not(s=='')then return end if(L*1000)<=G then return end if(not(L==aj))and(not(G==0))then return end
if not((aX*d)<2^53)then return end local ap=aX*d if not((ap+G)<2^53)then return end local aS=ap+G
local ad=(Q<aS)and Q or aS local aY=(y<A)and(A-y)or 0 if not((aY*a)<2^53)then return end local aH=aY*a
local n=(aH<ad)and(ad-aH)or 0 if not((M*d)<2^53)then return end local bN=M*d if not((n+bN)<2^53)then return end
local dN=n+bN local R=n%d local bx=(n-R)/d local ai if R==0 then ai=bx else if not((bx+1)<2^53)then return end ai=bx+1
end if 2^53<=ai then return end if not(Q<dN)then if not((bx+M)<2^53)then return end local aq=bx+M local db=dN%a
local dO=(db==0)and(dN/a)or(((dN-db)/a)+1) local dc=dO%1e6 local V=(dc==0)and(dO/1e6)or(((dO-dc)/1e6)+1) if 2^53<=V then
return end local ig=n%a local E=(ig==0)and(n/a)or(((n-ig)/a)+1) local rQ if ae=='LINE'then local fD
if not((aq*d)<2^53)then return end local dS=aq*d if not((dS+R)<2^53)then return end local eM=dS+R
local gv=(Q<eM)and Q or eM local cn=(0<gv)and gv or 0 local dT=cn%d local od=(dT==0)and(cn/d)or(((cn-dT)/d)+1)
local bQ=(od<a)and(a-od)or 0 local rL local mz if bQ<a then local ks=bQ+1 local rD local im=a-ks if im<0 then rD=nil
else if not((im*d)<2^53)then return end local aZ=im*d local co=(aZ<cn)and(cn-aZ)or 0 local eN=co%a
local kt=(eN==0)and(co/a)or(((co-eN)/a)+1) local bA=kt%1000 rD=(bA==0)and(kt/1000)or(((kt-bA)/1000)+1) end
local eO=rD or(-1) local rK if ks==a then rK=eO else local bo=(0<cn)and cn or 0 local cr=bo%a
local ir=(cr==0)and(bo/a)or(((bo-cr)/a)+1) local is=ir%1000 rK=(is==0)and(ir/1000)or(((ir-is)/1000)+1) end rL=eO mz=rK
else rL=0 mz=0 end if 2^53<=mz then return end if not(E==0)then local kw=E%1000
local cs=(kw==0)and(E/1000)or(((E-kw)/1000)+1) if 2^53<=cs then return end fD=cs else fD=0 end
local EE=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f %.0f %.0f 0 %.0f',ai,V,a,bQ,rL,mz,fD,aQ,M) rQ=EE else if ae then return
end rQ={1,ai,V} end local bI if not redis.REDIS_VERSION_NUM then return end local eQ=b('PEXPIRETIME',x)
local aI=(0<=eQ)and eQ or nil if aI then if 2^53<=aI then return end if not((aq*d)<2^53)then return end local iy=aq*d
if not((iy+R)<2^53)then return end local eS=iy+R local eU=(Q<eS)and Q or eS local op=eU%a
local oq=(op==0)and(eU/a)or(((eU-op)/a)+1) if not((A+oq)<2^53)then return end local gH=A+oq local iA=gH%1000
local gI=(iA==0)and(gH/1000)or(((gH-iA)/1000)+1) if not((gI+5000)<2^53)then return end local uY=gI+5000 if aI<gI then
bI=uY else local sm if not(uY<aI)then sm=true else if not(ap<2^53)then return end if not(aS<2^53)then return end
local aJ=ad%a local aK=(aJ==0)and(ad/a)or(((ad-aJ)/a)+1) if not((y+aK)<2^53)then return end local gK=y+aK
local yK=gK%1000 local ow=(yK==0)and(gK/1000)or(((gK-yK)/1000)+1) if not((ow+5000)<2^53)then return end sm=(ow+5000)<aI
end if sm then bI=nil else bI=uY end end else if not((aq*d)<2^53)then return end local kH=aq*d if not((kH+R)<2^53)then
return end local iF=kH+R local ba=(Q<iF)and Q or iF local yO=ba%a local kK=(yO==0)and(ba/a)or(((ba-yO)/a)+1)
if not((A+kK)<2^53)then return end local fa=A+kK local vd=fa%1000
if not((((vd==0)and(fa/1000)or(((fa-vd)/1000)+1))+5000)<2^53)then return end return end if bI then local eq
if bI==0 then eq='1' else local bb=c('%.0f',bI) eq=bb end
local FY=b('SET',x,c('L:%.0f:%.0f:%.0f:%.0f',aq,R,aj,A),'PXAT',eq) else
local bB=b('SET',x,c('L:%.0f:%.0f:%.0f:%.0f',aq,R,aj,A),'KEEPTTL') end ji=rQ else if A<y then return end
local eH=(R==0)and(n/d)or(bx+1) local gr=(eH<a)and(a-eH)or 0 local aC local ay=a-M if ay<0 then aC=nil else
if not((ay*d)<2^53)then return end local dd=ay*d local cm=(dd<n)and(n-dd)or 0 local by=cm%a
local bP=(by==0)and(cm/a)or(((cm-by)/a)+1) local bm=bP%1000 aC=(bm==0)and(bP/1000)or(((bP-bm)/1000)+1) end local du
if aC then if 2^53<=aC then return end local kj=aC%1000
local kk=(aC<0)and(-1)or((kj==0)and(aC/1000)or(((aC-kj)/1000)+1)) du=kk else du=-1 end local dR=(du==0)and 1 or du
local td if ae=='LINE'then if not(ap<2^53)then return end if not(aS<2^53)then return end if not(aH<2^53)then return end
local fL if ay<0 then fL=nil else if not((ay*d)<2^53)then return end local iJ=ay*d local iK=(iJ<n)and(n-iJ)or 0
local iM=iK%a local iN=(iM==0)and(iK/a)or(((iK-iM)/a)+1) local zb=iN%1000 fL=(zb==0)and(iN/1000)or(((iN-zb)/1000)+1) end
local fd=fL or(-1) local sZ local cg if gr<a then local gR=gr+1 local sT local kU=a-gR if kU<0 then sT=nil else
if not((kU*d)<2^53)then return end local zd=kU*d local iO=(zd<n)and(n-zd)or 0 local oN=iO%a
local gT=(oN==0)and(iO/a)or(((iO-oN)/a)+1) local dZ=gT%1000 sT=(dZ==0)and(gT/1000)or(((gT-dZ)/1000)+1) end
local gV=sT or(-1) local ev if gR==a then ev=gV else local la=(0<n)and n or 0 local ff=la%a
local ea=(ff==0)and(la/a)or(((la-ff)/a)+1) local lc=ea%1000 ev=(lc==0)and(ea/1000)or(((ea-lc)/1000)+1) end sZ=gV cg=ev
else sZ=0 cg=0 end if(2^53<=fd)or(2^53<=cg)then return end
local Ff=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',ai,dR,a,gr,fd,sZ,cg,aQ) td=Ff else if ae then return end
td={0,ai,dR} end local nb if not redis.REDIS_VERSION_NUM then return end local iR=b('PEXPIRETIME',x)
local lg=(0<=iR)and iR or nil if lg then if 2^53<=lg then return end if not(ap<2^53)then return end if not(aS<2^53)then
return end local eb=ad%a local zm=(eb==0)and(ad/a)or(((ad-eb)/a)+1) if not((y+zm)<2^53)then return end local vv=y+zm
local oV=vv%1000 local gX=(oV==0)and(vv/1000)or(((vv-oV)/1000)+1) local tn if lg<gX then if not((gX+5000)<2^53)then
return end tn=gX+5000 else tn=nil end nb=tn else if not(ap<2^53)then return end if not(aS<2^53)then return end
local oW=ad%a if not((y+((oW==0)and(ad/a)or(((ad-oW)/a)+1)))<2^53)then return end nb=nil end if nb then
local Fw=c('%.0f',nb) local vy=b('PEXPIREAT',x,Fw) end ji=td end end else return end end end else if not((M*d)<2^53)then
return end local ln=M*d if not(ln<2^53)then return end local bc=0%d local bV=(0-bc)/d local fX if bc==0 then fX=bV else
if not((bV+1)<2^53)then return end fX=bV+1 end if 2^53<=fX then return end if not(Q<ln)then if not((bV+M)<2^53)then
return end local lp=bV+M local iW=ln%a local ha=(iW==0)and(ln/a)or(((ln-iW)/a)+1) local lr=ha%1e6
local dr=(lr==0)and(ha/1e6)or(((ha-lr)/1e6)+1) if 2^53<=dr then return end local nh=0%a
local hM=(nh==0)and(0/a)or(((0-nh)/a)+1) local pz if ae=='LINE'then local px if not((lp*d)<2^53)then return end
local cQ=lp*d if not((cQ+bc)<2^53)then return end local tJ=cQ+bc local dG=(Q<tJ)and Q or tJ local bi=(0<dG)and dG or 0
local vP=bi%d local jG=(vP==0)and(bi/d)or(((bi-vP)/d)+1) local dH=(jG<a)and(a-jG)or 0 local cv local lK if dH<a then
local vT=dH+1 local ps local tK=a-vT if tK<0 then ps=nil else if not((tK*d)<2^53)then return end local vV=tK*d
local bj=(vV<bi)and(bi-vV)or 0 local vX=bj%a local bs=(vX==0)and(bj/a)or(((bj-vX)/a)+1) local jJ=bs%1000
ps=(jJ==0)and(bs/1000)or(((bs-jJ)/1000)+1) end local vY=ps or(-1) local pu if vT==a then pu=vY else
local hP=(0<bi)and bi or 0 local wa=hP%a local tL=(wa==0)and(hP/a)or(((hP-wa)/a)+1) local gb=tL%1000
pu=(gb==0)and(tL/1000)or(((tL-gb)/1000)+1) end cv=vY lK=pu else cv=0 lK=0 end if 2^53<=lK then return end
if not(hM==0)then local wb=hM%1000 local jM=(wb==0)and(hM/1000)or(((hM-wb)/1000)+1) if 2^53<=jM then return end px=jM
else px=0 end local zL=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f %.0f %.0f 0 %.0f',fX,dr,a,dH,cv,lK,px,aQ,M) pz=zL else
if ae then return end pz={1,fX,dr} end if not((lp*d)<2^53)then return end local wk=lp*d if not((wk+bc)<2^53)then return
end local wl=wk+bc local hS=(Q<wl)and Q or wl local wp=hS%a local wq=(wp==0)and(hS/a)or(((hS-wp)/a)+1)
if not((A+wq)<2^53)then return end local tS=A+wq local wr=tS%1000 local ws=(wr==0)and(tS/1000)or(((tS-wr)/1000)+1)
if not((ws+5000)<2^53)then return end local wt=ws+5000 local pK if wt==0 then pK='1' else pK=c('%.0f',wt) end
local tT=b('SET',x,c('L:%.0f:%.0f:%.0f:%.0f',lp,bc,aj,A),'PXAT',pK) ji=pz else local ls=(bc==0)and(0/d)or(bV+1)
local fh=(ls<a)and(a-ls)or 0 local ee local fi=a-M if fi<0 then ee=nil else if not((fi*d)<2^53)then return end
local lu=fi*d local iX=(lu<0)and(0-lu)or 0 local lv=iX%a local vE=(lv==0)and(iX/a)or(((iX-lv)/a)+1) local vG=vE%1000
ee=(vG==0)and(vE/1000)or(((vE-vG)/1000)+1) end local cu if ee then if 2^53<=ee then return end local jB=ee%1000
local zF=(ee<0)and(-1)or((jB==0)and(ee/1000)or(((ee-jB)/1000)+1)) cu=zF else cu=-1 end local cP=(cu==0)and 1 or cu
local pU if ae=='LINE'then local pN if fi<0 then pN=nil else if not((fi*d)<2^53)then return end local nw=fi*d
local tX=(nw<0)and(0-nw)or 0 local jQ=tX%a local bM=(jQ==0)and(tX/a)or(((tX-jQ)/a)+1) local ny=bM%1000
pN=(ny==0)and(bM/1000)or(((bM-ny)/1000)+1) end local ge=pN or(-1) local eg local lS if fh<a then local gf=fh+1 local pS
local ez=a-gf if ez<0 then pS=nil else if not((ez*d)<2^53)then return end local jS=ez*d local tY=(jS<0)and(0-jS)or 0
local wK=tY%a local hT=(wK==0)and(tY/a)or(((tY-wK)/a)+1) local wL=hT%1000 pS=(wL==0)and(hT/1000)or(((hT-wL)/1000)+1) end
local wN=pS or(-1) local pT if gf==a then pT=wN else local wO=0%a local dJ=(wO==0)and(0/a)or(((0-wO)/a)+1)
local wQ=dJ%1000 pT=(wQ==0)and(dJ/1000)or(((dJ-wQ)/1000)+1) end eg=wN lS=pT else eg=0 lS=0 end
if(2^53<=ge)or(2^53<=lS)then return end
local nz=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',fX,cP,a,fh,ge,eg,lS,aQ) pU=nz else if ae then return end
pU={0,fX,cP} end ji=pU end end else return end else return end return ji end, GCRA=function(P,h)
local l,ac,c,b=string.find,string.match,string.format,redis.call local cu local cR=h[2] local bk=h[3] local aO=h[4]
if not bk then return end local aP=h[5] local T local u local Y if(aO=='LINE')and(not aP)then T=5 u=1 Y='LINE' else
local S local am local bX if aO then if aP then
if not(((((h[6]=='LINE')and(not h[7]))and((#aP)<16))and(aO=='COST'))and l(aP,'^[1-9]%d*$'))then return end S=7 am=aP+0
bX='LINE' else if(((h[6]=='LINE')and(not h[7]))and(aO=='COST'))and l('','^[1-9]%d*$')then return end return end else S=4
am=1 bX=nil end T=S u=am Y=bX end if not(((#bk)<16)and l(bk,'^[1-9]%d*$'))then return end local i=bk+0
local at,aF=ac(cR,'^([1-9]%d*)(%l*)$') if at then if(#cR)<16 then
local J=(aF=='')and 1000 or((aF=='ms')and 1 or((aF=='s')and 1000 or((aF=='m')and 60000 or((aF=='h')and 3.6e6 or((aF=='d')and 8.64e7 or nil)))))
local B=J and(at*J)or J if(not B)or((B<1)or(1e15<B))then return end if not(B<9e12)then return end local xC=B*1000
if not((xC*1000)<2^53)then return end local C=xC*1000 if C<i then return end local K=C%i
local j=(K==0)and(C/i)or(((C-K)/i)+1) if not((i*j)<2^53)then return end local m=i*j local bt=h[T] if bt then return end
local aR=b('TIME') local ag=(aR[1]*1e6)+aR[2] local r=(ag-(ag%1000))/1000 local U=P[1] if not U then return end
if l(U,':reserved',1,true)then return end if not((#P)==1)then return end local s=b('GET',U) if s then
local eC,aa=ac(s,'^([1-9]%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(%d%d%d)$') if(not eC)or(56<eC:byte())then return end
local y=eC+0 local aX=aa+0 local cA local mc local xQ=y<ag if not xQ then local xR=(ag<y)and(y-ag)or 0
if not((xR*1000)<2^53)then return end local gk=xR*1000 if not((gk+aX)<2^53)then return end local H=gk+aX if m<H then
cA=m mc=true else cA=H mc=false end else cA=0 mc=false end if not((u*j)<2^53)then return end local cV=u*j
if not((cA+cV)<2^53)then return end local ap=cA+cV local fu if not(j==0)then fu=not(m<ap) else fu=false end local fw
if j==0 then fw=0 else local aY=cA%j local Ej=(aY==0)and(cA/j)or(((cA-aY)/j)+1) fw=Ej end if 2^53<=fw then return end
if fu then local ax=ap%1000 local bN=(ap-ax)/1000 if not((ag+bN)<2^53)then return end local aT=ag+bN local gn=ap%1e9
local kf=(gn==0)and(ap/1e9)or(((ap-gn)/1e9)+1) if 2^53<=kf then return end local rA if Y=='LINE'then local cC
if not(aT<ag)then local bm=(ag<aT)and(aT-ag)or 0 if not((bm*1000)<2^53)then return end local xZ=bm*1000
if not((xZ+ax)<2^53)then return end local ya=xZ+ax if m<ya then cC=m else cC=ya end else cC=0 end local cD if j==0 then
cD=0 else local km=cC%j local gs=(km==0)and(cC/j)or(((cC-km)/j)+1) cD=(gs<i)and(i-gs)or 0 end local rv local bF
if cD<i then local df=cD+1 local bE if(j==0)or(i<df)then bE=nil else if not((df*j)<2^53)then return end local yd=df*j
local kq=(yd<m)and(m-yd)or 0 local dS=(kq<cC)and(cC-kq)or 0 local au=dS%1e6 bE=(au==0)and(dS/1e6)or(((dS-au)/1e6)+1) end
local gu=bE or(-1) local ru if df==i then ru=gu else local rt if j==0 then rt=nil else if not(m<2^53)then return end
local uR=(0<cC)and cC or 0 local gy=uR%1e6 rt=(gy==0)and(uR/1e6)or(((uR-gy)/1e6)+1) end ru=rt or(-1) end rv=gu bF=ru
else rv=0 bF=0 end if 2^53<=bF then return end
local di=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',fw,kf,i,cD,rv,bF,r,u) rA=di else if Y then return end
rA={1,fw,kf} end local bG if not redis.REDIS_VERSION_NUM then return end local ip=b('PEXPIRETIME',U)
local bA=(0<=ip)and ip or nil if bA then if 2^53<=bA then return end local dx if ax==0 then dx=aT else
if not((aT+1)<2^53)then return end dx=aT+1 end local kv=dx%1000 local bo=(kv==0)and(dx/1000)or(((dx-kv)/1000)+1)
if not((bo+5000)<2^53)then return end local cr=bo+5000 if bA<bo then bG=cr else if not(cr<bA)then bG=nil else bG=cr end
end else local af if ax==0 then af=aT else if not((aT+1)<2^53)then return end af=aT+1 end local iu=af%1000
local gE=(iu==0)and(af/1000)or(((af-iu)/1000)+1) if not((gE+5000)<2^53)then return end return end if bG then
if aT<1e6 then return end local fF if bG==0 then fF='1' else local dU=c('%.0f',bG) fF=dU end
local oo=b('SET',U,c('%.0f%03d',aT,ax),'PXAT',fF) else if aT<1e6 then return end
local FV=b('SET',U,c('%.0f%03d',aT,ax),'KEEPTTL') end cu=rA else if mc and(not(j==0))then return end local bD
if(j==0)or(i<u)then bD=nil else if not(cV<2^53)then return end local dP=(cV<m)and(m-cV)or 0
local V=(dP<cA)and(cA-dP)or 0 local gq=V%1e6 bD=(gq==0)and(V/1e6)or(((V-gq)/1e6)+1) end local ej if bD then
if 2^53<=bD then return end local ki=bD%1000 local bO=(bD<0)and(-1)or((ki==0)and(bD/1000)or(((bD-ki)/1000)+1)) ej=bO
else ej=-1 end local ic=(ej==0)and 1 or ej local fI if Y=='LINE'then local bH if not xQ then
local kz=(ag<y)and(y-ag)or 0 if not((kz*1000)<2^53)then return end local eT=kz*1000 if not((eT+aX)<2^53)then return end
local aU=eT+aX if m<aU then bH=m else bH=aU end else bH=0 end local dA if j==0 then dA=0 else local gH=bH%j
local yz=(gH==0)and(bH/j)or(((bH-gH)/j)+1) dA=(yz<i)and(i-yz)or 0 end local sf if(j==0)or(i<u)then sf=nil else
if not(cV<2^53)then return end local kE=(cV<m)and(m-cV)or 0 local dk=(kE<bH)and(bH-kE)or 0 local iB=dk%1e6
sf=(iB==0)and(dk/1e6)or(((dk-iB)/1e6)+1) end local dl=sf or(-1) local aV local bg if dA<i then local bR=dA+1 local fH
if(j==0)or(i<bR)then fH=nil else if not((bR*j)<2^53)then return end local yJ=bR*j local aK=(yJ<m)and(m-yJ)or 0
local eV=(aK<bH)and(bH-aK)or 0 local eW=eV%1e6 fH=(eW==0)and(eV/1e6)or(((eV-eW)/1e6)+1) end local aL=fH or(-1) local ep
if bR==i then ep=aL else local sp if j==0 then sp=nil else if not(m<2^53)then return end local dW=(0<bH)and bH or 0
local bS=dW%1e6 sp=(bS==0)and(dW/1e6)or(((dW-bS)/1e6)+1) end ep=sp or(-1) end aV=aL bg=ep else aV=0 bg=0 end
if(2^53<=dl)or(2^53<=bg)then return end
local ba=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',fw,ic,i,dA,dl,aV,bg,r) fI=ba else if Y then return end
fI={0,fw,ic} end cu=fI end else if not((u*j)<2^53)then return end local bb=u*j if not(bb<2^53)then return end local aW
if not(j==0)then aW=not(m<bb) else aW=false end local cf if j==0 then cf=0 else local gO=0%j
cf=(gO==0)and(0/j)or(((0-gO)/j)+1) end if 2^53<=cf then return end if aW then local fb=bb%1000 local oD=(bb-fb)/1000
if not((ag+oD)<2^53)then return end local fc=ag+oD local oE=bb%1e9 local kO=(oE==0)and(bb/1e9)or(((bb-oE)/1e9)+1)
if 2^53<=kO then return end local tl if Y=='LINE'then local bh if not(fc<ag)then local zf=(ag<fc)and(fc-ag)or 0
if not((zf*1000)<2^53)then return end local kW=zf*1000 if not((kW+fb)<2^53)then return end local kX=kW+fb if m<kX then
bh=m else bh=kX end else bh=0 end local jv if j==0 then jv=0 else local ea=bh%j
local zg=(ea==0)and(bh/j)or(((bh-ea)/j)+1) jv=(zg<i)and(i-zg)or 0 end local fS local cM if jv<i then local oP=jv+1
local fO if(j==0)or(i<oP)then fO=nil else if not((oP*j)<2^53)then return end local dp=oP*j local oQ=(dp<m)and(m-dp)or 0
local vq=(oQ<bh)and(bh-oQ)or 0 local le=vq%1e6 fO=(le==0)and(vq/1e6)or(((vq-le)/1e6)+1) end local oS=fO or(-1) local fR
if oP==i then fR=oS else local fQ if j==0 then fQ=nil else if not(m<2^53)then return end local iS=(0<bh)and bh or 0
local iT=iS%1e6 fQ=(iT==0)and(iS/1e6)or(((iS-iT)/1e6)+1) end fR=fQ or(-1) end fS=oS cM=fR else fS=0 cM=0 end
if 2^53<=cM then return end local vu=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',cf,kO,i,jv,fS,cM,r,u) tl=vu
else if Y then return end tl={1,cf,kO} end local jx if fb==0 then jx=fc else if not((fc+1)<2^53)then return end jx=fc+1
end local ll=jx%1000 local iU=(ll==0)and(jx/1000)or(((jx-ll)/1000)+1) if not((iU+5000)<2^53)then return end
local gY=iU+5000 if fc<1e6 then return end local tq if gY==0 then tq='1' else tq=c('%.0f',gY) end
local Ga=b('SET',U,c('%.0f%03d',fc,fb),'PXAT',tq) cu=tl else local es if(j==0)or(i<u)then es=nil else
local dX=(bb<m)and(m-bb)or 0 local iJ=(dX<0)and(0-dX)or 0 local kT=iJ%1e6 es=(kT==0)and(iJ/1e6)or(((iJ-kT)/1e6)+1) end
local et if es then if 2^53<=es then return end local dY=es%1000
local vm=(es<0)and(-1)or((dY==0)and(es/1000)or(((es-dY)/1000)+1)) et=vm else et=-1 end local zc=(et==0)and 1 or et
local tF if Y=='LINE'then local jy if j==0 then jy=0 else local zw=0%j local zx=(zw==0)and(0/j)or(((0-zw)/j)+1)
jy=(zx<i)and(i-zx)or 0 end local ty if(j==0)or(i<u)then ty=nil else local zy=(bb<m)and(m-bb)or 0
local bc=(zy<0)and(0-zy)or 0 local oX=bc%1e6 ty=(oX==0)and(bc/1e6)or(((bc-oX)/1e6)+1) end local gZ=ty or(-1) local tD
local br if jy<i then local iV=jy+1 local tz if(j==0)or(i<iV)then tz=nil else if not((iV*j)<2^53)then return end
local lq=iV*j local zz=(lq<m)and(m-lq)or 0 local vB=(zz<0)and(0-zz)or 0 local lr=vB%1e6
tz=(lr==0)and(vB/1e6)or(((vB-lr)/1e6)+1) end local zC=tz or(-1) local tC if iV==i then tC=zC else local tB if j==0 then
tB=nil else if not(m<2^53)then return end tB=0 end tC=tB or(-1) end tD=zC br=tC else tD=0 br=0 end
if(2^53<=gZ)or(2^53<=br)then return end
local pb=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',cf,zc,i,jy,gZ,tD,br,r) tF=pb else if Y then return end
tF={0,cf,zc} end cu=tF end end else return end else return end return cu end, ROLLING=function(P,h)
local zE,p,pc,l,ac,cO,c,b=math.abs,string.byte,string.char,string.find,string.match,string.sub,string.format,redis.call
local mb local xu=h[2] local nM=h[3] local nN=h[4] if not nM then return end local eA=h[5] local qI local bZ local cz
if(nN=='LINE')and(not eA)then qI=5 bZ=1 cz='LINE' else local fp local az local be if nN then if eA then
if not(((((h[6]=='LINE')and(not h[7]))and((#eA)<16))and(nN=='COST'))and l(eA,'^[1-9]%d*$'))then return end fp=7 az=eA+0
be='LINE' else if(((h[6]=='LINE')and(not h[7]))and(nN=='COST'))and l('','^[1-9]%d*$')then return end return end else
fp=4 az=1 be=nil end qI=fp bZ=az cz=be end if not(((#nM)<16)and l(nM,'^[1-9]%d*$'))then return end local e=nM+0
local Q,dL=ac(xu,'^([1-9]%d*)(%l*)$') if Q then if(#xu)<16 then
local K=(dL=='')and 1000 or((dL=='ms')and 1 or((dL=='s')and 1000 or((dL=='m')and 60000 or((dL=='h')and 3.6e6 or((dL=='d')and 8.64e7 or nil)))))
local ab=K and(Q*K)or K if(not ab)or((ab<1)or(1e15<ab))then return end if not(ab<9e12)then return end local bt=h[qI]
if bt then return end local aR=b('TIME') local ag=(aR[1]*1e6)+aR[2] local r=(ag-(ag%1000))/1000 local U=P[1]
if not U then return end if l(U,':reserved',1,true)then return end if not((#P)==1)then return end local s=b('GET',U)
if s then local z local W local X local Z=((#s)-2)/15 if(not(cO(s,1,2)=='R:'))or((not((Z%1)==0))or((Z<1)or(8192<Z)))then
return end local L=r-ab local qW if 0<=L then local uD,hX,Ef,Eg,v,Eh,gj=p(s,3,9) if 32<=gj then return end
qW=(uD+(256*(hX+(256*(Ef+(256*(Eg+(256*(v+(256*(Eh+(256*gj))))))))))))<=L else qW=false end if qW then local dt
local bv=Z-1 local Ei,bw,kc,kd,ke,cV,ck=p(s,((15*bv)+3),((15*bv)+9)) if 32<=ck then return end
if(Ei+(256*(bw+(256*(kc+(256*(kd+(256*(ke+(256*(cV+(256*ck))))))))))))<=L then dt=Z else local iY=0 local hn=Z
while 1<hn do local aY=(hn-(hn%2))/2 local aH=iY+aY local Ek,hZ,n,O,gm,ax,bN=p(s,((15*aH)+3),((15*aH)+9)) if 32<=bN then
return end local cZ=Ek+(256*(hZ+(256*(n+(256*(O+(256*(gm+(256*(ax+(256*bN))))))))))) local ra if cZ<=L then
local da=iY+aY ra=da else ra=iY end local kf=hn-aY iY,hn=ra,kf end local go=iY local R=hn
local eE,eF,gp,eG,ia,nU,cl=p(s,((15*go)+3),((15*go)+9)) if 32<=cl then return end
dt=((eE+(256*(eF+(256*(gp+(256*(eG+(256*(ia+(256*(nU+(256*cl))))))))))))<=L)and(go+1)or go end local dP=dt-1
local uJ,dc,V,al,uK,uL,gq,nV=p(s,((15*dP)+10),((15*dP)+17)) local ic=uK+(256*(uL+(256*(gq+(256*nV)))))
local eI=uJ+(256*(dc+(256*(V+(256*al))))) local Eq,nW,ay,dQ,nX,dd,Er,Es=p(s,((15*bv)+10),((15*bv)+17))
local xY=nX+(256*(dd+(256*(Er+(256*Es))))) if(xY<ic)or((xY==ic)and((Eq+(256*(nW+(256*(ay+(256*dQ))))))<eI))then return
end z=dt W=ic X=eI else z=0 W=0 X=0 end local E=Z-1 local gs,Eu,oa,Ev,ob,kn,Ew,oc=p(s,((15*E)+10),((15*E)+17))
local eM=(((ob+(256*(kn+(256*(Ew+(256*oc))))))-W)*2^32)+((gs+(256*(Eu+(256*(oa+(256*Ev))))))-X)
local au=(eM<0)and(eM+2^64)or eM local gu=(au+bZ)<=e if 2^53<=au then return end if gu then local aM local dD local eq
local sB local mM local af local ij,gy,dT,od,gz,gA,bQ=p(s,((15*E)+3),((15*E)+9)) if 32<=bQ then return end
if(ij+(256*(gy+(256*(dT+(256*(od+(256*(gz+(256*(gA+(256*bQ))))))))))))<=r then af=Z else local iZ=0 local ho=Z
while 1<ho do local aZ=(ho-(ho%2))/2 local co=iZ+aZ local EA,of,og,eN,kt,EB,ku=p(s,((15*co)+3),((15*co)+9))
if 32<=ku then return end local gB=EA+(256*(of+(256*(og+(256*(eN+(256*(kt+(256*(EB+(256*ku))))))))))) local dx
if gB<=r then local oi=iZ+aZ dx=oi else dx=iZ end local oj=ho-aZ iZ,ho=dx,oj end local cq=iZ local FT=ho
local iq,ok,yl,cr,ir,ol,gD=p(s,((15*cq)+3),((15*cq)+9)) if 32<=gD then return end
af=((iq+(256*(ok+(256*(yl+(256*(cr+(256*(ir+(256*(ol+(256*gD))))))))))))<=r)and(cq+1)or cq end local iu=bZ%2^32
local gE=(bZ-iu)/2^32 local dj,om,on,dU,EF,oo,EG,iw=p(s,((15*E)+10),((15*E)+17))
local kx=(EF+(256*(oo+(256*(EG+(256*iw))))))+gE local ky=(dj+(256*(om+(256*(on+(256*dU))))))+iu local mC local cI
if 2^32<=ky then mC=kx+1 cI=ky-2^32 else mC=kx cI=ky end local kz=mC%2^32 local yy=2^32<=mC if af<Z then return end
if z<Z then local EH,iz,aU,gG,eU,EI,ct=p(s,((15*E)+3),((15*E)+9)) if 32<=ct then return end
local kC=EH+(256*(iz+(256*(aU+(256*(gG+(256*(eU+(256*(EI+(256*ct))))))))))) local mF if kC==r then mF=true else
if(ab<=4096)or(((ab/4096)+1)<=zE((kC-r)))then mF=false else if not((kC*4096)<2^53)then return end local yA=kC*4096
if not((r*4096)<2^53)then return end local yE=r*4096 mF=((yA-(yA%ab))/ab)==((yE-(yE%ab))/ab) end end
local dk=mF and E or Z local iC=r%16777216 local dl=kz%65536 local bR=cI%65536 local gJ=(r-iC)/16777216
local uZ=(kz-dl)/65536 local aJ=(cI-bR)/65536 local aK=gJ%65536
local dV=pc((iC%256),(((iC-(iC%256))/256)%256),((iC-(iC%65536))/65536),(aK%256),((aK-(aK%256))/256),(((gJ-aK)/65536)%256),((gJ-(gJ%16777216))/16777216),(bR%256),((bR-(bR%256))/256),(aJ%256),((aJ-(aJ%256))/256),(dl%256),((dl-(dl%256))/256),(uZ%256),((uZ-(uZ%256))/256))
local vb=dk+1 local eX=(15*dk)+2 local sn if dk==Z then sn='APPEND' else sn='SETRANGE' end local so
if((0<z)and(Z<=(z*2)))or(yy or((vb<Z)or(8192<vb)))then so='SET' else so=sn end aM=cO(s,1,eX)..dV dD=vb eq=so sB=eX mM=dV
else local yM=W+gE local bS=X+iu local ep local aV if 2^32<=bS then ep=bS-2^32 aV=yM+1 else ep=bS aV=yM end
local kI=aV%2^32 local ba=r%16777216 local iG=kI%65536 local gM=ep%65536 local eZ=(r-ba)/16777216 local iH=(kI-iG)/65536
local vc=(ep-gM)/65536 local fa=eZ%65536
local ox=pc((ba%256),(((ba-(ba%256))/256)%256),((ba-(ba%65536))/65536),(fa%256),((fa-(fa%256))/256),(((eZ-fa)/65536)%256),((eZ-(eZ%16777216))/16777216),(gM%256),((gM-(gM%256))/256),(vc%256),((vc-(vc%256))/256),(iG%256),((iG-(iG%256))/256),(iH%256),((iH-(iH%256))/256))
local gN=Z+1 local kM=(15*Z)+2 local sA if((0<z)and(Z<=(z*2)))or(yy or((gN<Z)or(8192<gN)))then sA='SET' else sA='APPEND'
end aM=cO(s,1,kM)..ox dD=gN eq=sA sB=kM mM=ox end local hF if 0<dD then local yV=dD-1
local oE,kO,EU,oF,EV,oG,EW,vj=p(aM,((15*yV)+10),((15*yV)+17))
local dX=(((EV+(256*(oG+(256*(EW+(256*vj))))))-W)*2^32)+((oE+(256*(kO+(256*(EU+(256*oF))))))-X)
hF=(dX<0)and(dX+2^64)or dX else hF=0 end local fU if hF<=0 then fU=0 else local oL=dD-1
local gQ,fd,fe,vn,gR,oM,gS,kU=p(aM,((15*z)+10),((15*z)+17))
local vo=(((gR+(256*(oM+(256*(gS+(256*kU))))))-W)*2^32)+((gQ+(256*(fd+(256*(fe+(256*vn))))))-X) local te local tf
if hF<=((vo<0)and(vo+2^64)or vo)then te=z tf=z else local kY=(0<oL)and(oL-1)or 0
local Fc,iP,kZ,la,lb,Fd,iQ,ff=p(aM,((15*kY)+10),((15*kY)+17))
local dp=(((lb+(256*(Fd+(256*(iQ+(256*ff))))))-W)*2^32)+((Fc+(256*(iP+(256*(kZ+(256*la))))))-X) local fM
if((dp<0)and(dp+2^64)or dp)<hF then fM=oL else fM=z end te=fM tf=oL end local hp=tf local hq=te while hq<hp do
local oR=((hq+hp)-((hq+hp)%2))/2 local oS,lf,iR,gW,lg,oT,Fj,Fk=p(aM,((15*oR)+10),((15*oR)+17))
local Fl=lg+(256*(oT+(256*(Fj+(256*Fk))))) local Fm=oS+(256*(lf+(256*(iR+(256*gW))))) local vt=((Fl-W)*2^32)+(Fm-X)
local vu=(vt<0)and(vt+2^64)or vt local fT local tk if hF<=vu then fT=hq tk=oR else local eb=oR+1 fT=eb tk=hp end
hp,hq=tk,fT end local zn=hp local li=hq local Fn,vw,oV,gX,fg,lj,dq=p(aM,((15*li)+3),((15*li)+9)) if 32<=dq then return
end local lk=((Fn+(256*(vw+(256*(oV+(256*(gX+(256*(fg+(256*(lj+(256*dq))))))))))))+ab)-r fU=(0<lk)and lk or 0 end
if 2^53<=fU then return end local gY=fU%1000 local zt=(fU<0)and(-1)or((gY==0)and(fU/1000)or(((fU-gY)/1000)+1)) local qn
if cz=='LINE'then local cx if 0<dD then local nA=dD-1 local zW,nB,zX,zY,nC,zZ,Aa,jU=p(aM,((15*nA)+10),((15*nA)+17))
local ua=(((nC+(256*(zZ+(256*(Aa+(256*jU))))))-W)*2^32)+((zW+(256*(nB+(256*(zX+(256*zY))))))-X)
cx=(ua<0)and(ua+2^64)or ua else cx=0 end local ub=(cx<e)and(e-cx)or 0 local qm local lU if ub<e then local wV=ub+1
local eh local uc=e-wV if uc<0 then eh=nil else if cx<=uc then eh=0 else local ud=cx-uc local nD=dD-1
local Ac,Ad,Ae,Af,Ag,Ah,Ai,ue=p(aM,((15*z)+10),((15*z)+17))
local uf=(((Ag+(256*(Ah+(256*(Ai+(256*ue))))))-W)*2^32)+((Ac+(256*(Ad+(256*(Ae+(256*Af))))))-X) local qa local qb
if ud<=((uf<0)and(uf+2^64)or uf)then qa=z qb=z else local wX=(0<nD)and(nD-1)or 0
local Aj,Ak,Al,Am,An,Ao,Ap,Aq=p(aM,((15*wX)+10),((15*wX)+17))
local ug=(((An+(256*(Ao+(256*(Ap+(256*Aq))))))-W)*2^32)+((Aj+(256*(Ak+(256*(Al+(256*Am))))))-X) local pZ
if((ug<0)and(ug+2^64)or ug)<ud then pZ=nD else pZ=z end qa=pZ qb=nD end local hd=qb local he=qa while he<hd do
local nE=((he+hd)-((he+hd)%2))/2 local As,At,Au,Av,Aw,Ax,Ay,Az=p(aM,((15*nE)+10),((15*nE)+17))
local AA=Aw+(256*(Ax+(256*(Ay+(256*Az))))) local AB=As+(256*(At+(256*(Au+(256*Av))))) local uh=((AA-W)*2^32)+(AB-X)
local AC=(uh<0)and(uh+2^64)or uh local qc local qd if ud<=AC then qc=he qd=nE else local AD=nE+1 qc=AD qd=hd end
hd,he=qd,qc end local FJ=hd local wZ=he local AE,jV,AF,AG,AH,nF,xa=p(aM,((15*wZ)+3),((15*wZ)+9)) if 32<=xa then return
end local xc=((AE+(256*(jV+(256*(AF+(256*(AG+(256*(AH+(256*(nF+(256*xa))))))))))))+ab)-r eh=(0<xc)and xc or 0 end end
local xd=eh or(-1) local ql if wV==e then ql=xd else local qk if cx<=0 then qk=0 else local nG=dD-1
local AI,AJ,AK,AL,AM,AN,AO,AP=p(aM,((15*z)+10),((15*z)+17))
local ui=(((AM+(256*(AN+(256*(AO+(256*AP))))))-W)*2^32)+((AI+(256*(AJ+(256*(AK+(256*AL))))))-X) local qg local qh
if cx<=((ui<0)and(ui+2^64)or ui)then qg=z qh=z else local xe=(0<nG)and(nG-1)or 0
local AQ,AR,AS,AT,AU,AV,AW,AX=p(aM,((15*xe)+10),((15*xe)+17))
local uj=(((AU+(256*(AV+(256*(AW+(256*AX))))))-W)*2^32)+((AQ+(256*(AR+(256*(AS+(256*AT))))))-X) local qf
if((uj<0)and(uj+2^64)or uj)<cx then qf=nG else qf=z end qg=qf qh=nG end local hf=qh local hg=qg while hg<hf do
local nH=((hg+hf)-((hg+hf)%2))/2 local AY,AZ,Ba,Bb,Bc,Bd,Be,Bf=p(aM,((15*nH)+10),((15*nH)+17))
local Bg=Bc+(256*(Bd+(256*(Be+(256*Bf))))) local Bh=AY+(256*(AZ+(256*(Ba+(256*Bb))))) local uk=((Bg-W)*2^32)+(Bh-X)
local Bi=(uk<0)and(uk+2^64)or uk local qi local qj if cx<=Bi then qi=hg qj=nH else local Bj=nH+1 qi=Bj qj=hf end
hf,hg=qj,qi end local FK=hf local xf=hg local Bk,Bl,Bm,Bn,Bo,Bp,xg=p(aM,((15*xf)+3),((15*xf)+9)) if 32<=xg then return
end local xh=((Bk+(256*(Bl+(256*(Bm+(256*(Bn+(256*(Bo+(256*(Bp+(256*xg))))))))))))+ab)-r qk=(0<xh)and xh or 0 end ql=qk
end qm=xd lU=ql else qm=0 lU=0 end if 2^53<=lU then return end
local Bq=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',au,zt,e,ub,qm,lU,r,bZ) qn=Bq else if cz then return end
qn={1,au,zt} end if not redis.REDIS_VERSION_NUM then return end local xi=b('PEXPIRETIME',U)
local xj=(0<=xi)and xi or nil local lV if xj then lV=xj else lV=nil end local fn if lV then if(3*ab)<=(2*(lV-r))then
fn=nil else fn=r+(2*ab) end else fn=r+(2*ab) end if eq=='SET'then return else if eq=='APPEND'then
local FL=b('APPEND',U,mM) if fn then local Br=c('%.0f',fn) local FM=b('PEXPIREAT',U,Br) end else
local FN=b('SETRANGE',U,c('%d',sB),mM) if fn then local Bs=c('%.0f',fn) local FO=b('PEXPIREAT',U,Bs) end end end mb=qn
else local sG if 0<au then local ER,vg,oA,bB,ES,oB,yS=p(s,((15*E)+3),((15*E)+9)) if 32<=yS then return end
sG=r<(ER+(256*(vg+(256*(oA+(256*(bB+(256*(ES+(256*(oB+(256*yS)))))))))))) else sG=false end if sG then return end
local Fq,Fr,Fs,vx,Ft,zu,Fu,zv=p(s,((15*E)+10),((15*E)+17))
local bT=(((Ft+(256*(zu+(256*(Fu+(256*zv))))))-W)*2^32)+((Fq+(256*(Fr+(256*(Fs+(256*vx))))))-X)
local ec=(bT<0)and(bT+2^64)or bT local bd local bU=e-bZ if bU<0 then bd=nil else if ec<=bU then bd=0 else local vz=ec-bU
local Fx,oX,Fy,Fz,gZ,lo,FA,iV=p(s,((15*z)+10),((15*z)+17))
local ed=(((gZ+(256*(lo+(256*(FA+(256*iV))))))-W)*2^32)+((Fx+(256*(oX+(256*(Fy+(256*Fz))))))-X) local ph local pi
if vz<=((ed<0)and(ed+2^64)or ed)then ph=z pi=z else local ls=(0<E)and(E-1)or 0
local fh,lt,FB,FC,oZ,FD,pa,fi=p(s,((15*ls)+10),((15*ls)+17))
local fY=(((oZ+(256*(FD+(256*(pa+(256*fi))))))-W)*2^32)+((fh+(256*(lt+(256*(FB+(256*FC))))))-X) local pg
if((fY<0)and(fY+2^64)or fY)<vz then pg=E else pg=z end ph=pg pi=E end local hb=pi local hc=ph while hc<hb do
local cP=((hc+hb)-((hc+hb)%2))/2 local ew,nh,hM,ni,nj,nk,tG,nl=p(s,((15*cP)+10),((15*cP)+17))
local dF=nj+(256*(nk+(256*(tG+(256*nl))))) local zH=ew+(256*(nh+(256*(hM+(256*ni))))) local tI=((dF-W)*2^32)+(zH-X)
local jD=(tI<0)and(tI+2^64)or tI local bW local pk if vz<=jD then bW=hc pk=cP else local cQ=cP+1 bW=cQ pk=hb end
hb,hc=pk,bW end local tJ=hb local jE=hc local nm,zI,dG,ex,zJ,nn,jF=p(s,((15*jE)+3),((15*jE)+9)) if 32<=jF then return
end local jG=((nm+(256*(zI+(256*(dG+(256*(ex+(256*(zJ+(256*(nn+(256*jF))))))))))))+ab)-r bd=(0<jG)and jG or 0 end end
local lH if bd then if 2^53<=bd then return end local vR=bd%1000
local ey=(bd<0)and(-1)or((vR==0)and(bd/1000)or(((bd-vR)/1000)+1)) lH=ey else lH=-1 end local vS=(lH==0)and 1 or lH
local qO if cz=='LINE'then local Bt,Bu,Bv,Bw,Bx,By,Bz,BA=p(s,((15*E)+10),((15*E)+17))
local ul=(((Bx+(256*(By+(256*(Bz+(256*BA))))))-W)*2^32)+((Bt+(256*(Bu+(256*(Bv+(256*Bw))))))-X)
local cS=(ul<0)and(ul+2^64)or ul local um=(cS<e)and(e-cS)or 0 local lW if bU<0 then lW=nil else if cS<=bU then lW=0 else
local un=cS-bU local BB,BC,BD,BE,BF,BG,BH,BI=p(s,((15*z)+10),((15*z)+17))
local uo=(((BF+(256*(BG+(256*(BH+(256*BI))))))-W)*2^32)+((BB+(256*(BC+(256*(BD+(256*BE))))))-X) local qp local qq
if un<=((uo<0)and(uo+2^64)or uo)then qp=z qq=z else local xm=(0<E)and(E-1)or 0
local BJ,BK,BL,BM,BN,BO,BP,BQ=p(s,((15*xm)+10),((15*xm)+17))
local up=(((BN+(256*(BO+(256*(BP+(256*BQ))))))-W)*2^32)+((BJ+(256*(BK+(256*(BL+(256*BM))))))-X) local qo
if((up<0)and(up+2^64)or up)<un then qo=E else qo=z end qp=qo qq=E end local hh=qq local hi=qp while hi<hh do
local nK=((hi+hh)-((hi+hh)%2))/2 local BR,BS,BT,BU,BV,BW,BX,BY=p(s,((15*nK)+10),((15*nK)+17))
local BZ=BV+(256*(BW+(256*(BX+(256*BY))))) local Ca=BR+(256*(BS+(256*(BT+(256*BU))))) local uq=((BZ-W)*2^32)+(Ca-X)
local Cb=(uq<0)and(uq+2^64)or uq local qr local qs if un<=Cb then qr=hi qs=nK else local Cc=nK+1 qr=Cc qs=hh end
hh,hi=qs,qr end local FP=hh local xo=hi local Cd,Ce,Cf,Cg,Ch,Ci,xq=p(s,((15*xo)+3),((15*xo)+9)) if 32<=xq then return
end local xr=((Cd+(256*(Ce+(256*(Cf+(256*(Cg+(256*(Ch+(256*(Ci+(256*xq))))))))))))+ab)-r lW=(0<xr)and xr or 0 end end
local xs=lW or(-1) local qN local lY if um<e then local xt=um+1 local lX local ur=e-xt if ur<0 then lX=nil else
if cS<=ur then lX=0 else local us=cS-ur local Cj,Ck,Cl,Cm,Cn,Co,Cp,Cq=p(s,((15*z)+10),((15*z)+17))
local ut=(((Cn+(256*(Co+(256*(Cp+(256*Cq))))))-W)*2^32)+((Cj+(256*(Ck+(256*(Cl+(256*Cm))))))-X) local qx local qy
if us<=((ut<0)and(ut+2^64)or ut)then qx=z qy=z else local xv=(0<E)and(E-1)or 0
local Cr,Cs,Ct,Cu,Cv,Cw,Cx,Cy=p(s,((15*xv)+10),((15*xv)+17))
local uu=(((Cv+(256*(Cw+(256*(Cx+(256*Cy))))))-W)*2^32)+((Cr+(256*(Cs+(256*(Ct+(256*Cu))))))-X) local qw
if((uu<0)and(uu+2^64)or uu)<us then qw=E else qw=z end qx=qw qy=E end local hj=qy local hk=qx while hk<hj do
local nO=((hk+hj)-((hk+hj)%2))/2 local Cz,CA,CB,CC,CD,CE,CF,CG=p(s,((15*nO)+10),((15*nO)+17))
local CH=CD+(256*(CE+(256*(CF+(256*CG))))) local CI=Cz+(256*(CA+(256*(CB+(256*CC))))) local uv=((CH-W)*2^32)+(CI-X)
local CJ=(uv<0)and(uv+2^64)or uv local qz local qA if us<=CJ then qz=hk qA=nO else local CK=nO+1 qz=CK qA=hj end
hj,hk=qA,qz end local FQ=hj local xw=hk local CL,CM,CN,CO,CP,CQ,xx=p(s,((15*xw)+3),((15*xw)+9)) if 32<=xx then return
end local xy=((CL+(256*(CM+(256*(CN+(256*(CO+(256*(CP+(256*(CQ+(256*xx))))))))))))+ab)-r lX=(0<xy)and xy or 0 end end
local xz=lX or(-1) local qM if xt==e then qM=xz else local qL if cS<=0 then qL=0 else
local CR,CS,CT,CU,CV,CW,CX,CY=p(s,((15*z)+10),((15*z)+17))
local uw=(((CV+(256*(CW+(256*(CX+(256*CY))))))-W)*2^32)+((CR+(256*(CS+(256*(CT+(256*CU))))))-X) local qG local qH
if cS<=((uw<0)and(uw+2^64)or uw)then qG=z qH=z else local xA=(0<E)and(E-1)or 0
local CZ,Da,Db,Dc,Dd,De,Df,Dg=p(s,((15*xA)+10),((15*xA)+17))
local ux=(((Dd+(256*(De+(256*(Df+(256*Dg))))))-W)*2^32)+((CZ+(256*(Da+(256*(Db+(256*Dc))))))-X) local qF
if((ux<0)and(ux+2^64)or ux)<cS then qF=E else qF=z end qG=qF qH=E end local hl=qH local hm=qG while hm<hl do
local nP=((hm+hl)-((hm+hl)%2))/2 local Dh,Di,Dj,Dk,Dl,Dm,Dn,Do=p(s,((15*nP)+10),((15*nP)+17))
local Dq=Dl+(256*(Dm+(256*(Dn+(256*Do))))) local Dr=Dh+(256*(Di+(256*(Dj+(256*Dk))))) local uy=((Dq-W)*2^32)+(Dr-X)
local Ds=(uy<0)and(uy+2^64)or uy local qJ local qK if cS<=Ds then qJ=hm qK=nP else local Dt=nP+1 qJ=Dt qK=hl end
hl,hm=qK,qJ end local FR=hl local xD=hm local Du,Dv,Dw,Dx,Dy,Dz,xE=p(s,((15*xD)+3),((15*xD)+9)) if 32<=xE then return
end local xF=((Du+(256*(Dv+(256*(Dw+(256*(Dx+(256*(Dy+(256*(Dz+(256*xE))))))))))))+ab)-r qL=(0<xF)and xF or 0 end qM=qL
end qN=xz lY=qM else qN=0 lY=0 end if(2^53<=xs)or(2^53<=lY)then return end
local DA=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',au,vS,e,um,xs,qN,lY,r) qO=DA else if cz then return end
qO={0,au,vS} end if not redis.REDIS_VERSION_NUM then return end local xG=b('PEXPIRETIME',U)
local xH=(0<=xG)and xG or nil local lZ if xH then lZ=xH else lZ=nil end local jj if lZ then if(3*ab)<=(2*(lZ-r))then
jj=nil else jj=r+(2*ab) end else jj=r+(2*ab) end local DB,DC,DD,DE,DF,DG,DH,DI=p(s,((15*E)+10),((15*E)+17))
local uA=(((DF+(256*(DG+(256*(DH+(256*DI))))))-W)*2^32)+((DB+(256*(DC+(256*(DD+(256*DE))))))-X)
if not(((uA<0)and(uA+2^64)or uA)==0)then if jj then local DJ=c('%.0f',jj) local FS=b('PEXPIREAT',U,DJ) end end mb=qO end
else local bj=bZ<=e if bj then local fZ=bZ%2^32 local ga=(bZ-fZ)/2^32 local hQ=r%16777216 local no=ga%65536
local gb=fZ%65536 local np=(r-hQ)/16777216 local tM=(ga-no)/65536 local tN=(fZ-gb)/65536 local nq=np%65536
local dI=cO('R:',1,2)..pc((hQ%256),(((hQ-(hQ%256))/256)%256),((hQ-(hQ%65536))/65536),(nq%256),((nq-(nq%256))/256),(((np-nq)/65536)%256),((np-(np%16777216))/16777216),(gb%256),((gb-(gb%256))/256),(tN%256),((tN-(tN%256))/256),(no%256),((no-(no%256))/256),(tM%256),((tM-(tM%256))/256))
local zM,nr,ns,hR,nt,zN,nu,zO=p(dI,10,17)
local tR=((nt+(256*(zN+(256*(nu+(256*zO))))))*2^32)+(zM+(256*(nr+(256*(ns+(256*hR)))))) local pQ
if((tR<0)and(tR+2^64)or tR)<=0 then pQ=0 else local zR,ge,zS,zT,gf,jR,wG=p(dI,3,9) if 32<=wG then return end
local wJ=((zR+(256*(ge+(256*(zS+(256*(zT+(256*(gf+(256*(jR+(256*wG))))))))))))+ab)-r pQ=(0<wJ)and wJ or 0 end
if 2^53<=pQ then return end if cz=='LINE'then local DK,DL,DM,DN,DO,DP,DQ,DR=p(dI,10,17)
local uB=((DO+(256*(DP+(256*(DQ+(256*DR))))))*2^32)+(DK+(256*(DL+(256*(DM+(256*DN)))))) local nR=(uB<0)and(uB+2^64)or uB
local xI=(nR<e)and(e-nR)or 0 local qR if xI<e then local xJ=xI+1 local ma local xK=e-xJ if xK<0 then ma=nil else
if nR<=xK then ma=0 else local DS,DT,DU,DV,DW,DX,xL=p(dI,3,9) if 32<=xL then return end
local xM=((DS+(256*(DT+(256*(DU+(256*(DV+(256*(DW+(256*(DX+(256*xL))))))))))))+ab)-r ma=(0<xM)and xM or 0 end end
local DY=ma or(-1) local qQ if xJ==e then qQ=DY else local qP if nR<=0 then qP=0 else
local DZ,Ea,Eb,Ec,Ed,Ee,xN=p(dI,3,9) if 32<=xN then return end
local xO=((DZ+(256*(Ea+(256*(Eb+(256*(Ec+(256*(Ed+(256*(Ee+(256*xN))))))))))))+ab)-r qP=(0<xO)and xO or 0 end qQ=qP end
qR=qQ else qR=0 end if 2^53<=qR then return end else if cz then return end end return else local ef local dJ=e-bZ
if dJ<0 then ef=nil else ef=0 end local eg if ef then if 2^53<=ef then return end local wR=ef%1000
local zV=(ef<0)and(-1)or((wR==0)and(ef/1000)or(((ef-wR)/1000)+1)) eg=zV else eg=-1 end local wS=(eg==0)and 1 or eg
local qT if cz=='LINE'then local qS if dJ<0 then qS=nil else qS=0 end local xP=qS or(-1) if 2^53<=xP then return end
qT=c('0 0 %.0f %.0f %.0f %.0f 0 0 0 %.0f 0 0',wS,e,e,xP,r) else if cz then return end qT={0,0,wS} end mb=qT end end else
return end else return end return mb end, LEASE=function(P,h)
local I,l,ac,c,b=math.ceil,string.find,string.match,string.format,redis.call local ts local aO=h[2] local bl=h[3]
local as=h[4] if not bl then return end local gg=h[5] if(as=='LINE')and(not gg)then
if not(((#bl)<16)and l(bl,'^[1-9]%d*$'))then return end local i,at=ac(aO,'^([1-9]%d*)(%l*)$') if i then if(#aO)<16 then
local g=(at=='')and 1000 or((at=='ms')and 1 or((at=='s')and 1000 or((at=='m')and 60000 or((at=='h')and 3.6e6 or((at=='d')and 8.64e7 or nil)))))
local aw=g and(i*g)or g if(not aw)or((aw<1)or(1e15<aw))then return end if not(aw<9e12)then return end return else return
end else return end else if as then if gg then
if not(((((h[6]=='LINE')and(not h[7]))and((#gg)<16))and(as=='ID'))and(not(gg=='')))then return end
if not(((#bl)<16)and l(bl,'^[1-9]%d*$'))then return end local C=bl+0 local D,e=ac(aO,'^([1-9]%d*)(%l*)$') if D then
if(#aO)<16 then
local uz=(e=='')and 1000 or((e=='ms')and 1 or((e=='s')and 1000 or((e=='m')and 60000 or((e=='h')and 3.6e6 or((e=='d')and 8.64e7 or nil)))))
local j=uz and(D*uz)or uz if(not j)or((j<1)or(1e15<j))then return end if not(j<9e12)then return end local Z=b('TIME')
local L=(Z[1]*1e6)+Z[2] local aG=(L-(L%1000))/1000 local v=P[1] if not v then return end if l(v,':reserved',1,true)then
return end if not((#P)==1)then return end local gk=b('ZCARD',v) local av if(0<gk)and(0<=aG)then if not(gk<=4000)then
return end local gl=b('ZREMRANGEBYSCORE',v,'-inf',c('%.0f',aG)) av=gk-gl else av=gk end local kd=0<av local ao
if kd then local ck=b('ZSCORE',v,gg) if ck then local xT=tonumber(ck) local md if xT<2^64 then local cW=I(xT)
md=(0<cW)and cW or 0 else md=1/0 end local fu if aG<md then fu=md else fu=nil end ao=fu else ao=nil end else ao=nil end
local cX=ao and(av-1)or av local hZ=(not(ao==nil))or(cX<C) local O=aG+j if hZ and(not(ao==O))then
if not((O*1000)<2^53)then return end local eD=O*1000 local uH=(L<eD)and(eD-L)or 0 local cZ=uH%1e6
local da=(cZ==0)and(uH/1e6)or(((uH-cZ)/1e6)+1) if 2^53<=da then return end local uO=ao and 0 or 1 local eK=cX+1
local kl=C-eK local ig=(0<kl)and kl or 0 local bI local hD if ig<C then local ob=ig+1 local mA local ko=C-ob
if ko<0 then mA=nil else if eK<=ko then mA=0 else local dg=(eK-ko)-1 local jo if dg<cX then local ms local cF
local eL=c('%.0f',dg) local eM=b('ZRANGE',v,eL,eL,'WITHSCORES') local au=eM[2] if au then local dh=tonumber(au) local fz
if dh<2^64 then local gv=I(dh) fz=(0<gv)and gv or 0 else fz=1/0 end cF=fz else cF=1/0 end if ao then local bp
if ao<=cF then local rw local kr=c('%.0f',(dg+1)) local gx=b('ZRANGE',v,kr,kr,'WITHSCORES') local ij=gx[2] if ij then
local dT=tonumber(ij) local bF if dT<2^64 then local gA=I(dT) bF=(0<gA)and gA or 0 else bF=1/0 end rw=bF else rw=1/0 end
bp=rw else bp=cF end ms=bp else ms=cF end if ms<=O then jo=ms else local rH if 0<dg then local di=dg-1 local mx local dw
local io=c('%.0f',di) local Ez=b('ZRANGE',v,io,io,'WITHSCORES') local aZ=Ez[2] if aZ then local bz=tonumber(aZ) local fA
if bz<2^64 then local of=I(bz) fA=(0<of)and of or 0 else fA=1/0 end dw=fA else dw=1/0 end if ao then local rG
if ao<=dw then local rF local uT=c('%.0f',(di+1)) local cp=b('ZRANGE',v,uT,uT,'WITHSCORES') local eO=cp[2] if eO then
local gB=tonumber(eO) local rE if gB<2^64 then local oj=I(gB) rE=(0<oj)and oj or 0 else rE=1/0 end rF=rE else rF=1/0 end
rG=rF else rG=dw end mx=rG else mx=dw end rH=(mx<O)and O or mx else rH=O end jo=rH end else local dy if 0<dg then
local cr=dg-1 local bf local jn local ym=c('%.0f',cr) local is=b('ZRANGE',v,ym,ym,'WITHSCORES') local it=is[2]
if it then local yn=tonumber(it) local af if yn<2^64 then local yo=I(yn) af=(0<yo)and yo or 0 else af=1/0 end jn=af else
jn=1/0 end if ao then local fF if ao<=jn then local rS local iv=c('%.0f',(cr+1))
local ED=b('ZRANGE',v,iv,iv,'WITHSCORES') local yq=ED[2] if yq then local eP=tonumber(yq) local rR if eP<2^64 then
local om=I(eP) rR=(0<om)and om or 0 else rR=1/0 end rS=rR else rS=1/0 end fF=rS else fF=jn end bf=fF else bf=jn end
dy=(bf<O)and O or bf else dy=O end jo=dy end local cG if not(jo==(1/0))then cG=jo else cG=nil end local rV if cG then
local rU if 2^53<=cG then rU=1/0 else local ys=cG-aG rU=(0<ys)and ys or 0 end rV=rU else rV=cG end mA=rV end end
local eQ=mA or(-1) local sz if ob==C then sz=eQ else local sy if eK<=0 then sy=0 else local gF=eK-1 local dC
if gF<cX then local mD local cJ local aU=c('%.0f',gF) local gG=b('ZRANGE',v,aU,aU,'WITHSCORES') local eU=gG[2]
if eU then local ct=tonumber(eU) local fG if ct<2^64 then local kB=I(ct) fG=(0<kB)and kB or 0 else fG=1/0 end cJ=fG else
cJ=1/0 end if ao then local sd if ao<=cJ then local sc local os=c('%.0f',(gF+1))
local iA=b('ZRANGE',v,os,os,'WITHSCORES') local gI=iA[2] if gI then local yB=tonumber(gI) local sb if yB<2^64 then
local yC=I(yB) sb=(0<yC)and yC or 0 else sb=1/0 end sc=sb else sc=1/0 end sd=sc else sd=cJ end mD=sd else mD=cJ end
if mD<=O then dC=mD else local eo if 0<gF then local kD=gF-1 local cd local jq local yG=c('%.0f',kD)
local EM=b('ZRANGE',v,yG,yG,'WITHSCORES') local yH=EM[2] if yH then local yI=tonumber(yH) local sg if yI<2^64 then
local dm=I(yI) sg=(0<dm)and dm or 0 else sg=1/0 end jq=sg else jq=1/0 end if ao then local sl if ao<=jq then local fH
local aK=c('%.0f',(kD+1)) local dV=b('ZRANGE',v,aK,aK,'WITHSCORES') local ov=dV[2] if ov then local gK=tonumber(ov)
local sk if gK<2^64 then local eW=I(gK) sk=(0<eW)and eW or 0 else sk=1/0 end fH=sk else fH=1/0 end sl=fH else sl=jq end
cd=sl else cd=jq end eo=(cd<O)and O or cd else eo=O end dC=eo end else local dB if 0<gF then local kF=gF-1 local mK
local bg local dW=c('%.0f',kF) local EO=b('ZRANGE',v,dW,dW,'WITHSCORES') local iE=EO[2] if iE then local bS=tonumber(iE)
local aV if bS<2^64 then local kH=I(bS) aV=(0<kH)and kH or 0 else aV=1/0 end bg=aV else bg=1/0 end if ao then local su
if ao<=bg then local st local ba=c('%.0f',(kF+1)) local iG=b('ZRANGE',v,ba,ba,'WITHSCORES') local gL=iG[2] if gL then
local gM=tonumber(gL) local ss if gM<2^64 then local kK=I(gM) ss=(0<kK)and kK or 0 else ss=1/0 end st=ss else st=1/0 end
su=st else su=bg end mK=su else mK=bg end dB=(mK<O)and O or mK else dB=O end dC=dB end local cL if not(dC==(1/0))then
cL=dC else cL=nil end local sx if cL then local sw if 2^53<=cL then sw=1/0 else local kL=cL-aG sw=(0<kL)and kL or 0 end
sx=sw else sx=cL end sy=sx end sz=sy or(-1) end bI=eQ hD=sz else bI=0 hD=0 end
if(not((bI-bI)==0))or((not((hD-hD)==0))or(2^53<=hD))then return end
local EQ=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',cX,da,C,ig,bI,hD,aG,uO) local jr if kd then
if not redis.REDIS_VERSION_NUM then return end local bB=b('PEXPIRETIME',v) local oB=(0<=bB)and bB or nil local sD
if oB then sD=oB else sD=nil end jr=sD else jr=nil end if ao then local yT=b('ZADD',v,'XX',c('%.0f',O),gg) else
local vh=b('ZADD',v,c('%.0f',O),gg) end if cX==0 then if(2^53<=O)or(not(jr==O))then local sI
if O<9223372036854775808 then sI=c('%.0f',O) else sI='9223372036854775807' end local vi=b('PEXPIREAT',v,sI) end else
local oC=b('ZRANGE',v,'-1','-1','WITHSCORES') local dn=oC[2] if dn then local fb=tonumber(dn) local aN if fb<2^64 then
local kN=I(fb) aN=(0<kN)and kN or 0 else aN=1/0 end if(2^53<=aN)or(not(jr==aN))then local er
if aN<9223372036854775808 then er=c('%.0f',aN) else er='9223372036854775807' end local oF=b('PEXPIREAT',v,er) end else
if(2^53<=dn)or(not(jr==dn))then local sJ if dn<9223372036854775808 then sJ=c('%.0f',dn) else sJ='9223372036854775807'
end local oH=b('PEXPIREAT',v,sJ) end end end ts=EQ else local rk if hZ then if not((O*1000)<2^53)then return end
local R=O*1000 local eE=(L<R)and(R-L)or 0 local ia=eE%1e6 local nU=(ia==0)and(eE/1e6)or(((eE-ia)/1e6)+1)
if 2^53<=nU then return end rk=nU else local ar local V=C-1 if V<0 then ar=nil else if av<=V then ar=0 else
local uL=(av-V)-1 local mj local xX=c('%.0f',uL) local Ep=b('ZRANGE',v,xX,xX,'WITHSCORES') local eH=Ep[2] if eH then
local bO=tonumber(eH) local rg if bO<2^64 then local eI=I(bO) rg=(0<eI)and eI or 0 else rg=1/0 end mj=rg else mj=1/0 end
local hx if not(mj==(1/0))then hx=mj else hx=nil end local ek if hx then local ri if 2^53<=hx then ri=1/0 else
local dQ=hx-aG ri=(0<dQ)and dQ or 0 end ek=ri else ek=hx end ar=ek end end local mk if ar then
if(not((ar-ar)==0))or(2^53<=ar)then return end local ie=ar%1000
local by=(ar<0)and(-1)or((ie==0)and(ar/1000)or(((ar-ie)/1000)+1)) mk=by else mk=-1 end local nY=(mk==0)and 1 or mk rk=nY
end local kQ=C-av local oJ=(0<kQ)and kQ or 0 local bK if not hZ then local eu local oK=C-1 if oK<0 then eu=nil else
if av<=oK then eu=0 else local vm=(av-oK)-1 local mS local fe=c('%.0f',vm) local vn=b('ZRANGE',v,fe,fe,'WITHSCORES')
local gR=vn[2] if gR then local gS=tonumber(gR) local sQ if gS<2^64 then local kV=I(gS) sQ=(0<kV)and kV or 0 else sQ=1/0
end mS=sQ else mS=1/0 end local hG if not(mS==(1/0))then hG=mS else hG=nil end local sS if hG then local sR
if 2^53<=hG then sR=1/0 else local ze=hG-aG sR=(0<ze)and ze or 0 end sS=sR else sS=hG end eu=sS end end
local Fb=eu or(-1) bK=Fb else bK=0 end local cM local hI if oJ<C then local dZ=oJ+1 local ch local vp=C-dZ if vp<0 then
ch=nil else if av<=vp then ch=0 else local iP=(av-vp)-1 local ev local iQ=c('%.0f',iP)
local ff=b('ZRANGE',v,iQ,iQ,'WITHSCORES') local ea=ff[2] if ea then local zh=tonumber(ea) local sY if zh<2^64 then
local lc=I(zh) sY=(0<lc)and lc or 0 else sY=1/0 end ev=sY else ev=1/0 end local cg if not(ev==(1/0))then cg=ev else
cg=nil end local tc if cg then local tb if 2^53<=cg then tb=1/0 else local zi=cg-aG tb=(0<zi)and zi or 0 end tc=tb else
tc=cg end ch=tc end end local ld=ch or(-1) local fS if dZ==C then fS=ld else local fR if av<=0 then fR=0 else
local Fh=av-1 local mX local lf=c('%.0f',Fh) local iR=b('ZRANGE',v,lf,lf,'WITHSCORES') local gW=iR[2] if gW then
local oT=tonumber(gW) local th if oT<2^64 then local zj=I(oT) th=(0<zj)and zj or 0 else th=1/0 end mX=th else mX=1/0 end
local bL if not(mX==(1/0))then bL=mX else bL=nil end local fQ if bL then local tj if 2^53<=bL then tj=1/0 else
local iT=bL-aG tj=(0<iT)and iT or 0 end fQ=tj else fQ=bL end fR=fQ end fS=fR or(-1) end cM=ld hI=fS else cM=0 hI=0 end
if(not((bK-bK)==0))or((not((cM-cM)==0))or((not((hI-hI)==0))or((2^53<=bK)or(2^53<=hI))))then return end
local eb=c('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',(hZ and 1 or 0),cX,rk,C,oJ,bK,cM,hI,aG) if kd then
local gX=b('ZRANGE',v,'-1','-1','WITHSCORES') local fg=gX[2] if fg then local dq=tonumber(fg) local hJ if dq<2^64 then
local zo=I(dq) hJ=(0<zo)and zo or 0 else hJ=1/0 end if not redis.REDIS_VERSION_NUM then return end
local zr=b('PEXPIRETIME',v) if(2^53<=hJ)or(not(((0<=zr)and zr or nil)==hJ))then local tp if hJ<9223372036854775808 then
tp=c('%.0f',hJ) else tp='9223372036854775807' end local FZ=b('PEXPIREAT',v,tp) end else
if not redis.REDIS_VERSION_NUM then return end local zs=b('PEXPIRETIME',v)
if(2^53<=fg)or(not(((0<=zs)and zs or nil)==fg))then local tr if fg<9223372036854775808 then tr=c('%.0f',fg) else
tr='9223372036854775807' end local Gb=b('PEXPIREAT',v,tr) end end end ts=eb end else return end else return end else
return end else if not(((#bl)<16)and l(bl,'^[1-9]%d*$'))then return end local k,bt=ac(aO,'^([1-9]%d*)(%l*)$') if k then
if(#aO)<16 then
local aQ=(bt=='')and 1000 or((bt=='ms')and 1 or((bt=='s')and 1000 or((bt=='m')and 60000 or((bt=='h')and 3.6e6 or((bt=='d')and 8.64e7 or nil)))))
local aR=aQ and(k*aQ)or aQ if(not aR)or((aR<1)or(1e15<aR))then return end if not(aR<9e12)then return end return else
return end else return end end end return ts end, LOCKOUT=function(P,h)
local l,ac,c,b=string.find,string.match,string.format,redis.call local ju local cR=h[2] local bk=h[3] local aO=h[4]
if not bk then return end local aP=h[5] local T local u local Y if(aO=='LINE')and(not aP)then T=5 u=1 Y='LINE' else
local S local am local bX if aO then if aP then
if not(((((h[6]=='LINE')and(not h[7]))and((#aP)<16))and(aO=='COST'))and l(aP,'^[1-9]%d*$'))then return end S=7 am=aP+0
bX='LINE' else if(((h[6]=='LINE')and(not h[7]))and(aO=='COST'))and l('','^[1-9]%d*$')then return end return end else S=4
am=1 bX=nil end T=S u=am Y=bX end if not(((#bk)<16)and l(bk,'^[1-9]%d*$'))then return end local i=bk+0
local at,aF=ac(cR,'^([1-9]%d*)(%l*)$') if at then if(#cR)<16 then
local J=(aF=='')and 1000 or((aF=='ms')and 1 or((aF=='s')and 1000 or((aF=='m')and 60000 or((aF=='h')and 3.6e6 or((aF=='d')and 8.64e7 or nil)))))
local B=J and(at*J)or J if(not B)or((B<1)or(1e15<B))then return end if not(B<9e12)then return end
local C=(B<8.64e7)and 8.64e7 or B if C<B then return end local jY=h[T] if jY then return end local m=b('TIME')
local bt=(m[1]*1e6)+m[2] local q=(bt-(bt%1000))/1000 local aR=P[1] if not aR then return end
if l(aR,':reserved',1,true)then return end if not((#P)==1)then return end local x=b('GET',aR) if x then
local ka,hV,hW,bu,U=ac(x,'^O:(%d+):(%d+):(%d+):(%d+):(%d+)$') if not ka then return else if l(x,':0%d')then return else
local aa=((#bu)<17)and(bu+0) if not((#ka)<16)then return end if not((#hV)<16)then return end if not((#hW)<16)then return
end if aa then if not(aa<9e15)then return end local Z=ka+0 local t=hV+0 local y=hW+0 if(2<(#U))or(64<(U+0))then return
else local qV if y<t then qV=true else qV=1e15<aa end if qV then return else local xS=U+0 if not(y<=q)then return end
local fr local fs local ke=(0<aa)and(y+aa)or(t+B) if(q<ke)and(0<Z)then fr=Z fs=t else fr=0 fs=q end local cW=fr+u
local hY=q<(y+aa) if(not hY)and(cW<=i)then local xV=(q-y)-aa local aY=(0<xV)and xV or 0 local qY if aa==0 then qY=xS
else local pd=0 local lx=B while lx<C do local O=pd+1 local gm=2*lx pd,lx=O,gm end local ax=pd local bN=lx local eD=xS+1
qY=(eD<ax)and eD or ax end local da=qY-((aY-(aY%C))/C) local gn=(0<da)and da or 0 local aA if cW==i then
local R=B*(2^gn) aA=(R<C)and R or C else aA=0 end local rb local rc local cl=(0<aA)and(q+aA)or(fs+B)
if(q<cl)and(0<cW)then rb=cW rc=fs else rb=0 rc=q end local kg=q<(q+aA) local mh local rd if kg then local Eo=q+aA mh=0
rd=Eo else local db=i-rb local dO=rc+B mh=(0<db)and db or 0 rd=dO end local hw if(i<=mh)and(0<mh)then hw=0 else
local uK=rd-q hw=uK end local kh=hw%1000 local ib=(hw<0)and(-1)or((kh==0)and(hw/1000)or(((hw-kh)/1000)+1)) local bF
if Y=='LINE'then local rn local ro if(q<cl)and(0<cW)then rn=cW ro=fs else rn=0 ro=q end local cb local em if kg then
local ko=q+aA cb=0 em=ko else local df=i-rn local Ex=ro+B cb=(0<df)and df or 0 em=Ex end local rs local mq if cb<i then
local eL=cb+1 local bE if i<eL then bE=nil else if(eL<=cb)and(0<cb)then bE=0 else local gt=em-q bE=gt end end
local gu=bE or(-1) local rr if eL==i then rr=gu else local gw=em-q rr=gw end rs=gu mq=rr else rs=0 mq=0 end
if 2^53<=mq then return end local dT=c('1 %.0f %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',fr,ib,i,cb,rs,mq,q,u) bF=dT
else if Y then return end bF={1,fr,ib} end local di=c('%.0f',fs) local oe=c('%.0f',aA) local mw if aA==0 then mw=gn else
local pe=0 local ly=B while ly<C do local ip=pe+1 local oh=2*ly pe,ly=ip,oh end local bA=pe local uT=ly local cp=gn+1
mw=(cp<bA)and cp or bA end if not((mw*C)<2^53)then return end local gC=mw*C local cq=q+aA if not((cq+gC)<2^53)then
return end local kv=cq+gC local iq=fs+B
local ir=b('SET',aR,c('O:%s:%s:%s:%s:%d',c('%.0f',cW),di,c('%.0f',q),oe,gn),'PXAT',c('%.0f',((kv<iq)and iq or kv)))
ju=bF else local ej local rf if(q<ke)and(0<Z)then ej=Z rf=t else ej=0 rf=q end local ek local ar if hY then ek=0 ar=y+aa
else local ay=i-ej local dQ=rf+B ek=(0<ay)and ay or 0 ar=dQ end local aB if i<u then aB=nil else if(u<=ek)and(0<ek)then
aB=0 else local bP=ar-q aB=bP end end local el if aB then if 2^53<=aB then return end local eJ=aB%1000
local uO=(aB<0)and(-1)or((eJ==0)and(aB/1000)or(((aB-eJ)/1000)+1)) el=uO else el=-1 end local nZ=(el==0)and 1 or el
local sa if Y=='LINE'then local fE local rP if(q<ke)and(0<Z)then fE=Z rP=t else fE=0 rP=q end local bf local dy
if hY then bf=0 dy=y+aa else local on=i-fE local dU=rP+B bf=(0<on)and on or 0 dy=dU end local cH if i<u then cH=nil else
if(u<=bf)and(0<bf)then cH=0 else local aI=dy-q cH=aI end end local yw=cH or(-1) local rY local bq if bf<i then
local uX=bf+1 local dz if i<uX then dz=nil else if(uX<=bf)and(0<bf)then dz=0 else local ky=dy-q dz=ky end end
local eR=dz or(-1) local rX if uX==i then rX=eR else local eS=dy-q rX=eS end rY=eR bq=rX else rY=0 bq=0 end
if(2^53<=yw)or(2^53<=bq)then return end
local EJ=c('0 %.0f %.0f %.0f %.0f %.0f %.0f %.0f 0 %.0f 0 0',fr,nZ,i,bf,yw,rY,bq,q) sa=EJ else if Y then return end
sa={0,fr,nZ} end ju=sa end end end else return end end end else local ot=u<=i if ot then local cK if u==i then
cK=(B<C)and B or C else cK=0 end local sh local bR=(0<cK)and(q+cK)or(q+B) if q<bR then sh=u else sh=0 end
local aJ=q<(q+cK) local mH local sj if aJ then local aK=q+cK mH=0 sj=aK else local dV=i-sh mH=(0<dV)and dV or 0 sj=q+B
end local cd if(i<=mH)and(0<mH)then cd=0 else local aL=sj-q cd=aL end local yL=cd%1000
local kF=(cd<0)and(-1)or((yL==0)and(cd/1000)or(((cd-yL)/1000)+1)) local sH if Y=='LINE'then local sv if q<bR then sv=u
else sv=0 end local bJ local mL if aJ then local oy=q+cK bJ=0 mL=oy else local gN=i-sv bJ=(0<gN)and gN or 0 mL=q+B end
local cf local mO if bJ<i then local vf=bJ+1 local mN if i<vf then mN=nil else if(vf<=bJ)and(0<bJ)then mN=0 else
local vg=mL-q mN=vg end end local bB=mN or(-1) local sE if vf==i then sE=bB else local gO=mL-q sE=gO end cf=bB mO=sE
else cf=0 mO=0 end if 2^53<=mO then return end
local oD=c('1 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f 0 %.0f',kF,i,bJ,cf,mO,q,u) sH=oD else if Y then return end sH={1,0,kF}
end local vj=c('%.0f',u) local EX=c('%.0f',cK) local aD if cK==0 then aD=0 else local pf=0 local lD=B while lD<C do
local kP=pf+1 local gP=2*lD pf,lD=kP,gP end local kQ=pf local oJ=lD aD=(1<kQ)and 1 or kQ end if not((aD*C)<2^53)then
return end local kR=aD*C local kS=q+cK if not((kS+kR)<2^53)then return end local iK=kS+kR local iL=q+B
local oK=b('SET',aR,c('O:%s:%s:%s:%s:0',vj,c('%.0f',q),c('%.0f',q),EX),'PXAT',c('%.0f',((iK<iL)and iL or iK))) ju=sH
else local sV if Y=='LINE'then sV=c('0 0 -1 %.0f %.0f -1 0 0 0 %.0f 0 0',i,i,q) else if Y then return end sV={0,0,(-1)}
end ju=sV end end else return end else return end return ju end,
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
