/**
 * The earlier alerts that an alert refers to: `sender,identifier,sent`, with space between them (CAP 1.2, 3.2.1).
 *
 * @module
 */
import type { AlertReference } from './model.js'

export function readReferences(text: string | undefined): {
  readonly references: readonly AlertReference[]
  readonly areReferencesWhole: boolean
} {
  const references: AlertReference[] = []
  let areReferencesWhole = true
  for (const triple of (text ?? '').split(/\s+/)) {
    if (triple === '') continue
    const parts = triple.split(',')
    const [sender, identifier, sent] = parts
    if (parts.length === 3 && !parts.includes('')) references.push({ sender, identifier, sent })
    else areReferencesWhole = false
  }
  return { references, areReferencesWhole }
}
