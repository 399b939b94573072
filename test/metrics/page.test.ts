import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Counted, counted, type Reading, readings } from '../../src/metrics/table.js'

const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')

t.test('docs/metrics.md has exactly the metrics of the table', async (t) => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `hickory_'))
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
