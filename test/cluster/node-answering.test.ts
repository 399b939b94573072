/**
 * What a machine tells whoever compares machines.
 *
 * @module
 */
import { createHmac } from 'node:crypto'
import t from 'tap'
import type { LocalDigests } from '../../src/cluster/comparison.js'
import type { Entry } from '../../src/cluster/entries.js'
import { NodeAnswering } from '../../src/cluster/node-answering.js'

const SALT = 'ab'.repeat(32)
const SECRET = 'a1b2c3d4'

const part = (count: number) => ({ count, digest: `${SECRET}${count}` })
const local: LocalDigests = {
  salt: SALT,
  store: { suppressions: part(1), keys: part(2), configuration: part(3), contexts: part(4) },
  changedPart: undefined,
  regions: [
    ...[0, 1].map((regionIndex) => ({
      ...{ sourceId: 3, regionIndex, recipientCount: 10, holders: ['a', 'b'] },
      digest: regionIndex === 0 ? `${SECRET}5` : null,
    })),
    {
      ...{ sourceId: 3, regionIndex: undefined, recipientCount: 2, holders: undefined },
      digest: `${SECRET}6`,
    },
  ],
}

function machine(append = async (count: number): Promise<number | undefined> => count) {
  const entered: Entry[] = []
  const journal = {
    hashAt: () => `${SECRET}7`,
    facts: { switchedId: 's1', members: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
  }
  const options = {
    ...{ journal, me: { name: 'a' }, reports: { ofThoseThere: () => [{ name: 'b' }] } },
    digests: async () => ({ kind: 'done', digests: local }),
    append: (entry: Entry) => append(entered.push(entry)),
  }
  const answering = new NodeAnswering(options as never)
  return { answering, entered }
}

t.test('no digest leaves a machine without the salt, nor the salt itself', async (t) => {
  const { answering } = machine()
  const answer = await answering.answer({ kind: 'digests', sequence: 7, snapshotId: 's1' })
  const key = Buffer.from(SALT, 'hex')
  const salted = (last: number) =>
    createHmac('sha256', key).update(`${SECRET}${last}`).digest('hex')
  const [held, other, since] = local.regions
  t.strictSame(answer, {
    kind: 'done',
    digests: {
      chainHash: salted(7),
      store: {
        suppressions: { count: 1, digest: salted(1) },
        keys: { count: 2, digest: salted(2) },
        configuration: { count: 3, digest: salted(3) },
        contexts: { count: 4, digest: salted(4) },
      },
      changedPart: undefined,
      regions: [{ ...held, digest: salted(5) }, other, { ...since, digest: salted(6) }],
    },
  })
  const text = JSON.stringify(answer)
  t.notOk(text.includes(SECRET))
  t.notOk(text.includes(SALT))
})

t.test('each comparison has a salt of its own', async (t) => {
  const { answering, entered } = machine()
  await answering.answer({ kind: 'compare' })
  const answer = await answering.answer({ kind: 'compare' })
  t.match(answer, { isDone: true, at: { sequence: 2, snapshotId: 's1' } })
  const salts = entered.map((entry) => (entry.kind === 'comparison' ? entry.salt : ''))
  t.match(salts, [/^[0-9a-f]{64}$/, /^[0-9a-f]{64}$/])
  t.not(salts[0], salts[1])
  t.notOk(JSON.stringify(answer).includes(salts[1]))
})

t.test('a machine is removed that is a member and not there', async (t) => {
  const { answering, entered } = machine()
  const remove = (name: string) => answering.answer({ kind: 'remove', name })
  t.match(await remove('d'), { isDone: false, reason: 'd is no member' })
  for (const name of ['a', 'b']) {
    t.match(await remove(name), { isDone: false, reason: new RegExp(`^${name} is there`) })
  }
  t.same(await remove('c'), { isDone: true })
  t.same(entered, [{ kind: 'left', name: 'c' }])
})

t.test('what was not read back in time is not done, as far as is known', async (t) => {
  const { answering } = machine(async () => undefined)
  for (const question of [{ kind: 'compare' }, { kind: 'remove', name: 'c' }] as const) {
    t.match(await answering.answer(question), { isDone: false, reason: /could not be written/ })
  }
})
