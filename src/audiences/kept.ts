/**
 * The audiences that a thread has in memory: those that were read last, with their runs and with who of
 * them is suppressed. The files stay what counts: one that is no longer there is unknown.
 *
 * @module
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../limits.js'
import { type AudienceName, audiencesDirectory } from '../snapshot/retention/audience-names.js'
import { withAudience } from './directory.js'
import { type AudienceHeader, readAudienceRuns } from './file.js'
import { partsOf } from './parts.js'
import type { SuppressibleAudience } from './suppressed.js'

export interface KeptAudience extends SuppressibleAudience {
  readonly name: AudienceName
  /** While somebody looks who is suppressed. */
  looking: Promise<void> | undefined
}

export class KeptAudiences {
  readonly #dataDirectory: string
  /** By id, the one that was used last at the end. */
  readonly #kept = new Map<string, KeptAudience>()

  readonly #versionOf: (header: AudienceHeader) => number

  /** @param versionOf  up to which change to the suppression lists nobody of an audience is suppressed */
  constructor(dataDirectory: string, versionOf: (header: AudienceHeader) => number) {
    this.#dataDirectory = dataDirectory
    this.#versionOf = versionOf
  }

  /** One that is in memory, and whose file is still there. */
  async known(id: string): Promise<KeptAudience | undefined> {
    const audience = this.#kept.get(id)
    if (audience === undefined) return undefined
    const path = join(audiencesDirectory(this.#dataDirectory), audience.name.name)
    const isThere = await stat(path).catch(() => undefined)
    if (isThere === undefined || audience.name.expiresMs <= Date.now()) {
      this.#kept.delete(id)
      return undefined
    }
    return this.#used(audience)
  }

  /**
   * Reads one.
   *
   * @returns undefined where it is not there any more
   * @throws FormatFault
   */
  async read(name: AudienceName): Promise<KeptAudience | undefined> {
    const read = await withAudience(
      this.#dataDirectory,
      name,
      async (file, header, imageStart) => ({
        header,
        runs: await readAudienceRuns(file, header, imageStart),
      }),
    )
    if (read === undefined) return undefined
    // Another request may have read it meanwhile.
    const known = this.#kept.get(name.id)
    if (known !== undefined) return this.#used(known)
    const { header, runs } = read
    const parts = partsOf(name, header, runs)
    return this.#used({
      name,
      header,
      parts,
      suppressed: parts.map(() => NOBODY),
      version: this.#versionOf(header),
      looking: undefined,
    })
  }

  forget(id: string): void {
    this.#kept.delete(id)
  }

  #used(audience: KeptAudience): KeptAudience {
    const { id } = audience.name
    this.#kept.delete(id)
    this.#kept.set(id, audience)
    let byteLength = 0
    for (const each of this.#kept.values()) byteLength += bytesOf(each)
    for (const [oldest, each] of this.#kept) {
      const hasRoom =
        byteLength <= limits.audiencesKeptBytes && this.#kept.size <= limits.audiencesKeptCount
      if (hasRoom || oldest === id) break
      byteLength -= bytesOf(each)
      this.#kept.delete(oldest)
    }
    return audience
  }
}

const NOBODY = new Uint32Array(0)

function bytesOf({ header, suppressed }: KeptAudience): number {
  return header.imageBytes + suppressed.reduce((sum, runs) => sum + runs.byteLength, 0)
}
