/**
 * What may be wrong with the areas of a context.
 *
 * @module
 */
import type { Area } from '../interface/context.js'
import type { Boundary } from '../selection/boundary.js'
import type { Catalogue } from '../selection/catalogue.js'
import { remarkOnExtents } from '../selection/places.js'
import type { Remarks } from '../selection/remarks.js'
import { validate } from '../selection/validate.js'
import { shapeOf } from '../store/shape-of.js'

/** Where recipients are. */
export interface Places {
  readonly catalogue: Pick<Catalogue, 'shards'>
  /** Undefined where nobody is beyond it. */
  readonly boundary: Boundary | undefined
}

/** Remarks on areas that have been counted. */
export function remarkOnAreas(
  areas: readonly Area[],
  { catalogue, boundary }: Places,
  remarks: Remarks,
): void {
  for (const [i, area] of areas.entries()) {
    if (!remarks.hasRoom) break
    const { Drawing, ContactTotalCount, HasInvalidShapeError } = area
    const shape = shapeOf(area)
    if (shape === undefined) {
      remarks.add('NoGeometry', 'has no geometry, and nobody is in it', `Areas[${i}]`)
    } else if (ContactTotalCount === 0 && HasInvalidShapeError === false) {
      // It can be read, since it was counted.
      const query = validate({ geoJSON: shape })
      const member = Drawing === undefined ? 'Geometry' : 'Drawing'
      remarkOnExtents(query, catalogue, boundary)
      for (const { Code, Message = '' } of query.remarks.warnings ?? []) {
        if (Code !== undefined) remarks.add(Code, Message, `Areas[${i}].${member}`)
      }
    }
  }
}
