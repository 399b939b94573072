/**
 * Makes the log of a cluster anew, from the journal of the machine that has the most, where the servers of NATS have lost
 * it: an operator's last means (`hickory cluster seed-log`). All machines go on with it that have no more than this one.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import type { Member } from './entries.js'
import type { ClusterJournal } from './journal.js'
import type { LogFounding } from './log/log.js'
import type { NodeReport } from './node-report.js'
import type { NodeReports } from './node-reports.js'
import type { OwnReports } from './own-reports.js'
import { DONE, type NodeAnswers, type NodeQuestion, undone } from './questions.js'

interface SeedingOptions {
  readonly me: Member
  readonly journal: ClusterJournal
  /** Makes the log, in the place of the one of that generation, or of none; with how many messages that had. */
  readonly replaceLog: (founding: LogFounding, replaced: string) => Promise<number>
  readonly own: Pick<OwnReports, 'now'>
  readonly reports: NodeReports
}

/**
 * @param asked.without  members that are lost, and not waited for
 * @param asked.generation  of the log that is lost
 * @throws  as a rejection, where there is another log meanwhile, or that is not known
 */
export async function seedLog(
  options: SeedingOptions,
  { without, generation: replaced }: Omit<Extract<NodeQuestion, { kind: 'seedLog' }>, 'kind'>,
): Promise<NodeAnswers['seedLog']> {
  const { me, journal, replaceLog, reports, own: self } = options
  const { kept } = journal
  if (journal.generation !== replaced) {
    return undone('the log was made anew meanwhile: look at `hickory cluster status`')
  }
  const there = reports.ofThoseThere()
  for (const { name } of journal.facts.members) {
    const isKnown = name === me.name || there.some((report) => report.name === name)
    if (!isKnown && !without.includes(name)) {
      return undone(`${name} is not heard, and may have more: start it, or say --without ${name}`)
    }
  }
  for (const { name, kept: other } of there) {
    if (without.includes(name)) continue
    if (other.sequence > kept.sequence) {
      return undone(
        `${name} has batches up to ${other.sequence}, and this one up to ${kept.sequence}`,
      )
    }
    const own = other.sequence === kept.sequence ? kept.hash : journal.hashAt(other.sequence)
    if (own !== undefined && own !== other.hash) {
      return undone(
        `${name} has another batch ${other.sequence} than ${me.name}: say --without for the one that is wrong`,
      )
    }
  }
  const counted = there.filter(({ name }) => !without.includes(name))
  const whole = whyWhole([self.now(), ...counted])
  if (whole !== undefined) return undone(whole)
  const generation = randomBytes(8).toString('hex')
  const removedCount = await replaceLog({ generation, founder: me.name, base: kept }, replaced)
  return { ...DONE, base: kept, removedCount }
}

/**
 * Why the log must stay as it is, by what machines say: one that goes on with it has what others do not have yet. Undefined
 * where it is lost.
 */
export function whyWhole(
  reports: readonly Pick<NodeReport, 'name' | 'fault' | 'faultKind'>[],
): string | undefined {
  const going = reports.filter(({ fault }) => fault === undefined).map(({ name }) => name)
  if (going.length > 0) {
    return (
      `the log is there: ${going.join(', ')} goes on with it. It stays as it is; where it must not, stop those machines, and ` +
      'say --without'
    )
  }
  if (!reports.every(({ faultKind }) => faultKind === 'hole')) return undefined
  return (
    'a server of NATS lacks messages of the log, and others have them: stop the one that `hickory cluster status` names, remove ' +
    'its store, and start it again'
  )
}
