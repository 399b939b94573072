/**
 * Recipients that no machine holds all of: three machines answer as one does, byte for byte, also when one of them is gone.
 */
import t from 'tap'
import { readCurrent } from '../../../src/snapshot/directory.js'
import { readPlacement } from '../../../src/snapshot/placement.js'
import type { Holding } from '../../../src/snapshot/snapshot.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'
import { statusBy } from '../support/machines.js'
import { compare, startRegions, succeeded, untilServed } from './compare.js'

const { recipientCount, requestCount } = byTier({
  ci: { recipientCount: 20_000, requestCount: 300 },
  soak: { recipientCount: 60_000, requestCount: 1_000 },
})

t.test('three machines that hold two thirds each answer as one that holds all', async (t) => {
  const seed = testSeed(t)
  const preload = new URL('../../faults/preload.js', import.meta.url).href
  const importArgs = ['--import', preload]
  const regions = await startRegions(t, { recipientCount, seed, importArgs })
  const all = await compare(regions, { requestCount, seed })
  t.same(all.faults, [])
  t.ok(all.answeredCount > (2 / 3) * requestCount, `${all.answeredCount} were answered`)
  const held = await heldParts(regions.reach)
  t.equal(held.length, 3)
  for (const { recipientCount, ofRecipientCount } of held) {
    t.ok(recipientCount > 0 && recipientCount < ofRecipientCount, `${recipientCount} are held`)
  }
  const heldCount = held.reduce((sum, { recipientCount }) => sum + recipientCount, 0)
  t.equal(heldCount, 2 * held[0].ofRecipientCount)
  const [first, second, third] = regions.machines
  await third.stop('SIGKILL')
  const left = await compare(
    { ...regions, machines: [first, second] },
    { requestCount: requestCount / 2, seed: seed + 1 },
  )
  t.same(left.faults, [], 'with a machine killed')
  const { data, reach } = regions
  await succeeded('cluster', 'remove', 'site-c', ...reach)
  await succeeded('cluster', 'move', '--data', data)
  const snapshotId = (await readCurrent(data)) ?? ''
  for (const { url } of [first, second]) await untilServed(url, snapshotId)
  // Two machines hold all twice, so that neither needs the other.
  t.equal(await readPlacement(data, snapshotId), undefined)
  await second.stop('SIGKILL')
  t.same(new Set(await askAlone(first.url)), new Set([200]), 'with one machine left')
})

t.test('who is content with a part is told which part it is', async (t) => {
  const seed = testSeed(t)
  const preload = new URL('../../faults/preload.js', import.meta.url).href
  const importArgs = ['--import', preload]
  const { machines } = await startRegions(t, { recipientCount: 6_000, seed, importArgs })
  const [first, second, third] = machines
  const whole = await everybody(first.url, true)
  t.equal(whole.coverage, '1')
  t.same(whole.statuses, ['Ok', 'Ok'])
  await Promise.all([second.stop('SIGKILL'), third.stop('SIGKILL')])
  const refused = await everybody(first.url, false)
  t.equal(refused.status, 503)
  const part = await everybody(first.url, true)
  t.equal(part.status, 200)
  t.same(part.statuses, ['Partial', 'Partial'])
  const coverage = Number(part.coverage)
  t.ok(coverage > 0.4 && coverage < 0.95, `${coverage} is covered`)
  t.equal(Math.floor((1e4 * part.count) / whole.count) / 1e4, coverage)
})

/** As the machines tell. */
async function heldParts(reach: readonly string[]): Promise<Holding[]> {
  const { machines } = await statusBy(reach)
  return machines.flatMap(({ held }) => held ?? [])
}

async function everybody(url: string, partial: boolean) {
  const coordinates = [
    [
      [-180, -90],
      [180, -90],
      [180, 90],
      [-180, 90],
      [-180, -90],
    ],
  ]
  const answer = await fetch(`${url}/api/recipients`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ countsOnly: true, partial, geoJSON: { type: 'Polygon', coordinates } }),
  })
  const body = (await answer.json()) as { SourceRecords?: { Count: number; Status: string }[] }
  const records = body.SourceRecords ?? []
  return {
    status: answer.status,
    coverage: answer.headers.get('x-coverage'),
    statuses: records.map(({ Status }) => Status),
    count: records.reduce((sum, { Count }) => sum + Count, 0),
  }
}

const ALONE_COUNT = 20

/** Counts everybody, again and again. */
async function askAlone(url: string) {
  const statuses: number[] = []
  for (let left = ALONE_COUNT; left > 0; left--) {
    const { status } = await everybody(url, false)
    statuses.push(status)
  }
  return statuses
}
