// The limiter, with a server with the module, without the module, and away.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import express from 'express'
import supertest from 'supertest'
import { Limiter, Policy, RateLimitError, RedisRlStore, limit, problem } from '../dist/index.js'
import { SINGLES, close, connected } from './connections.js'
import { servers, startServer, waitFor } from './servers.js'

const path = servers.at(-1)
let prefixes = 0
const logged = []
const logger = { warn: (line) => logged.push(line), error: (line) => logged.push(line) }
const limiterOf = (client, options) => new Limiter({ client, prefix: `${(prefixes += 1)}:`, timeout: 10_000, logger, ...options })

for (const module of [true, false]) {
  describe(module ? 'with the module' : 'with the Lua scripts', () => {
    let server, client
    before(async () => {
      server = await startServer(path, '--enable-module-command', 'local', { module })
      client = await connected(SINGLES['redis 6'](server.port))
    })
    after(async () => {
      close(client)
      await server.stop()
    })

    test('check, peek, refund, settle, reset', async () => {
      const limiter = limiterOf(client)
      const policy = { algorithm: 'TOKEN', window: '1h', limit: 10, burst: 5 }
      const first = await limiter.check(policy, 'ann', { cost: 3 })
      assert.deepEqual([first.allowed, first.limit, first.remaining, first.charged, first.source], [true, 5, 2, 3, 'server'])
      assert.deepEqual([first.retryAfterMs, first.delayMs, first.isShadow], [0, 0, false])
      const denied = await limiter.check('TOKEN 1h 10 BURST 5', 'ann', { cost: 3 })
      assert.deepEqual([denied.allowed, denied.charged], [false, 0])
      assert.ok(denied.retryAfterMs > 300_000 && denied.retryAfterMs <= 360_000)
      assert.equal(denied.headers()['Retry-After'], '360')
      assert.equal((await limiter.check(policy, 'ann', { cost: 3, partial: true })).charged, 2)
      assert.equal((await limiter.check(policy, 'ann', { cost: 6 })).retryAfterMs, undefined)
      assert.equal((await limiter.peek(policy, 'ann')).allowed, false)
      assert.equal((await limiter.refund(policy, 'ann', { cost: 2 })).remaining, 0)
      assert.equal((await limiter.settle(policy, 'ann', { reserved: 3, actual: 1 })).remaining, 3)
      assert.deepEqual([await limiter.reset(policy, 'ann'), await limiter.reset(policy, 'ann')], [true, false])
      assert.equal(limiter.counters.allowed + limiter.counters.denied, 4)
    })

    test('several limits: all or none, each with a key of its own', async () => {
      const limiter = limiterOf(client)
      const limits = [['TOKEN 1h 2 AS user', 'ann'], ['FIXED day 9', 'ip:192.0.2.1', { cost: 4 }]]
      for (const allowed of [true, true]) assert.equal((await limiter.checkAll(limits)).allowed, allowed)
      const denied = await limiter.checkAll(limits)
      assert.deepEqual([denied.allowed, ...denied.limits.map(({ allowed }) => allowed)], [false, false, false])
      assert.ok(denied.retryAfterMs > 1_800_000 || denied.limits[1].retryAfterMs === denied.retryAfterMs)
      const headers = denied.headers()
      assert.equal(headers['RateLimit-Policy'], '"user";q=2;w=3600, "fixed";q=9;w=86400')
      assert.equal((await limiter.peek('FIXED day 9', 'ip:192.0.2.1', { cost: 0 })).count, 8)
      assert.equal((await limiter.checkAll([['GCRA 1h 2 SHADOW', 'b', { cost: 3 }], ['GCRA 1h 2 AS b', 'b']])).limits[0].isShadow, true)
    })

    test('a part of its own, and what others leave of the whole', async () => {
      const limiter = limiterOf(client)
      const share = (team, cost) => limiter.share([['COUNTER 1h 2 AS team', team, { cost }], ['TOKEN 1h 4 AS model', 'm', { cost }]])
      const found = []
      for (const cost of [2, 2, 1]) found.push(await share('a', cost))
      assert.deepEqual(found.map(({ allowed, paid }) => [allowed, paid]), [[true, 1], [true, 2], [false, 0]])
      assert.deepEqual(found[1].limits.map(({ charged }) => charged), [0, 2])
      assert.match(found[2].headers().RateLimit, /^"model";r=0/)
      assert.ok(found[2].retryAfterMs > 0 && found[2].retryAfterMs <= 900_000)
      // A request within the team's own part is allowed, whatever other teams have borrowed.
      assert.deepEqual([(await share('b', 2)).paid, (await share('b', 1)).paid], [1, 0])
      await assert.rejects(limiter.share([['TOKEN 1h 4', 'm']]), TypeError)
    })

    test('a lease, and waiting', async () => {
      const limiter = limiterOf(client)
      const held = await limiter.lease('LEASE 30s 1', 'jobs')
      assert.ok(held.allowed && (await held.renew()))
      assert.equal((await limiter.lease('LEASE 30s 1', 'jobs')).allowed, false)
      assert.deepEqual([await held.release(), await held.release()], [true, false])
      await limiter.wait('TOKEN 1s 5 BURST 1', 'w')
      const begin = performance.now()
      const { allowed } = await limiter.wait('TOKEN 1s 5 BURST 1', 'w', { timeout: 5000 })
      assert.ok(allowed && performance.now() - begin > 150)
      await assert.rejects(limiter.wait('TOKEN 1h 1', 'w', { cost: 2 }), /never/)
      await limiter.check('TOKEN 1h 1 AS once', 'w')
      await assert.rejects(limiter.wait('TOKEN 1h 1 AS once', 'w', { timeout: 50 }), /after the timeout/)
      await assert.rejects(limiter.wait('TOKEN 1h 1 AS once', 'w', { signal: AbortSignal.timeout(20) }), { name: 'AbortError' })
    })

    test('an error about the call is never allowed', async () => {
      for (const unavailable of ['error', 'allow', 'deny', 'local']) {
        const limiter = limiterOf(client, { unavailable, instances: 2 })
        await server.client.call('LPUSH', limiter.key('TOKEN 1h 5', 'ann'), 'x')
        await assert.rejects(limiter.check('TOKEN 1h 5', 'ann'), { name: 'RateLimitError', status: 500, message: /WRONGTYPE/ })
        assert.equal(limiter.counters.faults, 1)
        await assert.rejects(limiter.check('LOCKOUT 1h 5', 'ann', { always: true }), { status: 500 })
      }
    })

    test('a reservation is settled, or is an error where there is no module', async () => {
      const limiter = limiterOf(client)
      const reserved = limiter.check('ROLLING 1h 9', 'ann', { cost: 5, reserve: { id: 'call-1', ttl: '1m' } })
      if (!module) return assert.rejects(reserved, { status: 500, message: /only the module has it/ })
      assert.equal((await reserved).charged, 5)
      for (const charged of [2, 0]) {
        assert.equal((await limiter.settle('ROLLING 1h 9', 'ann', { reservation: 'call-1', actual: 2 })).charged, charged)
      }
    })

    test('a middleware: limits by plan, by user and by address', async () => {
      const limiter = limiterOf(client)
      const plans = { free: 'ROLLING 1h 2 AS plan', paid: { algorithm: 'ROLLING', window: '1h', limit: 4, name: 'plan' } }
      const app = express().set('env', 'test')
      app.use(limit(limiter, [
        { policy: (request) => plans[request.get('x-plan')], key: (request) => `user:${request.get('x-user')}` },
        { policy: 'FIXED 1d 5 AS address', key: (request) => `ip:${request.ip}` },
      ]))
      app.get('/', (_request, response) => response.end())
      app.use(problem.error)
      const get = (plan, user) => supertest(app).get('/').set({ 'x-plan': plan, 'x-user': user })
      for (const status of [200, 200, 429]) assert.equal((await get('free', 'ann')).status, status)
      for (const status of [200, 200, 200, 429]) assert.equal((await get('paid', 'bob')).status, status)
      const { headers, body } = await get('paid', 'bob')
      assert.equal(headers['ratelimit-policy'], '"plan";q=4;w=3600, "address";q=5;w=86400')
      assert.deepEqual(body['violated-policies'], ['address'])
      assert.equal((await get('none', 'ann')).status, 500)
      assert.throws(() => limit(limiter, [{ policy: 'FIXED 1d 6 AS address', key: () => 'x' }]), /two limits share the keys .*address/)
    })
  })
}

test('a server that stops: each process keeps its part, and the log says when the server decides again', async () => {
  const server = await startServer(path)
  for (const name of ['redis 6', 'ioredis 6']) {
    const client = await connected(SINGLES[name](server.port))
    const limiter = limiterOf(client, { unavailable: 'local', instances: 2, timeout: 300 })
    const deny = limiterOf(client, { unavailable: 'deny', timeout: 300 })
    const fails = limiterOf(client, { timeout: 300 })
    try {
      assert.equal((await limiter.check('TOKEN 1h 8', 'ann')).source, 'server')
      await server.kill()
      const found = []
      for (let i = 0; i < 6; i++) found.push(await limiter.check('TOKEN 1h 8', 'ann'))
      assert.deepEqual(found.map(({ allowed }) => allowed), [true, true, true, true, false, false])
      assert.deepEqual([found[5].source, found[5].remaining, found[5].headers()['Retry-After']], ['local', 0, '3600'])
      for (const policy of ['LEASE 30s 5', 'LOCKOUT 1h 5', 'FIXED 1h 0']) {
        assert.equal((await limiter.check(policy, 'ann', policy.startsWith('LEASE') ? { id: 'a' } : {})).allowed, false, policy)
      }
      const both = [['FIXED 1h 4 AS a', 'ann'], ['FIXED 1h 2 AS b', 'ann']]
      assert.deepEqual([(await limiter.checkAll(both)).allowed, (await limiter.checkAll(both)).allowed], [true, false])
      const paid = []
      for (let i = 0; i < 4; i++) paid.push((await limiter.share([['FIXED 1h 2 AS own', 'ann'], ['FIXED 1h 6 AS whole', 'w']])).paid)
      assert.deepEqual(paid, [1, 2, 2, 0])
      assert.equal((await limiter.peek('FIXED 1h 4 AS a', 'ann')).remaining, 1)
      assert.equal((await limiter.refund('FIXED 1h 4 AS a', 'ann')).remaining, 2)
      await assert.rejects(limiter.reset('FIXED 1h 4 AS a', 'ann'), { status: 503 })
      assert.deepEqual([(await deny.check('TOKEN 1h 8', 'ann')).source, deny.counters.failedClosed], ['deny', 1])
      await assert.rejects(fails.check('TOKEN 1h 8', 'ann'), (error) => error instanceof RateLimitError && error.status === 503)
      await server.restart()
      await waitFor('the server', async () => (await limiter.check('TOKEN 1h 8', 'bob')).source === 'server')
      // A reply does not reset what this process has counted.
      await server.kill()
      assert.equal((await limiter.check('TOKEN 1h 8', 'ann')).allowed, false)
      await server.restart()
    } finally {
      close(client)
    }
    assert.ok(logged.some((line) => line.includes('the limit of this process decides')))
    assert.ok(logged.splice(0).some((line) => line.includes('the server decides again')))
  }
  await server.stop()
})

test('the module is found when it is loaded later: after five seconds, and over a new connection', async (context) => {
  const server = await startServer(path, '--enable-module-command', 'local', { module: false })
  const client = await connected(SINGLES['ioredis 6'](server.port))
  const [late, reconnected] = [limiterOf(client), limiterOf(client)]
  const remaining = async (limiter) => (await limiter.check('TOKEN 1h 8', 'ann')).remaining
  try {
    assert.deepEqual([await remaining(late), await remaining(reconnected)], [7, 7])
    for (const line of logged.splice(0)) assert.match(line, /no module: the Lua scripts decide, .*: docs\/hosted\.md$/)
    await server.client.call('MODULE', 'LOAD', process.env.RL_MODULE)
    await server.client.call('SCRIPT', 'FLUSH')
    assert.deepEqual([await remaining(late), await remaining(reconnected), logged.length], [6, 6, 0])
    const now = performance.now()
    const clock = context.mock.method(performance, 'now', () => now + 6000)
    assert.equal(await remaining(late), 5)
    clock.mock.restore()
    assert.match(String(logged.splice(0)), /the module decides again/)
    client.disconnect(true) // a new connection may be one to another server
    await once(client, 'ready')
    assert.equal(await remaining(reconnected), 5)
    assert.match(String(logged.splice(0)), /the module decides again/)
    const required = limiterOf(client, { module: 'required' })
    assert.equal((await required.check('TOKEN 1h 8', 'ann')).remaining, 7)
  } finally {
    close(client)
    await server.stop()
  }
})

test('two limits of one name throw when they are made, and name both', () => {
  const client = Object.assign(async () => [], {})
  const stores = (...options) => options.map((own) => {
    const { limit, windowMs = 60_000, ...rest } = own
    const store = new RedisRlStore({ client, logger, ...rest })
    store.init({ windowMs, limit })
    return store
  })
  stores({ limit: 100 }, { limit: 100 }, { limit: 5, name: 'login' }, { limit: 5, windowMs: 1000 }, { limit: 7, prefix: 'a:' })
  assert.throws(() => stores({ limit: 5 }), /fixed:60000ms:\*: FIXED 60000ms 100 and FIXED 60000ms 5: give one of them a name/)
  assert.throws(() => stores({ limit: 8, prefix: 'a:' }), /two limits share the keys a:\*/)
  const limiter = new Limiter({ client, prefix: 'app:' })
  limiter.fixed('TOKEN 1m 60')
  assert.equal(limiter.fixed('TOKEN 60s 60').name, 'token:60000ms')
  assert.throws(() => limiter.fixed('TOKEN 1m 61'), TypeError)
  assert.ok(Policy.of('TOKEN 1m 61'))
})

test('a full table denies a new key, and makes place for one when a window has ended', async () => {
  const away = async () => Promise.reject(new Error('connection refused'))
  const limiter = new Limiter({ client: away, unavailable: 'local', instances: 1, logger: { warn() {}, error() {} } })
  for (let i = 1; i < 10_000; i++) await limiter.check('FIXED 1h 5', `u${i}`)
  await limiter.check('FIXED 2s 5', 'short')
  assert.equal((await limiter.check('FIXED 1h 5', 'new')).allowed, false)
  assert.equal((await limiter.check('FIXED 1h 5', 'u9999')).allowed, true)
  await waitFor('a place', async () => (await limiter.check('FIXED 1h 5', 'new')).allowed)
  assert.equal(limiter.counters.local > 10_000, true)
})
