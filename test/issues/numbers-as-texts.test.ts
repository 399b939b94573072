import t from 'tap'
import { bind } from '../../src/interface/bind.js'
import { MapContextSchema } from '../../src/interface/context.js'
import { operations } from '../../src/interface/operations.js'

/** `1.50` was kept as the text 1.5, and a phone of 1.5 was put on a suppression list. */
t.test('a number is taken for a text only where its digits are those that were sent', (t) => {
  const contextOf = (json: string) => bind(MapContextSchema, JSON.parse(json))
  for (const sent of ['0', '7', '-12', '123456789012345', '1234567890123456', '9007199254740991']) {
    t.equal(contextOf(`{"ContextName":${sent}}`).ContextName, sent)
  }
  for (const sent of ['true', 'false']) {
    t.equal(contextOf(`{"ContextName":${sent}}`).ContextName, sent)
  }
  for (const sent of ['1.5', '1.50', '-0', '1e-7', '0.1', '-2.25', '9007199254740993', '1e300']) {
    t.throws(() => contextOf(`{"ContextName":${sent}}`), {
      code: 'InvalidRequest',
      message: /^ContextName .*; put it in quotes$/,
      field: 'ContextName',
    })
    t.equal(contextOf(`{"ContextName":"${sent}"}`).ContextName, sent, 'as a text it stays')
    t.throws(
      () => bind(operations.PutSuppressionsRequest.request, JSON.parse(`{"Numbers":[1,${sent}]}`)),
      { code: 'InvalidRequest', field: 'Numbers[1]', message: /put it in quotes/ },
    )
  }
  t.end()
})
