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
} from '../pool/messages.js'

/**
 * @returns of each task, in their order, what was found in each of its shards
 * @throws ServiceError
 */
export function dispatch<Kind extends SelectionKind>(
  runner: QueryRunner,
  tasks: readonly SelectionTask<Kind>[],
  caller: Caller,
): Promise<readonly TaskResults[Kind][]> {
  const ask = (task: SelectionTask<Kind>) =>
    runner.run<Kind>(task as Extract<Task, { kind: Kind }>, caller)
  // Promise.all costs a small request more than all else here.
  return tasks.length === 1 ? ask(tasks[0]).then(alone) : Promise.all(tasks.map(ask))
}

function alone<Result>(result: Result): readonly Result[] {
  return [result]
}
