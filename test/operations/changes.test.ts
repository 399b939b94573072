/**
 * The operation that takes changes of recipients: what may be asked, and what is answered.
 *
 * @module
 */

import t from 'tap'
import type { ChangeRules } from '../../src/changes/change.js'
import { ServiceError } from '../../src/errors.js'
import type { PreparedBatch } from '../../src/journal/batch.js'
import { decodeChanges } from '../../src/journal/content.js'
import type { BatchOutcome } from '../../src/journal/outcomes.js'
import { limits } from '../../src/limits.js'
import { type ChangeSink, changeOperations } from '../../src/operations/changes.js'
import { SentLines } from '../../src/operations/execute.js'
import { inTime } from '../support/service/in-time.js'

const RULES: ChangeRules = { hasKeys: false, allowsNullIsland: false, numbers: undefined }

/** Source 1 has no keys, source 2 has, and nobody knows of source 3. */
function operation(
  outcome: BatchOutcome = { kind: 'written', sequence: 7 },
  recipientCount = 2_000,
) {
  const batches: PreparedBatch[] = []
  const rules = new Map<number, ChangeRules | undefined>([
    [1, RULES],
    [2, { ...RULES, hasKeys: true }],
    [3, undefined],
  ])
  const sink: ChangeSink = {
    sourceOf: (id) => (rules.has(id) ? { rules: rules.get(id), recipientCount } : undefined),
    append(batch) {
      batches.push(batch)
      return Promise.resolve({ outcome })
    },
    absentCountOf: () => Promise.resolve(undefined),
  }
  const { PostChangesRequest } = changeOperations(sink)
  const facts: unknown[] = []
  return {
    batches,
    facts,
    async post(request: object) {
      const caller = { ...inTime(), changed: (fact: object) => facts.push(fact) }
      const answer = await PostChangesRequest({ ...request }, caller)
      return JSON.parse(Buffer.from(answer?.json() as Uint8Array).toString())
    },
  }
}

const upsert = (number: string) => ({ op: 'upsert', number, lat: 1.5, lng: 2, contact: null })
const lines = (...rows: unknown[]) =>
  new SentLines(Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join('')))

async function fault(asked: Promise<unknown>): Promise<ServiceError> {
  const error = await asked.then(
    () => new Error('it was answered'),
    (reason) => reason,
  )
  if (error instanceof ServiceError) return error
  throw error
}

t.test('a batch is taken as a list and as lines, with names in any letter case', async (t) => {
  const { post, batches, facts } = operation()
  const changes = [upsert('+9991'), { op: 'delete', number: 9992, contact: 'c' }]
  const answer = { Sequence: 7, Repeated: false, ChangeCount: 2 }
  t.same(await post({ Id: '1', BatchID: 'a', CHANGES: changes }), answer)
  t.same(await post({ id: 1, batchId: 'a', changes: lines(...changes) }), answer)
  t.equal(batches.length, 2)
  t.match(batches[0], { sourceId: 1, batchId: 'a', changeCount: 2 })
  t.same(batches[0].content, batches[1].content)
  t.same(decodeChanges(batches[0].content), [
    {
      op: 'upsert',
      identity: '+9991\0',
      phone: '+9991',
      lng: 20_000_000,
      lat: 15_000_000,
      contact: '',
      key: undefined,
    },
    { op: 'delete', identity: '9992\0c' },
  ])
  t.same(facts[0], { sourceId: 1, sequence: 7, isRepeated: false, changeCount: 2 })
})

t.test('in a source with keys the key says who is meant', async (t) => {
  const { post, batches } = operation()
  await post({ Id: 2, batchId: 'a', changes: [{ op: 'delete', key: 'k1' }] })
  t.same(decodeChanges(batches[0].content), [{ op: 'delete', identity: 'k1' }])
  const { code, message } = await fault(post({ Id: 2, batchId: 'b', changes: [upsert('+9991')] }))
  t.equal(code, 'InvalidChange')
  t.match(message, /row 1: "key" is missing/)
})

t.test('a batch that is there already, and one with the id of another', async (t) => {
  const request = { Id: 1, batchId: 'a', changes: [upsert('+9991')] }
  const repeated = operation({ kind: 'repeated', sequence: 3 })
  t.same(await repeated.post(request), { Sequence: 3, Repeated: true, ChangeCount: 1 })
  const conflicting = operation({ kind: 'conflicting', sequence: 4 })
  const { code, status, message, field } = await fault(conflicting.post(request))
  t.same({ code, status, field }, { code: 'BatchConflict', status: 409, field: 'batchId' })
  t.match(message, / sequence 4 /)
  t.same(conflicting.facts, [], 'nothing was changed')
})

t.test('bad rows refuse the batch, and are named by their numbers', async (t) => {
  const { post, batches } = operation()
  const rows = [
    upsert('+9991'),
    { ...upsert('+9992'), lat: 91.25 },
    upsert('+9993'),
    { op: 'delete', number: '+999\u0007' },
  ]
  const asList = await fault(post({ Id: 1, batchId: 'a', changes: rows }))
  t.match(asList, { code: 'InvalidChange', status: 400, field: 'changes[1]' })
  t.match(asList.message, /^2 of 4 changes are bad: row 2: .*; row 4: /)
  const asLines = await fault(post({ Id: 1, batchId: 'a', changes: lines(...rows) }))
  t.equal(asLines.message, asList.message)
  t.notMatch(asList.message, /999|91/, 'no phone, no position')
  const blank = new SentLines(Buffer.from('\ufeff{"op":"delete","number":"1"}\n\r\n \n{"op":\n'))
  t.match(
    (await fault(post({ Id: 1, batchId: 'a', changes: blank }))).message,
    /^1 of 2 .* row 4: /,
  )
  const bytes = new SentLines(Buffer.from([0x22, 0xff, 0x22]))
  t.match((await fault(post({ Id: 1, batchId: 'a', changes: bytes }))).message, /row 1: .*UTF-8/)
  const values = [null, 1, 'a', [], {}]
  const { message } = await fault(post({ Id: 1, batchId: 'a', changes: values }))
  t.match(message, /^5 of 5 changes are bad/)
  t.equal(batches.length, 0)
})

t.test('of many bad rows the first are named', async (t) => {
  const { post } = operation()
  const rows = Array.from({ length: limits.failuresShownCount + 1 }, () => ({}))
  const { message } = await fault(post({ Id: 1, batchId: 'a', changes: rows }))
  t.equal(message.match(/row \d+/g)?.length, limits.failuresShownCount)
  t.match(message, /; …$/)
})

t.test('a row of lines has a longest length', async (t) => {
  const { post } = operation()
  const row = JSON.stringify({ op: 'delete', number: '+9991' })
  const line = (bytes: number) => new SentLines(Buffer.from(row.padEnd(bytes)))
  t.match(await post({ Id: 1, batchId: 'a', changes: line(limits.recordBytes) }), {
    ChangeCount: 1,
  })
  const { message } = await fault(
    post({ Id: 1, batchId: 'a', changes: line(limits.recordBytes + 1) }),
  )
  t.match(message, /row 1: the row is longer than 65536 bytes/)
})

t.test('a batch has at most so many changes, and others are answered meanwhile', async (t) => {
  const { post, batches } = operation()
  const rows = Array.from({ length: limits.batchChangeCount }, (_, i) => upsert(`+999${i}`))
  let turnCount = 0
  const timer = setInterval(() => turnCount++, 1)
  t.teardown(() => clearInterval(timer))
  for (const changes of [rows, lines(...rows)]) {
    turnCount = 0
    t.match(await post({ Id: 1, batchId: 'a', changes }), { ChangeCount: limits.batchChangeCount })
    t.ok(turnCount > 0, 'a timer had its turn')
  }
  const more = [...rows, upsert('+9990')]
  for (const changes of [more, lines(...more)]) {
    const error = await fault(post({ Id: 1, batchId: 'a', changes }))
    t.match(error, { code: 'TooComplex', status: 422, field: 'changes' })
  }
  t.equal(batches.length, 2)
})

t.test('a batch must have an id, of at most so many bytes', async (t) => {
  const { post, batches } = operation()
  const changes = [upsert('+9991')]
  for (const batchId of [undefined, null, '']) {
    t.match(await fault(post({ Id: 1, batchId, changes })), {
      code: 'InvalidRequest',
      status: 400,
      field: 'batchId',
    })
  }
  const longest = 'é'.repeat(limits.journalBatchIdBytes / 2)
  await post({ Id: 1, batchId: longest, changes })
  t.match(await fault(post({ Id: 1, batchId: `${longest}x`, changes })), { field: 'batchId' })
  t.match(await fault(post({ Id: 1, batchId: '\ud800', changes })), { field: 'batchId' })
  t.equal(batches.length, 1)
})

t.test('what cannot be changed is refused', async (t) => {
  const { post, batches } = operation()
  const changes = [upsert('+9991')]
  const codes = async (request: object) => {
    const { code, status, field } = await fault(post({ batchId: 'a', ...request }))
    return [code, status, field]
  }
  t.same(await codes({ Id: 4, changes }), ['NotFound', 404, 'Id'])
  t.same(await codes({ Id: -1, changes }), ['InvalidRequest', 400, 'Id'])
  t.same(await codes({ Id: 3, changes }), ['IdentitiesMissing', 409, 'Id'])
  t.same(await codes({ Id: 'x', changes }), ['InvalidRequest', 400, 'Id'])
  t.same(await codes({ changes }), ['InvalidRequest', 400, 'Id'])
  t.same(await codes({ Id: 1 }), ['InvalidRequest', 400, 'changes'])
  t.same(await codes({ Id: 1, changes: null }), ['InvalidRequest', 400, 'changes'])
  t.same(await codes({ Id: 1, changes: {} }), ['InvalidRequest', 400, 'changes'])
  t.same(await codes({ Id: 1, changes: [] }), ['InvalidRequest', 400, 'changes'])
  t.same(await codes({ Id: 1, changes: lines() }), ['InvalidRequest', 400, 'changes'])
  t.same(await codes({ Id: 1, ...upsert('+9991') }), ['InvalidRequest', 400, 'op'])
  t.same(await codes({ Id: 1, changes, chnages: 1 }), ['UnknownMember', 400, 'chnages'])
  t.equal(batches.length, 0)
})

t.test('a batch that deletes a large part of the source must say that it means it', async (t) => {
  const { post, batches } = operation()
  const deletes = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ op: 'delete', number: `+999${i}` }))
  // A tenth of 2,000.
  await post({ Id: 1, batchId: 'b1', changes: [...deletes(200), upsert('+9991')] })
  const changes = [...deletes(201), upsert('+9991')]
  const refused = await fault(post({ Id: 1, batchId: 'b2', changes }))
  t.match(refused, { code: 'TooManyDeletes', status: 409, field: 'changes' })
  t.match(refused.message, /deletes 201 recipients, .* of the 2000 /)
  t.equal(batches.length, 1)
  await post({ Id: 1, batchId: 'b2', allowShrink: true, changes })
  t.equal(batches.length, 2)
  const few = operation(undefined, 5)
  await few.post({ Id: 1, batchId: 'b1', changes: deletes(limits.freelyDeletedCount) })
  const more = few.post({ Id: 1, batchId: 'b2', changes: deletes(limits.freelyDeletedCount + 1) })
  t.equal((await fault(more)).code, 'TooManyDeletes')
})
