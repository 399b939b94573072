/**
 * A server whose JetStream is stuck reads nothing more of a connection that asked for it: machines reach each other all the
 * same.
 */
import t, { type Test } from 'tap'
import { ClusterNats } from '../../../src/cluster/nats/cluster-nats.js'
import { limits } from '../../../src/limits.js'
import { cuttableWay } from '../support/cuttable-way.js'
import { startNatsServer } from '../support/nats-servers.js'
import { withEachNats } from '../support/nats-versions.js'

async function machine(t: Test, port: number, name: string): Promise<ClusterNats> {
  const echo = async (question: unknown) => ({ echo: question })
  const nats = await ClusterNats.open({
    settings: { servers: [`nats://127.0.0.1:${port}`] },
    clusterId: 'test',
    name,
    serves: { machine: echo, operator: echo },
    onChange: (isUp) => t.fail(`the connection of ${name} is ${isUp ? 'there again' : 'gone'}`),
    onDenied: (reason) => t.fail(reason),
  })
  t.teardown(() => nats.close())
  await nats.connection.nats.flush()
  return nats
}

withEachNats(t, async (t, server) => {
  const real = Number(new URL((await startNatsServer(t, { server })).url).port)
  const { port } = await cuttableWay(t, real, '$JS.API')
  const [one, other] = [await machine(t, port, 'one'), await machine(t, port, 'other')]

  t.test('machines ask each other while JetStream is stuck', async (t) => {
    const { stream } = await one.openLog()
    const appended = stream.append(new Uint8Array(8)).then(
      () => 'appended',
      () => 'no answer',
    )
    for (let i = 0; i < 10; i++) {
      const question = { kind: 'question', i }
      t.same(await one.calls.ask('other', question, limits.clusterCallMs), { echo: question })
      t.same(await other.calls.ask('one', question, limits.clusterCallMs), { echo: question })
    }
    t.equal(await appended, 'no answer')
    // Longer than a connection lives of which no ping is answered.
    await t.rejects(one.files.use((files) => files.list()))
    t.same(await one.calls.ask('other', 'still', limits.clusterCallMs), { echo: 'still' })
  })

  t.test('what is stuck does not keep a machine from ending', async () => {
    await one.close()
  })
})
