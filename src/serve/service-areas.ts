/**
 * The gazetteer of a running service, for the main thread: which version is served, and new ones as they come.
 * A version is verified before any thread opens it.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../errors.js'
import { listVersions, readCurrentAreas } from '../gazetteer/directory.js'
import { type Gazetteer, openVersion } from '../gazetteer/gazetteer.js'
import { makeDefaultAreas, repairDefaultAreas } from '../gazetteer/make-default.js'
import { verifyVersion } from '../gazetteer/verify.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { isCorrupt, isUnusable } from '../snapshot/open-file.js'
import type { Front } from './fronts.js'
import type { AreasNews } from './messages.js'

type FrontPort = Pick<Front, 'ask' | 'tell'>

export interface ServiceAreas {
  /** For front threads as they start. */
  readonly news: AreasNews
  /** Looks for new versions from now on, and has front threads take them. */
  follow(fronts: readonly FrontPort[]): void
  stop(): Promise<void>
}

interface AreasTimes {
  readonly pollMs: number
  readonly retryMs: number
}

const DEFAULT_TIMES: AreasTimes = { pollMs: limits.snapshotPollMs, retryMs: limits.snapshotRetryMs }

/**
 * Makes the default where there is no gazetteer. A service without one serves all the same, and refuses names of
 * areas.
 */
export async function startAreas(
  dataDirectory: string,
  log: Log,
  times: AreasTimes = DEFAULT_TIMES,
): Promise<ServiceAreas> {
  const isMade = await makeDefault(dataDirectory, log)
  const keeper = new AreasKeeper(dataDirectory, log, times, isMade)
  await keeper.openFirst()
  return keeper
}

/** @returns false where another process has the lock, or died with it a moment ago: then it is to be tried again */
async function makeDefault(dataDirectory: string, log: Log): Promise<boolean> {
  try {
    const made = await makeDefaultAreas(dataDirectory)
    if (made === undefined) return true
    const areaCount = made.layers.reduce((sum, layer) => sum + layer.areaCount, 0)
    log.info({ areasVersion: made.version, areaCount }, 'made the default gazetteer')
  } catch (error) {
    const reason = (error as Error).message
    if (error instanceof OperatorError && error.code === 'Locked') {
      log.warn({ reason }, 'the default gazetteer is made later')
      return false
    }
    log.warn({ reason }, 'the default gazetteer could not be made: there are no named areas')
  }
  return true
}

class AreasKeeper implements ServiceAreas {
  news: AreasNews = {}
  readonly #dataDirectory: string
  readonly #log: Log
  readonly #times: AreasTimes
  readonly #stopping = new AbortController()
  /** Fronts that drain do not answer. */
  readonly #stopped = new Promise<[]>((resolve) => {
    this.#stopping.signal.addEventListener('abort', () => resolve([]))
  })
  /** Held open as long as a front thread may have it, so that these only share it. */
  #held: Gazetteer | undefined
  #refusedMs = Number.NEGATIVE_INFINITY
  #isDefaultMade: boolean
  #isOver: Promise<void> = Promise.resolve()

  constructor(dataDirectory: string, log: Log, times: AreasTimes, isDefaultMade: boolean) {
    this.#isDefaultMade = isDefaultMade
    this.#dataDirectory = dataDirectory
    this.#log = log
    this.#times = times
  }

  /** The current version, or the newest one that is whole. */
  async openFirst(): Promise<void> {
    const { version: current, reason } = this.#wanted()
    let refused: AreasNews['refused'] = reason === undefined ? undefined : { reason }
    const others = (await listVersions(this.#dataDirectory).catch(() => [])).reverse()
    const candidates = current === undefined && refused === undefined ? [] : [current, ...others]
    for (const version of new Set(candidates)) {
      if (version === undefined) continue
      const fault = await (version === current ? this.#openOrRepair(version) : this.#open(version))
      if (fault === undefined) {
        this.news = { version, ...(refused !== undefined && { refused }) }
        if (refused !== undefined) {
          this.#log.error({ areasVersion: version, ...refused }, 'fell back to other areas')
        }
        return
      }
      this.#log.error({ areasVersion: version, reason: fault.message }, 'refused areas')
      refused ??= { version, reason: fault.message }
      // Where the system only does not let it read, nothing older may take its place.
      if (!isUnusable(fault)) break
    }
    this.news = refused === undefined ? {} : { refused }
    this.#refusedMs = performance.now()
  }

  follow(fronts: readonly FrontPort[]): void {
    const { signal } = this.#stopping
    this.#isOver = (async () => {
      while (!signal.aborted) {
        await sleep(this.#times.pollMs, undefined, { signal }).catch(() => {})
        if (!signal.aborted) await this.#look(fronts)
      }
    })()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#isOver
    await this.#held?.close()
  }

  #wanted(): { readonly version?: string | undefined; readonly reason?: string } {
    try {
      return { version: readCurrentAreas(this.#dataDirectory) }
    } catch (error) {
      return { reason: (error as Error).message }
    }
  }

  async #look(fronts: readonly FrontPort[]): Promise<void> {
    const { version, reason = 'areas/CURRENT is gone' } = this.#wanted()
    const { refused, version: served } = this.news
    const isTooEarly = performance.now() - this.#refusedMs < this.#times.retryMs
    if (version === undefined) {
      if (served !== undefined || refused !== undefined) this.#refuse(fronts, { reason })
      else if (!this.#isDefaultMade && !isTooEarly) {
        this.#isDefaultMade = await makeDefault(this.#dataDirectory, this.#log)
        this.#refusedMs = performance.now()
      }
      return
    }
    if (version === served) {
      if (refused !== undefined) this.#tell(fronts, { version })
      return
    }
    if (refused?.version === version && isTooEarly) return
    await this.#take(fronts, version)
  }

  async #take(fronts: readonly FrontPort[], version: string): Promise<void> {
    const last = this.#held
    const fault = await this.#openOrRepair(version)
    if (fault !== undefined) return this.#refuse(fronts, { version, reason: fault.message })
    this.news = { version }
    const asked = Promise.allSettled(fronts.map(({ ask }) => ask.takeAreas({ version })))
    const outcomes = await Promise.race([asked, this.#stopped])
    const refusal = outcomes.find(({ status }) => status === 'rejected')
    const reason = (refusal as PromiseRejectedResult | undefined)?.reason.message
    if (last !== undefined) void closeLater(last)
    if (this.#stopping.signal.aborted) return
    // Those that could take it answer from it: the others are asked again.
    if (reason !== undefined) return this.#refuse(fronts, { version, reason })
    this.#log.info({ areasVersion: version }, 'switched to new areas')
  }

  /** As `#open`, and makes the default anew where it is damaged: there is no other copy to put back. */
  async #openOrRepair(version: string): Promise<Error | undefined> {
    const fault = await this.#open(version)
    if (!isCorrupt(fault)) return fault
    try {
      if (!(await repairDefaultAreas(this.#dataDirectory, version))) return fault
    } catch (error) {
      return new OperatorError(fault.code, `${fault.message} (${(error as Error).message})`)
    }
    this.#log.warn(
      { areasVersion: version, reason: fault.message },
      'made the default gazetteer anew',
    )
    return await this.#open(version)
  }

  /** @returns why it cannot be served; then the one before is still held */
  async #open(version: string): Promise<Error | undefined> {
    try {
      await verifyVersion(this.#dataDirectory, version)
      this.#held = openVersion(this.#dataDirectory, version)
      return undefined
    } catch (error) {
      return error as Error
    }
  }

  #refuse(fronts: readonly FrontPort[], refused: NonNullable<AreasNews['refused']>): void {
    this.#refusedMs = performance.now()
    const { version, refused: before } = this.news
    if (before?.reason === refused.reason) return
    const areasVersion = refused.version
    const { reason } = refused
    this.#log.error({ areasVersion, servedVersion: version, reason }, 'refused new areas')
    // Where fronts refused two versions, the served one is that of `held`.
    const served = version === refused.version ? undefined : version
    this.#tell(fronts, { ...(served !== undefined && { version: served }), refused })
  }

  #tell(fronts: readonly FrontPort[], news: AreasNews): void {
    this.news = news
    for (const { tell } of fronts) tell.knowAreas(news)
  }
}

/** Front threads that take a new version still have the old one open for a while. */
async function closeLater(gazetteer: Gazetteer): Promise<void> {
  await sleep(2 * limits.gazetteerReleaseMs, undefined, { ref: false })
  await gazetteer.close()
}
