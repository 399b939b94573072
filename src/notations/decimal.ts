/**
 * Numbers of texts.
 *
 * @module
 */

/** @returns undefined for what is neither a finite number nor a text of one, in decimal */
export function decimalOf(value: unknown): number | undefined {
  if (typeof value === 'string' && !DECIMAL.test(value)) return undefined
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

const DECIMAL = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/
