/**
 * A shard: the recipients of one source in one region, as columns in kd order.
 *
 * All columns of a shard lie in one piece, its *image*. A file holds the image byte for byte and
 * every thread attaches the same shared image, so what is written is what is used:
 *
 *   section        type      items            meaning
 *   index          bytes     -                a finished KDBush of Int32 coordinates, at offset 0
 *   contacts       Uint32    count            contact of each recipient, dense within its source
 *   numberOffsets  Uint32    count + 1        where each phone starts in `numbers`
 *   numbers        Uint8     last offset      the phones, UTF-8, byte for byte as they came
 *
 * Sections start at multiples of 64 bytes, in this order. Coordinates are longitude and latitude
 * in units of 1e-7 degree (1.1 cm), as OpenStreetMap keeps them. The ids inside the index are the
 * rank of each recipient among the rows of its shard in the order of the import.
 *
 * Where shards were loaded to be selected from, ids of ties (ties/ties.ts) have taken the place of the
 * contacts, which only tell who is tied.
 *
 * @module
 */
import type { Arena } from './arena.js'
import type { Marks } from './suppressed.js'
import { NO_TIES, type Ties } from './ties/ties.js'

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

/** A shard as it crosses threads: plain data and shared memory. */
export interface ShardImage {
  readonly sourceId: number
  readonly regionIndex: number
  readonly recipientCount: number
  /** Contacts of its whole source. */
  readonly contactCount: number
  /** The tightest bounds of its recipients. */
  readonly box: Box
  /** None where the columns lie on other machines. */
  readonly sections: readonly Section[]
  readonly image: Uint8Array
  /** The arena of the image, if it was loaded to be selected from. */
  readonly arena: Arena | null
  /** Behind the image in its arena; null where there is none. */
  readonly marks: Marks | null
  /** Null until its whole source is known; from then on, their ids may be where the contacts were. */
  readonly contactTies: Ties | null
  readonly phoneTies: Ties
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
  /** Of shards that were not loaded to be selected from: there, ids of ties take this place. */
  readonly contacts: Uint32Array
  readonly phoneOffsets: Uint32Array
  readonly phones: Uint8Array
  readonly arena: Arena | null
  readonly marks: Marks | null
  /** Who is there for a request, as runs; null where everybody is (mask.ts). */
  readonly mask: Uint32Array | null
  /** Of recipients whose contact has several; all are where the shard alone is known. */
  readonly contactTies: Ties
  /** Of recipients whose phone another recipient has, too. */
  readonly phoneTies: Ties
  /** Of a delta (delta/delta-shard.ts), which is in no kd order: the indexes to search; null elsewhere. */
  readonly packs: readonly Pack[] | null
}

/** A small index over some recipients of a delta (delta/packs.ts). */
export interface Pack {
  readonly shard: Shard
  /** The positions of the shard, which may lie in an arena as well (delta/pack-room.ts). */
  readonly coords: Int32Array
  /** Of each recipient of the shard, by its index: its place in the delta. */
  readonly places: Uint32Array
  /** Behind the last of these places. */
  readonly endPlace: number
}

/** A shard whose columns lie on other machines: it is known where its recipients are, and who is tied. */
export function withoutColumns(shard: ShardImage): ShardImage {
  return { ...shard, sections: [], image: new Uint8Array(0), arena: null, marks: null }
}

export function hasColumns({ sections }: Pick<ShardImage, 'sections'>): boolean {
  return sections.length > 0
}

/** Views the columns of an image; copies nothing. */
export function attachShard(shard: ShardImage): Shard {
  if (!hasColumns(shard)) return attachWithoutColumns(shard)
  const { recipientCount, image } = shard
  const at = (name: SectionName): Section => {
    const section = shard.sections.find((candidate) => candidate.name === name)
    if (section === undefined) throw new Error(`shard image has no section ${name}`)
    return section
  }
  const words = (name: SectionName) => {
    const { byteOffset, byteLength } = at(name)
    return new Uint32Array(image.buffer, image.byteOffset + byteOffset, byteLength / 4)
  }
  const { byteOffset: indexOffset, byteLength: indexBytes } = at('index')
  const { byteOffset: phonesOffset, byteLength: phonesBytes } = at('numbers')
  const contacts = words('contacts')
  const allTied = { set: null, isInArena: false, ids: contacts, idEnd: shard.contactCount }
  return {
    sourceId: shard.sourceId,
    recipientCount,
    contactCount: shard.contactCount,
    box: shard.box,
    nodeSize: new DataView(image.buffer, image.byteOffset + indexOffset).getUint16(2, true),
    ids: idsOf(shard, indexOffset),
    coords: coordsOf(shard, indexOffset + indexBytes),
    contacts,
    phoneOffsets: words('numberOffsets'),
    phones: image.subarray(phonesOffset, phonesOffset + phonesBytes),
    arena: shard.arena,
    marks: shard.marks,
    mask: null,
    contactTies: shard.contactTies ?? allTied,
    phoneTies: shard.phoneTies,
    packs: null,
  }
}

function attachWithoutColumns({
  sections: _,
  image: _1,
  regionIndex: _2,
  contactTies,
  ...shard
}: ShardImage): Shard {
  const none = new Uint32Array(0)
  return {
    ...shard,
    nodeSize: 64,
    ids: none,
    coords: new Int32Array(0),
    contacts: none,
    phoneOffsets: none,
    phones: new Uint8Array(0),
    mask: null,
    contactTies: contactTies ?? NO_TIES,
    packs: null,
  }
}

/** Behind a header of 8 bytes; they take 2 bytes each as long as those can tell them apart. */
function idsOf({ image, recipientCount }: ShardImage, indexOffset: number) {
  const start = image.byteOffset + indexOffset + 8
  return recipientCount < 65_536
    ? new Uint16Array(image.buffer, start, recipientCount)
    : new Uint32Array(image.buffer, start, recipientCount)
}

/** The coordinates, which are the last part of the index. */
function coordsOf({ image, recipientCount }: ShardImage, indexEnd: number): Int32Array {
  const start = image.byteOffset + indexEnd - 8 * recipientCount
  return new Int32Array(image.buffer, start, 2 * recipientCount)
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
