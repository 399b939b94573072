/**
 * Who comes to NATS in a test: nkeys that are drawn, and the files that have them. JWT are those that nsc would make.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'
import { systemFile } from '../../support/service/system-file.js'

type KeyPair = nkeys.KeyPair

/** Files of seeds, or of credentials, by who has them. */
export interface Identities {
  /** What the servers have: names of files, and what is in them. */
  readonly serverFiles: Readonly<Record<string, string>>
  readonly machines: readonly [string, string, string]
  readonly operator: string
  /** Whom nobody knows. */
  readonly stranger: string
}

/** With roles-nkeys.conf. */
export function drawnNkeys(directory: string): Identities {
  const drawn = (name: string) => {
    const pair = nkeys.createUser()
    const path = join(directory, `${name}.nk`)
    writeFileSync(path, `${text(pair.getSeed())}\n`, { mode: 0o600 })
    return { path, publicKey: pair.getPublicKey() }
  }
  const machines = [drawn('site-a'), drawn('site-b'), drawn('site-c')] as const
  const operator = drawn('operator')
  const roles = systemFile('nats/roles-nkeys.conf', [
    ...(['A', 'B', 'C'] as const).map(
      (letter, at) => [`PUBLIC_NKEY_OF_SITE_${letter}`, machines[at].publicKey] as const,
    ),
    ['PUBLIC_NKEY_OF_OPERATORS', operator.publicKey],
  ])
  return {
    serverFiles: { 'roles-nkeys.conf': roles },
    machines: [machines[0].path, machines[1].path, machines[2].path],
    operator: operator.path,
    stranger: drawn('stranger').path,
  }
}

const ROLES = ['machine', 'operator'] as const
type Role = (typeof ROLES)[number]

export interface Permissions {
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
}

/** What roles-nkeys.conf lets a role do. */
export function permissionsByNkeys(role: Role): Permissions {
  const roles = systemFile('nats/roles-nkeys.conf')
  const [, block = ''] =
    new RegExp(`^ {2}${role}: \\{\n([\\s\\S]*?)^ {2}\\}`, 'm').exec(roles) ?? []
  const listOf = (name: string) => {
    const [, list = ''] = new RegExp(`${name}: \\[([^\\]]*)\\]`).exec(block) ?? []
    return Array.from(list.matchAll(/"([^"]+)"/g), ([, subject]) => subject)
  }
  return { publish: listOf('publish'), subscribe: listOf('subscribe') }
}

/** What the commands in roles-jwt.conf would let it do. */
export function permissionsByCommands(role: Role): Permissions {
  const commands = systemFile('nats/roles-jwt.conf').replaceAll(/^# ?/gm, '')
  const [, flags = ''] =
    new RegExp(`nsc edit signing-key .*--role ${role}((?:.*\\\\\n)*.*)`).exec(commands) ?? []
  const listOf = (name: string) => {
    const lists = [...flags.matchAll(new RegExp(`--${name} '([^']+)'`, 'g'))]
    return lists.flatMap(([, list]) => list.split(','))
  }
  return { publish: listOf('allow-pub'), subscribe: listOf('allow-sub') }
}

/** With roles-jwt.conf. Users are signed by the key of their role, which says what they may do. */
export function drawnCredentials(directory: string): Identities {
  const operator = nkeys.createOperator()
  const system = nkeys.createAccount()
  const account = nkeys.createAccount()
  const roleKeys = { machine: nkeys.createAccount(), operator: nkeys.createAccount() }
  const systemJwt = signed(operator, system, 'SYS', accountClaims([]))
  const scopes = ROLES.map((role) => scopeOf(role, roleKeys[role]))
  const accountJwt = signed(operator, account, 'HICKORY', accountClaims(scopes))
  const generated = `operator: ${signed(operator, operator, 'hickory', { type: 'operator' })}
system_account: ${system.getPublicKey()}
resolver: MEMORY
resolver_preload: {
  ${system.getPublicKey()}: ${systemJwt}
  ${account.getPublicKey()}: ${accountJwt}
}
`
  const credentials = (name: string, issuer: KeyPair) => {
    const user = nkeys.createUser()
    const claims = { type: 'user', issuer_account: account.getPublicKey(), pub: {}, sub: {} }
    const path = join(directory, `${name}.creds`)
    writeFileSync(path, credentialsFile(signed(issuer, user, name, claims), user), { mode: 0o600 })
    return path
  }
  return {
    serverFiles: { 'roles-jwt.conf': systemFile('nats/roles-jwt.conf'), 'nsc.conf': generated },
    machines: [
      credentials('site-a', roleKeys.machine),
      credentials('site-b', roleKeys.machine),
      credentials('site-c', roleKeys.machine),
    ],
    operator: credentials('operator', roleKeys.operator),
    stranger: credentials('stranger', nkeys.createAccount()),
  }
}

const UNLIMITED = -1

function accountClaims(scopes: readonly object[]): object {
  const counts = ['subs', 'data', 'payload', 'imports', 'exports', 'conn', 'leaf']
  const jetStream = ['mem_storage', 'disk_storage', 'streams', 'consumer']
  // An account of the system has no JetStream.
  const named = scopes.length === 0 ? counts : [...counts, ...jetStream]
  const limits = Object.fromEntries(named.map((name) => [name, UNLIMITED]))
  return {
    type: 'account',
    limits: { ...limits, wildcards: true },
    default_permissions: { pub: {}, sub: {} },
    signing_keys: scopes,
  }
}

function scopeOf(role: Role, key: KeyPair): object {
  const { publish, subscribe } = permissionsByCommands(role)
  return {
    kind: 'user_scope',
    key: key.getPublicKey(),
    role,
    template: {
      pub: { allow: publish },
      sub: { allow: subscribe },
      subs: UNLIMITED,
      data: UNLIMITED,
      payload: UNLIMITED,
    },
  }
}

/** A JWT as NATS has them. */
function signed(issuer: KeyPair, subject: KeyPair, name: string, nats: object): string {
  const claims = {
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name,
    nats: { ...nats, version: 2 },
  }
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const content = `${encoded({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encoded(claims)}`
  const signature = issuer.sign(new TextEncoder().encode(content))
  return `${content}.${Buffer.from(signature).toString('base64url')}`
}

function credentialsFile(jwt: string, user: KeyPair): string {
  return `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${text(user.getSeed())}
------END USER NKEY SEED------
`
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
