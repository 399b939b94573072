/**
 * What remains of that when some clients want the recipients themselves?
 *
 * @module
 */
import type { KnownRequest } from '../answers.js'
import { compareWithEcho } from './against-echo.js'
import type { Scenario } from './scenario.js'

export const countsAndLists: Scenario = {
  name: 'counts-and-lists',
  summary: 'counts of drawn polygons, and some lists',
  run: (stage) => {
    const requests = interleave(stage.counts, stage.lists)
    const rowCount = stage.lists.reduce((sum, { answer }) => sum + rowsIn(answer), 0)
    const title =
      `${stage.counts.length} counts to ${stage.lists.length} lists ` +
      `of ${Math.round(rowCount / stage.lists.length)} recipients on average`
    return compareWithEcho(title, stage, requests)
  },
}

/** Spreads the few evenly among the many. */
function interleave(
  many: readonly KnownRequest[],
  few: readonly KnownRequest[],
): readonly KnownRequest[] {
  const apart = Math.ceil(many.length / few.length)
  return many.flatMap((request, at) => (at % apart === 0 ? [few[at / apart], request] : [request]))
}

function rowsIn(answer: string): number {
  return answer.split('"Number":').length - 1
}
