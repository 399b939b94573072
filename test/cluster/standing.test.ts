import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Entry, Member } from '../../src/cluster/entries.js'
import type { KeeperFault } from '../../src/cluster/log-keeper.js'
import type { NodeReport } from '../../src/cluster/reports.js'
import { Standing } from '../../src/cluster/standing.js'
import { LogContradicted } from '../../src/journal/damaged.js'
import { limits } from '../../src/limits.js'

const LOST: KeeperFault = { kind: 'missing', text: 'there is no log' }

const memberOf = (name: string): Member => ({ name, incarnation: `of ${name}`, maxLagMs: 60_000 })

const reportOf = (place: number | undefined) =>
  ({ log: { generation: '0123456789abcdef', place } }) as NodeReport

/** The machine `a`, alone and well until something is changed. */
function standingOf() {
  const known = {
    members: [memberOf('a')],
    failure: undefined as string | undefined,
    doubt: undefined as string | undefined,
    keeperFault: undefined as KeeperFault | undefined,
    /** Of the others, in the log. */
    places: [] as (number | undefined)[],
    isLogThere: true,
    isEntered: true,
    entered: [] as Entry[],
    joinedCount: 0,
    told: [] as (string | undefined)[],
  }
  const standing = new Standing({
    me: memberOf('a'),
    journal: {
      facts: {
        get members() {
          return known.members
        },
      },
      get failure() {
        return known.failure
      },
    },
    guard: {
      get doubt() {
        return known.doubt
      },
    },
    keeperFault: () => known.keeperFault,
    reports: { ofThoseThere: () => known.places.map((place) => reportOf(place)) },
    isLogThere: () => known.isLogThere,
    async enter(entry) {
      known.entered.push(entry)
      return known.isEntered ? known.entered.length : undefined
    },
    onJoined: () => {
      known.joinedCount++
    },
    onFault: (fault) => known.told.push(fault),
  })
  return { known, standing }
}

t.test('a machine that can write has no doubt', async (t) => {
  const { standing, known } = standingOf()
  standing.look()
  t.equal(standing.doubt, undefined)
  t.equal(standing.fault, undefined)
  t.equal(standing.isApart, false)
  t.same(known.told, [])
})

t.test('whatever keeps a machine from writing is its doubt', async (t) => {
  const { standing, known } = standingOf()
  known.isLogThere = false
  t.equal(standing.doubt, 'the log does not answer')
  known.keeperFault = LOST
  t.equal(standing.doubt, 'there is no log')
  known.failure = 'ENOSPC'
  t.equal(standing.doubt, 'the journal of this machine cannot be written (ENOSPC)')
  known.doubt = 'there is no connection to NATS'
  t.equal(standing.doubt, 'there is no connection to NATS')
})

t.test('where no machine has what is lacked, the log is to be made anew', async (t) => {
  const { standing, known } = standingOf()
  known.keeperFault = { kind: 'copying', text: 'no machine has it' }
  for (const places of [[], [undefined, undefined]]) {
    known.places = places
    t.match(standing.fault, /^no machine has it: .*`hickory cluster seed-log`/)
  }
  known.places = [undefined, 7]
  t.equal(standing.fault, 'no machine has it')
  known.places = []
  known.keeperFault = LOST
  t.equal(standing.fault, 'there is no log')
})

t.test('two processes of one name are neither level, nor write', async (t) => {
  const { clusterSilenceMs } = limits
  t.teardown(() => Object.assign(limits, { clusterSilenceMs }))
  Object.assign(limits, { clusterSilenceMs: 50 })
  const { standing, known } = standingOf()
  standing.hear({ name: 'a', session: standing.told.session })
  standing.hear({ name: 'b', session: 'other' })
  t.equal(standing.isApart, false)
  standing.hear({ name: 'a', session: 'other' })
  t.equal(standing.isApart, true)
  t.equal(standing.doubt, 'another process is a of this cluster: stop one of them')
  known.members = []
  await standing.join()
  t.same(known.entered, [])
  await sleep(60)
  standing.look()
  t.equal(standing.isApart, false)
  t.same(known.told, ['another process is a of this cluster: stop one of them', undefined])
})

t.test('a fault is told when it begins and when it ends', async (t) => {
  const { standing, known } = standingOf()
  known.keeperFault = LOST
  standing.look()
  standing.look()
  t.equal(standing.isApart, false)
  known.keeperFault = undefined
  standing.look()
  t.same(known.told, ['there is no log', undefined])
})

t.test(
  'a machine that read another batch from the log before says so until it starts again',
  async (t) => {
    const { standing, known } = standingOf()
    standing.contradicted(new LogContradicted(7))
    const text =
      /^batch 7 was another one .*: start it again when `hickory cluster seed-log` has made/
    t.match(standing.fault, text)
    t.match(standing.doubt, text)
    t.match(known.told, [text])
    t.equal(standing.isApart, true)
    known.keeperFault = LOST
    standing.look()
    t.equal(known.told.length, 1)
  },
)

t.test('no answer is level of a machine that has other batches', async (t) => {
  for (const kind of ['diverged', 'ahead'] as const) {
    const { standing, known } = standingOf()
    known.keeperFault = { kind, text: kind }
    t.equal(standing.isApart, true)
  }
})

t.test('a machine says in the log that it answers, until that says so', async (t) => {
  const { standing, known } = standingOf()
  await standing.join()
  t.same(known.entered, [])
  known.members = [{ ...memberOf('a'), incarnation: 'of an earlier directory' }]
  known.isEntered = false
  await standing.join()
  t.equal(known.joinedCount, 0)
  known.isEntered = true
  await standing.join()
  t.equal(known.joinedCount, 1)
  // What is in the log is read in a while.
  await standing.join()
  t.same(known.entered, Array(2).fill({ kind: 'joined', ...memberOf('a') }))
  const { standing: other, known: withFault } = standingOf()
  withFault.members = []
  withFault.keeperFault = LOST
  await other.join()
  t.same(withFault.entered, [])
})

t.test('a machine that the cluster has no room for says so, and joins when there is', async (t) => {
  const { standing, known } = standingOf()
  const names = Array.from({ length: limits.clusterMemberCount }, (_, at) => `site-${at}`)
  known.members = names.slice(1).map(memberOf)
  standing.look()
  t.equal(standing.fault, undefined)
  known.members = names.map(memberOf)
  standing.look()
  const text =
    'the cluster has 64 members, and takes no more: `hickory cluster remove` makes room where one does not come back'
  t.equal(standing.fault, text)
  await standing.join()
  t.same(known.entered, [])
  // What it is sent it can write.
  t.equal(standing.doubt, undefined)
  t.equal(standing.isApart, false)
  known.members = names.slice(1).map(memberOf)
  standing.look()
  await standing.join()
  t.equal(known.entered.length, 1)
  known.members = [...known.members, memberOf('a')]
  standing.look()
  t.equal(standing.fault, undefined)
  t.same(known.told, [text, undefined])
})
