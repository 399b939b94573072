/**
 * The map configuration: everything a client needs to set up its map. Members are written in the
 * order in which they are declared here; the spelling of each, also where it breaks the pattern,
 * is what clients read.
 *
 * @module
 */
import { type Static, Type } from 'typebox'
import { GeometrySchema, SpatialReferenceSchema } from './geometry.js'
import { members } from './members.js'

const text = Type.String()
const texts = Type.Array(Type.String())
const flag = Type.Boolean()
const integer = Type.Integer()
const number = Type.Number()

/** Whether a source counts its recipients, which are locations, or its contacts; as shard/select.ts. */
const CountModeSchema = Type.Unsafe<'ContactLocation' | 'Contact'>({
  type: 'string',
  enum: ['ContactLocation', 'Contact'],
})

const WebMapOptionsSchema = members({
  usePopupManager: flag,
  editable: flag,
  mapOptions: members({ slider: flag, logo: flag }),
})

const BasemapSchema = members({ Title: text, Url: text, ThumbnailUrl: text })

const AreaNameMapSchema = members({ FeatureClassName: text, AreaNameField: text })

const ScalebarSchema = members({ AttachTo: text, ScalebarUnit: text, ScalebarStyle: text })

const SymbolSchema = members({
  FillColor: text,
  FillStyle: text,
  LineColor: text,
  LineStyle: text,
  LineWidth: number,
})

const AreasGraphicsLayerSchema = members({
  Name: text,
  DefaultSymbol: SymbolSchema,
  SelectedSymbol: SymbolSchema,
  ActiveSymbol: SymbolSchema,
  Attributes: texts,
  AreaShapeAttributeName: text,
  AreaIdAttributeName: text,
  ZoomToExtentExpandFactor: number,
  EditExtentExpandFactor: number,
})

const CustomerExtentSchema = members({
  type: text,
  xmin: number,
  ymin: number,
  xmax: number,
  ymax: number,
  spatialReference: SpatialReferenceSchema,
  Partwise: Type.Object({}),
})

const CustomerBoundarySymbolSchema = members({
  LineColor: text,
  LineWidth: number,
  LineStyle: text,
})

const RendererSchema = members({
  type: text,
  symbol: members({ type: text, url: text, imageData: text, width: number, height: number }),
})

const LayerConfigurationSchema = members({
  id: integer,
  name: text,
  source: text,
  type: text,
  url: text,
  renderer: RendererSchema,
  allowRefresh: flag,
  visible: flag,
})

const UploaderSchema = members({
  GenerateServiceUrl: text,
  MaxRecordCount: integer,
  GeneralizeScale: number,
  NumberOfDigitsAfterDecimal: integer,
  AreaNameField: text,
})

const ExporterSchema = members({ ExportServiceUrl: text, PreserveScale: flag })

const LocatorSchema = members({
  Url: text,
  OutFields: texts,
  Name: text,
  Placeholder: text,
  CountryCode: text,
})

const SearchFeatureLayerSchema = members({
  Url: text,
  SearchFields: texts,
  OutFields: texts,
  Name: text,
  MaxResults: integer,
  MaxSuggestions: integer,
  EnableSuggestions: flag,
  MinCharacters: integer,
})

const SearchSourcesSchema = members({
  Locators: Type.Array(LocatorSchema),
  FeatureLayers: Type.Array(SearchFeatureLayerSchema),
})

export const MapConfigurationSchema = members({
  MapDiv: text,
  TocDiv: text,
  WebMapOptions: WebMapOptionsSchema,
  MapId: text,
  SelectClickTolerancePx: integer,
  Basemaps: Type.Array(BasemapSchema),
  AreaNameMap: Type.Array(AreaNameMapSchema),
  Scalebar: ScalebarSchema,
  AreasGraphicsLayer: AreasGraphicsLayerSchema,
  /** How recipients count where a request does not say. */
  contactCountMode: CountModeSchema,
  GeometryServiceUrl: text,
  CustomerExtent: CustomerExtentSchema,
  CustomerBoundaryLayerName: text,
  CustomerBoundarySymbol: CustomerBoundarySymbolSchema,
  CustomerBoundaryGeometry: GeometrySchema,
  layers: Type.Array(LayerConfigurationSchema),
  Uploader: UploaderSchema,
  Exporter: ExporterSchema,
  SearchSources: SearchSourcesSchema,
})

export type MapConfiguration = Static<typeof MapConfigurationSchema>
export type CountMode = Static<typeof CountModeSchema>
