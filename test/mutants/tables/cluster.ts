/**
 * Faults of machines of a cluster, and of shards that others hold.
 *
 * @module
 */
import type { Mutant } from '../mutant.js'

export const ofCluster: readonly Mutant[] = [
  {
    name: 'the log is made anew though a member may have more',
    file: 'src/cluster/seed-log.ts',
    find: 'if (missing.length === 0) return undefined',
    replace: 'if (missing.length <= 1) return undefined',
  },
  {
    name: 'the log is made anew from a machine that has less than another one',
    file: 'src/cluster/seed-log.ts',
    find: 'if (sequence > last) return',
    replace: 'if (sequence < 0) return',
  },
  {
    name: 'the log is made anew though machines have different batches',
    file: 'src/cluster/seed-log.ts',
    find: 'other.hash !== hash',
    replace: 'other.name === name && other.hash !== hash',
  },
  {
    name: 'a log with which machines go on is made anew',
    file: 'src/cluster/seed-log.ts',
    find: 'if (going.length > 0) {',
    replace: 'if (going.length === reports.length) {',
  },
  {
    name: 'a command says nothing of a snapshot that another machine was faster with',
    file: 'src/commands/cluster/published.ts',
    find: "if (told.kind === 'refused') {",
    replace: "if (told.kind === 'waiting') {",
  },
  {
    name: 'a machine whose server may not sync counts as one that can write',
    file: 'src/serve/known-cluster.ts',
    find: 'ofStatus(({ doubt }) => oneIf(doubt === undefined))',
    replace: 'ofStatus(({ log }) => oneIf(log !== undefined))',
  },
  {
    name: 'a backup of a machine of a cluster is one of the cluster',
    file: 'src/journal/hold.ts',
    find: 'const { first: _, log: _1, ...end }',
    replace: 'const { first: _, ...end }',
  },
  {
    name: 'a file of another machine is not verified',
    file: 'src/cluster/verified-file.ts',
    find: "writtenBytes === digest.byteLength && hash.digest('hex') === digest.sha256",
    replace: 'writtenBytes === digest.byteLength',
  },
  {
    name: 'a file of another machine is not on disk when it is said to be',
    file: 'src/cluster/verified-file.ts',
    find: 'await file.sync()\n',
    replace: '\n',
  },
  {
    name: 'a region that too few machines hold is no difference',
    file: 'src/cluster/comparison.ts',
    find: '!holding.includes(name) && !missing.includes(name))',
    replace: '!holding.includes(name) && missing.includes(name))',
  },
  {
    name: 'a command may enter any entry into the journal of a cluster',
    file: 'src/cluster/entering.ts',
    find: 'return validators[entry.kind].Check(entry)',
    replace: 'return validators[entry.kind] !== undefined',
  },
  {
    name: 'the journal is cut beyond what the store has',
    file: 'src/cluster/retaining.ts',
    find: 'await journal.removeUpTo(Math.min(upTo, storedSequence))',
    replace: 'await journal.removeUpTo(upTo)',
  },
  {
    name: 'parts of other machines are put at the places of others',
    file: 'src/regions/spread-runner.ts',
    find: 'for (const [i, at] of own.entries()) results[at] = (found as readonly unknown[])[i]',
    replace: 'for (const [i] of own.entries()) results[i] = (found as readonly unknown[])[i]',
  },
  {
    name: 'of machines that did not answer the shards count as searched',
    file: 'src/regions/other-machines.ts',
    find: 'missing?.add(shardIndexes[at])\n',
    replace: '\n',
  },
  {
    name: 'a machine that has not answered is asked first',
    file: 'src/regions/other-machines.ts',
    find: 'machines.sort((left, right) => isAway(left) - isAway(right))',
    replace: 'machines.sort((left, right) => isAway(right) - isAway(left))',
  },
  {
    name: 'a machine that lags answers for others',
    file: 'src/regions/task-desk.ts',
    find: "if (!this.#isLevel()) return refused('NotHere', 'not all changes are known here')\n",
    replace: '\n',
  },
]
