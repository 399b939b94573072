/**
 * `GET /api/contexts/{Id}/events`: the counts of a context as server-sent events, one whenever they change (HTML Living
 * Standard, 9.2).
 *
 * It is no operation: it has no name of its own and no end.
 *
 * @module
 */
import { operations } from '../interface/operations.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import { limits } from '../limits.js'
import type {
  ContextWatches,
  EndReason,
  WatchEvent,
  Watcher,
} from '../operations/context-watches.js'
import { contextIdOf } from '../operations/contexts.js'
import { Remarks } from '../selection/remarks.js'
import type { Reply, Sink } from '../selection/reply.js'
import { bindOnPath } from './bind.js'
import { TOO_SLOW } from './observe.js'
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
    const left = await watches.join(contextId, access, isHead ? NO_WATCHER : stream, knownId)
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

/** For HEAD, which asks only whether there is something to watch. */
const NO_WATCHER: Watcher = { tell() {}, beat() {}, mayGoOn: () => true, end() {} }

const EVENT_HEADERS = Object.freeze({
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would collect events until there are enough of them to send.
  'X-Accel-Buffering': 'no',
})

/** Bytes that wait for slow clients, over all clients of a server. */
interface WaitingEvents {
  bytes: number
  readonly maxBytes: number
}

interface EventStreamOptions {
  readonly reply: Reply
  readonly waiting: WaitingEvents
  /** Whether its key still permits it. */
  readonly mayGoOn: () => boolean
}

/**
 * The events of one client. A slow client gets only the newest event. It is cut off if it reads nothing for long, or if
 * there is no memory for what waits.
 */
class EventStream implements Watcher {
  readonly #options: EventStreamOptions
  #sink: Sink | undefined
  #next: Uint8Array | undefined
  #hasRoom = true
  #isEnding = false

  constructor(options: EventStreamOptions) {
    this.#options = options
  }

  /** Begins the answer, so that the client knows that it is heard. */
  open(): Sink {
    if (this.#sink !== undefined) return this.#sink
    const sink = this.#options.reply.begin(200, EVENT_HEADERS)
    this.#sink = sink
    this.#write(RETRY)
    return sink
  }

  tell(event: WatchEvent): void {
    this.open()
    this.#write(bytesOf(event))
  }

  beat(): void {
    const sink = this.open()
    if (this.#hasRoom && !sink.gone) void sink.write(COMMENT)
  }

  mayGoOn(): boolean {
    return this.#options.mayGoOn()
  }

  end(why: EndReason): void {
    const sink = this.open()
    this.#isEnding = true
    // A slow client is waited for only if it learns something new. The others may come back, and have missed nothing.
    if (!this.#hasRoom && why !== 'deleted') sink.abort(TOO_SLOW)
    else this.#endWithRoom()
  }

  #write(bytes: Uint8Array): void {
    this.#next = bytes
    if (this.#hasRoom) this.#writeNext()
  }

  #writeNext(): void {
    const sink = this.open()
    const bytes = this.#next
    if (bytes === undefined || sink.gone) return
    this.#next = undefined
    if (!sink.write(bytes)) this.#waitForRoom(sink, bytes.length)
  }

  /** The library holds what it was given last. What comes next is the same memory for all clients. */
  #waitForRoom(sink: Sink, heldBytes: number): void {
    const { waiting } = this.#options
    this.#hasRoom = false
    waiting.bytes += heldBytes
    void sink.drained().then(() => {
      waiting.bytes -= heldBytes
      this.#hasRoom = true
      this.#writeNext()
      this.#endWithRoom()
    })
    if (waiting.bytes > waiting.maxBytes) sink.abort(TOO_SLOW)
  }

  #endWithRoom(): void {
    const sink = this.open()
    if (this.#isEnding && this.#hasRoom && !sink.gone) sink.end()
  }
}

const RETRY = Buffer.from(`retry: ${limits.watchRetryMs}\n\n`)
/** What proxies and dead connections notice. */
const COMMENT = Buffer.from(':\n\n')

/** Made once for all clients. */
function bytesOf(event: WatchEvent): Uint8Array {
  const { kind, id, json } = event
  const bytes = knownBytes.get(event) ?? Buffer.from(`event: ${kind}\nid: ${id}\ndata: ${json}\n\n`)
  knownBytes.set(event, bytes)
  return bytes
}

const knownBytes = new WeakMap<WatchEvent, Uint8Array>()
