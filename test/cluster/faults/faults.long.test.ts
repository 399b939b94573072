/**
 * The run of all faults (the area `cluster` of `npm run test:soak`) in a short form: some of them, each at the site whose
 * server of NATS leads the log. Where networks cannot be made and cut off, it says so, and tries those faults that need none.
 */
import t from 'tap'
import { faults } from './faults.js'
import { runFaults } from './run.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

/** A machine that dies, a network that is cut one way, disks that lie, all power, and all that NATS has. */
const CHOSEN = [
  'site killed',
  'cut off, nothing out',
  'bit of a snapshot flipped',
  'bit of NATS flipped',
  'power of all lost after an import',
  'stores of NATS wiped, log seeded',
]

t.test('three sites under faults and clients', async (t) => {
  const least = faults.filter(({ name, needsOwn }) => CHOSEN.includes(name) && !needsOwn).length
  const { problems, episodes, batchCount, answerCount, listCount, optOutLists } = await runFaults(
    t,
    {
      seed,
      changeCount: 1_000,
      queryCount: 250,
      peopleCount: 2_000,
      holdMs: 4_000,
      only: CHOSEN,
      hitsLeader: true,
      say: (line) => t.comment(line),
    },
  )
  t.same(problems, [])
  t.ok(episodes.length >= least)
  for (const count of [batchCount, answerCount, listCount, optOutLists]) t.ok(count > 0)
})
