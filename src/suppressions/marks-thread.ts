/**
 * The main thread's end of the thread that sets marks.
 *
 * @module
 */
import { type MessagePort, Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { PhoneHits } from '../store/change-port.js'
import type { Scope } from '../store/suppressions.js'
import { Questions } from '../threads/calls.js'
import type { CaughtUp } from './marker.js'
import type { MarksOrder, MarksReport, MarksThreadData } from './messages.js'

/** Without it nobody could say any more who is suppressed, so its end is that of the service. */
export interface MarksThread {
  /** Resolves when the marks of a snapshot are set. */
  attach(snapshot: Snapshot): Promise<void>
  /** Resolves when the thread touches the memory of a snapshot no more. */
  detach(snapshotId: string): Promise<void>
  /**
   * Resolves when all changes that are stored by now are marked.
   *
   * @returns which recipients of a snapshot have one of the phones, of one source or of all
   */
  take(snapshotId: string, scope: Scope, phones: readonly string[]): Promise<PhoneHits>
  /** Lets it set the marks of those who come, whom the thread at the other end tells of. */
  follow(port: MessagePort): void
  /** Rejects when the thread fails, as do those who wait for it. */
  readonly failure: Promise<never>
  stop(): Promise<void>
}

/**
 * @param workerUrl  of the compiled workers/suppress.ts
 * @param onCaughtUp  called when changes are marked, whoever made them
 */
export function startMarksThread(
  workerUrl: URL,
  data: MarksThreadData,
  onCaughtUp: (caughtUp: CaughtUp) => void,
): MarksThread {
  const worker = new Worker(workerUrl, { workerData: data })
  const questions = new Questions<PhoneHits>()
  let isStopping = false
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const failure = new Promise<never>((_, reject) => {
    const fail = (reason: string) =>
      reject(new OperatorError('Failed', `the thread of suppression lists failed: ${reason}`))
    // Its message could quote what it was working on.
    worker.once('error', ({ name }) => fail(name))
    worker.once('exit', (code) => {
      if (!isStopping) fail(`it ended with code ${code}`)
    })
  })
  // One by one, since a race for each order would be remembered for as long as the thread runs.
  failure.catch((fault) => questions.fail(fault))
  worker.on('message', (report: MarksReport) => {
    if (report.kind === 'caughtUp') return onCaughtUp(report)
    questions.settle(report.ticket, report.hits)
  })

  const ask = (order: (ticket: number) => MarksOrder) =>
    questions.ask((ticket) => worker.postMessage(order(ticket)))

  return {
    async attach(snapshot) {
      await ask((ticket) => ({ kind: 'attach', ticket, snapshot }))
    },
    async detach(snapshotId) {
      await ask((ticket) => ({ kind: 'detach', ticket, snapshotId }))
    },
    take: (snapshotId, scope, phones) =>
      ask((ticket) => ({ kind: 'take', ticket, snapshotId, scope, phones })),
    follow(port) {
      worker.postMessage({ kind: 'follow', port } satisfies MarksOrder, [port])
    },
    failure,
    async stop() {
      isStopping = true
      worker.postMessage({ kind: 'stop' } satisfies MarksOrder)
      await ended
    },
  }
}
