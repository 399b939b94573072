/**
 * The curl lines of the documentation, run in order against the embedded sample, answer what the
 * block after each says; `…` there stands for any text, and white space for nothing.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { serve, temporaryDirectory } from '../support/service/hickory.js'

const root = new URL('../../../', import.meta.url)
const run = promisify(execFile)

const service = await serve(t, '--sample', '--data', temporaryDirectory(t))

/** How many steps each document has at least; a page below docs/api that is not named here has one. */
const leastCounts: Readonly<Record<string, number>> = {
  'README.md': 3,
  'docs/api.md': 2,
  'docs/api/cap-profiles.md': 0,
  'docs/api/contexts.md': 4,
  'docs/api/limits.md': 0,
  'docs/api/lists.md': 2,
  'docs/api/outline.md': 2,
  'docs/api/shapes.md': 2,
}

const pages = readdirSync(fileURLToPath(new URL('docs/api', root))).sort()

for (const document of ['README.md', 'docs/api.md', ...pages.map((page) => `docs/api/${page}`)]) {
  t.test(`${document} says what happens`, async (t) => {
    const text = readFileSync(fileURLToPath(new URL(document, root)), 'utf8')
    const steps = stepsOf(text)
    t.ok(steps.length >= (leastCounts[document] ?? 1), `${steps.length} steps`)
    t.equal(steps.length, text.match(/^curl /gm)?.length ?? 0, 'every curl line is a step')
    for (const { command, expected } of steps) {
      const here = readingAll(command.replaceAll('http://127.0.0.1:8080', service.url))
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', here])
      t.not(stdout, '', command)
      if (expected !== undefined) t.match(squeezed(stdout), patternOf(expected), command)
    }
  })
}

/** `head` may close the pipe before curl has written all, which then fails by chance; this one takes all, and shows as much. */
function readingAll(command: string): string {
  return command.replace(/\| head -(\d+)/g, '| sed -n 1,$1p')
}

interface Step {
  readonly command: string
  /** What is shown of the answer, if anything. */
  readonly expected: string | undefined
}

function stepsOf(markdown: string): Step[] {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
  return blocks.flatMap(([, language, command], at): Step[] => {
    if (language !== 'sh' || !command.startsWith('curl ')) return []
    const [, nextLanguage, next] = blocks[at + 1] ?? []
    return [{ command, expected: nextLanguage === 'sh' ? undefined : next }]
  })
}

function patternOf(expected: string): RegExp {
  const parts = squeezed(expected).split('…')
  return new RegExp(`^${parts.map((part) => part.replace(/[^\w…]/g, '\\$&')).join('.*')}$`)
}

function squeezed(text: string): string {
  return text.replace(/\s/g, '')
}
