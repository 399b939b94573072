/**
 * What commands change on a machine of a cluster: done where all machines are known to go by it, and no secret is lost.
 */
import t, { type Test } from 'tap'
import type { EnteredEntry, Entering } from '../../src/cluster/entering.js'
import type { Entered } from '../../src/cluster/messages.js'
import { openStoreDesk } from '../../src/commands/store-desk.js'
import { OperatorError } from '../../src/errors.js'
import { createKey, revokeKey } from '../../src/keys/change-keys.js'
import { limits } from '../../src/limits.js'
import { createStore } from '../../src/store/store.js'
import { silentLog } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const EVERYWHERE = { isEverywhere: true, waitingFor: [] }
const wish = { name: 'gateway', scopes: ['counts' as const] }

/** A desk of a machine whose service does what `answer` does, with the store of the machine. */
async function deskWith(
  t: Test,
  answer: (entry: EnteredEntry, apply: () => Entered['outcome']) => Promise<Entered>,
) {
  const data = temporaryDirectory(t)
  const service = await createStore(data, silentLog)
  service.entries.apply([], 0)
  let sequence = 0
  const made: EnteredEntry[] = []
  const apply = (entry: EnteredEntry) => {
    const [outcome] = service.entries.apply(
      [
        entry.kind === 'keys'
          ? {
              kind: 'keys',
              version: entry.version,
              changes: new Map(entry.records.map(([id, record]) => [id, record ?? undefined])),
            }
          : { kind: 'suppressions', change: entry, atMs: 1 },
      ],
      ++sequence,
    )
    return outcome
  }
  const entering: Entering = {
    async make(entry) {
      made.push(entry)
      return await answer(entry, () => apply(entry))
    },
    async close() {},
  }
  const desk = await openStoreDesk({ log: silentLog }, data, async () => entering)
  t.teardown(async () => {
    await desk.close()
    await service.close()
  })
  return { desk, made, service }
}

/** Time goes on at once. */
function hurry(t: Test, ms: number): void {
  const { hrtime } = process
  let passedMs = 0
  const later = (time?: [number, number]): [number, number] => {
    passedMs += ms / 10
    const [seconds, nanoseconds] = hrtime(time)
    return [seconds + passedMs / 1_000, nanoseconds]
  }
  t.intercept(process, 'hrtime', { value: Object.assign(later, { bigint: hrtime.bigint }) })
}

t.test('a change is done where all machines go by it', async (t) => {
  const { desk } = await deskWith(t, async (_, apply) => ({
    ...EVERYWHERE,
    sequence: 1,
    outcome: apply(),
  }))
  const { text } = await desk.changeKeys((keys) => createKey(keys, wish, Date.now()))
  t.match(text, /^hk_/)
  await desk.untilKeysTaken()
  t.equal(desk.store.keys.read().records.size, 1)
  const change = {
    kind: 'suppressions',
    scope: 'all',
    phones: ['+9991'],
    isRemoval: false,
  } as const
  t.match(await desk.suppress(change), { isMade: true, changed: { changedCount: 1 } })
  await desk.untilSuppressionsTaken()
})

t.test('it is not where nobody knows who does', async (t) => {
  for (const waitingFor of [[], ['site-b', 'site-c']]) {
    const { desk } = await deskWith(t, async (_, apply) => {
      return { isEverywhere: false, waitingFor, sequence: 1, outcome: apply() }
    })
    await desk.changeKeys((keys) => createKey(keys, wish, Date.now()))
    const message =
      waitingFor.length === 0 ? /another machine may still/ : /site-b, site-c may still/
    await t.rejects(desk.untilKeysTaken(), { code: 'Failed', message })
    await t.rejects(desk.untilSuppressionsTaken(), { message })
  }
})

t.test('a change that is made already is waited for all the same', async (t) => {
  const state = { isEverywhere: false }
  const { desk, made } = await deskWith(t, async (_, apply) => {
    return { ...state, waitingFor: [], sequence: 1, outcome: apply() }
  })
  await desk.changeKeys((keys) => createKey(keys, wish, Date.now()))
  const revoke = () => desk.changeKeys((keys) => revokeKey(keys, 'gateway', Date.now()))
  await revoke()
  await t.rejects(desk.untilKeysTaken())
  await revoke()
  await t.rejects(desk.untilKeysTaken(), 'once more')
  state.isEverywhere = true
  await revoke()
  await desk.untilKeysTaken()
  t.match(made.at(-1), { kind: 'keys', records: [] })
})

t.test('a secret is given out where its key is made, whatever was heard of that', async (t) => {
  const late = new OperatorError('Failed', 'site-a has not answered')
  hurry(t, limits.keyLookedForMs)
  const { desk } = await deskWith(t, async (_, apply) => {
    setTimeout(apply, 100)
    throw late
  })
  const { text } = await desk.changeKeys((keys) => createKey(keys, wish, Date.now()))
  t.match(text, /^hk_/)
  await t.rejects(desk.untilKeysTaken(), { message: /another machine may still/ })

  const { desk: other } = await deskWith(t, async () => {
    throw late
  })
  await t.rejects(
    other.changeKeys((keys) => createKey(keys, wish, Date.now())),
    { message: /has not answered/ },
  )
})

t.test('keys that were changed meanwhile are changed anew, and not for ever', async (t) => {
  let otherCount = 3
  const { desk, made, service } = await deskWith(t, async (_, apply) => {
    if (otherCount-- > 0) {
      const { version } = service.keys.read()
      service.entries.apply(
        [{ kind: 'keys', version, changes: new Map([[`other ${version}`, '{}']]) }],
        1,
      )
    }
    return { ...EVERYWHERE, sequence: 1, outcome: apply() }
  })
  await desk.changeKeys((keys) => createKey(keys, wish, Date.now()))
  t.equal(made.length, 4)
  otherCount = Number.POSITIVE_INFINITY
  await t.rejects(
    desk.changeKeys((keys) => createKey(keys, { ...wish, name: 'more' }, Date.now())),
    { message: /changed meanwhile/ },
  )
  t.equal(made.length, 4 + limits.keyPlanCount)
})
