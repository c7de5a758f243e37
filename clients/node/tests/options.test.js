// What the store accepts, and which errors mean what. No server is needed.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import * as ioredis from 'ioredis'
import * as ioredis5 from 'ioredis5'
import { Limiter, RedisRlStore } from '../dist/index.js'

const client = async () => []

test('wrong options are a TypeError that names the option', () => {
  for (const [options, text] of [
    [{}, /^TypeError: client: expected a client of redis or ioredis/],
    [{ client, algoritm: 'TOKEN' }, /^TypeError: algoritm: there is no such option$/],
    [{ client, algorithm: 'LEASE' }, /^TypeError: algorithm: LEASE is not for requests/],
    [{ client, timeout: '1s' }, /^TypeError: timeout: expected an integer of milliseconds/],
    [{ client, algorithm: 'TOKEN', burst: -1 }, /^TypeError: burst: expected an integer from 1/],
    [{ client, burst: 5 }, /^TypeError: burst: FIXED takes ANCHOR/],
    [{ client, prefix: 'x'.repeat(257) }, /^TypeError: prefix: /],
    [{ client, unavailable: 'yes' }, /^TypeError: unavailable: expected 'error', 'allow', 'deny' or 'local'/],
    [{ client, unavailable: 'local' }, /^TypeError: instances: expected how many processes/],
    [{ client, secret: '' }, /^TypeError: secret: /],
  ]) {
    assert.throws(() => new RedisRlStore(options), (error) => text.test(String(error)) || assert.fail(String(error)))
  }
  new RedisRlStore({ client, algorithm: 'GCRA', burst: 5, prefix: '', timeout: 1, unavailable: 'allow', secret: 's', logger: undefined })
})

/** A store under express-rate-limit's options, and what it logs. */
function storeOf(client, { passOnStoreError, ...options }) {
  const { limit, ...rest } = { limit: 3, ...options }
  const store = new RedisRlStore({ client, algorithm: 'TOKEN', ...rest })
  const lines = []
  const logger = { warn: (line) => lines.push(line), error: (line) => lines.push(line) }
  store.init({ windowMs: 60_000, limit, passOnStoreError, logger })
  return { store, lines }
}

test('what a request gets without a decision', async () => {
  for (const limit of [undefined, '5', null]) {
    const { store, lines } = storeOf(client, { limit, unavailable: 'allow' })
    await assert.rejects(store.increment('k'), { status: 500 })
    assert.match(String(lines), /limit: expected a number, not (undefined|"5"|null)/)
  }
  const never = () => new Promise(() => {})
  const away = async () => Promise.reject(new Error('connection refused'))
  const rejects = async () => Promise.reject(new Error('WRONGTYPE Operation against a key'))
  const open = { failedOpen: 3 }
  for (const [client, options, expected, counters] of [
    [never, {}, 503, { failedClosed: 3, errors: { timeout: 3 } }],
    [never, { unavailable: 'allow' }, 1, { ...open, errors: { timeout: 3 } }],
    [away, {}, 503, { failedClosed: 3, errors: { connection: 3 } }],
    [away, { unavailable: 'allow' }, 1, { ...open, errors: { connection: 3 } }],
    [away, { passOnStoreError: true }, 1, { ...open, errors: { connection: 3 } }],
    [rejects, {}, 500, { faults: 3, errors: { WRONGTYPE: 3 } }],
    [rejects, { unavailable: 'allow' }, 500, { faults: 3, errors: { WRONGTYPE: 3 } }],
    [async () => '1 2 3', { passOnStoreError: true }, Number.MAX_SAFE_INTEGER, { faults: 3, errors: {} }],
    // express-rate-limit would allow after every error.
    [rejects, { passOnStoreError: true }, Number.MAX_SAFE_INTEGER, { faults: 3, errors: { WRONGTYPE: 3 } }],
  ]) {
    const { store, lines } = storeOf(client, { timeout: 20, ...options })
    const asked = []
    for (let i = 0; i < 3; i++) {
      asked.push(store.increment('k').then(({ totalHits }) => totalHits, ({ status }) => status))
      // Those without a reply wait together: one after the other, they could open the breaker.
      if (client !== never) await asked[i]
    }
    assert.deepEqual(await Promise.all(asked), Array(3).fill(expected))
    const none = { allowed: 0, denied: 0, local: 0, failedOpen: 0, failedClosed: 0, faults: 0, unrefunded: 0 }
    assert.deepEqual(store.counters, { ...none, ...counters })
    assert.equal(lines.length, 1) // one line of each kind a second
  }
})

test('a Cluster of ioredis that sends a command again is a TypeError', () => {
  for (const { Cluster } of [ioredis, ioredis5]) {
    const cluster = (options) => new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true, ...options })
    for (const options of [{}, { retryDelayOnFailover: 100 }]) {
      assert.throws(() => new Limiter({ client: cluster(options) }), /^TypeError: client: .* retryDelayOnFailover: 0$/)
    }
    new Limiter({ client: cluster({ retryDelayOnFailover: 0 }) })
  }
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

test('many stores add one listener to their client', () => {
  const client = Object.assign(new EventEmitter(), { sendCommand: async () => [] })
  for (let i = 0; i < 20; i++) new RedisRlStore({ client, prefix: `${i}:` })
  assert.deepEqual([client.listenerCount('error'), client.listenerCount('ready')], [1, 1])
})
