/**
 * Certificates for tests, made by openssl.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Paths of a certificate and its key, in PEM. */
export interface Certificate {
  readonly certificate: string
  readonly key: string
}

/** Signs what it issues. Files are named in its directory. */
export interface Authority extends Certificate {
  issue(name: string, options?: IssueOptions): Certificate
}

interface IssueOptions {
  /** Names and addresses that it is valid for, as openssl writes them. */
  readonly names?: string
  /** `serverAuth` or `clientAuth`. */
  readonly usage?: string
  /** In days from now. */
  readonly fromDays?: number
  readonly toDays?: number
}

/** @param name  of files, and the common name of the subject */
export function createAuthority(directory: string, name: string): Authority {
  const key = newKey(directory, name)
  const certificate = join(directory, `${name}.pem`)
  openssl(
    'req',
    '-x509',
    '-new',
    '-key',
    key,
    '-days',
    '30',
    '-subj',
    `/CN=${name}`,
    '-out',
    certificate,
  )
  return {
    certificate,
    key,
    issue: (issued, options = {}) => issue(directory, { certificate, key }, issued, options),
  }
}

/** As clients name a certificate to those that let them in: its SHA-256 in hexadecimal. */
export function fingerprintOf({ certificate }: Certificate): string {
  const { fingerprint256 } = new X509Certificate(readFileSync(certificate))
  return fingerprint256.replaceAll(':', '').toLowerCase()
}

/** @returns what it wrote to standard output */
export function openssl(...args: string[]): string {
  return execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** @returns the path of a key that only this user may read */
export function newKey(directory: string, name: string): string {
  const path = join(directory, `${name}.key`)
  // openssl would make a file that others may not read, too, but only of a new one.
  writeFileSync(path, '', { mode: 0o600 })
  openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', path)
  return path
}

function issue(
  directory: string,
  authority: Certificate,
  name: string,
  {
    names = 'DNS:localhost,IP:127.0.0.1',
    usage = 'serverAuth',
    fromDays = -1,
    toDays = 30,
  }: IssueOptions,
): Certificate {
  const key = newKey(directory, name)
  const certificate = join(directory, `${name}.pem`)
  const request = join(directory, `${name}.csr`)
  const config = join(directory, `${name}.cnf`)
  writeFileSync(join(directory, `${name}.index`), '')
  writeFileSync(
    config,
    `[ca]
default_ca = authority
[authority]
new_certs_dir = ${directory}
database = ${join(directory, `${name}.index`)}
rand_serial = yes
default_md = sha256
policy = policy
x509_extensions = extensions
[policy]
commonName = supplied
[extensions]
basicConstraints = CA:FALSE
extendedKeyUsage = ${usage}
subjectAltName = ${names}
`,
  )
  openssl('req', '-new', '-key', key, '-subj', `/CN=${name}`, '-out', request)
  const { certificate: issuer, key: issuerKey } = authority
  const dates = ['-startdate', dateIn(fromDays), '-enddate', dateIn(toDays)]
  const io = ['-in', request, '-out', certificate, '-cert', issuer, '-keyfile', issuerKey]
  openssl('ca', '-batch', '-notext', '-config', config, ...dates, ...io)
  return { certificate, key }
}

/** As openssl reads dates. */
function dateIn(days: number): string {
  const date = new Date(Date.now() + days * 86_400_000).toISOString()
  return `${date.replace(/[-:T]/g, '').slice(0, 14)}Z`
}
