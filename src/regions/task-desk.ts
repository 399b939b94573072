/**
 * Runs tasks of other machines on the query workers of this one: of the snapshot that they mean, at their moment, and
 * only while this machine knows all changes.
 *
 * @module
 */
import { performance } from 'node:perf_hooks'
import { NO_ANSWER_IN_TIME } from '../deadline.js'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { callerUntil, type QueryRunner, type Task } from '../pool/tasks.js'
import { createMask, drawMaskId, type Mask } from '../shard/mask.js'
import {
  decodeTask,
  encodeOutcome,
  type SentTask,
  type TaskOutcome,
  type TaskRefusal,
} from './task-codec.js'

/** A snapshot that can be asked. */
interface AskedSnapshot {
  /** The query workers of this machine alone. */
  readonly local: QueryRunner
  readonly shardCount: number
  isHere(shardIndex: number): boolean
  /** @returns false where the moment does not come in time */
  untilMoment(moment: number, deadlineMs: number): Promise<boolean>
}

export class TaskDesk {
  readonly #isLevel: () => boolean
  readonly #snapshots = new Map<string, AskedSnapshot>()
  /** By key; those that were needed least lately come first. */
  readonly #masks = new Map<string, Mask>()

  /** @param isLevel  whether this machine knows all changes */
  constructor(isLevel: () => boolean) {
    this.#isLevel = isLevel
  }

  /**
   * From now on it can be asked.
   *
   * @returns ends that, unless it was opened once more meanwhile
   */
  open(snapshotId: string, snapshot: AskedSnapshot): () => void {
    this.#snapshots.set(snapshotId, snapshot)
    return () => {
      if (this.#snapshots.get(snapshotId) === snapshot) this.#close(snapshotId)
    }
  }

  #close(snapshotId: string): void {
    this.#snapshots.delete(snapshotId)
    for (const key of [...this.#masks.keys()]) {
      if (key.startsWith(`${snapshotId} `)) this.#masks.delete(key)
    }
  }

  /** @returns undefined where the bytes are no task, or no answer is awaited */
  async answer(question: Uint8Array): Promise<Uint8Array | undefined> {
    const sent = decodeTask(question)
    return sent && encodeOutcome(await this.#outcomeOf(sent))
  }

  async #outcomeOf(sent: SentTask): Promise<TaskOutcome> {
    const { snapshotId, task, moment, leftMs, mask } = sent
    const snapshot = this.#snapshots.get(snapshotId)
    if (snapshot === undefined) return refused('NotHere', `${snapshotId} is not served here`)
    const indexes = 'shardIndex' in task ? [task.shardIndex] : task.shardIndexes
    if (!indexes.every((index) => snapshot.isHere(index))) {
      return refused('NotHere', 'a shard is not held here')
    }
    if (!this.#isLevel()) return refused('NotHere', 'not all changes are known here')
    const nowMs = performance.now()
    const caller = callerUntil(nowMs + Math.min(leftMs, limits.requestMs))
    const waitedMs = Math.min(caller.deadlineMs, nowMs + limits.momentWaitMs)
    try {
      if (!(await snapshot.untilMoment(moment, waitedMs))) {
        return refused('NotHere', 'the changes of the request have not come here yet')
      }
      const known = mask && this.#maskOf(snapshotId, snapshot.shardCount, mask)
      if (mask !== undefined && known === undefined) return refused('UnknownMask', '')
      const own = (known === undefined ? task : { ...task, mask: known }) as Task
      const found = await snapshot.local.run(own as never, caller)
      return { result: resultOf(found) }
    } catch (fault) {
      if (!(fault instanceof ServiceError)) throw fault
      const isKnown = fault.code === 'TooComplex' || fault.code === 'Overloaded'
      return refused(isKnown ? (fault.code as TaskRefusal) : 'Unavailable', fault.message)
    }
  }

  #maskOf(
    snapshotId: string,
    shardCount: number,
    { key: sentKey, runs }: NonNullable<SentTask['mask']>,
  ): Mask | undefined {
    const key = `${snapshotId} ${sentKey}`
    const known = this.#masks.get(key)
    const mask =
      known ??
      (runs &&
        createMask(
          drawMaskId(),
          Array.from({ length: shardCount }, (_, index) => runs.get(index) ?? NOBODY),
        ))
    if (mask === undefined) return undefined
    this.#masks.delete(key)
    this.#masks.set(key, mask)
    const [oldest] = this.#masks.keys()
    if (this.#masks.size > limits.masksOfOthersCount) this.#masks.delete(oldest)
    return mask
  }
}

const NOBODY = new Uint32Array(0)

function refused(refusal: TaskRefusal, message: string): TaskOutcome {
  return { refusal, message: message === '' ? NO_ANSWER_IN_TIME : message }
}

/** Rows are copied, since their memory is used again. */
function resultOf(found: unknown): Extract<TaskOutcome, { result: unknown }>['result'] {
  if (typeof found === 'object' && found !== null && 'release' in found) {
    const { rowCount, bytes, release } = found as {
      rowCount: number
      bytes: Uint8Array
      release: () => void
    }
    const copy = Uint8Array.from(bytes)
    release()
    return { rowCount, bytes: copy }
  }
  return found as number
}
