/**
 * What a service loads before it answers: a snapshot, the store, and the threads that follow changes.
 *
 * @module
 */
import { MessageChannel } from 'node:worker_threads'
import type { Config } from '../config.js'
import { type ServedKeys, serveKeys } from '../keys/served-keys.js'
import type { Compaction } from '../live/compaction.js'
import { type LiveThread, startLive } from '../live/start.js'
import type { Log } from '../log.js'
import type { MetricsMemory } from '../metrics/memory.js'
import { type ArenaPool, createArenaPool } from '../shard/arena-pool.js'
import { createStore, type MainStore } from '../store/store.js'
import { type Suppressions, startSuppressions } from '../suppressions/suppressions.js'
import { checkKeys } from './access-policy.js'
import { type OpenedSnapshot, openOrFallBack } from './fall-back.js'
import { type ServiceAreas, startAreas } from './service-areas.js'
import { refuseClustered, type ServiceCluster } from './service-cluster.js'
import { LOADER_URL } from './snapshot-switch.js'
import { StoppedWhileLoading, type StopRequest } from './stop-request.js'

export interface LoadOptions {
  readonly config: Config
  readonly log: Log
  /**
   * Called before anything is loaded, while the port is held already.
   *
   * @param goOn  to be called now and then; throws when the service is to stop
   */
  readonly prepare: (goOn: () => void) => Promise<void>
  /** Shows how far the loading of the first snapshot is. */
  readonly loading: LoadingProgress
}

export interface LoadingProgress {
  update(doneBytes: number, totalBytes: number): void
  /** Called once, also where it failed. */
  stop(): void
}

export interface Loaded extends OpenedSnapshot {
  /** The memory of this snapshot, and of those that follow. */
  readonly arenas: ArenaPool
  readonly store: MainStore
  readonly suppressions: Suppressions
  readonly live: LiveThread
  readonly areas: ServiceAreas
  /** Undefined where none is asked for. */
  readonly keys: ServedKeys | undefined
}

interface LoadedFor {
  /** Where all threads count. */
  readonly memory: MetricsMemory
  readonly compaction: Compaction
  readonly cluster: ServiceCluster | undefined
}

export async function load(
  { config, log, prepare, loading }: LoadOptions,
  stopping: StopRequest,
  { memory: metrics, compaction, cluster }: LoadedFor,
): Promise<Loaded> {
  const { dataDirectory, queryThreadCount } = config
  const goOn = () => {
    if (stopping.requested) throw new StoppedWhileLoading()
  }
  await prepare(goOn)
  const arenas = createArenaPool(queryThreadCount)
  let store: MainStore | undefined
  let live: LiveThread | undefined
  let keys: ServedKeys | undefined
  let suppressions: Suppressions | undefined
  let areas: ServiceAreas | undefined
  try {
    const opened = await openOrFallBack(dataDirectory, {
      arenas,
      log,
      loaderUrl: LOADER_URL,
      machine: config.cluster?.name,
      stopping: stopping.signal,
      needsIdentities: cluster?.snapshots.hasOthers() ?? false,
      onProgress: (doneBytes, totalBytes) => loading.update(doneBytes, totalBytes),
    }).finally(() => loading.stop())
    goOn()
    store = await createStore(dataDirectory, log)
    if (cluster === undefined) refuseClustered(dataDirectory, store)
    checkKeys(config, store.keys, log)
    // Behind whatever may refuse the directory: a default is written there where there are no areas.
    areas = await startAreas(dataDirectory, log)
    goOn()
    const { httpThreadCount: frontCount } = config
    if (config.asksForKeys) keys = serveKeys({ store, frontCount, log })
    const { port1: marks, port2: changed } = new MessageChannel()
    live = await startLive({
      dataDirectory,
      marks,
      onDue: () => compaction.due(),
      onStuck(snapshotId, code) {
        if (code === 'SnapshotCorrupt') cluster?.snapshots.damaged(snapshotId)
      },
      cluster: cluster?.openChanges(),
      journalFileBytes: config.journalFileBytes,
      log,
    })
    const shared = cluster?.suppressions
    suppressions = startSuppressions({ dataDirectory, store, metrics, shared, log })
    suppressions.follow(changed)
    cluster?.follow({ store, live, log })
    return { ...opened, arenas, store, suppressions, live, areas, keys }
  } catch (error) {
    await cluster?.unfollow()
    await live?.stop()
    await suppressions?.stop()
    keys?.stop()
    await store?.close()
    await areas?.stop()
    // Loading that was given up is a failure like any other.
    goOn()
    throw error
  }
}

export async function stopLoaded(loaded: Loaded): Promise<void> {
  const { suppressions, live, areas, keys, store } = loaded
  // It waits for marks.
  await live.stop()
  await suppressions.stop()
  keys?.stop()
  await areas.stop()
  await store.close()
}
