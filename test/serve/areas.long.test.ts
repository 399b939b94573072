/**
 * A running service takes new areas, refuses damaged ones and goes on with those that it has.
 *
 * @module
 */
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { areasDirectory, versionDirectory } from '../../src/gazetteer/directory.js'
import { writeLayers } from '../../src/gazetteer/write-layers.js'
import { layerOf, squareArea } from '../support/data/areas.js'
import { placesWorld } from '../support/data/suppressions.js'
import { serve } from '../support/service/hickory.js'
import { until, untilTold } from '../support/service/until.js'

interface Ready {
  readonly areas?: { readonly version?: string; readonly refused?: { readonly version?: string } }
}

t.test('new areas are taken, damaged ones are not', async (t) => {
  const data = await placesWorld(t)
  const zones = (key: string) => layerOf('zones', squareArea(key, 0, 0))
  const first = await writeLayers(data, { set: [zones('a')] })
  const service = await serve(t, '--data', data, '--http-threads', '2')
  const get = async <Body>(path: string) => {
    const answer = await fetch(service.url + path)
    return {
      status: answer.status,
      etag: answer.headers.get('etag'),
      body: (await answer.json()) as Body,
    }
  }
  const ready = async () => (await get<Ready>('/readyz')).body.areas
  const versionOf = async () => (await get<{ Version: string }>('/api/areas')).body.Version
  t.equal(await ready(), undefined, 'nothing is to be said')
  t.equal(await versionOf(), first.version)
  const before = await get('/api/areas/zones:a')
  t.match(before, { status: 200, body: { id: 'zones:a', bbox: [0, 0, 1, 1] } })
  t.match(before.etag, first.version)

  const second = await writeLayers(data, { set: [zones('b')] })
  await until(() => service.output().stderr.includes('switched to new areas'))
  t.equal(await versionOf(), second.version)
  // Whichever thread answers.
  for (let i = 0; i < 20; i++) {
    t.equal((await get('/api/areas/zones:b')).status, 200)
    t.match(await get('/api/areas/zones:a'), {
      status: 404,
      body: { ResponseStatus: { ErrorCode: 'UnknownArea', Message: /near it are zones:b$/ } },
    })
  }

  const third = await writeLayers(data, { set: [zones('c')] })
  await untilTold(async () => (await versionOf()) === third.version)
  const current = join(areasDirectory(data), 'CURRENT')
  writeFileSync(join(versionDirectory(data, second.version), 'manifest.json'), '{}')
  writeFileSync(current, `${second.version}\n`)
  await untilTold(async () => (await ready()) !== undefined)
  t.match(await ready(), { version: third.version, refused: { version: second.version } })
  t.equal((await get('/api/areas/zones:c')).status, 200, 'still served')
  t.match(service.output().stderr, 'refused new areas')

  writeFileSync(current, `${third.version}\n`)
  await untilTold(async () => (await ready()) === undefined)
  const { code, stderr } = await service.stop()
  t.equal(code, 0, stderr)
})

t.test('a start falls back to the areas before', async (t) => {
  const data = await placesWorld(t)
  const first = await writeLayers(data, { set: [layerOf('zones', squareArea('a', 0, 0))] })
  const second = await writeLayers(data, { set: [layerOf('zones', squareArea('b', 0, 0))] })
  const file = join(versionDirectory(data, second.version), 'data.mdb')
  const bytes = readFileSync(file)
  bytes[bytes.length >> 1] ^= 1
  writeFileSync(file, bytes)
  const service = await serve(t, '--data', data)
  const { areas } = (await (await fetch(`${service.url}/readyz`)).json()) as Ready
  t.match(areas, { version: first.version, refused: { version: second.version } })
  t.equal((await fetch(`${service.url}/api/areas/zones:a`)).status, 200)
  await service.stop()

  truncateSync(join(versionDirectory(data, first.version), 'data.mdb'), 0)
  const none = await serve(t, '--data', data)
  const answer = await fetch(`${none.url}/api/areas/zones:a`)
  t.equal(answer.status, 503, 'nothing is made up where nothing is intact')
  await none.stop()
})

t.test('a directory without areas gets those of the program', async (t) => {
  const data = await placesWorld(t)
  const service = await serve(t, '--data', data)
  const answer = await fetch(`${service.url}/api/areas/SAME:048201`)
  t.match(await answer.json(), { type: 'Feature', id: 'counties:48201' })
  const { stderr } = await service.stop()
  t.match(stderr, 'made the default gazetteer')
})
