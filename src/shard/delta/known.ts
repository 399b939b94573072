/**
 * The last things that were made, each by what it follows from: most requests ask for the same ones.
 *
 * @module
 */

export class Known<Value> {
  /** The last one that was made comes first. */
  readonly #entries: { readonly key: readonly unknown[]; readonly value: Value }[] = []

  /** @param key  as long as all others; two are the same where their members are */
  of(key: readonly unknown[], make: () => Value): Value {
    for (const entry of this.#entries) {
      if (entry.key.every((member, at) => member === key[at])) return entry.value
    }
    const value = make()
    this.#entries.unshift({ key, value })
    this.#entries.length = Math.min(this.#entries.length, KEPT_COUNT)
    return value
  }
}

/** The newest moment, the one before it and one of a list that is paged, each with a boundary or two. */
const KEPT_COUNT = 8
