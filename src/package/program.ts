/**
 * Copies the program itself: what was compiled for production, and the documents that it reads.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.js'
import { filesBelow } from './files-below.js'

/** What this folder holds makes packages and is in none. */
const PACKER = 'src/package/'

/** Puts `package.json`, `dist` and `data` into `into`. */
export async function copyProgram(root: string, into: string): Promise<void> {
  await mkdir(into, { recursive: true })
  for (const path of await compiledFiles(root)) {
    const target = join(into, 'dist', path)
    await mkdir(dirname(target), { recursive: true })
    await copyFile(join(root, 'dist', path), target)
  }
  await cp(join(root, 'data/default'), join(into, 'data/default'), { recursive: true })
  await writeFile(join(into, 'package.json'), await productionManifest(root))
}

/** Below `dist`, by what is there to be compiled: the results of sources that are gone stay in `dist`. */
async function compiledFiles(root: string): Promise<string[]> {
  const found: string[] = []
  for (const folder of ['src', 'workers']) {
    const sources = (await filesBelow(join(root, folder))).map((path) => `${folder}/${path}`)
    for (const path of sources.filter(isProgram)) {
      // What is in a folder `wasm` is compiled to files of the folder around it.
      if (KERNEL.test(path))
        found.push(...(await madeFiles(root, path.replace(KERNEL, ''), '.wasm')))
      else found.push(path.replace(/\.ts$/, '.js'))
    }
  }
  found.push(...(await madeFiles(root, 'src/typebox', '.js')))
  const missing = found.find((path) => !existsSync(join(root, 'dist', path)))
  if (missing === undefined) return [...new Set(found)]
  throw new OperatorError('Failed', `dist/${missing} is not there: run \`npm run build\``)
}

/** Declarations are for the compiler alone. */
function isProgram(path: string): boolean {
  return /(?<!\.d)\.ts$/.test(path) && !path.startsWith(PACKER)
}

const KERNEL = /\/wasm\/[^/]*$/

/** What the build makes of other things than TypeScript. */
async function madeFiles(root: string, folder: string, ending: string): Promise<string[]> {
  const names = await readdir(join(root, 'dist', folder)).catch(() => [])
  const made = names.filter((name) => name.endsWith(ending))
  // Without one, something that is missing is named.
  return (made.length > 0 ? made : [`*${ending}`]).map((name) => `${folder}/${name}`)
}

/** Without what only a checkout can use. */
async function productionManifest(root: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest
  const { scripts: _, devDependencies: _dev, ...production } = manifest
  return `${JSON.stringify(production, null, 2)}\n`
}

type Manifest = Record<string, unknown>
