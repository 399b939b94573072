/**
 * A column called `number` won over one called `phone`: of a list of addresses the numbers of the houses were taken for
 * phones, and of a table the numbers of its rows, without a word. One called `contact`, with the names of people, won over
 * their ids: of two who are called the same, a list of contacts had one.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { phonesOn } from '../support/data/store.js'
import { hickoryHere } from '../support/service/command-line.js'

const AT = { type: 'Point', coordinates: [-95.37, 29.76] }
const properties = { number: '1204', phone: '+9995550101' }

const files: readonly (readonly [name: string, phones: string, text: string])[] = [
  ['addresses.csv', 'phone', 'LON,LAT,NUMBER,STREET,PHONE\n-95.37,29.76,1204,A St,+9995550101\n'],
  ['rows.csv', 'Mobile', 'Number;Mobile;Latitude;Longitude\n1;+9995550101;29.76;-95.37\n'],
  ['phones-first.csv', 'msisdn', 'msisdn,number,y,x\n+9995550101,1,29.76,-95.37\n'],
  ['spaces.csv', 'cell phone', ' NUMBER ,Cell Phone,lat,lng\n1,+9995550101,29.76,-95.37\n'],
  ['lines.ndjson', 'phone', JSON.stringify({ ...properties, lat: 29.76, lng: -95.37 })],
  ['places.geojson', 'phone', JSON.stringify({ type: 'Feature', properties, geometry: AT })],
]

for (const [name, phones, text] of files) {
  t.test(`${name} does not say which column has the phones`, async (t) => {
    const { dryRun } = inFile(t, name, text)
    t.match(await dryRun(), {
      code: 5,
      stderr: /either may be the number: name one of them with --number/,
    })
    t.match(await dryRun('--number', phones), { code: 0, stdout: /^\+9995550101 /m })
  })
}

t.test('a column called number is enough where no other may have the phones', async (t) => {
  const text = 'number,name,lat,lng,latitude,x\n+9995550101,A,29.76,-95.37,1,2\n'
  const { dryRun } = inFile(t, 'people.csv', text)
  t.match(await dryRun(), { code: 0, stdout: /^\+9995550101 +29\.76/m })
})

t.test(
  'nor does a list of people with their names say which column tells them apart',
  async (t) => {
    const text =
      'phone,lat,lng,Contact,Customer ID\n+9995550101,29.76,-95.37,Jo Doe,7\n+9995550102,29.7,-95.3,Jo Doe,8\n'
    const { dryRun } = inFile(t, 'people.csv', text)
    const refused = /"Contact" and "Customer ID", either may be the contact: name one .*--contact/
    t.match(await dryRun(), { code: 5, stderr: refused })
    t.match(await dryRun('--contact', 'customer id'), { code: 0, stdout: /^\+9995550102 .* 8 *$/m })
  },
)

t.test('nor does a list of suppressed numbers', async (t) => {
  const { data, path } = inFile(t, 'list.csv', 'Number,Phone\n1,+9995550101\n2,+9995550102\n')
  const suppress = (...flags: string[]) => hickoryHere('suppress', '--data', data, ...flags, path)
  t.match(await suppress(), { code: 5, stderr: /"Number" and "Phone".*--number/ })
  t.equal((await suppress('--number', 'phone')).code, 0)
  t.same(await phonesOn(data, 'all'), ['+9995550101', '+9995550102'])
})

function inFile(t: Test, name: string, text: string) {
  const data = t.testdir({})
  const path = join(data, name)
  writeFileSync(path, text)
  const dryRun = (...flags: string[]) =>
    hickoryHere(
      ...['import', '--data', data, '--source', '1', '--label', 'People', '--dry-run'],
      ...flags,
      path,
    )
  return { data, path, dryRun }
}
