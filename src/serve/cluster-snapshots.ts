/**
 * Which snapshot a machine of a cluster is to serve: the one that the cluster has announced, from the moment at which all
 * machines switch.
 *
 * @module
 */
import type { ServedSnapshots } from '../cluster/messages.js'
import type { ClusterThread } from '../cluster/start.js'
import { readFacts } from '../cluster/state-file.js'
import { holdingOf } from '../snapshot/snapshot.js'
import type { SwitchGate } from './snapshot-switch.js'

export interface ClusterSnapshots extends SwitchGate {
  onRepaired(listener: () => void): void
}

export function clusterSnapshots(thread: ClusterThread, dataDirectory: string): ClusterSnapshots {
  let wantedId: string | undefined
  let switchedId: string | undefined
  let served: Pick<ServedSnapshots, 'servedId' | 'held'> | undefined
  let look: () => void = () => {}
  let repaired: () => void = () => {}
  thread.answer({
    wanted(news) {
      wantedId = news.wantedId
      switchedId = news.switchedId
      look()
    },
    repaired: () => repaired(),
  })
  return {
    wantedId: () => wantedId,
    hasOthers: () => readFacts(dataDirectory).members.length > 1,
    serves(snapshot) {
      served = { servedId: snapshot.id, held: holdingOf(snapshot) }
      thread.serves({ ...served, preparedId: undefined })
    },
    async untilSwitch(id, signal) {
      if (served !== undefined) thread.serves({ ...served, preparedId: id })
      let giveUp: () => void = () => {}
      try {
        return await new Promise<boolean>((resolve) => {
          look = () => {
            // Undefined while the cluster has not heard of it. What is served may be wanted again.
            const isOver = signal.aborted || wantedId !== id
            if (switchedId === id) resolve(true)
            else if (isOver && wantedId !== undefined) resolve(false)
          }
          giveUp = () => resolve(false)
          signal.addEventListener('abort', giveUp)
          look()
        })
      } finally {
        signal.removeEventListener('abort', giveUp)
      }
    },
    damaged: (id) => thread.damaged(id),
    onRepaired(listener) {
      repaired = listener
    },
  }
}
