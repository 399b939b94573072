/**
 * What does it cost to count who is in a county that is named, beside one that is drawn?
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Gazetteer, openGazetteer } from '../../src/gazetteer/gazetteer.js'
import { makeDefaultAreas } from '../../src/gazetteer/make-default.js'
import { limits } from '../../src/limits.js'
import { EVERYWHERE, isNamed, NamedCounts } from '../../src/selection/named-runs.js'
import { parseRequest } from '../../src/selection/skeleton/sent-drawing.js'
import { type Query, validate } from '../../src/selection/validate.js'
import { createMask, maskBytes, maskShards } from '../../src/shard/mask.js'
import { countInside, coveredBy } from '../../src/shard/select.js'
import { loadCounties, withoutDegenerateRings } from '../../test/support/data/counties.js'
import type { Finding } from './harness/compare.js'
import { compareInTurn } from './harness/in-turn.js'
import type { Question } from './harness/stage.js'
import type { World } from './harness/world.js'

export const named: Question = async ({ world }) => {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-bench-'))
  try {
    await makeDefaultAreas(directory)
    const areas = openGazetteer(directory)
    if (areas === undefined) throw new Error('the default gazetteer was not made')
    const finding = compareWays(world, areas)
    await areas.close()
    return [finding]
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Each way takes the bytes of a request to the count of its people. */
function compareWays({ shards }: World, areas: Gazetteer): Finding {
  const counties = loadCounties().flatMap(({ id, geometry }) => {
    const drawn = withoutDegenerateRings(geometry)
    return drawn === undefined || areas.find(`counties:${id}`) === undefined ? [] : [{ id, drawn }]
  })
  const bodies = (of: (county: (typeof counties)[number]) => object) =>
    counties.map((county) => Buffer.from(JSON.stringify({ countsOnly: true, ...of(county) })))
  const drawn = bodies((county) => ({ geoJSON: county.drawn }))
  const byFips = bodies(({ id }) => ({ areas: [`counties:${id}`] }))
  const bySame = bodies(({ id }) => ({ areas: [`SAME:0${id}`] }))
  const queryOf = (body: Buffer) => validate(parseRequest(body), undefined, undefined, areas)
  const count = (query: Query) => {
    const counts = countInside(shards, query.shapes, { edgeTestCount: limits.edgeTestCount })
    return counts.reduce((sum, each) => sum + each, 0)
  }
  const masks = byFips.map((body) => {
    const { shapes } = queryOf(body)
    const budget = { edgeTestCount: limits.edgeTestCount }
    return createMask(
      1,
      shards.map((shard) => coveredBy(shard, shapes, budget)),
    )
  })
  const masked = masks.map((mask) =>
    maskShards(shards, mask).filter((_, at) => mask.runs[at].length > 0),
  )
  const kept = new NamedCounts(() => 0)
  const askedFor = (body: Buffer) => {
    const query = queryOf(body)
    if (!isNamed(query)) throw new Error('a county is not a named area')
    return { query, asked: kept.asked(query, 'ContactLocation', 0) }
  }
  for (const body of byFips) {
    const { query, asked } = askedFor(body)
    asked?.keep([{ source: { id: 1, label: '' }, count: count(query), shards: [] }])
  }
  const each = (sent: readonly Buffer[], visit: (body: Buffer, at: number) => number) => () => {
    let sum = 0
    for (let at = 0; at < sent.length; at++) sum += visit(sent[at], at)
    return sum
  }
  const knownOf = (body: Buffer) => askedFor(body).asked?.known()?.[0].count ?? 0
  const bytes = masks.reduce((sum, mask) => sum + maskBytes(mask), 0)
  return compareInTurn({
    title: 'counties of the US, drawn and named',
    shapeCount: counties.length,
    ways: {
      drawn: each(drawn, (body) => count(queryOf(body))),
      'named, searched as it is drawn': each(byFips, (body) => count(queryOf(body))),
      'named, runs kept': each(byFips, (body, at) => {
        const { shapes } = { ...queryOf(body), shapes: EVERYWHERE }
        const counts = countInside(masked[at], shapes, { edgeTestCount: limits.edgeTestCount })
        return counts.reduce((sum, each) => sum + each, 0)
      }),
      'named by FIPS, counts kept': each(byFips, knownOf),
      'named by SAME, counts kept': each(bySame, knownOf),
    },
    notes: [
      `the runs of all take ${(bytes / 1024 ** 2).toFixed(1)} MiB; each way begins with the bytes of a request`,
    ],
  })
}
