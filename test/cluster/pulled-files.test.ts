/**
 * Files that are read from machines piece by piece: whatever these give, a file is there as it should be, or is not there.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type AskPiece, pullFile, readPiece } from '../../src/cluster/pulled-files.js'
import { limits } from '../../src/limits.js'
import { temporaryDirectory } from '../support/service/hickory.js'

// A machine that is silent is asked again, some times.
const { natsRetryMs } = limits
Object.assign(limits, { natsRetryMs: 5 })
t.teardown(() => Object.assign(limits, { natsRetryMs }))

type Machine = (offset: number) => Promise<Uint8Array | undefined>

const asking =
  (machines: Readonly<Record<string, Machine>>): AskPiece =>
  (machine, _, offset) =>
    machines[machine](offset)

t.test('a file comes whole from the first machine that gives it so', async (t) => {
  const directory = temporaryDirectory(t)
  const { filePieceBytes } = limits
  for (const byteLength of [0, 1, filePieceBytes, filePieceBytes + 1, 3 * filePieceBytes - 1]) {
    const bytes = randomBytes(byteLength)
    const from = join(directory, 'from')
    const to = join(directory, `to-${byteLength}`)
    writeFileSync(from, bytes)
    const file = { sha256: createHash('sha256').update(bytes).digest('hex'), byteLength }
    const good: Machine = (offset) => readPiece(from, offset)
    const bad: Readonly<Record<string, Machine>> = {
      silent: async () => {
        throw new Error('silent')
      },
      poor: async () => undefined,
      flipped: async (offset) => {
        const piece = await good(offset)
        if (piece !== undefined && piece.length > 0) piece[piece.length - 1] ^= 1
        return piece
      },
      ending: async (offset) => (offset === 0 ? (await good(0))?.subarray(1) : new Uint8Array(0)),
      long: async () => new Uint8Array(filePieceBytes),
    }
    let writtenBytes = 0
    const options = {
      ask: asking({ ...bad, good }),
      onBytes: (count: number) => {
        writtenBytes += count
      },
    }
    t.equal(await pullFile(file, to, { ...options, machines: [...Object.keys(bad), 'good'] }), true)
    t.ok(readFileSync(to).equals(bytes))
    t.ok(writtenBytes >= byteLength)
    if (byteLength === 0) continue
    const machines = Object.keys(bad)
    t.equal(await pullFile(file, `${to}-not`, { ...options, machines }), false)
    t.notOk(existsSync(`${to}-not`))
  }
})

t.test('a disk that takes nothing is not the fault of a machine', async (t) => {
  const path = join(temporaryDirectory(t), 'none', 'file')
  const machines: Readonly<Record<string, Machine>> = { a: async () => new Uint8Array(1) }
  const options = { machines: ['a'], ask: asking(machines), onBytes() {} }
  const file = { sha256: '0'.repeat(64), byteLength: 1 }
  await t.rejects(pullFile(file, path, options), { code: 'ENOENT' })
})
