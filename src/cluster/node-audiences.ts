/**
 * Audiences on a machine of a cluster: what its main thread asks, and what other machines have of them.
 *
 * @module
 */
import { join } from 'node:path'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'
import { audienceName, audiencesDirectory } from '../snapshot/retention/audience-names.js'
import type { AnnouncedAudience, MadeAudience } from '../store/audiences.js'
import { AudienceDesk } from './audience-desk.js'
import type { AudienceAsk, AudienceTold } from './audience-messages.js'
import type { Member } from './entries.js'
import type { ClusterFiles } from './nats/cluster-files.js'
import type { Opened } from './nats/opened.js'
import { type AudienceFiles, hasFilesOf } from './node-report.js'
import type { NodeReports } from './node-reports.js'
import type { SharedFiles } from './shared-files.js'
import { announcedSnapshot } from './snapshot-files.js'
import { untilKept } from './until-kept.js'
import type { FileDigest } from './verified-file.js'

interface NodeAudiencesOptions {
  readonly dataDirectory: string
  readonly name: string
  readonly members: () => readonly Member[]
  readonly reports: NodeReports
  readonly files: () => SharedFiles
  readonly store: Opened<ClusterFiles>
  /** How many servers of NATS must have a file that most members do not have. */
  readonly copyCount: number
  readonly isComing: (snapshotId: string) => boolean
  readonly onChange: () => void
  readonly log: Log
}

export class NodeAudiences {
  readonly desk: AudienceDesk
  readonly #options: NodeAudiencesOptions

  constructor(options: NodeAudiencesOptions) {
    const { dataDirectory, files, isComing, onChange, log } = options
    this.#options = options
    const get: SharedFiles['get'] = (...file) => files().get(...file)
    const desk = { dataDirectory, get, isComing, onChange, nowMs: monotonicMs, log }
    this.desk = new AudienceDesk(desk)
  }

  /** @throws  as a rejection, what whoever asked is told */
  async answer(ask: AudienceAsk): Promise<AudienceTold[AudienceAsk['kind']]> {
    switch (ask.kind) {
      case 'put':
        return await this.#put(ask.made)
      case 'untilKept':
        return await untilKept(
          {
            members: () => this.#options.members().map(({ name }) => name),
            has: (name) => hasFilesOf(this.#filesOf(name), ask.entrySequence),
            isStored: () => this.#isStored(ask.file),
          },
          { waitMs: limits.audienceSpreadMs, storedMs: limits.audienceStoredMs },
        )
      case 'bring':
        return await this.desk.bring(ask.id, ask.isDamaged, ask.waitMs)
    }
  }

  /** Where the file of an audience should be; undefined where there is none with this digest. */
  pathOf(sha256: string): string | undefined {
    return this.desk.pathOf(sha256)
  }

  /** Files of audiences that some member does not have. */
  awaited(): FileDigest[] {
    const names = this.#options.members().map(({ name }) => name)
    return this.desk
      .audiences()
      .filter(({ entrySequence }) =>
        names.some((name) => !hasFilesOf(this.#filesOf(name), entrySequence)),
      )
      .map(({ file }) => file)
  }

  async #put({ id, snapshotId, expiresMs, file }: MadeAudience): Promise<AudienceTold['put']> {
    const { dataDirectory, files } = this.#options
    const { name } = audienceName(id, snapshotId, expiresMs)
    const { documents }: Pick<AnnouncedAudience, 'documents'> = await announcedSnapshot(
      dataDirectory,
      snapshotId,
    )
    await files().put(join(audiencesDirectory(dataDirectory), name), file)
    return documents
  }

  /** As far as is known of the machine that is a member now, and not of one whose place it took. */
  #filesOf(name: string): AudienceFiles | undefined {
    const { members, reports, name: own } = this.#options
    if (name === own) return this.desk.files()
    const report = reports.of(name)
    const member = members().find((each) => each.name === name)
    return report?.incarnation === member?.incarnation ? report?.audiences : undefined
  }

  async #isStored(file: FileDigest): Promise<boolean> {
    const { store, copyCount } = this.#options
    try {
      return await store.use(
        async (files) => (await files.copyCount()) >= copyCount && (await files.has(file)),
      )
    } catch {
      // NATS is away: only members count then.
      return false
    }
  }
}
