/**
 * Formats texts as a table for people.
 *
 * @module
 */
/**
 * Lines of columns that are as wide as they must be.
 *
 * @param heads  names of the columns; where one begins with `<`, it is set to the left
 */
export function formatTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const isLeft = heads.map((head) => head.startsWith('<'))
  const lines = [
    heads.map((head) => head.replace(/^</, '')),
    ...rows.map((row) => row.map(printable)),
  ]
  const widths = heads.map((_, at) => Math.max(...lines.map((cells) => widthOf(cells[at]))))
  return lines.map((cells) => {
    const padded = cells.map((cell, at) => {
      const space = ' '.repeat(widths[at] - widthOf(cell))
      return isLeft[at] ? cell + space : space + cell
    })
    return padded.join('  ').trimEnd()
  })
}

/** Nothing in a source may move the cursor, change colours or turn the text around. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

/** In characters; those of East Asia take two places. */
function widthOf(text: string): number {
  const wide =
    /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/
  return [...text].reduce((sum, character) => sum + (wide.test(character) ? 2 : 1), 0)
}
