/**
 * The operations of the service: their names, and where and how they are called.
 *
 * @module
 */

export type OperationName =
  | 'GetMapConfigurationRequest'
  | 'GetMapContextRequest'
  | 'RecipientRequest'

export interface Operation {
  readonly verb: 'GET' | 'POST'
  /** Segments in braces are members of the request. */
  readonly paths: readonly string[]
}

export const operations: Readonly<Record<OperationName, Operation>> = {
  GetMapConfigurationRequest: { verb: 'GET', paths: ['/api/configuration'] },
  GetMapContextRequest: { verb: 'GET', paths: ['/api/contexts/{Id}'] },
  RecipientRequest: { verb: 'POST', paths: ['/api/recipients', '/api/data/Geometry'] },
}
