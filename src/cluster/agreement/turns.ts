/**
 * Work that is done one after the other, whoever wants it.
 *
 * @module
 */
export class Turns {
  readonly #onFault: (fault: unknown) => void
  #last: Promise<unknown> = Promise.resolve()

  /** @param onFault  hears of work that failed; what comes behind it is done */
  constructor(onFault: (fault: unknown) => void) {
    this.#onFault = onFault
  }

  do<T>(work: () => Promise<T> | T): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(this.#onFault)
    return done
  }

  /** Resolves when all is done that was wanted by now. */
  get over(): Promise<unknown> {
    return this.#last
  }
}
