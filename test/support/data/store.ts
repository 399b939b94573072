/**
 * A store in a directory that goes away with the test.
 *
 * @module
 */
import type { Test } from 'tap'
import { createLog } from '../../../src/log.js'
import { createStore, type MainStore } from '../../../src/store/store.js'
import type { Scope } from '../../../src/store/suppressions.js'
import { openTables, storeDirectory } from '../../../src/store/tables.js'
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

/** The phones of a suppression list, in their order. */
export async function phonesOn(dataDirectory: string, scope: Scope): Promise<string[]> {
  const tables = openTables(storeDirectory(dataDirectory), 'read')
  const start = `${scope}/`
  const keys = Array.from(tables.suppressions.getKeys({}))
  await tables.close()
  return keys.filter((key) => key.startsWith(start)).map((key) => key.slice(start.length))
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
