/**
 * Entries as they stand in the journal.
 */
import fc from 'fast-check'
import t from 'tap'
import { decodeEntry, type Entry, encodeEntry } from '../../src/cluster/entries.js'
import { pack } from '../../src/cluster/nats/parts.js'
import { codePoint } from '../support/random/code-points.js'
import { byTier } from '../support/tier.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const text = fc.string({ unit: codePoint, maxLength: 40 })
const count = fc.maxSafeNat()
const kind = <K extends Entry['kind']>(kind: K) => fc.constant(kind)
const context = fc.record({
  id: text,
  json: text,
  header: fc.record({ areaCount: count, documentBytes: count, label: text }),
  shapeHashes: fc.array(fc.option(text)),
})
const change = fc.oneof(
  fc.record({ kind: fc.constant('configuration'), json: text, countMode: text }),
  fc.record({ kind: fc.constant('context'), context, mayReplace: fc.boolean() }),
  fc.record({ kind: fc.constant('deleteContext'), id: text }),
)
const file = fc.record({ file: text, sha256: text, byteLength: count })

const entry = fc.oneof(
  fc.record({ kind: kind('joined'), name: text, incarnation: text, maxLagMs: count }),
  fc.record({ kind: kind('left'), name: text }),
  fc.record(
    {
      kind: kind('snapshot'),
      id: text,
      base: text,
      by: text,
      documents: fc.array(file),
    },
    { requiredKeys: ['kind', 'id', 'by', 'documents'] },
  ),
  fc.record({ kind: kind('switch'), id: text, importCount: count, unneededSequence: count }),
  fc.record({ kind: kind('comparison'), salt: text }),
  fc.record({ kind: kind('document'), change }),
  fc.record({
    kind: kind('suppressions'),
    scope: fc.oneof(fc.constant('all' as const), fc.nat()),
    phones: fc.array(text, { maxLength: 200 }),
    isRemoval: fc.boolean(),
  }),
  fc.record({
    kind: kind('keys'),
    version: count,
    records: fc.array(fc.tuple(text, fc.option(text))),
  }),
) as fc.Arbitrary<Entry>

t.test('an entry is read as it was made', (t) => {
  fc.assert(
    fc.property(entry, (entry) => {
      // As the objects of the library have no prototype.
      t.strictSame(decodeEntry(encodeEntry(entry)), structuredClone(entry))
    }),
    { seed, numRuns: byTier({ ci: 200, soak: 2_000 }) },
  )
  t.end()
})

t.test('an entry of a kind that is not known is none', (t) => {
  fc.assert(
    fc.property(
      entry,
      fc.oneof(text, fc.constantFrom('constructor', 'Epoch', '')),
      (entry, kind) => {
        t.equal(
          decodeEntry(encodeEntry({ ...entry, kind: `${entry.kind}${kind}x` } as never)),
          undefined,
        )
        t.equal(decodeEntry(encodeEntry({ ...entry, kind } as never)), undefined)
      },
    ),
    { seed, numRuns: byTier({ ci: 50, soak: 500 }) },
  )
  t.end()
})

t.test('what is no entry is none, and breaks nothing', (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.anything().map(pack)), (bytes) => {
      t.equal(decodeEntry(bytes), undefined)
    }),
    { seed, numRuns: byTier({ ci: 200, soak: 2_000 }) },
  )
  fc.assert(
    fc.property(entry, fc.double({ min: 0, max: 1, noNaN: true }), (entry, part) => {
      const bytes = encodeEntry(entry)
      const cut = bytes.subarray(0, Math.floor(part * (bytes.length - 1)))
      t.equal(decodeEntry(cut), undefined, 'a part of one')
    }),
    { seed, numRuns: byTier({ ci: 100, soak: 1_000 }) },
  )
  t.end()
})
