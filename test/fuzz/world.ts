/**
 * What the service under test holds, so that requests hit somebody and answers can be known.
 *
 * @module
 */
import type { RecipientColumns } from '../../src/shard/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { randomWorld, seededRandom } from '../support/random/world.js'

export interface FuzzSource {
  readonly id: number
  readonly columns: RecipientColumns
}

export interface FuzzWorld {
  readonly sources: readonly FuzzSource[]
  readonly sourceIds: readonly number[]
}

/** The same for all seeds of a run, so that a recorded request meets the same recipients. */
export async function publishWorld(dataDirectory: string): Promise<FuzzWorld> {
  const random = seededRandom(1)
  const kinds = ['clustered', 'antimeridian', 'poles'] as const
  const sources = kinds.map((kind, at) => ({
    id: at + 1,
    columns: randomWorld(kind, SOURCE_RECIPIENT_COUNT, random),
  }))
  for (const { id, columns } of sources) await publishTest(dataDirectory, id, columns)
  return { sources, sourceIds: sources.map(({ id }) => id) }
}

/** Few, because now and then a request lists them all. */
const SOURCE_RECIPIENT_COUNT = 1_000
