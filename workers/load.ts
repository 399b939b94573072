/**
 * Entry point of a thread that loads files of a snapshot.
 *
 * @module
 */
import { runLoadTask } from '../src/snapshot/load/load-threads.js'
import { serveTasks } from '../src/threads/tasks.js'

serveTasks(runLoadTask)
