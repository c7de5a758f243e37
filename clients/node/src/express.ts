import { AsyncLocalStorage } from 'node:async_hooks'
import { RateLimitError } from './errors.js'
import type { Limiter } from './limiter.js'
import type { Logger } from './log.js'
import type { AnyPolicy } from './policy.js'
import { type Asked, Store, type StoreCounters, type StoreOptions } from './store.js'

// No type of express or express-rate-limit is named, which an application with a Limiter only does not have.

/** What this package uses of a response of Express. */
export type Response = {
  headersSent: boolean
  set(headers: Record<string, string>): unknown
  status(code: number): { type(type: string): { send(body: string): unknown } }
}

/** One limit of a middleware: `policy` may be a function of the request, as `key` (whom to limit) and `cost` are. */
export type RequestLimit<Request> = {
  policy: AnyPolicy | ((request: Request) => AnyPolicy | Promise<AnyPolicy>)
  key: (request: Request) => string | number | Promise<string | number>
  cost?: (request: Request) => number | Promise<number>
}

type Settings = {
  windowMs: number
  limit: unknown
  skipFailedRequests?: boolean
  skipSuccessfulRequests?: boolean
  passOnStoreError?: boolean
  logger?: Logger
}

/** The hits that are counted, and when more is available. */
export type Hits = { totalHits: number; resetTime: Date | undefined }

/** A middleware of Express: all limits are charged, or none. A denial is 429 with a body of the type problem+json. */
export function limit<Request = any>(
  limiter: Limiter,
  limits: RequestLimit<Request>[],
): (request: Request, response: Response, next: (error?: unknown) => void) => Promise<void> {
  for (const { policy } of limits) if (typeof policy !== 'function') limiter.fixed(policy)
  if (limits.length === 0) throw new TypeError('limits: expected at least one')
  return async (request, response, next) => {
    try {
      const asked = limits.map(async ({ policy, key, cost }): Promise<[AnyPolicy, string | number, { cost?: number }]> => {
        return [typeof policy === 'function' ? await policy(request) : policy, await key(request), { cost: await cost?.(request) }]
      })
      const found = await limiter.checkAll(await Promise.all(asked))
      response.set(found.headers())
      if (found.allowed) return next()
      const type = 'https://iana.org/assignments/http-problem-types#quota-exceeded'
      const violated = found.limits.flatMap(({ allowed, policy }) => (allowed ? [] : [policy.label]))
      send(response, { type, title: 'Quota exceeded', status: 429, 'violated-policies': violated })
    } catch (error) {
      next(error)
    }
  }
}

/** For `app.use`, after the routes: the response to a RateLimitError, as the other clients write it. It hands every other error on. */
export function problem(error: unknown, _request: unknown, response: Response, next: (error: unknown) => void): void {
  if (!(error instanceof RateLimitError) || response.headersSent) return next(error)
  response.set(error.headers)
  send(response, { type: 'about:blank', title: error.title, status: error.status })
}

function send(response: Response, body: { status: number; [name: string]: unknown }): void {
  response.status(body.status).type('application/problem+json').send(JSON.stringify(body))
}

/** For the option `store` of express-rate-limit. */
export class RedisRlStore {
  /** The keys are those of a server that others use too. */
  localKeys = false
  prefix: string | undefined
  readonly counters: StoreCounters
  #store: Store
  #windowMs = 0
  #limit: unknown = 0

  /**
   * What increment() charged for the request at hand, for decrement(), which is told the key only. One asynchronous
   * function of express-rate-limit calls both, so what increment() enters here is there in decrement().
   */
  #charges = new AsyncLocalStorage<{ key: string; charged: boolean; at: number }>()
  /** Only then: it slows every promise of the process. */
  #givesBack = false

  constructor(options: StoreOptions) {
    this.#store = new Store(options)
    this.counters = this.#store.counters
    this.prefix = options.prefix
  }

  init({ windowMs, limit, skipFailedRequests, skipSuccessfulRequests, passOnStoreError, logger }: Settings): void {
    this.#windowMs = windowMs
    this.#limit = limit
    this.#givesBack = Boolean(skipFailedRequests || skipSuccessfulRequests)
    if (passOnStoreError) this.#store.passErrors()
    if (logger) this.#store.limiter.log.logger = logger
    if (typeof limit === 'number') this.#store.register(this.#asked(''))
  }

  async increment(key: string): Promise<Hits> {
    const charge = { key, charged: false, at: 0 }
    // Before the first await: what is entered later is not seen by the caller.
    if (this.#givesBack) this.#charges.enterWith(charge)
    const { hits, ms, charged, at } = await this.#store.count(this.#asked(key))
    Object.assign(charge, { charged, at })
    return { totalHits: hits, resetTime: timeIn(ms) }
  }

  async decrement(key: string): Promise<void> {
    const charge = this.#charges.getStore()
    const own = charge?.key === key ? charge : undefined
    // express-rate-limit also takes back a request that was denied. FIXED counted that one, the others did not.
    if (own?.charged !== false) await this.#store.refund(this.#asked(key), own?.at)
  }

  async resetKey(key: string): Promise<void> {
    await this.#store.reset(this.#asked(key))
  }

  #asked(key: string): Asked {
    return { who: key, windowMs: this.#windowMs, limit: this.#limit }
  }
}

/** `ms`: undefined for never. */
function timeIn(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(Date.now() + ms)
}
