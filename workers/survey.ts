/**
 * Entry point of a thread that surveys one file of an import, and ends.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { OperatorError } from '../src/errors.js'
import { type SurveyTask, surveyFile } from '../src/sources/survey.js'
import type { SurveyMessage } from '../src/sources/survey-thread.js'

const say = (message: SurveyMessage) => parentPort?.postMessage(message)
const REPORT_BYTES = 8 << 20
let reportedBytes = 0

try {
  const survey = await surveyFile(workerData as SurveyTask, (readBytes) => {
    if (readBytes - reportedBytes < REPORT_BYTES) return
    reportedBytes = readBytes
    say({ readBytes })
  })
  say({ survey })
} catch (error) {
  if (!(error instanceof OperatorError)) throw error
  say({ fault: error.message })
}
