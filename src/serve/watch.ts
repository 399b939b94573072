/**
 * Notices that CURRENT names another snapshot than the served one, and starts the switch. There is one
 * switch at a time. The next one waits until the memory of the snapshot before the served one is free.
 *
 * It polls the file, because notifications are not reliable on every file system.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { type Page, privatePage, slotOf } from '../metrics/slots.js'
import { currentMissing, readCurrent } from '../snapshot/directory.js'
import { isCorrupt } from '../snapshot/open-file.js'
import type { Refusal, SnapshotNews } from './messages.js'

/** Nothing is wrong with a snapshot, but it is not to be served any more. */
export class Superseded extends Error {}

/** Takes the snapshots that are noticed. */
export interface Swap {
  /**
   * Takes a snapshot in the place of the one that is served.
   *
   * @param isWanted  asked when it is ready: whether no other one is to be served by now
   * @throws Superseded  when it is not
   * @throws  when the new one cannot be served; the old one is still served then
   */
  take(id: string, isWanted: () => Promise<boolean>): Promise<void>
  /** Whether the snapshot before the served one is still in memory; then no other can be taken. */
  readonly isReleasing: boolean
  /** Closes the snapshot before the served one, and aborts the answers that still need it. */
  breakOff(): void
}

interface WatchOptions {
  readonly dataDirectory: string
  readonly servedId: string
  /** What names the snapshot to be served, where it knows; otherwise CURRENT does. */
  readonly wantedId?: (() => string | undefined) | undefined
  /** Told of a snapshot that is damaged. */
  readonly onDamaged?: ((id: string) => void) | undefined
  /** What CURRENT named as the service started, if that was refused; it is tried again. */
  readonly refused?: Refusal | undefined
  readonly swap: Swap
  readonly onNews: (news: SnapshotNews) => void
  /** Of the main thread. */
  readonly page?: Page | undefined
  readonly log: Log
  /** `limits.snapshot…Ms` unless given. */
  readonly times?: WatchTimes | undefined
}

export interface WatchTimes {
  readonly pollMs: number
  readonly retryMs: number
  readonly releaseMs: number
}

export interface Watch {
  /** Looks no more, and says nothing of what was under way. */
  stop(): void
  /** What was refused is tried again at the next look. */
  retry(): void
}

export function watchCurrent(options: WatchOptions): Watch {
  const stopping = new AbortController()
  const { signal } = stopping
  const { pollMs } = options.times ?? DEFAULT_TIMES
  const watcher = new Watcher(options, signal)
  void (async () => {
    while (!signal.aborted) {
      await sleep(pollMs, undefined, { signal }).catch(() => {})
      if (!signal.aborted) await watcher.look()
    }
  })()
  return { stop: () => stopping.abort(), retry: () => watcher.retry() }
}

const DEFAULT_TIMES: WatchTimes = {
  pollMs: limits.snapshotPollMs,
  retryMs: limits.snapshotRetryMs,
  releaseMs: limits.snapshotReleaseMs,
}

class Watcher {
  readonly #options: WatchOptions
  readonly #times: WatchTimes
  readonly #page: Page
  readonly #signal: AbortSignal
  #servedId: string
  #news: SnapshotNews = {}
  #switchedMs = 0
  #refusedMs = 0

  constructor(options: WatchOptions, signal: AbortSignal) {
    this.#options = options
    this.#times = options.times ?? DEFAULT_TIMES
    this.#page = options.page ?? privatePage()
    this.#signal = signal
    this.#servedId = options.servedId
    if (options.refused === undefined) return
    this.#news = { refused: options.refused }
    const { snapshotId } = options.refused
    if (snapshotId !== undefined) options.onDamaged?.(snapshotId)
    this.#refusedMs = performance.now()
  }

  async look(): Promise<void> {
    const id = await this.#currentId()
    if (id === undefined) return
    if (id === this.#servedId) this.#tell({})
    else if (this.#isDue(id)) await this.#take(id)
  }

  retry(): void {
    this.#refusedMs = Number.NEGATIVE_INFINITY
  }

  /** Undefined, which is told once, where CURRENT names no snapshot. */
  async #currentId(): Promise<string | undefined> {
    const { dataDirectory, wantedId, log } = this.#options
    const wanted = wantedId?.()
    if (wanted !== undefined) return wanted
    let reason = currentMissing(dataDirectory)
    try {
      const id = await readCurrent(dataDirectory)
      if (id !== undefined) return id
    } catch (error) {
      reason = (error as Error).message
    }
    if (reason !== this.#news.refused?.reason) {
      log.error({ snapshotId: this.#servedId, reason }, 'still serving what there was')
      this.#tell({ refused: { reason } })
    }
    return undefined
  }

  /** Also where nothing tells. */
  async #isWanted(id: string): Promise<boolean> {
    const { dataDirectory, wantedId } = this.#options
    const now = wantedId?.() ?? (await readCurrent(dataDirectory).catch(() => undefined))
    return now === undefined || now === id
  }

  #isDue(id: string): boolean {
    const wasRefused = this.#news.refused?.snapshotId === id
    return !wasRefused || performance.now() - this.#refusedMs >= this.#times.retryMs
  }

  async #take(id: string): Promise<void> {
    const { swap, log } = this.#options
    if (this.#news.loading !== id) {
      log.info({ snapshotId: id }, 'noticed a new snapshot')
      this.#page[NOTICED]++
      this.#tell({ ...this.#news, loading: id })
    }
    if (swap.isReleasing) {
      if (performance.now() - this.#switchedMs >= this.#times.releaseMs) swap.breakOff()
      return
    }
    try {
      await swap.take(id, () => this.#isWanted(id))
      this.#servedId = id
      this.#switchedMs = performance.now()
      this.#page[SWITCHED]++
      this.#tell({})
    } catch (error) {
      if (this.#signal.aborted) return
      if (error instanceof Superseded) {
        log.info({ snapshotId: id }, 'left a snapshot, since another one is to be served by now')
        const { refused } = this.#news
        this.#tell(refused === undefined ? {} : { refused })
        return
      }
      const reason = (error as Error).message
      log.error({ snapshotId: id, servedId: this.#servedId, reason }, 'refused a new snapshot')
      this.#refusedMs = performance.now()
      this.#page[REFUSED]++
      if (isCorrupt(error)) this.#options.onDamaged?.(id)
      this.#tell({ refused: { snapshotId: id, reason } })
    }
  }

  #tell(news: SnapshotNews): void {
    if (this.#news === news || (isNothing(this.#news) && isNothing(news))) return
    this.#news = news
    this.#options.onNews(news)
  }
}

const NOTICED = slotOf('hickory_snapshots_noticed_total')
const SWITCHED = slotOf('hickory_snapshot_switches_total', 'done')
const REFUSED = slotOf('hickory_snapshot_switches_total', 'refused')

function isNothing({ loading, refused }: SnapshotNews): boolean {
  return loading === undefined && refused === undefined
}
