import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { everywhere } from '../support/data/everywhere.js'
import {
  hickory,
  type Service,
  serveAfter,
  temporaryDirectory,
} from '../support/service/hickory.js'

t.test('the embedded sample is made, served, counted and listed', async (t) => {
  const data = temporaryDirectory(t)
  const service = await serveAfter(t, [], '--sample', '--data', data)

  await t.test('the printed curl line finds somebody', async (t) => {
    const { stdout } = service.output()
    const [, url, body] = /^curl -s (\S+) -H 'Content-Type: application\/json' -d '(.*)'$/m.exec(
      stdout,
    ) as RegExpExecArray
    const { SourceRecords } = await json(await fetch(url, { method: 'POST', body }))
    t.match(SourceRecords, [{ Label: 'Mobile' }, { Label: 'Landline' }, { Label: 'Business' }])
    t.ok(SourceRecords[0].Count > 0)
  })

  await t.test('everybody is 200,000 recipients in three sources', async (t) => {
    const { SourceRecords } = await json(
      await ask(service, { countsOnly: true, geoJSON: everywhere }),
    )
    const counts = SourceRecords.map(({ Count }: { Count: number }) => Count)
    t.same(counts, [120_000, 60_000, 20_000])
  })

  await t.test('every recipient answer names its snapshot', async (t) => {
    const [id] = readdirSync(join(data, 'snapshots')).slice(-1)
    for (const countsOnly of [true, false]) {
      const response = await ask(service, { countsOnly })
      t.equal(response.headers.get('x-snapshot'), id)
      await response.arrayBuffer()
    }
  })

  await t.test('the stored contexts have the counts that the shapes have', async (t) => {
    for (const id of ['4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60', '4C1F9A2E-7B6D-4E0F-9A3B-5C8D1E2F7A60']) {
      const response = await fetch(`${service.url}/api/contexts/${id}`)
      const { Areas } = await json(response)
      for (const { Geometry, Contacts, ContactTotalCount } of Areas) {
        const geoJSON = { type: 'Polygon', coordinates: Geometry.rings }
        const { SourceRecords } = await json(await ask(service, { countsOnly: true, geoJSON }))
        t.match(
          Contacts,
          SourceRecords.map(({ Label, Count }: { Label: string; Count: number }) => ({
            Label,
            Count,
          })),
        )
        t.ok(ContactTotalCount > 0)
      }
    }
    const configuration = await json(await fetch(`${service.url}/api/configuration`))
    t.equal(configuration.contactCountMode, 'ContactLocation')
  })

  await t.test('SIGTERM ends it cleanly while it is asked', async (t) => {
    let answeredCount = 0
    const asking = Array.from({ length: 8 }, async () => {
      for (;;) {
        const response = await ask(service, { countsOnly: true, geoJSON: everywhere })
        await response.arrayBuffer()
        if (response.status === 200) answeredCount++
        else t.fail(`status ${response.status}`)
      }
    })
    // A connection that is refused is how each of them learns that there is no service any more.
    const ended = asking.map((asked) =>
      asked.catch((error: { cause?: { code?: string } }) => error.cause?.code),
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    const { code, stderr } = await service.stop()
    t.same(await Promise.all(ended), Array(8).fill('ECONNREFUSED'))
    t.ok(answeredCount > 8)
    t.equal(code, 0)
    t.match(stderr, /"msg":"stopped"/)
  })
})

t.test('the program says its version', async (t) => {
  t.match(await hickory('--version'), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ })
})

// biome-ignore lint/suspicious/noExplicitAny: what came is what is being tested
function json(response: Response): Promise<any> {
  return response.json()
}

function ask({ url }: Service, body: object): Promise<Response> {
  return fetch(`${url}/api/recipients`, { method: 'POST', body: JSON.stringify(body) })
}
