/**
 * Executes the requests of a batch in their order. The first failure ends the batch.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { ServiceError } from '../errors.js'
import { type Answer, type Body, type BodyWriter, writeBody } from '../format/answer.js'
import { formats } from '../format/formats.js'
import { ndjsonLine } from '../format/ndjson.js'
import { type SentWarning, warningHeaders } from '../format/warning-headers.js'
import { limits } from '../limits.js'
import type { Execute } from '../operations/execute.js'
import type { Asker } from '../selection/access.js'
import type { JsonObject } from '../selection/parse.js'

/** Ends a batch at the first request that fails. */
export class BatchStopped extends Error {
  readonly fault: ServiceError
  /** The number of requests that were carried out before it, and so its place in the batch. */
  readonly completedCount: number

  constructor(fault: ServiceError, completedCount: number) {
    super(fault.message)
    this.fault = fault
    this.completedCount = completedCount
  }
}

/** @throws BatchStopped */
export async function executeAll(
  execute: Execute,
  requests: readonly JsonObject[],
  caller: Asker,
): Promise<Answer> {
  const answers: (Answer | undefined)[] = []
  let heldBytes = 0
  for (const request of requests) {
    try {
      if (performance.now() > caller.deadlineMs) throw new ServiceError('Unavailable', LATE)
      const answer = await execute(request, caller)
      // Many requests need this thread alone; other clients get their answers in between.
      await setImmediate()
      if (answer?.isPage) throw new ServiceError('InvalidRequest', PAGED, 'limit')
      heldBytes += answer?.heldBytes ?? 0
      if (heldBytes > limits.batchHeldBytes) {
        throw new ServiceError('TooComplex', 'the answers of this batch are too large together')
      }
      answers.push(answer)
    } catch (fault) {
      if (fault instanceof ServiceError) throw new BatchStopped(fault, answers.length)
      throw fault
    }
  }
  return batchAnswer(answers, heldBytes)
}

const LATE = 'this batch takes longer than one request may; send it in parts'

const PAGED = 'a list in a batch has no pages: leave out limit and after'

/** How many requests of a batch were carried out, as clients of ServiceStack read it. */
export const COMPLETED_HEADER = 'X-AutoBatch-Completed'

function batchAnswer(answers: readonly (Answer | undefined)[], heldBytes: number): Answer {
  const headers: Record<string, string> = {}
  if (answers.length > 0) headers[COMPLETED_HEADER] = String(answers.length)
  for (const name of ['X-Snapshot', 'X-Sequence']) {
    const values = new Set(answers.flatMap((answer) => answer?.headers[name] ?? []))
    if (values.size > 0) headers[name] = [...values].join(', ')
  }
  Object.assign(headers, warningHeaders(warningsOf(answers)))
  return {
    headers: { ...headers, 'Cache-Control': 'no-store' },
    heldBytes,
    isBatch: true,
    isList: answers.some((answer) => answer?.isList === true),
    records: () => answers.flatMap((answer) => answer?.records?.() ?? []),
    json: () => jsonList(answers, (answer) => answer.json()),
    ndjson: () => jsonLines(answers),
    geoJson: () => jsonList(answers, (answer) => formats.geojson.body(answer, 'flat')),
    csv: () => table(answers),
    csvRecord() {
      throw new Error('a batch is no part of a batch')
    },
  }
}

/** Those of all answers, with their place in the batch. */
function warningsOf(answers: readonly (Answer | undefined)[]): SentWarning[] {
  return answers.flatMap((answer, index) =>
    (answer?.warnings ?? []).map(({ Path, ...warning }) => ({
      ...warning,
      Path: Path === undefined ? `[${index}]` : `[${index}].${Path}`,
    })),
  )
}

/** Nothing tells how long a batch is: to find out, each of its answers would have to be made twice. */
function jsonList(
  answers: readonly (Answer | undefined)[],
  bodyOf: (answer: Answer) => Body,
): BodyWriter {
  return {
    async write(sink) {
      for (const [index, answer] of answers.entries()) {
        await setImmediate()
        if (sink.gone) return
        await writeBody(index === 0 ? '[' : ',', sink)
        await writeBody(answer === undefined ? 'null' : bodyOf(answer), sink)
      }
      await writeBody(answers.length === 0 ? '[]' : ']', sink)
    },
  }
}

/** The answers as NDJSON. */
function jsonLines(answers: readonly (Answer | undefined)[]): BodyWriter {
  return {
    async write(sink) {
      for (const answer of answers) {
        await setImmediate()
        if (sink.gone) return
        await writeBody(ndjsonLine(answer?.json() ?? 'null'), sink)
      }
    },
  }
}

function table(answers: readonly (Answer | undefined)[]): BodyWriter {
  return {
    async write(sink) {
      let isFirst = true
      for (const answer of answers) {
        if (answer === undefined) continue
        await setImmediate()
        if (sink.gone) return
        const { header, row } = answer.csvRecord()
        if (isFirst) await writeBody(header, sink)
        isFirst = false
        await writeBody(row, sink)
      }
    },
  }
}
