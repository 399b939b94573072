/**
 * Lets another machine become the writer when it has all that this one wrote, so that nobody waits for an election.
 *
 * @module
 */
import { DONE, type Done, type Member, undone } from './messages.js'
import type { AgreementOptions, Ports } from './ports.js'

interface Writing {
  readonly members: () => readonly Member[]
  readonly isWriter: () => boolean
  readonly epoch: () => number
  /** The journal may have grown. */
  readonly wrote: () => void
  /** Up to where the journal of a member is that of the writer. */
  readonly matched: (member: Member) => number
}

export class Handover {
  readonly #me: Member
  readonly #ports: Ports
  readonly #options: AgreementOptions
  readonly #writing: Writing
  /** The epoch in which it is under way. */
  #underWay: number | undefined

  constructor(me: Member, ports: Ports, options: AgreementOptions, writing: Writing) {
    this.#me = me
    this.#ports = ports
    this.#options = options
    this.#writing = writing
  }

  async to(name: string): Promise<Done> {
    const { isWriter, epoch: epochNow, wrote } = this.#writing
    const epoch = epochNow()
    if (!isWriter()) return undone(`${this.#me.name} is not the writer`)
    if (name === this.#me.name) return DONE
    if (this.#underWay === epoch) return undone('the writer hands over already')
    const { log } = this.#ports
    this.#underWay = epoch
    try {
      await log.stop()
      wrote()
      if (!(await this.#untilMatched(name))) return undone(`${name} does not have all changes`)
      return await this.#ports.ask<'takeOver'>(name, { kind: 'takeOver' })
    } catch {
      return undone(`${name} does not answer`)
    } finally {
      if (this.#underWay === epoch) this.#underWay = undefined
      if (isWriter() && epochNow() === epoch) log.goOn()
    }
  }

  async #untilMatched(name: string): Promise<boolean> {
    const { log, nowMs, sleep } = this.#ports
    const { members, isWriter, matched } = this.#writing
    const untilMs = nowMs() + this.#options.silenceMs / 2
    while (isWriter()) {
      const member = members().find((one) => one.name === name)
      if (member !== undefined && matched(member) === log.end().sequence) return true
      if (nowMs() > untilMs) return false
      await sleep(MATCH_POLL_MS)
    }
    return false
  }
}

const MATCH_POLL_MS = 10
