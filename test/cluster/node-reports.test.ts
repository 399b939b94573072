/**
 * What a machine has heard of the others, and by how many it was heard.
 */
import fc from 'fast-check'
import t from 'tap'
import type { NodeReport } from '../../src/cluster/node-report.js'
import { NodeReports } from '../../src/cluster/node-reports.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

interface Told {
  readonly name: string
  readonly number?: number
  readonly incarnation?: string
  readonly epoch?: number
  readonly echoes?: NodeReport['echoes']
}

function reportOf({ name, number = 1, incarnation = 'first', epoch = 1, echoes = {} }: Told) {
  const written = { sequence: 0, hash: '', epoch: 0 }
  const agreement = { name, incarnation, epoch, isWriter: false, written, matched: 0, committed: 0 }
  const served = { snapshotId: undefined, preparedId: undefined }
  const told = { version: '1', answersBy: 0, levelMs: 0, isDraining: false, ...served }
  return { agreement, number, echoes, ...told } satisfies NodeReport
}

t.test('the last report of each machine counts', (t) => {
  let nowMs = 1_000
  const reports = new NodeReports(() => nowMs)
  t.equal(reports.of('b'), undefined)
  t.same(reports.all(), [])
  reports.note(reportOf({ name: 'b', number: 5 }))
  nowMs = 1_200
  reports.note(reportOf({ name: 'a', number: 9 }))
  reports.note(reportOf({ name: 'b', number: 6 }))
  nowMs = 1_300
  reports.note(reportOf({ name: 'c', number: 7 }))
  t.match(reports.of('b'), { number: 6 })
  t.same(reports.numbers(), { a: 9, b: 6, c: 7 })
  const heard = reports.all().map(({ report, silentMs }) => [report.agreement.name, silentMs])
  t.same(heard, [
    ['a', 100],
    ['b', 100],
    ['c', 0],
  ])
  t.match(reports.within(100, 'a'), { number: 9 })
  t.equal(reports.within(99, 'a'), undefined)
  t.equal(reports.within(1_000, 'd'), undefined)
  t.end()
})

const told = fc.record({
  incarnation: fc.constantFrom('first', 'first', 'second'),
  epoch: fc.constantFrom(1, 1, 2),
  echo: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
})

t.test('a report is heard by most members that follow the epoch', (t) => {
  const sizes = { minLength: 0, maxLength: 6 }
  fc.assert(
    fc.property(fc.array(told, sizes), fc.boolean(), (others, isFirst) => {
      const members = [...others.keys()].map((at) => ({ name: `m${at}`, incarnation: 'first' }))
      const me = { name: 'me', incarnation: 'first' }
      const all = isFirst ? [me, ...members] : [...members, me]
      const reports = new NodeReports(() => 0)
      for (const [at, { echo, ...other }] of others.entries()) {
        const echoes = echo === undefined ? {} : { me: echo }
        reports.note(reportOf({ name: `m${at}`, ...other, echoes }))
      }
      const wasSent = (number: number) => number > 3 && number < 11
      /** Those that know that the report was sent, of those that count. */
      const knowing = (number: number) =>
        1 +
        others.filter(
          ({ incarnation, epoch, echo = 0 }) =>
            incarnation === 'first' && epoch === 1 && wasSent(echo) && echo >= number,
        ).length
      const isMost = (count: number) => 2 * count > all.length
      const expected = isMost(1)
        ? Number.POSITIVE_INFINITY
        : [10, 9, 8, 7, 6, 5, 4].find((number) => isMost(knowing(number)))
      t.equal(reports.echoedByMajority(all, { name: 'me', epoch: 1 }, wasSent), expected)
    }),
    { seed, numRuns: 500 },
  )
  t.end()
})
