import t from 'tap'
import {
  completeUrl,
  hasPassword,
  parseDatabaseUrl,
  shownPlace,
  shownUrl,
} from '../../../src/sources/postgres/url.js'

t.test('a URL is read as libpq reads it and shown without its password', async (t) => {
  const cases: [url: string, shown: string, place: string][] = [
    ['postgres://u:secret@h:1/d', 'postgres://u@h:1/d', 'h/d'],
    ['postgresql://u:s%2Fecret%40@h/d', 'postgres://u@h:5432/d', 'h/d'],
    ['postgres://u@[::1]/d', 'postgres://u@[::1]:5432/d', '::1/d'],
    ['postgres://u:secret@h', 'postgres://u@h:5432/u', 'h/u'],
    ['postgres://h/d?user=u&password=secret', 'postgres://u@h:5432/d', 'h/d'],
    ['postgres://u:secret@/d?host=/run/x', 'postgres://u@/d?host=/run/x&port=5432', 'd'],
    ['postgres:///d?host=/run/x&user=u', 'postgres://u@/d?host=/run/x&port=5432', 'd'],
    ['postgres://%2Frun%2Fx/d?user=u&port=6', 'postgres://u@/d?host=/run/x&port=6', 'd'],
    ['postgres://u:secret@a:1,[::1],b:2/d', 'postgres://u@a:1,[::1]:5432,b:2/d', 'a,::1,b/d'],
    ['postgres://u@/d?host=a,b&port=7', 'postgres://u@a:7,b:7/d', 'a,b/d'],
  ]
  for (const [url, shown, place] of cases) {
    const address = parseDatabaseUrl(url)
    t.equal(shownUrl(address), shown)
    t.equal(shownPlace(address), place)
    t.equal(hasPassword(url), url.includes('ecret'))
  }
  t.equal(parseDatabaseUrl('postgres://u:s%2Fecret%40@h').password, 's/ecret@')
})

t.test('the modes of TLS are those of libpq, and prefer is the usual one', async (t) => {
  const modeOf = (parameters: string) => parseDatabaseUrl(`postgres://u@h/d?${parameters}`).sslMode
  t.equal(modeOf(''), 'prefer')
  t.equal(modeOf('sslmode=verify-ca'), 'verify-ca')
  t.equal(modeOf('sslrootcert=system'), 'verify-full')
  for (const wrong of ['sslmode=no-verify', 'sslmode=on', 'sslmode=require&sslrootcert=system']) {
    t.throws(() => modeOf(wrong), { code: 'Usage' }, wrong)
  }
})

t.test('what is no such URL is refused, and nothing of it is repeated', async (t) => {
  for (const url of [
    '',
    'mysql://u:secret@h/d',
    'postgres:u:secret@h/d',
    'postgres://u:se/cret@h/d',
    'postgres://u:se?cret@h/d',
    'postgres://u:se#cret@h/d',
    'postgres://u:secret%zz@h/d',
    'postgres://u:secret@h:99999/d',
    'postgres://u:secret@h:0/d',
    'postgres://u:secret@h/d?secret=1',
    'postgres://u:secret@h/d?sslmode=secret',
    'postgres://u:secret@h/d?port=1e3',
    'postgres://u:secret@a:1,b:2,c/d?port=1,2',
    'postgres://u:secret@a,,c/d',
    'postgres://u:secret@a:b:c/d',
    'postgres://u:secret@a/d?connect_timeout=0',
    'postgres://u:secret@a/d?connect_timeout=secret',
    'postgres://u:secret@a/d?target_session_attrs=secret',
    'postgres://u:secret@a/d?channel_binding=require',
  ]) {
    const error = t.throws(() => parseDatabaseUrl(url), { code: 'Usage' }, url) as unknown as Error
    t.notMatch(error.message.replace('"secret" is not known', ''), /cret|se[/?#]/, url)
  }
})

t.test('what the URL leaves open is taken from the variables of libpq', async (t) => {
  const environment = {
    PGHOST: 'elsewhere',
    PGPORT: '7',
    PGUSER: 'me',
    PGPASSWORD: 'p@ss/w?rd#%',
    PGDATABASE: 'people',
    PGSSLMODE: 'verify-full',
    PGSSLROOTCERT: '/a b/root.crt',
    PGCONNECT_TIMEOUT: '3',
    PGAPPNAME: 'people',
    PGTARGETSESSIONATTRS: 'read-write',
  }
  t.match(parseDatabaseUrl(completeUrl('postgres://', environment)), {
    servers: [{ host: 'elsewhere', port: 7 }],
    connectMs: 3000,
    applicationName: 'people',
    mustWrite: true,
    user: 'me',
    password: 'p@ss/w?rd#%',
    database: 'people',
    sslMode: 'verify-full',
    sslRootCertificate: '/a b/root.crt',
  })
  const url = 'postgres://u:own@h:1/d?sslmode=disable'
  t.match(parseDatabaseUrl(completeUrl(url, environment)), {
    servers: [{ host: 'h', port: 1 }],
    user: 'u',
    password: 'own',
    database: 'd',
    sslMode: 'disable',
  })
})
