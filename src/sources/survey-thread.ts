/**
 * Surveys a file on a thread of its own, while this one takes rows from DuckDB.
 *
 * @module
 */
import { Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import { type Survey, type SurveyTask, surveyFile } from './survey.js'

/** What the thread says: how far it is, and in the end one of the others. */
export type SurveyMessage =
  | { readonly readBytes: number }
  | { readonly survey: Survey }
  | { readonly fault: string }

/** Less is not worth a thread. */
export const THREAD_BYTES_MIN = 16 << 20
/** The compiled workers/survey.ts. */
const WORKER_URL = new URL('../../workers/survey.js', import.meta.url)

/** As `surveyFile`, of a file of so many bytes. */
export async function surveyAside(
  task: SurveyTask,
  byteCount: number,
  onRead: (byteCount: number) => void,
): Promise<Survey> {
  if (byteCount < THREAD_BYTES_MIN) return surveyFile(task, onRead)
  const worker = new Worker(WORKER_URL, { workerData: task })
  return await new Promise<Survey>((resolve, reject) => {
    let last: SurveyMessage = { fault: `${task.name} cannot be read: its survey ended early` }
    worker.on('message', (message: SurveyMessage) => {
      last = message
      if ('readBytes' in message) onRead(message.readBytes)
    })
    worker.once('error', reject)
    worker.once('exit', () => {
      if ('survey' in last) resolve(last.survey)
      else {
        const fault = 'fault' in last ? last.fault : `${task.name} cannot be read to its end`
        reject(new OperatorError('InputRejected', fault))
      }
    })
  })
}
