/**
 * Whom a comparison asks, and what it makes of the answers, with machines that only answer.
 *
 * @module
 */
import t, { type Test } from 'tap'
import type { DigestsAnswer, DigestsQuestion } from '../../../src/cluster/comparison.js'
import type { NodeAnswers, NodeQuestion } from '../../../src/cluster/questions.js'
import { compareMachines } from '../../../src/commands/cluster/compare-machines.js'
import { limits } from '../../../src/limits.js'
import { createLog } from '../../../src/log.js'
import { machineOf, reportOf } from '../../support/data/cluster-status.js'

const log = createLog('silent')
const done: DigestsAnswer = { kind: 'done', digests: { chainHash: 'aa' } as never }

interface Faked {
  /** Of each member, when it was heard last. */
  readonly members: Readonly<Record<string, number | undefined>>
  readonly compare?: () => NodeAnswers['compare']
  readonly digests?: (name: string, question: DigestsQuestion) => DigestsAnswer
}

function fakeCluster({ members, compare, digests = () => done }: Faked) {
  const asked: string[] = []
  const machines = Object.entries(members).map(([name, silentMs]) =>
    machineOf(name, { silentMs, isMember: name !== 'joining' }),
  )
  const heard = machines.filter(({ silentMs = Infinity }) => silentMs < limits.clusterHeardMs)
  // One that has just begun is passed over.
  const begun = heard.length > 0 ? [reportOf('0', 0, { levelMs: 0 })] : []
  let sequence = 10
  const client = {
    reports: async () => [...begun, ...heard.map(({ name }) => reportOf(name, 0))],
    async ask(name: string, question: NodeQuestion) {
      asked.push(`${question.kind} ${name}`)
      if (question.kind === 'status') return { machines }
      if (question.kind === 'digests') return digests(name, question)
      return compare?.() ?? { isDone: true, at: { sequence: ++sequence, snapshotId: 's1' } }
    },
  }
  return { client: client as unknown as Parameters<typeof compareMachines>[0], asked }
}

const namesOf = (compared: readonly { readonly name: string }[]) => compared.map(({ name }) => name)

t.test('each member is asked as of one entry', async (t) => {
  const questions: DigestsQuestion[] = []
  const { client, asked } = fakeCluster({
    members: { a: 0, b: 100, c: 200, joining: 0 },
    digests(_, { sequence, snapshotId }) {
      questions.push({ sequence, snapshotId })
      return done
    },
  })
  const { sequence, snapshotId, compared, missing } = await compareMachines(client, log)
  t.same([sequence, snapshotId, missing], [11, 's1', []])
  t.same(namesOf(compared), ['a', 'b', 'c'])
  t.same(questions, Array(3).fill({ sequence: 11, snapshotId: 's1' }))
  t.same(asked.slice(0, 2), ['status a', 'compare a'])
})

t.test('a member that cannot tell is missing, with the reason', async (t) => {
  const { client } = fakeCluster({
    members: { a: 0, b: 0, c: 5_000, d: undefined },
    digests: (name) => (name === 'b' ? { kind: 'failed', reason: 'it is new' } : done),
  })
  const { compared, missing } = await compareMachines(client, log)
  t.same(namesOf(compared), ['a'])
  t.same(missing, [
    { name: 'b', reason: 'it is new' },
    { name: 'c', reason: 'it is not heard' },
    { name: 'd', reason: 'it is not heard' },
  ])
})

t.test('where another snapshot came in between, all are asked anew', async (t) => {
  const snapshots = ['s1', 's2', 's2']
  let sequence = 0
  const { client } = fakeCluster({
    members: { a: 0, b: 0 },
    compare: () => ({
      isDone: true,
      at: { sequence: ++sequence, snapshotId: snapshots[sequence - 1] },
    }),
    digests: (name, { snapshotId }) =>
      name === 'b' && snapshotId === 's1' ? { kind: 'failed', reason: 'it is gone' } : done,
  })
  const { snapshotId, missing, compared } = await compareMachines(client, log)
  t.same([snapshotId, missing, compared.length], ['s2', [], 2])
  t.equal(sequence, 2)
})

t.test('however often snapshots come, there is an end', async (t) => {
  let sequence = 0
  const { client } = fakeCluster({
    members: { a: 0 },
    compare: () => ({ isDone: true, at: { sequence: ++sequence, snapshotId: `s${sequence}` } }),
    digests: () => ({ kind: 'failed', reason: 'it is gone' }),
  })
  t.same((await compareMachines(client, log)).missing, [{ name: 'a', reason: 'it is gone' }])
  t.equal(sequence, 3)
})

t.test('who is not heard is not waited for once more', async (t) => {
  let sequence = 0
  const { client } = fakeCluster({
    members: { a: 0, b: undefined },
    compare: () => ({ isDone: true, at: { sequence: ++sequence, snapshotId: `s${sequence}` } }),
  })
  const { snapshotId, missing } = await compareMachines(client, log)
  t.same([snapshotId, missing], ['s1', [{ name: 'b', reason: 'it is not heard' }]])
  t.equal(sequence, 1)
})

/** @returns the milliseconds after which a machine without progress is given up */
function shortWait(t: Test): number {
  const { comparisonWaitMs, comparisonPollMs } = limits
  Object.assign(limits, { comparisonWaitMs: 400, comparisonPollMs: 10 })
  t.teardown(() => Object.assign(limits, { comparisonWaitMs, comparisonPollMs }))
  return limits.comparisonWaitMs
}

t.test('answers in turns are no progress', async (t) => {
  const waitMs = shortWait(t)
  let count = 0
  const beganMs = performance.now()
  const { client } = fakeCluster({
    members: { a: 0 },
    digests() {
      // Fails the test where there is no end.
      if (performance.now() - beganMs > 10 * waitMs) return done
      return [
        { kind: 'waiting', reason: 'it lacks changes', storedSequence: 5 },
        { kind: 'waiting', reason: 'it does not answer' },
        { kind: 'working', doneCount: 1, totalCount: 3 },
        { kind: 'working', doneCount: 0, totalCount: 3 },
      ][++count % 4] as DigestsAnswer
    },
  })
  const { missing } = await compareMachines(client, log)
  t.match(missing, [{ name: 'a', reason: /it does not go on|it lacks changes|it does not answer/ }])
  t.ok(performance.now() - beganMs > waitMs)
})

t.test('a machine that goes on is waited for, however long that takes', async (t) => {
  const waitMs = shortWait(t)
  const steps = (begun: number) => Math.floor((performance.now() - begun) / (waitMs / 4))
  const beganMs = performance.now()
  const { client } = fakeCluster({
    members: { a: 0, b: 0 },
    digests(name) {
      const at = steps(beganMs)
      if (at > 10) return done
      return name === 'a'
        ? { kind: 'waiting', reason: 'it lacks changes', storedSequence: at }
        : { kind: 'working', doneCount: at, totalCount: 20 }
    },
  })
  const { compared, missing } = await compareMachines(client, log)
  t.same([compared.length, missing], [2, []])
})

t.test('without a machine, a log or a snapshot there is nothing to compare', async (t) => {
  const members = { a: 0 }
  const cases: [Partial<Faked>, RegExp][] = [
    [{ members: { a: undefined } }, /^no machine is heard/],
    [
      { compare: () => ({ isDone: false, reason: 'the log does not answer' }) as never },
      /^a: the log does not answer/,
    ],
    [
      { compare: () => ({ isDone: true, at: { sequence: 1, snapshotId: undefined } }) },
      /no snapshot is served yet/,
    ],
  ]
  for (const [more, message] of cases) {
    const { client } = fakeCluster({ members, ...more })
    await t.rejects(compareMachines(client, log), { code: 'Failed', message })
  }
})
