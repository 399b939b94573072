/**
 * Digests of what this machine has at a place of the journal, made on request: peers ask again and again
 * until these are there.
 *
 * @module
 */
import type { DigestsAnswer, DigestsQuestion, LocalDigests } from '../cluster/comparison.js'
import { limits } from '../limits.js'
import type { DigestJob } from '../live/digest-jobs.js'
import type { LiveThread } from '../live/start.js'
import type { ComparedStore } from '../store/entries.js'

interface DigestsOptions {
  readonly live: Pick<LiveThread, 'digests'>
  /** All entries up to here are in the store. */
  readonly storedSequence: () => number
}

type Stored = Pick<LocalDigests, 'store' | 'salt'>

/** What became of a question. */
interface Making {
  /** False once there is an answer that stays. */
  readonly isRunning: boolean
  answer(): DigestsAnswer<LocalDigests>
  end(): void
}

export class ClusterDigests {
  readonly #options: DigestsOptions
  /** What the store had, by the sequence of the entry. */
  readonly #stored = new Map<number, Stored>()
  readonly #making = new Map<string, Making>()

  constructor(options: DigestsOptions) {
    this.#options = options
  }

  /** What the store has at an entry that says so. */
  noteStore(sequence: number, store: ComparedStore, salt: string): void {
    keepNewest(this.#stored, sequence, { store, salt })
  }

  answer({ sequence, snapshotId }: DigestsQuestion): DigestsAnswer<LocalDigests> {
    const key = `${sequence} ${snapshotId}`
    const making = this.#making.get(key)
    if (making !== undefined) return making.answer()
    const stored = this.#stored.get(sequence)
    if (stored === undefined) {
      const storedSequence = this.#options.storedSequence()
      if (storedSequence < sequence) return { ...waiting('it lacks changes'), storedSequence }
      return { kind: 'failed', reason: 'it has started since, or begun with what others have' }
    }
    const makings = [...this.#making.values()]
    if (makings.filter(({ isRunning }) => isRunning).length >= limits.comparisonJobCount) {
      return waiting('it is being compared at other places')
    }
    const job = this.#options.live.digests(snapshotId, sequence)
    if (job === undefined) return waiting('it serves another snapshot')
    const begun = begin(job, stored, () => this.#making.delete(key))
    for (const { end } of keepNewest(this.#making, key, begun)) end()
    return begun.answer()
  }
}

/** @param onForgotten  called when no machine has asked for a while */
function begin(job: DigestJob, stored: Stored, onForgotten: () => void): Making {
  // One that is done keeps only its answer.
  let running: DigestJob | undefined = job
  let ended: DigestsAnswer<LocalDigests> | undefined
  const end = () => {
    clearTimeout(timer)
    running?.end()
  }
  const timer = setTimeout(() => {
    onForgotten()
    end()
  }, limits.comparisonWaitMs).unref()
  const settle = (answer: DigestsAnswer<LocalDigests>) => {
    clearTimeout(timer)
    ended = answer
    running = undefined
  }
  job.result.then(
    (digests) => settle({ kind: 'done', digests: { ...stored, ...digests } }),
    (fault: Error) => settle({ kind: 'failed', reason: fault.message }),
  )
  return {
    get isRunning() {
      return running !== undefined
    },
    answer() {
      if (running === undefined) return ended as DigestsAnswer<LocalDigests>
      timer.refresh()
      const { doneCount, totalCount } = running
      return { kind: 'working', doneCount, totalCount }
    },
    end,
  }
}

function waiting(reason: string) {
  return { kind: 'waiting', reason } as const
}

/** @returns what is kept no more */
function keepNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value[] {
  map.set(key, value)
  const oldest = [...map].slice(0, -limits.comparisonsKeptCount)
  for (const [key] of oldest) map.delete(key)
  return oldest.map(([, value]) => value)
}
