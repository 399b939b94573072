/**
 * Compares one source of two snapshots by the phones of its recipients. Nothing but counts and positions
 * comes out of this, and positions only into a map.
 *
 * @module
 */
import { join } from 'node:path'
import { hashPhone, viewOf } from '../../shard/duplicates/phone-hash.js'
import { PhoneIds } from '../../shard/duplicates/phone-ids.js'
import type { ManifestShard } from '../../snapshot/format/manifest.js'
import { findPhones, readCoordinates } from '../../snapshot/load/read-columns.js'
import { readPhones } from '../../snapshot/load/read-phones.js'

/** A source in a snapshot; without shards where the snapshot does not have it. */
interface SourceFiles {
  readonly directory: string
  readonly shards: readonly ManifestShard[]
}

/** Recipients of a source: those of both snapshots are in `stayed` or in `moved`, once each. */
export interface SourceChange {
  came: number
  left: number
  stayed: number
  moved: number
}

/** Where somebody is who moved: longitude and latitude of one after the other. */
type OnMoved = (coords: Int32Array) => void

/**
 * Recipients with the same phone are the same; of those that have a phone in both snapshots, as many as
 * possible stayed. Files are read once for each pass, which compares a share of the phones.
 *
 * @param recipientsPerPass  of both snapshots, about
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function compareSource(
  before: SourceFiles,
  after: SourceFiles,
  onMoved: OnMoved,
  recipientsPerPass = RECIPIENTS_PER_PASS,
): Promise<SourceChange> {
  const counts = [before, after].map(countOf)
  if (isSame(before, after)) return { came: 0, left: 0, stayed: counts[1], moved: 0 }
  const change = { came: 0, left: 0, stayed: 0, moved: 0 }
  const passCount = Math.max(1, Math.ceil((counts[0] + counts[1]) / recipientsPerPass))
  for (let share = 0; share < passCount; share++) {
    const people = new People((counts[0] + counts[1]) / passCount)
    await addShare(people, before, share, passCount)
    const beforeCount = people.count
    await addShare(people, after, share, passCount)
    addChange(change, people.finish(), beforeCount, onMoved)
  }
  return change
}

/** With their tables they take some 250 MB. */
const RECIPIENTS_PER_PASS = 1_000_000

function countOf({ shards }: SourceFiles): number {
  return shards.reduce((sum, { recipientCount }) => sum + recipientCount, 0)
}

/** Whether the files are the same byte for byte. */
function isSame(before: SourceFiles, after: SourceFiles): boolean {
  const digests = ({ shards }: SourceFiles) => shards.map(({ sha256 }) => sha256).join()
  return digests(before) === digests(after)
}

/** Recipients of a share, those before and then those after. */
class People {
  readonly #phones: PhoneIds
  #coords: Int32Array

  /** @param expectedCount  how many will be added, about */
  constructor(expectedCount: number) {
    this.#phones = new PhoneIds(expectedCount)
    this.#coords = new Int32Array(2 * Math.ceil(expectedCount) + 2)
  }

  count = 0

  add(view: DataView, start: number, end: number, hash: number, lng: number, lat: number): void {
    this.#phones.add(view, start, end, hash)
    if (2 * this.count === this.#coords.length) {
      const grown = new Int32Array(2 * this.#coords.length)
      grown.set(this.#coords)
      this.#coords = grown
    }
    this.#coords[2 * this.count] = lng
    this.#coords[2 * this.count + 1] = lat
    this.count++
  }

  finish(): Pass {
    const { ids, cameAgain } = this.#phones.finish()
    return { phoneIds: ids, phoneCount: cameAgain.length, coords: this.#coords }
  }
}

interface Pass {
  /** The same for the same phone, below `phoneCount`. */
  readonly phoneIds: Uint32Array
  readonly phoneCount: number
  readonly coords: Int32Array
}

/** One shard is in memory at a time. */
async function addShare(
  people: People,
  { directory, shards }: SourceFiles,
  share: number,
  shareCount: number,
): Promise<void> {
  for (const { file, byteLength, recipientCount } of shards) {
    const path = join(directory, file)
    const { phones, phoneOffsets } = await readPhones(await findPhones(path, byteLength))
    const { coords } = await readCoordinates(path, byteLength)
    const view = viewOf(phones)
    for (let i = 0; i < recipientCount; i++) {
      // Offsets that are damaged must not lead out of the phones.
      const end = Math.min(phoneOffsets[i + 1], phones.length)
      const start = Math.min(phoneOffsets[i], end)
      const hash = hashPhone(view, start, end)
      if (hash % shareCount !== share) continue
      people.add(view, start, end, hash, coords[2 * i], coords[2 * i + 1])
    }
  }
}

/** @param beforeCount  of the recipients, those that come first */
function addChange(
  change: SourceChange,
  { phoneIds, phoneCount, coords }: Pass,
  beforeCount: number,
  onMoved: OnMoved,
): void {
  const placeIds = idsOfPlaces(phoneIds, coords)
  /** By phone: recipients before who are not found yet; by phone and place the same. */
  const phonesLeft = new Uint32Array(phoneCount)
  const placesLeft = new Uint32Array(placeIds.length)
  for (let i = 0; i < beforeCount; i++) {
    phonesLeft[phoneIds[i]]++
    placesLeft[placeIds[i]]++
  }
  // Before anybody may have moved, so that nobody takes the place of one who stayed.
  const others: number[] = []
  for (let i = beforeCount; i < phoneIds.length; i++) {
    if (placesLeft[placeIds[i]] === 0) {
      others.push(i)
      continue
    }
    placesLeft[placeIds[i]]--
    phonesLeft[phoneIds[i]]--
    change.stayed++
  }
  const moved: number[] = []
  for (const i of others) {
    if (phonesLeft[phoneIds[i]] === 0) continue
    phonesLeft[phoneIds[i]]--
    moved.push(coords[2 * i], coords[2 * i + 1])
  }
  const movedCount = moved.length / 2
  change.moved += movedCount
  change.came += others.length - movedCount
  change.left += phonesLeft.reduce((sum, count) => sum + count, 0)
  onMoved(Int32Array.from(moved))
}

/** Of each recipient an id that is the same for the same phone at the same place. */
function idsOfPlaces(phoneIds: Uint32Array, coords: Int32Array): Uint32Array {
  const places = new PhoneIds(phoneIds.length)
  // Texts of one length are told apart whatever bytes they have.
  const text = new DataView(new ArrayBuffer(PLACE_BYTES))
  for (let i = 0; i < phoneIds.length; i++) {
    text.setUint32(0, phoneIds[i], true)
    text.setInt32(4, coords[2 * i], true)
    text.setInt32(8, coords[2 * i + 1], true)
    places.add(text, 0, PLACE_BYTES, hashPhone(text, 0, PLACE_BYTES))
  }
  return places.finish().ids
}

const PLACE_BYTES = 12
