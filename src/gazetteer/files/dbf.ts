/**
 * Tables of dBASE, which have the fields of a shapefile. Values stay texts as they are written, so that
 * a number of many digits loses none and one with leading zeros keeps them.
 *
 * @module
 */
import { open } from 'node:fs/promises'
import type { DecodeText } from '../../text-decoder.js'
import { refuse } from './area-file.js'

export interface DbfTable {
  readonly fields: readonly string[]
  readonly recordCount: number
  /** In the order of the file; undefined in place of a record that is marked as deleted. */
  readonly records: AsyncIterable<Readonly<Record<string, unknown>> | undefined>
}

interface Field {
  readonly name: string
  readonly type: string
  readonly start: number
  readonly end: number
}

const HEADER_BYTES = 32
/** Where the header names the code page. */
const DRIVER = 29
const FIELD_BYTES = 32
const FIELDS_END = 0x0d
const NAME_BYTES = 11
const DELETED = 0x2a
/** Read at a time. */
const PIECE_BYTES = 1 << 20

/**
 * @param decoderOf  reads texts, by the language driver in the header
 * @throws OperatorError  InputRejected for what is damaged or cut off
 */
export async function openDbf(
  path: string,
  file: string,
  decoderOf: (driver: number) => DecodeText,
): Promise<DbfTable> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const head = Buffer.alloc(HEADER_BYTES)
    const { bytesRead } = await handle.read(head, 0, HEADER_BYTES, 0)
    if (bytesRead < HEADER_BYTES) return refuse(file, 'it is no table of dBASE, or it is cut off')
    const recordCount = head.readUInt32LE(4)
    const headerBytes = head.readUInt16LE(8)
    const recordBytes = head.readUInt16LE(10)
    if (headerBytes < HEADER_BYTES + 1 || recordBytes < 1) {
      return refuse(file, 'it is no table of dBASE, or it is damaged')
    }
    const wantedBytes = headerBytes + recordCount * recordBytes
    if (size < wantedBytes) {
      return refuse(file, `it is cut off: it has ${size} bytes and says that it has ${wantedBytes}`)
    }
    const body = Buffer.alloc(headerBytes - HEADER_BYTES)
    await handle.read(body, 0, body.length, HEADER_BYTES)
    const decode = decoderOf(head[DRIVER])
    const fields = fieldsOf(body, file, decode)
    if ((fields.at(-1)?.end ?? 0) > recordBytes)
      refuse(file, 'its fields are longer than its records')
    return {
      fields: fields.map(({ name }) => name),
      recordCount,
      records: records(path, file, { headerBytes, recordBytes, recordCount, fields, decode }),
    }
  } finally {
    await handle.close()
  }
}

function fieldsOf(body: Buffer, file: string, decode: DecodeText): Field[] {
  const fields: Field[] = []
  // Before the first field is the mark of deletion.
  let start = 1
  for (let at = 0; at + FIELD_BYTES <= body.length && body[at] !== FIELDS_END; at += FIELD_BYTES) {
    const nameBytes = body.subarray(at, at + NAME_BYTES)
    const nameEnd = nameBytes.indexOf(0)
    const name = decode(nameEnd === -1 ? nameBytes : nameBytes.subarray(0, nameEnd)).trim()
    const type = String.fromCharCode(body[at + NAME_BYTES])
    // A text of more than 255 bytes has the rest of its length where numbers have their decimals.
    const longer = type === 'C' ? body[at + 17] * 256 : 0
    const end = start + body[at + 16] + longer
    if (fields.some((other) => other.name === name)) refuse(file, `it has two fields "${name}"`)
    fields.push({ name, type, start, end })
    start = end
  }
  return fields
}

interface Layout {
  readonly headerBytes: number
  readonly recordBytes: number
  readonly recordCount: number
  readonly fields: readonly Field[]
  readonly decode: DecodeText
}

async function* records(
  path: string,
  file: string,
  { headerBytes, recordBytes, recordCount, fields, decode }: Layout,
): AsyncGenerator<Readonly<Record<string, unknown>> | undefined> {
  const handle = await open(path, 'r')
  try {
    const perPiece = Math.max(1, Math.floor(PIECE_BYTES / recordBytes))
    const piece = Buffer.alloc(perPiece * recordBytes)
    for (let first = 0; first < recordCount; first += perPiece) {
      const count = Math.min(perPiece, recordCount - first)
      const at = headerBytes + first * recordBytes
      const { bytesRead } = await handle.read(piece, 0, count * recordBytes, at)
      if (bytesRead < count * recordBytes) refuse(file, 'it became shorter while it was read')
      for (let i = 0; i < count; i++) {
        const record = piece.subarray(i * recordBytes, (i + 1) * recordBytes)
        yield record[0] === DELETED ? undefined : valuesOf(record, fields, decode)
      }
    }
  } finally {
    await handle.close()
  }
}

function valuesOf(
  record: Buffer,
  fields: readonly Field[],
  decode: DecodeText,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  for (const { name, type, start, end } of fields) {
    const bytes = record.subarray(start, end)
    // Other types are binary, or places in other files.
    const text = TEXT_TYPES.has(type) ? decode(bytes).replace(PADDING, '').trim() : ''
    const isVoid = text === '' || (type !== 'C' && /^\*+$/.test(text))
    Object.defineProperty(values, name, { value: isVoid ? null : text, enumerable: true })
  }
  return values
}

/** Text, numbers, dates and truth. */
const TEXT_TYPES: ReadonlySet<string> = new Set(['C', 'N', 'F', 'D', 'L'])
const PADDING = /\0+$/
