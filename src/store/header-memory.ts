/**
 * What a thread has parsed of the headers of contexts. Alerts are looked for among all of them,
 * which takes four times as long where they are parsed each time.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { ContextHeader } from './written-context.js'

export class HeaderMemory {
  /** By the ids of contexts, as of the text that was last read. */
  readonly #known = new Map<string, { readonly json: string; readonly header: ContextHeader }>()
  #charCount = 0

  /** The header that a text is, which nobody may change. */
  parsed(id: string, json: string): ContextHeader {
    const known = this.#known.get(id)
    if (known?.json === json) return known.header
    const header = JSON.parse(json) as ContextHeader
    if (json.length > limits.headerMemoryCharCount) return header
    this.#charCount += json.length - (known?.json.length ?? 0)
    // Those of contexts that are gone leave it in this way, too.
    if (this.#charCount > limits.headerMemoryCharCount) {
      this.#known.clear()
      this.#charCount = json.length
    }
    this.#known.set(id, { json, header })
    return header
  }

  /** Characters of the texts of all headers that it has. */
  get charCount(): number {
    return this.#charCount
  }
}
