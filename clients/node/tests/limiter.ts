// Compiled only, here and where the package is installed without a framework: the clients accept the types of the package.
import { Cluster, Redis } from 'ioredis'
import { type Decision, Limiter, Policy, RedisRlStore, isUnavailable } from 'rate-limit-redis-rl'
import { createClient, createClientPool, createCluster } from 'redis'

const store = new RedisRlStore({ client: createClient(), algorithm: 'TOKEN', burst: 5 })
new RedisRlStore({ client: createClientPool() })
new RedisRlStore({ client: createCluster({ rootNodes: [] }) })
new RedisRlStore({ client: new Redis() })
new RedisRlStore({ client: new Cluster([], { retryDelayOnFailover: 0 }), prefix: 'login:' })
new RedisRlStore({ client: async (_key, _readOnly, words) => words.length })
// @ts-expect-error: LEASE is not for requests
new RedisRlStore({ client: createClient(), algorithm: 'LEASE' })

const limits = new Limiter({ client: new Redis(), unavailable: 'local', instances: 2 })
const counted: number = limits.counters.local + store.counters.unrefunded
const decision: Promise<Decision> = limits.check(new Policy('TOKEN 1m 60'), 'user:42', { cost: 2 })
decision.catch((error) => isUnavailable(error))
// @ts-expect-error: a limiter gives nothing back by itself
counted + limits.counters.unrefunded
// @ts-expect-error: a policy is a text
new Policy({ algorithm: 'TOKEN', window: '1m', limit: 60 })
export { decision }
