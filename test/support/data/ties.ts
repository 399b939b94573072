/**
 * The ties of shards that are not loaded from files, as a load makes them.
 *
 * @module
 */
import type { Repeats } from '../../../src/shard/duplicates/find-repeats.js'
import { attachShard, type ShardImage } from '../../../src/shard/layout.js'
import {
  findSharedContacts,
  noteContacts,
  type SharedContacts,
  tieContacts,
} from '../../../src/shard/ties/contact-use.js'
import { rankedSetLength } from '../../../src/shard/ties/ranked-set.js'
import { NO_TIES, tiePhones } from '../../../src/shard/ties/ties.js'
import { tiedSetsIn } from '../../../src/snapshot/format/shard-image.js'

/**
 * @param shards  all of each source
 * @param keepsContacts  false to have ids take their place, as in a service
 */
export function withContactTies(shards: readonly ShardImage[], keepsContacts = true): ShardImage[] {
  const bySource = new Map<number, SharedContacts>()
  for (const { sourceId, contactCount } of shards) {
    if (bySource.has(sourceId)) continue
    const own = shards.filter((shard) => shard.sourceId === sourceId)
    // Each shard by itself, as if threads had taken them.
    const uses = own.map((shard) => noteContacts([attachShard(shard).contacts], contactCount))
    bySource.set(sourceId, findSharedContacts(uses))
  }
  return shards.map((shard) => {
    const { contacts } = attachShard(shard)
    const { byContact, isInArena } = setsOf(shard)
    const shared = bySource.get(shard.sourceId) as SharedContacts
    const room = keepsContacts
      ? new Uint32Array(new SharedArrayBuffer(contacts.byteLength))
      : contacts
    const ids = room.subarray(0, tieContacts(shared, contacts, byContact, room))
    return { ...shard, contactTies: { set: byContact, isInArena, ids, idEnd: shared.count } }
  })
}

/** @param repeats  of these shards */
export function withPhoneTies(
  shards: readonly ShardImage[],
  { phoneCount, shards: repeats }: Repeats,
): ShardImage[] {
  return shards.map((shard, at) => {
    if (repeats[at].recipients.length === 0) return { ...shard, phoneTies: NO_TIES }
    const { byPhone, isInArena } = setsOf(shard)
    tiePhones(repeats[at], byPhone)
    const phoneTies = { set: byPhone, isInArena, ids: repeats[at].phoneIds, idEnd: phoneCount }
    return { ...shard, phoneTies }
  })
}

/** In the room of the shard if it lies in an arena. */
function setsOf({ arena, image, recipientCount }: ShardImage) {
  if (arena !== null) {
    return { ...tiedSetsIn({ bytes: image }, image.length, recipientCount), isInArena: true }
  }
  const set = () => new Uint32Array(new SharedArrayBuffer(4 * rankedSetLength(recipientCount)))
  return { byContact: set(), byPhone: set(), isInArena: false }
}
