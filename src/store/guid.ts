/**
 * Guids, in the five forms that .NET writes and reads (Guid.ToString: N, D, B, P and X).
 *
 * @module
 */
import { randomUUID } from 'node:crypto'

const bare = /^[0-9a-f]{32}$/
const dashed = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const parts = /^\{0x([0-9a-f]{1,8}),0x([0-9a-f]{1,4}),0x([0-9a-f]{1,4}),\{(.*)\}\}$/
const bytes = /^0x[0-9a-f]{1,2}(?:,0x[0-9a-f]{1,2}){7}$/

/**
 * @param text  32 digits; or with dashes, and then also in braces or parentheses; or hexadecimal
 *   parts in braces, `{0x…,0x…,0x…,{0x…,…}}`; any case
 * @returns 32 lower-case digits, or undefined when it is no Guid
 */
export function parseGuid(text: string): string | undefined {
  const lower = text.toLowerCase()
  if (bare.test(lower)) return lower
  const enclosed = /^(?:\{.*\}|\(.*\))$/.test(lower)
  const inner = enclosed ? lower.slice(1, -1) : lower
  return dashed.test(inner) ? inner.replaceAll('-', '') : ofParts(lower)
}

function ofParts(lower: string): string | undefined {
  const [, first, second, third, last = ''] = parts.exec(lower) ?? []
  if (!bytes.test(last)) return undefined
  const tail = last.split(',').map((byte) => byte.slice(2).padStart(2, '0'))
  return [first.padStart(8, '0'), second.padStart(4, '0'), third.padStart(4, '0'), ...tail].join('')
}

/** What is wrong with a text that is none, in words. */
export const NO_GUID = 'is not a Guid: 32 hexadecimal digits with or without hyphens'

/** A random one, as 32 lower-case digits. */
export function newGuid(): string {
  return randomUUID().replaceAll('-', '')
}
