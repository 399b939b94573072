/**
 * A connection of a test to a server of NATS.
 *
 * @module
 */
import { Connection, type ConnectionEvents } from '../../../src/cluster/nats/connection.js'
import type { Owner } from '../../support/service/hickory.js'

/** Closed with the test. */
export async function connected(
  t: Owner,
  { url }: { readonly url: string },
  events: Partial<ConnectionEvents> = {},
): Promise<Connection> {
  const all = { onChange() {}, onDenied() {}, ...events }
  const connection = await Connection.open({ servers: [url] }, 'test', all)
  // Without waiting for a server that has gone.
  t.teardown(() => connection.nats.close())
  return connection
}
