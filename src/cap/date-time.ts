/**
 * Times of an alert: `2002-05-24T16:49:00-07:00` (CAP 1.2, 3.3.2).
 *
 * @module
 */

export interface CapTime {
  /** As the alert has it. */
  readonly text: string
  /** Milliseconds since 1970. */
  readonly atMs: number
  /** False where the text is a time all the same, and CAP 1.2 writes it in another way. */
  readonly isAsWritten: boolean
}

/** Undefined for what is no time, or has no zone: nobody could say when that is. */
export function readTime(text: string): CapTime | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number)
  const [, , , , , , , fraction, zone] = match
  const utcMs = Date.UTC(year, month - 1, day, hour, minute, second)
  const date = new Date(utcMs)
  // What does not exist, such as February 30, comes back as another day.
  if (Number.isNaN(utcMs) || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) {
    return undefined
  }
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const offset = offsetMinutes(zone)
  if (offset === undefined) return undefined
  const fractionMs = fraction === undefined ? 0 : Math.floor(Number(`0${fraction}`) * 1000)
  const atMs = utcMs - offset * 60_000 + fractionMs
  return { text, atMs, isAsWritten: zone !== 'Z' && fraction === undefined }
}

const FORM = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

/** XML Schema allows fourteen hours either way. */
function offsetMinutes(zone: string): number | undefined {
  if (zone === 'Z') return 0
  const minutes = 60 * Number(zone.slice(1, 3)) + Number(zone.slice(4))
  if (Number(zone.slice(4)) > 59 || minutes > 14 * 60) return undefined
  return zone.startsWith('-') ? -minutes : minutes
}
