/** What is read beside the program: an operator without a checkout has a README whose links lead somewhere. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { copyDocuments } from '../../src/package/documents.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { deadLinks } from './dead-links.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

t.test('no link of a packed document is dead, wherever the files of the system are', async (t) => {
  for (const system of ['share', 'data/system']) {
    const into = temporaryDirectory(t)
    mkdirSync(join(into, 'data'))
    cpSync(join(ROOT, 'data/system'), join(into, system), { recursive: true })
    await copyDocuments(ROOT, into, system)
    t.same(deadLinks(into), [], system)
    t.ok(existsSync(join(into, 'LICENSE')))
    for (const name of readdirSync(join(ROOT, 'docs'), { recursive: true }) as string[]) {
      t.ok(existsSync(join(into, 'docs', name)), name)
    }
    const page = readFileSync(join(into, 'docs/operations/proxy.md'), 'utf8')
    t.match(page, `](../../${system}/proxy/nginx.conf)`)
    t.equal(
      readFileSync(join(into, 'docs/why-not.md'), 'utf8'),
      readFileSync(join(ROOT, 'docs/why-not.md'), 'utf8'),
    )
    // A link to what only a checkout has is its label.
    t.notMatch(readFileSync(join(into, 'CONTRIBUTING.md'), 'utf8'), '](loadtest/')
  }
  t.ok(existsSync(join(ROOT, 'loadtest/README.md')), 'the checkout itself stays as it is')
})
