/**
 * What `hickory cluster status`, `seed-log`, `remove` and `drain` make of what machines tell, with machines that only
 * answer.
 *
 * @module
 */
import t, { type Test } from 'tap'
import type { Link } from '../../../src/chain/link.js'
import type { ClusterClient } from '../../../src/cluster/client.js'
import type { ClusterStatus } from '../../../src/cluster/messages.js'
import type { NodeQuestion } from '../../../src/cluster/questions.js'
import type { NodeReport } from '../../../src/cluster/reports.js'
import { seedLog as seedLogOf } from '../../../src/cluster/seed-log.js'
import { drain, remove, seedLog } from '../../../src/commands/cluster/orders.js'
import { showStatus } from '../../../src/commands/cluster/show-status.js'
import { machineOf, reportOf, statusOf } from '../../support/data/cluster-status.js'

const LOST = 'there is no log'

const lostOf = (name: string, sequence: number, more: Partial<NodeReport> = {}) =>
  reportOf(name, sequence, { levelMs: 0, fault: LOST, ...more })

const WHOLE = statusOf([
  machineOf('a'),
  machineOf('b'),
  machineOf('joining', { isMember: false, isLevel: false }),
])

interface Faked {
  readonly reports: readonly NodeReport[]
  readonly status?: Partial<ClusterStatus>
  /** Up to where the machine with the longest journal has it, if that is not as it tells. */
  readonly kept?: Link
  readonly removedCount?: number
}

/** The members are a, b and c. */
function fakeCluster(t: Test, { reports, status, kept, removedCount = 0 }: Faked) {
  const asked: string[] = []
  let madeCount = 0
  const seeded = (name: string, question: Extract<NodeQuestion, { kind: 'seedLog' }>) => {
    const own = reports.find((report) => report.name === name) as NodeReport
    const journal = {
      generation: 'g',
      kept: kept ?? own.kept,
      facts: { members: ['a', 'b', 'c'].map((member) => ({ name: member })) },
      // It keeps none before batch 5.
      hashAt: (sequence: number) => (sequence < 5 ? undefined : `of ${sequence}`),
    }
    const replaceLog = async () => {
      madeCount++
      return removedCount
    }
    const others = { ofThoseThere: () => reports.filter((report) => report !== own) }
    const options = { me: { name }, journal, replaceLog, own: { now: () => own }, reports: others }
    return seedLogOf(options as never, question)
  }
  const client = {
    clusterId: 'main',
    reports: async () => reports,
    async ask(name: string, question: NodeQuestion) {
      const without = question.kind === 'seedLog' ? ` ${question.without.join(',')}` : ''
      asked.push(`${question.kind} ${name}${without}`)
      if (question.kind === 'seedLog') return await seeded(name, question)
      return question.kind === 'status' ? { ...WHOLE, ...status } : { isDone: true }
    },
  } as unknown as ClusterClient
  const printed = t.capture(process.stdout, 'write', () => true)
  t.capture(process.stderr, 'write', () => true)
  let text = ''
  const allText = () => {
    for (const { args } of printed()) text += String(args[0])
    return text
  }
  return { client, asked, text: allText, madeCount: () => madeCount }
}

t.test('the machine with the longest journal makes the log anew', async (t) => {
  const reports = [lostOf('a', 7), lostOf('b', 9), lostOf('c', 9)]
  // It had more on its disk than it told before.
  const kept = { sequence: 10, hash: 'of 10' }
  const { client, asked, text } = fakeCluster(t, { reports, kept })
  await seedLog(client, [])
  t.same(asked, ['seedLog b '])
  t.match(text(), /behind batch 10, which is the last one of b$/m)
})

t.test('what the log had that is removed is said', async (t) => {
  for (const [removedCount, said] of [
    [0, /^there was no log before, or none with a message$/m],
    [1, /^the log before is removed, which had 1 message$/m],
    [700, /^the log before is removed, which had 700 messages$/m],
  ] as const) {
    const { client, text } = fakeCluster(t, { reports: [lostOf('a', 7)], removedCount })
    await seedLog(client, ['b', 'c'])
    t.match(text(), said)
  }
})

t.test('a machine that is left out counts for nothing', async (t) => {
  const { client, asked } = fakeCluster(t, { reports: [lostOf('a', 7), reportOf('b', 9)] })
  await seedLog(client, ['b', 'c'])
  t.same(asked, ['seedLog a b,c'])
})

t.test(
  'the log stays where it is there, or a machine may have more or another history',
  async (t) => {
    const other = (sequence: number) => ({ kept: { sequence, hash: 'other' } })
    const three = [lostOf('a', 7), lostOf('b', 9), lostOf('c', 9, other(9))]
    const going = ['a', 'b'].map((name) => reportOf(name, 9))
    const holes = ['a', 'b', 'c'].map((name) => lostOf(name, 9, { faultKind: 'hole' }))
    const cases: [reports: NodeReport[], without: string[], message: RegExp][] = [
      [three, [], /^b: b and c have different batches 9, .* --without/],
      [
        [lostOf('a', 7, other(7)), ...three.slice(1)],
        ['c'],
        /^b: b and a have different batches 7/,
      ],
      [
        [lostOf('a', 3), lostOf('b', 9), lostOf('c', 3, other(3))],
        [],
        /^b: a and c have different/,
      ],
      [three.slice(0, 2), [], /^b: c may have more .* with --without c$/],
      [three.slice(0, 1), [], /^a: b, c may have more .* --without b --without c$/],
      [three, ['d'], /^b: there is no machine d; there are a, b, c$/],
      [three, ['a', 'b', 'c'], /^no machine is heard from which/],
      [[], [], /^no machine is heard from which/],
      [[lostOf('a', 9), reportOf('b', 9)], ['c'], /^a: the log is there: b goes on with it/],
      // One that is no member does not make it a lost one.
      [[...going, lostOf('joining', 9)], ['c'], /^a: the log is there: a, b goes on with it/],
      [holes, [], /^a: a server of NATS lacks .* remove its store/],
    ]
    for (const [reports, without, message] of cases) {
      const { client, madeCount } = fakeCluster(t, { reports })
      await t.rejects(seedLog(client, without), { code: 'Failed', message })
      t.equal(madeCount(), 0)
    }
    const less = { reports: [lostOf('a', 9), lostOf('b', 9)], kept: { sequence: 8, hash: 'of 8' } }
    const late = fakeCluster(t, less)
    const message = /^a: a has batches up to 9, and this one up to 8$/
    await t.rejects(seedLog(late.client, ['c']), { code: 'Failed', message })
  },
)

const log = () => WHOLE.log as NonNullable<ClusterStatus['log']>

t.test('the status of a whole cluster is no failure', async (t) => {
  const reports = [lostOf('a', 9), reportOf('b', 9)]
  const { client, asked, text } = fakeCluster(t, { reports })
  await showStatus(client, undefined, false)
  t.same(asked, ['status b'], 'one that goes on')
  t.match(text(), /^log +3 copies, 7 messages$/m)
  t.match(text(), /^writes +yes$/m)
  await showStatus(client, 'a', true)
  t.equal(asked.at(-1), 'status a', 'that of the directory')
  t.match(text(), /"isWhole":true,"clusterId":"main"/)
})

t.test('the status says all that is wrong', async (t) => {
  const away = machineOf('a', { fault: LOST, silentMs: 5_000 })
  const cases: [status: Partial<ClusterStatus>, message: string, printed: RegExp][] = [
    [{ doubt: 'nats-a must sync' }, 'a cannot write', /^writes +no: nats-a must sync$/m],
    [
      { doubt: 'the log does not answer', log: undefined },
      'a cannot write; the log does not answer a',
      /^log +does not answer\nwrites +no: the log does not answer$/m,
    ],
    [
      { log: { ...log(), missingCount: 2 } },
      'nats-server nats-a lacks 2 messages of the log',
      /^log +3 copies, 7 messages, and nats-server nats-a lacks 2 of them$/m,
    ],
    [{ machines: [machineOf('a', { silentMs: undefined })] }, 'a is not heard', / never$/m],
    [{ machines: [away] }, 'a is not heard', / 5\.0 s ago$/m],
    [{ machines: [machineOf('a', { isLevel: false })] }, 'a is not level', /^a +member +no /m],
    [
      { doubt: 'x', machines: [machineOf('a', { isLevel: false, fault: LOST })] },
      'a cannot write; a does not go on',
      /^a does not go on: there is no log$/m,
    ],
  ]
  for (const [status, message, printed] of cases) {
    const { client, text } = fakeCluster(t, { reports: [lostOf('a', 9)], status })
    await t.rejects(showStatus(client, undefined, false), { code: 'Failed', message })
    t.match(text(), printed)
  }
})

t.test('a machine that is heard stays a member', async (t) => {
  const { client, asked } = fakeCluster(t, { reports: [lostOf('a', 9)] })
  await t.rejects(remove(client, 'a'), { code: 'Usage', message: /^a is there/ })
  t.same(asked, [])
  await remove(client, 'b')
  await drain(client, 'b', true)
  t.same(asked, ['remove a', 'drain b'])
})
