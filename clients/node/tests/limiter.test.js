// The limiter, with a server with the module, without the module, and away.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import express from 'express'
import * as ioredis from 'ioredis'
import * as ioredis5 from 'ioredis5'
import supertest from 'supertest'
import { Limiter, Policy, RateLimitError, RedisRlStore, addressKey, limit, problem } from '../dist/index.js'
import { SINGLES, close, connected } from './connections.js'
import { codeOf, run } from './pages.js'
import { logger, logged, nextPrefix, onBoth, path, startServer, waitFor } from './servers.js'

const client = async () => []
const limiterOf = (client, options) => new Limiter({ client, prefix: nextPrefix(), timeout: 10_000, logger, ...options })

onBoth((at) => {
  test('check, peek, refund, settle, reset', async () => {
    const limiter = limiterOf(at.client)
    const policy = 'TOKEN 1h 10 BURST 5'
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
    const limiter = limiterOf(at.client)
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
    const limiter = limiterOf(at.client)
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
    const limiter = limiterOf(at.client)
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
      const limiter = limiterOf(at.client, { unavailable, instances: 2 })
      await at.server.client.call('LPUSH', limiter.key('TOKEN 1h 5', 'ann'), 'x')
      await assert.rejects(limiter.check('TOKEN 1h 5', 'ann'), { name: 'RateLimitError', status: 500, message: /WRONGTYPE/ })
      assert.equal(limiter.counters.faults, 1)
      await assert.rejects(limiter.check('LOCKOUT 1h 5', 'ann', { always: true }), { status: 500 })
    }
  })

  test('a reservation is settled, or is an error where there is no module', async () => {
    const limiter = limiterOf(at.client)
    const reserved = limiter.check('ROLLING 1h 9', 'ann', { cost: 5, reserve: { id: 'call-1', ttl: '1m' } })
    if (!at.module) return assert.rejects(reserved, { status: 500, message: /only the module has it/ })
    assert.equal((await reserved).charged, 5)
    for (const charged of [2, 0]) {
      assert.equal((await limiter.settle('ROLLING 1h 9', 'ann', { reservation: 'call-1', actual: 2 })).charged, charged)
    }
  })

  test('a middleware: limits by plan, by user and by address', async () => {
    const limiter = limiterOf(at.client)
    const plans = { free: 'ROLLING 1h 2 AS plan', paid: 'ROLLING 1h 4 AS plan' }
    const app = express().set('env', 'test')
    app.use(limit(limiter, [
      { policy: (request) => plans[request.get('x-plan')], key: (request) => `user:${request.get('x-user')}` },
      { policy: 'FIXED 1d 5 AS address', key: (request) => `ip:${request.ip}` },
    ]))
    app.get('/', (_request, response) => response.end())
    app.use(problem)
    const get = (plan, user) => supertest(app).get('/').set({ 'x-plan': plan, 'x-user': user })
    for (const status of [200, 200, 429]) assert.equal((await get('free', 'ann')).status, status)
    for (const status of [200, 200, 200, 429]) assert.equal((await get('paid', 'bob')).status, status)
    const { headers, body } = await get('paid', 'bob')
    assert.equal(headers['ratelimit-policy'], '"plan";q=4;w=3600, "address";q=5;w=86400')
    assert.deepEqual(body['violated-policies'], ['address'])
    assert.equal((await get('none', 'ann')).status, 500)
    assert.throws(() => limit(limiter, [{ policy: 'FIXED 1d 6 AS address', key: () => 'x' }]), /two limits share the keys .*address/)
  })

  test('the examples of the page', async () => {
    const [calls, middleware] = await Promise.all(['new Limiter(', 'plans['].map((words) => codeOf('clients/node/README.md', words)))
    const app = express()
    app.use((request, _response, next) => {
      request.user = { id: 42, plan: 'free' }
      next()
    })
    await run(calls + middleware, { client: at.client, app, plans: { free: 'TOKEN 1m 60' }, Limiter, addressKey, limit })
    app.get('/', (_request, response) => response.end())
    assert.equal((await supertest(app).get('/')).headers['ratelimit-policy'], '"token";q=60;w=60, "address";q=5000;w=3600')
  })
})

test('a server that stops: what unavailable says, and the log says once when the server decides again', async (context) => {
  const server = await startServer(path)
  context.after(() => server.stop())
  for (const name of ['redis 6', 'ioredis 6']) {
    const client = await connected(SINGLES[name](server.port))
    const [local, deny, fails] = ['local', 'deny', 'error'].map((unavailable) => limiterOf(client, { unavailable, instances: 2, timeout: 300 }))
    const check = async (who = 'ann') => {
      const { allowed, source } = await local.check('TOKEN 1h 2', who)
      return [allowed, source]
    }
    try {
      assert.deepEqual(await check(), [true, 'server'])
      await server.kill()
      for (const allowed of [true, false]) assert.deepEqual(await check(), [allowed, 'local'])
      await assert.rejects(local.reset('TOKEN 1h 2', 'ann'), { status: 503 })
      assert.deepEqual([(await deny.check('TOKEN 1h 8', 'ann')).source, deny.counters.failedClosed], ['deny', 1])
      await assert.rejects(fails.check('TOKEN 1h 8', 'ann'), (error) => error instanceof RateLimitError && error.status === 503)
      await server.restart()
      await waitFor('the server', async () => (await check('bob'))[1] === 'server')
      const later = performance.now() + 2000 // the same line is in the log once a second
      const clock = context.mock.method(performance, 'now', () => later)
      await check('bob')
      clock.mock.restore()
      // A reply does not reset what this process has counted.
      await server.kill()
      assert.deepEqual(await check(), [false, 'local'])
      await server.restart()
    } finally {
      close(client)
    }
    const lines = logged.splice(0)
    assert.ok(lines.join().includes('the limit of this process decides'))
    assert.equal(lines.filter((line) => line.includes('the server decides again')).length, 1)
  }
})

test('the module is found when it is loaded later: after five seconds, and over a new connection', async (context) => {
  const server = await startServer(path, { module: false })
  const client = await connected(SINGLES['ioredis 6'](server.port))
  const [late, reconnected] = [limiterOf(client), limiterOf(client)]
  const remaining = async (limiter) => (await limiter.check('TOKEN 1h 8', 'ann')).remaining
  try {
    assert.deepEqual([await remaining(late), await remaining(reconnected)], [7, 7])
    for (const line of logged.splice(0)) assert.match(line, /no module: the Lua scripts decide, .*: docs\/hosted\.md$/)
    const required = limiterOf(client, { module: 'required', unavailable: 'allow' })
    // The server's own error repeats the caller.
    const text = 'the call was rejected: Error: ERR no module: the server has not loaded redis-rl; start it with --loadmodule'
    await assert.rejects(remaining(required), ({ status, message }) => status === 500 && message.startsWith(text) && !message.includes('ann'))
    assert.match(String(logged.splice(0)), /a fault of the configuration: Error: ERR no module/)
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
    assert.equal(await remaining(required), 7)
  } finally {
    close(client)
    await server.stop()
  }
})

test('two limits of one name throw when they are made, and name both', async () => {
  const stores = (...options) => options.map((own) => {
    const { limit, windowMs = 60_000, ...rest } = own
    const store = new RedisRlStore({ client, logger, ...rest })
    store.init({ windowMs, limit })
    return store
  })
  stores({ limit: 100 }, { limit: 100 }, { limit: 5, name: 'login' }, { limit: 5, windowMs: 1000 }, { limit: 7, prefix: 'a:' })
  assert.throws(() => stores({ limit: 5 }), /fixed:60000ms:\*: FIXED 60000ms 100 and FIXED 60000ms 5: give one of them a name/)
  const store = new RedisRlStore({ client, logger, prefix: 'a:' })
  assert.throws(() => store.init({ windowMs: 60_000, limit: 8 }), /two limits share the keys a:\*/)
  // express-rate-limit logs that and goes on.
  await assert.rejects(store.increment('k'), { status: 500, message: /two limits share the keys a:\*/ })
  const limiter = new Limiter({ client, prefix: 'app:' })
  limiter.fixed('TOKEN 1m 60')
  limiter.fixed('TOKEN 60s 60')
  assert.throws(() => limiter.fixed('TOKEN 1m 61'), TypeError)
  assert.ok(Policy.of('TOKEN 1m 61'))
})

test('without a server each process keeps its part, in a bounded table', async () => {
  const away = async () => Promise.reject(new Error('connection refused'))
  const limiter = new Limiter({ client: away, unavailable: 'local', instances: 2, logger: { warn() {}, error() {} } })
  const share = (own, whole, cost) => limiter.share([[own, 'ann', { cost }], [whole, 'w', { cost }]])
  const checkAll = () => limiter.checkAll([['FIXED 1h 4 AS a', 'ann'], ['FIXED 1h 2 AS b', 'ann']])
  const remaining = (found) => found.then((decision) => decision.remaining)
  const allowed = (found) => found.then((decision) => decision.allowed)
  const check = (policy, who, options) => allowed(limiter.check(policy, who, options))
  const paid = async (...words) => {
    const found = await share(...words)
    return [found.paid, ...found.limits.map(({ charged }) => charged)]
  }
  const full = async () => {
    // Six keys are there.
    for (let i = 7; i < 10_000; i++) await limiter.check('FIXED 1h 5', `u${i}`)
    return check('FIXED 2s 5', 'short')
  }
  for (const [what, found, expected] of [
    ['limit ÷ instances', () => check('TOKEN 1h 2', 'ann'), true],
    ['and no more', async () => (await limiter.check('TOKEN 1h 2', 'ann')).headers()['Retry-After'], '3600'],
    ['at least 1', () => check('FIXED 1h 1', 'ann'), true],
    ['of 0 none', () => check('FIXED 1h 0 AS none', 'ann'), false],
    ['shadow mode', () => check('TOKEN 1h 2 SHADOW', 'ann'), true],
    ['who holds a lease is not known', () => check('LEASE 30s 5', 'ann', { id: 'a' }), false],
    ['nor who is locked', () => check('LOCKOUT 1h 5', 'ann'), false],
    ['several', () => allowed(checkAll()), true],
    ['all or none', () => allowed(checkAll()), false],
    ['a peek charges nothing', () => remaining(limiter.peek('FIXED 1h 4 AS a', 'ann')), 1],
    ['a refund', () => remaining(limiter.refund('FIXED 1h 4 AS a', 'ann')), 2],
    ['a part of its own', () => paid('FIXED 1h 2 AS own', 'FIXED 1h 6 AS whole'), [1, 1, 1]],
    ['what others leave', () => paid('FIXED 1h 2 AS own', 'FIXED 1h 6 AS whole', 2), [2, 0, 2]],
    ['neither', () => paid('FIXED 1h 2 AS own', 'FIXED 1h 6 AS whole'), [0, 0, 0]],
    ['the last place', full, true],
    ['a full table', () => check('FIXED 1h 5', 'new'), false],
    ['a key that is counted', () => check('FIXED 1h 5', 'u9999'), true],
    ['a share of new keys', () => paid('FIXED 1h 5 AS new', 'FIXED 1h 5 AS new-too'), [0, 0, 0]],
    ['a share whose wider limit has no place', () => paid('FIXED 1h 4 AS a', 'FIXED 1h 5 AS new-too'), [1, 1, 0]],
  ]) {
    assert.deepEqual(await found(), expected, what)
  }
  await waitFor('a place', () => check('FIXED 1h 5', 'new'))
})

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

test('what a request gets without a decision', async () => {
  const never = () => new Promise(() => {})
  const away = async () => Promise.reject(new Error('connection refused'))
  const rejects = async () => Promise.reject(new Error('WRONGTYPE Operation against a key'))
  for (const [client, unavailable, expected, counters] of [
    [never, 'error', 503, { failedClosed: 3, errors: { timeout: 3 } }],
    [never, 'allow', true, { failedOpen: 3, errors: { timeout: 3 } }],
    [away, 'error', 503, { failedClosed: 3, errors: { connection: 3 } }],
    [away, 'allow', true, { failedOpen: 3, errors: { connection: 3 } }],
    [away, 'deny', false, { failedClosed: 3, errors: { connection: 3 } }],
    [rejects, 'error', 500, { faults: 3, errors: { WRONGTYPE: 3 } }],
    [rejects, 'allow', 500, { faults: 3, errors: { WRONGTYPE: 3 } }],
    [async () => '1 2 3', 'allow', 500, { faults: 3 }],
  ]) {
    const limiter = limiterOf(client, { unavailable, timeout: 20 })
    logged.length = 0
    const asked = []
    for (let i = 0; i < 3; i++) {
      asked.push(limiter.check('TOKEN 1m 3', 'k').then(({ allowed }) => allowed, ({ status }) => status))
      // Those without a reply wait together: one after the other, they could open the breaker.
      if (client !== never) await asked[i]
    }
    assert.deepEqual(await Promise.all(asked), Array(3).fill(expected))
    const none = { allowed: 0, denied: 0, local: 0, failedOpen: 0, failedClosed: 0, faults: 0, errors: {} }
    assert.deepEqual(limiter.counters, { ...none, ...counters })
    assert.equal(logged.splice(0).length, 1) // one line of each kind a second
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

test('many stores add one listener to their client', () => {
  const client = Object.assign(new EventEmitter(), { sendCommand: async () => [] })
  for (let i = 0; i < 20; i++) new RedisRlStore({ client, prefix: `${i}:` })
  assert.deepEqual([client.listenerCount('error'), client.listenerCount('ready')], [1, 1])
})
