/**
 * Compressed bodies: as they should be, broken, mislabelled, and bombs.
 *
 * @module
 */
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { Random } from '../../support/random/world.js'

export interface EncodedBody {
  readonly bytes: Buffer
  /** Undefined leaves the header out. */
  readonly contentEncoding: string | undefined
}

export function encodedBody(text: string, random: Random): EncodedBody {
  const bytes = Buffer.from(text)
  if (random.unit() > ENCODED_SHARE) return { bytes, contentEncoding: undefined }
  const { name, pack } = random.pick(packers)
  const share = random.unit()
  if (share < 0.4) return { bytes: pack(bytes), contentEncoding: name }
  if (share < 0.5) return { bytes: pack(bytes), contentEncoding: random.pick(otherNames) }
  if (share < 0.6) return { bytes, contentEncoding: name }
  if (share < 0.61) return { bytes: bomb(name), contentEncoding: name }
  return { bytes: damaged(pack(bytes), random), contentEncoding: name }
}

const ENCODED_SHARE = 0.06

const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
const packers: readonly { name: string; pack: (bytes: Buffer) => Buffer }[] = [
  { name: 'gzip', pack: (bytes) => gzipSync(bytes, { level: 1 }) },
  { name: 'x-gzip', pack: (bytes) => gzipSync(bytes, { level: 1 }) },
  { name: 'deflate', pack: (bytes) => deflateSync(bytes, { level: 1 }) },
  { name: 'deflate', pack: (bytes) => deflateRawSync(bytes, { level: 1 }) },
  { name: 'br', pack: (bytes) => brotliCompressSync(bytes, quickly) },
]

const otherNames = ['identity', 'gzip', 'deflate', 'br', 'zstd', 'gzip, br', 'GZIP', ' ', 'x']

function damaged(bytes: Buffer, random: Random): Buffer {
  const at = random.between(0, bytes.length)
  const share = random.unit()
  if (share < 0.3) return bytes.subarray(0, at)
  if (share < 0.5) return Buffer.concat([bytes, bytes.subarray(0, at)])
  const copy = Buffer.from(bytes)
  copy[Math.min(at, copy.length - 1)] ^= 1 << random.between(0, 7)
  return copy
}

const bombs = new Map<string, Buffer>()

/** Four times what a body may hold; made once. */
function bomb(name: string): Buffer {
  const made = bombs.get(name)
  if (made !== undefined) return made
  const zeros = Buffer.alloc(16 * 1024 * 1024)
  const { pack } = packers.find((packer) => packer.name === name) ?? packers[0]
  const packed = pack(zeros)
  bombs.set(name, packed)
  return packed
}
