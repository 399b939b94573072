/**
 * How this machine stands in its cluster: whether it is a member, why it does not go on with the others, and why it cannot
 * write.
 *
 * @module
 */
import type { LogContradicted } from '../journal/damaged.js'
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'
import { processSession } from './directory.js'
import { type Entry, identityOf, type Member } from './entries.js'
import type { Facts } from './facts.js'
import type { ClusterJournal } from './journal.js'
import type { KeeperFault } from './log-keeper.js'
import type { SyncGuard } from './nats/sync-proof.js'
import type { NodeReport, NodeReports } from './reports.js'

interface StandingOptions {
  readonly me: Member
  readonly journal: {
    readonly facts: Pick<ClusterJournal['facts'], 'members'>
    readonly failure: ClusterJournal['failure']
  }
  readonly guard: Pick<SyncGuard, 'doubt'>
  /** Why the log is not followed. */
  readonly keeperFault: () => KeeperFault | undefined
  readonly reports: Pick<NodeReports, 'ofThoseThere'>
  /** Whether the log answers. */
  readonly isLogThere: () => boolean
  /** Puts an entry into the log; undefined where it was not read back in time. */
  readonly enter: (entry: Entry) => Promise<number | undefined>
  /** The log says that this machine is a member. */
  readonly onJoined: () => void
  /** Hears of each change of why it does not go on; undefined when it does. */
  readonly onFault: (fault: string | undefined) => void
}

export class Standing {
  readonly #options: StandingOptions
  #contradiction: string | undefined
  #lastTold: string | undefined
  #joiningUntilMs = 0
  #twinUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: StandingOptions) {
    this.#options = options
  }

  /** Why it does not go on with the others, for people. */
  get fault(): string | undefined {
    return this.#writeFault ?? this.#refusal
  }

  /** Of the report of this machine. */
  get told(): Pick<NodeReport, 'session' | 'fault' | 'faultKind'> {
    const faultKind = this.#options.keeperFault()?.kind
    return { session: processSession, fault: this.fault, faultKind }
  }

  /** Whether it has other batches than the others, so that no answer of it is level. */
  get isApart(): boolean {
    const kind = this.#options.keeperFault()?.kind
    if (this.#contradiction !== undefined || this.hasTwin) return true
    return kind === 'diverged' || kind === 'ahead'
  }

  /** Why it cannot write, for people. */
  get doubt(): string | undefined {
    const { guard, journal, isLogThere } = this.#options
    if (guard.doubt !== undefined) return guard.doubt
    const { failure } = journal
    if (failure !== undefined) return `the journal of this machine cannot be written (${failure})`
    return this.#writeFault ?? (isLogThere() ? undefined : 'the log does not answer')
  }

  /** The log says something else than it did: the journal cannot go on until the next start. */
  contradicted({ message }: LogContradicted): void {
    this.#contradiction =
      `${message}: start it again when \`hickory cluster seed-log\` has made the log anew, or, if other machines go on, ` +
      'with an empty directory'
    this.look()
  }

  /** A report, which may be that of another process with the name of this machine. */
  hear({ name, session }: Pick<NodeReport, 'name' | 'session'>): void {
    if (name !== this.#options.me.name || session === processSession) return
    this.#twinUntilMs = monotonicMs() + limits.clusterSilenceMs
    this.look()
  }

  /** To be called now and then, too. */
  look(): void {
    const { fault } = this
    if (fault === this.#lastTold) return
    this.#lastTold = fault
    this.#options.onFault(fault)
  }

  /** Until the log says that this machine answers, and for how long without it. To be called now and then. */
  async join(): Promise<void> {
    const { me, enter, onJoined } = this.#options
    const { name, incarnation, maxLagMs } = me
    const known = this.#members.find((member) => member.name === name)
    const isKnown = known?.incarnation === incarnation && known.maxLagMs === maxLagMs
    if (isKnown || this.fault !== undefined || monotonicMs() < this.#joiningUntilMs) return
    this.#joiningUntilMs = monotonicMs() + limits.logWaitMs
    if ((await enter({ kind: 'joined', ...me })) === undefined) this.#joiningUntilMs = 0
    else onJoined()
  }

  /** Whether another process was heard lately that has the name of this machine: neither is level. */
  get hasTwin(): boolean {
    return monotonicMs() < this.#twinUntilMs
  }

  get #members(): readonly Member[] {
    return this.#options.journal.facts.members
  }

  get #writeFault(): string | undefined {
    const { keeperFault, reports, me } = this.#options
    if (this.hasTwin) return `another process is ${me.name} of this cluster: stop one of them`
    const fault = keeperFault()
    const isInLog = ({ log }: NodeReport) => log.place !== undefined
    const isStuck = fault?.kind === 'copying' && !reports.ofThoseThere().some(isInLog)
    return this.#contradiction ?? (isStuck ? `${fault.text}: ${NO_COPY}` : fault?.text)
  }

  /** An entry that would make it a member counts for nothing then. */
  get #refusal(): string | undefined {
    const { length: memberCount } = this.#members
    const isMember = this.#members.some(({ name }) => name === this.#options.me.name)
    if (isMember || memberCount < limits.clusterMemberCount) return undefined
    return (
      `the cluster has ${memberCount} members, and takes no more: \`hickory cluster remove\` makes room where one does not ` +
      'come back'
    )
  }
}

/** Those that may be level, told apart from others of the same name, as `me` sees them. */
export function levelMembersFor(me: Member, { levelMembers }: Pick<Facts, 'levelMembers'>) {
  return levelMembers.map((member) => {
    const name = identityOf(member)
    // A time that was made shorter holds at once here, and elsewhere when the log says it.
    const isOwn = name === identityOf(me)
    return { name, maxLagMs: isOwn ? Math.min(me.maxLagMs, member.maxLagMs) : member.maxLagMs }
  })
}

const NO_COPY =
  'no machine that is heard follows the log. Start all of them; where that changes nothing, `hickory cluster seed-log` makes ' +
  'the log anew from the longest journal'
