/**
 * Map contexts as collections of features: one feature an area, with how many recipients are inside. What is drawn of an area
 * is kept for as long as its context stays as it is; counts are those of the context itself.
 *
 * @module
 */

import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../errors.js'
import { isWhole } from '../../format/answer.js'
import type { Feature } from '../../format/geojson.js'
import { type Bounds, boundsOf } from '../../geometry/bounds.js'
import { boxMeets } from '../../geometry/polygon/box-meets.js'
import type { MapContext } from '../../interface/context.js'
import { limits } from '../../limits.js'
import type { Region } from '../../outline/clipper.js'
import { parseGuid, shapeOf } from '../../store/documents.js'
import type { Store } from '../../store/store.js'
import { areaRegion, geometryOf } from '../area-features.js'
import type { ReadContext } from '../contexts.js'
import { type Box, boundsOfBox, boxOf, type FeatureCollections } from './source.js'

export function contextCollections(store: Store, read: ReadContext): FeatureCollections {
  const kept = new LRUCache<string, DrawnContext>({
    maxSize: limits.drawnContextsBytes,
    sizeCalculation: ({ byteCount }) => byteCount,
  })

  /** Undefined if it was deleted. */
  async function drawn(id: string): Promise<DrawnContext | undefined> {
    const stored = store.context(id)
    if (stored === undefined) return undefined
    const name = `${id} ${stored.version}`
    const known = kept.get(name)
    if (known !== undefined) return known
    const context = JSON.parse(Buffer.from(stored.json).toString()) as MapContext
    const made = await draw(context, stored.json.byteLength)
    kept.set(name, made)
    return made
  }

  return {
    count: () => store.page(0, 0).totalCount,
    page: (_asker, skipCount, takeCount) =>
      store.page(skipCount, takeCount).summaries.map(({ Id = '' }) => ({ id: Id })),
    async open(text, asker) {
      const id = parseGuid(text)
      const found = id === undefined ? undefined : await drawn(id)
      if (id === undefined || found === undefined) return undefined
      const { title, extent } = found
      /** Drawn and counted in one version: the order of areas may change while they are counted. */
      const features = async () => {
        for (let attempt = 0; attempt < limits.countedContextAttemptCount; attempt++) {
          const version = store.contextVersion(id)
          const now = (await drawn(id)) ?? found
          const answer = await read(id, asker)
          if (store.contextVersion(id) !== version) continue
          const json = answer.json()
          const text = isWhole(json) ? Buffer.from(json).toString() : '{}'
          const { Areas = [] } = JSON.parse(text) as MapContext
          return now.areas.map((area, at) => ({ ...area, feature: featureOf(area, Areas[at]) }))
        }
        throw new ServiceError('Unavailable', 'the context changes faster than it is counted')
      }
      return {
        id,
        title,
        description:
          'Areas of a map context, with how many recipients or contacts are inside each.',
        extent,
        async page(box, limit, offset) {
          const all = await features()
          const boxes = box && boundsOfBox(box)
          const matching =
            boxes === undefined ? all : all.filter(({ region }) => meetsAny(region, boxes))
          return {
            features: matching.slice(offset, offset + limit).map(({ feature }) => feature),
            matchedCount: matching.length,
          }
        },
        async feature(featureId) {
          return (await features()).find(({ id: each }) => each === featureId)?.feature
        },
      }
    },
  }
}

interface DrawnArea {
  readonly id: string
  /** In units, on the globe; without polygons where it is nowhere. */
  readonly region: Region
  readonly geometry: object | null
}

interface DrawnContext {
  readonly title: string
  readonly extent: Box | undefined
  readonly areas: readonly DrawnArea[]
  readonly byteCount: number
}

async function draw(
  { Id = '', ContextName, Areas = [] }: MapContext,
  jsonBytes: number,
): Promise<DrawnContext> {
  const areas: DrawnArea[] = []
  for (const [at, area] of Areas.entries()) {
    // A stored area has a unique one.
    const id = area.Id ?? String(at)
    const shape = shapeOf(area)
    const region = shape === undefined ? [] : areaRegion(shape)
    areas.push({ id, region, geometry: geometryOf(region) })
    // Rings may take long to compare; other clients get their answers in between.
    await setImmediate()
  }
  const extent = areas
    .flatMap(({ region }) => region.flat().map(boundsOf))
    .reduce(around, undefined)
  return {
    title: ContextName || Id,
    extent: extent && boxOf(extent),
    areas,
    byteCount: 1 + GROWTH * jsonBytes,
  }
}

/** A drawn context takes so much more memory than a stored one. */
const GROWTH = 4

function around(box: Bounds | undefined, other: Bounds): Bounds {
  if (box === undefined) return other
  return {
    minLng: Math.min(box.minLng, other.minLng),
    minLat: Math.min(box.minLat, other.minLat),
    maxLng: Math.max(box.maxLng, other.maxLng),
    maxLat: Math.max(box.maxLat, other.maxLat),
  }
}

function featureOf(
  { id, geometry }: DrawnArea,
  area: NonNullable<MapContext['Areas']>[number] | undefined,
): Feature {
  const { Geometry: _, Drawing: __, ...properties } = area ?? {}
  return { id, geometry, properties }
}

/** A feature without a geometry is in every box (OGC 17-069r4, 7.15.3). */
function meetsAny(region: Region, boxes: readonly Bounds[]): boolean {
  if (region.length === 0) return true
  return boxes.some((box) => region.some((rings) => boxMeets(rings, box)))
}
