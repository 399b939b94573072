/**
 * Faults in which places are inside: shapes, distances, and the search of a shard, with its kernels.
 *
 * @module
 */
import type { Mutant } from '../mutant.js'

export const ofGeometry: readonly Mutant[] = [
  {
    name: 'a place on the boundary of an area is outside',
    file: 'src/geometry/polygon/contains.ts',
    find: "if (side === 0) return 'boundary'",
    replace: "if (side === 0) return 'outside'",
  },
  {
    name: 'a place on the edge of a hole is in the hole',
    file: 'src/geometry/polygon/contains.ts',
    find: "=== 'inside'\n",
    replace: "!== 'outside'\n",
  },
  {
    name: 'the Earth has the radius of the equator',
    file: 'src/geometry/great-circle.ts',
    find: 'EARTH_RADIUS_METRES = 6_371_000',
    replace: 'EARTH_RADIUS_METRES = 6_378_137',
  },
  {
    name: 'distances over the antimeridian are a hundredth too long',
    file: 'src/geometry/great-circle.ts',
    find: 'Math.sin(((lngStep - turns) * RADIANS_PER_UNIT) / 2)',
    replace: 'Math.sin(((lngStep - turns) * RADIANS_PER_UNIT) / 2) * (turns === 0 ? 1 : 1.01)',
  },
  {
    name: 'a coordinate is multiplied into units and not read as it is written',
    file: 'src/geometry/units.ts',
    find: 'return whole / UNITS_PER_DEGREE === degrees ? whole : degrees * UNITS_PER_DEGREE',
    replace: 'return degrees * UNITS_PER_DEGREE',
  },
  {
    name: 'a ring that was drawn beyond ±180 is moved by a turn too many',
    file: 'src/geometry/polygon/antimeridian.ts',
    find: 'min > 0 ? Math.floor(min / UNITS_PER_TURN)',
    replace: 'min > 0 ? Math.ceil(min / UNITS_PER_TURN)',
  },
  {
    name: 'a ring round the south pole is followed from the wrong end',
    file: 'src/geometry/polygon/antimeridian.ts',
    find: 'return roundThePole(reversed(units), pole, turns.toReversed())',
    replace: 'return roundThePole(reversed(units), pole, turns)',
  },
  {
    name: 'boxes that only touch do not meet',
    file: 'src/geometry/bounds.ts',
    find: 'bounds[at + 2] >= box.minLng &&',
    replace: 'bounds[at + 2] > box.minLng &&',
  },
  {
    name: 'a bow tie is taken as a polygon',
    file: 'src/geometry/polygon/crossing.ts',
    find: 'if (a * b < 0 && c * d < 0) return true',
    replace: 'if (a * b < 0 && c * d < 0) return false',
  },
  {
    name: 'no web Mercator position is at the antimeridian itself',
    file: 'src/geometry/esri/web-mercator.ts',
    find: 'const SEAM_METRES = 1.5',
    replace: 'const SEAM_METRES = 0',
  },
  {
    name: 'the buffer of a line is not round at its end',
    file: 'src/geometry/reach/arc.ts',
    find: 'return Math.min(angleBetween(place, a), angleBetween(place, b))',
    replace: 'return angleBetween(place, a)',
    hints: ['test/geometry/reach/draw-reaches.test.ts'],
  },
  {
    name: 'the latitudes of an edge hold its upper end, too, in a leaf',
    file: 'src/shard/descent/leaf.ts',
    find: 'return ~(((lat - first) | (last - lat)) >> 31)',
    replace: 'return ~(((lat - first) | (last + 1 - lat)) >> 31)',
  },
  {
    name: 'the kernel does not decide again what rounding may have decided',
    file: 'src/shard/descent/wasm/leaf.ts',
    find: 'four = (four & ~(1 << lane)) | (isHeld << lane)',
    replace: 'four = (four & ~(1 << lane)) | (four & (1 << lane))',
  },
  {
    name: 'the kernel joins runs that do not touch',
    file: 'src/shard/descent/wasm/runs.ts',
    find: 'return endAt > boundsAt && load<i32>(endAt - 4) == bound',
    replace: 'return endAt > boundsAt && load<i32>(endAt - 4) + 1 >= bound',
  },
  {
    name: 'the kernel of rows forgets to escape a quotation mark in JSON',
    file: 'src/shard/rows/wasm/phone.ts',
    find: 'if (byte == QUOTE || byte == BACKSLASH) store<u8>(at++, BACKSLASH)',
    replace: 'if (byte == BACKSLASH) store<u8>(at++, BACKSLASH)',
  },
  {
    name: 'the kernel of rows writes the last decimals wrongly',
    file: 'src/shard/rows/wasm/degrees.ts',
    find: 'return i32x4.shr_u(i32x4.dot_i16x8_s(numbers, i32x4.splat(10_486)), 20)',
    replace: 'return i32x4.shr_u(i32x4.dot_i16x8_s(numbers, i32x4.splat(10_490)), 20)',
  },
  {
    name: 'the kernel of bodies reads a coordinate of 8 decimals as one of 7',
    file: 'src/selection/skeleton/wasm/number.ts',
    find: 'if (inUnits && decimals <= DECIMALS_OF_UNITS) {',
    replace: 'if (inUnits && decimals <= DECIMALS_OF_UNITS + 1) {',
  },
  {
    name: 'the kernel that sorts exchanges a part of a record alone',
    file: 'src/shard/build/wasm/kd-sort.ts',
    find: 'swapWords(left, right, 8)',
    replace: 'swapWords(left, right, 0)',
  },
  {
    name: 'a descent begins beside an edge that touches its cell',
    file: 'src/shard/descent/enclose.ts',
    find: 'if (maxLat < lat) north = lat\n',
    replace: 'if (maxLat <= lat) north = lat\n',
  },
  {
    name: 'a circle is wider towards a pole than it is',
    file: 'src/shard/reach/reach-leaf.ts',
    find: 'cosine * (1 - latSquare / 2) - sine * smallSine(latAngle)',
    replace: 'cosine * (1 - latSquare / 2) + sine * smallSine(latAngle)',
    hints: ['test/shard/nearest.test.ts'],
  },
  {
    name: 'of equally near recipients any one is taken',
    file: 'src/shard/nearest.ts',
    find: 'if (next <= roundedUp(last)) found = search',
    replace: 'if (next < last) found = search',
  },
  {
    name: 'a suppressed recipient is among the nearest',
    file: 'src/shard/nearest.ts',
    find: 'if (marks !== null && isMarked(marks, recipient)) return false',
    replace: 'if (marks !== null && isMarked(marks, recipient)) return true',
    hints: ['test/shard/nearest.test.ts'],
  },
  {
    name: 'a cell of a grid holds its southern edge, too',
    file: 'src/shard/grid/tile-cells.ts',
    find: 'return Math.floor(latOfEdge(edge, zoom) * UNITS_PER_DEGREE)',
    replace: 'return Math.ceil(latOfEdge(edge, zoom) * UNITS_PER_DEGREE)',
  },
  {
    name: 'runs that overlap are joined up to the end of the last one',
    file: 'src/shard/runs.ts',
    find: 'if (nextEnd > end) end = nextEnd',
    replace: 'end = nextEnd',
  },
  {
    name: 'what is left of a run that is taken away ends before it begins',
    file: 'src/shard/runs.ts',
    find: 'if (start < end) into.append(start, end)',
    replace: 'into.append(start, end)',
    hints: ['test/shard/select.test.ts'],
  },
  {
    name: 'a cell of three shards is cut in half',
    file: 'src/shard/build/partition.ts',
    find: 'Math.floor((columns.recipientCount * middleShard) / shardCount)',
    replace: 'start + Math.floor((end - start) / 2)',
  },
]
