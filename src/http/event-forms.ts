/**
 * The two forms in which events reach a client: server-sent events (HTML Living Standard, 9.2), and messages of
 * a WebSocket (RFC 6455). The bytes of an event are made once, for all who are told it.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { limits } from '../limits.js'
import type { EndReason, WatchEvent } from '../operations/context-watches.js'
import type { MessageSink, Reply, Sink } from '../selection/reply.js'

export interface EventForm<Channel extends Sink> {
  begin(reply: Reply): Channel
  /** In front of all events; may be empty. */
  readonly greeting: Uint8Array
  bytesOf(event: WatchEvent): Uint8Array
  /** Sends what proxies and dead connections notice. */
  beat(channel: Channel): void
  end(channel: Channel, why: EndReason): void
}

export const EVENT_HEADERS = Object.freeze({
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would collect events until there are enough of them to send.
  'X-Accel-Buffering': 'no',
})

export const SERVER_SENT: EventForm<Sink> = {
  begin: (reply) => reply.begin(200, EVENT_HEADERS),
  greeting: Buffer.from(`retry: ${limits.watchRetryMs}\n\n`),
  bytesOf: onceFor(({ kind, id, json }) => `event: ${kind}\nid: ${id}\ndata: ${json}\n\n`),
  beat: (channel) => void channel.write(COMMENT),
  end: (channel) => channel.end(),
}

const COMMENT = Buffer.from(':\n\n')

export const MESSAGES: EventForm<MessageSink> = {
  begin(reply) {
    assert(reply.openSocket !== undefined, 'there is no connection')
    return reply.openSocket()
  },
  greeting: Buffer.alloc(0),
  bytesOf: onceFor(({ kind, id, json }) => `{"Event":"${kind}","Id":"${id}","Data":${json}}`),
  beat: (channel) => channel.ping(),
  end: (channel, why) => channel.end(...GOODBYES[why]),
}

/** RFC 6455, 7.4.1. A browser comes again by itself only if its page does. */
const GOODBYES: Readonly<Record<EndReason, [code: number, reason: string]>> = {
  deleted: [1000, 'the context is deleted'],
  refused: [1008, 'the key may no longer watch this'],
  stopping: [1001, 'the service stops: come again'],
}

function onceFor(textOf: (event: WatchEvent) => string): (event: WatchEvent) => Uint8Array {
  const known = new WeakMap<WatchEvent, Uint8Array>()
  return (event) => {
    const bytes = known.get(event) ?? Buffer.from(textOf(event))
    known.set(event, bytes)
    return bytes
  }
}
