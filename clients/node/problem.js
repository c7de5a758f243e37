// @ts-check
// Responses of the type application/problem+json, as the other clients of redis-rl write them.
import { RateLimitError } from './guard.js'

/** @type {typeof import('./index.js').problem} */
export const problem = {
  denied(_request, response) {
    const policies = String(response.getHeader('RateLimit-Policy') ?? '')
    send(response, 429, {
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Quota exceeded',
      status: 429,
      'violated-policies': Array.from(policies.matchAll(/"([^"]*)"; ?q=/g), ([, name]) => name),
    })
  },

  // Express tells a handler of errors by its four parameters.
  error(error, _request, response, next) {
    if (!(error instanceof RateLimitError) || response.headersSent) return next(error)
    const { status, headers } = error
    response.set(headers)
    const title = status === 503 ? 'Service Unavailable' : 'Internal Server Error'
    send(response, status, { type: 'about:blank', title, status })
  },
}

/** @type {(response: Parameters<typeof problem.denied>[1], status: number, body: object) => void} */
function send(response, status, body) {
  response.status(status).type('application/problem+json').send(JSON.stringify(body))
}
