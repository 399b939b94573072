/**
 * Holds the pages of a list against the list, while phones are suppressed between them.
 *
 * @module
 */

import { answer } from '../../src/selection/answer.js'
import { type AnsweredRecord, keyOf } from '../oracle/compare.js'
import type { JsonObject } from './random/requests.js'
import type { Random } from './random/world.js'
import { bodyText } from './service/body-text.js'
import { inTime } from './service/in-time.js'
import type { LocalService } from './service/local-service.js'

export interface Suppressions {
  readonly isSuppressed: (phone: string, sourceId: number) => boolean
  /** Suppresses further phones. */
  readonly suppressSome: () => void
}

export async function findPageFaults(
  service: LocalService,
  request: JsonObject,
  random: Random,
  { isSuppressed, suppressSome }: Suppressions,
): Promise<{ faults: string[]; pageCount: number }> {
  const whole = await listOf(service, request)
  const limit = random.between(1, Math.max(1, Math.ceil(whole.rows.length / 2)))
  const changes = random.unit() < 0.5
  const faults: string[] = []
  const given: Row[] = []
  let after: string | undefined
  let pageCount = 0
  do {
    const page = await listOf(service, { ...request, limit, ...(after && { after }) })
    if (page.rows.some(({ phone, sourceId }) => isSuppressed(phone, sourceId))) {
      faults.push('a page lists a number that is suppressed')
    }
    const isLast = page.after === undefined
    if (page.rows.length > limit || (page.rows.length < limit && !isLast)) {
      faults.push(`a page of ${page.rows.length} where ${limit} were asked for`)
    }
    given.push(...page.rows)
    after = page.after
    pageCount++
    if (changes && after !== undefined) suppressSome()
  } while (after !== undefined && pageCount < PAGE_COUNT_MAX)
  if (after !== undefined) return { faults, pageCount }
  if (new Set(given.map(({ key }) => key)).size < given.length) faults.push('pages repeat somebody')
  const keys = given.map(({ key }) => key)
  if (!changes) {
    const isList = keys.join() === whole.rows.map(({ key }) => key).join()
    if (!isList) faults.push('pages are not the list')
  } else if (isPlain(request, service)) {
    const expected = new Set(whole.rows.map(({ key }) => key))
    if (keys.some((key) => !expected.has(key))) faults.push('pages list somebody else')
    const listed = new Set(keys)
    const missing = whole.rows.filter(
      ({ key, phone, sourceId }) => !listed.has(key) && !isSuppressed(phone, sourceId),
    )
    if (missing.length > 0) faults.push(`pages miss ${missing.length} who are not suppressed`)
  }
  return { faults, pageCount }
}

const PAGE_COUNT_MAX = 12

interface Row {
  readonly key: string
  readonly phone: string
  readonly sourceId: number
}

/** Whether nobody is listed or not because of somebody else. */
function isPlain(request: JsonObject, { countMode }: LocalService): boolean {
  const names = Object.keys(request).map((name) => name.toLowerCase())
  const isOfContacts = countMode() === 'Contact' || names.includes('contactcountmode')
  return !isOfContacts && !names.includes('distinct') && !/"nearest"/i.test(JSON.stringify(request))
}

async function listOf(
  service: LocalService,
  request: JsonObject,
): Promise<{ rows: Row[]; after: string | undefined }> {
  const given = await answer(service, request, inTime())
  const records = JSON.parse(await bodyText(given.json())).SourceRecords as AnsweredRecord[]
  const rows = records.flatMap(({ SourceId, Recipients = [] }) =>
    Recipients.map(({ Number: phone, LatLng }) => ({
      key: `${SourceId} ${keyOf(phone, LatLng.Lng, LatLng.Lat)}`,
      phone,
      sourceId: SourceId,
    })),
  )
  return { rows, after: given.headers['X-Next-After'] }
}
