/**
 * What machines send each other as bytes: MessagePack, as in the journal, and in parts, since NATS takes a megabyte at a
 * time unless it is told otherwise. A part has a head of 16 bytes: the id of the message (8 bytes, drawn), its place and how
 * many parts there are (4 bytes each, little-endian).
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { Packr } from 'msgpackr'
import { limits } from '../../limits.js'

const packr = new Packr({ useRecords: false })

/** Bytes that nobody else uses. */
export const pack = (value: unknown): Uint8Array => new Uint8Array(packr.pack(value))

/** Undefined where the bytes are none. */
export function unpackOrNothing(bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes)
  } catch {
    return undefined
  }
}

const HEAD_BYTES = 16

/** @param partBytes  of a part with its head, at most */
export function* partsOf(message: Uint8Array, partBytes: number): Generator<Uint8Array> {
  const id = randomBytes(8)
  const dataBytes = partBytes - HEAD_BYTES
  const partCount = Math.max(1, Math.ceil(message.length / dataBytes))
  for (let part = 0; part < partCount; part++) {
    const data = message.subarray(part * dataBytes, (part + 1) * dataBytes)
    const bytes = Buffer.allocUnsafe(HEAD_BYTES + data.length)
    id.copy(bytes)
    bytes.writeUInt32LE(part, 8)
    bytes.writeUInt32LE(partCount, 12)
    bytes.set(data, HEAD_BYTES)
    yield bytes
  }
}

/** A message of which not all parts have come. */
interface Gathered {
  readonly parts: (Uint8Array | undefined)[]
  missingCount: number
  byteCount: number
  readonly atMs: number
}

/** Puts messages together. What is never whole is forgotten after a while, and there is a bound on what is kept. */
export class PartsGatherer {
  readonly #messages = new Map<string, Gathered>()
  #keptBytes = 0

  /** @returns the message, when this was the last part of it that was missing */
  add(part: Uint8Array): Uint8Array | undefined {
    if (part.length < HEAD_BYTES) return undefined
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.length)
    const index = bytes.readUInt32LE(8)
    const partCount = bytes.readUInt32LE(12)
    const data = bytes.subarray(HEAD_BYTES)
    if (partCount === 1 && index === 0) return data
    if (index >= partCount || partCount > limits.messagePartCount) return undefined
    const id = bytes.toString('latin1', 0, 8)
    const known = this.#messages.get(id) ?? this.#begun(id, partCount)
    if (known === undefined || known.parts.length !== partCount) return undefined
    if (known.parts[index] === undefined) {
      known.parts[index] = data
      known.missingCount--
      known.byteCount += data.length
      this.#keptBytes += data.length
    }
    if (known.missingCount > 0) return undefined
    this.#forget(id, known)
    return Buffer.concat(known.parts as Uint8Array[])
  }

  #begun(id: string, partCount: number): Gathered | undefined {
    const nowMs = performance.now()
    for (const [old, gathered] of this.#messages) {
      const isOver = nowMs - gathered.atMs > limits.messageGatherMs
      if (!isOver && this.#keptBytes < limits.messageGatherBytes) break
      this.#forget(old, gathered)
    }
    const begun = {
      parts: Array.from<undefined>({ length: partCount }),
      missingCount: partCount,
      byteCount: 0,
      atMs: nowMs,
    }
    this.#messages.set(id, begun)
    return begun
  }

  #forget(id: string, { byteCount }: Gathered): void {
    this.#messages.delete(id)
    this.#keptBytes -= byteCount
  }
}
