/**
 * A machine under load stands still, or is cut off, while the others go on: its clients hear the truth, and all machines
 * have the same afterwards.
 */
import t from 'tap'
import { seededRandom } from '../support/random/world.js'
import { until, untilTold } from '../support/service/until.js'
import { call } from './faults/calls.js'
import type { Clients } from './faults/clients.js'
import { CHANGED_SOURCE, randomChange } from './faults/crowd.js'
import { readinessOf } from './support/machines.js'
import { type Machine, startThree } from './support/three-machines.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)
const random = seededRandom(seed)

const PEOPLE_COUNT = 1_000
/** Each waits for one batch. */
const SENDER_COUNT = 8

let lastBatch = 0

/** Sends a batch. Whoever is told that it was made, notes that. */
async function send({ url }: Machine, clients: Clients): Promise<'made' | 'not yet'> {
  const batchId = `split-${lastBatch++}`
  const changes = Array.from({ length: 20 }, () => randomChange(random, PEOPLE_COUNT))
  const path = `${url}/api/sources/${CHANGED_SOURCE}/changes`
  const body = { batchId, allowShrink: true, changes }
  let fault: string | undefined
  const onFault = (found: string) => {
    fault = found
  }
  const answer = await call(path, { method: 'POST', body, waitMs: 60_000, onFault })
  if (answer?.status === 503) return 'not yet'
  if (answer?.status !== 200) throw new Error(`a batch is answered ${answer?.status ?? fault}`)
  clients.acknowledged.push({ sequence: Number(answer.json.Sequence), batchId, changes })
  return 'made'
}

/** Sends one batch after the other to a machine, several at once. */
function startSenders(machine: Machine, clients: Clients) {
  let isOver = false
  let madeCount = 0
  const work = Array.from({ length: SENDER_COUNT }, async () => {
    while (!isOver) if ((await send(machine, clients)) === 'made') madeCount++
  })
  return {
    get madeCount() {
      return madeCount
    },
    async stop() {
      isOver = true
      await Promise.all(work)
    },
  }
}

/** Another machine takes a batch. */
async function untilTaken(machine: Machine, clients: Clients): Promise<void> {
  await untilTold(async () => (await send(machine, clients)) === 'made', 60_000)
}

t.test('a machine is away, and comes back', async (t) => {
  const options = { seed, peopleCount: PEOPLE_COUNT, optingCount: 1_500 }
  const { machines, clients: clientsOf, check } = await startThree(t, options)
  const [a, b, c] = machines
  const clients = clientsOf()
  clients.start({ writers: 0, readers: 2 })
  try {
    await t.test('it stands still, and goes on', async () => {
      const senders = startSenders(a, clients)
      await until(() => senders.madeCount >= 3 * SENDER_COUNT)
      a.signal('SIGSTOP')
      await untilTaken(b, clients)
      await untilTaken(c, clients)
      a.signal('SIGCONT')
      const { madeCount } = senders
      await until(() => senders.madeCount >= madeCount + 3 * SENDER_COUNT, 60_000)
      await senders.stop()
    })

    await t.test('it is cut off, and comes back', async () => {
      await a.untilReady()
      const senders = startSenders(a, clients)
      await until(() => senders.madeCount >= 3 * SENDER_COUNT)
      a.way.cut()
      await untilTaken(b, clients)
      await untilTold(async () => (await readinessOf(a)).includes('lagging'), 30_000)
      await untilTaken(c, clients)
      a.way.heal()
      const { madeCount } = senders
      await until(() => senders.madeCount >= madeCount + 3 * SENDER_COUNT, 60_000)
      await senders.stop()
    })
    for (const machine of machines) await machine.untilReady()
  } finally {
    await clients.stop()
  }
  t.same(await check(clients), [])
  t.ok(clients.acknowledged.length > 12 * SENDER_COUNT)
})
