// What a store counts, gives back, holds and names. frameworks.test.js has the stores in their frameworks.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Limiter, RedisRlStore } from '../dist/index.js'
import { logger, logged, nextPrefix, onBoth, waitFor } from './servers.js'

// Long enough that no window ends during a test.
const DAY = 86_400_000

onBoth((at) => {
  const storeOf = (options, init) => {
    const store = new RedisRlStore({ client: at.client, timeout: 10_000, prefix: nextPrefix(), ...options })
    store.init({ windowMs: DAY, limit: 3, skipFailedRequests: true, logger, ...init })
    /** A request. As in express-rate-limit, one function charges it and may give it back. */
    const request = async (isSkipped = false, key = 'k', work = async () => {}) => {
      const { totalHits } = await store.increment(key)
      await work()
      if (isSkipped) await store.decrement(key)
      return totalHits
    }
    const limiter = new Limiter({ client: at.client, timeout: 10_000, logger })
    // The prefix of a store stands for prefix and name.
    const counted = () => limiter.peek(`${options.algorithm} ${init?.windowMs ?? DAY}ms 3 AS ${store.prefix.slice(0, -1)}`, 'k', { cost: 0 })
    const hits = async () => {
      const { count, remaining } = await counted()
      return options.algorithm === 'FIXED' ? count : 3 - remaining
    }
    return { store, request, hits, counted }
  }

  for (const algorithm of ['FIXED', 'WINDOW', 'SLIDING', 'ROLLING', 'COUNTER', 'TOKEN', 'GCRA']) {
    test(`${algorithm}: three pass, and what is skipped is given back`, async () => {
      const { store, request, hits } = storeOf({ algorithm })
      for (const n of [1, 2, 3]) assert.deepEqual([await request(true), await request(), await hits()], [n, n, n])
      // express-rate-limit also takes back what was denied. FIXED counted it, the others did not.
      assert.deepEqual([await request(true), await hits(), await request()], [4, 3, 4])
      assert.equal(await hits(), algorithm === 'FIXED' ? 4 : 3)
      assert.equal(await request(false, 'other'), 1)
      await store.resetKey('k')
      assert.equal(await hits(), 0)
      assert.deepEqual(store.counters, { ...store.counters, allowed: 7, denied: 2, faults: 0, unrefunded: 0, errors: {} })
    })
  }

  test('LEAKY delays requests, and denies when the queue is full', async () => {
    const { request } = storeOf({ algorithm: 'LEAKY' }, { windowMs: 900 })
    const start = Date.now()
    const found = await Promise.all([1, 2, 3, 4].map(() => request()))
    assert.equal(found.filter((hits) => hits > 3).length, 1)
    assert.ok(Date.now() - start >= 590, `the last request was held for ${Date.now() - start} ms, not 600`)
  })

  test('the hits of a BURST, and of a limit that is a function', async () => {
    for (const [options, limit, expected] of [
      [{ algorithm: 'TOKEN', burst: 2 }, 60, [59, 60, 61]],
      [{ algorithm: 'GCRA', burst: 4 }, 2, [1, 1, 1, 2, 3]], // express-rate-limit takes at least one hit
      [{ algorithm: 'FIXED' }, () => 2, [1, 2, 3, 4]], // which it compares with the limit of the request
    ]) {
      const { request } = storeOf(options, { limit })
      for (const hits of expected) assert.equal(await request(), hits)
    }
    for (const [limit, message] of [[() => 2, /use limit\(\) of rate-limit-redis-rl/], [undefined, /limit: expected a number/], ['5', /not "5"/]]) {
      const { request } = storeOf({ algorithm: 'TOKEN', unavailable: 'allow' }, { limit })
      await assert.rejects(request(), { status: 500, message })
    }
  })

  test('what is given back is the request that failed, not a later one', async () => {
    const { request, hits, counted } = storeOf({ algorithm: 'ROLLING' }, { windowMs: 60_000 })
    let release
    const gate = new Promise((resolve) => (release = resolve))
    const slow = request(true, 'k', () => gate)
    await waitFor('the charge', async () => (await hits()) === 1)
    await sleep(50) // a moment is 15 ms
    const sent = Date.now()
    await request()
    release()
    await slow
    const { count, at: now, nextMs } = await counted()
    assert.ok(count === 1 && now + nextMs - sent >= 60_000, `the later request is gone in ${now + nextMs - sent} ms`)
  })

  test('a refund that is rejected is counted, and no error', async () => {
    const { store, request } = storeOf({ algorithm: 'TOKEN' })
    const may = (sign) => at.server.client.call('ACL', 'SETUSER', 'default', ...(at.module ? ['rl.refund'] : ['evalsha', 'eval']).map((word) => sign + word))
    await request(true, 'k', () => may('-')).finally(() => may('+'))
    assert.deepEqual([store.counters.unrefunded, store.counters.faults], [1, 1])
    assert.match(String(logged.splice(0)), /not given back: \w*Error: NOPERM/)
  })

  test('whom a key names: text or a number, and hidden by a secret', async () => {
    for (const [key, secret, expected] of [
      [undefined], [null], [NaN], [{}], [''],
      [7, undefined, '{7}'],
      ['192.0.2.1', 's3cret', '{ccd6238b7021c54d506d60c84a79820e}'],
    ]) {
      const { store } = storeOf({ algorithm: 'TOKEN', unavailable: 'allow', secret })
      if (expected) await store.increment(key)
      else await assert.rejects(store.increment(key), { status: 500, message: /who: expected a text that is not empty/ })
      assert.deepEqual(await at.server.client.call('KEYS', `${store.prefix}*`), expected ? [store.prefix + expected] : [])
    }
  })
})

test('a delay that is longer than a timer of Node.js', () => {
  const code = `
    import { RedisRlStore } from '../dist/index.js'
    const client = async () => '1 1 1 1 0 0 1 1 2147483648 0 0 1'
    const store = new RedisRlStore({ client, algorithm: 'LEAKY' })
    store.init({ windowMs: 1000, limit: 1 })
    store.increment('k').then(() => process.exit(1))
    setTimeout(() => process.exit(7), 100)`
  const options = { cwd: new URL('.', import.meta.url), timeout: 5000 }
  assert.equal(spawnSync(process.execPath, ['--input-type=module', '-e', code], options).status, 7)
})
