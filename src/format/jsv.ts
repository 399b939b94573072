/**
 * JSV, the notation of ServiceStack for what is nested in a cell of CSV: JSON with fewer quotes.
 *
 * @module
 */

/**
 * A value as JSV. Null members are left out; texts are quoted only where they must be, so a text
 * that looks like a number or a boolean cannot be told from one afterwards.
 */
export function writeJsv(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return jsvText(value)
    case 'boolean':
      return value ? 'True' : 'False'
    case 'object':
      if (value === null) return NULL
      return Array.isArray(value) ? `[${value.map(writeJsv).join(',')}]` : writeObject(value)
    default:
      return JSON.stringify(value) ?? NULL
  }
}

/** A text: in quotes, those within doubled, when it is blank or holds a sign of the notation. */
export function jsvText(text: string): string {
  return /["{}[\],:\r\n]|^[ \t]*$/.test(text) ? quoted(text) : text
}

/** Stands in lists alone: as a member, a null is left out. */
const NULL = 'null'

function writeObject(value: object): string {
  const members = Object.entries(value).filter(([, member]) => member != null)
  return `{${members.map(([key, member]) => `${writeKey(key)}:${writeJsv(member)}`).join(',')}}`
}

/** Spaces around a key are quoted too, since readers take them for layout. */
function writeKey(key: string): string {
  return key === key.trim() ? jsvText(key) : quoted(key)
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
