import { expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { rawConnection } from '../raw-connection.ts'
import { ingestForAllTests, type IngestHarness } from './ingest-harness.ts'

let ingest: IngestHarness
let key: string
ingestForAllTests((given) => ({ ingest, key } = given), { arrivesWithinMs: 3_000 })

const body = '{"deviceId":"tug","latitude":1,"longitude":2}'
const owntracks = { path: '/pub' }

/** The head of a report, with a valid key unless it has none. */
function head(headers: string, { path = '/api/v1/gps/submit', hasKey = true } = {}): string {
  const authorization = hasKey ? `Authorization: Bearer ${key}\r\n` : ''
  return `POST ${path} HTTP/1.1\r\nHost: a\r\n${authorization}Content-Type: application/json\r\n${headers}\r\n`
}

/** Sends text, then `drip` twice a second, until the server ends the connection. */
async function talk(text: string, drip?: string): Promise<string> {
  const { socket, received, closed } = rawConnection(ingest.url, text)
  const dripping = setInterval(() => drip !== undefined && socket.write(drip), 500)
  await closed
  clearInterval(dripping)
  return received()
}

test('the bytes after a body with too short a Content-Length are not a request', async () => {
  const received = await talk(head('Content-Length: 2\r\n') + '{}nonsense\r\n\r\n')
  expect(received).toMatch(/^HTTP\/1\.1 400 .*HTTP\/1\.1 400 /s)
  expect(received.match(/"success":false/g)).toHaveLength(2)
})

test('a caller without a key gets its response before its body arrives, however slow that is', async () => {
  const text = head('Content-Length: 10000\r\n', { hasKey: false })
  const { socket, received } = rawConnection(ingest.url, text)
  await eventually(() => received() !== '')
  expect(received()).toMatch(/^HTTP\/1\.1 401 /)
  socket.destroy()
})

test('slow requests and wrong lengths get the error envelope after their deadline', async () => {
  const cases: [what: string, text: string, drip: string | undefined, status: number][] = [
    ['nothing at all', '', undefined, 408],
    ['a request line letter by letter', 'POST /', 'a', 408],
    ['headers that never end', 'POST / HTTP/1.1\r\nHost: a\r\n', 'X-A: b\r\n', 408],
    ['no body', head('Content-Length: 40\r\n'), undefined, 408],
    ['half a body', head('Content-Length: 40\r\n') + '{"deviceId"', undefined, 408],
    ['a body byte by byte', head('Content-Length: 4000\r\n'), ' ', 408],
    ['a length that is too long', head('Content-Length: 400\r\n') + body, undefined, 408],
    ['chunks without an end', head('Transfer-Encoding: chunked\r\n'), '1\r\n \r\n', 408],
    [
      'a chunk that never comes',
      head('Transfer-Encoding: chunked\r\n') + 'fff\r\n',
      undefined,
      408,
    ],
    [
      'chunks without a last one',
      head('Transfer-Encoding: chunked\r\n') + '2\r\n{}\r\n',
      undefined,
      408,
    ],
    [
      'a compressed body that stops',
      head('Content-Encoding: gzip\r\nContent-Length: 90\r\n') + '\x1f',
      undefined,
      408,
    ],
    [
      'a chunk of impossible size',
      head('Transfer-Encoding: chunked\r\n') + 'f'.repeat(30),
      undefined,
      400,
    ],
    // Some apps discard requests that get a 4xx.
    ['half a body of an app', head('Content-Length: 40\r\n', owntracks) + '{', undefined, 503],
    [
      'a bad chunk of an app',
      head('Transfer-Encoding: chunked\r\n', owntracks) + 'x',
      undefined,
      503,
    ],
    ['a negative length', head('Content-Length: -1\r\n') + body, undefined, 400],
    ['two lengths', head('Content-Length: 45\r\nContent-Length: 46\r\n') + body, undefined, 400],
    [
      'length and chunks',
      head('Content-Length: 45\r\nTransfer-Encoding: chunked\r\n') + body,
      undefined,
      400,
    ],
    ['too long by what it declares', head('Content-Length: 99999999999\r\n'), undefined, 413],
    [
      'chunks that become too long',
      head('Transfer-Encoding: chunked\r\n') + `5000\r\n${' '.repeat(0x5000)}\r\n`,
      undefined,
      413,
    ],
  ]
  const seen = await Promise.all(
    cases.map(async ([what, text, drip]) => ({ what, received: await talk(text, drip) })),
  )
  const statuses = seen.map(({ what, received }) => [what, Number(received.split(' ')[1])])
  expect(statuses).toEqual(cases.map(([what, , , status]) => [what, status]))
  for (const { received } of seen) {
    const [, json = ''] = received.split('\r\n\r\n')
    expect(JSON.parse(json)).toMatchObject({ success: false, code: Number(received.split(' ')[1]) })
    expect(received).toMatch(/X-Request-Id: \S/i)
    if (received.includes(' 503 ')) expect(received).toMatch(/Retry-After: [123]\r/)
  }
  expect(await ingest.logged()).toEqual([])
})
