import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  createExposition,
  OPEN_FORM,
  type Readings,
  TEXT_FORM,
} from '../../src/metrics/exposition.js'
import {
  createMetricsMemory,
  frontPage,
  histogramOf,
  observe,
  slotOf,
} from '../../src/metrics/memory.js'
import {
  type Counted,
  counted,
  type Reading,
  type ReadingName,
  readings,
} from '../../src/metrics/table.js'

const silent = Object.fromEntries(
  Object.keys(readings).map((name) => [name, () => undefined]),
) as unknown as Readings

function written(changed: Partial<Readings> = {}) {
  const memory = createMetricsMemory(2, 2)
  const write = createExposition(memory, { ...silent, ...changed })
  return { memory, text: () => write(TEXT_FORM), open: () => write(OPEN_FORM) }
}

t.test('one scrape sees what all threads have counted until then', async (t) => {
  const { memory, text } = written()
  const slot = slotOf('hickory_requests_total', 'RecipientRequest', '200')
  frontPage(memory, 0)[slot] = 3
  frontPage(memory, 1)[slot] = 4
  const line = /^hickory_requests_total\{operation="RecipientRequest",status="200"\} (\d+)$/m
  t.equal(line.exec(await text())?.[1], '7')
  frontPage(memory, 1)[slot]++
  t.equal(line.exec(await text())?.[1], '8')
})

t.test(
  'the buckets of a histogram are cumulative, and its count is the last of them',
  async (t) => {
    const { memory, text } = written()
    const name = 'hickory_request_stage_seconds'
    const histogram = histogramOf(name)
    const slot = slotOf(name, 'total')
    for (const seconds of [0.000_05, 0.3, 0.3])
      observe(frontPage(memory, 0), slot, histogram, seconds)
    observe(frontPage(memory, 1), slot, histogram, 1_000)
    const lines = (await text()).split('\n').filter((line) => line.includes('stage="total"'))
    const valueAt = (label: string) =>
      Number(
        lines
          .find((line) => line.includes(label))
          ?.split(' ')
          .at(-1),
      )
    t.equal(valueAt('le="0.00005"'), 1)
    t.equal(valueAt('le="0.25"'), 1)
    t.equal(valueAt('le="0.5"'), 3)
    t.equal(valueAt('le="120"'), 3)
    t.equal(valueAt('le="+Inf"'), 4)
    t.equal(valueAt(`${name}_count`), 4)
    t.equal(valueAt(`${name}_sum`), 1_000.600_05)
  },
)

t.test('readings are asked for at each scrape, and left out where nothing is known', async (t) => {
  let count = 0
  const { text } = written({ hickory_start_timestamp_seconds: () => ++count })
  t.match(await text(), /^hickory_start_timestamp_seconds 1$/m)
  t.match(await text(), /^hickory_start_timestamp_seconds 2$/m)
  t.notMatch(await text(), /^hickory_build_info/m)
})

t.test('labels are escaped', async (t) => {
  const labels = { version: 'a"b\\c\nd', node: 'x' }
  const { text } = written({ hickory_build_info: () => [{ labels, value: 1 }] })
  t.ok((await text()).includes('hickory_build_info{version="a\\"b\\\\c\\nd",node="x"} 1\n'))
})

t.test('OpenMetrics ends with its mark and names the families of counters', async (t) => {
  const { open, text } = written()
  const body = await open()
  t.match(body, /\n# EOF\n$/)
  t.match(body, /^# TYPE hickory_requests counter$/m)
  t.match(body, /^hickory_requests_total\{/m)
  t.match(await text(), /^# TYPE hickory_requests_total counter$/m, 'the text form is as it was')
})

t.test('every metric is described, in both forms', async (t) => {
  const { text, open } = written()
  const [plain, openMetrics] = [await text(), await open()]
  for (const [name, { help, type }] of Object.entries({ ...counted, ...readings })) {
    t.ok(plain.includes(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`), name)
    const family = type === 'counter' ? name.replace(/_total$/, '') : name
    t.ok(openMetrics.includes(`# TYPE ${family} ${type}\n`), name)
    t.match(name, /^hickory_[a-z_]+$/)
    t.equal(type === 'counter', name.endsWith('_total'), 'counters, and they alone, end in _total')
    t.match(help, /^[A-Z].*\.$/)
  }
  t.ok(Object.keys(readings).every((name) => silent[name as ReadingName]() === undefined))
})

const docsPage = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')

t.test('docs/metrics.md has exactly the metrics of the table', async (t) => {
  const rows = docsPage.split('\n').filter((line) => line.startsWith('| `hickory_'))
  t.same(rows, [
    ...Object.entries<Counted>(counted).map(([name, metric]) => {
      const thread = metric.across === 'thread' ? ['thread'] : []
      return row(name, metric, [...Object.keys(metric.labels ?? {}), ...thread])
    }),
    ...Object.entries<Reading>(readings).map(([name, reading]) =>
      row(name, reading, reading.labels ?? []),
    ),
  ])
})

function row(name: string, { type, help }: Counted | Reading, labels: readonly string[]): string {
  return `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`
}
