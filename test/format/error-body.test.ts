/**
 * What the body of an error says.
 *
 * @module
 */
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { errorBody } from '../../src/format/error-body.js'

t.test('an error without a member at fault has no entries', async (t) => {
  t.equal(
    errorBody(new ServiceError('NotFound', 'there is nothing')),
    '{"ResponseStatus":{"ErrorCode":"NotFound","Message":"there is nothing","Errors":[]}}',
  )
})

t.test('the member at fault is named, and everything is escaped', async (t) => {
  t.equal(
    errorBody(new ServiceError('InvalidGeoJson', 'a "ring"', 'geoJSON.features[3]')),
    '{"ResponseStatus":{"ErrorCode":"InvalidGeoJson","Message":"a \\"ring\\"","Errors":[' +
      '{"ErrorCode":"InvalidGeoJson","FieldName":"geoJSON.features[3]",' +
      '"Message":"a \\"ring\\""}]}}',
  )
})
