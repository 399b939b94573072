/**
 * What a machine answers whoever asks for its digests, again and again.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { limits } from '../../src/limits.js'
import type { DigestJob } from '../../src/live/digest-jobs.js'
import type { SnapshotDigests } from '../../src/live/make-digests.js'
import { ClusterDigests } from '../../src/serve/cluster-digests.js'
import type { ComparedStore } from '../../src/store/entries.js'
import { until } from '../support/service/until.js'

const part = { count: 0, digest: '0' }
const store: ComparedStore = {
  suppressions: part,
  keys: part,
  configuration: part,
  contexts: part,
}
const found: SnapshotDigests = { regions: [], changedPart: undefined }

function machine(snapshotId = 's1') {
  const ended: number[] = []
  const jobs: ReturnType<typeof withResolvers>[] = []
  let storedSequence = 0
  const live = {
    digests(asked: string): DigestJob | undefined {
      if (asked !== snapshotId) return undefined
      const job = withResolvers()
      const at = jobs.push(job) - 1
      const end = () => {
        ended.push(at)
        job.reject(new Error('the thread has ended'))
      }
      return { doneCount: 1, totalCount: 3, result: job.promise, end }
    },
  }
  const digests = new ClusterDigests({ live, storedSequence: () => storedSequence })
  return {
    jobs,
    ended,
    digests,
    store(sequence: number) {
      storedSequence = sequence
      digests.noteStore(sequence, store, 'ab')
    },
  }
}

t.test('digests are made once, and told for as long as they are kept', async (t) => {
  const own = machine()
  own.store(7)
  const question = { sequence: 7, snapshotId: 's1' }
  t.same(own.digests.answer(question), { kind: 'working', doneCount: 1, totalCount: 3 })
  t.same(own.digests.answer(question).kind, 'working')
  own.jobs[0].resolve(found)
  await own.jobs[0].promise
  t.same(own.digests.answer(question), { kind: 'done', digests: { store, salt: 'ab', ...found } })
  t.equal(own.jobs.length, 1)
  for (let more = 1; more <= limits.comparisonsKeptCount; more++) own.store(7 + more)
  for (let more = 1; more <= limits.comparisonsKeptCount; more++) {
    own.digests.answer({ sequence: 7 + more, snapshotId: 's1' })
    own.jobs[more].resolve(found)
    await own.jobs[more].promise
  }
  t.equal(own.digests.answer(question).kind, 'failed', 'it is forgotten')
  t.same(own.ended, [], 'what is done is not ended')
})

t.test('a machine says what it waits for, and why it cannot tell', async (t) => {
  const own = machine()
  const ask = (sequence: number, snapshotId = 's1') => own.digests.answer({ sequence, snapshotId })
  t.same(ask(3), { kind: 'waiting', reason: 'it lacks changes', storedSequence: 0 })
  own.store(5)
  t.match(ask(3), { kind: 'failed', reason: /it has started since/ })
  t.same(ask(5, 's2'), { kind: 'waiting', reason: 'it serves another snapshot' })
  t.equal(ask(5).kind, 'working')
  own.jobs[0].reject(new Error('the thread has ended'))
  await own.jobs[0].promise.catch(() => {})
  t.same(ask(5), { kind: 'failed', reason: 'the thread has ended' })
})

/** Digests that take longer than the test. */
function busy(count: number) {
  const own = machine()
  const ask = (sequence: number) => own.digests.answer({ sequence, snapshotId: 's1' })
  for (let sequence = 1; sequence <= count; sequence++) {
    own.store(sequence)
    t.equal(ask(sequence).kind, 'working')
  }
  return { ...own, ask }
}

t.test('digests are made of few places at a time', async (t) => {
  const own = busy(limits.comparisonJobCount)
  const next = limits.comparisonJobCount + 1
  own.store(next)
  const late = { kind: 'waiting', reason: 'it is being compared at other places' }
  t.same(own.ask(next), late)
  t.equal(own.jobs.length, limits.comparisonJobCount)
  t.equal(own.ask(1).kind, 'working', 'whoever asks once more is told')
  own.jobs[0].resolve(found)
  await own.jobs[0].promise
  t.equal(own.ask(next).kind, 'working')
  t.same(own.ended, [])
})

t.test('what is dropped for others is ended', async (t) => {
  const own = busy(1)
  for (let more = 1; more <= limits.comparisonsKeptCount; more++) {
    t.same(own.ended, [], `with ${more} places`)
    own.store(1 + more)
    own.ask(1 + more)
    own.jobs[more].resolve(found)
    await own.jobs[more].promise
  }
  t.same(own.ended, [0])
})

t.test('what nobody asks for any more is ended', async (t) => {
  const { comparisonWaitMs } = limits
  Object.assign(limits, { comparisonWaitMs: 300 })
  t.teardown(() => Object.assign(limits, { comparisonWaitMs }))
  const own = busy(2)
  own.jobs[1].resolve(found)
  const askedMs = performance.now()
  let lastMs = askedMs
  while (lastMs < askedMs + 600) {
    t.equal(own.ask(1).kind, 'working')
    lastMs = performance.now()
    await sleep(20)
  }
  t.same(own.ended, [], 'for as long as somebody asks')
  await until(() => own.ended.length > 0)
  t.ok(performance.now() - lastMs > 290)
  t.same(own.ended, [0])
  t.equal(own.ask(2).kind, 'done', 'what is done stays')
  t.equal(own.ask(1).kind, 'working', 'it is made once more')
  t.equal(own.jobs.length, 3)
})

function withResolvers() {
  let resolve: (digests: SnapshotDigests) => void = () => {}
  let reject: (fault: Error) => void = () => {}
  const promise = new Promise<SnapshotDigests>((resolved, rejected) => {
    resolve = resolved
    reject = rejected
  })
  return { promise, resolve, reject }
}
