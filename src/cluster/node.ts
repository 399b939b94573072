/**
 * A machine of a cluster, in its thread: keeps the journal that of all machines, tells the others of itself, and answers
 * their questions.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { JournalDamaged } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import { JournalReader } from '../journal/reader.js'
import { limits } from '../limits.js'
import type { JournalNews } from '../live/cluster-messages.js'
import { changeDesk } from '../live/desk.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'
import { placementOn } from '../snapshot/placement.js'
import { Agreement } from './agreement/agreement.js'
import type { Member } from './agreement/messages.js'
import type { Ports } from './agreement/ports.js'
import { ClusterLog } from './cluster-log.js'
import { EverywhereDesk } from './everywhere.js'
import { HandedBatches } from './handed-batches.js'
import { HandingOver } from './handing-over.js'
import { Joining } from './joining.js'
import { LeaseKeeper } from './lease-keeper.js'
import type {
  ClusterOrder,
  ClusterSettings,
  ClusterStatus,
  Entered,
  Everywhere,
  ServedSnapshots,
  WantedSnapshots,
} from './messages.js'
import type { ClusterNats } from './nats/cluster-nats.js'
import { LogCarrier } from './nats/log-carrier.js'
import { type AskDigests, NodeAnswering } from './node-answering.js'
import type { NodeAudiences } from './node-audiences.js'
import { nodeFiles } from './node-files.js'
import type { NodeReport } from './node-report.js'
import { NodeReports } from './node-reports.js'
import { OwnLevel } from './own-level.js'
import { OwnReports } from './own-reports.js'
import type { AskNode, NodeAnswers, NodeQuestion } from './questions.js'
import type { SharedFiles } from './shared-files.js'
import { SnapshotDesk } from './snapshot-desk.js'
import { type BeginsAnew, type ClusterState, type Promises, readTail } from './state-file.js'
import { clusterStatus } from './status.js'
import { TailKeeper } from './tail-keeper.js'
import { untilEverywhere } from './until-everywhere.js'

interface NodeOptions {
  readonly dataDirectory: string
  readonly settings: ClusterSettings
  readonly version: string
  readonly figures: Float64Array
  readonly state: ClusterState
  readonly promises: Promises
  readonly nats: ClusterNats
  readonly log: Log
  readonly run: RunOrder
  /** As in `retaining.ts`. */
  readonly stored: () => Promise<number>
  readonly digests: AskDigests
  /** Has the service make an entry of a command. */
  readonly enter: (entry: Uint8Array) => Promise<Entered>
  readonly onWanted: (wanted: WantedSnapshots) => void
  /** The directory must be begun anew. */
  readonly onLost: (reason: BeginsAnew) => void
}

type RunOrder = Extract<ClusterOrder, { kind: 'run' }>

export class ClusterNode {
  readonly audiences: NodeAudiences
  readonly #options: NodeOptions
  readonly #me: Member
  readonly #journal: ClusterLog
  readonly #agreement: Agreement
  readonly #level: OwnLevel
  readonly #own: OwnReports
  readonly #handingOver: HandingOver
  readonly #joining: Joining
  readonly #others: NodeAnswering
  readonly #reports: NodeReports
  readonly #everywhere: EverywhereDesk
  readonly #carrier: LogCarrier
  readonly #lease: LeaseKeeper
  readonly #timers: NodeJS.Timeout[]
  readonly #files: SharedFiles
  readonly #snapshots: SnapshotDesk
  readonly #tail: TailKeeper
  #wasWriter = false
  #isLost = false

  constructor(options: NodeOptions) {
    const { dataDirectory, settings, state, nats, run, log } = options
    const { name, acks, takesOver, silenceMs, maxLagMs } = settings
    const { isFounder } = state
    const directory = journalDirectory(dataDirectory)
    this.#options = options
    this.#me = { name, incarnation: state.incarnation }
    this.#journal = new ClusterLog({
      directory,
      port: run.journal,
      tail: readTail(dataDirectory),
      name,
    })
    this.#tail = new TailKeeper({
      dataDirectory,
      tail: () => this.#journal.tail(),
      membersSequence: () => this.#journal.committedMembersSequence(),
      onFault: (fault) => this.#noteFault(fault, 'what is known of the journal cannot be kept'),
    })
    this.#reports = new NodeReports(monotonicMs)
    this.#everywhere = new EverywhereDesk({ name, nowMs: monotonicMs, levelMs: maxLagMs }, () =>
      this.#agreement.members().flatMap((member) => (member.name === name ? [] : member.name)),
    )
    this.#carrier = new LogCarrier({
      stream: nats.stream,
      reader: new JournalReader(directory),
      beginning: () => this.#journal.beginning(),
      linkAt: (sequence) => this.#journal.linkAt(sequence),
      onRepair: (lostFrom) =>
        log.warn({ lostFrom }, 'the stream had lost batches: sending them again'),
      onFault: (fault) => this.#noteFault(fault, 'the stream cannot be written'),
    })
    const { files, audiences } = nodeFiles({
      dataDirectory,
      settings,
      nats,
      ask: this.ask,
      reports: this.#reports,
      agreement: () => this.#agreement,
      isComing: (id) => this.#journal.announced()?.id === id,
      onChange: () => this.#own.tellSoon(),
      log,
    })
    this.#files = files
    this.audiences = audiences
    this.#snapshots = new SnapshotDesk({
      dataDirectory,
      journal: this.#journal,
      files: this.#files,
      isWriter: () => this.#agreement.isWriter,
      placement: () => placementOn(this.#agreement.members(), settings.copies),
      enter: async (entry) => {
        const sequence = await this.#journal.enter(entry)
        if (sequence === undefined) throw new Error('another machine has taken an entry back')
        this.#agreement.wrote()
      },
      served: () => this.#own.served,
      stored: options.stored,
      keepTail: () => this.#tail.keep(),
      reports: () => [this.#own.now(), ...this.#reports.ofThoseThere(silenceMs)],
      onWanted: options.onWanted,
      log,
    })
    const rules = { acks, takesOver, isFounder, silenceMs }
    this.#agreement = new Agreement(this.#me, rules, this.#ports())
    this.#level = new OwnLevel({
      settings,
      agreement: this.#agreement,
      journal: this.#journal,
      reports: this.#reports,
      figures: options.figures,
      isDraining: () => this.#own.isDraining,
      nowMs: monotonicMs,
    })
    this.#own = new OwnReports({
      version: options.version,
      agreement: this.#agreement,
      level: this.#level,
      reports: this.#reports,
      audiences: () => this.audiences.desk.files(),
      tell: (report) => nats.tell(report),
    })
    const known = { agreement: this.#agreement, reports: this.#reports }
    this.#joining = new Joining({ ...known, me: this.#me, ask: this.ask })
    this.#handingOver = new HandingOver({ ...known, settings, log })
    this.#lease = new LeaseKeeper({
      lease: nats.lease,
      epoch: () => (this.#agreement.isWriter ? this.#agreement.epoch : undefined),
      onHeld: (sinceMs) => this.#level.leaseHeld(sinceMs),
      onTaken: (epoch) => this.#agreement.heardOf(epoch),
      onFault: (fault) => this.#noteFault(fault, 'the lease cannot be renewed'),
    })
    this.#others = new NodeAnswering({
      dataDirectory,
      me: this.#me,
      agreement: this.#agreement,
      journal: this.#journal,
      desk: changeDesk(run.batches),
      everywhere: this.#everywhere,
      files: this.#files,
      own: this.#own,
      level: this.#level,
      handingOver: this.#handingOver,
      stored: options.stored,
      enter: options.enter,
      status: () => this.status(),
      digests: options.digests,
    })
    const handed = new HandedBatches({
      ask: this.ask,
      name,
      writer: () => this.#agreement.writer,
      append: (batch) => this.#others.append(batch),
      committed: () => this.#journal.committed(),
      isOver: () => this.#isLost,
    })
    run.journal.on('message', async (news: JournalNews) => {
      if (news.kind === 'wrote') this.#wrote()
      else if (news.kind === 'failed') await this.#handingOver.resign()
      else if (news.kind === 'hand') await handed.answer(run.journal, news)
    })
    nats.hear((report) => this.#hear(report))
    nats.receive((sent) => this.#agreement.received(sent))
    this.#timers = [
      setInterval(() => this.#tick(), limits.clusterTickMs),
      setInterval(() => this.#own.tell(), limits.clusterReportMs),
      setInterval(() => void this.#tail.tryToKeep(), limits.tailKeptMs),
      setInterval(() => this.#look(), limits.snapshotPollMs),
      setInterval(() => this.#clearFiles(), limits.filesClearedMs),
    ]
    if (isFounder && this.#journal.members().length === 0) {
      this.#agreement.campaign('silence').catch((fault) => this.#noteFault(fault, 'no beginning'))
    }
  }

  readonly ask: AskNode = async (name, question, waitMs = limits.clusterCallMs) =>
    (await this.#options.nats.calls.ask(name, question, waitMs)) as never

  /** Answers what other machines and commands ask. */
  async answer(question: NodeQuestion): Promise<NodeAnswers[NodeQuestion['kind']]> {
    return await this.#others.answer(question)
  }

  /** Answers are by all entries up to here. */
  answersBy(sequence: number): void {
    this.#own.answersBy = sequence
    this.#level.answersBy(sequence)
    this.#everywhere.answersBy(sequence)
  }

  /** Another snapshot is served, or ready to be. */
  serves(served: ServedSnapshots): void {
    this.#own.served = served
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

  /** Resolves when all level machines answer by an entry, or not in time. */
  async untilEverywhere(sequence: number, waitMs: number): Promise<Everywhere> {
    const { name } = this.#me
    const writer = () => this.#agreement.writer
    const options = { name, ask: this.ask, writer, desk: this.#everywhere }
    return await untilEverywhere(options, sequence, waitMs)
  }

  /** Lets another machine write, if this one does and there is one that can. */
  async leave(): Promise<void> {
    await this.#handingOver.leave()
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#carrier.stop()
    this.#lease.stop()
    this.#snapshots.stop()
    this.audiences.desk.stop()
    await this.#agreement.stop()
    await this.#tail.tryToKeep()
    this.#journal.close()
  }

  members(): readonly Member[] {
    return this.#agreement.members()
  }

  status(): ClusterStatus {
    const { settings, nats } = this.#options
    return clusterStatus({
      settings,
      isConnected: nats.isUp,
      agreement: this.#agreement,
      own: this.#own.now(),
      reports: this.#reports,
      carried: this.#agreement.isWriter ? this.#carrier.carried : undefined,
    })
  }

  #tick(): void {
    if (!this.#options.promises.isThere()) this.#lose('damaged')
    this.#agreement.tick()
    this.#noteRole()
    this.#everywhere.look()
    if (!this.#isLost && this.#options.nats.isUp) this.#joining.look()
    this.#level.confirm()
    this.#level.tell()
    if (!this.#isLost) this.#tail.look()
  }

  #noteRole(): void {
    const { isWriter, epoch } = this.#agreement
    if (isWriter === this.#wasWriter) return
    this.#wasWriter = isWriter
    this.#level.begin()
    if (isWriter) {
      this.#everywhere.begin()
      this.#carrier.start()
    } else {
      this.#everywhere.end()
      this.#carrier.stop()
      this.#options.run.journal.postMessage({ kind: 'handOver' })
    }
    this.#options.log.info(
      { epoch, isWriter },
      isWriter ? 'this machine writes' : 'another machine writes',
    )
  }

  #hear(report: NodeReport): void {
    const { agreement, answersBy } = report
    const { name } = agreement
    if (name === this.#me.name) return
    this.#reports.note(report)
    this.#agreement.heard(agreement)
    this.#noteRole()
    if (this.#agreement.isWriter) this.#everywhere.heard(name, answersBy)
    this.#level.heard(report)
  }

  #look(): void {
    this.#snapshots.look()
    this.audiences.desk.look()
  }

  #clearFiles(): void {
    if (this.#agreement.isWriter && this.#options.nats.isUp) void this.#files.clear()
  }

  #wrote(): void {
    try {
      this.#journal.refresh()
      this.#agreement.wrote()
    } catch (fault) {
      this.#noteFault(fault, 'the journal cannot be read')
    }
  }

  #noteFault(fault: unknown, what: string): void {
    if (fault instanceof JournalDamaged) this.#lose('suspect')
    const { code, message } = fault as NodeJS.ErrnoException
    const reason = fault instanceof JournalDamaged ? fault.found : (code ?? message)
    this.#options.log.warn({ reason }, what)
  }

  /** The directory must be begun anew. Until it is, this machine neither votes nor writes, nor copies. */
  #lose(reason: BeginsAnew): void {
    if (this.#isLost) return
    this.#isLost = true
    void this.#agreement.stop()
    this.#snapshots.stop()
    this.#options.onLost(reason)
  }

  #ports(): Ports {
    const { promises, nats } = this.#options
    return {
      log: this.#journal,
      memory: promises,
      lease: { take: (epoch) => this.#lease.take(epoch) },
      send: (sent) => nats.send(sent),
      carried: (since) => nats.carried(since),
      ask: (name, question) => this.ask(name, question as never) as never,
      nowMs: monotonicMs,
      sleep: (ms) => sleep(ms),
      random: Math.random,
      onChange: () => {
        this.#noteRole()
        this.#own.tellSoon()
        this.#carrier.poke()
        this.#snapshots.look()
      },
      onFault: (fault) => this.#noteFault(fault, 'the journal of the cluster'),
      onLost: (reason) => this.#lose(reason),
    }
  }
}
