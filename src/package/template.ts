/**
 * Texts of `data/system` with words to be filled in.
 *
 * @module
 */
import { readFile } from 'node:fs/promises'

/** Replaces each `@WORD@` by what `words` has for it; what has no entry stays. */
export async function fillTemplate(
  path: string,
  words: Readonly<Record<string, string>>,
): Promise<string> {
  const text = await readFile(path, 'utf8')
  return text.replace(/@([A-Z_]+)@/g, (whole, word: string) => words[word] ?? whole)
}
