/**
 * Faults in what is on disk: snapshots, journal, store, audit, audiences, backups, and who is suppressed.
 *
 * @module
 */
import type { Mutant } from '../mutant.js'

export const ofStorage: readonly Mutant[] = [
  {
    name: 'a snapshot is current before its directory is on disk',
    file: 'src/snapshot/publish/make-current.ts',
    find: 'await syncDirectory(snapshots)\n',
    replace: '\n',
  },
  {
    name: 'a snapshot that was about to be removed never gets its name back',
    file: 'src/snapshot/publish/make-current.ts',
    find: 'if (name.endsWith(LEAVING)) {',
    replace: 'if (name.endsWith(LEAVING) && name === LEAVING) {',
    hints: ['test/audiences/directory.test.ts'],
  },
  {
    name: 'the checksum of a header is not compared',
    file: 'src/snapshot/format/container.ts',
    find: 'if (found !== expected) {',
    replace: 'if (found < 0) {',
  },
  {
    name: 'the checksum of a block is not compared',
    file: 'src/snapshot/format/blocks.ts',
    find: 'if (found === sums[block]) return',
    replace: 'if (found !== undefined) return',
  },
  {
    name: 'what was written is not read again before it is published',
    file: 'src/snapshot/publish/verify-files.ts',
    find: 'if (found === sha256) return',
    replace: 'if (found.length === sha256.length) return',
  },
  {
    name: 'a record is acknowledged before it is on disk',
    file: 'src/chain/last-file.ts',
    find: 'this.#sync(fd)\n      confirm()',
    replace: 'confirm()',
  },
  {
    name: 'what could not be written stays at the end of the file',
    file: 'src/chain/last-file.ts',
    find: 'cutQuietly(fd, position)\n',
    replace: '\n',
  },
  {
    name: 'a line of the audit that was changed is not found',
    file: 'src/audit/entry.ts',
    find: 'return named?.sequence === previous.sequence && named.hash === previous.hash',
    replace: 'return named?.sequence === previous.sequence',
    hints: ['test/audit/writer.test.ts'],
  },
  {
    name: 'lines missing at the end of the audit are not found',
    file: 'src/audit/verify.ts',
    find: 'damage ??= tailDamage(link, head, before)\n',
    replace: '\n',
  },
  {
    name: 'the audit goes on in the file of yesterday',
    file: 'src/audit/writer.ts',
    find: 'const goesOn = head.file > 0 && head.day === day && !isFull',
    replace: 'const goesOn = head.file > 0 && !isFull',
  },
  {
    name: 'a batch that is sent again is written again',
    file: 'src/journal/outcomes.ts',
    find: 'if (sequence !== undefined) return sentAgain(sequence',
    replace: 'if (sequence === 0) return sentAgain(sequence',
  },
  {
    name: 'a batch of the same id with other changes is taken for the same',
    file: 'src/journal/outcomes.ts',
    find: "return { kind: isSame ? 'repeated' : 'conflicting', sequence }",
    replace: "return { kind: isSame ? 'repeated' : 'repeated', sequence }",
  },
  {
    name: 'the batches of one group have one sequence',
    file: 'src/journal/outcomes.ts',
    find: 'const next = last + fresh.length',
    replace: 'const next = last + 1',
  },
  {
    name: 'the ids of new batches are known under the sequence before',
    file: 'src/journal/writer.ts',
    find: 'this.#known.addKey(head.sequence + at + 1, key, digest)',
    replace: 'this.#known.addKey(head.sequence + at, key, digest)',
  },
  {
    name: 'the first change since a version is not replayed',
    file: 'src/store/suppressions.ts',
    find: 'let each = sinceVersion + 1;',
    replace: 'let each = sinceVersion + 2;',
  },
  {
    name: 'a phone that is suppressed in one source is not found there',
    file: 'src/store/suppressions.ts',
    find: "sourceId === undefined ? readLists(tables).map(({ scope }) => scope) : ['all', sourceId]",
    replace: "sourceId === undefined ? readLists(tables).map(({ scope }) => scope) : ['all']",
  },
  {
    name: 'counts of a shape that is in no context are kept',
    file: 'src/store/changes.ts',
    find: 'if (!isUsed(tables, hash)) tables.counts.remove(hash)',
    replace: 'if (isUsed(tables, hash)) tables.counts.remove(hash)',
  },
  {
    name: 'there is no bound of stored contexts',
    file: 'src/store/changes.ts',
    find: 'if (added !== undefined) refuseTooMany(before, totals)\n',
    replace: '\n',
  },
  {
    name: 'a phone that is suppressed in one source is marked in none',
    file: 'src/suppressions/marker.ts',
    find: "return isOnList(this.#tables, 'all', phone) || isOnList(this.#tables, sourceId, phone)",
    replace:
      "return isOnList(this.#tables, 'all', phone) && isOnList(this.#tables, sourceId, phone)",
  },
  {
    name: 'what changes while a snapshot is attached is not marked',
    file: 'src/suppressions/marker.ts',
    find: 'for (const change of attaching.changes) this.#apply(attaching.shards, change)\n',
    replace: '\n',
  },
  {
    name: 'whoever came since the snapshot is not marked',
    file: 'src/suppressions/marker.ts',
    find: 'this.#deltas.size === 0 ? this.shards : [...this.shards, ...this.#deltas.values()]',
    replace: 'this.#deltas.size === 0 ? this.shards : [...this.shards]',
    hints: [
      'test/suppressions/marker.test.ts',
      'test/live/attached-snapshot.test.ts',
      'test/contract/suppressions.long.test.ts',
    ],
  },
  {
    name: 'a suppressed recipient is listed in an audience',
    file: 'src/audiences/loaded-audience.ts',
    find: 'subtract(all, listOf(suppressed), open)',
    replace: 'subtract(all, new RunList(), open)',
  },
  {
    name: 'a page of an audience skips one',
    file: 'src/audiences/loaded-audience.ts',
    find: 'cut[0] += left\n',
    replace: 'cut[0] += left + 1\n',
  },
  {
    name: 'a phone that is free again stays suppressed in an audience',
    file: 'src/audiences/suppressed.ts',
    find: 'subtract(before, seen, kept)',
    replace: 'subtract(before, new RunList(), kept)',
  },
  {
    name: 'an audience is there when it has expired',
    file: 'src/audiences/directory.ts',
    find: '.filter(({ expiresMs }) => expiresMs > nowMs)',
    replace: '.filter(({ expiresMs }) => expiresMs > 0 * nowMs)',
  },
  {
    name: 'an audience may be frozen in a snapshot that is gone',
    file: 'src/audiences/directory.ts',
    find: 'await refuseMissingSnapshot(dataDirectory, snapshotId)\n',
    replace: '\n',
  },
  {
    name: 'the identity files are left out of a backup',
    file: 'src/backup/gather.ts',
    find: 'for (const file of [...filesOf(manifest), ...identities]) {',
    replace: 'for (const file of [...filesOf(manifest)]) {',
    hints: ['test/backup/backup.long.test.ts'],
  },
  {
    name: 'files of a backup are not compared with its list',
    file: 'src/backup/read-archive.ts',
    find: 'listed.byteLength !== byteLength || listed.sha256 !== sha256) {',
    replace: 'listed.byteLength !== byteLength) {',
    hints: ['test/backup/backup.long.test.ts'],
  },
  {
    name: 'a backup may hold any file',
    file: 'src/backup/listing.ts',
    find: 'return ARCHIVED.some((names) => names.test(name))',
    replace: 'return ARCHIVED.some((names) => names.test(name) || name.includes(".."))',
  },
  {
    name: 'a backup replaces what is there',
    file: 'src/backup/restore.ts',
    find: 'if (names.length === 0) return\n  throw new OperatorError(',
    replace: 'if (names.length >= 0) return\n  throw new OperatorError(',
    hints: ['test/backup/backup.long.test.ts'],
  },
  {
    name: 'whoever left is found by their identity',
    file: 'src/live/growing-delta.ts',
    find: 'this.#placesByIdentity.delete(identity)\n',
    replace: '\n',
  },
  {
    name: 'an increment tells of those who went before it, too',
    file: 'src/live/growing-delta.ts',
    find: 'this.#toldGoneCount = this.goneCount\n',
    replace: '\n',
  },
  {
    name: 'digests of regions are without who is there',
    file: 'src/live/region-digests.ts',
    find: 'hash.update(new Uint8Array(runs.buffer, runs.byteOffset, runs.byteLength))\n',
    replace: '\n',
  },
]
