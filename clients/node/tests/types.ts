// Compiled only: the clients and the frameworks accept the types of this package.
import fastifyRateLimit from '@fastify/rate-limit'
import { ThrottlerModule } from '@nestjs/throttler'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import fastify from 'fastify'
import { rateLimiter } from 'hono-rate-limiter'
import { Cluster, Redis } from 'ioredis'
import { createClient, createClientPool, createCluster } from 'redis'
import { redisRlStore } from '../fastify.js'
import { RedisRlStore as HonoStore } from '../hono.js'
import { Limiter, RedisRlStore } from '../index.js'
import { RedisRlThrottlerStorage } from '../nestjs.js'

const app = express()
const store = new RedisRlStore({ client: createClient(), algorithm: 'TOKEN', burst: 5 })
app.use(rateLimit({ limit: 10, store }))
new RedisRlStore({ client: createClientPool() })
new RedisRlStore({ client: createCluster({ rootNodes: [] }) })
new RedisRlStore({ client: new Redis() })
new RedisRlStore({ client: new Cluster([], { retryDelayOnFailover: 0 }), prefix: 'login:' })
new RedisRlStore({ client: async (_key, _readOnly, words) => words.length })
// @ts-expect-error: LEASE is not for requests
new RedisRlStore({ client: createClient(), algorithm: 'LEASE' })

const limits = new Limiter({ client: new Redis(), onError: (_error, outcome) => outcome === 'leasesLost' })
const counted: number = limits.counters.leasesLost + store.counters.unrefunded
// @ts-expect-error: a store has no leases
counted + store.counters.leasesLost

fastify().register(fastifyRateLimit, { max: 10, store: redisRlStore({ client: new Redis(), algorithm: 'ROLLING' }) })
rateLimiter({ limit: 10, keyGenerator: () => '', store: new HonoStore({ client: new Redis() }) })
const throttlers = [{ ttl: 60_000, limit: 10 }]
ThrottlerModule.forRoot({ throttlers, storage: new RedisRlThrottlerStorage({ client: new Redis() }) })
