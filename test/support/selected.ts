/**
 * Which places a geometry selects, by the reader of requests and the search of a shard.
 *
 * @module
 */
import { validate } from '../../src/selection/validate.js'
import { attachShard, type Shard } from '../../src/shard/layout.js'
import { selectInside } from '../../src/shard/select.js'
import { columnsOf } from './data/columns.js'
import { shardsOf } from './service/local-service.js'

/** Longitude and latitude in units of 1e-7 degree. */
export type Place = readonly [lng: number, lat: number]

/**
 * @param geometry  GeoJSON
 * @param properties  of its feature, such as a radius
 * @returns for each place, whether it is selected
 */
export function selectedBy(
  geometry: unknown,
  places: readonly Place[],
  properties: object = {},
): boolean[] {
  const { shapes } = validate({ geoJSON: { type: 'Feature', geometry, properties } })
  const shard = shards.get(places) ?? shardOf(places)
  shards.set(places, shard)
  const [runs] = selectInside([shard], shapes, { edgeTestCount: 1e9 })
  const selected: boolean[] = places.map(() => false)
  for (let i = 0; i < runs.length; i += 2) {
    for (let index = runs[i]; index < runs[i + 1]; index++) {
      const [start, end] = shard.phoneOffsets.subarray(index, index + 2)
      const phone = Buffer.from(shard.phones.subarray(start, end)).toString()
      selected[Number(phone.slice('+999'.length))] = true
    }
  }
  return selected
}

/** Many geometries may be asked about the same places. */
const shards = new WeakMap<readonly Place[], Shard>()

function shardOf(places: readonly Place[]): Shard {
  const recipients = places.map(([lng, lat], row) => ({
    phone: `+999${row}`,
    lng,
    lat,
    contact: '',
  }))
  return attachShard(shardsOf(columnsOf(recipients), 1, places.length)[0])
}
