/**
 * Cursors are taken where they come from, and nowhere else.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { type ListBasis, type Place, readCursor, writeCursor } from '../../src/selection/cursor.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { validate } from '../../src/selection/validate.js'

const square = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
]
const polygon = { type: 'Polygon', coordinates: [square] }
const point = { type: 'Point', coordinates: [0.5, 0.5] }
const line = {
  type: 'LineString',
  coordinates: [
    [2, 2],
    [3, 3],
  ],
}
const feature = (geometry: object, properties: object = {}) => ({ geometry, properties })

/** Has all that can be drawn; the parameters are what the cases change of it. */
function drawn({
  shell = polygon as object,
  hole = { exclude: true, radius: 5 } as object,
  near = { nearest: 3 } as object,
  more = { buffer: 7, sources: [1, 2] } as object,
} = {}): JsonObject {
  const features = [feature(shell), feature(point, hole), feature(point, near), feature(line, more)]
  return { geoJSON: { features }, sources: [1, 2, 3] }
}

function basisOf(request: JsonObject, more: Partial<ListBasis> = {}): ListBasis {
  const query = validate(request)
  const plain = { countMode: 'ContactLocation', boundaryKey: undefined } as const
  return { query, snapshotId: '000007-3f9a1c2b', ...plain, ...more }
}

const basis = basisOf(drawn())
const MOST = 2 ** 32 - 1
const place = { placeId: 3, recipient: 5, moment: 0, seal: 0 }

t.test('a cursor is a short text for a URL, and gives back what it was made of', async (t) => {
  const values = [0, 1, 255, 2 ** 26, MOST]
  for (const placeId of values) {
    for (const recipient of values) {
      for (const moment of [0, 1, MOST, 2 ** 40 - 1]) {
        const seal = moment === 0 ? 0 : MOST - recipient
        const cursor = writeCursor(basis, { placeId, recipient, moment, seal })
        t.match(cursor, moment === 0 ? /^[\w-]{40}$/ : /^[\w-]{52}$/)
        t.same(readCursor(basis, cursor), { placeId, recipient, moment, seal })
      }
    }
  }
})

t.test('it holds for the same request in any spelling, and of any length', async (t) => {
  const cursor = writeCursor(basis, place)
  const { geoJSON } = drawn() as { geoJSON: { features: object[] } }
  const closed = { type: 'Polygon', coordinates: [[...square, square[0]]] }
  for (const request of [
    { GeoJson: { Type: 'FeatureCollection', Shapes: geoJSON.features }, Sources: ['3', 2, 1, 1] },
    { ...drawn(), limit: 9, after: cursor },
    { ...drawn(), countsOnly: false, contactCountMode: null, distinct: false, version: 'mine' },
    drawn({ shell: closed, hole: { Exclude: 'true', buffer: 5 } }),
  ]) {
    t.same(readCursor(basisOf(request), cursor), place, JSON.stringify(request))
  }
})

t.test('it does not hold for another request', async (t) => {
  const cursor = writeCursor(basis, place)
  const moved = square.map(([lng, lat], i) => (i === 2 ? [lng, lat + 1e-7] : [lng, lat]))
  const two = { type: 'MultiPolygon', coordinates: [[square], [square]] }
  const holed = { type: 'Polygon', coordinates: [square, square] }
  for (const request of [
    {},
    { ...drawn(), sources: [1, 2] },
    { ...drawn(), sources: null },
    { ...drawn(), contactCountMode: 'ContactLocation' },
    { ...drawn(), distinct: true },
    { ...drawn(), contactCountMode: 'Contact' },
    drawn({ shell: { type: 'Polygon', coordinates: [moved] } }),
    drawn({ shell: { type: 'Polygon', coordinates: [square.toReversed()] } }),
    drawn({ shell: two }),
    drawn({ shell: holed }),
    drawn({ hole: { radius: 5 } }),
    drawn({ hole: { exclude: true, radius: 5.5 } }),
    drawn({ near: { nearest: 4 } }),
    drawn({ near: { nearest: 3, exclude: true } }),
    drawn({ near: { nearest: 3, sources: [1] } }),
    drawn({ more: { buffer: 7, sources: [1] } }),
    drawn({ more: { buffer: 7 } }),
    drawn({ more: { buffer: 7, sources: [1, 2], exclude: true } }),
  ] as JsonObject[]) {
    refused(t, () => readCursor(basisOf(request), cursor), JSON.stringify(request))
  }
  const texts = [two, holed].map((shell) => writeCursor(basisOf(drawn({ shell })), place))
  t.not(texts[0], texts[1], 'the same vertices, in other rings')
})

t.test('a damaged cursor is none, and nor is any other text', async (t) => {
  const cursor = writeCursor(basis, place)
  for (let at = 0; at < cursor.length; at++) {
    for (const letter of cursor[at] === 'A' ? 'Bz' : 'A_') {
      if (letter === cursor[at]) continue
      const damaged = cursor.slice(0, at) + letter + cursor.slice(at + 1)
      refused(t, () => readCursor(basis, damaged), `at ${at}`)
    }
  }
  for (const text of [
    '',
    ' ',
    '0',
    cursor.slice(0, -1),
    cursor.slice(4),
    `${cursor}A`,
    `${cursor}=`,
    ` ${cursor}`,
    `${cursor}\n`,
    'A'.repeat(40),
    '\u{1f4de}'.repeat(20),
    'x'.repeat(4_000_000),
  ]) {
    refused(t, () => readCursor(basis, text), text.slice(0, 50))
  }
})

/** Of `drawn()` and `basis`, from when a cursor told how many recipients were given. */
const EARLIER = 'AAAAAAPoIGWwLvye2k3iKi4m4VkEhuvuytzXlcAT'

t.test('a cursor of an earlier form is none', async (t) => {
  refused(t, () => readCursor(basis, EARLIER), EARLIER)
})

t.test('of another snapshot, or of how recipients counted, it has expired', async (t) => {
  const cursor = writeCursor(basis, place)
  for (const changed of [
    { snapshotId: '000008-3f9a1c2b' },
    { snapshotId: '000007-3f9a1c2c' },
    { countMode: 'Contact' },
  ] as const) {
    t.throws(() => readCursor({ ...basis, ...changed }, cursor), {
      code: 'CursorExpired',
      status: 410,
      field: 'after',
    })
  }
  refused(t, () => readCursor(basisOf({}, { snapshotId: '000008-00000000' }), cursor), 'nor there')
})

function refused(t: Test, read: () => Place, what: string): void {
  t.throws(read, { code: 'InvalidRequest', status: 400, field: 'after' }, what)
}
