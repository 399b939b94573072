/**
 * Bytes as texts, in the encodings of the web.
 *
 * @module
 */

/** Each call takes one whole text. @throws TypeError  where it is fatal, for bytes that are no text */
export type DecodeText = (bytes: Uint8Array) => string

/** @param encoding  a name that `encodingOf` knows */
export function textDecoder(encoding: string, options?: { readonly fatal: boolean }): DecodeText {
  const decoder = new TextDecoder(encoding, options)
  // Node.js 20.18.3 to 24.6 take windows-1252 for Latin-1, but not as a part of a longer text.
  return (bytes) => decoder.decode(bytes, { stream: true }) + decoder.decode()
}

/** What the standard calls an encoding, by one of its names; undefined for one that is not known. */
export function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}
