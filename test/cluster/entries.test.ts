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

const KINDS: readonly Entry['kind'][] = [
  ...(['joined', 'left', 'snapshot', 'switch', 'comparison', 'document'] as const),
  ...(['suppressions', 'keys', 'audience', 'deleteAudience'] as const),
]

/** Any kind with any values that entries have: texts, counts, what is there or not, and lists and records of these. */
const text = fc.string({ unit: codePoint, maxLength: 40 })
const leaf = fc.oneof(fc.option(text), fc.maxSafeNat(), fc.boolean())
const list = fc.array(fc.oneof(text, fc.tuple(text, leaf)), { maxLength: 200 })
const name = fc.stringMatching(/^[a-z][A-Za-z0-9]{0,15}$/)
const values = fc.dictionary(name, fc.oneof(leaf, list, fc.dictionary(name, leaf)))
const entry = fc
  .tuple(fc.constantFrom(...KINDS), values)
  .map(([kind, values]) => ({ ...values, kind })) as fc.Arbitrary<Entry>

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
