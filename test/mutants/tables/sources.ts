/**
 * Faults in what is imported and followed: rows, files, PostgreSQL, changes, and the guards of commands.
 *
 * @module
 */
import type { Mutant } from '../mutant.js'

export const ofSources: readonly Mutant[] = [
  {
    name: 'a latitude of 95 is taken from PostgreSQL',
    file: 'src/sources/rows/row-rules.ts',
    find: 'const LAT_DEGREES_MAX = 90',
    replace: 'const LAT_DEGREES_MAX = 95',
  },
  {
    name: 'a latitude of 95 is taken from a file',
    file: 'src/sources/rows/row-query.ts',
    find: 'const LAT_DEGREES_MAX = 90',
    replace: 'const LAT_DEGREES_MAX = 95',
  },
  {
    name: 'a row without a key is taken',
    file: 'src/sources/rows/row-query.ts',
    find: "rules.push([`key = ''`, 'KeyMissing'], [`strlen(key)",
    replace: 'rules.push([`strlen(key)',
    hints: ['test/sources/keys.test.ts'],
  },
  {
    name: 'a key that was there before is taken again',
    file: 'src/sources/rows/key-set.ts',
    find: 'bytes, start, end)) return false',
    replace: 'bytes, start, end)) return true',
  },
  {
    name: 'keys that are forgotten with a broken file stay known',
    file: 'src/sources/rows/key-set.ts',
    find: 'keyPage < page || (keyPage === page && slots[item + 2] < end)',
    replace: 'keyPage < page || (keyPage === page && slots[item + 2] <= end)',
  },
  {
    name: 'a number of another length is known by the same beginning',
    file: 'src/sources/rows/e164.ts',
    find: 'const key = start + String.fromCharCode(digits.length)',
    replace: 'const key = start',
  },
  {
    name: 'one recipient more than a source may have is taken',
    file: 'src/sources/columns/collector.ts',
    find: 'if (this.recipientCount + recipientCount > this.#recipientCountMax) {',
    replace: 'if (this.recipientCount + recipientCount > this.#recipientCountMax + 1) {',
  },
  {
    name: 'the checksum of zstd is not compared',
    file: 'src/sources/files/zstd.ts',
    find: 'if (BigInt.asUintN(32, this.#hash?.digest() ?? -1n) !== expected) {',
    replace: 'if (BigInt.asUintN(32, this.#hash?.digest() ?? -1n) < 0n) {',
  },
  {
    name: 'a quotation mark within a plain field is no loose one',
    file: 'src/sources/text/quotes.ts',
    find: "if (place === 'plain') break",
    replace: "if (place === 'plain') continue",
  },
  {
    name: 'a certificate of PostgreSQL is not verified for sslmode verify-ca',
    file: 'src/sources/postgres/tls.ts',
    find: "sslMode.startsWith('verify-') || (sslMode === 'require'",
    replace: "sslMode === 'verify-full' || (sslMode === 'require'",
    hints: ['test/sources/postgres/tls.test.ts'],
  },
  {
    name: 'the high half of a place in the log of PostgreSQL is lost',
    file: 'src/sources/postgres/replication/lsn.ts',
    find: 'high}`) << 32n)',
    replace: 'high}`) << 31n)',
  },
  {
    name: 'what is followed is confirmed before it is on disk',
    file: 'src/follow/applier.ts',
    find: 'return this.#durableLsn\n',
    replace: 'return this.#handedLsn\n',
    hints: ['test/follow/stream.test.ts'],
  },
  {
    name: 'a transaction under way is confirmed as if it had ended',
    file: 'src/follow/stream.ts',
    find: 'if (!this.#transactions.isOpen) {',
    replace: 'if (this.#transactions.isOpen || !this.stream.hasEnded) {',
    hints: ['test/follow/stream.test.ts'],
  },
  {
    name: 'the parts of a large transaction have one id',
    file: 'src/follow/transactions.ts',
    find: 'const part = this.#partCount++',
    replace: 'const part = this.#partCount',
  },
  {
    name: 'a phone that begins a formula is taken',
    file: 'src/phone-number.ts',
    find: "if (bytes[start] === EQUALS || bytes[start] === AT) return 'NumberFormula'",
    replace: "if (bytes[start] === EQUALS) return 'NumberFormula'",
  },
  {
    name: 'a share at its bound trips the guard',
    file: 'src/commands/import/guards.ts',
    find: 'return part * 100 * PERCENT_STEPS > Math.round',
    replace: 'return part * 100 * PERCENT_STEPS >= Math.round',
  },
  {
    name: 'an import that empties a source is published unasked',
    file: 'src/commands/import/publishable.ts',
    find: 'if (rowCount === 0 && !source.mayBeEmpty) assertNotEmptied',
    replace: 'if (rowCount < 0 && !source.mayBeEmpty) assertNotEmptied',
  },
  {
    name: 'a change is taken with another member than there may be',
    file: 'src/changes/change.ts',
    find: '{ op: Type.String(), number: Text, lat: Type.Number(), lng: Type.Number(), ...optional },\n  closed,',
    replace:
      '{ op: Type.String(), number: Text, lat: Type.Number(), lng: Type.Number(), ...optional },\n  {},',
  },
  {
    name: 'a recipient without a key is known by the number alone',
    file: 'src/changes/change.ts',
    find: 'contact}`',
    replace: 'contact.slice(0, 0)}`',
  },
]
