/**
 * Fields of CSV as RFC 4180 writes them, with the additions that clients of this interface expect.
 *
 * @module
 */

export const CSV_LINE_END = '\r\n'

/**
 * A field of free text: quoted where needed, and with an apostrophe in front of what a spreadsheet
 * would run as a formula (OWASP, CSV Injection).
 */
export function csvText(text: string): string {
  return csvField(/^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text)
}

/** A field as it is; quoted when it holds a quote, a comma or a line end, or begins like a list. */
export function csvField(text: string): string {
  return /[",\r\n]|^[[{]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
