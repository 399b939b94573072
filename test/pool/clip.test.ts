import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { createMetricsMemory, frontPage } from '../../src/metrics/memory.js'
import { ClipPool } from '../../src/pool/clip.js'
import { inTime, within } from '../support/service/in-time.js'
import { byTier } from '../support/tier.js'
import type { Deed } from './fixtures/clip.js'

const MiB = 1024 * 1024

const metrics = createMetricsMemory(1, 1)
const defaults = {
  workerUrl: new URL('./fixtures/clip.js', import.meta.url).href,
  workerArgs: [],
  workerData: { metrics, frontIndex: 0 },
  environment: {},
  page: frontPage(metrics, 0),
  log: createLog('silent'),
}

function opened(t: Test, options: Partial<typeof defaults> = {}) {
  const pool = new ClipPool({ ...defaults, ...options })
  t.teardown(() => pool.close())
  return (deed: Deed, caller = inTime()) => pool.run(deed, caller)
}

/** Changes limits for the time of a test. */
function bound(
  t: Test,
  bounds: Partial<Record<'outlineMs' | 'outlineSharedMs' | 'clipHeapBytes', number>>,
): void {
  const { outlineMs, outlineSharedMs, clipHeapBytes } = limits
  Object.assign(limits, bounds)
  t.teardown(() => Object.assign(limits, { outlineMs, outlineSharedMs, clipHeapBytes }))
}

t.test('a task is run, one after the other', async (t) => {
  const run = opened(t)
  const outcomes = await Promise.all([run('echo'), run('throw'), run('echo')])
  t.same(outcomes, [{ value: 'echo' }, { failure: 'Failed' }, { value: 'echo' }])
})

t.test('what is to run instead of a failed task runs before the tasks behind it', async (t) => {
  const pool = new ClipPool(defaults)
  t.teardown(() => pool.close())
  const order: string[] = []
  const noted = async (name: string, run: ReturnType<typeof pool.run>) => {
    const outcome = await run
    order.push(name)
    return outcome
  }
  const outcomes = await Promise.all([
    noted(
      'first',
      pool.run('throw', inTime(), (failure) => {
        order.push(failure)
        return 'echo'
      }),
    ),
    noted('second', pool.run('throw', inTime())),
    noted(
      'third',
      pool.run('echo', inTime(), () => 'throw'),
    ),
  ])
  t.same(outcomes, [{ value: 'echo' }, { failure: 'Failed' }, { value: 'echo' }])
  t.same(order, ['Failed', 'first', 'second', 'third'])
})

t.test('a task may run for less while others wait', async (t) => {
  bound(t, { outlineMs: 60_000, outlineSharedMs: 50 })
  const run = opened(t)
  await run('echo')
  const outcomes = await Promise.all([run('loop'), run('loop'), run('echo')])
  t.same(outcomes, [{ failure: 'TookTooLong' }, { failure: 'TookTooLong' }, { value: 'echo' }])
})

t.test('time is left for what is to run instead', async (t) => {
  const pool = new ClipPool(defaults)
  t.teardown(() => pool.close())
  await pool.run('echo', inTime())
  const caller = within(limits.outlineDrawMs + 100)
  t.same(await pool.run('loop', caller, () => 'echo'), { value: 'echo' })
})

t.test('the thread has the environment it is given, and no other', async (t) => {
  const run = opened(t, { environment: { A_GUARD: '12' } })
  t.same(await run('environment'), { value: { A_GUARD: '12' } })
})

const failures = [
  { deed: 'loop', failure: 'TookTooLong' },
  { deed: 'fill', failure: 'OutOfMemory' },
  { deed: 'exit', failure: 'Failed' },
] as const
for (const { deed, failure } of failures) {
  t.test(`${deed}: the thread is ended, and the next task has another`, async (t) => {
    bound(t, { outlineMs: deed === 'loop' ? 100 : 8_000, clipHeapBytes: 16 * MiB })
    const run = opened(t)
    for (let round = 0; round < byTier({ ci: 1, soak: 2 }); round++) {
      t.same(await run(deed), { failure })
      t.same(await run('echo'), { value: 'echo' })
    }
  })
}

t.test('a task behind an endless one is run once that is ended', async (t) => {
  bound(t, { outlineMs: 100, outlineSharedMs: 100 })
  const run = opened(t)
  const outcomes = await Promise.all([run('loop'), run('echo'), run('loop'), run('echo')])
  const [tookTooLong, echo] = [{ failure: 'TookTooLong' }, { value: 'echo' }]
  t.same(outcomes, [tookTooLong, echo, tookTooLong, echo])
})

t.test('a task is ended at its deadline, too', async (t) => {
  const run = opened(t)
  await run('echo')
  const outcome = await run('loop', within(100)).catch(({ code }) => code)
  t.ok(['Unavailable'].includes(outcome) || outcome.failure === 'TookTooLong')
  t.same(await run('echo'), { value: 'echo' })
})

t.test('who waits behind others waits no longer than the deadline', async (t) => {
  bound(t, { outlineMs: 200, outlineSharedMs: 200 })
  const run = opened(t)
  await run('echo')
  const first = run('loop')
  await t.rejects(run('echo', within(50)), { code: 'Unavailable', status: 503 })
  t.same(await first, { failure: 'TookTooLong' })
  await t.rejects(run('echo', within(-1)), { code: 'Unavailable' })
})

t.test('as many wait as may, and one more is refused', async (t) => {
  const run = opened(t)
  const asked = Array.from({ length: limits.outlinesQueuedCount + 2 }, () =>
    run('echo').then(
      () => 'answered',
      ({ code }) => code,
    ),
  )
  const outcomes = await Promise.all(asked)
  t.equal(outcomes.at(-1), 'Overloaded')
  t.equal(outcomes.filter((outcome) => outcome === 'answered').length, outcomes.length - 1)
  t.same(await run('echo'), { value: 'echo' }, 'and then there is room again')
})

t.test('a thread that cannot start is an error, not a hang, each time', async (t) => {
  const workerUrl = new URL('./fixtures/broken.js', import.meta.url).href
  const run = opened(t, { workerUrl })
  for (let round = 0; round < byTier({ ci: 2, soak: 3 }); round++) {
    await t.rejects(run('echo'), { code: 'Unavailable', status: 503 })
  }
})

t.test('closing waits for the task that runs, and nothing is taken on any more', async (t) => {
  bound(t, { outlineMs: 100, outlineSharedMs: 100 })
  const pool = new ClipPool(defaults)
  const running = pool.run('loop', inTime())
  const waiting = pool.run('echo', inTime()).catch(({ code }) => code)
  await new Promise((resolve) => setTimeout(resolve, 1))
  const closed = pool.close()
  t.same(await running, { failure: 'TookTooLong' })
  t.equal(await waiting, 'Unavailable')
  await closed
  await t.rejects(pool.run('echo', inTime()), { code: 'Unavailable' })
})

t.test('a pool that was never asked is closed at once', async () => {
  await new ClipPool({ ...defaults, workerUrl: '' }).close()
})
