/**
 * Decompresses the bodies of requests.
 *
 * @module
 */
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from 'node:zlib'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { unpackKmz } from '../notations/kmz.js'

/**
 * Unpacks a body. It stops as soon as there is too much of it, and takes no bytes beyond its end.
 *
 * @param encoding  the Content-Encoding: gzip, deflate or br, in any case; identity changes nothing
 * @param maxBytes  of what comes out
 * @throws ServiceError  BodyTooLarge, InvalidRequest, Overloaded or UnsupportedEncoding
 */
export async function decompress(
  bytes: Uint8Array,
  encoding: string,
  maxBytes: number,
): Promise<Uint8Array> {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity') return bytes
  const unpack = name === 'deflate' ? deflateOf(bytes) : unpackers.get(name)
  if (unpack === undefined) {
    throw new ServiceError(
      'UnsupportedEncoding',
      'the Content-Encoding of the body must be one of gzip, deflate and br',
    )
  }
  // Senders that compress everything leave an empty body as it is.
  if (bytes.length === 0) return bytes
  const { buffer, readBytes } = await inTurn(bytes.length, () => unpacked(unpack, bytes, maxBytes))
  if (readBytes < bytes.length) throw broken()
  return buffer
}

/**
 * The KML in a KMZ.
 *
 * @throws ServiceError  InvalidKml or Overloaded
 */
export function decompressKmz(bytes: Uint8Array): Promise<Uint8Array> {
  return inTurn(bytes.length, () => unpackKmz(bytes, 'kml'))
}

/** The functions of node:zlib, and what they give when asked for more than the bytes. */
type Unpack = (bytes: Uint8Array, options: ZlibOptions, done: Done) => void
type Done = (error: Error | null, result: unknown) => void
interface Unpacked {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

const unpackers: ReadonlyMap<string, Unpack> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['br', brotliDecompress],
])

/** RFC 9110 means zlib by deflate; the raw form, which .NET sends, lacks the header of RFC 1950. */
function deflateOf([first = 0, second = 0]: Uint8Array): Unpack {
  const hasHeader = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
  return hasHeader ? inflate : inflateRaw
}

/** A few at a time: the library would unpack all bodies at once, and hold a part of each. */
async function inTurn<Value>(byteCount: number, work: () => Promise<Value>): Promise<Value> {
  if (unpackingCount < limits.bodiesUnpackedCount) unpackingCount++
  else await turn(byteCount)
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) unpackingCount--
    // In a turn of its own, so that many bodies do not keep other requests waiting.
    else setImmediate(next)
  }
}

/** @throws ServiceError  Overloaded */
async function turn(byteCount: number): Promise<void> {
  const overloaded = new ServiceError('Overloaded', 'too many compressed requests at once')
  if (waitingBytes + byteCount > limits.heldBodyBytes) throw overloaded
  waitingBytes += byteCount
  try {
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        const place = waiting.indexOf(begin)
        // Otherwise its turn has come, and it is about to begin.
        if (place < 0) return
        waiting.splice(place, 1)
        reject(overloaded)
      }, limits.requestMs)
      waiting.push(begin)
    })
  } finally {
    waitingBytes -= byteCount
  }
}

let unpackingCount = 0
let waitingBytes = 0
const waiting: (() => void)[] = []

function unpacked(
  unpack: Unpack,
  bytes: Uint8Array,
  maxBytes: number,
): Promise<{ buffer: Buffer; readBytes: number }> {
  const options: ZlibOptions = { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES, info: true }
  return new Promise((resolve, reject) => {
    unpack(bytes, options, (error, result) => {
      if (error === null) {
        const { buffer, engine } = result as Unpacked
        resolve({ buffer, readBytes: engine.bytesWritten })
      } else {
        const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
        reject(tooLarge ? tooLargeFor(maxBytes) : broken())
      }
    })
  })
}

const CHUNK_BYTES = 64 * 1024

function tooLargeFor(maxBytes: number): ServiceError {
  return new ServiceError('BodyTooLarge', `the body is larger than ${maxBytes} bytes when unpacked`)
}

function broken(): ServiceError {
  return new ServiceError('InvalidRequest', 'the body is not what its Content-Encoding says')
}
