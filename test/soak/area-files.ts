/**
 * The test files that ask `byTier`, and the area that each belongs to.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dist, testFiles } from '../runner/files.js'
import { type Area, areas } from './areas.js'

/** The files of one round of an area, by their paths in the repository. */
export function filesOf(area: Area): string[] {
  return soakFiles().filter((file) => areaOf(file) === area)
}

/** The test files with loops that the soak makes longer. */
export function soakFiles(): string[] {
  return testFiles().filter((file) =>
    readFileSync(join(dist, '..', file), 'utf8').includes('byTier('),
  )
}

export function areaOf(file: string): Area | undefined {
  const paths = areas.flatMap((area) =>
    'tests' in area.round ? area.round.tests.map((path) => ({ area, path })) : [],
  )
  const above = paths.filter(({ path }) => file === path || file.startsWith(`${path}/`))
  return above.sort((one, other) => other.path.length - one.path.length)[0]?.area
}
