/**
 * A body between two texts. It stays of its kind, so that its length is known where it was before.
 *
 * @module
 */
import { type Body, type BodyWriter, type ByteSink, isWhole, writeBody } from './answer.js'

export function enclosed(before: string, body: string, after: string): string
export function enclosed(before: string, body: Body, after: string): Body
export function enclosed(before: string, body: Body, after: string): Body {
  if (typeof body === 'string') return before + body + after
  if (isWhole(body)) return Buffer.concat([utf8.encode(before), body, utf8.encode(after)])
  return new EnclosedWriter(before, body, after)
}

const utf8 = new TextEncoder()

class EnclosedWriter implements BodyWriter {
  readonly #before: string
  readonly #body: BodyWriter
  readonly #after: string

  constructor(before: string, body: BodyWriter, after: string) {
    this.#before = before
    this.#body = body
    this.#after = after
  }

  async write(sink: ByteSink): Promise<void> {
    await writeBody(this.#before, sink)
    await this.#body.write(sink)
    await writeBody(this.#after, sink)
  }

  async byteCount(): Promise<number | undefined> {
    const byteCount = await this.#body.byteCount?.()
    if (byteCount === undefined) return undefined
    return byteCount + Buffer.byteLength(this.#before) + Buffer.byteLength(this.#after)
  }
}
