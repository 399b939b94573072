/**
 * People opt out at any of three machines, while machines stop, die and stand still: no list that begins afterwards on a
 * machine that is ready has their numbers.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/service/until.js'
import type { Clients } from './faults/clients.js'
import { LAG_SECONDS, startThree } from './support/three-machines.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

/** So many more opt out, and are looked for on each machine. */
async function untilOptedOut(clients: Clients, count: number): Promise<void> {
  const least = clients.optOutCount + count
  await until(() => clients.optOutCount >= least || clients.problems.length > 0, 60_000)
}

t.test('whoever has opted out is in no list of a machine that is ready', async (t) => {
  const {
    machines,
    clients: clientsOf,
    check,
  } = await startThree(t, {
    seed,
    peopleCount: 1_000,
    optingCount: 1_500,
  })
  const [a, b] = machines
  const clients = clientsOf()
  clients.start({ writers: 1, readers: 1 })
  try {
    await untilOptedOut(clients, 20)
    // One stands still for longer than it may take itself for level.
    a.signal('SIGSTOP')
    await sleep(1_200 * LAG_SECONDS)
    a.signal('SIGCONT')
    await untilOptedOut(clients, 20)
    await a.untilReady()
    // One dies, and comes back.
    await b.stop('SIGKILL')
    await untilOptedOut(clients, 5)
    await b.start()
    await untilOptedOut(clients, 20)
  } finally {
    await clients.stop()
  }
  t.same(await check(clients), [])
  t.ok(clients.optOutLists > 2 * clients.optOutCount, `${clients.optOutLists} lists were looked at`)
})
