/**
 * A machine of a cluster, in its thread: keeps the journal what the log says, tells the others of itself, and answers their
 * questions.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { prepareEntry, type SentBatch, sentBatch } from '../journal/batch.js'
import { JournalDamaged, type LogContradicted } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'
import { placementOn } from '../snapshot/placement.js'
import { AudienceDesk } from './audience-desk.js'
import { type Entry, encodeEntry, identityOf, type Member, nameIn } from './entries.js'
import type { KnownFacts } from './facts.js'
import { writeFigures } from './figures.js'
import { ClusterJournal } from './journal.js'
import { Beats } from './log/beats.js'
import type { LogInfo } from './log/log.js'
import { copiedFrom, LogKeeper } from './log-keeper.js'
import type {
  ClusterSettings,
  ClusterStatus,
  Entered,
  Everywhere,
  ServedSnapshots,
  WantedSnapshots,
} from './messages.js'
import type { ClusterNats } from './nats/cluster-nats.js'
import type { StreamLog } from './nats/stream-log.js'
import { provenLog, type SyncGuard } from './nats/sync-proof.js'
import { type AskDigests, NodeAnswering } from './node-answering.js'
import type { AskNode, NodeAnswers, NodeQuestion } from './questions.js'
import { type KnownReport, type NodeReport, NodeReports, OwnReports } from './reports.js'
import { reasonOf, SharedFiles } from './shared-files.js'
import { SnapshotDesk } from './snapshot-desk.js'
import { SnapshotFiles } from './snapshot-files.js'
import { levelMembersFor, Standing } from './standing.js'
import { type BeginsAnew, type ClusterState, FactsKeeper, isDirectoryOf } from './state-file.js'
import { clusterStatus } from './status.js'

interface NodeOptions {
  readonly dataDirectory: string
  readonly settings: ClusterSettings
  readonly version: string
  /** Of a file of the journal. */
  readonly journalFileBytes: number
  readonly figures: Float64Array
  readonly state: ClusterState
  readonly facts: KnownFacts
  readonly nats: ClusterNats
  readonly stream: StreamLog
  /** What is appended may be lost while it doubts. */
  readonly guard: Pick<SyncGuard, 'doubt'>
  readonly log: Log
  /** As in `retaining.ts`. */
  readonly stored: () => Promise<number>
  readonly digests: AskDigests
  /** Has the service make an entry of a command. */
  readonly enter: (entry: Uint8Array) => Promise<Entered>
  readonly onWanted: (wanted: WantedSnapshots) => void
  /** The journal of this machine cannot be written, and why; undefined when it can be again. */
  readonly onFailure: (reason: string | undefined) => void
  /** The directory must be begun anew. */
  readonly onLost: (reason: BeginsAnew) => void
}

export class ClusterNode {
  readonly audiences: AudienceDesk
  readonly #options: NodeOptions
  readonly #me: Member
  readonly #journal: ClusterJournal
  readonly #beats: Beats
  readonly #keeper: LogKeeper
  readonly #standing: Standing
  readonly #own: OwnReports
  readonly #others: NodeAnswering
  readonly #reports: NodeReports
  readonly #timers: NodeJS.Timeout[]
  readonly #files: SharedFiles
  readonly #snapshots: SnapshotDesk
  readonly #facts: FactsKeeper
  #logInfo: LogInfo | undefined
  #isLost = false

  /** @throws JournalDamaged */
  constructor(options: NodeOptions) {
    const { dataDirectory, settings, state, nats, stream, guard, log } = options
    const { name, maxLagMs } = settings
    this.#options = options
    this.#me = { name, incarnation: state.incarnation, maxLagMs }
    this.#journal = new ClusterJournal({
      directory: journalDirectory(dataDirectory),
      fileBytes: options.journalFileBytes,
      known: options.facts,
      onFailure: options.onFailure,
      onWritten: () => this.#wrote(),
      onOver: (fault) => this.#journalOver(fault),
    })
    const { facts } = this.#journal
    this.#facts = new FactsKeeper({
      dataDirectory,
      facts,
      onFault: (fault) =>
        this.#noteFault(fault, 'what the journal says of the cluster cannot be kept'),
    })
    this.#reports = new NodeReports(monotonicMs)
    const identity = identityOf(this.#me)
    this.#beats = new Beats({
      name: identity,
      nowMs: monotonicMs,
      members: () => levelMembersFor(this.#me, facts),
      isMember: () => facts.members.some((member) => identityOf(member) === identity),
    })
    this.#keeper = new LogKeeper({
      log: provenLog(stream, guard),
      journal: this.#journal,
      beats: this.#beats,
      name: identity,
      copied: copiedFrom(this.#reports, this.ask),
      onFault: () => this.#standing.look(),
      onGone: () => this.#lose('gone'),
    })
    this.#standing = new Standing({
      me: this.#me,
      journal: this.#journal,
      guard,
      keeperFault: () => this.#keeper.fault,
      reports: this.#reports,
      isLogThere: () => this.#logInfo !== undefined,
      enter: (entry) => this.#enter(entry),
      onJoined: () => void this.#beat(),
      onFault: (reason) => {
        if (reason === undefined) log.info('goes on with the cluster')
        else log.warn({ reason }, 'this machine does not go on with the cluster')
        this.#own.tellSoon()
      },
    })
    const others = () => this.#reports.ofThoseThere().map(({ name }) => name)
    this.#files = new SharedFiles({ dataDirectory, nats, others, log })
    const snapshots = new SnapshotFiles({ dataDirectory, files: this.#files, log })
    this.audiences = new AudienceDesk({
      dataDirectory,
      name,
      members: () => facts.members,
      reports: this.#reports,
      files: this.#files,
      snapshots,
      onChange: () => this.#own.tellSoon(),
      log,
    })
    this.#own = new OwnReports({
      known: () => this.#known(),
      tell: (report) => nats.tell(report),
    })
    this.#snapshots = new SnapshotDesk({
      dataDirectory,
      name,
      journal: this.#journal,
      snapshots,
      placement: () => placementOn(facts.members, settings.copies),
      enter: (entry) => this.#enter(entry),
      served: () => this.#own.serving.served,
      stored: options.stored,
      keepFacts: () => this.#facts.keep(),
      reports: () => [this.#own.now(), ...this.#reports.ofThoseThere()],
      onWanted: options.onWanted,
      onOtherServed: () => this.#lose('snapshot'),
      log,
    })
    this.#others = new NodeAnswering({
      dataDirectory,
      me: this.#me,
      journal: this.#journal,
      files: this.#files,
      audiences: this.audiences,
      own: this.#own,
      snapshots: this.#snapshots,
      replaceLog: (founding, replaced) => stream.replace(founding, replaced),
      reports: this.#reports,
      stored: options.stored,
      append: (entry) => this.#enter(entry),
      enter: options.enter,
      status: () => this.status(),
      digests: options.digests,
      onDrain: () => this.#tellFigures(),
    })
    nats.hear((report) => {
      this.#standing.hear(report)
      this.#hear(report)
    })
    this.#timers = [
      setInterval(() => this.#tick(), limits.clusterTickMs),
      setInterval(() => this.#own.tell(), limits.clusterReportMs),
      setInterval(() => void this.#beat(), maxLagMs / limits.beatsInLagCount),
      setInterval(() => this.#journal.syncPosition(), limits.positionSyncMs),
      setInterval(() => void this.#facts.tryToKeep(), limits.factsKeptMs),
      setInterval(() => this.#look(), limits.snapshotPollMs),
      setInterval(() => void this.#scrub(), limits.logLookMs),
      setInterval(() => this.#clearFiles(), limits.filesClearedMs),
    ]
    void this.#scrub()
  }

  readonly ask: AskNode = async (name, question, waitMs = limits.clusterCallMs) =>
    (await this.#options.nats.calls.ask(name, question, waitMs)) as never

  async answer(question: NodeQuestion): Promise<NodeAnswers[NodeQuestion['kind']]> {
    return await this.#others.answer(question)
  }

  /**
   * Puts batches into the log, as one group.
   *
   * @returns what became of each, read back from the log; undefined where that is not known in time
   */
  async append(batches: readonly SentBatch[]): Promise<readonly BatchOutcome[] | undefined> {
    if (this.#journal.failure !== undefined || this.#standing.isApart) return undefined
    return await this.#keeper.append(batches)
  }

  /** Resolves when the journal has a batch; never of a directory that must be begun anew. */
  untilReached(sequence: number): Promise<void> {
    return this.#journal.untilReached(sequence)
  }

  /** Answers are by all entries of the store up to here. */
  storedBy(sequence: number): void {
    this.#own.serves({ storedBy: Math.max(this.#own.serving.storedBy, sequence) })
    this.#beats.storedBy(sequence)
  }

  /** Answers are by all that is up to here. */
  answersBy(sequence: number): void {
    this.#own.serves({ answersBy: sequence })
    this.#beats.answersBy(sequence)
    this.#tellFigures()
  }

  /** Another snapshot is served, or ready to be. */
  serves(served: ServedSnapshots): void {
    this.#own.serves({ served })
    this.#snapshots.look()
  }

  /** @returns whether something of a snapshot was damaged, and was fetched */
  async repair(snapshotId: string): Promise<boolean> {
    try {
      return await this.#snapshots.repair(snapshotId)
    } catch (fault) {
      this.#noteFault(fault, 'what is damaged of a snapshot cannot be fetched')
      return false
    }
  }

  /** Resolves when all level machines answer by an entry that was read, or not in time. */
  async untilEverywhere(sequence: number, waitMs: number): Promise<Everywhere> {
    const { isEverywhere, waitingFor } = await this.#beats.until(sequence, waitMs)
    return { isEverywhere, waitingFor: [...new Set(waitingFor.map(nameIn))] }
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#keeper.stop()
    this.#snapshots.stop()
    this.audiences.stop()
    await this.#facts.tryToKeep()
    await this.#journal.close()
  }

  get members(): readonly Member[] {
    return this.#journal.facts.members
  }

  status(): ClusterStatus {
    const { settings, nats } = this.#options
    const info = this.#logInfo
    return clusterStatus({
      settings,
      isConnected: nats.isUp,
      doubt: this.#standing.doubt,
      log: info && {
        generation: info.generation,
        messageCount: info.end - info.first,
        missingCount: info.missingCount,
        copyCount: info.copyCount,
        server: info.server,
      },
      isSwitching: this.#journal.facts.isSwitching,
      members: this.members,
      own: this.#own.now(),
      reports: this.#reports,
    })
  }

  #known(): KnownReport {
    const journal = this.#journal
    const { generation, logPlace: place } = journal
    return {
      name: this.#me.name,
      incarnation: this.#me.incarnation,
      version: this.#options.version,
      log: { generation, place },
      last: journal.last,
      kept: journal.kept,
      levelMs: Math.max(0, this.#levelUntilMs - monotonicMs()),
      ...this.#standing.told,
      audiences: this.audiences.files(),
    }
  }

  #tick(): void {
    this.#beats.look()
    this.#tellFigures()
    this.#facts.look()
    this.#standing.look()
    void this.#standing.join()
  }

  async #beat(): Promise<void> {
    if (!this.#standing.hasTwin) await this.#keeper.beat()
    this.#tellFigures()
  }

  /** @returns its sequence; undefined where that is not known in time */
  async #enter(entry: Entry): Promise<number | undefined> {
    const prepared = prepareEntry(randomUUID(), encodeEntry(entry))
    return (await this.append([sentBatch(prepared)]))?.[0].sequence
  }

  #tellFigures(): void {
    const { isDraining, answersBy: answeredSequence } = this.#own.serving
    const levelUntilMs = this.#levelUntilMs
    writeFigures(this.#options.figures, { levelUntilMs, isDraining, answeredSequence })
  }

  get #levelUntilMs(): number {
    return this.#standing.isApart ? 0 : Math.max(0, this.#beats.levelUntilMs)
  }

  #hear(report: NodeReport): void {
    if (report.name === this.#me.name) return
    this.#reports.note(report)
    if (report.log.generation !== this.#journal.generation) return
    this.#beats.reported(identityOf(report), report.storedBy)
  }

  #look(): void {
    const { dataDirectory, state } = this.#options
    if (!isDirectoryOf(dataDirectory, state)) this.#lose('damaged')
    this.#snapshots.look()
    this.audiences.look()
  }

  /** How the log fares, for operators. */
  async #scrub(): Promise<void> {
    this.#logInfo = await this.#options.stream.info().catch(() => undefined)
  }

  /** Those of one machine are enough. */
  #clearFiles(): void {
    const isFirst = this.#reports.ofThoseThere().every(({ name }) => this.#me.name <= name)
    if (!isFirst || !this.#options.nats.isUp) return
    void this.#files.clear(this.#journal.facts, this.audiences.awaited())
  }

  #wrote(): void {
    this.#own.tellSoon()
    this.#snapshots.look()
  }

  #journalOver(fault: JournalDamaged | LogContradicted): void {
    if (fault instanceof JournalDamaged) {
      this.#noteFault(fault, 'the journal is damaged')
      this.#lose('suspect')
      return
    }
    this.#standing.contradicted(fault)
  }

  #noteFault(fault: unknown, what: string): void {
    const reason = fault instanceof JournalDamaged ? fault.found : reasonOf(fault)
    this.#options.log.warn({ reason }, what)
  }

  /** The directory must be begun anew. Until it is, this machine takes no part. */
  #lose(reason: BeginsAnew): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#keeper.stop()
    this.#snapshots.stop()
    this.#options.onLost(reason)
  }
}
