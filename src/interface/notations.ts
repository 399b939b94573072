/**
 * The members of a request that draw shapes in other notations than GeoJSON, or name areas.
 *
 * @module
 */
import { Type } from '#typebox'
import { limits } from '../limits.js'
import { flag, text } from './members.js'

export const notationMembers = {
  areas: Type.Array(Type.String(), {
    description:
      'Names of areas of the gazetteer, such as counties:48201 or SAME:048201. Selected is the union of all ' +
      'that the members of the request draw.',
    maxItems: limits.areaNameCount,
  }),
  wkt: text('A geometry in WKT or EWKT (SRID 4326), longitude before latitude.'),
  wkb: text('A geometry in WKB or EWKB (SRID 4326), as hex digits, longitude before latitude.'),
  bbox: Type.Array(Type.Number(), {
    description:
      '[west, south, east, north] in degrees (RFC 7946, 5). A west that is greater than the east is on ' +
      'the other side of the antimeridian.',
  }),
  h3: Type.Array(Type.String(), {
    description:
      'Indexes of H3 cells of any resolutions: polygons of their corners, with straight edges.',
    maxItems: limits.cellCount,
  }),
  geohash: Type.Array(Type.String(), { description: 'Geohashes, whose boxes are meant.' }),
  polyline: Type.Unknown({
    description:
      'An encoded polyline of precision 5, or {points, precision, polygon}. It has latitude before longitude.',
  }),
  mgrs: Type.Array(Type.String(), {
    description: 'References of MGRS, such as 15RTN7000090000: the squares that they name.',
  }),
  cap: Type.Unknown({
    description:
      'An alert: a text of CAP 1.2, or the GeoJSON of an alert of api.weather.gov. Its areas are selected: all ' +
      'polygons, circles and geocodes, which are looked up in the gazetteer.',
  }),
  language: text(
    'Of an alert only the information in this language, such as en or fr-CA. Default all.',
  ),
  expired: flag('True selects the areas of an alert that has expired, too. Default false.'),
  ended: flag(
    'False leaves out the information of an alert that says that the danger is over: an all-clear, an urgency of Past, ' +
      'a certainty of Unlikely. Default true.',
  ),
  profile: Type.Unsafe<'WEA' | 'NWS' | 'CAP-CP'>({
    type: 'string',
    enum: ['WEA', 'NWS', 'CAP-CP'],
    description: 'Refuses an alert that violates the rules of this profile. Default none.',
  }),
  geocodes: Type.Unsafe<'union' | 'fallback'>({
    type: 'string',
    enum: ['union', 'fallback'],
    description:
      'union: the geocodes of an alert count beside its polygons and circles, as CAP says. fallback: only in an ' +
      'area without a polygon and a circle. Default union, and with a profile fallback.',
  }),
  geocodeSystems: Type.Array(Type.String(), {
    description:
      'Of the geocodes of an alert only those of these systems count, such as SAME. Default all.',
  }),
  kml: text('A document of KML: what its placemarks draw, and nothing of what they say.'),
  gpx: text('A document of GPX: its waypoints, routes and tracks.'),
  topoJSON: Type.Unknown({
    description:
      'A topology of TopoJSON: its one object, or the one that its member object names. Properties of its ' +
      'features are those of GeoJSON.',
  }),
  utm: Type.Array(Type.String(), {
    description: 'Points of UTM on WGS 84, such as 15R 270000 3290000: zone, easting, northing.',
  }),
}
