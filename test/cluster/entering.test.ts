/** What a service takes of a command: nothing that a store could not take, at each bound and one past it. */
import t from 'tap'
import { isEnterable } from '../../src/cluster/entering.js'
import type { Entry } from '../../src/cluster/entries.js'
import { limits } from '../../src/limits.js'

const numbers = (count: number) => Array.from({ length: count }, (_, at) => `+999${at}`)
const suppressions = { kind: 'suppressions', scope: 'all', phones: [], isRemoval: false } as const
const keys = { kind: 'keys', version: 0, records: [] } as const

t.test('what commands make is taken', async (t) => {
  const { suppressionBatchCount, phoneBytes, keyCount } = limits
  const taken: Entry[] = [
    suppressions,
    { ...suppressions, scope: 7, phones: numbers(suppressionBatchCount), isRemoval: true },
    { ...suppressions, phones: ['1'.repeat(phoneBytes)] },
    keys,
    { ...keys, version: 8, records: numbers(keyCount).map((id) => [id, null] as const) },
    { ...keys, records: [['id', '{}']] },
  ]
  for (const entry of taken) t.ok(isEnterable(entry), entry.kind)
})

t.test('nothing else is', async (t) => {
  const { suppressionBatchCount, phoneBytes, keyCount } = limits
  const refused: unknown[] = [
    undefined,
    { kind: 'epoch', epoch: 9, name: 'a' },
    { kind: 'deleteAudience', id: 'a' },
    { ...suppressions, phones: numbers(suppressionBatchCount + 1) },
    { ...suppressions, phones: ['1'.repeat(phoneBytes + 1)] },
    { ...suppressions, phones: [''] },
    { ...suppressions, phones: [5] },
    { ...suppressions, scope: 'none' },
    { ...suppressions, scope: -1 },
    { ...suppressions, isRemoval: 1 },
    { kind: 'suppressions' },
    { ...keys, records: numbers(keyCount + 1).map((id) => [id, null]) },
    { ...keys, records: [['id']] },
    { ...keys, records: [['id', 5]] },
    { ...keys, version: 'a' },
  ]
  for (const entry of refused) t.notOk(isEnterable(entry as Entry))
})
