/**
 * Looks ahead who is in the areas of the gazetteer, one after the other, so that the first request for an area
 * need not: after a start, after a switch to another snapshot, and after one to other areas. It rests most of
 * the time, so that a start and a switch are not followed by seconds in which requests wait behind it.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.js'
import type { Gazetteer } from '../gazetteer/gazetteer.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import { askerUntil, OPEN_ACCESS } from '../selection/access.js'
import { answer, type CurrentService, type SelectionService } from '../selection/answer.js'

interface WarmerOptions {
  readonly current: CurrentService
  readonly areas: () => Pick<Gazetteer, 'version' | 'search'> | undefined
  readonly log: Log
  /** Those of limits.ts by default. */
  readonly bounds?: Bounds
}

type Bounds = Readonly<Record<'areasWarmedCount' | 'areasWarmedShare' | 'areasLookMs', number>>

/** @returns what stops it */
export function warmAreas({ current, areas, log, bounds = limits }: WarmerOptions): () => void {
  let warmed = ''
  let isStopped = false
  let isBusy = false

  const wanted = () => {
    const { catalogue } = current.newest.service
    return `${catalogue.snapshotId} ${areas()?.version}`
  }

  async function look(): Promise<void> {
    const now = wanted()
    const gazetteer = areas()
    if (isBusy || now === warmed || gazetteer === undefined) return
    isBusy = true
    try {
      const goesOn = () => !isStopped && wanted() === now
      const startMs = performance.now()
      const areaCount = await warmAll(current, gazetteer, bounds, goesOn)
      warmed = now
      if (areaCount === 0 || !goesOn()) return
      const seconds = Number(((performance.now() - startMs) / 1_000).toFixed(1))
      log.info(
        { areasVersion: gazetteer.version, areaCount, seconds },
        'looked who is in named areas',
      )
    } catch (error) {
      // Another attempt would find the same; requests look for themselves.
      warmed = now
      log.warn(describeFault(error), 'could not look ahead who is in named areas')
    } finally {
      isBusy = false
    }
  }

  const timer = setInterval(() => void look(), bounds.areasLookMs).unref()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}

/** @returns how many areas it looked at */
async function warmAll(
  current: CurrentService,
  gazetteer: Pick<Gazetteer, 'search'>,
  { areasWarmedCount, areasWarmedShare }: Bounds,
  goesOn: () => boolean,
): Promise<number> {
  let areaCount = 0
  let after: string | undefined
  do {
    const { areas, next } = gazetteer.search({ limit: PAGE_AREA_COUNT, after })
    for (const { id } of areas) {
      if (!goesOn() || areaCount >= areasWarmedCount) return areaCount
      const startMs = performance.now()
      const isRefused = await current.use((service) => warmOne(service, id))
      areaCount++
      const tookMs = performance.now() - startMs
      const restMs = tookMs / areasWarmedShare - tookMs
      await sleep(isRefused ? REFUSED_REST_MS : restMs, undefined, { ref: false })
    }
    after = next
  } while (after !== undefined)
  return areaCount
}

const PAGE_AREA_COUNT = 100
const REFUSED_REST_MS = 1_000

/**
 * As a client would ask, within whatever boundary holds.
 *
 * @returns whether the service had no room for it
 */
async function warmOne(service: SelectionService, id: string): Promise<boolean> {
  try {
    await answer(service, { countsOnly: true, areas: [id] }, asker())
  } catch (fault) {
    if (!(fault instanceof ServiceError)) throw fault
    return fault.code === 'Overloaded'
  }
  return false
}

function asker() {
  return { ...askerUntil(performance.now() + limits.requestMs), access: OPEN_ACCESS }
}
