/**
 * What a key may be allowed to do.
 *
 * @module
 */
export const keyScopes = [
  'config:read',
  'config:write',
  'contexts:read',
  'contexts:write',
  /** How many recipients are inside shapes. */
  'counts',
  /** Which recipients are inside shapes: their phones and positions. */
  'lists',
  'suppressions:read',
  'suppressions:write',
  /** Changes to recipients. */
  'changes',
  /** All of these, and the administration of the service. */
  'admin',
] as const

export type KeyScope = (typeof keyScopes)[number]
