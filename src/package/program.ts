/**
 * Copies the program itself: what was compiled for production, and the documents that it reads.
 *
 * @module
 */
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.js'
import { filesBelow } from './files-below.js'

/** Puts `package.json`, `dist` and `data` into `into`. */
export async function copyProgram(root: string, into: string): Promise<void> {
  await mkdir(into, { recursive: true })
  for (const path of await builtFiles(root)) {
    const target = join(into, 'dist', path)
    await mkdir(dirname(target), { recursive: true })
    await copyFile(join(root, 'dist', path), target)
  }
  await cp(join(root, 'data/default'), join(into, 'data/default'), { recursive: true })
  await writeFile(join(into, 'package.json'), await productionManifest(root))
}

/** Below `dist`: the bundle, and the kernels that are there to be compiled. */
async function builtFiles(root: string): Promise<string[]> {
  const sources = (await filesBelow(join(root, 'src'))).filter((path) => KERNEL.test(path))
  const kernels = new Set(sources.map((path) => `src/${path.replace(KERNEL, '')}`))
  const found = await madeFiles(root, 'bundle', '.js')
  for (const folder of kernels) found.push(...(await madeFiles(root, folder, '.wasm')))
  return found
}

/** What is in a folder `wasm` is compiled to files of the folder around it. */
const KERNEL = /\/wasm\/[^/]*$/

async function madeFiles(root: string, folder: string, ending: string): Promise<string[]> {
  const names = await readdir(join(root, 'dist', folder)).catch(() => [])
  const made = names.filter((name) => name.endsWith(ending))
  if (made.length > 0) return made.map((name) => `${folder}/${name}`)
  throw new OperatorError('Failed', `dist/${folder}/*${ending} is not there: run \`npm run build\``)
}

/** Without what only a checkout can use. */
async function productionManifest(root: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest
  const { scripts: _, devDependencies: _dev, ...production } = manifest
  return `${JSON.stringify(production, null, 2)}\n`
}

type Manifest = Record<string, unknown>
