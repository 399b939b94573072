/**
 * Who must be in an answer, by brute force over what was imported.
 *
 * @module
 */
import type { Rows } from '../../test/oracle/counties.js'
import { type Prepared, prepare } from '../../test/oracle/geometry/exact.js'
import { type Grid, rowsInside, sortIntoCells } from '../../test/oracle/geometry/grid.js'
import { distanceMetres, placeAt } from '../../test/oracle/geometry/sphere.js'
import {
  type CircleFeature,
  isCircle,
  type SelectFeature,
  type Selection,
} from '../requests/requests.js'
import { readAnswer } from './answer-rows.js'

export interface Oracle {
  /** Rows that are inside any of the features, in no order. */
  rowsInside(features: readonly SelectFeature[]): number[]
  /** What is wrong with an answer, without phones and positions; undefined if it is right. */
  faultOf(selection: Selection, answer: string): string | undefined
}

export function createOracle(rows: Rows): Oracle {
  const select = (features: readonly SelectFeature[], slackMetres: number) => {
    const grid = gridOf(rows)
    const found = features.map((feature) => rowsInside(prepared(feature, slackMetres), rows, grid))
    return found.length === 1 ? found[0] : [...new Set(found.flat())]
  }
  const faultOf = ({ features, countsOnly }: Selection, answer: string): string | undefined => {
    const { count, recipients } = readAnswer(answer)
    if (!countsOnly) return compareRows(rows, select(features, 0), count, recipients)
    const inside = select(features, 0).length
    if (count === inside) return undefined
    const [least, most] = [-DOUBT_METRES, DOUBT_METRES].map((slack) => select(features, slack))
    if (count >= least.length && count <= most.length) return undefined
    return `expected ${inside}, counted ${count}`
  }
  return { rowsInside: (features) => select(features, 0), faultOf }
}

type Held = Pick<Prepared, 'bounds' | 'contains'>

/** Within so much of the limit of a circle, rounding decides. */
const DOUBT_METRES = 1e-6

/** Made once: of ten million rows, it takes some seconds. */
const grids = new WeakMap<Rows, Grid>()

function gridOf(rows: Rows): Grid {
  const grid = grids.get(rows) ?? sortIntoCells(rows)
  grids.set(rows, grid)
  return grid
}

function prepared(feature: SelectFeature, slackMetres: number): Held {
  if (isCircle(feature)) return preparedCircle(feature, slackMetres)
  const { geometry } = feature
  return prepare(geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates)
}

/** Circles do not reach a pole or the antimeridian. */
function preparedCircle({ geometry, properties }: CircleFeature, slackMetres: number): Held {
  const centre = placeAt(geometry.coordinates)
  const limitMetres = properties.radius + slackMetres
  const latReach = limitMetres / METRES_PER_UNIT + 1
  const widestLat = ((Math.abs(centre.latUnits) + latReach) / 1e7) * (Math.PI / 180)
  const lngReach = latReach / Math.cos(widestLat)
  const bounds = {
    minLng: centre.lngUnits - lngReach,
    minLat: centre.latUnits - latReach,
    maxLng: centre.lngUnits + lngReach,
    maxLat: centre.latUnits + latReach,
  }
  return {
    bounds: [bounds],
    contains: (lngUnits, latUnits) => distanceMetres({ lngUnits, latUnits }, centre) <= limitMetres,
  }
}

/** Fewer than there are on a sphere of 6,371 km, so that bounds are no tighter than the circle. */
const METRES_PER_UNIT = 0.0111

function compareRows(
  { phones, lngs, lats }: Rows,
  inside: readonly number[],
  count: number,
  recipients: readonly string[],
): string | undefined {
  if (recipients.length !== count) return `${recipients.length} listed with a count of ${count}`
  if (count !== inside.length) return `expected ${inside.length}, listed ${count}`
  // The quotient is the double nearest to the decimal, which is what parsing JSON gives, too.
  const expected = inside.map((row) => `${phones[row]} ${lats[row] / 1e7} ${lngs[row] / 1e7}`)
  expected.sort()
  const listed = recipients.toSorted()
  const differing = expected.filter((recipient, at) => recipient !== listed[at]).length
  return differing === 0 ? undefined : `other recipients listed, from ${differing} of them on`
}
