/**
 * Makes the package for npm: the program without Node.js and without libraries, which npm installs in
 * the versions that were tested.
 *
 * @module
 */
import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { copyProgram } from './program.js'
import { runTool } from './run-tool.js'

const DOCUMENTS = ['README.md', 'LICENSE', 'CHANGELOG.md']

/** @returns the name of the file that is now in `out` */
export async function writeNpmPackage(
  root: string,
  staging: string,
  version: string,
  out: string,
): Promise<string> {
  await copyProgram(root, staging)
  for (const file of DOCUMENTS) await copyFile(join(root, file), join(staging, file))
  await writeFile(join(staging, 'npm-shrinkwrap.json'), await shrinkwrap(root))
  const packed = join(staging, 'packed')
  await mkdir(packed)
  await runTool(
    'npm',
    ['pack', '--silent', '--ignore-scripts', '--pack-destination', packed],
    staging,
  )
  const name = `hickory-${version}.tgz`
  await rename(join(packed, name), join(out, name))
  return name
}

/** npm follows this file of an installed package; without it, it takes the latest of what libraries need. */
async function shrinkwrap(root: string): Promise<string> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lockfile
  const packages = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true)
  const { devDependencies: _, ...manifest } = lock.packages['']
  return `${JSON.stringify({ ...lock, packages: { ...Object.fromEntries(packages), '': manifest } }, null, 2)}\n`
}

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { readonly dev?: boolean; readonly [key: string]: unknown }>
  >
}
