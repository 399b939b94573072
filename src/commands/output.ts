/**
 * What a command says to the person or script that ran it: results on standard output, progress
 * on standard error (a bar on a terminal, log lines otherwise).
 *
 * @module
 */
import { Presets, SingleBar } from 'cli-progress'
import type { Log } from '../log.js'

/** Writes one line to standard output. */
export function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}

export interface Progress {
  /** Work done so far, in the unit of `total`. */
  update(done: number): void
  /** Ends the bar or writes the last log line. */
  stop(): void
}

const LOG_INTERVAL_MS = 5_000

/**
 * Shows how far a long piece of work is.
 *
 * @param total  work to do, in `unit`; 0 when it is not known
 */
export function startProgress(log: Log, label: string, total: number, unit: string): Progress {
  return process.stderr.isTTY ? bar(label, total, unit) : logLines(log, label, total, unit)
}

function bar(label: string, total: number, unit: string): Progress {
  const tail = total > 0 ? '{bar} {percentage}% | {value}/{total}' : '{value}'
  const view = new SingleBar(
    {
      format: `${label} ${tail} ${unit} | {duration_formatted}${total > 0 ? ' | {eta_formatted} left' : ''}`,
      clearOnComplete: false,
      hideCursor: true,
      stream: process.stderr,
    },
    Presets.shades_classic,
  )
  view.start(total, 0)
  return { update: (done) => view.update(done), stop: () => view.stop() }
}

function logLines(log: Log, label: string, total: number, unit: string): Progress {
  const startedMs = performance.now()
  let writtenMs = startedMs
  let latest = 0
  const write = () => {
    const seconds = (performance.now() - startedMs) / 1000
    const share = total > 0 ? { percent: Math.floor((100 * latest) / total) } : {}
    log.info({ [unit]: latest, ...share, seconds: Math.round(seconds * 10) / 10 }, label)
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
