/**
 * GPX as receivers and programs write it, and as it must not be.
 *
 * @module
 */
import t from 'tap'
import { ServiceError, type ServiceErrorCode } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { readGpx } from '../../src/notations/gpx.js'

const gpx = (content: string) =>
  `<gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1">${content}</gpx>`
const point = (name: string, lat: string, lon: string) => `<${name} lat="${lat}" lon="${lon}"/>`

const LINE = [
  [-95.37, 29.76],
  [-95.36, 29.77],
]

const documents: [program: string, text: string, geometries: unknown[]][] = [
  [
    'a receiver of Garmin',
    `<?xml version="1.0" encoding="UTF-8" standalone="no" ?>
<gpx xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxx="http://www.garmin.com/xmlschemas/GpxExtensions/v3" xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v1" creator="Oregon" version="1.1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.topografix.com/GPX/1/1 http://www.topografix.com/GPX/1/1/gpx.xsd">
  <metadata><link href="http://www.garmin.com"><text>Garmin</text></link><time>2024-05-01T10:00:00Z</time><bounds maxlat="29.77" maxlon="-95.36" minlat="29.76" minlon="-95.37"/></metadata>
  <wpt lat="29.760000" lon="-95.370000"><ele>12.3</ele><name>Gate</name><sym>Flag, Blue</sym>
    <extensions><gpxx:WaypointExtension><gpxx:DisplayMode>SymbolAndName</gpxx:DisplayMode></gpxx:WaypointExtension></extensions></wpt>
  <trk><name>Day 1</name><extensions><gpxx:TrackExtension><gpxx:DisplayColor>Red</gpxx:DisplayColor></gpxx:TrackExtension></extensions>
    <trkseg>
      <trkpt lat="29.76" lon="-95.37"><ele>4</ele><time>2024-05-01T10:00:00Z</time><extensions><gpxtpx:TrackPointExtension><gpxtpx:hr>90</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions></trkpt>
      <trkpt lat="29.77" lon="-95.36"/>
    </trkseg>
    <trkseg/>
  </trk>
</gpx>`,
    [
      { type: 'Point', coordinates: [-95.37, 29.76] },
      { type: 'LineString', coordinates: LINE },
    ],
  ],
  [
    'GPSBabel',
    `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.0" creator="GPSBabel - https://www.gpsbabel.org" xmlns="http://www.topografix.com/GPX/1/0">
  <time>2024-05-01T10:00:00.000Z</time>
  <bounds minlat="29.760000000" minlon="-95.370000000" maxlat="29.770000000" maxlon="-95.360000000"/>
  <rte><name>R</name>
    <rtept lat="29.760000000" lon="-95.370000000"><name>001</name></rtept>
    <rtept lat="29.770000000" lon="-95.360000000"><name>002</name></rtept>
  </rte>
  <trk><trkseg>
    <trkpt lat="29.760000000" lon="-95.370000000"><course>10.0</course></trkpt>
    <trkpt lat="29.770000000" lon="-95.360000000"/>
  </trkseg><trkseg>
    <trkpt lat="29.770000000" lon="-95.360000000"/>
    <trkpt lat="29.760000000" lon="-95.370000000"/>
  </trkseg></trk>
</gpx>`,
    [
      { type: 'LineString', coordinates: LINE },
      { type: 'MultiLineString', coordinates: [LINE, LINE.toReversed()] },
    ],
  ],
  [
    'GDAL and QGIS',
    `<?xml version="1.0"?>
<gpx version="1.1" creator="GDAL 3.6.2" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:ogr="http://osgeo.org/gdal" xmlns="http://www.topografix.com/GPX/1/1">
<metadata><bounds minlat="29" minlon="-95" maxlat="30" maxlon="-94"/></metadata>
<wpt lat="29.76" lon="-95.37"><extensions><ogr:radius>500</ogr:radius></extensions></wpt>
</gpx>`,
    [{ type: 'Point', coordinates: [-95.37, 29.76] }],
  ],
  ['nothing', gpx('<rte><name>planned</name></rte><trk/>'), [null, null]],
  [
    'no namespace',
    `<gpx>${point('wpt', '1', ' 2 ')}</gpx>`,
    [{ type: 'Point', coordinates: [2, 1] }],
  ],
]

t.test('documents are read as programs write them', async (t) => {
  for (const [program, text, geometries] of documents) {
    const read = readGpx(text, 'gpx')
    const features = geometries.map((geometry) => ({ type: 'Feature', geometry, properties: {} }))
    t.same(read, { type: 'FeatureCollection', features }, program)
    t.same(readGpx(Buffer.from(text), 'gpx'), read, `${program}, as bytes`)
  }
})

t.test('a track that ends where it begins is a line', async (t) => {
  const places: [lat: string, lng: string][] = [
    ['1', '1'],
    ['1', '2'],
    ['2', '2'],
    ['1', '1'],
  ]
  const points = places.map(([lat, lng]) => point('trkpt', lat, lng)).join('')
  const { features } = readGpx(gpx(`<trk><trkseg>${points}</trkseg></trk>`), 'gpx')
  t.match(features[0].geometry, { type: 'LineString', coordinates: { length: 4 } })
})

t.test('what cannot be taken is refused with its line, and without its words', async (t) => {
  const garmin =
    '<x:rpt xmlns:x="http://www.garmin.com/xmlschemas/GpxExtensions/v3" lat="1" lon="2"/>'
  const cases: [what: string, text: string, message: RegExp][] = [
    ['no latitude', gpx('<wpt lon="77"/>'), /wpt whose lat and lon/],
    ['no longitude', gpx('<rte><rtept lat="77"/></rte>'), /rtept whose lat and lon/],
    ['no number', gpx(point('wpt', 'secret', '77')), /wpt whose lat and lon/],
    ['a decimal comma', gpx(point('wpt', '77,5', '77')), /wpt whose lat and lon/],
    ['not a number', gpx(point('wpt', 'NaN', '77')), /wpt whose lat and lon/],
    ['infinite', gpx(point('wpt', '1e999', '77')), /wpt whose lat and lon/],
    ['degrees and minutes', gpx(point('wpt', '77 30', '77')), /wpt whose lat and lon/],
    ['empty', gpx(point('wpt', '', '')), /wpt whose lat and lon/],
    ['points right in a track', gpx(`<trk>${point('trkpt', '1', '2')}</trk>`), /a position where/],
    [
      'waypoints in a track',
      gpx(`<trk><trkseg>${point('wpt', '1', '2')}</trkseg></trk>`),
      /a position where/,
    ],
    ['a segment in a route', gpx('<rte><trkseg/></rte>'), /a position where/],
    ['points right in the document', gpx(point('trkpt', '1', '2')), /a position where/],
    [
      'points in a point',
      gpx(`<wpt lat="1" lon="2">${point('wpt', '1', '2')}</wpt>`),
      /a position where/,
    ],
    ['a position of a track', gpx('<trk lat="1" lon="2"/>'), /a position where/],
    ['a position of a segment', gpx('<trk><trkseg lon="2"/></trk>'), /a position where/],
    ['another case', gpx(point('WPT', '1', '2')), /a position where/],
    ['another vocabulary', gpx('<x:wpt xmlns:x="urn:x" lat="1" lon="2"/>'), /a position where/],
    [
      'a route that Garmin calculated',
      gpx(`<rte><rtept lat="1" lon="2">\n<extensions>${garmin}</extensions></rtept></rte>`),
      /a point between those of a route .*line 2/,
    ],
    [
      'an extension with a position',
      gpx('<extensions><a><b lat="1" lon="2"/></a></extensions>'),
      /a position where/,
    ],
    ['another document', '<kml/>', /is not GPX/],
    ['another namespace', '<gpx xmlns="urn:secret"/>', /is not GPX/],
  ]
  for (const [what, text, message] of cases) {
    const fault = faultOf(text)
    t.match(fault, { code: 'InvalidGpx', status: 400, field: 'gpx', message }, what)
    t.match(fault?.message, /\(line \d+\)$/, what)
    t.notMatch(fault?.message, /secret|77/, what)
  }
})

t.test('work is bounded', async (t) => {
  const points = (count: number) => gpx(`<rte>${point('rtept', '1', '2').repeat(count)}</rte>`)
  const cases: [what: string, text: string, code: ServiceErrorCode][] = [
    ['positions', points(limits.vertexCount + 1), 'TooComplex'],
    ['laughs', `<!DOCTYPE gpx [<!ENTITY a "1">]>${gpx(point('wpt', '&a;', '1'))}`, 'InvalidXml'],
    ['nesting', '<trk>'.repeat(limits.bodyBytes / 5), 'TooComplex'],
  ]
  for (const [what, text, code] of cases) t.match(faultOf(text), { code }, what)
  const bounds = { positionCount: 2, elementCount: 10, attributeCount: 20 }
  t.match(readGpx(points(2), 'gpx', bounds).features[0].geometry, { type: 'LineString' })
  t.throws(() => readGpx(points(3), 'gpx', bounds), { code: 'TooManyVertices' })
})

function faultOf(text: string): ServiceError | undefined {
  try {
    readGpx(text, 'gpx')
  } catch (fault) {
    if (fault instanceof ServiceError) return fault
    throw fault
  }
  return undefined
}
