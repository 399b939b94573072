/**
 * The end of a first import that was killed when its snapshot was complete and CURRENT did not name it
 * yet. Later imports would have nothing to start from.
 *
 * @module
 */
import type { Log } from '../../log.js'
import { generationOf, listSnapshots, readCurrent, writeCurrent } from '../directory.js'
import { verifySnapshot } from '../load/verify.js'
import { isCorrupt } from '../open-file.js'
import { DAMAGED, readOrigin } from '../retention/origin.js'
import type { DataLock } from './lock.js'

/**
 * Makes the snapshot current if it is the only one, was made from no other, and is intact. Whatever else
 * is there without CURRENT is for an operator to decide.
 */
export async function finishFirst({ dataDirectory, assertHeld }: DataLock, log: Log) {
  const [id, ...others] = await listSnapshots(dataDirectory)
  if (id === undefined || others.length > 0 || generationOf(id) !== 1) return
  if (await hasCurrent(dataDirectory)) return
  const origin = await readOrigin(dataDirectory, id)
  if (origin === undefined || origin === DAMAGED || origin.ancestors.length > 0) return
  if (!(await verifySnapshot(dataDirectory, id)).isWhole) return
  assertHeld()
  await writeCurrent(dataDirectory, id)
  log.warn(
    { snapshot: id },
    'made the snapshot current: the import that wrote it was killed before',
  )
}

async function hasCurrent(dataDirectory: string): Promise<boolean> {
  try {
    return (await readCurrent(dataDirectory)) !== undefined
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return true
  }
}
