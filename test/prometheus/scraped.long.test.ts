/**
 * A real Prometheus scrapes a real service: what it stores is what the service has counted, and every query
 * of the dashboard finds something.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { serve, temporaryDirectory } from '../support/service/hickory.js'
import { ADMIN, adminUrlOf, scrape, sumOf } from '../support/service/scraped.js'
import { DASHBOARD, promtool, startPrometheus } from './tools.js'

interface Result {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

/** As of a panel of Grafana. */
interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

const recorded = (t: Test) => [
  ...['--audit', temporaryDirectory(t)],
  ...['--access-log', join(temporaryDirectory(t), 'access.log')],
]

t.test('Prometheus scrapes a service under load', async (t) => {
  const service = await serve(
    t,
    ...['--sample', '--data', temporaryDirectory(t), '--http-threads', '2', '--query-threads', '4'],
    ...[...recorded(t), ...ADMIN],
  )
  const admin = adminUrlOf(service)
  await t.test('promtool finds nothing wrong with a scrape', async (t) => {
    const text = await (await fetch(`${admin}/metrics`)).text()
    const { code, output } = promtool(['check', 'metrics'], text)
    t.equal(code, 0, output)
    t.equal(output, '')
  })

  const prometheus = await startPrometheus(t, new URL(admin).host)
  const query = async (expr: string) =>
    ((await prometheus.ask('/query', { query: expr })) as { result: Result[] }).result
  const load = keepAsking(service.url)
  await sleep(8_000)

  await t.test('every query of the dashboard finds something', async (t) => {
    const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: Panel[] }
    const titled = panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ title, expr })),
    )
    t.ok(titled.length > 40, 'queries are found')
    for (const { title, expr } of titled) {
      const filled = expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '5s')
      const found = await query(filled)
      t.ok(found.length > 0, `${title}: ${filled}`)
      t.ok(
        found.some(({ value }) => Number.isFinite(Number(value[1]))),
        `${title} has a number`,
      )
    }
  })

  await t.test('every rule is evaluated, and no alert is there but of what is so', async (t) => {
    const { groups } = (await prometheus.ask('/rules')) as {
      groups: { rules: { name: string; health: string; state: string; lastError?: string }[] }[]
    }
    const rules = groups.flatMap((group) => group.rules)
    t.ok(rules.length > 15)
    for (const { name, health, state, lastError = '' } of rules) {
      t.equal(health, 'ok', `${name} ${lastError}`)
      t.not(state, 'firing', name)
    }
  })

  load.stop()
  await load.ended
  await t.test('what is stored is what was counted', async (t) => {
    await sleep(2_500)
    const samples = await scrape(service)
    for (const name of [
      'hickory_requests_total',
      'hickory_recipient_rows_total',
      'hickory_answer_body_bytes_total',
      'hickory_answer_seconds_count',
      'hickory_source_recipients',
    ]) {
      const [{ value }] = await query(`sum(${name})`)
      t.equal(Number(value[1]), sumOf(samples, name), name)
      t.ok(Number(value[1]) > 0, name)
    }
  })

  await t.test('it asks for OpenMetrics, and is told of types and meanings', async (t) => {
    const known = (await prometheus.ask('/metadata')) as Record<
      string,
      { type: string; help: string }[]
    >
    t.match(known.hickory_answer_seconds, [{ type: 'histogram' }])
    t.match(known.hickory_requests ?? known.hickory_requests_total, [{ type: 'counter' }])
  })
})

/** Counts, lists, outlines, refusals, and what else a dashboard shows. */
function keepAsking(url: string): { stop(): void; readonly ended: Promise<unknown> } {
  let isOver = false
  const ask = (path: string, request?: object) =>
    fetch(`${url}${path}`, {
      headers: { Connection: 'close' },
      ...(request !== undefined && { method: 'POST', body: JSON.stringify(request) }),
    }).then((answer) => answer.arrayBuffer())
  const point = { type: 'Point', coordinates: [-95.37, 29.76] }
  const geoJSON = { type: 'Feature', geometry: point, properties: { radius: 30_000 } }
  const ended = Promise.all(
    Array.from({ length: 3 }, async () => {
      while (!isOver) {
        await ask('/api/recipients', { countsOnly: true, geoJSON })
        await ask('/api/recipients', { geoJSON })
        await ask('/api/outline', { geoJSON })
        await ask('/api/recipients', { geoJSON: 1 })
        await ask('/api/contexts')
      }
    }),
  )
  return {
    stop() {
      isOver = true
    },
    ended,
  }
}
