/**
 * What the table of wire.ts is asked of: a service with a few recipients and documents whose
 * every byte is known.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { hickoryHere } from '../support/service/command-line.js'
import { type Service, serve, temporaryDirectory } from '../support/service/hickory.js'

export const CONTEXT_ID = '8f14e45fceea467fa0f01234567890ab'
export const CONTEXT_GUID = '8F14E45F-CEEA-467F-A0F0-1234567890AB'

/** In degrees; around all recipients of sources 1 and 3, and nobody else. */
export const SQUARE = [
  [10, 59],
  [11, 59],
  [11, 60],
  [10, 60],
  [10, 59],
]

const sources: readonly [id: string, label: string, rows: string][] = [
  ['1', 'Landline', '+99912345678,59.91,10.75,\n"+999 22,33",59.5,10.25,\n'],
  ['2', 'a "q", b', '+99920000001,-1.5,2,\n'],
  ['3', '=1+1', '+99930000001,59.25,10.5,\n'],
]

/** Every member of the interface, with a value of its kind. */
export const CONFIGURATION = {
  MapDiv: 'map',
  TocDiv: 'toc',
  WebMapOptions: {
    usePopupManager: true,
    editable: false,
    mapOptions: { slider: true, logo: false },
  },
  MapId: '0123456789abcdef0123456789abcdef',
  SelectClickTolerancePx: 5,
  Basemaps: [
    { Title: 'Streets, "old"', Url: 'http://x/y?a=1&b=2', ThumbnailUrl: 'http://x/t.png' },
    { Title: '=cmd', Url: 'http://x/z' },
  ],
  AreaNameMap: [{ FeatureClassName: 'Counties', AreaNameField: 'NAME' }],
  Scalebar: { AttachTo: 'bottom-left', ScalebarUnit: 'dual', ScalebarStyle: 'line' },
  AreasGraphicsLayer: {
    Name: 'Areas',
    DefaultSymbol: fill('#112233', 1),
    SelectedSymbol: fill('#445566', 1.5),
    ActiveSymbol: fill('#778899', 2),
    Attributes: ['Id', 'Name'],
    AreaShapeAttributeName: 'Shape',
    AreaIdAttributeName: 'Id',
    ZoomToExtentExpandFactor: 1.25,
    EditExtentExpandFactor: 2,
  },
  contactCountMode: 'ContactLocation',
  GeometryServiceUrl: 'http://x/geometry',
  CustomerExtent: {
    type: 'extent',
    xmin: -1,
    ymin: -2,
    xmax: 3,
    ymax: 4.5,
    spatialReference: { wkid: 102100, latestWkid: 3857 },
    Partwise: {},
  },
  CustomerBoundaryLayerName: 'Boundary',
  CustomerBoundarySymbol: { LineColor: '#000000', LineWidth: 2, LineStyle: 'solid' },
  CustomerBoundaryGeometry: {
    type: 'polygon',
    rings: [SQUARE],
    spatialReference: { wkid: 4326, latestWkid: 4326 },
  },
  layers: [
    {
      id: 7,
      name: 'Schools',
      source: 'schools',
      type: 'GeoJson',
      url: 'http://x/schools',
      renderer: {
        type: 'simple',
        symbol: { type: 'esriPMS', url: 'http://x/s.png', imageData: 'AA==', width: 8, height: 9 },
      },
      allowRefresh: true,
      visible: false,
    },
  ],
  Uploader: {
    GenerateServiceUrl: 'http://x/generate',
    MaxRecordCount: 1000,
    GeneralizeScale: 40000,
    NumberOfDigitsAfterDecimal: 0,
    AreaNameField: 'NAME',
  },
  Exporter: { ExportServiceUrl: 'http://x/print', PreserveScale: false },
  SearchSources: {
    Locators: [
      { Url: 'http://x/l', OutFields: ['*'], Name: 'L', Placeholder: 'Find', CountryCode: 'NO' },
    ],
    FeatureLayers: [
      {
        Url: 'http://x/f',
        SearchFields: ['NAME'],
        OutFields: ['*'],
        Name: 'F',
        MaxResults: 6,
        MaxSuggestions: 6,
        EnableSuggestions: true,
        MinCharacters: 0,
      },
    ],
  },
}

const CONTEXT = {
  Id: CONTEXT_GUID,
  ContextName: 'ctx',
  Areas: [
    {
      Id: 'a1',
      Name: 'North, side',
      Geometry: { type: 'polygon', rings: [SQUARE], spatialReference: { wkid: 4326 } },
      DomId: 'd',
      ShapeType: 'polygon',
      IsVisible: true,
      IsSelected: false,
      IsActive: false,
    },
    {
      Id: 'a2',
      Name: 'Broken',
      Geometry: { type: 'polygon', rings: [[[0, 95]]], spatialReference: { wkid: 4326 } },
    },
  ],
}

/**
 * Imports the recipients, starts the service and posts the documents, written the wrong way round.
 *
 * @param options  of `hickory serve`
 */
export async function serveWireWorld(
  t: Test,
  ...options: readonly string[]
): Promise<Service & { readonly dataDirectory: string }> {
  const data = temporaryDirectory(t)
  for (const [id, label, rows] of sources) {
    const file = join(data, `${id}.csv`)
    writeFileSync(file, `number,lat,lng,contact\n${rows}`)
    const directory = join(data, 'data')
    const imported = await hickoryHere(
      'import',
      '--data',
      directory,
      '--source',
      id,
      '--label',
      label,
      file,
    )
    if (imported.code !== 0) throw new Error(imported.stderr)
  }
  const dataDirectory = join(data, 'data')
  const service = await serve(t, '--data', dataDirectory, ...options)
  for (const [path, document] of [
    ['/api/configuration', CONFIGURATION],
    ['/api/contexts', CONTEXT],
  ] as const) {
    const body = JSON.stringify(reversed(document))
    const response = await fetch(service.url + path, { method: 'POST', body })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }
  return { ...service, dataDirectory }
}

/** The same with its members in the opposite order and in other letters, and some that are null. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).reverse()
  if (entries.length === 0) return value
  return Object.fromEntries([
    ['unknownMember', null],
    ...entries.map(([name, member]) => [swapped(name), reversed(member)]),
  ])
}

function swapped(name: string): string {
  return name.replace(/[a-z]/i, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
}

function fill(color: string, width: number) {
  return {
    FillColor: color,
    FillStyle: 'solid',
    LineColor: color,
    LineStyle: 'solid',
    LineWidth: width,
  }
}
