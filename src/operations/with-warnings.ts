/**
 * Documents that are answered to a request which may be a mistake.
 *
 * @module
 */
import type { Answer } from '../format/answer.js'
import { warningHeaders } from '../format/warning-headers.js'
import type { Remarks } from '../selection/remarks.js'

/** The same answer, with a header for what may be wrong. No cache keeps it for those who ask better. */
export function withWarnings(answer: Answer, { warnings }: Remarks): Answer {
  if (warnings === undefined) return answer
  const all = [...(answer.warnings ?? []), ...warnings]
  return {
    ...answer,
    headers: { ...warningHeaders(all), 'Cache-Control': 'no-store' },
    warnings: all,
  }
}
