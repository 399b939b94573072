/**
 * What the entries of the journal say of the cluster: which machines there are, and which snapshot is served. It follows
 * from their order alone, so that all machines know the same as of one entry.
 *
 * @module
 */
import { limits } from '../limits.js'
import { decodeEntry, type Entry, type Member, type Retention } from './entries.js'
import type { AnnouncedSnapshot } from './snapshot-files.js'

/** The last snapshot that was announced, and counts. */
export interface Announcement extends AnnouncedSnapshot {
  /** The machine that has made it. */
  readonly by: string
  /** Of the entry. */
  readonly sequence: number
}

/** Plain data, kept beside the journal: what is behind `sequence` is read from that. */
export interface KnownFacts {
  readonly sequence: number
  readonly members: readonly Member[]
  /** Those that have left a while ago, and may still take themselves for level. */
  readonly leaving: readonly Member[]
  readonly announced?: Announcement | undefined
  readonly switchedId?: string | undefined
  readonly retention?: Retention | undefined
}

export const NO_FACTS: KnownFacts = { sequence: 0, members: [], leaving: [] }

interface Leaving {
  readonly member: Member
  readonly untilMs: number
}

export class Facts {
  readonly #nowMs: () => number
  readonly #members: Map<string, Member>
  #leaving: Leaving[]
  #sequence: number
  readonly #announcements: Announcement[]
  #switchedId: string | undefined
  #retention: Retention | undefined

  /** @param nowMs  a clock that goes on while the process is stopped */
  constructor(known: KnownFacts, nowMs: () => number) {
    this.#nowMs = nowMs
    this.#members = new Map(known.members.map((member) => [member.name, member]))
    this.#sequence = known.sequence
    this.#announcements = known.announced === undefined ? [] : [known.announced]
    this.#switchedId = known.switchedId
    this.#retention = known.retention
    // How long ago they left, a process that has just started cannot know.
    this.#leaving = known.leaving.map((member) => this.#leavingNow(member))
  }

  /** Of the last entry that was noted, or batch that was passed. */
  get sequence(): number {
    return this.#sequence
  }

  /** By name. */
  get members(): readonly Member[] {
    return [...this.#members.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Also those that have left, as long as they may take themselves for level. */
  get levelMembers(): readonly Member[] {
    const nowMs = this.#nowMs()
    this.#leaving = this.#leaving.filter(
      ({ member, untilMs }) => untilMs > nowMs && !this.#isMember(member),
    )
    return [...this.members, ...this.#leaving.map(({ member }) => member)]
  }

  get announced(): Announcement | undefined {
    return this.#announcements.at(-1)
  }

  /** The last one before this process began, and the last ones that counted since, the newest last. */
  get announcements(): readonly Announcement[] {
    return this.#announcements
  }

  /** The id of the snapshot that is to be served. */
  get switchedId(): string | undefined {
    return this.#switchedId
  }

  /** Whether a snapshot is announced to which the machines have not switched yet. */
  get isSwitching(): boolean {
    return this.announced?.id !== this.#switchedId
  }

  /** What need not stay since then; undefined where no machine has said so. */
  get retention(): Retention | undefined {
    return this.#retention
  }

  /** The batches up to here say nothing of it. */
  pass(sequence: number): void {
    this.#sequence = sequence
  }

  /** The entry behind what was noted. One that this version does not know is for the store to refuse. */
  note(sequence: number, content: Uint8Array): void {
    this.#sequence = sequence
    const entry = decodeEntry(content)
    if (entry !== undefined) this.#take(entry, sequence)
  }

  known(): KnownFacts {
    const { announced } = this
    const leaving = this.levelMembers.filter((member) => !this.#isMember(member))
    return {
      sequence: this.#sequence,
      members: this.members,
      leaving,
      ...(announced !== undefined && { announced }),
      ...(this.#switchedId !== undefined && { switchedId: this.#switchedId }),
      ...(this.#retention !== undefined && { retention: this.#retention }),
    }
  }

  #take(entry: Entry, sequence: number): void {
    switch (entry.kind) {
      case 'joined': {
        const { name, incarnation, maxLagMs } = entry
        const isRoom = this.#members.has(name) || this.#members.size < limits.clusterMemberCount
        if (!isRoom) return
        const before = this.#members.get(name)
        // Another machine with its name: the one before may be cut off, and take itself for level.
        if (before !== undefined && before.incarnation !== incarnation) {
          this.#leaving.push(this.#leavingNow(before))
        }
        this.#members.set(name, { name, incarnation, maxLagMs })
        return
      }
      case 'left': {
        const member = this.#members.get(entry.name)
        if (member === undefined) return
        this.#members.delete(entry.name)
        this.#leaving.push(this.#leavingNow(member))
        return
      }
      case 'snapshot': {
        const { id, base, by, documents } = entry
        if (base !== this.announced?.id) return
        this.#announcements.push({ id, by, documents, sequence })
        if (this.#announcements.length > limits.announcementsKnownCount) this.#announcements.shift()
        return
      }
      case 'switch': {
        const { id, importCount, unneededSequence } = entry
        if (id !== this.announced?.id) return
        this.#switchedId = id
        this.#retention = { importCount, unneededSequence }
        return
      }
      default:
        return
    }
  }

  #isMember({ name, incarnation }: Member): boolean {
    return this.#members.get(name)?.incarnation === incarnation
  }

  #leavingNow(member: Member): Leaving {
    return { member, untilMs: this.#nowMs() + limits.clockSpeedRatio * member.maxLagMs }
  }
}
