/**
 * Polygons as people draw them around what has happened.
 *
 * @module
 */
import type { Polygon } from 'geojson'
import { type Pen, sevenDecimals } from '../../test/support/random/fine-coordinates.js'
import { randomShape } from '../../test/support/random/shapes.js'
import { type Random, seededRandom } from '../../test/support/random/world.js'

/** Units of 1e-7 degree. */
export interface Positions {
  readonly lngs: ArrayLike<number>
  readonly lats: ArrayLike<number>
}

/**
 * Polygons of 5 to 12 vertices around recipients drawn at random: where many people live, many
 * shapes are drawn. Radii are 1 to 20 km, as many below 4.5 km as above.
 */
export function drawnPolygons(positions: Positions, shapeCount: number, seed: number): Polygon[] {
  const random = seededRandom(seed)
  return Array.from({ length: shapeCount }, () => drawnPolygon(positions, random))
}

/** @param pen  writes coordinates with seven decimals, or more */
export function drawnPolygon(
  { lngs, lats }: Positions,
  random: Random,
  pen: Pen = sevenDecimals,
): Polygon {
  const row = random.between(0, lngs.length - 1)
  const [coordinates] = randomShape('drawn', random, lngs[row], lats[row], pen)
  return { type: 'Polygon', coordinates }
}
