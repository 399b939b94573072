/**
 * Counts the requests of one front thread that are over. This runs once for each request, and neither
 * waits nor sends anything.
 *
 * @module
 */
import { errorTables, type ServiceErrorCode } from '../errors.js'
import { operationNames } from '../interface/operation-names.js'
import type { OperationName } from '../interface/operations.js'
import { histogramOf, observe, type MetricSlots as Page, slotOf } from '../metrics/memory.js'
import {
  type CutReason,
  cutReasons,
  NO_STATUS,
  OTHER,
  stages,
  statusLabels,
} from '../metrics/table.js'
import { countedReason } from './cut-reasons.js'
import type { RequestEnd } from './request-end.js'

export class RequestCounts {
  readonly #page: Page

  /** @param page  of the thread */
  constructor(page: Page) {
    this.#page = page
  }

  note(end: RequestEnd): void {
    const page = this.#page
    const { status, faultCode, cutReason, stageMs, isWatch } = end
    const { statusSlots, answerSlot } = slotsByOperation.get(end.operation) ?? otherSlots
    page[statusSlots[status ?? 0] ?? statusSlots[OTHER_STATUS]]++
    if (faultCode !== undefined) page[refusalSlots[faultCode]]++
    if (cutReason !== undefined) page[cutSlots[countedReason(cutReason, isWatch)]]++
    else if (end.outcome === 'left' && !isWatch) page[LEFT]++
    page[BYTES_IN] += end.bytesIn
    page[BYTES_OUT] += end.bytesOut
    page[ROWS] += end.rowCount
    const { receive, parse, wait, select, write } = stageMs
    const answer = parse + wait + select
    observe(page, answerSlot, ANSWER_SECONDS, answer / 1_000)
    observe(page, stageSlots.receive, STAGE_SECONDS, receive / 1_000)
    observe(page, stageSlots.parse, STAGE_SECONDS, parse / 1_000)
    observe(page, stageSlots.wait, STAGE_SECONDS, wait / 1_000)
    observe(page, stageSlots.select, STAGE_SECONDS, select / 1_000)
    // How long a client watches says nothing about the service.
    if (isWatch) return
    observe(page, stageSlots.write, STAGE_SECONDS, write / 1_000)
    observe(page, stageSlots.total, STAGE_SECONDS, (receive + answer + write) / 1_000)
  }
}

/** Places in a list by status. */
const NO_ANSWER = 0
const OTHER_STATUS = 1

interface OperationSlots {
  /** By status; those that are no status of ours are holes. */
  readonly statusSlots: readonly number[]
  readonly answerSlot: number
}

function slotsOf(operation: string): OperationSlots {
  const slotOfStatus = (label: string) => slotOf('hickory_requests_total', operation, label)
  const statusSlots: number[] = []
  for (const label of statusLabels) statusSlots[Number(label)] = slotOfStatus(label)
  statusSlots[NO_ANSWER] = slotOfStatus(NO_STATUS)
  statusSlots[OTHER_STATUS] = slotOfStatus(OTHER)
  return { statusSlots, answerSlot: slotOf('hickory_answer_seconds', operation) }
}

const otherSlots = slotsOf(OTHER)
const slotsByOperation: ReadonlyMap<OperationName | undefined, OperationSlots> = new Map(
  operationNames.map((name) => [name, slotsOf(name)]),
)

function slotsByLabel<Label extends string>(
  labels: readonly Label[],
  slot: (label: Label) => number,
): Readonly<Record<Label, number>> {
  return Object.fromEntries(labels.map((label) => [label, slot(label)])) as Record<Label, number>
}

const codes = Object.keys(errorTables.serviceErrors) as ServiceErrorCode[]
const refusalSlots = slotsByLabel(codes, (code) => slotOf('hickory_refusals_total', code))
const cutSlots = slotsByLabel<CutReason>(cutReasons, (reason) =>
  slotOf('hickory_answers_cut_total', reason),
)
const stageSlots = slotsByLabel(stages, (stage) => slotOf('hickory_request_stage_seconds', stage))
const LEFT = slotOf('hickory_clients_left_total')
const BYTES_IN = slotOf('hickory_request_body_bytes_total')
const BYTES_OUT = slotOf('hickory_answer_body_bytes_total')
const ROWS = slotOf('hickory_recipient_rows_total')
const ANSWER_SECONDS = histogramOf('hickory_answer_seconds')
const STAGE_SECONDS = histogramOf('hickory_request_stage_seconds')
