/**
 * SHA256SUMS, as `sha256sum -c` reads it, for all packages of a folder.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const FILE = 'SHA256SUMS'
const PACKAGE = /^hickory.*\.(tar\.gz|tgz|deb)$/

/** @returns what each package has, by the name of its file */
export async function writeChecksums(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(folder)).filter((name) => PACKAGE.test(name)).sort()
  const sums = new Map<string, string>()
  for (const name of names) sums.set(name, await sha256Of(join(folder, name)))
  const part = join(folder, `.${FILE}.part`)
  await writeFile(part, [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join(''))
  await rename(part, join(folder, FILE))
  return sums
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
