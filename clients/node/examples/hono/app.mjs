// Hono: 100 requests a minute for each address. clients/node/README.md says how to install the package; then:
// npm install hono @hono/node-server hono-rate-limiter ioredis
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { Redis } from 'ioredis'
import { RedisRlStore } from 'rate-limit-redis-rl/hono'

// A command that is sent again may be charged twice.
const client = new Redis('redis://localhost:6379', { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false })
client.on('error', () => {}) // the store logs it

const app = new Hono()
app.use(rateLimiter({
  windowMs: 60_000,
  limit: 100,
  keyGenerator: (context) => getConnInfo(context).remote.address ?? 'unknown',
  store: new RedisRlStore({ client, algorithm: 'TOKEN', prefix: 'api:' }),
}))
app.get('/', (context) => context.text('hello\n'))
serve({ fetch: app.fetch, port: 3000 })
