/**
 * `sources.json`: the sources of a regular import.
 *
 * @module
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import Type, { type Static } from '#typebox'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Log } from '../../log.js'
import { literalPattern } from '../../sources/files/database.js'
import { fileFormats } from '../../sources/files/file-format.js'
import { STANDARD_INPUT } from '../../sources/files/input-paths.js'
import { completeUrl, hasPassword } from '../../sources/postgres/url.js'
import { parseNormalization } from '../../sources/rows/e164.js'
import { encodings } from '../../sources/text/encoding.js'
import { whyUnread } from '../../system-refusals.js'
import { validatorOf } from '../../validator.js'
import { parseWrittenJson } from '../../written-json.js'
import { defaultGuards, readGuards } from './guards.js'
import { checkLabel, type ImportSource, type SourceInput } from './source.js'

type Environment = Readonly<Record<string, string | undefined>>

const closed = { additionalProperties: false } as const
const Text = Type.String({ minLength: 1 })

const GuardSchemas = {
  maxRejected: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  maxShrink: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  minRows: Type.Optional(Type.Number()),
  within: Type.Optional(Type.Array(Type.Number())),
}

const SourceSchema = Type.Object(
  {
    id: Type.Integer({ minimum: 0, maximum: limits.sourceIdMax }),
    label: Type.Optional(Text),
    files: Type.Optional(Type.Array(Text, { minItems: 1 })),
    from: Type.Optional(Text),
    query: Type.Optional(Text),
    format: Type.Optional(Type.Union(fileFormats.map((format) => Type.Literal(format)))),
    columns: Type.Optional(
      Type.Object(
        {
          number: Type.Optional(Text),
          lat: Type.Optional(Text),
          lng: Type.Optional(Text),
          contact: Type.Optional(Text),
          key: Type.Optional(Text),
        },
        closed,
      ),
    ),
    encoding: Type.Optional(Type.Union(encodings.map((encoding) => Type.Literal(encoding)))),
    decimalComma: Type.Optional(Type.Boolean()),
    allowNullIsland: Type.Optional(Type.Boolean()),
    normalize: Type.Optional(Text),
    strict: Type.Optional(Type.Boolean()),
    allowEmpty: Type.Optional(Type.Boolean()),
    ...GuardSchemas,
  },
  closed,
)

const FileSchema = Type.Object(
  {
    sources: Type.Array(SourceSchema, { minItems: 1, maxItems: limits.sourceCount }),
    keep: Type.Optional(
      Type.Integer({ minimum: limits.snapshotCountMin, maximum: limits.snapshotCountMax }),
    ),
    ...GuardSchemas,
  },
  closed,
)

type FileSource = Static<typeof SourceSchema>

/** A list of sources. */
interface SourcesFile {
  readonly sources: Omit<ImportSource, 'guards'>[]
  /** How many snapshots stay. */
  readonly keep?: number
}

const validator = validatorOf(FileSchema)

/**
 * Reads the file; paths in it are relative to where it is, and `${NAME}` in an address is a variable.
 *
 * @throws OperatorError `Usage`, naming the file, the member and its value
 */
export function readSourcesFile(path: string, environment: Environment, log: Log): SourcesFile {
  const value = readJson(path)
  if (!validator.Check(value)) throw invalid(path, value)
  const { sources, keep } = value
  const seen = new Set<number>()
  for (const [index, { id }] of sources.entries()) {
    if (seen.has(id)) throw fault(path, `/sources/${index}/id`, `${id} is the id of another source`)
    seen.add(id)
  }
  if (sources.some(({ from }) => from !== undefined && holdsPassword(from)) && isOpen(path)) {
    log.warn({ file: path }, 'others can read this file with a password in it: chmod 600')
  }
  const guards = readGuards(value, (name) => `${path}: /${name}`, defaultGuards)
  const read = sources.map((source, index) => ({
    id: source.id,
    label:
      source.label === undefined
        ? undefined
        : checkLabel(source.label, `${path}: /sources/${index}/label`),
    input: inputOf(path, `/sources/${index}`, source, environment),
    columns: source.columns ?? {},
    rowOptions: {
      hasDecimalComma: source.decimalComma === true,
      allowsNullIsland: source.allowNullIsland === true,
      e164Region:
        source.normalize === undefined
          ? undefined
          : parseNormalization(source.normalize, `${path}: /sources/${index}/normalize`),
    },
    isStrict: source.strict === true,
    mayBeEmpty: source.allowEmpty === true,
    policy: readGuards(source, (name) => `${path}: /sources/${index}/${name}`, guards),
  }))
  return { sources: read, ...(keep !== undefined && { keep }) }
}

function readJson(path: string): unknown {
  let text: string
  try {
    if (statSync(path).size > limits.sourcesFileBytes) {
      throw new OperatorError('Usage', `${path} has more than ${limits.sourcesFileBytes} bytes`)
    }
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof OperatorError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw absent(path)
    throw new OperatorError('Usage', `${path} ${whyUnread(error)}`, { cause: error })
  }
  try {
    return parseWrittenJson(path, text)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    // Its message may quote the file, and so a password.
    const position = /at position ([0-9]+)/.exec((error as Error).message)?.[1]
    const line = position === undefined ? '' : ` in line ${lineOf(text, Number(position))}`
    throw new OperatorError('Usage', `${path} is not JSON${line}`)
  }
}

function absent(path: string): OperatorError {
  return new OperatorError(
    'Usage',
    `${path} does not exist, and --all reads the list of sources from it: write it as ` +
      '`hickory import --help` shows, or name another one (--all FILE)',
  )
}

function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length
}

const VALUE_CHAR_COUNT = 60

function invalid(path: string, value: unknown): OperatorError {
  const [error] = validator.Errors(value)
  const at = error?.instancePath ?? ''
  // The closed objects of the schema are checked member by member.
  if (error?.keyword === 'boolean') return fault(path, at, 'is not known')
  const found = at.split('/').slice(1).reduce(memberOf, value)
  // An address may hold a password.
  const isAddress = at.endsWith('/from') || String(found).includes('://')
  const isShown = ['string', 'number', 'boolean'].includes(typeof found) && !isAddress
  const shown = isShown ? `, not ${JSON.stringify(found).slice(0, VALUE_CHAR_COUNT)}` : ''
  const rule = at.endsWith('/format')
    ? `must be one of ${fileFormats.join(', ')}`
    : at.endsWith('/encoding')
      ? `must be one of ${encodings.join(', ')}`
      : ruleIn(error)
  return fault(path, at === '' ? 'the file' : at, `${rule}${shown}`)
}

/** In words, what the checker of the schema says in those of the schema. */
function ruleIn(error: ReturnType<typeof validator.Errors>[number] | undefined): string {
  switch (error?.keyword) {
    case 'required': {
      const lacking = error.params.requiredProperties.map((name) => JSON.stringify(name))
      return `lacks ${lacking.join(' and ')}: write it as \`hickory import --help\` shows`
    }
    case 'type':
      return `must be ${TYPE_WORDS[String(error.params.type)] ?? error.params.type}`
    case 'minItems':
      return 'must not be empty'
    case 'maxItems':
      return `must have ${error.params.limit} entries at most`
    case 'minLength':
      return 'must not be an empty text'
    default:
      return error?.message ?? 'is not as it must be'
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  object: 'an object, as `hickory import --help` shows',
  array: 'a list, in brackets',
  string: 'a text, in quotation marks',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined
}

function inputOf(
  path: string,
  at: string,
  { files, from, query, format, encoding }: FileSource,
  environment: Environment,
): SourceInput {
  if ((files === undefined) === (from === undefined)) {
    throw fault(path, at, 'needs either "files" or "from" with "query"')
  }
  if (files !== undefined) {
    if (query !== undefined) throw fault(path, `${at}/query`, 'goes with "from"')
    const standardInput = files.indexOf(STANDARD_INPUT)
    if (standardInput !== -1) {
      throw fault(path, `${at}/files/${standardInput}`, 'must be a file, not standard input')
    }
    const address = files.findIndex((file) => file.includes('://'))
    if (address !== -1) {
      throw fault(path, `${at}/files/${address}`, 'is an address: that of a database is "from"')
    }
    const directory = dirname(resolve(path))
    return { patterns: files.map((file) => patternOf(directory, file)), format, encoding }
  }
  if (query === undefined) throw fault(path, at, 'has "from" and needs "query"')
  if (format !== undefined) throw fault(path, `${at}/format`, 'goes with "files"')
  if (encoding !== undefined) throw fault(path, `${at}/encoding`, 'goes with "files"')
  try {
    const url = fillIn(from ?? '', environment)
    return { url: completeUrl(url, environment), query }
  } catch (error) {
    if (error instanceof OperatorError) throw fault(path, `${at}/from`, error.message)
    throw error
  }
}

/** Only what stands in the list can be a pattern, not the directory that the list is in. */
function patternOf(directory: string, file: string): string {
  const path = resolve(directory, file)
  return existsSync(path) ? path : resolve(literalPattern(directory), file)
}

/** Behind the name of a parameter. */
const PARAMETER_VALUE = /[?&][a-z]+=[^&]*$/

/** Variables in a user's name or password, or a parameter, may have any characters, so they are encoded. */
function fillIn(from: string, environment: Environment): string {
  const hostStart = from.lastIndexOf('@')
  return from.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string, offset: number) => {
    const value = environment[name]
    if (value === undefined) {
      throw new OperatorError('Usage', `the variable ${name} is not set`)
    }
    const isValue = offset < hostStart || PARAMETER_VALUE.test(from.slice(0, offset))
    return isValue ? encodeURIComponent(value) : value
  })
}

function holdsPassword(from: string): boolean {
  // A variable may stand for a part or for all of it.
  const withoutVariables = from.replace(/\$\{[A-Za-z_][A-Za-z0-9_]*\}/g, '')
  try {
    return hasPassword(withoutVariables)
  } catch {
    return false
  }
}

function isOpen(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
}

function fault(path: string, at: string, what: string): OperatorError {
  return new OperatorError('Usage', `${path}: ${at} ${what}`)
}
