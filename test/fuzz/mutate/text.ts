/**
 * Changes a text without a thought for what it means.
 *
 * @module
 */
import type { Random } from '../../support/random/world.js'

export function mutatedText(text: string, random: Random): string {
  const at = random.between(0, text.length)
  const kind = random.between(0, 4)
  if (kind === 0) return text.slice(0, at)
  if (kind === 1) return text.slice(at)
  if (kind === 2) return text.slice(0, at) + text.slice(at + random.between(1, 20))
  if (kind === 3) return text.slice(0, at) + text.slice(Math.max(0, at - random.between(1, 20)))
  return text.slice(0, at) + random.pick(tokens) + text.slice(at)
}

const tokens: readonly string[] = [
  ...['"', '{', '}', '[', ']', ',', ':', '\\', '/', '=', '&', ';', '%', '+', ' ', '\r\n', '\0'],
  ...['1e999', '-', 'null', 'true', '"__proto__":1,', '\\u0000', '\\ud800', 'é', '\ufeff', '//'],
  ...['/*', '--', '--boundary', '""', ',,', '[]', '{}', '%zz', '%00', '%C0%AF'],
]
