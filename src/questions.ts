/**
 * Questions that a thread asks another one, which answers them in any order: each question has a
 * number, and its answer has the same.
 *
 * @module
 */

/** How long an answer may take, and what the question then fails with. */
interface Patience {
  readonly waitMs: number
  readonly fault: () => Error
}

interface Asked<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (fault: unknown) => void
}

/** The end of the thread that asks. */
export class Questions<Answer> {
  readonly #asked = new Map<number, Asked<Answer>>()
  #lastNumber = 0
  #fault: { readonly reason: unknown } | undefined

  /**
   * @param send  sends the question with its number
   * @param patience  for ever unless given
   */
  ask(send: (number: number) => void, patience?: Patience): Promise<Answer> {
    if (this.#fault !== undefined) return Promise.reject(this.#fault.reason)
    const number = ++this.#lastNumber
    let timer: NodeJS.Timeout | undefined
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#asked.set(number, { resolve, reject })
      if (patience !== undefined) {
        timer = setTimeout(() => reject(patience.fault()), patience.waitMs)
      }
      send(number)
    })
    return answer.finally(() => {
      clearTimeout(timer)
      this.#asked.delete(number)
    })
  }

  /** To be called when an answer comes; one that is late is dropped. */
  settle(number: number, answer: Answer): void {
    this.#asked.get(number)?.resolve(answer)
  }

  /** Fails what was asked and what will be: nobody answers any more. */
  fail(reason: unknown): void {
    this.#fault = { reason }
    for (const { reject } of this.#asked.values()) reject(reason)
  }
}
