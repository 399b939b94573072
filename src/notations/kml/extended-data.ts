/**
 * The data of a placemark, by which an importer of areas knows it.
 *
 * @module
 */
import type { XmlElement } from '../../xml/read-xml.js'
import { childrenOf } from './elements.js'

/**
 * The values of `Data` and `SimpleData`, by name. Of two of the same name the first counts.
 *
 * @param placemark  of KML
 */
export function extendedDataOf(placemark: XmlElement): Record<string, string> {
  const values = new Map<string, string>()
  const add = (name: string | undefined, value: string) => {
    if (name !== undefined && !values.has(name)) values.set(name, value.trim())
  }
  for (const extended of childrenOf(placemark, 'ExtendedData')) {
    for (const data of childrenOf(extended, 'Data')) {
      add(data.attributes.get('name'), childrenOf(data, 'value')[0]?.text ?? '')
    }
    for (const schema of childrenOf(extended, 'SchemaData')) {
      for (const data of childrenOf(schema, 'SimpleData')) {
        add(data.attributes.get('name'), data.text)
      }
    }
  }
  // Own members, whatever their names are.
  return Object.fromEntries(values)
}
