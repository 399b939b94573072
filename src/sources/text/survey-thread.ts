/**
 * Surveys a file on a thread of its own, while this one takes rows from DuckDB.
 *
 * @module
 */
import { startTaskThreads } from '../../threads/tasks.js'
import { type Survey, type SurveyTask, surveyFile } from './survey.js'

/** Less is not worth a thread. */
const THREAD_BYTES_MIN = 16 << 20
/** The compiled workers/survey.ts. */
const WORKER_URL = new URL('../../../workers/survey.js', import.meta.url)

/** As `surveyFile`, of a file of so many bytes. */
export async function surveyAside(
  task: SurveyTask,
  byteCount: number,
  onRead: (byteCount: number) => void,
): Promise<Survey> {
  if (byteCount < THREAD_BYTES_MIN) return surveyFile(task, onRead)
  const thread = startTaskThreads<SurveyTask, Survey, number>(WORKER_URL, 1, onRead)
  try {
    return await thread.run(task)
  } finally {
    await thread.close()
  }
}

/** Does what the thread is given; tells now and then how far it is. */
export function runSurveyTask(
  task: SurveyTask,
  tell: (byteCount: number) => void,
): Promise<Survey> {
  let toldBytes = 0
  return surveyFile(task, (readBytes) => {
    if (readBytes - toldBytes < TELL_BYTES) return
    toldBytes = readBytes
    tell(readBytes)
  })
}

const TELL_BYTES = 8 << 20
