// @ts-check
// Sends the commands of one store: within the time limit, and none to a node that is silent.
import { Breaker } from './breaker.js'
import { sender } from './client.js'
import { CircuitOpen, NoModule, NoReply, isUnavailable, isUnknown, kind } from './guard.js'

/** Milliseconds of silence after which no command is sent. */
const SILENCE = 250

/**
 * Runs after at least `ms`, and after what the sockets have by then was read: a process that was busy for longer finds
 * the replies first.
 * @type {(ms: number, work: () => void) => NodeJS.Timeout}
 */
const afterReading = (ms, work) => setTimeout(() => setImmediate(work), Math.ceil(Math.max(ms, 0)))

/**
 * A node of a cluster or, where that cannot be seen, the server, and a key of it.
 * @typedef {{key: string, breaker: Breaker, timer?: NodeJS.Timeout, probe?: AbortController}} Node
 */

export class Link {
  /** @type {Map<string, Node>} */
  #nodes = new Map()
  #send
  #timeout
  #closed = false

  /**
   * @param {any} client
   * @param {number} timeout
   */
  constructor(client, timeout) {
    this.#send = sender(client)
    this.#timeout = timeout
  }

  /**
   * The reply. If it gives up waiting for it, the server may have executed the command.
   * @type {(key: string, readOnly: boolean, words: string[], longest?: number) => Promise<unknown>}
   */
  async call(key, readOnly, words, longest = Infinity) {
    const timeout = Math.ceil(Math.min(this.#timeout, longest))
    const node = this.#node(key)
    const command = node.breaker.request(performance.now())
    if (!command) throw this.#rejection() ?? new CircuitOpen('the server is silent, so this request was not sent')
    this.#wake(node)
    const abort = new AbortController()
    const reply = this.#send(key, readOnly, words, abort.signal).catch((error) => {
      throw isUnknown(error) ? new NoModule() : error
    })
    reply.then(
      () => node.breaker.reply(command, performance.now()),
      (error) => this.#failed(node, command, error),
    )
    /** @type {NodeJS.Timeout | undefined} */
    let timer
    const late = new Promise((_, reject) => {
      timer = afterReading(timeout, () => {
        node.breaker.leave(command)
        reject(this.#send.why?.() ?? new NoReply(`no reply within ${timeout} ms`))
      })
    })
    try {
      return await Promise.race([reply, late])
    } finally {
      clearTimeout(timer)
      abort.abort() // it is no longer in a queue then
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
    const { due } = node.breaker
    if (this.#closed || node.timer || due === Infinity) return
    node.timer = afterReading(due - performance.now(), () => this.#tick(node)).unref()
  }

  /** @param {Node} node */
  #probe(node) {
    node.probe?.abort() // the last one, if it is still in a queue
    const { signal } = (node.probe = new AbortController())
    const replied = () => {
      node.breaker.pong(performance.now())
      this.#wake(node)
    }
    this.#send(node.key, false, ['PING'], signal).then(replied, (error) => {
      if (!['bug', 'connection', 'timeout'].includes(kind(error))) replied()
    })
  }
}
