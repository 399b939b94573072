/**
 * Status codes as they stand on the first line of an answer.
 *
 * @module
 */
import { STATUS_CODES } from 'node:http'

const lines = new Map(
  Object.entries(STATUS_CODES).map(([code, reason]) => [Number(code), `${code} ${reason}`]),
)

export function statusLine(status: number): string {
  return lines.get(status) ?? String(status)
}
