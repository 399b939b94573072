/**
 * What an operator has machines do.
 *
 * @module
 */
import type { ClusterClient } from '../../cluster/client.js'
import type { Done } from '../../cluster/questions.js'
import type { NodeReport } from '../../cluster/reports.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { monotonicMs } from '../../monotonic.js'
import { print, tell } from '../output.js'

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
 * Has the machine with the longest journal make the log anew, which refuses where another one may have more.
 *
 * @param without  what these alone have is given up
 * @throws OperatorError  where the log stays as it is
 */
export async function seedLog(client: ClusterClient, without: readonly string[]): Promise<void> {
  const reports = await client.reports()
  const counted = reports.filter(({ name }) => !without.includes(name))
  const [longest] = counted.toSorted((one, other) => other.kept.sequence - one.kept.sequence)
  if (longest === undefined) {
    throw new OperatorError('Failed', 'no machine is heard from which the log could be made')
  }
  const { name, kept, log } = longest
  tell(`${name} has the longest journal, up to batch ${kept.sequence}: it makes the log anew`)
  const startedMs = monotonicMs()
  const telling = setInterval(() => {
    tell(`${name} has been at work for ${Math.round((monotonicMs() - startedMs) / 1_000)} s`)
  }, TOLD_MS)
  try {
    const question = { kind: 'seedLog', without, generation: log.generation } as const
    const done = await client.ask<'seedLog'>(name, question, limits.seedMs)
    assertDone(done, name)
    print(removedText(done.removedCount))
    const { sequence } = done.base ?? kept
    print(`the log is made anew behind batch ${sequence}, which is the last one of ${name}`)
  } finally {
    clearInterval(telling)
  }
  print('the other machines get what they lack from it, and go on: see `hickory cluster status`')
}

const TOLD_MS = 10_000

function removedText(count = 0): string {
  if (count === 0) return 'there was no log before, or none with a message'
  return `the log before is removed, which had ${count === 1 ? '1 message' : `${count} messages`}`
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
function assertDone({ isDone, reason }: Done, name: string): void {
  if (!isDone) throw new OperatorError('Failed', `${name}: ${reason}`)
}
