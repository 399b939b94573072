/**
 * Warms new workers. Their first requests take far longer than later ones, so the service asks these
 * itself and not a client.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { type ByteSink, isWhole, writeBody } from '../format/answer.js'
import { UNITS_PER_DEGREE } from '../geometry/units.js'
import { limits } from '../limits.js'
import { askerUntil, OPEN_ACCESS } from '../selection/access.js'
import { answer, type SelectionService } from '../selection/answer.js'
import { NO_BOUNDARY } from '../selection/boundary.js'
import { type CatalogueShard, isFilled } from '../selection/catalogue.js'

/** @throws ServiceError  when a request is not answered */
export async function warm(warmed: SelectionService): Promise<void> {
  // Where there must be a boundary, there may be none yet. A machine of a cluster may not be level yet.
  const service = { ...warmed, boundaryRule: NO_BOUNDARY, freshness: undefined }
  const { catalogue, queryThreadCount } = service
  const shards = catalogue.shards.filter(isFilled)
  if (shards.length === 0) return
  const drawn = shards.map((shard) => ({ type: 'Polygon', coordinates: triangleIn(shard) }))
  // So many at once that each worker gets some.
  const requestCount = Math.max(drawn.length, queryThreadCount * limits.queriesPerTaskCount)
  for (let round = 0; round < ROUND_COUNT; round++) {
    const requests = Array.from({ length: requestCount }, async (_, i) => {
      const geoJSON = drawn[i % drawn.length]
      await answer(service, { countsOnly: true, geoJSON }, inTime())
      if (i >= LIST_COUNT * queryThreadCount) return
      const list = await answer(service, { geoJSON }, inTime())
      const body = list.json()
      if (!isWhole(body)) await body.byteCount?.()
      await writeBody(body, impatientSink())
    })
    await Promise.all(requests.map((request) => request.catch(unlessFull)))
  }
}

/**
 * Finds the mask that every request will need, if there is one, so that the first need not wait for it.
 *
 * @returns why it was not found, if so; requests then look for it themselves, and are refused without it
 */
export async function findMask({
  boundaryRule,
  masks,
}: SelectionService): Promise<string | undefined> {
  try {
    const boundary = boundaryRule.for(undefined, OPEN_ACCESS)
    if (boundary !== undefined) await masks.of(boundary, inTime())
    return undefined
  } catch (fault) {
    if (!(fault instanceof ServiceError)) throw fault
    return fault.message
  }
}

/** Workers that have as much to do as may wait are warmed by that. */
function unlessFull(fault: unknown): void {
  if (!(fault instanceof ServiceError && fault.code === 'Overloaded')) throw fault
}

const ROUND_COUNT = 5
/** In each round, for each worker. */
const LIST_COUNT = 2
/** Pieces of a list, which may be long. */
const PIECE_COUNT = 4

/** Takes the first pieces and goes. */
function impatientSink(): ByteSink {
  let pieceCount = 0
  return {
    get gone() {
      return pieceCount >= PIECE_COUNT
    },
    write: () => ++pieceCount < PIECE_COUNT,
    drained: async () => {},
  }
}

const inTime = () => askerUntil(performance.now() + limits.workerStartMs)

/** Across the middle of a shard, small enough for its edges to have one meaning. */
function triangleIn({ box }: CatalogueShard): number[][][] {
  const { minLng, minLat, maxLng, maxLat } = box
  const lng = (minLng + maxLng) / 2 / UNITS_PER_DEGREE
  const width = Math.max(LEAST_DEGREES, (maxLng - minLng) / 4 / UNITS_PER_DEGREE)
  const height = Math.max(LEAST_DEGREES, (maxLat - minLat) / 4 / UNITS_PER_DEGREE)
  const latMax = 90 - height / 2
  const lat = Math.max(-latMax, Math.min(latMax, (minLat + maxLat) / 2 / UNITS_PER_DEGREE))
  const ring = [
    [lng - width / 2, lat - height / 2],
    [lng + width / 2, lat - height / 2],
    [lng, lat + height / 2],
  ]
  return [[...ring, ring[0]]]
}

const LEAST_DEGREES = 0.001
