/**
 * Outline requests answered in the test's own thread, and the shapes that they are made of.
 *
 * @module
 */

import { Value } from 'typebox/value'
import { type OutlineResponse, OutlineResponseSchema } from '../../../src/interface/outline.js'
import { outlineOperations } from '../../../src/operations/selections.js'
import { type OutlineTask, runTask } from '../../../src/outline/run-task.js'
import type { ClipRunner } from '../../../src/pool/tasks.js'
import { createBoundaryRule } from '../../../src/selection/boundary.js'
import type { JsonObject } from '../../../src/selection/parse.js'
import { inTime } from '../service/in-time.js'

export const sources = [3, 5, 8].map((id) => ({ id, label: `Source ${id}` }))
/** One for each source, all round the globe. */
export const shards = sources.map(({ id }, placeId) => ({
  sourceId: id,
  placeId,
  box: { minLng: -180e7, minLat: -90e7, maxLng: 180e7, maxLat: 90e7 },
}))
export const here: ClipRunner = { run: async (task) => ({ value: runTask(task as OutlineTask) }) }
const customerBoundary = {
  type: 'polygon',
  rings: [square(0, 0, 4, 2)],
  spatialReference: { wkid: 4326, latestWkid: 4326 },
}

export function asked(
  request: JsonObject,
  runner = here,
  boundary: object | undefined = customerBoundary,
) {
  const boundaryRule = createBoundaryRule(() => boundary, false)
  const service = { catalogue: { sources, shards }, runner, boundaryRule }
  return outlineOperations(service).OutlineRequest(request, inTime())
}

export async function response(...of: Parameters<typeof asked>): Promise<OutlineResponse> {
  const text = (await asked(...of))?.json()
  const parsed = JSON.parse(String(text))
  if (!Value.Check(OutlineResponseSchema, parsed)) throw new Error('not as the schema has it')
  return parsed as OutlineResponse
}

export function square(west: number, south: number, width: number, height = width): number[][] {
  const [east, north] = [west + width, south + height]
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}

export const polygon = (...rings: number[][][]) => ({ type: 'Polygon', coordinates: rings })
export const feature = (geometry: object, properties: object = {}) => ({ geometry, properties })
export const collection = (...features: object[]) => ({ geoJSON: { features } })

/** Closed rings begin anywhere: here with their least vertex. */
export function turned(ring: readonly (readonly number[])[] = []): string {
  const open = ring.slice(0, -1).map(String)
  const first = open.indexOf([...open].sort()[0])
  return [...open.slice(first), ...open.slice(0, first)].join(' ')
}
