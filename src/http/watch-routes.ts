/**
 * `GET /api/contexts/{Id}/events`: the counts of a context, told when they change.
 *
 * It is no operation: it has one form, no name of its own and no end.
 *
 * @module
 */
import { operations } from '../interface/operations.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import type { ContextWatches, Watcher } from '../operations/context-watches.js'
import { contextIdOf } from '../operations/contexts.js'
import { Remarks } from '../selection/remarks.js'
import { bindOnPath } from './bind.js'
import { EVENT_HEADERS, EventStream } from './event-stream.js'
import type { Handler } from './request.js'
import type { Route } from './router.js'

export function watchRoutes(
  watches: ContextWatches,
  unknownMembers?: UnknownMembers,
): Route<Handler>[] {
  const watch: Handler = async (request, reply) => {
    const { access } = request
    const content = { kind: 'members', members: {} } as const
    const members = bindOnPath(request, operations.GetMapContextRequest, content)
    const contextId = contextIdOf(members, new Remarks(unknownMembers))
    const isHead = request.method === 'HEAD'
    const stream = new EventStream(reply, () => {
      const now = request.accessNow()
      return now.allows(SCOPE) && now.boundary === access.boundary
    })
    let isOver = false
    let leave = () => {
      isOver = true
    }
    reply.whenOver(() => leave())
    const knownId = request.header('last-event-id')
    const watcher = isHead ? NOBODY : stream
    const left = await watches.join(contextId, access, watcher, knownId)
    if (isOver || isHead) left()
    leave = left
    if (isHead) reply.send(200, EVENT_HEADERS, '')
    else stream.open()
  }
  return [
    {
      path: '/api/contexts/{Id}/events',
      methods: { GET: watch },
      isWork: true,
      callOf: () => ({ name: 'GetMapContextRequest', isBatch: false }),
    },
  ]
}

const [SCOPE] = operations.GetMapContextRequest.scopes

/** Asks only whether there is something to watch. */
const NOBODY: Watcher = { tell() {}, beat() {}, mayGoOn: () => true, end() {} }
