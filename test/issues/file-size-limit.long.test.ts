/**
 * Where the system limits the size of files, the signal of a write beyond it killed an import, which
 * left its temporary files and said nothing.
 */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { fingerprint } from '../support/data/snapshots.js'
import { hickory, temporaryDirectory } from '../support/service/hickory.js'

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))

for (const rowCount of [20_000, 150_000]) {
  t.test(`${rowCount} rows beyond the size that a file may have are an error`, async (t) => {
    const data = temporaryDirectory(t)
    const file = join(t.testdir({}), 'rows.csv')
    const row = (_: unknown, index: number) => `+999${index},1.5,2.5,\n`
    const options = ['--data', data, '--source', '1', '--label', 'x', file]
    writeFileSync(file, 'number,lat,lng,contact\n+9991,1,2,\n')
    t.equal((await hickory('import', ...options)).code, 0)
    const before = fingerprint(data)
    writeFileSync(file, `number,lat,lng,contact\n${Array.from({ length: rowCount }, row).join('')}`)
    const { code, stderr } = await limited(100, ['import', ...options])
    t.equal(code, 1)
    t.match(stderr, /no snapshot was published .*EFBIG/)
    t.same(fingerprint(data), before)
  })
}

/** Runs a command that may not make a file of more than so many KiB. */
function limited(fileKiB: number, args: readonly string[]) {
  const script = [`ulimit -f ${fileKiB}; exec "$@"`, 'bash', process.execPath, CLI, ...args]
  return new Promise<{ code: number | null; stderr: string }>((resolve) => {
    const child = execFile('bash', ['-c', ...script], (_, __, stderr) =>
      resolve({ code: child.exitCode, stderr }),
    )
  })
}
