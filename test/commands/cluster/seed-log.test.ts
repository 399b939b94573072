/**
 * What `hickory cluster status` and `seed-log` make of what machines tell, with machines that only answer.
 *
 * @module
 */
import t, { type Test } from 'tap'
import type { Link } from '../../../src/chain/link.js'
import type { ClusterClient } from '../../../src/cluster/client.js'
import type { ClusterStatus, MachineStatus } from '../../../src/cluster/messages.js'
import type { NodeReport } from '../../../src/cluster/node-report.js'
import type { NodeQuestion } from '../../../src/cluster/questions.js'
import { drain, remove } from '../../../src/commands/cluster/members.js'
import { seedLog } from '../../../src/commands/cluster/seed-log.js'
import { showStatus } from '../../../src/commands/cluster/show-status.js'

const LOST = 'there is no log'

const reportOf = (name: string, sequence: number, more: Partial<NodeReport> = {}) =>
  ({
    name,
    kept: { sequence, hash: `of ${sequence}` },
    levelMs: 0,
    log: { generation: 'g', place: 7 },
    fault: LOST,
    ...more,
  }) as NodeReport

const machineOf = (name: string, more: Partial<MachineStatus> = {}): MachineStatus => ({
  name,
  version: '1.2.3',
  isMember: true,
  isLevel: true,
  written: 90,
  answersBy: 90,
  fault: undefined,
  snapshotId: '000007-0123abcd',
  isDraining: false,
  silentMs: 250,
  ...more,
})

const WHOLE: ClusterStatus = {
  clusterId: 'main',
  name: 'a',
  isConnected: true,
  doubt: undefined,
  isSwitching: false,
  log: { generation: 'g', messageCount: 7, missingCount: 0, copyCount: 3, server: 'nats-a' },
  machines: [
    machineOf('a'),
    machineOf('b'),
    machineOf('joining', { isMember: false, isLevel: false }),
  ],
}

interface Faked {
  readonly base?: Link
  readonly reports: readonly NodeReport[]
  readonly status?: Partial<ClusterStatus>
  readonly isDone?: boolean
  readonly removedCount?: number
}

function fakeCluster(t: Test, faked: Faked) {
  const { reports, status, isDone = true, base, removedCount } = faked
  const asked: string[] = []
  const client = {
    clusterId: 'main',
    reports: async () => reports,
    async ask(name: string, question: NodeQuestion) {
      const without = question.kind === 'seedLog' ? ` ${question.without.join(',')}` : ''
      if (question.kind === 'seedLog') t.equal(question.generation, 'g')
      asked.push(`${question.kind} ${name}${without}`)
      if (question.kind === 'status') return { ...WHOLE, ...status }
      return isDone ? { isDone, base, removedCount } : { isDone, reason: 'it is busy' }
    },
  } as unknown as ClusterClient
  const printed = t.capture(process.stdout, 'write', () => true)
  t.capture(process.stderr, 'write', () => true)
  let text = ''
  const allText = () => {
    for (const { args } of printed()) text += String(args[0])
    return text
  }
  return { client, asked, text: allText }
}

const lost = {
  log: undefined,
  machines: ['a', 'b', 'c'].map((name) => machineOf(name, { fault: LOST })),
}

t.test('the machine with the longest journal makes the log anew', async (t) => {
  const reports = [reportOf('a', 7), reportOf('b', 9), reportOf('c', 9)]
  // It had more on its disk than it told before.
  const base = { sequence: 10, hash: 'of 10' }
  const { client, asked, text } = fakeCluster(t, { reports, status: lost, base })
  await seedLog(client, [])
  t.same(asked, ['status a', 'seedLog b '])
  t.match(text(), /behind batch 10, which is the last one of b$/m)
})

t.test('what the log had that is removed is said', async (t) => {
  for (const [removedCount, said] of [
    [0, /^there was no log before, or none with a message$/m],
    [1, /^the log before is removed, which had 1 message$/m],
    [700, /^the log before is removed, which had 700 messages$/m],
  ] as const) {
    const faked = {
      reports: [reportOf('a', 7)],
      removedCount,
      status: { ...lost, machines: [machineOf('a')] },
    }
    const { client, text } = fakeCluster(t, faked)
    await seedLog(client, [])
    t.match(text(), said)
  }
})

t.test('a machine that is no member does not make the log a lost one', async (t) => {
  const going = ['a', 'b'].map((name) => reportOf(name, 9, { fault: undefined, levelMs: 1 }))
  const { client } = fakeCluster(t, { reports: [...going, reportOf('joining', 9)] })
  await t.rejects(seedLog(client, []), { code: 'Usage', message: /a, b goes on with it/ })
})

t.test('a machine that is left out counts for nothing', async (t) => {
  const reports = [reportOf('a', 7), reportOf('b', 9)]
  const { client, asked } = fakeCluster(t, { reports, status: lost })
  await seedLog(client, ['b', 'c'])
  t.same(asked, ['status a', 'seedLog a b,c'])
})

t.test('the log stays where a machine may have more, or another history', async (t) => {
  const other = { kept: { sequence: 9, hash: 'other' } }
  const three = [reportOf('a', 7), reportOf('b', 9), reportOf('c', 9, other)]
  const cases: [reports: NodeReport[], without: string[], code: string, message: RegExp][] = [
    [three, [], 'Failed', /^b and c have different batches 9, .* --without/],
    [three.slice(0, 2), [], 'Failed', /^c may have more .* with --without c$/],
    [three.slice(0, 1), [], 'Failed', /^b, c may have more .* --without b --without c$/],
    [three, ['d'], 'Usage', /^there is no machine d; there are a, b, c$/],
    [three, ['a', 'b', 'c'], 'Usage', /^no machine is left/],
    [[], [], 'Failed', /^no machine is heard/],
  ]
  for (const [reports, without, code, message] of cases) {
    const { client, asked } = fakeCluster(t, { reports, status: lost })
    await t.rejects(seedLog(client, without), { code, message })
    t.notOk(asked.some((one) => one.startsWith('seedLog')))
  }
  const refusing = fakeCluster(t, { reports: three.slice(0, 2), status: lost, isDone: false })
  await t.rejects(seedLog(refusing.client, ['c']), { code: 'Failed', message: 'b: it is busy' })
})

t.test('a log with which a machine goes on is left as it is', async (t) => {
  const reports = [reportOf('a', 9), reportOf('b', 9, { fault: undefined, levelMs: 1 })]
  const going = fakeCluster(t, { reports })
  await t.rejects(seedLog(going.client, []), { code: 'Usage', message: /b goes on with it/ })
  await seedLog(going.client, ['b'])
  t.same(going.asked, ['status b', 'status b', 'seedLog a b'])
  const holes = ['a', 'b'].map((name) => reportOf(name, 9, { faultKind: 'hole' }))
  const damaged = fakeCluster(t, { reports: holes })
  await t.rejects(seedLog(damaged.client, []), { code: 'Usage', message: /remove its store/ })
})

const log = () => WHOLE.log as NonNullable<ClusterStatus['log']>

t.test('the status of a whole cluster is no failure', async (t) => {
  const reports = [reportOf('a', 9), reportOf('b', 9, { fault: undefined, levelMs: 1 })]
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
    const { client, text } = fakeCluster(t, { reports: [reportOf('a', 9)], status })
    await t.rejects(showStatus(client, undefined, false), { code: 'Failed', message })
    t.match(text(), printed)
  }
})

t.test('a machine that is heard stays a member', async (t) => {
  const { client, asked } = fakeCluster(t, { reports: [reportOf('a', 9)] })
  await t.rejects(remove(client, 'a'), { code: 'Usage', message: /^a is there/ })
  t.same(asked, [])
  await remove(client, 'b')
  await drain(client, 'b', true)
  t.same(asked, ['remove a', 'drain b'])
})
