/**
 * HTML as a value of its own, so that text is escaped wherever it is put into a page.
 *
 * @module
 */

export interface Html {
  readonly html: string
}

type Part = string | number | Html | readonly Html[]

/** Makes HTML of a template; what is put in is escaped unless it is HTML. */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const pieces = template.map((piece, i) => (i < parts.length ? piece + htmlOf(parts[i]) : piece))
  return { html: pieces.join('') }
}

/** HTML that was made elsewhere, and is trusted. */
export function trusted(text: string): Html {
  return { html: text }
}

function htmlOf(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  if ('html' in part) return part.html
  return part.map(({ html }) => html).join('')
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
