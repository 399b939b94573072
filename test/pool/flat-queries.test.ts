import fc from 'fast-check'
import t from 'tap'
import type { Shapes } from '../../src/geometry/shapes.js'
import { flattenFindings, unflattenFindings } from '../../src/pool/flat-findings.js'
import { flatten, type TimedQuery, unflatten } from '../../src/pool/flat-queries.js'
import type { SelectionKind } from '../../src/pool/messages.js'
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
  shardIndexes: fc.uint32Array({ maxLength: 4 }),
  shapes,
  expiresMs: fc.double({ noNaN: true }),
})

t.test('queries arrive as they were sent, however many travel together', async (t) => {
  const property = fc.property(fc.array(query, { maxLength: 5 }), (queries) => {
    const arrived = unflatten(structuredClone(flatten(queries)))
    return JSON.stringify(arrived, plainly) === JSON.stringify(queries, plainly)
  })
  fc.assert(property, { seed: testSeed(t) })
})

t.test('an empty choice of sources does not arrive as every source', async (t) => {
  const none = { included: [], excluded: [], nearest: [] }
  const near = { lng: 1, lat: 2, count: 3, isExcluded: false }
  const asked = (ids: number[] | null): TimedQuery => ({
    kind: 'count',
    countMode: 'Contact',
    isDistinct: false,
    shardIndexes: Uint32Array.of(0),
    shapes: { ...none, nearest: [{ ...near, sourceIds: ids }] },
    expiresMs: 0,
  })
  const arrived = unflatten(flatten([asked([]), asked(null), asked([7])]))
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
    const flat = flattenFindings(findings)
    const arrived = unflattenFindings(
      flat,
      all.map((each) => each.query),
    )
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
