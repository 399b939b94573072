import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { prepareDataset } from '../../../loadtest/harness/dataset.js'
import { readRows } from '../../oracle/counties.js'

t.test('recipients are dealt out to several sources, and none is lost', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-dataset-'))
  const { TMPDIR } = process.env
  process.env.TMPDIR = directory
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
    rmSync(directory, { recursive: true })
  })
  const options = { recipientCount: 1_000, seed: 1, sourceCount: 3, fresh: false }
  const { dataDirectory, csvPath } = await prepareDataset(options, new AbortController().signal)
  const id = readFileSync(join(dataDirectory, 'CURRENT'), 'utf8').trim()
  const manifest = readFileSync(join(dataDirectory, 'snapshots', id, 'manifest.json'), 'utf8')
  const { sources } = JSON.parse(manifest) as {
    sources: readonly { readonly id: number; readonly recipientCount: number }[]
  }
  t.match(sources, [
    { id: 1, recipientCount: 333 },
    { id: 2, recipientCount: 334 },
    { id: 3, recipientCount: 333 },
  ])
  t.equal((await readRows([csvPath])).phones.length, 1_000)
  const beside = readdirSync(join(dataDirectory, '..')).sort()
  t.same(beside, ['data', 'recipients.csv'], 'the parts are gone')
})
