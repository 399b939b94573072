/**
 * `hickory cluster seed-log`: makes the log anew from the longest journal that machines have.
 *
 * @module
 */
import type { ClusterClient } from '../../cluster/client.js'
import type { NodeReport } from '../../cluster/node-report.js'
import { whyWhole } from '../../cluster/seed-log.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { monotonicMs } from '../../monotonic.js'
import { print, tell } from '../output.js'
import { assertDone, machineToAsk } from './members.js'

/**
 * @param without  what these alone have is given up
 * @throws OperatorError  where the log stays as it is
 */
export async function seedLog(client: ClusterClient, without: readonly string[]): Promise<void> {
  const reports = await client.reports()
  const { machines } = await client.ask<'status'>(machineToAsk(reports), { kind: 'status' })
  const members = machines.filter(({ isMember }) => isMember).map(({ name }) => name)
  assertLost(reports, without)
  const { name, kept, log } = longestOf(reports, members, without)
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

/** A log with which machines go on has what they do not have yet, and would lose it. */
function assertLost(reports: readonly NodeReport[], without: readonly string[]): void {
  const counted = reports.filter(({ name }) => !without.includes(name))
  const reason = counted.length > 0 ? whyWhole(counted) : undefined
  if (reason !== undefined) throw new OperatorError('Usage', reason)
}

/**
 * One of those with as many batches, by name.
 *
 * @throws OperatorError  Usage; Failed, where it is not known or contradicted
 */
function longestOf(
  reports: readonly NodeReport[],
  members: readonly string[],
  without: readonly string[],
): NodeReport {
  const known = [...members, ...reports.map(({ name }) => name)]
  const strange = without.find((name) => !known.includes(name))
  if (strange !== undefined) {
    const names = [...new Set(known)].join(', ')
    throw new OperatorError('Usage', `there is no machine ${strange}; there are ${names}`)
  }
  const counted = reports.filter(({ name }) => !without.includes(name))
  const missing = members.filter(
    (name) => !without.includes(name) && !counted.some((report) => report.name === name),
  )
  if (missing.length > 0) {
    const flags = missing.map((name) => `--without ${name}`).join(' ')
    throw new OperatorError(
      'Failed',
      `${missing.join(', ')} may have more than the others, and is not heard: start it, or give up what it alone has with ` +
        flags,
    )
  }
  const [first, ...others] = counted
  if (first === undefined) {
    throw new OperatorError('Usage', 'no machine is left from which the log could be made')
  }
  assertOneHistory(counted)
  return others.reduce((most, one) => (one.kept.sequence > most.kept.sequence ? one : most), first)
}

/** Those that have less are compared by the machine that is asked, which has the hashes of its journal. */
function assertOneHistory(reports: readonly NodeReport[]): void {
  for (const { name, kept } of reports) {
    const other = reports.find(
      (one) => one.kept.sequence === kept.sequence && one.kept.hash !== kept.hash,
    )
    if (other === undefined) continue
    throw new OperatorError(
      'Failed',
      `${name} and ${other.name} have different batches ${kept.sequence}, and no log can be that of both: say --without ` +
        'with the name of the one that is wrong',
    )
  }
}
