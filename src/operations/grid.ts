/**
 * GridRequest: how many recipients are in each cell of a grid.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { type Answer, type BodyWriter, writeBody } from '../format/answer.js'
import { csvRecord, csvTable } from '../format/csv.js'
import { warningHeaders } from '../format/warning-headers.js'
import { type GridDocument, GridRequestSchema, GridSchema } from '../interface/grid.js'
import { type CurrentService, selectForCounts } from '../selection/answer.js'
import { countOnGrid } from '../selection/grid-counts.js'
import { type GridTerms, readGridRequest } from '../selection/grid-request.js'
import { shapesRecord } from '../selection/shapes-record.js'
import { cellsOf } from '../shard/grid/cells.js'
import { columnsOf } from './document-answer.js'
import type { Execute } from './execute.js'

export function gridOperations(current: CurrentService): { GridRequest: Execute } {
  return {
    async GridRequest(request, caller) {
      const { selection, terms } = readGridRequest(request)
      const service = current.hold(caller)
      const selected = await selectForCounts(service, selection, MEMBERS, caller)
      const { selections, catalogue, shapes, remarks } = selected
      const counts = await countOnGrid(service.runner, selections, terms.grid, caller)
      const selectedCount = selections.reduce((sum, { count }) => sum + count, 0)
      const { snapshotId, sequence } = catalogue
      const sources = selections.map(({ source, count }) => ({ id: source.id, count }))
      const { warnings } = remarks
      return {
        ...gridAnswer(gridOf(counts, selectedCount, terms), terms, warnings),
        headers: {
          'X-Snapshot': snapshotId,
          'X-Sequence': String(sequence),
          'Cache-Control': 'no-store',
          ...warningHeaders(warnings),
        },
        records: () => [
          {
            facts: () => ({
              snapshotId,
              changesSequence: sequence,
              shapes: shapesRecord(shapes),
              sources,
            }),
          },
        ],
      }
    },
  }
}

const MEMBERS = Object.keys(GridRequestSchema.properties)

/** What an answer says in any format. */
interface CountedGrid {
  /** In the order of the grid. */
  readonly cells: readonly (readonly [cell: number, count: number])[]
  readonly about: Omit<GridDocument, 'Cells' | 'Warnings'>
}

/**
 * With a `minCount`, nothing is said from which the sum of the cells that are left out follows: no total, and not how
 * many are beyond a tile.
 */
function gridOf(
  counts: ReadonlyMap<number, number>,
  selectedCount: number,
  { grid, minCount }: GridTerms,
): CountedGrid {
  const cells = [...counts].filter(([, count]) => count >= (minCount ?? 1))
  cells.sort(([left], [right]) => left - right)
  const shownCount = cells.reduce((sum, [, count]) => sum + count, 0)
  const isWhole = (minCount ?? 1) === 1
  return {
    cells,
    about: {
      Count: shownCount,
      ...(grid.kind === 'tile' && isWhole && { OutsideCount: selectedCount - shownCount }),
      ...(minCount !== undefined && { SuppressedCellCount: counts.size - cells.length }),
    },
  }
}

function gridAnswer(
  { cells, about }: CountedGrid,
  { grid }: GridTerms,
  warnings: Answer['warnings'],
): Omit<Answer, 'headers'> {
  const gridCells = cellsOf(grid)
  const rows = () => cells.map(([cell, Count]) => ({ Cell: gridCells.nameOf(cell), Count }))
  const document = () => ({
    Cells: rows(),
    ...about,
    ...(warnings !== undefined && { Warnings: warnings }),
  })
  return {
    warnings,
    heldBytes: cells.length * CELL_BYTES,
    json: () => JSON.stringify(document()),
    geoJson: () =>
      inPieces(
        { ...about, ...(warnings !== undefined && { Warnings: warnings }) },
        cells,
        ([cell, Count]) => {
          const Cell = gridCells.nameOf(cell)
          const geometry = { type: 'MultiPolygon', coordinates: gridCells.areaOf(cell) }
          return JSON.stringify({
            type: 'Feature',
            id: Cell,
            geometry,
            properties: { Cell, Count },
          })
        },
      ),
    csv: () => csvTable(CELL_COLUMNS, rows()),
    csvRecord: () => csvRecord(COLUMNS, document()),
  }
}

const CELL_BYTES = 64
const CELL_COLUMNS = columnsOf(GridSchema.properties.Cells.items)
/** Warnings have a header. */
const COLUMNS = columnsOf(GridSchema).filter((name) => name !== 'Warnings')

/** A FeatureCollection, some features at a time: others get their answers in between. */
function inPieces<Item>(
  members: object,
  items: readonly Item[],
  textOf: (item: Item) => string,
): BodyWriter {
  return {
    async write(sink) {
      const head = JSON.stringify({ type: 'FeatureCollection', ...members }).slice(0, -1)
      await writeBody(`${head},"features":[`, sink)
      for (let at = 0; at < items.length && !sink.gone; at += PIECE_COUNT) {
        const texts = items.slice(at, at + PIECE_COUNT).map(textOf)
        await writeBody((at === 0 ? '' : ',') + texts.join(','), sink)
        await setImmediate()
      }
      await writeBody(']}', sink)
    },
  }
}

const PIECE_COUNT = 512
