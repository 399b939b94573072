/**
 * The names of every member of the interface, in the order in which they are written.
 *
 * @module
 */
import t from 'tap'
import { FARTHEST_METRES } from '../../src/geometry/great-circle.js'
import { MapConfigurationSchema } from '../../src/interface/configuration.js'
import { MapContextSchema } from '../../src/interface/context.js'
import { ErrorResponseSchema } from '../../src/interface/error.js'
import { operations } from '../../src/interface/operations.js'
import { RecipientRequestSchema, RecipientResponseSchema } from '../../src/interface/recipients.js'

interface Described {
  readonly title?: string
  readonly description?: string
  readonly typeDescription?: string
  readonly type?: string | readonly string[]
  readonly maximum?: number
  readonly properties?: Record<string, Described>
  readonly items?: Described
  readonly required?: string[]
  readonly additionalProperties?: unknown
}

const schemas: readonly object[] = [
  ...Object.values(operations).flatMap(({ request, response }) => [request, response ?? {}]),
  ErrorResponseSchema,
]

/** `Name type`, one line a member; what is inside a member is indented below it. */
function outline(schema: object, indent = ''): string[] {
  const { properties, items } = schema as Described
  if (items !== undefined) return outline(items, indent)
  return Object.entries(properties ?? {}).flatMap(([name, member]) => {
    const type = member.type === 'array' ? `list of ${member.items?.type ?? 'any'}` : member.type
    return [`${indent}${name} ${type ?? 'any'}`, ...outline(member, `${indent}  `)]
  })
}

function required(schema: object): string[] {
  const { properties = {}, items, required: own = [] } = schema as Described
  return [...own, ...(items ? required(items) : []), ...Object.values(properties).flatMap(required)]
}

const SPATIAL_REFERENCE = ['spatialReference object', '  wkid integer', '  latestWkid integer']
const GEOMETRY = ['type string', 'rings list of array', ...SPATIAL_REFERENCE]
const SYMBOL = [
  'FillColor string',
  'FillStyle string',
  'LineColor string',
  'LineStyle string',
].concat('LineWidth number')
const inside = (lines: string[]) => lines.map((line) => `  ${line}`)

const CONFIGURATION = [
  'MapDiv string',
  'TocDiv string',
  'WebMapOptions object',
  '  usePopupManager boolean',
  '  editable boolean',
  '  mapOptions object',
  '    slider boolean',
  '    logo boolean',
  'MapId string',
  'SelectClickTolerancePx integer',
  'Basemaps list of object',
  '  Title string',
  '  Url string',
  '  ThumbnailUrl string',
  'AreaNameMap list of object',
  '  FeatureClassName string',
  '  AreaNameField string',
  'Scalebar object',
  '  AttachTo string',
  '  ScalebarUnit string',
  '  ScalebarStyle string',
  'AreasGraphicsLayer object',
  '  Name string',
  '  DefaultSymbol object',
  ...inside(inside(SYMBOL)),
  '  SelectedSymbol object',
  ...inside(inside(SYMBOL)),
  '  ActiveSymbol object',
  ...inside(inside(SYMBOL)),
  '  Attributes list of string',
  '  AreaShapeAttributeName string',
  '  AreaIdAttributeName string',
  '  ZoomToExtentExpandFactor number',
  '  EditExtentExpandFactor number',
  'contactCountMode string',
  'GeometryServiceUrl string',
  'CustomerExtent object',
  '  type string',
  '  xmin number',
  '  ymin number',
  '  xmax number',
  '  ymax number',
  ...inside(SPATIAL_REFERENCE),
  '  Partwise object',
  'CustomerBoundaryLayerName string',
  'CustomerBoundarySymbol object',
  '  LineColor string',
  '  LineWidth number',
  '  LineStyle string',
  'CustomerBoundaryGeometry object',
  ...inside(GEOMETRY),
  'layers list of object',
  '  id integer',
  '  name string',
  '  source string',
  '  type string',
  '  url string',
  '  renderer object',
  '    type string',
  '    symbol object',
  '      type string',
  '      url string',
  '      imageData string',
  '      width number',
  '      height number',
  '  allowRefresh boolean',
  '  visible boolean',
  'Uploader object',
  '  GenerateServiceUrl string',
  '  MaxRecordCount integer',
  '  GeneralizeScale number',
  '  NumberOfDigitsAfterDecimal integer',
  '  AreaNameField string',
  'Exporter object',
  '  ExportServiceUrl string',
  '  PreserveScale boolean',
  'SearchSources object',
  '  Locators list of object',
  '    Url string',
  '    OutFields list of string',
  '    Name string',
  '    Placeholder string',
  '    CountryCode string',
  '  FeatureLayers list of object',
  '    Url string',
  '    SearchFields list of string',
  '    OutFields list of string',
  '    Name string',
  '    MaxResults integer',
  '    MaxSuggestions integer',
  '    EnableSuggestions boolean',
  '    MinCharacters integer',
]

const CONTEXT = [
  'Id string',
  'ContextName string',
  'Areas list of object',
  '  Id string',
  '  Name string',
  '  Geometry object',
  ...inside(inside(GEOMETRY)),
  // Ours.
  '  Drawing any',
  '  DomId string',
  '  ShapeType string',
  '  IsVisible boolean',
  '  IsSelected boolean',
  '  IsActive boolean',
  '  IsUpdatingContactList boolean',
  '  Contacts list of object',
  '    Label string',
  '    Count number',
  '  ContactTotalCount number',
  '  HasContactCountError boolean',
  '  HasInvalidShapeError boolean',
  // Ours.
  'Alert object',
  '  Identifier string',
  '  Sender string',
  '  Sent string',
  '  Status string',
  '  MsgType string',
  '  Expires string',
  '  References list of object',
  '    Sender string',
  '    Identifier string',
  '    Sent string',
  '  Cap any',
  'Warnings list of object',
  '  Code string',
  '  Message string',
  '  Path string',
]

const GEOMETRY_MEMBERS = [
  'coordinates list of any',
  'geometries list of any',
  'bbox any',
  'rings list of array',
  'paths list of array',
  'points list of array',
  'x number',
  'y number',
  'xmin number',
  'ymin number',
  'xmax number',
  'ymax number',
  ...SPATIAL_REFERENCE,
]
const SHAPE_MEMBERS = [
  'geometry object,null',
  '  type string',
  ...inside(GEOMETRY_MEMBERS),
  'properties object,null',
  '  exclude boolean',
  '  radius number',
  '  buffer number',
  '  units string',
  '  area any',
  '  nearest integer',
  '  sources list of integer',
]

const REQUEST = [
  'countsOnly boolean',
  'geoJSON object',
  '  type string',
  '  id any',
  '  features list of object',
  '    type string',
  '    id any',
  '    bbox any',
  ...inside(inside(SHAPE_MEMBERS)),
  ...inside(SHAPE_MEMBERS),
  ...inside(GEOMETRY_MEMBERS),
  'areas list of string',
  'wkt string',
  'wkb string',
  'bbox list of number',
  'h3 list of string',
  'geohash list of string',
  'polyline any',
  'mgrs list of string',
  'cap any',
  'language string',
  'expired boolean',
  'ended boolean',
  'profile string',
  'geocodes string',
  'geocodeSystems list of string',
  'kml string',
  'gpx string',
  'topoJSON any',
  'utm list of string',
  'sources list of integer',
  'contactCountMode string',
  'distinct boolean',
  'clipToBoundary boolean',
  'partial boolean',
  'limit integer',
  'after string',
  'minSequence integer',
]

const RESPONSE = [
  'SourceRecords list of object',
  '  SourceId integer',
  '  Label string',
  '  Count integer',
  '  Status string',
  '  Recipients list of object',
  '    Number string',
  '    LatLng object',
  '      Lat number',
  '      Lng number',
  // Ours.
  'NextAfter string',
  'Warnings list of object',
  '  Code string',
  '  Message string',
  '  Path string',
]

for (const [name, schema, expected] of [
  ['the configuration', MapConfigurationSchema, CONFIGURATION],
  ['a context', MapContextSchema, CONTEXT],
  ['a recipient request', RecipientRequestSchema, REQUEST],
  ['a recipient response', RecipientResponseSchema, RESPONSE],
] as const) {
  t.test(`${name} has the members of the interface, all of them optional`, async (t) => {
    t.same(outline(schema), expected)
    t.same(required(schema), [])
  })
}

t.test('operations have their names, verbs and paths', async (t) => {
  const routes = Object.entries(operations).map(([name, { verb, paths }]) => [name, verb, ...paths])
  t.same(routes, [
    ['GetMapConfigurationRequest', 'GET', '/api/configuration'],
    ['PostMapConfigurationRequest', 'POST', '/api/configuration'],
    ['GetMapContextRequest', 'GET', '/api/contexts/{Id}'],
    ['GetMapContextsRequest', 'GET', '/api/contexts'],
    ['PostMapContextRequest', 'POST', '/api/contexts'],
    ['PutMapContextRequest', 'PUT', '/api/contexts', '/api/contexts/{Id}'],
    ['DeleteMapContextRequest', 'DELETE', '/api/contexts/{Id}'],
    ['PutAlertRequest', 'PUT', '/api/alerts/{Identifier}'],
    ['GetAlertRequest', 'GET', '/api/alerts/{Identifier}'],
    ['GetAlertsRequest', 'GET', '/api/alerts'],
    ['GetAlertChangesRequest', 'GET', '/api/alerts/{Identifier}/changes'],
    ['DeleteAlertRequest', 'DELETE', '/api/alerts/{Identifier}'],
    ['RecipientRequest', 'POST', '/api/recipients', '/api/data/Geometry'],
    ['PostAudienceRequest', 'POST', '/api/audiences'],
    ['GetAudiencesRequest', 'GET', '/api/audiences'],
    ['GetAudienceRequest', 'GET', '/api/audiences/{Id}'],
    ['DeleteAudienceRequest', 'DELETE', '/api/audiences/{Id}'],
    ['GetSourcesRequest', 'GET', '/api/sources'],
    ['GetAreasRequest', 'GET', '/api/areas'],
    ['GetAreaRequest', 'GET', '/api/areas/{Name}'],
    ['OutlineRequest', 'POST', '/api/outline'],
    ['GridRequest', 'POST', '/api/grid'],
    ['GetSuppressionsRequest', 'GET', '/api/suppressions'],
    ['PutSuppressionsRequest', 'PUT', '/api/suppressions'],
    ['DeleteSuppressionsRequest', 'DELETE', '/api/suppressions'],
    ['PostChangesRequest', 'POST', '/api/sources/{Id}/changes'],
  ])
})

t.test('every type and every member says what it is', async (t) => {
  t.same(
    schemas.flatMap((schema) => wordless(schema, '')),
    [],
  )
  const types = schemas.flatMap(typesOf)
  t.same(
    types.filter(({ description }) => !description),
    [],
  )
})

t.test('types with the same name are the same type', async (t) => {
  const known = new Map<string, unknown>()
  for (const { title, ...type } of schemas.flatMap(typesOf)) {
    const { description, typeDescription = description, ...rest } = type
    const definition = { ...rest, type: String(rest.type).split(',')[0], typeDescription }
    if (known.has(title)) t.same(definition, known.get(title), title)
    else known.set(title, definition)
  }
  t.ok(known.size > 30)
})

t.test('a feature may reach as far as there is a place', async (t) => {
  const [properties] = typesOf(RecipientRequestSchema).filter(
    ({ title }) => title === 'ShapeProperties',
  )
  t.equal(properties.properties?.radius.maximum, FARTHEST_METRES)
  t.equal(properties.properties?.buffer.maximum, FARTHEST_METRES)
})

/** Paths of members and types without a text. */
function wordless(schema: object, path: string): string[] {
  const { properties = {}, items } = schema as Described
  const members = Object.entries(properties).flatMap(([name, member]) => [
    ...(member.description ? [] : [`${path}.${name}`]),
    ...wordless(member, `${path}.${name}`),
  ])
  return items === undefined ? members : [...members, ...wordless(items, `${path}[]`)]
}

interface NamedType extends Described {
  readonly title: string
}

function typesOf(schema: object): NamedType[] {
  const { title, properties = {}, items } = schema as Described
  const inner = Object.values(properties).flatMap(typesOf)
  const all = items === undefined ? inner : [...inner, ...typesOf(items)]
  return title === undefined ? all : [...all, schema as NamedType]
}
