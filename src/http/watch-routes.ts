/**
 * `GET /api/contexts/{Id}/events`: the counts of a context as server-sent events, one whenever they change.
 *
 * It is no operation: it has no name of its own and no end.
 *
 * @module
 */
import { operations } from '../interface/operations.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import { limits } from '../limits.js'
import type { ContextWatches, Watcher } from '../operations/context-watches.js'
import { contextIdOf } from '../operations/contexts.js'
import { Remarks } from '../selection/remarks.js'
import { bindOnPath } from './bind.js'
import { EVENT_HEADERS, EventStream, type WaitingEvents } from './event-stream.js'
import type { Handler, HttpRequest } from './request.js'
import type { Route } from './router.js'

export function watchRoutes(
  watches: ContextWatches,
  unknownMembers?: UnknownMembers,
): Route<Handler>[] {
  const waiting: WaitingEvents = { bytes: 0, maxBytes: limits.watchHeldBytes }
  const watch: Handler = async (request, reply) => {
    const { access } = request
    const { contextId, knownId } = askedOf(request, unknownMembers)
    const mayGoOn = () => {
      const now = request.accessNow()
      return now.allows(SCOPE) && now.boundary === access.boundary
    }
    const isHead = request.method === 'HEAD'
    request.isWatch = !isHead
    const stream = new EventStream({ reply, waiting, mayGoOn })
    let isOver = false
    let leave = () => {
      isOver = true
    }
    reply.whenOver(() => leave())
    const left = await watches.join(contextId, access, isHead ? NOBODY : stream, knownId)
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

/** A page can name the last event in the query alone, since its EventSource sends no header with the first request. */
function askedOf(request: HttpRequest, unknownMembers: UnknownMembers | undefined) {
  const content = { kind: 'members', members: {} } as const
  const all = bindOnPath(request, operations.GetMapContextRequest, content)
  const members = Object.entries(all)
  const isKnownId = ([name]: [string, unknown]) => name.toLowerCase() === 'lasteventid'
  const others = Object.fromEntries(members.filter((member) => !isKnownId(member)))
  const inQuery = members.find(isKnownId)?.[1]
  return {
    contextId: contextIdOf(others, new Remarks(unknownMembers)),
    knownId:
      request.header('last-event-id') ?? (inQuery === undefined ? undefined : String(inQuery)),
  }
}

const [SCOPE] = operations.GetMapContextRequest.scopes

/** Asks only whether there is something to watch. */
const NOBODY: Watcher = { tell() {}, beat() {}, mayGoOn: () => true, end() {} }
