/**
 * The map configuration and the map contexts, as a thread reads them: at once, from memory that all
 * threads and processes share.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { Contact, MapContextSummary } from '../interface/context.js'
import type { CountMode } from '../interface/count-mode.js'
import {
  type ChangeRequests,
  type MakeChange,
  requestChanges,
  type TakeSuppressions,
} from './change-port.js'
import { readTotals } from './changes.js'
import { builtInConfiguration } from './default-documents.js'
import { HeaderMemory } from './header-memory.js'
import { type KeyReader, keyReader } from './keys.js'
import { type SuppressionReader, suppressionReader } from './suppressions.js'
import { META, openTables, storeDirectory, type Tables } from './tables.js'
import type { ContextHeader } from './written-context.js'

export interface Store {
  /** How recipients count where a request does not say. */
  countMode(): CountMode
  configuration(): StoredDocument
  /** The hash of the configuration, without reading that. */
  configurationVersion(): string
  /** @returns undefined when there is no such context */
  contextVersion(id: string): string | undefined
  context(id: string): StoredContext | undefined
  /** What is known of the contexts whose ids are from `start` to before `end`, in their order. */
  headers(start: string, end: string): readonly KnownContext[]
  /** Contexts in the order of their ids. */
  page(skipCount: number, takeCount: number): ContextPage
  /** What is known of each shape, by its hash; undefined where nothing is. */
  counts(shapeHashes: readonly string[]): (StoredCounts | undefined)[]
  /** The suppression lists. */
  readonly suppressions: SuppressionReader
  readonly keys: KeyReader
  readonly change: MakeChange
  readonly suppress: TakeSuppressions
  close(): Promise<void>
}

interface StoredDocument {
  /** A hash of it. */
  readonly version: string
  /** UTF-8 JSON. */
  readonly json: Uint8Array
}

export interface StoredContext extends StoredDocument {
  /** The hash of the shape of each area; null for an area without one. */
  readonly shapeHashes: readonly (string | null)[]
}

export interface KnownContext {
  readonly id: string
  readonly header: ContextHeader
}

interface ContextPage {
  /** Of all contexts. */
  readonly totalCount: number
  readonly summaries: readonly MapContextSummary[]
}

/** Who was inside a shape. */
export interface StoredCounts {
  readonly snapshotId: string
  /** All batches of the journal up to here were counted, and maybe later ones. Release 0.1.0 wrote none, which is 0. */
  readonly sequence?: number
  readonly countMode: CountMode
  /** The version of the suppression lists by which it was counted, or a later one. */
  readonly suppressionVersion: number
  /** Of the boundary beyond which nobody was counted; left out where there was none. */
  readonly boundaryKey?: string | undefined
  /** Undefined for a shape that cannot be read. */
  readonly contacts: readonly Contact[] | undefined
}

/**
 * The store as a front thread has it, whose changes the main thread makes. That has opened it before,
 * and holds it open for longer.
 */
export function openStore(dataDirectory: string, changes: MessagePort): Store {
  return storeOf(openTables(storeDirectory(dataDirectory), 'read'), requestChanges(changes))
}

export function storeOf(tables: Tables, requests: ChangeRequests): Store {
  const { meta, documents, contexts, headers, shapes, counts, refresh } = tables
  const builtIn = builtInConfiguration()
  const memory = new HeaderMemory()
  // Everything that one answer reads, it reads without a pause, and so of one moment.
  return {
    countMode() {
      refresh()
      return (meta.get(META.countMode) as CountMode | undefined) ?? builtIn.countMode
    },
    configuration() {
      refresh()
      const version = meta.get(META.configurationVersion)
      const json = documents.get('configuration')
      return version === undefined || json === undefined ? builtIn : { version, json }
    },
    configurationVersion() {
      refresh()
      return (meta.get(META.configurationVersion) as string | undefined) ?? builtIn.version
    },
    contextVersion(id) {
      refresh()
      return parsed<ContextHeader>(headers.get(id))?.version
    },
    context(id) {
      refresh()
      const header = parsed<ContextHeader>(headers.get(id))
      const json = contexts.get(id)
      const shapeHashes = parsed<(string | null)[]>(shapes.get(id))
      if (header === undefined || json === undefined || shapeHashes === undefined) return undefined
      return { version: header.version, json, shapeHashes }
    },
    headers(start, end) {
      refresh()
      const range = headers.getRange({ start, end })
      return Array.from(range, ({ key, value }) => ({ id: key, header: memory.parsed(key, value) }))
    },
    page(skipCount, takeCount) {
      refresh()
      const totalCount = readTotals(tables).contextCount
      if (takeCount === 0 || skipCount >= totalCount) return { totalCount, summaries: [] }
      const range = headers.getRange({ offset: skipCount, limit: takeCount })
      return { totalCount, summaries: Array.from(range, ({ key, value }) => summary(key, value)) }
    },
    counts(shapeHashes) {
      refresh()
      return shapeHashes.map((hash) => parsed<StoredCounts>(counts.get(hash)))
    },
    suppressions: suppressionReader(tables),
    keys: keyReader(tables),
    ...requests,
    close: () => tables.close(),
  }
}

function summary(id: string, headerJson: string): MapContextSummary {
  const { name, areaCount } = JSON.parse(headerJson) as ContextHeader
  return { Id: id, ...(name !== undefined && { ContextName: name }), AreaCount: areaCount }
}

function parsed<Value>(json: string | undefined): Value | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as Value)
}
