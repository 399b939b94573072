/**
 * Writes an ar archive, which is what a Debian package is: three members behind each other (deb(5), ar(5)).
 *
 * @module
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

export interface ArMember {
  /** Of at most 16 characters of ASCII. */
  readonly name: string
  readonly content: { readonly text: string } | { readonly path: string }
}

/** @param timeS  of all members, in seconds since 1970 */
export async function writeAr(
  target: string,
  members: readonly ArMember[],
  timeS: number,
): Promise<void> {
  await pipeline(partsOf(members, timeS), createWriteStream(target))
}

async function* partsOf(members: readonly ArMember[], timeS: number): AsyncGenerator<Buffer> {
  yield Buffer.from('!<arch>\n')
  for (const { name, content } of members) {
    const byteCount = 'text' in content ? content.text.length : (await stat(content.path)).size
    yield headerOf(name, byteCount, timeS)
    if ('text' in content) yield Buffer.from(content.text, 'latin1')
    else yield* createReadStream(content.path) as AsyncIterable<Buffer>
    // Each member begins at an even byte.
    if (byteCount % 2 === 1) yield Buffer.from('\n')
  }
}

/** Name, time, owner, group, mode and size as text of fixed widths. */
function headerOf(name: string, byteCount: number, timeS: number): Buffer {
  const fields = [
    name.padEnd(16),
    String(timeS).padEnd(12),
    '0'.padEnd(6),
    '0'.padEnd(6),
    '100644'.padEnd(8),
    String(byteCount).padEnd(10),
    '`\n',
  ]
  return Buffer.from(fields.join(''), 'latin1')
}
