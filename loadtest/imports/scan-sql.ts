/**
 * The query that merely reads a CSV file.
 *
 * @module
 */

/** Every column is read, as what it is, on all cores; what comes of it is one row. */
export function scanSql(path: string): string {
  const columns = "{'number': 'VARCHAR', 'lat': 'DOUBLE', 'lng': 'DOUBLE', 'contact': 'VARCHAR'}"
  return (
    'SELECT count(*), max(number), sum(lat), sum(lng), max(contact) ' +
    `FROM read_csv('${path.replaceAll("'", "''")}', header = true, columns = ${columns})`
  )
}
