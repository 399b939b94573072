/**
 * Counts on a grid, to draw a map of where people are.
 *
 * @module
 */
import { type Static, Type } from '#typebox'
import { limits } from '../limits.js'
import { integer, listOf, members, text } from './members.js'
import { notationMembers } from './notations.js'
import { RecipientRequestSchema } from './recipients.js'
import { warnings } from './warnings.js'

const { geoJSON, sources, contactCountMode, distinct, clipToBoundary, minSequence } =
  RecipientRequestSchema.properties

export const GridRequestSchema = members(
  'GridRequest',
  'Asks how many recipients are inside shapes, by the cells of a grid: h3Resolution or tile says of which.',
  {
    geoJSON,
    ...notationMembers,
    sources,
    contactCountMode,
    distinct,
    clipToBoundary,
    minSequence,
    h3Resolution: Type.Integer({
      description:
        'The cells are those of H3 of this resolution, from 0 (4,000,000 km²) to 15 (1 m²).',
      minimum: 0,
      maximum: 15,
    }),
    tile: text(
      'The cells are the parts of this tile of a web Mercator map, as zoom/column/row: "8/59/105".',
    ),
    cellsPerSide: Type.Integer({
      description:
        'With tile: in how many rows, and as many columns, it is divided; a power of two. Default 16.',
      minimum: 1,
      maximum: limits.gridSideCount,
    }),
    minCount: Type.Integer({
      description:
        'Leaves out the cells with fewer recipients, and says how many cells these are. Default 1.',
      minimum: 1,
      maximum: limits.gridMinCount,
    }),
  },
)

const GridCellSchema = members('GridCell', 'How many recipients are in one cell.', {
  Cell: text('The index of the cell in H3, or its own tile, as zoom/column/row.'),
  Count: integer('Recipients that are selected, or contacts in the mode Contact.'),
})

export const GridSchema = members('Grid', 'How many recipients are in each cell of a grid.', {
  Cells: listOf(GridCellSchema, 'The cells with somebody in them, by ascending Cell.'),
  Count: integer('The sum of their counts.'),
  OutsideCount: integer(
    'Recipients inside the shapes and beyond the tile; with Count, they are those that a recipient request counts. ' +
      'Left out with h3Resolution, and with a minCount above 1.',
  ),
  SuppressedCellCount: integer(
    'Cells that are left out since they have fewer recipients than minCount. Left out without minCount.',
  ),
  Warnings: warnings(),
})

export type GridDocument = Static<typeof GridSchema>
