/**
 * Which machines are ready, and which are members, as an operator wants it.
 *
 * @module
 */
import type { ClusterClient } from '../../cluster/client.js'
import type { NodeReport } from '../../cluster/node-report.js'
import type { Done } from '../../cluster/questions.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { print } from '../output.js'

/** @throws OperatorError */
export async function drain(client: ClusterClient, name: string, isOn: boolean): Promise<void> {
  const question = { kind: 'drain', isOn } as const
  assertDone(await client.ask<'drain'>(name, question, limits.clusterCommandMs), name)
  print(isOn ? `${name} is not ready any more` : `${name} is ready again, once it is level`)
}

/** @throws OperatorError */
export async function remove(client: ClusterClient, name: string): Promise<void> {
  const reports = await client.reports()
  if (reports.some((report) => report.name === name)) {
    throw new OperatorError('Usage', `${name} is there, and would join again: stop it first`)
  }
  const asked = machineToAsk(reports)
  const question = { kind: 'remove', name } as const
  assertDone(await client.ask<'remove'>(asked, question, limits.clusterCommandMs), asked)
  print(`${name} is no member any more`)
}

/**
 * One that goes on with the cluster, where there is one.
 *
 * @throws OperatorError  Failed, where no machine is heard
 */
export function machineToAsk(reports: readonly NodeReport[]): string {
  const good = reports.find(({ levelMs, fault }) => levelMs > 0 && fault === undefined)
  const { name } = good ?? reports[0] ?? {}
  if (name !== undefined) return name
  throw new OperatorError('Failed', 'no machine is heard: start the service of one')
}

/** @throws OperatorError  Failed, naming the machine and the reason */
export function assertDone({ isDone, reason }: Done, name: string): void {
  if (!isDone) throw new OperatorError('Failed', `${name}: ${reason}`)
}
