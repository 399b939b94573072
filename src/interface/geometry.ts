/**
 * Shapes as the Esri map libraries write them.
 *
 * @module
 */
import { Type } from '#typebox'
import { integer, listOf, member, members, refusing, text } from './members.js'

const UnguardedReferenceSchema = members(
  'SpatialReference',
  'What coordinates are. Without one they are longitude and latitude in degrees.',
  {
    wkid: integer(
      'Well-known id. 4326: degrees. 102100, 3857, 900913 or 102113: metres of web Mercator.',
    ),
    latestWkid: integer('The current id of the same reference, such as 3857 for 102100.'),
  },
)

export const SpatialReferenceSchema = refusing(UnguardedReferenceSchema, {
  wkt: ['wkid', 'latestWkid'],
  wkt2: ['wkid', 'latestWkid'],
})

const UnguardedGeometrySchema = members('Geometry', 'A polygon of the Esri map libraries.', {
  type: text('"polygon".'),
  rings: listOf(
    Type.Array(Type.Array(Type.Number())),
    'Rings, each a list of [x, y]: longitude and latitude in degrees, or metres as ' +
      'spatialReference says. Rings inside others are holes.',
  ),
  spatialReference: member(SpatialReferenceSchema, 'What the coordinates are.'),
})

/** Other geometries, GeoJSON among them, would become a polygon without rings. */
const OTHER_GEOMETRIES = [
  ...['curverings', 'curvepaths', 'paths', 'points', 'x', 'y', 'xmin', 'ymin', 'xmax', 'ymax'],
  ...['coordinates', 'geometries', 'geometry', 'features', 'shapes', 'crs'],
]

export const GeometrySchema = refusing(
  UnguardedGeometrySchema,
  Object.fromEntries(OTHER_GEOMETRIES.map((name) => [name, []])),
)
