/**
 * The thread that sets marks: does what it is told, and looks for what other processes changed.
 *
 * @module
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { limits } from '../limits.js'
import { marksPage } from '../metrics/memory.js'
import { startVitals } from '../metrics/vitals.js'
import type { PhoneHits } from '../store/change-port.js'
import type { Tables } from '../store/tables.js'
import type { ChangedRecipients } from './changed-recipients.js'
import { Marker } from './marker.js'
import type { MarksOrder, MarksReport, MarksThreadData } from './messages.js'

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
      case 'take': {
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
