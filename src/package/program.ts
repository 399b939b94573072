/**
 * Copies the program itself: what was compiled for production, and the documents that it reads.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { filesBelow } from './files-below.js'

/** What this folder holds makes packages and is in none. */
const PACKER = 'src/package/'

/** Puts `package.json`, `dist` and `data` into `into`. */
export async function copyProgram(root: string, into: string): Promise<void> {
  await mkdir(into, { recursive: true })
  for (const folder of ['src', 'workers']) {
    for (const path of await filesBelow(join(root, 'dist', folder))) {
      if (!isProgram(root, `${folder}/${path}`)) continue
      const target = join(into, 'dist', folder, path)
      await mkdir(dirname(target), { recursive: true })
      await copyFile(join(root, 'dist', folder, path), target)
    }
  }
  await cp(join(root, 'data/default'), join(into, 'data/default'), { recursive: true })
  await writeFile(join(into, 'package.json'), await productionManifest(root))
}

/** The compiler leaves the results of sources that are gone, and maps. */
function isProgram(root: string, path: string): boolean {
  if (path.startsWith(PACKER)) return false
  if (path.endsWith('.js')) return existsSync(join(root, path.replace(/\.js$/, '.ts')))
  return path.endsWith('.wasm') && existsSync(join(root, dirname(path), 'wasm'))
}

/** Without what only a checkout can use. */
async function productionManifest(root: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest
  const { scripts: _, devDependencies: _dev, ...production } = manifest
  return `${JSON.stringify(production, null, 2)}\n`
}

type Manifest = Record<string, unknown>
