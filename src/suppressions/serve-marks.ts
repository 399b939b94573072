/**
 * The thread that sets marks: carries out the orders of the main thread, and polls for what other processes changed.
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
import type { Tables } from '../store/tables.js'
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

/** To the thread. Each but the last two is answered by `done`, with its ticket. */
export type MarksOrder =
  /** Set the marks of a snapshot, and keep them right from then on. */
  | { readonly kind: 'attach'; readonly ticket: number; readonly snapshot: Snapshot }
  /** Touch its memory no more. */
  | { readonly kind: 'detach'; readonly ticket: number; readonly snapshotId: string }
  /** Mark what is stored by now, and say which recipients of a snapshot have these phones. */
  | {
      readonly kind: 'catchUp'
      readonly ticket: number
      readonly snapshotId: string
      readonly scope: Scope
      readonly phones: readonly string[]
    }
  /** Set the marks of recipients that changes add, see `ChangedRecipients`. */
  | { readonly kind: 'follow'; readonly port: MessagePort }
  | { readonly kind: 'stop' }

/** From the thread. */
export type MarksReport =
  | { readonly kind: 'done'; readonly ticket: number; readonly hits: PhoneHits }
  | ({ readonly kind: 'caughtUp' } & CaughtUp)

/** @param tables  open for as long as the thread runs */
export function serveMarks(
  port: MessagePort,
  tables: Tables,
  { progress, ownName, metrics }: Omit<MarksThreadData, 'dataDirectory'>,
): void {
  const marker = new Marker(tables, progress, ownName)
  const report = (message: MarksReport) => port.postMessage(message)
  const done = (ticket: number, hits: PhoneHits = { recipientCount: 0 }) =>
    report({ kind: 'done', ticket, hits })
  let isStopped = false
  let followed: MessagePort | undefined
  const vitals = startVitals(marksPage(metrics))

  function catchUp(): void {
    const caughtUp = marker.catchUp()
    if (caughtUp !== undefined) report({ kind: 'caughtUp', ...caughtUp })
  }

  async function attach({ ticket, snapshot }: Extract<MarksOrder, { kind: 'attach' }>) {
    for (const _ of marker.attach(snapshot)) {
      await turn()
      if (isStopped) return
    }
    done(ticket)
  }

  const timer = setInterval(catchUp, limits.suppressionPollMs)
  port.on('message', async (order: MarksOrder) => {
    switch (order.kind) {
      case 'attach':
        return attach(order)
      case 'detach':
        marker.detach(order.snapshotId)
        return done(order.ticket)
      case 'catchUp': {
        catchUp()
        const { ticket, snapshotId, scope, phones } = order
        return done(ticket, marker.hitsOf(snapshotId, scope, phones))
      }
      case 'follow':
        followed = order.port
        return followed.on('message', ({ number, ...changed }: ChangedRecipients) => {
          marker.change(changed)
          order.port.postMessage(number)
        })
      case 'stop':
        isStopped = true
        clearInterval(timer)
        vitals.stop()
        followed?.close()
        await tables.close()
        return port.close()
    }
  })
}
