/**
 * Sends one known request.
 *
 * @module
 */
import http from 'k6/http'
import type { SeenAnswer } from './answers.js'
import { recipientsUrl } from './settings.js'

export function ask(body: string): SeenAnswer {
  const response = http.post(recipientsUrl, body, {
    headers: { 'Content-Type': 'application/json' },
    timeout: '15s',
    responseType: 'text',
  })
  const text = typeof response.body === 'string' ? response.body : ''
  return { status: response.status, headers: response.headers, body: text }
}
