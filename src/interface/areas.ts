/**
 * Areas that have names: what the gazetteer has, and where it is.
 *
 * @module
 */
import { type Static, Type } from '#typebox'
import { limits } from '../limits.js'
import { integer, listOf, member, members, number, requestMembers, text } from './members.js'
import { warnings } from './warnings.js'

export const AreaSearchSchema = requestMembers({
  layer: text('The layer to look in, such as counties. Default all.'),
  q: text(
    'What the name or the key of an area has in it, in any letter case and without accents. Areas of which a ' +
      'word begins with it are the first.',
  ),
  at: text(
    'A place that is in the area or on its boundary: longitude and latitude in degrees, as in -95.37,29.76.',
  ),
  limit: Type.Integer({
    description: `Areas of the page. Default ${limits.areaPageDefaultCount}.`,
    minimum: 1,
    maximum: limits.areaPageCount,
  }),
  after: text('NextAfter of the page before.'),
})

const areaMembers = {
  Id: text('layer:key, by which requests name it.'),
  Layer: text('Its layer.'),
  Key: text('Its key in the layer.'),
  Name: text('What it is called.'),
  Aliases: listOf(Type.String(), 'Other names by which requests may name it, such as SAME:048201.'),
}

const AreaSummarySchema = members('AreaSummary', 'An area that has a name.', areaMembers)

const AreaLayerSchema = members('AreaLayer', 'A layer of areas.', {
  Layer: text('Its name.'),
  AreaCount: integer('How many areas it has.'),
  Source: text('Where it comes from.'),
  Licence: text('Under which licence.'),
})

export const AreaListSchema = members('AreaList', 'Areas that were found.', {
  Version: text('Of the gazetteer.'),
  Results: listOf(AreaSummarySchema, 'By name; without q by name alone.'),
  NextAfter: text('The value of after for the next page. Absent on the last one.'),
  Layers: listOf(AreaLayerSchema, 'All layers of the gazetteer, by name.'),
  Warnings: warnings(),
})

export const AreaNameSchema = requestMembers({
  Name: text('layer:key, or an alias such as SAME:048201.'),
})

const AreaGeometrySchema = members(
  'AreaGeometry',
  'A MultiPolygon of GeoJSON (RFC 7946), cut at the antimeridian; shells run counterclockwise, holes clockwise.',
  {
    type: text('"MultiPolygon".'),
    coordinates: listOf(
      Type.Array(Type.Array(Type.Array(Type.Number()))),
      'Polygons, each a list of rings of [longitude, latitude].',
    ),
  },
)

export const AreaFeatureSchema = members('AreaFeature', 'An area as a Feature of GeoJSON.', {
  type: text('"Feature".'),
  id: text('As Id.'),
  bbox: listOf(
    number('Degrees.'),
    '[west, south, east, north]; west is greater than east where the area lies across the antimeridian.',
  ),
  geometry: member(AreaGeometrySchema, 'Where it is.'),
  properties: member(
    members('AreaProperties', 'What is known of an area.', {
      ...areaMembers,
      Warnings: warnings(),
    }),
    'What is known of it.',
  ),
})

export type AreaSummary = Static<typeof AreaSummarySchema>
export type AreaList = Static<typeof AreaListSchema>
