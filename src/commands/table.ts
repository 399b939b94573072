/**
 * Texts in columns, for people.
 *
 * @module
 */
import { print } from './output.js'

/** Prints rows of cells, of which the first is the header; columns of figures go to the right. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const shown = rows.map((row) => row.map(printable))
  const [header] = shown
  const widths = header.map((_, column) => Math.max(...shown.map((row) => widthOf(row[column]))))
  const isFigures = header.map((_, column) =>
    shown.slice(1).every((row) => /^-?[0-9.]*$/.test(row[column])),
  )
  for (const row of shown) {
    const cells = row.map((cell, column) => {
      const space = ' '.repeat(widths[column] - widthOf(cell))
      return isFigures[column] ? space + cell : cell + space
    })
    print(cells.join('  ').trimEnd())
  }
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
