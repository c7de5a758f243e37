// @ts-check
// Sends calls: within the time limit, none to a node that does not reply, and by a script where there is no module.
import { Breaker } from './breaker.js'
import { sender } from './client.js'
import { CircuitOpen, NoModule, NoReply, isUnavailable, isUnknown, kind } from './errors.js'
import { isNoScript, scripted } from './scripts.js'

/** How long the scripts decide before the module is looked for again, in milliseconds. */
const LOOK_AGAIN = 5000

/**
 * One limit of a call: the policy, the key in Redis, what is asked for, and the words of the command after the key.
 * @typedef {{policy: import('./policy.js').Policy, key: string, cost: number, words: string[]}} Limit
 */

/**
 * A call of the module or of a script: the same words in another order.
 * @typedef {{verb: 'CHECK' | 'PEEK' | 'REFUND' | 'SETTLE' | 'RESET' | 'RENEW' | 'RELEASE' | 'MULTI' | 'SHARE', limits: Limit[]}} Call
 */

/**
 * The words of the command.
 * @type {(call: Call) => string[]}
 */
export function command({ verb, limits }) {
  const [{ policy, key, words }] = limits
  switch (verb) {
    case 'CHECK':
      return [`RL.${policy.algorithm}`, key, ...words]
    case 'MULTI':
    case 'SHARE':
      return [`RL.${verb}`, String(limits.length), ...limits.flatMap((each) => [each.policy.algorithm, each.key, ...each.words]), 'LINE']
    case 'RENEW':
    case 'RELEASE':
      return [`RL.${verb}`, key, ...words]
    default:
      return [`RL.${verb}`, policy.algorithm, key, ...words]
  }
}

/**
 * What a client that can take a command out of its queue asks of an AbortSignal. One of Node.js takes a fifth of the time of
 * a command.
 */
class Signal {
  aborted = false
  /** @type {(() => void) | undefined} */
  #listener

  /** @type {(type: string, listener: () => void) => void} */
  addEventListener(_type, listener) {
    this.#listener = listener
  }

  removeEventListener() {
    this.#listener = undefined
  }

  throwIfAborted() {
    if (this.aborted) throw new NoReply('it was given up')
  }

  abort() {
    if (this.aborted) return
    this.aborted = true
    this.#listener?.()
  }
}

/**
 * A call that waits for its reply: until when, and what is called if there is none by then.
 * @typedef {{end: number, late: () => void}} Waiting
 */

export class Link {
  /**
   * The breaker of each node of a cluster or, where that cannot be seen, of the server.
   * @type {Map<string, Breaker>}
   */
  #breakers = new Map()
  /**
   * The calls that wait, the first to end first: all have one time limit.
   * @type {Set<Waiting>}
   */
  #waiting = new Set()
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #send
  #timeout
  #log
  #requiresModule
  /** Until when the scripts decide without looking for the module. */
  #scriptsUntil = -Infinity
  #scriptsDecide = false

  /**
   * @param {any} client
   * @param {number} timeout
   * @param {import('./log.js').Log} log counts why there is no reply
   * @param {boolean} requiresModule whether no script decides without it
   */
  constructor(client, timeout, log, requiresModule) {
    // A new connection may be one to another server.
    this.#send = sender(client, () => (this.#scriptsUntil = -Infinity))
    this.#timeout = timeout
    this.#log = log
    this.#requiresModule = requiresModule
  }

  /**
   * The reply. If it gives up waiting for it, the server may have executed the call.
   * @type {(call: Call) => Promise<unknown>}
   */
  call(call) {
    const { key } = call.limits[0]
    const breaker = this.#breaker(key)
    const now = performance.now()
    if (!breaker.request(now)) {
      const why = this.#send.why?.()
      return Promise.reject(this.#log.counted(why && !isUnavailable(why) ? why : new CircuitOpen('the server does not reply, so this request was not sent')))
    }
    const signal = new Signal()
    return new Promise((resolve, reject) => {
      const waiting = this.#wait(now, () => {
        breaker.timedOut(performance.now())
        signal.abort() // it is no longer in a queue then
        reject(this.#log.counted(this.#send.why?.() ?? new NoReply(`no reply within ${this.#timeout} ms`)))
      })
      const replied = (/** @type {unknown} */ reply) => {
        this.#ended(waiting)
        breaker.reply()
        resolve(reply)
      }
      const failed = (/** @type {unknown} */ error) => {
        this.#ended(waiting)
        const found = kind(error)
        if (found === 'timeout') breaker.timedOut(performance.now())
        else if (found === 'connection') breaker.broken()
        else if (found !== 'bug') breaker.reply()
        reject(this.#log.counted(isUnknown(error) ? new NoModule() : error))
      }
      if (now < this.#scriptsUntil) return this.#byScript(call, signal).then(replied, failed)
      this.#send(key, call.verb === 'PEEK', command(call), /** @type {any} */ (signal)).then(
        (reply) => {
          if (this.#scriptsDecide) this.#log.limited('warn', 'the module decides again')
          this.#scriptsDecide = false
          replied(reply)
        },
        (error) => {
          if (this.#requiresModule || !isUnknown(error)) return failed(error)
          if (!this.#scriptsDecide) {
            this.#log.limited('warn', 'no module: the Lua scripts decide, at a higher cost for the server. What a worker that died has '
              + 'reserved comes back when its window ends, and a settlement sent twice charges twice: docs/hosted.md')
          }
          this.#scriptsDecide = true
          this.#scriptsUntil = performance.now() + LOOK_AGAIN
          this.#byScript(call, signal).then(replied, failed)
        },
      )
    })
  }

  /**
   * A NOSCRIPT says that nothing was executed, so the script itself is sent.
   * @type {(call: Call, signal: Signal) => Promise<unknown>}
   */
  async #byScript(call, signal) {
    const { sha, source, words } = scripted(call)
    const send = (/** @type {string[]} */ words) => {
      signal.throwIfAborted()
      return this.#send(call.limits[0].key, false, words, /** @type {any} */ (signal))
    }
    try {
      return await send(['EVALSHA', sha, ...words])
    } catch (error) {
      if (!isNoScript(error)) throw error
      return send(['EVAL', source, ...words])
    }
  }

  /**
   * Calls `late` when the time of a call is over, unless it is taken out of the set before.
   * @type {(now: number, late: () => void) => Waiting}
   */
  #wait(now, late) {
    const waiting = { end: now + this.#timeout, late }
    if (!this.#timer) this.#tick(this.#timeout)
    else if (this.#waiting.size === 0) this.#timer.ref()
    this.#waiting.add(waiting)
    return waiting
  }

  /**
   * A call waits no longer. Without one, the timer keeps no process alive.
   * @param {Waiting} waiting
   */
  #ended(waiting) {
    this.#waiting.delete(waiting)
    if (this.#waiting.size === 0) this.#timer?.unref()
  }

  /**
   * One timer for all calls, which goes on while some wait: one for each call takes 0.8 µs more, of 40. What the sockets
   * have by then is read first: a process that was busy for longer finds the replies.
   * @param {number} ms
   */
  #tick(ms) {
    this.#timer = setTimeout(() => setImmediate(() => this.#late()), Math.ceil(ms))
  }

  #late() {
    this.#timer = undefined
    const now = performance.now()
    for (const waiting of this.#waiting) {
      if (waiting.end > now) return this.#tick(waiting.end - now)
      this.#waiting.delete(waiting)
      waiting.late()
    }
  }

  /** @param {string} key */
  #breaker(key) {
    const name = this.#send.node?.(key) ?? ''
    let breaker = this.#breakers.get(name)
    if (!breaker) {
      // The nodes of a cluster may get new addresses again and again.
      for (const [name, { isOpen }] of this.#breakers) if (!isOpen) this.#breakers.delete(name)
      this.#breakers.set(name, (breaker = new Breaker(this.#timeout)))
    }
    return breaker
  }
}
