/**
 * Says whom a suppression list concerns: how many recipients have the numbers of each file, and what
 * looks like a mistake.
 *
 * @module
 */
import type { Scope } from '../store/suppressions.js'
import { countHits, type FileHits } from '../suppressions/count-hits.js'
import { LIST_KEPT, notationAdvice, unmatchedAdvice } from '../suppressions/notations.js'
import type { PhonesRead } from '../suppressions/read-phones.js'
import { print, warn } from './output.js'
import { formatTable } from './table.js'

/** The change is stored by then, so nothing that happens here is a failure of it. */
export async function reportHits(
  dataDirectory: string,
  scope: Scope,
  read: PhonesRead,
): Promise<void> {
  let hits: Awaited<ReturnType<typeof countHits>>
  try {
    hits = await countHits(dataDirectory, scope, read)
  } catch (fault) {
    warn(`the change is stored, but the recipients were not counted: ${(fault as Error).message}`)
    return
  }
  if (hits === undefined) {
    print('recipients  none: there is no snapshot yet')
    return
  }
  const { snapshotId, sourceIds, files } = hits
  print(`recipients that have them, in snapshot ${snapshotId}:`)
  for (const line of formatTable(HEADS, files.map(rowOf))) print(`  ${line}`)
  if (scope !== 'all' && !sourceIds.includes(scope)) {
    const known = sourceIds.length === 0 ? 'none' : sourceIds.join(', ')
    warn(`the snapshot has no source ${scope} (it has ${known}): ${LIST_KEPT}`)
    return
  }
  for (const file of files) warnOf(file)
}

const HEADS = ['<file', 'numbers', 'nobody has', 'recipients', '<by source']
/** Sources that are listed; more have the sum alone. */
const SOURCES_SHOWN_COUNT = 8

function rowOf({ name, phoneCount, unmatchedCount, recipientCounts }: FileHits): string[] {
  const bySource = [...recipientCounts].map(([id, count]) => `${id}: ${count}`)
  const shown = bySource.slice(0, SOURCES_SHOWN_COUNT)
  if (bySource.length > shown.length) shown.push('…')
  const recipientCount = [...recipientCounts.values()].reduce((sum, count) => sum + count, 0)
  return [
    name,
    String(phoneCount),
    String(unmatchedCount),
    String(recipientCount),
    shown.join(', '),
  ]
}

function warnOf(file: FileHits): void {
  const { name, phoneCount, unmatchedCount, otherwiseWritten } = file
  for (const advice of notationAdvice(file, 'its')) warn(`${name}: ${advice}`)
  if (otherwiseWritten.length > 0 || 2 * unmatchedCount <= phoneCount) return
  warn(`${name}: ${unmatchedAdvice(file, 'its')}`)
}
