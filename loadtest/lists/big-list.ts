/**
 * The one big list that scenarios ask for, and its answer, held against brute force.
 *
 * @module
 */

import type { Rows } from '../../test/oracle/counties.js'
import { readAnswer, readCsvAnswer, sameRows } from '../harness/answer-rows.js'
import { ask } from '../harness/answers.js'
import { createOracle } from '../harness/oracle.js'
import { areaFeature, requestBody } from '../requests/requests.js'
import { type Digest, digestOf } from './digest.js'
import { rectangleHolding } from './rectangle.js'

export interface BigList {
  readonly body: string
  readonly recipientCount: number
  /** Of each form of the answer. */
  readonly json: Digest
  readonly csv: Digest
  /** Whether an answer holds the same recipients, in whatever order. */
  isSame(json: string): boolean
}

export const JSON_PATH = '/api/recipients'
export const CSV_PATH = '/api/recipients.csv'

const RECIPIENT_COUNT = 700_000
/** Of all recipients, where there are too few. */
const SHARE = 0.07

/** @throws when the service lists anybody else */
export async function askBigList(url: string, rows: Rows): Promise<BigList> {
  const target = Math.min(RECIPIENT_COUNT, Math.round(SHARE * rows.lngs.length))
  const features = [areaFeature(rectangleHolding(rows, target))]
  const selection = { features, countsOnly: false }
  const body = requestBody(selection)
  const json = await ask(url, body, JSON_PATH)
  // Brute force blocks this thread for so long that the server ends the connection meanwhile.
  const csv = await ask(url, body, CSV_PATH)
  const fault = createOracle(rows).faultOf(selection, json)
  if (fault !== undefined) throw new Error(`the big list is wrong: ${fault}`)
  const listed = readAnswer(json)
  if (!sameRows(listed, readCsvAnswer(csv))) throw new Error('the big list as CSV is another list')
  return {
    body,
    recipientCount: listed.count,
    json: digestOf(json),
    csv: digestOf(csv),
    isSame: (other) => sameRows(listed, readAnswer(other)),
  }
}
