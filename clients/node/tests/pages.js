import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'

const AsyncFunction = (async () => {}).constructor

/** The block of a page that has these words. */
export async function codeOf(path, words) {
  const text = await readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const found = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code).filter((code) => code.includes(words))
  assert.equal(found.length, 1, `${path}: ${words}`)
  return found[0]
}

/** Runs code of a page, with what it imports as `names`, and resolves with `result`. */
export function run(code, names, result = 'undefined') {
  const text = code.replace(/^import .*\n/gm, '')
  return new AsyncFunction(...Object.keys(names), `${text}\nreturn ${result}`)(...Object.values(names))
}
