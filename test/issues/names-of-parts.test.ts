import t from 'tap'
import { formParts } from '../../src/http/form-parts.js'

const form = (name: Buffer) =>
  Buffer.concat([
    Buffer.from('--x\r\nContent-Disposition: form-data; name="'),
    name,
    Buffer.from('"\r\n\r\ntrue\r\n--x--\r\n'),
  ])

/** Such a request was answered 500, and logged as a fault of the service. */
t.test('a part whose name is not UTF-8 is a mistake of the request', async (t) => {
  for (const bytes of ['ff', 'c3', 'eda080', 'f8808080']) {
    t.throws(() => formParts(form(Buffer.from(bytes, 'hex')), 'x'), {
      code: 'InvalidRequest',
      message: /not UTF-8/,
    })
  }
  t.same(
    formParts(form(Buffer.from('ä')), 'x').map(({ name }) => name),
    ['ä'],
  )
})
