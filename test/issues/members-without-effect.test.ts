/**
 * Members of requests that were taken and had no effect, or another one than was asked for.
 *
 * @module
 */
import t from 'tap'
import { callbackOf } from '../../src/format/jsonp.js'
import { layoutOf, negotiate } from '../../src/format/negotiate.js'
import { bindOnPath } from '../../src/http/bind.js'
import type { HttpRequest } from '../../src/http/request.js'
import { AlertPageSchema } from '../../src/interface/alerts.js'
import { AreaSearchSchema } from '../../src/interface/areas.js'
import { AudiencePageSchema } from '../../src/interface/audiences.js'
import { bind } from '../../src/interface/bind.js'
import { MapContextPageSchema } from '../../src/interface/context.js'
import { operations } from '../../src/interface/operations.js'
import { SuppressionPageSchema } from '../../src/interface/suppressions.js'
import { refuseOthers } from '../../src/selection/request-members.js'
import { validate } from '../../src/selection/validate.js'

const refused = (field: string, message: RegExp) => ({ code: 'InvalidRequest', field, message })

/** The members of a body, and over them those of the path. */
function overlay(members: object, parameters: Record<string, unknown>) {
  const request = { parameters, query: new Map(), header: () => undefined } as never as HttpRequest
  const content = { kind: 'members', members: members as never } as const
  return bindOnPath(request, operations.RecipientRequest, content)
}

/** The query took the place of both, so that neither was looked at. */
t.test('a member in two spellings is refused also where the query has it', async (t) => {
  const body = { countsOnly: true, CountsOnly: false }
  const twice = refused('CountsOnly', /^CountsOnly is given twice, also as countsOnly$/)
  t.throws(() => overlay(body, { COUNTSONLY: 'true' }), twice)
  t.throws(() => validate(body as never), { code: 'InvalidRequest', message: /given twice/ })
  const one = { countsOnly: true, CountsOnly: null }
  t.same(overlay(one as never, { countsonly: '1' }), { countsonly: '1' })
  t.same(overlay({ a: 1, A: 2, b: 3 }, { B: 4 }), { a: 1, A: 2, B: 4 }, 'others are read later')
})

t.test('what says how to answer is given once', async (t) => {
  const hints = {
    pathFormat: undefined,
    suffix: undefined,
    accept: undefined,
    contentType: undefined,
  }
  for (const query of ['format=json&format=csv', 'format=csv&FORMAT=csv']) {
    const run = () => negotiate({ ...hints, query: new URLSearchParams(query) })
    t.throws(run, { code: 'InvalidRequest', message: /^\w+ is given twice/ })
  }
  t.equal(negotiate({ ...hints, query: new URLSearchParams('format=&format=csv') }), 'csv')
  const twice = (name: string) => new URLSearchParams(`${name}=flat&${name}=flat`)
  t.throws(() => layoutOf(twice('layout')), refused('layout', /given twice/))
  t.throws(() => callbackOf(twice('callback')), refused('callback', /given twice/))
})

t.test('bounds are those of the descriptions, for every list', async (t) => {
  const lists = { MapContextPageSchema, AlertPageSchema, SuppressionPageSchema }
  const pages = { AreaSearchSchema, AudiencePageSchema }
  for (const [name, member, least, most] of [
    ['MapContextPageSchema', 'Take', 0, '1,000'],
    ['AlertPageSchema', 'Take', 0, '1,000'],
    ['SuppressionPageSchema', 'Take', 0, '10,000'],
    ['AreaSearchSchema', 'limit', 1, '1,000'],
    ['AudiencePageSchema', 'limit', 1, undefined],
  ] as const) {
    const schema = { ...lists, ...pages }[name]
    const { maximum } = (schema.properties as Record<string, { maximum?: number }>)[member]
    t.ok(maximum, name)
    if (most !== undefined) t.equal(maximum?.toLocaleString('en-US'), most)
    const range = new RegExp(`^${member} must be a whole number from ${least} to [\\d,]+$`)
    for (const value of [least - 1, (maximum ?? 0) + 1, 1.5, 'x', String((maximum ?? 0) + 1)]) {
      t.throws(() => bind(schema, { [member]: value }), refused(member, range))
    }
    for (const value of [least, maximum, String(maximum)]) {
      t.same(bind(schema, { [member]: value }), { [member]: Number(value) })
    }
  }
  t.throws(() => bind(MapContextPageSchema, { Skip: -1 }), refused('Skip', /, 0 or more$/))
})

t.test('no source at all is told as such', async (t) => {
  const { remarks } = validate({ bbox: [-180, -90, 180, 90], sources: [] } as never)
  t.match(remarks.warnings, [{ Code: 'NothingAsked', Path: 'sources', Message: /empty list/ }])
})

t.test('what asks for less than everybody is refused, unless it is false', async (t) => {
  for (const value of [true, 'true', 1]) {
    const run = () => refuseOthers({ Partial: value }, ['partial'], 'all')
    t.throws(run, refused('partial', /^all: leave out partial$/))
  }
  for (const value of [false, 'false', 0, null]) refuseOthers({ partial: value }, ['partial'], '')
})
