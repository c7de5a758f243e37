// @ts-check
import { STATUS_CODES } from 'node:http'
import { HTTPException } from 'hono/http-exception'
import { RedisRlStore as Store } from './index.js'

export class RedisRlStore extends Store {
  /**
   * Not `async`: what it charges must be there for decrement() before the caller waits.
   * @param {string} key
   */
  increment(key) {
    return super.increment(key).catch((error) => {
      const { status, headers } = error
      throw new HTTPException(status, { res: new Response(STATUS_CODES[status], { headers }), cause: error })
    })
  }
}
