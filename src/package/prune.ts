/**
 * Removes from installed packages what is never read in production, but for libraries that the bundle has. A test runs every command
 * that loads a library from what is left.
 *
 * @module
 */
import { readdir, rm, rmdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Architecture } from './architecture.js'
import { NODE } from './node-binary.js'

/** What Node.js loads, and what the packages read themselves. The licences stay, too. */
const READ = /\.(js|mjs|cjs|json|node|so|wasm|pbf)$/
const LICENCE = /^(licen[cs]e|copying|notice)/i
const README = /^readme/i

/** Folders that hold nothing for production, in any package. */
const SPARE_FOLDERS = new Set(
  'test tests __tests__ doc docs example examples bench benchmark benchmarks .github .bin'.split(
    ' ',
  ),
)

/** More of single packages, as paths below `node_modules`. */
const SPARE: readonly RegExp[] = [
  // The sources of native parts, of which the binaries are in packages of their own.
  /^lmdb\/(dependencies|src|bin)\/$/,
  // Beside it is the binary for this release of Node.js, which its loader prefers.
  /^@lmdb\/[^/]*\/node\.napi\./,
  /^(node-addon-api\/|lmdb\/rollup\.config\.js)$/,
  // Patterns of more countries than `libphonenumber-js/min` has, and the same code in other forms.
  /^libphonenumber-js\/(bundle|build|es6-modern|source|max|mobile|website)\/$/,
  /^libphonenumber-js\/metadata\.(max|mobile)\.json/,
  // The same code for browsers and for other loaders of modules.
  /^(csv-parse\/dist|robust-predicates|polygon-clipping\/dist)\/(cjs|iife|umd)\/$/,
  /^(bintrees|msgpackr|lmdb\/node_modules\/msgpackr)\/dist\/(?!node)[^/]*$/,
  /\.umd(\.min)?\.js$/,
  /^sql\.js\/dist\/(?!sql-wasm\.(js|wasm)$)[^/]+$/,
  /^h3-js\/dist\/(browser\/|libh3-browser|legacy|print-bindings)/,
  // Maps of other scales, of land alone, and in a projection.
  /^us-atlas\/(?!counties-10m\.json$|package\.json$)[^/]*\.json$/,
  /^world-atlas\/(?!countries-10m\.json$|package\.json$)[^/]*\.json$/,
  /^lru-cache\/dist\/commonjs\/$/,
  // Its modules are in the bundle.
  /^typebox\/build\/$/,
]

/** Binaries for other machines, other releases of Node.js, or another C library. */
function isForeignBinary(path: string, arch: Architecture): boolean {
  if (!path.endsWith('.node')) return false
  if (path.startsWith('uWebSockets.js/'))
    return !path.endsWith(`/uws_linux_${arch}_${NODE.abi}.node`)
  if (path.includes('.musl.')) return true
  const abi = /\.abi(\d+)\./.exec(path)
  return abi !== null && Number(abi[1]) !== NODE.abi
}

/** @param modules  a folder `node_modules` */
export async function prune(modules: string, arch: Architecture): Promise<void> {
  await pruneFolder(modules, modules, arch)
}

/** Whether nothing is left of the folder. */
async function pruneFolder(root: string, folder: string, arch: Architecture): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true })
  const hasLicence = entries.some((entry) => entry.isFile() && LICENCE.test(entry.name))
  let leftCount = entries.length
  for (const entry of entries) {
    const path = join(folder, entry.name)
    const name = relative(root, path)
    if (entry.isDirectory()) {
      if (SPARE_FOLDERS.has(entry.name) || isSpare(`${name}/`)) {
        await rm(path, { recursive: true })
      } else if (!(await pruneFolder(root, path, arch))) continue
      leftCount -= 1
    } else if (!isWanted(entry.name, name, hasLicence, arch)) {
      await rm(path)
      leftCount -= 1
    }
  }
  if (leftCount === 0 && folder !== root) await rmdir(folder)
  return leftCount === 0
}

function isWanted(file: string, path: string, hasLicence: boolean, arch: Architecture): boolean {
  if (LICENCE.test(file)) return true
  // Some packages give their licence in their README alone.
  if (README.test(file)) return !hasLicence
  return READ.test(file) && !isSpare(path) && !isForeignBinary(path, arch)
}

function isSpare(path: string): boolean {
  return SPARE.some((pattern) => pattern.test(path))
}
