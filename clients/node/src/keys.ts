// The keys of all clients: `<prefix><name>:{<who>}`. A caller must not decide how long a key is, nor where its hash tag ends:
// vectors/keys.json.
import { createHash } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'

const LONGEST = 256
const SHOWN = 32
/** What ends so is replaced too, however long it is, so that no value has the key of another. */
const REPLACED = /~[0-9a-f]{64}$/

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Who is limited, in the form that keys have. */
export function bounded(who: string): string {
  if (/[{}]/.test(who)) return `~${sha256(who)}`
  if (Buffer.byteLength(who) <= LONGEST && !REPLACED.test(who)) return who
  const bytes = Buffer.from(who)
  let end = Math.min(SHOWN, bytes.length)
  // A character of UTF-8 stays whole: only its first byte does not begin with the bits 10.
  while (end > SHOWN - 3 && end < bytes.length && (bytes[end] & 0xc0) === 0x80) end -= 1
  return `${bytes.toString('utf8', 0, end)}~${sha256(who)}`
}

/** An address as a caller to limit: IPv4 inside IPv6 as IPv4, IPv6 as its network of 64 bits, of which one customer has at least one. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1]
  if (mapped && isIPv4(mapped)) return mapped
  if (!isIPv6(address)) return address
  // URL writes it as RFC 5952 says; its groups are then those of hexadecimal digits, and at most one is left out.
  const [before, after] = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1).split('::')
  const groups = before.split(':').filter(Boolean)
  if (after !== undefined) groups.push(...Array(8 - groups.length - after.split(':').filter(Boolean).length).fill('0'))
  const network = [...groups, ...(after ?? '').split(':')].slice(0, 4).join(':')
  return `${new URL(`http://[${network}::]`).hostname.slice(1, -1)}/64`
}

/** The slot of a key in a cluster: CRC16 (XMODEM) of its hash tag, if it has one that is not empty. */
export function slot(key: string): number {
  const tag = /^[^{]*\{([^}]+)\}/s.exec(key)?.[1] ?? key
  let crc = 0
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
  }
  return crc % 16384
}
