/**
 * What commands that make a snapshot do in a directory of a cluster, without a server of NATS.
 *
 * @module
 */
import t, { type Test } from 'tap'
import type { Published } from '../../../src/cluster/questions.js'
import { noteConnection } from '../../../src/cluster/state-file.js'
import { assertServed, untilPublished } from '../../../src/commands/cluster/published.js'
import { limits } from '../../../src/limits.js'
import { makeClustered } from '../../support/data/clustered.js'
import { manyColumns } from '../../support/data/columns.js'
import { publishTest } from '../../support/data/snapshots.js'
import { hickoryHere } from '../../support/service/command-line.js'
import { temporaryDirectory } from '../../support/service/hickory.js'

const WAITING: Published = { kind: 'waiting' }

function shortWait(t: Test) {
  const { clusterCommandMs, publishedLookMs } = limits
  Object.assign(limits, { clusterCommandMs: 200, publishedLookMs: 10 })
  t.teardown(() => Object.assign(limits, { clusterCommandMs, publishedLookMs }))
}

t.test('a directory of no cluster needs nobody', async (t) => {
  const data = temporaryDirectory(t)
  await assertServed(data)
  await untilPublished(data, '000001-0123abcd')
})

t.test('in a directory of a cluster its service must be heard', async (t) => {
  const data = temporaryDirectory(t)
  await publishTest(data, 1, manyColumns(3))
  await makeClustered(data)
  const commands = [
    ['import', '--source', '1', '--label', 'A', 'rows.csv'],
    ['apply', '--source', '1', 'rows.csv'],
    ['remove', '--source', '1'],
    ['rollback'],
    ['compact'],
    ['cluster', 'move'],
  ]
  for (const command of commands) {
    const { code, stderr } = await hickoryHere(...command, '--data', data)
    t.equal(code, 1, command[0])
    t.match(stderr, /is that of site-a in the cluster main, .* is not heard.*: start it, or/)
  }
  await connect(data)
  await t.rejects(assertServed(data), { code: 'Failed', message: /^NATS at nats:\/\/127.0.0.1:1/ })
})

t.test('the machine is asked until it knows', async (t) => {
  const { published } = await world(t)
  const begun: Answer[] = [WAITING, new Error('it starts'), WAITING]
  t.same(await published([...begun, { kind: 'announced' }]), { count: 4, warned: '' })
  await t.rejects(published([...begun, { kind: 'refused', by: 'site-b' }]), {
    code: 'Failed',
    message: 'site-b has published another snapshot meanwhile: run the command again',
  })
})

t.test('where it does not come to know in time, that is a warning', async (t) => {
  const { published } = await world(t)
  const { count, warned } = await published([WAITING])
  t.ok(count > 1)
  t.match(warned, /^hickory: warning: site-a has not announced 000002-0123abcd yet: it does so as/)
  const silent = await published([new Error('site-a does not answer')])
  t.match(silent.warned, /000002-0123abcd yet \(site-a does not answer\): it does so as soon as/)
})

type Answer = Published | Error

/** A directory of a cluster whose machine gives these answers, and the last one again and again. */
async function world(t: Test) {
  shortWait(t)
  const data = temporaryDirectory(t)
  await makeClustered(data)
  await connect(data)
  return {
    async published(answers: readonly Answer[]) {
      let count = 0
      const ask = async () => {
        const answer = answers[Math.min(count++, answers.length - 1)]
        if (answer instanceof Error) throw answer
        return answer
      }
      const open = async () => ({ ask, close: async () => {} }) as never
      const written = t.capture(process.stderr, 'write', () => true)
      await untilPublished(data, '000002-0123abcd', open).finally(() => written.restore())
      const warned = written().map(({ args }) => String(args[0]))
      return { count, warned: warned.join('') }
    },
  }
}

async function connect(data: string): Promise<void> {
  const nats = { servers: ['nats://127.0.0.1:1'] }
  await noteConnection(data, { clusterId: 'main', name: 'site-a', nats, natsMonitors: [] })
}
