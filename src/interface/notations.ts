/**
 * The members of a request that draw shapes in other notations than GeoJSON, or name areas.
 *
 * @module
 */
import { Type } from 'typebox'
import { limits } from '../limits.js'

export const notationMembers = {
  areas: Type.Array(Type.String(), {
    description:
      'Names of areas of the gazetteer, such as counties:48201 or SAME:048201. Selected is the union of all ' +
      'that the members of the request draw.',
    maxItems: limits.areaNameCount,
  }),
}
