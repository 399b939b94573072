/**
 * The header of a shard file (see container.ts for what is around it), of both format versions:
 *
 *   version 1   `sections[].crc32`: the CRC-32 of each section; nothing is said of the gaps
 *   version 2   `blockCrc32s`: the CRC-32 of each MiB of the image, gaps and all
 *
 * It holds nothing that does not follow from the recipients, so the same import gives the same
 * bytes.
 *
 * @module
 */
import Type, { type Static } from '#typebox'
import { limits } from '../../limits.js'
import { type Section, sectionNames } from '../../shard/layout.js'
import { validatorOf } from '../../validator.js'
import { FormatFault } from './blocks.js'
import { FORMAT_VERSION, type Head } from './container.js'

/** The versions that can be read. */
export const SHARD_VERSIONS = [1, FORMAT_VERSION] as const

const Count = Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 })
const Coordinate = Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 })
const closed = { additionalProperties: false } as const

export const BoxSchema = Type.Object(
  { minLng: Coordinate, minLat: Coordinate, maxLng: Coordinate, maxLat: Coordinate },
  closed,
)

const common = {
  sourceId: Type.Integer({ minimum: 0, maximum: limits.sourceIdMax }),
  regionIndex: Count,
  recipientCount: Count,
  box: BoxSchema,
  imageBytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
}
const sectionPlace = {
  name: Type.Enum([...sectionNames]),
  byteOffset: Count,
  byteLength: Count,
}

const HeaderSchema1 = Type.Object(
  { ...common, sections: Type.Array(Type.Object({ ...sectionPlace, crc32: Count }, closed)) },
  closed,
)
const HeaderSchema2 = Type.Object(
  {
    ...common,
    sections: Type.Array(Type.Object(sectionPlace, closed)),
    blockCrc32s: Type.Array(Count),
  },
  closed,
)

type Header1 = Static<typeof HeaderSchema1>
/** As it is written. */
export type Header2 = Static<typeof HeaderSchema2>

/** How the bytes of an image are verified. */
type ImageSums =
  | { readonly of: 'sections'; readonly crc32s: readonly number[] }
  | { readonly of: 'blocks'; readonly crc32s: readonly number[] }

export type ShardHeader = Omit<Header2, 'blockCrc32s' | 'sections'> & {
  readonly sections: readonly Section[]
  readonly sums: ImageSums
}

const validator1 = validatorOf(HeaderSchema1)
const validator2 = validatorOf(HeaderSchema2)

/** @throws FormatFault */
export function decodeShardHeader({ version, header }: Head): ShardHeader {
  if (version === 1) {
    const { sections, ...rest } = checked<Header1>(validator1, header)
    return {
      ...rest,
      sections: sections.map(({ crc32: _, ...section }) => section),
      sums: { of: 'sections', crc32s: sections.map(({ crc32 }) => crc32) },
    }
  }
  const { blockCrc32s, ...rest } = checked<Header2>(validator2, header)
  return { ...rest, sums: { of: 'blocks', crc32s: blockCrc32s } }
}

interface HeaderValidator {
  Check(value: unknown): boolean
  Errors(value: unknown): { message: string }[]
}

function checked<Header>(validator: HeaderValidator, header: unknown): Header {
  if (validator.Check(header)) return header as Header
  const [error] = validator.Errors(header)
  throw new FormatFault(`found a header that is not as expected: ${error?.message}`)
}
