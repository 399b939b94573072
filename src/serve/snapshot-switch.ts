/**
 * Serves new snapshots while the service runs. CURRENT, or the cluster, names the snapshot that is wanted. It is loaded and
 * prepared by all front threads. When all are ready, all switch to it; otherwise none does. Then the memory of the old one is
 * used again. There is one switch at a time, and the next one waits for that memory.
 *
 * CURRENT is polled, because notifications are not reliable on every file system.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { type MetricSlots, privatePage, slotOf } from '../metrics/memory.js'
import { isUnowned } from '../shard/arena.js'
import type { ArenaPool } from '../shard/arena-pool.js'
import { currentMissing, readCurrent } from '../snapshot/directory.js'
import { loadSnapshot } from '../snapshot/load/load.js'
import { isCorrupt } from '../snapshot/open-file.js'
import { recipientCountOf, type Snapshot } from '../snapshot/snapshot.js'
import type { Front } from './fronts.js'
import type { Refusal, SnapshotNews } from './messages.js'
import type { ServiceState } from './state.js'

/** What threads do with a snapshot before it is served, until its memory is used again. */
interface SnapshotUser {
  attach(snapshot: Snapshot): Promise<void>
  detach(snapshotId: string): Promise<void>
}

/** On a machine of a cluster: which snapshot is to be served, and when. */
export interface SwitchGate {
  /** To be prepared; undefined where the cluster has not said so yet, and CURRENT counts. */
  wantedId(): string | undefined
  /** Whether other machines may have what is damaged here. */
  hasOthers(): boolean
  /** @returns false where another one is wanted by now, or the service stops */
  untilSwitch(id: string, signal: AbortSignal): Promise<boolean>
  /** A snapshot is served. */
  serves(snapshot: Snapshot): void
  /** Has what is damaged of a snapshot fetched. */
  damaged(id: string): void
}

interface SwitchOptions {
  readonly dataDirectory: string
  /** The snapshot that is served already, in arenas of the pool. */
  readonly first: Snapshot
  /** What CURRENT named as the service started, if that was refused; it is tried again. */
  readonly refused?: Refusal | undefined
  readonly arenas: ArenaPool
  readonly fronts: readonly Pick<Front, 'ask' | 'tell'>[]
  /** Sets the marks of suppressed recipients. */
  readonly marks: SnapshotUser & { serve(snapshotId: string): void }
  /** Applies changes. */
  readonly live: SnapshotUser
  /** The name of this machine in a cluster. */
  readonly machine?: string | undefined
  readonly gate?: SwitchGate | undefined
  readonly log: Log
  /** Gets what is served, and what is not. */
  readonly state?: Pick<ServiceState, 'served' | 'news'>
  /** The metrics of the main thread. */
  readonly page?: MetricSlots
  /** `limits.snapshot…Ms` by default. */
  readonly times?: SwitchTimes
}

interface SwitchTimes {
  readonly pollMs: number
  /** Until a snapshot that was refused is tried again. */
  readonly retryMs: number
  /** Until requests that still read the old snapshot are broken off, where a newer one waits. */
  readonly releaseMs: number
}

const DEFAULT_TIMES: SwitchTimes = {
  pollMs: limits.snapshotPollMs,
  retryMs: limits.snapshotRetryMs,
  releaseMs: limits.snapshotReleaseMs,
}

interface SnapshotSwitch {
  /**
   * Rejects when fronts may answer from different snapshots, or when it is not known whether memory is still in use; never
   * resolves.
   */
  readonly failure: Promise<never>
  /** Looks no more, and says nothing of what was under way. */
  stop(): void
  /** What was refused is tried again at the next look. */
  retry(): void
}

export function switchSnapshots(options: SwitchOptions): SnapshotSwitch {
  const stopping = new AbortController()
  const { signal } = stopping
  const { pollMs } = options.times ?? DEFAULT_TIMES
  let fail: (fault: unknown) => void = () => {}
  const failure = new Promise<never>((_, reject) => {
    fail = reject
  })
  failure.catch(() => {})
  const switcher = new Switcher(options, signal, fail)
  void (async () => {
    while (!signal.aborted) {
      await sleep(pollMs, undefined, { signal }).catch(() => {})
      if (!signal.aborted) await switcher.look()
    }
  })()
  return { failure, stop: () => stopping.abort(), retry: () => switcher.retry() }
}

class Switcher {
  readonly #options: SwitchOptions
  readonly #times: SwitchTimes
  readonly #page: MetricSlots
  readonly #signal: AbortSignal
  readonly #fail: (fault: unknown) => void
  #served: Snapshot
  #news: SnapshotNews = {}
  #switchedMs = 0
  #refusedMs = 0
  /** Whether the snapshot before the served one is still in memory; then no other can be loaded. */
  #isReleasing = false
  #isBrokenOff = false

  constructor(options: SwitchOptions, signal: AbortSignal, fail: (fault: unknown) => void) {
    this.#fail = fail
    this.#options = options
    this.#times = options.times ?? DEFAULT_TIMES
    this.#page = options.page ?? privatePage()
    this.#signal = signal
    this.#served = options.first
    if (options.refused === undefined) return
    this.#news = { refused: options.refused }
    const { snapshotId } = options.refused
    if (snapshotId !== undefined) options.gate?.damaged(snapshotId)
    this.#refusedMs = performance.now()
  }

  async look(): Promise<void> {
    const id = await this.#wantedId()
    if (id === undefined) return
    if (id === this.#served.id) this.#tell({})
    else if (this.#isDue(id)) await this.#notice(id)
  }

  retry(): void {
    this.#refusedMs = Number.NEGATIVE_INFINITY
  }

  /** Undefined, with one line in the log, where CURRENT names no snapshot. */
  async #wantedId(): Promise<string | undefined> {
    const { dataDirectory, gate, log } = this.#options
    const wanted = gate?.wantedId()
    if (wanted !== undefined) return wanted
    let reason = currentMissing(dataDirectory)
    try {
      const id = await readCurrent(dataDirectory)
      if (id !== undefined) return id
    } catch (error) {
      reason = (error as Error).message
    }
    if (reason !== this.#news.refused?.reason) {
      log.error({ snapshotId: this.#served.id, reason }, 'still serving what there was')
      this.#tell({ refused: { reason } })
    }
    return undefined
  }

  #isDue(id: string): boolean {
    const wasRefused = this.#news.refused?.snapshotId === id
    return !wasRefused || performance.now() - this.#refusedMs >= this.#times.retryMs
  }

  async #notice(id: string): Promise<void> {
    if (this.#news.loading !== id) {
      this.#options.log.info({ snapshotId: id }, 'noticed a new snapshot')
      this.#page[NOTICED]++
      this.#tell({ ...this.#news, loading: id })
    }
    if (this.#isReleasing) {
      if (performance.now() - this.#switchedMs >= this.#times.releaseMs) this.#breakOff()
      return
    }
    try {
      if (await this.#take(id)) this.#tell({})
      else this.#leave(id)
    } catch (error) {
      if (!this.#signal.aborted) this.#refuse(id, error as Error)
    }
  }

  /**
   * @returns false where another snapshot is wanted by now
   * @throws  where it cannot be served; then the old one still is
   */
  async #take(id: string): Promise<boolean> {
    const { fronts, marks, live, gate, state, log } = this.#options
    const snapshot = await this.#load(id)
    // Before any request is answered from it.
    await marks.attach(snapshot)
    try {
      await live.attach(snapshot)
      await ofAll(fronts.map(({ ask }) => ask.prepare(snapshot)))
    } catch (fault) {
      await this.#discard(snapshot)
      throw fault
    }
    if (!(await this.#untilSwitch(id))) {
      await this.#discard(snapshot)
      return false
    }
    try {
      await ofAll(fronts.map(({ ask }) => ask.switch()))
    } catch (fault) {
      this.#fail(fault)
      throw fault
    }
    const last = this.#served
    this.#served = snapshot
    marks.serve(id)
    gate?.serves(snapshot)
    if (state !== undefined) state.served = { snapshot, sinceMs: Date.now() }
    log.info({ snapshotId: id }, 'switched to a new snapshot')
    this.#page[SWITCHED]++
    this.#switchedMs = performance.now()
    this.#isReleasing = true
    this.#isBrokenOff = false
    void this.#release(last).catch(this.#fail)
    return true
  }

  async #load(id: string): Promise<Snapshot> {
    const { dataDirectory, arenas, machine, gate, log } = this.#options
    const startedMs = performance.now()
    const needsIdentities = gate?.hasOthers() ?? false
    const options = { loaderUrl: LOADER_URL, machine, stopping: this.#signal, needsIdentities }
    const snapshot = await loadSnapshot(dataDirectory, id, arenas, options)
    const ms = Math.round(performance.now() - startedMs)
    log.info({ snapshotId: id, ms, recipientCount: recipientCountOf(snapshot.sources) }, 'loaded')
    return snapshot
  }

  /** Without a cluster, CURRENT may name another one by now. */
  async #untilSwitch(id: string): Promise<boolean> {
    const { dataDirectory, gate } = this.#options
    if (gate !== undefined) return await gate.untilSwitch(id, this.#signal)
    const now = await readCurrent(dataDirectory).catch(() => undefined)
    return now === undefined || now === id
  }

  async #discard(snapshot: Snapshot): Promise<void> {
    try {
      await ofAll(this.#options.fronts.map(({ ask }) => ask.discard()))
      await this.#giveBack(snapshot)
    } catch (fault) {
      this.#fail(fault)
    }
  }

  #breakOff(): void {
    if (this.#isBrokenOff) return
    this.#isBrokenOff = true
    for (const { tell } of this.#options.fronts) tell.breakOff()
  }

  async #release(last: Snapshot): Promise<void> {
    await ofAll(this.#options.fronts.map(({ ask }) => ask.untilReleased()))
    await this.#giveBack(last)
  }

  async #giveBack({ id, arenas: held }: Snapshot): Promise<void> {
    const { arenas, marks, live, log } = this.#options
    await Promise.all([marks.detach(id), live.detach(id)])
    while (!held.every(isUnowned)) {
      await sleep(ZONE_POLL_MS, undefined, { ref: false })
    }
    arenas.giveBack(held.map((arena) => ({ arena })))
    this.#isReleasing = false
    log.info({ snapshotId: id }, 'released a snapshot')
  }

  /** Nothing is wrong with it. */
  #leave(id: string): void {
    if (this.#signal.aborted) return
    this.#options.log.info(
      { snapshotId: id },
      'left a snapshot, since another one is to be served by now',
    )
    const { refused } = this.#news
    this.#tell(refused === undefined ? {} : { refused })
  }

  #refuse(id: string, fault: Error): void {
    const { gate, log } = this.#options
    const reason = fault.message
    log.error({ snapshotId: id, servedId: this.#served.id, reason }, 'refused a new snapshot')
    this.#refusedMs = performance.now()
    this.#page[REFUSED]++
    if (isCorrupt(fault)) gate?.damaged(id)
    this.#tell({ refused: { snapshotId: id, reason } })
  }

  #tell(news: SnapshotNews): void {
    if (isNothing(this.#news) && isNothing(news)) return
    this.#news = news
    const { state, fronts } = this.#options
    if (state !== undefined) state.news = news
    for (const { tell } of fronts) tell.knowSnapshots(news)
  }
}

/** The entry point of the threads that load the files of a snapshot. */
export const LOADER_URL = new URL('../../workers/load.js', import.meta.url)

/** For a zone whose thread has ended a moment ago. */
const ZONE_POLL_MS = 10

const NOTICED = slotOf('hickory_snapshots_noticed_total')
const SWITCHED = slotOf('hickory_snapshot_switches_total', 'done')
const REFUSED = slotOf('hickory_snapshot_switches_total', 'refused')

function isNothing({ loading, refused }: SnapshotNews): boolean {
  return loading === undefined && refused === undefined
}

/**
 * Waits for all, also where one fails: what comes next must not begin while others are still at it.
 *
 * @throws  what the first one threw that failed
 */
async function ofAll(answers: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(answers)) {
    if (outcome.status === 'rejected') throw outcome.reason
  }
}
