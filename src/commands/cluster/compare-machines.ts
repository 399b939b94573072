/**
 * Asks all machines of a cluster what they have at one place of the journal.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterClient } from '../../cluster/client.js'
import type { ComparedMachine } from '../../cluster/differences.js'
import type { DigestsAnswer } from '../../cluster/machine-digests.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Log } from '../../log.js'
import { monotonicMs } from '../../monotonic.js'
import { type Progress, startProgress } from '../output.js'
import { machineToAsk } from './orders.js'

export interface Comparison {
  readonly sequence: number
  readonly snapshotId: string
  /** By their names. */
  readonly compared: readonly ComparedMachine[]
  /** Members that cannot be compared, and why. */
  readonly missing: readonly { readonly name: string; readonly reason: string }[]
}

type Asking = Pick<ClusterClient, 'ask' | 'reports'>

/**
 * Machines may go on with changes meanwhile: each tells what it had at the same entry, with the same snapshot.
 *
 * @throws OperatorError  Failed, where no machine is heard, or none can note where they are compared
 */
export async function compareMachines(client: Asking, log: Log): Promise<Comparison> {
  let place = await begin(client)
  for (let attempt = 1; ; attempt++) {
    const comparison = await compareAt(client, place, log)
    const isKnown = comparison.missing.every(({ reason }) => reason === NOT_HEARD)
    if (isKnown || attempt === limits.comparisonTryCount) return comparison
    // A machine that has switched to another snapshot by then has no more what the others are asked for.
    const next = await begin(client)
    if (next.snapshotId === place.snapshotId) return comparison
    place = next
  }
}

const NOT_HEARD = 'it is not heard'

interface Place {
  readonly sequence: number
  readonly snapshotId: string
  /** The members. */
  readonly machines: readonly { readonly name: string; readonly isHeard: boolean }[]
}

async function begin(client: Asking): Promise<Place> {
  const asked = machineToAsk(await client.reports())
  const { machines } = await client.ask<'status'>(asked, { kind: 'status' })
  const question = { kind: 'compare' } as const
  const { isDone, reason, at } = await client.ask<'compare'>(
    asked,
    question,
    limits.clusterCommandMs,
  )
  if (!isDone || at === undefined) throw new OperatorError('Failed', `${asked}: ${reason}`)
  if (at.snapshotId === undefined) throw new OperatorError('Failed', 'no snapshot is served yet')
  // The machine that tells is the first one.
  const members = machines
    .filter(({ isMember }) => isMember)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  return {
    sequence: at.sequence,
    snapshotId: at.snapshotId,
    machines: members.map(({ name, silentMs }) => ({
      name,
      isHeard: silentMs !== undefined && silentMs < limits.clusterHeardMs,
    })),
  }
}

async function compareAt(client: Asking, place: Place, log: Log): Promise<Comparison> {
  const { sequence, snapshotId, machines } = place
  const shown = new SharedProgress(log, machines.filter(({ isHeard }) => isHeard).length)
  const outcomes = await Promise.all(
    machines.map(async ({ name, isHeard }) => {
      if (!isHeard) return { name, reason: NOT_HEARD }
      return { name, ...(await digestsOf(client, name, place, shown)) }
    }),
  ).finally(() => shown.stop())
  return {
    sequence,
    snapshotId,
    compared: outcomes.flatMap((one) =>
      'digests' in one ? { name: one.name, digests: one.digests } : [],
    ),
    missing: outcomes.flatMap((one) =>
      'reason' in one ? { name: one.name, reason: one.reason } : [],
    ),
  }
}

/** For as long as it takes, unless nothing goes on. */
async function digestsOf(
  client: Asking,
  name: string,
  { sequence, snapshotId }: Place,
  shown: SharedProgress,
) {
  let doneCount = -1
  let storedSequence = -1
  let sinceMs = monotonicMs()
  for (;;) {
    const answer = await client
      .ask<'digests'>(name, { kind: 'digests', sequence, snapshotId })
      .catch((fault: Error): DigestsAnswer => ({ kind: 'waiting', reason: fault.message }))
    if (answer.kind === 'done') return { digests: answer.digests }
    if (answer.kind === 'failed') return { reason: answer.reason }
    if (answer.kind === 'working') shown.update(name, answer)
    // Neither grows for ever; other answers may come in turns for as long as they like.
    const done = answer.kind === 'working' ? answer.doneCount : -1
    const stored = answer.kind === 'waiting' ? (answer.storedSequence ?? -1) : -1
    if (done > doneCount || stored > storedSequence) sinceMs = monotonicMs()
    doneCount = Math.max(doneCount, done)
    storedSequence = Math.max(storedSequence, stored)
    if (monotonicMs() - sinceMs > limits.comparisonWaitMs) {
      return { reason: answer.kind === 'waiting' ? answer.reason : 'it does not go on' }
    }
    await sleep(limits.comparisonPollMs)
  }
}

/** One for all machines, once each has said how much there is. */
class SharedProgress {
  readonly #log: Log
  readonly #machineCount: number
  readonly #parts = new Map<string, { readonly doneCount: number; readonly totalCount: number }>()
  #progress: Progress | undefined

  constructor(log: Log, machineCount: number) {
    this.#log = log
    this.#machineCount = machineCount
  }

  update(name: string, part: { readonly doneCount: number; readonly totalCount: number }): void {
    this.#parts.set(name, part)
    const parts = [...this.#parts.values()]
    if (parts.length < this.#machineCount) return
    const total = parts.reduce((sum, { totalCount }) => sum + totalCount, 0)
    this.#progress ??= startProgress(this.#log, 'comparing', total, 'recipients')
    this.#progress.update(parts.reduce((sum, { doneCount }) => sum + doneCount, 0))
  }

  stop(): void {
    this.#progress?.stop()
  }
}
