import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { readClusterConnection, readConfig } from '../src/config.js'
import { unsupportedRelease } from '../src/node-release.js'
import { misspeltVariables } from '../src/settings.js'

const directory = mkdtempSync(join(tmpdir(), 'hickory-config-'))
t.teardown(() => rmSync(directory, { recursive: true }))
let fileCount = 0

t.test('a flag wins over the environment, that over the file, that over the default', async (t) => {
  const config = file('{"port":1001,"host":"10.0.0.1","data":"/file"}')
  const environment = { HICKORY_PORT: '1002', HICKORY_DATA: '/environment' }
  t.match(readConfig({ config, port: '1003' }, environment), {
    port: 1003,
    dataDirectory: '/environment',
    host: '10.0.0.1',
    logLevel: 'info',
  })
  t.match(readConfig({}, { HICKORY_CONFIG: config }), { port: 1001, dataDirectory: '/file' })
})

t.test('defaults are those of the documentation', async (t) => {
  const config = readConfig({}, {})
  t.match(config, { dataDirectory: resolve('data/local'), host: '127.0.0.1', port: 8080 })
  const coreCount = availableParallelism()
  t.equal(config.httpThreadCount, Math.min(16, Math.floor(coreCount / 2) + 1))
  t.ok(config.queryThreadCount >= Math.max(coreCount, 2 * config.httpThreadCount))
  t.ok(Object.isFrozen(config))
})

t.test('the admin listener is at an address of this machine alone', async (t) => {
  for (const adminHost of ['127.0.0.1', '127.8.0.2', '::1', 'localhost']) {
    t.equal(readConfig({ adminHost, adminPort: '0' }, {}).adminHost, adminHost)
  }
  for (const adminHost of ['0.0.0.0', '192.0.2.1', '::', 'localhost.example.org']) {
    t.throws(() => readConfig({ adminHost }, {}), /--admin-host must be an address of this machine/)
  }
})

t.test('the number of threads of one kind follows that of the other', async (t) => {
  const [one, many] = ['1', '64']
  t.match(readConfig({ queryThreads: one }, {}), { httpThreadCount: 1, queryThreadCount: 1 })
  t.equal(readConfig({ queryThreads: '3' }, {}).httpThreadCount, 1)
  t.ok(readConfig({ httpThreads: many }, {}).queryThreadCount >= 128)
  t.ok(readConfig({ httpThreads: one }, {}).queryThreadCount >= 2)
})

t.test('a switch is on or off, as a flag, a variable, or a truth value in the file', async (t) => {
  const cases: [flags: Record<string, string>, environment: Record<string, string>, on: boolean][] =
    [
      [{}, {}, false],
      [{ sharePort: 'true' }, {}, true],
      [{}, { HICKORY_SHARE_PORT: 'true' }, true],
      [{ sharePort: 'true' }, { HICKORY_SHARE_PORT: 'false' }, true],
      [{ config: file('{"sharePort":true}') }, {}, true],
      [{ config: file('{"sharePort":true}') }, { HICKORY_SHARE_PORT: 'false' }, false],
      [{ config: file('{"sharePort":"false"}') }, {}, false],
    ]
  for (const [flags, environment, on] of cases) {
    t.equal(readConfig(flags, environment).sharePort, on)
  }
  t.equal(readConfig({}, {}).clipsRecipientsToBoundary, false)
  const clipping = { HICKORY_CLIP_RECIPIENTS_TO_BOUNDARY: 'true' }
  t.equal(readConfig({}, clipping).clipsRecipientsToBoundary, true)
  t.throws(() => readConfig({}, { HICKORY_SHARE_PORT: 'yes' }), {
    code: 'Usage',
    message: /HICKORY_SHARE_PORT must be one of false, true, not "yes"/,
  })
})

t.test('options for workers are separated by spaces', async (t) => {
  const given = (text: string) => readConfig({}, { HICKORY_WORKER_ARGS: text }).workerArgs
  t.same(given(''), [])
  t.same(given(' --cpu-prof  --cpu-prof-dir=/tmp\n'), ['--cpu-prof', '--cpu-prof-dir=/tmp'])
  t.throws(() => given('--cpu-prof /tmp'), {
    code: 'Usage',
    message: /HICKORY_WORKER_ARGS must be options of Node.js .* not "--cpu-prof \/tmp"/,
  })
  t.throws(() => readConfig({ config: file('{"workerArgs":1}') }, {}), { code: 'Usage' })
})

t.test(
  'TLS needs a certificate and its key, and client certificates their authority',
  async (t) => {
    t.equal(readConfig({}, {}).tls, undefined)
    const own = { tlsCert: '/c.pem', tlsKey: '/k.pem' }
    const withAuthority = { ...own, tlsClientCa: '/ca.pem' }
    t.same(readConfig(own, {}).tls, {
      certificate: '/c.pem',
      key: '/k.pem',
      clientAuthority: undefined,
      clientCertificates: 'off',
    })
    t.equal(
      readConfig(withAuthority, {}).tls?.clientCertificates,
      'required',
      'unless said otherwise',
    )
    for (const tlsClientCerts of ['optional', 'required']) {
      t.match(readConfig({ ...withAuthority, tlsClientCerts }, {}).tls, {
        clientAuthority: '/ca.pem',
        clientCertificates: tlsClientCerts,
      })
    }
    const off = readConfig({ ...withAuthority, tlsClientCerts: 'off' }, {}).tls
    t.match(off, { clientAuthority: undefined, clientCertificates: 'off' })
    const faults: [flags: Record<string, string>, message: RegExp][] = [
      [{ tlsCert: '/c.pem' }, /--tls-cert needs --tls-key/],
      [{ tlsKey: '/k.pem' }, /--tls-key needs --tls-cert/],
      [{ tlsClientCa: '/ca.pem' }, /--tls-client-ca needs --tls-cert/],
      [{ tlsClientCerts: 'required' }, /--tls-client-certs needs --tls-cert/],
      [{ ...own, tlsClientCerts: 'optional' }, /--tls-client-certs needs --tls-client-ca/],
      [
        { ...withAuthority, tlsClientCerts: 'yes' },
        /--tls-client-certs must be one of off, optional/,
      ],
      [{ ...own, tlsKey: '' }, /--tls-key must be a text that is not empty/],
    ]
    for (const [flags, message] of faults) {
      t.throws(() => readConfig(flags, {}), { code: 'Usage', message }, String(message))
    }
  },
)

t.test('bounds hold at the ends and not one past them', async (t) => {
  for (const port of ['0', '65535']) t.equal(readConfig({ port }, {}).port, Number(port))
  for (const port of ['65536', '-1', '80.5', '8e1', 'http', '']) {
    t.throws(() => readConfig({ port }, {}), {
      code: 'Usage',
      exitCode: 2,
      message: new RegExp(`--port must be a whole number from 0 to 65535, not "${port}"`),
    })
  }
})

t.test('a bad value is named with where it came from', async (t) => {
  const cases: [run: () => unknown, message: RegExp][] = [
    [() => readConfig({}, { HICKORY_PORT: 'x' }), /HICKORY_PORT must be .* not "x"/],
    [() => readConfig({ config: file('{"port":"x"}') }, {}), /port in the file must be/],
    [() => readConfig({ logLevel: 'loud' }, {}), /--log-level must be one of trace, .* not "loud"/],
    [() => readConfig({ data: ' ' }, {}), /--data must be a text that is not empty/],
    [() => readConfig({ config: file('{"prot":1}') }, {}), /unknown setting prot; known are data/],
    [() => readConfig({ config: file('[]') }, {}), /must hold one JSON object/],
    [() => readConfig({ config: file('{') }, {}), /configuration file .*JSON/],
    [() => readConfig({ config: '/nowhere.json' }, {}), /configuration file .*does not exist/],
    [
      () => readConfig({ httpThreads: '3', queryThreads: '2' }, {}),
      /--query-threads is 2, but each of the 3 HTTP threads needs a query worker/,
    ],
  ]
  for (const [run, message] of cases) t.throws(run, { code: 'Usage', message }, String(message))
})

t.test('what is given is checked, also where another value wins', async (t) => {
  const fine: Record<string, string> = {
    port: '0',
    data: '/data',
    accessLog: '-',
    cluster: 'nats://127.0.0.1:4222',
    name: 'site-a',
    maxLag: '15',
    natsMonitor: 'http://127.0.0.1:8222',
    logLevel: 'warn',
    keys: 'true',
  }
  for (const name of Object.keys(fine)) {
    const config = file(JSON.stringify({ [name]: { a: 1 } }))
    const inFile = { code: 'Usage', message: new RegExp(`^${name} in the file must be`) }
    t.throws(() => readConfig({ ...fine, config }, {}), inFile)
    t.throws(() => readConfig(fine, { HICKORY_CONFIG: config }), inFile)
    const unread = { ...fine, config: file('{}') }
    t.throws(() => readConfig(unread, { HICKORY_CONFIG: config }), inFile, 'of a file not used')
    const variable = `HICKORY_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
    const inVariable = { code: 'Usage', message: new RegExp(`^${variable} must be`) }
    t.throws(() => readConfig(fine, { [variable]: '' }), inVariable)
  }
  const other = file('{"port":1}')
  const config = file('{"host":"10.0.0.1"}')
  t.match(readConfig({ config }, { HICKORY_CONFIG: other }), { host: '10.0.0.1', port: 8080 })
  t.match(readConfig({ config }, { HICKORY_CONFIG: `${other}.gone` }), { host: '10.0.0.1' })
  t.throws(() => readConfig({}, { HICKORY_CONFIG: `${other}.gone` }), { code: 'Usage' })
})

t.test('a file has each name once, and may begin with a byte order mark', async (t) => {
  const config = file('\ufeff{"port": 1, "host": "10.0.0.1\\"port\\":"}')
  t.match(readConfig({ config }, {}), { port: 1 })
  for (const json of ['{"port": "x", "port": 1}', '{"port":1,"host":"a","p\\u006frt":2}']) {
    const twice = { code: 'Usage', message: /^configuration file .* has port twice: leave one of/ }
    t.throws(() => readConfig({ config: file(json) }, {}), twice)
  }
})

t.test('a variable that is nearly a setting is told, and no other one', async (t) => {
  for (const [name, meant] of [
    ['HICKORY_PROT', 'HICKORY_PORT'],
    ['HICKORY_AUDT', 'HICKORY_AUDIT'],
    ['HICKORY_KEY', 'HICKORY_KEYS'],
    ['HICKORY_CONFIGS', 'HICKORY_CONFIG'],
    ['HICKORY_MAXLAG', 'HICKORY_MAX_LAG'],
  ]) {
    t.same(misspeltVariables({ [name]: '1' }), [{ variable: name, meant }])
    t.ok(readConfig({}, { [name]: '1' }))
  }
  for (const name of ['HICKORY_ACKS', 'HICKORY_TAKEOVER', 'HICKORY_TAKEOVER_AFTER']) {
    t.same(misspeltVariables({ [name]: '1' }), [{ variable: name, meant: undefined }], 'was one')
    t.ok(readConfig({}, { [name]: '1' }))
  }
  for (const name of ['HICKORY_TEST_SEED', 'HICKORY_SERVICE_HOST', 'HICKORY', 'hickory_prot']) {
    t.same(misspeltVariables({ [name]: '1' }), [])
  }
  const message = 'HICKORY_CONFIG must be a text that is not empty'
  t.throws(() => readConfig({}, { HICKORY_CONFIG: '' }), { code: 'Usage', message })
})

t.test('a setting that does nothing without another one is refused', async (t) => {
  const needs: [name: string, value: string, needed: string][] = [
    ['name', 'a', '--cluster'],
    ['clusterId', 'other', '--cluster'],
    ['clusterCredentials', '/c', '--cluster'],
    ['clusterNkey', '/c', '--cluster'],
    ['clusterTlsCa', '/c', '--cluster'],
    ['clusterTlsCert', '/c', '--cluster'],
    ['clusterTlsKey', '/c', '--cluster'],
    ['natsMonitor', 'http://10.0.0.1:8222', '--cluster'],
    ['maxLag', '61', '--cluster'],
    ['laggingLists', 'refuse', '--cluster'],
    ['copies', '2', '--cluster'],
    ['adminHost', '127.0.0.2', '--admin-port'],
    ['auditCounts', 'true', '--audit'],
    ['auditKeepDays', '7', '--audit'],
    ['accessLogSample', '1', '--access-log'],
    ['accessLogSlowMs', '1', '--access-log'],
  ]
  for (const [name, value, needed] of needs) {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter}`)
    const variable = `HICKORY_${snake.toUpperCase()}`
    const flag = `--${snake.toLowerCase().replaceAll('_', '-')}`
    const given: [origin: string, flags: Record<string, string>, variables: object][] = [
      [flag, { [name]: value }, {}],
      [variable, {}, { [variable]: value }],
      [`${name} in the file`, { config: file(JSON.stringify({ [name]: value })) }, {}],
    ]
    for (const [origin, flags, variables] of given) {
      const message = new RegExp(`^${origin} needs ${needed}, without which it does nothing: set `)
      t.throws(() => readConfig(flags, { ...variables }), { code: 'Usage', message })
    }
  }
  // Whoever writes a default means it, and believes in a cluster, an audit or a log that is not there.
  for (const [name, value] of [
    ['adminHost', '127.0.0.1'],
    ['natsMonitor', 'http://127.0.0.1:8222'],
    ['clusterId', 'main'],
    ['maxLag', '60'],
    ['laggingLists', 'serve'],
    ['auditDigests', 'on'],
    ['accessLogSample', '100'],
  ]) {
    t.throws(() => readConfig({ [name]: value }, {}), { code: 'Usage', message: / needs --/ }, name)
  }
  // What is off changes nothing.
  t.equal(readConfig({}, { HICKORY_AUDIT_COUNTS: 'false' }).auditCounts, false)
  t.equal(readConfig({}, { HICKORY_AUDIT_DIGESTS: 'off' }).auditDigests, false)
  const machine = { cluster: 'nats://10.0.0.1:4222', name: 'a' }
  const faults: [flags: Record<string, string>, message: RegExp][] = [
    [{ ...machine, clusterTlsCert: '/c' }, /--cluster-tls-cert needs --cluster-tls-key/],
    [{ ...machine, clusterTlsKey: '/c' }, /--cluster-tls-key needs --cluster-tls-cert/],
    [{ ...machine, clusterNkey: '/n', clusterCredentials: '/c' }, /contradict each other/],
    [{ maxLag: '14' }, /--max-lag must be a whole number from 15 to 86400, not "14"/],
    [{ copies: 'x' }, /--copies must be a whole number from 2 to 100, not "x"/],
  ]
  for (const [flags, message] of faults) {
    t.throws(() => readConfig(flags, {}), { code: 'Usage', message }, String(message))
  }
})

t.test('releases of Node.js with long-term support are supported', async (t) => {
  for (const version of ['20.19.0', '20.20.2', '22.0.0', '22.23.3', '24.21.0', '26.10.0']) {
    t.equal(unsupportedRelease(version), undefined, version)
  }
  for (const version of ['16.20.2', '18.20.0', '20.18.3', '21.7.3', '23.1.0']) {
    t.match(unsupportedRelease(version), new RegExp(`Node.js 22 .*, 20 .*; this is .* ${version}`))
  }
})

t.test('what is known of a cluster says how its servers are looked at', async (t) => {
  const machine = { cluster: 'nats://10.0.0.1:4222', name: 'a' }
  const clusterOf = (flags: Record<string, string>) =>
    readConfig({ ...machine, ...flags }, {}).cluster
  t.match(clusterOf({}), { natsMonitors: ['http://127.0.0.1:8222'], maxLagMs: 60_000 })
  const natsMonitor = 'http://10.0.0.1:8222, https://nats-b.example.org/'
  t.match(clusterOf({ natsMonitor, maxLag: '15' }), {
    natsMonitors: ['http://10.0.0.1:8222', 'https://nats-b.example.org/'],
    maxLagMs: 15_000,
  })
  for (const bad of [
    'nats://a:4222',
    'a:8222',
    'http://u:p@a',
    'http://a/varz',
    'http://a:x',
    'http://',
  ]) {
    t.throws(() => clusterOf({ natsMonitor: `http://10.0.0.1:8222,${bad}` }), {
      code: 'Usage',
      message: `--nats-monitor must be addresses of monitors of NATS such as http://10.0.0.1:8222, separated by commas, without names and passwords, not ${JSON.stringify(bad)}`,
    })
  }
})

function file(content: string): string {
  const path = join(directory, `${fileCount++}.json`)
  writeFileSync(path, content)
  return path
}

t.test('a command that asks a cluster is not held to the variables of a service', async (t) => {
  process.env.HICKORY_ACCESS_LOG_SAMPLE = '10'
  t.teardown(() => delete process.env.HICKORY_ACCESS_LOG_SAMPLE)
  t.equal(readClusterConnection({}), undefined)
  t.throws(() => readClusterConnection({ clusterId: 'other' }), { code: 'Usage' })
})
