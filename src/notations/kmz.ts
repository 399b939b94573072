/**
 * KMZ: a zip with a KML at its root, and images and whatever else beside it, of which nothing is looked at.
 *
 * Nothing is written to a disk, and one file alone is unpacked, within the bytes that the archive says of it and
 * that may be: what else an archive holds, other archives and files that overlap, costs nothing.
 *
 * @module
 */
import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'

/**
 * The bytes of the main KML: `doc.kml`, or the only KML at the root. The reader of KML reads them.
 *
 * @param path  of the member that it came in
 * @param bytesMax  what the KML may have, unpacked
 * @throws ServiceError  InvalidKml
 */
export async function unpackKmz(
  bytes: Uint8Array,
  path: string,
  bytesMax: number = limits.kmzBytes,
): Promise<Uint8Array> {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const fail = (problem: string) => invalid(problem, path)
  const damaged = () => fail(DAMAGED)
  const zip = await fromBufferPromise(archive).catch(damaged)
  if (zip.entryCount > limits.kmzEntryCount) fail(`has more than ${limits.kmzEntryCount} files`)
  const main = mainOf(await entriesOf(zip).catch(damaged), path)
  if (main.isEncrypted()) fail('is encrypted')
  if (main.uncompressedSize > bytesMax) fail(`holds a KML of more than ${bytesMax} bytes`)
  const local = await zip.readLocalFileHeaderPromise(main).catch(damaged)
  // Where two places name a file differently, two programs can read two files.
  const isSameFile =
    local.fileName.equals(main.fileNameRaw) && local.compressionMethod === main.compressionMethod
  if (!isSameFile) fail(DAMAGED)
  const packed = archive.subarray(local.fileDataStart, local.fileDataStart + main.compressedSize)
  const kml = await unpacked(packed, main).catch(damaged)
  if (kml.length !== main.uncompressedSize || crc32(kml) !== main.crc32) fail(DAMAGED)
  return kml
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

function mainOf(entries: readonly Entry[], path: string): Entry {
  const atRoot = entries.filter(({ fileName }) => /^[^/]+\.kml$/i.test(fileName))
  const named = atRoot.filter(({ fileName }) => fileName.toLowerCase() === 'doc.kml')
  const [main, second] = named.length > 0 ? named : atRoot
  if (main === undefined) invalid('has no KML at its root', path)
  if (second !== undefined) invalid('has several KML at its root: call the main one doc.kml', path)
  return main
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
