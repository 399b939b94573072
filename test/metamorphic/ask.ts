/**
 * Asks the service's own stages which recipients a shape selects.
 *
 * @module
 */
import { ServiceError } from '../../src/errors.js'
import { type Catalogue, catalogueOf } from '../../src/selection/catalogue.js'
import { planTasks } from '../../src/selection/plan.js'
import { validate } from '../../src/selection/validate.js'
import { attachShard, type Shard, type ShardImage } from '../../src/shard/layout.js'
import { selectInside } from '../../src/shard/select.js'
import type { JsonObject } from './shape.js'

export interface Asked {
  readonly shards: readonly Shard[]
  readonly catalogue: Catalogue
  /** Recipients of all shards before each. */
  readonly firsts: readonly number[]
  /** Of all shards, one after another, in units. */
  readonly lngs: Int32Array
  readonly lats: Int32Array
}

export function askedOf(images: readonly ShardImage[]): Asked {
  const shards = images.map(attachShard)
  const catalogue = catalogueOf({
    snapshotId: '000001-00000000',
    createdAt: '2026-01-31T08:15:00.000Z',
    sources: [{ id: 1, label: '' }],
    shards: images,
  })
  const firsts = images.map((_, at) =>
    images.slice(0, at).reduce((sum, { recipientCount }) => sum + recipientCount, 0),
  )
  const coords = shards.map((shard) => shard.coords)
  const every = (offset: number) =>
    Int32Array.from(coords.flatMap((each) => Array.from(each).filter((_, i) => i % 2 === offset)))
  return { shards, catalogue, firsts, lngs: every(0), lats: every(1) }
}

/** One byte a recipient, 1 for those that are selected; or the code of the refusal. */
export function ask(
  { shards, catalogue, firsts, lngs }: Asked,
  geoJSON: JsonObject,
): Uint8Array | string {
  const selected = new Uint8Array(lngs.length)
  try {
    const query = validate({ geoJSON })
    const plain = { countMode: 'ContactLocation', mask: null, moment: 0 } as const
    const tasks = planTasks('select', query, plain, catalogue, THREAD_COUNT)
    for (const { shardIndexes, shapes } of tasks) {
      const touched = Array.from(shardIndexes, (index) => shards[index])
      const runs = selectInside(touched, shapes, { edgeTestCount: 1e9 })
      for (const [at, index] of shardIndexes.entries()) mark(selected, firsts[index], runs[at])
    }
    return selected
  } catch (error) {
    if (error instanceof ServiceError) return error.code
    throw error
  }
}

const THREAD_COUNT = 2

function mark(selected: Uint8Array, first: number, runs: Uint32Array): void {
  for (let i = 0; i < runs.length; i += 2) selected.fill(1, first + runs[i], first + runs[i + 1])
}
