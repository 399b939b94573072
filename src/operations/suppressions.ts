/**
 * The operations on suppression lists.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Answer } from '../format/answer.js'
import { CSV_LINE_END, csvField } from '../format/csv.js'
import { bind } from '../interface/bind.js'
import { operations } from '../interface/operations.js'
import {
  SuppressionBatchSchema,
  type SuppressionChange,
  type SuppressionPage,
  SuppressionPageResultSchema,
  SuppressionPageSchema,
  SuppressionRemovalSchema,
} from '../interface/suppressions.js'
import { limits } from '../limits.js'
import { phoneTextFault } from '../phone-number.js'
import type { Asker } from '../selection/access.js'
import { Remarks } from '../selection/remarks.js'
import type { UnmatchedPhones } from '../store/change-port.js'
import type { Store } from '../store/store.js'
import type { Scope, Suppression } from '../store/suppressions.js'
import { LIST_KEPT, notationAdvice, unmatchedAdvice } from '../suppressions/notations.js'
import { columnsOf, documentAnswer, rowOf, withWarnings } from './document-answer.js'
import type { Execute } from './execute.js'

/** @param sources  those of the snapshot that is served */
export function suppressionOperations(
  store: Pick<Store, 'suppressions' | 'suppress'>,
  sources: () => readonly { readonly id: number }[],
): {
  GetSuppressionsRequest: Execute
  PutSuppressionsRequest: Execute
  DeleteSuppressionsRequest: Execute
} {
  const isThere = (scope: Scope) => scope === 'all' || sources().some(({ id }) => id === scope)
  const change = async (
    caller: Asker,
    scope: Scope,
    phones: readonly string[],
    isRemoval: boolean,
  ) => {
    const taken = await store.suppress({ kind: 'suppressions', scope, phones, isRemoval })
    const { version, changedCount, unchangedCount, listCount, recipientCount, unmatched } = taken
    const { boundary } = caller.access
    caller.changed?.({ scope, suppressionVersion: version, changedCount, listCount })
    const hasSource = isThere(scope)
    const remarks = new Remarks()
    // A key with a boundary must not learn about recipients beyond it.
    if (!isRemoval && boundary === undefined) remarkUnmatched(remarks, hasSource, unmatched)
    const change: SuppressionChange = {
      Version: version,
      ...(isRemoval
        ? { RemovedCount: changedCount, AbsentCount: unchangedCount }
        : { AddedCount: changedCount, PresentCount: unchangedCount }),
      Total: listCount,
      // As the warnings.
      ...(boundary === undefined && { RecipientCount: recipientCount }),
      HasSource: hasSource,
      ...(remarks.warnings !== undefined && { Warnings: remarks.warnings }),
    }
    return withWarnings(changeAnswer(change), remarks)
  }
  // Unknown members are refused: a list of one source must not become that of all sources because
  // its name was misspelt.
  return {
    async GetSuppressionsRequest(request) {
      return pageAnswer(readPage(store, bind(SuppressionPageSchema, request), isThere))
    },
    async PutSuppressionsRequest(request, caller) {
      const { SourceId, Numbers } = bind(SuppressionBatchSchema, request)
      return await change(caller, SourceId ?? 'all', checkedPhones(Numbers), false)
    },
    async DeleteSuppressionsRequest(request, caller) {
      const { SourceId, Numbers, Number: phone } = bind(SuppressionRemovalSchema, request)
      const scope = SourceId ?? 'all'
      const one = phone === undefined ? [] : [checkedPhone(phone, 'Number')]
      const several = phone !== undefined && Numbers === undefined ? [] : checkedPhones(Numbers)
      return await change(caller, scope, [...one, ...several], true)
    },
  }
}

function remarkUnmatched(
  remarks: Remarks,
  hasSource: boolean,
  unmatched: UnmatchedPhones | undefined,
): void {
  const remark = (message: string) => remarks.add('SuppressesNone', message)
  if (!hasSource) remark(`there is no such source: ${LIST_KEPT}`)
  else if (unmatched !== undefined && unmatched.unmatchedCount > 0) {
    const advice = notationAdvice(unmatched, 'the')
    for (const each of advice) remark(each)
    if (advice.length === 0) remark(unmatchedAdvice(unmatched, 'the'))
  }
}

function checkedPhones(phones: readonly string[] | undefined): readonly string[] {
  if (phones === undefined) {
    throw new ServiceError('InvalidRequest', 'Numbers is missing', 'Numbers')
  }
  const most = limits.suppressionBatchCount
  if (phones.length > most) {
    throw new ServiceError('TooComplex', `Numbers has more than ${most} numbers`, 'Numbers')
  }
  return phones.map((phone, i) => checkedPhone(phone, `Numbers[${i}]`))
}

/** The error never quotes the phone. */
function checkedPhone(phone: string, field: string): string {
  const fault = phoneTextFault(phone)
  if (fault === undefined) return phone
  throw new ServiceError('InvalidRequest', `${field} ${PHONE_FAULTS[fault]}`, field)
}

const PHONE_FAULTS = {
  NumberEmpty: 'is empty or only white space',
  NumberTooLong: `is longer than ${limits.phoneBytes} bytes`,
  NumberUnprintable: 'has a control character, or is no Unicode',
  NumberFormula: 'starts with = or @, as no number that is imported does',
} as const

interface PageRequest {
  readonly SourceId?: number
  readonly Number?: string
  readonly After?: string
  readonly Take?: number
}

function readPage(
  { suppressions }: Pick<Store, 'suppressions'>,
  { SourceId, Number: phone, After, Take }: PageRequest,
  isThere: (scope: Scope) => boolean,
): SuppressionPage {
  const scope = SourceId ?? 'all'
  if (phone !== undefined && (After !== undefined || Take !== undefined)) {
    const field = After === undefined ? 'Take' : 'After'
    const problem = `${field} is for the pages of a list, and Number asks for one number`
    throw new ServiceError('InvalidRequest', `${problem}: leave one of them out`, field)
  }
  const after = After === undefined ? undefined : checkedPhone(After, 'After')
  const wanted = phone === undefined ? undefined : checkedPhone(phone, 'Number')
  const page =
    wanted === undefined
      ? suppressions.page(scope, after, Take ?? limits.suppressionPageDefaultCount)
      : foundPage(suppressions.find(wanted, SourceId))
  const last = page.isLast ? undefined : (page.suppressions.at(-1)?.phone ?? after)
  return {
    Version: suppressions.version(),
    Total: page.totalCount,
    Results: page.suppressions.map(resultOf),
    ...(last !== undefined && { Next: last }),
    Lists: suppressions.lists().map(({ scope: each, count }) => ({
      ...(each !== 'all' && { SourceId: each }),
      HasSource: isThere(each),
      Count: count,
    })),
  }
}

function foundPage(suppressions: readonly Suppression[]) {
  return { totalCount: suppressions.length, suppressions, isLast: true }
}

function resultOf({ scope, phone, sinceMs }: Suppression) {
  return {
    Number: phone,
    ...(scope !== 'all' && { SourceId: scope }),
    Since: new Date(sinceMs).toISOString(),
  }
}

function pageAnswer(page: SuppressionPage): Answer {
  const json = Buffer.from(JSON.stringify(page))
  const document = documentAnswer({
    json,
    columns: columnsOf(SuppressionPageResultSchema),
    table: { columns: RESULT_COLUMNS, rows: () => [] },
    // Phones of people: no cache may keep them.
    headers: NO_STORE,
  })
  const rows = page.Results ?? []
  const { length: rowCount } = rows
  const facts = () => ({ suppressionVersion: page.Version, rowCount })
  const records = () => [{ facts }]
  return {
    ...document,
    isList: rowCount > 0,
    records,
    csv: () => document.csv() + rows.map(resultRow).join(''),
  }
}

const RESULT_COLUMNS = columnsOf(SuppressionPageResultSchema.properties.Results.items)

/** With the phone as it is, as in lists of recipients: it begins like no formula but a number. */
function resultRow({ Number: phone, SourceId, Since }: Suppressed): string {
  return [csvField(phone ?? ''), SourceId ?? '', Since ?? ''].join(',') + CSV_LINE_END
}

type Suppressed = NonNullable<SuppressionPage['Results']>[number]

function changeAnswer(change: SuppressionChange): Answer {
  const json = Buffer.from(JSON.stringify(change))
  const table = rowOf(CHANGE_COLUMNS)
  return documentAnswer({ json, columns: CHANGE_COLUMNS, table, headers: NO_STORE })
}

const CHANGE_COLUMNS = operations.PutSuppressionsRequest.csvColumns

const NO_STORE = { 'Cache-Control': 'no-store' }
