/**
 * Whose disks count: one member comes or goes at a time, and the next one when that is committed.
 *
 * @module
 */
import { DONE, type Done, type Member, undone } from './messages.js'
import type { Log } from './ports.js'

interface Writing {
  readonly members: () => readonly Member[]
  readonly isWriter: () => boolean
  /** Of the entry that began the epoch. */
  readonly epochStart: () => number
  /** The journal has grown. */
  readonly wrote: () => void
}

/** Calls take turns with all else that changes the journal. */
export class Membership {
  readonly #me: Member
  readonly #log: Log
  readonly #writing: Writing

  constructor(me: Member, log: Log, writing: Writing) {
    this.#me = me
    this.#log = log
    this.#writing = writing
  }

  async join(member: Member): Promise<Done> {
    const { members } = this.#writing
    const isNamed = () =>
      members().some(
        ({ name, incarnation }) => name === member.name && incarnation === member.incarnation,
      )
    const fault = this.#hindrance()
    if (fault !== undefined || isNamed()) return fault ?? DONE
    const before = members()
    const others = before.filter(({ name }) => name !== member.name)
    // First without the one that it was: it had promised what this one does not know.
    await this.#name(others.length < before.length ? others : [...before, member])
    return isNamed() ? DONE : undone('the machine that it was is removed first')
  }

  async remove(name: string): Promise<Done> {
    const fault = this.#hindrance()
    if (fault !== undefined) return fault
    if (name === this.#me.name) return undone(`${name} writes: let another machine write first`)
    const before = this.#writing.members()
    const others = before.filter((member) => member.name !== name)
    if (others.length < before.length) await this.#name(others)
    return DONE
  }

  #hindrance(): Done | undefined {
    const { isWriter, epochStart } = this.#writing
    if (!isWriter()) return undone('another machine is the writer')
    if (Math.max(this.#log.membersSequence(), epochStart()) <= this.#log.committed())
      return undefined
    return undone('another change of members is under way')
  }

  async #name(members: readonly Member[]): Promise<void> {
    await this.#log.nameMembers(members)
    this.#writing.wrote()
  }
}
