/**
 * The requests of overload: large shapes, with what the service answers before the load begins.
 *
 * @module
 */
import { askAll, type KnownRequest, verifyAnswers } from '../harness/answers.js'
import { createOracle } from '../harness/oracle.js'
import type { ServerProcess } from '../harness/processes.js'
import { heavySelections } from '../requests/heavy.js'
import type { Stage } from './scenario.js'

/** @throws when the answer to one of the first differs from brute force */
export async function askHeavy(
  { rows, options, signal }: Stage,
  service: ServerProcess,
): Promise<KnownRequest[]> {
  const selections = heavySelections(rows, REQUEST_COUNT, options.seed)
  const requests = await askAll(service.url, selections, signal)
  verifyAnswers(createOracle(rows), selections.slice(0, VERIFIED_COUNT), requests)
  return requests
}

const REQUEST_COUNT = 256
/** The search of one by brute force takes a second among ten million recipients. */
const VERIFIED_COUNT = 8
