/**
 * Guids, in the four ways in which they are usually written.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'

const bare = /^[0-9a-f]{32}$/
const dashed = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * @param text  32 digits; or with dashes, and then also in braces or parentheses; any case
 * @returns 32 lower-case digits, or undefined when it is no Guid
 */
export function parseGuid(text: string): string | undefined {
  const lower = text.toLowerCase()
  if (bare.test(lower)) return lower
  const enclosed = /^(?:\{.*\}|\(.*\))$/.test(lower)
  const inner = enclosed ? lower.slice(1, -1) : lower
  return dashed.test(inner) ? inner.replaceAll('-', '') : undefined
}

/** A random one, as 32 lower-case digits. */
export function newGuid(): string {
  return randomUUID().replaceAll('-', '')
}
