import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'

interface Ready {
  readonly snapshotId: string
  readonly refused?: { readonly snapshotId?: string; readonly reason: string }
}

async function ready({ url }: Service): Promise<Ready> {
  return (await (await fetch(`${url}/readyz`)).json()) as Ready
}

async function untilServed(service: Service, snapshotId: string): Promise<Ready> {
  for (;;) {
    const state = await ready(service)
    if (state.snapshotId === snapshotId) return state
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

t.test('a service falls back, says so, and takes what is published next', async (t) => {
  const data = temporaryDirectory(t)
  const older = await publishTest(data, 1, manyColumns(100))
  const current = await publishTest(data, 1, manyColumns(120))
  appendFileSync(join(data, 'snapshots', current, '1-0000.shard'), 'x')

  const service = await serve(t, '--data', data)
  const first = await ready(service)
  t.equal(first.snapshotId, older)
  t.match(first.refused, { snapshotId: current, reason: /1-0000\.shard: found \d+ bytes/ })
  const lines = service.output().stderr.split('\n')
  const line = lines.find((text) => text.includes('"msg":"fell back to another snapshot"'))
  t.match(JSON.parse(line ?? '{}'), { level: 50, snapshotId: current, servedId: older })

  const next = await publishTest(data, 2, manyColumns(50)).catch(() => undefined)
  t.equal(next, undefined, 'what is damaged is not carried over')
  const replaced = await publishTest(data, 1, manyColumns(140))
  t.notOk((await untilServed(service, replaced)).refused)

  await t.test('damage on disk changes nothing while it runs', async (t) => {
    for (const name of ['1-0000.shard', 'manifest.json', 'repeats']) {
      writeFileSync(join(data, 'snapshots', replaced, name), 'x')
    }
    const square = [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
      [-1, -1],
    ]
    const response = await fetch(`${service.url}/api/recipients`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        countsOnly: true,
        geoJSON: { type: 'Polygon', coordinates: [square] },
      }),
    })
    t.match(await response.json(), { SourceRecords: [{ Count: 140 }] })
    t.same(await ready(service), { status: 'ready', snapshotId: replaced })
  })

  await t.test('a rollback is followed', async (t) => {
    const { code, stdout } = await hickory('rollback', '--data', data)
    t.equal(code, 0)
    t.match(stdout, `${older} is current now; before it was ${replaced}`)
    t.notOk((await untilServed(service, older)).refused)
  })
  t.equal((await service.stop()).code, 0)
})

t.test('without CURRENT a service starts with the newest whole snapshot', async (t) => {
  const data = temporaryDirectory(t)
  await publishTest(data, 1, manyColumns(100))
  const newest = await publishTest(data, 1, manyColumns(120))
  rmSync(join(data, 'CURRENT'))
  const service = await serve(t, '--data', data)
  t.match(await ready(service), { snapshotId: newest, refused: { reason: /no CURRENT in/ } })
  await service.stop()
})

t.test('where no snapshot is whole, it does not start', async (t) => {
  const data = temporaryDirectory(t)
  const ids = [await publishTest(data, 1, manyColumns(100))]
  ids.push(await publishTest(data, 1, manyColumns(120)))
  for (const id of ids) rmSync(join(data, 'snapshots', id, 'manifest.json'))
  const { code, stderr } = await hickory('serve', '--port', '0', '--data', data)
  t.equal(code, 4)
  for (const id of ids) t.match(stderr, id)
})
