// @ts-check
// Responses of the type application/problem+json, as the other clients of redis-rl write them.
import { RateLimitError } from './errors.js'

export const problem = {
  /** @type {typeof import('./index.js').problem.denied} */
  denied(_request, response) {
    const policies = String(response.getHeader('RateLimit-Policy') ?? '')
    problem.quotaExceeded(response, Array.from(policies.matchAll(/"([^"]*)"; ?q=/g), ([, name]) => name))
  },

  /** @type {(response: import('./index.js').Response, violated: string[]) => void} */
  quotaExceeded(response, violated) {
    send(response, 429, {
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Quota exceeded',
      status: 429,
      'violated-policies': violated,
    })
  },

  /**
   * Express tells a handler of errors by its four parameters.
   * @type {typeof import('./index.js').problem.error}
   */
  error(error, _request, response, next) {
    if (!(error instanceof RateLimitError) || response.headersSent) return next(error)
    const { status, headers } = error
    response.set(headers)
    const title = status === 503 ? 'Service Unavailable' : 'Internal Server Error'
    send(response, status, { type: 'about:blank', title, status })
  },
}

/** @type {(response: import('./index.js').Response, status: number, body: object) => void} */
function send(response, status, body) {
  response.status(status).type('application/problem+json').send(JSON.stringify(body))
}
