/**
 * Values of a topology, of which nothing is known before.
 *
 * @module
 */
import { ServiceError } from '../../errors.js'

export type JsonObject = { readonly [member: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectAt(value: unknown, path: string): JsonObject {
  return isObject(value) ? value : failAt('must be an object', path)
}

export function listAt(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : failAt('must be an array', path)
}

/** Two finite numbers; more may follow. */
export function positionAt(value: unknown, path: string): Pair {
  return pairOf(value) ?? failAt(NO_POSITION, path)
}

/** The same for one of a list, whose path is made only where it is needed. */
export function positionIn(list: readonly unknown[], index: number, path: string): Pair {
  return pairOf(list[index]) ?? failAt(NO_POSITION, `${path}[${index}]`)
}

export type Pair = readonly [x: number, y: number]

const NO_POSITION = 'must be an array that begins with two numbers'

function pairOf(value: unknown): Pair | undefined {
  if (!Array.isArray(value)) return undefined
  const [x, y] = value
  return Number.isFinite(x) && Number.isFinite(y) ? [x, y] : undefined
}

export function failAt(problem: string, path: string): never {
  throw new ServiceError('InvalidTopoJson', `${path} ${problem}`, path)
}
