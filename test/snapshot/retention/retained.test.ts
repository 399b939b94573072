import fc from 'fast-check'
import t from 'tap'
import { countedImports, retainedIds } from '../../../src/snapshot/retention/retained.js'
import { testSeed } from '../../support/random/properties.js'

const idOf = (generation: number) => `${String(generation).padStart(6, '0')}-00000000`

/**
 * States by generation: `p` is pinned, `g` is good, and upper case is in the lineage. `c` is a compaction of the import
 * before it, or of the compactions between, and `d` one that is pinned.
 */
function retained(text: string, keepCount: number): string {
  const letters = [...text]
  const states = letters.map((letter, at) => ({
    id: idOf(at + 1),
    isPinned: /[pd]/i.test(letter),
    isGood: /[gc]/i.test(letter),
    importId: /[cd]/i.test(letter)
      ? idOf(letters.findLastIndex((other, before) => before < at && !/[cd]/i.test(other)) + 1)
      : undefined,
  }))
  const lineage = states.filter((_, at) => /[A-Z]/.test(letters[at])).map(({ id }) => id)
  const kept = retainedIds(states, lineage.toReversed(), keepCount)
  return letters.map((letter, at) => (kept.has(states[at].id) ? letter : '.')).join('')
}

t.test('the newest stay, and the newest good one', async (t) => {
  const cases: [before: string, keepCount: number, after: string][] = [
    ['GGGGG', 3, '..GGG'],
    ['GGGGG', 1, '....G'],
    ['GFFFF', 3, 'G.FFF'],
    ['GGFFF', 3, '.GFFF'],
    ['FFFFF', 3, '..FFF'],
    ['PGPGPG', 2, 'P.PGPG'],
    ['PGFFF', 1, 'PG..F'],
    ['GggG', 3, 'GggG'],
    ['GggGGG', 3, '...GGG'],
    ['GffffF', 3, 'G.fffF'],
    ['GgfffF', 3, 'GgfffF'],
    ['GpGGG', 3, '.pGGG'],
    ['FffP', 1, 'F.fP'],
    // A compaction stays in the place of its import, and beside the one that it replaced.
    ['GGGC', 3, 'GGGC'],
    ['GGGCC', 3, 'GG.CC'],
    ['GGGCCC', 3, 'GG..CC'],
    ['GCCGCCG', 3, '..C..CG'],
    ['GCGCGCGC', 3, '...C.CGC'],
    ['GCGCGCGC', Number.POSITIVE_INFINITY, '.C.C.CGC'],
    ['GGGGG', Number.POSITIVE_INFINITY, 'GGGGG'],
    ['GgGC', Number.POSITIVE_INFINITY, 'GgGC'],
    ['GgGCC', Number.POSITIVE_INFINITY, 'Gg.CC'],
    ['PCCC', 1, 'P.CC'],
    ['GDCC', 1, '.DCC'],
    ['GccG', 3, 'G.cG'],
    ['GCcC', 1, '.CcC'],
  ]
  for (const [before, keepCount, after] of cases) {
    t.equal(retained(before, keepCount), after, `${before}, ${keepCount}`)
  }
})

t.test('whatever there is, nothing that must stay is removed', async (t) => {
  const stateOf = fc.record({ isPinned: fc.boolean(), isGood: fc.boolean(), isOurs: fc.boolean() })
  const world = fc.record({
    states: fc.array(stateOf, { minLength: 1, maxLength: 12 }),
    keepCount: fc.integer({ min: 1, max: 5 }),
  })
  const property = fc.property(world, ({ states, keepCount }) => {
    const all = states.map((state, at) => ({
      ...state,
      id: idOf(at + 1),
      importId: undefined,
    }))
    const current = all[all.length - 1]
    const ours = all.filter(({ isOurs }, at) => isOurs || at === all.length - 1)
    const lineage = ours.map(({ id }) => id).reverse()
    const kept = retainedIds(all, lineage, keepCount)
    const good = ours.filter(({ isGood }) => isGood).at(-1)
    const unpinned = all.filter(({ id, isPinned }) => kept.has(id) && !isPinned)
    const newest = ours.filter(({ isPinned }) => !isPinned).slice(-keepCount)
    return (
      kept.has(current.id) &&
      newest.every(({ id }) => kept.has(id)) &&
      all.every(({ id, isPinned }) => !isPinned || kept.has(id)) &&
      (good === undefined || kept.has(good.id)) &&
      unpinned.length <= 2 * (keepCount + 1)
    )
  })
  fc.assert(property, { numRuns: 2_000, seed: testSeed(t) })
})

t.test('by the count of what is left, nothing more goes', async (t) => {
  const stateOf = fc.record({
    isPinned: fc.boolean(),
    isGood: fc.boolean(),
    isOurs: fc.boolean(),
    isCompaction: fc.boolean(),
  })
  const world = fc.record({
    states: fc.array(stateOf, { minLength: 1, maxLength: 12 }),
    keepCount: fc.integer({ min: 1, max: 5 }),
  })
  const property = fc.property(world, ({ states, keepCount }) => {
    const all = states.map(({ isCompaction, ...state }, at) => {
      const importAt = states.findLastIndex((other, before) => before <= at && !other.isCompaction)
      const importId = isCompaction && importAt >= 0 ? idOf(importAt + 1) : undefined
      return { ...state, id: idOf(at + 1), importId }
    })
    const ours = all.filter(({ isOurs }, at) => isOurs || at === all.length - 1)
    const lineage = ours.map(({ id }) => id).reverse()
    const kept = retainedIds(all, lineage, keepCount)
    const left = all.filter(({ id }) => kept.has(id))
    const again = retainedIds(left, lineage, countedImports(left, lineage))
    return left.every(({ id }) => again.has(id)) && countedImports(left, lineage) <= keepCount + 1
  })
  fc.assert(property, { numRuns: 2_000, seed: testSeed(t) })
})
