/**
 * The checks of `hickory doctor --self-test` that compare answers of a service with brute force.
 *
 * @module
 */
import {
  type AnsweredSource,
  countDifference,
  geoJsonOf,
  isInside,
  listDifference,
  type Polygon,
  type Shape,
} from './brute-force.js'
import { type Check, type Finding, failed, ok } from './check.js'
import { CIRCLE, drawnPolygon, type MadeUpSource, RECTANGLE } from './sample.js'

/** Sends a request for recipients, and resolves with `SourceRecords` of the answer. */
export type Ask = (request: object) => Promise<readonly AnsweredSource[]>

/** Each fails where an answer is not what brute force finds among the recipients. */
export function answerChecks(sources: readonly MadeUpSource[], ask: Ask): Check[] {
  const drawn = drawnPolygon(sources)
  const cornerCount = (polygon: Polygon) => [polygon.shell, ...polygon.holes].flat().length
  return [
    {
      name: 'count',
      look: () => compare(sources, RECTANGLE, 'a rectangle', [countsOf(ask)]),
    },
    {
      name: 'list',
      look: () => compare(sources, RECTANGLE, 'the same rectangle', [rowsOf(ask)]),
    },
    {
      name: 'polygon',
      look: () => {
        const what = `a polygon of ${cornerCount(drawn)} corners with a hole`
        return compare(sources, drawn, what, [countsOf(ask), rowsOf(ask)])
      },
    },
    {
      name: 'circle',
      look: () => {
        const what = `a circle of ${CIRCLE.radiusM / 1_000} km`
        return compare(sources, CIRCLE, what, [countsOf(ask), rowsOf(ask)])
      },
    },
  ]
}

/** What to do about it. */
export const WRONG =
  'do not use this installation: install it again, and if that changes nothing, report it with the output of ' +
  '`hickory doctor --self-test --json`'

/** How a question is asked, and how its answer is compared. */
interface Question {
  readonly what: string
  readonly ask: Ask
  readonly difference: typeof countDifference
}

function countsOf(ask: Ask): Question {
  const asked: Ask = (request) => ask({ ...request, countsOnly: true })
  return { what: 'the count of each source', ask: asked, difference: countDifference }
}

function rowsOf(ask: Ask): Question {
  return { what: 'number, lat and lng of each row', ask, difference: listDifference }
}

async function compare(
  sources: readonly MadeUpSource[],
  shape: Shape,
  what: string,
  questions: readonly Question[],
): Promise<Finding> {
  const expected = sources.map(({ id, recipients }) => ({
    id,
    recipients: recipients.filter((recipient) => isInside(shape, recipient)),
  }))
  const request = { geoJSON: geoJsonOf(shape) }
  const answers = await Promise.all(questions.map(({ ask }) => ask(request)))
  for (const [i, { difference }] of questions.entries()) {
    const found = difference(expected, answers[i])
    if (found !== undefined) return failed(`${what}: ${found}`, WRONG)
  }
  const counts = expected.map(({ recipients }) => recipients.length).join(' + ')
  const compared = questions.map((question) => question.what).join(', and ')
  return ok(`${counts} recipients in ${what}: ${compared} as by brute force`)
}
