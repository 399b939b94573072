/**
 * Holds the selections of a shape and of its transformations against each other.
 *
 * @module
 */
import { type Random, seededRandom } from '../support/random/world.js'
import { type Asked, ask } from './ask.js'
import { type PlacedParts, placedParts, wronglyAnswered } from './bound.js'
import { isPassedOver, type Leeway } from './leeway.js'
import { asGeoJson, type JsonObject, type Shape } from './shape.js'
import { type TransformationName, transformations } from './transformations/transformations.js'

/** What was asked: the shape itself, or a transformation of it. */
export type Question = 'itself' | TransformationName

export interface Difference {
  readonly shape: JsonObject
  readonly transformed: JsonObject | undefined
  /** The code of a refusal, or a recipient in degrees of whom the answers differ. */
  readonly found: string | readonly [lng: number, lat: number]
  /** Recipients of whom the answers differ; none where it was refused. */
  readonly recipientCount: number
}

export interface Answered {
  readonly shape: Shape
  readonly parts: PlacedParts
  readonly selected: Uint8Array
}

/** Asks for the shape itself; a difference if the answer is not what was drawn. */
export function askItself(asked: Asked, shape: Shape): Answered | Difference {
  const geoJSON = asGeoJson(shape)
  const selected = ask(asked, geoJSON)
  const differs = { shape: geoJSON, transformed: undefined }
  if (typeof selected === 'string') return { ...differs, found: selected, recipientCount: 0 }
  const parts = placedParts(shape)
  const wrong = wronglyAnswered(shape, parts, asked, selected)
  if (wrong.length === 0) return { shape, parts, selected }
  return { ...differs, found: positionOf(asked, wrong[0]), recipientCount: wrong.length }
}

export type Outcome = 'same' | 'skipped' | 'passedOver' | Difference

/** Asks for a transformation, whose random numbers are those of the seed. */
export function askTransformed(
  asked: Asked,
  base: Answered,
  name: TransformationName,
  seed: number,
): Outcome {
  const random: Random = seededRandom(seed)
  const pair = transformations[name](base.shape, random)
  if (pair === undefined) return 'skipped'
  const selected = ask(asked, pair.geoJSON)
  const differs = { shape: asGeoJson(base.shape), transformed: pair.geoJSON }
  if (typeof selected === 'string') return { ...differs, found: selected, recipientCount: 0 }
  if (Buffer.compare(selected, base.selected) === 0) return 'same'
  const different = differing(selected, base.selected)
  const isAllowed =
    base.shape.metres === undefined
      ? isBesideEdges(asked, base, pair.leeway)
      : isAtLimit(asked, base, pair.leeway)
  const wrong = different.filter((i) => !isAllowed(i))
  if (wrong.length === 0) return 'passedOver'
  return { ...differs, found: positionOf(asked, wrong[0]), recipientCount: wrong.length }
}

/** A shape of fewer vertices that shows a difference, too. */
export function smallest(shape: Shape, isShown: (shape: Shape) => boolean): Shape {
  let least = shape
  for (let tries = 0; tries < TRIES_MAX; ) {
    const smaller = fewer(least).find((candidate) => {
      tries++
      return tries <= TRIES_MAX && isShown(candidate)
    })
    if (smaller === undefined) return least
    least = smaller
  }
  return least
}

const TRIES_MAX = 300

function fewer(shape: Shape): Shape[] {
  const { parts } = shape
  const without = <T>(list: readonly T[], at: number) => list.filter((_, i) => i !== at)
  const candidates = parts.length > 1 ? parts.map((_, at) => without(parts, at)) : []
  parts.forEach((part, p) => {
    part.forEach((path, at) => {
      if (part.length > 1) candidates.push(parts.with(p, without(part, at)))
      path.forEach((_, vertex) => {
        candidates.push(parts.with(p, part.with(at, without(path, vertex))))
      })
    })
  })
  return candidates.map((each) => ({ ...shape, parts: each }))
}

function differing(a: Uint8Array, b: Uint8Array): number[] {
  return [...a.keys()].filter((i) => a[i] !== b[i])
}

function isBesideEdges({ lngs, lats }: Asked, { parts }: Answered, leeway: Leeway) {
  const paths = parts.flat()
  return (i: number) => isPassedOver(paths, lngs[i], lats[i], leeway)
}

/** Whether a limit a little wider or narrower would have made the difference. */
function isAtLimit(asked: Asked, { shape, selected }: Answered, { metres: slack }: Leeway) {
  const { metres = 0, kind } = shape
  // A margin follows its edges to within a centimetre.
  const doubt = slack + (kind === 'polygons' ? 0.02 : 0)
  const [narrow, wide] = [metres - doubt, metres + doubt].map((limit) =>
    ask(asked, asGeoJson({ ...shape, metres: limit })),
  )
  return (i: number) => (selected[i] === 1 ? narrow[i] !== 1 : wide[i] === 1)
}

function positionOf({ lngs, lats }: Asked, i: number): readonly [number, number] {
  return [lngs[i] / 1e7, lats[i] / 1e7]
}
