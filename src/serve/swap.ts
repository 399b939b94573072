/**
 * Takes new snapshots while the service runs. Each is loaded and prepared by all front threads. When
 * all are ready, all switch to it; otherwise none does. The memory of the old one is used again.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../errors.js'
import type { Log } from '../log.js'
import type { Page } from '../metrics/slots.js'
import { isUnowned } from '../shard/arena.js'
import type { ArenaPool } from '../shard/arena-pool.js'
import { loadSnapshot } from '../snapshot/load/load.js'
import { recipientCountOf, type Snapshot } from '../snapshot/snapshot.js'
import type { FrontOrder, Refusal, SwapReport } from './messages.js'
import type { ServiceState } from './state.js'
import { Superseded, type Swap, type Watch, type WatchTimes, watchCurrent } from './watch.js'

/** The part of a Worker that a swap needs of a front thread. */
interface FrontPort {
  postMessage(order: FrontOrder): void
  on(event: 'message', listener: (report: SwapReport) => void): unknown
  off(event: 'message', listener: (report: SwapReport) => void): unknown
}

/** Sets the marks of suppressed recipients. */
interface SnapshotMarks {
  attach(snapshot: Snapshot): Promise<void>
  serve(snapshotId: string): void
  detach(snapshotId: string): Promise<void>
}

/** Applies changes. */
interface SnapshotChanges {
  attach(snapshot: Snapshot): Promise<void>
  detach(snapshotId: string): Promise<void>
}

/** Says when a snapshot that is prepared may be served. */
export interface SwitchGate {
  /** Whether other machines may have what is damaged here. */
  hasOthers(): boolean
  /** @returns false where another one is wanted by now, or nobody waits any more */
  untilSwitch(id: string, signal: AbortSignal): Promise<boolean>
  /** A snapshot is served. */
  serves(snapshot: Snapshot): void
}

interface SwapOptions {
  readonly dataDirectory: string
  /** The snapshot that is served already, in arenas of the pool. */
  readonly first: Snapshot
  /** What CURRENT names instead of it, if so. */
  readonly refused?: Refusal | undefined
  readonly arenas: ArenaPool
  readonly fronts: readonly FrontPort[]
  readonly marks: SnapshotMarks
  readonly live: SnapshotChanges
  /** Of this machine, in a cluster. */
  readonly machine?: string | undefined
  /** On a machine of a cluster alone. */
  readonly gate?: SwitchGate | undefined
  /** What names the snapshot to be served; CURRENT unless given. */
  readonly wantedId?: (() => string | undefined) | undefined
  /** Told of a snapshot that is damaged. */
  readonly onDamaged?: ((id: string) => void) | undefined
  readonly log: Log
  /** Told what is served, and what is not. */
  readonly state?: Pick<ServiceState, 'served' | 'news'>
  /** Of the main thread. */
  readonly page?: Page
  /** `limits.snapshot…Ms` unless given. */
  readonly times?: WatchTimes
}

/** Watches for new snapshots until it is stopped. */
export function swapSnapshots(options: SwapOptions): Watch {
  const { dataDirectory, first, refused, fronts, log, times, state, page } = options
  const { wantedId, onDamaged } = options
  const stopping = new AbortController()
  const watch = watchCurrent({
    dataDirectory,
    servedId: first.id,
    wantedId,
    onDamaged,
    refused,
    swap: new ServiceSwap(options, stopping.signal),
    onNews(news) {
      if (state !== undefined) state.news = news
      order(fronts, { kind: 'news', news })
    },
    page,
    log,
    times,
  })
  return {
    stop() {
      watch.stop()
      stopping.abort()
    },
    retry: watch.retry,
  }
}

/** For a zone whose thread has ended a moment ago. */
const ZONE_POLL_MS = 10

class ServiceSwap implements Swap {
  isReleasing = false
  readonly #options: SwapOptions
  readonly #stopping: AbortSignal
  #served: Snapshot
  #isBrokenOff = false

  constructor(options: SwapOptions, stopping: AbortSignal) {
    this.#options = options
    this.#stopping = stopping
    this.#served = options.first
  }

  async take(id: string, isWanted: () => Promise<boolean>): Promise<void> {
    const { fronts, marks, live, gate, log, state } = this.#options
    const snapshot = await this.#load(id)
    const last = this.#served
    // Before anybody can answer from it.
    await marks.attach(snapshot)
    try {
      await live.attach(snapshot)
    } catch (fault) {
      await this.#giveBack(snapshot)
      throw fault
    }
    await this.#prepare(snapshot)
    if (!(await (gate === undefined ? isWanted() : gate.untilSwitch(id, this.#stopping)))) {
      await this.#discard(snapshot)
      throw new Superseded()
    }
    const switched = reported(fronts, id, ['switched'])
    const released = reported(fronts, last.id, ['released'])
    order(fronts, { kind: 'switch' })
    await switched
    this.#served = snapshot
    marks.serve(id)
    gate?.serves(snapshot)
    if (state !== undefined) state.served = { snapshot, sinceMs: Date.now() }
    log.info({ snapshotId: id }, 'switched to a new snapshot')
    this.isReleasing = true
    this.#isBrokenOff = false
    void released.then(() => this.#giveBack(last))
  }

  breakOff(): void {
    if (this.#isBrokenOff) return
    this.#isBrokenOff = true
    order(this.#options.fronts, { kind: 'breakOff' })
  }

  async #load(id: string): Promise<Snapshot> {
    const { dataDirectory, arenas, machine, log } = this.#options
    const startedMs = performance.now()
    const needsIdentities = this.#options.gate?.hasOthers() ?? false
    const options = { loaderUrl: LOADER_URL, machine, stopping: this.#stopping, needsIdentities }
    const snapshot = await loadSnapshot(dataDirectory, id, arenas, options)
    const ms = Math.round(performance.now() - startedMs)
    log.info({ snapshotId: id, ms, recipientCount: recipientCountOf(snapshot.sources) }, 'loaded')
    return snapshot
  }

  async #prepare(snapshot: Snapshot): Promise<void> {
    const { fronts } = this.#options
    const { id } = snapshot
    const prepared = reported(fronts, id, ['prepared', 'refused'])
    order(fronts, { kind: 'prepare', snapshot })
    const refusal = (await prepared).find((report) => report.kind === 'refused')
    if (refusal === undefined) return
    await this.#discard(snapshot)
    throw new OperatorError('Failed', refusal.reason)
  }

  async #discard(snapshot: Snapshot): Promise<void> {
    const { fronts } = this.#options
    const released = reported(fronts, snapshot.id, ['released'])
    order(fronts, { kind: 'discard', snapshotId: snapshot.id })
    await released
    await this.#giveBack(snapshot)
  }

  async #giveBack({ id, arenas: held }: Snapshot): Promise<void> {
    const { arenas, marks, live, log } = this.#options
    await Promise.all([marks.detach(id), live.detach(id)])
    while (!held.every(isUnowned)) {
      await sleep(ZONE_POLL_MS, undefined, { ref: false })
    }
    arenas.giveBack(held.map((arena) => ({ arena })))
    this.isReleasing = false
    log.info({ snapshotId: id }, 'released a snapshot')
  }
}

/** The entry point of the threads that load the files of a snapshot. */
export const LOADER_URL = new URL('../../workers/load.js', import.meta.url)

function order(fronts: readonly FrontPort[], message: FrontOrder): void {
  for (const front of fronts) front.postMessage(message)
}

/** Resolves when each front has reported one of these kinds about a snapshot. */
function reported<Kind extends SwapReport['kind']>(
  fronts: readonly FrontPort[],
  snapshotId: string,
  kinds: readonly Kind[],
): Promise<Extract<SwapReport, { kind: Kind }>[]> {
  type Report = Extract<SwapReport, { kind: Kind }>
  const isMeant = (report: SwapReport): report is Report =>
    report.snapshotId === snapshotId && (kinds as readonly string[]).includes(report.kind)
  const reports = fronts.map(
    (front) =>
      new Promise<Report>((resolve) => {
        const listen = (report: SwapReport) => {
          if (!isMeant(report)) return
          front.off('message', listen)
          resolve(report)
        }
        front.on('message', listen)
      }),
  )
  return Promise.all(reports)
}
