/**
 * Keeps the journal of a machine that of all machines of its cluster: one machine writes, and the others copy. A batch
 * is committed when it is on the disks of enough of them. Nobody becomes the writer without all that is committed, and
 * whoever was the writer before can commit nothing any more.
 *
 * This is the log replication and the election of Raft (Ongaro and Ousterhout, "In Search of an Understandable Consensus
 * Algorithm", 2014), with changes of one member at a time and a vote before the vote (Ongaro, "Consensus: Bridging Theory
 * and Practice", 2014, 4.1 and 9.6). A term is an epoch here, and a leader the writer, who holds a lease beside.
 *
 * @module
 */
import type { Link } from '../../chain/link.js'
import { Campaign, leaseFault, type Refused } from './campaign.js'
import { CopiedLog, type Copying } from './copied-log.js'
import { Handover } from './handover.js'
import { HeardReports } from './heard.js'
import { committedBy } from './majority.js'
import { Membership } from './membership.js'
import {
  type Answers,
  type CampaignReason,
  DONE,
  type Done,
  isAsFar,
  type Member,
  type Question,
  type Report,
  type SentGroups,
  undone,
} from './messages.js'
import type { AgreementOptions, Ports } from './ports.js'
import { Turns } from './turns.js'

export class Agreement {
  readonly #me: Member
  readonly #options: AgreementOptions
  readonly #ports: Ports
  readonly #campaign: Campaign
  readonly #heard: HeardReports
  /** What changes the journal is done in order; what fails is asked for again. */
  readonly #turns: Turns
  readonly #copied: CopiedLog
  readonly #membership: Membership
  readonly #handover: Handover
  #epoch: number
  #isWriter = false
  /** Of the epoch; undefined where it is not known. */
  #writer: string | undefined
  /** When it was heard last. */
  #writerMs: number
  /** Of the entry that began the epoch in which this machine writes. */
  #epochStart = 0
  /** Up to here others were sent what this machine wrote. */
  #sent = 0
  #isStopped = false

  constructor(me: Member, options: AgreementOptions, ports: Ports) {
    this.#me = me
    this.#options = options
    this.#ports = ports
    this.#epoch = ports.memory.epoch
    this.#writerMs = ports.nowMs()
    this.#heard = new HeardReports(() => ports.nowMs())
    this.#turns = new Turns((fault) => ports.onFault(fault))
    this.#campaign = new Campaign(me, ports, options.acks, () => this.members())
    const writing = {
      members: () => this.members(),
      isWriter: () => this.#isWriter,
      epoch: () => this.#epoch,
      epochStart: () => this.#epochStart,
      wrote: () => this.wrote(),
      matched: (member: Member) => this.#heard.matched(member, this.#epoch),
    }
    this.#membership = new Membership(me, ports.log, writing)
    this.#handover = new Handover(me, ports, options, writing)
    this.#copied = new CopiedLog(ports, this.#turns, () => this.#copying())
  }

  get epoch(): number {
    return this.#epoch
  }

  get isWriter(): boolean {
    return this.#isWriter
  }

  /** The machine that writes, as far as this one knows. */
  get writer(): string | undefined {
    return this.#isWriter ? this.#me.name : this.#writer
  }

  /** Those whose disks count. */
  members(): readonly Member[] {
    const named = this.#ports.log.members()
    return named.length === 0 && this.#options.isFounder ? [this.#me] : named
  }

  isMember({ name, incarnation }: Member = this.#me): boolean {
    return this.members().some((one) => one.name === name && one.incarnation === incarnation)
  }

  /** What the machine tells all others. */
  report(): Report {
    const { log } = this.#ports
    const written = log.end()
    return {
      ...this.#me,
      epoch: this.#epoch,
      isWriter: this.#isWriter,
      written,
      matched: this.#isWriter ? written.sequence : this.#copied.matched,
      committed: log.committed(),
    }
  }

  /** To be called several times within `silenceMs`. */
  tick(): void {
    if (this.#isStopped) return
    // Others can only take its place when it says no more that it is there.
    if (!this.#isWriter) this.#campaignIfDue()
    else if (!this.#hearsMajority()) void this.#turns.do(() => this.#stepDown())
  }

  /** Another machine has told of itself. */
  heard(report: Report): void {
    if (report.name === this.#me.name || this.#isStopped) return
    this.#heard.note(report)
    if (this.#isWriter && report.epoch === this.#epoch) this.#advance()
    this.heardOf(report.epoch)
    if (report.isWriter) void this.#turns.do(() => this.#follow(report.name))
  }

  /** Somebody has begun an epoch. */
  heardOf(epoch: number): void {
    if (epoch > this.#epoch) void this.#turns.do(() => this.#adopt(epoch))
  }

  /** The writer has sent what it wrote. */
  received(sent: SentGroups): void {
    const byteCount = sent.groups.bytes.length
    if (this.#isStopped || sent.name === this.#me.name || sent.epoch < this.#epoch) return
    // It is asked for later.
    if (!this.#copied.admits(byteCount)) return
    const done = this.#turns.do(async () => {
      await this.#adopt(sent.epoch)
      if (sent.epoch < this.#epoch || this.#isWriter) return
      this.#hear(sent.name)
      await this.#copied.take(sent)
    })
    void done.catch(() => {}).finally(() => this.#copied.took(byteCount))
  }

  /** The journal of this machine has grown by what it wrote itself. */
  wrote(): void {
    if (!this.#isWriter || this.#isStopped) return
    this.#send()
    this.#advance()
  }

  async answer<K extends Question['kind']>(
    question: Extract<Question, { kind: K }>,
  ): Promise<Answers[K]> {
    return (await this.#answer(question)) as Answers[K]
  }

  /**
   * Tries to become the writer.
   *
   * @param mayLose  although others may have what was acknowledged and this machine lacks
   */
  async campaign(why: CampaignReason, mayLose = false): Promise<Done> {
    if (this.#isWriter) return DONE
    if (!this.isMember()) return undone(`${this.#me.name} is no member of the cluster yet`)
    return await this.#campaign.run(async (campaign) => {
      const before = await campaign.ask({
        epoch: this.#epoch + 1,
        reason: why,
        isDry: true,
        mayLose,
      })
      if (before !== undefined) return await this.#lost(before)
      const epoch = await this.#turns.do(() => this.#raise())
      const fault = await campaign.ask({ epoch, reason: why, isDry: false, mayLose })
      if (fault !== undefined) return await this.#lost(fault)
      if (this.#epoch !== epoch) return undone('another machine was faster')
      const lease = await this.#ports.lease.take(epoch)
      const reason = leaseFault(lease, this.#options.acks)
      if (reason !== undefined) return await this.#lost({ reason, epoch: lease?.epoch ?? epoch })
      return await this.#turns.do(() => this.#become(epoch))
    })
  }

  /** Nothing is done any more. Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#isWriter = false
    await this.#turns.over
  }

  async #adopt(epoch: number): Promise<void> {
    if (epoch <= this.#epoch) return
    await this.#stepDown()
    await this.#ports.memory.promise(epoch)
    this.#entered(epoch)
  }

  #entered(epoch: number): void {
    this.#epoch = epoch
    this.#writer = undefined
    this.#copied.begin()
    this.#ports.onChange()
  }

  async #stepDown(): Promise<void> {
    if (!this.#isWriter) return
    this.#isWriter = false
    this.#copied.begin()
    this.#writerMs = this.#ports.nowMs()
    await this.#ports.log.stop()
    this.#ports.onChange()
  }

  #hear(name: string): void {
    this.#writer = name
    this.#writerMs = this.#ports.nowMs()
  }

  /** Takes in what the writer last told of itself. */
  async #follow(name: string): Promise<void> {
    const report = this.#heard.of(name)
    if (report === undefined || !report.isWriter || this.#isWriter) return
    await this.#adopt(report.epoch)
    if (report.epoch < this.#epoch) return
    this.#hear(name)
    this.#copied.follow(report.written, report.committed)
  }

  #copying(): Copying {
    const isCopying = !this.#isWriter && !this.#isStopped
    const writer = isCopying ? this.#writer : undefined
    const report = writer === undefined ? undefined : this.#heard.of(writer)
    const isOfEpoch = report?.isWriter && report.epoch === this.#epoch
    return { epoch: this.#epoch, writer, end: isOfEpoch ? report.written : undefined }
  }

  #send(): void {
    const { log } = this.#ports
    for (;;) {
      const groups = log.behind(this.#sent)
      if (groups === undefined) return
      this.#ports.send({
        name: this.#me.name,
        epoch: this.#epoch,
        committed: log.committed(),
        groups,
      })
      this.#sent = groups.last.sequence
    }
  }

  #advance(): void {
    const { log } = this.#ports
    const end = log.end().sequence
    const matchedOf = (member: Member) =>
      member.name === this.#me.name ? end : this.#heard.matched(member, this.#epoch)
    const reached = this.#options.acks === 'one' ? end : committedBy(this.members().map(matchedOf))
    // What earlier writers wrote is committed with what this one writes.
    if (reached < this.#epochStart || reached <= log.committed()) return
    log.commit(reached)
    this.#ports.onChange()
  }

  #campaignIfDue(): void {
    const nowMs = this.#ports.nowMs()
    const { takesOver, silenceMs } = this.#options
    if (!takesOver || !this.isMember() || nowMs - this.#writerMs <= silenceMs) return
    if (!this.#campaign.isDue(nowMs, silenceMs, this.#furtherCount())) return
    this.campaign('silence').catch((fault) => this.#ports.onFault(fault))
  }

  #hearsMajority(): boolean {
    const { acks, silenceMs } = this.#options
    if (acks === 'one' || this.#writerMs > this.#ports.nowMs() - silenceMs) return true
    return this.#heard.isMajorityWithin(silenceMs, this.#me.name, this.members())
  }

  /** Members whose journals go further than that of this machine: they are asked to go before. */
  #furtherCount(): number {
    const end = this.#ports.log.end()
    return this.members().filter((member) => {
      const report = this.#heard.within(this.#options.silenceMs, member)
      return report !== undefined && !isAsFar(end, report.written)
    }).length
  }

  async #raise(): Promise<number> {
    const epoch = this.#epoch + 1
    await this.#ports.memory.promise(epoch)
    this.#entered(epoch)
    return epoch
  }

  async #become(epoch: number): Promise<Done> {
    if (this.#epoch !== epoch || this.#isStopped) return undone('another machine was faster')
    const { log } = this.#ports
    this.#epochStart = await log.begin(epoch)
    this.#sent = this.#epochStart - 1
    this.#writerMs = this.#ports.nowMs()
    this.#isWriter = true
    if (log.members().length === 0) await log.nameMembers(this.members())
    this.wrote()
    this.#ports.onChange()
    return DONE
  }

  async #lost({ reason, epoch }: Refused): Promise<Done> {
    await this.#turns.do(() => this.#adopt(epoch))
    return undone(reason)
  }

  #answer(question: Question): Promise<Answers[Question['kind']]> | Answers[Question['kind']] {
    switch (question.kind) {
      case 'promise':
        return this.#promise(question)
      case 'fetch':
        return this.#fetch(question.previous)
      case 'takeOver':
        return this.campaign('handover')
      case 'join':
        return this.#turns.do(() => this.#membership.join(question.member))
      case 'handOver':
        return this.#handover.to(question.to)
      case 'promote':
        return this.campaign('silence', question.mayLose)
      case 'remove':
        return this.#turns.do(() => this.#membership.remove(question.name))
    }
  }

  async #promise(question: Extract<Question, { kind: 'promise' }>): Promise<Answers['promise']> {
    const { epoch, isDry } = question
    const { log } = this.#ports
    const isPromised = await this.#turns.do(async () => {
      if (!this.#wouldPromise(question)) return false
      if (isDry) return true
      await this.#stepDown()
      // What it wrote until then may be more than the other one has.
      if (!isAsFar(question.end, log.end())) return false
      await this.#ports.memory.promise(epoch)
      this.#entered(epoch)
      // The other one has time to begin.
      this.#writerMs = this.#ports.nowMs()
      return true
    })
    return { isPromised, epoch: this.#epoch, end: log.end() }
  }

  #wouldPromise({ epoch, end, reason }: Extract<Question, { kind: 'promise' }>): boolean {
    if (this.#isStopped || epoch <= this.#epoch || !this.isMember()) return false
    if (!isAsFar(end, this.#ports.log.end())) return false
    if (reason === 'handover') return true
    if (this.#isWriter) return !this.#hearsMajority()
    const silentMs = this.#ports.nowMs() - this.#writerMs
    return this.#writer === undefined || silentMs > this.#options.silenceMs
  }

  #fetch({ sequence, hash }: Link): Answers['fetch'] {
    const { log } = this.#ports
    const beginning = log.beginning()
    if (sequence < beginning.sequence) return { isThere: false, goneUpTo: beginning }
    if (log.linkAt(sequence)?.hash !== hash) return { isThere: false }
    const groups = log.behind(sequence)
    return { isThere: true, ...(groups !== undefined && { groups }) }
  }
}
