/**
 * What machines of a cluster do not have alike.
 *
 * @module
 */
import t from 'tap'
import type { MachineDigests } from '../../src/cluster/comparison.js'
import { type ComparedMachine, differencesOf } from '../../src/cluster/comparison.js'
import type { RegionDigest } from '../../src/live/region-digests.js'
import type { ComparedStore } from '../../src/store/entries.js'

const HASH = 'a1b2c3d4e5f60718'
const OTHER = 'ffffffff00000000'

const store: ComparedStore = {
  suppressions: { count: 4, digest: HASH },
  keys: { count: 1, digest: HASH },
  configuration: { count: 1, digest: HASH },
  contexts: { count: 2, digest: HASH },
}

/** By place; those who came since the snapshot at the end. */
function regionsOf(
  heldBy: readonly (readonly string[] | undefined)[],
  name: string,
): RegionDigest[] {
  const regions = heldBy.map((holders, regionIndex) => ({
    ...{ sourceId: 3, regionIndex, recipientCount: 10, holders },
    digest: holders?.includes(name) === false ? null : HASH,
  }))
  const came = { sourceId: 3, regionIndex: undefined, recipientCount: 5, digest: HASH }
  return [...regions, { ...came, holders: undefined }]
}

function machine(name: string, changed: Partial<MachineDigests> = {}): ComparedMachine {
  const regions = regionsOf([undefined, undefined], name)
  return { name, digests: { chainHash: HASH, store, changedPart: undefined, regions, ...changed } }
}

t.test('machines that have the same do not differ', async (t) => {
  t.same(differencesOf([machine('a'), machine('b'), machine('c')]), [])
  t.same(differencesOf([machine('a')]), [])
  t.same(differencesOf([]), [])
})

t.test('each thing that differs is told, with what each machine has', async (t) => {
  const { regions } = machine('a').digests
  const withRegion = (at: number, more: Partial<RegionDigest>) => {
    return { regions: regions.map((each, place) => (place === at ? { ...each, ...more } : each)) }
  }
  const keys = { count: 1, digest: OTHER }
  const suppressions = { count: 5, digest: HASH }
  const same = '10 (a1b2c3d4)'
  const cases: [Partial<MachineDigests>, what: string, a: string, b: string][] = [
    [{ chainHash: OTHER }, 'journal', 'a1b2c3d4', 'ffffffff'],
    [{ store: { ...store, keys } }, 'keys', '1 (a1b2c3d4)', '1 (ffffffff)'],
    [{ store: { ...store, suppressions } }, 'suppressions', '4 (a1b2c3d4)', '5 (a1b2c3d4)'],
    [{ changedPart: 'contexts' }, 'rows of the store', 'as written', 'changed (contexts)'],
    [withRegion(1, { digest: OTHER }), 'source 3, region 1', same, '10 (ffffffff)'],
    [withRegion(0, { recipientCount: 9 }), 'source 3, region 0', same, '9 (a1b2c3d4)'],
    [
      ...([withRegion(2, { digest: OTHER }), 'source 3, since the snapshot'] as const),
      ...(['5 (a1b2c3d4)', '5 (ffffffff)'] as const),
    ],
    // One does not know it.
    [{ regions: regions.slice(1) }, 'source 3, region 0', same, ''],
  ]
  for (const [changed, what, a, b] of cases) {
    const two = [machine('a'), machine('b', changed)]
    t.same(differencesOf(two), [{ kind: 'content', what, values: { a, b } }])
    t.same(differencesOf(two.reverse()).length, 1, `${what}, the other way round`)
  }
  const wrong = { changedPart: 'keys' }
  t.match(
    differencesOf([machine('a', wrong), machine('b', wrong)]),
    [{ what: 'rows of the store', values: { a: 'changed (keys)', b: 'changed (keys)' } }],
    'also what is wrong on all machines',
  )
})

const PLACED = [
  ['a', 'b'],
  ['b', 'c'],
] as const

/** Each region on two machines. */
function placed(name: string, changed: (region: RegionDigest) => RegionDigest = (one) => one) {
  return machine(name, { regions: regionsOf(PLACED, name).map(changed) })
}

t.test('a region is compared among the machines that hold it', async (t) => {
  t.same(differencesOf([placed('a'), placed('b'), placed('c')]), [])
  const other = placed('b', (one) => (one.regionIndex === 1 ? { ...one, digest: OTHER } : one))
  t.same(differencesOf([placed('a'), other, placed('c')]), [
    {
      kind: 'content',
      what: 'source 3, region 1',
      values: { a: '10 (not held)', b: '10 (ffffffff)', c: '10 (a1b2c3d4)' },
    },
  ])
  const fewer = placed('a', (one) => (one.regionIndex === 1 ? { ...one, recipientCount: 9 } : one))
  t.match(
    differencesOf([fewer, placed('b'), placed('c')]),
    [{ kind: 'content', values: { a: '9 (not held)' } }],
    'who is there is known of regions that others hold',
  )
})

t.test('a machine that holds more than it is to is compared, too', async (t) => {
  const founder = machine('a', { regions: regionsOf([undefined, undefined], 'a') })
  t.same(differencesOf([founder, placed('b'), placed('c')]), [])
  const other = machine('a', {
    regions: founder.digests.regions.map((one) => ({ ...one, digest: OTHER })),
  })
  t.equal(differencesOf([other, placed('b'), placed('c')]).length, 3)
})

t.test('a region that fewer hold than are to is told', async (t) => {
  const lacking = placed('b', (one) => (one.regionIndex === 1 ? { ...one, digest: null } : one))
  t.same(differencesOf([placed('a'), lacking, placed('c')]), [
    {
      kind: 'copies',
      what: 'source 3, region 1, not held by b',
      values: { a: '10 (not held)', b: '10 (not held)', c: '10 (a1b2c3d4)' },
    },
  ])
  const all = ['a', 'b'].map((name) => machine(name))
  const part = machine('c', {
    regions: regionsOf([undefined, undefined], 'c').map((one) => ({ ...one, digest: null })),
  })
  t.same(
    differencesOf([...all, part]).map(({ what }) => what),
    [
      'source 3, region 0, not held by c',
      'source 3, region 1, not held by c',
      'source 3, since the snapshot, not held by c',
    ],
    'where every machine is to hold all',
  )
})

t.test(
  'a member that cannot be asked may hold its regions, and one of the past does not',
  async (t) => {
    const asked = [placed('a'), placed('b')]
    t.same(differencesOf(asked, ['c']), [])
    t.match(differencesOf(asked), [{ kind: 'copies', what: 'source 3, region 1, not held by c' }])
  },
)

t.test('a region that nobody holds is told, whoever may be missing', async (t) => {
  t.match(differencesOf([placed('a')], ['b', 'c']), [
    { kind: 'copies', what: 'source 3, region 1, held by no machine that was asked' },
  ])
})
