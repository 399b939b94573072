import t from 'tap'
import { readAnswer, readCsvAnswer, sameRows } from '../../loadtest/harness/answer-rows.js'
import { createOracle } from '../../loadtest/harness/oracle.js'
import { digestOf, EMPTY_DIGEST, extended } from '../../loadtest/lists/digest.js'
import { rectangleHolding } from '../../loadtest/lists/rectangle.js'
import { areaFeature } from '../../loadtest/requests/requests.js'
import { syntheticColumns } from '../../src/sources/synthetic/synthetic-columns.js'

const SEED = 1

t.test(`a rectangle holds as many as it is to, seed ${SEED}`, async (t) => {
  const columns = syntheticColumns({ recipientCount: 20_000, seed: SEED, countries: ['US'] })
  const oracle = createOracle({ phones: [], lngs: columns.lngs, lats: columns.lats })
  for (const target of [1, 2, 1_400, 19_999, 20_000]) {
    const { length } = oracle.rowsInside([areaFeature(rectangleHolding(columns, target))])
    t.ok(length >= target, `${length} of ${target}`)
    t.ok(length <= target + 20, `${length} of ${target}: no more than are equally far`)
  }
})

t.test('a rectangle does not leave the globe', async (t) => {
  const lngs = Int32Array.of(-1_799_999_999, 0, 1_799_999_999)
  const lats = Int32Array.of(-899_999_999, 0, 899_999_999)
  const [ring] = rectangleHolding({ lngs, lats }, 3).coordinates
  t.same(ring[0], [-180, -90])
  t.same(ring[2], [180, 90])
})

t.test('a digest is of the bytes, however they were cut', async (t) => {
  const text = 'number,lat,lng\r\n'.repeat(100)
  const bytes = Buffer.from(text)
  const inParts = [bytes.subarray(0, 7), bytes.subarray(7, 900), bytes.subarray(900)]
  t.same(inParts.reduce(extended, EMPTY_DIGEST), digestOf(text))
  t.notSame(digestOf(text.replace('number,', 'numbre,')), digestOf(text))
  t.notSame(digestOf(text.slice(1)), digestOf(text))
})

const recipient = (phone: string, lat: number) =>
  `{"Number":"${phone}","LatLng":{"Lat":${lat},"Lng":-95.5}}`
const jsonList = (...recipients: string[]) =>
  `{"SourceRecords":[{"SourceId":1,"Label":"Residents","Count":${recipients.length},` +
  `"Status":"Ok","Recipients":[${recipients.join()}]}]}`

t.test('JSON and CSV of the same list are the same rows, in any order', async (t) => {
  const [one, two] = [recipient('+9991', 29.5), recipient('+9992', 30)]
  const json = readAnswer(jsonList(one, two))
  t.ok(sameRows(json, readAnswer(jsonList(two, one))))
  const header = 'SourceId,Label,Number,Lat,Lng\r\n'
  const csv = readCsvAnswer(
    `${header}1,Residents,+9992,30.0000000,-95.5\r\n1,Residents,+9991,29.5,-95.5\r\n`,
  )
  t.ok(sameRows(json, csv))
  t.notOk(sameRows(json, readAnswer(jsonList(one))))
  t.notOk(sameRows(json, readAnswer(jsonList(one, one))))
  t.notOk(sameRows(json, readAnswer(jsonList(one, recipient('+9992', 31)))))
  t.equal(readCsvAnswer(header).count, 0)
  t.throws(() => readCsvAnswer('Number\r\n'), /unknown columns/)
})
