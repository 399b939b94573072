import t from 'tap'
import type { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { readXml } from '../../src/xml/read-xml.js'

t.test('elements, attributes and texts are read', async (t) => {
  const root = readXml(
    '\ufeff<?xml version="1.0"?>\n<a xmlns="urn:x" xmlns:y="urn:y">one<y:b c="&lt;&#233;" y:d="2"/><![CDATA[<two>]]></a>',
    'cap',
  )
  t.match(root, { name: 'a', namespace: 'urn:x', text: 'one<two>', line: 2 })
  t.equal(root.attributes.size, 0)
  const [child] = root.children
  t.match(child, { name: 'b', namespace: 'urn:y', text: '' })
  t.same(
    [...child.attributes],
    [
      ['c', '<é'],
      ['d', '2'],
    ],
  )
})

t.test('an attribute of another vocabulary does not take the place of its own', async (t) => {
  for (const attributes of ['b="1" y:b="2"', 'y:b="2" b="1"']) {
    const root = readXml(`<a xmlns:y="urn:y" ${attributes}/>`, 'cap')
    t.same([...root.attributes], [['b', '1']], attributes)
  }
})

t.test('bytes are read in the encoding that they say', async (t) => {
  const text = '<a>Überschwemmung</a>'
  const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>${text}`
  const cases: [string, Uint8Array][] = [
    ['UTF-8 without a word', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
    ['ISO-8859-1', Buffer.from(declared('ISO-8859-1'), 'latin1')],
    ['UTF-16', Buffer.from(`\ufeff${declared('UTF-16')}`, 'utf16le')],
  ]
  for (const [name, bytes] of cases) t.equal(readXml(bytes, 'cap').text, 'Überschwemmung', name)
  t.throws(() => readXml(Buffer.from(text, 'latin1'), 'cap'), { code: 'InvalidXml' })
  t.throws(() => readXml(Buffer.from(declared('EBCDIC-CP-US')), 'cap'), { code: 'InvalidXml' })
})

t.test('what is not XML is refused with its line, and without its words', async (t) => {
  for (const text of [
    '',
    ' ',
    'secret',
    '<a>\n<secret>',
    '<a>&secret;</a>',
    '<a/><b/>',
    '<a',
    '<a b=1/>',
  ]) {
    const fault = faultOf(text)
    t.match(fault, { code: 'InvalidXml', status: 400, field: 'cap' }, text)
    t.notMatch(fault?.message, /secret/)
    t.match(fault?.message, /line \d/)
  }
})

t.test(
  'a document type is refused, so there is nothing to expand and nothing to fetch',
  async (t) => {
    const laughs = Array.from(
      { length: 10 },
      (_, i) => `<!ENTITY lol${i + 1} "${`&lol${i};`.repeat(10)}">`,
    )
    const bombs = [
      `<!DOCTYPE lolz [<!ENTITY lol0 "lol">${laughs.join('')}]><lolz>&lol9;</lolz>`,
      '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
      '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a/>',
      '<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]><a/>',
    ]
    for (const bomb of bombs) t.match(faultOf(bomb)?.message, /document type/, bomb.slice(0, 40))
  },
)

t.test('depth, elements and attributes are bounded', async (t) => {
  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
  const many = (count: number) => `<a>${'<b/>'.repeat(count - 1)}</a>`
  const wide = (count: number) =>
    `<a ${Array.from({ length: count }, (_, i) => `b${i}=""`).join(' ')}/>`
  const cases: [name: string, of: (count: number) => string, bound: number][] = [
    ['depth', nested, limits.xmlDepthCount],
    ['elements', many, limits.xmlElementCount],
    ['attributes', wide, limits.xmlAttributeCount],
    ['characters', (count) => `<a>${'x'.repeat(count - 7)}</a>`, limits.xmlCharCount],
  ]
  for (const [name, of, bound] of cases) {
    t.equal(faultOf(of(bound)), undefined, `${name} at the bound`)
    t.match(faultOf(of(bound + 1)), { code: 'TooComplex', field: 'cap' }, `${name} beyond it`)
  }
  const bounds = { elementCount: limits.xmlElementCount + 1, attributeCount: 0 }
  t.ok(readXml(many(limits.xmlElementCount + 1), 'file', bounds), 'a file may have more')
  t.throws(() => readXml('<a b=""/>', 'file', bounds), { code: 'TooComplex' })
  t.match(faultOf('<a>'.repeat(limits.bodyBytes / 3)), { code: 'TooComplex' }, '4 MiB of elements')
})

function faultOf(text: string): ServiceError | undefined {
  try {
    readXml(text, 'cap')
  } catch (fault) {
    return fault as ServiceError
  }
  return undefined
}
