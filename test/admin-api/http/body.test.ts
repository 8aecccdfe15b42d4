import { gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { rawConnection } from '../../raw-connection.ts'
import { adminForAllTests, PASSWORD, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given), { operator: { platform: true } })

function post(body: unknown, changes: Record<string, string> = {}) {
  return harness.api('POST', '/keys', { body, headers: { ...headers, ...changes } })
}

test.each([
  ['nothing', ''],
  ['no JSON', '{'],
  ['a list', '[]'],
  ['null', 'null'],
  ['a text', '"x"'],
  ['bytes that are not UTF-8', Buffer.from('{"name":"caf\xe9"}', 'latin1')],
  ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le')],
  ['a deep list', '['.repeat(8000)],
  ['a deep list that ends', '['.repeat(8000) + ']'.repeat(8000)],
])('a body that is %s is a 400', async (_, body) => {
  const answer = await post(body)
  expect(answer.body).toMatchObject({ code: 400, error: 'INVALID_PARAMS' })
  expect(answer.body.details?.[0]?.field).toBe('body')
})

test('a body with a field nested too deeply is a 400 that names the field', async () => {
  const answer = await post(`{"name":${'['.repeat(7000)}${']'.repeat(7000)}}`)
  expect(answer.status).toBe(400)
  expect(answer.body.details?.[0]?.field).toBe('name')
})

test('a body cannot set inherited properties', async () => {
  const inherited = await post('{"name":"x","__proto__":{"scopes":["admin"]}}')
  expect(inherited.body.details?.map(({ field }) => field)).toEqual(['__proto__'])
  const empty = await post('{"name":"x","":1}')
  expect(empty.body.details?.map(({ field }) => field)).toEqual(['""'])
  const answer = await post('{"name":"x","constructor":{"prototype":{"polluted":1}}}')
  expect(answer.status).toBe(400)
  expect(Object.prototype).not.toHaveProperty('polluted')
})

test('a fault in a nested field is a 400 that names the inner field', async () => {
  const admin = `"email":"new@example.org","password":"${PASSWORD}"`
  const deep = `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`
  for (const [sent, fields] of [
    [`{"__proto__":{${admin}}}`, ['admin.email', 'admin.password']],
    [`{${admin},"constructor":{"prototype":{"polluted":1}}}`, ['admin.constructor']],
    [`{${admin},"${'x'.repeat(500)}":1}`, [`admin.${'x'.repeat(64)}`]],
    [`{"email":${deep},"password":"${PASSWORD}"}`, ['admin.email']],
    [`{"email":"${'['.repeat(4000)}","password":[]}`, ['admin.email', 'admin.password']],
  ] as const) {
    const body = `{"name":"x","admin":${sent}}`
    const answer = await harness.api('POST', '/accounts', { body, headers })
    expect(answer.body.details?.map(({ field }) => field).sort()).toEqual(fields)
  }
  expect(Object.prototype).not.toHaveProperty('polluted')
  expect(await harness.store.findOperatorByEmail('new@example.org')).toBeUndefined()
})

test('a body over 16 KiB, declared or not, gets a 413, and the connection stays open', async () => {
  const long = JSON.stringify({ name: 'x'.repeat(17_000) })
  expect((await post(long)).body.error).toBe('PAYLOAD_TOO_LARGE')
  const response = await fetch(`${harness.url}/api/v1/keys`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: new Blob([long]).stream(),
    duplex: 'half',
  })
  expect(response.status).toBe(413)
  expect((await post({ name: 'after' })).status).toBe(201)
})

test('a body that is too long does not delay later requests on the connection', async () => {
  const head = (length: number) =>
    [
      'POST /api/v1/keys HTTP/1.1',
      'Host: x',
      `Cookie: ${headers['Cookie']}`,
      'X-Requested-With: console',
      'Content-Type: application/json',
      `Content-Length: ${length}`,
      '',
      '',
    ].join('\r\n')
  const { socket, received } = rawConnection(harness.url, head(200_000))
  await eventually(() => received().includes('HTTP/1.1 413'))
  socket.write('x'.repeat(200_000) + head(12) + '{"name":"x"}')
  await eventually(() => received().includes('HTTP/1.1 201'))
  socket.destroy()
})

test.each([200_000, 5_000_000_000, 2 ** 32 + 1])(
  'a body declared as %d bytes is a 413 before any of it arrives',
  async (length) => {
    const lines = [
      'POST /api/v1/session HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      `Content-Length: ${length}`,
    ]
    const { socket, received } = rawConnection(harness.url, [...lines, '', ''].join('\r\n'))
    await eventually(() => received().includes('HTTP/1.1 413'))
    socket.destroy()
  },
)

test('a body of 16 KiB is accepted', async () => {
  const body = JSON.stringify({ name: 'x' })
  expect((await post(body + ' '.repeat(16 * 1024 - body.length))).status).toBe(201)
  expect((await post(body + ' '.repeat(16 * 1024 + 1 - body.length))).status).toBe(413)
})

test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])(
  'a body of the type %j is a 415: forms of other sites cannot send JSON',
  async (type) => {
    const answer = await post('{"name":"x"}', { 'Content-Type': type })
    expect(answer.body.error).toBe('UNSUPPORTED_MEDIA_TYPE')
  },
)

test('a JSON media type is read with any parameters', async () => {
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/x+json',
  ]) {
    expect((await post('{"name":"x"}', { 'Content-Type': type })).status).toBe(201)
  }
})

test('a body that is compressed is a 415', async () => {
  const answer = await post(gzipSync('{"name":"x"}'), { 'Content-Encoding': 'gzip' })
  expect(answer.body.error).toBe('UNSUPPORTED_MEDIA_TYPE')
})

test('a call that has no body neither requires nor reads one', async () => {
  const { id } = await harness.createKey()
  const path = `/keys/${id}/revoke`
  expect((await harness.api('POST', path, { headers })).status).toBe(200)
  expect((await harness.api('POST', path, { headers, body: '{' })).status).toBe(200)
})

test('a body is not read before the caller is authenticated', async () => {
  const answer = await harness.api('POST', '/keys', { body: '{' })
  expect(answer.status).toBe(401)
})

test('a body that stops halfway affects no other request', async () => {
  const { socket, closed } = rawConnection(harness.url)
  socket.write(
    [
      'POST /api/v1/keys HTTP/1.1',
      'Host: x',
      `Cookie: ${headers['Cookie']}`,
      'X-Requested-With: console',
      'Content-Type: application/json',
      'Content-Length: 100',
      '',
      '{"name":',
    ].join('\r\n'),
    () => socket.destroy(),
  )
  await closed
  expect((await post({ name: 'after' })).status).toBe(201)
  expect(harness.logged.filter((line) => line.includes('"level":50'))).toEqual([])
})

test('a body after a byte order mark is read', async () => {
  expect((await post('\ufeff{"name":"x"}')).status).toBe(201)
})
