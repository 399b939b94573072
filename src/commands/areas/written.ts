/**
 * A new version of the gazetteer: written, and told to who changed it.
 *
 * @module
 */
import { type LayerChange, type WrittenLayers, writeLayers } from '../../gazetteer/write-layers.js'
import { endOnSignal } from '../import/end-on-signal.js'
import { print } from '../output.js'

/** A signal ends the process, and leaves the gazetteer as it was. */
export async function writeOrEnd(
  dataDirectory: string,
  change: LayerChange,
): Promise<WrittenLayers> {
  const signals = endOnSignal('the areas are as they were', 'gazetteer')
  try {
    return await writeLayers(dataDirectory, { ...change, onCommit: signals.hold })
  } finally {
    signals.forget()
  }
}

export function printWritten({ version, layers }: WrittenLayers): void {
  print(`version    ${version}`)
  for (const { layer, areaCount, vertexCount, aliasCount } of layers) {
    print(`layer      ${layer}: ${areaCount} areas, ${vertexCount} vertices, ${aliasCount} aliases`)
  }
}
