/**
 * Fetches the rows of selected recipients that were added since the snapshot from query workers. They take
 * memory of the front thread until they are stored, so that one request at a time has its rows.
 *
 * @module
 */
import type { DeltaRows } from '../audiences/messages.js'
import { ServiceError } from '../errors.js'
import { copyOf } from '../format/copy-of.js'
import { limits } from '../limits.js'
import type { Caller, QueryRunner } from '../pool/tasks.js'
import { rowCountOf } from '../selection/list.js'
import type { ShardRuns } from '../selection/merge.js'
import { RunCursor } from '../selection/run-cursor.js'

/** The selected recipients of the delta of a source. */
export interface SelectedDelta extends ShardRuns {
  readonly sourceId: number
}

export class DeltaRowsFetcher {
  #last: Promise<unknown> = Promise.resolve()

  /**
   * Fetches rows and passes them on. Meanwhile no other request fetches.
   *
   * @param deltas  without empty ones
   * @throws ServiceError  AudienceTooLarge, and as the runner and `store` do
   */
  async use<Value>(
    runner: QueryRunner,
    deltas: readonly SelectedDelta[],
    caller: Caller,
    store: (rows: readonly DeltaRows[]) => Promise<Value>,
  ): Promise<Value> {
    if (deltas.length === 0) return store([])
    refuseMany(deltas)
    const before = this.#last
    const turn = before.then(async () => store(await fetchAll(runner, deltas, caller)))
    this.#last = turn.catch(() => {})
    return turn
  }
}

function refuseMany(deltas: readonly SelectedDelta[]): void {
  const count = rowCountOf([{ shards: deltas }])
  if (count <= limits.audienceDeltaCount) return
  const found = `the audience has ${count} recipients that came or changed since its snapshot`
  const most = `and there may be ${limits.audienceDeltaCount}`
  const problem = `${found}, ${most}: ask for a part of it at a time, or import again`
  throw new ServiceError('AudienceTooLarge', problem)
}

async function fetchAll(
  runner: QueryRunner,
  deltas: readonly SelectedDelta[],
  caller: Caller,
): Promise<DeltaRows[]> {
  const fetched: DeltaRows[] = []
  for (const { sourceId, shardIndex, runs } of deltas) {
    const pieces: Uint8Array[] = []
    const rest = new RunCursor(runs)
    while (!rest.isAtEnd) {
      const some = rest.peek(limits.audienceReadCount)
      const task = { kind: 'encode', shardIndex, runs: some, format: { kind: 'binary' } } as const
      const { rowCount, bytes, release } = await runner.run<'encode'>(task, caller)
      pieces.push(copyOf(bytes))
      release()
      rest.skip(rowCount)
    }
    fetched.push({ sourceId, rows: Buffer.concat(pieces) })
  }
  return fetched
}
