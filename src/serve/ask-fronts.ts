/**
 * Questions of the main thread to its front threads about themselves.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { Questions } from '../questions.js'
import type { FrontOrder, FrontReport, ThreadQuestion } from './messages.js'

/** The part of a Worker that is needed. */
interface FrontPort {
  postMessage(order: FrontOrder): void
  on(event: 'message', listener: (report: FrontReport) => void): unknown
}

/** @throws OperatorError  when a front does not answer in time, or cannot */
export type AskFront = (
  frontIndex: number,
  question: ThreadQuestion,
  waitMs: number,
) => Promise<string>

export function askFronts(fronts: readonly FrontPort[]): AskFront {
  const asked = fronts.map((front) => {
    const questions = new Questions<{ readonly answer?: string; readonly reason?: string }>()
    front.on('message', (report) => {
      if (report.kind === 'told') questions.settle(report.number, report)
    })
    return questions
  })
  return async (frontIndex, question, waitMs) => {
    const send = (number: number) =>
      fronts[frontIndex].postMessage({ kind: 'ask', number, question })
    const fault = () => new OperatorError('Failed', 'the thread does not answer')
    const { answer, reason } = await asked[frontIndex].ask(send, { waitMs, fault })
    if (answer === undefined) throw new OperatorError('Failed', reason ?? 'the thread ends')
    return answer
  }
}
