/**
 * The arcs of a topology, checked: where each begins and ends, in whole steps if it is quantized.
 *
 * @module
 */
import { failAt, listAt, type Pair, positionIn } from './values.js'

export type Arcs = readonly Arc[]

interface Arc {
  readonly first: Pair
  readonly last: Pair
  readonly positionCount: number
}

/**
 * @param isQuantized  whether each position is whole steps from the one before
 * @throws ServiceError  InvalidTopoJson
 */
export function checkArcs(value: unknown, path: string, isQuantized: boolean): Arcs {
  return listAt(value, path).map((arc, index) => {
    const at = `${path}[${index}]`
    const positions = listAt(arc, at)
    if (positions.length < 2) failAt('has fewer than two positions', at)
    return isQuantized ? endsOfSteps(positions, at) : endsOf(positions, at)
  })
}

function endsOf(positions: readonly unknown[], path: string): Arc {
  const positionCount = positions.length
  for (let i = 0; i < positionCount; i++) positionIn(positions, i, path)
  return {
    first: positionIn(positions, 0, path),
    last: positionIn(positions, positionCount - 1, path),
    positionCount,
  }
}

/** The sums are those of topojson-client, and exact, so that ends that join are equal. */
function endsOfSteps(positions: readonly unknown[], path: string): Arc {
  let x = 0
  let y = 0
  for (let i = 0; i < positions.length; i++) {
    const [stepX, stepY] = positionIn(positions, i, path)
    x += stepX
    y += stepY
    if (!areWhole(stepX, stepY) || !areWhole(x, y)) {
      failAt('must be whole numbers, since the topology has a transform', `${path}[${i}]`)
    }
  }
  return {
    first: positionIn(positions, 0, path),
    last: [x, y],
    positionCount: positions.length,
  }
}

function areWhole(x: number, y: number): boolean {
  return Number.isSafeInteger(x) && Number.isSafeInteger(y)
}
