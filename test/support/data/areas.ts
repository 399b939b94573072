/**
 * Gazetteers of a few areas.
 *
 * @module
 */
import type { Test } from 'tap'
import { type Gazetteer, openGazetteer } from '../../../src/gazetteer/gazetteer.js'
import {
  type DraftArea,
  type DraftLayer,
  writeLayers,
} from '../../../src/gazetteer/write-layers.js'

/** A square of degrees with its south-western corner at a place. */
export function squareArea(key: string, lng: number, lat: number, more: Partial<DraftArea> = {}) {
  const ring = [
    [lng, lat],
    [lng + 1, lat],
    [lng + 1, lat + 1],
    [lng, lat + 1],
    [lng, lat],
  ]
  const geometry = { type: 'Polygon', coordinates: [ring] }
  return { key, name: `Square ${key}`, aliases: [], geometry, ...more }
}

export const layerOf = (layer: string, ...areas: readonly DraftArea[]): DraftLayer => ({
  layer,
  areas,
})

/** Writes layers, and opens what has come of it. */
export async function writtenGazetteer(
  t: Pick<Test, 'teardown'>,
  dataDirectory: string,
  ...set: readonly DraftLayer[]
): Promise<Gazetteer> {
  await writeLayers(dataDirectory, { set })
  const gazetteer = openGazetteer(dataDirectory)
  if (gazetteer === undefined) throw new Error('nothing was written')
  t.teardown(() => gazetteer.close())
  return gazetteer
}
