/**
 * The thread that drives a server.
 *
 * @module
 */
import type { DriveFigures, DrivePlan } from '../harness/drive.js'
import { driveHere } from './drive-here.js'
import { answerTask } from './thread.js'

await answerTask<DrivePlan, DriveFigures>(async (plan) => {
  const { warmUpSeconds = 0 } = plan
  const { pid: _, ...unread } = plan
  if (warmUpSeconds > 0) await driveHere({ ...unread, seconds: warmUpSeconds })
  return driveHere(plan)
})
