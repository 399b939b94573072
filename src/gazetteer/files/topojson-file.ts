/**
 * Areas of TopoJSON: the features of one of its objects.
 *
 * @module
 */
import { limits } from '../../limits.js'
import { topoJsonFeatures } from '../../notations/topojson/read-topojson.js'
import {
  type AreaFile,
  type AreaFileOptions,
  chosenOf,
  fileOf,
  refuse,
  refusing,
} from './area-file.js'
import { crsOfMember } from './geojson-file.js'
import { readWhole } from './whole-file.js'

export async function openTopoJson(
  path: string,
  file: string,
  { table }: AreaFileOptions,
): Promise<AreaFile> {
  const bytes = await readWhole(path, file, 'TopoJSON', limits.areaTextBytes)
  let topology: { readonly objects?: unknown; readonly crs?: unknown } | null
  try {
    topology = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return refuse(file, 'it is not JSON in UTF-8, or it is cut off')
  }
  const objects = topology?.objects
  if (typeof objects !== 'object' || objects === null)
    return refuse(file, 'it has no objects of TopoJSON')
  const chosen = chosenOf(file, Object.keys(objects), table, ['object', 'objects'])
  return await refusing(async () => {
    const features = topoJsonFeatures(topology, file, chosen, limits.areaPositionCount)
    return fileOf(features, crsOfMember(topology?.crs, file))
  })
}
