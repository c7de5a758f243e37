// @ts-check
// When requests stop going to a node that is silent, and when they begin again: docs/failure.md has it in words,
// vectors/breaker.json as a table. Time is an argument, in milliseconds that never go back.

/** When probes are sent, after the opening. Later ones come each second. */
const PROBES = [0, 100, 200, 400, 800]
const SECOND = 1000

/**
 * A command without a reply. `left`: its caller gave up. `lost`: it will have no reply.
 * @typedef {{at: number, left: boolean, lost: boolean}} Command
 */

export class Breaker {
  /** @type {'closed' | 'open' | 'trying'} */
  state = 'closed'
  /**
   * The oldest first.
   * @type {Set<Command>}
   */
  #waiting = new Set()
  #silence
  #readAt = -Infinity
  /** There is no connection, and none could be opened. */
  #disconnected = false
  #openedAt = 0
  #nextProbe = 0
  /** A PONG closed it last, and no command has had a reply since. */
  #doubted = false
  /**
   * The command that tries.
   * @type {Command | undefined}
   */
  #trial

  /**
   * @param {number} silence how long a silence opens it; 0: none does
   * @param {number} timeout the time limit of a command, if that is longer
   */
  constructor(silence, timeout) {
    this.#silence = silence === 0 ? Infinity : Math.max(silence, timeout)
  }

  /** Whether it says no more than a new one. */
  get isNew() {
    return this.state === 'closed' && !this.#doubted && this.#waiting.size === 0
  }

  /**
   * When `time` has something to do, if there is no other event before.
   * @returns {number} Infinity for never
   */
  get due() {
    return this.state === 'open' ? this.#nextProbe : this.#silentSince() + this.#silence
  }

  #silentSince() {
    const [oldest] = this.#waiting
    return oldest ? Math.max(this.#readAt, oldest.at) : Infinity
  }

  /**
   * A decision is wanted.
   * @param {number} now
   * @returns {Command | undefined} what is sent; nothing if undefined
   */
  request(now) {
    if (this.state === 'open') return
    if (this.state === 'trying' && this.#trial && now < this.#trial.at + SECOND) return
    const command = { at: now, left: false, lost: false }
    this.#waiting.add(command)
    if (this.state === 'trying') this.#trial = command
    return command
  }

  /**
   * The caller of a command gave up. Its reply may still come, unless it is lost: it counts as silence until anything
   * is read.
   * @type {(command: Command, lost?: boolean) => void}
   */
  leave(command, lost = false) {
    command.left = true
    command.lost ||= lost
  }

  /**
   * A command has its reply, an error too.
   * @type {(command: Command, now: number) => void}
   */
  reply(command, now) {
    this.#waiting.delete(command)
    for (const oldest of this.#waiting) {
      if (!oldest.left) break
      this.#waiting.delete(oldest)
    }
    this.#read(now)
    this.state = 'closed'
    this.#doubted = false
    this.#trial = undefined
  }

  /**
   * A probe has its reply.
   * @param {number} now
   */
  pong(now) {
    this.#read(now)
    for (const command of this.#waiting) if (command.lost) this.#waiting.delete(command)
    if (this.state !== 'open') return
    this.state = this.#doubted ? 'trying' : 'closed'
    this.#doubted = true
  }

  /** @param {number} now */
  #read(now) {
    this.#readAt = now
    this.#disconnected = false
  }

  /**
   * A command will have no reply, for a reason that says nothing about the server.
   * @param {Command} command
   */
  forget(command) {
    this.#waiting.delete(command)
    if (this.#trial === command) this.#trial = undefined
  }

  /**
   * There is no connection, and none can be opened.
   * @param {number} now
   */
  connectFailed(now) {
    if (this.state === 'open' || this.#silence === Infinity) return
    this.#disconnected = true
    this.#open(now)
  }

  /** @param {number} now */
  #open(now) {
    this.state = 'open'
    this.#openedAt = now
    this.#nextProbe = now
  }

  /**
   * Opens it if the silence was long enough.
   * @param {number} now
   * @returns {'ping' | 'connect' | undefined} the probe that is sent: over the connection of the commands, or a new one
   */
  time(now) {
    if (this.state !== 'open' && now >= this.due) this.#open(now)
    if (this.state !== 'open' || now < this.#nextProbe) return
    const after = now - this.#openedAt
    const last = /** @type {number} */ (PROBES.at(-1))
    const next = PROBES.find((each) => each > after) ?? last + SECOND * (Math.floor((after - last) / SECOND) + 1)
    this.#nextProbe = this.#openedAt + next
    return this.#disconnected || now >= this.#silentSince() + SECOND ? 'connect' : 'ping'
  }
}
