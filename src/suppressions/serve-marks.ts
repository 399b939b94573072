/**
 * The thread that sets marks, for the main thread and for the thread of changes, and polls for what other processes changed.
 *
 * @module
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { limits } from '../limits.js'
import { type MetricsMemory, marksPage } from '../metrics/memory.js'
import { startVitals } from '../metrics/vitals.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { PhoneHits } from '../store/change-port.js'
import type { Scope } from '../store/suppressions.js'
import { openTables, storeDirectory } from '../store/tables.js'
import { callsOver } from '../threads/calls.js'
import { type CaughtUp, Marker } from './marker.js'
import type { ChangedRecipients } from './marks.js'
import type { Progress } from './progress.js'

export interface MarksThreadData {
  readonly dataDirectory: string
  readonly progress: Progress
  /** The name of this process in the log of changes. */
  readonly ownName: string
  /** Where all threads count. */
  readonly metrics: MetricsMemory
}

/** What the main thread calls. */
export interface MarksCalls {
  /** Sets the marks of a snapshot, and keeps them right from then on. */
  attach(snapshot: Snapshot): Promise<void>
  /** Touches its memory no more. */
  detach(snapshotId: string): Promise<void>
  /**
   * Marks what is stored by now.
   *
   * @returns which recipients of a snapshot have these phones
   */
  catchUp(snapshotId: string, scope: Scope, phones: readonly string[]): Promise<PhoneHits>
  /** Sets the marks of recipients that changes add, for the thread at the other end. */
  follow(port: MessagePort): void
  stop(): Promise<void>
}

/** What the thread of changes calls. */
export interface ChangedMarksCalls {
  /** Answers when all marks are set. */
  change(changed: ChangedRecipients): Promise<void>
}

/** What the thread calls in the main thread. */
export interface MarksNews {
  caughtUp(caughtUp: CaughtUp): void
}

export function serveMarks(
  main: MessagePort,
  { dataDirectory, progress, ownName, metrics }: MarksThreadData,
): void {
  const tables = openTables(storeDirectory(dataDirectory), 'read')
  const marker = new Marker(tables, progress, ownName)
  const vitals = startVitals(marksPage(metrics))
  let isStopped = false
  let followed: MessagePort | undefined
  const own: MarksCalls = {
    attach: (snapshot) => orEnd(() => attach(snapshot)),
    detach: (snapshotId) => orEnd(() => marker.detach(snapshotId)),
    catchUp: (snapshotId, scope, phones) =>
      orEnd(() => {
        catchUp()
        return marker.hitsOf(snapshotId, scope, phones)
      }),
    follow(port) {
      followed = port
      const changes: ChangedMarksCalls = {
        change: (changed) => orEnd(() => marker.change(changed)),
      }
      callsOver(port, changes)
    },
    async stop() {
      isStopped = true
      clearInterval(timer)
      vitals.stop()
      followed?.close()
      await tables.close()
      main.close()
    },
  }
  const { tell } = callsOver<MarksNews>(main, own)
  const timer = setInterval(catchUp, limits.suppressionPollMs)

  function catchUp(): void {
    const caughtUp = marker.catchUp()
    if (caughtUp !== undefined) tell.caughtUp(caughtUp)
  }

  async function attach(snapshot: Snapshot): Promise<void> {
    for (const _ of marker.attach(snapshot)) {
      await turn()
      if (isStopped) return await unanswered
    }
  }
}

/**
 * Ends the thread, and with it the service, where marks are not set: suppressed recipients would be listed. Nothing is
 * answered then, since the caller would go on without them.
 */
async function orEnd<Answer>(work: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (fault) {
    setImmediate(() => {
      throw fault
    })
    return await unanswered
  }
}

const unanswered = new Promise<never>(() => {})
