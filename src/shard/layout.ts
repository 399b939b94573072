/**
 * A shard: the recipients of one source in one region, as columns in kd order.
 *
 * All columns of a shard lie in one buffer, its *image*. A file holds the image byte for byte and
 * every thread attaches the same shared image, so what is written is what is used:
 *
 *   section        type      items            meaning
 *   index          bytes     -                a finished KDBush of Int32 coordinates, at offset 0
 *   contacts       Uint32    count            contact of each recipient, dense within its source
 *   numberOffsets  Uint32    count + 1        where each number starts in `numbers`
 *   numbers        Uint8     last offset      the numbers, UTF-8, byte for byte as they came
 *
 * Sections start at multiples of 64 bytes, in this order. Coordinates are longitude and latitude
 * in units of 1e-7 degree (1.1 cm), as OpenStreetMap keeps them. The ids inside the index are the
 * rank of each recipient among the rows of its shard in the order of the import.
 *
 * @module
 */
import KDBush from 'kdbush'

const SECTION_ALIGNMENT_BYTES = 64

export const sectionNames = ['index', 'contacts', 'numberOffsets', 'numbers'] as const
export type SectionName = (typeof sectionNames)[number]

/** Where one section lies in the image. */
export interface Section {
  readonly name: SectionName
  readonly byteOffset: number
  readonly byteLength: number
}

/** Closed bounds, in units of 1e-7 degree. */
export interface Box {
  readonly minLng: number
  readonly minLat: number
  readonly maxLng: number
  readonly maxLat: number
}

/** Whether a box meets closed bounds, which start at `at`: min lng, min lat, max lng, max lat. */
export function meets(box: Box, bounds: Float64Array, at = 0): boolean {
  return (
    bounds[at] <= box.maxLng &&
    bounds[at + 2] >= box.minLng &&
    bounds[at + 1] <= box.maxLat &&
    bounds[at + 3] >= box.minLat
  )
}

/** A shard as it crosses threads: plain data and a shared buffer. */
export interface ShardImage {
  readonly sourceId: number
  readonly regionIndex: number
  readonly recipientCount: number
  /** Contacts of its whole source. */
  readonly contactCount: number
  /** The tightest bounds of its recipients. */
  readonly box: Box
  readonly sections: readonly Section[]
  readonly image: ArrayBufferLike
}

/** A shard with a typed view on each column; index `i` is the same recipient in all of them. */
export interface Shard {
  readonly sourceId: number
  readonly recipientCount: number
  readonly contactCount: number
  readonly box: Box
  readonly nodeSize: number
  /** The rank of each recipient among the rows of its shard in the order of the import. */
  readonly ids: Uint16Array | Uint32Array
  /** Longitude at `2 * i`, latitude at `2 * i + 1`, in units of 1e-7 degree. */
  readonly coords: Int32Array
  readonly contacts: Uint32Array
  readonly numberOffsets: Uint32Array
  readonly numbers: Uint8Array
}

/** Views the columns of an image; copies nothing. */
export function attachShard(shard: ShardImage): Shard {
  const index = KDBush.from(shard.image)
  const at = (name: SectionName): Section => {
    const section = shard.sections.find((candidate) => candidate.name === name)
    if (section === undefined) throw new Error(`shard image has no section ${name}`)
    return section
  }
  const words = (name: SectionName) =>
    new Uint32Array(shard.image, at(name).byteOffset, at(name).byteLength / 4)
  return {
    sourceId: shard.sourceId,
    recipientCount: shard.recipientCount,
    contactCount: shard.contactCount,
    box: shard.box,
    nodeSize: index.nodeSize,
    ids: index.ids,
    coords: index.coords as Int32Array,
    contacts: words('contacts'),
    numberOffsets: words('numberOffsets'),
    numbers: new Uint8Array(shard.image, at('numbers').byteOffset, at('numbers').byteLength),
  }
}

/** Places sections of the given byte lengths one after the other, each aligned. */
export function placeSections(byteLengths: Readonly<Record<SectionName, number>>): {
  sections: Section[]
  imageBytes: number
} {
  const sections: Section[] = []
  let end = 0
  for (const name of sectionNames) {
    const byteOffset = Math.ceil(end / SECTION_ALIGNMENT_BYTES) * SECTION_ALIGNMENT_BYTES
    sections.push({ name, byteOffset, byteLength: byteLengths[name] })
    end = byteOffset + byteLengths[name]
  }
  return {
    sections,
    imageBytes: Math.ceil(end / SECTION_ALIGNMENT_BYTES) * SECTION_ALIGNMENT_BYTES,
  }
}
