/**
 * A COPY to the client as a statement of `pg`: what it sends is handed on as it comes, within the
 * turn in which it was read, so nothing gathers and the server waits when we are slow.
 *
 * pg-copy-streams does the same as a stream, which takes the messages apart a second time.
 *
 * @module
 */
import type { Connection, Submittable } from 'pg'

export class CopyOut implements Submittable {
  /** The rows that the server says it has sent, once all is over. */
  readonly rowCount: Promise<number>
  readonly #text: string
  readonly #onData: (bytes: Buffer) => void
  #resolve: (rowCount: number) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined
  #rowCount = Number.NaN
  #failure: unknown

  constructor(text: string, onData: (bytes: Buffer) => void) {
    this.#text = text
    this.#onData = onData
    this.rowCount = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  submit(connection: Connection): void {
    connection.query(this.#text)
  }

  /** Called by the client, as are those below. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }, connection: Connection): void {
    if (this.#failure !== undefined) return
    try {
      this.#onData(chunk)
    } catch (error) {
      // Thrown here, it would reach nobody.
      this.#failure = error
      this.#reject(error)
      connection.stream.destroy()
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#rowCount = Number(/^COPY ([0-9]+)$/.exec(text)?.[1])
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#rowCount)
  }

  handleError(error: unknown): void {
    this.#reject(error)
  }
}
