import fc from 'fast-check'
import t from 'tap'
import { including, type Shapes } from '../../src/geometry/shapes.js'
import {
  FindingsReader,
  findingsLength,
  flatten,
  QueryWriter,
  type TimedQuery,
  unflatten,
  writeFindings,
} from '../../src/pool/codec.js'
import type { SelectionKind } from '../../src/pool/tasks.js'
import type { CountMode } from '../../src/shard/select.js'
import { testSeed } from '../support/random/properties.js'

const coordinates = (count: number) =>
  fc
    .array(fc.double({ noNaN: true }), { minLength: count, maxLength: count })
    .map((numbers) => new Float64Array(numbers))
const sourceIds = fc.option(fc.array(fc.nat(2 ** 31 - 1), { maxLength: 3 }))
const word = fc.nat(2 ** 32 - 1)
const kind = fc.constantFrom<SelectionKind>('count', 'select')

/** Rings of 0 to 5 vertices, dealt out to polygons of 1 or 2 rings. */
const polygons = fc.array(fc.array(fc.nat(5), { minLength: 1, maxLength: 2 })).chain((sizes) => {
  const ringStarts = starts(sizes.flat())
  const polygonStarts = starts(sizes.map((rings) => rings.length))
  return fc.record({
    vertices: coordinates(2 * (ringStarts.at(-1) ?? 0)),
    ringStarts: fc.constant(ringStarts),
    polygonStarts: fc.constant(polygonStarts),
    bounds: coordinates(4 * sizes.length),
  })
})
const reaches = fc
  .nat(3)
  .chain((count) => fc.record({ arcs: coordinates(4 * count), radiiMetres: coordinates(count) }))
const layers = fc.array(fc.record({ sourceIds, polygons, reaches }), { maxLength: 3 })
const position = fc.double({ noNaN: true })
const nearest = fc.array(
  fc.record({ sourceIds, lng: position, lat: position, count: word, isExcluded: fc.boolean() }),
  { maxLength: 2 },
)
const shapes: fc.Arbitrary<Shapes> = fc.record({ included: layers, excluded: layers, nearest })
const query: fc.Arbitrary<TimedQuery> = fc.record({
  kind,
  countMode: fc.constantFrom<CountMode>('ContactLocation', 'Contact'),
  isDistinct: fc.boolean(),
  maskId: word,
  moment: word,
  since: word,
  shardIndexes: fc.uint32Array({ maxLength: 4 }),
  shapes,
  expiresMs: fc.double({ noNaN: true }),
})

/** With a mask of the id that arrives. */
function asSent({ maskId, ...rest }: TimedQuery) {
  return { ...rest, mask: maskId === 0 ? null : { id: maskId, runs: [] } }
}

t.test('queries arrive as they were sent, however many travel together', async (t) => {
  const property = fc.property(fc.array(query, { maxLength: 5 }), (queries) => {
    const writer = new QueryWriter(new Uint32Array(10_000), new Float64Array(10_000))
    for (const each of queries) writer.write(asSent(each), each.expiresMs)
    const arrived = unflatten(structuredClone({ ...writer }))
    return JSON.stringify(arrived, plainly) === JSON.stringify(queries, plainly)
  })
  fc.assert(property, { seed: testSeed(t) })
})

t.test('a query for which there is no room leaves those before it as they are', async (t) => {
  const room = fc.nat(60)
  const property = fc.property(fc.array(query), room, room, (queries, words, floats) => {
    const writer = new QueryWriter(new Uint32Array(words), new Float64Array(floats))
    const written = queries.filter((each) => writer.write(asSent(each), each.expiresMs))
    const arrived = unflatten(writer)
    return JSON.stringify(arrived, plainly) === JSON.stringify(written, plainly)
  })
  fc.assert(property, { seed: testSeed(t) })
})

t.test('one query alone may be as large as it likes', async (t) => {
  const vertices = Float64Array.from({ length: 200_000 }, (_, at) => at)
  const ringStarts = Uint32Array.of(0, vertices.length / 2)
  const polygonStarts = Uint32Array.of(0, 1)
  const polygons = { vertices, ringStarts, polygonStarts, bounds: new Float64Array(4) }
  const [{ shapes, expiresMs }] = unflatten(
    flatten({ ...COUNT, shardIndexes: Uint32Array.of(1), shapes: including(polygons) }, 9),
  )
  t.equal(expiresMs, 9)
  t.same(shapes.included[0].polygons, polygons)
})

const COUNT = {
  kind: 'count',
  countMode: 'ContactLocation',
  isDistinct: false,
  mask: null,
  moment: 0,
} as const

t.test('an empty choice of sources does not arrive as every source', async (t) => {
  const none = { included: [], excluded: [], nearest: [] }
  const near = { lng: 1, lat: 2, count: 3, isExcluded: false }
  const arrived = [[], null, [7]].flatMap((sourceIds) => {
    const shapes = { ...none, nearest: [{ ...near, sourceIds }] }
    return unflatten(flatten({ ...COUNT, shardIndexes: Uint32Array.of(0), shapes }, 0))
  })
  t.same(
    arrived.map(({ shapes }) => shapes.nearest[0].sourceIds),
    [[], null, [7]],
  )
})

t.test('findings arrive as they were made', async (t) => {
  const found = kind.chain((kind) =>
    fc.array(fc.uint32Array({ maxLength: 6 }), { maxLength: 4 }).chain((runs) => {
      const counts = Uint32Array.from(runs, ({ length }) => length)
      const whole = kind === 'count' ? { counts } : { runs }
      const fault = fc.constantFrom<'TooComplex' | 'Unavailable'>('TooComplex', 'Unavailable')
      return fc.record({
        query: fc.constant({ kind, shardIndexes: new Uint32Array(runs.length) }),
        findings: fc.oneof(
          fc.constant(whole),
          fault.map((each) => ({ fault: each })),
        ),
      })
    }),
  )
  const property = fc.property(fc.array(found, { maxLength: 6 }), (all) => {
    const findings = all.map((each) => each.findings)
    const flat = new Uint32Array(findingsLength(findings))
    writeFindings(findings, flat)
    const reader = new FindingsReader(flat)
    const arrived = all.map(({ query: { kind, shardIndexes } }) => {
      const fault = reader.nextFault()
      if (fault !== undefined) return { fault }
      const { length } = shardIndexes
      return kind === 'count' ? { counts: reader.counts(length) } : { runs: reader.runs(length) }
    })
    return JSON.stringify(arrived, plainly) === JSON.stringify(findings, plainly)
  })
  fc.assert(property, { seed: testSeed(t) })
})

function starts(lengths: readonly number[]): Uint32Array {
  const at = [0]
  for (const length of lengths) at.push(at[at.length - 1] + length)
  return Uint32Array.from(at)
}

/** Typed arrays as lists, and what JSON cannot tell apart by its name. */
function plainly(_: string, value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array, (each) => plain(each))
  return typeof value === 'number' ? plain(value) : value
}

function plain(number: number): string {
  return Object.is(number, -0) ? '-0' : String(number)
}
