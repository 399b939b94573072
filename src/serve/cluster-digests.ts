/**
 * Digests of what this machine has at a place of the journal, made when somebody asks for them: they ask again and again
 * until these are there.
 *
 * @module
 */
import type { DigestsAnswer, DigestsQuestion, LocalDigests } from '../cluster/machine-digests.js'
import { limits } from '../limits.js'
import type { LiveThread } from '../live/start.js'
import type { ComparedStore } from '../store/entries.js'

interface DigestsOptions {
  readonly live: Pick<LiveThread, 'digests'>
  /** All entries up to here are in the store. */
  readonly storedSequence: () => number
}

/** What became of a question. */
type Making = () => DigestsAnswer<LocalDigests>

export class ClusterDigests {
  readonly #options: DigestsOptions
  /** What the store had, by the sequence of the entry. */
  readonly #stored = new Map<number, ComparedStore>()
  readonly #making = new Map<string, Making>()

  constructor(options: DigestsOptions) {
    this.#options = options
  }

  /** What the store has at an entry that says so. */
  noteStore(sequence: number, store: ComparedStore): void {
    keepNewest(this.#stored, sequence, store)
  }

  answer({ sequence, snapshotId }: DigestsQuestion): DigestsAnswer<LocalDigests> {
    const key = `${sequence} ${snapshotId}`
    const making = this.#making.get(key)
    if (making !== undefined) return making()
    const store = this.#stored.get(sequence)
    if (store === undefined) {
      if (this.#options.storedSequence() < sequence) return waiting('it lacks changes')
      return { kind: 'failed', reason: 'it has started since, or begun with what others have' }
    }
    const begun = this.#begin({ sequence, snapshotId }, store)
    if (begun === undefined) return waiting('it serves another snapshot')
    keepNewest(this.#making, key, begun)
    return begun()
  }

  #begin({ sequence, snapshotId }: DigestsQuestion, store: ComparedStore): Making | undefined {
    const job = this.#options.live.digests(snapshotId, sequence)
    if (job === undefined) return undefined
    let ended: DigestsAnswer<LocalDigests> | undefined
    job.result.then(
      (digests) => {
        ended = { kind: 'done', digests: { store, ...digests } }
      },
      (fault: Error) => {
        ended = { kind: 'failed', reason: fault.message }
      },
    )
    return () => {
      const { doneCount, totalCount } = job
      return ended ?? { kind: 'working', doneCount, totalCount }
    }
  }
}

function waiting(reason: string): DigestsAnswer<LocalDigests> {
  return { kind: 'waiting', reason }
}

function keepNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.set(key, value)
  for (const oldest of [...map.keys()].slice(0, -limits.comparisonsKeptCount)) map.delete(oldest)
}
