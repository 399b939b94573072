/**
 * The header of a file of identities (see ../format/container.ts for the bytes around it).
 *
 * @module
 */
import Type, { type Static } from '#typebox'
import { limits } from '../../limits.js'

const Count = Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 })

export const IdentitiesHeaderSchema = Type.Object(
  {
    sourceId: Type.Integer({ minimum: 0, maximum: limits.sourceIdMax }),
    regionIndex: Count,
    recipientCount: Count,
    hasKeys: Type.Boolean(),
    imageBytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    /** Of each MiB of the image. */
    blockCrc32s: Type.Array(Count),
  },
  { additionalProperties: false },
)

export type IdentitiesHeader = Static<typeof IdentitiesHeaderSchema>
