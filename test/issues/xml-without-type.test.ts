/**
 * An alert of CAP that curl sends as a file has the type of a form, or none. It was refused as "XML, which is not
 * read", without the one header that helps. A file in a form was refused with all names that are known.
 *
 * @module
 */
import t from 'tap'
import { readContent } from '../../src/http/read-body.js'
import type { HttpRequest } from '../../src/http/request.js'
import type { OperationName } from '../../src/interface/operations.js'
import { validate } from '../../src/selection/validate.js'

const FORM_TYPE = 'application/x-www-form-urlencoded'
const TYPES = ['', 'application/octet-stream', FORM_TYPE, 'text/xml', 'application/xml']

function content(
  mediaType: string,
  body: string | Buffer,
  name: OperationName = 'RecipientRequest',
) {
  const request = { mediaType, header: () => undefined } as never as HttpRequest
  return readContent(request, Buffer.from(body), name)
}

const alert = '<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2"><identifier/></alert>'
const kml = '<kml xmlns="http://www.opengis.net/kml/2.2"/>'

t.test('XML is told by its first element where the type says nothing', async (t) => {
  const bodies: readonly [body: string | Buffer, member: string][] = [
    [alert, 'cap'],
    [`<?xml version="1.0" encoding="UTF-8"?>\n<!-- <kml> -->\n${alert}`, 'cap'],
    [`\ufeff\r\n ${alert}`, 'cap'],
    [Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${alert}`, 'utf16le'), 'cap'],
    ['<cap:alert xmlns:cap="urn:oasis:names:tc:emergency:cap:1.2"/>', 'cap'],
    [kml, 'kml'],
    ['<gpx version="1.1"/>', 'gpx'],
  ]
  for (const mediaType of TYPES) {
    for (const [body, member] of bodies) {
      for (const name of ['RecipientRequest', 'OutlineRequest', 'PostAudienceRequest'] as const) {
        const read = content(mediaType, body, name)
        const sent = Uint8Array.from(Buffer.from(body))
        t.same(read, { kind: 'members', members: { [member]: sent }, isDrawing: true }, mediaType)
      }
    }
    t.match(content(mediaType, alert, 'PutAlertRequest'), { members: { cap: Uint8Array } })
  }
})

t.test('what was read is read as before', async (t) => {
  const fields = `wkt=${encodeURIComponent('POINT(1 2)')}&cap=${alert}`
  t.match(content(FORM_TYPE, fields), { kind: 'form', fields: [['wkt', 'POINT(1 2)'], ['cap']] })
  t.match(content(FORM_TYPE, `\0<alert>&wkt=POINT(1 2)`), { kind: 'form' })
  t.same(content(FORM_TYPE, '{"wkt":"<alert>"}'), {
    kind: 'members',
    members: { wkt: '<alert>' },
  })
  const refused: readonly [mediaType: string, body: string, name?: OperationName][] = [
    ['application/json', alert],
    ['text/plain', alert],
    [FORM_TYPE, '<html><body><alert></alert></body></html>'],
    [FORM_TYPE, `<soap:Envelope xmlns:soap="a">${alert}</soap:Envelope>`],
    [FORM_TYPE, alert, 'GetSourcesRequest'],
    [FORM_TYPE, kml, 'PutAlertRequest'],
  ]
  for (const [mediaType, body, name] of refused) {
    const named = /Content-Type: application\/cap\+xml/
    t.throws(() => content(mediaType, body, name), { code: 'InvalidRequest', message: named }, body)
  }
})

t.test('a file in a field of its own invention is told the fields of files', async (t) => {
  for (const name of ['file', 'upload', 'File', 'alert']) {
    t.throws(() => validate({ [name]: alert }), { message: /cap=@alert\.xml/, field: name })
  }
})
