/**
 * Says how a run of test files goes: progress, each failure at once with the command that repeats it, and at the end
 * what passed and failed, how long it took, and the slowest files.
 *
 * @module
 */
import { SingleBar } from 'cli-progress'
import type { FileRun } from './lanes.js'

export interface ReportOptions {
  readonly fileCount: number
  /** The command that repeats the run of a file. */
  readonly command: (file: string) => string
  /** A skipped test fails the run where it may not. */
  readonly allowsSkips: boolean
  /** Whether files that were not run have failed: a watched run is ended by the next change. */
  readonly isWatched: boolean
  /** Whether each file that passes has a line. */
  readonly isVerbose: boolean
  /** Random tests draw theirs from it. */
  readonly seed: string
}

/** Where nothing redraws a line, progress is a line from time to time. */
const LOG_PROGRESS_MS = 15_000
const SLOWEST_COUNT = 10

/** Returns whether everything passed and anything ran. */
export async function report(
  runs: AsyncIterable<FileRun>,
  { fileCount, command, allowsSkips, isWatched, isVerbose, seed }: ReportOptions,
): Promise<boolean> {
  const startedMs = performance.now()
  const ended: FileRun[] = []
  const sum = (of: (run: FileRun) => number) => ended.reduce((all, run) => all + of(run), 0)
  const bar = new SingleBar({
    format: '{value}/{total} files, {passed} passed, {failed} failed, {duration} s',
    stream: process.stdout,
    clearOnComplete: true,
    noTTYOutput: true,
    notTTYSchedule: LOG_PROGRESS_MS,
  })
  const counts = () => ({
    passed: sum((run) => run.passedCount),
    failed: sum((run) => run.failedCount),
  })
  const say = (text: string) => {
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
    process.stdout.write(`${text}\n`)
  }

  bar.start(fileCount, 0, counts())
  for await (const run of runs) {
    ended.push(run)
    if (isVerbose) say(`${inSeconds(run)} ${run.passedCount} passed`)
    for (const note of run.notes) say(`${run.file}: ${note}`)
    if (run.failedCount > 0)
      say(`FAILED ${run.file}\n${indented(run.report)}\n    ${command(run.file)}`)
    bar.update(ended.length, counts())
  }
  bar.stop()

  const skipped = ended.flatMap(({ file, skipped }) => skipped.map((what) => `${file}: ${what}`))
  const unstartedCount = isWatched ? 0 : fileCount - ended.length
  const failedCount = counts().failed + unstartedCount + (allowsSkips ? 0 : skipped.length)
  const slowest = [...ended].sort((one, other) => other.seconds - one.seconds)
  for (const what of skipped) say(`SKIPPED ${what}`)
  for (const { file } of ended.filter((run) => run.failedCount > 0)) say(`FAILED ${file}`)
  if (unstartedCount > 0) say(`FAILED ${unstartedCount} files had no time to start`)
  say(`the slowest of ${ended.length} files:`)
  for (const run of slowest.slice(0, SLOWEST_COUNT)) say(inSeconds(run))
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
  say(`${seconds} s, seed ${seed}`)
  // Last and as it is: other programs read it.
  say(`${counts().passed} passed, ${failedCount} failed`)
  return failedCount === 0 && counts().passed > 0
}

/** Wall and processor time: a machine that does other work makes only the first longer. */
function inSeconds({ file, seconds, processorSeconds }: FileRun): string {
  return `${seconds.toFixed(1).padStart(7)} s ${processorSeconds.toFixed(1).padStart(6)} cpu  ${file}`
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ')
}
