/**
 * What makes bash complete the commands. It needs bash 4.4 and nothing else: the package bash-completion
 * may be there or not.
 *
 * @module
 */
import type { DescribedCommand, DescribedOption } from '../described.js'

export function bashCompletion(program: DescribedCommand): string {
  const commands = all(program)
  return `# Completion of hickory for bash, made by \`hickory completion bash\`.

# What may follow a command, by its path.
__hickory_words() {
  case $1 in
${commands.map((command) => `    '${keyOf(command)}') echo ${quote(wordsOf(command))} ;;`).join('\n')}
  esac
}

# What kind of value a flag takes, by the path of the command and the flag: \`file\`, \`directory\`, the values
# themselves, or \`-\`. A question mark in front says that it may be left out.
__hickory_value() {
  case $1 in
${commands.flatMap(valueCases).join('\n')}
  esac
}

# What kind of operand a command takes.
__hickory_operand() {
  case $1 in
${commands.flatMap(operandCase).join('\n')}
  esac
}

_hickory() {
  local current=\${COMP_WORDS[COMP_CWORD]} path=hickory kind='' ended='' operands='' word i
  # In --flag=value, bash makes the sign a word of its own.
  [[ $current == '=' ]] && current=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $kind ]]; then
      [[ $word == '=' ]] && continue
      if [[ $kind != '?'* || $word != -* ]]; then kind=''; continue; fi
      kind=''
    fi
    if [[ -n $ended ]]; then operands=yes
    elif [[ $word == -- ]]; then ended=yes
    elif [[ $word == -* ]]; then kind=$(__hickory_value "$path $word")
    elif [[ -z $operands && -n $(__hickory_words "$path $word") ]]; then path+=" $word"
    else operands=yes
    fi
  done
  COMPREPLY=()
  if [[ $kind == '?'* && $current == -* ]]; then kind=''; fi
  if [[ -z $kind ]]; then
    if [[ -z $ended && $current == -* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$(__hickory_words "$path" | tr ' ' '\\n' | grep '^-')" -- "$current")
      return
    fi
    kind=$(__hickory_operand "$path")
    if [[ -z $kind ]]; then
      [[ -n $operands ]] || mapfile -t COMPREPLY < <(compgen -W "$(__hickory_words "$path")" -- "$current")
      return
    fi
  fi
  case \${kind#'?'} in
    file) compopt -o default ;;
    directory) compopt -o dirnames ;;
    -) ;;
    *) mapfile -t COMPREPLY < <(compgen -W "\${kind#'?'}" -- "$current") ;;
  esac
}

complete -F _hickory hickory
`
}

function all(command: DescribedCommand): DescribedCommand[] {
  return [command, ...command.commands.flatMap(all)]
}

function keyOf({ path }: DescribedCommand): string {
  return path.join(' ')
}

function wordsOf({ commands, options }: DescribedCommand): string {
  const names = commands.map(({ path }) => path.at(-1))
  return [...names, ...options.flatMap(({ flags }) => flags)].join(' ')
}

function valueCases(command: DescribedCommand): string[] {
  return command.options.flatMap((option) => {
    const kind = kindOf(option.value)
    if (kind === undefined) return []
    const mark = option.value?.isOptional === true ? '?' : ''
    const patterns = option.flags.map((flag) => `'${keyOf(command)} ${flag}'`)
    return [`    ${patterns.join(' | ')}) echo ${quote(mark + kind)} ;;`]
  })
}

function operandCase(command: DescribedCommand): string[] {
  // A command takes one kind of operand, but for a name in front of files.
  const kind = kindOf(command.operands.at(-1))
  return kind === undefined ? [] : [`    '${keyOf(command)}') echo ${quote(kind)} ;;`]
}

function kindOf(
  value: Pick<NonNullable<DescribedOption['value']>, 'kind' | 'choices'> | undefined,
): string | undefined {
  if (value === undefined) return undefined
  if (value.choices.length > 0) return value.choices.join(' ')
  return value.kind === 'other' ? '-' : value.kind
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
