/**
 * Further layers of the map in its configuration.
 *
 * @module
 */
import { flag, integer, member, members, number, text } from './members.js'

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

export const LayerConfigurationSchema = members('LayerConfiguration', 'A layer of the map.', {
  id: integer('Number of the layer.'),
  name: text('Name that is shown.'),
  source: text('Where the layer comes from.'),
  type: text('Kind of layer, such as "GeoJson".'),
  url: text('Address of the data.'),
  renderer: member(RendererSchema, 'How its features are drawn.'),
  allowRefresh: flag('Whether the user may load it anew.'),
  visible: flag('Whether it is shown at first.'),
})
