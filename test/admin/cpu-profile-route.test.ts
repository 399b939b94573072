import t from 'tap'
import { cpuProfileRoute, type Profiler } from '../../src/admin/cpu-profile-route.js'
import { limits } from '../../src/limits.js'

const asked = (query: string, gone = new AbortController().signal) => ({
  query: new URLSearchParams(query),
  accept: '',
  gone,
})

function routeOf(profile: Profiler['profile']) {
  return cpuProfileRoute({ threads: () => ['main', 'front-0'], profile })
}

t.test('seconds are whole, from 1 to a minute', async (t) => {
  const taken: number[] = []
  const route = routeOf(async (_, ms) => {
    taken.push(ms)
    return '{}'
  })
  const most = limits.profileMs / 1_000
  for (const seconds of ['1', String(most)]) {
    t.equal((await route(asked(`seconds=${seconds}`))).status, 200)
  }
  for (const seconds of ['0', String(most + 1), '1.5', '-1', 'x', '1e9']) {
    const answer = await route(asked(`seconds=${seconds}`))
    t.match(answer, { status: 400, body: /from 1 to 60/ }, seconds)
  }
  t.equal((await route(asked(''))).status, 200)
  t.same(taken, [1_000, limits.profileMs, 10_000])
})

t.test('an unknown thread is told which there are', async (t) => {
  const route = routeOf(async () => '{}')
  t.match(await route(asked('thread=front-9')), { status: 404, body: /main, front-0/ })
  const { headers } = await route(asked('thread=front-0'))
  t.match(headers, { 'Content-Disposition': 'attachment; filename="hickory-front-0.cpuprofile"' })
})

t.test('one profile is taken at a time, and the next one after it', async (t) => {
  let end = (_: string) => {}
  const route = routeOf(() => new Promise((resolve) => (end = resolve)))
  const first = route(asked('seconds=1'))
  t.match(await route(asked('seconds=1')), { status: 409, headers: { 'Retry-After': '10' } })
  end('{"nodes":[]}')
  t.match(await first, { status: 200, body: '{"nodes":[]}' })
  const next = route(asked('seconds=1'))
  end('{}')
  t.equal((await next).status, 200)
})

t.test('a thread that gives no profile keeps nobody from the next one', async (t) => {
  let count = 0
  const route = routeOf(async () => {
    if (count++ === 0) throw new Error('the thread does not answer')
    return '{}'
  })
  t.match(await route(asked('')), { status: 503, body: /no profile: the thread does not answer/ })
  t.equal((await route(asked(''))).status, 200)
})
