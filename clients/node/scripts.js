// @ts-check
// The limits as Lua scripts, for servers that load no modules: lua/head.lua, an algorithm, and what it is called with.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'

// In the package they are beside this file, in a clone at its top.
const [packed, cloned] = ['./lua/', '../../lua/'].map((place) => new URL(place, import.meta.url))
const directory = existsSync(packed) ? packed : cloned

/** The file of an algorithm, if it is not named after it. */
const FILES = { TOKEN: 'bucket', LEAKY: 'bucket' }

/** @type {Map<string, {sha: string, source: string}>} */
const made = new Map()

/** @param {unknown} error */
export const isNoScript = (error) => /^NOSCRIPT/.test(/** @type {any} */ (error)?.message ?? '')

/**
 * A script of these files and of a last line, which is made once.
 * @type {(files: string[], end: string) => {sha: string, source: string}}
 */
function script(files, end) {
  const name = [...files, end].join('+')
  let found = made.get(name)
  if (!found) {
    const texts = ['head', ...files].map((file) => readFileSync(new URL(`${file}.lua`, directory), 'utf8'))
    const source = [...texts, end].join('')
    made.set(name, (found = { sha: createHash('sha1').update(source).digest('hex'), source }))
  }
  return found
}

/**
 * The script of a call, and the words after EVALSHA and EVAL.
 * @type {(call: import('./link.js').Call) => {sha: string, source: string, words: string[]}}
 */
export function scripted({ verb, limits }) {
  const keys = [String(limits.length), ...limits.map(({ key }) => key)]
  const file = (/** @type {import('./policy.js').Algorithm} */ name) => FILES[/** @type {'TOKEN'} */ (name)] ?? name.toLowerCase()
  if (verb !== 'MULTI' && verb !== 'SHARE') {
    const { policy, words } = limits[0]
    return { ...script([file(policy.algorithm)], `return run('${policy.algorithm}')\n`), words: [...keys, verb, ...words] }
  }
  const files = [...new Set(limits.map(({ policy }) => file(policy.algorithm)))].sort()
  const words = limits.flatMap(({ policy, words }) => [policy.algorithm, ...words])
  return { ...script([...files, 'several'], ''), words: [...keys, verb, String(limits.length), ...words, 'LINE'] }
}
