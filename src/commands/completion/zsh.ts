/**
 * What makes zsh complete the commands, with a description of each flag.
 *
 * @module
 */
import type { DescribedCommand, DescribedOperand, DescribedOption } from '../described.js'

/** The text works as a file `_hickory` of `fpath`, and when a shell sources it. */
export function zshCompletion(program: DescribedCommand): string {
  return `#compdef hickory
# Completion of hickory for zsh, made by \`hickory completion zsh\`.

${functionsOf(program).join('\n')}
if [ "$funcstack[1]" = _hickory ]; then _hickory "$@"; else compdef _hickory hickory; fi
`
}

/** One for each command that has commands, and one for each that has none. */
function functionsOf(command: DescribedCommand): string[] {
  const own = command.commands.length === 0 ? leafFunction(command) : groupFunction(command)
  return [...command.commands.flatMap(functionsOf), own]
}

function leafFunction(command: DescribedCommand): string {
  const specs = [...optionSpecs(command), ...command.operands.map(operandSpec)]
  return `${nameOf(command)}() {
  _arguments -S ${specs.map((spec) => `\\\n    ${quote(spec)}`).join(' ')}
}
`
}

function groupFunction(command: DescribedCommand): string {
  const listed = command.commands.map(
    (sub) => `    ${quote(`${sub.path.at(-1)}:${sub.description.replaceAll(':', '\\:')}`)}`,
  )
  const cases = command.commands.map((sub) => `      ${sub.path.at(-1)}) ${nameOf(sub)} ;;`)
  return `${nameOf(command)}() {
  local context state line
  typeset -A opt_args
  local -a commands=(
${listed.join('\n')}
  )
  _arguments -C ${optionSpecs(command)
    .map((spec) => `\\\n    ${quote(spec)}`)
    .join(' ')} \\
    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest) case $words[1] in
${cases.join('\n')}
    esac ;;
  esac
}
`
}

function nameOf({ path }: DescribedCommand): string {
  return `_${path.join('_')}`
}

function optionSpecs({ options }: DescribedCommand): string[] {
  return options.flatMap(({ flags, description, value }) =>
    flags.map((flag) => {
      const others = flags.length > 1 ? `(${flags.join(' ')})` : ''
      const taken = value === undefined ? '' : `${value.isOptional ? '::' : ':'}${valueSpec(value)}`
      const sign = value !== undefined && flag.startsWith('--') && !value.isOptional ? '=' : ''
      return `${others}${flag}${sign}[${bracketed(description)}]${taken}`
    }),
  )
}

function operandSpec(operand: DescribedOperand): string {
  if (operand.isRepeated) return `*:${valueSpec(operand)}`
  return `${operand.isRequired ? ':' : '::'}${valueSpec(operand)}`
}

/** The message and the action of `_arguments`. */
function valueSpec({
  placeholder,
  kind,
  choices,
}: NonNullable<DescribedOption['value']> | DescribedOperand): string {
  const message = placeholder.replaceAll(':', '\\:')
  if (choices.length > 0) return `${message}:(${choices.join(' ')})`
  return `${message}:${{ file: '_files', directory: '_files -/', other: ' ' }[kind]}`
}

function bracketed(text: string): string {
  return text.replace(/[[\]\\]/g, '\\$&')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
