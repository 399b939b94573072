/**
 * The boundary of a key: polygons, read by the same code as the shapes of requests.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { layerSize } from '../geometry/layer-parts.js'
import { validate } from '../selection/validate.js'

/**
 * What is wrong with the boundary of a key; undefined where it can be applied. Nothing in it is passed
 * over: somebody drew it to keep people out.
 *
 * @param boundary  as GeoJSON or in the notation of Esri
 */
export function boundaryFault(boundary: object): string | undefined {
  try {
    const { shapes, sourceReferences, remarks } = validate({ geoJSON: boundary })
    const { included, excluded, nearest } = shapes
    const isSpecial = excluded.length > 0 || nearest.length > 0 || sourceReferences.length > 0
    if (isSpecial) return `${PLAIN}: exclude, nearest and sources mean nothing here`
    const [warning] = remarks.warnings ?? []
    const hasReach = included.some(({ reaches }) => reaches.radiiMetres.length > 0)
    if (
      hasReach ||
      warning?.Code === 'PointWithoutRadius' ||
      warning?.Code === 'LineWithoutBuffer'
    ) {
      return `${PLAIN}: points, lines, radius and buffer mean nothing here`
    }
    if (included.every((layer) => layerSize(layer) === 0)) return 'it has no polygon'
    return warning && named(`${warning.Path ?? 'geoJSON'} ${warning.Message}`)
  } catch (fault) {
    if (fault instanceof ServiceError) return named(fault.message)
    throw fault
  }
}

/** The member of requests that is read has no name here. */
function named(message: string): string {
  return message.replaceAll('geoJSON.', '').replaceAll('geoJSON', 'it')
}

const PLAIN = 'it must have polygons alone'
