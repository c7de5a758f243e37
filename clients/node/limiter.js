// @ts-check
// Checks, and what belongs to them: the same words on every framework and outside of one.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { decided, decisions, shared, undecided } from './decision.js'
import { RateLimitError, isUnavailable } from './errors.js'
import { bounded } from './keys.js'
import { Link } from './link.js'
import { Local } from './local.js'
import { Log } from './log.js'
import { Policy, milliseconds } from './policy.js'

/** A longer timer of Node.js ends at once. */
const LONGEST_TIMER = 2 ** 31 - 1
/** What several limits of one call may be. */
const MOST_LIMITS = 64
/** What those that share may be. */
const MOST_SHARED = 8

/** @typedef {import('./decision.js').Decision} Decision */
/** @typedef {import('./decision.js').Decisions} Decisions */
/** @typedef {import('./link.js').Limit} Limit */
/** @typedef {import('./types.js').AnyPolicy} AnyPolicy */
/** @typedef {import('./types.js').CheckOptions} CheckOptions */

/** The option, what it must be, and whether a value is that. @type {Record<string, [string, (value: any) => boolean]>} */
const OPTIONS = {
  // client.js says what it accepts.
  client: ['', () => true],
  prefix: ['a text of at most 256 bytes', (value) => typeof value === 'string' && Buffer.byteLength(value) <= 256],
  unavailable: ["'error', 'allow', 'deny' or 'local'", (value) => ['error', 'allow', 'deny', 'local'].includes(value)],
  instances: ['an integer of at least 1', (value) => Number.isSafeInteger(value) && value >= 1],
  timeout: ['an integer of milliseconds from 1 to 3600000', (value) => Number.isSafeInteger(value) && value >= 1 && value <= 3_600_000],
  module: ["'required'", (value) => value === 'required'],
  secret: ['a text that is not empty', (value) => typeof value === 'string' && value !== ''],
  logger: ['an object with warn and error', (value) => typeof value?.warn === 'function' && typeof value?.error === 'function'],
}

/**
 * Throws a TypeError that names the option which is wrong. `own` are those that a store has besides.
 * @type {(options: any, own?: typeof OPTIONS) => void}
 */
export function validate(options, own = {}) {
  if (typeof options !== 'object' || options === null) throw new TypeError('expected an object of options')
  const all = { ...OPTIONS, ...own }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(all, name)) throw new TypeError(`${name}: there is no such option; expected ${Object.keys(all).join(', ')}`)
    const [expected, isAccepted] = all[name]
    if (value !== undefined && !isAccepted(value)) throw new TypeError(`${name}: expected ${expected}`)
  }
  if (options.unavailable === 'local' && options.instances === undefined) {
    throw new TypeError("instances: expected how many processes share the limits, with unavailable: 'local'")
  }
}

/**
 * The limits that are fixed when the program starts, by client and name: two of one name would share a counter.
 * @type {WeakMap<object, Map<string, string>>}
 */
const registered = new WeakMap()

/**
 * A limit of RL.REFUND or RL.SETTLE, which know no shadow mode. `at`: the server's time of the charge.
 * @type {(limit: Limit, words: string[], at: number | undefined) => Limit}
 */
function correction(limit, words, at) {
  const own = limit.words.filter((word) => word !== 'SHADOW')
  return { ...limit, words: [...own, ...words, ...(at === undefined ? [] : ['AT', String(at)])] }
}

export class Limiter {
  #link
  /** Of the stores too. */
  log = new Log()
  #prefix
  #unavailable
  #secret
  /** @type {Local | undefined} */
  #local
  #client
  #isAway = false
  counters = this.log.counters

  /** @param {import('./types.js').LimiterOptions} options */
  constructor(options) {
    validate(options)
    const { client, prefix = '', unavailable = 'error', instances, timeout = 100, module, secret, logger } = options
    this.#client = client
    this.#prefix = prefix
    this.#unavailable = unavailable
    if (unavailable === 'local') this.#local = new Local(Number(instances))
    this.#secret = secret
    if (logger) this.log.logger = logger
    this.#link = new Link(client, timeout, this.log, module === 'required')
  }

  /** @type {(policy: AnyPolicy, who: string | number, scope?: string) => string} */
  key(policy, who, scope = `${this.#prefix}${Policy.of(policy).name}:`) {
    // Callers whose name is undefined would share one limit.
    if ((typeof who !== 'string' && !Number.isFinite(who)) || who === '') {
      throw new TypeError('who: expected a text that is not empty, or a finite number')
    }
    const text = String(who)
    const shown = this.#secret === undefined ? text : createHmac('sha256', this.#secret).update(text).digest('hex').slice(0, 32)
    return `${scope}{${bounded(shown)}}`
  }

  /**
   * A policy that is fixed when the program starts. One of the same name with other words throws.
   * @type {(policy: AnyPolicy, scope?: string) => Policy}
   */
  fixed(policy, scope) {
    const found = Policy.of(policy)
    const name = scope ?? `${this.#prefix}${found.name}:`
    const words = [found.algorithm, ...found.words].join(' ')
    const names = registered.get(this.#client) ?? new Map()
    registered.set(this.#client, names)
    const other = names.get(name)
    if (other !== undefined && other !== words) {
      throw new TypeError(`two limits share the keys ${name}*: ${other} and ${words}: give one of them a name`)
    }
    names.set(name, words)
    return found
  }

  /** @type {(policy: AnyPolicy, who: string | number, options?: CheckOptions) => Promise<Decision>} */
  async check(policy, who, options) {
    return (await this.decide('CHECK', [this.limit(policy, who, options)])).limits[0]
  }

  /** @type {(limits: [AnyPolicy, string | number, CheckOptions?][]) => Promise<Decisions>} */
  async checkAll(limits) {
    if (limits.length < 1 || limits.length > MOST_LIMITS) throw new TypeError(`limits: expected 1 to ${MOST_LIMITS}`)
    return this.decide('MULTI', limits.map((each) => this.limit(...each)))
  }

  /** @type {(limits: [AnyPolicy, string | number, CheckOptions?][]) => Promise<import('./index.js').Shared>} */
  async share(limits) {
    if (limits.length < 2 || limits.length > MOST_SHARED) throw new TypeError(`limits: expected 2 to ${MOST_SHARED}`)
    return /** @type {any} */ (await this.decide('SHARE', limits.map((each) => this.limit(...each))))
  }

  /** @type {(policy: AnyPolicy, who: string | number, options?: CheckOptions) => Promise<Decision>} */
  async peek(policy, who, options) {
    return (await this.decide('PEEK', [this.limit(policy, who, options)])).limits[0]
  }

  /** @type {import('./index.js').Limiter['wait']} */
  async wait(policy, who, { timeout = Infinity, signal, ...options } = {}) {
    const until = performance.now() + timeout
    for (;;) {
      signal?.throwIfAborted()
      const decision = await this.check(policy, who, options)
      const ms = decision.allowed ? decision.delayMs : decision.retryAfterMs
      if (ms === undefined) throw new RangeError('wait: the limit never allows this cost')
      if (performance.now() + ms > until) throw new RangeError(`wait: allowed in ${ms} ms, after the timeout`)
      if (ms > 0) await sleep(Math.min(ms, LONGEST_TIMER), undefined, { signal })
      if (decision.allowed) return decision
    }
  }

  /** @type {(policy: AnyPolicy, who: string | number, options?: {cost?: number, at?: number, scope?: string}) => Promise<Decision>} */
  async refund(policy, who, { at, ...options } = {}) {
    return (await this.decide('REFUND', [correction(this.limit(policy, who, options), [], at)])).limits[0]
  }

  /** @type {(policy: AnyPolicy, who: string | number, charge: import('./types.js').Settlement) => Promise<Decision>} */
  async settle(policy, who, { reserved, reservation, actual, at }) {
    const charge = reservation === undefined ? ['RESERVED', String(reserved ?? 1)] : ['RESERVATION', reservation]
    const limit = correction(this.limit(policy, who), [...charge, 'ACTUAL', String(actual)], at)
    return decided(await this.#required('SETTLE', [limit]), limit.policy, undefined, false)
  }

  /** @type {(policy: AnyPolicy, who: string | number, options?: {scope?: string}) => Promise<boolean>} */
  async reset(policy, who, options) {
    const limit = this.limit(policy, who, options)
    limit.words = [limit.policy.window, ...(limit.policy.words.includes('ANCHOR') ? ['ANCHOR', String(limit.policy.anchor)] : [])]
    return Number(await this.#required('RESET', [limit])) === 1
  }

  /** @type {(policy: AnyPolicy, who: string | number, options?: {id?: string}) => Promise<any>} */
  async lease(policy, who, { id = randomUUID() } = {}) {
    const decision = await this.check(policy, who, { id })
    const held = { ...this.limit(policy, who), words: [id] }
    const renewed = { ...held, words: [held.policy.window, id] }
    const release = async () => decision.allowed && Number(await this.#required('RELEASE', [held])) === 1
    return {
      id,
      decision,
      allowed: decision.allowed,
      renew: async () => Number(await this.#required('RENEW', [renewed])) === 1,
      release,
      // What cannot be released ends by itself.
      ...(Symbol.asyncDispose && { [Symbol.asyncDispose]: () => release().then(() => {}, () => {}) }),
    }
  }

  /**
   * One limit of a call. `scope` stands in place of prefix and name: a store has a prefix of its own.
   * @type {(policy: AnyPolicy, who: string | number, options?: CheckOptions & {scope?: string}) => Limit}
   */
  limit(policy, who, { cost, partial, always, id, reserve, scope } = {}) {
    const found = Policy.of(policy)
    if (cost !== undefined && (!Number.isSafeInteger(cost) || cost < 0)) throw new TypeError('cost: expected an integer from 0 to 2^53 - 1')
    const words = [...found.words]
    if (cost !== undefined && cost !== 1) words.push('COST', String(cost))
    if (partial) words.push('PARTIAL')
    if (always) words.push('ALWAYS')
    if (id !== undefined) words.push('ID', id)
    if (reserve) words.push('RESERVE', reserve.id, `${milliseconds('reserve.ttl', reserve.ttl)}ms`)
    return { policy: found, key: this.key(found, who, scope), cost: cost ?? 1, words }
  }

  /**
   * The decision of the server or, where it cannot decide, of what `unavailable` says. `allowsErrors`: the framework allows a
   * request if this throws.
   * @type {(verb: 'CHECK' | 'PEEK' | 'REFUND' | 'MULTI' | 'SHARE', limits: Limit[], allowsErrors?: boolean) => Promise<Decisions>}
   */
  async decide(verb, limits, allowsErrors = false) {
    let reply
    try {
      reply = await this.#ask(verb, limits)
    } catch (error) {
      return this.#withoutServer(error, verb, limits, allowsErrors)
    }
    if (this.#isAway) this.log.limited('warn', 'the server decides again')
    this.#isAway = false
    const isOfSeveral = verb === 'MULTI' || verb === 'SHARE'
    const lines = isOfSeveral ? /** @type {any[]} */ (reply)[1] : [reply]
    const found = limits.map(({ policy, cost, words }, i) => decided(lines[i], policy, cost, words.includes('PARTIAL')))
    // RL.MULTI says 1 or 0, RL.SHARE which limit paid.
    const first = isOfSeveral ? Number(/** @type {any[]} */ (reply)[0]) : Number(found[0].allowed)
    if (verb === 'CHECK' || isOfSeveral) this.counters[first > 0 ? 'allowed' : 'denied'] += 1
    return verb === 'SHARE' ? shared(first, found) : decisions(first > 0, found)
  }

  /** @type {(verb: import('./link.js').Call['verb'], limits: Limit[]) => Promise<unknown>} */
  #ask(verb, limits) {
    if (verb === 'CHECK' || verb === 'PEEK' || verb === 'REFUND' || verb === 'SETTLE') limits[0].words.push('LINE')
    return this.#link.call({ verb, limits })
  }

  /** The reply of a call that nothing stands in for. @type {(verb: import('./link.js').Call['verb'], limits: Limit[]) => Promise<unknown>} */
  async #required(verb, limits) {
    try {
      return await this.#ask(verb, limits)
    } catch (error) {
      throw new RateLimitError(isUnavailable(error) ? 503 : 500, error)
    }
  }

  /** @type {(error: unknown, verb: import('./link.js').Call['verb'], limits: Limit[], allowsErrors: boolean) => Decisions} */
  #withoutServer(error, verb, limits, allowsErrors) {
    const isLocal = this.#local !== undefined && isUnavailable(error)
    // The caller of a refund sees the error, and the request has its response.
    if (verb === 'REFUND' && !isLocal) throw new RateLimitError(isUnavailable(error) ? 503 : 500, error)
    if (!isUnavailable(error)) {
      this.rejected(error)
      // The framework would allow whatever this throws, so this is denied.
      if (allowsErrors) return decisions(false, limits.map(({ policy }) => undecided(false, policy)))
      throw new RateLimitError(500, error)
    }
    this.#isAway = true
    if (this.#local) {
      if (verb !== 'REFUND') this.counters.local += 1
      this.log.limited('warn', 'no decision, the limit of this process decides', error)
      return this.#local.decide(verb, limits, performance.now())
    }
    const isError = this.#unavailable === 'error'
    const allowed = isError ? allowsErrors : this.#unavailable === 'allow'
    this.counters[allowed ? 'failedOpen' : 'failedClosed'] += 1
    this.log.limited('warn', `no decision, failing ${allowed ? 'open' : 'closed'}`, error)
    if (isError) throw new RateLimitError(503, error)
    const found = limits.map(({ policy }) => undecided(allowed, policy))
    return verb === 'SHARE' ? shared(Number(allowed), found) : decisions(allowed, found)
  }

  /** Counts and logs an error about a request, which is never allowed. @param {unknown} error */
  rejected(error) {
    this.counters.faults += 1
    this.log.limited('error', 'the call was rejected, a fault of the configuration', error)
  }
}
