// When requests stop going to a node that does not reply, and when they begin again: docs/failure.md has it in words,
// vectors/breaker.json as a table. Time is an argument, in milliseconds that never go back.

/** How long no call has a reply before a call without one opens it. */
const SILENCE = 250

export class Breaker {
  isOpen = false
  /** When the first call was sent after the last reply. */
  #since: number | undefined
  /** When the call was sent that tries. */
  #tried: number | undefined
  #timeout: number

  /** `timeout`: the time limit of a call. A trial that is older no longer counts. */
  constructor(timeout: number) {
    this.#timeout = timeout
  }

  /** Whether a call may be sent. */
  request(now: number): boolean {
    if (this.isOpen && this.#tried !== undefined && now - this.#tried <= this.#timeout) return false
    if (this.isOpen) this.#tried = now
    this.#since ??= now
    return true
  }

  /** A call has a reply, an error too, however late. */
  reply(): void {
    this.isOpen = false
    this.#since = this.#tried = undefined
  }

  /** The time of a call is over. */
  timedOut(now: number): void {
    if (this.#since !== undefined && now - this.#since >= Math.max(SILENCE, this.#timeout)) this.isOpen = true
  }

  /** The connection broke, or cannot be opened. */
  broken(): void {
    this.isOpen = true
    this.#tried = undefined
  }
}
