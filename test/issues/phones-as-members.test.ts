import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { bind } from '../../src/interface/bind.js'
import { MapContextSchema } from '../../src/interface/context.js'

/** An unknown member was named in the error whatever it was, a phone number too. */
t.test('a member that could be a phone number is refused, but not repeated', async (t) => {
  for (const [name, isRepeated] of [
    ['contextNames', true],
    ['radius_km', true],
    ['layer2', true],
    ['+99977700055501', false],
    ['99977700055501', false],
    ['tel:99977700055501', false],
    ['x99977700055501', false],
    ['', false],
    ['a'.repeat(5_000), false],
  ] as const) {
    try {
      bind(MapContextSchema, { [name]: 1 })
      t.fail(`${name} is not refused`)
    } catch (error) {
      t.type(error, ServiceError)
      const { code, message, field = '' } = error as ServiceError
      t.equal(code, 'UnknownMember')
      t.equal(`${message} ${field}`.includes(name || '\n'), isRepeated, message)
    }
  }
})
