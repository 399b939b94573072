/**
 * The journal of a machine, as the agreement sees it. The thread of changes writes it; this reads what is written, whether
 * or not it is committed.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import type { Link } from '../chain/link.js'
import { OperatorError } from '../errors.js'
import { prepareEntry } from '../journal/batch.js'
import { hasOldFiles } from '../journal/cut.js'
import { type Groups, groupsBehind } from '../journal/groups.js'
import { JournalReader } from '../journal/reader.js'
import { ENTRY_SOURCE, type JournalRecord } from '../journal/record.js'
import { limits } from '../limits.js'
import type { JournalNews, JournalOrder } from '../live/cluster-messages.js'
import { Questions } from '../questions.js'
import type { LogEnd, Member } from './agreement/messages.js'
import type { Log } from './agreement/ports.js'
import { decodeEntry, type Entry, encodeEntry } from './entries.js'
import { LinkCache } from './link-cache.js'
import type { Retention } from './retention.js'
import type { AnnouncedSnapshot } from './snapshot-files.js'
import type { LogTail } from './state-file.js'

interface LogOptions {
  /** Of the journal. */
  readonly directory: string
  /** To the thread of changes. */
  readonly port: MessagePort
  /** What is known of the journal up to a sequence. */
  readonly tail: LogTail
  readonly name: string
}

/** An entry on which it depends who writes, whose disks count, or what is served. */
interface Noted {
  readonly sequence: number
  readonly epoch?: number
  readonly members?: readonly Member[]
  readonly snapshot?: AnnouncedSnapshot
  readonly switchedId?: string
  readonly retention?: Retention
}

export class ClusterLog implements Log {
  readonly #options: LogOptions
  readonly #links: LinkCache
  readonly #questions = new Questions<string | undefined>()
  /** The sequences of entries that are being written, by id. */
  readonly #entered = new Map<string, number | undefined>()
  #reader: JournalReader
  #end: LogEnd
  #committed: number
  /** Behind the tail, in order. */
  #noted: Noted[]
  #isCuttingBack = false

  /** @throws JournalDamaged */
  constructor(options: LogOptions) {
    const { directory, tail, port } = options
    this.#options = options
    this.#reader = new JournalReader(directory, 'written')
    this.#links = new LinkCache(() => this.#reader, limits.clusterLinksCount)
    this.#committed = committedIn(directory)
    this.#noted = notedIn(tail)
    const { epoch = 0 } = this.#noted.findLast((one) => one.epoch !== undefined) ?? {}
    const start = Math.max(tail.sequence, this.beginning().sequence)
    this.#end = { ...(this.#links.at(start) ?? this.beginning()), epoch }
    this.refresh()
    port.on('message', (news: JournalNews) => {
      if (news.kind === 'done') this.#questions.settle(news.number, news.fault)
    })
  }

  end(): LogEnd {
    return this.#end
  }

  committed(): number {
    return this.#committed
  }

  members(): readonly Member[] {
    return this.#noted.findLast(({ members }) => members !== undefined)?.members ?? []
  }

  membersSequence(): number {
    return this.#noted.findLast(({ members }) => members !== undefined)?.sequence ?? 0
  }

  /** Of the last entry that began an epoch, committed or not; 0 where there is none. */
  epochSequence(): number {
    return this.#noted.findLast(({ epoch }) => epoch !== undefined)?.sequence ?? 0
  }

  /** The last snapshot that was announced, committed or not. */
  announced(): AnnouncedSnapshot | undefined {
    return this.#noted.findLast(({ snapshot }) => snapshot !== undefined)?.snapshot
  }

  /** The last one of which the announcement is committed. */
  committedSnapshot(): AnnouncedSnapshot | undefined {
    return this.#lastNoted('snapshot')?.snapshot
  }

  /** The id of the snapshot that is to be served, committed. */
  switchedId(): string | undefined {
    return this.#lastNoted('switchedId')?.switchedId
  }

  /** What need not stay since then; undefined where nobody has said so. */
  retention(): Retention | undefined {
    return this.#lastNoted('switchedId')?.retention
  }

  /** The id of the snapshot that is to be served as of an entry, committed or not. */
  switchedIdAt(sequence: number): string | undefined {
    return this.#noted.findLast((one) => one.switchedId !== undefined && one.sequence <= sequence)
      ?.switchedId
  }

  beginning(): Link {
    const { sequence, hash } = this.#reader.head().first.after
    return { sequence, hash }
  }

  linkAt(sequence: number): Link | undefined {
    if (sequence > this.#end.sequence) return undefined
    return sequence === this.#end.sequence ? this.#end : this.#links.at(sequence)
  }

  behind(sequence: number): Groups | undefined {
    if (sequence >= this.#end.sequence) return undefined
    return groupsBehind(this.#reader, sequence, limits.groupsSentBytes)
  }

  async copy(groups: Buffer): Promise<void> {
    await this.#do((number) => ({ kind: 'copy', number, groups }))
  }

  async cutBack(sequence: number): Promise<void> {
    this.#isCuttingBack = true
    try {
      await this.#carriedOut((number) => ({ kind: 'cutBack', number, sequence }))
    } finally {
      this.#isCuttingBack = false
      // What it has read may be gone.
      this.#reader.close()
      this.#reader = new JournalReader(this.#options.directory, 'written')
      this.#links.forgetBehind(sequence)
      this.#noted = this.#noted.filter((noted) => noted.sequence <= sequence)
      const { epoch = 0 } = this.#noted.findLast((noted) => noted.epoch !== undefined) ?? {}
      const link = this.#links.at(sequence)
      if (link !== undefined && this.#end.sequence > sequence) this.#end = { ...link, epoch }
      this.refresh()
    }
  }

  /** Whether there are files of which all records are at or below a sequence. */
  hasOldFiles(sequence: number): boolean {
    return hasOldFiles(this.#options.directory, sequence)
  }

  /**
   * Removes the files of which all records are at or below a sequence. What these say of epochs, members and snapshots
   * must be kept elsewhere by then (`tail`).
   */
  async removeUpTo(sequence: number): Promise<void> {
    await this.#do((number) => ({ kind: 'remove', number, upTo: sequence }))
  }

  commit(sequence: number): void {
    this.#committed = sequence
    this.#send({ kind: 'commit', sequence })
  }

  async begin(epoch: number): Promise<number> {
    const { name } = this.#options
    const entry = prepareEntry(
      `epoch ${epoch} ${name}`,
      encodeEntry({ kind: 'epoch', epoch, name }),
    )
    await this.#do((number) => ({ kind: 'begin', number, entry }))
    return this.#end.sequence
  }

  async stop(): Promise<void> {
    await this.#do((number) => ({ kind: 'stop', number }))
  }

  goOn(): void {
    this.#send({ kind: 'goOn' })
  }

  async nameMembers(members: readonly Member[]): Promise<void> {
    await this.enter({ kind: 'members', members })
  }

  /**
   * Writes an entry of the cluster itself.
   *
   * @returns its sequence; undefined where it was taken back at once
   */
  async enter(entry: Entry): Promise<number | undefined> {
    const id = randomUUID()
    const prepared = prepareEntry(id, encodeEntry(entry))
    this.#entered.set(id, undefined)
    try {
      await this.#do((number) => ({ kind: 'enter', number, entry: prepared }))
      return this.#entered.get(id)
    } finally {
      this.#entered.delete(id)
    }
  }

  /** Takes in what was written by now. */
  refresh(): void {
    // What it knows may be gone already; whoever cuts it back refreshes it.
    if (this.#isCuttingBack) return
    for (const record of this.#reader.records(this.#end.sequence)) this.#note(record)
  }

  /** Of the last entry that says whose disks count, committed. */
  committedMembersSequence(): number {
    return this.#lastNoted('members')?.sequence ?? 0
  }

  /** What is known up to what is committed, to be kept. */
  tail(): LogTail {
    const sequence = this.#committed
    const epochs = this.#noted.flatMap(({ sequence: at, epoch }) =>
      epoch === undefined || at > sequence ? [] : [{ sequence: at, epoch }],
    )
    const { members = [] } = this.#lastNoted('members') ?? {}
    const snapshot = this.committedSnapshot()
    const { switchedId, retention } = this.#lastNoted('switchedId') ?? {}
    return {
      sequence,
      epochs: epochs.slice(-limits.epochsKeptCount),
      members: [...members],
      membersSequence: this.committedMembersSequence(),
      ...(snapshot !== undefined && {
        snapshot: { id: snapshot.id, documents: [...snapshot.documents] },
      }),
      ...(switchedId !== undefined && { switchedId }),
      ...(retention !== undefined && { retention }),
    }
  }

  close(): void {
    this.#reader.close()
  }

  /** The last committed entry that says something. */
  #lastNoted(member: Exclude<keyof Noted, 'sequence'>): Noted | undefined {
    return this.#noted.findLast(
      (one) => one[member] !== undefined && one.sequence <= this.#committed,
    )
  }

  #note({ sequence, hash, sourceId, batchId, content }: JournalRecord): void {
    if (this.#entered.has(batchId)) this.#entered.set(batchId, sequence)
    let { epoch } = this.#end
    if (sourceId === ENTRY_SOURCE) {
      const entry = decodeEntry(content)
      if (entry?.kind === 'epoch') {
        epoch = entry.epoch
        this.#noted.push({ sequence, epoch })
      } else if (entry?.kind === 'members') this.#noted.push({ sequence, members: entry.members })
      else if (entry?.kind === 'snapshot') this.#noted.push({ sequence, snapshot: entry })
      else if (entry?.kind === 'switch') {
        const { id: switchedId, importCount, unneededSequence } = entry
        this.#noted.push({ sequence, switchedId, retention: { importCount, unneededSequence } })
      }
    }
    if (this.#noted.length > 2 * limits.epochsKeptCount) this.#noted = this.#needed()
    this.#links.add({ sequence, hash })
    this.#end = { sequence, hash, epoch }
  }

  /** The last epochs, of all else that is committed the last, and all that is not. */
  #needed(): Noted[] {
    const tail = notedIn(this.tail())
    return [...tail, ...this.#noted.filter(({ sequence }) => sequence > this.#committed)]
  }

  /** Takes in what has come of it, too. */
  async #do(order: (number: number) => JournalOrder): Promise<void> {
    await this.#carriedOut(order)
    this.refresh()
  }

  async #carriedOut(order: (number: number) => JournalOrder): Promise<void> {
    const fault = await this.#questions.ask((number) => this.#send(order(number)))
    if (fault !== undefined) {
      throw new OperatorError('Failed', `the journal could not be written: ${fault}`)
    }
  }

  #send(order: JournalOrder): void {
    this.#options.port.postMessage(order)
  }
}

function notedIn({ epochs, members, membersSequence, ...tail }: LogTail): Noted[] {
  const { snapshot, switchedId, retention } = tail
  const known: Noted = {
    sequence: membersSequence,
    members,
    ...(snapshot !== undefined && { snapshot }),
    ...(switchedId !== undefined && { switchedId }),
    ...(retention !== undefined && { retention }),
  }
  return [known, ...epochs].sort((left, right) => left.sequence - right.sequence)
}

function committedIn(directory: string): number {
  const reader = new JournalReader(directory)
  try {
    return reader.head().sequence
  } finally {
    reader.close()
  }
}
