import t from 'tap'
import { operationRoutes } from '../../src/http/operation-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import { type OperationName, operations } from '../../src/interface/operations.js'
import type { Executors } from '../../src/operations/execute.js'
import { request, startServer } from '../http/wire.js'

const CONDITIONS = [
  'If-Match: "x"',
  'if-match: *',
  'If-Match: W/"x", "y"',
  'If-None-Match: *',
  'IF-NONE-MATCH: "x"',
  'If-Unmodified-Since: Sat, 28 Nov 2020 13:00:00 GMT',
]

/** They were passed over: a context was overwritten or deleted that the client had wanted to keep. */
t.test('a change with a condition is refused, and not made', async (t) => {
  const done: OperationName[] = []
  const executors = Object.fromEntries(
    operationNames.map((name) => [name, async () => void done.push(name)]),
  ) as unknown as Executors
  const { port } = await startServer(t, operationRoutes(executors))
  const json = 'Content-Type: application/json'
  const form = 'Content-Type: application/x-www-form-urlencoded'
  for (const name of operationNames) {
    const { verb, paths, isWrite } = operations[name]
    const path = paths[0].replaceAll(/\{\w+\}/g, '7')
    const bodies = verb === 'GET' || verb === 'DELETE' ? {} : { body: '{}' }
    const ways = [[`${verb} ${path}`, { headers: [json], ...bodies }]] as [string, object][]
    ways.push([`POST /json/reply/${name}`, { headers: [json], body: '{}' }])
    ways.push([`POST /json/reply/${name}[]`, { headers: [json], body: '[{}]' }])
    // The body says which operation it is.
    if (verb !== 'GET') {
      ways.push([`POST ${path}`, { headers: [form], body: `X-Http-Method-Override=${verb}` }])
    }
    for (const [line, options] of ways) {
      for (const condition of CONDITIONS) {
        done.length = 0
        const { headers } = options as { headers: string[] }
        const answer = await request(port, line, { ...options, headers: [...headers, condition] })
        if (!isWrite) {
          t.not(answer.status, 412, `${line} ${condition}`)
          continue
        }
        t.same([answer.status, done], [412, []], `${line} ${condition}`)
        t.match(String(answer.body), '"ErrorCode":"PreconditionFailed"')
      }
      if (isWrite) {
        await request(port, line, options)
        t.ok(done.length > 0, `${line} is made without a condition`)
      }
    }
  }
})
