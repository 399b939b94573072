/**
 * Layers of the gazetteer as collections of features: one feature an area, with how many recipients are inside. An area is
 * counted as a recipient request that names it is, so that clients with the scope `counts` may read it.
 *
 * @module
 */

import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../errors.js'
import type { Feature } from '../../format/geojson.js'
import type { Gazetteer } from '../../gazetteer/gazetteer.js'
import type { LayerAreas } from '../../gazetteer/layer-areas.js'
import type { ManifestLayer } from '../../gazetteer/manifest.js'
import type { Bounds } from '../../geometry/bounds.js'
import { HALF_TURN, POLE_UNITS } from '../../geometry/units.js'
import { limits } from '../../limits.js'
import { type Asker, refuseScope } from '../../selection/access.js'
import {
  type CurrentService,
  type SelectionService,
  selectForCounts,
} from '../../selection/answer.js'
import { drawnRegion, geometryOf } from '../area-features.js'
import {
  type Box,
  boundsOfBox,
  boxOf,
  type FeatureCollectionSource,
  type FeatureCollections,
} from './source.js'

interface AreaCollectionsOptions {
  readonly current: CurrentService
  /** The gazetteer as it is now, if there is one. */
  readonly areas: () => Gazetteer | undefined
}

export function areaCollections({ current, areas }: AreaCollectionsOptions): FeatureCollections {
  const matches = new LRUCache<string, Uint32Array>({
    maxSize: limits.areaMatchesBytes,
    sizeCalculation: ({ byteLength }) => 1_024 + byteLength,
  })

  /** Numbers of the areas that a request is for, by key. */
  async function matching(
    layer: OpenLayer,
    box: Box | undefined,
    asker: Asker,
  ): Promise<Uint32Array> {
    if (box === undefined) return layer.areas.numbers
    const name = `${layer.gazetteer.version} ${layer.facts.layer} ${box}`
    const known = matches.get(name)
    if (known !== undefined) return known
    const found = await areasMeeting(layer.areas, boundsOfBox(box), asker)
    matches.set(name, found)
    return found
  }

  function layersFor({ access }: Asker): readonly ManifestLayer[] {
    return access.allows('counts') ? (areas()?.layers() ?? []) : []
  }

  return {
    count: (asker) => layersFor(asker).length,
    page: (asker, skipCount, takeCount) =>
      layersFor(asker)
        .slice(skipCount, skipCount + takeCount)
        .map(({ layer }) => ({ id: PREFIX + layer })),
    async open(id, asker) {
      const layer = openLayer(areas(), id)
      if (layer === undefined) return undefined
      refuseScope(asker, true)
      // All of a page is of one moment and one version.
      const service = () => ({ ...current.hold(asker), areas: () => layer.gazetteer })
      return {
        ...describe(id, layer),
        async page(box, limit, offset) {
          const numbers = await matching(layer, box, asker)
          const wanted = numbers.subarray(offset, offset + limit)
          const features = await pageOf(layer.areas, wanted, service(), asker)
          return { features, matchedCount: numbers.length }
        },
        async feature(featureId) {
          const number = layer.areas.numberOf(featureId)
          return number === undefined
            ? undefined
            : await featureOf(layer.areas, number, service(), asker)
        },
      }
    },
  }
}

/** The id of a context never begins so. */
const PREFIX = 'areas-'

interface OpenLayer {
  readonly gazetteer: Gazetteer
  readonly facts: ManifestLayer
  readonly areas: LayerAreas
}

function openLayer(gazetteer: Gazetteer | undefined, id: string): OpenLayer | undefined {
  if (gazetteer === undefined || !id.startsWith(PREFIX)) return undefined
  const layer = id.slice(PREFIX.length)
  const facts = gazetteer.layers().find((one) => one.layer === layer)
  const areas = gazetteer.ofLayer(layer)
  return facts && areas && { gazetteer, facts, areas }
}

function describe(
  id: string,
  { facts: { layer, areaCount, source, licence }, areas }: OpenLayer,
): Pick<FeatureCollectionSource, 'id' | 'title' | 'description' | 'extent'> {
  const about = [
    `${areaCount} named areas, with how many recipients or contacts are inside each.`,
    ...(source === undefined ? [] : [`Source: ${source}.`]),
    ...(licence === undefined ? [] : [`Licence: ${licence}.`]),
  ]
  const extent = areaCount === 0 ? undefined : boxOf(onGlobe(areas.bounds))
  return { id, title: layer, description: about.join(' '), extent }
}

function onGlobe({ minLng, minLat, maxLng, maxLat }: Readonly<Bounds>): Bounds {
  return {
    minLng: Math.max(minLng, -HALF_TURN),
    minLat: Math.max(minLat, -POLE_UNITS),
    maxLng: Math.min(maxLng, HALF_TURN),
    maxLat: Math.min(maxLat, POLE_UNITS),
  }
}

async function areasMeeting(
  areas: LayerAreas,
  boxes: readonly Bounds[],
  asker: Asker,
): Promise<Uint32Array> {
  const found: number[] = []
  let turnEndMs = performance.now() + TURN_MS
  for (const number of areas.numbers) {
    if (areas.meets(number, boxes)) found.push(number)
    if (performance.now() < turnEndMs) continue
    await nextTurn(asker)
    turnEndMs = performance.now() + TURN_MS
  }
  return Uint32Array.from(found)
}

/** Other clients get their answers in between. */
const TURN_MS = 10

/** @throws ServiceError  Unavailable, where the client has disconnected or the request has timed out */
async function nextTurn(asker: Asker): Promise<void> {
  await setImmediate()
  if (!asker.gone && performance.now() <= asker.deadlineMs) return
  throw new ServiceError('Unavailable', 'the areas could not be read in time; send it again')
}

/** The first of the areas, as many as there is time and room for, and one at least. */
async function pageOf(
  areas: LayerAreas,
  numbers: Uint32Array,
  service: SelectionService,
  asker: Asker,
): Promise<Feature[]> {
  const { featurePagePositionCount, featurePageMs } = limits
  const endMs = performance.now() + featurePageMs
  const features: Feature[] = []
  let positionCount = 0
  for (let at = 0; at < numbers.length; ) {
    const batch: number[] = []
    for (const number of numbers.subarray(at, at + limits.featuresCountedCount)) {
      positionCount += areas.polygons(number).vertices.length / 2
      const isFirst = features.length + batch.length === 0
      if (positionCount > featurePagePositionCount && !isFirst) break
      batch.push(number)
    }
    if (batch.length === 0) break
    features.push(
      ...(await Promise.all(batch.map((number) => featureOf(areas, number, service, asker)))),
    )
    at += batch.length
    if (performance.now() > endMs || positionCount > featurePagePositionCount) break
    await nextTurn(asker)
  }
  return features
}

async function featureOf(
  areas: LayerAreas,
  number: number,
  service: SelectionService,
  asker: Asker,
): Promise<Feature> {
  const { id, layer, key, name, aliases } = areas.area(number)
  const geometry = geometryOf(drawnRegion(areas.polygons(number)))
  const request = { countsOnly: true, areas: [id] }
  const { selections } = await selectForCounts(service, request, Object.keys(request), asker)
  const contacts = selections.map(({ source, count }) => ({ Label: source.label, Count: count }))
  const properties = {
    Id: id,
    Layer: layer,
    Key: key,
    Name: name,
    Aliases: aliases,
    Contacts: contacts,
    ContactTotalCount: contacts.reduce((sum, { Count }) => sum + Count, 0),
  }
  return { id, geometry, properties }
}
