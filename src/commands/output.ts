/**
 * The output of a command: results go to standard output, progress goes to standard error (a bar on
 * a terminal, log lines otherwise).
 *
 * @module
 */
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { Presets, SingleBar } from 'cli-progress'
import type { Log } from '../log.js'

/** How many want that nothing is printed. */
let mutedCount = 0
/** Whether a command says nothing as long as all is well. */
let isQuiet = false

/** Whether results and progress are left out from now on; warnings and faults never are. */
export function setQuiet(quiet: boolean): void {
  isQuiet = quiet
}

/** Writes one line to standard output. */
export function print(line = ''): void {
  if (mutedCount > 0 || isQuiet) return
  process.stdout.write(`${line}\n`)
}

/** Resolves when standard output takes more. Long output waits for that now and then: it would wait in memory instead. */
export async function roomToPrint(): Promise<void> {
  // A reader that is gone is told of at the end.
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain').catch(() => {})
  await turn()
}

/** Writes one line to standard error: nothing has failed, but somebody should look. */
export function warn(message: string): void {
  process.stderr.write(`hickory: warning: ${message}\n`)
}

/** Writes one line to standard error, beside a result that a script takes from standard output. */
export function tell(message: string): void {
  if (!isQuiet) process.stderr.write(`${message}\n`)
}

/** While `use` is under way, `print` does nothing. */
export async function withoutPrinting(use: () => Promise<void>): Promise<void> {
  mutedCount++
  try {
    await use()
  } finally {
    mutedCount--
  }
}

export interface Progress {
  /** Work done so far, in the unit of `total`. */
  update(done: number): void
  /** Ends the bar or writes the last log line. */
  stop(): void
}

const LOG_INTERVAL_MS = 5_000
const SHOW_CURSOR = '\x1b[?25h'
/** Of a terminal that does not say it. */
const COLUMN_COUNT = 80
/** With less, a bar has no counts: it would be cut off in the middle of a figure. */
const WIDE_COLUMN_COUNT = 140
const BAR_SIZE = 40
const BAR_SIZE_MIN = 5
/** The characters beside a bar and its label without counts, at most. */
const FIGURES_SIZE = 52

/**
 * Shows how far a long piece of work is, how fast it goes and how long it will take.
 *
 * @param total  work to do, in `unit`; 0 when it is not known
 */
export function startProgress(log: Log, label: string, total: number, unit: string): Progress {
  if (isQuiet) return { update() {}, stop() {} }
  return process.stderr.isTTY ? bar(label, total, unit) : logLines(log, label, total, unit)
}

function bar(label: string, total: number, unit: string): Progress {
  const startedMs = performance.now()
  const columnCount = process.stderr.columns ?? COLUMN_COUNT
  const left = total > 0 ? ' | {left} left' : ''
  const counted =
    columnCount < WIDE_COLUMN_COUNT && total > 0
      ? ''
      : `{value}${total > 0 ? '/{total}' : ''} ${unit} | `
  const share = total > 0 ? '{bar} {percentage}% | ' : ''
  const view = new SingleBar(
    {
      format: `${label} ${share}${counted}{rate}/s | {duration_formatted}${left}`,
      barsize: Math.max(
        BAR_SIZE_MIN,
        Math.min(BAR_SIZE, columnCount - label.length - FIGURES_SIZE),
      ),
      clearOnComplete: false,
      hideCursor: true,
      stream: latestError(),
    },
    Presets.shades_classic,
  )
  const figures = (done: number) => {
    const { perSecond, secondsLeft } = speedOf(done, total, performance.now() - startedMs)
    return { rate: perSecond, left: secondsLeft === undefined ? '?' : `${secondsLeft} s` }
  }
  view.start(total, 0, figures(0))
  return {
    update: (done) => view.update(done, figures(done)),
    stop() {
      view.stop()
      // Also where the terminal stands still, which then gets nothing else.
      process.stderr.write(SHOW_CURSOR)
    },
  }
}

/** Standard error, where what a terminal that stands still has not taken is not added to. */
function latestError(): NodeJS.WriteStream {
  const write = (text: string) => process.stderr.writableLength > 0 || process.stderr.write(text)
  return Object.create(process.stderr, { write: { value: write } })
}

function logLines(log: Log, label: string, total: number, unit: string): Progress {
  const startedMs = performance.now()
  let writtenMs = startedMs
  let latest = 0
  const write = () => {
    const passedMs = performance.now() - startedMs
    const speed = speedOf(latest, total, passedMs)
    const share = total > 0 ? { total, percent: Math.floor((100 * latest) / total) } : {}
    log.info({ done: latest, unit, ...share, ...speed, seconds: tenths(passedMs) }, label)
  }
  return {
    update(done) {
      latest = done
      if (performance.now() - writtenMs < LOG_INTERVAL_MS) return
      writtenMs = performance.now()
      write()
    },
    stop: write,
  }
}

/** On average since the start; what is left is not known before something is done. */
function speedOf(
  done: number,
  total: number,
  passedMs: number,
): { readonly perSecond: number; readonly secondsLeft?: number } {
  const perSecond = passedMs > 0 ? Math.round((1000 * done) / passedMs) : 0
  if (total === 0 || done === 0) return { perSecond }
  return { perSecond, secondsLeft: tenths((passedMs * Math.max(0, total - done)) / done) }
}

function tenths(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10
}
