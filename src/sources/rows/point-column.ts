/**
 * A column of points that stands for latitude and longitude: WKB, as bytes or as hexadecimal digits, or
 * what DuckDB calls GEOMETRY.
 *
 * @module
 */
import type { ColumnNames } from '../batch.js'
import { type ColumnChoice, chooseColumns, hasColumns } from '../choose-columns.js'
import type { RowSource } from './row-query.js'

export interface PointChoice {
  readonly chosen: ColumnChoice
  /** The column of points; undefined if latitude and longitude have columns. */
  readonly point: string | undefined
}

/** As `chooseColumns`, but a column of points may be named as both, or found by its name. */
export function chooseWithPoint(
  file: string,
  found: readonly string[],
  wanted: ColumnNames,
  primary?: string,
): PointChoice {
  const point = pointOf(found, wanted, primary)
  if (point === undefined) return { chosen: chooseColumns(file, found, wanted), point }
  const isPosition = (name: string) => name === point || /^\s*(lat|lng)\s*$/i.test(name)
  const others = found.filter((name) => !isPosition(name))
  const names = { ...wanted, lat: 'lat', lng: 'lng' }
  const chosen = chooseColumns(file, [...others, 'lat', 'lng'], names)
  return { chosen: { ...chosen, lat: point, lng: point }, point }
}

/** The part of a source that gives the position. @param text  SQL of a point as WKT, or null */
export function pointRows(
  from: string,
  text: string,
): Pick<RowSource, 'from' | 'lat' | 'lng' | 'further' | 'rules'> {
  const part = (index: number) => `regexp_extract(${POINT}, '${WKT}', ${index})`
  return {
    from: `(SELECT *, ${text} AS ${POINT} FROM ${from})`,
    lat: { text: part(2) },
    lng: { text: part(1) },
    further: { point_text: POINT },
    rules: [
      [`point_text = '${PROJECTED}'`, 'GeometryProjected'],
      [`point_text IS NULL OR NOT regexp_matches(point_text, '${WKT}')`, 'GeometryNotPoint'],
    ],
  }
}

/** The point of WKB as WKT. @param hex  SQL of its hexadecimal digits */
export function wktOfHex(hex: string): string {
  const high = `upper(substr(${hex}, CASE left(${hex}, 2) WHEN '00' THEN 3 ELSE 9 END, 2))`
  // EWKB says so by a bit of the type. DuckDB would leave out the number of the coordinate system.
  const isProjected = `${high} IN ('20', 'A0', '60', 'E0')
    AND upper(substr(${hex}, 11, 8)) NOT IN ('E6100000', '000010E6')`
  return `CASE WHEN ${isProjected} THEN '${PROJECTED}'
    ELSE TRY(ST_AsText(ST_GeomFromWKB(TRY(from_hex(${hex}))))) END`
}

const POINT = 'hickory_point'
const PROJECTED = 'PROJECTED'
const WKT = '^POINT (?:ZM |Z |M )?\\(([^ ]+) ([^ )]+)'
const NAMES = /^(geometry|geom|the_geom|wkb_geometry|wkb|shape)$/i

function pointOf(
  found: readonly string[],
  wanted: ColumnNames,
  primary: string | undefined,
): string | undefined {
  if (wanted.lat !== undefined || wanted.lng !== undefined) {
    if (wanted.lat !== wanted.lng) return undefined
    return found.find((name) => name.trim().toLowerCase() === wanted.lat?.trim().toLowerCase())
  }
  const number = wanted.number === undefined ? {} : { number: wanted.number }
  if (hasColumns(found, number)) return undefined
  return primary ?? found.find((name) => NAMES.test(name.trim()))
}
