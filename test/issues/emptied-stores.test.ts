/**
 * One wrong bit in a head of the LMDB file of a store made all of its tables look empty, or as they were before the
 * last commit, and the check passed: a store without a format and rows was taken for one that was never filled. The
 * service then started without keys, suppressions and contexts, and made new tables over the old ones.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createStore } from '../../src/store/store.js'
import { copyTables, DATA_FILE, openTables, storeDirectory } from '../../src/store/tables.js'
import { findDamage } from '../../src/store/verify.js'
import { phonesOn, silentLog } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** From `struct MDB_meta` of lmdb.h, and `struct MDB_page_header` before it: the second head is on the second page. */
const PAGE_BYTES_AT = 48
const NAMES_FLAGS_AT = 100
const NAMES_ROOT_AT = 136
const COMMIT_COUNT_AT = 152
const FIRST_PAGE_AT = 0
const SECOND_PAGE_AT = 4096

/** A data directory, and the file of its store, which has `commitCount` commits behind that which fills it. */
async function filledStore(t: Test, commitCount: number) {
  const data = temporaryDirectory(t)
  const store = await createStore(data, silentLog)
  for (let i = 0; i < commitCount; i++) {
    const phones = [`+999${i}`]
    store.makeSuppressions([{ kind: 'suppressions', scope: 'all', phones, isRemoval: false }])
  }
  await store.close()
  return { data, directory: storeDirectory(data) }
}

/** What is found in a file that differs by one bit, which the check must leave as it is. */
async function assertFound(t: Test, written: Buffer, at: number, bit: number, problem: RegExp) {
  const directory = temporaryDirectory(t)
  const damaged = Buffer.from(written)
  damaged[at + (bit >> 3)] ^= 1 << (bit & 7)
  writeFileSync(join(directory, DATA_FILE), damaged)
  const what = `bit ${bit} from byte ${at} on`
  t.match(await findDamage(directory), problem, what)
  t.ok(readFileSync(join(directory, DATA_FILE)).equals(damaged), `${what}: nothing is written`)
}

const UNLIKE = /^the two heads of its file do not fit together$/

t.test('a wrong bit in a head of a copy is found, which else looks empty', async (t) => {
  for (const commitCount of [0, 1, 5]) {
    const { directory } = await filledStore(t, commitCount)
    const copy = temporaryDirectory(t)
    await copyTables(directory, copy)
    const written = readFileSync(join(copy, DATA_FILE))
    t.equal(await findDamage(copy), undefined)
    // The bit that is set in 4096 leaves none.
    for (const bit of [0, 5, 8, 11, 13, 15]) {
      await assertFound(t, written, FIRST_PAGE_AT + PAGE_BYTES_AT, bit, UNLIKE)
      await assertFound(t, written, SECOND_PAGE_AT + PAGE_BYTES_AT, bit, UNLIKE)
    }
    for (const bit of [1, 4, 5, 20, 63]) {
      await assertFound(t, written, FIRST_PAGE_AT + COMMIT_COUNT_AT, bit, UNLIKE)
    }
    await assertFound(t, written, SECOND_PAGE_AT + COMMIT_COUNT_AT, 0, UNLIKE)
    await assertFound(
      t,
      written,
      SECOND_PAGE_AT + NAMES_ROOT_AT,
      0,
      /^its format is gone$|^the two heads/,
    )
    await assertFound(t, written, SECOND_PAGE_AT + NAMES_FLAGS_AT, 1, UNLIKE)
  }
})

t.test('a wrong bit does not take back the last commit', async (t) => {
  for (const commitCount of [1, 2, 3]) {
    const { data, directory } = await filledStore(t, commitCount)
    const written = readFileSync(join(directory, DATA_FILE))
    t.equal(await findDamage(directory), undefined)
    t.equal((await phonesOn(data, 'all')).length, commitCount)
    for (const pageAt of [FIRST_PAGE_AT, SECOND_PAGE_AT]) {
      for (const bit of [0, 1, 2, 3, 4, 5, 6, 40, 63]) {
        await assertFound(t, written, pageAt + COMMIT_COUNT_AT, bit, UNLIKE)
      }
    }
  }
})

t.test('a store that was begun and never filled passes, and so does a copy of it', async (t) => {
  const directory = temporaryDirectory(t)
  const copy = join(directory, 'copy')
  mkdirSync(copy)
  await openTables(directory, 'write').close()
  await copyTables(directory, copy)
  for (const begun of [directory, copy]) {
    t.equal(await findDamage(begun), undefined)
    t.equal(await findDamage(begun), undefined, 'the check has not filled it')
  }
})
