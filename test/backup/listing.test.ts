import t from 'tap'
import { mayBeArchived } from '../../src/backup/listing.js'

t.test('a backup has the files of a data directory', async (t) => {
  const names = [
    'CURRENT',
    'sources.json',
    'store/data.mdb',
    'snapshots/000001-0123abcd/manifest.json',
    'snapshots/000001-0123abcd/repeats',
    'snapshots/000001-0123abcd/1-0.shard',
    'snapshots/000001-0123abcd/1-0.identities',
    'journal/changes-000001.journal',
    'journal/position',
    'journal/head/data.mdb',
    'areas/CURRENT',
    'areas/000001-0123abcd/data.mdb',
  ]
  for (const name of names) t.ok(mayBeArchived(name), name)
})

t.test('nothing else is written below a data directory, or beside it', async (t) => {
  const names = [
    '',
    '../sources.json',
    '/etc/passwd',
    'snapshots/../CURRENT',
    'snapshots/000001-0123abcd/../../../x.json',
    'store/lock.mdb',
    'store/data.mdb/..',
    'journal/head/lock.mdb',
    'SOURCES.json',
    'sources.json\n',
    'CURRENT.tmp',
  ]
  for (const name of names) t.notOk(mayBeArchived(name), JSON.stringify(name))
})
