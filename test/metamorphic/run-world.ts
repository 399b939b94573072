/**
 * One world of the metamorphic suite: random shapes, recipients for them, and every transformation
 * of each shape.
 *
 * @module
 */
import { seededRandom } from '../support/random/world.js'
import { type Asked, askedOf } from './ask.js'
import { askItself, askTransformed, type Difference, type Question, smallest } from './compare.js'
import { isReadable, randomShape } from './generate.js'
import { placesOn, randomPlaces, shardsAt } from './recipients.js'
import type { Shape, Vertex } from './shape.js'
import { type TransformationName, transformationNames } from './transformations/transformations.js'

export interface Total {
  askedCount: number
  refusedCount: number
  differentCount: number
  /** With differences that the transformation passes over. */
  passedOverCount: number
}

export type Totals = Record<Question, Total>

export interface Finding extends Difference {
  readonly question: Question
  readonly world: number
}

export const SHAPES_PER_WORLD = 60

export function noTotals(): Totals {
  const questions: readonly Question[] = ['itself', ...transformationNames]
  const none = { askedCount: 0, refusedCount: 0, differentCount: 0, passedOverCount: 0 }
  return Object.fromEntries(questions.map((question) => [question, { ...none }])) as Totals
}

/** @returns what differs, of each question the first difference made as small as it gets */
export function runWorld(seed: number, world: number, totals: Totals): Finding[] {
  // Worlds that follow one another have nothing in common.
  const random = seededRandom((Math.imul(seed, 0x9e3779b1) ^ Math.imul(world, 0x85ebca6b)) >>> 0)
  const places = randomPlaces(random)
  const around = places.map(([lng, lat]): Vertex => [lng / 1e7, lat / 1e7])
  const shapes = Array.from({ length: SHAPES_PER_WORLD }, () => randomShape(around, random))
  const onShapes = shapes.flatMap((shape) => placesOn(shape, random))
  const asked = askedOf(shardsAt([...places, ...onShapes], random))
  const findings = new Map<Question, Finding>()
  for (const shape of shapes) {
    const ownSeed = random.between(0, 2 ** 31)
    for (const [question, difference] of differencesOf(asked, shape, ownSeed, totals)) {
      if (findings.has(question)) continue
      const least = shrunk(asked, shape, question, ownSeed) ?? difference
      findings.set(question, { question, world, ...least })
    }
  }
  return [...findings.values()]
}

function differencesOf(
  asked: Asked,
  shape: Shape,
  seed: number,
  totals: Totals,
): [Question, Difference][] {
  const base = askItself(asked, shape)
  totals.itself.askedCount++
  if ('found' in base) {
    count(totals.itself, base)
    // A shape that is answered wrongly says nothing about another; one that is refused, nothing.
    return [['itself', base]]
  }
  const differences: [Question, Difference][] = []
  for (const name of transformationNames) {
    const outcome = askTransformed(asked, base, name, seed)
    if (outcome === 'skipped') continue
    totals[name].askedCount++
    if (outcome === 'passedOver') totals[name].passedOverCount++
    if (typeof outcome === 'string') continue
    count(totals[name], outcome)
    differences.push([name, outcome])
  }
  return differences
}

function count(total: Total, { found }: Difference): void {
  if (typeof found === 'string') total.refusedCount++
  else total.differentCount++
}

function shrunk(
  asked: Asked,
  shape: Shape,
  question: Question,
  seed: number,
): Difference | undefined {
  let least: Difference | undefined
  smallest(shape, (candidate) => {
    const difference = differenceOf(asked, candidate, question, seed)
    least = difference ?? least
    return difference !== undefined
  })
  return least
}

function differenceOf(
  asked: Asked,
  shape: Shape,
  question: Question,
  seed: number,
): Difference | undefined {
  if (!isReadable(shape)) return undefined
  const base = askItself(asked, shape)
  if (question === 'itself') return 'found' in base ? base : undefined
  if ('found' in base) return undefined
  const outcome = askTransformed(asked, base, question satisfies TransformationName, seed)
  return typeof outcome === 'string' ? undefined : outcome
}
