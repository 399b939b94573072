/**
 * KML as other programs write it, and as it must not be.
 *
 * @module
 */
import t from 'tap'
import { ServiceError, type ServiceErrorCode } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { kmlFeatures, readKml } from '../../src/notations/kml/read-kml.js'

const RING = '-95.4,29.7,0 -95.3,29.7,0 -95.3,29.8,0 -95.4,29.7,0'
const RING_POSITIONS = [
  [-95.4, 29.7],
  [-95.3, 29.7],
  [-95.3, 29.8],
  [-95.4, 29.7],
]
const HOLE = '-95.33,29.71 -95.31,29.71 -95.31,29.73 -95.33,29.71'
const HOLE_POSITIONS = [
  [-95.33, 29.71],
  [-95.31, 29.71],
  [-95.31, 29.73],
  [-95.33, 29.71],
]
const SQUARE = { type: 'Polygon', coordinates: [RING_POSITIONS] }
const POLYGON = `<Polygon><outerBoundaryIs><LinearRing><coordinates>${RING}</coordinates></LinearRing></outerBoundaryIs></Polygon>`

const kml = (content: string) => `<kml xmlns="http://www.opengis.net/kml/2.2">${content}</kml>`
const placemark = (content: string) => kml(`<Placemark>${content}</Placemark>`)
const point = (coordinates: string) =>
  placemark(`<Point><coordinates>${coordinates}</coordinates></Point>`)
const line = (coordinates: string) =>
  placemark(`<LineString><coordinates>${coordinates}</coordinates></LineString>`)
const ring = (coordinates: string) =>
  `<LinearRing><coordinates>${coordinates}</coordinates></LinearRing>`
const track = (content: string) =>
  `<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Placemark>${content}</Placemark></kml>`

/** As programs write them; what is of no concern here is there as they write it, too. */
const documents: [program: string, text: string, features: object[]][] = [
  [
    'Google Earth',
    `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2" xmlns:kml="http://www.opengis.net/kml/2.2" xmlns:atom="http://www.w3.org/2005/Atom">
<Document>
	<name>Evacuation.kml</name>
	<gx:CascadingStyle kml:id="managed_1"><Style><LineStyle><color>ff0000ff</color></LineStyle></Style></gx:CascadingStyle>
	<StyleMap id="m"><Pair><key>normal</key><styleUrl>#n</styleUrl></Pair></StyleMap>
	<atom:link rel="app" href="https://www.google.com/earth/" title="Google Earth"></atom:link>
	<Folder>
		<name>Zones</name>
		<open>1</open>
		<Region><LatLonAltBox><north>31</north><south>29</south><east>-95</east><west>-96</west></LatLonAltBox></Region>
		<Placemark id="0A1B">
			<name>Zone A</name>
			<visibility>0</visibility>
			<LookAt><longitude>-95.35</longitude><latitude>29.75</latitude><gx:altitudeMode>relativeToSeaFloor</gx:altitudeMode></LookAt>
			<styleUrl>#m</styleUrl>
			<gx:balloonVisibility>1</gx:balloonVisibility>
			<Polygon>
				<extrude>1</extrude>
				<tessellate>1</tessellate>
				<altitudeMode>relativeToGround</altitudeMode>
				<outerBoundaryIs>
					<LinearRing>
						<coordinates>
							-95.4,29.7,100 -95.3,29.7,100 -95.3,29.8,100 -95.4,29.7,100 
						</coordinates>
					</LinearRing>
				</outerBoundaryIs>
				<innerBoundaryIs><LinearRing><coordinates>${HOLE}</coordinates></LinearRing></innerBoundaryIs>
			</Polygon>
		</Placemark>
	</Folder>
	<ScreenOverlay><name>Legend</name><Icon><href>files/legend.png</href></Icon><overlayXY x="0" y="1" xunits="fraction" yunits="fraction"/></ScreenOverlay>
</Document>
</kml>`,
    [
      {
        id: '0A1B',
        name: 'Zone A',
        properties: {},
        geometry: { type: 'Polygon', coordinates: [RING_POSITIONS, HOLE_POSITIONS] },
      },
    ],
  ],
  [
    'GDAL and QGIS',
    `<?xml version="1.0" encoding="utf-8" ?>
<kml xmlns="http://www.opengis.net/kml/2.2">
<Document id="root_doc">
<Schema name="counties" id="counties">
	<SimpleField name="GEOID" type="string"></SimpleField>
	<SimpleField name="radius" type="float"></SimpleField>
</Schema>
<Folder><name>counties</name>
  <Placemark>
	<name>Harris</name>
	<Style><LineStyle><color>ff0000ff</color></LineStyle><PolyStyle><fill>0</fill></PolyStyle></Style>
	<ExtendedData><SchemaData schemaUrl="#counties">
		<SimpleData name="GEOID">48201</SimpleData>
		<SimpleData name="radius">5000</SimpleData>
	</SchemaData></ExtendedData>
      <MultiGeometry>${POLYGON}${POLYGON}</MultiGeometry>
  </Placemark>
</Folder>
</Document></kml>`,
    [
      {
        id: undefined,
        name: 'Harris',
        properties: { GEOID: '48201', radius: '5000' },
        geometry: { type: 'GeometryCollection', geometries: [SQUARE, SQUARE] },
      },
    ],
  ],
  [
    'ArcGIS',
    `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.opengis.net/kml/2.2 http://schemas.opengis.net/kml/2.2.0/ogckml22.xsd">
<Document id="Zones"><name>Zones</name><Snippet maxLines="2"></Snippet>
<Folder id="FeatureLayer0"><name>Zones</name><Snippet></Snippet>
<Placemark id="ID_00000"><name>1</name><Snippet maxLines="0"></Snippet>
<description><![CDATA[<html><body><coordinates>1,2</coordinates><table><tr><td>FID</td></tr></table></body></html>]]></description>
<styleUrl>#PolyStyle00</styleUrl>
<MultiGeometry><Polygon><extrude>0</extrude><altitudeMode>clampToGround</altitudeMode><outerBoundaryIs><LinearRing><coordinates> ${RING} </coordinates></LinearRing></outerBoundaryIs></Polygon></MultiGeometry>
</Placemark></Folder></Document></kml>`,
    [
      {
        id: 'ID_00000',
        name: '1',
        properties: {},
        geometry: { type: 'GeometryCollection', geometries: [SQUARE] },
      },
    ],
  ],
  [
    'My Maps',
    `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2">
  <Document>
    <name>Shelters</name>
    <description/>
    <Placemark>
      <name>Gym</name>
      <styleUrl>#icon-1899-0288D1</styleUrl>
      <ExtendedData>
        <Data name="exclude"><value>true</value></Data>
        <Data name="__proto__"><displayName>x</displayName><value> 7 </value></Data>
        <Data name="exclude"><value>false</value></Data>
      </ExtendedData>
      <Point>
        <coordinates>
          -95.37,29.76,0
        </coordinates>
      </Point>
    </Placemark>
    <Placemark><name>Address only</name><address>1 Main St</address></Placemark>
  </Document>
</kml>`,
    [
      {
        id: undefined,
        name: 'Gym',
        properties: Object.fromEntries([
          ['exclude', 'true'],
          ['__proto__', '7'],
        ]),
        geometry: { type: 'Point', coordinates: [-95.37, 29.76] },
      },
      { id: undefined, name: 'Address only', properties: {}, geometry: null },
    ],
  ],
  [
    'PostGIS',
    `<Polygon><outerBoundaryIs>${ring(RING)}</outerBoundaryIs></Polygon>`,
    [{ id: undefined, name: undefined, properties: {}, geometry: SQUARE }],
  ],
  [
    'a telephone that records tracks',
    track(
      `<gx:MultiTrack><altitudeMode>absolute</altitudeMode><gx:interpolate>0</gx:interpolate>
      <gx:Track id="t"><when>2024-05-01T10:00:00Z</when><when>2024-05-01T10:00:05Z</when>
        <gx:coord>-95.3 29.7 12.5</gx:coord><gx:coord>-95.31 29.71 12</gx:coord>
        <gx:angles>1 2 3</gx:angles><Model><Location/></Model>
        <ExtendedData><SchemaData schemaUrl="#s"><gx:SimpleArrayData name="speed"><gx:value>1</gx:value></gx:SimpleArrayData></SchemaData></ExtendedData>
      </gx:Track>
      <gx:Track><when>2024-05-01T10:01:00Z</when><gx:coord>-95.4 29.8</gx:coord></gx:Track></gx:MultiTrack>`,
    ),
    [
      {
        id: undefined,
        name: undefined,
        properties: {},
        geometry: {
          type: 'GeometryCollection',
          geometries: [
            {
              type: 'LineString',
              coordinates: [
                [-95.3, 29.7],
                [-95.31, 29.71],
              ],
            },
            { type: 'Point', coordinates: [-95.4, 29.8] },
          ],
        },
      },
    ],
  ],
]

t.test('documents are read as programs write them', async (t) => {
  for (const [program, text, features] of documents) {
    t.same(kmlFeatures(text, 'kml'), features, program)
    t.same(kmlFeatures(Buffer.from(text), 'kml'), features, `${program}, as bytes`)
    const geometries = features.map((feature) => (feature as { geometry: unknown }).geometry)
    t.same(
      readKml(text, 'kml'),
      {
        type: 'FeatureCollection',
        features: geometries.map((geometry) => ({ type: 'Feature', geometry, properties: {} })),
      },
      `${program}: what a placemark says of itself does not change whom it selects`,
    )
  }
})

t.test('all versions of the namespace are read, and none', async (t) => {
  for (const namespace of [
    '',
    'http://earth.google.com/kml/2.0',
    'http://earth.google.com/kml/2.1',
    'http://earth.google.com/kml/2.2',
    'http://www.opengis.net/kml/2.2',
    'http://www.opengis.net/kml/2.3',
  ]) {
    const text = `<kml xmlns="${namespace}"><Folder><Folder><Placemark>${POLYGON}</Placemark></Folder></Folder></kml>`
    t.same(geometryOf(text), SQUARE, namespace)
    const prefixed = `<k:kml xmlns:k="${namespace}"><k:Placemark><k:Point><k:coordinates>1,2</k:coordinates></k:Point></k:Placemark></k:kml>`
    if (namespace !== '') t.match(geometryOf(prefixed), { type: 'Point' }, `${namespace}, prefixed`)
  }
})

t.test('numbers are read to the last bit, and what lies between them is white space', async (t) => {
  t.same(geometryOf(line('\n\t-95.3700000000001,+29.76,-1e3\r\n 1.5E1,.5 \t -0,7.')), {
    type: 'LineString',
    coordinates: [
      [-95.3700000000001, 29.76],
      [15, 0.5],
      [-0, 7],
    ],
  })
  t.same(geometryOf(point('<![CDATA[1,2]]>')), { type: 'Point', coordinates: [1, 2] })
})

t.test('several rings of one inner boundary are holes, and a ring alone is a line', async (t) => {
  const inner = `<innerBoundaryIs>${ring(HOLE)}${ring(HOLE)}</innerBoundaryIs>`
  const polygon = POLYGON.replace('</Polygon>', `${inner}</Polygon>`)
  t.same(geometryOf(placemark(polygon)), {
    type: 'Polygon',
    coordinates: [RING_POSITIONS, HOLE_POSITIONS, HOLE_POSITIONS],
  })
  t.same(geometryOf(placemark(ring(RING))), { type: 'LineString', coordinates: RING_POSITIONS })
})

t.test('tracks that are interpolated are one line', async (t) => {
  const tracks = (interpolate: string) =>
    track(
      `<gx:MultiTrack>${interpolate}<gx:Track><gx:coord>1 2</gx:coord><gx:coord>3 4</gx:coord></gx:Track><gx:Track><gx:coord>5 6 7</gx:coord><gx:coord>7 8 7</gx:coord></gx:Track></gx:MultiTrack>`,
    )
  const first = [
    [1, 2],
    [3, 4],
  ]
  const second = [
    [5, 6],
    [7, 8],
  ]
  t.same(geometryOf(tracks('<gx:interpolate>1</gx:interpolate>')), {
    type: 'LineString',
    coordinates: [...first, ...second],
  })
  for (const interpolate of ['', '<gx:interpolate>0</gx:interpolate>']) {
    t.same(geometryOf(tracks(interpolate)), {
      type: 'MultiLineString',
      coordinates: [first, second],
    })
  }
})

t.test('what cannot be taken is refused with its line, and without its words', async (t) => {
  const polygonOf = (content: string) => placemark(`<Polygon>${content}</Polygon>`)
  const outer = `<outerBoundaryIs>${ring(RING)}</outerBoundaryIs>`
  const cases: [what: string, text: string, message: RegExp][] = [
    ['a link', kml('<NetworkLink><Link><href>secret</href></Link></NetworkLink>'), /NetworkLink/],
    ['a link within', kml('<Folder>\n<NetworkLink/></Folder>'), /NetworkLink.*line 2/],
    ['an answer to a link', kml('<NetworkLinkControl/>'), /NetworkLinkControl/],
    [
      'an image on the ground',
      kml('<GroundOverlay><LatLonBox><north>1</north></LatLonBox></GroundOverlay>'),
      /GroundOverlay/,
    ],
    ['a photo', kml('<Document><PhotoOverlay/></Document>'), /PhotoOverlay/],
    ['a model', placemark('<Model><Location/></Model>'), /Model/],
    ['a space after a comma', point('-95.3, 29.7'), /number 1 .*no spaces after commas/],
    ['spaces after commas', line('-95.3,29.7 -95.3, 29.8,'), /number 2 .*no spaces after commas/],
    ['a space before a comma', point('-95.3 ,29.7'), /one number/],
    ['one number', point('-95.3'), /one number/],
    ['four numbers', point('-95.3,29.7,1,2'), /more than three/],
    ['commas alone', line('-95.3,29.7,-95.4,29.8'), /more than three/],
    ['no number', point('-95.3,secret'), /not a number/],
    ['not a number', point('NaN,29'), /not a number/],
    ['infinite', point('1e999,29'), /not a number/],
    ['hexadecimal', point('0x10,29'), /not a number/],
    ['an altitude that is none', point('-95.3,29.7,secret'), /not a number/],
    ['an empty longitude', point('-95.3,,29.7'), /not a number/],
    ['a no-break space', point('-95.3,29.7\u00a0-95.3,29.8'), /more than three|not a number/],
    ['a decimal comma', point('-95,3,29,7'), /more than three/],
    ['no position', point(' '), /no position/],
    ['no coordinates', placemark('<Point/>'), /Point without coordinates/],
    [
      'two coordinates',
      placemark('<Point><coordinates>1,2</coordinates><coordinates>1,2</coordinates></Point>'),
      /more than one/,
    ],
    ['two positions of a point', point('1,2 3,4'), /more than one position/],
    ['a line of one position', line('1,2'), /fewer than two/],
    ['elements within coordinates', point('1,2<b/>'), /within coordinates/],
    ['a polygon without a boundary', polygonOf(''), /without outerBoundaryIs/],
    [
      'a hole alone',
      polygonOf(`<innerBoundaryIs>${ring(HOLE)}</innerBoundaryIs>`),
      /without outer/,
    ],
    ['two outer boundaries', polygonOf(outer + outer), /more than one/],
    [
      'an outer boundary of two rings',
      polygonOf(`<outerBoundaryIs>${ring(RING)}${ring(RING)}</outerBoundaryIs>`),
      /more than one/,
    ],
    ['a hole without a ring', polygonOf(`${outer}<innerBoundaryIs/>`), /without a LinearRing/],
    [
      'a hole without positions',
      polygonOf(`${outer}<innerBoundaryIs>${ring('')}</innerBoundaryIs>`),
      /no position/,
    ],
    ['a ring right in a polygon', polygonOf(outer + ring(HOLE)), /where KML has none/],
    [
      'coordinates right in a boundary',
      polygonOf(`${outer}<innerBoundaryIs>${ring(HOLE)}<coordinates/></innerBoundaryIs>`),
      /where KML has none/,
    ],
    ['a ring alone that is open', placemark(ring('1,2 3,4 5,6')), /does not end/],
    ['two geometries', placemark(POLYGON + POLYGON), /MultiGeometry/],
    ['a geometry beside placemarks', kml(`<Folder>${POLYGON}</Folder>`), /where KML has none/],
    ['a placemark of another case', kml(`<PlaceMark>${POLYGON}</PlaceMark>`), /where KML has none/],
    ['a placemark of a schema', kml(`<Zone>${POLYGON}</Zone>`), /where KML has none/],
    [
      'a geometry of another vocabulary',
      placemark('<x:Point xmlns:x="urn:x"/>'),
      /where KML has none/,
    ],
    [
      'a geometry below one of another',
      placemark(`<x:a xmlns:x="urn:x">${POLYGON}</x:a>`),
      /where KML has none/,
    ],
    ['text between elements', placemark(`secret${POLYGON}`), /text between/],
    ['a track without places', track('<gx:Track><when>2024</when></gx:Track>'), /without coord/],
    [
      'a track with a place missing',
      track('<gx:Track><when>1</when><when>2</when><gx:coord>1 2 3</gx:coord></gx:Track>'),
      /fewer coord/,
    ],
    [
      'a track with an empty place',
      track(
        '<gx:Track><when>1</when><when>2</when><gx:coord/><gx:coord>1 2 3</gx:coord></gx:Track>',
      ),
      /two or three numbers/,
    ],
    [
      'a track with commas',
      track('<gx:Track><gx:coord>1,2,3</gx:coord></gx:Track>'),
      /two or three numbers/,
    ],
    ['tracks without a track', track('<gx:MultiTrack/>'), /without a track/],
    ['another document', '<gpx><wpt lat="1" lon="2"/></gpx>', /is not KML/],
    ['another namespace', '<kml xmlns="urn:secret"/>', /is not KML/],
    ['another root', '<Style/>', /is not KML/],
  ]
  for (const [what, text, message] of cases) {
    const fault = faultOf(text)
    t.match(fault, { code: 'InvalidKml', status: 400, field: 'kml', message }, what)
    t.match(fault?.message, /\(line \d+\)$/, what)
    t.notMatch(fault?.message, /secret|95|29/, what)
  }
  const zip = Buffer.from('PK\u0003\u0004')
  t.throws(() => readKml(zip, 'kml'), { code: 'InvalidKml', message: /KMZ/ })
})

t.test('what has no place is passed over', async (t) => {
  const texts = [
    placemark(`<x:a xmlns:x="urn:x"><x:b/>text</x:a>${POLYGON}`),
    placemark(`<unknown>text</unknown>${POLYGON}<TimeSpan><begin>2024</begin></TimeSpan>`),
    placemark(`<ExtendedData><x:Point xmlns:x="urn:x">1</x:Point></ExtendedData>${POLYGON}`),
    kml(`<Document><Style/><Placemark>${POLYGON}</Placemark><!-- <Placemark/> --></Document>`),
  ]
  for (const text of texts) t.same(geometryOf(text), SQUARE)
  t.same(readKml(kml(''), 'kml').features, [])
  t.same(geometryOf(placemark('<MultiGeometry/>')), { type: 'GeometryCollection', geometries: [] })
})

t.test('what XML can do to its reader, it does not do', async (t) => {
  const laughs = Array.from(
    { length: 10 },
    (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
  ).join('')
  const longest = limits.xmlCharCount - 1_000
  const cases: [what: string, text: string, code: ServiceErrorCode][] = [
    ['laughs', `<!DOCTYPE kml [<!ENTITY l0 "1,2 ">${laughs}]>${point('&l9;')}`, 'InvalidXml'],
    [
      'files',
      `<!DOCTYPE kml [<!ENTITY x SYSTEM "file:///etc/hostname">]>${point('&x;')}`,
      'InvalidXml',
    ],
    ['nesting', '<Folder>'.repeat(limits.bodyBytes / 8), 'TooComplex'],
    ['elements', kml('<Placemark/>'.repeat(limits.xmlElementCount)), 'TooComplex'],
    ['positions', line('1,2 '.repeat(limits.vertexCount + 1)), 'TooManyVertices'],
    ['a long number', point('1'.repeat(longest)), 'InvalidKml'],
    ['a long number that is none', point(`${'1'.repeat(longest)}x,1`), 'InvalidKml'],
    ['commas', point(','.repeat(longest)), 'InvalidKml'],
  ]
  for (const [what, text, code] of cases) t.match(faultOf(text), { code }, what)
  const most = readKml(line('1,2 '.repeat(limits.vertexCount)), 'kml')
  t.match(most.features[0].geometry, { type: 'LineString' }, 'as many positions as may be')
})

t.test('an importer has bounds of its own', async (t) => {
  const bounds = { positionCount: 2, elementCount: 4, attributeCount: 1 }
  t.equal(kmlFeatures(line('1,2 3,4'), 'file', bounds).length, 1)
  t.throws(() => kmlFeatures(line('1,2 3,4 5,6'), 'file', bounds), { code: 'TooManyVertices' })
  t.throws(() => kmlFeatures(point('1,2').replace('<Point>', '<name/><Point>'), 'file', bounds), {
    code: 'TooComplex',
  })
})

function geometryOf(text: string): unknown {
  const { features } = readKml(text, 'kml')
  return features.length === 1 ? features[0].geometry : features
}

function faultOf(text: string): ServiceError | undefined {
  try {
    readKml(text, 'kml')
  } catch (fault) {
    if (fault instanceof ServiceError) return fault
    throw fault
  }
  return undefined
}
