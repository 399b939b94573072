/**
 * The embedded sample: made-up recipients in three sources and two contexts, so that a new
 * installation answers at once. Its recipe is data/default/sample.json.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createDirectory, replaceFile, syncDirectory } from '../durable-files.js'
import type { Log } from '../log.js'
import { listSnapshots } from '../snapshot/directory.js'
import { beginSnapshot } from '../snapshot/publish/begin.js'
import { withDataLock } from '../snapshot/publish/lock.js'
import { recipientCountOf } from '../snapshot/snapshot.js'
import { syntheticColumns } from '../sources/synthetic/synthetic-columns.js'
import { DEFAULT_DIRECTORY, sampleContexts } from '../store/documents.js'
import { createStore } from '../store/store.js'
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
  await replaceFile(join(dataDirectory, UNFINISHED), '')
  await publishSources(dataDirectory, log, goOn)
  await storeContexts(dataDirectory, log)
  await rm(join(dataDirectory, UNFINISHED))
  // What an operator deletes of the sample must not come back.
  await syncDirectory(dataDirectory)
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
  const totalCount = recipientCountOf(sources)
  const progress = startProgress(log, 'making sample data', totalCount, 'recipients')
  let doneCount = 0
  try {
    await withDataLock(dataDirectory, async (lock) => {
      // Of a sample that was interrupted behind this, or of an import since then.
      if ((await listSnapshots(dataDirectory)).length > 0) return
      const draft = await beginSnapshot(lock, { log, endsOnSignal: false })
      try {
        for (const { id, label, recipientCount, seed } of sources) {
          goOn()
          const columns = syntheticColumns({ recipientCount, seed, countries })
          await draft.put({ id, label }, columns, {
            onProgress: (writtenCount) => progress.update(doneCount + writtenCount),
          })
          doneCount += recipientCount
        }
        goOn()
        await draft.publish()
      } finally {
        await draft.discard()
      }
    })
  } finally {
    progress.stop()
  }
}

/** Contexts that are there already are left as they are. */
async function storeContexts(dataDirectory: string, log: Log): Promise<void> {
  const store = await createStore(dataDirectory, log)
  try {
    for (const context of sampleContexts()) {
      if (store.contextVersion(context.id) !== undefined) continue
      await store.change({ kind: 'context', context, mayReplace: false })
    }
  } finally {
    await store.close()
  }
}
