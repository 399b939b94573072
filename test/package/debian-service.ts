/**
 * What systemd would do with the units that a package put into a Debian: their programs as their users. systemd
 * does not run there.
 *
 * @module
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/service/until.js'
import type { Debian } from './debian.js'

/** A command line that becomes what the unit starts, with its user, groups, environment and umask. */
export function commandOfUnit({ root }: Debian, unit: string, instance = ''): string[] {
  const text = readFileSync(join(root, 'usr/lib/systemd/system', unit), 'utf8')
  const settingOf = (name: string) => {
    const value = new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`${unit} has no ${name}`)
    return value
  }
  const environment = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) =>
    line.split(' '),
  )
  const user = [
    'setpriv',
    `--reuid=${settingOf('User')}`,
    `--regid=${settingOf('Group')}`,
    '--init-groups',
  ]
  const command = settingOf('ExecStart').replaceAll('%i', instance).split(' ')
  return [
    ...[...user, '--no-new-privs', 'env', '--chdir=/', ...environment],
    ...['sh', '-c', `umask ${settingOf('UMask')}; exec "$@"`, 'sh', ...command],
  ]
}

/** Makes the scripts of packages believe that systemd runs. It hears what they ask for. */
export function pretendSystemd({ root }: Debian) {
  const asked = join(root, 'run/asked')
  const calls = join(root, 'run/calls')
  const program = join(root, 'usr/bin/systemctl')
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true })
  writeFileSync(calls, '')
  writeFileSync(program, SYSTEMCTL)
  chmodSync(program, 0o755)
  return {
    calls: () => readFileSync(calls, 'utf8'),
    /** Waits until somebody asks for a restart, who waits until `restart` is over. */
    async onRestart(restart: () => Promise<void>) {
      await until(() => existsSync(asked))
      await restart()
      rmSync(asked)
    },
    end() {
      rmSync(join(root, 'run/systemd'), { recursive: true })
      rmSync(program)
    },
  }
}

const SYSTEMCTL = `#!/bin/sh
echo "$*" >>/run/calls
case "$*" in
  *try-restart*)
    : >/run/asked
    while [ -e /run/asked ]; do sleep 0.05; done
    ;;
esac
`
