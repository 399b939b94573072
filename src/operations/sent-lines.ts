/**
 * Lines of NDJSON in place of a list of a request.
 *
 * @module
 */

export class SentLines {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
