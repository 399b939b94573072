/**
 * Entry point of a thread that finds recipients with the same contact for an import.
 *
 * @module
 */
import { runContactTask } from '../src/sources/columns/contacts.js'
import { serveTasks } from '../src/threads/tasks.js'

serveTasks(runContactTask)
