// Compiled only, here and where the package is installed: the clients and the frameworks accept its types.
import fastifyRateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit'
import { ThrottlerModule } from '@nestjs/throttler'
import express from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import fastify from 'fastify'
import { rateLimiter, type Store as HonoContract } from 'hono-rate-limiter'
import { Redis } from 'ioredis'
import { RedisRlStore, problem } from 'rate-limit-redis-rl'
import { redisRlStore } from 'rate-limit-redis-rl/fastify'
import { RedisRlStore as HonoStore } from 'rate-limit-redis-rl/hono'
import { RedisRlThrottlerStorage } from 'rate-limit-redis-rl/nestjs'

const client = new Redis()
const app = express()
app.use(rateLimit({ limit: 10, store: new RedisRlStore({ client }) }))
app.use(problem)
fastify().register(fastifyRateLimit, { max: 10, store: redisRlStore({ client, algorithm: 'ROLLING' }) })
rateLimiter({ limit: 10, keyGenerator: () => '', store: new HonoStore({ client }) })
const throttlers = [{ ttl: 60_000, limit: 10 }]
ThrottlerModule.forRoot({ throttlers, storage: new RedisRlThrottlerStorage({ client }) })

// A method that a framework adds to its contract is an error here. The stores lack what is named.
type Lacks<Contract, Ours> = Record<Exclude<keyof Contract, keyof Ours>, true>
export const ofExpress: Lacks<Store, RedisRlStore> = { get: true, resetAll: true, shutdown: true }
export const ofHono: Lacks<HonoContract, HonoStore> = { get: true, resetAll: true, shutdown: true }
const fastifyStore = new (redisRlStore({ client }))({})
export const ofFastify: Lacks<FastifyRateLimitStore, typeof fastifyStore> = {}
