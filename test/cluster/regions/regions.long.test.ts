/**
 * Recipients that no machine holds all of: three machines answer as one does, byte for byte, also when one of them is
 * gone, and `hickory cluster verify` compares what they hold.
 */
import t from 'tap'
import { readCurrent } from '../../../src/snapshot/directory.js'
import { readPlacement } from '../../../src/snapshot/placement.js'
import type { Holding } from '../../../src/snapshot/snapshot.js'
import { testSeed } from '../../support/random/properties.js'
import { hickory } from '../../support/service/hickory.js'
import { untilTold } from '../../support/service/until.js'
import { byTier } from '../../support/tier.js'
import { countOf, statusBy, verifyBy } from '../support/machines.js'
import { compare, startRegions, succeeded, untilServed } from './compare.js'

const { recipientCount, requestCount } = byTier({
  ci: { recipientCount: 20_000, requestCount: 200 },
  soak: { recipientCount: 60_000, requestCount: 1_000 },
})

t.test('three machines that hold two thirds each answer as one that holds all', async (t) => {
  const seed = testSeed(t)
  const preload = new URL('../../faults/preload.js', import.meta.url).href
  const regions = await startRegions(t, {
    recipientCount,
    seed,
    importArgs: ['--import', preload],
  })
  const { data, reach } = regions
  const [first, , third] = regions.machines
  let [, second] = regions.machines

  await t.test('while all of them run', async (t) => {
    const all = await compare(regions, { requestCount, seed })
    t.same(all.faults, [])
    t.ok(all.answeredCount > (2 / 3) * requestCount, `${all.answeredCount} were answered`)
    const held = await heldParts(reach)
    t.equal(held.length, 3)
    for (const { recipientCount, ofRecipientCount } of held) {
      t.ok(recipientCount > 0 && recipientCount < ofRecipientCount, `${recipientCount} are held`)
    }
    const heldCount = held.reduce((sum, { recipientCount }) => sum + recipientCount, 0)
    t.equal(heldCount, 2 * held[0].ofRecipientCount)
  })

  await t.test('and are compared by what each holds', async (t) => {
    const { code, told, stderr } = await verifyBy(...reach)
    t.equal(code, 0, `${stderr} ${JSON.stringify(told.differences)}`)
    t.equal(told.machines.length, 3)
    const held = new Map<string, number>()
    for (const { name, regions } of told.machines) {
      t.equal(countOf(regions, 3) + countOf(regions, 7), recipientCount, name)
      for (const { sourceId, regionIndex, digest, holders } of regions) {
        if (regionIndex === undefined) continue
        t.equal(digest !== null, holders?.includes(name), `${sourceId}/${regionIndex} on ${name}`)
        const key = `${sourceId}/${regionIndex}`
        held.set(key, (held.get(key) ?? 0) + (digest === null ? 0 : 1))
      }
    }
    t.ok(held.size > 2, `${held.size} regions`)
    t.same(new Set(held.values()), new Set([2]))
    const { stdout } = await hickory('cluster', 'verify', ...reach)
    t.match(stdout, new RegExp(`regions +site-a holds \\d+ of ${held.size}, site-b holds`))
  })

  await t.test('with one of them killed', async (t) => {
    const whole = await everybody(first.url, true)
    t.equal(whole.coverage, '1')
    t.same(whole.statuses, ['Ok', 'Ok'])
    await third.stop('SIGKILL')
    const without = await verifyBy(...reach)
    t.equal(without.code, 1)
    t.same(without.told.differences, [], 'the others hold each region once at least')
    t.same(
      without.told.missing.map(({ name }) => name),
      ['site-c'],
    )
    const left = await compare(
      { ...regions, machines: [first, second] },
      { requestCount: requestCount / 2, seed: seed + 1 },
    )
    t.same(left.faults, [])

    await second.stop('SIGKILL')
    const refused = await everybody(first.url, false)
    t.equal(refused.status, 503)
    const part = await everybody(first.url, true)
    t.equal(part.status, 200, 'who is content with a part is told which part it is')
    t.same(part.statuses, ['Partial', 'Partial'])
    const coverage = Number(part.coverage)
    t.ok(coverage > 0.4 && coverage < 0.95, `${coverage} is covered`)
    t.equal(Math.floor((1e4 * part.count) / whole.count) / 1e4, coverage)
    second = await regions.restart(1)
    await untilTold(async () => (await everybody(first.url, false)).status === 200)
  })

  await t.test('and when it has been removed', async (t) => {
    await succeeded('cluster', 'remove', 'site-c', ...reach)
    const fewer = await verifyBy(...reach)
    t.equal(fewer.code, 1)
    t.match(fewer.stderr, /fewer machines hold some regions .* hickory cluster move/)
    t.same(new Set(fewer.told.differences.map(({ kind }) => kind)), new Set(['copies']))
    t.match(fewer.told.differences[0].what, /^source \d, region \d+, not held by site-c$/)
    await succeeded('cluster', 'move', '--data', data)
    const snapshotId = (await readCurrent(data)) ?? ''
    for (const { url } of [first, second]) await untilServed(url, snapshotId)
    const moved = await verifyBy(...reach)
    t.equal(moved.code, 0, moved.stderr)
    t.ok(moved.told.machines.every(({ regions }) => regions.every(({ digest }) => digest !== null)))
    // Two machines hold all twice, so that neither needs the other.
    t.equal(await readPlacement(data, snapshotId), undefined)
    await second.stop('SIGKILL')
    t.same(new Set(await askAlone(first.url)), new Set([200]), 'with one machine left')
  })
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
