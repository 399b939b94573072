/**
 * Batches that another machine writes: each goes to whoever writes by then, and none waits for a machine that stands still.
 */
import t from 'tap'
import { HandedBatches } from '../../src/cluster/handed-batches.js'
import type { AskNode } from '../../src/cluster/questions.js'
import { prepareBatch } from '../../src/journal/batch.js'
import type { Handed } from '../../src/live/cluster-messages.js'

const batch = prepareBatch({
  sourceId: 1,
  batchId: 'one',
  changes: [{ op: 'delete', identity: 'a' }],
})
const written: Handed = { outcome: { kind: 'written', sequence: 7 } }

t.test('a batch goes on to the next writer while the one before does not answer', async (t) => {
  const state = { writer: 'a' }
  const asked: string[] = []
  const ask = (async (name: string) => {
    asked.push(name)
    if (name === 'b') return written
    // It stands still, and never answers.
    setTimeout(() => {
      state.writer = 'b'
    }, 20)
    return await new Promise(() => {})
  }) as unknown as AskNode
  const batches = new HandedBatches({
    ask,
    name: 'c',
    writer: () => state.writer,
    append: async () => ({ isElsewhere: true }),
    committed: () => 7,
    isOver: () => false,
  })
  // Of a batch that `a` may have written all the same, the second attempt says so.
  t.match(await batches.hand(batch), { outcome: { kind: 'written', sequence: 7 } })
  t.same(asked, ['a', 'b'])
})

t.test('what another attempt has written is not told as repeated', async (t) => {
  const state = { count: 0 }
  const ask = (async () => {
    if (++state.count === 1) throw new Error('late')
    return { outcome: { kind: 'repeated', sequence: 7 } }
  }) as unknown as AskNode
  const options = {
    ...{ ask, name: 'c', writer: () => 'a' as const, isOver: () => false, committed: () => 7 },
    append: async () => ({ isElsewhere: true }),
  }
  t.match(await new HandedBatches(options).hand(batch), { outcome: { kind: 'written' } })
  t.match(await new HandedBatches(options).hand(batch), { outcome: { kind: 'repeated' } })
})
