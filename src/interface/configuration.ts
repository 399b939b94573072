/**
 * The map configuration: everything a client needs to set up its map. Members are written in the
 * order in which they are declared here; the spelling of each, also where it breaks the pattern,
 * is what clients read.
 *
 * @module
 */
import { type Static, Type } from '#typebox'
import { CountModeSchema } from './count-mode.js'
import { GeometrySchema, SpatialReferenceSchema } from './geometry.js'
import { flag, integer, listOf, member, members, number, text } from './members.js'

const COLOR = 'Color as CSS writes it, such as "rgba(0,112,192,0.25)" or "#0070c0".'
const LINE_STYLE = 'Style of the line, such as "solid", "dash" or "none".'
const LINE_WIDTH = 'Width of the line, in pixels.'

const RendererSymbolSchema = members('RendererSymbol', 'The picture of a point.', {
  type: text('Kind of symbol, such as "esriPMS" for a picture.'),
  url: text('Address of the picture.'),
  imageData: text('The picture itself, in Base64.'),
  width: number('Width, in points.'),
  height: number('Height, in points.'),
})

const RendererSchema = members('Renderer', 'How the features of a layer are drawn.', {
  type: text('Kind of renderer, such as "simple".'),
  symbol: member(RendererSymbolSchema, 'What each feature is drawn with.'),
})

const LayerConfigurationSchema = members('LayerConfiguration', 'A layer of the map.', {
  id: integer('Number of the layer.'),
  name: text('Name that is shown.'),
  source: text('Where the layer comes from.'),
  type: text('Kind of layer, such as "GeoJson".'),
  url: text('Address of the data.'),
  renderer: member(RendererSchema, 'How its features are drawn.'),
  allowRefresh: flag('Whether the user may load it anew.'),
  visible: flag('Whether it is shown at first.'),
})

const LocatorSchema = members('Locator', 'A service that finds addresses.', {
  Url: text('Address of the service.'),
  OutFields: listOf(Type.String(), 'Fields to return; "*" is all.'),
  Name: text('Name that is shown.'),
  Placeholder: text('Text that is shown in the empty search box.'),
  CountryCode: text('Country to search in, such as "US".'),
})

const SearchFeatureLayerSchema = members('SearchFeatureLayer', 'A layer that is searched.', {
  Url: text('Address of the layer.'),
  SearchFields: listOf(Type.String(), 'Fields to search in.'),
  OutFields: listOf(Type.String(), 'Fields to return; "*" is all.'),
  Name: text('Name that is shown.'),
  MaxResults: integer('Most results that are shown.'),
  MaxSuggestions: integer('Most suggestions that are shown.'),
  EnableSuggestions: flag('Whether anything is suggested while the user types.'),
  MinCharacters: integer('Characters that must be typed before anything is suggested.'),
})

const SearchSourcesSchema = members('SearchSources', 'Where the search of the map looks.', {
  Locators: listOf(LocatorSchema, 'Services that find addresses.'),
  FeatureLayers: listOf(SearchFeatureLayerSchema, 'Layers that are searched.'),
})

const MapOptionsSchema = members('MapOptions', 'Options of the map itself.', {
  slider: flag('Whether the map has a slider to zoom.'),
  logo: flag("Whether the map has the library's logo."),
})

const WebMapOptionsSchema = members('WebMapOptions', 'How the map is created.', {
  usePopupManager: flag('Whether the map handles pop-ups by itself.'),
  editable: flag('Whether layers may be edited.'),
  mapOptions: member(MapOptionsSchema, 'Options of the map itself.'),
})

const BasemapSchema = members('Basemap', 'A background that the user may choose.', {
  Title: text('Name that is shown.'),
  Url: text('Address of the map service.'),
  ThumbnailUrl: text('Address of a small picture of it.'),
})

const AreaNameMapSchema = members('AreaNameMap', 'Where the names of ready-made areas are.', {
  FeatureClassName: text('Feature class of the areas.'),
  AreaNameField: text('Field of that class that holds the name.'),
})

const ScalebarSchema = members('Scalebar', 'The scale bar on the map.', {
  AttachTo: text('Corner of the map, such as "bottom-left".'),
  ScalebarUnit: text('"english" (miles), "metric" (kilometres) or "dual".'),
  ScalebarStyle: text('"ruler" or "line".'),
})

const SymbolSchema = members('Symbol', 'How an area is filled and outlined.', {
  FillColor: text(COLOR),
  FillStyle: text('Style of the filling, such as "solid", "none" or "cross".'),
  LineColor: text(COLOR),
  LineStyle: text(LINE_STYLE),
  LineWidth: number(LINE_WIDTH),
})

const AreasGraphicsLayerSchema = members(
  'AreasGraphicsLayer',
  'The layer on which areas are drawn.',
  {
    Name: text('Name of the layer.'),
    DefaultSymbol: member(SymbolSchema, 'Of areas that are neither selected nor active.'),
    SelectedSymbol: member(SymbolSchema, 'Of areas that are selected.'),
    ActiveSymbol: member(SymbolSchema, 'Of the area that is being worked on.'),
    Attributes: listOf(Type.String(), 'Names of the attributes that graphics carry.'),
    AreaShapeAttributeName: text('Attribute that holds the kind of shape of an area.'),
    AreaIdAttributeName: text('Attribute that holds the Id of an area.'),
    ZoomToExtentExpandFactor: number('How far to zoom out around an area; 1 fits it exactly.'),
    EditExtentExpandFactor: number('The same, while an area is being edited.'),
  },
)

const CustomerExtentSchema = members('CustomerExtent', 'What the map shows at first.', {
  type: text('"extent".'),
  xmin: number('West side, in the units of spatialReference.'),
  ymin: number('South side, in the units of spatialReference.'),
  xmax: number('East side, in the units of spatialReference.'),
  ymax: number('North side, in the units of spatialReference.'),
  spatialReference: member(SpatialReferenceSchema, 'What the coordinates are.'),
  Partwise: Type.Object({}, { description: 'Without meaning; kept as it is.' }),
})

const CustomerBoundarySymbolSchema = members(
  'CustomerBoundarySymbol',
  "How the customer's boundary is drawn.",
  { LineColor: text(COLOR), LineWidth: number(LINE_WIDTH), LineStyle: text(LINE_STYLE) },
)

const UploaderSchema = members('Uploader', 'How shapes are read from files of the user.', {
  GenerateServiceUrl: text('Address of the service that makes features of a file.'),
  MaxRecordCount: integer('Most features that are taken from one file.'),
  GeneralizeScale: number('Scale for which shapes are simplified, such as 40000 for 1:40,000.'),
  NumberOfDigitsAfterDecimal: integer('Decimals that are kept of coordinates.'),
  AreaNameField: text('Field of a file that holds the name of an area.'),
})

const ExporterSchema = members('Exporter', 'How the map is printed.', {
  ExportServiceUrl: text('Address of the print service.'),
  PreserveScale: flag('Whether the scale is kept, rather than the extent.'),
})

export const MapConfigurationSchema = members(
  'MapConfiguration',
  'Everything a client needs to set up its map.',
  {
    MapDiv: text('Id of the element that holds the map.'),
    TocDiv: text('Id of the element that holds the table of contents.'),
    WebMapOptions: member(WebMapOptionsSchema, 'How the map is created.'),
    MapId: text('Id of the web map: 32 hexadecimal digits.'),
    SelectClickTolerancePx: integer('How near a click must be to select an area, in pixels.'),
    Basemaps: listOf(BasemapSchema, 'Backgrounds that the user may choose.'),
    AreaNameMap: listOf(AreaNameMapSchema, 'Where the names of ready-made areas are.'),
    Scalebar: member(ScalebarSchema, 'The scale bar on the map.'),
    AreasGraphicsLayer: member(AreasGraphicsLayerSchema, 'The layer on which areas are drawn.'),
    contactCountMode: member(
      CountModeSchema,
      'How recipients count where a request does not say. Default ContactLocation.',
    ),
    GeometryServiceUrl: text('Address of the service that projects and simplifies shapes.'),
    CustomerExtent: member(CustomerExtentSchema, 'What the map shows at first.'),
    CustomerBoundaryLayerName: text("Name of the layer of the customer's boundary."),
    CustomerBoundarySymbol: member(CustomerBoundarySymbolSchema, 'How that boundary is drawn.'),
    CustomerBoundaryGeometry: member(GeometrySchema, 'Where that boundary is.'),
    layers: listOf(LayerConfigurationSchema, 'Further layers of the map.'),
    Uploader: member(UploaderSchema, 'How shapes are read from files of the user.'),
    Exporter: member(ExporterSchema, 'How the map is printed.'),
    SearchSources: member(SearchSourcesSchema, 'Where the search of the map looks.'),
  },
)

export type MapConfiguration = Static<typeof MapConfigurationSchema>
