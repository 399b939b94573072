import t from 'tap'
import { committedBy, majorityOf } from '../../../src/cluster/agreement/majority.js'

t.test('two majorities have a member in common, and one fewer is none', async (t) => {
  for (let memberCount = 1; memberCount <= 9; memberCount++) {
    const majority = majorityOf(memberCount)
    t.ok(2 * majority > memberCount, `${memberCount} members`)
    t.ok(2 * (majority - 1) <= memberCount, `${memberCount} members`)
  }
})

t.test('what is committed is what most members have', async (t) => {
  t.equal(committedBy([]), 0)
  t.equal(committedBy([7]), 7)
  t.equal(committedBy([7, 3]), 3)
  t.equal(committedBy([3, 7, 5]), 5)
  t.equal(committedBy([9, 9, 1, 2]), 2)
  t.equal(committedBy([0, 10, 9, 0, 0]), 0)
})
