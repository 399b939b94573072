/**
 * A cursor named its moment by how many batches came since the snapshot. Of a directory that was restored between two
 * pages, and had as many other batches by then, the second page was of other people.
 *
 * @module
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { squareGeometry } from '../support/data/store.js'
import { phoneOf, placesWorld } from '../support/data/suppressions.js'
import { type Service, serve, temporaryDirectory } from '../support/service/hickory.js'

const EVERYBODY = { geoJSON: squareGeometry(-1, -1, 60), limit: 3 }

async function post({ url }: Service, path: string, body: object) {
  const sent = { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(url + path, sent)
  const text = await answer.text()
  return { status: answer.status, next: answer.headers.get('x-next-after'), text }
}

const change = (service: Service, batchId: string, deleted: number) =>
  post(service, '/api/sources/1/changes', {
    batchId,
    changes: [{ op: 'delete', number: phoneOf(deleted) }],
  })

t.test('a page of other changes than those of the first one is refused', async (t) => {
  const data = await placesWorld(t)
  const backup = join(temporaryDirectory(t), 'backup')
  cpSync(data, backup, { recursive: true })
  const first = await serve(t, '--data', data)
  t.equal((await change(first, 'a', 0)).status, 200)
  const page = await post(first, '/api/recipients', EVERYBODY)
  t.equal(page.status, 200)
  const after = page.next
  t.equal((await change(first, 'b', 1)).status, 200)
  t.equal((await post(first, '/api/recipients', { ...EVERYBODY, after })).status, 200)
  await first.stop()

  const again = await serve(t, '--data', data)
  const page2 = await post(again, '/api/recipients', { ...EVERYBODY, after })
  t.equal(page2.status, 200, 'a restart changes nothing')
  await again.stop()

  rmSync(data, { recursive: true })
  cpSync(backup, data, { recursive: true })
  const restored = await serve(t, '--data', data)
  t.equal((await change(restored, 'c', 400)).status, 200)
  const other = await post(restored, '/api/recipients', { ...EVERYBODY, after })
  t.equal(other.status, 410)
  t.ok(other.text.includes('"CursorExpired"'))
  t.equal((await restored.stop()).code, 0)
})
