/**
 * Compiles the kernels of WebAssembly into dist, each unless it is newer than all it is made of.
 *
 * @module
 */
import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Paths are below src; `shares` are files beside the folder of a kernel that it imports as well. */
const kernels = [
  {
    entry: 'shard/descent/wasm/descend.ts',
    shares: ['shard/descent/zone-header.ts'],
    target: 'shard/descent/descend.wasm',
    options: inArena(),
  },
  {
    entry: 'shard/rows/wasm/encode.ts',
    shares: ['shard/rows/zone-header.ts'],
    target: 'shard/rows/encode.wasm',
    options: inArena(),
  },
  {
    entry: 'selection/skeleton/wasm/skeleton.ts',
    shares: ['selection/skeleton/layout.ts'],
    target: 'selection/skeleton/skeleton.wasm',
    // Its own memory, whose pages take room when they are touched.
    options: ['--enable', 'simd', '--initialMemory', '153', '--maximumMemory', '153'],
  },
  {
    entry: 'shard/build/wasm/kd-sort.ts',
    shares: ['shard/build/kd-records.ts'],
    target: 'shard/build/kd-sort.wasm',
    // Its own memory, which grows with the shards.
    options: ['--initialMemory', '1'],
  },
]

for (const kernel of kernels) if (isOld(kernel)) await build(kernel)

/** The memory is an arena of any size; the type of its import must admit the largest. */
function inArena() {
  const pages = ['--initialMemory', '1', '--maximumMemory', '65536']
  return ['--enable', 'simd', '--enable', 'threads', '--importMemory', '--sharedMemory', ...pages]
}

function isOld({ entry, shares, target }) {
  const folder = dirname(entry)
  const sources = readdirSync(join(root, 'src', folder)).map((name) => join(folder, name))
  const changes = [...sources, ...shares].map((path) => changedMs(join(root, 'src', path)))
  return Math.max(...changes) >= changedMs(join(root, 'dist/src', target))
}

function changedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

async function build({ entry, target, options }) {
  const { main } = await import('assemblyscript/asc')
  const path = join(root, 'dist/src', target)
  mkdirSync(dirname(path), { recursive: true })
  const { error, stderr } = await main(
    [
      join('src', entry),
      '--baseDir',
      root,
      '--outFile',
      `${path}.tmp`,
      ...['-O3', '--noAssert', '--runtime', 'stub'],
      ...options,
    ],
    { stderr: process.stderr },
  )
  if (error) {
    process.stderr.write(`${stderr ?? ''}${error.message}\n`)
    process.exitCode = 1
    return
  }
  renameSync(`${path}.tmp`, path)
}
