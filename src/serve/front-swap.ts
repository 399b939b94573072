/**
 * The part of one front thread in a switch to a new snapshot.
 *
 * @module
 */
import type { Log } from '../log.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { CurrentSnapshot, OpenSnapshot } from './front-current.js'
import type { SwapOrder, SwapReport } from './messages.js'

interface FrontSwapOptions<Open extends OpenSnapshot> {
  readonly current: CurrentSnapshot<Open>
  readonly start: (snapshot: Snapshot) => Promise<Open>
  readonly report: (report: SwapReport) => void
  /** Another snapshot is answered from. */
  readonly onSwitched?: () => void
  readonly log: Log
}

interface FrontSwap {
  carryOut(order: SwapOrder): Promise<void>
  /** Closes all snapshots, one that is being started too. */
  close(): Promise<void>
}

export function frontSwap<Open extends OpenSnapshot>(options: FrontSwapOptions<Open>): FrontSwap {
  const { current, start, report, onSwitched = () => {}, log } = options
  let next: Promise<Open> | undefined

  async function prepare(snapshot: Snapshot): Promise<void> {
    const snapshotId = snapshot.id
    next = start(snapshot)
    try {
      await next
      report({ kind: 'prepared', snapshotId })
    } catch (error) {
      report({ kind: 'refused', snapshotId, reason: (error as Error).message })
    }
  }

  async function switchOver(): Promise<void> {
    if (next === undefined) throw new Error('there is no snapshot to switch to')
    const opened = await next
    next = undefined
    const { snapshotId } = current.newest.service.catalogue
    const { released } = current.switchTo(opened)
    onSwitched()
    report({ kind: 'switched', snapshotId: opened.service.catalogue.snapshotId })
    await released
    report({ kind: 'released', snapshotId })
  }

  async function discard(): Promise<void> {
    const opened = await next?.catch(() => undefined)
    next = undefined
    await opened?.close()
  }

  return {
    async carryOut(order) {
      switch (order.kind) {
        case 'prepare':
          return prepare(order.snapshot)
        case 'switch':
          return switchOver()
        case 'discard':
          await discard()
          return report({ kind: 'released', snapshotId: order.snapshotId })
        case 'breakOff':
          log.warn('those who still read an old snapshot are broken off')
          return current.breakOff()
      }
    },
    async close() {
      await Promise.all([discard(), current.close()])
    },
  }
}
