/**
 * The rules of waiting for all machines that are level, one by one; test/cluster/level.test.ts has them together.
 */
import t from 'tap'
import { EverywhereDesk } from '../../src/cluster/everywhere.js'
import type { Everywhere } from '../../src/cluster/messages.js'
import { untilEverywhere } from '../../src/cluster/until-everywhere.js'
import { limits } from '../../src/limits.js'

const LEVEL_MS = 1_000
const WAIT_MS = 60_000

function desk() {
  const clock = { nowMs: 5_000 }
  const others = ['b', 'c']
  const waiting = new EverywhereDesk(
    { name: 'a', nowMs: () => clock.nowMs, levelMs: LEVEL_MS },
    () => others,
  )
  /** What has become of waiting, as far as is known. */
  const until = (sequence: number, waitMs = WAIT_MS) => {
    const found: { became?: Everywhere } = {}
    void waiting.until(sequence, waitMs).then((everywhere) => {
      found.became = everywhere
    })
    return async () => {
      await Promise.resolve()
      return found.became
    }
  }
  return { clock, others, waiting, until }
}

const EVERYWHERE = { isEverywhere: true, waitingFor: [] }

t.test('all machines must answer by an entry, this one too', async (t) => {
  const { waiting, until } = desk()
  waiting.begin()
  const found = until(7)
  waiting.heard('b', 7)
  waiting.heard('c', 6)
  waiting.answersBy(7)
  t.equal(await found(), undefined)
  waiting.heard('c', 8)
  t.same(await found(), EVERYWHERE)
  t.same(await until(8, 0)(), { isEverywhere: false, waitingFor: ['a', 'b'] })
  t.same(await until(7)(), EVERYWHERE, 'at once')
})

t.test('a machine that is silent is waited for until it cannot be level any more', async (t) => {
  const { clock, waiting, until } = desk()
  waiting.begin()
  waiting.answersBy(7)
  clock.nowMs = 8_000
  waiting.heard('b', 7)
  waiting.heard('c', 6)
  clock.nowMs = 8_400
  const found = until(7)
  clock.nowMs = 9_100
  waiting.look()
  t.equal(await found(), undefined, 'clocks differ by a tenth at most')
  clock.nowMs = 9_101
  waiting.look()
  t.same(await found(), EVERYWHERE)
})

t.test('a machine that is heard and lags is level by what came before the entry', async (t) => {
  const { clock, waiting, until } = desk()
  waiting.begin()
  waiting.answersBy(7)
  waiting.heard('b', 7)
  clock.nowMs = 8_000
  waiting.heard('c', 6)
  const found = until(7)
  clock.nowMs = 9_000
  waiting.heard('c', 6)
  clock.nowMs = 9_100
  waiting.look()
  t.equal(await found(), undefined)
  clock.nowMs = 9_101
  waiting.look()
  t.same(await found(), EVERYWHERE, 'by no later report it is level without the entry')
})

t.test('before a machine began to write, others may have become level by another', async (t) => {
  const { clock, waiting, until } = desk()
  waiting.answersBy(7)
  waiting.heard('b', 7)
  const before = until(7)
  clock.nowMs = 50_000
  waiting.look()
  t.equal(await before(), undefined, 'it does not write')
  waiting.begin()
  const found = until(7)
  clock.nowMs = 51_100
  waiting.look()
  t.equal(await found(), undefined)
  clock.nowMs = 51_101
  waiting.look()
  t.same(await found(), EVERYWHERE, 'also of one that was never heard')
  t.same(await until(6)(), EVERYWHERE, 'for which no later entry waits')
})

t.test('a machine that begins again to write waits anew', async (t) => {
  const { clock, waiting, until } = desk()
  waiting.begin()
  waiting.answersBy(7)
  waiting.heard('b', 7)
  const found = until(7)
  waiting.end()
  t.same(await found(), { isEverywhere: false, waitingFor: [] }, 'whoever writes now is asked')
  clock.nowMs = 20_000
  const between = until(7)
  waiting.look()
  t.equal(await between(), undefined, 'it does not write')
  waiting.begin()
  const again = until(7)
  t.equal(await again(), undefined)
  clock.nowMs = 21_101
  waiting.look()
  t.same(await again(), EVERYWHERE)
})

t.test('whoever waits is told in time for whom', async (t) => {
  const { clock, others, waiting, until } = desk()
  waiting.begin()
  waiting.answersBy(7)
  const short = until(7, 300)
  const long = until(7, 900)
  clock.nowMs += 299
  waiting.look()
  t.equal(await short(), undefined)
  clock.nowMs += 1
  waiting.look()
  t.same(await short(), { isEverywhere: false, waitingFor: ['b', 'c'] })
  t.equal(await long(), undefined)
  others.splice(0, 2)
  waiting.look()
  t.same(await long(), EVERYWHERE, 'whose disks count no more are not waited for')
})

t.test('whichever machine writes is asked, and asked again', async (t) => {
  const { waiting } = desk()
  const writers = [undefined, 'b', 'c', 'c', 'a']
  const asked: string[] = []
  const answers = [{ isElsewhere: true, isEverywhere: true, waitingFor: [] }, new Error('late')]
  waiting.begin()
  waiting.answersBy(7)
  waiting.heard('b', 7)
  waiting.heard('c', 7)
  const found = await untilEverywhere(
    {
      name: 'a',
      writer: () => writers.shift(),
      ask: async (name, question) => {
        asked.push(name)
        t.match(question, { kind: 'everywhere', sequence: 7 })
        const answer = answers.shift() ?? { isEverywhere: false, waitingFor: ['b'] }
        if (answer instanceof Error) throw answer
        return answer as never
      },
      desk: waiting,
    },
    7,
    WAIT_MS,
  )
  t.same(found, EVERYWHERE)
  t.same(asked, ['b', 'c', 'c'])
})

t.test('what the writer last said is told when time is over', async (t) => {
  const { waiting } = desk()
  const options = { name: 'a', desk: waiting, writer: () => 'b' }
  const waitingFor = ['c']
  const ask = async () => ({ isEverywhere: false, waitingFor }) as never
  const waitMs = 3 * limits.handAgainMs
  t.same(await untilEverywhere({ ...options, ask }, 7, waitMs), { isEverywhere: false, waitingFor })
  const nobody = { ...options, ask, writer: () => undefined }
  const found = await untilEverywhere(nobody, 7, limits.handAgainMs)
  t.same(found, { isEverywhere: false, waitingFor: ['the machine that writes'] })
})
