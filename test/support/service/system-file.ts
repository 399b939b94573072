/**
 * Files that packages install, as a test uses them: only addresses and paths are others.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../../../data/system/', import.meta.url))

/**
 * A file with other texts, each of which must be there.
 *
 * @param path  below data/system
 */
export function systemFile(
  path: string,
  texts: readonly (readonly [from: string | RegExp, to: string])[] = [],
): string {
  let text = readFileSync(join(folder, path), 'utf8')
  for (const [from, to] of texts) {
    // A function, since `$` means something in a text.
    const changed = text.replace(from, () => to)
    if (changed === text) throw new Error(`${path} has no ${from}`)
    text = changed
  }
  return text
}
