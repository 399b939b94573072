/**
 * What `hickory import --help` says below its options.
 *
 * @module
 */
export const importHelp = `
Files are CSV (a header, fields separated by comma, semicolon, tab or bar, UTF-8), NDJSON, Parquet or
GeoJSON points, plain, gzip or zstd. Columns are found by their names, such as number, lat, lng and
contact in any case; --dry-run shows which were chosen. Recipients with the same contact are one
contact; without one, those with the same number.

A query is one SELECT, read in a transaction that changes nothing. A column of PostGIS points may stand
for latitude and longitude. A password is taken from PGPASSWORD, ~/.pgpass or the URL; TLS is as
sslmode in the URL says (disable, allow, prefer, require, verify-ca, verify-full).

Rows that cannot be used are left out and counted by reason. The snapshot that is being served is
never changed: the new one takes its place when it is complete and verified, or not at all. The exit
code is 0 only if everything was published, and 10 if --keep-going left sources out. An import runs
at a low priority (nice 10), so that a service on the same machine goes first.

--all reads {"sources": [{"id": 1, "label": "Residents", "files": ["residents-*.csv.gz"]},
{"id": 2, "from": "postgres://reader:\${DB_PASSWORD}@db/people", "query": "select …"}]}; a source may
have "format", "columns": {"number": "phone"}, "strict" and "allowEmpty". One source that fails
fails all, unless --keep-going.

Examples:
  $ hickory import --data ./data/local --source 1 --label Residents residents.csv.gz
  $ hickory import --source 1 --dry-run 20 --number phone --lat y --lng x residents.parquet
  $ hickory import --source 2 --label Members --from 'postgres://reader@db/people?sslmode=verify-full' \\
      --query 'select phone as number, geom, household as contact from members'
  $ unzip -p residents.zip | hickory import --source 1 --format csv -
  $ hickory import --data /var/lib/hickory --all --keep-going
`
