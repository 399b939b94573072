/**
 * Faults of machines that agree, and of shards that others hold.
 *
 * @module
 */
import type { Mutant } from '../mutant.js'

export const ofCluster: readonly Mutant[] = [
  {
    name: 'half of the members are most of them',
    file: 'src/cluster/agreement/majority.ts',
    find: 'Math.floor(memberCount / 2) + 1',
    replace: 'Math.ceil(memberCount / 2)',
  },
  {
    name: 'what one machine has is committed',
    file: 'src/cluster/agreement/majority.ts',
    find: 'return descending[majorityOf(matched.length) - 1]',
    replace: 'return descending[0]',
  },
  {
    name: 'a machine that began anew is believed to have the journal that it had',
    file: 'src/cluster/agreement/heard.ts',
    find: 'return report?.incarnation === incarnation && report.epoch === epoch ? report.matched : 0',
    replace: 'return report?.epoch === epoch ? report.matched : 0',
  },
  {
    name: 'a machine is elected with promises of an epoch before',
    file: 'src/cluster/agreement/campaign.ts',
    find: 'if (isEnough() && (isDry || highest <= epoch)) return undefined',
    replace: 'if (isEnough()) return undefined',
  },
  {
    name: 'where one disk is enough, most members elect a writer',
    file: 'src/cluster/agreement/campaign.ts',
    find: "const neededCount = this.#acks === 'one' ? members.length : majorityOf(members.length)",
    replace:
      "const neededCount = this.#acks === 'one' ? majorityOf(members.length) : majorityOf(members.length)",
  },
  {
    name: 'a machine commits what it has not matched',
    file: 'src/cluster/agreement/copied-log.ts',
    find: 'const reached = Math.min(sequence, this.#matched)',
    replace: 'const reached = Math.min(sequence, this.#ports.log.end().sequence)',
  },
  {
    name: 'what is committed is taken back where the writer has something else',
    file: 'src/cluster/agreement/copied-log.ts',
    find: "if (sequence <= log.committed()) return this.#ports.onLost('diverged')\n",
    replace: '\n',
  },
  {
    name: 'a machine is level before it answers by what was committed',
    file: 'src/cluster/level.ts',
    find: 'if (required <= this.#effective) this.#untilMs',
    replace: 'if (required <= this.#effective + 1) this.#untilMs',
  },
  {
    name: 'a machine answers by less than before',
    file: 'src/cluster/level.ts',
    find: 'this.#effective = Math.max(this.#effective, sequence)',
    replace: 'this.#effective = sequence',
  },
  {
    name: 'a report that came after the confirmation is echoed',
    file: 'src/cluster/level.ts',
    find: 'const before = heard.findLast((one) => one.atMs <= atMs)',
    replace: 'const before = heard.at(-1)',
  },
  {
    name: 'a file of another machine is not verified',
    file: 'src/cluster/verified-file.ts',
    find: "if (writtenBytes !== byteLength || hash.digest('hex') !== sha256) throw BROKEN",
    replace: 'if (writtenBytes !== byteLength) throw BROKEN',
  },
  {
    name: 'a file of another machine is not on disk when it is said to be',
    file: 'src/cluster/verified-file.ts',
    find: 'await file.sync()\n',
    replace: '\n',
  },
  {
    name: 'a region that too few machines hold is no difference',
    file: 'src/cluster/differences.ts',
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
