/**
 * Compiles on every save and runs the tests of the short tier that a saved file touches, those that
 * import it most directly first. A further save ends what is running.
 *
 *   npm run test:watch -- [FOLDER | FILE]...
 *
 * @module
 */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { chooseFiles, dist } from './runner/files.js'
import { importGraph, reaching, sourceOf } from './runner/imports.js'
import { runFiles } from './runner/lanes.js'
import { report } from './runner/report.js'

/** It reads the source of everything instead of importing it. */
const LAYOUT = 'test/layout.test.ts'

const asked = process.argv.slice(2)
assertAreThere(asked)
let hashes = hashesOf()
let running = new AbortController()
let ended: Promise<unknown> = Promise.resolve()

const compiler = spawn(
  process.execPath,
  [
    createRequire(import.meta.url).resolve('typescript/lib/tsc.js'),
    '-b',
    '-w',
    '--preserveWatchOutput',
  ],
  { cwd: join(dist, '..'), stdio: ['ignore', 'pipe', 'inherit'] },
)
compiler.stdout.setEncoding('utf8').on('data', (text: string) => {
  process.stdout.write(text)
  if (/Found 0 errors/.test(text)) void runTouched()
})
compiler.once('exit', (code) => process.exit(code ?? 1))

async function runTouched(): Promise<void> {
  const before = hashes
  hashes = hashesOf()
  const changed = [...hashes].filter(([file, hash]) => before.get(file) !== hash)
  if (changed.length === 0) return
  running.abort()
  await ended
  execFileSync(process.execPath, [join(dist, '../src/build-bundle.mjs')], { stdio: 'inherit' })
  running = new AbortController()
  const distances = reaching(
    importGraph(dist),
    changed.map(([file]) => file),
  )
  const distanceTo = (file: string) => (file === LAYOUT ? 1 : distances.get(file))
  const files = chooseFiles('short', asked)
    .files.filter((file) => distanceTo(file) !== undefined)
    .sort((one, other) => (distanceTo(one) ?? 0) - (distanceTo(other) ?? 0))
  const { signal } = running
  const seed = String(Date.now() % 2 ** 31)
  process.env.HICKORY_TEST_SEED = seed
  const runs = runFiles(files, {
    isSoak: false,
    hasSourceMaps: true,
    laneCount: availableParallelism() + 1,
    signal,
  })
  ended = report(runs, {
    fileCount: files.length,
    command: (file) => `HICKORY_TEST_SEED=${seed} npm test -- ${file}`,
    allowsSkips: true,
    isWatched: true,
    isVerbose: false,
    seed,
  })
}

/** Says at once what nothing is there for, instead of at the first save. */
function assertAreThere(paths: readonly string[]): void {
  try {
    chooseFiles('short', paths)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(1)
  }
}

/** What each compiled file holds: the compiler also writes files that did not change. */
function hashesOf(): Map<string, string> {
  const names = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.js') && !name.startsWith('bundle'))
  return new Map(
    files.map((name) => [
      sourceOf(name),
      createHash('sha256')
        .update(readFileSync(join(dist, name)))
        .digest('hex'),
    ]),
  )
}
