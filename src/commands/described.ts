/**
 * A command as plain data, read from commander: for its page of the manual and for what a shell completes.
 *
 * @module
 */
import type { Argument, Command, Option } from 'commander'

export interface DescribedCommand {
  /** From the program down, such as `hickory`, `keys`, `create`. */
  readonly path: readonly string[]
  readonly description: string
  readonly options: readonly DescribedOption[]
  readonly operands: readonly DescribedOperand[]
  readonly commands: readonly DescribedCommand[]
  /** What its help says below the options. */
  readonly helpTail: string
}

export interface DescribedOption {
  /** With their dashes, such as `-h` and `--help`. */
  readonly flags: readonly string[]
  readonly description: string
  /** Undefined for a switch. */
  readonly value: (Value & { readonly isOptional: boolean }) | undefined
  readonly isMandatory: boolean
  readonly defaultText: string | undefined
}

export interface DescribedOperand extends Value {
  readonly description: string
  readonly isRequired: boolean
  readonly isRepeated: boolean
}

interface Value {
  /** As the help writes it, such as `FILE` or `on|off`. */
  readonly placeholder: string
  readonly kind: 'file' | 'directory' | 'other'
  /** All there are; empty where there are others. */
  readonly choices: readonly string[]
}

/** The help command that commander adds is left out: `--help` says the same. */
export function describe(command: Command, above: readonly string[] = []): DescribedCommand {
  const path = [...above, command.name()]
  const help = command.createHelp()
  return {
    path,
    description: command.description(),
    options: help.visibleOptions(command).map(describeOption),
    operands: command.registeredArguments.map(describeOperand),
    commands: command.commands.map((sub) => describe(sub, path)),
    helpTail: helpTailOf(command),
  }
}

function describeOption(option: Option): DescribedOption {
  const { short, long, flags, required, optional, argChoices, description } = option
  const placeholder = /[<[](.+)[\]>]/.exec(flags)?.[1]
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value:
      placeholder === undefined || !(required || optional)
        ? undefined
        : { ...describeValue(placeholder, argChoices), isOptional: optional },
    isMandatory: option.mandatory,
    defaultText: option.defaultValue === undefined ? undefined : String(option.defaultValue),
  }
}

function describeOperand(argument: Argument): DescribedOperand {
  return {
    ...describeValue(argument.name(), argument.argChoices),
    description: argument.description,
    isRequired: argument.required,
    isRepeated: argument.variadic,
  }
}

function describeValue(placeholder: string, choices: readonly string[] | undefined): Value {
  const listed = /^[a-z0-9-]+(\|[a-z0-9-]+)+$/.test(placeholder) ? placeholder.split('|') : []
  const kinds = { FILE: 'file', DIR: 'directory' } as const
  return {
    placeholder,
    kind: placeholder === 'FILE' || placeholder === 'DIR' ? kinds[placeholder] : 'other',
    choices: choices ?? listed,
  }
}

function helpTailOf(command: Command): string {
  const written: string[] = []
  command.configureOutput({ writeOut: (text) => written.push(text) })
  command.outputHelp()
  const own = command.helpInformation()
  return written
    .filter((text) => text !== own)
    .join('')
    .trim()
}
