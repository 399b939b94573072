/**
 * Runs one test file in a process of its own and reads what it says.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { Parser, type Result } from 'tap-parser'
import { TIER_VARIABLE } from '../support/tier.js'
import { compiledOf } from './files.js'

export interface FileRun {
  readonly file: string
  readonly passedCount: number
  /** A process that ends badly without a failed assertion counts as one. */
  readonly failedCount: number
  readonly skipped: readonly string[]
  /** What it says of itself, such as that a machine lacks something that it can do without. */
  readonly notes: readonly string[]
  /** What is to be read about failures: names, differences, seeds, and what went to stderr. */
  readonly report: string
  readonly seconds: number
}

export interface RunOptions {
  readonly isLong: boolean
  /** Whether places are told in TypeScript, which takes each file a tenth longer. */
  readonly hasSourceMaps: boolean
  /** Only the tests of this name. */
  readonly testName?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const UNTRACKED = new URL('untracked.js', import.meta.url).href

/** A file that has not ended by then hangs: it is told to say where, then killed. */
const HANGING_SECONDS = 20 * 60

export async function runFile(file: string, options: RunOptions): Promise<FileRun> {
  const startedMs = performance.now()
  const child = start(file, options)
  const hanging = setTimeout(() => endHanging(child), HANGING_SECONDS * 1000)
  const stderr: string[] = []
  child.stderr?.setEncoding('utf8').on('data', (text) => stderr.push(text))
  const ended = new Promise<string | undefined>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : endOf(code, signal)))
    // What it has started may live on and keep its output open.
    child.once('exit', () => setTimeout(() => closeOutput(child), OUTPUT_LEFT_MS).unref())
  })
  const read = readTap(child)
  const fault = await ended
  clearTimeout(hanging)
  const { passedCount, failures, skipped, notes, comments } = await read
  const problems = [...failures]
  if (problems.length === 0 && fault !== undefined) problems.push(`the file ${fault}`)
  if (problems.length === 0 && passedCount === 0 && options.testName === undefined) {
    problems.push('no test ran in this file')
  }
  const isFailed = problems.length > 0
  return {
    file,
    passedCount,
    failedCount: problems.length,
    skipped,
    notes,
    report: isFailed ? [...problems, ...comments, stderr.join('').slice(-20_000)].join('\n') : '',
    seconds: (performance.now() - startedMs) / 1000,
  }
}

function start(
  file: string,
  { isLong, hasSourceMaps, testName, signal }: RunOptions,
): ChildProcess {
  const filter = testName === undefined ? {} : { TAP_GREP: escapeRegExp(testName) }
  return spawn(
    process.execPath,
    [...(hasSourceMaps ? ['--enable-source-maps'] : []), '--import', UNTRACKED, compiledOf(file)],
    {
      env: {
        ...process.env,
        ...filter,
        [TIER_VARIABLE]: isLong ? 'long' : 'short',
        // Of a whole file, and only against those that hang: no test measures time.
        TAP_TIMEOUT: String(HANGING_SECONDS),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(signal === undefined ? {} : { signal }),
    },
  )
}

interface Tap {
  readonly passedCount: number
  readonly failures: readonly string[]
  readonly skipped: readonly string[]
  readonly notes: readonly string[]
  readonly comments: readonly string[]
}

/** Assertions in whatever depth, but not the points that stand for a whole subtest. */
function readTap(child: ChildProcess): Promise<Tap> {
  let passedCount = 0
  const failures: string[] = []
  const skipped: string[] = []
  const notes: string[] = []
  const comments: string[] = []
  const parser = new Parser()
  parser.on('pass', () => void passedCount++)
  parser.on('fail', (result: Result) => failures.push(describe(result)))
  const skip = ({ fullname, skip, todo }: Result) => {
    // What a name leaves out is not asked for.
    if (typeof skip === 'string' && skip.startsWith('filter')) return
    skipped.push(`${fullname}: ${skip || todo}`)
  }
  parser.on('skip', skip)
  parser.on('todo', skip)
  const watch = (parser: Parser) => {
    parser.on('comment', (line: string) => {
      if (/^\s*# seed /.test(line)) comments.push(line.trim())
      const [, note] = /^\s*# note: (.+)/.exec(line) ?? []
      if (note !== undefined) notes.push(note)
    })
    parser.on('child', watch)
  }
  watch(parser)
  return new Promise((resolve) => {
    parser.on('complete', () => resolve({ passedCount, failures, skipped, notes, comments }))
    child.stdout?.setEncoding('utf8').on('data', (text) => parser.write(text))
    child.once('close', () => parser.end())
    child.once('error', () => parser.end())
  })
}

function describe({ fullname, diag }: Result): string {
  const detail = diag as { diff?: string; at?: { fileName?: string; lineNumber?: number } } | null
  const { diff, at, ...rest } = detail ?? {}
  const place = at?.fileName === undefined ? '' : ` (${at.fileName}:${at.lineNumber})`
  const lines = [diff ?? '', Object.keys(rest).length === 0 ? '' : JSON.stringify(rest, null, 2)]
  return [`not ok: ${fullname}${place}`, ...lines.filter((line) => line !== '')].join('\n')
}

function endOf(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `ended with ${code}` : `was ended by ${signal}`
}

const OUTPUT_LEFT_MS = 5_000

function closeOutput(child: ChildProcess): void {
  child.stdout?.destroy()
  child.stderr?.destroy()
}

/** tap answers SIGALRM with the tests that have not ended. */
function endHanging(child: ChildProcess): void {
  child.kill('SIGALRM')
  setTimeout(() => child.kill('SIGKILL'), 10_000).unref()
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
