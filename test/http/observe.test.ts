import t from 'tap'
import { NO_ANSWER_IN_TIME } from '../../src/deadline.js'
import { errorTables, type ServiceErrorCode } from '../../src/errors.js'
import {
  HANDLER_FAILED,
  NOT_COMPRESSED,
  type RequestEnd,
  RequestObserver,
  TOO_SLOW,
  traceParentOf,
  WRONG_LENGTH,
} from '../../src/http/observe.js'
import { operationNames } from '../../src/interface/operation-names.js'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { histogramOf, type MetricSlots, privatePage, slotOf } from '../../src/metrics/memory.js'

const COUNT: RequestEnd = {
  requestId: 'a',
  operation: 'RecipientRequest',
  isBatch: false,
  isWatch: false,
  status: 200,
  faultCode: undefined,
  outcome: 'answered',
  cutReason: undefined,
  bytesIn: 500,
  bytesOut: 70,
  rowCount: 0,
  stageMs: { receive: 1, parse: 2, wait: 4, select: 8, write: 16 },
} as RequestEnd

function noted(...ends: Partial<RequestEnd>[]): MetricSlots {
  const page = privatePage()
  const observer = new RequestObserver(createLog('silent'), page)
  for (const end of ends) observer.over({ ...COUNT, ...end })
  return page
}

t.test('every operation with every status has a place of its own', async (t) => {
  const statuses = [undefined, 101, 200, 204, 302, 304, ...Object.values(errorTables.serviceErrors)]
  for (const operation of [undefined, ...operationNames]) {
    for (const status of new Set(statuses)) {
      const page = noted({ operation, status })
      const labels = [operation ?? 'other', String(status ?? 'none')]
      t.equal(page[slotOf('hickory_requests_total', ...labels)], 1, labels.join(' '))
    }
  }
  const page = noted({ status: 299 }, { status: 1 }, { status: 1_000 })
  t.equal(page[slotOf('hickory_requests_total', 'RecipientRequest', 'other')], 3)
})

t.test('refusals are counted by code', async (t) => {
  for (const code of Object.keys(errorTables.serviceErrors) as ServiceErrorCode[]) {
    t.equal(noted({ faultCode: code })[slotOf('hickory_refusals_total', code)], 1, code)
  }
})

t.test('what was cut off is told by reason, and is not one of those who left', async (t) => {
  const LEFT = slotOf('hickory_clients_left_total')
  for (const [cutReason, reason] of [
    [TOO_SLOW, 'slow_reader'],
    [NO_ANSWER_IN_TIME, 'late'],
    [HANDLER_FAILED, 'failure'],
    [NOT_COMPRESSED, 'failure'],
    [WRONG_LENGTH, 'failure'],
    ['this snapshot is not served any more; ask again', 'unavailable'],
  ]) {
    const page = noted({ cutReason, outcome: 'cut' })
    t.equal(page[slotOf('hickory_answers_cut_total', reason)], 1, cutReason)
    t.equal(page[LEFT], 0)
  }
  t.equal(noted({ outcome: 'left' })[LEFT], 1)
  const slow = noted({ cutReason: TOO_SLOW, outcome: 'cut', isWatch: true })
  t.equal(slow[slotOf('hickory_answers_cut_total', 'slow_watcher')], 1)
  t.equal(noted({ outcome: 'left', isWatch: true })[LEFT], 0, 'who watches may leave')
  t.equal(noted({})[LEFT], 0)
})

t.test('bytes and rows are added up', async (t) => {
  const page = noted({ rowCount: 3 }, { rowCount: 4, bytesIn: 1, bytesOut: 2 })
  t.equal(page[slotOf('hickory_recipient_rows_total')], 7)
  t.equal(page[slotOf('hickory_request_body_bytes_total')], 501)
  t.equal(page[slotOf('hickory_answer_body_bytes_total')], 72)
})

t.test('stages are seconds, and the whole is their sum', async (t) => {
  const page = noted({})
  const sumOf = (first: number, { buckets, stride }: ReturnType<typeof histogramOf>) =>
    page[first + (buckets.length + 1) * stride]
  const stages = histogramOf('hickory_request_stage_seconds')
  for (const [stage, seconds] of [
    ['receive', 0.001],
    ['parse', 0.002],
    ['wait', 0.004],
    ['select', 0.008],
    ['write', 0.016],
    ['total', 0.031],
  ] as const) {
    const sum = sumOf(slotOf('hickory_request_stage_seconds', stage), stages)
    t.ok(Math.abs(sum - seconds) < 1e-9, stage)
  }
  const answer = slotOf('hickory_answer_seconds', 'RecipientRequest')
  t.ok(Math.abs(sumOf(answer, histogramOf('hickory_answer_seconds')) - 0.014) < 1e-9)
})

t.test('answers that are cut off do not flood the log', async (t) => {
  const lines: { unloggedCount?: number }[] = []
  const log = createLog('silent')
  log.warn = (fields: unknown) => void lines.push(fields as object)
  const observer = new RequestObserver(log, privatePage())
  let nowMs = 0
  t.intercept(performance, 'now', { value: () => nowMs })
  const cutAt = (ms: number, more: Partial<RequestEnd> = {}) => {
    nowMs = ms
    observer.over({ ...COUNT, outcome: 'cut', cutReason: 'for the test', ...more })
  }
  const most = limits.cutsLoggedPerSecondCount
  for (let i = 0; i < most; i++) cutAt(5_000 + i)
  t.equal(lines.length, most)
  cutAt(5_999)
  cutAt(5_999)
  t.equal(lines.length, most)
  cutAt(6_000)
  t.same(
    lines.map(({ unloggedCount }) => unloggedCount),
    [...Array(most).fill(undefined), 2],
  )
  cutAt(7_000, { outcome: 'answered', cutReason: undefined })
  cutAt(7_000, { status: undefined })
  t.equal(lines.length, most + 1, 'only answers that were begun, and cut')
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const valid = { traceId: TRACE, parentId: PARENT }

t.test('a valid traceparent is taken, and one of a later version with more fields', async (t) => {
  t.same(traceParentOf(`00-${TRACE}-${PARENT}-01`), valid)
  t.same(traceParentOf(`00-${TRACE}-${PARENT}-00`), valid)
  t.same(traceParentOf(`cc-${TRACE}-${PARENT}-01`), valid)
  t.same(traceParentOf(`cc-${TRACE}-${PARENT}-01-what-comes-then`), valid)
})

t.test('another traceparent is ignored', async (t) => {
  const others = [
    '',
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}-01.`,
    `cc-${TRACE}-${PARENT}-01.more`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}0-01`,
    `00-${TRACE}-${PARENT}`,
    ` 00-${TRACE}-${PARENT}-01`,
    // As several headers of this name are joined.
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    '+9995550101',
  ]
  for (const sent of others) t.equal(traceParentOf(sent), undefined, sent)
})
