/**
 * Prints the folder of a release of Node.js, for PATH:
 *
 *   PATH="$(npm run --silent test:node -- 22):$PATH" npm run test:all
 *
 * @module
 */
import { folderOfNode } from './releases.js'

try {
  process.stdout.write(`${await folderOfNode(process.argv[2] ?? '')}\n`)
} catch (error) {
  process.stderr.write(`test:node: ${(error as Error).message}\n`)
  process.exitCode = 1
}
