/**
 * The stream of a replication slot as a statement of `pg`: messages are handed on as they come, within the
 * turn in which they were read, so that the server waits when we are slow.
 *
 * Source: "Streaming Replication Protocol" in the manual of PostgreSQL 15.
 *
 * @module
 */
import type { Connection, Submittable } from 'pg'
import { formatLsn } from './lsn.js'
import { type ReplicationMessage, readMessage } from './messages.js'

interface StreamReader {
  /** Its buffers are used again afterwards. */
  onMessage(message: ReplicationMessage): void
  /**
   * The server has sent all that was committed up to a place.
   *
   * @param isAsked  whether it waits for `confirm`
   */
  onAlive(endLsn: bigint, isAsked: boolean): void
}

interface StreamPlace {
  readonly slot: string
  readonly publication: string
  /** Where to go on; the server goes on later where it was told so. */
  readonly sinceLsn: bigint
}

export class ReplicationStream implements Submittable {
  /** Rejects when the stream fails or is broken off; never resolves, for it has no end. */
  readonly failure: Promise<never>
  readonly #text: string
  readonly #reader: StreamReader
  #reject: (error: unknown) => void = () => undefined
  #connection: Connection | undefined
  #hasEnded = false

  constructor({ slot, publication, sinceLsn }: StreamPlace, reader: StreamReader) {
    const options = `proto_version '1', publication_names '${quoted(publication).replaceAll("'", "''")}'`
    this.#text = `START_REPLICATION SLOT ${quoted(slot)} LOGICAL ${formatLsn(sinceLsn)} (${options})`
    this.#reader = reader
    this.failure = new Promise((_, reject) => {
      this.#reject = reject
    })
    this.failure.catch(() => {})
  }

  /** Whether it failed; then nothing more is handed on. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Tells the server what is on disk here: it need not keep that any longer. */
  confirm(lsn: bigint): void {
    const status = Buffer.alloc(1 + 3 * 8 + 8 + 1)
    status.write('r', 0, 'latin1')
    for (const at of [1, 9, 17]) status.writeBigUInt64BE(lsn, at)
    status.writeBigInt64BE(BigInt(Date.now() - EPOCH_MS) * 1000n, 25)
    const connection = this.#connection as (Connection & CopySender) | undefined
    if (!this.#hasEnded && connection?.stream.writable) connection.sendCopyFromChunk(status)
  }

  /** Breaks it off. */
  fail(error: unknown): void {
    this.#hasEnded = true
    this.#reject(error)
    this.#connection?.stream.destroy()
  }

  submit(connection: Connection): void {
    this.#connection = connection
    connection.query(this.#text)
  }

  /** Called by the client, as are those below. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (this.#hasEnded) return
    try {
      this.#take(chunk)
    } catch (error) {
      // Thrown here, it would reach nobody.
      this.fail(error)
    }
  }

  handleError(error: unknown): void {
    this.#hasEnded = true
    this.#reject(error)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#reject(new Error('the server ended the stream'))
  }

  #take(chunk: Buffer): void {
    const kind = chunk[0]
    if (kind === LOG_DATA) this.#reader.onMessage(readMessage(chunk.subarray(LOG_DATA_HEAD_BYTES)))
    else if (kind === KEEP_ALIVE) this.#reader.onAlive(chunk.readBigUInt64BE(1), chunk[17] === 1)
  }
}

/** Declared by `pg` and not by its types. */
interface CopySender {
  sendCopyFromChunk(chunk: Buffer): void
}

const LOG_DATA = 0x77
const LOG_DATA_HEAD_BYTES = 1 + 3 * 8
const KEEP_ALIVE = 0x6b
/** Of PostgreSQL. */
const EPOCH_MS = Date.UTC(2000, 0, 1)

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
