/**
 * Grid requests answered without a server.
 *
 * @module
 */
import type { Format } from '../../../src/format/formats.js'
import type { GridDocument } from '../../../src/interface/grid.js'
import { gridOperations } from '../../../src/operations/grid.js'
import type { Asker } from '../../../src/selection/access.js'
import type { SelectionService } from '../../../src/selection/answer.js'
import { bodyText } from '../service/body-text.js'
import { always } from '../service/current.js'
import { inTime } from '../service/in-time.js'

/** The body of an answer. */
export async function gridText(
  service: SelectionService,
  request: object,
  format: Extract<Format, 'json' | 'csv' | 'geojson'> = 'json',
  asker: Asker = inTime(),
): Promise<string> {
  const { GridRequest } = gridOperations(always(service))
  const answer = await GridRequest(request as Readonly<Record<string, unknown>>, asker)
  if (answer === undefined) throw new Error('a grid request is answered')
  if (format === 'json') return await bodyText(answer.json())
  return await bodyText(format === 'csv' ? answer.csv('flat') : (answer.geoJson?.() ?? ''))
}

export async function gridOf(
  service: SelectionService,
  request: object,
  asker?: Asker,
): Promise<GridDocument> {
  return JSON.parse(await gridText(service, request, 'json', asker)) as GridDocument
}

/** Its cells as an object. */
export function cellsIn({ Cells = [] }: GridDocument): Record<string, number> {
  const found = Cells.map(({ Cell = '', Count = 0 }) => [Cell, Count] as const)
  return Object.fromEntries(found.sort(([left], [right]) => (left < right ? -1 : 1)))
}
