/**
 * A snapshot that was ready when another one was to be served counted as refused, and was barred for the time of a
 * retry, so that a directory or a cluster that changed its mind twice was served late. Without a cluster it was even
 * switched to, for a moment, although it had been rolled back.
 */
import t, { type Test } from 'tap'
import type { MainCalls } from '../../src/cluster/messages.js'
import type { ClusterThread } from '../../src/cluster/start.js'
import { privatePage, slotOf } from '../../src/metrics/memory.js'
import { clusterSnapshots } from '../../src/serve/cluster-snapshots.js'
import type { SnapshotNews } from '../../src/serve/messages.js'
import { switchSnapshots } from '../../src/serve/snapshot-switch.js'
import type { ServiceState } from '../../src/serve/state.js'
import { createArenaPool } from '../../src/shard/arena-pool.js'
import { writeCurrent } from '../../src/snapshot/directory.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { FakeFront } from '../serve/fake-front.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest, silentLog } from '../support/data/snapshots.js'
import { until } from '../support/service/until.js'

/** Serves the first of three snapshots. Nothing that was refused is tried again within the test. */
async function service(t: Test, isCluster: boolean) {
  const data = t.testdir({})
  const ids = []
  for (const count of [100, 101, 102]) ids.push(await publishTest(data, 1, manyColumns(count)))
  const [a, b, c] = ids
  await writeCurrent(data, a)
  const arenas = createArenaPool(1)
  const first = await openSnapshot(data, { arenas })
  const front = new FakeFront(first)
  /** Prepares when it is let. */
  let preparing = ''
  let prepare = () => {}
  front.onPrepare = (id) =>
    new Promise<void>((resolve) => {
      preparing = id
      prepare = () => {
        preparing = ''
        resolve()
      }
    })
  const news: SnapshotNews[] = []
  const state: Pick<ServiceState, 'served' | 'news'> = {
    served: undefined,
    get news() {
      return news.at(-1) ?? {}
    },
    set news(told) {
      news.push(told)
    },
  }
  const page = privatePage()
  let tell: MainCalls['wanted'] = () => {}
  const thread = {
    answer: ({ wanted }: Pick<MainCalls, 'wanted'>) => {
      tell = wanted
    },
    serves() {},
    damaged() {},
  }
  const cluster = clusterSnapshots(thread as unknown as ClusterThread, data)
  const switching = switchSnapshots({
    dataDirectory: data,
    first,
    arenas,
    fronts: [front.thread],
    marks: { attach: async () => {}, serve: () => {}, detach: async () => {} },
    live: { attach: async () => {}, detach: async () => {} },
    log: silentLog,
    state,
    page,
    times: { pollMs: 5, retryMs: 1e9, releaseMs: 1e9 },
    gate: isCluster ? cluster : undefined,
  })
  if (isCluster) cluster.serves(first)
  t.teardown(() => switching.stop())
  /** Has a snapshot wanted, as an import, a rollback or the cluster does. */
  const want = async (id: string) => {
    if (isCluster) tell({ wantedId: id, switchedId: undefined })
    else await writeCurrent(data, id)
  }
  /** Lets all machines of the cluster switch. */
  const allSwitch = (id: string) => tell({ wantedId: id, switchedId: id })
  const untilPreparing = (id: string) => until(() => preparing === id)
  const switchedIds = () => front.held.slice(1).map(({ id }) => id)
  return {
    ...{ a, b, c, news, page, want, allSwitch, untilPreparing, switchedIds },
    prepare: () => prepare(),
  }
}

for (const isCluster of [false, true]) {
  t.test(isCluster ? 'in a cluster' : 'in a directory', async (t) => {
    const found = await service(t, isCluster)
    const { a, b, c, prepare, switchedIds, news, page, want, allSwitch, untilPreparing } = found
    // Back to what is served.
    await want(b)
    await untilPreparing(b)
    await want(a)
    prepare()
    await until(() => news.at(-1)?.loading === undefined)
    t.same(switchedIds(), [])
    // On to a third one, and back to the second one at once.
    await want(b)
    await untilPreparing(b)
    await want(c)
    prepare()
    await untilPreparing(c)
    await want(b)
    prepare()
    await untilPreparing(b)
    prepare()
    if (isCluster) allSwitch(b)
    await until(() => switchedIds().length > 0)
    t.same(switchedIds(), [b])
    await until(() => news.at(-1)?.loading === undefined)
    t.notOk(
      news.some(({ refused }) => refused !== undefined),
      'nothing was refused',
    )
    t.equal(page[slotOf('hickory_snapshot_switches_total', 'done')], 1)
    t.equal(page[slotOf('hickory_snapshot_switches_total', 'refused')], 0)
  })
}
