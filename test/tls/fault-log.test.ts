import t from 'tap'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { FaultLog } from '../../src/tls/fault-log.js'

function recording() {
  const lines: { failed: Record<string, number>; addresses: string[] }[] = []
  const log = createLog('silent')
  log.info = (fields: unknown) => void lines.push(fields as (typeof lines)[number])
  return { faults: new FaultLog(log), lines }
}

t.test('failures of a second are one line, by reason', async (t) => {
  const { faults, lines } = recording()
  for (let i = 0; i < 1_000; i++) faults.note('ECONNRESET', '203.0.113.7')
  faults.note('CERT_HAS_EXPIRED', undefined)
  t.same(lines, [])
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  t.same(lines, [
    { failed: { ECONNRESET: 1_000, CERT_HAS_EXPIRED: 1 }, addresses: ['203.0.113.7'] },
  ])
  faults.write()
  t.equal(lines.length, 1, 'and nothing is written twice')
})

t.test('a line has so many reasons and addresses, and no more', async (t) => {
  const { faults, lines } = recording()
  const most = limits.tlsFaultsLoggedCount
  for (let i = 0; i < most; i++) faults.note(`REASON_${i}`, `203.0.113.${i}`)
  faults.write()
  t.notOk('OTHERS' in lines[0].failed)
  for (let i = 0; i < most + 3; i++) faults.note(`REASON_${i}`, `203.0.113.${i}`)
  faults.write()
  t.equal(lines[1].failed.OTHERS, 3)
  t.equal(lines[1].addresses.length, most)
})
