/**
 * Progress of work that has several steps, one after the other; on a terminal only, since whoever reads
 * a log wants to know what became of it.
 *
 * @module
 */
import type { Log } from '../log.js'
import { type Progress, startProgress } from './output.js'

interface Steps<Step extends string> {
  /** Ends the progress of the step before. */
  update(step: Step, done: number, total: number): void
  stop(): void
}

/** @param labels  what each step does, for people */
export function startSteps<Step extends string>(
  log: Log,
  labels: Readonly<Record<Step, string>>,
  unit: string,
): Steps<Step> {
  if (!process.stderr.isTTY) return { update() {}, stop() {} }
  let current: { readonly step: Step; readonly progress: Progress } | undefined
  return {
    update(step, done, total) {
      if (current?.step !== step) {
        current?.progress.stop()
        current = { step, progress: startProgress(log, labels[step], total, unit) }
      }
      current.progress.update(done)
    },
    stop: () => current?.progress.stop(),
  }
}
