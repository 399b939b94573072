/**
 * The checksums of the pages of a Parquet file, which Spark and others write and DuckDB does not look at.
 *
 * @module
 */
import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { DuckDBConnection } from '@duckdb/node-api'
import { OperatorError } from '../../errors.js'
import { sqlPath } from '../files/database.js'

/**
 * Compares what is stored of each page with its checksum, if it has one.
 *
 * @param columns  the names of those that will be read
 * @throws OperatorError  `InputRejected` for a page that was changed
 */
export async function assertPagesIntact(
  connection: DuckDBConnection,
  name: string,
  path: string,
  columns: readonly string[],
): Promise<void> {
  const found = await connection.runAndReadAll(
    `SELECT path_in_schema, least(data_page_offset, coalesce(nullif(dictionary_page_offset, 0),
        data_page_offset))::DOUBLE, total_compressed_size::DOUBLE
      FROM parquet_metadata(${sqlPath(path)})`,
  )
  const wanted = new Set(columns)
  const file = await open(path)
  try {
    for (const [column, offset, byteCount] of found.getRows()) {
      if (!wanted.has(String(column)) || offset === null) continue
      if (await isIntact(file, Number(offset), Number(byteCount))) continue
      throw new OperatorError(
        'InputRejected',
        `${name} is refused, because a page of column "${column}" does not agree with its checksum: ` +
          'the file is damaged, copy or write it again',
      )
    }
  } finally {
    await file.close()
  }
}

/** A header holds the least and the greatest value of its page, which may be long. */
const HEADER_BYTES = 8_192
const PIECE_BYTES = 1 << 20

/** Stops where it finds no page: what is no Parquet, DuckDB says. */
async function isIntact(file: FileHandle, offset: number, byteCount: number): Promise<boolean> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES)
  const end = offset + byteCount
  const read = async (at: number, length: number) =>
    buffer.subarray(0, (await file.read(buffer, 0, Math.min(length, end - at), at)).bytesRead)
  for (let at = offset; at < end; ) {
    const header =
      readPageHeader(await read(at, HEADER_BYTES)) ?? readPageHeader(await read(at, PIECE_BYTES))
    if (header === undefined) return true
    at += header.byteCount
    const pageEnd = at + header.pageByteCount
    if (pageEnd > end) return true
    if (header.crc === undefined) {
      at = pageEnd
      continue
    }
    let crc = 0
    while (at < pageEnd) {
      const piece = await read(at, Math.min(PIECE_BYTES, pageEnd - at))
      if (piece.length === 0) return true
      crc = crc32(piece, crc)
      at += piece.length
    }
    if ((crc | 0) !== header.crc) return false
  }
  return true
}

interface PageHeader {
  /** Of the header itself. */
  readonly byteCount: number
  /** Of the page behind it, as it is stored. */
  readonly pageByteCount: number
  readonly crc: number | undefined
}

/** Reads a PageHeader in the compact protocol of Thrift; undefined if it is none or does not end here. */
function readPageHeader(bytes: Buffer): PageHeader | undefined {
  const cursor = new ThriftCursor(bytes)
  try {
    const fields = cursor.readStruct()
    const pageByteCount = fields.get(FIELD.compressedPageSize)
    if (pageByteCount === undefined || pageByteCount < 0) return undefined
    return { byteCount: cursor.at, pageByteCount, crc: fields.get(FIELD.crc) }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const FIELD = { compressedPageSize: 3, crc: 4 } as const

/** Types of fields in the compact protocol. */
const TYPE = { true: 1, false: 2, byte: 3, i16: 4, i32: 5, i64: 6, double: 7, binary: 8 } as const
const STRUCT = 12
/** A PageHeader has statistics in a header of a kind of page, and nothing below that. */
const DEPTH = 4

class ThriftCursor {
  at = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The whole numbers among the fields, by their ids. @throws RangeError  where the bytes end or make no sense */
  readStruct(depth = 0): Map<number, number> {
    if (depth === DEPTH) throw new RangeError('too deep')
    const fields = new Map<number, number>()
    for (let id = 0; ; ) {
      const head = this.#bytes.readUInt8(this.at++)
      if (head === 0) return fields
      const step = head >> 4
      id = step === 0 ? this.#readInteger() : id + step
      switch (head & 15) {
        case TYPE.true:
        case TYPE.false:
          break
        case TYPE.byte:
          this.#skip(1)
          break
        case TYPE.i16:
        case TYPE.i32:
        case TYPE.i64:
          fields.set(id, this.#readInteger())
          break
        case TYPE.double:
          this.#skip(8)
          break
        case TYPE.binary:
          this.#skip(this.#readVarint())
          break
        case STRUCT:
          this.readStruct(depth + 1)
          break
        default:
          throw new RangeError('a type that a page header does not have')
      }
    }
  }

  #skip(byteCount: number): void {
    this.at += byteCount
    if (this.at > this.#bytes.length) throw new RangeError('cut off')
  }

  #readInteger(): number {
    const value = this.#readVarint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  #readVarint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes.readUInt8(this.at++)
      value += (byte & 127) * factor
      if (byte < 128) return value
      if (factor > Number.MAX_SAFE_INTEGER) throw new RangeError('too long')
    }
  }
}
