import t from 'tap'
import { ResentTransactions } from '../../src/follow/resent.js'
import type { FollowState } from '../../src/follow/state.js'

const last = { lsn: 90n, xid: 7, time: 1n }
const state: FollowState = {
  systemId: '1',
  slot: 'slot',
  table: 'public.people',
  confirmedLsn: 100n,
  lastCommit: last,
}
const at = (lsn: bigint) => ({ lsn, xid: 9, time: 2n })
const resent = (slotLsn: bigint, more: Partial<FollowState> = {}, taken: bigint[] = []) =>
  new ResentTransactions({ ...state, ...more }, slotLsn, new Set(taken), 'people')

t.test('what was taken before is not new, and what comes behind it is', async (t) => {
  const same = resent(50n)
  t.notOk(same.isNew(at(60n)))
  t.notOk(same.isNew(last))
  same.reach(95n)
  t.ok(same.isNew(at(100n)))
  const confirmed = resent(95n)
  confirmed.reach(99n)
  t.ok(confirmed.isNew(at(120n)), 'the slot has nothing of it any more')
})

t.test('a log that went another way is refused', async (t) => {
  const refusal = { code: 'InputRejected', message: /^people: .*set back.*--initial-copy/ }
  t.throws(() => resent(50n).isNew({ ...last, xid: 8 }), refusal, 'another transaction there')
  t.throws(() => resent(50n).isNew({ ...last, time: 3n }), refusal, 'at another time')
  t.throws(() => resent(50n).isNew(at(95n)), refusal, 'one that was never taken')
  t.throws(() => resent(95n).isNew(at(96n)), refusal, 'also where nothing is to come again')
  t.throws(() => resent(90n).reach(91n), refusal, 'the last one is missing')
  t.throws(() => resent(50n).isNew(at(130n)), refusal, 'and others come')
  const taken = () => resent(95n, {}, [110n, 120n])
  t.throws(() => taken().isNew(at(130n)), refusal, 'what was taken last is missing')
  t.throws(() => taken().reach(115n), refusal, 'a part of it')
  const same = taken()
  t.ok(same.isNew(at(110n)), 'the journal has it')
  t.ok(same.isNew(at(120n)))
  same.reach(140n)
})

t.test(
  'nothing is to come again after a copy, nor is it known of an earlier release',
  async (t) => {
    const copied = resent(90n, { lastCommit: { lsn: 90n, xid: 0, time: 0n }, confirmedLsn: 90n })
    copied.reach(95n)
    t.ok(copied.isNew(at(90n)))
    const earlier = resent(50n, { lastCommit: undefined })
    earlier.reach(99n)
    t.ok(earlier.isNew(at(95n)))
  },
)
