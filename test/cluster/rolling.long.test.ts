/**
 * Machines are stopped and started again in turn, as for another version, while clients go to whichever is ready.
 */
import t from 'tap'
import { until } from '../support/service/until.js'
import { startThree } from './support/three-machines.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

/** What a client sees of a machine that is not there: it asks another one. */
const ALLOWED = ['ECONNREFUSED', 'closed']

t.test('clients lose nothing while each machine is stopped and started in turn', async (t) => {
  const {
    machines,
    clients: clientsOf,
    check,
  } = await startThree(t, {
    seed,
    peopleCount: 2_000,
    optingCount: 1_500,
  })
  // Longer than a request may take where a machine hands over and others are busy: none may be given up.
  const clients = clientsOf({ callMs: 20_000 })
  clients.start({ writers: 2, readers: 2 })
  const moreOf = async (count: number) => {
    const { writes, reads } = clients
    const least = [writes.length + count, reads.length + count]
    await until(() => writes.length >= least[0] && reads.length >= least[1], 60_000)
  }
  try {
    await moreOf(20)
    for (const machine of machines) {
      t.equal(await machine.stop(), 0, `${machine.name} stops as it should`)
      await moreOf(20)
      await machine.start()
      await moreOf(20)
    }
  } finally {
    await clients.stop()
  }
  t.same(await check(clients), [])
  t.same(
    [...clients.faults].filter((fault) => !ALLOWED.includes(fault)),
    [],
  )
  t.ok(clients.optOutCount > 0)
})
