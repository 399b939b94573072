/**
 * Requests as JSON in which a number is spelled in other ways than JavaScript does: with an exponent,
 * or with more digits than tell it from others.
 *
 * @module
 */
import type { Random } from './world.js'

/** JSON that is read as the same value. */
export function spelledJson(value: unknown, random: Random): string {
  if (typeof value === 'number') return spelledNumber(value, random)
  if (Array.isArray(value)) return `[${value.map((item) => spelledJson(item, random)).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  const spelled = members.map(
    ([name, member]) => `${JSON.stringify(name)}:${spelledJson(member, random)}`,
  )
  return `{${spelled.join()}}`
}

/** The number in any of the ways that are read as the same double. */
export function spelledNumber(value: number, random: Random): string {
  const plain = JSON.stringify(value)
  const text = random.pick(spellings)(value, random)
  return JSON.parse(text) === value ? text : plain
}

const spellings: readonly ((value: number, random: Random) => string)[] = [
  (value) => JSON.stringify(value),
  (value) => value.toExponential(),
  (value) => value.toExponential().toUpperCase(),
  (value, random) => value.toExponential(random.between(17, 40)),
  (value, random) => value.toFixed(random.between(17, 30)),
  (value, random) => value.toPrecision(random.between(17, 60)),
  (value, random) => `${value.toFixed(20)}${'0'.repeat(random.between(1, 30))}`,
  (value, random) => shifted(value, random.between(1, 20)),
]

/** With the point further right: 1.25 as 125e-2 or 1250e-3. */
function shifted(value: number, places: number): string {
  const [whole, fraction = ''] = String(value).split('.')
  if (!/^-?[1-9]/.test(whole) || /e/.test(fraction + whole)) return JSON.stringify(value)
  return `${whole}${fraction.padEnd(places, '0')}e-${Math.max(places, fraction.length)}`
}
