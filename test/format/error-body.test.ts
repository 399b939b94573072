/**
 * What the body of an error says.
 *
 * @module
 */
import { parse } from 'csv-parse/sync'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { errorBody } from '../../src/format/error-body.js'
import { parseJsv } from '../../src/format/jsv-parse.js'

const notFound = new ServiceError('NotFound', 'Context not found')
const badRing = new ServiceError('InvalidGeoJson', 'a "ring"', 'geoJSON.features[3]')

t.test('an error without a member at fault has no entries', async (t) => {
  t.equal(
    errorBody(notFound, 'json'),
    '{"ResponseStatus":{"ErrorCode":"NotFound","Message":"Context not found","Errors":[]}}',
  )
  t.equal(
    errorBody(notFound, 'csv'),
    'ResponseStatus\r\n"{ErrorCode:NotFound,Message:Context not found,Errors:[]}"\r\n',
  )
})

t.test('the member at fault is named, and everything is escaped', async (t) => {
  t.equal(
    errorBody(badRing, 'json'),
    '{"ResponseStatus":{"ErrorCode":"InvalidGeoJson","Message":"a \\"ring\\"","Errors":[' +
      '{"ErrorCode":"InvalidGeoJson","FieldName":"geoJSON.features[3]",' +
      '"Message":"a \\"ring\\""}]}}',
  )
  t.equal(
    errorBody(badRing, 'csv'),
    'ResponseStatus\r\n"{ErrorCode:InvalidGeoJson,Message:""a """"ring"""""",Errors:[' +
      '{ErrorCode:InvalidGeoJson,FieldName:""geoJSON.features[3]"",' +
      'Message:""a """"ring""""""}]}"\r\n',
  )
})

t.test('as NDJSON it is a line', async (t) => {
  t.equal(errorBody(badRing, 'ndjson'), `${errorBody(badRing, 'json')}\n`)
})

t.test('the error of a batch says which request it was, as a text', async (t) => {
  const meta = { AutoBatchIndex: '1' }
  t.equal(
    errorBody(notFound, 'json', meta),
    '{"ResponseStatus":{"ErrorCode":"NotFound","Message":"Context not found","Errors":[],' +
      '"Meta":{"AutoBatchIndex":"1"}}}',
  )
  t.equal(
    errorBody(notFound, 'csv', meta),
    'ResponseStatus\r\n"{ErrorCode:NotFound,Message:Context not found,Errors:[],' +
      'Meta:{AutoBatchIndex:1}}"\r\n',
  )
})

t.test('the CSV of an error is read back as its JSON', async (t) => {
  const [{ ResponseStatus }] = parse(errorBody(badRing, 'csv'), { columns: true }) as {
    ResponseStatus: string
  }[]
  t.same({ ResponseStatus: parseJsv(ResponseStatus) }, JSON.parse(errorBody(badRing, 'json')))
})
