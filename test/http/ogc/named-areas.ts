/**
 * What OGC API - Features, Part 1: Core (OGC 17-069r4) requires of collections and features, requested of layers of
 * the gazetteer: a test has the name of its requirement.
 */
import type { Test } from 'tap'
import { limits } from '../../../src/limits.js'
import { COUNTIES, DISTRICTS, ZONES } from './areas.js'

// biome-ignore lint/suspicious/noExplicitAny: documents as they come
type Json = any

export function testNamedAreas(t: Test, url: string): void {
  const root = `${url}/ogc`

  async function get(path: string): Promise<{ status: number; type: string | null; body: Json }> {
    const response = await fetch(path.startsWith('http') ? path : root + path)
    const type = response.headers.get('content-type')
    return { status: response.status, type, body: await response.json() }
  }

  const items = (query = '', id = ZONES) => get(`/collections/${id}/items${query}`)
  const idsOf = ({ body }: { body: Json }) => body.features.map(({ id }: { id: string }) => id)
  const linkOf = ({ links }: Json, rel: string): string | undefined =>
    links.find((each: Json) => each.rel === rel)?.href

  t.test('/req/core/fc-md-items', async (t) => {
    const ids = (await get('/collections')).body.collections.map(({ id }: Json) => id)
    t.same(ids.slice(0, 4), ['areas-counties', 'areas-countries', 'areas-states', 'areas-zones'])
    t.ok(ids.includes(DISTRICTS))
    const next = linkOf((await get('/collections?offset=2')).body, 'self')
    t.equal((await get(next ?? '')).body.collections[0].id, 'areas-states')
  })

  t.test('/req/core/fc-md-extent', async (t) => {
    const { body } = await get(`/collections/${ZONES}`)
    t.same(body.extent.spatial.bbox, [[-180, 0, 180, 10]], 'with the one over the antimeridian')
    t.match(body.description, 'Source: a survey. Licence: free.')
  })

  t.test('/req/core/sfc-md-success', async (t) => {
    for (const listed of (await get('/collections')).body.collections) {
      t.same((await get(`/collections/${listed.id}`)).body, listed)
    }
    t.equal((await get('/collections/areas-none')).status, 404)
  })

  t.test('/req/core/query-param-unknown and -invalid', async (t) => {
    for (const query of ['unknown=1', 'limit=0', 'bbox=1,2,3', 'offset=-1', 'datetime=x']) {
      t.equal((await items(`?${query}`)).status, 400, query)
    }
  })

  t.test('/req/core/fc-limit-response-1', async (t) => {
    t.equal((await items('', COUNTIES)).body.features.length, 10)
    t.equal((await items('?limit=3', COUNTIES)).body.features.length, 3)
    const most = await items(`?limit=${limits.featurePageCount + 1}`, COUNTIES)
    const { numberReturned, links } = most.body
    t.ok(numberReturned > 0 && numberReturned <= limits.featurePageCount, `${numberReturned}`)
    // On a busy machine a page may end earlier, by its time; there is always more to come.
    const next = links.find(({ rel }: { rel: string }) => rel === 'next')
    t.match(next?.href, `offset=${numberReturned}`)
  })

  t.test('/req/core/fc-bbox-response', async (t) => {
    const boxes: [box: string, ids: string[]][] = [
      ['0,0,1,1', ['zones:square', 'zones:triangle']],
      // In the bounds of the triangle, and beyond its longest side.
      ['6,6,9,9', []],
      ['5,5,9,9', ['zones:triangle']],
      ['5.0000001,5,9,9', []],
      ['179.5,0,-179.5,1', ['zones:seam']],
      ['-180,0,-179.9,1', ['zones:seam']],
      ['-180,-90,180,90', ['zones:seam', 'zones:square', 'zones:triangle']],
    ]
    for (const [box, ids] of boxes) {
      const found = await items(`?bbox=${box}`)
      t.same(idsOf(found), ids, box)
      t.equal(found.body.numberMatched, ids.length, box)
    }
  })

  t.test('/req/core/fc-links, over all counties of a box', async (t) => {
    const seen: string[] = []
    let page = await items('?limit=50&bbox=-106.65,25.84,-93.51,36.5', COUNTIES)
    const { numberMatched } = page.body
    for (;;) {
      seen.push(...idsOf(page))
      t.equal(page.body.numberMatched, numberMatched)
      const next = linkOf(page.body, 'next')
      if (next === undefined) break
      page = await get(next)
    }
    t.equal(seen.length, numberMatched)
    t.same(seen, [...new Set(seen)].sort(), 'by key, each once')
    t.ok(seen.filter((id) => id.startsWith('counties:48')).length === 254, 'all of Texas')
  })

  t.test('/req/core/fc-numberMatched', async (t) => {
    t.equal((await items('?limit=3', COUNTIES)).body.numberMatched, 3_230)
    t.equal((await items('?offset=3')).body.numberReturned, 0)
  })

  t.test('/req/core/fc-response: counts are those of recipient requests', async (t) => {
    const { body, type } = await items()
    t.equal(type, 'application/geo+json')
    const counts = body.features.map(({ properties }: Json) => properties.ContactTotalCount)
    t.same(counts, [0, 100, 5_050])
    for (const { id, properties } of body.features) {
      const response = await fetch(`${url}/api/recipients`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ countsOnly: true, areas: [id] }),
      })
      const { SourceRecords } = (await response.json()) as Json
      const expected = SourceRecords.map(({ Label, Count }: Json) => ({ Label, Count }))
      t.same(properties.Contacts, expected, id)
    }
    t.notMatch(JSON.stringify(body), /\+999/)
  })

  t.test('/req/core/f-success and f-links', async (t) => {
    const path = `/collections/${ZONES}/items/${encodeURIComponent('zones:square')}`
    const { body, type } = await get(path)
    t.equal(type, 'application/geo+json')
    t.same(body.properties, {
      ...{ Id: 'zones:square', Layer: 'zones', Key: 'square', Name: 'Square', Aliases: ['OLD:1'] },
      ...{ Contacts: [{ Label: 'A', Count: 100 }], ContactTotalCount: 100 },
    })
    t.equal(body.geometry.type, 'Polygon')
    t.equal((await get(linkOf(body, 'self') ?? '')).body.id, 'zones:square')
    t.equal(linkOf(body, 'collection'), `${root}/collections/${ZONES}`)
    for (const none of ['zones:none', 'OLD:1', 'counties:48201', 'square']) {
      const other = `/collections/${ZONES}/items/${encodeURIComponent(none)}`
      t.equal((await get(other)).status, 404, none)
    }
  })

  t.test('/req/geojson/content', async (t) => {
    const [seam] = (await items()).body.features
    t.equal(seam.geometry.type, 'MultiPolygon', 'cut at the antimeridian')
  })
}
