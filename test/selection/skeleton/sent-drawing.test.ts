import t from 'tap'
import type { ServiceError } from '../../../src/errors.js'
import type { JsonObject } from '../../../src/selection/parse.js'
import { parse } from '../../../src/selection/parse.js'
import { parseRequest, SentDrawing } from '../../../src/selection/skeleton/sent-drawing.js'
import { validate } from '../../../src/selection/validate.js'

const read = (text: string) => parseRequest(Buffer.from(text))
const whole = (text: string) => validate(parse(Buffer.from(text)))
const square = (lng: number) =>
  `{"geoJSON":{"type":"Polygon","coordinates":[[[${lng},1],[${lng + 1},1],[${lng},2]]]}}`
const drawingOf = (request: JsonObject) => request.geoJSON as SentDrawing

function fieldAtFault(read: () => unknown): string | undefined {
  try {
    read()
  } catch (error) {
    return (error as ServiceError).field
  }
  return 'none'
}

t.test('a drawing is read from the skeleton, and all else as it was sent', async (t) => {
  const request = read(`{"limit":5,"sources":[1,2],${square(3).slice(1)}`)
  t.ok(drawingOf(request) instanceof SentDrawing)
  t.same({ ...request, geoJSON: 0 }, { limit: 5, sources: [1, 2], geoJSON: 0 })
  t.same(validate(read(square(3))), whole(square(3)))
})

t.test('a drawing that outlives its body is read from a copy', async (t) => {
  const first = read(square(3))
  const second = read(square(100))
  const third = read('{}')
  t.same(validate(first), whole(square(3)))
  t.same(validate(second), whole(square(100)))
  t.same(validate(third), whole('{}'))
})

t.test('nothing refers to what was given', async (t) => {
  const body = Buffer.from(square(3))
  const request = parseRequest(body)
  body.fill(0)
  t.same(validate(request), whole(square(3)))
  const wrong = Buffer.from(square(300).replace('[300,1]', '[300]'))
  const faulty = parseRequest(wrong)
  wrong.fill(0)
  t.equal(
    fieldAtFault(() => validate(faulty)),
    'geoJSON.coordinates[0][0]',
  )
})

t.test('a drawing is not read twice, and not from the body of another', async (t) => {
  const request = read(square(3))
  validate(request)
  t.throws(() => validate(request), /read twice/)
  read(square(100))
  t.throws(() => drawingOf(request).whole(), /after the next body/)
  t.throws(() => validate(request), /read twice/)
})

t.test('repeated texts are read each with the positions and members of its own', async (t) => {
  for (const lng of [1, 2, 3, 4, 5])
    t.same(validate(read(square(lng))), whole(square(lng)), `${lng}`)
  const named = (name: string) => square(1).replace('"type"', `"name":"${name}","type"`)
  for (const name of ['a', 'b', 'a', 'b', 'é', 'é', 'é']) {
    t.same(validate(read(named(name))), whole(named(name)), name)
  }
})

t.test('members with the names of JavaScript are members', async (t) => {
  for (const text of [
    square(1).replace('"type"', '"__proto__":{"radius":5},"type"'),
    square(1).replace('"type"', '"toString":{"radius":5},"type"'),
  ]) {
    t.same(validate(read(text)), whole(text), text)
  }
  for (const name of ['__proto__', 'constructor']) {
    const text = `{"${name}":{"countsOnly":true},${square(1).slice(1)}`
    t.throws(() => validate(read(text)), { code: 'UnknownMember', field: name })
    t.equal(validate(read(text), 'warn').countsOnly, false)
  }
})

t.test('positions anywhere else are as they were sent', async (t) => {
  for (const text of ['{"points":[[1,2]]}', '{"a":{"coordinates":[1,2]}}']) {
    t.same(read(text), JSON.parse(text))
  }
})
