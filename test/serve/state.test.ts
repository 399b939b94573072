import t from 'tap'
import { limits } from '../../src/limits.js'
import { noteAttempt, startingState } from '../../src/serve/state.js'

t.test('the last attempts are kept, the newest first, and no more than are shown', async (t) => {
  const state = startingState()
  const idOf = (at: number) => `${String(at).padStart(6, '0')}-00000000`
  const most = limits.attemptsNotedCount
  for (let at = 1; at <= most; at++) noteAttempt(state, { snapshotId: idOf(at) })
  t.equal(state.attempts.length, most)
  t.match(state.attempts[0], { snapshotId: idOf(most) })
  noteAttempt(state, { snapshotId: idOf(most + 1), reason: 'it is bad' })
  t.equal(state.attempts.length, most)
  t.match(state.attempts[0], { snapshotId: idOf(most + 1), reason: 'it is bad' })
  t.match(state.attempts.at(-1), { snapshotId: idOf(2) })
})
