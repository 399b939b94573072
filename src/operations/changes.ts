/**
 * PostChangesRequest: changes of some recipients of a source, acknowledged when they are on disk.
 *
 * @module
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Change, ChangeRules } from '../changes/change.js'
import { BadRows, type GivenRows, readBatch, TooManyRows } from '../changes/read-batch.js'
import { ServiceError } from '../errors.js'
import type { Answer } from '../format/answer.js'
import { bind } from '../interface/bind.js'
import { ChangesRequestSchema, type ChangesTaken } from '../interface/changes.js'
import { lowerCase } from '../interface/letter-case.js'
import { operations } from '../interface/operations.js'
import { type PreparedBatch, prepareBatch } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import { limits } from '../limits.js'
import { type JsonObject, kindOf, member } from '../selection/parse.js'
import { Remarks } from '../selection/remarks.js'
import { documentAnswer, rowOf, withWarnings } from './document-answer.js'
import { type Execute, SentLines } from './execute.js'

/** Where batches are written. */
export interface ChangeSink {
  /** @returns undefined where there is no such source */
  sourceOf(id: number): ChangeableSource | undefined
  /**
   * Resolves when it is on disk, or was there before.
   *
   * @throws ServiceError  as a rejection
   */
  append(batch: PreparedBatch): Promise<{ readonly outcome: BatchOutcome }>
  /** How many deletes of a written batch found no recipient; undefined where that is not known soon. */
  absentCountOf(sequence: number): Promise<number | undefined>
}

interface ChangeableSource {
  /** Undefined where the snapshot does not say how its recipients are identified. */
  readonly rules: ChangeRules | undefined
  /** In the snapshot. */
  readonly recipientCount: number
}

export function changeOperations(sink: ChangeSink): { PostChangesRequest: Execute } {
  return {
    async PostChangesRequest(request, caller) {
      const { changes: given, ...rest } = taken(request)
      const { Id, batchId, allowShrink = false } = bind(ChangesRequestSchema, rest)
      const sourceId = checkedSource(Id)
      const id = checkedBatchId(batchId)
      const rows = rowsOf(given)
      const source = sourceOf(sink, sourceId)
      const changes = await changesOf(rows, rulesOf(source, sourceId))
      if (!allowShrink) refuseManyDeletes(changes, source)
      // What follows takes up to ten milliseconds for a long batch.
      if (changes.length > PAUSED_COUNT) await turn()
      const { outcome } = await sink.append(prepareBatch({ sourceId, batchId: id, changes }))
      const { kind, sequence } = outcome
      if (kind === 'conflicting') throw conflict(sequence)
      const isRepeated = kind === 'repeated'
      caller.changed?.({ sourceId, sequence, isRepeated, changeCount: changes.length })
      // A key with a boundary must not learn about recipients beyond it.
      const isAsked =
        !isRepeated && caller.access.boundary === undefined && hasClearDeletes(changes)
      const absentCount = isAsked ? await sink.absentCountOf(sequence) : undefined
      const remarks = new Remarks()
      if (absentCount) remarks.add('DeletesNone', absentAdvice(absentCount, source))
      const document: ChangesTaken = {
        Sequence: sequence,
        Repeated: isRepeated,
        ChangeCount: changes.length,
        ...(absentCount !== undefined && { AbsentCount: absentCount }),
        ...(remarks.warnings !== undefined && { Warnings: remarks.warnings }),
      }
      return withWarnings(appliedAnswer(document), remarks)
    },
  }
}

const PAUSED_COUNT = 1_000

/** The rows apart from what is bound: they are many, and have rules of their own. */
function taken(request: JsonObject): JsonObject & { readonly changes?: unknown } {
  const changes = member(request, 'changes')
  const rest = Object.entries(request).filter(([name]) => lowerCase(name) !== 'changes')
  if (changes === undefined && member(request, 'op') !== undefined) {
    throw invalid('a change as the body is sent as application/x-ndjson', 'op')
  }
  return { ...Object.fromEntries(rest), changes }
}

function checkedSource(id: number | undefined): number {
  if (id !== undefined) return id
  throw invalid('Id is missing: the source', 'Id')
}

function checkedBatchId(id: string | undefined): string {
  if (id === undefined || id === '') {
    throw invalid(
      'batchId is missing: give each batch an id, in the body, in the query or as Idempotency-Key, and ' +
        'send it again with the same one',
      'batchId',
    )
  }
  if (Buffer.byteLength(id) > limits.journalBatchIdBytes) {
    throw invalid(`batchId is longer than ${limits.journalBatchIdBytes} bytes`, 'batchId')
  }
  // Half of a surrogate pair has no UTF-8, and would pass for another one.
  if (/\p{Cs}/u.test(id)) throw invalid('batchId is not Unicode text', 'batchId')
  return id
}

function rowsOf(given: unknown): GivenRows {
  if (given instanceof SentLines) return given.bytes
  if (Array.isArray(given)) return given
  if (given === undefined || given === null) throw invalid('changes is missing', 'changes')
  throw invalid(`changes must be a list, not ${kindOf(given)}`, 'changes')
}

function sourceOf(sink: ChangeSink, sourceId: number): ChangeableSource {
  const source = sink.sourceOf(sourceId)
  if (source !== undefined) return source
  throw new ServiceError('NotFound', `there is no source ${sourceId}`, 'Id')
}

function rulesOf(source: ChangeableSource, sourceId: number): ChangeRules {
  if (source.rules !== undefined) return source.rules
  throw new ServiceError(
    'IdentitiesMissing',
    `the snapshot does not say what recipients of source ${sourceId} are known by, since an earlier version wrote it: import the source once more`,
    'Id',
  )
}

async function changesOf(rows: GivenRows, rules: ChangeRules): Promise<Change[]> {
  const changes = await readBatch(rows, rules).catch((fault) => {
    if (fault instanceof BadRows) {
      const field = rows instanceof Uint8Array ? 'changes' : `changes[${fault.firstRow - 1}]`
      throw new ServiceError('InvalidChange', fault.message, field)
    }
    if (!(fault instanceof TooManyRows)) throw fault
    const most = limits.batchChangeCount
    throw new ServiceError('TooComplex', `a batch has at most ${most} changes`, 'changes')
  })
  if (changes.length > 0) return changes
  throw invalid('the batch has no changes', 'changes')
}

/** The guard of imports, for one batch: such a batch is mostly a mistake of a program. */
function refuseManyDeletes(changes: readonly Change[], { recipientCount }: ChangeableSource): void {
  const deleteCount = changes.filter(({ op }) => op === 'delete').length
  if (deleteCount <= limits.freelyDeletedCount) return
  if (100 * deleteCount <= limits.shrinkPercent * recipientCount) return
  throw new ServiceError(
    'TooManyDeletes',
    `the batch deletes ${deleteCount} recipients, which is more than ${limits.shrinkPercent} % of the ` +
      `${recipientCount} that the source has in the snapshot: send it with allowShrink, if that is meant`,
    'changes',
  )
}

/** The last of several changes of one recipient counts, so that deletes are clear only if there is one change of each. */
function hasClearDeletes(changes: readonly Change[]): boolean {
  if (!changes.some(({ op }) => op === 'delete')) return false
  const identities = changes.map((change) => (change.op === 'clear' ? '' : change.identity))
  return new Set(identities).size === changes.length
}

function absentAdvice(absentCount: number, { rules }: ChangeableSource): string {
  const who = rules?.hasKeys === true ? 'the key says' : 'number and contact together say'
  return (
    `${absentCount} of the recipients that were to be deleted were not there: ${who} who is meant, ` +
    'written as they were imported'
  )
}

function conflict(sequence: number): ServiceError {
  return new ServiceError(
    'BatchConflict',
    `the batch with this id and the sequence ${sequence} has other changes: give this one an id of its own`,
    'batchId',
  )
}

function invalid(message: string, field: string): ServiceError {
  return new ServiceError('InvalidRequest', message, field)
}

function appliedAnswer(document: ChangesTaken): Answer {
  const json = Buffer.from(JSON.stringify(document))
  return documentAnswer({ json, columns: COLUMNS, table: rowOf(COLUMNS), headers: NO_STORE })
}

const COLUMNS = operations.PostChangesRequest.csvColumns

const NO_STORE = { 'Cache-Control': 'no-store' }
