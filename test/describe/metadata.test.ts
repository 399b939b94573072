import { execFileSync } from 'node:child_process'
import t from 'tap'
import { metadataPage } from '../../src/describe/metadata.js'
import { namedOperations, namedTypes } from '../../src/describe/schema.js'
import { framed, frames } from '../../src/format/recipients.js'

const page = metadataPage({
  baseUrl: 'http://hickory.example:8080',
  version: '1.2.3',
  formats: ['json', 'csv'],
  operationName: undefined,
})

/** Elements without an end tag. */
const VOID = ['meta']

t.test('text is escaped wherever it goes', async (t) => {
  const evil = `"><script>alert('&')</script>`
  const safe = '&#34;&#62;&#60;script&#62;alert(&#39;&#38;&#39;)&#60;/script&#62;'
  const hostile = metadataPage({
    baseUrl: evil,
    version: evil,
    formats: ['json'],
    operationName: undefined,
  })
  t.notMatch(hostile, '<script')
  t.equal(hostile.split(safe).length > 1, true, 'it is there, in other characters')
})

t.test('every element that is opened is closed, in order', async (t) => {
  const open: string[] = []
  for (const [, end, name] of page.matchAll(/<(\/?)([a-z]\w*)[^>]*>/g)) {
    if (VOID.includes(name)) continue
    if (end === '') open.push(name)
    else t.equal(open.pop(), name)
  }
  t.same(open, [])
})

t.test('every link leads to a place on the page, and no id is there twice', async (t) => {
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  t.equal(new Set(ids).size, ids.length)
  for (const [, id] of page.matchAll(/ href="#([^"]+)"/g)) t.ok(ids.includes(id), id)
  for (const path of ['/openapi.json', '/types/typescript', '/metadata']) {
    t.match(page, `href="${path}"`)
  }
})

t.test('it needs nothing from elsewhere', async (t) => {
  t.notMatch(page, /<(script|link|img|iframe)|src=|@import|url\(/)
})

t.test('it has every operation with its paths, types and members', async (t) => {
  t.match(page, '<code>GET /api/contexts/{Id}/events</code>')
  for (const { name, paths } of namedOperations) {
    const section = sectionOf(page, name)
    for (const path of [...paths, `/json/reply/${name}`, `/csv/reply/${name}`, `/api/${name}`]) {
      t.match(section, `<code>${path}</code>`)
    }
    for (const format of ['json', 'csv']) t.match(page, `href="/${format}/metadata?op=${name}"`)
  }
  const roots = namedOperations.flatMap(({ request, response = {} }) => [request, response])
  const names = [...namedTypes(roots).values(), ...roots].flatMap(({ properties = {} }) =>
    Object.keys(properties),
  )
  for (const name of new Set(names)) t.match(page, `<th scope="row">${name}</th>`)
})

t.test('where each member of a request stands', async (t) => {
  const row = (operation: string, member: string) =>
    new RegExp(`<th scope="row">${member}</th><td>([^<]*)`).exec(sectionOf(page, operation))?.[1]
  t.equal(row('GetMapContextRequest', 'Id'), 'path')
  t.equal(row('GetMapContextsRequest', 'Skip'), 'query')
  t.equal(row('PutMapContextRequest', 'Id'), 'path or body')
  t.equal(row('RecipientRequest', 'countsOnly'), 'body')
})

t.test('a page of one operation and format has no other', async (t) => {
  const options = { baseUrl: 'http://h', version: '1', operationName: 'RecipientRequest' } as const
  const csv = metadataPage({ ...options, formats: ['csv'] })
  t.match(csv, `${framed(frames.flat.list, []).trimEnd()}\n`)
  t.match(csv, '?format=csv')
  t.notMatch(csv, /\?format=json|callback=|GetMapConfigurationRequest|Basemap/)
  const json = metadataPage({ ...options, formats: ['json'] })
  t.match(json, '?callback=myCallback')
  t.match(json, '&#34;LatLng&#34;: {')
})

t.test('a shell understands the samples as they are meant', async (t) => {
  const lines = [...new Set(codeLines(page).filter((line) => line.startsWith('curl ')))]
  t.ok(lines.length > 2 * namedOperations.length)
  const said = lines.map((line) => {
    return `set -- ${line}; for word; do printf '%s\\0' "$word"; done; printf '\\1'`
  })
  const read = String(execFileSync('sh', ['-c', said.join('\n')])).split('\x01')
  for (const [at, line] of lines.entries()) {
    const [, , ...rest] = read[at].split('\0').slice(0, -1)
    const url = rest.find((word) => word.startsWith('http://hickory.example:8080/api/'))
    t.ok(url, line)
    if (rest.includes('-d')) t.type(JSON.parse(rest[rest.indexOf('-d') + 1]), 'object')
  }
  t.ok(lines.includes("curl -s 'http://hickory.example:8080/api/contexts?Skip=0&Take=10'"))
})

function sectionOf(text: string, name: string): string {
  const [, section] = new RegExp(`<section id="${name}">([\\s\\S]*?)</section>`).exec(text) ?? []
  return section
}

/** The lines of samples as a reader sees them. */
function codeLines(text: string): string[] {
  const blocks = [...text.matchAll(/<pre><code>([\s\S]*?)<\/code><\/pre>/g)].map(([, code]) => code)
  const decoded = blocks.join('\n').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
  return decoded.split('\n')
}
