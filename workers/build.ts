/**
 * Entry point of a thread that builds, writes and verifies the files of a snapshot for an import.
 *
 * @module
 */
import { reusedMemory, runBuildTask } from '../src/snapshot/publish/build-tasks.js'
import { serveTasks } from '../src/threads/tasks.js'

const takeMemory = reusedMemory()
serveTasks((task: Parameters<typeof runBuildTask>[0]) => runBuildTask(task, takeMemory))
