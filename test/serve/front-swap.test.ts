import t from 'tap'
import { type Caller, callerUntil } from '../../src/pool/messages.js'
import type { SelectionService } from '../../src/selection/answer.js'
import { createCurrent, type OpenSnapshot } from '../../src/serve/front-current.js'
import { frontSwap } from '../../src/serve/front-swap.js'
import type { SwapReport } from '../../src/serve/messages.js'
import { silentLog } from '../support/data/snapshots.js'
import { until } from '../support/service/until.js'

/** A front thread with snapshot `a`, and what it reports. */
function front() {
  const closed: string[] = []
  const reports: SwapReport[] = []
  const opened = (snapshotId: string): OpenSnapshot => ({
    service: { catalogue: { snapshotId, sources: [], shards: [] } } as unknown as SelectionService,
    close: async () => void closed.push(snapshotId),
  })
  const current = createCurrent(opened('a'))
  const swap = frontSwap({
    current,
    start: async ({ id }) => {
      if (id.startsWith('bad')) throw new Error('its workers do not start')
      return opened(id)
    },
    report: (report) => void reports.push(report),
    log: silentLog,
  })
  const prepare = (id: string) =>
    swap.carryOut({
      kind: 'prepare',
      snapshot: { id, createdAt: '', sources: [], shards: [], arenas: [] },
    })
  return { closed, reports, current, swap, prepare }
}

const forEver = (): Caller => ({ ...callerUntil(0), whenOver: () => {} })

t.test('what is prepared is served from the switch on, and the old one released', async (t) => {
  const { closed, reports, current, swap, prepare } = front()
  await prepare('b')
  t.equal(current.newest.service.catalogue.snapshotId, 'a', 'not before it is told')
  await swap.carryOut({ kind: 'switch' })
  t.equal(current.newest.service.catalogue.snapshotId, 'b')
  t.same(closed, ['a'])
  t.same(reports, [
    { kind: 'prepared', snapshotId: 'b' },
    { kind: 'switched', snapshotId: 'b' },
    { kind: 'released', snapshotId: 'a' },
  ])
})

t.test('what cannot be started is refused, and another taken afterwards', async (t) => {
  const { closed, reports, current, swap, prepare } = front()
  await prepare('bad')
  await swap.carryOut({ kind: 'discard', snapshotId: 'bad' })
  t.equal(current.newest.service.catalogue.snapshotId, 'a')
  await prepare('b')
  await swap.carryOut({ kind: 'switch' })
  t.same(closed, ['a'])
  t.same(reports.slice(0, 2), [
    { kind: 'refused', snapshotId: 'bad', reason: 'its workers do not start' },
    { kind: 'released', snapshotId: 'bad' },
  ])
})

t.test('what was prepared for nothing is closed', async (t) => {
  const { closed, reports, swap, prepare } = front()
  await prepare('b')
  await swap.carryOut({ kind: 'discard', snapshotId: 'b' })
  t.same(closed, ['b'])
  t.same(reports.at(-1), { kind: 'released', snapshotId: 'b' })
  await t.rejects(swap.carryOut({ kind: 'switch' }), /no snapshot to switch to/)
})

t.test('an old one that is held is released when that is broken off', async (t) => {
  const { closed, reports, current, swap, prepare } = front()
  current.hold(forEver())
  await prepare('b')
  const switched = swap.carryOut({ kind: 'switch' })
  await until(() => reports.some(({ kind }) => kind === 'switched'))
  t.same(closed, [])
  await swap.carryOut({ kind: 'breakOff' })
  await switched
  t.same(closed, ['a'])
  t.same(reports.at(-1), { kind: 'released', snapshotId: 'a' })
})

t.test('at the end all are closed, one that is being prepared too', async (t) => {
  const { closed, current, swap, prepare } = front()
  current.hold(forEver())
  const prepared = prepare('b')
  await swap.close()
  await prepared
  t.same(closed.toSorted(), ['a', 'b'])
})
