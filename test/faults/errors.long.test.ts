/**
 * Imports of which a system call fails. The area `faults` of `npm run test:soak` has every call fail in every way.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serve, temporaryDirectory } from '../support/service/hickory.js'
import { spread } from './calls.js'
import { failAt, failuresOf, ofEachKind } from './errors.js'
import { fillDisk, fillFiles, mountSmallDisk } from './full-disk.js'
import { findFaults } from './run-some.js'
import { placeFor, prepareStage } from './stage.js'
import { assertStrace, runImport, runLimited } from './trace.js'

assertStrace()
const directory = temporaryDirectory(t)
const stage = await prepareStage(directory)

t.test('an import that fails says so, changes nothing, and leaves nothing', async (t) => {
  const kinds = ofEachKind(await failuresOf(stage.replace))
  const chosen = spread(kinds, 6)
  t.comment(`${chosen.length} of ${kinds.length} kinds of failures`)
  t.same(await findFaults(chosen, (failure) => failAt(stage.replace, failure)), [])
})

t.test('so does one whose files are cut short', async (t) => {
  // Inside of the header of a shard, of its image, and of the manifest.
  for (const blockCount of [4, 20]) t.equal(await fillFiles(stage.replace, blockCount), undefined)
})

t.test('so does one on a disk that becomes full', async (t) => {
  const disk = mountSmallDisk(`${directory}/disk`)
  if (disk === undefined) throw new Error('mounting a disk in memory takes root')
  t.teardown(disk.remove)
  for (const leftBytes of [0, 12_288]) {
    t.equal(await fillDisk(stage.replace, `${directory}/disk`, leftBytes), undefined)
  }
})

t.test(
  'a service goes on with the old snapshot while imports fail, then takes a new one',
  async (t) => {
    const place = placeFor(stage.replace)
    const service = await serve(t, '--data', place.data)
    const total = async () => {
      const response = await fetch(`${service.url}/api/recipients`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ countsOnly: true, geoJSON: EVERYWHERE }),
      })
      return response.text()
    }
    const before = await total()
    for (const blockCount of [4, 20]) {
      t.not((await runLimited(place.import, blockCount)).code, 0)
      t.equal(await total(), before)
    }
    t.equal((await runImport(place.import)).code, 0)
    const late = AbortSignal.timeout(30_000)
    while ((await total()) === before) {
      late.throwIfAborted()
      await sleep(50)
    }
  },
)

const EVERYWHERE = {
  type: 'Polygon',
  coordinates: [
    [
      [-179, -89],
      [179, -89],
      [179, 89],
      [-179, 89],
      [-179, -89],
    ],
  ],
}
