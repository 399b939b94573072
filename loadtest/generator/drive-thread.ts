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
  if (warmUpSeconds > 0) await driveHere({ ...plan, seconds: warmUpSeconds })
  return driveHere(plan)
})
