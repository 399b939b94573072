/**
 * What the self-test of `hickory doctor` compares answers with, and that each planted fault of an answer is told.
 *
 * @module
 */
import pointInPolygon from 'point-in-polygon-hao'
import t from 'tap'
import { answerChecks } from '../../src/commands/doctor/answer-checks.js'
import {
  type AnsweredSource,
  isInside,
  type Place,
  type Polygon,
  type Shape,
} from '../../src/commands/doctor/brute-force.js'
import {
  CIRCLE,
  csvOf,
  drawnPolygon,
  madeUpSources,
  RECTANGLE,
  SAMPLE_RECIPIENT_COUNT,
} from '../../src/commands/doctor/sample.js'

const sources = madeUpSources()
const recipients = sources.flatMap((source) => source.recipients)
const drawn = drawnPolygon(sources)

t.test('boundaries are inside, also those of holes and at corners of all kinds', async (t) => {
  const polygon: Polygon = {
    // An hourglass without its right side: two corners are on one parallel with the notch between them.
    shell: ringOf([0, 0], [10, 0], [6, 5], [10, 10], [0, 10]),
    holes: [ringOf([1, 4], [3, 4], [3, 6], [1, 6])],
  }
  const inside = [
    [5, 5],
    [6, 5],
    [0, 0],
    [10, 10],
    [5, 0],
    [0, 5],
    [8, 7.5],
    [9, 1],
    [0.5, 4],
  ]
  const atHole = [
    [1, 4],
    [3, 6],
    [2, 4],
    [1, 5],
    [3, 5],
  ]
  for (const [lng, lat] of [...inside, ...atHole]) {
    t.ok(isInside(polygon, placeAt(lng, lat)), `${lng}, ${lat}`)
  }
  const outside = [
    [7, 5],
    [-1, 0],
    [-1, 5],
    [11, 0],
    [11, 10],
    [5, -1],
    [5, 11],
    [-1, 10],
    [2, 5],
  ]
  for (const [lng, lat] of outside) t.notOk(isInside(polygon, placeAt(lng, lat)), `${lng}, ${lat}`)
  const beside = { lng: 8e7 + 1, lat: 7.5e7 }
  t.ok(isInside(polygon, { lng: 8e7 - 1, lat: 7.5e7 }))
  t.notOk(isInside(polygon, beside), 'one unit beyond an edge')
})

t.test('the shapes have people inside, outside and on the boundary', async (t) => {
  t.equal(recipients.length, SAMPLE_RECIPIENT_COUNT)
  for (const shape of [RECTANGLE, CIRCLE, drawn]) {
    for (const source of sources) {
      const count = source.recipients.filter((recipient) => isInside(shape, recipient)).length
      t.ok(count > 1_000 && count < source.recipients.length / 2, `${count}`)
    }
  }
  const [hole] = drawn.holes
  const corners = [...drawn.shell, ...hole]
  t.ok(drawn.shell.length > 40 && hole.length > 10)
  const livesAt = new Set(recipients.map(({ lng, lat }) => `${lng} ${lat}`))
  for (const corner of corners) {
    t.ok(livesAt.has(`${corner.lng} ${corner.lat}`) && isInside(drawn, corner))
  }
  const filled = recipients.filter((place) => isInside({ ...drawn, holes: [] }, place))
  t.ok(filled.length > recipients.filter((place) => isInside(drawn, place)).length + 500)
  const rims = recipients.filter(({ lng, lat }) => {
    const isFarther = isInside({ ...CIRCLE, radiusM: CIRCLE.radiusM + 0.1 }, { lng, lat })
    return isFarther !== isInside({ ...CIRCLE, radiusM: CIRCLE.radiusM - 0.1 }, { lng, lat })
  })
  t.same(rims, [], 'nobody is so near the circle that rounding decides')
})

t.test('another implementation finds the same in the polygon', async (t) => {
  const rings = [drawn.shell, ...drawn.holes].map((ring) =>
    [...ring, ring[0]].map(({ lng, lat }): [number, number] => [lng, lat]),
  )
  const different = recipients.filter(
    (place) => (pointInPolygon([place.lng, place.lat], rings) !== false) !== isInside(drawn, place),
  )
  t.same(different, [])
})

t.test('the rows of a file are what is expected of an answer', async (t) => {
  const [source] = sources
  const [head, ...rows] = csvOf(source).trimEnd().split('\n')
  t.equal(head, 'number,lat,lng')
  t.same(
    rows.map((row) => row.split(',').map((cell, at) => (at === 0 ? cell : Number(cell)))),
    source.recipients.map(({ number, lat, lng }) => [number, lat / 1e7, lng / 1e7]),
  )
  t.equal(new Set(source.recipients.map(({ number }) => number)).size, rows.length)
  for (const { number } of source.recipients) if (!number.startsWith('+999')) t.fail(number)
})

t.test('right answers pass', async (t) => {
  for (const { name, state, found } of await resultsWith((records) => records)) {
    t.equal(state, 'ok', `${name}: ${found}`)
    t.match(found, /^[1-9]\d{3,} \+ [1-9]\d{3,} recipients in /)
  }
})

type Records = readonly Mutable[]
type Mutable = AnsweredSource & { Count: number; SourceId: number }

const listed = ['list', 'polygon', 'circle']
const planted: Readonly<
  Record<string, { spoil: (records: Records) => Records; fails: readonly string[]; says: RegExp }>
> = {
  'a count that is one too high': {
    spoil: ([first, second]) => [first, { ...second, Count: second.Count + 1 }],
    fails: ['count', ...listed],
    says: /source 2: \d+ were counted, and \d+ are inside/,
  },
  'sources that are exchanged': {
    spoil: ([first, second]) => [
      { ...first, SourceId: 2 },
      { ...second, SourceId: 1 },
    ],
    fails: ['count', ...listed],
    says: /the sources 1, 2 were asked for, and 2, 1 answered/,
  },
  'a source that is left out': {
    spoil: ([first]) => [first],
    fails: ['count', ...listed],
    says: /the sources 1, 2 were asked for, and 1 answered/,
  },
  'a list that is left out': {
    spoil: (records) => records.map(({ Recipients: _, ...record }) => record),
    fails: listed,
    says: /\d+ are inside and not listed, such as \+999/,
  },
  'a row for another': {
    spoil: withRows(([, ...rows]) => [{ Number: '+9990', LatLng: { Lat: 1, Lng: 2 } }, ...rows]),
    fails: listed,
    says: /: 1 are inside and not listed, such as \+999.*; 1 are listed and not inside, such as \+9990 at 1, 2$/,
  },
  'a row again for another': {
    spoil: withRows(([, second, ...rows]) => [second, second, ...rows]),
    fails: listed,
    says: /: 1 are inside and not listed, such as \+999.*; 1 are listed again, such as \+999/,
  },
  'a place that is off by a centimetre': {
    spoil: withRows(([{ Number: number, LatLng }, ...rows]) => [
      { Number: number, LatLng: { ...LatLng, Lat: Math.round(LatLng.Lat * 1e7 + 1) / 1e7 } },
      ...rows,
    ]),
    fails: listed,
    says: /1 are inside and not listed, .*; 1 are listed and not inside/,
  },
  'latitude and longitude exchanged': {
    spoil: withRows((rows) =>
      rows.map(({ Number: number, LatLng: { Lat, Lng } }) => ({
        Number: number,
        LatLng: { Lat: Lng, Lng: Lat },
      })),
    ),
    fails: listed,
    says: /\d+ are inside and not listed, .*; \d+ are listed and not inside/,
  },
}

/** What is told does not depend on how many there are. */
const fewer = sources.map((source) => ({
  ...source,
  recipients: source.recipients.slice(0, 3_000),
}))

for (const [what, { spoil, fails, says }] of Object.entries(planted)) {
  t.test(`${what} is told`, async (t) => {
    const results = await resultsWith(spoil, fewer)
    const bad = results.filter(({ state }) => state === 'failed')
    t.same(
      bad.map(({ name }) => name),
      fails,
    )
    for (const { found, advice } of bad) {
      t.match(found, says)
      t.match(advice, /^do not use this installation/)
    }
  })
}

/** Of a service that answers by brute force, but for what is spoiled. */
async function resultsWith(spoil: (records: Records) => Records, from = sources) {
  const shapes: Record<string, Shape> = { count: RECTANGLE, list: RECTANGLE, circle: CIRCLE }
  const results = []
  for (const { name } of answerChecks(from, () => Promise.resolve([]))) {
    const shape = shapes[name] ?? drawnPolygon(from)
    const ask = async (request: { countsOnly?: boolean }) => {
      const records = from.map(({ id, recipients }) => {
        const inside = recipients.filter((recipient) => isInside(shape, recipient))
        const record = { SourceId: id, Count: inside.length, Status: 'Ok' }
        if (request.countsOnly === true) return record
        const rows = inside.map(({ number, lat, lng }) => ({
          Number: number,
          LatLng: { Lat: lat / 1e7, Lng: lng / 1e7 },
        }))
        return { ...record, Recipients: rows.reverse() }
      })
      return spoil(records)
    }
    const check = answerChecks(from, ask).find((each) => each.name === name)
    if (check !== undefined) results.push({ name, ...(await check.look()) })
  }
  return results
}

type Rows = NonNullable<AnsweredSource['Recipients']>

/** Changes the list of the second source, where there is one. */
function withRows(change: (rows: Rows) => Rows): (records: Records) => Records {
  return ([first, second]) => {
    if (second.Recipients === undefined) return [first, second]
    return [first, { ...second, Recipients: change(second.Recipients) }]
  }
}

function placeAt(lng: number, lat: number): Place {
  return { lng: lng * 1e7, lat: lat * 1e7 }
}

function ringOf(...corners: readonly (readonly [number, number])[]): Place[] {
  return corners.map(([lng, lat]) => placeAt(lng, lat))
}
