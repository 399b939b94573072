/**
 * The shapes that a recipient request may draw, in GeoJSON or as the Esri map libraries write it. One
 * type has the members of all forms, since which of them are there tells the form.
 *
 * @module
 */
import { Type } from '#typebox'
import { limits } from '../limits.js'
import { SpatialReferenceSchema } from './geometry.js'
import { flag, geoJsonMembers, member, number, openMembers, orNull, text } from './members.js'

/** Half way round a sphere of 6,371 km: no two places are farther apart. */
const FARTHEST_METRES = Math.PI * 6_371_000

const metres = (description: string) =>
  Type.Number({ description, exclusiveMinimum: 0, maximum: FARTHEST_METRES })

/** Ids of sources, by which a feature or a request is limited. */
export const sourceIds = (description: string) =>
  Type.Array(Type.Integer(), { description, maxItems: limits.sourceCount })

const ShapePropertiesSchema = openMembers(
  'ShapeProperties',
  "What changes whom a feature selects. Other properties are the client's own.",
  {
    exclude: flag('True takes the feature away from all others. Default false.'),
    radius: metres(
      'Metres that the feature reaches beyond its geometry: a circle around a point, a corridor ' +
        'along a line, a margin around a polygon.',
    ),
    buffer: metres('The same as radius; only one of the two may be given.'),
    units: text(
      'Unit of radius or buffer: m, km, mi, ft or NM (nautical miles), or a word for one of them. Default m.',
    ),
    area: Type.Unknown({
      description:
        'Where the geometry is null: the name of an area of the gazetteer, such as counties:48201, or a list of ' +
        "names. Beside a geometry it is the client's own.",
    }),
    nearest: Type.Integer({
      description:
        'On a Point, without radius: picks so many recipients of each source, the nearest ones, ' +
        'from whoever the other features select, or from everybody where there are none.',
      minimum: 1,
      maximum: limits.nearestCount,
    }),
    sources: sourceIds('Ids of the sources that the feature is there for. Default all.'),
  },
)

const positions = (description: string) => Type.Array(Type.Array(Type.Number()), { description })
const side = (name: string) => number(`${name} side of an Esri envelope.`)

const geometryMembers = {
  coordinates: Type.Array(Type.Unknown(), {
    description:
      'GeoJSON: longitude and latitude in degrees, nested as the type asks. Longitudes are ' +
      'places modulo 360, up to 100,000,000 either way, latitudes from -90 to 90.',
  }),
  geometries: Type.Array(Type.Unknown(), {
    description: 'GeoJSON: the geometries of a GeometryCollection, each as HickoryGeometry.',
  }),
  bbox: Type.Unknown({ description: 'GeoJSON: bounds. Not looked at.' }),
  rings: Type.Array(Type.Array(Type.Array(Type.Number())), {
    description: 'Esri polygon: rings, each a list of [x, y]. Rings inside others are holes.',
  }),
  paths: Type.Array(Type.Array(Type.Array(Type.Number())), {
    description: 'Esri polyline: lines, each a list of [x, y].',
  }),
  points: positions('Esri multipoint: a list of [x, y].'),
  x: number('Esri point: longitude in degrees, or metres as spatialReference says.'),
  y: number('Esri point: latitude in degrees, or metres as spatialReference says.'),
  xmin: side('West'),
  ymin: side('South'),
  xmax: side('East'),
  ymax: side('North'),
  spatialReference: member(
    SpatialReferenceSchema,
    'What the coordinates of Esri geometries are. GeoJSON is in degrees.',
  ),
}

const HickoryGeometrySchema = geoJsonMembers(
  'HickoryGeometry',
  'A geometry of GeoJSON (RFC 7946) or of Esri, or an object with one member that has it in another ' +
    'notation: wkt, wkb, bbox, h3, geohash, polyline, mgrs or utm, as in a request.',
  {
    type: text(
      'GeoJSON: Point, MultiPoint, LineString, MultiLineString, Polygon, MultiPolygon or ' +
        'GeometryCollection, in this letter case. Esri: may be left out.',
    ),
    ...geometryMembers,
  },
)

const geometry = () =>
  orNull(member(HickoryGeometrySchema, 'Where the feature is. Null is nowhere.'))

const properties = () => orNull(member(ShapePropertiesSchema, 'What changes whom it selects.'))

const ShapeSchema = geoJsonMembers('Shape', 'A feature of GeoJSON.', {
  type: text('"Feature". May be left out.'),
  id: Type.Unknown({ description: "The client's own." }),
  bbox: Type.Unknown({ description: 'Bounds. Not looked at.' }),
  geometry: geometry(),
  properties: properties(),
})

export const GeoJsonSchema = geoJsonMembers(
  'GeoJson',
  'What was drawn: a FeatureCollection, a Feature, or a geometry of GeoJSON or Esri by itself. ' +
    'Selected is the union of all features, less those that exclude.',
  {
    type: text(
      '"FeatureCollection" or "Feature", which may be left out, or the type of a geometry of ' +
        'GeoJSON: Point, MultiPoint, LineString, MultiLineString, Polygon, MultiPolygon or ' +
        'GeometryCollection.',
    ),
    id: Type.Unknown({ description: "Of a Feature: the client's own." }),
    features: Type.Array(ShapeSchema, {
      description: 'FeatureCollection: its features. Shapes is read as well.',
      maxItems: limits.featureCount,
    }),
    geometry: geometry(),
    properties: properties(),
    ...geometryMembers,
  },
)
