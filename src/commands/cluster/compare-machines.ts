/**
 * Asks all machines of a cluster what they have at one place of the journal.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterClient } from '../../cluster/client.js'
import type { ComparedMachine, DigestsAnswer, MachineDigests } from '../../cluster/comparison.js'
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
  const answer = await client.ask<'compare'>(asked, question, limits.clusterCommandMs)
  const { isDone, reason, at } = answer
  if (!isDone || at === undefined) throw new OperatorError('Failed', `${asked}: ${reason}`)
  const { sequence, snapshotId } = at
  if (snapshotId === undefined) throw new OperatorError('Failed', 'no snapshot is served yet')
  const members = machines
    .filter(({ isMember }) => isMember)
    .map(({ name, silentMs = Infinity }) => ({ name, isHeard: silentMs < limits.clusterHeardMs }))
  // The machine that tells is the first one.
  members.sort((one, other) => (one.name < other.name ? -1 : 1))
  return { sequence, snapshotId, machines: members }
}

async function compareAt(client: Asking, place: Place, log: Log): Promise<Comparison> {
  const { sequence, snapshotId, machines } = place
  const shown = sharedProgress(log, machines.filter(({ isHeard }) => isHeard).length)
  const compared: ComparedMachine[] = []
  const missing: { name: string; reason: string }[] = []
  const told = await Promise.all(
    machines.map(async ({ name, isHeard }) =>
      isHeard ? await digestsOf(client, name, place, shown) : NOT_HEARD,
    ),
  ).finally(() => shown.stop())
  for (const [at, { name }] of machines.entries()) {
    const digests = told[at]
    if (typeof digests === 'string') missing.push({ name, reason: digests })
    else compared.push({ name, digests })
  }
  return { sequence, snapshotId, compared, missing }
}

/**
 * For as long as it takes, unless nothing goes on.
 *
 * @returns or why there are none
 */
async function digestsOf(
  client: Asking,
  name: string,
  { sequence, snapshotId }: Place,
  shown: ReturnType<typeof sharedProgress>,
): Promise<MachineDigests | string> {
  let doneCount = -1
  let storedSequence = -1
  let sinceMs = monotonicMs()
  for (;;) {
    const answer = await client
      .ask<'digests'>(name, { kind: 'digests', sequence, snapshotId })
      .catch((fault: Error): DigestsAnswer => ({ kind: 'waiting', reason: fault.message }))
    if (answer.kind === 'done') return answer.digests
    if (answer.kind === 'failed') return answer.reason
    if (answer.kind === 'working') shown.update(name, answer)
    // Neither grows for ever; other answers may come in turns for as long as they like.
    const done = answer.kind === 'working' ? answer.doneCount : -1
    const stored = answer.kind === 'waiting' ? (answer.storedSequence ?? -1) : -1
    if (done > doneCount || stored > storedSequence) sinceMs = monotonicMs()
    doneCount = Math.max(doneCount, done)
    storedSequence = Math.max(storedSequence, stored)
    if (monotonicMs() - sinceMs > limits.comparisonWaitMs) {
      return answer.kind === 'waiting' ? answer.reason : 'it does not go on'
    }
    await sleep(limits.comparisonPollMs)
  }
}

/** One for all machines, once each has said how much there is. */
function sharedProgress(log: Log, machineCount: number) {
  const parts = new Map<string, { readonly doneCount: number; readonly totalCount: number }>()
  let progress: Progress | undefined
  const sum = (of: 'doneCount' | 'totalCount') =>
    [...parts.values()].reduce((total, part) => total + part[of], 0)
  return {
    update(name: string, part: { readonly doneCount: number; readonly totalCount: number }) {
      parts.set(name, part)
      if (parts.size < machineCount) return
      progress ??= startProgress(log, 'comparing', sum('totalCount'), 'recipients')
      progress.update(sum('doneCount'))
    },
    stop: () => progress?.stop(),
  }
}
