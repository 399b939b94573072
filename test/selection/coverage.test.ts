/**
 * Answers with a part of the recipients.
 */
import t from 'tap'
import type { QueryRunner } from '../../src/pool/tasks.js'
import { NO_BOUNDARY } from '../../src/selection/boundary.js'
import { coverageOf, missingFor, withMissing } from '../../src/selection/coverage.js'
import { everywhere } from '../support/data/everywhere.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { answeredText } from '../support/service/answer-to.js'
import { localImages, serviceOf } from '../support/service/local-service.js'

const query = (given: object) => ({ limit: undefined, after: undefined, ...given }) as never

t.test('a page cannot be of a part', async (t) => {
  t.equal(missingFor(query({ isPartial: false, limit: 3 })), undefined)
  t.same(missingFor(query({ isPartial: true })), new Set())
  for (const [given, field] of [
    [{ limit: 3 }, 'limit'],
    [{ after: 'AA' }, 'after'],
  ] as const) {
    const found = { code: 'InvalidRequest', field }
    t.throws(() => missingFor(query({ isPartial: true, ...given })), found)
  }
})

t.test(
  'coverage is the share of the recipients that were looked at, and 1 for all alone',
  async (t) => {
    const shard = (sourceId: number, recipientCount?: number) => ({ sourceId, recipientCount })
    const shards = [shard(3, 29_999), shard(3, 1), shard(3), shard(7, 10_000), shard(7)]
    const catalogue = { shards } as never
    const selections = [3, 7].map((id) => ({ source: { id, label: '' }, count: 0, shards: [] }))
    t.equal(coverageOf(selections, catalogue, new Set()), '1')
    t.equal(coverageOf(selections, catalogue, new Set([3])), '0.75')
    t.equal(coverageOf(selections, catalogue, new Set([1])), '0.9999')
    t.equal(coverageOf([selections[1]], catalogue, new Set([3])), '0')
    t.same(
      withMissing(selections, catalogue, new Set([1])).map(({ isPartial }) => isPartial),
      [true, undefined],
    )
  },
)

t.test('each format says which sources are not whole', async (t) => {
  const random = seededRandom(5)
  const sources = [7, 30].map((id) => {
    return { id, label: `Source ${id}`, columns: randomWorld('clustered', 90, random) }
  })
  const images = localImages(sources, 30)
  const losing = (own: QueryRunner): QueryRunner => ({
    run: (task, caller) => {
      if ('missing' in task) task.missing?.add(0)
      return own.run(task, caller)
    },
  })
  const service = serviceOf('000001-00000000', sources, images, NO_BOUNDARY, losing)
  const request = { geoJSON: everywhere, countsOnly: true }
  const partial = { ...request, partial: true }
  t.match(
    await answeredText(service, partial, 'json'),
    /"SourceId":7.*"Status":"Partial".*"SourceId":30.*"Status":"Ok"/,
  )
  t.match(await answeredText(service, partial, 'csv'), /Partial\r\n.*Ok/)
  t.notMatch(await answeredText(service, request, 'json'), /Partial/)
})
