import t from 'tap'
import { readContent } from '../../src/http/read-body.js'
import type { HttpRequest } from '../../src/http/request.js'

const form = (name: Buffer) =>
  Buffer.concat([
    Buffer.from('--x\r\nContent-Disposition: form-data; name="'),
    name,
    Buffer.from('"\r\n\r\ntrue\r\n--x--\r\n'),
  ])

function fieldsOf(body: Buffer) {
  const type = 'multipart/form-data'
  const request = { mediaType: type, header: () => `${type}; boundary=x` } as never as HttpRequest
  const content = readContent(request, body, undefined)
  return content.kind === 'form' && content.fields
}

/** Such a request was answered 500, and logged as a fault of the service. */
t.test('a part whose name is not UTF-8 is a mistake of the request', async (t) => {
  for (const bytes of ['ff', 'c3', 'eda080', 'f8808080']) {
    t.throws(() => fieldsOf(form(Buffer.from(bytes, 'hex'))), {
      code: 'InvalidRequest',
      message: /not UTF-8/,
    })
  }
  t.same(fieldsOf(form(Buffer.from('ä'))), [['ä', 'true']])
})
