/**
 * Writes a tree as a tarball: the same tree gives the same bytes, on any machine.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, readlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createTarPacker, type TarHeader } from 'modern-tar'
import { OperatorError } from '../errors.js'
import { filesBelow } from './files-below.js'

/** First what says that the rest is missing, last what it looks for. */
const FIRST = ['bin/hickory']
const LAST = ['VERSION']

/**
 * @param name  the one folder of the tarball; `.` where it has none
 * @param onBytes  called with the bytes of the files that are packed
 */
export async function writeTarball(
  tree: string,
  name: string,
  target: string,
  onBytes: (byteCount: number) => void,
): Promise<void> {
  // Unlike zlib in Node.js, gzip gives the same bytes on all kinds of processors. Every Debian has it. Its best
  // level takes three times as long, for less than a hundredth of the bytes.
  const gzip = spawn('gzip', ['-6n'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const { readable, controller } = createTarPacker()
  const piped = Promise.all([
    started(gzip, 'gzip'),
    pipeline(Readable.fromWeb(readable as never), gzip.stdin),
    pipeline(gzip.stdout, createWriteStream(target)),
  ])
  piped.catch((fault) => controller.error(fault))
  try {
    for (const path of await entriesOf(tree)) {
      const header = await headerOf(tree, name, path)
      const writer = controller.add(header).getWriter()
      if (header.type === 'file') {
        for await (const chunk of createReadStream(join(tree, path)) as AsyncIterable<Buffer>) {
          await writer.write(chunk)
          onBytes(chunk.length)
        }
      }
      await writer.close()
    }
    controller.finalize()
    await piped
  } catch (fault) {
    controller.error(fault)
    await piped
    throw fault
  } finally {
    gzip.kill()
  }
}

async function started(child: ReturnType<typeof spawn>, program: string): Promise<void> {
  const [exitCode] = (await once(child, 'close').catch(() => {
    throw new OperatorError('Failed', `${program} is needed to make packages, and is not there`)
  })) as [number | null]
  if (exitCode !== 0) throw new OperatorError('Failed', `${program} ended with ${exitCode}`)
}

/** Folders before what they hold: where they are left out, they get modes by the umask of the day. */
async function entriesOf(tree: string): Promise<string[]> {
  const files = await filesBelow(tree)
  const first = FIRST.filter((path) => files.includes(path))
  const last = LAST.filter((path) => files.includes(path))
  const middle = files.filter((path) => !first.includes(path) && !last.includes(path))
  const entries = new Set<string>([''])
  for (const path of [...first, ...middle, ...last]) {
    for (const folder of foldersOf(path)) entries.add(folder)
    entries.add(path)
  }
  return [...entries]
}

/** The outermost first. */
function foldersOf(path: string): string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [...foldersOf(folder), folder]
}

async function headerOf(tree: string, name: string, path: string): Promise<TarHeader> {
  const stats = await lstat(join(tree, path))
  const owner = { uid: 0, gid: 0, uname: 'root', gname: 'root' }
  const common = { ...owner, mtime: stats.mtime, mode: stats.mode & 0o777 }
  // Not joined, which would take away the `./` that Debian's tools expect.
  const entry = path === '' ? name : `${name}/${path}`
  if (stats.isDirectory()) return { ...common, name: `${entry}/`, type: 'directory', size: 0 }
  if (stats.isSymbolicLink()) {
    const linkname = await readlink(join(tree, path))
    return { ...common, mode: 0o777, name: entry, type: 'symlink', linkname, size: 0 }
  }
  if (!stats.isFile()) throw new OperatorError('Failed', `${path} is no file, folder or link`)
  return { ...common, name: entry, type: 'file', size: stats.size }
}
