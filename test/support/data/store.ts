/**
 * A store in a directory that goes away with the test.
 *
 * @module
 */
import type { Test } from 'tap'
import { createLog } from '../../../src/log.js'
import { createStore, type MainStore } from '../../../src/store/create.js'
import { temporaryDirectory } from '../service/hickory.js'

export const silentLog = createLog('silent')

export async function temporaryStore(
  t: Test,
  dataDirectory: string = temporaryDirectory(t),
): Promise<MainStore> {
  const store = await createStore(dataDirectory, silentLog)
  t.teardown(() => store.close())
  return store
}

/** A closed square in degrees, as an Esri polygon. */
export function squareGeometry(lng: number, lat: number, size: number) {
  const rings = [
    [
      [lng, lat],
      [lng, lat + size],
      [lng + size, lat + size],
      [lng + size, lat],
      [lng, lat],
    ],
  ]
  return { type: 'polygon', rings, spatialReference: { wkid: 4326 } }
}
