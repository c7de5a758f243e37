// @ts-check
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** @typedef {import('express-rate-limit').Store} Store */

const ALGORITHMS = ['FIXED', 'SLIDING', 'ROLLING', 'COUNTER', 'TOKEN', 'LEAKY', 'GCRA']

// The largest limit that the module takes.
const LARGEST = '9223372036854775807'

/**
 * The request that a limiter made by `perRequest` is working on.
 * @type {AsyncLocalStorage<{request: any, response: any}>}
 */
const requests = new AsyncLocalStorage()

/**
 * Creates a limiter whose `limit` is a function. express-rate-limit asks its store before it calls that function, and
 * does not tell the store the request. Here the store finds the request in an AsyncLocalStorage and calls the function
 * itself. The function is called once for each request.
 *
 * @type {typeof import('./index.js').perRequest}
 */
export function perRequest(rateLimit, options) {
  const { limit } = options
  if (typeof limit !== 'function') throw new TypeError('perRequest is for limits that are functions')
  /** @type {WeakMap<object, number | Promise<number>>} */
  const limits = new WeakMap()
  const limiter = rateLimit({
    ...options,
    limit(request, response) {
      let found = limits.get(request)
      if (found === undefined) limits.set(request, (found = limit(request, response)))
      return found
    },
  })
  return Object.assign(
    /** @type {(request: any, response: any, next: any) => any} */
    (request, response, next) => requests.run({ request, response }, () => limiter(request, response, next)),
    { resetKey: limiter.resetKey, getKey: limiter.getKey },
  )
}

/** @implements {Store} */
export class RedisRlStore {
  /** The keys are those of a server that others use too. */
  localKeys = false

  /** @type {number} */
  #windowMs = 0
  /** @type {import('express-rate-limit').Options['limit']} */
  #limit = 0
  #algorithm
  #burst
  #send

  /**
   * What increment() charged for the request at hand, for decrement(), which is told the key only. One asynchronous
   * function of express-rate-limit calls both, so what increment() enters here is there in decrement().
   * @type {AsyncLocalStorage<{key: string, charged: boolean, at: number}>}
   */
  #charges = new AsyncLocalStorage()

  /** @param {import('./index.js').StoreOptions} options */
  constructor({ client, algorithm = 'FIXED', burst, prefix, timeout }) {
    if (!ALGORITHMS.includes(algorithm)) throw new TypeError(`algorithm: expected one of ${ALGORITHMS.join(', ')}`)
    this.#algorithm = algorithm
    this.#burst = burst === undefined ? [] : ['BURST', String(burst)]
    const send = sender(client)
    this.#send = timeout ? within(timeout, send) : send
    // No algorithm reads the state of another, so each has its own keys.
    this.prefix = prefix ?? `rl:${algorithm.toLowerCase()}:`
  }

  /** @param {import('express-rate-limit').Options} options */
  init({ windowMs, limit }) {
    this.#windowMs = windowMs
    this.#limit = limit
  }

  /** @param {string} key */
  async increment(key) {
    const charge = { key, charged: false, at: 0 }
    // Before the first await: what is entered later is not seen by the caller.
    this.#charges.enterWith(charge)
    const limit = await this.#currentLimit()
    const reply = await this.#ask(`RL.${this.#algorithm}`, [], key, limit, [...this.#burst, 'FULL'])
    const hits = this.#hits(reply, Number(limit))
    charge.charged = this.#algorithm === 'FIXED' ? reply.count > 0 : reply.allowed === 1 && reply.shadow === 0
    charge.at = reply.now_ms
    const resetTime = timeIn(reply.allowed ? reply.reset_ms : reply.retry_after_ms)
    // The delay of LEAKY.
    if (reply.delay_ms > 0) await sleep(reply.delay_ms)
    return { totalHits: hits, resetTime }
  }

  /** @param {string} key */
  async decrement(key) {
    const charge = this.#charges.getStore()
    const own = charge?.key === key
    // express-rate-limit also takes back a request that was denied. FIXED counted that one, the others did not.
    if (own && !charge.charged) return
    // RL.REFUND FIXED gives back from the smaller of counter and limit, and the counter may be above the limit.
    const limit = this.#algorithm === 'FIXED' ? LARGEST : await this.#currentLimit()
    await this.#ask('RL.REFUND', [this.#algorithm], key, limit, [
      ...this.#burst,
      ...(own ? ['AT', String(charge.at)] : []),
      'FULL',
    ])
  }

  /** @param {string} key */
  async resetKey(key) {
    key = this.prefix + key
    await this.#send(key, false, ['RL.RESET', this.#algorithm, key, `${this.#windowMs}ms`])
  }

  /** @param {string} key */
  async get(key) {
    const limit = await this.#currentLimit()
    const reply = await this.#ask('RL.PEEK', [this.#algorithm], key, limit, [...this.#burst, 'COST', '0', 'FULL'], true)
    if (reply.count === 0) return undefined
    const totalHits = this.#algorithm === 'FIXED' ? reply.count : Number(limit) - reply.remaining
    return { totalHits, resetTime: timeIn(reply.reset_ms) }
  }

  /** The connection belongs to the caller, who closes it. */
  shutdown() {}

  /**
   * express-rate-limit denies if `totalHits > limit`, and sends `limit - totalHits` as what remains. The number that
   * makes both true to the module's reply is `limit - remaining`, and `limit + 1` for a denial.
   *
   * FIXED counts every request whatever the limit is, denied ones too, so there it is the counter.
   *
   * @param {Record<string, number>} reply
   * @param {number} limit
   */
  #hits(reply, limit) {
    const counted = this.#algorithm === 'FIXED' ? reply.count : limit - reply.remaining
    if (!reply.allowed) return Math.max(counted, limit + 1)
    // More than `limit` if the server is in shadow mode, less than 1 with a BURST above the limit.
    return Math.min(Math.max(counted, 1), limit)
  }

  /** @returns {Promise<string>} the limit of the request at hand, as the module takes it */
  async #currentLimit() {
    let limit = this.#limit
    if (typeof limit === 'function') {
      const current = requests.getStore()
      if (current) limit = await limit(current.request, current.response)
      // FIXED counts the same under every limit; express-rate-limit then compares with the limit of the request.
      else if (this.#algorithm === 'FIXED') limit = Infinity
      else throw new TypeError(`The limit is a function: create the limiter with perRequest, or use algorithm: 'FIXED'`)
    }
    return limit > Number.MAX_SAFE_INTEGER ? LARGEST : String(Math.max(0, Math.floor(limit)))
  }

  /**
   * @param {string} command
   * @param {string[]} algorithm
   * @param {string} key
   * @param {string} limit
   * @param {string[]} options
   * @returns {Promise<Record<string, number>>} the reply of FULL
   */
  async #ask(command, algorithm, key, limit, options, readOnly = false) {
    key = this.prefix + key
    const words = [command, ...algorithm, key, `${this.#windowMs}ms`, limit, ...options]
    return fields(await this.#send(key, readOnly, words))
  }
}

/** @param {number} ms -1 for never */
function timeIn(ms) {
  return ms < 0 ? undefined : new Date(Date.now() + ms)
}

/**
 * FULL is a map on RESP3, for which clients have their own types, and a flat array on RESP2.
 * @param {any} reply
 * @returns {Record<string, number>}
 */
function fields(reply) {
  let pairs
  if (Array.isArray(reply)) pairs = reply.flatMap((name, i) => (i % 2 ? [] : [[name, reply[i + 1]]]))
  else if (reply instanceof Map) pairs = [...reply]
  else pairs = Object.entries(reply)
  return Object.fromEntries(pairs.map(([name, value]) => [String(name), Number(value)]))
}

/**
 * Gives up waiting for a reply after `ms`. The server may have charged the request.
 * @param {number} ms
 * @param {import('./index.js').SendCommand} send
 * @returns {import('./index.js').SendCommand}
 */
function within(ms, send) {
  return async (...command) => {
    const timer = new AbortController()
    const late = sleep(ms, undefined, timer).then(() => {
      throw new Error(`no reply within ${ms} ms`)
    })
    try {
      return await Promise.race([send(...command), late])
    } finally {
      timer.abort()
    }
  }
}

/**
 * @param {any} client
 * @returns {import('./index.js').SendCommand}
 */
function sender(client) {
  if (typeof client === 'function') return client
  // ioredis
  if (typeof client?.call === 'function') {
    if (!client.isCluster) return (_key, _readOnly, words) => client.call(...words)
    // It finds the node by the keys of a command, and knows those of Redis' own commands only. Without the keys, it
    // sends the command to any node, which may redirect it.
    return (key, _readOnly, words) =>
      Object.create(client, {
        sendCommand: {
          value: (/** @type {any} */ command, /** @type {any[]} */ ...rest) => {
            command.keys = [key]
            return client.sendCommand(command, ...rest)
          },
        },
      }).call(...words)
  }
  // node-redis
  if (typeof client?.sendCommand === 'function') {
    if (client.masters) return (key, readOnly, words) => client.sendCommand(key, readOnly, words)
    return (_key, _readOnly, words) => client.sendCommand(words)
  }
  throw new TypeError('client: expected a client of redis or ioredis, or a function (key, readOnly, words) => reply')
}
