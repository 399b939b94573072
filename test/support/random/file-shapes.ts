/**
 * Random shapes, and files of them as an independent writer writes them: KML, GPX and TopoJSON.
 *
 * @module
 */
import fc from 'fast-check'

export type Pair = readonly [lng: number, lat: number]

export type Shape =
  | { readonly type: 'Point'; readonly coordinates: Pair }
  | { readonly type: 'LineString' | 'MultiPoint'; readonly coordinates: readonly Pair[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: readonly Pair[][] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly Pair[][][] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Shape[] }

/** Degrees as people write them, with few decimals, and as programs do, with all that a double has. */
export const degrees = (most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ min: -most * 100, max: most * 100 }).map((hundredths) => hundredths / 100),
    fc.double({ min: -most, max: most, noNaN: true }),
    fc.constantFrom(0, -0, most, -most, 1e-7, -5e-324),
  )

export const pairs: fc.Arbitrary<Pair> = fc.tuple(degrees(180), degrees(90))

/** Closed, of one position and more. */
const rings: fc.Arbitrary<Pair[]> = fc
  .array(pairs, { minLength: 1, maxLength: 6 })
  .map((ring) => [...ring, ring[0]])

const lines: fc.Arbitrary<Pair[]> = fc.array(pairs, { minLength: 2, maxLength: 6 })

const polygons: fc.Arbitrary<Pair[][]> = fc.array(rings, { minLength: 1, maxLength: 3 })

const simpleShapes: fc.Arbitrary<Shape> = fc.oneof(
  pairs.map((coordinates): Shape => ({ type: 'Point', coordinates })),
  lines.map((coordinates): Shape => ({ type: 'LineString', coordinates })),
  polygons.map((coordinates): Shape => ({ type: 'Polygon', coordinates })),
)

/** Those that KML has, collections in collections included. */
export const kmlShapes: fc.Arbitrary<Shape> = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    simpleShapes,
    fc
      .array(tie('shape'), { maxLength: 3 })
      .map((geometries): Shape => ({ type: 'GeometryCollection', geometries })),
  ),
})).shape

export interface KmlStyle {
  readonly namespace: string
  readonly prefix: string
  /** Between positions. */
  readonly space: string
  /** Appended to each position. */
  readonly altitude: string
  /** Before each geometry. */
  readonly extra: string
  readonly areHolesTogether: boolean
}

export const kmlStyles: fc.Arbitrary<KmlStyle> = fc.record({
  namespace: fc.constantFrom(
    'http://www.opengis.net/kml/2.2',
    'http://earth.google.com/kml/2.0',
    'http://earth.google.com/kml/2.1',
  ),
  prefix: fc.constantFrom('', 'kml:'),
  space: fc.constantFrom(' ', '\n', '\r\n\t\t', '  '),
  altitude: fc.constantFrom('', ',0', ',-12.5', ',1e3'),
  extra: fc.constantFrom('', '<extrude>1</extrude>', '\n  ', '<!-- 1,2 -->'),
  areHolesTogether: fc.boolean(),
})

/** A document of these shapes, a placemark each; null is a placemark without a geometry. */
export function writeKml(shapes: readonly (Shape | null)[], style: KmlStyle): string {
  const { prefix, space, altitude } = style
  const tag = (name: string, content: string) => `<${prefix}${name}>${content}</${prefix}${name}>`
  const extra = prefix === '' ? style.extra : style.extra.replace(/<(\/?)(?=e)/g, `<$1${prefix}`)
  const coordinates = (list: readonly Pair[]) =>
    tag(
      'coordinates',
      space + list.map(([lng, lat]) => `${text(lng)},${text(lat)}${altitude}`).join(space) + space,
    )
  const ring = (list: readonly Pair[]) => tag('LinearRing', coordinates(list))
  const holes = (list: readonly Pair[][]) =>
    style.areHolesTogether && list.length > 0
      ? tag('innerBoundaryIs', list.map(ring).join(''))
      : list.map((hole) => tag('innerBoundaryIs', ring(hole))).join('')
  const geometry = (shape: Shape): string => {
    switch (shape.type) {
      case 'Point':
        return tag('Point', extra + coordinates([shape.coordinates]))
      case 'LineString':
        return tag('LineString', extra + coordinates(shape.coordinates))
      case 'Polygon': {
        const [shell, ...others] = shape.coordinates
        return tag('Polygon', extra + tag('outerBoundaryIs', ring(shell)) + holes(others))
      }
      case 'GeometryCollection':
        return tag('MultiGeometry', shape.geometries.map(geometry).join(space))
      default:
        throw new Error(`KML has no ${shape.type}`)
    }
  }
  const placemarks = shapes.map((shape, index) =>
    tag('Placemark', tag('name', `${index}`) + (shape === null ? '' : geometry(shape))),
  )
  const half = Math.floor(placemarks.length / 2)
  const folder = tag('Folder', placemarks.slice(0, half).join(space))
  const declared = `xmlns${prefix === '' ? '' : ':kml'}="${style.namespace}"`
  const content = tag('Document', folder + placemarks.slice(half).join(''))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${prefix}kml ${declared}>${content}</${prefix}kml>`
}

export interface GpxDocument {
  readonly waypoints: readonly Pair[]
  readonly routes: readonly Pair[][]
  /** Of segments. */
  readonly tracks: readonly Pair[][][]
}

const pieces = fc.array(pairs, { maxLength: 4 })

export const gpxDocuments: fc.Arbitrary<GpxDocument> = fc.record({
  waypoints: fc.array(pairs, { maxLength: 3 }),
  routes: fc.array(pieces, { maxLength: 2 }),
  tracks: fc.array(fc.array(pieces, { maxLength: 3 }), { maxLength: 2 }),
})

export function writeGpx(
  { waypoints, routes, tracks }: GpxDocument,
  version: '1.0' | '1.1',
): string {
  const points = (name: string, list: readonly Pair[]) =>
    list
      .map(
        ([lng, lat], i) =>
          `<${name} lat="${text(lat)}" lon='${text(lng)}'>${i % 2 === 0 ? '<ele>4.2</ele>' : ''}</${name}>`,
      )
      .join('\n')
  const routesText = routes.map((route) => `<rte><name>r</name>${points('rtept', route)}</rte>`)
  const tracksText = tracks.map(
    (track) =>
      `<trk>${track.map((segment) => `<trkseg>${points('trkpt', segment)}</trkseg>`).join('')}</trk>`,
  )
  const namespace = `http://www.topografix.com/GPX/${version.replace('.', '/')}`
  return `<?xml version="1.0"?><gpx version="${version}" creator="t" xmlns="${namespace}">
${points('wpt', waypoints)}${routesText.join('')}${tracksText.join('\n')}</gpx>`
}

/** All that the double has; minus zero is written as what it is. */
function text(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}
