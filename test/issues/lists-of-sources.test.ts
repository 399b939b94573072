import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { importPlace } from '../support/data/import-place.js'
import { hickoryHere } from '../support/service/command-line.js'

/** It was allowed in a source, where it meant nothing, and refused beside them, where it counts. */
t.test('a list of sources says how many snapshots stay', async (t) => {
  const { data, at, put } = importPlace(t)
  const sources = [{ id: 1, label: 'Residents', files: [at('people.csv')] }]
  writeFileSync(join(data, 'sources.json'), JSON.stringify({ keep: 4, sources }))
  for (let version = 0; version < 4; version++) {
    put(20, version)
    t.match(await hickoryHere('import', '--data', data, '--all'), { code: 0 })
  }
  t.equal(snapshotsIn(data).length, 4)
  writeFileSync(at('other.json'), JSON.stringify({ sources }))
  put(20, 5)
  t.match(await hickoryHere('import', '--data', data, '--all', at('other.json')), { code: 0 })
  t.equal(snapshotsIn(data).length, 4, 'another list that says nothing of it removes no more')
  writeFileSync(at('other.json'), JSON.stringify({ keep: 2, sources }))
  put(20, 6)
  t.match(await hickoryHere('import', '--data', data, '--all', at('other.json')), { code: 0 })
  t.equal(snapshotsIn(data).length, 2)
  writeFileSync(at('other.json'), JSON.stringify({ sources: [{ ...sources[0], keep: 2 }] }))
  t.match(await hickoryHere('import', '--data', data, '--all', at('other.json')), {
    code: 2,
    stderr: /\/sources\/0\/keep is not known/,
  })
})

/** The first line was that no snapshot is removed, before the one that nothing is imported. */
t.test('a list that is not JSON is told once', async (t) => {
  const { data } = importPlace(t)
  writeFileSync(join(data, 'sources.json'), '{"keep": 3,,')
  const { code, stderr, stdout } = await hickoryHere('import', '--data', data, '--all')
  t.equal(code, 2)
  t.match(stderr, /^hickory: \S+sources\.json is not JSON in line 1\n$/)
  t.equal(stdout, '')
})

function snapshotsIn(data: string): string[] {
  return readdirSync(join(data, 'snapshots'))
}
