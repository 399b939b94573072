/**
 * The thread of changes: it takes batches from all front threads, writes to the journal what came together,
 * with one sync, and answers.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import type { PreparedBatch } from '../journal/batch.js'
import { journalDirectory } from '../journal/files.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import { recordBytes } from '../journal/record.js'
import { JournalWriter } from '../journal/writer.js'
import { limits } from '../limits.js'
import type { Increment } from '../shard/delta/increment.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { ChangedMarksCalls } from '../suppressions/serve-marks.js'
import { callsOver } from '../threads/calls.js'
import { AbsentCounts } from './absent-counts.js'
import { AttachedSnapshot } from './attached-snapshot.js'
import { BatchWriting, type TakenBatch } from './batch-writing.js'
import { ClusteredBatches } from './clustered-batches.js'
import { writeFigures } from './figures.js'
import type { ChangeCalls, LiveCalls, LiveNews, LiveThreadData, StuckFault } from './messages.js'
import { serveFront } from './serve-front.js'
import { Waiting } from './waiting.js'

/** @param main  to the main thread */
export function serveLive(main: MessagePort, data: LiveThreadData): void {
  const directory = journalDirectory(data.dataDirectory)
  let refusal: unknown
  const own: LiveCalls = {
    started() {
      if (refusal !== undefined) throw refusal
    },
    serve: (port) => serveFront(port, attached, append, absent),
    attach,
    detach,
    stop,
  }
  const { tell } = callsOver<LiveNews>(main, own)
  const writer = new JournalWriter({
    directory,
    fileBytes: data.journalFileBytes,
    // That of the newest snapshot: the others are on their way out.
    leastSequence: () => [...attached.values()].at(-1)?.knownSequence ?? 0,
    onSettled: tell.settled,
  })
  const waiting = new Waiting(data.waiting)
  const marks = callsOver<ChangedMarksCalls>(data.marks)
  // A machine of a cluster may hold some of the recipients.
  const absent = data.cluster === undefined ? new AbsentCounts() : undefined
  /** By id, in the order in which they were attached. */
  const attached = new Map<string, AttachedSnapshot>()
  // In a cluster, another thread writes the journal.
  const alone = new BatchWriting({ writer, roomCount, onWritten, tell })
  const writing =
    data.cluster === undefined
      ? alone
      : new ClusteredBatches({ port: data.cluster, roomCount, onWritten, tell })
  /** Batches that this thread wrote, and perhaps has not applied yet. */
  let unapplied: { readonly sequence: number; readonly changeCount: number }[] = []

  start()

  async function attach(snapshot: Snapshot): Promise<void> {
    const own = new AttachedSnapshot({
      dataDirectory: data.dataDirectory,
      snapshot,
      mark: (snapshotId, increment) => mark(snapshotId, increment, snapshot),
      onTold: noteFigures,
      onApplied: (sequence, absentCount) => absent?.applied(sequence, absentCount),
      onFull: tell.full,
      onDue: tell.due,
    })
    try {
      await own.open()
    } catch (fault) {
      await own.close()
      throw fault
    }
    const isSwitch = attached.size > 0
    attached.set(snapshot.id, own)
    noteFigures()
    let stuck: string | undefined
    own.follow((fault) => {
      const { code, reason } = reasonOf(fault)
      tell.stuck({ snapshotId: snapshot.id, code, reason, isNew: stuck !== reason })
      stuck = reason
      noteFigures()
    })
    // The one before it goes on meanwhile. At a start answers come first.
    if (isSwitch) await own.prepare()
  }

  /** Those of the newest snapshot: the others are on their way out. */
  function noteFigures(): void {
    const newest = [...attached.values()].at(-1)
    if (newest !== undefined) writeFigures(data.figures, newest)
  }

  async function detach(snapshotId: string): Promise<void> {
    const own = attached.get(snapshotId)
    attached.delete(snapshotId)
    await own?.close()
    noteFigures()
  }

  async function mark(
    snapshotId: string,
    { shards, deltas }: Increment,
    { sources }: Snapshot,
  ): Promise<void> {
    await marks.ask.change({
      snapshotId,
      shards: shards.map(({ shardIndex, gone }) => ({ shardIndex, gone: gone.recipients })),
      deltas: deltas.map(({ sourceIndex, come, gone, marks }) => ({
        sourceId: sources[sourceIndex].id,
        phones: come.phones,
        phoneEnds: come.phoneEnds,
        gone: gone.recipients,
        marks,
      })),
    })
  }

  /** A journal that is not there is begun with the first batch. */
  function start(): void {
    try {
      if (data.cluster === undefined && existsSync(directory)) writer.prepare()
    } catch (fault) {
      if (fault instanceof OperatorError) refusal = fault
      else alone.fails(fault)
    }
  }

  function append(batch: PreparedBatch): ReturnType<ChangeCalls['append']> {
    const bytes = recordBytes(batch)
    return new Promise((resolve) => {
      writing.take({
        batch,
        answer(reply) {
          waiting.leave(bytes)
          resolve(reply)
        },
      })
    })
  }

  function onWritten(group: readonly TakenBatch[], outcomes: readonly BatchOutcome[]): void {
    for (const [at, { batch }] of group.entries()) {
      const { kind, sequence } = outcomes[at]
      if (kind === 'written') unapplied.push({ sequence, changeCount: batch.changeCount })
    }
  }

  /** For further changes, in the newest snapshot: the others are on their way out. */
  function roomCount(): number {
    const newest = [...attached.values()].at(-1)
    if (newest === undefined) return Number.POSITIVE_INFINITY
    unapplied = unapplied.filter(({ sequence }) => sequence > newest.sequence)
    return unapplied.reduce((room, { changeCount }) => room - changeCount, newest.roomCount)
  }

  async function stop(): Promise<void> {
    const giveUpMs = performance.now() + limits.changesStopMs
    do {
      // What front threads have sent may not be here yet.
      await sleep(1)
      writing.write()
    } while (waiting.count > 0 && performance.now() < giveUpMs)
    writing.close()
    await Promise.all([...attached.values()].map((own) => own.close()))
    await writer.release().catch(() => {})
    process.exit()
  }
}

function reasonOf(fault: unknown): Pick<StuckFault, 'code' | 'reason'> {
  const { code, message } = fault as NodeJS.ErrnoException
  if (fault instanceof OperatorError) return { code: fault.code, reason: message }
  return { code: 'Failed', reason: code ?? message }
}
