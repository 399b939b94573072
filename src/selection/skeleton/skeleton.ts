/**
 * Reads a body of JSON without its positions: one pass of WebAssembly moves these into flat numbers,
 * and in the value that is left the place of each array of them stands for it.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { limits } from '../../limits.js'
import { compileKernel } from '../../shard/compile-kernel.js'
import { mayHoldHalfPair } from '../parse.js'
import * as at from './layout.js'

assert(at.INPUT_BYTES_MAX >= limits.bodyBytes)
assert(at.VERTEX_COUNT_MAX >= limits.vertexCount && at.RING_COUNT_MAX >= limits.ringCount)

/** The one of this thread; undefined on a processor without the instructions that it needs. */
export function skeletonOfThread(): Skeleton | undefined {
  if (ofThread === null) {
    const module = compileKernel(new URL('./skeleton.wasm', import.meta.url))
    ofThread = module === null ? undefined : new Skeleton(module)
  }
  return ofThread
}

/** Null until it is first asked for: most threads read no requests. */
let ofThread: Skeleton | undefined | null = null

/** What was taken out of the body that was read last. The columns are described in layout.ts. */
export class Skeleton {
  arrayCount = 0
  /** How many bodies were read. */
  bodyCount = 0
  readonly arrays: Int32Array
  readonly ringStarts: Uint32Array
  readonly ringBits: Uint32Array
  readonly ringBounds: Float64Array
  readonly polygonEnds: Uint32Array
  readonly vertices: Float64Array
  readonly #bytes: Latin1Buffer
  readonly #words: Int32Array
  readonly #exports: SkeletonExports
  #bodyBytes = 0
  /** Of the texts that are kept, once they were there again. */
  readonly #values: unknown[] = Array(at.KEPT_TEXT_COUNT).fill(undefined)

  constructor(module: WebAssembly.Module) {
    const numberAt = (start: number, end: number) => Number(this.#bytes.latin1Slice(start, end))
    const { exports } = new WebAssembly.Instance(module, { skeleton: { numberAt } })
    this.#exports = exports as unknown as SkeletonExports
    const { buffer } = this.#exports.memory
    assert(buffer.byteLength === at.PAGE_COUNT * PAGE_BYTES)
    this.#bytes = Buffer.from(buffer) as Latin1Buffer
    this.#words = new Int32Array(buffer)
    this.arrays = new Int32Array(buffer, at.ARRAYS, at.ARRAY_WORDS * (at.ARRAY_COUNT_MAX + 1))
    this.ringStarts = new Uint32Array(buffer, at.RING_STARTS, at.RING_COUNT_MAX + 1)
    this.ringBits = new Uint32Array(buffer, at.RING_BITS, at.RING_COUNT_MAX)
    this.ringBounds = new Float64Array(buffer, at.RING_BOUNDS, 4 * at.RING_COUNT_MAX)
    this.polygonEnds = new Uint32Array(buffer, at.POLYGON_ENDS, at.RING_COUNT_MAX)
    this.vertices = new Float64Array(buffer, at.VERTICES, 2 * at.VERTEX_COUNT_MAX)
  }

  /**
   * Reads a body. The value must not be changed: it may be that of other bodies as well. Behind the
   * name of a member that has positions there is no number but what stands for an array: no text of a
   * client can make one.
   *
   * @returns undefined for a body that is not JSON, beyond a limit, or of an unusual form
   */
  read(body: Uint8Array): unknown {
    this.bodyCount++
    this.arrayCount = 0
    this.#bodyBytes = body.length
    if (body.length > at.INPUT_BYTES_MAX) return undefined
    this.#bytes.set(body, at.INPUT)
    const { jsonDepthCount, jsonMemberCount, jsonItemCount } = limits
    const textBytes = this.#exports.scan(
      body.length,
      jsonDepthCount,
      jsonMemberCount,
      jsonItemCount,
    )
    if (textBytes < 0) return undefined
    const value = this.#valueOf(textBytes)
    if (value !== undefined) this.arrayCount = this.#words[at.ARRAY_COUNT / 4]
    return value
  }

  /** The body that was read last, as it was sent. */
  get body(): Uint8Array {
    return this.#bytes.subarray(at.INPUT, at.INPUT + this.#bodyBytes)
  }

  /**
   * Brings a ring, which is in degrees so far, to units.
   *
   * @returns whether all its vertices are places
   */
  toUnits(ring: number): boolean {
    return this.#exports.toUnits(ring) !== 0
  }

  /** Most clients draw in one program, and what is left of their bodies is often the same. */
  #valueOf(textBytes: number): unknown {
    const place = this.#exports.place(textBytes)
    const isRepeated = place >= 0 && place < at.KEPT_TEXT_COUNT
    if (isRepeated && this.#values[place] !== undefined) return this.#values[place]
    // The text of another value has been overwritten.
    if (place < 0) this.#values[place + at.KEPT_TEXT_COUNT] = undefined
    let value: unknown
    try {
      const text = this.#textOf(textBytes)
      // May be half of a pair, which the long way refuses by the name of its member.
      if (mayHoldHalfPair(text)) return undefined
      value = JSON.parse(text)
    } catch {
      return undefined
    }
    // Not at once, since most texts that are not repeated soon never are.
    if (isRepeated) this.#values[place] = frozen(value)
    return value
  }

  #textOf(textBytes: number): string {
    const end = at.TEXT + textBytes
    if (this.#words[at.HAS_MORE_THAN_ASCII / 4] === 0) return this.#bytes.latin1Slice(at.TEXT, end)
    return decoder.decode(this.#bytes.subarray(at.TEXT, end))
  }
}

const PAGE_BYTES = 65_536
const decoder = new TextDecoder('utf-8', { fatal: true })

/** With a method that its type leaves out: for little text several times as fast as `toString`. */
interface Latin1Buffer extends Buffer {
  latin1Slice(start: number, end: number): string
}

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const item of Object.values(value)) frozen(item)
  return Object.freeze(value)
}

interface SkeletonExports {
  place(textBytes: number): number
  readonly memory: { readonly buffer: ArrayBuffer }
  scan(bodyBytes: number, depthMax: number, memberCountMax: number, itemCountMax: number): number
  toUnits(ring: number): number
}
