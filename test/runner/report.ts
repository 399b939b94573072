/**
 * Prints the runs of test files as they end, what failed, and one line that counts all of it.
 *
 * @module
 */
import type { FileRun } from './run-file.js'

/** Returns whether everything passed and anything ran. */
export async function report(
  runs: AsyncIterable<FileRun>,
  { allowsSkips }: { readonly allowsSkips: boolean },
): Promise<boolean> {
  const ended: FileRun[] = []
  for await (const run of runs) {
    ended.push(run)
    say(`${run.failedCount > 0 ? 'FAILED' : 'ok'} ${run.file} (${run.passedCount})`)
    for (const note of run.notes) say(indented(note))
    if (run.failedCount > 0) say(indented(run.report))
  }
  const failed = ended.filter(({ failedCount }) => failedCount > 0)
  const skipped = ended.flatMap(({ file, skipped }) => skipped.map((what) => `${file}: ${what}`))
  const sum = (of: (run: FileRun) => number) => ended.reduce((all, run) => all + of(run), 0)
  const skippedCount = allowsSkips ? 0 : skipped.length
  const failedCount = sum((run) => run.failedCount) + skippedCount
  const passedCount = sum((run) => run.passedCount)

  const slowest = [...ended].sort((one, other) => other.seconds - one.seconds).slice(0, 10)
  say(`\n${ended.length} files; the longest:`)
  for (const { file, seconds } of slowest) say(`  ${seconds.toFixed(1)} s ${file}`)
  for (const what of skipped) say(`SKIPPED ${what}`)
  for (const { file } of failed) say(`FAILED ${file}`)
  say(`\n${passedCount} passed, ${failedCount} failed`)
  return failedCount === 0 && passedCount > 0
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
