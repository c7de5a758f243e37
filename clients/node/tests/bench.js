// The store beside rate-limit-redis, which runs a script, with the same client and server: make bench-node.
//
// A round measures both, one after the other, in turns. The ratio is the median of those of all rounds. With CHECK=1 it
// fails if one is above its goal.
import { setTimeout as sleep } from 'node:timers/promises'
import { RedisStore } from 'rate-limit-redis'
import { createClient } from 'redis'
import { RedisRlStore } from '../dist/index.js'
import { servers, startServer } from './servers.js'

const ROUNDS = 9
const GOALS = { 1: 1.1, 50: 1.1 }

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

/** Microseconds of each of `n` requests, of which so many are under way. */
async function measured(store, n, atOnce) {
  let left = n
  const caller = async () => {
    while (left-- > 0) await store.increment(`user:${left % 1000}`)
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: atOnce }, caller))
  return ((performance.now() - start) * 1000) / n
}

const server = await startServer(servers.at(-1))
const clients = await Promise.all(
  [0, 1].map(() => createClient({ socket: { host: '127.0.0.1', port: server.port } }).connect()),
)
const stores = {
  'rate-limit-redis': new RedisStore({ sendCommand: (...words) => clients[0].sendCommand(words), prefix: 'a:' }),
  'rate-limit-redis-rl': new RedisRlStore({ client: clients[1], timeout: 10_000, prefix: 'b:' }),
}
for (const store of Object.values(stores)) await store.init({ windowMs: 60_000, limit: 1e9 })

let failed = false
for (const [atOnce, goal] of Object.entries(GOALS)) {
  const n = atOnce === '1' ? 2_000 : 20_000
  const found = Object.fromEntries(Object.keys(stores).map((name) => [name, []]))
  for (let round = -2; round < ROUNDS; round += 1) {
    const names = Object.keys(stores)
    for (const name of round % 2 ? names : names.reverse()) {
      const one = await measured(stores[name], n, Number(atOnce))
      if (round >= 0) found[name].push(one)
      await sleep(5)
    }
  }
  const [theirs, ours] = Object.values(found)
  const ratio = median(ours.map((us, round) => us / theirs[round]))
  failed ||= ratio > goal
  const shown = Object.entries(found).map(([name, all]) => `${name} ${median(all).toFixed(1)} µs`)
  console.log(`${atOnce} at once: ${shown.join(', ')}: ${ratio.toFixed(2)} ×, goal ${goal}`)
}
for (const client of clients) client.destroy()
await server.stop()
process.exitCode = failed && process.env.CHECK ? 1 : 0
