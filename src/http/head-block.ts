/**
 * Status and headers of answers, in the form in which they are written fastest.
 *
 * @module
 */
import { STATUS_CODES } from 'node:http'
import type { EngineResponse } from './engine/engine.js'

/** A status as it stands on the first line of an answer. */
export function statusLine(status: number): string {
  return statusLines.get(status) ?? String(status)
}

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, reason]) => [Number(code), `${code} ${reason}`]),
)

/** Headers as they stand in an answer, to be written by `writeHead`. */
export interface HeadBlock {
  readonly firstName: string
  /** The value of the first header, and all other headers, on lines of their own. */
  readonly rest: string
}

/** @param headers  one at least; names and values as they stand, without line ends */
export function headBlock(headers: readonly (readonly [name: string, value: string])[]): HeadBlock {
  const [[firstName, firstValue], ...others] = headers
  return { firstName, rest: firstValue + others.map((pair) => `\r\n${pair.join(': ')}`).join('') }
}

/**
 * Writes status and headers. An engine takes several headers for one value, because each call into the addon
 * costs as much as what it writes.
 *
 * @param more  lines, each behind a line end; empty where there are none
 */
export function writeHead(
  response: EngineResponse,
  status: number,
  block: HeadBlock,
  more: string,
): void {
  if (status !== 200) response.writeStatus(statusLine(status))
  response.writeHeader(block.firstName, block.rest + more)
}
