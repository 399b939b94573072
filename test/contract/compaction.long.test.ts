/**
 * A compaction beside a running service: batches go on to be taken, and the service takes the new snapshot.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { journalDirectory } from '../../src/journal/files.js'
import { summaryOfJournal } from '../../src/journal/summary.js'
import { peopleIn, peopleInSnapshot } from '../support/data/people.js'
import { placesWorld } from '../support/data/suppressions.js'
import { hickory, serve } from '../support/service/hickory.js'

t.test('a service takes a compaction, and batches all the while', async (t) => {
  const data = await placesWorld(t)
  const { url } = await serve(t, '--data', data)
  const servedId = async () => {
    const ready = (await (await fetch(`${url}/readyz`)).json()) as { snapshotId: string }
    return ready.snapshotId
  }
  let sentCount = 0
  const send = async () => {
    const number = `+999777${sentCount}`
    const rows = [{ op: 'upsert', number, lat: 1, lng: 2 }]
    const response = await fetch(`${url}/api/sources/1/changes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ batchId: `b${sentCount}`, changes: rows }),
    })
    t.equal(response.status, 200, await response.text())
    sentCount++
  }
  const before = (await peopleIn(data)).get(1)?.size ?? 0
  for (let at = 0; at < 20; at++) await send()
  for (let round = 0; round < 3; round++) {
    let isOver = false
    const compacting = hickory('compact', '--data', data, '--keep', '1').finally(() => {
      isOver = true
    })
    const old = await servedId()
    while (!isOver) {
      await send()
      await sleep(5)
    }
    t.match(await compacting, { code: 0 })
    // Each look is a request, which leaves the service time.
    while ((await servedId()) === old) await sleep(20)
    await send()
  }
  t.equal((await peopleIn(data)).get(1)?.size, before + sentCount)
  t.match(await hickory('compact', '--data', data), { code: 0 })
  t.equal((await peopleInSnapshot(data)).get(1)?.size, before + sentCount)
  t.equal(summaryOfJournal(journalDirectory(data))?.lastSequence, sentCount)
  t.match(await hickory('verify', '--data', data), { code: 0 })
})
