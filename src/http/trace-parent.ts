/**
 * The header `traceparent` (W3C Trace Context, level 1), by which the programs of a system tell the log of
 * each of them what belongs together.
 *
 * @module
 */

export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** Of the call within the trace: 16 hexadecimal digits. */
  readonly parentId: string
}

/** @returns undefined for what is not valid, which is to be ignored (3.2.2.5) */
export function traceParentOf(sent: string): TraceParent | undefined {
  const [, version, traceId, parentId, rest] = FORM.exec(sent) ?? []
  if (version === undefined || version === 'ff') return undefined
  // Later versions may have more fields.
  if (version === '00' && rest !== '') return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined
  return { traceId, parentId }
}

const FORM = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}((?:-[\x20-\x7e]*)?)$/
