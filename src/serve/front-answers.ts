/**
 * What a front thread tells the main thread about itself and its query workers.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startProfile } from '../metrics/cpu-profile.js'
import { heapFigures } from '../metrics/heap-figures.js'
import type { QueryPool } from '../pool/query-pool.js'
import type { FrontReport, ThreadQuestion } from './messages.js'

/** Never rejects. */
export async function answerAbout(
  number: number,
  question: ThreadQuestion,
  pool: Pick<QueryPool, 'profileWorker'>,
): Promise<Extract<FrontReport, { kind: 'told' }>> {
  try {
    return { kind: 'told', number, answer: await answerOf(question, pool) }
  } catch (fault) {
    return { kind: 'told', number, reason: (fault as Error).message }
  }
}

async function answerOf(
  question: ThreadQuestion,
  pool: Pick<QueryPool, 'profileWorker'>,
): Promise<string> {
  if (question.kind === 'heap') return JSON.stringify(heapFigures())
  const { ms, worker } = question
  if (worker !== undefined) return pool.profileWorker(worker, ms)
  const profile = startProfile()
  await sleep(ms, undefined, { ref: false })
  return profile.stop()
}
