/**
 * Work in the background: bounded, and each piece once at a time.
 *
 * @module
 */
import t from 'tap'
import { workQueue } from '../../src/operations/work-queue.js'

/** Work that goes on until it is told to end. */
function heldWork() {
  const ends: (() => void)[] = []
  const work = (value: string) => () =>
    new Promise<string>((resolve) => ends.push(() => resolve(value)))
  return { ends, work }
}

/** Long enough for what can begin to have begun. */
async function turns() {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}

t.test('as many pieces run and wait as are allowed, and no more', async (t) => {
  const queue = workQueue<string>({ runningCount: 2, waitingCount: 3 })
  const { ends, work } = heldWork()
  const joined = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => queue.join(key, work(key)))
  await turns()
  t.equal(ends.length, 2)
  t.equal(joined[5], undefined, 'no room')
  t.equal(queue.join('e', work('other')), joined[4], 'what is there already is joined')
  for (let i = 0; i < 5; i++) {
    ends[i]()
    await turns()
    t.ok(ends.length <= i + 3)
  }
  t.same(await Promise.all(joined.slice(0, 5)), ['a', 'b', 'c', 'd', 'e'])
  const again = queue.join('a', work('again'))
  t.not(again, joined[0], 'what is done is begun anew')
  await turns()
  ends[5]()
  t.equal(await again, 'again')
})

t.test('a queue that is stopped ends what runs, and begins nothing more', async (t) => {
  const queue = workQueue<string>({ runningCount: 1, waitingCount: 3 })
  const { ends, work } = heldWork()
  const [running, waiting] = ['a', 'b'].map((key) => queue.join(key, work(key)))
  await turns()
  queue.stop()
  t.equal(await waiting, undefined)
  t.equal(queue.join('c', work('c')), undefined)
  ends[0]()
  t.equal(await running, 'a')
  await turns()
  t.equal(ends.length, 1)
})

t.test('no two pieces begin in one turn of the event loop', async (t) => {
  const queue = workQueue<void>({ runningCount: 4, waitingCount: 20 })
  const begun: number[] = []
  let turnCount = 0
  let isDone = false
  const count = () => {
    turnCount++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const work = async () => {
    begun.push(turnCount)
  }
  await Promise.all(Array.from({ length: 20 }, (_, i) => queue.join(String(i), work)))
  isDone = true
  t.equal(begun.length, 20)
  t.equal(new Set(begun).size, 20)
})
