/**
 * One client connection that sends recipient requests, one after the other.
 *
 * @module
 */
import { connect, type Socket } from 'node:net'
import { AnswerReader, type ReadAnswer } from '../../test/support/service/answer-reader.js'
import { requestText } from '../requests/requests.js'

/**
 * - `answered`: whole
 * - `broken`: the connection ended, or could not be made, before the answer was whole
 * - `late`: not whole in time
 */
export type Outcome =
  | { readonly kind: 'answered'; readonly answer: ReadAnswer }
  | { readonly kind: 'broken' | 'late' }

/** The service has 10 seconds to begin an answer. */
const ANSWER_MS = 20_000

export class Connection {
  readonly #socket: Socket
  readonly #reader = new AnswerReader()
  #settle: (outcome: Outcome) => void = () => {}

  /** @param url  such as `http://127.0.0.1:40123` */
  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true })
    this.#socket.on('data', (bytes) => this.#read(bytes))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => this.#settle({ kind: 'broken' }))
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable
  }

  async ask(body: string): Promise<Outcome> {
    let timer: NodeJS.Timeout | undefined
    const outcome = await new Promise<Outcome>((resolve) => {
      this.#settle = resolve
      timer = setTimeout(() => resolve({ kind: 'late' }), ANSWER_MS)
      this.#socket.write(requestText(body))
    })
    clearTimeout(timer)
    if (outcome.kind !== 'answered') this.close()
    else if (outcome.answer.headers.connection === 'close') this.#socket.end()
    return outcome
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(bytes: Buffer): void {
    try {
      const answer = this.#reader.push(bytes)
      if (answer !== undefined) this.#settle({ kind: 'answered', answer })
    } catch {
      this.#settle({ kind: 'broken' })
    }
  }
}
