/**
 * A hash of all that shapes select by.
 *
 * @module
 */
import { createHash, type Hash } from 'node:crypto'
import { layerArrays } from '../geometry/layer-parts.js'
import type { Shapes } from '../geometry/shapes.js'

/**
 * SHA-256, to which more can be added.
 *
 * @param about  what else it is of; its members are hashed in their order
 */
export function shapesHash({ included, excluded, nearest }: Shapes, about: object = {}): Hash {
  const arrays = [...included, ...excluded].flatMap(layerArrays)
  // Lengths go before contents: what is drawn otherwise is then never the same bytes.
  const plain = {
    ...about,
    nearest,
    included: included.map((layer) => layer.sourceIds),
    excluded: excluded.map((layer) => layer.sourceIds),
    lengths: arrays.map(({ length }) => length),
  }
  const hash = createHash('sha256').update(JSON.stringify(plain))
  for (const array of arrays) hash.update(array)
  return hash
}
