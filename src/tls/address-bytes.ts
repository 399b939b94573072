/**
 * An address of IPv4 or IPv6 as bytes.
 *
 * @module
 */
import { isIPv4, isIPv6 } from 'node:net'

/**
 * @param text  as Node.js writes the address of the other end of a connection
 * @returns 4 bytes, also for IPv4 that is written as IPv6, or 16; undefined for a text that is no address
 */
export function addressBytes(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number)
  // Behind a `%` stands an interface of this machine.
  const [address] = text.split('%', 1)
  if (!isIPv6(address)) return undefined
  const lastColon = address.lastIndexOf(':')
  const tail = address.slice(lastColon + 1)
  if (isIPv4(tail)) {
    const bytes = Uint8Array.from(tail.split('.'), Number)
    if (/^(0*:)*:?ffff:$/i.test(address.slice(0, lastColon + 1))) return bytes
    const [high, low] = [bytes.subarray(0, 2), bytes.subarray(2)].map((pair) =>
      Buffer.from(pair).toString('hex'),
    )
    return groupBytes(`${address.slice(0, lastColon + 1)}${high}:${low}`)
  }
  return groupBytes(address)
}

/** An address as uWebSockets.js writes it: IPv6 in full. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  const hex = Buffer.from(bytes).toString('hex')
  return hex.match(/.{4}/g)?.join(':') ?? ''
}

/** @param address  groups of hexadecimal digits alone */
function groupBytes(address: string): Uint8Array {
  const [left, right] = address.split('::')
  const before = left === '' ? [] : left.split(':')
  const after = right === undefined || right === '' ? [] : right.split(':')
  const bytes = new Uint8Array(16)
  const view = new DataView(bytes.buffer)
  for (const [i, group] of before.entries()) view.setUint16(2 * i, Number.parseInt(group, 16))
  const first = 8 - after.length
  for (const [i, group] of after.entries()) {
    view.setUint16(2 * (first + i), Number.parseInt(group, 16))
  }
  return bytes
}
