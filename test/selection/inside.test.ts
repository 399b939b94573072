import t from 'tap'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { prepare } from '../oracle/geometry/exact.js'
import type { Verdict } from '../oracle/verdict.js'
import { randomPen } from '../support/random/fine-coordinates.js'
import { testSeed } from '../support/random/properties.js'
import { type MultiPolygonCoordinates, randomShape, shapeKinds } from '../support/random/shapes.js'
import { type Random, randomWorld, seededRandom, worldKinds } from '../support/random/world.js'
import { answerTo } from '../support/service/answer-to.js'
import { localService } from '../support/service/local-service.js'
import { memoryReply } from '../support/service/memory-reply.js'
import { byTier } from '../support/tier.js'

const ROUNDS_PER_WORLD = byTier({ ci: 3, soak: 5 })
const SHAPES_PER_ROUND = byTier({ ci: 12, soak: 100 })

interface Answered {
  SourceRecords: {
    SourceId: number
    Count: number
    Recipients?: { Number: string; LatLng: { Lat: number; Lng: number } }[]
  }[]
}

for (const kind of worldKinds) {
  t.test(`counts and lists equal brute force, ${kind} recipients`, async (t) => {
    const random = seededRandom(testSeed(t))
    let hitCount = 0
    for (let round = 0; round < ROUNDS_PER_WORLD; round++) {
      const columns = randomWorld(kind, random.between(1, 3_000), random)
      const service = localService(
        [{ id: 7, label: 'Mobile', columns }],
        random.between(100, 3_000),
      )
      for (let shape = 0; shape < SHAPES_PER_ROUND; shape++) {
        const coordinates = shapeNear(columns, random)
        const expected = bruteForce(columns, coordinates)
        const { count, phones } = await ask(service, coordinates)
        hitCount += count
        const listed = new Set(phones)
        const isRight = expected.every(
          ({ phone, verdict }) =>
            verdict === 'either' || listed.has(phone) === (verdict === 'inside'),
        )
        t.ok(isRight && listed.size === count, `shape ${shape} in round ${round}`)
      }
    }
    t.ok(hitCount > 0, 'some shapes hold somebody')
  })
}

function shapeNear({ lngs, lats, recipientCount }: RecipientColumns, random: Random) {
  const row = random.between(0, recipientCount - 1)
  return randomShape(random.pick(shapeKinds), random, lngs[row], lats[row], randomPen(random))
}

function bruteForce(
  { lngs, lats, phones, phoneOffsets }: RecipientColumns,
  coordinates: MultiPolygonCoordinates,
): { phone: string; verdict: Verdict }[] {
  const { verdict } = prepare(coordinates)
  return Array.from(lngs, (lng, row) => {
    const bytes = phones.subarray(phoneOffsets[row], phoneOffsets[row + 1])
    return { phone: Buffer.from(bytes).toString(), verdict: verdict(lng, lats[row]) }
  })
}

async function ask(
  service: ReturnType<typeof localService>,
  coordinates: MultiPolygonCoordinates,
): Promise<{ count: number; phones: string[] }> {
  const geoJSON = { type: 'MultiPolygon', coordinates }
  const [counted, listed] = await Promise.all(
    [true, false].map(async (countsOnly) => {
      const reply = memoryReply()
      await answerTo(service, Buffer.from(JSON.stringify({ countsOnly, geoJSON })), 'json', reply)
      return (JSON.parse(reply.text()) as Answered).SourceRecords[0]
    }),
  )
  const phones = listed.Recipients?.map((recipient) => recipient.Number) ?? []
  if (counted.Count !== listed.Count || listed.Count !== phones.length) {
    throw new Error(`counted ${counted.Count}, announced ${listed.Count}, listed ${phones.length}`)
  }
  return { count: counted.Count, phones }
}
