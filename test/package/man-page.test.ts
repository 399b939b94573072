import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { errorTables } from '../../src/errors.js'
import { writeManual } from '../../src/package/manual.js'
import { everyFlag } from '../support/every-flag.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const share = temporaryDirectory(t)
t.before(() => writeManual(root, share, 1_790_000_000))
const page = () => readFileSync(join(share, 'man/man1/hickory.1'), 'utf8')

t.test('the manual has every command, every flag and every exit code', async (t) => {
  const flags = await everyFlag()
  t.ok(flags.length > 100)
  const sections = page().split(/^\.SS /m)
  for (const { path, flag } of flags) {
    const section = sections.find((section) =>
      section.startsWith(`${path.replaceAll('-', '\\-')}\n`),
    )
    if (path === 'hickory') continue
    t.match(section, `${flag.replaceAll('-', '\\-')}`, `${path} ${flag}`)
  }
  for (const code of Object.values(errorTables.operatorErrors)) {
    t.match(page(), new RegExp(`^\\.B ${code}\\n\\S`, 'm'), `exit code ${code}`)
  }
  t.match(page(), /^\.TH HICKORY 1 "2026-09-21" "Hickory \d+\.\d+\.\d+"/)
})

t.test('nothing in the manual is taken for a request of roff that is none', (t) => {
  const known = /^\.(TH|SH|SS|TP|PP|B|br|nf|fi)( |$)/
  const requests = page()
    .split('\n')
    .filter((line) => /^[.']/.test(line))
  t.ok(requests.length > 300)
  t.same(
    requests.filter((line) => !known.test(line)),
    [],
  )
  t.end()
})

t.test('shells take the completions', (t) => {
  const path = join(share, 'bash-completion/completions/hickory')
  execFileSync('bash', ['-n', path])
  t.match(readFileSync(path, 'utf8'), 'complete -F _hickory hickory')
  t.match(readFileSync(join(share, 'zsh/site-functions/_hickory'), 'utf8'), /^#compdef hickory/)
  t.end()
})
