/**
 * Runs test files side by side, then those that must have the machine to themselves.
 *
 * @module
 */
import { alone } from './order.js'
import { type FileRun, type RunOptions, runFile } from './run-file.js'

/** Yields each file's run as it ends. */
export async function* runFiles(
  files: readonly string[],
  { laneCount, ...options }: RunOptions & { readonly laneCount: number },
): AsyncGenerator<FileRun> {
  yield* runSideBySide(
    files.filter((file) => !alone.includes(file)),
    laneCount,
    options,
  )
  for (const file of files.filter((file) => alone.includes(file)))
    yield await runFile(file, options)
}

async function* runSideBySide(
  files: readonly string[],
  laneCount: number,
  options: RunOptions,
): AsyncGenerator<FileRun> {
  const waiting = [...files]
  const running = new Map<string, Promise<FileRun>>()
  for (;;) {
    while (running.size < laneCount && waiting.length > 0 && options.signal?.aborted !== true) {
      const file = waiting.shift() as string
      running.set(file, runWhole(file, options))
    }
    if (running.size === 0) return
    const run = await Promise.race(running.values())
    running.delete(run.file)
    // A file that was ended on the way has not failed.
    if (options.signal?.aborted === true) return
    yield run
  }
}

/** A test within another one is not found by its name: the whole file is run then. */
async function runWhole(file: string, options: RunOptions): Promise<FileRun> {
  const run = await runFile(file, options)
  if (options.testName === undefined || run.passedCount + run.failedCount > 0) return run
  return runFile(file, { ...options, testName: undefined })
}
