/**
 * Messages to one client by WebSocket. Each is taken whole; while one waits for room, none should be sent.
 *
 * @module
 */
import { limits } from '../../limits.js'
import type { MessageSink } from '../../selection/reply.js'
import type { EngineSocket, SocketHandlers } from '../engine/engine.js'
import { BackPressure } from './back-pressure.js'
import type { ReaderRules } from './reader-watch.js'

/** Why a client is cut off that may not be there any more, for the log. */
export const NO_PONG = 'the client answers no ping'

interface SocketOutput {
  /** Makes the connection a WebSocket. */
  open(handlers: SocketHandlers): EngineSocket
  readonly readerRules: ReaderRules
  /** Called once, when the socket is closed by an end that was said. */
  finished(): void
  /** Called once, when it is closed in any other way. */
  left(): void
  /**
   * Breaks the connection off, which closes the socket.
   *
   * @param reason  for the log
   */
  cutOff(reason?: string): void
}

export class SocketSink implements MessageSink {
  readonly #output: SocketOutput | undefined
  readonly #pressure: BackPressure | undefined
  /** Undefined once it is closed. */
  #socket: EngineSocket | undefined
  #hasEnded = false
  #unansweredCount = 0
  #sentBytes = 0

  /** @param output  undefined when nobody is there to write to */
  constructor(output: SocketOutput | undefined) {
    this.#output = output
    if (output === undefined) return
    this.#pressure = new BackPressure({
      native: NO_CLOCK,
      readerRules: output.readerRules,
      cutOff: (reason) => output.cutOff(reason),
    })
    this.#socket = output.open({
      drained: () => this.#look(),
      ponged: () => {
        this.#unansweredCount = 0
      },
      received: () => this.end(UNSUPPORTED_DATA, 'this connection only tells: send nothing'),
      closed: () => this.#leave(),
    })
  }

  /** Of messages, without their frames. */
  get writtenBytes(): number {
    return this.#sentBytes
  }

  get gone(): boolean {
    return this.#socket === undefined && !this.#hasEnded
  }

  write(message: Uint8Array): boolean {
    const socket = this.#socket
    if (socket === undefined) return false
    socket.send(message)
    this.#sentBytes += message.length
    this.#look()
    return !this.#pressure?.isOn
  }

  drained(): Promise<void> {
    return this.#pressure?.over ?? Promise.resolve()
  }

  ping(): void {
    if (this.#socket === undefined || this.#pressure?.isOn) return
    if (this.#unansweredCount > limits.unansweredPingCount) {
      this.#output?.cutOff(NO_PONG)
      return
    }
    this.#unansweredCount++
    this.#socket.ping()
  }

  end(code = GOING_AWAY, reason = ''): void {
    const socket = this.#socket
    if (socket === undefined) return
    this.#hasEnded = true
    // Closes within the call.
    socket.end(code, reason)
  }

  abort(reason?: string): void {
    if (this.#socket !== undefined) this.#output?.cutOff(reason)
  }

  /** Breaks the connection off. */
  close(): void {
    this.#socket?.close()
  }

  #look(): void {
    const waitingBytes = this.#socket?.bufferedBytes() ?? 0
    if (waitingBytes === 0) this.#pressure?.resume()
    else this.#pressure?.waits(this.#sentBytes - waitingBytes)
  }

  #leave(): void {
    this.#socket = undefined
    this.#pressure?.end()
    if (this.#hasEnded) this.#output?.finished()
    else this.#output?.left()
  }
}

/** The library closes no WebSocket that takes nothing. */
const NO_CLOCK = { pause() {}, resume() {} }

/** RFC 6455, 7.4.1. */
const GOING_AWAY = 1001
const UNSUPPORTED_DATA = 1003
