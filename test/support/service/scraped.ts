/**
 * Scrapes of a service, in tests.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from './hickory.js'

/** Opens the admin listener on any free port. */
export const ADMIN = ['--admin-port', '0'] as const

export interface Scraped {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Such as `http://127.0.0.1:41235`; the log tells it. */
export function adminUrlOf(service: Pick<Service, 'output'>): string {
  const port = /"port":(\d+),"msg":"admin requests are answered"/.exec(service.output().stderr)?.[1]
  if (port === undefined) throw new Error('there is no admin listener')
  return `http://127.0.0.1:${port}`
}

/** All samples of the text format. */
export async function scrape(service: Pick<Service, 'output'>): Promise<readonly Scraped[]> {
  const answer = await fetch(`${adminUrlOf(service)}/metrics`)
  if (answer.status !== 200) throw new Error(`a scrape was answered ${answer.status}`)
  const lines = (await answer.text()).split('\n').filter((line) => /^[^#]/.test(line))
  return lines.map((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === undefined) throw new Error(`this is no sample: ${line}`)
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
    return {
      name,
      labels: Object.fromEntries(pairs.map(([, label, text]) => [label, text])),
      value: Number(value.replace('+Inf', 'Infinity')),
    }
  })
}

/** Of all samples with this name and, among others, these labels. */
export function sumOf(
  samples: readonly Scraped[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const wanted = Object.entries(labels)
  return samples
    .filter(
      (each) => each.name === name && wanted.every(([key, value]) => each.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0)
}

/** The first scrape, not the one that is kept from before, in which a metric has this value. */
export async function untilSame(
  service: Pick<Service, 'output'>,
  name: string,
  value: number,
): Promise<readonly Scraped[]> {
  for (let round = 0; round < 100; round++) {
    await sleep(KEPT_MS)
    const samples = await scrape(service)
    if (sumOf(samples, name) === value) return samples
  }
  throw new Error(`${name} did not become ${value}`)
}

/** Longer than a scrape is given to others. */
const KEPT_MS = 300
