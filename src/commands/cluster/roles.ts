/**
 * Who writes, who is ready, and whose disk counts, as an operator wants it.
 *
 * @module
 */
import type { Done } from '../../cluster/agreement/messages.js'
import type { ClusterClient } from '../../cluster/client.js'
import type { NodeReport } from '../../cluster/node-report.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { print, tell } from '../output.js'

/** @throws OperatorError  where it does not write afterwards */
export async function promote(
  client: ClusterClient,
  name: string,
  mayLose: boolean,
): Promise<void> {
  const reports = await client.reports()
  assertHeard(reports, name)
  const writer = writerOf(reports)
  if (writer === name) return print(`${name} writes already`)
  if (writer !== undefined) {
    tell(`${writer} writes: it hands over to ${name}`)
    const question = { kind: 'handOver', to: name } as const
    const done = await client.ask<'handOver'>(writer, question, limits.clusterCommandMs)
    if (done.isDone) return print(`${name} writes`)
    throw new OperatorError('Failed', `${writer} still writes: ${done.reason}`)
  }
  const question = { kind: 'promote', mayLose } as const
  const done = await client.ask<'promote'>(name, question, limits.clusterCommandMs)
  if (done.isDone) return print(`${name} writes`)
  const hint = mayLose
    ? ''
    : '. Start the machines that do not answer, or say --accept-loss, if they are lost'
  throw new OperatorError('Failed', `${name} does not write: ${done.reason}${hint}`)
}

/** @throws OperatorError */
export async function drain(client: ClusterClient, name: string, isOn: boolean): Promise<void> {
  const question = { kind: 'drain', isOn } as const
  assertDone(await client.ask<'drain'>(name, question, limits.clusterCommandMs), name)
  print(isOn ? `${name} is not ready any more` : `${name} is ready again, once it is level`)
}

/** @throws OperatorError */
export async function remove(client: ClusterClient, name: string): Promise<void> {
  const reports = await client.reports()
  if (reports.some(({ agreement }) => agreement.name === name)) {
    throw new OperatorError('Usage', `${name} is there, and would ask to be counted: stop it first`)
  }
  const writer = writerOf(reports)
  if (writer === undefined) {
    throw new OperatorError('Failed', 'no machine writes: hickory cluster promote NAME comes first')
  }
  const question = { kind: 'remove', name } as const
  assertDone(await client.ask<'remove'>(writer, question, limits.clusterCommandMs), writer)
  print(`${name} is no member any more`)
}

/** The machine that writes in the highest epoch of which anybody tells. */
export function writerOf(reports: readonly NodeReport[]): string | undefined {
  const writers = reports.map(({ agreement }) => agreement).filter(({ isWriter }) => isWriter)
  writers.sort((a, b) => b.epoch - a.epoch)
  return writers[0]?.name
}

function assertHeard(reports: readonly NodeReport[], name: string): void {
  const names = reports.map(({ agreement }) => agreement.name)
  if (names.includes(name)) return
  throw new OperatorError(
    'Usage',
    `${name} is not heard; the machines that are: ${names.join(', ') || 'none'}`,
  )
}

function assertDone({ isDone, reason }: Done, name: string): void {
  if (!isDone) throw new OperatorError('Failed', `${name}: ${reason}`)
}
