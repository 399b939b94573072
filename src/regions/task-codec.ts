/**
 * Tasks and what becomes of them, as bytes between machines. Machines with different versions of this form do not ask
 * each other.
 *
 * @module
 */
import { Packr } from 'msgpackr'
import { flatten, unflatten } from '../pool/codec.js'
import type { SelectionKind, SelectionTask, Task } from '../pool/tasks.js'

/** A task that a machine is to run. */
export interface SentTask {
  readonly snapshotId: string
  /** Without a mask. */
  readonly task: Task
  readonly moment: number
  /** For how long the caller waits. */
  readonly leftMs: number
  readonly mask: SentMask | undefined
}

/** Who is within a boundary. */
interface SentMask {
  /** The same for the same mask of a front thread, and never another's. */
  readonly key: string
  /** By index, of the shards that the machine holds; left out where it should have them. */
  readonly runs?: ReadonlyMap<number, Uint32Array> | undefined
}

/** Why a machine does not run a task. */
export type TaskRefusal =
  /** It has not got the snapshot, the shard or the moment, or not all changes. */
  | 'NotHere'
  /** It does not know the mask: it is to be sent with the runs. */
  | 'UnknownMask'
  | 'Overloaded'
  | 'TooComplex'
  | 'Unavailable'

export type TaskOutcome =
  | { readonly result: SentResult }
  | { readonly refusal: TaskRefusal; readonly message: string }

type SentResult =
  | readonly number[]
  | readonly Uint32Array[]
  | number
  | Float64Array
  | { readonly rowCount: number; readonly bytes: Uint8Array }

const packr = new Packr({ useRecords: false })
const VERSION = 1
/** The version of tasks that version 1 did not have: a machine that knows no other drops them. */
const VERSION_OF_CELLS = 2

export function encodeTask({ snapshotId, task, moment, leftMs, mask }: SentTask): Uint8Array {
  const sent = {
    version: task.kind === 'cells' ? VERSION_OF_CELLS : VERSION,
    snapshotId,
    moment,
    leftMs,
    task: 'shardIndex' in task ? { ...task, runs: bytesOf(task.runs) } : sentSelection(task),
    mask: mask && {
      key: mask.key,
      runs: mask.runs && [...mask.runs].map(([index, runs]) => [index, bytesOf(runs)]),
    },
  }
  return new Uint8Array(packr.pack(sent))
}

/** Undefined of bytes that are none of this version. */
export function decodeTask(bytes: Uint8Array): SentTask | undefined {
  try {
    const { version, task, mask, snapshotId, moment, leftMs } = packr.unpack(bytes)
    if (version !== VERSION && version !== VERSION_OF_CELLS) return undefined
    return {
      snapshotId,
      moment,
      leftMs,
      task: 'shardIndex' in task ? { ...task, runs: wordsOf(task.runs) } : selectionOf(task),
      mask: mask && {
        key: mask.key,
        runs:
          mask.runs &&
          new Map(
            mask.runs.map(([index, runs]: [number, Uint8Array]) => [index, wordsOf(runs)] as const),
          ),
      },
    }
  } catch {
    return undefined
  }
}

export function encodeOutcome(outcome: TaskOutcome): Uint8Array {
  const sent = 'result' in outcome ? { result: sentResult(outcome.result) } : outcome
  return new Uint8Array(packr.pack(sent))
}

/** @param kind  of the task */
export function decodeOutcome(bytes: Uint8Array, kind: Task['kind']): TaskOutcome {
  const outcome = packr.unpack(bytes)
  if (!('result' in outcome)) return outcome
  const { result } = outcome
  if (kind === 'cells') return { result: floatsOf(result) }
  return { result: WORDS.has(kind) ? result.map(wordsOf) : result }
}

/** The kinds whose results are lists of words, one a shard. */
const WORDS: ReadonlySet<Task['kind']> = new Set(['select', 'cover', 'offer', 'firsts'] as const)

type FlatTask = ReturnType<typeof sentSelection>

function sentSelection(task: SelectionTask<SelectionKind>) {
  const { words, floats } = flatten({ ...task, mask: null }, 0)
  return {
    words: bytesOf(words),
    floats: bytesOf(floats),
    isLarge: task.isLarge,
    given: task.given?.map(bytesOf),
  }
}

function selectionOf({ words, floats, isLarge, given }: FlatTask): Task {
  const flat = {
    queryCount: 1,
    words: wordsOf(words),
    floats: floatsOf(floats),
  }
  const [{ kind, shapes, countMode, isDistinct, moment, since, shardIndexes }] = unflatten(flat)
  return {
    kind,
    shapes,
    countMode,
    isDistinct,
    moment,
    since,
    shardIndexes: [...shardIndexes],
    mask: null,
    isLarge,
    ...(given && { given: given.map(wordsOf) }),
  } as Task
}

function sentResult(result: SentResult): unknown {
  if (result instanceof Float64Array) return bytesOf(result)
  if (!Array.isArray(result)) return result
  return result.map((each: number | Uint32Array) =>
    typeof each === 'number' ? each : bytesOf(each),
  )
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array) =>
  new Uint8Array(buffer, byteOffset, byteLength)

const wordsOf = (bytes: Uint8Array) => new Uint32Array(copyOf(bytes).buffer)

const floatsOf = (bytes: Uint8Array) => new Float64Array(copyOf(bytes).buffer)

/** In memory that begins where numbers may. */
function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes.length)
  copy.set(bytes)
  return copy
}
