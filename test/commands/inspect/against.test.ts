import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { compareSource } from '../../../src/commands/inspect/compare-source.js'
import { readManifest } from '../../../src/snapshot/format/manifest.js'
import { columnsOf, manyColumns, type TestRecipient } from '../../support/data/columns.js'
import { publishTest } from '../../support/data/snapshots.js'
import { testSeed } from '../../support/random/properties.js'
import { hickoryHere } from '../../support/service/command-line.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { byTier } from '../../support/tier.js'

const at = (phone: string, lng: number, lat: number, contact = ''): TestRecipient => ({
  ...{ phone, lng, lat, contact },
})

/** Few phones and places, so that many are the same; some phones too long for most tables. */
const people = fc.array(
  fc.record({
    phone: fc
      .integer({ min: 0, max: 12 })
      .map((value) => (value > 10 ? `+999${'0'.repeat(30)}${value}` : `+999${value}`)),
    lng: fc.integer({ min: -2, max: 2 }),
    lat: fc.constant(7),
    contact: fc.constant(''),
  }),
  { minLength: 1, maxLength: 40 },
)

t.test(
  'changes are those that a list of all recipients shows, in any number of passes',
  async (t) => {
    const data = temporaryDirectory(t)
    const filesOf = async (recipients: readonly TestRecipient[]) => {
      const id = await publishTest(data, 1, columnsOf(recipients))
      const { sources } = await readManifest(data, id)
      return { directory: join(data, 'snapshots', id), shards: sources[0].shards }
    }
    const property = fc.asyncProperty(
      people,
      people,
      fc.integer({ min: 1, max: 100 }),
      async (before, after, recipientsPerPass) => {
        const ours = [await filesOf(before), await filesOf(after)]
        const moved: number[] = []
        const onMoved = (coords: Int32Array) => void moved.push(...coords)
        const change = await compareSource(ours[0], ours[1], onMoved, recipientsPerPass)
        const { came, left, stayed, movedCount, isMovedTo } = byList(before, after)
        t.same(change, { came, left, stayed, moved: movedCount })
        t.equal(moved.length, 2 * movedCount)
        for (let i = 0; i < moved.length; i += 2) t.ok(isMovedTo(moved[i], moved[i + 1]))
      },
    )
    await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 6, soak: 100 }) })
  },
)

t.test('inspect says by source who came, left, stayed and moved, without numbers', async (t) => {
  const data = temporaryDirectory(t)
  await publishTest(data, 3, manyColumns(5), 'Same')
  await publishTest(data, 4, manyColumns(7), 'Gone')
  const before = [at('+9991', 0, 0), at('+9992', 0, 0), at('+9993', 0, 0), at('+9993', 5, 5)]
  const other = await publishTest(data, 1, columnsOf(before), 'People')
  await hickoryHere('remove', '--data', data, '--source', '4')
  await publishTest(data, 2, manyColumns(3), 'New')
  const after = [at('+9991', 0, 0), at('+9992', 9e7, 0), at('+9993', 5, 5), at('+9994', 0, 9e7)]
  const id = await publishTest(data, 1, columnsOf(after), 'Residents')

  const { code, stdout } = await hickoryHere('inspect', '--data', data, id, '--against', other)
  t.equal(code, 0)
  t.match(stdout, new RegExp(`^snapshot +${id}\nagainst +${other}\n\n`))
  const rows = stdout.split('\n').map((line) => line.trim().split(/ +/).join(' '))
  t.same(rows.slice(3, 8), [
    'source label came left stayed moved',
    ...['1 Residents 1 1 2 1', '2 New 3 0 0 0', '3 Same 0 0 5 0', '4 Gone 0 7 0 0'],
  ])
  t.match(stdout, /where the moved are now, from 0\.0000 to 9\.0000 degrees east/)
  t.equal(stdout.split('\n').filter((line) => /^\|.{72}\|$/.test(line)).length, 24)
  t.notMatch(stdout, '+999')

  const json = await hickoryHere('inspect', '--data', data, '--json', 'current', '--against', other)
  const document = JSON.parse(json.stdout)
  t.match(document, { id, againstId: other })
  const [first] = document.sources
  t.same(first, { id: 1, label: 'Residents', came: 1, left: 1, stayed: 2, moved: 1 })
  const counts: number[] = document.map.counts
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    1,
  )
  const same = await hickoryHere('inspect', '--data', data, id, '--against', id)
  t.match(same.stdout, / 1 +Residents +0 +0 +4 +0\n/)
  t.notMatch(same.stdout, 'where')
})

t.test('what cannot be compared is named', async (t) => {
  const data = temporaryDirectory(t)
  await publishTest(data, 1, manyColumns(5))
  const alone = await hickoryHere('inspect', '--data', data, '--against', 'current')
  t.equal(alone.code, 2)
  t.match(alone.stderr, /--against needs a snapshot to compare/)
  const unknown = await hickoryHere('inspect', '--data', data, 'current', '--against', '000009-0')
  t.equal(unknown.code, 2)
  t.match(unknown.stderr, /there is no snapshot 000009-0/)
})

/** By phone: positions in both stayed, and as many of the others as there are in both moved. */
function byList(before: readonly TestRecipient[], after: readonly TestRecipient[]) {
  let [came, left, stayed, movedCount] = [0, 0, 0, 0]
  const movedTo = new Set<string>()
  for (const phone of new Set([...before, ...after].map(({ phone }) => phone))) {
    const placesOf = (list: readonly TestRecipient[]) =>
      list.filter((one) => one.phone === phone).map(({ lng, lat }) => `${lng} ${lat}`)
    const gone = placesOf(before)
    const others: string[] = []
    for (const place of placesOf(after)) {
      if (!gone.includes(place)) others.push(place)
      else {
        gone.splice(gone.indexOf(place), 1)
        stayed++
      }
    }
    const count = Math.min(gone.length, others.length)
    movedCount += count
    came += others.length - count
    left += gone.length - count
    if (count > 0) for (const place of others) movedTo.add(place)
  }
  const isMovedTo = (lng: number, lat: number) => movedTo.has(`${lng} ${lat}`)
  return { came, left, stayed, movedCount, isMovedTo }
}
