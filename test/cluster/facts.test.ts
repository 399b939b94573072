/**
 * What entries say of a cluster follows from their order alone, wherever a machine went on from.
 */
import fc from 'fast-check'
import t from 'tap'
import { type Entry, encodeEntry } from '../../src/cluster/entries.js'
import { Facts, type KnownFacts, NO_FACTS } from '../../src/cluster/facts.js'
import { limits } from '../../src/limits.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const joined = (name: string, incarnation = `of ${name}`, maxLagMs = 60_000): Entry => ({
  kind: 'joined',
  name,
  incarnation,
  maxLagMs,
})
const left = (name: string): Entry => ({ kind: 'left', name })
const snapshot = (id: string, base?: string, by = 'a'): Entry => ({
  kind: 'snapshot',
  id,
  by,
  documents: [{ file: `${id}.json`, sha256: id, byteLength: 1 }],
  ...(base !== undefined && { base }),
})
const switched = (id: string, importCount = 1, unneededSequence = 0): Entry => ({
  kind: 'switch',
  id,
  importCount,
  unneededSequence,
})

/** A machine whose clock is told. */
function machine(known: KnownFacts = NO_FACTS) {
  const clock = { nowMs: 0 }
  const facts = new Facts(known, () => clock.nowMs)
  const note = (...entries: readonly Entry[]) => {
    for (const entry of entries) facts.note(facts.sequence + 1, encodeEntry(entry))
  }
  return { clock, facts, note }
}

const names = (members: readonly { readonly name: string }[]) => members.map(({ name }) => name)

t.test('machines are members from when they joined until they left', (t) => {
  const { facts, note } = machine()
  t.same(facts.known(), NO_FACTS)
  note(joined('b'), joined('a'))
  t.same(names(facts.members), ['a', 'b'], 'by name')
  note(joined('b', 'another', 15_000))
  t.same(facts.members[1], { name: 'b', incarnation: 'another', maxLagMs: 15_000 })
  note(left('c'), left('a'))
  t.same(names(facts.members), ['b'])
  facts.pass(9)
  t.equal(facts.sequence, 9)
  t.end()
})

t.test('there is room for so many', (t) => {
  const { facts, note } = machine()
  const all = Array.from({ length: limits.clusterMemberCount + 1 }, (_, at) => `m${at}`)
  note(...all.map((name) => joined(name)))
  t.equal(facts.members.length, limits.clusterMemberCount)
  t.notOk(names(facts.members).includes(all[limits.clusterMemberCount]))
  note(joined('m0', 'another'))
  t.equal(facts.members[0].incarnation, 'another', 'it is one of them')
  note(left('m1'), joined('late'))
  t.ok(names(facts.members).includes('late'))
  t.end()
})

t.test('one that has left may take itself for level for a while', (t) => {
  const { clock, facts, note } = machine()
  note(joined('a'), joined('b', 'of b', 20_000))
  clock.nowMs = 1_000
  note(left('b'))
  t.same(names(facts.members), ['a'])
  t.same(names(facts.levelMembers), ['a', 'b'])
  clock.nowMs = 1_000 + 1.1 * 20_000 - 1
  t.same(names(facts.levelMembers), ['a', 'b'])
  const known = facts.known()
  t.same(names(known.leaving), ['b'])
  clock.nowMs += 1
  t.same(names(facts.levelMembers), ['a'])
  t.same(facts.known().leaving, [])
  // A process that has just started waits as long once more.
  const { clock: other, facts: again, note: noteAgain } = machine(known)
  t.same(names(again.levelMembers), ['a', 'b'])
  other.nowMs = 1.1 * 20_000 - 1
  t.same(names(again.levelMembers), ['a', 'b'])
  noteAgain(joined('b', 'of b', 15_000))
  t.same(names(again.levelMembers), ['a', 'b'], 'once')
  t.same(again.known().leaving, [])
  t.end()
})

t.test('of two snapshots that go on from the same one, the first counts', (t) => {
  const { facts, note } = machine()
  note(snapshot('2', '1'))
  t.equal(facts.announced, undefined, 'there is none to go on from')
  note(snapshot('1', undefined, 'b'), snapshot('1b'))
  t.match(facts.announced, { id: '1', by: 'b', sequence: 2 })
  note(snapshot('2', '1'), snapshot('3', '1', 'b'))
  t.match(facts.announced, { id: '2', by: 'a', sequence: 4 })
  note(snapshot('3', '2', 'c'))
  t.match(facts.announced, { id: '3', by: 'c', documents: [{ file: '3.json' }] })
  t.end()
})

t.test('only the last one that was announced is switched to', (t) => {
  const { facts, note } = machine()
  note(switched('1'))
  t.same([facts.switchedId, facts.retention], [undefined, undefined])
  note(snapshot('1'), switched('1', 1, 4))
  t.same([facts.switchedId, facts.retention], ['1', { importCount: 1, unneededSequence: 4 }])
  note(snapshot('2', '1'), switched('1', 5, 5))
  t.same([facts.switchedId, facts.retention], ['1', { importCount: 1, unneededSequence: 4 }])
  note(switched('2', 2, 7), switched('2', 2, 9))
  t.same([facts.switchedId, facts.retention], ['2', { importCount: 2, unneededSequence: 9 }])
  t.end()
})

t.test('an entry that this version does not know changes nothing but the sequence', (t) => {
  const { facts, note } = machine()
  note(joined('a'))
  const known = facts.known()
  facts.note(2, Buffer.from('what is this'))
  facts.note(3, encodeEntry({ kind: 'other' } as never))
  t.same(facts.known(), { ...known, sequence: 3 })
  t.end()
})

const name = fc.constantFrom('a', 'b', 'c', 'd')
const id = fc.constantFrom('1', '2', '3')
const entry: fc.Arbitrary<Entry> = fc.oneof(
  fc.tuple(name, fc.constantFrom('first', 'second')).map(([name, one]) => joined(name, one)),
  name.map(left),
  fc.tuple(id, fc.option(id, { nil: undefined }), name).map(([id, base, by]) => {
    return snapshot(id, base, by)
  }),
  fc.tuple(id, fc.nat(3), fc.nat(9)).map(([id, count, sequence]) => switched(id, count, sequence)),
  fc.constant<Entry>({ kind: 'comparison', salt: 'salt' }),
  fc.constant<Entry>({ kind: 'deleteAudience', id: '1' }),
)

t.test('all know the same as of one entry, wherever they went on from', (t) => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 40 }), fc.nat(40), (entries, at) => {
      const [whole, before] = [machine(), machine()]
      whole.note(...entries)
      before.note(...entries.slice(0, at))
      // As it is read from the disk.
      const after = machine(JSON.parse(JSON.stringify(before.facts.known())))
      after.note(...entries.slice(at))
      const sorted = ({ leaving, ...known }: KnownFacts) => {
        return { ...known, leaving: names(leaving).toSorted() }
      }
      t.same(sorted(after.facts.known()), sorted(whole.facts.known()))
    }),
    { seed, numRuns: 300 },
  )
  t.end()
})
