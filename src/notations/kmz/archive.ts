/**
 * A zip with KML in it. Nothing is written to a disk, and only what is asked for is unpacked, within the bytes
 * that the archive says of it and that may be: what else it holds, other archives and files that overlap, costs
 * nothing.
 *
 * @module
 */
import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { ServiceError } from '../../errors.js'
import { limits } from '../../limits.js'

export class KmzArchive {
  readonly #bytes: Buffer
  readonly #path: string
  readonly #zip: ZipFile
  readonly #entries: readonly Entry[]
  /** Those of the same name together. */
  readonly #byName: ReadonlyMap<string, readonly Entry[]>
  readonly #bytesMax: number
  #unpackedBytes = 0

  private constructor(
    bytes: Buffer,
    path: string,
    { zip, entries, bytesMax }: { zip: ZipFile; entries: readonly Entry[]; bytesMax: number },
  ) {
    this.#bytes = bytes
    this.#path = path
    this.#zip = zip
    this.#entries = entries
    this.#byName = byName(entries)
    this.#bytesMax = bytesMax
  }

  /**
   * @param path  of the member that it came in
   * @param bytesMax  what all that is asked for may have together, unpacked
   * @throws ServiceError  InvalidKml, as all that follow
   */
  static async open(bytes: Uint8Array, path: string, bytesMax: number): Promise<KmzArchive> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const damaged = () => invalid(DAMAGED, path)
    const zip = await fromBufferPromise(buffer).catch(damaged)
    if (zip.entryCount > limits.kmzEntryCount) {
      invalid(`has more than ${limits.kmzEntryCount} files`, path)
    }
    const entries = await entriesOf(zip).catch(damaged)
    return new KmzArchive(buffer, path, { zip, entries, bytesMax })
  }

  /** `doc.kml`, or the only KML at the root: KML lets programs take the first, and they do not agree on it. */
  main(): Promise<Buffer> {
    const atRoot = this.#entries.filter(({ fileName }) => /^[^/]+\.kml$/i.test(fileName))
    const named = atRoot.filter(({ fileName }) => fileName.toLowerCase() === 'doc.kml')
    const [main, second] = named.length > 0 ? named : atRoot
    if (main === undefined) invalid('has no KML at its root', this.#path)
    if (second !== undefined) {
      invalid('has several KML at its root: call the main one doc.kml', this.#path)
    }
    return this.#unpack(main)
  }

  /** A file by its name, or undefined if there is no such file. */
  async file(name: string): Promise<Buffer | undefined> {
    const [entry, second] = this.#byName.get(name) ?? []
    if (entry === undefined) return undefined
    if (second !== undefined) invalid('has two files of the same name', this.#path)
    return this.#unpack(entry)
  }

  async #unpack(entry: Entry): Promise<Buffer> {
    const damaged = () => invalid(DAMAGED, this.#path)
    if (entry.isEncrypted()) invalid('is encrypted', this.#path)
    this.#unpackedBytes += entry.uncompressedSize
    if (this.#unpackedBytes > this.#bytesMax) {
      invalid(`holds KML of more than ${this.#bytesMax} bytes`, this.#path)
    }
    const local = await this.#zip.readLocalFileHeaderPromise(entry).catch(damaged)
    const { fileDataStart, fileName, compressionMethod } = local
    // Where two places name a file differently, two programs can read two files.
    if (!fileName.equals(entry.fileNameRaw) || compressionMethod !== entry.compressionMethod) {
      damaged()
    }
    const packed = this.#bytes.subarray(fileDataStart, fileDataStart + entry.compressedSize)
    const content = await unpacked(packed, entry).catch(damaged)
    if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) damaged()
    return content
  }
}

function byName(entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  const found = new Map<string, Entry[]>()
  for (const entry of entries) {
    const same = found.get(entry.fileName)
    if (same === undefined) found.set(entry.fileName, [entry])
    else same.push(entry)
  }
  return found
}

const DAMAGED = 'is not a KMZ, or is damaged: send it as it was written, or the KML in it'

function invalid(problem: string, path: string): never {
  throw new ServiceError('InvalidKml', `${path} ${problem}`, path)
}

async function entriesOf(zip: ZipFile): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of zip.eachEntry()) entries.push(entry)
  return entries
}

/** Not one byte more than the archive says: what would follow is not unpacked. */
async function unpacked(packed: Buffer, entry: Entry): Promise<Buffer> {
  if (entry.compressionMethod === STORED) return packed
  if (entry.compressionMethod !== DEFLATED) throw new Error('an unknown method')
  return inflate(packed, { maxOutputLength: Math.max(entry.uncompressedSize, 1) })
}

const STORED = 0
const DEFLATED = 8

const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw)
