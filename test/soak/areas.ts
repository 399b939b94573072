/**
 * What the soak runs: in each area the generators, models, faults and fuzzers of one topic, with a new seed each round. A
 * round is bounded, to one to five minutes on two cores where nothing else is said.
 *
 * @module
 */
import type { Need } from './needs.js'

export interface Area {
  readonly name: string
  /** In one sentence. */
  readonly shows: string
  readonly needs: readonly Need[]
  readonly round: TestFiles | Program
  /** Takes an hour or so, and is run only where it is named. */
  readonly isOnlyNamed?: true
}

/**
 * Files, and folders of which those files are meant that ask `byTier`. A file that is below paths of two areas belongs to
 * the one with the longer path.
 */
export interface TestFiles {
  readonly tests: readonly string[]
}

export interface Program {
  readonly program: string
  readonly args: readonly string[]
  /** Whether its seed is an option; tests find it in HICKORY_TEST_SEED. */
  readonly takesSeed: boolean
  readonly environment?: Readonly<Record<string, string>>
}

/** What the soak passes to the runner of tests for the large sizes of `byTier`. */
export const SOAK_OPTION = '--soak'

export const areas: readonly Area[] = [
  {
    name: 'oracle',
    shows: 'Random requests of all kinds are answered as brute force with exact arithmetic does.',
    needs: [],
    round: {
      tests: [
        'test/selection/oracle.test.ts',
        'test/selection/boundary.test.ts',
        'test/oracle/geometry/exact.test.ts',
      ],
    },
  },
  {
    name: 'metamorphic',
    shows: 'Shapes that are written in another way select the same, and nothing widens.',
    needs: [],
    round: {
      tests: [
        'test/metamorphic',
        'test/issues/cut-off-collections.test.ts',
        'test/issues/holes-of-named-areas.test.ts',
      ],
    },
  },
  {
    name: 'model',
    shows: 'Imports, suppressions, restarts and requests agree with a map and brute force.',
    needs: [],
    round: { tests: ['test/selection/model.long.test.ts'] },
  },
  {
    name: 'live',
    shows:
      'Every answer of two services under changes, imports, compactions and kills is that of a plain map.',
    needs: [],
    round: { tests: ['test/live/model.long.test.ts'] },
  },
  {
    name: 'visible',
    shows: 'A change is soon in the answers of every thread of two services, while others ask.',
    needs: [],
    round: {
      program: 'test/live/model/visible.ts',
      args: ['--people', '200000', '--batches', '300'],
      takesSeed: true,
    },
  },
  {
    name: 'cluster',
    shows:
      'Three sites that die, stand still, are cut off and lose disks give no wrong answer, and lose no change.',
    needs: ['root', 'nats-server', 'iproute2'],
    round: {
      program: 'test/cluster/faults/long.ts',
      args: ['--at', 'one', '--hold', '4000', '--changes', '20000', '--queries', '20000'],
      takesSeed: true,
    },
  },
  {
    name: 'regions',
    shows:
      'Machines that hold parts of the recipients answer together as one that holds all, and get from others what they lack.',
    needs: ['nats-server'],
    round: {
      tests: [
        'test/regions',
        'test/cluster/regions/regions.long.test.ts',
        'test/cluster/begin.long.test.ts',
      ],
    },
  },
  {
    name: 'log',
    shows:
      'Machines over a log in memory decide alike, and none is level without what was acknowledged, whatever is lost, late or doubled.',
    needs: [],
    round: { tests: ['test/cluster'] },
  },
  {
    name: 'faults',
    shows:
      'Imports and compactions leave the old state or the new one, wherever they are killed or a call fails.',
    needs: ['root', 'strace'],
    round: {
      program: 'test/faults/run.ts',
      args: ['--calls', '40', '--random-kills', '20'],
      takesSeed: true,
    },
  },
  {
    name: 'power',
    shows:
      'What was acknowledged is there after the power went at 200 moments, and nothing needs a hand.',
    needs: ['root'],
    round: { tests: ['test/faults/power.long.test.ts'] },
  },
  {
    name: 'damage',
    shows: 'Each damage to a snapshot is found, and none is served.',
    needs: [],
    round: { tests: ['test/snapshot/damage.test.ts', 'test/snapshot/identities/damage.test.ts'] },
  },
  {
    name: 'fuzz',
    shows: 'Mutated requests and drawings are answered or refused, and harm no service.',
    needs: [],
    round: { tests: ['test/fuzz'] },
  },
  {
    name: 'reader',
    shows: 'A body that is read the short way becomes what the long way makes of it.',
    needs: [],
    round: { tests: ['test/fuzz/reader'] },
  },
  {
    name: 'audiences',
    shows:
      'All readers of an audience of millions get the same bytes, over switches of snapshots and a kill.',
    needs: [],
    round: { tests: ['test/audiences', 'test/contract/audience-swaps.long.test.ts'] },
  },
  {
    name: 'notations',
    shows:
      'Shapes in files, cells, grids and alerts are read as they are meant, and refused when damaged.',
    needs: [],
    round: { tests: ['test/notations', 'test/cap'] },
  },
  {
    name: 'gazetteer',
    shows: 'Named areas are found, drawn and verified as their sources have them.',
    needs: [],
    round: { tests: ['test/gazetteer'] },
  },
  {
    name: 'geometry',
    shows: 'Rings, crossings and outlines are what exact arithmetic says.',
    needs: [],
    round: { tests: ['test/geometry', 'test/outline', 'test/issues/wide-outlines.test.ts'] },
  },
  {
    name: 'shard',
    shows: 'Shards of random recipients count, mask, tie and encode as plain loops do.',
    needs: [],
    round: { tests: ['test/shard', 'test/pool'] },
  },
  {
    name: 'selection',
    shows:
      'Pages, named areas, alerts, grids and misspelt requests agree with what is expected of them.',
    needs: [],
    round: { tests: ['test/selection', 'test/operations'] },
  },
  {
    name: 'answers',
    shows:
      'Random answers fit their schemas and formats, whatever the client and the compression do.',
    needs: [],
    round: { tests: ['test/http', 'test/format', 'test/interface'] },
  },
  {
    name: 'sources',
    shows: 'Files of all formats become exactly the recipients of a simple reader.',
    needs: [],
    round: { tests: ['test/sources', 'test/issues/signs-of-numbers.test.ts'] },
  },
  {
    name: 'snapshots',
    shows: 'Snapshots, the store, backups and compactions keep what they were given.',
    needs: [],
    round: { tests: ['test/snapshot', 'test/store', 'test/backup', 'test/commands'] },
  },
  {
    name: 'journal',
    shows: 'The journal and the audit log keep what was acknowledged, and tell each changed bit.',
    needs: [],
    round: { tests: ['test/journal', 'test/audit'] },
  },
  {
    name: 'followed',
    shows: 'A table that becomes another one by any form of its database is refused, and no other.',
    needs: ['postgresql'],
    round: {
      tests: [
        'test/issues/places-of-followed-tables.long.test.ts',
        'test/issues/failover-of-followed-servers.long.test.ts',
      ],
    },
  },
  {
    name: 'changes',
    shows: 'Changes and suppressions in memory are those of a snapshot that was made with them.',
    needs: [],
    round: { tests: ['test/live', 'test/suppressions'] },
  },
  {
    name: 'services',
    shows:
      'Services that are killed, restarted and switched behind proxies answer every client right.',
    needs: ['nginx', 'haproxy'],
    round: { tests: ['test/contract', 'test/issues/readers-that-do-not-read.long.test.ts'] },
  },
  {
    name: 'engines',
    shows: 'The tests that speak HTTP pass on all releases of Node.js and both engines.',
    needs: [],
    round: { program: 'test/engines/run.ts', args: ['--all'], takesSeed: false },
    isOnlyNamed: true,
  },
  {
    name: 'mutants',
    shows: 'The tests find each fault that is planted in the program.',
    needs: [],
    round: { program: 'test/mutants/run.ts', args: ['--tier', 'all'], takesSeed: true },
    isOnlyNamed: true,
  },
  {
    name: 'canary',
    shows: 'All tests pass, and no phone is in a log, while services log everything.',
    needs: [],
    round: {
      program: 'test/run.ts',
      args: ['--all'],
      takesSeed: false,
      environment: { HICKORY_LOG_LEVEL: 'trace' },
    },
    isOnlyNamed: true,
  },
]
