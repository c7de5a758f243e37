// Fastify: 100 requests a minute for each address, and 5 logins. clients/node/README.md says how to install the package;
// then: npm install fastify @fastify/rate-limit ioredis
import fastifyRateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { redisRlStore } from 'rate-limit-redis-rl/fastify'

// A command that is sent again may be charged twice.
const client = new Redis('redis://localhost:6379', { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false })
client.on('error', () => {}) // the store logs it

const app = Fastify({ logger: true })
await app.register(fastifyRateLimit, {
  max: 100,
  timeWindow: '1 minute',
  store: redisRlStore({ client, algorithm: 'TOKEN', prefix: 'api:' }),
})
app.get('/', async () => 'hello\n')
app.post('/login', { config: { rateLimit: { max: 5 } } }, async () => 'welcome\n')
await app.listen({ port: 3000 })
