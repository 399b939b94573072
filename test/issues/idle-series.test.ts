/**
 * An idle service had hundreds of series of hickory_requests_total, most of them of statuses that its operation never
 * has. Those that alerts need are there from the start: a rate does not see the first count of a new series.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { operationNames } from '../../src/interface/operation-names.js'
import { createExposition, type Readings, TEXT_FORM } from '../../src/metrics/exposition.js'
import { createMetricsMemory, frontPage, slotOf } from '../../src/metrics/memory.js'
import { readings } from '../../src/metrics/table.js'

const silent = Object.fromEntries(Object.keys(readings).map((name) => [name, () => undefined]))
const memory = createMetricsMemory(1, 1)
const write = createExposition(memory, silent as unknown as Readings)

async function statuses(): Promise<Set<string>> {
  const line = /^hickory_requests_total\{operation="RecipientRequest",status="(\w+)"\}/gm
  return new Set([...(await write(TEXT_FORM)).matchAll(line)].map(([, status]) => status))
}

t.test('a status that did not occur is not there, except for those of alerts', async (t) => {
  const before = await statuses()
  t.ok(before.has('200') && before.has('500') && before.has('503'))
  t.notOk([...before].some((status) => /^[34]|none|other/.test(status)))
  const all = (await write(TEXT_FORM)).match(/^hickory_requests_total\{/gm) ?? []
  t.ok(all.length <= 6 * (operationNames.length + 1), `${all.length} series`)
  frontPage(memory, 0)[slotOf('hickory_requests_total', 'RecipientRequest', '404')]++
  t.same(await statuses(), new Set([...before, '404']))
})

t.test('alerts look at no other statuses', async (t) => {
  const rules = readFileSync('docs/operations/prometheus/hickory.rules.yml', 'utf8')
  for (const [, matcher] of rules.matchAll(/hickory_requests_total\{([^}]*)\}/g)) {
    t.match(matcher, /^status=~?"5/, matcher)
  }
})
