/**
 * Back-pressure of one answer. While the socket has no room, the writer waits, and its reader is watched: a client that
 * reads too slowly is cut off.
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
  /** Called once at most, when the reader takes too long. */
  cutOff(reason: string): void
}

export class BackPressure {
  readonly #connection: Connection
  #room: Room | undefined
  #timer: NodeJS.Timeout | undefined
  /** Undefined while there is room. */
  #waitingSinceMs: number | undefined
  #waitedMs = 0
  /**
   * What was taken before the first back-pressure. The buffers between the client and us are full then, so that bytes
   * leave them as fast as the client reads.
   */
  #uncountedBytes: number | undefined
  #dueMs = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get isOn(): boolean {
    return this.#waitingSinceMs !== undefined
  }

  /** Resolves when there is room, or will never be. */
  get over(): Promise<void> {
    if (!this.isOn) return Promise.resolve()
    this.#room ??= new Room()
    return this.#room.promise
  }

  /**
   * There is no room, or again none for all that waits.
   *
   * @param takenBytes  of the whole answer so far
   */
  waits(takenBytes: number): void {
    const nowMs = performance.now()
    this.#addWaitUntil(nowMs)
    this.#waitingSinceMs = nowMs
    this.#uncountedBytes ??= takenBytes
    this.#dueMs = nowMs + this.#patienceMs(takenBytes - this.#uncountedBytes)
    // It is never before an earlier one, so a timer that runs does for it too.
    if (this.#timer === undefined) this.#arm(nowMs)
  }

  /** There is room. */
  resume(): void {
    if (this.#waitingSinceMs === undefined) return
    this.#addWaitUntil(performance.now())
    this.#waitingSinceMs = undefined
    this.#room?.resolve()
    this.#room = undefined
  }

  /** The answer is over. */
  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.resume()
  }

  #addWaitUntil(nowMs: number): void {
    if (this.#waitingSinceMs !== undefined) this.#waitedMs += nowMs - this.#waitingSinceMs
  }

  /**
   * How much longer to wait for the reader.
   *
   * @param takenBytes  the bytes that it took since the first back-pressure
   */
  #patienceMs(takenBytes: number): number {
    const { stallMs, bytesPerSecond } = this.#connection.readerRules
    const earnedMs = Math.max(stallMs, (takenBytes / bytesPerSecond) * 1_000)
    return Math.min(stallMs, earnedMs - this.#waitedMs)
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
      this.#connection.cutOff(TOO_SLOW)
      return
    }
    // Otherwise uWebSockets.js closes the connection after 10 seconds without a byte. `pause` alone would do the same,
    // but would hide that the client disconnects.
    this.#connection.native.pause()
    this.#connection.native.resume()
    this.#arm(nowMs)
  }
}

/** Less than half of what the library waits. */
const WAIT_ANEW_MS = 4_000

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
