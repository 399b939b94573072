/**
 * The routes of recipient requests.
 *
 * @module
 */
import { negotiate } from '../format/negotiate.js'
import { operations } from '../interface/operations.js'
import { answer, type SelectionService } from '../selection/answer.js'
import type { Handler } from './request.js'
import type { Route } from './router.js'

export function recipientRoutes(service: SelectionService): Route<Handler>[] {
  const select: Handler = async (request, reply) => {
    const format = negotiate({
      suffix: request.suffix,
      query: request.query,
      accept: request.header('accept'),
    })
    await answer(service, await request.body(), format, reply)
  }
  return operations.RecipientRequest.paths.map((path) => ({ path, methods: { POST: select } }))
}
