/**
 * The formats of rows: the texts around phone and coordinates, and how long a row can be.
 *
 * @module
 */
import { DEGREES_BYTES } from '../../geometry/degrees.js'
import { limits } from '../../limits.js'

export type RowFormat =
  /** Members of a JSON array, with a comma before each. */
  | { readonly kind: 'json' }
  /** Lines of JSON; `prefix` is what each begins with, up to the phone. */
  | { readonly kind: 'ndjson'; readonly prefix: string }
  /** CSV records ending in CRLF; `prefix` is what each begins with, escaped, its comma included. */
  | { readonly kind: 'csv'; readonly prefix: string }
  /**
   * Features of a FeatureCollection; `prefix` is what each begins with, up to the phone, the comma before
   * it included. `isContinued`: others stand before the first one, which keeps its comma.
   */
  | { readonly kind: 'geojson'; readonly prefix: string; readonly isContinued: boolean }
  /** Members of a JSV list within a quoted field of CSV, with a comma before each. */
  | { readonly kind: 'jsv' }

/** What recipients can be encoded as; `binary` as binary-rows.ts says. */
export type EncodedFormat = RowFormat | { readonly kind: 'binary' }

/** What stands in each row of a format. */
interface RowTexts {
  /** Before the phone, where the format has no prefix of its own. */
  readonly before: Uint8Array
  readonly beforeFirst: Uint8Array
  readonly beforeSecond: Uint8Array
  readonly end: Uint8Array
  /** Whether the longitude is the first coordinate. */
  readonly isLngFirst: boolean
}

/** The texts of each kind of format. */
export const rowTexts: Readonly<Record<RowFormat['kind'], RowTexts>> = {
  json: texts(',{"Number":"', '","LatLng":{"Lat":', ',"Lng":', '}}'),
  ndjson: texts('', '","LatLng":{"Lat":', ',"Lng":', '}}\n'),
  csv: texts('', ',', ',', '\r\n'),
  geojson: {
    ...texts('', '"},"geometry":{"type":"Point","coordinates":[', ',', ']}}'),
    isLngFirst: true,
  },
  jsv: texts(',{Number:', ',LatLng:{Lat:', ',Lng:', '}}'),
}

/** What each row begins with, up to the phone. */
export function prefixOf(format: RowFormat): Uint8Array {
  return 'prefix' in format ? utf8.encode(format.prefix) : rowTexts[format.kind].before
}

/** The longest row of a format. */
export function rowBytesMax(kind: RowFormat['kind'], prefixBytes: number): number {
  const { beforeFirst, beforeSecond, end } = rowTexts[kind]
  const { growth, quoteBytes } = escapes[kind]
  const textBytes = prefixBytes + beforeFirst.length + beforeSecond.length + end.length
  return textBytes + quoteBytes + growth * limits.phoneBytes + 2 * DEGREES_BYTES
}

interface Escapes {
  /** Bytes that one of a phone becomes at most. */
  readonly growth: number
  /** Bytes of the quotes around a phone, at most. */
  readonly quoteBytes: number
}

/** No control character is in a phone, so that escapes are quotes and backslashes alone. */
const escapes: Readonly<Record<RowFormat['kind'], Escapes>> = {
  json: { growth: 2, quoteBytes: 0 },
  ndjson: { growth: 2, quoteBytes: 0 },
  csv: { growth: 2, quoteBytes: 2 },
  geojson: { growth: 2, quoteBytes: 0 },
  // Quotes are doubled as JSV, and again as CSV.
  jsv: { growth: 4, quoteBytes: 4 },
}

const utf8 = new TextEncoder()

/** The latitude first, as most formats have it. */
function texts(before: string, beforeLat: string, beforeLng: string, end: string): RowTexts {
  const [first, second, third, last] = [before, beforeLat, beforeLng, end].map((text) =>
    new TextEncoder().encode(text),
  )
  return { before: first, beforeFirst: second, beforeSecond: third, end: last, isLngFirst: false }
}
