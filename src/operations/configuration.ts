/**
 * GetMapConfigurationRequest and PostMapConfigurationRequest.
 *
 * @module
 */
import type { Answer } from '../format/answer.js'
import { bind, tellUnknownMembers } from '../interface/bind.js'
import { type MapConfiguration, MapConfigurationSchema } from '../interface/configuration.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import { Remarks } from '../selection/remarks.js'
import { countModeOf } from '../store/documents.js'
import type { Store } from '../store/store.js'
import {
  columnsOf,
  documentAnswer,
  tableOf,
  taggedHeaders,
  withWarnings,
} from './document-answer.js'
import type { Execute } from './execute.js'

export function configurationOperations(
  store: Store,
  unknownMembers?: UnknownMembers,
): {
  GetMapConfigurationRequest: Execute
  PostMapConfigurationRequest: Execute
} {
  return {
    // The interface declares the members of a configuration for the request, too, where they mean nothing.
    async GetMapConfigurationRequest(request) {
      const remarks = new Remarks(unknownMembers)
      tellUnknownMembers(MapConfigurationSchema, request, remarks.onUnknown)
      return withWarnings(configurationAnswer(store.configuration().json), remarks)
    },
    async PostMapConfigurationRequest(request, caller) {
      const remarks = new Remarks(unknownMembers)
      const configuration = bind(MapConfigurationSchema, request, remarks.onUnknown)
      const json = JSON.stringify(configuration)
      const countMode = countModeOf(configuration)
      await store.change({ kind: 'configuration', json, countMode })
      caller.changed?.({ configurationVersion: store.configurationVersion() })
      return withWarnings(configurationAnswer(Buffer.from(json)), remarks)
    },
  }
}

/**
 * Reads the boundary of the customer from the stored configuration, in Esri's notation: the same object
 * while it is the same configuration.
 */
export function customerBoundaryOf(store: Store): () => object | undefined {
  let known: { readonly version: string; readonly boundary: object | undefined } | undefined
  return () => {
    if (known?.version !== store.configurationVersion()) {
      const { version, json } = store.configuration()
      const configuration = JSON.parse(Buffer.from(json).toString()) as MapConfiguration
      known = { version, boundary: configuration.CustomerBoundaryGeometry }
    }
    return known.boundary
  }
}

function configurationAnswer(json: Uint8Array): Answer {
  return documentAnswer({ json, columns: COLUMNS, table: BASEMAPS, headers: taggedHeaders(json) })
}

const COLUMNS = columnsOf(MapConfigurationSchema)

const BASEMAPS = tableOf('Basemaps', columnsOf(MapConfigurationSchema.properties.Basemaps.items))
