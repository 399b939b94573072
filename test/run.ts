/**
 * Runs the tests, each file in a process of its own, and ends with one line that counts them.
 * Arguments are passed on to tap: files, or options such as --reporter=terse.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Parser, type Result } from 'tap-parser'
import { isPostgresOff, postgresBinaries } from './support/postgres-install.js'

const directory = mkdtempSync(join(tmpdir(), 'hickory-test-'))
const tapFile = join(directory, 'all.tap')
try {
  installPostgres()
  const exitCode = await runTap(process.argv.slice(2))
  const tap = readFileSync(tapFile, 'utf8')
  const { passedCount, failedCount } = countTests(tap)
  if (exitCode !== 0 || failedCount > 0) process.stdout.write(`\n${seedsOf(tap)}\n`)
  process.exitCode = exitCode === 0 && (failedCount > 0 || passedCount === 0) ? 1 : exitCode
  process.stdout.write(`\n${passedCount} passed, ${failedCount} failed\n`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

/** Before the tests, each of which has less time; what is missing is told by the test itself. */
function installPostgres(): void {
  if (isPostgresOff) {
    process.stdout.write('HICKORY_TEST_POSTGRES=off: PostgreSQL is not tested\n')
    return
  }
  try {
    postgresBinaries()
  } catch {
    // The test that needs it fails with this message.
  }
}

function runTap(args: readonly string[]): Promise<number> {
  const manifest = createRequire(import.meta.url).resolve('tap/package.json')
  const tap = join(dirname(manifest), 'dist', 'esm', 'run.mjs')
  const child = spawn(process.execPath, [tap, `--output-file=${tapFile}`, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}

/** The seeds that the tests printed, each behind the name of its test: reporters leave them out. */
function seedsOf(tap: string): string {
  const lines = tap.split('\n').map((line) => line.trim())
  return lines
    .filter((line) => /^# (Subtest: |seed )/.test(line))
    .filter(isNearSeed)
    .join('\n')
}

function isNearSeed(line: string, index: number, lines: readonly string[]): boolean {
  return line.startsWith('# seed ') || (lines[index + 1]?.startsWith('# seed ') ?? false)
}

/** Counts assertions in whatever depth, but not the points that stand for a whole subtest. */
function countTests(tap: string): { passedCount: number; failedCount: number } {
  let passedCount = 0
  let failedCount = 0
  const watch = (parser: Parser) => {
    let closesSubtest = false
    parser.on('child', (child: Parser) => {
      watch(child)
      child.on('complete', () => {
        closesSubtest = true
      })
    })
    parser.on('assert', ({ ok }: Result) => {
      // A subtest that failed without a failed assertion, by a crash or a time-out, counts too.
      if (!closesSubtest || (!ok && failedCount === 0)) {
        if (ok) passedCount++
        else failedCount++
      }
      closesSubtest = false
    })
  }
  const parser = new Parser()
  watch(parser)
  parser.end(tap)
  return { passedCount, failedCount }
}
