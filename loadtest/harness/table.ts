/**
 * Figures in columns, for people.
 *
 * @module
 */

export interface Table {
  readonly title: string
  /** The first column is aligned left, the others right. */
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export function formatTable({ title, header, rows }: Table): string {
  const lines = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const format = (line: readonly string[]) =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      )
      .join('  ')
  return [title, ...lines.map((line) => `  ${format(line)}`), ''].join('\n')
}

/** With thousands separators. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}

/** Three significant digits, or all digits before the point. */
export function formatFigure(figure: number): string {
  if (figure >= 1000) return formatCount(figure)
  return figure === 0 ? '0' : figure.toPrecision(3)
}
