/**
 * Archives of KML: which file is read, and what a hostile one can do.
 *
 * @module
 */
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import type { DrawnCollection } from '../../src/notations/drawn.js'
import { kmlFeatures, readKml } from '../../src/notations/kml/read-kml.js'
import { unpackKmz } from '../../src/notations/kmz.js'
import { type ZipFileEntry, zipOf } from '../support/data/zip.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'

const KML =
  '<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><Point><coordinates>1,2</coordinates></Point></Placemark></kml>'
const geometry = { type: 'Point', coordinates: [1, 2] }
const DRAWN = {
  type: 'FeatureCollection',
  features: [{ type: 'Feature', geometry, properties: {} }],
}
const doc: ZipFileEntry = { name: 'doc.kml', content: KML }
const other = (name: string): ZipFileEntry => ({ name, content: '<kml/>' })
const image: ZipFileEntry = { name: 'files/a.png', content: Buffer.alloc(99, 1), method: 0 }

t.test('the main KML is read, wherever it is written', async (t) => {
  const archives: [what: string, bytes: Buffer][] = [
    ['alone', zipOf([doc])],
    ['stored', zipOf([{ ...doc, method: 0 }])],
    ['behind images', zipOf([image, { ...image, name: 'files/nested.kmz' }, doc])],
    ['before others', zipOf([doc, other('a.kml'), other('files/b.kml')])],
    ['behind others', zipOf([other('a.kml'), doc])],
    [
      'under another name',
      zipOf([image, { ...doc, name: 'Zones of Harris.KML' }, other('x/doc.kml')]),
    ],
    ['in capitals', zipOf([other('a.kml'), { ...doc, name: 'DOC.KML' }])],
    ['in ZIP64', zipOf([{ ...doc, isZip64: true }], { isZip64: true })],
    ['with a comment', zipOf([doc], { comment: 'made by hand' })],
    ['with a data descriptor', zipOf([{ ...doc, flags: 0x808 }])],
  ]
  for (const [what, bytes] of archives) {
    t.same(await readKmz(bytes, 'kmz'), DRAWN, what)
  }
  const inLarger = Buffer.concat([Buffer.from('before'), zipOf([doc])]).subarray(6)
  t.same(await readKmz(new Uint8Array(inLarger), 'kmz'), DRAWN)
})

t.test('what is not a KMZ, is damaged or lies is refused', async (t) => {
  const bytes = zipOf([doc])
  const bomb = { name: 'doc.kml', content: Buffer.alloc(8 * limits.kmzBytes) }
  const cases: [what: string, bytes: Uint8Array, message: RegExp][] = [
    ['nothing', Buffer.alloc(0), /damaged/],
    ['KML', Buffer.from(KML), /damaged/],
    ['the end alone', bytes.subarray(-22), /damaged/],
    ['no end', bytes.subarray(0, -1), /damaged/],
    ['bytes behind the end', Buffer.concat([bytes, Buffer.from('x')]), /damaged/],
    ['no files', zipOf([]), /no KML at its root/],
    ['no KML', zipOf([image]), /no KML at its root/],
    ['KML in a folder', zipOf([{ ...doc, name: 'zones/doc.kml' }]), /no KML at its root/],
    ['a folder that is called so', zipOf([{ ...doc, name: 'doc.kml/' }]), /no KML at its root/],
    ['several', zipOf([other('a.kml'), other('b.kml')]), /several KML/],
    ['two documents', zipOf([doc, other('Doc.kml')]), /several KML/],
    ['a name from the root', zipOf([doc, other('/etc/doc.kml')]), /damaged/],
    ['a name from above', zipOf([doc, other('../doc.kml')]), /damaged/],
    ['a drive', zipOf([doc, other('C:/doc.kml')]), /damaged/],
    ['another name before the content', zipOf([{ ...doc, localName: 'cod.kml' }]), /damaged/],
    ['encrypted', zipOf([{ ...doc, flags: 0x801 }]), /is encrypted/],
    ['strongly encrypted', zipOf([{ ...doc, flags: 0x841 }]), /damaged/],
    ['another method', zipOf([{ ...doc, method: 12 }]), /damaged/],
    ['another checksum', zipOf([{ ...doc, crc: 1 }]), /damaged/],
    ['less than it says', zipOf([{ ...doc, size: KML.length + 1 }]), /damaged/],
    ['more than it says', zipOf([{ ...doc, size: KML.length - 1 }]), /damaged/],
    ['nothing, it says', zipOf([{ ...doc, size: 0 }]), /damaged/],
    ['stored with other sizes', zipOf([{ ...doc, method: 0, size: 5 }]), /damaged/],
    ['content beyond the end', zipOf([{ ...doc, packedSize: 100_000 }]), /damaged/],
    ['content cut off', zipOf([{ ...doc, packedSize: 10 }]), /damaged/],
    ['content elsewhere', zipOf([{ ...doc, at: 5 }]), /damaged/],
    ['more files than there are', zipOf([doc], { entryCount: 2 }), /damaged/],
    ['a bomb that says so', zipOf([bomb]), /KML of more than/],
    ['a bomb that does not', zipOf([{ ...bomb, size: KML.length }]), /damaged/],
    ['an endless one', zipOf([{ ...doc, isZip64: true, size: 2 ** 52 }]), /KML of more than/],
  ]
  for (const [what, archive, message] of cases) {
    const fault = await faultOf(archive)
    t.match(fault, { code: 'InvalidKml', status: 400, field: 'kmz', message }, what)
  }
})

t.test('bytes and files are bounded', async (t) => {
  const ofBytes = (count: number) => zipOf([{ name: 'doc.kml', content: KML.padEnd(count) }])
  t.equal((await unpackKmz(ofBytes(limits.kmzBytes), 'kmz')).length, limits.kmzBytes)
  t.match(await faultOf(ofBytes(limits.kmzBytes + 1)), { message: /more than/ })
  const more = limits.kmzBytes + 1
  const kml = await unpackKmz(ofBytes(more), 'file', more)
  t.equal(kml.length, more, 'an importer has bounds of its own')
  const ofFiles = (count: number) =>
    zipOf([
      doc,
      ...Array.from({ length: count - 1 }, (_, i) => ({ ...other(`${i}`), method: 0, at: 0 })),
    ])
  t.same(await readKmz(ofFiles(limits.kmzEntryCount), 'kmz'), DRAWN)
  t.match(await faultOf(ofFiles(limits.kmzEntryCount + 1)), { message: /files/ })
})

t.test('files that overlap, and bombs beside the KML, cost nothing', async (t) => {
  const quine = {
    name: 'bomb.zip',
    content: zipOf([{ name: 'a', content: Buffer.alloc(2 ** 20) }]),
  }
  const overlapping = Array.from({ length: 1_000 }, (_, i) => ({ ...doc, name: `${i}.txt`, at: 0 }))
  const huge = { name: 'huge.png', content: '', isZip64: true, size: 2 ** 50 }
  const archive = zipOf([doc, quine, huge, ...overlapping])
  t.same(await readKmz(archive, 'kmz'), DRAWN)
})

t.test('a comment of beginnings of links takes no more than its length', async (t) => {
  // Looking for the end of each through all that follow would take minutes.
  const comment = `<!--${'<NetworkLink '.repeat(150_000)}-->`
  const main = { ...doc, content: KML.replace('<Placemark>', `${comment}<Placemark>`) }
  t.ok(zipOf([main]).length < 10_000)
  t.same(await readKmz(zipOf([main]), 'kmz'), DRAWN)
})

t.test('layers in files of their own are read where the main KML links to them', async (t) => {
  const link = (href: string, more = '') =>
    `<NetworkLink><name>a</name><Link><href>${href}</href>${more}</Link></NetworkLink>`
  const main = (...links: string[]): ZipFileEntry => ({
    name: 'doc.kml',
    content: `<kml><Document>${links.join('\n')}</Document></kml>`,
  })
  const layer = (name: string, coordinates: string): ZipFileEntry => ({
    name,
    content: KML.replace('1,2', coordinates),
  })
  const layers = [
    layer('layers/a.kml', '3,4'),
    layer('layers/b c.kml', '5,6'),
    layer('d.kml', '7,8'),
  ]
  const own = '<Placemark><Point><coordinates>1,2</coordinates></Point></Placemark>'
  const links = [link('layers/a.kml'), own, `<Folder>${link(' ./layers/b c.kml ')}</Folder>`]
  const read = await readKmz(zipOf([main(...links), ...layers]), 'kmz')
  const places = read.features.map(
    (feature) => (feature.geometry as unknown as typeof geometry).coordinates,
  )
  t.same(places, [
    [3, 4],
    [1, 2],
    [5, 6],
  ])
  const cases: [what: string, entries: ZipFileEntry[], message: RegExp][] = [
    ['elsewhere', [main(link('http://127.0.0.1:1/a.kml'))], /NetworkLink.*line 1/],
    ['a host', [main(link('//127.0.0.1/a.kml'))], /NetworkLink/],
    ['a file of the machine', [main(link('/etc/a.kml'))], /NetworkLink/],
    ['from above', [main(link('../d.kml'))], /NetworkLink/],
    ['what is not there', [main(link('layers/x.kml'))], /NetworkLink/],
    ['what is no KML', [main(link('files/a.png')), image], /NetworkLink/],
    ['an archive', [main(link('a.kmz')), { name: 'a.kmz', content: zipOf([doc]) }], /NetworkLink/],
    ['a part', [main(link('d.kml').replace('<name>', '<Region/><name>'))], /NetworkLink/],
    ['what changes', [main(link('d.kml', '<refreshMode>onInterval</refreshMode>'))], /NetworkLink/],
    ['twice', [main(link('d.kml'), link('d.kml'))], /NetworkLink.*line 2\)/],
    ['itself', [main(link('doc.kml'))], /NetworkLink.*line 1\)/],
    [
      'a link',
      [main(link('e.kml')), { ...main(link('d.kml')), name: 'e.kml' }],
      /NetworkLink.*line 1\)/,
    ],
    ['what is wrong', [main(link('e.kml')), layer('e.kml', '\n1')], /one number.*line 1\)/],
    ['in a comment', [main(`<!-- ${link('a.kml')} -->${link('d.kml')}`)], /NetworkLink/],
    ['two files', [main(link('d.kml')), layer('d.kml', '1,2')], /two files/],
  ]
  for (const [what, entries, message] of cases) {
    const fault = await faultOf(zipOf([...entries, ...layers]))
    t.match(fault, { code: 'InvalidKml', field: 'kmz', message }, what)
  }
  const latin = Buffer.from(
    `<?xml version="1.0" encoding="ISO-8859-1"?>\n${KML.replace('<Point>', '<name>Ü</name><Point>')}`,
    'latin1',
  )
  const entries = [main(link('ü.kml')), { name: 'ü.kml', content: latin }]
  const named = kmlFeatures(await unpackKmz(zipOf(entries), 'kmz'), 'kmz')
  t.match(named, [{ name: 'Ü', geometry }], 'each file has an encoding of its own')
  const half = Math.ceil(limits.kmzBytes / 2)
  const large = (name: string) => ({ name, content: KML.padEnd(half) })
  const two = zipOf([main(link('a.kml'), link('b.kml')), large('a.kml'), large('b.kml')])
  t.match(await faultOf(two), { message: /more than/ }, 'bytes of all files count together')
  const line = (count: number) =>
    `<kml><Placemark><LineString><coordinates>${'1,2 '.repeat(count)}</coordinates></LineString></Placemark></kml>`
  const long = (name: string, count: number) => ({ name, content: line(count) })
  const parts = (count: number) =>
    zipOf([main(link('a.kml'), link('b.kml')), long('a.kml', 2), long('b.kml', count - 2)])
  t.match(await readKmz(parts(limits.vertexCount), 'kmz'), { features: { length: 2 } })
  t.match(await faultOf(parts(limits.vertexCount + 1)), { code: 'TooManyVertices' })
})

t.test('a mutated archive is refused, or has the KML that its checksum says', async (t) => {
  const random = seededRandom(testSeed(t))
  const whole = zipOf([image, doc, other('files/b.kml')])
  let takenCount = 0
  for (let run = 0; run < byTier({ ci: 150, soak: 10_000 }); run++) {
    let bytes = Buffer.from(whole)
    for (let change = random.between(1, 3); change > 0; change--) {
      const at = random.between(0, bytes.length - 1)
      if (random.unit() < 0.7) bytes[at] ^= 1 << random.between(0, 7)
      else if (random.unit() < 0.5) bytes = bytes.subarray(0, at + 1)
      else bytes.fill(random.pick([0, 255]), at, Math.min(bytes.length, at + random.between(1, 8)))
    }
    try {
      const read = await readKmz(bytes, 'kmz')
      takenCount++
      if (JSON.stringify(read) !== JSON.stringify(DRAWN)) t.fail('another KML')
    } catch (fault) {
      if (!(fault instanceof ServiceError)) t.fail(String(fault))
      else if (fault.code !== 'InvalidKml') t.fail(fault.code)
    }
  }
  t.ok(takenCount > 0, `${takenCount} are damaged where it does not matter`)
})

async function readKmz(bytes: Uint8Array, path: string): Promise<DrawnCollection> {
  return readKml(await unpackKmz(bytes, path), path)
}

async function faultOf(bytes: Uint8Array): Promise<unknown> {
  try {
    await readKmz(bytes, 'kmz')
  } catch (fault) {
    return fault
  }
  return undefined
}
