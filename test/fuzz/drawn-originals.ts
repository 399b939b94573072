/**
 * Drawings in each notation that a service takes, as tokens: a position, a radius or a code is one token, so that
 * tokens can be moved about and no number becomes another one.
 *
 * @module
 */
import { cellToBoundary, gridDisk, latLngToCell } from 'h3-js'
import { zipOf } from '../support/data/zip.js'

export interface Original {
  readonly name: string
  readonly path: string
  readonly contentType: string
  readonly tokens: readonly string[]
  /** What may be put between the tokens: nothing that says where. */
  readonly others: readonly string[]
  /** The body of a text, where it is not the text. */
  readonly packed?: (text: string) => Buffer
  /** A request that draws no less than any part of the original. */
  readonly superset: object
}

type Place = readonly [lng: number, lat: number]

/** @param ring  the shell of the area that `areaName` names */
export function originalsOf(ring: readonly Place[], areaName: string): readonly Original[] {
  const box = { bbox: boxOf(ring) }
  const cells = gridDisk(latLngToCell(ring[0][1], ring[0][0], 5), 3)
  const inJson = { path: RECIPIENTS, contentType: 'application/json' }
  const positions = (write: (lng: number, lat: number) => string) =>
    ring.map(([lng, lat]) => write(lng, lat))
  const kml = {
    path: COUNTS,
    tokens: [
      ...['<kml xmlns="http://www.opengis.net/kml/2.2">', '<Document>', '<Placemark>'],
      ...['<name>', 'a', '</name>', '<MultiGeometry>', '<Polygon>', '<outerBoundaryIs>'],
      ...['<LinearRing>', '<coordinates>', ...positions((lng, lat) => ` ${lng},${lat} `)],
      ...['</coordinates>', '</LinearRing>', '</outerBoundaryIs>', '</Polygon>', '<Point>'],
      ...['<coordinates>', positions((lng, lat) => ` ${lng},${lat} `)[0], '</coordinates>'],
      ...['</Point>', '</MultiGeometry>', '</Placemark>', '</Document>', '</kml>'],
    ],
    others: [...MARKUP, '<innerBoundaryIs>', '</innerBoundaryIs>', '<Folder>', '<NetworkLink/>'],
    superset: box,
  }
  const wkt = ['"POLYGON', '(', '(', ...separated(positions((lng, lat) => ` ${lng} ${lat} `))]
  return [
    {
      name: 'CAP',
      path: `${COUNTS}&expired=true`,
      contentType: 'application/cap+xml',
      tokens: [...CAP_HEAD, ...positions((lng, lat) => ` ${lat},${lng} `), ...capTail(ring[0])],
      others: [...MARKUP, '<area>', '</area>', '<polygon/>', '<info/>', '<circle>', '</circle>'],
      superset: { bbox: boxOf(ring, 0.5), areas: [CAP_AREA] },
    },
    { ...kml, name: 'KML', contentType: 'application/vnd.google-earth.kml+xml' },
    {
      ...kml,
      name: 'KMZ',
      contentType: 'application/vnd.google-earth.kmz',
      packed: (text) => zipOf([{ name: 'doc.kml', content: text }]),
    },
    {
      name: 'GPX',
      path: COUNTS,
      contentType: 'application/gpx+xml',
      tokens: [
        ...['<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">', '<trk>', '<trkseg>'],
        ...positions((lng, lat) => `<trkpt lat="${lat}" lon="${lng}"/>`),
        ...['</trkseg>', '</trk>', '</gpx>'],
      ],
      others: [...MARKUP, '<rte>', '</rte>', '<extensions>', '</extensions>', '<trk/>'],
      superset: box,
    },
    {
      ...inJson,
      name: 'WKT',
      tokens: ['{"countsOnly":true,', '"wkt":', ...wkt, ')', ')"', '}'],
      others: ['(', ')', ',', 'Z', 'EMPTY', 'MULTI', 'SRID=4326;', ' ', '"', 'POINT', '((', '))'],
      superset: box,
    },
    {
      ...inJson,
      name: 'H3',
      tokens: ['{"countsOnly":true,', '"h3":', '[', ...separated(cells.map(quoted)), ']', '}'],
      others: ['[', ']', ',', '""', 'null', '"countsOnly":true,', '{', '}', '" "'],
      superset: { bbox: boxOf(cells.flatMap((cell) => cellToBoundary(cell, true) as Place[])) },
    },
    {
      name: 'TopoJSON',
      path: COUNTS,
      contentType: 'application/topo+json',
      tokens: [
        ...['{"type":"Topology",', '"objects":', '{"a":', '{"type":"Polygon",', '"arcs":'],
        ...['[', '[', '0', ']', ']', '}', '}', ',"arcs":', '[', '['],
        ...separated(positions((lng, lat) => `[${lng},${lat}]`)),
        ...[']', ']', '}'],
      ],
      others: ['[', ']', ',', '{', '}', 'null', '"type":"MultiPolygon",', '~', '-', '"id":"x",'],
      superset: box,
    },
    {
      ...inJson,
      name: 'areas',
      tokens: [
        ...['{"countsOnly":true,', '"areas":', '[', ...separated(NAMES.map(quoted)), ']', ','],
        ...['"geoJSON":', '{"type":"Feature",', '"geometry":null,', '"properties":'],
        ...['{', '"exclude":true,', '"area":', quoted(areaName), '}', '}', '}'],
      ],
      others: ['[', ']', ',', '{', '}', 'null', '"area":', '"areas":', '"exclude":false,', '""'],
      superset: { areas: [...NAMES, areaName] },
    },
    {
      name: 'grid',
      path: '/api/grid',
      contentType: 'application/json',
      tokens: ['{', '"h3Resolution":4,', '"wkt":', ...wkt, ')', ')"', '}'],
      others: ['(', ')', ',', '{', '}', '"tile":"8/59/105",', '"minCount":9,', 'EMPTY', 'null'],
      superset: box,
    },
  ]
}

const RECIPIENTS = '/api/recipients'
const COUNTS = `${RECIPIENTS}?countsOnly=true`
const CAP_AREA = 'SAME:048157'
const NAMES = ['SAME:048201', 'counties:48157', 'UGC:TXC039', 'states:LA']

const MARKUP = [
  ...['<!-- x -->', '<!--', '-->', '<![CDATA[', ']]>', '<?a b?>', '&amp;', '&x;', '&#44;', '<a/>'],
  ...['<x:a xmlns:x="urn:x"/>', ' xmlns="urn:x"', '\ufeff', '\0', '<', '>', 'e', ',', '-', '.'],
  '<!DOCTYPE a [<!ENTITY x "y">]>',
]

const CAP_HEAD = [
  '<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2">',
  '<identifier>a</identifier>',
  '<sender>b</sender>',
  '<sent>2026-05-24T16:49:00-05:00</sent>',
  '<status>Actual</status>',
  '<msgType>Alert</msgType>',
  '<scope>Public</scope>',
  '<info>',
  '<category>Met</category>',
  '<event>Flood</event>',
  '<urgency>Immediate</urgency>',
  '<severity>Severe</severity>',
  '<certainty>Likely</certainty>',
  '<area>',
  '<areaDesc>here</areaDesc>',
  '<polygon>',
]

function capTail([lng, lat]: Place): string[] {
  const [system, code] = CAP_AREA.split(':')
  return [
    ...['</polygon>', '<circle>', `${lat},${lng} 5`, '</circle>', '<geocode>', '<valueName>'],
    ...[system, '</valueName>', '<value>', code, '</value>', '</geocode>', '</area>', '</info>'],
    '</alert>',
  ]
}

function quoted(text: string): string {
  return `"${text}"`
}

function separated(items: readonly string[]): string[] {
  return items.flatMap((item, i) => (i === 0 ? [item] : [',', item]))
}

function boxOf(places: readonly Place[], marginDegrees = 0.001): number[] {
  const lngs = places.map(([lng]) => lng)
  const lats = places.map(([, lat]) => lat)
  return [
    Math.min(...lngs) - marginDegrees,
    Math.min(...lats) - marginDegrees,
    Math.max(...lngs) + marginDegrees,
    Math.max(...lats) + marginDegrees,
  ]
}
