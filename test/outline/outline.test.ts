import t from 'tap'
import { outlineOperations } from '../../src/operations/selections.js'
import { type OutlineTask, runTask } from '../../src/outline/run-task.js'
import type { ClipOutcome, ClipRunner } from '../../src/pool/tasks.js'
import { NO_BOUNDARY } from '../../src/selection/boundary.js'
import type { JsonObject } from '../../src/selection/parse.js'
import {
  asked,
  collection,
  feature,
  here,
  polygon,
  response,
  shards,
  sources,
  square,
  turned,
} from '../support/random/outlines.js'
import { inTime } from '../support/service/in-time.js'

t.test('what is included, less what is excluded, with the winding of each notation', async (t) => {
  const { Outlines, ...about } = await response(
    collection(
      feature(polygon(square(0, 0, 4))),
      feature(polygon(square(1, 1, 2)), { exclude: true }),
    ),
  )
  t.same(about, { IsDissolved: true, HasShapesWithoutArea: false, ToleranceMetres: 0.1 })
  const [{ SourceIds, GeoJson, Rings, ...rest }] = Outlines ?? []
  t.same(SourceIds, [3, 5, 8])
  t.same(rest, {})
  t.equal(GeoJson?.type, 'MultiPolygon')
  t.same(GeoJson?.coordinates?.[0].map(turned), ['0,0 4,0 4,4 0,4', '1,1 1,3 3,3 3,1'])
  t.same(Rings?.rings?.map(turned), ['0,0 0,4 4,4 4,0', '1,1 3,1 3,3 1,3'])
  t.match(Rings, { type: 'polygon', spatialReference: { wkid: 4326, latestWkid: 4326 } })
})

t.test('sources that have the same area are together', async (t) => {
  const request = collection(
    feature(polygon(square(0, 0, 1))),
    feature(polygon(square(5, 5, 1)), { sources: [5] }),
    feature(polygon(square(0, 0, 1)), { sources: [8], exclude: true }),
  )
  const { Outlines = [] } = await response(request)
  t.same(
    Outlines.map(({ SourceIds, GeoJson }) => [SourceIds, GeoJson?.coordinates?.length]),
    [
      [[3], 1],
      [[5], 2],
      [[8], 0],
    ],
  )
  const some = await response({ ...request, sources: [8, 3] })
  t.same(
    some.Outlines?.map(({ SourceIds }) => SourceIds),
    [[3], [8]],
  )
  t.same((await response({ ...request, sources: [] })).Outlines, [])
})

t.test('no shape and exclusions alone are no area', async (t) => {
  const exclusion = collection(feature(polygon(square(0, 0, 1)), { exclude: true }))
  for (const request of [{}, { geoJSON: {} }, exclusion]) {
    const { Outlines = [], IsDissolved } = await response(request)
    t.same(Outlines[0].GeoJson, { type: 'MultiPolygon', coordinates: [] })
    t.same(Outlines[0].Rings?.rings, [])
    t.equal(IsDissolved, true)
  }
})

t.test('members that count change nothing, in any case', async (t) => {
  const request = collection(feature(polygon(square(0, 0, 1))))
  const plain = await response(request)
  t.same(await response({ ...request, countsOnly: true, ContactCountMode: 'Contact' }), plain)
  t.same(await response({ ...request, countsOnly: true, limit: 1, after: 'x' }), plain)
  t.same(await response({ ...request, ClipToBoundary: 'false' }), plain)
})

t.test('the boundary cuts off what is beyond it, when asked', async (t) => {
  const request = { ...collection(feature(polygon(square(1, 1, 9)))), clipToBoundary: true }
  const { Outlines = [] } = await response(request)
  t.same(Outlines[0].GeoJson?.coordinates?.[0].map(turned), ['1,1 4,1 4,2 1,2'])
  const mercator = {
    rings: [square(0, 0, 445_277.963)],
    spatialReference: { wkid: 102100 },
  }
  const cut = await response(request, here, mercator)
  t.match(turned(cut.Outlines?.[0].GeoJson?.coordinates?.[0][0]), /^1,1 4,1 /)
  const elsewhere = await response(request, here, { rings: [square(50, 50, 1)] })
  t.same(elsewhere.Outlines?.[0].GeoJson?.coordinates, [])
})

t.test('an area is cut at the antimeridian', async (t) => {
  const { Outlines = [] } = await response({ geoJSON: polygon(square(179, 0, 2)) })
  t.same(Outlines[0].GeoJson?.coordinates?.map(([shell]) => turned(shell)).sort(), [
    '-179,0 -179,2 -180,2 -180,0',
    '179,0 180,0 180,2 179,2',
  ])
})

t.test('a ring that crosses itself is what the even-odd rule makes of it', async (t) => {
  const twice = [...square(0, 0, 4), ...square(0, 0, 4), ...square(1, 1, 2), [0, 0]]
  const { Outlines = [] } = await response({ geoJSON: polygon(twice) })
  t.same(Outlines[0].GeoJson?.coordinates?.flat().map(turned), ['1,1 3,1 3,3 1,3'])
})

t.test('lines and points without a radius are told of, since no area shows them', async (t) => {
  const area = feature(polygon(square(0, 0, 1)))
  const crossing = [
    [0, 0],
    [2, 2],
    [2, 0],
    [0, 2],
  ]
  for (const geometry of [
    { type: 'Point', coordinates: [7, 7] },
    {
      type: 'LineString',
      coordinates: [
        [7, 7],
        [9, 8],
      ],
    },
    {
      type: 'LineString',
      coordinates: [
        [180, 7],
        [180, 9],
      ],
    },
    { type: 'LineString', coordinates: crossing },
    polygon([
      [7, 7],
      [8, 8],
      [9, 9],
      [7, 7],
    ]),
  ]) {
    const { HasShapesWithoutArea, Outlines } = await response(collection(area, feature(geometry)))
    t.equal(HasShapesWithoutArea, true, geometry.type)
    t.equal(Outlines?.[0].GeoJson?.coordinates?.length, 1)
    const wide = await response(collection(area, feature(geometry, { radius: 5 })))
    t.equal(
      wide.HasShapesWithoutArea,
      geometry.type === 'Polygon',
      `${geometry.type} with a radius`,
    )
  }
})

t.test('what is within less than half a unit is a line or a point', async (t) => {
  const circle = (radius: number) => feature({ type: 'Point', coordinates: [7, 7] }, { radius })
  t.equal((await response(collection(circle(0.004_9)))).HasShapesWithoutArea, true)
  t.equal((await response(collection(circle(0.05)))).HasShapesWithoutArea, false)
})

t.test('the tolerance is a thousandth of the largest radius, and 0.1 m at least', async (t) => {
  const circle = (radius: number) => feature({ type: 'Point', coordinates: [7, 7] }, { radius })
  t.equal((await response(collection(circle(5)))).ToleranceMetres, 0.1)
  t.equal((await response(collection(circle(5), circle(20_000)))).ToleranceMetres, 20)
})

const nearest = feature({ type: 'Point', coordinates: [7, 7] }, { nearest: 3 })
const refusals: readonly {
  what: string
  request: JsonObject
  boundary?: object
  code: string
  field: string
}[] = [
  { what: 'nearest', request: collection(nearest), code: 'InvalidNearest', field: 'geoJSON' },
  {
    what: 'nearest that excludes',
    request: collection(feature(nearest.geometry, { nearest: 3, exclude: true })),
    code: 'InvalidNearest',
    field: 'geoJSON',
  },
  {
    what: 'an unknown source',
    request: { sources: [3, 4] },
    code: 'UnknownSource',
    field: 'sources[1]',
  },
  {
    what: 'no true or false',
    request: { clipToBoundary: 'perhaps' },
    code: 'InvalidRequest',
    field: 'clipToBoundary',
  },
  {
    what: 'a shape that is none',
    request: { geoJSON: { type: 'Circle' } },
    code: 'UnknownGeometryType',
    field: 'geoJSON.type',
  },
  {
    what: 'an empty boundary',
    request: { clipToBoundary: true },
    boundary: {},
    code: 'InvalidRequest',
    field: 'clipToBoundary',
  },
  {
    what: 'a boundary that cannot be read',
    request: { clipToBoundary: true },
    boundary: {
      rings: [
        [
          [0, 0],
          [1, 1],
        ],
      ],
    },
    code: 'InvalidRequest',
    field: 'clipToBoundary',
  },
]
for (const { what, request, boundary, code, field } of refusals) {
  t.test(`${what} is refused`, async (t) => {
    await t.rejects(asked(request, here, boundary), { code, field, status: 400 })
  })
}

t.test('to be clipped to a boundary, there must be one', async (t) => {
  const service = { catalogue: { sources, shards }, runner: here, boundaryRule: NO_BOUNDARY }
  const ask = outlineOperations(service).OutlineRequest
  await t.rejects(ask({ clipToBoundary: true }, inTime()), {
    code: 'InvalidRequest',
    field: 'clipToBoundary',
    message: 'no customer boundary is configured',
  })
})

t.test('CSV has a row an outline, which says all of it', async (t) => {
  const request = collection(
    feature(polygon(square(0, 0, 1))),
    feature(polygon(square(0, 0, 1)), { sources: [5], exclude: true }),
  )
  const answer = await asked(request)
  const [header, ...rows] = String(answer?.csv('flat')).trimEnd().split('\r\n')
  const about = 'IsDissolved,Problem,HasShapesWithoutArea,ToleranceMetres'
  t.equal(header, `SourceIds,GeoJson,Rings,Included,Excluded,Boundary,${about}`)
  t.equal(rows.length, 2)
  t.ok(rows.every((row) => row.endsWith(',True,,False,0.1')))
  t.equal(answer?.csvRecord().header.trimEnd(), `Outlines,${about}`)
  t.same(answer?.headers, { 'Cache-Control': 'no-store' })
  t.ok((answer?.heldBytes ?? 0) > 0)
})

/** Fails as often as told, then works. */
function failing(failure: 'TookTooLong' | 'OutOfMemory' | 'Failed', count: number): ClipRunner {
  let left = count
  const attempt = (task: unknown): ClipOutcome =>
    left-- > 0 ? { failure } : { value: runTask(task as OutlineTask) }
  return {
    async run(task, _, otherwise) {
      const outcome = attempt(task)
      const isFinal = 'value' in outcome || otherwise === undefined
      return isFinal ? outcome : attempt(otherwise(outcome.failure))
    },
  }
}

const requestWithAll = {
  ...collection(
    feature(polygon(square(0, 0, 4), square(3, 3, 4))),
    feature(polygon(square(1, 1, 1)), { exclude: true }),
  ),
  clipToBoundary: true,
}
const causes = [
  { failure: 'TookTooLong', problem: 'TookTooLong' },
  { failure: 'OutOfMemory', problem: 'OutOfMemory' },
  { failure: 'Failed', problem: 'ClippingFailed' },
] as const
for (const { failure, problem } of causes) {
  t.test(
    `${failure}: shapes are listed as they were drawn, nothing as area that is none`,
    async (t) => {
      const { Outlines = [], ...about } = await response(requestWithAll, failing(failure, 1))
      t.match(about, { IsDissolved: false, Problem: problem })
      const [{ SourceIds, Included = [], Excluded = [], Boundary = [], ...rest }] = Outlines
      t.same(rest, {}, 'neither GeoJson nor Rings')
      t.same(SourceIds, [3, 5, 8])
      const shellOf = ({ GeoJson }: (typeof Included)[number]) => {
        t.equal(GeoJson?.coordinates?.flat().length, 1)
        return turned(GeoJson?.coordinates?.[0][0])
      }
      t.same(Included.map(shellOf), ['0,0 4,0 4,4 0,4'])
      t.same(Included[0].Holes?.map(shellOf), ['3,3 7,3 7,7 3,7'])
      t.same(Excluded.map(shellOf), ['1,1 2,1 2,2 1,2'])
      t.same(Boundary.map(shellOf), ['0,0 4,0 4,2 0,2'])
      t.same(turned(Included[0].Rings?.rings?.[0]), '0,0 0,4 4,4 4,0')
    },
  )
}

t.test('shapes that cannot even be drawn are refused', async (t) => {
  const refused = { code: 'TooComplex', status: 422, field: 'geoJSON' }
  await t.rejects(asked(requestWithAll, failing('TookTooLong', 2)), refused)
  const tooComplex: ClipRunner = { run: async () => ({ value: { kind: 'tooComplex' } }) }
  await t.rejects(asked(requestWithAll, tooComplex), refused)
})
