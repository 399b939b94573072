/**
 * The kd order of the recipients of a shard, by the code of wasm/kd-sort.ts.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { RECORD_BYTES, RECORDS_AT } from './kd-records.js'

/**
 * Room for the records of so many recipients, `RECORD_BYTES` each and longitude and latitude first, to be
 * filled and then sorted by `sortRecords`. It is good until it is asked for again.
 */
export function takeRecords(recipientCount: number): DataView {
  const { memory } = kernel
  const missingBytes = RECORDS_AT + RECORD_BYTES * recipientCount - memory.buffer.byteLength
  if (missingBytes > 0) memory.grow(Math.ceil(missingBytes / PAGE_BYTES))
  return new DataView(memory.buffer, RECORDS_AT, RECORD_BYTES * recipientCount)
}

/** Puts the records that were taken last into kd order. The same ones always get the same order. */
export function sortRecords(recipientCount: number, nodeSize: number): void {
  kernel.kdSort(recipientCount, nodeSize)
}

const PAGE_BYTES = 65_536

interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pageCount: number): number }
  kdSort(count: number, nodeSize: number): void
}

const kernel = instantiate()

/** It takes no instructions that some processor lacks. */
function instantiate(): KernelExports {
  const bytes = readFileSync(new URL('./kd-sort.wasm', import.meta.url))
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {})
  return exports as unknown as KernelExports
}
