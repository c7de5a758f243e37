import type { RequestHandler } from 'express'
import type { ClientRateLimitInfo, Options, RateLimitRequestHandler, Store, rateLimit } from 'express-rate-limit'

export type Algorithm = 'FIXED' | 'SLIDING' | 'ROLLING' | 'COUNTER' | 'TOKEN' | 'LEAKY' | 'GCRA'

/** Sends a command and resolves with its reply. `key` is the key that decides the node of a cluster. */
export type SendCommand = (key: string, readOnly: boolean, words: string[]) => Promise<unknown>

/** A client of `redis` (createClient, createClientPool). */
type NodeRedis = { sendCommand(words: string[]): Promise<unknown> }
/** A client of `redis` (createCluster). */
type NodeRedisCluster = {
  masters: unknown
  sendCommand(key: string | undefined, readOnly: boolean | undefined, words: string[]): Promise<unknown>
}
/** A client of `ioredis` (Redis, Cluster). */
type IoRedis = { isCluster: boolean; call(command: string, ...words: string[]): Promise<unknown> }

export type StoreOptions = {
  /** A connected client, or a function that sends a command. */
  client: NodeRedis | NodeRedisCluster | IoRedis | SendCommand
  /** `FIXED` if not given. */
  algorithm?: Algorithm
  /** How much may pass at once (TOKEN, LEAKY, GCRA). The limit if not given. */
  burst?: number
  /** What the keys in Redis begin with. `rl:<algorithm>:` if not given. Each limiter needs its own. */
  prefix?: string
  /** How many milliseconds to wait for a reply, which is then an error. As long as the client waits if not given. */
  timeout?: number
}

export declare class RedisRlStore implements Store {
  localKeys: boolean
  prefix: string
  constructor(options: StoreOptions)
  init(options: Options): void
  increment(key: string): Promise<ClientRateLimitInfo>
  decrement(key: string): Promise<void>
  resetKey(key: string): Promise<void>
  get(key: string): Promise<ClientRateLimitInfo | undefined>
  shutdown(): void
}

/** Creates a limiter whose `limit` is a function: `perRequest(rateLimit, { limit: (request) => …, store })`. */
export declare function perRequest(
  limit: typeof rateLimit,
  options: Partial<Options>,
): RequestHandler & Pick<RateLimitRequestHandler, 'resetKey' | 'getKey'>
