/**
 * Back-pressure of one answer. While the socket has no room, the writer waits, and its reader is watched: a client that
 * reads too slowly is cut off.
 *
 * Counting begins with the first back-pressure. The buffers between the client and us are then full, so bytes leave them
 * as fast as the client reads.
 *
 * @module
 */
import type { EngineResponse } from '../engine/engine.js'
import { TOO_SLOW } from '../observe.js'

export interface ReaderRules {
  /** A reader that leaves no room for so long is cut off. Its rate counts only after that time. */
  readonly stallMs: number
  /** The rate at which a reader must take bytes, over all the time under back-pressure. */
  readonly bytesPerSecond: number
}

interface Connection {
  readonly native: Pick<EngineResponse, 'pause' | 'resume'>
  readonly readerRules: ReaderRules
  /** Called when the reader takes too long. */
  cutOff(reason?: string): void
}

export class BackPressure {
  readonly #connection: Connection
  #waiting: Room | undefined
  #watch: ReaderWatch | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get isOn(): boolean {
    return this.#waiting !== undefined
  }

  /** Resolves when there is room, or will never be. */
  get over(): Promise<void> {
    return this.#waiting?.promise ?? Promise.resolve()
  }

  /**
   * There is no room, or again none for all that waits.
   *
   * @param takenBytes  of the whole answer so far
   */
  waits(takenBytes: number): void {
    this.#waiting ??= new Room()
    this.#watch ??= new ReaderWatch(this.#connection.readerRules, {
      waitAnew: () => waitAnew(this.#connection.native),
      cutOff: () => this.#connection.cutOff(TOO_SLOW),
    })
    this.#watch.goesOn()
    this.#watch.waits(takenBytes)
  }

  /** There is room. */
  resume(): void {
    this.#watch?.goesOn()
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  /** The answer is over. */
  end(): void {
    this.#watch?.end()
    this.resume()
  }
}

/** A promise of room for more (Promise.withResolvers, which Node.js 20 lacks). */
export class Room {
  readonly promise: Promise<void>
  resolve!: () => void

  constructor() {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve
    })
  }
}

/**
 * How much longer to wait for a reader.
 *
 * @param waitedMs  the time under back-pressure so far
 * @param takenBytes  the bytes that it took since the first back-pressure
 */
function patienceMs(rules: ReaderRules, waitedMs: number, takenBytes: number): number {
  const { stallMs, bytesPerSecond } = rules
  const earnedMs = Math.max(stallMs, (takenBytes / bytesPerSecond) * 1_000)
  return Math.min(stallMs, earnedMs - waitedMs)
}

/** The actions on a reader under back-pressure. */
interface WatchedReader {
  /** Called every few seconds, so that the HTTP library does not decide by itself. */
  waitAnew(): void
  /** Called once at most. */
  cutOff(): void
}

/**
 * Makes uWebSockets.js wait anew for a client that takes nothing; otherwise it closes the connection after
 * 10 seconds. `pause` alone would do the same, but would hide that the client leaves.
 */
export function waitAnew(response: Pick<EngineResponse, 'pause' | 'resume'>): void {
  response.pause()
  response.resume()
}

/** Less than half of what the library waits. */
const WAIT_ANEW_MS = 4_000

export class ReaderWatch {
  readonly #rules: ReaderRules
  readonly #reader: WatchedReader
  #timer: NodeJS.Timeout | undefined
  /** Undefined while there is room. */
  #waitingSinceMs: number | undefined
  #waitedMs = 0
  #uncountedBytes: number | undefined
  #dueMs = 0

  constructor(rules: ReaderRules, reader: WatchedReader) {
    this.#rules = rules
    this.#reader = reader
  }

  /**
   * Back-pressure begins: there is no room for more.
   *
   * @param takenBytes  of the whole answer so far
   */
  waits(takenBytes: number): void {
    this.#uncountedBytes ??= takenBytes
    const nowMs = performance.now()
    this.#waitingSinceMs = nowMs
    const countedBytes = takenBytes - this.#uncountedBytes
    this.#dueMs = nowMs + patienceMs(this.#rules, this.#waitedMs, countedBytes)
    // It is never before an earlier one, so a timer that runs does for it too.
    if (this.#timer === undefined) this.#arm(nowMs)
  }

  /** Back-pressure ends: there is room again. */
  goesOn(): void {
    if (this.#waitingSinceMs === undefined) return
    this.#waitedMs += performance.now() - this.#waitingSinceMs
    this.#waitingSinceMs = undefined
  }

  /** The answer is over. */
  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waitingSinceMs = undefined
  }

  #arm(nowMs: number): void {
    const delayMs = Math.min(Math.ceil(this.#dueMs - nowMs), WAIT_ANEW_MS)
    this.#timer = setTimeout(() => this.#look(), delayMs)
  }

  #look(): void {
    this.#timer = undefined
    if (this.#waitingSinceMs === undefined) return
    const nowMs = performance.now()
    if (nowMs >= this.#dueMs) {
      this.#reader.cutOff()
      return
    }
    this.#reader.waitAnew()
    this.#arm(nowMs)
  }
}
