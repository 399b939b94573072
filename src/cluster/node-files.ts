/**
 * The files that a machine of a cluster gives to others and gets from them, and those of audiences among them.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { Member } from './entries.js'
import type { ClusterSettings } from './messages.js'
import type { ClusterNats } from './nats/cluster-nats.js'
import { NodeAudiences } from './node-audiences.js'
import type { NodeReports } from './node-reports.js'
import type { AskNode } from './questions.js'
import { SharedFiles } from './shared-files.js'

interface NodeFilesOptions {
  readonly dataDirectory: string
  readonly settings: ClusterSettings
  readonly nats: Pick<ClusterNats, 'files'>
  readonly ask: AskNode
  readonly reports: NodeReports
  readonly members: () => readonly Member[]
  /** Whether a snapshot is fetched anyway. */
  readonly isComing: (snapshotId: string) => boolean
  /** Others are to hear which audiences are here. */
  readonly onChange: () => void
  readonly log: Log
}

export function nodeFiles(options: NodeFilesOptions): {
  readonly files: SharedFiles
  readonly audiences: NodeAudiences
} {
  const { dataDirectory, settings, nats, ask, reports, members, log } = options
  const { name } = settings
  const audiences = new NodeAudiences({
    dataDirectory,
    name,
    members,
    reports,
    files: () => files,
    store: nats.files,
    copyCount: 2,
    isComing: options.isComing,
    onChange: options.onChange,
    log,
  })
  const files: SharedFiles = new SharedFiles({
    dataDirectory,
    audiences,
    files: nats.files,
    log,
    async offered(file) {
      const question = { kind: 'offer', file } as const
      for (const { name } of reports.ofThoseThere()) {
        const asked = ask<'offer'>(name, question, limits.fileOfferedMs)
        if ((await asked.catch(() => undefined))?.isDone) return true
      }
      return false
    },
  })
  return { files, audiences }
}
