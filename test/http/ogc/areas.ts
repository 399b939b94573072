/**
 * A service with areas in which it is known how many are, for readers of OGC API - Features.
 *
 * @module
 */
import type { Test } from 'tap'
import { makeDefaultAreas } from '../../../src/gazetteer/make-default.js'
import { writeLayers } from '../../../src/gazetteer/write-layers.js'
import { importGrid } from '../../support/data/grid.js'
import { squareGeometry } from '../../support/data/store.js'
import { type Service, serve, temporaryDirectory } from '../../support/service/hickory.js'

export const DISTRICTS = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
export const OTHERS = 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
export const EMPTY = 'cccccccccccccccccccccccccccccccc'

/** Squares side by side, from a tenth of a degree up: in square `i` is the square of `i + 1`. */
export const SQUARES = Array.from({ length: 25 }, (_, at) => ({
  Id: `square ${at}`,
  Name: `Square ${at}`,
  Geometry: squareGeometry(0, 0, (at + 1) / 10),
}))

const polygon = (...corners: number[][]) => ({ type: 'polygon', rings: [[...corners, corners[0]]] })

/** Where a box may meet the bounds of an area and not the area. */
export const OTHER_AREAS = [
  { Id: 'triangle', Name: 'South-west half', Geometry: polygon([0, 0], [0, 10], [10, 0]) },
  {
    Id: 'seam',
    Name: 'Over the antimeridian',
    Geometry: polygon([179, 0], [179, 1], [181, 1], [181, 0]),
  },
  { Id: 'a/b?c', Name: 'With an id that is no path', Geometry: squareGeometry(20, 30, 1) },
  { Name: 'Without an id', Geometry: squareGeometry(30, 20, 1) },
  { Id: 'nowhere', Name: 'Without a shape' },
]

/** @param options  of `hickory serve` */
export async function serveAreas(t: Test, ...options: readonly string[]): Promise<Service> {
  const data = temporaryDirectory(t)
  await importGrid(t, data)
  const service = await serve(t, '--data', data, ...options)
  await storeAreas(service)
  return service
}

export async function storeAreas(
  { url }: Pick<Service, 'url'>,
  headers: Record<string, string> = {},
) {
  const contexts = [
    { Id: DISTRICTS, ContextName: 'Districts', Areas: SQUARES },
    { Id: OTHERS, ContextName: 'Other areas', Areas: OTHER_AREAS },
    { Id: EMPTY, ContextName: 'Nothing yet', Areas: [] },
  ]
  for (const context of contexts) {
    const response = await fetch(`${url}/api/contexts`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(context),
    })
    if (response.status !== 200) throw new Error(await response.text())
  }
}

export const COUNTIES = 'areas-counties'
export const ZONES = 'areas-zones'

/** The same, with a layer beside those that come with the program. */
export async function serveNamedAreas(t: Test): Promise<Service> {
  const data = temporaryDirectory(t)
  await importGrid(t, data)
  await writeZones(data)
  const service = await serve(t, '--data', data)
  await storeAreas(service)
  return service
}

/** Writes the layers that come with the program, and one beside them. */
export async function writeZones(data: string): Promise<void> {
  await makeDefaultAreas(data)
  const area = (key: string, corners: number[][], aliases: string[] = []) => ({
    ...{ key, name: key[0].toUpperCase() + key.slice(1), aliases },
    geometry: { type: 'Polygon', coordinates: [[...corners, corners[0]]] },
  })
  const [triangle, seam] = OTHER_AREAS.map(({ Geometry }) => Geometry)
  const cornersOf = (geometry: object | undefined) =>
    (geometry as { rings: number[][][] }).rings[0].slice(0, -1)
  const square = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ]
  const areas = [
    area('triangle', cornersOf(triangle)),
    area('square', square, ['OLD:1']),
    area('seam', cornersOf(seam)),
  ]
  const zones = { layer: 'zones', source: 'a survey', licence: 'free', areas }
  await writeLayers(data, { set: [zones] })
}
