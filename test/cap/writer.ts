/**
 * Writes alerts as XML from their facts.
 *
 * @module
 */

/** A name and its text, or its elements. A name that begins with `!` is of another namespace. */
export type Facts = readonly [name: string, content: string | readonly Facts[]]

const NAMESPACES: Readonly<Record<string, string>> = {
  '1.0': 'http://www.incident.com/cap/1.0',
  '1.1': 'urn:oasis:names:tc:emergency:cap:1.1',
  '1.2': 'urn:oasis:names:tc:emergency:cap:1.2',
}

/** @param version  of CAP, or another namespace */
export function writeAlert(version: string, members: readonly Facts[]): string {
  const namespace = NAMESPACES[version] ?? version
  const declared = namespace === '' ? '' : ` xmlns="${escaped(namespace)}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<alert${declared}>${members.map(element).join('')}</alert>\n`
}

/** The members that every alert needs, and one info with these areas. */
export function factsOf(
  areas: readonly Facts[],
  changes: Readonly<Record<string, string>> = {},
): Facts[] {
  const of = (name: string, usual: string): Facts => [name, changes[name] ?? usual]
  return [
    of('identifier', 'T-1'),
    of('sender', 'desk@example.org'),
    of('sent', '2026-05-24T16:49:00-07:00'),
    of('status', 'Actual'),
    of('msgType', 'Alert'),
    of('scope', 'Public'),
    ['info', infoOf(areas, changes)],
  ]
}

export function infoOf(
  areas: readonly Facts[],
  changes: Readonly<Record<string, string>> = {},
): Facts[] {
  const of = (name: string, usual: string): Facts => [name, changes[name] ?? usual]
  return [
    of('language', 'en-US'),
    of('category', 'Met'),
    of('event', 'Flood'),
    of('urgency', 'Immediate'),
    of('severity', 'Severe'),
    of('certainty', 'Observed'),
    of('expires', '2026-05-25T16:49:00-07:00'),
    ...areas,
  ]
}

export function areaOf(...members: readonly Facts[]): Facts {
  return ['area', [['areaDesc', 'somewhere'], ...members]]
}

export function geocode(name: string, value: string): Facts {
  return [
    'geocode',
    [
      ['valueName', name],
      ['value', value],
    ],
  ]
}

function element([name, content]: Facts): string {
  const [tag, open] = name.startsWith('!')
    ? [`o:${name.slice(1)}`, `o:${name.slice(1)} xmlns:o="urn:other"`]
    : [name, name]
  const inner = typeof content === 'string' ? escaped(content) : content.map(element).join('')
  return `<${open}>${inner}</${tag}>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
