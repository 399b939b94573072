import t from 'tap'
import { chooseColumns } from '../../src/sources/choose-columns.js'

const cases: [found: string, number: string, lat: string, lng: string, contact?: string][] = [
  ['number,lat,lng', 'number', 'lat', 'lng'],
  [
    'Phone Number,Latitude,Longitude,Contact-ID',
    'Phone Number',
    'Latitude',
    'Longitude',
    'Contact-ID',
  ],
  ['MSISDN,Y,X,person_id', 'MSISDN', 'Y', 'X', 'person_id'],
  ['e164,LAT,lon', 'e164', 'LAT', 'lon'],
  ['number,lat,latitude,long,lng', 'number', 'lat', 'lng'],
  ['tel,lat,lng,id', 'tel', 'lat', 'lng'],
]
for (const [names, number, lat, lng, contact] of cases) {
  t.test(`the columns of ${names} are found`, async (t) => {
    const chosen = chooseColumns('a.csv', names.split(','), {})
    t.same(chosen, { number, lat, lng, contact, key: undefined })
  })
}

t.test('what the operator names is taken, as it stands or in another case', async (t) => {
  const found = ['number', 'lat', 'lng', 'Mobile', 'mobile', 'Id']
  const chosen = chooseColumns('a.csv', found, { number: 'mobile', key: 'ID' })
  t.match(chosen, { number: 'mobile', key: 'Id' })
})

for (const [found, wanted, message] of [
  ['phone,mobile,lat,lng', {}, /"phone" and "mobile".*--number/],
  ['phone,Number,lat,lng', {}, /"phone" and "Number".*--number/],
  ['number,lat,lng,lon,long', { lng: 'none' }, /no column "none" \(--lng\).*found number, lat/],
  ['number,y,latitude,lng', {}, /"y" and "latitude".*--lat/],
  ['number,lat,lng,LAT', {}, /more than one column "lat"/],
  ['number,lat,lng,contact_id,person', {}, /--contact/],
  ['number,lat,lng,Contact,Contact ID', {}, /"Contact" and "Contact ID".*--contact/],
  ['+999123,1.5,2.5', {}, /found \?, \?, \?.*no header|found \?, \?, \?.*is there a header/],
] as const) {
  t.test(`the columns of ${found} are not clear`, async (t) => {
    const choose = () => chooseColumns('a.csv', found.split(','), wanted)
    t.throws(choose, { code: 'InputRejected', message })
  })
}
