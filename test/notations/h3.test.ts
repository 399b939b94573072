import {
  cellToBoundary,
  cellToCenterChild,
  cellToChildren,
  cellToLatLng,
  cellToVertexes,
  getPentagons,
  getRes0Cells,
  gridDisk,
  latLngToCell,
  originToDirectedEdges,
} from 'h3-js'
import t from 'tap'
import { limits } from '../../src/limits.js'
import type { Position } from '../../src/notations/drawn.js'
import { readH3 } from '../../src/notations/h3.js'
import { readGeometry } from '../oracle/geometry/geometry.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { type Place, selectedBy } from '../support/selected.js'
import { byTier } from '../support/tier.js'

/** A cell of the documentation of H3, in San Francisco. */
const CELL = '8928308280fffff'

t.test('a known cell is its known hexagon, however its index is written', async (t) => {
  const hexagon = [
    [-122.417199718, 37.775197783],
    [-122.416128358, 37.776880448],
    [-122.417387976, 37.778385005],
    [-122.419718954, 37.778206873],
    [-122.420790245, 37.776524207],
    [-122.419530628, 37.775019674],
    [-122.417199718, 37.775197783],
  ]
  for (const index of [CELL, CELL.toUpperCase(), `0${CELL}`, BigInt(`0x${CELL}`).toString()]) {
    const [[ring]] = polygons(index)
    const rounded = ring.map((position) => position.map((degrees) => Number(degrees.toFixed(9))))
    t.same(rounded, hexagon, index)
  }
  t.equal(polygons([CELL, BigInt(`0x${CELL}`).toString(), CELL.toUpperCase()]).length, 1)
  t.same(readH3([], 'h3'), { type: 'MultiPolygon', coordinates: [] })
})

t.test('what is no cell is refused by its place', async (t) => {
  const [edge] = originToDirectedEdges(CELL)
  const [vertex] = cellToVertexes(CELL)
  for (const value of [
    '',
    ' ',
    '0',
    `${CELL} `,
    `0x${CELL}`,
    `${CELL}f`,
    CELL.slice(1),
    '8928308280ffffg',
    '8928308280fffff8928308280fffff',
    '8f28308280fffff',
    '89283082801ffff',
    '89ffffffffffffff',
    'ffffffffffffffff',
    '80f5fffffffffff',
    edge,
    vertex,
    BigInt(`0x${edge}`).toString(),
    '617700169958293504',
    '999999999999999999',
    '-17700169958293503',
    '5'.repeat(2 ** 20),
  ]) {
    const expected = { code: 'InvalidH3Cell', status: 400, field: 'h3' }
    t.throws(() => readH3(value, 'h3'), expected, value.slice(0, 40))
    const field = 'h3[1]'
    t.throws(
      () => readH3([CELL, value], 'h3'),
      { code: 'InvalidH3Cell', field },
      value.slice(0, 40),
    )
  }
  for (const value of [undefined, null, {}, Number(`0x${CELL}`)]) {
    t.throws(() => readH3(value, 'h3'), { code: 'InvalidH3Cell', field: 'h3' })
  }
  const exact = 617700169958293503n
  t.equal(exact, BigInt(`0x${CELL}`))
  t.throws(
    () => readH3([Number(exact)], 'h3'),
    { code: 'InvalidH3Cell', field: 'h3[0]' },
    'rounded',
  )
  const many = Array(limits.cellCount).fill(CELL)
  t.equal(polygons(many).length, 1)
  t.throws(() => readH3([...many, CELL], 'h3'), { code: 'InvalidH3Cell', field: 'h3' })
  // Of a resolution whose hexagons have six corners.
  const hexagons = cellToChildren(cellToCenterChild(getRes0Cells()[0], 4), 10)
    .filter((cell) => cellToBoundary(cell, true).length === 7)
    .slice(0, Math.floor(limits.vertexCount / 7) + 1)
  t.equal(polygons(hexagons.slice(1)).length, hexagons.length - 1)
  t.throws(() => readH3(hexagons, 'h3'), { code: 'TooManyVertices', field: 'h3' })
})

t.test('a cell selects whoever its polygon holds: anywhere, pentagons and poles', async (t) => {
  const random = seededRandom(testSeed(t))
  let hitCount = 0
  for (let round = 0; round < byTier({ ci: 200, soak: 10_000 }); round++) {
    const cells = randomCells(random)
    const geometry = readH3(cells, 'h3')
    const places = cells.flatMap((cell) => placesAround(cell, random))
    // By rules of its own, each cell by itself.
    const parts = cells.map((cell) =>
      readGeometry({ type: 'Polygon', coordinates: [cellToBoundary(cell, true)] }, undefined),
    )
    const found = selectedBy(geometry, places)
    for (const [index, [lng, lat]] of places.entries()) {
      const verdicts = parts.map((part) => part(lng, lat))
      const isRight = found[index]
        ? verdicts.some((verdict) => verdict !== 'outside')
        : !verdicts.includes('inside')
      if (!isRight) t.fail(`${cells} at ${lng}, ${lat}`)
      if (found[index]) hitCount++
    }
  }
  t.ok(hitCount > 1_000, `${hitCount} hits`)
})

t.test(
  'a cell is where H3 says it is: no cell selects what lies beyond its neighbours',
  async (t) => {
    const random = seededRandom(testSeed(t))
    let hitCount = 0
    for (let round = 0; round < byTier({ ci: 150, soak: 5_000 }); round++) {
      // Edges of coarser cells are bent by more than a cell where they pass a pole.
      const resolution = random.between(4, 13)
      const cell = random.pick([
        anyCell(random, resolution),
        latLngToCell(random.pick([90, -90]), 0, resolution),
        latLngToCell(random.between(-8_500, 8_500) / 100, random.pick([180, -180]), resolution),
        random.pick(getPentagons(resolution)),
      ])
      const near = new Set(gridDisk(cell, 1))
      const places: Place[] = [...placesAround(cell, random), ...farPlaces(random)]
      const [lat, lng] = cellToLatLng(cell)
      places.push([Math.round(lng * 1e7), Math.round(lat * 1e7)])
      const found = selectedBy(readH3(cell, 'h3'), places)
      t.equal(found.at(-1), true, `the centre of ${cell}`)
      for (const [index, [lngUnits, latUnits]] of places.entries()) {
        const actual = latLngToCell(latUnits / 1e7, lngUnits / 1e7, resolution)
        if (found[index]) hitCount++
        if (found[index] && !near.has(actual)) t.fail(`${cell} at ${lngUnits}, ${latUnits}`)
      }
    }
    t.ok(hitCount > 1_000, `${hitCount} hits`)
  },
)

t.test('the cells of a resolution cover the globe, and each place once', async (t) => {
  const random = seededRandom(testSeed(t))
  const places = [
    ...Array.from({ length: byTier({ ci: 50, soak: 300 }) }, () => farPlaces(random)).flat(),
  ]
  places.push([0, 900_000_000], [1_234_567_890, -900_000_000], [1_800_000_000, 12_345_678])
  const roots = getRes0Cells()
  for (const resolution of byTier({ ci: [0, 1], soak: [0, 1, 2] })) {
    const cells = roots.flatMap((cell) => cellToChildren(cell, resolution))
    const counts = places.map(() => 0)
    for (const cell of cells) {
      for (const [index, isFound] of selectedBy(readH3(cell, 'h3'), places).entries()) {
        if (isFound) counts[index]++
      }
    }
    t.same(
      counts.filter((count) => count !== 1),
      [],
      `${cells.length} cells`,
    )
    if (cells.length < 1_000) t.ok(selectedBy(readH3(cells, 'h3'), places).every(Boolean))
  }
})

t.test('a child is drawn beside its ancestor, out of which it sticks', async (t) => {
  const parent = '8828308281fffff'
  const corners = cellToChildren(parent, 9)
    .flatMap((child) => cellToBoundary(child, true))
    .map(([lng, lat]): Place => [Math.round(lng * 1e7), Math.round(lat * 1e7)])
  const count = (cells: readonly string[]) =>
    selectedBy(readH3(cells, 'h3'), corners).filter(Boolean).length
  const children = cellToChildren(parent, 9)
  t.ok(count([parent]) < count([parent, ...children]))
  t.equal(count([parent, ...children]), count([...children, parent, parent]))
})

function polygons(value: unknown): Position[][][] {
  return (readH3(value, 'h3') as unknown as { coordinates: Position[][][] }).coordinates
}

function anyCell(random: Random, resolution: number): string {
  const lat = (Math.asin(2 * random.unit() - 1) * 180) / Math.PI
  return latLngToCell(lat, 360 * random.unit() - 180, resolution)
}

/** One to three beside or within each other, of up to three resolutions. */
function randomCells(random: Random): string[] {
  const resolution = random.between(0, 13)
  const first = random.pick([
    () => anyCell(random, resolution),
    () => random.pick(getPentagons(resolution)),
    () => latLngToCell(random.pick([90, -90]), 0, resolution),
    () => latLngToCell(160 * random.unit() - 80, random.pick([180, -180]), resolution),
  ])()
  const others = [
    ...gridDisk(first, 1),
    ...cellToChildren(first, Math.min(15, resolution + 1)),
    cellToCenterChild(first, Math.min(15, resolution + 2)),
  ]
  const picked = Array.from({ length: random.between(0, 2) }, () => random.pick(others))
  return [...new Set([first, ...picked])]
}

/** Near its corners, on lines between them, and in the middle of it. */
function placesAround(cell: string, random: Random): Place[] {
  const ring = cellToBoundary(cell, true)
  return Array.from({ length: 12 }, (): Place => {
    const [a, b] = [random.pick(ring), random.pick(ring)]
    const turn = Math.round((a[0] - b[0]) / 360) * 360
    const part = random.pick([0, 0.5, random.unit()])
    const lng = a[0] + part * (b[0] + turn - a[0])
    const near = () => random.pick([0, 1, -1, random.between(-100, 100)])
    return onGlobe(
      Math.round(lng * 1e7) + near(),
      Math.round((a[1] + part * (b[1] - a[1])) * 1e7) + near(),
    )
  })
}

function farPlaces(random: Random): Place[] {
  return [1, 1, 1, 1].map((): Place => {
    const lat = Math.round(((Math.asin(2 * random.unit() - 1) * 180) / Math.PI) * 1e7)
    return onGlobe(random.between(-1_800_000_000, 1_800_000_000), lat)
  })
}

function onGlobe(lng: number, lat: number): Place {
  const turned = lng > 1.8e9 ? lng - 3.6e9 : lng < -1.8e9 ? lng + 3.6e9 : lng
  return [turned, Math.max(-9e8, Math.min(9e8, lat))]
}
