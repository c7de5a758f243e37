// @ts-check
// The keys of all clients: `<prefix><name>:{<who>}`. A caller must not decide how long a key is, nor where its hash tag ends:
// vectors/keys.json.
import { createHash } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'

const LONGEST = 256
const SHOWN = 32
/** What ends so is replaced too, however long it is, so that no value has the key of another. */
const REPLACED = /~[0-9a-f]{64}$/

/** @param {string} text */
const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/**
 * Who is limited, in the form that keys have.
 * @param {string} who
 */
export function bounded(who) {
  if (/[{}]/.test(who)) return `~${sha256(who)}`
  // A character is 3 bytes at most here, or half of one with 4.
  if (who.length <= LONGEST / 3 && !REPLACED.test(who)) return who
  const bytes = Buffer.from(who)
  if (bytes.length <= LONGEST && !REPLACED.test(who)) return who
  let end = Math.min(SHOWN, bytes.length)
  // A character of UTF-8 stays whole: only its first byte does not begin with the bits 10.
  while (end > SHOWN - 3 && end < bytes.length && (bytes[end] & 0xc0) === 0x80) end -= 1
  return `${bytes.toString('utf8', 0, end)}~${sha256(who)}`
}

/**
 * An address as a caller to limit: IPv4 inside IPv6 as IPv4, and of IPv6 the network of 64 bits, of which one customer
 * has at least one.
 * @param {string} address
 */
export function addressKey(address) {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1]
  if (mapped && isIPv4(mapped)) return mapped
  if (!isIPv6(address)) return address
  const [before, after] = address.split('%')[0].split('::')
  const groups = before === '' ? [] : before.split(':')
  const tail = after ? after.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group])) : []
  if (after !== undefined) groups.push(...Array(8 - groups.length - tail.length).fill('0'), ...tail)
  // Its host part is 0. URL writes the rest as RFC 5952 says.
  const network = [...groups.slice(0, 4), '0', '0', '0', '0'].join(':')
  return `${new URL(`http://[${network}]`).hostname.slice(1, -1)}/64`
}

/**
 * The slot of a key in a cluster: CRC16 (XMODEM) of its hash tag, if it has one that is not empty.
 * @param {string} key
 */
export function slot(key) {
  const tag = /^[^{]*\{([^}]+)\}/s.exec(key)?.[1] ?? key
  let crc = 0
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc % 16384
}
