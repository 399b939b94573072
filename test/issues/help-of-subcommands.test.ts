import type { Command } from 'commander'
import t from 'tap'
import { commands } from '../../src/commands/all.js'
import { wholeProgram } from '../../src/commands/command-line.js'
import { hickoryHere } from '../support/service/command-line.js'

/** Those of `keys create` and others pointed to the help of `keys`, which has none of their options. */
t.test('a wrong option points to the help that has the right ones', async (t) => {
  for (const path of pathsBelow(await wholeProgram(commands))) {
    const { code, stderr } = await hickoryHere(...path, '--nonsense')
    t.equal(code, 2, path.join(' '))
    const [, ...pointed] = /`hickory (.*) --help` says what is allowed/.exec(stderr) ?? []
    t.same(pointed, [path.join(' ')], stderr)
    const { stdout } = await hickoryHere(...path, '--help')
    t.match(stdout, `Usage: hickory ${path.join(' ')} `)
  }
})

t.test('what a sub-command lacks, and a sub-command that is unknown', async (t) => {
  for (const [args, message] of [
    ['keys create', "required option '--name <NAME>' not specified; `hickory keys create --help`"],
    ['areas show x --jsn', "unknown option '--jsn'; `hickory areas show --help`"],
    ['keys revoke', "missing required argument 'NAME'; `hickory keys revoke --help`"],
    ['keys nope', "unknown command 'nope'; `hickory keys --help`"],
    ['keys creat', "unknown command 'creat' (did you mean create?); `hickory keys --help`"],
    // Another word of the line is a command, too, which was taken for the one that was meant.
    ['keyz create backup', "unknown command 'keyz' (did you mean keys?); `hickory --help`"],
  ] as const) {
    const { code, stderr } = await hickoryHere(...args.split(' '))
    t.match({ code, stderr }, { code: 2, stderr: `hickory: ${message} says what is allowed\n` })
  }
})

/** The general help came, as if that had been asked for. */
t.test('help for a command that is unknown says that it is', async (t) => {
  for (const [args, message] of [
    ['help nope', "unknown command 'nope'; `hickory --help`"],
    ['help impotr', "unknown command 'impotr' (did you mean import?); `hickory --help`"],
    ['nope --help', "unknown command 'nope'; `hickory --help`"],
    ['-h nope', "unknown command 'nope'; `hickory --help`"],
    ['nope x -h', "unknown command 'nope'; `hickory --help`"],
    ['keys help nope', "unknown command 'nope'; `hickory keys --help`"],
    ['help keys rotat', "unknown command 'rotat' (did you mean rotate?); `hickory keys --help`"],
    ['keys nope --help', "unknown command 'nope'; `hickory keys --help`"],
  ] as const) {
    const { code, stdout, stderr } = await hickoryHere(...args.split(' '))
    const expected = { code: 2, stdout: '', stderr: `hickory: ${message} says what is allowed\n` }
    t.same({ code, stdout, stderr }, expected, args)
  }
})

t.test('help in any order is that of the command', async (t) => {
  for (const [args, usage] of [
    ['help', 'hickory '],
    ['--help', 'hickory '],
    ['help help', 'hickory '],
    ['help keys', 'hickory keys '],
    ['keys help', 'hickory keys '],
    ['help keys create', 'hickory keys create '],
    ['keys help create', 'hickory keys create '],
    ['--help verify', 'hickory verify '],
    ['help verify x', 'hickory verify '],
    ['import --source 1 -h', 'hickory import '],
  ] as const) {
    const { code, stdout, stderr } = await hickoryHere(...args.split(' '))
    t.match({ code, stderr }, { code: 0, stderr: '' }, args)
    t.ok(stdout.startsWith(`Usage: ${usage}`), `${args}: ${stdout.split('\n')[0]}`)
  }
})

function pathsBelow(command: Command, above: readonly string[] = []): string[][] {
  return command.commands.flatMap((sub) => {
    const path = [...above, sub.name()]
    return [path, ...pathsBelow(sub, path)]
  })
}
