// The ways to connect: libraries and topologies. ALL_CLIENTS=1 adds older versions and other types of replies.
import { once } from 'node:events'
import * as ioredis from 'ioredis'
import * as ioredis5 from 'ioredis5'
import * as redis from 'redis'
import * as redis5 from 'redis5'

const more = (connections) => (process.env.ALL_CLIENTS ? connections : {})

const nodeRedis =
  (create, always) =>
  (port, { noReconnection, ...options } = {}) => {
    const socket = { host: '127.0.0.1', port, ...(noReconnection && { reconnectStrategy: false }) }
    return create({ socket, ...always, ...options })
  }
const ioRedis =
  ({ Redis }, always) =>
  (port, { noReconnection, ...options } = {}) => {
    const once = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false }
    return new Redis(port, '127.0.0.1', { ...once, ...(noReconnection && { retryStrategy: () => null }), ...always, ...options })
  }

/**
 * Clients of one server, by its port.
 *
 * redis 6 and ioredis 6 speak RESP3 if not told otherwise, the older ones RESP2.
 */
export const SINGLES = {
  'redis 6': nodeRedis(redis.createClient),
  'redis 6, a pool': nodeRedis(redis.createClientPool),
  'ioredis 6': ioRedis(ioredis),
  'ioredis 6, numbers as text': ioRedis(ioredis, { stringNumbers: true }),
  ...more({
    'redis 5': nodeRedis(redis5.createClient),
    'redis 5, RESP3': nodeRedis(redis5.createClient, { RESP: 3 }),
    'ioredis 6, RESP3 replies': ioRedis(ioredis, { protocol: 3, replyMapping: 'resp3' }),
    'ioredis 5': ioRedis(ioredis5),
  }),
}

const nodeRedisCluster = (create) => (ports, defaults) =>
  create({ rootNodes: ports.map((port) => ({ socket: { host: '127.0.0.1', port } })), defaults })
const ioCluster = ({ Cluster }) => (ports, redisOptions) =>
  new Cluster(ports.map((port) => ({ host: '127.0.0.1', port })), { retryDelayOnFailover: 0, redisOptions })

/** Clients of a cluster, by the ports of its nodes. */
export const CLUSTERS = {
  'redis 6': nodeRedisCluster(redis.createCluster),
  'ioredis 6': ioCluster(ioredis),
  ...more({ 'redis 5': nodeRedisCluster(redis5.createCluster), 'ioredis 5': ioCluster(ioredis5) }),
}

/** The client, when it is connected. One of ioredis connects by itself. */
export async function connected(client) {
  if (client.call) {
    if (client.status !== 'ready') await once(client, 'ready')
  } else await client.connect()
  return client
}

export function close(client) {
  if (client.call) client.disconnect()
  else if (client.isOpen) client.destroy()
}
