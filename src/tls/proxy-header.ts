/**
 * The bytes in front of a connection that say whose it is: a header of the PROXY protocol, version 2. Its
 * source address is the handle of a slot (`peers.ts`), as if it were one of IPv6.
 *
 * @module
 */

/** @param handle  16 bytes */
export function proxyHeader(handle: Uint8Array): Uint8Array {
  const header = new Uint8Array(PREFIX.length + ADDRESSES_BYTES)
  header.set(PREFIX)
  header.set(handle, PREFIX.length)
  return header
}

/** Source and destination of 16 bytes each, and their ports. */
const ADDRESSES_BYTES = 36

/** Signature, version 2 and the command PROXY, TCP over IPv6, length of what follows. */
const PREFIX = Buffer.from('0d0a0d0a000d0a515549540a21210024', 'hex')
