import t from 'tap'
import { BEGINNING } from '../../../src/chain/link.js'
import { Campaign } from '../../../src/cluster/agreement/campaign.js'
import { HeardReports } from '../../../src/cluster/agreement/heard.js'
import type { Answers, Member } from '../../../src/cluster/agreement/messages.js'
import type { AgreementOptions, Ports } from '../../../src/cluster/agreement/ports.js'

const END = { ...BEGINNING, epoch: 4 }
const members: readonly Member[] = ['a', 'b', 'c'].map((name) => ({
  name,
  incarnation: `${name}1`,
}))
const promised: Answers['promise'] = { isPromised: true, epoch: 5, end: END }

/** Machine `a` asks `b` and `c`; undefined is a machine that does not answer. */
function campaignOf(
  acks: AgreementOptions['acks'],
  answers: Readonly<Record<string, Answers['promise'] | undefined>>,
) {
  const ask = async (name: string) => answers[name] ?? Promise.reject(new Error('no answer'))
  const ports = { log: { end: () => END }, ask } as unknown as Ports
  const campaign = new Campaign(members[0], ports, acks, () => members)
  const asked = { epoch: 5, reason: 'silence', isDry: false, mayLose: false } as const
  return (own: Partial<typeof asked> | { isDry: boolean } | { mayLose: boolean } = {}) =>
    campaign.ask({ ...asked, ...own })
}

t.test('most promises are enough, and all where one disk is', async (t) => {
  t.equal(await campaignOf('majority', { b: promised })(), undefined)
  t.match(await campaignOf('majority', {})(), { reason: /^1 of 3 members are for it, and 2 are/ })
  t.equal(await campaignOf('one', { b: promised, c: promised })(), undefined)
  t.match(await campaignOf('one', { b: promised })(), {
    reason: /^2 of 3 members .* and 3 are needed/,
  })
})

t.test('promises of an epoch before elect no writer', async (t) => {
  const later = { ...promised, epoch: 6 }
  const ask = campaignOf('majority', { b: later, c: later })
  t.match(await ask(), { epoch: 6 })
  t.equal(await ask({ isDry: true }), undefined, 'it would be for a higher one')
})

t.test('where something may be lost, one machine that is against it is enough', async (t) => {
  const against = { ...promised, isPromised: false }
  t.equal(await campaignOf('majority', {})({ mayLose: true }), undefined)
  t.not(await campaignOf('majority', { b: promised, c: against })({ mayLose: true }), undefined)
})

t.test('a report counts for its epoch, and for the directory of which it is', async (t) => {
  let nowMs = 0
  const heard = new HeardReports(() => nowMs)
  const [, b] = members
  const anew = { ...b, incarnation: 'b2' }
  heard.note({ ...b, epoch: 5, isWriter: false, written: END, matched: 7, committed: 7 })
  t.equal(heard.matched(b, 5), 7)
  t.equal(heard.matched(b, 6), 0)
  t.equal(heard.matched(anew, 5), 0, 'a machine that began anew has nothing of what it had')
  t.equal(heard.within(10, b)?.name, 'b')
  t.equal(heard.within(10, anew), undefined)
  t.ok(heard.isMajorityWithin(10, 'a', members))
  nowMs = 11
  t.equal(heard.within(10, b), undefined)
  t.notOk(heard.isMajorityWithin(10, 'a', members))
})
