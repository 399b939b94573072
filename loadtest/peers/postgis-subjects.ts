/**
 * Shapes about which Hickory and PostGIS are asked, in groups.
 *
 * @module
 */
import type { MultiPolygon, Polygon } from 'geojson'
import { UNITS_PER_DEGREE } from '../../src/geometry/units.js'
import { loadCounties, withoutDegenerateRings } from '../../test/support/data/counties.js'
import {
  type MultiPolygonCoordinates,
  randomShape,
  type ShapeKind,
} from '../../test/support/random/shapes.js'
import { type Random, seededRandom } from '../../test/support/random/world.js'
import type { World } from '../micro/harness/world.js'

export interface Subject {
  /** Says how to find it again. */
  readonly id: string
  readonly geometry: Polygon | MultiPolygon
}

export interface SubjectGroup {
  readonly title: string
  readonly subjects: readonly Subject[]
  /** Recipients were put on edges on purpose, where doubles are known to err. */
  readonly isOnEdges: boolean
}

type IsValid = (geometry: Polygon | MultiPolygon) => Promise<boolean>

export async function makeGroups(
  world: World,
  shapeCount: number,
  isValid: IsValid,
): Promise<SubjectGroup[]> {
  const random = seededRandom(world.seed)
  const counties = countySubjects()
  const [validCounties, brokenCounties] = await split(counties, isValid)
  const groups: SubjectGroup[] = []
  for (const [kind, title] of kinds) {
    const wanted = Math.ceil(shapeCount / kinds.length)
    const subjects = await someValid(kind, wanted, world, random, isValid)
    groups.push({ title, subjects, isOnEdges: false })
  }
  const corners = Array.from({ length: ON_EDGE_COUNT }, (_, i) => triangle(world, random, i))
  const [validCorners] = await split(corners, isValid)
  const slivers = await someValid('sliver', ON_EDGE_COUNT, world, random, isValid)
  return [
    ...groups,
    { title: 'counties', subjects: validCounties, isOnEdges: false },
    { title: 'counties that are not valid', subjects: brokenCounties, isOnEdges: false },
    { title: 'triangles between recipients', subjects: validCorners, isOnEdges: true },
    { title: 'slivers along a recipient', subjects: slivers, isOnEdges: true },
  ]
}

const kinds: readonly (readonly [ShapeKind, string])[] = [
  ['drawn', 'drawn polygons'],
  ['grid', 'polygons on a grid'],
  ['holes', 'polygons with holes'],
  ['members', 'multipolygons'],
]

const ON_EDGE_COUNT = 250
/** Most random shapes that cross themselves are not valid, but not so many in a row. */
const TRIES_PER_SHAPE = 1_000

async function someValid(
  kind: ShapeKind,
  wanted: number,
  { columns, seed }: World,
  random: Random,
  isValid: IsValid,
): Promise<Subject[]> {
  const subjects: Subject[] = []
  for (let attempt = 0; subjects.length < wanted; attempt++) {
    if (attempt > wanted * TRIES_PER_SHAPE) throw new Error(`hardly any ${kind} shape is valid`)
    const row = random.between(0, columns.recipientCount - 1)
    const coordinates = randomShape(kind, random, columns.lngs[row], columns.lats[row])
    const geometry = toGeometry(coordinates)
    if (!(await isValid(geometry))) continue
    subjects.push({ id: `seed ${seed}, ${kind} ${attempt}`, geometry })
  }
  return subjects
}

function toGeometry(coordinates: MultiPolygonCoordinates): Polygon | MultiPolygon {
  return coordinates.length === 1
    ? { type: 'Polygon', coordinates: coordinates[0] }
    : { type: 'MultiPolygon', coordinates }
}

/** Its corners are recipients that are near each other in the index, and so in the country. */
function triangle({ shards, seed }: World, random: Random, id: number): Subject {
  const { coords, recipientCount } = random.pick(shards)
  const first = random.between(0, recipientCount - 300)
  const at = (index: number) => [
    coords[2 * index] / UNITS_PER_DEGREE,
    coords[2 * index + 1] / UNITS_PER_DEGREE,
  ]
  const [a, b, c] = [at(first), at(first + 100), at(first + 299)]
  return {
    id: `seed ${seed}, triangle ${id}`,
    geometry: { type: 'Polygon', coordinates: [[a, b, c, a]] },
  }
}

function countySubjects(): Subject[] {
  return loadCounties().flatMap(({ id, name, geometry }) => {
    const solid = withoutDegenerateRings(geometry)
    return solid === undefined ? [] : [{ id: `county ${id} ${name}`, geometry: solid }]
  })
}

async function split(
  subjects: readonly Subject[],
  isValid: IsValid,
): Promise<[valid: Subject[], broken: Subject[]]> {
  const valid: Subject[] = []
  const broken: Subject[] = []
  for (const subject of subjects) {
    const into = (await isValid(subject.geometry)) ? valid : broken
    into.push(subject)
  }
  return [valid, broken]
}
