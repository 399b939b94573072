/**
 * Whether the process lives, and whether it should be sent requests.
 *
 * @module
 */
import { JSON_CONTENT_TYPE } from '../format/error-body.js'
import type { Handler } from './request.js'
import type { Route } from './router.js'

/** Undefined when ready; otherwise why not, in a word. */
export type UnreadyReason = () => string | undefined

/** What is served, and what is not. */
export interface ServedSnapshot {
  readonly snapshotId: string
  /** The id of a newer one that is on its way. */
  readonly loading?: string
  /** A newer one that is not served, or why nobody can tell which one is the newest. */
  readonly refused?: { readonly snapshotId?: string; readonly reason: string }
}

export function healthRoutes(
  unreadyReason: UnreadyReason,
  served: () => ServedSnapshot,
): Route<Handler>[] {
  return [
    { path: '/livez', methods: { GET: (_, reply) => reply.send(200, headers, live) } },
    {
      path: '/readyz',
      methods: {
        GET(_, reply) {
          const reason = unreadyReason()
          const [status, body] =
            reason === undefined
              ? [200, { status: 'ready', ...served() }]
              : [503, { status: 'unready', reason }]
          reply.send(status, headers, JSON.stringify(body))
        },
      },
    },
  ]
}

const headers = { 'Content-Type': JSON_CONTENT_TYPE, 'Cache-Control': 'no-store' }
const live = JSON.stringify({ status: 'live' })
