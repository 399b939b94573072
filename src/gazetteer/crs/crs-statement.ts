/**
 * What a file, or an operator, says of the coordinate system of positions.
 *
 * @module
 */

/** In one of the ways in which files say it; `wgs84` where their format has no other. */
export type CrsStatement =
  | { readonly kind: 'wgs84' }
  | { readonly kind: 'epsg'; readonly code: number }
  /** Of either version of WKT. */
  | { readonly kind: 'wkt'; readonly text: string }
  | { readonly kind: 'projJson'; readonly value: object }
  /** Parameters of PROJ, such as `+proj=utm +zone=15 +datum=NAD83`. */
  | { readonly kind: 'proj'; readonly text: string }
  /** A name that is none of these. */
  | { readonly kind: 'other'; readonly name: string }

/** Reads `EPSG:4269`, `OGC:CRS84`, the same as URNs and URLs, parameters of PROJ, and WKT. */
export function readCrsName(text: string): CrsStatement {
  const name = text.trim()
  if (name.startsWith('+')) return { kind: 'proj', text: name }
  if (/^[A-Z_]+\s*\[/i.test(name)) return { kind: 'wkt', text: name }
  if (/(^|[:/])CRS84$/i.test(name)) return { kind: 'wgs84' }
  const code = /(?:^|[:/])EPSG(?::|::|:[\d.]*:|\/[\d.]+\/)(\d{1,7})$/i.exec(name)?.[1]
  if (code !== undefined) return { kind: 'epsg', code: Number(code) }
  return { kind: 'other', name }
}

/** What to call it in a message or a report. */
export function nameOfCrs(statement: CrsStatement): string {
  switch (statement.kind) {
    case 'wgs84':
      return 'WGS 84'
    case 'epsg':
      return `EPSG:${statement.code}`
    case 'wkt':
      return shortened(/\[\s*"([^"]*)"/.exec(statement.text)?.[1] ?? statement.text)
    case 'projJson': {
      const { name } = statement.value as { name?: unknown }
      return typeof name === 'string' ? shortened(name) : 'a system without a name'
    }
    case 'proj':
      return shortened(statement.text)
    case 'other':
      return shortened(statement.name)
  }
}

const NAME_CHAR_COUNT = 80

function shortened(name: string): string {
  const line = name.replace(/\s+/g, ' ')
  return line.length <= NAME_CHAR_COUNT ? line : `${line.slice(0, NAME_CHAR_COUNT)}…`
}
