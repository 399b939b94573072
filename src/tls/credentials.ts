/**
 * The certificate of the service, its key, and the authorities of client certificates: read from files,
 * and checked before anything is made of them.
 *
 * @module
 */
import { constants, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { closeSync, constants as fileConstants, fstatSync, openSync, readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { whyUnread } from '../system-refusals.js'

/** Whether clients show a certificate of their own: none is asked, some do, or all must. */
export type ClientCertificates = 'off' | 'optional' | 'required'

interface TlsFiles {
  /** The certificate of the service first, then those of the authorities between it and the root. */
  readonly certificate: string
  readonly key: string
  /** Authorities whose client certificates are taken; undefined when clients are not asked for one. */
  readonly clientAuthority: string | undefined
}

/** What the files hold, as text that a thread can be handed. */
export interface TlsCredentials {
  readonly certificate: string
  readonly key: string
  readonly clientAuthority: string | undefined
  /** The time in which all certificates of the service are valid, in milliseconds of the epoch. */
  readonly validFromMs: number
  readonly validToMs: number
}

/** A file of which nothing can be made. */
export class CredentialsFault extends OperatorError {
  /** The same without the path, for those who may not know it. */
  readonly reason: string

  constructor(flag: string, path: string, reason: string, wayOn = '') {
    super('Usage', `${flag} ${path} cannot be used: ${reason}${wayOn}`)
    this.reason = `${flag}: ${reason}`
  }
}

/** @throws CredentialsFault */
export function readCredentials(files: TlsFiles): TlsCredentials {
  const certificate = readFile(CERTIFICATE_FLAG, files.certificate)
  const chain = certificatesIn(CERTIFICATE_FLAG, files.certificate, certificate)
  const key = readFile(KEY_FLAG, files.key, true)
  const privateKey = keyIn(files.key, key)
  if (!chain[0].checkPrivateKey(privateKey)) {
    const other = chain.findIndex((each) => each.checkPrivateKey(privateKey))
    throw new CredentialsFault(
      KEY_FLAG,
      files.key,
      other < 0
        ? 'the key does not belong to the certificate'
        : `the key belongs to certificate ${other + 1} of the file`,
      other < 0
        ? `. Name the key with which ${files.certificate} was requested`
        : `. Put that one first in ${files.certificate}`,
    )
  }
  const clientAuthority =
    files.clientAuthority === undefined
      ? undefined
      : readFile(CLIENT_AUTHORITY_FLAG, files.clientAuthority)
  if (clientAuthority !== undefined) {
    certificatesIn(CLIENT_AUTHORITY_FLAG, files.clientAuthority ?? '', clientAuthority)
  }
  const credentials: TlsCredentials = {
    certificate,
    key,
    clientAuthority,
    validFromMs: Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom))),
    validToMs: Math.min(...chain.map(({ validTo }) => Date.parse(validTo))),
  }
  try {
    createSecureContext(contextOptions(credentials))
  } catch (error) {
    throw new CredentialsFault(
      CERTIFICATE_FLAG,
      files.certificate,
      `OpenSSL refuses it (${(error as Error).message})`,
    )
  }
  return credentials
}

/** Why clients will not accept the certificate at this time; undefined when they may. */
export function validityFault(
  { validFromMs, validToMs }: TlsCredentials,
  nowMs: number = Date.now(),
): string | undefined {
  if (nowMs > validToMs) return `the certificate expired at ${dateOf(validToMs)}`
  if (nowMs < validFromMs) return `the certificate is not valid before ${dateOf(validFromMs)}`
  return undefined
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString()
}

/** How TLS is spoken: the versions and ciphers of Mozilla's intermediate recommendation. */
export function contextOptions({
  certificate,
  key,
  clientAuthority,
}: TlsCredentials): SecureContextOptions {
  return {
    cert: certificate,
    key,
    // An empty list would mean the authorities that come with Node.js.
    ...(clientAuthority !== undefined && { ca: clientAuthority }),
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ciphers: CIPHERS,
    honorCipherOrder: false,
    // A session that goes on elsewhere would bring the client certificate of its beginning, however long
    // ago that was and whatever became of its authority.
    secureOptions:
      constants.SSL_OP_NO_RENEGOTIATION |
      (clientAuthority === undefined ? 0 : constants.SSL_OP_NO_TICKET),
  }
}

const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  // Refuses RSA of fewer than 2048 bits, and SHA-1.
  '@SECLEVEL=2',
].join(':')

const CERTIFICATE_FLAG = '--tls-cert'
const KEY_FLAG = '--tls-key'
const CLIENT_AUTHORITY_FLAG = '--tls-client-ca'

/** @param isSecret  refuse what any user of the machine may read or replace */
function readFile(flag: string, path: string, isSecret = false): string {
  let file: number | undefined
  try {
    // Where no process writes to a pipe, the service would wait for ever.
    file = openSync(path, OPEN_AT_ONCE)
    const state = fstatSync(file)
    if (!state.isFile()) throw new CredentialsFault(flag, path, 'it is no regular file')
    const { mode, size } = state
    if (isSecret && (mode & 0o006) !== 0) {
      const who = (mode & 0o004) === 0 ? 'change' : 'read'
      const wayOn = `. Take that away with \`chmod o-rwx ${path}\``
      throw new CredentialsFault(flag, path, `any user of this machine may ${who} it`, wayOn)
    }
    if (size > limits.tlsFileBytes) {
      throw new CredentialsFault(flag, path, `it is larger than ${limits.tlsFileBytes} bytes`)
    }
    const bytes = readFileSync(file)
    if (bytes.length === 0) throw new CredentialsFault(flag, path, 'it is empty')
    if (bytes[0] === DER_SEQUENCE) {
      const wayOn = '. Write it as PEM, with `-inform DER` of `openssl x509` or `openssl pkey`'
      throw new CredentialsFault(flag, path, 'it is DER and not PEM', wayOn)
    }
    return bytes.toString('latin1')
  } catch (error) {
    if (error instanceof CredentialsFault) throw error
    throw new CredentialsFault(flag, path, `it ${whyUnread(error)}`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

const OPEN_AT_ONCE = fileConstants.O_RDONLY | fileConstants.O_NONBLOCK

/** The first byte of every certificate and key in DER. */
const DER_SEQUENCE = 0x30

/** One at least. */
function certificatesIn(flag: string, path: string, text: string): X509Certificate[] {
  const blocks = text.match(CERTIFICATE_BLOCK) ?? []
  if (blocks.length === 0) {
    const isKey = PRIVATE_KEY.test(text)
    throw new CredentialsFault(
      flag,
      path,
      isKey ? 'it holds a key and no certificate' : 'it holds no certificate in PEM',
    )
  }
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block)
    } catch {
      throw new CredentialsFault(flag, path, `certificate ${index + 1} of it is damaged`)
    }
  })
}

function keyIn(path: string, text: string): KeyObject {
  if (ENCRYPTED_KEY.test(text)) {
    const wayOn =
      '. Write it without, with `openssl pkey -in FILE -out FILE`, in a directory of its own user'
    throw new CredentialsFault(KEY_FLAG, path, 'the key is locked with a passphrase', wayOn)
  }
  if (!PRIVATE_KEY.test(text)) {
    throw new CredentialsFault(KEY_FLAG, path, 'it holds no private key in PEM')
  }
  try {
    return createPrivateKey(text)
  } catch {
    throw new CredentialsFault(KEY_FLAG, path, 'the key is damaged')
  }
}

const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/
const ENCRYPTED_KEY = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m
