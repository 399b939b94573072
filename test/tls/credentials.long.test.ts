/**
 * What is wrong with files of certificates and keys, and what is said of it.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { readCredentials, validityFault } from '../../src/tls/credentials.js'
import { createAuthority, newKey, openssl } from '../support/service/certificates.js'

const directory = mkdtempSync(join(tmpdir(), 'hickory-credentials-'))
t.teardown(() => rmSync(directory, { recursive: true }))

const authority = createAuthority(directory, 'authority')
const own = authority.issue('own')
const other = authority.issue('other')
type Files = Parameters<typeof readCredentials>[0]

const files: Files = { ...own, clientAuthority: undefined }

t.test('a certificate, its chain and its key are read', async (t) => {
  const chain = file(
    'chain.pem',
    readFileSync(own.certificate) + String(readFileSync(authority.certificate)),
  )
  const read = readCredentials({
    ...files,
    certificate: chain,
    clientAuthority: authority.certificate,
  })
  t.equal(read.key, readFileSync(own.key, 'latin1'))
  t.equal(read.clientAuthority, readFileSync(authority.certificate, 'latin1'))
  t.equal(validityFault(read), undefined)
  t.ok(
    read.validToMs > Date.now() + 28 * 86_400_000 && read.validToMs < Date.now() + 31 * 86_400_000,
  )
  const both = file(
    'both.pem',
    readFileSync(own.certificate) + String(readFileSync(own.key)),
    0o640,
  )
  t.ok(
    readCredentials({ ...files, certificate: both, key: both }),
    'certificate and key in one file',
  )
})

t.test('what cannot be used is refused with a message that says why and what to do', async (t) => {
  const encrypted = join(directory, 'encrypted.key')
  openssl('pkey', '-in', own.key, '-aes256', '-passout', 'pass:secret', '-out', encrypted)
  chmodSync(encrypted, 0o600)
  const der = join(directory, 'own.der')
  openssl('x509', '-in', own.certificate, '-outform', 'DER', '-out', der)
  const short = join(directory, 'short.key')
  openssl('genrsa', '-out', short, '1024')
  const shortCertificate = join(directory, 'short.pem')
  openssl('req', '-x509', '-new', '-key', short, '-subj', '/CN=short', '-out', shortCertificate)
  const wrongOrder = String(readFileSync(authority.certificate)) + readFileSync(own.certificate)
  const damaged = readFileSync(own.certificate, 'latin1').replace(
    /\n[^-]{20}/,
    '\nAAAAAAAAAAAAAAAAAAAA',
  )
  const damagedKey = readFileSync(own.key, 'latin1').replace(/\n[^-]{20}/, '\nAAAAAAAAAAAAAAAAAAAA')
  const readable = copied(own.key, 'readable.key', 0o644)
  const writable = copied(own.key, 'writable.key', 0o602)
  const missing = join(directory, 'missing')
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
  const cases: [what: string, changed: Partial<Files>, message: RegExp][] = [
    [
      'a certificate that is not there',
      { certificate: missing },
      /--tls-cert .*missing .* does not exist: check its name/,
    ],
    ['a directory', { key: directory }, /--tls-key .*: it is no regular file/],
    ['a pipe that nobody writes to', { certificate: pipe }, /--tls-cert .*: it is no regular file/],
    ['an empty file', { certificate: file('empty', '') }, /--tls-cert .*: it is empty/],
    ['an empty key', { key: file('empty.key', '') }, /--tls-key .*: it is empty/],
    [
      'a file too large',
      { certificate: file('large', 'x'.repeat(limits.tlsFileBytes + 1)) },
      /larger than/,
    ],
    ['DER', { certificate: der }, /it is DER and not PEM.*openssl x509/],
    ['a text', { certificate: file('text', 'hello') }, /it holds no certificate in PEM/],
    ['a key for the certificate', { certificate: own.key }, /it holds a key and no certificate/],
    [
      'a certificate for the key',
      { key: copied(own.certificate, 'c.key', 0o600) },
      /no private key/,
    ],
    [
      'a damaged certificate',
      { certificate: file('damaged', damaged) },
      /certificate 1 of it is damaged/,
    ],
    ['a damaged key', { key: file('damaged.key', damagedKey) }, /the key is damaged/],
    [
      'the key of another',
      { key: other.key },
      /does not belong to the certificate.*own\.pem was requested/,
    ],
    [
      'a chain in another order',
      { certificate: file('order', wrongOrder) },
      /belongs to certificate 2/,
    ],
    ['a key with a passphrase', { key: encrypted }, /passphrase.*openssl pkey/],
    ['a key that anyone may read', { key: readable }, /may read it.*`chmod o-rwx .*readable\.key`/],
    ['a key that anyone may change', { key: writable }, /may change it.*`chmod o-rwx/],
    [
      'a key that is too short',
      { certificate: shortCertificate, key: short },
      /OpenSSL refuses it.*small/,
    ],
    ['no authorities', { clientAuthority: own.key }, /--tls-client-ca .*a key and no certificate/],
  ]
  for (const [what, changed, message] of cases) {
    t.throws(
      () => readCredentials({ ...files, ...changed }),
      { code: 'Usage', exitCode: 2, message },
      what,
    )
  }
})

t.test('what others may be told of a fault does not name the file', async (t) => {
  try {
    readCredentials({ ...files, key: other.key })
    t.fail('it was read')
  } catch (error) {
    t.match(error, { reason: '--tls-key: the key does not belong to the certificate' })
  }
})

t.test('a file of the largest size is read', async (t) => {
  const text = readFileSync(own.certificate, 'latin1')
  const padded = text + '\n'.repeat(limits.tlsFileBytes - text.length)
  t.ok(readCredentials({ ...files, certificate: file('padded', padded) }))
})

t.test('a certificate is valid from its first moment to its last', async (t) => {
  const credentials = readCredentials(files)
  const { validFromMs, validToMs } = credentials
  t.equal(validityFault(credentials, validFromMs), undefined)
  t.match(validityFault(credentials, validFromMs - 1), /not valid before 20..-/)
  t.equal(validityFault(credentials, validToMs), undefined)
  t.match(validityFault(credentials, validToMs + 1), /expired at 20..-/)
  const expired = authority.issue('expired', { fromDays: -10, toDays: -1 })
  t.match(validityFault(readCredentials({ ...files, ...expired })), /expired at/)
  const early = authority.issue('early', { fromDays: 1, toDays: 10 })
  t.match(validityFault(readCredentials({ ...files, ...early })), /not valid before/)
})

t.test('a new key is for its user alone', async (t) => {
  t.ok(readCredentials({ ...files, key: own.key }))
  t.match(readFileSync(newKey(directory, 'new'), 'latin1'), /BEGIN PRIVATE KEY/)
})

function file(name: string, content: string, mode = 0o600): string {
  const path = join(directory, name)
  writeFileSync(path, content, { mode })
  return path
}

function copied(from: string, name: string, mode: number): string {
  const path = join(directory, name)
  copyFileSync(from, path)
  chmodSync(path, mode)
  return path
}
