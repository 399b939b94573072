/**
 * The areas and recipients of areas.ts, served by a server in the test's own process.
 *
 * @module
 */

import type { Test } from 'tap'
import { openGazetteer } from '../../../src/gazetteer/gazetteer.js'
import { ogcRoutes } from '../../../src/http/ogc/routes.js'
import { operationRoutes } from '../../../src/http/operation-routes.js'
import { contextOperations, contextReader } from '../../../src/operations/contexts.js'
import type { Executors } from '../../../src/operations/execute.js'
import { areaCollections } from '../../../src/operations/features/areas.js'
import { contextCollections } from '../../../src/operations/features/contexts.js'
import { startLiveCounts } from '../../../src/operations/live-counts.js'
import { recipientOperations } from '../../../src/operations/selections.js'
import { createProgress } from '../../../src/suppressions/progress.js'
import { columnsOf } from '../../support/data/columns.js'
import { gridPlaces } from '../../support/data/grid.js'
import { silentLog, temporaryStore } from '../../support/data/store.js'
import { always } from '../../support/service/current.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { localService } from '../../support/service/local-service.js'
import { startServer } from '../wire.js'
import { storeAreas, writeZones } from './areas.js'

/** @returns its address */
export async function serveAreasHere(t: Test): Promise<string> {
  const data = temporaryDirectory(t)
  await writeZones(data)
  const gazetteer = openGazetteer(data)
  t.teardown(() => gazetteer?.close())
  const areas = () => gazetteer
  const store = await temporaryStore(t, data)
  const people = gridPlaces().map(({ lng, lat, phone }) => {
    return { lng: Math.round(lng * 1e7), lat: Math.round(lat * 1e7), phone, contact: '' }
  })
  const local = localService([{ id: 1, label: 'A', columns: columnsOf(people) }])
  const current = always({ ...local, areas })
  const suppressionProgress = createProgress()
  const counts = startLiveCounts({ store, current, suppressionProgress, log: silentLog })
  t.teardown(() => counts.stop())
  const read = contextReader(store, counts)
  const executors = { ...contextOperations(store, read), ...recipientOperations(current) }
  const collections = [areaCollections({ current, areas }), contextCollections(store, read)]
  const { port } = await startServer(t, [
    ...ogcRoutes({ version: '0.0.0', collections }),
    ...operationRoutes(executors as unknown as Executors),
  ])
  const url = `http://127.0.0.1:${port}`
  await storeAreas({ url })
  return url
}
