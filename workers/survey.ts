/**
 * Entry point of a thread that surveys a file of an import.
 *
 * @module
 */
import { runSurveyTask } from '../src/sources/text/survey-thread.js'
import { serveTasks } from '../src/threads/tasks.js'

serveTasks(runSurveyTask)
