/**
 * Where alerts are among the contexts: an alert is kept as the context of an Id that follows from its
 * identifier and its sender, which together are no other alert's (CAP 1.2, 3.2.1).
 *
 * @module
 */
import { createHash } from 'node:crypto'

/** The Id of the context that an alert is kept as. Two alerts may have the same one, if hardly ever. */
export function alertContextId(identifier: string, sender: string): string {
  return `${beginningFor(identifier)}${digitsOf(sender)}`
}

interface IdRange {
  readonly start: string
  readonly end: string
}

/** The Ids of all alerts with an identifier, whoever sent them, and hardly any others. */
export function idsOfIdentifier(identifier: string): IdRange {
  const start = beginningFor(identifier)
  return { start, end: `${start}g` }
}

function beginningFor(identifier: string): string {
  return `${BEGINNING}${digitsOf(identifier)}`
}

function digitsOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/** "aler" in ASCII, so that alerts lie together. A context that is none may begin so as well. */
const BEGINNING = '616c6572'

export const ALERT_IDS: IdRange = { start: BEGINNING, end: `${BEGINNING}g` }
