/**
 * Entry point of the threads of a service, see src/threads/thread.ts.
 *
 * @module
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { ThreadName } from '../src/threads/thread.js'

type Serve = (main: MessagePort, data: never) => unknown

/** Each loads what it needs alone. */
const threads: Readonly<Record<ThreadName, () => Promise<Serve>>> = {
  'access-log': async () => (await import('../src/access-log/serve-log.js')).serveLog,
  audience: async () => (await import('../src/audiences/thread.js')).serveAudiences,
  audit: async () => (await import('../src/audit/serve-lines.js')).serveLines,
  changes: async () => (await import('../src/live/thread.js')).serveLive,
  cluster: async () => (await import('../src/cluster/thread.js')).serveCluster,
  digests: async () => (await import('../src/live/make-digests.js')).serveDigests,
  front: async () => (await import('../src/serve/front.js')).runFront,
  suppressions: async () => (await import('../src/suppressions/serve-marks.js')).serveMarks,
  tls: async () => (await import('../src/tls/terminator.js')).runTerminator,
}

if (parentPort === null) throw new Error('this is a thread of a service')
const { name, data } = workerData as { readonly name: ThreadName; readonly data: never }
const serve = await threads[name]()
await serve(parentPort, data)
