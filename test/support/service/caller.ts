/**
 * A client that keeps its connection as a well-behaved one does: it asks one thing at a time, and no
 * more once it was told that the connection ends.
 *
 * @module
 */
import { Client, requestText } from '../../http/wire.js'

export interface Calls {
  /** Bodies of the answers with status 200. */
  readonly bodies: string[]
  /** What went wrong: other answers, and errors of the connection. */
  readonly faults: string[]
}

export interface CallerOptions {
  readonly port: number
  /** Verb and path, such as `GET /livez`. */
  readonly line: string
  readonly body?: string
  /** Between an answer and the next request. */
  readonly pauseMs?: number
  /** Asked before each request; true ends the calls. */
  readonly isOver?: () => boolean
}

/** Calls over one connection until that ends. */
export async function callOnOneConnection(options: CallerOptions): Promise<Calls> {
  const { port, line, body = '', pauseMs = 0, isOver = () => false } = options
  const calls: Calls = { bodies: [], faults: [] }
  const client = new Client(port)
  const text = requestText(line, { body }) + body
  let isToldToClose = false
  try {
    while (!isToldToClose && !isOver()) {
      client.write(text)
      const answer = await client.answer()
      if (answer.status === 200) calls.bodies.push(String(answer.body))
      else calls.faults.push(`status ${answer.status}: ${answer.body}`)
      isToldToClose = answer.headers.connection === 'close'
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    if (isToldToClose) await client.untilClosed()
  } catch (fault) {
    calls.faults.push(`after ${calls.bodies.length} answers: ${(fault as Error).message}`)
  }
  calls.faults.push(...client.errors)
  client.socket.destroy()
  return calls
}
