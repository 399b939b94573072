/**
 * What imports are disturbed on: data directories in a known state, and what they may hold after.
 *
 * @module
 */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contentOf, type Expected, snapshotDigests } from './content.js'
import { type Import, runImport } from './trace.js'

/** An import into a copy of `base`. */
export interface Scenario {
  readonly name: string
  readonly base: string
  readonly inputArgs: readonly string[]
  readonly expected: Expected
  /** Whether links fail, so that what is carried over is copied. */
  readonly isWithoutLinks: boolean
}

/** A data directory of its own for one import. */
export interface Place {
  readonly directory: string
  readonly data: string
  readonly import: Import
  remove(): void
}

export interface Stage {
  /** Into three snapshots of three sources: five shards take the place of four. */
  readonly replace: Scenario
  /** The same where no file can be linked. */
  readonly copies: Scenario
  /** Into a directory that is not there yet. */
  readonly first: Scenario
  /** Back to what `replace` replaced. */
  readonly back: Scenario
}

const SHARD_RECIPIENT_COUNT = 500

/** Makes everything below `directory` by imports that nobody disturbs. */
export async function prepareStage(directory: string): Promise<Stage> {
  // As the kernel names them, since calls are found by their paths.
  const root = realpathSync(directory)
  const rows = (shardCount: number, seed: number) => {
    const path = join(root, `rows-${shardCount}-${seed}.csv`)
    writeFileSync(path, csv(shardCount * SHARD_RECIPIENT_COUNT - 100, seed))
    return path
  }
  const [others, old, next] = [rows(2, 1), rows(4, 2), rows(5, 3)]
  const source = (id: number, path: string) => [
    ...['--source', `${id}`, '--label', `Source ${id}`],
    ...['--max-rejected', '100%', '--max-shrink', '100%'],
    path,
  ]
  const importInto = async (data: string, inputArgs: readonly string[]) => {
    const end = await runImport(importOf(data, inputArgs, root))
    if (end.code !== 0) throw new Error(`an import ended with ${end.code}: ${end.stderr}`)
    return contentOf(data)
  }

  const base = join(root, 'base')
  const older = [
    await importInto(base, source(2, others)),
    await importInto(base, source(3, others)),
  ]
  const before = await importInto(base, source(1, old))
  const changed = join(root, 'changed')
  cpSync(base, changed, { recursive: true })
  const after = await importInto(changed, source(1, next))
  const only = await importInto(join(root, 'only'), source(1, next))

  const nowhere = join(root, 'nowhere')
  mkdirSync(nowhere)
  const known = [...older, before, after]
  const given = snapshotDigests(base)
  const replace = {
    name: 'replace',
    base,
    inputArgs: source(1, next),
    expected: { known, given, before, after },
    isWithoutLinks: false,
  }
  return {
    replace,
    copies: { ...replace, name: 'copies', isWithoutLinks: true },
    back: {
      ...replace,
      name: 'back',
      inputArgs: source(1, old),
      expected: { known, given, before: after, after: before },
    },
    first: {
      name: 'first',
      base: nowhere,
      inputArgs: source(1, next),
      expected: { known: [only], given: new Map(), before: undefined, after: only },
      isWithoutLinks: false,
    },
  }
}

/**
 * Copies the data directory of a scenario to a place of its own.
 *
 * @param beside  where it is made; beside the directory that is copied unless given
 */
export function placeFor(scenario: Scenario, beside = scenario.base): Place {
  const directory = mkdtempSync(`${beside}-`)
  const data = join(directory, 'data')
  cpSync(scenario.base, data, { recursive: true })
  return {
    directory,
    data,
    import: importFor(scenario, directory),
    remove: () => rmSync(directory, { recursive: true }),
  }
}

/** Does `work` in a place of its own; returns what went wrong, with what was done. */
export async function inPlace(
  scenario: Scenario,
  what: string,
  work: (place: Place) => Promise<void>,
): Promise<string | undefined> {
  const place = placeFor(scenario)
  try {
    await work(place)
    return undefined
  } catch (error) {
    return `${scenario.name}, ${what}: ${(error as Error).message}`
  } finally {
    place.remove()
  }
}

/** The import of a scenario into the data directory below `directory`. */
export function importFor({ inputArgs, isWithoutLinks }: Scenario, directory: string): Import {
  return { ...importOf(join(directory, 'data'), inputArgs, directory), isWithoutLinks }
}

function importOf(data: string, inputArgs: readonly string[], directory: string): Import {
  const temporaryDirectory = join(directory, 'temporary')
  mkdirSync(temporaryDirectory, { recursive: true })
  return { args: ['--data', data, ...inputArgs], temporaryDirectory }
}

/** Phones that nobody has, at places that differ with the seed. */
function csv(rowCount: number, seed: number): string {
  const rows = Array.from({ length: rowCount }, (_, row) => {
    const lng = ((row * 7919 * seed) % 360_000) / 1_000 - 180
    const lat = ((row * 104_729 * seed) % 170_000) / 1_000 - 85
    return `+999${seed}${String(row).padStart(7, '0')},${lat},${lng},c${row >> 1}\n`
  })
  return `number,lat,lng,contact\n${rows.join('')}`
}
