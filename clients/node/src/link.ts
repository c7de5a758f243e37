// Sends calls: within the time limit, none to a node that does not reply, and by a script where there is no module.
import { Breaker } from './breaker.js'
import { type Call, command, scripted } from './call.js'
import { type Client, type Connection, Signal, connectionOf } from './client.js'
import { NoReply, isUnavailable, isUnknown, kind } from './errors.js'
import type { Log } from './log.js'

/** How long the scripts decide before the module is looked for again, in milliseconds. */
const LOOK_AGAIN = 5000
/** In place of the server's own error, which has the caller. */
const NO_MODULE = 'ERR no module: the server has not loaded redis-rl; start it with --loadmodule /path/to/libredis_rl.so (docs/install.md)'

/** The nodes of a cluster may get new addresses again and again. */
const MOST_BREAKERS = 1000

export class Link {
  /** The breaker of each node of a cluster or, where that cannot be seen, of the server. */
  #breakers = new Map<string, Breaker>()
  #connection: Connection
  #timeout: number
  #log: Log
  #requiresModule: boolean
  /** Until when the scripts decide without looking for the module. */
  #scriptsUntil = -Infinity
  #scriptsDecide = false

  /** `log` counts why there is no reply; `requiresModule`: no script decides without it. */
  constructor(client: Client, timeout: number, log: Log, requiresModule: boolean) {
    this.#connection = connectionOf(client)
    // A new connection may be one to another server.
    this.#connection.connected.add(() => (this.#scriptsUntil = -Infinity))
    this.#timeout = timeout
    this.#log = log
    this.#requiresModule = requiresModule
  }

  /** The reply. If it gives up waiting for it, the server may have executed the call. */
  call(call: Call): Promise<unknown> {
    const breaker = this.#breaker(call.limits[0].key)
    const now = performance.now()
    if (!breaker.request(now)) {
      const why = this.#connection.why()
      return Promise.reject(this.#log.counted(why && !isUnavailable(why) ? why : new NoReply('the server does not reply, so this request was not sent', 'circuit open')))
    }
    const signal = new Signal()
    return new Promise((resolve, reject) => {
      let waits = true
      const late = (): void => {
        if (!waits) return
        waits = false
        breaker.timedOut(performance.now())
        signal.abort() // it is no longer in a queue then
        reject(this.#log.counted(this.#connection.why() ?? new NoReply(`no reply within ${this.#timeout} ms`)))
      }
      // What the sockets have by then is read first: a process that was busy for longer finds the replies.
      const timer = setTimeout(() => setImmediate(late), this.#timeout)
      const ended = (): void => {
        waits = false
        clearTimeout(timer)
      }
      const replied = (reply: unknown): void => {
        ended()
        breaker.reply()
        this.#connection.replied()
        resolve(reply)
      }
      const failed = (said: unknown): void => {
        this.#connection.failed(said)
        const error = kind(said) === 'connection' ? (this.#connection.why() ?? said) : said
        const found = kind(said)
        if (found === 'timeout') breaker.timedOut(performance.now())
        else if (found === 'connection' && !signal.aborted) breaker.broken()
        else if (found !== 'connection' && found !== 'bug') breaker.reply()
        if (waits) reject(this.#log.counted(isUnknown(error) ? new Error(NO_MODULE) : error))
        ended()
      }
      this.#byModuleOrScript(call, signal).then(replied, failed)
    })
  }

  async #byModuleOrScript(call: Call, signal: Signal): Promise<unknown> {
    const { key } = call.limits[0]
    if (performance.now() >= this.#scriptsUntil) {
      try {
        const reply = await this.#connection.send(key, call.verb === 'PEEK', command(call), signal)
        if (this.#scriptsDecide) this.#log.limited('warn', 'the module decides again')
        this.#scriptsDecide = false
        return reply
      } catch (error) {
        if (this.#requiresModule || !isUnknown(error)) throw error
      }
      if (!this.#scriptsDecide) {
        this.#log.limited('warn', 'no module: the Lua scripts decide, at a higher cost for the server. What a worker that died has '
          + 'reserved comes back when its window ends, and a settlement sent twice charges twice: docs/hosted.md')
      }
      this.#scriptsDecide = true
      this.#scriptsUntil = performance.now() + LOOK_AGAIN
    }
    const { sha, source, words } = scripted(call)
    const send = async (...script: string[]): Promise<unknown> => {
      signal.throwIfAborted()
      return this.#connection.send(key, false, [...script, ...words], signal)
    }
    // A NOSCRIPT says that nothing was executed, so the script itself is sent.
    return send('EVALSHA', sha).catch((error) => {
      if (!/^NOSCRIPT/.test(error?.message ?? '')) throw error
      return send('EVAL', source)
    })
  }

  #breaker(key: string): Breaker {
    const node = this.#connection.node(key)
    let breaker = this.#breakers.get(node)
    if (!breaker) {
      if (this.#breakers.size >= MOST_BREAKERS) this.#breakers.clear()
      this.#breakers.set(node, (breaker = new Breaker(this.#timeout)))
    }
    return breaker
  }
}
