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

export function healthRoutes(unreadyReason: UnreadyReason): Route<Handler>[] {
  return [
    { path: '/livez', methods: { GET: (_, reply) => reply.send(200, headers, live) } },
    {
      path: '/readyz',
      methods: {
        GET(_, reply) {
          const reason = unreadyReason()
          if (reason === undefined) reply.send(200, headers, ready)
          else reply.send(503, headers, JSON.stringify({ status: 'unready', reason }))
        },
      },
    },
  ]
}

const headers = { 'Content-Type': JSON_CONTENT_TYPE, 'Cache-Control': 'no-store' }
const live = JSON.stringify({ status: 'live' })
const ready = JSON.stringify({ status: 'ready' })
