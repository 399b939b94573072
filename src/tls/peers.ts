/**
 * Who is at the other end of each TLS connection, in memory that the TLS thread and the front threads
 * share. A slot has the address and the certificate of one client.
 *
 * A front finds the slot by 16 bytes, which arrive as an address in front of the requests of a
 * connection (`proxyHeader`). The HTTP library takes such bytes in front of any later request, too,
 * so a client can send some of its own. They therefore hold a random *token*: a client that cannot guess 96 bits
 * finds no slot.
 *
 * @module
 */
import { randomFillSync } from 'node:crypto'
import { limits } from '../limits.js'
import { addressText } from './address-bytes.js'

export interface Peer {
  /** As the HTTP library writes addresses: IPv6 in full. */
  readonly address: string
  /** The SHA-256 of the certificate that the client showed, in hexadecimal; undefined without one. */
  readonly certificate: string | undefined
}

/** Room for the peers of `limits.tlsConnectionCount` connections. */
export function allocatePeers(slotCount: number = limits.tlsConnectionCount): SharedArrayBuffer {
  return new SharedArrayBuffer(slotCount * SLOT.bytes)
}

/** The side of the thread that knows the peers. */
export class PeerWriter {
  readonly #bytes: Uint8Array
  readonly #words: Int32Array
  /** Slots that are free. */
  readonly #free: number[]

  constructor(memory: SharedArrayBuffer) {
    this.#bytes = new Uint8Array(memory)
    this.#words = new Int32Array(memory)
    const slotCount = memory.byteLength / SLOT.bytes
    // The lowest first, so that a service with few clients touches little memory.
    this.#free = Array.from({ length: slotCount }, (_, index) => slotCount - 1 - index)
  }

  /**
   * Takes a slot.
   *
   * @param address      binary, 4 or 16 bytes
   * @param certificate  its SHA-256
   * @returns the 16 bytes that find the slot; undefined when none is free
   */
  add(address: Uint8Array, certificate: Uint8Array | undefined): Uint8Array | undefined {
    const slot = this.#free.pop()
    if (slot === undefined) return undefined
    const at = slot * SLOT.bytes
    this.#bytes.set(address, at + SLOT.address)
    this.#bytes[at + SLOT.addressByteCount] = address.length
    this.#bytes[at + SLOT.hasCertificate] = certificate === undefined ? 0 : 1
    if (certificate !== undefined) this.#bytes.set(certificate, at + SLOT.certificate)
    const handle = new Uint8Array(HANDLE.bytes)
    randomFillSync(handle, HANDLE.token)
    const view = new DataView(handle.buffer)
    view.setUint32(HANDLE.slot, slot, true)
    const word = (at + SLOT.token) / 4
    for (let i = 0; i < TOKEN_WORDS; i++) {
      Atomics.store(this.#words, word + i, view.getInt32(HANDLE.token + 4 * i, true))
    }
    return handle
  }

  /** Gives a slot back: its handle finds no peer from now on. */
  remove(handle: Uint8Array): void {
    const slot = new DataView(handle.buffer, handle.byteOffset).getUint32(HANDLE.slot, true)
    const word = (slot * SLOT.bytes + SLOT.token) / 4
    for (let i = 0; i < TOKEN_WORDS; i++) Atomics.store(this.#words, word + i, 0)
    this.#free.push(slot)
  }
}

/** The side of the threads that want to know. */
export class PeerReader {
  readonly #bytes: Buffer
  readonly #words: Int32Array
  readonly #slotCount: number

  constructor(memory: SharedArrayBuffer) {
    this.#bytes = Buffer.from(memory)
    this.#words = new Int32Array(memory)
    this.#slotCount = memory.byteLength / SLOT.bytes
  }

  /** @param handle  what arrived in front of the request; undefined for an unknown handle */
  find(handle: ArrayBuffer): Peer | undefined {
    if (handle.byteLength !== HANDLE.bytes) return undefined
    const view = new DataView(handle)
    const slot = view.getUint32(HANDLE.slot, true)
    if (slot >= this.#slotCount || !this.#holds(slot, view)) return undefined
    const at = slot * SLOT.bytes
    const bytes = this.#bytes
    const addressByteCount = bytes[at + SLOT.addressByteCount]
    const address = addressText(
      bytes.subarray(at + SLOT.address, at + SLOT.address + addressByteCount),
    )
    const certificate =
      bytes[at + SLOT.hasCertificate] === 0
        ? undefined
        : bytes.toString('hex', at + SLOT.certificate, at + SLOT.certificate + SHA256_BYTES)
    // The slot may have been given to another connection meanwhile.
    return this.#holds(slot, view) ? { address, certificate } : undefined
  }

  #holds(slot: number, handle: DataView): boolean {
    const word = (slot * SLOT.bytes + SLOT.token) / 4
    // A free slot has zeros, which are no handle.
    let sum = 0
    for (let i = 0; i < TOKEN_WORDS; i++) {
      const stored = Atomics.load(this.#words, word + i)
      if (stored !== handle.getInt32(HANDLE.token + 4 * i, true)) return false
      sum |= stored
    }
    return sum !== 0
  }
}

const SHA256_BYTES = 32

/** Offsets into a slot. The token is first, in words. */
const SLOT = {
  token: 0,
  addressByteCount: 12,
  hasCertificate: 13,
  address: 16,
  certificate: 32,
  bytes: 64,
} as const

/** Offsets into the bytes that find a slot. They are as long as an address of IPv6. */
const HANDLE = { slot: 0, token: 4, bytes: 16 } as const

const TOKEN_WORDS = (HANDLE.bytes - HANDLE.token) / 4

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
