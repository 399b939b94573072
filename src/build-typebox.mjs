/**
 * Puts the modules of typebox into a few files below dist, unless these are newer than the installed ones. Typebox
 * has 700 modules, and each thread and each command that reads its schemas would open most of them.
 *
 * @module
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rollup } from 'rollup'

const root = fileURLToPath(new URL('..', import.meta.url))
const typebox = join(root, 'node_modules/typebox')
const target = join(root, 'dist/src/typebox')

/** By the names in `imports` of package.json. */
const input = {
  index: join(typebox, 'build/index.mjs'),
  compile: join(typebox, 'build/compile/index.mjs'),
}

// npm dates what it unpacks by the package; the file of what is installed is as new as the installation.
const sources = ['node_modules/.package-lock.json', 'src/build-typebox.mjs']
const isOld =
  Math.max(...sources.map((path) => changedMs(join(root, path)))) >=
  changedMs(join(target, 'index.js'))
if (isOld) await build()

async function build() {
  const bundle = await rollup({ input, onwarn: refuse })
  const banner = '// typebox, of the licence in node_modules/typebox/license'
  await bundle.write({ dir: target, format: 'es', banner, chunkFileNames: 'shared.js' })
  await bundle.close()
}

/** Circles among its modules are its own; what cannot be resolved would be missing. */
function refuse({ code, message }) {
  if (code !== 'CIRCULAR_DEPENDENCY') throw new Error(message)
}

function changedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
