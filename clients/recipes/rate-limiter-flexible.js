// rate-limiter-flexible. `client` is that of the example for ioredis in docs/clients.md. `insuranceLimiter` decides after every
// error, also of a wrong call. Use `consume` and `delete` only.
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'

const limiter = new RateLimiterRedis({
  storeClient: client, // with a client of node-redis also useRedisPackage: true
  points: 10,
  duration: 60,
  inMemoryBlockOnConsumed: 11, // nothing is sent for a caller until its time has come; points + 1
  insuranceLimiter: new RateLimiterMemory({ points: 10, duration: 60 }),
  customIncrTtlLuaScript: `
    local reply = redis.call('RL.COUNTER', KEYS[1], ARGV[2], ARGV[3], 'COST', ARGV[1], 'FULL')
    local is = {}
    for i = 1, #reply, 2 do is[reply[i]] = reply[i + 1] end
    if is.allowed == 1 then return {is.limit - is.remaining, is.reset_ms} end
    return {is.limit + 1, is.retry_after_ms}`,
})
