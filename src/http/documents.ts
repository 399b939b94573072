/**
 * Serves the map configuration and the stored map contexts, as they were serialised when loaded.
 *
 * @module
 */
import { JSON_CONTENT_TYPE } from '../format/error-body.js'
import { operations } from '../interface/operations.js'
import type { Handler } from './request.js'
import type { Route } from './router.js'

export interface DocumentSource {
  /** JSON. */
  readonly configuration: Uint8Array
  /**
   * @returns JSON
   * @throws ServiceError when the id is not one, or is not known
   */
  findContext(id: string): Uint8Array
}

export function documentRoutes(documents: DocumentSource): Route<Handler>[] {
  const getConfiguration: Handler = (_, reply) => reply.send(200, headers, documents.configuration)
  const getContext: Handler = ({ parameters }, reply) =>
    reply.send(200, headers, documents.findContext(parameters.Id))
  return [
    ...operations.GetMapConfigurationRequest.paths.map((path) => ({
      path,
      methods: { GET: getConfiguration },
    })),
    ...operations.GetMapContextRequest.paths.map((path) => ({
      path,
      methods: { GET: getContext },
    })),
  ]
}

const headers = { 'Content-Type': JSON_CONTENT_TYPE }
