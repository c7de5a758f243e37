// The Node.js recipes of docs/recipes.md as they stand there, with the real packages.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { betterAuth } from 'better-auth'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { SINGLES } from './connections.js'
import { codeOf, run } from './pages.js'
import { servers, startServer } from './servers.js'

let server, client
before(async () => {
  server = await startServer(servers.at(-1))
  client = SINGLES['ioredis 6'](server.port, { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false })
  client.on('error', () => {})
})
after(async () => {
  client.disconnect()
  await server.stop()
})

const calls = async (command) => {
  const found = new RegExp(`cmdstat_${command}:calls=(\\d+)`, 'i').exec(await server.client.info('commandstats'))
  return Number(found?.[1] ?? 0)
}

/** Runs the test with the server, then `away` without it. */
async function withoutServer(away) {
  await server.kill()
  try {
    await away()
  } finally {
    await server.restart()
  }
}

test('rate-limiter-flexible', async () => {
  const code = await codeOf('docs/recipes.md', 'customIncrTtlLuaScript')
  const limiter = await run(code, { client, RateLimiterMemory, RateLimiterRedis }, 'limiter')
  const denied = (key, points) => limiter.consume(key, points).then(assert.fail, (found) => found)
  assert.equal((await limiter.consume('a', 4)).remainingPoints, 6)
  const found = await denied('a', 7)
  assert.equal(found.consumedPoints, 11)
  const wait = await server.client.call('RL.PEEK', 'COUNTER', 'rlflx:a', '60', '10', 'COST', '7', 'FULL')
  assert.ok(Math.abs(found.msBeforeNext - wait[wait.indexOf('retry_after_ms') + 1]) < 5000, `${found.msBeforeNext}`)
  const before = await calls('rl.counter')
  await denied('a', 1)
  assert.equal(await calls('rl.counter'), before, 'what this process knows to be denied is not sent')
  for (let i = 9; i >= 0; i--) assert.equal((await limiter.consume('b')).remainingPoints, i)
  await denied('b')
  await limiter.delete('b')
  assert.equal((await limiter.consume('b')).remainingPoints, 9)
  await withoutServer(async () => {
    assert.equal((await limiter.consume('c', 10)).remainingPoints, 0)
    assert.equal((await denied('c')).consumedPoints, 11)
  })
})

test('better-auth', async () => {
  Object.assign(process.env, { BETTER_AUTH_URL: 'http://localhost', BETTER_AUTH_SECRET: randomBytes(32).toString('hex') })
  const [send] = /function send.*?\n}\n/s.exec(await codeOf('docs/clients.md', 'from "ioredis"'))
  const code = send + (await codeOf('docs/recipes.md', 'customStorage'))
  const auth = await run(code, { client, betterAuth }, 'auth')
  const headers = (address) => ({ 'content-type': 'application/json', 'x-forwarded-for': address })
  const body = JSON.stringify({ currentPassword: 'a wrong one', newPassword: 'another one' })
  const url = `${process.env.BETTER_AUTH_URL}/api/auth/change-password`
  const post = (address) => auth.handler(new Request(url, { method: 'POST', headers: headers(address), body }))
  const statuses = async (n, address) => {
    const found = []
    for (let i = 0; i < n; i++) found.push((await post(address)).status)
    return found
  }
  // Without a session each is rejected. Three are allowed to try in 10 s.
  assert.deepEqual(await statuses(4, '192.0.2.1'), [401, 401, 401, 429])
  const seconds = Number((await post('192.0.2.1')).headers.get('x-retry-after'))
  assert.ok(seconds >= 1 && seconds <= 10, `${seconds}`)
  assert.deepEqual(await statuses(1, '192.0.2.2'), [401])
  await withoutServer(async () => assert.deepEqual(await statuses(4, '192.0.2.1'), [401, 401, 401, 401]))
  await server.client.set('auth:192.0.2.1|/change-password', 'x')
  await assert.rejects(post('192.0.2.1'), /WRONGTYPE|redis-rl|ERR/)
})
