/**
 * What a line of an audit says, before it is chained. Nothing of it is a phone or a position of a
 * recipient; the box around the shapes of a request is.
 *
 * @module
 */

/**
 * - `list`: recipients, or numbers of a suppression list, are sent to a client. Two lines: `begun`, on disk
 *   before the first byte is sent, and `ended`.
 * - `count`: recipients were counted for a client; only where the service is asked to.
 * - `change`: something stored is changed by a client, with the same two lines.
 * - `command`: a command changes something on this machine, with the same two lines.
 * - `service`: a service starts or stops.
 * - `audit`: something about the audit itself.
 */
type AuditEvent = 'list' | 'count' | 'change' | 'command' | 'service' | 'audit'

export interface AuditEntry {
  readonly event: AuditEvent
  readonly phase?: string
  /** Further members, in this order. Those that are undefined are left out. */
  readonly [name: string]: unknown
}

/** The members of a line, without braces. */
export function entryOf(entry: AuditEntry): string {
  return JSON.stringify(entry).slice(1, -1)
}
