/**
 * Takes a header of the PROXY protocol, version 2, from the front of a connection. uWebSockets.js does so by
 * itself. (HAProxy: The PROXY protocol, 2.2)
 *
 * @module
 */
import type { Socket } from 'node:net'

/**
 * Calls back when the header has been taken, or when it is certain that there is none; never for a
 * connection that ends before. All that follows it is still to be read.
 *
 * @param taken  gets the source address, binary; empty where there is no header
 */
export function takeProxyPrefix(socket: Socket, taken: (source: ArrayBuffer) => void): void {
  let held = Buffer.alloc(0)
  const look = () => {
    for (let piece = socket.read(); piece !== null; piece = socket.read()) {
      held = Buffer.concat([held, piece])
    }
    const source = sourceOf(held)
    if (source === undefined) return
    socket.off('readable', look)
    const [address, headerBytes] = source
    if (held.length > headerBytes) socket.unshift(held.subarray(headerBytes))
    taken(address)
  }
  socket.on('readable', look)
}

/** @returns undefined while that is not certain */
function sourceOf(bytes: Buffer): [address: ArrayBuffer, headerBytes: number] | undefined {
  const known = Math.min(bytes.length, SIGNATURE.length)
  if (!bytes.subarray(0, known).equals(SIGNATURE.subarray(0, known))) return [NOBODY, 0]
  if (bytes.length < PREFIX_BYTES) return undefined
  const headerBytes = PREFIX_BYTES + bytes.readUInt16BE(14)
  if (bytes.length < headerBytes) return undefined
  const addressBytes = bytes[13] >> 4 === INET6 ? 16 : 4
  const end = Math.min(PREFIX_BYTES + addressBytes, headerBytes)
  return [Uint8Array.from(bytes.subarray(PREFIX_BYTES, end)).buffer, headerBytes]
}

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
/** Signature, version and command, family, length of what follows. */
const PREFIX_BYTES = 16
const INET6 = 2
const NOBODY = new ArrayBuffer(0)
