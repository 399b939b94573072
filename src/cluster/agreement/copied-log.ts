/**
 * The journal of a machine that copies it from the writer: it takes what it is sent, asks for what it lacks, and takes
 * back what the writer does not have.
 *
 * @module
 */
import type { Link } from '../../chain/link.js'
import { type Groups, recordsOfGroups } from '../../journal/groups.js'
import { limits } from '../../limits.js'
import type { SentGroups } from './messages.js'
import type { Ports } from './ports.js'
import type { Turns } from './turns.js'

/** Whom it is copied from. */
export interface Copying {
  readonly epoch: number
  /** Undefined where nobody is known to write, or this machine does. */
  readonly writer: string | undefined
  /** Where the journal of the writer ends, as far as that is known. */
  readonly end: Link | undefined
}

export class CopiedLog {
  readonly #ports: Ports
  readonly #turns: Turns
  readonly #from: () => Copying
  #matched: number
  #waitingBytes = 0
  #isCatchingUp = false

  constructor(ports: Ports, turns: Turns, from: () => Copying) {
    this.#ports = ports
    this.#turns = turns
    this.#from = from
    this.#matched = ports.log.committed()
  }

  /** Up to here the journal is known to be that of the writer of the epoch. */
  get matched(): number {
    return this.#matched
  }

  /** Another epoch has begun: what machines agree on is in the journal of every writer. */
  begin(): void {
    this.#matched = this.#ports.log.committed()
  }

  /** Whether there is room for what was sent, which `took` gives back. */
  admits(byteCount: number): boolean {
    if (this.#waitingBytes + byteCount > limits.groupsWaitingBytes) return false
    this.#waitingBytes += byteCount
    return true
  }

  took(byteCount: number): void {
    this.#waitingBytes -= byteCount
  }

  /** Takes what the writer of the epoch has sent. In turn. */
  async take({ groups, committed }: SentGroups): Promise<void> {
    if (!this.#match(groups.previous)) return this.catchUp()
    await this.#write(groups)
    this.#commit(committed)
  }

  /** Takes in where the journal of the writer of the epoch ends, and what is committed. In turn. */
  follow(end: Link, committed: number): void {
    const { log } = this.#ports
    if (end.sequence < log.committed()) this.#ports.onLost('diverged')
    else {
      this.#match(end)
      if (this.#matched < end.sequence) this.catchUp()
      this.#commit(committed)
    }
  }

  /** Asks for what the writer has and this machine does not; if that fails, the next report begins it anew. */
  catchUp(): void {
    if (this.#isCatchingUp) return
    this.#isCatchingUp = true
    void this.#catchUp()
      .catch((fault: unknown) => this.#ports.onFault(fault))
      .finally(() => {
        this.#isCatchingUp = false
      })
  }

  async #catchUp(): Promise<void> {
    const { log } = this.#ports
    for (;;) {
      const { epoch, writer } = this.#from()
      if (writer === undefined) return
      if (await this.#copyCarried()) continue
      const before = this.#matched
      // All that is here may be right; what is matched is.
      const isThere = await this.#fetch(writer, epoch, log.end())
      if (!isThere) await this.#fetch(writer, epoch, log.linkAt(before))
      if (this.#matched <= before) return
    }
  }

  /**
   * Copies what somebody has carried, if it goes on with the journal. An earlier writer may have sent it, so that
   * nothing of it is matched before the writer has said that it has the same.
   *
   * @returns whether there may be more
   */
  async #copyCarried(): Promise<boolean> {
    const { log } = this.#ports
    const groups = await this.#ports.carried(log.end().sequence).catch(() => undefined)
    if (groups === undefined) return false
    return await this.#turns.do(async () => {
      const own = log.end()
      const { previous, bytes } = groups
      const { writer, end } = this.#from()
      if (previous.sequence !== own.sequence || previous.hash !== own.hash) return false
      if (writer === undefined || recordsOfGroups(groups) === undefined) return false
      await log.copy(bytes)
      if (end !== undefined) this.#match(end)
      return true
    })
  }

  /** @returns whether the writer has a record, and what it has behind it was taken */
  async #fetch(writer: string, epoch: number, from: Link | undefined): Promise<boolean> {
    if (from === undefined) return false
    const previous = { sequence: from.sequence, hash: from.hash }
    const question = { kind: 'fetch', previous } as const
    const { isThere, groups, goneUpTo } = await this.#ports.ask<'fetch'>(writer, question)
    return await this.#turns.do(async () => {
      const { log, onLost } = this.#ports
      if (this.#from().epoch !== epoch) return true
      if (isThere) this.#match(previous)
      if (isThere && groups !== undefined) await this.#write(groups)
      // Where the journal has the last one that is gone, nothing is missing before it.
      if (goneUpTo !== undefined && !this.#match(goneUpTo)) onLost('gone')
      if (isThere || goneUpTo !== undefined) return true
      if (previous.sequence <= log.committed()) onLost('diverged')
      return false
    })
  }

  /** Whether the journal has a record of the writer: then it is the same up to there. */
  #match({ sequence, hash }: Link): boolean {
    if (this.#ports.log.linkAt(sequence)?.hash !== hash) return false
    if (sequence > this.#matched) {
      this.#matched = sequence
      this.#ports.onChange()
    }
    return true
  }

  /** Groups that go on with what is matched. */
  async #write(groups: Groups): Promise<void> {
    const { log } = this.#ports
    const records = recordsOfGroups(groups)
    // Damaged on the way.
    if (records === undefined) return
    let knownBytes = 0
    for (const { sequence, hash, length } of records) {
      if (sequence > log.end().sequence) break
      const own = log.linkAt(sequence)
      if (own !== undefined && own.hash !== hash) {
        if (sequence <= log.committed()) return this.#ports.onLost('diverged')
        await log.cutBack(sequence - 1)
        break
      }
      knownBytes += length
    }
    if (knownBytes < groups.bytes.length) await log.copy(groups.bytes.subarray(knownBytes))
    this.#match(groups.last)
  }

  #commit(sequence: number): void {
    const { log } = this.#ports
    const reached = Math.min(sequence, this.#matched)
    if (reached <= log.committed()) return
    log.commit(reached)
    this.#ports.onChange()
  }
}
