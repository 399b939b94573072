/**
 * What a version of the gazetteer has, for who changed it.
 *
 * @module
 */
import type { WrittenLayers } from '../../gazetteer/write-layers.js'
import { print } from '../output.js'

export function printWritten({ version, layers }: WrittenLayers): void {
  print(`version    ${version}`)
  for (const { layer, areaCount, vertexCount, aliasCount } of layers) {
    print(`layer      ${layer}: ${areaCount} areas, ${vertexCount} vertices, ${aliasCount} aliases`)
  }
}
