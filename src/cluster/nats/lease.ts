/**
 * The lease of the writer: a key in a bucket of NATS that says who writes, and in which epoch. It is taken and renewed
 * only in the place of what was there before.
 *
 * It is not what keeps two machines from writing: NATS may forget what it has acknowledged. Machines promise each other.
 *
 * @module
 */

import { jetstream } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import { limits } from '../../limits.js'
import type { Connection } from './connection.js'
import type { Names } from './names.js'
import { inCopies } from './open-stream.js'
import type { Opened } from './opened.js'
import { pack, unpackOrNothing } from './packing.js'

/** Who writes. */
interface LeaseHolder {
  readonly name: string
  readonly epoch: number
}

interface Taken {
  readonly isTaken: boolean
  /** Of whoever holds it then. */
  readonly epoch: number
}

interface Found {
  readonly holder: LeaseHolder | undefined
  readonly revision: number
}

/** Opens the bucket of a cluster, and makes it where there is none. */
export async function openBucket(connection: Connection, names: Names): Promise<KV> {
  const client = jetstream(connection.nats, { timeout: limits.clusterCallMs })
  const buckets = new Kvm(client)
  return await inCopies((replicas) =>
    buckets.create(names.bucket, { history: 5, replicas, timeout: limits.clusterCallMs }),
  )
}

export class WriterLease {
  readonly #bucket: Opened<KV>
  readonly #name: string
  /** Of the key, since this machine holds it. */
  #revision: number | undefined

  constructor(bucket: Opened<KV>, name: string) {
    this.#bucket = bucket
    this.#name = name
  }

  /**
   * Takes it for an epoch that is higher than the one that is there.
   *
   * @throws  as a rejection, where NATS does not answer
   */
  take(epoch: number): Promise<Taken> {
    return this.#bucket.use((bucket) => this.#take(bucket, epoch))
  }

  /**
   * Says again that this machine writes.
   *
   * @returns who holds it; somebody else where it was taken
   * @throws  as a rejection, where NATS does not answer
   */
  renew(epoch: number): Promise<LeaseHolder> {
    return this.#bucket.use((bucket) => this.#renew(bucket, epoch))
  }

  async holder(): Promise<LeaseHolder | undefined> {
    return (await this.#bucket.use((bucket) => this.#find(bucket))).holder
  }

  async #take(bucket: KV, epoch: number): Promise<Taken> {
    const { holder, revision } = await this.#find(bucket)
    if (holder !== undefined && holder.epoch >= epoch)
      return { isTaken: false, epoch: holder.epoch }
    try {
      this.#revision = await this.#write(bucket, epoch, revision)
      return { isTaken: true, epoch }
    } catch (fault) {
      const now = await this.#find(bucket)
      // The answer of NATS may have been lost on the way.
      const isTaken = now.holder?.name === this.#name && now.holder.epoch === epoch
      if (!isTaken && now.revision === revision) throw fault
      this.#revision = isTaken ? now.revision : undefined
      return { isTaken, epoch: now.holder?.epoch ?? 0 }
    }
  }

  async #renew(bucket: KV, epoch: number): Promise<LeaseHolder> {
    const own = { name: this.#name, epoch }
    try {
      this.#revision = await this.#write(bucket, epoch, this.#revision)
      return own
    } catch (fault) {
      const { holder, revision } = await this.#find(bucket)
      if (holder !== undefined && holder.epoch > epoch) return holder
      // Of a bucket that was lost, or has lost its end.
      if (revision === this.#revision) throw fault
      this.#revision = await this.#write(bucket, epoch, revision === 0 ? undefined : revision)
      return own
    }
  }

  async #find(bucket: KV): Promise<Found> {
    const entry = await bucket.get(KEY)
    if (entry === null) return { holder: undefined, revision: 0 }
    const value = entry.operation === 'PUT' ? unpackOrNothing(entry.value) : undefined
    return { holder: value as LeaseHolder | undefined, revision: entry.revision }
  }

  async #write(bucket: KV, epoch: number, revision: number | undefined): Promise<number> {
    const value = pack({ name: this.#name, epoch } satisfies LeaseHolder)
    if (revision === undefined || revision === 0) return await bucket.create(KEY, value)
    return await bucket.update(KEY, value, revision)
  }
}

const KEY = 'writer'
