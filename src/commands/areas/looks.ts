/**
 * `hickory areas list` and `hickory areas show`: what the gazetteer has.
 *
 * @module
 */

import type { Command } from 'commander'
import { OperatorError, ServiceError } from '../../errors.js'
import { globeBoxOf } from '../../gazetteer/area-bounds.js'
import { readCurrentAreas } from '../../gazetteer/directory.js'
import type { FoundArea } from '../../gazetteer/found-area.js'
import { type Gazetteer, openVersion } from '../../gazetteer/gazetteer.js'
import { createdTime } from '../../gazetteer/manifest.js'
import { verifyVersion } from '../../gazetteer/verify.js'
import { clippedToGlobe } from '../../geometry/polygon/clip-to-globe.js'
import { type Polygons, ringsOf } from '../../geometry/polygon/polygons.js'
import { withShortEdges } from '../../geometry/polygon/short-edges.js'
import { UNITS_PER_DEGREE } from '../../geometry/units.js'
import { limits } from '../../limits.js'
import { assertOwnId } from '../../store/check.js'
import type { CommandContext } from '../context.js'
import { print } from '../output.js'
import { DATA_OPTION, type DataFlag, existingData } from './data-option.js'
import { printWritten } from './written.js'

type Area = NonNullable<ReturnType<Gazetteer['find']>>

interface LookFlags extends DataFlag {
  readonly json?: true
  readonly geojson?: true
}

export function addLooks(command: Command, context: CommandContext): void {
  command
    .command('list')
    .description('show the layers, with their counts and where they come from')
    .option('--json', 'print one JSON document')
    .option(...DATA_OPTION)
    .action((flags: LookFlags) => list(existingData(context, flags), flags.json === true))
  command
    .command('show')
    .description('show an area')
    .argument('<NAME>', 'layer:key, or an alias, such as SAME:048201')
    .option('--geojson', 'print its polygons as a feature of GeoJSON')
    .option(...DATA_OPTION)
    .action((name: string, flags: LookFlags) =>
      show(existingData(context, flags), name, flags.geojson === true),
    )
}

/** The file of the version is verified, so that damage is told here before a service meets it. */
async function list(dataDirectory: string, isJson: boolean): Promise<void> {
  await assertOwnId(dataDirectory)
  const version = readCurrentAreas(dataDirectory)
  if (version === undefined) {
    print(isJson ? JSON.stringify({ layers: [] }) : NONE)
    return
  }
  const { layers } = await verifyVersion(dataDirectory, version)
  if (isJson) {
    const createdAt = createdTime(dataDirectory, version)
    print(JSON.stringify({ version, createdAt, layers }))
    return
  }
  printWritten({ version, layers })
  for (const { layer, source, licence } of layers) {
    if (source !== undefined) print(`source     ${layer}: ${source}`)
    if (licence !== undefined) print(`licence    ${layer}: ${licence}`)
  }
}

const NONE =
  'there is no layer yet; `hickory areas import` makes one, and the first start of a service the default'

async function show(dataDirectory: string, name: string, isGeoJson: boolean): Promise<void> {
  await assertOwnId(dataDirectory)
  const version = readCurrentAreas(dataDirectory)
  if (version === undefined) throw new OperatorError('Usage', NONE)
  const gazetteer = openVersion(dataDirectory, version)
  try {
    const area = areaOf(gazetteer, name)
    if (isGeoJson) print(JSON.stringify(featureOf(area)))
    else printArea(area)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new OperatorError('SnapshotCorrupt', `${name}: ${error.message}`, { cause: error })
  } finally {
    await gazetteer.close()
  }
}

function areaOf(gazetteer: Gazetteer, name: string): Area {
  const area = gazetteer.find(name)
  if (area !== undefined) return area
  const ids = gazetteer.nearest(name)
  const near =
    ids.length > 0 ? ids.flatMap((id) => gazetteer.find(id) ?? []) : called(gazetteer, name)
  const layers = gazetteer.layers().map(({ layer }) => layer)
  const advice =
    near.length === 0
      ? '. A name is a layer and a key, such as counties:48201.'
      : `; is it ${near.map(({ id, name }) => `${id} (${name})`).join(' or ')}?`
  throw new OperatorError(
    'Usage',
    `no area is called ${name}${advice} The layers are ${layers.join(', ')}`,
  )
}

/** Areas whose names have a text in them, or else its first words: Harris County is Harris, TX. */
function called(gazetteer: Gazetteer, text: string): readonly FoundArea[] {
  const words = text.split(/\s+/).filter((word) => word !== '')
  for (let count = words.length; count > 0; count--) {
    const q = words.slice(0, count).join(' ')
    const { areas } = gazetteer.search({ q, limit: limits.areasNearCount })
    if (areas.length > 0) return areas
  }
  return []
}

function printArea({ id, name, aliases, polygons }: Area): void {
  const bounds = globeBoxOf(polygons).map((units) => units / UNITS_PER_DEGREE)
  print(`area       ${id}`)
  print(`name       ${name}`)
  if (aliases.length > 0) print(`aliases    ${aliases.join(', ')}`)
  print(`bounds     ${bounds.join(',')}`)
  const [polygonCount, ringCount] = [
    polygons.polygonStarts.length - 1,
    polygons.ringStarts.length - 1,
  ]
  print(
    `shape      ${polygonCount} polygons, ${ringCount} rings, ${polygons.vertices.length / 2} vertices`,
  )
}

function featureOf({ id, name, aliases, polygons }: Area): object {
  return {
    type: 'Feature',
    id,
    properties: { name, aliases },
    geometry: { type: 'MultiPolygon', coordinates: coordinatesOf(polygons) },
  }
}

/** What goes over the antimeridian is kept once for each side, and is cut there as RFC 7946 asks. */
function coordinatesOf(areaPolygons: Polygons): number[][][][] {
  const polygons: number[][][][] = []
  for (let polygon = 0; polygon + 1 < areaPolygons.polygonStarts.length; polygon++) {
    const rings: number[][][] = []
    for (const ring of ringsOf(areaPolygons, polygon)) {
      const clipped = clippedToGlobe(ring)
      const positions = positionsOf(withShortEdges(clipped))
      // The copy on the other side of the antimeridian may do no more than touch that.
      const isWide = clipped.some((value, at) => at % 2 === 0 && value !== clipped[0])
      if (isWide && positions.length >= 3) rings.push([...positions, positions[0]])
      else if (rings.length === 0) break
    }
    if (rings.length > 0) polygons.push(rings)
  }
  return polygons
}

function positionsOf(units: readonly number[]): number[][] {
  const positions: number[][] = []
  for (let at = 0; at < units.length; at += 2) {
    positions.push([units[at] / UNITS_PER_DEGREE, units[at + 1] / UNITS_PER_DEGREE])
  }
  return positions
}
