/**
 * Numbers of texts.
 *
 * @module
 */

/** @returns undefined for what is neither a finite number nor a text of one, in decimal, perhaps between white space */
export function decimalOf(value: unknown): number | undefined {
  if (typeof value === 'string') return decimalIn(value.trim())
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** A number as XML Schema writes decimals and doubles; neither INF nor NaN, and nothing around it. */
export function decimalIn(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

/** No part of it can take what another could, so that long texts are tried once. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
