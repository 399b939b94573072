/**
 * Values in quotation marks mean what they mean without.
 *
 * @module
 */
import t from 'tap'
import { flagOf, nameOf, numberOf } from '../../src/interface/quoted.js'
import { validate } from '../../src/selection/validate.js'

t.test('a number in quotation marks is that number, and nothing else is', async (t) => {
  for (const [text, number] of Object.entries({ '12': 12, ' -1.5 ': -1.5, '1e2': 100, '0': 0 })) {
    t.equal(numberOf(text), number, text)
  }
  for (const text of ['', ' ', '.', '1,5', '1.', '.5', '+1', '0x10', 'NaN', 'Infinity', '1 2']) {
    t.equal(numberOf(text), undefined, text)
  }
  for (const value of [null, undefined, true, [], ['1'], {}]) t.equal(numberOf(value), undefined)
})

t.test('a flag is true, false, 1 or 0, and nothing else', async (t) => {
  for (const value of [true, 'true', 'TRUE', ' True ', 1, '1']) t.equal(flagOf(value), true)
  for (const value of [false, 'false', 'False', 0, '0']) t.equal(flagOf(value), false)
  for (const value of ['yes', 'on', '', 2, null, undefined, [], [true], {}]) {
    t.equal(flagOf(value), undefined, String(value))
  }
})

t.test('a name of several is read in any letters or by its place, and no other is', async (t) => {
  const names = ['ContactLocation', 'Contact']
  for (const value of ['Contact', 'CONTACT', 1, '1']) t.equal(nameOf(names, value), 'Contact')
  for (const value of ['', 'Con', 2, -1, 0.5, '01x', null, true, ['Contact']]) {
    t.equal(nameOf(names, value), undefined, String(value))
  }
})

t.test('a request in which everything is quoted is the same request', async (t) => {
  const plain = request((value) => value)
  const quoted = request(String)
  t.same(validate(quoted), validate(plain))
})

/** A request with each number and flag as `write` writes it. */
function request(write: (value: number | boolean) => unknown): Record<string, unknown> {
  const at = (...numbers: number[]) => numbers.map(write)
  const square = [at(0, 0), at(1, 0), at(1, 1.5), at(0, 1)]
  const features = [
    { geometry: { type: 'Polygon', coordinates: [square] }, properties: { radius: write(50) } },
    {
      geometry: { type: 'Polygon', coordinates: [square] },
      properties: { exclude: write(true), sources: [write(3)] },
    },
    { geometry: { type: 'Point', coordinates: at(2, 3) }, properties: { nearest: write(4) } },
    {
      geometry: {
        rings: [[at(0, 0), at(0, 9e4), at(9e4, 9e4)]],
        spatialReference: { wkid: write(3857) },
      },
      properties: { exclude: write(false) },
    },
    { geometry: { x: write(1), y: write(2) }, properties: { buffer: write(5) } },
  ]
  return { countsOnly: write(true), sources: [write(1)], geoJSON: { features } }
}
