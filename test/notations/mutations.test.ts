import { cellToChildren, latLngToCell } from 'h3-js'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { readBbox } from '../../src/notations/bbox.js'
import type { DrawnGeometry } from '../../src/notations/drawn.js'
import { readGeohash } from '../../src/notations/geohash.js'
import { readH3 } from '../../src/notations/h3.js'
import { readMgrs } from '../../src/notations/mgrs.js'
import { readPolyline } from '../../src/notations/polyline.js'
import { readUtm } from '../../src/notations/utm.js'
import { readWkb } from '../../src/notations/wkb.js'
import { readWkt } from '../../src/notations/wkt.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'

const WKT = [
  'SRID=4326;POLYGON Z ((35 10 1, 45 45 2, 15 40 3, 35 10 1), (20 30 1, 35 35 1, 30 20 1, 20 30 1))',
  'GEOMETRYCOLLECTION (MULTIPOINT ((1 2), EMPTY), MULTILINESTRING ((10 10, -2.5e1 20)), POINT EMPTY)',
  'multipolygon(((30 20, 45 40, 10 40, 30 20)), ((15 5, 40 10, 10 20, 15 5)))',
]
const WKB = [
  '\\x0101000020E610000000000000000000400000000000001040',
  '01060000000100000001030000000100000004000000000000000000000000000000000000000000000000002440000000000000000000000000000024400000000000002440000000000000000000000000000000000',
  '00000000070000000200000003E90000000000000000000000000000000000000000000000000101000000000000000000F87F000000000000F87F',
]
const CELL = latLngToCell(29.76, -95.37, 8)

/** A reader, what it reads, and the characters that may come to stand there. */
const notations: Readonly<
  Record<
    string,
    readonly [(value: unknown, path: string) => DrawnGeometry, readonly string[], string]
  >
> = {
  wkt: [readWkt, WKT, ' \n(),;=.-+0123456789eEPOINTZMnanx\u0000é'],
  wkb: [readWkb, WKB, '0123456789abcdefABCDEF\\x g'],
  bbox: [readBbox, ['170,-20,-170,10', '-95.5, 29, 0, -95, 30, 8'], ' ,.-+0123456789eE()[]'],
  h3: [readH3, [CELL, ...cellToChildren(CELL, 9), '617700169958293503'], '0123456789abcdefxF '],
  geohash: [readGeohash, ['ezs42', '9vk1mfq8cx1e', 'Z'], '0123456789bcdefghjkmnpqrstuvwxyzailo A'],
  polyline: [
    readPolyline,
    ['_p~iF~ps|U_ulLnnqC_mqNvxq`@'],
    '?@_`~abcdefghijklmnopqrstuvwxyzABCD >',
  ],
  mgrs: [readMgrs, ['15R TN 70000 90000', '32VNM0101', '33XVG'], '0123456789 CDEFGHJKLMNPRTXZ'],
  utm: [readUtm, ['15 R 270000 3290000', '56 south 334873.5 6252266'], '0123456789 .,NSREmnorthsu'],
}

for (const [name, [read, originals, characters]] of Object.entries(notations)) {
  t.test(`mutated inputs of ${name} are read or refused`, async (t) => {
    const random = seededRandom(testSeed(t))
    let readCount = 0
    let refusedCount = 0
    for (let round = 0; round < byTier({ ci: 2_000, soak: 10_000 }); round++) {
      const original = random.pick(originals)
      const text = mutated(original, characters, random)
      try {
        const geometry = read(text, name)
        readCount++
        // What is read is numbers, and no more of them than there are characters, but for large squares of a grid.
        const numbers = numbersOf(geometry)
        const isRight = numbers.every(Number.isFinite) && numbers.length <= 4_100 + text.length
        if (!isRight) t.fail(JSON.stringify(text))
      } catch (error) {
        refusedCount++
        const isOurs =
          error instanceof ServiceError &&
          error.status < 500 &&
          error.field === name &&
          error.message.startsWith(name)
        if (!isOurs) t.fail(`${JSON.stringify(text)}: ${error}`)
      }
    }
    t.ok(readCount > 20 && refusedCount > 20, `${readCount} read, ${refusedCount} refused`)
  })
}

/** A few characters changed, left out, put in, exchanged or given twice. */
function mutated(original: string, characters: string, random: Random): string {
  const text = [...original]
  for (let change = random.between(1, 3); change > 0; change--) {
    const at = random.between(0, text.length)
    const character = random.pick([...characters])
    switch (random.between(0, 4)) {
      case 0:
        text[at] = character
        break
      case 1:
        text.splice(at, random.between(1, 4))
        break
      case 2:
        text.splice(at, 0, character)
        break
      case 3:
        text.splice(at, 0, ...text.slice(at, at + random.between(1, 8)))
        break
      default:
        text.splice(at, 2, ...text.slice(at, at + 2).reverse())
    }
  }
  return text.join('')
}

function numbersOf(geometry: DrawnGeometry): number[] {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(numbersOf)
  return (geometry.coordinates as readonly unknown[]).flat(3) as number[]
}
