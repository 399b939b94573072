import t from 'tap'
import { toUnits } from '../../../src/geometry/units.js'
import { limits } from '../../../src/limits.js'
import { type Skeleton, skeletonOfThread } from '../../../src/selection/skeleton/skeleton.js'
import { testSeed } from '../../support/random/properties.js'
import { spelledNumber } from '../../support/random/request-text.js'
import { type Random, seededRandom } from '../../support/random/world.js'
import { byTier } from '../../support/tier.js'

const skeleton = skeletonOfThread() as Skeleton
const read = (text: string) => skeleton.read(Buffer.from(text))

/** The numbers of the first array of a body, which may be in units or as they were sent. */
function numbersOf(name: string, texts: readonly string[]): number[] {
  const positions: string[] = []
  for (let i = 0; i < texts.length; i += 2) positions.push(`[${texts[i]},${texts[i + 1]}]`)
  read(`{"${name}":[${positions.join()}]}`)
  return skeleton.arrayCount === 1 ? [...skeleton.vertices.subarray(0, texts.length)] : []
}

const ROUND_COUNT = byTier({ ci: 100, soak: 10_000 })
/** Texts of one body. */
const TEXT_COUNT = 2_000

const digits = (random: Random, count: number) =>
  Array.from({ length: count }, () => random.between(0, 9)).join('')
const whole = (random: Random) => String(random.between(0, random.pick([9, 89])))
const sign = (random: Random) => random.pick(['', '-'])

const WAYS: readonly ((random: Random) => string)[] = [
  (random) => sign(random) + whole(random),
  (random) => `${sign(random)}${whole(random)}.${digits(random, random.between(1, 7))}`,
  (random) => `${sign(random)}${whole(random)}.${digits(random, random.between(8, 20))}`,
  (random) => `${sign(random)}0.${'0'.repeat(random.between(0, 18))}${digits(random, 3)}`,
  (random) =>
    `${sign(random)}${whole(random)}.${digits(random, 7)}${random.pick(['5', '50', '49999999999', '5000000000001'])}`,
  (random) => String((random.unit() - 0.5) * 178),
  (random) => ((random.unit() - 0.5) * 178).toFixed(random.between(13, 17)),
  (random) => `${sign(random)}${(random.unit() * 89).toPrecision(random.between(16, 21))}`,
  (random) => halfway(random),
  (random) => spelledNumber((random.unit() - 0.5) * 178, random),
]

t.test('numbers are the units, or the doubles, that they are read as otherwise', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < ROUND_COUNT; round++) {
    const write = random.pick(WAYS)
    const texts = Array.from({ length: TEXT_COUNT }, () => write(random))
    const isSame = (found: readonly number[], wanted: (degrees: number) => number) =>
      texts.every((text, i) => Object.is(found[i], wanted(Number(text)))) || first(texts, found)
    t.equal(isSame(numbersOf('coordinates', texts), toUnits), true, `${round} in units`)
    t.equal(
      isSame(numbersOf('points', texts), (degrees) => degrees),
      true,
      `${round} as doubles`,
    )
  }
})

function first(texts: readonly string[], found: readonly number[]): string {
  const at = texts.findIndex(
    (text, i) => found[i] !== Number(text) && found[i] !== toUnits(Number(text)),
  )
  return `${texts[at]} became ${found[at]}`
}

/** The middle between two doubles, to as many digits as it has or fewer. */
function halfway(random: Random): string {
  const power = 2 ** random.between(-3, 6)
  const step = power * 2 ** -52
  const below = power + random.between(0, 2 ** 20) * 2 ** 20 * step
  // Exact: with 54 bits it has one more than a double.
  const exact = (BigInt(below / step) * 2n + 1n) * BigInt(10 ** 18)
  const scaled = exact / BigInt(2 / step)
  const text = String(scaled).padStart(19, '0')
  return `${text.slice(0, -18)}.${text.slice(-18)}`.slice(0, random.between(17, 21))
}

t.test('arrays of positions are taken out, and their places stand for them', async (t) => {
  t.same(read('{"a":{"coordinates": [ [1,2] , [3.5,-4,99] ] },"Rings":[[[5,6]]],"b":"é"}'), {
    a: { coordinates: 0 },
    Rings: 1,
    b: 'é',
  })
  t.equal(skeleton.arrayCount, 2)
  t.same([...skeleton.vertices.subarray(0, 6)], [1e7, 2e7, 3.5e7, -4e7, 5, 6])
  t.same([...skeleton.ringStarts.subarray(0, 3)], [0, 2, 3])
})

t.test('other values stay as they are', async (t) => {
  for (const value of [
    ...[
      '[]',
      '[[]]',
      '[1]',
      '["1",2]',
      '[[1,2],3]',
      '[[1,2],[]]',
      '[1,2,null]',
      '[01,2]',
      '[1.,2]',
    ],
    ...[
      '[91,91]',
      '[1e9,1]',
      '[1,90.00000000000001]',
      '[[[[[1,2]]]]]',
      'null',
      '"x"',
      '{}',
      'true',
    ],
  ]) {
    let parsed: unknown
    try {
      parsed = JSON.parse(`{"coordinates":${value}}`)
    } catch {
      parsed = undefined
    }
    t.same(read(`{"coordinates":${value}}`), parsed, value)
    t.equal(skeleton.arrayCount, 0, value)
  }
})

t.test('no text of a client stands for an array', async (t) => {
  const taken = '"a":{"coordinates":[1,2]}'
  for (const text of [
    `{${taken},"b":{"coordinates":0}}`,
    `{${taken},"b":{"coordinates":-0}}`,
    `{${taken},"b":{"COORDINATES" : 0}}`,
    `{${taken},"b":{"points":0}}`,
    `{${taken},"b":{"coord\\u0069nates":0}}`,
    `{${taken},"b":{"\\u0063oordinates":0}}`,
    '{"a":{"coordinates":[1,2]0}}',
    '{"a":{"coordinates":[1,2] 0}}',
    '{"a":{"coordinates":[1,2].5}}',
    '{"a":{"coordinates":[1,2]e1}}',
    '{"a":["coordinates":[1,2]]}',
    '{"a":{"coordinates":[1,2]',
    '{"a":{"coordinates":[1,2',
  ]) {
    t.equal(read(text), undefined, text)
    t.equal(skeleton.arrayCount, 0, text)
  }
})

t.test('what was there before is never read', async (t) => {
  read(`{"coordinates":[${'1'.repeat(30)},2],"x":"${'"'.repeat(40)}`)
  read(`{"coordinates":[11111111111,22222222222222222222],"${'x'.repeat(100)}":1}`)
  for (const text of ['{"coordinates":[1', '{"coordinates":[1,2', '{"a', '{"a\\', '{"a":"\\', '']) {
    t.equal(read(text), undefined, text)
  }
})

t.test('text that is not UTF-8 is not read', async (t) => {
  for (const byte of [0x80, 0xc0, 0xff]) {
    t.equal(skeleton.read(Buffer.from(`{"a":"\x00${'b'.repeat(20)}"}`).fill(byte, 6, 7)), undefined)
  }
})

t.test('limits hold for what is taken out as well', async (t) => {
  const nested = (depth: number) =>
    `${'{"a":'.repeat(depth)}{"coordinates":[[1,2]]}${'}'.repeat(depth)}`
  t.ok(read(nested(limits.jsonDepthCount - 3)))
  t.equal(read(nested(limits.jsonDepthCount - 2)), undefined)
  const positions = (count: number) => `{"coordinates":[${Array(count).fill('[1,2]').join()}]}`
  t.same(read(positions(limits.vertexCount)), { coordinates: 0 })
  t.equal(
    (read(positions(limits.vertexCount + 1)) as { coordinates: [] }).coordinates.length,
    limits.vertexCount + 1,
  )
  // The brackets and the commas, of which each position has three and one behind it.
  const items = (count: number) =>
    `{"coordinates":[${Array(40_000).fill('[1,2,3]').join()}],"a":[${'0,'.repeat(count)}0]}`
  const rest = limits.jsonItemCount - 4 * 40_000 - 3
  t.ok(read(items(rest)))
  t.equal(read(items(rest + 1)), undefined)
})
