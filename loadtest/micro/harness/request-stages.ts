/**
 * The stages of a count outside of the search, each as a pass over the same requests: in the service, the
 * front thread runs all but one of them, and a query worker that one.
 *
 * @module
 */

import type { HttpRequest } from '../../../src/http/request.js'
import { respond } from '../../../src/http/response/respond.js'
import { DEFAULT_OPTIONS } from '../../../src/http/response/response-options.js'
import { limits } from '../../../src/limits.js'
import { createChannelBuffer, layOutChannel } from '../../../src/pool/channel.js'
import {
  FindingsReader,
  findingsLength,
  flatten,
  QueryWriter,
  unflatten,
  writeFindings,
} from '../../../src/pool/codec.js'
import type { QueryRunner, SelectionTask } from '../../../src/pool/tasks.js'
import { askerUntil } from '../../../src/selection/access.js'
import type { Catalogue } from '../../../src/selection/catalogue.js'
import { mergeCounts } from '../../../src/selection/merge.js'
import { cutToPage } from '../../../src/selection/page.js'
import { planTasks } from '../../../src/selection/plan.js'
import type { Reply } from '../../../src/selection/reply.js'
import { parseRequest } from '../../../src/selection/skeleton/sent-drawing.js'
import { recipientAnswer } from '../../../src/selection/stream.js'
import { type Query, validate } from '../../../src/selection/validate.js'

type Tasks = readonly SelectionTask<'count'>[]

/**
 * @param bodies  of requests for counts
 * @returns by its name, a pass over all of them; the last pass runs all stages of each request
 */
export function requestStages(
  bodies: readonly Buffer[],
  catalogue: Catalogue,
  threadCount: number,
): Record<string, () => number> {
  const [slot] = layOutChannel(createChannelBuffer()).slots
  const writer = new QueryWriter(slot.words, slot.floats)
  const requests = bodies.map((body) => {
    const query = validate(parseRequest(body))
    const tasks = plan(query)
    return { body, query, tasks, flat: tasks.map((task) => flatten(task, NEVER_MS)) }
  })
  /** Of each request, as the worker leaves them. */
  const found = requests.map(({ tasks }) => {
    const findings = tasks.map(({ shardIndexes }) => ({ counts: shardIndexes.map(() => 1) }))
    const flat = new Uint32Array(findingsLength(findings))
    writeFindings(findings, flat)
    return flat
  })
  const counted = requests.map(({ tasks }, at) => takeBack(tasks, found[at]))

  function plan(query: Query): Tasks {
    return planTasks(
      'count',
      query,
      { countMode: 'ContactLocation', mask: null, moment: 0 },
      catalogue,
      threadCount,
    )
  }

  /** Small tasks go into the slot, in batches; a large one goes into arrays of its own. */
  function write(tasks: Tasks): number {
    let wordCount = 0
    for (const task of tasks) {
      if (task.isLarge) {
        wordCount += flatten(task, NEVER_MS).words.length
        continue
      }
      if (writer.queryCount === limits.queriesPerTaskCount) writer.clear()
      const writtenCount = writer.wordCount
      if (writer.write(task, NEVER_MS)) {
        wordCount += writer.wordCount - writtenCount
        continue
      }
      writer.clear()
      writer.write(task, NEVER_MS)
      wordCount += writer.wordCount
    }
    return wordCount
  }

  /** What the worker does before and after its search. */
  function take(flats: readonly ReturnType<typeof flatten>[]): number {
    let shardCount = 0
    for (const flat of flats) {
      const findings = unflatten(flat).map(({ shardIndexes }) => {
        shardCount += shardIndexes.length
        return { counts: ONES.subarray(0, shardIndexes.length) }
      })
      if (findingsLength(findings) <= slot.findings.length) writeFindings(findings, slot.findings)
    }
    return shardCount
  }

  function answer(query: Query, tasks: Tasks, counts: readonly (readonly number[])[]): number {
    const selections = mergeCounts(catalogue, query.sourceIds, tasks, counts)
    const listing = cutToPage(selections, undefined, { catalogue, moment: 0, seal: 0, mask: null })
    const reply = recipientAnswer({ runner: NOBODY, catalogue }, query, listing, CALLER)
    respond(REQUEST, REPLY, reply, 'RecipientRequest')
    return sentChars
  }

  const each = (visit: (request: (typeof requests)[number], at: number) => number) => () => {
    let sum = 0
    for (let at = 0; at < requests.length; at++) sum += visit(requests[at], at)
    return sum
  }
  return {
    read: each(({ body }) => (typeof parseRequest(body) === 'object' ? 1 : 0)),
    'read and validate': each(({ body }) => validate(parseRequest(body)).shapes.included.length),
    plan: each(({ query }) => plan(query).length),
    write: each(({ tasks }) => write(tasks)),
    'take, by the worker': each(({ flat }) => take(flat)),
    'take back': each(({ tasks }, at) => takeBack(tasks, found[at]).length),
    answer: each(({ query, tasks }, at) => answer(query, tasks, counted[at])),
    'all of these': each(({ body, flat }, at) => {
      const query = validate(parseRequest(body))
      const tasks = plan(query)
      return write(tasks) + take(flat) + answer(query, tasks, takeBack(tasks, found[at]))
    }),
  }
}

const NEVER_MS = Number.POSITIVE_INFINITY

const ONES = new Uint32Array(1_024).fill(1)

/** Counts are complete: nobody is asked for rows. */
const NOBODY: QueryRunner = {
  run() {
    throw new Error('a count asks for no rows')
  },
}

const CALLER = askerUntil(0)

/** What `respond` looks at. */
const REQUEST = {
  options: DEFAULT_OPTIONS,
  method: 'POST',
  header: () => undefined,
} as Partial<HttpRequest> as HttpRequest

let sentChars = 0

/** A client that has all of its answer at once. */
const REPLY: Reply = {
  gone: false,
  whenOver: () => {},
  rowsSent: () => {},
  send(_status, headers, body) {
    sentChars = body.length + headers['Content-Type'].length
  },
  begin() {
    throw new Error('a count is sent whole')
  },
}

function takeBack(tasks: Tasks, flat: Uint32Array): number[][] {
  const reader = new FindingsReader(flat)
  const counts: number[][] = []
  for (const { shardIndexes } of tasks) {
    if (reader.nextFault() === undefined) counts.push(reader.counts(shardIndexes.length))
  }
  return counts
}
