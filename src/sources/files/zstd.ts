/**
 * Unpacks zstd, and verifies all that a frame says of itself: its blocks, its length and its checksum.
 * Node.js 20 has no zstd, and fzstd verifies neither length nor checksum.
 *
 * @module
 */
import { Decompress } from 'fzstd'
import createXxhash, { type XXHash } from 'xxhash-wasm'

const FRAME_MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50
const MAGIC_BYTES = 4
/** Magic, descriptor, window, dictionary and content size. */
const HEADER_BYTES_MAX = 18
const BLOCK_HEADER_BYTES = 3
const CHECKSUM_BYTES = 4
const BLOCK_TYPE_RLE = 1
const BLOCK_TYPE_RESERVED = 3

/** The part of a stream that is expected next. */
type Part = 'magic' | 'header' | 'block' | 'data' | 'checksum' | 'skipSize' | 'skip'

/** @throws Error  for what is damaged or cut off, after its last good bytes */
export async function* unzstd(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { create64 } = await createXxhash()
  const frames = new FrameReader(create64)
  for await (const bytes of packed) {
    frames.push(bytes)
    yield* frames.take()
  }
  frames.end()
}

class FrameReader {
  readonly #create64: () => XXHash<bigint>
  #part: Part = 'magic'
  /** Bytes that were not enough for the next part. */
  #rest: Uint8Array = new Uint8Array(0)
  /** Of a block or a skippable frame. */
  #bytesLeft = 0
  #isLastBlock = false
  #hasChecksum = false
  #contentBytes: bigint | undefined
  #outBytes = 0n
  #hash: XXHash<bigint> | undefined
  #unpack: Decompress | undefined
  #out: Uint8Array[] = []

  constructor(create64: () => XXHash<bigint>) {
    this.#create64 = create64
  }

  push(bytes: Uint8Array): void {
    let input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    for (;;) {
      const taken = this.#step(input)
      if (taken === 0) break
      input = input.subarray(taken)
    }
    this.#rest = Uint8Array.from(input)
  }

  take(): Uint8Array[] {
    const out = this.#out
    this.#out = []
    return out
  }

  end(): void {
    if (this.#part !== 'magic' || this.#rest.length > 0) throw new Error('the zstd data is cut off')
  }

  /** Takes one part, or a piece of the data; returns its bytes, or 0 if there are not enough. */
  #step(input: Uint8Array): number {
    const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
    if (this.#part === 'magic') return this.#magic(view)
    if (this.#part === 'header') return this.#header(input, view)
    if (this.#part === 'block') return this.#block(input)
    if (this.#part === 'data' || this.#part === 'skip') return this.#data(input)
    if (this.#part === 'checksum') return this.#checksum(input, view)
    if (view.byteLength < MAGIC_BYTES) return 0
    this.#bytesLeft = view.getUint32(0, true)
    this.#part = this.#bytesLeft === 0 ? 'magic' : 'skip'
    return MAGIC_BYTES
  }

  #magic(view: DataView): number {
    if (view.byteLength < MAGIC_BYTES) return 0
    const magic = view.getUint32(0, true)
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
      this.#part = 'skipSize'
      return MAGIC_BYTES
    }
    if (magic !== FRAME_MAGIC) throw new Error('the zstd data is damaged')
    this.#part = 'header'
    this.#outBytes = 0n
    const hash = this.#create64()
    this.#hash = hash
    this.#unpack = new Decompress((bytes) => {
      if (bytes.length === 0) return
      hash.update(bytes)
      this.#outBytes += BigInt(bytes.length)
      this.#out.push(bytes)
    })
    const start = new Uint8Array(MAGIC_BYTES)
    new DataView(start.buffer).setUint32(0, FRAME_MAGIC, true)
    this.#unpack.push(start)
    return MAGIC_BYTES
  }

  #header(input: Uint8Array, view: DataView): number {
    if (input.length === 0) return 0
    const descriptor = input[0]
    const isSingle = (descriptor & 0x20) !== 0
    const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]
    const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6]
    const sizeAt = 1 + (isSingle ? 0 : 1) + dictionaryBytes
    if (sizeAt + sizeBytes > HEADER_BYTES_MAX) throw new Error('the zstd data is damaged')
    if (input.length < sizeAt + sizeBytes) return 0
    this.#hasChecksum = (descriptor & 4) !== 0
    this.#contentBytes = [
      () => undefined,
      () => BigInt(view.getUint8(sizeAt)),
      () => BigInt(view.getUint16(sizeAt, true) + 256),
      () => BigInt(view.getUint32(sizeAt, true)),
      () => view.getBigUint64(sizeAt, true),
    ][[0, 1, 2, 4, 8].indexOf(sizeBytes)]()
    this.#unpack?.push(input.slice(0, sizeAt + sizeBytes))
    this.#part = 'block'
    return sizeAt + sizeBytes
  }

  #block(input: Uint8Array): number {
    if (input.length < BLOCK_HEADER_BYTES) return 0
    const header = input[0] | (input[1] << 8) | (input[2] << 16)
    const type = (header >> 1) & 3
    if (type === BLOCK_TYPE_RESERVED) throw new Error('the zstd data is damaged')
    this.#isLastBlock = (header & 1) === 1
    this.#bytesLeft = type === BLOCK_TYPE_RLE ? 1 : header >> 3
    this.#unpack?.push(input.slice(0, BLOCK_HEADER_BYTES))
    this.#part = 'data'
    if (this.#bytesLeft === 0) this.#endBlock()
    return BLOCK_HEADER_BYTES
  }

  #data(input: Uint8Array): number {
    const taken = Math.min(input.length, this.#bytesLeft)
    if (taken === 0) return 0
    this.#bytesLeft -= taken
    if (this.#part === 'skip') {
      if (this.#bytesLeft === 0) this.#part = 'magic'
      return taken
    }
    this.#unpack?.push(input.slice(0, taken))
    if (this.#bytesLeft === 0) this.#endBlock()
    return taken
  }

  #endBlock(): void {
    if (!this.#isLastBlock) this.#part = 'block'
    else if (this.#hasChecksum) this.#part = 'checksum'
    else this.#endFrame()
  }

  #checksum(input: Uint8Array, view: DataView): number {
    if (input.length < CHECKSUM_BYTES) return 0
    this.#unpack?.push(input.slice(0, CHECKSUM_BYTES))
    const expected = BigInt(view.getUint32(0, true))
    if (BigInt.asUintN(32, this.#hash?.digest() ?? -1n) !== expected) {
      throw new Error('the zstd data is damaged: its checksum is wrong')
    }
    this.#endFrame()
    return CHECKSUM_BYTES
  }

  #endFrame(): void {
    // It waits for so many bytes before it begins, and a small frame has fewer.
    this.#unpack?.push(new Uint8Array(HEADER_BYTES_MAX - 1))
    if (this.#contentBytes !== undefined && this.#contentBytes !== this.#outBytes) {
      throw new Error('the zstd data is damaged: its length is wrong')
    }
    this.#part = 'magic'
  }
}
