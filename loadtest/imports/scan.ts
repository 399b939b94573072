/**
 * DuckDB merely reading a CSV file: what an import is compared with.
 *
 *   node scan.js FILE RESULT
 *
 * writes the milliseconds of the query, without the start of the process, to the file RESULT.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { DuckDBInstance } from '@duckdb/node-api'
import { scanSql } from './scan-sql.js'

const [path, resultPath] = process.argv.slice(2)
const instance = await DuckDBInstance.create(':memory:', { threads: `${availableParallelism()}` })
const connection = await instance.connect()
const startedMs = performance.now()
await connection.runAndReadAll(scanSql(path))
writeFileSync(resultPath, `${performance.now() - startedMs}`)
