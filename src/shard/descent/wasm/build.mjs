/**
 * Compiles the kernel to dist/src/shard/descent/descend.wasm, unless it is newer than all it is made of.
 *
 * @module
 */
import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = dirname(fileURLToPath(import.meta.url))
const root = join(folder, '..', '..', '..', '..')
const target = join(root, 'dist', 'src', 'shard', 'descent', 'descend.wasm')
const sources = readdirSync(folder).map((name) => join(folder, name))
sources.push(join(folder, '..', 'zone-header.ts'))

const changedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
if (sources.some((path) => changedMs(path) >= changedMs(target))) await build()

async function build() {
  const { main } = await import('assemblyscript/asc')
  mkdirSync(dirname(target), { recursive: true })
  const { error, stderr } = await main(
    [
      'src/shard/descent/wasm/descend.ts',
      '--baseDir',
      root,
      '--outFile',
      `${target}.tmp`,
      ...['-O3', '--noAssert', '--runtime', 'stub'],
      ...['--enable', 'simd', '--enable', 'threads'],
      // The memory is an arena of any size; the type of its import must admit the largest.
      ...['--importMemory', '--sharedMemory', '--initialMemory', '1', '--maximumMemory', '65536'],
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
