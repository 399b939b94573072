/**
 * Who is in named areas, found once for a snapshot: as runs of each shard, and as counts. Areas of the
 * gazetteer are asked for again and again, and stay what they are until the gazetteer changes.
 *
 * What is kept is what a search of the drawn area would find. Runs are kept as masks are, by what the areas
 * are: who came since the snapshot is added as they come. Counts are kept for one moment and one state of the
 * suppression lists, and are found again for every other one.
 *
 * @module
 */
import { OVERLOADED, ServiceError } from '../errors.js'
import { polygonsOf } from '../geometry/polygon/polygons.js'
import { including } from '../geometry/shapes.js'
import { limits } from '../limits.js'
import type { Caller } from '../pool/tasks.js'
import type { Mask } from '../shard/mask.js'
import type { CountMode } from '../shard/select.js'
import type { Masks } from './masks.js'
import type { SourceSelection } from './merge.js'
import type { Query } from './validate.js'

/** What is known of named areas at one moment of a snapshot. */
export interface NamedRuns {
  readonly masks: Masks
  /** Undefined where counts are not kept. */
  readonly counts: NamedCounts | undefined
  readonly moment: number
}

/** A query of named areas, by their key. */
type NamedQuery = Query & { readonly named: string }

type Found = readonly SourceSelection[]

export function isNamed(query: Query): query is NamedQuery {
  return query.named !== undefined
}

/**
 * Searches named areas by what is known of them.
 *
 * @param search  searches the shapes of a query within a mask
 */
export function searchNamed(
  { masks, counts, moment }: NamedRuns,
  query: NamedQuery,
  countMode: CountMode,
  caller: Caller,
  search: (query: Query, mask: Mask | null) => Promise<Found>,
): Promise<Found> {
  const asked = counts?.asked(query, countMode, moment)
  const known = asked?.known()
  if (known !== undefined) return Promise.resolve(known)
  const within = (mask: Mask | null) =>
    search(mask === null ? query : { ...query, shapes: EVERYWHERE }, mask)
  const mask = maskOf(masks, query, caller)
  const found = mask instanceof Promise ? mask.then(within) : within(mask)
  return asked === undefined ? found : found.then((selections) => asked.keep(selections))
}

/** Null where the areas must be searched as they are drawn: they take too much memory, or others wait. */
function maskOf(masks: Masks, { named, shapes }: NamedQuery, caller: Caller) {
  const areas = { key: named, areas: [shapes.included], isSecret: false }
  try {
    const mask = masks.of(areas, caller)
    return mask instanceof Promise ? mask.catch(drawnInstead) : mask
  } catch (fault) {
    return drawnInstead(fault)
  }
}

function drawnInstead(fault: unknown): null {
  const isBound = fault instanceof ServiceError && fault.code === 'TooComplex'
  if (isBound || fault === OVERLOADED) return null
  throw fault
}

/** Of which a mask leaves whoever is in it. */
export const EVERYWHERE = including(
  polygonsOf([
    [
      [
        [-180, -90],
        [180, -90],
        [180, 90],
        [-180, 90],
      ],
    ],
  ]),
)

interface KeptCounts {
  readonly moment: number
  /** Of the suppression lists, as it was before they were counted. */
  readonly version: number
  readonly selections: Found
}

/** Counts of one snapshot. */
export class NamedCounts {
  /** Those that were asked for least lately come first. */
  readonly #kept = new Map<string, KeptCounts>()
  readonly #suppressionVersion: () => number
  readonly #mostCount: number

  /**
   * @param suppressionVersion  up to which change to the suppression lists all recipients are marked
   * @param mostCount  that are kept
   */
  constructor(suppressionVersion: () => number, mostCount: number = limits.namedCountsKeptCount) {
    this.#suppressionVersion = suppressionVersion
    this.#mostCount = mostCount
  }

  /** Undefined for a query that lists. */
  asked({ countsOnly, named, sourceIds, isDistinct }: NamedQuery, mode: CountMode, moment: number) {
    if (!countsOnly) return undefined
    const key = `${named} ${mode} ${isDistinct} ${sourceIds}`
    // Before anybody is counted: who is suppressed meanwhile may still be in the counts.
    const version = this.#suppressionVersion()
    return {
      known: (): Found | undefined => {
        const kept = this.#kept.get(key)
        if (kept?.moment !== moment || kept.version !== version) return undefined
        this.#kept.delete(key)
        this.#kept.set(key, kept)
        return kept.selections
      },
      keep: (selections: Found): Found => {
        this.#kept.delete(key)
        this.#kept.set(key, { moment, version, selections })
        const [oldest] = this.#kept.keys()
        if (this.#kept.size > this.#mostCount) this.#kept.delete(oldest)
        return selections
      },
    }
  }
}
