/**
 * Compiles the skeleton to dist/src/selection/skeleton/skeleton.wasm, unless it is newer than all it is made of.
 *
 * @module
 */
import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = dirname(fileURLToPath(import.meta.url))
const root = join(folder, '..', '..', '..', '..')
const target = join(root, 'dist', 'src', 'selection', 'skeleton', 'skeleton.wasm')
const sources = readdirSync(folder).map((name) => join(folder, name))
sources.push(join(folder, '..', 'layout.ts'))

const changedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
if (sources.some((path) => changedMs(path) >= changedMs(target))) await build()

async function build() {
  const { main } = await import('assemblyscript/asc')
  mkdirSync(dirname(target), { recursive: true })
  const { error, stderr } = await main(
    [
      'src/selection/skeleton/wasm/skeleton.ts',
      '--baseDir',
      root,
      '--outFile',
      `${target}.tmp`,
      ...['-O3', '--noAssert', '--runtime', 'stub'],
      // Its own memory, whose pages take room when they are touched.
      ...['--enable', 'simd', '--initialMemory', '153', '--maximumMemory', '153'],
    ],
    { stderr: process.stderr },
  )
  if (error) {
    process.stderr.write(`${stderr ?? ''}${error.message}\n`)
    process.exitCode = 1
    return
  }
  renameSync(`${target}.tmp`, target)
}
