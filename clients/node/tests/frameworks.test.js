// The stores in their frameworks, each with its own guard, headers and errors; and the recipes for Node.js of
// clients/recipes.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fastifyRateLimit from '@fastify/rate-limit'
import { createAdaptorServer } from '@hono/node-server'
import { Controller, Get, Module } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { SkipThrottle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler'
import { betterAuth } from 'better-auth'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import fastify from 'fastify'
import { Hono } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import supertest from 'supertest'
import { redisRlStore } from '../dist/fastify.js'
import { RedisRlStore as HonoStore } from '../dist/hono.js'
import { RedisRlStore, problem } from '../dist/index.js'
import { RedisRlThrottlerStorage } from '../dist/nestjs.js'
import { SINGLES, close, connected } from './connections.js'
import { codeOf, run } from './pages.js'
import { servers, startServer } from './servers.js'

const DAY = 86_400_000
/** Two routes, and what each allows in a day. */
const ROUTES = { two: 2, three: 3 }

/**
 * What each framework sends, and how it is started with the options of a store and its own: `start` resolves with what
 * supertest takes.
 */
const FRAMEWORKS = {
  'express-rate-limit': {
    remaining: () => 'ratelimit-remaining',
    error: (status, title) => JSON.stringify({ type: 'about:blank', title, status }),
    start(store, options) {
      const app = express()
      for (const [name, limit] of Object.entries(ROUTES)) {
        const own = new RedisRlStore({ ...store, prefix: `${store.prefix}${name}:` })
        const keyGenerator = (request) => request.get('x-user')
        const all = { windowMs: DAY, limit, standardHeaders: true, keyGenerator, store: own, ...options }
        app.get(`/${name}`, rateLimit(all), (request, response) => response.status(Number(request.get('x-status') ?? 200)).send('hello'))
      }
      app.get('/bug', () => {
        throw Object.assign(new Error('of the application'), { status: 418 })
      })
      return app.use(problem)
    },
  },
  '@nestjs/throttler': {
    remaining: (route) => `x-ratelimit-remaining${route === 'two' ? '' : '-three'}`,
    retryAfter: (route) => `retry-after${route === 'two' ? '' : '-three'}`,
    error: (statusCode, message) => JSON.stringify({ statusCode, message }),
    async start(store, options) {
      class Routes {
        two() {}
        three() {}
      }
      const skipped = { two: 'three', three: 'default' }
      for (const [name, other] of Object.entries(skipped)) {
        const place = [Routes.prototype, name, Object.getOwnPropertyDescriptor(Routes.prototype, name)]
        for (const decorate of [Get(name), SkipThrottle({ [other]: true })]) decorate(...place)
      }
      Controller()(Routes)
      const throttlers = [
        { limit: 2, ttl: DAY, ...options },
        { name: 'three', limit: 3, ttl: DAY, ...options },
      ]
      const getTracker = (request) => request.get('x-user')
      // Without the names of the routes: a throttler has keys of its own by its name.
      const generateKey = (_context, tracker) => tracker
      const all = { throttlers, getTracker, generateKey, storage: new RedisRlThrottlerStorage(store) }
      class Main {}
      const providers = [{ provide: APP_GUARD, useClass: ThrottlerGuard }]
      Module({ imports: [ThrottlerModule.forRoot(all)], controllers: [Routes], providers })(Main)
      const app = await NestFactory.create(Main, { logger: false })
      await app.init()
      return app.getHttpServer()
    },
  },
  '@fastify/rate-limit': {
    remaining: () => 'x-ratelimit-remaining',
    error: (statusCode, error) => JSON.stringify({ statusCode, error, message: error }),
    async start(store, options) {
      const app = fastify()
      const keyGenerator = (request) => request.headers['x-user']
      const all = { timeWindow: '1 day', max: 2, keyGenerator, store: redisRlStore(store), ...options }
      await app.register(fastifyRateLimit, all)
      app.get('/two', async () => 'hello')
      app.get('/three', { config: { rateLimit: { max: 3 } } }, async () => 'hello')
      await app.ready()
      return app.server
    },
  },
  'hono-rate-limiter': {
    remaining: () => 'ratelimit-remaining',
    error: (_status, title) => title,
    start(store, options) {
      const app = new Hono()
      for (const [name, limit] of Object.entries(ROUTES)) {
        const own = new HonoStore({ ...store, prefix: `${store.prefix}${name}:` })
        const keyGenerator = (context) => context.req.header('x-user')
        app.use(`/${name}`, rateLimiter({ windowMs: DAY, limit, keyGenerator, store: own, ...options }))
        app.get(`/${name}`, (context) => context.text('hello', Number(context.req.header('x-status') ?? 200)))
      }
      return createAdaptorServer({ fetch: app.fetch })
    },
  },
}

let server, client
let number = 0
const away = SINGLES['ioredis 6'](1, { maxRetriesPerRequest: 0, commandTimeout: 100 })
away.on('error', () => {})
const log = ['warn', 'error'].map((name) => mock.method(console, name, () => {}))

before(async () => {
  server = await startServer(servers.at(-1))
  client = await connected(SINGLES['redis 6'](server.port))
})
after(async () => {
  for (const each of [client, away]) close(each)
  await server.stop()
})

/** An application with keys of its own, and how it is asked. */
async function application(name, store = {}, options = {}) {
  const own = { client, algorithm: 'TOKEN', timeout: 10_000, prefix: `${(number += 1)}:`, ...store }
  const app = await FRAMEWORKS[name].start(own, options)
  const get = async (route, headers = {}) =>
    supertest(app).get(`/${route}`).set({ 'x-user': 'anybody', ...headers }).buffer()
  const statuses = async (n, ...words) => {
    const found = []
    for (let i = 0; i < n; i++) found.push((await get(...words)).status)
    return found
  }
  return { get, statuses }
}

for (const [name, { remaining, retryAfter = () => 'retry-after', error }] of Object.entries(FRAMEWORKS)) {
  test(`${name}: two limits, each with its headers`, async () => {
    const { get } = await application(name)
    for (const [route, limit] of Object.entries(ROUTES)) {
      for (let left = limit - 1; left >= 0; left--) {
        const { status, headers } = await get(route)
        assert.deepEqual([status, headers[remaining(route)]], [200, String(left)])
        assert.equal(headers[retryAfter(route)], undefined)
      }
      for (let i = 0; i < 2; i++) {
        const { status, headers } = await get(route)
        assert.equal(status, 429)
        const wait = Number(headers[retryAfter(route)])
        assert.ok(Math.abs(wait - DAY / 1000 / limit) <= 60, `Retry-After: ${wait}`)
      }
      assert.equal((await get(route, { 'x-user': 'another' })).status, 200)
    }
  })

  test(`${name}: without a decision`, async () => {
    // Two of the frameworks would allow after every error.
    const option = { 'express-rate-limit': 'passOnStoreError', '@fastify/rate-limit': 'skipOnError' }[name]
    for (const [store, options, expected, title] of [
      [{ client: away }, {}, 503, 'Service Unavailable'],
      [{ client: away, unavailable: 'allow' }, {}, 200],
      [{ client: away }, { [option]: true }, option ? 200 : 503],
      [{ unavailable: 'allow' }, {}, 500, 'Internal Server Error'],
      [{}, { [option]: true }, option ? 429 : 500],
    ]) {
      await server.client.call('ACL', 'SETUSER', 'default', '-rl.token')
      const app = await application(name, store, options)
      for (let i = 0; i < 4; i++) {
        const { status, headers, text } = await app.get('two')
        assert.equal(status, expected)
        if (title) assert.equal(text, error(status, title))
        if (status === 503 && name !== '@nestjs/throttler') assert.equal(headers['retry-after'], '1')
      }
      await server.client.call('ACL', 'SETUSER', 'default', '+rl.token')
    }
  })
}

test('a wrong configuration is an error when the store is made', async () => {
  for (const [name, store, options, text] of [
    ...Object.keys(FRAMEWORKS).map((name) => [name, { algoritm: 'TOKEN' }, {}, /^TypeError: algoritm: there is no/]),
    ['hono-rate-limiter', {}, { windowMs: 0.5 }, /^TypeError: window: expected a positive integer/],
    ['@fastify/rate-limit', {}, { continueExceeding: true }, /^TypeError: continueExceeding: /],
  ]) {
    await assert.rejects(application(name, store, options), (error) => text.test(String(error)) || assert.fail(error))
  }
})

test('@nestjs/throttler: a blockDuration is a lock of that length', async () => {
  const { get, statuses } = await application('@nestjs/throttler', {}, { blockDuration: 5_000 })
  assert.deepEqual(await statuses(4, 'two'), [200, 200, 429, 429])
  const wait = Number((await get('two')).headers['retry-after'])
  assert.ok(wait > 0 && wait <= 5, `${wait}`)
  const none = await application('@nestjs/throttler', {}, { blockDuration: 0 })
  assert.deepEqual(await none.statuses(3, 'two'), [200, 200, 429])
})

test('@fastify/rate-limit: a ban comes after so many denials, and a backoff is a lock', async () => {
  for (const [ban, expected] of [[0, [200, 200, 403, 403]], [2, [200, 200, 429, 429, 403, 403]]]) {
    const { statuses } = await application('@fastify/rate-limit', {}, { ban })
    assert.deepEqual(await statuses(expected.length, 'two'), expected)
  }
  const { get, statuses } = await application('@fastify/rate-limit', {}, { exponentialBackoff: true, timeWindow: 300 })
  for (const least of [0, 300]) {
    assert.deepEqual(await statuses(3, 'two'), [200, 200, 429])
    const { headers } = await get('two')
    assert.ok(Number(headers['x-ratelimit-reset']) * 1000 > least, headers['x-ratelimit-reset'])
    await sleep(310)
  }
})

for (const name of ['express-rate-limit', 'hono-rate-limiter']) {
  test(`${name}: what succeeded is given back`, async () => {
    const { statuses } = await application(name, {}, { skipSuccessfulRequests: true })
    assert.deepEqual(await statuses(4, 'two'), Array(4).fill(200))
    // It also takes back what was denied, which was not charged.
    assert.deepEqual(await statuses(4, 'two', { 'x-status': '401' }), [401, 401, 429, 429])
  })
}

test('express-rate-limit: the headers of draft 8, and an error of the application', async () => {
  const { get } = await application('express-rate-limit', {}, { standardHeaders: 'draft-8', identifier: 'login' })
  const { headers } = await get('two')
  assert.match(headers['ratelimit'], /^"login"; r=1; t=43[12]\d\d$/)
  assert.match(headers['ratelimit-policy'], /^"login"; q=2; w=86400/)
  assert.equal((await get('bug')).status, 418)
})

const recipe = (name) => new URL(`../../recipes/${name}`, import.meta.url)

test('the recipe for rate-limiter-flexible', async () => {
  const code = await readFile(recipe('rate-limiter-flexible.js'), 'utf8')
  const limiterOf = (client) => run(code, { client, RateLimiterMemory, RateLimiterRedis }, 'limiter')
  const denied = (limiter, key, points) => limiter.consume(key, points).then(assert.fail, (found) => found)
  const limiter = await limiterOf(server.client)
  assert.equal((await limiter.consume('a', 4)).remainingPoints, 6)
  const { consumedPoints, msBeforeNext } = await denied(limiter, 'a', 7)
  const reply = await server.client.call('RL.PEEK', 'COUNTER', 'rlflx:a', '60', '10', 'COST', '7', 'FULL')
  const wait = reply[reply.indexOf('retry_after_ms') + 1]
  assert.equal(consumedPoints, 11)
  assert.ok(Math.abs(msBeforeNext - wait) < 5000, `${msBeforeNext}, not ${wait}`)
  assert.equal((await limiter.consume('b', 10)).remainingPoints, 0)
  await denied(limiter, 'b')
  await limiter.delete('b')
  assert.equal((await limiter.consume('b')).remainingPoints, 9)
  const insured = await limiterOf(away)
  assert.equal((await insured.consume('a', 10)).remainingPoints, 0)
  await denied(insured, 'a')
})

test('the recipe for better-auth', async (context) => {
  const env = { BETTER_AUTH_URL: 'http://localhost', BETTER_AUTH_SECRET: randomBytes(32).toString('hex') }
  Object.assign(process.env, env)
  const [send] = /const isReply.*?\n}\n/s.exec(await codeOf('docs/clients.md', 'from "ioredis"'))
  const code = send + (await readFile(recipe('better-auth.js'), 'utf8'))
  const body = JSON.stringify({ currentPassword: 'a wrong one', newPassword: 'another one' })
  const authenticating = async (client) => {
    const auth = await run(code, { client, betterAuth }, 'auth')
    return (address) => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': address }
      const url = 'http://localhost/api/auth/change-password'
      return auth.handler(new Request(url, { method: 'POST', headers, body }))
    }
  }
  const post = await authenticating(server.client)
  // Without a session each is rejected. Three are allowed to try in 10 s.
  for (const status of [401, 401, 401, 429]) assert.equal((await post('192.0.2.1')).status, status)
  const seconds = Number((await post('192.0.2.1')).headers.get('x-retry-after'))
  assert.ok(seconds >= 1 && seconds <= 10, `${seconds}`)
  assert.equal((await post('192.0.2.2')).status, 401)
  await server.client.rpush('auth:192.0.2.3|/change-password', 'x')
  await assert.rejects(post('192.0.2.3'), /WRONGTYPE/)
  assert.equal((await (await authenticating(away))('192.0.2.1')).status, 401)
  const options = { username: 'nobody', password: 'wrong', maxRetriesPerRequest: 0, lazyConnect: true }
  const rejected = SINGLES['ioredis 6'](server.port, options)
  context.after(() => close(rejected))
  await assert.rejects((await authenticating(rejected))('192.0.2.1'), /WRONGPASS/)
})
