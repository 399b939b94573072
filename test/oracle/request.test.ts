import t from 'tap'
import {
  box,
  feature,
  line,
  point,
  pointsAt,
  polygon,
  request,
  selected,
  verdictsOf,
} from '../support/service/asked.js'
import { compare } from './compare.js'
import { Refused } from './geometry/unwrap.js'
import { expectedOf } from './request.js'
import type { Verdict } from './verdict.js'

const DEGREE_METRES = (Math.PI * 6_371_000) / 180

const row = '0 0, 1 0, 2 0, 3 0, 4 0'
const firstThree = feature(polygon(box(0, 0, 2, 1)))
const nearZero = (nearest: number, more = {}) => feature(point(-1, 0), { nearest, ...more })

t.test('features together, of places in a row', async (t) => {
  const cases: [name: string, asked: object, expected: number[]][] = [
    ['nothing', {}, []],
    ['an empty object', { geoJSON: {} }, []],
    ['no geometry', request(feature(null)), []],
    ['a bare geometry', { geoJSON: point(1, 0) }, [1]],
    ['a feature', { GEOJSON: { Type: 'Feature', Geometry: point(1, 0), Properties: null } }, [1]],
    ['other names', { GeoJson: { Shapes: [{ GEOMETRY: point(1, 0) }] } }, [1]],
    ['a union', request(firstThree, feature(polygon(box(2, 0, 3, 1)))), [0, 1, 2, 3]],
    ['an exclusion', request(firstThree, feature(point(1, 0), { exclude: true })), [0, 2]],
    ['an exclusion alone', request(feature(point(1, 0), { exclude: true })), []],
    ['the nearest', request(nearZero(2)), [0, 1]],
    ['more than there are', request(nearZero(9)), [0, 1, 2, 3, 4]],
    ['the nearest within', request(nearZero(2), feature(line('1 0, 3 0'))), [1, 2]],
    ['the nearest in nothing', request(nearZero(2), feature(point(7, 7))), [0, 1].slice(2)],
    ['a null geometry is no limit', request(nearZero(2), feature(null)), [0, 1]],
    [
      'the nearest of what is left',
      request(nearZero(2), feature(point(0, 0), { exclude: true })),
      [1, 2],
    ],
    ['two searches', request(nearZero(1), feature(point(4, 0), { nearest: 2 })), [0, 3, 4]],
    ['without the nearest', request(firstThree, nearZero(2, { exclude: true })), [2]],
    [
      'an exclusion of the nearest of everyone',
      request(nearZero(1), nearZero(1, { exclude: true })),
      [1],
    ],
    ['for this source', request(feature(point(1, 0), { sources: [7, 9] })), [1]],
    ['for another source', request(feature(point(1, 0), { sources: [9] })), []],
    ['for no source', request(feature(point(1, 0), { sources: [] })), []],
    [
      'an exclusion elsewhere',
      request(firstThree, feature(point(1, 0), { exclude: true, sources: [9] })),
      [0, 1, 2],
    ],
    ['a search elsewhere', request(firstThree, nearZero(1, { sources: [9] })), [0, 1, 2]],
    ['a limit elsewhere', request(nearZero(2), feature(point(3, 0), { sources: [9] })), [0, 1]],
  ]
  for (const [name, asked, expected] of cases) t.same(selected(asked, row), expected, name)
})

t.test('ties go to the smaller rank, and are open between different places', async (t) => {
  const same = '1 1, 1 1, 1 1, 1 1, 1 1'
  const ranks = [3, 1, 4, 0, 2]
  const asked = request(nearZero(2))
  t.same(verdictsOf(asked, same, ranks), ['outside', 'inside', 'outside', 'inside', 'outside'])
  const aside = '-1 1, -1 -1, -1 2, -1 0'
  t.same(verdictsOf(asked, aside), ['either', 'either', 'outside', 'inside'])
  t.same(verdictsOf(request(nearZero(3)), aside), ['inside', 'inside', 'outside', 'inside'])
  // Whoever may or may not be excluded may push out the last.
  const doubtful = feature(point(-1, 1), { radius: DEGREE_METRES, exclude: true })
  t.same(verdictsOf(request(nearZero(1), doubtful), '-1 0, -1 3'), ['either', 'either'])
})

t.test('records are of the sources that are asked for', async (t) => {
  const sources = [30, 7].map((id) => ({ id, points: pointsAt(row) }))
  const idsOf = (asked: object) => expectedOf(asked as never, sources).records.map(({ id }) => id)
  t.same(idsOf({}), [7, 30])
  t.same(idsOf({ sources: null }), [7, 30])
  t.same(idsOf({ Sources: [30] }), [30])
  t.same(idsOf({ sources: [] }), [])
})

t.test('what must be refused', async (t) => {
  const cases: [rings: string[], code: string][] = [
    [['0 0, 1 1, 0 0'], 'DegenerateRing'],
    [['0 0, 1 1, 0 0, 1 1, 0 0'], 'DegenerateRing'],
    [['0 0.9, 120 0.9, -120 0.9'], 'AmbiguousPole'],
    [['0 50, 120 50, -120 50, 1 50, 121 50, -119 50'], 'SeveralTurns'],
  ]
  for (const [rings, code] of cases) {
    const asked = request(feature(polygon(...rings)))
    t.throws(() => verdictsOf(asked, row), new Refused(code))
  }
  t.doesNotThrow(() => verdictsOf(request(feature(polygon('0 1, 120 1, -120 1'))), row))
})

t.test('a comparison finds every kind of fault', async (t) => {
  const keys = ['a', 'b', 'c', 'd'].map((name) => `${name} 0 0`)
  const source = { id: 7, keys, contacts: [0, 0, 1, 1] }
  const verdicts: Verdict[] = ['outside', 'inside', 'either', 'inside']
  const faultsOf = (byContact: boolean, names: string, count = names.length) => {
    const Recipients = [...names].map((name) => ({ Number: name, LatLng: { Lat: 0, Lng: 0 } }))
    const listed = [{ SourceId: 7, Count: names.length, Recipients }]
    const expected = { byContact, isDistinct: false, records: [{ id: 7, verdicts }] }
    return compare(expected, [source], listed, [{ SourceId: 7, Count: count }]).faults.length
  }
  for (const names of ['bd', 'bcd', 'dcb']) t.equal(faultsOf(false, names), 0, names)
  for (const names of ['b', 'abd', 'bdd', 'bdx', '']) t.ok(faultsOf(false, names) > 0, names)
  t.equal(faultsOf(false, 'bd', 3), 1, 'a count of its own')
  for (const names of ['bd', 'bc', 'cb']) t.equal(faultsOf(true, names), 0, `contacts ${names}`)
  for (const names of ['ad', 'b', 'bcd', 'abc'])
    t.ok(faultsOf(true, names) > 0, `contacts ${names}`)
  const nobody = { byContact: false, isDistinct: false, records: [] }
  t.equal(compare(nobody, [source], [], []).faults.length, 0)
  t.ok(compare(nobody, [source], [{ SourceId: 7, Count: 0, Recipients: [] }], []).faults.length > 0)
})
