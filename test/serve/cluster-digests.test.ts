/**
 * What a machine answers whoever asks for its digests, again and again.
 *
 * @module
 */
import t from 'tap'
import { limits } from '../../src/limits.js'
import type { DigestJob } from '../../src/live/digest-jobs.js'
import type { SnapshotDigests } from '../../src/live/digest-messages.js'
import { ClusterDigests } from '../../src/serve/cluster-digests.js'
import type { ComparedStore } from '../../src/store/entries.js'

const part = { count: 0, digest: '0' }
const store: ComparedStore = {
  suppressions: part,
  keys: part,
  configuration: part,
  contexts: part,
}
const found: SnapshotDigests = { regions: [], changedPart: undefined }

function machine(snapshotId = 's1') {
  const jobs: ReturnType<typeof withResolvers>[] = []
  let storedSequence = 0
  const live = {
    digests(asked: string): DigestJob | undefined {
      if (asked !== snapshotId) return undefined
      const job = withResolvers()
      jobs.push(job)
      return { doneCount: 1, totalCount: 3, result: job.promise }
    },
  }
  const digests = new ClusterDigests({ live, storedSequence: () => storedSequence })
  return {
    jobs,
    digests,
    store(sequence: number) {
      storedSequence = sequence
      digests.noteStore(sequence, store)
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
  t.same(own.digests.answer(question), { kind: 'done', digests: { store, ...found } })
  t.equal(own.jobs.length, 1)
  for (let more = 1; more <= limits.comparisonsKeptCount; more++) own.store(7 + more)
  for (let more = 1; more <= limits.comparisonsKeptCount; more++) {
    own.digests.answer({ sequence: 7 + more, snapshotId: 's1' })
  }
  t.equal(own.digests.answer(question).kind, 'failed', 'it is forgotten')
})

t.test('a machine says what it waits for, and why it cannot tell', async (t) => {
  const own = machine()
  const ask = (sequence: number, snapshotId = 's1') => own.digests.answer({ sequence, snapshotId })
  t.same(ask(3), { kind: 'waiting', reason: 'it lacks changes' })
  own.store(5)
  t.match(ask(3), { kind: 'failed', reason: /it has started since/ })
  t.same(ask(5, 's2'), { kind: 'waiting', reason: 'it serves another snapshot' })
  t.equal(ask(5).kind, 'working')
  own.jobs[0].reject(new Error('the thread has ended'))
  await own.jobs[0].promise.catch(() => {})
  t.same(ask(5), { kind: 'failed', reason: 'the thread has ended' })
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
