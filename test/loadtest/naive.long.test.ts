import t from 'tap'
import { readAnswer } from '../../loadtest/harness/answer-rows.js'
import { createOracle } from '../../loadtest/harness/oracle.js'
import { naiveAnswer } from '../../loadtest/peers/naive-answer.js'
import { readNaiveRecipients } from '../../loadtest/peers/naive-recipients.js'
import { circleFeature } from '../../loadtest/requests/requests.js'
import { buildWorkload } from '../../loadtest/requests/workload.js'
import { readRows } from '../oracle/counties.js'
import { withRecipientsFile } from './recipients-file.js'

/** What the service is compared with must be right itself. */
const SEED = 1

t.test(`the naive server counts and lists whom brute force does, seed ${SEED}`, async (t) => {
  await withRecipientsFile(20_000, SEED, async (csvPath) => {
    const rows = await readRows([csvPath])
    const oracle = createOracle(rows)
    const countOf = (features: Parameters<typeof oracle.rowsInside>[0]) =>
      oracle.rowsInside(features).length
    // There is room for four rows at first, so that it grows more than once.
    const recipients = await readNaiveRecipients(csvPath, 4)
    let listedCount = 0
    for (const item of buildWorkload(rows, 500, SEED, countOf)) {
      const { features, countsOnly, kind } = item
      for (const isCount of new Set([countsOnly, kind === 'countyCount' ? false : countsOnly])) {
        const selection = { features, countsOnly: isCount }
        const answer = naiveAnswer(recipients, { countsOnly: isCount, geoJSON: { features } })
        t.equal(oracle.faultOf(selection, JSON.stringify(answer)), undefined, kind)
        listedCount += readAnswer(JSON.stringify(answer)).recipients.length
      }
    }
    t.ok(listedCount > 0, 'some of them were listed')
  })
})

t.test('who is in two features is counted once', async (t) => {
  await withRecipientsFile(1_000, SEED, async (csvPath) => {
    const rows = await readRows([csvPath])
    const recipients = await readNaiveRecipients(csvPath)
    const [lng, lat] = [rows.lngs[0] / 1e7, rows.lats[0] / 1e7]
    const circles = [circleFeature(lng, lat, 50_000), circleFeature(lng, lat, 60_000)]
    const countOf = (features: typeof circles) =>
      readAnswer(
        JSON.stringify(naiveAnswer(recipients, { countsOnly: true, geoJSON: { features } })),
      ).count
    t.ok(countOf(circles) > 0)
    t.equal(countOf(circles), countOf(circles.slice(1)))
  })
})

t.test('the check of an answer sees one recipient too few, too many and another', async (t) => {
  await withRecipientsFile(1_000, SEED, async (csvPath) => {
    const rows = await readRows([csvPath])
    const oracle = createOracle(rows)
    const recipients = await readNaiveRecipients(csvPath)
    const [lng, lat] = [rows.lngs[0] / 1e7, rows.lats[0] / 1e7]
    const features = [circleFeature(lng, lat, 100_000)]
    const answer = JSON.stringify(naiveAnswer(recipients, { geoJSON: { features } }))
    const faultOf = (changed: string, countsOnly: boolean) =>
      oracle.faultOf({ features, countsOnly }, changed)
    const { count } = readAnswer(answer)
    t.ok(count > 1)
    t.equal(faultOf(answer, false), undefined)
    t.match(faultOf(answer.replace(`"Count":${count}`, `"Count":${count - 1}`), true), /counted/)
    t.match(faultOf(answer.replace(`"Count":${count}`, `"Count":${count + 1}`), true), /counted/)
    t.match(faultOf(answer.replace(`"Count":${count}`, `"Count":${count + 1}`), false), /listed/)
    t.match(faultOf(answer.replace('"+999', '"+998'), false), /other recipients/)
  })
})
