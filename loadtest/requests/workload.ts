/**
 * The canonical workload: what is asked, and how often. It is made from the recipients and a seed,
 * and nothing else.
 *
 * @module
 */
import { loadCounties, withoutDegenerateRings } from '../../test/support/data/counties.js'
import { mapLibraryPen } from '../../test/support/random/fine-coordinates.js'
import { type Random, seededRandom } from '../../test/support/random/world.js'
import { loadStates } from './atlas.js'
import { drawnPolygon, type Positions } from './drawn.js'
import { type AreaFeature, areaFeature, circleFeature, type Selection } from './requests.js'

/**
 * Of a thousand requests. People draw around what has happened and look at the count until it is
 * what they meant; then they send for the list once.
 */
export const WEIGHTS = {
  /** A drawn polygon, 1 to 20 km, with all digits that a map library sends: the count. */
  drawnCount: 780,
  /** A drawn polygon of at most `LISTED_COUNT_MAX` recipients: the list. */
  drawnList: 40,
  /** A circle of 1 to 20 km: the count. */
  circleCount: 120,
  /** A county of us-atlas: the count. */
  countyCount: 50,
  /** A state of us-atlas: the count. */
  stateCount: 10,
} as const

export type Kind = keyof typeof WEIGHTS

/** So that what is sent does not grow with the number of recipients served. */
export const LISTED_COUNT_MAX = 1_000

export interface WorkloadItem extends Selection {
  readonly kind: Kind
}

/**
 * Exactly by weight for a thousand, or for a whole multiple or part of it; in random order.
 *
 * @param countOf  counts who is inside, to find polygons that may be listed
 */
export function buildWorkload(
  positions: Positions,
  itemCount: number,
  seed: number,
  countOf: (features: readonly AreaFeature[]) => number,
): WorkloadItem[] {
  const random = seededRandom(seed)
  const makers = makersOf(positions, random, seededRandom(seed + 1), countOf)
  const items = (Object.keys(WEIGHTS) as Kind[]).flatMap((kind) =>
    Array.from({ length: Math.round((itemCount * WEIGHTS[kind]) / 1_000) }, () => makers[kind]()),
  )
  return shuffled(items, random)
}

function makersOf(
  positions: Positions,
  random: Random,
  penRandom: Random,
  countOf: (features: readonly AreaFeature[]) => number,
): Record<Kind, () => WorkloadItem> {
  const counties = areasOf(loadCounties())
  const states = areasOf(loadStates())
  const count = (kind: Kind, feature: Selection['features'][number]): WorkloadItem => ({
    kind,
    features: [feature],
    countsOnly: true,
  })
  const drawn = () => areaFeature(drawnPolygon(positions, random, mapLibraryPen(penRandom)))
  return {
    drawnCount: () => count('drawnCount', drawn()),
    drawnList: () => {
      let features = [drawn()]
      while (countOf(features) > LISTED_COUNT_MAX) features = [drawn()]
      return { kind: 'drawnList', features, countsOnly: false }
    },
    circleCount: () => count('circleCount', circleAround(positions, random)),
    countyCount: () => count('countyCount', random.pick(counties)),
    stateCount: () => count('stateCount', random.pick(states)),
  }
}

/** What has a ring of three different points, at least. */
function areasOf(
  areas: readonly { readonly geometry: AreaFeature['geometry'] }[],
): readonly AreaFeature[] {
  return areas
    .flatMap(({ geometry }) => withoutDegenerateRings(geometry) ?? [])
    .map((geometry) => areaFeature(geometry))
}

/** Of 1 to 20 km, as many below 4.5 km as above, around a recipient drawn at random. */
function circleAround({ lngs, lats }: Positions, random: Random) {
  const row = random.between(0, lngs.length - 1)
  return circleFeature(lngs[row] / 1e7, lats[row] / 1e7, Math.round(1_000 * 20 ** random.unit()))
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const all = [...items]
  for (let at = all.length - 1; at > 0; at--) {
    const other = random.between(0, at)
    ;[all[at], all[other]] = [all[other], all[at]]
  }
  return all
}
