/**
 * What machines put into the log: groups of batches, which change what all of them have, and beats,
 * which say that a machine is there. Both are MessagePack. What is longer than a message of the log is in parts.
 *
 * A part has a head of 32 bytes, in little-endian: `HKL` and the version (4 bytes), the generation of the log (8 bytes), the
 * session, which is drawn when a machine starts (8 bytes), the number of the message in it (4 bytes), the place of the part
 * (4 bytes), and how many parts there are (4 bytes).
 *
 * A session puts its parts into the log one after the other. So a message is where its last part is, if the parts before
 * are those that the session put there last, all within `limits.logMessageSpan` places. That follows from these places
 * alone: a machine that begins to read so far before a message reads it as all others do.
 *
 * @module
 */
import type { SentBatch } from '../../journal/batch.js'
import { limits } from '../../limits.js'
import { pack, unpackOrNothing } from '../nats/parts.js'
import type { LogMessage } from './log.js'

export interface SentGroup {
  readonly kind: 'group'
  /** Which of its session: it may come twice. */
  readonly number: number
  readonly batches: readonly SentBatch[]
}

/** What a machine says about itself in the log. It changes nothing that machines have in common. */
export interface Beat {
  readonly kind: 'beat'
  /** The name of the machine. */
  readonly name: string
  /** Which of its session. */
  readonly number: number
  /** The last batch that the machine knew when it sent this, so that others see whether they have the same. */
  readonly sequence: number
  readonly hash: string
}

export type Sent = SentGroup | Beat

/** A message that is whole, where its last part is. */
export interface GatheredMessage {
  readonly place: number
  readonly timeMs: number
  readonly generation: string
  readonly session: string
  /** Undefined of one that this version does not know: it is passed over by all alike. */
  readonly sent: Sent | undefined
}

const MAGIC = Buffer.from([0x48, 0x4b, 0x4c, 0x01])
const FIELD = { magic: 0, generation: 4, session: 12, number: 20, part: 24, partCount: 28 } as const
const HEAD_BYTES = 32

/**
 * @param messageBytes  what a message of the log may take
 * @throws RangeError  for more than `limits.logMessageParts`
 */
export function partsOfSent(
  sent: Sent,
  { generation, session }: { readonly generation: string; readonly session: string },
  messageBytes: number,
): readonly Uint8Array[] {
  const bytes = pack(sent)
  const dataBytes = messageBytes - HEAD_BYTES
  const partCount = Math.ceil(bytes.length / dataBytes)
  if (partCount > limits.logMessageParts) {
    throw new RangeError(
      `a message of the log may have ${limits.logMessageParts} parts, and this has ${partCount}`,
    )
  }
  return Array.from({ length: partCount }, (_, part) => {
    const data = bytes.subarray(part * dataBytes, (part + 1) * dataBytes)
    const message = Buffer.allocUnsafeSlow(HEAD_BYTES + data.length)
    MAGIC.copy(message, FIELD.magic)
    message.write(generation, FIELD.generation, 'hex')
    message.write(session, FIELD.session, 'hex')
    message.writeUInt32LE(sent.number, FIELD.number)
    message.writeUInt32LE(part, FIELD.part)
    message.writeUInt32LE(partCount, FIELD.partCount)
    message.set(data, HEAD_BYTES)
    return message
  })
}

/** What a session has put there of a message that is not whole. */
interface Begun {
  readonly number: number
  readonly firstPlace: number
  readonly partCount: number
  readonly parts: Uint8Array[]
}

interface Part {
  readonly place: number
  readonly number: number
  readonly part: number
  readonly partCount: number
  readonly data: Uint8Array
}

/** Puts the parts of messages together, as all machines do. */
export class MessageGatherer {
  readonly #firstPlace: number
  readonly #begun = new Map<string, Begun>()
  /** Senders that have begun a message since, until none can have begun before. */
  readonly #heard = new Set<string>()

  /** @param firstPlace  of the first message that is read */
  constructor(firstPlace: number) {
    this.#firstPlace = firstPlace
  }

  /**
   * @returns the message that is whole with this part, undefined where there is none, and `cut` where one may have begun
   *   before what is read
   */
  add({ place, timeMs, bytes }: LogMessage): GatheredMessage | 'cut' | undefined {
    const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    if (head.length < HEAD_BYTES || head.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) !== 0) {
      return undefined
    }
    const generation = head.toString('hex', FIELD.generation, FIELD.session)
    const session = head.toString('hex', FIELD.session, FIELD.number)
    const sender = generation + session
    const part = {
      place,
      number: head.readUInt32LE(FIELD.number),
      part: head.readUInt32LE(FIELD.part),
      partCount: head.readUInt32LE(FIELD.partCount),
      data: head.subarray(HEAD_BYTES),
    }
    if (this.#isCut(sender, part)) return 'cut'
    const whole = this.#whole(sender, part)
    return whole && { place, timeMs, generation, session, sent: sentIn(whole) }
  }

  #isCut(sender: string, { place, part }: Part): boolean {
    if (this.#firstPlace <= Math.max(1, place - limits.logMessageSpan)) return false
    if (part === 0) this.#heard.add(sender)
    return !this.#heard.has(sender)
  }

  #whole(sender: string, { place, number, part, partCount, data }: Part): Uint8Array | undefined {
    this.#forgetBefore(place - limits.logMessageSpan)
    const known = this.#begun.get(sender)
    this.#begun.delete(sender)
    if (part === 0) {
      if (partCount === 1) return data
      if (partCount > limits.logMessageParts) return undefined
      this.#begun.set(sender, { number, firstPlace: place, partCount, parts: [data] })
      return undefined
    }
    if (known?.number !== number || known.partCount !== partCount) return undefined
    if (known.parts.length !== part) return undefined
    known.parts.push(data)
    if (known.parts.length === partCount) return Buffer.concat(known.parts)
    this.#begun.set(sender, known)
    return undefined
  }

  #forgetBefore(place: number): void {
    for (const [sender, { firstPlace }] of this.#begun) {
      if (firstPlace <= place) this.#begun.delete(sender)
    }
  }
}

function sentIn(bytes: Uint8Array): Sent | undefined {
  const sent = unpackOrNothing(bytes) as Partial<Sent> | undefined
  if (typeof sent !== 'object' || sent === null || !Number.isSafeInteger(sent.number)) {
    return undefined
  }
  if (sent.kind === 'beat' && typeof sent.name === 'string' && isLink(sent)) return sent as Beat
  if (sent.kind === 'group' && Array.isArray(sent.batches) && sent.batches.every(isBatch)) {
    return sent as SentGroup
  }
  return undefined
}

function isLink({ sequence, hash }: Partial<Beat>): boolean {
  return Number.isSafeInteger(sequence) && typeof hash === 'string'
}

function isBatch(batch: Partial<SentBatch> | null): boolean {
  return (
    Number.isSafeInteger(batch?.sourceId) &&
    typeof batch?.batchId === 'string' &&
    Number.isSafeInteger(batch.changeCount) &&
    batch.content instanceof Uint8Array
  )
}
