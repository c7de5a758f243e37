import { HTTPException } from 'hono/http-exception'
import type { RateLimitError } from './errors.js'
import { type Hits, RedisRlStore as Store } from './express.js'

/** Throws an HTTPException: with status 503 if the server cannot decide, with 500 if it rejects the call. */
export class RedisRlStore extends Store {
  /** Not `async`: what it charges must be there for decrement() before the caller waits. */
  override increment(key: string): Promise<Hits> {
    return super.increment(key).catch((error: RateLimitError) => {
      const { status, title, headers } = error
      throw new HTTPException(status, { res: new Response(title, { headers }), cause: error })
    })
  }
}
