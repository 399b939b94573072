/**
 * A process that runs test files one after the other, as its parent sends them, and answers each with what came of it.
 * All files of a lane share one start of Node.js, of tap, and of the modules that they import.
 *
 * @module
 */
import './untracked.js'
import './file-tap.js'
// It listens to signals from when it is first loaded, which no file is to be blamed for.
import 'proper-lockfile'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Test, type TestOpts } from 'tap'
import type { Parser, Result } from 'tap-parser'
import { compiledOf } from './files.js'
import { Leftovers } from './leftovers.js'
import { RUN_FOLDER_VARIABLE } from './run-folder.js'

/** A test file for a lane. */
export interface LaneTask {
  readonly file: string
  /** Only the tests of this name. */
  readonly testName?: string | undefined
  /** Whether what the file leaves behind counts: others follow in this process. */
  readonly isShared: boolean
}

/** What came of it. */
export interface LaneResult {
  readonly passedCount: number
  /** Failed assertions and what the file left behind, each as it is to be read. */
  readonly failures: readonly string[]
  readonly skipped: readonly string[]
  /** What the file says about itself, such as that a machine lacks something that it can do without. */
  readonly notes: readonly string[]
  /** Seeds. */
  readonly comments: readonly string[]
  /** Of the file and the processes that it started and that have ended. */
  readonly processorSeconds: number
  /** What this process holds after it. */
  readonly heldBytes: number
}

/** Its message to the parent; tap sends others. */
export interface LaneAnswer {
  readonly result: LaneResult
}

const fixtures = join(process.env[RUN_FOLDER_VARIABLE] ?? tmpdir(), 'fixtures')
const { chdir } = process
process.chdir = (directory) => {
  // tap leaves the folder that it removes, even if it is not there.
  if (directory !== fixtures) chdir(directory)
}

/** The file that is running; file-tap.ts hands it to what imports `tap`. */
const shared = globalThis as { hickoryFileTest?: Test | undefined }

process.on('message', (task: LaneTask) => {
  // A process that a file has for itself ends as the file lets it, so that an error after its last test fails it.
  if (!task.isShared) process.off('disconnect', exit)
  void run(task).then((result) => process.send?.({ result } satisfies LaneAnswer))
})
// The parent asks what a file hangs on.
process.on('SIGALRM', () => shared.hickoryFileTest?.timeout())
process.once('disconnect', exit)

function exit(): void {
  process.exit()
}

async function run({ file, testName, isShared }: LaneTask): Promise<LaneResult> {
  const options: TestOpts = { name: file, timeout: 0 }
  if (testName !== undefined) options.grep = [new RegExp(escapeRegExp(testName))]
  const test = new Test(options)
  test.testdirName = join(fixtures, file.replace(/\W+/g, '-'))
  shared.hickoryFileTest = test
  const leftovers = new Leftovers()
  const startSeconds = processorSeconds()
  const results = collect(test)
  const ended = new Promise<void>((resolve) => test.runMain(resolve))
  test.resume()
  try {
    await import(pathToFileURL(compiledOf(file)).href)
  } catch (error) {
    test.threw(error)
  }
  test.end()
  await ended
  shared.hickoryFileTest = undefined
  const left = isShared ? await leftovers.left() : []
  for (const what of left) results.failures.push(`not ok: the file leaves ${what} behind`)
  return {
    ...results,
    processorSeconds: processorSeconds() - startSeconds,
    heldBytes: process.memoryUsage.rss(),
  }
}

/** What this process and its ended children have used: proc(5), in hundredths of a second. */
function processorSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

/** Assertions in whatever depth, but not the points that stand for a whole subtest. */
function collect(
  test: Test,
): Omit<LaneResult, 'processorSeconds' | 'heldBytes'> & { failures: string[] } {
  const passes = { count: 0 }
  const [failures, skipped, notes, comments] = [[], [], [], []] as string[][]
  const skip = ({ fullname, skip, todo }: Result) => {
    // What a name leaves out is not asked for.
    if (typeof skip === 'string' && skip.startsWith('filter')) return
    skipped.push(`${withoutFile(fullname)}: ${skip || todo}`)
  }
  const watch = (parser: Parser) => {
    parser.on('pass', () => void passes.count++)
    parser.on('fail', (result: Result) => failures.push(describe(result)))
    parser.on('skip', skip)
    parser.on('todo', skip)
    parser.on('comment', (line: string) => {
      if (/^\s*# seed /.test(line)) comments.push(line.trim())
      const [, note] = /^\s*# note: (.+)/.exec(line) ?? []
      if (note !== undefined) notes.push(note)
    })
    parser.on('child', watch)
  }
  watch(test.parser)
  return {
    get passedCount() {
      return passes.count
    },
    failures,
    skipped,
    notes,
    comments,
  }
}

function describe({ fullname, diag }: Result): string {
  const detail = diag as { diff?: string; at?: { fileName?: string; lineNumber?: number } } | null
  const { diff, at, ...rest } = detail ?? {}
  const place = at?.fileName === undefined ? '' : ` (${at.fileName}:${at.lineNumber})`
  const lines = [diff ?? '', Object.keys(rest).length === 0 ? '' : JSON.stringify(rest, null, 2)]
  return [`not ok: ${withoutFile(fullname)}${place}`, ...lines.filter((line) => line !== '')].join(
    '\n',
  )
}

function withoutFile(fullname: string): string {
  return fullname.replace(/^\S+\.test\.ts > /, '')
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
