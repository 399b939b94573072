/**
 * Where the search of the map looks, in its configuration.
 *
 * @module
 */
import { Type } from 'typebox'
import { flag, integer, listOf, members, text } from './members.js'

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

export const SearchSourcesSchema = members('SearchSources', 'Where the search of the map looks.', {
  Locators: listOf(LocatorSchema, 'Services that find addresses.'),
  FeatureLayers: listOf(SearchFeatureLayerSchema, 'Layers that are searched.'),
})
