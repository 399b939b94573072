/**
 * Makes the package for npm: the program without Node.js and without libraries, which npm
 * installs.
 *
 * @module
 */
import { cp, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { copyDocuments } from './documents.js'
import { normalize } from './normalize.js'
import { copyProgram } from './program.js'
import { runTool } from './run-tool.js'

/** @returns the name of the file that is now in `out` */
export async function writeNpmPackage(
  root: string,
  staging: string,
  version: string,
  out: string,
): Promise<string> {
  await copyProgram(root, staging)
  await cp(join(root, 'data/system'), join(staging, 'data/system'), { recursive: true })
  await copyDocuments(root, staging, 'data/system')
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
