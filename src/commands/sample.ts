/**
 * The embedded sample: made-up recipients in three sources, a configuration and two contexts, so
 * that a new installation answers at once. Its recipe is data/default/sample.json.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { polygonsOf } from '../geometry/polygons.js'
import { including } from '../geometry/shapes.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { attachShard } from '../shard/layout.js'
import { countInside } from '../shard/select.js'
import { createDirectory } from '../snapshot/directory.js'
import { withDataLock } from '../snapshot/lock.js'
import { openSnapshot } from '../snapshot/open.js'
import { publishSource } from '../snapshot/publish.js'
import { syntheticColumns } from '../sources/synthetic-columns.js'
import {
  type CountContacts,
  DEFAULT_DIRECTORY,
  writeDefaultDocuments,
} from '../store/default-documents.js'
import { startProgress } from './output.js'

/** Whether there is nothing in a data directory but perhaps a sample that was never finished. */
export function needsSample(dataDirectory: string): boolean {
  if (!existsSync(dataDirectory)) return true
  const names = readdirSync(dataDirectory)
  // What a new file system has at its root.
  return names.includes(UNFINISHED) || names.every((name) => name === 'lost+found')
}

/** @param goOn  called now and then; what it throws ends the work, which is then begun anew */
export async function makeSample(dataDirectory: string, log: Log, goOn: () => void): Promise<void> {
  log.info({ dataDirectory }, 'the data directory is empty: making sample data')
  await createDirectory(dataDirectory)
  await writeFile(join(dataDirectory, UNFINISHED), '')
  await publishSources(dataDirectory, log, goOn)
  await writeDefaultDocuments(dataDirectory, await contactCounter(dataDirectory))
  await rm(join(dataDirectory, UNFINISHED))
}

/** There while a sample is being made, so that one that was interrupted is made again. */
const UNFINISHED = '.sample-unfinished'

interface Recipe {
  readonly countries: readonly string[]
  readonly sources: readonly {
    readonly id: number
    readonly label: string
    readonly recipientCount: number
    readonly seed: number
  }[]
}

async function publishSources(dataDirectory: string, log: Log, goOn: () => void): Promise<void> {
  const text = readFileSync(join(DEFAULT_DIRECTORY, 'sample.json'), 'utf8')
  const { countries, sources } = JSON.parse(text) as Recipe
  const totalCount = sources.reduce((sum, { recipientCount }) => sum + recipientCount, 0)
  const progress = startProgress(log, 'making sample data', totalCount, 'recipients')
  let doneCount = 0
  try {
    await withDataLock(dataDirectory, async (lock) => {
      for (const { id, label, recipientCount, seed } of sources) {
        goOn()
        const columns = syntheticColumns({ recipientCount, seed, countries })
        await publishSource(lock, { id, label }, columns, {
          log,
          onProgress: (publishedCount) => progress.update(doneCount + publishedCount),
        })
        doneCount += recipientCount
      }
    })
  } finally {
    progress.stop()
  }
}

/** Counts who of each source is inside an area. */
async function contactCounter(dataDirectory: string): Promise<CountContacts> {
  const snapshot = await openSnapshot(dataDirectory)
  const shards = snapshot.shards.map(attachShard)
  return async (rings) => {
    const counts = countInside(shards, including(polygonsOf([rings])), {
      edgeTestCount: limits.edgeTestCount,
    })
    return snapshot.sources.map(({ id, label }) => ({
      Label: label,
      Count: shards.reduce((sum, shard, i) => (shard.sourceId === id ? sum + counts[i] : sum), 0),
    }))
  }
}
