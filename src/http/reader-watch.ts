/**
 * Watches how one client takes its answer, and says when it takes too little of it.
 *
 * What is counted begins when the client is waited for the first time: by then the buffers between
 * it and us are full, and what leaves them is what it reads.
 *
 * @module
 */

export interface ReaderRules {
  /** Time without room for more, after which a reader is cut off; also before the rate counts. */
  readonly stallMs: number
  /** What a reader must take, over all the time for which it is waited for. */
  readonly bytesPerSecond: number
}

/**
 * How much longer a reader is waited for.
 *
 * @param waitedMs  for which it was waited for before
 * @param takenBytes  since it was waited for the first time
 */
export function patienceMs(rules: ReaderRules, waitedMs: number, takenBytes: number): number {
  const { stallMs, bytesPerSecond } = rules
  const earnedMs = Math.max(stallMs, (takenBytes / bytesPerSecond) * 1_000)
  return Math.min(stallMs, earnedMs - waitedMs)
}

/** What is done about a reader, while it is waited for. */
export interface WatchedReader {
  /** Called every few seconds, so that the HTTP library does not decide by itself. */
  waitAnew(): void
  /** Called once at most. */
  cutOff(): void
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
   * There is no room for more.
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

  /** There is room again. */
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
