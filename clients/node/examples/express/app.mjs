import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { createClient } from 'redis'
import { RedisRlStore, problem } from 'rate-limit-redis-rl'

const client = createClient({ url: 'redis://localhost:6379' })
client.on('error', () => {}) // the store logs it; a client of node-redis without a listener ends the process
client.connect().catch(() => {}) // not awaited, so that the application starts without the server

const app = express()
app.use(rateLimit({
  windowMs: 60_000,
  limit: 100,
  standardHeaders: 'draft-8',
  store: new RedisRlStore({ client, algorithm: 'TOKEN', prefix: 'api:' }),
  handler: problem.denied, // the body of 429
}))
app.get('/', (request, response) => response.send('hello\n'))
app.use(problem.error) // the bodies of 503 and 500, after the routes
app.listen(3000)
