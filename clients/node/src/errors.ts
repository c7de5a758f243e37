// Which errors mean what.

/** Replies of a server that works, but cannot decide now: vectors/errors.json. */
const CANNOT_DECIDE =
  /^(BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN|ERR max number of clients)( |$)/

/** What a program does wrong. All other errors that are no replies are of the connection. */
const BUGS = [TypeError, RangeError, ReferenceError, SyntaxError]

/** There is no reply: the server did not reply in time or, with `circuit open`, the request was not sent. */
export class NoReply extends Error {
  override name = 'NoReply'
  kind: 'timeout' | 'circuit open'

  constructor(message: string, kind: 'timeout' | 'circuit open' = 'timeout') {
    super(message)
    this.kind = kind
  }
}

/**
 * A request without a decision that is not allowed: status 503 if the server cannot decide, else 500. Express replies with
 * its status and headers.
 */
export class RateLimitError extends Error {
  override name = 'RateLimitError'
  status: 500 | 503
  /** That of the status. */
  title: string
  /** `Retry-After` with status 503. */
  headers: Record<string, string>

  constructor(cause: unknown, status: 500 | 503 = isUnavailable(cause) ? 503 : 500) {
    super(`${status === 503 ? 'no decision' : 'the call was rejected'}: ${describe(cause)}`, { cause })
    this.status = status
    this.title = status === 503 ? 'Service Unavailable' : 'Internal Server Error'
    this.headers = status === 503 ? { 'Retry-After': '1' } : {}
  }
}

/** The text of an error. A Cluster of ioredis that is not connected has that of its nodes. */
const message = (error: any): string => (error?.lastNodeError ?? error)?.message ?? ''

/** Whether the server has no such command of the module. */
export const isUnknown = (error: unknown): boolean => /^(ERR )?unknown command *['`]?RL\./i.test(message(error))

/** The code of an error reply (`WRONGTYPE`, `ERR` …), or `timeout`, `connection`, `circuit open`, `bug`. */
export function kind(error: any): string {
  if (error instanceof NoReply) return error.kind
  // `commandTimeout` of ioredis, `timeout` of node-redis.
  if (error?.message === 'Command timed out' || error?.constructor?.name === 'TimeoutError') return 'timeout'
  const code = /^([A-Z][A-Z0-9]*)( |$)/.exec(message(error))?.[1]
  return code ?? (BUGS.some((bug) => error instanceof bug) ? 'bug' : 'connection')
}

/** Whether the server cannot decide now. Every other error is a fault of the configuration or of the request. */
export function isUnavailable(error: unknown): boolean {
  return CANNOT_DECIDE.test(message(error)) || ['timeout', 'connection', 'circuit open'].includes(kind(error))
}

export function describe(error: any): string {
  const found = error?.lastNodeError ?? error
  // The error of a refused connection to a host with two addresses has no message.
  const text = [found?.message, found?.code].find(Boolean) ?? 'no reply'
  return `${found?.name ?? 'Error'}: ${String(text).replace(/\s+/g, ' ')}`
}
