/**
 * The page of the manual, hickory(1), in the macros of man(7). It is made from the commands themselves, and from
 * the table of exit codes in the documentation.
 *
 * @module
 */
import type { DescribedCommand, DescribedOperand, DescribedOption } from '../commands/described.js'

interface PageFacts {
  readonly version: string
  /** Of the page, in seconds since 1970. */
  readonly timeS: number
  /** `docs/errors.md`. */
  readonly errorsText: string
}

/** @throws Error  when there are no exit codes in the text */
export function manPage(
  program: DescribedCommand,
  { version, timeS, errorsText }: PageFacts,
): string {
  const date = new Date(1000 * timeS).toISOString().slice(0, 10)
  const lines = [
    `.TH HICKORY 1 "${date}" "Hickory ${version}" "User Commands"`,
    '.SH NAME',
    'hickory \\- recipient selection for emergency alerting: who is inside this shape, exactly, now?',
    '.SH SYNOPSIS',
    ...program.commands.flatMap(synopsisOf),
    '.SH DESCRIPTION',
    roff(
      'Hickory imports files of recipients with positions into snapshots, and serves them over HTTP. A ' +
        'request draws a shape; the answer counts or lists everybody who is inside.',
    ),
    '.SH COMMANDS',
    ...program.commands.flatMap(commandText),
    '.SH ENVIRONMENT',
    roff(
      'Settings of the service come from flags, from variables, whose names are beside the flags, and from ' +
        'the file of --config, in this order.',
    ),
    '.SH FILES',
    ...entry('/etc/hickory/hickory.json', 'settings of the service that systemd starts'),
    ...entry(
      '/etc/hickory/sources-NAME.json',
      'what hickory-import@NAME.timer imports every night',
    ),
    ...entry('/var/lib/hickory', 'snapshots of recipients, and what clients stored'),
    '.SH EXIT STATUS',
    ...entry('0', 'all is well'),
    ...exitCodesOf(errorsText),
    '.SH SEE ALSO',
    roff(
      'The documentation is in the folder docs of the package: /usr/lib/hickory/package/docs on Debian.',
    ),
  ]
  return `${lines.join('\n')}\n`
}

function synopsisOf(command: DescribedCommand): string[] {
  if (command.commands.length > 0) return command.commands.flatMap(synopsisOf)
  const operands = command.operands.map(operandText).join(' ')
  return [`.B ${roff(command.path.join(' '))}`, roff(`[options] ${operands}`.trim()), '.br']
}

function operandText({ placeholder, isRequired, isRepeated }: DescribedOperand): string {
  const name = isRepeated ? `${placeholder}...` : placeholder
  return isRequired ? name : `[${name}]`
}

/** A command with its own commands behind it. */
function commandText(command: DescribedCommand): string[] {
  return [
    `.SS ${roff(command.path.join(' '))}`,
    roff(command.description),
    ...command.operands.flatMap(({ placeholder, description }) => entry(placeholder, description)),
    ...command.options.flatMap(optionText),
    ...(command.helpTail === '' ? [] : ['.PP', '.nf', roff(command.helpTail), '.fi']),
    ...command.commands.flatMap(commandText),
  ]
}

function optionText({ flags, value, description, defaultText }: DescribedOption): string[] {
  const shown = value?.isOptional ? ` [${value.placeholder}]` : value ? ` ${value.placeholder}` : ''
  const choices = value?.choices.length ? ` One of ${value.choices.join(', ')}.` : ''
  const usual = defaultText === undefined ? '' : ` Default: ${defaultText}.`
  return entry(`${flags.join(', ')}${shown}`, `${description}.${choices}${usual}`)
}

function exitCodesOf(errorsText: string): string[] {
  const rows = [...errorsText.matchAll(/^\| `\w+` \| (\d{1,2}) \| (.+?) \|/gm)]
  if (rows.length === 0) throw new Error('the documentation has no exit codes')
  return rows.flatMap(([, code, when]) => entry(code, withoutMarks(when)))
}

/** Links and code of Markdown, as they read. */
function withoutMarks(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '')
}

function entry(term: string, text: string): string[] {
  return ['.TP', `.B ${roff(term)}`, roff(text)]
}

/** Nothing in the text is taken for a request, an escape or a typographic sign. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('`', '\\(ga')
    .replaceAll("'", '\\(aq')
    .replaceAll('"', '\\(dq')
    .replace(/^\./gm, '\\&.')
    .replace(/[^\n -~]/gu, (sign) => `\\[u${hex(sign)}]`)
}

function hex(sign: string): string {
  return (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}
