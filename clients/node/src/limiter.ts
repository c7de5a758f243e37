// Checks, and what belongs to them: the same words on every framework and outside of one.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Call, type Limit, isOfSeveral } from './call.js'
import type { Client } from './client.js'
import { type Decision, type Decisions, decided, decisions, undecided } from './decision.js'
import { RateLimitError, isUnavailable } from './errors.js'
import { bounded } from './keys.js'
import { Link } from './link.js'
import { Local } from './local.js'
import { type Counters, Log, type Logger } from './log.js'
import { type AnyPolicy, Policy, milliseconds } from './policy.js'

/** A longer timer of Node.js ends at once. */
export const LONGEST_TIMER = 2_147_483_647

export type LimiterOptions = {
  /** A connected client, or a function that sends a command. */
  client: Client
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

/** A lease that is held until it is released, or until its window ends. Nothing renews it by itself. */
export type Lease = {
  readonly id: string
  readonly decision: Decision
  readonly allowed: boolean
  /** False if it has ended: another holder may have been allowed. */
  renew(): Promise<boolean>
  release(): Promise<boolean>
}

/** A policy, whom to limit, and options. */
export type Asked = [policy: AnyPolicy, who: string | number, options?: CheckOptions]

/** The option, what it must be, and whether a value is that. */
const OPTIONS: Record<string, [string, (value: any) => boolean]> = {
  // client.ts says what it accepts.
  client: ['', () => true],
  prefix: ['a text of at most 256 bytes', (value) => typeof value === 'string' && Buffer.byteLength(value) <= 256],
  unavailable: ["'error', 'allow', 'deny' or 'local'", (value) => ['error', 'allow', 'deny', 'local'].includes(value)],
  instances: ['an integer of at least 1', (value) => Number.isSafeInteger(value) && value >= 1],
  timeout: ['an integer of milliseconds from 1 to 3600000', (value) => Number.isSafeInteger(value) && value >= 1 && value <= 3_600_000],
  module: ["'required'", (value) => value === 'required'],
  secret: ['a text that is not empty', (value) => typeof value === 'string' && value !== ''],
  logger: ['an object with warn and error', (value) => typeof value?.warn === 'function' && typeof value?.error === 'function'],
}

/** Throws a TypeError that names the option which is wrong. */
function validate(options: LimiterOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(OPTIONS, name)) throw new TypeError(`${name}: there is no such option`)
    const [expected, isAccepted] = OPTIONS[name]
    if (value !== undefined && !isAccepted(value)) throw new TypeError(`${name}: expected ${expected}`)
  }
  if (options.unavailable === 'local' && options.instances === undefined) {
    throw new TypeError("instances: expected how many processes share the limits, with unavailable: 'local'")
  }
}

/** The limits that are fixed when the program starts, by client and by what their keys begin with: two would share a counter. */
const registered = new WeakMap<object, Map<string, string>>()

/**
 * Checks requests against limits.
 *
 * ```js
 * const limiter = new Limiter({ client, prefix: 'app:' })
 * const { allowed } = await limiter.check('TOKEN 1m 60', 'user:42')
 * ```
 */
export class Limiter {
  /** @internal */
  readonly log: Log = new Log()
  readonly counters: Counters = this.log.counters
  /** @internal */
  unavailable: 'error' | 'allow' | 'deny' | 'local'
  #client: Client
  #prefix: string
  #secret: string | undefined
  #link: Link
  #local: Local | undefined
  #isAway = false

  constructor(options: LimiterOptions) {
    validate(options)
    const { client, prefix = '', unavailable = 'error', instances, timeout = 100, module, secret, logger } = options
    this.unavailable = unavailable
    this.#client = client
    this.#prefix = prefix
    this.#secret = secret
    if (unavailable === 'local') this.#local = new Local(Number(instances))
    if (logger) this.log.logger = logger
    this.#link = new Link(client, timeout, this.log, module === 'required')
  }

  /** The key in Redis: `<prefix><name>:{<who>}`. */
  key(policy: AnyPolicy, who: string | number): string {
    // Callers whose name is undefined would share one limit.
    if ((typeof who !== 'string' && !Number.isFinite(who)) || who === '') {
      throw new TypeError('who: expected a text that is not empty, or a finite number')
    }
    const shown = this.#secret === undefined ? String(who) : createHmac('sha256', this.#secret).update(String(who)).digest('hex').slice(0, 32)
    return `${this.#prefix}${Policy.of(policy).keys}{${bounded(shown)}}`
  }

  /** A policy that is fixed when the program starts. A TypeError if another one has its keys and other words. */
  fixed(policy: AnyPolicy): Policy {
    const found = Policy.of(policy)
    const keys = this.#prefix + found.keys
    const words = [found.algorithm, ...found.words].join(' ')
    const known = registered.get(this.#client) ?? new Map<string, string>()
    registered.set(this.#client, known)
    const other = known.get(keys) ?? words
    if (other !== words) throw new TypeError(`two limits share the keys ${keys}*: ${other} and ${words}: give one of them a name`)
    known.set(keys, words)
    return found
  }

  /** Charges a request if the limit allows it. */
  async check(policy: AnyPolicy, who: string | number, options?: CheckOptions): Promise<Decision> {
    return (await this.#decide('CHECK', [this.#limit('CHECK', policy, who, options)])).limits[0]
  }

  /** Charges all limits, or none, in one decision: 1 to 64. In a cluster the prefix needs a hash tag. */
  async checkAll(limits: Asked[]): Promise<Decisions> {
    if (limits.length < 1 || limits.length > 64) throw new TypeError('limits: expected 1 to 64')
    return this.#decide('MULTI', limits.map((each) => this.#limit('MULTI', ...each)))
  }

  /**
   * A part of one's own, and what others leave of the whole: 2 to 8 limits, the narrowest first, of FIXED, WINDOW, COUNTER,
   * ROLLING or TOKEN. The first that allows pays: it is charged, and each one after it.
   */
  async share(limits: Asked[]): Promise<Decisions> {
    if (limits.length < 2 || limits.length > 8) throw new TypeError('limits: expected 2 to 8')
    return this.#decide('SHARE', limits.map((each) => this.#limit('SHARE', ...each)))
  }

  /** What `check` would reply. Changes nothing. */
  async peek(policy: AnyPolicy, who: string | number, options?: CheckOptions): Promise<Decision> {
    return (await this.#decide('PEEK', [this.#limit('PEEK', policy, who, options)])).limits[0]
  }

  /** Checks until the request is allowed. A RangeError if it never is, or not within `timeout` milliseconds. */
  async wait(policy: AnyPolicy, who: string | number, options: CheckOptions & { timeout?: number; signal?: AbortSignal } = {}): Promise<Decision> {
    const { timeout = Infinity, signal, ...asked } = options
    const until = performance.now() + timeout
    for (;;) {
      signal?.throwIfAborted()
      const decision = await this.check(policy, who, asked)
      const ms = decision.allowed ? decision.delayMs : decision.retryAfterMs
      if (ms === undefined) throw new RangeError('wait: the limit never allows this cost')
      if (performance.now() + ms > until) throw new RangeError(`wait: allowed in ${ms} ms, after the timeout`)
      if (ms > 0) await sleep(Math.min(ms, LONGEST_TIMER), undefined, { signal })
      if (decision.allowed) return decision
    }
  }

  /** Gives units back; the decision is that of a peek afterwards. `at`: the `at` of the decision that charged them. */
  async refund(policy: AnyPolicy, who: string | number, { cost, at }: { cost?: number; at?: number } = {}): Promise<Decision> {
    return (await this.#decide('REFUND', [this.#limit('REFUND', policy, who, { cost }, ...timed(at))])).limits[0]
  }

  /** Corrects a charge whose cost is known now. */
  async settle(policy: AnyPolicy, who: string | number, { reserved, reservation, actual, at }: Settlement): Promise<Decision> {
    const charge = reservation === undefined ? ['RESERVED', String(reserved ?? 1)] : ['RESERVATION', reservation]
    const limit = this.#limit('SETTLE', policy, who, {}, ...charge, 'ACTUAL', String(actual), ...timed(at))
    return decided(await this.#required('SETTLE', limit), limit)
  }

  /** Forgets what is counted. False if nothing was. */
  async reset(policy: AnyPolicy, who: string | number): Promise<boolean> {
    return this.#isDone('RESET', policy, who)
  }

  /** One of at most `limit` holders at once. */
  async lease(policy: AnyPolicy, who: string | number, { id = randomUUID() }: { id?: string } = {}): Promise<Lease> {
    const decision = await this.check(policy, who, { id })
    const { allowed } = decision
    const renew = async (): Promise<boolean> => allowed && this.#isDone('RENEW', policy, who, id)
    const release = async (): Promise<boolean> => allowed && this.#isDone('RELEASE', policy, who, id)
    return { id, decision, allowed, renew, release }
  }

  /** Whether there was anything to reset, renew or release. */
  async #isDone(verb: 'RESET' | 'RENEW' | 'RELEASE', asked: AnyPolicy, who: string | number, id?: string): Promise<boolean> {
    const policy = Policy.of(asked)
    const words = verb === 'RELEASE' ? [] : [policy.window]
    if (verb === 'RESET' && policy.words.includes('ANCHOR')) words.push('ANCHOR', String(policy.anchor))
    if (id !== undefined) words.push(id)
    return Number(await this.#required(verb, { policy, key: this.key(policy, who), cost: 1, words })) === 1
  }

  /** One limit of a call. `more`: the words of a correction. */
  #limit(verb: Call['verb'], policy: AnyPolicy, who: string | number, options: CheckOptions = {}, ...more: string[]): Limit {
    const { cost = 1, partial, always, id, reserve } = options
    const found = Policy.of(policy)
    if (!Number.isSafeInteger(cost) || cost < 0) throw new TypeError('cost: expected an integer from 0 to 2^53 - 1')
    // RL.REFUND and RL.SETTLE know no shadow mode.
    const isCorrection = verb === 'REFUND' || verb === 'SETTLE'
    const words = isCorrection ? found.words.filter((word) => word !== 'SHADOW') : [...found.words]
    if (cost !== 1) words.push('COST', String(cost))
    if (partial) words.push('PARTIAL')
    if (always) words.push('ALWAYS')
    if (id !== undefined) words.push('ID', id)
    if (reserve) words.push('RESERVE', reserve.id, `${milliseconds('reserve.ttl', reserve.ttl)}ms`)
    words.push(...more)
    if (!isOfSeveral(verb)) words.push('LINE')
    return { policy: found, key: this.key(found, who), cost, words }
  }

  /** The decision of the server or, where it cannot decide, of what `unavailable` says. */
  async #decide(verb: 'CHECK' | 'PEEK' | 'REFUND' | 'MULTI' | 'SHARE', limits: Limit[]): Promise<Decisions> {
    let found: Decision[], first: number
    try {
      const reply: any = await this.#link.call({ verb, limits })
      const lines = isOfSeveral(verb) ? reply[1] : [reply]
      found = limits.map((limit, i) => decided(lines[i], limit))
      // RL.MULTI says 1 or 0, RL.SHARE which limit paid.
      first = isOfSeveral(verb) ? Number(reply[0]) : Number(found[0].allowed)
    } catch (error) {
      return this.#withoutServer(error, verb, limits)
    }
    if (this.#isAway) this.log.limited('warn', 'the server decides again')
    this.#isAway = false
    if (verb !== 'PEEK' && verb !== 'REFUND') this.counters[first > 0 ? 'allowed' : 'denied'] += 1
    return decisions(verb, first, found)
  }

  /** The reply of a call that nothing stands in for. */
  async #required(verb: Call['verb'], limit: Limit): Promise<unknown> {
    try {
      return await this.#link.call({ verb, limits: [limit] })
    } catch (error) {
      throw new RateLimitError(error)
    }
  }

  #withoutServer(error: unknown, verb: Call['verb'], limits: Limit[]): Decisions {
    if (!isUnavailable(error)) throw this.rejected(error)
    this.#isAway = true
    if (this.#local) {
      if (verb !== 'REFUND') this.counters.local += 1
      this.log.limited('warn', 'no decision, the limit of this process decides', error)
      return this.#local.decide(verb, limits, performance.now())
    }
    // Nothing else stands in for a refund.
    if (verb === 'REFUND') throw new RateLimitError(error)
    const allowed = this.unavailable === 'allow'
    this.counters[allowed ? 'failedOpen' : 'failedClosed'] += 1
    this.log.limited('warn', `no decision, failing ${allowed ? 'open' : 'closed'}`, error)
    if (this.unavailable === 'error') throw new RateLimitError(error)
    return decisions(verb, Number(allowed), limits.map(({ policy }) => undecided(allowed, policy)))
  }

  /** Counts and logs an error about a request, which is never allowed. @internal */
  rejected(error: unknown): RateLimitError {
    this.counters.faults += 1
    this.log.limited('error', 'the call was rejected, a fault of the configuration', error)
    return new RateLimitError(error, 500)
  }
}

/** The server's time of the charge that is corrected. */
function timed(at: number | undefined): string[] {
  return at === undefined ? [] : ['AT', String(at)]
}
