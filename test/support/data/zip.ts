/**
 * Zip archives, honest ones and such as lie.
 *
 * @module
 */
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipFileEntry {
  readonly name: string
  readonly content: string | Uint8Array
  /** 8 is deflate, and what is not given; 0 stores. */
  readonly method?: number
  readonly flags?: number
  /** What the directory says instead of the truth. */
  readonly crc?: number
  readonly size?: number
  readonly packedSize?: number
  /** What the header before the content says instead of the name. */
  readonly localName?: string
  /** Whether sizes are in the extra field of ZIP64. */
  readonly isZip64?: boolean
  /** Written where another entry is, instead of behind it. */
  readonly at?: number
}

export interface ZipOptions {
  /** What the end says instead of the truth. */
  readonly entryCount?: number
  readonly isZip64?: boolean
  readonly comment?: string
  readonly prefix?: Uint8Array
}

export function zipOf(entries: readonly ZipFileEntry[], options: ZipOptions = {}): Buffer {
  const parts: Buffer[] = [Buffer.from(options.prefix ?? [])]
  const directory: Buffer[] = []
  let offset = parts[0].length
  for (const entry of entries) {
    const { method = 8, flags = 0x800, isZip64 = false } = entry
    const content = Buffer.from(entry.content)
    const packed = method === 8 ? deflateRawSync(content) : content
    const size = entry.size ?? content.length
    const packedSize = entry.packedSize ?? packed.length
    const extra = isZip64 ? zip64Extra(size, packedSize) : Buffer.alloc(0)
    const common = numbers([
      [2, 45],
      [2, flags],
      [2, method],
      [4, 0x58a15000],
      [4, entry.crc ?? crc32(content)],
      [4, isZip64 ? 0xffffffff : packedSize],
      [4, isZip64 ? 0xffffffff : size],
    ])
    const name = Buffer.from(entry.name)
    const localName = Buffer.from(entry.localName ?? entry.name)
    const local = Buffer.concat([
      numbers([[4, 0x04034b50]]),
      common,
      numbers([
        [2, localName.length],
        [2, extra.length],
      ]),
      localName,
      extra,
      packed,
    ])
    directory.push(
      numbers([
        [4, 0x02014b50],
        [2, 45],
      ]),
      common,
      numbers([
        [2, name.length],
        [2, extra.length],
        [2, 0],
        [2, 0],
        [2, 0],
        [4, 0],
        [4, entry.at ?? offset],
      ]),
      name,
      extra,
    )
    if (entry.at !== undefined) continue
    parts.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  return Buffer.concat([
    ...parts,
    central,
    end(options.entryCount ?? entries.length, central.length, offset, options),
  ])
}

function end(
  count: number,
  bytes: number,
  offset: number,
  { isZip64 = false, comment = '' }: ZipOptions,
): Buffer {
  const zip64 = numbers([
    [4, 0x06064b50],
    [8, 44],
    [2, 45],
    [2, 45],
    [4, 0],
    [4, 0],
    [8, count],
    [8, count],
    [8, bytes],
    [8, offset],
    [4, 0x07064b50],
    [4, 0],
    [8, offset + bytes],
    [4, 1],
  ])
  return Buffer.concat([
    isZip64 ? zip64 : Buffer.alloc(0),
    numbers([
      [4, 0x06054b50],
      [2, 0],
      [2, 0],
      [2, isZip64 ? 0xffff : count % 0x10000],
      [2, isZip64 ? 0xffff : count % 0x10000],
      [4, isZip64 ? 0xffffffff : bytes],
      [4, isZip64 ? 0xffffffff : offset],
      [2, comment.length],
    ]),
    Buffer.from(comment),
  ])
}

function zip64Extra(size: number, packedSize: number): Buffer {
  return numbers([
    [2, 1],
    [2, 16],
    [8, size],
    [8, packedSize],
  ])
}

/** Little endian. */
function numbers(fields: readonly (readonly [bytes: 2 | 4 | 8, value: number])[]): Buffer {
  const all = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0))
  let at = 0
  for (const [bytes, value] of fields) {
    if (bytes === 8) all.writeBigUInt64LE(BigInt(value), at)
    else all.writeUIntLE(value, at, bytes)
    at += bytes
  }
  return all
}
