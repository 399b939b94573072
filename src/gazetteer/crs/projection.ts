/**
 * From the coordinates of a file to longitudes and latitudes of WGS 84. What is not known for certain is
 * refused by its name: a projection, a datum, a unit, or another meridian of origin.
 *
 * @module
 */
import proj4 from 'proj4'
import { OperatorError } from '../../errors.js'
import { latOfMetres, lngOfMetres } from '../../geometry/esri/web-mercator.js'
import { type CrsStatement, nameOfCrs } from './crs-statement.js'
import { definitionOfEpsg, KNOWN_CODES, WEB_MERCATOR_CODES } from './epsg-codes.js'

export interface Projection {
  readonly name: string
  /** Whether coordinates are degrees already, and stay as they are. */
  readonly areDegrees: boolean
  /** @returns longitude and latitude, or undefined for what lies where the projection has no answer */
  toDegrees(x: number, y: number): [lng: number, lat: number] | undefined
}

/**
 * @param file  for messages
 * @throws OperatorError  InputRejected for a system that is not supported
 */
export function projectionOf(file: string, statement: CrsStatement): Projection {
  const name = nameOfCrs(statement)
  const fail = (problem: string): never => {
    throw new OperatorError(
      'InputRejected',
      `${file}: the coordinate system ${name} ${problem}. Write the file again in WGS 84, for example ` +
        'with ogr2ogr -t_srs EPSG:4326',
    )
  }
  if (statement.kind === 'wgs84') return asTheyAre(name)
  if (isWebMercator(statement)) return webMercator(name)
  const definition = definitionOf(statement, fail)
  let system: System
  try {
    system = new proj4.Proj(definition as string) as unknown as System
  } catch {
    return fail('is not one that can be read')
  }
  const fault = faultOf(statement, system)
  if (fault !== undefined) return fail(fault)
  const isShifted = statement.kind === 'epsg' ? statement.code === OSGB36_CODE : isOsgb(statement)
  if (system.projName === 'longlat' && !isShifted) return asTheyAre(name)
  return isShifted ? shifted(name, definition) : projected(name, system)
}

type Definition = string | object

/** The members of an instance of proj4's that tell what it has understood. */
interface System {
  readonly projName: string
  readonly names: readonly string[]
  readonly units?: string | null
  readonly from_greenwich?: number
  readonly axis?: string
  readonly nadgrids?: string
  readonly datumCode?: string
  readonly ellps?: string
  readonly datum_params?: readonly unknown[]
  /** Metres of its unit. */
  readonly to_meter?: number
  /** Both in radians and metres. */
  forward(place: { x: number; y: number }): { x: number; y: number }
  inverse(place: { x: number; y: number }): { x: number; y: number }
}

const OSGB36_CODE = 27_700

function asTheyAre(name: string): Projection {
  return { name, areDegrees: true, toDegrees: (lng, lat) => [lng, lat] }
}

/** As Esri JSON is read, with the end of the world where map libraries write it. */
function webMercator(name: string): Projection {
  return { name, areDegrees: false, toDegrees: (x, y) => [lngOfMetres(x), latOfMetres(y)] }
}

/** On its own datum: the library has shifts for some that are taken as WGS 84 here. */
function projected(name: string, system: System): Projection {
  const { to_meter: metres = 1 } = system
  return projection(name, {
    forward: ([x, y]) => {
      const { x: lng, y: lat } = system.inverse({ x: x * metres, y: y * metres })
      return [lng * DEGREES_PER_RADIAN, lat * DEGREES_PER_RADIAN]
    },
    inverse: ([lng, lat]) => {
      const place = { x: lng / DEGREES_PER_RADIAN, y: lat / DEGREES_PER_RADIAN }
      const { x, y } = system.forward(place)
      return [x / metres, y / metres]
    },
  })
}

const DEGREES_PER_RADIAN = 180 / Math.PI

/** With its datum brought to WGS 84. */
function shifted(name: string, definition: Definition): Projection {
  const { forward, inverse } = proj4(definition as string, 'WGS84')
  return projection(name, {
    forward: (place) => forward([...place]),
    inverse: (place) => inverse([...place]),
  })
}

interface Converter {
  forward(place: readonly [number, number]): number[]
  inverse(place: readonly [number, number]): number[]
}

function projection(name: string, { forward, inverse }: Converter): Projection {
  return {
    name,
    areDegrees: false,
    toDegrees(x, y) {
      let lng: number
      let lat: number
      let back: number[]
      try {
        ;[lng, lat] = forward([x, y])
        back = inverse([lng, lat])
      } catch {
        // For coordinates that are not finite, or that no iteration finds.
        return undefined
      }
      // Beyond its domain a projection answers with another place, which does not lead back.
      const isBack = Math.abs(back[0] - x) <= BACK_MAX && Math.abs(back[1] - y) <= BACK_MAX
      if (!isBack || Math.abs(lng) > 180 + ROUNDING || Math.abs(lat) > 90 + ROUNDING)
        return undefined
      return [Math.max(-180, Math.min(lng, 180)), Math.max(-90, Math.min(lat, 90))]
    },
  }
}

/** Of an antimeridian or a pole, in degrees. */
const ROUNDING = 1e-9

/** In the unit of the system, metres or feet. */
const BACK_MAX = 0.01

function definitionOf(statement: CrsStatement, fail: (problem: string) => never): Definition {
  switch (statement.kind) {
    case 'epsg':
      return (
        definitionOfEpsg(statement.code) ??
        fail(`is none of those that are known by their code alone (${KNOWN_CODES})`)
      )
    case 'wkt':
    case 'proj':
      return statement.text
    case 'projJson':
      return statement.value
    default:
      return fail('is not one that is known')
  }
}

function faultOf(statement: CrsStatement, system: System): string | undefined {
  const { projName, names, units, from_greenwich: meridian, axis = 'enu' } = system
  if (!names.some((name) => PROJECTIONS.has(name)))
    return `has the projection ${projName}, which is not supported`
  // The library confuses the scale and the parallel of those that are not of the web.
  if (names.includes('merc') && statement.kind !== 'proj')
    return 'is a Mercator other than that of the web'
  // Of the second version of WKT, the library leaves out what turns the axes of an oblique one.
  if (isSecondForm(statement) && names.includes('omerc')) {
    return 'is an oblique Mercator, which is not read of WKT 2 and PROJJSON'
  }
  if (meridian !== undefined && meridian !== 0) return 'does not count longitudes from Greenwich'
  if (projName === 'longlat' && statement.kind !== 'proj' && !/^degree/.test(units ?? 'degree')) {
    return `counts angles in ${units}, not in degrees`
  }
  if (axis.startsWith('w') || axis.startsWith('sw')) return 'has axes that point west and south'
  if (statement.kind === 'epsg') return undefined
  if (statement.kind === 'proj') return projFaultOf(statement.text, system)
  const datum = datumOf(statement)
  if (datum === undefined) return 'does not say its datum'
  if (isSame(datum)) return undefined
  if (isOsgb(statement) && system.datum_params?.length === HELMERT_COUNT) return undefined
  return `has the datum ${datum}, and how far that is from WGS 84 is not known here`
}

function isSecondForm(statement: CrsStatement): boolean {
  if (statement.kind === 'projJson') return true
  return statement.kind === 'wkt' && !/^(PROJCS|GEOGCS)\s*[[(]/i.test(statement.text)
}

/** Parameters of a shift with rotations and a scale. */
const HELMERT_COUNT = 7

/** Those that have been compared with the projections of PROJ; proj4 lists each with its other names. */
const PROJECTIONS: ReadonlySet<string> = new Set([
  'longlat',
  'merc',
  'tmerc',
  'utm',
  'lcc',
  'aea',
  'laea',
  'stere',
  'omerc',
])

function projFaultOf(text: string, { datumCode, ellps }: System): string | undefined {
  const given = (name: string) => new RegExp(`\\+${name}=(\\S+)`).exec(text)?.[1]
  const [grids, datum, shift] = [given('nadgrids'), given('datum'), given('towgs84')]
  if (grids !== undefined && grids !== '@null') return `needs the grid ${grids}, which is not here`
  if (/\+(axis|pm)=/.test(text)) return 'has +axis or +pm, which are not read'
  if (shift !== undefined || (datum !== undefined && PROJ_DATUMS.has(datum.toUpperCase())))
    return undefined
  if (datum !== undefined) return `has the datum ${datum}, which is not supported`
  const isSphere = given('a') !== undefined || given('R') !== undefined
  if (!isSphere && /^(GRS80|WGS84)$/i.test(ellps ?? '') && given('ellps') !== undefined)
    return undefined
  return `does not say its datum (${datumCode ?? 'none'}): add +datum, +towgs84 or +ellps=GRS80`
}

const PROJ_DATUMS: ReadonlySet<string> = new Set(['WGS84', 'NAD83', 'OSGB36'])

function isWebMercator(statement: CrsStatement): boolean {
  if (statement.kind === 'epsg') return WEB_MERCATOR_CODES.has(statement.code)
  const text =
    statement.kind === 'wkt'
      ? statement.text
      : statement.kind === 'projJson'
        ? JSON.stringify(statement.value)
        : ''
  return WEB_MERCATOR_TEXT.test(text)
}

const WEB_MERCATOR_TEXT =
  /Mercator_Auxiliary_Sphere|Popular Visualisation Pseudo.Mercator|Pseudo-Mercator/i

function datumOf(statement: CrsStatement): string | undefined {
  if (statement.kind === 'projJson') return datumIn(statement.value)
  if (statement.kind !== 'wkt') return undefined
  return DATUM_TEXT.exec(statement.text)?.[1]
}

const DATUM_TEXT = /\b(?:DATUM|GEODETICDATUM|TRF|ENSEMBLE)\s*[[(]\s*"([^"]{1,120})"/i

function datumIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { datum, datum_ensemble: ensemble, base_crs: base } = value as Record<string, unknown>
  const { name } = (datum ?? ensemble ?? {}) as { name?: unknown }
  return typeof name === 'string' ? name : datumIn(base)
}

function isOsgb(statement: CrsStatement): boolean {
  if (statement.kind === 'proj') return /\+(datum=OSGB36|towgs84=)/i.test(statement.text)
  return /^(d_)?(osgb_?(19)?36|ordnance_survey_of_great_britain_1936)$/.test(
    plain(datumOf(statement)),
  )
}

/** WGS 84 and those that differ from it by the drift of continents: a metre or two. */
function isSame(datum: string): boolean {
  return SAME_DATUMS.test(plain(datum))
}

const SAME_DATUMS = new RegExp(
  `^(d_)?(${[
    'wgs_?(19)?84.*',
    'world_geodetic_system_1984.*',
    'nad_?(19)?83.*',
    'north_american_(datum_)?(of_)?1983.*',
    'etrs_?(19)?89.*',
    'european_terrestrial_reference_system_1989.*',
    'gda_?(19)?94',
    'gda_?2020',
    'geocentric_datum_of_australia_(1994|2020)',
    'nzgd_?2000',
    'new_zealand_geodetic_datum_2000',
    'sirgas_?2000',
    'sistema_de_referencia_geocentrico_para_las_america?s_2000',
    'jgd_?20(00|11)',
    'japanese_geodetic_datum_20(00|11)',
    'rgf_?(19)?93.*',
    'reseau_geodesique_francais_1993.*',
  ].join('|')})$`,
)

function plain(name: string | undefined): string {
  return (name ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/_$/, '')
}
