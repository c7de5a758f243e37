import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RESP_TYPES } from 'redis'
import { Limiter } from '../index.js'
import { CLUSTERS, SINGLES, close, connected } from './connections.js'
import { codeOf, run } from './pages.js'
import { servers, startCluster, startForwarder, startServer, waitFor } from './servers.js'

const quiet = { warn() {}, error() {} }
const path = servers.at(-1)
/** Sends nothing again by itself. */
const ioRedis = (port) => {
  const client = SINGLES['ioredis 6'](port, { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false })
  client.on('error', () => {})
  return client
}

let number = 0

describe('reservations', () => {
  let server, client, limiter
  before(async () => {
    server = await startServer(path)
    client = ioRedis(server.port)
    limiter = new Limiter({ client, timeout: 30_000, logger: quiet })
  })
  after(() => {
    client.disconnect()
    return server?.stop()
  })

  /** The limits of a call under keys of its own, and what is counted of them. */
  function calls() {
    const key = `{r${(number += 1)}}`
    const limits = (estimate, lease = '1h') => [
      ['WINDOW', `${key}:requests`, '1d', 10],
      ['ROLLING', `${key}:tokens`, '1d', 1000, 'COST', estimate, 'AS', 'tokens'],
      ['LEASE', `${key}:calls`, lease, 2],
    ]
    const counted = async () => [
      Number(await server.client.get(`${key}:requests`)),
      (await server.client.call('RL.PEEK', 'ROLLING', `${key}:tokens`, '1d', 1000, 'COST', 0))[1],
      await server.client.zcard(`${key}:calls`),
    ]
    const becomes = async (...expected) => {
      await waitFor('it', async () => String(await counted()) === String(expected)).catch(() => {})
      assert.deepEqual(await counted(), expected)
    }
    return { key, limits, counted, becomes }
  }

  for (const [name, connect] of Object.entries({
    redis: SINGLES['redis 6'],
    ioredis: ioRedis,
    'redis, numbers as text': (port) =>
      SINGLES['redis 6'](port, { commandOptions: { typeMapping: { [RESP_TYPES.NUMBER]: String } } }),
    'ioredis, numbers as text': (port) => SINGLES['ioredis 6'](port, { stringNumbers: true }),
  })) {
    test(`${name}: it settles once`, async () => {
      const client = await connected(connect(server.port))
      const { key, limits, counted } = calls()
      try {
        const limiter = new Limiter({ client, timeout: 30_000, logger: quiet })
        const reservation = await limiter.reserve(limits(300), '1h')
        assert.ok(reservation.allowed)
        assert.match(reservation.decision.headers['RateLimit-Policy'], /"tokens";q=1000;w=86400/)
        assert.deepEqual(await counted(), [1, 300, 1])
        reservation.report(7)
        await reservation.settle(420)
        await reservation.settle(1)
        await reservation.cancel()
        reservation.close()
        await sleep(20)
        assert.deepEqual(await counted(), [1, 420, 0])
        const denied = await limiter.reserve(limits(700), '1h')
        assert.deepEqual([denied.allowed, denied.decision.limits.map(([allowed]) => allowed)], [false, [1, 0, 1]])
        assert.ok(Number(denied.decision.headers['Retry-After']) > 86_000)
        await denied.settle(700)
        assert.deepEqual(await counted(), [1, 420, 0])
        assert.deepEqual([limiter.counters.allowed, limiter.counters.denied], [1, 1])
        const short = await limiter.reserve([['LEASE', `${key}:short`, '300ms', 1]], '1h')
        await sleep(700)
        assert.equal(short.isLost, false) // it is renewed
        assert.ok(await server.client.zscore(`${key}:short`, short.id))
        await server.client.del(`${key}:short`)
        await waitFor('the loss', () => short.isLost)
      } finally {
        close(client)
      }
    })
  }

  for (const id of [undefined, 'call-1']) {
    test(`aborted while it waits for the reply, ${id ? 'with' : 'without'} an id that another caller holds`, async () => {
      const { limits, becomes } = calls()
      const first = await limiter.reserve(limits(50), '1h', { id: 'call-1' })
      await server.client.call('CLIENT', 'PAUSE', 60_000, 'WRITE')
      const controller = new AbortController()
      const again = limiter.reserve(limits(50), '1h', { id, signal: controller.signal })
      const rejected = assert.rejects(again, { name: 'AbortError' })
      await sleep(50)
      controller.abort()
      await server.client.call('CLIENT', 'UNPAUSE')
      await rejected
      await sleep(50) // what would cancel the one of another caller has had its time
      await becomes(1, 50, 1)
      await first.settle(60)
      await becomes(1, 60, 0)
    })
  }

  test('a lease whose renewal has no reply is lost before another is allowed', async () => {
    const { key } = calls()
    const policies = [['LEASE', `${key}:calls`, '1s', 1]]
    const address = await startForwarder(server.port)
    const client = ioRedis(address.port)
    try {
      const lossy = new Limiter({ client, timeout: 30_000, logger: quiet })
      const reservation = await lossy.reserve(policies, '1h')
      address.stop()
      assert.equal((await limiter.reserve(policies, '1h')).allowed, false)
      const next = await waitFor('another holder', async () => {
        const found = await limiter.reserve(policies, '1h')
        return found.allowed && found
      })
      assert.equal(reservation.isLost, true)
      await next.cancel()
    } finally {
      client.disconnect()
      address.stop()
    }
  })

  test('a lease that is longer than a timer of Node.js', async () => {
    const { key } = calls()
    await server.client.call('CONFIG', 'RESETSTAT')
    const reservation = await limiter.reserve([['LEASE', `${key}:calls`, '90d', 1]], '1h')
    await sleep(50)
    await reservation.cancel()
    assert.doesNotMatch(await server.client.info('commandstats'), /rl\.renew/i)
  })

  test('the code of the pages', async () => {
    await client.flushall()
    const becomes = (key, units) =>
      waitFor('the settlement', async () => {
        const tokens = await server.client.call('RL.PEEK', 'ROLLING', `${key}:tokens`, '1m', 9000, 'COST', 0)
        return tokens[1] === units && (await server.client.zcard(`${key}:calls`)) === 0
      })
    const page = async (path, words, names, result) => {
      const patient = (await codeOf(path, words)).replace('Limiter({ client', 'Limiter({ client, timeout: 30_000')
      return run(patient, { Limiter, ...names }, result)
    }
    class TooManyRequests extends Error {}
    const names = { client, TooManyRequests }
    const complete = await page('docs/language-models.md', 'function* complete', names, 'complete')
    const prompt = { tokens: 100 }
    const model = {
      async *stream() {
        for (let i = 0; i < 30; i++) yield { tokens: 10 }
      },
    }
    const { signal } = new AbortController()
    let parts = 0
    for await (const part of complete(model, prompt, 1000, signal)) parts += part.tokens / 10
    assert.equal(parts, 30)
    await becomes('{acme}', 400)
    // The caller hangs up: it leaves the loop, or its signal is aborted.
    for await (const part of complete(model, prompt, 1000, signal)) if (part) break
    await becomes('{acme}', 510)
    const controller = new AbortController()
    const stream = complete(model, prompt, 1000, controller.signal)
    await stream.next()
    controller.abort()
    await becomes('{acme}', 620)
    await stream.return()
    await assert.rejects(complete(model, prompt, 9000, signal).next(), TooManyRequests)
    await becomes('{acme}', 620)
  })

  test('a server that is away', async () => {
    const address = await startForwarder(1)
    const client = ioRedis(address.port)
    const { limits } = calls()
    try {
      const onError = () => {
        throw new Error('of the caller')
      }
      const limiter = new Limiter({ client, failOpen: true, logger: quiet, onError })
      for (let i = 0; i < 10; i++) (await limiter.reserve(limits(1), '1s')).close()
      assert.equal(limiter.counters.failedOpen, 10)
      const lease = await limiter.reserve(limits(1, '100ms'), '1s')
      await sleep(200)
      assert.deepEqual([lease.isLost, limiter.counters.leasesLost], [false, 0]) // it may never have had one
      const closed = new Limiter({ client, logger: quiet })
      await assert.rejects(closed.reserve(limits(1), '1s'), { status: 503 })
    } finally {
      client.disconnect()
      address.stop()
    }
  })
})

test('reservations in a cluster', async () => {
  const cluster = await startCluster(path)
  const ports = cluster.nodes.map(({ port }) => port)
  try {
    for (const [name, connect] of Object.entries(CLUSTERS)) {
      const client = await connected(connect(ports))
      const limiter = new Limiter({ client, timeout: 30_000 })
      for (const tag of ['a', 'b', 'c']) {
        const limits = [
          ['COUNTER', `{${name}${tag}}:tokens`, '1d', 100, 'COST', 60],
          ['LEASE', `{${name}${tag}}:calls`, '1h', 1],
        ]
        const reservation = await limiter.reserve(limits, '1h')
        assert.ok(reservation.allowed)
        assert.equal((await limiter.reserve(limits, '1h')).allowed, false)
        await reservation.settle(40)
        await (await limiter.reserve(limits, '1h')).cancel()
      }
      close(client)
    }
  } finally {
    await cluster.stop()
  }
})
