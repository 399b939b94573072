/**
 * One client at a time: plays plans over a connection that is kept as long as both sides keep it.
 *
 * @module
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/limits.js'
import { AnswerReader, type ReadAnswer } from '../support/service/answer-reader.js'
import type { Piece, Plan } from './plan.js'

/**
 * - `answered`: a whole answer came
 * - `closed`: the server closed the connection first
 * - `malformed`: what came is not an answer
 * - `late`: neither in time
 */
export type Outcome =
  | { readonly kind: 'answered'; readonly answer: ReadAnswer }
  | { readonly kind: 'closed' | 'malformed' | 'late' }

export interface Lane {
  /** Sends one valid request and reads its answer. */
  ask(plan: Plan): Promise<Outcome>
  close(): void
}

/** The answer begins within `requestMs`; the rest is for a machine that does other things as well. */
export const ANSWER_MS = limits.requestMs + 20_000

export function createLane(port: number): Lane {
  let connection: Connection | undefined
  return {
    async ask(plan) {
      const isKept = connection !== undefined && !connection.isOver
      if (connection === undefined || !isKept) connection = new Connection(port)
      const outcome = await connection.ask(plan)
      if (outcome.kind !== 'answered' || isLast(plan, outcome.answer)) connection.close()
      // Either side may close a connection that is kept, just when the other begins to send.
      return outcome.kind === 'closed' && isKept ? this.ask(plan) : outcome
    },
    close: () => connection?.close(),
  }
}

function isLast({ pieces }: Plan, { headers }: ReadAnswer): boolean {
  if (headers.connection?.toLowerCase() === 'close') return true
  return /\r\nconnection: close\r\n/i.test(pieces[0].bytes.toString('latin1', 0, 1_000))
}

class Connection {
  readonly #socket: Socket
  #reader = new AnswerReader()
  #headersOnly = false
  #settle: (outcome: Outcome) => void = () => {}

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (bytes) => this.#read(bytes))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => this.#settle({ kind: 'closed' }))
  }

  get isOver(): boolean {
    return this.#socket.destroyed || !this.#socket.writable
  }

  async ask({ pieces, headersOnly }: Plan): Promise<Outcome> {
    const outcome = new Promise<Outcome>((resolve) => {
      this.#settle = resolve
    })
    this.#headersOnly = headersOnly
    const timer = setTimeout(() => this.#settle({ kind: 'late' }), ANSWER_MS)
    // An answer may come before the rest of the request is sent, which is sent all the same.
    await writePieces(this.#socket, pieces)
    const settled = await outcome
    clearTimeout(timer)
    return settled
  }

  close(): void {
    // A connection that is reset leaves no port behind that cannot be used for a minute; where the
    // other side has ended it, Node.js would keep it for ever.
    if (this.#socket.writable) this.#socket.resetAndDestroy()
    else this.#socket.destroy()
  }

  #read(bytes: Buffer): void {
    try {
      const answer = this.#reader.push(bytes, this.#headersOnly)
      if (answer !== undefined) this.#settle({ kind: 'answered', answer })
    } catch {
      this.#settle({ kind: 'malformed' })
    }
  }
}

export async function writePieces(socket: Socket, pieces: readonly Piece[]): Promise<void> {
  for (const { bytes, pauseMs } of pieces) {
    if (socket.destroyed) return
    socket.write(bytes)
    if (pauseMs > 0) await sleep(pauseMs)
  }
}
