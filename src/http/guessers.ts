/**
 * Addresses that have sent wrong keys. Each may send some at once, and then one in a while.
 *
 * @module
 */
import { limits } from '../limits.js'

export class Guessers {
  /** When the next wrong key of an address would be due, if all came evenly; the oldest address first. */
  readonly #dueMs = new Map<string, number>()

  /** How long an address must wait before a wrong key of it is looked at again; 0 is not at all. */
  waitMs(address: string, nowMs: number): number {
    const dueMs = this.#dueMs.get(networkOf(address))
    if (dueMs === undefined) return 0
    return Math.min(Math.max(0, dueMs - nowMs - TOLERANCE_MS), limits.keyGuessMs)
  }

  note(address: string, nowMs: number): void {
    const network = networkOf(address)
    const dueMs = Math.max(this.#dueMs.get(network) ?? 0, nowMs) + limits.keyGuessMs
    // Put behind the others.
    this.#dueMs.delete(network)
    if (this.#dueMs.size === limits.keyGuesserCount) {
      for (const oldest of this.#dueMs.keys()) {
        this.#dueMs.delete(oldest)
        break
      }
    }
    this.#dueMs.set(network, dueMs)
  }
}

const TOLERANCE_MS = (limits.keyGuessCount - 1) * limits.keyGuessMs

/** Whoever has one address of IPv6 has all of its first half. */
function networkOf(address: string): string {
  const isIpv6 = address.includes(':') && !/^(0000:){5}ffff:/i.test(address)
  return isIpv6 ? address.slice(0, FIRST_HALF) : address
}

/** As the HTTP library writes it: four groups of four digits. */
const FIRST_HALF = 19
