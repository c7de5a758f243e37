// better-auth. `send` is that of the example for ioredis in docs/clients.md. After an error reply, `auth.handler` throws: 500.
import { betterAuth } from 'better-auth'

const auth = betterAuth({
  rateLimit: {
    enabled: true,
    customStorage: {
      async consume(key, { window, max }) {
        const reply = await send('RL.ROLLING', `auth:${key}`, window, max)
        if (reply === null) return { allowed: true, retryAfter: null } // the server cannot decide
        const [allowed, , ttl] = reply
        return { allowed: allowed === 1, retryAfter: allowed === 1 ? null : ttl }
      },
    },
  },
})
