/**
 * The rules by which a machine is level, one by one; test/cluster/level.test.ts has them together.
 */
import t from 'tap'
import type { Member, Report } from '../../src/cluster/agreement/messages.js'
import {
  createFigures,
  isDraining,
  isWriter,
  levelUntilMs,
  roleChangeCount,
} from '../../src/cluster/figures.js'
import type { NodeReport } from '../../src/cluster/node-report.js'
import { NodeReports } from '../../src/cluster/node-reports.js'
import { OwnLevel } from '../../src/cluster/own-level.js'

const MAX_LAG_MS = 1_000
const EPOCH = 4

const memberOf = (name: string): Member => ({ name, incarnation: `of ${name}` })

/** A machine whose agreement is what a test makes of it. */
function machine(name: string, acks: 'one' | 'majority' = 'majority') {
  const state = {
    nowMs: 10_000,
    epoch: EPOCH,
    isWriter: false,
    members: ['a', 'b', 'c'].map(memberOf),
    committed: 7,
    epochSequence: 5,
    membersSequence: 6,
    isDraining: false,
  }
  const figures = createFigures()
  const reports = new NodeReports(() => state.nowMs)
  const level = new OwnLevel({
    settings: { name, acks, maxLagMs: MAX_LAG_MS },
    agreement: {
      get epoch() {
        return state.epoch
      },
      get isWriter() {
        return state.isWriter
      },
      isMember: (found) => {
        const isSame = (one: Member) => one.incarnation === found?.incarnation
        return state.members.some((one) => one.name === found?.name && isSame(one))
      },
      members: () => state.members,
    },
    journal: {
      committed: () => state.committed,
      epochSequence: () => state.epochSequence,
      membersSequence: () => state.membersSequence,
    },
    reports,
    figures,
    isDraining: () => state.isDraining,
    nowMs: () => state.nowMs,
  })
  const hear = (report: NodeReport) => {
    reports.note(report)
    level.heard(report)
  }
  return { state, level, figures, hear }
}

function reportOf(
  name: string,
  number: number,
  echoes: NodeReport['echoes'],
  agreement: Partial<Report> = {},
): NodeReport {
  return {
    agreement: {
      ...memberOf(name),
      epoch: EPOCH,
      isWriter: false,
      written: { sequence: 9, hash: '', epoch: EPOCH },
      matched: 9,
      committed: 7,
      ...agreement,
    },
    number,
    version: '1',
    answersBy: 7,
    levelMs: 0,
    isDraining: false,
    snapshotId: undefined,
    preparedId: undefined,
    echoes,
  }
}

/** Which writes, has told the others of itself at 10,100, and answers by all. */
function writer(acks: 'one' | 'majority' = 'majority') {
  const found = machine('a', acks)
  found.state.isWriter = true
  found.level.begin()
  found.level.answersBy(7)
  found.state.nowMs = 10_100
  found.level.sent(21)
  return found
}

t.test('a machine is level from when it sent what the writer has echoed', (t) => {
  const { state, level, figures, hear } = machine('b')
  level.sent(1)
  state.nowMs = 10_300
  level.sent(2)
  state.nowMs = 10_400
  level.sent(3)
  state.nowMs = 10_500
  const from = (echo: number) => reportOf('a', 21, { b: echo }, { isWriter: true })
  hear(from(2))
  t.equal(level.leftMs, 0, 'it does not answer by all that was committed')
  level.answersBy(6)
  t.equal(level.leftMs, 0)
  level.answersBy(7)
  t.equal(level.leftMs, 800)
  t.equal(levelUntilMs(figures), 11_300)
  hear(from(1))
  hear(from(99))
  t.equal(level.leftMs, 800, 'never less, and by no report that it has not sent')
  hear(reportOf('a', 22, { b: 3 }, { isWriter: true, committed: 8 }))
  t.equal(level.leftMs, 800)
  level.answersBy(8)
  t.equal(level.leftMs, 900)
  state.nowMs = 11_500
  t.equal(level.leftMs, 0)
  t.end()
})

t.test('nobody is level by what other machines say, or a writer of another epoch', (t) => {
  const { level, hear } = machine('b')
  level.answersBy(7)
  level.sent(1)
  hear(reportOf('c', 5, { b: 1 }))
  hear(reportOf('a', 21, { b: 1 }, { isWriter: true, epoch: EPOCH - 1 }))
  hear(reportOf('a', 21, { b: 1 }, { isWriter: true, epoch: EPOCH + 1 }))
  t.equal(level.leftMs, 0)
  hear(reportOf('a', 21, { b: 1 }, { isWriter: true }))
  t.equal(level.leftMs, MAX_LAG_MS)
  t.end()
})

t.test('the writer is level when most members have heard it, and echoes what came before', (t) => {
  const { state, level, hear } = writer()
  hear(reportOf('c', 31, {}))
  t.equal(level.leftMs, 0)
  t.same(level.echoes(), {})
  state.nowMs = 10_200
  hear(reportOf('b', 41, { a: 20 }))
  t.equal(level.leftMs, 0, 'of which it knows nothing')
  hear(reportOf('c', 32, { a: 21 }))
  t.equal(level.leftMs, MAX_LAG_MS - 100, 'it has sent that at 10,100')
  t.same(level.echoes(), { c: 31 }, 'all others came later')
  level.sent(22)
  state.nowMs = 10_300
  hear(reportOf('c', 33, { a: 22 }))
  t.same(level.echoes(), { b: 41, c: 32 })
  level.begin()
  t.same(level.echoes(), {}, 'of another time as the writer')
  t.end()
})

t.test('those who follow another epoch confirm nothing', (t) => {
  const { level, hear } = writer()
  hear(reportOf('b', 41, { a: 21 }, { epoch: EPOCH + 1 }))
  hear(reportOf('c', 31, { a: 21 }, { incarnation: 'another' }))
  t.equal(level.leftMs, 0)
  hear(reportOf('b', 42, { a: 21 }))
  t.equal(level.leftMs, MAX_LAG_MS)
  t.end()
})

t.test('a machine that is no member is not echoed: nobody waits for it', (t) => {
  const { state, level, hear } = writer()
  hear(reportOf('d', 51, { a: 21 }))
  hear(reportOf('c', 31, {}, { incarnation: 'another' }))
  hear(reportOf('b', 41, { a: 21 }))
  t.same(level.echoes(), { b: 41 })
  state.members = [...state.members, memberOf('d')]
  state.nowMs = 10_200
  level.sent(22)
  hear(reportOf('d', 52, { a: 22 }))
  hear(reportOf('b', 42, { a: 22 }))
  t.same(level.echoes(), { b: 42, d: 52 })
  t.end()
})

t.test('nothing is confirmed before the writer knows what is committed', (t) => {
  for (const pending of ['epochSequence', 'membersSequence'] as const) {
    const { state, level, hear } = writer()
    state[pending] = 8
    hear(reportOf('b', 41, { a: 21 }))
    level.confirm()
    t.equal(level.leftMs, 0, pending)
    t.same(level.echoes(), {})
    state.committed = 8
    level.answersBy(8)
    level.confirm()
    t.equal(level.leftMs, MAX_LAG_MS)
  }
  t.end()
})

t.test('who writes no more confirms nothing', (t) => {
  const { state, level, hear } = writer()
  state.isWriter = false
  hear(reportOf('b', 41, { a: 21 }))
  hear(reportOf('c', 31, { a: 21 }))
  level.confirm()
  t.equal(level.leftMs, 0)
  t.end()
})

t.test('the only member is level at any time', (t) => {
  const { state, level } = writer()
  state.members = [memberOf('a')]
  state.nowMs = 10_700
  level.confirm()
  t.equal(level.leftMs, MAX_LAG_MS)
  t.end()
})

t.test('where one disk is enough, the writer is level by its lease', (t) => {
  const { state, level, hear } = writer('one')
  hear(reportOf('b', 41, { a: 21 }))
  hear(reportOf('c', 31, { a: 21 }))
  level.confirm()
  t.equal(level.leftMs, 0)
  state.epochSequence = 8
  level.leaseHeld(10_050)
  t.equal(level.leftMs, 0, 'not before it knows what is committed')
  state.epochSequence = 5
  level.leaseHeld(10_050)
  t.equal(level.leftMs, MAX_LAG_MS - 50)
  t.same(level.echoes(), {})
  level.leaseHeld(10_100)
  t.same(level.echoes(), { b: 41, c: 31 })
  const other = writer('majority')
  other.level.leaseHeld(10_050)
  t.equal(other.level.leftMs, 0)
  t.end()
})

t.test('all threads are told', (t) => {
  const { state, level, figures } = machine('a')
  level.tell()
  t.notOk(isWriter(figures) || isDraining(figures))
  t.notOk(levelUntilMs(figures) > 0)
  Object.assign(state, { isWriter: true, isDraining: true })
  level.tell()
  t.ok(isWriter(figures) && isDraining(figures))
  t.end()
})

t.test('changes of the writer are counted', (t) => {
  const { level, figures } = machine('a')
  level.tell()
  t.equal(roleChangeCount(figures), 0)
  level.begin()
  level.begin()
  t.equal(roleChangeCount(figures), 2)
  t.end()
})
