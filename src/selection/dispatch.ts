/**
 * Fourth stage: gives tasks to the query workers, and waits for what they find.
 *
 * @module
 */
import type {
  Caller,
  QueryRunner,
  SelectionKind,
  SelectionTask,
  Task,
  TaskResults,
} from '../pool/tasks.js'

/**
 * @param merge  gets of each task, in their order, what was found in each of its shards
 * @returns what `merge` makes of it
 * @throws ServiceError
 */
export function dispatch<Kind extends SelectionKind, Merged>(
  runner: QueryRunner,
  tasks: readonly SelectionTask<Kind>[],
  caller: Caller,
  merge: (found: readonly TaskResults[Kind][]) => Merged,
): Promise<Merged> {
  const ask = (task: SelectionTask<Kind>) =>
    runner.run<Kind>(task as Extract<Task, { kind: Kind }>, caller)
  // Promise.all costs a small request more than all else here.
  if (tasks.length === 1) return ask(tasks[0]).then((found) => merge([found]))
  return Promise.all(tasks.map(ask)).then(merge)
}
