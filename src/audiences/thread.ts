/**
 * What an audience thread does: freezes audiences, and reads them from the disk, so that no front thread
 * waits for a disk.
 *
 * @module
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { ServiceError } from '../errors.js'
import { quotesData } from '../log.js'
import { FormatFault } from '../snapshot/format/blocks.js'
import { type AudienceName, audienceName } from '../snapshot/retention/audience-names.js'
import {
  type MadeAudience,
  type SharedAudience,
  type SharedAudienceReader,
  sharedAudienceReader,
  unknownAudience,
} from '../store/audiences.js'
import { openTables, storeDirectory, type Tables } from '../store/tables.js'
import { callsOver, handingOver, type OtherThread } from '../threads/calls.js'
import {
  deleteAudience,
  describeAudience,
  findAudience,
  liveAudiences,
  withAudience,
} from './directory.js'
import type { AudienceHeader } from './file.js'
import { freeze } from './freeze.js'
import {
  type KeptAudience,
  KeptAudiences,
  pageOfAudience,
  suppressedCountsOf,
} from './loaded-audience.js'
import type {
  AudienceAnswers,
  AudienceAsker,
  AudienceCalls,
  AudienceFacts,
  AudienceNews,
  AudienceOrder,
  AudienceThreadData,
  FreezeOrder,
  OpenedAudience,
  OpenOrder,
} from './messages.js'
import { OpenShards } from './open-shards.js'
import { encodeFrom, rowBytesFrom } from './shard-columns.js'
import { SuppressionLook } from './suppressed.js'

export function serveAudiences(main: MessagePort, data: AudienceThreadData): void {
  const tables = openTables(storeDirectory(data.dataDirectory), 'read')
  const desk = new AudienceDesk(tables, data)
  const underWay = new Set<Promise<unknown>>()
  const own: AudienceCalls = {
    carryOut(order) {
      const answering = answer(desk, order, tell)
      underWay.add(answering)
      const forget = () => underWay.delete(answering)
      answering.then(forget, forget)
      return answering
    },
    async stop() {
      await Promise.allSettled(underWay)
      // Its answers are sent by then.
      await turn()
      desk.close()
      await tables.close()
      main.close()
    },
  }
  const { tell } = callsOver<AudienceNews>(main, own)
}

async function answer(
  desk: AudienceDesk,
  order: AudienceOrder,
  tell: OtherThread<AudienceNews>['tell'],
): ReturnType<AudienceCalls['carryOut']> {
  try {
    const answer = await desk.carryOut(order)
    const bytes = typeof answer === 'object' && 'bytes' in answer ? answer.bytes : undefined
    return bytes === undefined
      ? answer
      : (handingOver(answer as object, [bytes.buffer as ArrayBuffer]) as typeof answer)
  } catch (error) {
    if (error instanceof ServiceError) throw error
    const fault = faultOf(error as NodeJS.ErrnoException, order)
    const { name, message } = error as Error
    tell.failed(fault.code, fault.message, quotesData(error) ? name : message)
    throw fault
  }
}

function faultOf(error: NodeJS.ErrnoException, order: AudienceOrder): ServiceError {
  // Files that the system does not let this user read are another fault (`readFault`).
  if (error instanceof FormatFault || error.code === 'SnapshotCorrupt') {
    const which = 'id' in order ? `the audience ${order.id}` : 'an audience'
    const advice = 'make it again; `hickory doctor` and `hickory verify --all` tell more'
    const message = `${which} or its snapshot is damaged on the disk: ${advice}`
    return new ServiceError('AudienceDamaged', message)
  }
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    const message =
      'the disk of the data directory is full: nothing was frozen; make room, then try again'
    return new ServiceError('Unavailable', message)
  }
  return new ServiceError('Unavailable', 'the audiences cannot be read or written')
}

class AudienceDesk {
  readonly #dataDirectory: string
  readonly #kept: KeptAudiences
  readonly #shards: OpenShards
  readonly #look: SuppressionLook
  /** What the cluster knows; undefined where only the disk tells. */
  readonly #shared: SharedAudienceReader | undefined

  constructor(tables: Tables, { dataDirectory, isShared }: AudienceThreadData) {
    this.#dataDirectory = dataDirectory
    this.#shared = isShared ? sharedAudienceReader(tables) : undefined
    this.#shards = new OpenShards(dataDirectory)
    this.#look = new SuppressionLook(tables, this.#shards)
    this.#kept = new KeptAudiences(dataDirectory, (header) => this.#look.versionOf(header))
  }

  carryOut(order: AudienceOrder): Promise<AudienceAnswers[AudienceOrder['kind']]> {
    switch (order.kind) {
      case 'freeze':
        return this.#freeze(order)
      case 'open':
        return this.#open(order)
      case 'list':
        return this.#list(order.asker)
      case 'remove':
        return this.#remove(order.id, order.asker)
      case 'describe':
        return this.#describe(order.id)
      case 'encode':
        return this.#shards.use(order.place, (columns) =>
          encodeFrom(columns, order.runs, order.format),
        )
      case 'rowBytes':
        return this.#shards.use(order.place, (columns) =>
          rowBytesFrom(columns, order.runs, order.format),
        )
    }
  }

  close(): void {
    this.#shards.close()
  }

  async #freeze(order: FreezeOrder): Promise<AudienceFacts> {
    const suppressionDigest = this.#look.digestOf(order.suppressionVersion)
    return factsOf(await freeze(this.#dataDirectory, order, suppressionDigest))
  }

  async #open({ id, after, limit, asker }: OpenOrder): Promise<OpenedAudience> {
    const audience = await this.#find(id, asker)
    const { recipientCount } = audience.header
    if (after > recipientCount) {
      const problem = `after is ${after}, and the audience has ${recipientCount} places`
      throw new ServiceError('InvalidRequest', problem, 'after')
    }
    await this.#bringUp(audience)
    const page = pageOfAudience(audience, after, limit)
    const suppressedCounts = suppressedCountsOf(audience)
    // Before anything is answered: in the middle of a list damage could only break it off.
    for (const { place, runs } of page.shards) {
      await this.#shards.use(place, (columns) => columns.verify(runs[0], runs[runs.length - 1]))
    }
    return { facts: factsOf(audience.header), suppressedCounts, ...page }
  }

  async #find(id: string, asker: AudienceAsker): Promise<KeptAudience> {
    if (this.#shared !== undefined) return await this.#findShared(this.#registered(id, asker))
    const known = await this.#kept.known(id)
    const name = known?.name ?? (await findAudience(this.#dataDirectory, id, Date.now()))
    const audience = known ?? (name && (await this.#kept.read(name)))
    if (audience === undefined || !mayUse(audience.header, asker)) throw unknownAudience()
    return audience
  }

  async #findShared({ id, snapshotId, expiresMs, digest }: SharedAudience): Promise<KeptAudience> {
    const name = audienceName(id, snapshotId, expiresMs)
    const audience = (await this.#kept.known(id)) ?? (await this.#kept.read(name))
    if (audience === undefined) {
      throw new ServiceError('AudienceNotHere', `the audience ${id} is not on this machine yet`)
    }
    if (audience.header.digest !== digest) {
      this.#kept.forget(id)
      throw new FormatFault('found an audience of others than those who were frozen')
    }
    return audience
  }

  /** What the cluster knows of one. */
  #registered(id: string, asker: AudienceAsker): SharedAudience {
    const audience = this.#shared?.find(id, Date.now())
    if (audience !== undefined && mayUse(audience, asker)) return audience
    if (audience === undefined) this.#leave(id)
    throw unknownAudience()
  }

  #leave(id: string): void {
    this.#kept.forget(id)
    this.#shards.closeAudience(id)
  }

  /** As of now at least: whoever comes while another one looks waits for a look that begins later. */
  async #bringUp(audience: KeptAudience): Promise<void> {
    await audience.looking?.catch(() => {})
    audience.looking ??= this.#look.bringUp(audience).finally(() => {
      audience.looking = undefined
    })
    await audience.looking
  }

  async #list(asker: AudienceAsker): Promise<AudienceFacts[]> {
    const found: AudienceFacts[] = []
    for (const audience of this.#shared?.live(Date.now()) ?? []) {
      if (mayUse(audience, asker)) found.push(factsOf(audience))
    }
    if (this.#shared === undefined) found.push(...(await this.#listOfDisk(asker)))
    return found.sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1))
  }

  async #listOfDisk(asker: AudienceAsker): Promise<AudienceFacts[]> {
    const found: AudienceFacts[] = []
    for (const name of await liveAudiences(this.#dataDirectory, Date.now())) {
      const header = await this.#header(name)
      if (header !== undefined && mayUse(header, asker)) found.push(factsOf(header))
    }
    return found
  }

  async #describe(id: string): Promise<MadeAudience | undefined> {
    const name = await findAudience(this.#dataDirectory, id, Date.now())
    return name && (await describeAudience(this.#dataDirectory, name))
  }

  async #remove(id: string, asker: AudienceAsker): Promise<AudienceFacts | undefined> {
    if (this.#shared !== undefined) {
      const facts = factsOf(this.#registered(id, asker))
      this.#leave(id)
      return facts
    }
    const name = await findAudience(this.#dataDirectory, id, Date.now())
    if (name === undefined) throw unknownAudience()
    const header = await this.#header(name)
    // Whose a damaged one is nobody can tell.
    const isAllowed = header === undefined ? asker.isForAll : mayUse(header, asker)
    if (!isAllowed) throw unknownAudience()
    this.#leave(id)
    if (!(await deleteAudience(this.#dataDirectory, name))) throw unknownAudience()
    return header && factsOf(header)
  }

  /** Undefined of one that is damaged, or no longer there. */
  async #header(name: AudienceName): Promise<AudienceHeader | undefined> {
    try {
      return await withAudience(this.#dataDirectory, name, async (_, header) => header)
    } catch (error) {
      if (error instanceof FormatFault) return undefined
      throw error
    }
  }
}

type Owned = Pick<AudienceHeader, 'keyName' | 'boundaryDigest'>

/**
 * An audience is there for the key that made it, for as long as that has the boundary that it had, and for
 * whoever may list everybody.
 */
function mayUse(header: Owned, asker: AudienceAsker): boolean {
  if (asker.isForAll) return true
  return header.keyName === asker.keyName && header.boundaryDigest === asker.boundaryDigest
}

function factsOf(header: AudienceFacts): AudienceFacts {
  const { id, snapshotId, sequence, createdMs, expiresMs, digest, recipientCount, sources } = header
  return { id, snapshotId, sequence, createdMs, expiresMs, digest, recipientCount, sources }
}
