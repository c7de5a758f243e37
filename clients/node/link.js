// @ts-check
// Sends the commands of one store: within the time limit, and none to a node that is silent.
import { Breaker } from './breaker.js'
import { sender } from './client.js'
import { CircuitOpen, NoModule, NoReply, isUnavailable, isUnknown, kind } from './guard.js'
import { Scripts } from './scripts.js'

const NO_MODULE =
  'rate-limit-redis-rl: no module: the Lua scripts decide; docs/install.md says how to load it'

/** Milliseconds of silence after which no command is sent. */
const SILENCE = 250

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
 * A command that waits for its reply: until when, and what is called if there is none by then.
 * @typedef {{end: number, late: () => void}} Waiting
 */

/**
 * Runs after at least `ms`, and after what the sockets have by then was read: a process that was busy for longer finds
 * the replies first.
 * @type {(ms: number, work: () => void) => NodeJS.Timeout}
 */
const afterReading = (ms, work) => setTimeout(() => setImmediate(work), Math.ceil(Math.max(ms, 0)))

/**
 * A node of a cluster or, where that cannot be seen, the server, and a key of it.
 * @typedef {{key: string, breaker: Breaker, timer?: NodeJS.Timeout, probe?: Signal}} Node
 */

export class Link {
  /** @type {Map<string, Node>} */
  #nodes = new Map()
  /**
   * The commands that wait, the first to end first: all have one time limit.
   * @type {Set<Waiting>}
   */
  #waiting = new Set()
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #send
  #timeout
  #guard
  #counted
  /** @type {Scripts | undefined} */
  #scripts
  #closed = false

  /**
   * @param {any} client
   * @param {number} timeout
   * @param {import('./guard.js').Guard} guard counts why there is no reply
   * @param {'required'} [module] whether no script decides without it
   */
  constructor(client, timeout, guard, module) {
    this.#send = sender(client)
    this.#timeout = timeout
    this.#guard = guard
    this.#counted = (/** @type {unknown} */ error) => guard.counted(error)
    if (!module) this.#scripts = new Scripts()
  }

  /**
   * The reply. If it gives up waiting for it, the server may have executed the command.
   * @type {(key: string, readOnly: boolean, words: string[], longest?: number) => Promise<unknown>}
   */
  call(key, readOnly, words, longest = Infinity) {
    const timeout = Math.ceil(Math.min(this.#timeout, longest))
    const node = this.#node(key)
    const now = performance.now()
    const command = node.breaker.request(now)
    if (!command) {
      const error = this.#rejection() ?? new CircuitOpen('the server is silent, so this request was not sent')
      return Promise.reject(this.#counted(error))
    }
    this.#wake(node)
    const signal = new Signal()
    return new Promise((resolve, reject) => {
      const waiting = this.#wait(now, timeout, () => {
        node.breaker.leave(command)
        signal.abort() // it is no longer in a queue then
        reject(this.#counted(this.#send.why?.() ?? new NoReply(`no reply within ${timeout} ms`)))
      })
      const replied = (/** @type {unknown} */ reply) => {
        this.#ended(waiting)
        node.breaker.reply(command, performance.now())
        resolve(reply)
      }
      const failed = (/** @type {unknown} */ error) => {
        this.#ended(waiting)
        this.#failed(node, command, error)
        reject(this.#counted(isUnknown(error) ? new NoModule() : error))
      }
      if (this.#scripts?.decide()) return this.#byScript(key, words, signal).then(replied, failed)
      this.#send(key, readOnly, words, /** @type {any} */ (signal)).then(
        (reply) => {
          if (this.#scripts) this.#scripts.areUsed = false
          replied(reply)
        },
        (error) => {
          if (!this.#scripts || !isUnknown(error)) return failed(error)
          if (this.#scripts.begin()) this.#guard.logger.warn(NO_MODULE)
          this.#byScript(key, words, signal).then(replied, failed)
        },
      )
    })
  }

  /** @type {(key: string, words: string[], signal: Signal) => Promise<unknown>} */
  async #byScript(key, words, signal) {
    const scripts = /** @type {Scripts} */ (this.#scripts)
    scripts.isCluster ||= this.#send.isCluster === true
    return scripts.run(words, (words) => {
      signal.throwIfAborted()
      return this.#send(key, false, words, /** @type {any} */ (signal))
    })
  }

  /**
   * Calls `late` when the time of a command is over, unless it is taken out of the set before.
   * @type {(now: number, timeout: number, late: () => void) => Waiting}
   */
  #wait(now, timeout, late) {
    const waiting = { end: now + timeout, late }
    // A renewal has less time: a timer of its own.
    if (timeout < this.#timeout) afterReading(timeout, () => this.#waiting.delete(waiting) && late())
    if (!this.#timer) this.#timer = afterReading(this.#timeout, () => this.#late())
    else if (this.#waiting.size === 0) this.#timer.ref()
    this.#waiting.add(waiting)
    return waiting
  }

  /**
   * A command waits no longer. Without one, the timer keeps no process alive.
   * @param {Waiting} waiting
   */
  #ended(waiting) {
    this.#waiting.delete(waiting)
    if (this.#waiting.size === 0) this.#timer?.unref()
  }

  /** One timer for all commands, which goes on while some wait. */
  #late() {
    this.#timer = undefined
    const now = performance.now()
    for (const waiting of this.#waiting) {
      if (waiting.end > now) {
        this.#timer = afterReading(waiting.end - now, () => this.#late())
        return
      }
      this.#waiting.delete(waiting)
      waiting.late()
    }
  }

  /** No timer runs after this. */
  close() {
    this.#closed = true
    for (const node of this.#nodes.values()) {
      clearTimeout(node.timer)
      node.probe?.abort()
    }
  }

  /** Why the server rejects the client, if that is why there is no reply. */
  #rejection() {
    const error = this.#send.why?.()
    return error && !isUnavailable(error) ? error : undefined
  }

  /** @param {string} key */
  #node(key) {
    const name = this.#send.node?.(key) ?? ''
    let node = this.#nodes.get(name)
    if (!node) {
      // The nodes of a cluster may get new addresses again and again.
      for (const [name, { breaker }] of this.#nodes) if (breaker.isNew) this.#nodes.delete(name)
      this.#nodes.set(name, (node = { key, breaker: new Breaker(SILENCE, this.#timeout) }))
    }
    return node
  }

  /**
   * A command has no reply, or an error reply.
   * @type {(node: Node, command: import('./breaker.js').Command, error: unknown) => void}
   */
  #failed(node, command, error) {
    const found = kind(error)
    if (found === 'bug') node.breaker.forget(command)
    else if (found !== 'connection' && found !== 'timeout') node.breaker.reply(command, performance.now())
    else if (command.left || found === 'timeout') node.breaker.leave(command, true)
    else {
      node.breaker.forget(command)
      if (this.#closed) return
      node.breaker.connectFailed(performance.now())
      clearTimeout(node.timer)
      this.#tick(node)
    }
  }

  /** @param {Node} node */
  #tick(node) {
    node.timer = undefined
    if (this.#closed) return
    if (node.breaker.time(performance.now())) this.#probe(node)
    this.#wake(node)
  }

  /**
   * One timer for all commands: an event before it ends only delays what it is for.
   * @param {Node} node
   */
  #wake(node) {
    if (node.timer || this.#closed) return
    const { due } = node.breaker
    if (due === Infinity) return
    node.timer = afterReading(due - performance.now(), () => this.#tick(node)).unref()
  }

  /** @param {Node} node */
  #probe(node) {
    node.probe?.abort() // the last one, if it is still in a queue
    const signal = (node.probe = new Signal())
    const replied = () => {
      node.breaker.pong(performance.now())
      this.#wake(node)
    }
    this.#send(node.key, false, ['PING'], /** @type {any} */ (signal)).then(replied, (error) => {
      if (!['bug', 'connection', 'timeout'].includes(kind(error))) replied()
    })
  }
}
