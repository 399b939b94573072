/**
 * Reads an archive and verifies all of it: that each file may be there, and is what the listing says.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { isRefusal, whyUnread } from '../system-refusals.js'
import { unpacked } from './compression.js'
import {
  type ArchivedFile,
  damaged,
  decodeListing,
  LISTING_FILE,
  type Listing,
  mayBeArchived,
} from './listing.js'

/** Takes the bytes of a file, all of them or it throws. */
type TakeFile = (name: string, bytes: AsyncIterable<Uint8Array>) => Promise<void>

/** What was read. */
interface ReadBack {
  readonly listing: Listing
  /** Of the file of the archive. */
  readonly byteLength: number
  readonly sha256: string
}

/**
 * @param take  called for each file before anybody knows whether the archive is whole
 * @param onBytes  called with the bytes that are read of the file of the archive
 * @throws OperatorError `InputRejected`
 */
export async function readArchive(
  path: string,
  take: TakeFile,
  onBytes: (byteCount: number) => void,
): Promise<ReadBack> {
  const packedHash = createHash('sha256')
  let byteLength = 0
  let hasFile = false
  try {
    const bytes = await unpacked(path, (piece) => {
      packedHash.update(piece)
      byteLength += piece.length
      onBytes(piece.length)
    })
    const listing = await readEntries(path, bytes, (name, content) => {
      hasFile = true
      return take(name, content)
    })
    return { listing, byteLength, sha256: packedHash.digest('hex') }
  } catch (fault) {
    if (byteLength === 0 && fault instanceof Error && !('syscall' in fault)) {
      throw damaged(path, 'it is empty', fault)
    }
    throw faultOf(path, fault, hasFile)
  }
}

async function readEntries(path: string, bytes: Readable, take: TakeFile): Promise<Listing> {
  const found: ArchivedFile[] = []
  const names = new Set<string>()
  let listing: Listing | undefined
  const decoder = createTarDecoder({ strict: true })
  // The types of streams of the web are those of browsers in one place, and of Node.js in the other.
  const entries = Readable.toWeb(bytes).pipeThrough(decoder as never)
  for await (const { header, body } of entries as AsyncIterable<ParsedTarEntry>) {
    const { name, type } = header
    if (listing !== undefined) throw damaged(path, `it goes on behind ${LISTING_FILE}`)
    if (type !== 'file') throw damaged(path, `it holds ${shown(name)}, which is a ${type}`)
    if (name === LISTING_FILE) {
      listing = decodeListing(path, await textOf(path, body))
      continue
    }
    if (!mayBeArchived(name)) throw damaged(path, `it holds ${shown(name)}, which no backup has`)
    if (names.has(name)) throw damaged(path, `it holds ${name} twice`)
    names.add(name)
    if (found.length === limits.backupFileCount) {
      throw damaged(path, `it holds more than ${limits.backupFileCount} files`)
    }
    const hash = createHash('sha256')
    let byteLength = 0
    await take(
      name,
      (async function* () {
        for await (const piece of body as AsyncIterable<Uint8Array>) {
          hash.update(piece)
          byteLength += piece.length
          yield piece
        }
      })(),
    )
    found.push({ name, byteLength, sha256: hash.digest('hex') })
  }
  if (listing === undefined) throw damaged(path, `it ends before ${LISTING_FILE}`)
  assertSame(path, listing, found)
  return listing
}

function assertSame(path: string, { files }: Listing, found: readonly ArchivedFile[]): void {
  if (files.length !== found.length) {
    throw damaged(path, `it holds ${found.length} files, and its list has ${files.length}`)
  }
  for (const [at, { name, byteLength, sha256 }] of found.entries()) {
    const listed = files[at]
    if (listed.name !== name || listed.byteLength !== byteLength || listed.sha256 !== sha256) {
      throw damaged(path, `${name} is not the file in its list`)
    }
  }
}

async function textOf(path: string, body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let byteLength = 0
  for await (const piece of body) {
    byteLength += piece.length
    if (byteLength > limits.documentBytes) throw damaged(path, `its ${LISTING_FILE} is too long`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** A name of an archive may be anything. */
function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}

/** What a file that cannot be read is for the operator; a disk that refuses says so itself. */
function faultOf(path: string, fault: unknown, hasFile: boolean): OperatorError {
  if (fault instanceof OperatorError) return fault
  // A stream of the web has the fault of gzip within another one, which says nothing.
  const { cause } = fault as Error
  const { code, message } = (cause instanceof Error ? cause : fault) as NodeJS.ErrnoException
  if (isRefusal(fault)) {
    const isNamed = NAMED_WRONGLY.has(code ?? '')
    const what = `${path} ${whyUnread(fault)}`
    return new OperatorError(isNamed ? 'InputRejected' : 'Failed', what, { cause: fault })
  }
  const isPacking = code?.startsWith('Z_') || message.startsWith('zstd: ')
  if (!isPacking && !hasFile)
    return damaged(path, 'it is another file, or too short for one', fault)
  const isCut = code === 'Z_BUF_ERROR' || /is truncated|premature end/.test(message)
  return damaged(
    path,
    isCut ? 'it is cut off' : `it is damaged: ${message.replace(/\.$/, '')}`,
    fault,
  )
}

const NAMED_WRONGLY: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR'])
