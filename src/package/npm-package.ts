/**
 * Makes the package for npm: the program without Node.js and without libraries, which npm
 * installs.
 *
 * @module
 */
import { copyFile, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { normalize } from './normalize.js'
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
  // npm sets the times itself.
  await normalize(staging, [], new Date(0))
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
