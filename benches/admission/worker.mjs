// A process of `make bench-admission` that asks a package of npm: node worker.mjs <package> <URL> <limit> <seconds>.
// worker.py has the same for PyPI, and says what both read and print. Packages are found from the working directory.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const [name, url, limit, seconds] = [process.argv[2], process.argv[3], Number(process.argv[4]), Number(process.argv[5])]
const require = createRequire(`${process.cwd()}/package.json`)
const load = (name) => import(pathToFileURL(require.resolve(name)))
const user = (request) => request.headers['x-user']

/** Asks over HTTP, as a caller does: [allowed, seconds to wait]. */
const get = (address) => async (key) => {
  const response = await fetch(address, { headers: { 'x-user': key } })
  await response.arrayBuffer()
  return verdict(response)
}
const verdict = ({ status, headers }) => {
  if (status !== 200 && status !== 429) throw new Error(`status ${status}`)
  return [status === 200, headers.has('retry-after') ? Number(headers.get('retry-after')) : null]
}
const listen = async (application) => {
  const server = createServer(application)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return get(`http://127.0.0.1:${server.address().port}/`)
}
const ioredis = async () => new (await load('ioredis')).Redis(url, { enableReadyCheck: false })

async function express(store) {
  const { default: express } = await load('express')
  const { rateLimit } = await load('express-rate-limit')
  const options = { windowMs: seconds * 1000, limit, standardHeaders: 'draft-8', legacyHeaders: false, store }
  const application = express()
  application.use(rateLimit({ ...options, keyGenerator: user }))
  application.get('/', (_, response) => response.send('hello'))
  return listen(application)
}
async function own(algorithm) {
  const { RedisRlStore } = await load('rate-limit-redis-rl')
  const client = (await load('redis')).createClient({ url })
  await client.connect()
  return express(new RedisRlStore({ client, algorithm, timeout: 5000 })) // the machine is busy
}
/** Its scripts have a flag that only Upstash's server knows, so they are loaded without their first line. */
async function upstash(algorithm) {
  const { Ratelimit } = await load('@upstash/ratelimit')
  const client = await ioredis()
  const plain = new Map()
  const redis = {
    async evalsha(hash, keys, words) {
      if (!plain.has(hash)) throw new Error('NOSCRIPT')
      return client.evalsha(plain.get(hash), keys.length, ...keys, ...words)
    },
    async eval(script, keys, words) {
      const hash = createHash('sha1').update(script).digest('hex')
      plain.set(hash, await client.script('LOAD', script.replace(/^#!lua.*\n/, '\n')))
      return redis.evalsha(hash, keys, words)
    },
  }
  const limiter = Ratelimit[algorithm](limit, `${seconds} s`)
  const ratelimit = new Ratelimit({ redis, limiter, enableTelemetry: false })
  return async (key) => {
    const { success, reset } = await ratelimit.limit(key)
    return [success, (reset - Date.now()) / 1000]
  }
}
/** A command that replies with whether a request is denied, and at `wait` with the seconds to wait. */
async function command(allowed, wait, ...words) {
  const client = await ioredis()
  return async (key) => {
    const reply = await client.call(words[0], key, ...words.slice(1))
    return [reply[0] === allowed, reply[wait]]
  }
}

const packages = {
  'express-rate-limit + rate-limit-redis': async () => {
    const { RedisStore } = await load('rate-limit-redis')
    const client = (await load('redis')).createClient({ url })
    await client.connect()
    return express(new RedisStore({ sendCommand: (...words) => client.sendCommand(words) }))
  },
  'rate-limiter-flexible': async () => {
    const { RateLimiterRedis } = (await load('rate-limiter-flexible')).default
    const limiter = new RateLimiterRedis({ storeClient: await ioredis(), points: limit, duration: seconds })
    return (key) => limiter.consume(key).then(
      () => [true, null],
      (rejected) => { if (rejected instanceof Error) throw rejected; return [false, rejected.msBeforeNext / 1000] },
    )
  },
  '@nestjs/throttler + @nest-lab/throttler-storage-redis': async () => {
    await load('reflect-metadata')
    const { Controller, Get, Module } = (await load('@nestjs/common')).default
    const { APP_GUARD, NestFactory } = (await load('@nestjs/core')).default
    const { ThrottlerGuard, ThrottlerModule } = (await load('@nestjs/throttler')).default
    const { ThrottlerStorageRedisService } = (await load('@nest-lab/throttler-storage-redis')).default
    class Pages { index() { return 'hello' } }
    Get()(Pages.prototype, 'index', Object.getOwnPropertyDescriptor(Pages.prototype, 'index'))
    Controller()(Pages)
    class Application {}
    const throttlers = [{ limit, ttl: seconds * 1000, getTracker: user }]
    Module({
      imports: [ThrottlerModule.forRoot({ throttlers, storage: new ThrottlerStorageRedisService(url) })],
      controllers: [Pages],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
    })(Application)
    const application = await NestFactory.create(Application, { logger: false })
    await application.listen(0, '127.0.0.1')
    return get(await application.getUrl())
  },
  'hono-rate-limiter': async () => {
    const { Hono } = await load('hono')
    const { RedisStore, rateLimiter } = await load('hono-rate-limiter')
    const redis = await ioredis()
    const client = {
      scriptLoad: (script) => redis.script('LOAD', script),
      evalsha: (hash, keys, words) => redis.evalsha(hash, keys.length, ...keys, ...words),
      decr: (key) => redis.decr(key),
      del: (key) => redis.del(key),
    }
    const keyGenerator = (context) => context.req.header('x-user')
    const application = new Hono()
    application.use(rateLimiter({ windowMs: seconds * 1000, limit, keyGenerator, store: new RedisStore({ client }) }))
    application.get('/', (context) => context.text('hello'))
    return async (key) => verdict(await application.request('/', { headers: { 'x-user': key } }))
  },
  '@upstash/ratelimit, fixed window': () => upstash('fixedWindow'),
  '@upstash/ratelimit, sliding window': () => upstash('slidingWindow'),
  'rate-limit-redis-rl, FIXED': () => own('FIXED'),
  'rate-limit-redis-rl, ROLLING': () => own('ROLLING'),
  'rlaas, fixed': () => get(`${process.env.RLAAS_URL}/authorize/fixed`),
  'rlaas, rolling': () => get(`${process.env.RLAAS_URL}/authorize/rolling`),
  'redis-cell': () => command(0, 3, 'CL.THROTTLE', limit - 1, limit, seconds),
  throttlecrab: () => command(1, 4, 'THROTTLE', limit, limit, seconds),
  limitador: async () => async (key) => {
    const body = { namespace: 'admission', values: { user: key }, delta: 1, response_headers: 'DRAFT_VERSION_03' }
    const headers = { 'content-type': 'application/json' }
    const options = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${process.env.LIMITADOR_URL}/check_and_report`, options)
    await response.arrayBuffer()
    return verdict(response)
  },
}

async function run(ask, [kind, begin, key, count]) {
  const timed = async () => {
    const sent = Date.now()
    const [allowed, told] = await ask(key)
    return [sent / 1000, Date.now() / 1000, allowed, told]
  }
  const until = async (allowed, pause) => {
    for (;;) {
      const request = await timed()
      if (request[2] === allowed) return request
      await sleep(pause)
    }
  }
  await sleep(Math.max(0, begin * 1000 - Date.now()))
  if (kind === 'burst') return Promise.all(Array.from({ length: count }, timed))
  if (kind === 'sequence') {
    const requests = []
    while (requests.length < count) requests.push(await timed())
    return requests
  }
  const denied = await until(false, 0)
  if (kind === 'poll') return [denied, await until(true, 20)]
  if (denied[3] === null) return [denied]
  await sleep(denied[3] * 1000 + 10)
  return [denied, await timed()]
}

const ask = await packages[name]()
await ask('warm')
console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await Promise.all(JSON.parse(line).map((job) => run(ask, job)))))
}
process.exit()
