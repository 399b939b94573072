/**
 * The store as a front thread opens it: to read it, and to have the main thread change it.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { requestChanges } from './change-port.js'
import { type Store, storeOf } from './store.js'
import { openTables, storeDirectory } from './tables.js'

/** Opens what the main thread has opened before, and holds open for longer. */
export function openStore(dataDirectory: string, changes: MessagePort): Store {
  return storeOf(openTables(storeDirectory(dataDirectory), 'read'), requestChanges(changes))
}
