/**
 * The effective area of a recipient request, to look at and to keep.
 *
 * @module
 */
import { type Static, Type } from '#typebox'
import { GeometrySchema } from './geometry.js'
import { flag, integer, listOf, member, members, number, text } from './members.js'
import { RecipientRequestSchema } from './recipients.js'
import { warnings } from './warnings.js'

export const OutlineRequestSchema = members(
  'OutlineRequest',
  'Asks which area a recipient request selects from.',
  {
    ...RecipientRequestSchema.properties,
    countsOnly: flag('Without effect here, so that a recipient request can be sent as it is.'),
    distinct: flag('Without effect here.'),
    limit: integer('Without effect here.'),
    after: text('Without effect here.'),
    clipToBoundary: flag(
      'True cuts off what lies beyond CustomerBoundaryGeometry of the configuration. Default false; ' +
        'where the service always does so, false changes nothing.',
    ),
  },
)

const MultiPolygonSchema = members(
  'MultiPolygon',
  'A MultiPolygon of GeoJSON (RFC 7946), cut at the antimeridian; shells run counterclockwise, ' +
    'holes clockwise.',
  {
    type: Type.Unsafe<'MultiPolygon'>({
      type: 'string',
      enum: ['MultiPolygon'],
      description: 'What it is.',
    }),
    coordinates: listOf(
      Type.Array(Type.Array(Type.Array(Type.Number()))),
      'Polygons, each a list of rings of [longitude, latitude] in degrees; the first ring is the ' +
        'shell, the others are holes.',
    ),
  },
)

const areaMembers = {
  GeoJson: member(MultiPolygonSchema, 'The area in GeoJSON.'),
  Rings: member(
    GeometrySchema,
    'The same area as a polygon of Esri, in degrees; shells run clockwise, holes counterclockwise.',
  ),
}

const PlainAreaSchema = members('PlainArea', 'An area in two notations.', areaMembers)

const DrawnAreaSchema = members(
  'DrawnArea',
  'What is inside one ring as it was drawn. It may cross itself, and means the even-odd rule.',
  {
    ...areaMembers,
    Holes: listOf(
      PlainAreaSchema,
      'What is inside any of these is not in the area. They may reach beyond it.',
    ),
  },
)

export const OutlineSchema = members(
  'Outline',
  'The area that holds for some sources: GeoJson and Rings, or, where shapes could not be united, ' +
    'what lies in any of Included, in none of Excluded and, if it is there, in any of Boundary.',
  {
    SourceIds: listOf(Type.Integer(), 'Ids of the sources for which this is the area.'),
    ...areaMembers,
    Included: listOf(DrawnAreaSchema, 'Shapes that select. Left out where they could be united.'),
    Excluded: listOf(DrawnAreaSchema, 'Shapes that take away. Left out with Included.'),
    Boundary: listOf(
      DrawnAreaSchema,
      'Shapes that nothing is selected beyond. Left out with Included, and without clipToBoundary.',
    ),
  },
)

const ProblemSchema = Type.Unsafe<
  'TooManyVertices' | 'TookTooLong' | 'OutOfMemory' | 'ClippingFailed' | 'CheckFailed'
>({
  type: 'string',
  enum: ['TooManyVertices', 'TookTooLong', 'OutOfMemory', 'ClippingFailed', 'CheckFailed'],
  description: 'Why the shapes could not be united. Left out where they could.',
})

export const OutlineResponseSchema = members(
  'OutlineResponse',
  'The area that a recipient request selects from.',
  {
    Outlines: listOf(OutlineSchema, 'One outline for all sources that have the same area.'),
    IsDissolved: flag('False where shapes could not be united: they are then given as drawn.'),
    Problem: ProblemSchema,
    HasShapesWithoutArea: flag(
      'Whether lines, points or flat rings select who is exactly on them, which no area shows.',
    ),
    ToleranceMetres: number(
      'How far, in metres, an outline may lie off the true limit, to either side.',
    ),
    Warnings: warnings(),
  },
)

export type PlainArea = Static<typeof PlainAreaSchema>
export type DrawnArea = Static<typeof DrawnAreaSchema>
export type Outline = Static<typeof OutlineSchema>
export type OutlineResponse = Static<typeof OutlineResponseSchema>
