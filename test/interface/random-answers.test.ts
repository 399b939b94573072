/**
 * What random requests are answered is what the schema of answers says.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { Static } from 'typebox'
import { Check } from 'typebox/value'
import { ServiceError } from '../../src/errors.js'
import { RecipientResponseSchema } from '../../src/interface/recipients.js'
import { testSeed } from '../support/random/properties.js'
import { kindsOfWorld, randomRequest } from '../support/random/requests.js'
import { randomWorld, seededRandom, worldKinds } from '../support/random/world.js'
import { readGeoJson } from '../support/read-geojson.js'
import { answerTo } from '../support/service/answer-to.js'
import { localService } from '../support/service/local-service.js'
import { memoryReply } from '../support/service/memory-reply.js'
import { byTier } from '../support/tier.js'

const REQUEST_COUNT = byTier({ ci: 30, soak: 1_000 })
const WORLD_COUNT = 20

type RecipientResponse = Static<typeof RecipientResponseSchema>

t.test(
  'the answers to random requests follow the schema, and are the same as NDJSON and GeoJSON',
  async (t) => {
    const random = seededRandom(testSeed(t))
    let answeredCount = 0
    let recipientCount = 0
    const wrong: string[] = []
    for (let world = 0; world < WORLD_COUNT; world++) {
      const sources = [3, 9].map((id) => ({
        id,
        label: `Source ${id}`,
        columns: randomWorld(random.pick(worldKinds), random.between(1, 100), random),
      }))
      const service = localService(sources, 40)
      for (let i = 0; i < REQUEST_COUNT / WORLD_COUNT; i++) {
        const { columns } = random.pick(sources)
        const drawn = randomRequest(columns, [3, 9], kindsOfWorld(world), random)
        const countsOnly = random.between(0, 1) === 1
        const request = { ...drawn, countsOnly }
        const reply = memoryReply()
        try {
          await answerTo(service, Buffer.from(JSON.stringify(request)), 'json', reply)
        } catch (error) {
          if (error instanceof ServiceError) continue
          throw error
        }
        const answer = JSON.parse(reply.text()) as RecipientResponse
        answeredCount++
        recipientCount +=
          answer.SourceRecords?.flatMap(({ Recipients = [] }) => Recipients).length ?? 0
        const lines = memoryReply()
        await answerTo(service, Buffer.from(JSON.stringify(request)), 'ndjson', lines)
        const collection = memoryReply()
        await answerTo(service, Buffer.from(JSON.stringify(request)), 'geojson', collection)
        if (
          !Check(RecipientResponseSchema, answer) ||
          !isWhole(answer, countsOnly) ||
          lines.text() !== linesOf(answer) ||
          !isDeepStrictEqual(readGeoJson(collection.text()), collectionOf(answer))
        ) {
          wrong.push(`the answer to ${JSON.stringify(request)}`)
        }
      }
    }
    t.same(wrong.slice(0, 3), [])
    t.ok(answeredCount > REQUEST_COUNT / 2, `${answeredCount} were answered`)
    t.ok(recipientCount > 0, `${recipientCount} recipients were listed`)
  },
)

/** The same as NDJSON: a line a recipient or, where they were counted, a source. */
function linesOf({ SourceRecords = [] }: RecipientResponse): string {
  const lines = SourceRecords.flatMap(({ Recipients, ...record }): object[] =>
    Recipients === undefined
      ? [record]
      : Recipients.map((recipient) => ({ SourceId: record.SourceId, ...recipient })),
  )
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** The same as GeoJSON: a Point a recipient, and what is said beside them. */
function collectionOf({ SourceRecords = [], ...rest }: RecipientResponse): object {
  const features = SourceRecords.flatMap(({ SourceId, Recipients = [] }) =>
    Recipients.map(({ Number: phone, LatLng }) => ({
      type: 'Feature',
      properties: { SourceId, Number: phone },
      geometry: { type: 'Point', coordinates: [LatLng?.Lng, LatLng?.Lat] },
    })),
  )
  const records = SourceRecords.map(({ Recipients, ...record }) => record)
  return { type: 'FeatureCollection', SourceRecords: records, features, ...rest }
}

/** The schema lets every member be absent; an answer leaves none out but the lists of a count. */
function isWhole({ SourceRecords }: RecipientResponse, countsOnly: boolean): boolean {
  const members = ['SourceId', 'Label', 'Count', 'Status', ...(countsOnly ? [] : ['Recipients'])]
  return SourceRecords?.every((record) => Object.keys(record).join() === members.join()) ?? false
}
