/**
 * The text of `hickory import --help` below the options.
 *
 * @module
 */
export const importHelp = `
Files are CSV (UTF-8, with a header, and fields separated by comma, semicolon, tab or bar), NDJSON,
Parquet or GeoJSON points, plain, gzip or zstd. The import finds columns by their names, such as number,
lat, lng and contact in any letter case; --dry-run shows the columns that it chose. Recipients with the
same contact are one contact. Recipients without a contact are one contact if they have the same number.

A query is one SELECT, read in a read-only transaction. A column of PostGIS points may replace latitude
and longitude. The password comes from PGPASSWORD, ~/.pgpass or the URL. sslmode in the URL decides on
TLS (disable, allow, prefer, require, verify-ca, verify-full).

The import leaves out unusable rows and counts them by reason. It never changes the snapshot that is
served. The new snapshot takes its place when it is complete and verified, or not at all. The exit code
is 0 only if everything was published, and 10 if --keep-going left sources out. An import runs at a low
priority (nice 10), so a service on the same machine goes first.

--all reads {"sources": [{"id": 1, "label": "Residents", "files": ["residents-*.csv.gz"]},
{"id": 2, "from": "postgres://reader:\${DB_PASSWORD}@db/people", "query": "select …"}]}; a source may
have "format", "columns": {"number": "phone"}, "strict" and "allowEmpty". If one source fails, all
fail, unless --keep-going is given.

Examples:
  $ hickory import --data ./data/local --source 1 --label Residents residents.csv.gz
  $ hickory import --source 1 --dry-run 20 --number phone --lat y --lng x residents.parquet
  $ hickory import --source 2 --label Members --from 'postgres://reader@db/people?sslmode=verify-full' \\
      --query 'select phone as number, geom, household as contact from members'
  $ unzip -p residents.zip | hickory import --source 1 --format csv -
  $ hickory import --data /var/lib/hickory --all --keep-going
`
