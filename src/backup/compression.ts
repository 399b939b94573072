/**
 * Archives as they are on disk: plain, gzip, or zstd, for which Node.js 20 has no compressor of its own,
 * so that the program `zstd` does it.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Duplex, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { OperatorError } from '../errors.js'

export type Compression = 'none' | 'gzip' | 'zstd'

/** @throws OperatorError `Usage` */
export function compressionOf(path: string): Compression {
  if (/\.tar$/i.test(path)) return 'none'
  if (/\.(tar\.gz|tgz)$/i.test(path)) return 'gzip'
  if (/\.tar\.zst$/i.test(path)) return 'zstd'
  throw new OperatorError(
    'Usage',
    `${path}: the name of a backup ends with .tar, .tar.gz or .tar.zst, which says how it is packed`,
  )
}

/** What stands between the archive and its file; one that fails says why as an `OperatorError`. */
export function compressor(compression: Compression): Duplex[] {
  if (compression === 'none') return []
  return [
    compression === 'gzip'
      ? createGzip({ level: 1 })
      : zstd(['-q', '-3', '-T0', '-c'], (reason) => new OperatorError('Failed', reason)),
  ]
}

/**
 * The archive in a file, however it is packed. Each piece is handed over before it is unpacked, too.
 *
 * @throws OperatorError `InputRejected`, for what is no archive
 */
export async function unpacked(
  path: string,
  onPacked: (piece: Uint8Array) => void,
): Promise<Readable> {
  const head = Buffer.alloc(4)
  const file = await open(path, 'r')
  try {
    await file.read(head, 0, head.length, 0)
  } finally {
    await file.close()
  }
  const packed = createReadStream(path, { highWaterMark: READ_BYTES })
  packed.on('data', (piece) => onPacked(piece as Buffer))
  const isGzip = head[0] === 0x1f && head[1] === 0x8b
  if (!isGzip && !head.equals(ZSTD)) return packed
  const unpack = isGzip ? createGunzip() : zstd(['-q', '-d', '-c'], (reason) => new Error(reason))
  // A fault of the file is one of what is read of it.
  pipeline(packed, unpack).catch((fault) => unpack.destroy(fault))
  return unpack
}

const ZSTD = Buffer.from('28b52ffd', 'hex')
const READ_BYTES = 1 << 20

/** What the program makes of what is written to it; where it fails, its reason is the fault. */
function zstd(args: readonly string[], faultOf: (reason: string) => Error): Duplex {
  const child = spawn('zstd', args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const { stdin, stdout, stderr } = child
  const stream = new Duplex({
    write(piece, _encoding, done) {
      if (stdin.write(piece)) done()
      else stdin.once('drain', done)
    },
    final(done) {
      stdin.end(done)
    },
    read() {
      stdout.resume()
    },
    destroy(fault, done) {
      child.kill()
      done(fault)
    },
  })
  let problem = ''
  stderr.on('data', (piece) => {
    problem = (problem + piece).slice(0, 1_000)
  })
  stdout.on('data', (piece) => {
    if (!stream.push(piece)) stdout.pause()
  })
  // The end of the program says more than that its pipe is closed.
  stdin.on('error', () => {})
  child.once('error', (fault: NodeJS.ErrnoException) =>
    stream.destroy(fault.code === 'ENOENT' ? missing() : fault),
  )
  child.once('close', (code, signal) => {
    const reason = problem.trim().split('\n').at(-1) || `it ended with ${code ?? signal}`
    if (code === 0) stream.push(null)
    else stream.destroy(faultOf(`zstd: ${reason}`))
  })
  return stream
}

function missing(): OperatorError {
  return new OperatorError(
    'Usage',
    'a name that ends with .zst needs the program zstd, which is not installed: install it, or pack ' +
      'with gzip (.tar.gz)',
  )
}
