/**
 * Areas of KML and KMZ: the placemarks, with their names, ids and data. KML is always in WGS 84, longitude
 * before latitude.
 *
 * @module
 */
import { limits } from '../../limits.js'
import { kmlFeatures } from '../../notations/kml/read-kml.js'
import { unpackKmz } from '../../notations/kmz.js'
import { type AreaFile, fileOf, refusing } from './area-file.js'
import { readWhole } from './whole-file.js'

/** @param isArchive  KMZ, with KML in it */
export async function openKml(path: string, file: string, isArchive: boolean): Promise<AreaFile> {
  const whole = await readWhole(path, file, 'KML', limits.areaTextBytes)
  return await refusing(async () => {
    const bytes = isArchive ? await unpackKmz(whole, file, limits.areaTextBytes) : whole
    const features = kmlFeatures(bytes, file, {
      positionCount: limits.areaPositionCount,
      elementCount: limits.areaElementCount,
      attributeCount: limits.areaElementCount,
    })
    return fileOf(features, { kind: 'wgs84' })
  })
}
