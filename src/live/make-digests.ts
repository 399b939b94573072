/**
 * The thread that makes digests of what is in memory and in the store, and ends.
 *
 * @module
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { findChangedPart } from '../store/digests.js'
import type { Tables } from '../store/tables.js'
import type { DigestNews, DigestThreadData } from './digest-messages.js'
import { incrementsFrom } from './follow-increments.js'
import { type RegionDigest, RegionDigests } from './region-digests.js'

/** @param tables  open to be read */
export async function makeDigests(
  main: MessagePort,
  tables: Tables,
  { snapshot, moment, changes }: Omit<DigestThreadData, 'dataDirectory'>,
): Promise<void> {
  const tell = (news: DigestNews) => main.postMessage(news)
  const digests = new RegionDigests(snapshot)
  const follow = incrementsFrom(changes)
  // Nothing else keeps the thread alive while it waits.
  changes.ref()
  let look = () => {}
  const followed = follow(snapshot.id, (increment) => {
    digests.add(increment)
    look()
  })
  await new Promise<void>((resolve) => {
    look = () => {
      if (digests.moment >= moment) resolve()
    }
    void followed.level.then(look)
  })
  const regions: RegionDigest[] = []
  let doneCount = 0
  for (const region of digests.at(moment)) {
    regions.push(region)
    if (region.digest !== null) doneCount += region.recipientCount
    tell({ kind: 'progress', doneCount })
    await turn()
  }
  followed.stop()
  tables.refresh()
  const changedPart = findChangedPart(tables)
  await tables.close()
  tell({ kind: 'done', regions, changedPart })
  changes.close()
}
