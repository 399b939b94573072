/**
 * How a machine tries to become the writer: it asks the members for their promises.
 *
 * @module
 */
import { majorityOf } from './majority.js'
import type { Answers, CampaignReason, Done, Member } from './messages.js'
import type { AgreementOptions, Ports } from './ports.js'

interface Asked {
  readonly epoch: number
  readonly reason: CampaignReason
  readonly isDry: boolean
  /** Whether fewer promises than those of most members are enough. */
  readonly mayLose: boolean
}

/** Why a machine does not write. */
export interface Refused {
  readonly reason: string
  /** The highest one that anybody has heard of. */
  readonly epoch: number
}

export class Campaign {
  readonly #me: Member
  readonly #ports: Ports
  readonly #acks: AgreementOptions['acks']
  readonly #members: () => readonly Member[]
  #isRunning = false
  #dueMs: number | undefined

  constructor(
    me: Member,
    ports: Ports,
    acks: AgreementOptions['acks'],
    members: () => readonly Member[],
  ) {
    this.#me = me
    this.#ports = ports
    this.#acks = acks
    this.#members = members
  }

  /**
   * Whether it is time for the next one. Machines wait for different times, so that mostly one is first; those longer
   * that lack something.
   */
  isDue(nowMs: number, silenceMs: number, furtherCount: number): boolean {
    if (this.#isRunning) return false
    this.#dueMs ??= nowMs + silenceMs * (0.3 * this.#ports.random() + 0.3 * furtherCount)
    if (nowMs < this.#dueMs) return false
    this.#dueMs = undefined
    return true
  }

  /** One at a time. */
  async run(work: (campaign: Campaign) => Promise<Done>): Promise<Done> {
    if (this.#isRunning) return { isDone: false, reason: 'it is tried already' }
    this.#isRunning = true
    try {
      return await work(this)
    } finally {
      this.#isRunning = false
      this.#dueMs = undefined
    }
  }

  /** @returns why there are not enough promises; undefined where there are */
  async ask({ epoch, reason, isDry, mayLose }: Asked): Promise<Refused | undefined> {
    const members = this.#members()
    const candidate = this.#me.name
    const end = this.#ports.log.end()
    const others = members.filter(({ name }) => name !== candidate)
    // Where one disk is enough, only all members together have all that was acknowledged.
    const neededCount = this.#acks === 'one' ? members.length : majorityOf(members.length)
    const answers: (Answers['promise'] | undefined)[] = []
    const forCount = () => 1 + answers.filter((answer) => answer?.isPromised).length
    // Where something may be lost, it is enough that nobody who answers is against it.
    const isEnough = () =>
      mayLose
        ? answers.every((answer) => answer === undefined || answer.isPromised)
        : forCount() >= neededCount
    await new Promise<void>((resolve) => {
      const take = (answer: Answers['promise'] | undefined) => {
        answers.push(answer)
        if (answers.length === others.length || (isEnough() && !mayLose)) resolve()
      }
      if (others.length === 0) resolve()
      for (const { name } of others) {
        const question = { kind: 'promise', candidate, epoch, end, reason, isDry } as const
        this.#ports.ask<'promise'>(name, question).then(take, () => take(undefined))
      }
    })
    const highest = Math.max(0, ...answers.map((answer) => answer?.epoch ?? 0))
    if (isEnough() && (isDry || highest <= epoch)) return undefined
    const heardCount = answers.filter((answer) => answer !== undefined).length
    return {
      reason:
        `${forCount()} of ${members.length} members are for it, and ${neededCount} are needed; ` +
        `${heardCount} of ${others.length} others answer`,
      epoch: highest,
    }
  }
}

/**
 * Why a machine that was elected does not write. Promises are enough, unless one disk is: then the lease is all that tells
 * the writer before.
 */
export function leaseFault(
  lease: { readonly isTaken: boolean } | undefined,
  acks: AgreementOptions['acks'],
): string | undefined {
  if (lease?.isTaken === false) return 'another machine holds the lease'
  return lease === undefined && acks === 'one' ? 'NATS does not answer for the lease' : undefined
}
