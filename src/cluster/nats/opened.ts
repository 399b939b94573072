/**
 * Something of NATS that is opened, or made, when it is used first, and again after a failure: it may be there no more.
 *
 * @module
 */

export class Opened<T> {
  readonly #open: () => Promise<T>
  #opened: Promise<T> | undefined

  constructor(open: () => Promise<T>) {
    this.#open = open
  }

  /** @throws  as a rejection, what opening it and `work` throw */
  async use<Result>(work: (opened: T) => Promise<Result>): Promise<Result> {
    this.#opened ??= this.#open()
    const opened = this.#opened
    try {
      return await work(await opened)
    } catch (fault) {
      if (this.#opened === opened) this.#opened = undefined
      throw fault
    }
  }
}
