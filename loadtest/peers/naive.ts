/**
 * The naive server: Fastify in one process, KDBush, point-in-polygon-hao and JSON.stringify.
 *
 *   node dist/loadtest/peers/naive.js --csv FILE
 *
 * @module
 */
import { parseArgs } from 'node:util'
import { fastify } from 'fastify'
import { limits } from '../../src/limits.js'
import { type NaiveRequest, naiveAnswer } from './naive-answer.js'
import { readNaiveRecipients } from './naive-recipients.js'

const { values } = parseArgs({ options: { csv: { type: 'string', default: '' } } })
const recipients = await readNaiveRecipients(values.csv)

const server = fastify({ bodyLimit: limits.bodyBytes })
server.post('/api/recipients', async (request) =>
  naiveAnswer(recipients, request.body as NaiveRequest),
)
const address = await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`naive answers at ${address}\n`)

// Whoever started it is gone when its end of the pipe is.
process.stdin.on('end', () => process.exit()).resume()
