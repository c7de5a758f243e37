// What a limiter and the stores of all frameworks take, and what they return.
import type { Policy } from './index.js'

/** Sends a command and resolves with its reply. `key` decides the node of a cluster. */
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
/** A client of `@upstash/redis` with `retry: { retries: 0 }`. */
type Upstash = { eval: Function; evalsha: Function }

/** What is logged to: the console, for example. */
export type Logger = { warn(text: string): void; error(text: string): void }

export type Algorithm = 'FIXED' | 'WINDOW' | 'SLIDING' | 'ROLLING' | 'COUNTER' | 'TOKEN' | 'LEAKY' | 'GCRA' | 'LOCKOUT' | 'LEASE'

/** A limit: the words of the command reference. */
export type PolicyOptions = {
  algorithm: Algorithm
  /** `'500ms'`, `'10s'`, `'5m'`, `'1h'`, `'1d'`; without a unit it is seconds. FIXED also takes `'day'`, `'week'`, `'month'`, `'year'`. */
  window: string | number
  /** How many units a window allows. 0 denies everything. */
  limit: number
  /** How much may pass at once (TOKEN, LEAKY, GCRA). The limit if not given. */
  burst?: number
  /** Where windows start (FIXED), in Unix seconds. */
  anchor?: number
  /** The length of the first lock (LOCKOUT): `'1m'`. The window if not given. */
  block?: string | number
  /** The length of the longest lock (LOCKOUT): `'1d'`. A day, or the first lock if that is longer, if not given. */
  max?: string | number
  /** Decides and counts, and denies nothing. */
  shadow?: boolean
  /** Its part of the keys, and its name in the headers. `token:60000ms` in the keys and `token` in the headers if not given. */
  name?: string
}

/** A text such as `'TOKEN 1m 60 BURST 10'`, options, or a Policy. */
export type AnyPolicy = string | PolicyOptions | Policy

export type CheckOptions = {
  /** The units that the request takes: 1 if not given. 0 looks. */
  cost?: number
  /** Charges as much of the cost as fits: `charged` says how much. */
  partial?: boolean
  /** Charges whatever the limit says. */
  always?: boolean
  /** The holder of a LEASE. */
  id?: string
  /** The charge is a reservation, which comes back after `ttl` unless it is settled. Not without the module. */
  reserve?: { id: string; ttl: string | number }
}

/** What a charge turned out to cost: of `reserved` units at the server's time `at`, or of the reservation of this id. */
export type Settlement = { actual: number; reserved?: number; at?: number; reservation?: string }

/** The figures of FULL in the command reference. Times are milliseconds; undefined is never. */
export type Figures = {
  readonly allowed: boolean
  readonly count: number
  /** What `remaining` counts down from: the burst if given, else the limit. */
  readonly limit: number
  /** The cost that would be allowed right now. */
  readonly remaining: number
  /** 0 if it is allowed. */
  readonly retryAfterMs: number | undefined
  /** Until `remaining` grows, and until the whole limit is available. */
  readonly nextMs: number | undefined
  readonly resetMs: number | undefined
  /** LEAKY: how long to hold the request. */
  readonly delayMs: number
  /** The time of the server that decided, in Unix milliseconds. */
  readonly at: number
  /** Whether shadow mode allowed what the limit denies. */
  readonly isShadow: boolean
  /** The units that this call charged. */
  readonly charged: number
  /** Who decided: the server, the limit of this process, or `unavailable`. With the last two, nothing is known of what remains. */
  readonly source: 'server' | 'local' | 'allow' | 'deny'
  readonly policy: Policy
}

/** A lease that is held until it is released, or until its window ends. Nothing renews it by itself. */
export type Lease = {
  readonly id: string
  readonly decision: import('./index.js').Decision
  readonly allowed: boolean
  /** False if it has ended: another holder may have been allowed. */
  renew(): Promise<boolean>
  release(): Promise<boolean>
}

export type LimiterOptions = {
  /** A connected client, or a function that sends a command. */
  client: NodeRedis | NodeRedisCluster | IoRedis | Upstash | SendCommand
  /** What the keys in Redis begin with: `'app:'`, in a cluster `'{app}:'`. Empty if not given. */
  prefix?: string
  /**
   * What a request gets if the server cannot decide: an error with status 503 (if not given), or it is allowed, or denied, or
   * limited by this process. An error about the call (a wrong policy, a key of another type) has status 500 and is never
   * allowed.
   */
  unavailable?: 'error' | 'allow' | 'deny' | 'local'
  /** With `local`: how many processes share each limit. Each allows limit ÷ instances, and at least 1, in a window. */
  instances?: number
  /** How many milliseconds a request waits for the server at most. 100 if not given. */
  timeout?: number
  /** Without the module, Lua scripts decide; with `required`, each request is an error with status 500. */
  module?: 'required'
  /** Keys have an HMAC of the caller (32 characters) instead of the caller. All processes need the same secret. */
  secret?: string
  /** The console if not given. */
  logger?: Logger
}

/** The options of a limiter and of a policy. Window and limit are those of the framework. */
export type StoreOptions = LimiterOptions &
  Partial<Pick<PolicyOptions, 'burst' | 'block' | 'max' | 'name'>> & {
    /** `FIXED` if not given. */
    algorithm?: Exclude<Algorithm, 'LEASE'>
    /** What the keys begin with, in place of the policy's name. Each limiter needs its own. */
    prefix?: string
  }

/** What happened since the start. */
export type Counters = {
  /** The server allowed the request. */
  allowed: number
  /** The server denied the request. */
  denied: number
  /** The server could not decide, and the limit of this process did. */
  local: number
  /** The server could not decide, and the request was allowed. */
  failedOpen: number
  /** The server could not decide, and the request was not allowed. */
  failedClosed: number
  /** The server rejected the call, which was not allowed: the configuration is wrong. */
  faults: number
  /** Calls without a reply, and error replies, by code: `WRONGTYPE`, `ERR`, `timeout`, `connection` … */
  errors: Record<string, number>
}

export type StoreCounters = Counters & {
  /** Requests that were to be given back and stay charged. */
  unrefunded: number
}
