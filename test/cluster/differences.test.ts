/**
 * What machines of a cluster do not have alike.
 *
 * @module
 */
import t from 'tap'
import { type ComparedMachine, differencesOf } from '../../src/cluster/differences.js'
import type { MachineDigests } from '../../src/cluster/machine-digests.js'
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
  const content = (what: string, values: Record<string, string>) => {
    return { kind: 'content', what, values }
  }
  const same = machine('a')
  const { regions } = same.digests
  const withRegion = (at: number, more: Partial<RegionDigest>) =>
    machine('b', {
      regions: regions.map((each, place) => (place === at ? { ...each, ...more } : each)),
    })
  const cases: [string, ComparedMachine, ReturnType<typeof content>][] = [
    [
      'the journal',
      machine('b', { chainHash: OTHER }),
      content('journal', { a: 'a1b2c3d4', b: 'ffffffff' }),
    ],
    [
      'a digest of the store',
      machine('b', { store: { ...store, keys: { count: 1, digest: OTHER } } }),
      content('keys', { a: '1 (a1b2c3d4)', b: '1 (ffffffff)' }),
    ],
    [
      'a count of the store',
      machine('b', { store: { ...store, suppressions: { count: 5, digest: HASH } } }),
      content('suppressions', { a: '4 (a1b2c3d4)', b: '5 (a1b2c3d4)' }),
    ],
    [
      'rows that are not as they were written',
      machine('b', { changedPart: 'contexts' }),
      content('rows of the store', { a: 'as written', b: 'changed (contexts)' }),
    ],
    [
      'a digest of a region',
      withRegion(1, { digest: OTHER }),
      content('source 3, region 1', { a: '10 (a1b2c3d4)', b: '10 (ffffffff)' }),
    ],
    [
      'a count of a region',
      withRegion(0, { recipientCount: 9 }),
      content('source 3, region 0', { a: '10 (a1b2c3d4)', b: '9 (a1b2c3d4)' }),
    ],
    [
      'who came since',
      withRegion(2, { digest: OTHER }),
      content('source 3, since the snapshot', { a: '5 (a1b2c3d4)', b: '5 (ffffffff)' }),
    ],
    [
      'a region that one does not know',
      machine('b', { regions: regions.slice(1) }),
      content('source 3, region 0', { a: '10 (a1b2c3d4)', b: '' }),
    ],
  ]
  for (const [name, other, expected] of cases) {
    t.same(differencesOf([same, other]), [expected], name)
    t.same(differencesOf([other, same]).length, 1, `${name}, the other way round`)
  }
})

t.test('what is wrong on all machines is told', async (t) => {
  const wrong = { changedPart: 'keys' }
  t.same(differencesOf([machine('a', wrong), machine('b', wrong)]), [
    {
      kind: 'content',
      what: 'rows of the store',
      values: { a: 'changed (keys)', b: 'changed (keys)' },
    },
  ])
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
