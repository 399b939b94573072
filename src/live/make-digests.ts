/**
 * The thread that makes digests of what is in memory and in the store.
 *
 * @module
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { Snapshot } from '../snapshot/snapshot.js'
import { findChangedPart } from '../store/digests.js'
import { openTables, storeDirectory } from '../store/tables.js'
import { callsOver } from '../threads/calls.js'
import { type ChangePort, changesClient } from './client.js'
import { type RegionDigest, RegionDigests } from './region-digests.js'

/** What the thread starts with. */
export interface DigestThreadData {
  readonly dataDirectory: string
  /** Attached to the thread of changes. */
  readonly snapshot: Snapshot
  /** The thread waits until it has all changes up to this moment. */
  readonly moment: number
  readonly changes: ChangePort
}

/** The main thread calls them. */
export interface DigestCalls {
  make(): Promise<SnapshotDigests>
  stop(): void
}

export interface SnapshotDigests {
  readonly regions: readonly RegionDigest[]
  /** The part of the store of which the rows are not those that were written; undefined where there is none. */
  readonly changedPart: string | undefined
}

/** The thread calls them in the main thread. */
export interface DigestNews {
  progress(doneCount: number): void
}

export function serveDigests(main: MessagePort, data: DigestThreadData): void {
  const own: DigestCalls = {
    make: () => makeDigests(data, tell.progress),
    stop() {
      data.changes.port.close()
      main.close()
    },
  }
  const { tell } = callsOver<DigestNews>(main, own)
}

async function makeDigests(
  { dataDirectory, snapshot, moment, changes }: DigestThreadData,
  onProgress: DigestNews['progress'],
): Promise<SnapshotDigests> {
  const digests = new RegionDigests(snapshot)
  const { follow } = changesClient(changes)
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
    onProgress(doneCount)
    await turn()
  }
  followed.stop()
  const tables = openTables(storeDirectory(dataDirectory), 'read')
  const changedPart = findChangedPart(tables)
  await tables.close()
  return { regions, changedPart }
}
