/**
 * Finding a route, without a server.
 *
 * @module
 */
import t from 'tap'
import { createRouter } from '../../src/http/router.js'

const router = createRouter([
  { path: '/api/recipients', methods: { POST: 'select' } },
  { path: '/api/contexts/{Id}', methods: { GET: 'context' } },
  { path: '/api/{Operation}', methods: { GET: 'operation', POST: 'operation' } },
  { path: '/api/late', methods: { GET: 'never' } },
])

t.test('a path finds its route however it is spelled', async (t) => {
  for (const path of [
    '/api/recipients',
    '/API/Recipients',
    '//api///recipients/',
    '/api/recipients.json',
    '/api/recipients.csv/',
  ]) {
    t.equal(router.match('POST', path)?.handler, 'select', path)
  }
})

t.test('the suffix is cut off, in lower case only, and never leaves nothing', async (t) => {
  const cases: [path: string, id: string, suffix: string | undefined][] = [
    ['/api/contexts/1.csv', '1', 'csv'],
    ['/api/contexts/1.json.csv', '1.json', 'csv'],
    ['/api/contexts/1.CSV', '1.CSV', undefined],
    ['/api/contexts/1.xml', '1.xml', undefined],
    ['/api/contexts/.csv', '.csv', undefined],
    ['/api/contexts/.json', '.json', undefined],
    ['/api/contexts/1%2Ecsv', '1.csv', undefined],
  ]
  for (const [path, id, suffix] of cases) {
    const match = router.match('GET', path)
    t.same(match?.parameters, { Id: id }, path)
    t.equal(match?.suffix, suffix, path)
  }
})

t.test('the first of two routes that match wins, also when spelled exactly', async (t) => {
  t.equal(router.match('GET', '/api/late')?.handler, 'operation')
  t.equal(router.match('GET', '/api/LATE')?.handler, 'operation')
  t.equal(router.match('GET', '/api/recipients')?.handler, undefined)
})

t.test('HEAD finds GET, other verbs find nothing but what is allowed', async (t) => {
  t.equal(router.match('HEAD', '/api/contexts/1')?.handler, 'context')
  t.equal(router.match('HEAD', '/api/recipients')?.handler, undefined)
  t.equal(router.match('PUT', '/api/x')?.allow, 'GET, HEAD, POST')
  t.equal(router.match('__proto__', '/api/x')?.handler, undefined)
})

t.test('paths without a route match nothing', async (t) => {
  for (const path of ['', '/', '/api', '/apis/recipients', '/api/contexts/1/2']) {
    t.equal(router.match('GET', path), undefined, path)
  }
  t.throws(() => router.match('GET', '/api/%zz'), { code: 'InvalidRequest', field: 'Operation' })
})
