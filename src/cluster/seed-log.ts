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
import { DONE, type NodeAnswers, type NodeQuestion, undone } from './questions.js'
import type { NodeReport, NodeReports, OwnReports } from './reports.js'

interface SeedingOptions {
  readonly me: Member
  readonly journal: ClusterJournal
  /** Makes the log, in the place of the one of that generation, or of none; with how many messages that had. */
  readonly replaceLog: (founding: LogFounding, replaced: string) => Promise<number>
  readonly own: Pick<OwnReports, 'now'>
  readonly reports: NodeReports
}

/**
 * @param asked.without  machines that are lost or wrong, and count for nothing
 * @param asked.generation  of the log that is lost
 * @throws  as a rejection, where there is another log meanwhile, or that is not known
 */
export async function seedLog(
  options: SeedingOptions,
  { without, generation: replaced }: Omit<Extract<NodeQuestion, { kind: 'seedLog' }>, 'kind'>,
): Promise<NodeAnswers['seedLog']> {
  const { me, journal, replaceLog } = options
  const { kept } = journal
  if (journal.generation !== replaced) {
    return undone('the log was made anew meanwhile: look at `hickory cluster status`')
  }
  const refusal = refusalOf(options, without)
  if (refusal !== undefined) return undone(refusal)
  const generation = randomBytes(8).toString('hex')
  const removedCount = await replaceLog({ generation, founder: me.name, base: kept }, replaced)
  return { ...DONE, base: kept, removedCount }
}

/** Why the log must stay as it is, for the operator. */
function refusalOf(
  { own, journal, reports }: SeedingOptions,
  without: readonly string[],
): string | undefined {
  const there = [own.now(), ...reports.ofThoseThere()]
  const heard = there.map(({ name }) => name)
  const members = journal.facts.members.map(({ name }) => name)
  const strange = without.find((name) => ![...members, ...heard].includes(name))
  if (strange !== undefined) {
    const names = [...new Set([...members, ...heard])].join(', ')
    return `there is no machine ${strange}; there are ${names}`
  }
  const counted = there.filter(({ name }) => !without.includes(name))
  const missing = members.filter((name) => ![...heard, ...without].includes(name))
  return whyWhole(counted) ?? whyLonger(missing) ?? whyNotAll(counted, journal)
}

/** One that goes on with the log has what others do not have yet. */
function whyWhole(reports: readonly NodeReport[]): string | undefined {
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

function whyLonger(missing: readonly string[]): string | undefined {
  if (missing.length === 0) return undefined
  const flags = missing.map((name) => `--without ${name}`).join(' ')
  return (
    `${missing.join(', ')} may have more than the others, and is not heard: start it, or give up what it alone has with ` +
    flags
  )
}

/** Why the log cannot be made of what this machine has, whose report is the first one. */
function whyNotAll(
  reports: readonly NodeReport[],
  journal: Pick<ClusterJournal, 'kept' | 'hashAt'>,
): string | undefined {
  const { sequence: last } = journal.kept
  const [{ name: me }] = reports
  const seen = new Map<number, { readonly name: string; readonly hash: string }>()
  for (const { name, kept } of reports) {
    const { sequence, hash } = kept
    if (sequence > last) return `${name} has batches up to ${sequence}, and this one up to ${last}`
    const own = journal.hashAt(sequence)
    const other = own === undefined ? seen.get(sequence) : { name: me, hash: own }
    if (other !== undefined && other.hash !== hash) {
      return (
        `${other.name} and ${name} have different batches ${sequence}, and no log can be that of both: say --without with ` +
        'the name of the one that is wrong'
      )
    }
    seen.set(sequence, { name, hash })
  }
  return undefined
}
