// A call: the words of the command or, on a server that loads no modules, of a Lua script: lua/head.lua, an algorithm, and
// what it is called with.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { Policy } from './policy.js'

/** One limit of a call: the policy, the key in Redis, what is asked for, and the words of the command after the key. */
export type Limit = { policy: Policy; key: string; cost: number; words: string[] }

/** A call of the module or of a script: the same words in another order. */
export type Call = { verb: 'CHECK' | 'PEEK' | 'REFUND' | 'SETTLE' | 'RESET' | 'RENEW' | 'RELEASE' | 'MULTI' | 'SHARE'; limits: Limit[] }

export const isOfSeveral = (verb: Call['verb']): boolean => verb === 'MULTI' || verb === 'SHARE'

/** The algorithm and words of each limit, and LINE. */
const each = (limits: Limit[], withKeys: boolean): string[] => [
  String(limits.length), ...limits.flatMap(({ policy, key, words }) => [policy.algorithm, ...(withKeys ? [key] : []), ...words]), 'LINE',
]

/** The words of the command. */
export function command({ verb, limits }: Call): string[] {
  const [{ policy, key, words }] = limits
  if (isOfSeveral(verb)) return [`RL.${verb}`, ...each(limits, true)]
  if (verb === 'CHECK') return [`RL.${policy.algorithm}`, key, ...words]
  const isOfLease = verb === 'RENEW' || verb === 'RELEASE'
  return [`RL.${verb}`, ...(isOfLease ? [] : [policy.algorithm]), key, ...words]
}

type Script = { sha: string; source: string }
const made = new Map<string, Script>()

// In the package they are above this directory, in a clone at its top.
const [packed, cloned] = ['../lua/', '../../../lua/'].map((place) => new URL(place, import.meta.url))
const directory = existsSync(packed) ? packed : cloned

/** A script of these files and of a last line, which is made once. */
function script(files: string[], end: string): Script {
  const name = [...files, end].join('+')
  let found = made.get(name)
  if (!found) {
    const source = ['head', ...files].map((file) => readFileSync(new URL(`${file}.lua`, directory), 'utf8')).join('') + end
    made.set(name, (found = { sha: createHash('sha1').update(source).digest('hex'), source }))
  }
  return found
}

/** The file of an algorithm. */
const file = ({ policy: { algorithm } }: Limit): string => (algorithm === 'TOKEN' || algorithm === 'LEAKY' ? 'bucket' : algorithm.toLowerCase())

/** The script of a call, and the words after EVALSHA and EVAL. */
export function scripted({ verb, limits }: Call): Script & { words: string[] } {
  const keys = [String(limits.length), ...limits.map(({ key }) => key)]
  if (isOfSeveral(verb)) {
    const files = [...new Set(limits.map(file))].sort()
    return { ...script([...files, 'several'], ''), words: [...keys, verb, ...each(limits, false)] }
  }
  const [{ policy, words }] = limits
  return { ...script([file(limits[0])], `return run('${policy.algorithm}')\n`), words: [...keys, verb, ...words] }
}
