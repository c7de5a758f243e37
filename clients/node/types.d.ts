// What the stores of all frameworks share.

export type Algorithm = 'FIXED' | 'WINDOW' | 'SLIDING' | 'ROLLING' | 'COUNTER' | 'TOKEN' | 'LEAKY' | 'GCRA' | 'LOCKOUT'

/** Sends a command (PING too) and resolves with its reply. `key` decides the node of a cluster. */
export type SendCommand = (key: string, readOnly: boolean, words: string[]) => Promise<unknown>

/** A client of `redis` (createClient, createClientPool). */
type NodeRedis = { sendCommand(words: string[]): Promise<unknown> }
/** A client of `redis` (createCluster). */
type NodeRedisCluster = {
  masters: unknown
  sendCommand(key: string | undefined, readOnly: boolean | undefined, words: string[]): Promise<unknown>
}
/** A client of `ioredis` (Redis; Cluster with `retryDelayOnFailover: 0`). */
type IoRedis = { isCluster: boolean; call(command: string, ...words: string[]): Promise<unknown> }

/** What is logged to: the console, for example. */
export type Logger = { warn(text: string): void; error(text: string): void }
/** A client of `@upstash/redis` with `retry: { retries: 0 }`. */
type Upstash = { eval: Function; evalsha: Function; ping: Function }

export type StoreOptions = {
  /** A connected client, or a function that sends a command. */
  client: NodeRedis | NodeRedisCluster | IoRedis | Upstash | SendCommand
  /** `FIXED` if not given. */
  algorithm?: Algorithm
  /** The length of the first lock (LOCKOUT): `'1m'`. The window if not given. */
  block?: string
  /** The length of the longest lock (LOCKOUT): `'1d'`. A day, or the first lock if that is longer, if not given. */
  max?: string
  /** How much may pass at once (TOKEN, LEAKY, GCRA). The limit if not given. */
  burst?: number
  /** What the keys in Redis begin with. `rl:<algorithm>:` if not given. Each limiter needs its own. */
  prefix?: string
  /** How many milliseconds a request waits for the server at most. 100 if not given. */
  timeout?: number
  /**
   * Whether a request is allowed if the server cannot decide. If not, it is an error with status 503. `false` if not
   * given. An error about the call (a wrong policy, a key of another type, no module) has status 500 and is never
   * allowed.
   */
  failOpen?: boolean
  /** Without the module, the Lua scripts decide; with `required`, each request is an error with status 500. */
  module?: 'required'
  /** Keys have an HMAC of the caller instead of the caller (an address). All processes need the same secret. */
  secret?: string
  /** Called for each request without a decision, and for each one that could not be given back. */
  onError?: (error: unknown, outcome: Outcome) => void
}

/** What happened, by the name of its counter. The last two are of a Limiter only. */
export type Outcome = 'failedOpen' | 'failedClosed' | 'faults' | 'unrefunded' | 'unsettled' | 'leasesLost'

/** What happened since the start. */
export type Counters = {
  /** The server allowed the request. */
  allowed: number
  /** The server denied the request. */
  denied: number
  /** The server could not decide, and the request was allowed. */
  failedOpen: number
  /** The server could not decide, and the request was not allowed. */
  failedClosed: number
  /**
   * The server rejected the call: the configuration is wrong. If the call was for a request, that was not allowed. A
   * refund, a settlement or a renewal that was rejected is counted here too.
   */
  faults: number
  /** Calls without a reply, and error replies, by code: `WRONGTYPE`, `ERR`, `timeout`, `connection` … */
  errors: Record<string, number>
}

export type StoreCounters = Counters & {
  /** Requests that were to be given back and stay charged. */
  unrefunded: number
}
