/**
 * The plan of H3: which hexagon of which face of its icosahedron a place lies in, without asking h3.
 *
 * The twelve pentagons of resolution 0 are the corners of the icosahedron. H3 projects a place onto the plane that
 * touches the nearest face in its middle (gnomonic), and takes the nearest point of a lattice of hexagons there. The
 * middle is a point of each lattice. At resolution 0 a corner is two steps from it, in a direction of the lattice; at
 * each further resolution the steps are shorter by the root of seven, and at odd ones turned by 19.1 degrees.
 *
 * h3 rounds on a longer way, so a place that is near the edge of a hexagon or of a face is left to it.
 *
 * @module
 */
import { h3 } from '../../geometry/h3.js'
import { RADIANS_PER_UNIT } from '../../geometry/units.js'

/** What `hexagonAt` says where only h3 knows. */
export const DOUBTFUL = -1

export class H3Lattice {
  readonly #faces: readonly Face[]
  /** Of one step, in the radii of the plane. */
  readonly #step: number
  #last: Face

  constructor(resolution: number) {
    this.#faces = facesAt(resolution)
    this.#last = this.#faces[0]
    this.#step = this.#last.step
  }

  /**
   * @param lng  and `lat`, in units of 1e-7 degree
   * @returns a whole number for each hexagon of each face; the cells on the edges of faces have several.
   *   `DOUBTFUL` where the place may lie in more than one
   */
  hexagonAt(lng: number, lat: number): number {
    const [lngRadians, latRadians] = [lng * RADIANS_PER_UNIT, lat * RADIANS_PER_UNIT]
    const flat = Math.cos(latRadians)
    const x = flat * Math.cos(lngRadians)
    const y = flat * Math.sin(lngRadians)
    const z = Math.sin(latRadians)
    let face = this.#last
    let height = x * face.x + y * face.y + z * face.z
    if (height < SURELY_ON_FACE) {
      const nearest = this.#nearest(x, y, z)
      if (nearest === undefined) return DOUBTFUL
      face = nearest
      this.#last = face
      height = x * face.x + y * face.y + z * face.z
    }
    // Parts on two of the three axes, and on the third.
    const i = (x * face.ix + y * face.iy + z * face.iz) / height
    const j = (x * face.jx + y * face.jy + z * face.jz) / height
    const k = -i - j
    let [wholeI, wholeJ] = [Math.round(i), Math.round(j)]
    const wholeK = Math.round(k)
    const [offI, offJ, offK] = [Math.abs(i - wholeI), Math.abs(j - wholeJ), Math.abs(k - wholeK)]
    if (offI > offJ && offI > offK) wholeI = -wholeJ - wholeK
    else if (offJ > offK) wholeJ = -wholeI - wholeK
    const [restI, restJ] = [i - wholeI, j - wholeJ]
    const restK = -restI - restJ
    const outwards = Math.max(
      Math.abs(restI - restJ),
      Math.abs(restJ - restK),
      Math.abs(restK - restI),
    )
    // h3 has the distance from the middle by its cosine, which says little of short ones.
    const distance = Math.sqrt(i * i + j * j + i * j) * this.#step
    const doubt = DOUBT_STEPS + DOUBT_OF_COSINE / (this.#step * Math.max(distance, 1e-9))
    if (outwards > 1 - doubt) return DOUBTFUL
    return (face.index * SPAN + wholeI + SPAN / 2) * SPAN + wholeJ + SPAN / 2
  }

  /** Undefined where two are as near. */
  #nearest(x: number, y: number, z: number): Face | undefined {
    let [best, bestHeight, secondHeight] = [this.#faces[0], -1, -1]
    for (const face of this.#faces) {
      const height = x * face.x + y * face.y + z * face.z
      if (height > bestHeight) [best, bestHeight, secondHeight] = [face, height, bestHeight]
      else if (height > secondHeight) secondHeight = height
    }
    return bestHeight - secondHeight < DOUBT_OF_FACE ? undefined : best
  }
}

/** The middle of a face, and what the two axes of its lattice have of a place in the plane. */
interface Face {
  readonly index: number
  readonly x: number
  readonly y: number
  readonly z: number
  readonly ix: number
  readonly iy: number
  readonly iz: number
  readonly jx: number
  readonly jy: number
  readonly jz: number
  /** How long one is. */
  readonly step: number
}

/** Steps of the finest lattice on a face are fewer, either way. */
const SPAN = 2 ** 24
/** The cosine of 20 degrees; a circle of 20.9 fits into a face. */
const SURELY_ON_FACE = Math.cos((20 / 180) * Math.PI)
/** Of a cosine. */
const DOUBT_OF_FACE = 1e-9
/** Rounding is off by far less: by a hundred-millionth at the finest resolution. */
const DOUBT_STEPS = 1e-4
/** What the rounding of a cosine near 1 may be, several times over. */
const DOUBT_OF_COSINE = 4e-15
/** By which lattices of odd resolutions are turned: the angle of the vector (2, 1) to the axis. */
const TURN = Math.asin(Math.sqrt(3 / 28))

type Vector = readonly [x: number, y: number, z: number]

function facesAt(resolution: number): Face[] {
  const { cellToLatLng, getPentagons } = h3()
  const corners = getPentagons(0).map((cell) => vectorOf(cellToLatLng(cell)))
  const triples = corners.flatMap((a, i) =>
    corners.slice(i + 1).flatMap((b, j) =>
      corners
        .slice(i + j + 2)
        .filter((c) => isEdge(a, b) && isEdge(b, c) && isEdge(c, a))
        .map((c) => [a, b, c] as const),
    ),
  )
  return triples.map(([a, b, c], index) => faceOf(index, a, normalised(sum(a, b, c)), resolution))
}

/** @param corner  one of the three; by any of them the lattice is the same */
function faceOf(index: number, corner: Vector, middle: Vector, resolution: number): Face {
  const inPlane = scaled(corner, 1 / dot(corner, middle))
  const outwards = sum(inPlane, scaled(middle, -1))
  const radius = Math.sqrt(dot(outwards, outwards))
  const along = scaled(outwards, 1 / radius)
  const across = cross(middle, along)
  const step = radius / 2 / Math.sqrt(7) ** resolution
  const turn = resolution % 2 === 0 ? 0 : TURN
  // Three axes, 120 degrees apart, with a direction of the lattice in the middle between each two that are opposite. Of
  // a step in such a direction the parts on the axes are 1, -1 and 0 of these lengths.
  const axisAt = (degrees: number) => {
    const angle = turn + (degrees / 180) * Math.PI
    const direction = sum(scaled(along, Math.cos(angle)), scaled(across, Math.sin(angle)))
    return scaled(direction, 2 / Math.sqrt(3) / step)
  }
  const [x, y, z] = middle
  const [ix, iy, iz] = axisAt(30)
  const [jx, jy, jz] = axisAt(150)
  return { index, x, y, z, ix, iy, iz, jx, jy, jz, step }
}

/** Whether two corners of the icosahedron have an edge: the others are more than a quarter of the globe apart. */
function isEdge(a: Vector, b: Vector): boolean {
  return dot(a, b) > 0.1
}

function vectorOf([lat, lng]: readonly number[]): Vector {
  const [latRadians, lngRadians] = [(lat / 180) * Math.PI, (lng / 180) * Math.PI]
  const flat = Math.cos(latRadians)
  return [flat * Math.cos(lngRadians), flat * Math.sin(lngRadians), Math.sin(latRadians)]
}

function sum(...vectors: readonly Vector[]): Vector {
  const total = (axis: 0 | 1 | 2) => vectors.reduce((all, vector) => all + vector[axis], 0)
  return [total(0), total(1), total(2)]
}

function scaled([x, y, z]: Vector, factor: number): Vector {
  return [x * factor, y * factor, z * factor]
}

function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

function normalised(vector: Vector): Vector {
  return scaled(vector, 1 / Math.sqrt(dot(vector, vector)))
}
