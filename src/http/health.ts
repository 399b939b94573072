/**
 * Says whether the process lives, and whether it should get requests. Everybody may ask that; where keys
 * are asked for, only clients that have one learn which snapshot it is that is served.
 *
 * @module
 */
import { formats } from '../format/formats.js'
import { NO_ACCESS } from '../selection/access.js'
import type { Handler } from './request.js'
import type { Route } from './router.js'

/** Undefined when ready; otherwise the reason, in a word. */
type UnreadyReason = () => string | undefined

/** The snapshot that is served, and a newer one that is not. */
interface ServedSnapshot {
  readonly snapshotId: string
  /** The id of a newer one that is on its way. */
  readonly loading?: string
  /** A newer one that is not served, or the reason why the newest one is not known. */
  readonly refused?: { readonly snapshotId?: string; readonly reason: string }
  /** Why every recipient request is refused, if so: JSON leaves out what is undefined. */
  readonly boundaryFault?: string | undefined
  /** The version of the gazetteer, and why it is not the current one, if so. */
  readonly areas?:
    | {
        readonly version?: string
        readonly refused?: { readonly version?: string; readonly reason: string }
      }
    | undefined
  /** When the certificate expires, and why a newer one is not shown, if so. */
  readonly tls?: { readonly certificateExpires: string; readonly refused?: string } | undefined
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
        GET({ access }, reply) {
          const reason = unreadyReason()
          const [status, body] =
            reason === undefined
              ? [200, { status: 'ready', ...(access !== NO_ACCESS && served()) }]
              : [503, { status: 'unready', reason }]
          reply.send(status, headers, JSON.stringify(body))
        },
      },
    },
  ]
}

const headers = { 'Content-Type': formats.json.contentType, 'Cache-Control': 'no-store' }
const live = JSON.stringify({ status: 'live' })
