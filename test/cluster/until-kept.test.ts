/**
 * When an audience stays although a machine is lost.
 *
 * @module
 */
import t from 'tap'
import { untilKept } from '../../src/cluster/until-kept.js'

/** Machines that get the files one after the other, each time somebody looks. */
function spreading(names: readonly string[], have: string[], coming: string[] = []) {
  let askedCount = 0
  return {
    askedCount: () => askedCount,
    options: {
      members: () => names,
      has(name: string) {
        if (name === names[0] && coming.length > 0) have.push(...coming.splice(0, 1))
        return have.includes(name)
      },
      isStored: async () => {
        askedCount++
        return false
      },
    },
  }
}

const LONG = { waitMs: 60_000, storedMs: 50_000 }

t.test('most members are enough', async (t) => {
  const three = spreading(['a', 'b', 'c'], ['a'], ['b'])
  t.same(await untilKept(three.options, LONG), { isKept: true, waitingFor: ['c'] })
  const four = spreading(['a', 'b', 'c', 'd'], ['a', 'c'], ['d'])
  t.same(await untilKept(four.options, LONG), { isKept: true, waitingFor: ['b'] })
  const alone = spreading(['a'], ['a'])
  t.same(await untilKept(alone.options, LONG), { isKept: true, waitingFor: [] })
  t.equal(
    three.askedCount() + four.askedCount() + alone.askedCount(),
    0,
    'no object store is asked',
  )
})

t.test('half of them are not', async (t) => {
  const two = spreading(['a', 'b'], ['a'])
  const times = { waitMs: 50, storedMs: 0 }
  t.same(await untilKept(two.options, times), { isKept: false, waitingFor: ['b'] })
  t.ok(two.askedCount() > 0)
  const nobody = spreading([], [])
  t.match(await untilKept(nobody.options, times), { isKept: false }, 'before members are known')
})

t.test('after a while, the object store is', async (t) => {
  const { options } = spreading(['a', 'b', 'c'], ['a'])
  const answers = [false, true]
  const isStored = async () => answers.shift() ?? false
  const kept = await untilKept({ ...options, isStored }, { waitMs: 60_000, storedMs: 30 })
  t.same(kept, { isKept: true, waitingFor: ['b', 'c'] })
  t.equal(answers.length, 0)
})
