/**
 * Renews the lease of the machine that writes.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../limits.js'
import { monotonicMs } from '../monotonic.js'
import type { WriterLease } from './nats/lease.js'

interface KeeperOptions {
  readonly lease: WriterLease
  /** In which this machine writes; undefined while it does not. */
  readonly epoch: () => number | undefined
  /** It was held at this time. */
  readonly onHeld: (atMs: number) => void
  /** Another machine has taken it. */
  readonly onTaken: (epoch: number) => void
  readonly onFault: (fault: unknown) => void
}

export class LeaseKeeper {
  readonly #options: KeeperOptions
  readonly #timer: NodeJS.Timeout
  #isUnderWay = false
  #hasFailed = false

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#renew(), limits.leaseRenewMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** @returns as the lease does; undefined where NATS does not answer soon. Never rejects */
  async take(epoch: number) {
    const taken = this.#options.lease.take(epoch).catch((fault: unknown) => {
      this.#options.onFault(fault)
      return undefined
    })
    return await Promise.race([taken, sleep(limits.leaseTakeMs, undefined, { ref: false })])
  }

  async #renew(): Promise<void> {
    const { lease, epoch, onHeld, onTaken, onFault } = this.#options
    const own = epoch()
    if (own === undefined || this.#isUnderWay) return
    this.#isUnderWay = true
    const beganMs = monotonicMs()
    try {
      const holder = await lease.renew(own)
      if (holder.epoch > own) onTaken(holder.epoch)
      else onHeld(beganMs)
      this.#hasFailed = false
    } catch (fault) {
      if (!this.#hasFailed) onFault(fault)
      this.#hasFailed = true
    } finally {
      this.#isUnderWay = false
    }
  }
}
