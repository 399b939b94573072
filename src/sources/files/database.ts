/**
 * DuckDB, for as long as an import reads: in memory, without a directory to spill to, and with no
 * way to any file but those that were named.
 *
 * @module
 */
import { resolve } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

/**
 * For the buffers of the scan, and for the rejected records with their lines. A file of
 * nothing but rejected records may not fit, and is refused then.
 */
const MEMORY_LIMIT = '2GiB'

/** Calls `use` with a connection that can read these files and nothing else, and closes it. */
export async function withDatabase<Result>(
  paths: readonly string[],
  use: (connection: DuckDBConnection) => Promise<Result>,
): Promise<Result> {
  const { connection, close } = await openDatabase(paths)
  try {
    return await use(connection)
  } finally {
    close()
  }
}

interface OpenDatabase {
  readonly connection: DuckDBConnection
  close(): void
}

/** The same for who cannot wait for the end of a call. */
export async function openDatabase(paths: readonly string[]): Promise<OpenDatabase> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const close = () => {
    connection.closeSync()
    instance.closeSync()
  }
  try {
    // The pattern that stands for a path is looked up in this list, too.
    const allowed = paths.flatMap((path) => [quote(resolve(path)), sqlPath(path)])
    for (const setting of [
      `memory_limit = '${MEMORY_LIMIT}'`,
      `temp_directory = ''`,
      'preserve_insertion_order = true',
      // Rows that are ready before they are asked for: with less, the other threads often wait.
      `streaming_buffer_size = '16MiB'`,
      'autoinstall_known_extensions = false',
      'autoload_known_extensions = false',
      `allowed_paths = [${allowed.join(', ')}]`,
      'enable_external_access = false',
      'lock_configuration = true',
    ]) {
      await connection.run(`SET ${setting}`)
    }
    return { connection, close }
  } catch (error) {
    close()
    throw error
  }
}

/** A path as an SQL literal for read_csv, which takes it for a pattern. */
export function sqlPath(path: string): string {
  return quote(literalPattern(resolve(path)))
}

/** The pattern that matches this path and nothing else. */
export function literalPattern(path: string): string {
  return path.replace(/[[*?]/g, '[$&]')
}

/** A text as an SQL literal. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
