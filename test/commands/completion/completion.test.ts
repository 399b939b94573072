import t from 'tap'
import { everyFlag } from '../../support/every-flag.js'
import { hickoryHere } from '../../support/service/command-line.js'

t.test('bash and zsh are told of every flag of every command', async (t) => {
  const bash = await hickoryHere('completion', 'bash')
  const zsh = await hickoryHere('completion', 'zsh')
  t.same([bash.code, zsh.code, bash.stderr, zsh.stderr], [0, 0, '', ''])
  const flags = await everyFlag()
  t.ok(flags.length > 100)
  for (const { path, flag } of flags) {
    const words = new RegExp(`^ +'${path}'\\) echo '(.*)' ;;$`, 'm').exec(bash.stdout)?.[1]
    t.ok(words?.split(' ').includes(flag), `bash: ${path} ${flag}`)
    const name = `_${path.replaceAll(' ', '_')}`
    const body = zsh.stdout.split(`\n${name}() {`)[1]?.split('\n}\n')[0] ?? ''
    t.match(body, new RegExp(`${flag}=?\\[`), `zsh: ${path} ${flag}`)
  }
})

t.test('flags with few values name them', async (t) => {
  const { stdout } = await hickoryHere('completion', 'bash')
  t.match(stdout, "'hickory serve --writes') echo 'on off' ;;")
  t.match(stdout, "'hickory serve --log-level') echo 'trace debug info warn error fatal silent' ;;")
  t.match(stdout, "'hickory import --format') echo 'csv ndjson parquet geojson' ;;")
  t.match(stdout, "'hickory serve --data') echo 'directory' ;;")
  t.match(stdout, "'hickory import --all') echo '?file' ;;")
})

t.test('a shell that is not known is refused by name', async (t) => {
  const { code, stderr } = await hickoryHere('completion', 'fish')
  t.equal(code, 2)
  t.match(stderr, /Allowed choices are bash, zsh/)
})
