/**
 * What one service answers over HTTP. It is started once for all of it.
 *
 * @module
 */
import t from 'tap'
import { testAlerts } from './alerts.js'
import { testGeoJson } from './geojson.js'
import { testMistakes } from './mistakes.js'
import { testWire } from './wire.js'
import { serveWireWorld } from './wire-world.js'

const { url } = await serveWireWorld(t)

// In this order: the table of the wire knows every document, and those after it leave some of their own.
const parts = { wire: testWire, GeoJSON: testGeoJson, mistakes: testMistakes, alerts: testAlerts }

for (const [name, part] of Object.entries(parts)) {
  t.test(name, async (t) => part(t, url))
}
