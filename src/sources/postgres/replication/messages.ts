/**
 * The messages of pgoutput, version 1: what became of the rows of a table, transaction by transaction, in the
 * order in which these were committed.
 *
 * Source: "Logical Replication Message Formats" in the manual of PostgreSQL 15.
 *
 * @module
 */

/** A value as text; null for NULL; undefined where it was not sent, since it is stored apart and did not change. */
export type SentValue = Buffer | null | undefined

/** In the order of the columns of the relation. Views of the message: gone with the next one. */
export type Tuple = readonly SentValue[]

interface RelationColumn {
  readonly name: string
  readonly typeOid: number
  /** Whether old rows have it. */
  readonly isIdentity: boolean
}

/** What rows of a table look like from here on. */
export interface Relation {
  readonly kind: 'relation'
  readonly oid: number
  readonly columns: readonly RelationColumn[]
}

/** What was there before: values of the replica identity alone, where others are null, or of all columns. */
export interface OldRow {
  readonly isWhole: boolean
  readonly tuple: Tuple
}

/** What tells a transaction from any other, in this log and in one that went another way. */
export interface Commit {
  /** The place of the commit. */
  readonly lsn: bigint
  readonly xid: number
  /** Microseconds since 2000. */
  readonly time: bigint
}

export type ReplicationMessage =
  | { readonly kind: 'begin'; readonly commit: Commit }
  /** `endLsn` is the place behind the commit. */
  | { readonly kind: 'commit'; readonly endLsn: bigint }
  | Relation
  | { readonly kind: 'insert'; readonly oid: number; readonly row: Tuple }
  | {
      readonly kind: 'update'
      readonly oid: number
      /** Undefined where the replica identity did not change. */
      readonly old: OldRow | undefined
      readonly row: Tuple
    }
  | { readonly kind: 'delete'; readonly oid: number; readonly old: OldRow }
  | { readonly kind: 'truncate'; readonly oids: readonly number[] }
  /** Types and origins, which say nothing of rows. */
  | { readonly kind: 'other' }

/** @throws Error  where it is no such message; says nothing of values */
export function readMessage(bytes: Buffer): ReplicationMessage {
  const reader = new Reader(bytes)
  const tag = reader.character()
  switch (tag) {
    case 'B':
      return {
        kind: 'begin',
        commit: { lsn: reader.lsn(), time: reader.long(), xid: reader.oid() },
      }
    case 'C':
      reader.skip(1 + 8)
      return { kind: 'commit', endLsn: reader.lsn() }
    case 'R':
      return readRelation(reader)
    case 'I':
      return { kind: 'insert', oid: reader.oid(), row: readNewRow(reader, reader.character()) }
    case 'U':
      return readUpdate(reader)
    case 'D':
      return { kind: 'delete', oid: reader.oid(), old: readOldRow(reader, reader.character()) }
    case 'T':
      return readTruncate(reader)
    case 'Y':
    case 'O':
    case 'M':
      return { kind: 'other' }
    default:
      throw unknown('message', tag)
  }
}

function readRelation(reader: Reader): Relation {
  const oid = reader.oid()
  reader.text()
  reader.text()
  reader.skip(1)
  const columns = Array.from({ length: reader.count() }, () => {
    const isIdentity = (reader.byte() & 1) === 1
    const name = reader.text()
    const typeOid = reader.oid()
    reader.skip(4)
    return { name, typeOid, isIdentity }
  })
  return { kind: 'relation', oid, columns }
}

function readUpdate(reader: Reader): ReplicationMessage {
  const oid = reader.oid()
  const mark = reader.character()
  if (mark === 'N') return { kind: 'update', oid, old: undefined, row: readNewRow(reader, mark) }
  const old = readOldRow(reader, mark)
  return { kind: 'update', oid, old, row: readNewRow(reader, reader.character()) }
}

function readTruncate(reader: Reader): ReplicationMessage {
  const length = reader.integer()
  reader.skip(1)
  return { kind: 'truncate', oids: Array.from({ length }, () => reader.oid()) }
}

function readNewRow(reader: Reader, mark: string): Tuple {
  if (mark === 'N') return readTuple(reader)
  throw unknown('mark of a new row', mark)
}

function readOldRow(reader: Reader, mark: string): OldRow {
  if (mark === 'K' || mark === 'O') return { isWhole: mark === 'O', tuple: readTuple(reader) }
  throw unknown('mark of an old row', mark)
}

function readTuple(reader: Reader): Tuple {
  return Array.from({ length: reader.count() }, () => {
    const kind = reader.character()
    if (kind === 't') return reader.bytes(reader.integer())
    if (kind === 'n') return null
    if (kind === 'u') return undefined
    throw unknown('kind of value', kind)
  })
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  skip(byteCount: number): void {
    this.#at += byteCount
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++)
  }

  character(): string {
    return String.fromCharCode(this.byte())
  }

  /** Of 16 bits. */
  count(): number {
    this.#at += 2
    return this.#bytes.readUInt16BE(this.#at - 2)
  }

  /** Of 32 bits. */
  integer(): number {
    this.#at += 4
    return this.#bytes.readInt32BE(this.#at - 4)
  }

  oid(): number {
    return this.integer() >>> 0
  }

  lsn(): bigint {
    return this.long()
  }

  /** Of 64 bits. */
  long(): bigint {
    this.#at += 8
    return this.#bytes.readBigUInt64BE(this.#at - 8)
  }

  /** Up to a zero. */
  text(): string {
    const end = this.#bytes.indexOf(0, this.#at)
    if (end < 0) throw new RangeError('a text of a message has no end')
    const text = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end + 1
    return text
  }

  bytes(byteCount: number): Buffer {
    const end = this.#at + byteCount
    if (byteCount < 0 || end > this.#bytes.length) throw new RangeError('a message is cut off')
    const bytes = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return bytes
  }
}

function unknown(what: string, found: string): Error {
  return new Error(`the server sent a ${what} that is not known (${JSON.stringify(found)})`)
}
