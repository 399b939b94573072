/**
 * A shell of two points that runs 0.07 mm inside the edge of a hole bounds nothing there, and has no
 * margin there. It was taken to lie on the edge.
 *
 * @module
 */
import t from 'tap'
import { answer } from '../../src/selection/answer.js'
import { columnsOf } from '../support/data/columns.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'

const shell = [
  [-71.000000036, 42],
  [-70.87083079812307, 42.005901319307036],
]
const hole = [
  [-431.0000000171874, 42],
  [-430.805715, 42.007237703105105],
  [-430.8708308244576, 42.005901319307036],
]
/** Both are 18.5 m from the shell: beside its end in the hole, and beside its end outside. */
const people = [
  { phone: '+9990001', lng: -708932168, lat: 420050454, contact: '' },
  { phone: '+9990002', lng: -709900000, lat: 420002900, contact: '' },
]

t.test('the margin of a shell ends where the shell enters a hole', async (t) => {
  const service = localService([{ id: 1, label: 'A', columns: columnsOf(people) }])
  const geometry = { type: 'MultiPolygon', coordinates: [[shell, hole]] }
  const properties = { buffer: 23.310047884873306 }
  const geoJSON = { type: 'Feature', geometry, properties }
  const given = await answer(service, { geoJSON }, inTime())
  const [{ Recipients }] = JSON.parse(await bodyText(given.json())).SourceRecords
  t.same(
    Recipients.map(({ Number: phone }: { Number: string }) => phone),
    ['+9990002'],
  )
})
