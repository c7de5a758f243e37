// Reads every header in a file with the parser structured-headers, as draft-ietf-httpapi-ratelimit-headers-10 defines
// them: scripts/test-headers
//   RateLimit-Policy  a List of Items; each is a String with the parameters q (Integer, 0 or more), w (Integer, 1 or more), qu (String)
//   RateLimit         a List of Items; each is a String with the parameters r and t (Integers, 0 or more)
import { readFileSync } from 'node:fs'
import { parseList } from 'structured-headers'

const parameters = {
  'RateLimit-Policy': { required: ['q', 'w'], integers: ['q', 'w'], strings: ['qu'] },
  RateLimit: { required: ['r'], integers: ['r', 't'], strings: [] },
}
const lines = readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)
const count = {}
for (const line of lines) {
  const [, field, value] = line.match(/^([^:]+): (.*)$/)
  const { required, integers, strings } = parameters[field]
  const fail = (what) => {
    throw new Error(`${line}\n${what}`)
  }
  const items = parseList(value)
  if (items.length === 0) fail('is empty')
  for (const [name, found] of items) {
    if (typeof name !== 'string') fail('the name of a policy is no String')
    for (const one of required) if (!found.has(one)) fail(`has no ${one}`)
    for (const [one, value] of found) {
      if (integers.includes(one) ? !(Number.isInteger(value) && value >= 0) : !(strings.includes(one) && typeof value === 'string'))
        fail(`${one} is not as the draft says`)
    }
    if (found.get('w') === 0) fail('w is 0')
  }
  if (new Set(items.map(([name]) => name)).size !== items.length) fail('two policies have one name')
  count[field] = (count[field] ?? 0) + 1
}
for (const field of Object.keys(parameters)) if (!count[field]) throw new Error(`the tests produced no ${field}`)
console.log('structured-headers accepts', Object.entries(count).map(([field, n]) => `${n} of ${field}`).join(' and '))
