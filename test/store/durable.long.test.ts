/**
 * What is stored when the process or its disk fails.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { writtenContext } from '../../src/store/documents.js'
import { createStore } from '../../src/store/store.js'
import { storeDirectory } from '../../src/store/tables.js'
import { silentLog, temporaryStore } from '../support/data/store.js'
import { startWriter } from '../support/data/store-writer.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'
import { byTier } from '../support/tier.js'

const CHAIN_COUNT = 2
const ROUND_COUNT = byTier({ ci: 12, soak: 200 })

t.test('what is acknowledged is there after the process is killed', async (t) => {
  const chains = Array.from({ length: CHAIN_COUNT }, (_, chain) => killAndReopen(t, chain))
  await Promise.all(chains)
})

/** Kills one process after the other, each within milliseconds of its first change. */
async function killAndReopen(t: Test, chain: number): Promise<void> {
  const dataDirectory = temporaryDirectory(t)
  await (await createStore(dataDirectory, silentLog)).close()
  const stored: string[] = []
  for (let round = 0; round < ROUND_COUNT; round++) {
    const { child, acknowledged, read } = startWriter(t, storeDirectory(dataDirectory))
    await until(() => acknowledged.length > 0)
    await sleep(40 * Math.random())
    child.kill('SIGKILL')
    await read
    stored.push(...acknowledged)
    if (round % 10 < 9) continue
    // Opened as a service opens it, which checks all of it.
    const store = await createStore(dataDirectory, silentLog)
    const lost = stored.filter((id) => store.contextVersion(id) === undefined)
    t.same(lost, [], `${stored.length} contexts after ${round + 1} rounds of chain ${chain}`)
    // Some may be stored without there having been time to say so, one a round.
    const beyondCount = store.page(0, 0).totalCount - stored.length
    t.ok(beyondCount >= 0 && beyondCount <= round + 1, `${beyondCount} beyond those`)
    await store.close()
  }
}

t.test('a batch of phones is there whole or not at all after the process is killed', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  await (await createStore(dataDirectory, silentLog)).close()
  const stored: string[] = []
  for (let round = 0; round < 12; round++) {
    const directory = storeDirectory(dataDirectory)
    const { child, acknowledged, read } = startWriter(t, directory, undefined, 'suppressor')
    await until(() => acknowledged.length > 0)
    await sleep(40 * Math.random())
    child.kill('SIGKILL')
    await read
    stored.push(...acknowledged)
  }
  // Opened as a service opens it, which counts all of it.
  const store = await createStore(dataDirectory, silentLog)
  const counts = new Map<string, number>()
  for (let after: string | undefined; ; ) {
    const page = store.suppressions.page(7, after, 10_000)
    for (const { phone } of page.suppressions) {
      const batch = phone.slice(0, phone.lastIndexOf('-'))
      counts.set(batch, (counts.get(batch) ?? 0) + 1)
    }
    after = page.suppressions.at(-1)?.phone
    if (page.isLast) break
  }
  t.same([...new Set(counts.values())], [500])
  t.equal(stored.filter((batch) => !counts.has(batch)).length, 0, `of ${stored.length} batches`)
  t.equal(store.suppressions.version(), counts.size)
  await store.close()
})

t.test('a disk that is full refuses changes, and loses none', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  const store = await temporaryStore(t, dataDirectory)
  const { acknowledged, read } = startWriter(t, storeDirectory(dataDirectory), 2 ** 20)
  await read
  const stored = acknowledged.slice(0, -1)
  t.equal(acknowledged.at(-1), 'Unavailable')
  t.ok(stored.length > 10)
  t.same(
    stored.filter((id) => store.contextVersion(id) === undefined),
    [],
  )
  t.equal(store.page(0, 0).totalCount, stored.length)
  const context = writtenContext({})
  await store.change({ kind: 'context', context, mayReplace: false })
  t.ok(store.contextVersion(context.id), 'where there is room again, changes are made again')
})
