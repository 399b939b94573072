import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import createXxhash from 'xxhash-wasm'
import { unzstd } from '../../../src/sources/files/zstd.js'
import { zstdOf } from '../../support/data/recipient-files.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'

const { h64Raw } = await createXxhash()

/** A frame of blocks that are not compressed, with its length and its checksum. */
function frameOf(content: Buffer, blockBytes: number): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32LE(0xfd2fb528, 0)
  // One segment, a checksum, and 8 bytes of length.
  head.writeUInt8(0xe4, 4)
  head.writeBigUInt64LE(BigInt(content.length), 5)
  const blocks: Buffer[] = []
  let at = 0
  do {
    const block = content.subarray(at, at + blockBytes)
    at += blockBytes
    const blockHead = Buffer.alloc(3)
    blockHead.writeUIntLE((block.length << 3) | (at >= content.length ? 1 : 0), 0, 3)
    blocks.push(blockHead, block)
  } while (at < content.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32LE(Number(BigInt.asUintN(32, h64Raw(content))))
  return Buffer.concat([head, ...blocks, checksum])
}

async function unpack(packed: Uint8Array, pieceBytes = packed.length + 1): Promise<Buffer> {
  async function* pieces() {
    for (let at = 0; at < packed.length; at += pieceBytes) {
      yield packed.subarray(at, at + pieceBytes)
    }
  }
  const out: Uint8Array[] = []
  for await (const bytes of unzstd(pieces())) out.push(bytes)
  return Buffer.concat(out)
}

t.test('frames of any size come back, wherever they are cut into pieces', async (t) => {
  const seed = testSeed(t)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 1, max: 200 }),
      async (contents, pieceBytes, blockBytes) => {
        const frames = contents.map((bytes) => frameOf(Buffer.from(bytes), blockBytes))
        const skipped = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
        const unpacked = await unpack(Buffer.concat([...frames, skipped, ...frames]), pieceBytes)
        t.ok(unpacked.equals(Buffer.concat([...contents, ...contents])))
      },
    ),
    { seed, numRuns: byTier({ ci: 50, soak: 200 }) },
  )
})

t.test('what DuckDB packed comes back', async (t) => {
  const lines = Array.from(
    { length: byTier({ ci: 20_000, soak: 200_000 }) },
    (_, index) => `+999${index * 7919},line ${index}`,
  )
  const text = `${lines.join('\n')}\n`
  const packed = await zstdOf(t.testdir({}), text)
  for (const pieceBytes of [packed.length, 65_536, 1_000]) {
    const digest = createHash('sha256').update(await unpack(packed, pieceBytes))
    t.equal(digest.digest('hex'), createHash('sha256').update(text).digest('hex'))
  }
})

t.test('every flipped bit of a frame with a checksum is found, and every cut', async (t) => {
  const content = Buffer.from('+9991,1,2,contact\n'.repeat(3))
  const packed = frameOf(content, 20)
  for (let bit = 0; bit < packed.length * 8; bit += byTier({ ci: 29, soak: 1 })) {
    const damaged = Buffer.from(packed)
    damaged[bit >> 3] ^= 1 << (bit & 7)
    // The bit that nobody uses, and those by which a frame is one to be skipped.
    const out = await unpack(damaged).catch(() => undefined)
    t.ok(out === undefined || out.equals(content) || out.length === 0, `bit ${bit}`)
  }
  for (let length = 1; length < packed.length; length++) {
    await t.rejects(unpack(packed.subarray(0, length)), `${length} bytes`)
  }
})
