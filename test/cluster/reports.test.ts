/**
 * What a machine has heard of the others.
 */
import t from 'tap'
import { NodeReports } from '../../src/cluster/reports.js'
import { limits } from '../../src/limits.js'
import { reportOf } from '../support/data/cluster-status.js'

t.test('the last report of each machine counts, as long as it is there', (t) => {
  let nowMs = 1_000
  const reports = new NodeReports(() => nowMs)
  t.equal(reports.of('b'), undefined)
  t.same(reports.all(), [])
  reports.note(reportOf('b', 5))
  nowMs = 1_200
  reports.note(reportOf('a', 9))
  reports.note(reportOf('b', 6))
  nowMs = 1_300
  reports.note(reportOf('c', 7))
  t.match(reports.of('b'), { answersBy: 6 })
  const heard = reports.all().map(({ report, silentMs }) => [report.name, silentMs])
  t.same(heard, [
    ['a', 100],
    ['b', 100],
    ['c', 0],
  ])
  const there = () => reports.ofThoseThere().map(({ name }) => name)
  nowMs = 1_200 + limits.clusterSilenceMs - 1
  t.same(there(), ['a', 'b', 'c'])
  nowMs += 1
  t.same(there(), ['c'])
  t.match(reports.of('a'), { answersBy: 9 }, 'it is known all the same')
  t.end()
})
