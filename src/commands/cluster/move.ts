/**
 * `hickory cluster move`: places the shards on the machines that are members now.
 *
 * @module
 */
import { ofNoCluster } from '../../cluster/leave.js'
import { readState } from '../../cluster/state-file.js'
import { OperatorError } from '../../errors.js'
import type { Log } from '../../log.js'
import { readCurrent } from '../../snapshot/directory.js'
import { beginSnapshot } from '../../snapshot/publish/begin.js'
import { lockData } from '../lock-data.js'
import { print } from '../output.js'
import { assertServed, untilPublished } from './published.js'

/**
 * By a snapshot with the same content, which is placed as any other one: all machines load what they
 * are to hold of it before any of them lets go of what it held before.
 */
export async function move(dataDirectory: string, log: Log): Promise<void> {
  if (readState(dataDirectory) === undefined) throw ofNoCluster(dataDirectory)
  await assertServed(dataDirectory)
  const snapshotId = await lockData(dataDirectory, async (lock) => {
    if ((await readCurrent(dataDirectory)) === undefined) {
      throw new OperatorError('SnapshotMissing', `there is no snapshot in ${dataDirectory}`)
    }
    const draft = await beginSnapshot(lock, { log })
    try {
      return (await draft.publish()).snapshotId
    } finally {
      await draft.discard()
    }
  })
  await untilPublished(dataDirectory, snapshotId)
  print(`${snapshotId} has the same recipients, and is placed on the machines that are members now`)
}
