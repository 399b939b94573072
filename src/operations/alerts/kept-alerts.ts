/**
 * The alerts that are kept: found by their identifiers, and by references to them. An alert is kept as the context of
 * an Id that is computed from its identifier and its sender, which together are unique (CAP 1.2, 3.2.1).
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { readTime } from '../../cap/date-time.js'
import { ServiceError } from '../../errors.js'
import type { AlertReference } from '../../interface/context.js'
import type { AlertHeader } from '../../store/documents.js'
import type { KnownContext, Store } from '../../store/store.js'

export interface KeptAlert {
  /** Id of the context. */
  readonly id: string
  readonly name: string | undefined
  readonly areaCount: number
  readonly alert: AlertHeader
}

/** By ascending Id. */
export function keptAlerts(store: Store): readonly KeptAlert[] {
  return alertsAmong(store.headers(ALERT_IDS.start, ALERT_IDS.end))
}

export function isAlert(store: Store, id: string): boolean {
  return alertsAmong(store.headers(id, `${id}g`)).length > 0
}

/** The context with the Id of an alert of this sender: mostly that alert, or none. */
export function contextAt(store: Store, identifier: string, sender: string) {
  const id = alertContextId(identifier, sender)
  return store.headers(id, `${id}g`).at(0)
}

/**
 * @param sender  undefined where only one sender has such an alert
 * @param field  that names the identifier
 * @throws ServiceError  NotFound; InvalidRequest, where several senders have one
 */
export function keptAlert(
  store: Store,
  identifier: string,
  sender: string | undefined,
  field: { readonly identifier: string; readonly sender: string },
): KeptAlert {
  const { start, end } = idsOfIdentifier(identifier)
  const found = alertsAmong(store.headers(start, end)).filter(
    ({ alert }) =>
      alert.identifier === identifier && (sender === undefined || alert.sender === sender),
  )
  if (found.length > 1) {
    const problem = `${field.sender} is missing: several senders have an alert with this identifier`
    throw new ServiceError('InvalidRequest', problem, field.sender)
  }
  if (found.length === 1) return found[0]
  const problem = `${field.identifier} is the identifier of no alert that is kept here`
  throw new ServiceError('NotFound', problem, field.identifier)
}

/** The kept alert that a reference names, if there is one. */
export function referredTo(store: Store, reference: AlertReference): KeptAlert | undefined {
  const { Identifier = '', Sender = '' } = reference
  const context = contextAt(store, Identifier, Sender)
  const [found] = context === undefined ? [] : alertsAmong([context])
  return found !== undefined && names(reference, found.alert) ? found : undefined
}

/** The kept Updates and Cancels that refer to an alert. */
export function supersedersOf(
  { id, alert }: KeptAlert,
  all: readonly KeptAlert[],
): readonly KeptAlert[] {
  return all.filter(
    (other) =>
      other.id !== id && other.alert.references?.some((reference) => names(reference, alert)),
  )
}

/** The same with an index: a page has many alerts, and there may be thousands. */
export function createSuperseders(
  all: readonly KeptAlert[],
): (alert: KeptAlert) => readonly KeptAlert[] {
  const referring = new Map<string, Set<KeptAlert>>()
  for (const other of all) {
    for (const { Identifier = '', Sender = '' } of other.alert.references ?? []) {
      const key = JSON.stringify([Identifier, Sender])
      const known = referring.get(key)
      if (known === undefined) referring.set(key, new Set([other]))
      else known.add(other)
    }
  }
  return (kept) => {
    const { identifier, sender } = kept.alert
    const those = referring.get(JSON.stringify([identifier, sender])) ?? []
    return supersedersOf(kept, [...those])
  }
}

export function referenceTo({ sender, identifier, sent }: AlertHeader): AlertReference {
  return { Sender: sender, Identifier: identifier, Sent: sent }
}

function names(
  { Identifier, Sender, Sent = '' }: AlertReference,
  { identifier, sender, sent }: AlertHeader,
): boolean {
  return Identifier === identifier && Sender === sender && isSameTime(Sent, sent)
}

/** The same moment may be written in two ways. */
function isSameTime(left: string, right: string): boolean {
  if (left === right) return true
  const atMs = readTime(left)?.atMs
  return atMs !== undefined && atMs === readTime(right)?.atMs
}

function alertsAmong(contexts: readonly KnownContext[]): KeptAlert[] {
  return contexts.flatMap(({ id, header: { alert, name, areaCount } }) =>
    alert === undefined ? [] : [{ id, name, areaCount, alert }],
  )
}

/** The Id of the context that an alert is kept as. Two alerts may have the same one, if hardly ever. */
export function alertContextId(identifier: string, sender: string): string {
  return `${beginningFor(identifier)}${digitsOf(sender)}`
}

interface IdRange {
  readonly start: string
  readonly end: string
}

/** The Ids of all alerts with an identifier, by any sender, and hardly any others. */
function idsOfIdentifier(identifier: string): IdRange {
  const start = beginningFor(identifier)
  return { start, end: `${start}g` }
}

function beginningFor(identifier: string): string {
  return `${BEGINNING}${digitsOf(identifier)}`
}

function digitsOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/** "aler" in ASCII, so that alerts lie together. The Id of another context may begin so as well. */
const BEGINNING = '616c6572'

const ALERT_IDS: IdRange = { start: BEGINNING, end: `${BEGINNING}g` }
