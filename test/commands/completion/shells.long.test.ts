/** What bash and zsh complete, by the shells themselves. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hickoryHere } from '../../support/service/command-line.js'

const directory = t.testdir({})

async function scriptFor(shell: 'bash' | 'zsh'): Promise<string> {
  const path = join(directory, shell === 'zsh' ? '_hickory' : 'hickory.bash')
  writeFileSync(path, (await hickoryHere('completion', shell)).stdout)
  return path
}

t.test('bash completes commands, flags, values and files', async (t) => {
  const script = await scriptFor('bash')
  const completed = (...words: string[]) => {
    // Outside of a completion, compopt refuses to work: here it tells what it was asked.
    const code = `. "$0"; compopt() { echo "<$2>"; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hickory; echo "\${COMPREPLY[*]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', code, script, 'hickory', ...words], {
      encoding: 'utf8',
    })
    t.equal(stderr, '')
    return stdout.trim()
  }
  t.equal(completed('im'), 'import')
  t.match(completed(''), /^serve import .* completion -V --version -h --help$/)
  t.equal(completed('keys', 'c'), 'create certificates')
  t.equal(completed('keys', 'create', '--scopes', 'counts', '--na'), '--name')
  t.equal(completed('serve', '--tls-cl'), '--tls-client-ca --tls-client-certs')
  t.equal(completed('serve', '--writes', ''), 'on off')
  t.equal(completed('serve', '--writes', '=', 'of'), 'off')
  t.equal(completed('serve', '--port', ''), '', 'a number is not a file')
  t.equal(completed('serve', '--data', ''), '<dirnames>')
  t.equal(completed('serve', '--tls-cert', ''), '<default>')
  t.equal(completed('import', '--source', '1', ''), '<default>')
  t.equal(completed('import', '--source', '1', '--', '--x'), '<default>', 'a file named --x')
  t.equal(completed('import', '--all', '--keep-g'), '--keep-going', 'a value may be left out')
  t.equal(completed('import', '--all', ''), '<default>')
  t.equal(completed('completion', ''), 'bash zsh')
  t.equal(completed('nonsense', ''), '', 'after what is no command, nothing')
})

t.test('a tab in a bash with a terminal completes a command and a file with a space', async (t) => {
  const script = await scriptFor('bash')
  const home = t.testdir({ 'some recipients.csv': '' })
  const typed = `cd '${home}'; . '${script}'; hickory() { printf '<%s>' "$@"; }\nhickory imp\t--sou\t7 some\t\nexit\n`
  const out = execFileSync('script', ['-qec', 'bash --noprofile --norc -i', '/dev/null'], {
    input: typed,
    encoding: 'utf8',
    timeout: 20_000,
    env: { ...process.env, TERM: 'dumb', PS1: '$ ', HOME: home, INPUTRC: '/dev/null' },
  })
  t.match(out, '<import><--source><7><some recipients.csv>')
})

t.test('a tab in a zsh with a terminal completes commands, flags and values', async (t) => {
  await scriptFor('zsh')
  const dump = join(directory, 'dump')
  mkdirSync(dump)
  const code = `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    ask() {
      zpty -w shell "$1"
      zpty -r -m shell text "*done:$2*" || exit 1
      print -r -- "$text"
    }
    ask "PS1= ; fpath=('${directory}' $fpath); autoload -U compinit; compinit -u -d '${dump}/z'; hickory() { printf '<%s>' \\"\\$@\\"; }; echo done:\\$((1+1))" 2
    ask $'hickory imp\\t--sou\\t=7; echo done:$((1+2))' 3
    ask $'hickory serve --wri\\ton; echo done:$((2+2))' 4
    ask $'hickory keys rev\\t; echo done:$((2+3))' 5
    ask $'hickory serve --log-level si\\t; echo done:$((3+3))' 6
    ask $'hickory completion z\\t; echo done:$((3+4))' 7
    zpty -d shell`
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', code], {
    encoding: 'utf8',
    timeout: 30_000,
    env: { ...process.env, TERM: 'dumb' },
  })
  t.equal(stderr, '')
  t.match(stdout, '<import><--source=7>')
  t.match(stdout, '<serve><--writes=on>')
  t.match(stdout, '<keys><revoke>')
  t.match(stdout, '<serve><--log-level><silent>')
  t.match(stdout, '<completion><zsh>')
})
